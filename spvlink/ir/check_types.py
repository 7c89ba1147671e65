"""The verifier's rules for operands, by opcode: types, composite indices, access chains, constants.

A rule is ``rule(inst) -> str``, the complaint or an empty string. It may rely on the counts of
operands (checked before) and on ``inst.type`` being a type, on nothing else: an operand may be any
id. ``complaint`` keeps silent where an extension's type is met (cooperative matrices, tensors):
never reject what is valid.
"""

from __future__ import annotations

from spvlink.grammar import glsl, info, ops
from spvlink.ir.core import Inst, string_of
from spvlink.ir.types import index_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Iterable
    from typing import Final

    Rule = Callable[[Inst], str]

Numeric = tuple[int, int, int]  # opcode of the scalar type, its width in bits, number of components

INT: Final = ops.OpTypeInt
FLOAT: Final = ops.OpTypeFloat
BOOL: Final = ops.OpTypeBool
_NONE: Final[Numeric] = (0, 0, 0)
TYPES: Final = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TYPE)
# Types whose rules we know. An instruction whose result or operands have others is not judged.
_PLAIN: Final = frozenset(
    (
        ops.OpTypeVoid, BOOL, INT, FLOAT, ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeImage,
        ops.OpTypeSampler, ops.OpTypeSampledImage, ops.OpTypeArray, ops.OpTypeRuntimeArray,
        ops.OpTypeStruct, ops.OpTypePointer, ops.OpTypeFunction,
    )
)  # fmt: skip
_INDEXED: Final = frozenset(
    (ops.OpTypeVector, ops.OpTypeMatrix, ops.OpTypeArray, ops.OpTypeRuntimeArray)
)


def numeric(type: Inst | None) -> Numeric:
    """Scalar kind, width and component count of a scalar or vector type; zeros for any other."""
    if type is None:
        return _NONE
    count = 1
    if type.op == ops.OpTypeVector:
        count = type.imm[0]
        type = type.args[0]
    op = type.op
    if op in (INT, FLOAT):
        return op, type.imm[0], count
    return (BOOL, 1, count) if op == BOOL else _NONE


def unknown(inst: Inst) -> bool:
    """Whether the result or an operand has a type of an extension that we have no rules for."""
    if inst.type is not None and inst.type.op not in _PLAIN:
        return True
    return any(a.type is not None and a.type.op not in _PLAIN for a in inst.args)


def show(type: Inst | None) -> str:
    """A type in words, for messages; nested types by id."""
    if type is None:
        return "no value"
    kind, width, count = numeric(type)
    if kind:
        name = "bool" if kind == BOOL else f"{'float' if kind == FLOAT else 'int'}{width}"
        return name if count == 1 and type.op != ops.OpTypeVector else f"{name} x {count}"
    return f"%{type.id} {ops.NAMES.get(type.op, '?')[2:]}"


def _differ(arg: Inst, what: str) -> str:
    return f"operand %{arg.id} is {show(arg.type)}, not {what}"


def _float_same(inst: Inst) -> str:
    type = inst.type
    for arg in inst.args:
        if arg.type is not type:
            return _differ(arg, show(type))
    if type is not None and numeric(type)[0] != FLOAT and type.op != ops.OpTypeMatrix:
        return f"the result type is {show(type)}, not floating point"
    return ""


def _int_same(inst: Inst) -> str:
    wanted = numeric(inst.type)
    if wanted[0] != INT:
        return f"the result type is {show(inst.type)}, not integer"
    for arg in inst.args:
        if arg.type is not inst.type and numeric(arg.type) != wanted:
            return _differ(arg, show(inst.type))
    return ""


def _shift(inst: Inst) -> str:
    wanted = numeric(inst.type)
    base, amount = inst.args
    if wanted[0] != INT or numeric(base.type) != wanted:
        return _differ(base, show(inst.type))
    kind, _, count = numeric(amount.type)
    return "" if kind == INT and count == wanted[2] else _differ(amount, "a matching integer")


