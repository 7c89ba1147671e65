"""Check two finished modules against Vulkan's rules for interfaces.

The checker shares no code with the passes but the module's own decorations, so it sees their
mistakes. spirv-val checks none of this, since it sees one module at a time. Rules (Vulkan
specification, "Shader Input and Output Interfaces"):

* The previous stage declares every component of a user Input as Output, as part of a variable of
  the same Location, Component and type (08743, 07754, 08746). No two variables of a side share a
  component. An array over vertices or primitives does not count, on the sides that have one.
* Patch and PerPrimitiveEXT are on both sides or on neither. Per-primitive variables share no
  Location with others. Patch variables have a space of their own.
* All inputs of a fragment shader that share a Location agree in their interpolation decorations
  (Input-10604). Integers and doubles are Flat (Flat-04744).
* Vectors stay within their Location. 64-bit vectors begin at component 0 or 2.

The code names the VUID of each rule. ``declared`` and ``check_fragment`` call ``refuse`` for a
broken rule. Here that raises, since the mistake is ours; in ``spvlink check`` (lint/) it collects
the user's mistakes and goes on.
"""

from __future__ import annotations

from spvlink.errors import Broken
from spvlink.facts.decorations import Decorations, Names, Words
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.ir.slot import APART, base_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    # Told of what breaks a rule: (VUID, what, place or None, message). It raises, or what breaks
    # the rule is passed over.
    Refuse = Callable[[str, "Label", "Place | None", str], None]

Place = tuple[int, int]  # (Location, Component)

_BUILT: Final = frozenset((ops.OpTypeArray, ops.OpTypeMatrix, ops.OpTypeStruct))
_OF_MEMBERS: Final = frozenset((ops.OpMemberDecorate, ops.OpMemberDecorateString))

INTERFACE: Final = "VUID-RuntimeSpirv-OpEntryPoint-08743"  # an input needs an output
NO_LOCATION: Final = "VUID-StandaloneSpirv-Location-04916"
OVERLAPS: Final = {
    enums.StorageClass_Input: "VUID-StandaloneSpirv-OpEntryPoint-08721",
    enums.StorageClass_Output: "VUID-StandaloneSpirv-OpEntryPoint-08722",
}
NOT_FLAT: Final = "VUID-StandaloneSpirv-Flat-04744"
MIXED: Final = "VUID-StandaloneSpirv-Input-10604"
ODD_COMPONENT: Final = "VUID-StandaloneSpirv-Component-04923"
TOO_HIGH: Final = "VUID-StandaloneSpirv-Component-04920"
TOO_WIDE: Final = "VUID-StandaloneSpirv-Component-04921"
TOO_FAR: Final = "VUID-RuntimeSpirv-Location-06272"
MOST: Final = 4096  # Locations of a variable: beyond any device, a guard against absurd arrays

# Whose variables are arrays over vertices or primitives, Patch ones apart.
_ARRAYED: Final = frozenset(
    (
        (enums.ExecutionModel_TessellationControl, enums.StorageClass_Input),
        (enums.ExecutionModel_TessellationControl, enums.StorageClass_Output),
        (enums.ExecutionModel_TessellationEvaluation, enums.StorageClass_Input),
        (enums.ExecutionModel_Geometry, enums.StorageClass_Input),
        (enums.ExecutionModel_MeshEXT, enums.StorageClass_Output),
    )
)


class Label:
    """What a variable or a member of a block is called, looked up when somebody asks."""

    __slots__ = ("index", "names", "type", "variable")

    def __init__(self, names: Names, variable: Inst, type: Inst, index: int = -1) -> None:
        self.names = names
        self.variable = variable
        self.type = type
        self.index = index  # of the member, or -1

    def __str__(self) -> str:
        name = self.names.of(self.variable) or f"%{self.variable.id}"
        return name if self.index < 0 else f"{name}.{self.names.of_member(self.type, self.index)}"


