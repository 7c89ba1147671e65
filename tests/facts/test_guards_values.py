"""What ``link/border`` finds out about what is stored, and tells (scripts/mutants found that no
other test has it)."""

from __future__ import annotations

import pytest

from tests.support.linking import Result, fragment, vertex
from tests.support.motion_pairs import consumer, link, options, producer, same_picture

# --- what a consumer's compiler comes to know may be a denormal number ---

OUTPUTS = "flat uint a; flat float one; flat uint own; flat float x"
STORES = "a = 0x3f800001u; one = 1.0; own = uint(p.x * 9.0); x = p.x;"
DENORMAL = {  # expression -> whether it may be one, once it is known
    "uintBitsToFloat(floatBitsToUint(one * 3.0) >> 20)": True,
    "uintBitsToFloat(floatBitsToUint(one * x) >> 20)": False,
    "uintBitsToFloat(floatBitsToUint(sin(one)) >> 20)": True,
    "uintBitsToFloat(floatBitsToUint(max(one, x)) >> 20)": False,
    "uintBitsToFloat(floatBitsToUint(one * (float(a) * 3.0)) >> 20)": True,
    "uintBitsToFloat(floatBitsToUint(mix(one, 2.0, gl_FragCoord.x > 9.0)) >> 20)": True,
    "uintBitsToFloat(floatBitsToUint(vec2(x, one)).y >> 20)": True,
    "uintBitsToFloat(mix(7u, 9u, a > 5u))": True,
    "uintBitsToFloat(mix(7u, 9u, own > 5u))": False,
    "uintBitsToFloat(uaddCarry(a, 5u, carry))": True,
    "uintBitsToFloat(own) + float(a)": False,
}


@pytest.mark.parametrize("expression", DENORMAL)
def test_what_is_known_may_be_denormal(expression: str) -> None:
    vert = producer(STORES, OUTPUTS)
    frag = consumer(f"uint carry; float f = {expression}; o = vec4(f * 1e38, f, x, own);", OUTPUTS)
    done = link(vert, frag, options(disable=frozenset(("backward", "forward"))))
    whys = [r.why for r in done.linked.remarks if r.name in ("a", "one")]
    assert any("denormal" in why for why in whys) == DENORMAL[expression], whys
    same_picture(vert, frag, done)


BUFFER = "layout(binding = 1) buffer B { uint s; } b;\n"
ADDRESS = """#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference, std430) buffer R { uint s; };
"""
CALLED = """uint f(const uint v) { if (uintBitsToFloat(v) * 1e38 > 3.0) discard; return v; }
"""
SEEN = {  # what is done with a -> (declared, whether somebody else may make a denormal of it)
    "b.s = a;": (BUFFER, False),
    "R(uvec2(own, own)).s = a;": (ADDRESS, False),
    "uint t[2] = uint[](a, own); s = t[own & 1u];": ("", True),
    "uint t[2] = uint[](a + own, own); s = t[own & 1u];": ("", False),
    "for (uint i = 0u; i < 3u; i += f(a)) s += 5u;": (CALLED, True),
    "for (uint i = 0u; i < 3u; i += f(own)) s += a;": (CALLED, False),
}


@pytest.mark.parametrize("use", SEEN)
def test_where_a_known_value_goes(use: str) -> None:
    """What is a denormal number as a float; another value is cast to one."""
    declared, stays = SEEN[use]
    outputs = "flat uint a; flat uint own"
    vert = vertex(producer("a = 7u; own = uint(p.x * 9.0);", outputs), "vulkan1.2")
    body = f"uint s = 0u; {use} o = vec4(s, uintBitsToFloat(own), 0.0, 1.0);"
    frag = fragment(declared + consumer(body, outputs, ""), "vulkan1.2")
    done = Result(vert, frag, options())
    whys = [r.why for r in done.linked.remarks if r.name == "a"]
    assert any("denormal" in why for why in whys) == stays, whys


@pytest.mark.parametrize("qualifier", ["", "flat"])
def test_what_is_read_from_an_address_and_interpolated(qualifier: str) -> None:
    """Whether it is equal at all vertices is not told by a variable."""
    outputs = f"{qualifier} float x; float y"
    address = ADDRESS.replace("buffer R { uint s; }", "buffer R { float s; }")
    stores = "x = R(uvec2(k.xy)).s; y = p.x * p.y;"
    vert = vertex(address + producer(stores, outputs, ""), "vulkan1.2")
    frag = fragment(consumer("o = vec4(x * 3.0 + y, x, y, 1.0);", outputs, ""), "vulkan1.2")
    done = Result(vert, frag, options())
    assert done.inputs and done.linked.passed_through is None
