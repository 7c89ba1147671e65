"""Runs an entry point for a batch of invocations at once.

``Machine`` is one stage that runs; ``Frame`` one call of a function in it. What each instruction
does is in ``HANDLERS``, which other modules fill; what is not there gives ``NotInterpreted``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Block, Function, Inst, name_of_set, says_nothing
from spvlink.verifier.machine.control import BlockOrder
from spvlink.verifier.machine.declared import MachineStage
from spvlink.verifier.machine.memory import MemoryEntry, MemoryPointer, MemorySlot
from spvlink.verifier.machine.values import Array, Endless, Kinds, NotInterpreted, V, Value, merged
from spvlink.verifier.machine.world import World, resource_of

MOST_STEPS: Final = 20_000  # blocks that a run may take
MOST_CALLS: Final = 60  # deep
GROUP: Final = 4  # invocations of a subgroup: a quad


class Frame:
    """A call: the values so far, and which invocations are there."""

    __slots__ = ("flow", "full", "mask", "pending", "result", "values")

    def __init__(self, flow: BlockOrder, values: dict[Inst, Value]) -> None:
        self.flow = flow
        self.values = values
        self.mask: Array = np.zeros(0, dtype=bool)
        self.full = False
        self.pending: dict[Block, Array] = {}
        self.result: Value = None


Handler = Callable[["Machine", Frame, Inst], Value]
HANDLERS: Final[dict[int, Handler]] = {}


class Machine:
    """One stage that runs ``count`` invocations. ``groups``: the workgroup or patch of each."""

    def __init__(
        self, stage: MachineStage, world: World, count: int, groups: Array | None = None
    ) -> None:
        self.stage = stage
        self.world = world
        self.kinds = Kinds(world.loose, world.ones)
        self.count = count
        self.groups = groups
        self.group_count = 0 if groups is None else int(groups.max()) + 1
        self.helper = np.zeros(count, dtype=bool)
        self.dead = np.zeros(count, dtype=bool)  # ended by an instruction that ends it
        self.discarded = np.zeros(count, dtype=bool)
        self.wild = np.zeros(count, dtype=bool)  # went where an undefined value sent them
        self.quads = False
        self.log: list[MemoryEntry] = []
        self.slots: dict[Inst, MemorySlot] = {}
        self.base: dict[Inst, Value] = {}
        self.flows: dict[Function, BlockOrder] = {}
        self.steps = 0
        self.depth = 0
        self.on_emit: Callable[[int, Array, bool], None] | None = None
        self.on_tasks: Callable[[Frame, Inst], None] | None = None
        self.on_outputs: Callable[[Frame, Inst], None] | None = None
        self.on_interpolate: Callable[[MemoryPointer, int, Value, Array], Value] | None = None
        self.declare()

    # -- what is at module scope -------------------------------------------------------------------

    def declare(self) -> None:
        for inst in self.stage.module.globals:
            if inst.op == ops.OpVariable:
                self.base[inst] = self.variable(inst)
            elif inst.type is not None:
                self.base[inst] = self.constant(inst)

    def variable(self, inst: Inst) -> Value:
        storage = inst.imm[0]
        assert inst.type is not None
        type = inst.type.args[0]
        if storage in _RESOURCES:
            return resource_of(self.stage, self.world, inst)
        if storage == enums.StorageClass_Input:
            slot = MemorySlot(None, "input")
        else:
            tree = self.kinds.filled(type, True)
            if inst.args:
                tree = self.base[inst.args[0]]
            shared = storage in _SHARED or (
                storage == enums.StorageClass_Output and self.groups is not None
            )
            slot = MemorySlot(tree, "", self.groups if shared else None)
        self.slots[inst] = slot
        return MemoryPointer(slot, (), type)

    def constant(self, inst: Inst) -> Value:
        op, type = inst.op, inst.type
        assert type is not None
        if op in (ops.OpConstantTrue, ops.OpConstantFalse):
            return self.kinds.scalar(type, int(op == ops.OpConstantTrue))
        if op == ops.OpConstant:
            bits = types.bits_of(inst)
            assert bits is not None
            return self.kinds.scalar(type, bits)
        if op == ops.OpConstantComposite or op == ops.OpSpecConstantComposite:
            frame = Frame(_NO_FLOW, self.base)
            return HANDLERS[ops.OpCompositeConstruct](self, frame, inst)
        if op == ops.OpConstantNull:
            return self.kinds.filled(type, False)
        if op == ops.OpUndef:
            return self.kinds.filled(type, True)
        if op == ops.OpExtInst and says_nothing(name_of_set(inst.args[0])):
            return None
        if op == ops.OpSpecConstantOp:
            made = Inst(inst.imm[0], type, inst.args, inst.imm[1:])
            frame = Frame(_NO_FLOW, self.base)
            frame.mask, frame.full = np.ones(1, dtype=bool), True
            return self.handled(frame, made)
        raise NotInterpreted("a constant of this kind", self.stage.name, repr(inst))

    def handled(self, frame: Frame, inst: Inst) -> Value:
        handler = HANDLERS.get(inst.op)
        if handler is None:
            raise NotInterpreted(f"{ops.NAMES[inst.op]} is not interpreted", self.stage.name)
        return handler(self, frame, inst)

    # -- running -----------------------------------------------------------------------------------

    def run(self) -> None:
        with np.errstate(all="ignore"):
            try:
                self.call(self.stage.function, [], np.ones(self.count, dtype=bool))
            except NotInterpreted as error:
                error.stage = error.stage or self.stage.name
                raise

    def call(self, function: Function, given: list[Value], mask: Array) -> Value:
        self.depth += 1
        if self.depth > MOST_CALLS:
            raise NotInterpreted("calls too deep", self.stage.name)
        flow = self.flows.get(function)
        if flow is None:
            flow = self.flows[function] = BlockOrder(function)
        frame = Frame(flow, dict(self.base))
        frame.values.update(zip(function.params, given, strict=True))
        frame.pending[function.blocks[0]] = mask
        while frame.pending:
            block = min(frame.pending, key=flow.order.__getitem__)
            frame.mask = frame.pending.pop(block) & ~self.dead
            if frame.mask.any():
                self.steps += 1
                if self.steps > MOST_STEPS:
                    raise Endless("loops that take too long", self.stage.name)
                frame.full = bool(frame.mask.all())
                self.block(frame, block)
        self.depth -= 1
        return frame.result

    def block(self, frame: Frame, block: Block) -> None:
        code = frame.flow.code[block]
        values, lasting = frame.values, frame.flow.lasting
        for inst in code[:-1]:
            handler = HANDLERS.get(inst.op)
            if handler is None:
                name = ops.NAMES[inst.op]
                raise NotInterpreted(f"{name} is not interpreted", self.stage.name, repr(inst))
            value = handler(self, frame, inst)
            if value is not None:
                if inst in lasting and inst in values and not frame.full:
                    value = merged(frame.mask, value, values[inst])
                values[inst] = value
        self.leave(frame, block, code[-1])

    def leave(self, frame: Frame, block: Block, end: Inst) -> None:
        op, mask = end.op, frame.mask
        if op == ops.OpBranch:
            self.go(frame, block, end.args[0], mask)
        elif op == ops.OpBranchConditional:
            chosen = frame.values[end.args[0]]
            self.undefined_way(chosen, mask)
            yes = mask & chosen.d
            self.go(frame, block, end.args[1], yes)
            self.go(frame, block, end.args[2], mask & ~chosen.d)
        elif op == ops.OpSwitch:
            self.switch(frame, block, end)
        elif op == ops.OpReturnValue:
            value = frame.values[end.args[0]]
            old = frame.result
            frame.result = value if old is None else merged(mask, value, old)
        elif op in _ENDS:
            self.dead |= mask
            if op in (ops.OpKill, ops.OpTerminateInvocation):
                self.discarded |= mask
            elif op == ops.OpUnreachable:
                self.wild |= mask
            elif op == ops.OpEmitMeshTasksEXT and self.on_tasks is not None:
                self.on_tasks(frame, end)
        elif op != ops.OpReturn:
            raise NotInterpreted(f"{ops.NAMES[op]} is not interpreted", self.stage.name)

    def undefined_way(self, chosen: V, mask: Array) -> None:
        if chosen.u is not None:
            self.wild |= mask & chosen.u

    def switch(self, frame: Frame, block: Block, end: Inst) -> None:
        chosen = frame.values[end.args[0]]
        self.undefined_way(chosen, frame.mask)
        left = frame.mask
        type = end.args[0].type
        assert type is not None
        width = type.imm[0]
        size = 2 if width == 64 else 1
        for n, target in enumerate(end.args[2:]):
            words = end.imm[n * size : (n + 1) * size]
            bits = sum(w << 32 * i for i, w in enumerate(words)) & ((1 << width) - 1)
            here = left & (chosen.d == chosen.d.dtype.type(bits))
            self.go(frame, block, target, here)
            left = left & ~here
        self.go(frame, block, end.args[1], left)

    def go(self, frame: Frame, block: Block, target: Any, mask: Array) -> None:
        """These invocations go on at a block; its phis take their values now."""
        if not mask.any():
            return
        phis = frame.flow.phis[target]
        if phis:
            values = frame.values
            ways = [values[p.args[2 * p.args[1::2].index(block)]] for p in phis]
            for phi, value in zip(phis, ways):
                old = values.get(phi)
                values[phi] = value if old is None else merged(mask, value, old)
        waiting = frame.pending.get(target)
        frame.pending[target] = mask if waiting is None else waiting | mask

    # -- for handlers ------------------------------------------------------------------------------

    def acting(self, frame: Frame) -> Array:
        """Those whose stores count."""
        return frame.mask & ~self.helper if self.quads else frame.mask

    def refuse(self, why: str, inst: Inst) -> NotInterpreted:
        return NotInterpreted(why, self.stage.name, repr(inst))


_RESOURCES: Final = frozenset((
    enums.StorageClass_Uniform, enums.StorageClass_StorageBuffer,
    enums.StorageClass_UniformConstant, enums.StorageClass_PushConstant,
))  # fmt: skip
_SHARED: Final = frozenset(
    (enums.StorageClass_Workgroup, enums.StorageClass_TaskPayloadWorkgroupEXT)
)
_ENDS: Final = frozenset((
    ops.OpKill, ops.OpTerminateInvocation, ops.OpUnreachable, ops.OpEmitMeshTasksEXT,
))  # fmt: skip


def _no_flow() -> BlockOrder:
    function = Function(0)
    block = Block(0)
    block.insts.append(Inst(ops.OpReturn, None, [], ()))
    function.blocks.append(block)
    return BlockOrder(function)


_NO_FLOW: Final = _no_flow()
