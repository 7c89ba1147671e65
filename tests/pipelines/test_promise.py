"""What the default mode promises: the same picture. An interpolated constant that comes exact, and
sums that are rounded in another order, must not decide anything. Every pair is drawn, with a w that
differs between the vertices, before and after; most drew other pictures once.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering, rounding
from spvlink.grammar import ops
from tests.support.chain_hazards import frag, geom, tesc, tese, vert
from tests.support.linking import Result, all_insts, count, fragment, vertex
from tests.support.samples import compile_glsl

UNIFORMS = "layout(set = 0, binding = 0) uniform U { vec4 c; vec4 d; } u;\n"
IMAGES = """layout(set = 0, binding = 1) uniform sampler2D t;
layout(set = 0, binding = 2) uniform sampler2DArray layers;
layout(set = 0, binding = 3) uniform sampler2DShadow shadow;
layout(set = 0, binding = 4, r32f) uniform image2D i;
"""
OUT = "layout(location = 0) {} out vec4 a; layout(location = 1) out vec4 b;\n"
IN = "layout(location = 0) {} in vec4 a; layout(location = 1) in vec4 b;\n"
PLACE = " gl_Position = vec4(p.xyz, 1.0) * (1.0 + 0.37 * float(gl_VertexIndex % 3)); }"
B = "b = vec4(p.xy * 3.0, p.zx + 0.5);"


@cache
def compiled(stored: str, qualifier: str = "") -> bytes:
    out = OUT.format(qualifier)
    return vertex(f"{UNIFORMS}{out} void main() {{ {stored} {B}{PLACE}")


def codes(stored: str, body: str, qualifier: str = "") -> list[bytes]:
    """``body`` reads a, which the vertex shader stores, and b, which varies; it writes ``o``."""
    sides = UNIFORMS + IMAGES + IN.format(qualifier)
    body += " o += u.d * 0.0001;"  # what the one stage reads the other may read too
    return [compiled(stored, qualifier), fragment(f"{sides} void main() {{ {body} }}")]


def linked(modules: list[bytes], **settings: object) -> Result:
    options = spvlink.Options(clean=True)
    for name, setting in settings.items():
        setattr(options, name, setting)
    return Result(modules[0], modules[1], options)


def assert_same(modules: list[bytes], done: list[bytes], ulps: float = 0.0) -> None:
    """The same picture, to the bit or within rounding."""
    scene, before = draw_covering(modules)
    after = draw(done, scene)
    assert before.is_good()
    difference = compare(before, after)
    if ulps:
        apart = rounding(before, after)
        assert apart.ulps <= ulps and apart.steps <= 1, apart
    else:
        assert not difference, difference


def fates(done: Result, name: str = "a") -> dict[str, tuple[str, str]]:
    """Slot -> (action, why)."""
    return {r.slot: (r.action, r.why) for r in done.linked.remarks if r.name == name}


# --- constants and uniforms that may not come exact ---------------------------------------------

KEPT = {  # (what a is, what is made of it): what depends on it
    "floor": ("3.0", "floor(a.x)", "Floor"),
    "ceil": ("3.0", "ceil(a.x)", "Ceil"),
    "fract": ("1.0", "fract(a.x)", "Fract"),
    "mod": ("6.0", "mod(a.x, 3.0)", "OpFMod"),
    "integer": ("2.0", "float(int(a.x)) * 0.25", "OpConvertFToS"),
    "round a half": ("2.5", "round(a.x)", "Round"),
    "equality": ("0.3", "(a.x == 0.3 ? 1.0 : 0.5)", "OpFOrdEqual"),
    "inequality": ("0.3", "(a.x != 0.3 ? 1.0 : 0.5)", "OpFUnordNotEqual"),
    "at a threshold": ("0.5", "(a.x < 0.5 ? 1.0 : 0.25)", "OpFOrdLessThan"),
    "after arithmetic": ("0.5", "floor(a.x * 3.0 + 1.5)", "Floor"),
    "through a choice": ("3.0", "floor(b.x > 0.2 ? a.x : b.y)", "Floor"),
    "step": ("0.7", "step(0.7, a.x)", "Step"),
    "sign": ("0.7", "sign(a.x - 0.7)", "FSign"),
    "a uniform": ("0.7", "(a.x < u.c.x ? 1.0 : 0.5)", "OpFOrdLessThan"),
    "a varying": ("0.7", "(b.x * 0.2 > a.x ? 1.0 : 0.5)", "OpFOrdGreaterThan"),
    "bits": ("0.7", "float(floatBitsToUint(a.x) & 255u) * 0.004", "OpBitcast"),
    "coordinate": ("0.5", "textureLod(t, vec2(a.x), 0.0).x", "OpImageSampleExplicitLod"),
    "level": ("1.5", "textureLod(t, b.xy, a.x).x", "OpImageSampleExplicitLod"),
    "between layers": ("1.5", "textureLod(layers, vec3(b.xy, a.x), 0.0).x",
                       "OpImageSampleExplicitLod"),
    "reference": ("0.5", "textureLod(shadow, vec3(b.xy, a.x), 0.0)", "OpImageSampleDref"),
    "divisor": ("0.7", "clamp(0.5 / (a.x - 0.7), 0.0, 1.0)", "OpFDiv"),
    "divisor of a uniform": ("0.7", "clamp(u.c.x / (a.x - u.c.y), 0.0, 1.0)", "OpFDiv"),
    "logarithm": ("0.7", "clamp(log(abs(a.x - 0.7)) * -0.05, 0.0, 1.0)", "Log"),
    "domain": ("1.0", "acos(a.x)", "Acos"),
    "a loop": ("0.3", "0.0; float s = a.x; for (int i = 0; i < int(u.c.x * 3.0) + 2; i++)"
               " s = s * 0.5 + 0.15; o.x = floor(s * 10.0) * 0.3", "Floor"),
    "memory": ("0.3", "0.0; float m[4] = float[4](b.x, b.y, a.x, a.x);"
               " o.x = (m[2 + (int(u.c.x * 8.0) & 1)] == 0.3 ? 0.75 : 0.25)", "OpFOrdEqual"),
    "structs of arrays": ("0.3", "0.0; struct S { vec4 m[2]; }; S s[2] = S[2](S(vec4[2](b, a)),"
                          " S(vec4[2](a, a))); int n = int(u.c.x * 8.0) & 1;"
                          " o.x = floor(s[n].m[1 - n].x * 10.0)", "Floor"),
    "an offset": ("0.3", "(interpolateAtOffset(b.x, a.xy) == interpolateAtOffset(b.x, vec2(0.3))"
                  " ? 1.0 : 0.5)", "InterpolateAtOffset"),
    "an image": ("0.3", "0.0; imageStore(i, ivec2(gl_FragCoord.xy), a);"
                 " o.x = (imageLoad(i, ivec2(gl_FragCoord.xy)).x == 0.3 ? 1.0 : 0.5)",
                 "OpImageWrite"),
    "lost digits": ("1.5", "((a.x + 8388608.0) > 8388609.7 ? 1.0 : 0.25)",
                    "OpFOrdGreaterThan"),
    "a step": ("0.7", "clamp((a.x - 0.7) * 1e8 + 0.5, 0.0, 1.0)", "OpFMul"),
    "a step of a uniform": ("u.c.x", "clamp((a.x - u.c.x) / 1e-8 + 0.5, 0.0, 1.0)", "OpFDiv"),
    "a step written out": ("0.7", "clamp(a.x * 1e8 - 0.7e8, 0.0, 1.0)", "OpFSub"),
    "a smooth step": ("0.7", "smoothstep(0.7, 0.7000001, a.x)", "SmoothStep"),
    "edges": ("0.7", "smoothstep(a.x, 0.7, b.x)", "SmoothStep"),
    "a distance": ("0.7", "clamp(length(a.xyz - vec3(0.7)) * 1e7, 0.0, 1.0)", "OpFMul"),
    "a zero's sign": ("-0.0", "clamp(1.0 / a.x, -1.0, 1.0)", "OpFDiv"),
    "an angle": ("0.7", "atan(a.x - 0.7, -b.x - 5.0)", "Atan2"),
    "a base": ("0.7", "clamp(pow(a.x - 0.7, b.x * 0.001) + 0.25, 0.0, 1.0)", "Pow"),
    "a root": ("0.7", "sqrt(abs(a.x - 0.7))", "Sqrt"),
    "a uniform itself": ("u.c.x", "(a.x == u.c.x ? 1.0 : 0.5)", "OpFOrdEqual"),
    "a uniform's floor": ("floor(u.c.x * 4.0)", "floor(a.x)", "Floor"),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_something_hangs_on_stays(name: str) -> None:
    value, use, place = KEPT[name]
    modules = codes(f"a = vec4({value});", f"o = vec4(0, b.xy, 1); o.x = {use};")
    done = linked(modules)
    action, why = fates(done)["0.x"]
    assert action in ("kept", "packed") and place in why, (action, why)
    assert "could come out otherwise" in why
    assert_same(modules, done.data)


def test_the_depth_is_tested() -> None:
    modules = codes("a = vec4(0.5);", "o = vec4(b.xy, 0, 1); gl_FragDepth = a.x;")
    action, why = fates(linked(modules))["0.x"]
    assert action in ("kept", "packed") and "depth" in why.lower(), why


MOVED = {  # (what a is, what is made of it): nothing can come out otherwise
    "zero": ("0.0", "floor(a.x) + (a.x == 0.0 ? 0.5 : 0.0)"),
    "flag": ("1.0", "(a.x > 0.5 ? b.x : b.y)"),
    "floor": ("2.5", "floor(a.x) * 0.3 + fract(a.x)"),
    "identity": ("3.0", "float(int(a.x + 0.5)) * 0.2"),
    "round": ("3.0", "round(a.x) * 0.2"),
    "step": ("1.0", "step(0.25, a.x * 0.5)"),
    "sign of a product": ("0.7", "sign(a.x * b.x)"),
    "greater than zero": ("0.7", "(a.x * u.c.x > 0.0 ? b.x : b.y)"),
    "layer": ("1.0", "textureLod(layers, vec3(b.xy, a.x), 0.0).x"),
    "first level": ("0.0", "textureLod(t, b.xy, a.x).x"),
    "divisor": ("0.7", "b.x / (a.x + 1.0)"),
    "divisor that varies": ("0.7", "b.x / (a.x + 5.0 + b.y)"),
    "arithmetic": ("0.7", "sqrt(a.x) + exp(a.x * b.x) + sin(a.x + b.y)"),
    "domain": ("0.5", "acos(a.x)"),
    "a decided step": ("1.0", "clamp((a.x - 0.5) * 1e6, 0.0, 1.0)"),
    "an angle on the right": ("0.7", "atan(b.x, a.x)"),
    "power": ("0.7", "pow(max(a.x - b.x, 0.0), 3.0)"),
    "a uniform": ("u.c.x", "a.x * b.x"),
    "a uniform's sign": ("u.c.x", "(a.x > 0.0 ? b.x : b.y)"),
    "a uniform clamped": ("u.c.x", "(clamp(a.x, 0.25, 0.75) > 0.1 ? b.x : b.y)"),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_nothing_hangs_on_moves(name: str) -> None:
    value, use = MOVED[name]
    modules = codes(f"a = vec4({value});", f"o = vec4(0, b.xy, 1); o.x = {use};")
    done = linked(modules, disable=frozenset(("backward", "forward")))
    assert fates(done)["0.x"][0] == "propagated", fates(done)
    assert_same(modules, done.data, 4096.0)


def test_flat_comes_exact_anyway() -> None:
    modules = codes("a = vec4(3.0);", "o = vec4(floor(a.x), b.xy, 1);", "flat")
    done = linked(modules)
    assert fates(done)["0.x"][0] == "propagated"
    assert_same(modules, done.data)


def test_a_component_says_nothing_of_its_neighbour() -> None:
    body = "vec4 c = a * 0.7; if (c.w < b.x * 0.1) discard; o = vec4(c.rgb + b.xyx, 1);"
    modules = codes("a = vec4(0.3, 0.6, 0.9, 1.0);", body)
    done = linked(modules)
    found = fates(done)
    assert {found[s][0] for s in ("0.x", "0.y", "0.z")} == {"propagated"}, found
    assert found["0.w"][0] in ("kept", "packed") and "OpFOrdLessThan" in found["0.w"][1]
    assert_same(modules, done.data, 4096.0)


def test_away_from_the_pixel_s_centre_more_is_allowed_for() -> None:
    body = "o = vec4(a.x > 0.995 ? 1.0 : 0.5, b.xy, 1);"
    assert fates(linked(codes("a = vec4(1.0);", body)))["0.x"][0] == "propagated"
    centroid = linked(codes("a = vec4(1.0);", body, "centroid"))
    assert fates(centroid)["0.x"][0] in ("kept", "packed")


@pytest.mark.parametrize("flag", ["-g", "-gV", "-gVS"])
def test_the_place_has_a_name_and_a_line(flag: str) -> None:
    source = f"""#version 450
