"""The interface of a stage becomes scalar slots.

Every way in which code touches an interface variable (plain variables, blocks and their members,
structs, matrices, arrays; access chains, whole-aggregate loads and stores, OpCopyMemory, partial
stores, initializers, read-back) ends as LOAD_INPUT and STORE_OUTPUT of single components, by the
same renaming that promotes local variables (``promote``).

It runs in two halves, so that both sides of a border can agree on what stays whole in between:
``Lowering.analyse`` finds the nodes that are indexed dynamically, captured by transform feedback or
otherwise pinned; ``Lowering.finish`` rewrites.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv, Refused
from spvlink.facts import invariant
from spvlink.facts.calls import Calls
from spvlink.facts.decorations import Decorations, Names, untouchable
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, Function, Inst, Module
from spvlink.ir.edit import list_variable
from spvlink.ir.slot import (
    CAPTURED,
    DYNAMIC,
    Aggregate,
    Interface,
    Pinned,
    Slot,
    base_of,
    key_of,
)
from spvlink.ir.types import NUMBERS
from spvlink.passes.cleaning.flow import drop_unreachable
from spvlink.passes.lowering import captures, output_stores
from spvlink.passes.lowering.captures import CAPTURED_WHY
from spvlink.passes.lowering.cells import MEMORY, SPLIT, WHOLE, PartNode
from spvlink.passes.lowering.memory_access import holds_slots, separable
from spvlink.passes.lowering.promote import Promotion

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_QUALIFIERS: Final = info.INTERPOLATION_DECORATIONS | info.KIND_DECORATIONS
# What a part of a variable keeps when it becomes one.
_KEPT: Final = _QUALIFIERS | {enums.Decoration_RelaxedPrecision, enums.Decoration_Invariant}
# Stages whose inputs, and whose outputs, are arrays over vertices (Patch variables apart).
_ARRAYED_INPUTS: Final = frozenset(
    (
        enums.ExecutionModel_TessellationControl,
        enums.ExecutionModel_TessellationEvaluation,
        enums.ExecutionModel_Geometry,
    )
)
_ARRAYED_OUTPUTS: Final = frozenset(
    (enums.ExecutionModel_TessellationControl, enums.ExecutionModel_MeshEXT)
)
# Whose outputs other invocations see before this one ends.
_SEEN_EARLY: Final = _ARRAYED_OUTPUTS | {enums.ExecutionModel_TaskEXT}
# What may stand between the variables of a function, which come first: lines, debug information.
_AMONG_VARIABLES: Final = frozenset((ops.OpLine, ops.OpNoLine, ops.OpExtInst))
_PARTED: Final = info.NESTED_TYPES
_REPEATED: Final = _PARTED | {ops.OpTypeVector}
_PINNING: Final = frozenset((enums.Decoration_Volatile, enums.Decoration_Coherent))
# Beyond any device's limit; keeps hostile modules from making huge tables.
MAX_LOCATION: Final = 4096


class Spot:
    """Where an interface node lies, and what is said of it."""

    __slots__ = ("component", "location", "name", "shift", "variable", "words")

    def __init__(
        self, location: int, component: int, words: list[tuple[int, ...]], name: str,
        variable: Inst, shift: int = 0,
    ) -> None:  # fmt: skip
        self.location = location
        self.component = component
        self.words = words  # decorations of the variable and of the members on the way
        self.name = name
        self.variable = variable
        self.shift = shift  # bytes into what transform feedback captures


class Lowering:
    """One stage on its way to slots. ``inputs`` and ``outputs`` say which sides are to be
    lowered."""

    def __init__(self, module: Module, inputs: bool, outputs: bool) -> None:
        assert module.entry is not None
        self.module = module
        self.function: Function = module.entry.function
        self.tables = Decorations.of(module)
        self.names = Names(module)
        self.inputs: Interface | None = Interface() if inputs else None
        self.outputs: Interface | None = Interface() if outputs else None
        self.captures = captures.active(module)
        self.captured: set[Inst] = set()  # variables of which something is captured
        self.roots: dict[Inst, PartNode] = {}
        self.sides: dict[Inst, Interface] = {}
        self.spots: dict[PartNode, Spot] = {}
        self.promotion: Promotion | None = None
        self.only: set[Inst] | None = None  # interface variables to look at; None: all
        self.model = module.entry.model
        self.arrayed: dict[Inst, Inst] = {}  # arrays over vertices or primitives, and their length

    # -- first half --------------------------------------------------------------------------------

    def analyse(self) -> None:
        """Find the candidates, how the code touches them, and what must stay whole."""
        # what nothing reaches would still name what is promoted
        drop_unreachable(self.module, self.function)
        elsewhere = Calls.of(self.module).variables
        self.local_roots(elsewhere)
        self.interface_roots(elsewhere)
        glsl = next(iter(Effects.of(self.module).glsl), None)
        promotion = self.promotion = Promotion(self.module, self.function, self.roots, glsl)
        promotion.arrayed = self.arrayed
        promotion.at_emits = self.model == enums.ExecutionModel_Geometry
        if self.model in _SEEN_EARLY:
            promotion.in_place = {v for v, side in self.sides.items() if side is self.outputs}
        promotion.analyse()
        for variable, side in self.sides.items():
            self.locate(variable, side)

    def local_roots(self, elsewhere: set[Inst]) -> None:
        wanted = ops.OpVariable
        for inst in self.function.blocks[0].insts:
            if inst.op == wanted:
                self.root(inst)
            elif inst.op not in _AMONG_VARIABLES:
                break  # they come first in a function
        storage, known = enums.StorageClass_Private, types.of_op(self.module, wanted)
        private = [v for v in known if v.imm[0] == storage and v not in elsewhere]
        if private:  # what is not used need not be looked at again and again
            used = {a for block in self.function.blocks for i in block.insts for a in i.args}
            for inst in filter(used.__contains__, private):
                self.root(inst)

    def root(self, variable: Inst) -> PartNode:
        assert variable.type is not None
        node = self.roots[variable] = PartNode(variable.type.args[0], ())
        for words in self.tables.targets.get(variable, ()):
            if words[0] in _PINNING:
                node.pin("it is volatile or coherent")
        if variable.args and not separable(variable.args[0]):
            node.pin("its initializer is a specialization constant operation")
        return node

    def interface_roots(self, elsewhere: set[Inst]) -> None:
        entry = self.module.entry
        assert entry is not None
        is_mesh = self.model == enums.ExecutionModel_MeshEXT
        sides = {
            enums.StorageClass_Input: self.inputs,
            enums.StorageClass_Output: self.outputs,
            enums.StorageClass_TaskPayloadWorkgroupEXT: self.inputs if is_mesh else self.outputs,
        }
        for variable in entry.inst.args[1:]:
            if variable.op == ops.OpUntypedVariableKHR:
                continue  # a buffer
            if variable.op != ops.OpVariable:
                raise BadSpirv("OpEntryPoint lists an id that is no variable")
            side = sides.get(variable.imm[0])
            if side is None or variable in self.sides:
                continue
            words = self.all_words(variable)
            held = {w[0] for w in words if w != (enums.Decoration_Stream, 0)}
            if enums.Decoration_BuiltIn in held and self.builtin(variable):
                continue
            if self.only is not None and variable not in self.only:
                continue
            node = self.interface_root(variable, side is self.inputs, held)
            self.sides[variable] = side
            if self.captures and side is self.outputs and enums.Decoration_Offset in held:
                self.captured.add(variable)
                captures.pin(self.tables, variable, node)
            if why := self.why_whole(node.type):
                node.pin(why)
            if variable in elsewhere:
                node.pin("a function that could not be inlined uses it")
            if why := untouchable(self.tables, variable, held):
                captures.pin_stream(self.tables, node, why, held)

    def interface_root(self, variable: Inst, is_input: bool, held: set[int]) -> PartNode:
        """The node of an interface variable: of its element type where it is an array over
        vertices. ``held``: its decorations and those of its members."""
        node = self.root(variable)
        if self.model == enums.ExecutionModel_Fragment:
            arrayed = is_input and enums.Decoration_PerVertexKHR in held
        elif is_input:
            arrayed = self.model in _ARRAYED_INPUTS
        else:
            arrayed = self.model in _ARRAYED_OUTPUTS
        if not arrayed or enums.Decoration_Patch in held:
            if variable.args and not is_input and self.model in _ARRAYED_OUTPUTS:
                node.pin("it has an initializer")
            return node
        if node.type.op != ops.OpTypeArray:
            raise BadSpirv(f"{self.names.of(variable) or 'an interface variable'} is no array")
        self.arrayed[variable] = node.type.args[1]
        part = self.roots[variable] = PartNode(node.type.args[0], ())
        if node.kind == MEMORY:
            part.pin(node.why, node.pins)
        if variable.args:
            part.pin("it has an initializer")
        return part

    def why_whole(self, type: Inst) -> str:
        """Why values of this type may not be taken apart; empty if they may. StorageInputOutput16
        alone does not allow it for 16-bit numbers (specification, "Universal Validation Rules").
        Slots hold integers and floats of IEEE 754."""
        if type.op == ops.OpTypeStruct:
            return next(filter(None, map(self.why_whole, type.args)), "")
        while type.op in _REPEATED:
            type = type.args[0]
        if type.op == ops.OpTypeFloat and not types.is_ieee(type):
            return "its numbers have another encoding than that of IEEE 754"
        whole = types.capability_of(type) if type.imm[:1] == (16,) else None
        if whole is None or any(c.imm[0] == whole for c in self.module.sections[CAPABILITIES]):
            return ""
        return "its 16-bit values may only be loaded, converted and stored"

    def builtin(self, variable: Inst) -> bool:
        """A built-in or a block of built-ins."""
        if self.tables.find(variable, enums.Decoration_BuiltIn) is not None:
            return True
        assert variable.type is not None
        struct = variable.type.args[0]
        while struct.op == ops.OpTypeArray:
            struct = struct.args[0]
        return self.tables.find_member(struct, 0, enums.Decoration_BuiltIn) is not None

    def all_words(self, variable: Inst) -> list[tuple[int, ...]]:
        """Decorations of a variable and of all members of its block or struct."""
        words = list(self.tables.targets.get(variable, ()))
        assert variable.type is not None
        todo = [variable.type.args[0]]
        for type in todo:  # grows
            while type.op == ops.OpTypeArray:
                type = type.args[0]
            if type.op == ops.OpTypeStruct:
                for index in range(len(type.args)):
                    words += self.tables.members.get((type, index), ())
                todo += type.args
        return words

    # -- Locations ---------------------------------------------------------------------------------

    def locate(self, variable: Inst, side: Interface) -> None:
        """Give every leaf of an interface variable its Location and Component."""
        words = self.tables.targets.get(variable, [])
        place = self.tables.find(variable, enums.Decoration_Location)
        component = self.tables.find(variable, enums.Decoration_Component)
        name = self.names.of(variable)
        root = self.roots[variable]
        start = place[0] if place else -1
        spot = Spot(start, component[0] if component else 0, words, name, variable)
        end = self.spread(root, spot)
        if end > MAX_LOCATION:
            raise BadSpirv(
                f"Location {end - 1} of {name or 'an interface variable'} is beyond any limit"
            )

    def spread(self, node: PartNode, spot: Spot) -> int:
        """Place a node and what is below it; gives the first Location after it."""
        type = node.type
        if type.op == ops.OpTypeStruct:
            self.spots[node] = spot
            if not node.split() and type.args:
                node.pin("it is too large to split")
            return self.spread_struct(node, spot)
        if spot.location < 0:
            raise BadSpirv(f"the interface variable {spot.name or '?'} has no Location")
        if spot.variable.imm[0] == enums.StorageClass_TaskPayloadWorkgroupEXT:
            self.pin_odd(node)
        if type.op in _PARTED and not node.split():
            node.pin("it is too large to split")
        self.spots[node] = spot
        if node.kind != SPLIT:
            return spot.location + locations_of(type)
        at = spot.location
        for index, child in enumerate(node.children):
            name = f"{spot.name}[{index}]"
            shift = spot.shift
            if spot.variable in self.captured:
                shift += index * captures.bytes_of(child.type)
            inner = Spot(at, spot.component, spot.words, name, spot.variable, shift)
            at = self.spread(child, inner)
            if at > MAX_LOCATION:
                return at
        return at

    def pin_odd(self, node: PartNode) -> None:
        """A payload may hold what no other interface may: booleans, bytes, addresses. They stay as
        they are."""
        inner = node.type
        while inner.op in _REPEATED:
            inner = inner.args[0]
        if (inner.op == ops.OpTypeStruct and node.kind != MEMORY) or holds_slots(inner):
            return
        node.pin("")
        node.why = "it holds other things than numbers of 16, 32 or 64 bits"

    def spread_struct(self, node: PartNode, spot: Spot) -> int:
        struct = node.type
        at = spot.location
        end, shift = at, spot.shift
        captured = spot.variable in self.captured and captures.has_offset(spot.words)
        for index in range(len(struct.args)):
            place = self.tables.find_member(struct, index, enums.Decoration_Location)
            component = self.tables.find_member(struct, index, enums.Decoration_Component)
            if place:
                at = place[0]
            if spot.location < 0:
                spot.location = at
            member = self.names.of_member(struct, index)
            name = f"{spot.name}.{member}" if spot.name else member
            words = spot.words + self.tables.members.get((struct, index), [])
            inner = Spot(at, component[0] if component else 0, words, name, spot.variable, shift)
            if captured:
                shift += captures.bytes_of(struct.args[index])
            if node.kind == SPLIT:
                at = self.spread(node.children[index], inner)
            elif at < 0:
                raise BadSpirv(f"the interface variable {inner.name} has no Location")
            else:
                at += locations_of(struct.args[index])
            end = max(end, at)
            if end > MAX_LOCATION:
                break
        return end

    def keys_of(self, node: PartNode) -> list[int]:
        """Keys of all components of a node."""
        spot = self.spots[node]
        payload = spot.variable.imm[0] == enums.StorageClass_TaskPayloadWorkgroupEXT
        if node.type.op == ops.OpTypeStruct:
            keys: list[int] = []
            at = spot.location
            for index, member in enumerate(node.type.args):
                place = self.tables.find_member(node.type, index, enums.Decoration_Location)
                component = self.tables.find_member(node.type, index, enums.Decoration_Component)
                at = place[0] if place else at
                keys += keys_of_type(member, at, component[0] if component else 0, payload)
                at += locations_of(member)
            return keys
        return keys_of_type(node.type, spot.location, spot.component, payload)

    # -- pins --------------------------------------------------------------------------------------

    def memory_nodes(self, side: Interface) -> list[PartNode]:
        """The nodes of a side that stay whole."""
        found: list[PartNode] = []
        for variable, owner in self.sides.items():
            root = self.roots[variable]
            if owner is side and root.kind != WHOLE:
                found += [leaf for leaf in root.leaves() if leaf.kind == MEMORY]
        return found

    def pin_keys(
        self, side: Interface, keys: set[int], shape: PartNode | None, why: str, pins: int = 0
    ) -> bool:
        """Keep whole what covers these keys, as one node of the shape that the other side has if
        there is one. Whether anything new was pinned."""
        changed = False
        for variable, owner in self.sides.items():
            if owner is side:
                changed |= self._pin_below(self.roots[variable], keys, shape, why, pins)
        return changed

    def _pin_below(
        self, node: PartNode, keys: set[int], shape: PartNode | None, why: str, pins: int
    ) -> bool:
        if node.kind == MEMORY:
            return False
        if keys.isdisjoint(self.keys_of(node)):
            return False
        covered = shape is not None and keys.issuperset(self.keys_of(node))
        if node.type.op == ops.OpTypeStruct:
            inside = not covered or (shape is not None and shape.type.op != ops.OpTypeStruct)
        else:  # of an array or a matrix the part that the other side has as one
            inside = shape is not None and not covered and node.kind == SPLIT
        if inside:
            changed = False
            for child in node.children:
                changed |= self._pin_below(child, keys, shape, why, pins)
            return changed
        node.pin(why, pins)
        return True

    # -- second half -------------------------------------------------------------------------------

    def finish(self, unswept: bool = False) -> None:
        """Rewrite the function and fill the interfaces. ``unswept``: ``simplify`` comes next, so
        copies may be left where it is the first to look."""
        promotion = self.promotion
        assert promotion is not None
        group = 0
        whole: list[tuple[PartNode, Interface]] = []
        for variable, side in self.sides.items():
            root = self.roots[variable]
            for leaf in root.leaves():
                group += 1
                if leaf.kind == MEMORY:
                    whole.append((leaf, side))
                elif leaf.type.op != ops.OpTypeStruct:  # that would be an empty one
                    self.make_slots(leaf, side, group)
            self.measure(root, side)
            if root.kind != MEMORY:
                side.variables.append(variable)
            find_wholes(root, side)
        promotion.replace_places()
        promotion.unswept = unswept
        promotion.rename(output_stores.output_stores if self.outputs is not None else None)
        for node, side in sorted(whole, key=lambda held: held[1] is self.outputs):
            self.make_pinned(node, side)

    def measure(self, root: PartNode, side: Interface) -> None:
        """Count what the original declares, once there are slots of it."""
        if root.keys and root.kind != SPLIT and side.slots[root.keys[0]].width != 64:
            side.components += len(root.keys)
            side.locations.add(root.keys[0] >> 3)  # a scalar or vector is in one
            return
        keys: set[int] = set()
        for leaf in root.leaves():
            keys.update(self.keys_of(leaf))
        side.components += len(keys)
        side.locations.update([k >> 3 for k in keys])

    def make_slots(self, leaf: PartNode, side: Interface, group: int) -> None:
        spot = self.spots[leaf]
        variable, name = spot.variable, spot.name
        scalar = leaf.type.args[0] if leaf.type.op == ops.OpTypeVector else leaf.type
        if scalar.op not in NUMBERS:
            raise BadSpirv(f"the interface variable {name or '?'} holds no numbers")
        size = leaf.type.imm[0] if leaf.type.op == ops.OpTypeVector else 1
        step = 2 if scalar.imm[0] == 64 else 1
        if spot.component + min(size * step, 4) > 4:
            raise BadSpirv(f"{name or 'an interface variable'} runs over the end of its Location")
        leaf.is_input = side is self.inputs
        held: list[int] = []  # empty for most
        for words in spot.words:
            if words[0] != enums.Decoration_Location:
                held.append(words[0])
        qualifiers = self.qualifiers(held, leaf.is_input) if held else ()
        relaxed = enums.Decoration_RelaxedPrecision in held
        extras = ((enums.Decoration_Invariant,),) if enums.Decoration_Invariant in held else ()
        base, length = base_of(scalar), self.arrayed.get(variable)
        first = key_of(spot.location, spot.component)  # the next Location has the keys after it
        keys = range(first, first + 2 * size * step, 2 * step)
        for lane, key in enumerate(keys):
            if key in side.slots:
                place = f"Location {key >> 3}, Component {key >> 1 & 3}"
                raise BadSpirv(f"two interface variables overlap at {place}")
            side.slots[key] = Slot(
                key, scalar, variable, name, lane, group, base, qualifiers, relaxed, extras, length
            )
        leaf.keys += keys
        if extras and not leaf.is_input:
            invariant.add_slots(self.module, keys)
        captures.note(self.capture_of(spot), side.captured, leaf.keys, scalar)

    def capture_of(self, spot: Spot) -> captures.Capture | None:
        if spot.variable not in self.captured:
            return None
        block = captures.block_words(self.tables, spot.variable)
        return captures.at(spot.words, spot.shift, block)

    def is_captured(self, node: PartNode) -> bool:
        """Of a whole block it is the members that say so."""
        spot = self.spots[node]
        whole = spot.variable in self.captured and node is self.roots.get(spot.variable)
        return whole or self.capture_of(spot) is not None

    def make_pinned(self, node: PartNode, side: Interface) -> None:
        spot = self.spots[node]
        variable = node.variable
        assert variable is not None
        if not node.pins & CAPTURED and self.is_captured(node):
            node.why += f"; {CAPTURED_WHY}"
            node.pins |= CAPTURED
        movable = node.pins & DYNAMIC != 0 and node.type.op == ops.OpTypeArray
        pinned = Pinned(
            variable,
            spot.location,
            spot.component,
            self.keys_of(node),
            self.qualifiers([w[0] for w in spot.words], side is self.inputs),
            spot.name,
            node.why,
            movable,
            node.pins,
        )
        side.pinned.append(pinned)
        if variable is not spot.variable:
            self.declare(variable, spot)

    def qualifiers(self, decorations: list[int], is_input: bool) -> tuple[int, ...]:
        """What may share a Location must agree in these. How a value is interpolated matters where
        a fragment shader reads it, and nowhere else."""
        held = qualifiers_of(decorations)
        if is_input and self.model != enums.ExecutionModel_Fragment:
            return _kind_of(held)
        return held

    def kinds(self, side: Interface) -> dict[int, tuple[int, ...]]:
        """Key -> Patch or PerPrimitiveEXT, as this side declares each component."""
        found: dict[int, tuple[int, ...]] = {}
        for variable, owner in self.sides.items():
            if owner is side:
                for leaf in self.roots[variable].leaves():
                    kind = _kind_of(qualifiers_of([w[0] for w in self.spots[leaf].words]))
                    found.update(dict.fromkeys(self.keys_of(leaf), kind))
        return found

    def declare(self, variable: Inst, spot: Spot) -> None:
        """Decorate and list the variable that a pinned part of another one became."""
        notes: list[tuple[int, ...]] = [(enums.Decoration_Location, spot.location)]
        if spot.component:
            notes.append((enums.Decoration_Component, spot.component))
        notes += sorted({w for w in spot.words if w[0] in _KEPT})
        capture = self.capture_of(spot)
        notes += captures.words_of(capture)
        if capture is None:
            notes += [w for w in spot.words if w[0] == enums.Decoration_Stream][:1]
        Decorations.add(self.module, variable, notes)
        list_variable(self.module, variable)


def find_wholes(node: PartNode, side: Interface) -> None:
    """Note the matrices and arrays that were split into leaves, and the vectors of two
    Locations."""
    if node.kind != SPLIT:
        if len(node.keys) > 2 and side.slots[node.keys[0]].width == 64:
            side.aggregates.append(Aggregate(ops.OpTypeVector, [list(node.keys)]))
        return
    children = node.children
    if node.type.op in _PARTED and all(c.keys for c in children):
        side.aggregates.append(Aggregate(node.type.op, [list(c.keys) for c in children]))
        return
    for child in children:
        find_wholes(child, side)


def qualifiers_of(decorations: list[int]) -> tuple[int, ...]:
    """The interpolation decorations among these, and Patch or PerPrimitiveEXT, sorted."""
    return tuple(sorted(_QUALIFIERS.intersection(decorations)))


def _kind_of(qualifiers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(q for q in qualifiers if q in info.KIND_DECORATIONS)


def locations_of(type: Inst) -> int:
    """Locations that a type takes (Vulkan, "Location and Component Assignment")."""
    op = type.op
    if op == ops.OpTypeVector:
        return 2 if type.args[0].imm and type.args[0].imm[0] == 64 and type.imm[0] > 2 else 1
    if op == ops.OpTypeMatrix:
        return type.imm[0] * locations_of(type.args[0])
    if op == ops.OpTypeArray:
        count = types.size_of(type)
        if not 0 < count <= MAX_LOCATION:
            raise Refused("an interface array whose size is no small constant")
        return count * locations_of(type.args[0])
    if op == ops.OpTypeStruct:
        return sum(locations_of(member) for member in type.args)
    return 1


def keys_of_type(type: Inst, location: int, component: int, payload: bool = False) -> list[int]:
    """Keys of all components of a value of this type that begins at this place."""
    op = type.op
    if op == ops.OpTypeStruct:
        keys: list[int] = []
        for member in type.args:
            keys += keys_of_type(member, location, 0, payload)
            location += locations_of(member)
        return keys
    if op in _PARTED:
        step, count = locations_of(type.args[0]), types.size_of(type)  # ``locate`` has seen it
        part = keys_of_type(type.args[0], location, component, payload)
        return [k + 8 * step * i for i in range(count) for k in part]
    scalar = type.args[0] if op == ops.OpTypeVector else type
    if scalar.op not in NUMBERS:
        if not payload:
            raise BadSpirv("an interface variable holds other things than numbers")
        parts = 2 if scalar.op == ops.OpTypePointer else 1
    else:
        parts = 2 if scalar.imm[0] == 64 else 1
    words = (type.imm[0] if op == ops.OpTypeVector else 1) * parts
    first = key_of(location, component)  # the next Location has the keys after these
    return list(range(first, first + 2 * words, 2))
