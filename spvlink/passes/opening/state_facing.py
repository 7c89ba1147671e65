"""Replace gl_FrontFacing by a constant where one side is culled.

    cull back faces      gl_FrontFacing    ->    true
    cull front faces     gl_FrontFacing    ->    false, if only triangles are drawn

Why it is right. Culling happens before polygons become lines or points, and these have the facing
of their polygon (Vulkan, "Basic Polygon Rasterization").

What breaks it. Points and lines are never culled and count as front-facing ("Built-In Variables"):
nothing is known where front faces are culled and there may be points or lines.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.passes.opening.given_builtins import set_given_builtins


def state_facing(module: Module, front: bool) -> None:
    """Read gl_FrontFacing as known."""
    set_given_builtins(module, {enums.BuiltIn_FrontFacing: int(front)})
