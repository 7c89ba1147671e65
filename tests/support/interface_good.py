"""Pipelines whose stages fit: neither ``spvlink check`` nor, but for one, the validation layer has
an error for them."""

from __future__ import annotations

from tests.support.interface_broken import (
    CLIPPED,
    IN_POINT,
    IN_POSITION,
    OUT_POSITION,
    POINT,
    POSITION,
)
from tests.support.interface_rows import (
    LIMIT,
    LINES,
    LOOSE_VERT,
    PATCHES,
    POINTS,
    Code,
    Row,
    at,
    frag,
    geom,
    many,
    mesh,
    mesh_frag,
    rules,
    task,
    tesc,
    tese,
    vert,
)  # fmt: skip

FLOATS = ("float", "vec2", "vec3", "vec4", "mat2", "mat3", "mat4", "mat2x3", "mat4x2")
WHOLE = ("int", "ivec2", "ivec3", "ivec4", "uint", "uvec2", "uvec3", "uvec4")
DOUBLES = ("double", "dvec2", "dvec3", "dvec4", "dmat2")


def pair(name: str, outputs: str, inputs: str, maintenance4: bool = False) -> Row:
    return Row(name, (vert(outputs), frag(inputs)), maintenance4=maintenance4)


def patches(name: str, *codes: Code) -> Row:
    return Row(name, codes, topology=PATCHES)


ALIKE = [
    *(pair(f"a {type}", at(0, f"out {type} a"), at(0, f"in {type} a")) for type in FLOATS),
    *(pair(f"a flat {type}", at(2, f"flat out {type} a"), at(2, f"flat in {type} a"))
      for type in WHOLE),
    *(pair(f"a {type}", at(1, f"out {type} a"), at(1, f"flat in {type} a")) for type in DOUBLES),
    pair("an array", at(0, "out vec4 a[3]"), at(0, "in vec4 a[3]")),
    pair("an array of arrays", at(0, "out float a[2][3]"), at(0, "in float a[2][3]")),
    pair("an array of matrices", at(0, "out mat3 a[2]"), at(0, "in mat3 a[2]")),
    pair("a struct", "struct S { vec4 p; float q; };" + at(0, "out S s"),
         "struct S { vec4 p; float q; };" + at(0, "in S s")),
    pair("a struct in a struct", "struct T { vec2 x[2]; }; struct S { vec4 p; T t; };"
         + at(0, "out S s"), "struct T { vec2 x[2]; }; struct S { vec4 p; T t; };"
         + at(0, "in S s")),
    pair("a block", at(0, "out B { vec4 p; mat2 q; float r; } b"),
         at(0, "in B { vec4 p; mat2 q; float r; } b")),
    pair("a block of another name", at(0, "out B { vec4 p; vec2 q; } b"),
         at(0, "in C { vec4 x; vec2 y; } c")),
    pair("a block whose members say where", "out B { layout(location = 3) vec4 p;"
         " layout(location = 1) vec2 q; } b;", "in B { layout(location = 3) vec4 p;"
         " layout(location = 1) vec2 q; } b;"),
    pair("a block to variables", at(0, "out B { vec4 p; vec2 q; } b"),
         at(0, "in vec4 p") + at(1, "in vec2 q")),
    pair("variables to a block", at(4, "out vec4 p") + at(5, "out vec2 q"),
         at(4, "in B { vec4 p; vec2 q; } b")),
    pair("an array of blocks", at(0, "out B { vec4 p; } b[2]"), at(0, "in B { vec4 p; } b[2]")),
]  # fmt: skip

