"""``spvlink batch --verify`` proves and counts links, and keeps wrong ones from OUT."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink.batches import work
from spvlink.batches.arguments import parse
from spvlink.batches.families import PipelineFamily
from spvlink.batches.jobs import JobSettings
from spvlink.batches.pipelines import BatchPipeline, Shader, digest_of
from spvlink.errors import Usage
from spvlink.options import Options
from spvlink.pipeline import DEFECT, LINKED, PASSED, Source
from spvlink.sets.link_set import link_versions
from tests.support.batch_sets import batch, lines_for, tree, write_lines
from tests.support.linking import fragment, vertex

VERT = vertex(
    """layout(location = 0) out vec4 colour; layout(location = 1) out vec4 unread;
    void main() { colour = p * 0.5 + 0.25; unread = sin(p); gl_Position = p; }"""
)
FRAG = fragment("layout(location = 0) in vec4 colour; void main() { o = colour * colour.x; }")
OTHER = fragment("layout(location = 0) in vec4 colour; void main() { o = colour; }")
WRONG = fragment("layout(location = 0) in vec4 colour; void main() { o = colour * colour.y; }")
# With probe_grid, of which the default has no proof.
NAMES = ("car_paint", "bloom_upsample", "probe_grid", "gbuffer")


def job(verify: float, *modules: bytes, number: int = 0) -> Any:
    settings = JobSettings(Options(validate=False), verify, execute=True)
    shaders = [Shader(digest_of(data), str(at)) for at, data in enumerate(modules)]
    return settings.job(BatchPipeline(str(number), shaders))


def test_links_are_proved_and_counted(tmp_path: Path) -> None:
    manifest = write_lines(tmp_path / "all.jsonl", lines_for(tmp_path, NAMES))
    batch(manifest, "-o", tmp_path / "plain")
    report = tmp_path / "r.json"
    said = batch(manifest, "-o", tmp_path / "out", "--verify", "all", "--report", report)
    assert "3 of 4 links proved equal, 1 not proved" in said
    said = batch(manifest, "-o", tmp_path / "ran", "--verify", "all", "--execute")
    assert "3 of 4 links proved equal, 1 executed equal" in said
    assert tree(tmp_path / "out") == tree(tmp_path / "ran") == tree(tmp_path / "plain")
    made = json.loads(report.read_text())
    assert sum(made["totals"]["verified"].values()) == len(made["jobs"]) == len(NAMES)
    assert {one["verified"]["way"] for one in made["jobs"]} == {"paper"}


def test_a_part_is_the_same_each_time() -> None:
    """A larger part has the links of a smaller one, and the others are the jobs they were."""
    keys = {}
    for part in (0.0, 0.25, 0.5, 1.0):
        jobs = [job(part, bytes([n]), VERT, number=n) for n in range(200)]
        keys[part] = [(one.verify, one.key) for one in jobs]
    chosen = {part: {n for n, (verify, _) in enumerate(k) if verify} for part, k in keys.items()}
    assert chosen[0.0] < chosen[0.25] < chosen[0.5] < chosen[1.0] == set(range(200))
    assert 30 < len(chosen[0.25]) < 70 < len(chosen[0.5]) < 130
    for n in range(200):
        assert (keys[0.25][n] == keys[0.0][n]) == (n not in chosen[0.25])


def test_a_wrong_link_does_not_go_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(sources: list[Source], options: Options) -> spvlink.Linked:
        linked = spvlink.link([source.data for source in sources], options)
        assert linked.outcome == LINKED
        for stage, source in zip(linked.stages, sources, strict=True):
            stage.file = source.file
        linked.stages[1].data = WRONG
        return linked

    assert work.do(job(1.0, VERT, FRAG), VERT, FRAG).kind == LINKED
    monkeypatch.setattr(work, "link", wrong)
    outcome = work.do(job(1.0, VERT, FRAG), VERT, FRAG)
    assert outcome.kind == DEFECT and not outcome.modules
    assert outcome.entry["verified"]["outcome"] == "unequal"  # type: ignore[index]
    assert work.do(job(0.0, VERT, FRAG), VERT, FRAG).kind == LINKED, "not asked for"


def test_nor_do_the_links_of_pipelines_that_share_its_modules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(*arguments: Any) -> Any:
        made = link_versions(*arguments)
        made.pipelines[1].stages[1].data = WRONG
        return made

    family = PipelineFamily([job(1.0, VERT, OTHER), job(1.0, VERT, FRAG)], 1)
    assert {one.kind for one in work.do_family(family, VERT, OTHER, FRAG)} == {LINKED}
    monkeypatch.setattr(work, "link_versions", wrong)
    outcomes = work.do_family(family, VERT, OTHER, FRAG)
    assert [one.kind for one in outcomes] == [PASSED, DEFECT]
    assert not any(one.modules for one in outcomes)


@pytest.mark.parametrize(
    "words",
    [["--verify", "some"], ["--verify", "5"], ["--verify", "0%"], ["--verify", "101%"],
     ["--execute"]],
)  # fmt: skip
def test_usage(words: list[str]) -> None:
    with pytest.raises(Usage, match=r"--(verify|execute)"):
        parse(["all.jsonl", "-o", "out", *words])
