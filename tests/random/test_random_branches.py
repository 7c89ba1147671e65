"""Random pipelines of small branches, in every mode of linking, and half of them with a state of
the pipeline that the linker is told and that they are drawn with: what linking promises, held for
each of them. `scripts/fuzz --branches` runs many more.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from random import Random

import pytest

import spvlink
from spvlink.draw import Result, Scene, compare, make_scene
from spvlink.draw.scene import VARIANTS
from spvlink.grammar import enums, ops
from spvlink.pipeline import Linked
from spvlink.sets.link_set import link_versions
from tests.support import judges, random_harness
from tests.support.chain_checks import sizes
from tests.support.generate_branches import ATTRIBUTES, Branching, make
from tests.support.glslang import Died, compile_files
from tests.support.random_chains import TIPPED, canonical, off
from tests.support.random_harness import NOTHING_TO_GAIN, Failure, in_two_processes, shaped
from tests.support.random_state import State, random_state
from tests.support.state_draw import Settings, draw_state
from tests.support.unwritten import initialised

SEEDS = range(24)
ENVIRONMENTS = ("vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3")
SHAPES = ((), (), (), ("-O",), ("--ssa-rewrite",), ("--if-conversion", "--ssa-rewrite"),
          ("--eliminate-local-single-store", "--merge-return"),
          ("--loop-unroll", "--scalar-replacement=100", "--ssa-rewrite"))  # fmt: skip
MODES = ("exact", "exact", "exact clean", "exact clean", "close", "close clean", "kept", "frozen",
         "set", "set")  # fmt: skip
MODELS = {"vert": 0, "tesc": 1, "tese": 2, "geom": 3, "frag": 4}
DIED, EMPTY, UNFIT = "died in the compiler", "empty picture", "not valid as it is"


class Case:
    """A seed. ``other``: the second fragment shader of the mode "set"; ``states``: of each
    pipeline, None: nothing is known."""

    def __init__(self, seed: int) -> None:
        r = Random(seed ^ 0xB5A)
        self.mode = r.choice(MODES)
        self.environment, self.shape = r.choice(ENVIRONMENTS), r.choice(SHAPES)
        self.made: Branching = make(seed)
        names = [stage for stage, _ in self.made.stages]
        self.kept = r.sample(names, 1)
        self.exact = self.mode not in ("close", "close clean") and (
            self.mode.startswith("exact") or seed % 4 > 0
        )
        texts = [self.made.stages[-1][1], self.made.other]
        stated = r.random() < 0.55
        same = r.random() < 0.5
        first = self._state(r, texts[0]) if stated else None
        second = self._state(r, texts[1]) if stated and not same else first
        if first and same and outputs(texts[0]) != outputs(texts[1]):
            self.mode = "exact" if self.mode == "set" else self.mode
        self.states: list[State | None] = [first, second]

    def _state(self, r: Random, text: str) -> State:
        plain = len(self.made.stages) == 2
        kinds, dual = outputs(text)
        types = [type for _, type in ATTRIBUTES]
        return random_state(r, kinds, dual, plain, self.made.sized and plain, types)

    @cached_property
    def codes(self) -> list[bytes]:
        return self._build(self.made.stages)

    @cached_property
    def other(self) -> bytes:
        return self._build([("frag", self.made.other)])[0]

    def _build(self, stages: list[tuple[str, str]]) -> list[bytes]:
        options = ["--quiet", "-V", "--target-env", self.environment]
        codes = compile_files(options, {f"s.{stage}": text for stage, text in stages})
        return [shaped(code, self.environment, list(self.shape)) for code in codes]

    def options(self, row: int, codes: list[bytes]) -> spvlink.Options:
        found = spvlink.Options(exact=self.exact, clean="clean" in self.mode)
        found.keep_interface = frozenset(self.kept if self.mode == "kept" else ())
        state = self.states[row]
        found.state = state.document if state else None
        if self.made.known and self.mode not in ("set", "frozen"):
            for (stage, _), code in zip(self.made.stages, codes):
                present = spec_ids(code)
                for one in self.made.constants[stage]:
                    if one.value is not None and one.number in present:
                        found.spec[stage, one.number] = one.value
        return found

    def spec(self, row: int) -> dict[tuple[int, int], int]:
        """What the pipeline sets: (execution model, SpecId) -> word."""
        found = {}
        for stage, constants in self.made.constants.items():
            for one in constants if stage != "frag" or row == 0 else ():
                if one.value is not None:
                    found[MODELS[stage], one.number] = word(one.type, one.value)
        return found


def spec_ids(code: bytes) -> set[int]:
    """SpecIds in a module: glslang and optimizers drop those that nobody uses."""
    words = struct.unpack(f"<{len(code) // 4}I", code)
    found, at = set(), 5
    while at < len(words):
        if words[at] & 0xFFFF == ops.OpDecorate and words[at + 2] == enums.Decoration_SpecId:
            found.add(words[at + 3])
        at += words[at] >> 16
    return found


def word(type: str, value: str) -> int:
    if type == "float":
        return {"0.5": 0x3F000000, "-1.5": 0xBFC00000}[value]
    return int(value == "true") if type == "bool" else int(value)


def outputs(text: str) -> tuple[list[str], bool]:
    """Kinds of the colour outputs of a fragment shader; whether it has two sources."""
    found = re.findall(r"^layout\(location = \d+(?:, index = 0)?\) out (\w+) color", text, re.M)
    return ["int" if type[0] == "i" else "float" for type in found], "index = 1" in text


# --- linking in each mode ---


def linked_rows(case: Case) -> list[tuple[list[bytes], list[bytes], Linked | None]]:
    """(modules of a pipeline, what they became, what the linker said)."""
    options = case.options(0, case.codes)
    if case.mode == "set":
        rows = [case.codes, [*case.codes[:-1], case.other]]
        given = [
            ([spvlink.Source(code) for code in codes], case.options(row, codes))
            for row, codes in enumerate(rows)
        ]
        found = []
        for codes, one in zip(rows, link_versions(given, 1).pipelines):
            if not isinstance(one, Linked):
                raise Failure(f"an error: {one}")
            found.append((codes, [stage.data for stage in one.stages], one))
        before = {code for codes in rows for code in codes}
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
    why = linked.passed_through
    if linked.defect is not None or why not in (None, NOTHING_TO_GAIN):
        raise Failure(f"{case.mode}: {linked.defect or why}")
    if why and new != codes and case.mode != "set":
        raise Failure("passed through with other bytes")
    for stage, old, code in zip(linked.stages, codes, new):
        if case.mode == "kept" and stage.stage in case.kept and old != code:
            raise Failure(f"{stage.stage} was to be kept")


def check_modules(codes: list[bytes], new: list[bytes]) -> None:
    """The judge takes what goes out, and nothing grows."""
    old = sizes(codes)
    for side, (components, locations) in sizes(new).items():
        if components > old[side][0] or locations > old[side][1]:
            raise Failure(f"{side} grew: {old[side]} -> {(components, locations)}")
    for before, after in zip(codes, new):
        why = judges.refusal(after, True) if before != after else None
        if why is not None:
            raise Failure(f"the newer spirv-val: {why}")


# --- pictures ---


def draw(codes: list[bytes], scene: Scene, state: State | None) -> Result:
    settings = state.settings if state else Settings()
    if state is None and scene.dual_source:
        settings = Settings([{"blendEnable": 1, "srcColorBlendFactor": 15,
                              "srcAlphaBlendFactor": 17}])  # fmt: skip
    return canonical(draw_state(codes, scene, settings))


def draw_original(case: Case, row: int, codes: list[bytes]) -> tuple[Scene, Result] | None:
    state = case.states[row]
    for variant in range(VARIANTS):
        scene = make_scene(codes, 0, variant, state.samples if state else 1)
        scene.spec = case.spec(row)
        if state:
            state.apply(scene)
        result = draw(codes, scene, state)
        if state and (state.settings.raster["rasterizerDiscardEnable"] or not scene.targets):
            return scene, result
        if result.is_good(0.02, 2):
            return scene, result
    return None


def check_picture(case: Case, row: int, codes: list[bytes], new: list[bytes]) -> str:
    if new == codes:
        return NOTHING_TO_GAIN
    drawn = draw_original(case, row, codes)
    if drawn is None:
        return EMPTY
    scene, before = drawn
    drawn = [initialised(code) for code in new] if case.mode == "kept" else new
    after = draw(drawn, scene, case.states[row])
    if case.exact:
        difference = compare(before, after)
        if difference:
            raise Failure(f"{case.mode}: the pictures differ: {difference}")
    elif off(before, after) > TIPPED:
        raise Failure(f"{case.mode}: {off(before, after):.1%} of some image or buffer is off")
    return "linked with a state" if case.states[row] else "linked"


# --- one seed ---


def check_seed(seed: int) -> str:
    """All promises for one seed; what became of it in words. Raises Failure."""
    case = Case(seed)
    try:
        assert case.codes and case.other
    except Died:
        return DIED
    except Failure as error:
        if str(error).startswith("spirv-opt: "):  # it does not take all that glslang makes
            return UNFIT
        raise
    try:
        return promises(case)
    except Exception as error:
        if any(judges.refusal(code, True) for code in [*case.codes, case.other]):
            return UNFIT
        if isinstance(error, Failure):
            raise
        raise Failure(f"{case.mode}: {type(error).__name__}: {error}") from error


def promises(case: Case) -> str:
    said = ""
    for row, (codes, new, linked) in enumerate(linked_rows(case)):
        if linked is not None:
            check_said(case, codes, new, linked)
        check_modules(codes, new)
        said = check_picture(case, row, codes, new)
        if said.startswith("linked") and case.mode not in ("set", "frozen"):
            again = spvlink.link(list(new), case.options(row, new))
            twice = [stage.data for stage in again.stages]
            if twice != new:
                check_said(case, new, twice, again)
                check_modules(new, twice)
                check_picture(case, row, codes, twice)
    return said


def modules(seed: int) -> list[bytes]:
    return Case(seed).codes


def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
    return random_harness.check_many(check_seed, modules, seeds, timeout=90.0)


@pytest.fixture(scope="module")
def verdicts() -> dict[int, object]:
    """Every seed of SEEDS checked, in two processes."""
    return in_two_processes(check_many, SEEDS)


def test_what_was_found_stays_mended() -> None:
    """A kept fragment shader that reads an output which nobody writes any more."""
    assert check_seed(33011457) == "linked with a state"


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold(seed: int, verdicts: dict[int, object]) -> None:
    verdict = verdicts[seed]
    assert isinstance(verdict, str), f"{verdict} (scripts/fuzz --branches --seed {seed} --count 1)"


def test_most_prove_something(verdicts: dict[int, object]) -> None:
    said = [str(verdict) for verdict in verdicts.values()]
    assert sum(word.startswith("linked") for word in said) >= 0.6 * len(SEEDS)
    assert sum(word.endswith("state") for word in said) >= 0.2 * len(SEEDS)
