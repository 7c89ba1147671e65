"""Random pipelines of numbers of every width and encoding, in every mode of linking: what linking
promises, held for each of them. `scripts/fuzz --types` runs many more.

A number stands for a pipeline (generate_types.py; now and then one of the other generators), what
is done to its modules (mutate_types.py), and the mode. What lavapipe cannot draw is drawn with
stand-ins, the same in the original and the linked modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from random import Random

import pytest

import spvlink
from spvlink import draw as render
from spvlink.draw import Result, Scene, compare, make_scene
from spvlink.draw.scene import VARIANTS
from spvlink.pipeline import Linked
from spvlink.sets.link_set import link_versions
from tests.support import generate, generate_chains, judges, random_harness
from tests.support.chain_checks import sizes
from tests.support.generate_types import Made, make
from tests.support.glslang import Died, compile_files
from tests.support.listing import Text
from tests.support.mutate_types import (
    CONTROLS,
    ENCODINGS,
    NEWER,
    Plan,
    adrift,
    loose,
    mutate,
    plan,
    stand_ins,
)
from tests.support.random_chains import FEW_ULP, TIPPED, canonical, farthest, off
from tests.support.random_harness import NOTHING_TO_GAIN, Failure, in_two_processes, shaped

SEEDS = range(16)
# Seeds that scripts/fuzz has found, mended since.
# 31001944: slots that became Flat stayed in a Location beside smooth ones.
# 33009641: the check itself took an address behind a shell for one of nothing.
# 33006074: integers of a stage before an unknown one need no Flat.
# 33071002: a variable of a function got a type with an ArrayStride.
# 33075230: a word and 16 bits were counted as of one Location.
# 33082730: what a control shader reads back got a Location of its own.
FOUND = (31001944, 33009641, 33006074, 33071002, 33075230, 33082730)
COVERING = (1, 4, 10, 11, 24, 29, 30, 37)  # seeds below 40 that have everything among them
ENVIRONMENTS = ("vulkan1.1", "vulkan1.2", "vulkan1.2", "vulkan1.3")
SHAPES = ((), (), (), (), ("-O",), ("--scalar-replacement=100", "--ssa-rewrite"),
          ("--eliminate-local-single-store", "--convert-local-access-chains"))  # fmt: skip
MODES = ("exact", "exact clean", "close", "close", "close clean", "kept", "frozen", "set")
DIED, EMPTY, UNFIT = "died in the compiler", "empty picture", "not valid as it is"
TWICE = "linked, and better still the second time"
FOLDED = "constants folded otherwise by the driver"


class Case:
    """A seed. ``codes``: the modules; ``other``: another fragment shader's, in the mode "set"."""

    def __init__(self, seed: int) -> None:
        r = Random(seed ^ 0x7E7E5)
        self.seed, self.mode = seed, r.choice(MODES)
        self.environment, self.shape = r.choice(ENVIRONMENTS), r.choice(SHAPES)
        self.made = self._sources(r)
        self.plan: Plan = plan(r)
        if self.plan.precise:
            self.shape = ()  # spirv-opt makes a Fma of two operations that are NoContraction
        self.complete = self.made.stages[-1][0] != "frag"
        if self.mode == "set" and not self.made.other:
            self.mode = "close"
        names = [stage for stage, _ in self.made.stages]
        if names[0] in ("task", "mesh"):
            # What a mesh shader does not write makes lavapipe (25.0) mix up the rest (33041625).
            names.remove("frag")
        self.kept = Random(seed).sample(names, min(r.choice((1, 1, 2)), len(names)))
        self.r = r

    @cached_property
    def codes(self) -> list[bytes]:
        return self._build(self.made.stages)

    @cached_property
    def other(self) -> bytes:
        if self.mode != "set":
            return b""
        assert self.codes  # made before, always
        return self._build([("frag", self.made.other)])[0]

    def _sources(self, r: Random) -> Made:
        kind = r.randrange(20)
        if kind == 18:
            return Made(list(zip(("vert", "frag"), generate.make(self.seed))))
        if kind == 19:
            stages = generate_chains.make(self.seed)
            if stages[0][0] in ("mesh", "task"):
                self.environment = "vulkan1.3"
            return Made(stages)
        return make(self.seed)

    def _build(self, stages: list[tuple[str, str]]) -> list[bytes]:
        options = ["--quiet", "-V", "--target-env", self.environment]
        codes = compile_files(options, {f"s.{stage}": text for stage, text in stages})
        found = []
        for number, ((stage, _), code) in enumerate(zip(stages, codes)):
            code = shaped(code, self.environment, list(self.shape))
            if self.shape and (why := judges.refusal(code, True)):
                raise Failure(f"spirv-opt: it made an invalid module: {why}")
            if self.plan != Plan(overlap=self.plan.overlap) or stage in ("tesc", "tese"):
                text = Text(code, NEWER)
                mutate(text, number, self.plan, self.r)
                code = text.assembled()
            found.append(code)
        return found

    @property
    def exact(self) -> bool:
        if self.mode in ("kept", "frozen", "set"):
            return self.seed % 2 == 0
        return self.mode.startswith("exact")

    def options(self) -> spvlink.Options:
        found = spvlink.Options(exact=self.exact, clean="clean" in self.mode)
        found.complete = self.complete
        found.validate = False  # a newer spirv-val looks at what goes out
        found.keep_interface = frozenset(self.kept if self.mode == "kept" else ())
        return found