def _compare(kind: int) -> Rule:
    def rule(inst: Inst) -> str:
        result = numeric(inst.type)
        if result[0] != BOOL:
            return f"the result type is {show(inst.type)}, not boolean"
        first = numeric(inst.args[0].type)
        for arg in inst.args:
            operand = numeric(arg.type)
            if operand[0] != kind or operand[2] != result[2] or operand != first:
                return _differ(arg, "fit for this comparison")
        return ""

    return rule


def _convert(source: int, target: int) -> Rule:
    def rule(inst: Inst) -> str:
        kind, _, count = numeric(inst.type)
        if kind != target:
            return f"the result type is {show(inst.type)}"
        operand = numeric(inst.args[0].type)
        if operand[0] != source or operand[2] != count:
            return _differ(inst.args[0], f"what converts to {show(inst.type)}")
        return ""

    return rule


def _bitcast(inst: Inst) -> str:
    to, source = numeric(inst.type), numeric(inst.args[0].type)
    if BOOL in (to[0], source[0]) or inst.args[0].type is None:
        return _differ(inst.args[0], "a pattern of bits")
    if to[0] and source[0] and to[1] * to[2] != source[1] * source[2]:
        return _differ(inst.args[0], f"as many bits as {show(inst.type)}")
    return ""


def _logical(inst: Inst) -> str:
    wanted = numeric(inst.type)
    if wanted[0] != BOOL:
        return f"the result type is {show(inst.type)}, not boolean"
    for arg in inst.args:
        if arg.type is not inst.type and numeric(arg.type) != wanted:
            return _differ(arg, show(inst.type))
    return ""


def _any_all(inst: Inst) -> str:
    if inst.type is None or inst.type.op != BOOL or numeric(inst.args[0].type)[0] != BOOL:
        return _differ(inst.args[0], "a vector of booleans")
    return ""


def _select(inst: Inst) -> str:
    condition, first, second = inst.args
    for arg in (first, second):
        if arg.type is not inst.type:
            return _differ(arg, show(inst.type))
    kind, _, count = numeric(condition.type)
    if kind != BOOL or (count != 1 and count != numeric(inst.type)[2]):
        return _differ(condition, "a matching boolean")
    return ""


def _is_nan(inst: Inst) -> str:
    operand = numeric(inst.args[0].type)
    result = numeric(inst.type)
    if result[0] != BOOL or operand[0] != FLOAT or operand[2] != result[2]:
        return _differ(inst.args[0], "a matching floating-point value")
    return ""


def _scale(inst: Inst) -> str:
    """OpVectorTimesScalar, OpMatrixTimesScalar."""
    value, factor = inst.args
    if value.type is not inst.type:
        return _differ(value, show(inst.type))
    scalar = inst.type
    while scalar is not None and scalar.op in (ops.OpTypeVector, ops.OpTypeMatrix):
        scalar = scalar.args[0]
    return "" if factor.type is scalar else _differ(factor, show(scalar))


def _columns(type: Inst | None) -> tuple[int, int]:
    """(columns, rows) of a matrix type, or zeros."""
    if type is None or type.op != ops.OpTypeMatrix:
        return 0, 0
    return type.imm[0], numeric(type.args[0])[2]


def _product(inst: Inst) -> str:
    """The matrix products: rows and columns fit."""
    left, right = inst.args
    op = inst.op
    columns, rows = _columns(right.type if op == ops.OpVectorTimesMatrix else left.type)
    fits = False
    if op == ops.OpVectorTimesMatrix:
        fits = columns > 0 and numeric(left.type)[2] == rows and numeric(inst.type)[2] == columns
    elif op == ops.OpMatrixTimesVector:
        fits = columns > 0 and numeric(right.type)[2] == columns and numeric(inst.type)[2] == rows
    elif op == ops.OpMatrixTimesMatrix:
        other = _columns(right.type)
        fits = columns > 0 and other[1] == columns and _columns(inst.type) == (other[0], rows)
    elif op == ops.OpOuterProduct:
        size = (numeric(right.type)[2], numeric(left.type)[2])
        fits = size[0] > 0 and _columns(inst.type) == size
    return "" if fits else f"{show(left.type)} times {show(right.type)} is not {show(inst.type)}"


