"""Send fewer values and recompute outputs behind them.

    vertex:   o0 = v + 1; o1 = v * 2         ->   o = v
    fragment: f(in0, in1)                    ->   f(in + 1, in * 2)

It is the mirror image of ``backward``, over the same algebra (``motion/algebra.py``). A node is a
value that the producer stores or computes stored values from. It is available if it crosses, or if
the consumer computes it from available values. The values of all outputs must be available.

Why it is right. The theorems of ``algebra`` hold in both directions; docs/explanation/proof.md
writes them out for this pass.

What breaks it. Cancellation. Across interpolation only operations move that keep the digits:
negation, products and quotients with values that are equal for the draw, sums with a small
constant. Sums with uniforms or of two varying values stay (``camera - position`` is exact in the
producer and would be a difference of two rounded large numbers here), and with them matrix
products. A last bit on which something depends: ``--relaxed`` lifts that as in ``backward``. Of
Flat values any operation moves that may be speculated, so one word crosses in place of the two or
four numbers that are unpacked from it.

Cost.

    crossing         half of COMPONENT_PRICE per fragment, times ``--cost-limit`` / 100
    computing        its operations, once per fragment

Half, since the pass adds work where most invocations run, for a smaller interface only: a choice
that saves no component is not made. The producer's work does not count, since it may need the
values for itself. ``brake`` forbids a part if the consumer would hold too many registers for it.
Moved code stands in front of its first use (``sink``).
"""

from __future__ import annotations

import math

from spvlink.facts import scalars
from spvlink.facts.effects import Effects
from spvlink.facts.floats import Floats
from spvlink.facts.numbers import number_of
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, Inst
from spvlink.ir.edit import become, sweep, touched, value
from spvlink.link.border.cost import COMPONENT_PRICE
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.sink import sink
from spvlink.link.border.values import centred, single_value
from spvlink.link.motion import algebra, brake, lenient
from spvlink.link.motion.mincut import INFINITE, SINK, SOURCE, Network
from spvlink.link.motion.nodes import WIDTHS, replaceable
from spvlink.link.resources.blocks import Cannot
from spvlink.link.resources.transfer import Transfer
from spvlink.link.rounding import sensitive
from spvlink.pipeline import MOVED_FORWARD

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MAX_DEPTH: Final = 12  # operations on the way from an output to what may cross in its place
_SUMS: Final = frozenset((ops.OpFAdd, ops.OpFSub))
SMALL: Final = 16.0  # a sum with a constant up to this keeps all digits that matter beside it

Group = tuple[tuple[int, ...], frozenset[int]]  # qualifiers, places where the outputs are stored


class ProducerNode:
    """A scalar of the producer that could cross, or be computed behind the border."""

    __slots__ = ("deps", "inst", "lane", "leaf", "uniforms", "work")

    def __init__(self, lane: Lane) -> None:
        self.inst, self.lane = lane
        self.deps: list[ProducerNode] = []
        self.uniforms: list[Inst] = []
        self.work = 0
        self.leaf = True  # the consumer cannot compute it


