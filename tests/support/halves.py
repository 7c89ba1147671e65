"""Chains of 64-bit varyings, compiled and linked."""

from __future__ import annotations

import spvlink
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, value in settings.items():
        setattr(options, name, value)
    linked = spvlink.link(list(codes), options)
    assert linked.defect is None, linked.defect
    assert linked.validated == "validated"
    return linked


def build(stages: Stages | tuple[tuple[str, str], ...], environment: str) -> list[bytes]:
    return [compile_glsl(text, stage, environment) for stage, text in stages]
