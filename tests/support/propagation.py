"""Pairs whose outputs hold constants or uniforms, and what a link must say of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import spvlink
from spvlink.grammar import ops
from tests.support.linking import Result, count, fragment, vertex

# There is always something to gain, so that a pair is not passed through without remarks.
JUNK = "layout(location = 9) out vec4 junk;\n"
OUT, IN = "layout(location = 0) out vec4 a;\n", "layout(location = 0) in vec4 a;\n"
FLAT_OUT, FLAT_IN = OUT.replace(" out", " flat out"), IN.replace(" in", " flat in")
UBO = "layout(set = 0, binding = 0) uniform U { vec4 pad; vec4 tint; mat4 m; float f; } u;\n"
PUSH = "layout(push_constant) uniform P { vec4 pad; vec4 tint; mat4 m; float f; } u;\n"
READ = "o = a;"
ALL_SETS: list[object] = [
    {"set": s, "bindings": [{"binding": b, "stageFlags": ["ALL"]} for b in range(3)]}
    for s in range(2)
]


def options(**settings: object) -> spvlink.Options:
    """Without dedup, which would merge equal components before they are looked at here, and without
    motion, which would take expressions apart."""
    made = spvlink.Options(clean=True)
    made.disable = frozenset(("dedup", "backward", "forward"))
    for name, setting in settings.items():
        setattr(made, name, setting)
    return made


def pair(vert: str, frag: str) -> tuple[str, str]:
    """(declarations, body) of both sides, split at a line of ``--``."""
    declarations, _, body = vert.rpartition("--")
    head, _, rest = frag.rpartition("--")
    main = "void main() {{ {} }}\n"
    return (
        JUNK + declarations + main.format(body + " junk = p; gl_Position = p;"),
        head + main.format(rest),
    )


def link(vert: str, frag: str, **settings: object) -> Result:
    """All passes, on sides as ``pair`` wants them."""
    left, right = pair(vert, frag)
    return Result(compiled(vertex, left), compiled(fragment, right), options(**settings))


@cache
def compiled(stage: Callable[[str], bytes], text: str) -> bytes:
    """Many pairs share a side."""
    return stage(text)


def said(done: Result) -> dict[str, tuple[str, str]]:
    """``name slot`` -> (action, why), without the junk."""
    assert done.linked.validated == "validated" and done.linked.passed_through is None
    told = [r for r in done.linked.remarks if r.interface != "vert"]
    return {f"{r.name} {r.slot}": (r.action, r.why) for r in told[:-1]}


def assert_moved(done: Result, *whys: str) -> None:
    """Nothing is left of the interface, and the remarks say so."""
    remarks = said(done)
    assert remarks and {action for action, _ in remarks.values()} == {"propagated"}, remarks
    for why in whys:
        assert any(why in text for _, text in remarks.values()), remarks
    assert not done.outputs and not done.inputs
    assert count(done.frag, ops.OpLoad) <= 8


def assert_kept(done: Result, why: str) -> None:
    """``a`` stays, for this reason; an empty one means that it is no candidate at all."""
    remarks = said(done)
    assert {action for action, _ in remarks.values()} <= {"kept", "packed"}, remarks
    texts = [text for _, text in remarks.values()]
    assert all((why or "stage reads it") in text for text in texts), remarks
    assert done.outputs and len(done.outputs) == len(done.inputs)


USE = "o = a + u.tint;"  # the fragment shader uses the resource itself
