"""``--variants``: a module that something else has as it is, a pipeline that stays for whatever
reason, counts as one of its versions. So with one version it stays."""

from __future__ import annotations

import json
import struct
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink.archive.archive import Archive
from spvlink.batches import engine, foz, work
from spvlink.batches.families import PipelineFamily
from spvlink.batches.jobs import JobSettings
from spvlink.batches.pipelines import BatchPipeline, Shader, digest_of
from spvlink.batches.slot import Trouble
from spvlink.errors import Refused
from spvlink.pipeline import Linked, Source
from spvlink.sets.link_set import link_versions
from tests.archive import writing
from tests.archive.writing import stage
from tests.support.archive_structures import dynamic, structure
from tests.support.batch_sets import batch, result_lines, write_lines
from tests.support.linking import fragment, vertex
from tests.support.samples import assemble

OUTPUTS = "layout(location = 1) out vec4 lit; layout(location = 2) out vec4 gone;"
READS = "layout(location = 1) in vec4 lit;"
MISFIT = "layout(location = 1) flat in ivec4 lit; void main() { o = vec4(lit); }"


@cache
def compiled() -> tuple[bytes, bytes]:
    """One output is not read."""
    body = "void main() { lit = p * 77.5; gone = p; gl_Position = p; }"
    return vertex(OUTPUTS + body), fragment(f"{READS} void main() {{ o = lit + 77.5; }}")


def shaders(number: int) -> tuple[bytes, bytes]:
    """A vertex and a fragment shader that are those of this number only."""
    old, new = struct.pack("<f", 77.5), struct.pack("<f", number + 0.5)
    vert, frag = (code.replace(old, new) for code in compiled())
    return vert, frag


# -- archives --------------------------------------------------------------------------------------

UNKNOWN = structure(1999999000)
# Why a pipeline stays: a change of it. None: there is nothing of the kind.
REASONS: dict[str, dict[str, Any]] = {
    "optimization disabled": {"flags": 1},
    "an unknown flag": {"flags": 1 << 62},
    "a library": {"flags": 0x800},
    "half a library": {"flags": 0x800, "pNext": [structure(1000320002, flags=2)]},
    "made from libraries": {"pNext": [structure(1000290000, libraries=["1" * 16])]},
    "an unknown structure": {"pNext": [UNKNOWN]},
    "one of a stage": {"stages": "pNext"},
    "an unknown flag of a stage": {"stages": "flags"},
    "an unknown stage": {"stages": "stage"},
    "another stream": {"dynamicState": dynamic(1000455013)},
    "an unknown dynamic state": {"dynamicState": dynamic(1999999000)},
    "no layout": {"layout": "9" * 16},
    "no render pass": {"renderPass": "9" * 16},
    "no partner": {"stages": "partner"},
    "a partner that is damaged": {"stages": "damaged"},
    "a partner that does not fit": {"stages": "misfit"},
    "specialization data that is damaged": {"stages": "spec"},
}
DAMAGED, MISFITTING = 0xD0, 0xD1


def changed(vert: int, frag: int, change: dict[str, Any]) -> dict[str, Any]:
    """The pipeline that stays."""
    one, two = stage(1, vert), stage(16, frag)
    what = change.get("stages")
    if what == "pNext":
        two["pNext"] = [UNKNOWN]
    elif what == "flags":
        two["flags"] = 4
    elif what == "stage":
        two["stage"] = 32
    elif what == "spec":
        two["specializationInfo"] = {"dataSize": 9, "data": "", "mapEntries": []}
    elif what is not None:
        partners = {"partner": 0x99, "damaged": DAMAGED, "misfit": MISFITTING}
        two["module"] = f"{partners[what]:016x}"
    return change | {"stages": [one, two]}


def keys(number: int) -> tuple[int, int]:
    return 0x1000 + number, 0x2000 + number


