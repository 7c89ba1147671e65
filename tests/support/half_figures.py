"""The figures of docs/measurements/half.md: bytes a vertex with and without ``--half``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import spvlink
from spvlink.draw.scene import Scene, read_stages
from tests.support.chains import NAMES, build, stages_of
from tests.support.generate_half import HalfSource
from tests.support.glslang import compile_files

PIPELINES = [name for name in NAMES if "frag" in stages_of(name) and len(stages_of(name)) > 1]
RANDOM = range(72)  # seeds
# What is known: the device has 16 bits in interfaces; attributes and images are normalized.
SETTINGS = (
    ("nothing known", False, False),
    ("`storageInputOutput16`", True, False),
    ("and normalized attributes and images", True, True),
)
BOUNDS = ((1.0 / 510.0, "1/510"), (0.01, "0.01"))
SIGNED = ("normal", "tangent")
PLACES = ("pos",)  # attributes whose names begin so are no colours


def small_attributes(modules: Sequence[bytes]) -> dict[int, str]:
    """The attributes that are taken to have a format of 8 bits, by Location."""
    first = read_stages(modules)[0]
    formats: dict[int, str] = {}
    for attribute in first.inputs if first.model == 0 else ():
        name = attribute.name.lower().removeprefix("in")
        if not name.startswith(PLACES):
            kind = "SNORM" if any(word in name for word in SIGNED) else "UNORM"
            formats[attribute.location] = f"R8G8B8A8_{kind}"
    return formats


def state_of(modules: Sequence[bytes], has: bool, normalized: bool) -> dict[str, object]:
    """What ``--state`` says in one of SETTINGS."""
    state: dict[str, object] = {"version": 1}
    if has:
        state["storageInputOutput16"] = True
    if normalized:
        formats = small_attributes(modules)
        state["vertexAttributes"] = [{"location": n, "format": f} for n, f in formats.items()]
        state["sampledImages"] = "NORMALIZED"
    return state


def normalized(scene: Scene, modules: Sequence[bytes]) -> Scene:
    """The scene with attributes as such formats give them."""
    for location, format in small_attributes(modules).items():
        if location in scene.attributes:
            kind, data = scene.attributes[location]
            numbers = np.ascontiguousarray(data).view(np.float32)
            low = -1.0 if "SNORM" in format else 0.0
            words = np.clip(np.nan_to_num(numbers), low, 1.0).astype(np.float32)
            scene.attributes[location] = kind, words.view(np.uint8).reshape(data.shape)
    return scene


def table() -> str:
    """The table of the page."""
    heads = (
        "pipelines",
        "known",
        "bound",
        "with 16 bits",
        "components",
        "bytes a vertex",
        "linked",
        "--half",
    )
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    shaders = [build(name) for name in PIPELINES]
    texts = [HalfSource(seed).texts() for seed in RANDOM]
    options = ["-V", "--target-env", "vulkan1.1"]
    made = [compile_files(options, {f"s.{stage}": text for stage, text in one}) for one in texts]
    for title, sets, settings, bounds in (
        (f"shaders/, {len(shaders)}", shaders, SETTINGS, BOUNDS[:1]),
        (f"random, {len(made)}", made, SETTINGS[:2], BOUNDS),
    ):
        for known, has, small in settings:
            for bound, shown in bounds:
                each = [_figures(one, state_of(one, has, small), bound) for one in sets]
                figures = np.sum(each, axis=0)
                rows.append(f"| {title} | {known} | {shown} | {' | '.join(map(str, figures))} |")
    return "\n".join(rows) + "\n"


def _figures(modules: Sequence[bytes], state: dict[str, object], bound: float) -> list[int]:
    """Whether something has 16 bits, how many components; bytes a vertex of the modules, linked
    without it and with it."""
    linked = spvlink.link(modules, state=state, half=bound, validate=False)
    assert linked.defect is None, linked.defect
    count = sum(border.wide[0] for border in linked.interfaces)
    after = sum(border.vertex_bytes[1] for border in linked.interfaces)
    without = after
    if count:
        plain = spvlink.link(modules, state=state, validate=False)
        without = sum(border.vertex_bytes[1] for border in plain.interfaces)
    before = sum(border.vertex_bytes[0] for border in linked.interfaces)
    return [int(count > 0), count, before, without, after]
