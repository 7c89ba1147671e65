"""The whole story in one function: ``link``.

    decode    bytes to modules; the entry point of each; do they make a pipeline?
    optimize  all passes on all stages (``chain``)
    check     our cross-stage checker, spirv-val, and: is it better at all?

On any doubt the original bytes go out and the result says why.
"""

from __future__ import annotations

import gc
import time

from spvlink import patches, validate
from spvlink.chain import split_at_fixed, vertex_inputs
from spvlink.chain.runner import Runner
from spvlink.chain.table import PASSES
from spvlink.entry import count, described_bytes, read_pipeline
from spvlink.errors import BadSpirv, Broken, Refused, Usage
from spvlink.grammar import enums
from spvlink.ir.core import CAPABILITIES
from spvlink.ir.edit import abandon
from spvlink.layout import check_layout
from spvlink.link.border.stage import Stage
from spvlink.link.check import interface
from spvlink.link.check.input import flaws
from spvlink.options import Options, check_promises, options_of
from spvlink.pipeline import (
    DEFECT,
    NOTHING_TO_GAIN,
    PACKINGS,
    PASSED,
    STAGES,
    UNCHANGED,
    Linked,
    Source,
    StageResult,
    stage_of,
)
from spvlink.verdicts import Judge

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Sequence
    from typing import Any, Final, Unpack

    from spvlink.options import Settings
    from spvlink.pipeline import Outcome, Sizes

CREATION: Final = "VUID-VkGraphicsPipelineCreateInfo-"
_ORDER: Final = {name: at for at, name in enumerate(STAGES.values())}
_PRIMITIVES: Final = frozenset(("vert", "tesc", "tese", "geom"))
# Without one of these nothing is PerPrimitiveEXT.
_PER_PRIMITIVE: Final = frozenset((enums.Capability_MeshShadingEXT, enums.Capability_MeshShadingNV))
_MESHES: Final = frozenset(("task", "mesh"))
# A stage, the one that must be there too, and the rule that says so.
_TOGETHER: Final = (
    ("tesc", "tese", "pStages-00729"),
    ("tese", "tesc", "pStages-00730"),
    ("task", "mesh", "stage-02096"),
)


def link(
    stages: Sequence[Source | bytes], options: Options | None = None, **settings: Unpack[Settings]
) -> Linked:
    """Link the modules of one pipeline.

    ``stages``: the SPIR-V modules as bytes, in any order; a ``Source`` names the file for messages
    and the entry point. Settings are an ``Options`` or its keywords, as in ``link(stages,
    exact=True)``.

    The result has one ``StageResult`` a stage in pipeline order (``data`` is the module to use),
    figures of every border, remarks that say what became of every varying, and ``passed_through``:
    None, or why the modules came back unchanged because they cannot be improved, or not safely.

    Raises ``BadSpirv`` if a module is not valid or the modules make no pipeline, ``Usage`` if the
    settings make no sense or spirv-val is missing, ``TypeError`` for an unknown keyword,
    ``MemoryError``. Whatever else goes wrong inside comes back as a result with ``defect`` set and
    the modules as they were.
    """
    if options is not None and settings:
        raise Usage("settings are given twice: as options and as keywords")
    options = options or options_of(settings)
    _check(options)
    sources = [s if isinstance(s, Source) else Source(s) for s in stages]
    for source in sources:
        if source.stage and source.stage not in STAGES.values():
            raise Usage(f"no stage is called {source.stage}")
    collecting = gc.isenabled()
    gc.disable()  # a link drops its objects all at once at the end: there is nothing to find before
    session = _Session(sources, options)
    try:
        return session.run()
    finally:
        session.close()
        if collecting:
            gc.enable()


