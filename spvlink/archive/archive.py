"""The pipelines and modules of an archive."""

from __future__ import annotations

from spvlink.archive.records import Pipeline

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator, Sequence


class Archive:
    """One or several `.foz` files as one; of entries with the same key the first wins.

    ``warnings`` are lines for people: what was damaged and where (at most 100, the last one says
    how many more there were). Raises ``BadArchive`` if a file is none, ``Usage`` if it cannot be
    read. Memory: 16 bytes an entry; everything else is read when it is asked for. Not for several
    threads at once, and not to be pickled: a worker gets the bytes, or opens it again.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.warnings: list[str] = []
        raise NotImplementedError

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""

    def count(self) -> int:
        """How many graphics pipelines there are."""
        raise NotImplementedError

    def pipelines(self) -> Iterator[Pipeline]:
        """All graphics pipelines by ascending key, those with a reason too, one at a time. Never
        raises for damage of one."""
        raise NotImplementedError

    def pipeline(self, key: str) -> Pipeline:
        """One of them. Raises KeyError if there is none of that key."""
        raise NotImplementedError

    def module(self, key: str) -> bytes:
        """The SPIR-V of a module, little endian. Raises ``BadArchive`` with what is wrong: missing,
        damaged, too large. That it starts with the magic number is sure, nothing else."""
        raise NotImplementedError
