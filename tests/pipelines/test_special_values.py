"""Infinities, NaNs and zeros with a sign that cross from the vertex to the fragment stage."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from spvlink.binary.encode import encode
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums, ops
from spvlink.ir import core, types
from spvlink.ir.core import Inst, Module
from tests.support.chain_proof import compiled
from tests.support.chain_proof import link as link_chain
from tests.support.chain_text import Chain, frag, vert
from tests.support.linking import Result, all_insts, count, fragment, module_of, vertex
from tests.support.propagation import (
    FLAT_IN,
    FLAT_OUT,
    IN,
    OUT,
    READ,
    UBO,
    USE,
    assert_kept,
    assert_moved,
    link,
    options,
    pair,
)


def preserving(code: bytes) -> bytes:
    """A stage with SignedZeroInfNanPreserve 32."""
    module = module_of(code)
    assert module.entry is not None
    add_capability(module, enums.Capability_SignedZeroInfNanPreserve)
    mode = (enums.ExecutionMode_SignedZeroInfNanPreserve, 32)
    module.sections[core.EXECUTION_MODES].append(
        Inst(ops.OpExecutionMode, None, [module.entry.function], mode)
    )
    return encode(module)


def add_capability(module: Module, capability: int) -> None:
    module.sections[core.CAPABILITIES].append(Inst(ops.OpCapability, None, [], (capability,)))


def codes(vert: str, frag: str, both: bool = False) -> list[bytes]:
    """The pair; the fragment shader, or both, preserve special values."""
    left, right = pair(vert, frag)
    first = vertex(left, "vulkan1.2")
    return [preserving(first) if both else first, preserving(fragment(right, "vulkan1.2"))]


def linked(vert: str, frag: str) -> Result:
    return Result(*codes(vert, frag), options())


@pytest.mark.parametrize("value", ["vec4(1.0 / 0.0)", "vec4(-1.0 / 0.0)", "vec4(-0.0)"])
def test_constants_that_interpolation_changes_stay(value: str) -> None:
    assert_kept(linked(OUT + f"--a = {value};", IN + "--" + READ), "interpolation turns")


def test_an_infinity_stays_interpolated_anyway() -> None:
    done = link(OUT + "--a = vec4(1.0 / 0.0);", IN + "--" + READ)
    assert_kept(done, "interpolation turns an infinity into a NaN")


@pytest.mark.parametrize("value", ["vec4(0.5)", "vec4(-3000.0)", "vec4(0.0)"])
def test_other_constants_move(value: str) -> None:
    done = linked(UBO + OUT + f"--a = {value};", UBO + IN + "--" + USE)
    assert_moved(done)
    assert not count(done.frag, ops.OpFSub)


def test_a_uniform_comes_as_interpolation_would_give_it() -> None:
    done = linked(UBO + OUT + "--a = u.tint;", UBO + IN + "--o = 1.0 / a * u.pad;")
    assert_moved(done)
    exact = [
        i for i in all_insts(done.frag)
        if any(n.args[0] is i and n.imm == (enums.Decoration_NoContraction,)
               for n in done.frag.annotations)
    ]  # fmt: skip
    assert exact and {i.op for i in exact} == {ops.OpFSub, ops.OpFAdd}


def test_that_treatment_has_its_price() -> None:
    """A load is free to move at 2 of 12; with two additions it costs 4."""
    vert = UBO + "layout(location = 0) out float a;--a = u.f;"
    frag = UBO + "layout(location = 0) in float a;--o = vec4(a) * u.pad;"
    settings = options(cost_limit=20)
    plain = Result(*(stage(s, "vulkan1.2") for stage, s in zip((vertex, fragment),
                   pair(vert, frag))), settings)  # fmt: skip
    assert_moved(plain)
    assert_kept(Result(*codes(vert, frag), settings), "it costs 4 and would save 2")


@pytest.mark.parametrize("value", ["vec4(1.0 / 0.0)", "vec4(-0.0)", "u.tint"])
def test_flat_special_values_move(value: str) -> None:
    done = linked(UBO + FLAT_OUT + f"--a = {value};", UBO + FLAT_IN + "--" + USE)
    assert_moved(done)
    assert not count(done.frag, ops.OpFSub)


@pytest.mark.parametrize("mask, moves", [(7, True), (3, False), (0, False)])
def test_fast_math_decorations(mask: int, moves: bool) -> None:
    """An addition that forbids to ignore NaNs, infinities or signs of zeros may tell."""
    left, right = pair(UBO + OUT + "--a = u.tint;", UBO + IN + "--o = a + u.tint;")
    module = module_of(fragment(right, "vulkan1.2"))
    add_capability(module, enums.Capability_FloatControls2)
    words = core.words_of("SPV_KHR_float_controls2")
    module.sections[core.EXTENSIONS].append(Inst(ops.OpExtension, None, [], words))
    for inst in all_insts(module):
        if inst.op == ops.OpFAdd:
            note = (enums.Decoration_FPFastMathMode, mask)
            module.annotations.append(Inst(ops.OpDecorate, None, [inst], note))
    settings = options(validate=False)  # spirv-val does not know the extension yet
    done = Result(vertex(left, "vulkan1.2"), encode(module), settings)
    moved = {r.name for r in done.linked.remarks if r.action == "propagated"}
    assert moved == ({"a"} if moves else set())
    if not moves:
        assert "fast-math" in next(r.why for r in done.linked.remarks if r.name == "a")


def test_a_test_for_a_nan_stays_where_nans_are_preserved() -> None:
    """x != x would be false for all the fragment stage's compiler cares."""
    vert = UBO + "layout(location = 0) flat out float a;--a = u.f != u.f ? 1.0 : 2.0;"
    frag = UBO + "layout(location = 0) flat in float a;--o = a + u.tint;"
    left, right = pair(vert, frag)
    keeps, plain = preserving(vertex(left, "vulkan1.2")), fragment(right, "vulkan1.2")
    assert_kept(Result(keeps, plain, options()), "NaNs differently")
    assert_moved(Result(keeps, preserving(plain), options()))