def _transpose(inst: Inst) -> str:
    columns, rows = _columns(inst.args[0].type)
    fits = columns > 0 and _columns(inst.type) == (rows, columns)
    return "" if fits else _differ(inst.args[0], "the transposed matrix")


def _dot(inst: Inst) -> str:
    first, second = inst.args
    if first.type is None or first.type is not second.type or first.type.op != ops.OpTypeVector:
        return _differ(second, "a vector like the other operand")
    return "" if first.type.args[0] is inst.type else _differ(first, "of the result type")


def _part(type: Inst, index: int) -> Inst | str:
    """The type of part ``index``, or a complaint."""
    op = type.op
    if op == ops.OpTypeStruct:
        return type.args[index] if index < len(type.args) else f"there is no member {index}"
    if op in (ops.OpTypeVector, ops.OpTypeMatrix):
        return type.args[0] if index < type.imm[0] else f"there is no component {index}"
    if op == ops.OpTypeArray:
        size = index_of(type.args[1])
        known = type.args[1].op == ops.OpConstant and size is not None
        if known and size is not None and index >= size:
            return f"there is no element {index}"
        return type.args[0]
    return f"a value of type {show(type)} has no parts"


def _walk(type: Inst | None, indices: tuple[int, ...]) -> Inst | str:
    for index in indices:
        if type is None:
            return "the composite is no value"
        if type.op not in _PLAIN or type.op == ops.OpTypeRuntimeArray:
            return ""  # an extension's composite
        part = _part(type, index)
        if isinstance(part, str):
            return part
        type = part
    return "the composite is no value" if type is None else type


def _extract(inst: Inst) -> str:
    type = _walk(inst.args[0].type, inst.imm)
    if isinstance(type, str):
        return type
    return "" if type is inst.type else f"the part is {show(type)}, not {show(inst.type)}"


def _insert(inst: Inst) -> str:
    part, composite = inst.args
    if composite.type is not inst.type:
        return _differ(composite, show(inst.type))
    type = _walk(inst.type, inst.imm)
    if isinstance(type, str):
        return type
    return "" if type is part.type else f"the part is {show(type)}, not {show(part.type)}"


def _construct(inst: Inst) -> str:
    type, args = inst.type, inst.args
    if type is None:
        return ""
    if type.op == ops.OpTypeVector:
        total = 0
        for arg in args:
            if arg.type is type.args[0]:
                total += 1
            elif arg.type is not None and arg.type.op == ops.OpTypeVector:
                if arg.type.args[0] is not type.args[0]:
                    return _differ(arg, f"made of {show(type.args[0])}")
                total += arg.type.imm[0]
            else:
                return _differ(arg, f"made of {show(type.args[0])}")
        return "" if total == type.imm[0] else f"{total} components for a vector of {type.imm[0]}"
    return _parts(inst)


def _parts(inst: Inst) -> str:
    """The operands are the parts of the result type, one each (constants too)."""
    type, args = inst.type, inst.args
    if type is None:
        return ""
    wanted: Iterable[Inst]
    if type.op == ops.OpTypeStruct:
        size: int | None = len(type.args)
        wanted = type.args
    elif type.op in (ops.OpTypeVector, ops.OpTypeMatrix):
        size = type.imm[0]
        wanted = type.args[:1] * len(args)
    elif type.op == ops.OpTypeArray:
        size = index_of(type.args[1]) if type.args[1].op == ops.OpConstant else None
        wanted = type.args[:1] * len(args)
    else:
        return f"the result type {show(type)} has no parts"
    if size is not None and size != len(args):
        return f"{len(args)} parts for {size}"
    for arg, part in zip(args, wanted):
        if arg.type is not part:
            return _differ(arg, show(part))
    return ""


def _shuffle(inst: Inst) -> str:
    type = inst.type
    first, second = inst.args[0].type, inst.args[1].type
    if type is None:
        return ""
    for source in (type, first, second):  # the result first: the others are held against it
        if source is None or source.op != ops.OpTypeVector or source.args[0] is not type.args[0]:
            return f"{show(source)} is not a vector like the result"
    assert first is not None and second is not None
    if len(inst.imm) != type.imm[0]:
        return f"{len(inst.imm)} components for a vector of {type.imm[0]}"
    limit = first.imm[0] + second.imm[0]
    for index in inst.imm:
        if index >= limit and index != 0xFFFFFFFF:
            return f"component {index} of two vectors that have {limit} together"
    return ""


