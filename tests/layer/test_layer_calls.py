"""What the Vulkan layer does with each way to ask for a pipeline, seen by the driver below it: what
it does not know stays as it was, and a refusal ends with the original (layer_calls.c)."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spvlink.archive import numbers
from spvlink.archive.archive import Archive
from spvlink.layer import places, wire
from spvlink.layer.recorded import LayerSettings, request_of
from tests.archive import writing
from tests.support.layer_client import Calls
from tests.support.layer_place import socket_of

Fields = dict[str, Any]
ANY = "any"
GPUS = (ANY, "radv", "mali", "turnip", "v3d", "intel", "nvidia", "apple", "powervr")
LINKED, UNTOUCHED = "linked", "untouched"
ONCE = "result 0, 1 0"
DONE, AT_THE_END = "result 0, 1 calls", "Locations at the end"
EXPECTED = {
    "modules": LINKED,
    "inline": LINKED,
    "flags 2": LINKED,
    "flags 2, pipeline binaries are captured": LINKED,
    "flags 2, an execution graph": UNTOUCHED,
    "flags 2, descriptor heaps": LINKED,
    "pipeline binaries, none": LINKED,
    "pipeline binaries": UNTOUCHED,
    "something unknown on the pipeline": UNTOUCHED,
    "robustness": LINKED,
    "optimization disabled": UNTOUCHED,
    "a library that says nothing of its parts": UNTOUCHED,  # its stages are ignored
    "link-time optimization": LINKED,
    "feedback": LINKED,
    "feedback is handed on": "1",
    "rasterizer discard": LINKED,
    "provoking vertex": LINKED,
    "something unknown on the rasterizer": UNTOUCHED,
    "no rasterization state": LINKED,
    "no fragment shader": LINKED,
    "identifier": UNTOUCHED,
    "robustness of a stage": LINKED,
    "subgroup size": LINKED,
    "size is handed on": "1",
    "inline, subgroup size": LINKED,
    "unknown stage flag": UNTOUCHED,
    "module with a validation cache": LINKED,
    "module with something unknown": UNTOUCHED,
    "inline with something unknown": UNTOUCHED,
    "set layout with something unknown": UNTOUCHED,
    "set layout for push descriptors": LINKED,
    "set layout of bindings that differ by stage": UNTOUCHED,
    "layout with something unknown": UNTOUCHED,
    "layout with an unknown flag": UNTOUCHED,
    **{f"heap, source {source}": LINKED for source in range(12)},
    "heap, other samplers": LINKED,
    "heap, other bindings": LINKED,
    "heap, an entry with more": LINKED,
    "heap, no buffers": LINKED,
    "heap, inline": LINKED,
    "all is handed on": "1 1",
    # one call with the linked modules, one with the original ones
    "refused once": f"{UNTOUCHED}, {ONCE}, 2 calls, base -1",
    "refused, then again": f"{UNTOUCHED}, {ONCE}, 3 calls, base -1",  # not tried a second time
    "refused always": f"{UNTOUCHED}, result -13, 0 0, 2 calls, base -1",
    "derivatives": f"{UNTOUCHED}, result 0, 1 1, 2 calls, base 0",  # the whole call again
    # VK_PIPELINE_COMPILE_REQUIRED is no refusal: later it is linked
    "compile required": f"{UNTOUCHED}, result 1000297000, 0 0, 2 calls, base -1",
    "compile required, then compiled": f"{LINKED}, {ONCE}, 3 calls, base -1",
    "allocator": LINKED,
    "allocator is handed on": "1, modules of the layer have none: 1",
    "other code behind an old handle": UNTOUCHED,  # two producers: nothing can be linked
    "the first code behind it again": LINKED,
    "one handle on two devices": "1",
    "second device": LINKED,
    "first device": LINKED,
    "objects, all stages": f"{LINKED}, {DONE}, 2 {AT_THE_END}",
    # what the last one gives is for somebody whom nobody knows: all three outputs stay
    "objects, a fragment shader of its own follows": f"{LINKED}, {DONE}, 4 {AT_THE_END}",
    "objects, a vertex shader of its own stands before": f"{LINKED}, {DONE}, 3 {AT_THE_END}",
    "objects, nothing follows": f"{LINKED}, {DONE}, 0 {AT_THE_END}",
    "objects, not linked": f"{UNTOUCHED}, {DONE}, 3 {AT_THE_END}",
    "objects, one that others follow": f"{UNTOUCHED}, {DONE}, 4 {AT_THE_END}",
    "objects, one that nothing follows": f"{LINKED}, {DONE}, 1 {AT_THE_END}",
    "objects, with something unknown": f"{UNTOUCHED}, {DONE}, 3 {AT_THE_END}",
    "objects, in a heap": f"{LINKED}, {DONE}, 2 {AT_THE_END}",
    "objects, in a heap, mapped otherwise": f"{LINKED}, {DONE}, 2 {AT_THE_END}",
    "objects, a subgroup size": f"{LINKED}, {DONE}, 2 {AT_THE_END}",
    "objects, refused once": f"{UNTOUCHED}, result 0, 2 calls, 3 {AT_THE_END}",
    "objects, refused before": f"{UNTOUCHED}, {DONE}, 3 {AT_THE_END}",
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calls]:
    made = Calls(tmp_path_factory.mktemp("calls"))
    yield made
    made.place.close()


@pytest.fixture(scope="module")
def said(calls: Calls) -> dict[str, str]:
    return calls.said("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def test_every_case_is_there(said: dict[str, str]) -> None:
    assert said.keys() == EXPECTED.keys()


@pytest.mark.parametrize("case", EXPECTED)
def test_what_the_driver_gets(case: str, said: dict[str, str]) -> None:
    assert said[case] == EXPECTED[case]


def recorded(calls: Calls, vertex: Fields, fragment: Fields, gpu: str = ANY) -> bytes:
    """The key of a pipeline with these entries of its stages' mappings, recorded."""
    entries = {writing.VERTEX: vertex, writing.FRAGMENT: fragment}
    robust = {"sType": numbers.ROBUSTNESS, "images": 3, "storageBuffers": 1}
    robust |= {"uniformBuffers": 2, "vertexInputs": 3}
    stages = [
        writing.stage(
            1 if module == writing.VERTEX else 16,
            module,
            pNext=[{"sType": numbers.HEAP_MAPPING, "mappings": [entry]}, robust],
        )
        for module, entry in entries.items()
    ]
    codes = [Path(calls.modules[at]).read_bytes() for at in (0, 2)]
    modules = [
        writing.entry(4, key, writing.module(key, code)) for key, code in zip(entries, codes)
    ]
    wide = {"sType": numbers.FLAGS_2, "flags": numbers.IN_HEAP}
    path = calls.folder / "heap.foz"
    made = writing.pipeline(
        stages=stages, layout=writing.ZERO, renderPass=writing.ZERO, pNext=[wide]
    )
    path.write_bytes(writing.archive(*modules, made))
    with Archive([str(path)]) as archive:
        (pipeline,) = archive.pipelines()
        assert pipeline.reason is None
        identity = places.identity(str(calls.folder / "cache/spvlink/linked"))
        request = request_of(archive, pipeline, identity, LayerSettings(gpu=gpu))
        return wire.read_key(wire.write_request(request))[0]


