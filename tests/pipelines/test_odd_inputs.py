"""Valid modules of seldom kinds: linked, or passed through with a reason that is theirs and not a
defect of ours."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import spvlink
from spvlink.binary import encode
from spvlink.binary.decode import decode
from spvlink.binary.words import MAX_BOUND
from spvlink.ir.check import check
from tests.support.interpreted import interpreted
from tests.support.samples import assemble, compile_glsl, disassemble, edited

EMPTY = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %out %position
OpDecorate %out Location 0
OpDecorate %position BuiltIn Position
%void = OpTypeVoid
%function = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%empty = OpTypeStruct
%to_empty = OpTypePointer Output %empty
%out = OpVariable %to_empty Output
%to_vec4 = OpTypePointer Output %vec4
%position = OpVariable %to_vec4 Output
%local = OpTypePointer Function %empty
%zero = OpConstantNull %vec4
%main = OpFunction %void None %function
%entry = OpLabel
%copy = OpVariable %local Function
%made = OpCompositeConstruct %empty
OpStore %copy %made
%read = OpLoad %empty %copy
OpStore %out %read
OpStore %position %zero
OpReturn
OpFunctionEnd
"""
COLOUR = """#version 450
layout(location = 0) out vec4 colour;
void main() { colour = vec4(1.0); }
"""


def test_a_struct_without_members(tmp_path: Path) -> None:
    """As a varying, a local variable and a value: it holds no component, and goes."""
    empty = assemble(EMPTY)
    path = tmp_path / "empty.spv"
    path.write_bytes(empty)
    subprocess.run(["spirv-val", "--target-env", "vulkan1.1", path], check=True)
    options = spvlink.Options(clean=True)
    options.check_each = True
    linked = spvlink.link([empty, compile_glsl(COLOUR, "frag")], options)
    assert (linked.defect, linked.passed_through) == (None, None)
    assert linked.validated == "validated"
    assert linked.interfaces[0].components == (0, 0)


def test_any_texture_with_a_sampler_that_compares() -> None:
    """The image type of OpSampledImage may differ from its operand's in Depth."""
    code = compile_glsl(
        """#version 450
layout(set = 0, binding = 0) uniform texture2D depth;
layout(set = 0, binding = 1) uniform samplerShadow comparing;
layout(set = 0, binding = 2) uniform sampler plain;
layout(location = 0) out vec4 colour;
void main() {
    colour = vec4(texture(sampler2DShadow(depth, comparing), vec3(0.5)));
    colour += texture(sampler2D(depth, plain), vec2(0.5));
}
""",
        "frag",
    )
    check(decode(code), input=True)


def test_an_input_that_nobody_writes_and_that_must_stay_whole() -> None:
    """Its values are undefined, which is the application's business: no defect of the linker."""
    first = compile_glsl("#version 450\nvoid main() { gl_Position = vec4(0.0); }\n", "vert")
    second = compile_glsl(
        """#version 450
layout(location = 0) in vec4 all[3];
layout(set = 0, binding = 0) uniform U { int which; };
layout(location = 0) out vec4 colour;
void main() { colour = interpolateAtOffset(all[which], vec2(0.25)); }
""",
        "frag",
    )
    linked = spvlink.link([first, second], clean=True)
    assert linked.defect is None
    assert linked.passed_through == "input all at Location 0.x has no output of the previous stage"
    assert [stage.data for stage in linked.stages] == [first, second]


def test_a_global_that_nobody_uses_beside_a_local_that_stays() -> None:
    """Each look found the first one to promote, without end."""
    text = COLOUR.replace(
        "void main() {",
        """layout(set = 0, binding = 0) uniform U { int which; };
float unused[3];
void main() {
    vec4 local[4] = vec4[](vec4(which), vec4(0.5), vec4(0.25), vec4(which + 1));
    colour = local[which];
    return;
""",
    )
    first = compile_glsl(
        """#version 450
layout(location = 0) out vec4 unread;
void main() { unread = vec4(1.0); gl_Position = vec4(0.0); }
""",
        "vert",
    )
    linked = spvlink.link([first, compile_glsl(text, "frag")], clean=True)
    assert (linked.defect, linked.passed_through) == (None, None)


