"""Find the inputs on which a fixed stage relies although nobody needs their results.

Code without a use still runs in a stage that stays as it is: an address that it reads must be
valid, a loop must end. So inputs of such code (``facts/reliance``) are written as before.
"""

from __future__ import annotations

from spvlink.facts.reliance import relies
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, Inst, Module
from spvlink.link.border.link import Link
from spvlink.link.dead.dead_builtins import BuiltInUses

_INPUT = enums.StorageClass_Input


def note(link: Link, module: Module) -> None:
    """Note at a link what its consumer relies on, beside what it reads; ``module``: it as it
    came."""
    entry = module.entry
    assert entry is not None
    listed = {v.id: v for v in entry.inst.args[1:]}
    variables: dict[int, list[int]] = {}
    for key, slot in sorted(link.inputs.slots.items()):
        variables.setdefault(slot.variable.id, []).append(key)
    for id, keys in variables.items():
        length = link.inputs.slots[keys[0]].length
        vertices = types.index_of(length) if length is not None else 1
        for at, key in enumerate(keys):
            if key in link.loads:
                continue
            if _relies(module, listed.get(id), at, len(keys), vertices or 0):
                link.relied.add(key)
    for pinned in link.inputs.pinned:
        if _relies(module, listed.get(pinned.variable.id), 0, 0, 0):
            link.relied.update(pinned.keys)
    link.relied_builtins |= BuiltInUses(module, _INPUT).read


def _relies(module: Module, variable: Inst | None, at: int, count: int, vertices: int) -> bool:
    """Whether code relies on one of ``count`` components of a variable, at each vertex."""
    if variable is None:
        return True
    assert variable.type is not None
    type = variable.type.args[0]
    size = types.lanes_of(type)
    inner = type
    while inner.op == ops.OpTypeArray:
        inner = inner.args[0]
    if not size or size != count * vertices or inner.op == ops.OpTypeStruct:
        return relies(module, {variable: ALL})
    return relies(module, {variable: sum([1 << n for n in range(at, size, count)])})
