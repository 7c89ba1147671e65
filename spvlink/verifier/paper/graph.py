"""The graph of values: scalars, hash-consed, so that equal nodes are one object.

A boolean is a decision diagram over atoms (comparisons, inputs ...), a value that depends on
branches one with values at its leaves (``ite``); the atoms stand in the order in which they were
made, which is one order for both pipelines, since they share the graph. So two nests of branches
and selects that choose alike are one node, however they are written. This needs no axiom: a
diagram is the function of its atoms, and atoms are taken as independent of each other.

``undef`` marks nodes that depend on an undefined value. ``loops`` has a bit for each loop whose
variables a node names and that is not closed yet (``loops.py``).
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

BOOL: Final = "b"
MEMORY: Final = "mem"
CONST: Final = "const"
UNDEF: Final = "undef"
ITE: Final = "ite"
CHOICE: Final = "choice"  # what one instruction takes an undefined value for
# They may be undefined without a part that is: beyond an end, or where nothing is written.
_LOOSE: Final = frozenset((UNDEF, "pick", "element", "patch", "payload value", "behind barrier"))


class NotProvable(Exception):
    """What the prover does not know, or has no room or time for."""


class Node:
    """A scalar value. ``kind``: "f32", "i32" (with or without sign), "b", "mem", "o" ..."""

    __slots__ = (
        "args", "height", "id", "imm", "kind", "loops", "loose", "op", "possible", "undef",
        "varying",
    )  # fmt: skip

    def __init__(
        self, id: int, op: str, kind: str, args: tuple[Node, ...], imm: tuple[object, ...]
    ) -> None:
        self.id = id
        self.op = op
        self.kind = kind
        self.args = args
        self.imm = imm
        self.undef = op == UNDEF
        # whether another value may stand for it, since it may be undefined
        self.loose = op in _LOOSE
        self.loops = 0
        self.height = 0  # of loops inside each other
        self.possible: int | None = None  # bits of an integer that may be set, once asked for
        self.varying = False  # whether it may differ from one invocation to the next
        for arg in args:
            self.undef = self.undef or arg.undef
            self.loose = self.loose or arg.loose or (arg.kind == MEMORY and kind != MEMORY)
            self.loops |= arg.loops
            self.varying = self.varying or arg.varying
            if arg.height > self.height:
                self.height = arg.height

    @property
    def bits(self) -> int:
        """Of a constant."""
        bits = self.imm[0]
        assert isinstance(bits, int)
        return bits

    def __repr__(self) -> str:
        return text(self, 4)


def text(node: Node, depth: int) -> str:
    """A node for people, down to a depth."""
    if node.op == CONST:
        return f"{node.bits:#x}"
    head = node.op + (str(list(node.imm)) if node.imm else "")
    if not node.args:
        return head
    if not depth:
        return f"{head}(...)"
    return f"{head}({', '.join([text(a, depth - 1) for a in node.args])})"


class Graph:
    """All nodes of one proof."""

    def __init__(self, most: int, seconds: float) -> None:
        self.table: dict[tuple[object, ...], Node] = {}
        self.most = most
        self.deadline = time.perf_counter() + seconds
        self.true = self.node(CONST, BOOL, (), (1,))
        self.false = self.node(CONST, BOOL, (), (0,))
        self.chosen: dict[tuple[int, int, int], Node] = {}
        self.limited: dict[tuple[int, int], Node] = {}
        # conditions of which one holds at most, in the order in which they were made
        self.families: dict[object, list[Node]] = {}
        self.apart: dict[Node, list[Node]] = {}

    def node(
        self, op: str, kind: str, args: tuple[Node, ...] = (), imm: tuple[object, ...] = ()
    ) -> Node:
        """The node as it is said, not simplified."""
        key = (op, kind, args, imm)
        node = self.table.get(key)
        if node is None:
            count = len(self.table)
            if count > self.most:
                raise NotProvable("the graph has too many nodes")
            if not count & 255 and time.perf_counter() > self.deadline:
                raise NotProvable("it takes too long")
            node = self.table[key] = Node(count, op, kind, args, imm)
        return node

    def const(self, kind: str, bits: int) -> Node:
        return self.node(CONST, kind, (), (bits,))

    def undefined(self, kind: str) -> Node:
        return self.node(UNDEF, kind)

    def leaf(self, op: str, kind: str, *imm: object) -> Node:
        """An input that differs between invocations."""
        node = self.node(op, kind, (), imm)
        node.varying = True
        return node

    # -- decision diagrams -------------------------------------------------------------------------

    def decide(self, atom: Node, high: Node, low: Node) -> Node:
        """A node of a diagram whose atom stands before those of both branches."""
        if high is low:
            return high
        if high is self.true and low is self.false:
            return atom
        others = self.apart.get(atom)
        if others is not None and others[-1].id > atom.id:
            high, known = self.alone(atom, others, high, low)
            if known is not None:
                return known
        if high.op == low.op == "vstore" and high.args[:2] == low.args[:2]:  # in one place
            value = self.ite(atom, high.args[2], low.args[2])
            return self.node("vstore", MEMORY, (*high.args[:2], value))
        return self.node(ITE, high.kind, (atom, high, low))

    def excludes(self, atom: Node, family: object) -> None:
        """Notes a condition that no other one of its family holds together with."""
        members = self.families.setdefault(family, [])
        members.append(atom)
        if len(members) > 1:
            for member in members:
                self.apart[member] = members

    def alone(
        self, atom: Node, others: list[Node], high: Node, low: Node
    ) -> tuple[Node, Node | None]:
        """What a choice gives where its condition holds, and so none of the ``others``; and the
        whole choice, if the condition makes no difference to that."""
        care = self.true
        for other in reversed(others):
            if other.id > atom.id:
                care = self.node(ITE, BOOL, (other, self.false, care))
        high = self.restrict(high, care)
        return high, low if high is self.restrict(low, care) else None

    def ite(self, condition: Node, high: Node, low: Node) -> Node:
        """``high`` where the condition holds, else ``low``."""
        if condition.op == CONST:
            return high if condition.bits else low
        if high is low:
            return high
        if high is self.true and low is self.false:
            return condition
        key = (condition.id, high.id, low.id)
        known = self.chosen.get(key)
        if known is None:
            atom = min(tops(condition) + tops(high) + tops(low), key=_id)
            c1, c0 = self.cofactors(condition, atom)
            h1, h0 = self.cofactors(high, atom)
            l1, l0 = self.cofactors(low, atom)
            known = self.decide(atom, self.ite(c1, h1, l1), self.ite(c0, h0, l0))
            self.chosen[key] = known
        return known

    def cofactors(self, node: Node, atom: Node) -> tuple[Node, Node]:
        """A diagram where its first atom is true, and where it is false."""
        if node is atom:
            return self.true, self.false
        if node.op == ITE and node.args[0] is atom:
            return node.args[1], node.args[2]
        return node, node

    def negate(self, a: Node) -> Node:
        return self.ite(a, self.false, self.true)

    def both(self, a: Node, b: Node) -> Node:
        return self.ite(a, b, self.false)

    def either(self, a: Node, b: Node) -> Node:
        return self.ite(a, self.true, b)

    def implies(self, a: Node, b: Node) -> bool:
        return self.ite(a, b, self.true) is self.true

    def restrict(self, node: Node, care: Node) -> Node:
        """A diagram that agrees with ``node`` wherever ``care`` holds, and asks for no atom that
        ``node`` does not ask for (Coudert and Madre's restrict)."""
        if care.op == CONST or node.op == CONST or not tops(node):
            return node
        key = (node.id, care.id)
        known = self.limited.get(key)
        if known is None:
            mine = tops(node)[0]
            atom = min(mine, tops(care)[0], key=_id)
            c1, c0 = self.cofactors(care, atom)
            n1, n0 = self.cofactors(node, atom)
            others = self.apart.get(atom)
            if others is not None and others[-1].id > atom.id:
                c1, _ = self.alone(atom, others, c1, c0)
            if c1 is self.false:
                known = self.restrict(n0, c0)
            elif c0 is self.false:
                known = self.restrict(n1, c1)
            elif atom is mine:
                known = self.decide(atom, self.restrict(n1, c1), self.restrict(n0, c0))
            else:
                known = self.restrict(node, self.either(c1, c0))
            self.limited[key] = known
        return known


def below(node: Node) -> set[Node]:
    """All that a value is made of, itself included."""
    reached = {node}
    todo = [node]
    while todo:
        for arg in todo.pop().args:
            if arg not in reached:
                reached.add(arg)
                todo.append(arg)
    return reached


def atoms_of(condition: Node) -> list[Node]:
    """The atoms of a diagram."""
    reached: list[Node] = []
    seen: set[Node] = set()
    todo = [condition]
    while todo:
        node = todo.pop()
        if node in seen or node.op == CONST:
            continue
        seen.add(node)
        if node.op != ITE:
            reached.append(node)
            continue
        todo += node.args
    return reached


def agreed(graph: Graph, condition: Node) -> Node:
    """What a condition that holds in all invocations says of those on which they agree."""
    known: dict[Node, Node] = {graph.true: graph.true, graph.false: graph.false}

    def said(node: Node) -> Node:
        done = known.get(node)
        if done is None:
            atom = node.args[0] if node.op == ITE else node
            high, low = [said(case) for case in graph.cofactors(node, atom)]
            join = graph.either(high, low) if atom.varying else graph.ite(atom, high, low)
            done = known[node] = join
        return done

    return said(condition)


def literals(graph: Graph, condition: Node) -> list[tuple[Node, Node]]:
    """The atoms that have one value wherever a condition holds, with that value."""
    found = []
    for atom in atoms_of(condition):
        for value in (graph.true, graph.false):
            if graph.implies(condition, atom if value is graph.true else graph.negate(atom)):
                found.append((atom, value))
    return found


def _id(node: Node) -> int:
    return node.id


def tops(node: Node) -> list[Node]:
    """The first atom of a diagram, if it asks for any."""
    if node.op == ITE:
        return [node.args[0]]
    return [node] if node.kind == BOOL and node.op != CONST else []
