"""The mutators. Each moves ``Module.version``, and ``Module.flow`` where blocks or edges change,
``Module.annotated`` where annotations do: nobody else writes these. A pass that takes blocks apart
in a loop of its own says so at its end (``touched``, ``flow_changed``), before a fact is asked for.

Replacing a value is O(1): it becomes a COPY of another, which ``sweep`` resolves once at the end of
the pass (the way of Go's SSA back end). Between ``become`` and ``sweep`` a reader looks through
copies with ``resolve``: a copy is what it stands for, so sweeping is no further edit.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import (
    CAPABILITIES,
    COPY,
    GLSL,
    GLSL_WORDS,
    IMPORTS,
    Block,
    Function,
    Inst,
    Module,
    name_of_set,
)
from spvlink.ir.known import forget_all

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final

_OF_TARGETS: Final = frozenset((ops.OpDecorate, ops.OpDecorateId, ops.OpDecorateString))


def abandon(module: Module) -> None:
    """Nobody looks at a module any more: cut its cycles, so that it is gone without a search for
    them. Blocks name each other, and what a loop makes of a phi is an operand of it."""
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                if inst.op != ops.OpPhi:
                    break
                inst.args = []
            block.insts = []
    forget_all(module)
    module.debug = None


def resolve(value: Inst) -> Inst:
    """What a value stands for after the replacements made so far."""
    while value.op == COPY:
        value = value.args[0]
    return value


def become(module: Module, value: Inst, other: Inst) -> None:
    """Replace every use of ``value`` by ``other``."""
    value.op = COPY
    value.args = [other]
    value.imm = ()
    value.mark = 0
    module.version += 1


def rewrite(module: Module, inst: Inst, op: int, args: list[Inst], imm: tuple[int, ...]) -> None:
    """Turn an instruction into another one that defines the same value (same type, same id)."""
    inst.op = op
    inst.args = args
    inst.imm = imm
    inst.mark = 0
    module.version += 1


def touched(module: Module) -> None:
    """For who wrote operands or took instructions out by hand, in a loop of his own."""
    module.version += 1


def flow_changed(module: Module) -> None:
    """Blocks or edges changed."""
    module.version += 1
    module.flow += 1


def annotate(module: Module, notes: Iterable[Inst]) -> None:
    """Add annotations."""
    module.annotations.extend(notes)
    module.version += 1
    module.annotated += 1


def decorate(module: Module, variable: Inst, notes: list[tuple[int, ...]]) -> None:
    """Add words of OpDecorate; for ``Decorations.add``, which keeps its tables in step. What is
    known of values (``Effects.signatures``) does not go along, so these move the counter."""
    module.annotations.extend([Inst(ops.OpDecorate, None, [variable], w) for w in notes])
    module.version += 1
    if variable.op != ops.OpVariable:
        module.annotated += 1


def replace_annotations(module: Module, notes: list[Inst]) -> None:
    """Other annotations."""
    module.annotations[:] = notes
    module.version += 1
    module.annotated += 1


def reword(module: Module, note: Inst, words: tuple[int, ...]) -> None:
    """Other words of an annotation."""
    note.imm = words
    module.version += 1
    module.annotated += 1


def ungroup(module: Module, target: Inst) -> None:
    """What decoration groups say of a target it says itself from now on."""
    if ops.OpDecorationGroup not in module.rare:
        return
    groups: list[Inst] = []
    for inst in module.annotations:
        if inst.op == ops.OpGroupDecorate and target in inst.args[1:]:
            groups.append(inst)
    held = {group.args[0] for group in groups}
    own: list[Inst] = []
    for inst in module.annotations:
        if inst.op in _OF_TARGETS and inst.args[0] in held:
            own.append(Inst(inst.op, None, [target, *inst.args[1:]], inst.imm))
    for group in groups:
        group.args = [arg for arg in group.args if arg is not target]
    annotate(module, own)


def glsl_import(module: Module) -> Inst:
    """The module's import of GLSL.std.450, made if it has none."""
    for made in module.sections[IMPORTS]:
        if name_of_set(made) == GLSL:
            return made
    made = value(module, ops.OpExtInstImport, None, [], GLSL_WORDS)
    module.sections[IMPORTS].append(made)
    module.version += 1
    module.annotated += 1
    return made


def sweep(module: Module, function: Function) -> None:
    """Resolve every COPY in a function's operands and take the copies out of the blocks."""
    copy = COPY
    for block in function.blocks:
        dead = False
        for inst in block.insts:
            if inst.op == copy:
                dead = True
                continue
            for arg in inst.args:
                if arg.op == copy:
                    inst.args = [resolve(a) for a in inst.args]
                    break
        if dead:
            block.insts = [i for i in block.insts if i.op != copy]


def drop(module: Module, gone: set[Inst]) -> None:
    """Take instructions out of the functions."""
    for function in module.functions:
        for block in function.blocks:
            if not gone.isdisjoint(block.insts):
                block.insts = [i for i in block.insts if i not in gone]
    module.version += 1


def keep_functions(module: Module, kept: list[Function]) -> None:
    """Drop all other functions."""
    if len(kept) < len(module.functions):
        module.functions = kept
        flow_changed(module)


def list_variable(module: Module, variable: Inst) -> None:
    """Name a variable in the interface of the entry point."""
    assert module.entry is not None
    module.entry.inst.args.append(variable)
    module.version += 1


def define_before(module: Module, member: Inst, struct: Inst) -> None:
    """A struct's member types stand before it: move what was just made."""
    order = module.globals
    at = order.index(struct)
    needed = [member]
    while needed[-1].op in (ops.OpTypeVector, ops.OpTypeMatrix):
        needed.append(needed[-1].args[0])
    for type in needed:  # the outermost first, so that each inner one ends up before it
        where = order.index(type)
        if where > at:
            order.insert(at, order.pop(where))


def need_capability(module: Module, capability: int) -> None:
    """Declare a capability if the module does not."""
    if not any(c.imm[0] == capability for c in module.sections[CAPABILITIES]):
        module.sections[CAPABILITIES].append(Inst(ops.OpCapability, None, [], (capability,)))
        module.version += 1


def branch(target: Block) -> Inst:
    return Inst(ops.OpBranch, None, [target], ())


def value(
    module: Module, op: int, type: Inst | None, args: list[Inst], imm: tuple[int, ...]
) -> Inst:
    """A new value with a fresh id, not yet in any block."""
    inst = Inst(op, type, args, imm, module.bound)
    module.bound += 1
    return inst


def remove_phi_edge(module: Module, block: Block, gone: Inst) -> None:
    """Drop from the phis of ``block`` what came from the predecessor ``gone``."""
    module.version += 1
    for inst in block.insts:
        if inst.op != ops.OpPhi:
            if inst.op in (ops.OpLine, ops.OpNoLine):
                continue
            break
        args = inst.args
        kept: list[Inst] = []
        for index in range(0, len(args), 2):
            if args[index + 1] is not gone:
                kept += args[index : index + 2]
        inst.args = kept


def retarget_phis(module: Module, block: Block, old: Inst, new: Inst) -> None:
    """Edges into ``block`` that came from ``old`` now come from ``new``."""
    module.version += 1
    for inst in block.insts:
        if inst.op == ops.OpPhi:
            inst.args = [new if a is old else a for a in inst.args]