layout(location = 0) out vec4 o; {IN.format("")}
void main() {{
    float cells = floor(a.x);
    o = vec4(cells, b.xy, 1);
}}"""
    debug = compile_glsl(source, "frag", "vulkan1.0", flag)
    done = linked([compiled("a = vec4(3.0);"), debug])
    action, why = fates(done)["0.x"]
    assert action in ("kept", "packed") and "Floor" in why and ":5)" in why, why


# --- other ways to come exact -------------------------------------------------------------------

PER_DRAW = "a = vec4(float(gl_InstanceIndex) + 0.5);"


@pytest.mark.parametrize("use", ["floor(a.x * 3.0)", "a.x"])
def test_a_smooth_twin_of_a_flat_value(use: str) -> None:
    twin = "layout(location = 2) flat {} vec4 c;\n"
    left = f"{OUT.format('')}{twin.format('out')} void main() {{ {PER_DRAW} {B} c = a;{PLACE}"
    right = f"{IN.format('')}{twin.format('in')} void main() {{ o = vec4({use}, c.x, b.xy); }}"
    modules = [vertex(left), fragment(right)]
    done = linked(modules)
    action, why = fates(done)["0.x"]
    if "floor" in use:
        assert action in ("kept", "packed") and "Floor" in why
        assert_same(modules, done.data)
    else:
        assert action == "merged"
        assert_same(modules, done.data, 4096.0)


@pytest.mark.parametrize("use", ["floor(a.x * 3.0)", "a.x"])
def test_an_interpolated_value_in_a_flat_location(use: str) -> None:
    flats = "layout(location = 2) flat {} ivec3 c;\n"
    left = f"{OUT.format('')}{flats.format('out')} void main() {{ {PER_DRAW} {B} c = k.xyz;{PLACE}"
    right = f"{IN.format('')}{flats.format('in')} void main() {{ o = vec4({use}, c.x + c.y + c.z, b"
    modules = [vertex(left), fragment(f"{right}.xy + b.zw); }}")]
    done = linked(modules, disable=frozenset(("backward", "forward")))
    action, why = fates(done)["0.x"]
    if "floor" in use:
        assert action != "flattened" and "Floor" in why
        assert_same(modules, done.data)
    else:
        assert action == "flattened"
        assert_same(modules, done.data, 4096.0)


# --- what is rounded in another order -----------------------------------------------------------

ATTRIBUTES = "a = vec4(p.yz, k.xy * 0.125) * 3.0 + u.d;"
SUM = "(a + b * u.c)"
HANGING = {  # what is made of a sum: what depends on it
    "comparison": (f"{SUM}.x < 0.7 ? b.z : b.w", "OpFOrdLessThan"),
    "floor": (f"floor({SUM}.x)", "Floor"),
    "lookup": (f"textureLod(t, {SUM}.xy, 0.0).x", "OpImageSampleExplicitLod"),
    "implicit lookup": (f"texture(t, {SUM}.xy).x", "OpImageSampleImplicitLod"),
    "a step": (f"clamp(({SUM}.x - 0.7) * 1e6, 0.0, 1.0)", "OpFMul"),
    "derivative": (f"dFdx({SUM}.x) > 0.01 ? b.z : b.w", "OpFOrdGreaterThan"),
}


@pytest.mark.parametrize("name", HANGING)
def test_a_sum_that_something_hangs_on_stays(name: str) -> None:
    use, place = HANGING[name]
    modules = codes(ATTRIBUTES, f"o = vec4({use});")
    done = linked(modules)
    whys = [why for action, why in {**fates(done), **fates(done, "b")}.values()]
    assert not any("computes" in why for why in whys), whys
    assert any("not moved" in why and place in why for why in whys), whys
    assert_same(modules, done.data)


@pytest.mark.parametrize("use", ["floor(second[n])", "second[n]"])
def test_a_sum_that_is_read_through_another_buffer(use: str) -> None:
    """Two buffers may be bound to the same bytes: what is stored in one is read from any."""
    views = "layout(set = 0, binding = 5) buffer {} {{ float {}[64]; }};\n"
    both = views.format("A", "first") + views.format("B", "second")
    inputs = UNIFORMS + both + IN.format("")
    body = f"int n = int(gl_FragCoord.x) & 63; first[n] = {SUM}.x; o = vec4({use}) + u.d * 0.0001;"
    modules = [compiled(ATTRIBUTES), fragment(f"{inputs} void main() {{ {body} }}")]
    whys = {why for _, why in {**fates(linked(modules)), **fates(linked(modules), "b")}.values()}
    moved = any("does the work" in why for why in whys)
    assert moved != any("not moved: Floor" in why for why in whys), whys
    assert moved == (use == "second[n]")


CONTINUOUS = ("{}.x", "cos({}.x)", "1.0 / (abs({}.x) + 0.5)", "max({}.x, 0.25)", "{}.x * {}.y")


@pytest.mark.parametrize("use", CONTINUOUS)
def test_a_sum_that_nothing_hangs_on_moves(use: str) -> None:
    modules = codes(ATTRIBUTES, f"o = vec4({use.replace('{}', SUM)});")
    done = linked(modules)
    found = fates(done)
    assert "moved-backward" in {action for action, _ in found.values()}, found
    assert_same(modules, done.data, 65536.0)


BESIDE = {  # a pole, beside which the difference of a sum would be enlarged without bound
    "1.0 / {}.x": "OpFDiv",
    "{0}.x / length({0}.xy)": "OpFDiv",
    "1.0 / ({}.x * {}.x + 0.001)": "OpFDiv",
    "1.0 / max({}.x, -0.5)": "OpFDiv",
    "normalize({}.xyz).x": "Normalize",
    "sqrt(abs({}.x))": "Sqrt",
    "inversesqrt(abs({}.x))": "InverseSqrt",
    "log(max({}.x, 0.0001))": "Log",
    "pow(abs({}.x), 0.5)": "Pow",
    "pow(abs({}.x), b.x)": "Pow",
    "atan({}.x, {}.y)": "Atan2",
    "tan({}.x)": "Tan",
    "inverse(mat2({0}.xy, {0}.zw))[0].x": "MatrixInverse",
}
APART = ("1.0 / ({0}.x * {0}.x + 0.5)", "1.0 / (exp2({}.x) + 0.25)",
         "{0}.x / max(length({0}.xy), 0.1)",
         "sqrt(max({}.x, 0.01))", "inversesqrt(dot({0}, {0}) + 0.5)", "log(clamp({}.x, 0.01, 2.0))",
         "pow(max({}.x, 0.0), 2.2)", "pow(abs({}.x) + 0.01, 0.45)", "pow(2.0, min({}.x, 1.0))",
         "1.0 / (sqrt(abs({}.x) + 0.01) + 0.5)", "1.0 / (0.25 + smoothstep(0.0, 1.0, {}.x))",
         "1.0 / mix(abs({}.x) + 0.5, 2.0, gl_FrontFacing)", "2.0 / min(abs({}.x) + 0.5, 3.0)",
         "1.0 / ((abs({}.x) + 1.0) * 0.5)")  # fmt: skip


@pytest.mark.parametrize("use", BESIDE)
def test_a_sum_beside_a_pole_stays(use: str) -> None:
    """Where nothing is left of its terms, ``normalize`` would show their last digits."""
    numbered = use.replace("{0}", SUM).replace("{}", SUM)
    done = linked(codes(ATTRIBUTES, f"o = vec4({numbered});"))
    whys = [why for _, why in {**fates(done), **fates(done, "b")}.values()]
    assert not any("computes" in why for why in whys), whys
    said = f"not moved: {BESIDE[use]} in the frag stage may have a pole there"
    assert any(said in why for why in whys), whys


@pytest.mark.parametrize("use", APART)
def test_a_sum_that_stays_away_from_a_pole_moves(use: str) -> None:
    modules = codes(ATTRIBUTES, f"o = vec4({use.replace('{0}', SUM).replace('{}', SUM)});")
    done = linked(modules)
    assert "moved-backward" in {action for action, _ in fates(done).values()}, fates(done)
    assert_same(modules, done.data, 65536.0)


@pytest.mark.parametrize(("use", "moves"), [("max({}, 0.1)", True), ("normalize({})", False)])
def test_nor_does_a_sum_move_forward_beside_a_pole(use: str, moves: bool) -> None:
    body = "o = max(a, 0.1) + " + use.replace("{}", "b") + ";"
    left = f"{OUT.format('')} void main() {{ a = p.yzwx * p; b = a * 3.0 + 0.5; {PLACE}"
    modules = [vertex(left), fragment(f"{IN.format('')} void main() {{ {body} }}")]
    done = linked(modules)
    assert ("moved-forward" in {r.action for r in done.linked.remarks}) == moves
    said = any("Normalize in the frag stage may have a pole" in r.why for r in done.linked.remarks)
    assert said != moves


@pytest.mark.parametrize(("use", "count"), [("f * 0.5", 4), ("normalize(f)", 8)])
def test_a_sum_beside_a_later_stage_s_pole(use: str, count: int) -> None:
    """The evaluation shader's outputs are interpolated, and then divided by."""
    blend = "gl_TessCoord.x * {0}[0] + gl_TessCoord.y * {0}[1] + gl_TessCoord.z * {0}[2]"
    inputs = "layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];"
    arrays = inputs.replace(" in ", " out ")
    outs = "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;"
    place = blend.replace("{0}[", "gl_in[").replace("]", "].gl_Position")
    ids = "gl_InvocationID"
    stages = [
        vert(outs, "c = a * a.yzwx; d = b * b.zwxy;"),
        tesc(inputs + arrays.replace("c[]", "e[]").replace("d[]", "g[]"),
             f"e[{ids}] = c[{ids}]; g[{ids}] = d[{ids}];"),
        tese(inputs + "layout(location = 0) out vec4 f;",
             f"gl_Position = {place}; f = {blend.format('c')} + 0.5 * ({blend.format('d')});"),
        frag("layout(location = 0) in vec4 f;", f"color = {use};"),
    ]  # fmt: skip
    done = spvlink.link([compile_glsl(text, stage, "vulkan1.1") for stage, text in stages])
    assert done.defect is None
    assert done.interfaces[1].components[1] == count, [(r.name, r.why) for r in done.remarks]


