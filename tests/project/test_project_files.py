"""What is for others' machines: workflows, the action, the hook, metadata. They are read, and run
as far as that can be done here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from spvlink import __version__, cli
from spvlink.lint.arguments import parse
from tests.support.check_sources import BROKEN, FITS, VERT
from tests.support.samples import compile_glsl

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = [
    *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    ROOT / "examples/github/check.yml",
]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_there_is(path: Path) -> None:
    document = read(path)
    assert document["name"] and document[True]  # YAML takes the key `on` for true
    commands = []
    for job in document["jobs"].values():
        assert set(job) >= {"runs-on", "steps"}
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            commands.append(step.get("run", ""))
    for name in re.findall(r"(?<![\w/])(?:scripts|\.ci)/\w+", "\n".join(commands)):
        assert os.access(ROOT / name, os.X_OK), name


def test_the_action_annotates_and_fails(tmp_path: Path) -> None:
    action = read(ROOT / "action.yml")
    assert set(action["inputs"]) == {"path", "baseline", "arguments"}
    step = action["runs"]["steps"][-1]
    place = tmp_path / "runner" / "spvlink" / "bin"
    place.mkdir(parents=True)
    (place / "spvlink").write_text(f'#!/bin/sh\nexec {sys.executable} -m spvlink "$@"\n')
    (place / "spvlink").chmod(0o755)
    for name, text in (("a.vert", VERT), ("a.frag", BROKEN), ("b.vert", VERT), ("b.frag", FITS)):
        folder = tmp_path / name[0]
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.spv").write_bytes(compile_glsl(text, name.rpartition(".")[2]))

    def act(files: str, baseline: str = "") -> subprocess.CompletedProcess[str]:
        given = {"FILES": files, "BASELINE": baseline, "ARGUMENTS": "--maintenance4"}
        assert set(step["env"]) == set(given)
        here = {"RUNNER_TEMP": str(tmp_path / "runner"), "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | given | here,
        )  # fmt: skip

    done = act("a/a.vert.spv a/a.frag.spv")
    assert done.returncode == 1 and done.stdout.startswith("::error file=a/a.frag.spv,title=VUID-")
    done = act("a")  # the folder
    assert done.returncode == 1 and done.stdout.startswith("::error file=a/a.frag.spv,title=VUID-")
    done = act("b")
    assert done.returncode == 0 and "::warning file=b/b.vert.spv,title=WARNING-" in done.stdout
    known = subprocess.run(
        [place / "spvlink", "check", "a/a.vert.spv", "a/a.frag.spv", "--json"],
        cwd=tmp_path, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    ).stdout  # fmt: skip
    (tmp_path / "known.json").write_bytes(known)
    done = act("a/a.vert.spv a/a.frag.spv", "known.json")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_hook_is_a_command(tmp_path: Path) -> None:
    (hook,) = read(ROOT / ".pre-commit-hooks.yaml")
    program, command, *words = hook["entry"].split()
    assert program == "spvlink" and command in cli.COMMANDS
    assert parse([*words, "build/all.jsonl"]).sets == ["build/all.jsonl"]
    for name, text in (("a.vert", VERT), ("a.frag", BROKEN)):
        (tmp_path / f"{name}.spv").write_bytes(compile_glsl(text, name.rpartition(".")[2]))
    assert hook["language"] == "python" and hook["pass_filenames"] is False
    run = [sys.executable, "-m", program, command, *words, str(tmp_path)]  # as pre-commit does
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and "  error: " in done.stdout
    seen = re.compile(hook["files"])
    assert seen.search("a.vert.spv") and seen.search("a.frag") and not seen.search("a.spv.txt")


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = read(ROOT / "CITATION.cff")
    assert project["version"] == citation["version"] == __version__
    assert project["authors"] == [{"name": "spvlink developers"}] == citation["authors"]
    assert f"spvlink@v{__version__}" in (ROOT / "examples/github/check.yml").read_text()


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/ISSUE_TEMPLATE").iterdir()), ids=lambda path: path.name
)
def test_issue_forms(path: Path) -> None:
    form = read(path)
    assert form["name"] and form["description"]
    kinds = {"input", "textarea", "dropdown", "markdown", "checkboxes"}
    assert {part["type"] for part in form["body"]} <= kinds
    assert all(part["attributes"]["label"] for part in form["body"])


def test_the_image_installs_what_exists() -> None:
    text = (ROOT / "Dockerfile").read_text()
    packages = re.findall(r"(spirv-tools|glslang-tools|python3-venv)", text)
    assert sorted(packages) == ["glslang-tools", "python3-venv", "spirv-tools"]
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not {"spvlink", "scripts", "pyproject.toml", "setup.py", "README.md"} & set(ignored)
