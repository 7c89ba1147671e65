"""Debug information: it is read wherever it may stand and changes no code; what is left of the code
keeps its lines, scopes and variables."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums, glsl, ops
from spvlink.ir.core import Module
from spvlink.text.parser import parse
from spvlink.text.printer import print_module
from tests.support.chains import NAMES, build
from tests.support.debug_reading import (
    DECLARE,
    NONE,
    describes,
    globals_of,
    places,
    set_of,
    shape,
    stripped,
    told,
)
from tests.support.judges import assert_valid
from tests.support.samples import assemble, compile_glsl

VERTEX = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 v;
layout(location = 1) out vec4 spare;
void main() { gl_Position = p; v = p.wzyx; spare = p; }
"""
FRAGMENT = """#version 450
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 o;
layout(binding = 0) uniform U { vec4 k; int n; };
"""
FLAGS = ("-g", "-gV", "-gVS")


def linked_codes(codes: list[bytes] | tuple[bytes, ...]) -> list[bytes]:
    """The modules that come out, which must not be those that went in."""
    linked = spvlink.link(list(codes), clean=True)
    assert linked.defect is None and linked.passed_through is None, linked.passed_through
    found = [stage.data for stage in linked.stages]
    assert_valid(codes, found)
    same = spvlink.link([stripped(code) for code in codes], clean=True)
    assert [shape(s.data) for s in same.stages] == [shape(code) for code in found]
    return found


def fragment(body: str, flag: str = "-gVS", vertex: str = VERTEX) -> Module:
    """The fragment shader of a pair after linking, whose line numbers are those of ``body``."""
    source = FRAGMENT + "#line 1\n" + body
    codes = [compile_glsl(vertex, "vert", debug=flag), compile_glsl(source, "frag", debug=flag)]
    return decode(linked_codes(codes)[1])


def lines_of(module: Module, number: int) -> set[int]:
    """The lines of the uses of an instruction of GLSL.std.450."""
    return {
        where.debug_line or where.line
        for inst, where in places(module)
        if set_of(inst) == "GLSL.std.450" and inst.imm[0] == number
    }


# -- no code changes -------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["-gVS", "-g"])
@pytest.mark.parametrize("name", NAMES[::9])
def test_the_same_code_as_without(name: str, flag: str) -> None:
    """Linked and valid, and without its debug information what linking without gives."""
    codes = build(name, flag)
    linked = spvlink.link(list(codes), clean=True)
    same = spvlink.link([stripped(code) for code in codes], clean=True)
    assert linked.defect is None and linked.passed_through == same.passed_through
    assert_valid(codes, [stage.data for stage in linked.stages])
    for stage, other in zip(linked.stages, same.stages):
        assert shape(stage.data) == shape(other.data), stage.stage


@pytest.mark.parametrize("name", NAMES[4::33])
def test_the_same_picture(name: str) -> None:
    codes = list(build(name, "-gVS"))
    scene, before = draw_covering(codes)
    after = draw([stage.data for stage in spvlink.link(codes, clean=True).stages], scene)
    plain = draw(
        [stage.data for stage in spvlink.link(list(build(name)), clean=True).stages], scene
    )
    assert before.is_good()
    difference = compare(after, plain)
    assert not difference, str(difference)


# -- lines and scopes ------------------------------------------------------------------------------

LINED = """
float f(float x) {
    if (x > 0.5)
        return sin(x);
    return cos(x);
}
void main() {
    vec4 c = vec4(0.0);
    for (int i = 0; i < n; ++i) {
        c.x += f(v.x);
        c.y += exp(
            f(v.y));
    }
    o = c
        + tan(v.z);
}
"""


