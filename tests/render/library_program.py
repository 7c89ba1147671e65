"""Pipeline libraries in the order of DXVK: made once each, joined fast, joined again with link-time
optimization, and the whole pipeline made later; all three draw.

    python -m tests.render.library_program OUT.npz VERT.spv,FRAG.spv [VERT.spv,FRAG.spv ...]

The pictures go to OUT.npz as `PAIR/WAY/NAME`. Libraries of one module are made once, however many
pairs have it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import vulkan as vk

from .compare import Result
from .device import Device, Pool, get_device
from .forms import FormDraw
from .scene import VARIANTS, make_scene, read_stages

WAYS = ("fast", "optimized", "whole")
_OPTIMIZE, _RETAIN, _LIBRARY = 0x400, 0x800000, 0x800  # VkPipelineCreateFlags


class LibraryDraw(FormDraw):
    """A draw in one of the ways. ``shared``: the libraries of all draws, by their code."""

    form = "libraries"
    way = "fast"
    shared: dict[tuple[str, bytes], Any]
    forever: Pool

    def make_pipeline(self, set_layouts: list[Any]) -> None:
        if self.way == "whole":
            self.pipeline = self.made(self.create_info(set_layouts))
            return
        super().make_pipeline(set_layouts)

    def _library(self, parts: list[str]) -> Any:
        (part,) = parts
        wanted = {"pre-rasterization": self.stages[0].code, "fragment": self.stages[-1].code}
        key = part, wanted.get(part, b"")
        if key not in self.shared:
            own, self.pool = self.pool, self.forever
            self.shared[key] = super()._library(parts)
            self.pool = own
        return self.shared[key]

    def _create(self, **fields: Any) -> Any:
        is_library = fields.get("flags") == _LIBRARY
        fields["flags"] = _LIBRARY | _RETAIN if is_library else 0
        if not is_library and self.way == "optimized":
            fields["flags"] = _OPTIMIZE
        return super()._create(**fields)


def draw_pairs(device: Device, pairs: list[list[bytes]]) -> dict[str, Result]:
    """The first scene variant that covers enough, in each of the ways."""
    results: dict[str, Result] = {}
    with Pool(device) as forever:
        shared: dict[tuple[str, bytes], Any] = {}
        for number, codes in enumerate(pairs):
            stages = read_stages(codes)
            for variant in range(VARIANTS):
                scene = make_scene(codes, variant=variant)
                scene.exact = False  # the modules as they are
                for way in WAYS:
                    with Pool(device) as pool:
                        drawing = LibraryDraw(device, pool, stages, scene)
                        drawing.way, drawing.shared, drawing.forever = way, shared, forever
                        results[f"{number}/{way}"] = drawing.run()
                if device.validate or results[f"{number}/fast"].is_good():
                    break
    return results


# tests/archive/libraries.foz is this program with the first three of the pairs of
# tests/layer/test_layer_libraries.py, as docs/reference/archives.md says for recorded.foz.


def main(words: list[str]) -> int:
    out, *named = words
    device = get_device(validate=bool(os.environ.get("RENDER_VALIDATE")))
    device.messages.clear()
    pairs = [[Path(path).read_bytes() for path in pair.split(",")] for pair in named]
    arrays: dict[str, Any] = {}
    for name, result in draw_pairs(device, pairs).items():
        arrays[f"{name}/good"] = np.array(result.is_good())
        for part, array in (*result.images.items(), *result.buffers.items()):
            arrays[f"{name}/{part}"] = array
    vk.vkDestroyCommandPool(device.device, device.commands, None)
    vk.vkDestroyDevice(device.device, None)  # what is left then is a message
    arrays["messages"] = np.array(sorted(device.messages))
    np.savez(out, **arrays)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
