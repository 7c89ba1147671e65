"""``spvlink layer log``: what the layer did in the last run, and since it was installed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct

from spvlink.archive.structures import named
from spvlink.layer import places
from spvlink.report import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

WIDTH = 100  # columns
TOTAL: Final = "layer-total"
RUNS: Final = "layer-runs"
LOCK: Final = "layer-lock"
FILES: Final = (TOTAL, RUNS, LOCK)
# struct run and struct sum of c/layer.h
_HEAD: Final = struct.Struct("<8s2q40s")
_SUM: Final = struct.Struct("<Q200s")
_MAGIC: Final = b"SPVLRUN1"
_LIBRARIES: Final = ("frozen", "joined", "joined_as_it_was")
# What became of a pipeline with shaders: each is one of these.
OUTCOMES: Final = ("linked", "nothing_to_gain", "parts", "refused", "not_in_time")


class Sums:
    """What ``c/log.c`` counted: numbers by name, and how often each reason and event came.
    ``touched``: when the process counted last, in nanoseconds since 1970."""

    __slots__ = ("events", "folded", "numbers", "passed_through", "program", "touched", "unknown")

    def __init__(self) -> None:
        self.program: str | None = None
        self.touched = 0
        self.numbers: dict[str, int] = {}
        self.passed_through: dict[str, int] = {}
        self.events: dict[str, int] = {}
        self.unknown: dict[str, int] = {}  # what is not among the numbers of Vulkan that it has
        self.folded: set[str] = set()  # files that are in these numbers

    def add(self, other: Sums) -> None:
        """Add what another process counted."""
        for mine, its in (
            (self.numbers, other.numbers),
            (self.passed_through, other.passed_through),
            (self.events, other.events),
            (self.unknown, other.unknown),
        ):
            for name, count in its.items():
                mine[name] = mine.get(name, 0) + count

    def to_json(self) -> dict[str, object]:
        """The fields of ``spvlink layer log --json``. Pairs are before and after linking."""
        n = self.numbers
        fields: dict[str, object] = {}
        if self.program is not None:
            fields["program"] = self.program
        for name in ("pipelines", *OUTCOMES, "without_shaders", *_LIBRARIES, "hits", "misses"):
            fields[name] = n.get(name, 0)
        fields["passed_through"] = self.passed_through
        for name in ("components", "locations"):
            fields[name] = [n.get(f"{name}_before", 0), n.get(f"{name}_after", 0)]
        fields["seconds"] = n.get("nanoseconds", 0) / 1e9
        fields["seconds_waited"] = n.get("waited_nanoseconds", 0) / 1e9
        fields["events"] = self.events
        fields["unknown"] = self.unknown
        return fields


def _read(path: str) -> Sums | None:
    """The numbers of a file, None if it is none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    if len(data) < _HEAD.size or (len(data) - _HEAD.size) % _SUM.size:
        return None
    magic, _, touched, program = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        return None
    sums = Sums()
    sums.touched, sums.program = touched, _text(program)
    for value, raw in _SUM.iter_unpack(data[_HEAD.size :]):
        kind, _, rest = _text(raw).partition(" ")
        if kind == "passed_through":
            sums.passed_through[rest] = value
        elif kind == "event":
            sums.events[rest] = value
        elif kind == "unknown":
            sums.unknown[_named(rest)] = value
        elif kind == "folded":
            sums.folded.add(rest)
        elif kind:
            sums.numbers[kind] = value
    return sums


def _named(what: str) -> str:
    """What the layer wrote, with a structure's name if it has one."""
    kind, _, rest = what.partition(" ")
    number, _, where = rest.partition(" ")
    return f"{named(int(number))} {where}" if kind == "sType" and number.isdigit() else what


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace")


def read() -> tuple[Sums, Sums]:
    """What the last run did, and all runs since the layer was installed; all zeros if there is
    none. Programs that run are in there."""
    folder = places.state()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # nobody may add files up meanwhile
            lock = stack.enter_context(open(os.path.join(folder, LOCK), "rb"))
            fcntl.flock(lock, fcntl.LOCK_SH)
        total = _read(os.path.join(folder, TOTAL)) or Sums()
        runs = _read_runs(os.path.join(folder, RUNS), total.folded)
    last = max(runs, key=lambda run: run.touched, default=Sums())
    total.program = None
    for run in runs:
        total.add(run)
    return last, total


def _read_runs(folder: str, without: set[str]) -> list[Sums]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = [_read(os.path.join(folder, name)) for name in names if name not in without]
    return [run for run in found if run is not None]


def to_json() -> str:
    from json import dumps

    last, total = read()
    both = {"last_run": last.to_json(), "since_install": total.to_json()}
    return dumps(both, indent=2) + "\n"


def to_text() -> str:
    last, total = read()
    if last.program is None and not total.numbers:
        return "the layer has not run yet\n"
    program = f" ({last.program})" if last.program else ""
    lines = [f"last run{program}", *_lines(last), "since it was installed", *_lines(total)]
    return "\n".join(lines) + "\n"


def _lines(sums: Sums) -> Iterator[str]:
    n = sums.numbers
    became = ", ".join(
        f"{n.get(name, 0)} {name.replace('_', ' ')}" for name in OUTCOMES if n.get(name, 0)
    )
    yield f"  {n.get('pipelines', 0)} pipelines with shaders{': ' if became else ''}{became}"
    if n.get("frozen", 0):
        yield (
            f"  {n['frozen']} libraries in two versions; {n.get('joined', 0)} pipelines made of"
            f" linked libraries, {n.get('joined_as_it_was', 0)} of the originals"
        )
    yield f"  {n.get('hits', 0)} from the cache, {n.get('misses', 0)} asked for"
    before_after = [
        f"{n.get(what + '_before', 0)} -> {n.get(what + '_after', 0)}"
        for what in ("components", "locations")
    ]
    yield f"  {before_after[0]} components in {before_after[1]} Locations"
    seconds, waited = n.get("nanoseconds", 0) / 1e9, n.get("waited_nanoseconds", 0) / 1e9
    yield f"  {seconds:.3f} s in the layer, {waited:.3f} s of them waiting for the linker process"
    for title, table in (
        ("passed through", sums.passed_through),
        ("unknown", sums.unknown),
        ("trouble", sums.events),
    ):
        for text, count in sorted(table.items(), key=lambda item: -item[1]):
            yield from wrap(
                f"  {title}, {count} times: {text}".replace(", 1 times", ""), WIDTH, "    "
            )
