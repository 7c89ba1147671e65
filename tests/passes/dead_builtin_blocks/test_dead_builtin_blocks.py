"""Built-in blocks: alike on both sides of a border after linking, with the sizes that they had."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.draw.border import slots
from spvlink.draw.reflect import BUILTIN, GEOMETRY, MESH, TESS_CONTROL, ReadStage
from spvlink.facts.decorations import Decorations, Names
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Module
from spvlink.link.check.interface import declared
from spvlink.link.pack.share_per_patch import MAX_PATCH_COMPONENTS
from tests.support.chain_hazards import PASS, frag, geom, tesc, tese, vert
from tests.support.chains import CHAINS, build
from tests.support.linking import INPUT, OUTPUT, module_of
from tests.support.samples import compile_glsl, edited

BLOCK = "gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[3]; }"


def blocks(module: Module, storage: int) -> list[list[tuple[int, int]]]:
    """(built-in, size of its array or 0) for each member of the blocks of a storage class."""
    tables = Decorations.of(module)
    found = []
    assert module.entry is not None
    for variable in module.entry.inst.args[1:]:
        assert variable.type is not None
        struct = variable.type.args[0]
        while struct.op == ops.OpTypeArray:
            struct = struct.args[0]
        sizes = [types.size_of(m) if m.op == ops.OpTypeArray else 0 for m in struct.args]
        held = [tables.find_member(struct, n, enums.Decoration_BuiltIn) for n in range(len(sizes))]
        if variable.imm[0] == storage and struct.op == ops.OpTypeStruct and held[0]:
            found.append([(words[0], size) for words, size in zip(held, sizes) if words])
    return found


def chain(reads: str, writes: str) -> list[bytes]:
    """A vertex shader that writes all of a block, and a geometry shader that reads some of it."""
    first = vert(
        f"out {BLOCK}; layout(location = 3) out vec4 c; layout(location = 5) out vec4 dead;",
        """gl_PointSize = a.x; gl_ClipDistance[0] = a.y; gl_ClipDistance[1] = 1.0 + b.y;
gl_ClipDistance[2] = b.x; c = a; dead = b;""",
    )
    second = geom(
        f"""in {BLOCK} gl_in[]; out {BLOCK};
