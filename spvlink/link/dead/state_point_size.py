"""Drop the size of points where no points are drawn.

    gl_PointSize = 3.0;        ->    goes        only triangles or lines are rasterized

Why it is right. Fixed functions read PointSize for points alone, and for polygons that polygonMode
draws as points (Vulkan, "Points", "Polygon Mode").

What breaks it. Transform feedback: a captured size stays. So does a size that another stage reads.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.link.dead.last_builtins import drop_last


def state_point_size(module: Module) -> bool:
    """Drop the stores of the last stage before rasterization; whether there were any."""
    return drop_last(module, enums.BuiltIn_PointSize)
