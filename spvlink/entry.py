"""The entry point of a module that is meant, and how large a module is."""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv, SpvlinkError
from spvlink.grammar import ops
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
    for source in sources:
        try:
            modules.append(decode(source.data))
            every.append(_meant(modules[-1], source.entry, source.stage))
        except SpvlinkError as error:
            error.file = error.file or source.file
            raise
    _by_elimination(every)
    for module, found, source in zip(modules, every, sources):
        try:
            module.entry = _only(found)
        except BadSpirv as error:
            error.file = source.file
            raise
    return modules


def _by_elimination(every: list[list[EntryPoint]]) -> None:
    """Take from each list of several what is the only one of another list, as long as that helps
    and leaves one."""
    again = True
    while again:
        again = False
        taken = {found[0].model for found in every if len(found) == 1}
        for found in every:
            left = [e for e in found if e.model not in taken]
            if 0 < len(left) < len(found):
                found[:] = left
                again = True


def _meant(module: Module, name: str | None, stage: str) -> list[EntryPoint]:
    """The entry points that a name and a stage may mean: one, or several of one name."""
    found = [e for e in entries_of(module) if name is None or e.name == name]
    if not found:
        raise BadSpirv("the module has no entry point" + (f" {name!r}" if name is not None else ""))
    of_stage = [e for e in found if not stage or stage_of(e.model) == stage]
    if not of_stage:
        of = " and ".join([stage_of(e.model) or "another" for e in found])
        raise BadSpirv(f"the entry point {found[0].name!r} is of the stage {of}, not {stage}")
    # Compute shaders of this name are not meant, unless there is nothing else to complain about.
    found = [e for e in of_stage if name is None or stage_of(e.model)] or of_stage
    if name is None and len(found) > 1:
        raise _unclear(found)
    if len({e.model for e in found}) < len(found):
        raise BadSpirv(f"two entry points {found[0].name!r} of one stage")
    return found


def _unclear(found: list[EntryPoint]) -> BadSpirv:
    listed, how = ", ".join(repr(e.name) for e in found), "FILE:ENTRY"
    if len({e.name for e in found}) < len(found):
        listed = ", ".join([f"{e.name!r} of {stage_of(e.model) or 'another stage'}" for e in found])
        how = "FILE:ENTRY:STAGE"
    return BadSpirv(f"the module has {len(found)} entry points ({listed}): name one as {how}")


def entries_of(module: Module) -> list[EntryPoint]:
    """All entry points of a module. Raises BadSpirv."""
    found: list[EntryPoint] = []
    for inst in module.sections[core.ENTRY_POINTS]:
        text, end = string_of(inst.imm, 1)
        function = inst.args[0] if inst.args else None
        if not isinstance(function, Function) or not function.blocks:
            raise BadSpirv(f"the entry point {text!r} is no function with a body")
        if end < len(inst.imm):
            raise BadSpirv(f"the name of the entry point {text!r} ends early")
        found.append(EntryPoint(inst, text, function))
    return found


def _only(found: list[EntryPoint]) -> EntryPoint:
    """The one of a list, which is a stage and lists variables. Raises BadSpirv."""
    if len(found) > 1:
        raise _unclear(found)
    entry = found[0]
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
    found: set[Inst] = set()
    for inst in module.sections[core.STRINGS]:
        if inst.id:
            found.add(inst)
    for inst in module.sections[core.IMPORTS]:
        if says_nothing(name_of_set(inst)):
            found.add(inst)
    return found


def describes(inst: Inst, aside: set[Inst]) -> bool:
    """Whether an instruction is a line or one of a set that only describes."""
    if inst.op == ops.OpLine or inst.op == ops.OpNoLine:
        return True
    return inst.op in (ops.OpExtInst, ops.OpExtInstWithForwardRefsKHR) and inst.args[0] in aside


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
    found = [*aside, *module.tail]
    found += [i for i in module.globals if describes(i, aside)]
    for function in module.functions:
        found += (*function.lead, *function.tail)
        for leads in function.leads.values():
            found += leads
        for block in function.blocks:
            found += [i for i in (*block.lead, *block.insts) if describes(i, aside)]
    words = sum([1 + (i.id != 0) + (i.type is not None) + len(i.args) + len(i.imm) for i in found])
    return words * 4
