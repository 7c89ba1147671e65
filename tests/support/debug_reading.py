"""Reads debug information out of modules, by the rules of the specification and nothing of the
passes: which line and scope hold at an instruction; a module without any."""

from __future__ import annotations

from collections.abc import Iterator

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.ir import core
from spvlink.ir.core import Block, Inst, Module, string_of

VALUE, DECLARE, GLOBAL, INLINED_AT, FUNCTION = 29, 28, 18, 25, 20
LINE, NO_LINE, SCOPE, NO_SCOPE, NONE = 103, 104, 23, 24, 0


def set_of(inst: Inst) -> str:
    """The set of an extended instruction; empty for others."""
    return string_of(inst.args[0].imm)[0] if inst.op == ops.OpExtInst else ""


def describes(inst: Inst) -> bool:
    """A line, or an instruction of a set that only describes."""
    name = set_of(inst)
    return (
        inst.op in (ops.OpLine, ops.OpNoLine)
        or name.startswith("NonSemantic.")
        or name == "OpenCL.DebugInfo.100"
    )


def stripped(code: bytes) -> bytes:
    """A copy of a module without debug information."""
    module = decode(code)
    gone: set[Inst] = set()

    def rest(insts: list[Inst]) -> list[Inst]:
        gone.update(filter(describes, insts))
        return [i for i in insts if not describes(i)]

    module.globals[:] = rest(module.globals)
    module.tail = rest(module.tail)
    for function in module.functions:
        function.lead, function.tail = rest(function.lead), rest(function.tail)
        function.leads = {}
        for block in function.blocks:
            block.lead, block.insts = rest(block.lead), rest(block.insts)
    used = {i.args[0] for i in gone if i.op == ops.OpExtInst}
    module.sections[core.IMPORTS] = [i for i in module.sections[core.IMPORTS] if i not in used]
    gone |= used | {i for i in module.sections[core.STRINGS] if i.id}
    module.sections[core.STRINGS] = []
    module.names = [n for n in module.names if n[0] not in gone]
    return encode(module)


def shape(code: bytes) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """The code of a module without debug information: opcodes, words, and which instruction of
    the function each operand is."""
    module = decode(stripped(code))
    numbers: dict[Inst, int] = {}
    for _, inst in instructions(module):
        numbers[inst] = len(numbers) + 1
    return [
        (inst.op, tuple(inst.imm), tuple(numbers.get(a, 0) for a in inst.args))
        for _, inst in instructions(module)
    ]


def instructions(module: Module) -> Iterator[tuple[Block, Inst]]:
    for function in module.functions:
        for block in function.blocks:
            yield block, block
            for inst in block.insts:
                yield block, inst


def number(inst: Inst | int) -> int:
    return inst if isinstance(inst, int) else inst.imm[0]


class Where:
    """What holds at one instruction: the numbers of OpLine and DebugLine (0: none), and the names
    of the functions that it was inlined from, its own first."""

    def __init__(self, line: int, debug_line: int, scope: Inst | None) -> None:
        self.line = line
        self.debug_line = debug_line
        self.calls: list[int] = []  # the lines of the calls
        self.functions: list[str] = []
        at: Inst | None = scope
        while at is not None:
            is_scope = at.imm[0] == SCOPE
            ids = at.args[1:] if is_scope or len(at.imm) > 1 else at.args[2:]
            if not is_scope:
                self.calls.append(at.imm[1] if len(at.imm) > 1 else at.args[1].imm[0])
            self.functions.append(function_of(ids[0]))
            at = ids[1] if len(ids) > 1 else None


def function_of(scope: Inst) -> str:
    """The name of the function around a scope."""
    while scope.imm[0] != FUNCTION:
        scope = next(a for a in scope.args[::-1] if set_of(a) and a.imm[0] in (FUNCTION, 21, 22))
    return string_of(scope.args[1].imm)[0]


def places(module: Module) -> list[tuple[Inst, Where]]:
    """Every instruction of every function that does something or tells a value, and where it is
    from."""
    found: list[tuple[Inst, Where]] = []
    line = debug_line = 0
    scope: Inst | None = None
    for inst in module.globals:
        if inst.op in (ops.OpLine, ops.OpNoLine):
            line = inst.imm[0] if inst.op == ops.OpLine else 0
    for function in module.functions:
        for inst in function.lead:
            line = inst.imm[0] if inst.op == ops.OpLine else 0
        for block in function.blocks:
            for inst in (*block.lead, *block.insts):
                kind = inst.imm[0] if set_of(inst) and describes(inst) else -1
                if inst.op in (ops.OpLine, ops.OpNoLine):
                    line = inst.imm[0] if inst.op == ops.OpLine else 0
                elif kind in (LINE, NO_LINE):
                    debug_line = inst.args[2].imm[0] if kind == LINE else 0
                elif kind in (SCOPE, NO_SCOPE):
                    scope = inst if kind == SCOPE else None
                else:
                    found.append((inst, Where(line, debug_line, scope)))
            line = debug_line = 0
            scope = None
    return found


def told(module: Module, kind: int = VALUE) -> list[tuple[str, Inst, Where]]:
    """The DebugValues (or DebugDeclares): the variable's name, the value, where."""
    return [
        (string_of(inst.args[1].args[1].imm)[0], inst.args[2], where)
        for inst, where in places(module)
        if set_of(inst) and describes(inst) and inst.imm[0] == kind
    ]


def globals_of(module: Module) -> dict[str, Inst]:
    """The DebugGlobalVariables by name: the variable, or DebugInfoNone."""
    found: dict[str, Inst] = {}
    for inst in module.globals:
        if set_of(inst) and describes(inst) and inst.imm[0] == GLOBAL:
            at = 8 if set_of(inst).startswith("NonSemantic.") else 6
            found[string_of(inst.args[1].imm)[0]] = inst.args[at]
    return found
