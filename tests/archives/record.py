"""python -m tests.archives.record VK_LAYER_FOLDER OUT.foz

Records tests/archives/recorded.foz: pipelines of shaders/, drawn by tests/render on lavapipe with
Fossilize's layer in between. VK_LAYER_FOLDER holds VkLayer_fossilize.json and its library, as a
build of ValveSoftware/Fossilize leaves them in build/layer. docs/archives.md says how to build it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Of every kind of chain one or two, small ones; some with specialization and push constants.
NAMES = (
    "bloom_upsample", "car_paint", "clip_portal", "decal", "fog_march", "gbuffer", "grass_mesh",
    "overdraw", "two_views", "water_tess",
)  # fmt: skip
SAMPLES = (1, 4)  # each pipeline twice: they differ in state only


def draw_all() -> None:
    """Draws; the layer sees it."""
    from tests import chains
    from tests.render import CannotDraw, draw, make_scene

    for name in NAMES:
        codes = chains.build(name)
        for samples in SAMPLES:
            scene = make_scene(codes, samples=samples)
            scene.exact = False  # the modules as they are
            try:
                print(f"{name}: {draw(codes, scene).coverage:.0%} covered")
            except CannotDraw as reason:
                print(f"{name}: not drawn: {reason}")


def record(layer: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            "VK_LAYER_PATH": str(layer),
            "VK_INSTANCE_LAYERS": "VK_LAYER_fossilize",
            "FOSSILIZE": "1",
            "FOSSILIZE_DUMP_PATH": f"{folder}/dump",
            "FOSSILIZE_DUMP_SYNC": "1",
        }
        command = [sys.executable, "-m", "tests.archives.record", "--draw"]
        subprocess.run(command, check=True, cwd=ROOT, env=os.environ | variables)
        made = sorted(Path(folder).glob("*.foz"))
        assert len(made) == 1, made
        target.write_bytes(made[0].read_bytes())


if __name__ == "__main__":
    if sys.argv[1:] == ["--draw"]:
        draw_all()
    else:
        record(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
