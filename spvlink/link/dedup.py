"""Outputs that say the same twice: the second is read from the first.

    outUv = uv; outUv2 = uv            ->   outUv2 is gone, its loads read outUv
    outNormal = n; outBack = -n        ->   the loads of outBack are -(load of outNormal)
    outBits = floatBitsToUint(outX)    ->   the loads of outX are bit-casts, if both are Flat

The values were numbered before, so equal values are one Inst. Two slots are equal if at every
return both store, or neither does, and what they store there is equal. A slot that stores on fewer
paths may read one that stores on more (where it stored nothing it was undefined); never the other
way round (hazard 1).

Equal values stay equal through equal interpolation; so both must have the same qualifiers. Negation
commutes with every interpolation but for the sign of a zero (a sum that cancels is +0 either way),
so under ``--exact``, or where the consumer preserves signed zeros, only Flat is negated. A bit-cast
is read from the integer, never the integer from a float, which could lose a payload. A value that
is equal at all vertices of a primitive may be read through another qualifier than its own, but a
rounding may differ, so ``--exact`` leaves that. What is Flat is never read through an interpolated
one: it comes over to the bit, and a shader may rely on it (``int(id)``).
"""

from __future__ import annotations

from spvlink.facts.divergence import PRIMITIVE, Divergence
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst, Module
from spvlink.ir.edit import become, rewrite, sweep, value
from spvlink.ir.slot import Slot
from spvlink.link.border import Link
from spvlink.link.dead import remove_stores
from spvlink.link.propagate import preserves_specials

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

SAME, NEGATED, CAST = range(3)
# With one of these nothing is read but what has the same qualifiers.
_OWN_KIND: Final = frozenset(
    (
        enums.Decoration_Sample,
        enums.Decoration_PerVertexKHR,
        enums.Decoration_PerPrimitiveEXT,
        enums.Decoration_Patch,
    )
)


def run(link: Link, exact: bool) -> bool:
    """Merge duplicates; whether there were any."""
    link.gather()
    mixed = not link.exact and len({link.inputs.slots[k].qualifiers for k in link.loads}) > 1
    divergence = divergence_of(link) if mixed and not exact else None
    signed = {16, 32, 64} if exact else preserves_specials(link.consumer.module)
    kept: dict[tuple[object, ...], list[int]] = {}
    merged: dict[int, tuple[int, int]] = {}
    for key in _order(link):
        twin = _twin(link, key, kept, divergence, signed)
        if twin is not None:
            merged[key] = twin
            continue
        for name in _names(link, key):
            kept.setdefault(name, []).append(key)
    if not merged:
        return False
    _redirect(link, merged)
    remove_stores(link.producer, set(merged))
    for key, (other, how) in merged.items():
        word = ("the same as", "the negation of", "the same bits as")[how]
        slot = link.outputs.slots[other]
        place = f"{other >> 3}.{'xyzw'[other >> 1 & 3]}"
        link.fate[key] = ("merged", f"{word} {slot.name or 'Location'} {place}")
    return True


def divergence_of(link: Link) -> Divergence:
    """The levels of the producer's values, as long as its code stays as it is."""
    module = link.producer.module
    held = module.facts.get("divergence")
    if held is not None and held[0] == module.version:
        assert isinstance(held[1], Divergence)
        return held[1]
    assert module.entry is not None
    made = Divergence(module, module.entry.function)
    module.facts["divergence"] = (module.version, made)
    return made


def _order(link: Link) -> list[int]:
    """Candidates, those first that others may be read from: stored most often, unnegated, Flat,
    lowest."""
    keys = [
        k for k in link.loads
        if k in link.stores and k in link.outputs.slots
        and k not in link.kept_in and k not in link.kept_out and _plain(link, k)
    ]  # fmt: skip

    def rank(key: int) -> tuple[int, bool, bool, bool, bool, int]:
        negated = _scalar(link.stores[key][0].args[0])[0].op == ops.OpFNegate
        interpolated = any(i.op == INTERPOLATE for i in link.loads[key])
        slot = link.inputs.slots[key]
        smooth = not link.carries_bits(slot)
        floating = slot.type.op == ops.OpTypeFloat  # which carries no integers
        return -len(link.stores[key]), negated, smooth, interpolated, floating, key

    return sorted(keys, key=rank)


