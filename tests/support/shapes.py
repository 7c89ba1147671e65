"""Shaders of any size: what grows in them is what some algorithm may be slow at.

Each shape is a function from a size to the stages of a pipeline, as (stage, GLSL); ``SHAPES`` says
which sizes are measured (``scripts/bench --shapes``, ``tests/project/test_speed.py``).
"""

from __future__ import annotations

import random
from collections.abc import Callable

Stages = list[tuple[str, str]]

HEAD = "#version 450\n"
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 data[4];
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out vec3 unread;
layout(location = 3) out float white;
layout(location = 4) out vec2 uv;
void main() { gl_Position = position; a = data[0]; b = data[1] + data[2]; unread = data[3].xyz;
  white = 1.0; uv = position.xy; }
"""
FRAG = """#version 450
layout(location = 0) in vec4 a;
layout(location = 1) in vec4 b;
layout(location = 3) in float white;
layout(location = 4) in vec2 uv;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1) uniform Block { vec4 k[16]; int count; } block;
layout(location = 0) out vec4 color;
"""
HELPERS = """
float curve(float x, float y) { return x < y ? x * x : sqrt(abs(y)) * 0.5; }
vec4 blend(vec4 x, vec4 y, float t) { if (t > 0.75) return x; return mix(x, y, t); }
"""
VALUES = "vec4 v0 = a, v1 = b, v2 = vec4(uv, uv.yx), v3 = a * b, v4 = b.wzyx, v5 = vec4(white);\n"
SUM = "color = v0 + v1 * v2 - v3 * v4 + v5;\n"
ENDING = "v0 += a * a + b * b + vec4(uv * uv, white * white, 1.0);"
STATEMENTS = (
    "{x} = {y} * {c} + {z};",
    "{x}.{s} = dot({y}.xyz, {z}.zxy);",
    "{x}.xy = {y}.{s}{s} * {c} - {z}.yz;",
    "if ({y}.{s} > {c}) {{ {x} += {z}; }} else {{ {x} = {x}.wzyx; }}",
    "{x} = blend({y}, {z}, {y}.{s});",
    "{x}.{s} = curve({y}.{s}, {z}.x);",
    "{x} += texture(image, {y}.xy * {c});",
    "for (int i = 0; i < block.count; ++i) {{ {x} += block.k[i & 15] * {y}.{s}; }}",
    "{x} = normalize({y} + block.k[{i}]);",
    "{x}.zw = min({y}.{s}y, max({z}.xx, vec2({c})));",
)


def mixed(count: int) -> Stages:
    """Statements of every kind, ``count`` of them, some twelve instructions each: the same hundred
    again and again, and all inputs are read at the end. Else dice would say at each size anew what
    is left to do."""
    dice = random.Random(1)
    lines = []
    for _ in range(100):
        x, y, z = (f"v{dice.randrange(6)}" for _ in range(3))
        lines.append(
            dice.choice(STATEMENTS).format(
                x=x, y=y, z=z, s=dice.choice("xyzw"), i=dice.randrange(16),
                c=f"{dice.randrange(1, 64) / 16}",
            )
        )  # fmt: skip
    body = [*(lines[k % 100] for k in range(count)), ENDING]
    return fragment("\n".join(body), HELPERS)


def rewritten(count: int) -> Stages:
    """The same, and a constant that crosses, so that the fragment shader is written anew."""
    (_, vert), (_, frag) = mixed(count)
    declared, main = "layout(location = 5) flat {} int lit;\n", "void main() {"
    vert = vert.replace(main, f"{declared.format('out')}{main} lit = 3;")
    frag = frag.replace(main, declared.format("in") + main).replace("color = ", "color = lit * ")
    return [("vert", vert), ("frag", frag)]


def fragment(body: str, helpers: str = "") -> Stages:
    return [("vert", VERT), ("frag", f"{FRAG}{helpers}void main() {{\n{VALUES}{body}\n{SUM}}}\n")]


def switch(count: int) -> Stages:
    """Cases that compute equal values from the same inputs."""
    cases = "\n".join(
        f"case {k}: v{k % 6} += a * b.x + sin(uv.x * b.y) * {k}.5 + white; break;"
        for k in range(count)
    )
    return fragment(f"switch (block.count) {{\n{cases}\ndefault: break;\n}}")


def functions(count: int) -> Stages:
    """Functions with a return on the way, each called once."""
    made = "\n".join(
        f"vec4 f{k}(vec4 x, float t) {{ if (t > {k}.0) return x * b; return x + a.wzyx * t; }}"
        for k in range(count)
    )
    calls = "\n".join(f"v{k % 6} = f{k}(v{(k + 1) % 6}, uv.x + b.y);" for k in range(count))
    return fragment(calls, made)


def loops(count: int) -> Stages:
    """Loops in a row, each with a way out."""
    return fragment("\n".join(
        f"for (int i = 0; i < block.count + {k}; ++i) {{ v{k % 6} += block.k[i & 15] * a.x;"
        f" if (v{k % 6}.y > b.x * uv.y) break; }}"
        for k in range(count)
    ))  # fmt: skip


def material(count: int) -> Stages:
    """An uber shader: functions with a return in a loop, which specialization constants shape."""
    constants = "".join(
        f"layout(constant_id = {k}) const uint K{k} = {k % 7}u;\n" for k in range(50)
    )
    made = "\n".join(
        f"vec4 f{k}(vec4 p, vec2 t) {{ vec4 r = p; for (int j = 0; j < block.count; ++j) {{\n"
        f"switch (K{k % 50} & 3u) {{ case 0u: r += block.k[j & 15]; break;\n"
        f"case 1u: r *= texture(image, t + r.xy); break;\n"
        f"case 2u: if (r.x > float(K{(k + 3) % 50})) return r; break;\n"
        f"default: r = r.wzyx * float(K{k * 7 % 50}); }} }} return r + fract(p * {k}.25); }}"
        for k in range(count)
    )
    calls = "\n".join(f"v0 += f{k}(b * v0, uv * white);" for k in range(count))
    return fragment(calls, constants + made)


def nested(count: int) -> Stages:
    """Ifs one in another."""
    opened = "\n".join(
        f"if (v{k % 6}.x * b.x > {k}.5) {{ v{k % 6} += a * uv.x;" for k in range(count)
    )
    closed = "\n".join(f"}} else {{ v{k % 6} -= a * uv.x; }}" for k in reversed(range(count)))
    return fragment(f"{opened}\n{closed}")


def arrays(count: int) -> Stages:
    """An array in ``count`` Locations, written by constant and read by any index."""
    written = "\n".join(f"many[{k}] = position * {k}.5 + data;" for k in range(count))
    vert = f"""#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 data;
