"""Fill the components of vertex attributes that their format lacks.

    vec4 a, of R32G32_SFLOAT       ->    a.z is 0, a.w is 1

Why it is right. Missing G, B and A are filled with (0, 0, 1), as integers or floats as the shader
has them; an attribute of a null buffer is read as zeros, and then filled likewise (Vulkan, "Vertex
Input Extraction", vkCmdBindVertexBuffers). Robust reads out of bounds may be filled so, too. The
constants stay: an attribute that is needed whole could be loaded whole again, but not where the
shader has its own constants in these lanes, since out of bounds the alpha of a load may be 0.

What breaks it. Numbers of 64 bits are not filled: they stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module
from spvlink.ir.edit import become, sweep, value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    Attribute = tuple[int, int, int]  # as in PipelineState

_ALPHA: Final = 3
_ONE: Final = {16: 0x3C00, 32: 0x3F800000}


def state_attributes(module: Module, formats: Sequence[Attribute]) -> None:
    """Make constants of what is filled."""
    known = _known(module, {location: components for location, components, _ in formats})
    for function in module.functions if known else ():
        for block in function.blocks:
            insts: list[Inst] = []
            for inst in block.insts:
                variable, lane = _reads(inst, known)
                if variable is None or (lane >= 0 and not known[variable] >> lane & 1):
                    insts.append(inst)
                    continue
                if lane >= 0:
                    insts.append(inst)
                    become(module, inst, _filling(module, variable, lane))
                else:
                    insts += _filled(module, inst, variable, known[variable])
            block.insts = insts
        sweep(module, function)


def attributes_of(module: Module) -> list[tuple[Inst, int, int]]:
    """The inputs of a vertex shader that have a Location, with it and their first Component."""
    assert module.entry is not None
    tables = Decorations.of(module)
    found: list[tuple[Inst, int, int]] = []
    for variable in module.entry.inst.args[1:]:
        if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Input:
            continue
        location = tables.find(variable, enums.Decoration_Location)
        if location:
            component = tables.find(variable, enums.Decoration_Component) or (0,)
            found.append((variable, location[0], component[0]))
    return found


def _known(module: Module, formats: dict[int, int]) -> dict[Inst, int]:
    """Attributes that are vectors or scalars -> the lanes that are filled."""
    lanes_of: dict[Inst, int] = {}
    for variable, location, component in attributes_of(module):
        mask = formats.get(location, 0)
        if not mask & 1:  # nothing is known, or red is filled, of which the rule says nothing
            continue
        scalar, size = numbers_of(variable)
        if not types.is_plain_number(scalar) or scalar.imm[0] not in _ONE:
            continue
        lanes = (~mask >> component) & ((1 << size) - 1)
        if lanes and types.may_be_constant(module, scalar):
            lanes_of[variable] = lanes
    return lanes_of


def numbers_of(variable: Inst) -> tuple[Inst, int]:
    """The scalar type of a variable and how many there are, or another type."""
    assert variable.type is not None
    type = variable.type.args[0]
    return (type.args[0], type.imm[0]) if type.op == ops.OpTypeVector else (type, 1)


def _reads(inst: Inst, known: dict[Inst, int]) -> tuple[Inst | None, int]:
    """Which of these attributes an instruction loads, and which lane of a vector, -1 for all."""
    if inst.op != ops.OpLoad or inst.imm:
        return None, -1
    pointer = inst.args[0]
    if pointer in known:
        return pointer, -1 if numbers_of(pointer)[1] > 1 else 0
    if IS_CHAIN[pointer.op] and len(pointer.args) == 2 and pointer.args[0] in known:
        lane = types.index_of(pointer.args[1])
        if lane is not None and 0 <= lane < numbers_of(pointer.args[0])[1]:
            return pointer.args[0], lane
    return None, -1


def _filling(module: Module, variable: Inst, lane: int) -> Inst:
    """The constant that stands in a lane without data."""
    scalar, _ = numbers_of(variable)
    component = (Decorations.of(module).find(variable, enums.Decoration_Component) or (0,))[0]
    one = _ONE[scalar.imm[0]] if scalar.op == ops.OpTypeFloat else 1
    return types.constant(module, scalar, one if lane + component == _ALPHA else 0)


def _filled(module: Module, load: Inst, variable: Inst, lanes: int) -> list[Inst]:
    """A load of a vector, and what fills its lanes; the load that was there becomes that."""
    made = [value(module, ops.OpLoad, load.type, [variable], ())]
    for lane in range(4):
        if lanes >> lane & 1:
            args = [_filling(module, variable, lane), made[-1]]
            made.append(value(module, ops.OpCompositeInsert, load.type, args, (lane,)))
    become(module, load, made[-1])
    return [*made, load]
