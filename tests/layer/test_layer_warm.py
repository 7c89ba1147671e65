"""`spvlink layer warm`: the first start of a program finds what was linked from its archive."""

from __future__ import annotations

import glob
import subprocess
import sys
from pathlib import Path

import pytest

from spvlink.archive.archive import Archive
from spvlink.layer import wire
from spvlink.layer.recorded import LayerSettings
from spvlink.layer.warm import Tally, _requests
from tests.archive import record
from tests.archive.writing import RECORDED
from tests.support import chains
from tests.support.layer_place import Place, forms

NOBODY = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
PROGRAM = (sys.executable, "-m", "tests.archive.record", "--draw")


def left_behind(place: Place) -> list[bytes]:
    """Requests as the layer wrote them, for which there was no linker process."""
    return [Path(p).read_bytes() for p in glob.glob(f"{place.folder}/**/pending/*", recursive=True)]


@pytest.fixture(scope="module")
def same_modules() -> None:
    """The archive was recorded with the glslang that is here."""
    with Archive([str(RECORDED)]) as archive:
        modules = {archive.module(stage.module) for p in archive.pipelines() for stage in p.stages}
    if not set(chains.build(record.NAMES[0])) <= modules:
        pytest.skip("tests/archive/recorded.foz was recorded with another glslang")


@pytest.mark.usefixtures("same_modules")
@pytest.mark.parametrize("options", [(), ("--exact",)])
def test_the_first_start_of_a_recorded_program_finds_everything(
    options: tuple[str, ...], place: Place
) -> None:
    said = place.spvlink("layer", "warm", *options, str(RECORDED))
    assert "35 pipelines, 12 distinct: 12 linked" in said
    assert len(place.cached()) == 14  # two are libraries of half the shaders
    log = place.layered(*PROGRAM, options=options, **NOBODY)
    assert log["hits"] > 20 and log["misses"] == 0 and log["linked"] == log["hits"], log
    assert not log["events"]
    other = () if options else ("--exact",)  # is asked for under another key
    assert place.layered(*PROGRAM, options=other, **NOBODY)["hits"] == 0


@pytest.mark.usefixtures("same_modules")
def test_requests_are_those_of_the_layer(place: Place) -> None:
    """Byte for byte, with layouts, specialization and all."""
    log = place.layered(*PROGRAM, options=(), **NOBODY)
    asked = left_behind(place)
    assert len(asked) == 12 and log["linked"] == 0
    with Archive([str(RECORDED)]) as archive:
        assert sorted(_requests(archive, LayerSettings(), "", Tally())) == sorted(asked)


def test_a_request_is_written_as_it_was_read(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    for form in ("monolithic", "shader-object"):
        place.layered(*forms(form, tmp_path / "out.npz", pairs), options=(), **NOBODY)
    asked = left_behind(place)
    assert len(asked) >= 3
    for data in asked:
        request = wire.read_request(data)
        assert wire.write_request(request) == data
    request.stages[0].spec = [(7, b"\1"), (8, bytes(range(8))), (9, b"no scalar")]
    request.stages[0].entry = "größe"
    again = wire.read_request(wire.write_request(request))
    assert again.stages[0].spec == request.stages[0].spec[:2]
    assert again.stages[0].entry == "größe"


def test_what_is_there_is_not_linked_again(place: Place) -> None:
    place.spvlink("layer", "warm", str(RECORDED))
    before = {path: path.stat().st_mtime_ns for path in place.cached()}
    assert "12 linked" in place.spvlink("layer", "warm", str(RECORDED))
    assert {path: path.stat().st_mtime_ns for path in place.cached()} == before


def test_trouble_is_one_line(place: Place, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no archive")
    for words, said in (
        ((str(tmp_path / "file"),), "this is no Fossilize archive"),
        ((str(tmp_path / "none.foz"),), "No such file"),
        ((), "no archive"),
        (("--jobs", "0", "x.foz"), "it takes one"),
        (("--cache-dir", str(tmp_path / "file"), str(RECORDED)), "the cache cannot be written"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "spvlink", "layer", "warm", *words], env=place.variables,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if "archive" in said and words else 2), done
        assert not done.stdout
        assert done.stderr.count("\n") == 1 and said in done.stderr, done.stderr
    assert not place.cached()
