"""Task and mesh shaders compiled and linked, and the payload that is left."""

from __future__ import annotations

import spvlink
from spvlink.grammar import ops
from spvlink.ir.core import Module, op_of_name, text_of_name
from spvlink.link.payload import payload
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

ENVIRONMENT = "vulkan1.2"


def build(stages: list[tuple[str, str]]) -> list[bytes]:
    return [compile_glsl(text, stage, ENVIRONMENT) for stage, text in stages]


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, value in settings.items():
        setattr(options, name, value)
    linked = spvlink.link(codes, options)
    assert linked.defect is None, linked.defect
    assert linked.validated == "validated" or not options.validate
    return linked


def modules(linked: spvlink.Linked) -> dict[str, Module]:
    return {s.stage: module_of(s.data) for s in linked.stages}


def members(module: Module) -> list[str]:
    """The names of the payload's members."""
    found = payload.variables(module)
    if not found:
        return []
    assert found[0].type is not None
    struct = found[0].type.args[0]
    return [
        text_of_name(name)
        for of, name in module.names
        if op_of_name(name) == ops.OpMemberName and of is struct
    ]