@pytest.mark.parametrize("flag", FLAGS)
def test_lines_follow_their_instructions(flag: str) -> None:
    """Through inlining (twice), an early return and blocks that are joined."""
    module = fragment(LINED, flag)
    assert lines_of(module, glsl.Glsl_Sin) == {4}
    assert lines_of(module, glsl.Glsl_Cos) == {5}
    assert lines_of(module, glsl.Glsl_Exp) <= {11, 12}
    assert lines_of(module, glsl.Glsl_Tan) <= {14, 15}


@pytest.mark.parametrize("flag", ["-gV", "-gVS"])
def test_scopes_say_what_was_inlined_where(flag: str) -> None:
    found = [
        (where.functions, where.calls)
        for inst, where in places(fragment(LINED, flag))
        if set_of(inst) == "GLSL.std.450" and inst.imm[0] == glsl.Glsl_Sin
    ]
    assert len(found) == 2
    assert all(functions == ["f", "main"] for functions, _ in found)
    assert {calls[0] for _, calls in found} <= {10, 11, 12} and found[0][1] != found[1][1]


def test_scopes_of_calls_in_calls() -> None:
    module = fragment("""
float g(float x) { return sin(x); }
float f(float x) {
    return g(x) * 2.0;
}
void main() {
    o = vec4(f(v.x));
}
""")
    (found,) = [w for i, w in places(module) if set_of(i)[:4] == "GLSL" and i.imm[0] == 13]
    assert found.functions == ["g", "f", "main"] and found.calls == [4, 7]
    assert found.debug_line == 2


@pytest.mark.parametrize("flag", FLAGS)
def test_one_callee_in_two_functions_that_stay(flag: str) -> None:
    """Both have its lines, each its own: a DebugLine has an id."""
    module = fragment(
        """
float g(float x) { return sin(x); }
int f(float x) {
    if (g(x) > 2.0) discard;
    return 1;
}
void main() {
    o = vec4(g(v.x) + g(v.y));
    for (int i = 0; i < n; i += f(v.z)) o += 1.0;
}
""",
        flag,
    )
    sines = [i for i, _ in places(module) if set_of(i)[:4] == "GLSL" and i.imm[0] == 13]
    assert len(module.functions) == 2 and len(sines) == 3
    assert lines_of(module, glsl.Glsl_Sin) == {2}


def test_what_a_pass_makes_has_no_line() -> None:
    """Code that comes from the other stage, and stores at the return, are of no line of this
    one."""
    codes = [
        compile_glsl(VERTEX, "vert", debug="-gVS"),
        compile_glsl(
            FRAGMENT + "void main() { o = vec4(sqrt(k.x * 3.0) * v.x); }", "frag", debug="-gVS"
        ),
    ]
    vert = decode(linked_codes(codes)[0])
    stores = [w for i, w in places(vert) if i.op == ops.OpStore]
    assert stores[-1].debug_line == 0 and stores[-1].functions == ["main"]


def test_lines_of_what_is_gone_go() -> None:
    """The line of a dead instruction does not become that of the next."""
    module = fragment("""
void main() {
    float dead = sin(k.x);
    o = vec4(
        cos(v.y));
}
""")
    lines = {where.debug_line for _, where in places(module)}
    assert 3 not in lines and lines_of(module, glsl.Glsl_Cos) <= {4, 5}


# -- variables -------------------------------------------------------------------------------------


def test_variables_that_became_values() -> None:
    """Each store, and each phi, tells the value; a variable that stays is declared."""
    module = fragment("""
void main() {
    float x = v.x;
    if (v.y > 0.5)
        x = sin(x);
    o = vec4(x);
}
""")
    values = [(value.op, where.functions) for name, value, where in told(module) if name == "x"]
    assert (ops.OpExtInst, ["main"]) in values and (ops.OpPhi, ["main"]) in values
    assert len(values) == 3 and not told(module, DECLARE)


def test_variables_in_memory_stay_declared() -> None:
    module = fragment("""
void main() {
    float held[4] = float[](v.x, v.y, 1.0, 2.0);
    o = vec4(held[n & 3]);
}
""")
    ((name, variable, _),) = told(module, DECLARE)
    assert name == "held" and variable.op == ops.OpVariable


