"""What of an output may be captured component by component: what no other test has (scripts/mutants
found it)."""

from __future__ import annotations

import pytest

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir.slot import CAPTURED
from spvlink.passes.lowering import captures
from spvlink.passes.lowering.cells import MEMORY, PartNode
from tests.support.case_loading import load

TEXT = """\
OpCapability Shader
OpCapability TransformFeedback
OpCapability Float16
OpCapability StorageInputOutput16
OpExtension "SPV_KHR_16bit_storage"
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %v
OpEntryPoint Vertex %other "other" %v
{modes}
OpDecorate %v Location 0
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%int_2 = OpConstant %int 2
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%double = OpTypeFloat 64
%vec3 = OpTypeVector %float 3
%pair = OpTypeVector %double 2
%halves = OpTypeVector %half 4
%mat = OpTypeMatrix %vec3 3
%floats = OpTypeArray %float %int_2
%inner = OpTypeStruct %float
%inners = OpTypeArray %inner %int_2
%wide = OpTypeStruct %float %double
%wides = OpTypeArray %wide %int_2
%block = OpTypeStruct %vec3 %halves %inner %wide
%ptr = OpTypePointer Output %{type}
%v = OpVariable %ptr Output
%main = OpFunction %void None %1
%2 = OpLabel
OpReturn
OpFunctionEnd
%other = OpFunction %void None %1
%3 = OpLabel
OpReturn
OpFunctionEnd
"""
BUFFER, STRIDE = "OpDecorate %v XfbBuffer 1\n", "OpDecorate %v XfbStride 64\n"
OFFSET = "OpDecorate %v Offset 8\n"
WHOLE = BUFFER + STRIDE + OFFSET
MEMBER = "OpMemberDecorate %block {0} Offset 16\n"
IN_BLOCK = "OpDecorate %block XfbBuffer 1\nOpDecorate %block XfbStride 64\n"
ALL = -1
NONE: set[int] = set()
PINNED = {  # type, notes -> the members that stay whole, or all of it
    ("vec3", WHOLE): NONE,
    ("mat", WHOLE): NONE,
    ("floats", WHOLE): NONE,
    ("pair", WHOLE): NONE,
    ("halves", WHOLE): {ALL},
    ("inner", WHOLE): NONE,
    ("inners", WHOLE): NONE,
    ("wide", WHOLE): {ALL},
    ("wides", WHOLE): {ALL},
    ("inners", WHOLE + "OpDecorate %inner Block\n"): {ALL},
    ("inner", WHOLE + "OpMemberDecorate %inner 0 Offset 8\n"): {ALL},
    ("vec3", BUFFER + OFFSET): {ALL},
    ("vec3", STRIDE + OFFSET): {ALL},
    ("block", BUFFER + STRIDE): {ALL},  # no Offset at all: nobody asks
    ("block", BUFFER + STRIDE + "OpDecorate %block Block\n"): NONE,
    ("block", BUFFER + STRIDE + MEMBER.format(0)): NONE,
    ("block", IN_BLOCK + MEMBER.format(0)): NONE,
    ("block", BUFFER + MEMBER.format(0)): {0},
    ("block", BUFFER + STRIDE + MEMBER.format(1)): {1},
    ("block", BUFFER + STRIDE + MEMBER.format(1) + MEMBER.format(0)): {1},
    ("block", BUFFER + STRIDE + MEMBER.format(2)): NONE,
    ("block", BUFFER + STRIDE + MEMBER.format(2) + "OpDecorate %inner Block\n"): {2},
    ("block", BUFFER + STRIDE + MEMBER.format(3)): {3},
    ("block", WHOLE + MEMBER.format(0)): {ALL},
    ("block", WHOLE + "OpDecorate %block Block\n"): {ALL},
}


def pinned(node: PartNode) -> set[int]:
    if node.kind == MEMORY:
        return {ALL}
    return {at for at, child in enumerate(node.children) if child.kind == MEMORY}


