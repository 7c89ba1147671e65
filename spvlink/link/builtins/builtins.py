"""Link the built-ins that one stage writes and the next stage reads.

    VS:  OpStore %gl_Position %p            OpStore %gl_Position %p;  OpStore %copy %p
         OpReturn                     ->    %q = OpLoad %copy; STORE_OUTPUT key %q.x ...; OpReturn
    GS:  %r = OpLoad %gl_in[i].0      ->    %x = LOAD_INPUT key i ...; %r = OpCompositeConstruct ...

Each such built-in gets slots of its own, in a second Link of the border (``Link.built``), with keys
beyond all Locations. The producer stores each value twice: in the built-in and in the slot. The
consumer reads the slot. So the passes that know constants, duplicates and unwritten varyings
(``dead``, ``dedup``, ``propagate``) treat built-ins by the same rules. No other pass sees these
slots. ``closing`` removes them at the end.

``%copy`` is a local variable, which promotion turns into values. Control and mesh shaders store
where other invocations may see it, so there the slot is stored right behind the built-in. If a
control shader reads its own built-in back, that read becomes LOAD_OUTPUT, as for a varying.

Why it is right. Built-ins are stored as before, so fixed functions see no change. A slot holds the
value that the next stage reads, bit for bit. Only ClipDistance and CullDistance of a fragment
shader are interpolated (Vulkan, "Built-In Variables"); their slots have a qualifier that no varying
has, so no other slot replaces them.

What breaks it. These built-ins stay without slots: those with a dynamic index or a pointer that
reaches a function (``side``), those that the two stages declare with different types, and unwritten
ones that views may choose (multiview).

Cost. None: ``closing`` removes the slots again.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import (
    CAPABILITIES,
    LOAD_INPUT,
    LOAD_OUTPUT,
    STORE_OUTPUT,
    Block,
    Inst,
    Module,
)
from spvlink.ir.debug import noted
from spvlink.ir.edit import become, sweep, touched, value
from spvlink.ir.slot import BUILTIN_KEYS, Interface, Slot, builtin_key
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.builtins.side import LEVELS, NAMES, PRIMITIVE_NUMBER, BuiltinAccess, Holder, Side
from spvlink.passes.lowering.memory_access import extract

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_DISTANCES: Final = frozenset((enums.BuiltIn_ClipDistance, enums.BuiltIn_CullDistance))
_VERTEX: Final = _DISTANCES | {enums.BuiltIn_Position, enums.BuiltIn_PointSize}
_FRAGMENT: Final = _DISTANCES | {
    enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex, PRIMITIVE_NUMBER,
}  # fmt: skip
# What crosses a border, by its consumer.
CROSSING: Final[dict[str, frozenset[int]]] = {
    "tesc": _VERTEX,
    "tese": _VERTEX | LEVELS,
    "geom": _VERTEX,
    "frag": _FRAGMENT,
}
_SAID_BY_PRODUCER: Final = frozenset(("geom", "mesh"))  # which primitive it is


class BuiltIns(Link):
    """The built-ins that cross a border, as slots."""

    __slots__ = ("asked", "constants", "into", "obstacles", "out", "same")

    def __init__(self, producer: Stage, consumer: Stage, out: Side, into: Side) -> None:
        sides = Interface(), Interface()
        Link.__init__(self, producer, consumer, sides, (BUILTIN_KEYS, 2 * BUILTIN_KEYS))
        self.out = out.holders
        self.into = into.holders
        self.obstacles: dict[int, str] = {}  # built-ins that are read and left alone -> why
        self.asked: list[int] = []  # keys that the consumer read when it came
        # keys that all invocations store -> the bits of a constant
        self.constants: dict[int, int] = {}
        self.same: dict[int, int] = {}  # keys -> those that are read in their place


def reads(link: Link) -> bool:
    """Whether there may be something to open at a border: most fragment shaders read none of
    this."""
    wanted = CROSSING.get(link.consumer.name, frozenset())
    if not wanted:
        return False
    for note in link.consumer.module.annotations:
        words = note.imm  # those of a member begin with its number
        if len(words) > 1 and words[-2] == enums.Decoration_BuiltIn and words[-1] in wanted:
            return True
    return link.producer.name == "tesc"


def builtins(link: Link, many_views: bool) -> BuiltIns | None:
    """Open what crosses at a border; None if nothing does. Promotion and a cleaning of both stages
    come next. ``many_views``: there may be several."""
    wanted = CROSSING[link.consumer.name]
    if link.producer.name not in _SAID_BY_PRODUCER:
        wanted -= {PRIMITIVE_NUMBER}
    producer, consumer = link.producer.module, link.consumer.module
    out = Side(producer, enums.StorageClass_Output, wanted)
    into = Side(consumer, enums.StorageClass_Input, wanted)
    back = {a.holder.builtin for a in out.loads} if link.producer.name == "tesc" else set[int]()
    read = {a.holder.builtin for a in into.loads} | into.obstacles.keys()
    stored = {a.holder.builtin for a in out.stores} | out.obstacles.keys()
    built = BuiltIns(link.producer, link.consumer, out, into)
    for builtin in sorted(read | back):
        why = out.obstacles.get(builtin) or into.obstacles.get(builtin) or ""
        if builtin not in stored and not why:
            why = _unwritten(link, builtin, many_views)
        if not why:
            why = _misfit(out.holders.get(builtin), into.holders.get(builtin))
        if why:
            built.obstacles[builtin] = why
    chosen = (read | back) - built.obstacles.keys()
    if not chosen and not built.obstacles:
        return None
    for builtin in sorted(chosen):
        _declare(built, builtin)
    if back & chosen:
        _open_loads(producer, [a for a in out.loads if a.holder.builtin in chosen], LOAD_OUTPUT)
    _open_loads(consumer, [a for a in into.loads if a.holder.builtin in chosen], LOAD_INPUT)
    built.gather()
    built.asked = sorted(built.loads)
    stores = [a for a in out.stores if a.holder.builtin in chosen]
    loads = [a for a in out.loads if a.holder.builtin in chosen]
    _open_stores(link.producer, stores, loads, frozenset((*built.loads, *built.read_back)))
    return built


def _unwritten(link: Link, builtin: int, many_views: bool) -> str:
    """Why it is not known what is read of a built-in that nobody writes, or an empty string."""
    if builtin == PRIMITIVE_NUMBER:
        return f"the {link.producer.name} stage never writes it"
    if builtin == enums.BuiltIn_Layer and many_views:
        return "it is not written, and it may be the number of the view (multiview)"
    if builtin == enums.BuiltIn_ViewportIndex:
        if many_views:
            return "it is not written, and the view may choose it (multiviewPerViewViewports)"
        capabilities = link.producer.module.sections[CAPABILITIES]
        if any(c.imm[0] == enums.Capability_ShaderViewportMaskNV for c in capabilities):
            return "it is not written, and a viewport mask may choose it"
    return ""


def _misfit(out: Holder | None, into: Holder | None) -> str:
    """Why the two sides of a border do not fit, or an empty string. Arrays may have two sizes: of
    what one side lacks the other has the rest."""
    if out is None or into is None:
        return ""
    fits = out.scalar.op == into.scalar.op and out.type.op == into.type.op
    return "" if fits else "the two stages declare it with different types"


def _declare(built: BuiltIns, builtin: int) -> None:
    """The slots of a built-in, on both sides."""
    out, into = built.out.get(builtin), built.into.get(builtin)
    qualifiers = _qualifiers(built, builtin)
    for holder, side in ((out, built.outputs), (into, built.inputs)):
        if holder is None:
            continue
        relaxed = holder.has(enums.Decoration_RelaxedPrecision)
        invariant = side is built.outputs and holder.has(enums.Decoration_Invariant)
        extras = ((enums.Decoration_Invariant,),) if invariant else ()
        for number in range(holder.size):
            key = builtin_key(builtin, number)
            name = NAMES[builtin]
            if holder.type.op == ops.OpTypeArray:
                name += f"[{number}]"
            elif holder.type.op == ops.OpTypeVector:
                name += f".{'xyzw'[number]}"
            side.slots[key] = Slot(
                key, holder.scalar, holder.variable, name, number, builtin, "", qualifiers,
                relaxed, extras, holder.length,
            )  # fmt: skip


def _qualifiers(built: BuiltIns, builtin: int) -> tuple[int, ...]:
    """How the consumer reads a built-in: as varyings that come over to the bit, or in a way of its
    own."""
    if builtin in LEVELS:
        return (enums.Decoration_Patch,)
    if built.consumer.name != "frag":
        return ()
    if builtin in _DISTANCES:
        return (enums.Decoration_BuiltIn,)
    flat = [enums.Decoration_Flat]
    if built.producer.name == "mesh":
        flat.append(enums.Decoration_PerPrimitiveEXT)
    return tuple(sorted(flat))


def _open_stores(
    stage: Stage, stores: list[BuiltinAccess], loads: list[BuiltinAccess], wanted: frozenset[int]
) -> None:
    """``loads``: what the producer reads back; ``wanted``: the keys that somebody reads."""
    if not stores:
        return
    if stage.name in ("tesc", "mesh"):
        _store_in_place(stage.module, stores, wanted)
    else:
        _store_at_ends(stage, stores, loads, wanted)


def _store_in_place(module: Module, stores: list[BuiltinAccess], wanted: frozenset[int]) -> None:
    """Store the slots where the built-ins are stored."""
    assert module.entry is not None
    accesses = {access.inst: access for access in stores}
    for block in module.entry.function.blocks:
        if accesses.keys().isdisjoint(block.insts):
            continue
        out: list[Inst] = []
        for inst in block.insts:
            out.append(inst)
            if inst in accesses:
                access = accesses[inst]
                vertex = [access.vertex] if access.vertex is not None else []
                out += _stores(access, inst.args[1], vertex, module, wanted)
        block.insts = out
    touched(module)


def _stores(
    access: BuiltinAccess, stored: Inst, vertex: list[Inst], module: Module, wanted: frozenset[int]
) -> list[Inst]:
    """STORE_OUTPUT of each component of a value, from the access's first one on."""
    out: list[Inst] = []
    holder = access.holder
    assert stored.type is not None
    single = types.is_scalar(stored.type)
    for number in range(1 if single else types.size_of(stored.type)):
        key = builtin_key(holder.builtin, access.first + number)
        if key in wanted:
            part = stored
            if not single:
                part = extract(module, stored, (number,), holder.scalar, out)
            out.append(Inst(STORE_OUTPUT, None, [part, *vertex], (key,)))
    return out


