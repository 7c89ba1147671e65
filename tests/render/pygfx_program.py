"""A pygfx scene: meshes with each kind of material, lines, points, sprites and text, offscreen, its
pixels to the file given. `python -m tests.render.pygfx_program OUT.npy`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pygfx as gfx
import pylinalg as la
from rendercanvas.offscreen import OffscreenRenderCanvas

SIZE = (400, 300)


def checkers() -> Any:
    """A texture of the highest contrast."""
    board = (np.indices((32, 32)).sum(0) % 2 * 255).astype("u1")
    return gfx.Texture(np.dstack([board, 255 - board, board // 2]).copy(), dim=2)


def add_meshes(scene: Any, texture: Any) -> None:
    box, ball = gfx.box_geometry(1, 1, 1), gfx.sphere_geometry(0.6)
    knot = gfx.torus_knot_geometry(0.5, 0.15, 64, 8)
    meshes = (
        (box, gfx.MeshPhongMaterial(color="#c44"), (-2, 1)),
        (box, gfx.MeshStandardMaterial(color="#4c4", roughness=0.3, metalness=0.6), (0, 1)),
        (box, gfx.MeshBasicMaterial(map=gfx.TextureMap(texture)), (2, 1)),
        (knot, gfx.MeshNormalMaterial(), (-2, -1)),
        (ball, gfx.MeshToonMaterial(color="#48c"), (0, -1)),
        (ball, gfx.MeshPhongMaterial(color="#cc4", wireframe=True), (2, -1)),
    )
    for geometry, material, (x, y) in meshes:
        mesh = gfx.Mesh(geometry, material)
        mesh.local.position = (x, y, 0)
        mesh.local.rotation = la.quat_from_euler((0.5, 0.6, 0.1))
        scene.add(mesh)


def add_points(scene: Any, texture: Any) -> None:
    dice = np.random.default_rng(1)
    places = dice.uniform(-3, 3, (40, 3)).astype("f4")
    sizes = dice.uniform(5, 20, 40).astype("f4")
    colors = np.hstack([abs(places) / 3, np.ones((40, 1))]).astype("f4")
    sprite = gfx.PointsSpriteMaterial(sprite=texture, size=18)
    marker = gfx.PointsMarkerMaterial(size=14, marker="heart", color="#f4a")
    for geometry, material in (
        (gfx.Geometry(positions=places, sizes=sizes),
         gfx.PointsMaterial(size_mode="vertex", color="#fff8")),
        (gfx.Geometry(positions=places[:20] + 0.3), marker),
        (gfx.Geometry(positions=places[:20] - 0.3), sprite),
    ):  # fmt: skip
        scene.add(gfx.Points(geometry, material))
    line = gfx.LineMaterial(thickness=3, color_mode="vertex")
    scene.add(gfx.Line(gfx.Geometry(positions=places, colors=colors), line))
    text = gfx.TextMaterial(color="#fff", outline_thickness=0.1)
    scene.add(gfx.Text(text="spvlink", font_size=0.8, anchor="middle-center", material=text))


def main(out: str) -> None:
    canvas = OffscreenRenderCanvas(size=SIZE, pixel_ratio=1)
    renderer = gfx.renderers.WgpuRenderer(canvas)
    scene = gfx.Scene()
    scene.add(gfx.Background.from_color("#223", "#89a"), gfx.AmbientLight(intensity=0.4))
    light = gfx.DirectionalLight()
    light.local.position = (1, 2, 3)
    scene.add(light)
    texture = checkers()
    add_meshes(scene, texture)
    add_points(scene, texture)
    camera = gfx.PerspectiveCamera(50, SIZE[0] / SIZE[1])
    camera.local.position = (0, 0, 7)
    canvas.request_draw(lambda: renderer.render(scene, camera))
    np.save(out, np.asarray(canvas.draw()))


if __name__ == "__main__":
    main(sys.argv[1])
