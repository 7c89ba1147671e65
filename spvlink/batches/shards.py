"""Parts of a batch that run apart: ``--shard K/N`` makes the folder of one.

    FOLDER/shard.json   which part of which batch it is, and a seal over all that is in the folder
    FOLDER/results      what came of its jobs: a line for each, its key and JSON
    FOLDER/modules/     every module that its jobs made, named by its content

Each machine makes all jobs and deals them out alike: the digests of the jobs and the sizes of their
modules decide, nothing else. So no machine needs to know of another.
"""

from __future__ import annotations

import heapq
import json
import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from spvlink.batches.store import MODULE, Record, unwritable, write
from spvlink.errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from spvlink.batches.families import PipelineFamily
    from spvlink.batches.jobs import Job
    from spvlink.batches.store import JobStore

    Work = Job | PipelineFamily

FORMAT: Final = 1
HEADER: Final = "shard.json"
RESULTS: Final = "results"
HEADER_LIMIT: Final = 1 << 16  # bytes
MOST: Final = 4096  # shards
KEY_LIMIT: Final = 1 << 20  # bytes of the file of --shard-key


def is_shard(path: str) -> bool:
    """Whether this is the folder of a shard."""
    return os.path.isfile(os.path.join(path, HEADER))


def number_in(folder: str) -> tuple[int, int] | None:
    """Which shard says that it is in this folder, as (K, N); None if none can be read."""
    try:
        with open(os.path.join(folder, HEADER), "rb") as file:
            facts = json.loads(file.read(HEADER_LIMIT))
        return int(facts["number"]), int(facts["count"])
    except (OSError, LookupError, RecursionError, TypeError, ValueError):
        return None


class ShardHeader:
    """What ``shard.json`` says. ``number`` counts from 1. ``identity``: which linker it was.
    ``limits``: what a job may take. ``batch``: a digest of all jobs, of all shards. ``results``: a
    digest of that file."""

    __slots__ = ("batch", "count", "identity", "limits", "number", "results")

    def __init__(
        self, number: int, count: int, identity: str, limits: str, batch: str, results: str
    ) -> None:
        self.number = number
        self.count = count
        self.identity = identity
        self.limits = limits
        self.batch = batch
        self.results = results

    @property
    def name(self) -> str:
        return f"{self.number}/{self.count}"

    def seal(self, key: bytes) -> str:
        """A digest of all this. With a key nobody makes it who does not have the key."""
        facts = [FORMAT, *(getattr(self, name) for name in ShardHeader.__slots__)]
        return blake2b(json.dumps(facts).encode(), digest_size=32, key=key).hexdigest()


def read_key(path: str | None, option: str = "--shard-key") -> bytes:
    """The key in the file of an option; empty without one. Raises Usage."""
    if path is None:
        return b""
    try:
        with open(path, "rb") as file:
            data = file.read(KEY_LIMIT + 1)
    except OSError as error:
        raise Usage(f"{path}: cannot read it: {error.strerror}") from None
    if not data or len(data) > KEY_LIMIT:
        raise Usage(f"{option} {path}: expected 1 to {KEY_LIMIT} bytes, not {len(data)}")
    return secret_of(data)


def secret_of(data: bytes) -> bytes:
    """A key of any length as one for seals; empty for none."""
    return blake2b(data).digest() if data else b""


def owners(jobs: Sequence[Work], count: int, module: Callable[[str], bytes]) -> list[int]:
    """The shard of each job, from 0: the heaviest job first, each to the shard that has least until
    then. A job weighs what its modules do; ``module`` reads one by its digest."""
    sizes: dict[str, int] = {}
    for job in jobs:
        for digest in job.modules:
            if digest not in sizes:
                sizes[digest] = len(module(digest))
    weights = [sum(sizes[digest] for digest in job.modules) for job in jobs]
    loads = [(0, 0, shard) for shard in range(count)]  # (bytes, jobs, shard): a heap
    owner = [0] * len(jobs)
    for at in sorted(range(len(jobs)), key=lambda at: (-weights[at], jobs[at].place)):
        load, number, shard = loads[0]
        owner[at] = shard
        heapq.heapreplace(loads, (load + weights[at], number + 1, shard))
    return owner


def digest_of_batch(keys: Iterable[bytes]) -> str:
    """One digest for all jobs, in whatever order they come."""
    return blake2b(b"".join(sorted(keys)), digest_size=32).hexdigest()


def deliver(
    target: str, store: JobStore, keys: Iterable[bytes], head: ShardHeader, seal: bytes
) -> None:
    """Make the folder of a shard, as a whole or not at all; ``keys`` are those of its jobs. Raises
    Usage."""
    wanted = {HEADER, RESULTS}
    path = os.path.join(store.out, RESULTS)
    digest = blake2b(digest_size=32)
    try:
        with open(path, "wb") as file:
            for key in sorted(keys):
                record = store.read(key)
                fields = {name: getattr(record, name) for name in Record.__slots__}
                line = f"{key.hex()} {json.dumps(fields)}\n".encode()
                digest.update(line)
                file.write(line)
                wanted.update(f"modules/{name}{MODULE}" for name in record.modules if name)
    except OSError as error:
        raise unwritable(path, error) from None
    head.results = digest.hexdigest()
    facts = {name: getattr(head, name) for name in ShardHeader.__slots__}
    text = json.dumps({"format": FORMAT, **facts, "seal": head.seal(seal)}, indent=1) + "\n"
    write(os.path.join(store.out, HEADER), text.encode())
    store.deliver(target, wanted)
