"""Legality checks that no other test needs (scripts/mutants found them): each pair here goes wrong,
or would, without one of them."""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.passes import dce, simplify
from spvlink.text import parse
from tests.linking import Result, fragment, vertex
from tests.samples import assemble, compile_glsl, disassemble, edited
from tests.test_cases import load
from tests.test_dedup import MOTION, link, merged, two
from tests.test_propagate import pair

# --- effects: what is Volatile is read as often as it was written down ---

READS = """\
OpCapability Shader
OpCapability VulkanMemoryModel
%GLSL = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical {model}
OpEntryPoint Fragment %main "main" %o {listed}
OpExecutionMode %main OriginUpperLeft
OpDecorate %o Location 0
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%uint_0 = OpConstant %uint 0
%float = OpTypeFloat 32
%v2uint = OpTypeVector %uint 2
%v4float = OpTypeVector %float 4
%origin = OpConstantNull %v2uint
%image = OpTypeImage %float 2D 0 0 0 2 Rgba32f
%ptr_image = OpTypePointer UniformConstant %image
%ptr_Output_v4float = OpTypePointer Output %v4float
%o = OpVariable %ptr_Output_v4float Output
{globals}

%main = OpFunction %void None %1
%3 = OpLabel
{body}
  OpReturn
OpFunctionEnd
"""
BLOCK = """%B = OpTypeStruct %v4float
%ptr_B = OpTypePointer StorageBuffer %B
%ptr_v4float = OpTypePointer StorageBuffer %v4float
%b = OpVariable %ptr_B StorageBuffer"""
IN_BLOCK = "OpDecorate %B Block\nOpMemberDecorate %B 0 Offset 0\n"
BOUND = "OpDecorate %{0} DescriptorSet 0\nOpDecorate %{0} Binding 0\n"
IMAGE = "%i = OpVariable %ptr_image UniformConstant"
TWO_READS = """  %4 = OpAccessChain %ptr_v4float %b %uint_0
  %5 = OpLoad %v4float %4{0}
  %6 = OpLoad %v4float %4{0}
  %7 = OpFAdd %v4float %5 %5
  OpStore %o %7"""
TWO_TEXELS = """  %4 = OpLoad %image %i
  %5 = OpImageRead %v4float %4 %origin{0}
  %6 = OpImageRead %v4float %4 %origin{0}
  %7 = OpFAdd %v4float %5 %5
  OpStore %o %7"""
VOLATILE = {  # globals, notes, body, which reads
    "memory operand": (BLOCK, IN_BLOCK + BOUND.format("b"), TWO_READS.format(" Volatile"), "Load"),
    "variable": (
        BLOCK, IN_BLOCK + BOUND.format("b") + "OpDecorate %b Volatile", TWO_READS.format(""),
        "Load",
    ),
    "image operand": (
        IMAGE, BOUND.format("i"), TWO_TEXELS.format(" VolatileTexel"), "ImageRead",
    ),
    "image variable": (
        IMAGE, BOUND.format("i") + "OpDecorate %i Volatile", TWO_TEXELS.format(""), "ImageRead",
    ),
}  # fmt: skip


def volatile(name: str) -> tuple[Module, str]:
    globals, notes, body, reads = VOLATILE[name]
    model = "Vulkan" if "operand" in name else "GLSL450"
    text = READS.format(model=model, listed="", notes=notes, globals=globals, body=body)
    return load(text), reads


@pytest.mark.parametrize("name", VOLATILE)
def test_volatile_reads_stay(name: str) -> None:
    module, reads = volatile(name)
    function = module.functions[0]
    simplify.run(module, function)
    dce.run(module, function)
    found = [i.op for b in function.blocks for i in b.insts if i.op == getattr(ops, f"Op{reads}")]
    assert len(found) == 2


# --- dedup ---


def test_bits_are_not_read_from_a_float_that_is_stored_more_often() -> None:
    """A float may be flushed on the way; so the integer stays, although fewer paths store it."""
    body = "a = p.x; if (k.x > 0) return; b = floatBitsToUint(p.x);"
    done = link(*two("flat @ float", "flat @ uint", body, "o = vec4(a, float(b), 0, 1);"))
    assert merged(done) == {}
    same = body.replace("floatBitsToUint", "uint").replace("p.x", "k.y")
    done = link(*two("flat @ int", "flat @ uint", same, "o = vec4(a, float(b >> 1), 0, 1);"))
    assert merged(done) == {"b 1.x": "the same bits as a 0.x"}
