"""Find the outputs that are equal for all vertices of a primitive."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.facts.divergence import PRIMITIVE, Divergence
from spvlink.facts.effects import root
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.known import fact
from spvlink.link.border.link import Link
from spvlink.link.border.values import single_value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


def divergence_of(link: Link) -> Divergence:
    """The levels of the producer's values, as long as its code stays as it is."""
    module = link.producer.module
    return fact(module, _divergence, module.version)


def _divergence(module: Module) -> Divergence:
    assert module.entry is not None
    return Divergence(module, module.entry.function)


def equal_on_primitive(link: Link, key: int, divergence: Divergence) -> bool:
    """Whether all vertices of a primitive store one value: every return stores it, since the
    provoking vertex may be one that took another way, and it is equal for the primitive. A vertex
    to which no invocation of a mesh shader stores it is undefined, whichever way it is read."""
    value = single_value(link, key)
    if value is None:
        return False
    if link.producer.name == "mesh":
        # equal for the workgroup, and no invocation stores one value after another
        equal = divergence.of(value) <= PRIMITIVE and key not in link.read_back
        return equal and computed_once(link.producer.module, value)
    if len(link.stores[key]) != link.returns or link.in_place:
        return False
    if link.producer.name == "geom":
        # one invocation emits the whole primitive: a value computed once is the same for all of it
        return computed_once(link.producer.module, value)
    return divergence.of(value) <= PRIMITIVE


def computed_once(module: Module, value: Inst) -> bool:
    """Whether a value is a constant or is made outside of all loops."""
    assert module.entry is not None
    function = module.entry.function
    structure = Structure.of(module, function)
    for block in function.blocks:
        if value in block.insts:
            return not structure.loops.intersection((block, *structure.around(block)))
    return value.op in types.CONSTANTS


_GLANCE: Final = 64  # values that ``varies_at_a_glance`` looks at


def varies_at_a_glance(link: Link, key: int) -> bool:
    """Whether what is stored differs between vertices, as far as a glance shows: an attribute is in
    it. Most outputs are like that, and finding out what is equal takes longer."""
    tables = Decorations.of(link.producer.module)
    todo = [s.args[0] for s in link.stores[key][:1]]
    for inst in todo:
        if inst.op == ops.OpLoad:
            variable = root(inst.args[0])
            if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Input:
                builtin = tables.find(variable, enums.Decoration_BuiltIn)
                if not builtin or builtin[0] not in info.PRIMITIVE_BUILTINS:
                    return True
        elif inst.op != ops.OpPhi and len(todo) < _GLANCE:
            todo += inst.args
    return False
