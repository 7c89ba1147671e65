"""Pairs that a linker easily miscompiles: functions, control flow, memory."""

from __future__ import annotations

from tests.support.hazards import FLAT_IN, FLAT_OUT, IN, OUT, Case

CASES = [
    Case(
        "return in nested loops of a function",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
float f(float x, int n) { float s = 0.0; for (int i = 0; i < 5; ++i) {
for (int j = 0; j < 4; ++j) { s += x * float(i - j); if (s > 1.5) return s * 2.0;
if (j == n) break; } if (i == n + 1) return -s; } return s + 0.25; }
""",
        "color = vec4(f(o.x, q.x), f(o.y, q.y), f(o.z + 0.5, q.z), 1.0);",
    ),
    Case(
        "return in a switch in a loop",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
float f(float x, int n) { float s = x; for (int i = 0; i < 6; ++i) { switch ((n + i) & 3) {
case 0: s += 1.0; break; case 1: if (s > 2.0) return s; s *= 1.5; case 2: s -= 0.125;
continue; default: if (i == 4) return s - 7.0; } s += 0.5; } return s; }
""",
        "color = vec4(f(o.x, q.x), f(o.y, q.y), f(o.z, q.x ^ q.z), 1.0);",
    ),
    Case(
        "return in a switch",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
vec2 f(float x, int n) { switch (n & 3) { case 0: return vec2(x); case 1:
if (x > 0.5) return vec2(x, 2.0); break; case 2: x += 1.0; default: x *= 2.0; }
return vec2(0.5, x); }
""",
        "color = vec4(f(o.x, q.x), f(o.y, q.y + 1));",
    ),
    Case(
        "a texture meets its sampler before a call with branches",  # these stay in one block
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(set = 0, binding = 1) uniform texture2D t;
layout(set = 0, binding = 2) uniform sampler s;
vec2 f(vec2 x, int n) { if (x.x > 0.5) return x.yx; for (int i = 0; i < 4; ++i) {
if (i == n) return x * 0.5; x += 0.125; } return x; }
vec2 g(vec2 x) { vec2 u = x; if (x.y > 0.25) u = x * 0.75; return u + 0.0625; }
""",
        """
color = texture(sampler2D(t, s), f(o.xy, q.x)) + textureLod(sampler2D(t, s), g(f(o.zw, q.y)), 0.0);
color *= textureLod(sampler2D(t, s), g(o.xz), 0.0) + 0.5;
""",
    ),
    Case(
        "every path returns",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
float f(float x, int n) { if (n > 1) { if (x > 0.5) return 1.0; else return x; } else {
switch (n) { case 0: return x * 3.0; default: return 9.0; } } } float g(float x, int n) {
for (;;) { if (x > 4.0) return x; x += 0.7; if (n < 0) { x *= 2.0; continue; } } }
""",
        "color = vec4(f(o.x, q.x), f(o.y, q.y & 1), g(o.z, q.x), g(o.w, -1));",
    ),
    Case(
        "call in a loop condition and step",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
float acc = 0.0; bool more(int i, float x) { acc += x; if (i > 7) return false;
return acc < 3.0; } int step1(int i) { acc += 0.125; return i + 1; } int step2(int i) {
if (acc > 1.0) return i + 2; acc += 0.5; return i + 1; } int step3(int i) {
for (int j = 0; j < 3; ++j) { if (acc > float(j)) return i + j + 1; } return i + 1; }
""",
        """
int n = 0; for (int i = 0; more(i, o.x); i = step1(i)) n += i; acc = 0.0;
for (int i = 0; i < 6; i = step2(i)) { acc += o.y; n += i; if (n > 100) break; }
for (int i = 0; i < 9; i = step3(i)) { n++; acc -= o.z; if (acc < -5.0) continue;
acc += 0.1; } do { n += 2; if (n == 9) continue; acc += 1.0; } while (more(n, o.w));
color = vec4(float(n), acc, 0.0, 1.0);
""",
    ),
    Case(
        "discard in a function",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(binding = 3) buffer B { uint n; } ; float f(float x) { if (x > 0.8) discard;
atomicAdd(n, 1u); if (x < 0.2) return 1.0; return x; } float g(float x) {
for (int i = 0; i < 3; ++i) { if (x * float(i) > 1.9) discard; x += 0.01; } return x; }
""",
        """
float s = f(o.x); for (int i = 0; i < 3; ++i) { if (o.y < 0.1) break; s += g(o.z); }
color = vec4(s, f(o.y * 0.5), 0.0, 1.0);
""",
    ),
    Case(
        "function that never returns",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN + "float f(float x) { discard; return x; } void g() { discard; }",
        """
float s = o.x; if (o.y > 0.7) s = f(s); if (o.z > 0.8) { g(); s = 3.0; }
color = vec4(s, o.y, 0.0, 1.0);
""",
    ),
    Case(
        "inout and out parameters",
        OUT
        + FLAT_OUT
        + """
void bump(inout vec4 v, out float old, in float d) { old = v.x; v.x += d; v.yz = v.zy;
if (v.w < 0.5) { v.w = 1.0; return; } v.w -= 0.25; } struct S { vec3 v; float t[3]; } ;
S make(float x) { S s; s.v = vec3(x); s.t[0] = x; s.t[1] = 2.0 * x; s.t[2] = 0.5; return s;
} float sum(S s, int i) { s.v.y = 4.0; return s.v.x + s.v.y + s.t[i]; }
""",
        """
float p; o = a; bump(o, p, 0.5); bump(o, p, p); S s = make(b.x); S t = s; t.t[1] = 9.0;
t.v.z = b.y; o.y += sum(s, k.x & 1) - sum(t, 1); unread = b; q = k; bump(unread, p, 1.0);
q.x += int(p * 8.0);
""",
        IN + FLAT_IN + "void two(inout vec4 c, inout vec4 d) { c.x += d.y; d.y += c.x; }",
        """
color = vec4(0.0); two(color, color); color += o + vec4(q) * 0.01; two(color, color);
""",
    ),
    Case(
        "output as a function argument",
        OUT
        + FLAT_OUT
        + """
layout(location = 2) out vec3 arr[3]; void set(out vec3 v, float x) {
v = vec3(x, 2.0 * x, 1.0); } void add(inout float x) { x += 1.0; }
""",
        """
o = a; unread = b; q = k; for (int i = 0; i < 3; ++i) set(arr[i], a[i]); add(arr[1].y);
add(o.z); set(arr[2], o.z);
""",
        IN + FLAT_IN + "layout(location = 2) in vec3 arr[3];",
        "color = o + vec4(arr[0] + arr[1], arr[2].y + float(q.y));",
    ),
    Case(
        "side effects in branches",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(binding = 0) buffer B { uint n; uint m[8]; } ;
layout(binding = 1, r32ui) uniform uimage2D im;
""",
        """
if (o.x > 0.5) { if (o.y > 0.3) atomicAdd(n, 1u);
else imageAtomicAdd(im, ivec2(q.x & 1, 0), 2u); } for (int i = 0; i < 3; ++i) {
if (o.z > 0.9) continue; if (o.z < 0.1) break; atomicAdd(m[i + (q.x & 3)], 1u); }
switch (q.y & 3) { case 0: atomicAdd(m[7], 3u); case 1: break; case 2: if (o.w > 0.5) break;
atomicAdd(m[6], 5u); default: atomicMax(m[5], uint(o.x * 99.0)); } color = o;
""",
    ),
    Case(
        "dead control flow",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN + "layout(binding = 0) buffer B { uint n; } ;",
        """
float s = 0.0; for (int i = 0; i < 9; ++i) { s += o.x; if (s > 3.0) break;
if (s < 0.1) continue; s += 1.0; } float t = 0.0; if (o.x > 0.5) { t = 2.0;
for (int i = 0; i < 4; ++i) t *= o.y; } else { t = 1.0; } switch (q.x & 3) { case 0:
s = 0.0; case 1: t = 3.0; break; default: s += t; } float u = 0.0;
for (int i = 0; i < 5; ++i) { float z = o.w; for (int j = 0; j < 3; ++j) { z += 1.0;
if (z > 4.0) break; } if (o.z * float(i) > 2.0) { u = float(i); break; } for (;;) {
if (z > 9.0) break; z += 1.0; } } for (int i = 0; i < 3; ++i) { if (o.y > 0.9) {
if (o.x > 0.9) discard; } } color = vec4(u, o.yz, 1.0);
""",
    ),
    Case(
        "dead loop around live exit",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN + "layout(binding = 0) buffer B { uint n; } ;",
        """
float s = 0.0; color = o; for (int i = 0; i < 8; ++i) { switch ((q.x + i) & 3) { case 0:
s += 1.0; continue; case 1: if (o.x > 0.6) { color = vec4(2.0); return; } break; case 2:
s *= 2.0; if (s > 3.0) break; s -= 1.0; break; default: for (int j = 0; j < i; ++j) {
if (o.y * float(j) > 1.5) { atomicAdd(n, 1u); return; } } } s += 0.25; }
""",
    ),
    Case(
        "fallthrough with phis",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
float x = o.x, y = o.y; int m = 0; switch (q.x & 7) { case 0: x += 1.0; case 1: y = x * 2.0;
case 2: if (y > 1.0) { m = 1; break; } x = y; case 3: m += 2; break; case 5: x = 9.0;
default: y = x; } switch (q.y & 1) { case 0: case 1: x += y; }
color = vec4(x, y, float(m), 1.0);
""",
    ),
    Case(
        "selections become selects",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
float x = o.x; vec3 v = o.xyz; bool f = false; if (q.x > 1) { x = o.y; v = v.zyx; f = true;
} int n = q.y; if (f) n = q.z; else n = 3; float arr[2]; arr[0] = x; arr[1] = 1.0;
if (q.z > 0) arr[1] = x; struct T { float z; vec2 w; } t; t.z = 0.0; t.w = vec2(1.0);
if (o.w > 0.5) { t.z = 1.0; t.w = o.xy; }
color = vec4(x + v.x, float(n), arr[1] + t.z, t.w.y);
""",
    ),
    Case(
        "derivatives in branches",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN + "layout(binding = 0) uniform sampler2D t;",
        """
float x = o.x * o.y; float dx = dFdx(x); vec4 c = texture(t, o.xy); if (o.z > 0.5) {
color = vec4(dFdx(x), dx, fwidth(o.w), 1.0) + texture(t, o.xy); } else { color = c + dx; }
if (q.x > 1) { float y = o.x + 1.0; color.y += dFdy(y); } color.z += dFdy(o.x + 1.0);
""",
    ),
    Case(
        "derivative after a loop",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN + "layout(binding = 0) uniform sampler2D t;",
        """
float x = 0.0, s = 0.0; vec4 c = vec4(0.0); int i = 0; do { x = sin(float(i) + o.x);
s += dFdx(x) * 0.0 + textureLod(t, vec2(x), 0.0).x; c += texture(t, vec2(x, o.y)) * 0.001;
++i; } while (x < o.y && i < 9);
color = vec4(dFdx(x), s, float(i), 1.0) + texture(t, vec2(x, o.y));
""",
    ),
    Case(
        "textures in loops",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(binding = 0) uniform sampler2D t[2]; layout(binding = 4) uniform texture2D u;
layout(binding = 5) uniform sampler smp;
""",
        """
color = vec4(0.0); for (int i = 0; i < (q.x & 3) + 1; ++i) {
color += textureLod(t[i & 1], o.xy * float(i), 0.0);
if (o.z > 0.5) color += textureLod(sampler2D(u, smp), o.zw, 0.0); }
if (o.x > 0.3) color.x += textureLod(sampler2D(u, smp), o.zw, 0.0).y;
""",
    ),
    Case(
        "output in a loop",
        OUT + FLAT_OUT + "layout(location = 2) out vec4 arr[4];",
        """
q = k; unread = a; o = vec4(0.0); for (int i = 0; i < 4; ++i) { o += a * float(i);
arr[i] = o; if (o.x > 2.0) o.y = 3.0; } int i = 0; while (true) { o.z += 0.5;
if (++i > k.x) break; if (o.z > 2.0) { o.w = 8.0; break; } }
""",
        IN + FLAT_IN + "layout(location = 2) in vec4 arr[4];",
        "color = o + arr[3] + arr[1].yxwz + vec4(q.x);",
    ),
    Case(
        "local initialised in a loop",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
float f(float x) { float t[3] = float[](1.0, 2.0, 3.0); for (int i = 0; i < 3; ++i) {
float u = 0.5; u += t[i] * x; t[i] = u; x += u; } return x + t[1]; }
""",
        """
float s = 0.0; for (int i = 0; i < 4; ++i) { vec2 z = vec2(1.0, 0.0);
if (o.x > 0.5) z.y = s; s += z.x + z.y * 0.5 + f(o.y); } color = vec4(s, f(s), 0.0, 1.0);
""",
    ),
    Case(
        "precise",
        OUT + "layout(location = 1) out vec2 e; invariant gl_Position;",
        """
precise float d = a.x * b.x + a.y; precise float g = a.x * b.x;
o = vec4(d, g + a.y, a.x * b.x + a.y, g - a.x * b.x); unread = o; e = vec2(d - g, a.x);
""",
        IN + "layout(location = 1) in vec2 e;",
        "precise vec4 t = o * o + o; color = t + vec4(e, 0.0, o.x * o.x);",
    ),
    Case(
        "volatile and coherent",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(binding = 0) volatile coherent buffer B { uint n; uint m[]; } ;
layout(binding = 1) uniform U { vec4 c[4]; } ;
""",
        """
uint x = n; uint y = n; if (o.x > 0.5) { n = 5u; } memoryBarrierBuffer();
uint z = m[q.x & 3];
color = vec4(float(x & 0u), float(y & 0u), float(z & 0u), 1.0) * c[q.y & 3] + c[q.y & 3] +
o;
""",
    ),
    Case(
        "globals and locals of all shapes",
        """
struct G { vec4 v[2]; mat3 m; float f; } ; G g; vec4 glob = vec4(1.0, 2.0, 3.0, 4.0);
float tab[4] = float[](0.1, 0.2, 0.3, 0.4); layout(location = 0) out vec4 o;
layout(location = 15) out vec4 unread; layout(location = 1) flat out ivec4 q;
""",
        """
g.v[0] = a; g.v[k.x & 1].y = 2.0; g.m = mat3(a.xyz, b.xyz, vec3(1.0)); g.m[k.y % 3] *= 2.0;
g.f = tab[k.x & 3]; tab[1] = b.x; glob.xz += g.m[1].yx; G h = g; h.v[1] = glob;
h.m[2].y = tab[k.y & 3]; o = h.v[1] + g.v[0] + vec4(h.m[2], g.f); q = k; unread = b;
""",
        """
struct G { float w[3]; vec2 f; } ; G g = G(float[](1.0, 2.0, 3.0), vec2(0.5));
int calls = 0; float next() { ++calls; g.w[calls % 3] += 0.5; return g.w[2]; }
layout(location = 0) in vec4 o; layout(location = 1) flat in ivec4 q;
""",
        """
float s = next() + next(); g.w[q.x % 3] = o.x; s += next();
color = vec4(s, float(calls), g.f.y, g.w[1]) + o;
""",
    ),
    Case(
        "ternary chains and logic",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
bool x = o.x > 0.2 && (o.y > 0.4 || (q.x > 1 && o.z < 0.5));
bvec3 y = lessThan(o.xyz, vec3(0.5)); color = vec4(x ? 1.0 : o.x, mix(o.xyz, vec3(2.0), y));
if (!x || any(y)) color.w = float(q.x > q.y ? q.z : -q.w); if (all(y) ^^ x) color.x -= 1.0;
""",
    ),
    Case(
        "large local array",
        OUT + FLAT_OUT,
        """
float t[16]; for (int i = 0; i < 16; ++i) t[i] = float(i) * a.x; int n = k.x & 15;
t[n] = 3.0; o = vec4(t[3], t[(n + 1) & 15], t[k.y & 15], t[0]); vec4 u[4]; u[0] = a;
u[1] = b; u[2] = u[0]; u[3] = u[n & 1]; o += u[3]; q = k; unread = u[k.z & 3];
""",
        IN + FLAT_IN,
        "color = o + vec4(q.z);",
    ),
    Case(
        "demote",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(binding = 0) buffer B { uint n; } ; layout(binding = 1) uniform sampler2D t;
float f(float x) { if (x > 0.7) demote; return helperInvocationEXT() ? 5.0 : x; }
""",
        """
float s = f(o.x); if (o.y > 0.4) s += f(o.z) + dFdx(o.w); atomicAdd(n, 1u);
color = texture(t, o.xy) + s; for (int i = 0; i < 3; ++i) {
if (o.x * float(i) > 1.2) demote; color.x += 1.0; }
if (helperInvocationEXT()) atomicAdd(n, 100u);
""",
        extensions=("GL_EXT_demote_to_helper_invocation",),
        environment="vulkan1.3",
    ),
    Case(
        "terminate in dead code",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
float s = 0.0; for (int i = 0; i < 5; ++i) { s += o.x; for (int j = 0; j < 3; ++j) {
s += 0.1; if (s > 3.5) { if (o.y > 0.5) discard; else break; } } if (s > 4.0) continue;
s += 0.01; } switch (q.x & 3) { case 0: s = 1.0; case 1: if (o.z > 0.8) discard; break;
default: { if (o.w > 0.9) { s = 0.0; break; } s += 1.0; } } color = o;
""",
    ),
    Case(
        "helper lanes",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
layout(binding = 0) buffer B { float m[]; } ; float df(float x) { if (x > 2.0) return 0.0;
return dFdx(x); }
""",
        """
float s = o.x; if (gl_HelperInvocation) s = 3.0; float t = gl_HelperInvocation ? 0.0 : o.y;
color = vec4(dFdx(s), dFdy(t), df(s) + df(o.z), fwidthFine(o.w));
""",
    ),
    Case(
        "nested function calls many times",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
float h(float x, int n) { switch (n) { case 0: return x; case 1: break; default: return -x;
} return x * 2.0; } float g(float x, int n) { for (int i = 0; i < 4; ++i) {
float y = h(x, (n + i) & 3); if (y < -1.0) return y; x += y * 0.5; } return h(x, n & 1); }
vec4 f(vec4 v, ivec4 n) { vec4 r; for (int i = 0; i < 4; ++i) { r[i] = g(v[i], n[i]);
if (r[i] > 2.5) return r * 0.5; } return r; }
""",
        "color = f(o, q) + f(o.wzyx, q.yzwx); if (o.x > 0.5) color += f(color, q);",
    ),
    Case(
        "array parameters",
        OUT
        + FLAT_OUT
        + """
layout(location = 2) out float arr[4]; void fill(out float t[4], float x) {
for (int i = 0; i < 4; ++i) { t[i] = x * float(i); if (x > 3.0) return; } }
void tweak(inout float t[4], int i) { t[i & 3] += 1.0; t[2] -= 0.5; }
""",
        """
fill(arr, a.x); tweak(arr, k.x); float u[4]; fill(u, b.x); tweak(u, 1);
arr[3] = u[3] + u[1]; o = a; unread = b; q = k;
""",
        IN
        + FLAT_IN
        + """
layout(location = 2) in float arr[4]; float s(float t[4]) { t[0] = 2.0;
return t[0] + t[1] + t[2] + t[3]; }
""",
        "color = o + vec4(s(arr), s(arr) * float(q.x), arr[0], arr[2]);",
    ),
    Case(
        "inputs passed to functions",
        OUT + FLAT_OUT + "layout(location = 2) out mat3 m;",
        "o = a; unread = b; q = k; m = mat3(a.xyz, b.xyz, a.yzw);",
        IN
        + FLAT_IN
        + """
layout(location = 2) in mat3 m; float f(in mat3 t, int i) { t[1] *= 2.0; return t[i][i]; }
vec3 g(vec3 v) { v.x = 9.0; return v; }
""",
        "color = vec4(f(m, q.x % 3) + f(m, 1), g(m[2])) + vec4(g(o.xyz), 0.0);",
    ),
    Case(
        "constant conditions",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN
        + FLAT_IN
        + """
const bool ON = true; const int MODE = 2; float f(float x, bool on, int mode) { if (on) {
if (x > 0.5) return 1.0; x += 1.0; } else return 7.0; switch (mode) { case 1: x = 3.0;
break; case 2: if (x < 1.2) break; x *= 2.0; case 3: x -= 0.25; break; default: return 0.0;
} for (int i = 0; on; ++i) { x += 0.1; if (i > 2) break; if (mode == 5) continue; }
while (!on) x += 1.0; do { x += 0.5; if (on) break; x += 100.0; } while (x < 3.0); return x;
}
""",
        """
color = vec4(f(o.x, ON, MODE), f(o.y, true, 3), f(o.z, true, 2), f(o.w, false, 1));
""",
    ),
    Case(
        "constant loops and switches",
        "layout(location = 0) out vec4 o; layout(location = 1) flat out ivec4 q;",
        """
o = a; q = k; for (int i = 0; i < 1; ++i) { if (i == 1) continue; switch (i) { case 0:
o.x += 1.0; break; case 1: o.y = 7.0; } } for (;;) { o.z += 0.5; break; }
for (int i = 3; i < 3; ++i) o.w = 99.0; switch (2) { case 1: o = b; break; case 2:
o.w += 1.0; if (a.x > 0.5) break; o.w += 2.0; default: o.x -= 0.125; }
""",
        IN + FLAT_IN,
        "color = o + vec4(q.x);",
    ),
    Case(
        "bit tricks",
        OUT + "layout(location = 1) flat out uvec4 u;",
        """
u = floatBitsToUint(a); o = uintBitsToFloat(u & 0xfffffff0u); u.x = packHalf2x16(a.xy);
u.y = bitfieldInsert(u.y, uint(k.x), 3, 7); unread = b;
""",
        IN + "layout(location = 1) flat in uvec4 u;",
        """
uint c; uint r = uaddCarry(u.y, u.z, c); uint hi, lo; umulExtended(u.w, 77u, hi, lo);
color = o + vec4(unpackHalf2x16(u.x), float(r ^ c), float(hi + lo)) * 1e-6 +
float(bitfieldExtract(int(u.y), 2, 9)) + float(findMSB(u.z));
""",
    ),
    Case(
        "int division guarded",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
int r = 0; if (q.x != 0) r = q.y / q.x; int s = q.z != 0 ? q.w % q.z : 7;
vec4 t[3] = vec4[](o, o.yzwx, vec4(1.0)); if (q.x >= 0 && q.x < 3) color = t[q.x];
else color = vec4(0.5); color += vec4(r, s, 0, 0);
""",
    ),
    Case(
        "while with several exits",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
float x = o.x; int n = 0; while (x < 6.0) { ++n; if (n > 8) break; if (o.y > 0.5) {
x += 1.0; if (x > 4.0) { n += 100; break; } continue; } int m = 0; while (true) {
if (m > q.x) break; ++m; if (x > 3.0) { x += 0.25; break; } if (o.z > 0.6) {
color = vec4(x, float(n), float(m), 2.0); return; } } x += 0.7; }
color = vec4(x, float(n), 0.0, 1.0);
""",
    ),
    Case(
        "swap in a loop",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
float x = o.x, y = o.y, z = o.z; vec2 v = o.zw; for (int i = 0; i < (q.x & 7); ++i) {
float t = x; x = y; y = t; if (i == 3) { t = z; z = x; x = t; } v = v.yx; v.x += x; }
color = vec4(x, y, z, v.y);
""",
    ),
    Case(
        "subgroup operations in branches",
        OUT + FLAT_OUT,
        "o = a; unread = b; q = k;",
        IN + FLAT_IN,
        """
color = o; bool x = subgroupAny(o.x > 0.5); uvec4 m = subgroupBallot(o.y > 0.3);
if (o.z > 0.5) { if (subgroupAny(o.x > 0.5)) color.x = 2.0;
color.y += float(subgroupBallotBitCount(subgroupBallot(o.y > 0.3))); }
color.z = float(subgroupBallotBitCount(m)) + float(x);
""",
        extensions=(
            "GL_KHR_shader_subgroup_ballot",
            "GL_KHR_shader_subgroup_vote",
        ),
    ),
    Case(
        "guarded index and division in the vertex stage",
        OUT + "layout(binding = 0) uniform U { vec4 c[4]; int d; } u;",
        """
o = a; if (k.x >= 0 && k.x < 4) o += u.c[k.x]; int r = 3; if (k.y != 0) r = k.z / k.y;
o.w += float(r); unread = b;
""",
        IN,
        "color = o;",
    ),
    Case(
        "specialized array and branch",
        """
layout(constant_id = 0) const int N = 3; layout(constant_id = 1) const float X = 0.5;
layout(location = 0) out vec4 o; layout(location = 15) out vec4 unread;
layout(location = 1) flat out ivec4 q;
""",
        """
o = a * X; q = ivec4(0); for (int i = 0; i < N; ++i) { q.x += k[i & 3]; if (N > 4) break; }
if (X < 0.25) o = b; unread = vec4(float(N));
""",
        """
layout(constant_id = 0) const float N = 2.0; layout(constant_id = 1) const int X = 4;
layout(location = 0) in vec4 o; layout(location = 1) flat in ivec4 q;
""",
        """
color = o * N; switch (X) { case 4: color.x += 1.0; break; default: color = vec4(q); }
""",
    ),
    Case(
        "signed zero and not a number",
        OUT,
        """
float n = uintBitsToFloat(0x7fc00000u);
o = vec4(a.x * 0.0, -a.y * 0.0, min(n, a.x), a.x - a.x); unread = b;
""",
        IN,
        """
color = vec4(floatBitsToInt(o.x * -1.0) >> 31, o.y + 0.0, o.z == o.z ? o.z : 4.0, max(o.w,
-0.0));
""",
    ),
    Case(
        "same value stored twice, once on some paths",
        OUT + "layout(location = 1) out vec4 s; layout(location = 2) out vec4 t;",
        "s = vec4(0.0); t = a * 2.0; if (k.x > 1) s = t; o = t; unread = t;",
        IN + "layout(location = 1) in vec4 s; layout(location = 2) in vec4 t;",
        "color = o + s * 0.5 - t * 0.25;",
    ),
    Case(
        "point size stays",
        OUT + "out gl_PerVertex { vec4 gl_Position; float gl_PointSize; } ;",
        "o = a; unread = b; gl_PointSize = a.x * 4.0;",
        IN,
        "color = o;",
    ),
]
