"""Code that nobody needs the result of, and what it relies on: where its input no longer crosses,
the stage has no shell; where the stage stays as it is (``--keep-interface``), the input crosses."""

from __future__ import annotations

from functools import cache

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.facts.reliance import relies
from spvlink.grammar import enums, info, ops
from spvlink.ir.core import ALL, Inst, text_of_name
from tests.support.linking import Result, module_of
from tests.support.samples import compile_glsl

HEAD = """#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_EXT_nonuniform_qualifier : require
"""
IO = """layout(location = 0) flat IO uvec2 a; layout(location = 1) IO vec4 c;
layout(location = 2) flat IO int n; layout(location = 3) IO vec3 d;
"""
RESOURCES = """layout(buffer_reference, std430) buffer Node { vec4 v; };
layout(binding = 0) uniform sampler2D image; layout(binding = 1) uniform sampler2D many[4];
layout(binding = 2) buffer Data { float data[]; };
layout(binding = 3) uniform Block { float u[8]; int last; };
layout(binding = 4) uniform sampler2DShadow shadow;
layout(location = 0) out vec4 o;
"""
# What is done with a, n and d: code whose result nobody needs -> whether it may be given anything
IDLE = {
    "an address": ("vec4 x = Node(a).v;", False),
    "an address that a function takes": ("vec4 x = at(a);", False),
    "an address out of a variable": ("uvec2 y[2]; y[1] = a; vec4 x = Node(y[1]).v;", False),
    "an address that is chosen": ("uvec2 y = a; if (n > 1) y++; vec4 x = Node(y).v;", False),
    "an address if it is one": ("vec4 x; if (a.x != 0u) x = Node(uvec2(last)).v;", False),
    "a quotient": ("int x = 7 / n;", False),
    "a quotient by lanes": ("uvec2 x = uvec2(7u) / a;", False),
    "a remainder": ("int x = 7 % n;", False),
    "a modulus": ("uint x = 7u % a.x;", False),
    "a quotient of it": ("uint x = a.x / 3u;", True),
    "a signed quotient of it": ("int x = n / last;", False),  # of the least number by -1
    "a loop": ("int x = 1; while (x < 100) x += n;", False),
    "a loop in a function": ("int x = count(n);", False),
    "a loop that it does not enter": ("int x = count(7) + n;", True),
    "a loop that it guards": ("int x; if (n > 0) { while (x < last) x += last; }", False),
    "a loop that it leaves": ("int x; for (;;) { x++; if (n > 3) break; }", False),
    "an index of a buffer": ("float x = data[n];", False),
    "an index of an array": ("float x = u[n & 7];", False),
    "an index of a vector": ("float x = c[n];", False),
    "an index that it guards": ("float x; if (n > 0) x = data[last];", False),
    "a descriptor": ("vec4 x = texture(many[n], d.xy);", False),
    "a descriptor that it guards": ("vec4 x; if (n > 0) x = texture(image, d.xy);", False),
    "coordinates": ("vec4 x = texture(image, d.xy); x += textureLod(image, d.yz, 0.0);", True),
    "coordinates of a comparison": ("float x = texture(shadow, d);", True),
    "coordinates of a fetch": ("vec4 x = texelFetch(image, ivec2(a), 0);", False),
    "a level": ("vec4 x = textureLod(image, c.xy, d.x);", False),
    "an offset of a gather": ("vec4 x = textureGatherOffset(image, c.xy, ivec2(a));", False),
    "a lane of others": ("float x = subgroupShuffle(c.x, a.x);", False),
    "a conversion": ("int x = int(1.0 / d.x);", False),
    "arithmetic": ("vec3 x = sin(d) * c.x + vec3(a, n) * mat3(d, d, d) + normalize(d);", True),
    "a choice": ("float x = 0.0; if (n > 3) x = c.x; else if (n > 2) x = sqrt(c.y);", True),
    "a switch": ("float x = 0.0; switch (n) { case 1: x = 1.0; case 2: x += c.x; break; }", True),
    "derivatives": ("vec3 x = dFdx(d) + fwidth(c.xyz);", True),
}  # fmt: skip
FUNCTIONS = """vec4 at(uvec2 of) { uvec2 copy = of; return Node(copy).v; }
int count(int to) { int s = 0; for (int i = 0; i < to; ++i) s += i; return s; }
"""


VERTEX = (
    """#version 450
layout(location = 0) in vec4 p; layout(location = 1) in uvec4 k;
"""
    + IO.replace("IO", "out")
    + """
void main() { a = k.xy + 1u; c = p; n = int(k.z) + 1; d = p.xyz + 2.0; gl_Position = p; }
"""
)


