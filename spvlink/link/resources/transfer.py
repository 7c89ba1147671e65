"""Copies a value's expression from one module into another.

An expression is made of constants, pure operations and loads of read-only resources (uniform
buffers, push constants) through constant indices. A resource is the same in two modules if its
descriptor set and binding are (or if both are push constants), and a member is the same if it lies
at the same byte offset with the same type: names and member numbers say nothing.

What the target may read: a resource that it statically uses already, or that the pipeline layout
grants its stage; where stages say themselves where their descriptors come from (``mapped.py``), one
that both get from the same place. A block that lacks the member gets it appended at its offset, if
nothing else lies there; of push constants, without a layout, only bytes that the block declares
already are known to be in a range of that stage.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.calls import QUIET, Calls
from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import root
from spvlink.facts.numbers import makes_denormal
from spvlink.grammar import enums, info, ops
from spvlink.ir import core, types
from spvlink.ir.core import Block, Inst, Module
from spvlink.ir.declared import Declared
from spvlink.ir.edit import annotate, define_before, glsl_import, list_variable, value
from spvlink.ir.known import fact
from spvlink.link.resources.blocks import (
    Blocks,
    Cannot,
    Key,
    ResourceAccess,
    held_by,
    shape,
    size_of,
)
from spvlink.rules.arithmetic import BITS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.link.resources.mapped import SharedDescriptors

_WORD: Final = 32
_UNIFORM: Final = (enums.StorageClass_Uniform,)
# What may be done with numbers of 16 bits in the end where only their storage is declared.
_WITHOUT_ARITHMETIC: Final = scalars.MOVES | types.CONSTANTS | {
    ops.OpFConvert, ops.OpUConvert, ops.OpSConvert, ops.OpFNegate, ops.OpSelect,
}  # fmt: skip
LOAD_COST: Final = 2  # per 32-bit word, as reference 1.3 has it


Ends = dict[tuple[object, ...], int]  # resource and array element -> a byte in its block


class Grant:
    """What a stage may read: what it uses already, and what the pipeline layout says of it.
    ``ranges`` are (first byte, end) of push constants, ``bindings`` (set, binding); None where
    there is no layout. ``shared``: which descriptors are the same in both stages, None: all."""

    def __init__(
        self, used: frozenset[Key], ranges: list[tuple[int, int]] | None = None,
        bindings: set[tuple[int, int]] | None = None, shared: SharedDescriptors | None = None,
    ) -> None:  # fmt: skip
        self.used = used
        self.ranges = ranges
        self.bindings = bindings
        self.shared = shared

    @property
    def whole(self) -> bool:
        """Whether it is known of all descriptors what the stage may read."""
        return self.bindings is not None or (self.shared is not None and self.shared.heap)

    def allows(self, access: ResourceAccess, declared: bool) -> str | None:
        """None, or why the stage may not read this. ``declared``: its own block has these very
        bytes."""
        storage, group, binding = access.key
        if storage == enums.StorageClass_PushConstant:
            end = access.offset + size_of(access.type, access.words)
            if self.ranges is not None:
                if any(a <= access.offset and end <= b for a, b in self.ranges):
                    return None
                return "the layout gives that stage no such push constants"
            if declared and access.key in self.used:
                return None
            if self.shared is not None and self.shared.heap:
                return "that stage does not declare these bytes of push data"
            return "that stage does not declare these push constants (a --layout could grant them)"
        if self.shared is not None:
            why = self.shared.apart(group, binding)
            if why is not None or self.shared.heap:
                return why
        if access.key in self.used:
            return None
        if self.bindings is not None and (group, binding) in self.bindings:
            return None
        where = f"set {group}, binding {binding}"
        if self.bindings is not None:
            return f"the layout does not show {where} to that stage"
        return f"that stage does not use {where} (a --layout could grant it)"


class Transfer:
    """From one module to another; made afresh whenever either changed its resources."""

    def __init__(self, source: Module, target: Module, grant: Grant) -> None:
        self.source = source
        self.target = target
        self.grant = grant
        self.from_blocks = Blocks(source)
        self.to_blocks = Blocks(target)
        self.signatures = self.from_blocks.effects.signatures
        self.glsl = self.from_blocks.effects.glsl
        self.numeric: set[Inst] = set()  # types of what may be copied
        self.declared = Declared(target)
        self.verdicts: dict[Inst, bool] = {}
        self.failed: dict[Inst, Cannot] = {}  # expressions, and why not
        self.known: dict[Inst, int | Cannot] = {}  # value -> cost of its instruction, or why not

    # -- may it? -----------------------------------------------------------------------------------

    def check(self, root_value: Inst) -> int:
        """The cost of an expression, each instruction counted once. Raises Cannot."""
        todo, cost = [root_value], 0
        seen: set[Inst] = set()
        known, glsl = self.known, self.glsl
        alone: list[Inst] = []  # what all the rest depends on: lanes share it
        while todo:
            inst = todo.pop()
            if inst in seen:
                continue
            seen.add(inst)
            if not todo:
                alone.append(inst)
                if inst in self.failed:
                    raise self.again(self.failed[inst])
            verdict = known.get(inst)
            if verdict is None:
                try:
                    verdict = self.own_cost(inst)
                except Cannot as why:
                    verdict = why.with_traceback(None)
                known[inst] = verdict
            if isinstance(verdict, Cannot):
                self.failed.update(dict.fromkeys(alone, verdict))
                raise self.again(verdict)
            cost += verdict
            if inst.op != ops.OpLoad:
                todo += [a for a in inst.args if a not in glsl]
        return cost

    def again(self, why: Cannot) -> Cannot:
        """The same once more: an exception holds the frames that it went through."""
        return type(why)(*why.args)

    def varies(self, root_value: Inst) -> bool:
        """Whether an expression is made of something that is read from an input: most are, and to
        find out what ``check`` says of it takes longer."""
        effects = self.from_blocks.effects
        known = fact(self.source, _varying, self.source.version)
        todo = [root_value]
        while todo:
            inst = todo[-1]
            varies = known.get(inst)
            if varies is None:
                varies = _is_input(inst)
                if not varies and inst.args and effects.flags(inst) & info.SPECULATABLE:
                    for arg in inst.args:
                        varies_there = known.get(arg)
                        if varies_there is None:
                            todo.append(arg)
                            break
                        if varies_there:
                            varies = True
                            break
                    if todo[-1] is not inst:
                        continue
                known[inst] = varies
            todo.pop()
        return known[root_value]

    def moves(self, root_value: Inst) -> bool:
        """Whether an expression can be copied: ``check`` for many values that share parts, each
        looked at once."""
        verdicts, glsl = self.verdicts, self.glsl
        known = verdicts.get(root_value)
        if known is not None:
            return known
        todo = [root_value]
        while todo:
            inst = todo[-1]
            verdict = verdicts.get(inst)
            if verdict is None:
                verdict = self.moves_alone(inst)
                if verdict and inst.op != ops.OpLoad:
                    for arg in inst.args:
                        if arg not in glsl:
                            movable = verdicts.get(arg)
                            if movable is None:
                                todo.append(arg)
                                break
                            if not movable:
                                verdict = False
                                break
                    if todo[-1] is not inst:
                        continue
                verdicts[inst] = verdict
            todo.pop()
        return verdicts[root_value]

    def moves_alone(self, inst: Inst) -> bool:
        """Whether an instruction could be copied if its operands could."""
        op = inst.op  # said without a reason where that is easy, since one takes longer
        if op == ops.OpLoad:
            if root(inst.args[0]).imm[:1] == (enums.StorageClass_Input,):
                return False
        elif not types.IS_CONSTANT[op] and (
            op >= core.PRIVATE or not self.from_blocks.effects.flags(inst) & info.SPECULATABLE
        ):
            return False
        verdict = self.known.get(inst)
        if verdict is None:
            try:
                verdict = self.own_cost(inst)
            except Cannot as why:
                verdict = why.with_traceback(None)  # which would hold all that is being linked
            self.known[inst] = verdict
        return not isinstance(verdict, Cannot)

    def own_cost(self, inst: Inst) -> int:
        op = inst.op
        if op >= core.PRIVATE:
            raise Cannot("it depends on an input of its stage")
        if types.IS_CONSTANT[op]:
            self.check_type(inst.type)
            self.able(inst)
            return 0
        if op == ops.OpLoad:
            access = self.from_blocks.access(inst)
            if inst in self.signatures:
                raise Cannot("the load is decorated")
            self.able(inst)
            self.permit(access)
            if not self.is_bound(access):
                raise Cannot("not every invocation reads that far into the resource")
            return LOAD_COST * max(1, size_of(access.type, access.words) // 4)
        if op in (ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse,
                  ops.OpSpecConstantComposite, ops.OpSpecConstantOp):  # fmt: skip
            raise Cannot("it depends on a specialization constant (give its value with --spec)")
        flags = self.from_blocks.effects.flags(inst)
        if not flags & info.SPECULATABLE or inst.type is None:
            raise Cannot(describe(inst))
        self.able(inst)
        if inst in self.signatures:
            raise Cannot("a decoration (NoContraction, RelaxedPrecision ...) does not let it move")
        self.check_type(inst.type)
        width = inst.type.imm[0] if inst.type.op in info.VECTOR_TYPES else 1
        if op == ops.OpExtInst:
            return info.GLSL_COST.get(inst.imm[0], info.GLSL_DEFAULT_COST) * width
        return info.COST.get(op, info.DEFAULT_COST) * width

    def able(self, inst: Inst) -> None:
        """Raise Cannot if the target does not declare what an instruction needs (a capability, an
        extension, a version). None is added: the author may have kept it out of that stage on
        purpose. So do denormal numbers that its compiler would know."""
        if makes_denormal(inst):
            raise Cannot("it is a denormal number, which a stage may flush to zero")
        lacking = self.declared.lacking(inst)
        if lacking is not None:
            raise Cannot(f"the other stage does not declare {lacking}")
        if self.target.borrowed_capabilities and inst.op not in _WITHOUT_ARITHMETIC:
            if any(types.is_borrowed(self.target, v.type) for v in (inst, *inst.args)):
                raise Cannot("the other stage may only load, convert and store 16-bit values")

    def check_type(self, type: Inst | None) -> None:
        """Raise Cannot for types whose values are not copied."""
        assert type is not None
        if type not in self.numeric:
            shape(type)
            self.numeric.add(type)

    def permit(self, access: ResourceAccess) -> None:
        """Raise Cannot unless the target may read this."""
        variable = self.to_blocks.variable(access.key)
        path = None
        if variable is not None:
            path = self.to_blocks.find(self.block_of(variable, access), access)
        why = self.grant.allows(access, path is not None)
        if why is not None:
            raise Cannot(why)
        if path is None and scalars.scalar(access.type).imm[0] < _WORD:
            raise Cannot("the other stage does not declare blocks with numbers of that size")
        if variable is not None and path is None and not self.extensible(variable):
            raise Cannot("the other stage's block cannot take another member")
        if variable is None and not self.grant.whole:
            raise Cannot("the other stage does not declare the resource")
        if variable is None and access.element:
            raise Cannot("the other stage does not declare the array of resources")

    def is_bound(self, access: ResourceAccess) -> bool:
        """Whether bytes are surely there. All bytes of push constants that a stage uses statically
        are in a range of the layout, and have a value or need none."""
        if access.key[0] == enums.StorageClass_PushConstant:
            return True
        return surely_there(access, self.from_blocks, self.to_blocks)

    def block_of(self, variable: Inst, access: ResourceAccess) -> Inst:
        type = held_by(variable)
        for index in access.element:
            if type.op != ops.OpTypeArray or not index < types.size_of(type):
                raise Cannot("the stages declare arrays of resources of different sizes")
            type = type.args[0]
        if type.op != ops.OpTypeStruct:
            raise Cannot("the stages declare the resource differently")
        return type

    def extensible(self, variable: Inst) -> bool:
        """Whether the block's struct is used for this variable alone, and never as a value."""
        if variable.op == ops.OpUntypedVariableKHR:
            return False
        assert variable.type is not None
        pointer = variable.type
        struct = pointer.args[0]
        if struct.op != ops.OpTypeStruct:
            return False
        for inst in self.target.globals:
            if inst is not pointer and struct in inst.args:
                return False
            if inst is not variable and inst.type is pointer:
                return False
        return not any(
            i.type is struct for f in self.target.functions for b in f.blocks for i in b.insts
        )

    def reads(self, root_value: Inst) -> list[str]:
        """The resources that a movable expression reads, for people."""
        names: set[str] = set()
        for access in self.accesses(root_value):
            storage, group, binding = access.key
            if storage == enums.StorageClass_PushConstant:
                names.add(f"push constants at byte {access.offset}")
            else:
                names.add(f"set {group}, binding {binding} at byte {access.offset}")
        return sorted(names)

    # -- copying -----------------------------------------------------------------------------------

    def copy(self, root_value: Inst, out: list[Inst], made: dict[Inst, Inst]) -> Inst:
        """The expression in the target; new instructions are appended to ``out``, each once per
        ``made``."""
        order: list[Inst] = []
        stack: list[tuple[Inst, bool]] = [(root_value, False)]
        seen: set[Inst] = set()
        while stack:
            inst, done = stack.pop()
            if done:
                order.append(inst)
            elif inst not in seen and inst not in made:
                seen.add(inst)
                stack.append((inst, True))
                if inst.op != ops.OpLoad:
                    stack += [(a, False) for a in reversed(inst.args) if a not in self.glsl]
        for inst in order:
            made[inst] = self.copy_one(inst, out, made)
        return made[root_value]

    def copy_one(self, inst: Inst, out: list[Inst], made: dict[Inst, Inst]) -> Inst:
        assert inst.type is not None
        type = types.like(self.target, inst.type)
        if types.IS_CONSTANT[inst.op]:
            parts = [made[a] for a in inst.args]
            return types.make(self.target, inst.op, type, parts, inst.imm)
        if inst.op == ops.OpLoad:
            pointer = self.pointer(self.from_blocks.access(inst), type, out)
            copied = value(self.target, ops.OpLoad, type, [pointer], ())
        else:
            args = [glsl_import(self.target) if a in self.glsl else made[a] for a in inst.args]
            copied = value(self.target, inst.op, type, args, inst.imm)
        out.append(copied)
        return copied

    def type(self, type: Inst) -> Inst:
        """The target's type that is the same."""
        return types.like(self.target, type)

    def accesses(self, root_value: Inst) -> list[ResourceAccess]:
        """What the loads of a movable expression read."""
        todo, seen, accesses = [root_value], set[Inst](), list[ResourceAccess]()
        while todo:
            inst = todo.pop()
            if inst in seen:
                continue
            seen.add(inst)
            if inst.op == ops.OpLoad:
                accesses.append(self.from_blocks.access(inst))
            else:
                todo += inst.args
        return accesses

    def may_be_unbound(self, root_value: Inst) -> bool:
        """Whether a movable expression reads what need not be there where it does not run."""
        storage = enums.StorageClass_PushConstant
        return any(access.key[0] != storage for access in self.accesses(root_value))

    def place(self, access: ResourceAccess) -> tuple[Inst, list[int]]:
        """The target's variable and the path to the same bytes in it, declared if it has none.
        Raises Cannot if what was declared for another access is in the way."""
        variable = self.to_blocks.variable(access.key)
        if variable is None:
            variable = self.declare(access)
        self.listed(variable)
        struct = self.block_of(variable, access)
        path = self.to_blocks.find(struct, access)
        if path is None:
            path = [self.append(struct, access)]
        return variable, path

    def listed(self, variable: Inst) -> None:
        """From SPIR-V 1.4 on an entry point lists every global variable that it uses."""
        entry = self.target.entry
        assert entry is not None
        if self.target.spirv_version >= 0x00010400 and variable not in entry.inst.args:
            list_variable(self.target, variable)

    def pointer(self, access: ResourceAccess, type: Inst, out: list[Inst]) -> Inst:
        """A pointer to the same bytes in the target."""
        variable, path = self.place(access)
        number = types.integer(self.target, 32, True)
        args = [types.constant(self.target, number, i) for i in [*access.element, *path]]
        op, pointer_type = ops.OpAccessChain, types.pointer(self.target, access.key[0], type)
        args = [variable, *args]
        if variable.op == ops.OpUntypedVariableKHR:
            assert variable.type is not None
            op, pointer_type = ops.OpUntypedAccessChainKHR, variable.type
            args.insert(0, held_by(variable))
        out.append(value(self.target, op, pointer_type, args, ()))
        return out[-1]

    def append(self, struct: Inst, access: ResourceAccess) -> int:
        """Give a block one more member."""
        index = len(struct.args)
        member = self.type(access.type)
        define_before(self.target, member, struct)
        struct.args = [*struct.args, member]
        words = [(enums.Decoration_Offset, access.offset), *access.words]
        notes = [Inst(ops.OpMemberDecorate, None, [struct], (index, *w)) for w in words]
        annotate(self.target, notes)
        self.refresh()
        return index

    def declare(self, access: ResourceAccess) -> Inst:
        """A new block with one member, for a resource that the layout grants."""
        target = self.target
        storage, group, binding = access.key
        struct = value(target, ops.OpTypeStruct, None, [], ())
        target.globals.append(struct)
        pointer = types.pointer(target, storage, struct)
        variable = value(target, ops.OpVariable, pointer, [], (storage,))
        target.globals.append(variable)
        notes = [Inst(ops.OpDecorate, None, [struct], (enums.Decoration_Block,))]
        if storage == enums.StorageClass_Uniform:
            for words in (
                (enums.Decoration_DescriptorSet, group),
                (enums.Decoration_Binding, binding),
            ):
                notes.append(Inst(ops.OpDecorate, None, [variable], words))
        annotate(target, notes)
        self.refresh()
        return variable

    def refresh(self) -> None:
        self.to_blocks = Blocks(self.target)


