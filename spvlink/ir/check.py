"""Our verifier: whether a module is what the specification asks of one, as far as a link may spoil
it.

It is meant to reject nothing that spirv-val accepts, and is fast enough to run after each pass
(``--check each``). Module scope first, then each function: blocks and edges, then every
instruction's operands (``check_types``), then structure (``check_flow``).
"""

from __future__ import annotations

from spvlink.errors import BadSpirv, Broken
from spvlink.grammar import enums, info, ops, shapes
from spvlink.ir import core
from spvlink.ir.check_flow import TERMINATORS, Fault, Flow, check_order, check_structure
from spvlink.ir.check_tables import (
    AFTER_LOOP,
    AFTER_SELECTION,
    BOTH,
    FORWARD_TYPES,
    GLOBAL_OPS,
    KNOWN_TYPES,
    LINES,
    MANY,
    MERGES,
    NEVER,
    SECTION_OPS,
    STRICT,
    counts,
    counts_known,
)
from spvlink.ir.check_types import RULES, TYPES, complaint, show
from spvlink.ir.core import PRIVATE, Block, Function, Inst, Module

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

_GROUPING: Final = frozenset((ops.OpGroupDecorate, ops.OpGroupMemberDecorate))


def check(module: Module, input: bool = False, final: bool = False) -> None:
    """Raise if the module breaks a rule: ``BadSpirv`` with the place if it is a user's ``input``,
    else ``Broken``.

    ``final``: private opcodes and names or decorations of what is gone are errors too, as they are
    in an input.
    """
    checker = _Checker(module, final or input)
    try:
        checker.run()
    except Fault as fault:
        inst, message = fault.inst, fault.message
        if inst is not None:
            message = f"{_name(inst)}: {message}"
        if not input:
            # the text form is another room: the instruction's bare repr will do
            raise Broken(f"{message} [{inst!r}]" if inst is not None else message) from None
        word, number = _place(module, inst)
        raise BadSpirv(message, word, number) from None


def _name(inst: Inst) -> str:
    name = ops.NAMES.get(inst.op) or core.PRIVATE_NAMES.get(inst.op, f"opcode {inst.op}")
    return f"%{inst.id} = {name}" if inst.id else name


def instructions(module: Module) -> Iterator[Inst | None]:
    """Every instruction in the order of the binary; None stands for OpFunctionEnd."""
    for section in range(core.SECTIONS):
        yield from module.listed(section)
    for function in module.functions:
        yield from function.lead
        yield function
        for param in function.params:
            yield from function.leads.get(param, ())
            yield param
        for block in function.blocks:
            yield from block.lead
            yield block
            yield from block.insts
        yield from function.tail
        yield None
    yield from module.tail


def _place(module: Module, wanted: Inst | None) -> tuple[int | None, int | None]:
    """Word and instruction index of an instruction in the binary that the module came from."""
    word = 5
    for number, inst in enumerate(instructions(module)):
        if inst is None:
            word += 1
            continue
        if inst is wanted:
            return word, number
        word += 1 + (inst.type is not None) + (inst.id != 0) + len(inst.args) + len(inst.imm)
    return None, None


