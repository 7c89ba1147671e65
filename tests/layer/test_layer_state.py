"""Archives and the layer read one state: every structure, flag and dynamic state of Vulkan's
registry (vulkan_registry/numbers.txt), and what is not in it, is known to both or makes both leave
a pipeline as it is."""

from __future__ import annotations

import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spvlink.layer.wire import Request
from spvlink.layer.work import options_of
from tests.archive.writing import VERTEX, stage
from tests.support.archive_structures import read
from tests.support.layer_client import Calls
from tests.support.layer_place import build_with_layer

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = ROOT / "vulkan_registry"
KNOWN = tomllib.loads((REGISTRY / "known.toml").read_text())
NUMBERS = [line.split() for line in (REGISTRY / "numbers.txt").read_text().splitlines()]
UNKNOWN = 1999999000  # in no registry
# What a structure has to say so that nothing but its being there counts: a library of all shaders.
VALUES = {"VkGraphicsPipelineLibraryCreateInfoEXT": 6}
STREAM, DISCARD, DYNAMIC_STREAM, DYNAMIC_DISCARD = 1000028002, 1, 1000455013, 1000377001
OWN_REASON = {0x1, 0x800}  # not optimized; a library that does not say what it holds
FLAGS = {"pipeline": "PIPELINE", "stages": "STAGE", "setLayout": "SET", "layout": "LAYOUT"}
NOT_RECORDED = ("module", "shader")  # by Fossilize
NO_PROBE = ("renderPass", "sampleLocationsInfo", "shader", "mappings", "embeddedSampler")
FIELDS = {
    "flags": 6,
    "viewMask": 0,
    "rasterizationStream": 0,
    "libraries": [],
    "patchControlPoints": 3,
}
Item = tuple[str, str, int, int]  # place, kind, number, value


class Probe:
    """``items``: what one call says. ``linked``: whether it is to be linked, in an archive and in a
    running program; None: it cannot be said there."""

    def __init__(self, name: str, archive: bool | None, running: bool | None, *items: Item) -> None:
        self.name = name
        self.archive = archive
        self.running = running
        self.items = items


def structures() -> list[Probe]:
    """Each at each place that the registry allows, and an unknown one at every place."""
    made: list[Probe] = []
    for place, one in KNOWN["place"].items():
        owners = one["owners"].split()
        there = {
            row[3]: int(row[2]) for row in NUMBERS if row[0] == "structure" and row[1] in owners
        }
        for name, number in (there | {"unknown": UNKNOWN}).items():
            known = name in one.get("transparent", {}) or name in one.get("read", {})
            running = known or name in one.get("running", {}) or bool(one.get("unseen"))
            if name in one.get("running", {}):
                known = False  # Fossilize does not record it
            item = place, "structure", number, VALUES.get(name, 0)
            archive = None if place in NOT_RECORDED else known
            seen = None if place in NO_PROBE else running
            made.append(Probe(f"{place}.{name}", archive, seen, item))
    return made


def flags() -> list[Probe]:
    """Every bit, named or not."""
    made: list[Probe] = []
    for place, kind in FLAGS.items():
        one = KNOWN["flags"][kind]
        names = [one["start"] + name for name in one["known"].split()]
        known = {int(row[2], 16) for row in NUMBERS if row[0] == "bit" and row[3] in names}
        known -= OWN_REASON if place == "pipeline" else set()
        assert known
        for bit in (1 << n for n in range(32)):
            item = place, "flags", bit, 0
            made.append(Probe(f"{place}.flags.{bit:#x}", bit in known, bit in known, item))
        for bit in (1 << n for n in range(64 if place == "pipeline" else 0)):
            item = place, "flags2", bit, 0
            made.append(Probe(f"{place}.flags2.{bit:#x}", bit in known, bit in known, item))
    return made


def dynamic_states() -> list[Probe]:
    one = KNOWN["dynamic"]
    names = [one["start"] + name for name in one["known"].split()]
    there = {row[3]: int(row[2]) for row in NUMBERS if row[1] == "VkDynamicState"}
    return [
        Probe(f"changing.{name}", name in names, name in names, ("", "changing", number, 0))
        for name, number in (there | {"unknown": UNKNOWN}).items()
    ]


def combinations() -> list[Probe]:
    """Where one thing says what another one means."""

    def both(name: str, linked: bool, *items: Item) -> Probe:
        return Probe(name, linked, linked, *items)

    state = "rasterizationState"
    none, discard = (state, "none", 0, 0), (state, "discard", DISCARD, 0)
    alone = ("stages", "count", 1, 0)
    changing = ("", "changing", DYNAMIC_DISCARD, 0)
    other_stream = (state, "structure", STREAM, 1)
    return [
        both("nothing", True),
        both("discard", True, discard),
        both("discard.dynamic", True, discard, changing),
        both("discard.alone", True, discard, alone),
        both("alone", True, alone),
        both("none", True, none),
        both("none.stream", False, none, ("", "changing", DYNAMIC_STREAM, 0)),
        both("stream", False, other_stream),
        both("stream.dynamic", False, other_stream, ("", "changing", DYNAMIC_STREAM, 0)),
        both("stream.alone", False, other_stream, alone),
    ]


PROBES = [*structures(), *flags(), *dynamic_states(), *combinations()]


def mapped(place: str, chain: list[dict[str, Any]]) -> dict[str, Any]:
    """A mapping whose only entry, or its sampler, has that pNext."""
    data: dict[str, Any] = {"heapOffset": 0, "heapArrayStride": 0}
    entry: dict[str, Any] = {"descriptorSet": 0, "firstBinding": 0, "bindingCount": 1}
    entry |= {"resourceMask": 0x7FFFFFFF, "source": 0, "sourceData": {"constantOffset": data}}
    (entry if place == "mappings" else data.setdefault(place, {}))["pNext"] = chain
    return {"sType": 1000135006, "mappings": [entry]}


