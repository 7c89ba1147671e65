"""Outputs that say the same twice: the second is read from the first.

    outUv = uv; outUv2 = uv            ->   outUv2 is gone, its loads read outUv
    outNormal = n; outBack = -n        ->   the loads of outBack are -(load of outNormal)
    outBits = floatBitsToUint(outX)    ->   a bit-cast of the load, if both are Flat

The values were numbered before, so equal values are one Inst. Two slots are equal if at every return both store,
or neither does, and what they store there is equal. A slot that stores on fewer paths may read one that stores on
more (where it stored nothing it was undefined); never the other way round (hazard 1).

Equal values stay equal through equal interpolation; so both must have the same qualifiers. Negation commutes with every
interpolation, exactly: it flips a sign on both sides of each product and sum. A value that is equal at all vertices of a primitive may be read through another
qualifier than its own, but a rounding may differ, so ``--exact`` leaves that.
"""

from __future__ import annotations

from spvlink.facts.divergence import PRIMITIVE, Divergence
from spvlink.grammar import enums, ops
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst
from spvlink.ir.edit import become, rewrite, sweep, value
from spvlink.link.border import Link
from spvlink.link.dead import remove_stores

SAME, NEGATED, CAST = range(3)


def run(link: Link, exact: bool) -> bool:
    """Merge duplicates; whether there were any."""
    link.gather()
    divergence = None if exact else divergence_of(link)
    kept: dict[tuple[object, ...], list[int]] = {}
    merged: dict[int, tuple[int, int]] = {}
    for key in _order(link):
        twin = _twin(link, key, kept, divergence)
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
    """The levels of the producer's values."""
    entry = link.producer.module.entry
    assert entry is not None
    return Divergence(link.producer.module, entry.function)


def _order(link: Link) -> list[int]:
    """Candidates, those first that others may be read from: stored most often, unnegated, lowest."""
    keys = [
        k for k in link.loads
        if k in link.stores and k in link.outputs.slots
        and k not in link.kept_in and k not in link.kept_out
    ]  # fmt: skip

    def rank(key: int) -> tuple[int, bool, bool, int]:
        stored = link.stores[key][0].args[0]
        derived = stored.op in (ops.OpFNegate, ops.OpBitcast)
        interpolated = any(i.op == INTERPOLATE for i in link.loads[key])
        return -len(link.stores[key]), derived, interpolated, key

    return sorted(keys, key=rank)


def _sites(link: Link, key: int) -> dict[int, Inst]:
    """Number of the return -> value stored there."""
    return {link.sites[s]: s.args[0] for s in link.stores[key]}


def _names(link: Link, key: int) -> list[tuple[object, ...]]:
    """Under which a slot can be found: by (return, value)."""
    return [(site, stored) for site, stored in _sites(link, key).items()]


def _twin(
    link: Link, key: int, kept: dict[tuple[object, ...], list[int]], divergence: Divergence | None
) -> tuple[int, int] | None:
    """(slot to read instead, how), or None."""
    sites = _sites(link, key)
    site, stored = next(iter(sites.items()))
    options = [(stored, SAME)]
    if stored.op == ops.OpFNegate:
        options.append((stored.args[0], NEGATED))
    if stored.op == ops.OpBitcast and _scalar_cast(stored):
        options.append((stored.args[0], CAST))
    for wanted, how in options:
        for other in kept.get((site, wanted), ()):
            if _covers(link, other, sites, how) and _readable(link, key, other, how, divergence):
                return other, how
    return None


def _scalar_cast(cast: Inst) -> bool:
    source = cast.args[0].type
    return source is not None and source.op in (ops.OpTypeInt, ops.OpTypeFloat)


def _covers(link: Link, other: int, sites: dict[int, Inst], how: int) -> bool:
    """Whether at every return where the one stores, the other stores the value it is read from."""
    theirs = _sites(link, other)
    for site, stored in sites.items():
        wanted = stored
        if how == NEGATED:
            if stored.op != ops.OpFNegate:
                return False
            wanted = stored.args[0]
        elif how == CAST:
            if stored.op != ops.OpBitcast:
                return False
            wanted = stored.args[0]
        if theirs.get(site) is not wanted:
            return False
    return True


def _readable(link: Link, key: int, other: int, how: int, divergence: Divergence | None) -> bool:
    """Whether the qualifiers allow to read ``other`` in place of ``key``."""
    mine, theirs = link.inputs.slots[key], link.inputs.slots[other]
    if mine.width != theirs.width or mine.relaxed != theirs.relaxed:
        return False
    if how == CAST and not (_flat(mine.qualifiers) and _flat(theirs.qualifiers)):
        return False
    if mine.qualifiers == theirs.qualifiers:
        return True
    if divergence is None or any(i.op == INTERPOLATE for i in link.loads[key]):
        return False
    if enums.Decoration_Sample in mine.qualifiers + theirs.qualifiers:
        return False
    return equal_on_primitive(link, other, divergence)


def _flat(qualifiers: tuple[int, ...]) -> bool:
    return enums.Decoration_Flat in qualifiers


def equal_on_primitive(link: Link, key: int, divergence: Divergence) -> bool:
    """Whether all vertices of a primitive store one value: the value is equal for them, and so is the way to the store, or every
    return stores it (hazard 7)."""
    stores = link.stores.get(key, ())
    values = {s.args[0] for s in stores}
    if len(values) != 1 or divergence.of(next(iter(values))) > PRIMITIVE:
        return False
    if len(stores) == link.returns:
        return True
    return all(divergence.blocks.get(link.homes[s], 3) <= PRIMITIVE for s in stores)


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
