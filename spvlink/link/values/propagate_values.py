"""Compute constant and uniform values in the stage that reads them.

    vertex:   outTint = pc.tint * 2.0                    (nothing: the output is gone)
    fragment: color = tex * inTint              ->       color = tex * (pc.tint * 2.0)

It moves an output if all of its stores write one value: an expression over constants and over
resources that nothing writes during the draw (``transfer``) and that the consumer may read.

Why it is right. All vertices of all primitives store equal bits, so every interpolation of them is
that value, in real numbers.

What breaks it.
* Rounding. Hardware interpolates with rounding, so the exact value differs from an interpolated one
  in its last bits. A value that is not Flat moves only where nothing behind it could come out
  otherwise (``rounded``), and under ``--exact`` not at all.
* Paths that store nothing. The output is undefined there, so any value is right. But a buffer need
  not be bound for a draw in which no vertex reads it, so every path must store a value that is read
  from a buffer. The first invocation of a workgroup stores for all of it (``first_invocation``).
  Push constants are always there.
* Infinities, NaNs and the sign of zero. Vulkan promises nothing of their interpolation. Hardware
  evaluates the plane p + i * (p1 - p) + j * (p2 - p), which is (p - p) + p for three equal values:
  infinities and NaNs become NaN, -0 becomes +0, all else is itself. Lavapipe gives just that. So
  for a consumer that preserves them (SignedZeroInfNanPreserve), and where the expression has a pole
  (``sensitive.unbounded``), an interpolated value moves as (x - x) + x, without contraction; Mesa's
  x * 0 + x would keep -0. A constant that this would change stays, and so does everything
  interpolated if the fast-math decorations of SPV_KHR_float_controls2 ask for such values: these
  may not stand beside NoContraction. A producer that preserves more than its consumer keeps its
  arithmetic, which may be a test for a NaN.

Cost. The expression runs per fragment in place of per vertex, and saves the interpolation of its
components. One 32-bit component costs the hardware at least an attribute fetch and two
multiply-adds per fragment, and the export of a word per vertex; it also occupies parameter memory,
which bounds the vertices in flight. That counts as ``COMPONENT_PRICE`` ALU operations. An
expression moves if its cost (``semantics.toml``; each instruction once, loads 2 a word) is at most
the price of the components that it replaces, times ``--cost-limit`` / 100 (default 100; 0 moves
only free ones). Loads of uniforms count although they are equal for all fragments and often cost a
scalar register only, so the estimate errs to the safe side. An input costs no register before its
use and a computed value does, so the code goes down to its first use (``sink``).
"""

from __future__ import annotations

import struct

from spvlink.facts.floats import Floats, alike
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst
from spvlink.ir.edit import become, sweep, value
from spvlink.link.border import first_invocation
from spvlink.link.border.cost import COMPONENT_PRICE
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.sink import sink
from spvlink.link.border.values import as_interpolated, cast_to_denormal, single_value
from spvlink.link.resources.blocks import Cannot, size_of
from spvlink.link.resources.same import same_value
from spvlink.link.resources.transfer import Transfer
from spvlink.link.rounding import rounded, sensitive
from spvlink.pipeline import PROPAGATED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence


class Candidate:
    """The components of one vector of the consumer that one expression could replace."""

    __slots__ = ("cost", "keys", "special", "values")

    def __init__(self) -> None:
        self.keys: list[int] = []
        self.special: set[int] = set()  # keys of what may be a NaN, infinity or -0 that counts
        self.values: list[Inst] = []
        self.cost = 0


def propagate_values(
    link: Link, transfer: Transfer, exact: bool, limit: int,
    others: Sequence[tuple[Link, Transfer]] | None = None,
) -> bool:  # fmt: skip
    """Move what may and should move; whether anything did. ``fate`` of what stays says why.
    ``others``: in a set, the links of the same consumer from its other producers: all have to store
    the same, and nothing is done to producers, which may have other consumers."""
    link.gather()
    chosen: list[Candidate] = []
    for candidate in _candidates(link, transfer, exact, others or ()):
        budget = COMPONENT_PRICE * len(candidate.keys) * limit // 100
        if candidate.cost > budget:
            why = f"not propagated: it costs {candidate.cost} and would save {budget}"
            for key in candidate.keys:
                link.remarks.notes[key] = why
            continue
        chosen.append(candidate)
    moved = [pair for c in _placed(link, transfer, chosen) for pair in zip(c.keys, c.values)]
    if not moved:
        return False
    for key, stored in moved:
        link.remarks.fate[key] = (PROPAGATED, words(transfer, stored))
    _replace(link, transfer, dict(moved), {key for c in chosen for key in c.special})
    if others is None:
        remove_stores(link.producer, {k for k, _ in moved if k not in link.outputs.captured})
    return True


