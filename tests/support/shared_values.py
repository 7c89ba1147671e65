"""Draws and links of chains whose values are equal for a patch or a workgroup."""

from __future__ import annotations

import spvlink
from spvlink.draw import compare, draw, draw_covering
from tests.support.interpolations import link, near
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]
MOTION = frozenset(["backward", "forward", "weighted"])


def prove(
    stages: Stages, env: str = "vulkan1.2", tolerance: float = 0.0, **settings: object
) -> spvlink.Linked:
    """Linked, drawn, and linked again; bit for bit unless there is a tolerance. Without the passes
    that would take apart what is looked at here, unless ``disable`` says otherwise."""
    settings.setdefault("disable", MOTION)
    codes = [compile_glsl(source, stage, env) for stage, source in stages]
    linked = link(codes, **settings)
    scene, before = draw_covering(codes)
    assert before.is_good()
    new = [s.data for s in linked.stages]
    after = draw(new, scene)
    if tolerance:
        near(before, after, tolerance)
    else:
        assert not compare(before, after)
    assert link(new, **settings).passed_through == "nothing to gain"
    return linked


def said(linked: spvlink.Linked, name: str) -> set[tuple[str, str]]:
    """What became of an output of the producer that is looked at, and why."""
    ends = ("tesc->tese", "mesh->frag")
    return {
        (r.action, r.why)
        for r in linked.remarks
        if r.interface in ends and r.name.partition("[")[0] == name
    }