class DeclaredVariable:
    """One user variable, or one member of a user block, as declared."""

    __slots__ = ("covers", "integral", "kind", "label", "place", "qualifiers", "shape", "type")

    def __init__(
        self,
        label: Label,
        place: Place,
        shape: str,
        qualifiers: frozenset[int],
        covers: set[Place],
        integral: bool,
        kind: frozenset[int],
        type: Inst,
    ) -> None:
        self.label = label
        self.place = place
        self.shape = shape
        self.qualifiers = qualifiers
        self.covers = covers
        self.integral = integral
        self.kind = kind  # Patch or PerPrimitiveEXT, or nothing
        self.type = type  # without the array over vertices or primitives

    @property
    def name(self) -> str:
        return str(self.label)


def broken(rule: str, label: Label, place: Place | None, message: str) -> None:
    """What breaks a rule is a mistake of ours: raises ``Broken``."""
    raise Broken(message)


def check(producer: Module, consumer: Module, fragment: bool) -> None:
    """Raise ``Broken`` if the two modules do not fit."""
    outputs = declared(producer, enums.StorageClass_Output)
    inputs = declared(consumer, enums.StorageClass_Input)
    by_place: dict[Place, DeclaredVariable] = {}
    for variable in outputs:
        for place in apart(variable, variable.covers):
            by_place[place] = variable
    for variable in inputs:
        for place in apart(variable, variable.covers):
            twin = by_place.get(place) or by_place.get(other_space(place))
            if twin is None:
                bare = [p for p in variable.covers if not {p, other_space(p)} & by_place.keys()]
                first = min(bare)
                raise Broken(
                    f"input {variable.name} at {where(first)} has no output of the previous stage"
                )
            if twin.kind != variable.kind:
                raise Broken(
                    f"only one of input {variable.name} and output {twin.name} at {where(place)}"
                    " is per patch, or per primitive"
                )
            fits = _feeds(twin.shape, variable.shape) and _built_alike(twin.type, variable.type)
            if twin.place != variable.place or not fits:
                raise Broken(
                    f"input {variable.name} ({variable.shape} at {where(variable.place)}) faces"
                    f" output {twin.name} ({twin.shape} at {where(twin.place)})"
                )
    if fragment:
        check_fragment(inputs)


def apart(one: DeclaredVariable, places: set[Place]) -> set[Place]:
    """Components of a variable; those of Patch ones, whose Locations are a space of their own, have
    ``APART`` more."""
    if enums.Decoration_Patch not in one.kind:
        return places
    return {(location + APART, component) for location, component in places}


def other_space(place: Place) -> Place:
    """The component of the same number in the other space."""
    location, component = place
    return (location - APART if location >= APART else location + APART), component


def shown_places(places: set[Place]) -> set[Place]:
    """The same components as their modules number them."""
    return {(shown(location), component) for location, component in places}


def _feeds(output: str, input: str) -> bool:
    """Whether shapes match: equal; or 16-bit vectors, which stay as they are declared where they
    cannot be taken apart, and the input is shorter (08743)."""
    if output == input:
        return True
    base, _, wide = output.partition("x")
    other, _, narrow = input.partition("x")
    halves = base == other and base.endswith("16")
    return halves and wide in ("2", "3", "4") and (narrow or "1") < wide


def _built_alike(output: Inst, input: Inst) -> bool:
    """Whether types of equal shapes have matrices in the same places, and not arrays of vectors."""
    if output.op not in _BUILT or input.op not in _BUILT:
        return True
    if output.op != input.op:
        return False
    if output.op == ops.OpTypeStruct:
        return all(_built_alike(a, b) for a, b in zip(output.args, input.args))
    return _built_alike(output.args[0], input.args[0])


