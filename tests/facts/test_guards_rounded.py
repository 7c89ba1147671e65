"""What may come exact: ``rounded`` asked directly what stays interpolated, and between which
numbers single values lie (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import pytest

from spvlink.ir.core import Inst
from spvlink.link.rounding import rounded
from spvlink.link.rounding.rounded import Rounded
from spvlink.options import Options
from tests.cases.slots import site_of
from tests.support.case_loading import load

SLOTS = {  # name -> place, and what is stored: a number, two of two returns, or a value
    "one": ("0.x f32", "%c1"),
    "mid": ("0.y f32", "%c05"),
    "zero": ("0.z f32", "%c0"),
    "minus_zero": ("0.w f32", "%c0n"),
    "neg": ("1.x f32", "%cn1"),
    "bit": ("1.y f32", "%c0 %c1"),
    "either": ("1.z f32", "%cn1 %c1"),
    "any": ("1.w f32", "%equal"),
    "vary": ("2.x f32", "%attribute"),
    "two": ("2.y f32", "%c2"),
    "steps": ("2.z f32", "%step"),
    "chosen": ("2.w f32", "%choice"),
    "plus": ("3.x f32", "%positive"),
    "flat": ("3.y f32", "%equal"),
    "flat_one": ("3.z f32", "%c1"),
    "aside": ("3.w f32", "%c1"),
    "relaxed_in": ("4.x f32", "%c1"),
    "relaxed_out": ("4.y f32", "%c1"),
    "narrow": ("4.z f16", "%n1"),
    "never": ("4.w f32", ""),
}
QUALIFIED = {"flat": "Flat", "flat_one": "Flat", "aside": "Centroid"}
HEAD = """\
OpCapability Shader
OpCapability Float16
OpCapability Sampled1D
OpCapability SampledCubeArray
%glsl = OpExtInstImport "GLSL.std.450"
%amd = OpExtInstImport "SPV_AMD_shader_trinary_minmax"
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" {listed}
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%f16 = OpTypeFloat 16
%vec = OpTypeVector %float 2
%vec3 = OpTypeVector %float 3
%vec4 = OpTypeVector %float 4
%mat = OpTypeMatrix %vec 2
%struct = OpTypeStruct %float %float
%c0 = OpConstant %float 0
%c0n = OpConstant %float -0.0
%c05 = OpConstant %float 0.5
%c0125 = OpConstant %float 0.125
%c099 = OpConstant %float 0.99
%c0995 = OpConstant %float 0.997
%near = OpConstant %float 1.00001
%c1 = OpConstant %float 1
%c2 = OpConstant %float 2
%c3 = OpConstant %float 3
%step = OpConstant %float 1.5
%cn1 = OpConstant %float -1
%much = OpConstant %float 100000
%less = OpConstant %float -100000
%n1 = OpConstant %f16 1
%n099 = OpConstant %f16 0.99
%n1965 = OpConstant %f16 1.965
%i0 = OpConstant %int 0
%i1 = OpConstant %int 1
%c12 = OpConstantComposite %vec %c1 %c2
%apart = OpConstantComposite %vec %much %less
%c01 = OpConstantComposite %vec %c0 %c1
%eye = OpConstantComposite %mat %c12 %c12
%muchmuch = OpConstantComposite %vec %much %much
%lessless = OpConstantComposite %vec %less %less
%steep = OpConstantComposite %mat %muchmuch %lessless
%ptr_uniform = OpTypePointer Uniform %float
%ptr_input = OpTypePointer Input %float
%ptr_output = OpTypePointer Output %float
%ptr_buffer = OpTypePointer StorageBuffer %float
%ptr_own = OpTypePointer Private %float
{globals}
%main = OpFunction %void None %1
%first = OpLabel
{body}
OpReturn
OpFunctionEnd
"""
IMAGES = "\n".join(
    f"%image_{name} = OpTypeImage %float {shape} Unknown\n"
    f"%of_{name} = OpTypeSampledImage %image_{name}\n"
    f"%ptr_{name} = OpTypePointer UniformConstant %of_{name}\n"
    f"%s_{name} = OpVariable %ptr_{name} UniformConstant"
    for name, shape in {"2d": "2D 0 0 0 1", "array": "2D 0 1 0 1", "line": "1D 0 1 0 1"}.items()
)
VERTEX = """%attribute = OpLoad %float %a
%equal = OpLoad %float %u
%flag = OpFOrdLessThan %bool %equal %c0
%choice = OpSelect %float %flag %c0n %equal
%positive = OpSelect %float %flag %c2 %equal
OpSelectionMerge %end None
OpBranchConditional %flag %then %end
%then = OpLabel
{0}
OpReturn
%end = OpLabel
{1}"""
NOTES = """OpExecutionMode %main OriginUpperLeft
OpDecorate %depth BuiltIn FragDepth
OpDecorate %o Location 0"""
GLOBALS = (
    """%own = OpVariable %ptr_own Private
