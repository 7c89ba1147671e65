"""Real programs with the layer and without (scripts/programs), and that a change would be seen."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.layer_runs import Folders
from tests.support.programs import PROGRAMS, Program

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = str(ROOT / "scripts" / "programs")
# What differs when the layer is on: it names itself in there.
WITH = "'SPVLINK' in os.environ.get('VK_INSTANCE_LAYERS', '')"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("programs_script", SCRIPT)
    spec = importlib.util.spec_from_loader("programs_script", loader)
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["programs_script"] = made  # its dataclasses look themselves up
    loader.exec_module(made)
    return made


@pytest.fixture
def suite(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "PYTHONPATH",
                 "MESA_SHADER_CACHE_DISABLE"):  # fmt: skip
        monkeypatch.setenv(name, os.environ.get(name, ""))  # as it was afterwards
    return script.Suite(Folders(tmp_path), tmp_path / "kept", 60)


def made_up(body: str, **fields: Any) -> Program:
    """A program that draws nothing, and saves what it says it did."""
    text = f"import os, sys, time; import numpy as np; on = {WITH}\n{body}"
    return Program(
        "made up", {}, lambda folder: [sys.executable, "-c", text, str(folder / "out.npy")],
        "out.npy", **fields,
    )  # fmt: skip


def test_two_of_them_as_they_are(tmp_path: Path) -> None:
    """Both are of the packages that scripts/setup installs: they are never skipped."""
    out = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, SCRIPT, "wgpu", "pygfx", "--json", str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    wgpu, pygfx = json.loads(out.read_text())
    for found in (wgpu, pygfx):
        assert not found["skipped"] and not found["wrong"]
        assert found["messages"] is not None and found["new_messages"] == []
        assert found["picture"] in ("equal", "rounding", "as two without")
        assert list(found["seconds"]) == ["without", "control", "cold", "warm"]
        assert f"| {found['name']} |" in done.stdout
    assert wgpu["pipelines"] == wgpu["linked"]["warm"] == 1
    assert pygfx["pipelines"] >= 10 and pygfx["linked"]["warm"] >= 8
    assert "Nothing that shows has changed." in done.stdout


@pytest.mark.parametrize(
    ("body", "wrong", "picture"),
    [
        ("np.save(sys.argv[1], np.full((2, 2, 4), 7))", "", "equal"),
        ("np.save(sys.argv[1], np.full((2, 2, 4), 7 + on))", "", "rounding"),
        ("np.save(sys.argv[1], np.full((2, 2, 4), 7 + 2 * on))",
         "another picture cold: 2 of 255 apart", "2 of 255 apart"),
        ("np.save(sys.argv[1], np.full((2, 2 + on, 4), 7))",
         "another picture cold: 256 of 255 apart", "256 of 255 apart"),
        ("if not on: np.save(sys.argv[1], np.full((2, 2, 4), 7))",
         "another picture cold: 256 of 255 apart", "256 of 255 apart"),
        ("n = 9 * ('control' in sys.argv[1]) + 5 * on;"
         "np.save(sys.argv[1], np.full((2, 2, 4), 7 + n))", "", "as two without"),
        ("np.save(sys.argv[1], np.full((2, 2, 4), 7)); sys.exit(3 * on)", "exit status 3 cold",
         "equal"),
        ("sys.exit(4)", "exit status 4 without the layer", "-"),
    ],
)  # fmt: skip
def test_a_change_is_seen(
    suite: Any, monkeypatch: pytest.MonkeyPatch, script: ModuleType, body: str, wrong: str,
    picture: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(script, "MANIFEST", "/no/such/layer")  # these make no instance
    found = suite.look(made_up(body))
    assert (found.wrong[:1] or [""])[0] == wrong
    assert found.picture == picture
    assert "not validated" in script.table([found])
    assert ("Nothing that shows" in script.table([found])) == (not wrong)


def test_what_it_says_itself_has_to_stay(
    suite: Any, monkeypatch: pytest.MonkeyPatch, script: ModuleType
) -> None:
    monkeypatch.setattr(script, "MANIFEST", "/no/such/layer")
    save = "np.save(sys.argv[1], np.zeros((1, 1, 4)));"
    body = f"{save} print('Validation:', 'Failure' if on else 'Success'); print(time.time())"
    found = suite.look(made_up(body, said="^Validation: .*$"))
    assert found.wrong == ["it says something else cold", "it says something else warm"]


def test_one_that_does_not_end_is_ended(
    suite: Any, monkeypatch: pytest.MonkeyPatch, script: ModuleType
) -> None:
    monkeypatch.setattr(script, "MANIFEST", "/no/such/layer")
    suite.limit = 4
    body = "np.save(sys.argv[1], np.zeros((1, 1, 4)))\nif on: time.sleep(100)"
    found = suite.look(made_up(body))
    assert found.wrong == ["exit status no end cold", "exit status no end warm"]


def test_one_that_fails_now_and_then_is_tried_again_and_that_is_said(
    suite: Any, monkeypatch: pytest.MonkeyPatch, script: ModuleType
) -> None:
    monkeypatch.setattr(script, "MANIFEST", "/no/such/layer")
    body = (
        "mark = sys.argv[1] + '.tried'; first = not os.path.exists(mark); open(mark, 'w')\n"
        "if first and on: sys.exit(1)\n"
        "np.save(sys.argv[1], np.zeros((1, 1, 4)))"
    )
    found = suite.look(made_up(body, tries=2))
    assert not found.wrong and found.failed == {"cold": 1, "warm": 1}
    assert "fails by itself now and then: cold 1, warm 1" in script.table([found])


def test_a_message_is_new_only_if_it_was_not_there_before(
    suite: Any, script: ModuleType, tmp_path: Path
) -> None:
    """A program that writes into the validation layer's own log."""
    body = (
        "np.save(sys.argv[1], np.zeros((1, 1, 4)))\n"
        "path = os.environ.get('VK_LAYER_SETTINGS_PATH')\n"
        "if path:\n"
        "    log = open(path).readline().split(' = ')[1].strip()\n"
        "    ids = ['VUID-old-00001'] + ['VUID-new-00002'] * on\n"
        "    open(log, 'w').write(''.join(f'Error: [ {i} ] Object\\n' for i in ids))"
    )
    found = suite.look(made_up(body))
    assert found.messages == 1 and found.new_messages == ["VUID-new-00002"]
    assert found.wrong == ["new messages: VUID-new-00002"]


def test_what_is_not_installed_is_said() -> None:
    program = Program("none", {"no-such-program": "no such package"}, lambda folder: [])
    assert program.missing() == "no-such-program is not installed (no such package)"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--list"], capture_output=True, text=True, check=True
    )
    said = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
    assert list(said) == [program.name for program in PROGRAMS]
    assert said["wgpu"] == said["pygfx"] == "can run here"
    done = subprocess.run(
        [sys.executable, SCRIPT, "nothing"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "no program is called nothing" in done.stderr