PLACES = [
    pair("two vec2 in one Location", at(0, "out vec2 a") + at(0, "out vec2 b", 2),
         at(0, "in vec2 a") + at(0, "in vec2 b", 2)),
    pair("four floats in one Location",
         "".join(at(0, f"out float a{n}", n) for n in range(4)),
         "".join(at(0, f"in float a{n}", n) for n in range(4))),
    pair("a vec3 and a float", at(0, "out vec3 a") + at(0, "out float b", 3),
         at(0, "in vec3 a") + at(0, "in float b", 3)),
    pair("an int and a float, both Flat", at(0, "flat out int a") + at(0, "flat out float b", 1),
         at(0, "flat in int a") + at(0, "flat in float b", 1)),
    pair("an array of floats at a Component", at(0, "out float a[2]", 1),
         at(0, "in float a[2]", 1)),
    pair("two doubles in one Location", at(0, "out double a") + at(0, "out double b", 2),
         at(0, "flat in double a") + at(0, "flat in double b", 2)),
    pair("far apart", at(28, "out vec4 a") + at(7, "out float b"),
         at(28, "in vec4 a") + at(7, "in float b")),
    pair("frag reads less", many("out", 5), at(2, "in vec4 v2")),
    pair("frag reads nothing", many("out", 5), ""),
    pair("frag reads one component", at(0, "out float a") + at(0, "out float b", 1),
         at(0, "in float b", 1)),
    pair("frag reads half of a block", at(0, "out B { vec4 p; vec2 q; } b"), at(1, "in vec2 q")),
    pair("a longer vector with maintenance4", at(0, "out vec4 a"), at(0, "in vec2 a"), True),
    pair("a longer ivec with maintenance4", at(0, "flat out ivec4 a"), at(0, "flat in ivec3 a"),
         True),
    Row("no fragment shader", (vert(many("out", 3)),)),
    pair("as many as there are", many("out", 30), many("in", 30)),
]  # fmt: skip

QUALIFIERS = [
    pair("only frag says Flat", at(0, "out vec4 a"), at(0, "flat in vec4 a")),
    pair("only vert says Flat", at(0, "flat out vec4 a"), at(0, "in vec4 a")),
    pair("only frag says NoPerspective", at(0, "out vec4 a"), at(0, "noperspective in vec4 a")),
    pair("only vert says Centroid", at(0, "centroid out vec4 a"), at(0, "in vec4 a")),
    pair("Sample against Centroid", at(0, "centroid out vec4 a"), at(0, "sample in vec4 a")),
    pair("only one is RelaxedPrecision", at(0, "out mediump vec4 a"), at(0, "in vec4 a")),
    pair("only the output is Invariant", at(0, "invariant out vec4 a"), at(0, "in vec4 a")),
]  # fmt: skip

