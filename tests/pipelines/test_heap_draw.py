"""Descriptor heaps on a driver that has them: lavapipe of Debian sid's Mesa, beside the system's
(scripts/setup-mesa). What is linked draws the same, by the layer and by the command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import spvlink
from tests.support.heaped import heaped
from tests.support.layer_place import Place
from tests.support.newest_mesa import NewestMesa
from tests.support.samples import compile_glsl

BLOCK = "layout(set = 0, binding = 0) uniform U { vec4 pad; vec4 tint; vec4 more[4]; } u;\n"
VERTEX = f"""#version 450
{BLOCK}
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 dead;
layout(location = 2) out vec4 b;
void main() {{
    vec2 p = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0;
    gl_Position = vec4(p, 0.0, 1.0);
    a = u.tint; dead = u.pad; b = vec4(p, u.more[1].x, 0.5);
}}"""
FRAGMENT = f"""#version 450
{BLOCK}
layout(location = 0) in vec4 a;
layout(location = 2) in vec4 b;
layout(location = 0) out vec4 o;
void main() {{ o = a * 2.0 + sin(b) + u.pad + u.more[2]; }}"""
# How descriptors are found (heap_draw.c) -> components at the border before and after: what both
# stages map alike is read by the fragment shader itself, and only a position is left.
MODES = {
    "alike": (12, 2),
    "push": (12, 2),
    "inline": (12, 2),
    "apart": (12, 6),
    "push-apart": (12, 6),
    "direct": (12, 7),
}


class Drawing:
    def __init__(self, folder: Path) -> None:
        self.mesa = NewestMesa(folder)
        self.place = Place(folder)
        self.place.variables |= self.mesa.variables
        self.folder = folder
        self.program = self.mesa.build("heap_draw.c")
        self.codes: dict[str, list[bytes]] = {}
        for mode in MODES:
            pair = [compile_glsl(VERTEX, "vert", "vulkan1.2")]
            pair.append(compile_glsl(FRAGMENT, "frag", "vulkan1.2"))
            self.codes[mode] = [heaped(code) for code in pair] if mode == "direct" else pair

    def command(self, mode: str, codes: list[bytes], out: Path) -> list[str]:
        paths = [self.folder / f"{mode}.{stage}.spv" for stage in ("vert", "frag")]
        for path, code in zip(paths, codes):
            path.write_bytes(code)
        return [*self.program, *map(str, paths), str(out), mode]

    def draw(
        self, mode: str, codes: list[bytes]
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        out = self.folder / "out"
        variables = {**os.environ, **self.mesa.variables}
        done = subprocess.run(self.command(mode, codes, out), env=variables, check=False)
        if done.returncode == 77:
            pytest.skip("this lavapipe has no descriptor heaps")
        assert done.returncode == 0
        return np.fromfile(out, np.float32)


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drawing]:
    made = Drawing(tmp_path_factory.mktemp("heap"))
    yield made
    made.place.close()


def test_modes_differ_where_they_should(drawing: Drawing) -> None:
    """Or the others prove nothing."""
    drawn = {mode: drawing.draw(mode, drawing.codes[mode]) for mode in MODES}
    for mode, picture in drawn.items():
        same = np.array_equal(picture, drawn["alike"])
        assert same == ("apart" not in mode), mode
        assert picture.std() > 0.1


@pytest.mark.parametrize("mode", MODES)
def test_the_layer_draws_the_same(mode: str, drawing: Drawing) -> None:
    """Between the program and the driver, with an empty cache and a full one."""
    before = drawing.draw(mode, drawing.codes[mode])
    out = drawing.folder / "layered"
    for _ in range(2):
        log = drawing.place.layered(*drawing.command(mode, drawing.codes[mode], out))
        assert log["pipelines"] == log["linked"] == 1, log
        assert tuple(log["components"]) == MODES[mode] and log["unknown"] == {}
        after = np.fromfile(out, np.float32)
        assert np.allclose(before, after, rtol=1e-6, atol=1e-6)
        assert np.abs(after).max() > 1


@pytest.mark.parametrize("exact", [True, False])
def test_linked_modules_with_heaps_of_their_own(exact: bool, drawing: Drawing) -> None:
    given = drawing.codes["direct"]
    linked = spvlink.link(given, spvlink.Options(exact=exact, validate=False))
    assert linked.passed_through is None
    new = [stage.data for stage in linked.stages]
    before, after = drawing.draw("direct", given), drawing.draw("direct", new)
    assert np.array_equal(before, after) if exact else np.allclose(before, after, rtol=1e-6)


def test_a_wrong_comparison_would_show(drawing: Drawing) -> None:
    """Linked as if both stages mapped it alike, and drawn as they do not, it is another picture: so
    the pictures above tell a resource that crosses where it must not."""
    both = {"stageFlags": 17, "descriptorSet": 0, "firstBinding": 0, "bindingCount": 1}
    layout = {"descriptorHeap": True, "mappings": [both | {"source": 0, "sourceData": [0, 0]}]}
    linked = spvlink.link(drawing.codes["apart"], spvlink.Options(layout=layout))
    new = [stage.data for stage in linked.stages]
    before, after = drawing.draw("apart", drawing.codes["apart"]), drawing.draw("apart", new)
    assert not np.allclose(before, after, rtol=1e-3)
    before, after = drawing.draw("alike", drawing.codes["alike"]), drawing.draw("alike", new)
    assert np.allclose(before, after, rtol=1e-6)
