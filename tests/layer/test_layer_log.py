"""The log of the Vulkan layer: it tells the truth however programs end, and of each kind of
pipeline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spvlink.layer import log as layer_log
from tests.render.glsl import compile_glsl
from tests.support.layer_place import NAMES, ROOT, WAIT, Place, forms

COUNT = 7
FORMS = {  # what one pair in each form counts as
    "monolithic": {"linked": 1},
    "inline": {"linked": 1},
    "library": {"linked": 1, "without_shaders": 3},  # vertex input, output, what is joined
    "libraries": {"parts": 2, "without_shaders": 3},
    "shader-object": {"linked": 1},
    "unlinked-objects": {"parts": 2},
}
VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 0) out vec4 color;
void main() { gl_Position = position; color = position; }
"""
FRAG = """#version 450
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() { result = color; }
"""


@pytest.fixture(scope="module")
def nothing_to_gain(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("nothing")
    paths = []
    for stage, source in (("vert", VERT), ("frag", FRAG)):
        paths.append(str(folder / f"{stage}.spv"))
        Path(paths[-1]).write_bytes(compile_glsl(stage, source))
    return paths


def both(place: Place) -> tuple[Any, Any]:
    said = json.loads(place.spvlink("layer", "log", "--json"))
    return said["last_run"], said["since_install"]


def check(log: Any) -> None:
    """What holds of every log."""
    assert log["pipelines"] == sum(log[name] for name in layer_log.OUTCOMES), log
    assert log["pipelines"] - log["linked"] == sum(log["passed_through"].values()), log


def run(place: Place, *words: str, **variables: str) -> int:
    command = [sys.executable, "-m", "spvlink", "layer", "run", *WAIT, "--", sys.executable, "-m"]
    return subprocess.run(
        [*command, *words], cwd=ROOT, env={**place.variables, **variables}, check=False
    ).returncode


@pytest.mark.parametrize("how", ["return", "exit", "SIGTERM", "SIGKILL", "SIGSEGV", "SIGABRT"])
def test_however_a_program_ends(how: str, place: Place, pairs: list[str]) -> None:
    for number in (1, 2):
        status = run(place, "tests.render.ends", how, str(COUNT), *pairs[:2])
        assert (status == 0) == (how in ("return", "exit"))
        last, total = both(place)
        assert last["pipelines"] == last["linked"] == COUNT, last
        assert last["hits"] + last["misses"] == COUNT
        assert total["pipelines"] == total["linked"] == number * COUNT, total
        check(last)
        check(total)


def test_a_fork_counts_for_itself(place: Place, pairs: list[str]) -> None:
    assert run(place, "tests.render.ends", "fork", str(COUNT), *pairs[:2]) == 0
    last, total = both(place)
    assert last["pipelines"] == COUNT and total["pipelines"] == 2 * COUNT


def test_a_program_that_runs_is_in_the_log(place: Place, pairs: list[str]) -> None:
    place.spvlink("layer", "run", "--", "true")  # built
    command = [sys.executable, "-m", "spvlink", "layer", "run", *WAIT, "--", sys.executable, "-c"]
    program = (
        "import sys, time; from pathlib import Path; from tests.render import ends;"
        " ends.make(3, [Path(p).read_bytes() for p in sys.argv[1:]]);"
        " print('made', flush=True); time.sleep(100)"
    )
    running = subprocess.Popen(
        [*command, program, *pairs[:2]], cwd=ROOT, env=place.variables, stdout=subprocess.PIPE
    )
    try:
        assert running.stdout is not None
        while b"made" not in running.stdout.readline():
            assert running.poll() is None
        assert both(place)[0]["pipelines"] == 3
    finally:
        running.kill()
        running.wait()
    assert both(place)[1]["pipelines"] == 3


def test_many_runs_are_added_up(place: Place, pairs: list[str]) -> None:
    """Old files go into the total, each once, and those of programs that run do not."""
    run(place, "tests.render.ends", "exit", "1", *pairs[:2])
    folder = place.folder / "state/spvlink" / layer_log.RUNS
    data = next(folder.iterdir()).read_bytes()
    for number in range(40):  # of processes that are no more
        (folder / f"{2**22 + number}-1").write_bytes(data)
    running = folder / f"{os.getpid()}-1"
    running.write_bytes(data)
    assert both(place)[1]["pipelines"] == 42
    files = [set(folder.iterdir())]
    for number in range(1, 4):
        run(place, "tests.render.ends", "exit", "1", *pairs[:2])
        last, total = both(place)
        assert last["pipelines"] == 1 and total["pipelines"] == total["linked"] == 42 + number
        files.append(set(folder.iterdir()))
    assert len(files[0]) > len(files[1]) > len(files[2]) > len(files[3]) and running.exists()
    # one that was killed between adding and removing: the file is there, and counts no more
    (files[2] - files[3]).pop().write_bytes(data)
    (folder / "nonsense").write_bytes(b"nonsense" * 9)
    assert both(place)[1]["pipelines"] == 45
    place.spvlink("layer", "uninstall")
    assert not folder.exists()


@pytest.mark.parametrize("form", FORMS)
def test_what_each_form_counts_as(
    form: str, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    log = place.layered(*forms(form, tmp_path / "out.npz", pairs))
    wanted = dict.fromkeys((*layer_log.OUTCOMES, "without_shaders"), 0) | FORMS[form]
    assert {name: log[name] for name in wanted} == {
        name: count * len(NAMES) for name, count in wanted.items()
    }, log
    check(log)


def test_nothing_to_gain_and_refused_and_not_in_time(
    place: Place, pairs: list[str], nothing_to_gain: list[str]
) -> None:
    run(place, "tests.render.ends", "exit", "3", *nothing_to_gain)
    log = both(place)[0]
    assert log["nothing_to_gain"] == log["pipelines"] == 3, log
    check(log)
    settings = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
    settings["VK_SPVLINK_STAGE_LINK_CACHE_DIR"] = str(place.folder / "other")
    run(place, "tests.render.ends", "exit", "3", *pairs[:2], **settings)
    log = both(place)[0]
    assert log["not_in_time"] == log["pipelines"] == 3, log
    check(log)
    text = place.spvlink("layer", "log")
    assert "3 pipelines with shaders: 3 not in time" in text
    assert "6 pipelines with shaders: 3 nothing to gain, 3 not in time" in text


def test_a_log_that_cannot_be_written_says_so(place: Place, pairs: list[str]) -> None:
    settings = {"VK_SPVLINK_STAGE_LINK_LOG": "/no/such/folder/log"}
    place.variables.update(settings)
    said = place.spvlink("layer", "run", *WAIT, "--", sys.executable, "-m", "tests.render.ends",
                         "exit", "3", *pairs[:2])  # fmt: skip
    line = "/no/such/folder/log: cannot write the log there: No such file or directory"
    assert said.count(f"spvlink layer: {line}") == 1
    log = both(place)[0]
    assert log["events"] == {line: 1} and log["linked"] == 3


def test_run_says_so_before_it_starts_anything(place: Place) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spvlink", "layer", "run", "--log", "/no/such/log", "--", "true"],
        env=place.variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "/no/such/log: cannot write it: No such file or directory" in done.stderr
