"""Compute constant and uniform built-ins in the stage that reads them.

    GS: gl_Layer = pc.layer             FS: f(gl_Layer)    ->    f(pc.layer)

Why it is right. The slots of ``builtins`` hold the values that the next stage reads, so the rules
of ``propagate_values`` hold for them.

What breaks it. The same as for varyings. Fixed functions get every store as before.

Cost. The same estimate as for varyings.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, STORE_OUTPUT, Inst
from spvlink.ir.slot import BUILTIN_KEYS, builtin_of
from spvlink.link.border.values import single_value
from spvlink.link.builtins.builtins import BuiltIns
from spvlink.link.builtins.known import counted_clip_distances
from spvlink.link.resources.transfer import Transfer
from spvlink.link.values import propagate_values


def propagate_builtins(built: BuiltIns, transfer: Transfer, exact: bool, limit: int) -> bool:
    """Propagate what may be; whether code of the consumer that is not about built-ins changed."""
    built.gather()
    for key in built.loads:
        stored = single_value(built, key)
        bits = types.bits_of(stored) if stored is not None else None
        if bits is not None and built.always_stored(key):
            built.constants[key] = bits
    vectors = {
        k
        for k in built.constants.keys() & built.loads.keys()
        if built.into[builtin_of(k)[0]].type.op == ops.OpTypeVector
    }
    handed, used = _uses(built, vectors) if vectors else (vectors, vectors)
    built.read_as_is = (vectors - handed - used) | counted_clip_distances(built)
    before = built.loads.keys()
    propagate_values.propagate_values(built, transfer, exact, limit)
    built.gather()
    quiet = (before - built.loads.keys()) & (vectors - used)
    for key in quiet:  # as nothing became of it here
        del built.remarks.fate[key]
    return before - built.loads.keys() != quiet


def _uses(built: BuiltIns, keys: set[int]) -> tuple[set[int], set[int]]:
    """Which of these constants go on as parts of built-ins, and which ones code uses in another way
    than in a vector with values that are none. A vector that is used whole is loaded whole in the
    end (``closing``), and its constants do no good."""
    loads = {load: key for key in keys for load in built.loads[key]}
    entry = built.consumer.module.entry
    assert entry is not None
    handed: set[int] = set()
    used: set[int] = set()
    for block in entry.function.blocks:
        for inst in block.insts:
            if loads.keys().isdisjoint(inst.args):
                continue
            if inst.op == STORE_OUTPUT and inst.imm[0] >= BUILTIN_KEYS:
                handed.add(loads.get(inst.args[0], -1))
            elif not _is_mixed(inst, loads):
                used.update([loads[a] for a in inst.args if a in loads])
    return handed, used


def _is_mixed(inst: Inst, constants: dict[Inst, int]) -> bool:
    """Whether an instruction puts all components of a built-in together, some of which differ."""
    if inst.op != ops.OpCompositeConstruct:
        return False
    return all(a.op == LOAD_INPUT and a.imm[0] >= BUILTIN_KEYS for a in inst.args) and any(
        a not in constants for a in inst.args
    )
