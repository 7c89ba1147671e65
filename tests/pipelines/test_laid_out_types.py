"""Arrays whose type says where their parts lie in memory (ArrayStride) may be outputs and values,
but no variables of a function (spirv-val, VUID-StandaloneSpirv-None-10684; fuzz seed 33071002)."""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support import judges
from tests.support.linking import fragment, vertex
from tests.support.samples import assemble, compile_glsl, disassemble

ENVIRONMENT = "vulkan1.2"
NEWER = pytest.mark.skipif(not judges.NEWER.exists(), reason="an older spirv-val takes it")
UNREAD = (
    "layout(location = 0) out vec4 a[4]; layout(location = 4) out vec4 b; void main() {"
    " for (int i = 0; i < k.y; ++i) a[i & 3] = p * i; b = a[k.x & 3]; gl_Position = p; }",
    "layout(location = 4) in vec4 b; void main() { o = b; }",
)
HALF_READ = (
    "layout(location = 0) out vec4 a[4]; layout(location = 4) flat out int n; void main() {"
    " for (int i = 0; i < k.y; ++i) a[i & 3] = p * i; n = k.x; gl_Position = p; }",
    "layout(location = 0) in vec4 a[4]; layout(location = 4) flat in int n;"
    " void main() { o = a[n & 3].xyxy; }",
)
WHOLE = (
    "layout(location = 0) out vec4 a[4]; layout(location = 4) out vec4 b; void main() {"
    " a = vec4[4](p, sin(p), cos(p), -p); a[k.x & 3] = p * 2.0;"
    " b = a[k.y & 3] + float(a == vec4[4](p, p, p, p * 2.0)); gl_Position = p; }",
    "layout(location = 4) in vec4 b; void main() { o = b; }",
)
RETURNED = (
    "vec4[4] f() { for (int i = 0; i < k.y; ++i) if (p[i & 3] > 0) return vec4[4](p, p, p, p + i);"
    " return vec4[4](p, p, p, -p); } layout(location = 4) out vec4 b;"
    " void main() { b = f()[3]; gl_Position = p; }",
    "layout(location = 4) in vec4 b; void main() { o = b; }",
)


def laid_out(code: bytes) -> bytes:
    """The module with a stride at each array of vectors."""
    text = disassemble(code)
    vectors = set(re.findall(r"(%\w+) = OpTypeVector", text))
    arrays = [a for a, of in re.findall(r"(%\w+) = OpTypeArray (%\w+)", text) if of in vectors]
    strides = "".join(f"OpDecorate {array} ArrayStride 16\n" for array in arrays)
    return assemble(
        text.replace("%void = OpTypeVoid", f"{strides}%void = OpTypeVoid", 1), ENVIRONMENT
    )


@NEWER
@pytest.mark.parametrize("pair", [UNREAD, HALF_READ, WHOLE, RETURNED])
def test_no_function_gets_a_variable_of_such_a_type(pair: tuple[str, str]) -> None:
    codes = [laid_out(make(body, ENVIRONMENT)) for make, body in zip((vertex, fragment), pair)]
    assert [judges.refusal(code, True) for code in codes] == [None, None]
    linked = spvlink.link(codes, spvlink.Options(clean=True, validate=False))
    assert linked.defect is None
    assert [judges.refusal(stage.data, True) for stage in linked.stages] == [None, None]


STORED = (
    "layout(location = 0) out vec4 a[4]; layout(location = 4) out vec4 b; void main() { a[0] = p;"
    " a[1] = sin(p); a[2] = cos(p); a[3] = vec4(1.0); b = p * p; gl_Position = p; }"
)


@NEWER
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("read", ["a[1] + a[2] + b", "a[0] + b", "v[2] + b"])
def test_a_shell_has_no_variable_of_such_a_type(side: int, read: str) -> None:
    """It copies inputs and outputs from and to Private variables (fuzz seed 33059398)."""
    inputs = "layout(location = 0) in vec4 a[4]; layout(location = 4) in vec4 b;"
    main = f"void main() {{ vec4 v[4] = a; o = {read}; }}"
    codes = [vertex(STORED, ENVIRONMENT), fragment(inputs + main, ENVIRONMENT)]
    codes[side] = laid_out(codes[side])
    _, document = spvlink.link_frozen(codes, None, spvlink.Options())
    for code in codes:
        linked, _ = spvlink.link_frozen([code], document, spvlink.Options(validate=False))
        assert [judges.refusal(stage.data, True) for stage in linked.stages] == [None]


@NEWER
@pytest.mark.parametrize("last", ["o[int(b.x) & 1] = b;", "o[0] = o[1] * 2.0;"])
@pytest.mark.parametrize("attachments", [[None, None], [None, {"blendEnable": False}]])
def test_a_colour_that_is_not_taken_has_no_such_type(
    attachments: list[object], last: str
) -> None:  # fmt: skip
    inputs = "layout(location = 4) in vec4 b; layout(location = 0) out vec4 o[2];"
    frag = f"#version 450\n{inputs} void main() {{ o[0] = b; o[1] = b.wzyx; {last} }}"
    codes = [vertex(STORED, ENVIRONMENT), laid_out(compile_glsl(frag, "frag", ENVIRONMENT))]
    settings = spvlink.Options(validate=False)
    settings.state = {"version": 1, "alphaToCoverageEnable": False, "colorAttachments": attachments}
    linked = spvlink.link(codes, settings)
    assert [judges.refusal(stage.data, True) for stage in linked.stages] == [None, None]


@pytest.mark.parametrize("pair", [UNREAD, HALF_READ, WHOLE])
def test_a_stride_costs_no_varying(pair: tuple[str, str]) -> None:
    """glslang gives an output the type of a uniform array (fuzz seeds 33056901, 33061072)."""
    codes = [make(body, ENVIRONMENT) for make, body in zip((vertex, fragment), pair)]
    settings = spvlink.Options(clean=True, exact=True)
    plain = spvlink.link(codes, settings)
    strided = spvlink.link([laid_out(code) for code in codes], settings)
    assert strided.validated == "validated"
    assert strided.interfaces[0].components == plain.interfaces[0].components
    scene, before = draw_covering(codes)
    assert not compare(before, draw([stage.data for stage in strided.stages], scene))
