"""Small pairs that a stage linker easily miscompiles, each linked, validated and drawn.

hazards_code.py and hazards_interface.py hold them as GLSL, hazards_assembly.py what compilers of
GLSL do not write. Each must be linked (not passed through), be valid, and draw and write the same
as before.
"""

from __future__ import annotations

import subprocess

import pytest

import spvlink
from spvlink import Options, Source
from spvlink.draw import compare, draw, draw_covering
from tests.support import hazards_assembly, hazards_code, hazards_interface
from tests.support.captured import captured
from tests.support.hazards import Case
from tests.support.samples import assemble, compile_glsl

OPTIMIZED = (  # linked once more as an optimizer leaves them: phis, selects, no local variables
    "return in a switch in a loop",
    "dead loop around live exit",
    "fallthrough with phis",
    "while with several exits",
    "dynamic indices",
    "partial writes",
    "swap in a loop",
)
CAPTURE = "OpDecorate %dead Offset 0"


def tool(name: str, *arguments: str, data: bytes) -> bytes:
    done = subprocess.run([name, *arguments], input=data, capture_output=True)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return done.stdout


def listed(text: str, version: str) -> bytes:
    """``PRIVATE%x`` in an entry point's list stands for %x where 1.4 or later wants it there."""
    return assemble(text.replace("PRIVATE", "" if version != "1.0" else ";"), f"spv{version}")


def linked(codes: list[bytes], environment: str) -> list[bytes]:
    """The linked pair, after all that can be asked of it without drawing."""
    options = Options(clean=True)
    options.check_each = True
    options.exact = True  # bit for bit; what may round differently is proved in test_pipelines
    options.target_env = environment
    result = spvlink.link([Source(codes[0], "vert", "main"), Source(codes[1], "frag")], options)
    assert result.defect is None, result.defect
    assert result.passed_through is None, result.passed_through
    assert result.validated == "validated"
    return [stage.data for stage in result.stages]


def prove(codes: list[bytes], environment: str, samples: int = 1) -> list[bytes]:
    """Links a pair and draws it before and after; gives the linked modules."""
    new = linked(codes, environment)
    named: list[bytes | tuple[bytes, str]] = [(codes[0], "main"), codes[1]]
    scene, before = draw_covering(named, samples=samples)
    assert before.coverage > 0.1, "the original draws nothing"
    difference = compare(before, draw(new, scene))
    assert not difference, str(difference)
    return new


@pytest.mark.parametrize("case", hazards_code.CASES + hazards_interface.CASES, ids=lambda c: c.name)
def test_pair(case: Case) -> None:
    codes = [
        compile_glsl(case.vertex, "vert", case.environment),
        compile_glsl(case.fragment, "frag", case.environment),
    ]
    new = prove(codes, case.environment, case.samples)
    if "vec4 unread;" in case.vertex_globals:
        assert b"unread" in codes[0] and b"unread" not in new[0]
    if "xfb_offset" in case.vertex_globals:
        assert captured(new[0]) == captured(codes[0]) != {}


@pytest.mark.parametrize("name", OPTIMIZED)
def test_optimized_pair(name: str) -> None:
    case = next(c for c in hazards_code.CASES + hazards_interface.CASES if c.name == name)
    codes = [
        tool("spirv-opt", "--target-env=vulkan1.1", "-O", "-", "-o", "-", data=compile_glsl(t, s))
        for t, s in ((case.vertex, "vert"), (case.fragment, "frag"))
    ]
    prove(codes, "vulkan1.1", case.samples)


@pytest.mark.parametrize("environment", ["vulkan1.0", "vulkan1.2"])
@pytest.mark.parametrize("name", hazards_assembly.FRAGMENTS)
def test_fragment_assembly(name: str, environment: str) -> None:
    version = {"vulkan1.0": "1.0", "vulkan1.2": "1.5"}[environment]
    vertex = compile_glsl(hazards_assembly.PLAIN_VERTEX, "vert", environment)
    prove([vertex, listed(hazards_assembly.FRAGMENTS[name], version)], environment)


@pytest.mark.parametrize("environment", ["vulkan1.0", "vulkan1.2"])
@pytest.mark.parametrize("name", hazards_assembly.VERTICES)
def test_vertex_assembly(name: str, environment: str) -> None:
    version = {"vulkan1.0": "1.0", "vulkan1.2": "1.5"}[environment]
    fragment = compile_glsl(hazards_assembly.PLAIN_FRAGMENT, "frag", environment)
    text = hazards_assembly.VERTICES[name]
    new = prove([listed(text, version), fragment], environment)
    if CAPTURE in text:
        stored = tool("spirv-dis", "--raw-id", "-", data=new[0]).decode().splitlines()
        captured = [line.split()[1] for line in stored if " Offset 0" in line]
        assert len(captured) == 1
        assert any(f"OpStore {captured[0]} " in line for line in stored)
