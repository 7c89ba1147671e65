"""Make a module that stands for a missing stage: it writes, or reads, what an interface says.

A producer stores constants as such, one value for equal components, nothing for unwritten ones, and
an attribute of unknown value for all others. A consumer reads all that crosses, and passes it on.
"""

from __future__ import annotations

from spvlink.binary.encode import encode
from spvlink.errors import Usage
from spvlink.grammar import enums
from spvlink.link.border.stage import Stage
from spvlink.pipeline import Source
from spvlink.sets.contract import QUALIFIERS, Contract
from spvlink.text.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_MODELS: Final = {
    "vert": "Vertex", "tesc": "TessellationControl", "tese": "TessellationEvaluation",
    "geom": "Geometry", "frag": "Fragment",
}  # fmt: skip
_MODES: Final = {
    "tesc": ["OutputVertices 3"],
    "tese": ["Triangles"],
    "geom": ["Triangles", "Invocations 1", "OutputTriangleStrip", "OutputVertices 3"],
    "frag": ["OriginUpperLeft"],
}
_TYPES: Final = {"f32": "OpTypeFloat 32", "i32": "OpTypeInt 32 1", "u32": "OpTypeInt 32 0"}
_NAMES: Final = {number: name for name, number in QUALIFIERS.items()}
_VERTICES: Final = 3  # of every array over vertices here
# What a stage can stand behind, or before, of those that only read or write.
_PRODUCERS: Final = {"tesc": "vert", "tese": "tesc", "geom": "vert", "frag": "vert"}
_CONSUMERS: Final = {"tesc": "geom", "tese": "tese", "geom": "geom", "frag": "frag"}


class Wanted:
    """A component of a stub: its old place, and what it holds."""

    __slots__ = ("base", "bits", "key", "qualifiers", "twin")

    def __init__(
        self, key: int, base: str, qualifiers: tuple[int, ...] = (), bits: int | None = None,
        twin: int | None = None,
    ) -> None:  # fmt: skip
        self.key = key
        self.base = base
        self.qualifiers = qualifiers
        self.bits = bits
        self.twin = twin


def of_contract(contract: Contract, facts: bool) -> list[Wanted]:
    """All that crosses; with ``facts``, what is written beside, so that a consumer finds it out."""
    wanted = [
        Wanted(key, wire.base, wire.qualifiers or ())
        for wire in contract.wires
        for key in wire.keys
    ]
    for fact in contract.known if facts else ():
        if fact.bits is not None or fact.twin is not None:
            kind = fact.qualifiers or ()
            wanted.append(Wanted(fact.key, fact.base, kind, fact.bits, fact.twin))
    return wanted


def producer_for(consumer: str, wanted: list[Wanted]) -> Stage:
    """What stands before a stage. Raises Usage where nothing can."""
    if consumer not in _PRODUCERS:
        raise Usage(f"an interface has nothing before the {consumer} stage")
    return _stage(_PRODUCERS[consumer], wanted, False)


def consumer_for(producer: str, consumer: str, wanted: list[Wanted]) -> Stage:
    """What stands behind a stage: the ``consumer``, "" if that is not known."""
    name = consumer or ("tese" if producer == "tesc" else "frag")
    return _stage(_CONSUMERS[name], wanted, True)


def _stage(name: str, wanted: list[Wanted], reads: bool) -> Stage:
    from spvlink.driver import read_stage  # the driver reads no sets

    data = encode(parse(_Text(name, wanted, reads).whole()))
    stage = read_stage(Source(data, f"the {name} stage of the interface", "main", name))
    stage.linked = True  # it does not go out
    return stage


