"""What a user hands over and gets back: the modules of one pipeline, before and after."""

from __future__ import annotations

from spvlink.grammar import enums

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final, Literal

    Cells = tuple[tuple[int, ...], tuple[int, ...]]
    # bytes a vertex, those of them that position needs, bytes a primitive: see ``varying_bytes``
    Sizes = tuple[int, int, int]
    Outcome = Literal["linked", "unchanged", "passed through", "invalid", "failed", "defect"]

# Short stage names as glslang and the report use them, in pipeline order.
STAGES: Final[dict[int, str]] = {
    enums.ExecutionModel_Vertex: "vert",
    enums.ExecutionModel_TessellationControl: "tesc",
    enums.ExecutionModel_TessellationEvaluation: "tese",
    enums.ExecutionModel_Geometry: "geom",
    enums.ExecutionModel_TaskEXT: "task",
    enums.ExecutionModel_MeshEXT: "mesh",
    enums.ExecutionModel_Fragment: "frag",
}
# Of SPV_NV_mesh_shader: such a stage goes out as it came.
NV_STAGES: Final[dict[int, str]] = {
    enums.ExecutionModel_TaskNV: "task",
    enums.ExecutionModel_MeshNV: "mesh",
}


def stage_of(model: int) -> str:
    """The name of the stage of an execution model; empty if that is no graphics stage."""
    return STAGES.get(model) or NV_STAGES.get(model, "")


# VkShaderStageFlagBits
STAGE_BITS: Final[dict[str, int]] = {
    "vert": 0x1,
    "tesc": 0x2,
    "tese": 0x4,
    "geom": 0x8,
    "frag": 0x10,
    "task": 0x40,
    "mesh": 0x80,
}


class Source:
    """One module of a pipeline: its bytes, what to call it in messages, and which entry point is
    meant (None: the only one). ``stage`` ("vert" ... "frag", "": not said) is its stage, where
    several have that name; without it that is meant which the other modules leave over."""

    __slots__ = ("data", "entry", "file", "stage")

    def __init__(
        self, data: bytes, file: str = "", entry: str | None = None, stage: str = ""
    ) -> None:
        self.data = data
        self.file = file
        self.entry = entry
        self.stage = stage


class StageResult:
    """One stage after linking. ``instructions`` and ``bytes`` are (before, after); ``data`` is the
    module to use."""

    __slots__ = ("body", "bytes", "changed", "data", "file", "instructions", "stage")

    def __init__(self, stage: str, file: str, data: bytes, changed: bool) -> None:
        self.stage = stage
        self.file = file
        self.data = data
        self.changed = changed
        self.instructions = (0, 0)
        self.bytes = (0, 0)
        self.body = (0, 0)  # instructions in function bodies


class InterfaceResult:
    """The border of two stages: 32-bit components declared by the producer, and the Locations they
    use (before, after). ``vertex_bytes``, ``position_bytes`` and ``primitive_bytes``: bytes that
    the producer writes for each vertex, those of them that position needs (``gl_Position`` and
    other built-ins), and bytes for each primitive or patch (before, after)."""

    __slots__ = (
        "assumed", "builtins", "components", "consumer", "error_bound", "locations", "measure",
        "measured", "producer", "read", "wide",
    )  # fmt: skip

    def __init__(self, producer: str, consumer: str) -> None:
        self.producer = producer
        self.consumer = consumer
        self.components = (0, 0)
        self.locations = (0, 0)
        self.read = (0, 0)  # Locations that the consumer declares
        self.builtins = (0, 0)  # that a fragment shader reads, of those that the producer writes
        # by how much a colour may move at most, as floats have 16 bits; None: none has (``half``)
        self.error_bound: float | None = None
        self.assumed: tuple[str, ...] = ()  # for that, of what the state does not say
        self.wide = (0, 0)  # components that have 32 bits, of those that ``half`` looked at
        # what counts the bytes, and what it counted: before, after
        self.measure: Callable[[], tuple[Sizes, Sizes]] | None = None
        self.measured: tuple[Sizes, Sizes] = (0, 0, 0), (0, 0, 0)

    @property
    def sizes(self) -> tuple[Sizes, Sizes]:
        """Bytes before and after; counted when somebody asks for the first time."""
        if self.measure is not None:
            self.measured = self.measure()
            self.measure = None
        return self.measured

    @property
    def vertex_bytes(self) -> tuple[int, int]:
        before, after = self.sizes
        return before[0], after[0]

    @property
    def position_bytes(self) -> tuple[int, int]:
        before, after = self.sizes
        return before[1], after[1]

    @property
    def primitive_bytes(self) -> tuple[int, int]:
        before, after = self.sizes
        return before[2], after[2]

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """What is pickled or copied has its bytes counted."""
        state: dict[str, object] = {"measured": self.sizes}  # first: it empties ``measure``
        return None, {name: getattr(self, name) for name in self.__slots__} | state


class Remark:
    """What became of one varying (or a part of it) and why. ``action`` is one of ACTIONS.
    ``cells``: the 32-bit components that it covers, before and after, each as four times the
    Location plus the Component; none of what has no place. ``error_bound``: by how much a colour
    may move because it has 16 bits; None of what keeps its bits."""

    __slots__ = ("action", "cells", "error_bound", "interface", "name", "slot", "why")

    def __init__(
        self, interface: str, name: str, slot: str, action: str, why: str, cells: Cells = ((), ())
    ) -> None:
        self.interface = interface  # "vert->frag"
        self.name = name
        self.slot = slot  # "1.xyz", "2", "3-6.x"
        self.action = action
        self.why = why
        self.cells = cells
        self.error_bound: float | None = None