def _check(options: Options) -> None:
    """Raise Usage for names that nothing has."""
    for name in sorted(options.disable.difference(PASSES)):
        raise Usage(f"no optimization is called {name}")
    for name in sorted(options.keep_interface - frozenset(STAGES.values())):
        raise Usage(f"no stage is called {name}")
    if options.pack and options.pack not in PACKINGS:
        raise Usage(f"there is no packing {options.pack}")
    if options.target_env is not None and options.target_env not in validate.ENVIRONMENTS:
        there = ", ".join(validate.ENVIRONMENTS)
        raise Usage(f"there is no target environment {options.target_env}; there are {there}")
    if options.layout is not None:
        check_layout(options.layout)
    given: dict[Any, Any] = options.spec  # types are promises of who calls
    for (stage, id), value in given.items():
        if not isinstance(value, (str, bytes)):
            what = f"{value!r} is neither text nor bytes"
            raise Usage(f"the specialization constant {id} of the {stage} stage: {what}")
    if options.state is not None:
        from spvlink import state  # seldom: see chain/table

        state.state_of(options.state)
    if options.half is not None:
        if options.exact:
            raise Usage("half and exact exclude each other: 16 bits keep fewer than all of them")
        if not 0 < options.half <= 1:
            raise Usage(f"half: {options.half} is no bound above 0 and up to 1")
    check_promises(options)
    if min(options.expect) <= 0:
        raise Usage("a stage is expected to run at least once")


