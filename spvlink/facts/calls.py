"""What calls that stay may do: the sum of what their callees do, and of what these call.

    %x = OpFunctionCall %f ...; f emits a vertex, or calls what does   ->   the call EMITS

Not every call is inlined, so a pass that wants to know whether an instruction emits, waits for
others or may end the invocation asks here: an instruction answers for itself, a call for all that
it may run. What the grammar has no facts of (unknown opcodes, foreign instruction sets, a callee
without a body) may do anything.

Passes change the function of the entry point alone (stores that go elsewhere take effects away), so
all that others do is found once for each version.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import PRIVATE, Function, Inst, Module
from spvlink.ir.known import fact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_ANYTHING: Final = -1  # has every bit
# Surely do nothing that ``does`` is asked for: most instructions, which need no look.
QUIET: Final = frozenset(
    o for o, f in info.FLAGS.items()
    if not f & (info.EMITS | info.BARRIER | info.ENDS)
    and o not in (ops.OpFunctionCall, ops.OpExtInst)
)  # fmt: skip


class Calls:
    """The functions that the entry point of a module calls, and what they do."""

    __slots__ = ("effects", "functions", "sums", "variables")

    def __init__(self, module: Module) -> None:
        self.effects = Effects.of(module)
        self.functions: list[Function] = []  # all that are called, directly or not; not the entry
        self.sums: dict[Inst, int] = {}  # function -> facts of all that a call of it may run
        self.variables: set[Inst] = set()  # that these functions use by name, their own too
        if module.entry is None or len(module.functions) == 1:
            return
        below: dict[Function, list[Function]] = {}
        todo = [module.entry.function]
        for function in todo:  # grows
            called = below[function] = callees(function)
            todo += [f for f in called if f not in below and f not in todo]
        self.functions = todo[1:]
        for function in self.functions:
            self.sums[function] = self.alone(function)
        grown = True
        while grown:  # once more than calls are deep
            grown = False
            for function in self.functions:
                total = self.sums[function]
                for callee in below[function]:
                    total |= self.sums.get(callee, _ANYTHING)
                grown |= total != self.sums[function]
                self.sums[function] = total

    @staticmethod
    def of(module: Module) -> Calls:
        return fact(module, Calls, module.version)

    def alone(self, function: Function) -> int:
        """The facts of a function's own instructions; notes the variables that it uses."""
        if not function.blocks:
            return _ANYTHING
        total = 0
        for block in function.blocks:
            for inst in block.insts:
                if inst.op != ops.OpFunctionCall:
                    total |= self.own(inst)
                elif not isinstance(inst.args[0], Function):
                    total = _ANYTHING
                for arg in inst.args:
                    if arg.op == ops.OpVariable:
                        self.variables.add(arg)
        return total

    def own(self, inst: Inst) -> int:
        """The facts of one instruction that is no call."""
        op = inst.op
        if op >= PRIVATE:
            return 0  # accesses to slots, which only the entry point's function has
        if op == ops.OpExtInst:
            if inst.args[0] in self.effects.glsl:
                return info.GLSL_FLAGS.get(inst.imm[0], 0)  # some write through a pointer, at most
            return 0 if inst.args[0] in self.effects.nonsemantic else _ANYTHING
        flags = info.FLAGS.get(op, _ANYTHING)
        if op == ops.OpEmitStreamVertex and types.index_of(inst.args[0]) not in (0, None):
            flags &= ~info.EMITS  # the next stage sees stream 0 alone
        return flags

    def does(self, inst: Inst, what: int) -> bool:
        """Whether an instruction, or what it calls, may do one of these (info.EMITS, BARRIER,
        ENDS)."""
        if inst.op == ops.OpFunctionCall:
            return self.sums.get(inst.args[0], _ANYTHING) & what != 0
        return inst.op not in QUIET and self.own(inst) & what != 0


def callees(function: Function) -> list[Function]:
    """The functions that a function calls, in order, each once."""
    called: dict[Function, None] = {}
    for block in function.blocks:
        for inst in block.insts:
            if inst.op == ops.OpFunctionCall and isinstance(inst.args[0], Function):
                called[inst.args[0]] = None
    return list(called)
