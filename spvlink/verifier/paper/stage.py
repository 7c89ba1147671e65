"""One stage: its variables, what it reads and writes, and what can be seen of it outside."""

from __future__ import annotations

from spvlink.grammar import enums, info, ops
from spvlink.ir import core
from spvlink.ir.core import Inst, Module, name_of_set, says_nothing
from spvlink.ir.types import bits_of
from spvlink.verifier.paper import folding as fold
from spvlink.verifier.paper import places
from spvlink.verifier.paper.acts import Acts
from spvlink.verifier.paper.graph import BOOL, CONST, MEMORY, Node, NotProvable
from spvlink.verifier.paper.places import PlaceLeaf
from spvlink.verifier.paper.pointers import (
    TermAddress,
    TermPointer,
    chain,
    part_of,
    scalars,
    with_part,
)
from spvlink.verifier.paper.queries import asked, is_query
from spvlink.verifier.paper.shapes import Shapes, Value, mapped, parts, zipped
from spvlink.verifier.paper.state import CHAINS, ELEMENTS, KILL, RETURN, Edge, met
from spvlink.verifier.paper.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Any, Final

    from spvlink.verifier.paper.places import Key

    # key, kind, qualifiers, vertex (of an arrayed input) -> value
    Supply = Callable[[PlaceLeaf, "Node | None"], Node]

_BUFFERS: Final = frozenset((
    enums.StorageClass_Uniform, enums.StorageClass_StorageBuffer, enums.StorageClass_PushConstant,
    enums.StorageClass_UniformConstant,
))  # fmt: skip
_PHYSICAL: Final = enums.StorageClass_PhysicalStorageBuffer
_VOLATILE: Final = 1  # of memory operands
DEMOTED: Final = "demoted"


