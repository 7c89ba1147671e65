"""The proof on our own vertex + fragment pipelines: each of them in `shaders/` is linked, valid,
smaller, draws the same picture and says the same to the validation layer, and a second link finds
nothing to do.

With `--exact` pictures are equal bit for bit. Without it a value that all vertices of a primitive
agree on may come exact where interpolation rounded it, and sums and products are rounded in another
order where they moved across interpolation; then no channel may differ by more than one part in
10,000, MOST_ULPS, or MOST_STEPS of 8 bits, and integers not at all. The same holds with a pipeline
layout that shows every resource to both stages. `scripts/pictures` prints what is measured.
"""

from __future__ import annotations

import re

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.draw import Result, compare, draw, draw_covering, messages, rounding
from spvlink.entry import select_entry
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.link.border.cost import COMPONENT_PRICE
from spvlink.link.check import interface
from spvlink.link.check.interface import declared
from tests.support.chains import PAIRS, SHADERS
from tests.support.closeness import TOLERANCE, assert_close
from tests.support.linking import module_of
from tests.support.pipelines import CASES, MOTION, build, link, weighted
from tests.support.samples import compile_glsl

COVERAGE = 0.1
# Of the larger value, and of 2^-10 at least (spvlink/draw/rounding.py): for what is small that is
# four ULPs of 1.0. What is measured stays well below; the most comes from coordinates that are
# rounded otherwise and look up textures of noise, whose slopes multiply the last bit.
MOST_ULPS = 4096.0
HALVES = ("half_precision",)  # sums of 16-bit numbers move, which have eleven bits
HALF = 2.0**-11
MOST_STEPS = 1  # of 8 bits: a value beside the middle between two may be rounded to the other


