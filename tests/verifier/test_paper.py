"""Proof on paper: it acquits links, and convicts what is wrong.

Whether a wrong pipeline is called equal is what counts: a proof of that is worth less than none.
"""

from __future__ import annotations

import random

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.options import Options
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL, Verdict
from tests.support import chain_breakage as chains
from tests.support import miscompiles as pairs
from tests.support.chains import build
from tests.support.samples import compile_glsl

# Right by what the default promises: sums may be made in another order, constants differ by less
# than six digits.
BY_ROUNDING = {"reassociated sum", "wrong constant, one ULP"}


def proved(before: list[bytes], after: list[bytes], exact: bool) -> Verdict:
    sides = [[Source(data) for data in side] for side in (before, after)]
    return prove(sides[0], sides[1], Options(exact=exact), 20.0)


def linked(codes: list[bytes], exact: bool) -> list[bytes]:
    return [s.data for s in spvlink.link(codes, exact=exact, validate=False).stages]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", ["material", "tonemap", "pbr_cascades", "shading_models"])
def test_a_link_is_proved(name: str, exact: bool) -> None:
    codes = list(build(name))
    after = linked(codes, exact)
    assert after != codes
    verdict = proved(codes, after, exact)
    assert verdict.outcome == EQUAL, verdict
    assert not (exact and verdict.axioms)


def test_the_default_needs_axioms_and_names_them() -> None:
    codes = list(build("water"))
    after = linked(codes, False)
    assert proved(codes, after, True).outcome != EQUAL
    assert set(proved(codes, after, False).axioms) == {"linear", "sums", "uniform", "zeros"}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("case", pairs.CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_planted_mistake_is_not_equal(case: pairs.Case, exact: bool) -> None:
    if not exact and case.name in BY_ROUNDING:
        pytest.skip("right up to rounding")
    codes = [compile_glsl(text, stage) for text, stage in zip(case.sources, ("vert", "frag"))]
    assert proved(codes, codes, exact).outcome == EQUAL
    planted = pairs.broken(case, codes)
    assert planted != codes
    assert proved(codes, planted, exact).outcome != EQUAL


@pytest.mark.parametrize("case", chains.CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_mistake_planted_in_a_chain_is_not_equal(case: chains.Case) -> None:
    codes, planted = chains.built(case.chain), chains.broken(case)
    assert planted != codes
    assert proved(codes, planted, False).outcome != EQUAL


# -- mutants ---------------------------------------------------------------------------------------

OTHER = {
    ops.OpFAdd: ops.OpFMul, ops.OpFMul: ops.OpFSub, ops.OpFSub: ops.OpFAdd,
    ops.OpFOrdLessThan: ops.OpFOrdGreaterThan, ops.OpFOrdGreaterThan: ops.OpFOrdLessThan,
    ops.OpIAdd: ops.OpISub, ops.OpSLessThan: ops.OpSLessThanEqual,
    ops.OpBitwiseAnd: ops.OpBitwiseOr, ops.OpULessThan: ops.OpSGreaterThan,
}  # fmt: skip


def spots(insts: list[Inst]) -> list[Inst]:
    """What ``mutate`` can change."""
    return [
        i for i in insts
        if i.op in OTHER or (i.op == ops.OpCompositeExtract and len(i.imm) == 1)
        or i.op == ops.OpBranchConditional or (i.op == ops.OpSelect)
        or (i.op == ops.OpExtInst and i.imm[0] in (37, 40))
    ]  # fmt: skip


def mutate(inst: Inst) -> bool:
    if inst.op in OTHER:
        if len({id(a) for a in inst.args}) == 1:
            return False
        inst.op = OTHER[inst.op]
    elif inst.op == ops.OpCompositeExtract:
        kind = inst.args[0].type
        assert kind is not None
        if kind.op != ops.OpTypeVector:
            return False
        inst.imm = ((inst.imm[0] + 1) % kind.imm[0],)
    elif inst.op == ops.OpExtInst:
        inst.imm = (77 - inst.imm[0],)  # FMin for FMax
    else:  # the branches of a condition
        inst.args[1], inst.args[2] = inst.args[2], inst.args[1]
    return True


@pytest.mark.parametrize("exact", [False, True])
def test_no_mutant_of_a_linked_module_is_equal(exact: bool) -> None:
    """One instruction of a linked module does something else. None of those that are drawn here is
    equal to the original by chance; each was looked at when the seed was chosen."""
    chance = random.Random(36)
    tried = 0
    for name in ("material", "water", "toon", "shadow_cascades", "parallax", "tbn_matrix"):
        codes = list(build(name))
        after = linked(codes, exact)
        if proved(codes, after, exact).outcome != EQUAL:
            continue
        for stage, data in enumerate(after):
            count = len(
                spots([i for f in decode(data).functions for b in f.blocks for i in b.insts])
            )
            for at in chance.sample(range(count), min(count, 12)):
                module = decode(data)
                found = spots([i for f in module.functions for b in f.blocks for i in b.insts])
                if not mutate(found[at]):
                    continue
                mutant = [*after[:stage], encode(module), *after[stage + 1 :]]
                verdict = proved(codes, mutant, exact)
                assert verdict.outcome != EQUAL, f"{name}: {found[at]} at {at} of stage {stage}"
                tried += 1
    assert tried > 50
