"""Stages that write for many vertices: control and mesh shaders, which name the vertex, and
geometry shaders, which emit one after the other.

What such a stage writes to a scalar of its interface is a column: the chain of all that is written
there, in order, with the vertex or as it is emitted. A reader sees the column. So two Locations
with one column hold the same, and a column is the same wherever it lies.
"""

from __future__ import annotations

from typing import Any

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.verifier.paper import places
from spvlink.verifier.paper.choices import choose, leaves_of
from spvlink.verifier.paper.graph import BOOL, CONST, ITE, MEMORY, UNDEF, Graph, Node, NotProvable
from spvlink.verifier.paper.pointers import TermPointer, part_of
from spvlink.verifier.paper.shapes import Value, mapped, parts
from spvlink.verifier.paper.splits import names_variable
from spvlink.verifier.paper.stage import ProvedStage, flat_leaves, part_of_leaves
from spvlink.verifier.paper.state import Edge
from spvlink.verifier.paper.terms import BEHIND, OWN, Terms

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    from spvlink.verifier.paper.places import Key

COLUMN: Final = "column"
_STREAMS: Final = 4
_MOST_LINKS: Final = 4096  # of a column that is looked at
_EMITS: Final = {ops.OpEmitVertex: "emit", ops.OpEmitStreamVertex: "emit",
                 ops.OpEndPrimitive: "cut", ops.OpEndStreamPrimitive: "cut"}  # fmt: skip

_WRITES: Final = frozenset(("emit", "vstore"))
_LINKS: Final = _WRITES | frozenset(("cut", "barrier", "unwritten"))
_MINE: Final = ("tesc", enums.BuiltIn_InvocationId, 0)
_NUMBER: Final = ("mesh", enums.BuiltIn_LocalInvocationIndex, 0)


