"""Find the values on whose last bit something depends, in the code that follows.

A value that is rounded differently (because it moved across a border, ``motion``) must not decide
anything. So a value stays if arithmetic, phis, variables and calls carry it to one of these: an
operation that is not continuous (DISCONTINUOUS: comparisons, floor, conversions to integers,
lookups), the depth of a fragment, or code that this analysis does not see. It works lane by lane:
an alpha test says nothing of the colour next to it. For outputs of a stage in the middle the next
stage counts (``beyond``).

Near a pole (a zero of a divisor; SINGULAR) a last bit grows without bound. So an operand of such a
function is not rounded differently either (``poles_at``), unless it stays away from the pole
(``poles``).
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.calls import Calls
from spvlink.facts.effects import Effects, root
from spvlink.facts.numbers import EXPONENTS, number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import debug, enums, glsl, info, ops
from spvlink.ir import types
from spvlink.ir.core import (
    INTERPOLATE,
    PRIVATE_NAMES,
    STORE_OUTPUT,
    Inst,
    Module,
    by_opcode,
    op_of_name,
    string_of,
    text_of_name,
)
from spvlink.ir.debug import NOWHERE, noted
from spvlink.ir.known import fact
from spvlink.link.border.link import Link
from spvlink.link.rounding import poles

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

# Have facts that say of an operand more than "continuous".
_JUMPING: Final = frozenset(o for o, f in info.FLAGS.items() if f & info.DISCONTINUOUS) | {
    INTERPOLATE,  # its offset
}
_MATRICES: Final = scalars.PRODUCTS - {ops.OpFMul, ops.OpVectorTimesScalar, ops.OpDot}
_SCALING: Final = scalars.PRODUCTS | {ops.OpFDiv, ops.OpFmaKHR}
_GLSL_SCALING: Final = frozenset((glsl.Glsl_Fma, glsl.Glsl_SmoothStep))
_ENDING: Final = _JUMPING | _SCALING | {o for o, f in info.FLAGS.items() if f & info.ATOMIC} | {
    ops.OpExtInst, ops.OpStore, ops.OpCopyMemory, ops.OpFunctionCall, STORE_OUTPUT,
}  # fmt: skip
STEEP: Final = 2.0**13  # a factor that makes of a last bit of 1.0 a quarter of a step of 8 bits
# The others; what nothing is known of is not among them: it may be a lookup.
_KNOWN: Final = frozenset((*info.FLAGS, *PRIVATE_NAMES))
_SMOOTH: Final = by_opcode(_KNOWN - _JUMPING)
_CONTINUOUS: Final = by_opcode(_KNOWN - _ENDING)
_IS_SCALING: Final = by_opcode(_SCALING)


def jumps(inst: Inst) -> bool:
    """Whether the last bit of an operand may decide for another result."""
    if inst.op == ops.OpExtInst:
        return info.GLSL_FLAGS.get(inst.imm[0], 0) & info.DISCONTINUOUS != 0
    return not _SMOOTH[inst.op] or quantizes(inst)


def quantizes(inst: Inst) -> bool:
    """Whether an instruction rounds to a float with another encoding than those of IEEE 754:
    bfloat16 has 8 significant bits, the others fewer, so a last bit decides for a step of 8 bits
    or more."""
    if inst.op != ops.OpFConvert or inst.type is None:
        return False
    return not types.is_ieee(scalars.scalar(inst.type))


def ends(inst: Inst) -> bool:
    """Whether something may depend on the last bit of an operand (``Sensitive.decisive``)."""
    return not _CONTINUOUS[inst.op] or quantizes(inst)


def steep(inst: Inst) -> list[Lane]:
    """The operands that a large constant factor makes a step of: ``clamp((x - 0.7) * 1e8, 0, 1)``
    is a comparison."""
    ours = inst.op == ops.OpExtInst and inst.imm[0] in _GLSL_SCALING
    if not ours and not _IS_SCALING[inst.op]:
        return []
    args = scalars.operands(inst)
    if not any(types.IS_CONSTANT[a.op] for a in args):
        return []
    if inst.op in _MATRICES:
        return [lane for a, b in (args, args[::-1]) if _large(b) for lane in all_lanes(a)]
    steps: list[Lane] = []
    for number in range(max([scalars.count(a.type) for a in args])):
        group = [(a, number if scalars.count(a.type) > 1 else 0) for a in args]
        known = [number_of(a, n) if types.IS_CONSTANT[a.op] else None for a, n in group]
        if ours and inst.imm[0] == glsl.Glsl_SmoothStep:
            low, high = known[:2]
            if low is not None and high is not None and abs(high - low) * STEEP <= 1.0:
                steps.append(group[2])
        elif inst.op == ops.OpFDiv:
            if known[1] is not None and abs(known[1]) * STEEP <= 1.0:
                steps.append(group[0])
        else:
            for at in (0, 1):
                factor = known[1 - at]
                if factor is not None and abs(factor) >= STEEP:
                    steps.append(group[at])
    return steps


def _large(constant: Inst) -> bool:
    """Whether a constant has a number that makes a step of what it is multiplied with."""
    if constant.op not in types.CONSTANTS:
        return False
    known = [number_of(constant, n) for n in range(scalars.count(constant.type))]
    return any(n is not None and abs(n) >= STEEP for n in known)


def all_lanes(value: Inst) -> list[Lane]:
    """The scalars of a value; of what has no lanes (structs, arrays, pointers) one for all."""
    return [(value, n) for n in range(scalars.count(value.type) or 1)]


class Sensitive:
    """The values of an entry point's function on whose last bit something hangs."""

    __slots__ = ("beyond", "effects", "function", "seen", "singular", "steep", "written")

    def __init__(self, module: Module, beyond: frozenset[int] | None) -> None:
        """``beyond``: keys of outputs on which something hangs in a later stage; None: that may be
        any output."""
        self.effects = Effects.of(module)
        self.beyond = beyond
        self.seen = Calls.of(module).variables  # by functions that are still called
        # what is stored: in variables of the shader's own, anywhere else
        self.written: dict[Inst | None, list[Inst]] | None = None
        assert module.entry is not None
        self.function = module.entry.function
        self.steep: dict[Lane, Inst] | None = None  # both when first asked for
        self.singular: dict[frozenset[int] | None, dict[Lane, Inst]] = {}

    @property
    def places(self) -> dict[Lane, Inst]:
        """Lanes -> what depends on them."""
        if self.steep is None:
            self.steep = self.spread(self.first())
        return self.steep

    def places_but(self, lifted: Callable[[Lane, Inst], bool]) -> dict[Lane, Inst]:
        """The same without the places that count no more for an operand of theirs."""
        return self.spread([found for found in self.first() if not lifted(*found)])

    def first(self) -> list[tuple[Lane, Inst]]:
        """Operands, and what depends on their last bit."""
        todo: list[tuple[Lane, Inst]] = []
        for block in self.function.blocks:
            for inst in block.insts:
                if ends(inst):
                    todo += [(lane, inst) for lane in self.decisive(inst)]
        return todo

    def poles(self, beyond: frozenset[int] | None) -> dict[Lane, Inst]:
        """Lanes -> what may have a pole there, a division. ``beyond``: keys of outputs of which a
        later stage may make such; None: that may be any output."""
        lanes = self.singular.get(beyond)
        if lanes is None:
            todo: list[tuple[Lane, Inst]] = []
            for block in self.function.blocks:
                for inst in block.insts:
                    if inst.op == STORE_OUTPUT:
                        if beyond is None or inst.imm[0] in beyond:
                            todo += [(lane, inst) for lane in all_lanes(inst.args[0])]
                    elif self.effects.flags(inst) & info.SINGULAR:
                        todo += [(lane, inst) for lane in poles.beside(self.effects, inst)]
            lanes = self.singular[beyond] = self.spread(todo)
        return lanes

    def spread(self, todo: list[tuple[Lane, Inst]]) -> dict[Lane, Inst]:
        """What these are made of, too, as far as it may be rounded: no booleans."""
        places: dict[Lane, Inst] = {}
        for first, place in reversed(todo):
            if first in places or not first[0].id:
                continue
            places[first] = place
            rest = [first]
            while rest:
                inst, number = rest.pop()
                if not inst.args and inst.op != ops.OpVariable:
                    continue
                for at in self.behind(inst, number):
                    type = at[0].type
                    if (type is None or not _boolean(type)) and at[0].id and at not in places:
                        places[at] = place
                        rest.append(at)
        return places

    def stored(self, place: Inst | None) -> list[Inst]:
        """What is stored anywhere in a place."""
        if self.written is None:
            self.written = {}
            for block in self.function.blocks:
                for inst in block.insts:
                    if inst.op == ops.OpStore or inst.op == ops.OpCopyMemory:
                        there = place_of(root(inst.args[0]))
                        self.written.setdefault(there, []).append(inst.args[1])
        return self.written.get(place, [])

    def of(self, inst: Inst, number: int = -1) -> Inst | None:
        """What depends on a lane of a value, or on any of it."""
        if number >= 0:
            return self.places.get((inst, number))
        places = self.places
        return next((places[at] for at in all_lanes(inst) if at in places), None)

    def decisive(self, inst: Inst) -> list[Lane]:
        """The operands on whose last bit an instruction hangs."""
        if inst.op == STORE_OUTPUT:
            hangs = self.beyond is None or inst.imm[0] in self.beyond
            return all_lanes(inst.args[0]) if hangs else []
        if inst.op == ops.OpStore or inst.op == ops.OpCopyMemory:
            return all_lanes(inst.args[1]) if self.decides(root(inst.args[0])) else []
        if inst.op == ops.OpExtInst:
            if inst.args[0] in self.effects.nonsemantic:
                return []
            if inst.args[0] in self.effects.glsl and not jumps(inst):
                return steep(inst)
        if _IS_SCALING[inst.op]:
            return steep(inst)
        return [lane for arg in scalars.operands(inst) for lane in all_lanes(arg)]

    def decides(self, variable: Inst) -> bool:
        """Whether what is stored there is looked at by what is not seen here: the depth test,
        functions that are still called, a later stage."""
        if variable in self.seen:
            return True
        if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Output:
            return False
        builtin = self.effects.tables.find(variable, enums.Decoration_BuiltIn)
        return builtin == (enums.BuiltIn_FragDepth,) or (self.beyond is None and builtin is None)

    def behind(self, inst: Inst, number: int) -> list[Lane]:
        """What a lane is made of."""
        if inst.op == ops.OpPhi:
            return [(arg, number) for arg in inst.args[::2]]
        if inst.op == ops.OpLoad or inst.op == ops.OpVariable:
            if inst.op == ops.OpLoad and self.effects.reads_constant(inst):
                return []
            place = place_of(root(inst.args[0] if inst.op == ops.OpLoad else inst))
            return [at for value in self.stored(place) for at in all_lanes(value)]
        if scalars.IS_MOVE[inst.op]:
            moved = scalars.moved_lane(inst, number)
            if moved is not None:
                return [moved]
        if is_insert(inst):
            object, whole = inst.args
            return [(object, 0) if number == inst.imm[0] else (whole, number)]
        flags = self.effects.flags(inst)
        if flags & info.SPECULATABLE and scalars.count(inst.type):
            if all(scalars.count(arg.type) for arg in scalars.operands(inst)):
                made_of = scalars.made_of(inst, number, scalars.lanewise(inst, flags))
                return [at for group in made_of for at in group]
        return [at for arg in scalars.operands(inst) for at in all_lanes(arg)]


