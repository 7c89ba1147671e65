"""Empty one Location into the holes of others.

There are four holes or more for at most three components, so that always succeeds, but it may tear
a vector over two Locations. The cost of a torn vector depends on its use:

    an image coordinate     a driver that reads it as a vector wants it in neighbouring registers:
                            Adreno adds moves to each lookup and interpolates each component
    another vector          nothing, if the code works on components (AMD, Adreno, NVIDIA)

So the choice is the Location whose vectors are torn least, and the emptiest of these: of xyz, xyz,
xyz and a coordinate xy it is one xyz. Among several such it is the first, which most shaders
compute first. A late one would wait with the early ones in neighbouring registers: RADV takes 24
VGPRs for the vertex shaders of Vulkan-Samples with a normal and two directions, and 36 if the last
is torn. An attribute that is only passed on is torn last, since it lies in neighbouring registers
already, and Adreno moves each part of it that does not. ``Options.pack`` limits the choice: by
default image coordinates are never torn, and ``--for`` some GPUs no vector is (``gpus``).
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.effects import FLAGS_OF
from spvlink.grammar import info, ops
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst, Module
from spvlink.ir.known import fact
from spvlink.link.border.link import Link
from spvlink.link.border.values import single_value
from spvlink.link.pack.bins import UINT, Bin, close_gap
from spvlink.pipeline import PACK_LOCATIONS, PACK_VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Places = list[tuple[int, Bin, int]]  # key, where it goes, component

_LOADS: Final = frozenset((LOAD_INPUT, INTERPOLATE))
_READS: Final = frozenset((ops.OpLoad, LOAD_INPUT))
_DEAR: Final = 4  # tears of other vectors that one of a coordinate is worth


def dissolve(
    link: Link, bins: dict[int, Bin], qualifiers: tuple[int, ...], width: str, flat: bool,
    fixed: frozenset[int],
) -> None:  # fmt: skip
    """Empty Locations of one kind into the holes of others as long as that saves one. ``width``: of
    their components, ``flat``: they may be cast, ``fixed``: bins (by their ids) that stay."""
    if width == "64":
        return  # scalars of 64 bits leave no holes that another could not have used
    while True:
        mine = [b for b in bins.values() if b.qualifiers == qualifiers and b.base.endswith(width)]
        # what fills one of them and its holes are four components together
        if sum([b.free() for b in mine]) < 4:
            return
        if not _dissolve_one(link, bins, mine, flat and width == "32", fixed):
            return


def _dissolve_one(
    link: Link, bins: dict[int, Bin], mine: list[Bin], cast: bool, fixed: frozenset[int]
) -> bool:
    """Dissolve one Location if it can be; same base type first, then by bit-casting."""
    for by_cast in (False, True) if cast else (False,):
        best: tuple[int, Bin, Places] | None = None
        for bin in sorted(mine, key=lambda b: (4 - b.free(), _as_it_came(link, b), b.location)):
            if -2 in bin.components or id(bin) in fixed:
                continue  # it holds a part of something whole, or comes before these
            others = [
                b
                for b in mine
                if b is not bin and (b.base == bin.base or (by_cast and -2 not in b.components))
            ]
            if sum([b.free() for b in others]) < 4 - bin.free():
                continue
            others.sort(key=lambda b: (b.base != bin.base, b.free(), b.location))
            torn, places = _spread(link, bin, others)
            if torn >= 0 and (best is None or torn < best[0]):
                best = torn, bin, places
        if best is not None:
            _, bin, places = best
            for key, target, at in places:
                target.components[at] = key
                if target.base != bin.base:
                    target.base = UINT
            del bins[bin.location]
            close_gap(bins, bin.location)
            return True
    return False


def _as_it_came(link: Link, bin: Bin) -> bool:
    """Whether a Location holds what the producer only hands on."""
    for key in bin.components:
        lane = (single_value(link, key), 0) if key >= 0 else (None, 0)
        while lane[0] is not None and lane[0].op in scalars.MOVES:
            moved = scalars.moved(lane[0])
            lane = moved[lane[1]] if moved is not None else (None, 0)
        if lane[0] is not None and lane[0].op in _READS:
            return True
    return False


def _spread(link: Link, bin: Bin, others: list[Bin]) -> tuple[int, Places]:
    """Where what a Location holds goes, and the price of what is torn for that; -1 if it may not
    be."""
    vectors: dict[int, list[int]] = {}
    for key in bin.components:
        if key >= 0:
            vectors.setdefault(link.group(key), []).append(key)
    read = coordinates(link)
    free = {b: [at for at in range(4) if b.components[at] == -1] for b in others}
    places: Places = []
    torn = 0
    for keys in sorted(vectors.values(), key=lambda keys: (read.isdisjoint(keys), -len(keys))):
        is_read = not read.isdisjoint(keys)
        rest = keys
        while rest:
            size, host, at = _hole(free, others, len(rest))
            if size < len(rest):
                if link.pack == PACK_VECTORS or (is_read and link.pack != PACK_LOCATIONS):
                    return -1, []
                torn += _DEAR if is_read else 1
            for n, key in enumerate(rest[:size]):
                places.append((key, host, at + n))
                free[host].remove(at + n)
            rest = rest[size:]
    return torn, places


def _hole(free: dict[Bin, list[int]], others: list[Bin], wanted: int) -> tuple[int, Bin, int]:
    """(size, Location, component) of the first hole that is large enough, or the largest."""
    for size in range(wanted, 0, -1):
        for host in others:
            for at in free[host]:
                if all(at + n in free[host] for n in range(size)):
                    return size, host, at
    raise AssertionError("there are holes enough")


def coordinates(link: Link) -> frozenset[int]:
    """The inputs that a consumer looks up images with as they are."""
    return fact(link.consumer.module, _coordinates, link.consumer.module.version)


def _coordinates(module: Module) -> frozenset[int]:
    assert module.entry is not None
    todo: list[Inst] = []
    for block in module.entry.function.blocks:
        todo += [i.args[1] for i in block.insts if FLAGS_OF[i.op] & info.COORDINATES]
    seen = set(todo)
    for inst in todo:  # grows
        if scalars.IS_MOVE[inst.op]:
            fresh = [a for a in inst.args if a not in seen]
            seen.update(fresh)
            todo += fresh
    return frozenset([i.imm[0] for i in todo if i.op in _LOADS])
