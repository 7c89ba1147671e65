"""What the state of a pipeline says, for both verifiers.

docs/reference/state.md has the rules. The passes that use state have them once more, in code of
their own, so a mistake there is found here.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.state import (
    CULL_BACK,
    CULL_FRONT,
    FILLED,
    LINES,
    POINTS,
    TRIANGLES,
    state_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Collection, Sequence
    from typing import Final

    from spvlink.options import Options

    Modes = tuple[str, Collection[int]]  # a stage and its execution modes

_OUTLINES: Final = 1  # of polygonMode
_TESSELLATION: Final = ("tesc", "tese")
_MADE: Final = {
    enums.ExecutionMode_OutputPoints: POINTS, enums.ExecutionMode_OutputLineStrip: LINES,
    enums.ExecutionMode_OutputLinesEXT: LINES, enums.ExecutionMode_OutputTriangleStrip: TRIANGLES,
    enums.ExecutionMode_OutputTrianglesEXT: TRIANGLES,
}  # fmt: skip


class KnownState:
    """Facts about a pipeline that its modules do not have. ``view_mask`` and ``patch_points`` are
    None where they are unknown."""

    def __init__(self, options: Options) -> None:
        state = self.state = state_of(options.state)
        self.discards = state.discards is True
        self.one_sample = state.one_sample
        self.view_mask = state.view_mask if options.view_mask is None else options.view_mask
        points = options.patch_points
        self.patch_points = state.patch_points if points is None else points
        self.bits = {location: bits for location, _, bits in state.attributes}
        self.components = {location: mask for location, mask, _ in state.attributes}

    def rasterized(self, stages: Sequence[Modes]) -> str:
        """What the stages before the fragment shader, in order, hand to the rasterizer: POINTS,
        LINES, TRIANGLES, or nothing if it is unknown (Vulkan, "Primitive Topologies")."""
        if not stages:
            return ""
        name, modes = stages[-1]
        if name == "vert":
            return self.state.topology
        if name in _TESSELLATION:
            modes = {mode for at, found in stages if at in _TESSELLATION for mode in found}
            if enums.ExecutionMode_PointMode in modes:
                return POINTS
            return LINES if enums.ExecutionMode_Isolines in modes else TRIANGLES
        made = {_MADE[mode] for mode in modes if mode in _MADE}
        return made.pop() if len(made) == 1 else ""

    def facing(self, shape: str) -> bool | None:
        """gl_FrontFacing of what is not culled; None: either. ``shape``: what is rasterized."""
        culls_one = self.state.culled in (CULL_FRONT, CULL_BACK)
        if shape != TRIANGLES or self.state.polygons != FILLED or not culls_one:
            return None
        return self.state.culled == CULL_BACK

    def view(self) -> int | None:
        """gl_ViewIndex: 0 without views, else the number of the only one; None: there are more."""
        mask = self.view_mask
        if mask is None or mask & (mask - 1):
            return None
        return max(mask.bit_length() - 1, 0)

    def missing(self, location: int, component: int) -> int | None:
        """What a vertex shader reads of a component that the attribute's format lacks, as a number:
        0, 0, 0 and 1. None: the format has it, or is unknown."""
        mask = self.components.get(location)
        if mask is None or mask >> component & 1:
            return None
        return int(component == 3)

    def mask_of(self, location: int, component: int) -> int:
        """The bits that a component of an attribute may have; 0: it may have all. The alpha of
        robust reads is the greatest integer."""
        bits = self.bits.get(location, 0)
        return (1 << bits) - 1 if bits and component < 3 else 0

    def takes(self, location: int, component: int, index: int) -> bool:
        """Whether an attachment, or something else, takes a component of a colour output."""
        if self.discards:
            return False
        return self.state.outputs is None or bool(
            self.state.taken(location, index) >> component & 1
        )

    def uses(self, builtin: int, shape: str) -> bool:
        """Whether the rasterizer looks at a built-in output of the stage before it."""
        if builtin == enums.BuiltIn_PointSize:
            filled = self.state.polygons in (FILLED, _OUTLINES)
            return shape not in (LINES, TRIANGLES) or not filled
        if builtin == enums.BuiltIn_PrimitiveId:
            return False  # the fragment shader alone reads it
        return builtin != enums.BuiltIn_ViewportIndex or self.state.viewports != 1
