"""The numbers of constants."""

from __future__ import annotations

import struct

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Atom = tuple[int, ...]
    # products of atoms, and the factor of each
    Polynomial = dict[tuple[Atom, ...], float]
    Name = tuple[tuple[tuple[Atom, ...], float], ...]


CODES: Final = {16: "<e", 32: "<f", 64: "<d"}


def number_of(inst: Inst, lane: int) -> float | None:
    """A lane of a float constant."""
    if inst.op == ops.OpConstantComposite:
        inst = inst.args[lane]
    if inst.op == ops.OpConstantNull:
        return 0.0
    bits = types.bits_of(inst)
    if bits is None or inst.type is None or inst.type.op != ops.OpTypeFloat:
        return None
    width = inst.type.imm[0]
    found: float = struct.unpack(CODES[width], bits.to_bytes(width // 8, "little"))[0]
    return found if found - found == 0.0 else None
