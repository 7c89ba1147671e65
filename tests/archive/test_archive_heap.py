"""Archives whose pipelines have what today's engines chain: they are linked as those without are.

The structures are written as Fossilize writes them, onto every pipeline of recorded.foz."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spvlink.archive import numbers
from spvlink.archive.archive import Archive
from tests.archive import writing
from tests.archive.writing import RECORDED

Fields = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
FAR = 16  # bindings that an entry has, more than there are: the rest is overspecified


def changed(change: Callable[[Fields], None]) -> bytes:
    """recorded.foz with a change of each graphics pipeline."""
    entries = []
    for (tag, key), entry in writing.split(RECORDED.read_bytes()):
        if tag == 6:
            document = json.loads(writing.payload_of(entry).rstrip(b"\0"))
            for pipeline in document["graphicsPipelines"].values():
                change(pipeline)
            entry = writing.entry(tag, key, document)
        entries.append(entry)
    return writing.archive(*entries)


def linked(data: bytes, folder: Path) -> Fields:
    """The report of a batch."""
    source, report = folder / "in.foz", folder / "r.json"
    source.write_bytes(data)
    command = [sys.executable, "-m", "spvlink", "batch", source, "-o", folder / "out.foz"]
    subprocess.run([*command, "--report", report, "--jobs", "1"], check=True, cwd=ROOT)
    found: Fields = json.loads(report.read_text())
    del found["totals"]["bytes"]  # of the archives, which are longer by what was put in
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Fields:
    return linked(RECORDED.read_bytes(), tmp_path_factory.mktemp("plain"))


def entries(stage: int, apart: bool) -> list[Fields]:
    """All of two sets: from one heap, each stage from a place of its own if they are apart."""
    offset = 4096 * stage if apart else 0
    data = {"heapOffset": offset, "samplerHeapOffset": 0}
    data |= {"heapArrayStride": 64, "samplerHeapArrayStride": 32}
    return [
        {
            "descriptorSet": number,
            "firstBinding": 0,
            "bindingCount": FAR,
            "resourceMask": 0x7FFFFFFF,
            "source": 0,
            "sourceData": {"constantOffset": data | {"heapOffset": offset + 1024 * number}},
        }
        for number in range(2)
    ]


def in_heap(pipeline: Fields, apart: bool = False) -> None:
    wide = {"sType": numbers.FLAGS_2, "flags": pipeline["flags"] | numbers.IN_HEAP}
    pipeline["pNext"] = [*pipeline.get("pNext", []), wide]
    pipeline["layout"] = writing.ZERO
    for stage in pipeline.get("stages", []):
        mappings = entries(stage["stage"], apart)
        stage["pNext"] = [{"sType": numbers.HEAP_MAPPING, "mappings": mappings}]


def locations(report: Fields) -> int:
    return int(report["totals"]["locations"][1])


def reads(report: Fields) -> list[str]:
    """Why resources crossed, or did not."""
    return [r["why"] for job in report["jobs"] for r in job.get("remarks", [])]


def test_as_many_pipelines_are_linked_in_a_heap(plain: Fields, tmp_path: Path) -> None:
    found = linked(changed(in_heap), tmp_path)
    assert found["totals"]["linked"] == plain["totals"]["linked"] == 28
    assert found["unknown"] == [] and found["reasons"] == plain["reasons"]
    # a mapping shows both stages more than the layouts of the archive do
    assert locations(found) <= locations(plain)
    assert any("computed there from set 0, binding 0" in why for why in reads(found))
    with Archive([str(tmp_path / "out.foz")]) as archive:
        flags = {p.flags & numbers.IN_HEAP for p in archive.pipelines()}
        assert flags == {numbers.IN_HEAP}


def test_nothing_is_read_where_stages_map_it_differently(plain: Fields, tmp_path: Path) -> None:
    found = linked(changed(lambda pipeline: in_heap(pipeline, apart=True)), tmp_path)
    assert found["totals"]["linked"] == 28
    said = reads(found)
    assert not any("computed there from set" in why for why in said)
    assert any("the stages map set 0, binding 0 differently" in why for why in said)
    assert locations(found) > locations(plain)


def empty_mappings(pipeline: Fields) -> None:
    for stage in pipeline.get("stages", []):
        stage["pNext"] = [{"sType": numbers.HEAP_MAPPING, "mappings": []}]


def test_empty_mappings_change_nothing(plain: Fields, tmp_path: Path) -> None:
    found = linked(changed(empty_mappings), tmp_path)
    for name in ("totals", "reasons", "pipelines"):
        assert {**found}[name] == plain[name]


ROBUST = {"sType": numbers.ROBUSTNESS, "images": 2, "uniformBuffers": 3}
ROBUST |= {"storageBuffers": 3, "vertexInputs": 1}
ON_PIPELINES: list[Fields] = [
    ROBUST,
    {"sType": 1000044008, "colorAttachmentSamples": [4], "depthStencilAttachmentSamples": 4},
    {"sType": 1000099001, "flags": 0, "discardRectangleMode": 0, "discardRectangleCount": 0},
    {
        "sType": 1000226001,
        "fragmentSize": {"width": 2, "height": 2},
        "combinerOps": [0, 0],
    },
    {"sType": 1000232001, "colorAttachmentCount": 1, "colorAttachmentLocations": [0]},
    {"sType": 1000232002, "colorAttachmentCount": 1, "depthInputAttachmentIndex": 0},
    {"sType": 1000611002, "maxFragmentDensityMapLayers": 2},
    {
        "sType": 1000628002,
        "customResolve": 0,
        "colorAttachmentFormats": [37],
        "depthAttachmentFormat": 0,
        "stencilAttachmentFormat": 0,
    },
]
ON_STAGES: list[Fields] = [ROBUST, {"sType": 1000225001, "requiredSubgroupSize": 32}]
# Indirectly bindable, captured for pipeline binaries, with a density a layer, and protected.
FLAGS = 1 << 38 | 1 << 31 | 1 << 40 | 1 << 30 | 1 << 34


def all_at_once(pipeline: Fields) -> None:
    wide = {"sType": numbers.FLAGS_2, "flags": pipeline["flags"] | FLAGS}
    pipeline["pNext"] = [*pipeline.get("pNext", []), wide, *ON_PIPELINES]
    for stage in pipeline.get("stages", []):
        stage["pNext"] = list(ON_STAGES)


def test_what_engines_chain_changes_nothing(plain: Fields, tmp_path: Path) -> None:
    found = linked(changed(all_at_once), tmp_path)
    for name in ("totals", "reasons"):
        assert found[name] == plain[name]


def test_jobs_are_as_many_as_before(plain: Fields, tmp_path: Path) -> None:
    """Samplers and images of a mapping are no part of a job."""
    count = 0

    def other_images(pipeline: Fields) -> None:
        nonlocal count
        in_heap(pipeline)
        for stage in pipeline.get("stages", []):
            mappings = stage["pNext"][0]["mappings"]
            for entry in mappings:
                count += 64
                images = {"resourceMask": 0x1F, "firstBinding": 64}
                images["sourceData"] = {"constantOffset": {"heapOffset": count}}  # type: ignore[assignment]
                stage["pNext"][0]["mappings"] = [*mappings, entry | images]

    found = linked(changed(other_images), tmp_path)
    assert count > 1000 and found["totals"]["linked"] == 28
    assert found["totals"]["jobs"] <= plain["totals"]["jobs"]


def test_what_is_unknown_is_named_with_a_count(tmp_path: Path) -> None:
    count = 0

    def with_unknown(pipeline: Fields) -> None:
        nonlocal count
        count += 1
        pipeline["pNext"] = [*pipeline.get("pNext", []), {"sType": 1000277002}]
        if count % 2 and pipeline.get("stages"):
            pipeline["stages"][0]["pNext"] = [{"sType": 1999999000}]
        pipeline["dynamicState"] = {"flags": 0, "dynamicState": [1999999001]}
        wide = {"sType": numbers.FLAGS_2, "flags": pipeline["flags"] | 1 << 60}
        pipeline["pNext"].append(wide)

    found = linked(changed(with_unknown), tmp_path)
    assert found["totals"]["linked"] == 0 and count == 35
    counts = {line["what"]: line["pipelines"] for line in found["unknown"]}
    one = counts.pop("sType 1999999000, on stages")
    assert 10 < one < 20
    assert counts == {
        "VkGraphicsPipelineShaderGroupsCreateInfoNV, sType 1000277002, on pipeline": 35,
        "creation flag 0x1000000000000000": 35,
        "dynamic state 1999999001": 35,
    }
