"""Normal forms of integers. A sum is ``isum``: a constant and terms with factors, modulo 2 to the
width of the kind, in which all of addition, subtraction, negation, complement and products with
constants are linear. So equal sums are one node, and equality is that the difference is zero
(``izero``).

Shifts by the width or more and divisions by zero are undefined and never folded.
"""

from __future__ import annotations

from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper.choices import MANY, each, leaves_of, tests_of
from spvlink.verifier.paper.graph import BOOL, CONST, ITE, Graph, Node
from spvlink.verifier.paper.masks import Masks, bounds, possible

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Apply = Callable[..., Node]
    Rule = Callable[[Graph, str, list[Node], tuple[object, ...]], "Node | None"]

SUM: Final = "isum"
_FEW: Final = 16  # values that are told apart one by one


def linear(node: Node) -> tuple[int, dict[Node, int]]:
    """A number as a constant and terms with factors."""
    if node.op == CONST:
        return node.bits, {}
    if node.op == SUM:
        constant, *factors = [i for i in node.imm if isinstance(i, int)]
        return constant, dict(zip(node.args, factors))
    return 0, {node: 1}


def summed(graph: Graph, kind: str, parts: list[tuple[Node, int]], constant: int = 0) -> Node:
    """The sum of nodes, each with a factor."""
    mask = (1 << fold.width(kind)) - 1
    terms: dict[Node, int] = {}
    for node, factor in parts:
        more, inner = linear(node)
        constant += more * factor
        for term, times in inner.items():
            terms[term] = terms.get(term, 0) + times * factor
    kept = sorted([t for t in terms if terms[t] & mask], key=lambda t: t.id)
    factors = [terms[t] & mask for t in kept]
    constant &= mask
    if not kept:
        return graph.const(kind, constant)
    if factors == [1] and not constant:
        return kept[0]
    if len(kept) == 1:
        chosen = each(
            graph, kept[0], lambda end: summed(graph, kind, [(end, factors[0])], constant)
        )
        if chosen is not None:
            return chosen
    for group in _alike_choices(kept):
        one = _joined(graph, kind, [(choice, terms[choice]) for choice in group])
        rest = [(term, terms[term]) for term in kept if term not in group]
        if one is not None:
            return summed(graph, kind, [*rest, (one, 1)], constant)
    return graph.node(SUM, kind, tuple(kept), (constant, *factors))


def _alike_choices(terms: list[Node]) -> list[list[Node]]:
    """The terms that are choices by the same conditions."""
    groups: dict[frozenset[Node], list[Node]] = {}
    for term in terms:
        if term.op == ITE and leaves_of(term) is not None:
            groups.setdefault(tests_of(term), []).append(term)
    return [group for group in groups.values() if len(group) > 1]


def _joined(graph: Graph, kind: str, parts: list[tuple[Node, int]]) -> Node | None:
    """The sum of choices by the same conditions as one choice, if a sum of it has fewer terms."""

    def shorter(parts: list[tuple[Node, int]]) -> Node | None:
        tests = [part.args[0] for part, _ in parts if part.op == ITE]
        if not tests:
            made = summed(graph, kind, parts)
            return made if made.op != SUM or len(made.args) < len(parts) else None
        test = min(tests, key=lambda node: node.id)
        ends = []
        for case in (0, 1):
            end = shorter([(graph.cofactors(part, test)[case], by) for part, by in parts])
            if end is None:
                return None
            ends.append(end)
        return graph.ite(test, ends[0], ends[1])

    return shorter(parts)


