"""Backward motion where every partner agrees: what all fragment shaders make of their inputs alike
is made by all of their producers.

    vert A:  uv = a;  vert B:  uv = b                ->   uv = a * pc.k;  uv = b * pc.k
    frag X:  f(uv * pc.k);  frag Y:  g(uv * pc.k)         f(uv);  g(uv)

It is the cut of ``backward`` through the graph of all consumers of a seam (``common_graph``), so
the same theorems hold for each pair:

* what stays in one consumer, or is read by it in another way, is the sink of all;
* what one producer cannot make (a uniform that it may not see, a capability, an output that it does
  not store, or stores elsewhere) is no node;
* a new value takes the place of an old one that at least the same producers stored and the same
  consumers read, of the same type and qualifiers. So no module has more components than before.

Work counts as the least of the consumers that have it: it pays in each pair that reads the value.
Code moves in front of fragment shaders only: what stands behind other consumers may be many stages.
"""

from __future__ import annotations

from spvlink.chain.state import in_file
from spvlink.chain.sweep import clean
from spvlink.chain.table import PassContext
from spvlink.facts import scalars
from spvlink.facts.floats import Floats
from spvlink.facts.scalars import Lane
from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.border.uniformity import divergence_of, equal_on_primitive
from spvlink.link.motion import algebra
from spvlink.link.motion.backward import MAX_NODES, MAX_TRIES, comes_back
from spvlink.link.motion.consumer_graph import ConsumerGraph
from spvlink.link.motion.nodes import ScalarNode
from spvlink.link.motion.relocate import Move, NodeMaker
from spvlink.link.resources.transfer import Transfer
from spvlink.pipeline import REMOVED
from spvlink.sets.common_graph import Common, SharedGraph
from spvlink.sets.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Home = tuple[SharedGraph, Transfer, Inst, int]  # where a producer finds a node's code


def move_in_set(family: Family) -> bool:
    """Move what pays at each seam; whether anything did."""
    if family.literal or not family.runner.enabled("backward"):
        return False
    moved = False
    family.held.clear()
    for seam in family.seams():
        links = [border.link for border in seam if border.link is not None]
        if len(links) == len(seam) and all(_may_move(link) for link in links):
            moved |= _seam(family, links)
    return moved


def _may_move(link: Link) -> bool:
    return link.consumer.name == "frag" and not link.fixed


def _seam(family: Family, links: list[Link]) -> bool:
    stages = list(dict.fromkeys([s for link in links for s in (link.producer, link.consumer)]))
    versions = {stage: stage.module.version for stage in stages}
    ways = {link: PassContext(family, link).to_producer for link in links}
    first = stages[0]
    made = _Seam(family, ways)
    family.runner.run("backward", first, made.run)
    for (key, stage), (link, what) in made.held.items():
        name = link.outputs.slots[key].name or link.inputs.slots[key].name
        family.held.append((link.consumer, name, key, stage, what))
    changed = [stage for stage in stages if stage.module.version != versions[stage]]
    for stage in changed:
        if stage is not first:
            family.runner.changed("backward", stage, versions[stage])
        stage.linked = True
        in_file(stage, clean, family, stage)
    return bool(changed)


