"""All stages of a pipeline, each on what the one before it wrote."""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.verifier.paper.graph import Node, NotProvable
from spvlink.verifier.paper.places import PlaceLeaf
from spvlink.verifier.paper.stage import ProvedStage
from spvlink.verifier.paper.terms import Terms
from spvlink.verifier.verdict import Place

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# What a fragment shader reads of the provoking vertex, if the stage before writes it
_FLAT_BUILTINS: Final = frozenset(
    (enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex, enums.BuiltIn_PrimitiveId)
)
_DISTANCES: Final = frozenset((enums.BuiltIn_ClipDistance, enums.BuiltIn_CullDistance))
# All vertices of a primitive agree on these: no primitive has vertices of two instances.
_OF_THE_DRAW: Final = frozenset((
    enums.BuiltIn_InstanceIndex, enums.BuiltIn_InstanceId, enums.BuiltIn_BaseInstance,
    enums.BuiltIn_BaseVertex, enums.BuiltIn_DrawIndex, enums.BuiltIn_ViewIndex,
))  # fmt: skip
_SAMPLES: Final = frozenset((enums.BuiltIn_SampleId, enums.BuiltIn_SamplePosition))


class Stuck(Exception):
    """A stage cannot be walked."""

    def __init__(self, place: Place, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


class Pipeline:
    """The stages of one side, walked in order."""

    def __init__(self, terms: Terms, side: str) -> None:
        self.terms = terms
        self.side = side
        self.stages: list[ProvedStage] = []
        self.provoking = terms.graph.node("provoking", "o")

    def add(
        self, name: str, module: Module, specialized: dict[int, str | bytes], defaults: bool
    ) -> None:
        """Walks the next stage. Raises Stuck."""
        before = self.stages[-1] if self.stages else None
        stage = None
        try:
            supplies = _Supplies(self, name, before)
            stage = ProvedStage(
                name, module, self.terms, self.side, supplies.supply, specialized, defaults
            )
            supplies.stage = stage
            stage.walk()
        except NotProvable as why:
            at = "" if stage is None or stage.now is None else repr(stage.now)
            raise Stuck(Place(name, "", at), str(why)) from None
        self.stages.append(stage)


class _Supplies:
    """Gives a stage its inputs."""

    def __init__(self, pipeline: Pipeline, name: str, before: ProvedStage | None) -> None:
        self.pipeline = pipeline
        self.terms = pipeline.terms
        self.graph = pipeline.terms.graph
        self.name = name
        self.before = before
        self.stage: ProvedStage | None = None

    def supply(self, leaf: PlaceLeaf, vertex: Node | None) -> Node:
        if leaf.key[0] == "builtin":
            return self.builtin(leaf, vertex)
        if self.before is None:
            return self.graph.leaf("attribute", leaf.kind, *leaf.key)
        return self.varying(leaf, vertex)

    def crossing(self, leaf: PlaceLeaf) -> Node:
        """What the stage before wrote; undefined if it did not write it."""
        assert self.before is not None
        node = self.before.outputs.get(leaf.key)
        if node is None:
            return self.graph.undefined(leaf.kind)
        if node.kind != leaf.kind:
            raise NotProvable("an input of another type than the output")
        return node

    def varying(self, leaf: PlaceLeaf, vertex: Node | None) -> Node:
        node = self.crossing(leaf)
        if vertex is not None:
            return self.terms.at(vertex, node)
        if self.name != "frag":
            raise NotProvable("an input of this stage")
        if "flat" in leaf.qualifiers:
            return self.terms.at(self.pipeline.provoking, node)
        if leaf.kind[0] != "f":
            raise NotProvable("an integer that is interpolated")
        if "sample" in leaf.qualifiers and self.stage is not None:
            self.stage.sample_rate = True
        return self.interpolated(node, leaf.qualifiers)

    def interpolated(self, node: Node, qualifiers: tuple[str, ...]) -> Node:
        if node.op == "undef":
            return node
        made = self.graph.node("interp", node.kind, (node,), qualifiers)
        made.varying = True
        return made

    def builtin(self, leaf: PlaceLeaf, vertex: Node | None) -> Node:
        number = leaf.key[1]
        if self.before is not None and leaf.key in self.before.outputs:
            node = self.before.outputs[leaf.key]
            if vertex is not None:
                return self.terms.at(vertex, node)
            if self.name == "frag" and number in _FLAT_BUILTINS:
                return self.terms.at(self.pipeline.provoking, node)
            if self.name == "frag" and number in _DISTANCES:
                return self.interpolated(node, ("distance",))
        if vertex is not None or number in _DISTANCES:
            return self.graph.undefined(leaf.kind)
        if number in _SAMPLES and self.stage is not None:
            self.stage.sample_rate = True
        if number in _OF_THE_DRAW:
            return self.graph.node("builtin", leaf.kind, (), leaf.key[1:])
        return self.graph.leaf("builtin", leaf.kind, self.name, *leaf.key[1:])
