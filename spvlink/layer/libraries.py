"""Pipeline libraries of an archive that hold one half of the shaders, linked against frozen
interfaces (``spvlink.sets.joint``).

Which libraries meet is recorded: those that a pipeline was made from. All that meet, directly or
through others, are a family and have one interface. The layer keeps both versions of a library and
takes the linked ones where both halves have one of the same interface (``c/libraries.c``).
"""

from __future__ import annotations

import json
from hashlib import blake2b

from spvlink.archive.numbers import FRAGMENT_PART
from spvlink.errors import BadArchive
from spvlink.layer import wire, work
from spvlink.layer.recorded import request_of
from spvlink.pipeline import NOTHING_TO_GAIN, STAGE_BITS
from spvlink.sets.joint import Member, link_joint

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.archive.archive import Archive
    from spvlink.layer.recorded import LayerSettings
    from spvlink.pipeline import Linked

# Stages before rasterization, the last first. Of a family that ends with several of these one kind
# is taken: an interface is between two stages.
_LAST: Final = ("geom", "tese", "vert")


class LibraryFamily:
    """Requests of libraries that meet: producers, consumers."""

    __slots__ = ("consumers", "producers")

    def __init__(self) -> None:
        self.producers: list[bytes] = []
        self.consumers: list[bytes] = []


class Frozen:
    """What became of a family: (key, answer) of each library that was linked, and the reason of
    each that was not."""

    __slots__ = ("answers", "reasons")

    def __init__(self) -> None:
        self.answers: list[tuple[bytes, bytes]] = []
        self.reasons: list[str] = []


def families(
    archive: Archive, identity: bytes, settings: LayerSettings
) -> tuple[list[LibraryFamily], list[str]]:
    """Those of an archive, and the reasons of libraries that are in none."""
    reasons: list[str] = []
    halves: dict[str, bytes] = {}  # key of a library -> its request
    fragment: dict[bytes, bool] = {}  # request -> which half
    joins: list[list[str]] = []
    for recorded in archive.pipelines():
        if recorded.libraries:
            joins.append(recorded.libraries)
        elif recorded.part:
            try:
                request = request_of(archive, recorded, identity, settings)
                data = wire.write_request(request)
            except BadArchive as error:
                reasons.append(f"left out: {error.message}")
                continue
            halves[recorded.key] = data
            fragment[data] = recorded.part == FRAGMENT_PART
    leaders = {data: data for data in fragment}

    def leader(data: bytes) -> bytes:
        while leaders[data] != data:
            above = leaders[leaders[data]]
            leaders[data] = above
            data = above
        return data

    met: set[bytes] = set()
    for names in joins:
        pair = [halves[name] for name in names if name in halves]
        if len(pair) == 2 and fragment[pair[0]] != fragment[pair[1]]:
            met.update(pair)
            leaders[leader(pair[0])] = leader(pair[1])
    by_leader: dict[bytes, LibraryFamily] = {}
    for data in fragment:
        if data in met:
            family = by_leader.setdefault(leader(data), LibraryFamily())
            (family.consumers if fragment[data] else family.producers).append(data)
    return list(by_leader.values()), reasons


def link_family(family: LibraryFamily) -> Frozen:
    """Never raises for what is in the modules."""
    frozen = Frozen()
    before = [wire.read_request(data) for data in family.producers]
    last = _most([_last(request) for request in before])
    for request in [r for r in before if _last(r) != last]:
        frozen.reasons.append("its last stage differs from that of other libraries in its place")
        before.remove(request)
    behind = [wire.read_request(data) for data in family.consumers]
    sides = [[_member(request) for request in side] for side in (before, behind)]
    try:
        document = link_joint(*sides)
    except Exception as error:  # a defect of ours: everything stays as it is
        frozen.reasons.append(f"a defect of spvlink: {type(error).__name__}: {error}")
        return frozen
    members = list(zip((*before, *behind), (*sides[0], *sides[1])))
    linked = [m.linked for _, m in members if m.linked is not None and not m.reason]
    if document is not None and not any(_gains(one) for one in linked):
        frozen.reasons += [NOTHING_TO_GAIN] * len(linked)
        document = None
    name = _name(document)
    for request, member in members:
        if member.reason:
            frozen.reasons.append(f"not linked: {member.reason}")
        elif document is not None and member.linked is not None:
            answer = work.written(request, wire.FROZEN, name, member.linked)
            frozen.answers.append((request.key, answer))
    return frozen


def _name(document: object) -> str:
    """64 hex digits that stand for an interface."""
    text = json.dumps(document, sort_keys=True)
    return blake2b(text.encode(), digest_size=32).hexdigest()


def _member(request: wire.Request) -> Member:
    return Member(work.sources_of(request), work.options_of(request))


def _last(request: wire.Request) -> str:
    """The name of the last stage before rasterization, "" if it is another one."""
    bits = {stage.bit for stage in request.stages}
    return next((name for name in _LAST if STAGE_BITS[name] in bits), "")


def _most(names: list[str]) -> str:
    return max(names, key=names.count, default="")


def _gains(linked: Linked) -> bool:
    components, fewer, locations, less = work.figures_of(linked)
    return fewer < components or less < locations
