"""The cross-stage checker catches planted breakages and accepts what is valid."""

from __future__ import annotations

import pytest

from spvlink.errors import Broken
from spvlink.ir.core import Module
from spvlink.link.check import interface
from tests.support.case_loading import load

TYPES = """%void = OpTypeVoid
%body = OpTypeFunction %void
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%vec3 = OpTypeVector %float 3
%vec4 = OpTypeVector %float 4
%half = OpTypeFloat 16
%double = OpTypeFloat 64
%dvec2 = OpTypeVector %double 2
%dvec3 = OpTypeVector %double 3
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%n2 = OpConstant %uint 2
%n3 = OpConstant %uint 3
%mat2 = OpTypeMatrix %vec2 2
%mat3 = OpTypeMatrix %vec3 3
%float2 = OpTypeArray %float %n2
%float3 = OpTypeArray %float %n3
%pair = OpTypeStruct %vec2 %float
%swap = OpTypeStruct %float %vec2
"""
HEAD = """OpCapability Shader
OpCapability Float16
OpCapability Float64
OpMemoryModel Logical GLSL450
"""
MAIN = """%main = OpFunction %void None %body
%l = OpLabel
OpReturn
OpFunctionEnd
"""


def side(declarations: str, storage: str) -> Module:
    """Declares ``vec2 0.2 Flat; Block pair 1``: type, Location[.Component], decorations."""
    notes, variables, pointers, names = [], [], {}, []
    for n, declaration in enumerate(d.strip() for d in declarations.split(";")):
        block = declaration.startswith("Block ")
        type, at, *qualifiers = declaration.removeprefix("Block ").split()
        location, _, component = at.partition(".")
        notes.append(f"OpDecorate %v{n} Location {location}" if location != "-" else "")
        notes.append(f"OpDecorate %v{n} Component {component}" if component else "")
        notes += [f"OpDecorate %v{n} {q}" for q in qualifiers]
        if block:
            notes.append(f"OpDecorate %{type} Block")
        pointers[type] = f"%p_{type} = OpTypePointer {storage} %{type}"
        variables.append(f"%v{n} = OpVariable %p_{type} {storage}")
        names.append(f"%v{n}")
    model = "Vertex" if storage == "Output" else "Fragment"
    entry = f'OpEntryPoint {model} %main "main" {" ".join(names)}\n'
    if model == "Fragment":
        entry += "OpExecutionMode %main OriginUpperLeft\n"
    text = HEAD + entry + "\n".join(n for n in notes if n) + "\n" + TYPES
    return load(text + "\n".join([*pointers.values(), *variables]) + "\n" + MAIN)


def check(outputs: str, inputs: str) -> None:
    interface.check(side(outputs, "Output"), side(inputs, "Input"), True)


BROKEN = {
    "missing output": ("vec4 0", "vec4 1", "no output"),
    "missing component": ("vec2 0", "vec3 0", "faces output|no output"),
    "int faces float": ("float 0 Flat", "int 0 Flat", "faces output"),
    "int faces uint": ("uint 0 Flat", "int 0 Flat", "faces output"),
    "other width": ("half 0", "float 0", "faces output"),
    "other component": ("vec2 0", "vec2 0.1", "faces output"),
    "longer output": ("vec4 0", "vec3 0", "faces output"),
    "vec4 faces vec3 and float": ("vec3 0; float 0.3", "vec4 0", "faces output"),
    "vec3 and float face vec4": ("vec4 0", "vec3 0; float 0.3", "faces output"),
    "vec2 pair faces vec4": ("vec2 0; vec2 0.2", "vec4 0", "faces output"),
    "outputs overlap": ("vec3 0; vec2 0.2", "vec3 0", "overlap"),
    "inputs overlap": ("vec3 0", "vec3 0; float 0.1", "overlap"),
    "a matrix's last column overlaps": ("mat3 0; vec2 2", "vec2 2", "overlap"),
    "mixed interpolation": ("float 0; float 0.1", "float 0; "
    "float 0.1 NoPerspective", "interpolation"),
    "flat beside smooth": ("int 0; float 0.1", "int 0 Flat; float 0.1", "interpolation"),
    "an array's later element": ("float3 0; vec2 2.1", "float3 0 Centroid; "
    "vec2 2.1", "interpolation"),
    "int not Flat": ("int 0", "int 0", "not Flat"),
    "double not Flat": ("double 0", "double 0", "not Flat"),
    "straddling": ("vec4 0.1", "vec4 0.1", "does not fit"),
    "straddling at the end": ("vec2 0.3", "vec2 0.3", "does not fit"),
    "double at an odd component": ("double 0.1", "double 0.1 Flat", "does not fit"),
    "dvec2 in the second half": ("dvec2 0.2", "dvec2 0.2 Flat", "does not fit"),
    "dvec3 with a Component": ("dvec3 0.2", "dvec3 0.2 Flat", "does not fit"),
    "array faces scalars": ("float 0; float 1", "float2 0", "faces output"),
    "scalars face an array": ("float2 0", "float 0; float 1", "faces output"),
    "other array length": ("float3 0", "float2 0", "faces output"),
    "array moved by one": ("float3 1", "float2 2", "faces output"),
    "matrix faces columns": ("vec2 0; vec2 1", "mat2 0", "faces output"),
    "other member order": ("Block pair 0", "Block swap 0", "faces output"),
    "block elsewhere": ("Block pair 0", "Block pair 1", "faces output|no output"),
    "block member faces a longer variable": ("Block pair 0", "vec4 0", "faces output|no output"),
    "no Location": ("float -", "float 0", "no Location"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str) -> None:
    outputs, inputs, message = BROKEN[name]
    with pytest.raises(Broken, match=message):
        check(outputs, inputs)


@pytest.mark.parametrize(
    ("outputs", "inputs"),
    [
        ("vec4 0", "vec4 0"),
        ("vec4 0; vec2 1", "vec4 0"),  # an output may be unread
        ("vec2 0; vec2 0.2", "vec2 0.2"),
        ("vec2 0 Flat; vec2 0.2", "vec2 0; vec2 0.2"),  # an output's interpolation does not matter
        ("int 0; float 0.1", "int 0 Flat; float 0.1 Flat"),
        ("double 0; double 0.2", "double 0 Flat; double 0.2 Flat"),
        ("dvec3 0; float 1.2", "dvec3 0 Flat; float 1.2 Flat"),  # the second Location has room
        ("float3 0.1; float 1", "float3 0.1; float 1"),
        ("mat3 0; vec4 3", "mat3 0; vec4 3"),
        ("Block pair 2; vec4 0", "Block pair 2"),
        # Vulkan matches "variables, blocks or members": a member may face a loose variable.
        ("Block pair 2", "vec2 2; float 3"),
        ("half 0.3", "half 0.3"),
    ],
)
def test_valid(outputs: str, inputs: str) -> None:
    check(outputs, inputs)