layout(location = 3) in vec4 c[]; layout(location = 5) in vec4 dead[];
layout(location = 0) out vec4 p;""",
        f"""for (int i = 0; i < 3; ++i) {{ p = c[i]; {reads} {writes}
gl_Position = gl_in[i].gl_Position; EmitVertex(); }}""",
    )
    last = frag("layout(location = 0) in vec4 p;", "color = p;")
    return [compile_glsl(text, stage) for stage, text in (first, second, last)]


@pytest.mark.parametrize(
    ("reads", "writes"),
    [
        ("", ""),
        ("p.x += gl_in[i].gl_ClipDistance[1];", ""),
        ("", "gl_ClipDistance[0] = 1.0; gl_ClipDistance[1] = 0.5; gl_ClipDistance[2] = c[0].x;"),
        ("p.x += gl_in[i].gl_PointSize;", "gl_ClipDistance[1] = gl_in[i].gl_ClipDistance[2];"),
    ],
    ids=["nothing", "read", "written", "both"],
)
def test_blocks_fit_and_clip_distances_keep_their_size(reads: str, writes: str) -> None:
    codes = chain(reads, writes)
    options = spvlink.Options(clean=True)
    options.check_each = True
    linked = spvlink.link(codes, options)
    assert linked.defect is None and linked.passed_through is None
    assert linked.validated == "validated"
    before = [module_of(code) for code in codes]
    after = [module_of(stage.data) for stage in linked.stages]
    assert blocks(after[0], OUTPUT) == blocks(after[1], INPUT)
    # the last stage before rasterization: its size enables planes
    assert blocks(after[1], OUTPUT) == blocks(before[1], OUTPUT)
    clip = enums.BuiltIn_ClipDistance
    assert [s for b in blocks(after[1], OUTPUT) for m, s in b if m == clip] == [3]
    idle = {r.name for r in linked.remarks if r.slot == "built-in"}
    assert ("gl_PointSize" in idle) == ("PointSize" not in reads)
    assert ("gl_ClipDistance" in idle) == ("gl_in[i].gl_ClipDistance" not in reads + writes)


def test_limits_that_were_kept_are_kept() -> None:
    """No more components with those of the built-in block, and no higher Location."""
    linked = spvlink.link(chain("", ""), clean=True)
    for border in linked.interfaces:
        assert border.components[1] <= border.components[0]
        assert border.locations[1] <= border.locations[0]
    places = [s.data for s in linked.stages]
    highest = max(p[0] for d in declared(module_of(places[0]), OUTPUT) for p in d.covers)
    assert highest <= 5


# --- members that neither side uses ---

POSITION, SIZE = (enums.BuiltIn_Position, 0), (enums.BuiltIn_PointSize, 0)
FULL = [POSITION, SIZE, (enums.BuiltIn_ClipDistance, 1), (enums.BuiltIn_CullDistance, 1)]
V = vert("layout(location = 0) out vec4 c;", "c = a; gl_PointSize = 1.5;")
C = tesc(
    "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 p[];",
    "p[gl_InvocationID] = c[gl_InvocationID].wzyx; gl_out[gl_InvocationID].gl_PointSize = 2.0;",
)
E = tese(
    "layout(location = 0) in vec4 p[]; layout(location = 0) out vec4 c;",
    "c = p[0] * w.x + p[1] * w.y + p[2] * w.z;",
)
G = geom(
    "layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 f;",
    f"for (int i = 0; i < 3; ++i) {{ f = c[i] * 0.5; {PASS} }}",
)
F = frag("layout(location = 0) in vec4 f;", "color = f;")
F_E = frag("layout(location = 0) in vec4 c;", "color = c;")
PIPELINES = {
    "vert tesc tese frag": [V, C, E, F_E],
    "vert geom frag": [V, G, F],
    "vert tesc tese geom frag": [V, C, E, G, F],
}
BLOCK_IN = "%gl_PerVertex_0"  # of the geometry shader, as spirv-dis calls it
READS_SIZE = "f = c[i] * gl_in[i].gl_PointSize; gl_PointSize = gl_in[i].gl_PointSize;"


def compiled(stages: list[tuple[str, str]]) -> list[bytes]:
    return [compile_glsl(text, stage) for stage, text in stages]


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, value in settings.items():
        setattr(options, name, value)
    linked = spvlink.link(list(codes), options)
    assert linked.defect is None
    return linked


def same_picture(codes: list[bytes], linked: spvlink.Linked) -> None:
    scene, before = draw_covering(codes)
    assert before.is_good()
    difference = compare(before, draw([s.data for s in linked.stages], scene))
    assert not difference, str(difference)


@pytest.mark.parametrize("name", PIPELINES)
def test_what_neither_side_uses_goes_from_both(name: str) -> None:
    """On every border before the last stage; a picture; and nothing is left for a second link."""
    codes = compiled(PIPELINES[name])
    linked = link(codes, exact=True)
    assert linked.validated == "validated"
    stages = name.split()
    after = [module_of(stage.data) for stage in linked.stages]
    removed = {(r.interface, r.name) for r in linked.remarks if r.slot == "built-in"}
    for n, (first, second) in enumerate(zip(stages[:-1], stages[1:-1])):
        assert blocks(after[n], OUTPUT) == blocks(after[n + 1], INPUT) == [[POSITION]]
        title = f"{first}->{second}"
        names = ("gl_PointSize", "gl_ClipDistance", "gl_CullDistance")
        assert {gone for border, gone in removed if border == title} == set(names)
    # the planes of the last stage before rasterization
    assert blocks(after[-2], OUTPUT) == blocks(module_of(codes[-2]), OUTPUT) == [FULL]
    again = link([stage.data for stage in linked.stages], exact=True)
    assert again.passed_through == "nothing to gain"
    same_picture(codes, linked)


def test_what_stays_has_new_numbers() -> None:
    """Only a later member is used: it is the first one now, through one access chain or two."""
    first = vert("layout(location = 0) out vec4 c;", "c = a; gl_PointSize = a.x;")
    text = f"for (int i = 0; i < 3; ++i) {{ gl_Position = c[i]; {READS_SIZE} EmitVertex(); }}"
    second = geom("layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 f;", text)
    codes = compiled([first, second, F])
    in_two = edited(
        codes[1],
        (
            r"(%\d+) = OpAccessChain (%_ptr_Input_float) (%gl_in) (%\d+) (%int_1)",
            r"\1x = OpAccessChain %part \3 \4\n\1 = OpAccessChain \2 \1x \5",
        ),
        (r"( *%gl_in = OpVariable)", r"%part = OpTypePointer Input %gl_PerVertex_0\n\1"),
    )
    for code in (codes[1], in_two):
        linked = link([codes[0], code, codes[2]])
        assert linked.validated == "validated" and linked.passed_through is None
        after = [module_of(stage.data) for stage in linked.stages]
        assert blocks(after[0], OUTPUT) == blocks(after[1], INPUT) == [[SIZE]]
        assert blocks(after[1], OUTPUT) == [FULL]
        again = link([stage.data for stage in linked.stages])
        assert again.passed_through == "nothing to gain"


def test_clip_distances_that_are_read_between_stages() -> None:
    """Drawn: the geometry shader clips by what the vertex shader says."""
    plane = "gl_ClipDistance[0] = gl_ClipDistance[1] = 1.0; gl_ClipDistance[2] = "
    for wanted, text in ((0.25, "gl_in[i].gl_ClipDistance[0] - 0.25;"), (9.0, "9.0;")):
        codes = chain("", plane + text)
        linked = link(codes, exact=True)
        after = [module_of(stage.data) for stage in linked.stages]
        clip = (enums.BuiltIn_ClipDistance, 3)
        between = [POSITION, clip] if wanted < 1 else [POSITION]
        assert blocks(after[0], OUTPUT) == blocks(after[1], INPUT) == [between]
        assert blocks(after[1], OUTPUT) == [[POSITION, SIZE, clip]]
        same_picture(codes, linked)


def test_a_type_that_other_variables_have() -> None:
    """Both blocks of the geometry shader are of one type, as spirv-link leaves them; only that of
    the border shrinks."""
    codes = compiled([V, G, F])
    codes[1] = edited(
        codes[1],
        (rf".*(Name|Decorate) {BLOCK_IN} .*\n", ""),
        (rf".*{BLOCK_IN} = OpTypeStruct.*\n", ""),
        (rf"{BLOCK_IN}\b", "%gl_PerVertex"),
    )
    linked = link(codes, exact=True)
    assert linked.validated == "validated"
    after = [module_of(stage.data) for stage in linked.stages]
    assert blocks(after[0], OUTPUT) == blocks(after[1], INPUT) == [[POSITION]]
    assert blocks(after[1], OUTPUT) == [FULL]
    names = Names(after[1])
    structs = [i for i in after[1].globals if i.op == ops.OpTypeStruct]
    assert [names.of(i) for i in structs] == ["gl_PerVertex"] * 2
    again = link([stage.data for stage in linked.stages], exact=True)
    assert again.passed_through == "nothing to gain"
    same_picture(codes, linked)


STAYS = {
    "by --keep-interface": "keep",
    "its decorations are in groups": "groups",
    "": "whole",
}


@pytest.mark.parametrize("why", STAYS, ids=STAYS.values())
def test_what_stays_and_why(why: str) -> None:
    codes = compiled([V, G, F])
    settings: dict[str, object] = {}
    if STAYS[why] == "keep":
        settings["keep_interface"] = frozenset(("vert",))
    elif STAYS[why] == "groups":
        codes[1] = edited(
            codes[1],
            (
                rf"( *)OpMemberDecorate {BLOCK_IN} 1 (.*)\n",
                rf"OpDecorate %group \2\n%group = OpDecorationGroup\n"
                rf"OpGroupMemberDecorate %group {BLOCK_IN} 1\n",
            ),
        )
    else:  # a whole element is loaded
        codes[1] = edited(
            codes[1],
            (
                r"(%\d+) = OpAccessChain %_ptr_Input_v4float (%gl_in) (%\d+) %int_0\n"
                r" *(%\d+) = OpLoad %v4float \1\n",
                rf"\1 = OpAccessChain %part \2 \3\n\1x = OpLoad {BLOCK_IN} \1\n"
                r"\4 = OpCompositeExtract %v4float \1x 0\n",
            ),
            (r"( *%gl_in = OpVariable)", rf"%part = OpTypePointer Input {BLOCK_IN}\n\1"),
        )
    linked = link(codes, clean=True, **settings)
    assert linked.passed_through is None and linked.validated == "validated"
    after = [module_of(stage.data) for stage in linked.stages]
    assert blocks(after[0], OUTPUT) == blocks(after[1], INPUT) == [FULL]
    kept = {r.why for r in linked.remarks if r.slot == "built-in" and r.action == "kept"}
    said = {"groups": {why}, "whole": {"its block is accessed as a whole"}}
    assert kept == said.get(STAYS[why], set())


# --- limits ---

PATCH = enums.Decoration_Patch


def limits(code: bytes) -> dict[str, int]:
    """What Vulkan's limits on interfaces count, of both sides of a stage: components (and the
    highest Location, which must be less than a fourth of them), with built-ins that are
    declared."""
    stage = ReadStage(code)
    found: dict[str, int] = {}
    for storage, side in ((INPUT, "input"), (OUTPUT, "output")):
        user = slots(stage, storage)
        kinds = {False: "", True: " per patch"}
        for patch, kind in kinds.items():
            mine = [place for place, slot in user.items() if slot.patch is patch]
            found[f"{side} components{kind}"] = len(mine)
        found[f"highest {side} Location"] = max((location for location, _ in user), default=-1)
        found[f"{side} components"] += builtin_components(stage, storage)
    if stage.model in (TESS_CONTROL, GEOMETRY, MESH):
        vertices = stage.modes[26][0]  # OutputVertices
        total = found["output components"] * vertices + found["output components per patch"]
        found["total output components"] = total
    return found


def builtin_components(stage: ReadStage, storage: int) -> int:
    """Of variables and blocks of a storage class, arrays over vertices counted once; the levels of
    a patch have a place of their own."""
    module = stage.module
    total = 0
    for variable in stage.interface:
        if module.variables.get(variable, (0, -1))[1] != storage or (
            PATCH in module.decorations[variable]
        ):
            continue
        inner, _ = stage.strip_arrays(stage.pointee(variable))
        op, members = module.types[inner]
        if BUILTIN in module.decorations[variable]:
            total += components(stage, stage.pointee(variable))
        elif op == 30 and BUILTIN in module.member_decorations[inner, 0]:
            total += sum(components(stage, member) for member in members)
    return total


def components(stage: ReadStage, type_id: int) -> int:
    inner, count = stage.strip_arrays(type_id)
    number = stage.numeric(inner)
    assert number is not None
    return number.count * count


def test_clip_distances_count() -> None:
    """The ruler itself: a Position, a PointSize, three planes, one varying; and 3 vertices of
    them."""
    found = limits(chain("", "")[1])
    assert found["output components"] == 4 + 1 + 3 + 4
    assert found["input components"] == 4 + 1 + 3 + 4 + 4
    assert found["total output components"] == 12 * 6


@pytest.mark.parametrize("name", CHAINS)
def test_no_limit_is_approached(name: str) -> None:
    """No count of any stage grows by linking, exact or not; but Patch outputs may take the place of
    those per vertex, as many as every device allows."""
    codes = list(build(name))
    before = [limits(code) for code in codes]
    for exact in (False, True):
        options = spvlink.Options(clean=True)
        options.validate = False
        options.exact = exact
        linked = spvlink.link(list(codes), options)
        assert linked.defect is None
        for stage, old in zip(linked.stages, before):
            new = limits(stage.data)
            most = dict(old)
            for what in ("input components per patch", "output components per patch"):
                most[what] = max(old[what], MAX_PATCH_COMPONENTS)
            grown = {what: (old[what], n) for what, n in new.items() if n > most[what]}
            assert not grown, f"{stage.stage}: {grown}"
