"""The first start of a program with the Vulkan layer: it does not stand still for the linker."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from spvlink.layer import serve, wire
from tests.support.layer_place import Place, build_with_layer, socket_of


@contextlib.contextmanager
def silence(place: Place) -> Iterator[dict[bytes, float]]:
    """A linker process that never answers. Keys that were asked for, and when first."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(socket_of(place))
    listener.listen(100)
    arrived: dict[bytes, float] = {}
    kept = []

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            kept.append(connection)
            data = connection.recv(1 << 20)
            with contextlib.suppress(wire.ProtocolError):
                arrived.setdefault(wire.read_key(data)[0], time.monotonic())

    threading.Thread(target=listen, daemon=True).start()
    yield arrived
    listener.close()


def test_nothing_is_waited_for_longer_than_a_share_of_the_time(
    place: Place, pairs: list[str]
) -> None:
    """Unless the user says how long."""
    words = [sys.executable, "-m", "tests.render.at_once", "20", *pairs[:2]]
    with silence(place):
        begin = time.monotonic()
        log = place.layered(*words, options=())
        took = time.monotonic() - begin
        assert log["not_in_time"] == 20 and log["seconds_waited"] < 0.1 * took, (log, took)
        log = place.layered(*words, options=("--wait", "500"))
        assert log["seconds_waited"] > 1, log


def test_all_pipelines_of_a_call_are_asked_for_at_once(place: Place, pairs: list[str]) -> None:
    """Nobody answers: the last request is there before the first has been given up."""
    words = [sys.executable, "-m", "tests.render.at_once", "8", *pairs[:2]]
    with silence(place) as arrived:
        log = place.layered(*words, options=("--wait", "1500"))
    assert log["not_in_time"] == log["pipelines"] == 8, log
    assert len(arrived) == 8
    assert max(arrived.values()) - min(arrived.values()) < 1.4


def test_what_was_asked_for_at_once_is_linked(place: Place, pairs: list[str]) -> None:
    words = [sys.executable, "-m", "tests.render.at_once", "8", *pairs[:2]]
    log = place.layered(*words)
    assert log["linked"] == log["hits"] + log["misses"] == 8 and not log["events"], log
    log = place.layered(*words)
    assert log["linked"] == log["hits"] == 8, log


def test_the_linker_stands_behind_the_program(place: Place, pairs: list[str]) -> None:
    """It starts at the lower priority that its workers have, and these go no lower."""
    words = [sys.executable, "-m", "tests.render.at_once", "2", *pairs[:2]]
    assert place.layered(*words)["linked"] == 2
    server = int(Path(socket_of(place).removesuffix(".socket") + ".lock").read_text())
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert children
    for number in (server, *map(int, children)):
        assert os.getpriority(os.PRIO_PROCESS, number) == own + serve.NICE


def test_a_thread_that_has_presented_does_not_wait(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """But before its first frame, and other threads always; and it does if it is told to."""
    program = build_with_layer("layer_present.c", tmp_path, "-fsanitize=address,undefined")

    def said(cache: str, **variables: str) -> list[str]:
        place.variables["VK_SPVLINK_STAGE_LINK_CACHE_DIR"] = str(tmp_path / cache)
        words = ["setarch", "-R", program, *pairs[:2]]
        lines = place.program(
            *words, VK_SPVLINK_STAGE_LINK_WAIT_MS="20000", **variables
        ).splitlines()
        assert lines[1] == "presented: 1000001003"
        return [line.split(": ")[1] for line in (lines[0], *lines[2:])]

    linked, late = "linked", "not waited for"
    never = {"VK_SPVLINK_STAGE_LINK_WAIT_PRESENTING": "0"}
    assert said("a", **never) == [linked, late, linked]
    log = place.log()
    assert log["not_in_time"] == 1 and not log["events"], log
    reason = "not linked yet: not waited for on a thread that presents"
    assert log["passed_through"] == {reason: 1}
    assert said("b") == [linked] * 3