class VertexStage(ProvedStage):
    """Any stage; knows columns."""

    def start(self) -> Edge:
        edge = super().start()
        if self.name == "geom":
            for stream in range(_STREAMS):
                edge.cells[COLUMN, ("emitted", stream)] = self.unwritten()
        return edge

    def begin_output(self, inst: Inst, type: Inst, cells: dict[object, Value]) -> None:
        if self.is_arrayed(inst, type, False):
            self.arrayed.add(inst)
            self.note_length("output", inst, type)
            self.leaves[inst] = places.leaves_of(self.shapes, inst, type.args[0])
            for leaf in flat_leaves(self.leaves[inst]):
                self.note_leaf(leaf)
                cells[COLUMN, leaf.key] = self.unwritten()
            return
        if self.name == "tesc" and not places.is_patch(self.shapes, inst, type):
            raise NotProvable("an output of a patch that is not Patch")
        self.leaves[inst] = places.leaves_of(self.shapes, inst, type)
        cells[inst, 0] = self.initial(inst, type)
        if self.name == "geom":
            for leaf in flat_leaves(self.leaves[inst]):
                self.note_leaf(leaf)
                cells[COLUMN, leaf.key] = self.unwritten()
        elif self.name == "tesc":
            cells[inst, 0] = mapped(cells[inst, 0], self.not_written)

    def note_leaf(self, leaf: places.PlaceLeaf) -> None:
        if leaf.key in self.written:
            raise NotProvable("two outputs in one place")
        self.written[leaf.key] = leaf

    def unwritten(self) -> Node:
        return self.graph.node("unwritten", MEMORY)

    def not_written(self, node: Node) -> Node:
        """What a patch output holds before anybody writes it: not what a path that does not write
        makes undefined, since another invocation may write."""
        return self.graph.node("unwritten", node.kind) if node.op == "undef" else node

    def variable(self, inst: Inst) -> Value:
        if inst in self.arrayed and inst.imm[0] == enums.StorageClass_Output:
            return TermPointer(("out", inst), (), self.pointee(inst))
        return super().variable(inst)

    # -- outputs with a vertex ---------------------------------------------------------------------

    def load(self, pointer: Value) -> Value:
        if isinstance(pointer, TermPointer) and _is_out(pointer):
            return self.read_back(pointer.root[1], pointer.path)  # type: ignore[index]
        value = super().load(pointer)
        if self.name == "tesc" and isinstance(pointer, TermPointer):
            return _each(value, self.settled)
        return value

    def settled(self, node: Node) -> Node:
        settled = settled_value(self.graph, node) if node.op == BEHIND else None
        return settled or node

    def vertices(self) -> int:
        """Of an output patch."""
        for mode in self.modes():
            if mode[0] == enums.ExecutionMode_OutputVertices:
                return int(str(mode[1]))
        return 1

    def read_back(self, variable: Inst, path: tuple[Node, ...]) -> Value:
        if not path:
            raise NotProvable("outputs of all vertices at once")
        tree = part_of_leaves(self.leaves[variable], path[1:])
        if tree is None:
            return part_of(self.terms, self._read(self.leaves[variable], path[0]), path[1:])
        return self._read(tree, path[0])

    def _read(self, tree: Any, vertex: Node) -> Value:
        """What a column has for a vertex, on each path that wrote to it."""
        if isinstance(tree, tuple):
            return tuple([self._read(part, vertex) for part in tree])
        column = self.cells[COLUMN, tree.key]
        leaves = leaves_of(column) or [column]
        ends = {leaf: self._read_one(leaf, tree.kind, vertex) for leaf in leaves}
        return choose(self.graph, column, ends) if column not in ends else ends[column]

    def _read_one(self, column: Node, kind: str, vertex: Node) -> Node:
        value = at_vertex(self.terms, column.args[0], vertex) if column.op == "barrier" else None
        return value or self.terms.read_back(column, vertex, kind)

    def store(self, pointer: Value, value: Value) -> Value:
        if not isinstance(pointer, TermPointer) or not _is_out(pointer):
            return super().store(pointer, value)
        variable, path = pointer.root[1], pointer.path  # type: ignore[index]
        if not path:
            for at, part in enumerate(value):
                vertex = self.graph.const("i32", at)
                self.store(TermPointer(pointer.root, (vertex,), pointer.type.args[0]), part)
            return None
        tree = part_of_leaves(self.leaves[variable], path[1:])
        if tree is None:
            raise NotProvable("a dynamic index into an output")
        for leaf, node in zip(flat_leaves(tree), parts(value)):
            cell = COLUMN, leaf.key
            below = self.cells[cell]
            if below.op == "vstore" and below.args[1] is path[0] and not path[0].undef:
                below = below.args[0]  # nobody else can have seen it
            self.cells[cell] = self.graph.node("vstore", MEMORY, (below, path[0], node))
        return None

    # -- effects -----------------------------------------------------------------------------------

    def effect(self, inst: Inst) -> Value:
        if inst.op in _EMITS:
            stream = self.node(inst.args[0]).bits if inst.args else 0
            self.emit(_EMITS[inst.op], stream)
            return None
        if inst.op == ops.OpControlBarrier and self.name == "tesc":
            self.barrier()
            return None
        if inst.op == ops.OpSetMeshOutputsEXT:
            args = tuple([self.node(a) for a in inst.args])
            self.happen("mesh outputs", args, ())
            return None
        return super().effect(inst)

    def emit(self, name: str, stream: int) -> None:
        """Every output of the stream is written to its column, and undefined from then on."""
        for cell in list(self.cells):
            if isinstance(cell, tuple) and cell[0] == COLUMN and cell[1] == ("emitted", stream):
                self.cells[cell] = self.graph.node(name, MEMORY, (self.cells[cell],))
        for variable, tree in self.leaves.items():
            if variable.imm[0] != enums.StorageClass_Output:
                continue
            values = parts(self.cells[variable, 0])
            leaves = flat_leaves(tree)
            if any(leaf.stream != stream for leaf in leaves):
                if any(leaf.stream == stream for leaf in leaves):
                    raise NotProvable("a block for two streams")
                continue
            for leaf, node in zip(leaves, values):
                cell = COLUMN, leaf.key
                args = (self.cells[cell], node) if name == "emit" else (self.cells[cell],)
                self.cells[cell] = self.graph.node(name, MEMORY, args)
            if name == "emit":
                nothing = self.shapes.undefined(self.graph, self.pointee(variable))
                self.cells[variable, 0] = nothing

    def barrier(self) -> None:
        """Behind it others have written: columns and what is of the whole patch. What nobody has
        written stays so."""

        def behind(node: Node) -> Node:
            if node.op == "unwritten":
                return node
            one = of_one(self.terms, node, self.vertices())
            return self.graph.node(BEHIND, node.kind, (one or node,))

        for cell, value in list(self.cells.items()):
            if isinstance(cell, tuple) and cell[0] == COLUMN:
                if value.op != "unwritten":
                    self.cells[cell] = self.graph.node("barrier", MEMORY, (value,))
        for variable in self.leaves:
            if variable.imm[0] == enums.StorageClass_Output and variable not in self.arrayed:
                self.cells[variable, 0] = mapped(self.cells[variable, 0], behind)

    # -- the end -----------------------------------------------------------------------------------

    def finish(self, cells: dict[object, Value], live: Node) -> None:
        columns: dict[Key, Node] = {}
        for cell, value in cells.items():
            if isinstance(cell, tuple) and cell[0] == COLUMN:
                key: Key = cell[1]
                columns[key] = self.graph.restrict(value, live)
        for key, node in columns.items():
            leaf = self.written.get(key)
            if leaf is None:
                self.seen[key] = node  # how many vertices are emitted, and where primitives end
                continue
            self.outputs[key] = node
            self.capture(leaf, node)
        for variable, tree in self.leaves.items():
            is_output = variable.imm[0] == enums.StorageClass_Output
            if is_output and variable not in self.arrayed and self.name != "geom":
                self.collect(tree, cells[variable, 0], live)


