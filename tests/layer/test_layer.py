"""The Vulkan layer with real programs on lavapipe: the same frames, pipelines really linked, and
never worse when the linker process, the cache or the disk fail."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from spvlink.gpus import GPUS
from spvlink.layer import places, wire, work
from spvlink.pipeline import STAGE_BITS
from tests.support.layer_place import (
    NAMES,
    ROOT,
    WAIT,
    Place,
    assert_same,
    build_with_layer,
    forms,
    instructions,
    socket_of,
    tamper,
)
from tests.support.layer_validation import python_with_validation

# -- programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["monolithic", "inline", "library", "shader-object"])
def test_every_form_of_pipeline_is_linked_and_draws_the_same(
    form: str, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    plain, cold, warm = (tmp_path / f"{n}.npz" for n in ("plain", "cold", "warm"))
    place.program(*forms(form, plain, pairs))
    assert all(np.load(plain)[f"{n}/good"] for n in range(len(NAMES)))
    asked = place.layered(*forms(form, cold, pairs), options=("--exact", *WAIT))
    assert asked["linked"] == asked["misses"] == len(NAMES) and asked["hits"] == 0, asked
    assert asked["components"][1] < asked["components"][0]
    assert asked["locations"][1] < asked["locations"][0]
    assert asked["pipelines"] == asked["linked"] + sum(asked["passed_through"].values())
    assert not asked["events"]
    # the second run needs no Python at all
    nobody = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
    hit = place.layered(*forms(form, warm, pairs), options=("--exact",), **nobody)
    assert hit["linked"] == hit["hits"] == len(NAMES) and hit["misses"] == 0, hit
    assert_same(plain, cold)
    assert_same(plain, warm)


@pytest.mark.parametrize("form", ["libraries", "unlinked-objects"])
def test_parts_of_pipelines_are_left_alone(
    form: str, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    plain, layered = tmp_path / "plain.npz", tmp_path / "layered.npz"
    place.program(*forms(form, plain, pairs))
    log = place.layered(*forms(form, layered, pairs))
    assert log["linked"] == log["misses"] == 0 and log["pipelines"] > 0
    assert sum(log["passed_through"].values()) == log["pipelines"]
    assert_same(plain, layered)


@pytest.mark.parametrize("form", ["monolithic", "inline", "library", "shader-object"])
def test_the_validation_layer_below_reports_nothing_new(
    form: str, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    plain, layered = tmp_path / "plain.npz", tmp_path / "layered.npz"
    python, variables = python_with_validation()
    variables["RENDER_VALIDATE"] = "1"
    place.program(*python, *forms(form, plain, pairs)[1:], **variables)
    log = place.layered(*python, *forms(form, layered, pairs)[1:], **variables)
    assert log["linked"] == len(NAMES)
    assert np.load(plain)["messages"].tolist() == np.load(layered)["messages"].tolist()


def test_the_validation_layer_below_sees_what_is_linked(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """It stands below ours indeed: it complains of what we hand down, not of what came in."""

    def change(words: list[int]) -> None:
        for at, op in instructions(words):
            if op == 71 and words[at + 2] == 30:  # OpDecorate ... Location
                words[at + 3] = 13

    out = tmp_path / "out.npz"
    python, variables = python_with_validation()
    variables["RENDER_VALIDATE"] = "1"
    command = [*python, *forms("monolithic", out, pairs[:2])[1:]]
    place.layered(*command, options=("--exact", *WAIT), **variables)
    before = np.load(out)["messages"].tolist()
    tamper(place.cached()[0], change)
    log = place.layered(*command, options=("--exact",), **variables)
    assert log["linked"] == log["hits"] == 1
    assert set(np.load(out)["messages"].tolist()) > set(before)


def test_a_wgpu_program(place: Place, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.render.wgpu_program"]
    plain, layered = tmp_path / "plain.npy", tmp_path / "layered.npy"
    place.program(*program, str(plain))
    log = place.layered(*program, str(layered))
    assert log["linked"] >= 1 and log["components"] == [8, 2], log
    assert np.array_equal(np.load(plain), np.load(layered))
    assert len(np.unique(np.load(plain))) > 10


def test_an_opengl_program_over_zink(place: Place, tmp_path: Path) -> None:
    zink = {
        "MESA_LOADER_DRIVER_OVERRIDE": "zink",
        "GALLIUM_DRIVER": "zink",
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }
    program = [sys.executable, "-m", "tests.render.gl_program"]
    plain, layered = tmp_path / "plain.npy", tmp_path / "layered.npy"
    assert "zink" in place.program(*program, str(plain), **zink)
    log = place.layered(*program, str(layered), **zink)
    # OpenGL's own linker was here before
    assert log["linked"] + log["passed_through"].get("nothing to gain", 0) >= 1, log
    assert np.array_equal(np.load(plain), np.load(layered))
    assert len(np.unique(np.load(plain))) > 10


# Before vkcube destroys its window it has waited for the device: the last frame is in there. Newer
# ones look the function up by its name.
GRAB = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { unsigned sequence; } cookie;
typedef struct { unsigned char type, depth; unsigned short sequence; unsigned length; } head;
cookie xcb_get_image(void *, unsigned char, unsigned, short, short, unsigned short, unsigned short,
                     unsigned);
head *xcb_get_image_reply(void *, cookie, void **);
static void *look_up(void *library, const char *name) {
    static const char *versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *(*real)(void *, const char *) = NULL;
    for (int i = 0; i < 3 && real == NULL; i++)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return real(library, name);
}
cookie xcb_destroy_window(void *connection, unsigned window) {
    cookie (*next)(void *, unsigned);
    *(void **)&next = look_up(dlopen("libxcb.so.1", RTLD_LAZY), "xcb_destroy_window");
    head *reply = xcb_get_image_reply(
        connection, xcb_get_image(connection, 2, window, 0, 0, 200, 200, ~0u), NULL);
    FILE *out = reply == NULL ? NULL : fopen(getenv("GRAB"), "wb");
    if (out != NULL) {
        fwrite((char *)reply + 32, 4, reply->length, out);
        fclose(out);
    }
    return next(connection, window);
}
void *dlsym(void *library, const char *name) {
    return strcmp(name, "xcb_destroy_window") ? look_up(library, name) : (void *)xcb_destroy_window;
}
"""


