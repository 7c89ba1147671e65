"""What linking is told of a recorded pipeline, and what makes one stay as it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from spvlink.archive import numbers, structures
from spvlink.archive.archive import Archive
from spvlink.layout import check_layout
from tests.archive import writing
from tests.archive.writing import (
    FRAGMENT,
    KEY,
    LAYOUT,
    PASS,
    SET,
    VERTEX,
    ZERO,
    archive,
    entry,
    pipeline,
    stage,
    surroundings,
)
from tests.support.archive_structures import Fields, dynamic, rasterization, read, structure


def test_a_plain_one(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.reason is None and found.key == f"{KEY:016x}"
    assert [(one.bit, one.module, one.entry, one.spec) for one in found.stages] == [
        (1, f"{VERTEX:016x}", "main", {}),
        (16, f"{FRAGMENT:016x}", "main", {}),
    ]
    binding = {"binding": 0, "descriptorType": 6, "descriptorCount": 1, "stageFlags": 17}
    assert found.layout == {
        "setLayouts": [{"set": 1, "bindings": [binding]}],
        "pushConstantRanges": [{"stageFlags": 1, "offset": 4, "size": 16}],
    }
    check_layout(found.layout)
    assert (found.target_env, found.robust) == ("vulkan1.2", True)
    assert (found.view_mask, found.discard, found.stream, found.patch_points) == (0, False, 0, None)


def spec(**change: Any) -> Fields:
    entries = [
        {"constantID": 3, "offset": 0, "size": 4},
        {"constantID": 0, "offset": 2, "size": 1},
    ]
    info = {"dataSize": 5, "data": "AQIDBAU=", "mapEntries": entries}
    return {"stages": [stage(1, VERTEX, specializationInfo=info | change)]}


VIEWS = structure(numbers.RENDERING, viewMask=6)
PATCHES = {"flags": 0, "patchControlPoints": 4}
ROBUST = structure(numbers.ROBUSTNESS, images=0, uniformBuffers=1, storageBuffers=2, vertexInputs=0)


@pytest.mark.parametrize(
    ("change", "name", "value"),
    [
        ({"pNext": [VIEWS], "renderPass": ZERO}, "view_mask", 6),
        ({"pNext": [VIEWS]}, "view_mask", 0),  # there is a render pass, which counts
        ({"dynamicState": dynamic(0, 1, 1000377001)}, "discard", None),
        (
            {"dynamicState": dynamic(1000377001), "rasterizationState": rasterization(1)},
            "discard",
            None,
        ),
        ({"rasterizationState": None}, "discard", False),
        ({"rasterizationState": rasterization(1), "stages": [stage(1, VERTEX)]}, "discard", True),
        ({"rasterizationState": rasterization(1)}, "discard", True),
        ({"tessellationState": PATCHES}, "patch_points", 4),
        (
            {"tessellationState": PATCHES, "dynamicState": dynamic(1000377000)},
            "patch_points",
            None,
        ),
        ({"flags": 0x402}, "flags", 0x402),
        # VIEW_INDEX_FROM_DEVICE_INDEX: gl_ViewIndex is 1 on the second device, without any view
        ({"flags": 0x8}, "view_mask", None),
        ({"flags": 0x8, "pNext": [structure(numbers.FLAGS_2, flags=4)]}, "view_mask", 0),
        ({"pNext": [structure(numbers.FLAGS_2, flags=8)]}, "view_mask", None),
        ({"flags": 1, "pNext": [structure(numbers.FLAGS_2, flags=4)]}, "flags", 4),
        ({"layout": ZERO}, "layout", None),
        (
            {"rasterizationState": rasterization(0, structure(1000028002, rasterizationStream=0))},
            "stream",
            0,
        ),
    ],
)  # fmt: skip
def test_state(tmp_path: Path, change: Fields, name: str, value: object) -> None:
    found = read(tmp_path, **change)
    assert found.reason is None and getattr(found, name) == value


def test_specialization(tmp_path: Path) -> None:
    found = read(tmp_path, **spec())
    assert found.reason is None and found.stages[0].spec == {3: b"\1\2\3\4", 0: b"\3"}
    nothing = read(tmp_path, **spec(dataSize=0, data="", mapEntries=[]))
    assert nothing.reason is None and nothing.stages[0].spec == {}


def multiview(*masks: int) -> Fields:
    return {"flags": 0, "subpasses": [{}, {}], "pNext": [structure(1000053000, viewMasks=masks)]}


@pytest.mark.parametrize(
    ("around", "mask"),
    [
        ({"pass": multiview(1, 5)}, 5),
        ({"pass": multiview(3)}, 0),
        (
            {
                "pass": {"flags": 0, "subpasses": [{"viewMask": 1}, {"viewMask": 9}]},
                "pass_section": "renderPasses2",
            },
            9,
        ),
    ],
)
def test_multiview_of_render_passes(tmp_path: Path, around: Fields, mask: int) -> None:
    found = read(tmp_path, around, subpass=1)
    assert found.reason is None and found.view_mask == mask


@pytest.mark.parametrize(
    ("version", "env"),
    [
        (0, "vulkan1.0"),
        (1 << 22, "vulkan1.0"),
        (1 << 22 | 3 << 12 | 239, "vulkan1.3"),
        (1 << 22 | 9 << 12, "vulkan1.4"),
        (2 << 22, None),
        (1 << 29 | 1 << 22, None),
        ("no", None),
    ],
)
def test_target_environments(tmp_path: Path, version: object, env: str | None) -> None:
    application = {
        "version": 6,
        "applicationInfo": {"apiVersion": version},
        "physicalDeviceFeatures": {},
    }
    found = read(tmp_path, {"application": application})
    assert (found.reason, found.target_env) == (None, env)


def test_the_lowest_application_counts(tmp_path: Path) -> None:
    others = [
        entry(0, key, {"version": 6, "applicationInfo": {"apiVersion": 1 << 22 | minor << 12}})
        for key, minor in ((0xD1, 1), (0xD2, 0))
    ]
    path = tmp_path / "in.foz"
    around = surroundings()
    path.write_bytes(archive(*around, *others, writing.link(0xD1, 6, KEY), pipeline()))
    with Archive([str(path)]) as opened:
        assert opened.applications_of(KEY) == [writing.APPLICATION, 0xD1]
        assert opened.pipeline(f"{KEY:016x}").target_env == "vulkan1.1"
    path.write_bytes(archive(*around[:-1], *others, pipeline()))  # nobody says that it uses it
    with Archive([str(path)]) as opened:
        assert opened.pipeline(f"{KEY:016x}").target_env == "vulkan1.0"


UNKNOWN = structure(1000999000, size=32)
PARTS = numbers.LIBRARY_PARTS
BOTH_PARTS = structure(PARTS, flags=0x6)


def test_a_library_of_all_stages(tmp_path: Path) -> None:
    found = read(tmp_path, flags=0x800, pNext=[BOTH_PARTS])
    assert found.reason is None and len(found.stages) == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"flags": 1}, "the application wants it not optimized"),
        ({"flags": 0x800}, "it is a pipeline library that others may complete"),
        (
            {"flags": 0x800, "pNext": [structure(PARTS, flags=0xB)]},
            "it is a pipeline library that others may complete",
        ),
        (
            {"pNext": [structure(numbers.LIBRARIES, libraries=["1" * 16])]},
            "it is made from pipeline libraries",
        ),
        (
            {"pNext": [structure(numbers.FLAGS_2, flags=1 << 32)]},
            "it has a creation flag that spvlink does not know: 0x100000000",
        ),
        (
            {"rasterizationState": rasterization(0, structure(1000028002, rasterizationStream=1))},
            "a vertex stream other than the first may be rasterized",
        ),
        (
            {"dynamicState": dynamic(1000455013)},
            "a vertex stream other than the first may be rasterized",
        ),
        ({"stages": None}, "it has no stages: there is nothing to link"),
        ({"stages": [stage(1, VERTEX), stage(1, VERTEX)]}, "it has a stage twice"),
        ({"stages": [stage(32, VERTEX)]}, "it has a stage that spvlink does not know"),
        ({"stages": [stage(1, 0)]}, "a stage has no module in the archive"),
        ({"stages": [stage(1, 0x99)]}, "a shader module is not in the archive"),
        ({"stages": [stage(1, VERTEX, flags=4)]}, "a stage has a flag that spvlink does not know"),
        ({"stages": [stage(1, VERTEX, name=7)]}, "the entry point of a stage is no text"),
        (
            {"pNext": [structure(numbers.BINARIES, binaryCount=1)]},
            "its code comes from pipeline binaries",
        ),
        (
            {"pNext": [structure(1000277002)]},
            "it has a structure that spvlink does not know:"
            " VkGraphicsPipelineShaderGroupsCreateInfoNV, sType 1000277002",
        ),
        ({"layout": "9" * 16}, "its pipeline layout is not in the archive"),
        ({"renderPass": "9" * 16}, "its render pass is not in the archive"),
        ({"subpass": 2}, "its subpass is none of its render pass"),
        (spec(data="AQID"), "its specialization data is not as long as it says"),
        (spec(data="A"), "its specialization data is not base64"),
        (spec(data="AQIDBAU=\n"), "its specialization data is not base64"),
        (spec(data=5), "its specialization data is no text"),
        (
            spec(mapEntries=[{"constantID": 1, "offset": 2, "size": 4}]),
            "a specialization constant lies behind the end of the data",
        ),
        (
            spec(mapEntries=[{"constantID": 1, "offset": 0, "size": 4}] * 2),
            "a specialization constant is given twice",
        ),
        ({"layout": "xyz"}, "its layout is not of 16 hex digits"),
        ({"layout": None}, "it has no layout"),
        ({"subpass": -1}, "its subpass is no number of 32 bits"),
        ({"subpass": 1.0}, "its subpass is no number of 32 bits"),
        ({"stages": {}}, "its stages is no list"),
        ({"stages": [3]}, "its stages is no object"),
        ({"pNext": {}}, "its pNext is no list"),
        ({"pNext": [7]}, "its pNext is no object"),
        ({"pNext": [{}]}, "its sType is no number of 32 bits"),
        ({"rasterizationState": []}, "its rasterizationState is no object"),
        ({"dynamicState": dynamic(-1)}, "its dynamicState is no number of 32 bits"),
    ],
)
def test_reasons(tmp_path: Path, change: Fields, reason: str) -> None:
    assert read(tmp_path, **change).reason == reason


@pytest.mark.parametrize(
    "change",
    [
        {"pNext": [VIEWS, UNKNOWN]},
        {"stages": [stage(1, VERTEX, pNext=[UNKNOWN])]},
        {"rasterizationState": rasterization(0, UNKNOWN)},
        {"vertexInputState": {"flags": 0, "pNext": [UNKNOWN]}},
        {"tessellationState": {"flags": 0, "patchControlPoints": 3, "pNext": [UNKNOWN]}},
        {"viewportState": {"flags": 0, "pNext": [UNKNOWN]}},
        {"colorBlendState": {"attachments": [{"pNext": [UNKNOWN]}]}},
        {"madeUpState": {"pNext": [VIEWS]}},
        {"pNext": [VIEWS | {"pNext": [VIEWS]}]},
    ],
)
def test_unknown_structures(tmp_path: Path, change: Fields) -> None:
    reason = read(tmp_path, **change).reason
    assert reason is not None
    assert reason.startswith("it has a structure that spvlink does not know: ")
    assert re.search(r": (Vk\w+, )?sType 1000\d+$", reason)


def test_every_known_structure(tmp_path: Path) -> None:
    """In its place it is no reason, and in another one it is."""
    details = {"viewMask": 0, "flags": 6, "rasterizationStream": 0, "patchControlPoints": 3}
    for place, known in structures.PLACES.items():
        for kind in known:
            chain = {"pNext": [structure(kind, **details)]}
            fields: Fields = {place: chain | details}
            if place == "pipeline":
                fields = chain
            elif place == "stages":
                fields = {"stages": [stage(1, VERTEX, **chain)]}
            assert read(tmp_path, **fields).reason is None, (place, kind)
            elsewhere = {"inputAssemblyState": chain}
            assert (read(tmp_path, **elsewhere).reason or "").endswith(str(kind))


@pytest.mark.parametrize(
    ("around", "reason"),
    [
        ({"set": None}, "a set layout of it is not in the archive"),
        ({"layout": None}, "its pipeline layout is not in the archive"),
        ({"pass": None}, "its render pass is not in the archive"),
        (
            {"layout": {"flags": 8, "setLayouts": []}},
            "its pipeline layout has something that spvlink does not know",
        ),
        (
            {"layout": {"flags": 0, "setLayouts": [], "pNext": [UNKNOWN]}},
            "its pipeline layout has something that spvlink does not know",
        ),
        (
            {"set": {"flags": 0x40, "bindings": []}},
            "a set layout of it has something that spvlink does not know",
        ),
        (
            {"set": {"flags": 0, "bindings": [], "pNext": [UNKNOWN]}},
            "a set layout of it has something that spvlink does not know",
        ),
        (
            {"pass": {"flags": 0, "subpasses": [{"pNext": [UNKNOWN]}]}},
            "its render pass has a structure that spvlink does not know: sType 1000999000",
        ),
        (
            {"set_section": "samplers"},
            "a set layout of it cannot be used: its entry does not hold it",
        ),
        ({"set": []}, "a set layout of it cannot be used: its setLayouts is no object"),
        ({"set": {"flags": 0, "bindings": [{"binding": 1}]}}, "it has no descriptorType"),
    ],
)
def test_reasons_around_it(tmp_path: Path, around: Fields, reason: str) -> None:
    assert read(tmp_path, around).reason == reason


@pytest.mark.parametrize("tag", [0, SET, LAYOUT, PASS])
def test_damage_around_it(tmp_path: Path, tag: int) -> None:
    """An entry with a wrong checksum is told apart from one that is not there."""
    path = tmp_path / "in.foz"
    around = [
        raw[:48] + bytes([raw[48] ^ 1]) + raw[49:] if int(raw[24:40], 16) == tag else raw
        for raw in surroundings()
    ]
    path.write_bytes(archive(*around, pipeline()))
    with Archive([str(path)]) as opened:
        (found,) = opened.pipelines()
    if tag:
        assert found.reason is not None
        assert found.reason.endswith("cannot be used: its checksum is wrong")
    else:
        assert found.reason is None


def test_many_layouts_are_forgotten(tmp_path: Path) -> None:
    """What is remembered of layouts is bounded, and asking again gives the same."""
    path = tmp_path / "in.foz"
    layouts = [
        entry(3, key, {"version": 6, "pipelineLayouts": {f"{key:016x}": {"flags": 0}}})
        for key in range(1, 3000)
    ]
    pipelines = [pipeline(key, layout=f"{key:016x}") for key in range(1, 3000)]
    path.write_bytes(archive(*surroundings(), *layouts, *pipelines))
    with Archive([str(path)]) as opened:
        for _ in range(2):
            assert all(found.reason is None for found in opened.pipelines())
        assert len(opened._layouts._known) <= 1024


# -- JSON that is none, or is meant badly ----------------------------------------------------------

GOOD = writing.compact({"version": 6, "graphicsPipelines": {f"{KEY:016x}": writing.graphics()}})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "Expecting value"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"version":6,"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'{"version":' + b"9" * 100_000 + b"}", "JSON is not right"),
        (b'{"version":' + b"9" * 4000 + b"}", "version that is not known"),
        (b'{"version":1e999}', "version that is not known"),
        (b'{"version":NaN}', "NaN is no number"),
        (b'{"version":true}', "version that is not known"),
        (b'{"version":7}', "version that is not known"),
        (b"{}", "version that is not known"),
        (b'{"version":6}', "it has no graphicsPipelines"),
        (b'{"version":6,"graphicsPipelines":{}}', "it has no 1234567890abcdef"),
        (b'{"version":6,"graphicsPipelines":7}', "graphicsPipelines is no object"),
        (b'{"version":6,"version":6}', "stands twice"),
        (GOOD.replace(b'"subpass":0', b'"subpass":0,"subpass":0'), "stands twice"),
        (GOOD.replace(b'"name"', b'"name":"main","name"', 1), "stands twice"),
        (GOOD.decode().encode("utf-16"), "not UTF-8"),
        (b"\xef\xbb\xbf" + GOOD, "BOM"),
        (GOOD[:-1], "JSON is not right"),
        (GOOD + GOOD, "Extra data"),
        (b"[]", "no object"),
        (b" " * (8 << 20) + GOOD, "more than spvlink reads"),
        (b'{"version":6,"a":[' + b"[]," * 1_000_000 + b"[]]}", "it has no graphicsPipelines"),
    ],
)
def test_json_bombs(tmp_path: Path, text: bytes, why: str) -> None:
    path = tmp_path / "in.foz"
    path.write_bytes(archive(*surroundings(), entry(6, KEY, text)))
    with Archive([str(path)]) as opened:
        (found,) = opened.pipelines()
    assert found.reason is not None and why in found.reason
    assert "\n" not in found.reason and len(found.reason) < 250


def test_bombs_in_what_it_refers_to(tmp_path: Path) -> None:
    path = tmp_path / "in.foz"
    bomb = b'{"version":6,"a":' + b"[" * 100_000
    parts = surroundings()
    for tag, hash in ((3, LAYOUT), (2, SET), (5, PASS), (0, writing.APPLICATION), (4, VERTEX)):
        path.write_bytes(archive(entry(tag, hash, bomb), *parts, pipeline()))  # the first wins
        with Archive([str(path)]) as opened:
            (found,) = opened.pipelines()
            assert (found.reason is None) == (tag in (0, 4))