def _add(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node:
    return summed(graph, kind, [(args[0], 1), (args[1], 1)])


def _sub(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """An undefined value need not be the same twice, so it is not taken from itself."""
    if args[1].undef:
        return None
    return summed(graph, kind, [(args[0], 1), (args[1], -1)])


def _negate(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    return None if args[0].undef else summed(graph, kind, [(args[0], -1)])


def _complement(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """~x is -x - 1 in two's complement."""
    return None if args[0].undef else summed(graph, kind, [(args[0], -1)], -1)


def _mul(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    for at in (0, 1):
        factor, other = args[at], args[1 - at]
        if factor.op == CONST and not other.undef:
            return summed(graph, kind, [(other, factor.bits)])
    return None


def _is_zero_shifted(args: list[Node]) -> bool:
    """Whether a shift is of 0, and by no more than is defined."""
    number, by = args
    is_zero = number.op == CONST and not number.bits
    return is_zero and bounds(by)[1] < fold.width(number.kind)


def _shift_left(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """x << n is x times 2 to n."""
    by = args[1]
    if _is_zero_shifted(args):
        return args[0]
    if by.op != CONST or by.bits >= fold.width(kind) or args[0].undef:
        return None
    return summed(graph, kind, [(args[0], 1 << by.bits)])


def _shift_signed(
    graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
) -> Node | None:
    """A shift by nothing, and of nothing."""
    if _is_zero_shifted(args):
        return args[0]
    return args[0] if args[1].op == CONST and not args[1].bits else None


def _divide_by_one(
    graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
) -> Node | None:
    return args[0] if args[1].op == CONST and args[1].bits == 1 else None


def _rest_of_one(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    return graph.const(kind, 0) if args[1].op == CONST and args[1].bits == 1 else None


def _reverse(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
    """Twice is not at all."""
    return args[0].args[0] if args[0].op == "BitReverse" else None


def _by_bounds(graph: Graph, args: list[Node]) -> Node | None:
    """Whether the first number is less than the second one, if their bounds say so."""
    (least, most), (floor, top) = bounds(args[0]), bounds(args[1])
    return graph.true if most < floor else graph.false if least >= top else None


def _least(op: str) -> Rule:
    def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
        """By their bounds; of x and x it is x."""
        if args[0] is args[1] and not args[0].undef:
            return args[0]
        for one, other in (args, args[::-1]):
            if bounds(one)[1] <= bounds(other)[0]:
                return one if op == "glsl.UMin" else other
        return _extreme(graph, op, kind, args)

    return rule


def _extreme(graph: Graph, op: str, kind: str, args: list[Node]) -> Node | None:
    """The least, or the largest, of a row of numbers: in one order, the constants as one, and no
    other one twice."""
    if all(arg.op != op for arg in args):
        return None
    row: list[Node] = []
    constants: list[int] = []
    todo = list(args)
    while todo:
        node = todo.pop()
        if node.op == op:
            todo += node.args
        elif node.op == CONST:
            constants.append(node.bits)
        elif node.undef or node not in row:
            row.append(node)
    row.sort(key=lambda node: node.id)
    if constants:
        least = constants[0]
        for other in constants[1:]:
            bits = fold.fold(op, kind, [kind, kind], [least, other])
            if bits is None:
                return None
            least = bits
        row.append(graph.const(kind, least))
    made = row[0]
    for node in row[1:]:
        pair = (made, node) if made.id < node.id else (node, made)
        made = graph.node(op, kind, pair)
    return made


def _zero(graph: Graph, node: Node) -> Node:
    """Whether a number is zero: so is its negation, so one of both stands for them."""
    if node.op == CONST:
        return graph.false if node.bits else graph.true
    if node.op == ITE and all(arg.op in (CONST, ITE) for arg in node.args[1:]):
        return graph.ite(node.args[0], _zero(graph, node.args[1]), _zero(graph, node.args[2]))
    if node.op == "BitwiseXor" and len(node.args) == 2 and not node.undef:  # they are equal
        return _zero(graph, summed(graph, node.kind, [(node.args[0], 1), (node.args[1], -1)]))
    if node.op == SUM:
        size = fold.width(node.kind)
        factor = node.imm[1]
        assert isinstance(factor, int)
        if factor > 1 << (size - 1):  # 2 to the size - 1 is its own negation
            return _zero(graph, summed(graph, node.kind, [(node, -1)]))
    if node.loose or ("izero", BOOL, (node,), ()) in graph.table:
        return graph.node("izero", BOOL, (node,))
    family = (node.args, *node.imm[1:]) if node.op == SUM else ((node,), 1)
    others = graph.families.get((node.kind, *family), [])
    rest = _rest(graph, node, others)
    if rest is not None:
        return rest
    made = graph.node("izero", BOOL, (node,))
    graph.excludes(made, (node.kind, *family))  # a number has one value
    return made


def _rest(graph: Graph, node: Node, others: list[Node]) -> Node | None:
    """Whether a number of which few values are possible has one of these, if there is a condition
    for each ``other`` one: it has none of them."""
    number, value = _value(node)
    least, most = bounds(number)
    if number.op == SUM or most - least >= _FEW:
        return None
    bits = possible(number)
    left = {v for v in range(least, most + 1) if not v & ~bits}
    if value not in left:
        return graph.false
    left -= {_value(other.args[0])[1] for other in others}
    if left != {value} or not others:
        return None
    made = graph.true
    for other in others:
        made = graph.both(made, graph.negate(other))
    return made


def _value(node: Node) -> tuple[Node, int]:
    """The number and the value of it for which a sum is zero; the sum itself if it is of more."""
    if node.op == SUM and len(node.args) == 1 and node.imm[1] == 1:
        constant = node.imm[0]
        assert isinstance(constant, int)
        return node.args[0], -constant & (1 << fold.width(node.kind)) - 1
    return node, 0


class _Rules:
    """The rules; ``apply`` makes other operations."""

    def __init__(self, apply: Apply) -> None:
        self.apply = apply
        self.masks = Masks(apply, summed)

    def equal(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        if any(a.undef for a in args):
            mine, other = [linear(a)[1] for a in args]
            if any(term.undef for term in mine if term in other):
                return None  # it may be two values
            return _zero(graph, summed(graph, args[0].kind, [(args[0], 1), (args[1], -1)]))
        if all(a.op == CONST for a in args):
            return graph.true if args[0] is args[1] else graph.false
        if any(a.op == "ite" for a in args) and any(a.op == CONST for a in args):
            chosen = self.chosen(graph, args)
            if chosen is not None:
                return chosen
        bit = self.one_bit(graph, args)
        if bit is not None:
            return bit
        return _zero(graph, summed(graph, args[0].kind, [(args[0], 1), (args[1], -1)]))

    def one_bit(self, graph: Graph, args: list[Node]) -> Node | None:
        """Against a constant with a bit that the number never has it is false; that the only bit
        it may have is set is that it is not zero."""
        number, constant = args if args[1].op == CONST else args[::-1]
        if constant.op != CONST or not constant.bits:
            return None
        bits = possible(number)
        if constant.bits & ~bits:
            return graph.false
        if bits == constant.bits and not bits & (bits - 1):
            return graph.negate(_zero(graph, number))
        return None

    def chosen(self, graph: Graph, args: list[Node]) -> Node | None:
        """A choice of constants against a constant is the condition."""
        choice, other = args if args[0].op == "ite" else args[::-1]
        atom, high, low = choice.args
        ends = []
        for branch in (high, low):
            end = self.equal(graph, BOOL, [branch, other], ())
            if end is None or (branch.op not in (CONST, "ite")):
                return None
            ends.append(end)
        return graph.ite(atom, ends[0], ends[1])

    def less(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """Nothing is less than itself. Numbers without a sign are compared by their bounds."""
        if args[0] is args[1] and not args[0].undef:
            return graph.false
        if max(bounds(arg)[1] for arg in args) >> (fold.width(args[0].kind) - 1):
            return None
        return _by_bounds(graph, args)

    def below(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """Nothing is below 0 or above the largest one; below 1 is 0 alone."""
        a, b = args
        known = _by_bounds(graph, args)
        if known is not None:
            return known
        if a is b and not a.undef:
            return graph.false
        if b.op == CONST and b.bits == 1:
            return self.equal(graph, BOOL, [a, graph.const(a.kind, 0)], ())
        return None

    def divide(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """By a power of two, without a sign: a shift."""
        a, b = args
        if b.op != CONST or b.bits & (b.bits - 1) or not b.bits:
            return None
        by = graph.const(kind, b.bits.bit_length() - 1)
        return self.apply(graph, "ShiftRightLogical", kind, [a, by])

    def rest(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """Of a division by a power of two, without a sign: its low bits."""
        a, b = args
        if b.op != CONST or b.bits & (b.bits - 1) or not b.bits:
            return None
        return self.apply(graph, "BitwiseAnd", kind, [a, graph.const(kind, b.bits - 1)])

    def shift_right(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """By 0 is x; by two constants after each other is by their sum."""
        a, b = args
        if _is_zero_shifted(args):
            return a
        if b.op != CONST:
            return None
        if b.bits == 0:
            return a
        chosen = each(graph, a, lambda end: self.apply(graph, "ShiftRightLogical", kind, [end, b]))
        if chosen is not None:
            return chosen
        if a.op == "ShiftRightLogical" and a.args[1].op == CONST:
            by = a.args[1].bits + b.bits
            if by >= fold.width(kind):
                return graph.const(kind, 0)
            return self.apply(
                graph, "ShiftRightLogical", kind, [a.args[0], graph.const(b.kind, by)]
            )
        if b.bits >= fold.width(kind):
            return None
        shifted = self.masks.right(graph, a, b.bits)
        if shifted is None and b.kind != "i32":
            shifted = graph.node("ShiftRightLogical", kind, (a, graph.const("i32", b.bits)))
        return shifted

    def reinterpret(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """The same bits as another kind: of the same kind they are x, and twice is once."""
        x = args[0]
        chosen = each(graph, x, lambda end: self.apply(graph, "bits", kind, [end]), MANY)
        if chosen is not None:
            return chosen
        if x.op == "bits":
            return self.apply(graph, "bits", kind, [x.args[0]])
        return x if x.kind == kind else None

    def word(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """The low (0) or high (1) word of a 64-bit number."""
        number = args[0]
        (high,) = imm
        while number.op == "bits":
            number = number.args[0]
        if number.op == "join":
            return number.args[1 if high else 0]
        if number.op == CONST:
            return graph.const(kind, number.bits >> (32 if high else 0) & 0xFFFFFFFF)
        if number.kind == "i64":
            by = graph.const("i32", 32)
            shifted = self.apply(graph, "ShiftRightLogical", "i64", [number, by])
            return self.apply(graph, "UConvert", kind, [shifted if high else number])
        return None if number is args[0] else graph.node("word", kind, (number,), imm)

    def resize(self, op: str) -> Rule:
        def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
            """To a number of the same width nothing changes; what was widened and is narrowed
            again is what it was, or narrowed by the rest."""
            x = args[0]
            size = fold.width(kind)
            if x.kind == kind:
                return x
            if x.op in ("UConvert", "SConvert") and size <= fold.width(x.args[0].kind):
                return self.apply(graph, "UConvert", kind, [x.args[0]])
            if op == "SConvert" and size == 64 and x.kind == "i32" and x.op != CONST:
                # the upper word is the sign
                sign = self.apply(graph, "ShiftRightArithmetic", "i32", [x, graph.const("i32", 31)])
                words = [self.apply(graph, "UConvert", kind, [word]) for word in (x, sign)]
                return summed(graph, kind, [(words[0], 1), (words[1], 1 << 32)])
            # how it is widened makes no difference to what is narrowed
            if op == "SConvert" and size < fold.width(x.kind):
                return self.apply(graph, "UConvert", kind, [x])
            if size < fold.width(x.kind):
                return self.masks.narrowed(graph, kind, x)
            return None

        return rule

    def least_signed(self, unsigned: str) -> Rule:
        def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
            """Of x and x it is x; of numbers without a sign it is that of unsigned ones."""
            if args[0] is args[1] and not args[0].undef:
                return args[0]
            if (possible(args[0]) | possible(args[1])) >> (fold.width(kind) - 1):
                return _extreme(graph, op, kind, args)
            return self.apply(graph, unsigned, kind, args)

        op = unsigned.replace("U", "S")
        return rule

    def bitwise(self, op: str) -> Rule:
        def rule(graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]) -> Node | None:
            if op == "BitwiseAnd" and CONST in (args[0].op, args[1].op):
                number, mask = args if args[1].op == CONST else args[::-1]
                chosen = each(
                    graph, number, lambda end: self.apply(graph, op, kind, [end, mask]), MANY
                )
                if chosen is not None:
                    return chosen
                masked = self.masks.masked(graph, number, mask.bits)
                if masked is not None:
                    return masked
            if op == "BitwiseAnd" and ITE in (args[0].op, args[1].op):
                number, mask = args if args[1].op == ITE else args[::-1]
                leaves = leaves_of(mask)
                if leaves is not None and all(leaf.op == CONST for leaf in leaves):
                    return each(graph, mask, lambda end: self.apply(graph, op, kind, [number, end]))
            return _bitwise(self.apply, graph, op, kind, args)

        return rule

    def field(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """Bits that are taken out without a sign."""
        base, at, count = args
        if CONST not in (at.op, count.op) or at.op != count.op:
            return None
        if at.bits + count.bits > fold.width(kind):
            return None
        low = self.apply(graph, "ShiftRightLogical", kind, [base, graph.const("i32", at.bits)])
        mask = graph.const(kind, (1 << count.bits) - 1)
        return self.apply(graph, "BitwiseAnd", kind, [low, mask])

    def put(
        self, graph: Graph, kind: str, args: list[Node], imm: tuple[object, ...]
    ) -> Node | None:
        """Bits that are put in."""
        base, new, at, count = args
        if CONST not in (at.op, count.op) or at.op != count.op:
            return None
        if at.bits + count.bits > fold.width(kind):
            return None
        low = (1 << count.bits) - 1
        hole = graph.const(kind, ~(low << at.bits) & ((1 << fold.width(kind)) - 1))
        kept = self.apply(graph, "BitwiseAnd", kind, [base, hole])
        mine = self.apply(graph, "BitwiseAnd", kind, [new, graph.const(kind, low)])
        return self.apply(
            graph, "BitwiseOr", kind, [kept, summed(graph, kind, [(mine, 1 << at.bits)])]
        )

    def table(self) -> dict[str, Rule]:
        return {
            "IAdd": _add,
            "ISub": _sub,
            "SNegate": _negate,
            "Not": _complement,
            "IMul": _mul,
            "ShiftLeftLogical": _shift_left,
            "IEqual": self.equal,
            "SLessThan": self.less,
            "ULessThan": self.below,
            "UDiv": self.divide,
            "UMod": self.rest,
            "SDiv": _divide_by_one,
            "SMod": _rest_of_one,
            "SRem": _rest_of_one,
            "ShiftRightLogical": self.shift_right,
            "bits": self.reinterpret,
            "word": self.word,
            "BitReverse": _reverse,
            "UConvert": self.resize("UConvert"),
            "SConvert": self.resize("SConvert"),
            "BitFieldUExtract": self.field,
            "ShiftRightArithmetic": _shift_signed,
            "glsl.SMin": self.least_signed("glsl.UMin"),
            "glsl.SMax": self.least_signed("glsl.UMax"),
            "glsl.UMin": _least("glsl.UMin"),
            "glsl.UMax": _least("glsl.UMax"),
            "BitFieldInsert": self.put,
            "BitwiseAnd": self.bitwise("BitwiseAnd"),
            "BitwiseOr": self.bitwise("BitwiseOr"),
            "BitwiseXor": self.bitwise("BitwiseXor"),
        }


def rules(apply: Apply) -> dict[str, Rule]:
    """The rules, by the names of operations; ``apply`` makes other ones."""
    return _Rules(apply).table()


def _bitwise(apply: Apply, graph: Graph, op: str, kind: str, args: list[Node]) -> Node | None:
    """A row of and, or, xor: the constants in one, the others sorted, each once (xor: none if it
    is there twice)."""
    ones = (1 << fold.width(kind)) - 1
    if any(a.undef for a in args):
        plain = [node for a in args if (node := _uncomplemented(a, ones)) is not None]
        if op == "BitwiseXor" and len(plain) == len(args):  # ~a ^ ~b is a ^ b, of each use of them
            return apply(graph, op, kind, plain)
        return None
    constant = ones if op == "BitwiseAnd" else 0
    terms: dict[Node, int] = {}
    todo = list(args)
    while todo:
        node = todo.pop()
        if node.op == op:
            todo += node.args
        elif node.op == CONST:
            bits = node.bits
            constant = (
                constant & bits if op == "BitwiseAnd"
                else constant | bits if op == "BitwiseOr" else constant ^ bits
            )  # fmt: skip
        else:
            terms[node] = terms.get(node, 0) + 1
    if op == "BitwiseXor":
        terms = {t: times for t, times in terms.items() if times & 1}
    for term in [t for t in terms if t.op == SUM]:
        other = summed(graph, kind, [(term, -1)], -1)
        if other not in terms or term not in terms:
            continue
        if op != "BitwiseXor":  # a & ~a is none of the bits, a | ~a are all
            return graph.const(kind, 0 if op == "BitwiseAnd" else ones)
        constant ^= ones
        del terms[term], terms[other]
    if (op == "BitwiseAnd" and constant == 0) or (op == "BitwiseOr" and constant == ones):
        return graph.const(kind, constant)
    if op == "BitwiseXor":
        turned = [t for t in terms if t.op == SUM and t.imm == (ones, ones)]
        if turned and len(turned) % 2 == 0:  # ~a ^ ~b is a ^ b
            plain = [t.args[0] if t in turned else t for t in terms]
            return _bitwise(apply, graph, op, kind, [*plain, graph.const(kind, constant)])
    elif op == "BitwiseOr":  # all that a term may set is set
        terms = {t: times for t, times in terms.items() if possible(t) & ~constant}
        terms = {t: 1 for t in terms if not any(_absorbs(other, t) for other in terms)}
    kept = sorted(terms, key=lambda t: t.id)
    if op == "BitwiseXor" and constant == ones and kept:
        whole = _row(graph, op, kind, kept, 0, 0)
        return apply(graph, "Not", kind, [whole])
    row = _row(graph, op, kind, kept, constant, ones if op == "BitwiseAnd" else 0)
    if op != "BitwiseAnd" or not constant or constant & (constant - 1) or row.op == CONST:
        return row
    # one bit is a choice of two numbers
    return graph.ite(_zero(graph, row), graph.const(kind, 0), graph.const(kind, constant))


def _absorbs(whole: Node, part: Node) -> bool:
    """Whether a masked row of ands sets no bit that another one of fewer operands does not set."""
    if whole is part:
        return False
    rows = []
    for node in (whole, part):
        args = node.args if node.op == "BitwiseAnd" else (node,)
        ones = (1 << fold.width(node.kind)) - 1
        mask = next((arg.bits for arg in args if arg.op == CONST), ones)
        rows.append((mask, {arg for arg in args if arg.op != CONST}))
    return rows[0][1] < rows[1][1] and not rows[1][0] & ~rows[0][0]


def _uncomplemented(node: Node, ones: int) -> Node | None:
    """What a complement is made of; None if it is none."""
    if node.op == CONST:
        return None
    is_complement = node.op == "Not" or (node.op == SUM and node.imm == (ones, ones))
    return node.args[0] if is_complement else None


def _row(graph: Graph, op: str, kind: str, kept: list[Node], constant: int, none: int) -> Node:
    """``none`` is the constant that changes nothing."""
    if constant != none or not kept:
        kept = [*kept, graph.const(kind, constant)]
    return kept[0] if len(kept) == 1 else graph.node(op, kind, tuple(kept))
