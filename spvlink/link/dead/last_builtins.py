"""Remove built-in stores that fixed functions ignore, in the last stage before rasterization."""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.ir.edit import drop
from spvlink.link.dead.dead_builtins import BuiltInUses, struct_of
from spvlink.passes.lowering import captures


def drop_last(module: Module, builtin: int) -> bool:
    """Drop all stores of a built-in; not if it is read, or captured by transform feedback. Whether
    there were any."""
    uses = BuiltInUses(module, enums.StorageClass_Output)
    stores = uses.stores.get(builtin)
    if not stores or builtin in uses.read:
        return False
    if captures.active(module) and _captured(uses, builtin):
        return False
    drop(module, set(stores))
    return True


def _captured(uses: BuiltInUses, builtin: int) -> bool:
    offset = enums.Decoration_Offset
    for variable, used_members in uses.variables.items():
        struct = struct_of(variable)
        for at, one in enumerate(used_members):
            if one != builtin:
                continue
            if uses.tables.find(variable, offset) is not None:
                return True
            if struct is not None and uses.tables.find_member(struct, at, offset) is not None:
                return True
    return False