@cache
def vertex() -> bytes:
    return compile_glsl(VERTEX, "vert", "vulkan1.2")


def fragment(code: str) -> bytes:
    text = HEAD + IO.replace("IO", "in") + RESOURCES + FUNCTIONS
    return compile_glsl(text + f"void main() {{ {code} }}", "frag", "vulkan1.2")


@pytest.mark.parametrize("name", IDLE)
def test_code_without_a_use(name: str) -> None:
    code, may = IDLE[name]
    codes = [vertex(), fragment(code + " o = c;")]
    options = spvlink.Options(disable=frozenset(("backward", "forward")), validate=may)
    done = Result(*codes, options)
    assert done.table()["c"] == ("0.xyzw", "f32x4")
    private = [v for v in done.frag.globals if v.imm[:1] == (enums.StorageClass_Private,)]
    assert (len(private) > 0) == may
    kept = spvlink.link(codes, keep_interface={"frag"}, validate=False)
    left = {r.name for r in kept.remarks if r.action == "kept"} - {"c"}
    assert kept.defect is None and (not left) == may, left
    if may:
        assert done.linked.validated == "validated"
        scene, before = draw_covering(codes)
        assert before.is_good() and not compare(before, draw(done.data, scene))


# what is looked at apart: memory, calls, results, constants and the like outside of functions
APART = (
    ops.OpLoad, ops.OpStore, ops.OpFunctionCall, ops.OpPhi, ops.OpExtInst, ops.OpReturnValue,
    ops.OpCompositeExtract, ops.OpVectorShuffle,
)  # fmt: skip


def test_an_opcode_without_an_entry_relies_on_its_operands() -> None:
    """Whether an operand may be another value is a fact of the grammar, and so is whether an
    instruction may run where it did not."""
    module = module_of(fragment("if (n > 3) o = c;"))
    assert module.entry is not None
    names = {text_of_name(name): of for of, name in module.names}
    first, inside = module.entry.function.blocks[:2]
    loaded = next(i for i in first.insts if i.op == ops.OpLoad and i.args[0] is names["n"])
    at = first.insts.index(loaded) + 1
    assert not relies(module, {names["c"]: ALL}) and not relies(module, {names["n"]: ALL})
    wrong = []
    for op in ops.NAMES:
        flags, free = info.FLAGS.get(op, 0), info.ANY_VALUE.get(op, 0)
        if op in APART or flags & (info.TYPE | info.CONSTANT | info.DEBUG | info.ANNOTATION):
            continue
        total = bool(flags & info.SPECULATABLE)
        made = Inst(op, loaded.type, [loaded], (0,), module.new_id())
        first.insts.insert(at, made)
        found = relies(module, {loaded.args[0]: ALL})
        first.insts.remove(made)
        wrong += [(ops.NAMES[op], found)] if found == (total or bool(free & 1)) else []
        made.args = [names["c"]]
        if op in (ops.OpAccessChain, ops.OpInBoundsAccessChain, ops.OpLine, ops.OpNoLine):
            continue
        inside.insts.insert(0, made)
        found = relies(module, {loaded.args[0]: ALL})
        inside.insts.remove(made)
        wrong += [(ops.NAMES[op], "inside")] if found == (total or free == -1) else []
    assert not wrong


DIVISIONS = {
    "a divisor": ("uvec2 q = uvec2(70u, 90u) / (a + 1u); o = vec4(q.x);", {"a.x", "a.y"}),
    "what is divided": ("uvec2 q = (a + 1u) / uvec2(7u, 9u); o = vec4(q.x);", {"a.x"}),
    "what is converted": ("ivec2 q = ivec2(1.0 / d.xy); o = vec4(q.x);", {"d.x", "d.y"}),
    "a sum": ("uvec2 q = (a + 1u) * (a + 2u); o = vec4(q.x);", {"a.x"}),
}


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("name", DIVISIONS)
def test_dead_lanes_of_a_divisor(name: str, clean: bool) -> None:
    """A vector is divided whole: no zero stands in for a component that nobody needs the quotient
    of."""
    code, crossing = DIVISIONS[name]
    linked = spvlink.link(
        [vertex(), fragment(code)], clean=clean, validate=False, disable={"backward", "forward"}
    )
    left = {
        f"{r.name}.{lane}"
        for r in linked.remarks
        if r.action in ("kept", "packed")
        for lane in r.slot.rpartition(".")[2]
    }
    assert left == crossing