def place_of(variable: Inst) -> Inst | None:
    """What memory a pointer leads to: a variable of the shader's own, or somewhere."""
    own = (enums.StorageClass_Function, enums.StorageClass_Private, enums.StorageClass_Output)
    return variable if variable.op == ops.OpVariable and variable.imm[0] in own else None


def is_insert(inst: Inst) -> bool:
    """Whether an instruction changes one component of a vector."""
    type = inst.type
    return inst.op == ops.OpCompositeInsert and type is not None and type.op == ops.OpTypeVector


def _boolean(type: Inst) -> bool:
    if type.op == ops.OpTypeVector:
        type = type.args[0]
    return type.op == ops.OpTypeBool


def of(module: Module, beyond: frozenset[int] | None = frozenset()) -> Sensitive:
    """Found once for each version of a module."""
    known = fact(module, _by_beyond, module.version)
    facts = known.get(beyond)
    if facts is None:
        facts = known[beyond] = Sensitive(module, beyond)
    return facts


def _by_beyond(module: Module) -> dict[frozenset[int] | None, Sensitive]:
    return {}  # filled as they are asked for


def unbounded(module: Module, inst: Inst) -> bool:
    """Whether a value may be an infinity although what was read is none: something in it is divided
    by what is no constant, or is another function with poles, or is a constant infinity."""
    known = fact(module, _unbounded, module.version)
    answer = known.get(inst)
    if answer is not None:
        return answer
    effects = Effects.of(module)
    todo, seen = [inst], {inst}
    for at in todo:
        flags = effects.flags(at)
        if known.get(at) or (flags & info.UNBOUNDED and not _harmless(at)):
            known[inst] = True
            return True
        if types.IS_CONSTANT[at.op] and not finite(at):
            known[inst] = True
            return True
        if flags & info.SPECULATABLE or at.op == ops.OpPhi or types.IS_CONSTANT[at.op]:
            fresh = [a for a in at.args if a not in seen and known.get(a) is not False]
            seen.update(fresh)
            todo += fresh
    known.update(dict.fromkeys(seen, False))
    return False


