"""The stages of one pipeline and the borders between them, while they are linked. Data only: what
is done to it, and in which order, says ``chain.py``."""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.chain.border import Border
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
    from collections.abc import Callable
    from typing import Final, TypeVar

    T = TypeVar("T")

# Stages that may be the last one of a pipeline.
_LAST: Final = frozenset(("vert", "tese", "geom", "mesh"))

OUTPUT: Final = enums.StorageClass_Output
INPUT: Final = enums.StorageClass_Input


class InterfaceMismatch(Exception):
    """What was made does not fit a stage that stays as it is, at this border."""

    def __init__(self, border: str) -> None:
        super().__init__(border)
        self.border = border


class Chain:
    """The stages in pipeline order, their borders, and what was noted of them on the way."""

    __slots__ = (
        "afters", "befores", "borders", "declared", "fixed", "fixed_function_consumer", "is_set",
        "linked", "listed", "more", "options", "runner", "stages", "staying", "unlinkable_borders",
        "untouched",
    )  # fmt: skip

    def __init__(
        self, stages: list[Stage], options: Options, runner: Runner, linked: Linked,
        unlinkable_borders: frozenset[str] = frozenset(), more: bool = False,
        pairs: list[tuple[Stage, Stage]] | None = None,
    ) -> None:  # fmt: skip
        self.stages = stages
        self.options = options
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
        self.more = more  # there are stages behind the last one, of which nothing is known here
        self.unlinkable_borders = unlinkable_borders  # borders whose neighbours did not fit then
        self.listed: dict[Stage, list[Inst]] = {}  # the variables of the original entry point
        # stage, storage class -> the variables of its new interface
        self.declared: dict[tuple[Stage, int], list[Varying]] = {}
        self.staying: dict[Stage, frozenset[Inst]] = {}  # those that stay declared, used or not

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