PUSH = "layout(push_constant) uniform P { vec4 k; } pc;\n"


@pytest.mark.parametrize(("use", "count"), [("cos(f)", 4), ("floor(f * 8.0) * 0.1", 8)])
def test_a_sum_in_front_of_a_later_stage_s_floor(use: str, count: int) -> None:
    """The geometry shader's outputs are interpolated, and then something depends on them."""
    outs = "layout(location = 0) out vec4 c; layout(location = 1) out vec4 d;"
    inputs = "layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];"
    emit = """for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position;
    f = c[i] * pc.k + d[i]; EmitVertex(); } EndPrimitive();"""
    stages = [
        vert(PUSH + outs, "c = a * pc.k; d = b;"),
        geom(PUSH + inputs + "layout(location = 0) out vec4 f;", emit),
        frag("layout(location = 0) in vec4 f;", f"color = {use};"),
    ]
    modules = [compile_glsl(text, stage, "vulkan1.1") for stage, text in stages]
    done = spvlink.link(modules, clean=True)
    assert done.defect is None and done.interfaces[0].components[1] == count, done.remarks
    assert_same(modules, [stage.data for stage in done.stages], 65536.0 if count == 4 else 0.0)


# --- poles --------------------------------------------------------------------------------------


def flattened(modules: list[bytes], done: list[bytes], values: list[float]) -> None:
    """Drawn with these in the uniform buffer."""
    scene, _ = draw_covering(modules)
    data = np.array(values, dtype="f4").view(np.uint8)
    scene.bindings[0].buffers[0].data[: len(data)] = data
    before, after = draw(modules, scene), draw(done, scene)
    apart = rounding(before, after)
    assert apart.values and apart.steps <= 1, apart
    for name, old in before.images.items():
        assert np.array_equal(np.isfinite(old), np.isfinite(after.images[name])), name