NAMES = ("heapOffset", "pushOffset", "addressOffset", "heapIndexStride", "heapArrayStride")
DATA: dict[int, Fields] = {  # of the sources, numbers 8, 16, 24 ... in the order of the structures
    0: {"constantOffset": {"heapOffset": 8, "heapArrayStride": 16}},
    1: {"pushIndex": dict(zip(("heapOffset", "pushOffset", *NAMES[3:]), range(8, 40, 8)))},
    2: {"indirectIndex": dict(zip(NAMES, range(8, 48, 8)))},
    3: {"indirectIndexArray": dict(zip(NAMES[:4], range(8, 40, 8)))},
    4: {"heapData": {"heapOffset": 8, "pushOffset": 16}},
    5: {"pushDataOffset": 8},
    6: {"pushAddressOffset": 8},
    7: {"indirectAddress": {"pushOffset": 8, "addressOffset": 16}},
    8: {"shaderRecordIndex": {"heapOffset": 8}},
    9: {"shaderRecordDataOffset": 8},
    11: {},
}


def mapped(source: int, **change: Any) -> Fields:
    """As ``heap_entry`` of tests/layer/layer_heap.h."""
    fields: Fields = {"descriptorSet": 2, "firstBinding": 3, "bindingCount": 2}
    return fields | {"resourceMask": 32, "source": source, "sourceData": DATA[source]} | change


