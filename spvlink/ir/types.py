"""Types and constants: what they are, and the one way to make them.

Every scalar, vector, matrix and pointer type is unique in a module (specification 2.8), so type
equality is ``is``. The pool finds what the module already has and appends what it lacks.
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir.core import ALL, CAPABILITIES, Inst, Module, by_opcode
from spvlink.ir.edit import touched

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

# What a module has once only; arrays and structs may differ in their layout.
_POOLED: Final = frozenset(
    (
        ops.OpTypeVoid,
        ops.OpTypeBool,
        ops.OpTypeInt,
        ops.OpTypeFloat,
        ops.OpTypeVector,
        ops.OpTypeMatrix,
        ops.OpTypePointer,
        ops.OpTypeFunction,
        ops.OpConstant,
        ops.OpConstantTrue,
        ops.OpConstantFalse,
        ops.OpConstantComposite,
        ops.OpConstantNull,
        ops.OpUndef,
    )
)

CONSTANTS: Final[frozenset[int]] = frozenset(
    (
        ops.OpConstant,
        ops.OpConstantTrue,
        ops.OpConstantFalse,
        ops.OpConstantComposite,
        ops.OpConstantNull,
    )
)

IS_CONSTANT: Final = by_opcode(CONSTANTS)

NUMBERS: Final[frozenset[int]] = frozenset((ops.OpTypeInt, ops.OpTypeFloat))

# What a number's type asks for besides Shader: (type's opcode, width) -> capability.
CAPABILITIES_OF: Final = {
    (ops.OpTypeFloat, 16): enums.Capability_Float16,
    (ops.OpTypeFloat, 64): enums.Capability_Float64,
    (ops.OpTypeInt, 8): enums.Capability_Int8,
    (ops.OpTypeInt, 16): enums.Capability_Int16,
    (ops.OpTypeInt, 64): enums.Capability_Int64,
}


def capability_of(type: Inst) -> int | None:
    """What computing with a number of this type asks for besides Shader; None if nothing, or if
    the type is no integer and no float of IEEE 754."""
    if type.op not in NUMBERS or (type.op == ops.OpTypeFloat and not is_ieee(type)):
        return None
    return CAPABILITIES_OF.get((type.op, type.imm[0]))


def is_ieee(type: Inst) -> bool:
    """Whether a type is a float of IEEE 754: one without the operand FP Encoding of OpTypeFloat,
    which bfloat16 and the floats of 8, 6 and 4 bits have."""
    return type.op == ops.OpTypeFloat and len(type.imm) == 1


def is_plain_number(type: Inst) -> bool:
    """Whether a type is an integer or a float of IEEE 754."""
    return type.op == ops.OpTypeInt or is_ieee(type)


_LOW: Final = ops.OpVariable + 1  # nearly all that is global is below


def of_op(module: Module, op: int) -> list[Inst]:
    """The types, constants or variables at module scope of an opcode. What ``make`` made since a
    module was first asked is not in it."""
    if op >= _LOW:
        return [i for i in module.globals if i.op == op]
    rows = module.by_op
    if not rows:
        rows = module.by_op = [None] * _LOW
        for inst in module.globals:
            row = inst.op
            if row < _LOW:
                held = rows[row]
                if held is None:
                    rows[row] = [inst]
                else:
                    held.append(inst)
    found = rows[op]
    if found is None:
        found = rows[op] = []
    return found


def _key(type: Inst | None, args: list[Inst], imm: tuple[int, ...]) -> object:
    """What equal ones of an opcode are found by. Most have no operand that is an id, or one."""
    if not args:
        return type, imm
    if len(args) == 1:
        return type, args[0], imm
    return type, tuple(args), imm


def make(
    module: Module, op: int, type: Inst | None, args: list[Inst], imm: tuple[int, ...]
) -> Inst:
    """The module-scope type or constant of this description, made if the module has none."""
    pool = module.pool.get(op)
    if pool is None:
        pool = module.pool[op] = {}
        if op in _POOLED:
            for inst in of_op(module, op):
                pool.setdefault(_key(inst.type, inst.args, inst.imm), inst)
    key = _key(type, args, imm)
    found = pool.get(key)
    if found is None:
        found = Inst(op, type, args, imm, module.new_id())
        found.mark = ALL
        module.globals.append(found)
        touched(module)
        pool[key] = found
    return found


def void(module: Module) -> Inst:
    return make(module, ops.OpTypeVoid, None, [], ())


def boolean(module: Module) -> Inst:
    return make(module, ops.OpTypeBool, None, [], ())


def integer(module: Module, width: int = 32, signed: bool = False) -> Inst:
    return make(module, ops.OpTypeInt, None, [], (width, int(signed)))


def floating(module: Module, width: int = 32) -> Inst:
    """The float of IEEE 754 of this width."""
    return make(module, ops.OpTypeFloat, None, [], (width,))


def vector(module: Module, scalar: Inst, size: int) -> Inst:
    """The vector of ``size`` components; the scalar itself for 1."""
    return scalar if size == 1 else make(module, ops.OpTypeVector, None, [scalar], (size,))


def like(module: Module, type: Inst) -> Inst:
    """The module's type that is what a scalar, vector or matrix type of another module is: the same
    opcode with the same operands."""
    return make(module, type.op, None, [like(module, part) for part in type.args], type.imm)


def pointer(module: Module, storage: int, pointee: Inst) -> Inst:
    return make(module, ops.OpTypePointer, None, [pointee], (storage,))


def undef(module: Module, type: Inst) -> Inst:
    return make(module, ops.OpUndef, type, [], ())


def null(module: Module, type: Inst) -> Inst:
    """The zero of a type: an OpConstant or OpConstantFalse for scalars, OpConstantNull otherwise,
    also for floats whose encoding need not have all bits zero for it."""
    if is_plain_number(type):
        return make(module, ops.OpConstant, type, [], (0, 0) if type.imm[0] > 32 else (0,))
    if type.op == ops.OpTypeBool:
        return make(module, ops.OpConstantFalse, type, [], ())
    return make(module, ops.OpConstantNull, type, [], ())


def constant(module: Module, type: Inst, bits: int) -> Inst:
    """The scalar constant with this bit pattern (an int of the type's width; for a signed type
    narrower than 32 bits the literal is sign-extended as specification 2.2.1 asks)."""
    if type.op == ops.OpTypeBool:
        return make(module, ops.OpConstantTrue if bits else ops.OpConstantFalse, type, [], ())
    width = type.imm[0]
    bits &= (1 << width) - 1
    if width < 32 and type.op == ops.OpTypeInt and type.imm[1] and bits >> (width - 1):
        bits |= 0xFFFFFFFF & ~((1 << width) - 1)
    words = (bits,) if width <= 32 else (bits & 0xFFFFFFFF, bits >> 32)
    return make(module, ops.OpConstant, type, [], words)


def composite(module: Module, type: Inst, parts: list[Inst]) -> Inst:
    return make(module, ops.OpConstantComposite, type, parts, ())


def may_be_constant(module: Module, type: Inst) -> bool:
    """Whether the module may have constants of a numeric type: of 8- and 16-bit numbers only with
    the capability to compute with them (specification, "Universal Validation Rules")."""
    scalar = type
    while scalar.op in (ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray):
        scalar = scalar.args[0]
    wanted = capability_of(scalar)
    return (
        wanted is None
        or scalar.imm[0] > 16
        or any(c.imm[0] == wanted for c in module.sections[CAPABILITIES])
    )


def is_borrowed(module: Module, type: Inst | None) -> bool:
    """Whether values of a type hold numbers whose capability is only lent to the module while it is
    linked (``passes.lowering.storage16``)."""
    if not module.borrowed_capabilities or type is None:
        return False
    if type.op == ops.OpTypeStruct:
        return any(is_borrowed(module, member) for member in type.args)
    while type.op in _REPEATED:
        type = type.args[0]
    if type.op == ops.OpTypeStruct:
        return is_borrowed(module, type)
    return capability_of(type) in module.borrowed_capabilities


def bits_of(value: Inst) -> int | None:
    """The bit pattern of a scalar constant, or None if it is none."""
    op = value.op
    if op == ops.OpConstant:
        imm = value.imm
        if len(imm) == 2:
            return imm[0] | imm[1] << 32
        assert value.type is not None
        width = value.type.imm[0]
        return imm[0] if width == 32 else imm[0] & ((1 << width) - 1)
    if op == ops.OpConstantTrue:
        return 1
    if op == ops.OpConstantFalse:
        return 0
    if op == ops.OpConstantNull and value.type is not None and _IS_SCALAR[value.type.op]:
        return 0 if value.type.op != ops.OpTypeFloat or is_ieee(value.type) else None
    return None


def index_of(value: Inst) -> int | None:
    """The value of an integer constant used as an index, sign read; None if it is no constant."""
    if value.op != ops.OpConstant:
        return 0 if value.op == ops.OpConstantNull else None
    bits = bits_of(value)
    type = value.type
    if bits is None or type is None or type.op != ops.OpTypeInt:
        return None
    if type.imm[1] and bits >> (type.imm[0] - 1):
        return bits - (1 << type.imm[0])
    return bits


POINTERS: Final[frozenset[int]] = frozenset((ops.OpTypePointer, ops.OpTypeUntypedPointerKHR))


def holds_pointers(type: Inst) -> bool:
    """Whether values of a type are or hold pointers of the logical addressing model."""
    if type.op in POINTERS:
        return type.imm[0] != enums.StorageClass_PhysicalStorageBuffer
    if _IS_COMPOSITE[type.op]:
        return any(holds_pointers(a) for a in type.args if a.type is None)
    return False


def is_plain(type: Inst) -> bool:
    """Whether values of a type are made of numbers and booleans alone."""
    if _IS_COMPOSITE[type.op]:
        return all(is_plain(a) for a in type.args if a.type is None)
    return _IS_SCALAR[type.op] != 0


def pointers_may_meet(module: Module) -> bool:
    """Whether a phi or OpSelect may choose between pointers into different buffers, or there are no
    variables that hold pointers at all. VariablePointersStorageBuffer alone wants them all to be
    "into the same structure" (specification, "Validation Rules for Shader Capabilities")."""
    held = {c.imm[0] for c in module.sections[CAPABILITIES]}
    return (
        enums.Capability_VariablePointersStorageBuffer not in held
        or enums.Capability_VariablePointers in held
    )


MOST_LANES: Final = ALL.bit_length()
_IS_SCALAR: Final = by_opcode((ops.OpTypeInt, ops.OpTypeFloat, ops.OpTypeBool))
_REPEATED: Final = frozenset(
    (ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray, ops.OpTypeRuntimeArray)
)
_IS_COMPOSITE: Final = by_opcode(
    (ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray, ops.OpTypeStruct)
)


def is_scalar(type: Inst) -> bool:
    return _IS_SCALAR[type.op] != 0


def is_composite(type: Inst) -> bool:
    return _IS_COMPOSITE[type.op] != 0


def size_of(type: Inst) -> int:
    """Number of immediate parts of a composite type (0: runtime or specialization-sized array, or
    no composite)."""
    if type.op in (ops.OpTypeVector, ops.OpTypeMatrix):
        return type.imm[0]
    if type.op == ops.OpTypeStruct:
        return len(type.args)
    if type.op == ops.OpTypeArray:
        return index_of(type.args[1]) or 0
    return 0


def lanes_of(type: Inst | None) -> int:
    """Scalars that a value of this type is made of, counted part by part; 0 if they are not told
    apart: there are more than a ``mark`` has bits, or something else than numbers and booleans."""
    if type is None:
        return 0
    if type.op == ops.OpTypeFloat:  # most
        return 1
    if type.op == ops.OpTypeVector and type.args[0].op == ops.OpTypeFloat:
        size = type.imm[0]
        return size if size <= MOST_LANES else 0
    count = 1
    while type is not None and type.op != ops.OpTypeStruct:
        if _IS_SCALAR[type.op]:
            return count if count <= MOST_LANES else 0
        count *= size_of(type)
        type = type.args[0] if count else None
    if type is None:
        return 0
    total = 0
    for member in type.args:
        size = lanes_of(member)
        if not size:
            return 0
        total += size
    return total * count if total * count <= MOST_LANES else 0


def part_type(type: Inst, index: int) -> Inst:
    """Type of part ``index`` of a composite type."""
    return type.args[index] if type.op == ops.OpTypeStruct else type.args[0]


def parts_of(module: Module, value: Inst) -> list[Inst] | None:
    """The parts of a constant composite, or None if the value is no constant."""
    if value.op == ops.OpConstantComposite:
        return value.args
    type = value.type
    if type is None:
        return None
    if value.op == ops.OpConstantNull:
        return [null(module, part_type(type, i)) for i in range(size_of(type))]
    if value.op == ops.OpUndef:
        return [undef(module, part_type(type, i)) for i in range(size_of(type))]
    return None
