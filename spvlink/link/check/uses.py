"""Find the components of its interface variables that a stage reads and writes.

Nothing is optimized first: what the code names counts, in branches never taken too. An access whose
extent is not plain (a dynamic index, a pointer handed to a function) counts for all that it may
reach. So what is not read here is read by no means, and linking may drop it; linking itself looks
closer and finds more.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module
from spvlink.link.check import interface

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.link.check.interface import DeclaredVariable, Place

    # A variable, and the way into it: constant indices, None for one that is not constant.
    Path = tuple[int | None, ...]
    Part = tuple[Inst, Path]

_PARTS: Final = (ops.OpCompositeExtract, ops.OpCopyObject, ops.OpCopyLogical)
_BY_ELEMENT: Final = (ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain)
_INTERFACE: Final = (enums.StorageClass_Input, enums.StorageClass_Output)


class Uses:
    """``read`` and ``written``: the ways into each variable, () for all of it."""

    def __init__(self, module: Module, others: Sequence[Inst] = ()) -> None:
        """``others``: variables of other storage classes that are followed, too."""
        self.read: dict[Inst, set[Path]] = {}
        self.written: dict[Inst, set[Path]] = {}
        self._pointers: dict[Inst, Part] = {}
        self._values: dict[Inst, Part] = {}  # loaded, and not looked at as a whole yet
        assert module.entry is not None
        for variable in module.entry.inst.args[1:]:
            if variable.imm and variable.imm[0] in _INTERFACE:
                self._pointers[variable] = variable, ()
                self.read[variable], self.written[variable] = set(), set()
                if variable.args:  # an initializer
                    self.written[variable].add(())
        for variable in others:
            self._pointers[variable] = variable, ()
            self.read[variable], self.written[variable] = set(), set()
        for function in (module.entry.function, *Calls.of(module).functions):
            for block in function.blocks:
                for inst in block.insts:
                    self._note(inst)

    def _note(self, inst: Inst) -> None:
        op, args = inst.op, inst.args
        if not args:
            return
        first = args[0]
        if first in self._pointers:
            if IS_CHAIN[op] and op not in _BY_ELEMENT:
                variable, path = self._pointers[first]
                self._pointers[inst] = variable, path + tuple(map(_index, args[1:]))
                args = args[1:]
            elif op == ops.OpLoad:
                self._values[inst] = self._pointers[first]
                return
            elif op == ops.OpStore:
                self._all(self.written, self._pointers[first])
                args = args[1:]
            elif op == ops.OpCopyObject:
                self._pointers[inst] = self._pointers[first]
                return
        elif first in self._values and op in _PARTS:
            variable, path = self._values[first]
            self._values[inst] = variable, path + inst.imm
            return
        elif op == ops.OpVectorShuffle:
            self._shuffle(args, inst.imm)
            return
        for arg in args:
            if arg in self._values:
                self._all(self.read, self._values[arg])
            elif arg in self._pointers:  # who knows what is done with it
                self._all(self.read, self._pointers[arg])
                self._all(self.written, self._pointers[arg])

    @staticmethod
    def _all(paths: dict[Inst, set[Path]], part: Part) -> None:
        paths[part[0]].add(part[1])

    def _shuffle(self, args: list[Inst], chosen: tuple[int, ...]) -> None:
        """The components that OpVectorShuffle takes of its two vectors."""
        first = 0
        for arg in args:
            size = types.size_of(arg.type) if arg.type is not None else 0
            if arg in self._values:
                variable, path = self._values[arg]
                for at in chosen:
                    if first <= at < first + size:
                        self.read[variable].add((*path, at - first))
            first += size

    def reads(self, one: DeclaredVariable) -> set[Place]:
        """The components of a variable, or of a member of a block, that are read."""
        return _places(one, self.read[one.label.variable])

    def writes(self, one: DeclaredVariable) -> set[Place]:
        return _places(one, self.written[one.label.variable])

    def touches_member(self, variable: Inst, index: int, written: bool) -> bool:
        """Whether a member of a block of built-ins is read, or written; -1: the variable."""
        paths = (self.written if written else self.read)[variable]
        assert variable.type is not None
        outer = variable.type.args[0].op == ops.OpTypeArray and index >= 0
        return any(index < 0 or _member(path, outer) in (index, None) for path in paths)


def _index(value: Inst) -> int | None:
    return types.index_of(value)


def _member(path: Path, outer: bool) -> int | None:
    rest = path[1:] if outer else path
    return rest[0] if rest else None


def _places(one: DeclaredVariable, paths: set[Path]) -> set[Place]:
    """The components of one variable that these ways into it reach."""
    reached: set[Place] = set()
    label = one.label
    assert label.variable.type is not None
    whole = label.variable.type.args[0]
    outer = whole.op == ops.OpTypeArray if label.index >= 0 else one.type is not whole
    for path in paths:
        rest = path[1:] if outer else path
        if label.index >= 0 and rest:
            if rest[0] not in (label.index, None):
                continue
            rest = rest[1:]
        _reach(one.type, one.place, rest, reached, one)
    return reached & one.covers


def _reach(type: Inst, place: Place, path: Path, reached: set[Place], one: DeclaredVariable) -> int:
    """Add the components that a way into a type reaches; gives the Locations of the type."""
    op = type.op
    if not path or op not in (ops.OpTypeArray, ops.OpTypeMatrix, ops.OpTypeStruct):
        if path and op == ops.OpTypeVector and path[0] is not None:
            return _lane(type, place, path[0], reached, one)
        return interface.cover(type, place, reached, one.label, _pass_over)
    total = 0
    for at in range(min(types.size_of(type), interface.MOST)):
        hit = path[0] in (at, None)
        spot = place[0] + total, 0 if op == ops.OpTypeStruct else place[1]
        into = reached if hit else set()
        length = _reach(types.part_type(type, at), spot, path[1:] if hit else (), into, one)
        total += length
        if total > interface.MOST or (op != ops.OpTypeStruct and not length):
            break
    return total


def _lane(type: Inst, place: Place, lane: int, reached: set[Place], one: DeclaredVariable) -> int:
    """The same for one component of a vector."""
    scalar = type.args[0]
    words = 2 if scalar.imm and scalar.imm[0] == 64 else 1
    first = place[1] + lane * words
    for at in range(first, first + words):
        reached.add((place[0] + at // 4, at % 4))
    return 2 if types.size_of(type) * words > 4 else 1


def _pass_over(rule: str, label: object, place: object, message: str) -> None:
    """What is odd was told of where the variable was read."""