def _is_out(pointer: TermPointer) -> bool:
    return isinstance(pointer.root, tuple) and pointer.root[0] == "out"


def _each(value: Value, change: Callable[[Node], Node]) -> Value:
    """A value with each scalar changed; pointers stay."""
    if isinstance(value, tuple):
        return tuple([_each(part, change) for part in value])
    return change(value) if isinstance(value, Node) else value


def is_complete(column: Node, stage: str) -> bool:
    """Whether every vertex that a reader can see was written. A geometry shader writes all outputs
    of a stream with each vertex that it emits; of a control shader each invocation has a vertex."""
    if stage == "geom":
        return True
    while column.op == "barrier":
        column = column.args[0]
    return stage == "tesc" and column.op == "vstore" and column.args[1].imm == _MINE


def in_same_places(column: Node, other: Node) -> bool:
    """Whether two columns are written at the same vertices, or primitives, on the same paths."""
    for _ in range(_MOST_LINKS):
        if column.op != other.op:
            return False
        if column.op == ITE:
            if column.args[0] is not other.args[0]:
                return False
            if not in_same_places(column.args[1], other.args[1]):
                return False
            column, other = column.args[2], other.args[2]
        elif column.op == "vstore":
            if column.args[1] is not other.args[1]:
                return False
            column, other = column.args[0], other.args[0]
        else:
            return column.op == "unwritten"
    return False


def own_value(graph: Graph, column: Node) -> Node | None:
    """What each invocation of a control shader wrote last to its own vertex: undefined where it
    wrote nothing."""
    while column.op == "barrier":
        column = column.args[0]
    leaves = leaves_of(column)
    if leaves is None or not any(leaf.op == "vstore" for leaf in leaves):
        return None
    kind = next(leaf.args[2].kind for leaf in leaves if leaf.op == "vstore")
    ends: dict[Node, Node] = {}
    for leaf in leaves:
        if leaf.op == "vstore" and leaf.args[1].imm == _MINE:
            ends[leaf] = leaf.args[2]
        elif leaf.op == "unwritten":
            ends[leaf] = graph.undefined(kind)
        else:
            return None
    return choose(graph, column, ends)


def settled_value(graph: Graph, node: Node) -> Node | None:
    """What a value of the patch is behind a barrier, or at the end, if all invocations wrote the
    same, or nothing."""
    while node.op == BEHIND:
        node = node.args[0]
    leaves = leaves_of(node)
    if node.varying or leaves is None:
        return None
    ends: dict[Node, Node] = {}
    for leaf in leaves:
        if leaf.op == BEHIND:
            return None
        ends[leaf] = graph.undefined(leaf.kind) if leaf.op == "unwritten" else leaf
    return choose(graph, node, ends)


def written_values(node: Node) -> list[Node]:
    """All that invocations write to one value of the patch, before and behind barriers; empty if
    that is not known."""
    written: list[Node] = []
    todo = [node]
    while todo:
        node = todo.pop()
        leaves = [node.args[0]] if node.op == BEHIND else leaves_of(node)
        if leaves is None:
            return []
        for leaf in leaves:
            if leaf.op in (BEHIND, ITE):
                todo.append(leaf)
            elif leaf.op != "unwritten" and leaf not in written:
                written.append(leaf)
    return written


def where_written(graph: Graph, node: Node) -> Node | None:
    """What an invocation that writes a value of the patch writes, before any barrier."""
    leaves = leaves_of(node)
    if leaves is None or any(leaf.op == BEHIND for leaf in leaves):
        return None
    writes = choose(graph, node, {n: graph.const(BOOL, n.op != "unwritten") for n in leaves})
    return None if writes is graph.false else graph.restrict(node, writes)


def at_vertex(terms: Terms, column: Node, vertex: Node) -> Node | None:
    """What a column of a control shader has for a vertex, as what its own invocation computed."""
    value = own_value(terms.graph, column)
    mine = terms.graph.leaf("builtin", "i32", *_MINE)
    if value is None or not depends_on_index_alone(value, mine):
        return None
    return terms.substituted(value, {mine: vertex}, lambda node: not node.varying)


