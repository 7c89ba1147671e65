"""Whether the linked pipeline does what the original one does, node by node.

``refines``: for each input, what the linked node gives is one of those that the original may give.
They are the same node, or the original is undefined there, or both are the same operation on
operands of which that is true. ``care`` is what is known of the paths that lead there.
"""

from __future__ import annotations

from itertools import pairwise

from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper.choices import tests_of
from spvlink.verifier.paper.graph import (
    BOOL,
    CONST,
    ITE,
    MEMORY,
    UNDEF,
    Graph,
    Node,
    atoms_of,
    tops,
)
from spvlink.verifier.paper.normal import COMMUTATIVE, DOTS
from spvlink.verifier.paper.splits import emits, names_outer_variable
from spvlink.verifier.paper.terms import OF_PRIMITIVE, OWN, Terms
from spvlink.verifier.paper.vertices import below_memory, only_value, with_values

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

BITS: Final = "bits"
_CHOICES: Final = (
    dict.fromkeys(("b", "f16", "f32", "f64", "i8", "i16", "i32", "i64"), 0),
    {"b": 1, "f16": 0xBC00, "f32": 0xBF800000, "f64": 0xBFF << 52,
     "i8": 0xFF, "i16": 0xFFFF, "i32": 0xFFFFFFFF, "i64": 0xFFFFFFFFFFFFFFFF},
    {"b": 1, "f16": 0x3C00, "f32": 0x3F800000, "f64": 0x3FF << 52,
     "i8": 1, "i16": 1, "i32": 1, "i64": 1},
)  # fmt: skip
# Their last operand is the path they are on: there may be more lanes, not fewer.
GUARDED: Final = frozenset((
    "ImageSampleImplicitLod", "ImageSampleDrefImplicitLod", "ImageSampleProjImplicitLod",
    "ImageSampleProjDrefImplicitLod", "ImageQueryLod", "ImageGather", "ImageDrefGather", "DPdx",
    "DPdy", "Fwidth", "DPdxFine", "DPdyFine", "FwidthFine", "DPdxCoarse", "DPdyCoarse",
    "FwidthCoarse",
))  # fmt: skip
# Their operands are values of other invocations, or of another round: no path says anything.
_ELSEWHERE: Final = GUARDED | OWN | frozenset(("loop", "emit", "cut", "barrier"))


_ROWS: Final = frozenset(("isum", "BitwiseAnd", "BitwiseOr", "BitwiseXor"))
_MOST: Final = 12  # conditions that are compared with one
_MOST_TRIES: Final = 4000
# They read one value of a column.
READS: Final = frozenset(("at", "column", OF_PRIMITIVE))


# What is made of a number that is read, value by value.
_MADE: Final = frozenset((
    "BitwiseAnd", "ShiftRightLogical", "isum", "ConvertSToF", "ConvertUToF", "SConvert", "UConvert",
    "word", BITS,
))  # fmt: skip


def _way(node: Node) -> list[Node]:
    """A number that is read of a column, and what is made of it with constants, one after the
    other; the last is the node itself."""
    way = [node]
    while way[0].op in _MADE:
        others = [arg for arg in way[0].args if arg.op != CONST]
        if len(others) != 1:
            break
        way.insert(0, others[0])
    return way


def _products(total: Node) -> list[tuple[str, tuple[Node, ...]]]:
    """The products of a sum ("poly"): a factor and the nodes of each."""
    products = []
    start = 0
    for one in total.imm:
        if not isinstance(one, tuple):  # a constant alone
            return [(str(one), ())]
        count, factor = one
        products.append((factor, total.args[start : start + count]))
        start += count
    return products


