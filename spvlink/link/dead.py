"""Dead varyings, by component and both ways.

    producer stores 2.w, no consumer loads it     ->  the store goes, with the code behind it
    consumer loads 5.x, no producer stores it     ->  the load is zero

A slot is alive if an instruction says so, not if a declaration does: the code was cleaned before
(dead code elimination by component), so a load that is still there has a use. An input that nothing
writes is undefined by Vulkan ("Shader Input and Output Interfaces"); zero is one of the values it
may have, and unlike OpUndef it is the same at every use. What the fixed functions or transform
feedback consume is no slot (built-ins) or stays (captured ones).
"""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.facts.calls import Calls
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects, root
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_OUTPUT, STORE_OUTPUT, Inst, Module
from spvlink.ir.edit import become, sweep, value
from spvlink.ir.slot import Pinned, Slot
from spvlink.link import wholes
from spvlink.link.border import IN_PLACE, Link, Stage
from spvlink.passes.dce import TRIMMED
from spvlink.passes.lower_io import CAPTURED

# Reasons to stay whole that say that somebody besides the next stage may read it.
_OTHERS_READ = ("transform feedback", "passed through")


def run(link: Link) -> bool:
    """Remove what is dead at this border now; whether anything changed (cleaning up may bring more
    to light)."""
    if link.in_place and drop_overwritten(link.producer):
        return True
    link.gather()
    if drop_undefined(link):
        return True
    unread = link.stores.keys() - link.loads.keys()
    unwritten = link.loads.keys() - link.stores.keys()
    if link.read_back:
        for key in unread & link.read_back.keys():
            link.notes[key] = f"the {link.producer.name} stage reads it back"
        unread -= link.read_back.keys()
    if link.outputs.captured:
        link.notes.update({k: CAPTURED for k in link.outputs.captured if k not in link.loads})
        unread -= link.outputs.captured.keys()
    if unread:
        remove_stores(link.producer, unread)
        for key in unread:
            link.fate[key] = ("removed", f"the {link.consumer.name} stage does not read it")
    if unwritten:
        for key in unwritten:
            for load in link.loads[key]:
                zero(link.consumer, load)
            link.fate[key] = (
                "undefined",
                f"the {link.producer.name} stage never writes it; read as zero",
            )
        function = link.consumer.module.entry
        assert function is not None
        sweep(link.consumer.module, function.function)
    lost: list[int] = []
    if link.read_back:
        lost = [k for k in link.read_back if k not in link.stores]
    for key in lost:  # the producer itself reads what nobody wrote
        for load in link.read_back[key]:
            zero(link.producer, load)
    if lost:
        entry = link.producer.module.entry
        assert entry is not None
        sweep(link.producer.module, entry.function)
        link.producer.module.facts[TRIMMED] = (0, True)  # to be simplified
    zeroed = wholes.read_as_zero(link)
    idle: list[tuple[Pinned, Pinned | None]] = []
    whole: list[Pinned] = []
    if link.outputs.pinned:
        idle = [(a, b) for a, b in link.pinned() if _idle(link, a, b)]
        whole = [a for a, _ in idle if _drop(link.producer, a.variable)]
    for out, twin in idle:
        # What is read back the consumer need not declare, unless it is part of a payload.
        if twin is not None and out not in whole and link.producer.name != "task":
            link.inputs.pinned.remove(twin)
            link.kept_in -= set(twin.keys)
            link.inputs.variables.append(twin.variable)
    for pinned in whole:
        link.outputs.pinned.remove(pinned)
        link.inputs.pinned = [p for p in link.inputs.pinned if p.keys != pinned.keys]
        link.outputs.variables.append(pinned.variable)
        link.kept_out -= set(pinned.keys)
        link.kept_in -= set(pinned.keys)
        link.gone.append(pinned)
        for key in pinned.keys:
            link.fate[key] = ("removed", f"the {link.consumer.name} stage does not read it")
    return bool(unread or unwritten or lost or zeroed or whole)


def drop_undefined(link: Link) -> bool:
    """Delete stores of an undefined value: what was there, or nothing, is one as well. Whether
    there were any."""
    undef = ops.OpUndef
    if not any([s.args[0].op == undef for stores in link.stores.values() for s in stores]):
        return False
    entry = link.producer.module.entry
    assert entry is not None
    for block in entry.function.blocks:
        block.insts = [i for i in block.insts if i.op != STORE_OUTPUT or i.args[0].op != undef]
    link.producer.module.version += 1
    return True


def drop_overwritten(stage: Stage) -> bool:
    """Delete stores in place that the same block stores over before anybody can have looked;
    whether there were any. What they wait for is read back, or anything with an effect."""
    module = stage.module
    assert module.entry is not None
    effects = Effects.of(module)
    found = False
    for block in module.entry.function.blocks:
        if not any(i.op == STORE_OUTPUT for i in block.insts):
            continue
        later: dict[int, list[list[Inst]]] = {}  # key -> vertices that are stored to from here on
        out: list[Inst] = []
        for inst in reversed(block.insts):
            if inst.op == STORE_OUTPUT:
                stored = later.setdefault(inst.imm[0], [])
                if inst.args[1:] in stored:
                    continue
                stored.append(inst.args[1:])
            elif inst.op == LOAD_OUTPUT:
                later.pop(inst.imm[0], None)
            elif inst.op != ops.OpPhi and not effects.flags(inst) & info.REMOVABLE:
                later = {}
            out.append(inst)
        if len(out) != len(block.insts):
            block.insts = out[::-1]
            found = True
    if found:
        module.version += 1
    return found


