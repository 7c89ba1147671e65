"""Turn variables into SSA values: locals, Private globals and the interface, in one renaming.

    %v = OpVariable %ptr Function            %x = ...
    OpStore %v %x                      ->    OpStore gone
    %y = OpLoad %float %v                    every use of %y is %x
    OpStore %outColor %y                     STORE_OUTPUT key, %y   (before each OpReturn)

What it rests on:
* A Function variable, and a Private one that only the entry point's function touches, is seen by
  one invocation only and its value is what the last store left (specification 3.7). The parts that
  must stay in memory are found by ``cells``.
* An Output variable of a vertex or evaluation shader is read by the next stage only after the
  invocation ended, so only its value at the returns counts. That also serves outputs that are read
  back, written in several places, or written on some paths only (there the value is undefined, as
  it was). Those of a geometry shader are taken at each EmitVertex; after it they are undefined
  (SPIR-V, "OpEmitVertex"), so they may as well keep their values, as they do on devices.
* Outputs of control and mesh shaders are seen by other invocations too: they are accessed in place.
* An Input variable never changes, so a load of it may be made of loads of its components.
* A variable that is an array over vertices (or primitives) is a node of its element type, and every
  access names the vertex. A load of all of it is one of each vertex.

SSA form by dominance frontiers (Cytron et al. 1991), semi-pruned: a cell that no block reads before
writing it gets no phi (Briggs et al. 1998). Values on entry are looked up along the dominator tree;
nothing recurses, so depth is no limit.
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.facts.cfg import Cfg
from spvlink.facts.dominating import Values
from spvlink.facts.frontier import Joins
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import (
    INTERPOLATE,
    IS_CHAIN,
    LOAD_INPUT,
    LOAD_OUTPUT,
    Block,
    Function,
    Inst,
    Module,
)
from spvlink.ir.debug import VariableNotes, noted
from spvlink.ir.edit import become, list_variable, resolve, rewrite, sweep, touched, value
from spvlink.ir.slot import DYNAMIC
from spvlink.passes.lowering.cells import MEMORY, SPLIT, WHOLE, PartNode, PointerTarget, find
from spvlink.passes.lowering.memory_access import (
    INTERPOLATIONS,
    IS_NUMERIC,
    IS_POINTER,
    elements_at_once,
    extract,
    is_volatile,
    lower_copies,
    part_of,
    store_slot,
    stored_once,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable


class Promotion:
    """One run over one function. ``roots`` are the candidate variables; inputs and outputs come
    with slot keys."""

    def __init__(
        self, module: Module, function: Function, roots: dict[Inst, PartNode], glsl_set: Inst | None
    ) -> None:
        self.module = module
        self.function = function
        self.roots = roots
        self.glsl_set = glsl_set
        self.pointers: dict[Inst, tuple[Inst, list[Inst]]] = {v: (v, []) for v in roots}
        self.uses: dict[Block, list[int]] = {}  # where pointers are made and used
        self.places: dict[Inst, PointerTarget] = {}
        self.cells: list[PartNode] = []
        self.written: dict[int, set[Block]] = {}  # cell -> blocks that store it
        self.exposed: dict[int, set[Block]] = {}  # cell -> blocks that read it before they write it
        self.at_exit: dict[Block, dict[int, Inst]] = {}
        self.first: dict[int, int] = {}  # cell -> no block before this one in the order can know it
        self.phis: dict[Block, dict[int, Inst]] = {}
        self.start: dict[int, Inst] = {}  # value on entry to the function
        self.variables: list[Inst] = []  # new ones of the function
        self.loaded: set[int] = set()  # slot keys of inputs that some instruction reads
        self.arrayed: dict[Inst, Inst] = {}  # arrays over vertices, and their length
        self.in_place: set[Inst] = set()  # outputs that are accessed where the code does
        self.at_emits = False  # outputs go out with each EmitVertex, not at the returns
        self.unswept = False  # whether copies may be left: ``branches`` and ``simplify`` come next
        self.calls = Calls.of(module)
        self.cfg = Cfg.of(module, function)
        self.inputs = Values(self.cfg)  # cell of an input -> where it was loaded
        self.variable_notes = VariableNotes(noted(module))

    # -- analysis ----------------------------------------------------------------------------------

    def analyse(self) -> None:
        """Find every access, splitting and pinning nodes; afterwards ``places`` tells where each
        pointer points."""
        if ops.OpCopyMemory in self.module.rare:
            for block in self.cfg.order:
                lower_copies(self.module, block)
        pointers, made, numeric, load = self.pointers, IS_POINTER, IS_NUMERIC, ops.OpLoad
        plain = not self.arrayed and not self.in_place
        for block in self.cfg.order:
            uses = self.uses[block] = []
            for at, inst in enumerate(block.insts):
                if numeric[inst.op]:
                    continue
                for arg in inst.args:
                    if made[arg.op] and arg in pointers:
                        if inst.op != load or inst.imm or not plain:
                            self.use(inst)
                        uses.append(at)
                        break
                else:
                    if inst.op == ops.OpVariable and inst in pointers:
                        uses.append(at)

        if not types.pointers_may_meet(self.module):
            for variable, root in self.roots.items():
                if types.holds_pointers(root.type) and not (
                    root.kind == WHOLE and stored_once(self.cfg, self.uses, variable)
                ):
                    root.pin("it holds pointers that must not meet in a phi")

    def replace_places(self) -> None:
        """Settle where each pointer points, now that no node will be pinned or split any more."""
        for pointer, (variable, indices) in self.pointers.items():
            if indices:
                self.places[pointer] = self.place(variable, indices, False)
            else:
                self.places[pointer] = PointerTarget(self.roots[variable], None, [])

    def place(self, variable: Inst, indices: list[Inst], touch: bool) -> PointerTarget:
        """Where a pointer with these indices points; of an array over vertices the first of them is
        the vertex."""
        if variable not in self.arrayed:
            return find(self.roots[variable], indices, touch)
        root = self.roots[variable]
        if not indices:
            if touch:
                root.pin("it is accessed for all vertices at once")
            return PointerTarget(root, None, [])
        target = find(root, indices[1:], touch)
        target.vertex = indices[0]
        if target.node.kind == MEMORY:
            target.rest = [indices[0], *target.rest]
        return target

    def use(self, inst: Inst) -> None:
        op, args, pointers = inst.op, inst.args, self.pointers
        if (op == ops.OpLoad or (op == ops.OpStore and args[1] not in pointers)) and (
            not inst.imm or not is_volatile(inst.imm)
        ):
            if self.arrayed or self.in_place:
                self.moves(op, *pointers[args[0]])
        elif IS_CHAIN[op] and args[0] in pointers:
            variable, indices = pointers[args[0]]
            pointers[inst] = (variable, indices + args[1:])
            if pointers[inst][1]:
                self.place(variable, pointers[inst][1], True)
        elif op == ops.OpExtInst and self.interpolates(inst):
            pass
        else:
            for arg in args:
                if arg in pointers:
                    place = self.place(*pointers[arg], True)
                    place.node.pin("its address is used by " + ops.NAMES.get(op, "an instruction"))

    def moves(self, op: int, variable: Inst, indices: list[Inst]) -> None:
        """A plain load or store."""
        if variable in self.arrayed and not indices:
            if op == ops.OpStore or not elements_at_once(variable):
                self.place(variable, indices, True)
        elif op == ops.OpStore and variable in self.in_place:
            place = self.place(variable, indices, False)
            if place.lane is not None and types.index_of(place.lane) is None:
                place.node.pin("a component of it is stored with a dynamic index", DYNAMIC)

    def interpolates(self, inst: Inst) -> bool:
        """An interpolateAt* of a promotable input, whole or one component by constant index."""
        if inst.args[0] is not self.glsl_set or inst.imm[0] not in INTERPOLATIONS:
            return False
        if len(inst.args) > 2 and inst.args[2] in self.pointers:
            return False
        variable, indices = self.pointers[inst.args[1]]
        place = self.place(variable, indices, True)
        if place.lane is not None and types.index_of(place.lane) is None:
            return False
        return place.node.kind == WHOLE and place.vertex is None

    # -- cells -------------------------------------------------------------------------------------

    def number(self) -> None:
        """Number the WHOLE nodes; give each MEMORY node below a root a variable of its own."""
        for variable, root in self.roots.items():
            initializer = variable.args[0] if variable.args else None
            leaves = root.leaves()
            for leaf in leaves:
                if leaf.kind == MEMORY:
                    self.place_memory(variable, root, leaf, initializer)
                    continue
                leaf.cell = len(self.cells)
                leaf.in_place = variable in self.in_place
                if self.variable_notes.debug is not None:
                    self.variable_notes.begin(variable, leaf.cell, leaf.path, len(leaves))
                self.cells.append(leaf)
                if initializer is not None:
                    self.start[leaf.cell] = part_of(self.module, initializer, leaf.path)

    def place_memory(
        self, variable: Inst, root: PartNode, leaf: PartNode, start: Inst | None
    ) -> None:
        if leaf is root:
            leaf.variable = variable
            return
        storage, pointee = variable.imm[0], leaf.type
        if variable in self.arrayed:
            length = self.arrayed[variable]
            pointee = types.make(self.module, ops.OpTypeArray, None, [pointee, length], ())
        type = types.pointer(self.module, storage, pointee)
        args = [] if start is None else [part_of(self.module, start, leaf.path)]
        leaf.variable = value(self.module, ops.OpVariable, type, args, (storage,))
        if storage == enums.StorageClass_Function:
            self.variables.append(leaf.variable)
        else:
            types.of_op(self.module, ops.OpVariable).append(leaf.variable)
            self.module.globals.append(leaf.variable)
            if storage == enums.StorageClass_Private and self.module.spirv_version >= 0x00010400:
                list_variable(self.module, leaf.variable)  # since 1.4 it names every global one
        touched(self.module)

    # -- renaming ----------------------------------------------------------------------------------

    def rename(self, stores: Callable[[Promotion, Block], list[Inst]] | None) -> None:
        """Second half, after the caller had a look at the analysed nodes. ``stores`` makes what
        each OpReturn needs."""
        self.number()
        if len(self.cfg.order) > 1:
            self.gather(stores is not None)
            self.place_phis()
        for block in self.cfg.order:
            self.block(block, stores if self.at_emits else None)
        self.function.blocks[0].insts[:0] = self.variables[::-1]
        for block in self.cfg.order:
            self.fill_phis(block)
            if stores is not None and not self.at_emits and block.terminator.op == ops.OpReturn:
                made = stores(self, block)
                self.variable_notes.inside(made, block.insts[-1])
                block.insts[-1:-1] = made
        if self.cells:
            touched(self.module)
        if not self.unswept:
            sweep(self.module, self.function)

    def gather(self, outputs: bool) -> None:
        """Which cells are written where, and which are read before a write in their block."""
        places = self.places
        for block in self.cfg.order:
            own: set[int] = set()
            insts = block.insts
            for at in range(len(insts)) if outputs and self.at_emits else self.uses[block]:
                inst = insts[at]
                op = inst.op
                if op == ops.OpLoad:
                    place = places.get(inst.args[0])
                    if place is not None:
                        self.reads(place.node, own, block)
                elif op == ops.OpStore:
                    place = places.get(inst.args[0])
                    if place is not None:
                        if place.lane is not None:
                            self.reads(place.node, own, block)
                        for leaf in place.node.leaves():
                            if leaf.kind == WHOLE and not leaf.in_place:
                                own.add(leaf.cell)
                                self.written.setdefault(leaf.cell, set()).add(block)
                elif outputs and self.at_emits and self.calls.does(inst, info.EMITS):
                    self.goes_out(own, block)
            if outputs and not self.at_emits and block.terminator.op == ops.OpReturn:
                self.goes_out(own, block)

    def goes_out(self, own: set[int], block: Block) -> None:
        """Here the outputs are read."""
        for cell, node in enumerate(self.cells):
            if node.keys and not node.is_input and not node.in_place and cell not in own:
                self.exposed.setdefault(cell, set()).add(block)

    def reads(self, node: PartNode, own: set[int], block: Block) -> None:
        for leaf in node.leaves():
            if leaf.kind == WHOLE and leaf.cell not in own:
                self.exposed.setdefault(leaf.cell, set()).add(block)

    def place_phis(self) -> None:
        wanted = {c: self.written[c] for c in self.exposed if c in self.written}
        if not wanted:
            return
        joins = Joins(self.cfg)
        for cell in sorted(wanted):
            first, blocks = joins.of(self.exposed[cell], wanted[cell])
            self.first[cell] = first
            for block in blocks:
                phi = value(self.module, ops.OpPhi, self.cells[cell].type, [], ())
                self.phis.setdefault(block, {})[cell] = phi

    def fill_phis(self, block: Block) -> None:
        phis = self.phis.get(block)
        if not phis:
            return
        self.variable_notes.all_of(phis, block)
        for cell, phi in phis.items():
            for pred in self.cfg.preds[block]:
                phi.args += [self.lookup(cell, pred), pred]
            for pred in self.cfg.dead_preds.get(block, ()):
                phi.args += [types.undef(self.module, self.cells[cell].type), pred]
        block.insts[:0] = phis.values()

    def lookup(self, cell: int, block: Block) -> Inst:
        """The value of a cell at the end of ``block``."""
        trail: list[Block] = []
        at: Block | None = block
        first = self.first.get(cell, 0)
        while at is not None and self.cfg.index[at] >= first:
            current = self.at_exit[at].get(cell)
            if current is not None:
                break
            trail.append(at)
            at = self.cfg.idom.get(at)
        else:
            current = self.start.get(cell)
            if current is None:
                current = types.undef(self.module, self.cells[cell].type)
        current = resolve(current)
        for passed in trail:
            self.at_exit[passed][cell] = current
        return current

    def block(
        self, block: Block, stores: Callable[[Promotion, Block], list[Inst]] | None = None
    ) -> None:
        """Rename within one block; its dominators are done. ``stores`` makes what each emit
        needs."""
        now: dict[int, Inst] = dict(self.phis.get(block, {}))
        self.at_exit[block] = now
        places, insts, variable_notes = self.places, block.insts, self.variable_notes
        out: list[Inst] = []
        done = 0
        if variable_notes.debug is not None:
            variable_notes.begin_block(
                block, self.start if block is self.function.blocks[0] else {}
            )
        for at in self.uses[block] if stores is None else range(len(insts)):
            if variable_notes.debug is not None:
                variable_notes.step(out, done, at)
            if at > done:
                out += insts[done:at]
            done = at + 1
            inst = insts[at]
            op = inst.op
            if op == ops.OpLoad:
                place = places.get(inst.args[0])
                if place is not None:
                    self.load(inst, place, block, out)
                    continue
            elif op == ops.OpStore:
                place = places.get(inst.args[0])
                if place is not None:
                    self.store(inst, place, block, out)
                    continue
            elif IS_POINTER[op]:
                if inst in places:
                    self.pointer(inst, places[inst], out)
                    continue
            elif op == ops.OpExtInst and self.extended(inst, block, out):
                continue
            elif stores is not None and self.calls.does(inst, info.EMITS):
                out += stores(self, block)
                variable_notes.emitted(out)
            out.append(inst)
        if variable_notes.debug is not None:
            variable_notes.step(out, done, len(insts))
        block.insts = out + insts[done:]

    def pointer(self, inst: Inst, place: PointerTarget, out: list[Inst]) -> None:
        """A variable or access chain: it stays only for what lies in memory."""
        if place.node.kind != MEMORY:
            return
        variable = place.node.variable
        assert variable is not None
        if inst is variable:
            out.append(inst)
        elif inst.op == ops.OpVariable:
            return
        elif place.rest:
            rewrite(self.module, inst, inst.op, [variable, *place.rest], ())
            out.append(inst)
        else:
            become(self.module, inst, variable)

    def address(self, node: PartNode, vertex: Inst | None, out: list[Inst]) -> Inst:
        """A pointer to all of a MEMORY node, of one vertex if it is arrayed."""
        assert node.variable is not None
        if vertex is None:
            return node.variable
        type = types.pointer(self.module, node.variable.imm[0], node.type)
        args = [node.variable, vertex]
        out.append(value(self.module, ops.OpAccessChain, type, args, ()))
        return out[-1]

    def load(self, inst: Inst, place: PointerTarget, block: Block, out: list[Inst]) -> None:
        node = place.node
        if node.kind == MEMORY:
            if not place.rest:
                assert node.variable is not None
                inst.args = [node.variable]
            out.append(inst)
        elif place.lane is not None:
            self.load_lane(inst, place, place.lane, block, out)
        elif place.vertex is None and inst.args[0] in self.arrayed:
            self.load_vertices(inst, node, block, out)
        elif node.kind == WHOLE:
            become(self.module, inst, self.current(node, place.vertex, block, out))
        else:
            vertex = place.vertex
            parts = [self.compose(child, vertex, block, out) for child in node.children]
            rewrite(self.module, inst, ops.OpCompositeConstruct, parts, ())
            out.append(inst)

    def load_vertices(self, inst: Inst, node: PartNode, block: Block, out: list[Inst]) -> None:
        """All elements of an array over vertices at once, put together."""
        module, count = self.module, elements_at_once(inst.args[0])
        number = types.integer(module, 32, True)
        numbers = [types.constant(module, number, index) for index in range(count)]
        parts = [self.compose(node, vertex, block, out) for vertex in numbers]
        rewrite(module, inst, ops.OpCompositeConstruct, parts, ())
        out.append(inst)

    def load_lane(
        self, inst: Inst, place: PointerTarget, lane: Inst, block: Block, out: list[Inst]
    ) -> None:
        node = place.node
        whole = self.current(node, place.vertex, block, out)
        index = types.index_of(lane)
        if index is None:
            rewrite(self.module, inst, ops.OpVectorExtractDynamic, [whole, lane], ())
            out.append(inst)
        elif whole.op == ops.OpCompositeConstruct and len(whole.args) == node.type.imm[0]:
            become(self.module, inst, resolve(whole.args[index]))
        else:
            rewrite(self.module, inst, ops.OpCompositeExtract, [whole], (index,))
            out.append(inst)

    def compose(self, node: PartNode, vertex: Inst | None, block: Block, out: list[Inst]) -> Inst:
        """The value of a whole node."""
        if node.kind == WHOLE:
            return self.current(node, vertex, block, out)
        if node.kind == MEMORY:
            pointer = self.address(node, vertex, out)
            made = value(self.module, ops.OpLoad, node.type, [pointer], ())
        else:
            parts = [self.compose(child, vertex, block, out) for child in node.children]
            made = value(self.module, ops.OpCompositeConstruct, node.type, parts, ())
        out.append(made)
        return made

    def current(self, node: PartNode, vertex: Inst | None, block: Block, out: list[Inst]) -> Inst:
        """The value of a cell here; an input is loaded where it is first wanted, what is arrayed or
        accessed in place at each access."""
        if vertex is not None or node.in_place:
            return self.load_slots(node, vertex, out)
        if not node.is_input:
            return self.now(node.cell, block)
        current = self.at_exit[block].get(node.cell)
        if current is None:
            current = self.inputs.find(node.cell, block)
            if current is None:
                current = self.load_slots(node, None, out)
                self.inputs.add(node.cell, current, block)
            self.at_exit[block][node.cell] = current
        return current

    def load_slots(self, node: PartNode, vertex: Inst | None, out: list[Inst]) -> Inst:
        """Load each component of an interface node and put them together."""
        scalar = node.type.args[0] if node.type.op == ops.OpTypeVector else node.type
        op = LOAD_INPUT if node.is_input else LOAD_OUTPUT
        args = [] if vertex is None else [vertex]
        loads: list[Inst] = []
        for key in node.keys:
            loads.append(value(self.module, op, scalar, list(args), (key,)))
        if node.is_input:
            self.loaded.update(node.keys)
        out += loads
        if len(loads) == 1:
            return loads[0]
        out.append(value(self.module, ops.OpCompositeConstruct, node.type, list(loads), ()))
        return out[-1]

    def now(self, cell: int, block: Block) -> Inst:
        current = self.at_exit[block].get(cell)
        if current is None:
            above = self.cfg.idom.get(block)
            if above is not None:
                current = self.lookup(cell, above)
            else:
                current = self.start.get(cell) or types.undef(self.module, self.cells[cell].type)
            self.at_exit[block][cell] = current
        return resolve(current)

    def store(self, inst: Inst, place: PointerTarget, block: Block, out: list[Inst]) -> None:
        node, stored = place.node, inst.args[1]
        if node.kind == MEMORY:
            if not place.rest:
                assert node.variable is not None
                inst.args = [node.variable, stored]
            out.append(inst)
        elif node.in_place and place.lane is not None:
            lane = types.index_of(place.lane)
            assert lane is not None  # ``moves`` pinned the others
            out.append(store_slot(node.keys[lane], resolve(stored), place.vertex))
        elif place.lane is not None:
            old = self.now(node.cell, block)
            index = types.index_of(place.lane)
            if index is None:
                args = [old, stored, place.lane]
                new = value(self.module, ops.OpVectorInsertDynamic, node.type, args, ())
            else:
                args = [stored, old]
                new = value(self.module, ops.OpCompositeInsert, node.type, args, (index,))
            out.append(new)
            self.at_exit[block][node.cell] = new
            self.variable_notes.now(node.cell, new, block)
        elif node.kind == WHOLE:
            self.store_whole(node, resolve(stored), place.vertex, block, out)
        else:
            self.take_apart(place, node, stored, (), block, out)

    def store_whole(
        self, node: PartNode, stored: Inst, vertex: Inst | None, block: Block, out: list[Inst]
    ) -> None:
        if not node.in_place:
            self.at_exit[block][node.cell] = stored
            self.variable_notes.now(node.cell, stored, block)
            return
        for lane, key in enumerate(node.keys):
            part = stored
            if node.type.op == ops.OpTypeVector:
                part = extract(self.module, stored, (lane,), node.type.args[0], out)
            if part.op != ops.OpUndef:
                out.append(store_slot(key, part, vertex))

    def take_apart(
        self, place: PointerTarget, node: PartNode, whole: Inst, path: tuple[int, ...],
        block: Block, out: list[Inst],
    ) -> None:  # fmt: skip
        """Store a composite value into the nodes below ``node``."""
        for index, child in enumerate(node.children):
            if child.kind == SPLIT:
                self.take_apart(place, child, whole, (*path, index), block, out)
                continue
            made = extract(self.module, resolve(whole), (*path, index), child.type, out)
            if child.kind == MEMORY:
                pointer = self.address(child, place.vertex, out)
                out.append(Inst(ops.OpStore, None, [pointer, made], ()))
            else:
                self.store_whole(child, made, place.vertex, block, out)

    def extended(self, inst: Inst, block: Block, out: list[Inst]) -> bool:
        """interpolateAt* becomes one INTERPOLATE a component."""
        if inst.args[0] is not self.glsl_set:
            return False
        place = self.places.get(inst.args[1]) if len(inst.args) > 1 else None
        if place is None or place.node.kind == MEMORY or inst.imm[0] not in INTERPOLATIONS:
            if place is not None and not place.rest and place.node.variable is not None:
                inst.args[1] = place.node.variable
            return False
        node, keys = place.node, place.node.keys
        if place.lane is not None:
            keys = [keys[types.index_of(place.lane) or 0]]
        self.loaded.update(keys)
        scalar = node.type.args[0] if node.type.op == ops.OpTypeVector else node.type
        number, rest = inst.imm[0], inst.args[2:]
        if len(keys) == 1:
            rewrite(self.module, inst, INTERPOLATE, rest, (keys[0], number))
        else:
            parts = [value(self.module, INTERPOLATE, scalar, list(rest), (k, number)) for k in keys]
            out += parts
            rewrite(self.module, inst, ops.OpCompositeConstruct, parts, ())
        out.append(inst)
        return True