def _plain(link: Link, key: int) -> bool:
    """Whether a slot that others see early is stored once a site and not read back: else the order
    of these would count."""
    if not link.in_place:
        return True
    stores = link.stores[key]
    return key not in link.read_back and len({link.sites[s] for s in stores}) == len(stores)


Scalar = tuple[Inst, int]  # a component of a vector, or (a scalar, -1)


def _scalar(stored: Inst) -> Scalar:
    """One name for one component, whichever extract took it out."""
    if stored.op == ops.OpCompositeExtract and len(stored.imm) == 1:
        source = stored.args[0]
        if source.type is not None and source.type.op == ops.OpTypeVector:
            return source, stored.imm[0]
    return stored, -1


def _behind(scalar: Scalar, op: int) -> Scalar | None:
    """What a negation or bit-cast of one component is made from, or None if it is none."""
    value, lane = scalar
    if value.op != op:
        return None
    source = value.args[0]
    if lane >= 0 and source.op == ops.OpCompositeConstruct and source.type is not None:
        if len(source.args) == source.type.imm[0]:
            return _scalar(source.args[lane])
    return (source, lane) if lane >= 0 else _scalar(source)


def _sites(link: Link, key: int) -> dict[int, Scalar]:
    """Number of the return -> what is stored there."""
    return {link.sites[s]: _scalar(s.args[0]) for s in link.stores[key]}


def _bits(scalar: Scalar) -> Scalar:
    """What a component is made of, bit-casts of the same number of components looked through."""
    while scalar[0].op == ops.OpBitcast:
        value, lane = scalar
        source = value.args[0].type
        if source is None or value.type is None:
            break
        if (source.op == ops.OpTypeVector) != (lane >= 0):
            break
        if lane >= 0 and source.imm[0] != value.type.imm[0]:
            break
        behind = _behind(scalar, ops.OpBitcast)
        if behind is None:
            break
        scalar = behind
    return scalar


def _seen(scalar: Scalar, how: int) -> Scalar | None:
    """What another slot has to store so that this component can be read from it in that way."""
    if how == NEGATED:
        return _behind(scalar, ops.OpFNegate)
    return _bits(scalar) if how == CAST else scalar


def _names(link: Link, key: int) -> list[tuple[object, ...]]:
    """Under which a slot can be found: by (return, value), and by (return, bits)."""
    names: list[tuple[object, ...]] = []
    for site, stored in _sites(link, key).items():
        names += [(site, stored), (site, _bits(stored), CAST)]
    return names


def _twin(
    link: Link, key: int, kept: dict[tuple[object, ...], list[int]],
    divergence: Divergence | None, signed: set[int],
) -> tuple[int, int] | None:  # fmt: skip
    """(slot to read instead, how), or None. ``signed``: widths whose zeros keep their sign."""
    sites = _sites(link, key)
    site, stored = next(iter(sites.items()))
    for how in (SAME, NEGATED, CAST):
        wanted = _seen(stored, how)
        mine = link.inputs.slots[key]
        if wanted is None or (
            how == NEGATED and mine.width in signed and not link.carries_bits(mine)
        ):
            continue
        name = (site, wanted, CAST) if how == CAST else (site, wanted)
        for other in kept.get(name, ()):
            if _covers(link, other, sites, how) and _readable(link, key, other, how, divergence):
                return other, how
    return None


def _covers(link: Link, other: int, sites: dict[int, Scalar], how: int) -> bool:
    """Whether at every return where the one stores, the other stores the value it is read from.
    What is stored in place may be overwritten later, so there both store at the same sites."""
    theirs = _sites(link, other)
    if link.in_place and theirs.keys() != sites.keys():
        return False
    for site, stored in sites.items():
        there = theirs.get(site)
        if there is not None and how == CAST:
            there = _bits(there)
        if there is None or there != _seen(stored, how):
            return False
    return True