def written(path: Path) -> None:
    """For each reason a pair of shaders in two pipelines, one of which stays for that reason; one
    more pair that a compute pipeline has, too, and one in two pipelines that may be linked."""
    names = [*REASONS, "compute", "linked"]
    entries = writing.surroundings(**{"pass": {"flags": 0, "subpasses": [{}]}})
    damaged = writing.module(DAMAGED, b"no SPIR-V at all")
    entries.append(writing.entry(4, DAMAGED, damaged))
    entries.append(writing.entry(4, MISFITTING, writing.module(MISFITTING, fragment(MISFIT))))
    for number, name in enumerate(names):
        pair = keys(number)
        entries += [
            writing.entry(4, key, writing.module(key, code))
            for key, code in zip(pair, shaders(number))
        ]
        plain = {"stages": [stage(1, pair[0]), stage(16, pair[1])]}
        entries.append(writing.pipeline(0x3000 + number, **plain))
        if name in REASONS:
            change = changed(*pair, REASONS[name])
            entries.append(writing.pipeline(0x4000 + number, **change))
        elif name == "compute":
            one = {f"{0x5000:016x}": {"flags": 0, "stage": stage(32, pair[0])}}
            entries.append(writing.entry(7, 0x5000, {"version": 6, "computePipelines": one}))
        else:
            entries.append(writing.pipeline(0x4000 + number, **plain | {"flags": 2}))
    path.write_bytes(writing.archive(*entries))


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[str]], Any]:
    """Modules of the pipeline that may be linked, by the reason of the other one; the report."""
    folder = tmp_path_factory.mktemp("kept")
    written(folder / "in.foz")
    words = ("--variants", 1, "--jobs", 2, "--report", folder / "r.json")
    batch(folder / "in.foz", "-o", folder / "out.foz", *words)
    with Archive([str(folder / "out.foz")]) as archive:
        assert not archive.warnings
        found = {
            name: [s.module for s in archive.pipeline(f"{0x3000 + n:016x}").stages]
            for n, name in enumerate([*REASONS, "compute", "linked"])
        }
    return found, json.loads((folder / "r.json").read_text())


@pytest.mark.parametrize("reason", [*REASONS, "compute"])
def test_a_module_of_what_stays_in_an_archive(
    reason: str, linked: tuple[dict[str, list[str]], Any]
) -> None:
    found, report = linked
    number = [*REASONS, "compute"].index(reason)
    old = [f"{key:016x}" for key in keys(number)]
    assert found[reason][0] == old[0]
    by = f"{0x5000 if reason == 'compute' else 0x4000 + number:016x}"
    kept = {line["module"]: line for line in report["kept"]}
    assert kept[f"vert {old[0]}"]["by"] == by
    assert kept[f"vert {old[0]}"]["line"] == f"vert {old[0]} stays as it is, since {by} has it so"


def test_what_nobody_holds_is_linked(linked: tuple[dict[str, list[str]], Any]) -> None:
    found, _ = linked
    assert found["linked"][0] != f"{keys(len(REASONS) + 1)[0]:016x}"


def test_a_hash_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that cannot get its new module when the archive is written keeps the modules of
    those that share it, and what they share with others; a pair of its own is not concerned."""
    pairs = [shaders(number) for number in range(3)]
    third = fragment(f"{READS} void main() {{ o = lit - 1.0; }}")
    codes = {
        0xE0: pairs[0][0],
        0xE1: pairs[0][1],
        0xE2: third,
        0xE3: pairs[1][0],
        0xE4: pairs[1][1],
    }
    rows = [(0xE0, 0xE1), (0xE0, 0xE2), (0xE3, 0xE4)]
    entries = writing.surroundings(**{"pass": {"flags": 0, "subpasses": [{}]}})
    entries += [writing.entry(4, key, writing.module(key, code)) for key, code in codes.items()]
    entries += [
        writing.pipeline(0x10 + n, stages=[stage(1, a), stage(16, b)])
        for n, (a, b) in enumerate(rows)
    ]
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(writing.archive(*entries))
    replace = foz.ArchiveWriter.replace_by_number

    def refuse(self: foz.ArchiveWriter, key: str, modules: dict[int, int]) -> str | None:
        return "it is taken" if key == f"{0x11:016x}" else replace(self, key, modules)

    monkeypatch.setattr(foz.ArchiveWriter, "replace_by_number", refuse)
    for variants, same in ((1, [True, True, False]), ("all", [False, True, False])):
        words = [source, "-o", out, "--variants", variants, "--jobs", "1", "--progress", "never"]
        assert spvlink.cli.main(["batch", *map(str, words)]) == 0
        with Archive([str(out)]) as archive:
            found = [[int(s.module, 16) for s in p.stages] for p in archive.pipelines()]
        assert [new[0] == old[0] for new, old in zip(found, rows)] == same
        out.unlink()


# -- manifests -------------------------------------------------------------------------------------


def test_modules_of_what_stays_in_a_manifest(tmp_path: Path) -> None:
    """A partner that is not there, that is no SPIR-V, that does not fit, and that has no such entry
    point; at the end two pipelines that are linked."""
    lines: list[dict[str, Any]] = []
    (tmp_path / "text.spv").write_text("no SPIR-V, but twenty bytes")
    (tmp_path / "misfit.spv").write_bytes(fragment(MISFIT))
    partners: list[dict[str, Any]] = [
        {"file": "missing.spv"},
        {"file": "text.spv"},
        {"file": "misfit.spv"},
        {"file": "4.frag.spv", "entry": "nobody"},
        {"file": "5.frag.spv"},
    ]
    for number, partner in enumerate(partners, 1):
        for kind, code in zip(("vert", "frag"), shaders(number)):
            (tmp_path / f"{number}.{kind}.spv").write_bytes(code)
        files = [{"file": f"{number}.vert.spv"}, {"file": f"{number}.frag.spv"}]
        lines.append({"id": f"one {number}", "stages": files, "complete": True})
        lines.append({"id": f"two {number}", "stages": [files[0], partner]})
    source = write_lines(tmp_path / "in.jsonl", lines)
    report = tmp_path / "r.json"
    batch(source, "-o", tmp_path / "out", "--variants", 1, "--report", report)
    out = result_lines(tmp_path / "out")
    for number in range(1, 6):
        old = (tmp_path / f"{number}.vert.spv").read_bytes()
        new = {
            (tmp_path / "out" / str(line["stages"][0]["file"])).read_bytes()
            for line in out[2 * number - 2 : 2 * number]
        }
        assert len(new) == 1 and (new == {old}) == (number < 5), number
    kept = {line["module"]: line["by"] for line in json.loads(report.read_text())["kept"]}
    assert kept.pop("4.frag.spv") == "two 4"  # it has that one, too
    assert kept == {f"{n}.vert.spv": f"two {n}" for n in range(1, 5)}


# -- jobs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [Refused("legal, but beyond it"), RuntimeError("a defect")])
def test_a_family_that_is_not_linked_stays_as_a_whole(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do those that take too long or too much memory: a family is one piece of work."""
    settings = JobSettings(spvlink.Options(validate=False))
    code = shaders(1)
    digests = [digest_of(one) for one in code]
    jobs = [
        settings.job(BatchPipeline(str(n), [Shader(digest, str(n)) for digest in digests[: 2 - n]]))
        for n in range(2)
    ]
    family = PipelineFamily(jobs, 1)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(work, "link_versions", fail)
    assert not any(one.modules for one in work.do_family(family, *code))
    future: Future[Any] = Future()
    future.set_exception(Trouble("timeout", "it took more than 60 s"))
    assert not any(one.modules for one in engine._outcomes(future, 2))


