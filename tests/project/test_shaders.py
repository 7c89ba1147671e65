"""The pipelines in shaders/: complete, valid, fitting together, and covering what they claim.

Needs glslangValidator, spirv-val and spirv-dis, and nothing of spvlink: these shaders are the
material on which spvlink is tested, so their own check must not depend on it.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spvlink.draw import mismatches
from tests.support.chains import CHAINS, NAMES, PAIRS, STAGES, environment, stages_of

SHADERS = Path(__file__).resolve().parents[2] / "shaders"
FILES = sorted(
    str(p.relative_to(SHADERS))
    for p in SHADERS.glob("*/*")
    if p.name.endswith((".hlsl", *(f".{stage}" for stage in STAGES)))
)
TWINS = sorted({f.split("/")[0] for f in FILES if f.endswith(".hlsl")})
# SPIR-V 1.0 (mesh shaders: 1.5), and 1.5 (entry points list all their globals) with debug
# information.
FLAVOURS: dict[str, list[str]] = {
    "plain": [],
    "debug": ["-g", "--target-env", "vulkan1.2"],
}
INPUT, OUTPUT = 1, 3  # SPIR-V storage classes
# Vulkan promises 64 components of vertex output; gl_Position takes four of them.
LOCATION_LIMIT = 15


@dataclass
class Compiled:
    """One shader file in one flavour: where its module is, and what the tools said."""

    path: Path
    complaint: str  # of the compiler or the validator; empty when both were content


def run(command: list[str]) -> str:
    """Runs a tool; returns what it said when it failed, else nothing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr + f"exit {done.returncode}"


def compile_one(file: str, flavour: str, folder: Path) -> Compiled:
    source = SHADERS / file
    out = folder / f"{source.name}.{flavour}.spv"
    command = ["glslangValidator", "-V", *FLAVOURS[flavour], str(source), "-o", str(out)]
    mesh = environment(source.parent.name) == "vulkan1.2"
    if mesh and flavour == "plain":
        command[2:2] = ["--target-env", "vulkan1.2"]
    if file.endswith(".hlsl"):
        stage = source.name.split(".")[-2]
        command[2:2] = ["-D", "-e", "main", "-S", stage]
    complaint = run(command)
    if not complaint:
        env = "vulkan1.2" if mesh or flavour == "debug" else "vulkan1.1"
        complaint = run(["spirv-val", "--target-env", env, str(out)])
    return Compiled(out, complaint)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Compiled]:
    """Every file in every flavour, compiled once, two at a time."""
    folder = tmp_path_factory.mktemp("shaders")
    keys = [(file, flavour) for file in FILES for flavour in FLAVOURS]
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda key: compile_one(key[0], key[1], folder), keys)
        return dict(zip(keys, results, strict=True))


# --- the interface, read from the words ---


@dataclass
class Words:
    """The few facts of a module that an interface needs."""

    types: dict[int, tuple[int, list[int]]] = field(default_factory=dict)  # id -> op, operands
    constants: dict[int, int] = field(default_factory=dict)
    variables: list[tuple[int, int, int]] = field(default_factory=list)  # type, id, storage class
    location: dict[tuple[int, int], int] = field(default_factory=dict)  # (id, member or -1)
    component: dict[tuple[int, int], int] = field(default_factory=dict)


def instructions(data: bytes) -> Iterator[tuple[int, list[int]]]:
    words = struct.unpack(f"<{len(data) // 4}I", data)
    at = 5
    while at < len(words):
        count = words[at] >> 16
        yield words[at] & 0xFFFF, list(words[at + 1 : at + count])
        at += count


def read_words(data: bytes) -> Words:
    found = Words()
    for op, args in instructions(data):
        if 19 <= op <= 32:  # OpTypeVoid .. OpTypePointer
            found.types[args[0]] = (op, args[1:])
        elif op == 43:  # OpConstant
            found.constants[args[1]] = args[2]
        elif op == 59:  # OpVariable
            found.variables.append((args[0], args[1], args[2]))
        elif op == 71 and args[1] in (30, 31):  # OpDecorate Location / Component
            table = found.location if args[1] == 30 else found.component
            table[args[0], -1] = args[2]
        elif op == 72 and args[2] in (30, 31):  # OpMemberDecorate
            table = found.location if args[2] == 30 else found.component
            table[args[0], args[1]] = args[3]
    return found


