"""Walks the code of a stage and makes nodes of it: blocks in order, calls in place, loops round by
round as long as the number of rounds is known, else as closed terms.

Nothing is transformed: what is walked is the module as it was decoded.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Block, Function, Inst
from spvlink.verifier.paper.graph import (
    BOOL,
    CONST,
    ITE,
    MEMORY,
    Graph,
    Node,
    NotProvable,
    atoms_of,
)
from spvlink.verifier.paper.shapes import Shapes, Value, mapped, parts
from spvlink.verifier.paper.state import (
    KILL,
    RETURN,
    BlockLayout,
    Cells,
    Edge,
    Exits,
    Target,
    leads_out,
    met,
)
from spvlink.verifier.paper.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Tester = tuple[Inst, int, int]  # an instruction in a call, and its lane

MOST_ROUNDS: Final = 64
TURN: Final = "turn"  # a cell for each loop that is walked: the number of the round
_COMPARISONS: Final = frozenset((
    ops.OpSLessThan, ops.OpSLessThanEqual, ops.OpSGreaterThan, ops.OpSGreaterThanEqual,
    ops.OpULessThan, ops.OpULessThanEqual, ops.OpUGreaterThan, ops.OpUGreaterThanEqual,
))  # fmt: skip
_BOOLEANS: Final = frozenset((ops.OpLogicalNot, ops.OpLogicalAnd, ops.OpLogicalOr))
_MOST_LOOKS: Final = 12  # at a loop until it is known what it changes


class Call:
    """One run of a function: what its values are."""

    __slots__ = ("counts", "function", "layout", "number", "values")

    def __init__(self, function: Function, layout: BlockLayout, number: int) -> None:
        self.function = function
        self.layout = layout
        self.number = number
        self.counts = True  # whether constants decide what it returns
        self.values: dict[Inst, Value] = {}


class Walker:
    """Walks functions. ``act`` does what an instruction does."""

    def __init__(self, shapes: Shapes, terms: Terms, side: str) -> None:
        self.shapes = shapes
        self.terms = terms
        self.graph: Graph = terms.graph
        self.linked = side == "linked"
        self.layouts: dict[Function, BlockLayout] = {}
        self.calls = 0
        self.depth = 0
        self.now: Inst | None = None  # for messages
        # of the instruction that is walked
        self.call: Call
        self.last: Call  # that is over
        self.counting: set[Inst] = set()  # calls that gave what constants decide
        self.cells: Cells = {}
        self.path: Node = self.graph.true
        self.exits: Exits = {}
        self.counted = False  # whether a branch out of a loop was decided by constants
        self.inner = 0  # loops that are walked
        # Of loops that are walked as one round, the outer ones first: the bit of its variables, the
        # path to it, and the paths in it that no invocation takes
        self.rounds: list[tuple[int, Node, list[Node]]] = []
        self.lives: Node = self.graph.true  # whether nothing is done that is undefined
        # Where more of that may be done: by an undefined value, or, None, nobody knows where
        self.may_die: set[Node | None] = set()
        # What tests an undefined value
        self.tested: dict[Node, list[Tester]] = {}

    # what the stage adds
    def act(self, inst: Inst) -> Value:
        raise NotImplementedError

    def constant(self, inst: Inst) -> Value:
        raise NotImplementedError

    # -- values ------------------------------------------------------------------------------------

    def value(self, inst: Inst) -> Value:
        return self.on_path(self._value(inst))

    def on_path(self, value: Value) -> Value:
        """A value by what is known where it is used."""
        return value if self.path.op == CONST else _each(value, self._here)

    def _here(self, node: Node) -> Node:
        return self.graph.restrict(node, self.path) if node.op == ITE else node

    def _value(self, inst: Inst) -> Value:
        call = self.call
        if inst in call.layout.again:
            return self.act(inst)
        if inst in call.layout.escaping:
            kept = self.cells.get((inst, call.number))
            if kept is not None:
                return kept
        node = call.values.get(inst)
        return self.constant(inst) if node is None else node

    def node(self, inst: Inst) -> Node:
        value = self.value(inst)
        if not isinstance(value, Node):
            raise NotProvable("a scalar was expected")
        return value

    def keep(self, inst: Inst, value: Value) -> None:
        call = self.call
        call.values[inst] = value
        if inst in call.layout.escaping:
            parts(value)  # NotProvable for pointers
            self.cells[inst, call.number] = value

    # -- functions ---------------------------------------------------------------------------------

    def run(self, function: Function, arguments: list[Value], start: Edge) -> Exits:
        """The ways out of a function."""
        if self.depth > 40:
            raise NotProvable("calls inside calls")
        layout = self.layouts.get(function)
        if layout is None:
            layout = self.layouts[function] = BlockLayout(function.blocks)
        outer = self._outer()
        self.depth += 1
        self.calls += 1
        self.call = Call(function, layout, self.calls)
        self.call.values.update(zip(function.params, arguments))
        entry = layout.order[0]
        exits = self.region(set(layout.order), None, {entry: [start]})
        self.depth -= 1
        self.last = self.call
        self._back(outer)
        return exits

    def _outer(self) -> tuple[object, ...]:
        call = getattr(self, "call", None)
        return call, self.cells, self.path, self.exits, self.now

    def _back(self, outer: tuple[object, ...]) -> None:
        self.call, self.cells, self.path, self.exits, self.now = outer  # type: ignore[assignment]

    def called(self, inst: Inst) -> Value:
        """A call, in place."""
        function = inst.args[0]
        assert isinstance(function, Function)
        arguments = [self.value(a) for a in inst.args[1:]]
        exits = self.run(function, arguments, Edge(self.path, self.cells, []))
        self.counting.discard(inst)
        if self.last.counts:
            self.counting.add(inst)
        returns = exits.pop(RETURN, [])
        for target, edges in exits.items():
            self.exits.setdefault(target, []).extend(edges)
        if not returns:
            self.path = self.graph.false
            return self.shapes.undefined(self.graph, inst.type) if inst.type is not None and (
                inst.type.op != ops.OpTypeVoid) else ()  # fmt: skip
        back = met(self.graph, returns)
        self.path, self.cells = back.path, dict(back.cells)
        return back.values[0] if back.values else ()

    # -- blocks ------------------------------------------------------------------------------------

    def region(self, inside: set[Block], header: Block | None, start: Exits) -> Exits:
        """Walks the blocks of a set, which ``start`` leads into; gives the edges that lead out of
        it, and those back to ``header``."""
        outer = self.exits
        pending: Exits = dict(start)
        self.exits = {}
        done: set[Block] = set()
        for block in self.call.layout.order:
            if block not in inside or block in done:
                continue
            edges = pending.pop(block, None)
            if not edges:
                continue
            edge = met(self.graph, edges)
            if block is not header and block in self.call.layout.loops:
                body = self.call.layout.loops[block]
                done |= body
                ways = self.loop(block, body, edge)
            else:
                ways = self.block(block, edge)
            for target, out in ways.items():
                if target in inside and target is not header:
                    pending.setdefault(target, []).extend(out)
                else:
                    self.exits.setdefault(target, []).extend(out)
        taken, self.exits = self.exits, outer
        return taken

    def block(self, block: Block, edge: Edge) -> Exits:
        """One block: where it leads to. Kills in calls go to ``exits``."""
        self.path, self.cells = edge.path, dict(edge.cells)  # changed in place
        phis = iter(edge.values)
        for inst in block.insts[:-1]:
            self.now = inst
            if inst.op == ops.OpPhi:
                self.keep(inst, next(phis))
                continue
            made = self.act(inst)
            if self.terms.chooses and made is not None:
                made = self._compared(inst, made)
            if inst.id and made is not None:
                self.keep(inst, made)
            if self.path is self.graph.false:
                return {}
        self.now = block.terminator
        return self.leave(block, block.terminator)

    def _compared(self, inst: Inst, value: Value) -> Value:
        """What an instruction made, with a choice in each condition on an undefined value."""
        lanes = iter(range(1 << 16))

        def one(node: Node) -> Node:
            lane = next(lanes)
            return self.chosen(node, inst, lane) if node.kind == BOOL else node

        return _each(value, one)

    def leave(self, block: Block, end: Inst) -> Exits:
        op = end.op
        ways: Exits = {}
        if op == ops.OpBranch:
            self.way(ways, block, end.args[0], self.graph.true)
        elif op == ops.OpBranchConditional:
            condition = self.decided(end.args[0])
            if condition.op == CONST:
                is_exit = self._exits_loop(block, end.args[1:]) and self._counts(end.args[0])
                self.counted = self.counted or is_exit
            self.way(ways, block, end.args[1], condition)
            self.way(ways, block, end.args[2], self.graph.negate(condition))
        elif op == ops.OpSwitch:
            self.switch(ways, block, end)
        elif op == ops.OpReturn:
            ways[RETURN] = [Edge(self.path, self.cells, [])]
        elif op == ops.OpReturnValue:
            type = end.args[0].type
            is_one = type is not None and type.op == ops.OpTypeBool
            self.call.counts = self.call.counts and is_one and self._counts(end.args[0])
            ways[RETURN] = [Edge(self.path, self.cells, [self.value(end.args[0])])]
        elif op in (ops.OpKill, ops.OpTerminateInvocation):
            ways[KILL] = [Edge(self.path, self.cells, [])]
        elif op == ops.OpUnreachable:
            self.never(self.path)
        else:
            self.act(end)
            ways[RETURN] = [Edge(self.path, self.cells, [])]
        return ways

    def decided(self, inst: Inst, lane: int = -1) -> Node:
        """A condition, or a lane of one. An atom is one choice of what is undefined: two
        instructions, or rounds of a loop, may choose otherwise. In the original any of them may be
        taken."""
        condition = self.node(inst) if lane < 0 else parts(self.value(inst))[lane]
        tester = inst if inst.op != ops.OpUndef or self.now is None else self.now
        if self.terms.chooses:
            return self.chosen(condition, tester, lane)
        atoms = [atom for atom in atoms_of(condition) if atom.undef] if condition.undef else []
        one = tester, self.call.number, lane
        for atom in atoms if self.linked else []:
            if self.inner or self.tested.setdefault(atom, [one]) != [one]:
                raise self._undecided("a condition depends on an undefined value")
        return condition

    def _undecided(self, reason: str) -> NotProvable:
        self.terms.undecided = True
        return NotProvable(reason)

    def chosen(self, value: Node, user: Inst, lane: int) -> Node:
        """A condition, or a number that decides, in which an instruction that uses an undefined
        value chooses what that is: the how manieth that uses it so, in which round of each loop
        (but for loops in their first one, outside of all others). So each choice of the linked side
        is one of the original."""
        if not value.undef:
            return value
        atoms = atoms_of(value) if value.kind == BOOL else [value]
        known: dict[Node, Node] = {}
        for atom in atoms:
            if not atom.undef:
                continue
            # loops may turn out to be equal, and so what they test
            testers = self.tested.setdefault(self.graph.true if atom.loops else atom, [])
            one = user, self.call.number, lane
            if one not in testers:
                testers.append(one)
            turns = [self.cells[TURN, depth] for depth in range(1, self.inner + 1)]
            rounds = [turn for turn in turns if isinstance(turn, Node)]
            while rounds and rounds[0] is self.graph.const("i32", 0):
                del rounds[0]
            known[atom] = self.terms.choice([atom, *rounds], testers.index(one))
        return self.terms.substituted(value, known, lambda node: not node.undef)

    def _turned(self, edge: Edge) -> Edge:
        """An edge to the next round of the innermost loop, if choices need to know which it is."""
        if not self.terms.chooses:
            return edge
        cell = TURN, self.inner
        before = edge.cells.get(cell)
        turn = self.graph.const("i32", 0)
        if isinstance(before, Node):
            turn = self.terms.op("IAdd", "i32", [before, self.graph.const("i32", 1)])
        return Edge(edge.path, {**edge.cells, cell: turn}, edge.values)

    def _counts(self, inst: Inst) -> bool:
        """Whether constants decide a condition, and not what is known of other numbers: that a
        variable one is above zero says no more in the next round."""
        if inst.op == ops.OpFunctionCall:
            return inst in self.counting
        if inst.op in _COMPARISONS:
            return all(self.node(arg).op == CONST for arg in inst.args)
        return inst.op in _BOOLEANS and all(self._counts(arg) for arg in inst.args)

    def _exits_loop(self, block: Block, targets: list[Inst]) -> bool:
        """Whether a branch may lead out of a loop, at once or for certain later."""
        for header, body in self.call.layout.loops.items():
            if block in body and any(
                isinstance(target, Block) and leads_out(target, header, body) for target in targets
            ):
                return True
        return False

    def switch(self, ways: Exits, block: Block, end: Inst) -> None:
        selector = self.node(end.args[0])
        if self.terms.chooses:
            selector = self.chosen(selector, end, -1)
        if self.linked and selector.undef:
            raise self._undecided("a switch over an undefined value")
        wide = selector.kind == "i64"
        rest = self.graph.true
        mask = (1 << int(selector.kind[1:])) - 1
        for at, target in enumerate(end.args[2:]):
            literal = end.imm[at]
            if wide:
                literal = end.imm[2 * at] | end.imm[2 * at + 1] << 32
            case = self.graph.const(selector.kind, literal & mask)
            chosen = self.terms.op("IEqual", "b", [selector, case])
            self.way(ways, block, target, self.graph.both(rest, chosen))
            rest = self.graph.both(rest, self.graph.negate(chosen))
        self.way(ways, block, end.args[1], rest)

    def way(self, ways: Exits, block: Block, target: Inst, condition: Node) -> None:
        """An edge to a block, unless it is never taken."""
        path = self.graph.both(self.path, condition)
        if path is self.graph.false:
            return
        assert isinstance(target, Block)
        values = []
        for inst in target.insts:
            if inst.op != ops.OpPhi:
                break
            for at in range(1, len(inst.args), 2):
                if inst.args[at] is block:
                    values.append(self.value(inst.args[at - 1]))
                    break
        ways.setdefault(target, []).append(Edge(path, self.cells, values))

    # -- loops -------------------------------------------------------------------------------------

    def loop(self, header: Block, body: set[Block], edge: Edge) -> Exits:
        before = self.counted
        self.inner += 1
        first = self._turned(edge)
        exits = self.unrolled(header, body, first)
        self.counted = before
        if exits is None:
            exits = self.closed(header, body, first)
        for out in [out for edges in exits.values() for out in edges]:
            out.cells.pop((TURN, self.inner), None)
        self.inner -= 1
        return exits

    def unrolled(self, header: Block, body: set[Block], edge: Edge) -> Exits | None:
        """Round by round, while constants decide that the loop goes on; None if they do not."""
        ways: Exits = {}
        for _ in range(MOST_ROUNDS):
            self.counted = False
            exits = self.region(body, header, {header: [edge]})
            backs = exits.pop(header, [])
            for target, edges in exits.items():
                ways.setdefault(target, []).extend(edges)
            if not backs:
                return ways
            if not self.counted:
                return None
            edge = self._turned(met(self.graph, backs))
        return None

    def closed(self, header: Block, body: set[Block], edge: Edge) -> Exits:
        """As closed terms: what changes in a round is a variable of it. What does is found by
        walking until nothing else changes."""
        changing: set[tuple[object, int]] = set()
        whole: set[tuple[object, int]] = set()  # columns that are no one value with a place
        for _ in range(_MOST_LOOKS):
            number = self.terms.rounds
            self.terms.rounds += 1
            variables: dict[tuple[object, int], Node] = {}
            start = self._round(edge, changing, variables, number, whole)
            dead: list[Node] = []
            self.rounds.append((1 << number, edge.path, dead))
            try:
                exits = self.region(body, header, {header: [start]})
            finally:
                self.rounds.pop()
            backs = exits.pop(header, [])
            if not backs:
                break
            back = self._turned(met(self.graph, backs))
            more = _changed(start, back) - changing
            moved = _elsewhere(edge, back, variables)
            if not more and not moved:
                break
            changing |= more
            whole |= moved
        else:
            raise NotProvable("a loop that changes too much")
        if not backs:
            self.may_die |= {None} if dead else set()
            return self._once(edge, exits)
        return self._behind(edge, back, exits, variables, number, dead)

    def never(self, path: Node) -> None:
        """Notes that an invocation takes no such path: that is undefined, or never ends. What names
        variables of a loop that is walked is noted for the loop. What names none holds in its first
        round, too."""
        for bit, way, dead in reversed(self.rounds):
            if path.loops & bit:
                dead.append(path)
                return
            path = self.graph.both(way, path)
        if not path.loops and not path.loose:
            self.lives = self.graph.both(self.lives, self.graph.negate(path))
        elif path is not self.graph.false:
            self.may_die.add(None if path.loops else path)

    def _once(self, edge: Edge, exits: Exits) -> Exits:
        raise NotProvable("a loop that nothing leads back to, but that is walked as one")

    def _round(
        self, edge: Edge, changing: set[tuple[object, int]],
        variables: dict[tuple[object, int], Node], number: int, whole: set[tuple[object, int]],
    ) -> Edge:  # fmt: skip
        """What a round begins with. A column that has a value for one vertex, in a place that no
        round changes, is a variable for the value; those of ``whole`` are not."""

        def fresh(cell: object, value: Value, all: bool) -> Value:
            count = iter(range(1 << 20))

            def one(node: Node) -> Node:
                key = cell, next(count)
                if not all and key not in changing:
                    return node
                inside = node.op == "vstore" and key not in whole
                kind = node.args[2].kind if inside else node.kind
                made = variables[key] = self.terms.variable(kind, len(variables), number)
                if inside:
                    made = self.graph.node("vstore", MEMORY, (*node.args[:2], made))
                return made

            return mapped(value, one)

        values = [fresh(at, value, True) for at, value in enumerate(edge.values)]
        touched = {cell for cell, _ in changing}
        cells = dict(edge.cells)
        for cell in edge.cells:
            if cell in touched:
                cells[cell] = fresh(cell, cells[cell], False)
        return Edge(self.graph.true, cells, values)

    def _behind(
        self, edge: Edge, back: Edge, exits: Exits,
        variables: dict[tuple[object, int], Node], number: int, dead: list[Node],
    ) -> Exits:  # fmt: skip
        """The ways out of a loop, in terms of what was before it. ``dead``: paths that no
        invocation takes."""
        graph = self.graph
        table: dict[Node, tuple[Node, Node]] = {}
        for (cell, at), node in variables.items():
            if isinstance(cell, int):
                first, last = edge.values[cell], back.values[cell]
            else:
                first, last = edge.cells[cell], back.cells[cell]
            begin, next = parts(first)[at], parts(last)[at]
            if begin.kind != node.kind:  # the value of a column
                begin, next = begin.args[2], next.args[2]
            table[node] = begin, next
        done: dict[Node, Node] = {}
        closed: dict[Node, Node] = {}
        bit = 1 << number
        more, rest, puts = self.terms.settled(back.path, table, number)
        self.never(self.graph.both(edge.path, self.terms.endless(more, number)))

        def close(node: Node) -> Node:
            if not node.loops & bit and node.op != "ite":
                return node
            known = done.get(node)
            if known is None:
                known = node
                for put in puts:
                    known = self.terms.substituted(known, put, lambda n: not n.loops & bit)
                known = done[node] = self.terms.closed(more, known, rest, number, closed)
            return known

        for at, path in enumerate(dead):  # a variable says whether it was so in a round before
            for put in puts:
                path = self.terms.substituted(path, put, lambda n: not n.loops & bit)
            was = self.terms.variable(BOOL, len(variables) + at, number)
            ever = graph.either(was, path)
            known_too = {**rest, was: (graph.false, ever)}
            self.never(graph.both(edge.path, self.terms.closed(more, ever, known_too, number, {})))

        ways: Exits = {}
        taken = [(target, met(graph, edges)) for target, edges in exits.items()]
        for target, out in taken:
            path = edge.path
            if len(taken) > 1:
                leaving = graph.restrict(out.path, graph.negate(back.path))
                path = graph.both(path, close(leaving))
            if path is graph.false:
                continue
            cells = {cell: _each(value, close) for cell, value in out.cells.items()}
            values = [_each(value, close) for value in out.values]
            ways[target] = [Edge(path, cells, values)]
        return ways


def _each(value: Value, change: Callable[[Node], Node]) -> Value:
    """Nothing is made anew where nothing changes."""
    if isinstance(value, Node):
        return change(value)
    if not isinstance(value, tuple):
        return value
    made = tuple([_each(part, change) for part in value])
    return value if all(a is b for a, b in zip(made, value)) else made


def _elsewhere(
    edge: Edge, back: Edge, variables: dict[tuple[object, int], Node]
) -> set[tuple[object, int]]:
    """The columns that are no value in the same place any more at the end of a round."""
    found: set[tuple[object, int]] = set()
    for (cell, at), node in variables.items():
        if isinstance(cell, int):
            continue
        first, last = parts(edge.cells[cell])[at], parts(back.cells[cell])[at]
        if first.kind != node.kind and (last.op != "vstore" or last.args[:2] != first.args[:2]):
            found.add((cell, at))
    return found


def _changed(start: Edge, back: Edge) -> set[tuple[object, int]]:
    """The scalars of cells that are others at the end of a round."""
    places: set[tuple[object, int]] = set()
    for cell, value in start.cells.items():
        other = back.cells.get(cell)
        if other is None or other is value:
            continue
        for at, (a, b) in enumerate(zip(parts(value), parts(other))):
            if a is not b:
                places.add((cell, at))
    return places


__all__ = ["Call", "Target", "Walker"]