class _Seam:
    """All pairs that meet, directly or through others. ``ways``: from consumers to producers."""

    def __init__(self, family: Family, ways: dict[Link, Transfer]) -> None:
        self.ways = ways
        self.links = list(ways)
        self.exact = family.options.exact
        self.expect = family.options.expect
        for link in self.links:
            link.gather()
        last = {family.stages[row[-1]] for row in family.pipelines}
        self.common = Common(ways, self.exact, last)
        self.graphs: dict[Stage, SharedGraph] = {}
        self.places: dict[ScalarNode, int] = {}
        self.made: list[ScalarNode] = []
        self.freed: set[int] = set()
        # (what a pair by itself would do without, who stands in the way) -> (the pair, how)
        self.held: dict[tuple[int, Stage], tuple[Link, str]] = {}

    def run(self) -> None:
        rounding = [
            Floats.of(stage.module).rounding
            for link in self.links for stage in (link.producer, link.consumer)
        ]  # fmt: skip
        if any(other != rounding[0] for other in rounding) or not self.common.sites:
            return
        for link in self.links:
            if link.consumer not in self.graphs:
                ways = [(a, w) for a, w in self.ways.items() if a.consumer is link.consumer]
                self.graphs[link.consumer] = SharedGraph(ways, self.common)
        for graph in self.graphs.values():
            for link in [a for a in self.links if a.consumer is graph.link.consumer]:
                link.remarks.notes = graph.link.remarks.notes | link.remarks.notes
        if self.choose():
            self.move()
        elif len(self.links) > 1 and not self.exact:
            self.remark()

    # -- choosing ----------------------------------------------------------------------------------

    def choose(self) -> bool:
        """What moves, and which places it takes; False if nothing does."""
        graph, common = self.graphs[self.links[0].consumer], self.common
        if len(common.nodes) > MAX_NODES or all(n.sink for n in common.inputs.values()):
            return False
        if all(n.key is not None for n in common.nodes):
            return False
        for node, weight in common.weights.items():
            node.weight = weight
        for _ in range(MAX_TRIES):
            self.made, crossing, self.freed = graph.choose(*self.expect)
            self.places = self.assign(crossing)
            if len(self.places) == len(crossing):
                return bool(self.places) and self.declared()
            common.homeless.update(node for node in crossing if node not in self.places)
        return False

    def assign(self, crossing: list[ScalarNode]) -> dict[ScalarNode, int]:
        """For each new value one that goes, of its kind, which all whom it concerns had."""
        left, found = sorted(self.freed), dict[ScalarNode, int]()
        for node in crossing:
            key = next((key for key in left if self.fits(node, key)), None)
            if key is not None:
                left.remove(key)
                found[node] = key
        return found

    def fits(self, node: ScalarNode, key: int) -> bool:
        assert node.inst.type is not None
        base = scalars.scalar(node.inst.type)
        kind = (ops.OpTypeInt, 32) if base.op == ops.OpTypeBool else (base.op, base.imm[0])
        reading = self.common.readers[key]
        slot = reading[0].inputs.slots[key]
        if slot.qualifiers != node.qualifiers or (slot.type.op, slot.width) != kind:
            return False
        if not self.stages_of(node) <= {link.consumer for link in reading}:
            return False
        common = self.common
        return common.producers(node.sites) <= common.producers(common.sites[key])

    def stages_of(self, node: ScalarNode) -> set[Stage]:
        """The consumers that have a node."""
        return {stage for stage, graph in self.graphs.items() if node in graph.own}

    def homes(self, producer: Stage) -> dict[ScalarNode, Home]:
        """Where a producer finds the code of what it makes: in one of its consumers."""
        found: dict[ScalarNode, Home] = {}
        for link, transfer in self.ways.items():
            if link.producer is producer:
                graph = self.graphs[link.consumer]
                for node, (inst, lane) in graph.own.items():
                    found.setdefault(node, (graph, transfer, inst, lane))
        return found

    def declared(self) -> bool:
        """Declare the resources that moved code reads, in all producers; False if one is in the way
        of another."""
        for producer in self.common.first:
            wanted: dict[Transfer, list[Inst]] = {}
            homes = self.homes(producer)
            for node in self.made:
                if node in homes:
                    graph, transfer, _, _ = homes[node]
                    wanted.setdefault(transfer, []).extend(graph.uniforms[node])
            for transfer, found in wanted.items():
                if not algebra.declared(transfer, found):
                    return False
                for other in wanted:  # has its own view of the producer's blocks
                    other.refresh()
        return True

    # -- moving ------------------------------------------------------------------------------------

    def move(self) -> None:
        old = {link: set(link.loads) for link in self.links}
        for link in self.links:
            for key in sorted(self.freed & link.stores.keys()):
                slot = link.outputs.slots.get(key)
                if key in self.places.values():
                    link.remarks.made.setdefault(key, slot.name if slot is not None else "")
                if key not in link.loads:
                    why = f"the {link.consumer.name} stages of other pipelines get a result"
                    link.remarks.fate.setdefault(key, (REMOVED, why))
        for producer in self.common.first:
            _Production(self, producer).produce()
        for consumer, graph in self.graphs.items():
            self.consume(graph, [link for link in self.links if link.consumer is consumer], old)

    def consume(self, graph: SharedGraph, links: list[Link], old: dict[Link, set[int]]) -> None:
        """Let a consumer read the new values, and tell its borders."""
        first, freed = links[0], self.freed & old[links[0]]
        if not freed:
            return
        local = {node: _as_here(graph, node) for node in self.made if node in graph.own}
        places = {local[node]: key for node, key in self.places.items() if node in local}
        move = Move(first, graph, list(local.values()), places, freed)
        move.consume()
        for link in links:
            move.link = link
            move.describe()
            for key in places.values():
                slot = first.inputs.slots[key]
                own = slot.type, self.ways[link].type(slot.type)
                spot = slot.lane, slot.group
                for side in algebra.redefine(link, key, own, slot.name, spot, slot.qualifiers):
                    side.relaxed = slot.relaxed

    # -- telling -----------------------------------------------------------------------------------

    def remark(self) -> None:
        """Who stands in the way of what a pair by itself would do."""
        frees = {link: self.alone(link) for link in self.links}
        for link, keys in frees.items():
            for key in keys:
                held = [a for a in self.common.readers[key] if key not in frees[a]]
                why = "other pipelines of the set compute another result from it"
                if held:
                    able = any(
                        key in frees[a] for a in self.links if a.consumer is held[0].consumer
                    )
                    stage = held[0].producer if able else held[0].consumer
                    what = "cannot compute the same result" if able else "uses it otherwise"
                    why = f"the {stage.name} stage of another pipeline {what}"
                    self.held.setdefault((key, stage), (link, what))
                link.remarks.notes.setdefault(key, f"not moved: {why}")

    def alone(self, link: Link) -> set[int]:
        """The inputs that a pair by itself would do without."""
        equal = {
            key for key in link.loads
            if key in self.common.sites and comes_back(link, key)
            and equal_on_primitive(link, key, divergence_of(link))
        }  # fmt: skip
        notes = dict(link.remarks.notes)
        graph = ConsumerGraph(link, self.ways[link], self.exact, equal)
        link.remarks.notes = notes
        if graph.hopeless or len(graph.nodes) > MAX_NODES:
            return set()
        _, crossing, freed = graph.choose(*self.expect)
        return freed if crossing else set()


