"""Unroll loops that index arrays of varyings, where that splits the arrays.

    VS  for (i = 0; i < 8; ++i) w[i] = f(i)        w[0] = f(0); w[1] = f(1); ...
    FS  for (i = 0; i < 8; ++i) s += g(w[i])  ->   s += g(w[0]); s += g(w[1]); ...

An array with a dynamic index stays whole, on both sides, with a Location for each element. If the
counters of loops with known rounds (``facts/trip_counts``) make all such indices, unrolling turns
them into constants, and the array becomes slots like any other.

Why it is right. Every invocation that enters such a loop runs each round, so the unrolled code
executes barriers, derivatives and subgroup operations with the same invocations.

What breaks it. A position that depends on the loop: a depth pre-pass with the same shader keeps the
loop, and the positions must agree to the bit. Such loops stay.

Cost. Code size: at most ``MOST_ADDED`` instructions for one array in a stage. The pass runs only if
it gains something: a component that is not read or not stored, one that is equal in each round or
made of the counter alone, or fewer Locations. Drivers unroll such loops themselves, more so if the
index names a varying.
"""

from __future__ import annotations

from spvlink.facts import invariant, trip_counts
from spvlink.facts.trip_counts import CountedLoop
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Block, Inst
from spvlink.ir.slot import DYNAMIC, OTHER_SIDE, Pinned
from spvlink.link.border.link import Link
from spvlink.link.shape.array_side import (
    ArraySide,
    Reach,
    components,
    part_of,
    shape,
    sides_of,
    vectors,
    word_count,
)
from spvlink.passes.cleaning import attributes, unroll_loop
from spvlink.pipeline import PACK_VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    from spvlink.link.shape.array_side import Path

    Loops = dict[Block, CountedLoop]

MOST_ADDED: Final = 512  # instructions, to one stage for one array
_WORDS: Final = 4  # of a Location
_MOST_LOOKS: Final = 64  # at instructions, for one value


def unroll_loops(link: Link, packs: bool, moves: bool, exact: bool, limit: int) -> bool:
    """Unroll the loops over one array; whether that was done. ``packs``: components of several
    elements may share a Location; ``moves``: constants may; ``exact``: none that is interpolated;
    ``limit``: --cost-limit, in percent."""
    for out, twin in link.pinned():
        if twin is None or not _by_index(out) or not _by_index(twin):
            continue
        producer, consumer = sides_of(link, out, twin)
        if not producer.known or not consumer.known or shape(producer.type) != shape(consumer.type):
            continue
        most = MOST_ADDED * limit // 100
        here, there = _loops(producer, most), _loops(consumer, most)
        if here is None or there is None or not (here or there):
            continue
        constants = moves and (link.carries_bits(twin) or not exact)
        room = _room(producer, link.pack == PACK_VECTORS) if packs else 0
        if _gains(producer, consumer, here, room, constants):
            _unroll(producer, here)
            _unroll(consumer, there)
            return True
    return False


def _by_index(pinned: Pinned) -> bool:
    """Whether dynamic indices are all that keeps a variable whole, here or on the other side."""
    return not pinned.pins & ~(DYNAMIC | OTHER_SIDE) and pinned.pins & DYNAMIC != 0


def _loops(side: ArraySide, most: int) -> Loops | None:
    """The loops that have to be unrolled, none if no index is dynamic; None if that would not do,
    or is too much."""
    if not side.dynamic:
        return {}
    module = side.stage.module
    assert module.entry is not None
    every, wanted = trip_counts.counted_loops(module, module.entry.function), set[Block]()
    counters = trip_counts.counters_of(every)
    for chain in side.chains:
        for step in side.steps(chain):
            if types.index_of(step) is None:
                used = trip_counts.made_of(step, counters)
                if used is None:
                    return None
                wanted |= used
    loops = {header: loop for header, loop in every.items() if header in wanted}
    settled = invariant.settled(module)
    weights: dict[Block, int] = {}
    for loop in loops.values():
        for block in loop.blocks:
            if any(inst in settled and invariant.rounds(inst) for inst in block.insts):
                return None
            weights[block] = weights.get(block, len(block.insts)) * len(loop.rounds)
    added = sum(weights.values()) - sum([len(block.insts) for block in weights])
    return loops if added <= most else None


