"""What a task shader hands to its mesh shaders: a variable of TaskPayloadWorkgroupEXT, linked like
any other interface.

    task:  payload.tint = pc.tint          mesh:  colour[i] = payload.tint * payload.fade
           payload.fade = 1.0                     (payload.unread is not read)
           payload.unread = noise(id)
    ->     EmitMeshTasksEXT(n, 1, 1)              colour[i] = pc.tint

The payload is memory of the task shader's workgroup: each of its invocations may write any of it,
and read it back after a barrier; EmitMeshTasksEXT, itself a barrier, hands all of it over. A mesh
shader only reads it (SPV_EXT_mesh_shader, "Storage Class"). So to the task shader it is what Patch
outputs are to a control shader, accessed in place (``promote``), and to the mesh shader it is an
input that never changes. That is all that the passes over a border rest on: what nobody reads goes
with the code behind it, what every store gives the same constant or uniform value is made by the
mesh shader, equal members are one, and code crosses. A member on which nobody stored is undefined,
as an output is.

While it is linked the payload has Locations, which only number its parts: ``open_payload`` lends
them, and they are gone with ``raise_side``, which makes one struct of all that is left, the same on
both sides: a mesh shader must declare the type that the task shader passes to EmitMeshTasksEXT
(VUID-RuntimeSpirv-MeshEXT "payload" rules; drivers go by offsets, which follow from the type). Each
stage may have one such variable only.

What stays whole are the parts that are indexed dynamically, used by atomics or by functions that
stay, and those that hold no numbers (``lower_io.pin_odd``); each such part alone, an element of an
array or a member of a struct (``agreement``). The whole payload stays if the stages
declare it differently, if the size of an array is a specialization constant, if it is not handed
over by every EmitMeshTasksEXT, and if accesses carry operands of the Vulkan memory model, which
slots do not.

What an invocation reads back of members to which only one constant is ever stored is that constant
(or undefined): ``payload_constants``. Everything else that is read back stays.

There are no Locations to save: members stay in their order, vectors without their dead components.
The report counts 32-bit words as components.
"""

from __future__ import annotations

from spvlink.errors import Broken
from spvlink.facts.decorations import Decorations, Names
from spvlink.facts.effects import root
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Function, Inst, Module, name_of, words_of
from spvlink.ir.edit import annotate, replace_annotations, touched, value
from spvlink.ir.slot import Varying
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.pack import compact
from spvlink.link.pack.placement import Placement
from spvlink.passes.lowering.lower_io import MAX_LOCATION
from spvlink.passes.raising.raise_io import Raise

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

STORAGE: Final = enums.StorageClass_TaskPayloadWorkgroupEXT
_LOCATION: Final = enums.Decoration_Location
# Memory operands that say nothing of who sees what is written.
_HARMLESS: Final = enums.MemoryAccess_Aligned | enums.MemoryAccess_Nontemporal
# opcode -> the position of its memory operands among the immediates
_ACCESSES: Final = frozenset((ops.OpLoad, ops.OpStore, ops.OpCopyMemory, ops.OpCopyMemorySized))
_WRITES: Final = frozenset((ops.OpStore, ops.OpCopyMemory, ops.OpCopyMemorySized))
_NUMBERS: Final = frozenset((ops.OpTypeInt, ops.OpTypeFloat, ops.OpTypeBool))
# Decorations of a part that go with it into the new struct.
_OF_MEMBERS: Final = frozenset((enums.Decoration_RelaxedPrecision,))


class Unlinkable(Exception):
    """Why a payload stays as it is."""


class PayloadSide:
    """The payload of one stage."""

    __slots__ = ("emits", "module", "name", "struct_name", "variable")

    def __init__(self, module: Module) -> None:
        self.module = module
        payloads = variables(module)
        if len(payloads) > 1:
            raise Unlinkable("a stage with several payload variables")
        self.variable = payloads[0] if payloads else None
        self.emits = [
            i for f in module.functions for b in f.blocks for i in b.insts[-1:]
            if i.op == ops.OpEmitMeshTasksEXT
        ]  # fmt: skip
        self.name = self.struct_name = ""
        if self.variable is not None:
            names = Names(module)
            self.name = names.of(self.variable)
            self.struct_name = names.of(_pointee(self.variable))


