"""Pairs of a vertex and a fragment shader that ``--half`` looks at, with a state that says all."""

from __future__ import annotations

import spvlink
from spvlink.pipeline import Linked
from tests.support.samples import compile_glsl

HEAD = "#version 450\n"
ATTRIBUTES = "layout(location = 0) in vec4 p; layout(location = 1) in vec4 c;\n"
OUTPUT = "layout(location = 0) out vec4 o;\n"
STEP = 1.0 / 510.0
FEATURE = "storageInputOutput16"
KNOWN: dict[str, object] = {
    "version": 1,
    FEATURE: True,
    "alphaToCoverageEnable": False,
    "rasterizationSamples": 1,
    "sampleLocationsEnable": False,
    "conservativeRasterization": False,
    "fragmentShadingRate": False,
    "topology": "TRIANGLE_LIST",
    "polygonMode": "FILL",
    "colorAttachments": [{"format": "R8G8B8A8_UNORM", "blendEnable": False}],
}
ONE = "layout(location = 0) {} float x;\n"


def pair(
    stored: str = "x = fract(c.x)", used: str = "o = vec4(x, 0.0, 0.0, 1.0)",
    declared: str = ONE, extra: str = "", environment: str = "vulkan1.0",
) -> list[bytes]:  # fmt: skip
    """A vertex shader that stores and a fragment shader that uses; ``declared``: their varyings."""
    vert = f"{HEAD}{ATTRIBUTES}{declared.replace('{}', 'out')}"
    vert += "layout(location = 9) out float unread;\n"  # so there is always something to gain
    vert += f"void main() {{ gl_Position = p; unread = p.x; {stored}; }}\n"
    frag = f"{HEAD}{OUTPUT}{extra}{declared.replace('{}', 'in')}void main() {{ {used}; }}\n"
    sources = (vert, "vert"), (frag, "frag")
    return [compile_glsl(text, stage, environment) for text, stage in sources]


def halved(modules: list[bytes], bound: float = STEP, **state: object) -> Linked:
    """Linked with what is known, and these other facts; a fact of None is unknown."""
    known = {k: v for k, v in {**KNOWN, **state}.items() if v is not None}
    disable = ("backward", "forward", "propagate")
    linked = spvlink.link(modules, half=bound, state=known, disable=disable, clean=True)
    assert linked.defect is None, linked.defect
    return linked


def why(linked: Linked) -> str:
    """What the report says of the first varying."""
    return next(remark.why for remark in linked.remarks if remark.interface == "vert->frag")


def bound_of(linked: Linked) -> float | None:
    return linked.interfaces[0].error_bound
