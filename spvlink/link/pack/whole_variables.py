"""Place matrices, arrays and structs that keep their shape."""

from __future__ import annotations

from spvlink.grammar import info, ops
from spvlink.ir.core import INTERPOLATE
from spvlink.ir.slot import Aggregate, Pinned, Varying, base_of
from spvlink.link.border.link import Link
from spvlink.link.pack.bins import Bin
from spvlink.link.pack.unread import alone


def whole_values(link: Link) -> list[Aggregate]:
    """The matrices and arrays that both sides declare alike and all of which is alive."""
    if not link.inputs.aggregates or not link.outputs.aggregates:
        return []
    theirs = {(w.op, str(w.columns)) for w in link.outputs.aggregates}
    used = set(link.used())
    return [
        w
        for w in link.inputs.aggregates
        if (w.op, str(w.columns)) in theirs
        and all(k in used for c in w.columns for k in c)
        and any(k in link.loads for c in w.columns for k in c)
        and not any(
            i.op == INTERPOLATE for c in w.columns for k in c for i in link.loads.get(k, ())
        )
    ]


def fills(link: Link, whole: Aggregate) -> bool:
    """Whether all components of the Locations of a matrix, array or vector are taken."""
    slot = link.slot(whole.columns[0][0])
    return slot is not None and len(whole.columns[0]) * slot.components % 4 == 0


def whole_varying(link: Link, whole: Aggregate, location: int) -> Varying:
    keys = [k for column in whole.columns for k in column]
    slot = link.slot(keys[0])
    assert slot is not None
    varying = Varying(location, keys[0] >> 1 & 3, slot.base, keys)
    if whole.op != ops.OpTypeVector:
        varying.whole = whole.op
        varying.columns = len(whole.columns)
    varying.qualifiers = slot.qualifiers
    varying.captured = link.outputs.captured.get(keys[0])
    return varying


def place_matrix(link: Link, bins: dict[int, Bin], whole: Aggregate) -> Varying:
    """A matrix or array in the first run of Locations that takes it."""
    varying = whole_varying(link, whole, 0)
    words = len(whole.columns[0]) * (2 if varying.width == 64 else 1)
    # components taken in each Location
    sizes = ([words] if words <= 4 else [4, words - 4]) * len(whole.columns)
    if whole.op == ops.OpTypeMatrix:
        # spirv-val lets nothing else into the Locations of a matrix, whose Component one cannot
        # give either
        sizes = [4] * len(sizes)

    def fits(location: int) -> bool:
        for bin, size in ((bins.get(location + n), size) for n, size in enumerate(sizes)):
            if bin is not None and (
                bin.qualifiers != varying.qualifiers
                or bin.base != varying.base
                or bin.components[:size] != [-1] * size
            ):
                return False
        return True

    while not fits(varying.location):
        varying.location += 1
    varying.component = 0
    for n, size in enumerate(sizes):
        at = varying.location + n
        bins.setdefault(at, Bin(at, varying.qualifiers, varying.base)).components[:size] = [
            -2
        ] * size
    return varying


def place_whole(link: Link, bins: dict[int, Bin], moved: dict[Pinned, int]) -> None:
    """Whole variables first: those that cannot move where they are, the others where they fit,
    longest first."""
    pairs = link.pinned()
    movable = [(a, b) for a, b in pairs if b is not None and a.movable and b.movable]
    for pair in pairs:
        if pair not in movable and not alone(link, *pair):
            for pinned in pair:
                if pinned is not None:
                    _block(link, bins, pinned, pinned.location, moved)
    for a, b in sorted(movable, key=lambda p: (-len(p[0].keys), p[0].keys[0])):
        assert b is not None
        at = 0
        while not _free_for(link, bins, b, at):
            at += 1
        for pinned in (a, b):
            _block(link, bins, pinned, at, moved)


def place_unread_whole(link: Link, bins: dict[int, Bin], moved: dict[Pinned, int]) -> None:
    """Whole outputs that the consumer does not read come last."""
    for out, twin in link.pinned():
        if alone(link, out, twin):
            at = 0
            while not _free_for(link, bins, out, at):
                at += 1
            _block(link, bins, out, at, moved)


def _shifted(pinned: Pinned, location: int) -> list[int]:
    return [k + 8 * (location - pinned.location) for k in pinned.keys]


def _covered(pinned: Pinned, location: int) -> list[int]:
    """The keys that nothing else may have then: spirv-val lets nothing into the Locations of a
    matrix or struct."""
    keys = _shifted(pinned, location)
    type = pinned.variable.type
    assert type is not None
    inner = type.args[0]
    while inner.op == ops.OpTypeArray:
        inner = inner.args[0]
    if inner.op in (ops.OpTypeMatrix, ops.OpTypeStruct):
        return [k + 2 * c for k in sorted({k & ~7 for k in keys}) for c in range(4)]
    return keys


def _base_of_whole(pinned: Pinned) -> str:
    type = pinned.variable.type
    assert type is not None
    scalar = type.args[0]
    while scalar.op in info.ELEMENT_TYPES:
        scalar = scalar.args[0]
    return base_of(scalar) if scalar.op in info.NUMBER_TYPES else "mixed"


def _qualifiers(link: Link, pinned: Pinned) -> tuple[int, ...]:
    """As the consumer declares them."""
    if pinned in link.inputs.pinned:
        return pinned.qualifiers
    twin = next((b for a, b in link.pinned() if a is pinned and b is not None), None)
    return twin.qualifiers if twin is not None else pinned.qualifiers


def _free_for(link: Link, bins: dict[int, Bin], pinned: Pinned, location: int) -> bool:
    qualifiers, base = _qualifiers(link, pinned), _base_of_whole(pinned)
    for key in _covered(pinned, location):
        bin = bins.get(key >> 3)
        if bin is None:
            continue
        if bin.components[key >> 1 & 3] != -1 or bin.qualifiers != qualifiers or bin.base != base:
            return False
    return True


def _block(
    link: Link, bins: dict[int, Bin], pinned: Pinned, location: int, moved: dict[Pinned, int]
) -> None:
    """Take the components of a whole variable."""
    moved[pinned] = location
    qualifiers, base = _qualifiers(link, pinned), _base_of_whole(pinned)
    for key in _covered(pinned, location):
        bin = bins.setdefault(key >> 3, Bin(key >> 3, qualifiers, base))
        if bin.base != base or bin.qualifiers != qualifiers:
            bin.base = "mixed"
        bin.components[key >> 1 & 3] = -2
