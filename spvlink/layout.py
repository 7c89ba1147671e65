"""The pipeline layout as JSON: its shape is checked here, with one line for what is wrong.

Beside ``setLayouts`` and ``pushConstantRanges`` it may say where descriptors come from
(``link/resources/mapped.py``):

    "descriptorHeap": true
    "mappings": [{"stageFlags": ..., "descriptorSet": 0, "firstBinding": 2, "bindingCount": 1,
                  "source": 0, "sourceData": [64, 0]}]
    "robustness": [{"stageFlags": ..., "uniformBuffers": 2}]

``mappings`` has what is about uniform buffers, since nothing else crosses. ``sourceData`` are the
members of Vulkan's structure for that source, in their order, those of samplers left out. Without a
``source`` it is not known where that binding comes from.
"""

from __future__ import annotations

from spvlink.errors import Usage
from spvlink.link.resources.mapped import (
    UNKNOWN,
    MappedBinding,
    SharedDescriptors,
    StageDescriptors,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final, TypeVar

    T = TypeVar("T")

_MAPPING: Final = ("stageFlags", "descriptorSet", "firstBinding", "bindingCount")
_WHERE_FROM: Final = ("descriptorHeap", "mappings", "robustness")
# VkShaderStageFlagBits without prefix and _BIT.
STAGE_FLAGS: Final[dict[str, int]] = {
    "VERTEX": 0x1,
    "TESSELLATION_CONTROL": 0x2,
    "TESSELLATION_EVALUATION": 0x4,
    "GEOMETRY": 0x8,
    "FRAGMENT": 0x10,
    "COMPUTE": 0x20,
    "TASK_EXT": 0x40,
    "MESH_EXT": 0x80,
    "ALL_GRAPHICS": 0x1F,
    "ALL": 0x7FFFFFFF,
}


def read_layout(path: str) -> dict[str, object]:
    """The layout in a JSON file, its shape checked. Raises Usage."""
    return read_document(path, check_layout)


def read_document(path: str, check: Callable[[object], T]) -> T:
    """What ``check`` makes of the JSON in a file. Raises Usage that names the file."""
    import json

    try:
        with open(path, "rb") as file:
            document = json.load(file)
    except OSError as error:
        raise Usage(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Usage(f"{path}: not JSON: {error}") from None
    try:
        return check(document)
    except Usage as trouble:
        raise Usage(f"{path}: {trouble.message}") from None


def check_layout(layout: object) -> dict[str, object]:
    """The same layout if its shape is right; raises Usage with the place and what was expected."""
    top = object_of(layout, "the layout", ("setLayouts", "pushConstantRanges", *_WHERE_FROM))
    numbers: set[int] = set()
    for index, entry in enumerate(list_of(top.get("setLayouts", []), "setLayouts")):
        where = f"setLayouts[{index}]"
        one = object_of(entry, where, ("set", "bindings"))
        number = _number(one.get("set", index), f"{where}.set")
        if number in numbers:
            raise Usage(f"{where}: set {number} stands there twice")
        numbers.add(number)
        _check_bindings(list_of(_needed(one, "bindings", where), f"{where}.bindings"), where)
    for index, entry in enumerate(list_of(top.get("pushConstantRanges", []), "pushConstantRanges")):
        where = f"pushConstantRanges[{index}]"
        one = object_of(entry, where, ("stageFlags", "offset", "size"))
        stage_mask(_needed(one, "stageFlags", where), f"{where}.stageFlags")
        _number(_needed(one, "offset", where), f"{where}.offset")
        _number(_needed(one, "size", where), f"{where}.size")
    _check_where_from(top)
    return top


def _check_where_from(top: dict[str, object]) -> None:
    if not isinstance(top.get("descriptorHeap", False), bool):
        raise Usage("descriptorHeap: expected true or false")
    for index, entry in enumerate(list_of(top.get("mappings", []), "mappings")):
        where = f"mappings[{index}]"
        one = object_of(entry, where, (*_MAPPING, "source", "sourceData"))
        stage_mask(_needed(one, "stageFlags", where), f"{where}.stageFlags")
        for name in _MAPPING[1:]:
            _number(_needed(one, name, where), f"{where}.{name}")
        _number(one.get("source", UNKNOWN), f"{where}.source")
        for number in list_of(one.get("sourceData", []), f"{where}.sourceData"):
            _number(number, f"{where}.sourceData")
    for index, entry in enumerate(list_of(top.get("robustness", []), "robustness")):
        where = f"robustness[{index}]"
        one = object_of(entry, where, ("stageFlags", "uniformBuffers"))
        stage_mask(_needed(one, "stageFlags", where), f"{where}.stageFlags")
        _number(_needed(one, "uniformBuffers", where), f"{where}.uniformBuffers")


def _check_bindings(bindings: list[object], where: str) -> None:
    numbers: set[int] = set()
    for index, entry in enumerate(bindings):
        place = f"{where}.bindings[{index}]"
        one = object_of(
            entry, place,
            ("binding", "descriptorType", "descriptorCount", "stageFlags", "immutableSamplers"),
        )  # fmt: skip
        number = _number(_needed(one, "binding", place), f"{place}.binding")
        if number in numbers:
            raise Usage(f"{place}: binding {number} stands there twice")
        numbers.add(number)
        kind = one.get("descriptorType", 0)
        if not isinstance(kind, str):
            _number(kind, f"{place}.descriptorType")
        _number(one.get("descriptorCount", 1), f"{place}.descriptorCount")
        stage_mask(_needed(one, "stageFlags", place), f"{place}.stageFlags")


def stage_mask(flags: object, where: str = "stageFlags") -> int:
    """VkShaderStageFlags of a list of names, or of the integer itself. Raises Usage."""
    if not isinstance(flags, list):
        return _number(flags, where, "a list of stages or their bit mask")
    mask = 0
    for flag in flags:
        if not isinstance(flag, str) or flag not in STAGE_FLAGS:
            raise Usage(f"{where}: {flag!r} is none of {' '.join(STAGE_FLAGS)}")
        mask |= STAGE_FLAGS[flag]
    return mask


def granted(
    layout: dict[str, object], stage_bit: int
) -> tuple[list[tuple[int, int]] | None, set[tuple[int, int]] | None]:
    """What a checked layout shows to a stage: (first byte, end) of push constants, (set, binding)
    of descriptors. None, None: it says no more than where descriptors come from."""
    if layout and all(key in _WHERE_FROM for key in layout):
        return None, None
    ranges: list[tuple[int, int]] = []
    bindings: set[tuple[int, int]] = set()
    for entry in list_of(layout.get("pushConstantRanges", []), "pushConstantRanges"):
        one = object_of(entry, "a range", ("stageFlags", "offset", "size"))
        if stage_mask(one["stageFlags"]) & stage_bit:
            start = _number(one["offset"], "offset")
            ranges.append((start, start + _number(one["size"], "size")))
    for at, entry in enumerate(list_of(layout.get("setLayouts", []), "setLayouts")):
        one = object_of(entry, "a set", ("set", "bindings"))
        number = _number(one.get("set", at), "set")
        for binding in list_of(one["bindings"], "bindings"):
            assert isinstance(binding, dict)
            if stage_mask(binding.get("stageFlags")) & stage_bit:
                bindings.add((number, _number(binding["binding"], "binding")))
    return ranges, bindings


def shared_descriptors(
    layout: dict[str, object], source: int, target: int
) -> SharedDescriptors | None:
    """Which descriptors two stages have in common by a checked layout; None: all of them."""
    if not any(key in layout for key in _WHERE_FROM):
        return None
    heap = layout.get("descriptorHeap") is True
    return SharedDescriptors(heap, _of_stage(layout, source), _of_stage(layout, target))


def _of_stage(layout: dict[str, object], stage_bit: int) -> StageDescriptors:
    found: list[MappedBinding] = []
    for one in _entries(layout, "mappings", stage_bit):
        given = [_number(one.get(name, UNKNOWN), name) for name in (*_MAPPING[1:], "source")]
        data = [_number(n, "sourceData") for n in list_of(one.get("sourceData", []), "sourceData")]
        found.append(MappedBinding(given[0], given[1], given[2], given[3], data))
    robustness = 0
    for one in _entries(layout, "robustness", stage_bit):
        robustness = _number(one["uniformBuffers"], "uniformBuffers")
    return StageDescriptors(found, robustness)


def _entries(layout: dict[str, object], name: str, stage_bit: int) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for entry in list_of(layout.get(name, []), name):
        assert isinstance(entry, dict)
        if stage_mask(entry["stageFlags"]) & stage_bit:
            found.append(entry)
    return found


def common_layout(layouts: list[dict[str, object] | None]) -> dict[str, object] | None:
    """What can be said of several pipelines together: of different layouts nothing, and where one
    of them says where descriptors come from, no descriptor is the same in two stages."""
    first = layouts[0]
    if all(layout == first for layout in layouts):
        return first
    for layout in layouts:
        if layout is not None and any(key in layout for key in _WHERE_FROM):
            return {"descriptorHeap": True, "mappings": []}
    return None


def object_of(value: object, where: str, keys: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Usage(f"{where}: expected an object")
    for key in value:
        if key not in keys:
            raise Usage(f"{where}: unknown key {key!r} (there are: {', '.join(keys)})")
    return value


def list_of(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise Usage(f"{where}: expected a list")
    return value


def _needed(value: dict[str, object], key: str, where: str) -> object:
    if key not in value:
        raise Usage(f"{where}: {key} is missing")
    return value[key]


def _number(value: object, where: str, what: str = "an integer of 0 or more") -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Usage(f"{where}: expected {what}")
    return value
