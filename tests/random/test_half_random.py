"""Pipelines with ``--half``: what is drawn moves by no more than the bound, on a device that rounds
as badly as it may, with attributes that are as bad as they may be. `scripts/half --draw` has
more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import spvlink
from spvlink.draw.scene import make_scene
from tests.support import half_device, half_figures
from tests.support.chains import build
from tests.support.half_figures import SETTINGS, state_of
from tests.support.half_random import moved_most

EACH = 12  # pipelines of a test
PAGE = Path(__file__).resolve().parents[2] / "docs" / "measurements" / "half.md"


@pytest.mark.parametrize("first", range(0, 6 * EACH, EACH))
def test_what_is_drawn_stays_within_the_bound(first: int) -> None:
    acted = 0
    for seed in range(first, first + EACH):
        most, told = moved_most(seed)
        assert most <= told, f"seed {seed}"
        acted += most >= 0
    assert acted >= EACH // 4


def test_the_worst_device_comes_close_to_the_bound() -> None:
    """So these tests would see one that is too small. Seeds of what was found with many."""
    shares = [most / told for most, told in map(moved_most, (45, 52, 85)) if most >= 0]
    assert max(shares, default=0.0) > 0.9


def test_shaders_stay_within_the_bound() -> None:
    """Those of ``shaders/`` in which something has 16 bits, with a bound that lets more in."""
    acted = 0
    for name in half_figures.PIPELINES:
        modules = build(name)
        state = state_of(modules, *SETTINGS[-1][1:])
        linked = spvlink.link(modules, clean=True, half=1.0, state=state)
        told = [border.error_bound or 0.0 for border in linked.interfaces]
        if not max(told):
            continue
        plain = spvlink.link(modules, clean=True, validate=False, state=state)
        pair = [[stage.data for stage in one.stages] for one in (plain, linked)]
        scene = half_figures.normalized(make_scene(modules), modules)
        most, result = half_device.moved(*pair, scene)
        assert result.coverage > 0, name
        assert most <= max(told), name
        acted += 1
    assert acted


def test_the_page_has_the_figures_of_today() -> None:
    assert half_figures.table() in PAGE.read_text()
