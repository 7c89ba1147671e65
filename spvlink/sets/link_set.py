"""Link pipelines that share modules, so that each module has one version for all of them.

    read      modules, and what all pipelines say alike of them
    link      passes, places and new modules of a family (``chain.link_stages``)
    tell      a result for each pipeline, as ``link`` gives

Where a family resists, all of it goes out as it came.
"""

from __future__ import annotations

import copy
from collections import Counter

from spvlink import patches, validate
from spvlink.chain import remarks, vertex_inputs
from spvlink.chain.border import Border
from spvlink.chain.chain import link_stages
from spvlink.chain.runner import Runner
from spvlink.chain.state import InterfaceMismatch
from spvlink.driver import (
    check_pipeline,
    link,
    measure_later,
    rank,
    read_stage,
    read_stages,
    stage_result,
)
from spvlink.entry import count, described_bytes
from spvlink.errors import BadSpirv, Refused, SpvlinkError, Usage
from spvlink.ir.known import forget_all
from spvlink.layout import common_layout
from spvlink.link.border.stage import Stage
from spvlink.link.check.input import flaws
from spvlink.options import Options
from spvlink.pipeline import (
    DEFECT,
    NOTHING_TO_GAIN,
    PASSED,
    UNCHANGED,
    Linked,
    Source,
)
from spvlink.sets.family import Family
from spvlink.sets.shared import Shared, shared_wires
from spvlink.sets.versions import choose
from spvlink.state import common as common_state
from spvlink.verdicts import Judge

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Final

    from spvlink.chain.state import Spec
    from spvlink.link.check.input import Given
    from spvlink.pipeline import Flaw, Outcome

    Row = tuple[Sequence[Source], Options]
    Pair = tuple[int, int]


TWO_ENTRIES: Final = "two entry points of one module are used"
KEPT: Final = "what stays as it is uses the module, too"
_ALL: Final = frozenset((-1,))  # for all that is known


class LinkedSet:
    """``pipelines``: what came of each, in the order given: a ``Linked``, or the error that it has.
    ``shared``: what modules could not drop. ``least``: (Locations that all sides of all modules
    declare, and that they need at least, whatever the others do), of what was linked as a set.
    ``versions``: the new versions of each module, and the original where a pipeline has it;
    ``kept``: those that stay because somebody has them so."""

    def __init__(self, count: int) -> None:
        self.pipelines: list[Linked | SpvlinkError] = [Linked() for _ in range(count)]
        self.shared: list[Shared] = []
        self.least = (0, 0)
        self.versions: dict[bytes, set[bytes]] = {}
        self.kept: frozenset[bytes] = frozenset()
        # (pipeline, index of a module in it) -> the components that the stage behind reads
        self.reads: dict[tuple[int, int], frozenset[int]] = {}


def link_versions(rows: Sequence[Row], most: int, kept: Iterable[bytes] = ()) -> LinkedSet:
    """The same with up to ``most`` versions of each module, the original among them where a
    pipeline has that: one that stays as it is, for whatever reason. ``kept``: modules that somebody
    else has as they are."""
    fixed = set(kept)
    wrong: dict[int, SpvlinkError] = {}
    while True:
        made = _versions(rows, most, frozenset(fixed), wrong)
        wrong |= {at: one for at, one in enumerate(made.pipelines) if isinstance(one, SpvlinkError)}
        for data in fixed & made.versions.keys():
            made.versions[data].add(data)
        split = {data for data, versions in made.versions.items() if len(versions) > most} - fixed
        if not split:
            break
        fixed |= split
    made.kept = frozenset(fixed)
    return made


def _versions(
    rows: Sequence[Row], most: int, kept: frozenset[bytes], wrong: Mapping[int, SpvlinkError]
) -> LinkedSet:
    """As ``link_versions``, but what pipelines that stay have does not count."""
    if most == 1:
        return link_set(rows, None, kept, wrong)
    made = link_set(rows, wrong=wrong)
    reads: dict[tuple[bytes, str | None], dict[int, frozenset[int]]] = {}
    for (row, at), keys in made.reads.items():
        source = rows[row][0][at]
        reads.setdefault((source.data, source.entry), {})[row] = keys
    versions = [[0] * len(sources) for sources, _ in rows]
    chosen = {
        module: choose(keys_read, most - (module[0] in kept)) for module, keys_read in reads.items()
    }
    for row, at in made.reads:
        source = rows[row][0][at]
        versions[row][at] = chosen[source.data, source.entry][row]
    return link_set(rows, versions, wrong=wrong)


