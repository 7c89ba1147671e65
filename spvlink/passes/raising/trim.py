"""Remove everything from the module that nothing needs any more.

That is: functions without a call, types, constants and variables without a use, and the names and
decorations of these.

Why it is right. Code and pipeline creation cannot see these instructions. A specialization constant
without a use goes, too: a pipeline may give values to constants that no module has (Vulkan,
"Specialization Constants").

What breaks it. These stay without a use: outputs of the last stage; capabilities, which a driver
may have been asked for; execution modes with the ids that they name; constants that are built-ins
(WorkgroupSize).

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.calls import callees
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import core
from spvlink.ir.core import Function, Inst, Module
from spvlink.ir.edit import keep_functions, replace_annotations
from spvlink.passes.cleaning import flow
from spvlink.passes.opening import debuginfo, restore_debug

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_KEPT_STORAGE: Final = frozenset((enums.StorageClass_Output,))
_GROUPING: Final = frozenset((ops.OpGroupDecorate, ops.OpGroupMemberDecorate))


def trim(
    module: Module, dropped: frozenset[Inst] = frozenset(), kept: frozenset[Inst] = frozenset()
) -> None:
    """Trim. ``dropped`` are interface variables that the raised interface replaced; ``kept`` stay
    whatever uses them."""
    entry = module.entry
    assert entry is not None
    # others may have the same function, and would list what is gone
    module.sections[core.ENTRY_POINTS] = [entry.inst]
    _drop_functions(module, entry.function)
    flow.leave_loops(module, entry.function)
    restore_debug.restore_debug(module)
    nonsemantic = Effects.of(module).nonsemantic
    live = _live(module, dropped, kept)
    tables = Decorations.of(module)
    _read_without_code(tables, live)
    if nonsemantic:
        debuginfo.forget_functions(module)
    if nonsemantic or tables.with_ids or ops.OpTypeForwardPointer in module.rare:
        _close(live, list(live))
    if nonsemantic:
        _close(live, list(debuginfo.trim(module, live)))
    if tables.with_ids:
        _asked_for(module, tables.with_ids, live)
    _trim_globals(module, live)
    module.pool, module.by_op = {}, []
    for used in [*module.sections[core.IMPORTS]]:
        if used not in live and used not in nonsemantic:
            module.sections[core.IMPORTS].remove(used)
    _drop_asides(module, live)
    restore_debug.restore_debug_globals(module)
    _trim_entry(module, live)
    live.update([i for i in module.sections[core.STRINGS] if i.id], module.sections[core.IMPORTS])
    _trim_notes(module, live)


def _drop_functions(module: Module, entry: Function) -> None:
    reached: dict[Inst, None] = {entry: None}
    todo = [entry] if len(module.functions) > 1 else []
    while todo:
        for callee in callees(todo.pop()):
            if callee not in reached:
                reached[callee] = None
                todo.append(callee)
    if len(reached) < len(module.functions):
        keep_functions(module, [f for f in module.functions if f in reached])
        modes = module.sections[core.EXECUTION_MODES]
        module.sections[core.EXECUTION_MODES] = [i for i in modes if i.args[0] in reached]


def _live(module: Module, dropped: frozenset[Inst], kept: frozenset[Inst]) -> set[Inst]:
    """Every Inst that functions or entry points refer to."""
    code: list[Inst] = []
    for function in module.functions:
        code.append(function)
        code += function.params
        code += function.blocks
        for block in function.blocks:
            code += block.insts
    live = {*code, *[i.type for i in code]}
    live.update(*[i.args for i in code])
    live.discard(None)
    entry = module.entry
    assert entry is not None
    for variable in entry.inst.args[1:]:
        if variable in kept or (variable not in dropped and variable.imm[0] in _KEPT_STORAGE):
            live.add(variable)
    for mode in module.sections[core.EXECUTION_MODES]:
        live.update(mode.args)
    return live  # type: ignore[return-value]


def _read_without_code(tables: Decorations, live: set[Inst]) -> None:
    """Constants that pipeline creation reads."""
    builtin = enums.Decoration_BuiltIn
    for target, notes in tables.targets.items():
        if info.FLAGS.get(target.op, 0) & info.CONSTANT and any(w[0] == builtin for w in notes):
            live.add(target)


def _asked_for(module: Module, with_ids: dict[Inst, list[Inst]], live: set[Inst]) -> None:
    """The operands of decorations of what lives, but for those that only name another object."""
    groups: dict[Inst, list[Inst]] = {}
    for note in module.annotations:
        if note.op in _GROUPING:
            groups.setdefault(note.args[0], []).extend(note.args[1:])
    changed = True
    while changed:
        changed = False
        for target, notes in with_ids.items():
            if live.isdisjoint((target, *groups.get(target, ()))):
                continue
            for note in notes:
                asked = [a for a in note.args[1:] if a not in live]
                if asked and note.imm[0] not in info.NAMING_DECORATIONS:
                    _close(live, asked)
                    changed = True


def _close(live: set[Inst], todo: list[Inst]) -> None:
    live.update(todo)
    while todo:
        inst = todo.pop()
        for arg in (inst.type, *inst.args):
            if arg is not None and arg not in live:
                live.add(arg)
                todo.append(arg)


def _drop_asides(module: Module, live: set[Inst]) -> None:
    """What stands between functions and speaks of what is gone."""
    for function in module.functions:
        if function.lead or function.tail:
            function.lead = [i for i in function.lead if _speaks_of(live, i)]
            function.tail = [i for i in function.tail if _speaks_of(live, i)]
    if module.tail:
        module.tail = [i for i in module.tail if _speaks_of(live, i)]


def _speaks_of(live: set[Inst], inst: Inst) -> bool:
    """Whether everything that an instruction between functions names is there."""
    return live.issuperset(inst.args[1:])  # the first is the set, or the file of a line


def _trim_globals(module: Module, live: set[Inst]) -> None:
    """Keep what is live and what that is made of, which comes before it."""
    kept: list[Inst] = []
    for inst in reversed(module.globals):
        if inst in live:
            kept.append(inst)
            if inst.type is not None:
                live.add(inst.type)
            if inst.args:
                live.update(inst.args)
        # what has no id is OpLine, OpNoLine or OpTypeForwardPointer
        elif not inst.id and (inst.op != ops.OpTypeForwardPointer or inst.args[0] in live):
            kept.append(inst)
    kept.reverse()
    module.globals[:] = kept


def _trim_entry(module: Module, live: set[Inst]) -> None:
    entry = module.entry
    assert entry is not None
    function, *listed = entry.inst.args
    entry.inst.args = [function, *filter(live.__contains__, dict.fromkeys(listed))]


def _trim_notes(module: Module, known: set[Inst]) -> None:
    """Names and decorations of what is gone; duplicates of what inlining copied."""
    module.names = [n for n in module.names if n[0] in known]
    if ops.OpDecorationGroup not in module.rare:
        replace_annotations(module, [
            i for i in module.annotations
            if i.args[0] in known and (len(i.args) == 1 or known.issuperset(i.args))
        ])  # fmt: skip
        return
    kept: list[Inst] = []
    known = known.union([i for i in module.annotations if i.op == ops.OpDecorationGroup])
    for inst in module.annotations:
        op = inst.op
        if op in _GROUPING:
            alive = [n for n, a in enumerate(inst.args[1:]) if a in known]
            if not alive:
                continue
            if op == ops.OpGroupMemberDecorate:
                inst.imm = tuple([inst.imm[n] for n in alive])
            inst.args = [inst.args[0]] + [inst.args[1 + n] for n in alive]
        elif not known.issuperset(inst.args):
            continue
        kept.append(inst)
    replace_annotations(module, kept)
