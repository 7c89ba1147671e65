"""The shape of a result that comes from elsewhere: all that reports, pages and the Python API rely
on. What it says may still be wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from spvlink.pipeline import ACTIONS, DEFECT, FAILED, INVALID, LINKED, PASSED, UNCHANGED
from spvlink.report import BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spvlink.batches.store import Record

# What ``check_record`` raises, and what reading JSON and making a Record of it may raise.
NO_RESULT: Final = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
# The words for a way of verifying and its outcome.
VERDICTS: Final = {
    ("paper", "equal"): "proved equal",
    ("executed", "equal"): "executed equal",
    ("", "unknown"): "not proved",
    ("", "unequal"): "not equal",
}
_MOST: Final = 1 << 40  # no figure is as large
_KINDS: Final = (LINKED, UNCHANGED, PASSED, INVALID, FAILED, DEFECT)
_NAME: Final = re.compile(r"[0-9a-f]{40}")
_KEYS: Final = re.compile(r"(?:[0-9a-f]{16}(?:,(?=.)|$))*")
_EQUAL: Final = "equal"
_STAGE: Final = {"at", "stage", "instructions", "bytes"}
_BORDER: Final = {"producer", "consumer", "components", "locations", *BYTES}
_REMARK: Final = {"interface", "name", "slot", "action", "why", "cells"}
_FLAW: Final = {"at", "interface", "message", "rule"}
_ENTRY: Final = {
    "stages", "interfaces", "remarks", "target_env", "validated", "verified", "warnings",
    "untouched", "set",
}  # fmt: skip


def check_record(record: Record, stages: int, known: Mapping[bytes, int]) -> None:
    """Raise one of NO_RESULT unless it is the result of a job of that many stages; ``known`` has
    the number of stages of each job of the batch."""
    _must(record.kind in _KINDS and isinstance(record.entry, dict))
    _must((record.reason is None) == (record.kind == LINKED))
    _must(record.reason is None or isinstance(record.reason, str))
    _must(record.at == -1 or _is_index(record.at, stages))
    _must(len(record.modules) in (0, stages))
    for name in record.modules:
        _must(name is None or _NAME.fullmatch(name) is not None)
    _must(record.kind == LINKED or not any(record.modules))
    entry: dict[str, Any] = record.entry
    _must(_ENTRY.issuperset(entry) and isinstance(entry.get("target_env", ""), str))
    _must(entry.get("validated") is None or isinstance(entry["validated"], str))
    for one in entry.get("stages", ()):
        _must(
            one.keys() == _STAGE and isinstance(one["stage"], str) and _is_index(one["at"], stages)
        )
        _check_pairs(one, "instructions", "bytes")
    for part in (entry, entry.get("untouched", {})):
        for one in part.get("interfaces", ()):
            _must(one.keys() == _BORDER)
            _must(isinstance(one["producer"], str) and isinstance(one["consumer"], str))
            _check_pairs(one, "components", "locations", *BYTES)
        for one in part.get("remarks", ()):
            _must(all(isinstance(one[n], str) for n in ("interface", "name", "slot", "why")))
            _must(one.keys() == _REMARK and one["action"] in ACTIONS)
            before, after = one["cells"]
            _must(all(type(cell) is int for cell in [*before, *after]))
    for one in entry.get("warnings", ()):
        _check_flaw(one, stages)
    if "verified" in entry:
        way, outcome = (entry["verified"][name] for name in ("way", "outcome"))
        _must((way, outcome) in VERDICTS or ("", outcome) in VERDICTS)
    if "set" in entry:
        _check_set(entry["set"], known)


def check_job_line(line: list[Any], modules: int) -> None:
    """The same for what a page (``pages``) says of a job; ``modules``: how many new ones it has."""
    key, kind, reason, verified, old, new, figures, flaws, _ = line
    _must(len(bytes.fromhex(key)) == 32 and kind in (LINKED, UNCHANGED, PASSED))
    _must((reason is None) == (kind == LINKED) and (reason is None or isinstance(reason, str)))
    _must(verified is None or (tuple(verified) in VERDICTS and verified[1] == _EQUAL))
    _must(all(_NAME.fullmatch(name) for name in old) and len(new) in (0, len(old)))
    _must(all(at is None or _is_index(at, modules) for at in new))
    _must(len(figures) == 2 * (2 + len(BYTES)))
    _must(all(_is_index(figure, _MOST) for figure in figures))
    for flaw in flaws:
        _check_flaw(flaw, len(old))


def check_pipeline_line(line: list[Any], jobs: Sequence[int]) -> None:
    """The same for a pipeline; ``jobs``: how many stages each job of the page has."""
    key, own, keys, named, job, labels, unread, unfit, _ = line
    _must(len(bytes.fromhex(key)) == 8 and len(own) == 40 and isinstance(named, str))
    _must(_KEYS.fullmatch(keys) is not None and {str}.issuperset(map(type, labels)))
    _must({int}.issuperset(map(type, unread)))
    if job is not None:
        _must(_is_index(job, len(jobs)) and len(labels) == jobs[job])
    else:
        reason, unknown = unfit
        _must(isinstance(reason, str) and all(isinstance(one, str) for one in unknown))


def _check_flaw(one: dict[str, Any], stages: int) -> None:
    """An error between stages, as a report has it."""
    _must(one.keys() == _FLAW and isinstance(one["interface"], str))
    _must(_is_index(one["at"], stages) and isinstance(one["message"], str))
    _must(one["rule"] is None or isinstance(one["rule"], str))


def _check_set(figures: dict[str, Any], known: Mapping[bytes, int]) -> None:
    """What a result says of the family of its job."""
    jobs = figures["jobs"]
    _must(all(bytes.fromhex(key) in known for key in jobs))
    _check_pairs(figures, "slots")
    for line in figures["shared"]:
        part, at = line["at"]
        _must(all(_is_index(n, len(jobs)) for n in [*line["readers"], *line["among"], part]))
        _must(_is_index(at, known[bytes.fromhex(jobs[part])]))
        _must(isinstance(line["name"], str) and isinstance(line["slot"], str))
    for one in figures["kept"]:
        _must(isinstance(one["module"], str))
        _must(one["by"] is None or bytes.fromhex(one["by"]) in known)


def _check_pairs(entry: dict[str, Any], *names: str) -> None:
    for name in names:
        before, after = entry[name]
        _must(_is_index(before, _MOST) and _is_index(after, _MOST))


def _is_index(value: object, count: int) -> bool:
    return type(value) is int and 0 <= value < count


def _must(fact: bool) -> None:
    """Not an assertion: Python may be told to skip these."""
    if not fact:
        raise ValueError
