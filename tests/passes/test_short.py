"""The short form of cases (tests/support/short.py): what it implies, and that it hides nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spvlink.binary.decode import decode
from spvlink.errors import BadSpirv
from spvlink.grammar import enums, ops
from spvlink.ir.core import SECTIONS, Inst, Module, name_of, words_of
from spvlink.text import parse
from tests.support.canonical import canonical
from tests.support.samples import FRAGMENT, VERTEX, compile_glsl, pair
from tests.support.short import definition_of, expand, is_like_rule, read
from tests.support.shorten import shorten, tidy

ROOT = Path(__file__).resolve().parents[2]
SHORT = """\
%S = OpTypeStruct {Block}
  %v4float colour {Offset 0}
  %float
%s = OpVariable %ptr_Uniform_S Uniform {DescriptorSet 0, Binding 1}
%x_0_ = OpVariable %ptr_Input_float Input {"x[0]", Flat, Location 2}
%1 = OpVariable %ptr_Output_v4float Output {Location 0}
OpEntryPoint Fragment %main "main"
  %a = OpAccessChain %ptr_Uniform_v4float %s %int_0
  %b = OpLoad %v4float %a
  %c = OpVectorTimesScalar %v4float %b %float_n0_5 {NoContraction}
  %d = OpExtInst %v4float %GLSL Sin %c
  OpStore %1 %d
"""
WHOLE = """\
OpCapability Shader
%GLSL = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %x_0_ %1
OpExecutionMode %main OriginUpperLeft
OpName %S "S"
OpMemberName %S 0 "colour"
OpName %s "s"
OpName %x_0_ "x[0]"
OpName %main "main"
OpDecorate %S Block
OpMemberDecorate %S 0 Offset 0
OpDecorate %s DescriptorSet 0
OpDecorate %s Binding 1
OpDecorate %x_0_ Flat
OpDecorate %x_0_ Location 2
OpDecorate %1 Location 0
OpDecorate %c NoContraction
%float = OpTypeFloat 32
%v4float = OpTypeVector %float 4
%S = OpTypeStruct %v4float %float
%ptr_Uniform_S = OpTypePointer Uniform %S
%s = OpVariable %ptr_Uniform_S Uniform
%ptr_Input_float = OpTypePointer Input %float
%x_0_ = OpVariable %ptr_Input_float Input
%ptr_Output_v4float = OpTypePointer Output %v4float
%1 = OpVariable %ptr_Output_v4float Output
%void = OpTypeVoid
%fn_void = OpTypeFunction %void
%ptr_Uniform_v4float = OpTypePointer Uniform %v4float
%int = OpTypeInt 32 1
%int_0 = OpConstant %int 0
%float_n0_5 = OpConstant %float -0.5
%main = OpFunction %void None %fn_void
%entry.1 = OpLabel
%a = OpAccessChain %ptr_Uniform_v4float %s %int_0
%b = OpLoad %v4float %a
%c = OpVectorTimesScalar %v4float %b %float_n0_5
%d = OpExtInst %v4float %GLSL Sin %c
OpStore %1 %d
OpReturn
OpFunctionEnd
"""
# Debug lines and strings, many types, a barrier: what cases of passes seldom have.
COMPUTE = """#version 450
layout(local_size_x = 8) in;
layout(constant_id = 3) const int turns = 4;
struct Part { vec3 at; mat2 turn; };
layout(binding = 0, std430) buffer Parts { int count; Part parts[]; } all;
shared float sums[8];
float sum(in Part p, inout float from) { from += 1.0; return p.at.x * p.turn[0].y + from; }
void main() {
    float from = 0.5;
    for (int i = 0; i < turns; ++i) sums[gl_LocalInvocationIndex] += sum(all.parts[i], from);
    barrier();
    if (gl_LocalInvocationIndex == 0) all.parts[0].at.x = float(double(sums[1]) * 2.0lf);
}
"""


def test_the_form_itself() -> None:
    assert expand(SHORT) == WHOLE
    assert tidy(WHOLE) == tidy(SHORT) == SHORT
    assert expand(WHOLE) == WHOLE  # it has its OpMemoryModel


@pytest.mark.parametrize(
    "word,definition",
    [
        ("void", "OpTypeVoid"),
        ("uint16", "OpTypeInt 16 0"),
        ("mat3v2double", "OpTypeMatrix %v2double 3"),
        ("ptr_Input_arr_v4float_uint_3", "OpTypePointer Input %arr_v4float_uint_3"),
        ("arr_arr_float_uint_2_int_3", "OpTypeArray %arr_float_uint_2 %int_3"),
        ("fn_v2float_ptr_Function_int_S", "OpTypeFunction %v2float %ptr_Function_int %S"),
        ("rarr_S", "OpTypeRuntimeArray %S"),
        ("int_n7", "OpConstant %int -7"),
        ("float_1en05", "OpConstant %float 1e-05"),
        ("double_2_5e_20", "OpConstant %double 2.5e+20"),
        ("float__0x7fc00000", "OpConstant %float !0x7fc00000"),
        ("v4float_null", "OpConstantNull %v4float"),
        ("S_undef", "OpUndef %S"),
        ("GLSL", 'OpExtInstImport "GLSL.std.450"'),
        ("x", ""),
        ("ptr_Nowhere_float", ""),
        ("v5float", ""),
        ("arr_float_3", ""),
        ("fn_float_float_1", ""),
    ],
)
def test_names_by_the_rule(word: str, definition: str) -> None:
    def op_of(other: str) -> str:
        return "OpTypeStruct" if other == "S" else definition_of(other, op_of).partition(" ")[0]

    assert definition_of(word, op_of) == definition
    assert is_like_rule(word) or not definition


@pytest.mark.parametrize(
    "stage,capabilities",
    [("Vertex", ["Shader"]), ("TessellationControl", ["Tessellation"]),
     ("Geometry", ["Geometry"]), ("MeshEXT", ["MeshShadingEXT"])],
)  # fmt: skip
def test_what_a_stage_implies(stage: str, capabilities: list[str]) -> None:
    text = f'OpEntryPoint {stage} %main "main" {{unnamed}}\n  OpReturn\n'
    module = read(text)
    assert [i.imm[0] for i in module.sections[0]] == [
        getattr(enums, f"Capability_{name}") for name in capabilities
    ]
    assert bool(module.sections[1]) == (stage == "MeshEXT")
    assert not module.sections[5] and shorten(module) == text
    wide = text + "  OpFunctionEnd\n%f = OpFunction %double None %fn_double\n  OpUnreachable\n"
    assert [i.imm[0] for i in read(wide).sections[0]][1:] == [enums.Capability_Float64]


def test_modes_and_branches_to_the_next_block() -> None:
    text = """\
