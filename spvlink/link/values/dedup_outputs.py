"""Merge duplicate outputs: the consumer reads the first in place of the second.

    outUv = uv; outUv2 = uv            ->   outUv2 is gone, its loads read outUv
    outNormal = n; outBack = -n        ->   the loads of outBack are -(load of outNormal)
    outBits = floatBitsToUint(outX)    ->   the loads of outX are bit-casts, if both are Flat

Why it is right. Value numbering ran before, so equal values are one Inst. Two slots are equal if at
every return both store, or neither does, and the stored values are equal. A slot that stores on
fewer paths may read one that stores on more, since it was undefined on the other paths. The
reverse would lose values. Equal values stay equal through equal interpolation, so both slots must
have the same qualifiers.

If an output crosses both with Centroid and without, the Centroid copy goes, and
InterpolateAtCentroid reads the other: "the value that would be assigned if it were decorated as
Centroid" (GLSL.std.450). The invocation interpolates at the same place as before. There is no way
from Centroid back to the middle of the pixel.

What breaks it.
* The sign of a zero. Negation commutes with every interpolation except for it (a sum that cancels
  is +0 either way). Under ``--exact``, or where the consumer preserves signed zeros, only Flat
  values are negated.
* The payload of a NaN. A bit-cast is read from the integer, never the integer from a float.
* Rounding. A value that is equal at all vertices of a primitive may be read through another
  qualifier than its own, but rounding may differ. That is done only where nothing depends on it
  (``rounded``), and under ``--exact`` not at all. Flat is never read through an interpolated slot:
  it crosses to the bit, and a shader may rely on that (``int(id)``).
* Device features. InterpolateAtCentroid needs sampleRateShading, so the fragment stage must declare
  a capability that needs it already.

Cost. None: a component less crosses.
"""

from __future__ import annotations

from spvlink.facts.floats import Floats
from spvlink.grammar import enums, glsl, info, ops
from spvlink.ir.core import CAPABILITIES, INTERPOLATE, LOAD_INPUT, Inst, Module
from spvlink.ir.edit import become, need_capability, rewrite, sweep, value
from spvlink.ir.slot import BUILTIN_KEYS, shown
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.uniformity import divergence_of, equal_on_primitive
from spvlink.link.border.values import Scalar, as_interpolated, component
from spvlink.link.rounding import rounded
from spvlink.link.rounding.flatten import unbounded
from spvlink.pipeline import MERGED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    Twin = tuple[int, int, int]  # (the slot to read instead, how, which way)

SAME, NEGATED, CAST = range(3)  # how a value is made from the one that stays
# Which way that one is read: as it is, by InterpolateAtCentroid, as if it had been interpolated.
PLAIN, AT_CENTROID, AS_INTERPOLATED = range(3)
_WORDS: Final = "the same as", "the negation of", "the same bits as"
# Both need the feature sampleRateShading (Vulkan, "Capabilities").
_FUNCTIONS: Final = (enums.Capability_InterpolationFunction, enums.Capability_SampleRateShading)


_LOOKED_THROUGH: Final = (ops.OpFNegate, ops.OpBitcast)


class DedupRules:
    """What the consumer and the user allow, the same for all slots of a border."""

    __slots__ = ("equal", "fast_math", "functions", "preserved", "signed", "ways")

    def __init__(self, link: Link, exact: bool, plain: bool = False) -> None:
        module = link.consumer.module
        mixed = not link.exact and len({link.inputs.slots[k].qualifiers for k in link.loads}) > 1
        self.ways = (SAME,) if plain else (SAME, NEGATED, CAST)
        # look for values that are equal for a primitive
        self.equal = mixed and not exact and not plain
        asked = Floats.of(module)
        self.preserved, self.fast_math = asked.preserved, asked.fast_math
        self.signed = {16, 32, 64} if exact else self.preserved  # widths whose zeros keep signs
        asking = any(c.imm[0] in _FUNCTIONS for c in module.sections[CAPABILITIES])
        self.functions = asking and not plain


def dedup_outputs(
    link: Link, exact: bool, others: Sequence[Link] | None = None, plain: bool = False
) -> bool:
    """Merge duplicates; whether there were any. ``others``: in a set, the links of the same
    consumer to its other producers: all have to agree, and nothing is done to producers, which may
    have other consumers. ``plain``: only what is the same as it is, read in the same way."""
    link.gather()
    if not _alike(link):
        return False
    rules = DedupRules(link, exact, plain)
    agreeing = [(other, DedupRules(other, exact, plain)) for other in others or ()]
    kept: dict[tuple[object, ...], list[int]] = {}
    merged: dict[int, Twin] = {}
    for key in _order(link):
        sites = _sites(link, key)
        twin = None
        if kept and key not in link.read_as_is:
            twin = _twin(link, key, sites, kept, rules, agreeing)
        if twin is not None:
            merged[key] = twin
            continue
        for name in _names(sites):
            kept.setdefault(name, []).append(key)
    if not merged:
        return False
    _redirect(link, merged)
    if others is None:
        remove_stores(link.producer, {k for k in merged if k not in link.outputs.captured})
    for key, (other, how, way) in merged.items():
        why = f"{_WORDS[how]} {_called(link, other)}"
        link.remarks.fate[key] = (MERGED, why + ", read at the centroid" * (way == AT_CENTROID))
    return True