POLES = ("(a + b * 2.0) / (u.c.x - u.c.y)", "(a + b) * inversesqrt(u.c.x - u.c.y)",
         "(a + b) * (1.0 / (u.c.x - u.c.y))", "(a - b) * log(u.c.x - u.c.y)")  # fmt: skip


@pytest.mark.parametrize("value", POLES)
def test_an_infinity_is_not_interpolated(value: str) -> None:
    """A fog that starts where it ends: 0 or 1 everywhere, and no NaN."""
    body = f"o = vec4(clamp(({value}).x, 0.0, 1.0), b.zw * 0.0 + 0.5, 1);"
    modules = codes("a = p * 2.0; if (u.d.x > 1e30) a = vec4(0.0);", body)
    done = linked(modules)
    divides = count(done.vert, ops.OpFDiv) + sum(
        1 for i in all_insts(done.vert) if i.op == ops.OpExtInst
    )
    assert divides == 0
    flattened(modules, done.data, [0.25, 0.25, 0.0, 0.0])


def test_an_infinity_is_made_a_nan_where_interpolation_made_one() -> None:
    body = "o = vec4(clamp(a.x * b.x, 0.0, 1.0), 0.5, 0.5, 1) + u.d * 0.0001;"
    modules = codes("a = vec4(1.0 / (u.c.x - u.c.y));", body)
    done = linked(modules, disable=frozenset(("backward", "forward")))
    assert fates(done)["0.x"][0] == "propagated" and count(done.frag, ops.OpFSub) == 2
    flattened(modules, done.data, [0.25, 0.25, 0.0, 0.0])


