"""Blocks stand after what dominates them (specification 2.16.1), whatever a pass did to the edges;
and what leaves a construct that goes is no branch that only its merge instruction made legal."""

from __future__ import annotations

import pytest

from spvlink import errors, validate
from spvlink.binary.encode import encode
from spvlink.grammar import ops
from spvlink.ir.check import check
from spvlink.ir.core import Function, Module
from spvlink.ir.edit import flow_changed
from spvlink.passes.cleaning import branches, dce, flow, join, simplify
from spvlink.passes.opening import inline
from spvlink.passes.raising import tidy
from tests.support.linking import base_options, count, link, module_of
from tests.support.samples import assemble

HEAD = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %x %n %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %x Location 0
OpDecorate %n Location 1
OpDecorate %n Flat
OpDecorate %o Location 0
%void = OpTypeVoid
%f = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%px = OpTypePointer Input %float
%pn = OpTypePointer Input %int
%po = OpTypePointer Output %float
%x = OpVariable %px Input
%n = OpVariable %pn Input
%o = OpVariable %po Output
%0 = OpConstant %int 0
%1 = OpConstant %int 1
%2 = OpConstant %int 2
%1f = OpConstant %float 1
%2f = OpConstant %float 2
%yes = OpConstantTrue %bool
"""
START = """
%main = OpFunction %void None %f
%entry = OpLabel
%a = OpLoad %float %x
%i = OpLoad %int %n
%c = OpSLessThan %bool %i %1
"""
END = """
%value = OpPhi %float {phi}
OpStore %o %value
OpReturn
OpFunctionEnd
"""


def ending(*phi: str) -> str:
    return END.format(phi=" ".join(phi))


LOOP = """
OpBranch %head
%head = OpLabel
%k = OpPhi %int %0 {before} %k1 %next
%s = OpPhi %float %a {before} %s1 %next
OpLoopMerge %after %next None
OpBranch %test
%test = OpLabel
%t = OpSLessThan %bool %k %i
OpBranchConditional %t %next %after
%next = OpLabel
%k1 = OpIAdd %int %k %1
%s1 = OpFAdd %float %s %1f
OpBranch %head
%after = OpLabel
"""

# name -> the entry point's code; the constant ways are known from the start
BODIES = {
    "default first": """
OpSelectionMerge %merge None
OpSwitch %2 %default 2 %two
%default = OpLabel
%d = OpPhi %float %a %entry %u %two
%d1 = OpFMul %float %d %2f
OpBranch %merge
%two = OpLabel
%u = OpFAdd %float %a %1f
OpBranch %default
%merge = OpLabel
"""
    + ending("%d1 %default"),
    "default first, a loop falls through": """
OpSelectionMerge %merge None
OpSwitch %2 %default 1 %one 2 %two
%default = OpLabel
%d = OpPhi %float %a %entry %s %after
OpSelectionMerge %both None
OpBranchConditional %c %then %both
%then = OpLabel
%d1 = OpFMul %float %d %2f
OpBranch %both
%both = OpLabel
%d2 = OpPhi %float %d %default %d1 %then
OpBranch %merge
%one = OpLabel
OpBranch %merge
%two = OpLabel
"""
    + LOOP.format(before="%two")
    + """
OpBranch %default
%merge = OpLabel
"""
    + ending("%d2 %both %1f %one"),
    "merge block first": """
OpSelectionMerge %merge None
OpBranchConditional %yes %then %else
%merge = OpLabel
%m = OpPhi %float %u %then %v %else
OpStore %o %m
OpReturn
%then = OpLabel
%u = OpFAdd %float %a %1f
OpBranch %merge
%else = OpLabel
%v = OpFMul %float %a %2f
OpBranch %merge
OpFunctionEnd
""",
    "nested, merge blocks first": """
