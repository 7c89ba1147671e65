"""What holds up to rounding: the axioms that the default of ``spvlink link`` may use.

    uniform   interpolation gives a value that all vertices of a primitive agree on
    linear    interpolation is linear in real numbers: a sum of products with values that all
              vertices agree on may be made before or behind it
    sums      sums and products of real numbers do not depend on their order
    zeros     what all vertices have as 0 is 0, x * 0 is 0, and x + 0 is x

They hold for what ends in a colour. In front of a decision (a comparison, floor, a conversion to an
integer, coordinates of a lookup) only ``zeros`` holds, since a decision may depend on the last bit;
nor in front of a constant factor that makes a step of a last bit (``STEEP``). In front of a pole
(division, sqrt, normalize ...) ``uniform`` holds, too, and the others where the value stays away.

A value in normal form has sums as ``poly``: monomials of other nodes, with factors in front of them
that stand for all that differ by rounding.
"""

from __future__ import annotations

from math import isfinite

from spvlink.grammar import enums
from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper.choices import choose, leaves_of
from spvlink.verifier.paper.compare import GUARDED
from spvlink.verifier.paper.constants import STEEP, Constants
from spvlink.verifier.paper.graph import CONST, ITE, MEMORY, Graph, Node
from spvlink.verifier.paper.normal import rounded
from spvlink.verifier.paper.splits import Splits, emits
from spvlink.verifier.paper.terms import OF_PRIMITIVE, OWN, Terms
from spvlink.verifier.paper.vertices import in_same_places, only_value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.verifier.paper.splits import Poly

UNIFORM: Final = "uniform"
LINEAR: Final = "linear"
SUMS: Final = "sums"
ZEROS: Final = "zeros"
# How a value is used
DECIDED: Final = 0
POLE: Final = 1
SMOOTH: Final = 2
_MOST: Final = 600  # monomials
_SUMS: Final = frozenset((
    "FAdd", "FMul", "FNegate", "FDiv", "glsl.Fma", "row", "Dot", "column product", "glsl.FMix",
    "glsl.Cross", "interp", "poly",
))  # fmt: skip
# What is continuous, and no steeper than what the rules of rounding allow.
_SMOOTH: Final = frozenset((
    "glsl.Sin", "glsl.Cos", "glsl.Exp", "glsl.Exp2", "glsl.FMin", "glsl.FMax", "glsl.FClamp",
    "glsl.FAbs", "glsl.SmoothStep", "glsl.Radians", "glsl.Degrees", "glsl.NMin", "glsl.NMax",
    "glsl.NClamp", "FConvert", "glsl.Length", "glsl.Distance", "glsl.Reflect", "glsl.Atan",
    "glsl.Tanh",
))  # fmt: skip
_POLES: Final = frozenset((
    "glsl.Sqrt", "glsl.InverseSqrt", "glsl.Log", "glsl.Log2", "glsl.Pow", "glsl.Normalize",
    "glsl.Atan2", "glsl.Tan", "glsl.MatrixInverse", "glsl.Asin", "glsl.Acos", "reciprocal",
))  # fmt: skip
# Their poles are elsewhere than at zero.
_FAR_POLES: Final = frozenset(("glsl.Tan", "glsl.MatrixInverse", "glsl.Asin", "glsl.Acos"))
# They take one of the values of a column.
_SELECTS: Final = frozenset((OF_PRIMITIVE, "at", "column"))
_LAST_COORDINATE: Final = ("tese", enums.BuiltIn_TessCoord, 2)
_LOST: Final = 1e-9  # of the parts of a sum that cancel


