"""Constants in a task payload that the task shader reads back itself."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from tests.support.linking import all_insts
from tests.support.payload_chains import Case
from tests.support.payload_links import build, link, modules


def loads(module: Module) -> int:
    """Loads from the payload."""
    count = 0
    for inst in all_insts(module):
        if inst.op == ops.OpLoad:
            pointer = inst.args[0].type
            assert pointer is not None
            count += pointer.imm[0] == enums.StorageClass_TaskPayloadWorkgroupEXT
    return count


@pytest.mark.parametrize(("value", "known"), [("0.25", True), ("float(group) * 0.25", False)])
def test_a_constant_that_is_read_back_is_the_constant(value: str, known: bool) -> None:
    """Every invocation stores the same, so whoever wrote last, it is that."""
    case = Case(
        "back", "float one; vec4 tint;",
        f"payload.one = {value}; barrier(); payload.tint = vec4(payload.one + float(group));",
        "tint = payload.tint;",
    )  # fmt: skip
    codes = build(case.stages())
    linked = link(codes)
    assert (loads(modules(linked)["task"]) == 0) == known
    assert loads(modules(link(codes, disable=frozenset(["payload.constants"])))["task"])
