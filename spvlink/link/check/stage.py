"""Collect the declarations and uses of one stage, for the rules between stages."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations, Names
from spvlink.grammar import enums, ops
from spvlink.ir.core import EXECUTION_MODES, Inst, Module
from spvlink.link.check import interface
from spvlink.link.check.findings import Finding
from spvlink.link.check.interface import DeclaredVariable, Label
from spvlink.link.check.uses import Uses
from spvlink.pipeline import Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

    from spvlink.link.check.interface import Place

    Wrong = tuple[str, Label, Place | None, str]  # as interface.Refuse is told

INPUT: Final = enums.StorageClass_Input
OUTPUT: Final = enums.StorageClass_Output
_MODES: Final = (ops.OpExecutionMode, ops.OpExecutionModeId)


class BuiltIn:
    """A built-in that a stage declares: a variable, or a member of a block of them."""

    __slots__ = ("kind", "label", "stage", "type")

    def __init__(self, kind: int, label: Label, type: Inst, stage: CheckedStage) -> None:
        self.kind = kind  # enums.BuiltIn_...
        self.label = label
        self.type = type  # without the array over vertices, for a member of a block
        self.stage = stage

    @property
    def read(self) -> bool:
        return self.stage.uses.touches_member(self.label.variable, self.label.index, written=False)

    @property
    def written(self) -> bool:
        return self.stage.uses.touches_member(self.label.variable, self.label.index, written=True)

    @property
    def in_block(self) -> bool:
        return self.label.index >= 0


class CheckedStage:
    """``name``: "vert" ... "frag". ``wrong``: what breaks a rule within the stage, by storage
    class. ``modes``: execution modes and their operands."""

    def __init__(self, name: str, module: Module, source: Source) -> None:
        self.name = name
        self.module = module
        self.source = source  # as it came
        self._uses: Uses | None = None
        self.tables = Decorations.of(module)
        self.wrong: dict[int, list[Wrong]] = {INPUT: [], OUTPUT: []}
        self.inputs = self._declared(INPUT)
        self.outputs = self._declared(OUTPUT)
        self.builtins = {INPUT: self._builtins(INPUT), OUTPUT: self._builtins(OUTPUT)}
        self.modes = _modes(module)

    @property
    def uses(self) -> Uses:
        """What the code reads and writes: found out when it is asked for the first time."""
        if self._uses is None:
            self._uses = Uses(self.module)
        return self._uses

    def _declared(self, storage: int) -> list[DeclaredVariable]:
        wrong = self.wrong[storage]

        def refuse(rule: str, label: Label, place: Place | None, message: str) -> None:
            wrong.append((rule, label, place, message))

        variables = interface.declared(self.module, storage, refuse)
        outer = (self.name, storage) in (("vert", INPUT), ("frag", OUTPUT))
        if outer:  # attributes may share a Location, and attachments two sources
            wrong[:] = [w for w in wrong if w[0] not in interface.OVERLAPS.values()]
        if (self.name, storage) == ("frag", INPUT):
            interface.check_fragment(variables, refuse)
        return variables

    def _builtins(self, storage: int) -> list[BuiltIn]:
        """In the order of their declaration."""
        names = Names(self.module)
        builtins = []
        for variable in self.listed(storage):
            assert variable.type is not None
            type = variable.type.args[0]
            own = self.tables.find(variable, enums.Decoration_BuiltIn)
            if own:
                builtins.append(BuiltIn(own[0], Label(names, variable, type), type, self))
                continue
            block = type.args[0] if type.op == ops.OpTypeArray else type
            for index, member in enumerate(block.args if block.op == ops.OpTypeStruct else ()):
                kind = self.tables.find_member(block, index, enums.Decoration_BuiltIn)
                if kind:
                    label = Label(names, variable, block, index)
                    builtins.append(BuiltIn(kind[0], label, member, self))
        return builtins

    def listed(self, storage: int) -> list[Inst]:
        """The entry point's variables of a storage class."""
        assert self.module.entry is not None
        return [
            v
            for v in self.module.entry.inst.args[1:]
            if v.imm and v.imm[0] == storage and v.type is not None and v.type.args
        ]

    def name_of(self, variable: Inst) -> str:
        """What a variable is called."""
        return str(Label(Names(self.module), variable, variable))

    def decoration(self, one: DeclaredVariable, decoration: int) -> int | None:
        """The operand of a decoration of a variable, its block or its member; None without."""
        label = one.label
        operands = self.tables.find(label.variable, decoration)
        if label.index >= 0:
            operands = self.tables.find_member(label.type, label.index, decoration) or operands
        return operands[0] if operands else None

    def captured(self, one: DeclaredVariable) -> bool:
        """Whether transform feedback takes it: then somebody reads it."""
        label, offset = one.label, enums.Decoration_Offset
        if self.tables.find(label.variable, offset) is not None:
            return True
        if (
            label.index >= 0
            and self.tables.find_member(label.type, label.index, offset) is not None
        ):
            return True
        return any(  # of an array of blocks, or a struct: it is one variable
            struct is label.type and words[0] == offset
            for (struct, _), notes in self.tables.members.items()
            for words in notes
            if label.index < 0
        )

    def streamed(self, one: DeclaredVariable) -> bool:
        """Whether it goes to another vertex stream than the one that is rasterized."""
        return bool(self.decoration(one, enums.Decoration_Stream))


def own_findings(stages: list[CheckedStage], at: int) -> Iterator[Finding]:
    """What breaks a rule within one stage."""
    stage = stages[at]
    before = stages[at - 1].name if at else None
    behind = stages[at + 1].name if at + 1 < len(stages) else None
    for storage, between in ((INPUT, (before, stage.name)), (OUTPUT, (stage.name, behind))):
        for rule, label, place, message in stage.wrong[storage]:
            yield Finding(rule, f"{stage.name}: {message}", str(label), place, between)


def _modes(module: Module) -> dict[int, tuple[int, ...]]:
    """The execution modes of the entry point; an operand that is an id, by the constant's value."""
    assert module.entry is not None
    modes: dict[int, tuple[int, ...]] = {}
    for inst in module.sections[EXECUTION_MODES]:
        if inst.op in _MODES and inst.args and inst.args[0] is module.entry.function:
            modes[inst.imm[0]] = inst.imm[1:]
    return modes
