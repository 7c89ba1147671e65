"""Makes pipelines and ends in some way: `python -m tests.render.ends HOW COUNT VERT.spv FRAG.spv`.

HOW is "return", "exit" (`_exit`, which runs nothing of what a process does at its end), "fork" (a
child makes COUNT more; both end by `_exit`) or the name of a signal, which it sends itself. The
device is never destroyed.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

import vulkan as vk

from spvlink.draw import device
from spvlink.draw.device import ObjectPool, get_device
from spvlink.draw.scene import make_scene, read_stages
from tests.render.many import Many


def make(count: int, codes: list[bytes]) -> None:
    with ObjectPool(get_device()) as pool:
        many = Many(get_device(), pool, read_stages(codes), make_scene(codes))
        many.make_pointees()
        many.prepare()
        for _ in range(count):
            many.once()


def main(words: list[str]) -> int:
    how, count = words[0], int(words[1])
    codes = [Path(path).read_bytes() for path in words[2:]]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    make(count, codes)
    if how == "fork":
        child = os.fork()
        if child == 0:
            device._devices.clear()
            make(count, codes)
        else:
            os.waitpid(child, 0)
        os._exit(0)
    if how == "exit":
        os._exit(0)
    if how != "return":
        os.kill(os.getpid(), signal.Signals[how])
    vk.vkDestroyDevice(get_device().device, None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
