"""Matrices, structs, arrays and vectors of which a consumer needs some components, at every kind of
border; test_by_component.py links and draws them.

A case says how a producer makes the varying ``d`` from ``x`` and ``y`` (vec4, no lane of which is
another one's cheap function), and what a consumer makes of it as a float, with ``own``, a number
that only the consumer knows, so that nothing else moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.support import half_chains
from tests.support.chain_text import Chain, frag, geom, mesh, tesc, tese, vert

Stages = list[tuple[str, str]]


@dataclass(frozen=True)
class Case(half_chains.Case):
    """``left``: components of ``d`` that cross; ``before``: a declaration in front."""

    left: int = 0
    before: str = ""

    @property
    def components(self) -> int:
        return self.left

    def source(self, text: str) -> str:
        return f"vec4 x = sin({text} * 3.1 + 0.2), y = cos({text} * x.yzwx * 2.3);"

    def declared(self, words: str, over: str = "", place: int = 1) -> str:
        if not self.type.startswith(("u", "i")):
            words = words.replace("flat ", "")
        return f"{self.before}layout(location = {place}) {words} {self.type} d{over};\n"

    def read(self, own: str, at: str = "") -> str:
        number = f"float own = sin(float({own}) * 0.7 + 0.3) * 0.5;"
        return f"float r; {number} {self.type} D = d{at}; {self.used}"


FOUR = "mat4(x, y, sin(x.wzyx * 5.0 + y), cos(y.yxwz * 7.0 - x))"
TWO = "mat2(x.xy * y.x, y.xy)"
RECORD = "struct S { mat2 m; vec3 v; float f; };\n"
OWN = "vec4(own, own * own, 1.0 - own, cos(own))"
CASES = (
    Case("two rows of a product with a vector", "mat4", FOUR,
         f"vec4 q = D * {OWN}; r = q.x * 0.5 + q.z * q.z;", left=8),
    Case("two columns of a product from the left", "mat4", FOUR,
         f"vec4 q = {OWN} * D; r = q.y * 0.5 + q.z * q.z;", left=8),
    Case("a row of a product of two", "mat4", FOUR,
         f"mat4 o = outerProduct({OWN}, {OWN}); r = (D * o)[1].z;", left=4),
    Case("a column of a product of two", "mat4", FOUR,
         f"mat4 o = outerProduct({OWN}, {OWN}); r = (o * D)[3].z;", left=4),
    Case("bits of a component", "vec4", "x",
         "uvec4 b = floatBitsToUint(D); r = float((b.z >> 20) & 15u) * own;", left=1),
    Case("two rows through three factors", "mat4", FOUR,
         f"mat4 o = outerProduct({OWN}, {OWN}) + mat4(own);"
         f" vec4 q = D * o * {OWN}; r = q.z / (q.w * q.w + 1.0);", left=8),
    Case("a component of a transposed one", "mat3x4", "mat3x4(x, y, x.wzyx * y)",
         "r = cos(transpose(D)[1][2] * own);", left=1),
    Case("an outer product", "vec4", "x", f"r = outerProduct(D, {OWN})[1].z;", left=1),
    Case("an outer product from the right", "vec4", "x", f"r = outerProduct({OWN}, D)[2].z;",
         left=1),
    Case("times a number", "mat4", FOUR, "r = sin((D * own)[2].x + (D * own)[3].y);", left=2),
    Case("a column", "mat4", FOUR, "r = dot(D[2].yz, vec2(own, own * own));", left=2),
    Case("a component of a cross product", "vec3", "x.xyz", "r = cross(D, vec3(own, 2, 3)).z;",
         left=2),
    Case("a component that faces somewhere", "vec3", "x.xyz",
         "r = faceforward(D, vec3(own, 2, 3), vec3(1, own, 0)).y * own;", left=1),
    Case("a field of bits", "uvec4", "floatBitsToUint(x)",
         "r = float(bitfieldExtract(D, 18, 5).y) * own * 0.1;", left=1),
    Case("the high word of a product", "uvec3", "floatBitsToUint(x.xyz)",
         "uvec3 h, l; umulExtended(D, uvec3(own * 99.0 + 100.0) * 77777777u, h, l);"
         " r = float(h.y >> 16) * 1e-4;", left=1),
    Case("a member of a chosen struct", "S", f"S({TWO}, x.xyz, y.w)",
         "S s = D; if (own > 0.1) { s = S(mat2(own), D.v.zxy, own); } r = s.v.y * own;", left=2,
         before=RECORD),
    Case("an element of a chosen array", "vec4[3]", "vec4[3](x, y, x.wzyx * y)",
         "vec4 s[3] = D; for (int n = 0; n < 3; ++n) { vec4 t[3] = s; if (own > 0.1 * n)"
         " { t = vec4[3](s[0], s[1].yxzw, s[2]); } s = t; } r = s[1].y * own;", left=2),
    # What is used whole.
    Case("a determinant", "mat2", TWO, "r = determinant(D) * own;", left=4),
    Case("an inverse", "mat2", f"{TWO} + mat2(3.0)", "r = inverse(D)[0].x * own;", left=4),
    Case("all rows of a product", "mat4", FOUR, f"r = dot(D * {OWN}, {OWN}.wzyx);", left=16),
    Case("a unit vector", "vec3", "x.xyz + 2.0", "r = normalize(D).x * own;", left=3),
    Case("a reflection", "vec3", "x.xyz", "r = reflect(D, vec3(own, own * own, 0.2)).x;", left=3),
)  # fmt: skip


def _of_control_points(case: Case) -> Stages:
    here = "[gl_InvocationID]"
    sums = "".join(
        f"{{ {case.read('uint(w.y * 5.0)', f'[{n}]')} g += r * w.{c}; }}\n"
        for n, c in enumerate("xyz")
    )
    return [
        vert("layout(location = 0) out vec4 c;", "c = a;"),
        tesc(
            "layout(location = 0) in vec4 c[];" + case.declared("out", "[]"),
            f"{case.source('c' + here)} {case.stored(here)}",
        ),
        tese(
            case.input("in", "[]") + "layout(location = 0) out float g_out;",
            f"float g = 0.0;\n{sums}g_out = g;",
        ),
        frag("layout(location = 0) in float g_out;", "color = vec4(g_out, 0, 0, 1);"),
    ]


def _to_pixels(case: Case) -> tuple[str, str]:
    read = case.read("uint(gl_FragCoord.x) & 7u")
    return frag(case.input("flat in"), f"{read} color = vec4(r, r * 0.5, 1, 1);")


def _of_an_evaluation(case: Case) -> Stages:
    return [
        vert("layout(location = 0) out vec4 c;", "c = a;"),
        tesc(
            "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 e[];",
            "e[gl_InvocationID] = c[gl_InvocationID];",
        ),
        tese(
            "layout(location = 0) in vec4 e[];" + case.declared("flat out"),
            f"{case.source('(e[0] * w.x + e[1] * w.y + e[2] * w.z)')} {case.stored()}",
        ),
        _to_pixels(case),
    ]


def _of_geometry(case: Case) -> Stages:
    return [
        vert("layout(location = 0) out vec4 c;", "c = a;"),
        geom(
            "layout(location = 0) in vec4 c[];" + case.declared("flat out"),
            f"""for (int n = 0; n < 3; ++n) {{ {case.source("c[n]")} {case.stored()}
gl_Position = gl_in[n].gl_Position; EmitVertex(); }}""",
        ),
        _to_pixels(case),
    ]


def _of_a_mesh(case: Case) -> Stages:
    made = "vec4(sin(float(i)), cos(float(i) * 3.0), float(i) * 0.3, 1.5)"
    return [
        mesh(case.declared("flat out", "[]"), f"{case.source(made)} {case.stored('[i]')}"),
        _to_pixels(case),
    ]


def _of_a_task(case: Case) -> Stages:
    payload = f"{case.before}taskPayloadSharedEXT struct P {{ {case.type} d; }} p;\n#define d p.d\n"
    group = "vec4 g = vec4(gl_WorkGroupID.xyz, 1.5);"
    head = "#version 450\n#extension GL_EXT_mesh_shader : require\n"
    task = (
        f"{head}layout(local_size_x = 1) in;\n{payload}void main() {{\n"
        f"{group} {case.source('g')} {case.stored()} EmitMeshTasksEXT(1, 1, 1); }}\n"
    )
    return [
        ("task", task),
        mesh(
            payload + "layout(location = 0) out float f[];",
            f"{case.read('i')} f[i] = r;",
        ),
        frag("layout(location = 0) in float f;", "color = vec4(f, 0, 0, 1);"),
    ]


BORDERS: dict[str, Callable[[Case], Stages]] = {
    **{f"{name} {case}": make for (name, make), case in zip(
        half_chains.BORDERS.items(), ("vertex", "vertex", "vertex", "patch", "primitive"))},
    "tesc->tese vertex": _of_control_points,
    "tese->frag vertex": _of_an_evaluation,
    "geom->frag vertex": _of_geometry,
    "mesh->frag vertex": _of_a_mesh,
    "task->mesh payload": _of_a_task,
}  # fmt: skip


def chain(border: str, case: Case) -> Chain:
    environment = "vulkan1.2" if "mesh" in border else "vulkan1.1"
    stages = BORDERS[border](case)
    if border == "mesh->frag primitive":
        stages = list(half_chains.with_int64(stages))
    return Chain(case.name, tuple(stages), environment=environment)
