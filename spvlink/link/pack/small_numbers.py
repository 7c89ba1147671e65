"""Find the number of bits that an unsigned value needs.

    x & 0xffffu: 16    x >> 24: 8    x % 5u: 3    b ? 9u : 2u: 4    uint(u16): 16    f: 32
    an attribute of R8_UINT: 8

Only values that are not negative count: all bits above are zero.
"""

from __future__ import annotations

from spvlink.facts.effects import Effects
from spvlink.grammar import glsl, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module
from spvlink.link.border.values import Scalar
from spvlink.link.shape.array_side import lanes_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_ANYTHING: Final = 64  # bits: the most that a number has, of whatever width it is
_MOST_LOOKS: Final = 64  # at instructions, for one number
_SHIFTS: Final = frozenset((ops.OpShiftRightLogical, ops.OpShiftLeftLogical))
_PASSED: Final = frozenset((ops.OpCopyObject, ops.OpBitcast, ops.OpUConvert))
_OVERLAID: Final = frozenset((ops.OpBitwiseOr, ops.OpBitwiseXor))


def bits_of_number(module: Module, scalar: Scalar) -> int:
    """The bits that a scalar needs; as many as its type has, or more: anything."""
    return _Look(module).at(scalar, frozenset())


class _Look:
    """One look at what a number is made of, of a bounded number of steps."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.glsl = Effects.of(module).glsl
        self.left = _MOST_LOOKS

    def at(self, scalar: Scalar, around: frozenset[Scalar]) -> int:
        """The bits of a scalar. ``around``: phis and selects that only hand it on."""
        if scalar in around:
            return 0
        self.left -= 1
        inst, lane = scalar
        constant = self.constant(inst, lane)
        if constant is not None:
            return constant.bit_length()
        most = _width(inst, lane)
        if not most or self.left < 0:
            return _ANYTHING
        return min(most, self.made(scalar, around))

    def made(self, scalar: Scalar, around: frozenset[Scalar]) -> int:
        """What an operation leaves."""
        inst, lane = scalar
        op = inst.op
        if op == ops.OpCompositeExtract and len(inst.imm) == 1 and lane < 0:
            return self.at((inst.args[0], inst.imm[0]), around)
        if op == ops.OpCompositeConstruct and lane >= 0:
            part, path = lanes_of(inst)[lane]
            return self.at((part, path[0] if path else -1), around)
        if op == ops.OpVectorShuffle and lane >= 0:
            size, index = types.lanes_of(inst.args[0].type), inst.imm[lane]
            first = index < size
            return self.at((inst.args[0 if first else 1], index if first else index - size), around)
        if op == ops.OpSelect or op == ops.OpPhi:
            ways = inst.args[1:] if op == ops.OpSelect else inst.args[::2]
            return max(self.at((way, lane), around | {scalar}) for way in ways)
        if op in _PASSED:
            source = inst.args[0]
            same = op == ops.OpUConvert or _width(source, lane) == _width(inst, lane)
            return self.behind(source, lane) if same else _ANYTHING
        if op == ops.OpBitwiseAnd:
            return min(self.behind(arg, lane) for arg in inst.args)
        if op in _OVERLAID:
            return max(self.behind(arg, lane) for arg in inst.args)
        if op in _SHIFTS:
            return self.shifted(inst, lane)
        if op == ops.OpLoad:
            return self.loaded(inst.args[0], lane)
        return self.bounded(inst, lane)

    def loaded(self, pointer: Inst, lane: int) -> int:
        """What the pipeline's state says of a vertex attribute."""
        if lane < 0 and IS_CHAIN[pointer.op] and len(pointer.args) == 2:
            index = types.index_of(pointer.args[1])
            pointer, lane = pointer.args[0], -1 if index is None else index
        return self.module.attribute_bits.get((pointer, lane), _ANYTHING)

    def bounded(self, inst: Inst, lane: int) -> int:
        """What cannot be more than a constant."""
        args = inst.args
        if inst.op == ops.OpUMod:
            most = self.constant(args[1], lane)
            return (most - 1).bit_length() if most else _ANYTHING
        if inst.op == ops.OpBitFieldUExtract:
            most = self.constant(args[2], -1)
            return _ANYTHING if most is None else most
        if inst.op == ops.OpExtInst and args[0] in self.glsl and inst.imm[0] == glsl.Glsl_UMin:
            return min(self.behind(arg, lane) for arg in args[1:])
        return _ANYTHING

    def shifted(self, inst: Inst, lane: int) -> int:
        by = self.constant(inst.args[1], lane)
        if by is None or by >= _width(inst, lane):
            return _ANYTHING
        bits = self.behind(inst.args[0], lane)
        if inst.op == ops.OpShiftLeftLogical:
            return bits + by if bits else 0
        return max(0, min(bits, _width(inst, lane)) - by)

    def behind(self, arg: Inst, lane: int) -> int:
        """An operand, which other values than itself may be made of: no way round a loop."""
        return self.at((arg, lane), frozenset()) if arg.op != ops.OpPhi else _ANYTHING

    def constant(self, inst: Inst, lane: int) -> int | None:
        if lane < 0:
            return types.bits_of(inst)
        parts = types.parts_of(self.module, inst)
        if parts is None or lane >= len(parts):
            return None
        return types.bits_of(parts[lane])


def _width(inst: Inst, lane: int) -> int:
    """Bits of a whole number, or of a lane of a vector of these; 0 for anything else."""
    type = inst.type
    if type is not None and lane >= 0:
        type = type.args[0] if type.op == ops.OpTypeVector and lane < type.imm[0] else None
    return type.imm[0] if type is not None and type.op == ops.OpTypeInt else 0
