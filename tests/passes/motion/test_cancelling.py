"""Sums whose terms cancel, and the bound that holds where they move (docs/explanation/proof.md).

A moved sum is rounded, and interpolated, as a whole and not term by term. Its error is a part of
its terms, their magnitudes added up at the vertex where they are largest (SCALE below), and not of
what is left of them: 1e6 + x - 1e6 has the last digits of 1e6. On triangles of ordinary shape that
is less than one part in 10,000 of the terms. In slivers, and where w differs by much, lavapipe
interpolates far worse, but so it does before linking: a picture is far from itself when the
vertices of every triangle are named in another order, which should change nothing. So the bound is
what rounding may do, plus NOISY times that difference.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import spvlink
from tests.render import draw, make_scene
from tests.render.scene import Scene
from tests.support.chain_hazards import geom
from tests.support.motion_pairs import options
from tests.support.samples import compile_glsl

Array = NDArray[np.float64]

PART = 1e-4  # of the terms, on triangles of ordinary shape
NOISY = 2.0  # times that: what was there was off by it, and what came is
ROUNDINGS = 32 * 2.0**-24  # of the terms: more operations than any sum here has
TRIANGLES = 160
HUGE = 1e6

DECLARED = "layout(push_constant) uniform P { vec4 K; vec4 L; };\n"
VERT = """#version 450
layout(location = 0) in vec4 p;
layout(location = 1) in vec4 q;
layout(location = 2) in vec4 r;
layout(location = 3) in vec4 s;
"""
LOOP = "for (int i = 0; i < {}; i++) o = o * {} + a[i]{};"
# name -> (body of the fragment shader, the factors of its terms added up, what is added to them)
SUMS = {
    "opposite": ("o = u + v;", 2.0, 0.0),
    "a uniform": ("o = (u - K * 1e6) * 0.5 + v * 0.5;", 1.0, HUGE),
    "a constant": ("o = (u + vec4(1e6)) * 0.5 + v * 0.5;", 1.0, HUGE),
    "factors": ("o = u * K + v * K.x - (u + v) * K * 0.5;", 4.0, 0.0),
    "a fused product": ("o = fma(u, K, v * K);", 2.0, 0.0),
    "a mix": ("o = mix(u, -v, K) + v;", 2.0, 0.0),
    "a dot product": ("o = vec4(dot(u, K) + dot(v, K));", 8.0, 0.0),
    "a matrix": ("o = mat4(K, L, K, L) * u + mat4(K, L, K, L) * v;", 8.0, 0.0),
    "a loop": (f"o = vec4(0.0); {LOOP.format(2, 0.5, ' * L')}", 1.5, 0.0),
    "a loop that grows": (f"o = vec4(0.0); {LOOP.format(2, 2.0, ' * L')}", 3.0, 0.0),
    "three": ("o = u * 0.5 + w + v * 0.5 - w * K;", 3.0, 0.0),
}
SHAPES = ("ordinary", "slivers", "w", "both")


def triangles(shape: str, random: np.random.Generator) -> Array:
    """Positions (x, y, z, w) of TRIANGLES triangles."""
    centres = random.uniform(-0.7, 0.7, (TRIANGLES, 1, 2))
    angle = random.uniform(0.0, 2.0 * np.pi, (TRIANGLES, 1))
    corners = angle + np.array([[0.0, 2.1, 4.2]])
    along = np.stack([np.cos(angle), np.sin(angle)], -1)
    xy = np.stack([np.cos(corners), np.sin(corners)], -1) * random.uniform(0.4, 1.2)
    if shape in ("slivers", "both"):  # seen from the side
        thin = 10.0 ** random.uniform(-5.0, -2.0, (TRIANGLES, 1, 1))
        xy = along * (xy * along).sum(-1, keepdims=True) * (1.0 - thin) + xy * thin
    xy = centres + xy
    many = shape in ("w", "both")
    power = random.uniform(-3.0, 3.0, (TRIANGLES, 3)) if many else random.uniform(-0.2, 0.2, (1, 3))
    w = (10.0**power)[..., None] * np.ones((TRIANGLES, 3, 1))
    z = random.uniform(0.1, 0.9, (TRIANGLES, 3, 1))
    return np.concatenate([xy * w, z * w, w], -1).reshape(-1, 4)


def attributes(shape: str, size: float) -> list[Array]:
    """Positions, and three attributes: the first two are large and all but cancel."""
    random = np.random.default_rng(33)
    place = triangles(shape, random)
    count = (len(place), 4)
    large = random.uniform(-1.0, 1.0, count) * size
    return [place, large, random.uniform(-1.0, 1.0, count) - large, random.uniform(-1, 1, count)]


def scene_of(codes: list[bytes], made: list[Array], turned: bool = False) -> Scene:
    """``turned``: the vertices of each triangle in another order."""
    scene = make_scene(codes)
    scene.vertices, scene.instances = len(made[0]), 1
    for location, values in enumerate(made):
        held = values.reshape(-1, 3, 4)
        data = (held[:, [1, 2, 0]] if turned else held).astype("f4").reshape(-1, 4)
        if location in scene.attributes:
            format = scene.attributes[location][0]
            scene.attributes[location] = format, np.ascontiguousarray(data).view(np.uint8)
    uniforms = np.linspace(0.5, 1.0, 8).astype("f4").view(np.uint8)
    scene.push.data[:] = uniforms[: len(scene.push.data)]
    return scene.open_to_all()


def picture(codes: list[bytes], scene: Scene) -> Array:
    drawn = draw(codes, scene)
    assert drawn.is_good(0.02), drawn.coverage
    return drawn.images["color0"].astype(np.float64)


def stages(body: str, between: bool = False) -> list[bytes]:
    """``between``: with a geometry shader in which half of the sum is made."""
    out = "layout(location = 0) out vec4 a[3];\n"
    head = f"#version 450\nlayout(location = 0) out vec4 o;\n{DECLARED}{out}"
    head = head.replace("out vec4 a", "in vec4 a") + "".join(
        f"#define {name} a[{n}]\n" for n, name in enumerate("uvw")
    )
    vert = f"{VERT}{out}void main() {{ gl_Position = p; a[0] = q; a[1] = r; a[2] = s; }}"
    codes = [
        compile_glsl(vert, "vert", "vulkan1.1"),
        compile_glsl(f"{head}void main() {{ {body} }}", "frag", "vulkan1.1"),
    ]
    if between:
        emit = """for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position;
        a[0] = g[i][0] * K; a[1] = g[i][1] * K + g[i][2]; a[2] = g[i][2]; EmitVertex(); }
        EndPrimitive();"""
        stage, text = geom(f"{DECLARED}layout(location = 0) in vec4 g[][3];\n{out}", emit)
        codes.insert(1, compile_glsl(text, stage, "vulkan1.1"))
    return codes


@cache
def linked(name: str, between: bool = False) -> tuple[list[bytes], list[bytes]]:
    """The stages before and after. The sum must have moved."""
    before = stages(SUMS[name][0], between)
    done = spvlink.link(list(before), options())
    assert "moved-backward" in {r.action for r in done.remarks}, done.remarks
    return before, [stage.data for stage in done.stages]


def apart(a: Array, b: Array) -> float:
    assert np.isfinite(a).all() and np.isfinite(b).all()
    return float(np.abs(a - b).max())


@cache
def noise(shape: str) -> float:
    """How far interpolation is from itself, as a part of the largest value: 1."""
    codes = stages("o = u;")
    made = attributes(shape, 1.0)
    return apart(*(picture(codes, scene_of(codes, made, turned)) for turned in (False, True)))


def check(
    before: list[bytes], after: list[bytes], shape: str, size: float, factors: float, added: float
) -> float:
    """The difference, as a part of the terms."""
    scale = factors * (size + 1.0 + added)
    scene = scene_of(before, attributes(shape, size))
    error = apart(picture(before, scene), picture(after, scene)) / scale
    assert error <= NOISY * noise(shape) + ROUNDINGS, (shape, size, error, noise(shape))
    if shape == "ordinary":
        assert error <= PART, (shape, size, error)
    return error


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_is_off_by_a_part_of_its_terms(name: str) -> None:
    for shape in SHAPES:
        for size in (1.0, HUGE):
            assert check(*linked(name), shape, size, *SUMS[name][1:]) > 0.0  # it moved


@pytest.mark.parametrize("name", ["opposite", "three"])
def test_through_two_borders(name: str) -> None:
    """The geometry shader multiplies by at most 1, and adds at most 1."""
    _, factors, added = SUMS[name]
    for shape in SHAPES:
        assert check(*linked(name, True), shape, HUGE, factors, added + 1.0) > 0.0


def test_what_is_left_is_no_measure() -> None:
    """Why the terms are: of what is left of them the difference is more than one part in 10,000."""
    before, after = linked("opposite")
    scene = scene_of(before, attributes("ordinary", HUGE))
    old, new = picture(before, scene), picture(after, scene)
    assert (np.abs(old - new) > PART * np.maximum(1.0, np.abs(old))).any()


def test_slivers_are_interpolated_worse() -> None:
    """Why the bound has two parts: without linking slivers are off by more than that."""
    assert noise("slivers") > PART > NOISY * noise("ordinary")


def test_a_wrong_sum_is_seen() -> None:
    """One term is off by one part in 1,000: more than the bound, for either size."""
    before, _ = linked("opposite")
    for size in (1.0, HUGE):
        with pytest.raises(AssertionError, match="ordinary"):
            check(before, stages("o = u * 1.001 + v;"), "ordinary", size, 2.0, 0.0)
