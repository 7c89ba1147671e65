"""Send float varyings as 16 bits where no colour that is seen moves by more than a bound.

    VS  colour = clamp(light, 0.0, 1.0)              colour = float16_t(clamp(light, 0.0, 1.0))
    FS  o = vec4(colour * 0.5, 1.0)             ->   o = vec4(float(colour) * 0.5, 1.0)

    VS  flat a, b in 0 ... 1                         flat word = packHalf2x16(vec2(a, b))
    FS  o = vec4(a, b, 0.0, 1.0)                ->   v = unpackHalf2x16(word); o = vec4(v, 0.0, 1.0)

Only with `--half`. Values of 16 bits cross as such where the device has storageInputOutput16: the
state says so, or both modules declare it. Elsewhere two that are Flat, of a patch or of a primitive
share a word. Both stages compute with 32 bits as before.

Why it is right. The producer's stores give each input a range: constants, clamp, normalize, sine,
attributes of normalized formats, sums and products of these. A number of at most 1 moves by at most
2^-11 when it becomes one of 16 bits, whichever way it is rounded, and again when it is interpolated
so. The consumer's code says by how much the colours move then: operations on numbers with a range
have a greatest slope. The parts of all inputs add up. Those with the smallest are taken first, as
long as no component that is seen moves by more than the bound, half a step of 8 bits by default. A
NaN stays a NaN and an infinity an infinity, so both pipelines have them at the same places.
RelaxedPrecision is permission: such an input may have 16 bits anyway, and has no bound.

What breaks it. Then the input stays, and the report names the reason.
* Decisions: comparisons, floor, indices, conversions to integers, coordinates of lookups.
* Unknown factors: a uniform, another input without a range; a texel, unless the state says that
  sampled images have normalized formats.
* A pole: a quotient, a root or normalize, unless its operand stays away from zero.
* Derivatives, loops, memory, depths, masks, targets of more than 10 bits, a second blend source.
* Extrapolation: several samples, unless the input is Centroid or Sample; lines and conservative
  rasterization, whose pixels may lie outside; interpolateAt*.
* Other rounding: RelaxedPrecision arithmetic. NaNs, if a stage preserves them.
* Undefined values, transform feedback, Invariant, positions and depths of the next stage.

Premises. A device interpolates and clips 16 bits as it does 32, and rounds once more. A vector that
normalize makes a direction of is no shorter than 2^-60. The report says which of these it took for
granted, as the state does not say it: UNORM targets of 8 bits, no blending, no logic operation, no
alpha to coverage, one sample, filled triangles. The bound is that of one fragment: where several
blend, each adds its own. No image that it looks up is a target of the same draw.

Cost. A conversion in each stage. It takes no more Locations: vectors that would need one stay.
"""

from __future__ import annotations

import math

from spvlink.facts.floats import Floats
from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import (
    CAPABILITIES,
    EXTENSIONS,
    LOAD_INPUT,
    STORE_OUTPUT,
    Inst,
    Module,
    words_of,
)
from spvlink.ir.edit import glsl_import, need_capability, rewrite, touched, value
from spvlink.ir.slot import Slot
from spvlink.link.border.link import Link
from spvlink.link.border.values import centred
from spvlink.link.half.analysis import Analysis, coarse
from spvlink.link.half.values import NOISE, NOTHING, UNKNOWN, Off, Value, above, hull, rounding
from spvlink.link.half.visible import Visible
from spvlink.link.pack import compact, narrow
from spvlink.link.pack.narrow import Part
from spvlink.pipeline import shown_bound

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Ranges = dict[tuple[Inst, int], tuple[float, float]]

_WORD: Final = 32
_HALVES: Final = 2
# What the weights of interpolation may be off by together: in the middle of a pixel only rounding
# counts, elsewhere a driver was seen that is off by a quarter (``motion/algebra``).
_CENTRED: Final = 2.0**-11
_ASIDE: Final = 0.5
_MOST: Final = 2.0**14  # of a value of 16 bits
_STORAGE: Final = enums.Capability_StorageInputOutput16
# With these a fragment shader may read the colours of a target.
_READING: Final = frozenset(
    (enums.Capability_TileImageColorReadAccessEXT, enums.Capability_InputAttachment)
)
_EXTENSION: Final = "SPV_KHR_16bit_storage"
_CORE_SINCE: Final = 3  # the minor version of SPIR-V that has it without the extension
_INSIDE: Final = frozenset((enums.Decoration_Centroid, enums.Decoration_Sample))


