"""Our verifier: whether a module is what the specification asks of one, as far as a link may spoil
it.

It is meant to reject nothing that spirv-val accepts, and is fast enough to run after each pass
(``--check each``). Module scope first, then each function: blocks and edges, then every
instruction's operands, then structure. The file has these in four parts: control flow, rules for
operands, tables, and the walk over the module, which uses all.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv, Broken
from spvlink.grammar import enums, glsl, info, ops, shapes
from spvlink.ir import core
from spvlink.ir.core import PRIVATE, Block, Function, Inst, Module, string_of
from spvlink.ir.types import index_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Iterable, Iterator
    from typing import Final

    Rule = Callable[[Inst], str]

# -- control flow ----------------------------------------------------------------------------------
#
# Edges, dominators, structured constructs of one function.
#
# Dominators by Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph"
# (1979), the version with path compression: the verifier meets hostile graphs, on which the
# iteration that ``facts/cfg.py`` uses may take quadratic time.
#
# Structured control flow follows specification 2.11.2 ("Structural Control-Flow Constructs"),
# judged on reachable blocks only and with plain dominance, which never says more than structural
# dominance does: what is refused here is wrong by the specification.

TERMINATORS: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TERMINATOR)
_BRANCHES: Final = frozenset((ops.OpBranch, ops.OpBranchConditional, ops.OpSwitch))
_LABEL_COUNT: Final = {ops.OpBranch: (0, 1), ops.OpBranchConditional: (1, 2)}


class Fault(Exception):
    """What is wrong and with which instruction; ``check`` turns it into BadSpirv or Broken."""

    def __init__(self, inst: Inst | None, message: str) -> None:
        super().__init__(message)
        self.inst = inst
        self.message = message


class Flow:
    """Blocks by number (their place in the function): edges both ways, reachability, dominators."""

    __slots__ = ("blocks", "enter", "idom", "leave", "number", "order", "preds", "succs")

    def __init__(self, function: Function) -> None:
        self.blocks: list[Block] = function.blocks
        self.number: dict[Inst, int] = {b: i for i, b in enumerate(self.blocks)}
        self.succs: list[list[int]] = []
        self.preds: list[list[int]] = [[] for _ in self.blocks]
        for i, block in enumerate(self.blocks):
            targets = list(dict.fromkeys(self._targets(block)))
            self.succs.append(targets)
            for target in targets:
                self.preds[target].append(i)
        size = len(self.blocks)
        self.order: list[int] = []  # reachable blocks in reverse postorder
        self.idom: list[int] = [-1] * size
        self.enter: list[int] = [-1] * size  # -1: unreachable
        self.leave: list[int] = [-1] * size
        self._dominators()
        self._number()

    def _targets(self, block: Block) -> list[int]:
        """Numbers of the blocks that the terminator names, its operands checked for being blocks of
        the function.
        """
        last = block.insts[-1]
        if last.op not in _BRANCHES:
            return []
        if last.op == ops.OpSwitch:
            labels = last.args[1:]
        else:
            first, count = _LABEL_COUNT[last.op]
            labels = last.args[first:]
            if len(labels) != count:
                raise Fault(last, f"{ops.NAMES[last.op]} with {len(labels)} labels")
        number = self.number
        indices: list[int] = []
        for label in labels:
            index = number.get(label)
            if index is None:
                raise Fault(last, f"%{label.id} is branched to but is no block of this function")
            indices.append(index)
        return indices

    def reachable(self, block: int) -> bool:
        return self.enter[block] >= 0

    def dominates(self, a: int, b: int) -> bool:
        """Both reachable: whether every path to ``b`` goes through ``a``."""
        return self.enter[a] <= self.enter[b] and self.leave[b] <= self.leave[a]

    def _search(self) -> tuple[list[int], list[int]]:
        """Depth first from the entry: vertices in preorder and the parent of each; fills
        ``order``.
        """
        size = len(self.blocks)
        parent = [-1] * size
        seen = [False] * size
        vertex = [0]
        seen[0] = True
        stack = [(0, iter(self.succs[0]))]
        while stack:
            block, rest = stack[-1]
            for target in rest:
                if not seen[target]:
                    seen[target] = True
                    parent[target] = block
                    vertex.append(target)
                    stack.append((target, iter(self.succs[target])))
                    break
            else:
                self.order.append(block)
                stack.pop()
        self.order.reverse()
        return vertex, parent

    def _dominators(self) -> None:
        size = len(self.blocks)
        vertex, parent = self._search()
        semi = [-1] * size
        for i, v in enumerate(vertex):
            semi[v] = i
        ancestor = [-1] * size
        label = list(range(size))
        bucket: list[list[int]] = [[] for _ in range(size)]
        idom = self.idom

        def evaluate(v: int) -> int:
            path = []
            while ancestor[v] >= 0 and ancestor[ancestor[v]] >= 0:
                path.append(v)
                v = ancestor[v]
            for u in reversed(path):
                up = ancestor[u]
                if semi[label[up]] < semi[label[u]]:
                    label[u] = label[up]
                ancestor[u] = ancestor[up]
            return label[path[0] if path else v]

        for w in reversed(vertex[1:]):
            for v in self.preds[w]:
                if semi[v] >= 0:
                    low = semi[evaluate(v)]
                    if low < semi[w]:
                        semi[w] = low
            bucket[vertex[semi[w]]].append(w)
            above = parent[w]
            ancestor[w] = above
            for v in bucket[above]:
                u = evaluate(v)
                idom[v] = u if semi[u] < semi[v] else above
            bucket[above] = []
        for w in vertex[1:]:
            if idom[w] != vertex[semi[w]]:
                idom[w] = idom[idom[w]]

    def _number(self) -> None:
        children: list[list[int]] = [[] for _ in self.blocks]
        for block in self.order[1:]:
            children[self.idom[block]].append(block)
        clock = 0
        stack = [0]
        while stack:
            block = stack.pop()
            if block < 0:
                self.leave[~block] = clock
                clock += 1
                continue
            self.enter[block] = clock
            clock += 1
            stack.append(~block)
            stack += children[block]


def check_order(flow: Flow) -> None:
    """The entry block has no predecessors, and dominators stand before what they dominate (2.4,
    2.11).
    """
    if flow.preds[0]:
        raise Fault(flow.blocks[flow.preds[0][0]].insts[-1], "a branch to the entry block")
    for block in flow.order[1:]:
        if flow.idom[block] > block:
            ahead = flow.blocks[flow.idom[block]]
            raise Fault(
                flow.blocks[block], f"the block stands before %{ahead.id}, which dominates it"
            )


class _Construct:
    """A loop, its continue part, or a selection."""

    __slots__ = ("header", "is_continue", "loop", "merge", "outer", "switch", "target")

    def __init__(self, header: int, merge: int, target: int, outer: _Construct | None) -> None:
        self.header = header
        self.merge = merge
        self.target = target  # the continue target of a loop, otherwise -1
        self.outer = outer
        self.is_continue = False
        self.loop: _Construct | None = outer.loop if outer is not None else None
        self.switch: _Construct | None = outer.switch if outer is not None else None


class _Structure:
    """The constructs of one function and the innermost of each reachable block."""

    __slots__ = ("continues", "flow", "headed", "inner", "merges", "of_merge")

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.merges: dict[int, tuple[int, int]] = {}  # header -> merge block, continue target or -1
        self.headed: dict[int, _Construct] = {}  # header -> construct
        self.continues: dict[int, int] = {}  # continue target -> header
        self.of_merge: dict[int, int] = {}  # merge block -> header
        self.inner: dict[int, _Construct | None] = {}

    def read(self) -> None:
        """Merge instructions: their labels, and that each merge block has one header."""
        number = self.flow.number
        for header, block in enumerate(self.flow.blocks):
            inst = block.merge()
            if inst is None:
                continue
            for label in inst.args:
                if label not in number:
                    raise Fault(inst, f"%{label.id} is no block of this function")
            merge = number[inst.args[0]]
            target = number[inst.args[1]] if inst.op == ops.OpLoopMerge else -1
            if merge == header:
                raise Fault(inst, "a block is its own merge block")
            if merge == target:
                raise Fault(inst, "the merge block is the continue target too")
            if merge in self.of_merge:
                raise Fault(inst, f"%{inst.args[0].id} is a merge block already")
            self.of_merge[merge] = header
            self.merges[header] = (merge, target)
            if target >= 0:
                self.continues.setdefault(target, header)

    def headers(self) -> None:
        """Headers dominate their merge blocks and continue targets; back edges are where they
        belong.
        """
        flow = self.flow
        for header, (merge, target) in self.merges.items():
            if not flow.reachable(header):
                continue
            for other in (merge, target):
                if other >= 0 and flow.reachable(other) and not flow.dominates(header, other):
                    what = "merge block" if other == merge else "continue target"
                    inst = flow.blocks[header].insts[-2]
                    raise Fault(inst, f"the header does not dominate its {what}")
            if target >= 0:
                self.back_edges(header, target)
        for block in flow.order:
            for succ in flow.succs[block]:
                if flow.dominates(succ, block) and self.merges.get(succ, (0, -1))[1] < 0:
                    raise Fault(
                        flow.blocks[block].insts[-1],
                        "a back edge to a block that is no loop header",
                    )
        self.reducible()

    def back_edges(self, header: int, target: int) -> None:
        flow = self.flow
        inst = flow.blocks[header].insts[-2]
        back = 0
        for pred in flow.preds[header]:
            if not flow.reachable(pred):
                back += 1
            elif flow.dominates(header, pred):
                back += 1
                if not flow.dominates(target, pred):
                    raise Fault(
                        flow.blocks[pred].insts[-1],
                        "a back edge from outside the continue construct",
                    )
        if back != 1 and all(flow.reachable(p) for p in flow.preds[header]):
            raise Fault(inst, f"a loop with {back} back edges")

    def reducible(self) -> None:
        """Without the back edges found so far, no cycle is left."""
        flow = self.flow
        waiting = dict.fromkeys(flow.order, 0)
        for block in flow.order:
            for succ in flow.succs[block]:
                if not flow.dominates(succ, block):
                    waiting[succ] += 1
        ready = [0]
        done = 0
        while ready:
            block = ready.pop()
            done += 1
            for succ in flow.succs[block]:
                if not flow.dominates(succ, block):
                    waiting[succ] -= 1
                    if not waiting[succ]:
                        ready.append(succ)
        if done != len(flow.order):
            raise Fault(flow.blocks[0], "a cycle that is entered at more than one block")

    def nest(self) -> None:
        """Assign to each reachable block its innermost construct (a header belongs to what is
        around its own).
        """
        flow = self.flow
        for block in flow.order:
            around: _Construct | None = None
            header = self.continues.get(block, -1)
            if header >= 0 and header in self.headed and header != block:
                loop = self.headed[header]
                around = _Construct(header, loop.merge, block, loop.outer)
                around.is_continue = True
                around.loop = around
                around.switch = None
            elif self.of_merge.get(block, -1) in self.headed:
                around = self.headed[self.of_merge[block]].outer
            elif block:
                above = flow.idom[block]
                around = self.headed.get(above) or self.inner[above]
            self.inner[block] = around
            if block in self.merges:
                merge, target = self.merges[block]
                own = self.headed[block] = _Construct(block, merge, target, around)
                if target >= 0:
                    own.loop, own.switch = own, None
                elif flow.blocks[block].insts[-1].op == ops.OpSwitch:
                    own.switch = own

    def exits(self) -> None:
        """Every edge stays in its construct, enters one by its header, or leaves by a structured
        exit.
        """
        flow, headed, inner = self.flow, self.headed, self.inner
        for block in flow.order:
            here = headed.get(block) or inner[block]
            for succ in flow.succs[block]:
                if inner[succ] is here or (here is not None and succ == here.merge):
                    continue
                inst = flow.blocks[block].insts[-1]
                if here is None:
                    raise Fault(
                        inst,
                        f"the branch to %{flow.blocks[succ].id} enters a construct from outside",
                    )
                if self.left_well(here, succ):
                    continue
                target, header = flow.blocks[succ].id, flow.blocks[here.header].id
                raise Fault(
                    inst, f"the branch to %{target} leaves the construct of %{header} by no exit"
                )

    def left_well(self, here: _Construct, succ: int) -> bool:
        loop, switch = here.loop, here.switch
        if loop is not None:
            if succ == loop.merge or succ == loop.target:
                return True
            if succ == loop.header and (loop.is_continue or loop.target == loop.header):
                return True
            if succ == loop.header and self.flow.dominates(loop.target, here.header):
                return True
        if switch is not None:
            return succ == switch.merge or succ in self.flow.succs[switch.header]
        return False

    def selections(self) -> None:
        """A conditional branch has a merge, unless a target is an exit (2.11.2)."""
        flow = self.flow
        for block in flow.order:
            last = flow.blocks[block].insts[-1]
            merge = flow.blocks[block].merge()
            if merge is not None and merge.op == ops.OpSelectionMerge:
                continue
            if last.op == ops.OpSwitch:
                raise Fault(last, "OpSwitch without OpSelectionMerge")
            if last.op != ops.OpBranchConditional or len(flow.succs[block]) < 2:
                continue
            if all(
                t not in self.of_merge and t not in self.continues and flow.idom[t] == block
                for t in flow.succs[block]
            ):
                raise Fault(last, "a conditional branch without a merge, neither target an exit")


def check_structure(flow: Flow) -> None:
    """Structured control flow (for modules with the Shader capability)."""
    structure = _Structure(flow)
    structure.read()
    structure.headers()
    structure.nest()
    structure.exits()
    structure.selections()


# -- rules for operands ----------------------------------------------------------------------------
#
# By opcode: types, composite indices, access chains, constants.
#
# A rule is ``rule(inst) -> str``, the complaint or an empty string. It may rely on the counts of
# operands (checked before) and on ``inst.type`` being a type, on nothing else: an operand may be
# any id. ``complaint`` keeps silent where an extension's type is met (cooperative matrices,
# tensors): never reject what is valid.

Numeric = tuple[int, int, int]  # opcode of the scalar type, its width in bits, number of components

INT: Final = ops.OpTypeInt
FLOAT: Final = ops.OpTypeFloat
BOOL: Final = ops.OpTypeBool
_NONE: Final[Numeric] = (0, 0, 0)
TYPES: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TYPE)
# Types whose rules we know. An instruction whose result or operands have others is not judged.
_PLAIN: Final = frozenset(
    (
        ops.OpTypeVoid, BOOL, INT, FLOAT, ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeImage,
        ops.OpTypeSampler, ops.OpTypeSampledImage, ops.OpTypeArray, ops.OpTypeRuntimeArray,
        ops.OpTypeStruct, ops.OpTypePointer, ops.OpTypeFunction,
    )
)  # fmt: skip
_INDEXED: Final = frozenset(
    (ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray, ops.OpTypeRuntimeArray)
)


def numeric(type: Inst | None) -> Numeric:
    """Scalar kind, width and component count of a scalar or vector type; zeros for any other."""
    if type is None:
        return _NONE
    count = 1
    if type.op == ops.OpTypeVector:
        count = type.imm[0]
        type = type.args[0]
    op = type.op
    if op in (INT, FLOAT):
        return op, type.imm[0], count
    return (BOOL, 1, count) if op == BOOL else _NONE


def unknown(inst: Inst) -> bool:
    """Whether the result or an operand has a type of an extension that we have no rules for."""
    if inst.type is not None and inst.type.op not in _PLAIN:
        return True
    return any(a.type is not None and a.type.op not in _PLAIN for a in inst.args)


def show(type: Inst | None) -> str:
    """A type in words, for messages; nested types by id."""
    if type is None:
        return "no value"
    kind, width, count = numeric(type)
    if kind:
        name = "bool" if kind == BOOL else f"{'float' if kind == FLOAT else 'int'}{width}"
        return name if count == 1 and type.op != ops.OpTypeVector else f"{name} x {count}"
    return f"%{type.id} {ops.NAMES.get(type.op, '?')[2:]}"


def _differ(arg: Inst, what: str) -> str:
    return f"operand %{arg.id} is {show(arg.type)}, not {what}"


def _float_same(inst: Inst) -> str:
    type = inst.type
    for arg in inst.args:
        if arg.type is not type:
            return _differ(arg, show(type))
    if type is not None and numeric(type)[0] != FLOAT and type.op != ops.OpTypeMatrix:
        return f"the result type is {show(type)}, not floating point"
    return ""


def _int_same(inst: Inst) -> str:
    wanted = numeric(inst.type)
    if wanted[0] != INT:
        return f"the result type is {show(inst.type)}, not integer"
    for arg in inst.args:
        if arg.type is not inst.type and numeric(arg.type) != wanted:
            return _differ(arg, show(inst.type))
    return ""


def _shift(inst: Inst) -> str:
    wanted = numeric(inst.type)
    base, amount = inst.args
    if wanted[0] != INT or numeric(base.type) != wanted:
        return _differ(base, show(inst.type))
    kind, _, count = numeric(amount.type)
    return "" if kind == INT and count == wanted[2] else _differ(amount, "a matching integer")


def _compare(kind: int) -> Rule:
    def rule(inst: Inst) -> str:
        result = numeric(inst.type)
        if result[0] != BOOL:
            return f"the result type is {show(inst.type)}, not boolean"
        first = numeric(inst.args[0].type)
        for arg in inst.args:
            operand = numeric(arg.type)
            if operand[0] != kind or operand[2] != result[2] or operand != first:
                return _differ(arg, "fit for this comparison")
        return ""

    return rule


def _convert(source: int, target: int) -> Rule:
    def rule(inst: Inst) -> str:
        kind, _, count = numeric(inst.type)
        if kind != target:
            return f"the result type is {show(inst.type)}"
        operand = numeric(inst.args[0].type)
        if operand[0] != source or operand[2] != count:
            return _differ(inst.args[0], f"what converts to {show(inst.type)}")
        return ""

    return rule


def _bitcast(inst: Inst) -> str:
    to, source = numeric(inst.type), numeric(inst.args[0].type)
    if BOOL in (to[0], source[0]) or inst.args[0].type is None:
        return _differ(inst.args[0], "a pattern of bits")
    if to[0] and source[0] and to[1] * to[2] != source[1] * source[2]:
        return _differ(inst.args[0], f"as many bits as {show(inst.type)}")
    return ""


def _logical(inst: Inst) -> str:
    wanted = numeric(inst.type)
    if wanted[0] != BOOL:
        return f"the result type is {show(inst.type)}, not boolean"
    for arg in inst.args:
        if arg.type is not inst.type and numeric(arg.type) != wanted:
            return _differ(arg, show(inst.type))
    return ""


def _any_all(inst: Inst) -> str:
    if inst.type is None or inst.type.op != BOOL or numeric(inst.args[0].type)[0] != BOOL:
        return _differ(inst.args[0], "a vector of booleans")
    return ""


def _select(inst: Inst) -> str:
    condition, first, second = inst.args
    for arg in (first, second):
        if arg.type is not inst.type:
            return _differ(arg, show(inst.type))
    kind, _, count = numeric(condition.type)
    if kind != BOOL or (count != 1 and count != numeric(inst.type)[2]):
        return _differ(condition, "a matching boolean")
    return ""


def _is_nan(inst: Inst) -> str:
    operand = numeric(inst.args[0].type)
    result = numeric(inst.type)
    if result[0] != BOOL or operand[0] != FLOAT or operand[2] != result[2]:
        return _differ(inst.args[0], "a matching floating-point value")
    return ""


def _scale(inst: Inst) -> str:
    """OpVectorTimesScalar, OpMatrixTimesScalar."""
    value, factor = inst.args
    if value.type is not inst.type:
        return _differ(value, show(inst.type))
    scalar = inst.type
    while scalar is not None and scalar.op in info.VECTOR_TYPES:
        scalar = scalar.args[0]
    return "" if factor.type is scalar else _differ(factor, show(scalar))


def _columns(type: Inst | None) -> tuple[int, int]:
    """(columns, rows) of a matrix type, or zeros."""
    if type is None or type.op != ops.OpTypeMatrix:
        return 0, 0
    return type.imm[0], numeric(type.args[0])[2]


def _product(inst: Inst) -> str:
    """The matrix products: rows and columns fit."""
    left, right = inst.args
    op = inst.op
    columns, rows = _columns(right.type if op == ops.OpVectorTimesMatrix else left.type)
    fits = False
    if op == ops.OpVectorTimesMatrix:
        fits = columns > 0 and numeric(left.type)[2] == rows and numeric(inst.type)[2] == columns
    elif op == ops.OpMatrixTimesVector:
        fits = columns > 0 and numeric(right.type)[2] == columns and numeric(inst.type)[2] == rows
    elif op == ops.OpMatrixTimesMatrix:
        other = _columns(right.type)
        fits = columns > 0 and other[1] == columns and _columns(inst.type) == (other[0], rows)
    elif op == ops.OpOuterProduct:
        size = (numeric(right.type)[2], numeric(left.type)[2])
        fits = size[0] > 0 and _columns(inst.type) == size
    return "" if fits else f"{show(left.type)} times {show(right.type)} is not {show(inst.type)}"


def _transpose(inst: Inst) -> str:
    columns, rows = _columns(inst.args[0].type)
    fits = columns > 0 and _columns(inst.type) == (rows, columns)
    return "" if fits else _differ(inst.args[0], "the transposed matrix")


def _dot(inst: Inst) -> str:
    first, second = inst.args
    if first.type is None or first.type is not second.type or first.type.op != ops.OpTypeVector:
        return _differ(second, "a vector like the other operand")
    return "" if first.type.args[0] is inst.type else _differ(first, "of the result type")


def _part(type: Inst, index: int) -> Inst | str:
    """The type of part ``index``, or a complaint."""
    op = type.op
    if op == ops.OpTypeStruct:
        return type.args[index] if index < len(type.args) else f"there is no member {index}"
    if op in info.VECTOR_TYPES:
        return type.args[0] if index < type.imm[0] else f"there is no component {index}"
    if op == ops.OpTypeArray:
        size = index_of(type.args[1])
        known = type.args[1].op == ops.OpConstant and size is not None
        if known and size is not None and index >= size:
            return f"there is no element {index}"
        return type.args[0]
    return f"a value of type {show(type)} has no parts"


def _walk(type: Inst | None, indices: tuple[int, ...]) -> Inst | str:
    for index in indices:
        if type is None:
            return "the composite is no value"
        if type.op not in _PLAIN or type.op == ops.OpTypeRuntimeArray:
            return ""  # an extension's composite
        part = _part(type, index)
        if isinstance(part, str):
            return part
        type = part
    return "the composite is no value" if type is None else type


def _extract(inst: Inst) -> str:
    reached = _walk(inst.args[0].type, inst.imm)
    if isinstance(reached, str):
        return reached
    return "" if reached is inst.type else f"the part is {show(reached)}, not {show(inst.type)}"


def _insert(inst: Inst) -> str:
    part, composite = inst.args
    if composite.type is not inst.type:
        return _differ(composite, show(inst.type))
    reached = _walk(inst.type, inst.imm)
    if isinstance(reached, str):
        return reached
    return "" if reached is part.type else f"the part is {show(reached)}, not {show(part.type)}"


def _construct(inst: Inst) -> str:
    type, args = inst.type, inst.args
    if type is None:
        return ""
    if type.op == ops.OpTypeVector:
        total = 0
        for arg in args:
            if arg.type is type.args[0]:
                total += 1
            elif arg.type is not None and arg.type.op == ops.OpTypeVector:
                if arg.type.args[0] is not type.args[0]:
                    return _differ(arg, f"made of {show(type.args[0])}")
                total += arg.type.imm[0]
            else:
                return _differ(arg, f"made of {show(type.args[0])}")
        return "" if total == type.imm[0] else f"{total} components for a vector of {type.imm[0]}"
    return _parts(inst)


def _parts(inst: Inst) -> str:
    """The operands are the parts of the result type, one each (constants too)."""
    type, args = inst.type, inst.args
    if type is None:
        return ""
    wanted: Iterable[Inst]
    if type.op == ops.OpTypeStruct:
        size: int | None = len(type.args)
        wanted = type.args
    elif type.op in info.VECTOR_TYPES:
        size = type.imm[0]
        wanted = type.args[:1] * len(args)
    elif type.op == ops.OpTypeArray:
        size = index_of(type.args[1]) if type.args[1].op == ops.OpConstant else None
        wanted = type.args[:1] * len(args)
    else:
        return f"the result type {show(type)} has no parts"
    if size is not None and size != len(args):
        return f"{len(args)} parts for {size}"
    for arg, part in zip(args, wanted):
        if arg.type is not part:
            return _differ(arg, show(part))
    return ""


def _shuffle(inst: Inst) -> str:
    type = inst.type
    first, second = inst.args[0].type, inst.args[1].type
    if type is None:
        return ""
    for source in (type, first, second):  # the result first: the others are held against it
        if source is None or source.op != ops.OpTypeVector or source.args[0] is not type.args[0]:
            return f"{show(source)} is not a vector like the result"
    assert first is not None and second is not None
    if len(inst.imm) != type.imm[0]:
        return f"{len(inst.imm)} components for a vector of {type.imm[0]}"
    limit = first.imm[0] + second.imm[0]
    for index in inst.imm:
        if index >= limit and index != 0xFFFFFFFF:
            return f"component {index} of two vectors that have {limit} together"
    return ""


def _dynamic(inst: Inst) -> str:
    """OpVectorExtractDynamic, OpVectorInsertDynamic."""
    vector = inst.args[0].type
    part = inst.type if inst.op == ops.OpVectorExtractDynamic else inst.args[1].type
    if vector is None or vector.op != ops.OpTypeVector or vector.args[0] is not part:
        return f"{show(vector)} has no part {show(part)}"
    if inst.op == ops.OpVectorInsertDynamic and vector is not inst.type:
        return _differ(inst.args[0], show(inst.type))
    kind, _, count = numeric(inst.args[-1].type)
    return "" if kind == INT and count == 1 else _differ(inst.args[-1], "an integer")


def _same(inst: Inst) -> str:
    """Every operand has the result type (OpCopyObject, COPY, OpExpectKHR)."""
    for arg in inst.args:
        if arg.type is not inst.type:
            return _differ(arg, show(inst.type))
    return ""


def pointee(value: Inst) -> Inst | None:
    """What a typed pointer points to; None if the value is no such pointer."""
    type = value.type
    return type.args[0] if type is not None and type.op == ops.OpTypePointer else None


def _load(inst: Inst) -> str:
    target = pointee(inst.args[0])
    if target is inst.type:
        return ""
    return _differ(inst.args[0], f"a pointer to {show(inst.type)}")


def _store(inst: Inst) -> str:
    target, value = pointee(inst.args[0]), inst.args[1]
    if target is None:
        return _differ(inst.args[0], "a pointer")
    return "" if target is value.type else _differ(value, show(target))


def _copy_memory(inst: Inst) -> str:
    target, source = pointee(inst.args[0]), pointee(inst.args[1])
    if target is None or source is not target:
        return _differ(inst.args[1], "a pointer like the target")
    return ""


def _chain(inst: Inst) -> str:
    first = 2 if inst.op in (ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain) else 1
    type = pointee(inst.args[0])
    result = inst.type
    if type is None:
        return _differ(inst.args[0], "a pointer")
    if result is None or result.op != ops.OpTypePointer:
        return f"the result type is {show(result)}, not a pointer"
    for index in inst.args[1:]:
        if index.type is None or index.type.op != INT:
            return _differ(index, "an integer")
    for index in inst.args[first:]:
        if type.op in _INDEXED:
            type = type.args[0]
        elif type.op == ops.OpTypeStruct:
            number = index_of(index) if index.op == ops.OpConstant else None
            if number is None or not 0 <= number < len(type.args):
                return f"index %{index.id} names no member of struct %{type.id}"
            type = type.args[number]
        elif type.op in _PLAIN:
            return f"index %{index.id} goes into {show(type)}"
        else:
            return ""
    if result.args[0] is not type:
        return f"the chain ends at {show(type)}, the result points to {show(result.args[0])}"
    base = inst.args[0].type
    if base is not None and base.imm[0] != result.imm[0]:
        return "the storage class of the result is not that of the base"
    return ""


def _variable(inst: Inst) -> str:
    if inst.type is None or inst.type.op != ops.OpTypePointer:
        return "the type of a variable is not a pointer"
    if inst.type.imm[0] != inst.imm[0]:
        return "the storage class is not that of the pointer type"
    return ""


def _constant(inst: Inst) -> str:
    kind, width, count = numeric(inst.type)
    if kind not in (INT, FLOAT) or inst.type is None or inst.type.op not in (INT, FLOAT):
        return f"a number of type {show(inst.type)}"
    words = 2 if width > 32 else 1
    return "" if len(inst.imm) == words * count else f"{len(inst.imm)} words for {width} bits"


def _truth(inst: Inst) -> str:
    return "" if inst.type is not None and inst.type.op == BOOL else "a boolean of another type"


def _branch(inst: Inst) -> str:
    type = inst.args[0].type
    return "" if type is not None and type.op == BOOL else "the condition is not a boolean"


def _switch(inst: Inst) -> str:
    kind, width, count = numeric(inst.args[0].type)
    if kind != INT or count != 1:
        return "the selector is not an integer"
    words = 2 if width > 32 else 1
    if len(inst.imm) != words * (len(inst.args) - 2):
        return "the cases are not pairs of a literal and a label"
    return ""


def _call(inst: Inst) -> str:
    callee = inst.args[0]
    if callee.op != ops.OpFunction:
        return "what is called is not a function"
    if callee.type is not inst.type:
        return f"the function returns {show(callee.type)}, not {show(inst.type)}"
    wanted = callee.args[0].args[1:]
    if len(wanted) != len(inst.args) - 1:
        return f"{len(inst.args) - 1} arguments for {len(wanted)} parameters"
    for arg, type in zip(inst.args[1:], wanted):
        if arg.type is not type and not (
            # HLSL legalization leaves pointers to structs that differ only by decoration
            arg.type is not None and arg.type.op == type.op == ops.OpTypePointer
        ):
            return _differ(arg, show(type))
    return ""


def _phi(inst: Inst) -> str:
    args = inst.args
    if len(args) % 2:
        return "a value without its predecessor"
    for arg in args[::2]:
        if arg.type is not inst.type:
            return f"operand %{arg.id} is {show(arg.type)}, not {show(inst.type)}"
    for arg in args[1::2]:
        if arg.op != ops.OpLabel:
            return f"operand %{arg.id} is not a block"
    return ""


def _image(wanted: int) -> Rule:
    def rule(inst: Inst) -> str:
        type = inst.args[0].type
        if type is not None and type.op == wanted:
            return ""
        return _differ(inst.args[0], ops.NAMES[wanted][2:])

    return rule


def _sampled_image(inst: Inst) -> str:
    """Depth may differ: glslang combines any texture with a sampler that compares."""
    type, given = inst.type, inst.args[0].type
    if type is not None and type.op == ops.OpTypeSampledImage and given is not None:
        wanted = type.args[0]
        if given is wanted:
            return ""
        same = given.op == wanted.op and given.args == wanted.args
        if same and [given.imm[0], *given.imm[2:]] == [wanted.imm[0], *wanted.imm[2:]]:
            return ""
    return _differ(inst.args[0], "the image of the result type")


# Floating-point instructions of GLSL.std.450 whose operands all have the result type.
_GLSL_SAME: Final = frozenset(
    (
        *range(glsl.Glsl_Round, glsl.Glsl_FAbs + 1), glsl.Glsl_FSign,
        *range(glsl.Glsl_Floor, glsl.Glsl_InverseSqrt + 1), glsl.Glsl_FMin, glsl.Glsl_FMax,
        glsl.Glsl_FClamp, glsl.Glsl_FMix, glsl.Glsl_Step, glsl.Glsl_SmoothStep, glsl.Glsl_Fma,
        glsl.Glsl_Cross, glsl.Glsl_Normalize, glsl.Glsl_FaceForward, glsl.Glsl_Reflect,
        glsl.Glsl_NMin, glsl.Glsl_NMax, glsl.Glsl_NClamp,
    )
)  # fmt: skip


def _extended(inst: Inst) -> str:
    source = inst.args[0]
    if source.op != ops.OpExtInstImport:
        return f"operand %{source.id} is not an OpExtInstImport"
    if inst.imm[0] in _GLSL_SAME and string_of(source.imm)[0] == "GLSL.std.450":
        for arg in inst.args[1:]:
            if arg.type is not inst.type:
                return _differ(arg, show(inst.type))
    return ""


def _table() -> dict[int, Rule]:
    table: dict[int, Rule] = {}

    def put(rule: Rule, *opcodes: int) -> None:
        table.update(dict.fromkeys(opcodes, rule))

    put(_float_same, ops.OpFNegate, ops.OpFAdd, ops.OpFSub, ops.OpFMul, ops.OpFDiv, ops.OpFRem,
        ops.OpFMod)  # fmt: skip
    put(_float_same, *range(ops.OpDPdx, ops.OpFwidthCoarse + 1))
    put(_int_same, ops.OpSNegate, ops.OpIAdd, ops.OpISub, ops.OpIMul, ops.OpUDiv, ops.OpSDiv,
        ops.OpUMod, ops.OpSRem, ops.OpSMod, ops.OpBitwiseOr, ops.OpBitwiseAnd, ops.OpBitwiseXor,
        ops.OpNot)  # fmt: skip
    put(_shift, ops.OpShiftLeftLogical, ops.OpShiftRightLogical, ops.OpShiftRightArithmetic)
    put(_compare(INT), *range(ops.OpIEqual, ops.OpSLessThanEqual + 1))
    put(_compare(FLOAT), *range(ops.OpFOrdEqual, ops.OpFUnordGreaterThanEqual + 1))
    put(_convert(FLOAT, INT), ops.OpConvertFToU, ops.OpConvertFToS)
    put(_convert(INT, FLOAT), ops.OpConvertSToF, ops.OpConvertUToF)
    put(_convert(INT, INT), ops.OpUConvert, ops.OpSConvert)
    put(_convert(FLOAT, FLOAT), ops.OpFConvert, ops.OpQuantizeToF16)
    put(_bitcast, ops.OpBitcast)
    put(_logical, *range(ops.OpLogicalEqual, ops.OpLogicalNot + 1))
    put(_any_all, ops.OpAny, ops.OpAll)
    put(_is_nan, ops.OpIsNan, ops.OpIsInf)
    put(_select, ops.OpSelect)
    put(_scale, ops.OpVectorTimesScalar, ops.OpMatrixTimesScalar)
    put(_product, *range(ops.OpVectorTimesMatrix, ops.OpOuterProduct + 1))
    put(_transpose, ops.OpTranspose)
    put(_dot, ops.OpDot)
    put(_extract, ops.OpCompositeExtract)
    put(_insert, ops.OpCompositeInsert)
    put(_construct, ops.OpCompositeConstruct)
    put(_parts, ops.OpConstantComposite, ops.OpSpecConstantComposite)
    put(_shuffle, ops.OpVectorShuffle)
    put(_dynamic, ops.OpVectorExtractDynamic, ops.OpVectorInsertDynamic)
    put(_same, ops.OpCopyObject)
    put(_load, ops.OpLoad)
    put(_store, ops.OpStore)
    put(_copy_memory, ops.OpCopyMemory)
    put(_chain, *range(ops.OpAccessChain, ops.OpPtrAccessChain + 1), ops.OpInBoundsPtrAccessChain)
    put(_variable, ops.OpVariable)
    put(_constant, ops.OpConstant, ops.OpSpecConstant)
    put(_truth, ops.OpConstantTrue, ops.OpConstantFalse)
    put(_truth, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse)
    put(_branch, ops.OpBranchConditional)
    put(_switch, ops.OpSwitch)
    put(_call, ops.OpFunctionCall)
    put(_phi, ops.OpPhi)
    put(_extended, ops.OpExtInst)
    put(_sampled_image, ops.OpSampledImage)
    put(_image(ops.OpTypeSampledImage), *range(ops.OpImageSampleImplicitLod, ops.OpImageFetch),
        ops.OpImageGather, ops.OpImageDrefGather, ops.OpImage, ops.OpImageQueryLod)  # fmt: skip
    put(_image(ops.OpTypeImage), ops.OpImageFetch, ops.OpImageRead, ops.OpImageWrite,
        *range(ops.OpImageQueryFormat, ops.OpImageQueryLod),
        ops.OpImageQueryLevels, ops.OpImageQuerySamples)  # fmt: skip
    return table


RULES: Final[dict[int, Rule]] = _table()


def complaint(inst: Inst) -> str:
    """What the rule of the opcode says, unless it speaks of a type that it does not know."""
    rule = RULES.get(inst.op)
    wrong = rule(inst) if rule is not None else ""
    return "" if wrong and unknown(inst) else wrong


# -- tables ----------------------------------------------------------------------------------------
#
# The verifier's tables: which opcode may stand where, with how many operands.

MANY: Final = 1 << 30
LINES: Final[frozenset[int]] = info.LINES
MERGES: Final = frozenset((ops.OpSelectionMerge, ops.OpLoopMerge))
PRIVATE_COUNTS: Final = {  # least and most args, least and most imm, result
    core.COPY: (1, 1, 0, 0),
    core.LOAD_INPUT: (0, 1, 1, 1),
    core.STORE_OUTPUT: (1, 2, 1, 1),
    core.INTERPOLATE: (0, 1, 2, 2),
    core.LOAD_OUTPUT: (0, 1, 1, 1),
}
SECTION_OPS: Final[tuple[frozenset[int], ...]] = (
    frozenset((ops.OpCapability,)),
    frozenset((ops.OpExtension,)),
    frozenset((ops.OpExtInstImport,)),
    frozenset((ops.OpMemoryModel,)),
    frozenset((ops.OpEntryPoint,)),
    frozenset((ops.OpExecutionMode, ops.OpExecutionModeId)),
    frozenset((ops.OpString, ops.OpSourceExtension, ops.OpSource, ops.OpSourceContinued)),
    frozenset((ops.OpName, ops.OpMemberName)),
    frozenset((ops.OpModuleProcessed,)),
    frozenset(op for op, flags in info.FLAGS.items() if flags & info.ANNOTATION)
    | {ops.OpDecorateString, ops.OpMemberDecorateString, ops.OpDecorateId},
)
# What may stand among the types and not in a function; of opcodes without facts we claim nothing.
GLOBAL_OPS: Final = TYPES | {op for op, flags in info.FLAGS.items() if flags & info.CONSTANT}
BOTH: Final = LINES | {
    ops.OpVariable, ops.OpUntypedVariableKHR, ops.OpUndef, ops.OpExtInst, ops.OpTypeForwardPointer,
}  # fmt: skip
DESCRIBING: Final = info.DEBUG | info.TYPE | info.ANNOTATION
# Operands of these may be things that are no values: types, strings, imports, functions.
LOOSE: Final = (LINES | MERGES | TERMINATORS | {ops.OpExtInst, ops.OpFunctionCall, ops.OpPhi}) - {
    ops.OpReturnValue
}
STRICT: Final = (
    frozenset(op for op, flags in info.FLAGS.items() if not flags & DESCRIBING)
    - LOOSE
    - {op for op, name in ops.NAMES.items() if "Cooperative" in name or "Untyped" in name}
)
FORWARD_TYPES: Final = frozenset(
    (
        ops.OpTypePointer, ops.OpTypeStruct, ops.OpTypeArray, ops.OpTypeRuntimeArray,
        ops.OpTypeFunction,
    )
)  # fmt: skip
counts_known: dict[int, tuple[int, int, int, int]] = dict(PRIVATE_COUNTS)
AFTER_LOOP: Final = frozenset((ops.OpBranch, ops.OpBranchConditional))
AFTER_SELECTION: Final = info.DIVISIONS
NEVER: Final = frozenset(
    (ops.OpLabel, ops.OpFunction, ops.OpFunctionEnd, ops.OpFunctionParameter, ops.OpCapability)
)
KNOWN_TYPES: Final = frozenset(
    (
        ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray, ops.OpTypeRuntimeArray,
        ops.OpTypeStruct, ops.OpTypePointer, ops.OpTypeFunction, ops.OpTypeImage,
        ops.OpTypeSampledImage,
    )
)  # fmt: skip


def _count(kind: int, counts: list[int]) -> None:
    """Add the least and most ids and words of one operand to [least ids, most ids, least words,
    most words].
    """
    ids, words, open_ids, open_words = 0, 0, False, False
    if kind == shapes.K_ID:
        ids = 1
    elif kind == shapes.K_LITERAL:
        words = 1
    elif kind in (shapes.K_STRING, shapes.K_TYPED):
        words, open_words = 1, True
    elif kind in (shapes.K_EXTINST, shapes.K_SPECOP):
        words, open_ids, open_words = 1, True, True
    elif kind in (shapes.K_SWITCH_PAIR, shapes.K_ID_LITERAL):
        ids, words, open_words = 1, 1, True
    elif kind == shapes.K_ID_ID:
        ids = 2
    else:
        words = 1
        open_ids = open_words = any(shapes.enumeration(kind - shapes.K_ENUM)[2].values())
    counts[0] += ids
    counts[1] += MANY if open_ids else ids
    counts[2] += words
    counts[3] += MANY if open_words else words


def counts(op: int) -> tuple[int, int, int, int]:
    """Least and most args, least and most imm of an opcode, by the grammar (bounds only where a
    shape varies).
    """
    known = counts_known.get(op)
    if known is None:
        counts = [0, 0, 0, 0]
        for code in shapes.operands(op):
            one = [0, 0, 0, 0]
            _count(code >> 2, one)
            quantifier = code & 3
            if quantifier == shapes.ONE:
                counts[0] += one[0]
                counts[2] += one[2]
            scale = MANY if quantifier == shapes.MANY else 1
            counts[1] += one[1] * scale
            counts[3] += one[3] * scale
        known = counts_known[op] = (counts[0], counts[1], counts[2], counts[3])
    return known


# -- the module ------------------------------------------------------------------------------------

_GROUPING: Final = frozenset((ops.OpGroupDecorate, ops.OpGroupMemberDecorate))


def check(module: Module, input: bool = False, final: bool = False) -> None:
    """Raise if the module breaks a rule: ``BadSpirv`` with the place if it is a user's ``input``,
    else ``Broken``.

    ``final``: private opcodes and names or decorations of what is gone are errors too, as they are
    in an input.
    """
    checker = _Checker(module, final or input)
    try:
        checker.run()
    except Fault as fault:
        inst, message = fault.inst, fault.message
        if inst is not None:
            message = f"{_name(inst)}: {message}"
        if not input:
            # the text form is another room: the instruction's bare repr will do
            raise Broken(f"{message} [{inst!r}]" if inst is not None else message) from None
        word, number = _place(module, inst)
        raise BadSpirv(message, word, number) from None


def _name(inst: Inst) -> str:
    name = ops.NAMES.get(inst.op) or core.PRIVATE_NAMES.get(inst.op, f"opcode {inst.op}")
    return f"%{inst.id} = {name}" if inst.id else name


def instructions(module: Module) -> Iterator[Inst | None]:
    """Every instruction in the order of the binary; None stands for OpFunctionEnd."""
    for section in range(core.SECTIONS):
        yield from module.listed(section)
    for function in module.functions:
        yield from function.lead
        yield function
        for param in function.params:
            yield from function.leads.get(param, ())
            yield param
        for block in function.blocks:
            yield from block.lead
            yield block
            yield from block.insts
        yield from function.tail
        yield None
    yield from module.tail


def _place(module: Module, wanted: Inst | None) -> tuple[int | None, int | None]:
    """Word and instruction index of an instruction in the binary that the module came from."""
    word = 5
    for number, inst in enumerate(instructions(module)):
        if inst is None:
            word += 1
            continue
        if inst is wanted:
            return word, number
        word += 1 + (inst.type is not None) + (inst.id != 0) + len(inst.args) + len(inst.imm)
    return None, None


class _Checker:
    """One run over one module."""

    __slots__ = (
        "final",
        "flow",
        "forward",
        "home",
        "local",
        "module",
        "shader",
        "start",
        "types",
        "where",
    )  # fmt: skip

    def __init__(self, module: Module, final: bool) -> None:
        self.module = module
        self.final = final
        self.where: dict[Inst, int] = {}  # serial number of every definition, in order
        self.types: set[Inst] = set()
        self.forward: set[Inst] = set()  # pointers that OpTypeForwardPointer declared
        self.shader = False
        self.local = 0  # serials from here on are in functions
        self.home: list[int] = []  # block number by serial - start of the function
        self.flow: Flow | None = None
        self.start = 0  # serial of the function

    def run(self) -> None:
        module = self.module
        self.number()
        self.sections()
        for inst in module.globals:
            self.declare(inst)
        self.signatures()
        self.entry_points()
        for function in module.functions:
            self.function(function)
        for inst in module.tail:
            if inst.op not in LINES and inst.op != ops.OpExtInst:
                raise Fault(inst, "after the last function")
            self.known(inst)
        self.annotations()
        self.recursion()

    def number(self) -> None:
        """Give every instruction its serial; ids are unique and below the bound. Bulk operations
        where they do.
        """
        module = self.module
        every: list[Inst] = []
        for section in module.sections:
            every += section
        self.local = MANY
        for function in module.functions:
            every += function.lead
            if self.local == MANY:
                self.local = len(every) + 1
            every.append(function)
            for leads in function.leads.values():
                every += leads
            every += function.params
            for block in function.blocks:
                every += block.lead
                every.append(block)
                every += block.insts
            every += function.tail
        every += module.tail
        results = shapes.RESULT
        for inst in every:
            wanted = (inst.id != 0) << 1 | (inst.type is not None)
            if inst.op >= PRIVATE or results[inst.op] != wanted:
                self.odd(inst)
        self.where = dict(zip(every, range(1, len(every) + 1)))
        ids = [i.id for i in every if i.id]
        ids.sort()
        unique = len(self.where) == len(every) and len(set(ids)) == len(ids)
        if unique and (not ids or (ids[0] > 0 and ids[-1] < module.bound)):
            return
        seen: set[int] = set()
        for inst in every:
            if inst.id in seen:
                raise Fault(inst, f"id {inst.id} is defined twice")
            if not 0 <= inst.id < module.bound:
                raise Fault(inst, f"id {inst.id} is not below the bound {module.bound}")
            if inst.id:
                seen.add(inst.id)
        raise Fault(None, "an instruction stands at two places")

    def odd(self, inst: Inst) -> None:
        """An instruction whose result and type are not what the grammar says."""
        if inst.op >= PRIVATE:
            if self.final:
                raise Fault(inst, "a private opcode is left")
            return
        if shapes.RESULT[inst.op] == shapes.NONE:
            raise Fault(inst, "the opcode is not in the grammar")
        raise Fault(inst, "the result type or result id is missing or too many")

    def arity(self, inst: Inst) -> None:
        op = inst.op
        if op >= PRIVATE and op not in counts_known:
            raise Fault(inst, "a private opcode that nobody knows")
        least_args, most_args, least_imm, most_imm = counts_known.get(op) or counts(op)
        if not least_args <= len(inst.args) <= most_args:
            raise Fault(inst, f"{len(inst.args)} ids as operands")
        if not least_imm <= len(inst.imm) <= most_imm:
            raise Fault(inst, f"{len(inst.imm)} literal words as operands")

    def known(self, inst: Inst) -> None:
        """Arity, and operands that exist somewhere in the module."""
        self.arity(inst)
        where = self.where
        for arg in inst.args:
            if arg not in where or not arg.id:
                raise Fault(inst, f"%{arg.id} is not in the module")

    def sections(self) -> None:
        module = self.module
        for number, allowed in enumerate(SECTION_OPS):
            # Names and decorations of what a pass removed wait for trim.
            beside = not self.final and number in (core.NAMES, core.ANNOTATIONS)
            for inst in module.listed(number):
                if inst.op not in allowed:
                    raise Fault(inst, "in the wrong section of the module")
                if (
                    inst.op == ops.OpName
                    and len(inst.args) == 1
                    and inst.args[0] in self.where
                    and inst.imm
                ):
                    continue  # most of what stands here
                if beside and inst.args:
                    if inst.args[0] not in self.where:
                        continue
                    if inst.op in _GROUPING:  # of which some of the targets may be gone
                        self.arity(inst)
                        continue
                self.known(inst)
        if len(module.sections[core.MEMORY_MODEL]) != 1:
            raise Fault(None, "a module has one OpMemoryModel")
        capabilities = {i.imm[0] for i in module.sections[core.CAPABILITIES]}
        self.shader = enums.Capability_Kernel not in capabilities
        if not module.sections[core.ENTRY_POINTS] and enums.Capability_Linkage not in capabilities:
            raise Fault(None, "the module has no entry point")

    def declare(self, inst: Inst) -> None:
        """A type, constant, variable at module scope: all it uses stands before it."""
        op, where = inst.op, self.where
        if op >= PRIVATE or (op in info.FLAGS and op not in GLOBAL_OPS and op not in BOTH):
            raise Fault(inst, "at module scope")
        self.arity(inst)
        type = inst.type
        if type is not None and type not in self.types:
            raise Fault(inst, f"%{type.id} is not a type defined before")
        if op == ops.OpTypeForwardPointer:
            self.forward.update(inst.args)
            return
        loose = op == ops.OpExtInst or op in LINES
        here = where.get(inst, MANY)
        for arg in inst.args:
            at = where.get(arg)
            if at is None:
                raise Fault(inst, f"%{arg.id} is not in the module")
            if at >= here and not loose and not (op in FORWARD_TYPES and arg in self.forward):
                raise Fault(inst, f"%{arg.id} is used before it is defined")
            if at >= self.local and not loose:
                raise Fault(inst, f"%{arg.id} belongs to a function")
        if op in TYPES:
            self.type_rule(inst)
            self.types.add(inst)
            return
        if op in (ops.OpVariable, ops.OpConstantComposite, ops.OpSpecConstantComposite):
            for arg in inst.args:
                if arg.type is None:
                    raise Fault(inst, f"%{arg.id} is not a constant")
        if op == ops.OpVariable and inst.imm[0] == enums.StorageClass_Function:
            raise Fault(inst, "storage class Function at module scope")
        wrong = complaint(inst)
        if wrong:
            raise Fault(inst, wrong)

    def type_rule(self, inst: Inst) -> None:
        """Operands of the types that the other rules rely on."""
        op, args = inst.op, inst.args
        if op in info.NUMBER_TYPES:
            if inst.imm[0] not in (8, 16, 32, 64) and len(inst.imm) == 1 + (op == ops.OpTypeInt):
                raise Fault(inst, f"a width of {inst.imm[0]} bits")
            return
        parts = args[:1] if op == ops.OpTypeArray else args
        if op in KNOWN_TYPES:
            for arg in parts:
                if arg.op not in TYPES:
                    raise Fault(inst, f"%{arg.id} is not a type")
        if op == ops.OpTypeVector:
            if args[0].op not in (ops.OpTypeInt, ops.OpTypeFloat, ops.OpTypeBool):
                raise Fault(inst, "the components are not scalars")
            if inst.imm[0] < 2 or inst.imm[0] > 16:
                raise Fault(inst, f"{inst.imm[0]} components")
        elif op == ops.OpTypeMatrix:
            if args[0].op != ops.OpTypeVector:
                raise Fault(inst, "the columns are not vectors")
            if not 2 <= inst.imm[0] <= 4:
                raise Fault(inst, f"{inst.imm[0]} columns")
        elif op == ops.OpTypeArray and (args[1].type is None or args[1].type.op != ops.OpTypeInt):
            raise Fault(inst, "the length is not an integer constant")

    def signatures(self) -> None:
        """Each function's type, before any body: calls look at it."""
        for function in self.module.functions:
            self.arity(function)
            if function.type not in self.types:
                raise Fault(function, "the result type is not a type")
            signature = function.args[0]
            if signature not in self.types or signature.op != ops.OpTypeFunction:
                raise Fault(function, f"%{signature.id} is not a function type")
            if signature.args[0] is not function.type:
                raise Fault(function, "the result type is not that of the function type")
            if len(signature.args) - 1 != len(function.params):
                raise Fault(function, f"{len(function.params)} parameters for the function type")
            for param, type in zip(function.params, signature.args[1:]):
                if param.op != ops.OpFunctionParameter or param.type is not type:
                    raise Fault(param, f"the parameter is not {show(type)}")

    def entry_points(self) -> None:
        functions = set(self.module.functions)
        entries: set[Inst] = set()
        for inst in self.module.sections[core.ENTRY_POINTS]:
            function = inst.args[0]
            if function not in functions:
                raise Fault(inst, f"%{function.id} is not a function of the module")
            if self.shader and len(function.args[0].args) != 1:
                raise Fault(inst, "an entry point with parameters")
            for variable in inst.args[1:]:
                if variable.op not in (ops.OpVariable, ops.OpUntypedVariableKHR):
                    raise Fault(inst, f"%{variable.id} in the interface is not a variable")
                if self.where[variable] >= self.local:
                    raise Fault(inst, f"%{variable.id} in the interface is not at module scope")
            entries.add(function)
        for inst in self.module.sections[core.EXECUTION_MODES]:
            if inst.args[0] not in entries:
                raise Fault(inst, f"%{inst.args[0].id} is not an entry point")

    def annotations(self) -> None:
        for inst in self.module.annotations:
            if inst.op == ops.OpMemberDecorate:
                struct = inst.args[0]
                if struct.op != ops.OpTypeStruct or inst.imm[0] >= len(struct.args):
                    raise Fault(inst, f"%{struct.id} has no member {inst.imm[0]}")

    def function(self, function: Function) -> None:
        for inst in (*function.lead, *function.tail):
            if inst.op not in LINES and inst.op != ops.OpExtInst:
                raise Fault(inst, "outside of a block")
            self.known(inst)
        if not function.blocks:
            return
        self.ends(function)
        flow = self.flow = Flow(function)
        check_order(flow)
        self.start = self.where[function]
        home = self.home = [-1]  # serials count every instruction, so the list follows them
        home += [-1] * (len(function.params) + sum(map(len, function.leads.values())))
        for number, block in enumerate(function.blocks):
            home += [-1] * (len(block.lead) + 1)
            home += [number] * len(block.insts)
        for number, block in enumerate(function.blocks):
            self.block(function, number, block)
        if self.shader:
            check_structure(flow)

    def ends(self, function: Function) -> None:
        """Each block has its terminator, merge and phis where they belong."""
        phi, variable, terminators = ops.OpPhi, ops.OpVariable, TERMINATORS
        for number, block in enumerate(function.blocks):
            insts = block.insts
            if not insts or insts[-1].op not in terminators:
                raise Fault(block, "the block has no terminator")
            for inst in block.lead:
                self.known(inst)
            last = len(insts) - 1
            head = True
            for at, inst in enumerate(insts):
                op = inst.op
                if op == phi:
                    if not head:
                        raise Fault(inst, "after an instruction that is no OpPhi")
                    continue
                if op in LINES:
                    continue
                head = False
                if op in terminators:
                    if at != last:
                        raise Fault(inst, "a terminator inside a block")
                elif op in MERGES:
                    if at != last - 1:
                        raise Fault(inst, "not just before the terminator")
                    allowed = AFTER_LOOP if op == ops.OpLoopMerge else AFTER_SELECTION
                    if insts[last].op not in allowed:
                        raise Fault(inst, f"before {ops.NAMES[insts[last].op]}")
                elif op == variable:
                    if number:
                        raise Fault(inst, "a variable outside of the entry block")
                    if inst.imm and inst.imm[0] != enums.StorageClass_Function:
                        raise Fault(inst, "the storage class in a function is Function")
                elif op in GLOBAL_OPS or op in NEVER:
                    raise Fault(inst, "inside a block")

    def block(self, function: Function, number: int, block: Block) -> None:
        """Operands of every instruction. One loop with little in it."""
        where, types, rules, counts = self.where, self.types, RULES, counts_known
        strict, local = STRICT, self.local
        get = where.get
        label = here = where[block]
        for inst in block.insts:
            here += 1
            op = inst.op
            args = inst.args
            bounds = counts.get(op)
            if bounds is None or not (
                bounds[0] <= len(args) <= bounds[1] and bounds[2] <= len(inst.imm) <= bounds[3]
            ):
                self.arity(inst)
            if inst.type is not None and inst.type not in types:
                raise Fault(inst, f"%{inst.type.id} is not a type")
            if op == ops.OpPhi:
                self.phi(inst, number)
            else:
                for arg in args:
                    at = get(arg, 0)
                    if not (label < at < here or 0 < at < local):
                        self.use(inst, arg, number)
                    if arg.type is None and op in strict:
                        raise Fault(inst, f"operand %{arg.id} is not a value")
            rule = rules.get(op)
            if rule is not None and rule(inst):
                wrong = complaint(inst)
                if wrong:
                    raise Fault(inst, wrong)
        self.result(function, block.insts[-1])

    def result(self, function: Function, last: Inst) -> None:
        type = function.type
        if last.op == ops.OpReturnValue:
            if last.args[0].type is not type or type is None:
                raise Fault(last, f"returns {show(last.args[0].type)}, not {show(type)}")
        elif last.op == ops.OpReturn and type is not None and type.op != ops.OpTypeVoid:
            raise Fault(last, f"returns nothing, not {show(type)}")

    def use(self, inst: Inst, arg: Inst, number: int) -> None:
        """A use of what is neither global nor defined earlier in the same block."""
        at = self.where.get(arg)
        if at is None:
            raise Fault(inst, f"%{arg.id} is not in the module")
        if arg.op == ops.OpFunction:
            if inst.op in STRICT:
                raise Fault(inst, f"operand %{arg.id} is a function")
            return
        flow = self.flow
        assert flow is not None
        if arg.op == ops.OpLabel:
            if inst.op in STRICT or arg not in flow.number:
                raise Fault(inst, f"operand %{arg.id} is a block")
            return
        source = self.source(inst, arg, at)
        if source is None:
            return
        if source == number or (at > self.where[inst] and not flow.reachable(number)):
            raise Fault(inst, f"%{arg.id} is used before it is defined")
        if not flow.reachable(number):
            return
        if not flow.reachable(source) or not flow.dominates(source, number):
            raise Fault(inst, f"the definition of %{arg.id} does not dominate this use")

    def source(self, inst: Inst, arg: Inst, at: int) -> int | None:
        """The number of the block that defines a local value, None for a parameter."""
        offset = at - self.start
        if not 0 <= offset < len(self.home):
            if (
                inst.op == ops.OpExtInst
                and inst.type is not None
                and inst.type.op == ops.OpTypeVoid
            ):
                return None  # non-semantic debug information may name what it likes
            raise Fault(inst, f"%{arg.id} belongs to another function")
        number = self.home[offset]
        return None if number < 0 else number

    def phi(self, inst: Inst, number: int) -> None:
        """One value for each predecessor, which dominates the predecessor's end."""
        flow, args = self.flow, inst.args
        assert flow is not None
        if len(args) % 2:
            raise Fault(inst, "a value without its predecessor")
        preds = [flow.number.get(a, -1) for a in args[1::2]]
        if -1 in preds:
            raise Fault(inst, f"%{args[preds.index(-1) * 2 + 1].id} is no block of this function")
        if len(set(preds)) != len(preds) or set(preds) != set(flow.preds[number]):
            raise Fault(inst, "its blocks are not exactly the predecessors of this one")
        for value, pred in zip(args[::2], preds):
            at = self.where.get(value)
            if at is None:
                raise Fault(inst, f"%{value.id} is not in the module")
            if at < self.local:
                continue
            if value.op in (ops.OpFunction, ops.OpLabel):
                raise Fault(inst, f"operand %{value.id} is not a value")
            source = self.source(inst, value, at)
            if source is None or not flow.reachable(pred):
                continue
            if not flow.reachable(source) or not flow.dominates(source, pred):
                raise Fault(
                    inst, f"%{value.id} does not dominate the end of %{flow.blocks[pred].id}"
                )

    def recursion(self) -> None:
        """No function calls itself, by whatever way (specification 2.16.1)."""
        calls: dict[Inst, list[Inst]] = {
            f: [i.args[0] for b in f.blocks for i in b.insts if i.op == ops.OpFunctionCall]
            for f in self.module.functions
        }
        state: dict[Inst, int] = {}  # 1: on the path, 2: done
        for entry in self.module.sections[core.ENTRY_POINTS]:
            stack = [(entry.args[0], iter(calls[entry.args[0]]))]
            while stack:
                function, rest = stack[-1]
                state[function] = 1
                for callee in rest:
                    if state.get(callee) == 1:
                        raise Fault(callee, "the function is called by itself")
                    if callee not in state:
                        stack.append((callee, iter(calls[callee])))
                        break
                else:
                    state[function] = 2
                    stack.pop()
