"""Draw one pipeline with a state of its own: ``python -m tests.render.state_program CASE OUT
STAGE_FILE...``, for tests/layer/test_layer_state_draw.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from vulkan import VK_CULL_MODE_BACK_BIT, VK_FORMAT_R8G8B8A8_UINT, VK_FORMAT_R32G32_SFLOAT

from spvlink.draw.draw import draw_covering
from spvlink.draw.scene import Scene
from tests.support.state_draw import Settings, draw_state


def plain(scene: Scene) -> Settings:
    return Settings()


def write_mask(scene: Scene) -> Settings:
    return Settings(blend=[{"colorWriteMask": 5}])


def culled(scene: Scene) -> Settings:
    return Settings(raster={"cullMode": VK_CULL_MODE_BACK_BIT})


def short_format(scene: Scene) -> Settings:
    scene.attributes[1] = VK_FORMAT_R32G32_SFLOAT, scene.attributes[1][1][:, :8].copy()
    return Settings()


def small_format(scene: Scene) -> Settings:
    data = np.random.default_rng(35).integers(0, 256, (scene.vertices, 4), dtype=np.uint8)
    scene.attributes[1] = VK_FORMAT_R8G8B8A8_UINT, data
    return Settings()


CASES: dict[str, Callable[[Scene], Settings]] = {
    case.__name__: case for case in (plain, write_mask, culled, short_format, small_format)
}


def main() -> None:
    case, out, *paths = sys.argv[1:]
    codes = [Path(path).read_bytes() for path in paths]
    scene, _ = draw_covering(codes)
    result = draw_state(codes, scene, CASES[case](scene))
    assert result.is_good(0.02, 2), (result.coverage, result.distinct)
    np.savez(out, **result.images)


if __name__ == "__main__":
    main()
