"""What people expect of a command: short forms, hints, colour, completions."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from spvlink import cli
from spvlink.batches import command as batch_command
from spvlink.completions import SHELLS, WORDS, completions
from tests.support.chains import build

FILES = ("a.vert.spv", "a.frag.spv")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the modules of a pipeline, as the current one."""
    for name, code in zip(FILES, build("debug_uv")):
        (tmp_path / name).write_bytes(code)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", [["-oout"], ["-o=out"], ["--output", "out"], ["--output=out"]])
def test_ways_to_say_where(words: list[str], work: Path) -> None:
    assert cli.main(["link", *FILES, *words]) == 0
    assert sorted(p.name for p in (work / "out").iterdir()) == sorted(FILES)


def test_version_has_a_short_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["-V"]) == cli.main(["--version"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second and first.startswith("spvlink 0.")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lnk"], "unknown command lnk (did you mean link?): there are link, batch"),
        (["xyz"], "unknown command xyz: there are"),
        (["link", "a", "--exct"], "unknown option --exct (did you mean --exact?); see"),
        (["link", "a", "--zzz"], "unknown option --zzz; see"),
        (["batch", "a.foz", "--job", "1"], "unknown option --job (did you mean --jobs?); see"),
        (["check", "a", "--jsn"], "unknown option --jsn (did you mean --json?); see"),
        (["link", "a", "-o", "x", "--disable", "dedpu"], "dedpu (did you mean dedup?): there"),
    ],
)
def test_mistyped_words(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.spvasm", "; SPIR-V\nOpCapability Shader\n", "assemble it with spirv-as"),
        ("a.h", "const uint32_t a[] = {\n0x07230203,0x00010000", "that this C array was made of"),
        ("a.vs", "#version 450\nvoid main() {}\n", "GLSL files are called a.vert, .frag and so on"),
        ("a.wgsl", "@vertex fn f() {}", "compile it first"),
        ("a.txt", "hello", "not SPIR-V but text"),
    ],
)
def test_hints_for_text(
    name: str, text: str, says: str, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (work / name).write_text(text)
    assert cli.main(["link", name, FILES[1], "-o", "out"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"spvlink: error: {name}: not SPIR-V but text")
    assert says in said and said.count("\n") == 1


def test_bytes_are_no_text(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "a.bin").write_bytes(bytes(range(200, 250)))
    assert cli.main(["link", "a.bin", FILES[1], "-o", "out"]) == 1
    assert "a.bin: not SPIR-V: the magic number is missing" in capsys.readouterr().err


def test_a_mistake_in_an_included_file_names_that_file(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (work / "part.glsl").write_text("\n\nfloat f() { return nothing; }\n")
    (work / "a.frag").write_text(
        '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "part.glsl"\n'
        "void main() { f(); }\n"
    )
    assert cli.main(["link", FILES[0], "a.frag", "-o", "out"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("spvlink: error: ./part.glsl:3: 'nothing' : undeclared identifier\n")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("out", ["locked", "locked/further/down"])
def test_a_folder_that_cannot_be_written_to_is_named(out: str, work: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        os.chmod(folder, 0o755)
        os.mkdir(f"{folder}/locked", 0o555)
        for name in FILES:
            shutil.copy(name, folder)
        done = subprocess.run(
            [sys.executable, "-S", "-m", "spvlink", "link", *FILES, "-o", out, "--no-validate"],
            cwd=folder, capture_output=True, text=True, user="nobody",
            env=os.environ | {"PYTHONPATH": HERE},
        )  # fmt: skip
    trouble = "cannot write into this folder: Permission denied"
    assert (done.returncode, done.stderr) == (2, f"spvlink: error: locked: {trouble}\n")


HERE = str(Path(cli.__file__).resolve().parent.parent)


def on_a_terminal(words: list[str], **environment: str) -> str:
    """What a command that fails prints on a terminal."""
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"PYTHONPATH": HERE}
    subprocess.run(
        [sys.executable, "-m", "spvlink", *words],
        stderr=theirs, env=env | {"TERM": "xterm"} | environment,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the end, on Linux
            break
        said += more
    os.close(ours)
    return said.decode()


def test_colour_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[1;31merror\x1b[0m" in on_a_terminal(["lnk"])
    assert "\x1b" not in on_a_terminal(["lnk"], NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(["lnk"], TERM="dumb")
    assert cli.main(["lnk"]) == 2 and "\x1b" not in capsys.readouterr().err


def test_an_interrupted_batch_says_how_to_go_on(tmp_path: Path) -> None:
    archive = Path(HERE) / "examples" / "batch" / "shaders.foz"
    command = [sys.executable, "-m", "spvlink", "batch", archive, "-o", "all.foz", "--jobs", "1"]
    child = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": HERE},
        # a shell starts what runs in its background with interrupts ignored, and that is inherited
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not (tmp_path / "all.foz.partial").exists() and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert said == "spvlink: interrupted: the same command goes on from here\n"
    assert child.returncode == 130
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": HERE})
    assert done.returncode == 0 and (tmp_path / "all.foz").exists()


def test_an_interrupt_before_the_first_job_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may come while the folder of finished jobs is made."""
    monkeypatch.setattr(batch_command, "JobStore", Mock(side_effect=KeyboardInterrupt))
    archive = Path(HERE) / "examples" / "batch" / "shaders.foz"
    assert cli.main(["batch", str(archive), "-o", str(tmp_path / "all.foz")]) == 130
    assert capsys.readouterr().err == "spvlink: interrupted: the same command goes on from here\n"


# -- completions -----------------------------------------------------------------------------------

LINES = [  # what stands on the line, and the words that are offered
    (["spvlink", "comp"], {"completions"}),
    (["spvlink", "link", "--ex"], {"--exact", "--expect", "--explain"}),
    (["spvlink", "batch", "--va"], {"--variants"}),
    (["spvlink", "check", "--j"], {"--json"}),
    (["spvlink", "link", "--he"], {"--help", "--help-all"}),
    (["spvlink", "link", "--pack", "loc"], {"locations"}),
    (["spvlink", "link", "--disable", "ded"], {"dedup", "dedup.captured", "dedup.outputs"}),
]


def offered_by_bash(words: list[str]) -> set[str]:
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"{completions('bash', cli.COMMANDS)}\n"
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _spvlink\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def offered_by_fish(words: list[str]) -> set[str]:
    script = (
        f"complete -e -c spvlink\n{completions('fish', cli.COMMANDS)}\n"
        f"complete -C '{' '.join(words)}'\n"
    )
    done = subprocess.run(["fish"], input=script, capture_output=True, text=True, check=True)
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


def offered_by_zsh(words: list[str], folder: Path) -> set[str]:
    """Zsh completes in its line editor only, so compadd and _files are asked instead."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        "compdef() { :; }\ncompadd() { shift; print -rl -- $* }\n_files() { print FILES }\n"
        f"{completions('zsh', cli.COMMANDS)}\n"
        f"words=({quoted}); CURRENT={len(words)}; _spvlink\n"
    )
    done = subprocess.run(["zsh", "-f"], input=script, capture_output=True, text=True, check=True)
    return {word for word in done.stdout.split() if word.startswith(words[-1])}


@pytest.mark.parametrize(("words", "expected"), LINES, ids=lambda line: "-".join(sorted(line)))
@pytest.mark.parametrize("shell", SHELLS)
def test_completions(shell: str, words: list[str], expected: set[str], tmp_path: Path) -> None:
    if shell == "bash":
        assert offered_by_bash(words) == expected
    elif shell == "fish":
        assert expected <= offered_by_fish(words)
    else:
        assert offered_by_zsh(words, tmp_path) == expected


def test_every_option_of_the_help_can_be_completed() -> None:
    from spvlink import arguments

    named = {word.strip(",:") for word in arguments.HELP_ALL.split() if word.startswith("--")}
    words = WORDS["link"]
    known = {*words.flags, *words.values, *words.lists, *words.numbers}
    assert named - known == {"--help"}


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completions", "tcsh"]) == cli.main(["completions"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == "spvlink: error: completions tcsh: there are bash, zsh, fish"
    assert second == "spvlink: error: completions takes the name of a shell: bash, zsh or fish"
