"""Hold the border of two stages: ``Link`` has every slot, seen from both ends.

``stores`` and ``loads`` are gathered from the code by key, so a slot is alive exactly if an
instruction says so. ``remarks`` collects the decisions about each key with their reasons, for the
report.
"""

from __future__ import annotations

from spvlink.facts import invariant
from spvlink.facts.calls import Calls
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import (
    INTERPOLATE,
    LOAD_INPUT,
    LOAD_OUTPUT,
    PRIVATE,
    STORE_OUTPUT,
    Block,
    Inst,
    Module,
)
from spvlink.ir.known import Known
from spvlink.ir.slot import BUILTIN_KEYS, Interface, Pinned, Slot
from spvlink.link.border.link_remarks import LinkRemarks
from spvlink.link.border.stage import IN_PLACE, Stage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


_LOADS: Final = frozenset((LOAD_INPUT, INTERPOLATE))
_STORES: Final = frozenset((STORE_OUTPUT,))
_READ_BACK: Final = frozenset((LOAD_OUTPUT,))
PRODUCER: Final = "producer"
CONSUMER: Final = "consumer"
_WORD: Final = 32  # bits of the indices that are compared


class Link(Known):
    """A producer, a consumer, and the slots between them."""

    __slots__ = (
        "after",
        "built",
        "consumer",
        "exact",
        "fixed",
        "gathered",
        "gone",
        "halves",
        "hidden",
        "in_place",
        "inputs",
        "keys",
        "loads",
        "locals",
        "narrowed",
        "outputs",
        "pack",
        "producer",
        "read_as_is",
        "read_back",
        "relied",
        "relied_builtins",
        "remarks",
        "returns",
        "shared",
        "sites",
        "spots",
        "stores",
        "wide",
    )

    def __init__(
        self, producer: Stage, consumer: Stage, sides: tuple[Interface, Interface] | None = None,
        keys: tuple[int, int] = (0, BUILTIN_KEYS),
    ) -> None:  # fmt: skip
        Known.__init__(self)
        if sides is None:
            assert producer.outputs is not None and consumer.inputs is not None
            sides = producer.outputs, consumer.inputs
        self.producer = producer
        self.consumer = consumer
        self.outputs: Interface = sides[0]
        self.inputs: Interface = sides[1]
        self.keys = keys  # the first one, and the one behind the last, that it is about
        self.built: Link | None = None  # the built-ins that cross here (``link/builtins``)
        self.after: Link | None = None  # the border at which the consumer is the producer
        self.pack = ""  # what may be torn (``Options.pack``)
        self.fixed = ""  # PRODUCER or CONSUMER: whose module stays as it is
        # of a consumer that stays: what its code relies on, used or not (``link/dead/relied``)
        self.relied: set[int] = set()
        self.relied_builtins: set[int] = set()
        self.hidden = False  # there is such a border, but it stays as it is
        self.in_place = producer.name in IN_PLACE
        # every value comes over to the bit: only fragment shaders interpolate
        self.exact = consumer.name != "frag"
        # whether there are 64-bit numbers, or may be once an array is taken apart
        wide = any(s.width == 64 for s in self.inputs.slots.values())
        self.wide = wide or bool(self.inputs.pinned)

        # what the code says, read anew when it has changed (``gather``)
        self.gathered = -1  # the version that it had
        self.stores: dict[int, list[Inst]] = {}
        self.loads: dict[int, list[Inst]] = {}
        self.read_back: dict[int, list[Inst]] = {}  # loads of outputs by the producer
        # the number of the return, of the emit, or of the (block, vertex) that a store belongs to
        self.sites: dict[Inst, int] = {}
        self.returns = 0  # how many of these there are
        # site -> (block, what new stores of it stand before, their vertex)
        self.spots: dict[int, tuple[Block, Inst, list[Inst]]] = {}

        # what a pass leaves for one that comes later
        self.locals: list[Inst] = []  # of the consumer: copies of input arrays (``arrays``)
        self.shared = False  # outputs per vertex became others, so Locations may be mixed by now
        # whether ``half`` made other types of some, so that Locations may be mixed by now
        self.narrowed = False
        # key of a word that was part of a 64-bit number -> which one (``halves``)
        self.halves: dict[int, str] = {}

        # keys that are better read as they are: of built-ins, mostly
        self.read_as_is: set[int] = set()

        self.gone: list[Pinned] = []  # of the producer: stayed whole until nobody read them
        self.remarks = LinkRemarks()
        self.gather()

    @property
    def title(self) -> str:
        return f"{self.producer.name}->{self.consumer.name}"

    @property
    def kept_out(self) -> set[int]:
        """Components of the producer's variables that stay whole. None of them is a slot of either
        side (``agreement``)."""
        return {k for p in self.outputs.pinned for k in p.keys}

    @property
    def kept_in(self) -> set[int]:
        """Of the consumer's."""
        return {k for p in self.inputs.pinned for k in p.keys}

    @property
    def version(self) -> int:
        """Of both modules: it moves whenever one of these does, since neither ever goes back."""
        return self.producer.module.version + self.consumer.module.version

    def gather(self) -> None:
        """Read from the code which slots are stored and loaded."""
        version = self.version
        if version == self.gathered:
            return
        self.gathered = version
        self._read()
        if self.inputs.pinned or self.outputs.pinned:
            kept = self.kept_in | self.kept_out
            assert kept.isdisjoint(self.stores), "what stays whole is stored as a slot"
            assert kept.isdisjoint(self.loads), "what stays whole is read as a slot"

    def _read(self) -> None:
        self.stores = {}
        self.loads = _accesses(self.consumer.module, _LOADS, self.keys)
        self.sites, self.returns, self.spots = {}, 0, {}
        entry = self.producer.module.entry
        assert entry is not None
        if self.in_place:
            self.stores = _accesses(self.producer.module, _STORES, self.keys)
            self.read_back = _accesses(self.producer.module, _READ_BACK, self.keys)
            self.number_in_place(entry.function.blocks)
            return
        at_emits = self.producer.name == "geom"
        for block in entry.function.blocks:
            stores = [i for i in block.insts if i.op == STORE_OUTPUT and self.is_mine(i)]
            for store in stores:
                self.stores.setdefault(store.imm[0], []).append(store)
            if at_emits:
                self.number_emits(block)
            elif block.terminator.op == ops.OpReturn:
                self.sites.update(dict.fromkeys(stores, self.returns))
                self.spots[self.returns] = block, block.terminator, []
                self.returns += 1

    def is_mine(self, access: Inst) -> bool:
        """Whether a slot is of this link."""
        return self.keys[0] <= access.imm[0] < self.keys[1]

    def number_emits(self, block: Block) -> None:
        """The stores before each EmitVertex, or call that may come to one, belong to it."""
        calls = Calls.of(self.producer.module)
        for inst in block.insts:
            if inst.op == STORE_OUTPUT and self.is_mine(inst):
                self.sites[inst] = self.returns
            elif calls.does(inst, info.EMITS):
                self.spots[self.returns] = block, inst, []
                self.returns += 1

    def number_in_place(self, blocks: list[Block]) -> None:
        """Stores in one block to one vertex happen together or not at all. Where what may be the
        same vertex by another index is stored between, the rest is a site of its own; so it is
        behind a barrier, up to which other invocations may have stored to that vertex."""
        calls = Calls.of(self.producer.module)
        count = 0
        for block in blocks:
            stored = self.vertices(block)
            known: dict[tuple[Inst, ...], int] = {}  # vertex -> its site
            open: dict[int, list[Inst]] = {}  # sites of the stores since the last other instruction
            for inst in block.insts:
                if inst.op == STORE_OUTPUT:
                    if not self.is_mine(inst):
                        continue
                    vertex = tuple(inst.args[1:])
                    if len(stored) > 1:
                        for other in [v for v in known if inst.imm[0] in stored[v]]:
                            if other != vertex and may_be_one(other, vertex):
                                del known[other]
                    site = known.get(vertex, -1)
                    if site < 0:
                        site = known[vertex] = count
                        count += 1
                    self.sites[inst] = site
                    open[site] = inst.args[1:]
                    continue
                for site, place in open.items():
                    self.spots[site] = block, inst, place
                open = {}
                if known and calls.does(inst, info.BARRIER):
                    known = {}
        self.returns = count

    def vertices(self, block: Block) -> dict[tuple[Inst, ...], set[int]]:
        """The vertices to which a block stores in place -> the keys."""
        keys_of: dict[tuple[Inst, ...], set[int]] = {}
        for inst in block.insts:
            if inst.op == STORE_OUTPUT and self.is_mine(inst):
                keys_of.setdefault(tuple(inst.args[1:]), set()).add(inst.imm[0])
        return keys_of

    def insert(self, site: int, made: list[Inst]) -> None:
        """Put new instructions where the outputs of a site are stored, after those."""
        block, before, _ = self.spots[site]
        at = block.insts.index(before)
        block.insts[at:at] = made

    def store(self, site: int, key: int, made: Inst) -> Inst:
        """A new store of a site."""
        return Inst(STORE_OUTPUT, None, [made, *self.spots[site][2]], (key,))

    def always_stored(self, key: int) -> bool:
        """Whether every invocation stores a slot (of a geometry shader: before every emit)."""
        if not self.in_place:
            return len(self.stores[key]) == self.returns
        entry = self.producer.module.entry
        assert entry is not None
        stored = {self.spots[self.sites[s]][0] for s in self.stores[key]}
        todo = [b for b in entry.function.blocks[:1] if b not in stored]
        seen = {*todo, *stored}
        for block in todo:  # the ways around all stores
            after = block.successors()
            if not after and block.terminator.op != ops.OpUnreachable:
                return False
            todo += [b for b in dict.fromkeys(after) if b not in seen]
            seen.update(after)
        return True

    def stored_once(self, key: int) -> bool:
        """Whether a slot that others see early is stored once a site and not read back: else the
        order of these would count."""
        if not self.in_place:
            return True
        stores = self.stores[key]
        return key not in self.read_back and len({self.sites[s] for s in stores}) == len(stores)

    def frozen(self, key: int) -> bool:
        """Whether the consumer makes something Invariant of this input."""
        invariants = invariant.frozen(self.consumer.module)
        return bool(invariants) and any(load in invariants for load in self.loads.get(key, ()))

    def settled(self, key: int) -> bool:
        """Whether it does, or makes a position, a depth or the like of it."""
        settled = invariant.settled(self.consumer.module)
        return bool(settled) and any(load in settled for load in self.loads.get(key, ()))

    def settled_outputs(self) -> tuple[frozenset[int], set[Inst]]:
        """The outputs that the consumer makes positions and the like of: slots by their keys, and
        variables that are whole."""
        settled = invariant.settled(self.consumer.module)
        if not settled:
            return frozenset(), set()
        keys = frozenset([k for k in self.loads if self.settled(k)])
        whole = {k for p in self.inputs.pinned if p.variable in settled for k in p.keys}
        pinned = [p for p in self.outputs.pinned if not whole.isdisjoint(p.keys)]
        return keys | whole, {p.variable for p in pinned}

    def carries_bits(self, slot: Slot | Pinned) -> bool:
        """Whether the values of this input come over to the bit."""
        return self.exact or not info.UNINTERPOLATED_DECORATIONS.isdisjoint(slot.qualifiers)

    def used(self) -> list[int]:
        """Keys that are stored or loaded, in order; once nothing is dead they are both. And what
        transform feedback captures: its bytes count, written or not; and what has to be declared
        because the other side is fixed."""
        keys = {*self.stores, *self.loads, *self.read_back, *self.outputs.captured}
        if self.fixed == CONSUMER:
            keys.update(self.inputs.slots.keys() & self.outputs.slots.keys())
        elif self.fixed == PRODUCER:
            slots = self.inputs.slots
            read = {slots[key].variable for key in self.loads}
            keys = {key for key, slot in slots.items() if slot.variable in read}
        return sorted(keys)

    def slot(self, key: int) -> Slot | None:
        return self.inputs.slots.get(key) or self.outputs.slots.get(key)

    def group(self, key: int) -> int:
        """The number of the vector that a slot is of; both sides count for themselves."""
        slot = self.inputs.slots.get(key)
        return self.outputs.slots[key].group if slot is None else ~slot.group

    def pinned(self) -> list[tuple[Pinned, Pinned | None]]:
        """The variables that stay whole as (producer's, consumer's) or (one side's, None)."""
        if not self.outputs.pinned and not self.inputs.pinned:
            return []
        pairs: list[tuple[Pinned, Pinned | None]] = []
        rest = list(self.inputs.pinned)
        for out in self.outputs.pinned:
            twin = next((p for p in rest if p.keys == out.keys), None)
            if twin is not None:
                rest.remove(twin)
            pairs.append((out, twin))
        return pairs + [(p, None) for p in rest]

    def __str__(self) -> str:
        """The table of slots: what a person wants to see of a link."""
        rows = [f"{self.title}"]
        for key in sorted(set(self.outputs.slots) | set(self.inputs.slots)):
            slot = self.slot(key)
            assert slot is not None
            action, why = self.remarks.fate.get(key, ("", ""))
            rows.append(
                f"  {key >> 3:3}.{'xyzw'[key >> 1 & 3]}  {slot.name:24}"
                f" stores {len(self.stores.get(key, ())):2}"
                f"  loads {len(self.loads.get(key, ())):2}  {action} {why}".rstrip()
            )
        for pinned, _ in self.pinned():
            rows.append(f"  {pinned.location:3}    {pinned.name:24} kept whole: {pinned.why}")
        return "\n".join(rows)


