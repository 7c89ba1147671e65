"""Plants in longer chains the mistakes a linker can make, and sees the render proof catch each.

As test_miscompiles.py does for vertex + fragment: the untouched chain must draw a good picture (or
capture good bytes) and equal itself; the broken one must differ, and in the place named.
"""

from __future__ import annotations

import pytest

from spvlink.draw import compare, draw, draw_covering, messages, mismatches
from spvlink.draw.words import OP_DECORATE, Words
from tests.support.chain_breakage import (
    CASES,
    COMPONENT,
    LOCATION,
    PATCH,
    PER_PRIMITIVE,
    Case,
    Edit,
    assign,
    broken,
    built,
    lose,
)
from tests.support.chain_sources import CHAINS

# glslang declares the shading rate with every block of per-primitive built-ins, used or not.
SHADING_RATE = {
    "VUID-VkShaderModuleCreateInfo-pCode-01091",
    "VUID-VkShaderModuleCreateInfo-pCode-04147",
}


def gain(name: str, decoration: int) -> Edit:
    def edit(words: Words) -> None:
        place = words.decoration(name, LOCATION)
        words.insert_before(place, [OP_DECORATE, place[1], decoration])

    return edit


def mixed_location(words: Words) -> None:
    """The flat scalar goes behind the smooth vec3."""
    place = words.decoration("e_flat", LOCATION)
    place[3] = 0
    words.insert_before(place, [OP_DECORATE, place[1], COMPONENT, 3])


@pytest.mark.parametrize("chain", CHAINS)
def test_the_untouched_chain_is_good(chain: str) -> None:
    codes = built(chain)
    scene, original = draw_covering(codes, seed=1)
    assert original.is_good(coverage=0.15, distinct=20)
    assert not compare(original, draw(codes, scene))
    assert not messages(codes, scene).keys() - SHADING_RATE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_is_caught(case: Case) -> None:
    scene, original = draw_covering(built(case.chain), seed=1)
    planted = broken(case)
    assert planted != built(case.chain)
    difference = compare(original, draw(planted, scene))
    assert difference, f"{case.name}: not caught"
    assert case.seen_in in str(difference), str(difference)


ONE_SIDED = [
    Case("lost Patch", "tessellation", "tese", lose("p_tint", PATCH)),
    Case("lost PerPrimitive", "mesh", "frag", lose("m_tint", PER_PRIMITIVE)),
    Case("gained PerPrimitive", "mesh", "mesh", gain("m_uv", PER_PRIMITIVE)),
    Case("Location nobody writes", "tessellation", "tese", assign("c_uv", LOCATION, 11)),
    Case("Location nobody writes behind a geometry shader", "geometry", "frag",
         assign("g_normal", LOCATION, 9)),
    Case("other type", "geometry", "vert", edit=None,
         text=("out ivec2 v_kind", "out uvec2 v_kind")),
    Case("two values in one place", "tessellation", "tesc", assign("c_next", LOCATION, 0)),
    Case("two qualifiers in one Location", "tessellation", "frag", edit=mixed_location),
]  # fmt: skip


@pytest.mark.parametrize("case", ONE_SIDED, ids=lambda case: case.name.replace(" ", "-"))
def test_one_sided_edits_are_caught(case: Case) -> None:
    """A driver may do anything with such a pipeline, so nothing is drawn: the oracle says it."""
    assert not mismatches(built(case.chain))
    assert mismatches(broken(case))
