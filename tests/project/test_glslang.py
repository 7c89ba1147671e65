"""The compiler of the tests (glslang_many.cpp) makes what glslangValidator makes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import generate
from tests.support.glslang import Died, Failure, compile_alone, compile_files

PROGRAM = os.environ.get("SPVLINK_GLSLANG", "")
MANY = [
    ["--target-env", "vulkan1.0"],
    ["--target-env", "vulkan1.1", "-g"],
    ["--target-env", "vulkan1.2", "-gVS"],
    ["--target-env", "vulkan1.3"],
]
pytestmark = pytest.mark.skipif(
    not Path(PROGRAM).is_file(), reason="scripts/setup found no libraries of glslang"
)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("options", MANY, ids=" ".join)
def test_the_modules_are_those_of_glslang_validator(seed: int, options: list[str]) -> None:
    pair = {f"s.{stage}": text for stage, text in zip(("vert", "frag"), generate.make(seed))}
    options = ["--quiet", "-V", *options]
    assert compile_files(options, pair) == compile_alone(options, pair)


def test_one_shader_does_not_change_the_next() -> None:
    good = {"s.frag": "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(1); }"}
    before = compile_files(["-V"], good)
    with pytest.raises(Failure, match="'unknown' : undeclared identifier"):
        compile_files(["-V"], {"s.frag": "#version 450\nvoid main() { unknown = 1; }"})
    assert compile_files(["-V"], good) == before


def test_threads_get_the_modules_that_they_ask_for() -> None:
    pairs = [{"s.vert": generate.make(seed)[0]} for seed in range(8)]
    alone = [compile_files(["-V"], pair) for pair in pairs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pair: compile_files(["-V"], pair), pairs * 8)) == alone * 8


def test_a_compiler_that_dies_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPVLINK_GLSLANG", "/bin/false")
    with pytest.raises(Died, match="status 1"):
        compile_files(["-V"], {"s.frag": "#version 450\nvoid main() {}"})