class _Session:
    """One call of ``link``."""

    def __init__(self, sources: list[Source], options: Options) -> None:
        self.sources = sources
        self.options = options
        self.runner = Runner(options)
        self.linked = Linked()
        self.stages: list[Stage] = []
        self.before: list[tuple[int, int]] = []
        self.described: list[int] = []  # bytes of debug information of the inputs
        self.overlaps = False  # Patch variables lie over others
        # then: sources while these are apart, and as they came, by stage
        self.apart: dict[str, tuple[Source, Source]] = {}

    def run(self) -> Linked:
        self.timed("decode", self.decode)
        linked = self.linked
        linked.target_env = self.target_env()
        try:
            self.timed("check", self.look)
            outputs = self.link()
        except Refused as why:
            return self.pass_through(PASSED, str(why))
        except (BadSpirv, Usage, MemoryError):
            raise
        except Exception as error:  # a defect of ours must not cost the user his pipeline
            what = self.judge().blame(error)
            return self.pass_through(DEFECT, f"a defect of spvlink: {what}", what)
        self.fill(outputs)
        if not any(stage.changed for stage in linked.stages):
            return self.leave(UNCHANGED, NOTHING_TO_GAIN)
        if not self.better():
            return self.pass_through(UNCHANGED, NOTHING_TO_GAIN)
        return self.validate(outputs)

    def link(self) -> list[bytes]:
        """The new binaries. Patch variables that lie over others are apart in between."""
        stages = self.stages
        kept = not self.options.keep_interface.isdisjoint(("tesc", "tese"))
        try:
            self.overlaps = any(patches.overlap(s.name, s.module) for s in stages)
            if self.overlaps and not kept:
                for stage in stages:
                    source = stage.source
                    stage.source = patches.separate(stage.name, stage.module, source)
                    self.apart[stage.name] = stage.source, source
            made = split_at_fixed.link_around_fixed(stages, self.options, self.runner, self.linked)
            if not self.apart:
                return made
            sides = [(s.name, data, *self.apart[s.name]) for s, data in zip(stages, made)]
            return patches.back(sides)
        finally:
            for stage in stages if self.apart else ():
                if stage.name in self.apart:
                    stage.source = self.apart[stage.name][1]

    def close(self) -> None:
        """Cut the cycles of the graphs, so that they are gone without a search for them."""
        for stage in self.stages:
            abandon(stage.module)

    def timed(self, name: str, act: Callable[[], object]) -> None:
        begin = time.perf_counter()
        try:
            act()
        finally:
            seconds = self.runner.seconds
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begin

    # -- decode ------------------------------------------------------------------------------------

    def decode(self) -> None:
        """Modules and entry points; raises BadSpirv unless they make one pipeline."""
        self.stages = read_stages(self.sources)
        self.stages.sort(key=lambda s: rank(s.name))
        check_pipeline(self.stages)
        names = {stage.name for stage in self.stages}
        for name, _ in self.options.spec:
            if name not in names:
                raise Usage(f"a specialization constant for the {name} stage, which is not here")
        for stage in self.stages:
            self.before.append(count(stage.module))
            self.described.append(described_bytes(stage.module))

    def look(self) -> None:
        """What is wrong between the stages, while they are as they came."""
        given = [(stage.name, stage.module, stage.source) for stage in self.stages]
        self.linked.warnings = flaws(given, self.linked.target_env)

    def target_env(self) -> str:
        versions = [stage.module.spirv_version for stage in self.stages]
        return self.options.target_env or validate.lowest_env(versions)

    # -- the way out -------------------------------------------------------------------------------

    def fill(self, outputs: list[bytes]) -> None:
        """Figures before and after."""
        for stage, data, before in zip(self.stages, outputs, self.before):
            self.linked.stages.append(stage_result(stage, stage.source, data, before))
        sources = [stage.source for stage in self.stages]
        measure_later(self.linked, sources)
        vertex_inputs.report(self.linked, sources, self.options)
        self.linked.seconds = self.runner.seconds

    def better(self) -> bool:
        """Fewer Locations or components, or fewer Locations or built-ins that are read, or fewer
        components of 32 bits (``half``), or fewer instructions in functions, or fewer bytes; in
        this order."""
        linked = self.linked
        figures = (
            [i.locations for i in linked.interfaces],
            [i.components for i in linked.interfaces],
            [i.read for i in linked.interfaces],
            [i.builtins for i in linked.interfaces],
            [i.wide for i in linked.interfaces],
            [s.body for s in linked.stages],
            self.code_bytes(),
        )
        for pairs in figures:
            more = 0  # than before
            for before, after in pairs:
                more += after - before
            if more:
                return more < 0
        return False

    def code_bytes(self) -> list[tuple[int, int]]:
        """Bytes of each module before and after, without debug information, which decides
        nothing."""
        sizes: list[tuple[int, int]] = []
        for stage, result, before in zip(self.stages, self.linked.stages, self.described):
            after = described_bytes(stage.module)
            sizes.append((result.bytes[0] - before, result.bytes[1] - after))
        return sizes

    def validate(self, outputs: list[bytes]) -> Linked:
        """spirv-val over what is about to go out."""
        begin = time.perf_counter()
        try:
            self.linked.validated = self.judge().verdict(outputs, self.options)
        except Broken as refused:
            return self.pass_through(DEFECT, refused.message, refused.message)
        self.linked.seconds["spirv-val"] = time.perf_counter() - begin
        return self.linked

    def judge(self) -> Judge:
        return Judge(self.stages, self.linked.target_env, self.overlaps)

    def leave(self, outcome: Outcome, why: str, defect: str | None = None) -> Linked:
        """The originals, which have to be valid too, and why nothing is better."""
        if self.options.validate and self.linked.validated is None:
            self.linked.validated = self.judge().originals()[1]
        self.linked.stay(outcome, why, defect)
        return self.linked

    def pass_through(self, outcome: Outcome, why: str, defect: str | None = None) -> Linked:
        """The same, with nothing said of what was tried."""
        linked = self.leave(outcome, why, defect)
        linked.stages = []
        linked.remarks = []
        for interface_result in linked.interfaces:
            interface_result.components = (interface_result.components[0],) * 2
            interface_result.locations = (interface_result.locations[0],) * 2
            interface_result.error_bound = None
        for stage, before in zip(self.stages, self.before):
            linked.stages.append(stage_result(stage, stage.source, stage.source.data, before))
        measure_later(linked, [stage.source for stage in self.stages])
        linked.seconds = self.runner.seconds
        return linked


def stage_result(stage: Stage, source: Source, data: bytes, before: tuple[int, int]) -> StageResult:
    """A stage after linking; ``source``: its module as it came; ``before``: its size then, as
    ``entry.count`` has it."""
    result = StageResult(stage.name, source.file, data, data != source.data)
    after = count(stage.module) if result.changed else before
    result.instructions, result.body = (before[0], after[0]), (before[1], after[1])
    result.bytes = len(source.data), len(data)
    return result


