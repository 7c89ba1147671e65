"""Normal forms of operations on scalars. Every rule keeps each bit, NaNs, infinities and signs of
zeros included, unless it says why it need not.

The reasons are beside the rules. Operations have the names of SPIR-V without "Op", those of
GLSL.std.450 with "glsl." before them; where two operations differ in a turn of their operands or a
negation, one of them stands for both.
"""

from __future__ import annotations

from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper import integers
from spvlink.verifier.paper.choices import choose, leaves_of
from spvlink.verifier.paper.graph import BOOL, CONST, ITE, Graph, Node

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Rule = Callable[[Graph, str, list[Node], tuple[object, ...]], "Node | None"]

# a * b is b * a in IEEE 754, and so on. FMin and FMax are not here: which NaN or zero they give
# depends on the order of their operands.
COMMUTATIVE: Final = frozenset((
    "FAdd", "FMul", "FOrdEqual", "FOrdNotEqual", "IMul", "glsl.SMin", "glsl.SMax", "glsl.UMin",
    "glsl.UMax",
))  # fmt: skip
DOTS: Final = frozenset(("row", "Dot", "column product"))  # sums of products of two
ROUNDED: Final = DOTS | frozenset(("FDiv",))  # more than one result is allowed

# Comparisons that are another one of swapped operands: (name, swapped, negated). A comparison of
# floats is false if it is ordered and an operand is a NaN, true if it is unordered; so the
# unordered one is the negation of the opposite ordered one.
_COMPARES: Final[dict[str, tuple[str, bool, bool]]] = {
    "FOrdGreaterThan": ("FOrdLessThan", True, False),
    "FOrdGreaterThanEqual": ("FOrdLessThanEqual", True, False),
    "FUnordEqual": ("FOrdNotEqual", False, True),
    "FUnordNotEqual": ("FOrdEqual", False, True),
    "FUnordLessThan": ("FOrdLessThanEqual", True, True),
    "FUnordLessThanEqual": ("FOrdLessThan", True, True),
    "FUnordGreaterThan": ("FOrdLessThanEqual", False, True),
    "FUnordGreaterThanEqual": ("FOrdLessThan", False, True),
    "SGreaterThan": ("SLessThan", True, False),
    "SLessThanEqual": ("SLessThan", True, True),
    "SGreaterThanEqual": ("SLessThan", False, True),
    "UGreaterThan": ("ULessThan", True, False),
    "ULessThanEqual": ("ULessThan", True, True),
    "UGreaterThanEqual": ("ULessThan", False, True),
    "INotEqual": ("IEqual", False, True),
}


def apply(graph: Graph, op: str, kind: str, args: list[Node], imm: tuple[object, ...] = ()) -> Node:
    """The node of an operation, in normal form."""
    compare = _COMPARES.get(op)
    if compare is not None:
        name, swapped, negated = compare
        applied = apply(graph, name, kind, args[::-1] if swapped else args, imm)
        return graph.negate(applied) if negated else applied
    rule = _RULES.get(op)
    if rule is not None:
        known = rule(graph, kind, args, imm)
        if known is not None:
            return known
    known = _constant(graph, op, kind, args, imm)
    if known is not None:
        return known
    if op in COMMUTATIVE and args[0].id > args[1].id:
        args = args[::-1]
    return graph.node(op, kind, tuple(args), imm)


def _constant(
    graph: Graph, op: str, kind: str, args: list[Node], imm: tuple[object, ...]
) -> Node | None:
    """The result if all operands are constants, or one is a choice of constants."""
    choice = None
    for arg in args:
        if arg.op == ITE and choice is None and arg.kind != BOOL:
            choice = arg
        elif arg.op != CONST:
            return None
    if choice is None:
        bits = fold.fold(op, kind, [a.kind for a in args], [a.bits for a in args]) if args else None
        return None if bits is None else graph.const(kind, bits)
    leaves = leaves_of(choice)
    if leaves is None or any(leaf.op != CONST for leaf in leaves):
        return None
    at = args.index(choice)
    ends: dict[Node, Node] = {}
    for leaf in leaves:
        end = apply(graph, op, kind, [*args[:at], leaf, *args[at + 1 :]], imm)
        if end.op != CONST:
            return None
        ends[leaf] = end
    return choose(graph, choice, ends)


