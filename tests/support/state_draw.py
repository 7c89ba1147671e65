"""Links pipelines with what is known of their state, and draws scenes with another state than the
harness's own: attachments, blending, culling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import spvlink
from tests.render.compare import Result, compare
from tests.render.device import Pool, get_device, new
from tests.render.draw import Draw, draw_covering
from tests.render.reflect import Stage
from tests.render.scene import Code, Scene, read_stages
from tests.support.samples import compile_glsl

Document = dict[str, object]


@dataclass
class Settings:
    """Fields of Vulkan's structures that differ from what the harness has. ``blend``: for each
    attachment; ``targets``: the Locations that have one (None: all)."""

    blend: list[dict[str, int]] = field(default_factory=list)
    raster: dict[str, Any] = field(default_factory=dict)
    multisample: dict[str, Any] = field(default_factory=dict)
    targets: list[int] | None = None


class StateDraw(Draw):
    def __init__(
        self, device: Any, pool: Pool, stages: list[Stage], scene: Scene, settings: Settings
    ) -> None:
        super().__init__(device, pool, stages, scene)
        self.settings = settings

    def _fixed_state(self) -> dict[str, Any]:
        made = super()._fixed_state()
        raster = {"depthClampEnable": 1, "cullMode": 0, "lineWidth": 1.0, **self.settings.raster}
        made["pRasterizationState"] = new.VkPipelineRasterizationStateCreateInfo(**raster)
        samples = {"rasterizationSamples": self.scene.samples, **self.settings.multisample}
        made["pMultisampleState"] = new.VkPipelineMultisampleStateCreateInfo(**samples)
        blends = self.settings.blend + [{}] * (self.color_count - len(self.settings.blend))
        made["pColorBlendState"] = new.VkPipelineColorBlendStateCreateInfo(
            pAttachments=[
                new.VkPipelineColorBlendAttachmentState(**{"colorWriteMask": 15, **blend})
                for blend in blends[: self.color_count]
            ]
        )
        return made


def draw_state(codes: Sequence[Code], scene: Scene, settings: Settings) -> Result:
    """Draw the scene with this state. The scene loses targets that have no attachment."""
    if settings.targets is not None:
        scene.targets = [t for t in scene.targets if t.location in settings.targets]
    device = get_device()
    with Pool(device) as pool:
        return StateDraw(device, pool, read_stages(codes), scene, settings).run()


def compiled(*stages: tuple[str, str]) -> list[bytes]:
    return [compile_glsl(source, stage) for stage, source in stages]


def state(**facts: object) -> Document:
    return {"version": 1, **facts}


def linked_with(codes: list[bytes], given: Document | None, **options: object) -> spvlink.Linked:
    linked = spvlink.link(codes, state=given, **options)  # type: ignore[arg-type]
    assert linked.defect is None and linked.validated == "validated"
    return linked


def unchanged(codes: list[bytes], given: Document) -> bool:
    """Whether links with this state are as without."""
    for exact in (False, True):
        told, plain = [linked_with(codes, facts, exact=exact) for facts in (given, None)]
        if [stage.data for stage in told.stages] != [stage.data for stage in plain.stages]:
            return False
    return True


def crossing(linked: spvlink.Linked) -> int:
    """Components between the stages."""
    return linked.interfaces[0].components[1]


def same(
    codes: list[bytes],
    linked: spvlink.Linked,
    settings: Settings,
    samples: int = 1,
    change: Callable[[Scene], None] | None = None,
) -> None:
    """The picture with this state is the same before and after, and shows something. ``change``:
    what the scene has for it."""
    scene, _ = draw_covering(codes, samples=samples)
    if change is not None:
        change(scene)
    before = draw_state(codes, scene, settings)
    after = draw_state([s.data for s in linked.stages], scene, settings)
    assert before.is_good(), (before.coverage, before.distinct)
    difference = compare(before, after)
    assert not difference, str(difference)
