"""Slots become variables again: what no other test has (scripts/mutants found it)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.ir.slot import Slot, Varying
from spvlink.passes.raising import raise_io
from spvlink.passes.raising.raise_io import Raise, scalar_type
from spvlink.text import print_module
from tests.support.case_loading import load
from tests.support.linking import Result, fragment, vertex
from tests.support.samples import edited

TEXT = """\
OpCapability Shader
OpCapability Tessellation
OpCapability Geometry
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main"
{modes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%uint_2 = OpConstant %uint 2
%uint_264 = OpConstant %uint 264
%uint_3 = OpConstant %uint 3
%float = OpTypeFloat 32
%float_1 = OpConstant %float 1
%float_2 = OpConstant %float 2
%float_3 = OpConstant %float 3
%float_4 = OpConstant %float 4
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%vec2 = OpTypeVector %float 2
%vertices = OpTypeArray %vec2 %uint_3
%main = OpFunction %void None %1
%2 = OpLabel
{body}
OpReturn
OpFunctionEnd
"""
MODES = {
    "Fragment": "OpExecutionMode %main OriginUpperLeft",
    "TessellationControl": "OpExecutionMode %main OutputVertices 3",
}
INPUT, OUTPUT = enums.StorageClass_Input, enums.StorageClass_Output


def module_of(model: str, body: str = "") -> Module:
    return load(TEXT.format(model=model, modes=MODES.get(model, ""), body=body))


def varying(keys: list[int], base: str = "f32", whole: int = 0, columns: int = 1) -> Varying:
    made = Varying(0, 0, base, keys)
    made.name, made.whole, made.columns = "v", whole, columns
    return made


def slots(module: Module, keys: list[int], base: str = "f32") -> dict[int, Slot]:
    nowhere = Inst(ops.OpVariable, None, [], ())
    type = scalar_type(module, base)
    return {key: Slot(key, type, nowhere, "v", lane, 0) for lane, key in enumerate(keys)}


# --- what is declared ---


def notes(module: Module) -> set[int]:
    return {i.imm[0] for i in module.annotations if i.op == ops.OpDecorate}


@pytest.mark.parametrize("storage", [INPUT, OUTPUT])
def test_what_only_one_side_says(storage: int) -> None:
    one = varying([0, 2])
    one.qualifiers = enums.Decoration_Centroid, enums.Decoration_PerVertexKHR
    one.extras = ((enums.Decoration_Invariant,),)
    one.captured = (0, 16, -1, 4)
    module = module_of("Fragment" if storage == INPUT else "Vertex")
    Raise(module, [one], storage, slots(module, one.keys))
    both = {enums.Decoration_Location, enums.Decoration_Centroid}
    feedback = {enums.Decoration_XfbBuffer, enums.Decoration_XfbStride, enums.Decoration_Offset}
    if storage == INPUT:
        assert notes(module) == both | {enums.Decoration_PerVertexKHR}
    else:
        assert notes(module) == both | feedback | {enums.Decoration_Invariant}


RELAXED = {  # the relaxed ones of two slots, what they are, as what they travel -> whether it is
    ((0, 2), "f32", "f32"): True, ((0,), "f32", "f32"): False, ((), "f32", "f32"): False,
    ((0, 2), "i32", "f32"): False,
}  # fmt: skip


@pytest.mark.parametrize("case", RELAXED)
def test_what_is_relaxed(case: tuple[tuple[int, ...], str, str]) -> None:
    keys, base, wire = case
    module = module_of("Vertex")
    held = slots(module, [0, 2], base)
    for key in keys:
        held[key].relaxed = True
    Raise(module, [varying([0, 2], wire)], OUTPUT, held)
    assert (enums.Decoration_RelaxedPrecision in notes(module)) == RELAXED[case]


def test_what_a_side_does_not_have() -> None:
    """A variable that the other side alone declared, or part of one."""
    for some in ([], [2]):
        module = module_of("Vertex")
        held = slots(module, some)
        for slot in held.values():
            slot.relaxed = True
        side = Raise(module, [varying([0, 2])], OUTPUT, held)
        assert len(side.variables) == 1
        assert (enums.Decoration_RelaxedPrecision in notes(module)) == bool(some)


def test_which_variable_it_was() -> None:
    module = module_of("Vertex")
    (vec2,) = [i for i in module.globals if i.op == ops.OpTypeVector]
    pointers = [Inst(ops.OpTypePointer, None, [vec2], (OUTPUT,)) for _ in range(2)]
    one, other = [Inst(ops.OpVariable, pointer, [], (OUTPUT,)) for pointer in pointers]
    float_type = vec2.args[0]

    def slot(variable: Inst, lane: int) -> Slot:
        return Slot(2 * lane, float_type, variable, "", lane, 0)

    assert raise_io.is_same([slot(one, 0), slot(one, 1)], vec2)
    assert not raise_io.is_same([slot(one, 1), slot(one, 0)], vec2)
    assert not raise_io.is_same([slot(one, 0), slot(other, 1)], vec2)
    assert not raise_io.is_same([slot(one, 0)], float_type)


# --- what stays whole ---

PLACED = "OpDecorate %v Location 1\nOpDecorate %w Location 1\nOpMemberDecorate %s 0 Location 1\n"


@pytest.mark.parametrize("sampled", [False, True])
def test_a_whole_variable_that_moves(sampled: bool) -> None:
    text = TEXT.format(model="Vertex", modes=PLACED + "OpDecorate %v Centroid", body="")
    globals = """%s = OpTypeStruct %vec2
%ptr_s = OpTypePointer Output %s
%ptr = OpTypePointer Output %vec2
%block = OpVariable %ptr_s Output
%v = OpVariable %ptr Output
%w = OpVariable %ptr Output
%main ="""
    module = load(text.replace("%main =", globals, 1).replace('"main"', '"main" %block %v %w'))
    block, v, w = (i for i in module.globals if i.op == ops.OpVariable)
    new = enums.Decoration_Sample if sampled else enums.Decoration_NoPerspective
    wanted = (new, enums.Decoration_Centroid, enums.Decoration_PerVertexKHR)
    raise_io.move_whole(module, v, 3, wanted)
    raise_io.move_whole(module, block, 3, wanted)
    location = enums.Decoration_Location
    struct = next(i for i in module.globals if i.op == ops.OpTypeStruct)
    assert sorted((i.args[0].id, i.imm) for i in module.annotations) == sorted([
        (v.id, (location, 3)), (v.id, (enums.Decoration_Centroid,)), (v.id, (new,)),
        (w.id, (location, 1)), (struct.id, (0, location, 1)),
    ])  # fmt: skip
    assert ("OpCapability SampleRateShading" in print_module(module, friendly=True)) == sampled


GROUPED = {  # the decorations of the array, in the vertex and the fragment shader
    "both": (True, True), "the output": (True, False), "the input": (False, True),
}  # fmt: skip
GROUP = "OpDecorate %g Location 1\n%g = OpDecorationGroup\nOpGroupDecorate %g %a"


@pytest.mark.parametrize("name", GROUPED)
def test_a_whole_variable_whose_decorations_are_in_a_group(name: str) -> None:
    """Others took the Location that it was held to have left."""
    first = """layout(location = 0) out vec4 unread; layout(location = 1) out vec4 a[3];
layout(location = 5) out vec4 last;
void main() { unread = p; a[0] = a[1] = a[2] = p; a[k.x] = p * 2.0; last = p * p; }
"""
    second = """layout(location = 1) in vec4 a[3]; layout(location = 5) in vec4 last;
layout(set = 0, binding = 0) uniform U { int i; };
void main() { o = a[i] + last; }
"""
    codes = [vertex(first), fragment(second)]
    for at, grouped in enumerate(GROUPED[name]):
        if grouped:
            codes[at] = edited(codes[at], ("OpDecorate %a Location 1", GROUP))
    assert Result(*codes).table() == {"a": ("0-2.xyzw", "f32x4x3"), "last": ("3.xyzw", "f32x4")}


def test_how_many_vertices() -> None:
    """As many as the one of them that has most."""
    module = module_of("Vertex")
    two, three = (i for i in module.globals if i.op == ops.OpConstant and i.imm in ((2,), (3,)))
    for order in ([two, three], [three, two]):
        held = list(slots(module, [0, 2, 4]).values())
        for slot, length in zip(held, order):
            slot.length = length
        assert raise_io.length_of(held) is three
    assert raise_io.length_of(list(slots(module, [0]).values())) is None


# --- what is read and written ---

SHAPES = {  # keys, base type on the wire, what it is, columns
    "vector": ([0, 2], "f32", 0, 1), "vertices": ([0, 2], "f32", 0, 1),
    "matrix": ([0, 2, 8, 10], "f32", ops.OpTypeMatrix, 2),
    "array": ([0, 2, 8, 10], "f32", ops.OpTypeArray, 2),
    "scalars": ([0, 8], "f32", ops.OpTypeArray, 2), "element": ([0], "f32", ops.OpTypeArray, 1),
    "bits": ([0, 2], "u32", 0, 1), "word": ([0], "u32", 0, 1),
}  # fmt: skip


@dataclass(frozen=True)
class Code:
    model: str  # inputs of a fragment shader, outputs of others
    shape: str
    before: str
    after: str


def raised(case: Code) -> str:
    """The body."""
    keys, base, whole, columns = SHAPES[case.shape]
    one = varying(keys, base, whole, columns)
    module = module_of(case.model, case.before)
    held = slots(module, keys)
    for slot in held.values() if case.shape == "vertices" else ():
        slot.length = next(i for i in module.globals if i.op == ops.OpConstant and i.imm == (3,))
    Raise(module, [one], INPUT if case.model == "Fragment" else OUTPUT, held).run()
    text = print_module(module, friendly=True).partition("= OpLabel\n")[2]
    return "\n".join(line.strip() for line in text.splitlines()[:-2])


CODES = {
    "stores of a matrix": Code(
        "Vertex", "matrix",
        """STORE_OUTPUT %float_1 0
STORE_OUTPUT %float_2 2
STORE_OUTPUT %float_3 8
STORE_OUTPUT %float_4 10""",
        """%4 = OpCompositeConstruct %v2float %float_1 %float_2
%5 = OpCompositeConstruct %v2float %float_3 %float_4
%6 = OpCompositeConstruct %mat2v2float %4 %5
OpStore %v %6""",
    ),
    "loads of a matrix": Code(
        "Fragment", "matrix",
        """%3 = LOAD_INPUT %float 0
%4 = LOAD_INPUT %float 10
%5 = OpFAdd %float %3 %4
STORE_OUTPUT %5 0""",
        """%4 = OpLoad %mat2v2float %v
%5 = OpCompositeExtract %v2float %4 0
%6 = OpCompositeExtract %float %5 0
%7 = OpCompositeExtract %v2float %4 1
%8 = OpCompositeExtract %float %7 1
%9 = OpFAdd %float %6 %8
STORE_OUTPUT %9 0""",
    ),
    "stores of an array": Code(
        "Vertex", "array",
        """STORE_OUTPUT %float_1 0
STORE_OUTPUT %float_2 2
STORE_OUTPUT %float_3 8
STORE_OUTPUT %float_4 10""",
        """%4 = OpCompositeConstruct %v2float %float_1 %float_2
%5 = OpCompositeConstruct %v2float %float_3 %float_4
%6 = OpCompositeConstruct %arr_v2float_uint_2 %4 %5
OpStore %v %6""",
    ),
    "loads of scalars in an array": Code(
        "Fragment", "scalars",
        """%3 = LOAD_INPUT %float 8
STORE_OUTPUT %3 2""",
        """%4 = OpLoad %arr_float_uint_2 %v
%5 = OpCompositeExtract %float %4 1
STORE_OUTPUT %5 2""",
    ),
    "an array of one element": Code(
        "Vertex", "element",
        """STORE_OUTPUT %float_1 0""",
        """%4 = OpCompositeConstruct %arr_float_uint_1 %float_1
OpStore %v %4""",
    ),
    "loads of an array of one element": Code(
        "Fragment", "element",
        """%3 = LOAD_INPUT %float 0
STORE_OUTPUT %3 2""",
        """%4 = OpLoad %arr_float_uint_1 %v
%5 = OpCompositeExtract %float %4 0
STORE_OUTPUT %5 2""",
    ),
    "loads of what travels as bits": Code(
        "Fragment", "bits",
        """%3 = LOAD_INPUT %float 2
%4 = LOAD_INPUT %float 2
%5 = OpFAdd %float %3 %4
STORE_OUTPUT %5 8""",
        """%4 = OpLoad %v2uint %v
%5 = OpCompositeExtract %uint %4 1
%6 = OpBitcast %float %5
%7 = OpFAdd %float %6 %6
STORE_OUTPUT %7 8""",
    ),
    "a vector of a vertex": Code(
        "TessellationControl", "vertices",
        """STORE_OUTPUT %float_1 0 %int_0
STORE_OUTPUT %float_2 2 %int_0""",
        """%4 = OpAccessChain %ptr_Output_v2float %v %int_0
%5 = OpCompositeConstruct %v2float %float_1 %float_2
OpStore %4 %5""",
    ),
    "vertices that may be one": Code(
        "TessellationControl", "vertices",
        """STORE_OUTPUT %float_1 0 %int_0
STORE_OUTPUT %float_2 2 %int_1
STORE_OUTPUT %float_3 2 %int_0""",
        """%4 = OpAccessChain %ptr_Output_float %v %int_0 %int_0
OpStore %4 %float_1
%5 = OpAccessChain %ptr_Output_float %v %int_1 %int_1
OpStore %5 %float_2
%6 = OpAccessChain %ptr_Output_float %v %int_0 %int_1
OpStore %6 %float_3""",
    ),
    "a barrier between two stores": Code(
        "TessellationControl", "vertices",
        """STORE_OUTPUT %float_1 0 %int_0
OpControlBarrier %uint_2 %uint_2 %uint_264
STORE_OUTPUT %float_2 2 %int_0""",
        """%4 = OpAccessChain %ptr_Output_float %v %int_0 %int_0
OpStore %4 %float_1
OpControlBarrier %uint_2 %uint_2 %uint_264
%5 = OpAccessChain %ptr_Output_float %v %int_0 %int_1
OpStore %5 %float_2""",
    ),
    "what has no effect between two stores": Code(
        "TessellationControl", "vertices",
        """STORE_OUTPUT %float_1 0 %int_0
%3 = OpFAdd %float %float_1 %float_2
STORE_OUTPUT %3 2 %int_0""",
        """%4 = OpFAdd %float %float_1 %float_2
%5 = OpAccessChain %ptr_Output_v2float %v %int_0
%6 = OpCompositeConstruct %v2float %float_1 %4
OpStore %5 %6""",
    ),
    "half of a patch output": Code(
        "TessellationControl", "vector",
        """STORE_OUTPUT %float_1 2""",
        """%4 = OpAccessChain %ptr_Output_float %v %int_1
OpStore %4 %float_1""",
    ),
    "what is read back after a store": Code(
        "TessellationControl", "vertices",
        """STORE_OUTPUT %float_1 0 %int_0
%3 = LOAD_OUTPUT %float 0 %int_0
%4 = LOAD_OUTPUT %float 0 %int_0
%5 = OpFAdd %float %3 %4
STORE_OUTPUT %5 2 %int_0
%6 = LOAD_OUTPUT %float 2 %int_0
STORE_OUTPUT %6 0 %int_0""",
        """%4 = OpAccessChain %ptr_Output_float %v %int_0 %int_0
OpStore %4 %float_1
%5 = OpAccessChain %ptr_Output_v2float %v %int_0
%6 = OpLoad %v2float %5
%7 = OpCompositeExtract %float %6 0
%8 = OpCompositeExtract %float %6 0
%9 = OpFAdd %float %7 %8
%10 = OpAccessChain %ptr_Output_float %v %int_0 %int_1
OpStore %10 %9
%11 = OpAccessChain %ptr_Output_v2float %v %int_0
%12 = OpLoad %v2float %11
%13 = OpCompositeExtract %float %12 1
%14 = OpAccessChain %ptr_Output_float %v %int_0 %int_0
OpStore %14 %13""",
    ),
    "what is read back after a barrier": Code(
        "TessellationControl", "vertices",
        """%3 = LOAD_OUTPUT %float 0 %int_0
OpControlBarrier %uint_2 %uint_2 %uint_264
%4 = LOAD_OUTPUT %float 0 %int_0
%5 = OpFAdd %float %3 %4
STORE_OUTPUT %5 2 %int_1""",
        """%4 = OpAccessChain %ptr_Output_v2float %v %int_0
%5 = OpLoad %v2float %4
%6 = OpCompositeExtract %float %5 0
OpControlBarrier %uint_2 %uint_2 %uint_264
%7 = OpAccessChain %ptr_Output_v2float %v %int_0
%8 = OpLoad %v2float %7
%9 = OpCompositeExtract %float %8 0
%10 = OpFAdd %float %6 %9
%11 = OpAccessChain %ptr_Output_float %v %int_1 %int_1
OpStore %11 %10""",
    ),
    "a column of a matrix": Code(
        "TessellationControl", "matrix",
        """STORE_OUTPUT %float_1 8
STORE_OUTPUT %float_2 10""",
        """%4 = OpAccessChain %ptr_Output_v2float %v %int_1
%5 = OpCompositeConstruct %v2float %float_1 %float_2
OpStore %4 %5""",
    ),
    "components of two columns": Code(
        "TessellationControl", "matrix",
        """STORE_OUTPUT %float_1 8
STORE_OUTPUT %float_2 2""",
        """%4 = OpAccessChain %ptr_Output_float %v %int_0 %int_1
OpStore %4 %float_2
%5 = OpAccessChain %ptr_Output_float %v %int_1 %int_0
OpStore %5 %float_1""",
    ),
    "an element of scalars": Code(
        "TessellationControl", "scalars",
        """STORE_OUTPUT %float_1 8""",
        """%4 = OpAccessChain %ptr_Output_float %v %int_1
OpStore %4 %float_1""",
    ),
    "a component of a matrix that is read back": Code(
        "TessellationControl", "matrix",
        """%3 = LOAD_OUTPUT %float 8
STORE_OUTPUT %3 2""",
        """%4 = OpLoad %mat2v2float %v
%5 = OpCompositeExtract %float %4 1 0
%6 = OpAccessChain %ptr_Output_float %v %int_0 %int_1
OpStore %6 %5""",
    ),
    "a scalar that travels as bits": Code(
        "TessellationControl", "word",
        """%3 = LOAD_OUTPUT %float 0
STORE_OUTPUT %3 0""",
        """%4 = OpLoad %uint %v
%5 = OpBitcast %float %4
%6 = OpBitcast %uint %5
OpStore %v %6""",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CODES)
def test_what_is_read_and_written(name: str) -> None:
    assert raised(CODES[name]) == CODES[name].after
