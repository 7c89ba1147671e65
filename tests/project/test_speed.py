"""What keeps a link fast, as far as it shows without a clock."""

from __future__ import annotations

import gc
import sys
from array import array

import pytest

import spvlink
from spvlink.binary import plans
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, ops
from spvlink.ir.core import ANNOTATIONS, RARE, SECTIONS, Inst, Module
from spvlink.ir.edit import replace_annotations
from tests.support import shapes
from tests.support.linking import fragment, vertex
from tests.support.samples import assemble, compile_glsl, pair

VERT = vertex(
    "layout(location = 0) out vec4 a; layout(location = 1) out vec3 b;"
    "layout(set = 0, binding = 0) uniform Block { vec4 tint; };"
    "void main() { gl_Position = p; a = p * tint; b = normalize(tint.xyz); }"
)
FRAG = fragment(
    "layout(location = 0) in vec4 a; layout(location = 1) in vec3 b;"
    "void main() { o = a; if (b.x > 0.5) o.xyz += b; }"
)
# A loop, whose phis are made of themselves, in a stage that only gets another interface.
LOOPS = [
    vertex(
        "layout(location = 0) out vec4 a; layout(location = 1) out vec2 b;"
        "layout(location = 2) out vec2 c;"
        "void main() { gl_Position = p; a = p; b = p.xy; c = p.zw; }"
    ),
    fragment(
        "layout(location = 0) in vec4 a; layout(location = 1) in vec2 b;"
        "layout(location = 2) in vec2 c; layout(binding = 0) uniform sampler2D t;"
        "void main() { float s = 0.0; for (int i = 0; i < int(a.x); ++i) s += a.y * a.z;"
        "o = texture(t, b) * s * texture(t, c) * a.w; }"
    ),
]


@pytest.mark.parametrize("modules", ([VERT, FRAG], LOOPS), ids=("values", "loops"))
def test_nothing_is_left_to_the_collector(modules: list[bytes]) -> None:
    """Values that may not cross were the reason why whole modules hung in reference cycles."""
    spvlink.link(modules)
    gc.collect()
    gc.disable()
    try:
        linked = spvlink.link(modules)
        if modules is LOOPS:
            assert linked.passed_through is None
        else:
            assert any("not propagated" in r.why for r in linked.remarks)
        del linked
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("environment", ("vulkan1.0", "vulkan1.3"))
@pytest.mark.parametrize("which", (0, 1))
def test_plans_read_as_the_grammar_does(environment: str, which: int) -> None:
    """A module that is read for the first time and one whose every form was met before."""
    data = pair(environment)[which]
    plans._PLANS.clear()
    plans._KNOWN.clear()
    plans.PLANS[:] = [plans.ReadPlan(-1, plans.END, 0)] * plans.PLACES
    first = decode(data)
    again = decode(data)
    assert encode(first) == encode(again) == data
    met = [plan for plan in plans._PLANS.values() if plan.shapes or plan.plain]
    assert {plans.SHAPED, plans.NOTE} <= {plan.kind for plan in met}
    for old, new in zip(first.sections, again.sections):
        assert [repr(i) for i in old] == [repr(i) for i in new]


RARE_ONES = """
OpCapability Shader
OpCapability PhysicalStorageBufferAddresses
OpExtension "SPV_KHR_physical_storage_buffer"
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint Vertex %main "main"
OpDecorate %group RelaxedPrecision
%group = OpDecorationGroup
OpGroupDecorate %group %one
OpTypeForwardPointer %pointer PhysicalStorageBuffer
%void = OpTypeVoid
%signature = OpTypeFunction %void
%float = OpTypeFloat 32
%one = OpConstant %float 1
%local = OpTypePointer Function %float
%node = OpTypeStruct %pointer
%pointer = OpTypePointer PhysicalStorageBuffer %node
%main = OpFunction %void None %signature
%start = OpLabel
%a = OpVariable %local Function %one
%b = OpVariable %local Function
OpCopyMemory %b %a
%c = OpCopyObject %local %a
%call = OpFunctionCall %void %other
OpReturn
OpFunctionEnd
%other = OpFunction %void None %signature
%body = OpLabel
OpReturn
OpFunctionEnd
"""


def test_rare_opcodes_are_noted() -> None:
    """Passes walk for these only where reading saw one."""
    made = assemble(RARE_ONES)
    assert decode(made).rare == decode(made).rare == RARE
    for data in pair("vulkan1.0"):
        module = decode(data)
        functions = [i for f in module.functions for b in f.blocks for i in b.insts]
        held = {i.op for i in [*module.globals, *module.annotations, *functions]}
        assert module.rare == held & RARE


def test_errors_name_the_first_cause() -> None:
    """An id out of bounds is what is wrong, not that its uses are undefined then; and a module
    with one block is read as one with several."""
    words = array("I", pair("vulkan1.0")[1])
    at = 5
    while words[at] & 0xFFFF != ops.OpTypeVoid:
        at += words[at] >> 16
    words[at + 1] = 0x01000000
    with pytest.raises(BadSpirv, match="is not below the bound") as caught:
        decode(words.tobytes())
    assert caught.value.word == at
    words[-1] += 1 << 16  # a word too many
    with pytest.raises(BadSpirv, match="past the end"):
        decode(words.tobytes())


def steps(stages: shapes.Stages) -> float:
    """Python calls that a link makes for each instruction."""
    data = [compile_glsl(source, stage) for stage, source in stages]
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    options = spvlink.Options(clean=True)
    options.validate = False
    options.spec_defaults = True  # as the Vulkan layer has it: all constants are known
    sys.setprofile(count)
    try:
        linked = spvlink.link(data, options)
    finally:
        sys.setprofile(None)
    assert linked.passed_through is None
    return calls / sum(len(d) for d in data)


@pytest.mark.skipif(spvlink.COMPILED, reason="nobody sees compiled calls, so nobody counts them")
@pytest.mark.parametrize("name", shapes.SHAPES)
def test_work_is_linear_in_the_size_of_the_module(name: str) -> None:
    """Counted, not timed."""
    make, sizes = shapes.SHAPES[name]
    assert steps(make(sizes[1])) < 1.25 * steps(make(sizes[0]))


def test_replaced_annotations_are_read_again() -> None:
    """Also if there are as many as before."""
    module = decode(pair()[0])
    variable = next(i for i in module.globals if i.op == ops.OpVariable)
    assert Effects.of(module).tables is Decorations.of(module)
    volatile = Inst(ops.OpDecorate, None, [variable], (enums.Decoration_Volatile,))
    replace_annotations(module, [*module.annotations[1:], volatile])
    assert Decorations.of(module).find(variable, enums.Decoration_Volatile) == ()
    assert Effects.of(module).volatile == {variable}
    assert module.annotations is module.sections[ANNOTATIONS]


def test_a_module_has_every_section() -> None:
    assert len(Module().sections) == SECTIONS