OpSelectionMerge %merge None
OpBranchConditional %c %then %else
%merge = OpLabel
%m = OpPhi %float %in %inner %v %else
OpStore %o %m
OpReturn
%then = OpLabel
OpSelectionMerge %inner None
OpBranchConditional %yes %left %right
%inner = OpLabel
%in = OpPhi %float %u %left %w %right
OpBranch %merge
%left = OpLabel
%u = OpFAdd %float %a %1f
OpBranch %inner
%right = OpLabel
%w = OpFAdd %float %a %2f
OpBranch %inner
%else = OpLabel
%v = OpFMul %float %a %2f
OpBranch %merge
OpFunctionEnd
""",
    "a break on a condition, no merge instruction": """
OpSelectionMerge %merge None
OpSwitch %1 %merge 1 %one
%one = OpLabel
OpBranchConditional %c %merge %rest
%rest = OpLabel
%r = OpFAdd %float %a %1f
OpBranch %merge
%merge = OpLabel
"""
    + ending("%a %entry %2f %one %r %rest"),
    "a fall-through on a condition": """
OpSelectionMerge %merge None
OpSwitch %1 %default 1 %one
%one = OpLabel
OpBranchConditional %c %default %merge
%default = OpLabel
%d = OpPhi %float %a %entry %2f %one
%d1 = OpFMul %float %d %2f
OpBranch %merge
%merge = OpLabel
"""
    + ending("%a %one %d1 %default"),
    "a loop in a switch in a loop": """
OpBranch %outer
%outer = OpLabel
%j = OpPhi %int %0 %entry %j1 %again
%z = OpPhi %float %a %entry %z1 %again
OpLoopMerge %end %again None
OpBranch %check
%check = OpLabel
%go = OpSLessThan %bool %j %2
OpBranchConditional %go %body %end
%body = OpLabel
OpSelectionMerge %merge None
OpSwitch %2 %default 1 %one 2 %two
%default = OpLabel
%d = OpPhi %float %z %body %s %after
OpBranch %merge
%one = OpLabel
OpBranch %again
%two = OpLabel
"""
    + LOOP.format(before="%two")
    + """
OpBranch %default
%merge = OpLabel
OpBranch %again
%again = OpLabel
%z1 = OpPhi %float %z %one %d %merge
%j1 = OpIAdd %int %j %1
OpBranch %outer
%end = OpLabel
OpStore %o %z
OpReturn
OpFunctionEnd
""",
    "after a loop that is never left": """
OpSelectionMerge %merge None
OpSwitch %2 %default 2 %two
%default = OpLabel
%d = OpPhi %float %a %entry %a %gone
OpBranch %merge
%two = OpLabel
OpBranch %head
%head = OpLabel
OpLoopMerge %gone %next None
OpBranch %work
%work = OpLabel
OpBranch %next
%next = OpLabel
OpBranchConditional %c %head %gone
%gone = OpLabel
OpBranch %default
%merge = OpLabel
"""
    + ending("%d %default"),
}
PASSES = {
    "simplify": simplify.simplify,
    "branches": branches.branches,
    "dce": dce.dce,
    "join": join.join,
    "tidy": tidy.tidy,
}


def prove(module: Module) -> None:
    """The verifier and spirv-val take the module."""
    check(module)
    assert validate.validate(encode(module), "vulkan1.1") is None


def made(body: str) -> tuple[Module, Function]:
    code = assemble(HEAD + START + body)
    assert validate.validate(code, "vulkan1.1") is None
    module = module_of(code)
    assert module.entry is not None
    return module, module.entry.function


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("first", PASSES)
def test_every_pass_that_changes_edges(first: str, body: str) -> None:
    module, function = made(body)
    for name in (first, *PASSES):
        PASSES[name](module, function)
        prove(module)


@pytest.mark.parametrize(
    "name", ["default first", "merge block first", "a loop in a switch in a loop"]
)
def test_known_ways_are_taken(name: str) -> None:
    """Order is no reason to leave them."""
    module, function = made(BODIES[name])
    branches.branches(module, function)
    left = [i.op for b in function.blocks for i in b.insts]
    assert ops.OpSwitch not in left
    if name == "merge block first":
        assert ops.OpBranchConditional not in left


def test_what_is_in_order_stays_as_it_is() -> None:
    """Also where other orders would do."""
    for body in BODIES.values():
        module, function = made(body)
        before = list(function.blocks)
        version = module.version
        flow.put_in_order(module, function)
        assert function.blocks == before
        assert module.version == version


def test_only_what_must_moves() -> None:
    module, function = made(BODIES["default first, a loop falls through"])
    before = list(function.blocks)
    entry, default, then, both, one, two, *loop, merge = before
    function.blocks = [entry, then, default, merge, both, one, two, *loop]
    flow_changed(module)
    flow.put_in_order(module, function)
    assert function.blocks == [entry, default, then, merge, both, one, two, *loop]
    prove(module)


CALLS = {
    "left by a return only, merge block first": """
