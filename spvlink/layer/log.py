"""``spvlink layer log``: what the layer did in the last run, and since it was installed."""

from __future__ import annotations

import os

from spvlink.layer import places
from spvlink.report import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator

WIDTH = 100  # columns


class Sums:
    """What ``c/log.c`` wrote: numbers by name, and how often each reason and event came."""

    __slots__ = ("events", "numbers", "passed_through", "program")

    def __init__(self) -> None:
        self.program: str | None = None
        self.numbers: dict[str, int] = {}
        self.passed_through: dict[str, int] = {}
        self.events: dict[str, int] = {}

    def to_json(self) -> dict[str, object]:
        """The fields of ``spvlink layer log --json``. Pairs are before and after linking."""
        n = self.numbers
        fields: dict[str, object] = {}
        if self.program is not None:
            fields["program"] = self.program
        for name in ("pipelines", "linked", "hits", "misses"):
            fields[name] = n.get(name, 0)
        fields["passed_through"] = self.passed_through
        for name in ("components", "locations"):
            fields[name] = [n.get(f"{name}_before", 0), n.get(f"{name}_after", 0)]
        fields["seconds"] = n.get("nanoseconds", 0) / 1e9
        fields["seconds_waited"] = n.get("waited_nanoseconds", 0) / 1e9
        fields["events"] = self.events
        return fields


def read(name: str) -> Sums:
    """``layer-last`` or ``layer-total``; all zeros if there is no such file."""
    sums = Sums()
    try:
        with open(os.path.join(places.state(), name), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return sums
    for line in lines:
        key, _, rest = line.partition(" ")
        number, _, text = rest.partition(" ")
        if key == "program":
            sums.program = rest
        elif number.isdigit():
            if key == "passed_through":
                sums.passed_through[text] = int(number)
            elif key == "event":
                sums.events[text] = int(number)
            else:
                sums.numbers[key] = int(number)
    return sums


def to_json() -> str:
    from json import dumps

    both = {"last_run": read("layer-last"), "since_install": read("layer-total")}
    return dumps({name: sums.to_json() for name, sums in both.items()}, indent=2) + "\n"


def to_text() -> str:
    last, total = read("layer-last"), read("layer-total")
    if not total.numbers:
        return "the layer has not run yet\n"
    program = f" ({last.program})" if last.program else ""
    lines = [f"last run{program}", *_lines(last), "since it was installed", *_lines(total)]
    return "\n".join(lines) + "\n"


def _lines(sums: Sums) -> Iterator[str]:
    n = {name: sums.numbers.get(name, 0) for name in ("pipelines", "linked", "hits", "misses")}
    yield (
        f"  {n['pipelines']} pipelines, {n['linked']} linked;"
        f" {n['hits']} from the cache, {n['misses']} asked for"
    )
    before_after = [
        f"{sums.numbers.get(what + '_before', 0)} -> {sums.numbers.get(what + '_after', 0)}"
        for what in ("components", "locations")
    ]
    yield f"  {before_after[0]} components in {before_after[1]} Locations"
    seconds = sums.numbers.get("nanoseconds", 0) / 1e9
    waited = sums.numbers.get("waited_nanoseconds", 0) / 1e9
    yield f"  {seconds:.3f} s in the layer, {waited:.3f} s of them waiting for the linker process"
    for title, table in (("passed through", sums.passed_through), ("trouble", sums.events)):
        for text, count in sorted(table.items(), key=lambda item: -item[1]):
            yield from wrap(
                f"  {title}, {count} times: {text}".replace(", 1 times", ""), WIDTH, "    "
            )