INFINITY = "uintBitsToFloat(0x7F800000u)"


def test_a_constant_infinity_is_not_interpolated() -> None:
    body = f"o = vec4(clamp(((a + b) * {INFINITY}).x, 0.0, 1.0), b.zw * 0.0 + 0.5, 1);"
    modules = codes("a = p * 2.0 - 0.3;", body)
    assert_same(modules, linked(modules).data, 65536.0)


def test_a_factor_of_infinity_is_made_a_nan() -> None:
    modules = codes(f"a = vec4(u.c.x * {INFINITY});", "o = vec4(clamp(a.x * b.x, 0.0, 1.0));")
    done = linked(modules, disable=frozenset(("backward", "forward")))
    assert fates(done)["0.x"][0] == "propagated" and count(done.frag, ops.OpFSub) == 1
    assert_same(modules, done.data, 4096.0)


def test_an_infinity_is_not_read_from_its_flat_twin() -> None:
    twin = "layout(location = 2) flat {} vec4 c;\n"
    stored = f"a = vec4({INFINITY}); c = a; {B}"
    left = f"{OUT.format('')}{twin.format('out')} void main() {{ {stored}{PLACE}"
    use = "o = vec4(clamp(a.x * b.x, 0.0, 1.0), clamp(c.x, 0.0, 1.0), b.xy);"
    right = f"{IN.format('')}{twin.format('in')} void main() {{ {use} }}"
    modules = [vertex(left), fragment(right)]
    assert_same(modules, linked(modules).data)


