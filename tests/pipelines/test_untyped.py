"""Stages that reach their buffers through untyped pointers (SPV_KHR_untyped_pointers).

No device here knows them, so what is linked is drawn with typed pointers in their place
(tests/support/untyped.py); a newer spirv-val than Debian's judges it as it is.
"""

from __future__ import annotations

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.draw import compare, draw, draw_covering, make_scene
from spvlink.draw.batch import run_isolated
from spvlink.grammar import enums, ops
from tests.support.chain_checks import close
from tests.support.chains import build
from tests.support.judges import assert_valid
from tests.support.pipelines import EVERYTHING
from tests.support.samples import compile_glsl
from tests.support.untyped import typed, untyped

# Uniform expressions, motion, arrays, all kinds of chains, push constants.
NAMES = (
    "car_paint", "auto_exposure", "height_fog", "prop_tint", "water_tess", "fur_shells",
    "terrain_tess", "mesh_ribbons", "two_views", "shadow_cascades", "uber",
)  # fmt: skip
# These want another member in a block of the other stage, which typed blocks take.
LESS = {"prop_tint": 3}


def locations(linked: spvlink.Linked) -> int:
    return sum(border.locations[1] for border in linked.interfaces)


def options(exact: bool) -> spvlink.Options:
    chosen = spvlink.Options(exact=exact, layout=EVERYTHING, validate=False)
    chosen.spec_defaults = True
    return chosen


def problems_of(name: str) -> list[str]:
    """What is wrong with a pipeline's untyped twin, linked."""
    codes = list(build(name))
    given = [untyped(code) for code in codes]
    assert given != codes
    found: list[str] = []
    scene, _ = draw_covering(codes)
    scene = make_scene(codes, scene.seed, scene.variant)
    scene.open_to_all()
    before = draw(codes, scene)
    assert before.is_good()
    for exact in (True, False):
        linked = spvlink.link(given, options(exact))
        if linked.defect or linked.passed_through:
            found.append(linked.defect or str(linked.passed_through))
        new = [stage.data for stage in linked.stages]
        assert_valid(given, new)
        after = draw([typed(code) for code in new], scene)
        found += [str(compare(before, after))] if exact else close(before, after)
        again = spvlink.link(new, options(exact))
        if exact and again.passed_through != "nothing to gain":
            found.append("a second link finds more")
        more = locations(linked) - locations(spvlink.link(codes, options(exact)))
        if not exact and more > LESS.get(name, 0):
            found.append(f"{more} Locations more than with typed pointers")
    return [problem for problem in found if problem != "equal"]


@pytest.fixture(scope="module")
def verdicts() -> dict[str, object]:
    return dict(zip(NAMES, run_isolated(problems_of, [(name,) for name in NAMES], 120.0)))


@pytest.mark.parametrize("name", NAMES)
def test_drawn_as_with_typed_pointers(name: str, verdicts: dict[str, object]) -> None:
    assert verdicts[name] == []


VERTEX = """#version 450
layout(push_constant) uniform P { vec4 tint; };
layout(location = 0) in vec3 p;
layout(location = 0) out vec4 c;
void main() { gl_Position = vec4(p, tint.w); c = tint; }"""
FRAGMENT = """#version 450
layout(push_constant) uniform P { vec2 other; vec2 more; };
layout(location = 0) in vec4 c;
layout(location = 0) out vec4 o;
void main() { o = c + other.x; }"""


@pytest.mark.parametrize(
    "other", [FRAGMENT, FRAGMENT.replace("vec2 other; vec2 more", "vec4 other")]
)
@pytest.mark.parametrize("typed_stage", ["vert", "frag", ""])
def test_one_push_constant_block_a_stage(other: str, typed_stage: str) -> None:
    """A stage may use one variable of push constants only: whatever pointers it has (a rule of
    Vulkan, VUID-StandaloneSpirv-OpEntryPoint-06674)."""
    given = [
        code if stage == typed_stage else untyped(code)
        for stage, text in (("vert", VERTEX), ("frag", other))
        for code in [compile_glsl(text, stage, "vulkan1.2")]
    ]
    linked = spvlink.link(given, options(False))
    new = [stage.data for stage in linked.stages]
    assert linked.passed_through is None
    assert_valid(given, new)
    for code in new:
        variables = (ops.OpVariable, ops.OpUntypedVariableKHR)
        pushed = (enums.StorageClass_PushConstant,)
        assert sum(i.op in variables and i.imm == pushed for i in decode(code).globals) <= 1
    propagated = [r for r in linked.remarks if r.action == "propagated"]
    assert bool(propagated) == ("vec4 other" in other), linked.remarks


VOLATILE = """#version 450
layout(set = 0, binding = 0) {} buffer B {{ float a; float b; }};
layout(location = 0) in vec4 c;
layout(location = 0) out vec4 o;
void main() {{ float unused = b; o = c.wwww; }}"""


@pytest.mark.parametrize("word", ["volatile", ""])
def test_volatile_loads_stay(word: str) -> None:
    """Of memory that untyped pointers lead to nobody says which variable's decorations hold."""
    vertex = compile_glsl(VERTEX, "vert", "vulkan1.2")
    code = untyped(compile_glsl(VOLATILE.format(word), "frag", "vulkan1.2"))
    linked = spvlink.link([vertex, code], options(False))
    assert linked.passed_through is None
    module = decode(linked.stages[1].data)
    chains = [i for f in module.functions for b in f.blocks for i in b.insts]
    assert any(i.op == ops.OpUntypedAccessChainKHR for i in chains) == bool(word)