class Payload:
    """Both sides of a border between a task and a mesh shader. Raises Unlinkable."""

    __slots__ = ("mesh", "task")

    def __init__(self, task: Module, mesh: Module) -> None:
        self.task = PayloadSide(task)
        self.mesh = PayloadSide(mesh)
        given = self.task.variable
        if given is None:
            raise Unlinkable("the task stage declares no payload")
        _described(given)
        if any(len(emit.args) < 4 for emit in self.task.emits) or not self.task.emits:
            raise Unlinkable("the payload is not given to every EmitMeshTasksEXT")
        if self.mesh.variable is not None:
            if _described(given) != _described(self.mesh.variable):
                raise Unlinkable("the stages declare the payload differently")
            _check_accesses(mesh, self.mesh.variable, True)
        _check_accesses(task, given, False)

    def open_payload(self) -> None:
        """Lend it Locations, and take it out of EmitMeshTasksEXT, which would read all of it."""
        for side in (self.task, self.mesh):
            if side.variable is not None:
                Decorations.add(side.module, side.variable, [(_LOCATION, 0)])
        for emit in self.task.emits:
            del emit.args[3:]
        touched(self.task.module)

    def restore(self, module: Module) -> None:
        """One side as it was: the payload is not linked after all."""
        side = self.task if module is self.task.module else self.mesh
        assert side.variable is not None or side is self.mesh
        if side.variable is not None:
            _undecorate(side.module, {side.variable})
            _hand_over(side, side.variable)

    def raise_side(self, link: Link, placement: Placement, is_task: bool) -> None:
        """The slots of one stage as one variable again."""
        side = self.task if is_task else self.mesh
        if side.variable is None:
            return
        interface = link.outputs if is_task else link.inputs
        raised = Raise(side.module, placement.varyings, STORAGE, interface.slots)
        raised.run()
        if [p.variable for p in interface.pinned] == [side.variable]:
            self.restore(side.module)
            return
        parts = [(v.keys[0], raised.variables[id(v)], v.name) for v in placement.varyings]
        parts += [(p.keys[0], p.variable, p.name) for p in interface.pinned]
        if parts:
            made = _assemble(side, [part[1:] for part in sorted(parts, key=lambda p: p[0])])
            _hand_over(side, made)


def variables(module: Module) -> list[Inst]:
    """The payload variables that an entry point lists."""
    assert module.entry is not None
    listed = dict.fromkeys(module.entry.inst.args[1:])
    return [v for v in listed if v.op == ops.OpVariable and v.imm[0] == STORAGE]


def _pointee(variable: Inst) -> Inst:
    assert variable.type is not None
    return variable.type.args[0]


def _described(variable: Inst) -> str:
    """The type of a payload as text, equal for equal types. Raises Unlinkable."""
    if variable.args:
        raise Unlinkable("the payload has an initializer")
    text, parts = _type_text(_pointee(variable))
    if parts > MAX_LOCATION:
        raise Unlinkable(f"the payload has {parts} parts")
    return text


def _type_text(type: Inst) -> tuple[str, int]:
    """A type as text and how many vectors or scalars it has. Raises Unlinkable."""
    if type.op in _NUMBERS:
        return f"{ops.NAMES[type.op]}{type.imm}", 1
    if type.op == ops.OpTypePointer:
        return f"pointer{type.imm}", 1
    if type.op == ops.OpTypeStruct:
        members = [_type_text(member) for member in type.args]
        return "{" + ",".join(m[0] for m in members) + "}", sum(m[1] for m in members)
    if type.op == ops.OpTypeVector:
        wide = 2 if type.imm[0] > 2 and type.args[0].imm == (64,) else 1
        return f"{_type_text(type.args[0])[0]}v{type.imm[0]}", wide
    if type.op not in info.NESTED_TYPES:
        raise Unlinkable("the payload has a type that spvlink does not handle")
    size = types.size_of(type)
    if size <= 0:
        raise Unlinkable("the size of an array in the payload is a specialization constant")
    text, parts = _type_text(type.args[0])
    return f"{text}{'m' if type.op == ops.OpTypeMatrix else 'a'}{size}", size * parts


def _check_accesses(module: Module, variable: Inst, read_only: bool) -> None:
    """Raise Unlinkable for accesses that slots cannot stand for."""
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                if inst.op not in _ACCESSES or all(root(a) is not variable for a in inst.args[:2]):
                    continue
                if any(mask & ~_HARMLESS for mask in inst.imm[:1]):
                    raise Unlinkable("spvlink does not follow the memory semantics of its accesses")
                if read_only and inst.op in _WRITES and root(inst.args[0]) is variable:
                    raise Unlinkable("the mesh stage writes to the payload")


def words(variable: Inst) -> int:
    """The 32-bit words of a payload, as the report counts them; 0 where that is not known."""
    return _words(_pointee(variable))


def _words(type: Inst) -> int:
    if type.op == ops.OpTypeStruct:
        return sum(_words(member) for member in type.args)
    if type.op in info.ELEMENT_TYPES:
        return types.size_of(type) * _words(type.args[0])
    return 2 if type.op == ops.OpTypePointer or type.imm[:1] == (64,) else 1


# -- while it is linked ----------------------------------------------------------------------------


def place(link: Link) -> Placement:
    """What is alive, in its old order; of a vector what is alive of it."""
    link.gather()
    old = compact.in_order(link)
    merged: dict[tuple[int, str, tuple[int, ...]], Varying] = {}
    kept: list[Varying] = []
    for varying in old.varyings:
        kind = (link.group(varying.keys[0]), varying.base, varying.qualifiers)
        first = merged.get(kind)
        if first is None or len(first.keys) + len(varying.keys) > 4:
            kept.append(varying)
            merged[kind] = varying
            continue
        first.keys += varying.keys
    return Placement(kept, old.moved, set())


