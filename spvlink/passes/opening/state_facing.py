"""Which side fragments see, where the other one is culled.

    cull back faces      gl_FrontFacing    ->    true
    cull front faces     gl_FrontFacing    ->    false, if only triangles are drawn

Culling happens before polygons become lines or points, and what these see is that of their polygon.
Points and lines are never culled and count as front-facing (Vulkan, "Basic Polygon Rasterization",
"Built-In Variables"), so front faces that are culled say nothing where there may be any.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.passes.opening.given_builtins import set_given_builtins


def state_facing(module: Module, front: bool) -> None:
    """Read gl_FrontFacing as known."""
    set_given_builtins(module, {enums.BuiltIn_FrontFacing: int(front)})