def recorded(items: tuple[Item, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what is around the pipeline, the change of it) in an archive."""
    around: dict[str, Any] = {}
    change: dict[str, Any] = {}
    raster: dict[str, Any] = {"flags": 0, "rasterizerDiscardEnable": 0, "pNext": []}
    changing: list[int] = []
    for place, kind, number, value in items:
        chain = [
            {"sType": number} | FIELDS | ({"rasterizationStream": value} if value == 1 else {})
        ]
        if kind == "structure" and place == "renderPass":
            around["pass"] = {
                "flags": 0,
                "subpasses": [{}],
                "pNext": [{"sType": number, "viewMasks": [0]}],
            }
        elif kind == "structure" and place == "setLayout":
            around["set"] = {"flags": 0, "bindings": [], "pNext": chain}
        elif kind == "structure" and place == "layout":
            around["layout"] = {"flags": 0, "setLayouts": [], "pNext": chain}
        elif kind == "structure" and place == "pipeline":
            change["pNext"] = chain
        elif kind == "structure" and place == "stages":
            change["stages"] = [stage(1, VERTEX, pNext=chain)]
        elif kind == "structure" and place in ("mappings", "embeddedSampler"):
            change["stages"] = [stage(1, VERTEX, pNext=[mapped(place, chain)])]
        elif kind == "structure" and place == "rasterizationState":
            raster["pNext"] += chain
        elif kind == "structure" and place == "dynamicState":
            change["dynamicState"] = {"flags": 0, "dynamicState": [], "pNext": chain}
        elif kind == "structure" and place == "sampleLocationsInfo":
            change["multisampleState"] = {
                "flags": 0,
                "pNext": [{"sType": 1000143002, place: {"pNext": chain}}],
            }
        elif kind == "structure":
            change[place] = {"flags": 0, "pNext": chain} | FIELDS
        elif kind == "flags" and place == "stages":
            change["stages"] = [stage(1, VERTEX, flags=number)]
        elif kind == "flags" and place == "pipeline":
            change["flags"] = number
        elif kind == "flags":
            name = "set" if place == "setLayout" else "layout"
            around[name] = {"flags": number, "bindings": [], "setLayouts": []}
        elif kind == "flags2":
            change["pNext"] = [{"sType": 1000470005, "flags": number}]
        elif kind == "changing":
            changing.append(number)
        elif kind == "discard":
            raster["rasterizerDiscardEnable"] = number
        elif kind == "count":
            change["stages"] = [stage(1, VERTEX)]
        elif kind == "none":
            change["rasterizationState"] = None
    if changing:
        change["dynamicState"] = {"flags": 0, "dynamicState": changing}
    return around, {"rasterizationState": raster} | change


def test_what_archives_make_of_it(tmp_path: Path) -> None:
    wrong = []
    for probe in PROBES:
        if probe.archive is not None:
            around, change = recorded(probe.items)
            reason = read(tmp_path, around, **change).reason
            if (reason is None) != probe.archive:
                wrong.append((probe.name, reason))
    assert not wrong


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What became of each probe in a program with the layer."""
    folder = tmp_path_factory.mktemp("state")
    calls, file = Calls(folder), folder / "probes"
    file.write_text(
        "".join(
            " ".join([probe.name, *(":".join(map(str, item)) for item in probe.items)]) + "\n"
            for probe in PROBES
            if probe.running is not None
        ).replace(" :", " -:")
    )
    try:
        program = build_with_layer("layer_calls.c", folder, "-O0")
        lines = calls.place.program("setarch", "-R", program, *calls.modules, str(file))
        return dict(line.split(": ", 1) for line in lines.splitlines())
    finally:
        calls.place.close()


def test_what_the_layer_makes_of_it(said: dict[str, str]) -> None:
    expected = {
        probe.name: "linked" if probe.running else "untouched"
        for probe in PROBES
        if probe.running is not None
    }
    assert said.keys() == expected.keys() and len(expected) > 200
    assert {name: what for name, what in said.items() if what != expected[name]} == {}


def test_the_linker_process_assumes_no_views() -> None:
    """Nobody tells it of render passes, nor of VIEW_INDEX_FROM_DEVICE_INDEX."""
    options = options_of(Request())
    assert options.view_mask is None and options.patch_points is None


def test_numbers_are_those_of_the_installed_registry() -> None:
    """An older one: where both name a thing, its number is the same."""
    installed = Path("/usr/share/vulkan/registry/vk.xml")
    if not installed.is_file():
        pytest.skip("the package libvulkan-dev brought no registry")
    loader = SourceFileLoader("import_vulkan", str(ROOT / "scripts" / "import-vulkan"))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    there = [line.split() for line in module.lines_of(module.Registry(installed))]
    numbers = {name: number for _, _, number, name in NUMBERS}
    common = [name for _, _, number, name in there if numbers.get(name) == number]
    assert len(common) > 100
    # promoted ones have other names; of one name there is one number
    assert not [row for row in there if numbers.get(row[3], row[2]) != row[2]]


def test_where_they_may_differ() -> None:
    """Only in what Fossilize records otherwise or not at all, and in what is newer than the
    registry on fixed functions, whose pointers the layer cannot follow."""
    both = [p for p in PROBES if p.archive is not None and p.running is not None]
    differ = {p.name for p in both if p.archive != p.running}
    unseen = {place for place, one in KNOWN["place"].items() if one.get("unseen")}
    allowed = {f"stages.{name}" for name in KNOWN["place"]["stages"]["running"]}
    allowed |= {f"{place}.unknown" for place in unseen}
    assert differ <= allowed and len(both) > 200