class ProvedStage(Acts):
    """Walks the entry point of a module. ``outputs``: what it wrote in the end, by key;
    ``seen``: everything else that can be seen outside, by name."""

    def __init__(
        self, name: str, module: Module, terms: Terms, side: str, supply: Supply,
        specialized: dict[int, str | bytes], defaults: bool,
    ) -> None:  # fmt: skip
        super().__init__(Shapes(module), terms, side)
        assert module.entry is not None
        self.name = name
        self.module = module
        self.entry = module.entry
        self.supply = supply
        self.specialized = specialized
        self.shapes.length = self.length
        self.defaults = defaults
        self.imports = {}
        self.constants: dict[Inst, Value] = {}
        self.leaves: dict[Inst, Any] = {}  # of interface variables
        self.arrayed: set[Inst] = set()
        self.lengths: dict[object, int] = {}  # the shortest arrays of vertices, or primitives
        self.outputs: dict[Key, Node] = {}
        self.written: dict[Key, PlaceLeaf] = {}
        self.interpolation: dict[int, tuple[str, ...]] = {}  # by Location
        self.seen: dict[object, Node] = {}
        self.live: Node = self.graph.true  # whether an invocation gets to the end
        self.per_sample = False  # it certainly runs for each sample
        self.may_be_per_sample = name == "frag" and self.lists_sample()
        self.writes = any(
            info.FLAGS.get(i.op, 0) & (info.WRITES_MEMORY | info.ATOMIC)
            and i.op not in (ops.OpStore, ops.OpCopyMemory)
            for f in module.functions for b in f.blocks for i in b.insts
        )  # fmt: skip

    def lists_sample(self) -> bool:
        """Whether an input is decorated Sample, or says which sample it is. A device may then run
        the stage for each of them, even if nothing is made of the input (Vulkan, "Sample
        Shading")."""
        for inst in self.entry.inst.args[1:]:
            notes = [self.shapes.of(inst)]
            type = inst.type.args[0] if inst.type is not None else None
            if type is not None and type.op == ops.OpTypeStruct:
                notes += [self.shapes.of_member(type, at) for at in range(len(type.args))]
            for note in notes:
                builtin = note.get(places.BUILTIN, (-1,))[0]
                if enums.Decoration_Sample in note or builtin in info.SAMPLE_RATE_BUILTINS:
                    return True
        return False

    # -- variables ---------------------------------------------------------------------------------

    def start(self) -> Edge:
        """What there is when the entry point begins."""
        cells: dict[object, Value] = {
            MEMORY: self.graph.leaf("memory", MEMORY),
            DEMOTED: self.graph.false,
        }
        used = set(self.entry.inst.args[1:])
        for inst in self.module.globals:
            if inst.op != ops.OpVariable:
                continue
            storage = inst.imm[0]
            type = self.pointee(inst)
            if storage == enums.StorageClass_Private:
                cells[inst, 0] = self.initial(inst, type)
            elif storage == enums.StorageClass_Output and inst in used:
                self.begin_output(inst, type, cells)
        return Edge(self.graph.true, cells, [])

    def begin_output(self, inst: Inst, type: Inst, cells: dict[object, Value]) -> None:
        arrayed = self.is_arrayed(inst, type, False)
        if arrayed:
            raise NotProvable(f"outputs of the {self.name} stage")
        self.leaves[inst] = places.leaves_of(self.shapes, inst, type)
        cells[inst, 0] = self.initial(inst, type)

    def pointee(self, variable: Inst) -> Inst:
        type = variable.type
        if type is None or type.op != ops.OpTypePointer:
            raise NotProvable("an untyped variable")
        return type.args[0]

    def initial(self, variable: Inst, type: Inst) -> Value:
        if variable.args:
            return self.constant(variable.args[0])
        return self.shapes.undefined(self.graph, type)

    def is_arrayed(self, variable: Inst, type: Inst, is_input: bool) -> bool:
        """Whether the outer dimension of an interface variable counts vertices or primitives."""
        per_vertex = ("tesc", "tese", "geom") if is_input else ("tesc", "mesh")
        if self.name == "frag" and is_input:
            return enums.Decoration_PerVertexKHR in self.shapes.of(variable)
        if self.name not in per_vertex or type.op != ops.OpTypeArray:
            return False
        notes = self.shapes.of(variable)
        is_patch = places.is_patch(self.shapes, variable, type.args[0])
        if notes.get(places.BUILTIN, (-1,))[0] in places.PATCH_BUILTINS and not is_patch:
            raise NotProvable("levels of tessellation that are not Patch")
        return not is_patch

    def note_interpolation(self, leaves: list[PlaceLeaf]) -> None:
        """Vulkan: what a fragment shader reads of one Location is interpolated alike."""
        for leaf in leaves if self.name == "frag" else []:
            if leaf.key[0] == "loc":
                first = self.interpolation.setdefault(leaf.key[1], leaf.qualifiers)
                if first != leaf.qualifiers:
                    raise NotProvable("inputs of one Location with different interpolation")

    def note_length(self, word: str, variable: Inst, type: Inst) -> None:
        builtin = self.shapes.of(variable).get(places.BUILTIN)
        key = word, builtin, places.is_per_primitive(self.shapes, variable, type.args[0])
        length = self.shapes.count(type)
        self.lengths[key] = min(length, self.lengths.get(key, length))

    def variable(self, inst: Inst) -> Value:
        """The pointer that a variable at module scope is."""
        storage = inst.imm[0]
        type = self.pointee(inst)
        if storage in _BUFFERS:
            notes = self.shapes.of(inst)
            where: tuple[Any, ...] = (storage,)
            if storage != enums.StorageClass_PushConstant:
                if enums.Decoration_Binding not in notes:
                    raise NotProvable("a resource without a binding")
                where = (
                    storage,
                    notes.get(enums.Decoration_DescriptorSet, (0,))[0],
                    notes[enums.Decoration_Binding][0],
                )
            return TermAddress(where, type, frozenset(notes))
        if storage == enums.StorageClass_Input:
            if inst not in self.leaves:
                if self.is_arrayed(inst, type, True):
                    self.arrayed.add(inst)
                    self.note_length("input", inst, type)
                    type = type.args[0]
                self.leaves[inst] = places.leaves_of(self.shapes, inst, type)
                self.note_interpolation(flat_leaves(self.leaves[inst]))
            return TermPointer(("in", inst), (), self.pointee(inst))
        if storage in (enums.StorageClass_Private, enums.StorageClass_Output):
            return TermPointer((inst, 0), (), type)
        raise NotProvable(f"variables of the storage class {storage}")

    def constant(self, inst: Inst) -> Value:
        known = self.constants.get(inst)
        if known is None:
            known = self.constants[inst] = self._constant(inst)
        return known

    def _constant(self, inst: Inst) -> Value:
        op, type = inst.op, inst.type
        if op == ops.OpVariable:
            return self.variable(inst)
        if type is None:
            raise NotProvable("a value without a type")
        if op in (ops.OpConstantComposite, ops.OpSpecConstantComposite):
            return tuple([self.constant(a) for a in inst.args])
        if op == ops.OpConstantNull:
            return self.shapes.zero(self.graph, type)
        if op == ops.OpUndef:
            return self.shapes.undefined(self.graph, type)
        if op in (ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse):
            return self.special(inst, type)
        if op == ops.OpSpecConstantOp:
            node = self.pure(Inst(inst.imm[0], type, inst.args, inst.imm[1:]))
            if node is None:
                raise NotProvable("an operation on specialization constants")
            return node
        bits = bits_of(inst)
        if bits is None:
            raise NotProvable(f"the instruction {ops.NAMES.get(op, op)} as a constant")
        return self.graph.const(self.shapes.kind(type), bits)

    def length(self, inst: Inst) -> int | None:
        """Of an array: also one that is specialized, if the value is given."""
        node = self.constant(inst)
        return node.bits if isinstance(node, Node) and node.op == CONST else None

    def special(self, inst: Inst, type: Inst) -> Node:
        """A specialization constant."""
        kind = self.shapes.kind(type)
        number = self.shapes.of(inst).get(enums.Decoration_SpecId)
        if number is None or self.defaults or number[0] in self.specialized:
            if number is not None and number[0] in self.specialized:
                return self.graph.const(kind, given_bits(kind, self.specialized[number[0]]))
            if inst.op == ops.OpSpecConstant:
                bits = inst.imm[0] | (inst.imm[1] << 32 if len(inst.imm) > 1 else 0)
                return self.graph.const(kind, bits & ((1 << type.imm[0]) - 1))
            return self.graph.const(BOOL, int(inst.op == ops.OpSpecConstantTrue))
        return self.graph.node("spec", kind, (), (self.name, number[0]))

    # -- instructions ------------------------------------------------------------------------------

    def act(self, inst: Inst) -> Value:
        op = inst.op
        if op == ops.OpVariable:
            assert inst.type is not None
            type = inst.type.args[0]
            value = self.initial(inst, type)
            self.cells[inst, self.call.number] = value
            return TermPointer((inst, self.call.number), (), type)
        if op == ops.OpLoad:
            if self.is_volatile(inst, 0):
                raise NotProvable("a volatile load")
            return self.load(self.pointer(inst.args[0]))
        if op == ops.OpStore:
            if self.is_volatile(inst, 0):
                raise NotProvable("a volatile store")
            return self.store(self.pointer(inst.args[0]), self.value(inst.args[1]))
        if op in CHAINS:
            return self.chained(inst)
        if op == ops.OpFunctionCall:
            return self.called(inst)
        if op == ops.OpCopyMemory:
            return self.store(self.pointer(inst.args[0]), self.load(self.pointer(inst.args[1])))
        node = self.pure(inst)
        if node is not None:
            return node
        return self.effect(inst)

    def is_volatile(self, inst: Inst, at: int) -> bool:
        return len(inst.imm) > at and bool(inst.imm[at] & _VOLATILE)

    def pointer(self, inst: Inst) -> Value:
        """A pointer; one that is a number is an address of physical storage."""
        value = self.value(inst)
        if not isinstance(value, Node) or inst.type is None or inst.type.op != ops.OpTypePointer:
            return value
        address = TermAddress((_PHYSICAL,), inst.type.args[0], frozenset())
        address.within = (value,)
        return address

    def chained(self, inst: Inst) -> Value:
        base = self.pointer(inst.args[0])
        indices = [self.node(a) for a in inst.args[1:]]
        if inst.op in ELEMENTS:
            base = self.element(base, inst.args[0], indices.pop(0))
        if isinstance(base, TermAddress):
            return chain(self.shapes, base, indices)
        if not isinstance(base, TermPointer):
            raise NotProvable("a pointer that is not followed")
        assert inst.type is not None
        return TermPointer(base.root, (*base.path, *indices), inst.type.args[0])

    def element(self, base: Value, pointer: Inst, index: Node) -> TermAddress:
        """The element of an array that a pointer leads to the first one of."""
        notes = {} if pointer.type is None else self.shapes.of(pointer.type)
        stride = notes.get(enums.Decoration_ArrayStride)
        if not isinstance(base, TermAddress) or stride is None:
            raise NotProvable("an element behind a pointer")
        made = base.copy()
        made.moved(stride[0], index)
        return made

    def load(self, pointer: Value) -> Value:
        if isinstance(pointer, TermAddress):
            return scalars(self.shapes, pointer, self.terms, self.fetch)
        if not isinstance(pointer, TermPointer):
            raise NotProvable("a load through an unknown pointer")
        root = pointer.root
        if isinstance(root, tuple) and root[0] == "in":
            return self.read(root[1], pointer.path)
        return self.on_path(part_of(self.terms, self.cells[root], pointer.path))

    def fetch(self, at: TermAddress) -> Node:
        """A scalar of a buffer, or a resource."""
        if enums.Decoration_Volatile in at.notes:
            raise NotProvable("a volatile variable")
        args, imm = at.key()
        kind = self.shapes.kind(at.type)
        if kind == BOOL:
            raise NotProvable("a boolean in a buffer")
        if self.may_be_written(at):
            args = (*args, self.cells[MEMORY])
        return self.graph.node("load", kind, args, imm)

    def may_be_written(self, at: TermAddress) -> bool:
        """Whether this or another invocation may write what is read."""
        if at.where[0] in (enums.StorageClass_PushConstant, enums.StorageClass_UniformConstant):
            return False
        if at.where[0] == _PHYSICAL:
            return True  # another pointer may lead there, too
        if enums.Decoration_NonWritable in at.notes:
            return False
        return at.where[0] == enums.StorageClass_StorageBuffer or (
            enums.Decoration_BufferBlock in at.notes
        )

    def read(self, variable: Inst, path: tuple[Node, ...]) -> Value:
        """An input."""
        leaves = self.leaves[variable]
        if variable not in self.arrayed:
            tree = part_of_leaves(leaves, path)
            if tree is not None:
                return _supplied(tree, lambda leaf: self.supply(leaf, None))
            whole = _supplied(leaves, lambda leaf: self.supply(leaf, None))
            return part_of(self.terms, whole, path)
        if not path:
            count = self.shapes.count(self.pointee(variable))
            return tuple([self.read(variable, (self.graph.const("i32", at),))
                          for at in range(count)])  # fmt: skip
        vertex = path[0]
        tree = part_of_leaves(leaves, path[1:])
        if tree is not None:
            return _supplied(tree, lambda leaf: self.supply(leaf, vertex))
        whole = _supplied(leaves, lambda leaf: self.supply(leaf, vertex))
        return part_of(self.terms, whole, path[1:])

    def store(self, pointer: Value, value: Value) -> Value:
        if isinstance(pointer, TermAddress):
            self.put(pointer, value)
        elif isinstance(pointer, TermPointer):
            cell = pointer.root
            if cell not in self.cells:
                raise NotProvable("a store through an unknown pointer")
            self.cells[cell] = with_part(self.terms, self.cells[cell], pointer.path, value)
        else:
            raise NotProvable("a store through an unknown pointer")
        return None

    def put(self, base: TermAddress, value: Value) -> None:
        """A store to a buffer: one more link of the chain of effects, in their order."""
        if enums.Decoration_Volatile in base.notes:
            raise NotProvable("a volatile variable")
        values = iter(parts(value))

        def one(at: TermAddress) -> Node:
            args, imm = at.key()
            node = next(values)
            self.happen("store", (*args, node), (*imm, node.kind))
            return node

        scalars(self.shapes, base, self.terms, one)

    def happen(self, name: str, args: tuple[Node, ...], imm: tuple[object, ...]) -> None:
        """An effect outside, unless the invocation was demoted."""
        before = self.cells[MEMORY]
        made = self.graph.node(name, MEMORY, (before, *args), imm)
        self.cells[MEMORY] = self.graph.ite(self.cells[DEMOTED], before, made)

    def effect(self, inst: Inst) -> Value:
        op = inst.op
        if op == ops.OpDemoteToHelperInvocation:
            self.cells[DEMOTED] = self.graph.true
            return None
        if op in (ops.OpLine, ops.OpNoLine, ops.OpNop, ops.OpSelectionMerge, ops.OpLoopMerge):
            return None
        if op == ops.OpImageWrite:
            flat = [node for a in inst.args for node in parts(self.value(a))]
            self.happen("ImageWrite", tuple(flat), inst.imm)
            return None
        if op == ops.OpImageRead:
            values = [self.value(a) for a in inst.args]
            return self.whole("ImageRead", inst, [*values, self.cells[MEMORY]], inst.imm)
        if op == ops.OpArrayLength:
            return self.array_length(inst)
        if op == ops.OpExtInst and says_nothing(name_of_set(inst.args[0])):
            return None
        if is_query(inst):
            return asked(self, inst)
        flags = info.FLAGS.get(op, 0)
        if flags & info.ATOMIC and inst.args and isinstance(
            pointer := self.value(inst.args[0]), TermAddress
        ):  # fmt: skip
            return self.atomic(inst, pointer)
        raise NotProvable(f"the instruction {ops.NAMES.get(op, op)}")

    def array_length(self, inst: Inst) -> Node:
        """Of the array at the end of a block: it follows from the size of what is bound."""
        at = self.value(inst.args[0])
        if not isinstance(at, TermAddress) or inst.type is None:
            raise NotProvable("the length of an array that is not followed")
        member = inst.imm[0]
        array = at.type.args[member]
        offset = self.shapes.of_member(at.type, member)[enums.Decoration_Offset][0]
        stride = self.shapes.of(array)[enums.Decoration_ArrayStride][0]
        args, imm = at.key()
        kind = self.shapes.kind(inst.type)
        return self.graph.node("array length", kind, args, (*imm, offset, stride))

    def atomic(self, inst: Inst, pointer: TermAddress) -> Value:
        """An atomic operation gives what was there, and is an effect: both depend on all effects
        before. Scopes and orders are constants."""
        args, imm = pointer.key()
        rest = [node for a in inst.args[1:] for node in parts(self.value(a))]
        name = ops.NAMES[inst.op]
        before = self.cells[MEMORY]
        self.happen(name, (*args, *rest), imm)
        if inst.type is None:
            return None
        made = self.graph.node(
            "old", self.shapes.kind(inst.type), (before, *args, *rest), (name, *imm)
        )
        made.varying = True
        return made

    # -- the end -----------------------------------------------------------------------------------

    def walk(self) -> None:
        """Walks the entry point and collects what can be seen."""
        exits = self.run(self.entry.function, [], self.start())
        returns, kills = exits.get(RETURN, []), exits.get(KILL, [])
        graph = self.graph
        if kills:
            killed = met(graph, kills)
            self.seen["discard"] = killed.path
        if returns:
            back = met(graph, returns)
            live = self.live = back.path
            demoted = back.cells[DEMOTED]
            if demoted is not graph.false:
                self.seen["demote"] = graph.restrict(demoted, live)
            self.finish(back.cells, live)
        every = [*returns, *kills]
        if every:
            last = met(graph, [Edge(e.path, {MEMORY: e.cells[MEMORY]}, []) for e in every])
            self.seen["effects"] = last.cells[MEMORY]

    def finish(self, cells: dict[object, Value], live: Node) -> None:
        for variable, tree in self.leaves.items():
            if variable.imm[0] == enums.StorageClass_Output:
                self.collect(tree, cells[variable, 0], live)

    def collect(self, tree: Any, value: Value, live: Node) -> None:
        for leaf, node in zip(flat_leaves(tree), parts(value)):
            node = self.graph.restrict(node, live)
            self.outputs[leaf.key] = node
            self.written[leaf.key] = leaf
            self.capture(leaf, node)

    def capture(self, leaf: PlaceLeaf, node: Node) -> None:
        if leaf.captured is not None:
            if leaf.captured in self.seen:
                raise NotProvable("two captured values in one place")
            self.seen[leaf.captured] = node

    def modes(self) -> set[tuple[object, ...]]:
        """The execution modes of the entry point."""
        facts: set[tuple[object, ...]] = set()
        for inst in self.module.sections[core.EXECUTION_MODES]:
            if inst.args and inst.args[0] is self.entry.function:
                facts.add((*inst.imm, *[str(self.constant(a)) for a in inst.args[1:]]))
        return facts


