"""Nodes that are more than an operation on numbers: loops, elements picked by an index, values at
another vertex; and how a node is made anew of other operands.

A loop is a closed term, ``loop(more, value, starts ..., nexts ...)``: the value that an expression
has in the first round after which the loop does not go on. The variables of the round are
placeholders, numbered by what they are: those with equal starts and equal nexts are one, found by
splitting classes of them until nothing splits (the largest bisimulation), so the order and the
number of phis make no difference. Loops end: one that does not end is undefined in Vulkan.
"""

from __future__ import annotations

from math import frexp

from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper import normal
from spvlink.verifier.paper.choices import choose, each, leaves_of
from spvlink.verifier.paper.graph import (
    BOOL,
    CHOICE,
    CONST,
    ITE,
    MEMORY,
    UNDEF,
    Graph,
    Node,
    NotProvable,
    atoms_of,
)
from spvlink.verifier.paper.loads import LOAD, load_of
from spvlink.verifier.paper.masks import bounds
from spvlink.verifier.paper.shapes import ARRAY, FILLED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable

    Variables = dict[Node, tuple[Node, Node]]  # placeholder -> start, next
    Leave = Callable[[Node], bool]


class Ordered:
    """Variables of a loop in their order: what stands for each, and starts, nexts and kinds."""

    __slots__ = ("ends", "kinds", "known", "starts")

    def __init__(
        self, known: dict[Node, Node], starts: list[Node], ends: list[Node], kinds: tuple[str, ...]
    ) -> None:
        self.known = known
        self.starts = starts
        self.ends = ends
        self.kinds = kinds