class Reals:
    """Normal forms up to rounding. ``used``: how often each axiom was."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.graph: Graph = terms.graph
        self.known: dict[tuple[int, int], Node] = {}
        self.polys: dict[int, Poly] = {}
        self.infinite: dict[Node, bool] = {}
        self.used: dict[str, int] = {}
        self.columns = Splits(terms, self.poly, self.made, self.may_be_infinite)
        self.constants = Constants()
        # Columns of a mesh shader: nothing is drawn without a position, and without indices
        self.positions: list[Node] = []
        self.indices: list[Node] = []
        self.has_triangles = False  # the domain of the tessellator

    def is_complete(self, reader: Node, column: Node) -> bool:
        """Whether a column has a value of each vertex, or primitive, that is drawn."""
        others = self.indices if reader.op == OF_PRIMITIVE else self.positions
        return emits(column) or any(in_same_places(column, other) for other in others)

    def use(self, axiom: str) -> None:
        self.used[axiom] = self.used.get(axiom, 0) + 1

    def form(self, node: Node, level: int = SMOOTH) -> Node:
        """The normal form of a value that is used so."""
        if node.op == CONST:
            return self._number(node) if level == SMOOTH else node
        if not node.args or node.undef:
            return node
        key = node.id, level
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self._form(node, level)
        return known

    def _number(self, node: Node) -> Node:
        """The constant that stands for those that differ by rounding."""
        if not fold.is_float(node.kind) or _is_no_number(node):
            return node
        return self.constant(node.kind, fold.number(node.kind, node.bits))

    def _form(self, node: Node, level: int) -> Node:
        if level == SMOOTH and node.op in _SUMS and node.kind[0] == "f":
            return self.made(node.kind, self.poly(node))
        if node.op == ITE:
            return self._choice(node, level)
        if node.op == "interp":
            inner = node.args[0]
            is_number = inner.kind != MEMORY and not _is_no_number(inner)
            if level == POLE and not inner.varying and is_number:
                self.use(UNIFORM)
                return self.form(inner, level)
            if _is_zero(inner):
                self.use(ZEROS)
                return inner
            # inside, nothing that is interpolated is changed in front of a decision
            return node
        if node.op in OWN or node.op == "SampledImage":
            return node
        if node.op == "pick":  # a choice by a number
            elements = [self.form(a, level) for a in node.args[1:]]
            return self.terms.pick(self.form(node.args[0], DECIDED), elements)
        if node.op == "loop":
            return self._loop(node, level)
        level = self._level(node, level)
        args = [self.form(a, level) for a in node.args]
        if node.op in GUARDED:
            args[-1] = node.args[-1]
        rest = self._without_zero(node, args)
        if rest is not None:
            self.use(ZEROS)
            return rest
        if node.op == "glsl.FAbs" and args[0].op == "poly":
            args = [self._upright(args[0])]
        made = node if args == list(node.args) else self.terms.rebuilt(node, args)
        return made if level == DECIDED else rounded(self.graph, made) or made

    def _upright(self, node: Node) -> Node:
        """A sum or its negation, whichever begins with a factor above zero."""
        first = node.imm[0] if node.args else None
        if not isinstance(first, tuple) or float(first[1]) > 0.0:
            return node
        return self.made(node.kind, _sum([(self.polys[node.id], -1.0)]))

    def _without_zero(self, node: Node, args: list[Node]) -> Node | None:
        """A product with 0, or a sum with 0, of what is a number."""
        if node.op not in ("FAdd", "FMul") or not any(_is_zero(arg) for arg in args):
            return None
        zero, other = args if _is_zero(args[0]) else args[::-1]
        if node.op == "FAdd":
            return other
        return None if _is_no_number(other) or self.may_be_infinite(other) else zero

    def _loop(self, node: Node, level: int) -> Node:
        """In a loop only variables that decide nothing may be rounded otherwise."""
        height, kinds = node.imm
        assert isinstance(height, int) and isinstance(kinds, tuple)
        count = len(kinds)
        names = [self.terms.placeholder(kind, height, at) for at, kind in enumerate(kinds)]
        nexts = dict(zip(names, node.args[2 + count :]))
        deciding = {name for name in names if name.kind[0] != "f"}
        todo = [(node.args[0], DECIDED), (node.args[1], level)]
        todo += [(nexts[name], DECIDED if name in deciding else level) for name in names]
        seen: set[tuple[Node, int]] = set()
        while todo:
            top, at = todo.pop()
            if (top, at) in seen:
                continue
            seen.add((top, at))
            if top in nexts:
                if at != level and top not in deciding:
                    deciding.add(top)
                    todo.append((nexts[top], DECIDED))
                continue
            if top.op == ITE:
                todo += [(top.args[0], DECIDED), (top.args[1], at), (top.args[2], at)]
            else:
                inner = DECIDED if top.op == "loop" else self._level(top, at)
                todo += [(arg, inner) for arg in top.args]
        levels = [DECIDED if name in deciding else level for name in names]
        value_level = level if node.kind[0] == "f" else DECIDED
        wanted = [DECIDED, value_level, *levels, *levels]
        args = [self.form(arg, at) for arg, at in zip(node.args, wanted)]
        return node if args == list(node.args) else self.terms.rebuilt(node, args)

    def _level(self, node: Node, level: int) -> int:
        """Of the operands."""
        if node.kind[0] != "f" or any(a.kind[0] != "f" for a in node.args):
            return DECIDED
        if node.op == "glsl.SmoothStep":
            return level if _is_gentle(node) else DECIDED
        if node.op in _SMOOTH:
            return level
        if node.op in _POLES:
            return level if self.has_no_pole(node) else min(level, POLE)
        if node.op in _SUMS:  # below SMOOTH: as they stand
            return level
        return DECIDED

    def _choice(self, node: Node, level: int) -> Node:
        atom, high, low = node.args
        return self.graph.ite(
            self.form(atom, DECIDED), self.form(high, level), self.form(low, level)
        )

    def has_no_pole(self, node: Node) -> bool:
        """Whether a function that has a pole stays away from it, whatever is read."""
        if node.op in _FAR_POLES or not all(self.away(a) for a in node.args):
            return False
        return node.op != "glsl.Pow" or not _is_steep(node.args[1])

    def may_be_infinite(self, node: Node) -> bool:
        """Whether a pole is in what a value is made of."""
        known = self.infinite.get(node)
        if known is None:
            if node.op in ("FDiv", "reciprocal"):
                has_pole = not self.away(node.args[-1])
            else:
                has_pole = node.op in _POLES and not self.has_no_pole(node)
            known = has_pole or any(self.may_be_infinite(a) for a in node.args)
            self.infinite[node] = known
        return known

    def away(self, node: Node) -> bool:
        """Whether a float is known to be well above zero, whatever is read."""
        return self.least(node) * STEEP >= 1.0

    def least(self, node: Node) -> float:
        """A bound that a float is never below; 0 if none above it is known."""
        op, args = node.op, node.args
        if op == CONST and fold.is_float(node.kind):
            value = fold.number(node.kind, node.bits)
            return value if value > 0.0 else 0.0
        if op in ("glsl.FMax", "glsl.NMax"):
            return max(self.least(a) if a.op == CONST else 0.0 for a in args)
        if op in ("glsl.FClamp", "glsl.NClamp"):
            return self.least(args[1]) if args[1].op == CONST else 0.0
        if op == "FAdd":
            if all(self.positive(a) for a in args):
                return self.least(args[0]) + self.least(args[1])
        elif op == "FMul":
            return self.least(args[0]) * self.least(args[1])
        return 0.0

    def positive(self, node: Node) -> bool:
        """Whether a float is known not to be negative."""
        op = node.op
        if op in ("glsl.FAbs", "glsl.Exp", "glsl.Exp2", "glsl.Sqrt", "glsl.Length"):
            return True
        if op == CONST and fold.is_float(node.kind):
            return fold.number(node.kind, node.bits) >= 0.0
        if op in ("glsl.FMax", "glsl.NMax"):
            return any(a.op == CONST and self.positive(a) for a in node.args)
        if op in ("glsl.FClamp", "glsl.NClamp"):
            return self.positive(node.args[1])
        if op == "FMul":
            return node.args[0] is node.args[1] or all(self.positive(a) for a in node.args)
        if op == "Dot":
            return all(node.args[i] is node.args[i + 1] for i in range(0, len(node.args), 2))
        if op == "FAdd":
            return all(self.positive(a) for a in node.args)
        return self.away(node)

    # -- sums --------------------------------------------------------------------------------------

    def made(self, kind: str, poly: Poly) -> Node:
        """The node of a sum."""
        kept = [(m, c) for m, c in poly.items() if c != 0.0]
        if not kept:
            return self.graph.const(kind, 0)
        if len(kept) == 1:
            monomial, factor = kept[0]
            if not monomial:
                return self.constant(kind, factor)
            if factor == 1.0 and len(monomial) == 1:
                return monomial[0]
        kept.sort(key=lambda pair: [n.id for n in pair[0]])
        args = tuple([node for monomial, _ in kept for node in monomial])
        imm = tuple([(len(monomial), repr(self.constants.one(c))) for monomial, c in kept])
        node = self.graph.node("poly", kind, args, imm)
        self.polys.setdefault(node.id, poly)
        return node

    def constant(self, kind: str, value: float) -> Node:
        one = self.constants.one(value)
        bits = fold.bits_of(kind, one)
        if bits is None:
            return self.graph.node("poly", kind, (), (repr(one),))
        return self.graph.const(kind, bits)

    def poly(self, node: Node) -> Poly:
        """A float as a sum of products, in real numbers."""
        known = self.polys.get(node.id)
        if known is None:
            known = self._poly(node)
            if len(known) > _MOST:
                known = {(self._opaque(node),): 1.0}
            elif any(known) and not all(abs(c) < STEEP for c in known.values()):
                known = {(node,): 1.0}
            self.polys[node.id] = known
        return known

    def _opaque(self, node: Node) -> Node:
        if node.op in _SUMS and node.op != "interp":
            args = [self.form(a, SMOOTH) for a in node.args]
            return self.graph.node(node.op, node.kind, tuple(args), node.imm)
        return node

    def _poly(self, node: Node) -> Poly:
        op, args = node.op, node.args
        if op == CONST and fold.is_float(node.kind):
            value = fold.number(node.kind, node.bits)
            return {(): value} if isfinite(value) else {(node,): 1.0}
        if node.undef:
            return {(node,): 1.0}
        if "precise" in node.imm:
            return self._precise(node)
        if op == "FConvert" and args[0].op == "interp" and _widens(node):
            return self._widened(node)
        if op == ITE and node.kind[0] == "f":
            return self.polys_of_choice(node)
        if op == "interp":
            return self._interpolated(node)
        if op in _SELECTS and any(arg.kind == MEMORY for arg in args):
            return self._of_column(node)
        if self.has_triangles and op == "builtin" and node.imm == _LAST_COORDINATE:
            self.use(SUMS)
            others = [self.graph.leaf(op, node.kind, *node.imm[:2], at) for at in range(2)]
            return {(): 1.0, **{(other,): -1.0 for other in others}}
        if op in _SUMS and any(_is_no_number(arg) for arg in args):
            return {(node,): 1.0}
        if op not in _SUMS or node.kind[0] != "f":
            form = self.form(node, SMOOTH)
            if form is not node and form.op == CONST:
                return self.poly(form)
            return self.polys.get(form.id, {(form,): 1.0}) if form.op == "poly" else {(form,): 1.0}
        self.use(SUMS)
        if op == "FAdd":
            return _sum([(self.poly(args[0]), 1.0), (self.poly(args[1]), 1.0)])
        if op == "FNegate":
            return _sum([(self.poly(args[0]), -1.0)])
        if op == "FMul":
            return _times(self.poly(args[0]), self.poly(args[1]))
        if op == "FDiv":
            return self._quotient(node)
        if op == "glsl.Fma":
            product = _times(self.poly(args[0]), self.poly(args[1]))
            return _sum([(product, 1.0), (self.poly(args[2]), 1.0)])
        if op == "glsl.FMix":
            x, y, a = [self.poly(arg) for arg in args]
            return _sum([(x, 1.0), (_times(x, a), -1.0), (_times(y, a), 1.0)])
        if op == "glsl.Cross":
            a, b, c, d = [self.poly(arg) for arg in args]
            return _sum([(_times(a, b), 1.0), (_times(c, d), -1.0)])
        products = [
            (_times(self.poly(args[i]), self.poly(args[i + 1])), 1.0)
            for i in range(0, len(args), 2)
        ]
        return _sum(products)

    def _precise(self, node: Node) -> Poly:
        """As it stands, but that x - x is 0 and x + 0 is x for every number."""
        if node.op == "FAdd":
            a, b = [self.poly(arg) for arg in node.args]
            if not _sum([(a, 1.0), (b, 1.0)]):
                return {}
            if not a or not b:
                return b or a
        return {(self._opaque(node),): 1.0}

    def _widened(self, node: Node) -> Poly:
        """What is interpolated may be widened before or behind it."""
        inner = node.args[0]
        self.use(LINEAR)
        wide = self.terms.op("FConvert", node.kind, [inner.args[0]])
        return self.poly(self.terms.interpolated(wide, inner.args[1:], inner.imm))

    def _quotient(self, node: Node) -> Poly:
        """A division by what may be zero stays one, and only its operands change. Another is a
        product with 1 / x, a node by itself: below it no sum is taken apart."""
        above, below = node.args
        form = self.form(below, POLE)
        is_away = self.away(form)
        if is_away:
            form = self.form(form, SMOOTH)
        if form.op == CONST:
            value = fold.number(form.kind, form.bits)
            if value != 0.0 and isfinite(1.0 / value):
                return _times(self.poly(above), {(): 1.0 / value})
        if not is_away:
            made = self.graph.node("FDiv", node.kind, (self.form(above), form), node.imm)
            return {(made,): 1.0}
        inverse = self.graph.node("reciprocal", node.kind, (form,))
        return _times(self.poly(above), {(inverse,): 1.0})

    def polys_of_choice(self, node: Node) -> Poly:
        """A choice of numbers is one of them, and a choice that has 0 for it and 1 for the next."""
        form = self.form(node, SMOOTH)
        if form.op == CONST:
            return self.poly(form)
        leaves = leaves_of(form) or [form]
        if form.op == ITE and not any(leaf.op != CONST or _is_no_number(leaf) for leaf in leaves):
            numbers = {leaf: fold.number(leaf.kind, leaf.bits) for leaf in leaves}
            low = numbers[leaves[0]]
            step = next(number - low for number in numbers.values() if number != low)
            ends = {n: self.constant(n.kind, (c - low) / step) for n, c in numbers.items()}
            poly: Poly = {(choose(self.graph, form, ends),): step}
            return {(): low, **poly} if low else poly
        return self.polys.get(form.id, {(form,): 1.0}) if form.op == "poly" else {(form,): 1.0}

    def _interpolated(self, node: Node) -> Poly:
        """Interpolation of a sum: the sum of what is interpolated, each with the factors that all
        vertices agree on."""
        inner = node.args[0]
        if node.imm == ("distance",) or _is_no_number(inner):
            return {(node,): 1.0}
        if inner.kind == MEMORY:
            return self._of_column(node)
        total: Poly = {}
        for monomial, factor in self.poly(inner).items():
            same = [n for n in monomial if not n.varying]
            other = [n for n in monomial if n.varying]
            if other and any(self.may_be_infinite(n) for n in same):
                same, other = [], list(monomial)
            self.use(LINEAR if other else UNIFORM)
            if not other:
                key = tuple(same)
                total[key] = total.get(key, 0.0) + factor
            elif len(other) == 1 and other[0].op == ITE:
                for more, choice, times in self.columns.split(other[0]):
                    self._cross(total, node, [*same, *more], choice, factor * times)
            else:
                self._cross(total, node, same, self.made(node.kind, {tuple(other): 1.0}), factor)
        return total

    def _of_column(self, node: Node) -> Poly:
        """What is read of a column of sums: the sum of what is read of each column."""
        column = next(arg for arg in node.args if arg.kind == MEMORY)
        total: Poly = {}
        is_complete = self.is_complete(node, column)
        for key, part, factor in self.columns.split(column, is_complete):
            self._cross(total, node, list(key), part, factor)
        return total or {(node,): 1.0}

    def _cross(
        self, total: Poly, node: Node, same: list[Node], varying: Node, factor: float
    ) -> None:
        """What a choice by a value that all vertices agree on gives is interpolated by itself."""
        crossing = self._behind(node, varying)
        if crossing.op == CONST:
            factor *= fold.number(crossing.kind, crossing.bits)
            key = tuple(sorted(same, key=lambda n: n.id))
        else:
            key = tuple(sorted([*same, crossing], key=lambda n: n.id))
        total[key] = total.get(key, 0.0) + factor

    def _behind(self, node: Node, inner: Node) -> Node:
        if inner.op == ITE and not inner.args[0].varying:
            atom, high, low = inner.args
            return self.graph.ite(atom, self._behind(node, high), self._behind(node, low))
        if inner.kind != MEMORY and not inner.varying:
            return inner
        if inner.kind == MEMORY:
            value = only_value(inner, True)
            if value is not None and value.op == CONST and self.is_complete(node, inner):
                self.use(UNIFORM)
                return value
        args = list(node.args)
        args[1 if node.op == "at" else 0] = inner
        made = self.graph.node(node.op, node.kind, tuple(args), node.imm)
        made.varying = node.varying
        return made


def _widens(node: Node) -> bool:
    return fold.width(node.kind) > fold.width(node.args[0].kind)


def _sum(parts: list[tuple[Poly, float]]) -> Poly:
    """What cancels goes: not what is small."""
    total: Poly = {}
    most: Poly = {}
    for poly, factor in parts:
        for monomial, times in poly.items():
            total[monomial] = total.get(monomial, 0.0) + times * factor
            most[monomial] = max(most.get(monomial, 0.0), abs(times * factor))
    return {m: c for m, c in total.items() if not abs(c) <= _LOST * most[m]}


def _is_no_number(node: Node) -> bool:
    """Whether it is an infinity or a NaN."""
    if node.op != CONST or not fold.is_float(node.kind):
        return False
    return not isfinite(fold.number(node.kind, node.bits))


def _is_zero(node: Node) -> bool:
    if node.op != CONST or not fold.is_float(node.kind):
        return False
    return fold.number(node.kind, node.bits) == 0.0


def _is_gentle(step: Node) -> bool:
    """Whether the edges of smoothstep are far apart, or none that vary."""
    edges = step.args[:2]
    if all(edge.op == CONST for edge in edges):
        low, high = [fold.number(edge.kind, edge.bits) for edge in edges]
        return abs(high - low) * STEEP > 1.0
    return not any(edge.varying for edge in edges)


def _is_steep(exponent: Node) -> bool:
    return exponent.op == CONST and not abs(fold.number(exponent.kind, exponent.bits)) < STEEP


def _times(a: Poly, b: Poly) -> Poly:
    product: Poly = {}
    for x, cx in a.items():
        for y, cy in b.items():
            key = tuple(sorted([*x, *y], key=lambda n: n.id))
            product[key] = product.get(key, 0.0) + cx * cy
        if len(product) > 4 * _MOST:
            break
    return product