def test_a_value_that_is_gone_ends_what_was_said() -> None:
    """The second value of x is dead: nothing may say that x still has the first."""
    module = fragment("""
void main() {
    float x = sin(v.x);
    o = vec4(x);
    x = cos(v.y);
}
""")
    values = [value for name, value, _ in told(module) if name == "x"]
    assert [v.op for v in values] == [ops.OpExtInst, ops.OpUndef]


def test_vectors_with_dead_lanes_are_not_told() -> None:
    """Only one lane of x is computed any more."""
    module = fragment("""
void main() {
    vec4 x = vec4(sin(v.x), cos(v.y), v.z, 1.0);
    vec4 y = sin(v);
    o = vec4(x.x) + y;
}
""")
    names = [name for name, value, _ in told(module) if value.op != ops.OpUndef]
    assert "x" not in names and "y" in names
    module = fragment("void main() { vec4 x = sin(v); o = vec4(x.x); }")
    assert not told(module)  # sin is one instruction still, of a vector of one number


def test_const_parameters() -> None:
    """glslang declares them by their value: after inlining that is no variable."""
    module = fragment("""
float f(in const float a) { return a * a + k.y; }
void main() { o = vec4(f(v.x * k.x)); }
""")
    ((name, value, where),) = told(module)
    assert name == "a" and value.op == ops.OpFMul and where.functions == ["f", "main"]


def test_interface_variables() -> None:
    """One is the same variable in another place, one was taken apart, one is gone."""
    vertex = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 gone;
layout(location = 1) out vec4 part;
layout(location = 2) out vec4 v;
void main() { gl_Position = p; v = p.wzyx; gone = p; part = p * p; }
"""
    source = """#version 450
layout(location = 0) in vec4 gone;
layout(location = 1) in vec4 part;
layout(location = 2) in vec4 v;
layout(location = 0) out vec4 o;
void main() { o = v * v.x * sin(part.y) * v.w * v; }
"""
    codes = [compile_glsl(vertex, "vert", debug="-gVS"), compile_glsl(source, "frag", debug="-gVS")]
    for code in linked_codes(codes):
        module = decode(code)
        listed = module.sections[4][0].args[1:]
        found = globals_of(module)
        assert found["v"] in listed
        for name in {"gone", "part"} & found.keys():
            assert set_of(found[name]) and found[name].imm == (NONE,), name


def test_an_output_that_becomes_local() -> None:
    """Nobody reads it but its own shader, by an index: there is no such global any more."""
    vertex = """#version 450
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 v;
layout(location = 1) out float own[4];
layout(push_constant) uniform P { int at; };
void main() {
    gl_Position = p;
    for (int i = 0; i < 4; i++) own[i ^ at] = p[i];
    v = vec4(own[at], own[at ^ 1], 0, 1);
}
"""
    codes = [
        compile_glsl(vertex, "vert", debug="-gVS"),
        compile_glsl(
            FRAGMENT
            + """
