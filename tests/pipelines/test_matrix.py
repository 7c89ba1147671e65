"""Every border x every optimization x every kind of varying (tests/support/matrix.py): what becomes
of each cell, by name, and that the chain is valid, as small as it must be, and draws and captures
the same.

TABLE says what an optimization does in which cells; where it does nothing, the reason that
--explain gives stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product

import pytest

import spvlink
from spvlink.draw import draw, draw_covering
from spvlink.draw.scene import make_scene
from spvlink.pipeline import ACTIONS, Remark
from tests.support.chain_checks import check_modules, close
from tests.support.matrix import (
    FORMS,
    IMPOSSIBLE,
    MATRIX_ROWS,
    NEED_A_READER,
    PASSES,
    PAYLOAD,
    ROWS,
    Form,
    Row,
    build,
)

LIVE = 4  # components that every chain keeps
GONE = ("removed", "undefined", "propagated")
ONE_LEFT = ("merged", "moved-backward", "moved-forward")  # of a cell's two scalars
STAYS = ("packed", "kept")
ALL_ROWS = ROWS + MATRIX_ROWS
OTHER_SEED = 3  # of a second scene


@dataclass(frozen=True)
class Rule:
    """What becomes of the cells that three patterns name: one of ACTIONS, and words of the reason.
    The first rule that fits counts."""

    rows: str
    optimizations: str
    forms: str
    action: str
    why: str = ""


TABLE = (
    # captured: nothing but its place changes, and where another reason came first, it says that
    Rule("*->frag xfb", "undefined", "*", "kept"),
    Rule("*->frag xfb", "partly", "*", "kept"),
    Rule("*->frag xfb", "duplicate", "*", "kept"),
    Rule("*->frag xfb", "*ward", "*", "kept"),
    Rule("*->frag xfb", "compaction", "*", "kept"),
    Rule("*xfb", "*", "*", "kept", "transform feedback captures it"),
    Rule("*->nothing vertex", "*", "*", "removed", "the fixed-function stage does not read it"),
    Rule("*", "dead", "*", "removed", "stage does not read it"),
    # a payload is memory, in which 16 bits are numbers like others
    Rule("*payload", "undefined", "f16", "undefined", "never writes it; read as zero"),
    Rule("*payload", "constant", "f16", "propagated", "constant"),
    Rule("*payload", "uniform", "f16", "propagated", "computed there from set 0, binding 0"),
    Rule("*payload", "duplicate", "f16", "merged", "the same as"),
    Rule("*payload", "compaction", "f16", "kept", "binding 1"),
    Rule("*payload", "undefined", "dynamic", "removed", "stage does not read it"),
    # a workgroup stores it in place, so no local copy is made of it
    Rule("*payload", "*", "dynamic", "kept", "it is accessed with a dynamic index"),
    Rule("*", "undefined", "dynamic", "removed", "stage does not read it"),  # stored by nobody
    Rule("*", "undefined", "*", "undefined", "never writes it; read as zero"),
    # inputs over a patch are declared for 32 vertices: no local copy is made of these
    Rule("vert->tesc vertex", "*", "dynamic", "kept", "it is accessed with a dynamic index"),
    Rule("tesc->tese vertex", "*", "dynamic", "kept", "it is accessed with a dynamic index"),
    Rule("*", "*ward", "dynamic", "kept", "it is accessed with a dynamic index"),
    Rule("*", "compaction", "dynamic", "kept", "it is accessed with a dynamic index"),
    Rule("*", "constant", "*", "propagated", "constant"),
    Rule("*", "partly", "*", "propagated", "constant"),
    Rule("*", "uniform", "*", "propagated", "computed there from set 0, binding 0"),
    Rule("*", "duplicate", "*", "merged", "the same as"),
    # motion is of values of 16 and 32 bits
    Rule("*", "*ward", "f64", "kept"),
    # what is rounded to 16 bits before it is interpolated is not made of what is interpolated
    Rule("*->frag *", "forward", "f16", "kept"),
    Rule("*", "backward", "*", "moved-backward", "stage does the work on it"),
    Rule("*", "forward", "*", "moved-forward", "stage computes it from"),
    Rule("*", "compaction", "*", "kept"),
)  # fmt: skip


def rule(row: Row, optimization: str, form: Form) -> Rule:
    cell = (row.name, optimization, form.name)
    return next(
        r for r in TABLE
        if all(map(fnmatchcase, cell, (r.rows, r.optimizations, r.forms)))
    )  # fmt: skip


def remarks_of(linked: spvlink.Linked, row: Row, form: Form) -> list[Remark]:
    """What was said of a cell's scalars: of a matrix, of two components."""
    consumer = row.consumer or "fixed-function"
    return [
        r for r in linked.remarks
        if r.interface == f"{row.producer}->{consumer}" and name_of(r) in form.names
        and (not form.matrix or ("y" if "[0]" in r.name else "x") in r.slot.partition(".")[2])
    ]  # fmt: skip


