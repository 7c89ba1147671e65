"""Compare the interfaces of two neighbouring stages (Vulkan, "Interface Matching").

Interpolation decorations need not match (the fragment shader's count), nor does RelaxedPrecision,
nor what transform feedback is told. Signed and unsigned integers are different types by the
specification; the Khronos validation layer takes them for one.
"""

from __future__ import annotations

from spvlink.grammar import enums, info, ops
from spvlink.grammar.names import ENUM_NAMES
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.link.check import interface
from spvlink.link.check.findings import UNREAD, Finding
from spvlink.link.check.interface import DeclaredVariable, Label, apart, other_space, where

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.link.check.interface import Place
    from spvlink.link.check.stage import CheckedStage

    Scalar = tuple[int, ...]  # opcode, width, sign of integers or encoding of floats, if it has one

TYPES: Final = "VUID-RuntimeSpirv-OpEntryPoint-07754"
DECORATIONS: Final = "VUID-RuntimeSpirv-OpVariable-08746"
LONGER: Final = "VUID-RuntimeSpirv-maintenance4-06817"
# "must adhere to the pipeline linking rules": between stages before rasterization, and to fragments
LINKING: Final = "VUID-VkGraphicsPipelineCreateInfo-pStages-00742"
LINKING_FRAGMENTS: Final = "VUID-VkGraphicsPipelineCreateInfo-None-04889"
_KINDS: Final = {
    enums.Decoration_Patch: "Patch",
    enums.Decoration_PerPrimitiveEXT: "PerPrimitiveEXT",
}
_PASSES_THROUGH: Final = enums.Decoration_PassthroughNV


