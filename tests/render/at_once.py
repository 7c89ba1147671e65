"""Makes pipelines in one call: `python -m tests.render.at_once COUNT VERT.spv FRAG.spv`.

They differ in a specialization constant that the modules do not have.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import vulkan as vk

from spvlink.draw.device import ObjectPool, get_device, new
from spvlink.draw.scene import make_scene, read_stages
from tests.render.many import Many


class AtOnce(Many):
    count = 0

    def make_pipeline(self, set_layouts: list[Any]) -> None:
        infos = []
        for number in range(self.count):
            self.scene.spec = {(0, 99): number + 1}
            infos.append(new.VkGraphicsPipelineCreateInfo(**self.create_info(set_layouts)))
        made = vk.vkCreateGraphicsPipelines(self.device.device, None, len(infos), infos, None)
        for pipeline in made:
            self.pool.on_exit(vk.vkDestroyPipeline, pipeline)


def main(words: list[str]) -> int:
    codes = [Path(path).read_bytes() for path in words[1:]]
    with ObjectPool(get_device()) as pool:
        draw = AtOnce(get_device(), pool, read_stages(codes), make_scene(codes))
        draw.count = int(words[0])
        draw.make_pointees()
        draw.prepare()
        draw.once()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
