"""Where the Vulkan layer and its linker process meet: folders, users, versions."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spvlink.layer import places
from tests.support.layer_place import NAMES, ROOT, WAIT, Place, forms, socket_of


@pytest.mark.parametrize("trouble", ["deep", "open to others", "not there", "of a file"])
def test_a_runtime_folder_that_will_not_do(
    trouble: str, place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """Then the socket is in a folder of this user below /tmp."""
    folder = place.runtime
    if trouble == "deep":
        folder = folder / ("x" * 100)
        folder.mkdir()
    elif trouble == "open to others":
        (folder / "spvlink").mkdir()
        (folder / "spvlink").chmod(0o755)
    elif trouble == "not there":
        folder = folder / "nobody" / "made" / "it"
    else:
        (folder / "spvlink").write_text("")
    place.variables["XDG_RUNTIME_DIR"] = str(folder)
    log = place.layered(*forms("monolithic", tmp_path / "out.npz", pairs))
    assert log["linked"] == len(NAMES) and not log["events"], log
    assert not list(place.runtime.rglob("*.socket"))
    assert stat.S_IMODE(os.stat(f"/tmp/spvlink-{os.geteuid()}").st_mode) == 0o700


def serving(place: Place) -> subprocess.Popen[bytes]:
    server = subprocess.Popen([sys.executable, "-m", "spvlink", "serve"], env=place.variables)
    for _ in range(10_000):
        if os.path.exists(socket_of(place)):
            return server
        time.sleep(0.001)
    raise AssertionError("it does not listen")


CLIENT = """
import socket, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.settimeout(20)
client.connect(sys.argv[1])
try:
    client.sendall(b"SPLR\\x10\\0\\0\\0\\x0c\\0\\0\\0")  # a head, and nothing behind it
    said = client.recv(1)
except TimeoutError:
    said = "waits for more"
except OSError:
    said = b""
print(said or "hung up")
"""


def test_only_the_same_user_may_talk_to_it(place: Place) -> None:
    """The folder and the socket are this user's, and who gets in anyway is hung up on."""
    server = serving(place)
    path = socket_of(place)
    try:
        assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
        assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(path)
            client.settimeout(1)
            client.sendall(b"SPLR\x10\0\0\0\x0c\0\0\0")
            with pytest.raises(TimeoutError):  # it waits for the rest
                client.recv(1)
        if os.geteuid() != 0:
            pytest.skip("only root can try it as another user")
        for open_ in (place.runtime, Path(path).parent, Path(path)):
            open_.chmod(0o777)
        other = ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", CLIENT]
        said = subprocess.run([*other, path], capture_output=True, text=True, check=True).stdout
        assert said == "hung up\n"
    finally:
        server.terminate()
        server.wait(20)


def test_versions_of_the_linker_are_kept_apart(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    """A copy of the package is a linker of its own, until it changes; then it is another one."""
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(places.PACKAGE, copy / "spvlink", ignore=ignore)
    program = forms("monolithic", tmp_path / "out.npz", pairs)

    def hits_and_misses() -> tuple[int, int]:
        code = "import sys; sys.path.insert(0, sys.argv.pop(1));" \
            "from spvlink.cli import main; sys.exit(main())"  # fmt: skip
        command = [sys.executable, "-P", "-c", code, str(copy), "layer", "run", *WAIT, "--"]
        place.program(*command, *program)
        log = place.log()
        assert log["linked"] == len(NAMES) and not log["events"], log
        return log["hits"], log["misses"]

    assert hits_and_misses() == (0, len(NAMES))
    assert hits_and_misses() == (len(NAMES), 0)
    changed = copy / "spvlink" / "options.py"
    before, times = changed.read_text(), changed.stat()
    other = before.replace("link", "lynk", 1)  # of the same size, and at the same time
    changed.write_text(other)
    os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert other != before and changed.stat().st_size == times.st_size
    assert hits_and_misses() == (0, len(NAMES))
    assert len(place.cached()) == 2 * len(NAMES)
    changed.write_text(before)
    assert hits_and_misses() == (len(NAMES), 0)
    (copy / "spvlink" / "ir" / "core.abi3.so.old").write_bytes(b"")  # nothing that is imported
    assert hits_and_misses() == (len(NAMES), 0)
    (copy / "spvlink" / "ir" / "compiled.so").write_bytes(b"")
    assert hits_and_misses() == (0, len(NAMES))


def test_a_path_with_spaces_and_quotes(place: Place, pairs: list[str], tmp_path: Path) -> None:
    folder = tmp_path / 'a folder\'s "name" ü'
    folder.mkdir()
    for name in ("CACHE", "STATE", "DATA"):
        place.variables[f"XDG_{name}_HOME"] = str(folder / name.lower())
    place.spvlink("layer", "install")
    place.program(
        *forms("monolithic", tmp_path / "out.npz", pairs),
        VK_INSTANCE_LAYERS=places.LAYER, VK_SPVLINK_STAGE_LINK_WAIT_MS="20000",
    )  # fmt: skip
    log = place.log()
    assert log["linked"] == len(NAMES) and not log["events"], log
    assert len(list(folder.glob("cache/spvlink/linked/??/*"))) == len(NAMES)
    place.spvlink("layer", "uninstall")
    assert not list(folder.rglob("*spvlink*"))


@pytest.mark.parametrize(
    "words, said",
    [
        ((), "there are run, warm, install, uninstall and log"),
        (("frob",), "there are run, warm, install, uninstall and log"),
        (("run",), "no command"),
        (("run", "--frob", "--", "true"), "unknown option --frob"),
        (("run", "--wait"), "needs a value"),
        (("run", "--wait", "soon", "--", "true"), "expected a whole number"),
        (("run", "--never-wait=1", "--", "true"), "takes no value"),
        (("run", "--", "no-such-program"), "no such program"),
        (("install", "now"), "too much"),
        (("log", "--frob"), "unknown option --frob"),
    ],
)
def test_wrong_words_are_said_in_one_line(words: tuple[str, ...], said: str, place: Place) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spvlink", "layer", *words], env=place.variables, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith("spvlink: error: ") and done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize("words", [("install",), ("run", "--", "true"), ("log",), ("uninstall",)])
def test_without_a_home(words: tuple[str, ...], place: Place) -> None:
    for name in ("CACHE", "STATE", "DATA"):
        del place.variables[f"XDG_{name}_HOME"]
    place.variables.pop("HOME", None)
    done = subprocess.run(
        [sys.executable, "-m", "spvlink", "layer", *words], env=place.variables, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "nor HOME names a folder" in done.stderr
    assert done.stderr.count("\n") == 1


def test_byte_code_is_there_before_the_first_program(tmp_path: Path) -> None:
    """As an installed package has none when nobody has imported it."""
    package = tmp_path / "spvlink"
    shutil.copytree(ROOT / "spvlink", package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(
        [sys.executable, "-c", f"from spvlink.layer import build; build.build({str(tmp_path)!r})"],
        cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    sources = set(package.rglob("*.py"))
    compiled = {p.parent.parent / f"{p.name.partition('.')[0]}.py" for p in package.rglob("*.pyc")}
    assert compiled == sources
