"""Code crosses only into a stage that declares what it needs, and as the same types.

Instructions of extensions that compilers seldom write, in both directions. The newer spirv-val,
which knows these extensions, looks at all that comes out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.grammar import enums, info, ops
from spvlink.ir.core import CAPABILITIES, Module
from spvlink.ir.declared import NOT_ASKED, Declared
from spvlink.text.parser import parse
from tests.support.declared_kinds import FRAGMENT, HEAD, KINDS, VERTEX
from tests.support.judges import refusal, undeclared


def built(model: str, kind: str | None, moves: bool, attribute: bool = False) -> bytes:
    """A stage that declares what a kind needs (None: nothing), and ``moves``: has code of it."""
    declared, kinds, body = KINDS[kind] if kind else ("", "", "")
    if not moves:
        kinds = body = ""
    names = {"listed": "%p %position %a %b", "notes": ""}
    code = VERTEX
    if model == "Fragment":
        names = {"listed": "%a %b %o", "notes": "OpExecutionMode %main OriginUpperLeft\n"}
        names["notes"] += "OpDecorate %o Location 0\nOpDecorate %a Flat\nOpDecorate %b Flat"
        code = FRAGMENT
    else:
        names["notes"] = "OpDecorate %p Location 0\nOpDecorate %position BuiltIn Position"
    names["notes"] += "\nOpDecorate %a Location 0\nOpDecorate %b Location 1"
    names["last"] = "%r" if moves else "%x"
    text = (HEAD + code).format(
        model=model, declared=declared, glsl="", types=kinds, body=body,
        first="%r" if moves else "%x", **{"from": "%p" if attribute else "%c"}, **names,
    )  # fmt: skip
    return encode(parse(text))


def linked(vert: bytes, frag: bytes) -> tuple[Module, Module, str]:
    """Both modules as they come out, and what is said of the first varying."""
    options = spvlink.Options(check_each=True)
    done = spvlink.link([vert, frag], options)
    assert done.defect is None, done.defect
    for before, stage in zip((vert, frag), done.stages):
        assert refusal(before, True) is None
        assert refusal(stage.data, True) is None
    first, second = (decode(stage.data) for stage in done.stages)
    return first, second, " ".join(f"{r.action}: {r.why}" for r in done.remarks if "0.x" in r.slot)


def holds(module: Module, kind: str) -> bool:
    """Whether a module has the code of a kind."""
    mine = {(i.op, i.imm) for i in parse(KINDS[kind][1]).globals}
    wanted = KINDS[kind][2].split()[2]
    if "small" in KINDS[kind][1]:
        return any((t.op, t.imm) in mine for t in module.globals)
    return any(
        i.op == getattr(ops, wanted) for f in module.functions for b in f.blocks for i in b.insts
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_uniform_expression_crosses_where_it_is_declared(kind: str) -> None:
    vert = built("Vertex", kind, True)
    _, frag, said = linked(vert, built("Fragment", None, False))
    assert f"does not declare the capability {kind}" in said
    assert not holds(frag, kind)
    _, frag, said = linked(vert, built("Fragment", kind, False))
    assert "propagated" in said and holds(frag, kind)


def test_bfloat16_is_no_half() -> None:
    """Of the same width, and the other stage may compute with that."""
    vert, frag, said = linked(
        built("Vertex", "BFloat16TypeKHR", True), built("Fragment", "Float16", False)
    )
    assert "does not declare the capability BFloat16TypeKHR" in said
    assert not holds(frag, "Float16")
    vertex = built("Vertex", "Float16", False, True)
    vert, _, said = linked(vertex, built("Fragment", "BFloat16TypeKHR", True))
    assert "moved-backward" not in said and not holds(vert, "Float16")


@pytest.mark.parametrize("kind", KINDS)
def test_code_moves_back_where_it_is_declared(kind: str) -> None:
    frag = built("Fragment", kind, True)
    vert, _, said = linked(built("Vertex", None, False, True), frag)
    assert "moved-backward" not in said and not holds(vert, kind)
    if kind in ("FMAKHR", "ReplicatedCompositesEXT", "Float16"):
        assert f"not moved: the other stage does not declare the capability {kind}" in said
    vert, _, said = linked(built("Vertex", kind, False, True), frag)
    assert "moved-backward" in said and holds(vert, kind)


def test_rules_make_nothing_that_a_shader_may_not_have() -> None:
    text = (Path(spvlink.__file__).parent / "rules" / "algebra.rules").read_text()
    results = [line.split(" => ")[1] for line in text.splitlines() if " => " in line]
    made = set(re.findall(r"\bOp\w+", " ".join(results)))
    assert len(made) > 20
    assert {name for name in made if info.ASKS[getattr(ops, name)] != NOT_ASKED} == set()


# What is declared or the version, an instruction of module scope or code, what is missing.
MISSING = [
    ("OpCapability Shader", "%x = OpDPdxFine %float %f", "the capability DerivativeControl"),
    ("OpCapability DerivativeControl", "%x = OpDPdxFine %float %f", None),
    ("; Version: 1.3", "%x = OpCopyLogical %float %f", "SPIR-V 1.4"),
    ("; Version: 1.4", "%x = OpCopyLogical %float %f", None),
    ("OpCapability Shader", "OpTerminateInvocation", "SPV_KHR_terminate_invocation or SPIR-V 1.6"),
    ('OpExtension "SPV_KHR_terminate_invocation"', "OpTerminateInvocation", None),
    ("; Version: 1.6", "OpTerminateInvocation", None),
    ("OpCapability Int64Atomics", "%x = OpFAdd %float %f %f", None),
    ("OpCapability Shader", "%x = OpFConvert %wide %f", "the capability Float64"),
    ("OpCapability Shader", "%x = OpUConvert %long %i", "the capability Int64"),
    ("OpCapability Int64Atomics", "%x = OpUConvert %long %i", None),  # which declares Int64 too
    ("OpCapability Int64", "%x = OpUConvert %int %l", None),
    ("OpCapability Shader", "%x = OpUConvert %int %l", "the capability Int64"),
    ("OpCapability Shader", "%x = OpFAdd %v8 %v %v", "the capability Vector16 or LongVectorEXT"),
    ("OpCapability BFloat16TypeKHR", "%x = OpDot %bf %b2 %b2", "BFloat16DotProductKHR"),
    ("OpCapability BFloat16DotProductKHR", "%x = OpDot %bf %b2 %b2", None),
    ("OpCapability Shader", "%x = OpLoad %float %p NonPrivatePointer", "VulkanMemoryModel"),
    ("OpCapability Shader", "%x = OpLoad %float %p Aligned 4", None),
    ("OpCapability VulkanMemoryModel", "%x = OpLoad %float %p NonPrivatePointer", None),
]
TYPES = """\
%float = OpTypeFloat 32
%wide = OpTypeFloat 64
%bf = OpTypeFloat 16 BFloat16KHR
%int = OpTypeInt 32 0
%long = OpTypeInt 64 0
%v8 = OpTypeVector %float 8
%bf2 = OpTypeVector %bf 2
%ptr = OpTypePointer Private %float
%p = OpVariable %ptr Private
%i = OpUndef %int
%f = OpUndef %float
%l = OpUndef %long
%v = OpUndef %v8
%b2 = OpUndef %bf2
%void = OpTypeVoid
%fn = OpTypeFunction %void
%main = OpFunction %void None %fn
%block = OpLabel
"""


@pytest.mark.parametrize("given, code, missing", MISSING)
def test_what_an_instruction_needs(given: str, code: str, missing: str | None) -> None:
    end = "" if code.startswith("OpTerminate") else "OpReturn\n"
    source = parse(f"{TYPES}{code}\n{end}OpFunctionEnd")
    lacking = Declared(parse(given)).lacking(source.functions[0].blocks[0].insts[0])
    assert (lacking is None) == (missing is None)
    assert missing is None or missing in str(lacking)


def test_a_judge_looks_at_all_that_is_linked() -> None:
    module = decode(built("Vertex", "FMAKHR", True))
    assert not undeclared(encode(module))
    held = module.sections[CAPABILITIES]
    held[:] = [c for c in held if c.imm[0] != enums.Capability_FMAKHR]
    assert undeclared(encode(module)) == ["the capability FMAKHR"]
