"""The vertex + fragment pipelines of `shaders/`, compiled and linked, for tests and scripts."""

from __future__ import annotations

from pathlib import Path

import spvlink
from spvlink.binary.decode import decode
from spvlink.grammar import ops
from tests.support.chains import PAIRS, SHADERS
from tests.support.glslang import compile_files

TWINS = [n for n in PAIRS if (SHADERS / n / f"{n}.vert.hlsl").exists()]
CASES = PAIRS + [f"{n}.hlsl" for n in TWINS]
MOTION = ("backward", "forward")
EVERYTHING: dict[str, object] = {
    "setLayouts": [
        {
            "set": number,
            "bindings": [
                {"binding": n, "descriptorType": "UNIFORM_BUFFER", "stageFlags": ["ALL"]}
                for n in range(32)
            ],
        }
        for number in range(4)
    ],
    "pushConstantRanges": [{"stageFlags": ["ALL"], "offset": 0, "size": 256}],
}


def build(case: str, folder: Path) -> list[bytes]:
    """Both stages of a pipeline as glslang makes them."""
    name, _, hlsl = case.partition(".")
    codes: list[bytes] = []
    for stage in ("vert", "frag"):
        source = SHADERS / name / (f"{name}.{stage}" + (".hlsl" if hlsl else ""))
        options = ["-V", "--target-env", "vulkan1.1", "-S", stage]
        options += ["-D", "-e", "main"] if hlsl else []
        codes += compile_files(options, {source.name: source.read_text()}, "s.spv")
        (folder / f"{name}.{stage}.spv").write_bytes(codes[-1])
    return codes


def link(
    codes: list[bytes],
    exact: bool = False,
    layout: bool = False,
    disable: tuple[str, ...] = (),
    validate: bool = True,
) -> spvlink.Linked:
    """``layout``: one that shows every resource to both stages; ``disable``: names of passes."""
    options = spvlink.Options(clean=True)  # code that can be counted
    options.exact = exact
    options.disable = frozenset(disable)
    options.validate = validate
    if layout:
        options.layout = EVERYTHING
    return spvlink.link(codes, options)


def body(data: bytes) -> int:
    """Instructions from OpFunction to OpFunctionEnd, both included, OpLine and OpNoLine not."""
    count = 0
    for function in decode(data).functions:
        count += 2 + len(function.params)
        for block in function.blocks:
            count += 1 + sum(i.op not in (ops.OpLine, ops.OpNoLine) for i in block.insts)
    return count


def weighted(codes: list[bytes], expect: tuple[int, int]) -> int:
    """Instructions of the bodies of (vertex, fragment), times how often each stage runs."""
    return sum(times * body(data) for times, data in zip(expect, codes, strict=True))