def modules(seed: int) -> list[bytes]:
    """The modules of a seed, as lavapipe may draw them."""
    return [stand_ins(code) for code in Case(seed).codes]


# --- linking in each mode ---


def linked_rows(case: Case) -> list[tuple[list[bytes], list[bytes], Linked | None]]:
    """(modules of a pipeline, what they became, what the linker said)."""
    options = case.options()
    if case.mode == "set":
        rows = [case.codes, [*case.codes[:-1], case.other]]
        given = [([spvlink.Source(c) for c in row], options) for row in rows]
        found = []
        for row, one in zip(rows, link_versions(given, 1).pipelines):
            if not isinstance(one, Linked):
                raise Failure(f"an error: {one}")
            found.append((row, [stage.data for stage in one.stages], one))
        before = {code for row in rows for code in row}
        if len({code for _, new, _ in found for code in new}) > len(before):
            raise Failure("more modules than there were")
        return found
    if case.mode == "frozen":
        _, document = spvlink.link_frozen(list(case.codes), None, options)
        new = []
        for code in case.codes:
            alone, _ = spvlink.link_frozen([code], document, options)
            new.append(alone.stages[0].data)
        return [(case.codes, new, None)]
    linked = spvlink.link(list(case.codes), options)
    return [(case.codes, [stage.data for stage in linked.stages], linked)]


def check_said(case: Case, codes: list[bytes], new: list[bytes], linked: Linked) -> None:
    """What can be said without drawing. Raises Failure."""
    if linked.defect is not None:
        raise Failure(f"defect: {linked.defect}")
    if linked.passed_through is not None:
        if linked.passed_through != NOTHING_TO_GAIN:
            raise Failure(f"passed through: {linked.passed_through}")
        if new != codes and case.mode != "set":
            raise Failure("passed through with other bytes")
    for border in linked.interfaces:
        for before, after in (border.components, border.locations):
            if after > before:
                raise Failure(f"{border.producer}->{border.consumer} grows: {before} -> {after}")
    for stage, old, code in zip(linked.stages, codes, new):
        if case.mode == "kept" and stage.stage in case.kept and old != code:
            raise Failure(f"{stage.stage} was to be kept")


def check_modules(case: Case, codes: list[bytes], new: list[bytes]) -> None:
    """Each judge takes what goes out, nothing grows, all arithmetic stays NoContraction."""
    old = sizes(codes)
    for side, (components, locations) in sizes(new).items():
        if components > old[side][0] or locations > old[side][1]:
            raise Failure(f"{side} grew: {old[side]} -> {(components, locations)}")
    for before, after in zip(codes, new):
        if before == after:
            continue
        why = judges.refusal(after, True)
        if why is not None:
            raise Failure(f"the newer spirv-val: {why}")
        if adrift(after):
            raise Failure(f"an address of nothing: {adrift(after)[0]}")
        if case.plan.precise and loose(after):
            raise Failure(f"lost NoContraction: {loose(after)[0]}")


# --- pictures ---


def draw(codes: list[bytes], scene: Scene) -> Result:
    return canonical(render.draw([stand_ins(code) for code in codes], scene))


def draw_original(case: Case, codes: list[bytes]) -> tuple[Scene, Result] | None:
    drawn = [stand_ins(code) for code in codes]
    for variant in range(VARIANTS):
        scene = make_scene(drawn, 0, variant)
        result = render.draw(drawn, scene)
        if result.is_good(0.02, 2):
            return scene, canonical(result)
    return None


