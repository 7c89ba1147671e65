"""Real programs that draw without a window on a screen: how each is started, and where its picture
is (scripts/programs)."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# OpenGL over Vulkan
ZINK = {
    "MESA_LOADER_DRIVER_OVERRIDE": "zink",
    "GALLIUM_DRIVER": "zink",
    "LIBGL_ALWAYS_SOFTWARE": "1",
}


@dataclass
class Program:
    """``needs``: programs in PATH or Python packages, and where they are from. ``command`` is given
    a folder for what it writes; the picture is ``picture`` in there. ``window``: needs an X server.
    ``said``: lines of the output that the layer must not change, as a regular expression.
    ``tries``: how often a run may be tried, for a program that fails by itself now and then."""

    name: str
    needs: dict[str, str]
    command: Callable[[Path], Sequence[str]]
    picture: str = ""
    window: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    said: str = ""
    tries: int = 1
    usable: Callable[[], str] = lambda: ""  # why it cannot run here, although it is installed

    def missing(self) -> str:
        """Why it cannot run here, or nothing."""
        needs = {**self.needs, **({"Xvfb": "xvfb"} if self.window else {})}
        for name, source in needs.items():
            if shutil.which(name) is None and importlib.util.find_spec(name) is None:
                return f"{name} is not installed ({source})"
        return self.usable()


def module(name: str) -> Callable[[Path], Sequence[str]]:
    """A program of tests/render."""
    return lambda folder: [
        sys.executable, "-m", f"tests.render.{name}", str(folder / "out.npy")
    ]  # fmt: skip


# Shows a frame of the film and asks for the window as a picture.
MPV_SCRIPT = """
mp.register_event("playback-restart", function()
    mp.add_timeout(0.5, function()
        mp.commandv("screenshot-to-file", "OUT", "window")
        mp.commandv("quit", "0")
    end)
end)
"""


def device_name() -> str:
    """What the device calls itself: libplacebo takes one of software only by its name."""
    done = subprocess.run(["vulkaninfo", "--summary"], capture_output=True, text=True, check=False)
    found = re.search(r"deviceName\s*=\s*(.+)", done.stdout)
    return found[1].strip() if found else ""


def mpv(folder: Path) -> Sequence[str]:
    script = folder / "picture.lua"
    script.write_text(MPV_SCRIPT.replace("OUT", str(folder / "out.png")))
    return [
        "mpv", "--no-config", "--no-audio", "--vo=gpu-next", "--gpu-api=vulkan",
        "--gpu-context=x11vk", f"--vulkan-device={device_name()}", "--pause",
        "--scale=ewa_lanczossharp", "--deband=yes", "--geometry=480x360", f"--script={script}",
        "av://lavfi:testsrc2=size=320x240:duration=5",
    ]  # fmt: skip


def mpv_usable() -> str:
    done = subprocess.run(["mpv", "--vo=help"], capture_output=True, text=True, check=False)
    if "gpu-next" not in done.stdout:
        return "this mpv has no --vo=gpu-next"
    return "" if device_name() else "vulkaninfo names no device"


# A picture of GTK's own renderer, which takes a description of what to draw.
NODE = """
container {
  color { bounds: 0 0 200 200; color: rgb(32,40,64); }
  linear-gradient { bounds: 10 10 80 80; start: 10 10; end: 90 90;
                    stops: 0 rgb(255,0,0), 1 rgb(0,255,255); }
  rounded-clip { clip: 100 10 90 80 / 20; child: color { bounds: 100 10 90 80;
                                                         color: rgb(0,200,80); } }
  border { outline: 10 100 80 80 / 10; widths: 4; colors: rgb(255,255,0); }
  outset-shadow { outline: 110 110 60 60 / 8; color: rgb(255,255,255); blur: 6; }
}
"""


def gtk(folder: Path) -> Sequence[str]:
    (folder / "in.node").write_text(NODE)
    tool = ["gtk4-rendernode-tool", "render", "--renderer=vulkan"]
    return [*tool, str(folder / "in.node"), str(folder / "out.png")]


def gtk_usable() -> str:
    usage = ["gtk4-rendernode-tool", "render", "--help"]
    done = subprocess.run(usage, capture_output=True, text=True, check=False)
    return "" if "--renderer" in done.stdout else "GTK before 4.14 has no such renderer"


def glmark2(scenes: Sequence[str]) -> Callable[[Path], Sequence[str]]:
    words = [word for scene in scenes for word in ("-b", scene)]
    return lambda folder: ["glmark2", "--off-screen", "--validate", *words]


PROGRAMS = (
    Program("wgpu", {"wgpu": "PyPI"}, module("wgpu_program"), "out.npy"),
    Program("pygfx", {"pygfx": "PyPI", "wgpu": "PyPI"}, module("pygfx_program"), "out.npy"),
    Program("zink (OpenGL ES)", {}, module("gl_program"), "out.npy", variables=ZINK),
    Program(
        "zink: glmark2", {"glmark2": "glmark2-x11"},
        glmark2(("build", "texture", "shading", "bump", "effect2d", "conditionals", "function",
                 "loop")),
        window=True, variables=ZINK, said=r"^\[.*Validation: .*$",
    ),
    Program("vkcube", {"vkcube": "vulkan-tools"},
            lambda folder: ["vkcube", "--suppress_popups", "--c", "30"], window=True),
    # mpv 0.35 on Mesa 25's lavapipe, on a busy machine: without any layer 3 of 33 runs ended in
    # lavapipe's own threads, at a broken list or mutex
    Program("mpv", {"mpv": "mpv", "vulkaninfo": "vulkan-tools"}, mpv, "out.png", window=True,
            tries=4, usable=mpv_usable),
    Program("vkmark", {"vkmark": "vkmark"},
            lambda folder: ["vkmark", "--winsys", "headless", "-b", ":duration=1"]),
    Program("GTK 4", {"gtk4-rendernode-tool": "libgtk-4-bin"}, gtk, "out.png", window=True,
            usable=gtk_usable),
)  # fmt: skip
