"""Explain which outputs a module of a set could not drop, and because of which pipelines."""

from __future__ import annotations

from spvlink.chain.state import INPUT, OUTPUT
from spvlink.chain.wires import Crossing
from spvlink.ir.slot import shown
from spvlink.sets.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.link.border.stage import Stage


class Shared:
    """An output, or a part of one, that some of a module's pipelines do without. ``at``: (a
    pipeline that has the module, its index there); ``slot``: where it was, as in ``Remark``;
    ``readers``: the pipelines that read it, ``among`` all those that have the module."""

    __slots__ = ("among", "at", "name", "readers", "slot")

    def __init__(
        self, at: tuple[int, int], name: str, slot: str, readers: list[int], among: list[int]
    ) -> None:
        self.at = at
        self.name = name
        self.slot = slot
        self.readers = readers
        self.among = among


def shared_wires(family: Family) -> list[Shared]:
    """Of all modules, in their order."""
    rows: dict[Stage, dict[Stage | None, list[int]]] = {}  # producer -> consumer -> pipelines
    for number, row in enumerate(family.pipelines):
        stages: list[Stage | None] = [family.stages[n] for n in row]
        for stage, behind in zip(stages, [*stages[1:], None]):
            if stage is not None:
                rows.setdefault(stage, {}).setdefault(behind, []).append(number)
    wires: list[Shared] = []
    for number, stage in enumerate(family.stages):
        for crossing in family.crossings:
            if (stage, OUTPUT) in crossing.sides:
                first = min(min(numbers) for numbers in rows[stage].values())
                at = first, family.pipelines[first].index(number)
                wires += _of_stage(at, stage, rows[stage], crossing)
    return wires


def _of_stage(
    at: tuple[int, int],
    stage: Stage,
    rows: dict[Stage | None, list[int]],
    crossing: Crossing,
) -> list[Shared]:
    among = sorted(n for numbers in rows.values() for n in numbers)
    groups: dict[tuple[str, int, tuple[int, ...]], list[int]] = {}
    slots = crossing.sides[stage, OUTPUT].slots
    for unit in crossing.units:
        if (stage, OUTPUT) not in unit.kinds:
            continue
        readers: list[int] = []
        for behind, numbers in rows.items():
            if behind is not None and (behind, INPUT) in unit.kinds:
                readers += numbers
        if not readers or len(readers) == len(among):
            continue  # it is captured, say, or all read it
        for key in unit.keys:
            slot = slots.get(key)
            name = slot.name if slot is not None and slot.name else f"location {shown(key >> 3)}"
            groups.setdefault((name, shown(key >> 3), tuple(sorted(readers))), []).append(key)
    made: list[Shared] = []
    for (name, location, reading), keys in groups.items():
        place = f"{location}.{''.join('xyzw'[k >> 1 & 3] for k in keys)}"
        made.append(Shared(at, name, place, [*reading], among))
    return made