%get = OpFunction %float None %g
%p = OpFunctionParameter %float
%ge = OpLabel
OpBranch %gl
%gl = OpLabel
OpLoopMerge %gm %gc None
OpBranch %gb
%gm = OpLabel
OpUnreachable
%gb = OpLabel
%gx = OpFMul %float %p %2f
OpReturnValue %gx
%gc = OpLabel
OpBranch %gl
OpFunctionEnd
""",
    "ends the invocation": """
%get = OpFunction %float None %g
%p = OpFunctionParameter %float
%ge = OpLabel
OpKill
OpFunctionEnd
""",
}


@pytest.mark.parametrize("callee", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("calls", [1, 2])
def test_inlining(callee: str, calls: int) -> None:
    again = "%again = OpFunctionCall %float %get %v" if calls == 2 else ""
    body = f"""
OpSelectionMerge %merge None
OpBranchConditional %c %then %else
%merge = OpLabel
%m = OpPhi %float %u %then %v %else
OpStore %o %m
OpReturn
%then = OpLabel
%u = OpFunctionCall %float %get %a
OpBranch %merge
%else = OpLabel
%v = OpFMul %float %a %2f
{again}
OpBranch %merge
OpFunctionEnd
"""
    head = HEAD + "%g = OpTypeFunction %float %float\n"
    code = assemble(head + START + body + callee)
    assert validate.validate(code, "vulkan1.1") is None
    module = module_of(code)
    inline.inline(module)
    prove(module)
    assert module.entry is not None
    for run in PASSES.values():
        run(module, module.entry.function)
        prove(module)


def test_nothing_out_of_order_is_written() -> None:
    """Whatever a pass forgets."""
    module, function = made(BODIES["default first"])
    assert flow.misplaced(module, function) is None
    entry, default, two, merge = function.blocks
    function.blocks = [entry, two, merge, default]
    assert flow.misplaced(module, function) is merge
    with pytest.raises(errors.Broken, match="dominates"):
        flow.check_order(module)


VERT = """
layout(location = 0) out vec2 v;
layout(location = 1) out vec4 unread;
void main() { gl_Position = p; v = p.xy; unread = p; }
"""
FRAG = """
layout(location = 0) in vec2 v;
layout(location = 1) in vec4 unread;
layout(binding = 0) uniform sampler2D t;
void main() {
    vec4 c = vec4(0.0);
    switch (2) {
    case 2:
        for (int i = 0; i < 4; i++) c += texture(t, v + vec2(i) * 0.01);
    default:
        if (v.x > 0.5) c += texture(t, v) * 0.5;
        c += vec4(0.1);
    }
    o = c;
}
"""


def test_a_case_that_falls_through_into_a_default_in_front() -> None:
    """As glslang places it. The vectors behind it are put together from the end to the beginning,
    and were lost when the blocks stood otherwise."""
    options = base_options()
    options.check_each = True
    done = link(VERT, FRAG, options)
    assert done.linked.passed_through is None
    assert done.linked.validated == "validated"
    assert count(done.frag, ops.OpSwitch) == 0
