"""What a stage declares that goes out in a shell, as it came, or rewritten: just what was placed.

Each producer stage in front of a fragment shader, whose inputs a and b have each way to interpolate
and sit in Locations of their own; b holds a uniform, a constant, what is equal for the primitive,
or anything. What is equal at all vertices may be put into the hole of any other Location.
"""

from __future__ import annotations

import itertools
from functools import cache

import pytest

import spvlink
from spvlink.binary.encode import encode
from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums
from spvlink.ir.core import text_of_name
from spvlink.ir.edit import need_capability
from spvlink.link.check import interface
from spvlink.sets.link_set import link_set
from tests.support.chain_text import frag, geom, mesh, tesc, tese, vert
from tests.support.closeness import assert_close
from tests.support.linking import INPUT, OUTPUT, module_of
from tests.support.samples import compile_glsl

WAYS: dict[str, tuple[int, ...]] = {
    "smooth": (),
    "noperspective": (enums.Decoration_NoPerspective,),
    "centroid": (enums.Decoration_Centroid,),
    "sample": (enums.Decoration_Sample,),
    "flat": (enums.Decoration_Flat,),
}
PUSH = "layout(push_constant) uniform Push { float f; } pc;\n"
OUT = (
    PUSH
    + """layout(location = 0) out float va; layout(location = 1) out float vb;
layout(location = 2) out float vk;
"""
)
ARRAYS = OUT.replace("va;", "va[];").replace("vb;", "vb[];").replace("vk;", "vk[];")
PATCH = """layout(location = 1) patch {} float whole;
layout(location = 0) {} float x[];
"""
GEOMETRY = """float equal = gl_in[0].gl_Position.x + gl_in[1].gl_Position.y;
for (int i = 0; i < 3; ++i) {
    gl_Position = gl_in[i].gl_Position;
    va = gl_Position.x; vb = HERE; vk = 0.5; EmitVertex();
}"""
# producer -> (the stages before the fragment shader, HERE what is stored in b; a value that is
# equal for the primitive; one that is not)
PRODUCERS = {
    "vert": ([vert(OUT, "va = a.x; vb = HERE; vk = 0.5;")], "float(gl_InstanceIndex)", "b.y"),
    "tese": (
        [
            vert("layout(location = 0) out float x;", "x = a.x;"),
            tesc(
                PATCH.format("out", "in") + "layout(location = 0) out float y[];",
                "y[gl_InvocationID] = x[gl_InvocationID]; whole = x[0] + x[1];",
            ),
            tese(PATCH.format("in", "in") + OUT, "va = x[0] * w.x; vb = HERE; vk = 0.5;"),
        ],
        "whole",
        "x[2] * w.z",
    ),
    "geom": ([vert("", ""), geom(OUT, GEOMETRY)], "equal", "gl_Position.y"),
    "mesh": (
        [mesh(ARRAYS, "va[i] = at.x; vb[i] = HERE; vk[i] = 0.5;")],
        "float(gl_WorkGroupID.x)",
        "at.y",
    ),
}
FIRST = (enums.Decoration_Component, 0)
KINDS = ("uniform", "constant", "primitive", "varying")


@cache
def producers(name: str, kind: str) -> list[bytes]:
    """The stages before the fragment shader."""
    stages, primitive, varying = PRODUCERS[name]
    stored = {"uniform": "pc.f", "constant": "0.75", "primitive": primitive, "varying": varying}
    return [
        compile_glsl(text.replace("HERE", stored[kind]), stage, "vulkan1.2")
        for stage, text in stages
    ]


@cache
def consumer(a: str, b: str, constant: bool = False) -> bytes:
    """``constant``: it reads another input, which is always 0.5, and so is rewritten."""
    module = module_of(_plain(constant))
    names = {text_of_name(name): of for of, name in module.names}
    for name, way in (("va", a), ("vb", b)):
        if WAYS[way]:
            Decorations.add(module, names[name], [(number,) for number in WAYS[way]])
        if way == "sample":
            need_capability(module, enums.Capability_SampleRateShading)
    return encode(module)


