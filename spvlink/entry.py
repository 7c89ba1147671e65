"""The entry point of a module that is meant, and how large a module is."""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv, SpvlinkError
from spvlink.grammar import info, ops
from spvlink.ir import core
from spvlink.ir.core import EntryPoint, Function, Inst, Module, name_of_set, says_nothing, string_of
from spvlink.ir.edit import replace_annotations
from spvlink.pipeline import Source, stage_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

# What an entry point may list, and of which type that is.
_VARIABLES: Final = {
    ops.OpVariable: ops.OpTypePointer,
    ops.OpUntypedVariableKHR: ops.OpTypeUntypedPointerKHR,
}


def select_entry(module: Module, name: str | None, stage: str = "") -> EntryPoint:
    """The entry point of this name, or the only one. ``stage`` ("vert" ... "frag") picks among
    several of one name, and must be its stage. Raises BadSpirv if there is none or too many, or it
    is no graphics stage."""
    return _only(_meant(module, name, stage))


def read_pipeline(sources: Sequence[Source]) -> list[Module]:
    """The modules of one pipeline, each with its entry point. Of several of one name that one is
    meant whose stage no other module is for. Raises BadSpirv as ``select_entry``, with the file."""
    modules: list[Module] = []
    every: list[list[EntryPoint]] = []
    for at, source in enumerate(sources):
        try:
            modules.append(decode(source.data))
            every.append(_meant(modules[-1], source.entry, source.stage))
        except SpvlinkError as error:
            error.file = error.file or source.file
            error.add_note(f"in {source.file or f'stage {at} of the list'}")  # for a traceback
            raise
    _by_elimination(every)
    for module, candidates, source in zip(modules, every, sources):
        try:
            module.entry = _only(candidates)
        except BadSpirv as bad:
            bad.file = source.file
            raise
    return modules


def _by_elimination(every: list[list[EntryPoint]]) -> None:
    """Take from each list of several what is the only one of another list, as long as that helps
    and leaves one."""
    again = True
    while again:
        again = False
        taken = {candidates[0].model for candidates in every if len(candidates) == 1}
        for candidates in every:
            left = [e for e in candidates if e.model not in taken]
            if 0 < len(left) < len(candidates):
                candidates[:] = left
                again = True


def _meant(module: Module, name: str | None, stage: str) -> list[EntryPoint]:
    """The entry points that a name and a stage may mean: one, or several of one name."""
    candidates = [e for e in entries_of(module) if name is None or e.name == name]
    if not candidates:
        raise BadSpirv("the module has no entry point" + (f" {name!r}" if name is not None else ""))
    of_stage = [e for e in candidates if not stage or stage_of(e.model) == stage]
    if not of_stage:
        of = " and ".join([stage_of(e.model) or "another" for e in candidates])
        raise BadSpirv(f"the entry point {candidates[0].name!r} is of the stage {of}, not {stage}")
    # Compute shaders of this name are not meant, unless there is nothing else to complain about.
    candidates = [e for e in of_stage if name is None or stage_of(e.model)] or of_stage
    if name is None and len(candidates) > 1:
        raise _unclear(candidates)
    if len({e.model for e in candidates}) < len(candidates):
        raise BadSpirv(f"two entry points {candidates[0].name!r} of one stage")
    return candidates


def _unclear(candidates: list[EntryPoint]) -> BadSpirv:
    listed, how = ", ".join(repr(e.name) for e in candidates), "FILE:ENTRY"
    if len({e.name for e in candidates}) < len(candidates):
        listed = ", ".join(
            [f"{e.name!r} of {stage_of(e.model) or 'another stage'}" for e in candidates]
        )
        how = "FILE:ENTRY:STAGE"
    return BadSpirv(f"the module has {len(candidates)} entry points ({listed}): name one as {how}")


