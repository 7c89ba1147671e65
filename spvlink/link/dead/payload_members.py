"""Remove payload struct members that nobody reads.

    task:  payload.rocks[i].place = p        mesh:  payload.rocks[k].place
           payload.rocks[i].debug = d
    ->     rocks is an array of structs without debug, in both stages

Why it is right. An array with a dynamic index stays whole (``lower_io``), and so would every member
of its elements. But a constant names each member, so the read members are known: those that a load
of either stage reaches by an access chain, or by extraction from a loaded element. Stores to the
others go, and both stages declare the struct anew without them. Loads and stores of whole elements
remain, with the smaller struct.

What breaks it. A use of the variable that is not understood: a function, a copy of the whole array,
an access chain without a constant where it enters the struct. The array stays as it is. An atomic
on a member reads it.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.decorations import Names
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CHAINS, Inst, Module, name_of, words_of
from spvlink.ir.edit import touched, value
from spvlink.ir.slot import Pinned
from spvlink.link.border.link import Link
from spvlink.passes.lowering.lower_io import keys_of_type
from spvlink.pipeline import REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

STORAGE: Final = enums.StorageClass_TaskPayloadWorkgroupEXT


class PayloadUses:
    """What a stage does with an array of structs; ``known`` is False if that is not understood."""

    def __init__(self, module: Module, variable: Inst) -> None:
        self.module = module
        self.variable = variable
        self.known = True
        self.members: dict[Inst, int] = {}  # access chains into a member
        self.elements: set[Inst] = set()  # access chains to an element
        self.loaded: set[Inst] = set()  # elements
        self.stores: list[tuple[Inst, int]] = []  # and the member, or -1 for a whole element
        self.read: set[int] = set()
        entry = module.entry
        assert entry is not None
        for function in module.functions:
            for block in function.blocks:
                for inst in block.insts:
                    self.look(inst, function is entry.function)
        for block in entry.function.blocks if self.loaded else ():
            for inst in block.insts:
                self.extracted(inst)

    def look(self, inst: Inst, in_entry: bool) -> None:
        for at, arg in enumerate(inst.args):
            if arg is self.variable:
                self.known &= in_entry and inst.op in CHAINS and self.enter(inst, inst.args[1:])
            elif arg in self.elements:
                self.element(inst, at)
            elif arg in self.members:
                self.member(inst, at, self.members[arg])

    def extracted(self, inst: Inst) -> None:
        """What is taken out of the elements that were loaded. A phi may stand before its operand,
        so this comes second."""
        for arg in inst.args:
            if arg in self.loaded:
                if inst.op == ops.OpCompositeExtract:
                    self.read.add(inst.imm[0])
                else:
                    self.known = False

    def enter(self, chain: Inst, path: list[Inst]) -> bool:
        """An access chain from the variable: to an element, or into a member of one."""
        if len(path) == 1:
            self.elements.add(chain)
            return True
        index = types.index_of(path[1]) if len(path) > 1 else None
        if index is None:
            return False
        self.members[chain] = index
        return True

    def element(self, inst: Inst, at: int) -> None:
        if inst.op == ops.OpLoad and not inst.imm:
            self.loaded.add(inst)
        elif inst.op == ops.OpStore and at == 0 and not inst.imm:
            self.stores.append((inst, -1))
        else:
            self.known = False

    def member(self, inst: Inst, at: int, index: int) -> None:
        if inst.op in CHAINS:
            self.members[inst] = index
        elif inst.op == ops.OpStore and at == 0:
            self.stores.append((inst, index))
        else:  # a load, an atomic, whatever: it is needed
            self.read.add(index)


def payload_members(link: Link) -> bool:
    """Take away what nobody reads; whether there was anything."""
    changed = False
    for out, twin in link.pinned():
        if twin is not None and _element(out.variable) is not None:
            changed |= _slim(link, out, twin)
    return changed


def _element(variable: Inst) -> Inst | None:
    """The struct that a variable is an array of."""
    assert variable.type is not None
    array = variable.type.args[0]
    if array.op != ops.OpTypeArray or array.args[0].op != ops.OpTypeStruct:
        return None
    return array.args[0]


def _slim(link: Link, out: Pinned, twin: Pinned) -> bool:
    struct = _element(out.variable)
    assert struct is not None
    sides = [
        PayloadUses(link.producer.module, out.variable),
        PayloadUses(link.consumer.module, twin.variable),
    ]
    read = sides[0].read | sides[1].read
    live = [n for n in range(len(struct.args)) if n in read]
    if not all(side.known for side in sides) or not live or len(live) == len(struct.args):
        return False
    names = Names(link.producer.module)
    dead = [names.of_member(struct, n) for n in range(len(struct.args)) if n not in read]
    for side in sides:
        _rebuild(side, live)
    assert out.variable.type is not None
    keys = keys_of_type(out.variable.type.args[0], out.location, 0, True)
    gone = [k for k in out.keys if k not in keys]
    for at, name in enumerate(dead):  # the report wants a key for each
        removed = Pinned(
            out.variable, out.location, 0, gone[at : at + 1], (), f"{out.name}[].{name}", "", False
        )
        link.gone.append(removed)
        link.remarks.fate[gone[at]] = (REMOVED, f"the {link.consumer.name} stage does not read it")
    out.keys, twin.keys = keys, list(keys)
    return True


def _rebuild(side: PayloadUses, live: list[int]) -> None:
    """Declare the array without the dead members, and everything that goes into it by the new
    numbers."""
    module, variable = side.module, side.variable
    assert variable.type is not None and module.entry is not None
    array = variable.type.args[0]
    old = array.args[0]
    struct = value(module, ops.OpTypeStruct, None, [old.args[n] for n in live], ())
    module.globals.append(struct)
    _name(module, old, struct, live)
    new_array = types.make(module, ops.OpTypeArray, None, [struct, array.args[1]], ())
    variable.type = types.pointer(module, STORAGE, new_array)
    module.globals.remove(variable)
    module.globals.append(variable)  # behind its type
    number = types.integer(module, 32, True)
    renumbered = {n: at for at, n in enumerate(live)}
    for chain in side.elements:
        chain.type = types.pointer(module, STORAGE, struct)
    for chain, index in side.members.items():
        if chain.args[0] is variable and index in renumbered:
            at = types.constant(module, number, renumbered[index])
            chain.args = [*chain.args[:2], at, *chain.args[3:]]
    dead = {store for store, index in side.stores if index >= 0 and index not in renumbered}
    dead |= {c for c, index in side.members.items() if index not in renumbered}
    whole = {store for store, index in side.stores if index < 0}
    for block in module.entry.function.blocks:
        insts: list[Inst] = []
        for inst in block.insts:
            if inst in dead:
                continue
            if inst in whole:
                inst.args = [inst.args[0], _smaller(module, inst.args[1], struct, live, insts)]
            elif inst in side.loaded:
                inst.type = struct
            elif inst.op == ops.OpCompositeExtract and inst.args[0] in side.loaded:
                inst.imm = (renumbered[inst.imm[0]], *inst.imm[1:])
            insts.append(inst)
        block.insts = insts
    touched(module)


def _smaller(module: Module, whole: Inst, struct: Inst, live: list[int], out: list[Inst]) -> Inst:
    """The live members of a struct's value as a value of the new struct."""
    parts = [
        value(module, ops.OpCompositeExtract, type, [whole], (n,))
        for type, n in zip(struct.args, live)
    ]
    out += parts
    out.append(value(module, ops.OpCompositeConstruct, struct, list(parts), ()))
    return out[-1]


def _name(module: Module, old: Inst, new: Inst, live: list[int]) -> None:
    names = Names(module)
    if names.of(old):
        module.names.append(name_of(ops.OpName, new, words_of(names.of(old))))
    for at, n in enumerate(live):
        words = (at, *words_of(names.of_member(old, n)))
        module.names.append(name_of(ops.OpMemberName, new, words))
