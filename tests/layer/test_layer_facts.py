"""The part of the state that goes into the layer's key (c/declared.c, c/state.c) is the one that
archives and batches take (state_use.py): else nothing recorded is found again."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from spvlink.layer import build, wire
from spvlink.state import (
    OPERATIONS,
    PipelineState,
    components_of,
    outputs_of,
    taken_of,
    topology_class,
    unsigned_bits,
)
from spvlink.state_use import DeclaredUse, used
from tests.support import chains

ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = 0xFFFFFFFF
FORMATS = [0, 37, 44, 41, 74, 97, 103, 109, 126, 16, 76, 100, 1000470001, 1000340000, 999]
Numbers = list[int]


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    return {name: list(chains.build(name)) for name in chains.NAMES}


@pytest.fixture(scope="module")
def ask(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[list[bytes], list[Numbers]], list[Numbers]]:
    """Modules, and lines of numbers for tests/layer/layer_state.c; the words of each line."""
    folder = tmp_path_factory.mktemp("facts")
    (folder / "config.h").write_text(build.config())
    program = folder / "layer_state"
    core = sorted(Path(build.CORE).glob("*.c"))
    subprocess.run(
        ["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", build.CORE,
         "-I", folder, "-o", program, ROOT / "tests/layer/layer_state.c", *core],
        check=True,
    )  # fmt: skip

    def run(modules: list[bytes], lines: list[Numbers]) -> list[Numbers]:
        paths = []
        for at, data in enumerate(modules):
            paths.append(folder / f"{at}.spv")
            paths[-1].write_bytes(data)
        (folder / "modules").write_text("".join(f"{path}\n" for path in paths))
        text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
        # without address randomization: the sanitizer of some compilers needs it so
        done = subprocess.run(
            ["setarch", "-R", str(program), str(folder / "modules")],
            input=text, capture_output=True, text=True, check=False, env=os.environ,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]

    return run


def a_state(chance: random.Random) -> tuple[PipelineState, Numbers]:
    """One, and its numbers for C."""

    def some(*values: int) -> int | None:
        return chance.choice([None, *values])

    def number(value: int | None) -> int:
        return UNKNOWN if value is None else value

    discards, one_sample = chance.random() < 0.1, chance.random() < 0.5
    view_mask, culled, polygons = some(0, 2, 3), some(0, 1, 2, 3), some(0, 0, 1, 2)
    topology, viewports, points = some(*range(11)), some(1, 2), some(3, 4)
    coverage = some(0, 0, 0, 1)
    line = [int(discards), int(one_sample), *map(number, (view_mask, culled, polygons))]
    line += [*map(number, (topology, viewports, points, coverage))]
    outputs = None
    if chance.random() < 0.2:
        line.append(UNKNOWN)
    else:
        count = chance.randrange(6)
        line.append(count)
        masks, locations = [], []
        places = chance.sample(range(8), 6)
        for at in range(count):
            format, mask = chance.choice(FORMATS), chance.choice([0, 7, 8, 15, 15])
            location = some(*[places[at]] * 4)
            blends = some(0, 1)
            factors = [some(*range(19)) for _ in range(4)]
            operations = [some(0, 1, 3, 4, len(OPERATIONS), 1000148000) for _ in range(2)]
            masks.append(
                taken_of(
                    components_of(format) & mask,
                    None if blends is None else blends != 0,
                    factors,
                    operations,
                )
            )
            locations.append(location)
            line += [format, mask, number(location), number(blends)]
            line += [*map(number, factors), *map(number, operations)]
        outputs = outputs_of(masks, locations, None if coverage is None else coverage != 0)
    formats = {at: chance.choice(FORMATS) for at in chance.sample(range(10), chance.randrange(7))}
    line.append(len(formats))
    for location, format in formats.items():
        line += [location, format]
    state = PipelineState(
        outputs=outputs,
        discards=discards or None,
        one_sample=one_sample,
        view_mask=view_mask,
        culled=culled,
        polygons=polygons,
        topology=topology_class(topology),
        viewports=viewports,
        attributes=tuple(
            sorted((at, components_of(f), unsigned_bits(f)) for at, f in formats.items())
        ),
        patch_points=points,
    )
    return state, line


def written(state: PipelineState) -> Numbers:
    data = wire._write_state(state)
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def test_both_take_the_same_part_of_a_state(
    pipelines: dict[str, list[bytes]],
    ask: Callable[[list[bytes], list[Numbers]], list[Numbers]],
) -> None:
    chance = random.Random(35)
    modules = [data for stages in pipelines.values() for data in stages]
    where = {data: at for at, data in enumerate(modules)}
    uses = {data: DeclaredUse(data) for data in modules}
    lines, expected = [], []
    for stages in pipelines.values():
        for _ in range(20):
            state, line = a_state(chance)
            lines.append([*line, len(stages), *(where[data] for data in stages)])
            expected.append(written(used(state, [uses[data] for data in stages])))
    assert not any(use.unread for use in uses.values())
    found = ask(modules, lines)
    assert len(found) == len(expected)
    wrong = [at for at, (a, b) in enumerate(zip(found, expected)) if a != b]
    assert not wrong, (wrong[0], lines[wrong[0]], found[wrong[0]], expected[wrong[0]])
    # it is not always nothing, nor always everything
    assert len({tuple(words) for words in expected}) > len(expected) // 10


def test_formats_have_the_same_components(
    ask: Callable[[list[bytes], list[Numbers]], list[Numbers]],
) -> None:
    """All core ones, and the extensions' beside each that is known."""
    formats = [
        *range(200),
        *(1000340000 + n for n in range(4)),
        *(1000470000 + n for n in range(3)),
    ]
    nothing = [0, 0, *[UNKNOWN] * 7]
    lines = [[*nothing, UNKNOWN, 1, 3, format, 1, 0] for format in formats]
    broken = bytes(40)  # of a module that is not clear all of the state counts
    for format, words in zip(formats, ask([broken], lines), strict=True):
        assert words[-3:] == [3, components_of(format), unsigned_bits(format)], format


def test_what_makes_no_sense_asks_for_everything(
    pipelines: dict[str, list[bytes]],
    ask: Callable[[list[bytes], list[Numbers]], list[Numbers]],
) -> None:
    """Damaged modules: C reads no further than there are bytes, and never drops a fact that the
    module still asks for."""
    chance = random.Random(36)
    modules, lines = [], []
    for stages in [*pipelines.values()][:20]:
        for data in stages:
            for _ in range(8):
                words = bytearray(data)
                for _ in range(chance.randrange(1, 6)):
                    at = chance.randrange(0, min(len(words), 4000) // 4) * 4
                    words[at : at + 4] = chance.choice(
                        [b"\0\0\0\0", b"\xff\xff\xff\xff", chance.randbytes(4)]
                    )
                cut = chance.choice([len(words), chance.randrange(0, len(words) // 4) * 4])
                modules.append(bytes(words[:cut]))
    for at in range(len(modules)):
        lines.append([*a_state(chance)[1], 1, at])
    assert len(ask(modules, lines)) == len(lines) > 200


def test_words_come_back() -> None:
    chance = random.Random(37)
    for _ in range(50):
        state, _ = a_state(chance)
        reader = wire._RequestReader(wire._write_state(state))
        assert wire._read_state(reader) == state and reader.at == len(reader.data)