def check_fragment(inputs: list[DeclaredVariable], refuse: Refuse = broken) -> None:
    """The rules on interpolation decorations."""
    per_location: dict[int, DeclaredVariable] = {}
    for variable in inputs:
        if variable.integral and not variable.qualifiers & {
            enums.Decoration_Flat,
            enums.Decoration_PerVertexKHR,
        }:
            what = f"input {variable.name} holds integers or doubles and is not Flat"
            refuse(NOT_FLAT, variable.label, variable.place, what)
        for location in sorted({place[0] for place in variable.covers}):
            other = per_location.setdefault(location, variable)
            if other.qualifiers != variable.qualifiers:
                what = (
                    f"inputs {other.name} and {variable.name} share Location {location} with"
                    " different interpolation"
                )
                refuse(MIXED, variable.label, (location, variable.place[1]), what)
                break


def declared(module: Module, storage: int, refuse: Refuse = broken) -> list[DeclaredVariable]:
    """The user variables of one side, without those that make no sense. ``refuse`` is told where
    they break a rule, also among themselves."""
    entry = module.entry
    assert entry is not None
    listed = [v for v in entry.inst.args[1:] if v.imm[0] == storage and v.type is not None]
    targets, members = _decorations(module, listed)
    names = Names(module)
    variables: list[DeclaredVariable] = []
    taken: dict[tuple[bool, Place], Label] = {}
    arrays = (entry.model, storage) in _ARRAYED
    for variable in listed:
        assert variable.type is not None
        words = targets.get(variable, [])
        type = variable.type.args[0]
        decorations = own_words = {word[0] for word in words}
        if enums.Decoration_BuiltIn in decorations:
            continue
        place = _place(words)
        element = type.args[0] if type.op == ops.OpTypeArray else type
        label = Label(names, variable, element)
        if element.op == ops.OpTypeStruct:
            decorations = set(decorations)
            for index in range(len(element.args)):
                decorations.update([word[0] for word in members.get((element, index), ())])
        if arrays and enums.Decoration_Patch not in decorations:
            if type.op != ops.OpTypeArray:
                refuse(INTERFACE, label, place, f"{label} is no array over vertices")
                continue
            type = element
        elif enums.Decoration_PerVertexKHR in decorations and type.op == ops.OpTypeArray:
            type = element
        if type.op != ops.OpTypeStruct:
            if place is None:
                refuse(NO_LOCATION, label, None, f"{label} has no Location")
                continue
            _add(variables, taken, label, place, type, own_words, storage, refuse)
            continue
        at = place[0] if place else -1
        for index, member in enumerate(type.args):
            inner = members.get((type, index), [])
            inner_words = {word[0] for word in inner}
            if enums.Decoration_BuiltIn in inner_words:
                break
            own = _place(inner)
            spot = own or (at, 0)
            label = Label(names, variable, type, index)
            if spot[0] < 0:
                refuse(NO_LOCATION, label, None, f"{label} has no Location")
                break
            both = own_words | inner_words
            at = spot[0] + _add(variables, taken, label, spot, member, both, storage, refuse)
    return variables


def _decorations(
    module: Module, variables: list[Inst]
) -> tuple[dict[Inst, list[Words]], dict[tuple[Inst, int], list[Words]]]:
    """Those of variables and of the members of their blocks, read from the finished module: most of
    its decorations are of others."""
    if ops.OpDecorationGroup in module.rare:
        tables = Decorations.of(module)
        return tables.targets, tables.members
    targets: dict[Inst, list[Words]] = {v: [] for v in variables}
    members: dict[tuple[Inst, int], list[Words]] = {}
    structs: set[Inst] = set()
    for variable in variables:
        assert variable.type is not None
        type = variable.type.args[0]
        type = type.args[0] if type.op == ops.OpTypeArray else type
        if type.op == ops.OpTypeStruct:
            structs.add(type)
    for inst in module.annotations:
        target = inst.args[0]
        if target.op != ops.OpTypeStruct:
            words = targets.get(target)
            if words is not None and inst.op != ops.OpDecorateId:
                words.append(inst.imm)
        elif target in structs and inst.op in _OF_MEMBERS:
            members.setdefault((target, inst.imm[0]), []).append(inst.imm[1:])
    return targets, members


