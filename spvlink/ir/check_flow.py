"""The verifier's view of control flow: edges, dominators, structured constructs of one function.

Dominators by Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979),
the version with path compression: the verifier meets hostile graphs, on which the iteration that
``facts/cfg.py`` uses may take quadratic time.

Structured control flow follows specification 2.11.2 ("Structural Control-Flow Constructs"), judged
on reachable blocks only and with plain dominance, which never says more than structural dominance
does: what is refused here is wrong by the specification.
"""

from __future__ import annotations

from spvlink.grammar import info, ops
from spvlink.ir.core import Block, Function, Inst

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

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
        targets: list[int] = []
        for label in labels:
            index = number.get(label)
            if index is None:
                raise Fault(last, f"%{label.id} is branched to but is no block of this function")
            targets.append(index)
        return targets

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
