"""One module with several entry points, and one module for several pipelines.

Modules of all stages are put together by spirv-link (each entry point has the name of its stage);
those whose entry points share variables and functions are written by hand.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums, ops
from spvlink.ir.core import CAPABILITIES, ENTRY_POINTS, EXECUTION_MODES, string_of
from spvlink.link.check import interface
from tests.support.chain_checks import close
from tests.support.chain_hazards import PASS, frag, geom, vert
from tests.support.chain_stages import PATCHES, TRIANGLES, Stages, run
from tests.support.linking import INPUT, OUTPUT, module_of
from tests.support.samples import assemble, compile_glsl, edited

Code = tuple[bytes, str]
CHAINS = {"triangles": TRIANGLES, "patches": PATCHES}


def renamed(data: bytes, entry: str) -> bytes:
    """A module of one entry point, under another name."""
    return edited(data, ('"main"', f'"{entry}"'))


def together(codes: dict[str, bytes], folder: Path) -> bytes:
    """One module with all entry points, each under the name that it has here."""
    for entry, data in codes.items():
        (folder / entry).write_bytes(renamed(data, entry))
    command = ["spirv-link", "--target-env", "vulkan1.1", *codes, "-o", "all.spv"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / "all.spv").read_bytes()


@cache
def codes_of(name: str) -> tuple[bytes, ...]:
    return tuple(compile_glsl(text, stage) for stage, text in CHAINS[name])


def stages_of(name: str) -> list[str]:
    return [stage for stage, _ in CHAINS[name]]


def link(codes: list[Code], **settings: object) -> spvlink.Linked:
    """Link entry points of modules."""
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, value in settings.items():
        setattr(options, name, value)
    sources = [spvlink.Source(data, f"{entry}.spv", entry) for data, entry in codes]
    linked = spvlink.link(sources, options)
    assert linked.defect is None, linked.defect
    assert linked.passed_through is None, linked.passed_through
    assert linked.validated == "validated"
    return linked


def same_picture(codes: list[Code], linked: spvlink.Linked) -> None:
    scene, before = draw_covering(codes)
    assert before.is_good(), "the original draws nothing"
    new = [(s.data, entry) for s, (_, entry) in zip(linked.stages, codes)]
    assert not close(before, draw(new, scene))


# --- one module, all stages ---


@pytest.mark.parametrize("name", CHAINS)
def test_all_stages_in_one_module(name: str, tmp_path: Path) -> None:
    """Linked like modules of their own, and each comes out with what is its own."""
    stages = stages_of(name)
    whole = together(dict(zip(stages, codes_of(name))), tmp_path)
    codes = [(whole, stage) for stage in stages]
    linked = link(codes)
    alone = run(list(codes_of(name)))
    # spirv-link leaves out what a stage lists and does not read
    assert [(r.name, r.action, r.why) for r in linked.remarks if r.interface != "vert"] == [
        (r.name, r.action, r.why) for r in alone.remarks if r.interface != "vert"
    ]
    for result, other in zip(linked.stages, alone.stages):
        module, wanted = module_of(result.data), module_of(other.data)
        entries = module.sections[ENTRY_POINTS]
        assert [string_of(e.imm, 1)[0] for e in entries] == [result.stage]
        assert len(module.functions) == len(wanted.functions) == 1
        modes = [m.imm for m in module.sections[EXECUTION_MODES]]
        assert modes == [m.imm for m in wanted.sections[EXECUTION_MODES]]
        own = {c.imm[0] for c in module.sections[CAPABILITIES]}  # of the whole module, as it was
        assert own >= {c.imm[0] for c in wanted.sections[CAPABILITIES]}
    same_picture(codes, linked)


def test_entry_points_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    stages = stages_of("patches")
    together(dict(zip(stages, codes_of("patches"))), tmp_path)
    files = [f"all.spv:{stage}" for stage in reversed(stages)]
    assert cli.main(["link", *files, "-o", "out", "--report", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [s["stage"] for s in report["stages"]] == stages
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        f"all.{stage}.spv" for stage in stages
    )
    assert cli.main(["link", "all.spv", "vert", "-o", "out"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("spvlink: error: all.spv: the module has 4 entry points ('vert', 'tesc'")
    assert cli.main(["link", "all.spv:none", "vert", "-o", "out"]) == 1
    assert "the module has no entry point 'none'" in capsys.readouterr().err


# --- entry points that share what they use ---

TWO_FRAGMENTS = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %bright "bright" %c %d %color
OpEntryPoint Fragment %dark "dark" %c %color
OpExecutionMode %bright OriginUpperLeft
OpExecutionMode %dark OriginUpperLeft
OpName %c "c"
OpName %d "d"
OpDecorate %c Location 0
OpDecorate %d Location 1
OpDecorate %color Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%f = OpTypeFloat 32
%v4 = OpTypeVector %f 4
%apply_t = OpTypeFunction %v4 %v4
%in_t = OpTypePointer Input %v4
%out_t = OpTypePointer Output %v4
%own_t = OpTypePointer Private %f
%c = OpVariable %in_t Input
%d = OpVariable %in_t Input
%color = OpVariable %out_t Output
%scale = OpVariable %own_t Private
%little = OpConstant %f 0.25
%much = OpConstant %f 1.5
%apply = OpFunction %v4 None %apply_t
%x = OpFunctionParameter %v4
%1 = OpLabel
%2 = OpLoad %f %scale
%3 = OpVectorTimesScalar %v4 %x %2
OpReturnValue %3
OpFunctionEnd
%bright = OpFunction %void None %fn
%4 = OpLabel
OpStore %scale %much
%5 = OpLoad %v4 %c
%6 = OpFunctionCall %v4 %apply %5
%7 = OpLoad %v4 %d
%8 = OpVectorTimesScalar %v4 %7 %little
%9 = OpFAdd %v4 %6 %8
OpStore %color %9
OpReturn
OpFunctionEnd
%dark = OpFunction %void None %fn
%10 = OpLabel
OpStore %scale %little
%11 = OpLoad %v4 %c
%12 = OpFunctionCall %v4 %apply %11
OpStore %color %12
OpReturn
OpFunctionEnd
"""
SHARED: Stages = [
    vert(
        "layout(location = 0) out vec4 x; layout(location = 1) out vec4 y;",
        "x = a; y = sin(b * 2.0);",
    ),
    geom(
        """layout(location = 0) in vec4 x[]; layout(location = 1) in vec4 y[];
layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;""",
        f"for (int i = 0; i < 3; ++i) {{ c = x[i]; d = y[i]; {PASS} }}",
    ),
]