class InterfaceRules:
    """``maintenance4``: whether the feature is on, so that an output vector may be longer than the
    input that it feeds."""

    def __init__(self, producer: CheckedStage, consumer: CheckedStage, maintenance4: bool) -> None:
        self.producer = producer
        self.consumer = consumer
        self.maintenance4 = maintenance4
        self.between = producer.name, consumer.name
        fragment = consumer.name == "frag"
        self.linking = LINKING_FRAGMENTS if fragment else LINKING
        # what goes to another vertex stream feeds no fragment
        self.outputs = [o for o in producer.outputs if not (fragment and producer.streamed(o))]
        self.by_place: dict[Place, DeclaredVariable] = {}
        for output in self.outputs:
            for place in apart(output, output.covers):
                self.by_place.setdefault(place, output)

    def findings(self) -> list[Finding]:
        if self._passes_through():
            return []
        return self.errors() + self._unread() + self._unwritten()

    def errors(self) -> list[Finding]:
        """Without the warnings."""
        if self._passes_through():
            return []
        return [f for one in self.consumer.inputs for f in self._input(one)]

    def _passes_through(self) -> bool:
        """Whether the stages match by other rules."""
        return any(
            self.producer.decoration(o, _PASSES_THROUGH) is not None
            or self.producer.tables.find(o.label.variable, _PASSES_THROUGH) is not None
            for o in self.producer.outputs
        )

    def _error(self, rule: str, one: DeclaredVariable, place: Place, message: str) -> Finding:
        (seen,) = interface.shown_places({place})
        return Finding(rule, message, str(one.label), seen, self.between)

    def _input(self, one: DeclaredVariable) -> list[Finding]:
        """The errors of one input."""
        covers = apart(one, one.covers)
        missing = {place for place in covers if self._twin(place) is None}
        errors = []
        if missing:
            at = places(missing)
            message = (
                f"{self.consumer.name} input {described(one)}: {self.producer.name} has no output"
                f" at {at}"
            )
            errors.append(self._error(interface.INTERFACE, one, min(missing), message))
        twins: dict[DeclaredVariable, Place] = {}
        for place in sorted(covers - missing):
            twin = self._twin(place)
            assert twin is not None
            twins.setdefault(twin, place)
        for twin, place in twins.items():
            trouble = self._mismatch(one, twin, bool(missing))
            if trouble is not None:
                rule, why = trouble
                message = (
                    f"{self.consumer.name} input {described(one)} faces {self.producer.name}"
                    f" output {described(twin)}: {why}"
                )
                errors.append(self._error(rule, one, place, message))
        return errors

    def _twin(self, place: Place) -> DeclaredVariable | None:
        """The output that an input component faces: the one of its number, if there is none of its
        kind."""
        return self.by_place.get(place) or self.by_place.get(other_space(place))

    def _mismatch(
        self, one: DeclaredVariable, twin: DeclaredVariable, short: bool
    ) -> tuple[str, str] | None:
        """The rule that an input and an output break, and how; ``short``: that components have no
        output is told already."""
        other = _classes(one, twin)
        if other is not None:
            return TYPES, other
        if one.kind != twin.kind:
            words = " and ".join(_KINDS.get(k, "?") for k in sorted(one.kind ^ twin.kind))
            return DECORATIONS, f"only one of them is {words}"
        if one.place[1] != twin.place[1] and one.place[0] == twin.place[0]:
            return DECORATIONS, "they begin at different Components"
        if one.place != twin.place:
            return self.linking, "they begin at different Locations"
        if short or same(one.type, twin.type):
            return None
        vectors = one.type.op == twin.type.op == ops.OpTypeVector
        if vectors and one.type.imm[0] < twin.type.imm[0]:
            if self.maintenance4:
                return None
            return LONGER, "a longer output needs the feature maintenance4 (--maintenance4)"
        return self.linking, "the types differ"

    def _unread(self) -> list[Finding]:
        """Warnings: outputs that the consumer does not read."""
        read: set[Place] = set()
        declared: set[Place] = set()
        for one in self.consumer.inputs:
            read |= apart(one, self.consumer.uses.reads(one))
            declared |= apart(one, one.covers)
        warnings = []
        for output in self.producer.outputs:
            dead = unread_of(self.producer, output, read)
            if not dead:
                continue
            some = f"{places(dead)} of " if len(dead) != len(output.covers) else ""
            how = "does not read" if dead & declared else "has no input for"
            message = (
                f"{self.consumer.name} {how} {some}{self.producer.name} output {described(output)}"
            )
            warnings.append(
                Finding(
                    UNREAD, message, str(output.label), _first(dead), self.between, warning=True
                )
            )
        return warnings

    def _unwritten(self) -> list[Finding]:
        """Warnings: inputs that are read, and have an output that is never written."""
        written: set[Place] = set()
        for output in self.outputs:
            written |= apart(output, self.producer.uses.writes(output))
        warnings = []
        for one in self.consumer.inputs:
            reads = apart(one, self.consumer.uses.reads(one))
            bare = (reads & self.by_place.keys()) - written
            if bare:
                message = (
                    f"{self.consumer.name} reads {places(bare)} of its input {described(one)},"
                    f" which {self.producer.name} declares and never writes: the value is undefined"
                )
                warnings.append(
                    Finding(None, message, str(one.label), _first(bare), self.between, warning=True)
                )
        return warnings


def _first(places: set[Place]) -> Place:
    return min(interface.shown_places(places))


def unread_of(producer: CheckedStage, output: DeclaredVariable, read: set[Place]) -> set[Place]:
    """The components (``apart``) of an output that nobody reads, if the next stage reads these: not
    transform feedback, no other stream's reader, and not the stage itself."""
    if producer.captured(output) or producer.streamed(output):
        return set()
    return apart(output, output.covers - producer.uses.reads(output)) - read


def _classes(one: DeclaredVariable, twin: DeclaredVariable) -> str | None:
    """How the numbers of an input and an output differ in a component that both have."""
    mine, its = scalars(one), scalars(twin)
    for place in sorted(mine.keys() & its.keys()):
        if mine[place] != its[place]:
            return f"{_named(mine[place])} and {_named(its[place])} at {where(place)}"
    return None


