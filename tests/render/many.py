"""Makes and destroys a pipeline many times: `python -m tests.render.many COUNT VERT.spv FRAG.spv`.

Prints the kilobytes of memory that the process holds after a tenth of them and after all. The
tests of the Vulkan layer look for leaks with it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import vulkan as vk

from spvlink.draw.device import ObjectPool, get_device
from spvlink.draw.draw import Draw
from spvlink.draw.scene import make_scene, read_stages


class Many(Draw):
    """Everything that a draw needs, once, and its pipeline as often as it is asked for."""

    def prepare(self) -> None:
        self.layouts = self.make_descriptors()
        self.make_attachments()
        self.make_render_pass()

    def once(self) -> None:
        outer = self.pool
        with ObjectPool(self.device) as self.pool:
            self.codes: list[Any] = []
            self.make_pipeline(self.layouts)
        self.pool = outer


def resident() -> int:
    """Kilobytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def main(words: list[str]) -> int:
    count = int(words[0])
    codes = [Path(path).read_bytes() for path in words[1:]]
    device = get_device()
    with ObjectPool(device) as pool:
        many = Many(device, pool, read_stages(codes), make_scene(codes))
        many.make_pointees()
        many.prepare()
        for number in range(count):
            many.once()
            if number + 1 == count // 10:
                print(resident(), end=" ")
        print(resident())
    vk.vkDestroyDevice(device.device, None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
