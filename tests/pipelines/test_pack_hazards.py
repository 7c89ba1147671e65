"""Arrays and narrow values that a careless linker gets wrong: how much is packed, at once.
test_chain_hazards.py draws them.
"""

from __future__ import annotations

import pytest

from tests.support.chain_hazards import Chain
from tests.support.chain_proof import compiled, link
from tests.support.pack_hazards import CHAINS, PACKED


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_as_many_parts_of_words_as_it_is_safe_to_make(chain: Chain) -> None:
    exact = link(compiled(chain), chain, True)
    assert sum("of a word" in r.why for r in exact.remarks) == PACKED.get(chain.name, 0)
    new = [s.data for s in exact.stages]
    again = link(new, chain, True, "nothing to gain")
    assert [s.data for s in again.stages] == new
