"""Fossilize archives: what is read of them, and that what goes out is what came in."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from spvlink.archive import hashes, varint
from spvlink.archive.archive import Archive
from spvlink.archive.writer import ArchiveWriter
from spvlink.errors import BadArchive, Usage
from spvlink.layout import check_layout
from tests.archive import writing
from tests.archive.writing import (
    APPLICATION,
    FRAGMENT,
    KEY,
    RECORDED,
    VERTEX,
    archive,
    code,
    entry,
    pipeline,
    surroundings,
)

Entries = dict[tuple[int, int], bytes]
GRAPHICS, MODULE, LINK = 6, 4, 8


def recorded() -> Entries:
    return dict(writing.split(RECORDED.read_bytes()))


def rewritten(
    source: Path, target: Path, change: Callable[[bytes], bytes] = lambda module: module
) -> list[str | None]:
    """Every pipeline with ``change`` of its modules; gives the answers."""
    with Archive([str(source)]) as opened, ArchiveWriter(str(target), opened) as writer:
        answers = []
        for found in opened.pipelines():
            if found.reason is None:
                modules = [change(opened.module(stage.module)) for stage in found.stages]
                answers.append(writer.replace(found.key, dict(enumerate(modules))))
        writer.finish()
    return answers


# -- the recorded archive --------------------------------------------------------------------------


def test_the_recorded_archive() -> None:
    with Archive([str(RECORDED)]) as opened:
        found = list(opened.pipelines())
        assert opened.warnings == [] and opened.count() == len(found) == 35
        assert Counter(one.reason for one in found) == {
            None: 28,
            "it is a pipeline library that others may complete": 4,
            "it is made from pipeline libraries": 2,
            "the application wants it not optimized": 1,
        }
        good = [one for one in found if one.reason is None]
        assert Counter(one.view_mask for one in good) == {0: 26, 3: 2}
        assert Counter(one.patch_points for one in good) == {None: 26, 3: 2}
        assert Counter(one.discard for one in good) == {False: 26, True: 1, None: 1}
        assert {one.target_env for one in good} == {"vulkan1.3"}
        assert all(one.robust and one.stream == 0 for one in good)
        for one in good:
            assert one.layout is not None and check_layout(one.layout)
            assert all(opened.module(stage.module)[:4] == code()[:4] for stage in one.stages)
        spec = Counter(str(stage.spec) for one in good for stage in one.stages if stage.spec)
        assert spec[str({0: b"\1\0\0\0", 1: b"\0\0\0?"})] == 2 and len(spec) == 4
        assert opened.pipeline(good[3].key).key == good[3].key
        with pytest.raises(KeyError):
            opened.pipeline("0" * 16)


def test_hashes_are_fossilizes() -> None:
    """Every key that the layer gave is what we compute."""
    entries = recorded()
    with Archive([str(RECORDED)]) as opened:
        modules = [hash for tag, hash in entries if tag == MODULE]
        assert len(modules) == 25
        for hash in modules:
            assert hashes.module_hash(opened.module(f"{hash:016x}")) == hash
    links = [(hash, raw) for (tag, hash), raw in entries.items() if tag == LINK]
    assert len(links) == 87
    for hash, raw in links:
        said = json.loads(writing.payload_of(raw))["link"]
        made = hashes.link_hash(int(said["application"], 16), said["tag"], int(said["hash"], 16))
        assert made == hash


@pytest.mark.parametrize("top", [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, 0x1FFFFF, 1 << 28, 0xFFFFFFFF])
def test_varints(top: int) -> None:
    words = code(top, top ^ 1, 5, top)
    packed = writing.varint(words)
    assert varint.encode(words) == packed
    assert varint.decode(packed, len(words) // 4) == words
    for wrong in (packed[:-1], packed + b"\x80", packed + b"\0", b"\x80" * 5 + packed):
        with pytest.raises(ValueError):
            varint.decode(wrong, len(words) // 4)


def test_varint_tables_start_anew() -> None:
    many = b"".join(number.to_bytes(4, "little") for number in range(0, 1 << 24, 97))
    packed = varint.encode(many)
    assert packed == writing.varint(many) and varint.decode(packed, len(many) // 4) == many


# -- what goes out ---------------------------------------------------------------------------------


def test_nothing_replaced_is_the_same_in_order(tmp_path: Path) -> None:
    out = tmp_path / "out.foz"
    assert rewritten(RECORDED, out) == [None] * 28
    written = writing.split(out.read_bytes())
    assert dict(written) == recorded()
    order = (0, 4, 1, 2, 3, 5, 6, 7, 9, 8)
    assert [key for key, _ in written] == sorted(
        recorded(), key=lambda k: (order.index(k[0]), k[1])
    )
    again = tmp_path / "again.foz"
    rewritten(out, again)
    assert again.read_bytes() == out.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.foz", "out.foz"]


def longer(module: bytes) -> bytes:
    return module + b"\x78\x56\x34\x12"


def test_new_modules(tmp_path: Path) -> None:
    out = tmp_path / "out.foz"
    assert rewritten(RECORDED, out, longer) == [None] * 28
    before, after = recorded(), dict(writing.split(out.read_bytes()))
    assert before.keys() <= after.keys()
    changed = {key for key in before if before[key] != after[key]}
    assert {tag for tag, _ in changed} == {GRAPHICS} and len(changed) == 28
    added = Counter(tag for tag, _ in after.keys() - before.keys())
    with Archive([str(RECORDED)]) as old, Archive([str(out)]) as new:
        for _, hash in changed:
            _same_but_for_digits(before[GRAPHICS, hash], after[GRAPHICS, hash])
            pairs = zip(old.pipeline(f"{hash:016x}").stages, new.pipeline(f"{hash:016x}").stages)
            for was, now in pairs:
                words = new.module(now.module)
                assert words == longer(old.module(was.module))
                assert (now.entry, now.bit, now.spec) == (was.entry, was.bit, was.spec)
                assert int(now.module, 16) == writing.fnv([*writing.words(words), 0])
        used = {s.module for one in old.pipelines() if not one.reason for s in one.stages}
        assert added == {MODULE: len(used), LINK: len(used)}
        assert all(
            json.loads(writing.payload_of(after[key]))["link"]["tag"] == MODULE
            for key in after.keys() - before.keys()
            if key[0] == LINK
        )


def _same_but_for_digits(before: bytes, after: bytes) -> None:
    was, now = writing.payload_of(before), writing.payload_of(after)
    assert len(was) == len(now)
    places = [at for at in range(len(was)) if was[at] != now[at]]
    assert places and all(chr(now[at]) in "0123456789abcdef" for at in places)
    documents = json.loads(was), json.loads(now)
    for document in documents:
        for found in document["graphicsPipelines"].values():
            for stage in found["stages"]:
                assert len(stage.pop("module")) == 16
    assert documents[0] == documents[1]


def test_the_order_of_calls_does_not_matter(tmp_path: Path) -> None:
    outs = []
    for number, step in enumerate((1, -1)):
        out = tmp_path / f"{number}.foz"
        with Archive([str(RECORDED)]) as opened, ArchiveWriter(str(out), opened) as writer:
            for found in list(opened.pipelines())[::step]:
                if found.reason is None:
                    modules = [longer(opened.module(stage.module)) for stage in found.stages]
                    assert writer.replace(found.key, dict(enumerate(modules))) is None
            writer.finish()
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]


def test_one_stage_may_stay(tmp_path: Path) -> None:
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(archive(*surroundings(), pipeline()))
    with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
        assert writer.replace(f"{KEY:016x}", {1: code(7)}) is None
        with pytest.raises(KeyError):
            writer.replace(f"{KEY:016x}", {1: code(7)})  # once a pipeline
        with pytest.raises(KeyError):
            writer.replace("f" * 16, {1: code(7)})
        writer.finish()
    with Archive([str(out)]) as opened:
        stages = opened.pipeline(f"{KEY:016x}").stages
        assert stages[0].module == f"{VERTEX:016x}" and opened.module(stages[1].module) == code(7)
    keys = {key for key, _ in writing.split(out.read_bytes())}
    assert (LINK, hashes.link_hash(APPLICATION, MODULE, int(stages[1].module, 16))) in keys


@pytest.mark.parametrize("format", [1, 2])
def test_the_way_of_storing_stays(tmp_path: Path, format: int) -> None:
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    document = {"version": 6, "graphicsPipelines": {f"{KEY:016x}": writing.graphics()}}
    source.write_bytes(archive(*surroundings(), entry(GRAPHICS, KEY, document, format, crc=0)))
    assert rewritten(source, out, longer) == [None]
    raw = dict(writing.split(out.read_bytes()))[GRAPHICS, KEY]
    assert raw[44] == format and raw[48:52] != bytes(4)


def test_oddly_written_text_stays_to_the_byte(tmp_path: Path) -> None:
    """Blanks, escapes, letters beyond ASCII, an old capture with several objects, bytes behind."""
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    stages = json.dumps(
        [writing.stage(1, VERTEX, name="größe"), writing.stage(16, FRAGMENT, name='m\\"ain')],
        ensure_ascii=False,
        indent=2,
    )
    own = json.dumps(writing.graphics(stages=[0]))
    text = (
        f' {{ "graphicsPipelines" : {{ "{1:016x}" : {own} ,\n"{KEY:016x}":'
        f'{own.replace("[0]", stages)}}}, "note": "\\"stages\\":[", "\\u0076ersion":5}} '
    ).encode() + b"\0behind\0"
    source.write_bytes(archive(*surroundings(), entry(GRAPHICS, KEY, text)))
    assert rewritten(source, out, longer) == [None]
    found = writing.payload_of(dict(writing.split(out.read_bytes()))[GRAPHICS, KEY])
    for old, new in ((VERTEX, longer(code(1))), (FRAGMENT, longer(code(2)))):
        digits = b"%016x" % hashes.module_hash(new)
        assert text.count(b"%016x" % old) == 1 == found.count(digits)
        found = found.replace(digits, b"%016x" % old)
    assert found == text


@pytest.mark.parametrize(
    "digits", ['"\\u0030' + "0" * 13 + 'a1"', '"00000000000000A1"', '"0000000000000A1"', "161"]
)
def test_digits_that_are_written_otherwise(tmp_path: Path, digits: str) -> None:
    """Never half of a change: either it can be read and changed, or the pipeline stays."""
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    document = {"version": 6, "graphicsPipelines": {f"{KEY:016x}": writing.graphics()}}
    text = writing.compact(document).replace(b'"00000000000000a1"', digits.encode())
    source.write_bytes(archive(*surroundings(), entry(GRAPHICS, KEY, text)))
    answers = rewritten(source, out, longer)
    after = dict(writing.split(out.read_bytes()))
    if digits == '"00000000000000A1"':
        assert answers == [None]
    else:
        assert answers in ([], ["the text of its stages is written unusually"])
        assert after == dict(writing.split(source.read_bytes()))


# -- several files, other forms --------------------------------------------------------------------


def test_several_files_are_one(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.foz", "b.foz", "empty.foz")]
    paths[0].write_bytes(archive(*surroundings(), entry(10, 5, b"first", 1)))
    paths[1].write_bytes(
        archive(entry(10, 5, b"second", 1), pipeline(), entry(10, 6, b"", 1), version=5)
    )
    paths[2].write_bytes(b"")
    with Archive([str(path) for path in paths]) as opened:
        assert [one.reason for one in opened.pipelines()] == [None]
        with ArchiveWriter(str(tmp_path / "out.foz"), opened) as writer:
            writer.finish()
    written = (tmp_path / "out.foz").read_bytes()
    found = dict(writing.split(written))
    assert found[10, 5].endswith(b"first") and (10, 6) in found and (GRAPHICS, KEY) in found
    assert written[15] == 6
    with Archive([str(paths[1])]) as opened, ArchiveWriter(str(paths[1]), opened) as writer:
        writer.finish()  # over its own input; a version of 5 stays
    assert paths[1].read_bytes()[15] == 5


def test_every_entry_goes_out(tmp_path: Path) -> None:
    """Unknown tags, formats, wrong checksums, empty ones, capital digits: raw, under their keys."""
    odd = [
        entry(10, 1, b"bucket"),
        entry(11, 2, b"a tag of tomorrow"),
        entry(0xFFFFFFFF, 3, b"another", 7),
        entry(7, 4, b"a checksum", 2, crc=99),
        entry(6, 5, b"", 1),
        entry(9, 6, b"sizes", 2, size=4_000_000_000),
        entry(5, 0xABCDEF, b"capital", 1).replace(b"abcdef", b"ABCDEF"),
        entry(3, 7, b"a tag of 24 digits", 1).replace(b"0" * 8, b"12345678", 1),
    ]
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(archive(*odd, *surroundings(), pipeline()))
    assert rewritten(source, out, longer) == [None]
    before, after = (dict(writing.split(path.read_bytes())) for path in (source, out))
    assert {key: after[key] for key in before if key != (GRAPHICS, KEY)} == {
        key: raw for key, raw in before.items() if key != (GRAPHICS, KEY)
    }
    tags = [key[0] for key, _ in writing.split(out.read_bytes())]
    assert tags[-3:] == [10, 11, 0xFFFFFFFF]


def test_old_modules(tmp_path: Path) -> None:
    """base64 in place of the packed words, and JSON of version 5."""
    words = code(1, 2, 3)
    fields = {"code": base64.b64encode(words).decode(), "codeSize": len(words), "flags": 0}
    document = {"version": 5, "shaderModules": {f"{9:016x}": fields, f"{8:016x}": {}}}
    path = tmp_path / "in.foz"
    path.write_bytes(archive(entry(4, 9, document), entry(4, 8, document)))
    with Archive([str(path)]) as opened:
        assert opened.module(f"{9:016x}") == words
        with pytest.raises(BadArchive, match="it has no flags"):
            opened.module(f"{8:016x}")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"flags": 1}, "flags that spvlink does not know"),
        ({"codeSize": 21}, "cannot be of 21 bytes"),
        ({"codeSize": 1 << 40}, "cannot be of 1099511627776 bytes"),
        ({"codeSize": 24 + 4}, "its data does not have the stated length"),
        ({"codeSize": -4}, "codeSize is no number"),
        ({"codeSize": True}, "codeSize is no number"),
        ({"varintSize": 1 << 60}, "its words are not all there"),
        ({"varintOffset": 1}, "its words are not all there"),
        ({"varintSize": 3}, "its data does not have the stated length"),
        ({"varintSize": None}, "varintSize is no number"),
    ],
)
def test_bad_modules(tmp_path: Path, change: dict[str, object], why: str) -> None:
    path = tmp_path / "in.foz"
    path.write_bytes(archive(entry(4, 9, writing.module(9, code(1), **change))))
    with Archive([str(path)]) as opened, pytest.raises(BadArchive, match=why):
        opened.module(f"{9:016x}")


def test_modules_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "in.foz"
    path.write_bytes(
        archive(
            entry(4, 1, writing.module(1, b"\0" * 20)),
            entry(4, 2, writing.module(3, code())),
            entry(4, 3, b"no JSON"),
        )
    )
    with Archive([str(path)]) as opened:
        for key, why in (("1", "not SPIR-V"), ("2", "has no 0000"), ("3", "JSON"), ("4", "not in")):
            with pytest.raises(BadArchive, match=why):
                opened.module(key.zfill(16))


# -- collisions of hashes --------------------------------------------------------------------------


def colliding(begin: list[int]) -> tuple[bytes, bytes]:
    """Two modules that begin so and have the same hash. A difference of 151 * 2**24 - 1 in one word
    is one of less than 2**32 after the multiplication, and the next word takes that back."""
    step, prime, mask = 151 * 2**24 - 1, 0x100000001B3, (1 << 64) - 1
    start = writing.fnv(begin)
    for word in range(1 << 16):
        one = start * prime & mask ^ word
        other = one + step
        if other >> 32 == one >> 32 and (one * prime & mask) >> 32 == (other * prime & mask) >> 32:
            last = (one * prime ^ other * prime) & 0xFFFFFFFF
            pair = [*begin, word, 7], [*begin, word ^ one ^ other, 7 ^ last]
            first, second = (b"".join(w.to_bytes(4, "little") for w in words) for words in pair)
            return first, second
    raise AssertionError("none found")


def test_real_collisions() -> None:
    first, second = colliding(writing.words(code(5)))
    assert first != second and hashes.module_hash(first) == hashes.module_hash(second)


def test_collisions_keep_the_original(tmp_path: Path) -> None:
    first, second = colliding(writing.words(code(5)))
    hash = hashes.module_hash(first)
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    why = "other words have the same hash as a linked module"
    keys = (KEY, KEY + 1, KEY + 2)
    pipelines = [pipeline(key) for key in keys]
    source.write_bytes(archive(*surroundings(), *pipelines))
    with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
        assert writer.replace(f"{keys[0]:016x}", {0: first}) is None
        assert writer.replace(f"{keys[1]:016x}", {1: second}) == why
        assert writer.replace(f"{keys[2]:016x}", {0: first, 1: second}) == why
        writer.finish()
    after = dict(writing.split(out.read_bytes()))
    assert [after[GRAPHICS, key] == raw for key, raw in zip(keys, pipelines)] == [False, True, True]
    with Archive([str(out)]) as opened:
        assert opened.module(f"{hash:016x}") == first


@pytest.mark.parametrize("there", ["same", "other", "damaged"])
def test_a_hash_that_the_archive_has(tmp_path: Path, there: str) -> None:
    first, second = colliding(writing.words(code(5)))
    hash = hashes.module_hash(first)
    words = {"same": first, "other": second, "damaged": first}[there]
    taken = entry(4, hash, writing.module(hash, words), crc=77 if there == "damaged" else None)
    source, out = tmp_path / "in.foz", tmp_path / "out.foz"
    source.write_bytes(archive(*surroundings(), pipeline(), taken))
    with Archive([str(source)]) as opened, ArchiveWriter(str(out), opened) as writer:
        answer = writer.replace(f"{KEY:016x}", {0: first})
        writer.finish()
    after = dict(writing.split(out.read_bytes()))
    assert after[MODULE, hash] == taken
    assert (answer is None) == (there == "same")
    assert (after[GRAPHICS, KEY] == pipeline()) == (there != "same")


# -- files that cannot be --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x81FOSSILIZEDB\0\0\0\7", "format version 7"),
        (b"\x81FOSSILIZEDB\0\0\0\4", "format version 4"),
        (b"\x81FOSSILIZEDB\0\1\0\6", "no Fossilize archive"),
        (b"PK\3\4" + bytes(100), "no Fossilize archive"),
        (b"\x81FOSSI", "no Fossilize archive"),
    ],
)
def test_wrong_headers(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "in.foz"
    path.write_bytes(data)
    with pytest.raises(BadArchive, match=why) as error:
        Archive([str(RECORDED), str(path)])
    assert str(path) in error.value.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.foz", tmp_path):
        with pytest.raises(Usage, match="cannot read it"):
            Archive([str(path)])
    os.mkfifo(tmp_path / "pipe.foz")
    for path in ("a\0b", "/dev/null", tmp_path / "pipe.foz"):
        with pytest.raises(Usage, match="cannot read it"):
            Archive([str(path)])
