"""Carry out the choice of ``backward``: new values in the producer, loads in the consumer."""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.scalars import Lane
from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import STORE_OUTPUT, Block, Inst, op_of_name, text_of_name
from spvlink.ir.edit import become, sweep, touched
from spvlink.link.border.link import Link
from spvlink.link.motion import algebra, lenient
from spvlink.link.motion.nodes import Kind, ScalarNode, Use
from spvlink.pipeline import MOVED_BACKWARD

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.link.motion.consumer_graph import ConsumerGraph


class NodeMaker(algebra.Cloner):
    """Makes nodes in the producer, at one place where the outputs are stored."""

    def __init__(self, graph: ConsumerGraph, out: list[Inst], site: int) -> None:
        super().__init__(graph.transfer, out)
        self.graph = graph
        self.site = site

    def origin(self, lane: Lane) -> Lane:
        entry = self.graph.entry(lane)
        if isinstance(entry, Use):
            return entry.node.inst, entry.node.lane
        assert entry is not None
        return entry

    def free(self, inst: Inst) -> bool:
        return self.graph.free(inst)

    def complete(self, inst: Inst) -> bool:
        if None in self.graph.table[inst] or not self.graph.complete(inst):
            return False
        return self.graph.together(inst, self.site)


def same_range(node: ScalarNode) -> bool:
    """Whether a value that crosses is one that the consumer computed, not one that it interpolates:
    RelaxedPrecision allows a range of 2^14 (SPIR-V 2.15), and a sum at a vertex off the screen may
    be far beyond what any fragment saw."""
    return node.convergent or (node.flat and not any(kind.blends for _, _, kind in node.places))


def _name(link: Link, key: int) -> str:
    slots = link.outputs.slots.get(key), link.inputs.slots.get(key)
    return next((slot.name for slot in slots if slot is not None and slot.name), "")


