"""By component through everything (component_chains.py): of matrices, structs, arrays and vectors
only those components cross, at every border, that the consumer needs; what is used whole stays so.
Valid, drawn, drawn with other inputs, exact to the bit, and a second link finds nothing.
"""

from __future__ import annotations

import pytest

from spvlink.draw import compare, draw, draw_covering
from tests.support.chain_text import frag, vert
from tests.support.closeness import assert_close
from tests.support.component_chains import BORDERS, CASES, Case, chain
from tests.support.halves import build, link
from tests.support.samples import assemble

MOTION = frozenset(("backward", "forward", "weighted"))
EVERYWHERE = 5  # so many cases are tried at every border, each of the others at three

CELLS = [
    (case, border)
    for number, case in enumerate(CASES)
    for at, border in enumerate(BORDERS)
    if number < EVERYWHERE or (at - number) % len(BORDERS) < 3
]


@pytest.mark.parametrize(
    ("case", "border"), CELLS, ids=lambda v: v.replace(" ", "-") if isinstance(v, str) else v.name
)
def test_case(case: Case, border: str) -> None:
    made = chain(border, case)
    codes = build(made.stages, made.environment)
    still = link(codes, disable=MOTION)
    ends = border.split()[0]
    found = next(i for i in still.interfaces if f"{i.producer}->{i.consumer}" == ends)
    assert found.components[1] == case.components
    exact = link(codes, exact=True)
    default = link(codes)
    for seed in (0, 5):
        scene, before = draw_covering(codes, seed)
        assert before.is_good(), "the original proves nothing"
        for linked in (still, exact):
            difference = compare(before, draw([s.data for s in linked.stages], scene))
            assert not difference, str(difference)
        assert_close(before, draw([s.data for s in default.stages], scene))
    for linked in (exact, default):
        again = link([s.data for s in linked.stages], exact=linked is exact)
        assert again.passed_through == "nothing to gain"


WORDS = {  # what a fragment shader computes of two flat words, of which one result is used
    "low word of umulExtended": "uint h, l; umulExtended(d.x, d.y, h, l);",
    "low word of imulExtended": "int h, m; imulExtended(int(d.x), int(d.y), h, m); uint l = m;",
    "sum of uaddCarry": "uint c, l = uaddCarry(d.x, d.y, c);",
    "difference of usubBorrow": "uint c, l = usubBorrow(d.x, d.y, c);",
    "high word of umulExtended": "uint h, l; umulExtended(d.x, d.y, l, h);",
    "high word of imulExtended": "int h, m; imulExtended(int(d.x), int(d.y), m, h); uint l = m;",
    "carry": "uint c, l; c = uaddCarry(d.x, d.y, l); l *= 77u;",
    "borrow": "uint c, l; c = usubBorrow(d.x, d.y, l); l *= 77u;",
    "both words": "uint h, l; umulExtended(d.x, d.y, h, l); l ^= h;",
    "lane of vectors": "uvec2 h, m; umulExtended(d, d.yx + 3u, h, m); uint l = h.y;",
    "carry beside high word": "uint c, h, m, l = uaddCarry(d.x, d.y, c);"
    " umulExtended(d.x, d.y, h, m); l = h * 3u ^ c;",
    "with a uniform": "uint h, l; umulExtended(d.x ^ d.y, pc.n, l, h);",
}
PUSH = "layout(push_constant) uniform Push { uint n; } pc;"


@pytest.mark.parametrize("name", WORDS)
def test_results_of_two_words_move(name: str) -> None:
    """Each is an integer operation like another, whether it is one of a pair or not."""
    stages = (
        vert(
            f"layout(location = 1) flat out uvec2 d; {PUSH}",
            "d = floatBitsToUint(a.xy) * 77777777u + uvec2(k.xy) + (pc.n & 1u);",
        ),
        frag(
            f"layout(location = 1) flat in uvec2 d; {PUSH}",
            f"{WORDS[name]} color = vec4(cos(float(l & 1023u) * gl_FragCoord.x), 0, 1, 1);",
        ),
    )
    codes = build(stages, "vulkan1.1")
    scene, before = draw_covering(codes)
    assert before.is_good(), "the original proves nothing"
    for exact in (False, True):
        linked = link(codes, exact=exact)
        assert linked.interfaces[0].components == (2, 1)
        new = [s.data for s in linked.stages]
        difference = compare(before, draw(new, scene))
        assert not difference, str(difference)
        assert link(new, exact=exact).passed_through == "nothing to gain"


AS_A_WHOLE = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %d %at %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %d Location 1
OpDecorate %d Flat
OpDecorate %at BuiltIn FragCoord
OpDecorate %o Location 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%uint = OpTypeInt 32 0
%v2 = OpTypeVector %uint 2
%pair = OpTypeStruct %uint %uint
%in_v2 = OpTypePointer Input %v2
%in_v4 = OpTypePointer Input %v4
%out_v4 = OpTypePointer Output %v4
%d = OpVariable %in_v2 Input
%at = OpVariable %in_v4 Input
%o = OpVariable %out_v4 Output
%20 = OpConstant %float 20
%byte = OpConstant %uint 255
%part = OpConstant %float 0.00390625
%main = OpFunction %void None %f
%entry = OpLabel
%both = OpLoad %v2 %d
%x = OpCompositeExtract %uint %both 0
%y = OpCompositeExtract %uint %both 1
%product = OpUMulExtended %pair %x %y
%high = OpCompositeExtract %uint %product 1
%place = OpLoad %v4 %at
%column = OpCompositeExtract %float %place 0
%number = OpConvertFToU %uint %column
%left = OpFOrdLessThan %bool %column %20
OpSelectionMerge %merge None
OpBranchConditional %left %then %merge
%then = OpLabel
%sum = OpIAddCarry %pair %number %number
OpBranch %merge
%merge = OpLabel
%chosen = OpPhi %pair %product %entry %sum %then
%low = OpCompositeExtract %uint %chosen 0
%mixed = OpBitwiseXor %uint %high %low
%small = OpBitwiseAnd %uint %mixed %byte
%real = OpConvertUToF %float %small
%shade = OpFMul %float %real %part
%color = OpCompositeConstruct %v4 %shade %shade %shade %shade
OpStore %o %color
OpReturn
OpFunctionEnd
"""


def test_two_words_that_are_needed_as_a_whole_keep_their_operands() -> None:
    """A phi takes both, so the operands cross whether one of them would move or not."""
    (before,) = build(
        (
            vert(
                "layout(location = 1) flat out uvec2 d;",
                "d = floatBitsToUint(a.xy) * 77777777u + uvec2(k.xy);",
            ),
        ),
        "vulkan1.1",
    )
    codes = [before, assemble(AS_A_WHOLE)]
    scene, picture = draw_covering(codes)
    assert picture.is_good(), "the original proves nothing"
    linked = link(codes, exact=True)
    difference = compare(picture, draw([s.data for s in linked.stages], scene))
    assert not difference, str(difference)