void main() { o = sin(v); }""",
            "frag",
        ),
    ]
    module = decode(linked_codes(codes)[0])
    own = globals_of(module)["own"]
    assert set_of(own) and own.imm == (NONE,)
    (local,) = [i for b in module.functions[0].blocks for i in b.insts if i.op == ops.OpVariable]
    assert local.type is not None and local.type.imm == (enums.StorageClass_Function,)


# -- reading ---------------------------------------------------------------------------------------

ODD = """OpCapability Shader
OpExtension "SPV_KHR_non_semantic_info"
%printf = OpExtInstImport "NonSemantic.Some.Set"
%debug = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %v %o
OpExecutionMode %main OriginUpperLeft
%file = OpString "odd.frag"
%name = OpString "f"
OpName %v "v"
OpDecorate %v Location 0
OpDecorate %o Location 0
OpLine %file 1 1
%void = OpTypeVoid
OpNoLine
%proc = OpTypeFunction %void
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%zero = OpConstant %uint 0
%nothing = OpExtInst %void %debug DebugInfoNone
%source = OpExtInst %void %debug DebugSource %file
%unit = OpExtInst %void %debug DebugCompilationUnit %one %two %source %two
%signature = OpExtInst %void %debug DebugTypeFunction %zero %void
%f = OpExtInst %void %debug DebugFunction %name %signature %source %one %one %unit %name %zero %one
%float = OpTypeFloat 32
OpLine %file 2 1
%vec4 = OpTypeVector %float 4
%in = OpTypePointer Input %vec4
%out = OpTypePointer Output %vec4
%v = OpVariable %in Input
OpNoLine
%o = OpVariable %out Output
%call = OpTypeFunction %vec4 %vec4 %float
%half = OpConstant %float 0.5
%alone = OpExtInst %void %printf 7
OpLine %file 3 1
%main = OpFunction %void None %proc
OpLine %file 4 1
%start = OpLabel
OpNoLine
%scope = OpExtInst %void %debug DebugScope %f
%load = OpLoad %vec4 %v
%sum = OpFunctionCall %vec4 %helper %load %half
%noted = OpExtInst %void %printf 1 %file %sum
%empty = OpExtInst %void %printf 2
OpLine %file 5 1
OpStore %o %sum
OpReturn
OpNoLine
%after = OpExtInst %void %debug DebugNoScope
OpFunctionEnd
OpLine %file 6 1
%between = OpExtInst %void %printf 3
%helper = OpFunction %vec4 None %call
OpLine %file 7 1
%a = OpFunctionParameter %vec4
OpNoLine
OpLine %file 8 1
%b = OpFunctionParameter %float
OpLine %file 9 1
%body = OpLabel
OpLine %file 10 1
%wave = OpExtInst %vec4 %glsl Sin %a
%times = OpVectorTimesScalar %vec4 %wave %b
OpReturnValue %times
OpLine %file 11 1
OpFunctionEnd
%last = OpExtInst %void %printf 4
OpNoLine
"""


def test_lines_and_asides_anywhere() -> None:
    """Word for word as they came; then linked, with the lines where they belong."""
    code = assemble(ODD)
    module = decode(code)
    assert encode(module) == code and encode(parse(print_module(module))) == code
    vertex = compile_glsl(VERTEX, "vert")
    out = decode(linked_codes([vertex, code])[1])
    found = {inst.op: where for inst, where in places(out)}
    assert found[ops.OpVectorTimesScalar].line == 10 and found[ops.OpStore].line == 5
    assert found[ops.OpLoad].line == 0 and found[ops.OpLoad].functions == ["f"]
    left = [tuple(i.imm) for i, _ in places(out) if set_of(i) == "NonSemantic.Some.Set"]
    assert left == [(1,), (2,)]


def test_asides_of_what_is_gone_go() -> None:
    """An instruction of an unknown set that speaks of a dead value keeps nothing alive."""
    text = ODD.replace(
        "OpLine %file 5 1\n",
        """%dead = OpExtInst %vec4 %glsl Cos %load
%said = OpExtInst %void %printf 5 %dead
OpLine %file 5 1
""",
    )
    out = decode(linked_codes([compile_glsl(VERTEX, "vert"), assemble(text)])[1])
    left = [tuple(i.imm) for i, _ in places(out) if set_of(i) == "NonSemantic.Some.Set"]
    assert left == [(1,), (2,)]


def test_lines_end_with_their_block() -> None:
    text = ODD.replace("OpLine %file 5 1\n", "OpLine %file 5 1\nOpBranch %next\n%next = OpLabel\n")
    out = decode(linked_codes([compile_glsl(VERTEX, "vert"), assemble(text)])[1])
    found = {inst.op: where for inst, where in places(out)}
    assert found[ops.OpStore].line == 0 and not found[ops.OpStore].functions


def test_asides_of_gone_variables_go() -> None:
    """Chain by chain, at module scope."""
    text = ODD.replace(
        "%alone = ",
        """%private = OpTypePointer Private %float