@pytest.mark.parametrize(("entry", "left"), [("bright", 2), ("dark", 1)])
def test_what_another_entry_point_reads_does_not_count(entry: str, left: int) -> None:
    """Two pipelines of one fragment module: only its own entry point keeps an input alive."""
    first = [(compile_glsl(text, stage), "main") for stage, text in SHARED]
    codes = [*first, (assemble(TWO_FRAGMENTS), entry)]
    linked = link(codes, disable=frozenset(("backward", "forward")))  # which need only the sum
    assert [i.locations for i in linked.interfaces] == [(2, left), (2, left)]
    same_picture(codes, linked)


@pytest.mark.parametrize("entry", ["main", "other"])
def test_two_entry_points_of_one_function(entry: str) -> None:
    """What the other one lists may be gone, so only the chosen one goes out."""
    fragment = compile_glsl(
        frag("layout(location = 0) in vec4 c; layout(location = 1) in vec4 d;", "color = c;")[1],
        "frag",
    )
    twice = edited(fragment, ('( *OpEntryPoint .*)"main"(.*\n)', r'\1"main"\2\1"other"\2'))
    first = [(compile_glsl(text, stage), "main") for stage, text in SHARED]
    codes = [*first, (twice, entry)]
    linked = link(codes)
    assert [i.locations for i in linked.interfaces] == [(2, 1), (2, 1)]
    module = module_of(linked.stages[-1].data)
    assert len(module.sections[ENTRY_POINTS]) == 1
    same_picture(codes, linked)


