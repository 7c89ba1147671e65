"""The rendering proof: draws any pipeline on a Vulkan device, before and after linking.

    scene = make_scene(original)            # inputs, from the original modules alone
    difference = compare(draw(original, scene), draw(linked, scene))
    assert not difference, difference

Nothing here uses spvlink's own code, so that a defect of the linker cannot hide itself.

`python -m spvlink.draw` does it for files. Needs the extra `draw` (vulkan, numpy, pillow).

Modules: `reflect` (SPIR-V -> what a stage takes and gives), `chain` (what all stages together ask
for: primitives, patches, layers, captures), `scene` (seeded inputs), `device` (one Vulkan device
per process), `rewrite` and `widen` (what keeps the driver exact, and what stands in
for what it lacks), `resources`, `feedback` and `draw` (one draw,
read back), `acceleration` (ray queries), `compare` (bitwise), `rounding` (ULPs
and 8-bit steps), `border` (do the stages fit together?), `batch` (a process that may crash),
`words` (modules as lists of words). Stages are a list everywhere,
in any order: every chain that Vulkan has, with or without a fragment shader.
"""

from spvlink.draw.border import mismatches
from spvlink.draw.compare import Difference, Result, compare, save_png
from spvlink.draw.draw import draw, draw_covering, messages
from spvlink.draw.reflect import CannotDraw
from spvlink.draw.rounding import Rounding, rounding
from spvlink.draw.scene import Scene, make_scene

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
    "mismatches",
    "rounding",
    "save_png",
]
