"""What gives pipelines and what takes results: a format of a set of pipelines has both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spvlink.batches.pipelines import Pipeline, Unfit
    from spvlink.batches.store import Record, Store


class Source(Protocol):
    """Where pipelines come from. ``warnings``: lines about what is damaged."""

    warnings: list[str]

    def __len__(self) -> int:
        """How many pipelines there are."""

    def pipelines(self) -> Iterator[Pipeline | Unfit]:
        """All pipelines; the same ones in the same order each time."""

    def module(self, digest: str) -> bytes:
        """The SPIR-V of a module that one of the pipelines named. Raises SpvlinkError if it is not
        what it was."""


class Written:
    """What was delivered. ``modules``: names of all modules of the pipelines that are jobs, equal
    ones once. ``stays``: index of a pipeline that could not get its new modules after all, and
    why."""

    __slots__ = ("modules", "stays")

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.stays: dict[int, str] = {}


class Sink(Protocol):
    """Where results go."""

    def write(self, target: str, store: Store, record: Callable[[int], Record | None]) -> Written:
        """Make the target, as a whole or not at all. ``record`` gives what became of the pipeline
        at an index, None for one that stays as it was. Raises Usage if it cannot be written."""


class Place(Source, Sink, Protocol):
    """An input that knows how to write the output of its kind."""
