"""What two pipelines must agree on to the bit, and all that it depends on.

``frozen``: what an Invariant output depends on. Two pipelines that share the expression of such an
output must compute the same bits, whatever their other stages are (Vulkan, "Invariance"; GLSL 4.60,
section 4.8.1: the same operations on the same operands in the same order, under the same control
flow). We cannot know the other pipeline, so nothing may come into such an expression, and nothing
in it is rewritten: only copies, dead code and the merging of equal operations touch it.

``settled``: the same, and what the rasterizer reads without that decoration: positions, depths,
distances, tessellation levels. Engines draw a depth pre-pass with the same vertex shader, compare
for equality, and forget ``invariant``. So no code crosses a border into or out of these either.
What their stage reads for them from the stage before is settled there too (``hold``).

A value depends on its operands; a value read from a variable depends on all stores to it and on
their conditions; a phi depends on the conditions that chose. A store depends on the conditions
around it, and on those of all early ends: discards and returns.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import root
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, LOAD_OUTPUT, STORE_OUTPUT, Block, Function, Inst, Module
from spvlink.ir.known import ALWAYS, fact, forget

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final

_CHOOSING: Final = info.DIVISIONS
_COPIES: Final = frozenset((ops.OpCopyMemory, ops.OpCopyMemorySized))
_EMITS: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.EMITS) | {
    ops.OpEndPrimitive, ops.OpEndStreamPrimitive,
}  # fmt: skip
_IMAGES: Final = frozenset((ops.OpLoad, ops.OpImageTexelPointer))  # between it and its variable
_AGGREGATES: Final = frozenset((ops.OpTypeArray, ops.OpTypeRuntimeArray, ops.OpTypeStruct))
_OWN: Final = frozenset(
    (
        enums.StorageClass_Function, enums.StorageClass_Private, enums.StorageClass_Workgroup,
        enums.StorageClass_Input, enums.StorageClass_Output,
        enums.StorageClass_TaskPayloadWorkgroupEXT,
    )
)  # fmt: skip
_CASTS: Final = frozenset((ops.OpConvertUToPtr, ops.OpBitcast))
_INTEGERS: Final = frozenset((ops.OpTypeInt, ops.OpTypeBool))
LOOSE, SETTLED, FROZEN = range(3)  # how much an output must stay as it is


def frozen(module: Module) -> set[Inst]:
    """The instructions of the entry point that an Invariant output depends on."""
    return fact(module, _find, module.version)[0] if fact(module, _decorated, ALWAYS)[0] else _NONE


def settled(module: Module) -> set[Inst]:
    """Those, and what positions, depths and the like depend on."""
    if module.settled_slots or module.settled_variables or fact(module, _decorated, ALWAYS)[1]:
        return fact(module, _find, module.version)[1]
    return _NONE


def rounds(inst: Inst) -> bool:
    """Whether a result is made of floats, so that a compiler may come to other bits."""
    for value in (inst, *inst.args):
        type = value.type
        while type is not None and types.IS_VECTOR[type.op]:
            type = type.args[0]
        if type is not None and type.op not in _INTEGERS:
            return True
    return False


def add_slots(module: Module, keys: Iterable[int]) -> None:
    """These slots of the outputs are Invariant."""
    module.invariant_slots |= frozenset(keys)
    forget(module, _find)


def hold(module: Module, keys: frozenset[int], variables: frozenset[Inst]) -> None:
    """The stage behind makes positions and the like of these outputs: slots by their keys, and
    variables that stay whole. Said once more whenever that stage has changed."""
    if keys != module.settled_slots or variables != module.settled_variables:
        module.settled_slots, module.settled_variables = keys, variables
        forget(module, _find)


_NONE: Final[set[Inst]] = set()


def _decorated(module: Module) -> tuple[bool, bool]:
    """Whether a module may have Invariant outputs, and any that stay settled. No pass brings the
    first one."""
    strict = loose = False
    for note in module.annotations:
        words = note.imm
        if not words:
            continue
        last = words[-1]
        if last == enums.Decoration_Invariant:  # or Location 18 and the like
            strict = True
        if len(words) > 1 and words[-2] == enums.Decoration_BuiltIn:
            loose |= last in info.FIXED_FUNCTION_OUTPUTS
    return strict, strict or loose


def _find(module: Module) -> tuple[set[Inst], set[Inst]]:
    """What is frozen, and what is settled."""
    uses = Dependences(module)
    if not uses.seeds[SETTLED] and not uses.seeds[FROZEN]:
        return _NONE, _NONE
    strict = uses.behind(uses.seeds[FROZEN]) if uses.seeds[FROZEN] else _NONE
    return strict, uses.behind([*uses.seeds[SETTLED], *uses.seeds[FROZEN]])


Seed = tuple[Inst, Block | None]  # a value that is stored, and where


class Dependences:
    """What values of a module depend on."""

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.module = module
        self.entry: Function = module.entry.function
        self.tables = Decorations.of(module)
        self.seeds: tuple[list[Seed], list[Seed], list[Seed]] = [], [], []  # by how much they stay
        self.written: dict[Inst, list[Seed]] = {}  # memory -> what is stored there, anywhere
        self.stored: dict[int, list[Seed]] = {}  # slot of an output -> the same
        self.phis: dict[Inst, Block] = {}
        self.emits: list[Block] = []
        self.calls: list[Seed] = []  # what goes into a function that stays, or comes out
        self.branches: list[Inst] = []  # conditions
        self.inside: dict[Block, list[Inst]] = {}  # header -> conditions in its construct
        self.ends: list[Block] = []
        for function in module.functions:
            self.scan(function)

    def scan(self, function: Function) -> None:
        own = function is self.entry
        for block in function.blocks:
            home = block if own else None
            for inst in block.insts:
                op = inst.op
                if op == ops.OpStore or op in _COPIES:
                    self.store(inst, home)
                elif op == STORE_OUTPUT:
                    level = SETTLED if inst.imm[0] in self.module.settled_slots else LOOSE
                    level = FROZEN if inst.imm[0] in self.module.invariant_slots else level
                    stored = [(a, home) for a in inst.args]
                    self.seeds[level].extend(stored)
                    self.stored.setdefault(inst.imm[0], []).extend(stored)
                elif op == ops.OpPhi:
                    self.phis[inst] = block
                elif op in _EMITS:
                    self.emits.append(block)
                elif op == ops.OpFunctionCall or op == ops.OpReturnValue:
                    self.calls += [(a, home) for a in inst.args]
                elif info.FLAGS.get(op, 0) & (info.ATOMIC | info.WRITES_MEMORY) and inst.args:
                    self.write(inst, home)
            end = block.terminator
            if end.op in _CHOOSING:
                self.branches.append(end.args[0])

    def write(self, inst: Inst, home: Block | None) -> None:
        at = root(inst.args[0])
        while at.op in _IMAGES:
            at = root(at.args[0])
        self.written.setdefault(self.memory(at), []).extend([(a, home) for a in inst.args[1:]])

    def memory(self, root: Inst) -> Inst:
        """What stands for the memory behind a root: a variable of the shader's own, or one for all
        buffers and images, of which several may be bound to the same bytes, or be pointed to."""
        own = root.op == ops.OpVariable and root.imm[0] in _OWN
        if own and root.imm[0] == enums.StorageClass_Workgroup and root.type is not None:
            block = (enums.Decoration_Block,)  # such blocks lie at the same bytes
            own = block not in self.tables.targets.get(root.type.args[0], ())
        return root if own else self.entry

    def store(self, inst: Inst, home: Block | None) -> None:
        self.write(inst, home)
        variable = root(inst.args[0])
        if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Output:
            return
        level = self.level(inst.args[0], variable)
        self.seeds[level].append((inst.args[1], home))
        pointer = inst.args[0]
        while pointer is not variable:  # the indices say which one it is
            self.seeds[level].extend([(a, home) for a in pointer.args[1:]])
            pointer = pointer.args[0]

    def level(self, pointer: Inst, variable: Inst) -> int:
        """How much what is stored in an output variable must stay."""
        words = decorations(self.tables, pointer)
        if any(w[0] == enums.Decoration_Invariant for w in words):
            return FROZEN
        if variable in self.module.settled_variables:
            return SETTLED
        wanted = info.FIXED_FUNCTION_OUTPUTS
        builtin = [w[1] for w in words if w[0] == enums.Decoration_BuiltIn]
        return SETTLED if not wanted.isdisjoint(builtin) else LOOSE

    def conditions(self, block: Block | None, phi: bool = False) -> list[Inst]:
        """What decides whether a block runs, or, for its phis, the way to it."""
        if not self.branches:
            return []
        if block is None:
            return self.branches  # of a function that stays
        structure = Structure.of(self.module, self.entry)
        if not self.inside:
            for at in self.entry.blocks:
                if at.terminator.op in _CHOOSING:
                    for header in [at, *structure.around(at)]:
                        self.inside.setdefault(header, []).append(at.terminator.args[0])
        headers = structure.around(block)
        if block in structure.loops:
            headers.append(block)
        merged = structure.header_of_merge.get(block)
        if phi and merged is not None:
            headers.append(merged)
        elif phi and block not in structure.loops:
            return self.branches  # not where structured control flow meets
        return [c for header in headers for c in self.inside.get(header, ())]

    def early(self) -> list[Inst]:
        """What decides whether an invocation ends before its last block."""
        if not self.branches:
            return []
        cfg = Cfg.of(self.module, self.entry)
        ends = [b for b in cfg.order if not b.successors()]
        return [c for b in ends for c in self.conditions(b)]

    def behind(self, seeds: list[Seed], ends: bool = True) -> set[Inst]:
        """All that these depend on. ``ends``: on whether an invocation ends early, too."""
        behind: set[Inst] = set()
        seen: set[Block | None] = set()
        todo: list[Inst] = self.early() if ends else []
        places = [*seeds, *self.calls, *[(b, b) for b in self.emits]]

        def place(value: Inst, home: Block | None) -> None:
            if value.op != ops.OpLabel:
                todo.append(value)
            if home not in seen:
                seen.add(home)
                todo.extend(self.conditions(home))

        for value, home in places:
            place(value, home)
        while todo:
            inst = todo.pop()
            if inst in behind or not inst.id or types.IS_CONSTANT[inst.op]:
                continue
            if inst.op in (ops.OpFunction, ops.OpLabel):
                continue
            behind.add(inst)
            todo += inst.args[::2] if inst.op == ops.OpPhi else inst.args
            if inst.op == ops.OpPhi:
                todo += self.conditions(self.phis.get(inst), True)
            elif inst.op == ops.OpVariable or is_address(inst):
                for value, home in self.written.get(self.memory(inst), ()):
                    place(value, home)
            elif inst.op == LOAD_OUTPUT:  # which another invocation may have stored
                for value, home in self.stored.get(inst.imm[0], ()):
                    place(value, home)
        return behind


def is_address(inst: Inst) -> bool:
    """Whether an instruction makes a pointer, perhaps to any buffer, of a number."""
    type = inst.type
    return type is not None and type.op == ops.OpTypePointer and inst.op in _CASTS


def decorations(tables: Decorations, pointer: Inst) -> list[tuple[int, ...]]:
    """The decorations of what a pointer leads to: of its variable, of each member on the way, and
    of all members below."""
    path: list[Inst] = []
    while IS_CHAIN[pointer.op]:
        path[:0] = pointer.args[1:]
        pointer = pointer.args[0]
    words = list(tables.targets.get(pointer, ()))
    if pointer.type is None or not pointer.type.args:
        return words
    type = pointer.type.args[0]
    for index in path:
        number = types.index_of(index)
        if type.op == ops.OpTypeStruct:
            if number is None:
                break
            words += tables.members.get((type, number), ())
            type = type.args[number]
        elif type.op in _AGGREGATES:
            type = type.args[0]
        else:
            return words
    todo = [type]
    for type in todo:  # grows
        if type.op == ops.OpTypeStruct:
            for number in range(len(type.args)):
                words += tables.members.get((type, number), ())
        if type.op in _AGGREGATES:
            todo += [a for a in type.args if a.op in _AGGREGATES]
    return words