def _drop(producer: Stage, variable: Inst) -> bool:
    """Do without an output that stays whole; where it is read back, it becomes a local variable, if
    nobody else could have read it."""
    if drop_whole(producer, variable):
        return True
    return producer.name not in IN_PLACE and wholes.make_local(producer, variable)


def check_types(link: Link) -> None:
    """Raise BadSpirv where a component that is read is written as another kind of number (Vulkan
    07754). Signedness is no matter: the bits are the same, and both sides come out with the
    consumer's type."""
    written = link.outputs.slots
    if any([slot.width == 64 for slot in written.values()]):
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
                f"{slot.name or 'an input'} at Location {key >> 3} is read as {_kind(slot)}"
                f" and written by the {link.producer.name} stage as {_kind(other)}"
            )


def _kind(slot: Slot) -> str:
    return f"{'float' if slot.type.op == ops.OpTypeFloat else 'int'}{slot.width}"


def _idle(link: Link, out: Pinned, twin: Pinned | None) -> bool:
    """Whether a variable that stays whole on the producer's side is read by nothing on the
    other."""
    if out not in link.outputs.pinned or any(word in out.why for word in _OTHERS_READ):
        return False
    if twin is None:
        return not any(k in link.kept_in for k in out.keys)
    return not uses(link.consumer.module, twin.variable)


def uses(module: Module, variable: Inst) -> list[Inst]:
    """Instructions that refer to a variable, in functions that the entry point comes to: others go
    with their last call."""
    entry = module.entry
    assert entry is not None
    functions = [entry.function, *Calls.of(module).functions]
    return [i for f in functions for b in f.blocks for i in b.insts if variable in i.args]


def drop_whole(stage: Stage, variable: Inst) -> bool:
    """Delete all stores to a variable, unless something else is done with it."""
    entry = stage.module.entry
    assert entry is not None
    stores: set[Inst] = set()
    for function in stage.module.functions:
        for block in function.blocks:
            for inst in block.insts:
                for at, arg in enumerate(inst.args):
                    if root(arg) is not variable:
                        continue
                    if inst.op == ops.OpStore and at == 0:
                        stores.add(inst)
                    elif inst.op not in (ops.OpAccessChain, ops.OpInBoundsAccessChain):
                        return False
    for function in stage.module.functions:
        for block in function.blocks:
            block.insts = [i for i in block.insts if i not in stores]
    stage.module.version += 1
    return True


def remove_stores(stage: Stage, keys: set[int]) -> None:
    """Delete every STORE_OUTPUT of these keys."""
    entry = stage.module.entry
    assert entry is not None
    for block in entry.function.blocks:
        block.insts = [i for i in block.insts if i.op != STORE_OUTPUT or i.imm[0] not in keys]
    stage.module.version += 1


def zero(stage: Stage, load: Inst) -> None:
    """A load becomes the zero of its type."""
    assert load.type is not None
    become(stage.module, load, types.null(stage.module, load.type))


def sample_rate_reasons(module: Module, listed: bool = False) -> list[str]:
    """What makes a fragment shader run once per sample: each variable it uses statically that is
    Sample-qualified or one of the built-ins that say so (Vulkan, "Sample Shading"). ``listed``: it
    is enough that the entry point lists it, which is all that Mesa looks at."""
    tables = Decorations.of(module)
    entry = module.entry
    assert entry is not None
    reasons: list[str] = []
    for variable in entry.inst.args[1:]:
        if variable.imm[0] != enums.StorageClass_Input:
            continue
        words = tables.targets.get(variable, [])
        struct = variable.type.args[0] if variable.type is not None else None
        if struct is not None and struct.op == ops.OpTypeStruct:
            for index in range(len(struct.args)):
                words = words + tables.members.get((struct, index), [])
        for word in words:
            if word[0] == enums.Decoration_Sample or (
                word[0] == enums.Decoration_BuiltIn and word[1] in info.SAMPLE_RATE_BUILTINS
            ):
                if listed or uses(module, variable):
                    reasons.append(f"%{variable.id}")
                break
    return reasons


def keep_sample_rate(stage: Stage) -> None:
    """If the original ran once per sample and nothing is left that says so, a load of SampleId says
    it."""
    if not stage.per_sample or sample_rate_reasons(stage.module):
        return
    module = stage.module
    entry = module.entry
    assert entry is not None
    storage = enums.StorageClass_Input
    number = types.integer(module, 32, True)
    variable = value(module, ops.OpVariable, types.pointer(module, storage, number), [], [storage])
    module.globals.append(variable)
    for words in ([enums.Decoration_BuiltIn, enums.BuiltIn_SampleId], [enums.Decoration_Flat]):
        module.annotations.append(Inst(ops.OpDecorate, None, [variable], words))
    entry.inst.args.append(variable)
    block = entry.function.blocks[0]
    # lines may stand before and between variables
    at = 1 + max([n for n, i in enumerate(block.insts) if i.op == ops.OpVariable], default=-1)
    block.insts.insert(at, value(module, ops.OpLoad, number, [variable], []))
    module.version += 1
