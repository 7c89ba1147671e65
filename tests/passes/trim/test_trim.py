"""What a module says without code stays, and keeps its meaning: constants that pipeline creation
reads, execution modes and decorations with ids; and nothing speaks of what is gone."""

from __future__ import annotations

import re
import subprocess

import pytest

import spvlink
from spvlink import validate
from spvlink.binary.encode import encode
from spvlink.ir.check import check
from spvlink.passes.raising import trim
from spvlink.pipeline import Source
from tests.support.linking import module_of
from tests.support.samples import assemble, compile_glsl, disassemble

MESH = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 1, local_size_x_id = 3) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
layout(location = 0) out vec4 seen[];
layout(location = 1) out vec4 unread[];
void main() {
    SetMeshOutputsEXT(3, 1);
    uint i = gl_LocalInvocationIndex;
    if (i < 3) {
        gl_MeshVerticesEXT[i].gl_Position = vec4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1);
        seen[i] = vec4(i, 1, 0, 1);
        unread[i] = vec4(i);
    }
    if (i == 0) gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2);
}
"""
TASK = """#version 460
#extension GL_EXT_mesh_shader : require
layout(local_size_x = 4, local_size_x_id = 7) in;
void main() { EmitMeshTasksEXT(1, 1, 1); }
"""
FRAG = """#version 460
layout(location = 0) in vec4 seen;
layout(location = 1) in vec4 unread;
layout(location = 0) out vec4 o;
void main() { o = seen; }
"""


def linked(stages: list[bytes], **settings: object) -> list[str]:
    """The new modules as text."""
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, setting in settings.items():
        setattr(options, name, setting)
    done = spvlink.link([Source(code) for code in stages], options)
    assert done.passed_through is None, done.passed_through
    assert done.validated == "validated"
    return [disassemble(s.data) for s in done.stages]


@pytest.mark.parametrize("environment", ["vulkan1.2", "vulkan1.3"])
def test_the_size_of_a_workgroup(environment: str) -> None:
    """As a constant that nothing refers to (SPIR-V 1.5) and as an execution mode with ids (1.6)."""
    codes = [compile_glsl(MESH, "mesh", environment), compile_glsl(TASK, "task", environment)]
    task, mesh, _ = linked([*codes, compile_glsl(FRAG, "frag", environment)])
    for text, number in ((task, 7), (mesh, 3)):
        assert f"SpecId {number}" in text
        if environment == "vulkan1.2":
            assert "BuiltIn WorkgroupSize" in text
            assert "OpSpecConstantComposite" in text
        else:
            assert "LocalSizeId" in text


@pytest.mark.parametrize("environment", ["vulkan1.2", "vulkan1.3"])
def test_the_size_that_the_user_gave(environment: str) -> None:
    codes = [compile_glsl(MESH, "mesh", environment), compile_glsl(FRAG, "frag", environment)]
    mesh, _ = linked(codes, spec={("mesh", 3): "32"})
    assert "SpecId" not in mesh
    if environment == "vulkan1.2":
        size = re.search(r"(\S+) = OpConstantComposite %\w+ %uint_32 %uint_1 %uint_1", mesh)
        assert size is not None
        assert f"OpDecorate {size[1]} BuiltIn WorkgroupSize" in mesh
    else:
        assert re.search(r"LocalSizeId %uint_32 %uint_1 %uint_1", mesh)


def test_a_specialization_constant_that_nothing_uses() -> None:
    """It goes: a pipeline may name constants that a module does not have, without any effect
    (Vulkan, "Specialization Constants"). One that is the length of a variable's array stays."""
    frag = FRAG.replace(
        "void main",
        "layout(constant_id = 5) const int idle = 2; layout(constant_id = 6) const int size = 4;\n"
        "layout(binding = 0) uniform U { vec4 at[size]; } u;\nvoid main",
    ).replace("o = seen", "o = seen + u.at[1]")
    _, text = linked([compile_glsl(MESH, "mesh", "vulkan1.2"), compile_glsl(frag, "frag")])
    assert "SpecId 5" not in text
    assert "SpecId 6" in text


HEAD = """
OpCapability Shader
OpExtension "SPV_GOOGLE_hlsl_functionality1"
OpExtension "SPV_GOOGLE_user_type"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %o %used %gone
OpExecutionMode %main OriginUpperLeft
OpName %used "used"
OpName %gone "gone"
OpDecorate %o Location 0
OpDecorate %buffer Block
OpMemberDecorate %buffer 0 Offset 0
OpDecorate %used DescriptorSet 0
OpDecorate %used Binding 0
OpDecorate %gone DescriptorSet 0
OpDecorate %gone Binding 1
{notes}
%void = OpTypeVoid
%f = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%0 = OpConstant %uint 0
%po = OpTypePointer Output %float
%o = OpVariable %po Output
%buffer = OpTypeStruct %float
%pb = OpTypePointer StorageBuffer %buffer
%pf = OpTypePointer StorageBuffer %float
%used = OpVariable %pb StorageBuffer
%gone = OpVariable %pb StorageBuffer
%scope = OpConstant %uint 3
%main = OpFunction %void None %f
%entry = OpLabel
%p = OpAccessChain %pf %used %0
%value = OpLoad %float %p
OpStore %o %value
OpReturn
OpFunctionEnd
"""


