"""What is seen through vectors: each rule of ``vectors`` on one instruction; what it makes of it
has the same components (scripts/mutants found that no other test has these)."""

from __future__ import annotations

import re

import pytest

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.check import check
from spvlink.ir.core import Inst, Module, text_of_name
from spvlink.passes.cleaning import vectors
from tests.support.case_loading import load

TEXT = """\
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main"
OpExecutionMode %main OriginUpperLeft
{names}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%vec3 = OpTypeVector %float 3
%vec4 = OpTypeVector %float 4
%bvec2 = OpTypeVector %bool 2
%mat = OpTypeMatrix %vec2 2
%struct = OpTypeStruct %vec4 %float
%c0 = OpConstant %float 0
%c1 = OpConstant %float 1
%i1 = OpConstant %int 1
%i7 = OpConstant %int 7
%minus = OpConstant %int -1
%c01 = OpConstantComposite %vec2 %c0 %c1
%c0101 = OpConstantComposite %vec4 %c0 %c1 %c0 %c1
%some = OpUndef %vec4
%two = OpConstant %int 2
%array = OpTypeArray %vec4 %two
%rows = OpTypeArray %array %two
%own_rows = OpTypePointer Private %rows
%own_row = OpTypePointer Private %array
%own_vec4 = OpTypePointer Private %vec4
{pointers}
%memory = OpVariable %own_rows Private
{variables}
%main = OpFunction %void None %1
%first = OpLabel
{loads}
{body}
OpReturn
OpFunctionEnd
"""
OPAQUE = {
    "v": "vec4", "w": "vec4", "a": "vec2", "b": "vec2", "s": "float", "t": "float", "m": "mat",
    "st": "struct", "yes": "bool", "flags": "bvec2",
}  # fmt: skip


def rewritten(body: str) -> tuple[Module, Inst, dict[Inst, str]]:
    """A function of these instructions, the last of them, and all names."""
    lines = body.replace("; ", "\n")
    defined = ["c0", "c1", "memory", "some", *OPAQUE, *re.findall(r"%(\w+) =", lines)]
    kinds = sorted(set(OPAQUE.values()) - {"vec4"})
    module = load(
        TEXT.format(
            names="\n".join(f'OpName %{n} "{n}"' for n in defined),
            pointers="\n".join(f"%own_{k} = OpTypePointer Private %{k}" for k in kinds),
            variables="\n".join(
                f"%in_{n} = OpVariable %own_{k} Private" for n, k in OPAQUE.items()
            ),
            loads="\n".join(f"%{n} = OpLoad %{k} %in_{n}" for n, k in OPAQUE.items()),
            body=lines,
        )
    )
    titles = {of: text_of_name(name) for of, name in module.names}
    return module, module.functions[0].blocks[0].insts[-2], titles


def told(inst: Inst, titles: dict[Inst, str]) -> str:
    """An instruction for people."""
    args = [titles.get(a) or f"({told(a, titles)})" for a in inst.args]
    words = [ops.NAMES[inst.op].removeprefix("Op"), *args, *map(str, inst.imm)]
    return " ".join(words)


def parts(inst: Inst, titles: dict[Inst, str]) -> object:
    """A value's components, by where they come from."""
    assert inst.type is not None
    held = [parts(a, titles) for a in inst.args if a.type is not None]
    op = inst.op
    if op == ops.OpCompositeConstruct or op == ops.OpConstantComposite:
        flat = [x for h in held for x in (h if isinstance(h, list) else [h])]
        return flat if inst.type.op == ops.OpTypeVector else held
    if op == ops.OpVectorShuffle:
        both = [x for h in held for x in (h if isinstance(h, list) else [])]
        return [both[n] if n < len(both) else "?" for n in inst.imm]
    if op == ops.OpCompositeExtract:
        found: object = held[0]
        for n in inst.imm:
            assert isinstance(found, list)
            found = found[n]
        return found
    if op == ops.OpCompositeInsert:
        return _inserted(held[1], inst.imm, held[0])
    return _opaque(inst.type, "?" if op == ops.OpUndef else titles.get(inst, told(inst, titles)))


def _inserted(whole: object, path: tuple[int, ...], part: object) -> object:
    assert isinstance(whole, list)
    new = list(whole)
    new[path[0]] = _inserted(new[path[0]], path[1:], part) if path[1:] else part
    return new


def _opaque(type: Inst, name: str) -> object:
    if not types.is_composite(type):
        return name
    return [_opaque(types.part_type(type, n), f"{name}.{n}") for n in range(types.size_of(type))]


