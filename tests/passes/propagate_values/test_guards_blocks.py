"""Where things lie in blocks, asked of ``Blocks`` itself: what no compiler writes, or what two
stages say differently (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.link.resources.blocks import Blocks, Cannot, ResourceAccess, resource_key, size_of
from spvlink.text import parse

HEAD = """\
OpCapability Shader
OpCapability RuntimeDescriptorArray
OpExtension "SPV_EXT_descriptor_indexing"
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main"
OpDecorate %B Block
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%vec3 = OpTypeVector %float 3
%vec4 = OpTypeVector %float 4
%mat3 = OpTypeMatrix %vec3 3
%mat4 = OpTypeMatrix %vec4 4
%tall = OpTypeMatrix %vec3 2
%n0 = OpConstant %int 0
%n1 = OpConstant %int 1
%n2 = OpConstant %int 2
%floats = OpTypeArray %float %n2
%mats = OpTypeArray %mat4 %n2
%run = OpTypeRuntimeArray %float
%later = OpSpecConstant %int 8
%sized = OpTypeArray %float %later
{types}
%main = OpFunction %void None %1
%first = OpLabel
{body}
OpReturn
OpFunctionEnd
"""
PLACE = "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\n"
OFFSET = "OpMemberDecorate %B 0 Offset 0\n"
MATS = "OpDecorate %mats ArrayStride 64\n"
COLUMNS = "OpMemberDecorate %B 0 ColMajor\nOpMemberDecorate %B 0 MatrixStride 16\n"
ROWS = COLUMNS.replace("Col", "Row")


def module_of(member: str, notes: str, of: str = "%B", body: str = "") -> Module:
    """One with a block of one member, or what is made of that block."""
    types = f"%B = OpTypeStruct {member}\n%Bs = OpTypeArray %B %n2\n%Br = OpTypeRuntimeArray %B\n"
    types += f"%ptr = OpTypePointer Uniform {of}\n%b = OpVariable %ptr Uniform\n"
    types += "%to = OpTypePointer Uniform %float\n%tomat = OpTypePointer Uniform %mat4"
    return parse(HEAD.format(types=types, notes=notes, body=body))


def variable_of(module: Module) -> Inst:
    return next(i for i in module.globals if i.op == ops.OpVariable)


@pytest.mark.parametrize(
    ("notes", "place"),
    [
        (PLACE, (0, 0)),
        ("OpDecorate %b Binding 3\n", (0, 3)),
        ("OpDecorate %b DescriptorSet 2\n", None),
    ],
)
def test_what_a_resource_is_known_by(notes: str, place: tuple[int, int] | None) -> None:
    module = module_of("%float", notes + OFFSET)
    key = resource_key(Blocks(module).tables, variable_of(module))
    assert key == (place and (enums.StorageClass_Uniform, *place))


CHAIN = "%at = OpAccessChain %to %b {}\n%x = OpLoad %float %at"
ARRAY = "an array of resources with an index that is not known"
BOUNDS = "an index out of bounds"
LOADS = {  # member, notes, type of the variable, code -> why it is not copied
    "one": ("%float", OFFSET, "%B", CHAIN.format("%n0"), ""),
    "of two": ("%float", OFFSET, "%Bs", CHAIN.format("%n1 %n0"), ""),
    "the third of two": ("%float", OFFSET, "%Bs", CHAIN.format("%n2 %n0"), ARRAY),
    "all": ("%float", OFFSET, "%Bs", "%x = OpLoad %Bs %b", ARRAY),
    "as many as there are": ("%float", OFFSET, "%Br", CHAIN.format("%n0 %n0"), "it is no block"),
    "the second of one": ("%float", OFFSET, "%B", CHAIN.format("%n1"), BOUNDS),
    "nowhere": ("%float", "", "%B", CHAIN.format("%n0"), "a member without an Offset"),
    "no stride": (
        "%floats", OFFSET, "%B", CHAIN.format("%n0 %n1"), "an array without an ArrayStride",
    ),
    "no columns": (
        "%mat4", OFFSET, "%B", CHAIN.format("%n0 %n1 %n1"), "a matrix without a MatrixStride",
    ),
    "a column of rows": (
        "%mat4", OFFSET + ROWS, "%B", CHAIN.format("%n0 %n1 %n1"), "a column of a row-major matrix",
    ),
    "a column": ("%mat4", OFFSET + COLUMNS, "%B", CHAIN.format("%n0 %n1 %n1"), ""),
    "a whole block": ("%float", OFFSET, "%B", "%x = OpLoad %B %b", "a value of OpTypeStruct"),
    "by a copy of a pointer": (
        "%float", OFFSET, "%B", "%c = OpCopyObject %ptr %b\n%at = OpAccessChain %to %c %n0\n"
        "%x = OpLoad %float %at", "a load through a pointer that does not lead to a variable",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOADS)
def test_what_a_load_reads(name: str) -> None:
    member, notes, of, body, why = LOADS[name]
    module = module_of(member, PLACE + notes, of, body)
    load = module.functions[0].blocks[0].insts[-2]
    try:
        found = Blocks(module).access(load)
    except Cannot as refused:
        assert str(refused) == why
    else:
        assert not why and found.words == []


def test_a_matrix_of_an_array_lies_as_its_member_says() -> None:
    body = "%m = OpAccessChain %tomat %b %n0 %n1\n%x = OpLoad %mat4 %m"
    module = module_of("%mats", PLACE + OFFSET + MATS + ROWS, "%B", body)
    found = Blocks(module).access(module.functions[0].blocks[0].insts[-2])
    assert found.offset == 64
    assert found.words == [(enums.Decoration_RowMajor,), (enums.Decoration_MatrixStride, 16)]


def test_two_variables_of_one_resource() -> None:
    """What one of them declares says nothing of the other."""
    twice = PLACE + PLACE.replace("%b", "%other")
    types = "%B = OpTypeStruct %float\n%ptr = OpTypePointer Uniform %B\n"
    types += "%b = OpVariable %ptr Uniform\n%other = OpVariable %ptr Uniform"
    module = parse(HEAD.format(types=types, notes=twice + OFFSET, body=""))
    with pytest.raises(Cannot, match="several variables alias the resource there"):
        Blocks(module).variable((enums.StorageClass_Uniform, 0, 0))


TYPE = "the other stage declares another type at these bytes"
UNKNOWN = "the other stage has an array of unknown length at these bytes"
MEMBERS = {  # member of the other block, notes -> where a float at that byte is there, or why
    "nothing yet": ("", "", 20, None),
    "another one": ("%float", "", 20, None),
    "an element": ("%floats", "OpDecorate %floats ArrayStride 20", 20, [0, 1]),
    "the first element": ("%floats", "OpDecorate %floats ArrayStride 16", 0, [0, 0]),
    "a component": ("%mat4", COLUMNS, 20, [0, 1, 1]),
    "a component in an array": ("%mats", MATS + COLUMNS, 84, [0, 1, 1, 1]),
    "of rows": ("%mat4", ROWS, 20, "the blocks lay out that member differently"),
    "between elements": (
        "%floats", "OpDecorate %floats ArrayStride 16", 12,
        "the other stage has padding at these bytes",
    ),
    "between columns": ("%mat3", COLUMNS, 12, TYPE),
    "an integer": ("%int %int", "OpMemberDecorate %B 1 Offset 20", 20, TYPE),
    "sized by the pipeline": (
        "%sized", "OpDecorate %sized ArrayStride 4", 20, UNKNOWN,
    ),
    "no end": ("%run", "OpDecorate %run ArrayStride 4", 20, UNKNOWN),
}  # fmt: skip


@pytest.mark.parametrize("name", MEMBERS)
def test_what_lies_at_a_place(name: str) -> None:
    member, notes, offset, where = MEMBERS[name]
    module = module_of(member, PLACE + OFFSET + notes)
    (number,) = (i for i in module.globals if i.op == ops.OpTypeFloat)
    wanted = ResourceAccess((enums.StorageClass_Uniform, 0, 0), [], offset, number, [])
    blocks = Blocks(module)
    pointer = variable_of(module).type
    assert pointer is not None
    try:
        assert blocks.find(pointer.args[0], wanted) == where
    except Cannot as refused:
        assert str(refused) == where


def test_bytes_of_a_matrix() -> None:
    """A stride for each of two columns of three, or for each of three rows."""
    module = module_of("%tall", PLACE + OFFSET)
    tall = next(i for i in module.globals if i.op == ops.OpTypeMatrix and i.imm == (2,))
    stride = (enums.Decoration_MatrixStride, 32)
    assert size_of(tall, [(enums.Decoration_ColMajor,), stride]) == 64
    assert size_of(tall, [(enums.Decoration_RowMajor,), stride]) == 96
