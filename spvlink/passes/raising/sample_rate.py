"""Keep a fragment shader running once per sample if it did (Vulkan, "Sample Shading")."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import annotate, list_variable, touched, value
from spvlink.passes.lowering.memory_access import uses


def sample_rate_reasons(module: Module, listed: bool = False) -> list[str]:
    """What makes a fragment shader run once per sample: each variable it uses statically that is
    Sample-qualified or one of the built-ins that say so (Vulkan, "Sample Shading"). ``listed``: it
    is enough that the entry point lists it, which is all that Mesa looks at."""
    tables = Decorations.of(module)
    entry = module.entry
    assert entry is not None
    reasons: list[str] = []
    for variable in entry.inst.args[1:]:
        if variable.imm[0] != enums.StorageClass_Input:
            continue
        words = tables.targets.get(variable, [])
        struct = variable.type.args[0] if variable.type is not None else None
        if struct is not None and struct.op == ops.OpTypeStruct:
            for index in range(len(struct.args)):
                words = words + tables.members.get((struct, index), [])
        for word in words:
            if word[0] == enums.Decoration_Sample or (
                word[0] == enums.Decoration_BuiltIn and word[1] in info.SAMPLE_RATE_BUILTINS
            ):
                if listed or uses(module, variable):
                    reasons.append(f"%{variable.id}")
                break
    return reasons


def keep_sample_rate(module: Module) -> None:
    """A fragment shader that ran once per sample: if nothing is left that says so, a load of
    SampleId says it."""
    if sample_rate_reasons(module):
        return
    entry = module.entry
    assert entry is not None
    storage = enums.StorageClass_Input
    number = types.integer(module, 32, True)
    variable = value(module, ops.OpVariable, types.pointer(module, storage, number), [], (storage,))
    module.globals.append(variable)
    words = (enums.Decoration_BuiltIn, enums.BuiltIn_SampleId), (enums.Decoration_Flat,)
    annotate(module, [Inst(ops.OpDecorate, None, [variable], w) for w in words])
    list_variable(module, variable)
    block = entry.function.blocks[0]
    # lines may stand before and between variables
    at = 1 + max([n for n, i in enumerate(block.insts) if i.op == ops.OpVariable], default=-1)
    block.insts.insert(at, value(module, ops.OpLoad, number, [variable], ()))
    touched(module)