def given_bits(kind: str, value: str | bytes) -> int:
    """The bits of a specialization constant that a user gave: text, or bytes as Vulkan has them."""
    size = fold.width(kind)
    if isinstance(value, bytes):
        bits = int.from_bytes(value, "little")
        return int(bits != 0) if kind == BOOL else bits & ((1 << size) - 1)
    if kind == BOOL:
        return int(value in ("true", "1"))
    try:
        if fold.is_float(kind):
            return fold.bits_of(kind, float(value)) or 0
        return int(value, 0) & ((1 << size) - 1)
    except ValueError:
        raise NotProvable("a specialization constant that cannot be read") from None


def flat_leaves(tree: Any) -> list[PlaceLeaf]:
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in flat_leaves(part)]
    return [tree]


def part_of_leaves(tree: Any, path: tuple[Node, ...]) -> Any:
    """The part of a tree at a path of constants; None if an index is none."""
    for index in path:
        if index.op != "const":
            return None
        if index.bits >= len(tree):
            raise NotProvable("an index beyond the end")
        tree = tree[index.bits]
    return tree


def _supplied(tree: Any, supply: Callable[[PlaceLeaf], Node]) -> Value:
    if isinstance(tree, tuple):
        return tuple([_supplied(part, supply) for part in tree])
    return supply(tree)


__all__ = ["ProvedStage", "mapped", "zipped"]