layout(location = 0) out vec4 many[{count}];
void main() {{ gl_Position = position;
{written}
}}
"""
    read = "\n".join(f"color += many[{k}] * block.k[{k % 16}];" for k in range(0, count, 2))
    frag = f"""#version 450
layout(location = 0) in vec4 many[{count}];
layout(set = 0, binding = 1) uniform Block {{ vec4 k[16]; int count; }} block;
layout(location = 0) out vec4 color;
void main() {{ color = many[block.count];
{read}
}}
"""
    return [("vert", vert), ("frag", frag)]


def counted(count: int) -> Stages:
    """Loops whose rounds are known, in a row, and one that is unrolled for its varyings."""
    vert = """#version 450
layout(location = 0) in vec4 position;
layout(location = 0) out vec4 many[8];
void main() { gl_Position = position;
  for (int i = 0; i < 8; ++i) many[i] = position * float(i); }
"""
    body = "\n".join(
        f"for (int i = 0; i < {2 + k % 5}; ++i) v += block.k[i & 15] * float({k} + i);"
        for k in range(count)
    )
    frag = f"""#version 450
layout(location = 0) in vec4 many[8];
layout(set = 0, binding = 1) uniform Block {{ vec4 k[16]; int count; }} block;
layout(location = 0) out vec4 color;
void main() {{
  vec4 v = vec4(0.0);
  for (int i = 0; i < 8; ++i) v += sin(many[i].xxyy);
{body}
  color = v; }}
"""
    return [("vert", vert), ("frag", frag)]


def chain(count: int) -> Stages:
    """All five stages, ``count`` Locations at every border."""

    def declare(what: str, name: str, size: str = "") -> str:
        return "".join(
            f"layout(location = {k}) {what} vec4 {name}{k}{size};\n" for k in range(count)
        )

    def lines(text: str) -> str:
        return "\n".join(text.format(k=k) for k in range(count))

    vert = (
        HEAD + "layout(location = 0) in vec4 position;\n" + declare("out", "a")
        + "void main() { gl_Position = position;\n" + lines("a{k} = position * {k}.5;") + "}\n"
    )  # fmt: skip
    control = (
        HEAD + "layout(vertices = 3) out;\n" + declare("in", "a", "[]") + declare("out", "b", "[]")
        + "void main() { gl_TessLevelInner[0] = 1.0;\n"
        "gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;\n"
        "gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n"
        + lines("b{k}[gl_InvocationID] = a{k}[gl_InvocationID];") + "}\n"
    )  # fmt: skip
    evaluation = (
        HEAD + "layout(triangles) in;\n" + declare("in", "b", "[]") + declare("out", "c")
        + "void main() { gl_Position = gl_in[0].gl_Position * gl_TessCoord.x;\n"
        + lines("c{k} = b{k}[0] * gl_TessCoord.x + b{k}[1] * gl_TessCoord.y;") + "}\n"
    )  # fmt: skip
    geometry = (
        HEAD + "layout(triangles) in;\nlayout(triangle_strip, max_vertices = 3) out;\n"
        + declare("in", "c", "[]") + declare("out", "d")
        + "void main() { for (int i = 0; i < 3; ++i) { gl_Position = gl_in[i].gl_Position;\n"
        + lines("d{k} = c{k}[i] * c{k}[0].x;") + "EmitVertex(); } }\n"
    )  # fmt: skip
    frag = (
        HEAD + declare("in", "d") + "layout(location = 0) out vec4 color;\n"
        "void main() { color = vec4(0.0);\n" + lines("color += d{k} * d{k};") + "}\n"
    )  # fmt: skip
    return [
        ("vert", vert), ("tesc", control), ("tese", evaluation), ("geom", geometry), ("frag", frag)
    ]  # fmt: skip


SHAPES: dict[str, tuple[Callable[[int], Stages], list[int]]] = {
    "statements": (mixed, [75, 750, 7500, 25000]),
    "statements, rewritten": (rewritten, [75, 750, 7500, 25000]),
    "switch of cases": (switch, [125, 500, 1000, 4000]),
    "inlined functions": (functions, [125, 500, 1000, 2000]),
    "loops in a row": (loops, [50, 200, 400, 800]),
    "an uber shader's functions": (material, [25, 100, 200, 400]),
    "loops with known rounds": (counted, [50, 200, 400, 800]),
    "ifs one in another": (nested, [25, 50, 100, 200]),
    "arrays in Locations": (arrays, [16, 32, 64]),
    "a chain's Locations": (chain, [16, 30]),
}
