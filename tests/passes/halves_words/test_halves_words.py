"""64-bit varyings as words: what is split at which border and what stays whole (half_chains.py),
that it is valid and draws the same bits, and that a second link finds nothing."""

from __future__ import annotations

import re
import subprocess

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums, ops
from spvlink.ir.core import CAPABILITIES
from spvlink.link.check import interface
from spvlink.pipeline import Remark
from tests.support.chain_text import PASS, frag, geom, tesc, tese, vert
from tests.support.closeness import assert_close
from tests.support.half_chains import BORDERS, CASES, INT64, STAYS, Case, chain, with_int64
from tests.support.halves import Stages, build, link
from tests.support.linking import module_of
from tests.support.payload_chains import FRAG, HEAD, MESH, TASK
from tests.support.samples import assemble, disassemble

INPUT, OUTPUT = enums.StorageClass_Input, enums.StorageClass_Output


def prove(codes: list[bytes]) -> spvlink.Linked:
    """Linked exactly and by default, drawn, linked again."""
    scene, before = draw_covering(codes)
    assert before.is_good(), "the original proves nothing"
    exact = [s.data for s in link(codes, exact=True).stages]
    difference = compare(before, draw(exact, scene))
    assert not difference, str(difference)
    linked = link(codes)
    new = [s.data for s in linked.stages]
    assert_close(before, draw(new, scene))
    for border in linked.interfaces:
        assert border.components[1] <= border.components[0]
        assert border.locations[1] <= border.locations[0]
    again = link(new)
    assert again.passed_through == "nothing to gain"
    assert [s.data for s in again.stages] == new
    return linked


def said_of(linked: spvlink.Linked, border: str, name: str) -> list[Remark]:
    return [r for r in linked.remarks if r.interface == border and r.name == name]


def shapes(linked: spvlink.Linked, producer: str, consumer: str) -> dict[int, set[str]]:
    """Location -> the scalar types that both sides declare there."""
    sides: list[dict[int, set[str]]] = []
    for name, storage in ((producer, OUTPUT), (consumer, INPUT)):
        data = next(s.data for s in linked.stages if s.stage == name)
        found: dict[int, set[str]] = {}
        for variable in interface.declared(module_of(data), storage):
            for place in variable.covers:
                found.setdefault(place[0], set()).add(variable.shape.partition("x")[0])
        sides.append(found)
    assert sides[0] == sides[1]
    return sides[0]


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "-"))
def test_case(case: Case, border: str) -> None:
    made = chain(border, case)
    codes = build(made.stages, made.environment)
    linked = prove(codes)
    result = next(i for i in linked.interfaces if f"{i.producer}->{i.consumer}" == border)
    assert result.components[1] == case.components
    assert result.locations[1] == 1
    said = said_of(linked, border, "d")
    if not case.halves:
        assert [r.action for r in said] == ["kept"] or [r.action for r in said] == ["packed"]
        assert "half" not in said[0].why
        return
    for title, wanted in zip(("low half", "high half"), case.halves):
        found = [r for r in said if r.why.startswith(title)]
        assert len(found) == 1, said
        assert found[0].action == wanted or {found[0].action, wanted} <= set(STAYS)
    off = link(codes, disable=frozenset(["halves"]))
    assert not any("half:" in r.why for r in off.remarks)
    kept = next(i for i in off.interfaces if f"{i.producer}->{i.consumer}" == border)
    assert kept.components[1] == 2 + bool(case.beside)


# --- more than one varying ---


def linked_chain(stages: Stages, environment: str = "vulkan1.1") -> spvlink.Linked:
    return prove(build(with_int64(stages), environment))


def test_a_death_goes_up_the_chain() -> None:
    """What the fragment shader does not read of a number is not handed on either."""
    linked = linked_chain(
        [
            vert("layout(location = 0) out double d;", "d = double(a.x) * 1.1LF;"),
            geom(
                "layout(location = 0) in double d[]; layout(location = 0) flat out double e;",
                """for (int n = 0; n < 3; ++n) {
e = d[n]; gl_Position = gl_in[n].gl_Position; EmitVertex(); }""",
            ),
            frag(
                "layout(location = 0) flat in double e;",
                """uint own = uint(gl_FragCoord.x);
color = vec4((unpackDouble2x32(e).y ^ own) & 255u, 0, 0, 1);""",
            ),
        ]
    )
    for border, name in (("vert->geom", "d"), ("geom->frag", "e")):
        said = said_of(linked, border, name)
        assert [(r.slot, r.action) for r in said] == [("0.x", "removed"), ("0.y", "kept")]
    for stage in ("geom", "frag"):  # which compute with no doubles any more
        module = module_of(next(s.data for s in linked.stages if s.stage == stage))
        assert not any(i.op == ops.OpTypeFloat and i.imm[0] == 64 for i in module.globals)


