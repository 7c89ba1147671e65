"""The proof on our own vertex + fragment pipelines: each of them in `shaders/` is linked, valid,
smaller, draws the same picture and says the same to the validation layer, and a second link finds
nothing to do.

With `--exact` pictures are equal bit for bit. Without it a value that all vertices of a primitive
agree on may come exact where interpolation rounded it; then no channel may differ by more than one
part in 10,000, and integers not at all. The same holds with a pipeline layout that shows every
resource to both stages.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.link.interface import declared
from tests.chains import PAIRS
from tests.render import Result, compare, draw, draw_covering, messages

SHADERS = Path(__file__).parent.parent / "shaders"
NAMES = PAIRS
TWINS = sorted(n for n in NAMES if (SHADERS / n / f"{n}.vert.hlsl").exists())
CASES = NAMES + [f"{n}.hlsl" for n in TWINS]
COVERAGE = 0.1
TOLERANCE = 1e-4
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
    codes = []
    for stage in ("vert", "frag"):
        source = SHADERS / name / (f"{name}.{stage}" + (".hlsl" if hlsl else ""))
        target = folder / f"{name}.{stage}.spv"
        command = ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-S", stage]
        if hlsl:
            command += ["-D", "-e", "main"]
        subprocess.run([*command, source, "-o", target], check=True, capture_output=True)
        codes.append(target.read_bytes())
    return codes


def link(codes: list[bytes], exact: bool = False, layout: bool = False) -> spvlink.Linked:
    options = spvlink.Options()
    options.exact = exact
    if layout:
        options.layout = EVERYTHING
    return spvlink.link(codes, options)


def assert_close(before: Result, after: Result) -> None:
    """Equal but for rounding: integers and buffers bit for bit, floats to TOLERANCE."""
    for name, old in before.images.items():
        new = after.images[name]
        if old.dtype.kind != "f":
            assert np.array_equal(old, new), name
            continue
        finite = np.isfinite(old) & np.isfinite(new)
        assert np.array_equal(np.isfinite(old), np.isfinite(new)), name
        error = np.abs(old[finite].astype(np.float64) - new[finite])
        worst = (error / np.maximum(1.0, np.abs(old[finite]))).max(initial=0.0)
        assert worst <= TOLERANCE, f"{name} is off by {worst}"
    for name, buffer in before.buffers.items():
        assert np.array_equal(buffer, after.buffers[name]), name


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    folder = tmp_path_factory.mktemp("pipelines")
    return {case: build(case, folder) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_linked_equal_and_smaller(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    linked = link(codes)
    assert linked.passed_through is None, linked.passed_through
    assert linked.validated == "validated"
    interface = linked.interfaces[0]
    assert interface.components[1] <= interface.components[0]
    assert interface.locations[1] <= interface.locations[0]
    new = [stage.data for stage in linked.stages]
    scene, before = draw_covering(codes)
    assert before.is_good(COVERAGE), f"the picture proves nothing: coverage {before.coverage}"
    assert_close(before, draw(new, scene))
    again = link(new)
    assert again.passed_through == "nothing to gain"
    assert [s.data for s in again.stages] == new
    exact = [stage.data for stage in link(codes, exact=True).stages]
    difference = compare(before, draw(exact, scene))
    assert not difference, difference


@pytest.mark.parametrize("case", CASES)
def test_with_everything_visible(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    linked = link(codes, layout=True)
    assert linked.passed_through is None and linked.validated == "validated"
    scene, _ = draw_covering(codes)
    scene.open_to_all()
    assert_close(draw(codes, scene), draw([s.data for s in linked.stages], scene))


@pytest.mark.parametrize("case", CASES[::4])
def test_other_seeds_and_samples(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    new = [stage.data for stage in link(codes, exact=True).stages]
    for seed, samples in ((1, 1), (2, 4)):
        scene, before = draw_covering(codes, seed, samples)
        difference = compare(before, draw(new, scene))
        assert not difference, (seed, samples, difference)


@pytest.mark.parametrize("case", CASES)
def test_validation_layer_has_nothing_new(case: str, built: dict[str, list[bytes]]) -> None:
    codes = built[case]
    new = [stage.data for stage in link(codes).stages]
    scene, _ = draw_covering(codes)
    assert not messages(new, scene) - messages(codes, scene)


def read_components(module: Module) -> set[tuple[int, int]]:
    """(Location, Component) of everything the fragment shader declares as user input."""
    module.entry = spvlink.driver.select_entry(module, None)
    return {place for d in declared(module, enums.StorageClass_Input) for place in d.covers}


@pytest.mark.parametrize("case", CASES)
def test_no_component_is_left_that_nobody_reads(case: str, built: dict[str, list[bytes]]) -> None:
    """Every output component is declared by the consumer, which loads every input variable."""
    vertex, fragment = (decode(s.data) for s in link(built[case]).stages)
    inputs = read_components(fragment)
    vertex.entry = spvlink.driver.select_entry(vertex, None)
    for output in declared(vertex, enums.StorageClass_Output):
        assert output.covers <= inputs, f"{output.name} is not read"
    used = {a for f in fragment.functions for b in f.blocks for i in b.insts for a in i.args}
    assert fragment.entry is not None
    for variable in fragment.entry.inst.args[1:]:
        if is_user_input(fragment, variable):
            assert variable in used


def is_user_input(module: Module, variable: Inst) -> bool:
    located = any(
        n.op == ops.OpDecorate and n.args[0] is variable and n.imm[0] == enums.Decoration_Location
        for n in module.annotations
    )
    return located and variable.imm[0] == enums.StorageClass_Input
