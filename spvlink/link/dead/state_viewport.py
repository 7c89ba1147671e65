"""The index of the viewport where there is one.

    gl_ViewportIndex = i;      ->    goes

Without it viewport 0 is used; with one viewport any other index has no defined result (Vulkan,
"Controlling the Viewport"). It stays where the fragment shader reads it.
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from spvlink.link.dead.last_builtins import drop_last


def state_viewport(module: Module, fragment: Module | None) -> bool:
    """Drop the stores of the last stage before rasterization; whether there were any."""
    if fragment is not None and _reads(fragment):
        return False
    return drop_last(module, enums.BuiltIn_ViewportIndex)


def _reads(module: Module) -> bool:
    wanted = enums.Decoration_BuiltIn, enums.BuiltIn_ViewportIndex
    return any(
        (note.op == ops.OpDecorate and note.imm == wanted)
        or (note.op == ops.OpMemberDecorate and note.imm[1:] == wanted)
        for note in module.annotations
    )