SOURCE = "uvec4 u = floatBitsToUint(a) >> 3;"
OWN = "uint own = uint(gl_FragCoord.x) & 7u;"
ALONE: dict[str, tuple[str, str, str, set[str]]] = {
    # name -> (declarations with IO for in and out, the producer, the consumer, types of Location 0)
    "a number beside words becomes words": (
        "layout(location = 0) flat IO dvec2 d;",
        "d = dvec2(a.xy) * 1.1LF;",
        "color = vec4((unpackDouble2x32(d.x).y ^ own) & 255u, fract(d.y * double(own)), 0, 1);",
        {"u32"},
    ),
    "of a vector over two Locations one word dies": (
        "layout(location = 0) flat IO dvec3 d;",
        "d = dvec3(a.xyz) * 1.1LF;",
        """color = vec4((unpackDouble2x32(d.y).y ^ own) & 255u, fract(d.x * double(own)),
fract(d.z * double(own)), 1);""",
        {"f64"},
    ),
    "a matrix gives words": (
        "layout(location = 0) flat IO dmat2 d;",
        "d = dmat2(dvec4(a) * 1.1LF);",
        """uvec2 h = unpackDouble2x32(d[0][1]) ^ unpackDouble2x32(d[1][0]);
color = vec4((h.y ^ own) & 255u, fract(d[1][1] * double(own)), fract(d[0][0] * double(own)), 1);""",
        {"f64"},
    ),
    "vectors of integers are taken apart by lanes": (
        "layout(location = 0) flat IO u64vec3 d;",
        "d = u64vec3(u.xyz) << u64vec3(0ul, 36ul, 32ul) | u64vec3(u.yzw);",
        "color = vec4((uvec3(d >> u64vec3(32ul, 33ul, 0ul)) ^ own) & 255u, 1);",
        {"u32"},
    ),
    "an array by constant indices": (
        "layout(location = 0) flat IO uint64_t d[2]; layout(location = 2) flat IO uvec2 e;",
        "d[0] = uint64_t(u.x); d[1] = packUint2x32(u.yz); e = u.yw;",
        "color = vec4((uint((d[0] * d[1]) >> (20u + own)) + (e.x ^ own) * e.y) & 255u, 0, 0, 1);",
        {"u32"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_no_location_mixes_widths(name: str) -> None:
    declared, made, read, wanted = ALONE[name]
    linked = linked_chain(
        [
            vert(declared.replace("IO", "out"), SOURCE + made),
            frag(declared.replace("IO", "in"), OWN + read),
        ]
    )
    assert any("half:" in r.why for r in linked.remarks)
    found = shapes(linked, "vert", "frag")
    assert found[0] == wanted and all(len(kinds) == 1 for kinds in found.values())
    (border,) = linked.interfaces
    assert border.components[1] < border.components[0]


# What each of these must stay whole for. Half of each is dead.
WHOLE: dict[str, tuple[str, Stages]] = {
    "captured": (
        "vert->frag",
        [
            vert(
                """layout(location = 0, xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0)
flat out double d;""",
                "d = double(a.x) * 1.1LF;",
            ),
            frag(
                "layout(location = 0) flat in double d;",
                OWN + "color = vec4((unpackDouble2x32(d).y ^ own) & 255u, 0, 0, 1);",
            ),
        ],
    ),
    "beside one that transform feedback alone takes": (
        "vert->frag",
        [
            vert(
                """layout(location = 0) flat out double d;
layout(location = 1, xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0) flat out double c;""",
                "d = double(a.x) * 1.1LF; c = double(a.y) * 1.3LF;",
            ),
            frag(
                "layout(location = 0) flat in double d;",
                OWN + "color = vec4((unpackDouble2x32(d).y ^ own) & 255u, 0, 0, 1);",
            ),
        ],
    ),
    "invariant": (
        "vert->frag",
        [
            vert(
                "layout(location = 0) flat invariant out double d;", "d = double(a.x) * 1.1LF;"
            ),
            frag(
                "layout(location = 0) flat in double d;",
                OWN + "color = vec4((unpackDouble2x32(d).y ^ own) & 255u, 0, 0, 1);",
            ),
        ],
    ),
    "beside one that is indexed dynamically": (
        "vert->geom",
        [
            vert(
                "layout(location = 0) out double d; layout(location = 1) out double t[3];",
                """d = double(a.x) * 1.1LF; t[0] = t[1] = t[2] = d; t[k.x % 3] = double(a.y);""",
            ),
            geom(
                """layout(location = 0) in double d[]; layout(location = 1) in double t[][3];
layout(location = 0) flat out float f;""",
                """for (int n = 0; n < 3; ++n) {
f = float(t[n][(n * 2 + gl_PrimitiveIDIn) % 3]);
f += float((unpackDouble2x32(d[n]).y ^ uint(n)) & 255u);
gl_Position = gl_in[n].gl_Position; EmitVertex(); }""",
            ),
            frag("layout(location = 0) flat in float f;", "color = vec4(f, 0, 0, 1);"),
        ],
    ),
    "read back": (
        "tesc->tese",
        [
            vert("layout(location = 0) out vec4 c;", "c = a;"),
            tesc(
                """layout(location = 0) in vec4 c[]; layout(location = 0) out double d[];
layout(location = 1) out float e[];""",
                """d[gl_InvocationID] = double(c[gl_InvocationID].x) * 1.1LF; barrier();
e[gl_InvocationID] = float(d[(gl_InvocationID + 1) % 3]);""",
            ),
            tese(
                """layout(location = 0) in double d[]; layout(location = 1) in float e[];
layout(location = 0) flat out float g;""",
                """g = float((unpackDouble2x32(d[0]).y ^ uint(w.x * 8.0)) & 255u) + e[0]
+ e[1] + e[2];""",
            ),
            frag("layout(location = 0) flat in float g;", "color = vec4(g, 0, 0, 1);"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_what_must_stay_whole(name: str) -> None:
    border, stages = WHOLE[name]
    linked = linked_chain(stages)
    (said,) = said_of(linked, border, "d")
    assert said.action in ("kept", "packed") and "half" not in said.why


@pytest.mark.parametrize("stage", [0, 1], ids=["producer", "consumer"])
def test_where_doubles_are_flushed_they_stay_whole(stage: int) -> None:
    """packDouble2x32 and unpackDouble2x32 must lose denormal values then."""
    made = chain("vert->frag", CASES[0])
    codes = build(made.stages, made.environment)
    assert any("half:" in r.why for r in link(codes).remarks)
    codes[stage] = flushing(codes[stage])
    (said,) = said_of(link(codes), "vert->frag", "d")
    assert said.action in ("kept", "packed") and "half" not in said.why


def flushing(code: bytes) -> bytes:
    """A module that asks for doubles without denormal values."""
    text = disassemble(code)
    head = """OpCapability DenormFlushToZero
OpExtension "SPV_KHR_float_controls"
"""
    text = re.sub(r"( *OpExtension|.*OpExtInstImport)", head + r"\1", text, count=1)
    text = re.sub(
        r"( *OpEntryPoint \w+ (%\w+) .*\n)", r"\1OpExecutionMode \2 DenormFlushToZero 64\n", text
    )
    return assemble(text)


def test_a_payload() -> None:
    """Members of 64 bits are parted as varyings are."""
    head = HEAD.replace("layout(set", INT64 + "layout(set")
    parts = {"types": "", "functions": "", "count": "2"}
    members = "uint64_t d; double z; uint64_t both;"
    body = """uvec4 u = floatBitsToUint(sin(vec4(group + 1u) * vec4(1.0, 2.0, 3.0, 5.0)));
if (i == 1u) { payload.d = uint64_t(u.x); payload.z = packDouble2x32(u.wz);
payload.both = (uint64_t(u.y) << 32) | u.z; }"""
    reads = """uint own = i * 2u;
tint.x = float(uint((payload.d * 77777777777ul) >> (20u + own)) & 255u);
tint.y = float((unpackDouble2x32(payload.z).x ^ own) & 255u);
tint.z = float(uint(payload.both * 77777777777ul >> (12u + own)) & 255u);"""
    stages = [
        ("task", head + TASK.format(members=members, body=body, **parts)),
        ("mesh", head + MESH.format(members=members, reads=reads, types="")),
        ("frag", FRAG),
    ]
    linked = prove(build(stages, "vulkan1.2"))
    border = linked.interfaces[0]
    assert border.components == (7, 5)  # the group, a word, a word, two
    actions = {n: {r.action for r in said_of(linked, "task->mesh", f"payload.{n}")} for n in "dz"}
    assert actions == {"d": {"kept", "propagated"}, "z": {"kept", "removed"}}
    (both,) = said_of(linked, "task->mesh", "payload.both")
    assert both.action == "kept" and "half" not in both.why


# --- what words are made of ---

# u: uvec4, s: ivec4; each must give the words that the device gives
NUMBERS = (
    "packUint2x32(u.xy)", "uint64_t(u.x) << 32 | uint64_t(u.y)", "uint64_t(u.x) << 40",
    "uint64_t(u.x) << 7", "packUint2x32(u.xy) >> 32", "packUint2x32(u.xy) >> 45",
    "packUint2x32(u.xy) >> 9", "uint64_t(int64_t(packUint2x32(u.xy)) >> 32)",
    "uint64_t(int64_t(packUint2x32(u.xy)) >> 50)", "uint64_t(int64_t(packUint2x32(u.xy)) >> 63)",
    "uint64_t(int64_t(packUint2x32(u.xy)) >> 3)", "uint64_t(int64_t(s.x))",
    "uint64_t(int64_t(s.x)) << 32", "uint64_t(int64_t(s.x) >> 36)",
    "packUint2x32(u.xy) & 0xFFFFFFFF00000000ul", "packUint2x32(u.xy) & 0x0F0F0000FFFFFFFFul",
    "packUint2x32(u.xy) | 0x00FF00FFFFFFFFFFul", "packUint2x32(u.xy) ^ 0xFFFFFFFF12345678ul",
    "~packUint2x32(u.xy)", "packUint2x32(u.xy) + 0x80000000ul", "packUint2x32(u.zw) * 3ul",
    "doubleBitsToUint64(packDouble2x32(u.zy))", "uint64_t(u.x) << 33 ^ 0x5ul",
    "(packUint2x32(u.xy) << 48) >> 40", "uint64_t(int64_t(packUint2x32(u.xy) << 40) >> 44)",
    "u.x % 2u > 0u ? 0x700000001ul : 0x700000002ul", "uint64_t(s.x > 0)", "uint64_t(-s.x) >> 1",
    "u64vec2(u.xy).y", "(u64vec3(packUint2x32(u.xy)) >> u64vec3(0ul, 32ul, 40ul)).z",
)  # fmt: skip


@pytest.mark.parametrize("optimized", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("half", [0, 1], ids=["low", "high"])
@pytest.mark.parametrize("first", range(0, len(NUMBERS), 10))
def test_words_are_what_the_device_makes_of_a_number(
    first: int, half: int, optimized: bool
) -> None:
    """The other half is dead, so each number crosses as the word that the linker says it has."""
    numbers = NUMBERS[first : first + 10]
    declared = [
        f"layout(location = {n // 2}, component = {n % 2 * 2}) flat IO uint64_t d{n};"
        for n in range(len(numbers))
    ]
    made = [f"d{n} = {text};" for n, text in enumerate(numbers)]
    read = [
        f"w = unpackUint2x32(d{n})[{half}]; sum += vec4(w & 0xFFu, w >> 8 & 0xFFu, w >> 16 & 0xFFu,"
        f" w >> 24) * fract(own * {0.1 + n * 0.0137});"
        for n in range(len(numbers))
    ]
    source = "uvec4 u = floatBitsToUint(a); ivec4 s = ivec4(floatBitsToInt(a.yxwz)) - k;"
    codes = build(
        with_int64(
            [
                vert("".join(declared).replace("IO", "out"), source + "\n".join(made)),
                frag(
                    "".join(declared).replace("IO", "in"),
                    "float own = gl_FragCoord.x; vec4 sum = vec4(0); uint w;"
                    + "\n".join(read) + "color = sum * 0.001;",
                ),
            ]
        ),
        "vulkan1.1",
    )  # fmt: skip
    if optimized:
        codes = [optimize(code) for code in codes]
    scene, before = draw_covering(codes)
    assert before.is_good()
    exact = link(codes, exact=True)
    border = [r for r in exact.remarks if r.interface != "vert"]
    assert sum(r.action == "removed" for r in border) == len(numbers)
    difference = compare(before, draw([s.data for s in exact.stages], scene))
    assert not difference, str(difference)


def test_words_become_16_bits_together() -> None:
    """Int16 is not declared, so no vector may be made of 16-bit numbers (seed 33033007)."""
    types = """#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(location = 0) flat IO u64vec2 w OVER; layout(location = 1) flat IO uint16_t s OVER;
"""
    given = "layout(location = 0) flat IO u16vec2 h; layout(location = 1) flat IO uint16_t t;"
    stages = [
        vert(types.replace("IO", "out").replace("OVER", ""),
             "uvec2 n = uvec2(abs(a.xy) * 200.0); w = u64vec2(n) << 33 | u64vec2(n * 71u);"
             "s = uint16_t(n.x);"),
        geom(types.replace("IO", "in").replace("OVER", "[]") + given.replace("IO", "out"),
             "for (int i = 0; i < 3; ++i) { h = u16vec2(w[0]); t = s[0]; " + PASS + "}"),
        frag(types.partition("layout")[0] + given.replace("IO", "in"),
             "color = vec4(uvec2(h), uint(t), 1.0) / 65536.0;"),
    ]  # fmt: skip
    codes = build(stages, "vulkan1.2")
    capabilities = {i.imm[0] for i in module_of(codes[1]).sections[CAPABILITIES]}
    assert enums.Capability_Int16 not in capabilities
    linked = prove(codes)
    assert any(r.action == "removed" for r in said_of(linked, "vert->geom", "w"))


def optimize(code: bytes) -> bytes:
    command = ["spirv-opt", "--target-env=vulkan1.1", "-O", "-", "-o", "-"]
    return subprocess.run(command, input=code, capture_output=True, check=True).stdout