def trimmed(notes: str, environment: str = "vulkan1.2") -> str:
    """The module with these notes, trimmed, as text that spirv-val takes."""
    text = HEAD.format(notes=notes)
    code = assemble(text, environment)
    assert validate.validate(code, environment) is None
    module = module_of(code)
    check(module, input=True)
    trim.trim(module)
    check(module, final=True)
    data = encode(module)
    assert validate.validate(data, environment) is None
    return disassemble(data)


def test_what_names_another_variable_goes_with_it() -> None:
    note = "OpDecorateId %used CounterBuffer %gone"
    assert "CounterBuffer" not in trimmed(note)
    assert "%gone" not in trimmed(note)
    assert "Binding 1" not in trimmed(note)
    assert "CounterBuffer" not in trimmed("OpDecorateId %gone CounterBuffer %used")
    # both stay if code reads both
    assert "CounterBuffer %used" in trimmed("OpDecorateId %used CounterBuffer %used")


def test_what_names_another_variable_through_a_group() -> None:
    text = trimmed(
        "OpDecorateId %group CounterBuffer %gone\nOpDecorate %group NonWritable\n"
        "%group = OpDecorationGroup\nOpGroupDecorate %group %used %gone"
    )
    assert "CounterBuffer" not in text
    assert "%gone" not in text
    assert re.search(r"OpGroupDecorate %\S+ %used\s", text)
    assert "NonWritable" in text


@pytest.mark.parametrize("grouped", [False, True])
def test_what_a_decoration_asks_for_stays_with_it(grouped: bool) -> None:
    """UniformId says what it says of a value with the help of a constant, which no code uses."""
    note = "OpDecorateId %value UniformId %scope"
    if grouped:
        note = (
            "OpDecorateId %group UniformId %scope\n%group = OpDecorationGroup\n"
            "OpGroupDecorate %group %value"
        )
    text = trimmed(note)
    found = re.search(r"OpDecorateId \S+ UniformId (\S+)", text)
    assert found is not None
    assert f"{found[1]} = OpConstant %uint 3" in text
    assert "OpConstant %uint 3" not in trimmed("")


def test_texts_go_with_what_they_are_about() -> None:
    text = trimmed(
        'OpDecorateString %used UserSemantic "MINE"\nOpDecorateString %gone UserSemantic "LOST"\n'
        'OpMemberDecorateString %buffer 0 UserSemantic "MEMBER"\n'
        'OpDecorateString %gone UserTypeGOOGLE "buffer"'
    )
    assert "MINE" in text
    assert "MEMBER" in text
    assert "LOST" not in text
    assert "UserTypeGOOGLE" not in text


def test_a_whole_pipeline_with_a_counter() -> None:
    """From glslang, with the note that HLSL compilers write."""
    vert = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec2 v; layout(location = 1) out vec4 unread;
void main() { gl_Position = p; v = p.xy; unread = p; }"""
    frag = """#version 450
layout(location = 0) in vec2 v; layout(location = 1) in vec4 unread;
layout(set = 0, binding = 0) buffer B { vec4 d[]; } held;
layout(set = 0, binding = 1) buffer C { int c; } counter;
layout(location = 0) out vec4 o;
void main() { o = vec4(v, 0, 1) + held.d[0]; if (false) counter.c = 1; }"""
    text = disassemble(compile_glsl(frag, "frag", "vulkan1.1"))
    text = text.replace(
        "OpMemoryModel", 'OpExtension "SPV_GOOGLE_hlsl_functionality1"\nOpMemoryModel', 1
    )
    text = text.replace(
        "OpDecorate %counter", "OpDecorateId %held CounterBuffer %counter\nOpDecorate %counter", 1
    )
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if "OpExtInstImport" in line)
    own = next(n for n, line in enumerate(lines) if "OpExtension" in line)
    lines.insert(first, lines.pop(own))
    code = assemble("\n".join(lines))
    _, new = linked([compile_glsl(vert, "vert"), code])
    assert "CounterBuffer" not in new
    assert "%counter" not in new
    done = subprocess.run(["spirv-val", "-"], input=assemble(new), capture_output=True)
    assert done.returncode == 0, done.stderr
