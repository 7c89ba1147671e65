"""One result in a store that runs and machines share (``--store``), as bytes.

    spvlink-store 1                                     what it is
    {"key": "...", "digest": "...", "seal": "..."}      of which work; over the rest; or null
    ...                                                 compressed: a line of JSON, the new modules

The digest finds damage. The seal is a digest with a secret in it: nobody makes it who does not have
the secret. A work item is one job, or a family of jobs that share modules: its results belong
together, so they are one entry.
"""

from __future__ import annotations

import json
import zlib
from hashlib import blake2b
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.pipelines import digest_of
from spvlink.batches.shape import NO_RESULT, check_record
from spvlink.batches.store import Record
from spvlink.batches.work import JobOutcome
from spvlink.errors import SpvlinkError
from spvlink.pipeline import LINKED, PASSED, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spvlink.batches.shards import Work

MAGIC: Final = b"spvlink-store 1\n"
LIMIT: Final = 32 << 20  # bytes of an entry, and of what it holds
_HEADER_LIMIT: Final = 1 << 10
_LEVEL: Final = 1  # of zlib: the fastest
_EQUAL: Final = "equal"  # the outcome of a proof
# A failure, a defect or an error may be that of the machine: of its memory, or its spirv-val.
_KEPT: Final = (LINKED, UNCHANGED, PASSED)


class WrongEntry(SpvlinkError):
    """What is in a store is not the result that was asked for."""


def key_of(work: Work) -> bytes:
    """The name of an entry: a digest of the keys of its jobs."""
    return blake2b(MAGIC + b"".join(part.key for part in work.parts), digest_size=32).digest()


def lasting(outcomes: Sequence[JobOutcome]) -> bool:
    """Whether these results would be the same on any machine and at any time. A proof has a limit
    of time, so what it did not find out may be found out later."""
    for outcome in outcomes:
        verdict: Any = outcome.entry.get("verified")
        if not lasts(outcome.kind, verdict and (verdict["way"], verdict["outcome"])):
            return False
    return True


def lasts(kind: str, verified: tuple[str, str] | None) -> bool:
    """The same of one result; ``verified``: the way and the outcome of its proof."""
    return kind in _KEPT and (verified is None or verified[1] == _EQUAL)


def encode(key: bytes, outcomes: Sequence[JobOutcome], secret: bytes) -> bytes | None:
    """An entry; None if it is too large. An empty ``secret``: without a seal."""
    modules: dict[str, bytes] = {}
    parts = []
    for outcome in outcomes:
        names = [None if data is None else digest_of(data) for data in outcome.modules]
        modules.update((n, data) for n, data in zip(names, outcome.modules) if n and data)
        fields = {name: getattr(outcome, name) for name in Record.__slots__}
        parts.append(fields | {"modules": names})
    sizes = [[name, len(data)] for name, data in modules.items()]
    text = json.dumps({"parts": parts, "modules": sizes}).encode()
    content = b"\n".join([text, b"".join(modules.values())])
    if len(content) > LIMIT:
        return None
    return sealed(key, zlib.compress(content, _LEVEL), secret)


def sealed(key: bytes, packed: bytes, secret: bytes) -> bytes:
    """Any bytes as an entry."""
    digest = blake2b(packed, digest_size=32).hexdigest()
    seal = _seal(key, digest, secret) if secret else None
    header = {"key": key.hex(), "digest": digest, "seal": seal}
    return b"".join([MAGIC, json.dumps(header).encode(), b"\n", packed])


def decode(data: bytes, key: bytes, work: Work, secret: bytes) -> list[JobOutcome]:
    """The results in an entry, one a part of the work. Raises WrongEntry if they are not whole, are
    of another key, make no sense or, with a ``secret``, have no seal by it."""
    packed = opened(data, key, secret)
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed, LIMIT)
        if not unpacking.eof or unpacking.unused_data:
            raise ValueError
        text, _, rest = content.partition(b"\n")
        return _outcomes(json.loads(text), rest, work)
    except (zlib.error, *NO_RESULT):
        raise WrongEntry("it makes no sense") from None


def opened(data: bytes, key: bytes, secret: bytes) -> bytes:
    """What an entry holds, which is what was written. Raises WrongEntry."""
    if not data.startswith(MAGIC):
        raise WrongEntry("it is no entry of a store")
    end = data.find(b"\n", len(MAGIC), len(MAGIC) + _HEADER_LIMIT)
    try:
        header = json.loads(data[len(MAGIC) : end])  # without an end: too much
        own, digest, seal = (str(header[name]) for name in ("key", "digest", "seal"))
    except NO_RESULT:
        raise WrongEntry("it is damaged") from None
    packed = data[end + 1 :]
    if not compare_digest(blake2b(packed, digest_size=32).hexdigest(), digest):
        raise WrongEntry("it is damaged")
    if own != key.hex():
        raise WrongEntry("it is the result of another job")
    if secret and not compare_digest(_seal(key, digest, secret).encode(), seal.encode()):
        raise WrongEntry("no seal, or another --store-key sealed it")
    return packed


def _seal(key: bytes, digest: str, secret: bytes) -> str:
    facts = ["spvlink-store", key.hex(), digest]
    return blake2b(json.dumps(facts).encode(), digest_size=32, key=secret).hexdigest()


def _outcomes(given: Any, rest: bytes, work: Work) -> list[JobOutcome]:
    """Raises one of NO_RESULT."""
    modules: dict[str, bytes] = {}
    at = 0
    for name, size in given["modules"]:
        end = at + max(size, 0)
        data = rest[at:end]
        at = end
        if digest_of(data) != name:
            raise ValueError
        modules[name] = data
    known = {part.key: len(part.modules) for part in work.parts}
    made = []
    for part, fields in zip(work.parts, given["parts"], strict=True):
        record = Record(**fields)
        check_record(record, len(part.modules), known)
        outcome = JobOutcome(record.kind, record.reason, record.at)
        outcome.modules = [None if name is None else modules[name] for name in record.modules]
        outcome.entry = record.entry
        made.append(outcome)
    if at != len(rest) or not lasting(made):
        raise ValueError
    return made