def _store_at_ends(
    stage: Stage, stores: list[BuiltinAccess], loads: list[BuiltinAccess], wanted: frozenset[int]
) -> None:
    """Keep a copy of each built-in in a local variable, and store the slots of it where a vertex is
    done. What is read back is read from the copy."""
    module = stage.module
    assert module.entry is not None
    blocks = module.entry.function.blocks
    copies: dict[Holder, Inst] = {}
    storage = enums.StorageClass_Function
    for access in stores:
        if access.holder not in copies:
            pointer = types.pointer(module, storage, access.holder.type)
            copies[access.holder] = value(module, ops.OpVariable, pointer, [], (storage,))
    accesses = {access.inst: access for access in stores}
    back = {access.inst: access for access in loads if access.holder in copies}
    for block in blocks:
        out: list[Inst] = []
        for inst in block.insts:
            if inst in back:
                pointer = _part(module, back[inst], copies[back[inst].holder], inst.type, out)
                inst.args = [pointer, *inst.args[1:]]
            ends = _is_end(module, stage, inst)
            if ends:
                _store_copies(module, copies, wanted, out)
            out.append(inst)
            if ends and stage.name == "geom":  # undefined from here on (OpEmitVertex)
                for holder, copy in copies.items():
                    none = types.undef(module, holder.type)
                    out.append(Inst(ops.OpStore, None, [copy, none], ()))
            if inst in accesses:
                _copy(module, accesses[inst], copies[accesses[inst].holder], out)
        block.insts = out
    blocks[0].insts[:0] = copies.values()
    touched(module)