def _readable(link: Link, key: int, other: int, how: int, divergence: Divergence | None) -> bool:
    """Whether the qualifiers allow to read ``other`` in place of ``key``."""
    mine, theirs = link.inputs.slots[key], link.inputs.slots[other]
    if mine.width != theirs.width or mine.relaxed != theirs.relaxed:
        return False
    kept = link.outputs.slots[other].extras
    if any(words not in kept for words in link.outputs.slots[key].extras):
        return False  # an Invariant output is not read from one that is none
    if how == CAST:
        if not (link.carries_bits(mine) and link.carries_bits(theirs)):
            return False
        if theirs.type.op == ops.OpTypeFloat and mine.type.op != ops.OpTypeFloat:
            return False  # a float may lose a payload or be flushed on the way
    if mine.qualifiers == theirs.qualifiers:
        return True
    if divergence is None or any(i.op == INTERPOLATE for i in link.loads[key]):
        return False
    if _OWN_KIND.intersection(mine.qualifiers + theirs.qualifiers):
        return False
    if _flat(mine.qualifiers) and not _flat(theirs.qualifiers):
        return False  # a Flat value comes over to the bit: an index in a float must not be rounded
    return equal_on_primitive(link, other, divergence)


def _flat(qualifiers: tuple[int, ...]) -> bool:
    return enums.Decoration_Flat in qualifiers


def equal_on_primitive(link: Link, key: int, divergence: Divergence) -> bool:
    """Whether all vertices of a primitive store one value: every return stores it, since the
    provoking vertex may be one that took another (hazard 7), and it is equal for the primitive."""
    stores = link.stores.get(key, ())
    values = {s.args[0] for s in stores}
    if len(values) != 1 or len(stores) != link.returns or link.in_place:
        return False
    value = next(iter(values))
    if link.producer.name == "geom":
        # one invocation emits the whole primitive: a value computed once is the same for all of it
        return _computed_once(link.producer.module, value)
    return divergence.of(value) <= PRIMITIVE


def _computed_once(module: Module, value: Inst) -> bool:
    """Whether a value is a constant or is made outside of all loops."""
    assert module.entry is not None
    function = module.entry.function
    structure = Structure.of(module, function)
    for block in function.blocks:
        if value in block.insts:
            return not structure.loops.intersection((block, *structure.around(block)))
    return value.op in types.CONSTANTS


def convergent_slots(link: Link) -> frozenset[int]:
    """The float slots of 32 bits that every vertex of a primitive stores equally, so that any
    interpolation gives them back."""
    link.gather()
    wanted = [
        k for k in link.loads
        if k in link.stores and k not in link.kept_in and k not in link.kept_out
        and all(i.op == LOAD_INPUT for i in link.loads[k])
        and _may_flatten(link.inputs.slots[k])
    ]  # fmt: skip
    if not wanted or link.exact or len({link.inputs.slots[k].qualifiers for k in link.loads}) < 2:
        return frozenset()  # with one interpolation there is nothing to choose
    preserved = preserves_specials(link.consumer.module)
    divergence = divergence_of(link)
    return frozenset(
        k for k in wanted
        if link.inputs.slots[k].width not in preserved and equal_on_primitive(link, k, divergence)
    )  # fmt: skip


def _may_flatten(slot: Slot) -> bool:
    own = _OWN_KIND.intersection(slot.qualifiers)
    return slot.type.op == ops.OpTypeFloat and slot.width == 32 and not own


def _redirect(link: Link, merged: dict[int, tuple[int, int]]) -> None:
    """The loads of what goes read the other slot."""
    module = link.consumer.module
    entry = module.entry
    assert entry is not None
    for block in entry.function.blocks:
        out: list[Inst] = []
        for inst in block.insts:
            if inst.op not in (LOAD_INPUT, INTERPOLATE) or inst.imm[0] not in merged:
                out.append(inst)
                continue
            other, how = merged[inst.imm[0]]
            slot = link.inputs.slots[other]
            if slot.type is inst.type and how == SAME:
                rewrite(module, inst, inst.op, inst.args, [other, *inst.imm[1:]])
                out.append(inst)
                continue
            load = value(module, inst.op, slot.type, list(inst.args), [other, *inst.imm[1:]])
            op = ops.OpFNegate if how == NEGATED else ops.OpBitcast
            made = value(module, op, inst.type, [load], [])
            out += [load, made]
            become(module, inst, made)
        block.insts = out
    sweep(module, entry.function)