def by_number(terms: Terms, column: Node) -> Node | None:
    """The value of a primitive of a mesh shader, made of its number: each invocation wrote to the
    primitive that has the number of the invocation, and by that number alone."""
    written = [leaf for leaf in leaves_of(column) or [] if leaf.op != "unwritten"]
    if len(written) != 1 or written[0].op != "vstore" or written[0].args[0].op != "unwritten":
        return None
    _, index, value = written[0].args
    mine = terms.graph.leaf("builtin", "i32", *_NUMBER)
    if index is not mine or value.undef or not depends_on_index_alone(value, mine):
        return None
    number = terms.graph.leaf("number of the primitive", "i32")
    return terms.substituted(value, {mine: number}, lambda node: not node.varying)


def of_one(terms: Terms, node: Node, vertices: int) -> Node | None:
    """The value of a patch if just one invocation writes it, and always does; the control shader
    has as many as ``vertices``."""
    graph = terms.graph
    while node.op == BEHIND:
        node = node.args[0]
    if node.op != ITE:
        return None
    mine = graph.leaf("builtin", "i32", *_MINE)
    for at in range(vertices):
        one = terms.equals(mine, at)
        if graph.restrict(node, graph.negate(one)).op != "unwritten":
            continue
        value = graph.restrict(node, one)
        if "unwritten" in [n.op for n in leaves_of(value) or [graph.node("unwritten", "o")]]:
            continue
        if depends_on_index_alone(value, mine):
            known = {mine: graph.const("i32", at)}
            return terms.substituted(value, known, lambda node: not node.varying)
    return None


def of_floats(graph: Graph, column: Node) -> tuple[Node, str]:
    """A column with the floats whose bits are all that is written to it, and their kind; empty if
    anything else is written."""
    chain = below_memory(column)
    values = [node.args[-1] for node in chain if node.op in _WRITES]
    kinds = {value.args[0].kind for value in values if value.op == "bits"}
    if len(kinds) != 1 or any(value.op not in ("bits", CONST, UNDEF) for value in values):
        return column, ""
    (kind,) = kinds

    def as_float(value: Node) -> Node:
        if value.op == "bits":
            return value.args[0]
        return graph.undefined(kind) if value.op == UNDEF else graph.const(kind, value.bits)

    made = with_values(graph, column, as_float)
    return (column, "") if made is None else (made, kind)


def with_values(graph: Graph, column: Node, change: Callable[[Node], Node]) -> Node | None:
    """A column with other values written; None for one that a loop writes."""
    known: dict[Node, Node] = {}
    for node in below_memory(column):
        args = [known.get(arg, arg) for arg in node.args]
        if node.op == ITE:
            known[node] = graph.ite(args[0], args[1], args[2])
        elif node.op in _LINKS:
            if node.op in _WRITES:
                args[-1] = change(args[-1])
            known[node] = graph.node(node.op, MEMORY, tuple(args), node.imm)
        else:
            return None
    return known[column]


def below_memory(column: Node) -> list[Node]:
    """The links of a column, from below."""
    seen: set[Node] = {column}
    todo = [column]
    while todo:
        for arg in todo.pop().args:
            if arg.kind == MEMORY and arg not in seen:
                seen.add(arg)
                todo.append(arg)
    return sorted(seen, key=lambda node: node.id)


def only_value(column: Node, inside: bool) -> Node | None:
    """The value that all vertices are written with, if it is one that is no variable of a loop.
    ``inside``: one invocation writes all vertices of a primitive, so the value may differ from one
    invocation to the next."""
    bases: set[Node] = set()
    seen: set[Node] = set()
    todo = [column]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op in ("emit", "vstore"):
            bases.add(node.args[-1])
        if len(bases) > 1 or len(seen) > _MOST_LINKS:
            return None
        todo += [arg for arg in node.args if arg.kind == MEMORY]
    if len(bases) != 1:
        return None
    (value,) = bases
    if value.undef or (value.varying and not inside) or names_variable(value):
        return None
    return value


def depends_on_index_alone(value: Node, mine: Node) -> bool:
    """Whether invocations of a control shader differ in a value only by their own index, ``mine``,
    and what they read of the stage before."""
    seen: set[Node] = set()
    todo = [value]
    while todo:
        node = todo.pop()
        if node in seen or not node.varying or node is mine:
            continue
        seen.add(node)
        if node.op == "at":  # what another stage has for a vertex; that is named
            todo.append(node.args[0])
        elif (
            node.op in OWN
            or not (node.args or node.op == "var")
            or any(a.kind == MEMORY for a in node.args)
        ):
            return False
        else:
            todo += node.args
    return True
