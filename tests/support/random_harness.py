"""What the tests of random pipelines share: ways of compiling a seed, seeds checked in processes of
their own, what every linked pipeline must keep. scripts/fuzz uses the same.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import tee
from pathlib import Path
from random import Random

import spvlink
from spvlink.draw import draw_covering
from spvlink.draw.batch import Crashed, run_isolated
from spvlink.pipeline import Source
from spvlink.verifier.paper.prove import prove
from spvlink.verifier.verdict import EQUAL
from tests.support.glslang import Failure, compile_files, run

ROOT = Path(__file__).resolve().parents[2]
NOTHING_TO_GAIN = "nothing to gain"
ENVIRONMENTS = ("vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3")
# Passes of spirv-opt that reshape a module and keep its interface. Not loop-invariant-code-motion:
# that of 2023.1 hoists loads of what the loop stores, and so makes endless loops of others.
SHAPERS = (
    "--inline-entry-points-exhaustive", "--eliminate-dead-functions", "--merge-return",
    "--ssa-rewrite", "--scalar-replacement=100", "--private-to-local", "--if-conversion",
    "--ccp", "--simplify-instructions", "--merge-blocks", "--eliminate-dead-branches",
    "--loop-unroll", "--redundancy-elimination",
    "--vector-dce", "--copy-propagate-arrays", "--eliminate-local-single-block",
    "--eliminate-local-single-store", "--convert-local-access-chains", "--combine-access-chains",
    "--local-redundancy-elimination", "--cfg-cleanup", "--unify-const", "--strength-reduction",
    "--loop-peeling", "--code-sink", "--reduce-load-size", "--compact-ids", "--wrap-opkill",
    "--flatten-decorations", "--strip-debug",
)  # fmt: skip


# --- from a seed to modules ---


def compile_sources(
    seed: int,
    sources: list[tuple[str, str]],
    environments: tuple[str, ...],
    shapers: tuple[str, ...] = SHAPERS,
) -> list[bytes]:
    """The modules of (stage, GLSL), all compiled in the way that the seed says."""
    r = Random(seed ^ 0x5EED)
    environment, debug = r.choice(environments), r.random() < 0.3
    shaping: list[str] = []
    kind = r.randrange(6)
    if kind == 4:
        shaping = [r.choice(("-O", "-Os"))]
    elif kind == 5:
        shaping = r.sample(shapers, r.randint(2, 8))
    options = ["--quiet", "-V", "--target-env", environment, *(["-g"] if debug else [])]
    modules = [compile_files(options, {f"s.{s}": text}, "s.spv")[0] for s, text in sources]
    return [shaped(module, environment, shaping) for module in modules]


def shaped(module: bytes, environment: str, shaping: list[str]) -> bytes:
    """As spirv-opt makes it with these passes, if any."""
    if not shaping:
        return module
    with tempfile.NamedTemporaryFile(suffix=".spv") as file:
        Path(file.name).write_bytes(module)
        run(["spirv-opt", f"--target-env={environment}", *shaping, file.name, "-o", file.name])
        return Path(file.name).read_bytes()


def compile_together(
    seed: int, sources: list[tuple[str, str]], environments: tuple[str, ...]
) -> list[bytes]:
    """As ``compile_sources`` with one run of the compiler, in the ways that the seed says; half of
    them with debug information of one kind or the other."""
    r = Random(seed ^ 0xF10F)
    environment = r.choice(environments)
    debug = r.choice(([], [], ["-g"], ["-gVS"]))
    shaping: list[str] = []
    if debug == ["-gVS"]:
        # a specialization constant as an array's length becomes invalid debug information
        sources = [(stage, re.sub(r"\[SPEC\d\]", "[7]", text)) for stage, text in sources]
        sources = [(stage, initialized_in_main(text)) for stage, text in sources]
    elif r.random() < 0.3:
        # spirv-opt (2023.1) inlines callees that end in OpUnreachable into continue constructs
        shaping = [s for s in r.sample(SHAPERS, r.randint(2, 8)) if "inline" not in s]
    options = ["--quiet", "-V", "--target-env", environment, *debug]
    modules = compile_files(options, {f"s.{stage}": text for stage, text in sources})
    return [shaped(module, environment, shaping) for module in modules]


def initialized_in_main(source: str) -> str:
    """Global variables that get their first values in main(): with -gVS glslang 12 dies of other
    initializers, or writes ids at random."""
    values = re.findall(r"^\w.* (global\d+)\b.* (= .*;)$", source, re.M)
    source = re.sub(r"^(\w.* global\d+\b.*?) = .*;$", r"\1;", source, flags=re.M)
    sets = "".join(f"    {name} {value}\n" for name, value in values)
    return source.replace("void main() {\n", "void main() {\n" + sets)


# --- what every linked pipeline keeps ---


def check_linked(linked: spvlink.Linked) -> None:
    """Validated, unless there was nothing to gain, and no border grows. Raises Failure."""
    why = linked.passed_through
    if linked.defect is not None or why not in (None, NOTHING_TO_GAIN):
        raise Failure(f"passed through: {linked.defect or why}")
    if why is None and linked.validated != "validated":
        raise Failure(f"{linked.validated}")
    for border in linked.interfaces:
        for what, (before, after) in (
            ("components", border.components),
            ("Locations", border.locations),
        ):
            if after > before:
                raise Failure(f"{what} grow from {before} to {after}")


# --- many seeds ---


def check_many(
    check: Callable[[int], str],
    build: Callable[[int], list[bytes]],
    seeds: Iterable[int],
    timeout: float = 60.0,
) -> Iterator[tuple[int, object]]:
    """(seed, what became of it in words or an exception) of each seed, in a process of its own.

    ``check`` and ``build`` (a seed's modules) are functions of modules. Lavapipe never comes back
    from about one in 200 of the original pipelines; nothing of spvlink is in play there, and the
    word is "undrawable".
    """
    told, asked = tee(seeds)
    for seed, verdict in zip(told, run_isolated(check, ((s,) for s in asked), timeout)):
        if isinstance(verdict, Crashed):
            (alone,) = run_isolated(_draw_original, [(build, seed)], timeout / 2)
            if isinstance(alone, Crashed):
                verdict = "undrawable"
        yield seed, verdict


def _draw_original(build: Callable[[int], list[bytes]], seed: int) -> None:
    draw_covering(build(seed))


def in_two_processes(
    checked: Callable[[list[int]], Iterable[tuple[int, object]]], seeds: Iterable[int]
) -> dict[int, object]:
    """What became of each seed, each half of them checked by itself."""
    every = list(seeds)
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda half: dict(checked(half)), (every[::2], every[1::2]))
        return {seed: verdict for part in parts for seed, verdict in part.items()}


def is_proved(
    stages: list[bytes], new: list[bytes], options: spvlink.Options | None = None
) -> bool:  # fmt: skip
    """Whether a link is proved to the bit, so that another last bit is the driver's."""
    sides = [[Source(code) for code in side] for side in (stages, new)]
    options = options or spvlink.Options(exact=True)
    return prove(sides[0], sides[1], options, 10.0).outcome == EQUAL


# --- other processes, other hashes ---


def check_hash_seeds(
    stages: list[bytes], linked: spvlink.Linked, options: str, folder: Path
) -> None:
    """Strings hash differently from run to run: no order of a set or dict may reach the output.
    ``options``: the statement that makes them, as ``linked`` was."""
    paths = [folder / f"{number}.spv" for number in range(len(stages))]
    for path, data in zip(paths, stages):
        path.write_bytes(data)
    code = (
        "import sys, hashlib, spvlink\n"
        f"{options}\n"
        "modules = [open(p, 'rb').read() for p in sys.argv[1:]]\n"
        "linked = spvlink.link(modules, options)\n"
        "print(*[hashlib.sha256(s.data).hexdigest() for s in linked.stages])\n"
    )
    here = [hashlib.sha256(stage.data).hexdigest() for stage in linked.stages]
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        environment["PYTHONPATH"] = str(ROOT)
        command = [sys.executable, "-c", code, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.split() == here