def _dynamic(inst: Inst) -> str:
    """OpVectorExtractDynamic, OpVectorInsertDynamic."""
    vector = inst.args[0].type
    part = inst.type if inst.op == ops.OpVectorExtractDynamic else inst.args[1].type
    if vector is None or vector.op != ops.OpTypeVector or vector.args[0] is not part:
        return f"{show(vector)} has no part {show(part)}"
    if inst.op == ops.OpVectorInsertDynamic and vector is not inst.type:
        return _differ(inst.args[0], show(inst.type))
    kind, _, count = numeric(inst.args[-1].type)
    return "" if kind == INT and count == 1 else _differ(inst.args[-1], "an integer")


def _same(inst: Inst) -> str:
    """Every operand has the result type (OpCopyObject, COPY, OpExpectKHR)."""
    for arg in inst.args:
        if arg.type is not inst.type:
            return _differ(arg, show(inst.type))
    return ""


def pointee(value: Inst) -> Inst | None:
    """What a typed pointer points to; None if the value is no such pointer."""
    type = value.type
    return type.args[0] if type is not None and type.op == ops.OpTypePointer else None


def _load(inst: Inst) -> str:
    target = pointee(inst.args[0])
    if target is inst.type:
        return ""
    return _differ(inst.args[0], f"a pointer to {show(inst.type)}")


def _store(inst: Inst) -> str:
    target, value = pointee(inst.args[0]), inst.args[1]
    if target is None:
        return _differ(inst.args[0], "a pointer")
    return "" if target is value.type else _differ(value, show(target))


def _copy_memory(inst: Inst) -> str:
    target, source = pointee(inst.args[0]), pointee(inst.args[1])
    if target is None or source is not target:
        return _differ(inst.args[1], "a pointer like the target")
    return ""


def _chain(inst: Inst) -> str:
    first = 2 if inst.op in (ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain) else 1
    type = pointee(inst.args[0])
    result = inst.type
    if type is None:
        return _differ(inst.args[0], "a pointer")
    if result is None or result.op != ops.OpTypePointer:
        return f"the result type is {show(result)}, not a pointer"
    for index in inst.args[1:]:
        if index.type is None or index.type.op != INT:
            return _differ(index, "an integer")
    for index in inst.args[first:]:
        if type.op in _INDEXED:
            type = type.args[0]
        elif type.op == ops.OpTypeStruct:
            number = index_of(index) if index.op == ops.OpConstant else None
            if number is None or not 0 <= number < len(type.args):
                return f"index %{index.id} names no member of struct %{type.id}"
            type = type.args[number]
        elif type.op in _PLAIN:
            return f"index %{index.id} goes into {show(type)}"
        else:
            return ""
    if result.args[0] is not type:
        return f"the chain ends at {show(type)}, the result points to {show(result.args[0])}"
    base = inst.args[0].type
    if base is not None and base.imm[0] != result.imm[0]:
        return "the storage class of the result is not that of the base"
    return ""


def _variable(inst: Inst) -> str:
    if inst.type is None or inst.type.op != ops.OpTypePointer:
        return "the type of a variable is not a pointer"
    if inst.type.imm[0] != inst.imm[0]:
        return "the storage class is not that of the pointer type"
    return ""


def _constant(inst: Inst) -> str:
    kind, width, count = numeric(inst.type)
    if kind not in (INT, FLOAT) or inst.type is None or inst.type.op not in (INT, FLOAT):
        return f"a number of type {show(inst.type)}"
    words = 2 if width > 32 else 1
    return "" if len(inst.imm) == words * count else f"{len(inst.imm)} words for {width} bits"


def _truth(inst: Inst) -> str:
    return "" if inst.type is not None and inst.type.op == BOOL else "a boolean of another type"


