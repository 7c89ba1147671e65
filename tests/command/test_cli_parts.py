"""What the command is made of, one by one: the report, writing files, spirv-val, processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from spvlink import output, report, spawn, validate
from spvlink.errors import Usage
from spvlink.pipeline import InterfaceResult, Linked, Remark, StageResult

VERT = """#version 450
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }
"""


@pytest.fixture(scope="session")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Some valid module."""
    file = tmp_path_factory.mktemp("module") / "a.vert"
    file.write_text(VERT)
    command = ["glslangValidator", "-V", "-o", f"{file}.spv", file]
    subprocess.run(command, check=True, capture_output=True)
    return Path(f"{file}.spv").read_bytes()


# -- the report without the linker -----------------------------------------------------------------


def sample() -> Linked:
    linked = Linked()
    for stage in ("vert", "frag"):
        result = StageResult(stage, f"folder/a.{stage}.spv", b"", True)
        result.instructions, result.bytes = (159, 120), (2952, 2310)
        linked.stages.append(result)
    border = InterfaceResult("vert", "frag")
    border.components, border.locations = (14, 9), (5, 3)
    border.measured = (72, 16, 8), (52, 16, 4)
    linked.interfaces.append(border)
    why = "read with a dynamic index, so the array keeps its shape; " * 4
    linked.remarks = [
        Remark("vert->frag", "outColor", "1.xyz", "propagated", "constant (1, 1, 1)"),
        Remark("vert->frag", "shadowPositions", "2-5", "kept", why),
        Remark("vert->frag", "aVeryLongNameOfAVaryingInsideOfABlock.member", "6.x", "packed", "x"),
    ]
    linked.seconds = {"decode": 0.0004}
    return linked


def test_json_of_the_contract() -> None:
    made = json.loads(report.to_json(sample(), "0.1.0"))
    assert made["stages"][0] == {
        "stage": "vert", "file": "folder/a.vert.spv",
        "instructions": [159, 120], "bytes": [2952, 2310],
    }  # fmt: skip
    assert made["interfaces"] == [
        {
            "producer": "vert", "consumer": "frag", "components": [14, 9], "locations": [5, 3],
            "vertex_bytes": [72, 52], "position_bytes": [16, 16], "primitive_bytes": [8, 4],
        }
    ]  # fmt: skip
    assert made["remarks"][0] == {
        "interface": "vert->frag", "name": "outColor", "slot": "1.xyz", "action": "propagated",
        "why": "constant (1, 1, 1)",
    }  # fmt: skip
    assert made["seconds"] == {"decode": 0.0004}
    assert made["passed_through"] is None


def test_table() -> None:
    text = report.explain(sample())
    assert max(map(len, text.splitlines())) <= report.WIDTH
    assert "vert->frag:  14 -> 9 components in 5 -> 3 Locations" in text
    assert {"72 -> 52", "8 -> 4"} <= set(re.findall(r"\d+ -> \d+(?= bytes a )", text))
    assert "aVeryLongNameOfAVaryingInsideOfABlock.member" in text
    assert " ".join(text.split()).count("read with a dynamic index, so the array") == 4
    assert not any(line != line.rstrip() for line in text.splitlines())


# -- writing ---------------------------------------------------------------------------------------


def test_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "c").mkdir()
    with pytest.raises(Usage, match="Is a directory"):
        output.write_all([(str(tmp_path / name), b"new") for name in "abc"])
    assert sorted(os.listdir(tmp_path)) == ["a", "c"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_rename_that_fails_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old")
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if target.endswith("c"):
            raise OSError(28, "No space left on device", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(Usage, match="No space left"):
        output.write_all([(str(tmp_path / name), b"new") for name in "abc"])
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_folders_made_in_vain_are_removed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    targets = [str(tmp_path / "x/y/one"), str(tmp_path / "file/two")]
    with pytest.raises(Usage, match=r"Not a directory|File exists"):
        output.write_all([(target, b"new") for target in targets])
    assert os.listdir(tmp_path) == ["file"]


def test_links_and_devices(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").symlink_to("a")
    assert output.write_all([(str(tmp_path / "b"), b"new"), (os.devnull, b"gone")])
    assert (tmp_path / "b").is_symlink() and (tmp_path / "a").read_bytes() == b"new"
    assert not os.path.isfile(os.devnull)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


# -- spirv-val -------------------------------------------------------------------------------------


def test_validate(module: bytes) -> None:
    assert validate.validate_all([module, module[:-8], module], "vulkan1.0") == [
        None, validate.validate(module[:-8], "vulkan1.0"), None,
    ]  # fmt: skip
    message = validate.validate(module[:-8], "vulkan1.0")
    assert message and "\n" not in message and not validate.too_old(message)


def test_a_module_newer_than_the_validator(module: bytes) -> None:
    data = bytearray(module)
    at = data.index(b"\x11\x00\x02\x00")  # OpCapability
    data[at + 4 : at + 8] = (0x7FFFFF).to_bytes(4, "little")
    message = validate.validate(bytes(data), "vulkan1.0")
    assert message is not None and validate.too_old(message)


def test_an_unknown_source_language_is_no_error(module: bytes) -> None:
    data = bytearray(module)
    at = data.index(b"\x03\x00\x03\x00")  # OpSource, three words
    data[at + 4 : at + 8] = (0x7FFFFF).to_bytes(4, "little")
    assert validate.validate(bytes(data), "vulkan1.0") is None


def test_lowest_env() -> None:
    versions = [0x10000, 0x10100, 0x10300, 0x10400, 0x10500, 0x10600]
    names = ["vulkan1.0", "vulkan1.1", "vulkan1.1", "vulkan1.1spv1.4", "vulkan1.2", "vulkan1.3"]
    assert [validate.lowest_env([version]) for version in versions] == names
    assert validate.lowest_env(versions) == "vulkan1.3"


def test_programs_that_fail() -> None:
    results = spawn.run_all(
        [(["sh", "-c", "cat >/dev/null; echo no; exit 7"], b"x" * (1 << 20)),
         (["sh", "-c", "exit 3"], b"x" * (1 << 20)), (["sh", "-c", "kill -9 $$"], b"")]
    )  # fmt: skip
    assert results == [(7, b"no\n"), (3, b""), (-9, b"")]
    with pytest.raises(FileNotFoundError):
        spawn.run_all([(["no-such-program"], b"")])
