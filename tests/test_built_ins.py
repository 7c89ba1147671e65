"""Built-ins cross like varyings: every built-in x every border x every way to write it
(tests/built_in_matrix.py), drawn with two scenes and linked twice."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import enums
from spvlink.link.built_ins.side import Side
from tests.built_in_matrix import CELLS, CHAINS, Cell, build
from tests.linking import module_of
from tests.render import draw, draw_covering
from tests.render.scene import make_scene
from tests.test_chains import check_modules, close

GONE = {
    "constant": "propagated", "uniform": "propagated", "never": "undefined", "partly": "propagated",
}  # fmt: skip


def accesses(cell: Cell, stages: list[bytes]) -> tuple[int, int]:
    """How often the consumer loads the built-in, and how often the producer stores it."""
    order, number = CHAINS[cell.border], frozenset({cell.builtin.number})
    own = cell.border == "tesc->tesc"
    storage = enums.StorageClass_Output if own else enums.StorageClass_Input
    consumer = module_of(stages[order.index(cell.consumer)])
    producer = module_of(stages[order.index(cell.producer)])
    loads = Side(consumer, storage, number).loads
    return len(loads), len(Side(producer, enums.StorageClass_Output, number).stores)


def wanted_loads(cell: Cell) -> int:
    """How many loads of the built-in are left, of scalars or of a whole vector."""
    if cell.way in GONE or cell.border == "tesc->tesc":
        return 0
    if cell.way == "vertex":
        return 1 if cell.builtin.type == "vec4" else len(cell.builtin.parts)
    return 1


def linked_of(cell: Cell, codes: list[bytes]) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    return spvlink.link(codes, options)


@pytest.mark.parametrize("cell", CELLS, ids=lambda c: c.name)
def test_cells(cell: Cell) -> None:
    codes = list(build(cell))
    linked = linked_of(cell, codes)
    new = [stage.data for stage in linked.stages]
    assert linked.defect is None
    assert not check_modules(codes, new, linked)
    loads, stores = accesses(cell, new)
    assert loads == wanted_loads(cell), [str(r.why) for r in linked.remarks]
    _, before = accesses(cell, codes)
    fixed = cell.consumer == "frag" or cell.builtin.level
    if fixed and cell.builtin.number != enums.BuiltIn_PrimitiveId:
        assert stores == before, "a fixed function reads it"
    if cell.way in GONE and cell.border != "tesc->tesc":
        said = {r.action for r in linked.remarks if r.name.startswith(cell.builtin.name)}
        assert GONE[cell.way] in said or loads
    for seed in (0, 1):
        if seed == 0:
            # layers share the pixels that are counted
            scene, picture = draw_covering(codes, coverage=0.05)
            assert picture.is_good(0.05), "the result proves nothing"
        else:
            scene = make_scene(codes, seed)
            picture = draw(codes, scene)
        assert not close(picture, draw(new, scene))
    again = linked_of(cell, new)
    assert [stage.data for stage in again.stages] == new
