"""Turn scalar slots back into variables, declared alike on both sides.

    STORE_OUTPUT 8 %a; STORE_OUTPUT 10 %b   ->   OpStore %uv (OpCompositeConstruct %vec2 %a %b)
    %x = LOAD_INPUT 8                       ->   %v = OpLoad %vec2 %uv; %x = OpCompositeExtract %v 0

The look through vectors (``vectors``, run after this) turns constructs of extracts back into the
vector they came from, so that code which linking did not touch has the form it came in.

What goes out at a return or with an emitted vertex is stored there, whole variables at once. What
other invocations see (control and mesh shaders) is stored where it was: neighbouring stores to one
vector of one vertex become one store if they cover it, and stores of single components otherwise.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.facts.cfg import Cfg
from spvlink.facts.decorations import Decorations
from spvlink.facts.dominating import Values
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import (
    INTERPOLATE,
    LOAD_INPUT,
    LOAD_OUTPUT,
    STORE_OUTPUT,
    Block,
    Inst,
    Module,
    name_of,
    words_of,
)
from spvlink.ir.debug import noted
from spvlink.ir.edit import (
    annotate,
    become,
    glsl_import,
    list_variable,
    need_capability,
    reword,
    rewrite,
    sweep,
    touched,
    ungroup,
    value,
)
from spvlink.ir.slot import Slot, Varying
from spvlink.passes.lowering import captures

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Final

_INPUTS: Final = frozenset((LOAD_INPUT, INTERPOLATE))
_OUTPUTS: Final = frozenset((STORE_OUTPUT, LOAD_OUTPUT))
_IN_PLACE: Final = frozenset(
    (
        enums.ExecutionModel_TessellationControl,
        enums.ExecutionModel_TaskEXT,
        enums.ExecutionModel_MeshEXT,
    )
)


def scalar_type(module: Module, base: str) -> Inst:
    """The scalar type that ``f32``, ``i32``, ``u16`` ... names."""
    width = int(base[1:])
    if base[0] == "f":
        return types.floating(module, width)
    return types.integer(module, width, base[0] == "i")


def is_same(slots: list[Slot], type: Inst) -> bool:
    """Whether a variable of this type that has these components, in this order, is the one that
    they were: all of it."""
    first = slots[0]
    of = first.variable.type
    return (
        of is not None
        and of.args[0] is type
        and all(s.lane == lane and s.variable is first.variable for lane, s in enumerate(slots))
    )


class Raise:
    """One side of one border. ``slots``: what each old key was on this side."""

    # of the code; ``interface_wrapper`` only wants the variables and needs none of it
    calls: Calls
    cfg: Cfg
    loaded: Values

    def __init__(
        self, module: Module, varyings: Sequence[Varying], storage: int, slots: Mapping[int, Slot]
    ) -> None:
        assert module.entry is not None
        self.module = module
        self.function = module.entry.function
        self.storage = storage
        self.slots = slots
        self.in_place = module.entry.model in _IN_PLACE
        self.at_emits = module.entry.model == enums.ExecutionModel_Geometry
        self.is_input = storage == enums.StorageClass_Input or (
            storage == enums.StorageClass_TaskPayloadWorkgroupEXT
            and module.entry.model == enums.ExecutionModel_MeshEXT
        )
        self.where: dict[int, tuple[Varying, int]] = {
            key: (v, lane) for v in varyings for lane, key in enumerate(v.keys)
        }
        self.scalars: dict[str, Inst] = {}  # base type -> type on the wire
        self.variables: dict[int, Inst] = {}
        self.types: dict[int, Inst] = {}
        self.arrayed: set[int] = set()  # ids of the Varyings that are arrays over vertices
        self.aggregates: list[
            tuple[Block, int, Inst]
        ] = []  # loads, and where what follows them stands
        # load -> lane -> what takes that lane out of it
        self.lanes: dict[Inst, dict[int, list[Inst]]] = {}
        for varying in varyings:
            self.variables[id(varying)] = self.declare(varying)

    def declare(self, varying: Varying) -> Inst:
        """The variable, its decorations, its name, its place in the entry point's list."""
        module = self.module
        type = self.type_of(varying)
        mine: list[Slot] = []
        for key in varying.keys:  # a list this short is made faster without a comprehension
            if key in self.slots:
                mine.append(self.slots[key])
        length = length_of(mine)
        if length is not None:
            self.arrayed.add(id(varying))
            type = self.array_of(type, length, mine)
        pointer = types.pointer(module, self.storage, type)
        made = value(module, ops.OpVariable, pointer, [], (self.storage,))
        module.globals.append(made)
        notes: list[tuple[int, ...]] = [(enums.Decoration_Location, varying.location)]
        if varying.component:
            notes.append((enums.Decoration_Component, varying.component))
        is_output = self.storage == enums.StorageClass_Output
        for qualifier in varying.qualifiers:
            if not is_output or qualifier not in info.READING_DECORATIONS:
                notes.append((qualifier,))
        # what travels as another type is no number that could be rounded
        for slot in mine:
            if not slot.relaxed or slot.base != varying.base:
                break
        else:
            if mine:
                notes.append((enums.Decoration_RelaxedPrecision,))
        if is_output:
            notes += varying.extras
            notes += captures.words_of(varying.captured)
        Decorations.add(module, made, notes)
        if varying.name:
            module.names.append(name_of(ops.OpName, made, words_of(varying.name)))
        if enums.Decoration_Sample in varying.qualifiers:
            need_capability(module, enums.Capability_SampleRateShading)
        list_variable(module, made)
        debug_info = noted(module)
        if debug_info is not None and mine and is_same(mine, type):
            debug_info.moved[mine[0].variable] = made
        return made

    def array_of(self, type: Inst, length: Inst, slots: list[Slot]) -> Inst:
        """An array over vertices: the type that one of these slots had, since the code may have
        local copies of that type."""
        for slot in slots:
            old = slot.variable.type
            if old is not None and old.args[0].args == [type, length]:
                if old.args[0].op == ops.OpTypeArray:
                    return old.args[0]
        return types.make(self.module, ops.OpTypeArray, None, [type, length], ())

    def run(self, unswept: bool = False) -> None:
        """Rewrite every private opcode of this side. ``unswept``: ``tidy`` comes next, so copies
        may be left."""
        if not self.where:
            return
        self.calls = Calls.of(self.module)
        self.cfg = Cfg.of(self.module, self.function)
        self.loaded = Values(self.cfg)
        wanted = _INPUTS
        for block in self.cfg.order:
            if self.is_input:
                loads = [
                    at
                    for at, inst in enumerate(block.insts)
                    if inst.op in wanted and inst.imm[0] in self.where
                ]
                if loads:
                    self.loads(block, loads)
            elif self.in_place:
                if not _OUTPUTS.isdisjoint([inst.op for inst in block.insts]):
                    InPlace(self, block).run()
            elif self.at_emits or block.insts[-1].op == ops.OpReturn:
                self.stores(block)
        self.place_lanes()
        # else nothing was replaced, or it may wait
        if self.in_place or (self.is_input and not unswept):
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
            made = types.make(module, ops.OpTypeMatrix, None, [made], (varying.columns,))
        elif varying.whole:
            length = types.constant(module, types.integer(module), varying.columns)
            made = types.make(module, ops.OpTypeArray, None, [made, length], ())
        self.types[id(varying)] = made
        return made

    def loads(self, block: Block, indices: list[int]) -> None:
        """Loads of one variable share one OpLoad, at the first of them that dominates the others:
        inputs do not change. ``indices``: where they stand in the block."""
        out: list[Inst] = []
        start = 0
        for at in indices:
            inst = block.insts[at]
            out += block.insts[start:at]
            start = at + 1
            varying, lane = self.where[inst.imm[0]]
            plain = inst.op == LOAD_INPUT or enums.Decoration_Flat in varying.qualifiers
            key: tuple[object, ...] = (id(varying),)
            if inst.op == LOAD_INPUT:
                key += tuple(inst.args)
            if not plain:
                key += (*inst.imm[1:], *inst.args)
            whole = self.loaded.find(key, block)
            if whole is None:
                whole = self.load(varying, inst, out)
                self.loaded.add(key, whole, block)
                out.append(whole)
                if (debug_info := noted(self.module)) is not None:
                    debug_info.like(whole, inst)
                self.aggregates.append((block, len(out), whole))
            self.take_lane(inst, whole, varying, lane)
        block.insts = out + block.insts[start:]

    def pointer(
        self, varying: Varying, vertex: Sequence[Inst], lane: int | None, out: list[Inst],
        whole_column: bool = False,
    ) -> Inst:  # fmt: skip
        """A pointer to a variable, or to its element of a vertex, or to one component of that, or
        to the column of a matrix (element of an array) that has this component."""
        variable = self.variables[id(varying)]
        type = self.type_of(varying)
        path = list(vertex)
        if lane is not None:
            number = types.integer(self.module, 32, True)
            for index in self.path_of(varying, lane)[: 1 if whole_column else None]:
                path.append(types.constant(self.module, number, index))
                type = type.args[0]
        if not path:
            return variable
        pointer = types.pointer(self.module, self.storage, type)
        out.append(value(self.module, ops.OpAccessChain, pointer, [variable, *path], ()))
        return out[-1]

    def path_of(self, varying: Varying, lane: int) -> tuple[int, ...]:
        """The indices that lead to one component of a variable."""
        size = len(varying.keys) // varying.columns
        column, row = divmod(lane, size)
        return ((column,) if varying.whole else ()) + ((row,) if size > 1 else ())

    def load(self, varying: Varying, inst: Inst, out: list[Inst]) -> Inst:
        variable = self.variables[id(varying)]
        type = self.type_of(varying)
        if inst.op != INTERPOLATE or enums.Decoration_Flat in varying.qualifiers:
            # where a flat input is interpolated makes no difference, and it may travel as uint
            vertex = inst.args if inst.op != INTERPOLATE else []
            pointer = self.pointer(varying, vertex, None, out)
            return value(self.module, ops.OpLoad, type, [pointer], ())
        glsl = glsl_import(self.module)
        args = [glsl, variable, *inst.args]
        return value(self.module, ops.OpExtInst, type, args, (inst.imm[1],))

    def take_lane(self, inst: Inst, whole: Inst, varying: Varying, lane: int) -> None:
        """The scalar that ``inst`` stands for, next to the load of the whole, so that all its uses
        share it."""
        wire = self.wire_type(varying)
        lanes = self.lanes.setdefault(whole, {})
        extracted = lanes.get(lane)
        if extracted is not None:
            become(self.module, inst, extracted[-1])
            return
        made: list[Inst] = []
        part = whole
        if len(varying.keys) > 1 or varying.whole:  # an array may have one element
            path: tuple[int, ...] = (lane,)
            if varying.whole:
                column, row = divmod(lane, len(varying.keys) // varying.columns)
                path = (column,)
                if len(varying.keys) > varying.columns:
                    part, path = self.take_column(whole, varying, column), (row,)
            if wire is inst.type:
                self.shift(inst)
                rewrite(self.module, inst, ops.OpCompositeExtract, [part], path)
                lanes[lane] = [inst]
                return
            part = value(self.module, ops.OpCompositeExtract, wire, [part], path)
            made.append(part)
        if wire is inst.type:
            become(self.module, inst, part)
            return
        self.shift(inst)
        rewrite(self.module, inst, ops.OpBitcast, [part], ())
        lanes[lane] = [*made, inst]

    def shift(self, inst: Inst) -> None:
        """An instruction goes next to the load of the whole."""
        if (debug_info := noted(self.module)) is not None:
            debug_info.shifted.add(inst)

    def take_column(self, whole: Inst, varying: Varying, column: int) -> Inst:
        """A column or element next to the load of the whole: what its components are put together
        to is it, wherever that is (a component alone is taken out of the whole by ``vectors``)."""
        lanes = self.lanes[whole]
        if ~column not in lanes:
            type = self.column_type(varying)
            lanes[~column] = [value(self.module, ops.OpCompositeExtract, type, [whole], (column,))]
        return lanes[~column][0]

    def place_lanes(self) -> None:
        """Put what ``take_lane`` made after the loads."""
        for block, at, whole in reversed(self.aggregates):
            taken: list[Inst] = []
            for made in self.lanes[whole].values():
                taken += made
            block.insts[at:at] = taken

    def stores(self, block: Block) -> None:
        """The stores before a return or an emit, gathered by variable; a lane that has no value
        here is as undefined as it was."""
        out: list[Inst] = []
        insts, start = block.insts, 0
        any_stored = False
        emits: list[int] = []
        if self.at_emits:
            emits = [at for at, inst in enumerate(insts) if self.calls.does(inst, info.EMITS)]
        for end in (*emits, len(insts) - 1):
            stored: dict[int, tuple[Varying, dict[int, Inst]]] = {}
            for inst in insts[start:end]:
                if inst.op != STORE_OUTPUT:
                    out.append(inst)
                    continue
                varying, lane = self.where[inst.imm[0]]
                stored.setdefault(id(varying), (varying, {}))[1][lane] = inst.args[0]
            mark = len(out)
            for varying, lanes in stored.values():
                self.store_one(varying, lanes, self.variables[id(varying)], out)
                any_stored = True
            if (debug_info := noted(self.module)) is not None:
                debug_info.inside(out[mark:], insts[end])
            out.append(insts[end])
            start = end + 1
        if any_stored:
            block.insts = out
            touched(self.module)

    def store_one(
        self, varying: Varying, lanes: dict[int, Inst], pointer: Inst, out: list[Inst]
    ) -> None:
        """Store a whole variable, or its element of one vertex."""
        wire = self.wire_type(varying)
        parts: list[Inst] = []
        for lane in range(len(varying.keys)):
            part = lanes.get(lane) or types.null(self.module, wire)
            parts.append(self.cast(part, wire, out))
        whole = self.put_together(varying, parts, out)
        out.append(Inst(ops.OpStore, None, [pointer, whole], ()))

    def cast(self, part: Inst, wire: Inst, out: list[Inst]) -> Inst:
        """A scalar as the type in which it travels."""
        if part.type is not wire:
            part = value(self.module, ops.OpBitcast, wire, [part], ())
            out.append(part)
        return part

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
                value(self.module, ops.OpCompositeConstruct, type, parts[at : at + size], ())
            )
            out.append(columns[-1])
        if not varying.whole:
            return columns[0]
        type = self.type_of(varying)
        out.append(value(self.module, ops.OpCompositeConstruct, type, columns, ()))
        return out[-1]


