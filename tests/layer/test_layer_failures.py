"""What goes wrong around the Vulkan layer, with real programs on lavapipe: the frame is the one
that comes without it, and the log says what happened."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from hashlib import blake2b
from pathlib import Path

import pytest

from spvlink.layer import places
from spvlink.layer.store import BLOCK, DAY, LayerCache
from tests.render.glsl import compile_glsl
from tests.support.layer_place import (
    NAMES,
    ROOT,
    WAIT,
    Place,
    assert_same,
    build_with_layer,
    forms,
    instructions,
    socket_of,
    tamper,
)
from tests.support.small_disk import on_a_small_disk

EXACT = ("--exact", *WAIT)


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory, pairs: list[str]) -> Path:
    """What the programs draw without the layer."""
    out = tmp_path_factory.mktemp("frames") / "plain.npz"
    Place(out.parent).program(*forms("monolithic", out, pairs))
    return out


# -- the linker process ----------------------------------------------------------------------------


def start_server(place: Place) -> subprocess.Popen[bytes]:
    """`spvlink serve`, and it listens."""
    command = [sys.executable, "-m", "spvlink", "serve", "--workers", "1"]
    server = subprocess.Popen(command, env=place.variables)
    for _ in range(500):
        if os.path.exists(socket_of(place)):
            return server
        time.sleep(0.02)
    raise AssertionError("it does not listen")


def first_worker(server: subprocess.Popen[bytes]) -> int:
    """The process id of the first worker, stopped: it has just got a link to do."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    for _ in range(20000):
        found = children.read_text().split()
        if found:
            os.kill(int(found[0]), signal.SIGSTOP)
            return int(found[0])
        time.sleep(0.001)
    raise AssertionError("nobody asked for a link")


