"""Treat outputs that are constant or undefined as constant.

    if (lit) { v.x = 0.5; v.y = f(); }      v = phi(undefined, (0.5, f()))    ->   v.x is 0.5
    for each vertex: if (a) c = 0.5; emit   c = phi(c of the vertex before, or undefined; 0.5)

Why it is right. An undefined value may be any value, at every use another one (SPIR-V, "Undefined
values"), so it may be the constant that all other paths bring. ``simplify`` sees that for whole
phis; this pass looks at the lanes of vectors, behind inserts, and round loops. Only stores change:
other users of the phi keep it.

What breaks it. Transform feedback, and Invariant outputs that depend on the value: these stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import touched
from spvlink.link.border.link import Link
from spvlink.link.rounding import rounded
from spvlink.link.rounding.sensitive import is_insert

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.facts.scalars import Lane

_MOST: Final = 64  # lanes that one looks at
_LOOKED_THROUGH: Final = scalars.MOVES | {ops.OpPhi, ops.OpSelect, ops.OpCompositeInsert}


def propagate_partial_constants(link: Link, exact: bool) -> bool:
    """Store constants in place of what is one or undefined; whether there was any. ``exact``: what
    is interpolated could not come to the next stage as one."""
    link.gather()
    module = link.producer.module
    constant_of_store: dict[Inst, Inst] = {}  # stores -> constants
    keys: list[int] = []
    for key in sorted(link.stores):
        slot = link.inputs.slots.get(key)
        if slot is None or (exact and not link.carries_bits(slot)):
            continue
        if key in link.outputs.captured or link.frozen(key):
            continue
        constants = {s: c for s in link.stores[key] if (c := _constant_behind(module, s))}
        if constants:
            constant_of_store.update(constants)
            keys.append(key)
    return bool(constant_of_store) and _store(link, keys, constant_of_store)


def _constant_behind(module: Module, store: Inst) -> Inst | None:
    stored = store.args[0]
    if stored.op not in _LOOKED_THROUGH:
        return None
    constant = constant_of(module, (stored, 0))
    return constant if constant is not None and constant.type is stored.type else None


def _store(link: Link, keys: list[int], constants: dict[Inst, Inst]) -> bool:
    """Store constants where they may come exact: elsewhere the code is better as it is. The module
    is only said to have changed if it has."""
    before = {store: store.args[0] for store in constants}
    for store, constant in constants.items():
        store.args[0] = constant
    look = rounded.Rounded(link)
    changed = False
    for key in keys:
        if link.carries_bits(link.inputs.slots[key]) or look.free(key):
            changed = True
            continue
        for store in link.stores[key]:
            store.args[0] = before.get(store, store.args[0])
    if changed:
        touched(link.producer.module)
    return changed


def constant_of(module: Module, lane: Lane) -> Inst | None:
    """The constant that a lane is on each way that brings a defined value; None if they bring
    several, or something else, or nothing."""
    todo = [lane]
    seen = {lane}
    constant: Inst | None = None
    for inst, number in todo:  # grows
        if inst.op == ops.OpUndef:
            continue
        if types.IS_CONSTANT[inst.op]:
            bits = _part(module, inst, number)
            if bits is None or constant not in (None, bits):
                return None
            constant = bits
            continue
        behind = _behind(inst, number)
        if behind is None or len(todo) > _MOST:
            return None
        fresh = [at for at in behind if at not in seen]
        seen.update(fresh)
        todo += fresh
    return constant


def _part(module: Module, inst: Inst, number: int) -> Inst | None:
    """One lane of a constant."""
    if scalars.count(inst.type) == 1:
        return inst
    if inst.type is None or inst.type.op != ops.OpTypeVector:
        return None
    parts = types.parts_of(module, inst)
    return None if parts is None else parts[number]


def _behind(inst: Inst, number: int) -> list[Lane] | None:
    """The lanes that a lane is a copy of, on one way or another."""
    if inst.op == ops.OpPhi:
        return [(arg, number) for arg in inst.args[::2]]
    if inst.op == ops.OpSelect:
        return [(arg, number) for arg in inst.args[1:]]
    if is_insert(inst):
        return [(inst.args[0], 0) if number == inst.imm[0] else (inst.args[1], number)]
    moved = scalars.moved_lane(inst, number) if scalars.IS_MOVE[inst.op] else None
    return None if moved is None else [moved]
