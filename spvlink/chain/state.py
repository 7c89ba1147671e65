"""Hold the stages of one pipeline and the borders between them while they are linked. This is data
only; ``chain.py`` says what happens to it, in which order."""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.chain.border import Border, Group
from spvlink.chain.runner import Runner
from spvlink.entry import select_entry
from spvlink.errors import SpvlinkError
from spvlink.grammar import enums
from spvlink.ir.core import Inst, Module
from spvlink.ir.slot import Varying
from spvlink.link.border.stage import Stage
from spvlink.options import Options
from spvlink.pipeline import Linked

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Mapping
    from typing import Final, TypeVar

    from spvlink.chain.wires import Crossing
    from spvlink.pipeline import Remark
    from spvlink.state import PipelineState

    T = TypeVar("T")
    Spec = tuple[Mapping[int, str | bytes], bool]  # values by SpecId; whether others are defaults

# Stages that may be the last one of a pipeline.
_LAST: Final = frozenset(("vert", "tese", "geom", "mesh"))

OUTPUT: Final = enums.StorageClass_Output
INPUT: Final = enums.StorageClass_Input


class InterfaceMismatch(Exception):
    """What was made does not fit at the border of these two stages, by their indices: one of them
    stays as it is, or they never fitted."""

    def __init__(self, producer: int, consumer: int) -> None:
        super().__init__(producer, consumer)
        self.pair = producer, consumer


class Chain:
    """The stages in pipeline order, their borders, and what was noted of them on the way."""

    __slots__ = (
        "afters", "befores", "borders", "cost_share", "crossings", "declared", "ends", "fixed",
        "fixed_function_consumer", "groups", "is_set", "known", "left", "linked", "listed",
        "literal", "open", "options", "runner", "specs", "stages", "starts", "state_remarks",
        "stateless", "staying", "stubs", "unlinkable_borders", "untouched",
    )  # fmt: skip

    def __init__(
        self, stages: list[Stage], options: Options, runner: Runner, linked: Linked,
        unlinkable_borders: frozenset[tuple[int, int]] = frozenset(), more: bool = False,
        pairs: list[tuple[Stage, Stage]] | None = None,
    ) -> None:  # fmt: skip
        self.stages = stages
        self.options = options
        self.known: PipelineState | None = _known(options)  # None: nothing is known
        # what became of what faces no other stage
        self.state_remarks: list[tuple[Stage, Remark]] = []
        self.runner = runner
        self.linked = linked
        # ``pairs``: which stages meet, if these are not the neighbours (``sets``)
        self.is_set = pairs is not None
        self.borders = [Border(a, b) for a, b in pairs or zip(stages, stages[1:])]
        # behind the last stage of a pipeline that ends without a fragment shader
        self.fixed_function_consumer: Stage | None = None
        last = stages[-1].name
        if options.complete and last in _LAST and last not in options.keep_interface:
            behind = self.fixed_function_consumer = Stage.fixed_functions()
            self.borders.append(Border(stages[-1], behind))
        self.befores: dict[Stage, list[Border]] = {}
        self.afters: dict[Stage, list[Border]] = {}
        for border in self.borders:
            self.befores.setdefault(border.consumer, []).append(border)
            self.afters.setdefault(border.producer, []).append(border)
        self.untouched: set[Stage] = set()  # go out as they came
        # by --keep-interface; the neighbours may still change
        self.fixed = frozenset(s for s in stages if s.name in options.keep_interface)
        self.cost_share = 100  # in percent of --cost-limit: what a move may cost for the time being
        # behind which something comes that is not known
        self.open = frozenset(stages[-1:]) if more else frozenset[Stage]()
        self.starts = frozenset[Stage]()  # of which a pipeline has nothing before it
        self.ends = frozenset[Stage]()  # with which a pipeline ends that another one goes on behind
        self.stubs = frozenset[Stage]()  # that do not go out
        # a value crosses by being known only if that is a constant, or another input as it is
        self.literal = False
        self.stateless = False  # what is known of the state is not used
        self.groups: list[Group] = []  # of borders that passes look at together
        # stages that did not fit then, by their indices
        self.unlinkable_borders = unlinkable_borders
        self.specs = {s: _spec_of(s, options) for s in stages}
        self.left: dict[Stage, str] = {}  # stages that go out as they came from the start, and why
        self.crossings: list[Crossing] = []  # what has new places at borders that share modules
        self.listed: dict[Stage, list[Inst]] = {}  # the variables of the original entry point
        # stage, storage class -> the variables of its new interface
        self.declared: dict[tuple[Stage, int], list[Varying]] = {}
        self.staying: dict[Stage, frozenset[Inst]] = {}  # those that stay declared, used or not

    @property
    def view_mask(self) -> int | None:
        """As in ``Options``, which may leave it to the state."""
        if self.options.view_mask is None and self.known is not None:
            return self.known.view_mask
        return self.options.view_mask

    @property
    def patch_points(self) -> int | None:
        if self.options.patch_points is None and self.known is not None:
            return self.known.patch_points
        return self.options.patch_points

    def touched(self) -> list[Stage]:
        if not self.untouched:
            return self.stages
        return [s for s in self.stages if s not in self.untouched]

    def before(self, stage: Stage) -> Border | None:
        """The border to the stage before; in a set, the first of those: they are all linked, or
        none is."""
        borders = self.befores.get(stage)
        return borders[0] if borders else None

    def after(self, stage: Stage) -> Border | None:
        """The same behind it."""
        borders = self.afters.get(stage)
        return borders[0] if borders else None

    def around(self, stage: Stage) -> list[Border]:
        """All borders of a stage."""
        return self.befores.get(stage, []) + self.afters.get(stage, [])


def _spec_of(stage: Stage, options: Options) -> Spec:
    values = {id: v for (name, id), v in options.spec.items() if name == stage.name}
    return values, options.spec_defaults


def _known(options: Options) -> PipelineState | None:
    if options.state is None:
        return None
    from spvlink import state  # seldom: see chain/table

    return state.state_of(options.state)


def in_file(stage: Stage, act: Callable[..., T], *args: object) -> T:
    """Act; errors on the way out say which file they are about."""
    try:
        return act(*args)
    except SpvlinkError as error:
        error.file = error.file or stage.source.file
        raise


def original(stage: Stage) -> Module:
    """A stage's module as it came."""
    module = decode(stage.source.data)
    module.entry = select_entry(module, stage.source.entry, stage.name)
    return module
