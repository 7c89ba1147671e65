"""The small cleaning after the interface was raised: vectors are put together again, and what that
leaves unused goes.

Values were numbered and code was cleaned while the interface was scalar; raising only adds loads,
extracts and constructs, so looking through vectors and dropping what nobody reads is enough.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import COPY, Block, Function, Inst, Module
from spvlink.ir.edit import become, resolve
from spvlink.passes.dce import TRIMMED
from spvlink.passes.fold import fold
from spvlink.passes.vectors import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_MOVES: Final = frozenset(
    (
        ops.OpCompositeExtract,
        ops.OpCompositeConstruct,
        ops.OpVectorShuffle,
        ops.OpCompositeInsert,
        ops.OpBitcast,
        ops.OpLoad,
    )
)
_RELAXED: Final = ((enums.Decoration_RelaxedPrecision,),)
_LINES: Final = frozenset((ops.OpLine, ops.OpNoLine))


def run(module: Module, function: Function) -> None:
    """Rebuild vectors in one function and drop the parts that are no longer used."""
    signatures = Effects.of(module).signatures
    cfg = Cfg.of(module, function)
    rules, copy = _RULES, COPY
    seen: dict[object, list[tuple[Inst, Block]]] = {}
    for block in cfg.order:
        for inst in block.insts:
            rule = rules.get(inst.op)
            if rule is None:
                continue
            args = inst.args
            for index, arg in enumerate(args):
                if arg.op == copy:
                    args[index] = resolve(arg)
            signature = signatures.get(inst)
            if signature is not None and signature != _RELAXED:
                continue
            other = rule(module, inst)
            if other is None:
                key = (inst.op, inst.type, signature, *inst.args, *inst.imm)
                held = seen.get(key)
                if held is None:
                    seen[key] = [(inst, block)]
                    continue
                other = next((o for o, b in held if cfg.dominates(b, block)), None)
                if other is None:
                    held.append((inst, block))
                    continue
            become(module, inst, resolve(other))
    drop_unused(module, function)


def bitcast(module: Module, inst: Inst) -> Inst | None:
    """A constant, or the value that a cast of a cast gives back (an integer that travelled as
    another type); else it skips the one between."""
    inner = resolve(inst.args[0])
    if inner.op in types.CONSTANTS:
        return fold(module, inst, False)
    if inner.op != ops.OpBitcast:
        return None
    source = resolve(inner.args[0])
    inst.args[0] = source
    return source if source.type is inst.type else None


_RULES: Final = {**RULES, ops.OpBitcast: bitcast}


def drop_unused(module: Module, function: Function) -> None:
    """Resolve the copies and remove what nothing reads, from the end to the beginning; if that was
    more than moves of components, dead code elimination may find more."""
    effects = Effects.of(module)
    copy = COPY
    used = _used_before(function)
    for block in reversed(function.blocks):
        kept: list[Inst] = []
        for inst in reversed(block.insts):
            if inst.id and inst not in used:
                if inst.op == copy:
                    continue
                if effects.flags(inst) & info.REMOVABLE:
                    if inst.op not in _MOVES:
                        module.facts[TRIMMED] = (0, True)
                    continue
            args = inst.args
            for index, arg in enumerate(args):
                if arg.op == copy:
                    args[index] = resolve(arg)
            used.update(args)
            kept.append(inst)
        if len(kept) != len(block.insts):
            kept.reverse()
            block.insts = kept
            module.version += 1


def _used_before(function: Function) -> set[Inst]:
    """What phis use before it is defined."""
    used: set[Inst] = set()
    defined: set[Inst] = set()
    for block in function.blocks if len(function.blocks) > 1 else ():
        for inst in block.insts:
            if inst.op == ops.OpPhi:
                used.update(v for v in map(resolve, inst.args[::2]) if v not in defined)
                defined.add(inst)
            elif inst.op not in _LINES:
                break
        defined.update(block.insts)
    return used
