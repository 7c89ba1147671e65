"""The rendering proof: draws any pipeline on a software Vulkan device, before and after linking.

    scene = make_scene(original)            # inputs, from the original modules alone
    difference = compare(draw(original, scene), draw(linked, scene))
    assert not difference, difference

Nothing here uses spvlink's own code, so that a defect of the linker cannot hide itself.

Rooms: `reflect` (SPIR-V -> what a stage takes and gives), `scene` (seeded inputs), `device` (one
Vulkan device per process), `rewrite` (what keeps the driver exact), `resources` and `draw` (one
draw, read back), `acceleration` (ray queries), `compare` (bitwise), `rounding` (ULPs and 8-bit
steps), `batch` (a process that may crash), `words` (compiling and breaking modules for the
harness's own tests). Stages are a list everywhere. Where the rest of the pipeline plugs in:

* tessellation and geometry: already in the lists; `_Maker.make` picks the topology. Missing are
  patch sizes other than 3 and the point size;
* mesh and task: `read_stages` refuses them; `_Maker._vertices` needs a group count instead of
  vertices and `_Draw._render` vkCmdDrawMeshTasksEXT (the device feature is already enabled);
* transform feedback: a buffer per XfbBuffer next to `_Draw.readback`, and vkCmdBegin/End-
  TransformFeedbackEXT around the draw in `_Draw._render` (the feature is enabled as well).
"""

from .compare import Difference, Result, compare, save_png
from .draw import draw, draw_covering, messages
from .reflect import CannotDraw
from .rounding import Rounding, rounding
from .scene import Scene, make_scene

__all__ = [
    "CannotDraw",
    "Difference",
    "Result",
    "Rounding",
    "Scene",
    "compare",
    "draw",
    "draw_covering",
    "make_scene",
    "messages",
    "rounding",
    "save_png",
]
