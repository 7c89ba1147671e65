"""The state of pipelines in a manifest: as an object or a file. State that no module asks
for makes no job of its own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.batch_sets import batch, lines_for, write_lines

NONE = {"version": 1, "colorAttachments": [], "alphaToCoverageEnable": False}


def test_state_of_a_manifest(tmp_path: Path) -> None:
    (line,) = lines_for(tmp_path, ("car_paint",))
    (tmp_path / "depth.json").write_text(json.dumps(NONE))
    states = {
        "as it is": None,
        "depth": NONE,
        "depth, from a file": "depth.json",
        "depth, with more that nobody asks for": {**NONE, "cullMode": "BACK", "viewportCount": 1},
    }
    lines = [
        {**line, "id": id} | ({} if state is None else {"state": state})
        for id, state in states.items()
    ]
    manifest = write_lines(tmp_path / "all.jsonl", lines)
    said = batch(manifest, "-o", tmp_path / "out", "--report", tmp_path / "r.json")
    assert said.startswith("spvlink: 4 pipelines, 2 jobs"), said
    report = json.loads((tmp_path / "r.json").read_text())
    plain, *depth = report["pipelines"]
    assert {one["job"] for one in depth} == {1 - plain["job"]}
    assert all(one["components"][1] == 0 < plain["components"][1] for one in depth)
    whys = {remark["why"] for remark in report["jobs"][depth[0]["job"]]["remarks"]}
    assert "no attachment takes it" in whys


def test_attributes_that_no_shader_has_are_named(tmp_path: Path) -> None:
    (line,) = lines_for(tmp_path, ("car_paint",))
    there = [{"location": at, "format": "R32G32B32A32_SFLOAT"} for at in (0, 1, 13, 9)]
    lines = [
        {**line, "id": id, "state": {"version": 1, "vertexAttributes": attributes}}
        for id, attributes in (("more", there), ("alike", there[:2]))
    ]
    manifest = write_lines(tmp_path / "all.jsonl", lines)
    said = batch(manifest, "-o", tmp_path / "out", "--report", tmp_path / "r.json")
    assert said.startswith("spvlink: 2 pipelines, 1 jobs"), said
    more, alike = json.loads((tmp_path / "r.json").read_text())["pipelines"]
    assert more["unread_attributes"] == [9, 13] and alike["unread_attributes"] == []


def test_a_bad_state_is_an_error_that_names_its_place(tmp_path: Path) -> None:
    (line,) = lines_for(tmp_path, ("car_paint",))
    manifest = write_lines(tmp_path / "all.jsonl", [line | {"state": {**NONE, "cullMode": "UP"}}])
    said = batch(manifest, "-o", tmp_path / "out", status=1)
    assert "all.jsonl: line 1" in said and "cullMode" in said