class InPlace:
    """Outputs that other invocations see, in one block. Stores of the components of one vector of
    one vertex are held back until something with an effect comes, or another vertex of that
    variable (it may be the same one)."""

    def __init__(self, side: Raise, block: Block) -> None:
        self.side = side
        self.block = block
        self.out: list[Inst] = []
        # varying -> (it, [the vertex], the components stored)
        self.pending: dict[int, tuple[Varying, list[Inst], dict[int, Inst]]] = {}
        self.loaded: dict[tuple[int, ...], Inst] = {}  # read back, as long as nothing happened
        self.sources: dict[int, Inst] = {}  # varying -> the last of its stores

    def run(self) -> None:
        effects = Effects.of(self.side.module)
        where = self.side.where
        for inst in self.block.insts:
            if inst.op == STORE_OUTPUT and inst.imm[0] in where:
                self.hold(inst)
            elif inst.op == LOAD_OUTPUT and inst.imm[0] in where:
                self.flush()
                self.read_back(inst)
            else:
                if not effects.flags(inst) & info.REMOVABLE:
                    self.flush()
                    self.loaded = {}
                self.out.append(inst)
        self.block.insts = self.out
        touched(self.side.module)

    def hold(self, inst: Inst) -> None:
        varying, lane = self.side.where[inst.imm[0]]
        vertex = inst.args[1:]
        pending = self.pending.get(id(varying))
        if pending is not None and pending[1] != vertex:
            self.flush()
            pending = None
        if pending is None:
            pending = self.pending[id(varying)] = (varying, vertex, {})
        pending[2][lane] = inst.args[0]
        self.sources[id(varying)] = inst
        self.loaded = {}

    def flush(self) -> None:
        """Write what is held back."""
        debug_info, mark = noted(self.side.module), len(self.out)
        last: Inst = Inst(0, None, [], ())  # none so far
        for varying, vertex, lanes in self.pending.values():
            if debug_info is not None:
                debug_info.all_like(self.out[mark:], last)
                mark, last = len(self.out), self.sources[id(varying)]
            if len(lanes) == len(varying.keys):
                pointer = self.side.pointer(varying, vertex, None, self.out)
                self.side.store_one(varying, lanes, pointer, self.out)
                continue
            size = len(varying.keys) // varying.columns
            for column in range(varying.columns):
                first = column * size
                mine = {n - first: lanes[n] for n in range(first, first + size) if n in lanes}
                self.write_column(varying, vertex, column, mine)
        if debug_info is not None:
            debug_info.all_like(self.out[mark:], last)
        self.pending = {}

    def write_column(
        self, varying: Varying, vertex: list[Inst], column: int, parts: dict[int, Inst]
    ) -> None:
        """Some components of a vector of a variable: the vector at once if these are all."""
        side, size = self.side, len(varying.keys) // varying.columns
        wire = side.wire_type(varying)
        cast = {row: side.cast(part, wire, self.out) for row, part in sorted(parts.items())}
        if len(cast) == size > 1:
            pointer = side.pointer(varying, vertex, column * size, self.out, whole_column=True)
            vector = side.column_type(varying)
            made = value(side.module, ops.OpCompositeConstruct, vector, list(cast.values()), ())
            self.out += [made, Inst(ops.OpStore, None, [pointer, made], ())]
            return
        for row, part in cast.items():
            pointer = side.pointer(varying, vertex, column * size + row, self.out)
            self.out.append(Inst(ops.OpStore, None, [pointer, part], ()))

    def read_back(self, inst: Inst) -> None:
        side = self.side
        varying, lane = side.where[inst.imm[0]]
        key = (id(varying), *(a.id for a in inst.args))
        whole = self.loaded.get(key)
        if whole is None:
            whole = self.loaded[key] = side.load(varying, inst, self.out)
            self.out.append(whole)
        wire = scalar_type(side.module, varying.base)
        path = side.path_of(varying, lane)
        part = whole
        if path:
            part = value(side.module, ops.OpCompositeExtract, wire, [whole], path)
            self.out.append(part)
        if part.type is not inst.type:
            assert inst.type is not None
            part = value(side.module, ops.OpBitcast, inst.type, [part], ())
            self.out.append(part)
        become(side.module, inst, part)


