"""Which structures of a pNext mean what for linking, by the place where they stand.

What is not here is not known, and a pipeline with it is not linked: it could say where code,
descriptors or varyings come from. The names and numbers are those of Vulkan 1.4's vulkan_core.h;
the layer has the same list for a running program (layer/c/pipelines.c).
"""

from __future__ import annotations

from spvlink.archive.documents import Object, as_list, as_number, as_object
from spvlink.errors import BadArchive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

RENDERING: Final = 1000044002
ROBUSTNESS: Final = 1000068000
LIBRARIES: Final = 1000290000
LIBRARY_PARTS: Final = 1000320002
FLAGS_2: Final = 1000470005
STREAM: Final = 1000028002
MULTIVIEW: Final = 1000053000
HEAP_MAPPING: Final = 1000135006

_PIPELINE: Final = {
    RENDERING: "formats of attachments; the view mask is read",
    1000044008: "sample counts of attachments (AMD)",
    ROBUSTNESS: "accesses out of bounds, alike in all stages",
    1000099001: "discard rectangles",
    1000192000: "asks for times",
    1000226001: "fragment shading rate",
    1000232001: "which output goes to which attachment",
    1000232002: "which input attachment is which",
    LIBRARIES: "what it is made from: read",
    LIBRARY_PARTS: "which parts it holds: read",
    FLAGS_2: "creation flags: read",
}
_STAGE: Final = {
    1000225001: "a subgroup size; linking moves no subgroup operation",
}
_RASTERIZATION: Final = {
    STREAM: "the vertex stream: read",
    1000018000: "order of rasterization (AMD)",
    1000101001: "conservative rasterization",
    1000102001: "depth clipping",
    1000254001: "the provoking vertex: flat inputs come from it before and after",
    1000259001: "how lines are drawn",
    1000283002: "how a depth bias is meant",
}
# Fixed functions before the first stage and behind the last one.
_OTHERS: Final[dict[str, dict[int, str]]] = {
    "tessellationState": {1000117003: "where the origin of a patch is"},
    "vertexInputState": {1000190001: "divisors of instances"},
    "viewportState": {
        1000087000: "scaling by w (NV)",
        1000098000: "swizzles of viewports (NV)",
        1000355001: "depth from -1 to 1",
        1000582001: "how depth is clamped",
    },
    "multisampleState": {1000143002: "places of samples"},
    "sampleLocationsInfo": {},
    "colorBlendState": {
        1000148002: "advanced blending",
        1000381001: "which attachments are written",
    },
}
KNOWN: Final = {
    "pipeline": _PIPELINE,
    "stages": _STAGE,
    "rasterizationState": _RASTERIZATION,
    **_OTHERS,
}
SET_LAYOUT: Final = {
    1000161000: "binding flags: when descriptors must be there",
    1000351002: "types that a mutable descriptor may have",
}
_RENDER_PASS: Final = {
    MULTIVIEW: "the view masks: read",
    1000117001: "aspects of input attachments",
    1000199001: "how depth and stencil are resolved",
    1000218002: "a fragment density map",
    1000226000: "a shading rate attachment",
    1000241001: "layout of a stencil",
    1000241002: "layouts of a stencil",
    1000314000: "a barrier",
    1000376002: "many samples rendered to one",
    1000458001: "whether passes may be merged",
}
_SPECIAL: Final = {
    HEAP_MAPPING: "its descriptors come from a heap by a mapping of its stages",
}


def check(pipeline: Object) -> None:
    """Raises BadArchive if there is any structure that is not known."""
    for place, chain in _chains(pipeline):
        known = KNOWN.get(place, {})
        for kind in kinds(chain):
            if kind in _SPECIAL:
                raise BadArchive(_SPECIAL[kind])
            if kind not in known:
                raise BadArchive(f"it has a structure that spvlink does not know: sType {kind}")


def check_render_pass(render_pass: Object) -> None:
    """The same for a render pass with all that is in it."""
    for _, chain in _chains(render_pass):
        for kind in kinds(chain):
            if kind not in _RENDER_PASS:
                raise BadArchive(
                    f"its render pass has a structure that spvlink does not know: sType {kind}"
                )


def find(owner: Object, kind: int) -> Object | None:
    """The first structure of a kind on an object that has been checked."""
    for item in as_list(owner.get("pNext", []), "pNext"):
        structure = as_object(item, "pNext")
        if structure.get("sType") == kind:
            return structure
    return None


def kinds(chain: object) -> Iterator[int]:
    """The sTypes of a pNext."""
    for item in as_list(chain, "pNext"):
        yield as_number(as_object(item, "pNext").get("sType"), "sType")


def _chains(pipeline: Object) -> Iterator[tuple[str, object]]:
    """Every pNext, with the name of what has it."""
    waiting: list[tuple[str, object]] = [("pipeline", pipeline)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(name, item) for item in value if isinstance(item, (dict, list))]
        elif isinstance(value, dict):
            if "pNext" in value:
                yield name, value["pNext"]
            waiting += [pair for pair in value.items() if isinstance(pair[1], (dict, list))]
