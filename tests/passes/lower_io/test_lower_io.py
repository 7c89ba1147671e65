"""What of an interface stays whole, and where its parts lie: what no other test has
(scripts/mutants found it)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from spvlink.errors import BadSpirv
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from spvlink.ir.slot import CAPTURED, DYNAMIC
from spvlink.passes.lowering.cells import MEMORY, WHOLE, PartNode
from spvlink.passes.lowering.lower_io import MAX_LOCATION, Lowering
from tests.support.case_loading import load

TEXT = """\
OpCapability Shader
OpCapability TransformFeedback
{capabilities}
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" {listed}
{modes}
{notes}
%void = OpTypeVoid
%1 = OpTypeFunction %void
%int = OpTypeInt 32 1
%int_0 = OpConstant %int 0
%int_1 = OpConstant %int 1
%int_2 = OpConstant %int 2
%int_3 = OpConstant %int 3
%int_4 = OpConstant %int 4
%int_100 = OpConstant %int 100
%int_600 = OpConstant %int 600
%half = OpTypeFloat 16
%float = OpTypeFloat 32
%float_1 = OpConstant %float 1
%bool = OpTypeBool
%spec = OpSpecConstant %float 1
%vec2 = OpTypeVector %float 2
%vec4 = OpTypeVector %float 4
%pair = OpTypeArray %float %int_2
%three = OpTypeArray %vec2 %int_3
%long = OpTypeArray %float %int_600
%hundred = OpTypeArray %float %int_100
%square = OpTypeArray %hundred %int_100
%halves = OpTypeStruct %float %half
%block = OpTypeStruct %float %vec2 %float
%fields = OpTypeStruct {fields}
%hundreds = OpTypeStruct {hundreds}
%odd = OpTypeStruct %float %bool
%odds = OpTypeArray %odd %int_2
%vec2_null = OpConstantNull %vec2
%pair_null = OpConstantNull %pair
%three_null = OpConstantNull %three
%inserted = OpSpecConstantOp %vec2 CompositeInsert %spec %vec2_null 0
{globals}
%main = OpFunction %void None %1
%2 = OpLabel
{body}
OpReturn
OpFunctionEnd
"""
MODES = {
    "Fragment": "OpExecutionMode %main OriginUpperLeft",
    "TessellationControl": "OpExecutionMode %main OutputVertices 3",
    "TaskEXT": "OpExecutionMode %main LocalSize 1 1 1",
}
CAPABILITIES = {
    "TessellationControl": "OpCapability Tessellation",
    "TessellationEvaluation": "OpCapability Tessellation",
    "TaskEXT": 'OpCapability MeshShadingEXT\nOpExtension "SPV_EXT_mesh_shader"',
}
PLACE = "OpDecorate %v Location 0\n"


def variable(storage: str, type: str, start: str = "") -> str:
    return f"%ptr = OpTypePointer {storage} %{type}\n%v = OpVariable %ptr {storage} {start}"


def module_of(
    model: str, globals: str, notes: str = "", body: str = "", listed: str = "%v", modes: str = ""
) -> Module:
    names = 'OpName %v "v"\n' if "%v =" in globals else ""
    text = TEXT.format(
        model=model, globals=globals, notes=names + notes, body=body, listed=listed,
        modes=f"{MODES.get(model, modes)}", capabilities=CAPABILITIES.get(model, ""),
        fields="%float " * 100, hundreds="%fields " * 100,
    )  # fmt: skip
    return load(text)


def lowering(
    model: str, globals: str, notes: str = "", body: str = "", listed: str = "%v", modes: str = ""
) -> Lowering:
    """Analysed, both sides."""
    low = Lowering(module_of(model, globals, notes, body, listed, modes), True, True)
    low.analyse()
    return low


def leaves(low: Lowering) -> list[PartNode]:
    """Of the only variable."""
    (root,) = low.roots.values()
    return root.leaves()


# --- what stays whole ---


@dataclass(frozen=True)
class Whole:
    model: str
    globals: str
    why: str
    notes: str = ""
    body: str = ""
    listed: str = "%v"


STORED = "OpStore %v %vec2_null"
ODD = "its initializer is a specialization constant operation"
WHOLES = {
    "a Volatile variable": Whole(
        "Vertex",
        variable("Private", "vec2"),
        "it is volatile or coherent",
        "OpDecorate %v Volatile",
        STORED,
        "",
    ),
    "a Coherent variable": Whole(
        "Vertex",
        variable("Private", "vec2"),
        "it is volatile or coherent",
        "OpDecorate %v Coherent",
        STORED,
        "",
    ),
    "an initializer that cannot be taken apart": Whole(
        "Vertex", variable("Private", "vec2", "%inserted"), ODD, "", STORED, ""
    ),
    "a Volatile output of all vertices": Whole(
        "TessellationControl",
        variable("Output", "three"),
        "it is volatile or coherent",
        PLACE + "OpDecorate %v Volatile",
    ),
    "an initializer of an output of a control shader": Whole(
        "TessellationControl",
        variable("Output", "three", "%three_null"),
        "it has an initializer",
        PLACE,
    ),
    "an initializer of a Patch output": Whole(
        "TessellationControl",
        variable("Output", "vec2", "%vec2_null"),
        "it has an initializer",
        PLACE + "OpDecorate %v Patch",
    ),
    "a struct that holds a 16-bit number": Whole(
        "Vertex",
        variable("Output", "halves"),
        "its 16-bit values may only be loaded, converted and stored",
        PLACE,
    ),
    "an array that nothing touches": Whole(
        "Fragment", variable("Input", "long"), "it is too large to split", PLACE
    ),
}


@pytest.mark.parametrize("name", WHOLES)
def test_what_stays_whole(name: str) -> None:
    case = WHOLES[name]
    low = lowering(case.model, case.globals, case.notes, case.body, case.listed)
    assert [(leaf.kind, leaf.why) for leaf in leaves(low)] == [(MEMORY, case.why)]


def test_outputs_of_a_control_shader_that_need_not() -> None:
    for type, note in (("three", ""), ("vec2", "OpDecorate %v Patch")):
        low = lowering("TessellationControl", variable("Output", type), PLACE + note)
        assert [leaf.kind for leaf in leaves(low)] == [WHOLE]


def test_what_is_odd_in_a_payload_stays_alone() -> None:
    """Of structs in an array too."""
    low = lowering("TaskEXT", variable("TaskPayloadWorkgroupEXT", "odds"), PLACE)
    kinds = [(leaf.path, leaf.kind) for leaf in leaves(low)]
    assert kinds == [((0, 0), WHOLE), ((0, 1), MEMORY), ((1, 0), WHOLE), ((1, 1), MEMORY)]


MANY = "%many = OpTypeStruct " + "%float " * 600 + "\n"


@pytest.mark.parametrize("body", ["", "%3 = OpLoad %many %v\nOpStore %v %3"])
def test_a_struct_of_very_many_members(body: str) -> None:
    """Nothing names a member: a payload that is not used, or copied. It was no slot, nor whole."""
    low = lowering("TaskEXT", MANY + variable("TaskPayloadWorkgroupEXT", "many"), PLACE, body)
    assert [(leaf.kind, leaf.why) for leaf in leaves(low)] == [(MEMORY, "it is too large to split")]
    low.finish()
    assert low.outputs is not None
    assert [len(pinned.keys) for pinned in low.outputs.pinned] == [600]


LONG = """%ptr_float = OpTypePointer Input %float
""" + variable("Input", "long")


@pytest.mark.parametrize("index", ["%int_1", "%index"])
def test_why_what_is_large_stays_is_said_once(index: str) -> None:
    """It may not move: it was no index."""
    body = f"%index = OpBitcast %int %float_1\n%at = OpAccessChain %ptr_float %v {index}"
    low = lowering("Fragment", LONG, PLACE, body)
    assert [(leaf.why, leaf.pins) for leaf in leaves(low)] == [("it is too large to split", 0)]
    (root,) = low.roots.values()
    root.pin("another reason", CAPTURED)
    assert (root.why, root.pins) == ("it is too large to split", CAPTURED)


def test_an_empty_struct_is_nothing() -> None:
    low = lowering("Vertex", "%empty = OpTypeStruct\n" + variable("Output", "empty"), PLACE)
    low.finish()
    assert low.outputs is not None
    assert (low.outputs.slots, low.outputs.pinned) == ({}, [])


# --- where it lies ---

MEMBERS = """OpMemberDecorate %block 0 Location 2
OpMemberDecorate %block 0 Component 3
OpMemberDecorate %block 1 Location 2
OpMemberDecorate %block 1 Component 1
OpMemberDecorate %block 2 Location 5
OpDecorate %block Block
"""
KEYS = [22, 18, 20, 40]  # of the members of the block, in order


def test_members_lie_where_they_say() -> None:
    low = lowering("Vertex", variable("Output", "block"), MEMBERS)
    found = [low.spots[leaf] for leaf in leaves(low)]
    places = [(spot.name, spot.location, spot.component) for spot in found]
    assert places == [("v.0", 2, 3), ("v.1", 2, 1), ("v.2", 5, 0)]
    assert low.keys_of(low.roots[found[0].variable]) == KEYS


def test_members_of_a_variable_without_a_name() -> None:
    low = lowering("Vertex", variable("Output", "block").replace("%v", "%w"), MEMBERS, listed="%w")
    assert [low.spots[leaf].name for leaf in leaves(low)] == ["0", "1", "2"]


def test_a_block_that_stays_whole_lies_where_its_first_member_does() -> None:
    low = lowering("Vertex", variable("Output", "block"), MEMBERS + "OpDecorate %v Volatile")
    low.finish()
    assert low.outputs is not None
    assert [(p.location, p.keys) for p in low.outputs.pinned] == [(2, KEYS)]


@pytest.mark.parametrize("type", ["square", "hundreds"])
def test_no_table_grows_with_what_is_beyond_any_limit(type: str) -> None:
    """Ten thousand numbers."""
    low = Lowering(module_of("Vertex", variable("Output", type), PLACE), True, True)
    with pytest.raises(BadSpirv, match="is beyond any limit"):
        low.analyse()
    assert len(low.spots) < MAX_LOCATION + 300


# --- what is said of it ---

ARRAY = "%arrays = OpTypeStruct %vec4 %three\n" + variable("Output", "arrays")
DYNAMICALLY = """%index = OpBitcast %int %float_1
%at = OpAccessChain %ptr_vec2 %v %int_1 %index
OpStore %at %vec2_null"""


def test_a_part_of_a_block_that_stays_whole_lies_where_it_did() -> None:
    notes = """OpDecorate %v Location 1