@cache
def _plain(constant: bool) -> bytes:
    declared, read = "layout(location = 0) in float va; layout(location = 1) in float vb;", "0.5"
    if constant:
        declared, read = declared + "layout(location = 2) in float vk;", "vk"
    main = f"color = vec4(sin(va + x), sin(vb * x), sin(va + vb + x), {read});"
    return compile_glsl(frag(declared, "float x = gl_FragCoord.x * 0.1;" + main)[1], "frag")


def declared(codes: list[bytes]) -> list[str]:
    """What both sides of the last border declare: places, types, and how it is read."""
    found: list[str] = []
    for code, storage in ((codes[-2], OUTPUT), (codes[-1], INPUT)):
        module = module_of(code)
        tables = Decorations.of(module)
        for one in interface.declared(module, storage):
            notes = sorted({*tables.targets[one.label.variable]} - {FIRST})
            found.append(f"{storage} {one.shape} {notes}")
    return sorted(found)


def linked(codes: list[bytes], **settings: object) -> list[bytes]:
    result = spvlink.link(codes, **{"validate": False, **settings})
    assert result.defect is None, result.defect
    assert result.passed_through in (None, "nothing to gain")
    new = [stage.data for stage in result.stages]
    assert not mismatches(new)
    return new


PAIRS = [*itertools.permutations(WAYS, 2), ("centroid", "centroid")]


@pytest.mark.parametrize("name", PRODUCERS)
def test_what_is_declared(name: str) -> None:
    """Just as the stage declares it that is rewritten (``--clean``)."""
    shared = 0
    for kind, (a, b) in itertools.product(("uniform", "primitive"), PAIRS):
        before = producers(name, kind)
        if kind == "uniform":
            linked([*before, consumer(a, b, constant=True)])
        said = declared(linked([*before, consumer(a, b)]))
        assert said == declared(linked([*before, consumer(a, b)], clean=True)), (kind, a, b)
        shared += all("(30, 0)" in line for line in said)
    assert shared >= 8  # pairs whose Location holds both


EACH = {"vert": 1, "tese": 5, "geom": 5, "mesh": 5}  # which of the rows, for the time it takes


@pytest.mark.parametrize("name", PRODUCERS)
def test_modes(name: str) -> None:
    """What a mode makes fits, whoever goes out in a shell there."""
    modes: tuple[dict[str, object], ...] = (
        {"keep_interface": {"frag"}}, {"exact": True}, {"disable": {"propagate"}},
        {"keep_interface": {name}}, {},
    )  # fmt: skip
    rows = [*itertools.product(enumerate(KINDS), enumerate(PAIRS))]
    for (at, kind), (number, (a, b)) in rows[:: EACH[name]]:
        mode = (number + at + [*PRODUCERS].index(name)) % 6
        before, after = producers(name, kind), consumer(a, b, constant=number % 2 > 0)
        if mode < len(modes):
            linked([*before, after], **modes[mode])
            continue
        both = [[*before, after], [*before, consumer(b, a)]]
        made = link_set([([spvlink.Source(c) for c in row], NOT_VALIDATED) for row in both])
        for result in made.pipelines:
            assert isinstance(result, spvlink.Linked) and result.defect is None
            assert not mismatches([stage.data for stage in result.stages])


NOT_VALIDATED = spvlink.Options(validate=False)
DRAWN = (("smooth", "noperspective"), ("sample", "centroid"), ("flat", "smooth"))


@pytest.mark.parametrize("name", PRODUCERS)
def test_drawn(name: str) -> None:
    for (a, b), kind in itertools.product(DRAWN, ("uniform", "primitive")):
        codes = [*producers(name, kind), consumer(a, b)]
        scene, before = draw_covering(codes)
        assert before.is_good()
        assert_close(before, draw(linked(codes, validate=True), scene))
        assert not compare(before, draw(linked(codes, exact=True), scene))


