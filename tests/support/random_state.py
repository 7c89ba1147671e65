"""Random states of a pipeline: what the linker is told of one, and what is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

from spvlink.draw.scene import Scene
from tests.support.state_draw import Settings

Document = dict[str, object]
RED_ONLY = {f + 3 * n: f for f in (98, 99, 100) for n in range(4)}  # format -> of red alone
FACTORS = (
    "ZERO", "ONE", "SRC_COLOR", "ONE_MINUS_SRC_COLOR", "DST_COLOR", "ONE_MINUS_DST_COLOR",
    "SRC_ALPHA", "ONE_MINUS_SRC_ALPHA", "DST_ALPHA", "ONE_MINUS_DST_ALPHA",
)  # fmt: skip
SECOND = ("SRC1_COLOR", "ONE_MINUS_SRC1_COLOR", "SRC1_ALPHA", "ONE_MINUS_SRC1_ALPHA")
OPERATIONS = ("ADD", "SUBTRACT", "REVERSE_SUBTRACT", "MIN", "MAX")
NUMBERS = {name: at for at, name in enumerate(FACTORS)}
NUMBERS |= {name: at for at, name in enumerate(SECOND, 15)}
NUMBERS |= {"SRC_ALPHA_SATURATE": 14}
FORMATS = {1: "R32_SFLOAT", 3: "R32G32_SFLOAT", 7: "R32G32B32_SFLOAT", 15: "R32G32B32A32_SFLOAT"}
# Unsigned integers of fewer bits: the format's number, its components, the type of one.
SMALL = {
    "R8_UINT": (13, 1, np.uint8), "R8G8_UINT": (20, 2, np.uint8), "R16_UINT": (74, 1, np.uint16),
    "R8G8B8A8_UINT": (41, 4, np.uint8), "R16G16_UINT": (81, 2, np.uint16),
    "R16G16B16A16_UINT": (95, 4, np.uint16),
}  # fmt: skip
CULLED = ("NONE", "FRONT", "BACK", "FRONT_AND_BACK")
ONE = ("sampleLocationsEnable", "conservativeRasterization", "fragmentShadingRate")


@dataclass
class State:
    """``document``: what the linker is told, which may be less than all; ``settings``: what is
    drawn; ``attributes``: Location -> components that the buffer has; ``small``: Location -> its
    format in ``SMALL``."""

    document: Document = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    samples: int = 1
    topology: int | None = None
    attributes: dict[int, int] = field(default_factory=dict)
    small: dict[int, str] = field(default_factory=dict)

    def apply(self, scene: Scene) -> None:
        """Make a scene of this state."""
        if self.topology is not None:
            scene.topology = self.topology
        for location, count in self.attributes.items():
            if location in scene.attributes:
                format, data = scene.attributes[location]
                shorter = RED_ONLY[format] + 3 * (count - 1)
                if shorter < format:
                    scene.attributes[location] = shorter, data[:, : count * 4].copy()
        for location, name in self.small.items():
            if location in scene.attributes:
                number, count, type = SMALL[name]
                words = np.resize(scene.attributes[location][1].view(np.uint32).astype(type),
                                  (scene.vertices, count))  # fmt: skip
                scene.attributes[location] = number, words


def random_state(
    r: Random, kinds: list[str], dual: bool, plain: bool, sized: bool, attributes: list[str]
) -> State:
    """``kinds``: of the colour outputs ("float", "int"), by Location; ``plain``: a vertex and a
    fragment shader alone; ``sized``: the size of points is written; ``attributes``: the types of
    those behind Location 0."""
    state = State({"version": 1})
    _attachments(r, state, kinds, dual)
    _raster(r, state, plain, sized)
    _samples(r, state)
    told = []
    for location in range(1, len(attributes) + 1):
        if r.random() < 0.4:
            count = r.randint(1, 4)
            state.attributes[location] = count
            told.append({"location": location, "format": FORMATS[(1 << count) - 1]})
    own = Random(str(state.document))  # the other choices of a seed stay
    for location, type in enumerate(attributes, 1):
        if type.startswith("uvec") and own.random() < 0.5:
            name = state.small[location] = own.choice(sorted(SMALL))
            state.attributes.pop(location, None)
            told = [one for one in told if one["location"] != location]
            told.append({"location": location, "format": name})
    if r.random() < 0.8:
        state.document["vertexAttributes"] = told
    if r.random() < 0.4:
        state.document["viewMask"] = 0
    if r.random() < 0.4:
        state.document["viewportCount"] = 1
    return state


def _attachments(r: Random, state: State, kinds: list[str], dual: bool) -> None:
    attachments: list[Document | None] = []
    targets: list[int] = []
    for location, kind in enumerate(kinds):
        if r.random() < 0.2:
            attachments.append(r.choice((None, {"format": "UNDEFINED"})))
            state.settings.blend.append({})
            continue
        targets.append(location)
        mask = r.choice((15, 15, 7, 8, 3, r.randrange(16)))
        told: Document = {"colorWriteMask": mask}
        made: dict[str, int] = {"colorWriteMask": mask}
        if r.random() < 0.3:
            present = r.choice((1, 3, 7))
            made["colorWriteMask"] = mask & present
            told = {"colorWriteMask": mask, "format": FORMATS[present]}
        if kind == "float" and (dual or r.random() < 0.5):
            _blending(r, told, made, dual)
        else:
            told["blendEnable"] = False
        attachments.append(told)
        state.settings.blend.append(made)
    if r.random() < 0.85:
        state.document["colorAttachments"] = attachments
    state.settings.targets = targets
    covers = r.random() < 0.2
    state.settings.multisample["alphaToCoverageEnable"] = int(covers)
    if covers or r.random() < 0.8:
        state.document["alphaToCoverageEnable"] = covers


def _blending(r: Random, told: Document, made: dict[str, int], dual: bool) -> None:
    factors = (*FACTORS, *(SECOND * 2 if dual else ()))
    told["blendEnable"], made["blendEnable"] = True, 1
    for name in ("srcColorBlendFactor", "dstColorBlendFactor",
                 "srcAlphaBlendFactor", "dstAlphaBlendFactor"):  # fmt: skip
        source = name == "srcColorBlendFactor"
        factor = r.choice((*factors, "SRC_ALPHA_SATURATE") if source else factors)
        made[name] = NUMBERS[factor]
        if r.random() < 0.9:
            told[name] = factor
    for name in ("colorBlendOp", "alphaBlendOp"):
        operation = r.choice(OPERATIONS)
        made[name] = OPERATIONS.index(operation)
        if r.random() < 0.9:
            told[name] = operation


def _raster(r: Random, state: State, plain: bool, sized: bool) -> None:
    culled = r.choice((0, 1, 2, 2))
    polygons = r.choice((0, 0, 0, 1, 2 if sized else 0))
    state.settings.raster = {"cullMode": culled, "polygonMode": polygons}
    state.settings.raster["frontFace"] = r.randrange(2)
    if r.random() < 0.8:
        state.document["cullMode"] = r.choice((CULLED[culled], culled))
    if r.random() < 0.8:
        state.document["polygonMode"] = polygons
    if plain:
        state.topology = r.choice((0 if sized else 3, 1, 2, 3, 3, 4, 5))
        if r.random() < 0.8:
            state.document["topology"] = state.topology
    discards = r.random() < 0.04
    state.settings.raster["rasterizerDiscardEnable"] = int(discards)
    if r.random() < 0.7:
        state.document["rasterizerDiscardEnable"] = discards


def _samples(r: Random, state: State) -> None:
    state.samples = r.choice((1, 1, 4))
    if r.random() < 0.9:
        state.document["rasterizationSamples"] = state.samples
    for name in ONE:
        if r.random() < 0.95:
            state.document[name] = False