def entries_of(module: Module) -> list[EntryPoint]:
    """All entry points of a module. Raises BadSpirv."""
    entries: list[EntryPoint] = []
    for inst in module.sections[core.ENTRY_POINTS]:
        text, end = string_of(inst.imm, 1)
        function = inst.args[0] if inst.args else None
        if not isinstance(function, Function) or not function.blocks:
            raise BadSpirv(f"the entry point {text!r} is no function with a body")
        if end < len(inst.imm):
            raise BadSpirv(f"the name of the entry point {text!r} ends early")
        entries.append(EntryPoint(inst, text, function))
    return entries


def _only(candidates: list[EntryPoint]) -> EntryPoint:
    """The one of a list, which is a stage and lists variables. Raises BadSpirv."""
    if len(candidates) > 1:
        raise _unclear(candidates)
    entry = candidates[0]
    if not stage_of(entry.model):
        raise BadSpirv(f"the entry point {entry.name!r} is no stage of a graphics pipeline")
    for variable in entry.inst.args[1:]:
        type = variable.type
        if type is None or type.op != _VARIABLES.get(variable.op):
            raise BadSpirv(
                f"the entry point {entry.name!r} lists %{variable.id}, which is no variable"
            )
    return entry


def count(module: Module) -> tuple[int, int]:
    """(instructions of the module, instructions in function bodies: everything between OpFunction
    and OpFunctionEnd that does not only describe)."""
    body = described = 0
    aside = asides(module)
    outside = len(module.names) + len(module.tail)
    for section in module.sections:
        outside += len(section)
    for function in module.functions:
        body += len(function.params) + len(function.blocks)
        for block in function.blocks:
            body += len(block.insts) + len(block.lead)
            if aside:
                described += sum([describes(i, aside) for i in (*block.lead, *block.insts)])
        outside += 2 + len(function.lead) + len(function.tail)
        for lead in function.leads.values():
            outside += len(lead)
    return outside + body, body - described


def asides(module: Module) -> set[Inst]:
    """The strings and sets of instructions by which a module describes itself; without any there
    are no lines either."""
    described: set[Inst] = set()
    for inst in module.sections[core.STRINGS]:
        if inst.id:
            described.add(inst)
    for inst in module.sections[core.IMPORTS]:
        if says_nothing(name_of_set(inst)):
            described.add(inst)
    return described


def describes(inst: Inst, aside: set[Inst]) -> bool:
    """Whether an instruction is a line or one of a set that only describes."""
    if inst.op == ops.OpLine or inst.op == ops.OpNoLine:
        return True
    return inst.op in info.EXTENDED and inst.args[0] in aside


def without_debug(data: bytes) -> bytes:
    """A copy of a module without what ``describes``, and without names and decorations of that."""
    module = decode(data)
    aside = asides(module)
    gone: set[Inst] = set()

    def rest(insts: list[Inst]) -> list[Inst]:
        gone.update([i for i in insts if describes(i, aside)])
        return [i for i in insts if i not in gone]

    module.globals[:] = rest(module.globals)
    module.tail = rest(module.tail)
    for function in module.functions:
        function.lead, function.tail = rest(function.lead), rest(function.tail)
        function.leads = {param: rest(lead) for param, lead in function.leads.items()}
        for block in function.blocks:
            block.lead, block.insts = rest(block.lead), rest(block.insts)
    imports = module.sections[core.IMPORTS]
    gone.update([i for i in imports if i in aside])
    imports[:] = [i for i in imports if i not in aside]
    module.names = [n for n in module.names if n[0] not in gone]
    replace_annotations(module, [i for i in module.annotations if i.args[0] not in gone])
    return encode(module)


def described_bytes(module: Module) -> int:
    """Bytes of the debug information of a module: lines, strings, instructions that only
    describe."""
    aside = asides(module)
    if not aside:
        return 0
    insts = [*aside, *module.tail]
    insts += [i for i in module.globals if describes(i, aside)]
    for function in module.functions:
        insts += (*function.lead, *function.tail)
        for leads in function.leads.values():
            insts += leads
        for block in function.blocks:
            insts += [i for i in (*block.lead, *block.insts) if describes(i, aside)]
    words = sum([1 + (i.id != 0) + (i.type is not None) + len(i.args) + len(i.imm) for i in insts])
    return words * 4