def check_picture(case: Case, codes: list[bytes], new: list[bytes]) -> str:
    if new == codes:
        return NOTHING_TO_GAIN
    drawn = draw_original(case, codes)
    if drawn is None:
        return EMPTY
    scene, before = drawn
    after = draw(new, scene)
    if not case.exact:
        share = off(before, after)
        if share > TIPPED:
            raise Failure(f"{case.mode}: {share:.1%} of some image or buffer is off")
        return "linked"
    difference = compare(before, after)
    if not difference:
        return "linked"
    same = all(w.startswith(("image color", "buffer feedback")) for w in difference.where)
    if same and farthest(before, after) <= FEW_ULP and not case.made.other:
        return FOLDED  # sines and the like of the other generators
    raise Failure(f"{case.mode}: the pictures differ: {difference}")


# --- one seed ---


def check_seed(seed: int) -> str:
    """All promises for one seed; what became of it in words. Raises Failure."""
    case = Case(seed)
    try:
        assert case.codes and case.other is not None
    except Died:
        return DIED
    except Failure as error:
        if str(error).startswith("spirv-opt: "):  # it does not take all that glslang makes
            return UNFIT
        raise
    try:
        return promises(case)
    except Exception as error:
        if any(judges.refusal(code, True) for code in [*case.codes, case.other] if code):
            return UNFIT
        if isinstance(error, Failure):
            raise
        raise Failure(f"{case.mode}: {type(error).__name__}: {error}") from error


def promises(case: Case) -> str:
    said = ""
    for codes, new, linked in linked_rows(case):
        if linked is not None:
            check_said(case, codes, new, linked)
        check_modules(case, codes, new)
        said = check_picture(case, codes, new)
        if said == "linked" and linked is not None and case.mode != "set":
            said = check_again(case, codes, new)
    return said


def check_again(case: Case, codes: list[bytes], new: list[bytes]) -> str:
    """What a second link still finds is right, too."""
    again = spvlink.link(list(new), case.options())
    twice = [stage.data for stage in again.stages]
    if twice == new:
        return "linked"
    check_said(case, new, twice, again)
    check_modules(case, new, twice)
    check_picture(case, codes, twice)
    return TWICE


def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
    return random_harness.check_many(check_seed, modules, seeds, timeout=90.0)


@pytest.fixture(scope="module")
def verdicts() -> dict[int, object]:
    """Every seed of SEEDS checked, in two processes."""
    return in_two_processes(check_many, SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold(seed: int, verdicts: dict[int, object]) -> None:
    verdict = verdicts[seed]
    assert isinstance(verdict, str), f"{verdict} (scripts/fuzz --types --seed {seed} --count 1)"


ADDRESSES = {  # of a Private variable: whether somebody gives it
    "p = a;": True,
    "": False,
    "p = uvec2(0u);": False,
    "p = uvec2(a.x, 0u);": False,
    "p = uvec2(a.x, 1u);": True,
}


@pytest.mark.parametrize("given", ADDRESSES)
def test_an_address_of_nothing_is_seen(given: str) -> None:
    text = f"""#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference, std430) buffer Node {{ vec4 tint; }};
layout(location = 0) flat in uvec2 a;
layout(location = 0) out vec4 color;
uvec2 p;
void main() {{ {given} color = Node(p).tint; }}
"""
    (code,) = compile_files(["--quiet", "-V", "--target-env", "vulkan1.2"], {"s.frag": text})
    assert (not adrift(code)) == ADDRESSES[given]


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_stays_mended(seed: int) -> None:
    assert check_seed(seed) == "linked"


def test_nearly_all_prove_something(verdicts: dict[int, object]) -> None:
    said = [str(verdict) for verdict in verdicts.values()]
    assert sum(word.startswith("linked") for word in said) >= 0.7 * len(SEEDS)


def test_every_kind_comes_up() -> None:
    """Of modes, encodings, controls, copies, widths and qualifiers."""
    assert {Case(seed).mode for seed in SEEDS} == set(MODES)
    wanted = {*(d for d, _, _ in ENCODINGS.values()), *CONTROLS, "OpCopyObject", "OpCopyMemory",
              "OpCopyLogical", "OpFmaKHR", "ReplicateEXT", "PhysicalStorageBuffer", "Patch",
              "FPFastMathDefault", "NoContraction", "RelaxedPrecision", "Invariant", "Centroid",
              "Sample", "NoPerspective", "Flat",
              *(f"OpTypeInt {bits} {s}" for bits in (8, 16, 32, 64) for s in (0, 1))}  # fmt: skip
    for seed in COVERING:
        texts = "".join(str(Text(code, NEWER)) for code in Case(seed).codes)
        wanted -= {word for word in wanted if word in texts}
    assert not wanted