def _is_end(module: Module, stage: Stage, inst: Inst) -> bool:
    """Whether what is stored goes out here."""
    if stage.name == "geom":
        return Calls.of(module).does(inst, info.EMITS)
    return inst.op == ops.OpReturn


def _copy(module: Module, access: BuiltinAccess, copy: Inst, out: list[Inst]) -> None:
    """Store in the copy what an access stores in the built-in."""
    stored = access.inst.args[1]
    pointer = _part(module, access, copy, stored.type, out)
    out.append(Inst(ops.OpStore, None, [pointer, stored], ()))


def _part(
    module: Module, access: BuiltinAccess, copy: Inst, type: Inst | None, out: list[Inst]
) -> Inst:
    """A pointer to the part of a copy that an access is about."""
    if type is access.holder.type:
        return copy
    pointer = types.pointer(module, enums.StorageClass_Function, access.holder.scalar)
    number = types.constant(module, types.integer(module, 32, True), access.first)
    out.append(value(module, ops.OpAccessChain, pointer, [copy, number], ()))
    return out[-1]


def _store_copies(
    module: Module, copies: dict[Holder, Inst], wanted: frozenset[int], out: list[Inst]
) -> None:
    for holder, copy in copies.items():
        whole = value(module, ops.OpLoad, holder.type, [copy], ())
        out.append(whole)
        out += _stores(BuiltinAccess(whole, holder, None, 0), whole, [], module, wanted)


