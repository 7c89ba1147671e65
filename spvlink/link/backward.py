"""Backward motion: what the consumer makes of its inputs is made by the producer.

    vertex:   outA = a; outB = b             ->   outA = a * pc.k + b
    fragment: f(inA * pc.k + inB)                 f(inA)

``motion`` says why that is right. What is chosen: every value of the consumer that could be made by
the producer is a node; an edge leads from each operand to what is made of it, and to the sink from
what something immovable uses. A cut through the nodes is a set of values that may cross in place
of the inputs, and the cheapest cut is taken:

    crossing         COMPONENT_PRICE operations per fragment
    work above it    its operations, once per vertex
    work below it    its operations, once per fragment (half as often for each construct around it)

So ``t0 = a + b + c; t1 = a + b * 2 + c * 3`` needs t0 and t1 and not a, b, c. Loads of one input in
different blocks are one value, and so is what is made of them alike. The number of components never
grows: where the cheapest cut has more, the search is repeated with fewer components before all
else. Work that moves without saving a component must save more per fragment than it costs per
vertex.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects, root
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, STORE_OUTPUT, Block, Inst, string_of
from spvlink.ir.edit import become, sweep, value
from spvlink.link import lanes, motion
from spvlink.link.border import Link
from spvlink.link.cut import INFINITE, SINK, SOURCE, Network
from spvlink.link.dead import remove_stores
from spvlink.link.dedup import divergence_of, equal_on_primitive
from spvlink.link.lanes import Lane
from spvlink.link.propagate import COMPONENT_PRICE, preserves_specials, rounding
from spvlink.link.resources import Cannot
from spvlink.link.transfer import Transfer

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

MAX_NODES: Final = 20000  # of one search; a shader with more keeps its inputs
_FEWEST: Final = 1000  # how much more a component counts when their number must not grow
_GLANCE: Final = 64  # values that ``_varies`` looks at
_LOADS: Final = (LOAD_INPUT, INTERPOLATE)


class Kind:
    """How inputs come over: all that varies in one expression has one kind."""

    __slots__ = ("args", "flat", "imm", "op", "qualifiers")

    def __init__(self, qualifiers: tuple[int, ...], flat: bool, load: Inst) -> None:
        self.qualifiers = qualifiers
        self.flat = flat
        self.op = load.op  # how one reads so: with these, behind the slot's key
        self.args = load.args
        self.imm = load.imm[1:]


class Node:
    """A scalar of the consumer that the producer could make."""

    __slots__ = (
        "convergent", "deps", "inst", "keys", "kind", "lane", "places", "relaxed", "sink",
        "sites", "uniforms", "weight", "work",
    )  # fmt: skip

    def __init__(self, lane: Lane, kind: Kind, convergent: bool, sites: frozenset[int]) -> None:
        self.inst, self.lane = lane  # the first of the equal ones
        self.places: list[Lane] = [lane]
        self.kind = kind
        self.convergent = convergent
        self.sites = sites  # where the outputs that it is made from are stored
        self.deps: list[Node] = []
        self.uniforms: list[Inst] = []  # the other operands, which the producer can read too
        self.keys: tuple[int, ...] = ()  # of an input: its slot
        self.work = 0  # operations
        self.weight = 0  # operations, counted by how often the consumer may run them
        self.sink = False  # something that stays uses it
        self.relaxed = False


Entry = Node | Lane | None  # made of inputs; made of uniforms alone; must stay


class Graph:
    """What the consumer makes of its inputs, as far as it could be made before the border."""

    def __init__(self, link: Link, transfer: Transfer, exact: bool, convergent: set[int]) -> None:
        self.link = link
        self.transfer = transfer
        self.effects = Effects.of(link.consumer.module)
        self.convergent = convergent
        self.table: dict[Inst, list[Entry]] = {}
        self.nodes: list[Node] = []
        self.inputs: dict[int, list[Node]] = {}  # key -> what its loads give
        self.numbered: dict[object, Node] = {}
        self.kinds: dict[object, Kind] = {}
        self.sensitive: set[Inst] | None = None  # found when first asked for
        self.mixed = False  # it could help to know what is convergent
        kept, own = (preserves_specials(s.module) for s in (link.consumer, link.producer))
        self.exact = exact or bool(kept - own)
        self.linear = not self.exact and 32 not in kept | own
        entry = link.consumer.module.entry
        assert entry is not None
        self.cfg = Cfg.of(link.consumer.module, entry.function)
        self.structure = Structure.of(link.consumer.module, entry.function)
        for block in self.cfg.order:
            depth = len(self.structure.around(block)) if len(self.cfg.order) > 1 else 0
            for inst in block.insts:
                if inst.op in _LOADS:
                    self.read(inst)
                elif any(a in self.table for a in inst.args):
                    self.visit(inst, depth)

    # -- building ----------------------------------------------------------------------------------

    def read(self, load: Inst) -> None:
        """An input is a node if its slot may be replaced."""
        key = load.imm[0]
        kind = self.kind_of(load)
        if kind is None:
            self.spoil(load)
            return
        node = self.numbered.get((key, kind))
        if node is None:
            stores = self.link.stores[key]
            sites = frozenset(self.link.sites[s] for s in stores)
            node = Node((load, 0), kind, key in self.convergent, sites)
            node.keys = (key,)
            self.numbered[key, kind] = node
            self.inputs.setdefault(key, []).append(node)
            self.nodes.append(node)
        else:
            node.places.append((load, 0))
        self.table[load] = [node]

    def kind_of(self, load: Inst) -> Kind | None:
        """How a load reads its slot; None where it must stay."""
        link, key = self.link, load.imm[0]
        if not replaceable(link, key) or (load.op == LOAD_INPUT and load.args):
            return None
        slot = link.inputs.slots[key]
        flat = enums.Decoration_Flat in slot.qualifiers
        name: tuple[object, ...] = (slot.qualifiers,)
        if load.op == INTERPOLATE:
            if flat:
                return None
            name = (slot.qualifiers, load.imm[1], *load.args)
        if not flat and (slot.type.op != ops.OpTypeFloat or not self.linear):
            return None
        return self.kinds.setdefault(name, Kind(slot.qualifiers, flat, load))

    def entry(self, lane: Lane) -> Entry:
        held = self.table.get(lane[0])
        if held is not None:
            return held[lane[1]]
        return lane if self.free(lane[0]) else None

    def free(self, inst: Inst) -> bool:
        """Whether a value hangs on nothing but what the producer can read too."""
        if inst in self.table:
            return False
        return self.transfer.moves(inst)

    def spoil(self, inst: Inst) -> None:
        """An instruction that stays, and needs what it uses."""
        for arg in inst.args:
            for entry in self.table.get(arg, ()):
                if isinstance(entry, Node):
                    entry.sink = True
        if inst.id:
            self.table[inst] = [None] * max(1, lanes.count(inst.type))

    def visit(self, inst: Inst, depth: int) -> None:
        """An instruction that uses what is made of inputs."""
        size = lanes.count(inst.type)
        used = [e for a in inst.args for e in self.table.get(a, ()) if e is not None]
        if not used or not size:  # most are made of what stays
            self.spoil(inst)
            return
        if inst.op in lanes.MOVES:
            moved = lanes.moved(inst)
            if moved is not None:
                self.table[inst] = [self.entry(lane) for lane in moved]
                return
        if inst.op not in lanes.LINEAR and not any(
            isinstance(e, tuple) or e.kind.flat or e.convergent for e in used
        ):
            self.mixed = True
            self.spoil(inst)
            return
        flags = self.effects.flags(inst)
        if not self.movable(inst) or not (lanes.splits(inst, flags) or self.complete(inst)):
            self.spoil(inst)
            return
        made: list[Entry] = []
        for number in range(size):
            groups = [
                [self.entry(lane) for lane in group] for group in lanes.made_of(inst, number, flags)
            ]
            made.append(self.node(inst, number, groups, depth))
        self.table[inst] = made

    def complete(self, inst: Inst) -> bool:
        """Whether every lane of every operand may be made before the border."""
        return all(
            self.entry((a, n)) is not None
            for a in lanes.operands(inst) for n in range(lanes.count(a.type))
        )  # fmt: skip

    def movable(self, inst: Inst) -> bool:
        if inst.op == ops.OpPhi or not inst.id or not motion.speculatable(self.effects, inst):
            return False
        if self.exact and not motion.bit_exact(inst):
            return False
        try:
            self.transfer.able(inst)
        except Cannot:
            return False
        return True

    def node(self, inst: Inst, number: int, groups: list[list[Entry]], depth: int) -> Entry:
        """The node of one lane; None if it must stay, which its operands then have to serve."""
        deps = [e for group in groups for e in group if isinstance(e, Node)]
        if not deps and not any(e is None for group in groups for e in group):
            return inst, number  # a lane that no input reaches
        found = self.joined(inst, groups, deps)
        if found is None:
            for dep in deps:
                dep.sink = True
            return None
        names = [id(e) if isinstance(e, Node) else self.name(e) for g in groups for e in g if e]
        name = (inst.op, tuple(inst.imm), id(inst.type), tuple(names))
        if not lanes.lanewise(inst, self.effects.flags(inst)):
            name = (*name, number)  # type: ignore[assignment]
        work = motion.cost_of(inst)
        node = self.numbered.get(name)
        if node is None:
            kind, convergent = found
            node = Node((inst, number), kind, convergent, deps[0].sites)
            node.deps = list(dict.fromkeys(deps))
            node.work = work
            node.uniforms = [e[0] for g in groups for e in g if isinstance(e, tuple)]
            node.relaxed = inst in self.effects.signatures
            self.numbered[name] = node
            self.nodes.append(node)
        else:
            node.places.append((inst, number))
        node.weight += work >> min(depth, 4)
        return node

    def joined(
        self, inst: Inst, groups: list[list[Entry]], deps: list[Node]
    ) -> tuple[Kind, bool] | None:
        """The kind of what is made of these, and whether it is convergent; None if it stays."""
        if len(deps) < sum(isinstance(e, Node) for g in groups for e in g) or any(
            e is None for g in groups for e in g
        ):
            return None
        if any(d.sites != deps[0].sites for d in deps):
            return None
        varying = [d for d in deps if not d.convergent]
        kind = varying[0].kind if varying else deps[0].kind
        if any(d.kind is not kind for d in varying):
            self.mixed = True
            return None
        if varying and not kind.flat:
            varies = [any(isinstance(e, Node) and not e.convergent for e in g) for g in groups]
            scalar = lanes.scalar(inst.type) if inst.type is not None else None
            wide = scalar is not None and scalar.op == ops.OpTypeFloat and scalar.imm[0] == 32
            if not wide or not lanes.linear(inst, varies):
                self.mixed = True
                return None
            if self.sensitive is None:
                entry = self.link.consumer.module.entry
                assert entry is not None
                self.sensitive = motion.sensitive(self.effects, entry.function)
            if inst in self.sensitive:
                return None
        return kind, not varying

    def name(self, lane: Lane) -> object:
        """What a uniform lane is called: equal for equal values of different blocks."""
        return lane[1], self.number(lane[0])

    def number(self, inst: Inst) -> object:
        if inst.op in types.CONSTANTS:
            return id(inst)
        if inst.op == ops.OpLoad:
            access = self.transfer.from_blocks.access(inst)
            return access.key, tuple(access.element), access.offset, id(inst.type)
        return id(inst)

    # -- choosing ----------------------------------------------------------------------------------

    def choose(self, vertices: int, fragments: int) -> tuple[list[Node], list[Node], set[int]]:
        """(what the producer makes, in order; what of it crosses; the inputs that cross no
        more)."""
        price = COMPONENT_PRICE * fragments
        for factor in (1, _FEWEST):
            made, crossing, freed = self.cut(vertices, fragments, price * factor)
            if len(crossing) <= len(freed):
                return made, crossing, freed
        return [], [], set()

    def needed(self) -> list[Node]:
        """The nodes that something which stays is made of."""
        found = {n for n in self.nodes if n.sink}
        todo = list(found)
        while todo:
            for dep in todo.pop().deps:
                if dep not in found:
                    found.add(dep)
                    todo.append(dep)
        return [n for n in self.nodes if n in found]

    def cut(
        self, vertices: int, fragments: int, price: int
    ) -> tuple[list[Node], list[Node], set[int]]:
        """The cheapest cut, as ``choose``."""
        network = Network()
        ways: dict[int, int] = {}
        nodes = self.needed()
        inner = {n: network.node() for n in nodes}
        outer = {n: network.node() for n in nodes}
        for key in self.inputs:
            ways[key] = network.node()
            network.edge(SOURCE, ways[key], price)
        for node in nodes:
            mine, out = inner[node], outer[node]
            for key in node.keys:
                network.edge(ways[key], mine, INFINITE)
            for dep in node.deps:
                network.edge(outer[dep], mine, INFINITE)  # what does not cross is needed there only
                network.edge(mine, inner[dep], INFINITE)  # what is made there is made of what is
            assert node.inst.type is not None
            type = lanes.scalar(node.inst.type)
            extra = 2 * fragments if type.op == ops.OpTypeBool else 0
            may = not node.keys and motion.crosses(type, node.kind.flat)
            network.edge(mine, out, price + extra if may else INFINITE)
            if node.sink:
                network.edge(out, SINK, INFINITE)
            gain = node.weight * fragments - node.work * vertices
            if gain > 0:
                network.edge(SOURCE, mine, gain)
            elif gain < 0:
                network.edge(mine, SINK, -gain)
        side = network.cut()
        made = [n for n in nodes if side[inner[n]] and not n.keys]
        crossing = [n for n in made if not side[outer[n]]]
        return made, crossing, {k for k, way in ways.items() if side[way]}


def replaceable(link: Link, key: int) -> bool:
    """Whether an input, and the output behind it, may be replaced by another value."""
    if key not in link.stores or key in link.kept_in or key in link.kept_out:
        return False
    slot, out = link.inputs.slots.get(key), link.outputs.slots.get(key)
    if slot is None or out is None or slot.width != 32 or out.extras:
        return False
    if enums.Decoration_PerVertexKHR in slot.qualifiers:
        return False
    return all(s in link.sites for s in link.stores[key])


def run(link: Link, transfer: Transfer, exact: bool, expect: tuple[int, int]) -> bool:
    """Move what pays; whether anything did. ``transfer`` leads from the consumer to the
    producer, ``expect``: how often a vertex and how often a fragment is expected to run."""
    link.gather()
    if rounding(link.producer.module) != rounding(link.consumer.module):
        return False
    graph = Graph(link, transfer, exact, set())
    if graph.mixed and not exact and not all(_varies(link, k) for k in graph.inputs):
        divergence = divergence_of(link)
        equal = {k for k in graph.inputs if equal_on_primitive(link, k, divergence)}
        if equal:
            graph = Graph(link, transfer, exact, equal)
    if len(graph.nodes) > MAX_NODES or all(n.keys for n in graph.nodes):
        return False
    made, crossing, freed = graph.choose(*expect)
    if not crossing:
        return False
    keys = motion.assign(link, [(n.kind.qualifiers, n.inst) for n in crossing], freed)
    uniforms = [u for n in made for u in n.uniforms]
    if keys is None or not motion.declared(transfer, uniforms):
        return False
    _Move(link, graph, made, dict(zip(crossing, keys)), freed).run()
    return True


def _varies(link: Link, key: int) -> bool:
    """Whether what is stored differs between vertices, as far as a glance shows: an attribute is in
    it. Most outputs are like that, and finding out what is equal takes longer."""
    tables = Decorations.of(link.producer.module)
    todo = [s.args[0] for s in link.stores[key][:1]]
    for inst in todo:
        if inst.op == ops.OpLoad:
            variable = root(inst.args[0])
            if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Input:
                builtin = tables.find(variable, enums.Decoration_BuiltIn)
                if not builtin or builtin[0] not in info.PRIMITIVE_BUILTINS:
                    return True
        elif inst.op != ops.OpPhi and len(todo) < _GLANCE:
            todo += inst.args
    return False


class _Maker(motion.Cloner):
    """Makes nodes in the producer, at one place where the outputs are stored."""

    def __init__(self, graph: Graph, out: list[Inst]) -> None:
        super().__init__(graph.transfer, out)
        self.graph = graph

    def origin(self, lane: Lane) -> Lane:
        entry = self.graph.entry(lane)
        if isinstance(entry, Node):
            return entry.inst, entry.lane
        assert entry is not None
        return entry

    def free(self, inst: Inst) -> bool:
        return self.graph.free(inst)

    def complete(self, inst: Inst) -> bool:
        return None not in self.graph.table[inst] and self.graph.complete(inst)


class _Move:
    """One move: the new interface values on both sides."""

    def __init__(
        self, link: Link, graph: Graph, made: list[Node], places: dict[Node, int], freed: set[int]
    ) -> None:
        self.link = link
        self.graph = graph
        self.made = made
        self.places = places
        self.freed = freed
        self.source = graph.transfer.source  # the consumer's module
        self.target = graph.transfer.target
        self.names = {k: (link.outputs.slots[k].name or link.inputs.slots[k].name) for k in freed}

    def run(self) -> None:
        stored = {k: list(self.link.stores[k]) for k in self.graph.inputs}
        remove_stores(self.link.producer, self.freed)
        self.produce(stored)
        self.consume()
        self.describe()

    def produce(self, stored: dict[int, list[Inst]]) -> None:
        """The values, at every place where the inputs that they are made of were stored."""
        entry = self.target.entry
        assert entry is not None
        site = 0
        for block in entry.function.blocks:
            if block.terminator.op != ops.OpReturn:
                continue
            here = {k: s for k, all in stored.items() for s in all if self.link.sites[s] == site}
            out: list[Inst] = []
            maker = _Maker(self.graph, out)
            for key, store in here.items():
                for node in self.graph.inputs[key]:
                    type = self.link.inputs.slots[key].type
                    made = motion.typed(self.graph.transfer, out, store.args[0], type)
                    maker.known[node.inst, 0] = made
            for node in self.made:
                if site in node.sites:
                    maker.lane((node.inst, node.lane))
            for node, key in self.places.items():
                if site in node.sites:
                    made = maker.lane((node.inst, node.lane))
                    made = motion.as_number(self.target, made, out)
                    out.append(Inst(STORE_OUTPUT, None, [made], [key]))
            block.insts[-1:-1] = out
            site += 1
        self.target.version += 1

    def consume(self) -> None:
        """Loads of the new values in place of what they stand for."""
        new: dict[Inst, dict[int, Node]] = {}
        for node in self.places:
            for inst, lane in node.places:
                new.setdefault(inst, {})[lane] = node
        self.forget()
        self.slots(new)
        partly: dict[Inst, tuple[Inst, frozenset[Inst]]] = {}
        for block in self.graph.cfg.order:
            if any(i in new for i in block.insts):
                block.insts = self.replaced(block, new, partly)
        if partly:
            for block in self.graph.cfg.order:
                for inst in block.insts:
                    if any(a in partly and inst not in partly[a][1] for a in inst.args):
                        inst.args = [
                            partly[a][0] if a in partly and inst not in partly[a][1] else a
                            for a in inst.args
                        ]
        entry = self.source.entry
        assert entry is not None
        self.source.version += 1
        sweep(self.source, entry.function)

    def forget(self) -> None:
        """What is still made of the inputs that go is dead from here on; it must not read what
        crosses in their place."""
        for key in self.freed:
            for load in self.link.loads[key]:
                assert load.type is not None
                become(self.source, load, types.null(self.source, load.type))

    def replaced(
        self, block: Block, new: dict[Inst, dict[int, Node]],
        partly: dict[Inst, tuple[Inst, frozenset[Inst]]],
    ) -> list[Inst]:  # fmt: skip
        out: list[Inst] = []
        for inst in block.insts:
            if inst not in new:
                out.append(inst)
                continue
            size = lanes.count(inst.type)
            if len(new[inst]) < size:
                out.append(inst)
            parts, own = [], set[Inst]()
            for number in range(size):
                node = new[inst].get(number)
                if node is not None:
                    parts.append(self.load(node, out))
                else:
                    parts.append(motion.take(self.source, inst, number, out))
                    own.add(parts[-1])
            assert inst.type is not None
            whole = motion.gather(self.source, inst.type, parts, out)
            if own:
                partly[inst] = whole, frozenset(own)
            else:
                become(self.source, inst, whole)
        return out

    def load(self, node: Node, out: list[Inst]) -> Inst:
        """Read a new value where an old one was computed."""
        key, kind = self.places[node], node.kind
        slot = self.link.inputs.slots[key]
        made = value(self.source, kind.op, slot.type, list(kind.args), [key, *kind.imm])
        out.append(made)
        assert node.inst.type is not None
        type = lanes.scalar(node.inst.type)
        if type.op == ops.OpTypeBool:
            zero = types.constant(self.source, slot.type, 0)
            out.append(value(self.source, ops.OpINotEqual, type, [made, zero], []))
        return out[-1]

    def slots(self, new: dict[Inst, dict[int, Node]]) -> None:
        """The interface's scalars as they are now, and what to say of the old ones."""
        link = self.link
        group = 1 + max(s.group for s in link.inputs.slots.values())
        groups = {inst: group + n for n, inst in enumerate(new)}
        titles = {
            i.args[0]: i.imm for i in self.source.names if i.op == ops.OpName and i.args[0] in new
        }
        for node, key in self.places.items():
            assert node.inst.type is not None
            type = lanes.scalar(node.inst.type)
            if type.op == ops.OpTypeBool:
                type = types.integer(self.source)
            name = self.title(node, titles)
            types_ = type, self.graph.transfer.type(type)
            motion.redefine(link, key, types_, name, (node.lane, groups[node.inst]), node.relaxed)

    def title(self, node: Node, titles: dict[Inst, list[int]]) -> str:
        """The name of the consumer's value, or of the inputs that it is made of."""
        words = titles.get(node.inst)
        if words is not None:
            return string_of(words)[0]
        todo, seen, names = [node], {node}, list[str]()
        while todo:
            at = todo.pop()
            for key in at.keys:
                names.append(self.names.get(key) or self.link.inputs.slots[key].name)
            for dep in at.deps:
                if dep not in seen:
                    seen.add(dep)
                    todo.append(dep)
        return "_".join(sorted(n for n in dict.fromkeys(names) if n))

    def describe(self) -> None:
        """The fate of the inputs that are gone."""
        link = self.link
        why = f"the {link.producer.name} stage computes what was made of it"
        for key in self.freed:
            link.fate[key] = ("moved-backward", why)
            link.notes.pop(key, None)
