"""Random pipelines of generate_half.py, linked with and without ``--half`` and drawn: how much
colours move, and how much they may."""

from __future__ import annotations

import numpy as np

import spvlink
from spvlink.draw.scene import Scene, make_scene
from tests.support import half_device
from tests.support.generate_half import HalfSource
from tests.support.glslang import compile_files

STATE = {"version": 1, "storageInputOutput16": True}
BOUNDS = (1.0 / 510.0, 1.0 / 510.0, 0.01, 0.05)
HARD = np.array(
    [
        0.0, -0.0, 1.0, -1.0, 1 - 2.0**-12 - 2.0**-23, 1 - 2.0**-11, 0.5 - 2.0**-14, 3 - 2.0**-11,
        2.0**-14, 2.0**-15, -(2.0**-14.5), 1e-30, 1e30, -1e30, 65504.0, 65520.0, np.pi, 1 / 3,
        7.7, -7.7, 1e-5, 0.49999, 0.99999, 1e-3, 0.24999, np.inf, np.nan,
    ],
    np.float32,
)  # fmt: skip


def with_attributes(scene: Scene, seed: int, hard: bool) -> Scene:
    """The scene with other numbers in all attributes but the position."""
    r = np.random.default_rng(seed)
    for location, (format, data) in list(scene.attributes.items()):
        if location:
            size = len(data), data.shape[1] // 4
            numbers = r.choice(HARD, size=size) if hard else r.uniform(-1.3, 1.3, size)
            words = np.ascontiguousarray(numbers.astype(np.float32)).view(np.uint8)
            scene.attributes[location] = format, words.reshape(len(data), -1)
    return scene


def half_of(linked: spvlink.Linked) -> list[str]:
    """What has 16 bits."""
    assert linked.defect is None, linked.defect
    return [remark.name for remark in linked.remarks if remark.error_bound is not None]


def moved_most(seed: int) -> tuple[float, float]:
    """By how much a colour of a random pipeline moves, and how much it may; -1: nothing of it has
    16 bits."""
    texts = HalfSource(seed).texts()
    files = {f"s.{stage}": text for stage, text in texts}
    modules = compile_files(["-V", "--target-env", "vulkan1.1"], files)
    state = STATE if seed % 3 else None
    plain = spvlink.link(modules, clean=True, validate=False)
    bound = BOUNDS[seed % len(BOUNDS)]
    linked = spvlink.link(modules, clean=True, half=bound, state=state)
    if not half_of(linked):
        return -1.0, 0.0
    told = linked.interfaces[0].error_bound
    assert told is not None and told <= bound
    most = 0.0
    for hard in (True, False):
        scene = with_attributes(make_scene(modules, seed), seed, hard)
        pair = [[stage.data for stage in one.stages] for one in (plain, linked)]
        most = max(most, half_device.moved(*pair, scene)[0])
    return most, told
