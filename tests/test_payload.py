"""The task payload as an interface: linked, validated, drawn; and what stays as it is, and why."""

from __future__ import annotations

import subprocess

import pytest

import spvlink
from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from spvlink.link import payload
from tests.linking import module_of
from tests.payload_chains import CASES, HEAD, Case
from tests.render import Result, Scene, compare, draw, draw_covering
from tests.samples import compile_glsl
from tests.test_pipelines import assert_close

ENVIRONMENT = "vulkan1.2"


def build(stages: list[tuple[str, str]]) -> list[bytes]:
    return [compile_glsl(text, stage, ENVIRONMENT) for stage, text in stages]


def link(codes: list[bytes], **settings: object) -> spvlink.Linked:
    options = spvlink.Options()
    options.check_each = True
    for name, value in settings.items():
        setattr(options, name, value)
    linked = spvlink.link(codes, options)
    assert linked.defect is None, linked.defect
    assert linked.validated == "validated"
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
        bytes(b for w in i.imm[1:] for b in w.to_bytes(4, "little")).partition(b"\0")[0].decode()
        for i in module.names
        if i.op == ops.OpMemberName and i.args[0] is struct
    ]


def prove(codes: list[bytes]) -> spvlink.Linked:
    """Linked exactly and by default, drawn all three, and linked again."""
    scene: Scene
    before: Result
    scene, before = draw_covering(codes)
    assert before.coverage > 0.1, "the original draws nothing"
    exact = link(codes, exact=True)
    difference = compare(before, draw([s.data for s in exact.stages], scene))
    assert not difference, str(difference)
    linked = link(codes)
    assert linked.passed_through is None, linked.passed_through
    assert_close(before, draw([s.data for s in linked.stages], scene))
    again = link([s.data for s in linked.stages])
    assert again.passed_through == "nothing to gain"
    return linked


def check_members(linked: spvlink.Linked, case: Case) -> None:
    after = {n.partition("[")[0].partition("_")[0] for n in members(modules(linked)["task"])}
    assert not after & {n.partition("_")[0] for n in case.gone}
    assert {n.partition("_")[0] for n in case.kept} <= after
    border = linked.interfaces[0]
    assert (border.producer, border.consumer, border.locations) == ("task", "mesh", (0, 0))
    assert border.components[1] <= border.components[0]
    slots = {r.slot.partition(".")[0] for r in linked.remarks if r.interface == "task->mesh"}
    assert slots == {"payload"}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_case(case: Case) -> None:
    linked = prove(build(case.stages()))
    check_members(linked, case)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_optimized_case(case: Case) -> None:
    """Once more as an optimizer leaves them: phis, selects, no local variables."""
    codes = [
        subprocess.run(
            ["spirv-opt", f"--target-env={ENVIRONMENT}", "-O", "-", "-o", "-"],
            input=code, capture_output=True, check=True,
        ).stdout
        for code in build(case.stages())
    ]  # fmt: skip
    check_members(prove(codes), case)