OpMemberDecorate %arrays 1 Location 4
OpMemberDecorate %arrays 1 Component 2
OpMemberDecorate %arrays 1 Flat
"""
    globals = ARRAY + "\n%ptr_vec2 = OpTypePointer Output %vec2"
    low = lowering("Vertex", globals, notes, DYNAMICALLY)
    low.finish()
    assert low.outputs is not None
    (pinned,) = low.outputs.pinned
    said = Decorations.of(low.module).targets[pinned.variable]
    names = enums.Decoration_Location, enums.Decoration_Component, enums.Decoration_Flat
    assert said == [(names[0], 4), (names[1], 2), (names[2],)]
    assert (pinned.location, pinned.component, pinned.keys) == (4, 2, [36, 38, 44, 46, 52, 54])


@pytest.mark.parametrize("note", ["", "OpDecorate %v Volatile"])
def test_what_is_whole_for_more_than_an_index_does_not_move(note: str) -> None:
    globals = variable("Output", "three") + "\n%ptr_vec2 = OpTypePointer Output %vec2"
    body = DYNAMICALLY.replace(" %int_1 %index", " %index")
    low = lowering("Vertex", globals, PLACE + note, body)
    low.finish()
    assert low.outputs is not None
    assert [pinned.movable for pinned in low.outputs.pinned] == [not note]


XFB = """OpDecorate %arrays Block
OpDecorate %v Location 1
OpDecorate %v XfbBuffer 0
OpDecorate %v XfbStride 16
OpMemberDecorate %arrays {} Offset 0"""


@pytest.mark.parametrize("member", [0, 1])
def test_which_member_of_a_block_is_captured(member: int) -> None:
    """One stays whole, for its index."""
    globals = ARRAY + "\n%ptr_vec2 = OpTypePointer Output %vec2"
    low = lowering(
        "Vertex", globals, XFB.format(member), DYNAMICALLY, modes="OpExecutionMode %main Xfb"
    )
    low.finish()
    assert low.outputs is not None
    assert [p.pins for p in low.outputs.pinned] == [DYNAMIC | CAPTURED * member]
    assert len(low.outputs.captured) == 4 * (1 - member)


@pytest.mark.parametrize("note", ["", "OpDecorate %v PerVertexKHR"])
def test_an_input_of_three_vertices(note: str) -> None:
    low = lowering("Fragment", variable("Input", "three"), PLACE + note)
    assert len(low.arrayed) == (1 if note else 0)
    assert [low.spots[leaf].location for leaf in leaves(low)] == ([0] if note else [0, 1, 2])


QUALIFIERS = {"Vertex": (), "Fragment": (enums.Decoration_Flat,)}


@pytest.mark.parametrize("model", QUALIFIERS)
def test_only_a_fragment_shader_interpolates(model: str) -> None:
    low = lowering(model, variable("Input", "vec2"), PLACE + "OpDecorate %v Flat")
    low.finish()
    assert low.inputs is not None
    assert {slot.qualifiers for slot in low.inputs.slots.values()} == {QUALIFIERS[model]}


PATCH = (enums.Decoration_Patch,)


def test_what_is_per_patch_on_either_side() -> None:
    globals = variable("Input", "vec2") + "\n" + variable("Output", "vec2").replace("%ptr", "%out")
    globals = globals.replace("%v = OpVariable %out", "%w = OpVariable %out")
    notes = PLACE + "OpDecorate %v Patch\nOpDecorate %w Location 0"
    low = lowering("TessellationEvaluation", globals, notes, "", "%v %w")
    assert low.inputs is not None and low.outputs is not None
    assert low.kinds(low.inputs) == {0: PATCH, 2: PATCH}
    assert low.kinds(low.outputs) == {0: (), 2: ()}


@pytest.mark.parametrize("storage", ["Input", "Output"])
@pytest.mark.parametrize("note", ["", "OpDecorate %v Invariant"])
def test_which_outputs_are_invariant(storage: str, note: str) -> None:
    """What comes in is what it is."""
    low = lowering("Vertex", variable(storage, "vec2"), PLACE + note)
    low.finish()
    held = {0, 2} if note and storage == "Output" else set()
    assert low.module.invariant_slots == held


def test_memory_of_each_side() -> None:
    globals = variable("Input", "vec2") + "\n" + variable("Output", "vec2").replace("%ptr", "%out")
    globals = globals.replace("%v = OpVariable %out", "%w = OpVariable %out")
    notes = PLACE + "OpDecorate %v Volatile\nOpDecorate %w Location 0"
    low = lowering("Vertex", globals, notes, "", "%v %w")
    assert low.inputs is not None and low.outputs is not None
    assert [len(low.memory_nodes(side)) for side in (low.inputs, low.outputs)] == [1, 0]


def test_an_array_that_was_taken_apart_is_remembered() -> None:
    low = lowering(
        "Vertex", variable("Output", "three"), PLACE, "%3 = OpLoad %three %v\nOpStore %v %3"
    )
    for leaf in low.roots.values():
        leaf.split()
    low.finish()
    assert low.outputs is not None
    aggregates = [(whole.op, whole.columns) for whole in low.outputs.aggregates]
    assert aggregates == [(ops.OpTypeArray, [[0, 2], [8, 10], [16, 18]])]


def test_words_of_what_is_no_number() -> None:
    """A boolean takes one, an address two."""
    globals = """%bools = OpTypeVector %bool 4
