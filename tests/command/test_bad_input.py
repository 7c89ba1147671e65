"""Whatever comes in: one error line, no traceback, within a second, nothing half-written.

The command runs inside this process, through ``cli.main``, because a process each would take
minutes. Damage that leaves a valid pipeline is linked, of course; then the outputs are whole.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import signal
import subprocess
import traceback
from collections import Counter
from pathlib import Path

import pytest

from spvlink import cli, validate
from tests.support.samples import assemble

ROOT = Path(__file__).resolve().parents[2]
FLIPS = 10_000
SEED = 20260801
LIMIT = 1.0  # seconds for one command
SLOW = -1

SMALL_VERT = """#version 450
layout(location = 0) in vec2 p;
layout(location = 0) out vec2 uv;
void main() { uv = p; gl_Position = vec4(p, 0.0, 1.0); }
"""
SMALL_FRAG = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 c;
void main() { if (uv.x < 0.5) discard; c = uv.xyxy; }
"""
# Pipelines of shaders/ whose modules get flipped as well: blocks, arrays, branches, textures.
VICTIMS = ("tonemap", "ui_quad", "picking")


def compile_glsl(path: Path, output: Path) -> None:
    command = ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-o", output, path]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Path]]:
    """(vertex module, fragment module), the smallest pair first."""
    folder = tmp_path_factory.mktemp("bad")
    made = []
    for name, text in (("small.vert", SMALL_VERT), ("small.frag", SMALL_FRAG)):
        (folder / name).write_text(text)
        compile_glsl(folder / name, folder / f"{name}.spv")
    made.append((folder / "small.vert.spv", folder / "small.frag.spv"))
    for name in VICTIMS:
        both = [folder / f"{name}.{stage}.spv" for stage in ("vert", "frag")]
        for output in both:
            compile_glsl(ROOT / "shaders" / name / output.stem, output)
        made.append((both[0], both[1]))
    return made


class TooSlow(BaseException):
    """Raised by the timer: no Exception, so that nobody takes it for a defect and goes on."""


def out_of_time(*_: object) -> None:
    raise TooSlow