def _unbounded(module: Module) -> dict[Inst, bool]:
    return {}  # what was looked at before is not looked at again


def finite(constant: Inst) -> bool:
    """Whether a constant is no infinity or NaN; of composites ask the constituents. What is encoded
    otherwise than IEEE 754 says may be one."""
    bits = types.bits_of(constant)
    if bits is None or constant.type is None or constant.type.op != ops.OpTypeFloat:
        return True
    if not types.is_ieee(constant.type):
        return False
    exponent = EXPONENTS[constant.type.imm[0]]
    return bits & exponent != exponent


def negative_zero(number: float) -> bool:
    return not number and math.copysign(1.0, number) < 0


def choices(values: set[Inst]) -> set[Lane]:
    """The constants that scalars may be, seen through choices."""
    seen: set[Lane] = {(value, 0) for value in values}
    todo = list(seen)
    for inst, lane in todo:  # grows
        behind: list[Lane] = []
        if inst.op == ops.OpPhi or inst.op == ops.OpSelect:
            ways = inst.args[::2] if inst.op == ops.OpPhi else inst.args[1:]
            behind = [(way, lane) for way in ways]
        elif scalars.IS_MOVE[inst.op] and (moved := scalars.moved_lane(inst, lane)):
            behind = [moved]
        elif is_insert(inst):
            behind = [(inst.args[0], 0) if lane == inst.imm[0] else (inst.args[1], lane)]
        fresh = [at for at in behind if at not in seen]
        seen.update(fresh)
        todo += fresh
    return {at for at in seen if at[0].op in types.CONSTANTS}


