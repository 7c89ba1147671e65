"""Find the facts about stages in a row that an interface cannot say; some stages are stubs."""

from __future__ import annotations

import copy

from spvlink.chain.runner import Runner
from spvlink.chain.state import original
from spvlink.errors import Broken
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.ir.slot import OTHER_SIDE, base_of, key_of
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.border.values import single_value
from spvlink.link.check import interface
from spvlink.options import Options
from spvlink.sets.contract import BASES, QUALIFIERS, Whole
from spvlink.sets.family import Family
from spvlink.sets.stub import Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


_READ: Final = frozenset(QUALIFIERS.values())
KINDS: Final = {
    enums.Decoration_Patch: "Patch",
    enums.Decoration_PerPrimitiveEXT: "PerPrimitiveEXT",
}


class Apart(Family):
    """Stages in a row, of which some are stubs. ``uses_state``: what is known of the state changes
    stages; an interface for all does not depend on it."""

    __slots__ = ()

    def __init__(
        self, stages: list[Stage], options: Options, runner: Runner, uses_state: bool = False
    ) -> None:
        rows = [list(range(len(stages)))]
        options = copy.copy(options)
        options.complete = False  # what stands behind the last stage is here
        Family.__init__(self, stages, rows, options, runner)
        self.stubs = frozenset(s for s in stages if s.linked)
        self.specs.update({stub: ({}, False) for stub in self.stubs})
        self.literal = True
        self.stateless = not uses_state


def all_of(stage: Stage, storage: int) -> list[Wanted]:
    """All that a side declares. Raises Broken if that is not in order."""
    wanted: list[Wanted] = []
    for variable in interface.declared(stage.module, storage):
        kind = tuple(sorted(_READ & (variable.qualifiers | variable.kind)))
        bases: dict[int, str] = {}
        _bases(variable.type, *variable.place, bases)
        wanted += [Wanted(key, base, kind) for key, base in bases.items() if base in BASES]
    return wanted


def _bases(type: Inst, location: int, lane: int, types_of: dict[int, str]) -> int:
    """Key -> type of each component of a variable; gives the Locations that it takes."""
    if type.op in (ops.OpTypeInt, ops.OpTypeFloat):
        types_of[key_of(location, lane)] = base_of(type)
    elif type.op == ops.OpTypeVector:
        for at in range(type.imm[0]):
            _bases(type.args[0], location, lane + at, types_of)
    else:
        taken = 0
        for at in range(types.size_of(type)):
            taken += _bases(types.part_type(type, at), location + taken, lane, types_of)
        return taken
    return 1


def aggregates(stage: Stage, storage: int) -> list[Whole] | None:
    """The variables of a side as it came; None if they are not in order, and not ours to judge."""
    try:
        declared = interface.declared(original(stage), storage)
    except Broken:
        return None
    return [
        Whole(*v.place, " ".join([v.shape, *sorted(map(KINDS.__getitem__, v.kind))]), v.name)
        for v in declared
    ]


def unsupported(link: Link) -> str:
    """Why a border stays as it is, or nothing."""
    whole = [*link.outputs.pinned, *link.inputs.pinned]
    for pinned in sorted(
        whole, key=lambda p: p.pins & OTHER_SIDE
    ):  # that of the side that says why
        return f"{pinned.name or 'a variable'} stays whole: {pinned.why}"
    for side in (link.outputs, link.inputs):
        for slot in side.slots.values():
            if slot.base not in BASES:
                return f"{slot.name} has numbers of {slot.width} bits"
            if not _READ.issuperset(slot.qualifiers):
                return f"{slot.name} is read in a way that an interface cannot say"
    if link.outputs.captured:
        return "transform feedback captures some of it"
    return ""


def constant(link: Link, key: int) -> int | None:
    """The bits of the constant that every store of a slot writes, or None."""
    stored = single_value(link, key)
    return None if stored is None else types.bits_of(stored)