# -- floats ----------------------------------------------------------------------------------------


def is_number(node: Node, value: float) -> bool:
    """Whether a node is this float, the sign of a zero included."""
    return node.op == CONST and node.bits == fold.bits_of(node.kind, value)


def negative(node: Node) -> bool:
    """Whether a node is a negation, or a constant with a sign."""
    if node.op == CONST:
        return bool(node.bits >> (fold.width(node.kind) - 1))
    return node.op == "FNegate"


def negated(graph: Graph, node: Node) -> Node:
    """A float with the other sign: the sign is a bit, so two negations are none."""
    if node.op == CONST and fold.is_float(node.kind):
        return graph.const(node.kind, node.bits ^ 1 << (fold.width(node.kind) - 1))
    return node.args[0] if node.op == "FNegate" else graph.node("FNegate", node.kind, (node,))


def _fnegate(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    return negated(graph, args[0])


def _fadd(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    for at in (0, 1):  # x + -0.0 is x, for x = 0.0 as well
        if is_number(args[at], -0.0):
            return args[1 - at]
    return None


def _fsub(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    """a - b is a + -b in IEEE 754."""
    return apply(graph, "FAdd", kind, [args[0], negated(graph, args[1])], imm)


def _product(op: str) -> Rule:
    def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
        """The sign of a product or quotient is computed apart from its magnitude."""
        signs = [negative(a) for a in args]
        if any(signs):
            plain = [negated(graph, a) if s else a for a, s in zip(args, signs)]
            applied = apply(graph, op, kind, plain, imm)
            return negated(graph, applied) if signs[0] != signs[1] else applied
        if is_number(args[1], 1.0):  # exact
            return args[0]
        if op == "FMul" and is_number(args[0], 1.0):
            return args[1]
        if op == "FDiv" and args[1].op == CONST and fold.is_float(kind):
            other = _reciprocal(graph, args[1])
            return None if other is None else apply(graph, "FMul", kind, [args[0], other], imm)
        return None

    return rule


def rounded(graph: Graph, node: Node) -> Node | None:
    """A quotient, or a sum of products, of constants, with each step rounded to nearest: one of the
    results that Vulkan allows. None for anything else."""
    kind, args = node.kind, node.args
    if node.op not in ROUNDED or any(arg.op != CONST for arg in args):
        return None
    if node.op in DOTS:
        total: Node | None = None
        for at in range(0, len(args), 2):
            product = apply(graph, "FMul", kind, list(args[at : at + 2]))
            total = product if total is None else apply(graph, "FAdd", kind, [total, product])
        return total if total is not None and total.op == CONST else None
    values = [fold.number(kind, arg.bits) for arg in args]
    if values[1] == 0.0 or not all(fold.ordinary(kind, value) for value in values):
        return None
    bits = fold.bits_of(kind, values[0] / values[1])
    if bits is None or not fold.ordinary(kind, fold.number(kind, bits)):
        return None
    return graph.const(kind, bits)


def _reciprocal(graph: Graph, node: Node) -> Node | None:
    """1 / x if that is exact: x is a power of two."""
    value = fold.number(node.kind, node.bits)
    if value == 0.0 or not fold.ordinary(node.kind, value):
        return None
    other = fold.bits_of(node.kind, 1.0 / value)
    if other is None or not fold.ordinary(node.kind, fold.number(node.kind, other)):
        return None
    mantissa = (1 << {"f16": 10, "f32": 23, "f64": 52}[node.kind]) - 1
    return None if node.bits & mantissa else graph.const(node.kind, other)


def _dot(op: str) -> Rule:
    def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
        """Each product is the same with its factors turned; their order stays."""
        pairs = [args[at : at + 2] for at in range(0, len(args), 2)]
        flat = [node for pair in pairs for node in sorted(pair, key=lambda n: n.id)]
        return graph.node(op, kind, tuple(flat), imm)

    return rule


def _fma(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """A product with 1 or -1 is exact, so nothing is rounded but the sum; nor is x + -0.0."""
    a, b, c = args
    for one, other in ((a, b), (b, a)):
        if is_number(one, 1.0):
            return apply(graph, "FAdd", kind, [other, c], imm)
        if is_number(one, -1.0):
            return apply(graph, "FAdd", kind, [negated(graph, other), c], imm)
    if is_number(c, -0.0):
        return apply(graph, "FMul", kind, [a, b], imm)
    if negative(a) and negative(b):
        a, b = negated(graph, a), negated(graph, b)
    if a.op == b.op == c.op == CONST:
        return None
    if a.id > b.id:
        a, b = b, a
    return graph.node("glsl.Fma", kind, (a, b, c), imm)


def _fless(op: str) -> Rule:
    def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
        """-x < -y is y < x; x < x is false for a NaN, too."""
        a, b = args
        if a is b and op == "FOrdLessThan" and not a.undef:
            return graph.false
        turned = [x.op == "FNegate" for x in args]
        if any(turned) and all(t or x.op == CONST for t, x in zip(turned, args)):
            return apply(graph, op, kind, [negated(graph, b), negated(graph, a)], imm)
        return None

    return rule


def _fequal(op: str) -> Rule:
    def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
        """-x == -y is x == y."""
        turned = [x.op == "FNegate" for x in args]
        if any(turned) and all(t or x.op == CONST for t, x in zip(turned, args)):
            return apply(graph, op, kind, [negated(graph, x) for x in args], imm)
        return None

    return rule


def _abs(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """The sign is a bit that goes."""
    if args[0].op == "glsl.FAbs":
        return args[0]
    if args[0].op == "FNegate":
        return apply(graph, "glsl.FAbs", kind, [args[0].args[0]])
    return None


def _sign(op: str) -> Rule:
    def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
        """The sign is 1, 0 or -1, of which each is its own sign."""
        return args[0] if args[0].op == op else None

    return rule


_WHOLE: Final = frozenset(("glsl.Floor", "glsl.Ceil", "glsl.Trunc", "glsl.Round", "glsl.RoundEven"))


def _whole(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """Whole numbers are rounded to themselves."""
    return args[0] if args[0].op in _WHOLE else None


def _same(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """The smaller and the larger one of x and x is x."""
    return args[0] if args[0] is args[1] and not args[0].undef else None


def _fconvert(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """A float that was widened comes back as it was."""
    x = args[0]
    if x.kind == kind:
        return x
    if x.op == "FConvert" and fold.width(x.args[0].kind) < fold.width(x.kind):
        inner = x.args[0]
        if fold.width(kind) >= fold.width(inner.kind):
            return apply(graph, "FConvert", kind, [inner])
    return None


# -- choices ---------------------------------------------------------------------------------------


def _select(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return graph.ite(args[0], args[1], args[2])


def _and(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return graph.both(args[0], args[1])


def _or(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return graph.either(args[0], args[1])


def _not(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return graph.negate(args[0])


def _iff(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return graph.ite(args[0], args[1], graph.negate(args[1]))


def _xor(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return graph.ite(args[0], graph.negate(args[1]), args[1])


_RULES: Final[dict[str, Rule]] = {
    **integers.rules(apply),
    "FNegate": _fnegate,
    "FAdd": _fadd,
    "FSub": _fsub,
    "FMul": _product("FMul"),
    "FDiv": _product("FDiv"),
    "glsl.Fma": _fma,
    **{op: _dot(op) for op in DOTS},
    "FOrdLessThan": _fless("FOrdLessThan"),
    "FOrdLessThanEqual": _fless("FOrdLessThanEqual"),
    "FOrdEqual": _fequal("FOrdEqual"),
    "FOrdNotEqual": _fequal("FOrdNotEqual"),
    "glsl.FAbs": _abs,
    "glsl.FSign": _sign("glsl.FSign"),
    "glsl.SSign": _sign("glsl.SSign"),
    "glsl.FMin": _same,
    "glsl.FMax": _same,
    "glsl.NMin": _same,
    "glsl.NMax": _same,
    "FConvert": _fconvert,
    "Select": _select,
    "LogicalAnd": _and,
    "LogicalOr": _or,
    "LogicalNot": _not,
    "LogicalEqual": _iff,
    "LogicalNotEqual": _xor,
    **dict.fromkeys(_WHOLE, _whole),
}
