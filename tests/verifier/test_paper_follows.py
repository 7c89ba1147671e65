"""What the proof on paper follows: ray queries, addresses, choices by undefined values, quotients
and zeros. A change that keeps the values is proved; a mistake beside it is not."""

from __future__ import annotations

import pytest

from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, UNDEFINED
from tests.support.samples import compile_glsl

VERTEX = """#version 460
layout(location = 0) in vec4 p;
layout(location = 1) in vec4 q;
layout(set = 0, binding = 0) uniform U { vec4 tint; float level; };
layout(location = 0) out vec4 v;
void main() { float nothing; gl_Position = p; v = WRITTEN; }
"""
FRAGMENT = """#version 460
#extension GL_EXT_ray_query : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(set = 0, binding = 0) uniform U { vec4 tint; float level; };
layout(set = 0, binding = 1) uniform accelerationStructureEXT scene;
layout(set = 0, binding = 2) uniform sampler2D map;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Numbers { float n[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Fixed { float n[]; };
layout(push_constant) uniform P { Numbers first; Numbers second; Fixed third; };
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 c;
float hit(float height, uint mask) {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, scene, 0u, mask, vec3(v.xy, height), 0.1, vec3(0, 0, 1), 9.0);
    while (rayQueryProceedEXT(query))
        if (rayQueryGetIntersectionTypeEXT(query, false) == 0u)
            rayQueryConfirmIntersectionEXT(query);
    return rayQueryGetIntersectionTEXT(query, true);
}
float one_step(float height) {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, scene, 0u, 255u, vec3(v.xy, height), 0.1, vec3(0, 0, 1), 9.0);
    rayQueryProceedEXT(query);
    return rayQueryGetIntersectionTEXT(query, true);
}
void main() {
    float nothing;
    READ
}
"""
TARGET = "vulkan1.2"
# (written, read) of the original and of what is linked
RIGHT = {
    "a ray query": (("q", "c = vec4(hit(v.z, 255u));"),
                    ("q", "float one = 1.0; c = vec4(hit(v.z * one, 255u));")),
    "a buffer by address": (("q", "c = vec4(first.n[2] + second.n[int(level)]);"),
                            ("q", "c = vec4(second.n[int(level)] + first.n[1 + 1]);")),
    "stores by address": (("q", "first.n[0] = v.x; second.n[1] = v.y; c = vec4(first.n[0]);"),
                          ("q", "float y = v.y; first.n[0] = v.x; second.n[1] = y;"
                                "c = vec4(first.n[0]);")),
    "a choice by an undefined value": (
        ("q", "c = nothing > 0.5 ? v : tint;"), ("q", "if (nothing > 0.5) c = v; else c = tint;")),
    "an undefined value that is chosen": (
        ("q", "c = level > 0.5 ? v : vec4(nothing);"), ("q", "c = v;")),
    "a quotient of constants": (("q", "float five = 5.0; c = step(v, vec4(1.0 / five));"),
                                ("q", "c = step(v, vec4(0.2));")),
    "one of two quotients": (
        ("q", "float five = 5.0, three = 3.0; c = step(v, vec4(1.0 / five)) + 1.0 / three;"),
        ("q", "float three = 3.0; c = step(v, vec4(0.2)) + 1.0 / three;")),
    "a dot product of constants": (("q", "vec2 a = vec2(3.0, 2.0); c = step(v, vec4(dot(a, a)));"),
                                   ("q", "c = step(v, vec4(13.0));")),
    "a zero that crosses": (("vec4(q.xy, 0.0, 1.0)", "c = texture(map, v.xz);"),
                            ("q", "c = texture(map, vec2(v.x, 0.0));")),
    "an undefined factor": (
        ("level > 0.5 ? q : vec4(1.0)", "c = level > 0.5 ? v : v * nothing;"),
        ("level > 0.5 ? q : vec4(1.0)", "c = v;")),
    "one bit": (("q", "c = vec4(float(uint(level) & 4u));"),
                ("q", "c = vec4((uint(level) & 4u) != 0u ? 4.0 : 0.0);")),
    "the least number": (("q", "uint n = uint(level); c = vec4(min(max(n, 0u), ~0u));"),
                         ("q", "uint n = uint(level); c = vec4(n);")),
    "a condition for an undefined one": (
        ("q", "float other; if (nothing < other) c = v; else c = tint;"),
        ("q", "if (v.x < 1.0) c = v; else c = tint;")),
    "bits of constants": (
        ("q", "uint a = 6u; c = v * float(bitCount(a) + findMSB(a) + findLSB(a))"
              " + float(bitfieldReverse(a) >> 29);"),
        ("q", "c = v * 5.0 + 3.0;")),
    "floats of constants": (
        ("q", "float x = -1.75; c = v + fract(x); c += step(0.5, x); c += clamp(x, -1.75, 1.0);"),
        ("q", "float zero = 0.0; c = v + 0.25; c += zero; c -= 1.75;")),
    "clamped constants": (("q", "int n = 5; c = vec4(clamp(n, 0, 3), clamp(-n, -3, n), v.xy);"),
                          ("q", "c = vec4(3.0, -3.0, v.xy);")),
    "clamped constants without a sign": (("q", "uint n = 1u << 31; c = vec4(clamp(n, 0u, 3u));"),
                                         ("q", "c = vec4(3.0);")),
    "a fused product of constants": (("q", "float x = 3.0; c = step(v, vec4(fma(x, 0.5, 1.0)));"),
                                     ("q", "c = step(v, vec4(2.5));")),
    "words of a double": (
        ("q", "uvec2 a = uvec2(v.xy); c = vec4(unpackDouble2x32(packDouble2x32(a)), v.xy);"),
        ("q", "uvec2 a = uvec2(v.xy); c = vec4(a, v.xy);")),
    "words of a long number": (
        ("q", "c = vec4(unpackUint2x32(uint64_t(uint(v.x)) << 32 | uint64_t(uint(v.y))), v.xy);"),
        ("q", "c = vec4(uint(v.y), uint(v.x), v.xy);")),
    "words of a constant": (
        ("q", "double a = 1.0lf; c = vec4(unpackDouble2x32(a), v.xy);"),
        ("q", "c = vec4(uvec2(0u, 0x3FF00000u), v.xy);")),
    "two complements": (
        ("q", "uint a = uint(level), b = uint(v.x); c = vec4(~a ^ ~b, 0, 0, 0);"),
        ("q", "uint a = uint(level), b = uint(v.x); c = vec4(a ^ b, 0, 0, 0);")),
    "elements that are one value": (
        ("q", "float a[2] = float[](v.x, tint.x > 0.5 ? v.x : nothing); c = vec4(a[int(level)]);"),
        ("q", "c = vec4(v.x);")),
    "the sum of a choice": (
        ("q", "int n = int(level); c = vec4(3 * (v.x > 0.5 ? 5 * n : n) + 1);"),
        ("q", "int n = int(level); c = vec4(v.x > 0.5 ? 15 * n + 1 : 3 * n + 1);")),
    "what each round makes of a sum": (
        ("q", "float s = 0.0; int i = 0, n; do { s += v.x; n = int(s) & 3; }"
              "while (++i < int(level)); c = vec4(n);"),
        ("q", "float s = 0.0; int i = 0; do s += v.x; while (++i < int(level));"
              "c = vec4(int(s) & 3);")),
    "bits that are set anyway": (("q", "c = vec4(uint(level) & 12u | 14u);"),
                                 ("q", "uint n = 14u; c = vec4(n);")),
    "turned round twice": (
        ("q", "c = vec4(bitfieldReverse(bitfieldReverse(uint(level))));"),
        ("q", "c = vec4(uint(level));")),
    "the rest of a division by one": (("q", "int one = 1; c = v + float(int(level) % one);"),
                                      ("q", "c = v + 0.0;")),
    "Modf": (("q", "float w; c = vec4(modf(v.x, w)) + w;"),
             ("q", "float w; float f = modf(v.x, w); c = w + vec4(f);")),
}  # fmt: skip
# The same, but for --exact
ROUNDED = {
    "a zero of all vertices": (("vec4(q.xy, 0.0, 1.0)", "c = texture(map, v.xy + v.z * tint.xy);"),
                               ("q", "c = texture(map, v.xy);")),
    "a negative zero that crosses": (("vec4(q.xy, NEGATIVE, 1.0)", "c = texture(map, v.xz);"),
                                     ("q", "c = texture(map, vec2(v.x, NEGATIVE));")),
    "an undefined value of vertices": (
        ("level > 0.5 ? vec4(0.6) : vec4(nothing)", "c = pow(clamp(tint, 0.0, 1.0), v);"),
        ("q", "c = pow(clamp(tint, 0.0, 1.0), vec4(0.6));")),
    "a product with zero": (("vec4(q.xy, 0.0, 1.0)", "c = texture(map, v.xy * v.z);"),
                            ("q", "c = texture(map, vec2(0.0));")),
    "a power of two": (("q", "c = texture(map, v.xy * 4.0);"),
                       ("q * 4.0", "c = texture(map, v.xy);")),
    "a sign and a power of two": (("q", "c = floor(-(v * 0.25)) + 0.3;"),
                                  ("-(q * 0.25)", "c = floor(v) + 0.3;")),
}  # fmt: skip
# What is proved if each use of an undefined value is a choice
CHOSEN = {
    "two tests": (
        ("q", "c = vec4(0.0); if (nothing > 0.5) c += v; if (nothing > 0.5) c -= v.yxzw;"),
        ("q", "c = nothing > 0.5 ? v + 0.0 : vec4(0.0); c = nothing > 0.5 ? c - v.yxzw : c;")),
    "a test in each round": (
        ("q", "c = vec4(0.0); for (int i = 0; i < int(level); i++) if (nothing > 0.5) c += v;"),
        ("q", "c = vec4(0.0);"
              "for (int i = 0; i < int(level); i++) c = nothing > 0.5 ? c + v : c;")),
    "a test in each of two rounds": (
        ("q", "c = vec4(0.0); for (int i = 0; i < 2; i++) if (nothing > 0.5) c += v;"),
        ("q", "c = vec4(0.0); for (int i = 0; i < 2; i++) c = nothing > 0.5 ? c + v : c;")),
    "tests of each lane": (
        ("q", "vec2 m = mix(v.xx, v.yy, greaterThan(vec2(nothing), vec2(0.5)));"
              "c = vec4(m.x - m.y);"),
        ("q", "vec2 m = mix(v.xx, v.yy, greaterThan(vec2(nothing), vec2(0.5)));"
              "float x = m.x; c = vec4(x - m.y);")),
    "a switch": (
        ("q", "switch (int(nothing)) { case 1: c = v; break; case 2: c = tint; break;"
              "default: c = vec4(1.0); }"),
        ("q", "vec4 x = vec4(1.0); switch (int(nothing)) { case 1: x = v; break;"
              "case 2: x = tint; } c = x;")),
}  # fmt: skip
# Each with as many choices as the original, or fewer, elsewhere
NOT_CHOSEN = {
    "one test kept": (
        ("q", "bool t = nothing > 0.5; c = vec4(0.0); if (t) c += v; if (t) c -= v.yxzw;"),
        ("q", "c = vec4(0.0); if (nothing > 0.5) c += v; if (nothing > 0.5) c -= v.yxzw;")),
    "a test before a loop": (
        ("q", "bool t = nothing > 0.5; c = vec4(0.0);"
              "for (int i = 0; i < int(level); i++) if (t) c += v;"),
        ("q", "c = vec4(0.0); for (int i = 0; i < int(level); i++) if (nothing > 0.5) c += v;")),
    "a test before two rounds": (
        ("q", "bool t = nothing > 0.5; c = vec4(0.0); for (int i = 0; i < 2; i++) if (t) c += v;"),
        ("q", "c = vec4(0.0); for (int i = 0; i < 2; i++) if (nothing > 0.5) c += v;")),
    "a test outside of an inner loop": (
        ("q", "c = vec4(0.0); for (int i = 0; i < int(level); i++) { bool t = nothing > 0.5;"
              "for (int j = 0; j < int(tint.x); j++) if (t) c += v; }"),
        ("q", "c = vec4(0.0); for (int i = 0; i < int(level); i++)"
              "for (int j = 0; j < int(tint.x); j++) if (nothing > 0.5) c += v;")),
    "a loop for another equal one": (
        ("q", "float s = 0.0, t = 0.0; bool b = false;"
              "for (int i = 0; i < int(level); i++) { s += v.x; b = s * nothing > 0.5; }"
              "c = vec4(b ? v.x : 1.0, b ? 1.0 : v.y, 0, 0);"),
        ("q", "float s = 0.0, t = 0.0; bool b = false, d = false;"
              "for (int i = 0; i < int(level); i++) { s += v.x; b = s * nothing > 0.5; }"
              "for (int i = 0; i < int(level); i++) { t += v.x; d = t * nothing > 0.5; }"
              "c = vec4(b ? v.x : 1.0, d ? 1.0 : v.y, 0, 0);")),
    "rounds of the other loop": (
        ("q", "c = vec4(0.0); for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)"
              "{ bool t = nothing > 0.5; if (i == 0 && t) c += v; if (j == 0 && t) c -= tint; }"),
        ("q", "c = vec4(0.0); for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)"
              "{ bool t = nothing > 0.5; if (j == 0 && t) c += v; if (i == 0 && t) c -= tint; }")),
    "one choice of two lanes": (
        ("q", "bool t = nothing > 0.5; vec2 m = mix(v.xx, v.yy, bvec2(t)); c = vec4(m.x - m.y);"),
        ("q", "vec2 m = mix(v.xx, v.yy, greaterThan(vec2(nothing), vec2(0.5)));"
              "c = vec4(m.x - m.y);")),
    "another test": (
        ("q", "c = vec4(0.0); if (nothing > 0.5) c += v; if (nothing > 0.5) c -= v.yxzw;"),
        ("q", "c = vec4(0.0); if (nothing > 0.5) c += v; if (nothing > tint.x) c -= v.yxzw;")),
    "other cases of a switch": (
        ("q", "switch (int(nothing)) { case 1: c = v; break; default: c = vec4(1.0); }"),
        ("q", "switch (int(nothing)) { case 1: c = vec4(1.0); break; default: c = v; }")),
}  # fmt: skip
WRONG = {
    "another factor": (("q", "c = texture(map, v.xy * 3.0);"),
                       ("q * 3.0", "c = texture(map, v.xy);")),
    "another power of two": (("q", "c = texture(map, v.xy * 4.0);"),
                             ("q * 2.0", "c = texture(map, v.xy);")),
    "a power of two that may overflow": (("q", "c = floor(v * 1e30 * 8192.0);"),
                                         ("q * 8192.0", "c = floor(v * 1e30);")),
    "a sign that is lost": (("q", "c = floor(-(v * 0.25));"), ("q * 0.25", "c = floor(v);")),
    "words of a double turned round": (
        ("q", "uvec2 a = uvec2(v.xy); c = vec4(unpackDouble2x32(packDouble2x32(a)), v.xy);"),
        ("q", "uvec2 a = uvec2(v.yx); c = vec4(a, v.xy);")),
    "words of a long number turned round": (
        ("q", "c = vec4(unpackUint2x32(uint64_t(uint(v.x)) << 32 | uint64_t(uint(v.y))), v.xy);"),
        ("q", "c = vec4(uint(v.x), uint(v.y), v.xy);")),
    "words of a constant turned round": (
        ("q", "double a = 1.0lf; c = vec4(unpackDouble2x32(a), v.xy);"),
        ("q", "c = vec4(uvec2(0x3FF00000u, 0u), v.xy);")),
    "constants clamped between none": (("q", "int n = 5; c = vec4(clamp(n, 3, 0), v.xyz);"),
                                       ("q", "c = vec4(0.0, v.xyz);")),
    "one complement": (
        ("q", "uint a = uint(level), b = uint(v.x); c = vec4(~a ^ b, 0, 0, 0);"),
        ("q", "uint a = uint(level), b = uint(v.x); c = vec4(a ^ b, 0, 0, 0);")),
    "two of three complements": (
        ("q", "uint a = uint(level), b = uint(v.x); c = vec4(~a ^ ~b ^ ~uint(v.y), 0, 0, 0);"),
        ("q", "uint a = uint(level), b = uint(v.x); c = vec4(a ^ b ^ uint(v.y), 0, 0, 0);")),
    "an element that is another value": (
        ("q", "float a[2] = float[](v.y, tint.x > 0.5 ? v.x : nothing); c = vec4(a[int(level)]);"),
        ("q", "c = vec4(v.x);")),
    "another sum of a choice": (
        ("q", "int n = int(level); c = vec4(3 * (v.x > 0.5 ? 5 * n : n) + 1);"),
        ("q", "int n = int(level); c = vec4(v.x > 0.5 ? 15 * n + 1 : 3 * n + 2);")),
    "what each round makes of the sum before": (
        ("q", "float s = 0.0; int i = 0, n; do { n = int(s) & 3; s += v.x; }"
              "while (++i < int(level)); c = vec4(n);"),
        ("q", "float s = 0.0; int i = 0; do s += v.x; while (++i < int(level));"
              "c = vec4(int(s) & 3);")),
    "bits that are not all set": (("q", "c = vec4(uint(level) & 12u | 6u);"),
                                  ("q", "uint n = 6u; c = vec4(n);")),
    "turned round once": (("q", "c = vec4(bitfieldReverse(uint(level)));"),
                          ("q", "c = vec4(uint(level));")),
    "the rest of a division by two": (("q", "int two = 2; c = v + float(int(level) % two);"),
                                      ("q", "c = v + 0.0;")),
    "constants clamped as others": (("q", "int n = -1; c = vec4(clamp(n, 0, 3), v.xyz);"),
                                    ("q", "c = vec4(3.0, v.xyz);")),
    "a fused product of doubles that rounds": (
        ("q", "double x = 1.0000000000000002lf, y = -1.0000000000000004lf;"
              "c = step(v, vec4(float(fma(x, x, y))));"),
        ("q", "c = step(v, vec4(0.0));")),
    "a fused product that rounds": (
        ("q", "float x = 1.0000001, y = -1.0000002; c = step(v, vec4(fma(x, x, y)));"),
        ("q", "c = step(v, vec4(1.42108547e-14));")),
    "a quotient of a denormal number": (
        ("q", "float a = 1e-40, b = 1e-10; c = step(v, vec4(a / b));"),
        ("q", "c = step(v, vec4(9.99994643e-31));")),
    "a quotient that is a denormal number": (
        ("q", "float a = 1e-30, b = 1e10; c = step(v, vec4(a / b));"),
        ("q", "c = step(v, vec4(1e-40));")),
    "factors of other products": (("q", "c = vec4(dot(v.xy, tint.xy));"),
                                  ("q", "c = vec4(dot(vec2(v.x, tint.x), vec2(v.y, tint.y)));")),
    "one term of a sum": (("q", "c = vec4(v.x, v.y + v.z, 0, 0);"),
                          ("q", "c = vec4(v.x, v.x + v.y, 0, 0);")),
    "zero times an infinity": (
        ("vec4(q.xy, 0.0, 1.0)", "c = texture(map, vec2(v.z * uintBitsToFloat(0x7f800000u)));"),
        ("q", "c = texture(map, vec2(0.0));")),
    "another bit": (("q", "c = vec4(float(uint(level) & 4u));"),
                    ("q", "c = vec4((uint(level) & 2u) != 0u ? 4.0 : 0.0);")),
    "one of two bits": (("q", "c = vec4(float(uint(level) & 6u));"),
                        ("q", "c = vec4((uint(level) & 6u) != 0u ? 6.0 : 0.0);")),
    "a number below zero": (("q", "int n = int(level); c = vec4(max(n, 0));"),
                            ("q", "int n = int(level); c = vec4(n);")),
    "the fraction of a negative zero": (
        ("q", "float x = NEGATIVE; c = 1.0 / vec4(fract(x));"),
        ("q", "float x = NEGATIVE; c = 1.0 / vec4(x);")),
    "a fraction that rounds": (("q", "float x = -1e-9; c = step(v, vec4(fract(x)));"),
                               ("q", "c = step(v, vec4(1.0));")),
    "another ray": (("q", "c = vec4(hit(v.z, 255u));"), ("q", "c = vec4(hit(v.w, 255u));")),
    "another mask of a ray": (("q", "c = vec4(hit(v.z, 255u));"), ("q", "c = vec4(hit(v.z, 1u));")),
    "fewer steps of a ray query": (("q", "c = vec4(hit(v.z, 255u));"),
                                   ("q", "c = vec4(one_step(v.z));")),
    "another buffer by address": (("q", "c = vec4(first.n[2]);"), ("q", "c = vec4(second.n[2]);")),
    "another element by address": (("q", "c = vec4(first.n[2]);"), ("q", "c = vec4(first.n[3]);")),
    "an address that may be the same": (
        ("q", "first.n[0] = v.x; second.n[0] = v.y; c = vec4(first.n[0]);"),
        ("q", "first.n[0] = v.x; second.n[0] = v.y; c = vec4(v.x);")),
    "a read that is moved before a store by address": (
        ("q", "first.n[0] = v.x; c = vec4(third.n[0]);"),
        ("q", "float x = third.n[0]; first.n[0] = v.x; c = vec4(x);")),
    "stores by address in another order": (
        ("q", "first.n[0] = v.x; second.n[0] = v.y; c = v;"),
        ("q", "second.n[0] = v.y; first.n[0] = v.x; c = v;")),
    "two conditions for an undefined one": (
        ("q", "float other; if (nothing < other) c = v; else c = tint;"),
        ("q", "if (v.x < 1.0) { if (v.y < 2.0) c = v; else c = vec4(9.0); } else c = tint;")),
    "two undefined conditions for one": (
        ("q", "float other; if (nothing < other) c = v; else c = tint;"),
        ("q", "if (nothing < 1.0) { if (nothing < 2.0) c = v; else c = vec4(9.0); }"
              "else c = tint;")),
    "two sums for an undefined one": (
        ("q", "c.x = nothing + v.x < 1.0 ? v.x : v.y;"),
        ("q", "if (v.z + v.x < 1.0) { if (v.w + v.x < 1.0) c.x = v.x; else c.x = 9.0; }"
              "else c.x = v.y;")),
    "an undefined condition, and another one for it": (
        ("q", "float other; c = vec4(v.x < 1.0 ? 2.0 : 3.0); c.x = v.y;"
              "if (!(nothing < other)) c.x = tint.x;"),
        ("q", "float other; c = vec4(v.x < 1.0 ? 2.0 : 3.0);"
              "if (v.x < 1.0) { if (nothing < other) c.x = v.y; else c.x = 9.0; }"
              "else c.x = tint.x;")),
    "two conditions on numbers for an undefined one": (
        ("q", "int n = int(level), o; c.x = (n ^ o) < 1 ? v.x : v.y;"),
        ("q", "int n = int(level); if ((n ^ int(v.z)) < 1) {"
              "if ((n ^ int(v.w)) < 1) c.x = v.x; else c.x = 9.0; } else c.x = v.y;")),
    "a condition on a number that both have": (
        ("q", "int n = int(level), o; c.x = (n ^ o) < 1 ? v.x : float(n ^ int(v.z));"),
        ("q", "int n = int(level); if ((n ^ int(v.z)) < 1) {"
              "if ((n ^ int(v.w)) < 1) c.x = v.x; else c.x = 9.0; }"
              "else c.x = float(n ^ int(v.z));")),
    "an undefined value that decides": (("q", "c = v;"), ("q", "c = nothing > 0.5 ? v : tint;")),
    "two choices by an undefined value": (
        ("q", "c = vec4(0.0);"),
        ("q", "c = vec4(0.0); if (nothing > 0.5) c += v; if (nothing > 0.5) c -= v;")),
    "a choice by an undefined value in a loop": (
        ("q", "c = vec4(0.0); if (nothing > 0.5) c = v * 2.0;"),
        ("q", "c = vec4(0.0); for (int i = 0; i < 2; i++) if (nothing > 0.5) c += v;")),
    "lanes of an undefined value": (
        ("q", "c = vec4(0.0);"),
        ("q", "vec2 m = mix(v.xx, v.yy, greaterThan(vec2(nothing), vec2(0.5)));"
              "c = vec4(m.x - m.y);")),
    "a constant that a device computes": (
        ("q", "c = step(v, vec4(0.2));"),
        ("q", "float five = 5.0; c = step(v, vec4(1.0 / five));")),
    "another dot product of constants": (
        ("q", "vec2 a = vec2(3.0, 2.0); c = step(v, vec4(dot(a, a)));"),
        ("q", "c = step(v, vec4(12.0));")),
    "another quotient of constants": (("q", "float five = 5.0; c = step(v, vec4(1.0 / five));"),
                                      ("q", "c = step(v, vec4(0.20001));")),
    "a whole number for a fraction": (("q", "float w; c = vec4(modf(v.x, w));"),
                                      ("q", "float w; modf(v.x, w); c = vec4(w);")),
    "a zero of some vertices": (
        ("q.x > 0.0 ? vec4(q.xy, 0.0, 1.0) : q", "c = texture(map, v.xy + v.z * tint.xy);"),
        ("q", "c = texture(map, v.xy);")),
    "a small number of all vertices": (
        ("vec4(q.xy, 1e-30, 1.0)", "c = texture(map, v.xy + v.z * tint.xy);"),
        ("q", "c = texture(map, v.xy);")),
    "zero times what may be infinite": (
        ("vec4(q.xy, 0.0, 1.0)", "c = texture(map, vec2(v.y / v.x * v.z));"),
        ("q", "c = texture(map, vec2(0.0));")),
}  # fmt: skip