class Bench:
    """Runs the command on damaged modules and checks what must hold whatever happens.

    Seconds are those of the processor, because the machine may be busy with other things.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.statuses: Counter[int] = Counter()
        self.defects: list[str] = []
        self.slow: list[str] = []
        signal.signal(signal.SIGPROF, out_of_time)

    def run(self, vert: bytes, frag: bytes, *options: str) -> tuple[int, str]:
        files = [str(self.folder / "a.vert.spv"), str(self.folder / "a.frag.spv")]
        for file, data in zip(files, (vert, frag)):
            with open(file, "wb") as target:
                target.write(data)
        status, said = self.command("link", *files, "-o", str(self.out), *options)
        names = sorted(os.listdir(self.out)) if self.out.exists() else []
        if status == SLOW:
            self.slow[-1] += f", case {sum(self.statuses.values()) + len(self.slow) - 1}"
            shutil.rmtree(self.out, ignore_errors=True)
        elif status in (0, 3):
            assert names == ["a.frag.spv", "a.vert.spv"]
            shutil.rmtree(self.out)
        else:
            assert names == [], "half-written"
        return status, said

    def command(self, *words: str) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        status = SLOW
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = cli.main(list(words))
        except TooSlow as error:
            frames = traceback.extract_tb(error.__traceback__)
            self.slow.append(f"in {frames[-2].name}, {os.path.basename(frames[-2].filename)}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if status == SLOW:
            # Outside of the except clause: pytest cannot print where a timer struck.
            assert len(self.slow) < 5, self.slow
            return SLOW, ""
        self.statuses[status] += 1
        said = err.getvalue()
        lines = said.splitlines()
        assert out.getvalue() == ""
        if status == 0:
            assert all(line.startswith("spvlink: warning: ") for line in lines), said
        else:
            assert lines[0].startswith("spvlink: error: "), said
            assert all(line.startswith("  while ") for line in lines[1:]), said
            assert "Traceback" not in said
        if status == 3:
            self.defects.append(said)
        return status, said

    def check(self) -> None:
        """No input is the fault of spvlink, and none takes more than a second."""
        assert not self.slow, self.slow
        assert not self.defects, f"{len(self.defects)} defects, the first: {self.defects[0]}"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_these_pairs_are_fine(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    for vert, frag in pairs:
        assert bench.run(vert.read_bytes(), frag.read_bytes()) == (0, "")


def test_every_prefix_by_bytes(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    vert, frag = (path.read_bytes() for path in pairs[0])
    for size in range(len(vert)):
        status, said = bench.run(vert[:size], frag, "--no-validate")
        assert status == 1 and "a.vert.spv: " in said, size
    bench.check()


def test_every_prefix_by_words(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    vert, frag = (path.read_bytes() for path in pairs[1])
    for size in range(0, len(frag), 4):
        status, said = bench.run(vert, frag[:size], "--no-validate")
        assert status == 1 and "a.frag.spv: " in said, size
    bench.check()


def flips(pairs: list[tuple[Path, Path]], count: int, seed: int) -> list[tuple[bytes, bytes]]:
    """Seeded damage: one to four bytes of one module of a pair.

    Half of it is anything anywhere, and mostly found out by the decoder. The other half changes a
    low bit of a word's low byte: another id, opcode or enumerant, which leads deeper.
    """
    dice = random.Random(seed)
    modules = [(vert.read_bytes(), frag.read_bytes()) for vert, frag in pairs]
    damaged = []
    for number in range(count):
        pair = list(modules[number % len(modules)])
        side = dice.randrange(2)
        data = bytearray(pair[side])
        for _ in range(dice.choice((1, 1, 1, 2, 4))):
            if dice.random() < 0.5:
                data[dice.randrange(len(data))] ^= dice.randrange(1, 256)
            else:
                data[dice.randrange(len(data) // 4) * 4] ^= 1 << dice.randrange(5)
        pair[side] = bytes(data)
        damaged.append((pair[0], pair[1]))
    return damaged


def test_byte_flips(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    # The larger modules take longest and teach least, so most flips hit the small pair.
    plan = [pairs[0]] * 9 + pairs[1:]
    for vert, frag in flips(plan, FLIPS, SEED):
        bench.run(vert, frag, "--no-validate")
    assert sum(bench.statuses.values()) == FLIPS
    assert bench.statuses[1] > FLIPS / 10 and bench.statuses[0] > FLIPS / 100
    bench.check()


def test_byte_flips_with_validation(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    """What went in valid comes out valid. (Invalid modules of which we see no fault may pass.)"""
    for vert, frag in flips(pairs, 100, SEED + 1):
        both = (vert, frag)
        versions = [int.from_bytes(data[4:8], "little") for data in both]
        env = validate.lowest_env(versions)
        valid = validate.validate_all(both, env) == [None, None]
        files = [bench.folder / name for name in ("v.spv", "f.spv")]
        for file, data in zip(files, both):
            file.write_bytes(data)
        status, _ = bench.command("link", *map(str, files), "-o", str(bench.out))
        if status == 0 and valid:
            outputs = [(bench.out / file.name).read_bytes() for file in files]
            assert validate.validate_all(outputs, env) == [None, None]
        if bench.out.exists():
            shutil.rmtree(bench.out)
    bench.check()


# -- well-formed, but no pipeline ------------------------------------------------------------------


def glsl(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text("#version 450\n" + text)
    compile_glsl(folder / name, folder / f"{name}.spv")
    return str(folder / f"{name}.spv")


def refused(bench: Bench, *files: str, status: tuple[int, ...] = (1,)) -> str:
    got, said = bench.command("link", *files, "-o", str(bench.out))
    assert got in status, said
    assert not bench.out.exists()
    bench.check()
    return said.splitlines()[0]


def test_two_vertex_shaders(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    line = refused(bench, str(pairs[0][0]), str(pairs[1][0]))
    assert "vert" in line


def test_a_compute_shader(pairs: list[tuple[Path, Path]], bench: Bench, tmp_path: Path) -> None:
    compute = glsl(tmp_path, "a.comp", "void main() {}\n")
    line = refused(bench, str(pairs[0][0]), compute)
    assert "a.comp.spv" in line


def test_a_missing_entry_point(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    vert, frag = map(str, pairs[0])
    line = refused(bench, f"{vert}:nothing", frag, status=(1, 2))
    assert "no entry point 'nothing'" in line


MISMATCHES = {
    "signed integers": "layout(location = 0) flat in ivec2 uv;",
    "unsigned integers": "layout(location = 0) flat in uvec2 uv;",
    "doubles": "layout(location = 0) flat in dvec2 uv;",
}
UNWRITTEN = {
    "another Location": "layout(location = 3) in vec2 uv;",
    "a wider vector": "layout(location = 0) in vec4 uv;",
    "another component": "layout(location = 0, component = 2) in vec2 uv;",
}


def reading(bench: Bench, declaration: str) -> str:
    text = f"{declaration} layout(location = 0) out vec4 c; void main() {{ c = vec4(uv.xyxy); }}\n"
    return glsl(bench.folder, "a.frag", text)


@pytest.mark.parametrize("what", MISMATCHES)
def test_a_mismatched_interface(pairs: list[tuple[Path, Path]], bench: Bench, what: str) -> None:
    line = refused(bench, str(pairs[0][0]), reading(bench, MISMATCHES[what]))
    assert "ocation 0" in line


@pytest.mark.parametrize("what", UNWRITTEN)
def test_an_input_that_nobody_writes(
    pairs: list[tuple[Path, Path]], bench: Bench, what: str
) -> None:
    """Undefined by Vulkan's rules: it may become a constant or be refused, but nothing else."""
    frag = reading(bench, UNWRITTEN[what])
    status, _ = bench.command("link", str(pairs[0][0]), frag, "-o", str(bench.out))
    assert status in (0, 1)
    assert bench.out.exists() == (status == 0)
    bench.check()