def _varying(module: Module) -> dict[Inst, bool]:
    return {}  # what was looked at


def _is_input(inst: Inst) -> bool:
    if inst.op != ops.OpLoad:
        return inst.op >= core.PRIVATE
    source = root(inst.args[0])
    return source.op == ops.OpVariable and source.imm[0] == enums.StorageClass_Input


def always_read(blocks: Blocks) -> Ends:
    """How far every invocation of a stage reads into the resources, and elements of arrays of such:
    the end of the last bytes that are read, whichever way the invocation takes (or, where that is
    known, the first one of a workgroup or patch).

    A draw none of whose invocations reads a resource may have none bound (PARTIALLY_BOUND:
    "descriptors ... that are not dynamically used need not contain valid descriptors"), and one
    that is bound may be smaller than its block: only what is read must lie in the range
    (VUID-vkCmdDraw-uniformBuffers-06935). A range begins at the block's first byte and has no
    holes, so who may read bytes may read those before them."""
    return fact(blocks.module, _always_read, blocks.module.version)


def _always_read(module: Module) -> Ends:
    assert module.entry is not None
    blocks = Blocks(module)
    cfg = Cfg.of(module, module.entry.function)
    read = {block: _read(blocks, block) for block in cfg.order}
    known: dict[Block, Ends] = {}  # from a block on; nothing is known of one that never ends
    changed = True
    while changed:  # loops: once more
        changed = False
        for block in reversed(cfg.order):
            own, goes_on = read[block]
            ways = [known[b] for b in _ways(blocks, block) if b in known] if goes_on else [own]
            if not ways or block.terminator.op == ops.OpUnreachable:
                continue
            made = {n: max(e, own.get(n, 0)) for n, e in _on_all(ways).items()}
            for name, end in own.items():
                made.setdefault(name, end)
            if known.get(block) != made:
                known[block] = made
                changed = True
    return known.get(cfg.order[0], {})