# -- sets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("held", [False, True])
def test_the_original_is_one_of_the_versions(most: int, held: bool) -> None:
    """Of a vertex shader that three pipelines read in three ways: a fourth one, which is wrong, or
    somebody else has the original."""
    names = "abcd"
    outputs = "".join(f"layout(location = {n}) out vec4 {v};" for n, v in enumerate(names))
    vert = vertex(
        outputs + "void main() { a = p; b = p.yxzw; c = p + 1.0; d = p; gl_Position = a; }"
    )
    frags = [
        fragment(f"layout(location = {n}) in vec4 {v}; void main() {{ o = {v}; }}")
        for n, v in enumerate(names[:3])
    ]
    frags += [] if held else [fragment(MISFIT)]
    given = [
        ([Source(vert, "0"), Source(code, "1")], spvlink.Options(complete=True)) for code in frags
    ]
    made = link_versions(given, most, [vert] if held else [])
    new = [one.stages[0].data for one in made.pipelines if isinstance(one, Linked)]
    assert len(new) == 3 and len({*new, vert}) == most
    assert made.kept == {vert}
    free = link_versions(given[:3], most)
    assert not free.kept
    assert len({one.stages[0].data for one in free.pipelines if isinstance(one, Linked)}) == most
    assert vert not in {one.stages[0].data for one in free.pipelines if isinstance(one, Linked)}


def test_one_module_for_both_stages() -> None:
    """It would come out as two, so with one version it stays."""
    both = two_entries()
    row = [Source(both, "0", "main", "vert"), Source(both, "1", "main", "frag")]
    for most, stays in ((1, True), (2, False)):
        (linked,) = link_versions([(row, spvlink.Options(complete=True))], most).pipelines
        assert isinstance(linked, Linked)
        assert all(stage.data == both for stage in linked.stages) == stays


def two_entries() -> bytes:
    """A module with a vertex and a fragment shader; the latter does not read all outputs."""
    return assemble(
        """
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint Vertex %vs "main" %p %a %b
        OpEntryPoint Fragment %fs "main" %c %o
        OpExecutionMode %fs OriginUpperLeft
        OpDecorate %p Location 0
        OpDecorate %a Location 0
        OpDecorate %b Location 1
        OpDecorate %c Location 0
        OpDecorate %o Location 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %float = OpTypeFloat 32
        %in = OpTypePointer Input %float
        %out = OpTypePointer Output %float
        %p = OpVariable %in Input
        %c = OpVariable %in Input
        %a = OpVariable %out Output
        %b = OpVariable %out Output
        %o = OpVariable %out Output
        %vs = OpFunction %void None %fn
        %vl = OpLabel
        %v = OpLoad %float %p
        OpStore %a %v
        OpStore %b %v
        OpReturn
        OpFunctionEnd
        %fs = OpFunction %void None %fn
        %fl = OpLabel
        %w = OpLoad %float %c
        OpStore %o %w
        OpReturn
        OpFunctionEnd
        """
    )