@pytest.mark.parametrize("who", ["server", "worker"])
def test_killed_in_the_middle_of_a_link(
    who: str, place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    """The pipeline that waits gets its original modules at once, and the next one a new process."""
    server = start_server(place)

    def kill() -> None:
        worker = first_worker(server)
        time.sleep(0.1)  # the program waits for its answer now
        if who == "server":
            os.kill(server.pid, signal.SIGKILL)
        os.kill(worker, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    out = tmp_path / "out.npz"
    log = place.layered(*forms("monolithic", out, pairs), options=EXACT)
    thread.join()
    server.kill()
    server.wait()
    assert_same(frames, out)
    assert log["linked"] == len(NAMES) - 1 and log["misses"] == len(NAMES), log
    assert log["seconds_waited"] < 15, log  # it did not wait for the dead
    (reason,) = log["passed_through"]
    if who == "server":
        assert log["events"] == {reason: 1} and "went away" in reason
    else:
        assert "died at it" in reason


@pytest.mark.parametrize("said", [b"", b"\xff" * 64, b"\x08\0\0\0\0\0\0\0abcdefgh", b"\x64"])
def test_nonsense_from_the_socket(
    said: bytes, place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    """Something else sits behind the socket: it says nonsense and goes away."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(socket_of(place))
    listener.listen()

    def talk() -> None:
        for _ in NAMES:
            connection, _address = listener.accept()
            connection.recv(100)
            connection.sendall(said)
            connection.close()

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    out = tmp_path / "out.npz"
    log = place.layered(*forms("monolithic", out, pairs))
    thread.join(10)
    listener.close()
    assert log["linked"] == 0 and sum(log["passed_through"].values()) == len(NAMES)
    assert sum(log["events"].values()) == len(NAMES), log
    assert_same(frames, out)


def test_nonsense_to_the_socket(place: Place, pairs: list[str], tmp_path: Path) -> None:
    """Who talks nonsense is hung up on, and the others do not notice."""
    server = start_server(place)
    silent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    silent.connect(socket_of(place))
    head = b"SPLR" + (100).to_bytes(4, "little")
    for said in (b"x" * 8, b"SPLR\xff\xff\xff\xff", head + b"\xff" * 100, head + bytes(100)):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(socket_of(place))
            client.settimeout(20)
            client.sendall(said)
            answer = client.recv(1000)
            assert not answer or b"another version" in answer or b"no sense" in answer
    log = place.layered(*forms("monolithic", tmp_path / "out.npz", pairs))
    assert log["linked"] == len(NAMES) and not log["events"]
    assert server.poll() is None
    silent.close()
    server.terminate()
    assert server.wait(20) == 0


def test_a_server_that_says_nothing_costs_the_limit_and_no_more(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(socket_of(place))
    listener.listen()
    out = tmp_path / "out.npz"
    log = place.layered(*forms("monolithic", out, pairs), options=("--wait", "100"))
    listener.close()
    assert log["linked"] == 0 and 0.25 < log["seconds_waited"] < 5, log
    assert any("in time" in reason for reason in log["passed_through"])


def test_without_python(place: Place, pairs: list[str], frames: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    nobody = {"VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python"}
    log = place.layered(*forms("monolithic", out, pairs), **nobody)
    assert log["linked"] == 0 and sum(log["passed_through"].values()) == len(NAMES)
    assert any("no Python" in event for event in log["events"])
    assert log["seconds"] < 5  # nobody was waited for
    assert_same(frames, out)


@pytest.mark.parametrize("path", ["", "/no/such/folder"])
def test_a_warm_cache_needs_no_python_and_no_path(
    path: str, place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    """As in a container that has neither; the negative is an empty cache."""
    out = tmp_path / "out.npz"
    place.layered(*forms("monolithic", out, pairs), options=EXACT)
    wait_for_end(place)
    folder = next((place.folder / "cache/spvlink/builds").iterdir())
    variables = {
        "PATH": path, "VK_ADD_LAYER_PATH": str(folder), "VK_SPVLINK_STAGE_LINK_EXACT": "1",
        "VK_INSTANCE_LAYERS": places.LAYER, "VK_SPVLINK_STAGE_LINK_PYTHON": "/no/such/python",
    }  # fmt: skip
    place.program(*forms("monolithic", out, pairs), **variables)
    log = place.log()
    assert log["linked"] == log["hits"] == len(NAMES) and not log["events"], log
    assert_same(frames, out)
    assert not os.path.exists(socket_of(place))  # nobody was started
    variables["VK_SPVLINK_STAGE_LINK_CACHE_DIR"] = str(tmp_path / "empty")
    place.program(*forms("monolithic", out, pairs), **variables)
    log = place.log()
    assert log["linked"] == 0 and log["not_in_time"] == len(NAMES), log
    assert_same(frames, out)


# -- the disk --------------------------------------------------------------------------------------


def layered_there(place: Place, disk: list[str], out: Path, pairs: list[str]) -> dict[str, object]:
    """What the log says of the program run with the layer in there, at the highest precision."""
    program = [*disk, sys.executable, "-m", "spvlink", "layer", "run", *EXACT, "--"]
    place.program(*program, *forms("monolithic", out, pairs))
    return place.log()


def test_a_disk_that_gets_full(
    place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    """There is room for one answer and a part of the second one."""
    folder, out, left = tmp_path / "disk", tmp_path / "out.npz", tmp_path / "left"
    place.variables["VK_SPVLINK_STAGE_LINK_CACHE_DIR"] = str(folder / "linked")
    disk = on_a_small_disk(folder, 28, f'trap "ls -R $0 > {left}" EXIT; set -- sh -c "$*";')
    # the shell must live on to look at the disk
    disk[disk.index("-c") + 1] = disk[disk.index("-c") + 1].replace('exec "$@"', '"$@"')
    log = layered_there(place, disk, out, pairs)
    assert log["linked"] == len(NAMES)  # answers come over the socket
    assert any("No space left" in event for event in log["events"]), log
    assert_same(frames, out)
    files = [name for name in left.read_text().split() if len(name) >= 62 and "/" not in name]
    assert 0 < len(files) < len(NAMES) and not any("new" in name for name in files), files


def test_a_disk_that_cannot_be_written(
    place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    """What is in the cache is used, and the rest comes over the socket."""
    full, folder, out = tmp_path / "full", tmp_path / "disk", tmp_path / "out.npz"
    place.variables["VK_SPVLINK_STAGE_LINK_CACHE_DIR"] = str(folder)
    place.variables["VK_SPVLINK_STAGE_LINK_IDLE_S"] = "1"
    place.layered(*forms("monolithic", out, pairs), options=EXACT)
    wait_for_end(place)  # all is written by then; and it sees another disk
    first = sorted(folder.glob("??/*"))[0]
    first.unlink()
    shutil.copytree(folder, full)
    copy = f'cp -r {full}/. "$0" && mount -o remount,ro "$0" &&'
    log = layered_there(place, on_a_small_disk(folder, 1000, copy), out, pairs)
    assert log["hits"] == len(NAMES) - 1 and log["misses"] == 1 and log["linked"] == len(NAMES)
    assert any("Read-only" in event for event in log["events"]), str(log)
    assert_same(frames, out)
    place.variables["VK_SPVLINK_STAGE_LINK_PYTHON"] = "/no/such/python"
    wait_for_end(place)
    log = layered_there(place, on_a_small_disk(folder, 1000, copy), out, pairs)
    assert log["linked"] == len(NAMES) - 1
    assert any("no request can be left" in event for event in log["events"]), log
    assert_same(frames, out)


def test_a_folder_that_is_none(
    place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")  # where a folder should be
    variables = {"VK_SPVLINK_STAGE_LINK_CACHE_DIR": str(tmp_path / "file")}
    out = tmp_path / "out.npz"
    log = place.layered(*forms("monolithic", out, pairs), options=EXACT, **variables)
    assert log["linked"] == log["misses"] == len(NAMES)
    assert any("cannot be written" in event for event in log["events"]), log
    assert_same(frames, out)


def test_nothing_can_be_written_anywhere(
    place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    """No cache, no log, no socket: HOME is no folder."""
    out = tmp_path / "out.npz"
    place.spvlink("layer", "run", "--", "true")  # built
    folder = next((place.folder / "cache/spvlink/builds").iterdir())
    variables = dict(place.variables)
    for name in ("CACHE", "STATE", "DATA"):
        variables.pop(f"XDG_{name}_HOME")
    variables.update(HOME="/dev/null", VK_ADD_LAYER_PATH=str(folder))
    variables.update(VK_INSTANCE_LAYERS="VK_LAYER_SPVLINK_stage_link")
    variables.update(VK_SPVLINK_STAGE_LINK_LOG="stderr", VK_SPVLINK_STAGE_LINK_EXACT="1")
    done = subprocess.run(
        forms("monolithic", out, pairs), cwd=ROOT, env=variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "spvlink layer:" in done.stderr, done.stderr
    assert_same(frames, out)


def test_a_limit_on_the_size_of_files_ends_nobody(place: Place, tmp_path: Path) -> None:
    """What writes over `ulimit -f` gets a signal that ends it: the layer must not be the one."""
    from tests.support.layer_client import FRAG, GEOM, VERT

    paths = []
    for stage, source in (("vert", VERT), ("geom", GEOM), ("frag", FRAG)):
        paths.append(str(tmp_path / f"{stage}.spv"))
        Path(paths[-1]).write_bytes(compile_glsl(stage, source))
    program = build_with_layer("layer_calls.c", tmp_path)
    log = tmp_path / "log"
    place.variables["VK_SPVLINK_STAGE_LINK_LOG"] = str(log)
    place.variables["VK_SPVLINK_STAGE_LINK_PYTHON"] = "/no/such/python"
    said = place.program("prlimit", "--fsize=600", program, *paths)
    assert "modules: untouched" in said and ": linked" not in said
    assert 0 < log.stat().st_size <= 600
    assert not list((place.folder / "cache").rglob("pending/*"))


# -- the cache -------------------------------------------------------------------------------------


def test_the_oldest_go_first(tmp_path: Path) -> None:
    """Bytes are those of blocks on the disk."""
    limit = 11 * BLOCK + 100
    store = LayerCache(str(tmp_path), limit)
    for number in range(12):
        key = bytes([number]) * 32
        store.put(key, bytes(900))
        day = (1000 - number) * DAY  # the last one is the oldest
        os.utime(store.path(key), (day, day))
    left = {path.parent.name for path in tmp_path.glob("??/*")}
    assert "00" in left and "01" in left and "0a" not in left, left
    assert store.size == LayerCache(str(tmp_path), limit).size == BLOCK * len(left) <= limit


def test_a_program_whose_pipelines_do_not_all_fit(tmp_path: Path) -> None:
    """It asks for them in the same order at each start: most are there all the same."""
    store = LayerCache(str(tmp_path), 100 * BLOCK)
    keys = [blake2b(bytes([n])).digest()[:32] for n in range(120)]
    hits = 0
    for start in range(6):
        for key in keys:
            if os.path.exists(store.path(key)):
                hits += start == 5
            else:
                store.put(key, bytes(900))
    assert hits > 60


def test_what_is_used_stays_and_what_is_old_goes(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.npz"
    place.variables["VK_SPVLINK_STAGE_LINK_CACHE_MB"] = "1"
    place.variables["VK_SPVLINK_STAGE_LINK_IDLE_S"] = "1"
    place.layered(*forms("monolithic", out, pairs[:2]))
    (used,) = place.cached()
    old = used.parent.parent / "00" / ("0" * 62)
    old.parent.mkdir()
    old.write_bytes(bytes(1 << 20))
    day = 86400
    now = time.time()
    os.utime(used, (now - 9 * day, now - 9 * day))
    os.utime(old, (now - 3 * day, now - 3 * day))
    wait_for_end(place)  # a new process sees what lies there
    assert place.layered(*forms("monolithic", out, pairs[:2]))["hits"] == 1
    assert used.stat().st_mtime > now - day  # touched, so that it is not the oldest any more
    assert place.layered(*forms("monolithic", out, pairs))["misses"] == len(NAMES) - 1
    assert not old.exists() and used.exists()


def wait_for_end(place: Place) -> None:
    """Until the linker process has ended by itself."""
    for _ in range(400):
        if not os.path.exists(socket_of(place)):
            return
        time.sleep(0.05)
    raise AssertionError("it does not end")


def test_damaged_files_in_the_cache_are_made_again(
    place: Place, pairs: list[str], frames: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.npz"
    place.layered(*forms("monolithic", out, pairs), options=EXACT)
    files = place.cached()
    assert len(files) == len(NAMES)
    files[0].write_bytes(b"")
    files[1].write_bytes(files[1].read_bytes()[:-20])
    data = bytearray(files[2].read_bytes())
    data[len(data) // 2] ^= 1
    files[2].write_bytes(data)
    log = place.layered(*forms("monolithic", out, pairs), options=EXACT)
    assert log["misses"] == len(NAMES) and log["linked"] == len(NAMES), log
    assert sum(n for text, n in log["events"].items() if "damaged" in text) == len(NAMES)
    assert_same(frames, out)
    assert place.layered(*forms("monolithic", out, pairs), options=("--exact",))["hits"] == 3


# -- the driver ------------------------------------------------------------------------------------


def other_entry_point(words: list[int]) -> None:
    """The module is well-formed, and has no entry point of the name that the pipeline says."""
    for at, op in instructions(words):
        if op == 15:  # OpEntryPoint
            words[at + 3] = int.from_bytes(b"niam", "little")


@pytest.mark.parametrize("form", ["monolithic", "inline", "library", "shader-object"])
def test_a_driver_that_refuses_the_linked_modules(
    form: str, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """lavapipe says no to the linked pipelines: it gets the originals."""
    plain, out = tmp_path / "plain.npz", tmp_path / "out.npz"
    place.program(*forms(form, plain, pairs))
    place.layered(*forms(form, out, pairs), options=EXACT)
    for path in place.cached():
        tamper(path, other_entry_point)
    log = place.layered(*forms(form, out, pairs), options=("--exact",))
    assert log["hits"] == len(NAMES) and log["linked"] == 0, log
    assert log["passed_through"]["the driver refused the linked modules"] == len(NAMES)
    assert sum(n for text, n in log["events"].items() if "refused" in text) == len(NAMES)
    assert_same(plain, out)


def test_ten_thousand_pipelines_leak_nothing(place: Place, tmp_path: Path) -> None:
    from tests.support.layer_client import FRAG, VERT

    paths = []
    for stage, source in (("vert", VERT), ("frag", FRAG)):
        paths.append(str(tmp_path / f"{stage}.spv"))
        Path(paths[-1]).write_bytes(compile_glsl(stage, source))
    words = [sys.executable, "-m", "tests.render.many", "10000", *paths]
    said = place.spvlink("layer", "run", *WAIT, "--", *words)
    log = place.log()
    assert log["linked"] == log["pipelines"] == 10_000 and not log["events"]
    early, late = (int(word) for word in said.split()[-2:])
    assert late - early < 2000, (early, late)  # kilobytes; a module of this size has two