def link_set(
    rows: Sequence[Row],
    versions: Sequence[Sequence[int]] | None = None,
    kept: frozenset[bytes] = frozenset(),
    wrong: Mapping[int, SpvlinkError] | None = None,
) -> LinkedSet:
    """Link pipelines, each given as its modules and its options, which are those of ``link``.
    ``versions``: which version of each module a pipeline has, 0 for all by default. ``kept``:
    modules that go out as they came. ``wrong``: errors that are known of pipelines.

    A module (the same bytes and entry point, of one version) has one result in all pipelines that
    do not stay as they are. Raises ``Usage`` for options that make no sense together;
    ``MemoryError``."""
    made = LinkedSet(len(rows))
    reader = _SetReader(rows, versions, made)
    for at, error in (wrong or {}).items():
        made.pipelines[at] = error
        reader.pipelines.pop(at, None)
    todo = reader.families()
    while todo:
        numbers = todo.pop()
        if len(numbers) == 1:
            made.pipelines[numbers[0]] = _alone(reader.held(numbers[0], kept))
            continue
        linker = _Linker(reader, numbers, made, kept)
        try:
            linker.run()
        except BadSpirv as error:  # all the others still go together
            results = {at: _alone(reader.held(at, kept)) for at in numbers}
            wrong = {at: bad for at, bad in results.items() if isinstance(bad, SpvlinkError)}
            if not wrong:
                linker.tell_unchanged(DEFECT, f"a defect of spvlink: {error}", str(error))
            for at, bad in wrong.items():
                made.pipelines[at] = bad
                del reader.pipelines[at]
            todo = reader.families(
                [at for numbers in todo for at in numbers]
                + [at for at in numbers if wrong and at not in wrong]
            )
    reader.note(made)
    return made


def _alone(row: Row) -> Linked | SpvlinkError:
    """A pipeline that shares nothing, or its error."""
    try:
        return link(*row)
    except SpvlinkError as error:
        return error