RAYS = """#version 460
#extension GL_EXT_ray_query : enable
layout(location = 0) out vec4 o;
layout(set = 0, binding = 6) uniform accelerationStructureEXT w;
"""


@pytest.mark.parametrize(
    ("stored", "origin"), [("vec4(0.3)", "a"), ("vec4(p.yz, k.xy * 0.125)", "a + b * u.c")]
)
def test_a_ray_may_miss(stored: str, origin: str) -> None:
    body = f"""rayQueryEXT q; rayQueryInitializeEXT(q, w, 0, 255, ({origin}).xyz, 0, b.xyz, 9);
    rayQueryProceedEXT(q); o = vec4(rayQueryGetIntersectionTEXT(q, true));"""
    left = f"{UNIFORMS}{OUT.format('')} void main() {{ a = {stored}; {B}{PLACE}"
    right = f"{RAYS}{UNIFORMS}{IN.format('')} void main() {{ {body} }}"
    modules = [vertex(left, "vulkan1.2"), compile_glsl(right, "frag", "vulkan1.2")]
    done = linked(modules)
    found = {**fates(done), **{f"b {slot}": fate for slot, fate in fates(done, "b").items()}}
    assert {action for action, _ in found.values()}.isdisjoint(("propagated", "moved-backward"))
    assert any("OpRayQueryInitializeKHR" in why for _, why in found.values()), found


def test_a_constant_divisor_is_no_pole() -> None:
    modules = codes("a = p * 2.0 + u.d;", "o = (a + b) / 3.0;")
    done = linked(modules)
    assert {action for action, _ in fates(done).values()} == {"moved-backward"}
    assert count(done.frag, ops.OpFDiv) == 0
    assert_same(modules, done.data, 65536.0)