%gone = OpVariable %private Private
%about = OpExtInst %void %printf 8 %gone
%about_that = OpExtInst %void %printf 9 %about
%alone = """,
    )
    out = decode(linked_codes([compile_glsl(VERTEX, "vert"), assemble(text)])[1])
    left = [i.imm[0] for i in out.globals if set_of(i) == "NonSemantic.Some.Set"]
    assert left == [7] and not [i for i in out.globals if i.op == ops.OpVariable and i.imm[0] == 6]


def test_an_unknown_set_passes_through() -> None:
    """Which of its operands are ids nobody knows."""
    text = ODD.replace("%between = OpExtInst %void %printf 3\n", "")
    text = text.replace("%last = OpExtInst %void %printf 4\n", "")
    code = assemble(text).replace(b"NonSemantic.Some.Set", b"Something.Meaningful")
    codes = [compile_glsl(VERTEX, "vert"), code]
    assert encode(decode(codes[1])) == codes[1]
    options = spvlink.Options(clean=True)
    options.validate = False  # it does not know it, either
    linked = spvlink.link(codes, options)
    assert linked.passed_through is not None and "'Something.Meaningful'" in linked.passed_through
    assert [stage.data for stage in linked.stages] == codes


# as DXC writes it with -fspv-debug=rich
DXC = """OpCapability Shader
%debug = OpExtInstImport "OpenCL.DebugInfo.100"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %v %o
OpExecutionMode %main OriginUpperLeft
%file = OpString "a.hlsl"
%text = OpString "float"
%main_name = OpString "main"
%twice_name = OpString "twice"
%struct_name = OpString "S"
%member_name = OpString "m"
%x_name = OpString "x"
%y_name = OpString "y"
%v_name = OpString "v"
OpName %twice "twice"
OpDecorate %v Location 0
OpDecorate %o Location 0
%void = OpTypeVoid
%proc = OpTypeFunction %void
%uint = OpTypeInt 32 0
%bits = OpConstant %uint 32
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%in = OpTypePointer Input %vec4
%out = OpTypePointer Output %vec4
%local = OpTypePointer Function %float
%call = OpTypeFunction %float %local
%v = OpVariable %in Input
%o = OpVariable %out Output
%none = OpExtInst %void %debug DebugInfoNone
%expression = OpExtInst %void %debug DebugExpression
%source = OpExtInst %void %debug DebugSource %file
%unit = OpExtInst %void %debug DebugCompilationUnit 1 4 %source HLSL
%basic = OpExtInst %void %debug DebugTypeBasic %text %bits Float
%vector = OpExtInst %void %debug DebugTypeVector %basic 4
%struct = OpExtInst %void %debug DebugTypeComposite %struct_name Structure %source 1 1 %unit \
%struct_name %bits FlagIsProtected|FlagIsPrivate %member
%member = OpExtInst %void %debug DebugTypeMember %member_name %basic %source 2 3 %struct %bits \
%bits FlagIsProtected|FlagIsPrivate
%signature = OpExtInst %void %debug DebugTypeFunction FlagIsProtected|FlagIsPrivate %void
%main_info = OpExtInst %void %debug DebugFunction %main_name %signature %source 9 1 %unit \
%main_name FlagIsProtected|FlagIsPrivate 9 %main
%twice_info = OpExtInst %void %debug DebugFunction %twice_name %signature %source 5 1 %unit \
%twice_name FlagIsProtected|FlagIsPrivate 5 %twice
%block = OpExtInst %void %debug DebugLexicalBlock %source 9 10 %main_info
%x_info = OpExtInst %void %debug DebugLocalVariable %x_name %basic %source 5 12 %twice_info \
FlagIsLocal 1
%y_info = OpExtInst %void %debug DebugLocalVariable %y_name %basic %source 10 3 %block FlagIsLocal
%v_info = OpExtInst %void %debug DebugGlobalVariable %v_name %vector %source 3 4 %unit %v_name %v \
FlagIsDefinition
%main = OpFunction %void None %proc
%start = OpLabel
%scope = OpExtInst %void %debug DebugScope %block
%y = OpVariable %local Function
OpLine %file 10 5
%declared = OpExtInst %void %debug DebugDeclare %y_info %y %expression
%load = OpLoad %vec4 %v
%first = OpCompositeExtract %float %load 0
OpStore %y %first
OpLine %file 11 7
%sum = OpFunctionCall %float %twice %y
OpLine %file 12 5
%whole = OpCompositeConstruct %vec4 %sum %sum %sum %sum
OpStore %o %whole
OpReturn
OpFunctionEnd
OpLine %file 5 1
%twice = OpFunction %float None %call
%inner = OpExtInst %void %debug DebugScope %twice_info
%x = OpFunctionParameter %local
%declared_x = OpExtInst %void %debug DebugDeclare %x_info %x %expression
OpNoLine
%body = OpLabel
%again = OpExtInst %void %debug DebugScope %twice_info
OpLine %file 6 3
%old = OpLoad %float %x
%product = OpFMul %float %old %old
OpReturnValue %product
OpFunctionEnd
""".replace("\\\n", "")


def test_the_older_set() -> None:
    """OpenCL.DebugInfo.100 has literals among its ids, and refers forward."""
    code = assemble(DXC)
    module = decode(code)
    assert encode(module) == code and encode(parse(print_module(module))) == code
    out = decode(linked_codes([compile_glsl(VERTEX, "vert"), code])[1])
    (product,) = [w for i, w in places(out) if i.op == ops.OpFMul]
    assert product.line == 6 and product.functions == ["twice", "main"] and product.calls == [11]
    values = [(name, where.functions) for name, _, where in told(out)]
    assert values == [("x", ["twice", "main"]), ("y", ["main"])] or values == [
        ("y", ["main"]), ("x", ["twice", "main"]),
    ]  # fmt: skip
    composite = next(i for i in out.globals if set_of(i) and i.imm[0] == 10)
    assert composite.imm[1:] == (1, 1, 1, 3) and composite.args[-1].imm[0] == 11
    gone = next(i for i in out.globals if set_of(i) and i.imm[:3] == (20, 5, 1))
    assert gone.args[-1].imm == (NONE,)
    assert set_of(globals_of(out)["v"]) and globals_of(out)["v"].imm == (NONE,)


def test_debug_information_that_spirv_val_refuses() -> None:
    """No device looks at it: the rest is judged, and the report says so."""
    bad = ODD.replace("DebugScope %f", "DebugScope %float")
    codes = [compile_glsl(VERTEX, "vert"), assemble(bad)]
    linked = spvlink.link(codes, clean=True)
    assert linked.passed_through is None and linked.validated is not None
    assert linked.validated.startswith("validated without debug information: ")
    worse = bad.replace("OpExecutionMode %main OriginUpperLeft\n", "")
    with pytest.raises(spvlink.BadSpirv, match="spirv-val refuses it"):
        spvlink.link([codes[0], assemble(worse)], clean=True)


def test_nothing_dangles() -> None:
    """Whatever is left names only what is there."""
    for name in NAMES[2::40]:
        for stage in spvlink.link(list(build(name, "-gVS")), clean=True).stages:
            module = decode(stage.data)
            there = {*module.globals, *module.functions}
            for section in module.sections:
                there.update(section)
            for function in module.functions:
                there.update(function.params)
                for block in function.blocks:
                    there.update([block, *block.insts])
            for inst in there:
                if describes(inst):
                    assert all(a in there for a in inst.args), inst