def _harmless(inst: Inst) -> bool:
    """Whether what is divided by is a constant."""
    if inst.op == ops.OpBitcast:
        return inst.type is None or scalars.scalar(inst.type).op != ops.OpTypeFloat
    if inst.op != ops.OpFDiv:
        return False
    divisor = inst.args[1]
    return all(number_of(divisor, n) for n in range(scalars.count(divisor.type)))


def beyond(link: Link) -> frozenset[int] | None:
    """The outputs of a border's consumer on which something hangs in a later stage; None if that
    cannot be seen."""
    after = link.after
    if after is None:
        return None if link.hidden else frozenset()
    after.gather()
    facts = of(after.consumer.module, beyond(after))
    return frozenset(k for k, loads in after.loads.items() if any(map(facts.of, loads)))


def at(link: Link) -> Sensitive:
    """What depends on the values of a border's consumer."""
    return of(link.consumer.module, beyond(link))


def poles_beyond(link: Link) -> frozenset[int] | None:
    """The same of poles in a later stage."""
    after = link.after
    if after is None:
        return None if link.hidden else frozenset()
    after.gather()
    divisions = poles_at(after)
    return frozenset(
        k for k, loads in after.loads.items() if any((load, 0) in divisions for load in loads)
    )


def poles_at(link: Link) -> dict[Lane, Inst]:
    """The values of a border's consumer of which something with a pole is made."""
    return at(link).poles(poles_beyond(link))


def words(module: Module, place: Inst) -> str:
    """An instruction for people: what it is, and where its names and lines say."""
    if place.op == ops.OpExtInst or place.op == INTERPOLATE:
        number = place.imm[0] if place.op == ops.OpExtInst else place.imm[1]
        named = (n for n, value in vars(glsl).items() if n[:5] == "Glsl_" and value == number)
        what = next(named, "Glsl_OpExtInst")[5:]
    elif place.op in (ops.OpStore, STORE_OUTPUT):
        what = "a store"
    else:
        what = ops.NAMES[place.op]
    called = _called(module, place)
    line = _line(module, place)
    return what + (f" of {called}" if called else "") + (f" ({line})" if line else "")


def _called(module: Module, place: Inst) -> str:
    """The name of an instruction's result, or of an operand or the variable that it was read
    from."""
    candidates = [place, *place.args]
    candidates += [root(a.args[0]) for a in place.args if a.op == ops.OpLoad]
    titles = {
        of: text_of_name(name)
        for of, name in module.names
        if of in candidates and op_of_name(name) == ops.OpName
    }
    return next((titles[c] for c in candidates if titles.get(c)), "")


def _line(module: Module, place: Inst) -> str:
    """``file:line`` that debug information gives for an instruction; empty if none does."""
    record = noted(module)
    if record is None:
        return ""
    line, described, _ = record.places.get(place, NOWHERE)
    file: Inst | None = None
    number: int | None = None
    if described is not None and len(described.args) > 2:  # a DebugLine, beside an older OpLine
        source, first = described.args[1:3]
        number = types.bits_of(first)
        if source.imm[:1] == (debug.DebugSource,) and len(source.args) > 1:
            file = source.args[1]
    elif line is not None:
        file, number = line.args[0], line.imm[0]
    if file is None or file.op != ops.OpString or number is None:
        return ""
    return f"{string_of(file.imm)[0]}:{number}"