READS_ELSEWHERE = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %vs "vs" %position %place %out
OpEntryPoint Fragment %fs "fs" %in %color
OpEntryPoint Fragment %other "other" %in %color
OpExecutionMode %fs OriginUpperLeft
OpExecutionMode %other OriginUpperLeft
OpName %out "out"
OpName %in "out"
OpDecorate %position Location 0
OpDecorate %place BuiltIn Position
OpDecorate %out Location 0
OpDecorate %in Location 0
OpDecorate %color Location 0
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %ub DescriptorSet 0
OpDecorate %ub Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%f = OpTypeFloat 32
%i = OpTypeInt 32 1
%v4 = OpTypeVector %f 4
%in_t = OpTypePointer Input %v4
%out_t = OpTypePointer Output %v4
%block = OpTypeStruct %v4
%block_t = OpTypePointer Uniform %block
%member_t = OpTypePointer Uniform %v4
%position = OpVariable %in_t Input
%place = OpVariable %out_t Output
%out = OpVariable %out_t Output
%in = OpVariable %in_t Input
%color = OpVariable %out_t Output
%ub = OpVariable %block_t Uniform
%zero = OpConstant %i 0
%vs = OpFunction %void None %fn
%1 = OpLabel
%2 = OpLoad %v4 %position
OpStore %place %2
%3 = OpAccessChain %member_t %ub %zero
%4 = OpLoad %v4 %3
OpStore %out %4
OpReturn
OpFunctionEnd
%fs = OpFunction %void None %fn
%5 = OpLabel
%6 = OpLoad %v4 %in
OpStore %color %6
OpReturn
OpFunctionEnd
%other = OpFunction %void None %fn
%7 = OpLabel
%8 = OpLoad %v4 %in
%9 = OpAccessChain %member_t %ub %zero
%10 = OpLoad %v4 %9
%11 = OpFAdd %v4 %8 %10
OpStore %color %11
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize(("entry", "action"), [("fs", "kept"), ("other", "propagated")])
def test_a_resource_of_another_entry_point_is_not_visible(entry: str, action: str) -> None:
    """The module declares the block, but only entry points that use it may read it."""
    whole = assemble(READS_ELSEWHERE)
    options = spvlink.Options(clean=True)
    linked = spvlink.link(
        [spvlink.Source(whole, "m.spv", "vs"), spvlink.Source(whole, "m.spv", entry)], options
    )
    assert {r.action for r in linked.remarks} == {action}
    new = module_of(linked.stages[1].data) if entry == "other" else None
    if new is not None:
        assert not interface.declared(new, INPUT)
        assert [v.imm[0] for v in new.globals if v.op == ops.OpVariable].count(
            enums.StorageClass_Uniform
        ) == 1
    else:
        assert any("not propagated" in r.why for r in linked.remarks)


# --- one module, several pipelines ---


@pytest.mark.parametrize(
    ("name", "kept"), [(name, stage) for name in CHAINS for stage in stages_of(name)]
)
def test_the_kept_stage_fits_other_pipelines(name: str, kept: str) -> None:
    """The original module of the stage that keeps its interface fits the linked neighbours, and
    the linked one fits the original neighbours."""
    codes, at = list(codes_of(name)), stages_of(name).index(kept)
    linked = run(codes, keep_interface=frozenset([kept]))
    new = [stage.data for stage in linked.stages]
    scene, before = draw_covering(codes)
    assert before.is_good()
    for mixed in (
        [*new[:at], codes[at], *new[at + 1 :]],
        [*codes[:at], new[at], *codes[at + 1 :]],
    ):
        assert not close(before, draw(mixed, scene))


def test_two_pipelines_share_a_vertex_module() -> None:
    """Each is linked with what is its own; the shared module, linked in either, serves both."""
    pipelines = [
        [TRIANGLES[0], *rest]
        for rest in (
            TRIANGLES[1:],
            [
                frag(
                    "layout(location = 0) in vec4 c; layout(location = 3) in vec4 unread;",
                    "color = c * 0.5 + unread * 0.25;",
                )
            ],
        )
    ]
    built = [[compile_glsl(text, stage) for stage, text in stages] for stages in pipelines]
    linked = [
        [s.data for s in run(codes, keep_interface=frozenset(["vert"])).stages] for codes in built
    ]
    outputs = [
        {(d.name, d.place, d.shape) for d in interface.declared(module_of(new[0]), OUTPUT)}
        for new in linked
    ]
    assert outputs[0] == outputs[1]
    for codes, new in zip(built, linked):
        scene, before = draw_covering(codes)
        for shared in (built[0][0], linked[0][0], linked[1][0]):
            assert not compare(before, draw([shared, *new[1:]], scene))


def test_without_keep_interface_the_shared_module_would_not_fit() -> None:
    """What the option is for: a pipeline that reads less takes outputs from the shared module."""
    codes = list(codes_of("triangles"))
    free = module_of(run(codes).stages[0].data)
    kept = module_of(run(codes, keep_interface=frozenset(["vert"])).stages[0].data)
    assert len(interface.declared(free, OUTPUT)) < len(interface.declared(kept, OUTPUT)) == 2
