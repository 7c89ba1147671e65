"""What a module says of itself: decorations, execution modes, the entry point. Read by our own
hands, so that nothing is shared with who wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spvlink.errors import SpvlinkError
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import ENTRY_POINTS, EXECUTION_MODES, Function, Inst, Module, string_of
from spvlink.pipeline import STAGES, Source
from spvlink.verifier.machine.values import NotInterpreted

Notes = dict[int, tuple[int, ...]]
DECORATES: Final = frozenset((ops.OpDecorate, ops.OpDecorateId, ops.OpDecorateString))
MEMBER_DECORATES: Final = frozenset((ops.OpMemberDecorate, ops.OpMemberDecorateString))


class MachineStage:
    """A module with its entry point, and what is declared of its ids."""

    def __init__(self, module: Module, entry: Inst, source: Source) -> None:
        self.module = module
        self.source = source
        self.model = entry.imm[0]
        self.name = STAGES[self.model]
        function = entry.args[0]
        assert isinstance(function, Function)
        self.function = function
        self.interface = entry.args[1:]
        self.notes: dict[Inst, Notes] = {}
        self.members: dict[tuple[Inst, int], Notes] = {}
        self.patched: dict[tuple[Inst, int, int], tuple[int, ...]] = {}
        for note in module.annotations:
            self.read(note)
        self.modes: dict[int, tuple[int, ...]] = {}
        self.mode_ids: dict[int, list[Inst]] = {}
        for mode in module.sections[EXECUTION_MODES]:
            if mode.args[0] is function:
                self.modes[mode.imm[0]] = mode.imm[1:]
                self.mode_ids[mode.imm[0]] = mode.args[1:]

    def read(self, note: Inst) -> None:
        if note.op in DECORATES:
            self.notes.setdefault(note.args[0], {})[note.imm[0]] = note.imm[1:]
        elif note.op in MEMBER_DECORATES:
            key = note.args[0], note.imm[0]
            self.members.setdefault(key, {})[note.imm[1]] = note.imm[2:]
        elif note.op != ops.OpDecorationGroup:
            raise NotInterpreted("groups of decorations", self.name, repr(note))

    def find(self, of: Inst, decoration: int) -> int | None:
        """The first word of a decoration (0 if it has none), or None."""
        words = self.notes.get(of, {}).get(decoration)
        return None if words is None else (words[0] if words else 0)

    def member(self, type: Inst, at: int, decoration: int) -> int | None:
        words = self.members.get((type, at), {}).get(decoration)
        return None if words is None else (words[0] if words else 0)

    def variables(self, storage: int) -> list[Inst]:
        """Those at module scope."""
        return [
            i for i in self.module.globals if i.op == ops.OpVariable and i.imm[0] == storage
        ]  # fmt: skip


def entry_of(module: Module, source: Source) -> Inst:
    """The OpEntryPoint that a source means."""
    entries = [
        entry
        for entry in module.sections[ENTRY_POINTS]
        if source.entry is None or string_of(entry.imm, 1)[0] == source.entry
        if not source.stage or STAGES.get(entry.imm[0]) == source.stage
    ]
    if len(entries) != 1:
        raise NotInterpreted(f"{len(entries)} entry points where one is meant")
    if entries[0].imm[0] not in STAGES:
        raise NotInterpreted("a stage that is not interpreted")
    return entries[0]


def stages_of(sources: list[Source]) -> list[MachineStage]:
    """The stages of a pipeline in its order."""
    from spvlink.binary.decode import decode

    stages: list[MachineStage] = []
    for source in sources:
        try:
            module = decode(source.data)
        except SpvlinkError as error:
            raise NotInterpreted(f"a module that cannot be read: {error}") from error
        stages.append(MachineStage(module, entry_of(module, source), source))
    order = list(STAGES)
    stages.sort(key=lambda stage: order.index(stage.model))
    return stages


class DeclaredLeaf:
    """One scalar of an interface variable: where it is in the value, and its place."""

    __slots__ = ("component", "location", "path", "type")

    def __init__(self, path: tuple[int, ...], type: Inst, location: int, component: int) -> None:
        self.path = path
        self.type = type
        self.location = location
        self.component = component


def locations_in(type: Inst) -> int:
    """How many Locations a type takes."""
    if type.op == ops.OpTypeVector:
        return 2 if type.args[0].imm[0] == 64 and type.imm[0] > 2 else 1
    if type.op == ops.OpTypeStruct:
        return sum(locations_in(part) for part in type.args)
    if types.is_composite(type):
        return types.size_of(type) * locations_in(type.args[0])
    return 1


def leaves(
    stage: MachineStage, type: Inst, location: int, component: int
) -> Iterator[DeclaredLeaf]:
    """The scalars of a type that begins at a Location."""
    if types.is_scalar(type):
        yield DeclaredLeaf((), type, location, component)
    elif type.op == ops.OpTypeVector:
        step = 2 if type.args[0].imm[0] == 64 else 1
        for n in range(type.imm[0]):
            at = component + n * step
            yield DeclaredLeaf((n,), type.args[0], location + at // 4, at % 4)
    elif type.op == ops.OpTypeStruct:
        for n, part in enumerate(type.args):
            own = stage.member(type, n, enums.Decoration_Location)
            at = location if own is None else own
            lane = stage.member(type, n, enums.Decoration_Component) or 0
            for leaf in leaves(stage, part, at, lane):
                yield DeclaredLeaf((n, *leaf.path), leaf.type, leaf.location, leaf.component)
            location = at + locations_in(part)
    elif types.is_composite(type):
        size = locations_in(type.args[0])
        for n in range(types.size_of(type)):
            for leaf in leaves(stage, type.args[0], location + n * size, component):
                yield DeclaredLeaf((n, *leaf.path), leaf.type, leaf.location, leaf.component)
    else:
        raise NotInterpreted("an interface variable of this type", stage.name, repr(type))


def builtins_in(stage: MachineStage, type: Inst) -> dict[int, int]:
    """The members of a block that are built-ins: member -> built-in."""
    builtins: dict[int, int] = {}
    if type.op == ops.OpTypeStruct:
        for n in range(len(type.args)):
            which = stage.member(type, n, enums.Decoration_BuiltIn)
            if which is not None:
                builtins[n] = which
    return builtins