def test_a_library_without_entry_points(
    pairs: list[tuple[Path, Path]], bench: Bench, tmp_path: Path
) -> None:
    text = "OpCapability Linkage\nOpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    file = tmp_path / "library.spv"
    file.write_bytes(assemble(text))
    line = refused(bench, str(pairs[0][0]), str(file))
    assert "entry point" in line


def test_files_that_are_no_modules(
    pairs: list[tuple[Path, Path]], bench: Bench, tmp_path: Path
) -> None:
    frag = str(pairs[0][1])
    (tmp_path / "empty.spv").touch()
    (tmp_path / "text.spv").write_text("void main() {}\n")
    (tmp_path / "huge.spv").touch()
    os.truncate(tmp_path / "huge.spv", 1 << 40)
    (tmp_path / "folder.spv").mkdir()
    assert "empty.spv: the file is too short" in refused(bench, str(tmp_path / "empty.spv"), frag)
    assert "text.spv: not SPIR-V" in refused(bench, str(tmp_path / "text.spv"), frag)
    assert "huge.spv: " in refused(bench, str(tmp_path / "huge.spv"), frag)
    line = refused(bench, str(tmp_path / "folder.spv"), frag, status=(2,))
    assert "folder.spv: cannot read it: Is a directory" in line
    assert "/dev/zero: " in refused(bench, "/dev/zero", frag)


def test_a_large_file_with_a_good_header(pairs: list[tuple[Path, Path]], bench: Bench) -> None:
    vert, frag = (path.read_bytes() for path in pairs[0])
    status, _ = bench.run(vert + bytes(16 << 20), frag)
    assert status == 1
    bench.check()


def test_folders_that_cannot_be_written(
    pairs: list[tuple[Path, Path]], bench: Bench, tmp_path: Path
) -> None:
    vert, frag = map(str, pairs[0])
    (tmp_path / "file").write_text("here first")
    before = sorted(os.listdir(tmp_path))
    for folder in (str(tmp_path / "file"), str(tmp_path / "file/below"), "/proc/nowhere"):
        status, said = bench.command("link", vert, frag, "-o", folder)
        assert status == 2 and "cannot write it" in said
    assert sorted(os.listdir(tmp_path)) == before
    (tmp_path / "out").mkdir()
    (tmp_path / "out/small.vert.spv").mkdir()  # stands where a file has to go
    status, said = bench.command("link", vert, frag, "-o", str(tmp_path / "out"))
    assert status == 2 and "Is a directory" in said
    assert os.listdir(tmp_path / "out") == ["small.vert.spv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(
    pairs: list[tuple[Path, Path]], bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    status, said = bench.command("link", *map(str, pairs[0]), "-o", str(tmp_path / "closed"))
    assert status == 2 and "Permission denied" in said