def test_vkcube(place: Place, tmp_path: Path) -> None:
    source, library = tmp_path / "grab.c", tmp_path / "grab.so"
    source.write_text(GRAB)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl", "-l:libxcb.so.1"],
                   check=True)  # fmt: skip
    command = ["vkcube", "--suppress_popups", "--width", "200", "--height", "200"]
    usage = subprocess.run(["vkcube", "--help"], capture_output=True, text=True, check=False)
    if "--wsi" in usage.stdout + usage.stderr:  # newer ones may take another way to the window
        command += ["--wsi", "xcb"]
    command.append("--c")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
        pass_fds=[write], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            display = f":{answer.readline().strip()}"
        common = {"DISPLAY": display, "LD_PRELOAD": str(library)}
        log = place.layered(*command, "7", **common, GRAB=str(tmp_path / "layered"))
        layered = (tmp_path / "layered").read_bytes()
        # An event of the X server may cost or save a turn of the cube, and a frame may be shown
        # too late to be grabbed: which turn it is cannot be known, only that there is one like it.
        plain: set[bytes] = set()
        for number in range(60):
            count = str(4 + number % 9)
            place.program(*command, count, **common, GRAB=str(tmp_path / "plain"))
            plain.add((tmp_path / "plain").read_bytes())
            if number > 4 and layered in plain:
                break
    finally:
        server.terminate()
        server.wait()
    assert log["linked"] == 1 and log["program"] == "vkcube", log
    assert len(layered) == 200 * 200 * 4 and len(set(layered)) > 20 and len(plain) > 2
    assert layered in plain


