"""What the driver does with a chain: order, reports, interfaces that stay, refused pairs."""

from __future__ import annotations

import pytest

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.grammar import enums
from spvlink.link.check import interface
from spvlink.text import parse, print_module
from tests.support.chain_hazards import PASS, frag, geom, vert
from tests.support.chain_stages import PATCHES, TRIANGLES, Stages, run
from tests.support.linking import INPUT, OUTPUT, builtins, module_of
from tests.support.samples import compile_glsl


def build(stages: Stages) -> list[bytes]:
    return [compile_glsl(text, stage) for stage, text in stages]


def test_stages_come_in_any_order_and_go_out_in_the_pipeline_s() -> None:
    codes = build(PATCHES)
    linked = run(codes)
    assert [s.stage for s in linked.stages] == ["vert", "tesc", "tese", "frag"]
    assert [(i.producer, i.consumer) for i in linked.interfaces] == [
        ("vert", "tesc"), ("tesc", "tese"), ("tese", "frag"),
    ]  # fmt: skip
    other = run([codes[2], codes[0], codes[3], codes[1]])
    assert [s.data for s in other.stages] == [s.data for s in linked.stages]


def test_every_varying_of_every_pair_has_a_remark() -> None:
    linked = run(build(TRIANGLES))
    found = {(r.interface, r.name) for r in linked.remarks}
    assert {("vert->geom", "c"), ("vert->geom", "unread")} <= found
    assert {("geom->frag", "p"), ("geom->frag", "lost")} <= found
    assert [i.locations for i in linked.interfaces] == [(2, 1), (2, 1)]


@pytest.mark.parametrize("kept", ["vert", "tesc", "tese", "frag"])
@pytest.mark.parametrize("stages", [TRIANGLES, PATCHES], ids=["triangles", "patches"])
def test_keep_interface_keeps_a_stage_and_no_more(stages: Stages, kept: str) -> None:
    codes = build(stages)
    linked = run(codes, keep_interface=frozenset([kept]), clean=True)
    names = [stage for stage, _ in stages]
    before = [module_of(c) for c in codes]
    after = [module_of(s.data) for s in linked.stages]
    for at, border in enumerate(linked.interfaces):
        if kept not in (border.producer, border.consumer):
            continue
        for storage, stage in ((OUTPUT, at), (INPUT, at + 1)):
            old = {(d.name, d.place, d.shape) for d in interface.declared(before[stage], storage)}
            new = {(d.name, d.place, d.shape) for d in interface.declared(after[stage], storage)}
            assert new == old if names[stage] == kept else new <= old
    if stages is TRIANGLES and kept == "frag":
        assert linked.interfaces[0].locations == (2, 1)  # geom hands on less


def test_a_pair_that_is_refused_does_not_stop_the_others() -> None:
    stages = [
        TRIANGLES[0],
        geom(
            """layout(constant_id = 0) const int N = 2; layout(location = 0) in vec4 c[];
layout(location = 0) out vec4 p[N]; layout(location = 8) out vec4 lost;""",
            f"""for (int i = 0; i < 3; ++i) {{
p[0] = c[i]; p[1] = c[i] * 0.5; lost = c[i]; {PASS} }}""",
        ),
        frag(
            "layout(constant_id = 0) const int N = 2; layout(location = 0) in vec4 p[N];",
            "color = p[1];",
        ),
    ]
    linked = run(build(stages))
    assert linked.passed_through is None
    first, second = linked.interfaces
    assert first.locations == (2, 1)
    assert second.locations[0] == second.locations[1]
    whys = {r.why for r in linked.remarks if r.interface == "geom->frag"}
    assert any("no small constant" in why for why in whys)


@pytest.mark.parametrize("complete", [False, True])
def test_without_a_fragment_shader(complete: bool) -> None:
    """Only who says that the chain is complete says that nobody reads the last outputs."""
    linked = run(build(TRIANGLES)[:2], complete=complete)
    assert linked.passed_through is None
    if complete:
        assert [i.locations for i in linked.interfaces] == [(2, 0), (2, 0)]
        assert linked.interfaces[1].consumer == "fixed-function"
    else:
        assert [i.consumer for i in linked.interfaces] == ["geom"]
        new = interface.declared(module_of(linked.stages[1].data), OUTPUT)
        assert {d.name for d in new} == {"p", "lost"}


@pytest.mark.parametrize("stages", [TRIANGLES, [TRIANGLES[0], TRIANGLES[2]]])
def test_a_fragment_shader_makes_a_pipeline_whole(stages: list[tuple[str, str]]) -> None:
    """With one there is nothing to say: no stage was left out between those that are given."""
    said, unsaid = (run(build(stages), complete=complete) for complete in (True, False))
    assert said.passed_through is None
    assert [s.data for s in said.stages] == [s.data for s in unsaid.stages]
    assert all(after < before for before, after in (i.components for i in unsaid.interfaces))