def measure_later(linked: Linked, sources: Sequence[Source]) -> None:
    """Let the bytes of each border be counted when somebody asks. ``sources``: the modules of the
    stages as they came, in the order of the stages."""
    stages = {stage.stage: (source, stage) for source, stage in zip(sources, linked.stages)}
    for border in linked.interfaces:
        if border.producer in stages:  # it is not one that only an interface stands for
            border.measure = _measure(*stages[border.producer])


def _measure(source: Source, stage: StageResult) -> Callable[[], tuple[Sizes, Sizes]]:
    return lambda: _sizes(source, stage)


def _sizes(source: Source, stage: StageResult) -> tuple[Sizes, Sizes]:
    """Bytes that a stage hands on, before and after."""
    from spvlink.varying_bytes import sizes_of_module  # seldom

    before = sizes_of_module(source.data, source.entry, stage.stage)
    if not stage.changed:
        return before, before
    return before, sizes_of_module(stage.data, source.entry, stage.stage)


def read_stages(sources: list[Source]) -> list[Stage]:
    """The modules of one pipeline, each with its entry point. Raises BadSpirv, Usage."""
    read: list[Stage] = []
    for source, module in zip(sources, read_pipeline(sources)):
        assert module.entry is not None
        read.append(Stage(source, stage_of(module.entry.model), module))
    return read


def read_stage(source: Source) -> Stage:
    """One module and its entry point, without the others of its pipeline. Raises BadSpirv,
    Usage."""
    return read_stages([source])[0]


def rank(name: str) -> int:
    """The place of a stage in a pipeline."""
    return _ORDER[name]


def check_pipeline(stages: list[Stage]) -> None:
    """Raise BadSpirv unless stages, which are in order, make a pipeline."""
    check_stages(stages)
    check_primitives(stages)


def check_stages(stages: list[Stage]) -> None:
    """Raise BadSpirv if Vulkan does not combine these stages, which are in order; any part of a
    pipeline may come without the rest, but neither tessellation shader without the other, and no
    task shader without its mesh shader."""
    wrong = odd_stage([(stage.name, stage.source.file) for stage in stages])
    if wrong is not None:
        at, rule, what = wrong
        raise stages[at].bad(_against(rule, what))


def odd_stage(stages: list[tuple[str, str]]) -> tuple[int, str, str] | None:
    """The first of these stages, (name, file) in order, that Vulkan does not combine with the
    others: its index, the rule, what is wrong. None if they go together."""
    for at in range(1, len(stages)):
        name, other = stages[at][0], stages[at - 1]
        if name == other[0]:
            where = other[1] or "one"
            return at, "stage-06897", f"a second {name} stage beside {where}"
    positions = {stages[at][0]: at for at in range(len(stages))}
    meshes = [name for name in positions if name in _MESHES]
    others = [name for name in positions if name in _PRIMITIVES]
    if meshes and others:
        what = f"a {meshes[0]} stage beside a {others[0]} stage"
        return positions[meshes[0]], "pStages-02095", what
    for name, wanted, rule in _TOGETHER:
        if name in positions and wanted not in positions:
            return positions[name], rule, f"a {name} stage without a {wanted} stage"
    return None


def check_primitives(stages: list[Stage]) -> None:
    """Raise BadSpirv if a fragment shader reads per primitive what no mesh shader writes: only its
    outputs may be PerPrimitiveEXT, and an input is if its output is (Vulkan, "Interface
    Matching")."""
    if len(stages) < 2 or stages[-1].name != "frag" or stages[-2].name == "mesh":
        return
    frag = stages[-1]
    if not any(i.imm[0] in _PER_PRIMITIVE for i in frag.module.sections[CAPABILITIES]):
        return
    try:
        inputs = interface.declared(frag.module, enums.StorageClass_Input)
    except Broken:
        return  # is said elsewhere
    for variable in inputs:
        if enums.Decoration_PerPrimitiveEXT in variable.kind:
            what = f"input {variable.name} is per primitive"
            raise frag.bad(f"{what}, and the {stages[-2].name} stage is no mesh stage")


def _against(rule: str, what: str) -> str:
    """A message that names the rule (Vulkan, "Graphics Pipeline Creation")."""
    return f"{what} ({CREATION}{rule})"