def may_be_one(one: tuple[Inst, ...], other: tuple[Inst, ...]) -> bool:
    """Whether two indices may be equal: not if they differ by a constant."""
    (base, more), (base_too, more_too) = _offset(one[0]), _offset(other[0])
    return base is not base_too or not (more - more_too) % (1 << _WORD)


def _offset(index: Inst) -> tuple[Inst | None, int]:
    """An index as something unknown, None for nothing, and a constant."""
    total = 0
    while True:
        number = types.index_of(index)
        if number is not None:
            return None, total + number
        if index.op != ops.OpIAdd or index.type is None or index.type.imm[0] != _WORD:
            return index, total
        numbers = [types.index_of(arg) for arg in index.args]
        at = 0 if numbers[0] is not None else 1
        total += numbers[at] or 0
        if numbers[at] is None:
            return index, total
        index = index.args[1 - at]


def _accesses(
    module: Module, wanted: frozenset[int], keys: tuple[int, int]
) -> dict[int, list[Inst]]:
    assert module.entry is not None
    accesses: dict[int, list[Inst]] = {}
    first, end = keys
    for block in module.entry.function.blocks:
        for inst in block.insts:
            if inst.op >= PRIVATE and inst.op in wanted and first <= inst.imm[0] < end:
                accesses.setdefault(inst.imm[0], []).append(inst)
    return accesses
