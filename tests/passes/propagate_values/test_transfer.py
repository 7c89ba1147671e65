"""What may be copied into another stage, asked of ``Transfer`` itself: cases that no compiler makes
of a small shader."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums
from spvlink.ir.core import Inst, Module
from spvlink.link.resources.blocks import Blocks, Cannot, Key
from spvlink.link.resources.transfer import Grant, Transfer, always_read
from tests.support.case_loading import load

HEAD = """\
; Version: {version}
OpCapability Shader
{capabilities}
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" %o {listed}
{mode}
OpDecorate %o Location 0
OpDecorate %B Block
OpDecorate %P Block
OpMemberDecorate %B 0 Offset 0
OpMemberDecorate %P 0 Offset {push}
OpDecorate %b DescriptorSet {group}
OpDecorate %b Binding 0
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%bool = OpTypeBool
%int = OpTypeInt 32 1
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%int_2 = OpConstant %int 2
%float = OpTypeFloat 32
%float_2 = OpConstant %float 2
%v4bool = OpTypeVector %bool 4
%v4float = OpTypeVector %float 4
%B = OpTypeStruct %v4float
%P = OpTypeStruct %float
%ptr_P = OpTypePointer PushConstant %P
%push_float = OpTypePointer PushConstant %float
%uniform_v4float = OpTypePointer Uniform %v4float
{globals}
%out = OpTypePointer Output {type}
%o = OpVariable %out Output
%main = OpFunction %void None %1
%first = OpLabel
{body}
OpReturn
OpFunctionEnd
"""
ONE = "%ptr_B = OpTypePointer Uniform %B\n%b = OpVariable %ptr_B Uniform"
TWO = """%two = OpConstant %int {count}
%Bs = OpTypeArray %B %two
%ptr_B = OpTypePointer Uniform %Bs
%b = OpVariable %ptr_B Uniform"""
PUSH = "%p = OpVariable %ptr_P PushConstant\n"
READ = "%at = OpAccessChain %uniform_v4float %b %int_0\n%x = OpLoad %v4float %at"
READ_ARRAY = "%at = OpAccessChain %uniform_v4float %b %int_1 %int_0\n%x = OpLoad %v4float %at"
READ_PUSH = "%at = OpAccessChain %push_float %p %int_0\n%x = OpLoad %float %at"
BLOCK: Key = (enums.StorageClass_Uniform, 0, 0)
PUSHED: Key = (enums.StorageClass_PushConstant, 0, 0)
USED = Grant(frozenset((BLOCK, PUSHED)))
ALL = Grant(frozenset(), [(0, 128)], {(0, 0)})


def built(
    body: str = "", globals: str = ONE, type: str = "%v4float", model: str = "Vertex",
    push: int = 0, group: int = 0, **more: str,
) -> Module:  # fmt: skip
    """A module that stores ``%x``, if the body makes one."""
    fields = {"version": "1.0", "capabilities": "", "listed": "", "notes": "", "mode": "", **more}
    if model == "Fragment":
        fields["mode"] = "OpExecutionMode %main OriginUpperLeft"
    if "%x = " in body:
        body += "\nOpStore %o %x"
    fields |= {"body": body, "globals": globals, "type": type, "model": model}
    return load(HEAD.format(push=push, group=group, **fields))


def stored(module: Module) -> Inst:
    """What goes to the output."""
    return module.functions[0].blocks[0].insts[-2].args[1]


def refused(source: Module, target: Module, grant: Grant = USED) -> str:
    """Why the value is not copied; empty if it may be."""
    transfer = Transfer(source, target, grant)
    assert transfer.moves(stored(source)) == (not _why(transfer, stored(source)))
    return _why(transfer, stored(source))


def _why(transfer: Transfer, value: Inst) -> str:
    try:
        transfer.check(value)
    except Cannot as why:
        return str(why)
    return ""


def test_a_plain_load_is_copied() -> None:
    assert refused(built(READ), built(READ, model="Fragment")) == ""


@pytest.mark.parametrize("start, end, granted", [(0, 32, True), (32, 128, False), (0, 18, False)])
def test_push_constants_lie_in_a_range(start: int, end: int, granted: bool) -> None:
    source = built(READ_PUSH, PUSH + ONE, "%float", push=16)
    grant = Grant(frozenset(), [(start, end)], set())
    said = refused(source, built(model="Fragment"), grant)
    assert said == ("" if granted else "the layout gives that stage no such push constants")


@pytest.mark.parametrize("note", ["NoContraction", "RelaxedPrecision"])
def test_a_decorated_load_or_sum_stays(note: str) -> None:
    target = built(READ, model="Fragment")
    if note == "RelaxedPrecision":
        source = built(READ, notes=f"OpDecorate %x {note}")
        assert refused(source, target) == "the load is decorated"
    body = READ.replace("%x", "%y") + "\n%x = OpFAdd %v4float %y %y"
    assert refused(built(body), target) == ""
    assert "does not let it move" in refused(built(body, notes=f"OpDecorate %x {note}"), target)


def test_a_derivative_stays() -> None:
    body = READ.replace("%x", "%y") + "\n%x = OpDPdx %v4float %y"
    assert "OpDPdx" in refused(built(body, model="Fragment"), built(READ))


DOT = "%x = OpSDot %int %int_1 %int_2 PackedVectorFormat4x8Bit"


def test_an_integer_dot_product_needs_both_capabilities() -> None:
    dot = "OpCapability DotProduct\n"
    packed = "OpCapability DotProductInput4x8BitPacked\n"
    source = built(DOT, type="%int", capabilities=dot + packed, version="1.6", listed="%b")

    def said(capabilities: str) -> str:
        target = built(model="Fragment", capabilities=capabilities, version="1.6", listed="%b")
        return refused(source, target)

    lacks = "the other stage does not declare the capability "
    assert said("") == lacks + "DotProduct"
    assert said(dot) == lacks + "DotProductInput4x8BitPacked"
    assert said(dot + packed) == ""


@pytest.mark.parametrize("version, copied", [("1.0", False), ("1.3", False), ("1.4", True)])
def test_a_choice_of_whole_vectors_needs_its_version(version: str, copied: bool) -> None:
    body = READ.replace("%x", "%y") + "\n%c = OpSLessThan %bool %int_1 %int_2\n"
    source = built(body + "%x = OpSelect %v4float %c %y %y", version="1.4", listed="%b")
    listed = "%b" if copied else ""
    target = built(READ, model="Fragment", version=version, listed=listed)
    assert refused(source, target) == (
        ""
        if copied
        else "the other stage does not declare SPIR-V 1.4, the first version that has choices of"
        " whole vectors"
    )
    lanes = body + "%cs = OpCompositeConstruct %v4bool %c %c %c %c\n"
    each = built(lanes + "%x = OpSelect %v4float %cs %y %y")
    assert refused(each, target) == ""


SMALL = """%half = OpTypeFloat 16
%S = OpTypeStruct %v4float %half
%ptr_S = OpTypePointer Uniform %S
%b = OpVariable %ptr_S Uniform
%uniform_half = OpTypePointer Uniform %half"""


def test_a_block_gets_no_member_of_another_size_of_numbers() -> None:
    """Float16 is no right to keep such numbers in blocks."""
    notes = "OpDecorate %S Block\nOpMemberDecorate %S 0 Offset 0\nOpMemberDecorate %S 1 Offset 16"
    body = (
        "%at = OpAccessChain %uniform_half %b %int_1\n%h = OpLoad %half %at\n"
        "%x = OpFAdd %half %h %h\n"
    )
    kept = "OpCapability Float16\nOpCapability UniformAndStorageBuffer16BitAccess\n"
    kept += 'OpExtension "SPV_KHR_16bit_storage"'
    source = built(body, SMALL, "%half", capabilities=kept, notes=notes)
    target = built(READ, model="Fragment", capabilities="OpCapability Float16")
    own = Grant(frozenset((BLOCK,)), [], {(0, 0)})
    assert refused(source, target, own) == (
        "the other stage does not declare blocks with numbers of that size"
    )
    same = built(body, SMALL, "%half", "Fragment", capabilities=kept, notes=notes)
    assert refused(source, same, own) == ""


SHARED = {  # what else the block's struct is used for
    "another pointer": "%ptr_2 = OpTypePointer Private %B",
    "a struct of structs": "%C = OpTypeStruct %B",
    "another variable": "%b2 = OpVariable %ptr_B Uniform",
    "an array": "%Bs = OpTypeArray %B %int_2",
}
WIDE = """%W = OpTypeStruct %v4float %float
%ptr_W = OpTypePointer Uniform %W
%b = OpVariable %ptr_W Uniform
%uniform_float = OpTypePointer Uniform %float"""
WIDE_NOTES = "OpDecorate %W Block\nOpMemberDecorate %W 0 Offset 0\nOpMemberDecorate %W 1 Offset 16"
READ_LAST = "%at = OpAccessChain %uniform_float %b %int_1\n%x = OpLoad %float %at"


def last_member() -> Module:
    return built(READ_LAST, WIDE, "%float", notes=WIDE_NOTES)


@pytest.mark.parametrize("name", [*SHARED, "a value", "nothing"])
def test_a_block_that_is_something_else_too_gets_no_member(name: str) -> None:
    body = READ + ("\n%all = OpLoad %B %b" if name == "a value" else "")
    notes = "OpDecorate %b2 DescriptorSet 0\nOpDecorate %b2 Binding 1" if "var" in name else ""
    globals = ONE + "\n" + SHARED.get(name, "")
    said = refused(last_member(), built(body, globals, model="Fragment", notes=notes))
    assert said == (
        "" if name == "nothing" else "the other stage's block cannot take another member"
    )


def test_an_array_s_block_gets_no_member() -> None:
    notes = (
        "OpDecorate %B2 Block\nOpMemberDecorate %B2 0 Offset 0\nOpMemberDecorate %B2 1 Offset 16"
    )
    wide = "%B2 = OpTypeStruct %v4float %float\n" + TWO.replace("%B ", "%B2 ").format(count=2)
    wide += "\n%uniform_float = OpTypePointer Uniform %float"
    read = READ_ARRAY.replace("%int_1 %int_0", "%int_1 %int_1").replace("v4float", "float")
    source = built(read, wide, "%float", notes=notes)
    assert refused(source, built(READ_ARRAY, TWO.format(count=2), model="Fragment")) == (
        "the other stage's block cannot take another member"
    )


@pytest.mark.parametrize("listed", ["", "%b"])
@pytest.mark.parametrize("version", ["1.3", "1.4"])
def test_a_resource_is_listed_once(version: str, listed: str) -> None:
    """From SPIR-V 1.4 on, which wants no variable twice."""
    source = built(READ)
    target = built(model="Fragment", version=version, listed=listed if version == "1.4" else "")
    transfer = Transfer(source, target, USED)
    access = transfer.accesses(stored(source))[0]
    variable, path = transfer.place(access)
    assert path == [0] and target.entry is not None
    assert target.entry.inst.args.count(variable) == (version == "1.4")


def test_arrays_of_resources_agree() -> None:
    one, two, three = ONE, TWO.format(count=2), TWO.format(count=3)
    source = built(READ_ARRAY, two)
    other = READ_ARRAY.replace("%int_1 %int_0", "%int_0 %int_0")
    sizes = "the stages declare arrays of resources of different sizes"
    assert refused(source, built(READ, one, model="Fragment")) == sizes
    first = built(READ_ARRAY.replace("%int_1", "%int_0"), two)
    assert refused(first, built(READ, one, model="Fragment")) == sizes
    assert refused(source, built(READ_ARRAY, three, model="Fragment")) == ""
    assert refused(source, built(other, TWO.format(count=1), model="Fragment")) == sizes
    single = "the stages declare the resource differently"
    assert refused(built(READ), built(READ_ARRAY, two, model="Fragment")) == single
    assert "array of resources" in refused(source, _without(), ALL)
    assert refused(built(READ), _without(), ALL) == ""


def _without() -> Module:
    """A target that has no such resource."""
    return built(group=3, model="Fragment")


def test_what_a_stage_has_lost_is_not_declared_anew() -> None:
    assert refused(built(READ), _without()) == "the other stage does not declare the resource"


# --- what is surely read ---

CONTROL = """%read = OpTypePointer Input %int
%id = OpVariable %read Input
%int_7 = OpConstant %int 7
"""
LONG = """%long = OpTypeInt 64 1
%long_0 = OpConstant %long 0
%high = OpConstant %long 2147483648
"""
NUMBER = "OpDecorate %id BuiltIn {}"
FORK = """%n = OpLoad %int %id
{test}
OpSelectionMerge %end None
{branch}
%yes = OpLabel
%at = OpAccessChain %uniform_v4float %b %int_0
%v = OpLoad %v4float %at
OpBranch %end
%no = OpLabel
OpBranch %end
%end = OpLabel"""
IF = "OpBranchConditional %c %yes %no"
WAYS = {  # test, branch, built-in, whether the first invocation reads
    "first": ("%c = OpIEqual %bool %n %int_0", IF, "InvocationId", True),
    "all but the first": ("%c = OpINotEqual %bool %n %int_0", IF, "InvocationId", False),
    "the other way": (
        "%c = OpINotEqual %bool %n %int_0", "OpBranchConditional %c %no %yes", "InvocationId", True,
    ),
    "another number": ("%c = OpIEqual %bool %n %int_0", IF, "PrimitiveId", False),
    "an unknown number": (
        "%m = OpIMul %int %n %n\n%c = OpIEqual %bool %m %int_0", IF, "InvocationId", False,
    ),
    "no comparison": (
        "%d = OpIEqual %bool %n %int_0\n%c = OpSelect %bool %d %d %d", IF, "InvocationId", False,
    ),
    "floats": ("%c = OpFOrdEqual %bool %float_2 %float_2", IF, "InvocationId", False),
    "64 bits": ("%c = OpSLessThan %bool %high %long_0", IF, "InvocationId", False),
    "switch": ("%c = OpIAdd %int %n %int_7", "OpSwitch %c %yes 7 %no", "InvocationId", False),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_which_way_the_first_invocation_takes(name: str) -> None:
    test, branch, builtin, reads = WAYS[name]
    module = built(
        FORK.format(test=test, branch=branch), CONTROL + LONG + ONE, model="TessellationControl",
        listed="%id", notes=NUMBER.format(builtin),
        capabilities="OpCapability Tessellation\nOpCapability Int64",
        mode="OpExecutionMode %main OutputVertices 3",
    )  # fmt: skip
    assert always_read(Blocks(module)) == ({(BLOCK,): 16} if reads else {})


def test_what_never_ends_reads_what_it_likes() -> None:
    """A way that ends in OpUnreachable is taken by nobody."""
    body = FORK.format(test="%c = OpIEqual %bool %n %int_7", branch=IF)
    module = built(
        body.replace("%no = OpLabel\nOpBranch %end", "%no = OpLabel\nOpUnreachable"),
        CONTROL + ONE, model="Fragment", listed="%id", notes="OpDecorate %id Flat",
    )  # fmt: skip
    assert always_read(Blocks(module)) == {(BLOCK,): 16}
