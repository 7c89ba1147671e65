"""``scripts/fuzz --verify`` proves or executes links, and sees a wrong one."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.options import Options
from spvlink.pipeline import PACK_COORDINATES, Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL
from tests.support import miscompiles, proved_random
from tests.support.random_harness import Failure
from tests.support.samples import compile_glsl


@pytest.mark.parametrize("kind", proved_random.KINDS)
def test_a_random_link_is_proved_or_executed(kind: str) -> None:
    words = [proved_random.checked(kind, seed) for seed in range(3)]
    assert proved_random.PROVED in words or proved_random.RAN in words, words
    assert all(isinstance(word, str) for word in words), words


# Random links that had no proof once, each for another reason.
PROVED = [
    ("flow", 33029454),  # a loop whose first round is certain
    ("flow", 33029470),  # debug information, and pointers behind loops
    ("flow", 33029540),  # an array of a specialized length
    ("flow", 33029485),  # columns under masks
    ("flow", 33040008),  # columns of words, of which a part is taken
    ("chains", 33040029),  # a part that is the same in all words of a column
    ("chains", 33029455),  # a flag that nobody sets
    ("chains", 33029463),  # a condition that no round changes
    ("chains", 33029467),  # floats that cross as bits
    ("chains", 33029499),  # loops as high as what is put into them
    ("pairs", 33029469),  # a loop that constants do not count
    ("pairs", 33029475),  # what a round makes, in each case of such a condition
    ("pairs", 33029480),  # an undefined number in front of a sum
    ("pairs", 33029497),  # an input that is per sample and not read
    ("flow", 33150036),  # one value of a column, in a loop
    ("chains", 33150038),  # the same, read back
    ("motion", 33150046),  # the terms of a sum in another order
    ("flow", 33160005),  # a function that counts the rounds of a loop
    ("flow", 33160007),  # a way out of a loop over other blocks
    ("chains", 33170019),  # an index that is a constant after all
    ("chains", 33170027),  # conditions in another order
    ("pairs", 33190007),  # a number that no round changes
    ("flow", 33190031),  # an undefined value, in a choice
    ("flow", 33070033),  # what is never reached
    ("flow", 33110001),  # one value of a column, made by a loop
    ("chains", 33200011),  # complements of undefined numbers
    ("flow", 33200047),  # where a fragment is seen
    ("chains", 33240039),  # loops that are over
    ("flow", 33250037),  # an undefined number on the other side
    ("flow", 33250044),  # bits that no round sets
    ("flow", 33260016),  # numbers without a difference
    ("flow", 33260046),  # a sum of two choices
    ("chains", 33280007),  # operands in another order
]
# Seeds whose links have no proof with these passes now; executed and drawn they are equal.
WITHOUT = {33170019: {"backward"}}
FIRST_WHOLE = 33070000  # seeds before this one were linked with vectors over two Locations


@pytest.mark.parametrize(("kind", "seed"), PROVED)
def test_what_had_no_proof_has_one(kind: str, seed: int) -> None:
    codes, options = proved_random.built(kind, seed)
    options.exact = options.exact or seed % 2 == 1
    if seed < FIRST_WHOLE:
        options.pack = PACK_COORDINATES
    options.disable |= WITHOUT.get(seed, set())
    linked = spvlink.link(list(codes), options)
    before = [Source(code) for code in codes]
    after = [Source(stage.data) for stage in linked.stages]
    assert prove(before, after, options, 30.0).outcome == EQUAL


def test_a_wrong_link_is_a_failure() -> None:
    case = miscompiles.CASES[0]
    codes = [compile_glsl(text, stage) for text, stage in zip(case.sources, ("vert", "frag"))]
    planted = miscompiles.broken(case, codes)
    assert proved_random.judged(codes, codes, Options()) == proved_random.PROVED
    assert isinstance(proved_random.judged(codes, planted, Options()), Failure)