%other = OpVariable %ptr_own Private
%depth = OpVariable %ptr_output Output
%o = OpVariable %ptr_output Output
%buffer = OpVariable %ptr_buffer StorageBuffer
%alias = OpVariable %ptr_buffer StorageBuffer
%u = OpVariable %ptr_uniform Uniform
%b = OpVariable %ptr_uniform Uniform
"""
    + IMAGES
)
INF = math.inf
TYPES = {"narrow": "f16"}


def place_of(name: str) -> int:
    at = SLOTS[name][0]
    return int(at[0]) * 8 + "xyzw".index(at[2]) * 2


def stores(number: int) -> str:
    found = []
    for name, (_, values) in SLOTS.items():
        if values:
            one = values.split()[number % len(values.split())]
            found.append(f"STORE_OUTPUT {one} {place_of(name)}")
    return "\n".join(found)


def looked_at(body: str) -> tuple[Rounded, Inst]:
    """What is known of a fragment shader of these instructions, and the last of them."""
    vert = HEAD.format(
        model="Vertex", listed="%a", notes="OpDecorate %a Location 0",
        globals="%a = OpVariable %ptr_input Input\n%u = OpVariable %ptr_uniform Uniform",
        body=VERTEX.format(stores(0), stores(1)),
    )  # fmt: skip
    read = [n for n in SLOTS if re.search(rf"%{n}\b", body)]
    loads = [f"%{n} = LOAD_INPUT %{TYPES.get(n, 'float')} {place_of(n)}" for n in read]
    notes = "\nOpDecorate %coarse RelaxedPrecision" if "%coarse" in body else ""
    frag = HEAD.format(
        model="Fragment", listed="%depth %o", notes=NOTES + notes, globals=GLOBALS,
        body="\n".join([*loads, body.replace("; ", "\n")]),
    )  # fmt: skip
    modules = [load(vert), load(frag)]
    lines = [f"{at} {n} {QUALIFIED.get(n, '')}".strip() for n, (at, _) in SLOTS.items()]
    link = site_of(modules, lines, Options(clean=True)).link
    link.inputs.slots[place_of("relaxed_in")].relaxed = True
    link.outputs.slots[place_of("relaxed_out")].relaxed = True
    insts = [i for b in modules[1].functions[0].blocks for i in b.insts]
    return rounded.of(link), insts[-2]


def names(keys: Iterable[int]) -> set[str]:
    return {n for n in SLOTS if place_of(n) in keys}


LESS = "%t = OpFOrdLessThan %bool"
EXT = "OpExtInst %float %glsl"
NOUGHT = "%d = OpFAdd %float %one %cn1; "  # may be a little more than 0, or less
RANGES = {  # the last instruction: low, high, whether the sign is known
    "%r = OpFNegate %float %one": (-1, -1, True),
    "%r = OpFAdd %float %one %one": (2, 2, True),
    "%r = OpFAdd %float %neg %neg": (-2, -2, True),
    "%r = OpFSub %float %one %two": (-1, -1, True),
    "%r = OpFAdd %float %either %two": (1, 3, True),
    "%r = OpFAdd %float %either %one": (0, 2, False),
    "%r = OpFMul %float %bit %any": (-INF, INF, True),
    "%r = OpFMul %float %any %bit": (-INF, INF, True),
    "%r = OpFMul %float %two %either": (-2, 2, True),
    NOUGHT + "%r = OpFMul %float %d %one": (0, 0, False),
    NOUGHT + "%r = OpFMul %float %one %d": (0, 0, False),
    "%r = OpFDiv %float %one %two": (0.5, 0.5, True),
    "%r = OpFDiv %float %one %bit": (-INF, INF, True),
    NOUGHT + "%r = OpFDiv %float %one %d": (-INF, INF, False),
    NOUGHT + "%r = OpFDiv %float %d %bit": (-INF, INF, False),
    NOUGHT + "%r = OpFDiv %float %d %two": (0, 0, False),
    f"%r = {EXT} FAbs %neg": (1, 1, True),
    f"%r = {EXT} FAbs %either": (0, 1, True),
    f"%r = {EXT} FMin %either %two": (-1, 1, True),
    NOUGHT + f"%r = {EXT} FMin %d %two": (0, 0, False),
    NOUGHT + f"%r = {EXT} FMax %neg %d": (0, 0, False),
    NOUGHT + f"%r = {EXT} FClamp %d %c0 %c1": (0, 0, False),
    f"%r = {EXT} Sqrt %two": (2**0.5, 2**0.5, True),
    f"%r = {EXT} Sqrt %either": (-INF, INF, True),
    "%r = OpFAdd %float %zero %zero": (-INF, INF, True),  # it differs in nothing
    "%r = OpFNegate %float %minus_zero": (0, 0, False),
    "%r = OpFNegate %float %plus": (-INF, INF, True),
    "%r = OpFNegate %float %chosen": (-INF, INF, False),
    "%v = OpCompositeConstruct %vec %one %two; %r = OpCompositeExtract %float %v 1": (2, 2, True),
    "%v = OpCompositeConstruct %vec %one %flat; %w = OpFAdd %vec %v %v; "
    "%r = OpCompositeExtract %float %w 1": (-INF, INF, True),
    "%v = OpCompositeConstruct %vec %one %two; %w = OpFAdd %vec %v %c12; "
    "%r = OpCompositeExtract %float %w 1": (4, 4, True),
    "%v = OpCompositeConstruct %vec %one %two; %w = OpCompositeInsert %vec %neg %v 0; "
    "%r = OpFAdd %vec %w %w": (-2, -2, True),
    "%v = OpCompositeConstruct %vec %one %two; %r = OpDot %float %v %c12": (5, 5, True),
    "%v = OpCompositeConstruct %vec %one %two; %r = OpMatrixTimesVector %vec %eye %v": (3, 3, True),
    f"%r = {EXT} Fma %one %two %c1": (3, 3, True),
    f"%r = {EXT} FMix %c1 %c3 %mid": (2, 2, True),
    f"%r = {EXT} FClamp %either %c0 %c1": (0, 1, True),
    f"%r = {EXT} Sin %one": (-INF, INF, False),
    f"%s = {EXT} FSign %one; %r = OpFMul %float %s %one": (-INF, INF, True),
    f"%s = {EXT} Ceil %mid; %r = OpFMul %float %s %one": (1, 1, True),
    f"%s = {EXT} Fract %steps; %r = OpFMul %float %s %one": (0.5, 0.5, True),
    f"%s = {EXT} Asin %mid; %r = OpFMul %float %s %one": (-INF, INF, False),
    "%s = OpIsNan %bool %one; %r = OpSelect %float %s %one %two": (1, 2, True),
    "%r = OpIsNan %bool %one": (-INF, INF, True),
    "%r = OpFNegate %float %never": (-INF, INF, True),
    "%r = OpFmaKHR %float %one %two %c1": (3, 3, True),
    "%r = OpDPdx %float %two": (0, 0, False),
}  # fmt: skip


@pytest.mark.parametrize("body", RANGES)
def test_between_which_numbers_a_value_lies(body: str) -> None:
    found, last = looked_at(body)
    got = found.at((last, 0))
    low, high, signed = RANGES[body]
    near = [pytest.approx(end, rel=0.01, abs=0.02) for end in (low, high)]
    assert [got.low, got.high, got.signed] == [*near, signed]


PRIVATE = "OpStore %own {0}; %s = OpLoad %float %own; "
SPLIT = """OpSelectionMerge %end None
OpBranchConditional %no %then %end
%then = OpLabel
OpBranch %end
%end = OpLabel"""
CHOICE = "%no = OpFOrdLessThan %bool %flat %c0; " + SPLIT.replace("\n", "; ") + "; "
LOOP = """%cyes = OpFOrdLessThan %bool %flat %c0
OpBranch %head
%head = OpLabel
%p = OpPhi %float %one %first %q %next
OpLoopMerge %end %next None
OpBranchConditional %cyes %next %end
%next = OpLabel
%x = {0}
%q = OpExtInst %float %glsl FMin {1} {2}
OpBranch %head
%end = OpLabel
"""
TEXEL = """%i = OpLoad %of_{0} %s_{0}
%r = OpImageSampleImplicitLod %vec4 %i %v"""
KEPT = {  # what stays interpolated
    # comparisons
    f"{LESS} %one %two": "",
    f"{LESS} %two %one": "",
    f"{LESS} %one %c1": "one",
    f"{LESS} %bit %c0": "",
    f"{LESS} %any %c0": "",
    f"{LESS} %c0 %any": "",
    f"{LESS} %any %c1": "any",
    f"{LESS} %any %zero": "any",
    f"{LESS} %any %flat": "any",
    f"{LESS} %minus_zero %c0": "minus_zero",
    f"{LESS} %chosen %c0": "chosen",
    f"{LESS} %plus %c0": "",
    f"{LESS} %flat_one %c1": "",
    f"{LESS} %one %one": "",
    NOUGHT + f"{LESS} %d %c0": "one",
    # how far interpolation may be off
    f"{LESS} %one %c099": "",
    f"{LESS} %aside %c099": "aside",
    f"{LESS} %relaxed_in %c099": "relaxed_in",
    f"{LESS} %relaxed_out %c099": "relaxed_out",
    f"{LESS} %narrow %n099": "narrow",
    f"%x = OpFAdd %f16 %narrow %narrow; {LESS} %x %n1965": "narrow",
    "%x = INTERPOLATE %float %c01 0 78; " + f"{LESS} %x %c099": "one",
    f"%coarse = OpFAdd %float %c0 %one; {LESS} %coarse %c0995": "one",
    f"%x = OpFAdd %float %c0 %one; {LESS} %x %c0995": "",
    # steps
    f"%s = {EXT} Floor %one": "one",
    f"%s = {EXT} Floor %mid": "",
    f"%s = {EXT} Round %mid": "mid",
    f"%s = {EXT} Round %one": "",
    f"%x = {EXT} FMax %steps %step; %s = {EXT} Round %x": "steps",  # 1.5 may be 1, 1.501 not
    f"%x = {EXT} FMin %mid %c05; %s = {EXT} Round %x": "mid",
    f"%x = {EXT} FMin %any %c3; %s = {EXT} Floor %x": "any",
    f"%x = {EXT} FMax %any %c3; %s = {EXT} Floor %x": "any",
    f"%s = {EXT} Step %one %two": "",
    f"%s = {EXT} Step %one %c1": "one",
    f"%s = {EXT} FSign %either": "",
    NOUGHT + f"%s = {EXT} FSign %d": "one",
    "%s = OpConvertFToS %int %mid": "",
    "%s = OpConvertFToS %int %one": "one",
    f"%s = {EXT} Fract %mid": "",
    f"%s = {EXT} Fract %one": "one",
    f"%s = {EXT} Acos %mid": "",
    f"%s = {EXT} Acos %one": "one",
    f"%s = {EXT} Asin %neg": "neg",
    "%s = OpFMod %float %mid %c2": "mid",
    "%s = OpIsNan %bool %one": "",
    # a large factor, and what is left of as large numbers
    "%x = OpFMul %float %one %much": "",
    "%x = OpFMul %float %any %much": "any",
    NOUGHT + "%x = OpFMul %float %d %much": "one",
    f"%x = {EXT} FMin %any %c3; %y = OpFMul %float %x %much": "any",
    f"%x = {EXT} FMax %any %cn1; %y = OpFMul %float %x %much": "any",
    "%x = OpFMul %float %one %much; %y = OpFAdd %float %x %less": "one",
    "%x = OpFMul %float %one %much; %y = OpFAdd %float %x %much": "",
    "%x = OpFAdd %float %one %two": "",
    NOUGHT + "%x = OpFAdd %float %d %c0": "",
    "%x = OpFAdd %float %any %less": "",
    "%x = OpFMul %float %one %much; %y = OpFAdd %float %x %flat": "one",
    "%x = OpFMul %float %one %much; %y = OpFSub %float %flat %x": "one",
    "%x = OpFMul %float %one %c2; %y = OpFAdd %float %x %flat": "",
    f"%x = {EXT} Fma %one %much %less": "one",
    "%x = OpCompositeConstruct %vec %one %one; %y = OpMatrixTimesVector %vec %steep %x": "one",
    "%x = OpCompositeConstruct %vec %one %one; %y = OpVectorTimesMatrix %vec %x %steep": "",
    f"%x = {EXT} Fma %one %much %c1": "",
    "%x = OpFmaKHR %float %one %much %less": "one",
    f"%x = {EXT} FMix %less %much %mid": "mid",
    f"%x = {EXT} FMix %c1 %much %mid": "",
    "%v = OpCompositeConstruct %vec %one %one; %x = OpDot %float %v %apart": "one",
    "%v = OpCompositeConstruct %vec %one %one; %x = OpDot %float %v %c12": "",
    f"%x = OpFMul %float %one %much; %y = {EXT} Sin %x": "one",
    f"%x = OpFMul %float %one %much; %y = {EXT} Log %x": "",
    f"%x = {EXT} SmoothStep %c1 %near %one": "one",
    f"%x = {EXT} SmoothStep %c1 %near %two": "",
    f"%x = {EXT} SmoothStep %c1 %c2 %one": "",
    # poles
    "%x = OpFDiv %float %c1 %one": "",
    "%x = OpFDiv %float %one %bit": "",
    NOUGHT + "%x = OpFDiv %float %c1 %d": "one",
    NOUGHT + "%x = OpFDiv %float %d %c2": "",
    f"%x = {EXT} SmoothStep %one %two %flat": "",
    f"%x = {EXT} SmoothStep %one %c1 %flat": "one",
    f"%x = {EXT} SmoothStep %c1 %one %flat": "one",
    f"%x = {EXT} SmoothStep %one %c1 %vary": "one",
    f"%x = {EXT} Log %one": "",
    NOUGHT + f"%x = {EXT} Log %d": "one",
    f"%x = {EXT} Sqrt %bit": "",
    NOUGHT + f"%x = {EXT} Sqrt %d": "one",
    NOUGHT + f"%x = {EXT} Pow %d %c2": "one",
    NOUGHT + f"%x = {EXT} Pow %d %vary": "one",
    f"%x = {EXT} Pow %two %flat": "",
    NOUGHT + f"%x = {EXT} FMax %d %c0; %y = {EXT} Sqrt %x": "one",
    # angles
    f"%x = {EXT} Atan2 %either %c1": "",
    NOUGHT + f"%x = {EXT} Atan2 %d %c1": "",
    NOUGHT + f"%x = {EXT} Atan2 %d %cn1": "one",
    NOUGHT + f"%x = {EXT} Atan2 %c0 %d": "one",
    NOUGHT + f"%x = {EXT} Atan2 %c1 %d": "",
    # lanes
    "%v = OpCompositeConstruct %vec %one %mid; %s = OpExtInst %vec %glsl Floor %v": "one",
    "%v = OpCompositeConstruct %vec %mid %one; %s = OpExtInst %vec %glsl Floor %v": "one",
    "%v = OpCompositeConstruct %vec %one %mid; %w = OpVectorShuffle %vec %v %v 1 1; "
    "%s = OpExtInst %vec %glsl Floor %w": "",
    "%v = OpCompositeConstruct %vec %one %mid; %w = OpCompositeInsert %vec %mid %v 0; "
    "%s = OpExtInst %vec %glsl Floor %w": "",
    "%v = OpCompositeConstruct %vec %one %one; %w = OpMatrixTimesVector %vec %eye %v; "
    "%s = OpExtInst %vec %glsl Floor %w": "one",
    "%v = OpCompositeConstruct %struct %one %mid; %x = OpCompositeExtract %float %v 1; "
    f"%s = {EXT} Floor %x": "mid one",
    "%v = OpCompositeConstruct %vec %flat %one; %x = OpVectorExtractDynamic %float %v %i1; "
    f"%s = {EXT} Floor %x": "one",
    "%v = OpCompositeConstruct %struct %one %mid; %x = OpCompositeExtract %float %v 1": "",
    # lookups: a layer is rounded, a coordinate is not
    f"%v = OpCompositeConstruct %vec3 %flat %flat %one; {TEXEL.format('array')}": "",
    f"%v = OpCompositeConstruct %vec3 %flat %flat %mid; {TEXEL.format('array')}": "mid",
    f"%v = OpCompositeConstruct %vec3 %flat %one %one; {TEXEL.format('array')}": "one",
    f"%v = OpCompositeConstruct %vec3 %flat %flat %one; {TEXEL.format('2d')}": "one",
    f"%v = OpCompositeConstruct %vec %flat %one; {TEXEL.format('line')}": "",
    f"%v = OpCompositeConstruct %vec %one %flat; {TEXEL.format('line')}": "one",
    f"%v = OpCompositeConstruct %vec3 %flat %flat %one; {TEXEL.format('array')}; "
    f"%x = OpCompositeExtract %float %r 0; {LESS} %x %c1": "",
    "%t = OpGroupNonUniformAllEqual %bool %i1 %one": "one",
    # others' instructions, whose numbers mean something else
    "%x = OpExtInst %float %amd FMax3AMD %one %mid %c0": "mid one",
    # phis
    CHOICE + f"%x = OpPhi %float %one %first %two %then; {LESS} %x %c3": "",
    CHOICE + f"%x = OpPhi %float %one %first %c1 %then; {LESS} %x %c3": "",
    CHOICE + f"%x = OpPhi %float %one %first %c3 %then; {LESS} %x %c3": "one",
    CHOICE + f"%x = OpPhi %float %one %first %flat %then; {LESS} %x %c3": "one",
    LOOP.format("OpFAdd %float %p %c1", "%x", "%c3") + f"{LESS} %p %c05": "",
    LOOP.format("OpFAdd %float %p %c0125", "%x", "%c3") + f"{LESS} %p %c05": "one",
    LOOP.format("OpFAdd %float %p %c0125", "%x", "%c3")
    + f"%y = OpFAdd %float %two %two; {LESS} %y %c3": "",
    # variables
    PRIVATE.format("%one") + f"{LESS} %s %c2": "one",
    PRIVATE.format("%one") + f"{LESS} %s %c0": "",
    NOUGHT + PRIVATE.format("%d") + f"{LESS} %s %c0": "one",
    NOUGHT + "OpStore %own %d; " + PRIVATE.format("%two") + f"{LESS} %s %c0": "one two",
    "OpStore %own %one; " + PRIVATE.format("%two") + f"{LESS} %s %c0": "",
    "OpStore %own %one; " + PRIVATE.format("%flat") + f"{LESS} %s %c2": "one",
    f"OpStore %own %one; OpCopyMemory %other %own; %s = OpLoad %float %other; {LESS} %s %c2": "one",
    "OpStore %own %one; %s = OpLoad %float %other; " + f"{LESS} %s %c2": "",
    "OpStore %buffer %one; %s = OpLoad %float %alias; " + f"{LESS} %s %c2": "one",
    "%p = OpConvertUToPtr %ptr_buffer %i0; OpStore %p %one": "",
    "OpStore %b %one; %s = OpLoad %float %u; " + f"{LESS} %s %c2": "",
    "OpStore %o %one": "",
    "OpStore %depth %one": "one",
    "OpStore %depth %flat": "",
    "OpStore %own %one; OpCopyMemory %depth %own": "one",
    "OpStore %own %one; OpCopyMemory %o %own": "",
    "OpStore %own %flat; OpCopyMemory %depth %own": "",
}


@pytest.mark.parametrize("body", KEPT)
def test_what_stays_interpolated(body: str) -> None:
    found, _ = looked_at(body)
    assert names(found.kept) == set(KEPT[body].split())
    may = {n for n in SLOTS if found.free(place_of(n))}
    assert may == names(found.seeds.keys() - found.kept.keys())


BESIDE = "%d = OpFSub %float %one {}; "  # a pole where this is zero
POLES = {  # what has a pole there, and what stays interpolated
    BESIDE.format("%vary") + "%x = OpFDiv %float %c1 %d": ("one", ""),
    BESIDE.format("%flat") + "%x = OpFDiv %float %c1 %d": ("", "one"),
    BESIDE.format("%two") + "%x = OpFDiv %float %c1 %d": ("", ""),
    "%y = OpFMul %float %vary %c2; "
    + BESIDE.format("%y") + "%x = OpFDiv %float %c1 %d": ("one", ""),
    CHOICE + "%y = OpPhi %float %vary %first %flat %then; "
    + BESIDE.format("%y") + "%x = OpFDiv %float %c1 %d": ("one", ""),
    "%i = OpConvertFToS %int %vary; %y = OpConvertSToF %float %i; "
    + BESIDE.format("%y") + "%x = OpFDiv %float %c1 %d": ("", "one"),
    BESIDE.format("%vary") + f"%x = {EXT} SmoothStep %d %c1 %flat": ("one", ""),
    BESIDE.format("%vary") + f"%x = {EXT} SmoothStep %c1 %d %flat": ("one", ""),
    BESIDE.format("%vary") + f"%x = {EXT} Pow %d %c2": ("one", ""),
    BESIDE.format("%vary") + f"%x = {EXT} Sqrt %d": ("one", ""),
    BESIDE.format("%vary") + f"%y = {EXT} FMax %d %c0; %x = {EXT} Sqrt %y": ("", ""),
    BESIDE.format("%vary") + f"%y = {EXT} FMax %d %c0; %x = {EXT} Log %y": ("one", ""),
}  # fmt: skip


@pytest.mark.parametrize("body", POLES)
def test_what_varies_is_beside_a_pole_on_a_line_at_most(body: str) -> None:
    found, _ = looked_at(body)
    assert (names(found.poles), names(found.kept)) == (
        set(POLES[body][0].split()),
        set(POLES[body][1].split()),
    )