STAGES = [
    patches("tessellation", vert(), tesc(), tese(), frag()),
    patches("through tessellation", vert(at(0, "out vec4 a")),
            tesc(at(0, "in vec4 a[]") + at(1, "out vec2 b[]")),
            tese(at(1, "in vec2 b[]") + at(0, "out vec3 c")), frag(at(0, "in vec3 c"))),
    patches("patch outputs", vert(), tesc(at(0, "patch out vec4 a") + at(1, "out vec4 b[]")),
            tese(at(0, "patch in vec4 a") + at(1, "in vec4 b[]")), frag()),
    patches("a patch block", vert(), tesc(at(2, "patch out B { vec4 p; float q[3]; } b")),
            tese(at(2, "patch in B { vec4 p; float q[3]; } b")), frag()),
    patches("a block of every vertex", vert(at(0, "out B { vec4 p; vec2 q; } b")),
            tesc(at(0, "in B { vec4 p; vec2 q; } b[]")), tese(), frag()),
    patches("tese reads less", vert(), tesc(many("out", 3, "[]")), tese(), frag()),
    patches("trimmed built-ins", vert(POSITION), tesc(IN_POSITION + OUT_POSITION),
            tese(IN_POSITION), frag()),
    patches("quads", vert(), tesc(), tese(domain="quads"), frag()),
    patches("isolines to geom", vert(), tesc(), tese(domain="isolines"), geom(takes="lines"),
            frag()),
    patches("triangles to geom", vert(), tesc(), tese(), geom(), frag()),
    patches("points to geom", vert(), tesc(), tese(domain="quads, point_mode"),
            geom(takes="points"), frag()),
    Row("geometry", (vert(), geom(), frag())),
    Row("through geometry", (vert(at(0, "out vec4 a")),
                             geom(at(0, "in vec4 a[]") + at(0, "out vec2 b")),
                             frag(at(0, "in vec2 b")))),
    Row("a block through geometry", (vert(at(0, "out B { vec4 p; vec2 q; } b")),
                                     geom(at(0, "in B { vec4 p; vec2 q; } b[]")), frag())),
    Row("an array through geometry", (vert(at(0, "out vec4 a[2]")),
                                      geom(at(0, "in vec4 a[][2]")), frag())),
    Row("lines", (vert(), geom(takes="lines"), frag()), topology=LINES),
    Row("points with their size", (vert(POINT, "gl_PointSize = 1;"), geom(IN_POINT, takes="points"),
                                   frag()), topology=POINTS),
    Row("a Position that is in no block", (LOOSE_VERT, geom(IN_POSITION), frag())),
    Row("geom reads fewer clip distances than vert has",
        (vert(f"out {CLIPPED.format(4)};"),
         geom(f"in {CLIPPED.format(2)} gl_in[];", "gl_Position.x = gl_in[0].gl_ClipDistance[1];"),
         frag())),
    Row("geom declares more clip distances, and reads none",
        (vert(f"out {CLIPPED.format(2)};"), geom(f"in {CLIPPED.format(4)} gl_in[];"), frag())),
    Row("two sources for one attachment",
        (vert(), frag("layout(location = 0, index = 0) out vec4 a;"
                      "layout(location = 0, index = 1) out vec4 b;", "a = vec4(1); b = a;"))),
    Row("geom writes the PrimitiveId",
        (vert(), geom("", "gl_PrimitiveID = 3;"),
         frag(at(0, "out vec4 o"), "o = vec4(gl_PrimitiveID);"))),
    Row("the PrimitiveId without geom",
        (vert(), frag(at(0, "out vec4 o"), "o = vec4(gl_PrimitiveID);"))),
    Row("clip and cull distances",
        (vert("out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[4];"
              " float gl_CullDistance[4]; };", "gl_ClipDistance[3] = 1;"), frag())),
    Row("frag reads clip distances",
        (vert("", "gl_ClipDistance[0] = 1; gl_ClipDistance[1] = 0;"),
         frag("in float gl_ClipDistance[2];" + at(0, "out vec4 o"),
              "o = vec4(gl_ClipDistance[1]);"))),
    Row("the Layer that nobody wrote",
        (vert(), geom(), frag(at(0, "out vec4 o"), "o = vec4(gl_Layer);"))),
    Row("all attachments", (vert(), frag(many("out", 8)))),
    Row("transform feedback",
        (vert("layout(xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0, location = 0) out vec4 a;"),
         frag())),
]  # fmt: skip

MESHES = [
    Row("a mesh", (mesh(), mesh_frag())),
    Row("through a mesh", (mesh(at(0, "out vec4 a[]")), mesh_frag(at(0, "in vec4 a")))),
    Row("a block through a mesh", (mesh(at(0, "out B { vec4 p; vec2 q; } b[]")),
                                   mesh_frag(at(0, "in B { vec4 p; vec2 q; } b")))),
    Row("a value of a primitive", (mesh(at(1, "perprimitiveEXT out vec4 a[]")),
                                   mesh_frag(at(1, "perprimitiveEXT in vec4 a")))),
    Row("a payload", (task("taskPayloadSharedEXT vec4 p;", "p = vec4(1);"),
                      mesh("taskPayloadSharedEXT vec4 p;",
                           "gl_MeshVerticesEXT[0].gl_Position = p;"), mesh_frag())),
    Row("a task without payload", (task(), mesh(), mesh_frag())),
    Row("all components, and FragCoord",
        (mesh(many("out", 32, "[]")),
         mesh_frag(many("in", 32) + at(0, "out vec4 o"), "o = gl_FragCoord;")),
        layer=rules(LIMIT), why="the layer counts FragCoord, which is in no block of built-ins"),
    Row("as large as a mesh may be", (mesh(vertices=256, primitives=256), mesh_frag())),
]  # fmt: skip

GOOD = [*ALIKE, *PLACES, *QUALIFIERS, *STAGES, *MESHES]