def same(link: Link, key: int, other: int) -> bool:
    """Whether one output holds what another one does wherever it is stored, and is declared so that
    any consumer may read that one instead."""
    for one in (key, other):
        if one not in link.stores or not link.stored_once(one):
            return False
    return _comes_alike(link, key, other) and _covers(link, other, _sites(link, key), SAME)


def _comes_alike(link: Link, key: int, other: int) -> bool:
    """Whether what an output loses on the way another one loses too, and what it promises that one
    does: RelaxedPrecision may round, and an Invariant output is not read from one that is none."""
    mine, theirs = link.outputs.slots[key], link.outputs.slots[other]
    return mine.relaxed == theirs.relaxed and all(w in theirs.extras for w in mine.extras)


def _alike(link: Link) -> bool:
    """Whether two slots may say the same, in any of the ways: most pairs have none that do."""
    said: set[Scalar] = set()
    for key in link.loads:
        mine: set[Scalar] = set()
        for store in link.stores.get(key, ()):
            stored = component(store.args[0])
            mine.add(stored)
            if stored[0].op in _LOOKED_THROUGH:
                behind = _behind(stored, ops.OpFNegate)
                mine.add(_bits(stored) if behind is None else behind)
        if not said.isdisjoint(mine):
            return True
        said |= mine
    return False


def _called(link: Link, key: int) -> str:
    slot = link.outputs.slots[key]
    if key >= BUILTIN_KEYS:
        return slot.name
    return f"{slot.name or 'Location'} {shown(key >> 3)}.{'xyzw'[key >> 1 & 3]}"


def _order(link: Link) -> list[int]:
    """Candidates, those first that others may be read from: stored most often, Invariant, captured,
    not Centroid, unnegated, Flat, lowest."""
    keys = [
        k
        for k in link.loads
        if k in link.stores and k in link.outputs.slots and link.stored_once(k)
    ]

    def rank(key: int) -> tuple[int, bool, bool, bool, bool, bool, bool, bool, int]:
        negated = component(link.stores[key][0].args[0])[0].op == ops.OpFNegate
        interpolated = any(i.op == INTERPOLATE for i in link.loads[key])
        slot = link.inputs.slots[key]
        smooth = not link.carries_bits(slot)
        aside = enums.Decoration_Centroid in slot.qualifiers
        floating = slot.type.op == ops.OpTypeFloat  # which carries no integers
        stores, common = -len(link.stores[key]), not link.outputs.slots[key].extras
        # the others are stored anyway
        free = key not in link.outputs.captured and key < BUILTIN_KEYS
        return stores, common, free, aside, negated, smooth, interpolated, floating, key

    return sorted(keys, key=rank)


def _behind(scalar: Scalar, op: int) -> Scalar | None:
    """What a negation or bit-cast of one component is made from, or None if it is none."""
    value, lane = scalar
    if value.op != op:
        return None
    source = value.args[0]
    if lane >= 0 and source.op == ops.OpCompositeConstruct and source.type is not None:
        if len(source.args) == source.type.imm[0]:
            return component(source.args[lane])
    return (source, lane) if lane >= 0 else component(source)


def _sites(link: Link, key: int) -> dict[int, Scalar]:
    """Number of the return -> what is stored there."""
    sites = link.sites
    return {sites[s]: component(s.args[0]) for s in link.stores[key]}


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


def _names(sites: dict[int, Scalar]) -> list[tuple[object, ...]]:
    """Under which a slot can be found: by (return, value), and by (return, bits)."""
    names: list[tuple[object, ...]] = []
    for site, stored in sites.items():
        names += [(site, stored), (site, _bits(stored), CAST)]
    return names


def _twin(
    link: Link, key: int, sites: dict[int, Scalar], kept: dict[tuple[object, ...], list[int]],
    rules: DedupRules, agreeing: list[tuple[Link, DedupRules]],
) -> Twin | None:  # fmt: skip
    """What to read instead, or None."""
    site, stored = next(iter(sites.items()))
    for how in rules.ways:
        wanted = _seen(stored, how)
        if wanted is None:
            continue
        name = (site, wanted, CAST) if how == CAST else (site, wanted)
        others = kept.get(name)
        if others is None:
            continue
        mine = link.inputs.slots[key]
        if how == NEGATED and not link.carries_bits(mine):
            if mine.width in rules.signed or link.settled(key):
                continue
        for other in others:
            if _covers(link, other, sites, how):
                way = _way(link, key, other, how, rules)
                if way is not None and all(
                    _agrees(there, key, (other, how, way), asked) for there, asked in agreeing
                ):
                    return other, how, way
    return None


