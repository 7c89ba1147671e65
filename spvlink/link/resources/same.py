"""Decide whether expressions of two modules, both movable into a third, are equal."""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.link.resources.blocks import ResourceAccess, shape
from spvlink.link.resources.transfer import Transfer


def same_value(one: Transfer, a: Inst, two: Transfer, b: Inst) -> bool:
    """Whether expressions of two modules, both movable into one target, are the same: the same
    operations on the same constants and resources."""
    todo, seen = [(a, b)], set[tuple[Inst, Inst]]()
    while todo:
        pair = todo.pop()
        if pair in seen:
            continue
        seen.add(pair)
        first, second = pair
        if (first.op, first.imm, len(first.args)) != (second.op, second.imm, len(second.args)):
            return False
        if first.type is None or second.type is None or shape(first.type) != shape(second.type):
            return False
        if first.op == ops.OpLoad:
            if not _same_place(one.from_blocks.access(first), two.from_blocks.access(second)):
                return False
            continue
        for x, y in zip(first.args, second.args):
            if (x in one.glsl) != (y in two.glsl):
                return False
            if x not in one.glsl:
                todo.append((x, y))
    return True


def _same_place(a: ResourceAccess, b: ResourceAccess) -> bool:
    """Whether two loads read the same bytes as the same type."""
    return (
        (a.key, a.element, a.offset, a.words) == (b.key, b.element, b.offset, b.words)
        and shape(a.type) == shape(b.type)
    )  # fmt: skip