def assert_rounded(case: str, before: Result, after: Result) -> None:
    """Close, and so in ULPs and at 8 bits."""
    assert_close(before, after, HALF if case in HALVES else TOLERANCE)
    apart = rounding(before, after)
    assert apart.steps <= MOST_STEPS and (case in HALVES or apart.ulps <= MOST_ULPS), apart


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    folder = tmp_path_factory.mktemp("pipelines")
    return {case: build(case, folder) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_linked_equal_and_smaller(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    linked = link(codes)
    assert linked.passed_through is None, linked.passed_through
    assert linked.validated == "validated"
    interface = linked.interfaces[0]
    assert interface.components[1] <= interface.components[0]
    assert interface.locations[1] <= interface.locations[0]
    new = [stage.data for stage in linked.stages]
    scene, before = draw_covering(codes)
    assert before.is_good(COVERAGE), f"the picture proves nothing: coverage {before.coverage}"
    assert_rounded(case, before, draw(new, scene))
    again = link(new)
    assert again.passed_through == "nothing to gain"
    assert [s.data for s in again.stages] == new
    exact = [stage.data for stage in link(codes, exact=True).stages]
    difference = compare(before, draw(exact, scene))
    assert not difference, difference


@pytest.mark.parametrize("case", CASES)
def test_motion_pays(case: str, built: dict[str, list[bytes]]) -> None:
    """The passes' own objective, read off their output: work in both stages, weighted by the
    expected ratio, and the price of the components. Work is all instructions of the bodies, those
    that pack and unpack included, which the passes do not count. It must be no more with both
    directions than with one or none."""
    expect = spvlink.Options().expect
    price = COMPONENT_PRICE * expect[1]
    sums = {}
    for disable in ((), MOTION, ("backward",), ("forward",)):
        linked = link(built[case], disable=disable, validate=False)
        codes = [stage.data for stage in linked.stages]
        components = linked.interfaces[0].components[1]
        sums[disable] = weighted(codes, expect) + price * components
    assert sums[()] == min(sums.values()), sums


@pytest.mark.parametrize("case", CASES)
def test_work_and_components_never_grow(case: str, built: dict[str, list[bytes]]) -> None:
    """Against the original, and components against a link without motion too: fewer components
    may cost instructions, but not more than the original had."""
    codes, expect = built[case], spvlink.Options().expect
    linked = link(codes, validate=False)
    still = link(codes, disable=MOTION, validate=False).interfaces[0]
    before, after = linked.interfaces[0].components
    assert after <= still.components[1] <= before
    assert linked.interfaces[0].locations[1] <= still.locations[1]
    assert weighted([stage.data for stage in linked.stages], expect) <= weighted(codes, expect)


@pytest.mark.parametrize("case", CASES)
def test_with_everything_visible(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    linked = link(codes, layout=True)
    assert linked.passed_through is None and linked.validated == "validated"
    scene, _ = draw_covering(codes)
    scene.open_to_all()
    assert_rounded(case, draw(codes, scene), draw([s.data for s in linked.stages], scene))


@pytest.mark.parametrize("case", CASES[::4])
def test_other_seeds_and_samples(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    new = [stage.data for stage in link(codes, exact=True).stages]
    for seed, samples in ((1, 1), (2, 4)):
        scene, before = draw_covering(codes, seed, samples)
        difference = compare(before, draw(new, scene))
        assert not difference, (seed, samples, difference)


@pytest.mark.parametrize("case", CASES)
def test_validation_layer_has_nothing_new(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    new = [stage.data for stage in link(codes).stages]
    scene, _ = draw_covering(codes)
    assert not messages(new, scene) - messages(codes, scene)


def read_components(module: Module) -> set[tuple[int, int]]:
    """(Location, Component) of everything the fragment shader declares as user input."""
    module.entry = select_entry(module, None)
    return {place for d in declared(module, enums.StorageClass_Input) for place in d.covers}


@pytest.mark.parametrize("case", CASES)
def test_no_component_is_left_that_nobody_reads(case: str, built: dict[str, list[bytes]]) -> None:
    """Every output component that is not captured is declared by the consumer, which loads every
    input variable."""
    vertex, fragment = (decode(s.data) for s in link(built[case]).stages)
    inputs = read_components(fragment)
    vertex.entry = select_entry(vertex, None)
    tables = Decorations.of(vertex)
    for output in declared(vertex, enums.StorageClass_Output):
        if tables.find(output.label.variable, enums.Decoration_XfbBuffer) is not None:
            continue
        assert output.covers <= inputs, f"{output.name} is not read"
    used = {a for f in fragment.functions for b in f.blocks for i in b.insts for a in i.args}
    assert fragment.entry is not None
    for variable in fragment.entry.inst.args[1:]:
        if is_user_input(fragment, variable):
            assert variable in used


@pytest.mark.parametrize("name", PAIRS)
def test_our_checker_accepts_the_originals(name: str, built: dict[str, list[bytes]]) -> None:
    vert, frag = map(module_of, built[name])
    interface.check(vert, frag, True)
    source = (SHADERS / name / f"{name}.vert").read_text()
    if re.search(r"layout\(location.*\bout\b", source):
        assert declared(vert, enums.StorageClass_Output)


def is_user_input(module: Module, variable: Inst) -> bool:
    located = any(
        n.op == ops.OpDecorate and n.args[0] is variable and n.imm[0] == enums.Decoration_Location
        for n in module.annotations
    )
    return located and variable.imm[0] == enums.StorageClass_Input


OFF_CENTRE_VERTEX = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 data;
layout(set = 0, binding = 0) uniform Camera { mat4 projection; } camera;
layout(location = 0) QUALIFIER out float a;
layout(location = 1) QUALIFIER out float b;
void main() {
    a = data.x;
    b = data.y;
    vec4 clip = camera.projection * vec4(position, 1.0);
    gl_Position = vec4(clip.xy, 0.5 * (clip.z + clip.w), clip.w);
}
"""
OFF_CENTRE_FRAGMENT = """#version 450
layout(location = 0) QUALIFIER in float a;
layout(location = 1) QUALIFIER in float b;
layout(location = 0) out vec4 color;
void main() { color = vec4(A + B + 8.0, gl_FragCoord.xy / 64.0, 1.0); }
"""


@pytest.mark.parametrize(
    ("qualifier", "read", "samples"),
    [
        ("", "interpolateAtOffset({}, vec2(0.25))", 1),
        ("", "interpolateAtCentroid({})", 4),
        ("centroid", "{}", 4),
        ("sample", "{}", 4),
    ],
)
def test_a_constant_does_not_cross_interpolation_off_centre(
    qualifier: str, read: str, samples: int
) -> None:
    """interp(a) + 8 is interp(a + 8) only if the weights sum to one. Away from the pixel's centre
    lavapipe divides by the w of the centre, and they do not."""
    codes = [
        compile_glsl(OFF_CENTRE_VERTEX.replace("QUALIFIER", qualifier), "vert", "vulkan1.1"),
        compile_glsl(
            OFF_CENTRE_FRAGMENT.replace("QUALIFIER", qualifier)
            .replace("A +", read.format("a") + " +")
            .replace("B +", read.format("b") + " +"),
            "frag",
            "vulkan1.1",
        ),
    ]
    scene, before = draw_covering(codes, samples=samples)
    assert_close(before, draw([stage.data for stage in link(codes).stages], scene))
