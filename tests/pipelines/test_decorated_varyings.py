"""Decorations of varyings: which of an input go onto the output, which make a varying stay whole,
and that one which is not in our tables does."""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.pipeline import Source
from tests.support.samples import assemble, compile_glsl, disassemble

VERT = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec2 a;
layout(location = 1) out float b;
layout(location = 2) out vec2 c;
layout(location = 3) out vec4 unread;
void main() { a = p.xy; b = 1.0; c = p.zw * p.xy; unread = p; gl_Position = p; }
"""
FRAG = """#version 450
layout(location = 0) in vec2 a;
layout(location = 1) in float b;
layout(location = 2) in vec2 c;
layout(location = 3) in vec4 unread;
layout(location = 0) out vec4 o;
void main() { o = vec4(a, b, c.x * c.y); }
"""
EXPLICIT = """#version 450
#extension GL_AMD_shader_explicit_vertex_parameter : require
layout(location = 0) __explicitInterpAMD in vec2 a;
layout(location = 1) __explicitInterpAMD in float b;
layout(location = 2) in vec2 c;
layout(location = 3) in vec4 unread;
layout(location = 0) out vec4 o;
void main() {
    o = vec4(interpolateAtVertexAMD(a, 0), interpolateAtVertexAMD(b, 1), c.x * c.y);
}
"""
PER_VERTEX = """#version 450
#extension GL_EXT_fragment_shader_barycentric : require
layout(location = 0) pervertexEXT in vec2 a[];
layout(location = 1) pervertexEXT in float b[];
layout(location = 2) in vec2 c;
layout(location = 3) in vec4 unread;
layout(location = 0) out vec4 o;
void main() { o = vec4(a[0], b[1], c.x * c.y); }
"""


def link(vert: bytes, frag: bytes) -> list[str]:
    """Both new modules as text."""
    options = spvlink.Options(clean=True)
    options.check_each = True
    done = spvlink.link([Source(vert), Source(frag)], options)
    assert done.passed_through is None, done.passed_through
    assert done.validated == "validated"
    return [disassemble(s.data) for s in done.stages]


def decorations(text: str, name: str) -> set[str]:
    return {m[1] for m in re.finditer(rf"OpDecorate(?:String)? %{name} (.*)", text)}


def test_interpolated_by_the_shader() -> None:
    """ExplicitInterpAMD is said where it is read, and nothing becomes of such a varying, though b
    is a constant and shares no Location with a."""
    codes = compile_glsl(VERT, "vert"), compile_glsl(EXPLICIT, "frag")
    vert, frag = link(*codes)
    assert "ExplicitInterpAMD" not in vert
    assert decorations(vert, "a") == {"Location 0"}
    assert decorations(vert, "b") == {"Location 1"}
    assert decorations(frag, "a") == {"Location 0", "ExplicitInterpAMD"}
    assert decorations(frag, "b") == {"Location 1", "ExplicitInterpAMD"}
    assert "%unread" not in vert


def test_per_vertex() -> None:
    """PerVertexKHR is for inputs too, and such a varying may go where it likes."""
    frag = compile_glsl(PER_VERTEX, "frag")
    vert, new = link(compile_glsl(VERT, "vert"), frag)
    assert "PerVertex" not in re.sub("gl_PerVertex", "", vert)
    assert "PerVertex" in new


def test_what_may_not_share_a_location() -> None:
    """Nothing that is equal for a primitive is read as ExplicitInterpAMD, though it may be read
    with any interpolation."""
    vert = VERT.replace("p.zw * p.xy", "vec2(gl_InstanceIndex, gl_InstanceIndex + 1)")
    full = EXPLICIT.replace("in vec4 unread", "noperspective in vec4 unread")
    full = full.replace("o = vec4(", "o = unread * unread + vec4(")
    _, frag = link(compile_glsl(vert, "vert"), compile_glsl(full, "frag"))
    assert frag.count(" ExplicitInterpAMD\n") == 2
    assert decorations(frag, "b") == {"Location 1", "ExplicitInterpAMD"}
    assert "Location 2" in decorations(frag, "c")


# What our tables know nothing of for varyings.
UNKNOWN = (
    "OpDecorate %b AliasedPointer",
    "OpDecorate %b ViewportRelativeNV",
    "OpDecorate %b PerTaskNV",
    "OpDecorate %b Alignment 4",
    "OpDecorateId %b AlignmentId %four",
)


def with_note(code: bytes, note: str) -> bytes:
    text = disassemble(code)
    text = re.sub(r"(\s+OpDecorate %b Location 1\n)", rf"\1{note}\n", text)
    text = re.sub(
        r"(\s*%float = OpTypeFloat 32\n)",
        r"\1%some = OpTypeInt 16 1\n%four = OpConstant %some 4\n" if "%four" in note else r"\1",
        text,
    )
    return assemble(text)


@pytest.mark.parametrize("note", UNKNOWN)
@pytest.mark.parametrize("side", [0, 1])
def test_unknown(note: str, side: int) -> None:
    """Whichever side has it, the varying stays where it is, with its note, and is stored."""
    codes = [compile_glsl(VERT, "vert"), compile_glsl(FRAG, "frag")]
    codes[side] = with_note(codes[side], note)
    options = spvlink.Options(clean=True)
    options.check_each = True
    options.validate = False  # spirv-val knows what these are for
    done = spvlink.link([Source(c) for c in codes], options)
    assert done.passed_through is None, done.passed_through
    vert, frag = texts = [disassemble(s.data) for s in done.stages]
    assert re.search(re.escape(note.split("%four")[0]), texts[side])
    for text in (vert, frag):
        assert "Location 1" in decorations(text, "b")
    assert re.search(r"OpStore %b %float_1", vert)
    assert re.search(r"OpLoad %float %b", frag)
    kept = [r for r in done.remarks if r.name == "b"]
    assert [r.action for r in kept] == ["kept"]


@pytest.mark.parametrize("nested", [False, True])
def test_a_member_of_a_block(nested: bool) -> None:
    """It is the whole block that stays; also for a member of a struct in it."""
    block = "layout(location = 0) {} Block {{ vec2 a; float b; }} block;"
    if nested:
        block = "struct Inner {{ vec2 a; float b; }};\nlayout(location = 0) {} Block {{ Inner i; }}"
        block += " block;"
    path = "block.i" if nested else "block"
    vert = VERT.replace("layout(location = 0) out vec2 a;", block.format("out"))
    vert = vert.replace("layout(location = 1) out float b;", "")
    vert = vert.replace("a = p.xy; b = 1.0", f"{path}.a = p.xy; {path}.b = 1.0")
    frag = FRAG.replace("layout(location = 0) in vec2 a;", block.format("in"))
    frag = frag.replace("layout(location = 1) in float b;", "")
    frag = frag.replace("vec4(a, b", f"vec4({path}.a, {path}.b")
    text = disassemble(compile_glsl(frag, "frag"))
    note = f"OpMemberDecorate {'%Inner' if nested else '%Block'} 1 PerViewNV\n"
    code = assemble(text.replace("OpDecorate %Block Block\n", f"OpDecorate %Block Block\n{note}"))
    options = spvlink.Options(clean=True)
    options.validate = False
    done = spvlink.link([Source(compile_glsl(vert, "vert")), Source(code)], options)
    assert done.passed_through is None, done.passed_through
    for stage in done.stages:
        assert "OpTypeStruct %v2float %float" in disassemble(stage.data)


@pytest.mark.parametrize(
    "note",
    [
        'OpDecorateString %b UserSemantic "B"',
        "OpDecorate %b RelaxedPrecision",
        "OpDecorate %b Restrict",
        "OpDecorate %b NonWritable",
    ],
)
def test_known(note: str) -> None:
    """These say nothing that keeps a constant from moving to where it is read."""
    code = with_note(compile_glsl(VERT, "vert"), note)
    text = disassemble(code).replace(
        "%1 = OpExtInstImport",
        'OpExtension "SPV_GOOGLE_hlsl_functionality1"\n%1 = OpExtInstImport',
        1,
    )
    vert, _ = link(assemble(text), compile_glsl(FRAG, "frag"))
    assert "%b " not in vert