%physical = OpTypePointer PhysicalStorageBuffer %block
%holder = OpTypeStruct %bools %physical %bool
"""
    low = lowering("TaskEXT", globals + variable("TaskPayloadWorkgroupEXT", "holder"), PLACE)
    assert [len(low.keys_of(leaf)) for leaf in leaves(low)] == [4, 2, 1]


def test_what_an_address_points_to_is_not_asked() -> None:
    """The structs of a payload are; behind an address lies other memory, of any shape."""
    globals = "%physical = OpTypePointer PhysicalStorageBuffer %block\n"
    globals += "%holder = OpTypeStruct %float %physical\n"
    notes = "OpMemberDecorate %holder 0 RelaxedPrecision\nOpMemberDecorate %block 1 Patch\n"
    globals += variable("TaskPayloadWorkgroupEXT", "holder")
    low = lowering("TaskEXT", globals, PLACE + notes)
    (held,) = low.sides
    words = [w[0] for w in low.all_words(held)]
    assert words == [enums.Decoration_Location, enums.Decoration_RelaxedPrecision]


# --- what is not valid ---


@dataclass(frozen=True)
class Wrong:
    globals: str
    said: str
    notes: str = PLACE
    listed: str = "%v"
    model: str = "Vertex"


TWO = variable("Output", "vec2") + "\n%w = OpVariable %ptr Output"
WRONGS = {
    "an output of one vertex": Wrong(
        variable("Output", "vec2"), "v is no array", model="TessellationControl"
    ),
    "no Location": Wrong(
        variable("Output", "vec2"), "the interface variable v has no Location", ""
    ),
    "no Location of what stays whole": Wrong(
        variable("Output", "block"),
        "the interface variable v.0 has no Location",
        "OpDecorate %v Volatile",
    ),
    "a Location beyond any limit": Wrong(
        variable("Output", "vec2"),
        "Location 5000 of v is beyond any limit",
        "OpDecorate %v Location 5000",
    ),
    "no numbers": Wrong(variable("Output", "bool"), "the interface variable v holds no numbers"),
    "no numbers in what stays whole": Wrong(
        variable("Output", "bool"),
        "an interface variable holds other things than numbers",
        PLACE + "OpDecorate %v Volatile",
    ),
    "beyond the end": Wrong(
        variable("Output", "vec2"),
        "v runs over the end of its Location",
        PLACE + "OpDecorate %v Component 3",
    ),
    "overlapping": Wrong(
        TWO,
        "two interface variables overlap at Location 0, Component 1",
        PLACE + "OpDecorate %w Location 0\nOpDecorate %w Component 1",
        "%v %w",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONGS)
def test_what_is_refused(name: str) -> None:
    case = WRONGS[name]
    low = Lowering(module_of(case.model, case.globals, case.notes, "", case.listed), True, True)
    with pytest.raises(BadSpirv) as caught:
        low.analyse()
        low.finish()
    assert str(caught.value) == case.said


def test_a_list_of_more_than_variables() -> None:
    module = module_of("Vertex", variable("Output", "vec2"), PLACE)
    assert module.entry is not None
    module.entry.inst.args += [i for i in module.globals if i.op == ops.OpConstantNull]
    with pytest.raises(BadSpirv, match="lists an id that is no variable"):
        Lowering(module, True, True).analyse()
