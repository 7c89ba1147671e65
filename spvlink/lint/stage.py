"""One stage as ``spvlink check`` reads it."""

from __future__ import annotations

from typing import Final

from spvlink.binary.decode import decode
from spvlink.entry import select_entry
from spvlink.errors import Refused
from spvlink.grammar import enums, ops
from spvlink.ir.check import check
from spvlink.ir.core import Module
from spvlink.link.check.stage import CheckedStage
from spvlink.passes.opening import spec_constants
from spvlink.pipeline import NV_STAGES, STAGES, Source

_SPECIAL: Final = frozenset((
    ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse,
    ops.OpSpecConstantComposite, ops.OpSpecConstantOp,
))  # fmt: skip


def load(
    data: bytes, entry: str | None, spec: dict[int, str | bytes], stage: str = ""
) -> CheckedStage:
    """Read a module. ``spec``: values of specialization constants, by SpecId; others have their
    defaults. ``stage``: which one, where several entry points have that name. Raises BadSpirv, and
    Usage for a value that makes no sense."""
    module = decode(data)
    module.entry = select_entry(module, entry, stage)
    if module.entry.model in NV_STAGES:
        raise Refused("a stage of SPV_NV_mesh_shader, which is not checked")
    check(module, input=True)
    if any(inst.op in _SPECIAL for inst in module.globals):
        spec_constants.specialize(module, _meant(module, spec), defaults=True)
    elif any(isinstance(value, str) for value in spec.values()):
        spec_constants.specialize(module, spec, defaults=True)  # which refuses them
    name = STAGES[module.entry.model]
    return CheckedStage(name, module, Source(data, "", entry, name))


def _meant(module: Module, spec: dict[int, str | bytes]) -> dict[int, str | bytes]:
    """Without those in bytes that the module has no constant for: they mean nothing in Vulkan."""
    there = {
        note.imm[1]
        for note in module.annotations
        if note.op == ops.OpDecorate and note.imm[0] == enums.Decoration_SpecId
    }
    return {n: value for n, value in spec.items() if n in there or isinstance(value, str)}
