"""``spvlink check`` on all of ``shaders/``: what it calls unread or unwritten, linking finds gone;
and what is read in some roundabout way it never calls unread."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import spvlink
from spvlink.link.check.border import InterfaceRules, unread_of
from spvlink.link.check.interface import apart, shown_places
from spvlink.link.check.stage import CheckedStage
from spvlink.lint import pipeline
from spvlink.lint.stage import load
from spvlink.pipeline import REMOVED, UNDEFINED
from tests.support.chains import NAMES, build
from tests.support.samples import assemble, compile_glsl, disassemble

Cell = tuple[str, int]  # a border, four times a Location plus a Component

# All elements of these arrays are read by a dynamic index, the fourth component of none: linking
# keeps whole, or moves whole, what is read so; the check looks at components there too.
DYNAMIC = {"patch_palette": 4, "probe_grid": 4}


def stages_of(codes: Sequence[bytes]) -> list[CheckedStage]:
    order = list(spvlink.pipeline.STAGES.values())
    return sorted((load(code, None, {}) for code in codes), key=lambda s: order.index(s.name))


def called(codes: Sequence[bytes]) -> tuple[set[Cell], set[Cell]]:
    """What the check calls unread, and what it calls never written."""
    stages = stages_of(codes)
    unread, unwritten = set(), set()
    for producer, consumer in zip(stages, stages[1:]):
        name = f"{producer.name}->{consumer.name}"
        read = {p for one in consumer.inputs for p in apart(one, consumer.uses.reads(one))}
        written = {p for one in producer.outputs for p in apart(one, producer.uses.writes(one))}
        for one in producer.outputs:
            dead = shown_places(unread_of(producer, one, read))
            unread |= {(name, 4 * at + c) for at, c in dead}
        for one in consumer.inputs:
            places = shown_places(apart(one, consumer.uses.reads(one)) - written)
            unwritten |= {(name, 4 * at + c) for at, c in places}
    return unread, unwritten


def became(codes: Sequence[bytes]) -> dict[Cell, set[str]]:
    """What linking makes of every component."""
    linked = spvlink.link(codes, complete=True, validate=False)
    found: dict[Cell, set[str]] = {}
    for remark in linked.remarks:
        for cell in remark.cells[0]:
            found.setdefault((remark.interface, cell), set()).add(remark.action)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_called_unused_that_is_used(name: str) -> None:
    codes = build(name)
    unread, unwritten = called(codes)
    actions = became(codes) if unread or unwritten else {}
    kept = {cell for cell in unread if actions.get(cell) != {REMOVED}}
    assert len(kept) <= DYNAMIC.get(name, 0), kept
    for cell in unwritten:
        assert actions[cell] <= {UNDEFINED, REMOVED}, cell


def test_it_finds_much_of_what_linking_removes() -> None:
    """The other way round: the test above would pass for a check that never says anything."""
    said = gone = 0
    for name in NAMES[::8]:
        codes = build(name)
        unread = called(codes)[0]
        dead = {cell for cell, actions in became(codes).items() if actions == {REMOVED}}
        said, gone = said + len(unread & dead), gone + len(dead)
    assert gone > 40 and said > 0.4 * gone, (said, gone)


@pytest.mark.parametrize("name", NAMES)
def test_good_pipelines_have_no_errors(name: str) -> None:
    rules = pipeline.CheckRules()
    rules.limits["maxVertexOutputComponents"] = 67  # of 64: two have 15 Locations and built-ins
    found = pipeline.findings(stages_of(build(name)), True, rules)
    assert not [f.message for f in found if not f.warning]


# -- read in roundabout ways -----------------------------------------------------------------------

HEAD = "#version 450\nlayout(location = 0) out vec4 target;\nlayout(location = 8) flat in int at;\n"
OUT = "layout(location = 0) out {type} a{array};\nlayout(location = 8) flat out int at;\n"


def unread_by(frag: str, type: str = "vec4", array: str = "") -> str:
    """The components of the vertex shader's ``a`` that are called unread, as "0.x 0.y"."""
    vert = (
        "#version 450\n" + OUT.format(type=type, array=array)
        + "void main() { gl_Position = vec4(0); at = 1; }\n"
    )  # fmt: skip
    declared = f"layout(location = 0) in {type} a{array};\n"
    return unread_in([compile_glsl(vert, "vert"), compile_glsl(HEAD + declared + frag, "frag")])


def unread_in(codes: Sequence[bytes], below: int = 8) -> str:
    stages = stages_of(codes)
    assert not [f for f in InterfaceRules(stages[0], stages[1], False).findings() if not f.warning]
    cells = sorted(cell for _, cell in called(codes)[0] if cell < 4 * below)
    return " ".join(f"{cell // 4}.{'xyzw'[cell % 4]}" for cell in cells)


