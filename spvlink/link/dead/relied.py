"""What a stage that stays as it is needs of its inputs although nobody needs what it makes of them.

Code without a use still runs there: an address that it reads at must be one, a loop must end. So
what such code relies on (``facts/reliance``) is written as before.
"""

from __future__ import annotations

from spvlink.facts.reliance import relies
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, Module
from spvlink.link.border.link import Link
from spvlink.link.dead.builtins import BuiltInUses

_INPUT = enums.StorageClass_Input


def note(link: Link, module: Module) -> None:
    """Note at a link what its consumer relies on; ``module``: it as it came."""
    entry = module.entry
    assert entry is not None
    listed = {v.id: v for v in entry.inst.args[1:]}
    known: dict[tuple[int, int], bool] = {}

    def is_relied_on(id: int, lane: int) -> bool:
        variable = listed.get(id)
        if variable is None:
            return True
        assert variable.type is not None
        type = variable.type.args[0]
        one = lane >= 0 and (type.op == ops.OpTypeVector or types.is_scalar(type))
        lanes = 1 << lane if one else ALL
        if (id, lanes) not in known:
            known[id, lanes] = relies(module, {variable: lanes})
        return known[id, lanes]

    for key, slot in link.inputs.slots.items():
        if key in link.loads or is_relied_on(slot.variable.id, slot.lane):
            link.relied.add(key)
    for pinned in link.inputs.pinned:
        if is_relied_on(pinned.variable.id, -1):
            link.relied.update(pinned.keys)
    link.relied_builtins |= BuiltInUses(module, _INPUT).read
