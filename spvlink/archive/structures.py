"""Which structures of a pNext mean what for linking, by the place where they stand.

What is not known (``numbers.KNOWN``) makes a pipeline stay as it is: it could say where code,
descriptors or varyings come from. The layer has the same lists for a running program
(``c/numbers.h``); both are made of vulkan_registry/.
"""

from __future__ import annotations

from spvlink.archive import numbers
from spvlink.archive.documents import Object, as_list, as_number, as_object
from spvlink.errors import BadArchive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

# The members of a pipeline whose pNext is looked at; a member that is not here has none.
PLACES: Final = {
    place: known
    for place, known in numbers.KNOWN.items()
    if place not in ("setLayout", "layout", "renderPass")
}
_NAMES: Final = {
    number: name
    for names in (numbers.REFUSED, *numbers.KNOWN.values())
    for number, name in names.items()
}


def unknown(pipeline: Object) -> list[tuple[str, int]]:
    """(place, sType) of every structure that is not known. Raises BadArchive if it makes no
    sense."""
    unknown_ones: list[tuple[str, int]] = []
    for place, chain in _chains(pipeline):
        known = PLACES.get(place, {})
        unknown_ones += [(place, kind) for kind in kinds(chain) if kind not in known]
    return unknown_ones


def named(kind: int) -> str:
    """A structure, for people."""
    return f"{_NAMES[kind]}, sType {kind}" if kind in _NAMES else f"sType {kind}"


def check_render_pass(render_pass: Object) -> None:
    """Raises BadArchive if a render pass, or what is in it, has a structure that is not known."""
    for _, chain in _chains(render_pass):
        for kind in kinds(chain):
            if kind not in numbers.KNOWN["renderPass"]:
                raise BadArchive(
                    f"its render pass has a structure that spvlink does not know: {named(kind)}"
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
