"""Texts of pipelines that differ in keys only are parsed once, and come out as if each had been."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spvlink.archive import documents, records
from spvlink.archive.archive import Archive
from spvlink.archive.forms import PipelineForms
from spvlink.archive.layouts import Layouts
from spvlink.errors import BadArchive
from tests.archive import writing
from tests.archive.writing import RECORDED

NOTHING = f"{0:016x}"


def text(key: int, modules: list[str], before: str = "", behind: str = "") -> bytes:
    """The entry of a pipeline with these modules; ``before`` and ``behind`` stand among the members
    of it."""
    stages = [writing.stage(bit, 0) | {"module": m} for bit, m in zip((1, 16), modules)]
    fields = json.dumps(writing.graphics(stages=stages), separators=(",", ":"))
    fields = "{" + before + fields[1:-1] + behind + "}"
    return f'{{"version":6,"graphicsPipelines":{{"{key:016x}":{fields}}}}}'.encode()


def nothing(tag: int, hash: int, names: tuple[str, ...]) -> documents.Object:
    raise BadArchive("it is not there")


def facts(pipeline: records.ArchivedPipeline) -> dict[str, Any]:
    names = [name for name in dir(pipeline) if not name.startswith("_")]  # compiled, too
    made = {name: getattr(pipeline, name) for name in names}
    assert {"state", "layout", "modules", "flags"} <= made.keys()
    made["stages"] = [(s.bit, s.module, s.entry, s.spec) for s in pipeline.stages]
    return made


def plain(payload: bytes, key: str) -> dict[str, Any]:
    """What is read without forms."""
    document = documents.parse(documents.split(payload)[0])
    return facts(records.read(key, document, Layouts(nothing)))


def known(forms: PipelineForms, payloads: list[bytes]) -> int:
    """Read all; how many forms are known then. Each is compared with what is read without forms,
    and so is what comes out with another module."""
    for key, payload in enumerate(payloads, 1):
        name = f"{key:016x}"
        assert facts(forms.read(payload, name)) == plain(payload, name)
        for new in ({0: "00000000000000ab"}, {0: "1" * 16, 1: "2" * 16}, {}):
            try:
                expected = documents.with_modules(payload, name, new)
            except BadArchive as error:
                with pytest.raises(BadArchive) as found:
                    forms.with_modules(payload, name, new)
                assert found.value.message == error.message
            else:
                assert forms.with_modules(payload, name, new) == expected
    return len(forms._known)


def pairs(count: int) -> list[list[str]]:
    return [[f"{0xAA00 + n:016x}", f"{0xBB00 + n:016x}"] for n in range(count)]


def test_one_form() -> None:
    given = [text(key, modules) for key, modules in enumerate(pairs(6), 1)]
    assert known(PipelineForms(Layouts(nothing)), given) == 1


def test_one_module_in_both_stages_and_digits_of_both_cases() -> None:
    modules = [["00000000000000AB", "00000000000000ab"], *pairs(1), ["c" * 16] * 2, ["D" * 16] * 2]
    given = [text(key, named) for key, named in enumerate(modules, 1)]
    assert known(PipelineForms(Layouts(nothing)), given) == 1


def test_a_stage_without_a_module_is_read_by_itself() -> None:
    modules = [*pairs(3), [NOTHING, "a" * 16]]
    given = [text(key, named) for key, named in enumerate(modules, 1)]
    forms = PipelineForms(Layouts(nothing))
    assert known(forms, given) == 1
    assert forms.read(given[3], f"{4:016x}").reason == "a stage has no module in the archive"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ('"x":{"module":"00000000000000cc"},', ""),  # no module of a stage
        ('"stage":{"module":"00000000000000cc"},', ""),
        ("", ',"module":"00000000000000cc"'),
        ("", ',"a\\"module":"00000000000000cc"'),
    ],
)
def test_other_digits_are_no_modules(before: str, behind: str) -> None:
    given = [text(key, named, before, behind) for key, named in enumerate(pairs(4), 1)]
    assert known(PipelineForms(Layouts(nothing)), given) == 0


def test_digits_that_are_the_modules_by_chance() -> None:
    """The stages are written with blanks; the same digits stand elsewhere, twice."""
    given = []
    for one, two in [*pairs(1), *pairs(1), *pairs(3)]:
        other = json.dumps([{"module": one}, {"module": two}], separators=(",", ":"))
        plain = text(len(given) + 1, *pairs(1))
        spaced = plain.replace(b'"module":', b'"module": ')
        given.append(spaced.replace(b'"stages":', f'"x":{other},"stages":'.encode()))
    assert known(PipelineForms(Layouts(nothing)), given) == 0


def test_digits_that_stand_in_another_order() -> None:
    """A copy of the stages before the stages: the last one counts for a careless reader."""
    for key, (one, two) in enumerate(pairs(4), 1):
        other = json.dumps([{"module": two}, {"module": one}], separators=(",", ":"))
        payload = text(key, [one, two], f'"stages":{other},')
        with pytest.raises(BadArchive, match="twice"):
            PipelineForms(Layouts(nothing)).read(payload, f"{key:016x}")


def test_several_pipelines_in_one_text() -> None:
    """Then another key could stand there twice."""
    given = []
    for key, (one, two) in enumerate(pairs(4), 1):
        start, other = b'"graphicsPipelines":{', b'"%016x":{},' % 9
        given.append(text(key, [one, two]).replace(start, start + other))
    assert known(PipelineForms(Layouts(nothing)), given) == 0


def test_what_is_remembered_is_bounded() -> None:
    forms = PipelineForms(Layouts(nothing))
    given = []
    for number in range(60):
        more = f',"name{number}":"{"x" * 200000}"'
        given += [text(len(given) + n + 1, pairs(2)[n], "", more) for n in range(2)]
    for key, payload in enumerate(given, 1):
        forms.read(payload, f"{key:016x}")
    assert 0 < sum(map(len, forms._known)) <= 4 << 20
    assert len(forms._seen) <= 1 << 16


def test_the_recorded_archive() -> None:
    """Each pipeline twice with other modules than its own."""
    found = 0
    with Archive([str(RECORDED)]) as archive:
        for key in [one.key for one in archive.pipelines()]:
            entry = archive.union.find(6, int(key, 16))
            assert entry is not None
            payload = archive.union.payload(entry)
            forms = PipelineForms(archive._layouts)
            for digit in "0123456789ab":
                new = {at: f"{digit}{at:015x}" for at in range(len(archive.pipeline(key).stages))}
                try:
                    changed = forms.with_modules(payload, key, new)
                except BadArchive:
                    break
                assert changed == documents.with_modules(payload, key, new)
                document = documents.parse(documents.split(changed)[0])
                one = records.read(key, document, archive._layouts)
                assert facts(forms.read(changed, key)) == facts(one)
            found += bool(forms._known)
    assert found > 10


def test_an_archive_that_is_written_with_known_forms(tmp_path: Path) -> None:
    """Read again, it has the new modules, whatever was known."""
    codes = {0xA0 + n: writing.code(n) for n in range(8)}
    entries = [*writing.surroundings()]
    entries += [writing.entry(4, key, writing.module(key, code)) for key, code in codes.items()]
    entries += [
        writing.pipeline(0x10 + n, stages=[writing.stage(1, 0xA0 + n), writing.stage(16, 0xA1 + n)])
        for n in range(7)
    ]
    source = tmp_path / "in.foz"
    source.write_bytes(writing.archive(*entries))
    with Archive([str(source)]) as archive:
        first = [facts(one) for one in archive.pipelines()]
        assert len(archive.forms._known) == 1
        assert [facts(one) for one in archive.pipelines()] == first
        assert [one["modules"] for one in first] == [
            [f"{0xA0 + n:016x}", f"{0xA1 + n:016x}"] for n in range(7)
        ]