def name_of(remark: Remark) -> str:
    """The variable or member that a remark is about."""
    return remark.name.removeprefix(f"{PAYLOAD}.").partition("[")[0]


def check_cell(row: Row, optimization: str, form: Form, remarks: list[Remark]) -> list[str]:
    """What is wrong with one cell."""
    wanted = rule(row, optimization, form)
    said = [f"{r.name} {r.action}: {r.why}" for r in remarks]
    if not remarks:
        return [f"{form.name}: nothing is said of it"]
    names = {name_of(r) for r in remarks}
    if names != set(form.names):
        return [f"{form.name}: something is said of {sorted(names)} only"]
    fits = [
        (r.action in STAYS if wanted.action == "kept" else r.action == wanted.action)
        and wanted.why in r.why
        for r in remarks
    ]
    if wanted.action == "merged":  # one of the two stays
        others = [r for r, fit in zip(remarks, fits) if not fit]
        fits = [len(others) == 1 and others[0].action in STAYS and any(fits)]
    return [] if all(fits) else [f"{form.name}: {wanted.action} was expected, but {said}"]


def size_left(row: Row, optimization: str) -> tuple[int, int]:
    """(components, Locations) that the border has left, all cells together. What is of 32 bits
    shares Locations, and so does what is of 64, and of 16."""
    components = {2: 0, 4: LIVE if row.consumer else 0, 8: 0}
    for form in row.forms:
        action = rule(row, optimization, form).action
        left = 0 if action in GONE else 1 if action in ONE_LEFT else 2
        components[form.size] += left * (2 if form.size == 8 else 1)
    locations = sum(-(-count // 4) for count in components.values())
    return sum(components.values()), 0 if row.kind == PAYLOAD else locations


@pytest.mark.parametrize(
    ("row", "optimization"),
    [(row, name) for row in ALL_ROWS for name in row.passes],
    ids=lambda v: v if isinstance(v, str) else v.name.replace(" ", "-") + v.matrices * "-matrix",
)
def test_cells(row: Row, optimization: str) -> None:
    codes = list(build(row, optimization))
    linked = linked_of(row, codes)
    new = [stage.data for stage in linked.stages]
    assert linked.passed_through is None
    problems = check_modules(codes, new, linked)
    for form in row.forms:
        problems += check_cell(row, optimization, form, remarks_of(linked, row, form))
    assert not problems, "\n".join(problems)
    border = next(i for i in linked.interfaces if i.producer == row.producer)
    assert (border.components[1], border.locations[1]) == size_left(row, optimization)
    scene, before = draw_covering(codes)
    if optimization in ("undefined", "partly"):  # which transform feedback captures all the same
        assert before.coverage > 0.1
    else:
        assert before.is_good(), "the result proves nothing"
    assert not close(before, draw(new, scene))
    other = make_scene(codes, OTHER_SEED)
    assert not close(draw(codes, other), draw(new, other))
    again = linked_of(row, new)
    assert [stage.data for stage in again.stages] == new, "a second link finds something"


def linked_of(row: Row, codes: list[bytes]) -> spvlink.Linked:
    options = spvlink.Options(clean=True, gpu="radv")  # the fewest Locations
    options.check_each = True
    options.complete = not row.consumer
    return spvlink.link(list(codes), options)


def test_every_cell_exists_or_cannot() -> None:
    """No border, kind or form is left out without a word."""
    borders = {row.name for row in ROWS}
    stages = ("vert", "tesc", "tese", "geom", "mesh")
    pairs = {(a, b) for a in stages for b in (*stages[1:4], "frag", "nothing")}
    real = {(row.producer, row.consumer or "nothing") for row in ROWS if row.kind != PAYLOAD}
    assert [(r.producer, r.consumer) for r in ROWS if r.kind == PAYLOAD] == [("task", "mesh")]
    ends = {("tesc", "nothing"), ("mesh", "nothing"), ("tesc", "frag"), ("tesc", "geom")}
    backward = {(a, b) for a, b in pairs if b in stages and stages.index(b) <= stages.index(a)}
    alone = {("mesh", b) for b in ("tesc", "tese", "geom")}
    assert pairs == real | ends | backward | alone | {("vert", "tese")}
    for (a, b), kind in product(real, ("vertex", "patch", "primitive", "xfb")):
        exists = f"{a}->{b} {kind}" in borders
        assert exists == (
            kind == "vertex"
            or (kind == "patch" and (a, b) == ("tesc", "tese"))
            or (kind == "primitive" and (a, b) == ("mesh", "frag"))
            or (kind == "xfb" and b in ("frag", "nothing") and a != "mesh")
        )
        assert exists or IMPOSSIBLE[kind]


def test_the_table_speaks_of_everything_once() -> None:
    used = {
        rule(row, name, form) for row in ALL_ROWS for name in row.passes for form in row.forms
    }  # fmt: skip
    assert used == set(TABLE)
    assert all(r.action in ACTIONS for r in TABLE)
    assert set(NEED_A_READER) < set(PASSES) and len({f.name for f in FORMS}) == len(FORMS)