def test_a_decoration_group_some_of_whose_targets_go() -> None:
    """It waits for trim, and is no defect of the pass that removed one of them."""
    frag = edited(
        compile_glsl(TINTED, "frag"),
        (
            r"OpDecorate %colour Location 0",
            """OpDecorate %colour Location 0
               OpDecorate %group RelaxedPrecision
               %group = OpDecorationGroup
               OpGroupDecorate %group %sum %colour %twice""",
        ),
        (
            r"(%\w+) = OpLoad %v4float %tint\s+OpStore %colour \1",
            """%one = OpLoad %v4float %tint
               %sum = OpFMul %v4float %one %one
               %twice = OpFAdd %v4float %sum %one
               OpStore %colour %sum""",
        ),
    )
    options = spvlink.Options(clean=True)
    options.check_each = True
    linked = spvlink.link([compile_glsl(TINT, "vert"), frag], options)
    assert (linked.defect, linked.validated) == (None, "validated")
    left = re.findall(r"OpGroupDecorate .*", disassemble(linked.stages[1].data, "--raw-id"))
    assert [len(line.split()) for line in left] == [4]  # the group, the sum and the colour


def test_a_pointer_to_its_own_struct() -> None:
    """OpTypeForwardPointer stays before what it announces, and goes with it."""
    text = """#version 460
#extension GL_EXT_buffer_reference : require
layout(buffer_reference) buffer Node;
layout(buffer_reference) buffer Other;
layout(buffer_reference, std430) buffer Node { vec4 colour; Node next; Other other; };
layout(buffer_reference, std430) buffer Other { vec4 colour; Node back; };
layout(push_constant) uniform P { Node first; };
layout(location = 0) in vec4 a;
layout(location = 0) out vec4 o;
void main() { o = a.x * BODY; }
"""
    for body, left in (("first.next.colour", 2), ("vec4(2.0)", 0)):
        frag = compile_glsl(text.replace("BODY", body), "frag", "vulkan1.2")
        linked = spvlink.link([compile_glsl(FOUR, "vert", "vulkan1.2"), frag], clean=True)
        assert (linked.defect, linked.validated) == (None, "validated")
        assert disassemble(linked.stages[1].data).count("OpTypeForwardPointer") == left


FOUR = """#version 460
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 unread;
void main() { a = p; unread = p; gl_Position = p; }
"""


TINT = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 tint;
layout(location = 1) out vec4 unread;
void main() { gl_Position = p; tint = p.yxwz; unread = p; }
"""
TINTED = """#version 450
layout(location = 0) in vec4 tint;
layout(location = 1) in vec4 unread;
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
"""


def shifted(code: bytes, bound: int) -> bytes:
    """The module with its highest id, a label's or value's, as high as the bound allows."""
    text = disassemble(code, "--raw-id")
    highest = max(int(m) for m in re.findall(r"%(\d+)", text))
    text = re.sub(rf"%{highest}\b", f"%{bound - 1}", text)
    command = ["spirv-as", "--preserve-numeric-ids", "--target-env", "vulkan1.1", "-", "-o", "-"]
    made = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
    assert int.from_bytes(made[12:16], "little") == bound
    return made


def test_ids_up_to_the_limit() -> None:
    """New ids would not fit above: everything is numbered anew, names go along."""
    codes = [compile_glsl(TINT, "vert"), compile_glsl(TINTED, "frag")]
    plain = spvlink.link(codes, clean=True)
    linked = spvlink.link([shifted(code, MAX_BOUND) for code in codes], clean=True)
    assert (linked.defect, linked.passed_through) == (None, None)
    assert linked.validated == "validated"
    for stage, other in zip(linked.stages, plain.stages):
        assert int.from_bytes(stage.data[12:16], "little") < 100
        check(decode(stage.data), input=True)
        ours, theirs = (re.sub(r"Bound: \d+", "", disassemble(s.data)) for s in (stage, other))
        assert sorted(re.findall(r"%[a-z]\w+", ours)) == sorted(re.findall(r"%[a-z]\w+", theirs))
        assert [line.split()[-3:-2] for line in ours.splitlines() if "OpStore" in line] == [
            line.split()[-3:-2] for line in theirs.splitlines() if "OpStore" in line
        ]


@interpreted
def test_more_ids_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it goes out as it came, and says why."""
    codes = [compile_glsl(TINT, "vert"), compile_glsl(TINTED, "frag")]
    monkeypatch.setattr(encode, "MAX_BOUND", 12)
    linked = spvlink.link(codes, clean=True)
    assert linked.defect is None
    assert re.fullmatch(
        r"it would have \d+ ids, and a module may have 11", linked.passed_through or ""
    )
    assert [s.data for s in linked.stages] == codes


def test_a_bound_beyond_the_limit() -> None:
    code = bytearray(compile_glsl(TINT, "vert"))
    code[12:16] = (MAX_BOUND + 1).to_bytes(4, "little")
    with pytest.raises(spvlink.BadSpirv, match="the id bound 4194304 is not between 1 and 4194303"):
        spvlink.link([bytes(code), compile_glsl(TINTED, "frag")], clean=True)
