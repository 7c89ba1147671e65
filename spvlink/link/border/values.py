"""What is stored in a slot, as a value."""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import annotate, value
from spvlink.link.border.link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


_ASIDE: Final = frozenset((enums.Decoration_Centroid, enums.Decoration_Sample))


def centred(qualifiers: tuple[int, ...]) -> bool:
    """Whether inputs with these qualifiers are interpolated at the middle of the pixel."""
    return not _ASIDE.intersection(qualifiers)


def single_value(link: Link, key: int) -> Inst | None:
    """The value that every store of a key writes, or None."""
    stores = link.stores.get(key) or []
    if len(stores) == 1:
        return stores[0].args[0]
    values = {component(s.args[0]) for s in stores}
    return stores[0].args[0] if len(values) == 1 else None


Scalar = tuple[Inst, int]  # a component of a vector, or (a scalar, -1)


def component(stored: Inst) -> Scalar:
    """One name for one component, whichever extract took it out."""
    if stored.op == ops.OpCompositeExtract and len(stored.imm) == 1:
        source = stored.args[0]
        if source.type is not None and source.type.op == ops.OpTypeVector:
            return source, stored.imm[0]
    return stored, -1


def as_interpolated(module: Module, scalar: Inst, out: list[Inst]) -> Inst:
    """What interpolating three equal values gives: (x - x) + x, not to be contracted."""
    zero = value(module, ops.OpFSub, scalar.type, [scalar, scalar], [])
    made = value(module, ops.OpFAdd, scalar.type, [zero, scalar], [])
    out += [zero, made]
    note = [enums.Decoration_NoContraction]
    annotate(module, [Inst(ops.OpDecorate, None, [i], list(note)) for i in (zero, made)])
    return made