def compiled(texts: tuple[str, str]) -> list[Source]:
    written, read = [t.replace("NEGATIVE", "uintBitsToFloat(0x80000000u)") for t in texts]
    return [
        Source(compile_glsl(VERTEX.replace("WRITTEN", written), "vert", TARGET)),
        Source(compile_glsl(FRAGMENT.replace("READ", read), "frag", TARGET)),
    ]


def is_proved(before: list[Source], after: list[Source], exact: bool) -> bool:
    return prove(before, after, Options(exact=exact), 20.0).outcome == EQUAL


@pytest.mark.parametrize("name", RIGHT)
def test_what_keeps_the_values_is_proved(name: str) -> None:
    before, after = [compiled(texts) for texts in RIGHT[name]]
    assert [s.data for s in before] != [s.data for s in after]
    assert is_proved(before, after, True)
    assert is_proved(before, after, False)


@pytest.mark.parametrize("name", CHOSEN)
def test_choices_by_undefined_values_are_told(name: str) -> None:
    before, after = [compiled(texts) for texts in CHOSEN[name]]
    for exact in (False, True):
        verdict = prove(before, after, Options(exact=exact), 20.0)
        assert verdict.outcome == EQUAL
        assert verdict.axioms.get(UNDEFINED)
    assert not prove(before, before, Options(), 20.0).axioms


@pytest.mark.parametrize("name", NOT_CHOSEN)
def test_more_choices_by_undefined_values_are_not_proved(name: str) -> None:
    before, after = [compiled(texts) for texts in NOT_CHOSEN[name]]
    assert not is_proved(before, after, True)
    assert not is_proved(before, after, False)


@pytest.mark.parametrize("name", ROUNDED)
def test_what_keeps_numbers_is_proved_by_default_alone(name: str) -> None:
    before, after = [compiled(texts) for texts in ROUNDED[name]]
    assert is_proved(before, after, False)
    assert not is_proved(before, after, True)


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_not_proved(name: str) -> None:
    before, after = [compiled(texts) for texts in WRONG[name]]
    assert is_proved(before, before, True)
    assert not is_proved(before, after, True)
    assert not is_proved(before, after, False)
