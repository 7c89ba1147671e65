"""Reuse outputs of a control shader that the invocation which wrote them reads back.

    STORE_OUTPUT 8 %x %id                    STORE_OUTPUT 8 %x %id; OpStore %own %x
    OpControlBarrier ...               ->    OpControlBarrier ...
    %y = LOAD_OUTPUT 8 %id                   %y = OpLoad %own

``%own`` is a local variable, which promotion turns into values.

Why it is right. ``%own`` equals the element of this invocation if no other invocation writes that
element: every store must have InvocationId as its index.

What breaks it. A load of another invocation's element: it stays. Patch outputs in a shader with a
barrier: others may store in between. Without a barrier their writes race with ours, and the value
is undefined if they differ (Vulkan, "Tessellation Control Shader Output"), so these are reused.

Cost. None: promotion removes the variable.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_OUTPUT, STORE_OUTPUT, Function, Inst, Module
from spvlink.ir.edit import rewrite, touched, value


def promote_own_outputs(module: Module) -> bool:
    """Give each output that is read back so a local variable; whether there was one. Promotion
    comes next."""
    assert module.entry is not None
    function = module.entry.function
    keys = _own_keys(module, function)
    if not keys:
        return False
    variables: dict[int, Inst] = {}
    for block in function.blocks:
        out: list[Inst] = []
        for inst in block.insts:
            if inst.op == LOAD_OUTPUT and _is_own(module, keys, inst):
                variable = _variable(module, variables, inst.imm[0], inst.type)
                rewrite(module, inst, ops.OpLoad, [variable], ())
            out.append(inst)
            if inst.op == STORE_OUTPUT and inst.imm[0] in keys:
                variable = _variable(module, variables, inst.imm[0], inst.args[0].type)
                out.append(Inst(ops.OpStore, None, [variable, inst.args[0]], ()))
        block.insts = out
    function.blocks[0].insts[:0] = variables.values()
    touched(module)
    return True


def _variable(module: Module, variables: dict[int, Inst], key: int, type: Inst | None) -> Inst:
    variable = variables.get(key)
    if variable is None:
        assert type is not None
        storage = enums.StorageClass_Function
        pointer = types.pointer(module, storage, type)
        variable = variables[key] = value(module, ops.OpVariable, pointer, [], (storage,))
    return variable


def _own_keys(module: Module, function: Function) -> set[int]:
    """Keys that this invocation reads back, and that nobody else writes where it does."""
    read: set[int] = set()
    foreign: set[int] = set()  # written where it may be another invocation's
    patch: set[int] = set()
    barrier = False
    calls = Calls.of(module)
    for block in function.blocks:
        for inst in block.insts:
            if inst.op == LOAD_OUTPUT:
                if not inst.args:
                    patch.add(inst.imm[0])
                if not inst.args or is_invocation_id(module, inst.args[0]):
                    read.add(inst.imm[0])
            elif inst.op == STORE_OUTPUT:
                if len(inst.args) > 1 and not is_invocation_id(module, inst.args[1]):
                    foreign.add(inst.imm[0])
            elif not barrier and calls.does(inst, info.BARRIER):
                barrier = True
    return read - foreign - (patch if barrier else set())


def _is_own(module: Module, keys: set[int], load: Inst) -> bool:
    if load.imm[0] not in keys:
        return False
    return not load.args or is_invocation_id(module, load.args[0])


def is_invocation_id(module: Module, index: Inst) -> bool:
    """Whether a value is this invocation's number in its patch."""
    while index.op in (ops.OpBitcast, ops.OpCopyObject):
        index = index.args[0]
    if index.op != ops.OpLoad:
        return False
    builtin = Decorations.of(module).find(index.args[0], enums.Decoration_BuiltIn)
    return bool(builtin) and builtin == (enums.BuiltIn_InvocationId,)
