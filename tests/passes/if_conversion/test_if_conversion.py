"""Small branches as selects while linking: what crosses by that, what may not run where it did not
run, and that a trial in which nothing crosses leaves nothing."""

from __future__ import annotations

import pytest

from spvlink.chain import converted
from spvlink.ir.core import Module
from spvlink.link.border.stage import Stage
from spvlink.text import print_module
from tests.support.branching import BOTH, UNIFORMS, VERT, built, frag, link, shown, vertex
from tests.support.interpreted import interpreted
from tests.support.samples import compile_glsl

CROSSING = {
    "?: of two lanes": ("o = vec4(pc.n > 0 ? p.x : q.x);", 1),
    "two arms with work": ("vec4 x; if (pc.n > 0) x = p * 2.0; else x = q * 3.0; o = x;", 4),
    "one arm": ("vec4 x = p; if (pc.n > 0) x = q; o = x;", 4),
    "an arm that is nested": (
        "float x = p.x; if (pc.n > 0) { x = q.x; if (pc.s > 0.5) x = p.y * 2.0; } o = vec4(x);", 1,
    ),
    "a load of push constants in an arm": (
        "float x = p.x; if (pc.n > 0) x = q.x * pc.s; o = vec4(x);", 1,
    ),
    "a load of a block that is read anyway": (
        "float x = p.x; if (pc.n > 0) x = q.x * block.u.x; o = vec4(x) + block.w[0];", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CROSSING)
def test_crosses(name: str) -> None:
    body, components = CROSSING[name]
    codes = built(body)
    without = link(codes, disable=frozenset(["if_conversion"]))
    linked = link(codes)
    assert linked.interfaces[0].components[1] == components
    assert without.interfaces[0].components[1] > components
    shown(codes, linked, 1e-5)
    shown(codes, link(codes, exact=True))
    new = [s.data for s in linked.stages]
    assert link(new).passed_through == "nothing to gain"


@pytest.mark.parametrize(("value", "left"), [("pc.s", 0), ("pc.s * pc.s + 0.5", 1)])
def test_a_producer_chooses_by_branches(value: str, left: int) -> None:
    """A value that both arms of a branch make of uniforms is made by its reader, if both of them
    cost it no more than half of what another value may cost."""
    declared = UNIFORMS + "layout(location = 0) flat out float t;"
    source = vertex(declared, f"float x; if (pc.n > 0) x = {value}; else x = 2.0; t = x;")
    read = f"""#version 450
{UNIFORMS} layout(location = 0) flat in float t; layout(location = 0) out vec4 o;
void main() {{ o = vec4(t * gl_FragCoord.x, t * gl_FragCoord.y, pc.s, pc.n); }}"""
    codes = [compile_glsl(source, "vert"), compile_glsl(read, "frag")]
    assert link(codes, disable=frozenset(["if_conversion"])).interfaces[0].components == (1, 1)
    for exact in (False, True):
        linked = link(codes, exact=exact)
        assert linked.interfaces[0].components == (1, left)
        assert linked.stages[0].changed == (not left)
        shown(codes, linked)
    if left:
        assert link(codes, cost_limit=200).interfaces[0].components == (1, 0)


# -- what stays ------------------------------------------------------------------------------------


def stages_converted(codes: list[bytes]) -> list[str]:
    """The stages in which branches were converted, with what there was for it."""
    found: list[str] = []

    def see(number: int, name: str, stage: str, module: Module) -> None:
        if name == "if_conversion":
            found.append(stage)

    link(codes, observer=see)
    return found


WITH_UNIFORMS = "o = vec4(x) * pc.s;"
# body of the fragment shader, and the same with something harmless in place of it
STAYS = {
    "integer division": ("float(int(p.x) / i)", "float(int(i) * i)"),
    "integer remainder": ("float(i % pc.n)", "float(i * pc.n)"),
    "a float becomes an integer": ("float(int(p.x * 1e20))", "float(int(i))"),
    "an index that is not known": ("block.w[i].x", "block.w[1].x"),
    "a lane that is not known": ("p[i]", "p[1]"),
    "memory that is written": ("memory.m.x", "p.x"),
    "a lookup": ("texture(image, p.xy).x", "p.x"),
    "a lookup of a level": ("textureLod(image, p.xy, 0.0).x", "p.x"),
    "a derivative": ("dFdx(p.x)", "p.x"),
    "much work": ("sin(p.x) + cos(p.y) + exp(p.z) + pow(p.w, q.x) + sin(q.y) * cos(q.z)"
                  " + tan(q.w) + asin(q.x) + acos(q.y)", "sin(p.x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    bad, good = STAYS[name]
    anyway = "o += block.w[3] + memory.m; if (pc.s > 1e9) memory.m = p;"
    for value, expected in ((bad, False), (good, True)):
        body = f"float x = q.x; if (pc.n > 0) x = {value}; {WITH_UNIFORMS} {anyway}"
        codes = built(body)
        assert ("frag" in stages_converted(codes)) == expected, value
        shown(codes, link(codes), 1e-5)


def test_what_only_one_way_reads_stays() -> None:
    """A uniform block must be bound only if it is read."""
    body = "float x = q.x; if (pc.n > 0) x = block.u.x; o = vec4(x);"
    assert "frag" not in stages_converted(built(body))
    assert "frag" in stages_converted(built(body + "o += block.u;"))
    assert "frag" not in stages_converted(
        built("if (pc.s > 2.0) discard;" + body + "o += block.u;")
    )


@pytest.mark.parametrize("side", ["p.x > 0.5", "texture(image, q.xy).x > 0.5", "memory.m.x > 0.5"])
def test_a_condition_that_cannot_cross(side: str) -> None:
    codes = built(f"float x = p.x; if ({side}) x = q.x; o = vec4(x);")
    assert "frag" not in stages_converted(codes)


def test_what_is_made_of_no_input() -> None:
    """Nothing of it can leave the fragment shader, so nothing is tried."""
    body = "vec4 t = texture(image, q.xy); if (pc.n > 0) t = t * VALUE; o = t + p;"
    for value, expected in (("t", False), ("sin(q)", True)):
        assert ("frag" in stages_converted(built(body.replace("VALUE", value)))) == expected


def test_a_vertex_shader_that_asks_its_attributes() -> None:
    """No reader can choose as it does."""
    declared = UNIFORMS + BOTH
    for condition, expected in (("a.x > 0.5", False), ("pc.n > 0", True)):
        body = f"q = b; i = pc.n; vec4 x = a; if ({condition}) x = b * 2.0; p = x;"
        codes = built("o = sin(p) * sin(q) * float(i);", vertex(declared, body))
        assert ("vert" in stages_converted(codes)) == expected


def test_what_the_author_marked_as_a_branch() -> None:
    body = "float x = p.x; if (pc.n > 0) x = q.x; o = vec4(x);"
    extension = "#version 450\n#extension GL_EXT_control_flow_attributes : require\n"
    for mark, expected in (("[[branch]] ", False), ("", True), ("[[flatten]] ", True)):
        source = frag(body.replace("if (", mark + "if ("), version=extension)
        codes = [compile_glsl(VERT, "vert"), compile_glsl(source, "frag")]
        assert ("frag" in stages_converted(codes)) == expected, mark


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p = x;", True),
        ("p = x; gl_Position = x;", False),
        ("held = x;", False),
        ("p = x; if (x.x > 0.5) held = vec4(1.0); else held = vec4(2.0);", False),
    ],
)
def test_what_is_invariant_or_a_position(body: str, expected: bool) -> None:
    declared = UNIFORMS + BOTH + "layout(location = 3) invariant out vec4 held;"
    made = "p = a; q = b; i = pc.n; held = a; vec4 x = a; if (pc.n > 0) x = b * 2.0;"
    reads = "layout(location = 3) in vec4 held;"
    codes = built("o = p + q + held;", vertex(declared, made + body), reads)
    assert ("vert" in stages_converted(codes)) == expected


# -- the trial -------------------------------------------------------------------------------------


@pytest.mark.parametrize("debug", [False, "-g", "-gVS"])
def test_a_trial_leaves_nothing(debug: bool | str) -> None:
    """What goes out is the same to the byte as without, where nothing crossed in the trial but
    something did before."""
    body = """vec4 t = texture(image, p.xy); vec4 y = t;
    if (pc.s > 0.5) y = t * t + sin(q.wwww); else y = t * 3.0;
    o = y + q.xxxx + q.yyyy;"""
    codes = [
        compile_glsl(source, stage, debug=debug)
        for source, stage in ((VERT, "vert"), (frag(body), "frag"))
    ]
    assert stages_converted(codes) == ["frag", "frag"]  # there and back
    linked = link(codes)
    without = link(codes, disable=frozenset(["if_conversion"]))
    assert [s.data for s in linked.stages] == [s.data for s in without.stages]
    assert linked.stages[1].changed
    assert [r.why for r in linked.remarks] == [r.why for r in without.remarks]


def told(stage: Stage) -> tuple[str, list[tuple[str, int]]]:
    """All of a module, and which lanes live of its constructs."""
    return print_module(stage.module), [(str(i.id), n) for i, n in stage.live_lanes.items()]


@interpreted
def test_restoring_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module is the same before the trial and after it, and so are its dead lanes."""
    seen: list[tuple[str, list[tuple[str, int]]]] = []
    inner, restore = converted._Before.__init__, converted._Before.restore

    def begin(self: converted._Before, stage: Stage) -> None:
        seen.append(told(stage))
        inner(self, stage)

    def end(self: converted._Before, stage: Stage) -> None:
        restore(self, stage)
        seen.append(told(stage))

    monkeypatch.setattr(converted._Before, "__init__", begin)
    monkeypatch.setattr(converted._Before, "restore", end)
    body = "vec4 t = texture(image, p.xy); if (pc.s > 0.5) t *= sin(q.wwww);"
    body += "o = t + q.xxxx + q.yyyy;"
    link(built(body))
    assert len(seen) == 2 and seen[0] == seen[1]


@pytest.mark.parametrize("kept", [["vert"], []])
def test_a_condition_that_only_the_trial_makes_dead(kept: list[str]) -> None:
    """The selects of the trial choose between equal values, and it is taken back: the code reads
    the condition again."""
    declared = UNIFORMS + (
        "layout(location = 0) out vec2 v; layout(location = 1) flat out ivec2 kind;\n"
        "layout(location = 2) out vec4 unread;"
    )
    source = vertex(declared, "v = a.xy; kind = ivec2(gl_VertexIndex, 7); unread = b;")
    read = f"""#version 450
{UNIFORMS} layout(location = 0) in vec2 v; layout(location = 1) flat in ivec2 kind;
layout(location = 0) out vec4 o;
void main() {{ o = vec4(clamp(kind.x != int(pc.n) ? v.y : v.y, -1.0, 1.0)); }}"""
    codes = [compile_glsl(source, "vert"), compile_glsl(read, "frag")]
    linked = link(codes, exact=True, clean=True, keep_interface=kept)
    assert linked.defect is None
    shown(codes, linked)
