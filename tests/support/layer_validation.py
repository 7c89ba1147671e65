"""A validation layer that knows shader objects, and how to run a program with it.

Debian 12 has 1.3.239, and no newer one in its backports: it knows nothing of VK_EXT_shader_object,
hands the application's wrapped handles of descriptor set layouts to the driver as they are, and the
program dies in vkCreateShadersEXT. scripts/setup-validation unpacks a newer one together with the C
library that it was built for; that library's own loader then runs the program.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WANTED = (1, 3, 246)  # the first with shader objects
MANIFEST = "share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
UNPACKED = ROOT / "build" / "validation" / "usr"


def version(prefix: Path) -> tuple[int, ...]:
    """Of the validation layer below this folder; () if there is none."""
    try:
        manifest = json.loads((prefix / MANIFEST).read_text())
    except OSError:
        return ()
    return tuple(int(part) for part in manifest["layer"]["api_version"].split("."))


def python_with_validation() -> tuple[list[str], dict[str, str]]:
    """The start of a command, and variables, that run Python over such a layer. Skips the test if
    there is none."""
    if version(Path("/usr")) >= WANTED:
        return [sys.executable], {}
    loaders = sorted(UNPACKED.glob("lib/*/ld-linux*.so*"))
    if not loaders or version(UNPACKED) < WANTED:
        found = ".".join(map(str, version(Path("/usr")))) or "none"
        pytest.skip(
            f"the system's validation layer ({found}) is older than shader objects (1.3.246), and"
            " scripts/setup-validation found no newer one"
        )
    command = [str(loaders[0]), "--library-path", str(loaders[0].parent), "--argv0", sys.executable]
    return [*command, sys.executable], {"VK_LAYER_PATH": str((UNPACKED / MANIFEST).parent)}
