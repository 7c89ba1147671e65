"""python -m tests.archive.record VK_LAYER_FOLDER OUT.foz

Records tests/archive/recorded.foz: pipelines of shaders/, drawn by spvlink/draw on lavapipe with
Fossilize's layer in between. VK_LAYER_FOLDER holds VkLayer_fossilize.json and its library, as a
build of ValveSoftware/Fossilize leaves them in build/layer. docs/reference/archives.md says how
to build it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import vulkan as vk

from spvlink.draw import make_scene
from spvlink.draw.device import ObjectPool, get_device, new
from spvlink.draw.draw import Draw
from spvlink.draw.scene import read_stages
from tests.render import forms
from tests.support import chains

ROOT = Path(__file__).resolve().parent.parent.parent
# Of every kind of chain one or two, small ones, some with push constants. Each twice: with other
# samples they differ in state only.
NAMES = (
    "bloom_upsample", "clip_portal", "fog_march", "gbuffer", "grass_mesh", "overdraw", "two_views",
    "water_tess",
)  # fmt: skip
SAMPLES = (1, 4)
# (execution model, SpecId) -> word; car_paint's and decal's constants, not all of them
SPECIAL = {
    "car_paint": {(0, 1): 3, (0, 2): 0, (4, 0): 1, (4, 1): 0x3F000000},
    "decal": {(0, 1): 1, (4, 1): 1, (4, 5): 2},
}
OTHER_FORMS = ("inline", "library", "libraries")  # of one pair
PAIR = "depth_alpha"
_DISABLE, _ALLOW, _DERIVATIVE = 0x1, 0x2, 0x4  # VkPipelineCreateFlags
_DYNAMIC_DISCARD = 1000377001
_VIEWS = 0b11


class Variants(Draw):
    """The pipeline, and others of the same modules that no scene asks for. Only the first draws."""

    def create_info(self, set_layouts: list[Any]) -> dict[str, Any]:
        fields = super().create_info(set_layouts)
        nothing = new.VkPipelineRasterizationStateCreateInfo(
            rasterizerDiscardEnable=1, cullMode=0, lineWidth=1.0
        )
        dynamic = new.VkPipelineDynamicStateCreateInfo(pDynamicStates=[_DYNAMIC_DISCARD])
        colours = [a[4] for a in self.attachments if a[1] != "depth"]
        depth = next(a[4] for a in self.attachments if a[1] == "depth")
        views = new.VkPipelineRenderingCreateInfo(
            viewMask=_VIEWS, pColorAttachmentFormats=colours, depthAttachmentFormat=depth
        )
        parent = self.made(fields | {"flags": _ALLOW})
        for change in (
            {"flags": _DISABLE},
            {"flags": _DERIVATIVE, "basePipelineHandle": parent, "basePipelineIndex": -1},
            {"pRasterizationState": nothing},
            {"pRasterizationState": nothing, "pDynamicState": dynamic},
            {"renderPass": None, "pNext": views},
            {"renderPass": self._multiview(colours, depth)},
        ):
            self.made(fields | change)
        return fields

    def _multiview(self, colours: list[int], depth: int) -> Any:
        general = vk.VK_IMAGE_LAYOUT_GENERAL
        descriptions = [
            new.VkAttachmentDescription(format=format, samples=1, finalLayout=general)
            for format in (*colours, depth)
        ]
        references = [
            new.VkAttachmentReference(attachment=number, layout=general)
            for number in range(len(descriptions))
        ]
        subpass = new.VkSubpassDescription(
            pColorAttachments=references[:-1], pDepthStencilAttachment=references[-1]
        )
        info = new.VkRenderPassCreateInfo(
            pNext=new.VkRenderPassMultiviewCreateInfo(
                pViewMasks=[_VIEWS], pCorrelationMasks=[_VIEWS]
            ),
            pAttachments=descriptions,
            pSubpasses=[subpass],
        )
        return self.pool.make(vk.vkCreateRenderPass, vk.vkDestroyRenderPass, info)


class Form(forms.FormDraw, Variants):
    """The same in one of the other forms, without the variants."""


def draw(kind: type[Draw], name: str, samples: int = 1, form: str = "") -> None:
    """Draws; the layer sees it."""
    codes = list(chains.build(name))
    scene = make_scene(codes, samples=samples)
    scene.exact = False  # the modules as they are
    scene.spec |= SPECIAL.get(name, {})
    with ObjectPool(get_device()) as pool:
        drawing = kind(get_device(), pool, read_stages(codes), scene)
        if form:
            drawing.form = form  # type: ignore[attr-defined]
        print(f"{name} {form}: {drawing.run().coverage:.0%} covered")


def draw_all() -> None:
    for name in (*NAMES, *SPECIAL):
        for samples in SAMPLES:
            draw(Draw, name, samples)
    draw(Variants, PAIR)
    for form in OTHER_FORMS:
        draw(Form, PAIR, form=form)


def record(layer: Path, target: Path, module: str = "tests.archive.record") -> None:
    """What ``python -m MODULE --draw`` draws."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            "VK_LAYER_PATH": str(layer),
            "VK_INSTANCE_LAYERS": "VK_LAYER_fossilize",
            "FOSSILIZE": "1",
            "FOSSILIZE_DUMP_PATH": f"{folder}/dump",
            "FOSSILIZE_DUMP_SYNC": "1",
        }
        command = [sys.executable, "-m", module, "--draw"]
        subprocess.run(command, check=True, cwd=ROOT, env=os.environ | variables)
        made = sorted(Path(folder).glob("*.foz"))
        assert len(made) == 1, made
        target.write_bytes(made[0].read_bytes())


if __name__ == "__main__":
    if sys.argv[1:] == ["--draw"]:
        draw_all()
    else:
        record(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
