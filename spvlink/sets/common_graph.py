"""What all fragment shaders of a seam make of their inputs, as one graph.

A value is one node wherever it is made: it has a name that two modules agree on, of operations,
constants, bytes of resources and inputs. So a cut through this graph (``backward``) is one for all
consumers, and something that stays in one of them stays for all.
"""

from __future__ import annotations

from spvlink.facts.floats import Floats
from spvlink.grammar import enums
from spvlink.ir.core import Inst
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.border.uniformity import divergence_of, equal_on_primitive
from spvlink.link.motion import algebra
from spvlink.link.motion.backward import comes_back
from spvlink.link.motion.consumer_graph import ConsumerGraph
from spvlink.link.motion.nodes import WIDTHS, Entry, Kind, ScalarNode, Use, replaceable
from spvlink.link.resources.blocks import Blocks, Cannot, ResourceAccess, held_by, shape
from spvlink.link.resources.transfer import Grant, Transfer, surely_there
from spvlink.link.rounding.exact import comes_exact

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Way = tuple[Link, Transfer]  # from a consumer into one of its producers

_STRIDE: Final = 1 << 20  # places of one producer where outputs are stored


class Common:
    """What the graphs of a seam have in common. ``ways``: of all its pairs, from the consumer into
    the producer. ``exact``: nothing that is interpolated moves. ``last``: stages behind which a
    pipeline has no other."""

    def __init__(self, ways: dict[Link, Transfer], exact: bool, last: set[Stage]) -> None:
        links = list(ways)
        self.ways = ways
        self.last = last
        self.nodes: list[ScalarNode] = []
        self.inputs: dict[int, ScalarNode] = {}
        self.numbered: dict[object, ScalarNode] = {}
        self.homeless: set[ScalarNode] = set()
        self.stuck: set[int] = set()  # keys that one of the consumers reads in a way that stays
        self.weights: dict[ScalarNode, int] = {}  # the least of those that make it
        producers = list(dict.fromkeys(link.producer for link in links))
        self.first = {stage: n * _STRIDE for n, stage in enumerate(producers)}
        floats = [(Floats.of(a.producer.module), Floats.of(a.consumer.module)) for a in links]
        self.exact = exact or any(
            consumer.preserved - producer.preserved for producer, consumer in floats
        )
        asked = frozenset[int]().union(*[f.preserved for pair in floats for f in pair])
        self.linear = not self.exact and not WIDTHS & asked
        self.widths = algebra.widths_of(links[0])
        for link in links[1:]:
            self.widths &= algebra.widths_of(link)
        self.readers: dict[int, list[Link]] = {}  # key -> those whose consumer reads it
        for link in links:
            for key in link.loads:
                self.readers.setdefault(key, []).append(link)
        self.sites: dict[int, frozenset[int]] = {}  # of all that may be replaced
        for key, reading in self.readers.items():
            if all(replaceable(link, key) for link in reading):
                self.sites[key] = frozenset([
                    self.first[link.producer] + link.sites[store]
                    for link in reading for store in link.stores[key]
                ])  # fmt: skip
        self.convergent = {key for key in self.sites if not exact and self._equal(key)}

    def _equal(self, key: int) -> bool:
        """Whether all vertices of a primitive agree, for every producer of an input."""
        return all(
            comes_back(link, key) and equal_on_primitive(link, key, divergence_of(link))
            for link in self.readers[key]
        )

    def there(self, access: ResourceAccess, consumer: Stage, producers: set[Stage]) -> bool:
        """Whether producers may read bytes of a resource in all of their pipelines, also where
        another consumer, or none, stands behind them: there it may be bound to less."""
        for link, transfer in self.ways.items():
            producer = link.producer
            alone = producer in self.last
            if producer not in producers or (link.consumer is consumer and not alone):
                continue
            stages = {producer: transfer.to_blocks}
            if not alone:
                stages[link.consumer] = transfer.from_blocks
            if access.key[0] != enums.StorageClass_PushConstant:
                found = surely_there(access, *stages.values())
            else:  # those that a stage uses and declares have a value
                found = any(
                    Grant(stage.visible).allows(access, holds(blocks, access)) is None
                    for stage, blocks in stages.items()
                )
            if not found:
                return False
        return True

    def producers(self, sites: frozenset[int]) -> set[Stage]:
        """Those that store something at one of these places."""
        found = {site // _STRIDE for site in sites}
        return {stage for stage, first in self.first.items() if first // _STRIDE in found}


def holds(blocks: Blocks, access: ResourceAccess) -> bool:
    """Whether a module's own block has these very bytes."""
    try:
        variable = blocks.variable(access.key)
        return variable is not None and blocks.find(held_by(variable), access) is not None
    except Cannot:
        return False


class SharedGraph(ConsumerGraph):
    """What one of the consumers adds to it. ``ways``: into each of its producers."""

    patient = True  # what stays in one consumer stays in all

    def __init__(self, ways: list[Way], common: Common) -> None:
        self.ways = ways
        self.common = common
        self.uniforms: dict[ScalarNode, list[Inst]] = {}  # as this module has them
        self.own: dict[ScalarNode, tuple[Inst, int]] = {}  # the first lane here that a node is
        self.found: dict[Inst, bool] = {}  # whether what they read is there in all pipelines
        before = {node: len(node.places) for node in common.nodes}
        link, transfer = ways[0]  # no star: mypyc puts what follows it first
        super().__init__(link, transfer, common.exact, common.convergent)
        for node in common.nodes:
            added = node.places[before.get(node, 0) :]
            if added:
                self.own[node] = added[0][0], added[0][1]
                common.weights[node] = min(node.weight, common.weights.get(node, node.weight))
            node.weight = 0

    def begin(self) -> None:
        common = self.common
        self.nodes, self.inputs, self.numbered = common.nodes, common.inputs, common.numbered
        self.homeless, self.widths = common.homeless, common.widths
        self.stuck = common.stuck
        self.exact, self.linear = common.exact, common.linear

    # -- what every producer has to be able to -----------------------------------------------------

    def sites_of(self, key: int) -> frozenset[int]:
        return self.common.sites[key]

    def kind_of(self, load: Inst) -> Kind | None:
        key = load.imm[0]
        if key not in self.common.sites:
            return None
        slot, node = self.link.inputs.slots[key], self.inputs.get(key)
        if node is not None:  # another consumer reads it in the same way
            assert node.inst.type is not None
            if node.qualifiers != slot.qualifiers or shape(node.inst.type) != shape(slot.type):
                return None
        return super().kind_of(load)

    def free(self, inst: Inst) -> bool:
        if inst in self.table or not all(transfer.moves(inst) for _, transfer in self.ways):
            return False
        if inst not in self.found:
            stages = {link.producer for link, _ in self.ways}
            self.found[inst] = all(
                self.common.there(access, self.link.consumer, stages)
                for access in self.transfer.accesses(inst)
            )
        return self.found[inst]

    def movable(self, inst: Inst) -> bool:
        if not super().movable(inst):
            return False
        try:
            for _, transfer in self.ways[1:]:
                transfer.able(inst)
        except Cannot:
            return False
        return True

    def exactly(self, key: int) -> bool:
        return all(comes_exact(link, key, "not moved: ") for link, _ in self.ways)

    # -- names that two modules agree on -----------------------------------------------------------

    def named(self, type: Inst | None) -> object:
        try:
            return shape(type) if type is not None else ""
        except Cannot:
            return id(type)

    def constant(self, inst: Inst) -> object:
        parts = tuple([self.constant(arg) for arg in inst.args])
        return inst.op, inst.imm, self.named(inst.type), parts

    def called(self, load: Inst) -> object:
        try:
            access = self.transfer.from_blocks.access(load)
        except Cannot:
            return id(load)
        words = tuple([tuple(w) for w in access.words])
        return access.key, tuple(access.element), access.offset, words, self.named(load.type)

    def node(
        self, inst: Inst, number: int, lanewise: bool, groups: list[list[Entry]]
    ) -> Entry:  # fmt: skip
        found = super().node(inst, number, lanewise, groups)
        if isinstance(found, Use):
            self.uniforms[found.node] = [
                u for g in groups for e in g if isinstance(e, tuple) for u in self.behind(e)
            ]
        return found
