"""Find the value that is stored in a slot."""

from __future__ import annotations

from spvlink.facts.effects import Effects, root
from spvlink.facts.numbers import casts_to_float, is_never_denormal, may_be_denormal
from spvlink.facts.scalars import MOVES
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, Inst, Module
from spvlink.ir.edit import annotate, value
from spvlink.ir.known import fact
from spvlink.link.border.link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


_LOCAL: Final = frozenset((enums.StorageClass_Function, enums.StorageClass_Private))
_ASIDE: Final = frozenset((enums.Decoration_Centroid, enums.Decoration_Sample))

# What becomes of a number's bits, as far as the consumer's compiler knows
_MIXED: Final = 0  # with others that it does not know
_SAME: Final = 1
_OTHER: Final = 2  # others, made of what it knows
_MOVES: Final = MOVES | {
    ops.OpCompositeInsert, ops.OpVectorExtractDynamic, ops.OpVectorInsertDynamic, ops.OpPhi,
    ops.OpSelect, ops.OpBitcast,
}  # fmt: skip
# Operands that are known, and the instruction sets that an operation is of.
_GIVEN: Final = types.CONSTANTS | {ops.OpExtInstImport}
_SPECIALIZED: Final = frozenset(
    (ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse)
)
_FAR: Final = 64  # instructions that a glance at a value looks at


def centred(qualifiers: tuple[int, ...]) -> bool:
    """Whether inputs with these qualifiers are interpolated at the middle of the pixel."""
    return not _ASIDE.intersection(qualifiers)


def cast_to_denormal(link: Link, key: int, bits: int | None) -> bool:
    """Whether a number of known bits (None: they are not) may be a denormal number where the
    consumer casts it to a float, or what it makes of it (``numbers.makes_denormal``)."""
    module = link.consumer.module
    casts = fact(module, _casts, module.version)
    if bits is None or not casts:
        return False
    entry = module.entry
    assert entry is not None
    reached = dict.fromkeys(link.loads[key], _SAME)
    before: dict[Inst, int] = {}
    while before != reached:
        before = dict(reached)
        for block in entry.function.blocks:
            for inst in block.insts:
                if not any(reached.get(a) for a in inst.args):
                    continue  # also of what its compiler does not know
                if inst in casts and not is_never_denormal(inst):
                    other = any(reached.get(a) == _OTHER for a in inst.args)
                    if other or may_be_denormal(bits, inst):
                        return True
                if inst.type is None:
                    if inst.op == ops.OpStore and _is_local(root(inst.args[0])):
                        return True  # it may be read anywhere
                elif inst.op == ops.OpFunctionCall:
                    return True
                else:
                    reached[inst] = _made(link, inst, reached)
    return False


def _casts(module: Module) -> set[Inst]:
    """The instructions that make floats of bits."""
    return {i for f in module.functions for b in f.blocks for i in b.insts if casts_to_float(i)}


def _made(link: Link, inst: Inst, reached: dict[Inst, int]) -> int:
    """Which bits the consumer makes of what is reached."""
    if inst.op in _MOVES:
        return max([reached.get(a, _MIXED) for a in inst.args])
    known = fact(link, _known, link.version)
    for arg in inst.args:
        if not reached.get(arg, _SAME if arg in known or arg.op in _GIVEN else _MIXED):
            return _MIXED
    return _OTHER


def _known(link: Link) -> set[Inst]:
    """What the consumer may come to know: inputs that are stored as constants, and all that is made
    of these and of its own constants."""
    module = link.consumer.module
    assert module.entry is not None
    effects = Effects.of(module)
    known: set[Inst] = set()
    size = -1
    while size < len(known):  # again for the phis of loops
        size = len(known)
        for block in module.entry.function.blocks:
            for inst in block.insts:
                if inst.op == LOAD_INPUT:
                    stored = single_value(link, inst.imm[0])
                    is_known = stored is not None and stored.op in types.CONSTANTS
                else:
                    args = inst.args[::2] if inst.op == ops.OpPhi else inst.args
                    is_known = (
                        not known.isdisjoint(args)
                        and all(a in known or a.op in _GIVEN for a in args)
                        and (inst.op == ops.OpPhi or effects.flags(inst) & info.PURE != 0)
                    )
                if is_known:
                    known.add(inst)
    return known


def _is_local(variable: Inst) -> bool:
    return variable.op == ops.OpVariable and variable.imm[0] in _LOCAL


def single_value(link: Link, key: int) -> Inst | None:
    """The value that every store of a key writes, or None."""
    stores = link.stores.get(key) or []
    if len(stores) == 1:
        return stores[0].args[0]
    values = {component(s.args[0]) for s in stores}
    return stores[0].args[0] if len(values) == 1 else None


def is_made_of_constants(value: Inst) -> bool:
    """Whether a value is made of constants alone, specialization constants included."""
    todo = [value]
    for inst in todo:
        if inst.op in _GIVEN or inst.op in _SPECIALIZED:
            continue
        if not inst.args or inst.op == ops.OpPhi or len(todo) > _FAR:
            return False
        todo += inst.args
    return True


Scalar = tuple[Inst, int]  # a component of a vector, or (a scalar, -1)


def component(stored: Inst) -> Scalar:
    """One name for one component, whichever extract took it out."""
    if stored.op == ops.OpCompositeExtract:
        source = stored.args[0]
        if source.type is not None and source.type.op == ops.OpTypeVector:
            return source, stored.imm[0]
    return stored, -1


def as_interpolated(module: Module, scalar: Inst, out: list[Inst]) -> Inst:
    """What interpolating three equal values gives: (x - x) + x, not to be contracted."""
    zero = value(module, ops.OpFSub, scalar.type, [scalar, scalar], ())
    made = value(module, ops.OpFAdd, scalar.type, [zero, scalar], ())
    out += [zero, made]
    note = (enums.Decoration_NoContraction,)
    annotate(module, [Inst(ops.OpDecorate, None, [i], note) for i in (zero, made)])
    return made
