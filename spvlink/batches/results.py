"""What became of jobs, in few bytes each: the totals and the output need it of all of them at once.
The rest is on the disk (``store``)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.pipelines import DIGEST
from spvlink.digest_table import DigestTable
from spvlink.report import BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spvlink.batches.store import Record

FIGURES: Final = ("components", "locations", *BYTES)
Pair = tuple[int, int]


class SharedFacts:
    """What many results say alike. ``verified``: the way and the outcome of ``--verify``, None if
    it was not asked for."""

    __slots__ = ("kind", "reason", "verified", "warnings")

    def __init__(
        self,
        kind: str,
        reason: str | None,
        verified: tuple[str, str] | None,
        warnings: tuple[str, ...],
    ) -> None:
        self.kind = kind
        self.reason = reason
        self.verified = verified
        self.warnings = warnings


class JobResult:
    """A look at one result. ``kind``, ``reason``, ``verified`` and ``warnings`` as in
    ``SharedFacts``."""

    __slots__ = ("_facts", "_number", "_results")

    def __init__(self, results: JobResults, number: int, facts: SharedFacts) -> None:
        self._results = results
        self._number = number
        self._facts = facts

    @property
    def kind(self) -> str:
        return self._facts.kind

    @property
    def reason(self) -> str | None:
        return self._facts.reason

    @property
    def verified(self) -> tuple[str, str] | None:
        return self._facts.verified

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._facts.warnings

    @property
    def modules(self) -> list[str | None]:
        """Names of the new modules, as in ``Record``."""
        named = self._results.named
        return [named(at - 1) if at else None for at in self._results.new(self._number)]

    @property
    def before(self) -> list[int]:
        """Numbers of its modules (``JobResults.named`` has their names)."""
        return self._results.old(self._number)

    @property
    def after(self) -> list[int]:
        """The same of those that it has now."""
        before = self.before
        new = self._results.new(self._number)
        return [at - 1 if at else old for at, old in zip(new, before)] or before

    @property
    def sums(self) -> dict[str, Pair]:
        """Of the borders, by FIGURES: before and after."""
        return self._results.sums(self._number)


class JobResults:
    """Results by the numbers of their jobs."""

    def __init__(self) -> None:
        self._modules = DigestTable(DIGEST)  # old ones and new ones
        self._facts: list[SharedFacts] = []
        self._fact_numbers: dict[tuple[object, ...], int] = {}
        # Of each job: the number of its facts + 1, or 0: it is not done; where its modules begin in
        # ``_lists``; before and after of each figure.
        self._known = array("I")
        self._begins = array("Q")
        self._sums = array("Q")
        # Of each job that is done: how many stages and new modules there are; the modules of the
        # stages; the new modules + 1, 0 where the module stays.
        self._lists = array("I")

    def __len__(self) -> int:
        return len(self._known)

    @property
    def modules(self) -> int:
        """How many modules there are, old ones and new ones."""
        return len(self._modules)

    def named(self, number: int) -> str:
        """The digest of a module."""
        return self._modules[number].hex()

    def expect(self) -> None:
        """There is one job more."""
        self._known.append(0)
        self._begins.append(0)
        self._sums.extend([0] * (2 * len(FIGURES)))

    def __getitem__(self, number: int) -> JobResult:
        """Of a job that is done."""
        facts = self._known[number]
        assert facts
        return JobResult(self, number, self._facts[facts - 1])

    def put(
        self, number: int, record: Record, modules: Sequence[str], warnings: Sequence[str]
    ) -> JobResult:
        """Keep what became of a job with these modules."""
        verdict: Any = record.entry.get("verified")
        verified = None if verdict is None else (verdict["way"], verdict["outcome"])
        facts = SharedFacts(record.kind, record.reason, verified, tuple(warnings))
        figures = [figure for name in FIGURES for figure in record.figures(name)]
        return self.keep(number, facts, modules, record.modules, figures)

    def keep(
        self,
        number: int,
        facts: SharedFacts,
        modules: Sequence[str],
        new: Sequence[str | None],
        figures: Sequence[int],
    ) -> JobResult:
        """The same in parts. ``figures``: before and after of each."""
        key = facts.kind, facts.reason, facts.verified, facts.warnings
        fact = self._fact_numbers.setdefault(key, len(self._facts))
        if fact == len(self._facts):
            self._facts.append(facts)
        self._known[number] = fact + 1
        self._begins[number] = len(self._lists)
        old = [self._modules.add(bytes.fromhex(name)) for name in modules]
        after = [0 if name is None else self._modules.add(bytes.fromhex(name)) + 1 for name in new]
        self._lists.extend([len(old), len(after), *old, *after])
        begin = number * 2 * len(FIGURES)
        end = begin + 2 * len(FIGURES)
        self._sums[begin:end] = array("Q", figures)
        return self[number]

    def figures(self, number: int) -> list[int]:
        """Before and after of each figure, as ``keep`` took them."""
        begin = number * 2 * len(FIGURES)
        end = begin + 2 * len(FIGURES)
        return list(self._sums[begin:end])

    def old(self, number: int) -> list[int]:
        """The modules of the stages of a job that is done."""
        begin = self._begins[number] + 2
        end = begin + self._lists[begin - 2]
        return list(self._lists[begin:end])

    def new(self, number: int) -> list[int]:
        """The new ones, each + 1, and 0 for a stage that keeps its own; or nothing."""
        begin = self._begins[number]
        start = begin + 2 + self._lists[begin]
        end = start + self._lists[begin + 1]
        return list(self._lists[start:end])

    def sums(self, number: int) -> dict[str, Pair]:
        """Before and after of each figure."""
        figures = self.figures(number)
        return dict(zip(FIGURES, zip(figures[::2], figures[1::2])))
