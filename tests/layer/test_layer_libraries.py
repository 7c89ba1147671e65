"""Pipeline libraries of half the shaders: linked against frozen interfaces that were recorded, and
joined so only where both halves are; else the application's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from spvlink.archive.archive import Archive
from spvlink.archive.records import ArchivedPipeline
from spvlink.errors import Usage
from spvlink.layer import libraries, places, warm, wire
from spvlink.layer.recorded import LayerSettings, request_of
from spvlink.layer.store import LayerCache
from tests.archive import writing
from tests.support.joint_inputs import INPUTS
from tests.support.layer_place import Place, assert_same, build_with_layer
from tests.support.layer_validation import python_with_validation
from tests.support.linking import fragment

RECORDED = writing.RECORDED.with_name("libraries.foz")
NOBODY = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
PROGRAM = (sys.executable, "-m", "tests.render.library_program")
EXACT = ("--exact",)
# What the archive has never seen: a fragment shader that reads what the others do not.
STRANGER = INPUTS + "void main() { o = lit + gone; }"
KNOWN = ("ax", "ay", "bx")  # pairs of the archive
PAIRS = (*KNOWN, "by")  # and one of modules that it has


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """a, b: the vertex shaders of the archive; x, y: its fragment shaders; z is in none."""
    folder = tmp_path_factory.mktemp("modules")
    with Archive([str(RECORDED)]) as archive:
        recorded = {p.key: p for p in archive.pipelines()}
        joins: dict[str, set[str]] = {}
        for pipeline in recorded.values():
            halves = [recorded[key] for key in pipeline.libraries if recorded[key].part]
            if halves:
                before, behind = sorted(halves, key=lambda half: half.part)
                joins.setdefault(before.stages[0].module, set()).add(behind.stages[0].module)
        (b, only), (a, both) = sorted(joins.items(), key=lambda item: len(item[1]))
        (x,) = only
        (y,) = both - only
        found = {name: archive.module(key) for name, key in zip("abxy", (a, b, x, y))}
    found["z"] = fragment(STRANGER)
    paths = {name: folder / f"{name}.spv" for name in found}
    for name, code in found.items():
        paths[name].write_bytes(code)
    return paths


def command(out: Path, modules: dict[str, Path], pairs: tuple[str, ...]) -> list[str]:
    named = [",".join(str(modules[name]) for name in pair) for pair in pairs]
    return [*PROGRAM, str(out), *named]


def assert_equal_ways(path: Path, count: int, exact: bool = True) -> None:
    """Joined fast, joined with optimization, and whole: DXVK uses all three, one for another. A
    whole pipeline that is not linked exactly has code moved, and is rounded otherwise."""
    pictures = np.load(path)
    for number in range(count):
        assert pictures[f"{number}/fast/good"]
        for way in ("optimized", "whole"):
            first, other = (pictures[f"{number}/{w}/color0"] for w in ("fast", way))
            if way == "whole" and not exact:
                assert np.abs(first - other).max() < 1e-5
            else:
                assert first.tobytes() == other.tobytes(), (number, way)


def assert_same_libraries(a: Path, b: Path) -> None:
    """What is joined of libraries; to the bit, since of these shaders nothing is rounded anew."""
    before, after = np.load(a), np.load(b)
    for name in before:
        if "/whole/" not in name:
            assert before[name].tobytes() == after[name].tobytes(), name


@pytest.mark.parametrize("options", [(), ("--exact",)])
def test_libraries_are_joined_with_others_of_their_interface(
    options: tuple[str, ...], place: Place, modules: dict[str, Path], tmp_path: Path
) -> None:
    plain, cold, warm = (tmp_path / f"{n}.npz" for n in ("plain", "cold", "warm"))
    place.program(*command(plain, modules, PAIRS))
    log = place.layered(*command(cold, modules, PAIRS), options=options, **NOBODY)
    assert log["frozen"] == log["joined"] == log["joined_as_it_was"] == 0
    said = place.spvlink("layer", "warm", *options, str(RECORDED))
    assert "4 libraries that hold half of the shaders, 4 of them linked against 1 frozen" in said
    log = place.layered(*command(warm, modules, PAIRS), options=options, **NOBODY)
    assert log["frozen"] == log["parts"] == 4 and log["joined"] == 2 * len(PAIRS), log
    assert log["joined_as_it_was"] == 0
    assert log["linked"] >= len(KNOWN)  # the whole ones
    for path in (plain, cold, warm):
        assert_equal_ways(path, len(PAIRS), bool(options))
    assert_same(plain, cold)
    assert_same_libraries(plain, warm)
    if options:
        assert_same(plain, warm)
    other = () if options else ("--exact",)  # is asked for under another key
    assert place.layered(*command(cold, modules, PAIRS), options=other, **NOBODY)["frozen"] == 0


def test_a_partner_that_was_never_recorded_gets_the_original(
    place: Place, modules: dict[str, Path], tmp_path: Path
) -> None:
    """Also where it comes first, and the recorded ones again after it."""
    pairs = ("az", "ax", "bz", "by", "az")
    plain, warm = tmp_path / "plain.npz", tmp_path / "warm.npz"
    place.program(*command(plain, modules, pairs))
    place.spvlink("layer", "warm", "--exact", str(RECORDED))
    log = place.layered(*command(warm, modules, pairs), options=EXACT, **NOBODY)
    assert log["frozen"] == 4 and log["joined"] == 2 * 2 and log["joined_as_it_was"] == 2 * 3, log
    assert_same(plain, warm)
    assert_equal_ways(warm, len(pairs))
    text = place.spvlink("layer", "log")
    assert "4 libraries in two versions; 4 pipelines made of linked libraries, 6 of the" in text


def test_the_linked_libraries_are_what_draws(
    place: Place, modules: dict[str, Path], tmp_path: Path
) -> None:
    """With b's linked module in the place of a's, a draws as b does."""
    warm = tmp_path / "warm.npz"
    place.spvlink("layer", "warm", "--exact", str(RECORDED))
    answers = halves(place)
    data = {name: answers[name].read_bytes() for name in "ab"}
    code = data["b"][data["b"].index(b"\x03\x02\x23\x07", 70) : -16]
    answers["a"].write_bytes(answer_like(data["a"], code))
    place.layered(*command(warm, modules, ("ax", "bx")), options=EXACT, **NOBODY)
    pictures = np.load(warm)
    assert np.array_equal(pictures["0/fast/color0"], pictures["1/fast/color0"])
    assert not np.array_equal(pictures["0/fast/color0"], pictures["0/whole/color0"])


def test_the_validation_layer_below_reports_nothing_new(
    place: Place, modules: dict[str, Path], tmp_path: Path
) -> None:
    """Nor is a library left when the device goes."""
    plain, warm = tmp_path / "plain.npz", tmp_path / "warm.npz"
    python, variables = python_with_validation()
    variables["RENDER_VALIDATE"] = "1"
    pairs = (*PAIRS, "az")
    place.program(*python, *command(plain, modules, pairs)[1:], **variables)
    place.spvlink("layer", "warm", "--exact", str(RECORDED))
    log = place.layered(*python, *command(warm, modules, pairs)[1:], options=EXACT, **variables)
    assert log["joined"] == 2 * len(PAIRS) and log["joined_as_it_was"] == 2
    assert np.load(plain)["messages"].tolist() == np.load(warm)["messages"].tolist()


# -- damage ----------------------------------------------------------------------------------------


def halves(place: Place) -> dict[str, Path]:
    """The files of the four libraries in the cache, by the names of their modules."""
    with Archive([str(RECORDED)]) as archive:
        found, _ = libraries.families(archive, places.identity(), LayerSettings(exact=True))
        (family,) = found
        recorded = [p for p in archive.pipelines() if p.part]
        named: dict[str, Path] = {}
        for names, requests in (("ab", family.producers), ("xy", family.consumers)):
            assert len(requests) == 2
            for data in requests:
                key = wire.read_key(data)[0].hex()
                path = place.folder / "cache/spvlink/linked" / key[:2] / key[2:]
                same = [p for p in recorded if request_data(archive, p) == data]
                count = sum(same[0].key in p.libraries for p in archive.pipelines())
                # a and x have two partners
                named[names[0] if (count == 4) else names[1]] = path
    return named


def request_data(archive: Archive, recorded: ArchivedPipeline) -> bytes:
    return wire.write_request(
        request_of(archive, recorded, places.identity(), LayerSettings(exact=True))
    )


def answer_like(
    old: bytes, code: bytes | None = None, status: int = wire.FROZEN, name: str | None = None
) -> bytes:
    """An answer of the same key, sealed, with other contents."""
    key, reason = old[8:40], wire.reason_of(old)
    bit = int.from_bytes(old[68:72], "little")
    code = old[old.index(b"\x03\x02\x23\x07", 70) : -16] if code is None else code
    stages = [] if status == wire.PASSED_THROUGH else [(bit, code)]
    text = reason if name is None else name
    return wire.write_answer(key, status, text, (4, 2, 2, 1), stages)


DAMAGED = {
    "cut off": lambda old: old[: len(old) // 2],
    "empty": lambda old: b"",
    "not sealed": lambda old: old[:100] + bytes([old[100] ^ 1]) + old[101:],
    "an answer for a whole pipeline": lambda old: answer_like(old, status=wire.LINKED),
    "a refusal": lambda old: answer_like(old, status=wire.PASSED_THROUGH, name="no"),
    "an interface without a name": lambda old: answer_like(old, name=""),
    "a name that is too long": lambda old: answer_like(old, name="0" * 900),
    "no code": lambda old: answer_like(old, code=bytes(24)),
}


def test_damage_costs_only_what_is_damaged(
    place: Place, modules: dict[str, Path], tmp_path: Path
) -> None:
    plain, warm = tmp_path / "plain.npz", tmp_path / "warm.npz"
    place.program(*command(plain, modules, ("ax", "bx")))
    place.spvlink("layer", "warm", "--exact", str(RECORDED))
    path = halves(place)["a"]
    good = path.read_bytes()
    for name, damage in DAMAGED.items():
        path.write_bytes(damage(good))
        log = place.layered(*command(warm, modules, ("ax", "bx")), options=EXACT, **NOBODY)
        assert log["frozen"] == 2 and log["joined"] == 2 and log["joined_as_it_was"] == 2, name
        assert log["events"] == {"a damaged file in the cache; it was removed": 1}, name
        assert not path.exists()
        assert_same(plain, warm)


def test_halves_of_two_interfaces_do_not_meet(
    place: Place, modules: dict[str, Path], tmp_path: Path
) -> None:
    """As if a had been linked for another archive."""
    plain, warm = tmp_path / "plain.npz", tmp_path / "warm.npz"
    place.program(*command(plain, modules, ("ax", "bx")))
    place.spvlink("layer", "warm", "--exact", str(RECORDED))
    path = halves(place)["a"]
    path.write_bytes(answer_like(path.read_bytes(), name="0" * 64))
    log = place.layered(*command(warm, modules, ("ax", "bx")), options=EXACT, **NOBODY)
    assert log["frozen"] == 3 and log["joined"] == 2 and log["joined_as_it_was"] == 2, log
    assert not log["events"]
    assert_same(plain, warm)


def test_of_a_recorded_program_the_keys_are_those_of_the_layer(place: Place) -> None:
    """With set layouts and push constants, as Fossilize wrote them down."""
    from tests.archive import record
    from tests.archive.writing import RECORDED as WHOLE
    from tests.support.chains import build

    with Archive([str(WHOLE)]) as archive:
        known = {archive.module(s.module) for p in archive.pipelines() for s in p.stages}
    if not set(build(record.NAMES[0])) <= known:
        pytest.skip("tests/archive/recorded.foz was recorded with another glslang")
    assert "2 libraries" in place.spvlink("layer", "warm", "--exact", str(WHOLE))
    program = (sys.executable, "-m", "tests.archive.record", "--draw")
    log = place.layered(*program, options=EXACT, **NOBODY)
    assert log["frozen"] == 2 and log["joined"] == 1 and log["joined_as_it_was"] == 0, log


# -- seen by a driver ------------------------------------------------------------------------------

OWN, LINKED, DONE = "V F 0 behind 0", "linked linked 0 behind 0", "0 behind 0"
# tests/layer/layer_libraries.c: what each pipeline is made from, V F O for the application's own
# modules, the result, and how many structures stand before the libraries
EXPECTED = {
    "both halves": LINKED,
    "one half": f"V {DONE}",
    "an unknown partner": f"V O {DONE}",
    "two of one side": f"V V {DONE}",
    "three halves": f"V V F {DONE}",
    "too many": f"V F {'O ' * 7}{DONE}",
    "behind others": "linked linked 0 behind 2",
    "before something unknown": OWN,
    "behind something unknown": "V F 0 behind 1",
    "refused": OWN,
    "refused always": "-13 behind 0",
    "and again": LINKED,
    "alive": "7",
    "left": "0",
    "made in one call": LINKED,
    "one of two is refused": "0 1, alive: 2",
    "left by calls": "0",
    "one handle": "1",
    "after one of two destroys": LINKED,
    "left by one handle": "0",
    "a derivative": OWN,
    "not optimized": OWN,
    "the own one is refused": "0, alive: 2",
    "the linked one is refused": OWN,
    "after that": OWN,
    "left by libraries": "0",
}


def test_what_a_driver_gets(place: Place, modules: dict[str, Path], tmp_path: Path) -> None:
    """With sanitizers: what is left or used too late ends the program."""
    family = libraries.LibraryFamily()
    for name, bit, side in (("a", 1, family.producers), ("x", 16, family.consumers)):
        request = wire.Request()
        request.identity, request.half = places.identity(), True
        stage = wire.RequestStage()
        stage.bit, stage.entry, stage.code = bit, "main", modules[name].read_bytes()
        request.stages.append(stage)
        side.append(wire.write_request(request))
    frozen = libraries.link_family(family)
    assert len(frozen.answers) == 2, frozen.reasons
    store = LayerCache(str(place.folder / "cache/spvlink/linked"), 1 << 20)
    for key, answer in frozen.answers:
        store.put(key, answer)
    flags = "-fsanitize=address,undefined", "-fno-sanitize-recover=all"
    program = build_with_layer("layer_libraries.c", tmp_path, *flags)
    words = [str(modules[name]) for name in "axz"]
    said = place.program("setarch", "-R", program, *words, **NOBODY)
    assert dict(line.split(": ", 1) for line in said.splitlines()) == EXPECTED
    log = place.log()
    assert log["events"] == {"the driver refused linked modules; it got the original ones": 1}, log


def test_a_worker_that_dies_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several families, that are linked beside each other."""
    family = libraries.LibraryFamily()
    assert [len(f.answers) for f in warm._each([family, family], 2)] == [0, 0]
    monkeypatch.setattr(libraries, "link_family", die)
    with pytest.raises(Usage, match="died"):
        list(warm._each([family, family], 2))


def die(_: libraries.LibraryFamily) -> libraries.Frozen:
    os._exit(1)