OpEntryPoint Geometry %main "main" {unnamed, Triangles, OutputVertices 3}
  OpSelectionMerge %3 None
  OpBranchConditional %true %1 %2
%1 = OpLabel
  OpEmitVertex
  OpBranch %3
%2 = OpLabel
%3 = OpLabel
"""
    whole = expand(text)
    assert "OpExecutionMode %main Triangles\nOpExecutionMode %main OutputVertices 3\n" in whole
    assert "%2 = OpLabel\nOpBranch %3\n%3 = OpLabel\nOpReturn\n" in whole
    assert "OpName" not in whole and shorten(read(text)) == text == tidy(whole)
    for line in ("OpExecutionMode %main Triangles", "OpBranch %3"):
        other = shorten(read(whole.replace(f"{line}\n", "OpUnreachable\n" * ("%3" in line), 1)))
        assert other != text


def modules() -> list[Module]:
    found = [*pair(), compile_glsl(COMPUTE, "comp")]
    for source, stage in ((VERTEX, "vert"), (FRAGMENT, "frag"), (COMPUTE, "comp")):
        found += [compile_glsl(source, stage, debug=True)]
        found += [compile_glsl(source, stage, debug="-gVS")]
    return [decode(data) for data in found]


@pytest.mark.parametrize("number", range(9))
def test_nothing_is_lost(number: int) -> None:
    module = modules()[number]
    text = shorten(module)
    assert "OpMemoryModel" not in text
    again = read(text)
    again.spirv_version, again.generator = module.spirv_version, module.generator
    assert canonical(again) == canonical(module)
    assert shorten(again) == text == tidy(text)


def seen(module: Module, text: str) -> bool:
    """Whether a case whose module has this text would fail with this one."""
    now = shorten(module)
    if now != text:
        return True
    try:
        again = read(now)
    except BadSpirv:
        return True
    again.spirv_version, again.generator = module.spirv_version, module.generator
    return canonical(again) != canonical(module)


@pytest.mark.parametrize("number", [1, 2])
def test_what_is_missing_is_seen(number: int) -> None:
    text = shorten(modules()[number])
    assert not seen(modules()[number], text)
    for section in range(SECTIONS):
        for at in range(len(modules()[number].sections[section])):
            module = modules()[number]
            gone = module.sections[section].pop(at)
            assert seen(module, text), gone
    for at in range(len(modules()[number].names)):
        module = modules()[number]
        name = module.names.pop(at)
        assert seen(module, text), name


def test_what_is_too_much_is_seen() -> None:
    text = shorten(modules()[1])

    def more(section: int, inst: Inst) -> None:
        module = modules()[1]
        inst.type = module.globals[at] if (at := positions.pop()) >= 0 else None
        module.sections[section].append(inst)
        assert seen(module, text), inst

    types = modules()[1].globals
    positions = [next(n for n, i in enumerate(types) if i.op == ops.OpTypeFloat), *[-1] * 5]
    more(0, Inst(ops.OpCapability, None, [], (enums.Capability_Int64,)))
    more(0, Inst(ops.OpCapability, None, [], (enums.Capability_Shader,)))
    more(1, Inst(ops.OpExtension, None, [], words_of("SPV_KHR_multiview")))
    more(10, Inst(ops.OpTypeInt, None, [], (16, 0), 1001))
    more(10, Inst(ops.OpTypeVoid, None, [], (), 1001))  # another one
    more(10, Inst(ops.OpConstant, None, [], (0x12345678,), 1001))
    module = modules()[1]
    module.names.append(name_of(ops.OpName, module.globals[0], words_of("nothing")))
    assert seen(module, text)
    module = modules()[1]
    main = module.functions[0]
    module.annotations.append(Inst(ops.OpDecorate, None, [main], (enums.Decoration_Flat,)))
    assert seen(module, text)


def test_what_cannot_be_short_stays_whole() -> None:
    text = WHOLE.replace("OpMemoryModel Logical GLSL450", "OpMemoryModel Logical Vulkan")
    assert shorten(parse(text)).count("OpMemoryModel Logical Vulkan") == 1
    text = WHOLE.replace("OpExecutionMode %main OriginUpperLeft\n", "")
    assert "OpExecutionMode" not in shorten(parse(text)) and "Model" in shorten(parse(text))


def test_an_interface_that_is_another_stands_there() -> None:
    for words in ("%1 %x_0_", "%x_0_", "%x_0_ %1 %s"):
        text = shorten(parse(WHOLE.replace("%x_0_ %1", words)))
        assert f'"main" {words}\n' in text and tidy(text) == text
    text = shorten(parse(WHOLE.replace(" %x_0_ %1", "")))
    assert '"main" none\n' in text and tidy(text) == text


def test_names_that_the_rule_wants() -> None:
    text = tidy(SHORT.replace("%x_0_ =", "%v =").replace('"x[0]"', '"float_1"'))
    assert '%_float_1 = OpVariable %ptr_Input_float Input {"float_1", Flat, Location 2}' in text
    text = tidy(SHORT.replace("x_0_ =", "x =").replace('"x[0]"', "unnamed"))
    assert "%x = OpVariable %ptr_Input_float Input {unnamed, Flat, Location 2}\n" in text
    assert tidy(SHORT.replace("%b", "%float_7")) == SHORT.replace("%b", "%2")


def test_mistakes() -> None:
    with pytest.raises(BadSpirv, match="%nothing is used but never defined"):
        read(SHORT.replace("%b %float", "%nothing %float"))
    with pytest.raises(ValueError, match="braces come last"):
        read(SHORT.replace("{Block}", "{Block} %float"))


def test_the_script(tmp_path: Path) -> None:
    case = tmp_path / "one.case"
    parts = "; why\n== pass spvlink.passes.dce:dce\n== input\n{}== unchanged\n"
    case.write_text(parts.format("; Version: 1.3\n" + WHOLE))

    def act(option: str) -> str:
        command = [sys.executable, ROOT / "scripts" / "cases", option, case]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert act("--tidy") == "47 lines before, 17 after\n"
    assert case.read_text() == parts.format("; Version: 1.3\n" + SHORT)
    assert act("--whole") == parts.format("; Version: 1.3\n" + WHOLE)
