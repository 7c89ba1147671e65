"""Where the descriptors of a recorded pipeline come from, in the form of ``--layout``."""

from __future__ import annotations

from spvlink.archive import numbers, structures
from spvlink.archive.documents import Object, as_list, as_number, as_object, number

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# Source -> (the member that has its data, "" if the data is one number; names in it). Members about
# samplers are left out: no sampler crosses. ``c/descriptors.c`` writes the same.
_SOURCES: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    numbers.FROM_CONSTANT: ("constantOffset", ("heapOffset", "heapArrayStride")),
    numbers.FROM_PUSH_INDEX: (
        "pushIndex",
        ("heapOffset", "pushOffset", "heapIndexStride", "heapArrayStride"),
    ),
    numbers.FROM_INDEX: (
        "indirectIndex",
        ("heapOffset", "pushOffset", "addressOffset", "heapIndexStride", "heapArrayStride"),
    ),
    numbers.FROM_INDEX_ARRAY: (
        "indirectIndexArray",
        ("heapOffset", "pushOffset", "addressOffset", "heapIndexStride"),
    ),
    numbers.FROM_HEAP_DATA: ("heapData", ("heapOffset", "pushOffset")),
    numbers.FROM_PUSH_DATA: ("", ("pushDataOffset",)),
    numbers.FROM_PUSH_ADDRESS: ("", ("pushAddressOffset",)),
    numbers.FROM_ADDRESS: ("indirectAddress", ("pushOffset", "addressOffset")),
}
_WHERE: Final = ("descriptorSet", "firstBinding", "bindingCount")


def with_descriptors(
    layout: dict[str, object] | None, heap: bool, recorded: Object
) -> dict[str, object] | None:
    """The layout and what the stages of a recorded pipeline say themselves. Raises BadArchive."""
    mappings: list[object] = []
    robustness: list[object] = []
    behind = _uniform_buffers(recorded, 0)
    found: set[int] = set()
    for item in as_list(recorded.get("stages", []), "stages"):
        stage = as_object(item, "stages")
        bit = number(stage, "stage")
        mappings += _mappings(stage, bit)
        own = _uniform_buffers(stage, behind)
        found.add(own)
        robustness.append({"stageFlags": bit, "uniformBuffers": own})
    more: dict[str, object] = {}
    if heap or mappings:
        more = {"descriptorHeap": heap, "mappings": mappings}
    if len(found) > 1:
        more["robustness"] = robustness
    return {**(layout or {}), **more} if more else layout


def _uniform_buffers(owner: Object, otherwise: int) -> int:
    """What a uniform buffer gives beyond its end."""
    robust = structures.find(owner, numbers.ROBUSTNESS)
    if robust is None:
        return otherwise
    return as_number(robust.get("uniformBuffers", 0), "uniformBuffers")


def _mappings(stage: Object, bit: int) -> list[object]:
    """The entries of a stage's mapping that are about uniform buffers."""
    mapping = structures.find(stage, numbers.HEAP_MAPPING)
    made: list[object] = []
    for item in as_list((mapping or {}).get("mappings", []), "mappings"):
        entry = as_object(item, "mappings")
        if number(entry, "resourceMask") & numbers.UNIFORM_BUFFERS:
            one: dict[str, object] = {"stageFlags": bit}
            for name in _WHERE:
                one[name] = number(entry, name)
            made.append({**one, **_source(entry)})
    return made


def _source(entry: Object) -> dict[str, object]:
    """Where an entry's resource comes from; nothing, if that is not known."""
    source = number(entry, "source")
    if entry.get("pNext") or source not in _SOURCES:
        return {}
    member, names = _SOURCES[source]
    data = as_object(entry.get("sourceData", {}), "sourceData")
    if member:
        data = as_object(data.get(member, {}), member)
    return {"source": source, "sourceData": [number(data, name) for name in names]}