def totals(link: Link, placement: Placement) -> tuple[int, int]:
    """Words before and after."""
    pinned = sum(len(p.keys) for p in link.outputs.pinned)
    return link.outputs.components, sum(v.components for v in placement.varyings) + pinned


# -- variables again -------------------------------------------------------------------------------


def _assemble(side: PayloadSide, parts: list[tuple[Inst, str]]) -> Inst:
    """One variable, a struct of these; all accesses go to its members."""
    module = side.module
    assert module.entry is not None
    struct = value(module, ops.OpTypeStruct, None, [_pointee(v) for v, _ in parts], ())
    module.globals.append(struct)
    pointer = types.pointer(module, STORAGE, struct)
    made = value(module, ops.OpVariable, pointer, [], (STORAGE,))
    module.globals.append(made)
    _name_all(side, struct, made, [name for _, name in parts])
    tables = Decorations.of(module)
    notes = [
        Inst(ops.OpMemberDecorate, None, [struct], (at, *words))
        for at, (variable, _) in enumerate(parts)
        for words in tables.targets.get(variable, ())
        if words[0] in _OF_MEMBERS
    ]
    _undecorate(module, {v for v, _ in parts})
    annotate(module, notes)
    members = {v: at for at, (v, _) in enumerate(parts)}
    for function in module.functions:
        _redirect(module, function, made, members)
    entry = module.entry.inst
    listed = [v for v in entry.args[1:] if v not in members]
    entry.args = [entry.args[0], *listed, made]
    touched(module)
    return made


def _name_all(side: PayloadSide, struct: Inst, made: Inst, names: list[str]) -> None:
    """Names as they were, as far as there were any."""
    notes = side.module.names
    for target, name in ((struct, side.struct_name), (made, side.name)):
        if name:
            notes.append(name_of(ops.OpName, target, words_of(name)))
    for at, name in enumerate(names):
        short = name.removeprefix(f"{side.name}.")
        if short:
            notes.append(name_of(ops.OpMemberName, struct, (at, *words_of(short))))


def _redirect(module: Module, function: Function, made: Inst, members: dict[Inst, int]) -> None:
    """Every pointer into a part goes to the member; where more than an access chain refers to the
    part, a pointer to the member is made at the beginning."""
    number = types.integer(module, 32, True)
    pointers: dict[Inst, Inst] = {}

    def pointer_to(part: Inst) -> Inst:
        if part not in members:
            return part
        pointer = pointers.get(part)
        if pointer is None:
            index = types.constant(module, number, members[part])
            pointer = value(module, ops.OpAccessChain, part.type, [made, index], ())
            pointers[part] = pointer
        return pointer

    for block in function.blocks:
        for inst in block.insts:
            if not any(a in members for a in inst.args):
                continue
            if IS_CHAIN[inst.op]:
                index = types.constant(module, number, members[inst.args[0]])
                inst.args = [made, index, *inst.args[1:]]
            else:
                inst.args = [pointer_to(a) for a in inst.args]
    if pointers:
        insts = function.blocks[0].insts
        at = 0
        while insts[at].op in (ops.OpVariable, ops.OpLine, ops.OpNoLine):
            at += 1
        insts[at:at] = pointers.values()


def _hand_over(side: PayloadSide, variable: Inst) -> None:
    for emit in side.emits:
        emit.args[3:] = [variable]
    touched(side.module)


def _undecorate(module: Module, targets: set[Inst]) -> None:
    """Without the Locations, and all that came with them."""
    replace_annotations(module, [
        i for i in module.annotations
        if not (
            i.op == ops.OpDecorate and i.args[0] in targets
            and i.imm[0] in (_LOCATION, enums.Decoration_Component)
        )
    ])  # fmt: skip


def check(task: Module, mesh: Module) -> None:
    """Raise Broken if the two modules do not fit: the mesh shader declares what the task shader
    passes on, or nothing. Reads the finished modules afresh."""
    given, wanted = variables(task), variables(mesh)
    if len(given) > 1 or len(wanted) > 1:
        raise Broken("a stage has several payload variables")
    emits = [
        i for f in task.functions for b in f.blocks for i in b.insts
        if i.op == ops.OpEmitMeshTasksEXT
    ]  # fmt: skip
    if any(emit.args[3:] not in ([], given) for emit in emits):
        raise Broken("EmitMeshTasksEXT is given another payload than the task stage declares")
    if not wanted:
        return
    if not given or any(len(emit.args) < 4 for emit in emits):
        raise Broken("the mesh stage has a payload that the task stage does not pass on")
    try:
        fits = _described(given[0]) == _described(wanted[0])
    except Unlinkable as why:
        raise Broken(str(why)) from None
    if not fits:
        raise Broken("the task and the mesh stage declare the payload differently")


def kept(stage: Stage) -> list[tuple[str, int]]:
    """(name, words) of the payload variables of a stage whose payload stays as it is."""
    names = Names(stage.module)
    return [(names.of(v) or f"%{v.id}", words(v)) for v in variables(stage.module)]