def test_what_is_captured_stays_without_a_fragment_shader() -> None:
    text = """layout(location = 0, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out vec4 c;
layout(location = 1) out vec4 unread;"""
    linked = run(build([vert(text, "c = a; unread = b;")]), complete=True)
    assert linked.passed_through is None
    new = interface.declared(module_of(linked.stages[0].data), OUTPUT)
    assert {(d.name, d.place) for d in new} == {("c", (0, 0))}


def test_builtins_in_the_middle_of_a_chain() -> None:
    """Position and PointSize of a vertex shader are for the next stage; those of the last stage are
    for the rasterizer."""
    stages = [
        vert("layout(location = 0) out vec4 c;", "c = a; gl_PointSize = sin(a.x) + 2.0;"),
        geom(
            "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p;",
            "for (int i = 0; i < 3; ++i) { p = c[i]; gl_Position = c[i]; EmitVertex(); }",
        ),
        frag("layout(location = 0) in vec4 p;", "color = p;"),
    ]
    linked = run(build(stages))
    removed = {(r.interface, r.name) for r in linked.remarks if r.slot == "built-in"}
    names = ("gl_Position", "gl_PointSize", "gl_ClipDistance", "gl_CullDistance")
    assert removed == {("vert->geom", name) for name in names}
    assert enums.BuiltIn_Position in builtins(module_of(linked.stages[1].data))


def test_inputs_that_are_handed_on_without_code() -> None:
    """GL_NV_geometry_shader_passthrough: nothing in the code says that the inputs are read."""
    first = vert("layout(location = 0) out vec4 c;", "c = a; gl_PointSize = 2.0;")
    second = """#version 450
#extension GL_NV_geometry_shader_passthrough : require
layout(triangles) in;
layout(passthrough) in gl_PerVertex { vec4 gl_Position; } gl_in[];
layout(location = 0, passthrough) in vec4 c[];
void main() { gl_Layer = 1; }
"""
    last = frag("layout(location = 0) in vec4 c;", "color = c;")
    codes = build([first, ("geom", second), last])
    linked = run(codes)
    assert linked.passed_through == "it passes inputs without code (PassthroughNV)"
    assert [stage.data for stage in linked.stages] == codes


def test_a_stage_with_untyped_pointers_to_images_goes_out_as_it_came() -> None:
    """Of SPV_KHR_untyped_pointers buffers are followed alone; the other border is linked."""
    values = "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;"
    dots = "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p;"
    stages = [
        vert(values, "c = a; d = a; gl_Position = a;"),
        geom(dots, "p = c[0]; gl_Position = c[0]; EmitVertex();"),
        frag("layout(location = 0) in vec4 p;", "color = p;"),
    ]
    codes = build(stages)
    codes[2] = untyped(codes[2])
    linked = run(codes, validate=False)
    assert linked.passed_through is None
    assert linked.stages[2].data == codes[2]
    (kept,) = (r for r in linked.remarks if r.interface == "geom->frag")
    why = "it uses untyped pointers to more than buffers, which spvlink does not follow"
    assert (kept.action, kept.why) == ("kept", why)
    assert ("d", "removed") in {(r.name, r.action) for r in linked.remarks}
    alone = run(codes[1:], validate=False)
    assert alone.passed_through == kept.why


def untyped(code: bytes) -> bytes:
    """A module with an untyped variable in the interface of its entry point."""
    lines = print_module(decode(code)).splitlines()
    capability = lines.index("OpCapability Shader")
    lines[capability] += "\nOpCapability UntypedPointersKHR"
    lines[capability] += '\nOpExtension "SPV_KHR_untyped_pointers"'
    body = next(n for n, line in enumerate(lines) if " OpFunction " in line)
    lines[body - 1] += "\n%900 = OpTypeUntypedPointerKHR UniformConstant"
    lines[body - 1] += "\n%901 = OpUntypedVariableKHR %900 UniformConstant"
    entry = next(n for n, line in enumerate(lines) if line.startswith("OpEntryPoint"))
    lines[entry] += " %901"
    bound = next(n for n, line in enumerate(lines) if line.startswith("; Bound:"))
    lines[bound] = "; Bound: 902"
    return encode(parse("\n".join(lines)))


def test_a_second_link_finds_nothing_to_do() -> None:
    for stages in (TRIANGLES, PATCHES):
        first = run(build(stages))
        again = run([s.data for s in first.stages])
        assert again.passed_through == "nothing to gain"