def length_of(slots: list[Slot]) -> Inst | None:
    """The length of the array over vertices that a variable is: the longest of those that it stands
    for, since an index that was in bounds of one of them must stay so."""
    longest: Inst | None = None
    most = 0
    for slot in slots:
        if slot.length is not None:
            size = types.index_of(slot.length) or 0
            if longest is None or size > most:
                longest, most = slot.length, size
    return longest


def move_whole(module: Module, variable: Inst, location: int, qualifiers: Iterable[int]) -> None:
    """Give a variable that stays whole its new Location, and the qualifiers that the other side
    has."""
    ungroup(module, variable)
    decorations: set[int] = set()
    for inst in module.annotations:
        if inst.op == ops.OpDecorate and inst.args[0] is variable:
            decorations.add(inst.imm[0])
            if inst.imm[0] == enums.Decoration_Location and inst.imm[1] != location:
                reword(module, inst, (enums.Decoration_Location, location))
    for qualifier in qualifiers:
        if (
            qualifier not in decorations
            and qualifier not in info.READING_DECORATIONS
            and enums.Decoration_Location in decorations
        ):
            annotate(module, [Inst(ops.OpDecorate, None, [variable], (qualifier,))])
            if qualifier == enums.Decoration_Sample:
                need_capability(module, enums.Capability_SampleRateShading)
