"""The nesting of structured control flow: which construct a block is in (specification 2.11).

``parent[b]`` is the header of the innermost construct that holds ``b`` besides its own header, or
None. It is read off the dominator tree: a block is where its immediate dominator is, one level
deeper if that is a header, and a merge block is where its header is. For blocks reached only by
``continue`` this may name too deep a construct, never too shallow a one.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.grammar import ops
from spvlink.ir.core import Block, Function, Inst, Module
from spvlink.ir.known import fact


class Structure:
    """Headers with their merge and continue blocks, and the parent of each reachable block."""

    __slots__ = (
        "continue_of", "continues", "function", "header_of_merge", "loops", "merge_of", "parent",
    )  # fmt: skip

    def __init__(self, cfg: Cfg) -> None:
        self.function = cfg.function
        self.parent: dict[Block, Block | None] = {}
        self.merge_of: dict[Block, Block] = {}
        self.header_of_merge: dict[Block, Block] = {}
        self.continue_of: dict[Block, Block] = {}  # loop header -> continue target
        self.continues: set[Block] = set()  # continue targets
        self.loops: set[Block] = set()
        for block, merge in cfg.headers:
            target = merge.args[0]
            assert isinstance(target, Block)
            self.merge_of[block] = target
            self.header_of_merge[target] = block
            if merge.op == ops.OpLoopMerge:
                self.loops.add(block)
                after = merge.args[1]
                assert isinstance(after, Block)
                self.continue_of[block] = after
                self.continues.add(after)
        for block in cfg.order:
            header = self.header_of_merge.get(block)
            if header is not None and header in self.parent:
                self.parent[block] = self.parent[header]
                continue
            above = cfg.idom.get(block)
            if above is None:
                self.parent[block] = None
            elif above in self.merge_of:
                self.parent[block] = above
            else:
                self.parent[block] = self.parent.get(above)

    @staticmethod
    def of(module: Module, function: Function) -> Structure:
        known = fact(module, _structures, module.flow)
        structure = known.get(function)
        if structure is None:
            structure = known[function] = Structure(Cfg.of(module, function))
        return structure

    def around(self, block: Block) -> list[Block]:
        """Headers of the constructs around a block, innermost first."""
        out: list[Block] = []
        at = self.parent.get(block)
        while at is not None:
            out.append(at)
            at = self.parent.get(at)
        return out


def _structures(module: Module) -> dict[Function, Structure]:
    return {}  # filled as they are asked for


def is_switch(header: Block) -> bool:
    return header.terminator.op == ops.OpSwitch


def selection_merge(target: Block) -> Inst:
    return Inst(ops.OpSelectionMerge, None, [target], (0,))
