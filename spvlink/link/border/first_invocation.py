"""Find the stores that the first invocation of a workgroup or patch makes in any case.

    if (gl_LocalInvocationIndex < 2) tint[i] = u.tint;                invocation 0 stores
    if (gl_InvocationID == 0) tint = u.tint;                          invocation 0 stores
    SetMeshOutputsEXT(v, p);
    for (uint j = gl_LocalInvocationIndex; j < p; j += 32) ...        it stores, unless p is 0

Every workgroup and every patch has an invocation 0. If it stores a value for certain, that value
exists wherever the next stage runs, and the buffers of the value were read and so are bound. A
fragment follows a mesh workgroup with a primitive, so no number of SetMeshOutputsEXT is 0 there.

The analysis follows invocation 0 through the code, with its number known. A phi is the value of
the only edge that reaches it. In doubt both ways are taken.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import root
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.known import fact
from spvlink.link.border.link import Link
from spvlink.passes.cleaning.fold import fold

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Number = int | None  # the bits of a number, SOME, None for one that is not known

SOME: Final = -1  # a count that is not 0
_STAGES: Final = frozenset(("tesc", "task", "mesh"))
_OWN_NUMBER: Final = frozenset(
    (
        enums.BuiltIn_LocalInvocationIndex, enums.BuiltIn_LocalInvocationId,
        enums.BuiltIn_InvocationId,
    )
)  # fmt: skip
# What a comparison says of 0 on the left and a count on the right.
_ZERO_TO_SOME: Final = {
    ops.OpULessThan: 1, ops.OpSLessThan: 1, ops.OpULessThanEqual: 1, ops.OpSLessThanEqual: 1,
    ops.OpUGreaterThan: 0, ops.OpSGreaterThan: 0, ops.OpUGreaterThanEqual: 0,
    ops.OpSGreaterThanEqual: 0, ops.OpIEqual: 0, ops.OpINotEqual: 1,
}  # fmt: skip
_TURNED: Final = {
    ops.OpULessThan: ops.OpUGreaterThan, ops.OpSLessThan: ops.OpSGreaterThan,
    ops.OpULessThanEqual: ops.OpUGreaterThanEqual, ops.OpSLessThanEqual: ops.OpSGreaterThanEqual,
    ops.OpUGreaterThan: ops.OpULessThan, ops.OpSGreaterThan: ops.OpSLessThan,
    ops.OpUGreaterThanEqual: ops.OpULessThanEqual, ops.OpSGreaterThanEqual: ops.OpSLessThanEqual,
    ops.OpIEqual: ops.OpIEqual, ops.OpINotEqual: ops.OpINotEqual,
}  # fmt: skip
_MOST_DEPTH: Final = 32  # of an expression


def stores(link: Link, key: int) -> bool:
    """Whether the first invocation of each workgroup or patch that the consumer runs for stores a
    slot."""
    if link.producer.name not in _STAGES:
        return False
    module = link.producer.module
    invocation = fact(module, FirstInvocation, module.version)
    return invocation.comes_by({link.spots[link.sites[s]][0] for s in link.stores[key]})


class FirstInvocation:
    """The ways that invocation 0 of an entry point may take."""

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.module = module
        self.tables = Decorations.of(module)
        self.blocks = module.entry.function.blocks
        counts = [i for f in module.functions for b in f.blocks for i in b.insts
                  if i.op == ops.OpSetMeshOutputsEXT]  # fmt: skip
        # of several, nobody knows which one counts
        self.counts: set[Inst] = set(counts[0].args) if len(counts) == 1 else set()
        self.reached: dict[Block, set[Block]] = {}  # block -> those it was reached from
        self.known: dict[Inst, Number] = {}  # as long as no edge is added there

    def comes_by(self, wanted: set[Block]) -> bool:
        """Whether every way comes to one of these blocks."""
        self.reached = {self.blocks[0]: set()}
        self.known.clear()
        changed = True
        while changed:  # another edge into a block makes its phis unknown
            changed = False
            for block in [b for b in self.blocks if b in self.reached and b not in wanted]:
                after = self.after(block)
                if not after and block.terminator.op != ops.OpUnreachable:
                    return False
                for target in after:
                    known = self.reached.setdefault(target, set())
                    if block not in known:
                        known.add(block)
                        self.known.clear()
                        changed = True
        return True

    def after(self, block: Block) -> list[Block]:
        """The blocks that may come next."""
        end = block.terminator
        if end.op == ops.OpBranchConditional:
            number = self.number(end.args[0], 0)
            if number is not None:
                target = end.args[2 - (number != 0)]
                assert isinstance(target, Block)
                return [target]
        return block.successors()

    def number(self, inst: Inst, depth: int) -> Number:
        """What a scalar is for invocation 0."""
        if inst not in self.known:
            self.known[inst] = None  # while it is looked at: around a loop nothing is known
            self.known[inst] = self.looked_at(inst, depth)
        return self.known[inst]

    def looked_at(self, inst: Inst, depth: int) -> Number:
        bits = types.bits_of(inst)
        if bits is not None:
            return bits
        if inst in self.counts:
            return SOME
        if inst.type is None or depth > _MOST_DEPTH:
            return None
        if inst.op == ops.OpLoad or inst.op == ops.OpCompositeExtract:
            return 0 if self.is_own_number(inst) else None
        if inst.op == ops.OpPhi:
            return self.through_phi(inst, depth)
        if inst.type.op not in (ops.OpTypeInt, ops.OpTypeBool):
            return None
        return self.computed(inst, [self.number(arg, depth + 1) for arg in inst.args])

    def is_own_number(self, inst: Inst) -> bool:
        if inst.op == ops.OpCompositeExtract:
            inst = inst.args[0]
        if inst.op != ops.OpLoad:
            return False
        variable = root(inst.args[0])
        builtin = self.tables.find(variable, enums.Decoration_BuiltIn)
        return bool(builtin) and builtin is not None and builtin[0] in _OWN_NUMBER

    def through_phi(self, phi: Inst, depth: int) -> Number:
        block = next(b for b in self.blocks if phi in b.insts)
        ways = self.reached.get(block, set())
        numbers = {
            self.number(value, depth + 1)
            for value, before in zip(phi.args[::2], phi.args[1::2]) if before in ways
        }  # fmt: skip
        return numbers.pop() if len(numbers) == 1 else None

    def computed(self, inst: Inst, numbers: list[Number]) -> Number:
        """What an operation gives."""
        if len(numbers) == 2 and inst.op in _TURNED and SOME in numbers:
            if numbers == [0, SOME]:
                return _ZERO_TO_SOME[inst.op]
            return _ZERO_TO_SOME[_TURNED[inst.op]] if numbers == [SOME, 0] else None
        if inst.op in (ops.OpBitcast, ops.OpCopyObject) and numbers == [SOME]:
            return SOME
        if None in numbers or SOME in numbers:
            return None
        args: list[Inst] = []
        for arg, number in zip(inst.args, numbers):
            assert arg.type is not None and number is not None
            if arg.type.op not in (ops.OpTypeInt, ops.OpTypeBool):
                return None
            args.append(types.constant(self.module, arg.type, number))
        made = fold(self.module, Inst(inst.op, inst.type, args, inst.imm), False)
        return types.bits_of(made) if made is not None else None