def _add(
    variables: list[DeclaredVariable],
    taken: dict[tuple[bool, Place], Label],
    label: Label,
    place: Place,
    type: Inst,
    decorations: set[int],
    storage: int,
    refuse: Refuse,
) -> int:
    """Note one variable with these decorations; gives the Locations it takes."""
    covers: set[Place] = set()
    qualifiers, kind = (
        info.INTERPOLATION_DECORATIONS & decorations,
        info.KIND_DECORATIONS & decorations,
    )
    length = cover(type, place, covers, label, refuse)
    patch = enums.Decoration_Patch in kind  # which is a space of its own
    overlaps = [spot for spot in covers if taken.setdefault((patch, spot), label) is not label]
    if overlaps:
        spot = min(overlaps)
        what = f"{label} and {taken[patch, spot]} overlap at {where(spot)}"
        refuse(OVERLAPS[storage], label, spot, what)
    shape = shape_of(type)
    integral = "i" in shape or "u" in shape or "f64" in shape
    for other in variables:
        if not (kind or other.kind) or other.kind == kind:
            continue
        if enums.Decoration_PerPrimitiveEXT not in kind ^ other.kind:
            continue
        if {p[0] for p in covers} & {p[0] for p in other.covers}:
            what = f"{label} and {other.name} share a Location, and one is per primitive"
            refuse(OVERLAPS[storage], label, place, what)
    variables.append(
        DeclaredVariable(label, place, shape, qualifiers, covers, integral, kind, type)
    )
    return length


def _place(words: list[tuple[int, ...]]) -> Place | None:
    location = component = None
    for word in words:
        if word[0] == enums.Decoration_Location:
            location = word[1]
        elif word[0] == enums.Decoration_Component:
            component = word[1]
    return None if location is None else (location, component or 0)


def cover(type: Inst, place: Place, covers: set[Place], label: Label, refuse: Refuse) -> int:
    """Add the components of a variable; gives the Locations it takes."""
    location, component = place
    op = type.op
    if op == ops.OpTypeStruct:
        total = 0
        for member in type.args:
            total += cover(member, (location + total, 0), covers, label, refuse)
        return total
    if op in info.NESTED_TYPES:
        total = 0
        for _ in range(types.size_of(type)):
            length = cover(type.args[0], (location + total, component), covers, label, refuse)
            total += length
            if total > MOST:
                refuse(TOO_FAR, label, place, f"{label} takes more than {MOST} Locations")
            if not length or total > MOST:
                break
        return total
    scalar = type.args[0] if op == ops.OpTypeVector else type
    size = type.imm[0] if op == ops.OpTypeVector else 1
    wide = bool(scalar.imm) and scalar.imm[0] == 64
    if component > 3:
        refuse(TOO_HIGH, label, place, f"{label} begins at Component {component}")
        component = 0
    if size > 4:
        refuse(TOO_WIDE, label, place, f"{label} has vectors of {size} components")
        size = 4
    words = size * (2 if wide else 1)
    end = component + words
    if (wide and component % 2) or (end > 4 and (words <= 4 or component)):
        rule = ODD_COMPONENT if wide and component % 2 else TOO_WIDE
        refuse(rule, label, place, f"{label} does not fit at {where(place)}")
    for at in range(component, end if end < 4 else 4):
        covers.add((location, at))
    for at in range(4, end):
        covers.add((location + 1, at - 4))
    return 2 if words > 4 else 1


def shape_of(type: Inst) -> str:
    """A type as text, equal for equal types of two modules."""
    op = type.op
    if op in types.NUMBERS:
        return base_of(type)
    if op == ops.OpTypeStruct:
        return "{" + ",".join(shape_of(m) for m in type.args) + "}"
    if op in info.ELEMENT_TYPES:
        return f"{shape_of(type.args[0])}x{types.size_of(type)}"
    return ops.NAMES.get(op, "?")


def where(place: Place) -> str:
    """A place as people read it."""
    return f"Location {shown(place[0])}.{'xyzw'[place[1] & 3]}"