def shown_bound(bound: float) -> str:
    """A bound of an error for people, rounded up to two digits."""
    text = f"{bound:.1e}"
    if float(text) < bound:
        digits, _, exponent = text.partition("e")
        text = f"{float(digits) + 0.1:.1f}e{exponent}"
    return f"{float(text):.2g}"


class Flaw:
    """What breaks a rule between the stages as they came, and kept nobody from linking them: an
    input that no stage writes (read as zero), variables that do not match. ``interface``:
    "vert->frag", or one stage; ``file``: of the stage that it is about; ``rule``: a VUID."""

    __slots__ = ("file", "interface", "message", "rule")

    def __init__(self, interface: str, file: str, message: str, rule: str) -> None:
        self.interface = interface
        self.file = file
        self.message = message
        self.rule = rule

    def __str__(self) -> str:
        return f"{self.message} ({self.rule})" if self.rule else self.message


# What became of a varying: words of the report, by which the code tells them apart too.
REMOVED: Final = "removed"
UNDEFINED: Final = "undefined"
PROPAGATED: Final = "propagated"
MERGED: Final = "merged"
MOVED_BACKWARD: Final = "moved-backward"
MOVED_FORWARD: Final = "moved-forward"
FLATTENED: Final = "flattened"
PACKED: Final = "packed"
KEPT: Final = "kept"
ACTIONS: Final = (
    REMOVED, UNDEFINED, PROPAGATED, MERGED, MOVED_BACKWARD, MOVED_FORWARD, FLATTENED, PACKED, KEPT,
)  # fmt: skip
# What packing may tear (``Options.pack``).
PACK_LOCATIONS: Final = "locations"
PACK_COORDINATES: Final = "coordinates"
PACK_VECTORS: Final = "vectors"
PACK_NONE: Final = "none"
PACKINGS: Final = (PACK_LOCATIONS, PACK_COORDINATES, PACK_VECTORS, PACK_NONE)
# What became of a pipeline (``Linked.outcome``). Only these are compared, never a reason. They are
# no ``enum.Enum``: to import that costs more than a millisecond.
LINKED: Final = "linked"
UNCHANGED: Final = "unchanged"  # there was nothing to gain
PASSED: Final = "passed through"  # legal, but not to be improved safely
INVALID: Final = "invalid"  # the input is at fault; of a batch, where others go on
FAILED: Final = "failed"  # it took too long, too much memory, or its process died; of a batch
DEFECT: Final = "defect"  # of spvlink
NOTHING_TO_GAIN: Final = "nothing to gain"  # the reason beside UNCHANGED
VALIDATED: Final = "validated"  # by spirv-val: every module that goes out


# Makes the picture of a result: the package puts it here, which knows how to draw.
PICTURES: Final[list[Callable[[Linked], str]]] = []


class Linked:
    """The result of one link. ``outcome`` is LINKED, or says how the inputs came back unchanged;
    then ``passed_through`` is the reason. ``warnings``: what is wrong between the stages as they
    came."""

    __slots__ = (
        "defect",
        "interfaces",
        "later",
        "outcome",
        "passed_through",
        "seconds",
        "stages",
        "target_env",
        "validated",
        "verified",
        "warnings",
        "written",
    )

    def __init__(self) -> None:
        self.warnings: list[Flaw] = []
        self.stages: list[StageResult] = []
        self.interfaces: list[InterfaceResult] = []
        # what makes the remarks, one call a border, and those that were made
        self.later: list[Callable[[], list[Remark]]] = []
        self.written: list[Remark] = []
        self.outcome: Outcome = LINKED
        self.passed_through: str | None = None
        self.defect: str | None = None  # a defect of spvlink made it pass through (exit status 3)
        self.validated: str | None = None  # VALIDATED, or why it was not
        # what a proof said of it, as a line and as the report has it; None: nobody asked
        self.verified: tuple[str, dict[str, object]] | None = None
        self.seconds: dict[str, float] = {}  # per phase
        self.target_env = ""

    def stay(self, outcome: Outcome, why: str, defect: str | None = None) -> None:
        """The inputs come back. ``defect``: of spvlink, where the outcome is that."""
        self.outcome, self.passed_through, self.defect = outcome, why, defect

    @property
    def remarks(self) -> list[Remark]:
        """What became of every varying; made when somebody asks for the first time."""
        for tell in self.later:
            self.written += tell()
        self.later = []
        return self.written

    @remarks.setter
    def remarks(self, given: list[Remark]) -> None:
        self.later, self.written = [], given

    def __repr__(self) -> str:
        if self.passed_through is not None:
            return f"<Linked: {self.outcome}: {self.passed_through}>"
        parts = [
            f"{i.producer}->{i.consumer} {i.components[0]} -> {i.components[1]} components,"
            f" {i.locations[0]} -> {i.locations[1]} Locations"
            for i in self.interfaces
        ]
        before, after = (sum(s.instructions[at] for s in self.stages) for at in (0, 1))
        return f"<Linked: {'; '.join([*parts, f'{before} -> {after} instructions'])}>"

    def _repr_html_(self) -> str | None:
        """A picture of the interface before and after, for notebooks."""
        return PICTURES[-1](self) if PICTURES else None

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """What is pickled or copied has its remarks made."""
        state = {"written": self.remarks}  # first: it empties ``later``
        return None, {name: getattr(self, name) for name in self.__slots__} | state
