"""Whether code goes on as it did when some of its inputs have other values.

Code that nobody needs the result of still runs where a stage goes out as it came, or in a shell
(``passes/raising/interface_wrapper``). An input that only such code reads may go, and is something
else then: zero, or whatever is there. That must not become an access through no address, a
division by zero, an index out of bounds, a loop without an end. Followed from the inputs:

    values      made of them, lane by lane; by way of variables, parameters and results, too
    conditions  of a branch: what runs for them may not have run before, or no longer does, so what
                it stores and what phis choose behind it are others, too

``any_value`` in ``semantics.toml`` says which operands may be anything. What is not listed there
relies on all of its operands, and on being run just where it was.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.facts.live_lanes import needs
from spvlink.grammar import info, ops
from spvlink.grammar.enums import (
    StorageClass_Function,
    StorageClass_Input,
    StorageClass_Output,
    StorageClass_Private,
)
from spvlink.ir import types
from spvlink.ir.core import ALL, CHAINS, IS_CHAIN, Block, Function, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Place = tuple[Inst, int]  # a variable or parameter, and the first lane; -1 if it is not known

# of this invocation alone: an access at a constant place goes on wherever it runs
_OWN: Final = frozenset(
    (StorageClass_Function, StorageClass_Private, StorageClass_Input, StorageClass_Output)
)
_CHOOSING: Final = (ops.OpBranchConditional, ops.OpSwitch)


def relies(module: Module, changed: dict[Inst, int]) -> bool:
    """Whether anything relies on what these variables hold: variable -> lanes (bits of a number)
    that are others than they were; ALL where lanes are not told apart."""
    return _Reliance(module, changed).run()


class _Relied(Exception):
    """Something does."""


class _Reliance:
    def __init__(self, module: Module, changed: dict[Inst, int]) -> None:
        self.effects = Effects.of(module)
        self.functions = module.functions
        self.held = dict(changed)  # variable or parameter -> the lanes of what it holds
        self.values: dict[Inst, int] = {}  # value -> the lanes that are others
        self.same: dict[Inst, Inst] = {}  # parameter -> what it points to
        self.blocks: set[Block] = set()  # that may run where they did not
        self.forks: set[Block] = set()  # whose branch may go another way
        self.again = True

    def run(self) -> bool:
        try:
            while self.again:
                self.again = False
                for function in self.functions:
                    for block in function.blocks:
                        self.walk(function, block)
        except _Relied:
            return True
        return False

    def walk(self, function: Function, block: Block) -> None:
        inside = block in self.blocks
        for inst in block.insts:
            if not inst.args:
                if inside:
                    self.runs(inst)
                continue
            if inst.op == ops.OpExtInst and inst.args[0] in self.effects.nonsemantic:
                continue
            lanes = self.lanes(inst, function, block)
            if lanes and inst.id:
                self.mark(self.values, inst, lanes)
            if inside:
                self.runs(inst)
        end = block.terminator
        if end.op in _CHOOSING and self.values.get(end.args[0]) and block not in self.forks:
            self.forks.add(block)
            self.blocks |= decided(block)
            self.again = True

    def mark(self, table: dict[Inst, int], inst: Inst, lanes: int) -> None:
        before = table.get(inst, 0)
        if before | lanes != before:
            table[inst] = before | lanes
            self.again = True

    def runs(self, inst: Inst) -> None:
        """Raises _Relied for what may not run where it did not."""
        op = inst.op
        if self.effects.flags(inst) & (info.SPECULATABLE | info.DEBUG):
            return
        if info.ANY_VALUE.get(op, 0) == -1 or op in (ops.OpLine, ops.OpNoLine):
            return
        if (op == ops.OpLoad or op == ops.OpStore) and self.is_own(inst.args[0]):
            return
        if not (IS_CHAIN[op] and all(types.index_of(i) is not None for i in inst.args[1:])):
            raise _Relied

    def is_own(self, pointer: Inst) -> bool:
        """Whether a pointer leads to a constant place in a variable of this invocation."""
        type = pointer.type
        while pointer.op in CHAINS:
            if any(types.index_of(index) is None for index in pointer.args[1:]):
                return False
            pointer = pointer.args[0]
        if pointer.op not in (ops.OpVariable, ops.OpFunctionParameter) or type is None:
            return False
        return type.op == ops.OpTypePointer and type.imm[0] in _OWN

    def lanes(self, inst: Inst, function: Function, block: Block) -> int:
        """The lanes of a result that are others. Raises _Relied."""
        op, args = inst.op, inst.args
        given = 0
        for at, arg in enumerate(args):
            if arg in self.values:
                given |= 1 << at
        if op == ops.OpPhi:
            return self.phi(inst)
        if given and not self.effects.flags(inst) & info.SPECULATABLE:
            if given & ~info.ANY_VALUE.get(op, 0):
                raise _Relied
        if op == ops.OpLoad:
            return self.load(inst, args[0])
        if self.effects.flags(inst) & info.INTERPOLATE:
            return self.load(inst, args[1])
        if op == ops.OpStore:
            inside = block in self.blocks
            self.store(args[0], ALL if inside else self.values.get(args[1], 0), args[1])
            return 0
        if op == ops.OpFunctionCall:
            return self.call(inst, block in self.blocks)
        if op == ops.OpReturnValue:
            self.mark(self.values, function, self.values.get(args[0], 0))
            if block in self.blocks:
                self.mark(self.values, function, ALL)
            return 0
        return self.made(inst) if given else self.written(inst)

    def written(self, inst: Inst) -> int:
        """Of what takes no other values: whether it reads what holds some by a pointer that it is
        given, and nobody here knows how. ``place`` follows chains and copies."""
        if IS_CHAIN[inst.op] or inst.op == ops.OpCopyObject or not self.held:
            return 0
        if any(arg.type is not None and self.held.get(self.place(arg)[0]) for arg in inst.args):
            raise _Relied
        return 0

    def made(self, inst: Inst) -> int:
        """Of an operation."""
        size = types.lanes_of(inst.type)
        if not size or (size == 1 and inst.op != ops.OpCompositeExtract):
            return ALL
        values = self.values
        if inst.op == ops.OpVectorShuffle:
            first = types.lanes_of(inst.args[0].type)
            both = values.get(inst.args[0], 0) & ((1 << first) - 1)
            both |= values.get(inst.args[1], 0) << first
            return sum([1 << n for n, of in enumerate(inst.imm) if of < 64 and both >> of & 1])
        lanes = 0
        if self.effects.flags(inst) & info.LANEWISE:
            for arg in inst.args:
                own = values.get(arg, 0)
                lanes |= ALL if own and types.lanes_of(arg.type) != size else own
            return lanes
        for lane in range(size):
            if any(values.get(arg, 0) & part for arg, part in needs(inst, 1 << lane)):
                lanes |= 1 << lane
        return ALL if lanes and size == 1 else lanes

    def phi(self, phi: Inst) -> int:
        lanes = 0
        for at in range(0, len(phi.args), 2):
            lanes |= self.values.get(phi.args[at], 0)
            source = phi.args[at + 1]
            assert isinstance(source, Block)
            if source in self.blocks or source in self.forks:
                return ALL
        return lanes

    # -- memory ------------------------------------------------------------------------------------

    def place(self, pointer: Inst) -> Place:
        """What a pointer leads to, as far as that is known."""
        path: list[Inst] = []
        while pointer.op in CHAINS or pointer.op == ops.OpCopyObject:
            path[:0] = pointer.args[1:]
            pointer = pointer.args[0]
        if pointer in self.same:
            while pointer in self.same:
                pointer = self.same[pointer]
            return pointer, -1
        type = pointer.type.args[0] if pointer.type is not None and pointer.type.args else None
        if pointer.op == ops.OpFunctionParameter or not types.lanes_of(type):
            return pointer, -1
        first = 0
        for index in path:
            number = types.index_of(index)
            if type is None or number is None or not 0 <= number < types.size_of(type):
                return pointer, -1
            if type.op == ops.OpTypeStruct:
                first += sum([types.lanes_of(member) for member in type.args[:number]])
            else:
                first += number * types.lanes_of(type.args[0])
            type = types.part_type(type, number)
        return pointer, first

    def load(self, load: Inst, pointer: Inst) -> int:
        root, first = self.place(pointer)
        held = self.held.get(root, 0)
        if not held or first < 0:
            return ALL if held else 0
        size = types.lanes_of(load.type)
        lanes = held >> first & ((1 << size) - 1) if size else held
        return ALL if lanes and size < 2 else lanes

    def store(self, pointer: Inst, lanes: int, value: Inst) -> None:
        if not lanes:
            return
        root, first = self.place(pointer)
        size = types.lanes_of(value.type)
        if first < 0 or not size:
            self.mark(self.held, root, ALL)
        else:
            self.mark(self.held, root, (lanes & ((1 << size) - 1)) << first)

    # -- calls -------------------------------------------------------------------------------------

    def call(self, call: Inst, inside: bool) -> int:
        callee = call.args[0]
        assert isinstance(callee, Function)
        if inside and callee.blocks and callee.blocks[0] not in self.blocks:
            self.blocks.update(callee.blocks)
            self.again = True
        for parameter, arg in zip(callee.params, call.args[1:]):
            if arg in self.values:
                self.mark(self.values, parameter, self.values[arg])
            if arg.type is not None and arg.type.op == ops.OpTypePointer:
                self.join(parameter, self.place(arg)[0])
        return self.values.get(callee, 0)

    def join(self, parameter: Inst, root: Inst) -> None:
        """A parameter points to this, whatever else it points to: they hold the same from now
        on."""
        mine = self.place(parameter)[0]
        if mine is root:
            return
        self.same[mine] = root
        self.again = True
        if self.held.get(mine):
            self.mark(self.held, root, ALL)


def decided(fork: Block) -> set[Block]:
    """The blocks for which it matters which way a block goes: those that not every way from there
    to an end leads through."""
    after = reach(fork.successors(), None)
    ends = {block for block in after if not block.successors()}
    if not ends:
        return after
    return {block for block in after if not ends.isdisjoint(reach(fork.successors(), block))}


def reach(starts: list[Block], without: Block | None) -> set[Block]:
    """The blocks that these lead to, themselves included, on ways around one."""
    found: set[Block] = set()
    todo = [block for block in starts if block is not without]
    while todo:
        block = todo.pop()
        if block not in found:
            found.add(block)
            todo += [after for after in block.successors() if after is not without]
    return found
