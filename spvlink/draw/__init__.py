"""The rendering proof: draws any pipeline on a Vulkan device, before and after linking.

    scene = make_scene(original)            # inputs, from the original modules alone
    difference = compare(draw(original, scene), draw(linked, scene))
    assert not difference, difference

Nothing here uses spvlink's own code, so that a defect of the linker cannot hide itself.

`python -m spvlink.draw` does it for files. Needs the extra `draw` (vulkan, numpy, pillow).

    reflect       find the inputs and outputs of a stage
    chain         find what all stages together ask of a draw: primitives, layers, captures
    border        check whether neighbouring stages fit together
    formats       map declarations to VkFormat numbers, and make texels
    scene         make the inputs of a draw from a seed
    device        hold one Vulkan device per process
    words         edit a module as a list of words
    rewrite       change every module so that the driver stays exact
    widen         use 32 bits for 16-bit interfaces where the device lacks them
    resources     make buffers, images, samplers and descriptors
    acceleration  make acceleration structures for ray queries
    feedback      capture transform feedback
    draw          draw once and read everything back
    compare       compare two draws bit by bit
    rounding      measure the distance of two pictures in ULPs and 8-bit steps
    batch         draw in a child process, which may crash
    __main__      read the command line

Stages are a list everywhere, in any order: every chain that Vulkan has, with or without a fragment
shader.
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