def _open_loads(module: Module, loads: list[BuiltinAccess], op: int) -> None:
    """Loads of built-ins become loads of slots."""
    if not loads:
        return
    assert module.entry is not None
    accesses = {access.inst: access for access in loads}
    for block in module.entry.function.blocks:
        if not accesses.keys().isdisjoint(block.insts):
            _open_block(module, block, accesses, op)
    sweep(module, module.entry.function)


def _open_block(module: Module, block: Block, accesses: dict[Inst, BuiltinAccess], op: int) -> None:
    debug = noted(module)
    out: list[Inst] = []
    for inst in block.insts:
        if inst not in accesses:
            out.append(inst)
            continue
        access, mark = accesses[inst], len(out)
        made = _loads(module, access, inst.type, op, out)
        if debug is not None:
            debug.all_like(out[mark:], inst)
        become(module, inst, made)
    block.insts = out


def _loads(
    module: Module, access: BuiltinAccess, type: Inst | None, op: int, out: list[Inst]
) -> Inst:
    """The value that an access loads, made of loads of slots."""
    holder = access.holder
    assert type is not None
    if holder.length is not None and access.vertex is None:  # of all vertices
        parts: list[Inst] = []
        for number in range(types.size_of(type)):
            vertex = types.constant(module, types.integer(module), number)
            one = BuiltinAccess(access.inst, holder, vertex, 0)
            parts.append(_loads(module, one, holder.type, op, out))
    else:
        vertices = [access.vertex] if access.vertex is not None else []
        size = 1 if types.is_scalar(type) else types.size_of(type)
        keys = [builtin_key(holder.builtin, access.first + n) for n in range(size)]
        parts = [value(module, op, holder.scalar, list(vertices), (key,)) for key in keys]
        out += parts
        if types.is_scalar(type):
            return parts[0]
    out.append(value(module, ops.OpCompositeConstruct, type, parts, ()))
    return out[-1]
