"""``spvlink batch --store`` on real servers on the loopback interface: of the web, and like S3."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spvlink import cli
from spvlink.batches import shared
from spvlink.batches.places import RemoteStore
from tests.support.batch_sets import NAMES, batch, lines_for, tree, write_lines
from tests.support.chains import PAIRS
from tests.support.store_servers import PASSWORD, store_server, variables_of_s3

pytest.importorskip("obstore")

JOBS = len(NAMES)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    return write_lines(folder / "all.jsonl", lines_for(folder))


@pytest.fixture(scope="module")
def expected(given: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What comes out without a store."""
    out = tmp_path_factory.mktemp("expected") / "out"
    batch(given, "-o", out, "--jobs", "1")
    return tree(out)


@pytest.fixture
def run(
    given: Path,
    expected: dict[str, bytes],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., tuple[int, int, list[str]]]:
    """A run makes what one without a store makes; gives how many results it took and wrote, and the
    warnings."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def run(*words: object) -> tuple[int, int, list[str]]:
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        everything = ["batch", given, "-o", out, "--jobs", "1", "--store", *words]
        assert cli.main([str(word) for word in everything]) == 0
        said = capfd.readouterr().err
        assert "Traceback" not in said and tree(out) == expected
        found = re.search(r"store: (\d+) of (\d+) jobs were there, (\d+) are new", said)
        assert found is not None and int(found[2]) == JOBS, said
        return int(found[1]), int(found[3]), re.findall(r"warning: (--store .*)", said)

    return run


def test_a_web_server(run: Callable[..., object]) -> None:
    with store_server() as server:
        assert run(f"{server.address}/some/place") == (0, JOBS, [])
        names = [path.rpartition("/") for path in server.objects]
        assert {folder for folder, _, _ in names} == {"/some/place"}
        assert all(re.fullmatch("[0-9a-f]{64}", name) for _, _, name in names)
        before = dict(server.objects)
        assert run(f"{server.address}/some/place/") == (JOBS, 0, [])
        assert server.objects == before and server.requests == 3 * JOBS


def test_a_password(run: Callable[..., tuple[int, int, list[str]]]) -> None:
    with store_server() as server:
        server.password = PASSWORD
        address = server.address.replace("//", "//somebody:secret@")
        assert run(address) == (0, JOBS, []) and not server.refused
        taken, new, warnings = run(address.replace("secret", "guess"))
        assert (taken, new) == (0, 0) and server.refused
        assert [line.count("403 Forbidden") for line in warnings] == [1, 1]
        assert not any("guess" in line or "somebody" in line for line in warnings)


def test_s3(
    run: Callable[..., tuple[int, int, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With signatures that the server checks."""
    with store_server(signed=True) as server:
        for name, value in variables_of_s3(server).items():
            monkeypatch.setenv(name, value)
        assert run("s3://bucket/builds/main") == (0, JOBS, [])
        assert all(path.startswith("/bucket/builds/main/") for path in server.objects)
        assert run("s3://bucket/builds/main") == (JOBS, 0, [])
        assert run("s3://bucket/builds/other") == (0, JOBS, []) and not server.refused
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another one")
        taken, new, warnings = run("s3://bucket/builds/main")
        assert (taken, new) == (0, 0) and "403 Forbidden" in warnings[0] and server.refused


def test_what_a_server_has_is_checked_and_written_anew(
    run: Callable[..., tuple[int, int, list[str]]], tmp_path: Path
) -> None:
    """It belongs to nobody that we know: workers look at the modules, or a secret seals them."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"only we know it")
    with store_server() as server:
        for words in ((), ("--store-key", secret)):
            server.objects.clear()
            assert run(server.address, *words) == (0, JOBS, [])
            good = dict(server.objects)
            names = sorted(good)
            server.objects |= {
                names[0]: good[names[1]],
                names[1]: good[names[1]][:-1],
                names[2]: good[names[2]][:-1] + bytes([good[names[2]][-1] ^ 4]),
                names[3]: b"<html>please log in</html>",
            }
            taken, new, warnings = run(server.address, *words)
            assert (taken, new) == (JOBS - 4, 4) and "4 entries were wrong" in warnings[0]
            assert server.objects == good
            assert run(server.address, *words) == (JOBS, 0, [])


def test_a_store_that_may_only_be_read(run: Callable[..., tuple[int, int, list[str]]]) -> None:
    with store_server() as server:
        run(server.address)
        server.trouble["PUT"] = 403
        for path in sorted(server.objects)[:4]:
            del server.objects[path]
        taken, new, (line,) = run(server.address)
        assert (taken, new) == (JOBS - 4, 0)
        assert "cannot write to it: 403 Forbidden" in line
        assert line.endswith("4 results are not kept there")
        assert server.address in line


@pytest.mark.parametrize("trouble", [500, 503, 403, 418, "hang", "drip", "huge"])
def test_trouble_costs_time_only(
    trouble: int | str,
    run: Callable[..., tuple[int, int, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared, "TIMEOUT", 1.0)
    with store_server() as server:
        run(server.address)
        server.trouble = {"GET": trouble, "PUT": trouble}
        begin = time.monotonic()
        taken, _, warnings = run(server.address)
        assert time.monotonic() - begin < 30 and taken == 0
        assert "cannot read it" in warnings[0] and "it was not asked any more" in warnings[0]
        why = {"hang": "no answer in 1 s", "drip": "no answer in 1 s", "huge": "999999999999 bytes"}
        assert why.get(str(trouble), f"{trouble} ") in warnings[0]


def test_nobody_is_there(run: Callable[..., tuple[int, int, list[str]]]) -> None:
    for address in ("http://127.0.0.1:1/store", "https://127.0.0.1:1/store"):
        taken, new, warnings = run(address)
        assert (taken, new) == (0, 0)
        assert [line.count("nobody answers") for line in warnings] == [1, 1]


def _pairs(folder: Path) -> Path:
    return write_lines(folder / "m.jsonl", lines_for(folder, tuple(PAIRS[:24])))


def test_a_slow_store_is_asked_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many requests are under way at a time, and not too many."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    source = _pairs(tmp_path)
    with store_server() as server:
        batch(source, "-o", tmp_path / "cold", "--store", server.address)
        server.delay, server.most = 0.3, 0
        said = batch(source, "-o", tmp_path / "warm", "--store", server.address)
        assert "24 of 24 jobs were there" in said and "warning" not in said
        assert 8 < server.most <= 16
    assert tree(tmp_path / "warm") == tree(tmp_path / "cold")


def test_a_store_that_takes_longer_than_it_saves_is_left(
    run: Callable[..., tuple[int, int, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "TIMEOUT", 1.0)
    monkeypatch.setattr(RemoteStore, "readers", 1)
    monkeypatch.setattr(shared, "_AHEAD", 2)
    with store_server() as server:
        run(server.address)
        server.delay = 0.45
        taken, _, warnings = run(server.address)
        assert 0 < taken < JOBS and "it takes longer than it saves" in warnings[0]


def test_a_server_that_goes_away_in_between(
    run: Callable[..., tuple[int, int, list[str]]],
) -> None:
    with store_server() as server:
        run(server.address)
        server.last = server.requests + 2
        taken, _, warnings = run(server.address)
        assert taken <= 2 and "cannot read it" in warnings[0] and "cannot write" in warnings[1]


def test_without_the_package(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    for address in ("https://host/x", "s3://bucket"):
        words = ["batch", str(given), "-o", str(tmp_path / "out"), "--store", address]
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "pip install 'spvlink[store]'" in said
    assert not list(tmp_path.iterdir())