Slots = dict[tuple[int, int], tuple[int, ...]]


def place(w: Words, type_id: int, location: int, component: int, slots: Slots) -> int:
    """Adds the 32-bit slots of a type at a Location; returns the next free Location."""
    op, args = w.types[type_id]
    if op in (23, 21, 22):  # vector, int, float
        count, scalar = (args[1], args[0]) if op == 23 else (1, type_id)
        kind, shape = w.types[scalar]
        words = max(shape[0] // 32, 1)  # 16-bit values take a component each
        for i in range(count * words):
            key = (location + (component + i) // 4, (component + i) % 4)
            assert key not in slots, f"two varyings at {key}"
            slots[key] = (kind, *shape)
        return location + (component + count * words + 3) // 4
    if op == 30:  # struct
        for i, member in enumerate(args):
            own = w.location.get((type_id, i), location)
            first = w.component.get((type_id, i), 0)
            location = place(w, member, own, first, slots)
        return location
    assert op in (24, 28), f"unexpected type opcode {op} in an interface"
    count = args[1] if op == 24 else w.constants[args[1]]
    for _ in range(count):
        location = place(w, args[0], location, component, slots)
    return location


def slots_of(data: bytes, storage: int) -> Slots:
    """User interface slots of a module: (Location, Component) -> scalar type."""
    w = read_words(data)
    slots: Slots = {}
    for pointer, variable, where in w.variables:
        pointee = w.types[pointer][1][1]
        located = (variable, -1) in w.location or (pointee, 0) in w.location
        if where == storage and located:
            start = w.location.get((variable, -1), 0)
            place(w, pointee, start, w.component.get((variable, -1), 0), slots)
    return slots


# --- the tests ---


def test_there_are_enough() -> None:
    assert len(PAIRS) >= 79
    assert len(CHAINS) >= 25
    kinds = {stages_of(name) for name in NAMES}
    assert kinds >= {
        ("vert", "frag"),
        ("vert", "tesc", "tese", "frag"),
        ("vert", "geom", "frag"),
        ("vert", "tesc", "tese", "geom", "frag"),
        ("mesh", "frag"),
        ("task", "mesh", "frag"),
        ("vert",),
        ("vert", "geom"),
        ("vert", "tesc", "tese"),
    }
    assert len(TWINS) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_folder_is_complete(name: str) -> None:
    folder = SHADERS / name
    expected = {f"{name}.{stage}" for stage in stages_of(name)}
    assert {"vert", "mesh"} & set(stages_of(name))
    if name in TWINS:
        expected |= {f"{name}.vert.hlsl", f"{name}.frag.hlsl"}
    assert {p.name for p in folder.iterdir()} == expected
    lines = re.findall(
        rf"^- `{name}`( \(also HLSL\))?: \S.*$", (SHADERS / "README.md").read_text(), re.M
    )
    assert len(lines) == 1, f"shaders/README.md has {len(lines)} lines for {name}"
    assert bool(lines[0]) == (name in TWINS)


def test_readme_names_no_other() -> None:
    listed = re.findall(r"^- `(\w+)`", (SHADERS / "README.md").read_text(), re.M)
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("file", FILES)
def test_style(file: str) -> None:
    text = (SHADERS / file).read_text()
    lines = text.splitlines()
    assert text.endswith("\n") and "\t" not in text
    assert max(map(len, lines)) <= 100
    if not file.endswith(".hlsl"):
        assert lines[0] == "#version 450"
    assert any(line.startswith("// ") for line in lines[:2]), "say what it is at the top"


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("file", FILES)
def test_compiles_and_validates(
    file: str, flavour: str, compiled: dict[tuple[str, str], Compiled]
) -> None:
    result = compiled[file, flavour]
    assert not result.complaint, result.complaint
    assert result.path.stat().st_size > 0


@pytest.mark.parametrize("name", CHAINS)
def test_chains_fit(name: str, compiled: dict[tuple[str, str], Compiled]) -> None:
    """Every border; the oracle is the render harness's, which shares nothing with spvlink."""
    for flavour in FLAVOURS:
        files = [compiled[f"{name}/{name}.{stage}", flavour] for stage in stages_of(name)]
        assert not mismatches([file.path.read_bytes() for file in files])


@pytest.mark.parametrize(
    ("name", "suffix"), [(n, "") for n in PAIRS] + [(n, ".hlsl") for n in TWINS]
)
def test_stages_fit(name: str, suffix: str, compiled: dict[tuple[str, str], Compiled]) -> None:
    """What the fragment shader declares, the vertex shader declares with the same scalar type."""
    vertex = compiled[f"{name}/{name}.vert{suffix}", "plain"].path.read_bytes()
    fragment = compiled[f"{name}/{name}.frag{suffix}", "plain"].path.read_bytes()
    outputs, inputs = slots_of(vertex, OUTPUT), slots_of(fragment, INPUT)
    assert outputs
    for slot, kind in inputs.items():
        assert outputs.get(slot) == kind, f"input {slot} does not match"
    assert max(location for location, _ in outputs) < LOCATION_LIMIT


@pytest.mark.parametrize("name", TWINS)
def test_twins_have_one_interface(name: str, compiled: dict[tuple[str, str], Compiled]) -> None:
    for stage, storage in (("vert", OUTPUT), ("vert", INPUT), ("frag", INPUT), ("frag", OUTPUT)):
        glsl = compiled[f"{name}/{name}.{stage}", "plain"].path.read_bytes()
        hlsl = compiled[f"{name}/{name}.{stage}.hlsl", "plain"].path.read_bytes()
        ours, twins = slots_of(glsl, storage), slots_of(hlsl, storage)
        # The GLSL side may leave out what it declares component by component and never reads.
        assert ours.items() <= twins.items(), (stage, storage)
        assert {key[0] for key in ours} == {key[0] for key in twins}, (stage, storage)


def disassembled(path: Path) -> str:
    command = ["spirv-dis", "--no-color", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="session")
def everything(compiled: dict[tuple[str, str], Compiled]) -> str:
    """All plain GLSL modules, disassembled, one after the other."""
    files = [file for file in FILES if not file.endswith(".hlsl")]
    with ThreadPoolExecutor(2) as pool:
        texts = pool.map(lambda file: disassembled(compiled[file, "plain"].path), files)
        return "\n".join(texts)


@pytest.mark.parametrize(
    "pattern",
    [
        r"InterpolateAtCentroid",
        r"InterpolateAtSample",
        r"InterpolateAtOffset",
        r"OpDecorate \S+ Flat",
        r"OpDecorate \S+ NoPerspective",
        r"OpDecorate \S+ Centroid",
        r"OpDecorate \S+ Sample$",
        r"OpDecorate \S+ Component [123]",
        r"OpMemberDecorate .* Flat",
        r"OpKill",
        r"OpSwitch",
        r"OpLoopMerge",
        r"OpAtomicIAdd",
        r"OpAtomicUMin",
        r"BuiltIn ClipDistance",
        r"BuiltIn PointSize",
        r"BuiltIn FragDepth",
        r"DepthGreater",
        r"OpSpecConstantTrue|OpSpecConstantFalse",
        r"OpSpecConstant %int",
        r"PushConstant",
        r"OpTypeImage %float 2D 0 0",
        r"OpTypeImage %float 2D 1 0",
        r"OpTypeImage %float 2D 1 1",
        r"OpTypeImage %float 2D 0 1",
        r"OpTypeImage %float 3D",
        r"OpTypeImage %float Cube",
        r"OpTypeSampler",
        r"_ptr_Output_mat3v3float",
        r"_ptr_Output_mat4v4float",
        r"_ptr_Output_double|_ptr_Output_v3double",
        r"OpCapability Float64",
        r"_ptr_Input_\S* = OpTypePointer Input %_arr",
        r"OpSpecConstantOp",
        r"OpDecorate \S+ NoContraction",
        r"OpMemberDecorate %gl_PerVertex 0 Invariant",
        r"NonWritable",
        r"BuiltIn InstanceIndex",
        r"DescriptorSet 1",
        r"_ptr_Uniform__arr_Lamp_uint_3 = OpTypePointer Uniform",
        r"OpFNegate",
        r"OpBitcast %v4uint",
        r"OpConstant %float 1.00000002e\+30",
        # the chains
        r"OpExecutionMode \S+ Triangles",
        r"OpExecutionMode \S+ Quads",
        r"OpExecutionMode \S+ Isolines",
        r"OpExecutionMode \S+ PointMode",
        r"OpExecutionMode \S+ InputTrianglesAdjacency|InputTrianglesAdjacency",
        r"OpExecutionMode \S+ InputPoints",
        r"OpExecutionMode \S+ InputLines",
        r"OpExecutionMode \S+ OutputLineStrip",
        r"OpExecutionMode \S+ Invocations 4",
        r"OpExecutionMode \S+ Xfb",
        r"OpControlBarrier",
        r"OpDecorate \S+ Patch",
        r"OpDecorate \S+ PerPrimitiveEXT|OpDecorate \S+ PerPrimitiveNV",
        r"OpDecorate \S+ XfbBuffer 1",
        r"OpMemberDecorate %State 1 Offset 16",
        r"OpDecorate \S+ Stream 1",
        r"OpEmitStreamVertex",
        r"OpEmitMeshTasksEXT",
        r"TaskPayloadWorkgroupEXT",
        r"BuiltIn Layer",
        r"BuiltIn ViewportIndex",
        r"BuiltIn TessLevelInner",
        r"BuiltIn InvocationId",
        r"OpTypePointer Output %_arr_v3double|_ptr_Output_v3double",
        r"_ptr_Output_v4half",
        r"_ptr_Output_ushort",
        r"_ptr_Input__arr__arr_",
    ],
)
def test_covers(pattern: str, everything: str) -> None:
    assert re.search(pattern, everything, re.M)


# What the stages of one pipeline must say of the same number: a pattern for each disassembly.
RESOURCES = [
    ("height_fog", r"%frame Binding 0", r"%frame Binding 0"),
    ("sprite_batch", r"OpTypePointer PushConstant", r"\A(?!.*PushConstant)"),
    ("billboard_haze", r"%haze Binding 2", r"\A(?!.* Uniform )"),
    ("spot_shadow", r"%Light 1 Offset 64\b.*%Light 3 Offset 96\b", r"%SpotLight 0 Offset 64\b"),
    ("impostor_atlas", r"%Impostor = OpTypeStruct %mat4\S+ %v4float", r"OpTypeStruct %v4uint"),
    ("stained_glass", r"%scene DescriptorSet 0", r"%material DescriptorSet 1"),
    ("prop_tint", r"%Prop 3 Offset 96\b", r"%Shading 1 Offset 96\b"),
    ("selection_outline", r"%Outline 1 Offset 64\b", r"%Key = OpTypeStruct %v4uint"),
    ("car_paint", r"%FLAKE_SIZE SpecId 0\b", r"%QUALITY SpecId 0\b"),
    ("auto_exposure", r"%measured Binding 0", r"%measured Binding 0"),
]


@pytest.mark.parametrize(("name", "vertex", "fragment"), RESOURCES)
def test_stages_share_or_contradict(
    name: str, vertex: str, fragment: str, compiled: dict[tuple[str, str], Compiled]
) -> None:
    for stage, pattern in (("vert", vertex), ("frag", fragment)):
        text = disassembled(compiled[f"{name}/{name}.{stage}", "plain"].path)
        assert re.search(pattern, text, re.S), (stage, pattern)


def test_many_varyings_are_dead(compiled: dict[tuple[str, str], Compiled]) -> None:
    """The point of the collection: the vertex shaders write much that nobody declares to read."""
    written = wanted = 0
    for name in PAIRS:
        vertex = compiled[f"{name}/{name}.vert", "plain"].path.read_bytes()
        fragment = compiled[f"{name}/{name}.frag", "plain"].path.read_bytes()
        written += len(slots_of(vertex, OUTPUT))
        wanted += len(slots_of(fragment, INPUT))
    assert wanted < 0.85 * written
