"""The layer between a program and lavapipe uses the state of the pipelines that the program makes:
less crosses than by the modules alone, and the picture stays."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.chain_text import text
from tests.support.layer_place import Place, assert_same
from tests.support.state_draw import compiled, crossing, linked_with

DECLARED = "layout(location = 0) in vec3 position;\nlayout(location = 1) in {} k;\n"
FLOATS = "layout(location = 0) {1} {0} vec4 vA;\nlayout(location = 1) {0} vec2 vB;\n"
NUMBERS = "layout(location = 0) flat {0} uvec3 vK;\nlayout(location = 1) flat {0} vec3 vP;\n"
OUT = "layout(location = 0) out vec4 o0;\n"
PLACED = "gl_Position = vec4(position, 1.0); "
SHIFTED = "(vK.x >> n) + (vK.y >> (n ^ 1u)) * 3u + (vK.z >> (n ^ 2u)) * 5u"


def floats(shown: str, qualifier: str = "smooth") -> list[bytes]:
    main = PLACED + "vA = k; vB = k.xy * position.x + position.yz;"
    vertex = text("vert", DECLARED.format("vec4") + FLOATS.format("out", qualifier), main)
    return compiled(vertex, text("frag", FLOATS.format("in", qualifier) + OUT, shown))


def numbers() -> list[bytes]:
    vertex = DECLARED.format("uvec4") + NUMBERS.format("out")
    shown = f"""uint n = uint(gl_FragCoord.x) & 3u;
vec3 s = sin(vP * gl_FragCoord.x) * 0.25;
o0 = vec4(fract(float({SHIFTED}) / 67.0 + s.x), fract(s.y), s.z + 0.5, 1.0);"""
    return compiled(
        text("vert", vertex, PLACED + "vK = k.xyz; vP = position;"),
        text("frag", NUMBERS.format("in") + OUT, shown),
    )


# The case of tests/render/state_program.py -> the pipeline, and the components that are left. The
# program makes another pipeline first, in which there is nothing to gain.
CASES = {
    "plain": (floats("o0 = sin(vA) + vB.xyxy;"), 6),
    "write_mask": (floats("o0 = vec4(sin(vA.x), vA.yz, sin(vA.w)) + vec4(0.0, vB, 0.0);"), 3),
    "culled": (floats("o0 = gl_FrontFacing ? sin(vA) : cos(vB.xyxy);"), 4),
    "short_format": (floats("o0 = sin(vA) + 0.1 * vB.xyxy;", "flat"), 4),
    "small_format": (numbers(), 4),
}


@pytest.mark.parametrize("case", CASES)
def test_the_layer_uses_the_state_and_draws_the_same(
    case: str, place: Place, tmp_path: Path
) -> None:
    codes, left = CASES[case]
    without = crossing(linked_with(codes, None, exact=True))
    assert (without == left) == (case == "plain"), without
    paths = [tmp_path / f"{stage}.spv" for stage in ("vert", "frag")]
    for path, code in zip(paths, codes):
        path.write_bytes(code)
    program = [sys.executable, "-m", "tests.render.state_program", case]
    plain, layered = tmp_path / "plain.npz", tmp_path / "layered.npz"
    place.program(*program, str(plain), *map(str, paths))
    log = place.layered(
        *program, str(layered), *map(str, paths), options=("--exact", "--wait", "20000")
    )
    assert_same(plain, layered)
    assert np.load(plain)["color0"].std() > 0.01
    assert log["pipelines"] == 2 and log["linked"] == (case != "plain"), log
    assert log["components"][1] == (left if log["linked"] else 0), log
