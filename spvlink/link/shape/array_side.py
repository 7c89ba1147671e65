"""Find the accesses of one stage to an array that stays whole, and the elements that they reach."""

from __future__ import annotations

from itertools import product

from spvlink.facts.index_values import IndexValues
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Block, Inst, Module
from spvlink.ir.slot import Pinned
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.dead.unused_arrays import accesses

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Path = tuple[int, ...]  # constant indices from a variable down to a part of it
    Part = tuple[Inst, Path]  # a part of a value

_NODES: Final = info.NESTED_TYPES
# Consumers whose inputs are arrays over the vertices.
_ARRAYED: Final = frozenset(("tesc", "tese", "geom"))


class ArraySide:
    """What one stage does with an array that stays whole. ``arrayed``: there is one for each vertex
    or primitive, which the first index names."""

    def __init__(self, stage: Stage, variable: Inst, arrayed: bool = False) -> None:
        self.stage = stage
        self.variable = variable
        self.arrayed = arrayed
        assert variable.type is not None
        self.whole = variable.type.args[0]
        self.type = self.whole.args[0] if arrayed else self.whole
        self.known = False  # whether all that is done with it is seen
        self.chains: list[Inst] = []
        self.loads: list[Inst] = []
        self.stores: list[Inst] = []
        may = plain(self.whole) and not types.is_borrowed(stage.module, self.whole)
        uses = accesses(stage, variable, called=True) if may else None
        if uses is not None:
            self.known = True
            self.chains, self.loads, self.stores = uses
        self.dynamic = any(None in self.indices(chain) for chain in self.chains)

    def steps(self, pointer: Inst) -> list[Inst]:
        """The indices that lead from the array to a pointer."""
        indices: list[Inst] = []
        while IS_CHAIN[pointer.op]:
            indices = pointer.args[1:] + indices
            pointer = pointer.args[0]
        return indices[1:] if self.arrayed else indices

    def indices(self, pointer: Inst) -> list[int | None]:
        """Their numbers; None for a dynamic one."""
        return [types.index_of(step) for step in self.steps(pointer)]

    def path(self, pointer: Inst) -> Path:
        """The same, where all are constant."""
        return tuple(n for n in self.indices(pointer) if n is not None)


def sides_of(link: Link, out: Pinned, twin: Pinned) -> tuple[ArraySide, ArraySide]:
    """What both stages do with an array."""
    patch = enums.Decoration_Patch in twin.qualifiers
    return (
        ArraySide(link.producer, out.variable, link.in_place and not patch),
        ArraySide(link.consumer, twin.variable, link.consumer.name in _ARRAYED and not patch),
    )


def part_of(module: Module, whole: Inst, path: Path) -> Part:
    """A part of a value, seen through constructs and constants."""
    while path:
        if whole.op == ops.OpCompositeConstruct:
            assert whole.type is not None
            if whole.type.op == ops.OpTypeVector:
                return lanes_of(whole)[path[0]]
            whole = whole.args[path[0]]
        else:
            parts = types.parts_of(module, whole)
            if parts is None:
                break
            whole = parts[path[0]]
        path = path[1:]
    return whole, path


def lanes_of(construct: Inst) -> list[Part]:
    """What the components of a vector are that is put together of scalars and vectors."""
    parts: list[Part] = []
    for arg in construct.args:
        size = types.size_of(arg.type) if arg.type is not None else 0
        parts += [(arg, (n,)) for n in range(size)] or [(arg, ())]
    return parts


class Reach:
    """The components that the accesses of a side may name."""

    def __init__(self, side: ArraySide) -> None:
        self.side = side
        module = side.stage.module
        assert module.entry is not None
        self.values = IndexValues(module)
        self.blocks = module.entry.function.blocks

    def paths(self, pointer: Inst, block: Block) -> list[Path]:
        """The parts that a pointer, used in a block, may point to."""
        type, ways = self.side.type, list[list[int]]()
        for step in self.side.steps(pointer):
            number = types.index_of(step)
            size = types.size_of(type)
            ways.append(
                sorted(self.values.elements(step, block, size)) if number is None else [number]
            )
            type = type.args[0]
        return list(product(*ways))

    def read(self) -> set[Path]:
        """What is loaded, and of that what anything is made of."""
        side = self.side
        users: dict[Inst, list[Inst]] = {load: [] for load in side.loads}
        for block in self.blocks:
            for inst in block.insts:
                for arg in inst.args:
                    if arg in users:
                        users[arg].append(inst)
        live: set[Path] = set()
        for block in self.blocks:
            for load in block.insts:
                if load not in users:
                    continue
                pointer = load.args[1] if load.op == ops.OpExtInst else load.args[0]
                over = self.side.arrayed and pointer is side.variable  # all vertices at once
                for path in self.paths(pointer, block):
                    for user in users[load]:
                        for taken in _taken(user, load):
                            part = path + (taken[1:] if over else taken)
                            live.update(components(side.type, part))
        return live

    def stored(self) -> set[Path]:
        """What is stored to, or has a value to begin with."""
        side = self.side
        if side.variable.args:
            return set(components(side.type))
        stores = set(side.stores)
        paths: set[Path] = set()
        for block in self.blocks:
            for store in block.insts:
                if store in stores:
                    for path in self.paths(store.args[0], block):
                        paths.update(components(side.type, path))
        return paths


def _taken(user: Inst, value: Inst) -> list[Path]:
    """The parts of a value that an instruction uses."""
    if user.op == ops.OpCompositeExtract:
        return [user.imm]
    if user.op != ops.OpVectorShuffle:
        return [()]
    size, taken = types.lanes_of(user.args[0].type), set[int]()
    for lane in user.imm:
        if lane < size and user.args[0] is value:
            taken.add(lane)
        elif size <= lane < 0xFFFFFFFF and user.args[1] is value:
            taken.add(lane - size)
    return [(lane,) for lane in sorted(taken)]


def plain(type: Inst) -> bool:
    """Whether a type is made of arrays, matrices and vectors of known size alone."""
    while type.op in _NODES:
        if not types.size_of(type):
            return False
        type = type.args[0]
    return type.op in (ops.OpTypeVector, ops.OpTypeInt, ops.OpTypeFloat)


def components(type: Inst, path: Path = ()) -> list[Path]:
    """The paths of all scalars of a type below ``path``."""
    for _ in path:
        type = type.args[0]
    paths = [path]
    while type.op in _NODES or type.op == ops.OpTypeVector:
        paths = [(*p, n) for p in paths for n in range(types.size_of(type))]
        type = type.args[0]
    return paths


def shape(type: Inst) -> list[int]:
    """Sizes from the outside in, then what the scalar is: the same for equal types of two
    modules, signedness apart."""
    sizes: list[int] = []
    while type.op in _NODES or type.op == ops.OpTypeVector:
        sizes += [type.op, types.size_of(type)]
        type = type.args[0]
    return [*sizes, type.op, type.imm[0]]


def word_count(type: Inst) -> int:
    """32-bit components of a type."""
    count = len(components(type))
    while type.op in _NODES or type.op == ops.OpTypeVector:
        type = type.args[0]
    return count * (2 if type.imm[0] == 64 else 1)


def vectors(type: Inst) -> list[Path]:
    """The paths of all vectors of a type, or of its scalars where these are in none."""
    paths: list[Path] = [()]
    while type.op in _NODES:
        paths = [(*p, n) for p in paths for n in range(types.size_of(type))]
        type = type.args[0]
    return paths
