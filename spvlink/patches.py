"""Patch variables whose Locations are those of variables of vertices, between both tessellation
stages.

    in vec4 x[];                location = 0            0
    patch in vec4 p;            location = 0     ->     APART, while it is linked

Each of the two has a space of Locations of its own (Khronos issue 3858; spirv-val since 2024:
SPIRV-Tools pull request 5654), but slots have one. So what is in the way is moved before anything
else looks, in all modules that face each other. Linking finds places for what is left that nothing
else has; what it leaves alone is moved back in the end. spirv-val, which refuses such modules if it
is older, is asked about them while they are apart.
"""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.entry import select_entry
from spvlink.errors import Refused
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import reword, ungroup
from spvlink.ir.slot import APART
from spvlink.link.check import interface
from spvlink.link.check.interface import DeclaredVariable
from spvlink.pipeline import Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

_SIDES: Final = {"tesc": enums.StorageClass_Output, "tese": enums.StorageClass_Input}
_MOST: Final = 30  # Locations of Patch variables that every device has (120 components)
_LOCATION: Final = enums.Decoration_Location


def overlap(name: str, module: Module) -> bool:
    """Whether there are any in a stage."""
    if name not in _SIDES:
        return False
    patches, others = _both(module, _SIDES[name])
    taken = {place for one in others for place in one.covers}
    return any(not taken.isdisjoint(one.covers) for one in patches)


def separate(name: str, module: Module, source: Source) -> Source:
    """Move the Patch variables of a stage; gives the module's source as it is then, which is the
    same where there are none. Raises Refused."""
    if name not in _SIDES or not _move(module, _SIDES[name], APART):
        return source
    return Source(encode(module), source.file, source.entry, name)


def judged(name: str, data: bytes, entry: str | None) -> bytes:
    """A module as spirv-val is to see it: apart."""
    if name in _SIDES:
        module = decode(data)
        module.entry = select_entry(module, entry, name)
        if overlap(name, module) and _move(module, _SIDES[name], APART):
            return encode(module)
    return data


def back(made: Sequence[tuple[str, bytes, Source, Source]]) -> list[bytes]:
    """What goes out for modules that face each other: all that linking did not place is where it
    was, or behind what it did place. ``made``: of each its stage, what linking made of it, its
    source while Patch variables are apart, and as it came. Raises Refused if there is no place."""
    modules: dict[int, Module] = {}
    for at, (name, data, apart, original) in enumerate(made):
        if name in _SIDES and data != apart.data and apart is not original:
            modules[at] = decode(data)
            modules[at].entry = select_entry(modules[at], apart.entry, name)
    near: set[int] = set()
    far: set[int] = set()
    for at, module in modules.items():
        for one in _both(module, _SIDES[made[at][0]])[0]:
            locations = {location for location, _ in one.covers}
            near |= {location for location in locations if location < APART}
            far |= {location - APART for location in locations if location >= APART}
    by = 0
    while not near.isdisjoint([location + by for location in far]):
        by += 1
    if by and max(far) + by >= _MOST:
        raise Refused("the rest of overlapping Patch variables has no free place")
    out: list[bytes] = []
    for at, (name, data, apart, original) in enumerate(made):
        if at in modules and _move(modules[at], _SIDES[name], by - APART):
            out.append(encode(modules[at]))
        else:
            out.append(original.data if data == apart.data else data)
    return out


def _both(module: Module, storage: int) -> tuple[list[DeclaredVariable], list[DeclaredVariable]]:
    """The Patch variables of a side, and the others."""
    variables = interface.declared(module, storage, _pass_over)
    patches = [one for one in variables if enums.Decoration_Patch in one.kind]
    return patches, [one for one in variables if enums.Decoration_Patch not in one.kind]


def _pass_over(rule: str, label: object, place: object, message: str) -> None:
    """What else is wrong is said where the side is linked."""


def _move(module: Module, storage: int, by: int) -> bool:
    """Add to the Locations of the Patch variables, or, to take it back, of those that are apart;
    whether there are any."""
    moving = {
        v.label.variable: v for v in _both(module, storage)[0] if by > 0 or v.place[0] >= APART
    }
    structs = {one.label.type for one in moving.values() if one.label.index >= 0}
    if structs and any(_struct_of(v) in structs for v in _variables(module) if v not in moving):
        raise Refused("a block with overlapping Patch variables overlaps another one")
    for target in (*moving, *structs):
        ungroup(module, target)
    for note in list(module.annotations):
        target = note.args[0]
        if note.op == ops.OpDecorate and target in moving and note.imm[0] == _LOCATION:
            reword(module, note, (_LOCATION, note.imm[1] + by))
        elif note.op == ops.OpMemberDecorate and target in structs and note.imm[1] == _LOCATION:
            reword(module, note, (note.imm[0], _LOCATION, note.imm[2] + by))
    return bool(moving)


def _variables(module: Module) -> list[Inst]:
    return [v for v in module.globals if v.op == ops.OpVariable]


def _struct_of(variable: Inst) -> Inst | None:
    """What a variable is made of, arrays aside."""
    assert variable.type is not None
    type = variable.type.args[0]
    while type.op == ops.OpTypeArray:
        type = type.args[0]
    return type
