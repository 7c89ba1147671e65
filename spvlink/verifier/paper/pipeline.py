"""All stages of a pipeline, each on what the one before it wrote."""

from __future__ import annotations

from spvlink.grammar import enums, info
from spvlink.ir.core import Module
from spvlink.verifier.known import KnownState
from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper.graph import MEMORY, UNDEF, Node, NotProvable
from spvlink.verifier.paper.payloads import PAYLOAD, PayloadStage
from spvlink.verifier.paper.places import PATCH_BUILTINS, PlaceLeaf
from spvlink.verifier.paper.terms import OF_PRIMITIVE, Terms, is_interpolated_alike
from spvlink.verifier.paper.vertices import (
    at_vertex,
    by_number,
    in_same_places,
    is_complete,
    of_floats,
    of_one,
    only_value,
    settled_value,
    where_written,
    written_values,
)
from spvlink.verifier.verdict import Place

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

# What a fragment shader reads of the provoking vertex, if the stage before writes it
_FLAT_BUILTINS: Final = frozenset(
    (enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex, enums.BuiltIn_PrimitiveId)
)
_OF_THE_VIEW: Final = frozenset((enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex))
_DISTANCES: Final = frozenset((enums.BuiltIn_ClipDistance, enums.BuiltIn_CullDistance))
# What a mesh shader makes a primitive of
INDICES: Final = (
    enums.BuiltIn_PrimitivePointIndicesEXT, enums.BuiltIn_PrimitiveLineIndicesEXT,
    enums.BuiltIn_PrimitiveTriangleIndicesEXT,
)  # fmt: skip
# All vertices of a primitive agree on these: no primitive has vertices of two instances.
_OF_THE_DRAW: Final = frozenset((
    enums.BuiltIn_InstanceIndex, enums.BuiltIn_InstanceId, enums.BuiltIn_BaseInstance,
    enums.BuiltIn_BaseVertex, enums.BuiltIn_DrawIndex, enums.BuiltIn_ViewIndex,
))  # fmt: skip
# All invocations of a patch agree on these.
_OF_THE_PATCH: Final = frozenset(
    (stage, number)
    for stage in ("tesc", "tese")
    for number in (enums.BuiltIn_PrimitiveId, enums.BuiltIn_PatchVertices)
)
# All invocations of a workgroup agree on these, and so do the primitives that it makes.
_OF_THE_GROUP: Final = frozenset(
    (stage, number)
    for stage in ("task", "mesh")
    for number in (enums.BuiltIn_WorkgroupId, enums.BuiltIn_NumWorkgroups)
)


