"""Remove dead varyings, component by component, on both sides.

    producer stores 2.w, no consumer loads it     ->  the store goes, with the code behind it
    consumer loads 5.x, no producer stores it     ->  the load is zero

Why it is right. An instruction keeps a slot alive, a declaration does not: dead code elimination by
component ran before, so a load that remains has a use. An input that nothing writes is undefined
in Vulkan ("Shader Input and Output Interfaces"). Zero is one of the values that it may have, and
unlike OpUndef it is the same at every use.

What breaks it. Fixed functions and transform feedback: built-ins are no slots, and captured outputs
stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir.core import STORE_OUTPUT, Inst
from spvlink.ir.edit import sweep, touched
from spvlink.ir.slot import Slot, shown
from spvlink.link.border.edit import remove_stores, zero
from spvlink.link.border.link import CONSUMER, PRODUCER, Link
from spvlink.link.dead import unused_arrays
from spvlink.link.dead.overwritten import drop_overwritten
from spvlink.link.dead.whole_variables import drop_or_localize, is_idle
from spvlink.passes.lowering.captures import CAPTURED_WHY
from spvlink.pipeline import REMOVED, UNDEFINED


def dead_varyings(link: Link) -> bool:
    """Remove what is dead at this border now; whether anything changed (cleaning up may bring more
    to light)."""
    if link.in_place and drop_overwritten(link.producer):
        return True
    link.gather()
    if drop_undefined(link):
        return True
    if link.fixed == PRODUCER:
        return _read_as_zero(link)
    dead = unread(link)
    if dead:
        remove_stores(link.producer, dead)
        for key in dead:
            slot = link.inputs.slots.get(key)
            variable = slot.variable if slot is not None else None
            link.remarks.fate[key] = (REMOVED, _unneeded(link, variable))
    if link.fixed == CONSUMER:
        return bool(dead)
    unwritten = _read_as_zero(link)
    lost = read_back_as_zero(link)
    zeroed = unused_arrays.read_as_zero(link)
    whole = _remove_whole(link) if link.outputs.pinned else False
    return bool(dead or unwritten or lost or zeroed or whole)


def unread(link: Link) -> set[int]:
    """What is stored for nobody."""
    keys = link.stores.keys() - link.loads.keys()
    if link.read_back:
        for key in keys & link.read_back.keys():
            link.remarks.notes[key] = f"the {link.producer.name} stage reads it back"
        keys -= link.read_back.keys()
    if link.outputs.captured:
        link.remarks.notes.update(
            {k: CAPTURED_WHY for k in link.outputs.captured if k not in link.loads}
        )
        keys -= link.outputs.captured.keys()
    if link.relied:
        why = f"the {link.consumer.name} stage stays as it is and relies on this value"
        link.remarks.notes.update(dict.fromkeys(keys & link.relied, why))
        keys -= link.relied
    return keys


def _read_as_zero(link: Link) -> bool:
    """What the consumer reads and nobody writes is zero; whether there was any."""
    unwritten = link.loads.keys() - link.stores.keys()
    zero_loads(link, unwritten)
    why = f"the {link.producer.name} stage never writes it; read as zero"
    link.remarks.fate.update(dict.fromkeys(unwritten, (UNDEFINED, why)))
    return bool(unwritten)


def zero_loads(link: Link, keys: set[int]) -> None:
    """The consumer reads these as zero."""
    for key in keys:
        for load in link.loads[key]:
            zero(link.consumer, load)
    if keys:
        entry = link.consumer.module.entry
        assert entry is not None
        sweep(link.consumer.module, entry.function)


def read_back_as_zero(link: Link) -> bool:
    """So is what the producer itself reads."""
    lost = [k for k in link.read_back if k not in link.stores]
    for key in lost:
        for load in link.read_back[key]:
            zero(link.producer, load)
    if lost:
        entry = link.producer.module.entry
        assert entry is not None
        sweep(link.producer.module, entry.function)
        link.producer.trimmed = True
    return bool(lost)


def _remove_whole(link: Link) -> bool:
    """Variables that stayed whole, and that nobody reads; whether one went."""
    idle = [(a, b) for a, b in link.pinned() if is_idle(link, a, b)]
    whole = [a for a, _ in idle if drop_or_localize(link.producer, a.variable)]
    why = {a: _unneeded(link, None if b is None else b.variable) for a, b in idle}
    for out, twin in idle:
        # What is read back the consumer need not declare, unless it is part of a payload.
        if twin is not None and out not in whole and link.producer.name != "task":
            link.inputs.pinned.remove(twin)
            link.inputs.variables.append(twin.variable)
    for pinned in whole:
        link.outputs.pinned.remove(pinned)
        link.inputs.pinned = [p for p in link.inputs.pinned if p.keys != pinned.keys]
        link.outputs.variables.append(pinned.variable)
        link.gone.append(pinned)
        for key in pinned.keys:
            link.remarks.fate[key] = (REMOVED, why[pinned])
    return bool(whole)


def _unneeded(link: Link, variable: Inst | None) -> str:
    """Why a consumer does not read what it declares as this variable, or does not declare."""
    lost = link.consumer.lost
    if variable is not None and variable in lost:
        return lost[variable]
    return f"the {link.consumer.name} stage does not read it"


def drop_undefined(link: Link) -> bool:
    """Delete stores of an undefined value: what was there, or nothing, is one as well. Whether
    there were any."""
    undef = ops.OpUndef
    if not any(s.args[0].op == undef for stores in link.stores.values() for s in stores):
        return False
    entry = link.producer.module.entry
    assert entry is not None
    for block in entry.function.blocks:
        block.insts = [i for i in block.insts if i.op != STORE_OUTPUT or i.args[0].op != undef]
    touched(link.producer.module)
    return True


def check_types(link: Link) -> None:
    """Raise BadSpirv where a component that is read is written as another kind of number (Vulkan
    07754). Signedness is no matter: the bits are the same, and both sides come out with the
    consumer's type."""
    written = link.outputs.slots
    if any(slot.width == 64 for slot in written.values()):
        written = {k: slot for slot in written.values() for k in slot.covered()}
    for key in sorted(link.loads):
        slot = link.inputs.slots[key]
        twin = written.get(key)
        if twin is not None and slot.width == 32 == twin.width and slot.type.op == twin.type.op:
            continue  # nearly all
        for part in slot.covered():
            other = written.get(part)
            if other is None or (other.key == key and _kind(other) == _kind(slot)):
                continue
            raise BadSpirv(
                f"{slot.name or 'an input'} at Location {shown(key >> 3)} is read as {_kind(slot)}"
                f" and written by the {link.producer.name} stage as {_kind(other)}"
            )


def _kind(slot: Slot) -> str:
    return f"{'float' if slot.type.op == ops.OpTypeFloat else 'int'}{slot.width}"
