"""Every pipeline of shaders/ runs on the interpreter: what is linked does the same, by default and
bit for bit, and each takes well under a second."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.pipeline import Source
from spvlink.verifier.machine.execute import execute
from spvlink.verifier.verdict import EQUAL
from tests.support import chains


@pytest.mark.parametrize("name", chains.NAMES)
def test_what_is_linked_does_the_same(name: str) -> None:
    codes = chains.build(name)
    before = [Source(code) for code in codes]
    for exact in (False, True):
        options = spvlink.Options(exact=exact, validate=False)
        after = [Source(s.data) for s in spvlink.link(list(codes), options).stages]
        verdict = execute(before, after, options)
        assert verdict.outcome == EQUAL, verdict
        assert verdict.seconds < 5  # 0.1 on a quiet machine
