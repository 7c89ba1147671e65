"""What the proof on paper knows of loops and of values that are not the same node on both sides:
breaks, conditions that no round changes, pointers behind loops, arrays of a specialized length,
bits of choices, inputs that are per sample. A change that keeps the values is proved; a mistake
beside it is not."""

from __future__ import annotations

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL
from tests.support.samples import assemble, compile_glsl

VERTEX = """#version 450
layout(location = 0) in vec4 p;
layout(location = 1) in vec4 q;
layout(location = 0) out vec4 v;
layout(location = 1) flat out VARYING f;
layout(location = 2) in int k;
layout(location = 2) flat out int h;
void main() { gl_Position = p; v = q; f = WRITTEN; h = k; }
"""
FRAGMENT = """#version 450
layout(constant_id = 3) const int N = 4;
layout(set = 0, binding = 0) uniform U { vec4 tint; float level; int n; };
layout(location = 0) in vec4 v;
layout(location = 2) flat in int h;
layout(location = 0) out vec4 c;
float until(float x) {
    for (int i = 0; i < n; ++i) {
        x = sin(x + tint.x);
        if (x > tint.y) return x * LEFT;
    }
    return x;
}
void main() { float nothing; READ }
"""
BREAKS = "float x = v.x, r = 0.0; bool found = false; for (int i = 0; i < n; ++i) {" \
         "x = sin(x + tint.x); if (x > tint.y) { found = true; r = x * 2.0; break; } }" \
         "if (!found) r = x; c = vec4(r);"  # fmt: skip