@pytest.mark.parametrize(("type", "notes"), PINNED)
def test_what_can_be_captured_by_component(type: str, notes: str) -> None:
    module = load(TEXT.format(type=type, notes=notes, modes=""))
    (variable,) = [i for i in module.globals if i.op == ops.OpVariable]
    assert variable.type is not None
    node = PartNode(variable.type.args[0], ())
    captures.pin(Decorations.of(module), variable, node)
    assert pinned(node) == PINNED[type, notes]
    for part in node.leaves():
        assert (part.pins == CAPTURED) == (part.kind == MEMORY)
        assert part.why == (captures.CAPTURED_WHY if part.kind == MEMORY else "")


STREAMS = {  # type, notes, decorations -> the members that stay whole
    ("block", "OpDecorate %block Block\n", enums.Decoration_Stream): {0, 1, 2, 3},
    ("block", MEMBER.format(0), enums.Decoration_Stream): {0, 1, 2, 3},
    ("block", "OpDecorate %block Block\n", enums.Decoration_Index): {ALL},
    ("block", "", enums.Decoration_Stream): {ALL},
    ("vec3", "", enums.Decoration_Stream): {ALL},
}


@pytest.mark.parametrize(("type", "notes", "held"), STREAMS)
def test_members_of_another_stream(type: str, notes: str, held: int) -> None:
    module = load(TEXT.format(type=type, notes=notes, modes=""))
    (variable,) = [i for i in module.globals if i.op == ops.OpVariable]
    assert variable.type is not None
    node = PartNode(variable.type.args[0], ())
    captures.pin_stream(Decorations.of(module), node, "why", {held})
    assert pinned(node) == STREAMS[type, notes, held]
    assert {part.why for part in node.leaves()} == {"why"}


@pytest.mark.parametrize("type", ["vec3", "block"])
def test_decorations_of_a_block_count_for_what_is_one(type: str) -> None:
    module = load(TEXT.format(type=type, notes=IN_BLOCK + OFFSET, modes=""))
    (variable,) = [i for i in module.globals if i.op == ops.OpVariable]
    tables = Decorations.of(module)
    words = captures.block_words(tables, variable)
    assert [w[0] for w in words] == (
        [enums.Decoration_XfbBuffer, enums.Decoration_XfbStride] if type == "block" else []
    )
    own = tables.targets[variable]
    assert captures.at(own, 4, words) == ((1, 64, -1, 12) if type == "block" else None)


@pytest.mark.parametrize("stream", [-1, 0, 2])
def test_a_stream_is_said_where_it_was(stream: int) -> None:
    said = [(enums.Decoration_Stream, stream)] * (stream >= 0)
    words = [(enums.Decoration_XfbBuffer, 1), (enums.Decoration_XfbStride, 64)]
    capture = captures.at([*said, (enums.Decoration_Offset, 8)], 4, words)
    assert capture == (1, 64, stream, 12)
    assert captures.words_of(capture) == [*said, *words, (enums.Decoration_Offset, 12)]


SIZES = {"vec3": 12, "mat": 36, "floats": 8, "pair": 16, "halves": 8, "inner": 4, "inners": 8}


@pytest.mark.parametrize("type", SIZES)
def test_bytes(type: str) -> None:
    module = load(TEXT.format(type=type, notes="", modes=""))
    (variable,) = [i for i in module.globals if i.op == ops.OpVariable]
    assert variable.type is not None
    assert captures.bytes_of(variable.type.args[0]) == SIZES[type]


MODES = {"": False, "%main Xfb": True, "%other Xfb": False, "%main OriginUpperLeft": False}


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_of_another_entry_point_is_not_asked(mode: str) -> None:
    modes = f"OpExecutionMode {mode}" if mode else ""
    assert captures.active(load(TEXT.format(type="vec3", notes="", modes=modes))) == MODES[mode]