class Terms:
    """Makes nodes of one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.rounds = 0  # loops met so far
        self.chooses = False  # whether each test of an undefined value is a choice of its own
        self.choices = 0  # made so
        self.undecided = False  # whether a proof failed since they are not
        self.scales = False  # whether a sign and a power of two may stand before interpolation
        self.scaled = 0  # how often they do
        self.moved: dict[Node, dict[Node, Node]] = {}  # by vertex
        self.used: dict[tuple[Node, str, object], frozenset[Node]] = {}  # variables of a loop
        self.ordered: dict[tuple[object, ...], Ordered] = {}
        self.makes: dict[object, dict[Node, Node]] = {}  # what each round of a loop does

    def op(self, op: str, kind: str, args: list[Node], imm: tuple[object, ...] = ()) -> Node:
        return normal.apply(self.graph, op, kind, args, imm)

    def choice(self, args: list[Node], number: int) -> Node:
        """What one instruction takes the first operand for, which depends on an undefined value. It
        is no other one when it is used again, so it is defined."""
        if not args[0].undef:
            return args[0]
        self.choices += 1
        node = self.graph.node(CHOICE, args[0].kind, tuple(args), (number,))
        node.undef = False
        node.varying = True
        return node

    def interpolated(self, value: Node, where: tuple[Node, ...], imm: tuple[object, ...]) -> Node:
        """A value as it is interpolated. A sign and a power of two stand in front, if they may."""
        if is_interpolated_alike(value):
            return value
        at = _scaled(value) if self.scales else None
        if at is None:
            made = self.graph.node("interp", value.kind, (value, *where), imm)
            made.varying = True
            return made
        self.scaled += 1
        args = list(value.args)
        args[at] = self.interpolated(args[at], where, imm)
        return self.rebuilt(value, args)

    def rebuilt(self, node: Node, args: list[Node]) -> Node:
        """A node of other operands."""
        if node.op == ITE:
            return self.graph.ite(args[0], args[1], args[2])
        if node.op == CHOICE:
            return self.choice(args, node.imm[0])  # type: ignore[arg-type]
        if node.op == "loop":
            return self.reclosed(node, args)
        if node.op == "interp" and args[0].kind != MEMORY:
            return self.interpolated(args[0], tuple(args[1:]), node.imm)
        if node.op == "at" and node.kind != MEMORY:
            return self.named(args[0], args[1], node.kind)
        if node.op == READ_BACK:
            return self.read_back(args[0], args[1], node.kind)
        if node.op == "element":
            return self.element(args[0], args[1])
        if node.op == LOAD:
            return load_of(self.graph, node, args)
        if node.op == "put":
            return self.put(args[0], args[1], args[2])
        if node.op == "pick":
            return self.pick(args[0], args[1:])
        if node.op == "isum":
            return self._resummed(node, args)
        if node.op == "izero":
            return self.op("IEqual", BOOL, [args[0], self.graph.const(args[0].kind, 0)])
        if node.op in _OF_MANY and len(args) > 2:
            made = args[0]
            for arg in args[1:]:
                made = self.op(node.op, node.kind, [made, arg], node.imm)
            return made
        made = self.op(node.op, node.kind, args, node.imm)
        if node.op in OWN and node.varying:
            made.varying = True  # also if nothing that it is made of does
        return made

    def _resummed(self, node: Node, args: list[Node]) -> Node:
        from spvlink.verifier.paper.integers import summed

        constant, *factors = [i for i in node.imm if isinstance(i, int)]
        return summed(self.graph, node.kind, list(zip(args, factors)), constant)

    def substituted(self, node: Node, known: dict[Node, Node], leave: Leave) -> Node:
        """A node with others put in for some; ``known`` says which and remembers. What ``leave``
        says has none of them in it."""
        todo = [node]
        while todo:
            top = todo[-1]
            if top in known:
                todo.pop()
                continue
            if not top.args or leave(top):
                known[top] = top
                todo.pop()
                continue
            missing = [a for a in top.args if a not in known]
            if missing:
                todo += missing
                continue
            args = [known[a] for a in top.args]
            if args == list(top.args):
                known[top] = top
            elif self.outgrown(top, args):
                known[top] = self._reopened(top, known, leave)
            else:
                known[top] = self.rebuilt(top, args)
            todo.pop()
        return known[node]

    # -- columns ---------------------------------------------------------------------------------

    def read_back(self, column: Node, vertex: Node, kind: str) -> Node:
        """What an output has for a vertex, before any barrier."""
        if column.op == ITE:
            chosen = each(self.graph, column, lambda end: self.read_back(end, vertex, kind))
            if chosen is not None:
                return chosen
        while column.op == "vstore":
            if column.args[1] is vertex:
                return column.args[2]
            if column.args[1].op != CONST or vertex.op != CONST:
                break
            column = column.args[0]
        if column.op == "unwritten":
            return self.graph.undefined(kind)
        node = self.graph.node(READ_BACK, kind, (column, vertex))
        node.varying = True
        return node

    # -- elements by index -------------------------------------------------------------------------

    def pick(self, index: Node, elements: list[Node]) -> Node:
        """The element at an index. Beyond the end it is undefined."""
        if index.op == CONST:
            if index.bits < len(elements):
                return elements[index.bits]
            return self.graph.undefined(elements[0].kind)
        if not index.undef:  # each element as it is where it is the one
            here = [self.equals(index, at) for at in range(len(elements))]
            elements = [self.graph.restrict(e, is_it) for e, is_it in zip(elements, here)]
        if all(e is elements[0] for e in elements):
            return elements[0]
        if index.op == ITE:
            chosen = self._picked_by(index, elements)
            if chosen is not None:
                return chosen
        made = self.graph.node("pick", elements[0].kind, (index, *elements))
        if bounds(index)[1] < len(elements):  # it never is beyond the end
            made.loose = any(arg.loose for arg in made.args)
        return made

    def _picked_by(self, index: Node, elements: list[Node]) -> Node | None:
        """The choice that an element is if the index is a choice of constants."""
        leaves = leaves_of(index)
        if leaves is None or any(leaf.op != CONST for leaf in leaves):
            return None
        nothing = self.graph.undefined(elements[0].kind)
        ends = {n: elements[n.bits] if n.bits < len(elements) else nothing for n in leaves}
        return choose(self.graph, index, ends)

    def element(self, all: Node, index: Node) -> Node:
        """The element of an array of any length at an index."""
        kind = all.kind.removeprefix(ARRAY)
        if all.op == FILLED:
            return all.args[0]
        if all.op == ITE:
            high, low = [self.element(one, index) for one in all.args[1:]]
            return self.graph.ite(all.args[0], high, low)
        if all.op != "put":
            return self.graph.node("element", kind, (all, index))
        before, at, value = all.args
        if at.kind != index.kind:
            raise NotProvable("indices of two widths")
        same = self.op("IEqual", BOOL, [index, at])
        return self.graph.ite(same, value, self.element(before, index))

    def put(self, all: Node, index: Node, value: Node) -> Node:
        """An array of any length with another element at an index."""
        if all.op == "put" and all.args[1] is index and not index.undef:
            all = all.args[0]
        return self.graph.node("put", all.kind, (all, index, value))

    def equals(self, index: Node, at: int) -> Node:
        return self.op("IEqual", BOOL, [index, self.graph.const(index.kind, at)])

    # -- loops -------------------------------------------------------------------------------------

    def variable(self, kind: str, number: int, loop: int) -> Node:
        """A variable of a loop that is not closed yet."""
        node = self.graph.node("mu", kind, (), (loop, number))
        node.loops = 1 << loop
        node.varying = True
        return node

    def settled(
        self, more: Node, variables: Variables, loop: int
    ) -> tuple[Node, Variables, list[dict[Node, Node]]]:
        """A loop without the variables that no round changes, and what to put in for these, in
        order."""
        bit = 1 << loop
        puts: list[dict[Node, Node]] = []

        def leave(node: Node) -> bool:
            return not node.loops & bit

        while fixed := self._fixed(variables, leave):
            known = dict(fixed)
            puts.append(known)
            more = self.substituted(more, known, leave)
            variables = {
                v: (start, self.substituted(next, known, leave))
                for v, (start, next) in variables.items()
                if v not in fixed
            }
        return more, variables, puts

    def closed(
        self, more: Node, value: Node, variables: Variables, loop: int, known: dict[Node, Node]
    ) -> Node:
        """A value behind a loop. ``more``: whether the loop goes on, and ``value``, both said with
        the variables. ``known``: what was closed so before."""
        done = known.get(value)
        if done is None:
            done = known[value] = self._closed(more, value, variables, loop, known)
        return done

    def _closed(
        self, more: Node, value: Node, variables: Variables, loop: int, known: dict[Node, Node]
    ) -> Node:
        bit = 1 << loop
        value = self.graph.restrict(value, self.graph.negate(more))
        if not value.loops & bit:
            return value
        if not more.loops & bit and more.op == CONST:
            raise NotProvable("a loop without an end")
        for atom in atoms_of(more):
            if not atom.loops & bit:
                return self._by_case(atom, more, value, variables, loop)
        made = self._made(more, variables, loop)
        if made:
            again = self.substituted(value, made, lambda node: not node.loops & bit)
            if again is not value:
                return self.closed(more, again, variables, loop, known)
        if value.op in (ITE, "vstore") or (
            value.args and value.kind != MEMORY and value.op != "loop"
        ):  # what is made of operands is made of what they are in the last round
            args = [self.closed(more, arg, variables, loop, known) for arg in value.args]
            return self.rebuilt(value, args)
        return self._canonical(more, value, variables, lambda node: not node.loops & bit)

    def _made(self, more: Node, variables: Variables, loop: int) -> dict[Node, Node]:
        """What variables are in the last round because every round makes that of them, if the last
        one cannot be the first; and what is made of these, as far as it was asked for."""
        bit = 1 << loop
        key = more, tuple(variables.items())
        known = self.makes.get(key)
        if known is not None:
            return known
        made = {v: next for v, (_, next) in variables.items() if not next.loops & bit}
        if made:
            first = {v: start for v, (start, _) in variables.items()}
            goes_on = self.substituted(more, first, lambda node: not node.loops & bit)
            made = made if goes_on is self.graph.true else {}
        self.makes[key] = made
        return made

    def _by_case(
        self, atom: Node, more: Node, value: Node, variables: Variables, loop: int
    ) -> Node:
        """A loop that asks for what no round changes, in both cases of it; in one where it would
        never end, it is as in the other: loops end."""
        graph = self.graph
        cases = []
        for case in (atom, graph.negate(atom)):
            goes_on, inside = graph.restrict(more, case), graph.restrict(value, case)
            if goes_on is graph.false:  # there is one round
                known = {v: start for v, (start, _) in variables.items()}
                cases.append(self.substituted(inside, known, lambda n: not n.loops & 1 << loop))
                continue
            if goes_on is not graph.true:
                rest = {v: (s, graph.restrict(n, case)) for v, (s, n) in variables.items()}
                cases.append(self.closed(goes_on, inside, rest, loop, {}))
        if not cases:
            raise NotProvable("a loop without an end")
        return graph.ite(atom, cases[0], cases[-1])

    def over(self, loop: Node) -> Node:
        """What holds behind a loop, of what its conditions were in the last round: it does not go
        on."""
        height, kinds = _imm_of(loop)
        count = len(kinds)
        variables: Variables = {}
        for at, kind in enumerate(kinds):
            mine = self.placeholder(kind, height, at)
            variables[mine] = loop.args[2 + at], loop.args[2 + count + at]

        def leave(node: Node) -> bool:
            return node.height >= height

        more = loop.args[0]
        last = {
            v: self._canonical(more, v, variables, leave)
            for v in self._used(more, variables, leave)
        }
        return self.graph.negate(self.substituted(more, last, leave))

    def endless(self, more: Node, loop: int) -> Node:
        """Where a loop goes on whatever its variables are. ``more``: whether it does."""
        graph = self.graph
        if more.op == CONST:
            return more
        atom, high, low = more.args if more.op == ITE else (more, graph.true, graph.false)
        cases = [self.endless(case, loop) for case in (high, low)]
        if atom.loops & 1 << loop or atom.loose:
            return graph.both(cases[0], cases[1])
        return graph.ite(atom, cases[0], cases[1])

    def _split(
        self, atom: Node, more: Node, value: Node, variables: Variables, leave: Leave
    ) -> Node:
        """What ``_by_case`` does, of a loop that is closed. The condition is never undefined: each
        round could see another value of it."""
        graph = self.graph
        cases = []
        for case in (atom, graph.negate(atom)):
            goes_on = graph.restrict(more, case)
            inside = graph.restrict(value, graph.both(case, graph.negate(goes_on)))
            if goes_on is graph.false:  # there is one round
                known = {v: start for v, (start, _) in variables.items()}
                cases.append(self.substituted(inside, known, leave))
            elif goes_on is not graph.true:
                rest = {v: (s, graph.restrict(n, case)) for v, (s, n) in variables.items()}
                cases.append(self._canonical(goes_on, inside, rest, leave))
        if not cases:
            raise NotProvable("a loop without an end")
        return graph.ite(atom, cases[0], cases[-1])

    def outgrown(self, node: Node, args: list[Node]) -> bool:
        """Whether a loop with such operands has another one in it that is as high as itself. The
        variables of both would have one name."""
        if node.op != "loop":
            return False
        height, kinds = _imm_of(node)
        inside = [*args[:2], *args[2 + len(kinds) :]]
        return any(arg.height >= height for arg in inside)

    def _reopened(self, node: Node, known: dict[Node, Node], leave: Leave) -> Node:
        """A loop with others put in for some nodes, of which some are as high as itself: its
        variables have names of their own meanwhile."""
        height, kinds = _imm_of(node)
        number = self.rounds
        self.rounds += 1
        bit = 1 << number
        opened: dict[Node, Node] = {}
        for at, kind in enumerate(kinds):
            opened[self.placeholder(kind, height, at)] = self.variable(kind, at, number)
        names = list(opened.values())
        first = 2 + len(kinds)
        inside = [
            self.substituted(arg, opened, lambda n: n.height >= height)
            for arg in (*node.args[:2], *node.args[first:])
        ]
        more, value, *nexts = [self.substituted(arg, known, leave) for arg in inside]
        starts = [known[arg] for arg in node.args[2:first]]
        variables = {v: (s, n) for v, s, n in zip(names, starts, nexts)}
        return self._canonical(more, value, variables, lambda n: not n.loops & bit)

    def reclosed(self, node: Node, args: list[Node]) -> Node:
        """The same loop with other operands."""
        if self.outgrown(node, args):
            raise NotProvable("a loop in what is put into another one")
        height, kinds = _imm_of(node)
        count = len(kinds)
        variables: Variables = {}
        for at, kind in enumerate(kinds):
            mine = self.placeholder(kind, height, at)
            variables[mine] = args[2 + at], args[2 + count + at]
        if not variables:
            return args[1]
        return self._canonical(args[0], args[1], variables, lambda node: node.height >= height)

    def placeholder(self, kind: str, height: int, at: int) -> Node:
        node = self.graph.node("var", kind, (), (height, at))
        node.varying = True
        return node

    def _canonical(self, more: Node, value: Node, variables: Variables, leave: Leave) -> Node:
        """The closed term: only the variables that the value depends on, one for those that are
        always equal, in an order that depends on nothing but what they are."""
        if not self._needed([value], variables, leave):
            return value
        needed = self._needed([more, value], variables, leave)
        variables = {v: variables[v] for v in needed}
        fixed = self._fixed(variables, leave)
        if fixed:
            known = dict(fixed)

            def put(node: Node) -> Node:
                return self.substituted(node, known, leave)

            rest = {v: (s, put(n)) for v, (s, n) in variables.items() if v not in fixed}
            return self._canonical(put(more), put(value), rest, leave)
        for atom in atoms_of(more):
            if not atom.loose and not self._used(atom, variables, leave):
                return self._split(atom, more, value, variables, leave)
        heights = [n.height for v in needed for n in variables[v][1:]]
        height = 1 + max([more.height, value.height, *heights])
        key = height, *sorted([(v.id, variables[v][0].id, variables[v][1].id) for v in needed])
        ordered = self.ordered.get(key)
        if ordered is None:
            ordered = self.ordered[key] = self._in_order(needed, variables, height, leave)
        args = [self.substituted(part, ordered.known, leave) for part in (more, value)]
        node = self.graph.node(
            "loop", value.kind, (*args, *ordered.starts, *ordered.ends), (height, ordered.kinds)
        )
        node.height = max(node.height, height)  # its starts may have higher ones
        node.varying = any(self._differs(arg, height) for arg in node.args)
        return node

    def _fixed(self, variables: Variables, leave: Leave) -> dict[Node, Node]:
        """The variables that keep what they start with. One that starts as a constant does if what
        it becomes is that constant, as long as all of these keep theirs."""
        fixed = {v: start for v, (start, next) in variables.items() if next in (v, start)}
        flags = {
            v: start for v, (start, _) in variables.items() if v not in fixed and start.op == CONST
        }
        while flags:
            known = dict(flags)
            kept = {
                v: start
                for v, start in flags.items()
                if self.substituted(variables[v][1], known, leave) is start
            }
            if len(kept) == len(flags):
                break
            flags = kept
        return fixed | flags

    def _in_order(
        self, needed: list[Node], variables: Variables, height: int, leave: Leave
    ) -> Ordered:
        """Every variable of a class has one number; classes split until nothing splits."""
        marks: dict[Node, tuple[object, ...]] = {v: (v.kind, variables[v][0].id) for v in needed}
        while True:
            order = sorted(set(marks.values()), key=repr)
            number = {mark: at for at, mark in enumerate(order)}
            known = {v: self.placeholder(v.kind, height, number[marks[v]]) for v in needed}
            nexts = {v: self.substituted(variables[v][1], known, leave) for v in needed}
            split = {v: (*marks[v], nexts[v].id) for v in needed}
            if len(set(split.values())) == len(order):
                break
            # the number of a class must not depend on how often it was looked at
            marks = split
        first = {marks[v]: v for v in reversed(needed)}
        starts = [variables[first[mark]][0] for mark in order]
        ends = [nexts[first[mark]] for mark in order]
        kinds = tuple([first[mark].kind for mark in order])
        return Ordered(known, starts, ends, kinds)

    def _differs(self, node: Node, height: int) -> bool:
        """Whether a part of a loop may differ from one invocation to the next: by more than its
        own variables."""
        seen: set[Node] = set()
        todo = [node]
        while todo:
            node = todo.pop()
            if not node.varying or node in seen:
                continue
            seen.add(node)
            if node.op == "var" and isinstance(node.imm[0], int) and node.imm[0] <= height:
                continue
            if node.op in OWN or not any(arg.varying for arg in node.args):
                return True
            todo += node.args
        return False

    def _needed(self, roots: list[Node], variables: Variables, leave: Leave) -> list[Node]:
        """The variables that nodes depend on, through what they become."""
        needed: dict[Node, None] = {}
        todo = list(roots)
        while todo:
            for variable in self._used(todo.pop(), variables, leave):
                if variable not in needed:
                    needed[variable] = None
                    todo.append(variables[variable][1])
        return list(needed)

    def _used(self, root: Node, variables: Variables, leave: Leave) -> frozenset[Node]:
        """The variables of a loop in a node: all have one operation and one first number."""
        if not variables:
            return frozenset()
        one = next(iter(variables))
        key = root, one.op, one.imm[0]
        known = self.used.get(key)
        if known is None:
            found: set[Node] = set()
            seen: set[Node] = set()
            todo = [root]
            while todo:
                node = todo.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node in variables:
                    found.add(node)
                elif not leave(node):
                    todo += node.args
            known = self.used[key] = frozenset(found)
        return known

    # -- other vertices ----------------------------------------------------------------------------

    def at(self, vertex: Node, node: Node) -> Node:
        """The value that the stage before computed for another vertex. Operations give the same
        bits there, so it is the same operation on what the vertex has."""
        known = self.moved.setdefault(vertex, {})
        return self._at(vertex, node, known)

    def named(self, vertex: Node, node: Node, kind: str = "") -> Node:
        """What one vertex has: all invocations agree on it if they agree on the vertex. ``kind``:
        of the scalar, if ``node`` is a column."""
        made = self.graph.node("at", kind or node.kind, (vertex, node))
        made.varying = vertex.varying or node.kind == MEMORY
        return made

    def _at(self, vertex: Node, node: Node, known: dict[Node, Node]) -> Node:
        todo = [node]
        while todo:
            top = todo[-1]
            if top in known:
                todo.pop()
                continue
            if not top.varying or top.op == "var":
                known[top] = top
            elif not top.args or top.op in OWN or top.kind == MEMORY:
                known[top] = self.named(vertex, top)
            else:
                missing = [a for a in top.args if a not in known]
                if missing:
                    todo += missing
                    continue
                known[top] = self.rebuilt(top, [known[a] for a in top.args])
            todo.pop()
        return known[node]


def is_interpolated_alike(node: Node) -> bool:
    """Whether interpolation gives back what it gets: a sum of products with 0.0 is 0.0, whatever
    the weights are."""
    return node.op == UNDEF or (node.op == CONST and node.bits == 0)


def _scaled(node: Node) -> int | None:
    """Which operand of a value is a float of 32 bits that is negated, or times a power of two. One
    that is not far from 1: else usual numbers could overflow, or underflow."""
    if node.kind != "f32" or node.op not in ("FNegate", "FMul"):
        return None
    if node.op == "FNegate":
        return 0
    for at, factor in enumerate(node.args):
        value = abs(fold.number(factor.kind, factor.bits)) if factor.op == CONST else 0.0
        if 1 / _FAR <= value <= _FAR and frexp(value)[0] == 0.5:
            return 1 - at
    return None


def _imm_of(loop: Node) -> tuple[int, tuple[str, ...]]:
    """The height of a loop, and the kinds of its variables."""
    height, kinds = loop.imm
    assert isinstance(height, int) and isinstance(kinds, tuple)
    return height, kinds


_FAR = 4096.0
_OF_MANY = frozenset(("BitwiseAnd", "BitwiseOr", "BitwiseXor"))
READ_BACK = "read back"  # what a stage has written to one of its outputs, for a vertex
OF_PRIMITIVE = "of primitive"  # the value that a primitive of a mesh shader has
BEHIND = "behind barrier"  # what others have written by then
# What another invocation has for itself, and not as an operation on what it has.
OWN = frozenset((
    "interp", "column", "patch", "at", OF_PRIMITIVE, READ_BACK, BEHIND, "payload value",
))  # fmt: skip
