"""Decorations and names by target, groups expanded; recomputed when the lists change."""

from __future__ import annotations

from spvlink.grammar import enums, info, ops
from spvlink.ir.core import ALL, Inst, Module, imm_of_name, op_of_name, text_of_name
from spvlink.ir.edit import decorate, touched
from spvlink.ir.known import fact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

Words = tuple[int, ...]  # [decoration, *operand words]

# Known, and no matter of slots.
_UNTOUCHABLE: Final = {
    enums.Decoration_Stream: "it belongs to a vertex stream",
    enums.Decoration_Index: "it has an Index",
    enums.Decoration_ExplicitInterpAMD: "it is interpolated by the shader",
    enums.Decoration_PassthroughNV: "it is passed through to the next stage",
    enums.Decoration_PerViewNV: "it is per view",
    enums.Decoration_PerTaskNV: "it is per task",
}
_HARMLESS: Final = info.VARYING_DECORATIONS.difference(_UNTOUCHABLE)
_UNKNOWN: Final = "spvlink does not know one of its decorations"


class Decorations:
    """``of`` a value or type; ``members`` of (struct type, member index); ``ids`` those whose
    operands are ids."""

    __slots__ = ("members", "targets", "with_ids")

    def __init__(self, module: Module) -> None:
        targets: dict[Inst, list[Words]] = {}
        members: dict[tuple[Inst, int], list[Words]] = {}
        self.targets = targets
        self.members = members
        self.with_ids: dict[Inst, list[Inst]] = {}
        of_value, of_member = ops.OpDecorate, ops.OpMemberDecorate
        for inst in module.annotations:
            op = inst.op
            if op == of_value or op == ops.OpDecorateString:
                target = inst.args[0]
                notes = targets.get(target)
                if notes is None:
                    targets[target] = [inst.imm]
                else:
                    notes.append(inst.imm)
            elif op == of_member or op == ops.OpMemberDecorateString:
                imm = inst.imm
                part = inst.args[0], imm[0]
                notes = members.get(part)
                if notes is None:
                    members[part] = [imm[1:]]
                else:
                    notes.append(imm[1:])
            elif op == ops.OpDecorateId:
                self.with_ids.setdefault(inst.args[0], []).append(inst)
            elif op == ops.OpGroupDecorate:
                group = self.targets.get(inst.args[0], [])
                for target in inst.args[1:]:
                    self.targets.setdefault(target, []).extend(group)
            elif op == ops.OpGroupMemberDecorate:
                group = self.targets.get(inst.args[0], [])
                for target, member in zip(inst.args[1:], inst.imm):
                    self.members.setdefault((target, member), []).extend(group)

    @staticmethod
    def of(module: Module) -> Decorations:
        """The tables, cached until annotations change."""
        return fact(module, Decorations, module.annotated)

    @staticmethod
    def add(module: Module, variable: Inst, notes: list[Words]) -> None:
        """Decorate a variable; the tables go along."""
        tables = Decorations.of(module)
        tables.targets.setdefault(variable, []).extend(notes)
        decorate(module, variable, notes)

    def find(self, target: Inst, decoration: int) -> Words | None:
        """The operand words of a decoration of ``target`` (empty if it has none), or None."""
        for words in self.targets.get(target, ()):
            if words[0] == decoration:
                return words[1:]
        return None

    def find_member(self, struct: Inst, member: int, decoration: int) -> Words | None:
        for words in self.members.get((struct, member), ()):
            if words[0] == decoration:
                return words[1:]
        return None


def is_laid_out(module: Module, type: Inst) -> bool:
    """Whether an array of scalars, vectors or matrices says where its parts lie in memory. No
    variable of a shader's own, Function or Private, may have such a type (spirv-val,
    VUID-StandaloneSpirv-None-10684)."""
    tables = Decorations.of(module)
    while type.op == ops.OpTypeArray:
        if tables.find(type, enums.Decoration_ArrayStride) is not None:
            return True
        type = type.args[0]
    return False


def unstrided(module: Module, type: Inst) -> Inst:
    """The type of a variable of the shader's own in place of this one: for an array with an
    ArrayStride one without, else itself. A value of the one is no value of the other."""
    if not is_laid_out(module, type):
        return type
    made = [unstrided(module, type.args[0]), type.args[1]]
    for array in module.globals:
        if array.op == ops.OpTypeArray and array.args == made and not is_laid_out(module, array):
            return array
    array = Inst(ops.OpTypeArray, None, made, (), module.new_id())
    array.mark = ALL
    module.globals.append(array)
    touched(module)
    return array


def untouchable(tables: Decorations, variable: Inst, decorations: set[int]) -> str:
    """Why an interface variable must stay as it is, for one of its ``decorations`` and those of
    its members. Empty if all of them are known."""
    if variable in tables.with_ids:
        decorations = decorations.union([note.imm[0] for note in tables.with_ids[variable]])
    if decorations.issubset(_HARMLESS):
        return ""
    for number in sorted(decorations):
        if number in _UNTOUCHABLE or number not in info.VARYING_DECORATIONS:
            return _UNTOUCHABLE.get(number, _UNKNOWN)
    return ""


class Names:
    """OpName and OpMemberName, read when asked for."""

    __slots__ = ("members", "names", "targets")

    def __init__(self, module: Module) -> None:
        self.names = module.names
        # instructions; filled when asked for
        self.members: dict[tuple[Inst, int], bytes] = {}
        self.targets: dict[Inst, bytes] = {}  # the same

    def of(self, target: Inst) -> str:
        """The name of a value, or an empty string."""
        if not self.targets:
            self.targets = dict(self.names)
        name = self.targets.get(target)
        if name is not None and op_of_name(name) != ops.OpName:  # a struct, its last member
            own = [n for of, n in self.names if of is target and op_of_name(n) == ops.OpName]
            name = own[-1] if own else None
        return "" if name is None else text_of_name(name)

    def of_member(self, struct: Inst, index: int) -> str:
        """The name of a member; its number if it has none."""
        if not self.members:
            for of, name in self.names:
                if op_of_name(name) == ops.OpMemberName:
                    self.members.setdefault((of, imm_of_name(name)[0]), name)
        entry = self.members.get((struct, index))
        return str(index) if entry is None else text_of_name(entry)
