"""``spvlink check`` and the Khronos validation layer agree on pairs that fit and pairs that do
not; where they do not, the row says why."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink.lint import pipeline
from spvlink.lint.limits import read_limits
from spvlink.lint.stage import load
from tests.render.verdicts import DRIVER
from tests.support.interface_broken import BROKEN
from tests.support.interface_good import GOOD
from tests.support.interface_rows import Code, Row
from tests.support.layer_validation import ROOT, UNPACKED, WANTED, python_with_validation, version
from tests.support.samples import assemble, compile_glsl, edited

ROWS = [*BROKEN, *GOOD]
# It falls silent after ten errors of a kind otherwise.
SETTINGS = {"VK_KHRONOS_VALIDATION_ENABLE_MESSAGE_LIMIT": "false"}
COMPARED = (1, 4, 309)  # the layer whose silences and errors the rows note
MESHES = ("task", "mesh")


@cache
def made(code: Code, meshes: bool) -> bytes:
    environment = "vulkan1.2" if meshes else "vulkan1.1"
    if code.text.startswith(";"):
        return assemble(code.text, environment)
    data = compile_glsl(code.text, code.stage, environment)
    return edited(data, *code.edits, environment=environment) if code.edits else data


def modules(row: Row) -> list[bytes]:
    meshes = any(code.stage in MESHES for code in row.codes)
    return [made(code, meshes) for code in row.codes]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the layer says of every row, and the limits of the device."""
    python, variables = python_with_validation()
    folder = tmp_path_factory.mktemp("rows")
    with ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(modules, ROWS))
    asked = []
    for number, (row, stages) in enumerate(zip(ROWS, codes)):
        files = []
        for at, data in enumerate(stages):
            files.append(str(folder / f"{number}.{at}.spv"))
            Path(files[-1]).write_bytes(data)
        one = {"codes": files, "maintenance4": row.maintenance4, "topology": row.topology}
        asked.append(one)
    (folder / "in.json").write_text(json.dumps(asked))
    command = [*python, "-m", "tests.render.verdicts", folder / "in.json", folder / "out.json"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **variables, **SETTINGS},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads((folder / "out.json").read_text())
    told["said"] = dict(zip((row.name for row in ROWS), told["said"], strict=True))
    (folder / "limits.json").write_text(json.dumps(told["limits"]))
    told["file"] = str(folder / "limits.json")
    return told


def compared_with() -> tuple[int, ...]:
    """The version of the layer that answered."""
    system = version(Path("/usr"))
    return system if system >= WANTED else version(UNPACKED)


def errors(row: Row, limits: str) -> set[str | None]:
    """The rules of what ``spvlink check`` finds."""
    rules = pipeline.CheckRules()
    rules.limits = read_limits(limits)
    rules.maintenance4 = row.maintenance4
    stages = [load(data, None, {}) for data in modules(row)]
    found = pipeline.findings(stages, True, rules)
    return {finding.rule for finding in found if not finding.warning}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_check_and_the_layer_agree(row: Row, answers: Any) -> None:
    assert (row.layer is None) == (not row.why), "a difference has a reason"
    assert errors(row, answers["file"]) == row.rules
    said = set(answers["said"][row.name])
    if row.layer is not None and compared_with() != COMPARED:
        pytest.skip(f"{row.why}: seen with {COMPARED}, and this is {compared_with()}")
    if row.rules and row.layer is not None:
        said.discard(DRIVER)  # which may refuse what the layer does not see
    assert said == (row.rules if row.layer is None else row.layer)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_link_tells_what_check_finds(row: Row) -> None:
    """What is wrong is an error of the link, or a warning, limits apart."""
    codes, rules = modules(row), pipeline.CheckRules()
    rules.limits = dict.fromkeys(rules.limits, 1 << 20)
    rules.maintenance4 = row.maintenance4
    found = pipeline.findings([load(code, None, {}) for code in codes], True, rules)
    newer = "vulkan1.3" if row.maintenance4 else None
    try:
        linked = spvlink.link(codes, validate=False, target_env=newer, stop_after=0)
    except spvlink.SpvlinkError:
        assert row in BROKEN
        return
    assert {flaw.message for flaw in linked.warnings} == {f.message for f in found if not f.warning}


def test_the_page_has_the_right_numbers() -> None:
    page = (ROOT / "docs" / "reference" / "check.md").read_text()
    assert (
        f"has {len(BROKEN)} pipelines" in page
        and f"`tests/support/interface_good.py` {len(GOOD)}" in page
    )
    assert f"They are equal for {sum(row.layer is None for row in ROWS)}." in page
    table = page[page.index("| pipelines | the layer |") :].splitlines()[2:]
    counts = [int(line.split("|")[1]) for line in table if line.startswith("|")]
    assert sum(counts) == sum(row.layer is not None for row in ROWS)


def test_there_are_enough_rows() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert len(BROKEN) >= 60 and all(row.rules for row in BROKEN)
    assert len(GOOD) >= 60 and not any(row.rules for row in GOOD)