def same(one: Inst, other: Inst) -> bool:
    """Whether two types of two modules are declared alike."""
    if one.op != other.op:
        return False
    if one.op == ops.OpTypeArray:
        return types.size_of(one) == types.size_of(other) and same(one.args[0], other.args[0])
    if one.imm != other.imm or len(one.args) != len(other.args):
        return False
    return all(same(mine, its) for mine, its in zip(one.args, other.args))


def _named(scalar: Scalar) -> str:
    op, *imm = scalar
    if op == ops.OpTypeFloat:
        return _float(imm)
    return f"{'int' if imm[1] else 'uint'}{imm[0]}" if op == ops.OpTypeInt else "something else"


def _float(imm: Sequence[int]) -> str:
    """``float16``, ``BFloat16KHR``."""
    if len(imm) == 1:
        return f"float{imm[0]}"
    return ENUM_NAMES["FPEncoding"].get(imm[1], f"float{imm[0]}")


def scalars(one: DeclaredVariable) -> dict[Place, Scalar]:
    """What is in each component of a variable."""
    kinds: dict[Place, Scalar] = {}
    _fill(one.type, one.place, kinds, one.label)
    return kinds


def _fill(type: Inst, place: Place, kinds: dict[Place, Scalar], label: Label) -> int:
    """Note the components of a type; gives its Locations."""
    if type.op == ops.OpTypeStruct:
        total = 0
        for member in type.args:
            total += _fill(member, (place[0] + total, 0), kinds, label)
        return total
    element = type
    while element.op in info.NESTED_TYPES:
        element = element.args[0]
    if element.op == ops.OpTypeStruct:  # of an array: the shape says the rest
        return interface.cover(type, place, set(), label, _ignore)
    covers: set[Place] = set()
    length = interface.cover(type, place, covers, label, _ignore)
    scalar = element.args[0] if element.op == ops.OpTypeVector else element
    kind = scalar.op, *scalar.imm
    kinds.update(dict.fromkeys(covers, kind))
    return length


def _ignore(rule: str, label: object, place: object, message: str) -> None:
    """What is odd was told of where the variable was read."""


def described(one: DeclaredVariable) -> str:
    """A variable for people: name, type, where it begins."""
    location, component = one.place
    lane = f".{'xyzw'[component & 3]}" if component else ""
    return f"{one.label} ({readable(one.type)} at Location {location}{lane})"


def readable(type: Inst) -> str:
    """A type as GLSL has it, about."""
    op = type.op
    if op == ops.OpTypeVector:
        prefix = {"float": "", "int": "i", "uint": "u", "double": "d"}
        scalar = readable(type.args[0])
        return f"{prefix.get(scalar, scalar)}vec{type.imm[0]}"
    if op == ops.OpTypeMatrix:
        return f"mat{type.imm[0]}x{type.args[0].imm[0]}"
    if op == ops.OpTypeFloat:
        return {32: "float", 64: "double"}.get(type.imm[-1]) or _float(type.imm)
    if op == ops.OpTypeInt:
        return ("int" if type.imm[1] else "uint") + ("" if type.imm[0] == 32 else str(type.imm[0]))
    if op == ops.OpTypeArray:
        inner = type
        counts = ""
        while inner.op == ops.OpTypeArray:
            counts += f"[{types.size_of(inner) or '?'}]"
            inner = inner.args[0]
        return readable(inner) + counts
    return "struct" if op == ops.OpTypeStruct else ops.NAMES.get(op, "?")


def places(covers: set[Place]) -> str:
    """Components for people: "Location 1.yz, 2.x"."""
    lanes_of: dict[int, str] = {}
    for location, component in sorted(interface.shown_places(covers)):
        lanes_of[location] = lanes_of.get(location, "") + "xyzw"[component & 3]
    return "Location " + ", ".join(f"{location}.{lanes}" for location, lanes in lanes_of.items())
