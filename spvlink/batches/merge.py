"""The results of all shards as those of one run: ``spvlink merge``.

A folder comes from another machine. Checked are its seal, the digests of its files, whether it is a
part of this batch, and the shape of each result. Nothing is written to it.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from spvlink.batches.pipelines import digest_of
from spvlink.batches.shape import NO_RESULT, check_record
from spvlink.batches.shards import (
    FORMAT,
    HEADER,
    HEADER_LIMIT,
    MOST,
    RESULTS,
    ShardHeader,
    digest_of_batch,
    owners,
)
from spvlink.batches.store import MODULE, Record
from spvlink.batches.work import JobOutcome
from spvlink.errors import Usage
from spvlink.sources import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from spvlink.batches.jobs import Job
    from spvlink.batches.shards import Work
    from spvlink.batches.store import JobStore

_LISTED: Final = 10  # shards that an error names
_AGAIN: Final = "make this shard again"


class Shard:
    """The folder of a shard. Raises Usage if it is not as it was written."""

    def __init__(self, folder: str, key: bytes) -> None:
        self.folder = folder
        self.head = self._header(key)
        self.places: dict[bytes, tuple[int, int]] = {}  # of each result: where it is, and its size

    def read(self) -> None:
        """Note where each result is. Raises Usage if the file is not as it was written."""
        path = os.path.join(self.folder, RESULTS)
        digest = blake2b(digest_size=32)
        end = 0
        try:
            with open(path, "rb") as file:
                for line in file:
                    digest.update(line)
                    key, _, text = line.partition(b" ")
                    end += len(line)
                    if len(key) == 64:
                        self.places[key] = end - len(text), len(text)
        except OSError as error:
            raise Usage(f"{path}: cannot read it: {error.strerror}") from None
        if not compare_digest(digest.hexdigest(), self.head.results):
            raise Usage(f"{path}: it was changed or is damaged: {_AGAIN}")

    def _header(self, key: bytes) -> ShardHeader:
        path = os.path.join(self.folder, HEADER)
        try:
            with open(path, "rb") as file:
                data = file.read(HEADER_LIMIT + 1)
        except OSError as error:
            raise Usage(f"{path}: cannot read it: {error.strerror}") from None
        try:
            facts = json.loads(data) if len(data) <= HEADER_LIMIT else None
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise Usage(f"{path}: this is not the {HEADER} of a shard")
        if facts.get("format") != FORMAT:
            raise Usage(f"{path}: a shard of another version of spvlink: {_AGAIN}")
        names = ShardHeader.__slots__
        given = {name: facts.get(name) for name in names}
        whole = [given[name] for name in ("number", "count")]
        texts = [facts.get(name) for name in ("batch", "identity", "limits", "results", "seal")]
        if not all(type(n) is int for n in whole) or not all(isinstance(t, str) for t in texts):
            raise Usage(f"{path}: this is not the {HEADER} of a shard")
        head = ShardHeader(**given)  # type: ignore[arg-type]
        if not compare_digest(head.seal(key).encode(), facts["seal"].encode(errors="replace")):
            why = "it was changed, or another --shard-key sealed it"
            raise Usage(f"{path}: its seal is wrong: {why}")
        if not 0 < head.number <= head.count <= MOST:
            raise Usage(f"{path}: there is no shard {head.name}")
        return head

    def outcome(self, job: Job, known: Mapping[bytes, int]) -> JobOutcome:
        """What came of a job; ``known`` has the number of stages of each job of the batch. Raises
        Usage if it is none, or a module of it is not as it was written."""
        path = os.path.join(self.folder, RESULTS)
        start, size = self.places[job.key.hex().encode()]
        try:
            with open(path, "rb") as file:
                file.seek(start)
                record = Record(**json.loads(file.read(size)))
            check_record(record, len(job.modules), known)
        except OSError as error:
            raise Usage(f"{path}: cannot read it: {error.strerror}") from None
        except NO_RESULT:
            raise Usage(f"{path}: the result of a job makes no sense: {_AGAIN}") from None
        outcome = JobOutcome(record.kind, record.reason, record.at)
        outcome.entry = record.entry
        outcome.modules = [None if name is None else self._module(name) for name in record.modules]
        return outcome

    def _module(self, name: str) -> bytes:
        path = os.path.join(self.folder, "modules", name + MODULE)
        try:
            with open(path, "rb") as file:
                data = file.read(LIMIT + 1)
        except OSError as error:
            raise Usage(f"{path}: cannot read it: {error.strerror}") from None
        if digest_of(data) != name:
            raise Usage(f"{path}: it was changed or is damaged: {_AGAIN}")
        return data


def opened(folders: list[str], key: bytes, identity: str, limits: str) -> list[Shard]:
    """All shards of a batch, the first one first. Raises Usage if one is missing, or they do not
    belong together."""
    shards: dict[int, Shard] = {}
    first: Shard | None = None
    for folder in folders:
        shard = Shard(folder, key)
        head = shard.head
        first = first or shard
        if head.identity != identity:
            raise Usage(f"{folder}: made by another spvlink or spirv-val than this machine has")
        if head.limits != limits:
            have = f"a job could take {head.limits}, not {limits}"
            raise Usage(f"{folder}: made with another --timeout or --memory: {have}")
        if head.count != first.head.count:
            other = f"{first.folder} is {first.head.name}"
            raise Usage(f"{folder}: this is shard {head.name}, and {other}")
        if head.number in shards:
            both = f"{shards[head.number].folder} and {folder}"
            raise Usage(f"shard {head.name} is given twice: {both}")
        shards[head.number] = shard
    if first is None:
        raise Usage("no shard is given: name the folders that spvlink batch --shard made")
    count = first.head.count
    missing = [f"{number}/{count}" for number in range(1, count + 1) if number not in shards]
    if missing:
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        what = "shards is" if len(missing) == 1 else "shards are"
        names = ", ".join(missing[:_LISTED])
        raise Usage(f"{len(missing)} of {count} {what} missing: {names}{more}")
    return [shards[number] for number in range(1, count + 1)]


def results(
    shards: list[Shard], jobs: list[Work], module: Callable[[str], bytes], store: JobStore
) -> Iterator[tuple[Job, Record]]:
    """What came of each job of the batch, kept in the store. Raises Usage."""
    known = {part.key: len(part.modules) for job in jobs for part in job.parts}
    batch = digest_of_batch(known)
    for shard in shards:
        if shard.head.batch != batch:
            raise Usage(f"{shard.folder}: a shard of other pipelines or with other options")
        shard.read()
    owner = owners(jobs, len(shards), module)
    expected: list[set[bytes]] = [set() for _ in shards]
    for job, at in zip(jobs, owner):
        expected[at].update(part.key.hex().encode() for part in job.parts)
    for shard, keys in zip(shards, expected):
        if shard.places.keys() != keys:
            raise Usage(f"{shard.folder}: it does not have the jobs of shard {shard.head.name}")
    for job, at in zip(jobs, owner):
        for part in job.parts:
            yield part, store.put(part.key, shards[at].outcome(part, known))