class Stuck(Exception):
    """A stage cannot be walked."""

    def __init__(self, place: Place, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


class Pipeline:
    """The stages of one side, walked in order."""

    def __init__(self, terms: Terms, side: str, known: KnownState) -> None:
        self.terms = terms
        self.known = known
        # what is read of the original, and what it may be taken for
        self.partial: dict[Node, Node] = {}
        self.side = side
        self.stages: list[PayloadStage] = []
        self.provoking = terms.graph.node("provoking", "o")

    def add(
        self, name: str, module: Module, specialized: dict[int, str | bytes], defaults: bool
    ) -> None:
        """Walks the next stage. Raises Stuck."""
        before = self.stages[-1] if self.stages else None
        stage = None
        try:
            supplies = _Supplies(self, name, before)
            stage = PayloadStage(
                name, module, self.terms, self.side, supplies.supply, specialized, defaults
            )
            supplies.stage = stage
            stage.walk()
        except NotProvable as why:
            at = "" if stage is None or stage.now is None else repr(stage.now)
            raise Stuck(Place(name, "", at), str(why)) from None
        self.stages.append(stage)

    def rasterized(self) -> str:
        """What the rasterizer gets of the stages that are walked; empty: unknown."""
        stages = [stage for stage in self.stages if stage.name != "frag"]
        return self.known.rasterized(
            [(stage.name, {int(str(mode[0])) for mode in stage.modes()}) for stage in stages]
        )


def columns_of(stage: PayloadStage, numbers: Sequence[int]) -> list[Node]:
    """The columns of built-ins, of those that a stage writes."""
    keys = [("builtin", number, 0) for number in numbers]
    return [stage.outputs[key] for key in keys if key in stage.outputs]


class _Supplies:
    """Gives a stage its inputs."""

    def __init__(self, pipeline: Pipeline, name: str, before: PayloadStage | None) -> None:
        self.pipeline = pipeline
        self.terms = pipeline.terms
        self.graph = pipeline.terms.graph
        self.known = pipeline.known
        self.name = name
        self.before = before
        self.stage: PayloadStage | None = None

    @property
    def tap(self) -> tuple[str, tuple[Node, ...]] | None:
        return None if self.stage is None else self.stage.tap

    def supply(self, leaf: PlaceLeaf, vertex: Node | None) -> Node:
        if leaf.key[0] == "builtin":
            return self.builtin(leaf, vertex)
        if leaf.key[0] == PAYLOAD:
            return self.of_payload(leaf)
        if self.before is None:
            return self.attribute(leaf)
        return self.varying(leaf, vertex)

    def attribute(self, leaf: PlaceLeaf) -> Node:
        """An input of the first stage. Of a vertex attribute the format may be known."""
        node = self.graph.leaf("attribute", leaf.kind, *leaf.key)
        if self.name != "vert" or fold.width(leaf.kind) > 32:
            return node
        _, location, component = leaf.key
        missing = self.known.missing(location, component)
        if missing is not None:
            one = fold.bits_of(leaf.kind, 1.0) if fold.is_float(leaf.kind) else 1
            return self.graph.const(leaf.kind, (one or 0) * missing)
        mask = self.known.mask_of(location, component)
        if not mask or fold.is_float(leaf.kind):
            return node
        return self.terms.op("BitwiseAnd", leaf.kind, [node, self.graph.const(leaf.kind, mask)])

    def of_payload(self, leaf: PlaceLeaf) -> Node:
        """A scalar of the payload: one for all that the mesh shaders of a workgroup make."""
        before, stage = self.before, self.stage
        if before is None or stage is None or before.shape != stage.shape:
            raise NotProvable("a payload that no stage before writes in this form")
        node = self.crossing(leaf)
        if node.op == UNDEF:
            return node
        settled = settled_value(self.graph, node)
        return self.whole("payload value", node) if settled is None else settled

    def crossing(self, leaf: PlaceLeaf) -> Node:
        """What the stage before wrote; undefined if it did not write it. Of a stage with columns
        it is the column, or the one value that is written to all of it."""
        assert self.before is not None
        node = self.before.outputs.get(leaf.key)
        if node is None or node.op == "unwritten":
            return self.graph.undefined(leaf.kind)
        made = self.before.written.get(leaf.key)
        if made is None or made.kind != leaf.kind:
            raise NotProvable("an input of another type than the output")
        if node.kind == MEMORY and (is_complete(node, self.before.name) or self.covers(leaf, node)):
            return self.only_value(node) or node
        return node

    def covers(self, leaf: PlaceLeaf, column: Node) -> bool:
        """Whether a mesh shader writes a column wherever it writes the indices of a primitive, or
        the position of a vertex: nothing is drawn with other ones."""
        assert self.before is not None
        if self.before.name != "mesh":
            return False
        of_primitive = leaf.key[0] == "prim" or leaf.key[1] in _FLAT_BUILTINS
        numbers = INDICES if of_primitive else (enums.BuiltIn_Position,)
        return any(in_same_places(column, other) for other in columns_of(self.before, numbers))

    def only_value(self, column: Node) -> Node | None:
        assert self.before is not None
        return only_value(column, self.before.name == "geom")

    def read(self, made: Node, column: Node, qualifiers: tuple[str, ...] | None = None) -> Node:
        """What is read of a column. In the original it may be taken as the one value that is ever
        written there: where nothing is written it is undefined."""
        made.varying = True
        if self.pipeline.side == "original":
            value = self.only_value(column)
            if value is not None:
                if qualifiers is not None:
                    value = self.interpolated(value, qualifiers, made.kind)
                self.pipeline.partial[made] = value
        return made

    def varying(self, leaf: PlaceLeaf, vertex: Node | None) -> Node:
        node = self.crossing(leaf)
        if node.op == UNDEF:
            return node
        if node.kind == MEMORY and not fold.is_float(leaf.kind):
            plain, kind = of_floats(self.graph, node)
            if kind:  # floats that cross as their bits
                return self.terms.op("bits", leaf.kind, [self.reading(plain, leaf, kind, vertex)])
        return self.reading(node, leaf, leaf.kind, vertex)

    def reading(self, node: Node, leaf: PlaceLeaf, kind: str, vertex: Node | None) -> Node:
        """What is read of an output, ``node``. ``kind``: of the scalar."""
        if vertex is not None:
            return self.of_vertex(node, vertex, kind)
        if self.name == "tese":
            return self.of_patch(node)
        if self.name != "frag":
            raise NotProvable("an input of this stage")
        if leaf.key[0] == "prim":
            return self.of_primitive(node, leaf, kind)
        if "flat" in leaf.qualifiers:
            return self.flat(node, kind)  # wherever it is interpolated (GLSL 4.60, 8.13.2)
        if kind[0] != "f":
            raise NotProvable("an integer that is interpolated")
        return self.interpolated(node, leaf.qualifiers, kind)

    def of_primitive(self, node: Node, leaf: PlaceLeaf, kind: str) -> Node:
        if node.kind != MEMORY:
            return node
        value = by_number(self.terms, node) if self.covers(leaf, node) else None
        if value is not None:
            return value
        return self.read(self.graph.node(OF_PRIMITIVE, kind, (node,)), node)

    def flat(self, node: Node, kind: str) -> Node:
        """The value of the provoking vertex."""
        if node.kind == MEMORY:
            made = self.graph.node("at", kind, (self.pipeline.provoking, node))
            return self.read(made, node)
        if self.before is not None and self.before.name in ("geom", "mesh"):
            return node  # one invocation, or all of them, wrote it to every vertex
        return self.terms.at(self.pipeline.provoking, node)

    def of_vertex(self, node: Node, vertex: Node, kind: str) -> Node:
        """The value of a vertex of the primitive or patch."""
        assert self.before is not None
        if node.kind != MEMORY:
            if self.before.name in ("tesc", "geom", "mesh"):
                return node  # all vertices have it
            return self.terms.at(vertex, node)
        if self.before.name == "tesc":
            stored = at_vertex(self.terms, node, vertex)
            if stored is not None:
                return stored
        made = self.read(self.graph.node("column", kind, (node, vertex)), node)
        if self.name == "tese":  # the patch is one for all of its vertices
            made.varying = vertex.varying
        return made

    def of_patch(self, node: Node) -> Node:
        """The value of a whole patch: some invocation wrote it, and all vertices agree on it."""
        assert self.before is not None
        one = of_one(self.terms, node, self.before.vertices())
        if one is not None:
            return one
        settled = settled_value(self.graph, node)
        if settled is not None:
            return settled
        return self.whole("patch", node)

    def whole(self, name: str, node: Node) -> Node:
        """What all invocations together wrote. In the original it may be taken as the one value
        that any of them writes, if they agree on it."""
        written = written_values(node)
        one = written[0] if len(written) == 1 else where_written(self.graph, node)
        made = self.graph.node(name, node.kind, (node,))
        made.varying = False
        if one is not None and not one.varying and self.pipeline.side == "original":
            self.pipeline.partial[made] = one
        return made

    def interpolated(self, node: Node, qualifiers: tuple[str, ...], kind: str) -> Node:
        if is_interpolated_alike(node):
            return node
        word, where = self.tap or ("", ())
        if self.known.one_sample:  # it is at the centre
            qualifiers = tuple([q for q in qualifiers if q not in ("centroid", "sample")])
            if word in ("InterpolateAtCentroid", "InterpolateAtSample"):
                word, where = "", ()
        if word == "InterpolateAtCentroid":  # as an input that is decorated so
            imm = (*[q for q in qualifiers if q not in ("centroid", "sample")], "centroid")
        else:
            imm = (*qualifiers, word) if word else qualifiers
        if node.kind == MEMORY:
            made = self.graph.node("interp", kind, (node, *where), imm)
            return self.read(made, node, qualifiers)
        return self.terms.interpolated(node, where, imm)

    def builtin(self, leaf: PlaceLeaf, vertex: Node | None) -> Node:
        number = leaf.key[1]
        if self.before is not None and leaf.key in self.before.outputs:
            node = self.crossing(leaf)
            of_mesh = self.before.name == "mesh"  # they are of primitives
            if node.op == UNDEF:
                return node
            if vertex is not None:
                return self.of_vertex(node, vertex, leaf.kind)
            if self.name == "tese" and number in PATCH_BUILTINS:
                return self.of_patch(node)
            if self.name == "frag" and number in _FLAT_BUILTINS:
                kind = leaf.kind
                return self.of_primitive(node, leaf, kind) if of_mesh else self.flat(node, kind)
            if self.name == "frag" and number in _DISTANCES:
                return self.interpolated(node, ("distance",), leaf.kind)
        if vertex is not None or number in _DISTANCES:
            return self.graph.undefined(leaf.kind)
        given = self.given(number)
        if given is not None:
            return self.graph.const(leaf.kind, given)
        if number in info.SAMPLE_RATE_BUILTINS and self.stage is not None:
            self.stage.per_sample = True
        if number in _OF_THE_DRAW:
            return self.graph.node("builtin", leaf.kind, (), leaf.key[1:])
        if (self.name, number) in _OF_THE_PATCH or (self.name, number) in _OF_THE_GROUP:
            return self.graph.node("builtin", leaf.kind, (), (self.name, *leaf.key[1:]))
        return self.graph.leaf("builtin", leaf.kind, self.name, *leaf.key[1:])

    def given(self, number: int) -> int | None:
        """The value of a built-in that the state, or the stage before, says."""
        known, before = self.known, self.before
        if number == enums.BuiltIn_ViewIndex:
            return known.view()
        if number == enums.BuiltIn_PatchVertices:
            is_behind = before is not None and before.name == "tesc"
            return before.vertices() if before is not None and is_behind else known.patch_points
        if self.name != "frag":
            return None
        if number in _OF_THE_VIEW and before is not None and known.view_mask == 0:
            return 0  # no stage writes it, and no view chooses it
        if number == enums.BuiltIn_FrontFacing:
            return known.facing(self.pipeline.rasterized())
        return 0 if number == enums.BuiltIn_SampleId and known.one_sample else None
