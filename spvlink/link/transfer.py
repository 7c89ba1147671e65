"""Copies a value's expression from one module into another.

An expression is made of constants, pure operations and loads of read-only resources (uniform
buffers, push constants) through constant indices. A resource is the same in two modules if its
descriptor set and binding are (or if both are push constants), and a member is the same if it lies
at the same byte offset with the same type: names and member numbers say nothing.

What the target may read: a resource that it statically uses already, or that the pipeline layout
grants its stage. A block that lacks the member gets it appended at its offset, if nothing else lies
there; of push constants, without a layout, only bytes that the block declares already are known to
be in a range of that stage.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, info, ops
from spvlink.ir import core, types
from spvlink.ir.core import Inst, Module
from spvlink.ir.edit import value
from spvlink.passes.raise_io import glsl_import

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_CHAINS: Final = frozenset((ops.OpAccessChain, ops.OpInBoundsAccessChain))
_NEVER: Final = info.COCONVERGENT | info.CONVERGENT | info.DERIVATIVE | info.READS_MEMORY
_MATRIX_WORDS: Final = frozenset(
    (enums.Decoration_RowMajor, enums.Decoration_ColMajor, enums.Decoration_MatrixStride)
)
# What a number's type asks for besides Shader: (type's opcode, width) -> capability.
_WIDTHS: Final[dict[tuple[int, int], int]] = {
    (ops.OpTypeFloat, 16): enums.Capability_Float16,
    (ops.OpTypeFloat, 64): enums.Capability_Float64,
    (ops.OpTypeInt, 8): enums.Capability_Int8,
    (ops.OpTypeInt, 16): enums.Capability_Int16,
    (ops.OpTypeInt, 64): enums.Capability_Int64,
}
_DOT_PRODUCTS: Final = frozenset(
    (
        ops.OpSDot, ops.OpUDot, ops.OpSUDot,
        ops.OpSDotAccSat, ops.OpUDotAccSat, ops.OpSUDotAccSat,
    )
)  # fmt: skip
LOAD_COST: Final = 2  # per 32-bit word, as reference 1.3 has it

Key = tuple[int, int, int]  # (storage class, descriptor set, binding)


class Cannot(Exception):
    """Why an expression cannot be copied."""


class Varies(Cannot):
    """It is different at each vertex, so there is nothing to ask."""


class Access:
    """A load of a resource: which, array element, byte offset, and the member it begins in."""

    __slots__ = ("element", "key", "offset", "struct_member", "type", "words")

    def __init__(
        self, key: Key, element: list[int], offset: int, type: Inst, words: list[list[int]]
    ) -> None:
        self.key = key
        self.element = element  # constant indices into an array of blocks
        self.offset = offset  # of what is loaded, within the block
        self.type = type  # of what is loaded
        self.words = words  # RowMajor, ColMajor, MatrixStride of the member, if it holds a matrix


def resource_key(tables: Decorations, variable: Inst) -> Key | None:
    """What identifies a resource in a pipeline; None if this is none that may be copied."""
    storage = variable.imm[0]
    if storage == enums.StorageClass_PushConstant:
        return storage, 0, 0
    if storage != enums.StorageClass_Uniform:
        return None
    group = tables.find(variable, enums.Decoration_DescriptorSet)
    binding = tables.find(variable, enums.Decoration_Binding)
    if not binding:
        return None
    return storage, group[0] if group else 0, binding[0]


def shape(type: Inst) -> str:
    """A numeric type as text, equal for equal types of two modules."""
    if type.op == ops.OpTypeBool:
        return "b"
    if type.op == ops.OpTypeFloat:
        return f"f{type.imm[0]}"
    if type.op == ops.OpTypeInt:
        return f"{'i' if type.imm[1] else 'u'}{type.imm[0]}"
    if type.op in (ops.OpTypeVector, ops.OpTypeMatrix):
        return f"{shape(type.args[0])}x{type.imm[0]}"
    raise Cannot(f"a value of {ops.NAMES.get(type.op, 'some type')}")


def size_of(type: Inst, words: list[list[int]]) -> int:
    """Bytes that a numeric member covers in memory."""
    if type.op == ops.OpTypeVector:
        return type.imm[0] * (type.args[0].imm[0] // 8)
    if type.op == ops.OpTypeMatrix:
        stride = next((w[1] for w in words if w[0] == enums.Decoration_MatrixStride), 16)
        row_major = any(w[0] == enums.Decoration_RowMajor for w in words)
        return stride * (type.args[0].imm[0] if row_major else type.imm[0])
    return type.imm[0] // 8


class Blocks:
    """The resources of one module, and where things lie in them."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.tables = Decorations.of(module)
        self.effects = Effects.of(module)

    def access(self, load: Inst) -> Access:
        """What a load reads. Raises Cannot."""
        pointer = load.args[0]
        indices: list[Inst] = []
        while pointer.op in _CHAINS:
            indices = pointer.args[1:] + indices
            pointer = pointer.args[0]
        if pointer.op != ops.OpVariable or pointer.type is None or load.type is None:
            raise Cannot("a load through a pointer that is no variable's")
        if pointer.imm[0] == enums.StorageClass_Input:
            raise Varies("it is made from what differs at each vertex")
        key = resource_key(self.tables, pointer)
        if key is None or not self.effects.reads_constant(load):
            raise Cannot("it reads memory that may change or that only this stage has")
        path = [types.index_of(i) for i in indices]
        type = pointer.type.args[0]
        element: list[int] = []
        at = 0
        while type.op == ops.OpTypeArray:
            index = path[at] if at < len(path) else None
            if index is None or not 0 <= index < types.size_of(type):
                raise Cannot("an array of resources with an index that is not known")
            element.append(index)
            type = type.args[0]
            at += 1
        if type.op != ops.OpTypeStruct:
            raise Cannot("it is no block")
        offset, words = self.walk(type, path[at:])
        shape(load.type)
        return Access(key, element, offset, load.type, words)

    def walk(self, type: Inst, path: list[int | None]) -> tuple[int, list[list[int]]]:
        """(byte offset, matrix words) of the part of a block at constant indices. Raises Cannot."""
        offset = 0
        words: list[list[int]] = []
        for index in path:
            if index is None:
                raise Cannot("an index that is not constant")
            step = self.step(type, index, words)
            if type.op == ops.OpTypeStruct:
                own = self.tables.members.get((type, index), ())
                words = [w for w in own if w[0] in _MATRIX_WORDS]
            type = types.part_type(type, index)
            if type.op in (ops.OpTypeVector, ops.OpTypeInt, ops.OpTypeFloat) and words:
                words = [] if type.op != ops.OpTypeMatrix else words
            offset += step
        return offset, words

    def step(self, type: Inst, index: int, words: list[list[int]]) -> int:
        """Bytes from the start of a composite to one of its parts."""
        if not 0 <= index < types.size_of(type):
            raise Cannot("an index out of bounds")
        if type.op == ops.OpTypeStruct:
            found = self.tables.find_member(type, index, enums.Decoration_Offset)
            if not found:
                raise Cannot("a member without an Offset")
            return found[0]
        if type.op == ops.OpTypeArray:
            stride = self.tables.find(type, enums.Decoration_ArrayStride)
            if not stride:
                raise Cannot("an array without an ArrayStride")
            return index * stride[0]
        if type.op == ops.OpTypeMatrix:
            if any(w[0] == enums.Decoration_RowMajor for w in words):
                raise Cannot("a column of a row-major matrix")
            stride = next((w[1:] for w in words if w[0] == enums.Decoration_MatrixStride), [])
            if not stride:
                raise Cannot("a matrix without a MatrixStride")
            return index * stride[0]
        return index * (type.args[0].imm[0] // 8)

    def variable(self, key: Key) -> Inst | None:
        """The only variable of a resource, or None. Raises Cannot if several alias it."""
        found = [
            v for v in self.module.globals
            if v.op == ops.OpVariable and resource_key(self.tables, v) == key
        ]  # fmt: skip
        if len(found) > 1:
            raise Cannot("several variables alias the resource there")
        return found[0] if found else None

    def find(self, struct: Inst, wanted: Access) -> list[int] | None:
        """The constant indices of the member at an offset with a type; None if the block has
        nothing at these bytes. Raises Cannot if something else lies there."""
        want = shape(wanted.type)
        start, end = wanted.offset, wanted.offset + size_of(wanted.type, wanted.words)
        return self._find(struct, 0, start, end, want, wanted.words, [])

    def _find(
        self, type: Inst, base: int, start: int, end: int, want: str, words: list[list[int]],
        inherited: list[list[int]],
    ) -> list[int] | None:  # fmt: skip
        if type.op in (ops.OpTypeRuntimeArray,):
            raise Cannot("a runtime array")
        for index in range(types.size_of(type)):
            part = types.part_type(type, index)
            own = inherited
            if type.op == ops.OpTypeStruct:
                given = self.tables.members.get((type, index), ())
                own = [list(w) for w in given if w[0] in _MATRIX_WORDS]
            try:
                at = base + self.step(type, index, inherited)
            except Cannot:
                raise Cannot("the blocks lay out that member differently") from None
            last = at + self.extent(part, own)
            if last <= start or end <= at:
                continue
            if at == start and part.op not in (ops.OpTypeStruct, ops.OpTypeArray):
                same_words = sorted(own) == sorted(words) or part.op != ops.OpTypeMatrix
                if shape(part) == want and same_words:
                    return [index]
            if part.op in (ops.OpTypeInt, ops.OpTypeFloat):
                raise Cannot("the other stage declares another type at these bytes")
            inner = self._find(part, at, start, end, want, words, own)
            if inner is not None:
                return [index, *inner]
            if part.op in (ops.OpTypeStruct, ops.OpTypeArray):
                raise Cannot("the other stage has padding at these bytes")
            raise Cannot("the other stage declares another type at these bytes")
        return None

    def extent(self, type: Inst, words: list[list[int]]) -> int:
        """Bytes from the start of a type to the end of its last part."""
        if type.op == ops.OpTypeStruct:
            ends = [0]
            for index, member in enumerate(type.args):
                own = [
                    list(w)
                    for w in self.tables.members.get((type, index), ())
                    if w[0] in _MATRIX_WORDS
                ]
                ends.append(self.step(type, index, []) + self.extent(member, own))
            return max(ends)
        if type.op == ops.OpTypeArray:
            count = types.size_of(type)
            return self.step(type, count - 1, []) + self.extent(type.args[0], words) if count else 0
        if type.op == ops.OpTypeRuntimeArray:
            return 1 << 40
        return size_of(type, words)


class Grant:
    """What a stage may read: what it uses already, and what the pipeline layout says of it.
    ``ranges`` are (first byte, end) of push constants, ``bindings`` (set, binding); None where
    there is no layout."""

    def __init__(
        self, used: frozenset[Key], ranges: list[tuple[int, int]] | None = None,
        bindings: set[tuple[int, int]] | None = None,
    ) -> None:  # fmt: skip
        self.used = used
        self.ranges = ranges
        self.bindings = bindings

    def allows(self, access: Access, declared: bool) -> str | None:
        """None, or why the stage may not read this. ``declared``: its own block has these very
        bytes."""
        storage, group, binding = access.key
        if storage == enums.StorageClass_PushConstant:
            end = access.offset + size_of(access.type, access.words)
            if self.ranges is not None:
                if any(a <= access.offset and end <= b for a, b in self.ranges):
                    return None
                return "the layout gives that stage no such push constants"
            if declared and access.key in self.used:
                return None
            return "that stage does not declare these push constants (a --layout could grant them)"
        if access.key in self.used:
            return None
        if self.bindings is not None and (group, binding) in self.bindings:
            return None
        where = f"set {group}, binding {binding}"
        if self.bindings is not None:
            return f"the layout does not show {where} to that stage"
        return f"that stage does not use {where} (a --layout could grant it)"


class Transfer:
    """From one module to another; made afresh whenever either changed its resources."""

    def __init__(self, source: Module, target: Module, grant: Grant) -> None:
        self.source = source
        self.target = target
        self.grant = grant
        self.from_blocks = Blocks(source)
        self.to_blocks = Blocks(target)
        self.signatures = Effects.of(source).signatures
        self.glsl = Effects.of(source).glsl
        self.capabilities = {c.imm[0] for c in target.sections[core.CAPABILITIES]}
        self.known: dict[Inst, int | Cannot] = {}  # value -> cost of its instruction, or why not

    # -- may it? -----------------------------------------------------------------------------------

    def check(self, root_value: Inst) -> int:
        """The cost of an expression, each instruction counted once. Raises Cannot."""
        todo, seen, cost = [root_value], set[Inst](), 0
        while todo:
            inst = todo.pop()
            if inst in seen:
                continue
            seen.add(inst)
            found = self.known.get(inst)
            if found is None:
                try:
                    found = self.own_cost(inst)
                except Cannot as why:
                    found = why
                self.known[inst] = found
            if isinstance(found, Cannot):
                raise found
            cost += found
            if inst.op != ops.OpLoad:
                todo += [a for a in inst.args if a not in self.glsl]
        return cost

    def own_cost(self, inst: Inst) -> int:
        op = inst.op
        if op in types.CONSTANTS:
            shape_of_constant(inst)
            self.able(inst)
            return 0
        if op == ops.OpLoad:
            access = self.from_blocks.access(inst)
            if inst in self.signatures:
                raise Cannot("the load is decorated")
            self.able(inst)
            self.permit(access)
            return LOAD_COST * max(1, size_of(access.type, access.words) // 4)
        if op in (ops.OpSpecConstant, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse,
                  ops.OpSpecConstantComposite, ops.OpSpecConstantOp):  # fmt: skip
            raise Cannot("it hangs on a specialization constant (give its value with --spec)")
        self.able(inst)
        flags = self.from_blocks.effects.flags(inst)
        if not flags & info.SPECULATABLE or flags & _NEVER or inst.type is None:
            raise Cannot(describe(inst))
        if inst in self.signatures:
            raise Cannot("a decoration (NoContraction, RelaxedPrecision ...) ties it to its place")
        shape(inst.type)
        width = inst.type.imm[0] if inst.type.op in (ops.OpTypeVector, ops.OpTypeMatrix) else 1
        if op == ops.OpExtInst:
            return info.GLSL_COST.get(inst.imm[0], info.GLSL_DEFAULT_COST) * width
        return info.COST.get(op, info.DEFAULT_COST) * width

    def able(self, inst: Inst) -> None:
        """Raise Cannot if the target lacks the capability or the version for an instruction. It is
        not declared there: the author may have kept it out of that stage on purpose."""
        assert inst.type is not None
        scalar = inst.type
        while scalar.op in (ops.OpTypeVector, ops.OpTypeMatrix):
            scalar = scalar.args[0]
        wanted = _WIDTHS.get((scalar.op, scalar.imm[0] if scalar.imm else 0))
        if wanted is not None and wanted not in self.capabilities:
            raise Cannot("the other stage does not declare the capability for numbers of that size")
        if inst.op in _DOT_PRODUCTS:
            raise Cannot("the other stage may lack the capability for integer dot products")
        if inst.op == ops.OpSelect and inst.type.op == ops.OpTypeVector:
            condition = inst.args[0].type
            scalar_choice = condition is not None and condition.op == ops.OpTypeBool
            if scalar_choice and self.target.spirv_version < 0x00010400:
                raise Cannot("the other stage's SPIR-V version has no choice of whole vectors")

    def permit(self, access: Access) -> None:
        """Raise Cannot unless the target may read this."""
        variable = self.to_blocks.variable(access.key)
        path = None
        if variable is not None:
            path = self.to_blocks.find(self.block_of(variable, access), access)
        why = self.grant.allows(access, path is not None)
        if why is not None:
            raise Cannot(why)
        if path is None and shape(access.type).partition("x")[0][1:] in ("8", "16"):
            raise Cannot("the other stage may not keep numbers of that size in its blocks")
        if variable is not None and path is None and not self.extensible(variable):
            raise Cannot("the other stage's block cannot take another member")
        if variable is None and self.grant.bindings is None:
            raise Cannot("the other stage does not declare the resource")
        if variable is None and access.element:
            raise Cannot("the other stage does not declare the array of resources")
        if variable is None and access.key[0] == enums.StorageClass_PushConstant:
            if any(
                v.op == ops.OpVariable and v.imm[0] == access.key[0] for v in self.target.globals
            ):
                raise Cannot("the other stage has another push-constant block")

    def block_of(self, variable: Inst, access: Access) -> Inst:
        assert variable.type is not None
        type = variable.type.args[0]
        for index in access.element:
            if type.op != ops.OpTypeArray or not index < types.size_of(type):
                raise Cannot("the stages declare arrays of resources of different sizes")
            type = type.args[0]
        if type.op != ops.OpTypeStruct:
            raise Cannot("the stages declare the resource differently")
        return type

    def extensible(self, variable: Inst) -> bool:
        """Whether the block's struct is used for this variable alone, and never as a value."""
        assert variable.type is not None
        pointer = variable.type
        struct = pointer.args[0]
        if struct.op != ops.OpTypeStruct:
            return False
        for inst in self.target.globals:
            if inst is not pointer and struct in inst.args:
                return False
            if inst is not variable and inst.type is pointer:
                return False
        return not any(
            i.type is struct for f in self.target.functions for b in f.blocks for i in b.insts
        )

    def reads(self, root_value: Inst) -> list[str]:
        """The resources that a movable expression reads, for people."""
        found: set[str] = set()
        for access in self.accesses(root_value):
            storage, group, binding = access.key
            if storage == enums.StorageClass_PushConstant:
                found.add(f"push constants at byte {access.offset}")
            else:
                found.add(f"set {group}, binding {binding} at byte {access.offset}")
        return sorted(found)

    # -- copying -----------------------------------------------------------------------------------

    def copy(self, root_value: Inst, out: list[Inst], made: dict[Inst, Inst]) -> Inst:
        """The expression in the target; new instructions are appended to ``out``, each once per
        ``made``."""
        order: list[Inst] = []
        stack: list[tuple[Inst, bool]] = [(root_value, False)]
        seen: set[Inst] = set()
        while stack:
            inst, done = stack.pop()
            if done:
                order.append(inst)
            elif inst not in seen and inst not in made:
                seen.add(inst)
                stack.append((inst, True))
                if inst.op != ops.OpLoad:
                    stack += [(a, False) for a in reversed(inst.args) if a not in self.glsl]
        for inst in order:
            made[inst] = self.copy_one(inst, out, made)
        return made[root_value]

    def copy_one(self, inst: Inst, out: list[Inst], made: dict[Inst, Inst]) -> Inst:
        assert inst.type is not None
        type = self.type(inst.type)
        if inst.op in types.CONSTANTS:
            parts = [made[a] for a in inst.args]
            return types.make(self.target, inst.op, type, parts, list(inst.imm))
        if inst.op == ops.OpLoad:
            pointer = self.pointer(self.from_blocks.access(inst), type, out)
            copied = value(self.target, ops.OpLoad, type, [pointer], [])
        else:
            args = [glsl_import(self.target) if a in self.glsl else made[a] for a in inst.args]
            copied = value(self.target, inst.op, type, args, list(inst.imm))
        out.append(copied)
        return copied

    def type(self, type: Inst) -> Inst:
        """The target's type of the same shape."""
        target = self.target
        if type.op == ops.OpTypeBool:
            return types.boolean(target)
        if type.op == ops.OpTypeInt:
            return types.integer(target, type.imm[0], bool(type.imm[1]))
        if type.op == ops.OpTypeFloat:
            return types.floating(target, type.imm[0])
        inner = self.type(type.args[0])
        return types.make(target, type.op, None, [inner], list(type.imm))

    def accesses(self, root_value: Inst) -> list[Access]:
        """What the loads of a movable expression read."""
        todo, seen, found = [root_value], set[Inst](), list[Access]()
        while todo:
            inst = todo.pop()
            if inst in seen:
                continue
            seen.add(inst)
            if inst.op == ops.OpLoad:
                found.append(self.from_blocks.access(inst))
            else:
                todo += inst.args
        return found

    def place(self, access: Access) -> tuple[Inst, list[int]]:
        """The target's variable and the path to the same bytes in it, declared if it has none.
        Raises Cannot if what was declared for another access is in the way."""
        variable = self.to_blocks.variable(access.key)
        if variable is None:
            variable = self.declare(access)
        self.listed(variable)
        struct = self.block_of(variable, access)
        path = self.to_blocks.find(struct, access)
        if path is None:
            if not self.extensible(variable):
                raise Cannot("the other stage's block cannot take another member")
            path = [self.append(struct, access)]
        return variable, path

    def listed(self, variable: Inst) -> None:
        """From SPIR-V 1.4 on an entry point lists every global variable that it uses."""
        entry = self.target.entry
        assert entry is not None
        if self.target.spirv_version >= 0x00010400 and variable not in entry.inst.args:
            entry.inst.args.append(variable)

    def pointer(self, access: Access, type: Inst, out: list[Inst]) -> Inst:
        """A pointer to the same bytes in the target."""
        variable, path = self.place(access)
        number = types.integer(self.target, 32, True)
        args = [types.constant(self.target, number, i) for i in [*access.element, *path]]
        pointer_type = types.pointer(self.target, access.key[0], type)
        out.append(value(self.target, ops.OpAccessChain, pointer_type, [variable, *args], []))
        return out[-1]

    def append(self, struct: Inst, access: Access) -> int:
        """Give a block one more member."""
        index = len(struct.args)
        member = self.type(access.type)
        _before(self.target, member, struct)
        struct.args = [*struct.args, member]
        words = [[enums.Decoration_Offset, access.offset], *access.words]
        notes = self.target.annotations
        notes += [Inst(ops.OpMemberDecorate, None, [struct], [index, *w]) for w in words]
        self.refresh()
        return index

    def declare(self, access: Access) -> Inst:
        """A new block with one member, for a resource that the layout grants."""
        target = self.target
        storage, group, binding = access.key
        struct = value(target, ops.OpTypeStruct, None, [], [])
        target.globals.append(struct)
        pointer = types.pointer(target, storage, struct)
        variable = value(target, ops.OpVariable, pointer, [], [storage])
        target.globals.append(variable)
        notes = target.annotations
        notes.append(Inst(ops.OpDecorate, None, [struct], [enums.Decoration_Block]))
        if storage == enums.StorageClass_Uniform:
            for words in (
                [enums.Decoration_DescriptorSet, group],
                [enums.Decoration_Binding, binding],
            ):
                notes.append(Inst(ops.OpDecorate, None, [variable], words))
        self.refresh()
        return variable

    def refresh(self) -> None:
        self.target.version += 1
        self.to_blocks = Blocks(self.target)


def _before(module: Module, member: Inst, struct: Inst) -> None:
    """A struct's member types stand before it: move what was just made."""
    order = module.globals
    at = order.index(struct)
    needed = [member]
    while needed[-1].op in (ops.OpTypeVector, ops.OpTypeMatrix):
        needed.append(needed[-1].args[0])
    for type in needed:  # the outermost first, so that each inner one ends up before it
        where = order.index(type)
        if where > at:
            order.insert(at, order.pop(where))


def shape_of_constant(constant: Inst) -> None:
    """Raise Cannot for constants of types that are not copied."""
    assert constant.type is not None
    shape(constant.type)


def describe(inst: Inst) -> str:
    """Why an instruction stays, for people."""
    name = ops.NAMES.get(inst.op, "an instruction")
    if inst.op == ops.OpPhi:
        return "it hangs on the flow of control"
    if inst.op == ops.OpLoad:
        return "it reads memory"
    return f"it is computed from {name}, which stays in its stage"
