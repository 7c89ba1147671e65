"""Find the ranges of a stage's floats, and how far inputs of 16 bits move them.

One walk over the blocks, definitions before uses, lane by lane (``facts/scalars``). A value that a
loop makes of itself is unknown. What an operation without a rule does with a number is unknown too:
an input that it depends on is lost, with the operation as the reason.

Where the walk ends: ``ends`` has the colour outputs of a fragment shader, each with the parts by
which it moves. Everything else that could show a difference loses the input: comparisons, so that
the way through the code and every choice are the same in both pipelines; lookups; memory; depths.
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects, root
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, IS_CHAIN, LOAD_INPUT, Inst, Module
from spvlink.link.half import values
from spvlink.link.half.values import GLSL, OPS, UNKNOWN, Lost, Off, Value, exactly
from spvlink.link.rounding import sensitive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Colour = tuple[int, int, int]  # Location, Index, component

_WORD: Final = 32
_FEW_DIGITS: Final = 2.0**-8  # what a number may be off by as a part of it, with RelaxedPrecision,
_FEW_LEAST: Final = 2.0**-14  # and that beside it: smaller ones may be flushed
_FEW_MOST: Final = 2.0**13  # beyond that it may be an infinity
_PRODUCTS: Final = frozenset(
    (ops.OpDot, ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix, ops.OpMatrixTimesMatrix)
)
_LENGTHS: Final = frozenset((glsl.Glsl_Length, glsl.Glsl_Distance))
# What is made of a word, and its range.
_UNPACKED: Final = {
    glsl.Glsl_UnpackUnorm4x8: (0.0, 1.0), glsl.Glsl_UnpackUnorm2x16: (0.0, 1.0),
    glsl.Glsl_UnpackSnorm4x8: (-1.0, 1.0), glsl.Glsl_UnpackSnorm2x16: (-1.0, 1.0),
}  # fmt: skip
# Lookups in sampled images; a comparison gives a share of what passed, whatever the format is.
_LOOKUPS: Final = frozenset(
    (
        ops.OpImageSampleImplicitLod, ops.OpImageSampleExplicitLod,
        ops.OpImageSampleProjImplicitLod, ops.OpImageSampleProjExplicitLod,
        ops.OpImageFetch, ops.OpImageGather,
    )
)  # fmt: skip
_COMPARING: Final = frozenset(
    (
        ops.OpImageSampleDrefImplicitLod, ops.OpImageSampleDrefExplicitLod,
        ops.OpImageSampleProjDrefImplicitLod, ops.OpImageSampleProjDrefExplicitLod,
        ops.OpImageDrefGather,
    )
)  # fmt: skip
_RELAXED: Final = (enums.Decoration_RelaxedPrecision,)
_PLAIN: Final = frozenset((_RELAXED, (enums.Decoration_NoContraction,)))
# Results that are one of the operands, which may have few digits.
_CHOSEN: Final = frozenset(
    (
        glsl.Glsl_FMin, glsl.Glsl_FMax, glsl.Glsl_FClamp,
        glsl.Glsl_NMin, glsl.Glsl_NMax, glsl.Glsl_NClamp, glsl.Glsl_FAbs,
    )
)  # fmt: skip


class Analysis:
    """One stage. ``read``: what its loads of slots give; ``attributes``: ranges of the components
    of its inputs, by variable and lane; ``norms``: the most that a vector of slots is long;
    ``small_texels``: what is looked up in images lies between -1 and 1."""

    def __init__(
        self, module: Module, read: Callable[[Inst], Value],
        attributes: dict[tuple[Inst, int], tuple[float, float]],
        norms: Callable[[list[int]], float], small_texels: bool = False,
    ) -> None:  # fmt: skip
        assert module.entry is not None
        self.module = module
        self.read = read
        self.attributes = attributes
        self.norms = norms
        self.small_texels = small_texels
        self.values: dict[Inst, list[Value]] = {}
        self.lengths: dict[Inst, float] = {}  # of vectors, where more is known than of the lanes
        self.lost: dict[int, str] = {}  # keys of inputs -> why nothing is known of their effect
        self.ends: dict[Colour, Off] = {}
        self.effects = Effects.of(module)
        self.tables = Decorations.of(module)
        order = Cfg.of(module, module.entry.function).order
        self.read_outputs = _read_outputs(module)
        for block in order:
            for inst in block.insts:
                self.look(inst)
        for block in order:
            for inst in block.insts:
                if inst.op == ops.OpPhi:
                    self.close(inst)

    # -- asking ------------------------------------------------------------------------------------

    def at(self, lane: Lane) -> Value:
        """What is known of a scalar."""
        inst, number = lane
        lanes = self.values.get(inst)
        if lanes is not None:
            return lanes[number]
        known = number_of(inst, number)
        return UNKNOWN if known is None else exactly(known)

    def lanes(self, inst: Inst) -> list[Value]:
        """All scalars of a value; of what is no vector or matrix of numbers the ones known."""
        if inst in self.values:
            return self.values[inst]
        return [self.at((inst, n)) for n in range(scalars.count(inst.type))]

    def origin(self, lane: Lane) -> Lane:
        """The lane that this one is a copy of, with all of its bits."""
        while lane[0].op in scalars.MOVES:
            if _RELAXED in self.effects.signatures.get(lane[0], ()):
                break
            moved = scalars.moved_lane(*lane)
            if moved is None:
                break
            lane = moved
        return lane

    def length(self, vector: Inst, lanes: list[Lane]) -> float:
        """The most that a vector is long."""
        most = math.hypot(*[self.at(lane).size for lane in lanes])
        known = self.lengths.get(vector)
        if known is not None:
            return min(most, known)
        origins = [self.origin(lane) for lane in lanes]
        if len(set(origins)) == len(origins):
            sources = {inst for inst, _ in origins}
            if len(sources) == 1 and origins[0][0] in self.lengths:
                return min(most, self.lengths[origins[0][0]])
            if all(inst.op == LOAD_INPUT and not inst.args for inst in sources):
                moved = sum(sum(self.at(lane).off.values()) for lane in lanes)
                return min(most, self.norms([inst.imm[0] for inst, _ in origins]) + moved)
        return most

    def lose(self, operands: list[Value], why: str) -> None:
        """An operation of which no bound is known depends on these."""
        for operand in operands:
            for key in operand.off:
                if key >= 0:
                    self.lost.setdefault(key, why)

    def lose_all(self, inst: Inst, why: str = "") -> None:
        """The same of all operands of an instruction."""
        operands = [v for arg in inst.args for v in self.values.get(arg, ())]
        if any(v.off for v in operands):
            self.lose(operands, why or f"it goes into {sensitive.words(self.module, inst)}")

    # -- looking -----------------------------------------------------------------------------------

    def look(self, inst: Inst) -> None:
        """One instruction; what may be computed with few digits is coarse, and bounds nothing."""
        self.look_at(inst)
        if _RELAXED in self.effects.signatures.get(inst, ()) and inst in self.values:
            made = self.values[inst]
            self.lose(made, "RelaxedPrecision allows it more than any bound")
            chosen = _is_chosen(self.effects, inst)
            self.values[inst] = [coarse(v) if chosen else UNKNOWN for v in made]

    def look_at(self, inst: Inst) -> None:
        op = inst.op
        if op == LOAD_INPUT:
            self.values[inst] = [self.read(inst)]
        elif op == INTERPOLATE:
            self.lose([self.read(inst)], "it is interpolated at another place")
        elif op == ops.OpPhi:
            self.join(inst)
        elif op in scalars.MOVES and (moved := scalars.moved(inst)) is not None:
            self.values[inst] = [self.at(lane) for lane in moved]
        elif sensitive.is_insert(inst):
            made = list(self.lanes(inst.args[1]))
            made[inst.imm[0]] = self.at((inst.args[0], 0))
            self.values[inst] = made
        elif op == ops.OpStore:
            self.store(inst)
        elif op == ops.OpLoad:
            self.load(inst)
        elif op == ops.OpSelect and _is_float(inst.type):
            self.choose(inst)
        elif inst.type is not None and _is_float(inst.type):
            self.compute(inst)
            if op in _COMPARING or (op in _LOOKUPS and self.small_texels):
                low = 0.0 if op in _COMPARING else -1.0
                texel = Value(low - values.LOOSE, 1.0 + values.LOOSE)
                self.values[inst] = [texel] * scalars.count(inst.type)
        else:
            self.lose_all(inst)

    def join(self, phi: Inst) -> None:
        """A value of one of the ways here, all of them known; or that of a loop."""
        if not scalars.count(phi.type):
            return  # ``close`` looks at the operands
        ways = phi.args[::2]
        if not all(way in self.values or way.op in types.CONSTANTS for way in ways):
            return
        if _is_float(phi.type):
            self.values[phi] = [
                values.hull(*[self.at((way, n)) for way in ways])
                for n in range(scalars.count(phi.type))
            ]

    def close(self, phi: Inst) -> None:
        """A phi of which nothing is known loses what comes into it."""
        if phi not in self.values:
            self.lose_all(phi, "a loop carries it")

    def choose(self, select: Inst) -> None:
        """The condition is the same in both pipelines: what it is made of was lost there."""
        _, yes, no = select.args
        self.values[select] = [
            values.hull(self.at((yes, n)), self.at((no, n)))
            for n in range(scalars.count(select.type))
        ]

    def load(self, load: Inst) -> None:
        """An attribute of which the state says the format; else anything."""
        pointer, size = load.args[0], scalars.count(load.type)
        if not self.attributes or not size or not _is_float(load.type):
            return
        first = 0
        if IS_CHAIN[pointer.op] and len(pointer.args) == 2:
            index = types.index_of(pointer.args[1])
            if index is None:
                return
            pointer, first = pointer.args[0], index
        made: list[Value] = []
        for lane in range(first, first + size):
            known = self.attributes.get((pointer, lane))
            made.append(UNKNOWN if known is None else Value(*known))
        self.values[load] = made

    def store(self, store: Inst) -> None:
        """A colour output is where a change shows; anything else is lost from sight."""
        stored = self.values.get(store.args[1])
        if stored is None or not any(v.off for v in stored):
            return
        variable = root(store.args[0])
        why, location, index, first = self.output(variable, store.args[0])
        if why:
            self.lose(stored, why)
            return
        for lane, one in enumerate(stored):
            place = location, index, first + lane
            old = self.ends.setdefault(place, {})
            for key, part in values.settled(one, 1.0).items():
                old[key] = max(old.get(key, 0.0), part)

    def output(self, variable: Inst, pointer: Inst) -> tuple[str, int, int, int]:
        """Why a store shows in no bounded way, or the Location, the Index and the first component
        that it goes to."""
        name = _storage_of(variable)
        if name != enums.StorageClass_Output:
            return "it goes to memory", 0, 0, 0
        if self.tables.find(variable, enums.Decoration_BuiltIn) is not None:
            return "it goes to a built-in", 0, 0, 0
        location = self.tables.find(variable, enums.Decoration_Location)
        if variable in self.read_outputs or not location:
            return "it goes to an output that is no plain colour", 0, 0, 0
        component = self.tables.find(variable, enums.Decoration_Component) or (0,)
        index = self.tables.find(variable, enums.Decoration_Index) or (0,)
        first = component[0]
        assert variable.type is not None
        if not _is_float(variable.type.args[0]):
            return "it goes to an output that is no vector of floats", 0, 0, 0
        if pointer is not variable:
            at = types.index_of(pointer.args[1]) if len(pointer.args) == 2 else None
            if at is None or not IS_CHAIN[pointer.op]:
                return "it goes to a component that is not known", 0, 0, 0
            first += at
        return "", location[0], index[0], first

    # -- computing ---------------------------------------------------------------------------------

    def compute(self, inst: Inst) -> None:
        """An operation on floats of 32 bits."""
        operands = scalars.operands(inst)
        signature = self.effects.signatures.get(inst, ())
        try:
            if not _PLAIN.issuperset(signature):
                raise Lost("its decorations are not known")
            made = self.result(inst, operands)
        except Lost as why:
            what = sensitive.words(self.module, inst)
            self.lose([v for a in operands for v in self.values.get(a, ())], f"{what}: {why}")
            return
        if made is None:
            self.lose_all(inst)
            return
        self.values[inst] = made

    def result(self, inst: Inst, operands: list[Inst]) -> list[Value] | None:
        """The lanes of a result; None of what there is no rule for. Raises Lost."""
        op, size = inst.op, scalars.count(inst.type)
        if not all(scalars.count(a.type) for a in operands):
            return None
        if op == ops.OpExtInst:
            if inst.args[0] not in self.effects.glsl:
                return None
            return self.function(inst, operands, size)
        if op in _PRODUCTS:
            return self.products(inst, operands, size)
        if op in (ops.OpConvertUToF, ops.OpConvertSToF):
            source = operands[0].type
            assert source is not None
            most = 2.0 ** scalars.scalar(source).imm[0]
            return [Value(0.0 if op == ops.OpConvertUToF else -most, most)] * size
        act = OPS.get(op)
        return None if act is None else self.each(inst, size, act)

    def function(self, inst: Inst, operands: list[Inst], size: int) -> list[Value] | None:
        """An instruction of GLSL.std.450."""
        number = inst.imm[0]
        if number in _UNPACKED:
            return [Value(*_UNPACKED[number]) for _ in range(size)]
        if not all(_is_float(a.type) for a in operands):
            return None
        if number == glsl.Glsl_Normalize:
            made = values.normalize(self.lanes(operands[0]))
            if _RELAXED not in self.effects.signatures.get(inst, ()):
                self.lengths[inst] = 1.0 + values.LOOSE
            return made
        if number in _LENGTHS:
            parts = self.lanes(operands[0])
            if number == glsl.Glsl_Distance:
                parts = [values.subtract(a, b) for a, b in zip(parts, self.lanes(operands[1]))]
            return [values.length(parts)]
        act = GLSL.get(number)
        return None if act is None else self.each(inst, size, act)

    def each(self, inst: Inst, size: int, act: Callable[..., Value]) -> list[Value]:
        """An operation that works lane by lane."""
        by_lane = scalars.lanewise(inst, self.effects.flags(inst))
        made: list[Value] = []
        for number in range(size):
            groups = scalars.made_of(inst, number, by_lane)
            if any(len(group) != 1 for group in groups):
                raise Lost("it works on whole vectors")
            lanes = [group[0] for group in groups]
            if act not in values.FAR and any(self.at(lane).far for lane in lanes):
                raise Lost("its range is not known")
            if act is values.multiply and self.origin(lanes[0]) == self.origin(lanes[1]):
                made.append(values.square(self.at(lanes[0])))
            else:
                made.append(act(*[self.at(lane) for lane in lanes]))
        return made

    def products(self, inst: Inst, operands: list[Inst], size: int) -> list[Value]:
        """Sums of products of vectors and matrices."""
        made: list[Value] = []
        for number in range(size):
            left, right = scalars.made_of(inst, number, False)
            same = [*map(self.origin, left)] == [*map(self.origin, right)]
            ends = [self.at(lane) for lane in left], [self.at(lane) for lane in right]
            norms = math.inf, math.inf
            if inst.op == ops.OpDot:
                norms = self.length(operands[0], left), self.length(operands[1], right)
            made.append(values.dot(*ends, same, norms))
        return made


def _is_float(type: Inst | None) -> bool:
    """Whether a type is one of floats of 32 bits."""
    if type is None or not scalars.count(type):
        return False
    scalar = scalars.scalar(type)
    return scalar.op == ops.OpTypeFloat and scalar.imm == (_WORD,)


def _is_chosen(effects: Effects, inst: Inst) -> bool:
    return inst.op == ops.OpExtInst and inst.args[0] in effects.glsl and inst.imm[0] in _CHOSEN


def coarse(value: Value) -> Value:
    """A number with RelaxedPrecision."""
    if value.size > _FEW_MOST:
        return UNKNOWN
    low = value.low - abs(value.low) * _FEW_DIGITS - _FEW_LEAST
    return Value(low, value.high + abs(value.high) * _FEW_DIGITS + _FEW_LEAST, value.odd)


def _storage_of(variable: Inst) -> int:
    return variable.imm[0] if variable.op == ops.OpVariable else -1


def _read_outputs(module: Module) -> set[Inst]:
    """Outputs that a function reads back, or hands to something else than a store."""
    found: set[Inst] = set()
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                if IS_CHAIN[inst.op]:
                    continue
                for at, arg in enumerate(inst.args):
                    if inst.op == ops.OpStore and at == 0:
                        continue
                    if arg.type is None or arg.type.op != ops.OpTypePointer:
                        continue
                    if arg.type.imm[0] == enums.StorageClass_Output:
                        found.add(root(arg))
    return found
