"""Pairs that a linker easily miscompiles: what is declared, written and read at the border."""

from __future__ import annotations

from tests.support.hazards import FLAT_IN, FLAT_OUT, IN, OUT, Case

CASES = [
    Case(
        "partial writes",
        OUT
        + FLAT_OUT
        + """
layout(location = 2) out mat3 m; layout(location = 6) out vec4 arr[2];
""",
        """
o.xy = a.zw; if (k.x > 1) o.z = b.x; else o.zw = b.yx; o.w = o.x + 1.0;
if (k.x <= 1) o.z = o.y; m[0] = a.xyz; m[1].z = b.x; m[1].xy = b.yz; m[2] = vec3(0.0);
m[2][1] = 4.0; arr[0] = a; arr[1].yzw = b.xyz; arr[1].x = 0.5; arr[0].y *= 3.0; q = k;
q.y = q.x; unread = o;
""",
        IN + FLAT_IN + "layout(location = 2) in mat3 m; layout(location = 6) in vec4 arr[2];",
        """
color = vec4(m * o.xyz, arr[1].x + arr[0].y) + vec4(q) * 0.1 + arr[1].wzyx * m[1].xyzz;
""",
    ),
    Case(
        "outputs written on some paths",
        OUT + FLAT_OUT + "layout(location = 2) out vec2 w;",
        """
q = k; o = vec4(0.0); w = vec2(1.0); unread = a; if (k.x == 0) { o = a; return; } w = b.xy;
for (int i = 0; i < 4; ++i) { o[i] = a[i] * float(i); if (i == k.y) { w.x = 3.0; return; }
o.x += 1.0; } o.y = 5.0;
""",
        IN + FLAT_IN + "layout(location = 2) in vec2 w;",
        "color = o + vec4(w, float(q.x), 1.0);",
    ),
    Case(
        "dynamic indices",
        OUT
        + FLAT_OUT
        + """
layout(location = 2) out vec4 arr[3]; layout(location = 6) out mat2x3 m;
""",
        """
o = a; o[k.x & 3] = 7.0; unread = b; q = k;
for (int i = 0; i < 3; ++i) arr[i] = a * float(i); arr[k.y % 3][k.x & 3] += 2.0;
m = mat2x3(a.xyz, b.xyz); m[k.x & 1][k.y % 3] = -1.0;
""",
        IN
        + FLAT_IN
        + """
layout(location = 2) in vec4 arr[3]; layout(location = 6) in mat2x3 m;
""",
        "color = vec4(o[q.x & 3], arr[q.y % 3][q.z & 3], m[q.x & 1][q.y % 3], 1.0);",
    ),
    Case(
        "dynamic index on one side",
        OUT
        + FLAT_OUT
        + """
layout(location = 2) out vec2 arr[3]; layout(location = 6) out vec3 brr[2];
layout(location=9) out float unused[4];
""",
        """
o = a; unread = b; q = k; arr[0] = a.xy; arr[1] = b.xy; arr[2] = vec2(1.0, a.z);
for (int i = 0; i < 2; ++i) brr[(i + k.x) & 1] = a.xyz + float(i);
for (int i = 0; i < 4; ++i) unused[(i + k.x) & 3] = a.x;
""",
        IN
        + FLAT_IN
        + """
layout(location = 2) in vec2 arr[3]; layout(location = 6) in vec3 brr[2];
""",
        "color = vec4(arr[q.y % 3], brr[0].x, brr[1].z) + o;",
    ),
    Case(
        "block with a dynamic member",
        """
layout(location = 0) out Block { vec4 dead0; float arr[3]; vec2 live;
layout(location = 7) vec3 dead1; vec3 far; flat int n; } blk;
""",
        """
blk.dead0 = a; for (int i = 0; i < 3; ++i) blk.arr[i] = b[i]; blk.live = a.zw;
blk.dead1 = b.xyz; blk.far = a.xyz; blk.n = k.x; blk.arr[k.x % 3] += 1.0;
""",
        """
layout(location = 0) in Block { vec4 dead0; float arr[3]; vec2 live;
layout(location = 7) vec3 dead1; vec3 far; flat int n; } blk;
""",
        "color = vec4(blk.arr[blk.n % 3], blk.live, blk.far.y);",
    ),
    Case(
        "arrays of blocks and structs",
        """
struct In { vec2 p; float w[2]; mat2 m; } ; layout(location = 0) out Blk { vec3 c; vec2 n; }
blk[2]; layout(location = 6) out In st; layout(location = 12) out In sa[2];
""",
        """
blk[0].c = a.xyz; blk[1].c = b.xyz; blk[0].n = b.xy; blk[1].n = b.zw; st.p = a.xy;
st.w[0] = b.x; st.w[1] = a.w; st.m = mat2(a); sa[0] = st; sa[1] = st;
sa[k.x & 1].w[k.y & 1] = 8.0; sa[1].p.y = 3.0;
""",
        """
struct In { vec2 p; float w[2]; mat2 m; } ; layout(location = 0) in Blk { vec3 c; vec2 n; }
blk[2]; layout(location = 6) in In st; layout(location = 12) in In sa[2];
""",
        """
In x = sa[1]; In y = st;
color = vec4(blk[1].c.x, st.w[1], sa[0].w[1] + x.p.y, y.m[1][0]) + vec4(blk[0].n,
blk[1].n.y, 0) * 0.1;
""",
    ),
    Case(
        "matrices",
        """
layout(location = 0) out mat3 m; layout(location = 3) out mat2x3 n;
layout(location = 5) out mat4 u; layout(location = 9) out mat4x2 w[2];
""",
        """
m = mat3(a.xyz, b.xyz, a.zyx); n = mat2x3(b.xyz, a.yzw); u = mat4(1.0); u[2] = b;
u[k.x & 3] += a; w[0] = mat4x2(a, b); w[1] = w[0] * 2.0; w[1][3].y = 1.0;
""",
        """
layout(location = 0) in mat3 m; layout(location = 3) in mat2x3 n;
layout(location = 5) in mat4 u; layout(location = 9) in mat4x2 w[2];
""",
        "color = vec4(m[1] * m, n[1].z) + u[2] + vec4(w[1][3], w[0] * m[0].xyzz);",
    ),
    Case(
        "read back",
        OUT + FLAT_OUT,
        """
o = a; o.x += o.y; vec4 t = o; o = t * 2.0; unread = o; q = k; for (int i = 0; i < 3; ++i) {
o.z += o.x * 0.1; if (o.z > 1.0) break; } o.w = unread.x + float(q.z);
""",
        IN + FLAT_IN,
        "color = o + vec4(q.x);",
    ),
    Case(
        "interpolateAt",
        OUT
        + """
layout(location = 1) centroid out vec3 c; layout(location = 2) out vec2 arr[2];
layout(location = 4) out S { vec3 v; noperspective float n; } s;
layout(location = 7, component = 1) sample out vec2 z;
""",
        """
o = a; unread = b; c = a.xyz; arr[0] = a.xy; arr[1] = b.zw; s.v = b.xyz; s.n = a.w;
z = b.xy; gl_Position.w = 1.0 + 0.3 * a.x;
""",
        IN
        + """
layout(location = 1) centroid in vec3 c; layout(location = 2) in vec2 arr[2];
layout(location = 4) in S { vec3 v; noperspective float n; } s;
layout(location = 7, component = 1) sample in vec2 z;
""",
        """
color = interpolateAtCentroid(o) + vec4(interpolateAtOffset(c, vec2(0.25, -0.25)).z,
interpolateAtSample(arr[1].y, gl_SampleID & 1), interpolateAtCentroid(s.v).y,
interpolateAtOffset(s.n, vec2(o.x * 0.1))) + vec4(c.x, o.y, z.y,
interpolateAtCentroid(arr[0]).x + arr[0].x);
""",
        samples=4,
    ),
    Case(
        "qualifier mixes",
        """
layout(location = 0, component = 0) out vec2 s0;
layout(location = 0, component = 2) out float s1;
layout(location = 1, component = 0) noperspective out vec2 n0;
layout(location = 1, component = 3) noperspective out float n1;
layout(location = 2, component = 1) flat out vec3 f;
layout(location = 3, component = 0) centroid out float c0;
layout(location = 3, component = 2) centroid out vec2 c1;
layout(location = 4) noperspective centroid out vec3 nc;
layout(location = 5) flat out uvec2 u; layout(location = 6, component = 2) flat out int i;
layout(location = 9) out float g;
""",
        """
s0 = a.xy; s1 = b.x; n0 = b.yz; n1 = a.z; f = vec3(float(k.x), a.xy); c0 = b.w; c1 = a.zw;
nc = b.zyx; u = uvec2(k.xy) * 77u; i = -k.z; g = a.y; gl_Position.w = 1.0 + 0.4 * b.x;
""",
        """
layout(location = 0, component = 0) in vec2 s0;
layout(location = 0, component = 2) in float s1;
layout(location = 1, component = 0) noperspective in vec2 n0;
layout(location = 1, component = 3) noperspective in float n1;
layout(location = 2, component = 1) flat in vec3 f;
layout(location = 3, component = 0) centroid in float c0;
layout(location = 3, component = 2) centroid in vec2 c1;
layout(location = 4) noperspective centroid in vec3 nc;
layout(location = 5) flat in uvec2 u; layout(location = 6, component = 2) flat in int i;
layout(location = 9) in float g;
""",
        """
color = vec4(s0.x + s1, n0.y + n1, f.x + f.z, c0 + c1.y) + vec4(nc.zx, float(u.y), float(i))
+ g;
""",
        samples=4,
    ),
    Case(
        "doubles",
        """
layout(location = 0) flat out dvec2 d2; layout(location = 1) flat out dvec3 d3;
layout(location = 3) flat out double d1; layout(location = 4) flat out dvec4 d4[2];
layout(location = 8) out vec2 f; layout(location = 9, component = 2) flat out double e;
""",
        """
d2 = dvec2(a.xy); d3 = dvec3(b.xyz) * 1.1lf; d1 = double(a.z) / 3.0lf; d4[0] = dvec4(a);
d4[1] = dvec4(b); d4[1].z = 2.5lf; f = a.xy; e = double(b.w);
""",
        """
layout(location = 0) flat in dvec2 d2; layout(location = 1) flat in dvec3 d3;
layout(location = 3) flat in double d1; layout(location = 4) flat in dvec4 d4[2];
layout(location = 8) in vec2 f; layout(location = 9, component = 2) flat in double e;
""",
        """
color = vec4(float(d2.y + d3.z), float(d1 * 3.0lf), float(d4[1].w + d4[0].x), f.x +
float(e));
""",
    ),
    Case(
        "flat packing of mixed types",
        """
layout(location = 0) flat out float f; layout(location = 1) flat out int i;
layout(location = 2) flat out uint u; layout(location = 3) flat out vec2 g;
layout(location = 4) flat out ivec3 h; layout(location = 6) flat out uvec2 v;
""",
        """
f = uintBitsToFloat(0x7fa00000u + uint(k.x)); i = -k.y; u = 0xffffff00u + uint(k.z);
g = a.xy; h = -k.xyz; v = uvec2(k.zw);
""",
        """
layout(location = 0) flat in float f; layout(location = 1) flat in int i;
layout(location = 2) flat in uint u; layout(location = 3) flat in vec2 g;
layout(location = 4) flat in ivec3 h; layout(location = 6) flat in uvec2 v;
""",
        """
color = vec4(float(floatBitsToUint(f) & 255u), float(i), float(u & 255u),
interpolateAtCentroid(g.y)) + vec4(h, float(v.y)) + interpolateAtCentroid(g).x;
""",
    ),
    Case(
        "16 bit",
        """
layout(location = 0) out f16vec3 h; layout(location = 1) flat out i16vec2 s;
layout(location = 2, component = 1) flat out uint16_t u; layout(location = 3) out float f;
layout(location = 4) out float16_t one;
""",
        """
h = f16vec3(a.xyz); s = i16vec2(-k.xy); u = uint16_t(k.z); f = b.x; one = float16_t(b.y);
""",
        """
layout(location = 0) in f16vec3 h; layout(location = 1) flat in i16vec2 s;
layout(location = 2, component = 1) flat in uint16_t u; layout(location = 3) in float f;
layout(location = 4) in float16_t one;
""",
        "color = vec4(float(h.z) + float(one), float(s.y), float(u), f);",
        extensions=(
            "GL_EXT_shader_explicit_arithmetic_types",
            "GL_EXT_shader_16bit_storage",
        ),
    ),
    Case(
        "dead sample input keeps the rate",
        OUT + "layout(location = 1) sample out vec4 s;",
        "o = a; unread = b; s = b;",
        IN
        + """
layout(location = 1) sample in vec4 s; layout(binding = 0) buffer B { uint n; } ;
""",
        "atomicAdd(n, 1u); vec4 unused = s; color = o; if (o.x < -9.0) color += s * 0.0;",
        samples=4,
    ),
    Case(
        "only the dead part used the sample rate",
        OUT + "layout(location = 1) sample out vec4 s;",
        "o = a; unread = b; s = b;",
        IN
        + """
layout(location = 1) sample in vec4 s; layout(binding = 0) buffer B { uint n; } ;
""",
        "atomicAdd(n, 1u); vec4 t = s; float d = t.x * 2.0; color = o;",
        samples=4,
    ),
    Case(
        "sample position read in vain",
        OUT,
        "o = a; unread = b;",
        IN + "layout(binding = 0) buffer B { uint n; } ;",
        "atomicAdd(n, 1u); vec2 t = gl_SamplePosition * 2.0; color = o;",
        samples=4,
    ),
    Case(
        # Of Layer and ViewportIndex that nobody writes lavapipe (Mesa 25) reads another input.
        "primitive and facing",
        OUT,
        "o = a; unread = b;",
        IN,
        """
color = o + vec4(0.0, 0.0, float(gl_PrimitiveID & 3), gl_FrontFacing ? 1.0 : 0.0)
+ gl_FragCoord * 0.01;
""",
    ),
    Case(
        "clip distance",
        OUT
        + """
out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[2]; } ;
""",
        """
o = a; unread = b; gl_ClipDistance[0] = position.x + 0.4; gl_ClipDistance[1] = 1.0;
gl_PointSize = 1.0;
""",
        IN,
        "color = o;",
    ),
    Case(
        "specialization constants stay",
        """
layout(constant_id = 3) const bool S = true; layout(constant_id = 4) const int N = 2;
layout(location = 0) out vec4 o; layout(location = 15) out vec4 unread;
layout(location = 1) flat out ivec4 q;
""",
        """
o = S ? a : b; unread = b; q = k * N; if (S) q.x = 5; float arr[N];
for (int i = 0; i < N; ++i) arr[i] = a[i]; o.x = arr[N - 1];
""",
        """
layout(constant_id = 3) const float W = 0.5; layout(constant_id = 7) const bool S = false;
layout(location = 0) in vec4 o; layout(location = 1) flat in ivec4 q;
""",
        """
color = o * W + vec4(q) * (W * 2.0); if (S) discard; int n = S ? 1 : 2;
for (int i = 0; i < n; ++i) color.x += 1.0;
""",
    ),
    Case(
        "relaxed precision",
        """
layout(location = 0) out mediump vec4 o; layout(location = 1) out vec2 h;
layout(location = 2) out mediump vec2 l; layout(location = 3) out vec4 unread;
""",
        "o = a; h = b.xy; l = b.zw; unread = a;",
        """
layout(location = 0) in mediump vec4 o; layout(location = 1) in vec2 h;
layout(location = 2) in mediump vec2 l;
""",
        "color = vec4(o.xy + h, l) + o;",
    ),
    Case(
        "input mismatch in declarations",
        OUT
        + FLAT_OUT
        + """
layout(location = 2) out vec4 big; layout(location = 3) out vec3 gap;
""",
        "o = a; unread = b; q = k; big = b; gap = a.zyx;",
        IN
        + """
layout(location = 3) in vec3 gap; layout(location = 2) in vec4 big;
layout(location = 1) flat in ivec4 q;
""",
        "color = vec4(o.w, big.z, gap.y, float(q.w));",
    ),
    Case(
        "arrays of arrays",
        """
layout(location = 0) out vec2 g[2][3]; layout(location = 6) out float h[3][2];
layout(location = 12) flat out ivec2 q; layout(location = 13) out vec4 dead[2];
""",
        """
for (int i = 0; i < 2; ++i) for (int j = 0; j < 3; ++j) { g[i][j] = a.xy * float(i + j);
h[j][i] = b[j] + float(i); } g[k.x & 1][1].y = 4.0; q = k.xy; dead[k.x & 1] = a;
dead[1] = b;
""",
        """
layout(location = 0) in vec2 g[2][3]; layout(location = 6) in float h[3][2];
layout(location = 12) flat in ivec2 q;
""",
        "color = vec4(g[1][q.x % 3], h[2][1], h[q.y % 3][0]);",
    ),
    Case(
        "locations with gaps",
        """
layout(location = 3, component = 1) out vec2 x;
layout(location = 3, component = 3) out float w; layout(location = 7) flat out int n;
layout(location = 10, component = 3) out float z; layout(location = 12) out vec3 y;
layout(location = 14, component = 1) out vec3 t[2];
""",
        "x = a.xy; w = b.x; n = k.x; z = a.z; y = b.yzw; t[0] = a.xyz; t[1] = b.xyz;",
        """
layout(location = 3, component = 1) in vec2 x;
layout(location = 3, component = 3) in float w; layout(location = 7) flat in int n;
layout(location = 10, component = 3) in float z; layout(location = 12) in vec3 y;
layout(location = 14, component = 1) in vec3 t[2];
""",
        "color = vec4(x.y + w, float(n) + z, y.xz) + vec4(t[1], t[0].z);",
    ),
    Case(
        "captured by transform feedback",
        """
layout(xfb_buffer = 0, xfb_stride = 48) out;
layout(location = 0, xfb_offset = 0) out vec4 o;
layout(location = 4, xfb_offset = 16) out vec3 cap;
layout(location = 6, xfb_offset = 28) out float arr[3]; layout(location = 10) out vec4 free;
layout(location = 11) out vec4 unread;
""",
        """
o = a; cap = b.xyz; for (int i = 0; i < 3; ++i) arr[i] = a[i]; free = b; unread = a;
""",
        IN + "layout(location = 6) in float arr[3]; layout(location = 10) in vec4 free;",
        "color = o + vec4(arr[1], free.zw, 1.0);",
    ),
    Case(
        "interpolateAt of whole arrays and matrices",
        """
layout(location = 0) out vec2 arr[2]; layout(location = 3) out mat2 m;
layout(location = 6) out vec4 dead; layout(location = 7) flat out float fl;
layout(location = 8) flat out ivec3 n; layout(location = 9) flat out uvec2 u;
layout(location = 12) flat out vec2 fm;
""",
        """
arr[0] = a.xy; arr[1] = b.xy; m = mat2(b); dead = a; fl = a.x; n = k.xyz; u = uvec2(k.zw);
fm = b.zw; gl_Position.w = 1.0 + 0.2 * a.y;
""",
        """
layout(location = 0) in vec2 arr[2]; layout(location = 3) in mat2 m;
layout(location = 7) flat in float fl; layout(location = 8) flat in ivec3 n;
layout(location = 9) flat in uvec2 u; layout(location = 12) flat in vec2 fm;
""",
        """
vec2 s = vec2(0.0); for (int i = 0; i < 2; ++i) s += interpolateAtOffset(arr[i], vec2(0.3));
color = vec4(s + arr[0] * arr[1], interpolateAtCentroid(arr[1]) +
interpolateAtSample(arr[0], 1)) + vec4(m[0] * m[1], interpolateAtCentroid(m[1])) +
vec4(interpolateAtCentroid(fl), interpolateAtOffset(fm.y, vec2(0.1)), fm.x, n.z) +
vec4(n.xy, u);
""",
        samples=4,
    ),
    Case(
        "centroid and plain of one slot",
        """
layout(location = 0) out vec4 o; layout(location = 1) centroid out vec4 c;
layout(location = 2) noperspective sample out vec3 ns;
layout(location = 3) noperspective out vec3 n; layout(location = 4) sample out vec2 s;
""",
        "o = a; c = a; ns = b.xyz; n = b.xyz; s = a.xy; gl_Position.w = 1.0 + 0.4 * b.y;",
        IN
        + """
layout(location = 1) centroid in vec4 c;
layout(location = 2) noperspective sample in vec3 ns;
layout(location = 3) noperspective in vec3 n; layout(location = 4) sample in vec2 s;
""",
        "color = vec4(o.x, c.x, ns.y, n.y) + vec4(s, c.w, n.z);",
        samples=4,
    ),
    Case(
        "same binding, other set",
        OUT
        + """
layout(set = 0, binding = 0) uniform A { vec4 c; mat4 m; } ub;
layout(push_constant) uniform PC { vec4 p; } pc;
""",
        "o = a; unread = b; o = ub.m * a + ub.c + pc.p;",
        IN
        + """
layout(set = 1, binding = 0) uniform A { vec4 c[2]; } ub;
layout(set = 0, binding = 0) uniform Bk { vec4 c; } uc;
""",
        "color = o * ub.c[1] + uc.c;",
    ),
    Case(
        "row major and packed members",
        OUT
        + """
layout(set = 0, binding = 0, row_major) uniform A { mat3x4 m; mat2 n; float f[3]; } ub;
layout(std430, binding = 1) readonly buffer S { mat3 t; vec3 v; float w; mat2x3 z[2]; } sb;
""",
        """
mat3x4 m = ub.m; mat2 n = ub.n; o = m * b.xyz + vec4(n * a.xy, ub.f[k.x % 3], sb.w);
unread = vec4(sb.z[k.y & 1] * a.xy, 1.0); o.x += sb.z[1][1].y;
""",
        IN,
        "color = o;",
    ),
    Case(
        "subgroup value of the vertex stage",
        OUT + "layout(location = 1) flat out vec4 s;",
        "o = a; unread = b; s = subgroupBroadcastFirst(b);",
        IN + "layout(location = 1) flat in vec4 s;",
        "color = o + s;",
        extensions=(
            "GL_KHR_shader_subgroup_ballot",
            "GL_KHR_shader_subgroup_vote",
        ),
    ),
    Case(
        "infinite constant",
        OUT + "layout(location = 1) out vec2 z;",
        """
o = vec4(uintBitsToFloat(0x7f800000u), a.x, uintBitsToFloat(0xff800000u), a.y);
z = vec2(-0.0, 3.0); unread = a;
""",
        IN + "layout(location = 1) in vec2 z;",
        """
color = vec4(isnan(o.x) ? 1.0 : 0.0, isinf(o.z) ? 1.0 : o.y, 1.0 / z.x > 0.0 ? 1.0 : 2.0,
z.y * o.w);
""",
    ),
    Case(
        "non-linear use of a varying",
        OUT,
        "o = a; unread = b;",
        IN,
        """
float r = o.x * o.y;
color = vec4(r, o.z * o.z, abs(o.w - 0.5), max(o.x, 0.5)) + vec4(normalize(o.xyz + 0.1), o.x
> o.y ? o.z : o.w);
""",
    ),
    Case(
        "flat value with a default",
        OUT + FLAT_OUT + "layout(location = 2) flat out float w;",
        """
o = a; unread = b; q = ivec4(7); w = 1.0; if (a.x > 0.4) { q = ivec4(9, 9, 7, k.x); w = 2.0;
}
""",
        IN + FLAT_IN + "layout(location = 2) flat in float w;",
        "color = o * w + vec4(q);",
    ),
    Case(
        "resources at equal bindings of several sets",
        OUT
        + """
layout(set = 0, binding = 1) uniform U { vec4 c; } u;
layout(set = 1, binding = 1) uniform W { vec4 c; } w;
""",
        "o = a * u.c + w.c; unread = u.c;",
        IN
        + """
layout(set = 1, binding = 1) uniform U { vec4 c; } u;
layout(set = 2, binding = 1) uniform W { layout(offset = 16) vec4 c; } w;
""",
        "color = o + u.c * w.c;",
    ),
    Case(
        "captured in part",
        """
layout(xfb_buffer = 1, xfb_stride = 16) out; layout(location = 0) out vec4 o;
layout(location = 2) out Cap { layout(xfb_offset = 0) vec3 c;
layout(location = 5) float lost; } cap; layout(location = 15) out vec4 unread;
""",
        "o = a; unread = b; cap.c = b.xyz; cap.lost = 1.0;",
        IN,
        "color = o;",
    ),
    Case(
        "invariant position",
        """
invariant gl_Position; layout(binding = 0) uniform U { mat4 m; } u;
layout(location = 0) invariant out vec4 o; layout(location = 15) out vec4 unread;
""",
        """
gl_Position = u.m * vec4(position, 1.0) * 0.001 + vec4(position, 1.0); o = u.m * a;
unread = o * 2.0;
""",
        IN,
        "color = o;",
    ),
    Case(
        "depth and sample mask",
        OUT,
        "o = a; unread = b;",
        IN + "layout(depth_any) out float gl_FragDepth;",
        """
gl_FragDepth = o.x; if (o.y > 0.5) gl_FragDepth = o.z * 0.5;
gl_SampleMask[0] = o.w > 0.3 ? 5 : 15; color = o;
""",
        samples=4,
    ),
    Case(
        "modf and frexp",
        OUT + FLAT_OUT,
        """
int e; float w; o.x = modf(a.x * 9.0, w); o.y = w; o.z = frexp(b.x, e); q = k; q.x = e;
o.w = 1.0; unread = b;
""",
        IN + FLAT_IN,
        """
float w; vec2 z; color.x = modf(o.x * 5.0, w); color.y = w; color.zw = modf(o.yz * 3.3, z);
color.zw += z; color.x += float(q.x);
""",
    ),
]
