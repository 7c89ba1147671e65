"""Which structures of a pNext mean what for linking, by the place where they stand.

What is not known (``numbers.KNOWN``) makes a pipeline stay as it is: it could say where code,
descriptors or varyings come from. The layer has the same lists for a running program
(``layer/c/numbers.h``); both are made of vulkan_registry/.
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
SPECIAL: Final = {
    numbers.HEAP_MAPPING: "its descriptors come from a heap by a mapping of its stages",
}


def check(pipeline: Object) -> None:
    """Raises BadArchive if there is any structure that is not known."""
    for place, chain in _chains(pipeline):
        known = PLACES.get(place, {})
        for kind in kinds(chain):
            if kind in SPECIAL:
                raise BadArchive(SPECIAL[kind])
            if kind not in known:
                raise BadArchive(f"it has a structure that spvlink does not know: sType {kind}")


def check_render_pass(render_pass: Object) -> None:
    """The same for a render pass with all that is in it."""
    for _, chain in _chains(render_pass):
        for kind in kinds(chain):
            if kind not in numbers.KNOWN["renderPass"]:
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