def _branch(inst: Inst) -> str:
    type = inst.args[0].type
    return "" if type is not None and type.op == BOOL else "the condition is not a boolean"


def _switch(inst: Inst) -> str:
    kind, width, count = numeric(inst.args[0].type)
    if kind != INT or count != 1:
        return "the selector is not an integer"
    words = 2 if width > 32 else 1
    if len(inst.imm) != words * (len(inst.args) - 2):
        return "the cases are not pairs of a literal and a label"
    return ""


def _call(inst: Inst) -> str:
    callee = inst.args[0]
    if callee.op != ops.OpFunction:
        return "what is called is not a function"
    if callee.type is not inst.type:
        return f"the function returns {show(callee.type)}, not {show(inst.type)}"
    wanted = callee.args[0].args[1:]
    if len(wanted) != len(inst.args) - 1:
        return f"{len(inst.args) - 1} arguments for {len(wanted)} parameters"
    for arg, type in zip(inst.args[1:], wanted):
        if arg.type is not type and not (
            # HLSL legalization leaves pointers to structs that differ only by decoration
            arg.type is not None and arg.type.op == type.op == ops.OpTypePointer
        ):
            return _differ(arg, show(type))
    return ""


def _phi(inst: Inst) -> str:
    args = inst.args
    if len(args) % 2:
        return "a value without its predecessor"
    for arg in args[::2]:
        if arg.type is not inst.type:
            return f"operand %{arg.id} is {show(arg.type)}, not {show(inst.type)}"
    for arg in args[1::2]:
        if arg.op != ops.OpLabel:
            return f"operand %{arg.id} is not a block"
    return ""


def _image(wanted: int) -> Rule:
    def rule(inst: Inst) -> str:
        type = inst.args[0].type
        if type is not None and type.op == wanted:
            return ""
        return _differ(inst.args[0], ops.NAMES[wanted][2:])

    return rule


def _sampled_image(inst: Inst) -> str:
    """Depth may differ: glslang combines any texture with a sampler that compares."""
    type, given = inst.type, inst.args[0].type
    if type is not None and type.op == ops.OpTypeSampledImage and given is not None:
        wanted = type.args[0]
        if given is wanted:
            return ""
        same = given.op == wanted.op and given.args == wanted.args
        if same and [given.imm[0], *given.imm[2:]] == [wanted.imm[0], *wanted.imm[2:]]:
            return ""
    return _differ(inst.args[0], "the image of the result type")


# Floating-point instructions of GLSL.std.450 whose operands all have the result type.
_GLSL_SAME: Final = frozenset(
    (
        *range(glsl.Glsl_Round, glsl.Glsl_FAbs + 1), glsl.Glsl_FSign,
        *range(glsl.Glsl_Floor, glsl.Glsl_InverseSqrt + 1), glsl.Glsl_FMin, glsl.Glsl_FMax,
        glsl.Glsl_FClamp, glsl.Glsl_FMix, glsl.Glsl_Step, glsl.Glsl_SmoothStep, glsl.Glsl_Fma,
        glsl.Glsl_Cross, glsl.Glsl_Normalize, glsl.Glsl_FaceForward, glsl.Glsl_Reflect,
        glsl.Glsl_NMin, glsl.Glsl_NMax, glsl.Glsl_NClamp,
    )
)  # fmt: skip


def _extended(inst: Inst) -> str:
    source = inst.args[0]
    if source.op != ops.OpExtInstImport:
        return f"operand %{source.id} is not an OpExtInstImport"
    if inst.imm[0] in _GLSL_SAME and string_of(source.imm)[0] == "GLSL.std.450":
        for arg in inst.args[1:]:
            if arg.type is not inst.type:
                return _differ(arg, show(inst.type))
    return ""


