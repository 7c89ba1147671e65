"""What holds of a stage before linking changes anything: the resources that it uses statically, and
whether it may be changed at all."""

from __future__ import annotations

from spvlink.facts.calls import callees
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, Inst, Module
from spvlink.link.resources.blocks import IS_VARIABLE, Key, resource_key
from spvlink.passes.lowering.memory_access import IS_NUMERIC
from spvlink.pipeline import NV_STAGES

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.link.border.stage import Stage

_RESOURCES: Final = frozenset((enums.StorageClass_Uniform, enums.StorageClass_PushConstant))
# Untyped pointers may lead there, as pointers made of addresses do: to bytes of any buffer.
_BUFFERS: Final = _RESOURCES | {enums.StorageClass_StorageBuffer}
# With descriptor heaps also to the descriptors in a heap, and to a texel of an image. None of these
# is a variable's, so what is read through one stays in its stage.
_HEAPS: Final = _BUFFERS | {enums.StorageClass_UniformConstant, enums.StorageClass_Image}
_UNTYPED: Final = (enums.Capability_UntypedPointersKHR, enums.Capability_DescriptorHeapEXT)


def find_visible(stages: list[Stage]) -> None:
    """Note for each stage the resources that it uses statically and that another one has too.
    To be asked before anything is changed."""
    declared = [resources(stage.module) for stage in stages]
    for stage, mine in zip(stages, declared):
        others = {k for keys in declared if keys is not mine for k in keys.values()}
        stage.visible = used_resources(stage.module, mine, others)


def resources(module: Module) -> dict[Inst, Key]:
    """The variables of a module that are resources which other stages may read too."""
    variables = [i for i in module.globals if IS_VARIABLE[i.op] if i.imm[0] in _RESOURCES]
    if not variables:
        return {}
    tables = Decorations.of(module)
    keys = {i: resource_key(tables, i) for i in variables}
    return {i: key for i, key in keys.items() if key is not None}


def used_resources(module: Module, mine: dict[Inst, Key], others: set[Key]) -> frozenset[Key]:
    """The resources that a module's entry point uses statically, before anything was changed, of
    those that another stage has too: nothing else can come from there."""
    wanted = {i for i, key in mine.items() if key in others}
    if not wanted:
        return frozenset()
    left = set(wanted)  # not seen in use so far
    entry = module.entry
    assert entry is not None
    todo, seen = [entry.function], {entry.function}
    while todo and left:
        function = todo.pop()
        for callee in callees(function) if len(module.functions) > 1 else ():
            if callee not in seen:
                seen.add(callee)
                todo.append(callee)
        for block in function.blocks:
            for inst in block.insts:
                if not IS_NUMERIC[inst.op]:
                    for arg in inst.args:
                        if IS_VARIABLE[arg.op] and arg in left:
                            left.remove(arg)
    return frozenset([mine[i] for i in wanted - left])


# What a stage may use that linking does not follow, by the capability that it takes.
_BEYOND: Final = {
    # then outputs, and who reads those, look dead
    enums.Capability_GeometryShaderPassthroughNV: "it passes inputs without code (PassthroughNV)",
}


def unsupported_reason(module: Module) -> str:
    """Why a stage must go out as it came; empty if nothing is known against it."""
    if module.opaque:
        return module.opaque
    if module.entry is not None and module.entry.model in NV_STAGES:
        return "it is a stage of SPV_NV_mesh_shader, which spvlink does not follow"
    declared = {inst.imm[0] for inst in module.sections[CAPABILITIES]}
    for capability, why in _BEYOND.items():
        if capability in declared:
            return why
    if not declared.isdisjoint(_UNTYPED):
        followed = _HEAPS if enums.Capability_DescriptorHeapEXT in declared else _BUFFERS
        pointers = types.of_op(module, ops.OpTypeUntypedPointerKHR)
        if any(type.imm[0] not in followed for type in pointers):
            return "it uses untyped pointers to more than buffers, which spvlink does not follow"
    return ""
