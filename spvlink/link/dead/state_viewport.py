"""Drop the index of the viewport where there is only one.

    gl_ViewportIndex = i;      ->    goes

The variable leaves the interface: a declared one that is not written would be undefined.

Why it is right. Without the variable viewport 0 is used; with one viewport any other index has no
defined result (Vulkan, "Controlling the Viewport").

What breaks it. A fragment shader that reads it: the index stays.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from spvlink.passes.lowering import captures
from spvlink.passes.lowering.state_attachments import Accesses, make_private


def state_viewport(module: Module, readers: list[Module]) -> bool:
    """Make an own variable of the index in the last stage before rasterization; whether there was
    one. ``readers``: the stages that may read it."""
    if any(_reads(reader) for reader in readers) or captures.active(module):
        return False
    assert module.entry is not None
    tables = Decorations.of(module)
    for variable in module.entry.inst.args[1:]:
        builtin = tables.find(variable, enums.Decoration_BuiltIn)
        if builtin != (enums.BuiltIn_ViewportIndex,):
            continue
        if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Output:
            accesses = Accesses(module, variable)
            if accesses.known:
                make_private(module, variable, accesses)
                return True
    return False


def _reads(module: Module) -> bool:
    wanted = enums.Decoration_BuiltIn, enums.BuiltIn_ViewportIndex
    return any(
        (note.op == ops.OpDecorate and note.imm == wanted)
        or (note.op == ops.OpMemberDecorate and note.imm[1:] == wanted)
        for note in module.annotations
    )