def _table() -> dict[int, Rule]:
    table: dict[int, Rule] = {}

    def put(rule: Rule, *opcodes: int) -> None:
        table.update(dict.fromkeys(opcodes, rule))

    put(_float_same, ops.OpFNegate, ops.OpFAdd, ops.OpFSub, ops.OpFMul, ops.OpFDiv, ops.OpFRem,
        ops.OpFMod)  # fmt: skip
    put(_float_same, *range(ops.OpDPdx, ops.OpFwidthCoarse + 1))
    put(_int_same, ops.OpSNegate, ops.OpIAdd, ops.OpISub, ops.OpIMul, ops.OpUDiv, ops.OpSDiv,
        ops.OpUMod, ops.OpSRem, ops.OpSMod, ops.OpBitwiseOr, ops.OpBitwiseAnd, ops.OpBitwiseXor,
        ops.OpNot)  # fmt: skip
    put(_shift, ops.OpShiftLeftLogical, ops.OpShiftRightLogical, ops.OpShiftRightArithmetic)
    put(_compare(INT), *range(ops.OpIEqual, ops.OpSLessThanEqual + 1))
    put(_compare(FLOAT), *range(ops.OpFOrdEqual, ops.OpFUnordGreaterThanEqual + 1))
    put(_convert(FLOAT, INT), ops.OpConvertFToU, ops.OpConvertFToS)
    put(_convert(INT, FLOAT), ops.OpConvertSToF, ops.OpConvertUToF)
    put(_convert(INT, INT), ops.OpUConvert, ops.OpSConvert)
    put(_convert(FLOAT, FLOAT), ops.OpFConvert, ops.OpQuantizeToF16)
    put(_bitcast, ops.OpBitcast)
    put(_logical, *range(ops.OpLogicalEqual, ops.OpLogicalNot + 1))
    put(_any_all, ops.OpAny, ops.OpAll)
    put(_is_nan, ops.OpIsNan, ops.OpIsInf)
    put(_select, ops.OpSelect)
    put(_scale, ops.OpVectorTimesScalar, ops.OpMatrixTimesScalar)
    put(_product, *range(ops.OpVectorTimesMatrix, ops.OpOuterProduct + 1))
    put(_transpose, ops.OpTranspose)
    put(_dot, ops.OpDot)
    put(_extract, ops.OpCompositeExtract)
    put(_insert, ops.OpCompositeInsert)
    put(_construct, ops.OpCompositeConstruct)
    put(_parts, ops.OpConstantComposite, ops.OpSpecConstantComposite)
    put(_shuffle, ops.OpVectorShuffle)
    put(_dynamic, ops.OpVectorExtractDynamic, ops.OpVectorInsertDynamic)
    put(_same, ops.OpCopyObject)
    put(_load, ops.OpLoad)
    put(_store, ops.OpStore)
    put(_copy_memory, ops.OpCopyMemory)
    put(_chain, *range(ops.OpAccessChain, ops.OpPtrAccessChain + 1), ops.OpInBoundsPtrAccessChain)
    put(_variable, ops.OpVariable)
    put(_constant, ops.OpConstant, ops.OpSpecConstant)
    put(_truth, ops.OpConstantTrue, ops.OpConstantFalse)
    put(_truth, ops.OpSpecConstantTrue, ops.OpSpecConstantFalse)
    put(_branch, ops.OpBranchConditional)
    put(_switch, ops.OpSwitch)
    put(_call, ops.OpFunctionCall)
    put(_phi, ops.OpPhi)
    put(_extended, ops.OpExtInst)
    put(_sampled_image, ops.OpSampledImage)
    put(_image(ops.OpTypeSampledImage), *range(ops.OpImageSampleImplicitLod, ops.OpImageFetch),
        ops.OpImageGather, ops.OpImageDrefGather, ops.OpImage, ops.OpImageQueryLod)  # fmt: skip
    put(_image(ops.OpTypeImage), ops.OpImageFetch, ops.OpImageRead, ops.OpImageWrite,
        *range(ops.OpImageQueryFormat, ops.OpImageQueryLod),
        ops.OpImageQueryLevels, ops.OpImageQuerySamples)  # fmt: skip
    return table


RULES: Final[dict[int, Rule]] = _table()


def complaint(inst: Inst) -> str:
    """What the rule of the opcode says, unless it speaks of a type that it does not know."""
    rule = RULES.get(inst.op)
    wrong = rule(inst) if rule is not None else ""
    return "" if wrong and unknown(inst) else wrong