class _Checker:
    """One run over one module."""

    __slots__ = (
        "final",
        "flow",
        "forward",
        "home",
        "local",
        "module",
        "shader",
        "start",
        "types",
        "where",
    )  # fmt: skip

    def __init__(self, module: Module, final: bool) -> None:
        self.module = module
        self.final = final
        self.where: dict[Inst, int] = {}  # serial number of every definition, in order
        self.types: set[Inst] = set()
        self.forward: set[Inst] = set()  # pointers that OpTypeForwardPointer declared
        self.shader = False
        self.local = 0  # serials from here on are in functions
        self.home: list[int] = []  # block number by serial - start of the function
        self.flow: Flow | None = None
        self.start = 0  # serial of the function

    def run(self) -> None:
        module = self.module
        self.number()
        self.sections()
        for inst in module.globals:
            self.declare(inst)
        self.signatures()
        self.entry_points()
        for function in module.functions:
            self.function(function)
        for inst in module.tail:
            if inst.op not in LINES and inst.op != ops.OpExtInst:
                raise Fault(inst, "after the last function")
            self.known(inst)
        self.annotations()
        self.recursion()

    def number(self) -> None:
        """Give every instruction its serial; ids are unique and below the bound. Bulk operations
        where they do.
        """
        module = self.module
        every: list[Inst] = []
        for section in module.sections:
            every += section
        self.local = MANY
        for function in module.functions:
            every += function.lead
            if self.local == MANY:
                self.local = len(every) + 1
            every.append(function)
            for leads in function.leads.values():
                every += leads
            every += function.params
            for block in function.blocks:
                every += block.lead
                every.append(block)
                every += block.insts
            every += function.tail
        every += module.tail
        results = shapes.RESULT
        for inst in every:
            wanted = (inst.id != 0) << 1 | (inst.type is not None)
            if inst.op >= PRIVATE or results[inst.op] != wanted:
                self.odd(inst)
        self.where = dict(zip(every, range(1, len(every) + 1)))
        ids = [i.id for i in every if i.id]
        ids.sort()
        unique = len(self.where) == len(every) and len(set(ids)) == len(ids)
        if unique and (not ids or (ids[0] > 0 and ids[-1] < module.bound)):
            return
        seen: set[int] = set()
        for inst in every:
            if inst.id in seen:
                raise Fault(inst, f"id {inst.id} is defined twice")
            if not 0 <= inst.id < module.bound:
                raise Fault(inst, f"id {inst.id} is not below the bound {module.bound}")
            if inst.id:
                seen.add(inst.id)
        raise Fault(None, "an instruction stands at two places")

    def odd(self, inst: Inst) -> None:
        """An instruction whose result and type are not what the grammar says."""
        if inst.op >= PRIVATE:
            if self.final:
                raise Fault(inst, "a private opcode is left")
            return
        if shapes.RESULT[inst.op] == shapes.NONE:
            raise Fault(inst, "the opcode is not in the grammar")
        raise Fault(inst, "the result type or result id is missing or too many")

    def arity(self, inst: Inst) -> None:
        op = inst.op
        if op >= PRIVATE and op not in counts_known:
            raise Fault(inst, "a private opcode that nobody knows")
        least_args, most_args, least_imm, most_imm = counts_known.get(op) or counts(op)
        if not least_args <= len(inst.args) <= most_args:
            raise Fault(inst, f"{len(inst.args)} ids as operands")
        if not least_imm <= len(inst.imm) <= most_imm:
            raise Fault(inst, f"{len(inst.imm)} literal words as operands")

    def known(self, inst: Inst) -> None:
        """Arity, and operands that exist somewhere in the module."""
        self.arity(inst)
        where = self.where
        for arg in inst.args:
            if arg not in where or not arg.id:
                raise Fault(inst, f"%{arg.id} is not in the module")

    def sections(self) -> None:
        module = self.module
        for number, allowed in enumerate(SECTION_OPS):
            # Names and decorations of what a pass removed wait for trim.
            beside = not self.final and number in (core.NAMES, core.ANNOTATIONS)
            for inst in module.listed(number):
                if inst.op not in allowed:
                    raise Fault(inst, "in the wrong section of the module")
                if (
                    inst.op == ops.OpName
                    and len(inst.args) == 1
                    and inst.args[0] in self.where
                    and inst.imm
                ):
                    continue  # most of what stands here
                if beside and inst.args:
                    if inst.args[0] not in self.where:
                        continue
                    if inst.op in _GROUPING:  # of which some of the targets may be gone
                        self.arity(inst)
                        continue
                self.known(inst)
        if len(module.sections[core.MEMORY_MODEL]) != 1:
            raise Fault(None, "a module has one OpMemoryModel")
        capabilities = {i.imm[0] for i in module.sections[core.CAPABILITIES]}
        self.shader = enums.Capability_Kernel not in capabilities
        if not module.sections[core.ENTRY_POINTS] and enums.Capability_Linkage not in capabilities:
            raise Fault(None, "the module has no entry point")

    def declare(self, inst: Inst) -> None:
        """A type, constant, variable at module scope: all it uses stands before it."""
        op, where = inst.op, self.where
        if op >= PRIVATE or (op in info.FLAGS and op not in GLOBAL_OPS and op not in BOTH):
            raise Fault(inst, "at module scope")
        self.arity(inst)
        type = inst.type
        if type is not None and type not in self.types:
            raise Fault(inst, f"%{type.id} is not a type defined before")
        if op == ops.OpTypeForwardPointer:
            self.forward.update(inst.args)
            return
        loose = op == ops.OpExtInst or op in LINES
        here = where.get(inst, MANY)
        for arg in inst.args:
            at = where.get(arg)
            if at is None:
                raise Fault(inst, f"%{arg.id} is not in the module")
            if at >= here and not loose and not (op in FORWARD_TYPES and arg in self.forward):
                raise Fault(inst, f"%{arg.id} is used before it is defined")
            if at >= self.local and not loose:
                raise Fault(inst, f"%{arg.id} belongs to a function")
        if op in TYPES:
            self.type_rule(inst)
            self.types.add(inst)
            return
        if op in (ops.OpVariable, ops.OpConstantComposite, ops.OpSpecConstantComposite):
            for arg in inst.args:
                if arg.type is None:
                    raise Fault(inst, f"%{arg.id} is not a constant")
        if op == ops.OpVariable and inst.imm[0] == enums.StorageClass_Function:
            raise Fault(inst, "storage class Function at module scope")
        wrong = complaint(inst)
        if wrong:
            raise Fault(inst, wrong)

    def type_rule(self, inst: Inst) -> None:
        """Operands of the types that the other rules rely on."""
        op, args = inst.op, inst.args
        if op in (ops.OpTypeInt, ops.OpTypeFloat):
            if inst.imm[0] not in (8, 16, 32, 64) and len(inst.imm) == 1 + (op == ops.OpTypeInt):
                raise Fault(inst, f"a width of {inst.imm[0]} bits")
            return
        parts = args[:1] if op == ops.OpTypeArray else args
        if op in KNOWN_TYPES:
            for arg in parts:
                if arg.op not in TYPES:
                    raise Fault(inst, f"%{arg.id} is not a type")
        if op == ops.OpTypeVector:
            if args[0].op not in (ops.OpTypeInt, ops.OpTypeFloat, ops.OpTypeBool):
                raise Fault(inst, "the components are not scalars")
            if inst.imm[0] < 2 or inst.imm[0] > 16:
                raise Fault(inst, f"{inst.imm[0]} components")
        elif op == ops.OpTypeMatrix:
            if args[0].op != ops.OpTypeVector:
                raise Fault(inst, "the columns are not vectors")
            if not 2 <= inst.imm[0] <= 4:
                raise Fault(inst, f"{inst.imm[0]} columns")
        elif op == ops.OpTypeArray and (args[1].type is None or args[1].type.op != ops.OpTypeInt):
            raise Fault(inst, "the length is not an integer constant")

    def signatures(self) -> None:
        """Each function's type, before any body: calls look at it."""
        for function in self.module.functions:
            self.arity(function)
            if function.type not in self.types:
                raise Fault(function, "the result type is not a type")
            signature = function.args[0]
            if signature not in self.types or signature.op != ops.OpTypeFunction:
                raise Fault(function, f"%{signature.id} is not a function type")
            if signature.args[0] is not function.type:
                raise Fault(function, "the result type is not that of the function type")
            if len(signature.args) - 1 != len(function.params):
                raise Fault(function, f"{len(function.params)} parameters for the function type")
            for param, type in zip(function.params, signature.args[1:]):
                if param.op != ops.OpFunctionParameter or param.type is not type:
                    raise Fault(param, f"the parameter is not {show(type)}")

    def entry_points(self) -> None:
        functions = set(self.module.functions)
        entries: set[Inst] = set()
        for inst in self.module.sections[core.ENTRY_POINTS]:
            function = inst.args[0]
            if function not in functions:
                raise Fault(inst, f"%{function.id} is not a function of the module")
            if self.shader and len(function.args[0].args) != 1:
                raise Fault(inst, "an entry point with parameters")
            for variable in inst.args[1:]:
                if variable.op not in (ops.OpVariable, ops.OpUntypedVariableKHR):
                    raise Fault(inst, f"%{variable.id} in the interface is not a variable")
                if self.where[variable] >= self.local:
                    raise Fault(inst, f"%{variable.id} in the interface is not at module scope")
            entries.add(function)
        for inst in self.module.sections[core.EXECUTION_MODES]:
            if inst.args[0] not in entries:
                raise Fault(inst, f"%{inst.args[0].id} is not an entry point")

    def annotations(self) -> None:
        for inst in self.module.annotations:
            if inst.op == ops.OpMemberDecorate:
                struct = inst.args[0]
                if struct.op != ops.OpTypeStruct or inst.imm[0] >= len(struct.args):
                    raise Fault(inst, f"%{struct.id} has no member {inst.imm[0]}")

    def function(self, function: Function) -> None:
        for inst in (*function.lead, *function.tail):
            if inst.op not in LINES and inst.op != ops.OpExtInst:
                raise Fault(inst, "outside of a block")
            self.known(inst)
        if not function.blocks:
            return
        self.ends(function)
        flow = self.flow = Flow(function)
        check_order(flow)
        self.start = self.where[function]
        home = self.home = [-1]  # serials count every instruction, so the list follows them
        home += [-1] * (len(function.params) + sum(map(len, function.leads.values())))
        for number, block in enumerate(function.blocks):
            home += [-1] * (len(block.lead) + 1)
            home += [number] * len(block.insts)
        for number, block in enumerate(function.blocks):
            self.block(function, number, block)
        if self.shader:
            check_structure(flow)

    def ends(self, function: Function) -> None:
        """Each block has its terminator, merge and phis where they belong."""
        phi, variable, terminators = ops.OpPhi, ops.OpVariable, TERMINATORS
        for number, block in enumerate(function.blocks):
            insts = block.insts
            if not insts or insts[-1].op not in terminators:
                raise Fault(block, "the block has no terminator")
            for inst in block.lead:
                self.known(inst)
            last = len(insts) - 1
            head = True
            for at, inst in enumerate(insts):
                op = inst.op
                if op == phi:
                    if not head:
                        raise Fault(inst, "after an instruction that is no OpPhi")
                    continue
                if op in LINES:
                    continue
                head = False
                if op in terminators:
                    if at != last:
                        raise Fault(inst, "a terminator inside a block")
                elif op in MERGES:
                    if at != last - 1:
                        raise Fault(inst, "not just before the terminator")
                    allowed = AFTER_LOOP if op == ops.OpLoopMerge else AFTER_SELECTION
                    if insts[last].op not in allowed:
                        raise Fault(inst, f"before {ops.NAMES[insts[last].op]}")
                elif op == variable:
                    if number:
                        raise Fault(inst, "a variable outside of the entry block")
                    if inst.imm and inst.imm[0] != enums.StorageClass_Function:
                        raise Fault(inst, "the storage class in a function is Function")
                elif op in GLOBAL_OPS or op in NEVER:
                    raise Fault(inst, "inside a block")

    def block(self, function: Function, number: int, block: Block) -> None:
        """Operands of every instruction. One loop with little in it."""
        where, types, rules, counts = self.where, self.types, RULES, counts_known
        strict, local = STRICT, self.local
        get = where.get
        label = here = where[block]
        for inst in block.insts:
            here += 1
            op = inst.op
            args = inst.args
            bounds = counts.get(op)
            if bounds is None or not (
                bounds[0] <= len(args) <= bounds[1] and bounds[2] <= len(inst.imm) <= bounds[3]
            ):
                self.arity(inst)
            if inst.type is not None and inst.type not in types:
                raise Fault(inst, f"%{inst.type.id} is not a type")
            if op == ops.OpPhi:
                self.phi(inst, number)
            else:
                for arg in args:
                    at = get(arg, 0)
                    if not (label < at < here or 0 < at < local):
                        self.use(inst, arg, number)
                    if arg.type is None and op in strict:
                        raise Fault(inst, f"operand %{arg.id} is not a value")
            rule = rules.get(op)
            if rule is not None and rule(inst):
                wrong = complaint(inst)
                if wrong:
                    raise Fault(inst, wrong)
        self.result(function, block.insts[-1])

    def result(self, function: Function, last: Inst) -> None:
        type = function.type
        if last.op == ops.OpReturnValue:
            if last.args[0].type is not type or type is None:
                raise Fault(last, f"returns {show(last.args[0].type)}, not {show(type)}")
        elif last.op == ops.OpReturn and type is not None and type.op != ops.OpTypeVoid:
            raise Fault(last, f"returns nothing, not {show(type)}")

    def use(self, inst: Inst, arg: Inst, number: int) -> None:
        """A use of what is neither global nor defined earlier in the same block."""
        at = self.where.get(arg)
        if at is None:
            raise Fault(inst, f"%{arg.id} is not in the module")
        if arg.op == ops.OpFunction:
            if inst.op in STRICT:
                raise Fault(inst, f"operand %{arg.id} is a function")
            return
        flow = self.flow
        assert flow is not None
        if arg.op == ops.OpLabel:
            if inst.op in STRICT or arg not in flow.number:
                raise Fault(inst, f"operand %{arg.id} is a block")
            return
        source = self.source(inst, arg, at)
        if source is None:
            return
        if source == number or (at > self.where[inst] and not flow.reachable(number)):
            raise Fault(inst, f"%{arg.id} is used before it is defined")
        if not flow.reachable(number):
            return
        if not flow.reachable(source) or not flow.dominates(source, number):
            raise Fault(inst, f"the definition of %{arg.id} does not dominate this use")

    def source(self, inst: Inst, arg: Inst, at: int) -> int | None:
        """The number of the block that defines a local value, None for a parameter."""
        offset = at - self.start
        if not 0 <= offset < len(self.home):
            if (
                inst.op == ops.OpExtInst
                and inst.type is not None
                and inst.type.op == ops.OpTypeVoid
            ):
                return None  # non-semantic debug information may name what it likes
            raise Fault(inst, f"%{arg.id} belongs to another function")
        number = self.home[offset]
        return None if number < 0 else number

    def phi(self, inst: Inst, number: int) -> None:
        """One value for each predecessor, which dominates the predecessor's end."""
        flow, args = self.flow, inst.args
        assert flow is not None
        if len(args) % 2:
            raise Fault(inst, "a value without its predecessor")
        preds = [flow.number.get(a, -1) for a in args[1::2]]
        if -1 in preds:
            raise Fault(inst, f"%{args[preds.index(-1) * 2 + 1].id} is no block of this function")
        if len(set(preds)) != len(preds) or set(preds) != set(flow.preds[number]):
            raise Fault(inst, "its blocks are not exactly the predecessors of this one")
        for value, pred in zip(args[::2], preds):
            at = self.where.get(value)
            if at is None:
                raise Fault(inst, f"%{value.id} is not in the module")
            if at < self.local:
                continue
            if value.op in (ops.OpFunction, ops.OpLabel):
                raise Fault(inst, f"operand %{value.id} is not a value")
            source = self.source(inst, value, at)
            if source is None or not flow.reachable(pred):
                continue
            if not flow.reachable(source) or not flow.dominates(source, pred):
                raise Fault(
                    inst, f"%{value.id} does not dominate the end of %{flow.blocks[pred].id}"
                )

    def recursion(self) -> None:
        """No function calls itself, by whatever way (specification 2.16.1)."""
        calls: dict[Inst, list[Inst]] = {
            f: [i.args[0] for b in f.blocks for i in b.insts if i.op == ops.OpFunctionCall]
            for f in self.module.functions
        }
        state: dict[Inst, int] = {}  # 1: on the path, 2: done
        for entry in self.module.sections[core.ENTRY_POINTS]:
            stack = [(entry.args[0], iter(calls[entry.args[0]]))]
            while stack:
                function, rest = stack[-1]
                state[function] = 1
                for callee in rest:
                    if state.get(callee) == 1:
                        raise Fault(callee, "the function is called by itself")
                    if callee not in state:
                        stack.append((callee, iter(calls[callee])))
                        break
                else:
                    state[function] = 2
                    stack.pop()
