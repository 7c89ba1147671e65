"""Which descriptors are the same in two stages.

A pipeline that uses descriptor heaps (VK_EXT_descriptor_heap) has no pipeline layout. Each of its
stages has a mapping, which says for a descriptor set and binding which bytes of a heap, of push
data or of memory stand behind it. Stages may also differ in what they get from a uniform buffer
beyond its end (VK_EXT_pipeline_robustness). A resource is read in another stage only where both
stages would get the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

UNKNOWN: Final = 0xFFFFFFFF  # a source that cannot be compared


class MappedBinding:
    """An entry of a mapping: where the resources of some bindings of a set come from."""

    __slots__ = ("data", "end", "first", "group", "source")

    def __init__(self, group: int, first: int, count: int, source: int, data: list[int]) -> None:
        self.group = group
        self.first = first
        self.end = first + count
        self.source = source
        self.data = data  # what the source needs: offsets and strides

    def has(self, group: int, binding: int) -> bool:
        return self.group == group and self.first <= binding < self.end

    def same(self, other: MappedBinding) -> bool:
        """Whether a binding that both have comes from the same place: it lies as far from the first
        one of the entry."""
        return (
            self.source == other.source != UNKNOWN
            and self.data == other.data
            and self.first == other.first
        )


class StageDescriptors:
    """What one stage says of its descriptors. ``robustness``: VkPipelineRobustnessBufferBehavior of
    its uniform buffers."""

    __slots__ = ("mapped", "robustness")

    def __init__(self, mapped: list[MappedBinding], robustness: int) -> None:
        self.mapped = mapped
        self.robustness = robustness

    def find(self, group: int, binding: int) -> list[MappedBinding]:
        return [one for one in self.mapped if one.has(group, binding)]


class SharedDescriptors:
    """Of two stages. ``heap``: all descriptors come by mappings, so a stage may read whatever it
    maps, and what it does not map is not there."""

    __slots__ = ("heap", "source", "target")

    def __init__(self, heap: bool, source: StageDescriptors, target: StageDescriptors) -> None:
        self.heap = heap
        self.source = source
        self.target = target

    def apart(self, group: int, binding: int) -> str | None:
        """None, or why it cannot be said that both stages have one resource there."""
        where = f"set {group}, binding {binding}"
        if self.source.robustness != self.target.robustness:
            return "the stages have different robustness for uniform buffers"
        there, here = self.source.find(group, binding), self.target.find(group, binding)
        if not there and not here:
            return f"no stage maps {where}" if self.heap else None
        if not there or not here:
            return f"only one of the stages maps {where}"
        if len(there) > 1 or len(here) > 1:
            return f"a stage maps {where} twice"
        if there[0].source == UNKNOWN or here[0].source == UNKNOWN:
            return f"{where} is mapped in a way that spvlink does not compare"
        return None if there[0].same(here[0]) else f"the stages map {where} differently"
