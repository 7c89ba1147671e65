"""The values of a consumer that its producer could make (``backward``), and what may be said of
one by itself."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import root
from spvlink.grammar import enums, info, ops
from spvlink.ir.core import Inst
from spvlink.link import lanes
from spvlink.link.border import Link
from spvlink.link.lanes import Lane

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_GLANCE: Final = 64  # values that ``varies_at_a_glance`` looks at


class Kind:
    """How inputs come over: all that varies in one expression has one kind."""

    __slots__ = ("args", "flat", "imm", "op", "qualifiers")

    def __init__(self, qualifiers: tuple[int, ...], flat: bool, load: Inst) -> None:
        self.qualifiers = qualifiers
        self.flat = flat
        self.op = load.op  # how one reads so: with these, behind the slot's key
        self.args = load.args
        self.imm = load.imm[1:]


class Node:
    """A scalar of the consumer that the producer could make."""

    __slots__ = (
        "convergent", "deps", "inst", "keys", "kind", "lane", "places", "relaxed", "sink",
        "sites", "uniforms", "weight", "work",
    )  # fmt: skip

    def __init__(self, lane: Lane, kind: Kind, convergent: bool, sites: frozenset[int]) -> None:
        self.inst, self.lane = lane  # the first of the equal ones
        self.places: list[Lane] = [lane]
        self.kind = kind
        self.convergent = convergent
        self.sites = sites  # where the outputs that it is made from are stored
        self.deps: list[Node] = []
        self.uniforms: list[Inst] = []  # the other operands, which the producer can read too
        self.keys: tuple[int, ...] = ()  # of an input: its slot
        self.work = 0  # operations
        self.weight = 0  # operations, counted by how often the consumer may run them
        self.sink = False  # something that stays uses it
        self.relaxed = False


Entry = Node | Lane | None  # made of inputs; made of uniforms alone; must stay


def closest(deps: list[Node]) -> Kind:
    """The kind of what is made of convergent values alone: Flat comes over to the bit."""
    return next((d.kind for d in deps if d.kind.flat), deps[0].kind)


def single(inst: Inst) -> bool:
    """Whether a result is made of floats of 32 bits."""
    scalar = lanes.scalar(inst.type) if inst.type is not None else None
    return scalar is not None and scalar.op == ops.OpTypeFloat and scalar.imm[0] == 32


def replaceable(link: Link, key: int) -> bool:
    """Whether an input, and the output behind it, may be replaced by another value."""
    if key not in link.stores or key in link.kept_in or key in link.kept_out:
        return False
    slot, out = link.inputs.slots.get(key), link.outputs.slots.get(key)
    if slot is None or out is None or slot.width != 32 or out.extras:
        return False
    if enums.Decoration_PerVertexKHR in slot.qualifiers:
        return False
    return all(s in link.sites for s in link.stores[key]) and link.stored_once(key)


def varies_at_a_glance(link: Link, key: int) -> bool:
    """Whether what is stored differs between vertices, as far as a glance shows: an attribute is in
    it. Most outputs are like that, and finding out what is equal takes longer."""
    tables = Decorations.of(link.producer.module)
    todo = [s.args[0] for s in link.stores[key][:1]]
    for inst in todo:
        if inst.op == ops.OpLoad:
            variable = root(inst.args[0])
            if variable.op == ops.OpVariable and variable.imm[0] == enums.StorageClass_Input:
                builtin = tables.find(variable, enums.Decoration_BuiltIn)
                if not builtin or builtin[0] not in info.PRIMITIVE_BUILTINS:
                    return True
        elif inst.op != ops.OpPhi and len(todo) < _GLANCE:
            todo += inst.args
    return False