@pytest.mark.parametrize("options", [("--never-wait",), ("--wait", "1")])
def test_what_is_not_waited_for_is_ready_next_time(
    options: tuple[str, ...], place: Place, pairs: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.npz"
    log = place.layered(*forms("monolithic", out, pairs), options=options)
    assert log["linked"] == 0 and log["misses"] == len(NAMES)
    assert log["seconds"] < 5 and (len(options) > 1 or not log["events"]), log
    for _ in range(200):
        if len(place.cached()) == len(NAMES):
            break
        time.sleep(0.1)
    log = place.layered(*forms("monolithic", out, pairs), options=options)
    assert log["linked"] == log["hits"] == len(NAMES)


def test_a_linker_process_that_takes_its_time_is_no_trouble(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """Requests that come while it starts are left for it, and nothing is wrong."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nsleep 2\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    place.variables["VK_SPVLINK_STAGE_LINK_PYTHON"] = str(python)
    log = place.layered(
        *forms("monolithic", tmp_path / "out.npz", pairs), options=("--never-wait",)
    )
    assert log["misses"] == len(NAMES) and not log["events"], log
    for _ in range(400):
        if len(place.cached()) == len(NAMES):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the requests were lost")


def test_several_programs_at_once(place: Place, pairs: list[str], tmp_path: Path) -> None:
    """One linker process and one cache for all; the log adds up what each of them did."""
    place.spvlink("layer", "run", "--", "true")  # built
    command = [sys.executable, "-m", "spvlink", "layer", "run", *WAIT, "--"]
    running = [
        subprocess.Popen(
            [*command, *forms("monolithic", tmp_path / f"{number}.npz", pairs)],
            cwd=ROOT, env=place.variables,
        )
        for number in range(3)
    ]  # fmt: skip
    assert [program.wait(100) for program in running] == [0, 0, 0]
    total = json.loads(place.spvlink("layer", "log", "--json"))["since_install"]
    assert total["linked"] == total["pipelines"] == 3 * len(NAMES) and not total["events"], total
    assert len(place.cached()) == len(NAMES)
    assert len(list(place.runtime.rglob("*.socket"))) == 1
    assert_same(tmp_path / "0.npz", tmp_path / "1.npz")
    assert_same(tmp_path / "0.npz", tmp_path / "2.npz")


@pytest.mark.parametrize("sanitizer, count", [("thread", 4000), ("address,undefined", 10_000)])
def test_threads_and_ten_thousand_pipelines(
    sanitizer: str, count: int, place: Place, pairs: list[str]
) -> None:
    """Races, leaks and bad accesses end the program with an error (tests/layer/layer_threads.c)."""
    program = build_with_layer(
        "layer_threads.c", place.folder, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"
    )
    # the sanitizers want addresses where they expect them: no randomization
    words = ["setarch", "-R", program, "4", str(count), *pairs[:2]]
    said = place.program(*words, VK_SPVLINK_STAGE_LINK_WAIT_MS="20000")
    assert said == f"{count} pipelines, 0 modules left\n"
    log = place.log()
    assert log["pipelines"] == count and log["linked"] > count / 2, log
    assert log["linked"] + sum(log["passed_through"].values()) == count


# -- the linker process ----------------------------------------------------------------------------


def test_it_ends_when_idle_and_after_a_kill_another_one_starts(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "spvlink", "serve", "--idle", "1"], env=place.variables
    )
    path = socket_of(place)
    for _ in range(100):
        if os.path.exists(path):
            break
        time.sleep(0.05)
    assert "already" in place.spvlink("serve")
    server.wait(20)
    assert not os.path.exists(path)
    second = subprocess.Popen([sys.executable, "-m", "spvlink", "serve"], env=place.variables)
    for _ in range(100):
        if os.path.exists(path):
            break
        time.sleep(0.05)
    second.send_signal(signal.SIGKILL)
    second.wait()
    assert os.path.exists(path)  # what a killed process leaves behind
    log = place.layered(*forms("monolithic", tmp_path / "out.npz", pairs))
    assert log["linked"] == len(NAMES) and not log["events"]


def test_specialization_takes_what_is_given_and_else_the_default() -> None:
    stage = wire.RequestStage()
    stage.bit = STAGE_BITS["frag"]
    stage.spec = [(1, struct.pack("<f", 0.25))]
    request = wire.Request()
    request.stages = [stage]
    request.gpu = "v3d"
    options = work.options_of(request)
    assert options.pack == GPUS["v3d"].pack and options.disable == GPUS["v3d"].disable
    assert options.spec_defaults and options.spec == {("frag", 1): struct.pack("<f", 0.25)}


# -- in place --------------------------------------------------------------------------------------


@pytest.mark.parametrize("implicit", [False, True])
def test_install_and_uninstall(
    implicit: bool, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    said = place.spvlink("layer", "install", *(["--implicit"] if implicit else []))
    switch = (
        {"ENABLE_SPVLINK_STAGE_LINK": "1"} if implicit else {"VK_INSTANCE_LAYERS": places.LAYER}
    )
    assert next(iter(switch)) in said
    command = forms("monolithic", tmp_path / "out.npz", pairs)
    place.program(*command)
    log = json.loads(place.spvlink("layer", "log", "--json"))
    assert log["last_run"]["pipelines"] == 0  # off until it is switched on
    place.program(*command, **switch, VK_SPVLINK_STAGE_LINK_WAIT_MS="20000")
    log = json.loads(place.spvlink("layer", "log", "--json"))
    assert log["since_install"]["linked"] == len(NAMES)
    linker = Path(socket_of(place)).with_suffix(".lock").read_text()
    said = place.spvlink("layer", "uninstall")
    assert "removed" in said and "ended a linker process" in said
    for _ in range(200):
        if not os.path.exists(f"/proc/{linker}"):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the linker process is still there")
    left = [p for kind in ("data", "state") for p in (place.folder / kind).rglob("*")]
    assert not [p for p in left if p.is_file()]
    assert "nothing" in place.spvlink("layer", "uninstall")


def test_the_script_of_a_checkout(place: Place, pairs: list[str], tmp_path: Path) -> None:
    script = str(ROOT / "scripts/layer")
    program = forms("monolithic", tmp_path / "out.npz", pairs)
    place.program(script, *program, VK_SPVLINK_STAGE_LINK_WAIT_MS="20000")
    assert place.log()["linked"] == len(NAMES)
    nothing = subprocess.run([script], capture_output=True, text=True, check=False)
    assert nothing.returncode == 2 and "usage:" in nothing.stderr


def test_a_missing_compiler_or_header_is_said_in_one_line(place: Place, tmp_path: Path) -> None:
    def error(**variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "spvlink", "layer", "install"], capture_output=True, text=True,
            env={**place.variables, **variables}, check=False,
        )  # fmt: skip
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        return done.stderr

    assert "package gcc" in error(PATH=str(tmp_path), CC="")
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\nexec /usr/bin/cc -nostdinc "$@"\n')
    compiler.chmod(0o755)
    assert "libvulkan-dev" in error(CC="cc", PATH=f"{tmp_path}:/usr/bin:/bin")


def test_settings_from_environment_file_and_application(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """The environment wins over vk_layer_settings.txt, and that over VK_EXT_layer_settings."""
    place.spvlink("layer", "install")
    logs = {name: tmp_path / name for name in ("environment", "file", "application")}
    words = [
        sys.executable, "-m", "tests.render.settings_program", str(tmp_path / "out.npz"),
        *pairs[:2], places.LAYER, "wait_ms=int:20000", "exact=bool:1",
        f"log=string:{logs['application']}", "unknown=int:1",
    ]  # fmt: skip

    def who_got_a_line(**variables: str) -> str:
        for path in logs.values():
            path.unlink(missing_ok=True)
        place.program(*words, **variables)
        (name,) = [name for name, path in logs.items() if path.exists()]
        assert "spvlink layer: linked: vert->frag" in logs[name].read_text()
        return name

    # a loader that is older than the extension keeps it from layers, unless it is told not to
    place.variables["VK_LOADER_DISABLE_INST_EXT_FILTER"] = "1"
    settings = tmp_path / "vk_layer_settings.txt"
    settings.write_text(
        f'# ours\nkhronos_validation.log = x\n spvlink_stage_link.log = "{logs["file"]}"\n'
    )
    in_file = {"VK_LAYER_SETTINGS_PATH": str(tmp_path)}
    in_environment = {"VK_SPVLINK_STAGE_LINK_LOG": str(logs["environment"])}
    assert who_got_a_line() == "application"
    assert who_got_a_line(**in_file) == "file"
    assert who_got_a_line(**in_file, **in_environment) == "environment"
    assert who_got_a_line(**in_environment) == "environment"
    # "exact" is part of what a linked module is kept under: it was the same each time
    assert len(place.cached()) == 1
    assert who_got_a_line(VK_SPVLINK_STAGE_LINK_EXACT="0") == "application"
    assert len(place.cached()) == 2


def test_what_the_layer_costs_can_be_measured(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = [sys.executable, str(ROOT / "scripts/bench-layer"), "--limit", "2", "--rounds", "1"]
    said = subprocess.run(
        [*command, "--json", str(out)], check=True, capture_output=True, text=True
    )
    result = json.loads(out.read_text())
    modes = result["modes"]
    assert list(modes) == ["none", "warm", "cold", "all waited", "never wait", "down"]
    linked = {mode: figures["linked"] for mode, figures in modes.items()}
    assert 1 <= linked["warm"] == linked["all waited"] <= modes["none"]["pipelines"]
    assert linked["down"] == linked["none"] == 0
    assert modes["none"]["longer"] == modes["none"]["waited"] == modes["none"]["linker"] == 0
    assert modes["all waited"]["waited"] > 0 and modes["all waited"]["linker"] > 0
    assert modes["warm"]["linker"] == modes["down"]["linker"] == 0
    assert all(f["ms"] > 0 < f["made"] < f["start"] for f in modes.values())
    assert all(f"| {mode} |" in said.stdout for mode in modes)
