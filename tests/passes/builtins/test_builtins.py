"""Built-ins cross like varyings: every built-in x every border x every way to write it
(tests/support/builtin_matrix.py), drawn with two scenes and linked twice."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.draw.scene import make_scene
from spvlink.grammar import enums
from spvlink.link.builtins.side import Side
from tests.support.builtin_matrix import CELLS, CHAINS, Cell, build
from tests.support.chain_checks import check_modules, close
from tests.support.chain_hazards import PASS, frag, geom, vert
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

GONE = {
    "constant": "propagated", "uniform": "propagated", "never": "undefined", "partly": "propagated",
}  # fmt: skip


def accesses(cell: Cell, stages: list[bytes]) -> tuple[int, int]:
    """How often the consumer loads the built-in, and how often the producer stores it."""
    order, number = CHAINS[cell.border], frozenset({cell.builtin.number})
    own = cell.border == "tesc->tesc"
    storage = enums.StorageClass_Output if own else enums.StorageClass_Input
    consumer = module_of(stages[order.index(cell.consumer)])
    producer = module_of(stages[order.index(cell.producer)])
    loads = Side(consumer, storage, number).loads
    return len(loads), len(Side(producer, enums.StorageClass_Output, number).stores)


def wanted_loads(cell: Cell) -> int:
    """How many loads of the built-in are left, of scalars or of a whole vector."""
    if cell.way in GONE or cell.border == "tesc->tesc":
        return 0
    if cell.way == "vertex":
        return 1 if cell.builtin.type == "vec4" else len(cell.builtin.parts)
    return 1


def linked_of(cell: Cell, codes: list[bytes]) -> spvlink.Linked:
    options = spvlink.Options(clean=True, view_mask=0)
    options.check_each = True
    return spvlink.link(codes, options)


@pytest.mark.parametrize("cell", CELLS, ids=lambda c: c.name)
def test_cells(cell: Cell) -> None:
    codes = list(build(cell))
    linked = linked_of(cell, codes)
    new = [stage.data for stage in linked.stages]
    assert linked.defect is None
    assert not check_modules(codes, new, linked)
    loads, stores = accesses(cell, new)
    assert loads == wanted_loads(cell), [str(r.why) for r in linked.remarks]
    _, before = accesses(cell, codes)
    fixed = cell.consumer == "frag" or cell.builtin.level
    if fixed and cell.builtin.number != enums.BuiltIn_PrimitiveId:
        assert stores == before, "a fixed function reads it"
    if cell.way in GONE and cell.border != "tesc->tesc":
        said = {r.action for r in linked.remarks if r.name.startswith(cell.builtin.name)}
        assert GONE[cell.way] in said or loads
    for seed in (0, 1):
        if seed == 0:
            # layers share the pixels that are counted
            scene, picture = draw_covering(codes, coverage=0.05)
            assert picture.is_good(0.05), "the result proves nothing"
        else:
            scene = make_scene(codes, seed)
            picture = draw(codes, scene)
        assert not close(picture, draw(new, scene))
    again = linked_of(cell, new)
    assert [stage.data for stage in again.stages] == new


# --- beside the matrix ---

CULLED = "float gl_CullDistance[1];"
CLIPPED = f"out gl_PerVertex {{ vec4 gl_Position; float gl_ClipDistance[2]; {CULLED} }};"
READS_BOTH = f"in float gl_ClipDistance[2]; in {CULLED}"
COLOR = "color = vec4(gl_ClipDistance[0], gl_ClipDistance[1], gl_CullDistance[0], 1.0);"


def told(stages: list[tuple[str, str]], **settings: object) -> dict[str, str]:
    """Links, draws with exact results, and gives what is said of built-ins that are read."""
    environment = "vulkan1.2" if stages[0][0] == "mesh" else "vulkan1.1"
    codes = [compile_glsl(text, stage, environment) for stage, text in stages]
    options = spvlink.Options(clean=True, view_mask=0)
    options.check_each = options.exact = True
    for name, value in settings.items():
        setattr(options, name, value)
    linked = spvlink.link(list(codes), options)
    assert linked.defect is None
    new = [stage.data for stage in linked.stages]
    assert not check_modules(codes, new, linked)
    scene, before = draw_covering(codes)
    assert before.coverage > 0.05
    assert not compare(before, draw(new, scene))
    return {r.name: f"{r.action} {r.why}" for r in linked.remarks if r.slot == "built-in"}


def test_distances_are_read_together_or_not_at_all() -> None:
    """Mesa counts cull distances behind the clip distances that a shader uses."""
    f = frag(READS_BOTH, COLOR)
    clip = "gl_ClipDistance[0] = 0.5; gl_ClipDistance[1] = 0.25;"
    known = told([vert(CLIPPED, f"{clip} gl_CullDistance[0] = 0.125;"), f], exact=False)
    assert {k for k, v in known.items() if v.startswith("propagated")} == {
        "gl_ClipDistance[0]", "gl_ClipDistance[1]", "gl_CullDistance[0]",
    }  # fmt: skip
    half = told([vert(CLIPPED, f"{clip} gl_CullDistance[0] = a.x * a.x + 1.0;"), f], exact=False)
    why = "kept the stage reads gl_CullDistance, too; drivers count it after these"
    assert half == {"gl_ClipDistance[0]": why, "gl_ClipDistance[1]": why}


def test_exact_keeps_what_is_interpolated() -> None:
    v = vert(CLIPPED.replace(CULLED, ""), "gl_ClipDistance[0] = 0.3;")
    f = frag("in float gl_ClipDistance[2];", "color = vec4(gl_ClipDistance[0]) + gl_FragCoord.x;")
    why = "kept not propagated: --exact: interpolation may round where the value does not"
    assert told([v, f]) == {"gl_ClipDistance[0]": why}
    assert told([v, f], exact=False) == {"gl_ClipDistance[0]": "propagated constant 0.3"}
    assert not told([v, f], exact=False, disable=frozenset({"builtins"}))


@pytest.mark.parametrize("name", ["gl_Layer", "gl_ViewportIndex"])
def test_a_layer_that_nobody_writes_is_zero(name: str) -> None:
    """Drawn: it is seen. Where there may be views, they may choose it."""
    v = vert("layout(location = 0) out vec4 c;", "c = a;")
    f = frag("layout(location = 0) in vec4 c;", f"color = c + vec4(float({name}) * 0.5 + 0.25);")
    why = "undefined the vert stage never writes it; read as zero"
    assert told([v, f]) == {name: why}
    codes = [compile_glsl(text, stage) for stage, text in (v, f)]
    for mask in (None, 3):
        linked = spvlink.link(codes, view_mask=mask)
        kept = {r.name: r.action for r in linked.remarks if r.slot == "built-in"}
        assert kept == {name: "kept"}


def test_a_point_that_has_no_size_has_one() -> None:
    v = vert("layout(location = 0) out vec4 c;", "c = a;")
    g = geom(
        "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 f;",
        "for (int i = 0; i < 3; ++i) { f = c[i]; if (c[i].x > 1.0e9) f.y += gl_in[i].gl_PointSize;"
        f" {PASS} }}",
    )
    f = frag("layout(location = 0) in vec4 f;", "color = f;")
    said = told([v, g, f])["gl_PointSize"]
    assert said == "undefined the vert stage never writes it; read as one"


def test_what_cannot_be_followed_stays() -> None:
    """A dynamic index, on either side."""
    clip = "gl_ClipDistance[0] = gl_ClipDistance[1] = 0.5;"
    both = CLIPPED.replace(CULLED, "")
    index = "int(gl_FragCoord.x) & 1"
    f = frag("in float gl_ClipDistance[2];", f"color = vec4(gl_ClipDistance[{index}]);")
    why = {"gl_ClipDistance": "kept it is accessed with a dynamic index"}
    assert told([vert(both, clip), f], exact=False) == why
    v = vert(both, f"{clip} gl_ClipDistance[k.x & 1] = 0.25;")
    f = frag("in float gl_ClipDistance[2];", "color = vec4(gl_ClipDistance[0]);")
    assert told([v, f], exact=False) == why


def test_an_invariant_position_is_not_propagated() -> None:
    """Another pipeline may compute it in its stage."""
    v = vert("invariant gl_Position; layout(location = 0) out vec4 c;", "c = a;")
    g = geom(
        "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 f;",
        f"for (int i = 0; i < 3; ++i) {{ f = c[i] * gl_in[i].gl_Position.w; {PASS} }}",
    )
    f = frag("layout(location = 0) in vec4 f;", "color = f;")
    said = told([v, g, f])
    assert said["gl_Position.w"].startswith("kept not propagated: it is Invariant")
    v = (v[0], v[1].replace("invariant gl_Position; ", ""))
    assert told([v, g, f])["gl_Position.w"] == "propagated constant 1"


def test_a_vector_that_is_used_whole_is_loaded_whole() -> None:
    """Also where its w is known, and two of its components are equal."""
    v = vert("layout(location = 0) out vec4 c;", "c = a; gl_Position = vec4(position.xy, a.zz);")
    g = geom(
        "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 f;",
        f"for (int i = 0; i < 3; ++i) {{ f = c[i] + gl_in[i].gl_Position; {PASS} }}",
    )
    f = frag("layout(location = 0) in vec4 f;", "color = f;")
    codes = [compile_glsl(text, stage) for stage, text in (v, g, f)]
    linked = spvlink.link(list(codes), clean=True)
    module = module_of(linked.stages[1].data)
    number = frozenset({int(enums.BuiltIn_Position)})
    loads = Side(module, enums.StorageClass_Input, number).loads
    assert len(loads) == 1 and loads[0].inst.type is loads[0].holder.type


def test_a_varying_that_says_what_a_layer_says_goes() -> None:
    g = geom(
        "layout(location = 0) flat out int layer; layout(location = 1) out vec4 f;",
        "for (int i = 0; i < 3; ++i) { gl_Layer = gl_PrimitiveIDIn & 1; layer = gl_Layer;"
        f" f = gl_in[i].gl_Position; {PASS} }}",
    )
    f = frag(
        "layout(location = 0) flat in int layer; layout(location = 1) in vec4 f;",
        "color = f + float(layer) + float(gl_Layer);",
    )
    codes = [compile_glsl(text, stage) for stage, text in (vert("", ""), g, f)]
    linked = spvlink.link(list(codes), clean=True)
    assert [(r.action, r.why) for r in linked.remarks if r.name == "layer"] == [
        ("merged", "the same as gl_Layer")
    ]
    told([vert("", ""), g, f])