class Comparison:
    """Of nodes of one graph. ``deepest``: the pair at which it failed first."""

    def __init__(self, terms: Terms, partial: dict[Node, Node]) -> None:
        self.terms = terms
        self.graph: Graph = terms.graph
        self.choices = [
            {
                self.graph.undefined(kind): self.graph.const(kind, bits)
                for kind, bits in pairs.items()
            }
            for pairs in _CHOICES
        ]
        self.always = self.graph.true  # what is known on all paths
        self.tries = _MOST_TRIES  # left, to find what stands in another order
        self.partial = partial  # what is read of the original, and what it may be taken for
        self.known: dict[tuple[int, int, int], bool] = {}
        self.deepest: tuple[Node, Node] | None = None

    def refines(self, original: Node, linked: Node, care: Node) -> bool:
        if original is linked:
            return True
        graph = self.graph
        original, linked = graph.restrict(original, care), graph.restrict(linked, care)
        if original is linked:
            return True
        key = original.id, linked.id, care.id
        known = self.known.get(key)
        if known is None:
            self.known[key] = False  # nothing holds because of itself
            known = self.known[key] = self._refines(original, linked, care)
            if not known and self.deepest is None:
                self.deepest = original, linked
        return known

    def _refines(self, original: Node, linked: Node, care: Node) -> bool:
        if original.op == UNDEF:
            return True
        if linked.op == UNDEF:
            return False
        if ITE in (original.op, linked.op):
            atoms = [node for n in (original, linked) for node in tops(n)]
            return self._choices(original, linked, care, atoms)
        if original.kind != linked.kind:  # what is captured is bits, of whatever type
            if original.op == CONST == linked.op:
                widths = [fold.width(node.kind) for node in (original, linked)]
                return widths[0] == widths[1] and original.bits == linked.bits
            if BITS not in (original.op, linked.op):
                return False
            a, b = [node.args[0] if node.op == BITS else node for node in (original, linked)]
            return self.refines(a, b, care)
        if original.kind == BOOL and CONST in (original.op, linked.op):
            return False
        if linked.op == "join" and original.op != "join":
            words = [self.terms.op("word", "i32", [original], (at,)) for at in (0, 1)]
            return all(self.refines(a, b, care) for a, b in zip(words, linked.args))
        if self._alike(original, linked, care) or self._value_by_value(original, linked):
            return True
        taken = self.partial.get(original)
        if taken is not None and self.refines(taken, linked, care):
            return True
        if original.op == "pick" and all(self.refines(e, linked, care) for e in original.args[1:]):
            return True  # whatever the index is: beyond the end it is undefined
        if self._written(original, linked):
            return True
        return original.undef and not linked.undef and self._may_be(original, linked)

    def _may_be(self, original: Node, linked: Node) -> bool:
        """Whether a value is the linked one if all that is undefined in it is 0, -1, or 1."""

        def leave(node: Node) -> bool:
            return not node.undef

        return any(
            self.terms.substituted(original, known, leave) is linked for known in self.choices
        )

    def _choices(self, original: Node, linked: Node, care: Node, atoms: list[Node]) -> bool:
        """By cases. Where the atoms are two nodes, they may still be one condition. If that may be
        undefined, it says nothing of other conditions: each use may see another value."""
        graph = self.graph
        pair = self._partners(original, linked, care) if len(atoms) == 2 else None
        if pair is not None:
            for holds in (True, False):
                tests = [test if holds else graph.negate(test) for test in pair]
                known = care if pair[0].loose else graph.both(care, tests[0])
                ends = [graph.restrict(n, t) for n, t in zip((original, linked), tests)]
                if not self.refines(ends[0], ends[1], known):
                    return False
            return True
        atom = min(atoms, key=lambda n: n.id)
        o1, o0 = graph.cofactors(original, atom)
        l1, l0 = graph.cofactors(linked, atom)
        return self.refines(o1, l1, graph.both(care, atom)) and self.refines(
            o0, l0, graph.both(care, graph.negate(atom))
        )

    def _partners(self, original: Node, linked: Node, care: Node) -> tuple[Node, Node] | None:
        """A condition of each of two choices that are one: the first one of either of them."""
        (mine,), (other,) = tops(original), tops(linked)
        if mine is other:
            return None
        all_mine, all_other = tests_of(original), tests_of(linked)
        if mine.id < other.id:
            pairs = [(mine, test) for test in all_other - all_mine if mine not in all_other]
        else:
            pairs = [(test, other) for test in all_mine - all_other if other not in all_mine]
        pairs = [(a, b) for a, b in pairs if a.op == b.op]
        first = (mine, other)
        for a, b in sorted(pairs, key=lambda pair: (pair != first, pair[0].id, pair[1].id))[:_MOST]:
            if (a, b) != first:
                if not self.tries:
                    return None
                self.tries -= 1
            if self._alike(a, b, care):
                return a, b
        return None

    def _loops(self, original: Node, linked: Node, care: Node) -> bool:
        """Loops that go on alike, start alike, and do alike: in a round that goes on, and in the
        last one for the value behind it. Their variables have the same names. What is known of the
        path holds in each round: it names no variable of the loop."""
        graph = self.graph
        more = original.args[0]
        pairs = list(zip(original.args, linked.args))
        if more is not linked.args[0]:
            return all(self.refines(a, b, care) for a, b in pairs)
        kinds = original.imm[1]
        assert isinstance(kinds, tuple)
        starts = 2 + len(kinds)
        inside = graph.both(care, more)
        return (
            all(self.refines(a, b, care) for a, b in pairs[2:starts])
            and all(self.refines(a, b, inside) for a, b in pairs[starts:])
            and self.refines(*pairs[1], graph.both(care, self._last_round(linked, care)))
        )

    def _last_round(self, loop: Node, care: Node) -> Node:
        """What is known in the last round: that it is the last, and what is known behind the loop
        of the same loop's conditions."""
        graph = self.graph
        known = graph.negate(loop.args[0])
        for atom in atoms_of(care):
            if atom.op != "loop" or atom.imm != loop.imm or atom.loose:
                continue
            if atom.args[:1] + atom.args[2:] != loop.args[:1] + loop.args[2:]:
                continue
            if graph.implies(care, atom):
                known = graph.both(known, atom.args[1])
            elif graph.implies(care, graph.negate(atom)):
                known = graph.both(known, graph.negate(atom.args[1]))
        return known

    def _sums(self, original: Node, linked: Node, care: Node) -> bool:
        """Sums of as many products, in any order: each is one of the other sum."""
        left = _products(linked)
        for factor, nodes in _products(original):
            for at, (other, others) in enumerate(left):
                alike = factor == other and len(nodes) == len(others)
                if alike and all(self.refines(a, b, care) for a, b in zip(nodes, others)):
                    del left[at]
                    break
            else:
                return False
        return not left

    def _rows(self, original: Node, linked: Node, care: Node, sign: int) -> bool:
        """Rows of operands in any order; those of a sum with their factors, or, if the sign is -1,
        with those of its negation."""
        mask = (1 << fold.width(original.kind)) - 1
        sides = []
        for node, by in ((original, 1), (linked, sign)):
            numbers = node.imm if node.op == "isum" else (0,) + (1,) * len(node.args)
            sides.append([i * by & mask for i in numbers if isinstance(i, int)])
        if sides[0][0] != sides[1][0] or len(sides[0]) != len(sides[1]):
            return False
        mine, left = [list(zip(s[1:], n.args)) for s, n in zip(sides, (original, linked))]
        for factor, arg in sorted(mine, key=lambda pair: (pair[1].undef, pair[1].id)):
            for at, (other, node) in enumerate(left):
                if factor == other and self.tries and self.refines(arg, node, care):
                    del left[at]
                    break
                self.tries = max(self.tries - 1, 0)
            else:
                return False
        return True

    def _value_by_value(self, original: Node, linked: Node) -> bool:
        """Numbers that are made, with constants, of what is read of two columns: they are alike if
        the columns are with all that is written to them made so."""
        ways = [_way(node) for node in (original, linked)]
        mine, other = (way[0] for way in ways)
        if mine.op not in READS and other.op in READS:
            return self._only(original, ways[1])
        if mine.op not in READS or mine.op != other.op or all(len(way) == 1 for way in ways):
            return False
        if any(all(arg.kind != MEMORY for arg in read.args) for read in (mine, other)):
            return False  # a vertex has it, and no column
        if (mine.imm, len(mine.args)) != (other.imm, len(other.args)):
            return False
        sides = []
        for way in ways:
            args = [self._made(arg, way) for arg in way[0].args]
            if any(arg is None for arg in args):
                return False
            sides.append([arg for arg in args if arg is not None])
        return all(self.refines(a, b, self.graph.true) for a, b in zip(*sides))

    def _only(self, original: Node, way: list[Node]) -> bool:
        """The same if all that is written to the column of the linked one is made one value."""
        columns = [self._made(arg, way) for arg in way[0].args if arg.kind == MEMORY]
        if len(way) == 1 or len(columns) != 1 or columns[0] is None:
            return False
        value = only_value(columns[0], emits(columns[0]))
        return value is not None and self.refines(original, value, self.graph.true)

    def _written(self, original: Node, linked: Node) -> bool:
        """Whether all that is written to a column, made so, is a value that all invocations agree
        on: what is not written is undefined."""
        way = _way(original)
        if way[0].op not in READS or linked.varying or names_outer_variable(linked):
            return False
        values = [
            link.args[-1]
            for column in way[0].args
            if column.kind == MEMORY
            for link in below_memory(column)
            if link.op in ("emit", "vstore")
        ]
        return bool(values) and all(
            self.refines(self._put(value, way), linked, self.always) for value in set(values)
        )

    def _put(self, value: Node, way: list[Node]) -> Node:
        """What is made of a value as of what is read."""
        for below, node in pairwise(way):
            value = self.terms.rebuilt(node, [value if a is below else a for a in node.args])
        return value

    def _made(self, arg: Node, way: list[Node]) -> Node | None:
        """A column with its values made so; of other operands nothing changes."""
        if arg.kind != MEMORY or len(way) == 1:
            return arg

        return with_values(self.graph, arg, lambda value: self._put(value, way))

    def _alike(self, original: Node, linked: Node, care: Node) -> bool:
        """The same operation on operands that are refined. A linked one may be precise where the
        original is not."""
        if original.op != linked.op or len(original.args) != len(linked.args):
            return False
        if original.op == "poly" and original.imm != linked.imm:
            return self._sums(original, linked, care)
        if original.op in _ROWS:
            return self._rows(original, linked, care, 1)
        if original.op == "izero" and original.args[0].op == linked.args[0].op == "isum":
            a, b = original.args[0], linked.args[0]
            return self.refines(a, b, care) or self._rows(a, b, care, -1)
        if original.imm != linked.imm and (*original.imm, "precise") != linked.imm:
            return False
        if not original.args:
            return False
        pairs = list(zip(original.args, linked.args))
        if original.op == "loop":
            return self._loops(original, linked, care)
        if original.op in _ELSEWHERE:
            if original.op in GUARDED:
                mine, other = pairs.pop()
                if not self.graph.implies(self.graph.both(care, mine), other):
                    return False
            care = self.always
        if all(self.refines(a, b, care) for a, b in pairs):
            return True
        if original.op in COMMUTATIVE or original.op in DOTS:
            halves = list(zip(pairs[::2], pairs[1::2]))
            return all(
                (self.refines(a, c, care) and self.refines(b, d, care))
                or (self.refines(a, d, care) and self.refines(b, c, care))
                for (a, c), (b, d) in halves
            )
        return False
