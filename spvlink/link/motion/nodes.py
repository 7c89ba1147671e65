"""Hold the values of a consumer that its producer could compute (``backward``)."""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, Inst, Module
from spvlink.ir.edit import value
from spvlink.link.border.link import Link
from spvlink.link.border.values import centred

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

WIDTHS: Final = frozenset((16, 32))  # of the numbers that move


class Kind:
    """How inputs are read: interpolated in some way, or that of one vertex. All that varies in one
    expression is read in one way."""

    __slots__ = ("args", "imm", "op")
    blends = False  # whether it is a sum over vertices

    def __init__(self, load: Inst) -> None:
        self.op = load.op  # how one reads so: with these, behind the slot's key
        self.args = load.args
        self.imm = load.imm[1:]

    def shape(self) -> object:
        """Equal for inputs that can be read together as the lanes of a vector; None: read alone."""
        return None

    def read(self, module: Module, keys: list[tuple[int, Inst]], out: list[Inst]) -> Inst:
        """Reads slots, given as (key, type), in this way; instructions are appended."""
        key, type = keys[0]
        out.append(value(module, self.op, type, list(self.args), (key, *self.imm)))
        return out[-1]

    def centred(self, qualifiers: tuple[int, ...]) -> bool:
        """Whether inputs are interpolated at the middle of the pixel, or the weights of a sum over
        vertices add up to one."""
        return self.op == LOAD_INPUT and centred(qualifiers)


class ScalarNode:
    """A scalar that the producer could make: an expression over what it stores, whichever way the
    consumer reads that."""

    __slots__ = (
        "convergent", "deps", "flat", "inst", "key", "lane", "loose", "places", "qualifiers",
        "relaxed", "sink", "sites", "uniforms", "weight", "work",
    )  # fmt: skip

    def __init__(
        self, lane: Lane, qualifiers: tuple[int, ...], flat: bool, sites: frozenset[int]
    ) -> None:
        self.inst, self.lane = lane  # the first of the equal ones
        self.places: list[tuple[Inst, int, Kind]] = []  # the lanes that it is, and how it is read
        self.qualifiers = qualifiers
        self.flat = flat  # comes over to the bit
        self.convergent = False
        self.sites = sites  # where the outputs that it is made from are stored
        self.deps: list[ScalarNode] = []
        self.uniforms: list[Inst] = []  # the other operands, which the producer can read too
        self.key: int | None = None  # of an input: its slot
        self.work = 0  # operations
        self.weight = 0  # operations, counted by how often the consumer may run them
        self.sink = False  # something that stays uses it
        self.relaxed = False  # RelaxedPrecision
        self.loose: Inst | None = None  # a place that lets it go with ``--relaxed`` only


class Use:
    """A node as the consumer has it."""

    __slots__ = ("kind", "node")

    def __init__(self, node: ScalarNode, kind: Kind) -> None:
        self.node = node
        self.kind = kind


Entry = Use | Lane | None  # made of inputs; made of uniforms alone; must stay


def closest(deps: list[Use]) -> Use:
    """The one that gives its qualifiers to what is made of convergent values alone: Flat comes over
    to the bit."""
    return next((d for d in deps if d.node.flat), deps[0])


def single(inst: Inst) -> bool:
    """Whether a result is made of floats of 16 or 32 bits."""
    scalar = scalars.scalar(inst.type) if inst.type is not None else None
    return scalar is not None and types.is_ieee(scalar) and scalar.imm[0] in WIDTHS


def replaceable(link: Link, key: int) -> bool:
    """Whether an input, and the output behind it, may be replaced by another value."""
    stores = link.stores.get(key)
    if stores is None or key not in link.loads:
        return False
    if link.outputs.captured and key in link.outputs.captured:
        return False  # somebody else wants that very value
    if link.in_place and not link.stored_once(key):
        return False
    slot, out = link.inputs.slots.get(key), link.outputs.slots.get(key)
    if slot is None or out is None or slot.width not in WIDTHS or out.extras:
        return False
    if enums.Decoration_PerVertexKHR in slot.qualifiers:
        return False
    sites = link.sites
    return all(s in sites for s in stores)
