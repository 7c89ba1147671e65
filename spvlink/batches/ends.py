"""What gives pipelines and what takes results: a format of a set of pipelines has both."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spvlink.batches.known import KnownPipeline
    from spvlink.batches.pipelines import BatchPipeline, IneligiblePipeline
    from spvlink.batches.store import JobStore

    New = Callable[[int], list[str | None] | None]


Key = TypeVar("Key")
REMEMBERED: Final = 32 << 20  # bytes


class Recent(Generic[Key]):
    """Modules that were read just now: they are digested to make a job, and travel with it; and
    pipelines share them."""

    def __init__(self) -> None:
        self._held: OrderedDict[Key, bytes] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> bytes | None:
        return self._held.get(key)

    def put(self, key: Key, data: bytes) -> bytes:
        """Hold the module; gives it back."""
        if key not in self._held:
            self._held[key] = data
            self._size += len(data)
        while self._size > REMEMBERED and len(self._held) > 1:
            self._size -= len(self._held.popitem(last=False)[1])
        return data


class PipelineSource(Protocol):
    """Where pipelines come from. ``warnings``: lines about what is damaged."""

    warnings: list[str]

    def __len__(self) -> int:
        """How many pipelines there are."""

    def pipelines(self) -> Iterator[BatchPipeline | IneligiblePipeline | KnownPipeline]:
        """All pipelines; the same ones in the same order each time."""

    def module(self, digest: str) -> bytes:
        """The SPIR-V of a module that one of the pipelines named. Raises SpvlinkError if it is not
        what it was."""

    def digest(self, name: str) -> str | None:
        """The digest of a module that ``IneligiblePipeline.modules`` names; None if unreadable."""

    def others(self) -> Iterator[IneligiblePipeline]:
        """What has modules, too, and is no pipeline of the batch: it goes out as it came."""


class Sink(Protocol):
    """Where results go. When they are there, ``bytes`` are the sizes (before, after) of archives,
    or of the modules of a manifest or folder; ``pruned`` is how many modules were left out, None
    where that was not asked for."""

    bytes: tuple[int, int]
    pruned: int | None

    def write(self, target: str, store: JobStore, new: New, together: bool) -> dict[int, str]:
        """Make the target, as a whole or not at all. ``new`` gives the names of the new
        modules of the pipeline at an index, stage by stage: None for a stage that stays as it was,
        nothing at all if all do, and None for a pipeline that is no job. ``together``: those that
        share a new module all get it, or none.

        Gives the index of each pipeline that could not get its new modules after all, and why.
        Raises Usage if the target cannot be written."""


class OutputPlace(PipelineSource, Sink, Protocol):
    """An input that knows how to write the output of its kind."""
