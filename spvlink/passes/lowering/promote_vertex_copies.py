"""Read a local copy of per-vertex inputs, with a dynamic index, from the inputs themselves.

    %all = OpLoad %array %in                    (in slots: one LOAD_INPUT a vertex and component)
    OpStore %copy %all
    %p = OpAccessChain %ptr %copy %i %int_1
    %x = OpLoad %float %p                 ->    %x = LOAD_INPUT %i 10

A function with an array parameter gets such a copy. HLSL's InputPatch and geometry inputs are
arrays of structs that are filled from several variables. The copy would keep every component of
every vertex alive.

Why it is right. An input never changes. If each element of the copy holds the same components of
its own vertex, element ``i`` is read from vertex ``i``.

What breaks it. A store after a load, on another path, or of another value; two stores to one part;
an element of another vertex; a load of the whole copy: the copy stays.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, LOAD_INPUT, Block, Function, Inst, Module
from spvlink.ir.edit import become, sweep, value
from spvlink.ir.types import NUMBERS
from spvlink.passes.cleaning.vectors import origin
from spvlink.passes.lowering.memory_access import is_volatile

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Access = tuple[Block, int, Inst, list[Inst]]  # where, the load or store, its indices


def promote_vertex_copies(module: Module, function: Function) -> bool:
    """Read the inputs in place of such copies, in code whose inputs are slots; whether there was
    any."""
    copies = {v: _Copy(v) for v in function.blocks[0].insts if _is_array(v)}
    if not copies:
        return False
    _gather(function, copies)
    cfg = Cfg.of(module, function)
    before: dict[Inst, list[Inst]] = {}
    for copy in copies.values():
        if not copy.whole and copy.loads and copy.is_full() and copy.come_first(cfg):
            made: dict[Inst, list[Inst]] = {}
            if copy.read(module, made):
                before.update(made)
    if not before:
        return False
    for block in function.blocks:
        block.insts = [i for inst in block.insts for i in (*before.get(inst, ()), inst)]
    sweep(module, function)
    return True


def _is_array(inst: Inst) -> bool:
    if inst.op != ops.OpVariable or inst.args or inst.type is None:
        return False
    pointee = inst.type.args[0]
    return pointee.op == ops.OpTypeArray and types.size_of(pointee) > 0


def _gather(function: Function, copies: dict[Inst, _Copy]) -> None:
    """All loads and stores of the arrays; those that are used otherwise are none of ours."""
    pointers: dict[Inst, tuple[_Copy, list[Inst]]] = {v: (c, []) for v, c in copies.items()}
    for block in function.blocks:
        for at, inst in enumerate(block.insts):
            for place, arg in enumerate(inst.args):
                if arg not in pointers:
                    continue
                copy, indices = pointers[arg]
                plain = place == 0 and not (inst.imm and is_volatile(inst.imm))
                if plain and IS_CHAIN[inst.op]:
                    pointers[inst] = copy, indices + inst.args[1:]
                elif plain and inst.op == ops.OpLoad:
                    copy.loads.append((block, at, inst, indices))
                elif plain and inst.op == ops.OpStore:
                    copy.stores.append((block, at, inst, indices))
                else:
                    copy.whole = True


class _Copy:
    """A local array and what is done with it."""

    def __init__(self, variable: Inst) -> None:
        assert variable.type is not None
        self.type = variable.type.args[0]
        self.loads: list[Access] = []
        self.stores: list[Access] = []
        self.whole = False  # it is used as something else than elements
        self.stored: dict[tuple[int, ...], Inst] = {}  # path -> value

    def is_full(self) -> bool:
        """Whether all stores are to parts that are known, each stored once."""
        for _, _, store, indices in self.stores:
            path: list[int] = []
            for index in indices:
                number = types.index_of(index)
                if number is None:
                    return False
                path.append(number)
            self.stored[tuple(path)] = store.args[1]
        if len(self.stored) < len(self.stores):
            return False
        return not any(p[:n] in self.stored for p in self.stored for n in range(len(p)))

    def come_first(self, cfg: Cfg) -> bool:
        """Whether all stores come before all loads."""
        return all(
            (at < place) if block is there else cfg.dominates(block, there)
            for block, at, _, _ in self.stores
            for there, place, _, _ in self.loads
        )

    def read(self, module: Module, made: dict[Inst, list[Inst]]) -> bool:
        """Read the inputs in place of all loads; ``made``: what comes before each."""
        parts: dict[Inst, Inst] = {}
        for _, _, load, indices in self.loads:
            path = [types.index_of(index) for index in indices[1:]]
            known = [number for number in path if number is not None]
            if not indices or len(known) < len(path) or load.type is None:
                return False
            part = self.part(module, load.type, known, indices[0], made.setdefault(load, []))
            if part is None:
                return False
            parts[load] = part
        for load, part in parts.items():
            become(module, load, part)
        return True

    def part(
        self, module: Module, type: Inst, path: list[int], vertex: Inst, out: list[Inst]
    ) -> Inst | None:
        """The part of an element at ``path``, read from the inputs of a vertex; None if it is
        something else."""
        if type.op in NUMBERS:
            return self.scalar(module, path, vertex, out)
        parts: list[Inst] = []
        for index in range(types.size_of(type)):
            made = self.part(module, types.part_type(type, index), [*path, index], vertex, out)
            if made is None:
                return None
            parts.append(made)
        if not parts:
            return None
        out.append(value(module, ops.OpCompositeConstruct, type, parts, ()))
        return out[-1]

    def scalar(self, module: Module, path: list[int], vertex: Inst, out: list[Inst]) -> Inst | None:
        """One number of an element: a load of the same input in all of them, or one constant."""
        first: Inst | None = None
        for number in range(types.size_of(self.type)):
            component = self.component_at(module, (number, *path))
            if component is None:
                return None
            first = first or component
            if component.op != LOAD_INPUT:
                if component is not first or component.op not in types.CONSTANTS:
                    return None
            elif (
                first.op != LOAD_INPUT
                or component.imm != first.imm
                or len(component.args) != 1
                or types.index_of(component.args[0]) != number
            ):
                return None
        if first is None or first.op != LOAD_INPUT:
            return first
        out.append(value(module, LOAD_INPUT, first.type, [vertex], first.imm))
        return out[-1]

    def component_at(self, module: Module, path: tuple[int, ...]) -> Inst | None:
        """What was stored to one number."""
        for size in range(len(path) + 1):
            stored = self.stored.get(path[:size])
            if stored is not None:
                source, rest = origin(module, stored, path[size:])
                return None if rest else source
        return None
