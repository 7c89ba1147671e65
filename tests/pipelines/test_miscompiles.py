"""Plants the mistakes that a linker can make and sees the rendering proof catch each of them.

Every case is a realistic pipeline and one defect, made by editing words of the SPIR-V or, where
that would be unreadable, by compiling a changed source. The untouched pair must draw a good
picture and equal itself; the broken pair must differ. Cases that only the validation layer can
see say so.
"""

from __future__ import annotations

import pytest

from spvlink.draw import compare, draw, draw_covering, messages
from tests.render.glsl import compile_glsl
from tests.support.miscompiles import CASES, SURFACE_FRAG, SURFACE_VERT, Case, broken


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_is_caught(case: Case) -> None:
    codes = [compile_glsl("vert", case.sources[0]), compile_glsl("frag", case.sources[1])]
    scene, original = draw_covering(codes, seed=1, samples=case.samples)
    assert original.is_good(coverage=0.3, distinct=500)
    again = compare(original, draw(codes, scene))
    assert not again, f"the original does not equal itself: {again}"
    planted = broken(case, codes)
    assert planted != codes
    difference = compare(original, draw(planted, scene))
    assert difference, f"{case.name}: not caught"
    assert case.seen_in in str(difference), str(difference)


def test_a_changed_type_is_caught_by_validation() -> None:
    """float against int has the same bits: no picture can show it. (Newer layers take int for
    uint.)"""
    codes = [compile_glsl("vert", SURFACE_VERT), compile_glsl("frag", SURFACE_FRAG)]
    scene, original = draw_covering(codes, seed=1)
    vert = SURFACE_VERT.replace("out int v_bits", "out float v_bits")
    planted = [compile_glsl("vert", vert.replace("floatBitsToInt", "")), codes[1]]
    assert not compare(original, draw(planted, scene))
    assert messages(planted, scene) - messages(codes, scene)
    assert not messages(codes, scene) - messages(codes, scene)