def _unroll(side: ArraySide, loops: Loops) -> None:
    """Unroll, from the inside out."""
    module = side.stage.module
    assert module.entry is not None
    function = module.entry.function
    for header in sorted(loops, key=lambda h: len(loops[h].blocks)):
        loop = trip_counts.counted_loops(module, function).get(header)
        if loop is not None:
            unroll_loop.unroll_loop(module, function, loop)
    if side.stage.name == "vert":
        attributes.read_attributes_once(module)  # what the counters named are components now


# -- what comes of it ------------------------------------------------------------------------------


def _gains(
    producer: ArraySide, consumer: ArraySide, loops: Loops, room: int, constants: bool
) -> bool:
    """Whether fewer components cross, or in fewer Locations. ``room``: words that one may hold, 0
    if elements share none."""
    every = components(producer.type)
    live = Reach(consumer).read() & Reach(producer).stored()
    left = len(live) - _known(producer, loops, live, constants)
    if left < len(every):
        return True
    words = left * (word_count(producer.type) // len(every))
    return room > 0 and -(-words // room) < _locations(producer.type)


def _room(side: ArraySide, whole: bool) -> int:
    """Words of elements that a Location holds. ``whole``: no vector is split."""
    size = word_count(side.type) // len(vectors(side.type))
    return _WORDS // size * size if whole and size < _WORDS else _WORDS


def _locations(type: Inst) -> int:
    """How many an array takes as it is."""
    columns = len(vectors(type))
    return columns * (2 if word_count(type) > _WORDS * columns else 1)


def _known(side: ArraySide, loops: Loops, live: set[Path], constants: bool) -> int:
    """How many of these components need not cross: they are constant, or as another one."""
    module = side.stage.module
    assert module.entry is not None
    reach, stores = Reach(side), set(side.stores)
    values = _Values(loops)
    names_of: dict[Path, set[object]] = {path: set() for path in live}
    for block in module.entry.function.blocks:
        for store in block.insts:
            if store not in stores:
                continue
            for path in reach.paths(store.args[0], block):
                for leaf in components(side.type, path):
                    if leaf in names_of:
                        part = part_of(module, store.args[1], leaf[len(path) :])
                        names_of[leaf].add(values.named(part[0], part[1], leaf))
    total, seen = 0, set[object]()
    for names in names_of.values():
        if len(names) == 1:
            (name,) = names
            total += name in seen or (constants and name is None)
            seen.add(name)
    return total


class _Values:
    """What is stored in loops, once these are unrolled."""

    def __init__(self, loops: Loops) -> None:
        blocks = [block for loop in loops.values() for block in loop.blocks]
        self.inside = {inst for block in blocks for inst in block.insts}
        self.counters = {phi for loop in loops.values() for phi in loop.rounds[0]}

    def named(self, value: Inst, part: Path, leaf: Path) -> object:
        """A name for the part of a value that is stored in a component of the array: None if it is
        constant, another one for each component unless it is the same in each round."""
        if self.is_constant(value):
            return None
        return (value, part) if self.is_same(value) else (value, part, leaf)

    def is_constant(self, value: Inst) -> bool:
        """Whether a value is made of counters and constants."""
        return _made_of(value, lambda i: i in self.counters or i.op in types.CONSTANTS)

    def is_same(self, value: Inst) -> bool:
        """Whether a value is the same in each round: made outside of the loops, of what is, or of
        inputs."""
        return _made_of(value, lambda i: i not in self.inside or _is_input(i))


def _made_of(value: Inst, leaf: Callable[[Inst], bool]) -> bool:
    """Whether pure operations make a value of such leaves alone."""
    todo = [value]
    for inst in todo:  # grows
        if leaf(inst):
            continue
        pure = inst.op == ops.OpExtInst or info.FLAGS.get(inst.op, 0) & info.PURE
        if not pure or inst.op == ops.OpPhi or len(todo) > _MOST_LOOKS:
            return False
        todo += inst.args
    return True


def _is_input(inst: Inst) -> bool:
    """Whether an instruction loads an input, or a part of one that constants name."""
    if inst.op != ops.OpLoad or inst.imm:
        return False
    pointer = inst.args[0]
    while IS_CHAIN[pointer.op]:
        if any(types.index_of(step) is None for step in pointer.args[1:]):
            return False
        pointer = pointer.args[0]
    return pointer.op == ops.OpVariable and pointer.imm[0] == enums.StorageClass_Input
