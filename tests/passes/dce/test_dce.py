"""What ``dce`` says that it did, which nothing else tells (scripts/mutants found that no other test
asks)."""

from __future__ import annotations

import pytest

from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.passes.cleaning import dce
from tests.support.case_loading import load
from tests.support.small_fragments import END, FORK, HEAD, OTHER, SINE

CODE = {  # code -> version moved, trimmed, emptied, lanes that constructs hold
    "alive": ("%b = OpFAdd %float %a %a\n", (False, False, False, [])),
    "dead": (SINE + "%b = OpFAdd %float %a %a\n", (True, False, False, [])),
    "dead on one way": (
        FORK.format(SINE) + "%b = OpFAdd %float %a %a\n", (True, False, False, []),
    ),
    "all of one way": (
        OTHER.format(SINE) + "%b = OpFAdd %float %a %a\n", (True, False, True, []),
    ),
    "each lane": (
        "%w = OpCompositeConstruct %vec2 %a %a\n%y = OpCompositeExtract %float %w 0\n"
        "%z = OpCompositeExtract %float %w 1\n%b = OpFAdd %float %y %z\n",
        (False, False, False, []),
    ),
    "a lane": (
        SINE + "%n = OpFNegate %float %a\n%w = OpCompositeConstruct %vec2 %n %s\n"
        "%b = OpCompositeExtract %float %w 0\n",
        (True, False, False, [1]),
    ),
    "a lane of a construct of constants": (
        SINE + "%w = OpCompositeConstruct %vec2 %float_1 %s\n"
        "%b = OpCompositeExtract %float %w 0\n", (True, True, False, [1]),
    ),
    "a lane of a shuffle": (
        "%u = OpExtInst %vec2 %glsl Sin %v\n%w = OpVectorShuffle %vec2 %v %u 1 2\n"
        "%b = OpCompositeExtract %float %w 0\n", (True, True, False, []),
    ),
}  # fmt: skip


def lanes(module: Module, outcome: dce.DceOutcome) -> list[int]:
    assert all(i.op == ops.OpCompositeConstruct for i in outcome.live_lanes)
    return list(outcome.live_lanes.values())


@pytest.mark.parametrize("name", CODE)
def test_what_dead_code_elimination_says(name: str) -> None:
    code, told = CODE[name]
    module = load(HEAD + code + END)
    version = module.version
    done = dce.dce(module, module.functions[0])
    assert (module.version != version, done.trimmed, done.emptied, lanes(module, done)) == told
    version = module.version
    dce.dce(module, module.functions[0])
    assert module.version == version
