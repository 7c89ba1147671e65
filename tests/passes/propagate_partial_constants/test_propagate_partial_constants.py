"""What is one constant wherever it is defined, lane by lane, round loops and behind inserts
(tests/pipelines/test_matrix.py has it at every border). Drawn, and linked twice."""

from __future__ import annotations

import pytest

from tests.support.chain_text import frag, geom, vert
from tests.support.shared_values import MOTION, Stages, prove

OUT = "layout(location = 0) {}out vec4 c; layout(location = 1) out vec4 d;"
DEFINED = {
    # how c is stored -> the components that cross
    "a lane of what is stored whole": ("if (a.x > 0.3) c = vec4(0.5, b.xy, 0.25);", "yz"),
    "two ways, one constant": (
        "if (a.x > 0.3) c = vec4(0.5, b.x, 2.0, a.y);"
        " else if (b.y > 0.2) c = vec4(0.5, a.xyz);",
        "yzw",
    ),
    "a lane that is stored alone": ("if (a.x > 0.3) { c.x = 0.5; c.y = b.y; } c.zw = b.zw;", "yzw"),
    "in a loop": (
        "for (int i = 0; i < k.x % 4; ++i) { if (a.x > float(i)) { c.x = 0.5; c.yzw = a.xyz; } }",
        "yzw",
    ),
    "chosen": ("if (a.x > 0.3) { c = b; c.x = a.y > 0.5 ? 0.5 : 0.5; }", "yzw"),
    "two constants": ("if (a.x > 0.3) c = vec4(0.5, b.xyz); else c = vec4(0.25, b.yzx);", "xyzw"),
    "a constant and a value": ("c = b; if (a.x > 0.3) c.x = 0.5;", "xyzw"),
}  # fmt: skip


def pair(store: str, qualifier: str = "", read: str = "") -> Stages:
    """What may be undefined is not shown: only where it is stored on all ways, so to speak."""
    shown = "c" if "else c" in store or store.startswith("c = b") else "0.0 * vec4(d.x) + d"
    hidden = "" if shown == "c" else " if (d.w > 1e9) color += sin(c);"
    return [
        vert(OUT.format(qualifier), f"d = a * 0.5; {store}"),
        frag(
            OUT.format(qualifier).replace("out ", "in "),
            f"color = sin({shown}) + d;{hidden}{read}",
        ),
    ]


def crossing(stages: Stages, **settings: object) -> str:
    """The components of c that cross."""
    linked = prove(stages, disable=MOTION, **settings)
    gone = ("propagated", "removed", "undefined")
    left = [
        r.slot.partition(".")[2] for r in linked.remarks if r.name == "c" and r.action not in gone
    ]
    return "".join(sorted("".join(left), key="xyzw".index))


@pytest.mark.parametrize("name", DEFINED)
def test_one_constant(name: str) -> None:
    store, left = DEFINED[name]
    assert crossing(pair(store), tolerance=1e-4) == left


WHOLE = DEFINED["a lane of what is stored whole"][0]


def test_flat_under_exact() -> None:
    assert crossing(pair(WHOLE, "flat "), exact=True) == "yz"


def test_exact_keeps_what_is_interpolated() -> None:
    assert crossing(pair(WHOLE), exact=True) == "xyzw"


def test_what_decides_something_stays() -> None:
    """Interpolated it may be a little less than a half."""
    read = " if (d.w > 1e9 && c.x >= 0.5) color += vec4(1.0);"
    assert crossing(pair(WHOLE, read=read), tolerance=1e-4) == "xyz"


def test_of_the_vertex_before() -> None:
    stages: Stages = [
        vert("layout(location = 0) out vec4 e;", "e = a;"),
        geom(
            "layout(location = 0) in vec4 e[]; " + OUT.format(""),
            "for (int i = 0; i < 3; ++i) { d = e[i]; if (d.x > 0.2) { c.x = 0.5; c.yzw = d.xyz; }"
            " gl_Position = gl_in[i].gl_Position; EmitVertex(); }",
        ),
        pair(WHOLE)[1],
    ]
    assert crossing(stages, tolerance=1e-4) == "yzw"
