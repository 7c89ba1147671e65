"""Drivers whose compilers run without their hardware, and what each counts.

RADV pretends hardware by itself; the others run over a stand-in for the kernel. scripts/setup
installs RADV and ANV, scripts/setup-drivers builds the rest; NVK is scripts/setup-mesa's and runs
over the C library of its own distribution.
"""

from __future__ import annotations

import glob
import multiprocessing
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from spvlink.draw.reflect import CannotDraw

BUILT = Path(__file__).resolve().parents[2] / "build" / "drivers"  # by scripts/setup-drivers
_SYSTEM = "/usr/share/vulkan/icd.d"

VERTICES, PIXELS = "time, many vertices", "time, many pixels"
_NAME = "SPVLINK_TEST_DRIVER"  # the variable that says which driver a process has


@dataclass(frozen=True)
class Driver:
    """A driver and the hardware that it compiles for.

    ``counted``: what it counts of an executable, as it calls that; the first is what tables
    compare. ``fragment``: the executable of a fragment shader has this in its name. ``manifest``
    and ``stand_in`` are files of scripts/setup-drivers, unless they begin with a slash."""

    title: str
    manifest: str
    counted: tuple[str, ...]
    fragment: str
    stand_in: str = ""
    cycles: str = ""  # which of ``counted`` estimates the time
    spills: str = ""  # which of them counts registers that are kept in memory
    registers: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    printed: bool = False  # on standard error, since no extension says more than the size
    python: str = ""  # what runs Python where the driver can be loaded
    timed: bool = False  # ``counted`` are microseconds of a draw: tests.render.draw_time


DRIVERS = {
    "radv": Driver(
        "RADV",
        f"{_SYSTEM}/radeon_icd*.json",
        ("Instructions", "VGPRs", "Combined inputs", "Combined outputs", "VMEM", "Latency"),
        "fragment",
        registers="VGPRs",
        variables={"RADV_FORCE_FAMILY": "navi31"},
    ),
    "turnip": Driver(
        "Turnip",
        "freedreno.json",
        ("Instruction Count", "Registers used", "NOPs Count", "Preamble Instruction Count"),
        "FS",
        "libfreedreno_noop_drm_shim.so",
        registers="Registers used",
        variables={"FD_GPU_ID": "740"},
    ),
    "panvk": Driver(
        "PanVK",
        "panfrost.json",
        ("inst", "cycles", "v", "ls", "spills", "fills"),
        "FRAGMENT",
        "libpanfrost_noop_drm_shim.so",
        cycles="cycles",
        spills="spills",
        variables={
            "PAN_GPU_ID": "a867",  # Mali-G610
            "PAN_I_WANT_A_BROKEN_VULKAN_DRIVER": "1",
            "BIFROST_MESA_DEBUG": "shaderdb",
        },
        printed=True,
    ),
    "v3dv": Driver(
        "v3dv",
        "broadcom.json",
        ("Instruction Count", "QPU Read Stalls", "TMU Spills", "TMU Fills"),
        "FS",
        "libv3d_noop_drm_shim.so",
        spills="TMU Spills",
        variables={"V3D_71": "1"},  # Raspberry Pi 5
    ),
    "anv": Driver(
        "ANV",
        f"{_SYSTEM}/intel_icd*.json",
        ("Instruction Count", "Cycle Count", "SEND Count", "Spill Count", "Fill Count"),
        "fragment",
        "libintel_noop_drm_shim.so",
        cycles="Cycle Count",
        spills="Spill Count",
        variables={"INTEL_STUB_GPU_PLATFORM": "tgl"},
    ),
    "lavapipe": Driver(
        "lavapipe",
        f"{_SYSTEM}/lvp_icd*.json",
        (VERTICES, PIXELS),
        "",
        timed=True,
    ),
    "nvk": Driver(
        "NVK",
        "nouveau.json",
        ("Instruction count", "Number of GPRs", "SLM Size"),
        "fragment",
        "libnouveau_noop_drm_shim.so",
        registers="Number of GPRs",
        variables={"NOUVEAU_CHIPSET": "160", "NVK_I_WANT_A_BROKEN_VULKAN_DRIVER": "1"},  # Turing
        python="nvk-python",
    ),
}


def environment(name: str, built: Path = BUILT) -> dict[str, str]:
    """What a process must have in its environment to use a driver of DRIVERS; ``built``: the
    folder of scripts/setup-drivers. Child processes are started so that they can load it. Raises
    CannotDraw if something is not there."""
    driver = DRIVERS[name]
    manifests = glob.glob(str(built / driver.manifest))
    stand_in = built / driver.stand_in
    if not manifests or not stand_in.exists():
        raise CannotDraw(f"there is no {driver.title}: scripts/setup-drivers builds it")
    multiprocessing.set_executable(str(built / driver.python) if driver.python else sys.executable)
    return {
        **driver.variables,
        **({"LD_PRELOAD": str(stand_in)} if driver.stand_in else {}),
        "VK_ICD_FILENAMES": manifests[0],
        "VK_LOADER_LAYERS_DISABLE": "*",
        "MESA_SHADER_CACHE_DISABLE": "true",
        _NAME: name,
    }


def chosen() -> Driver:
    """The driver of this process."""
    return DRIVERS[os.environ[_NAME]]