CALL = "float call(float x) { float s = x; for (int i = 0; i < 2; ++i) s += x; return s; }\n"
# (stages; which of them go out in a shell)
OTHERS = {
    "precision, Invariant, Component": (
        [
            vert(
                CALL + """layout(location = 1) out mediump vec2 half_;
                layout(location = 2, component = 1) invariant out vec3 kept;
                layout(location = 3) flat out vec3 said; layout(location = 4) out mat2x3 matrix;
                layout(location = 6) noperspective out float list[2];""",
                """half_ = a.xy; kept = sin(a.xyz) + call(a.x); said = sin(b.xyz);
                matrix = mat2x3(a * b, b.xy + 1.0); list[0] = b.z; list[1] = b.w;""",
            ),
            frag(
                CALL + """layout(location = 1) in mediump vec2 half_;
                layout(location = 2, component = 1) centroid in vec3 kept;
                layout(location = 3) in vec3 said; layout(location = 4) flat in mat2x3 matrix;
                layout(location = 6) in float list[2];""",
                """float x = call(gl_FragCoord.x); color = vec4(half_ * x, kept.x * x, 1.0);
                color += sin(vec4(said * kept, list[0])) + vec4((matrix * half_) * list[1], x);""",
            ),
        ],
        (0, 1),
    ),
    "an array that stays whole": (
        [
            vert(
                CALL + "layout(location = 1) out vec4 list[3];"
                "layout(location = 5) out vec2 c; layout(location = 6) out vec2 d;",
                "c = a.zw; d = b.zw; list[k.x & 1] = a * call(b.x); list[2] = b;",
            ),
            frag(
                CALL + "layout(location = 1) flat in vec4 list[3];"
                "layout(location = 5) in vec2 c; layout(location = 6) in vec2 d;",
                "color = vec4(c, d) + list[int(gl_FragCoord.x) % 3] * call(gl_FragCoord.y);",
            ),
        ],
        (0, 1),
    ),
    "Patch": (
        [
            vert("layout(location = 0) out vec2 x;", "x = a.xy;"),
            tesc(
                """layout(location = 0) in vec2 x[]; layout(location = 0) patch out vec4 gone;
                layout(location = 1) out vec2 y[]; layout(location = 2) patch out vec3 whole;""",
                "y[gl_InvocationID] = x[gl_InvocationID]; gone = vec4(1.0); whole = x[0].xyx;",
            ),
            tese(
                CALL + """layout(location = 1) flat in vec2 y[];
                layout(location = 2) patch in vec3 whole; layout(location = 3) out vec3 z;""",
                "z = whole * call(w.x); z.x += y[0].x * w.y;",
            ),
            frag(CALL + "layout(location = 3) in vec3 z;", "color = vec4(z * call(z.x), 1.0);"),
        ],
        (3,),
    ),
    "PerPrimitiveEXT": (
        [
            mesh(
                """layout(location = 0) out vec4 gone[];
                layout(location = 1) perprimitiveEXT out vec3 whole[];
                layout(location = 2) out vec2 c[];""",
                """gone[i] = vec4(at.x); c[i] = at;
                if (i < 8) whole[i] = vec3(at, float(i));""",
            ),
            frag(
                """#extension GL_EXT_mesh_shader : require
                """ + CALL + """layout(location = 1) perprimitiveEXT in vec3 whole;
                layout(location = 2) in vec2 c;""",
                "color = vec4(whole * call(c.x), c.y);",
            ),
        ],
        (1,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_decorations(name: str) -> None:
    stages, shells = OTHERS[name]
    codes = [compile_glsl(text, stage, "vulkan1.2") for stage, text in stages]
    disable = {"backward", "forward", "weighted", "share"}
    made = linked(codes, validate=True, disable=disable)
    cleaned = linked(codes, clean=True, disable=disable)
    for at, (code, before, clean) in enumerate(zip(made, codes, cleaned)):
        assert (code not in (before, clean)) == (at in shells), at
    for at in range(2, len(codes) + 1):
        assert declared(made[:at]) == declared(cleaned[:at])
    scene, before = draw_covering(codes)
    assert before.is_good() and not compare(before, draw(made, scene))