class _SetReader:
    """The distinct modules, and which pipeline has which, in pipeline order."""

    def __init__(
        self, rows: Sequence[Row], versions: Sequence[Sequence[int]] | None, made: LinkedSet
    ) -> None:
        self.rows = rows
        self.stages: list[Stage] = []
        self.same: dict[tuple[bytes, int], int] = {}  # number of each version of the same bytes
        self.contents: list[int] = []  # that of each stage
        self.pipelines: dict[int, list[int]] = {}  # row -> stages; of those that can be read
        self.warnings: dict[int, list[Flaw]] = {}  # row -> what is wrong between its stages
        self.places: dict[int, list[int]] = {}  # row -> the same as indices into its own sources
        known: dict[tuple[bytes, str | None, str, int], int] = {}
        for number, (sources, _) in enumerate(rows):
            which = versions[number] if versions is not None else [0] * len(sources)
            try:
                try:
                    numbers = [self._stage(s, n, known) for s, n in zip(sources, which)]
                except SpvlinkError:  # or it has to be found out together which stage is meant
                    named = [_named(stage) for stage in read_stages(list(sources))]
                    numbers = [self._stage(s, n, known) for s, n in zip(named, which)]
                order = sorted(
                    range(len(numbers)), key=lambda at: rank(self.stages[numbers[at]].name)
                )
                row = [numbers[at] for at in order]
                stages = [self.stages[n] for n in row]
                check_pipeline(stages)
                given = [(s.name, s.module, sources[at]) for s, at in zip(stages, order)]
                self.warnings[number] = self._flaws(number, given)
            except SpvlinkError as error:
                made.pipelines[number] = error
                continue
            self.pipelines[number], self.places[number] = row, order

    def _stage(
        self, source: Source, version: int, known: dict[tuple[bytes, str | None, str, int], int]
    ) -> int:
        name = source.data, source.entry, source.stage, version
        if name not in known:
            stage = read_stage(source)
            own = source.data, source.entry, stage.name, version
            if own not in known:
                known[own] = len(self.stages)
                self.stages.append(stage)
                content = self.same.setdefault((source.data, version), len(self.same))
                self.contents.append(content)
            known[name] = known[own]
        return known[name]

    def held(self, number: int, kept: frozenset[bytes]) -> Row:
        """A pipeline with its options, and what is ``kept`` of it."""
        sources, options = self.rows[number]
        stages = [self.stages[at] for at in self.pipelines[number]]
        names = frozenset(stage.name for stage in stages if stage.source.data in kept)
        if names:
            options = copy.copy(options)
            options.keep_interface |= names
        return sources, options

    def note(self, made: LinkedSet) -> None:
        """What became of each module."""
        for number, (sources, _) in enumerate(self.rows):
            result = made.pipelines[number]
            if isinstance(result, SpvlinkError):
                for source in sources:
                    made.versions.setdefault(source.data, set()).add(source.data)
                continue
            for stage, at in zip(result.stages, self.places[number]):
                made.versions.setdefault(sources[at].data, set()).add(stage.data)

    def _flaws(self, row: int, given: list[Given]) -> list[Flaw]:
        """What is wrong between the stages of a pipeline. What is wrong with a module itself is
        said where it is linked, and costs its own family only."""
        versions = [module.spirv_version for _, module, _ in given]
        env = self.rows[row][1].target_env or validate.lowest_env(versions)
        try:
            return flaws(given, env)
        except SpvlinkError:
            raise
        except Exception:
            return []

    def families(self, numbers: list[int] | None = None) -> list[list[int]]:
        """The pipelines (these, or all), those together that share modules, directly or through
        others."""
        wanted = self.pipelines if numbers is None else {n: self.pipelines[n] for n in numbers}
        leaders = list(range(len(self.same)))

        def find(at: int) -> int:
            while leaders[at] != at:
                at = leaders[at]
            return at

        for row in wanted.values():
            for stage in row[1:]:
                leaders[find(self.contents[stage])] = find(self.contents[row[0]])
        families: dict[int, list[int]] = {}
        for number, row in wanted.items():
            families.setdefault(find(self.contents[row[0]]), []).append(number)
        return list(families.values())


def _named(stage: Stage) -> Source:
    """A module with its stage said."""
    source = stage.source
    return Source(source.data, source.file, source.entry, stage.name)