class Move:
    """One move: the new interface values on both sides."""

    def __init__(
        self,
        link: Link,
        graph: ConsumerGraph,
        made: list[ScalarNode],
        places: dict[ScalarNode, int],
        freed: set[int],
    ) -> None:
        self.link = link
        self.graph = graph
        self.made = made
        self.places = places
        self.freed = freed
        self.source = graph.transfer.source  # the consumer's module
        self.target = graph.transfer.target
        self.names = {k: _name(link, k) for k in freed}

    def run(self) -> None:
        self.produce()
        self.consume()
        self.describe()

    def produce(self) -> None:
        """The values, at every place where the inputs that they are made of are stored; these
        stores go where nothing else needs them."""
        entry, sites = self.target.entry, self.link.sites
        assert entry is not None
        for block in entry.function.blocks:
            stores = [
                i for i in block.insts if i.op == STORE_OUTPUT and i.imm[0] in self.graph.inputs
            ]
            if not stores:
                continue
            last = {sites[store]: store for store in stores}
            out: list[Inst] = []
            for inst in block.insts:
                if inst.op != STORE_OUTPUT or inst.imm[0] not in self.freed:
                    out.append(inst)
                if inst.op == STORE_OUTPUT and last.get(sites.get(inst, -1)) is inst:
                    site = sites[inst]
                    self.store(site, [s for s in stores if sites[s] == site], out)
            block.insts = out
        touched(self.target)

    def store(self, site: int, stores: list[Inst], out: list[Inst]) -> None:
        """What crosses at one place, given what is stored there now."""
        maker = NodeMaker(self.graph, out, site)
        for store in stores:
            node = self.graph.inputs[store.imm[0]]
            type = self.link.inputs.slots[store.imm[0]].type
            made = algebra.typed(self.graph.transfer, out, store.args[0], type)
            maker.known[node.inst, 0] = made
        for node in self.made_in_order():
            if site in node.sites:
                maker.lane((node.inst, node.lane))
        for node, key in self.places.items():
            if site in node.sites:
                made = maker.lane((node.inst, node.lane))
                made = algebra.to_word(self.target, made, self.graph.widths, out)
                out.append(Inst(STORE_OUTPUT, None, [made, *stores[0].args[1:]], (key,)))

    def made_in_order(self) -> list[ScalarNode]:
        """What the producer makes, operands first, and what ends with the same input together: in
        the consumer's order, which may be that of a long shader, many inputs would be held at once
        that are needed once more much later."""
        last = {node: number for number, node in enumerate(self.graph.inputs.values())}
        for node in self.made:
            last[node] = max([last[dep] for dep in node.deps])
        turn = {node: last[node] for node in self.places}  # what is made on the way comes with it
        for node in reversed(self.made):
            for dep in node.deps:
                turn[dep] = min(turn[node], turn.get(dep, turn[node]))
        return sorted(self.made, key=turn.__getitem__)

    def consume(self) -> None:
        """Loads of the new values in place of what they stand for."""
        new: dict[Inst, dict[int, tuple[ScalarNode, Kind]]] = {}
        for node in self.places:
            for inst, lane, kind in node.places:
                new.setdefault(inst, {})[lane] = node, kind
        self.forget()
        self.slots(new)
        partial: dict[Inst, tuple[Inst, frozenset[Inst]]] = {}
        for block in self.graph.cfg.order:
            if any(i in new for i in block.insts):
                block.insts = self.replaced(block, new, partial)
        if partial:
            for block in self.graph.cfg.order:
                for inst in block.insts:
                    if any(a in partial and inst not in partial[a][1] for a in inst.args):
                        inst.args = [
                            partial[a][0] if a in partial and inst not in partial[a][1] else a
                            for a in inst.args
                        ]
        entry = self.source.entry
        assert entry is not None
        touched(self.source)
        sweep(self.source, entry.function)

    def forget(self) -> None:
        """What is still made of the inputs that go is dead from here on; it must not read what
        crosses in their place."""
        for key in self.freed:
            for load in self.link.loads[key]:
                assert load.type is not None
                become(self.source, load, types.null(self.source, load.type))

    def replaced(
        self, block: Block, new: dict[Inst, dict[int, tuple[ScalarNode, Kind]]],
        partial: dict[Inst, tuple[Inst, frozenset[Inst]]],
    ) -> list[Inst]:  # fmt: skip
        out: list[Inst] = []
        for inst in block.insts:
            if inst not in new:
                out.append(inst)
                continue
            size = scalars.count(inst.type)
            if len(new[inst]) < size:
                out.append(inst)
            parts, own = [], set[Inst]()
            if size > 1 and (made := self.as_vector(inst, new[inst], out)) is not None:
                become(self.source, inst, made)
                continue
            for number in range(size):
                place = new[inst].get(number)
                if place is not None:
                    parts.append(self.load(*place, out))
                else:
                    parts.append(algebra.take(self.source, inst, number, out))
                    own.add(parts[-1])
            assert inst.type is not None
            whole = algebra.gather(self.source, inst.type, parts, out)
            if own:
                partial[inst] = whole, frozenset(own)
            else:
                become(self.source, inst, whole)
        return out

    def as_vector(
        self, inst: Inst, lanes_: dict[int, tuple[ScalarNode, Kind]], out: list[Inst]
    ) -> Inst | None:
        """All lanes of a vector in one, where each is the same sum over vertices."""
        assert inst.type is not None
        kinds = [kind for _, kind in lanes_.values()]
        shape = kinds[0].shape()
        if shape is None or inst.type.op != ops.OpTypeVector or len(kinds) < inst.type.imm[0]:
            return None
        if any(kind.shape() != shape for kind in kinds):
            return None
        keys = [self.places[lanes_[n][0]] for n in range(len(kinds))]
        slots = self.link.inputs.slots
        return kinds[0].read(self.source, [(k, slots[k].type) for k in keys], out)

    def load(self, node: ScalarNode, kind: Kind, out: list[Inst]) -> Inst:
        """Read a new value where an old one was computed."""
        key = self.places[node]
        slot = self.link.inputs.slots[key]
        made = kind.read(self.source, [(key, slot.type)], out)
        assert node.inst.type is not None
        type = scalars.scalar(node.inst.type)
        if algebra.in_word(type, self.graph.widths):
            return algebra.of_word(self.source, made, type, out)
        return out[-1]

    def slots(self, new: dict[Inst, dict[int, tuple[ScalarNode, Kind]]]) -> None:
        """The interface's scalars as they are now, and what to say of the old ones."""
        link = self.link
        group = 1 + max(s.group for s in link.inputs.slots.values())
        groups = {inst: group + n for n, inst in enumerate(new)}
        titles = {
            of: name
            for of, name in self.source.names
            if of in new and op_of_name(name) == ops.OpName
        }
        for node, key in self.places.items():
            assert node.inst.type is not None
            type = scalars.scalar(node.inst.type)
            if algebra.in_word(type, self.graph.widths):
                type = types.integer(self.source)
            name = self.title(node, titles)
            types_ = type, self.graph.transfer.type(type)
            spot = node.lane, groups[node.inst]
            for slot in algebra.redefine(link, key, types_, name, spot, node.qualifiers):
                slot.relaxed = node.relaxed and same_range(node)

    def title(self, node: ScalarNode, titles: dict[Inst, bytes]) -> str:
        """The name of the consumer's value, or of the inputs that it is made of."""
        own = titles.get(node.inst)
        if own is not None:
            return text_of_name(own)
        todo, seen, names = [node], {node}, list[str]()
        while todo:
            at = todo.pop()
            if at.key is not None:
                names.append(self.names.get(at.key) or self.link.inputs.slots[at.key].name)
            for dep in at.deps:
                if dep not in seen:
                    seen.add(dep)
                    todo.append(dep)
        return "_".join(sorted(n for n in dict.fromkeys(names) if n))

    def describe(self) -> None:
        """The fate of the inputs that are gone."""
        link = self.link
        why = f"the {link.producer.name} stage does the work on it"
        loose = self.loosened()
        for key in self.freed:
            said = f"{why}; {lenient.phrase(loose[key])}" if key in loose else why
            link.remarks.fate[key] = (MOVED_BACKWARD, said)
            link.remarks.notes.pop(key, None)

    def loosened(self) -> dict[int, Inst]:
        """The inputs of which something moved by ``--relaxed`` alone -> the place in front of
        which it rounds otherwise."""
        found: dict[int, Inst] = {}
        for node in self.made:
            if node.loose is None:
                continue
            todo, seen = [node], {node}
            for at in todo:  # grows
                if at.key is not None:
                    found.setdefault(at.key, node.loose)
                fresh = [d for d in at.deps if d not in seen]
                seen.update(fresh)
                todo += fresh
        return found