def _as_here(graph: SharedGraph, node: ScalarNode) -> ScalarNode:
    """A node as one consumer has it."""
    inst, lane = graph.own[node]
    made = ScalarNode((inst, lane), node.qualifiers, node.flat, node.sites)
    made.places = [place for place in node.places if place[0] in graph.table]
    made.convergent, made.relaxed, made.deps = node.convergent, node.relaxed, node.deps
    return made


class _Production(Move):
    """The new values in one producer."""

    def __init__(self, seam: _Seam, producer: Stage) -> None:
        self.homes = seam.homes(producer)
        self.reading: dict[int, Link] = {}
        for link in seam.links:
            if link.producer is producer:
                for key in link.loads:
                    self.reading.setdefault(key, link)
        first = next(link for link in seam.links if link.producer is producer)
        made = [node for node in seam.made if node in self.homes]
        places = {node: key for node, key in seam.places.items() if node in self.homes}
        self.ways = seam.ways
        super().__init__(
            first, seam.graphs[first.consumer], made, places, seam.freed & self.reading.keys()
        )
        # not what this producer stores for nobody: that may be anything, and anywhere
        self.inputs = {
            k: node for k, node in self.inputs.items() if k in self.reading and node in self.homes
        }
        self.target = producer.module
        offset = seam.common.first[producer]
        self.sites = {store: offset + site for store, site in first.sites.items()}

    def maker(self, out: list[Inst], site: int) -> NodeMaker:
        known: dict[Lane, Inst] = {}
        homes: dict[Lane, tuple[_SetMaker, Lane]] = {}
        makers: dict[Transfer, _SetMaker] = {}
        for node, (graph, transfer, inst, lane) in self.homes.items():
            maker = makers.get(transfer)
            if maker is None:
                maker = makers[transfer] = _SetMaker(graph, out, site, transfer, known, homes)
            homes[node.inst, node.lane] = maker, (inst, lane)
        return next(iter(makers.values()))

    def stored(self, store: Inst, out: list[Inst]) -> Inst:
        link = self.reading[store.imm[0]]
        type = link.inputs.slots[store.imm[0]].type
        return algebra.typed(self.ways[link], out, store.args[0], type)


class _SetMaker(NodeMaker):
    """Makes what one consumer has. ``homes``: who makes a node; ``known``: what is made."""

    def __init__(
        self, graph: SharedGraph, out: list[Inst], site: int, transfer: Transfer,
        known: dict[Lane, Inst], homes: dict[Lane, tuple[_SetMaker, Lane]],
    ) -> None:  # fmt: skip
        super().__init__(graph, out, site, transfer)
        self.known = known
        self.homes = homes

    def lane(self, lane: Lane) -> Inst:
        found = self.known.get(lane)
        if found is not None:
            return found
        home = self.homes.get(lane)
        if home is None:
            return super().lane(lane)
        maker, local = home
        made = self.known[lane] = maker.make(local)
        return made