class _Text:
    """The module, line by line. A variable for each component."""

    def __init__(self, name: str, wanted: list[Wanted], reads: bool) -> None:
        self.name = name
        self.reads = reads
        self.names: list[str] = []  # of interface variables
        self.notes: list[str] = []
        self.types: list[str] = []
        self.body: list[str] = []
        for base, type in _TYPES.items():
            self.types.append(f"%{base} = {type}")
        self.types += ["%zero = OpConstant %i32 0", f"%count = OpConstant %u32 {_VERTICES}"]
        for storage in ("Input", "Output"):
            for base in _TYPES:
                if storage == "Input":
                    self.types.append(f"%array_{base} = OpTypeArray %{base} %count")
                self.types.append(f"%to_{storage}_{base} = OpTypePointer {storage} %{base}")
                self.types.append(
                    f"%to_{storage}_array_{base} = OpTypePointer {storage} %array_{base}"
                )
        if name == "tesc":
            self.names.append("%invocation")
            self.notes.append("OpDecorate %invocation BuiltIn InvocationId")
            self.types.append("%invocation = OpVariable %to_Input_i32 Input")
            self.body.append("%vertex = OpLoad %i32 %invocation")
        self.values: dict[int, str] = {}
        for number, one in enumerate(wanted):
            if reads:
                self.read(number, one)
            else:
                self.write(number, one)
        if name == "geom":
            self.body.append("OpEmitVertex")

    def variable(
        self, name: str, storage: str, base: str, location: int, lane: int, array: bool
    ) -> None:
        self.names.append(name)
        self.notes.append(f"OpDecorate {name} Location {location}")
        if lane:
            self.notes.append(f"OpDecorate {name} Component {lane}")
        kind = f"array_{base}" if array else base
        self.types.append(f"{name} = OpVariable %to_{storage}_{kind} {storage}")

    def of_interface(self, name: str, storage: str, one: Wanted) -> str:
        """Declare a component; gives the pointer to it."""
        over = enums.Decoration_Patch not in one.qualifiers
        array = over and self.name in (("tese", "geom") if self.reads else ("tesc",))
        self.variable(name, storage, one.base, one.key >> 3, one.key >> 1 & 3, array)
        decorations = set(one.qualifiers)
        if self.name == "frag" and one.base != "f32":
            decorations.add(enums.Decoration_Flat)
        for qualifier in sorted(decorations):
            self.notes.append(f"OpDecorate {name} {_NAMES[qualifier]}")
        if not array:
            return name
        vertex = "%zero" if self.reads else "%vertex"
        type = f"%to_{storage}_{one.base}"
        self.body.append(f"{name}_at = OpAccessChain {type} {name} {vertex}")
        return f"{name}_at"

    def read(self, number: int, one: Wanted) -> None:
        pointer = self.of_interface(f"%in{number}", "Input", one)
        self.body.append(f"%v{number} = OpLoad %{one.base} {pointer}")
        self.variable(f"%out{number}", "Output", one.base, number, 0, False)
        self.body.append(f"OpStore %out{number} %v{number}")

    def write(self, number: int, one: Wanted) -> None:
        made = self.values.get(one.twin, "") if one.twin is not None else ""
        if one.bits is not None:
            made = f"%c{number}"
            self.types.append(f"{made} = OpConstant %{one.base} !0x{one.bits:08x}")
        elif not made:
            made = self.attribute(number, one.base)
        self.values[one.key] = made
        pointer = self.of_interface(f"%out{number}", "Output", one)
        self.body.append(f"OpStore {pointer} {made}")

    def attribute(self, number: int, base: str) -> str:
        """A value of which nothing is known."""
        array = self.name == "tesc"
        self.variable(f"%in{number}", "Input", base, number, 0, array)
        pointer = f"%in{number}"
        if array:
            self.body.append(f"%from{number} = OpAccessChain %to_Input_{base} {pointer} %vertex")
            pointer = f"%from{number}"
        self.body.append(f"%v{number} = OpLoad %{base} {pointer}")
        return f"%v{number}"

    def whole(self) -> str:
        capability = {"tesc": "Tessellation", "tese": "Tessellation", "geom": "Geometry"}
        modes = [f"OpExecutionMode %main {mode}" for mode in _MODES.get(self.name, ())]
        lines = [
            f"OpCapability {capability.get(self.name, 'Shader')}",
            "OpMemoryModel Logical GLSL450",
            f'OpEntryPoint {_MODELS[self.name]} %main "main" {" ".join(self.names)}'.rstrip(),
            *modes,
            *self.notes,
            "%void = OpTypeVoid",
            "%function = OpTypeFunction %void",
            *self.types,
            "%main = OpFunction %void None %function",
            "%entry = OpLabel",
            *self.body,
            "OpReturn",
            "OpFunctionEnd",
        ]
        return "\n".join(lines) + "\n"
