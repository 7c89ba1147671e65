"""What RADV's compiler makes of linked pipelines (scripts/isa): no GPU is needed."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import CannotDraw
from spvlink.draw.batch import run_isolated
from tests.render.draw_time import draw_times
from tests.render.drivers import PIXELS, VERTICES, environment
from tests.render.machine_code import OFTEN, Counts, count, count_stages
from tests.support import chains

MUCH = 1.02  # times the instructions of the original
# What takes more, and why. Instructions count once here, however often a stage runs.
WHY = {
    "cloth_threads": "backward and share: work goes to the control shader, which runs less often",
    "lod_blend": "compact: what shares a Location is loaded at once, which Mali gains by",
    "probe_grid": "backward: a difference goes to the vertex shader, for one component less",
    "sample_patch": "backward: work goes to the vertex shader, and fewer components cross",
    "signal_flags": "narrow: flags are put into a word and taken out again, for a Location",
    "terrain_wire": "backward: work goes to the evaluation shader, for one component less",
}


@pytest.fixture(autouse=True)
def radv(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for name, value in environment("radv").items():
            monkeypatch.setenv(name, value)
    except CannotDraw as why:
        pytest.skip(str(why))


def linked(modules: tuple[bytes, ...]) -> list[bytes]:
    return [stage.data for stage in spvlink.link(list(modules), validate=False).stages]


def test_no_pipeline_takes_more_instructions_without_a_reason() -> None:
    modules = {name: chains.build(name) for name in chains.NAMES}
    jobs = [(codes, False) for both in modules.values() for codes in (both, linked(both))]
    answers = iter(run_isolated(count, jobs))
    found: dict[str, tuple[Counts, Counts]] = {}
    for name, before, after in zip(modules, answers, answers):
        if not isinstance(before, Exception) and not isinstance(after, Exception):
            found[name] = before, after
    assert len(found) > 120  # the others need what RADV does not have on this hardware
    kind = "Instructions"
    more = {n: (a[kind], b[kind]) for n, (a, b) in found.items() if b[kind] > MUCH * a[kind]}
    assert more.keys() <= WHY.keys(), more
    total = [sum(row[side][kind] for row in found.values()) for side in (0, 1)]
    assert total[1] < total[0]


def test_libraries_are_not_linked_by_the_driver() -> None:
    """What nobody reads stays in a library; the whole pipeline does without."""
    modules = chains.build("material")
    whole, parts = run_isolated(count, [(modules, False), (modules, True)])
    assert parts["Combined outputs"] > whole["Combined outputs"] > 0


def test_what_no_linker_can_save_is_in_the_control() -> None:
    """A library exports the primitive's number; where the driver links, only if it is asked for."""
    modules = chains.build("debug_uv")
    whole, control, parts = run_isolated(
        count, [(modules, False), (modules, False, True), (modules, True)]
    )
    kind = "Instructions"
    assert whole[kind] + 15 < control[kind] < parts[kind]  # 22 on this hardware


def test_fragments_are_counted_as_often_as_they_run() -> None:
    (found,) = run_isolated(count, [(chains.build("debug_uv"),)])
    (each,) = run_isolated(count_stages, [(chains.build("debug_uv"),)])
    stages = dict(each)
    kind = "Instructions"
    wanted = stages["vertex"][kind] + 8 * stages["fragment"][kind]  # the default of --expect
    assert found[OFTEN + kind] == wanted > found[kind]


def test_lavapipe_has_a_time_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long they are is not tested: machines are noisy."""
    for name, value in environment("lavapipe").items():
        monkeypatch.setenv(name, value)
    codes = chains.build("season_palette")
    ((before, after),) = run_isolated(draw_times, [(codes, linked(codes))])
    for times in (before, after):
        assert times.keys() == {VERTICES, PIXELS} and min(times.values()) > 0
