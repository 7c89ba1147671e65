"""Jobs that share modules, as one piece of work: each module is linked once for all of them
(``--variants``)."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from spvlink.batches.jobs import Job


class PipelineFamily:
    """``parts``: the jobs. ``modules``: digests of the distinct modules. ``places``: for each
    part, its modules as indices into these. ``most``: versions that a module may have. ``kept``:
    those of ``modules`` that something that is no job has, as it is. ``place`` as in ``Job``."""

    def __init__(self, parts: list[Job], most: int, kept: Container[str] = ()) -> None:
        self.parts = parts
        self.most = most
        self.modules = list(dict.fromkeys(digest for job in parts for digest in job.modules))
        index = {digest: at for at, digest in enumerate(self.modules)}
        self.places = [[index[digest] for digest in job.modules] for job in parts]
        self.kept = [digest for digest in self.modules if digest in kept]
        # A result depends on all parts; another part makes it another one.
        digest = blake2b(f"{most}".encode(), digest_size=32)
        for key in sorted(job.key for job in parts):
            digest.update(key)
        for name in sorted(self.kept):
            digest.update(name.encode())
        self.salt = digest.digest()
        places = sorted(job.place for job in parts)
        self.place = blake2b(b"".join(places), digest_size=32).digest()

    def key_of(self, job: Job) -> bytes:
        """The key of a part's result."""
        return blake2b(self.salt + job.key, digest_size=32).digest()

    @property
    def weight(self) -> int:
        """How many links it is worth."""
        return len(self.parts)


def families(
    jobs: Iterable[Job], most: int, kept: Callable[[], Container[str]] = tuple
) -> Iterator[PipelineFamily]:
    """All jobs in families, in the order of their first ones. ``kept`` is asked for when all jobs
    are there."""
    leaders: dict[str, str] = {}

    def find(digest: str) -> str:
        while leaders[digest] != digest:
            leaders[digest] = leaders[leaders[digest]]
            digest = leaders[digest]
        return digest

    listed = list(jobs)
    for job in listed:
        for digest in job.modules:
            leaders.setdefault(digest, digest)
            leaders[find(digest)] = find(job.modules[0])
    groups: dict[str, list[Job]] = {}
    for job in listed:
        groups.setdefault(find(job.modules[0]), []).append(job)
    stored = kept()
    for parts in groups.values():
        yield PipelineFamily(parts, most, stored)
