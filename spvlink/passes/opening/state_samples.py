"""Read inputs in the middle of the pixel where there is one sample, and a fragment is one pixel.

    centroid in vec4 v;   sample in vec4 w;        ->    in vec4 v, w
    interpolateAtCentroid(v), ...AtSample(v, i)    ->    v
    gl_SampleID                                    ->    0

Why it is right. A shaded fragment has its only sample covered, so the middle of the pixel lies in
the primitive: centroid and sample inputs are interpolated there, like all others (Vulkan,
"Interpolation Decorations"; "Multisampling" has (0.5, 0.5) for one sample). Sample shading asks for
one invocation a sample, which is one a fragment anyway.

What breaks it. gl_SampleMaskIn is 0 in helper invocations, which derivatives see: it stays. Only
a device with standardSampleLocations promises the value of gl_SamplePosition: it stays, and so does
interpolateAtOffset.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import enums, glsl, ops
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import replace_annotations, rewrite, ungroup
from spvlink.passes.opening.given_builtins import set_given_builtins

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

FINER: Final = frozenset((enums.Decoration_Centroid, enums.Decoration_Sample))
_AT: Final = frozenset((glsl.Glsl_InterpolateAtCentroid, glsl.Glsl_InterpolateAtSample))


def state_samples(module: Module) -> None:
    """Read everything in the middle of the pixel."""
    _undecorate(module)
    sets = Effects.of(module).glsl
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                if inst.op == ops.OpExtInst and inst.args[0] in sets and inst.imm[0] in _AT:
                    rewrite(module, inst, ops.OpLoad, [inst.args[1]], ())
    set_given_builtins(module, {enums.BuiltIn_SampleId: 0})


def _undecorate(module: Module) -> None:
    """Take the decorations from inputs and from the members of blocks that are inputs."""
    assert module.entry is not None
    targets: set[Inst] = set()
    for variable in module.entry.inst.args[1:]:
        if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Input:
            assert variable.type is not None
            targets.add(variable)
            type = variable.type.args[0]
            while type.op == ops.OpTypeArray:
                type = type.args[0]
            if type.op == ops.OpTypeStruct:
                targets.add(type)
    for target in targets:
        ungroup(module, target)
    left = [note for note in module.annotations if not _goes(note, targets)]
    if len(left) < len(module.annotations):
        replace_annotations(module, left)


def _goes(note: Inst, targets: set[Inst]) -> bool:
    if note.op == ops.OpDecorate:
        return note.imm[0] in FINER and note.args[0] in targets
    return note.op == ops.OpMemberDecorate and note.imm[1] in FINER and note.args[0] in targets