@pytest.mark.parametrize(
    ("does", "unread"),
    [
        ("target = vec4(a.x);", "0.y 0.z 0.w"),
        ("target = a.xxzz;", "0.y 0.w"),
        ("target = vec4(a[at]);", ""),
        ("target = a;", ""),
        ("target = vec4(dot(a, a));", ""),
        ("if (at > 99) target = a;", ""),
        ("vec4 b = a; b.x = 1.0; target = b;", ""),
        ("target = vec4(interpolateAtCentroid(a.y));", "0.x 0.z 0.w"),
        ("target = interpolateAtOffset(a, vec2(0));", ""),
        ("", "0.x 0.y 0.z 0.w"),
    ],
)
def test_vectors(does: str, unread: str) -> None:
    assert unread_by(f"void main() {{ {does} }}") == unread


@pytest.mark.parametrize(
    ("type", "array", "does", "unread"),
    [
        ("vec2", "[3]", "target = a[1].xyxy;", "0.x 0.y 2.x 2.y"),
        ("vec2", "[3]", "target = a[at].xxxx;", "0.y 1.y 2.y"),
        ("vec2", "[3]", "vec2 b[3] = a; target = b[2].xyxy;", ""),
        ("mat3", "", "target.xyz = a[1];", "0.x 0.y 0.z 2.x 2.y 2.z"),
        ("mat3", "", "target.xyz = a * vec3(1, 2, 3);", ""),
        ("mat3", "", "target.x = a[at].z;", "0.x 0.y 1.x 1.y 2.x 2.y"),
    ],
)
def test_arrays_and_matrices(type: str, array: str, does: str, unread: str) -> None:
    assert unread_by(f"void main() {{ {does} }}", type, array) == unread


def test_functions_and_their_pointers() -> None:
    asked = "vec4 f(in vec4 p) { return p; } vec4 g() { return vec4(a.w); }\n"
    assert unread_by(asked + "void main() { target = f(a); }") == ""
    assert unread_by(asked + "void main() { target = g(); }") == "0.x 0.y 0.z"


def test_a_pointer_that_a_function_gets_and_copied_memory() -> None:
    """As compilers of GLSL do not write it."""
    text = disassemble(compile_glsl(HEAD + "layout(location = 0) in vec4 a;\n"
                                    "void main() { vec4 b = a; target = b; }", "frag"))  # fmt: skip
    vert = compile_glsl("#version 450\n" + OUT.format(type="vec4", array="")
                        + "void main() { at = 1; }", "vert")  # fmt: skip
    load_, store = [line for line in text.splitlines() if "OpLoad %v4float %a" in line
                    or "OpStore %b" in line]  # fmt: skip
    copied = text.replace(load_ + "\n", "").replace(store, "OpCopyMemory %b %a")
    assert copied != text and unread_in([vert, assemble(copied)]) == ""
    without = text.replace(store + "\n", "")
    assert unread_in([vert, assemble(without)]) == "0.x 0.y 0.z 0.w"  # loaded, and no more


def test_what_is_captured_or_read_back_is_read() -> None:
    frag = compile_glsl("#version 450\nvoid main() {}", "frag")
    plain = "#version 450\nlayout({}location = 0) out vec4 a;\nvoid main() {{ a = vec4(1); {} }}"
    captured = "xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0, "
    assert unread_in([compile_glsl(plain.format("", ""), "vert"), frag]) == "0.x 0.y 0.z 0.w"
    assert unread_in([compile_glsl(plain.format(captured, ""), "vert"), frag]) == ""
    back = plain.format("", "gl_Position = a.yyyy;")
    assert unread_in([compile_glsl(back, "vert"), frag]) == "0.x 0.z 0.w"


def test_an_initializer_writes() -> None:
    frag = "#version 450\nlayout(location = 0) in vec4 a;\nlayout(location = 0) out vec4 b;\n"
    codes = [
        compile_glsl("#version 450\nlayout(location = 0) out vec4 a;\nvoid main() {}", "vert"),
        compile_glsl(frag + "void main() { b = a; }", "frag"),
    ]
    assert len(called(codes)[1]) == 4
    text = disassemble(codes[0])
    (line,) = [line for line in text.splitlines() if "%a = OpVariable" in line]
    codes[0] = assemble(text.replace(line, f"%zero = OpConstantNull %v4float\n{line} %zero"))
    assert called(codes)[1] == set()


def test_another_stream_feeds_no_fragment() -> None:
    geom = """#version 450
layout(points) in; layout(points, max_vertices = 1) out;
layout(location = 0, stream = 1) out vec4 a;
layout(location = 1, stream = 0) out vec4 b;
void main() { a = vec4(1); EmitStreamVertex(1); b = vec4(2); EmitStreamVertex(0); }
"""
    codes = compile_glsl(geom, "geom"), compile_glsl("#version 450\nvoid main() {}", "frag")
    assert unread_in(codes) == "1.x 1.y 1.z 1.w"  # who rasterizes stream 1 may read the other
    reads = "#version 450\nlayout(location = 0) in vec4 a;\nvoid main() {}"
    stages = stages_of([codes[0], compile_glsl(reads, "frag")])
    (error,) = [f for f in InterfaceRules(stages[0], stages[1], False).findings() if not f.warning]
    assert error.rule == "VUID-RuntimeSpirv-OpEntryPoint-08743" and error.name == "a"