def _agrees(link: Link, key: int, twin: Twin, rules: DedupRules) -> bool:
    """Whether another producer lets the consumer read the same slot instead in the same way."""
    other, how, way = twin
    link.gather()
    for one in (key, other):
        if one not in link.stores or one not in link.outputs.slots or not link.stored_once(one):
            return False
    sites = _sites(link, key)
    return (
        key not in link.read_as_is
        and all(_seen(stored, how) is not None for stored in sites.values())
        and _covers(link, other, sites, how)
        and _way(link, key, other, how, rules) == way
    )


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


def _way(link: Link, key: int, other: int, how: int, rules: DedupRules) -> int | None:
    """Which way to read ``other`` in place of ``key``; None if the qualifiers do not allow it."""
    mine, theirs = link.inputs.slots[key], link.inputs.slots[other]
    if mine.relaxed != theirs.relaxed or not _comes_alike(link, key, other):
        return None
    if link.frozen(key) or (mine.qualifiers != theirs.qualifiers and link.settled(key)):
        return None
    if how == CAST:
        if not link.carries_bits(mine):
            return None
        if theirs.type.op == ops.OpTypeFloat and mine.type.op != ops.OpTypeFloat:
            return None  # a float may lose a payload or be flushed on the way
    if mine.qualifiers == theirs.qualifiers:
        return PLAIN
    way = _way_if_equal(link, key, other, rules)
    if way is None and mine.width == 32 and _centroid_of(link, key, other):
        if rules.functions:
            return AT_CENTROID
        link.remarks.notes[key] = (
            f"{_WORDS[how]} {_called(link, other)}, but reading that at the"
            " centroid needs the capability InterpolationFunction"
        )
    return way


def _way_if_equal(link: Link, key: int, other: int, rules: DedupRules) -> int | None:
    """Which way to read a slot that has another qualifier, if it is equal at all vertices of a
    primitive."""
    mine, theirs = link.inputs.slots[key], link.inputs.slots[other]
    if not rules.equal or any(i.op == INTERPOLATE for i in link.loads[key]):
        return None
    if info.APART_DECORATIONS.intersection(mine.qualifiers + theirs.qualifiers):
        return None
    if _flat(mine.qualifiers) and not _flat(theirs.qualifiers):
        return None  # a Flat value comes over to the bit: an index in a float must not be rounded
    specials_matter = mine.width in rules.preserved or unbounded(link, key)
    special = _flat(theirs.qualifiers) and not _flat(mine.qualifiers) and specials_matter
    if special and rules.fast_math:
        return None
    if not equal_on_primitive(link, other, divergence_of(link)):
        return None
    if not link.carries_bits(mine) and not rounded.of(link).free(key):
        link.remarks.notes[key] = (
            f"equal to {_called(link, other)}, but {rounded.of(link).why(key)}"
        )
        return None
    return AS_INTERPOLATED if special else PLAIN


def _centroid_of(link: Link, key: int, other: int) -> bool:
    """Whether one slot is read Centroid and nothing else differs, and only in the plain way."""
    mine, theirs = link.inputs.slots[key].qualifiers, link.inputs.slots[other].qualifiers
    if link.consumer.name != "frag" or set(mine) != {*theirs, enums.Decoration_Centroid}:
        return False
    at_centroid = glsl.Glsl_InterpolateAtCentroid
    return all(i.op == LOAD_INPUT or i.imm[1] == at_centroid for i in link.loads[key])


def _flat(qualifiers: tuple[int, ...]) -> bool:
    return enums.Decoration_Flat in qualifiers


def _redirect(link: Link, merged: dict[int, Twin]) -> None:
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
            other, how, way = merged[inst.imm[0]]
            slot = link.inputs.slots[other]
            op, imm = inst.op, (other, *inst.imm[1:])
            if way == AT_CENTROID:
                op, imm = INTERPOLATE, (other, glsl.Glsl_InterpolateAtCentroid)
            if slot.type is inst.type and how == SAME and way != AS_INTERPOLATED:
                rewrite(module, inst, op, inst.args, imm)
                out.append(inst)
                continue
            load = value(module, op, slot.type, list(inst.args), imm)
            out.append(load)
            become(module, inst, _made(module, inst, load, how, way, out))
        block.insts = out
    if any(way == AT_CENTROID for _, _, way in merged.values()):
        need_capability(module, enums.Capability_InterpolationFunction)
    sweep(module, entry.function)


def _made(module: Module, inst: Inst, load: Inst, how: int, way: int, out: list[Inst]) -> Inst:
    """What stands for a load, made from the load of another slot."""
    if way == AS_INTERPOLATED:
        load = as_interpolated(module, load, out)
    if how != NEGATED and load.type is inst.type:
        return load
    op = ops.OpFNegate if how == NEGATED else ops.OpBitcast
    out.append(value(module, op, inst.type, [load], ()))
    return out[-1]