class ProducerGraph:
    """What the outputs of one group are made of."""

    def __init__(
        self, link: Link, transfer: Transfer, flat: bool, exact: bool, relaxed: bool
    ) -> None:  # fmt: skip
        self.link = link
        self.widths = algebra.widths_of(link)
        self.transfer = transfer
        self.flat = flat
        self.exact = exact
        self.relaxed = relaxed and not flat  # see ``lenient``
        self.loose: dict[int, Inst] = {}  # key -> a place that lets it go by that alone
        self.affine = True  # the weights of the interpolation sum to one
        self.effects = Effects.of(link.producer.module)
        self.table: dict[Lane, ProducerNode | Lane] = {}
        self.verdicts: dict[Inst, bool] = {}  # whether operations are ``movable``
        self.unable: dict[Inst, str] = {}  # what stays, since the consumer may not have it
        self.nodes: list[ProducerNode] = []
        self.roots: dict[int, ProducerNode] = {}  # key -> what is stored there
        self.computed: set[object] = set()  # nodes that the consumer makes, once that is decided

    def add(self, key: int) -> None:
        """An output; it is left alone if it depends on nothing that varies."""
        stored = single_value(self.link, key)
        if stored is None or not scalars.count(stored.type):
            return
        node = self.expand((stored, 0), 0)
        if isinstance(node, ProducerNode):
            self.roots[key] = node

    def origin(self, lane: Lane) -> Lane:
        """The lane of a computed value that this one is a copy of."""
        return scalars.origin(lane)

    def free(self, inst: Inst) -> bool:
        """Whether a value depends on nothing but what the consumer can read too."""
        return self.transfer.moves(inst)

    def expand(self, lane: Lane, depth: int) -> ProducerNode | Lane:
        """The node of a lane, or the lane itself if it is uniform."""
        lane = self.origin(lane)
        known = self.table.get(lane)
        if known is not None:
            return known
        inst = lane[0]
        if inst not in self.verdicts:
            self.verdicts[inst] = self.movable(inst)
        movable = depth < MAX_DEPTH and self.verdicts[inst]
        if (movable or depth) and self.free(inst):  # a whole output that is, has been propagated
            return lane
        node = self.table[lane] = ProducerNode(lane)
        if movable:
            self.open(node, depth)
        self.nodes.append(node)
        return node

    def movable(self, inst: Inst) -> bool:
        if not self.flat and not _keeps_digits(inst):
            return False  # most, so it is asked first
        if inst.op == ops.OpPhi or inst in self.effects.signatures:
            return False
        if not algebra.speculatable(self.effects, inst) or inst.op in scalars.MOVES:
            return False
        if self.exact and not algebra.bit_exact(inst):
            return False
        try:
            self.transfer.able(inst)
        except Cannot as why:
            self.unable[inst] = str(why)
            return False
        return scalars.splits(inst, self.effects.flags(inst)) or scalars.unpacks(inst)

    def open(self, node: ProducerNode, depth: int) -> None:
        """Look behind an operation."""
        by_lane = scalars.lanewise(node.inst, self.effects.flags(node.inst))
        made_of = scalars.made_of(node.inst, node.lane, by_lane)
        if not self.flat and node.inst.op in _SUMS:
            if not any(types.IS_CONSTANT[self.origin(g[0])[0].op] for g in made_of):
                return  # see ``small``
        groups = [[self.expand(lane, depth + 1) for lane in group] for group in made_of]
        if not self.flat:
            varies = [any(isinstance(e, ProducerNode) for e in group) for group in groups]
            linear = scalars.linear(node.inst, varies, self.affine)
            if not linear or not self.small(node.inst, groups):
                return
            free = [e[0] for g in groups for e in g if isinstance(e, tuple)]
            module = self.link.producer.module
            if any(sensitive.unbounded(module, i) for i in (node.inst, *free)):
                return  # an infinity does not interpolate
        node.leaf = False
        node.deps = list(dict.fromkeys(e for g in groups for e in g if isinstance(e, ProducerNode)))
        node.uniforms = [e[0] for g in groups for e in g if isinstance(e, tuple)]
        node.work = algebra.cost_of(node.inst)

    def small(self, inst: Inst, groups: list[list[ProducerNode | Lane]]) -> bool:
        """Whether what is added to an interpolated value is a small constant."""
        added = groups if inst.op in _SUMS else []
        if inst.op == ops.OpFmaKHR or inst.op == ops.OpExtInst:
            a, b, c = (g[0] for g in groups)
            if isinstance(a, tuple) and isinstance(b, tuple):
                return abs(_number(*a) * _number(*b)) <= SMALL
            added = [[c], [a if isinstance(a, ProducerNode) else b]]
        if not added:
            return True
        constants = [e for g in added for e in g if isinstance(e, tuple)]
        return len(constants) == 1 and abs(_number(*constants[0])) <= SMALL

    def spare_sensitive(self) -> None:
        """Leave alone what the consumer must see to the last bit."""
        steps, poles = sensitive.at(self.link), sensitive.poles_at(self.link)
        allowed = lenient.of(self.link, self.relaxed)
        stage = self.link.consumer
        for key, node in list(self.roots.items()):
            # a float may travel as an integer, too
            source = node.inst.args[0] if node.inst.op == ops.OpBitcast else node.inst
            assert source.type is not None
            if scalars.scalar(source.type).op != ops.OpTypeFloat:
                continue
            loads = self.link.loads[key]
            why = "depends on its last bit"
            place = next((p for i in loads if (p := steps.of(i)) is not None), None)
            if place is not None and allowed is not None:
                place = next((p for i in loads if (p := allowed.hard.get((i, 0)))), None)
                if place is None:  # then another load is before a place that is lifted
                    self.loose[key] = next(p for i in loads if (p := allowed.lifted.get((i, 0))))
            if place is None:
                why = "may have a pole there"
                place = next((poles[i, 0] for i in loads if (i, 0) in poles), None)
            if place is not None:
                del self.roots[key]
                if not node.leaf:
                    what = sensitive.words(stage.module, place)
                    why = f"not moved: {what} in the {stage.name} stage {why}"
                    self.link.remarks.notes.setdefault(key, why)

    def independent(self) -> bool:
        """Whether every output is made of something that no other one is made of. Then so is all
        that is made on the way, so nothing less than one value for each can cross."""
        once = twice = 0  # bits of leaves
        made_of: dict[ProducerNode, int] = {}
        for number, node in enumerate(self.nodes):  # operands come first
            leaves = 1 << number if node.leaf else 0
            for dep in node.deps:
                leaves |= made_of[dep]
            made_of[node] = leaves
        for node in self.roots.values():
            leaves = made_of[node]
            twice |= once & leaves
            once |= leaves
        return all(made_of[node] & ~twice for node in self.roots.values())

    def choose(self, fragments: int, limit: int) -> tuple[list[ProducerNode], list[ProducerNode]]:
        """(what crosses, what the consumer computes), the cheapest. Nobody but the source computes
        leaves, and the sink has what the outputs say."""
        network = Network()
        price = max(1, COMPONENT_PRICE * fragments * limit // 200)
        roots = set(self.roots.values())
        computed = {n: SOURCE if n.leaf else network.node() for n in self.nodes}
        available = {n: SINK if n in roots else network.node() for n in self.nodes}
        for node in self.nodes:
            assert node.inst.type is not None
            if node.leaf and node in roots:
                continue  # it crosses
            may = algebra.crosses(scalars.scalar(node.inst.type), self.flat, self.widths)
            network.edge(computed[node], available[node], price if may else INFINITE)
            if not node.leaf:
                network.edge(SOURCE, computed[node], node.work * fragments)
            for dep in node.deps:
                if dep not in roots:
                    network.edge(available[dep], computed[node], INFINITE)
        side = network.cut()
        crossing = [n for n in self.nodes if side[computed[n]] and not side[available[n]]]
        return crossing, [n for n in self.nodes if not side[computed[n]]]


def _keeps_digits(inst: Inst) -> bool:
    """What may be computed from interpolated values: see above."""
    if inst.op == ops.OpExtInst:
        return inst.imm[0] == glsl.Glsl_Fma
    return inst.op in (
        ops.OpFNegate, ops.OpFAdd, ops.OpFSub, ops.OpFMul, ops.OpFDiv, ops.OpVectorTimesScalar,
        ops.OpFmaKHR,
    )  # fmt: skip


def _number(inst: Inst, lane: int) -> float:
    """A lane that is a constant of 32 bits; NaN if it is none."""
    assert inst.type is not None
    number = number_of(inst, lane) if scalars.scalar(inst.type).imm[:1] == (32,) else None
    return math.nan if number is None else number


def forward(
    link: Link, transfer: Transfer, exact: bool, expect: tuple[int, int], limit: int,
    relaxed: bool = False,
) -> bool:  # fmt: skip
    """Move what saves components and pays; whether anything did. ``transfer`` leads from the
    producer to the consumer; ``expect``, ``limit`` and ``relaxed``: see ``options``."""
    link.gather()
    if len(link.loads) < 2:
        return False
    ours, theirs = Floats.of(link.producer.module), Floats.of(link.consumer.module)
    if ours.rounding != theirs.rounding:
        return False
    moved = False
    exact_floats = exact or bool(WIDTHS & theirs.preserved)
    bits = exact or bool(ours.preserved - theirs.preserved)
    for group, keys in _groups(link, exact_floats).items():
        qualifiers = group[0]
        flat = link.exact or enums.Decoration_Flat in qualifiers
        graph = ProducerGraph(link, transfer, flat, bits, relaxed)
        graph.affine = centred(qualifiers)
        moved |= _group(graph, group, keys, expect[1], limit)
    return moved


def _groups(link: Link, exact: bool) -> dict[Group, list[int]]:
    """Keys that may be replaced together: of one qualifier, stored at the same places. ``exact``:
    nothing that is interpolated."""
    groups: dict[Group, list[int]] = {}
    for key in sorted(link.loads):
        slot = link.inputs.slots.get(key)
        if slot is None or slot.relaxed or not replaceable(link, key):
            continue
        if any(i.op != LOAD_INPUT for i in link.loads[key]):
            continue
        if not link.exact and enums.Decoration_Flat not in slot.qualifiers:
            if exact or slot.type.op != ops.OpTypeFloat:
                continue
        if link.settled(key):
            continue
        sites = frozenset([link.sites[s] for s in link.stores[key]])
        groups.setdefault((slot.qualifiers, sites), []).append(key)
    return {group: keys for group, keys in groups.items() if len(keys) > 1}


def _group(
    graph: ProducerGraph, group: Group, keys: list[int], fragments: int, limit: int
) -> bool:  # fmt: skip
    """Replace the outputs of one group by fewer, if that pays."""
    qualifiers, sites = group
    link, transfer = graph.link, graph.transfer
    for key in keys:
        graph.add(key)
    for key, node in graph.roots.items():
        if node.inst in graph.unable:
            link.remarks.notes.setdefault(key, f"not moved: {graph.unable[node.inst]}")
    if all(n.leaf for n in graph.nodes) or graph.independent():
        return False
    graph.spare_sensitive()
    if graph.independent():
        return False
    crossing, computed = graph.choose(fragments, limit)
    dear = brake.find_costly(link.consumer.module, _families(graph, crossing, computed), limit)
    if dear:
        for family, more in dear:
            for key in family.keys:
                del graph.roots[key]
                link.remarks.notes[key] = _kept(link.consumer.name, more)
        crossing, computed = graph.choose(fragments, limit)
    if len(crossing) >= len(graph.roots):
        return False
    stay: dict[ProducerNode, int] = {}
    for key, node in graph.roots.items():
        if node in crossing:
            stay.setdefault(node, key)
    freed = set(graph.roots) - set(stay.values())
    new = [n for n in crossing if n not in stay]
    places = algebra.assign(link, [(qualifiers, n.inst) for n in new], freed)
    if None in places or not algebra.declared(transfer, [u for n in computed for u in n.uniforms]):
        return False
    graph.computed = set(computed)
    own = {n: k for n, k in zip(new, places) if k is not None}
    _Move(link, graph, {**stay, **own}, new, freed, sites).run()
    return True


def _kept(name: str, more: int) -> str:
    return f"not moved: the {name} stage would keep {more} more live value{'s' * (more > 1)}"


def _families(
    graph: ProducerGraph, crossing: list[ProducerNode], computed: list[ProducerNode]
) -> list[brake.ReplacedInputs]:
    """What hangs together of a choice, as far as it saves components."""
    bits = {node: 1 << number for number, node in enumerate(crossing)}
    of: dict[ProducerNode, int] = {}  # what each value is made of, of what crosses
    for node in graph.nodes:  # operands come first
        of[node] = bits.get(node, 0)
        if not of[node]:
            for dep in node.deps:
                of[node] |= of[dep]
    parts: list[int] = []  # disjoint
    for node in graph.roots.values():
        mine = of[node]
        for part in [p for p in parts if p & of[node]]:
            parts.remove(part)
            mine |= part
        parts.append(mine)
    families: list[brake.ReplacedInputs] = []
    for part in parts:
        keys = [key for key, node in graph.roots.items() if of[node] & part]
        made = [
            [k for k in keys if of[graph.roots[k]] & bits[n]] for n in crossing if bits[n] & part
        ]
        if len(made) < len(keys):
            work = sum([n.work for n in computed if of[n] & part])
            families.append(brake.ReplacedInputs(keys, made, work))
    return families


class _ConsumerMaker(algebra.Cloner):
    """Computes nodes in the consumer, for one vertex where its inputs are arrays over these."""

    def __init__(
        self, graph: ProducerGraph, out: list[Inst], move: _Move, vertex: list[Inst]
    ) -> None:
        super().__init__(graph.transfer, out)
        self.graph = graph
        self.move = move
        self.vertex = vertex

    def origin(self, lane: Lane) -> Lane:
        return self.graph.origin(lane)

    def free(self, inst: Inst) -> bool:
        return self.graph.free(inst)

    def complete(self, inst: Inst) -> bool:
        """Vectors are computed as such where all of their lanes are and none crosses: what another
        lane is made of may not have come over."""
        nodes = [self.graph.table.get((inst, n)) for n in range(scalars.count(inst.type))]
        if scalars.unpacks(inst):  # the word is there if one lane is made of it
            return not self.graph.computed.isdisjoint(nodes)
        return all(n in self.graph.computed and n not in self.move.places for n in nodes)

    def make(self, lane: Lane) -> Inst:
        node = self.graph.table.get(lane)
        if isinstance(node, ProducerNode) and node in self.move.places:
            return self.move.load(node, self.vertex, self.out)
        return super().make(lane)


class _Move:
    """One move: what crosses, and the loads of the rest."""

    def __init__(
        self, link: Link, graph: ProducerGraph, places: dict[ProducerNode, int],
        new: list[ProducerNode], freed: set[int], sites: frozenset[int],
    ) -> None:  # fmt: skip
        self.link = link
        self.graph = graph
        self.places = places
        self.new = new
        self.freed = freed
        self.sites = sites
        self.source = graph.transfer.source  # the producer's module
        self.target = graph.transfer.target

    def run(self) -> None:
        link = self.link
        names = {k: link.outputs.slots[k].name or link.inputs.slots[k].name for k in self.freed}
        remove_stores(link.producer, self.freed)
        self.slots(names)
        self.produce()
        self.consume()
        kept = {link.outputs.slots[k].name for k in self.places.values()}
        what = ", ".join(sorted(n for n in kept if n)) or "another value"
        why = f"the {link.consumer.name} stage computes it from {what}"
        for key in self.freed:
            place = self.graph.loose.get(key)
            said = why if place is None else f"{why}; {lenient.phrase(place)}"
            link.remarks.fate[key] = (MOVED_FORWARD, said)
            link.remarks.notes.pop(key, None)

    def slots(self, names: dict[int, str]) -> None:
        link = self.link
        group = 1 + max(s.group for s in link.inputs.slots.values())
        groups: dict[Inst, int] = {}
        name = "_".join(sorted({n for n in names.values() if n}))
        for node in self.new:
            assert node.inst.type is not None
            type = scalars.scalar(node.inst.type)
            if algebra.in_word(type, self.graph.widths):
                type = types.integer(self.source)
            spot = node.lane, groups.setdefault(node.inst, group + len(groups))
            own = self.graph.transfer.type(type), type
            key = self.places[node]
            algebra.redefine(link, key, own, name, spot, link.inputs.slots[key].qualifiers)

    def produce(self) -> None:
        """Store what crosses now, where the outputs were stored."""
        for site in self.link.spots:
            if site in self.sites:
                out: list[Inst] = []
                for node in self.new:
                    made = node.inst
                    if scalars.count(made.type) > 1:
                        made = algebra.take(self.source, made, node.lane, out)
                    made = algebra.to_word(self.source, made, self.graph.widths, out)
                    out.append(self.link.store(site, self.places[node], made))
                self.link.insert(site, out)
        touched(self.source)

    def load(self, node: ProducerNode, vertex: list[Inst], out: list[Inst]) -> Inst:
        """Read what crosses, as the producer's type."""
        key = self.places[node]
        type = self.link.inputs.slots[key].type
        made = value(self.target, LOAD_INPUT, type, list(vertex), (key,))
        out.append(made)
        assert node.inst.type is not None
        wanted = self.graph.transfer.type(scalars.scalar(node.inst.type))
        if algebra.in_word(wanted, self.graph.widths):
            return algebra.of_word(self.target, made, wanted, out)
        if wanted is not type:
            out.append(value(self.target, ops.OpBitcast, wanted, [made], ()))
        return out[-1]

    def consume(self) -> None:
        """What was read is computed, once a block and vertex."""
        entry = self.target.entry
        assert entry is not None
        new: list[Inst] = []
        for block in entry.function.blocks:
            if not any(i.op == LOAD_INPUT and i.imm[0] in self.freed for i in block.insts):
                continue
            out: list[Inst] = []
            makers: dict[tuple[Inst, ...], _ConsumerMaker] = {}
            for inst in block.insts:
                # a slot may hold another value by now: what is loaded anew is in no block yet
                if inst.op != LOAD_INPUT or inst.imm[0] not in self.freed:
                    out.append(inst)
                    continue
                node = self.graph.roots[inst.imm[0]]
                maker = makers.get(tuple(inst.args))
                if maker is None:
                    maker = makers[tuple(inst.args)] = _ConsumerMaker(
                        self.graph, out, self, inst.args
                    )
                made = maker.lane((node.inst, node.lane))
                if made.type is not inst.type:
                    made = maker.emit(ops.OpBitcast, inst.type, [made], ())
                become(self.target, inst, made)
            present = set(block.insts)
            new += [inst for inst in out if inst not in present]
            block.insts = out
        touched(self.target)
        sweep(self.target, entry.function)
        sink(self.target, new)