SUM = "float x = v.x; for (int i = 0; i < n; ++i) x = sin(x);"
FILLED = "float t[N]; for (int i = 0; i < N; ++i) t[i] = v.x * float(i);"
# What main does, of the original and of what is linked
RIGHT = {
    "a return in a loop": ("c = vec4(until(v.x));", BREAKS),
    "a condition of all rounds": (
        "float x = v.x; for (int i = 0; i < n && level > 0.5; ++i) x = sin(x); c = vec4(x);",
        f"if (level > 0.5) {{ {SUM} c = vec4(x); }} else c = vec4(v.x);"),
    "a flag that nobody sets": (
        f"{SUM} c = vec4(x);",
        "float x = v.x; bool stop = false; for (int i = 0; i < n; ++i) {"
        "if (stop) break; x = sin(x); stop = stop && x > 0.0; } c = vec4(x);"),
    "a value that no round makes": (
        f"{SUM} c = v;", "float y = v.x, x = 0.0; for (int i = 0; i < n; ++i) { x += y; } c = v;"),
    "a loop that ends in one case": (
        "float x = v.x; int i = 0; while (true) { if (level > 0.5) if (i >= n) break;"
        "x = sin(x); ++i; } c = vec4(x);",
        f"{SUM} c = vec4(x);",
    ),
    "a flag in a loop whose first round is certain": (
        "bool stop = false; float x = v.x; for (int i = 0; i < 1 + (n & 3); ++i) {"
        "if (stop) break; x = sin(x); } c = vec4(x);",
        "float x = v.x; for (int i = 0; i < 1 + (n & 3); ++i) x = sin(x); c = vec4(x);",
    ),
    "what each round makes": (
        "float x = v.x; int i = 0; do { x = v.y; ++i; } while (i < n); c = vec4(x);",
        "c = vec4(v.y);",
    ),
    "what each of some rounds makes": (
        "float x = v.x; for (int i = 0; i < 1 + (n & 3); ++i) x = v.y; c = vec4(x);",
        "c = vec4(v.y);",
    ),
    "an array of any length": (
        f"{FILLED} t[int(level) & 1] = 2.0; c = vec4(t[1] + t[n]);",
        f"{FILLED} int at = int(level) & 1; t[at] = 0.5; t[at] = 2.0; float b = t[n];"
        "c = vec4(t[1] + b);"),
    "arrays of any length": (
        "vec2 t[N], u[N]; t[n] = v.xy; u[0] = t[n].yx; u[n] = t[n]; c = vec4(u[n], t[n]);",
        "c = v.xyxy;"),
    "a mask of a choice": (
        "uint a = (level > 0.5 ? uint(n) : uint(n) << 9) & 255u; c = vec4(float(a));",
        "uint a = level > 0.5 ? uint(n) & 255u : 0u; c = vec4(float(a));"),
    "bits of a choice": (
        "int a = floatBitsToInt(level > 0.5 ? v.x : v.y); c = vec4(float(a >> 20));",
        "int a = level > 0.5 ? floatBitsToInt(v.x) : floatBitsToInt(v.y);"
        "c = vec4(float(a >> 20));"),
    "a shifted choice": (
        "uint a = (level > 0.5 ? uint(n) << 8 : 0u) >> 8; c = vec4(float(a));",
        "uint a = level > 0.5 ? uint(n) & 0xFFFFFFu : 0u; c = vec4(float(a));"),
    "integers with themselves": (
        "int a = n / 1; a = min(a, n); uint b = max(uint(n), uint(a)); c = vec4(a, b, 0, 0);",
        "c = vec4(n, uint(n), 0, 0);"),
    "numbers without a sign": (
        "c = vec4(min(0, bitCount(n)), max(bitCount(n), 0), max(n & 7, 7), 0);",
        "c = vec4(0, bitCount(n), 7, 0);",
    ),
    "turned integers": (
        "c = vec4(min(n, 3 + n * n), max(uint(n) * 3u, uint(n)), 0, 0);",
        "c = vec4(min(n * n + 3, n), max(uint(n), uint(n) * 3u), 0, 0);"),
    "a field of constants": (
        "int a = 0x2E0; c = vec4(bitfieldExtract(a, 5, 5), bitfieldExtract(a, 5, 6), 0, 0);",
        "c = vec4(-9, 23, 0, 0);"),
    "a condition that may be another": (
        "float a = level > 0.5 ? v.x : nothing; c = sin(v) * tint;"
        "if (v.y < tint.y) if (a < tint.x) c = tint; if (a < tint.z && v.z < 0.5) c = v;",
        "float a = v.x; c = sin(v) * tint;"
        "if (a < tint.x) if (v.y < tint.y) c = tint; if (v.z < 0.5 && a < tint.z) c = v;"),
}  # fmt: skip
# The same, but for --exact
ROUNDED = {
    "an undefined term": (
        "c = v * 0.75 + (level > 0.5 ? v.yzwx : vec4(nothing)) * 0.5;",
        "c = level > 0.5 ? (v.yzwx * 0.25 + v * 0.375) * 2.0 : v * 0.75;"),
}  # fmt: skip
WRONG = {
    "another factor at the return": ("c = vec4(until(v.x));", BREAKS.replace("2.0", "3.0")),
    "the value behind the loop at the return": (
        "c = vec4(until(v.x));", BREAKS.replace("!found", "found")),
    "a condition of one case": (
        "float x = v.x; for (int i = 0; i < n && level > 0.5; ++i) x = sin(x); c = vec4(x);",
        f"if (level > 0.5) {{ {SUM} c = vec4(x); }} else c = vec4(v.y);"),
    "a condition of the first round": (
        "float x = v.x; for (int i = 0; i < n && x > 0.5; ++i) x = sin(x); c = vec4(x);",
        f"if (v.x > 0.5) {{ {SUM} c = vec4(x); }} else c = vec4(v.x);"),
    "a flag that is set": (
        f"{SUM} c = vec4(x);",
        "float x = v.x; bool stop = false; for (int i = 0; i < n; ++i) {"
        "if (stop) break; x = sin(x); stop = stop || x > 0.0; } c = vec4(x);"),
    "a flag that another one sets": (
        f"{SUM} c = vec4(x);",
        "float x = v.x; bool a = false, b = false; for (int i = 0; i < n; ++i) {"
        "if (a) break; x = sin(x); a = b; b = b || x > 0.0; } c = vec4(x);"),
    "what each of no rounds makes": (
        "float x = v.x; for (int i = 0; i < (n & 3); ++i) x = v.y; c = vec4(x);",
        "c = vec4(v.y);",
    ),
    "what the last but one round makes": (
        "float x = v.x, y = v.x; for (int i = 0; i < 1 + (n & 3); ++i) { y = x; x = v.y; }"
        "c = vec4(y);",
        "c = vec4(v.y);",
    ),
    "another element of an array": (
        f"{FILLED} t[int(level) & 1] = 2.0; c = vec4(t[1] + t[n]);",
        f"{FILLED} t[int(level) & 1] = 2.0; c = vec4(t[0] + t[n]);"),
    "elements in another order": (
        f"{FILLED} t[n] = 2.0; t[int(level)] = 3.0; c = vec4(t[n]);",
        f"{FILLED} t[int(level)] = 3.0; t[n] = 2.0; c = vec4(t[n]);"),
    "another part of an element": (
        "vec2 t[N]; t[n] = v.xy; t[n].x = 1.0; c = vec4(t[n], 0, 0);",
        "vec2 t[N]; t[n] = v.xy; t[n].y = 1.0; c = vec4(t[n], 0, 0);"),
    "a mask of one end": (
        "uint a = (level > 0.5 ? uint(n) : uint(n) << 9) & 255u; c = vec4(float(a));",
        "uint a = level > 0.5 ? uint(n) & 255u : uint(n) << 9; c = vec4(float(a));"),
    "another mask of an attribute": ("c = vec4(h & 255);", "c = vec4(h & 253);"),
    "no mask of an attribute": ("c = vec4(h & 255);", "c = vec4(h);"),
    "another divisor": ("c = vec4(n / 2);", "c = vec4(n);"),
    "a number that may have a sign": ("c = vec4(min(0, n));", "c = vec4(0);"),
    "more bits than are counted": ("c = vec4(bitCount(n) & 32);", "c = vec4(0);"),
    "the larger one": ("c = vec4(min(n, 3 + n * n));", "c = vec4(max(n * n + 3, n));"),
    "a store under another one": (
        f"{FILLED} t[n] = 2.0; t[int(level)] = 3.0; c = vec4(t[n]);",
        f"{FILLED} t[int(level)] = 3.0; c = vec4(t[n]);",
    ),
    "a field beyond the end": ("c = vec4(0);", "int a = 8; c = vec4(bitfieldExtract(a, 30, 5));"),
    "the sign of a field": ("int a = 0x2E0; c = vec4(bitfieldExtract(a, 5, 5));", "c = vec4(23);"),
    "another undefined condition": (
        "float a = level > 0.5 ? v.x : nothing; c = v; if (a < tint.x) c = tint;",
        "c = v; if (v.y < tint.x) c = tint;"),
}  # fmt: skip
# A loop whose value is read with `ABOVE` in front of it by another loop, or behind it through a
# pointer that it made.
LOOPS = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %c
OpExecutionMode %main OriginUpperLeft
OpDecorate %c Location 0
OpDecorate %U Block
OpMemberDecorate %U 0 Offset 0
OpMemberDecorate %U 1 Offset 16
OpDecorate %array ArrayStride 16
OpDecorate %u DescriptorSet 0
OpDecorate %u Binding 0
%void = OpTypeVoid
%bool = OpTypeBool
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%v4 = OpTypeVector %float 4
%zero = OpConstant %int 0
%one = OpConstant %int 1
%eight = OpConstant %int 8
%f0 = OpConstant %float 0
%f1 = OpConstant %float 1
%f75 = OpConstant %float 0.75
%array = OpTypeArray %float %eight
%U = OpTypeStruct %int %array
%pU = OpTypePointer Uniform %U
%pint = OpTypePointer Uniform %int
%pfloat = OpTypePointer Uniform %float
%pv4 = OpTypePointer Output %v4
%u = OpVariable %pU Uniform
%c = OpVariable %pv4 Output
%function = OpTypeFunction %void
%main = OpFunction %void None %function
%entry = OpLabel
%pn = OpAccessChain %pint %u %zero
%n = OpLoad %int %pn
OpBranch %h1
%h1 = OpLabel
%i = OpPhi %int %zero %entry %i2 %c1
%a = OpPhi %float %f1 %entry %a2 %c1
%px = OpAccessChain %pfloat %u %one %i
%more1 = OpSLessThan %bool %i %n
OpLoopMerge %m1 %c1 None
OpBranchConditional %more1 %c1 %m1
%c1 = OpLabel
%x = OpLoad %float %px
%a2 = OpFMul %float %a %x
%i2 = OpIAdd %int %i %one
OpBranch %h1
%m1 = OpLabel
%last = OpLoad %float BEHIND
OpBranch %h2
%h2 = OpLabel
%k = OpPhi %int %zero %m1 %k2 %c2
%s = OpPhi %float %a %m1 ABOVE %c2
%out = OpPhi %float %f0 %m1 %sum %c2
%more2 = OpSLessThan %bool %k %n
OpLoopMerge %m2 %c2 None
OpBranchConditional %more2 %b2 %m2
%b2 = OpLabel
OpBranch %h3
%h3 = OpLabel
%j = OpPhi %int %zero %b2 %j2 %c3
%w = OpPhi %float START %b2 %w2 %c3
%sum = OpFAdd %float %w %s
%more3 = OpSLessThan %bool %j %n
OpLoopMerge %m3 %c3 None
OpBranchConditional %more3 %c3 %m3
%c3 = OpLabel
%w1 = OpFMul %float %w %f75
%w2 = OpFAdd %float %w1 %s
%j2 = OpIAdd %int %j %one
OpBranch %h3
%m3 = OpLabel
OpBranch %c2
%c2 = OpLabel
%k2 = OpIAdd %int %k %one
OpBranch %h2
%m2 = OpLabel
%colour = OpCompositeConstruct %v4 %out %last %f0 %f0
OpStore %c %colour
OpReturn
OpFunctionEnd
"""
WORDS = {"BEHIND": "%px", "ABOVE": "%s", "START": "%f0"}
SAME = {
    "the same": {},
    "an invariant by another name": {"ABOVE": "%a"},
}
OTHER = {
    "another start inside": {"START": "%f1"},
    "another start inside, by another name": {"START": "%f1", "ABOVE": "%a"},
    "another pointer behind the loop": {"BEHIND": "%pn2"},
}
# What the fragment shader does with an input that is decorated Sample, and without one
SAMPLES = {
    "": "c = v;",
    "listed": "c = v; if (false) c += g;",
    "read": "c = v + g;",
    "number": "c = v + float(gl_SampleID) * 0.0;",
}


def fragment(read: str) -> list[Source]:
    vertex = VERTEX.replace("VARYING", "int").replace("WRITTEN", "1")
    text = FRAGMENT.replace("READ", read).replace("LEFT", "2.0")
    return [Source(compile_glsl(vertex, "vert")), Source(compile_glsl(text, "frag"))]


def is_proved(before: list[Source], after: list[Source], exact: bool) -> bool:
    return prove(before, after, Options(exact=exact), 20.0).outcome == EQUAL


@pytest.mark.parametrize("name", RIGHT)
def test_what_keeps_the_values_is_proved(name: str) -> None:
    before, after = [fragment(text) for text in RIGHT[name]]
    assert [s.data for s in before] != [s.data for s in after]
    assert is_proved(before, after, True)
    assert is_proved(before, after, False)


@pytest.mark.parametrize("name", ROUNDED)
def test_what_keeps_numbers_is_proved_by_default_alone(name: str) -> None:
    before, after = [fragment(text) for text in ROUNDED[name]]
    assert is_proved(before, after, False)
    assert not is_proved(before, after, True)


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_not_proved(name: str) -> None:
    before, after = [fragment(text) for text in WRONG[name]]
    assert is_proved(before, before, True)
    assert not is_proved(before, after, True)
    assert not is_proved(before, after, False)


def loops(changes: dict[str, str]) -> list[Source]:
    text = LOOPS
    for word, by in {**WORDS, **changes}.items():
        text = text.replace(word, by)
    if "%pn2" in text:
        text = text.replace("%last =", "%pn2 = OpAccessChain %pfloat %u %one %zero\n%last =")
    return [Source(assemble(text))]


@pytest.mark.parametrize("name", SAME)
def test_loops_in_loops_are_proved(name: str) -> None:
    assert is_proved(loops({}), loops({**SAME[name], "%f1 %entry": "%f1 %entry"}), True)


@pytest.mark.parametrize("name", OTHER)
def test_other_loops_in_loops_are_not_proved(name: str) -> None:
    assert not is_proved(loops({}), loops(OTHER[name]), True)
    assert not is_proved(loops({}), loops(OTHER[name]), False)


def test_debug_information_says_nothing() -> None:
    """Of the older set, too."""
    text = LOOPS.replace(
        "OpMemoryModel", '%debug = OpExtInstImport "OpenCL.DebugInfo.100"\nOpMemoryModel'
    ).replace("%pn =", "%scope = OpExtInst %void %debug DebugNoScope\n%pn =")
    for word, by in WORDS.items():
        text = text.replace(word, by)
    assert is_proved(loops({}), [Source(assemble(text))], True)


@pytest.mark.parametrize(
    ("before", "after", "proved"),
    [
        ("listed", "number", True),  # Vulkan allows what is not read to say it as well
        ("listed", "", False),
        ("", "number", False),
        ("", "listed", False),
        ("number", "listed", False),
    ],
)
def test_how_often_a_stage_runs(before: str, after: str, proved: bool) -> None:
    sides = []
    for name in (before, after):
        given = "" if name in ("", "number") else "layout(location = 1) sample in vec4 g;\n"
        text = FRAGMENT.replace("READ", SAMPLES[name]).replace("LEFT", "2.0")
        vertex = VERTEX.replace("flat out VARYING", "out vec4").replace("WRITTEN", "q")
        sides.append(
            [
                Source(compile_glsl(vertex, "vert")),
                Source(compile_glsl(text.replace("layout(set", given + "layout(set"), "frag")),
            ]
        )
    assert is_proved(sides[0], sides[0], True)
    assert is_proved(sides[0], sides[1], False) is proved
