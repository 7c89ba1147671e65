"""lavapipe of a Mesa that knows descriptor heaps, beside the system's (scripts/setup-mesa), and how
to run a program over it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "build" / "mesa" / "usr"


def _loaders() -> list[Path]:
    return sorted(UNPACKED.glob("lib/*/ld-linux*.so*"))


def newer_spirv_val() -> list[str]:
    """The start of a command that judges modules with heaps; nothing, if there is none."""
    loaders, program = _loaders(), UNPACKED / "bin/spirv-val"
    if not loaders or not program.exists():
        return []
    return [str(loaders[0]), "--library-path", str(loaders[0].parent), str(program)]


class NewestMesa:
    """Programs in C, built against its headers and run over its lavapipe."""

    def __init__(self, folder: Path) -> None:
        loaders = _loaders()
        if not loaders:
            pytest.skip("scripts/setup-mesa unpacked no Mesa with descriptor heaps")
        self.loader = loaders[0]
        self.libraries = self.loader.parent
        self.folder = folder
        driver = {"api_version": "1.4.0", "library_path": str(self.libraries / "libvulkan_lvp.so")}
        manifest = folder / "lavapipe.json"
        manifest.write_text(json.dumps({"file_format_version": "1.0.1", "ICD": driver}))
        self.variables = {name: str(manifest) for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")}

    def build(self, source: str) -> list[str]:
        """The start of a command that runs tests/support/SOURCE."""
        program = self.folder / Path(source).stem
        subprocess.run(
            ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
             "-Werror", "-I", UNPACKED / "include", "-o", program, Path(__file__).parent / source,
             "-L", self.libraries, "-l:libvulkan.so.1",
             "-Wl,--unresolved-symbols=ignore-in-shared-libs"],
            check=True,
        )  # fmt: skip
        return [str(self.loader), "--library-path", str(self.libraries), str(program)]