X = {n: f"%v{n} = OpCompositeExtract %float %v {n}; " for n in range(4)}
Y = {n: f"%w{n} = OpCompositeExtract %float %w {n}; " for n in range(4)}
ALL = X[0] + X[1] + X[2] + X[3]
PUT = "".join(f"%p{n} = OpCompositeInsert %vec4 %t %p{n - 1} 1; " for n in range(1, 32))
SAME = ""  # nothing is changed
RULES = {  # instructions -> what becomes of the last one
    # extracts
    "%r = OpCompositeExtract %float %v 2": SAME,
    "%x = OpCompositeExtract %vec4 %st 0; %r = OpCompositeExtract %float %x 2":
        "CompositeExtract st 0 2",
    "%x = OpVectorShuffle %vec4 %v %w 0 5 4294967295 1; %r = OpCompositeExtract %float %x 1":
        "CompositeExtract w 1",
    "%x = OpVectorShuffle %vec4 %v %w 0 5 4294967295 1; %r = OpCompositeExtract %float %x 2":
        "undefined",
    # as many steps as are made: one by one through 31 inserts, and into the construct
    "%p0 = OpCompositeConstruct %vec4 %s %s %s %s; " + PUT
    + "%r = OpCompositeExtract %float %p31 0": "s",
    "%p0 = OpCompositeConstruct %vec4 %s %s %s %s; %p1 = OpCompositeInsert %vec4 %t %p0 1; "
    + PUT.replace("%p1 =", "%q =", 1) + "%q0 = OpCompositeInsert %vec4 %t %p31 1; "
    "%r = OpCompositeExtract %float %q0 0": "CompositeExtract p0 0",
    # constructs
    ALL + "%r = OpCompositeConstruct %vec4 %v0 %v1 %v2 %v3": "v",
    ALL + "%r = OpCompositeConstruct %vec4 %v0 %v2 %v1 %v3": "VectorShuffle v v 0 2 1 3",
    ALL + "%r = OpCompositeConstruct %vec3 %v0 %v1 %v2": "VectorShuffle v v 0 1 2",
    X[0] + X[2] + "%r = OpCompositeConstruct %vec4 %c01 %v0 %v2":
        "VectorShuffle (ConstantComposite c0 c1) v 0 1 2 4",
    X[0] + Y[1] + "%r = OpCompositeConstruct %vec3 %v0 %w1 %c1": SAME,
    X[2] + "%r = OpCompositeConstruct %vec4 %v2 %c1 %c1 %c1":
        "VectorShuffle v (ConstantComposite c1 c1) 2 4 4 4",
    X[2] + "%r = OpCompositeConstruct %vec4 %v2 %c1 %s %c1": SAME,
    "%a0 = OpCompositeExtract %float %a 0; %a1 = OpCompositeExtract %float %a 1; "
    "%r = OpCompositeConstruct %vec4 %a0 %a1 %s %t": "CompositeConstruct a s t",
    "%a0 = OpCompositeExtract %float %a 0; %a1 = OpCompositeExtract %float %a 1; "
    "%r = OpCompositeConstruct %vec4 %s %a0 %a1 %t": "CompositeConstruct s a t",
    "%a0 = OpCompositeExtract %float %a 0; %a1 = OpCompositeExtract %float %a 1; "
    "%r = OpCompositeConstruct %vec3 %a0 %a1 %c1": "CompositeConstruct a c1",
    "%r = OpCompositeConstruct %vec4 %a %s %t": SAME,
    "%r = OpCompositeConstruct %vec2 %s %t": SAME,
    "%r = OpCompositeConstruct %vec2 %s %c1": SAME,
    "%f0 = OpCompositeExtract %bool %flags 0; %r = OpCompositeConstruct %bvec2 %f0 %yes": SAME,
    "%m0 = OpCompositeExtract %vec2 %m 0; %m1 = OpCompositeExtract %vec2 %m 1; "
    "%r = OpCompositeConstruct %mat %m0 %m1": "m",
    "%m0 = OpCompositeExtract %vec2 %m 0; %m1 = OpCompositeExtract %vec2 %m 1; "
    "%r = OpCompositeConstruct %mat %m1 %m0": SAME,
    "%m0 = OpCompositeExtract %vec2 %m 0; %m1 = OpCompositeExtract %vec2 %m 1; "
    "%r = OpCompositeConstruct %vec4 %m0 %m1": "VectorShuffle m0 m1 0 1 2 3",
    "%m0 = OpCompositeExtract %float %m 0 0; %m1 = OpCompositeExtract %float %m 0 1; "
    "%r = OpCompositeConstruct %vec2 %m0 %m1": "CompositeExtract m 0",
    "%m0 = OpCompositeExtract %float %m 0 0; %m1 = OpCompositeExtract %float %m 1 1; "
    "%r = OpCompositeConstruct %vec2 %m0 %m1": SAME,
    # shuffles
    "%r = OpVectorShuffle %vec4 %v %w 0 1 2 3": "v",
    "%r = OpVectorShuffle %vec2 %v %w 0 1": SAME,
    "%r = OpVectorShuffle %vec2 %v %w 0 5": SAME,
    "%r = OpVectorShuffle %vec2 %v %v 0 1": SAME,
    "%r = OpVectorShuffle %vec2 %v %v 0 5": "VectorShuffle v v 0 1",
    "%r = OpVectorShuffle %vec2 %v %v 0 4294967295": SAME,
    "%x = OpVectorShuffle %vec4 %v %v 1 0 2 3; %r = OpVectorShuffle %vec2 %x %w 2 4":
        "VectorShuffle v w 2 4",
    "%x = OpVectorShuffle %vec4 %v %v 1 0 2 3; %r = OpVectorShuffle %vec2 %w %x 0 4":
        "VectorShuffle w v 0 5",
    "%x = OpVectorShuffle %vec4 %v %v 1 0 2 3; %r = OpVectorShuffle %vec2 %x %w 2 4294967295": SAME,
    "%x = OpVectorShuffle %vec4 %v %w 0 1 6 7; %r = OpVectorShuffle %vec4 %x %v 0 1 6 7": "v",
    "%x = OpVectorShuffle %vec2 %v %w 0 5; %y = OpVectorShuffle %vec2 %a %b 1 2; "
    "%r = OpVectorShuffle %vec3 %x %y 0 1 2": SAME,
    X[0] + Y[1] + "%x = OpCompositeConstruct %vec2 %v0 %w1; %r = OpVectorShuffle %vec2 %x %x 1 0":
        "VectorShuffle w v 1 4",
    "%x = OpCompositeConstruct %vec3 %a %s; %r = OpVectorShuffle %vec3 %x %x 0 1 2": "x",
    "%x = OpCompositeConstruct %vec4 %a %s %t; %r = OpVectorShuffle %vec3 %x %x 0 1 2": SAME,
    "%x = OpCompositeConstruct %vec4 %a %s %t; %r = OpVectorShuffle %vec2 %x %x 3 2":
        "CompositeConstruct t s",
    "%x = OpCompositeExtract %vec4 %st 0; %r = OpVectorShuffle %vec2 %x %x 3 2": SAME,
    # inserts
    "%x = OpCompositeInsert %vec2 %s %a 1; %r = OpCompositeInsert %vec2 %t %x 0":
        "CompositeConstruct t s",
    "%x = OpCompositeInsert %vec4 %s %some 1; %r = OpCompositeInsert %vec4 %t %x 0": SAME,
    "%x = OpCompositeConstruct %vec2 %s %t; %r = OpCompositeInsert %vec2 %c1 %x 0":
        "CompositeConstruct c1 t",
    "%x = OpCompositeConstruct %vec4 %a %s %t; %r = OpCompositeInsert %vec4 %c1 %x 3": SAME,
    "%r = OpCompositeInsert %vec4 %s %c0101 1": "CompositeConstruct c0 s c0 c1",
    "%r = OpCompositeInsert %vec4 %s %v 1": SAME,
    "%r = OpCompositeInsert %mat %s %m 0 1": SAME,
    "%x = OpCompositeInsert %mat %a %m 0; %r = OpCompositeInsert %mat %b %x 1": SAME,
    "%r = OpCompositeInsert %struct %s %st 1": SAME,
    # by a constant
    "%r = OpVectorExtractDynamic %float %v %i1": "CompositeExtract v 1",
    "%r = OpVectorExtractDynamic %float %v %i7": SAME,
    "%r = OpVectorExtractDynamic %float %v %minus": SAME,
    "%r = OpVectorInsertDynamic %vec4 %v %s %i1": "CompositeInsert s v 1",
    "%r = OpVectorInsertDynamic %vec4 %v %s %i7": SAME,
    "%r = OpVectorInsertDynamic %vec4 %v %s %minus": SAME,
}  # fmt: skip