class _Linker:
    """A family and what becomes of it."""

    def __init__(
        self, reader: _SetReader, numbers: list[int], made: LinkedSet, kept: frozenset[bytes]
    ) -> None:
        self.reader = reader
        self.made = made
        self.numbers = numbers  # of the pipelines
        # stages are counted anew here
        self.global_ = list(dict.fromkeys(n for at in numbers for n in reader.pipelines[at]))
        local = {n: at for at, n in enumerate(self.global_)}
        self.rows = [[local[n] for n in reader.pipelines[at]] for at in numbers]
        self.read = [reader.stages[n] for n in self.global_]
        self.sources = [stage.source for stage in self.read]
        settings = [reader.rows[at][1] for at in numbers]
        self.options = common(settings)
        self.specs = [self._spec(at) for at in range(len(self.sources))]
        self.open = frozenset(
            row[-1]
            for row, options in zip(self.rows, settings)
            if not options.complete and reader.stages[self.global_[row[-1]]].name != "frag"
        )
        entries = Counter(reader.contents[n] for n in self.global_)
        self.staying = {at: KEPT for at, one in enumerate(self.sources) if one.data in kept}
        for at, n in enumerate(self.global_):
            if entries[reader.contents[n]] > 1:  # it would come out as two
                self.staying[at] = TWO_ENTRIES
        self.runner = Runner(self.options)
        self.stages: list[Stage] = []
        self.before: list[tuple[int, int]] = []
        self.bare: list[int] = []  # bytes of each module without debug information

    def run(self) -> None:
        try:
            self.link()
        except Refused as why:
            self.stay(PASSED, str(why))
        except (BadSpirv, Usage, MemoryError):
            raise
        except Exception as error:  # must not cost the user his pipelines
            what = self.judge().blame(error)
            self.stay(DEFECT, f"a defect of spvlink: {what}", what)

    def stay(self, outcome: Outcome, why: str, defect: str | None = None) -> None:
        """All as it came, which has to be valid too. Raises BadSpirv."""
        word = self.judge().originals()[1] if self.options.validate else None
        self.tell_unchanged(outcome, why, defect, word)

    def link(self) -> None:
        """Raises Refused where everything has to stay."""
        originals = self.sources
        if any(patches.overlap(s.name, s.module) for s in self.read):
            self.sources = [
                patches.separate(s.name, read_stage(s.source).module, s.source) for s in self.read
            ]
        unlinkable_borders: frozenset[tuple[int, int]] = frozenset()
        while True:
            try:
                family, outputs = self.attempt(unlinkable_borders)
                break
            except InterfaceMismatch as mismatch:
                unlinkable_borders |= {mismatch.pair}
        final = outputs
        if self.sources is not originals:
            names = [stage.name for stage in self.read]
            final = patches.back(list(zip(names, outputs, self.sources, originals)))
        results = [self.result(family, number, final) for number in range(len(self.rows))]
        for number, row in enumerate(self.rows):
            for at, pair in enumerate(zip(row, row[1:])):
                link = family.border(*pair).link
                name = self.numbers[number], self.reader.places[self.numbers[number]][at]
                self.made.reads[name] = frozenset(link.loads) if link is not None else _ALL
        for border in family.borders:
            if border.link is not None:
                forget_all(border.link)
        if not self.better(family, outputs):
            self.stay(UNCHANGED, NOTHING_TO_GAIN)
            return
        verdict = self.judge().verdict(outputs, self.options)
        for at, linked in zip(self.numbers, results):
            linked.validated = verdict
            self.made.pipelines[at] = linked
        for line in shared_wires(family):
            line.at = self.given(line.at)
            line.readers = [self.numbers[n] for n in line.readers]
            line.among = [self.numbers[n] for n in line.among]
            self.made.shared.append(line)
        used = sum(len(places) for c in family.crossings for places in c.used().values())
        least = sum(n for c in family.crossings for n in c.least().values())
        for border in family.borders:
            if border.placement is not None and border.payload is None and not border.shared:
                used += sum(border.placement.cost())  # and it needs them, whatever others do
                least += sum(border.placement.cost())
        self.made.least = self.made.least[0] + used, self.made.least[1] + least

    def given(self, at: Pair) -> Pair:
        """A pipeline of the family and an index in it, as they were given."""
        row = self.numbers[at[0]]
        return row, self.reader.places[row][at[1]]

    def attempt(self, unlinkable_borders: frozenset[tuple[int, int]]) -> tuple[Family, list[bytes]]:
        """All passes. Raises InterfaceMismatch where two stages did not fit before."""
        self.stages = [read_stage(source) for source in self.sources]
        self.before = [count(stage.module) for stage in self.stages]
        self.bare = [len(s.source.data) - described_bytes(s.module) for s in self.stages]
        family = Family(self.stages, self.rows, self.options, self.runner, unlinkable_borders)
        family.open = frozenset(self.stages[n] for n in self.open)
        family.specs = dict(zip(self.stages, self.specs))
        family.left = {self.stages[n]: why for n, why in self.staying.items()}
        return family, link_stages(family)

    def _spec(self, stage: int) -> Spec:
        """What all pipelines of a module say of its specialization constants."""
        name = self.reader.stages[self.global_[stage]].name
        said: list[Spec] = []
        for row, at in zip(self.rows, self.numbers):
            if stage in row:
                options = self.reader.rows[at][1]
                values = {id: v for (of, id), v in options.spec.items() if of == name}
                said.append((values, options.spec_defaults))
        first, defaults = said[0]
        alike = all(values == first for values, _ in said)
        agreed = {
            id: value
            for id, value in first.items()
            if all(values.get(id) == value for values, _ in said)
        }
        return agreed, defaults and alike and all(also for _, also in said)

    # -- results ---------------------------------------------------------------------------------

    def result(self, family: Family, number: int, outputs: list[bytes]) -> Linked:
        """Of one pipeline, as ``link`` gives it."""
        row, linked = self.rows[number], Linked()
        for pair in zip(row, row[1:]):
            remarks.report(linked, family.border(*pair))
        own = {family.stages[at] for at in row}
        linked.written += [remark for stage, remark in family.state_remarks if stage in own]
        linked.remarks = linked.remarks  # while the code is there
        for source, at in zip(self.own_sources(number), row):
            data, stage = outputs[at], family.stages[at]
            linked.stages.append(stage_result(stage, source, data, self.before[at]))
        options = self.reader.rows[self.numbers[number]][1]
        measure_later(linked, self.own_sources(number))
        vertex_inputs.report(linked, self.own_sources(number), options)
        linked.warnings = self.reader.warnings[self.numbers[number]]
        linked.target_env = self.target_env()
        linked.seconds = self.runner.seconds
        if not any(stage.changed for stage in linked.stages):
            linked.stay(UNCHANGED, NOTHING_TO_GAIN)
        return linked

    def own_sources(self, number: int) -> list[Source]:
        """The modules of a pipeline as it named them, in pipeline order."""
        at = self.numbers[number]
        return [self.reader.rows[at][0][n] for n in self.reader.places[at]]

    def target_env(self) -> str:
        versions = [stage.module.spirv_version for stage in self.read]
        return self.options.target_env or validate.lowest_env(versions)

    def tell_unchanged(
        self, outcome: Outcome, why: str, defect: str | None = None, word: str | None = None
    ) -> None:
        """All pipelines as they came; ``word``: the verdict on their modules."""
        for number, at in enumerate(self.numbers):
            linked = self.made.pipelines[at] = Linked()
            linked.stay(outcome, why, defect)
            linked.validated = word
            linked.warnings = self.reader.warnings[at]
            linked.target_env = self.options.target_env or ""
            sources = self.own_sources(number)
            stages = [read_stage(source) for source in sources]
            for producer, consumer in zip(stages, stages[1:]):
                remarks.report(linked, Border(producer, consumer))
            linked.remarks = []
            for stage in stages:
                source, size = stage.source, count(stage.module)
                linked.stages.append(stage_result(stage, source, source.data, size))
            measure_later(linked, sources)

    def better(self, family: Family, outputs: list[bytes]) -> bool:
        """Fewer Locations or components, or fewer instructions in functions, or fewer bytes, over
        all modules; in this order."""
        if all(data == source.data for data, source in zip(outputs, self.sources)):
            return False
        sides: dict[tuple[Stage, int], tuple[Pair, Pair]] = {}
        for border in family.borders:
            linked = Linked()
            remarks.report(linked, border)
            figures = linked.interfaces[0]
            sides[border.producer, 0] = figures.locations, figures.components
            sides[border.consumer, 1] = figures.read, (0, 0)
        bodies = [
            (self.before[at][1], count(stage.module)[1]) for at, stage in enumerate(family.stages)
        ]
        code = [
            (self.bare[at], len(outputs[at]) - described_bytes(stage.module))
            for at, stage in enumerate(family.stages)
        ]
        for pairs in ([s[0] for s in sides.values()], [s[1] for s in sides.values()], bodies, code):
            more = sum(after - before for before, after in pairs)
            if more:
                return more < 0
        return False

    def judge(self) -> Judge:
        return Judge(self.stages or self.read, self.target_env())


def common(settings: list[Options]) -> Options:
    """What several pipelines say alike."""
    options = copy.copy(settings[0])
    options.spec, options.spec_defaults, options.observer = {}, False, None
    options.complete = False
    options.layout = common_layout([other.layout for other in settings])
    if any(other.patch_points != options.patch_points for other in settings):
        options.patch_points = None
    if any(other.view_mask != options.view_mask for other in settings):
        options.view_mask = None
    options.state = common_state([other.state for other in settings])
    wanted = [other.target_env for other in settings if other.target_env is not None]
    if wanted:
        options.target_env = max(wanted, key=validate.ENVIRONMENTS.index)
    return options