def test_a_flat_twin_is_read_as_interpolation_would_give_it() -> None:
    head = "layout(location = 0) {0}flat {1} float a; layout(location = 1) {0}{1} float b;\n"
    vert = head.format("", "out") + "--a = b = float(gl_InstanceIndex) / 0.5;"
    frag = head.format("", "in") + "--o = vec4(a, b, 1.0 / a, 1.0 / b);"
    settings = options(disable=frozenset())
    done = Result(*codes(vert, frag), settings)
    assert [r.action for r in done.linked.remarks if r.name == "b"] == ["merged"]
    assert count(done.frag, ops.OpFSub) == count(done.frag, ops.OpFAdd) == 1


# --- pictures ---

SPECIAL = (float("inf"), float("-inf"), float("nan"), -0.0, 0.0, 1e30, -2.5, 1.0)


@pytest.mark.parametrize("value", ["u.tint", "u.tint * u.pad"])
def test_the_picture_is_the_same(value: str) -> None:
    """All kinds of numbers in the buffer; their reciprocals show the sign of a zero."""
    vert = UBO + OUT + f"--a = {value};"
    frag = UBO + IN + "--o = 1.0 / a + u.f * 0.0;"
    before = codes(vert, frag, both=True)
    done = Result(*before, options())
    assert_moved(done)
    scene, _ = draw_covering(before)
    (buffer,) = (b.buffers[0] for b in scene.bindings)
    buffer.data[:] = 0
    buffer.data[:32] = np.frombuffer(struct.pack("8f", *SPECIAL[4:], *SPECIAL[:4]), np.uint8)
    difference = compare(draw(before, scene), draw(done.data, scene))
    assert not difference, str(difference)


DENORMALS = {  # outputs, what is stored there, a color of it
    "cast": (
        "vec4 s", "s = vec4(uintBitsToFloat(0x10000u), -0.5, 0.5, k.x);",
        "vec4(s.xw * 1e38, s.yz)",
    ),
    "cast behind the border": (
        "uvec4 s", "s = uvec4(0x10000u, k.x, 2u, 3u);",
        "vec4(uintBitsToFloat(s.x), uintBitsToFloat(s.z | 0x10000u), 0.5, s.w) * 1e38",
    ),
    "array": (
        "float s[4]", "s[0] = uintBitsToFloat(0x10000u); s[1] = 0.5; s[2] = 0.2; s[3] = 1e-40;",
        "vec4(s[int(gl_FragCoord.x) & 3], s[0], s[2], s[3]) * 1e38",
    ),
    "words": (
        "dvec2 s", "s = dvec2(packDouble2x32(uvec2(7u, 0u)), packDouble2x32(uvec2(k.x, 0u)));",
        "vec4(float(s.x * 1e300 * 1e22), float(s.y * 1e300 * 1e22), s.x > 0.0LF, 0.5)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DENORMALS)
def test_what_a_stage_may_flush_no_compiler_knows(name: str) -> None:
    """Lavapipe makes zeros of denormal numbers where it computes, and folds constants as they
    are."""
    output, made, color = DENORMALS[name]
    stages = (
        vert(f"layout(location = 0) flat out {output};", made),
        frag(f"layout(location = 0) flat in {output};", f"color = {color};"),
    )
    chain = Chain(name, stages, environment="vulkan1.2")
    before = compiled(chain)
    done = link_chain(before, chain, True, None)
    scene, picture = draw_covering(before)
    difference = compare(picture, draw([s.data for s in done.stages], scene))
    assert not difference, str(difference)


def test_constants_have_bits() -> None:
    """The premise of the constants above: glslang folds 1 / 0 and keeps the sign of -0."""
    module = module_of(vertex(pair(OUT + "--a = vec4(-0.0, 1.0 / 0.0, 0, 0);", "")[0]))
    bits = {types.bits_of(i) for i in module.globals if i.op == ops.OpConstant}
    assert {0x80000000, 0x7F800000} <= bits