@pytest.mark.usefixtures("said")
def test_mappings_have_the_keys_of_recorded_ones(calls: Calls) -> None:
    """What the layer writes of a stage's mapping is what an archive says of it, source by source;
    what is not known of a source is one key, and so is what says nothing of buffers."""
    cached = {path.parent.name + path.name for path in calls.place.cached()}
    keys = {source: recorded(calls, mapped(source), mapped(source)) for source in DATA}
    assert {key.hex() for key in keys.values()} <= cached
    assert len(set(keys.values())) == 9 and keys[8] == keys[9] == keys[11]
    sampler = {"indirectIndex": DATA[2]["indirectIndex"] | {"samplerHeapArrayStride": 77}}
    assert recorded(calls, mapped(2), mapped(2, sourceData=sampler)) == keys[2]
    other = recorded(calls, mapped(2), mapped(2, firstBinding=4))
    bank = {"pNext": [{"sType": 1000580000, "bank": 0}]}
    more = recorded(calls, mapped(2, **bank), mapped(2, **bank))
    none = recorded(calls, mapped(2, resourceMask=31), mapped(2, resourceMask=31))
    assert more == keys[8] and {other.hex(), none.hex()} <= cached
    assert len({*keys.values(), other, none}) == 11
    assert recorded(calls, mapped(2), mapped(0)).hex() not in cached


@pytest.mark.parametrize(
    ("driver", "gpu"), [("3", "radv"), ("20", "mali"), ("13", ANY), ("4294967295", ANY)]
)
def test_the_driver_says_what_modules_are_for(tmp_path: Path, driver: str, gpu: str) -> None:
    calls = Calls(tmp_path)
    try:
        calls.said(DRIVER_ID=driver)
        cached = {path.parent.name + path.name for path in calls.place.cached()}
        keys = {one: recorded(calls, mapped(2), mapped(2), one).hex() for one in GPUS}
        assert len(set(keys.values())) == len(GPUS)
        assert [one for one in GPUS if keys[one] in cached] == [gpu]
    finally:
        calls.place.close()


@pytest.mark.usefixtures("said")
def test_what_is_unknown_is_counted_by_name(calls: Calls) -> None:
    new = "sType 1999999000"
    places = ("a pipeline", "a stage", "a module", "a set layout", "a pipeline layout")
    places += ("the rasterization state", "a shader object")
    assert calls.place.log()["unknown"] == {
        **{f"{new} on {place}": 1 for place in places},
        "creation flag 4294967296 on a pipeline": 1,
        "creation flag 256 on a stage": 1,
        "creation flag 64 on a set layout": 1,
        "creation flag 256 on a pipeline layout": 1,
    }
    assert f"unknown: {new} on a stage" in calls.place.spvlink("layer", "log")


def test_as_a_program_of_32_bits(tmp_path: Path) -> None:
    """The keys are the same, so what a program of 64 bits left in the cache is found, without any
    linker process; and with an empty cache nothing is linked then."""
    word = ["cc", "-m32", "-x", "c", "-", "-o", str(tmp_path / "a.out")]
    if subprocess.run(
        word, input=b"#include <stdio.h>\nint main() {}", capture_output=True
    ).returncode:
        pytest.skip("cc makes no program of 32 bits here (package gcc-multilib)")
    calls = Calls(tmp_path)
    try:
        assert calls.said() == EXPECTED
        asked = calls.place.log()
        nobody = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
        os.kill(int(Path(socket_of(calls.place)).with_suffix(".lock").read_text()), signal.SIGKILL)
        assert calls.said("-m32", **nobody) == EXPECTED
        log = calls.place.log()
        assert log["misses"] == 0 and log["hits"] == asked["hits"] + asked["misses"], log
        for name in ("linked", "parts", "refused", "not_in_time"):
            assert log[name] == asked[name], name
        assert log["linked"] > 10
        nobody["VK_SPVLINK_STAGE_LINK_CACHE_DIR"] = str(tmp_path / "empty")
        assert calls.said("-m32", **nobody)["modules"] == UNTOUCHED
    finally:
        calls.place.close()
