"""The page of ``--html`` without a browser: its data, its safety, the options, the files."""

from __future__ import annotations

import fnmatch
import json
import os
import random
import time
import tomllib
from pathlib import Path

import pytest

import spvlink
from spvlink import cli
from spvlink.page import data, page
from spvlink.page.untouched import describe
from spvlink.pipeline import ACTIONS, StageResult
from tests.support import pages
from tests.support.batch_sets import batch, lines_for, write_lines
from tests.support.chains import NAMES, build, stages_of
from tests.support.hostile import hostile
from tests.support.samples import pair

ROOT = Path(__file__).resolve().parents[2]
PAIR = ["link", "a.vert.spv", "a.frag.spv", "-o", "out"]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for stage, code in zip(("vert", "frag"), pair()):
        (tmp_path / f"a.{stage}.spv").write_bytes(code)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- cells: what the picture is drawn from ---------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_cells_are_the_interface(part: int) -> None:
    """Of every pipeline: the cells of all remarks are as many components, in as many Locations, as
    the figures say, before and after."""
    seen = 0
    for name in NAMES[part::4]:
        linked = spvlink.link(build(name), validate=False)
        if linked.passed_through is not None:
            continue
        for border in linked.interfaces:
            title = f"{border.producer}->{border.consumer}"
            remarks = [r for r in linked.remarks if r.interface == title]
            # what only the consumer declares is in none of the producer's figures
            mine = [r for r in remarks if "stage only, and not read" not in r.why]
            for side in (0, 1):
                cells = {cell for r in mine for cell in r.cells[side]}
                assert len(cells) == border.components[side], (name, title, side)
                locations = {cell // 4 for cell in cells}
                if border.producer != "task":
                    assert len(locations) == border.locations[side], (name, title, side)
                seen += len(cells)
    assert seen > 500


def test_cells_say_where_things_went() -> None:
    linked = spvlink.link(build("material"), validate=False, gpu="radv")
    cells = {(r.name, r.slot): (r.action, *r.cells) for r in linked.remarks}
    assert cells["vBitangent", "3.xyz"] == ("removed", (12, 13, 14), ())
    assert cells["vNormal", "1.xyz"] == ("kept", (4, 5, 6), (4, 5, 6))
    action, before, after = cells["vUv", "4.xy"]
    assert action == "packed" and before == (16, 17) and len(after) == 2 and after != before
    moved = spvlink.link(build("meadow_wind"), validate=False).remarks
    cells = {(r.name, r.slot): (r.action, *r.cells) for r in moved}
    action, before, after = cells["vBlade", "1.x"]
    assert action == "moved-backward" and before == (4,) and len(after) == 1


def test_batch_has_the_cells() -> None:
    code = build("decal")
    (result,) = spvlink.batch([code], spvlink.Options(validate=False))
    alone = spvlink.link(code, validate=False).remarks
    assert [r.cells for r in result.linked.remarks] == [r.cells for r in alone]


def test_untouched_interfaces() -> None:
    """Of what is passed through there are pictures, too."""
    codes = build("water_tess")
    again = spvlink.link([s.data for s in spvlink.link(codes).stages])
    assert again.passed_through == "nothing to gain"
    assert {r.action for r in again.remarks} == {"kept"}
    seen = describe(again.stages, {}, "nothing to gain")
    assert [[i["producer"], *i["locations"]] for i in seen["interfaces"]] == [
        [i.producer, *i.locations] for i in again.interfaces
    ]
    assert {r["action"] for r in seen["remarks"]} == {"kept"}
    assert all(r["cells"][0] == r["cells"][1] != () for r in seen["remarks"])
    again.stages[0].data = codes[0][:40]  # what is no module has no picture, and costs nothing
    assert len(describe(again.stages, {}, "")["interfaces"]) == len(again.interfaces) - 1


def test_damage_costs_the_picture_only() -> None:
    """Whatever is wrong with a module: to ask for its interface raises nothing, takes no time."""
    chosen = random.Random(19)
    codes = build("bezier_patch")
    begin, seen, whole = time.monotonic(), 0, 0
    for _ in range(300):
        stages = []
        for stage, code in zip(stages_of("bezier_patch"), codes):
            words = bytearray(code)
            at = 4 * chosen.randrange(5, len(words) // 4)
            value = chosen.choice(
                (chosen.getrandbits(32), chosen.randrange(64), 0xFFFFFFFF, 1 << 31)
            )
            words[at : at + 4] = value.to_bytes(4, "little")
            stages.append(StageResult(stage, stage, bytes(words), False))
        found = len(describe(stages, {}, "damaged")["interfaces"])
        whole, seen = whole + (found == 3), seen + found
    assert 0 < whole < 300 and seen > whole and time.monotonic() - begin < 60


# -- data ------------------------------------------------------------------------------------------


def test_every_text_remark_and_job_is_there_once() -> None:
    jobs = [pages.job(n) for n in range(14)]
    html = "".join(
        page.of_batch("1", "", pages.totals(pipelines=500), jobs, pages.pipelines(500, jobs))
    )
    read, _ = pages.read(html)
    assert len(read["jobs"]) == 14 and len(read["pipelines"]) == 500
    texts = read["texts"]
    assert len(set(texts)) == len(texts) and len({str(r) for r in read["remarks"]}) == len(
        read["remarks"]
    )
    for entry, row in zip(jobs, read["jobs"]):
        seen = [read["remarks"][n] for n in row[4]]
        assert [(texts[r[1]], texts[r[2]], ACTIONS[r[3]], texts[r[4]]) for r in seen] == [
            (r["name"], r["slot"], r["action"], r["why"]) for r in entry["remarks"]
        ]
        for remark, wanted in zip(seen, entry["remarks"]):
            for runs, cells in zip(remark[5:], wanted["cells"]):
                pairs = list(zip(runs[::2], runs[1::2]))
                assert [c for first, n in pairs for c in range(first, first + n)] == sorted(cells)


def entries() -> tuple[list[pages.Entry], list[pages.Entry]]:
    """Two jobs, of which the second is not linked, and pipelines of each kind."""
    linked, passed = pages.job(0), pages.job(1)
    untouched = {"interfaces": passed["interfaces"][:1], "remarks": []}
    untouched["interfaces"][0]["locations"] = [3, 3]
    passed = {"kind": "invalid", "reason": "no good", "untouched": untouched, "stages": []}
    seen = [("a", 0, "linked", None), ("b", 0, "linked", None), ("c", 0, "passed through", "kept")]
    seen += [("d", 1, "invalid", "x.vert: no good"), ("e", None, "passed through", "a library")]
    names = ("id", "job", "kind", "reason")
    return [linked, passed], [dict(zip(names, one)) | {"stages": ["f"]} for one in seen]


def test_totals_of_the_page() -> None:
    jobs, pipelines = entries()
    read, _ = pages.read("".join(page.of_batch("1", "", pages.totals(), jobs, pipelines)))
    before, after = (sum(i["locations"][n] for i in jobs[0]["interfaces"]) for n in (0, 1))
    assert before > after > 3
    assert read["chart"] == [[3, 1, 1], [after, 0, 2], [before, 3, 1]]
    assert read["most"] == [[0, 0, 2]] and read["least"] == []
    kinds, texts = read["kinds"], read["texts"]
    reasons = sorted((kinds[k], texts[r], n) for k, r, n in read["reasons"])
    assert reasons == [
        ("invalid", "no good", 1), ("passed through", "a library", 1), ("passed through", "kept", 1)
    ]  # fmt: skip
    rows = read["pipelines"]
    assert [len(row) for row in rows] == [3, 3, 6, 6, 6]
    assert [row[5] for row in rows[2:]] == [1, 0, 1]
    assert [texts[row[4]] for row in rows[2:]] == ["kept", "x.vert: no good", "a library"]


def test_most_and_least_are_jobs() -> None:
    jobs = [pages.job(n) for n in range(35)]
    for n, entry in enumerate(jobs):
        entry["interfaces"] = entry["interfaces"][:1]
        entry["interfaces"][0]["locations"] = [100, 100 - n]
    read, _ = pages.read(
        "".join(page.of_batch("1", "", pages.totals(), jobs, pages.pipelines(400, jobs)))
    )
    assert [row[0] for row in read["most"]] == [*range(34, 24, -1)]
    assert [row[0] for row in read["least"]] == [*range(10)]
    assert sum(row[2] for row in read["most"]) > 10


def test_the_page_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MOST_PIPELINES", 20)
    monkeypatch.setattr(data, "MOST_REMARKS", 50)
    jobs = [pages.job(n) for n in range(14)]
    jobs[0]["remarks"][0]["name"] = "long" * 1000
    read, _ = pages.read(
        "".join(page.of_batch("1", "", pages.totals(), jobs, pages.pipelines(300, jobs)))
    )
    assert len(read["pipelines"]) == 20 and read["more"] == 280
    assert sum(after for _, _, after in read["chart"]) == 300
    assert read["jobs"][0][4] and read["jobs"][13][4] is None
    assert max(map(len, read["texts"])) == data.MOST_CHARACTERS


@pytest.mark.parametrize(
    ("cells", "runs"),
    [((), ()), ((4, 5, 6, 9), (4, 3, 9, 1)), ((6, 5, 5), (5, 2)), ((0, 2), (0, 1, 2, 1))],
)
def test_runs(cells: tuple[int, ...], runs: tuple[int, ...]) -> None:
    assert data.runs(cells) == runs


# -- safety ----------------------------------------------------------------------------------------


def test_names_stay_in_the_data() -> None:
    html = hostile()
    assert html.isascii()
    read, elements = pages.read(html)
    assert [row[0] for row in read["pipelines"][:-1]] == list(pages.HOSTILE)
    assert elements.count("script") == 2 and not {"img", "b", "svg"}.intersection(elements)
    inside = html.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(inside) == read and not set("<>&") & set(inside)


def test_the_page_stands_alone() -> None:
    html = "".join(page.of_link("1", spvlink.link(list(pair())), {}))
    assert "http" not in html.replace('http-equiv="Content-Security-Policy"', "").replace(
        "http://www.w3.org/2000/svg", ""
    )
    assert "default-src 'none'" in html
    assert "innerHTML" not in html and "eval(" not in html and "document.write" not in html


def test_all_parts_are_packaged() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    globs = project["tool"]["setuptools"]["package-data"]["spvlink.page"]
    folder = ROOT / "spvlink" / "page"
    parts = [p.name for p in folder.iterdir() if p.is_file() and p.suffix != ".py"]
    assert all(any(fnmatch.fnmatch(part, glob) for glob in globs) for part in parts)
    assert {p for p in parts if p.endswith(".js")} == set(page.SCRIPTS)


# -- spvlink link --html ---------------------------------------------------------------------------


def test_link(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*PAIR, "--html", "made/a.html"]) == 0
    assert capsys.readouterr() == ("", "")
    read, _ = pages.read((work / "made/a.html").read_text())
    assert read["pipelines"][0][0] == "a.vert.spv, a.frag.spv" and read["totals"] is None
    assert cli.main([*PAIR, "--html", "-", "--report", "r.json"]) == 0
    assert capsys.readouterr().out == (work / "made/a.html").read_text()
    assert cli.main([*PAIR, "--html", "b.html", "--report", "-"]) == 0
    wanted = json.loads(capsys.readouterr().out)["remarks"]
    assert [read["texts"][r[1]] for r in read["remarks"]] == [r["name"] for r in wanted]


def test_link_passed_through(work: Path) -> None:
    words = ["link", "a.frag.spv", "-o", "out", "--html", "a.html"]
    assert cli.main(words) == 0
    again = ["link", "out/a.vert.spv", "out/a.frag.spv", "-o", "out2", "--html", "b.html"]
    assert cli.main(PAIR) == 0 and cli.main(again) == 0
    read, _ = pages.read((work / "b.html").read_text())
    assert read["kinds"][read["jobs"][0][0]] == "passed through" and read["jobs"][0][4]
    assert cli.main([*again, "--strict"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--html", "-", "--report", "-"], "--report - and --html - both want standard output"),
        (["--html", "-", "--explain"], "--html - and --explain both want standard output"),
        (["--html", "./r", "--report", "r"], "--report and --html are both to be ./r"),
        (["--html", "a.vert.spv"], "--html a.vert.spv: this is a file of the pipeline"),
        (["--html", "out/a.frag.spv"], "--html out/a.frag.spv: this is a file of the pipeline"),
        (["--html", "a.vert.spv/x"], "a.vert.spv: cannot write it: File exists"),
        (["--html"], "--html needs a value"),
    ],
)
def test_link_errors(
    work: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    before = sorted(os.listdir())
    assert cli.main([*PAIR, *words]) == 2
    assert capsys.readouterr().err.startswith(f"spvlink: error: {said}")
    assert sorted(os.listdir()) == before  # nothing of it was written


# -- spvlink batch --html --------------------------------------------------------------------------


def test_batch(tmp_path: Path) -> None:
    lines = lines_for(tmp_path, ("car_paint", "decal", "meshlets"))
    lines.append({"id": "one stage", "stages": lines[0]["stages"][:1]})
    lines.append({"id": "gone", "stages": [{"file": "gone.spv"}, {"file": "gone.spv"}]})
    lines.append(lines[0] | {"id": "again"})
    manifest = write_lines(tmp_path / "all.jsonl", lines)
    files = ["--report", tmp_path / "r.json", "--html", tmp_path / "p.html"]
    batch(manifest, "-o", tmp_path / "out", "--jobs", "2", *files)
    read, _ = pages.read((tmp_path / "p.html").read_text())
    report = json.loads((tmp_path / "r.json").read_text())
    assert read["totals"] == report["totals"]
    texts = read["texts"]
    for row, entry in zip(read["pipelines"], report["pipelines"], strict=True):
        assert row[0] == entry["id"] and row[1] == (-1 if entry["job"] is None else entry["job"])
        assert [texts[n] for n in row[2]] == entry.get("stages", [])
    assert sum(n for _, _, n in read["reasons"]) == 2
    assert (
        f'<p id="line">{report["summary"].replace(">", "&gt;")}</p>'
        in (tmp_path / "p.html").read_text()
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--html", "missing/p.html"],
            "missing/p.html: cannot write it: No such folder",
        ),
        (["--report", "missing/r"], "missing/r: cannot write it: No such folder"),
        (["--html", "."], ".: cannot write it: Is a directory"),
        (["--html", "all.jsonl"], "--html all.jsonl: this is a file of the batch"),
        (["--html", "p", "--report", "p"], "--report and --html are both to be p"),
        (["--html", "-", "--report", "-"], "--report - and --html - both want standard output"),
    ],
)
def test_batch_errors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    """Before any work: it would be lost."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.jsonl").write_text("")
    assert cli.main(["batch", "all.jsonl", "-o", "out", *words]) == 2
    assert capsys.readouterr().err == f"spvlink: error: {said}\n"
    assert os.listdir() == ["all.jsonl"]
