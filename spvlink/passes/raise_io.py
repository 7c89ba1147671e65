"""Scalar slots become variables again, declared alike on both sides.

    STORE_OUTPUT 8 %a; STORE_OUTPUT 10 %b   ->   OpStore %uv (OpCompositeConstruct %vec2 %a %b)
    %x = LOAD_INPUT 8                       ->   %v = OpLoad %vec2 %uv; %x = OpCompositeExtract %v 0

The look through vectors (``vectors``, run after this) turns constructs of extracts back into the
vector they came from, so that code which linking did not touch has the form it came in.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import (
    CAPABILITIES,
    IMPORTS,
    INTERPOLATE,
    LOAD_INPUT,
    NAMES,
    PRIVATE,
    STORE_OUTPUT,
    Block,
    Inst,
    Module,
    words_of,
)
from spvlink.ir.edit import become, rewrite, sweep, value
from spvlink.ir.slot import Varying

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Sequence


def scalar_type(module: Module, base: str) -> Inst:
    """The scalar type that ``f32``, ``i32``, ``u16`` ... names."""
    width = int(base[1:])
    if base[0] == "f":
        return types.floating(module, width)
    return types.integer(module, width, base[0] == "i")


class Raise:
    """One side of one border."""

    def __init__(self, module: Module, varyings: Sequence[Varying], storage: int) -> None:
        assert module.entry is not None
        self.module = module
        self.function = module.entry.function
        self.storage = storage
        self.where: dict[int, tuple[Varying, int]] = {
            key: (v, lane) for v in varyings for lane, key in enumerate(v.keys)
        }
        self.scalars: dict[str, Inst] = {}  # base type -> type on the wire
        self.variables: dict[int, Inst] = {}
        self.types: dict[int, Inst] = {}
        self.loaded: dict[object, list[tuple[Inst, Block]]] = {}
        # load -> lane -> what takes that lane out of it
        self.lanes: dict[Inst, dict[int, list[Inst]]] = {}
        for varying in varyings:
            self.variables[id(varying)] = self.declare(varying)

    def declare(self, varying: Varying) -> Inst:
        """The variable, its decorations, its name, its place in the entry point's list."""
        module = self.module
        type = self.type_of(varying)
        pointer = types.pointer(module, self.storage, type)
        made = value(module, ops.OpVariable, pointer, [], [self.storage])
        module.globals.append(made)
        notes: list[list[int]] = [[enums.Decoration_Location, varying.location]]
        if varying.component:
            notes.append([enums.Decoration_Component, varying.component])
        notes += [[q] for q in varying.qualifiers]
        if varying.relaxed:
            notes.append([enums.Decoration_RelaxedPrecision])
        if self.storage == enums.StorageClass_Output:
            notes += [list(words) for words in varying.extras]
        Decorations.add(module, made, notes)
        if varying.name:
            module.sections[NAMES].append(Inst(ops.OpName, None, [made], words_of(varying.name)))
        if enums.Decoration_Sample in varying.qualifiers:
            need_capability(module, enums.Capability_SampleRateShading)
        assert module.entry is not None
        module.entry.inst.args.append(made)
        module.version += 1
        return made

    def run(self) -> None:
        """Rewrite every private opcode of this side."""
        cfg = Cfg.of(self.module, self.function)
        for block in cfg.order:
            if any([i.op > PRIVATE for i in block.insts]):
                if self.storage == enums.StorageClass_Input:
                    self.loads(cfg, block)
                else:
                    self.stores(block)
        self.place_lanes()
        sweep(self.module, self.function)

    def column_type(self, varying: Varying) -> Inst:
        size = len(varying.keys) // varying.columns
        return types.vector(self.module, self.wire_type(varying), size)

    def wire_type(self, varying: Varying) -> Inst:
        """The scalar type that a variable's components travel as."""
        made = self.scalars.get(varying.base)
        if made is None:
            made = self.scalars[varying.base] = scalar_type(self.module, varying.base)
        return made

    def type_of(self, varying: Varying) -> Inst:
        """The variable's type: a scalar or vector, or a matrix or array of such."""
        made = self.types.get(id(varying))
        if made is not None:
            return made
        module = self.module
        made = self.column_type(varying)
        if varying.whole == ops.OpTypeMatrix:
            made = types.make(module, ops.OpTypeMatrix, None, [made], [varying.columns])
        elif varying.whole:
            length = types.constant(module, types.integer(module), varying.columns)
            made = types.make(module, ops.OpTypeArray, None, [made, length], [])
        self.types[id(varying)] = made
        return made

    def loads(self, cfg: Cfg, block: Block) -> None:
        """Loads of one variable share one OpLoad, at the first of them that dominates the others:
        inputs do not change."""
        out: list[Inst] = []
        for inst in block.insts:
            if inst.op not in (LOAD_INPUT, INTERPOLATE):
                out.append(inst)
                continue
            varying, lane = self.where[inst.imm[0]]
            plain = inst.op == LOAD_INPUT or enums.Decoration_Flat in varying.qualifiers
            key: tuple[object, ...] = (id(varying),)
            held = self.loaded.setdefault(key if plain else (*key, *inst.imm[1:], *inst.args), [])
            whole = next((w for w, b in held if b is block or cfg.dominates(b, block)), None)
            if whole is None:
                whole = self.load(varying, inst)
                held.append((whole, block))
                out.append(whole)
            self.take_lane(inst, whole, varying, lane)
        block.insts = out

    def load(self, varying: Varying, inst: Inst) -> Inst:
        variable = self.variables[id(varying)]
        type = self.type_of(varying)
        if inst.op == LOAD_INPUT or enums.Decoration_Flat in varying.qualifiers:
            # where a flat input is interpolated makes no difference, and it may travel as uint
            return value(self.module, ops.OpLoad, type, [variable], [])
        glsl = glsl_import(self.module)
        args = [glsl, variable, *inst.args]
        return value(self.module, ops.OpExtInst, type, args, [inst.imm[1]])

    def take_lane(self, inst: Inst, whole: Inst, varying: Varying, lane: int) -> None:
        """The scalar that ``inst`` stands for, next to the load of the whole, so that all its uses
        share it."""
        wire = self.wire_type(varying)
        lanes = self.lanes.setdefault(whole, {})
        held = lanes.get(lane)
        if held is not None:
            become(self.module, inst, held[-1])
            return
        made: list[Inst] = []
        part = whole
        if len(varying.keys) > 1:
            path = [lane]
            if varying.whole:
                column, row = divmod(lane, len(varying.keys) // varying.columns)
                path = [column, row] if len(varying.keys) > varying.columns else [column]
            if wire is inst.type:
                rewrite(self.module, inst, ops.OpCompositeExtract, [whole], path)
                lanes[lane] = [inst]
                return
            part = value(self.module, ops.OpCompositeExtract, wire, [whole], path)
            made.append(part)
        if wire is inst.type:
            become(self.module, inst, part)
            return
        rewrite(self.module, inst, ops.OpBitcast, [part], [])
        lanes[lane] = [*made, inst]

    def place_lanes(self) -> None:
        """Put what ``take_lane`` made after the loads."""
        for block in {b: None for held in self.loaded.values() for _, b in held}:
            out: list[Inst] = []
            for inst in block.insts:
                out.append(inst)
                for made in self.lanes.get(inst, {}).values():
                    out += made
            block.insts = out

    def stores(self, block: Block) -> None:
        """The stores before a return, gathered by variable; a lane that has no value here is as
        undefined as it was."""
        out: list[Inst] = []
        stored: dict[int, tuple[Varying, dict[int, Inst]]] = {}
        for inst in block.insts[:-1]:
            if inst.op != STORE_OUTPUT:
                out.append(inst)
                continue
            varying, lane = self.where[inst.imm[0]]
            stored.setdefault(id(varying), (varying, {}))[1][lane] = inst.args[0]
        for varying, lanes in stored.values():
            wire = self.wire_type(varying)
            parts: list[Inst] = []
            for lane in range(len(varying.keys)):
                part = lanes.get(lane) or types.null(self.module, wire)
                if part.type is not wire:
                    part = value(self.module, ops.OpBitcast, wire, [part], [])
                    out.append(part)
                parts.append(part)
            whole = self.put_together(varying, parts, out)
            out.append(Inst(ops.OpStore, None, [self.variables[id(varying)], whole], []))
        block.insts[:-1] = out
        self.module.version += 1

    def put_together(self, varying: Varying, parts: list[Inst], out: list[Inst]) -> Inst:
        """The value of a variable from its scalars."""
        size = len(parts) // varying.columns
        columns: list[Inst] = []
        for at in range(0, len(parts), size):
            if size == 1:
                columns.append(parts[at])
                continue
            type = self.column_type(varying)
            columns.append(
                value(self.module, ops.OpCompositeConstruct, type, parts[at : at + size], [])
            )
            out.append(columns[-1])
        if not varying.whole:
            return columns[0]
        type = self.type_of(varying)
        out.append(value(self.module, ops.OpCompositeConstruct, type, columns, []))
        return out[-1]


def glsl_import(module: Module) -> Inst:
    """The module's import of GLSL.std.450, made if it has none."""
    found = next(iter(Effects.of(module).glsl), None)
    if found is None:
        found = value(module, ops.OpExtInstImport, None, [], words_of("GLSL.std.450"))
        module.sections[IMPORTS].append(found)
    return found


def need_capability(module: Module, capability: int) -> None:
    """Declare a capability if the module does not."""
    if not any(c.imm[0] == capability for c in module.sections[CAPABILITIES]):
        module.sections[CAPABILITIES].append(Inst(ops.OpCapability, None, [], [capability]))


def move_whole(module: Module, variable: Inst, location: int, qualifiers: Iterable[int]) -> None:
    """Give a variable that stays whole its new Location, and the qualifiers that the other side
    has."""
    held: set[int] = set()
    for inst in module.annotations:
        if inst.op == ops.OpDecorate and inst.args[0] is variable:
            held.add(inst.imm[0])
            if inst.imm[0] == enums.Decoration_Location and inst.imm[1] != location:
                inst.imm = [enums.Decoration_Location, location]
                module.version += 1
    for qualifier in qualifiers:
        if qualifier not in held and enums.Decoration_Location in held:
            module.annotations.append(Inst(ops.OpDecorate, None, [variable], [qualifier]))
            module.version += 1
            if qualifier == enums.Decoration_Sample:
                need_capability(module, enums.Capability_SampleRateShading)