def _ways(blocks: Blocks, block: Block) -> list[Block]:
    """Where a block goes on to; where it is known, that of the first invocation of a workgroup or
    patch: it is enough that one of them reads."""
    end = block.terminator
    if end.op == ops.OpBranchConditional and end.args[0].op in BITS:
        values = [_of_first(blocks, arg) for arg in end.args[0].args]
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            target = end.args[1 if BITS[end.args[0].op](32, *values) else 2]
            assert isinstance(target, Block)
            return [target]
    return block.successors()


def _of_first(blocks: Blocks, value: Inst) -> int | None:
    """A number of 32 bits as the first invocation has it; None if that is not known."""
    if value.op == ops.OpCompositeExtract:
        value = value.args[0]
    if value.op == ops.OpLoad:
        variable = root(value.args[0])
        builtin = blocks.tables.find(variable, enums.Decoration_BuiltIn)
        return 0 if builtin and builtin[0] in info.INVOCATION_BUILTINS else None
    return types.bits_of(value) if value.type is not None and value.type.imm[:1] == (32,) else None


def surely_there(access: ResourceAccess, *stages: Blocks) -> bool:
    """Whether one of the stages reads these bytes in each invocation, or bytes behind them."""
    name = access.key, *access.element
    end = access.offset + size_of(access.type, access.words)
    return any(end <= always_read(blocks).get(name, 0) for blocks in stages)


def _on_all(ways: list[Ends]) -> Ends:
    """What is read on each of several ways."""
    first, *others = ways
    return {n: min([e, *[w[n] for w in others]]) for n, e in first.items()
            if all(n in w for w in others)}  # fmt: skip


def _read(blocks: Blocks, block: Block) -> tuple[Ends, bool]:
    """How far a block reads into each resource, and whether it surely goes on to others."""
    ends: Ends = {}
    calls = Calls.of(blocks.module)
    for inst in block.insts:
        if inst.op not in QUIET and calls.does(inst, info.ENDS):
            return ends, False
        if inst.op == ops.OpLoad and root(inst.args[0]).imm[:1] == _UNIFORM:
            try:
                access = blocks.access(inst)
            except Cannot:
                continue
            name = access.key, *access.element
            end = access.offset + size_of(access.type, access.words)
            ends[name] = max(end, ends.get(name, 0))
    return ends, bool(block.successors())


def describe(inst: Inst) -> str:
    """Why an instruction stays, for people."""
    name = ops.NAMES.get(inst.op, "an instruction")
    if inst.op == ops.OpPhi:
        return "it depends on control flow"
    if inst.op == ops.OpLoad:
        return "it reads memory"
    return f"it is computed from {name}, which stays in its stage"