class HalfBorder:
    """One border. ``bound``: of what is seen; ``widths16``: the device has storageInputOutput16;
    ``attributes``: the ranges of the producer's inputs."""

    def __init__(self, link: Link, bound: float, visible: Visible, widths16: bool) -> None:
        self.link = link
        self.bound = bound
        self.visible = visible
        self.widths16 = widths16 or all(
            map(_declares, (link.producer.module, link.consumer.module))
        )
        self.staying: dict[int, str] = {}  # keys that stay -> the reason
        self.ranges: dict[int, Value] = {}  # keys -> what their stores give
        self.steps: dict[int, float] = {}  # keys that may go -> how far they move
        self.relaxed: set[int] = set()  # those of them that have no bound
        self.parts: dict[int, float] = {}  # keys -> how far they move what is seen
        self.rows: list[Off] = []  # the same of each component that is seen

    def run(self, attributes: Ranges) -> bool:
        """Whether anything has 16 bits now."""
        link = self.link
        link.gather()
        keys = [key for key in sorted(link.loads) if self.crosses_as_float(key)]
        capabilities = {c.imm[0] for c in link.consumer.module.sections[CAPABILITIES]}
        if not keys or capabilities & _READING:
            return False
        self.find_ranges(keys, attributes)
        for key in keys:
            why = self.obstacle(key)
            if why:
                self.staying[key] = why
        if self.steps:
            self.weigh()
        chosen = [key for key in self.steps if key not in self.staying]
        groups = self.groups_of(chosen)
        taken = [key for group in groups for key in group]
        for key, why in self.staying.items():
            link.remarks.notes.setdefault(key, f"32 bits: {why}")
        if not taken:
            return False
        link.narrowed = True
        if self.widths16:
            self.convert(taken)
        else:
            for group in groups:
                self.pack(group)
        for key in taken:
            bound = None if key in self.relaxed else self.parts.get(key, 0.0)
            link.remarks.halved[key] = (bound, self.told(key))
        if not self.relaxed.issuperset(taken):
            link.remarks.moved = self.total(taken), self.visible.assumed
        return True

    def total(self, taken: list[int]) -> float:
        """By how much a component that is seen moves, of all of these together."""
        chosen = {NOISE, *taken}
        sums = [
            sum([part for key, part in row.items() if key in chosen])
            for row in self.rows
            if not row.keys().isdisjoint(taken)
        ]
        return max(sums, default=0.0)

    def told(self, key: int) -> str:
        """What the report says."""
        if key in self.relaxed:
            return "16 bits, as RelaxedPrecision allows"
        return f"16 bits; error bound {shown_bound(self.parts.get(key, 0.0))}"

    # -- which may go ------------------------------------------------------------------------------

    def crosses_as_float(self, key: int) -> bool:
        """Whether a slot is a float of 32 bits on both sides."""
        sides = self.link.inputs.slots.get(key), self.link.outputs.slots.get(key)
        return key in self.link.stores and all(
            slot is not None and slot.type.op == ops.OpTypeFloat and slot.type.imm == (_WORD,)
            for slot in sides
        )

    def find_ranges(self, keys: list[int], attributes: Ranges) -> None:
        """What the producer stores."""
        link = self.link
        made = Analysis(
            link.producer.module, lambda load: UNKNOWN, attributes, _no_length,
            self.visible.small_texels,
        )  # fmt: skip
        self.made = made
        for key in keys:
            if link.always_stored(key):
                stored = [made.at((store.args[0], 0)) for store in link.stores[key]]
                self.ranges[key] = hull(*stored)

    def obstacle(self, key: int) -> str:
        """Why an input stays as it is; notes how far it moves if it may go."""
        link = self.link
        slot, out = link.inputs.slots[key], link.outputs.slots[key]
        if key in link.outputs.captured:
            return "transform feedback captures it"
        if out.extras or slot.extras:
            return "its decorations tie it"
        if link.frozen(key) or link.settled(key):
            return "an Invariant output or a depth depends on it"
        if key in link.read_back or not link.stored_once(key):
            return f"the {link.producer.name} stage reads it back or stores it twice"
        if any(load.op != LOAD_INPUT for load in link.loads[key]):
            return "it is interpolated at another place"
        if enums.Decoration_PerVertexKHR in slot.qualifiers:
            return "it is read at every vertex"
        if not self.widths16 and not (link.carries_bits(slot) and narrow.may_pack(link, key)):
            return "the device is not known to have storageInputOutput16"
        if slot.relaxed or out.relaxed:
            return self.relaxed_obstacle(key)
        if key not in self.ranges:
            return "a way through the code does not store it"
        known = self.ranges[key]
        if not known.bounded() or known.size > _MOST:
            return "its range is not known" if not known.bounded() else "its range is too large"
        if known.odd and any(
            _WORD in Floats.of(stage.module).preserved for stage in (link.producer, link.consumer)
        ):
            return "it may be a NaN, which a stage preserves"
        if link.carries_bits(slot):
            self.steps[key] = rounding(known.size)
            return ""
        if self.extrapolated(slot):
            return "it may be extrapolated"
        once = rounding(known.size)
        most = above(known.size) * (1.0 + self.aside(slot))
        self.steps[key] = once * (1.0 + self.aside(slot)) + rounding(most)
        return ""

    def relaxed_obstacle(self, key: int) -> str:
        """The same of what RelaxedPrecision allows to be any number of 16 bits."""
        known = self.ranges.get(key)
        if known is not None and known.bounded() and known.size > _MOST:
            return "its range is too large"
        self.steps[key] = 0.0
        self.relaxed.add(key)
        return ""

    def extrapolated(self, slot: Slot) -> bool:
        """Whether it may be interpolated at a place outside of the primitive."""
        if self.link.carries_bits(slot):
            return False
        visible = self.visible
        return visible.beyond or (visible.aside and _INSIDE.isdisjoint(slot.qualifiers))

    def aside(self, slot: Slot) -> float:
        return _CENTRED if centred(slot.qualifiers) else _ASIDE

    # -- what is seen ------------------------------------------------------------------------------

    def read(self, load: Inst) -> Value:
        """What a load of the consumer gives, before and after."""
        key = load.imm[0]
        known = self.ranges.get(key)
        slot = self.link.inputs.slots.get(key)
        if known is None or slot is None or load.args:
            return UNKNOWN
        low, high = known.low, known.high
        if self.extrapolated(slot):
            return UNKNOWN
        if not self.link.carries_bits(slot):
            more = known.size * self.aside(slot)
            low, high = low - more, high + more
        if key in self.relaxed or slot.relaxed or self.link.outputs.slots[key].relaxed:
            return coarse(Value(low, high, known.odd))
        step = self.steps.get(key, 0.0)
        off = {key: step} if step else NOTHING
        return Value(low - step, high + step, known.odd, off)

    def weigh(self) -> None:
        """Follow the changes to what is seen; take the smallest as long as all together may be."""
        link = self.link
        found = Analysis(
            link.consumer.module, self.read, {}, self.length_of, self.visible.small_texels
        )
        for place, off in found.ends.items():
            why = self.visible.refuses(*place)
            for key in off if why else ():
                if key >= 0:
                    found.lost.setdefault(key, why)
        for key, why in found.lost.items():
            self.staying.setdefault(key, why)
        rows = self.rows = self.visible.seen(found.ends)
        for row in rows:
            for key, part in row.items():
                if key >= 0:
                    self.parts[key] = max(self.parts.get(key, 0.0), part)
        sums = [row.get(NOISE, 0.0) for row in rows]
        for key in sorted(self.steps, key=lambda k: (self.parts.get(k, 0.0), k)):
            if key in self.staying:
                continue
            more = [total + row.get(key, 0.0) for total, row in zip(sums, rows)]
            concerned = [total for total, row in zip(more, rows) if key in row]
            if key in self.relaxed or max(concerned, default=0.0) <= self.bound:
                sums = more
            else:
                self.staying[key] = f"what is seen could move by {shown_bound(max(concerned))}"

    def length_of(self, keys: list[int]) -> float:
        """The most that a vector of inputs is long: each vertex stores one that is no longer, and
        what is interpolated lies between."""
        link = self.link
        slots = [link.inputs.slots.get(key) for key in keys]
        if any(slot is None or key not in link.stores for slot, key in zip(slots, keys)):
            return math.inf
        if len({slot.qualifiers for slot in slots if slot is not None}) != 1:
            return math.inf
        sites = [{link.sites[store]: store.args[0] for store in link.stores[key]} for key in keys]
        if any(site.keys() != sites[0].keys() for site in sites):
            return math.inf
        if any(len(link.stores[key]) != len(site) for key, site in zip(keys, sites)):
            return math.inf
        if any(key not in self.ranges or key in self.relaxed for key in keys):
            return math.inf
        most = 0.0
        for number in sites[0]:
            lanes = [self.made.origin((site[number], 0)) for site in sites]
            sources = {inst for inst, _ in lanes}
            if len(sources) != 1 or len(set(lanes)) != len(lanes):
                return math.inf
            most = max(most, self.made.lengths.get(lanes[0][0], math.inf))
        slot = slots[0]
        assert slot is not None
        if self.extrapolated(slot):
            return math.inf
        return most if link.carries_bits(slot) else most * (1.0 + self.aside(slot))

    # -- doing it ----------------------------------------------------------------------------------

    def groups_of(self, chosen: list[int]) -> list[list[int]]:
        """What goes together: pairs for words, or vectors that take no Location more."""
        link = self.link
        groups: dict[object, list[int]] = {}
        for key in sorted(chosen):
            kind: object = link.inputs.slots[key].group
            if not self.widths16:
                kind = narrow.group_of(link, key)
            groups.setdefault(kind, []).append(key)
        if self.widths16:
            return self.fitting(list(groups.values()))
        pairs: list[list[int]] = []
        for keys in groups.values():
            pairs += [keys[n : n + _HALVES] for n in range(0, len(keys) - 1, _HALVES)]
            if len(keys) % _HALVES:
                self.staying[keys[-1]] = "there is no other one to share a word with"
        return pairs

    def fitting(self, groups: list[list[int]]) -> list[list[int]]:
        """The vectors that take no Location more with 16 bits: these and 32 bits share none."""
        before = self.locations([])
        taken = sorted(groups, key=len)
        while taken and max(map(int.__sub__, self.locations(taken), before)) > 0:
            for key in taken.pop(0):
                self.staying[key] = "it would take one more Location"
        return taken

    def locations(self, groups: list[list[int]]) -> tuple[int, int]:
        """How many Locations the border needs with these, and the highest."""
        link = self.link
        sides = link.inputs, link.outputs
        before = [(side.slots, side.aggregates) for side in sides]
        self.retype([key for group in groups for key in group])
        link.narrowed = bool(groups)
        try:
            cost = compact.compact(link).cost()
            return cost[0], cost[3]
        finally:
            link.narrowed = False
            for side, (slots, aggregates) in zip(sides, before):
                side.slots, side.aggregates = slots, aggregates

    def retype(self, keys: list[int]) -> None:
        """Slots of 16 bits, vectors of their own."""
        gone = set(keys)
        link = self.link
        for side, module in (
            (link.inputs, link.consumer.module),
            (link.outputs, link.producer.module),
        ):
            first = 1 + max(slot.group for slot in side.slots.values())
            slots = dict(side.slots)
            for key in keys:
                slots[key] = _narrowed(slots[key], types.floating(module, 16), first)
            side.slots = slots
            side.aggregates = [
                one
                for one in side.aggregates
                if gone.isdisjoint([k for c in one.columns for k in c])
            ]

    def convert(self, keys: list[int]) -> None:
        """Store and load 16 bits, and compute with 32."""
        link = self.link
        self.retype(keys)
        wanted = frozenset(keys)
        for module in (link.producer.module, link.consumer.module):
            _declare(module)
            small = types.floating(module, 16)
            entry = module.entry
            assert entry is not None
            for block in entry.function.blocks:
                out: list[Inst] = []
                for inst in block.insts:
                    op, args = inst.op, inst.args
                    if op == STORE_OUTPUT and inst.imm[0] in wanted and _is_side(link, module, op):
                        out.append(value(module, ops.OpFConvert, small, [args[0]], ()))
                        inst.args = [out[-1], *args[1:]]
                    elif op == LOAD_INPUT and inst.imm[0] in wanted and _is_side(link, module, op):
                        out.append(value(module, LOAD_INPUT, small, list(args), inst.imm))
                        rewrite(module, inst, ops.OpFConvert, [out[-1]], ())
                    out.append(inst)
                block.insts = out
            touched(module)

    def pack(self, keys: list[int]) -> None:
        """Two that come over to the bit as the halves of a word."""
        link = self.link
        parts = [Part(k, {link.sites[s]: s.args[0] for s in link.stores[k]}) for k in keys]
        sites = sorted({site for part in parts for site in part.stored})
        stored = {site: _word(link.producer.module, parts, site) for site in sites}
        module = link.consumer.module
        pair = types.vector(module, types.floating(module), _HALVES)

        def unpack(load: Inst, at: int, made: Inst, out: list[Inst]) -> None:
            args, imm = [glsl_import(module), made], (glsl.Glsl_UnpackHalf2x16,)
            out.append(value(module, ops.OpExtInst, pair, args, imm))
            rewrite(module, load, ops.OpCompositeExtract, [out[-1]], (at,))
            out.append(load)

        narrow.replace(link, keys, stored, unpack, "half")


