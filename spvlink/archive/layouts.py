"""Pipeline layouts and subpasses of an archive, with what they refer to."""

from __future__ import annotations

from spvlink.archive import foz, numbers, structures
from spvlink.archive.documents import Object, as_handle, as_list, as_number, as_object, number
from spvlink.errors import BadArchive
from spvlink.state import components_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    # (tag, hash, names of the member that it may be in) -> the object; raises BadArchive
    Lookup = Callable[[int, int, tuple[str, ...]], Object]

_REMEMBERED: Final = 1024
_UNUSED: Final = 0xFFFFFFFF
_UNKNOWN: Final = 15  # components of an attachment that the format says nothing of
# Structures on a render pass or a subpass that leave fragments as they are.
_PLAIN: Final = frozenset((1000053000, 1000117001, 1000199001, 1000241001, 1000241002))


class Subpass:
    """What a pipeline takes from a subpass of its render pass. ``view_mask``: 0 for none.
    ``colors``: the components of each colour attachment, 0 for one that is not used. ``plain``:
    neither it nor the pass has anything about the size of fragments."""

    __slots__ = ("colors", "plain", "view_mask")

    def __init__(self, view_mask: int, colors: list[int] | None, plain: bool) -> None:
        self.view_mask = view_mask
        self.colors = colors
        self.plain = plain


class Layouts:
    """Layouts and subpasses by their keys. What was asked for is remembered, since many pipelines
    share them; a layout is handed out as it is, so nobody may change it."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._known: dict[tuple[int, int, int], object] = {}

    def layout(self, hash: int) -> dict[str, object]:
        """A pipeline layout in the form of ``--layout``. Raises BadArchive."""
        layout = self._remembered(foz.PIPELINE_LAYOUT, hash, 0)
        assert isinstance(layout, dict)
        return layout

    def subpass(self, hash: int, subpass: int) -> Subpass:
        """A subpass of a render pass. Raises BadArchive."""
        value = self._remembered(foz.RENDER_PASS, hash, subpass)
        assert isinstance(value, Subpass)
        return value

    def _remembered(self, tag: int, hash: int, subpass: int) -> object:
        key = tag, hash, subpass
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            try:
                if tag == foz.PIPELINE_LAYOUT:
                    self._known[key] = _layout(hash, self._lookup)
                else:
                    self._known[key] = _subpass(hash, subpass, self._lookup)
            except BadArchive as error:
                self._known[key] = error
        value = self._known[key]
        if isinstance(value, BadArchive):
            raise BadArchive(value.message)
        return value


def _layout(hash: int, lookup: Lookup) -> dict[str, object]:
    layout = lookup(foz.PIPELINE_LAYOUT, hash, ("pipelineLayouts",))
    if layout.get("pNext") or number(layout, "flags") & ~numbers.LAYOUT_FLAGS:
        raise BadArchive("its pipeline layout has something that spvlink does not know")
    sets: list[object] = []
    for index, item in enumerate(as_list(layout.get("setLayouts", []), "setLayouts")):
        key = as_handle(item, "setLayouts")
        if key:  # nothing: a set of another pipeline library
            sets.append({"set": index, "bindings": _bindings(key, lookup)})
    ranges: list[object] = []
    for item in as_list(layout.get("pushConstantRanges", []), "pushConstantRanges"):
        one = as_object(item, "pushConstantRanges")
        ranges.append({name: number(one, name) for name in ("stageFlags", "offset", "size")})
    return {"setLayouts": sets, "pushConstantRanges": ranges}


def _bindings(hash: int, lookup: Lookup) -> list[object]:
    layout = lookup(foz.SET_LAYOUT, hash, ("setLayouts",))
    unknown = set(structures.kinds(layout.get("pNext", []))) - numbers.KNOWN["setLayout"].keys()
    if unknown or number(layout, "flags") & ~numbers.SET_FLAGS:
        raise BadArchive("a set layout of it has something that spvlink does not know")
    names = ("binding", "descriptorType", "descriptorCount", "stageFlags")
    made: list[object] = []
    seen: set[int] = set()
    for item in as_list(layout.get("bindings", []), "bindings"):
        binding = as_object(item, "bindings")
        figures = {name: number(binding, name) for name in names}
        if figures["binding"] in seen:
            raise BadArchive("a set layout of it has a binding twice")
        seen.add(figures["binding"])
        if figures["descriptorCount"]:  # 0: no stage may touch it
            made.append(figures)
    return made


def _subpass(hash: int, index: int, lookup: Lookup) -> Subpass:
    render_pass = lookup(foz.RENDER_PASS, hash, ("renderPasses", "renderPasses2"))
    structures.check_render_pass(render_pass)
    subpasses = as_list(render_pass.get("subpasses", []), "subpasses")
    one: Object = as_object(subpasses[index], "subpasses") if index < len(subpasses) else {}
    try:
        colors = _colors(render_pass, one) if one else None
    except BadArchive:
        colors = None
    chain = [*structures.kinds(render_pass.get("pNext", []))]
    chain += structures.kinds(one.get("pNext", []))
    plain = bool(one) and _PLAIN.issuperset(chain)
    multiview = structures.find(render_pass, numbers.MULTIVIEW)
    if multiview is not None:
        masks = as_list(multiview.get("viewMasks", []), "viewMasks")
        mask = as_number(masks[index], "viewMasks") if index < len(masks) else 0
        return Subpass(mask, colors, plain)
    if index >= len(subpasses):
        raise BadArchive("its subpass is none of its render pass")
    return Subpass(as_number(one.get("viewMask", 0), "viewMask"), colors, plain)


def _colors(render_pass: Object, subpass: Object) -> list[int] | None:
    """The components of each colour attachment; None: the subpass names one that is not there."""
    attachments = as_list(render_pass.get("attachments", []), "attachments")
    colors: list[int] = []
    for item in as_list(subpass.get("colorAttachments", []), "colorAttachments"):
        at = number(as_object(item, "colorAttachments"), "attachment")
        if at == _UNUSED:
            colors.append(0)
        elif at < len(attachments):
            one = as_object(attachments[at], "attachments")
            format = number(one, "format")  # none: one of another API
            colors.append(components_of(format) if format and not one.get("pNext") else _UNKNOWN)
        else:
            return None
    return colors