@pytest.mark.parametrize("body", RULES)
def test_a_rule_moves_components_and_nothing_else(body: str) -> None:
    module, inst, titles = rewritten(body)
    before, version = parts(inst, titles), module.version
    kept = told(inst, titles)
    found = vectors.RULES[inst.op](module, inst)
    made = inst if found is None else found
    assert made.type is inst.type
    if RULES[body] == SAME:
        assert (found, told(inst, titles), module.version) == (None, kept, version)
        return
    check(module)
    after = parts(made, titles)
    if "Dynamic" not in body:
        assert before == "?" or after == before
    name = "undefined" if made.op == ops.OpUndef else titles.get(made)
    assert (told(made, titles) if found is None else name) == RULES[body]


IN, CHAIN = "OpInBoundsAccessChain", "OpAccessChain"


@pytest.mark.parametrize(
    ("inner", "outer", "wanted"),
    [(IN, IN, IN), (CHAIN, CHAIN, CHAIN), (IN, CHAIN, CHAIN), (CHAIN, IN, CHAIN)],
)
def test_a_chain_of_chains_promises_what_both_do(inner: str, outer: str, wanted: str) -> None:
    module, inst, titles = rewritten(
        f"%x = {inner} %own_row %memory %i1; %r = {outer} %own_vec4 %x %i1"
    )
    assert vectors.RULES[inst.op](module, inst) is None
    assert ops.NAMES[inst.op] == wanted and titles[inst.args[0]] == "memory"
    assert len(inst.args) == 3


def test_a_chain_of_no_index() -> None:
    module, inst, titles = rewritten("%r = OpAccessChain %own_rows %memory")
    found = vectors.RULES[inst.op](module, inst)
    assert found is not None and titles[found] == "memory"