def half(
    link: Link, bound: float, visible: Visible, widths16: bool, attributes: Ranges
) -> bool:  # fmt: skip
    """Whether some inputs of a fragment shader have 16 bits now. ``bound``: of what is seen, as a
    part of the range of an UNORM target; ``attributes``: ranges of the producer's inputs, by
    variable and component."""
    return HalfBorder(link, bound, visible, widths16).run(attributes)


def _no_length(keys: list[int]) -> float:
    return math.inf


def _narrowed(old: Slot, type: Inst, first: int) -> Slot:
    slot = Slot(old.key, type, old.variable, old.name, old.lane, first + max(old.group, 0))
    slot.qualifiers, slot.length = old.qualifiers, old.length
    slot.relaxed, slot.extras = old.relaxed, old.extras
    return slot


def _is_side(link: Link, module: Module, op: int) -> bool:
    """Whether such an access of a module is one of this border."""
    return module is (link.producer if op == STORE_OUTPUT else link.consumer).module


def _declares(module: Module) -> bool:
    return any(c.imm[0] == _STORAGE for c in module.sections[CAPABILITIES])


def _declare(module: Module) -> None:
    """Declare interfaces of 16 bits. Computing with them is lent (``storage16``)."""
    if not _declares(module):
        need_capability(module, _STORAGE)
        if module.spirv_version >> 8 & 0xFF < _CORE_SINCE:
            words = words_of(_EXTENSION)
            extensions = module.sections[EXTENSIONS]
            if not any(e.imm == words for e in extensions):
                extensions.append(Inst(ops.OpExtension, None, [], words))
    if not any(c.imm[0] == enums.Capability_Float16 for c in module.sections[CAPABILITIES]):
        need_capability(module, enums.Capability_Float16)
        module.borrowed_capabilities |= {enums.Capability_Float16}


def _word(module: Module, parts: list[Part], site: int) -> tuple[Inst, list[Inst]]:
    """Both halves that a site stores as one word; zero for what it does not store."""
    number = types.floating(module)
    zero = types.constant(module, number, 0)
    pair = types.vector(module, number, _HALVES)
    out: list[Inst] = []
    args = [part.stored.get(site, zero) for part in parts]
    out.append(value(module, ops.OpCompositeConstruct, pair, args, ()))
    imm = (glsl.Glsl_PackHalf2x16,)
    args = [glsl_import(module), out[-1]]
    out.append(value(module, ops.OpExtInst, types.integer(module), args, imm))
    return out[-1], out


def qualifies(link: Link) -> bool:
    """Whether a border has floats that a fragment shader reads."""
    if link.consumer.name != "frag" or link.producer.name == "task":
        return False
    return any(slot.type.op == ops.OpTypeFloat for slot in link.inputs.slots.values())
