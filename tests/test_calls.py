"""Calls that stay: whatever a callee may do, every pass must know of.

Hardly any call stays when functions are inlined, so here none is inlined: each effect that a
function can have meets each pass that moves or promotes.
"""

from __future__ import annotations

from functools import cache

import pytest

import spvlink
from spvlink import schedule
from spvlink.ir.core import Module
from spvlink.passes import inline
from tests.call_chains import EFFECTS, Effect, stages_of
from tests.linking import BASE
from tests.render import Result, Scene, draw, draw_covering
from tests.samples import compile_glsl, edited
from tests.test_pipelines import assert_close

# What each family of chains gives to do, beside the passes of BASE and promotion.
MOVING = {
    "vert": ("arrays", "backward", "dedup", "forward", "narrow", "propagate"),
    "frag": ("arrays", "backward", "dedup", "propagate"),
    "geom": ("arrays", "dedup", "forward", "narrow", "propagate"),
    "tesc": ("dedup", "propagate", "weighted", "share"),
    "tese": ("arrays", "dedup", "forward", "propagate", "weighted"),
    "mesh": ("dedup", "propagate", "share"),
}
MATRIX = [(e, name) for e in EFFECTS for name in ("promote", *MOVING[e.family])]


@cache
def compiled(effect: Effect) -> tuple[bytes, ...]:
    environment = "vulkan1.2" if effect.family == "mesh" else "vulkan1.1"
    codes: list[bytes] = []
    for stage, source in stages_of(effect):
        code = compile_glsl(source, stage, environment)
        if stage == effect.family and effect.edits:
            code = edited(code, *effect.edits)
        codes.append(code)
    return tuple(codes)


@cache
def drawn(effect: Effect) -> tuple[Scene, Result]:
    scene, before = draw_covering(compiled(effect))
    assert before.coverage > 0.1 and before.distinct > 1, "the original draws nothing"
    return scene, before


def link(
    codes: tuple[bytes, ...], names: frozenset[str], exact: bool = False
) -> tuple[spvlink.Linked, set[str]]:
    """Linked with these passes alone; and which of all passes changed anything."""
    ran: set[str] = set()

    def observe(count: int, name: str, stage: str, module: Module) -> None:
        ran.add(name)

    options = spvlink.Options()
    options.check_each = True
    options.exact = exact
    options.observer = observe
    options.disabled = frozenset(schedule.PASSES) - names
    linked = spvlink.link(list(codes), options)
    assert linked.defect is None, linked.defect
    assert linked.passed_through is None and linked.validated == "validated"
    return linked, ran


@pytest.fixture
def calls_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "run", lambda module: None)


@pytest.mark.usefixtures("calls_stay")
@pytest.mark.parametrize("effect, name", MATRIX, ids=lambda x: getattr(x, "name", x))
def test_effect(effect: Effect, name: str) -> None:
    codes = compiled(effect)
    linked, _ = link(codes, BASE | {name})
    scene, before = drawn(effect)
    after = draw([s.data for s in linked.stages], scene)
    assert_close(before, after)


@pytest.mark.parametrize("family", MOVING)
def test_passes_have_something_to_do(family: str) -> None:
    codes = compiled(Effect("nothing", family, "", "EmitVertex();" if family == "geom" else ""))
    for name in MOVING[family]:
        assert name in link(codes, BASE | {name})[1], name