def _placed(link: Link, transfer: Transfer, chosen: list[Candidate]) -> list[Candidate]:
    """Those of the chosen whose resources are all in the consumer now. Each was judged alone; two
    may ask for overlapping members (a vector and its component, a matrix and its column), so the
    largest are declared first, and the others are found inside them."""
    wanted = [(a, c) for c in chosen for v in c.values for a in transfer.accesses(v)]
    wanted.sort(key=lambda pair: -size_of(pair[0].type, pair[0].words))
    failed: dict[int, str] = {}
    for access, candidate in wanted:
        if id(candidate) in failed:
            continue
        try:
            transfer.place(access)
        except Cannot as why:
            failed[id(candidate)] = f"not propagated: {why}"
    for candidate in chosen:
        if id(candidate) in failed:
            link.remarks.notes.update(dict.fromkeys(candidate.keys, failed[id(candidate)]))
    return [c for c in chosen if id(c) not in failed]


def _candidates(
    link: Link, transfer: Transfer, exact: bool, others: Sequence[tuple[Link, Transfer]]
) -> list[Candidate]:
    asked = Floats.of(link.consumer.module)
    groups: dict[int, Candidate] = {}
    for key in sorted(link.loads):
        slot = link.inputs.slots[key]
        try:
            stored = _movable(link, transfer, key, exact)
            if stored is None:
                continue
            for other, theirs in others:
                _check_agrees(transfer, stored, other, theirs, key, exact)
        except Cannot as why:
            link.remarks.notes[key] = f"not propagated: {why}"
            continue
        candidate = groups.setdefault(slot.group, Candidate())
        candidate.keys.append(key)
        candidate.values.append(stored)
        odd = slot.width in asked.preserved or sensitive.unbounded(link.producer.module, stored)
        if not link.carries_bits(slot) and odd and stored.op not in types.CONSTANTS:
            candidate.special.add(key)
    for candidate in groups.values():
        candidate.cost = joint_cost(transfer, candidate.values)
        candidate.cost += 2 * info.COST[ops.OpFAdd] * len(candidate.special)
    return list(groups.values())


def _movable(link: Link, transfer: Transfer, key: int, exact: bool) -> Inst | None:
    """What is stored in a slot that the consumer may make itself; None if that is nothing to speak
    of. Raises Cannot."""
    if key not in link.stores or key in link.held:
        return None
    stored = single_value(link, key)
    if stored is None or transfer.varies(stored):
        return None
    slot = link.inputs.slots[key]
    flat = link.carries_bits(slot)
    if key in link.read_back:
        raise Cannot(f"the {link.producer.name} stage reads it back")
    assert stored.type is not None
    transfer.check(stored)
    modules = link.producer.module, link.consumer.module
    if not _moved_only(stored) and not alike(*modules):
        raise Cannot("the stages treat denormal numbers, rounding or NaNs differently")
    surely = link.always_stored(key) or first_invocation.stores(link, key)
    if not surely and transfer.may_be_unbound(stored):
        raise Cannot("not every invocation reads the resource that it depends on")
    if cast_to_denormal(link, key, types.bits_of(stored)):
        raise Cannot("it is cast to a denormal number, which a stage may flush to zero")
    if link.outputs.slots[key].extras:
        raise Cannot("it is Invariant: another pipeline may compute it in its stage")
    if link.frozen(key):
        raise Cannot(f"the {link.consumer.name} stage makes an Invariant output of it")
    if not (flat and _moved_only(stored)) and link.settled(key):
        raise Cannot(f"the {link.consumer.name} stage makes a position or a depth of it")
    if not flat and exact:
        raise Cannot("--exact: interpolation may round where the value does not")
    if not flat:
        asked = Floats.of(link.consumer.module)
        _check_special(stored, slot.width in asked.preserved, asked.fast_math)
        if not rounded.of(link).free(key):
            raise Cannot(rounded.of(link).why(key))
    return stored


def _check_agrees(
    transfer: Transfer, stored: Inst, other: Link, theirs: Transfer, key: int, exact: bool
) -> None:
    """Raise Cannot unless another producer stores the same, too, or nothing at all: then any value
    is right."""
    other.gather()
    if key not in other.stores and key not in other.kept_out:
        return
    there = _movable(other, theirs, key, exact)
    if there is None or not same_value(transfer, stored, theirs, there):
        raise Cannot("another producer of the set stores another value")


def _check_special(stored: Inst, preserved: bool, fast_math: bool) -> None:
    """Raise Cannot if an interpolated value is or may be one that interpolation changes, and (x -
    x) + x is not the answer."""
    bits = types.bits_of(stored)
    if bits is None or stored.type is None or stored.type.op != ops.OpTypeFloat:
        if preserved and fast_math:
            raise Cannot("fast-math decorations ask for infinities, NaNs or zeros")
        return
    width = stored.type.imm[0]
    if not sensitive.finite(stored):
        raise Cannot("interpolation turns an infinity into a NaN")
    if preserved and bits == 1 << (width - 1):
        raise Cannot("interpolation turns a negative zero into a positive one")


def _moved_only(stored: Inst) -> bool:
    """Whether nothing is computed: a constant, or a part of what was loaded."""
    while stored.op == ops.OpCompositeExtract:
        stored = stored.args[0]
    return stored.op == ops.OpLoad or stored.op in types.CONSTANTS


def joint_cost(transfer: Transfer, values: list[Inst]) -> int:
    """The cost of several expressions, what they share counted once."""
    root = Inst(ops.OpCompositeConstruct, None, list(values), ())
    transfer.known[root] = 0
    return transfer.check(root)


def _replace(link: Link, transfer: Transfer, moved: dict[int, Inst], special: set[int]) -> None:
    """Put the expression in front of each load, once a block; that of a ``special`` key as
    interpolation would give it."""
    module = link.consumer.module
    entry = module.entry
    assert entry is not None
    new: list[Inst] = []
    for block in entry.function.blocks:
        if not any(i.op in (LOAD_INPUT, INTERPOLATE) and i.imm[0] in moved for i in block.insts):
            continue
        out: list[Inst] = []
        made: dict[Inst, Inst] = {}
        through: dict[Inst, Inst] = {}
        for inst in block.insts:
            if inst.op in (LOAD_INPUT, INTERPOLATE) and inst.imm[0] in moved:
                copied = transfer.copy(moved[inst.imm[0]], out, made)
                if inst.imm[0] in special:
                    if copied not in through:
                        through[copied] = as_interpolated(module, copied, out)
                    copied = through[copied]
                if copied.type is not inst.type:
                    copied = value(module, ops.OpBitcast, inst.type, [copied], ())
                    out.append(copied)
                become(module, inst, copied)
            else:
                out.append(inst)
        present = set(block.insts)
        new += [inst for inst in out if inst not in present]
        block.insts = out
    sweep(module, entry.function)
    sink(module, new)


def words(transfer: Transfer, stored: Inst) -> str:
    """A moved value for people: a constant's value, or what the expression reads."""
    bits = types.bits_of(stored)
    if bits is not None:
        return f"constant {number(stored, bits)}"
    return "computed there from " + (" and ".join(transfer.reads(stored)) or "constants")


def number(constant: Inst, bits: int) -> str:
    """A scalar constant's value as text."""
    assert constant.type is not None
    if types.is_ieee(constant.type):
        width = constant.type.imm[0]
        code = {16: "<e", 32: "<f", 64: "<d"}[width]
        return f"{struct.unpack(code, bits.to_bytes(width // 8, 'little'))[0]:g}"
    if constant.type.op == ops.OpTypeInt and constant.type.imm[1]:
        width = constant.type.imm[0]
        return str(bits - (1 << width) if bits >> (width - 1) else bits)
    return str(bits)
