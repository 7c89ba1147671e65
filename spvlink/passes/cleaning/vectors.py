"""Find a component behind constructs, shuffles, inserts and extracts of vectors.

Each rule gives the value that an instruction equals, or rewrites it in place into one that costs no
more:

    CompositeExtract (CompositeConstruct a b c) 1            => b
    CompositeExtract (VectorShuffle v w 5 2) 0               => CompositeExtract w 1   (v has four)
    CompositeExtract (Transpose m) 1 2                       => CompositeExtract m 2 1
    CompositeExtract (UMulExtended a b) 0                    => IMul a b
    CompositeConstruct v.x v.y v.z                           => v                      (v has three)
    CompositeConstruct v.z v.x 1.0                           => VectorShuffle v (1.0) 2 0 4
    CompositeInsert a (CompositeInsert b undef 1) 0          => CompositeConstruct a b
    VectorShuffle (CompositeConstruct a b c d) _ 0 1         => CompositeConstruct a b

They move whole components and compute nothing new, so they hold for every bit pattern.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir import types
from spvlink.ir.core import IS_CHAIN, Inst, Module, by_opcode
from spvlink.ir.edit import resolve, rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

UNDEFINED: Final = 0xFFFFFFFF  # a shuffle's lane that may be anything
_MAX_STEPS: Final = 32  # how far one looks through a chain


def extract(module: Module, inst: Inst) -> Inst | None:
    """OpCompositeExtract."""
    source, path = origin(module, inst.args[0], inst.imm)
    if not path:
        return source
    if _IS_STEP[source.op] & _IS_PAIR and path == (0,):
        rewrite(module, inst, _FIRST[source.op], list(source.args), ())
        return None
    if source is not inst.args[0]:
        rewrite(module, inst, ops.OpCompositeExtract, [source], path)
    return None


def origin(module: Module, source: Inst, path: tuple[int, ...]) -> tuple[Inst, tuple[int, ...]]:
    """Where the part of ``source`` at ``path`` comes from: a value, and the part of it that is left
    to be taken (none: it is that value)."""
    at = 0
    for _ in range(_MAX_STEPS):
        if at == len(path):
            break
        if source.op == ops.OpCompositeExtract:
            source, path, at = resolve(source.args[0]), source.imm + path[at:], 0
            continue
        step = _step(module, source, path, at) if _IS_STEP[source.op] else None
        if step is None:
            break
        source, path, at = step
    return source, path[at:]


# what the first member of a struct of two results is by itself
_FIRST: Final = {
    ops.OpUMulExtended: ops.OpIMul, ops.OpSMulExtended: ops.OpIMul, ops.OpIAddCarry: ops.OpIAdd,
    ops.OpISubBorrow: ops.OpISub,
}  # fmt: skip
_IS_STEP: Final = by_opcode(
    (
        ops.OpCompositeConstruct, ops.OpVectorShuffle, ops.OpCompositeInsert,
        ops.OpCompositeExtract, ops.OpConstantComposite, ops.OpConstantNull, ops.OpUndef,
        ops.OpTranspose, ops.OpCopyLogical,
    ), _FIRST,
)  # fmt: skip
_IS_PAIR: Final = 2  # in it: those of _FIRST


def _step(
    module: Module, source: Inst, path: tuple[int, ...], at: int
) -> tuple[Inst, tuple[int, ...], int] | None:
    """One step nearer to the origin of the part of ``source`` at ``path[at:]``."""
    op = source.op
    index = path[at]
    if op == ops.OpCompositeConstruct:
        assert source.type is not None
        if source.type.op != ops.OpTypeVector:
            return resolve(source.args[index]), path, at + 1
        for part in source.args:
            part = resolve(part)
            assert part.type is not None
            size = part.type.imm[0] if part.type.op == ops.OpTypeVector else 1
            if index < size:
                if part.type.op == ops.OpTypeVector:
                    return part, (index,), 0
                return part, path, at + 1
            index -= size
    elif op == ops.OpVectorShuffle:
        lane = source.imm[index]
        first = resolve(source.args[0])
        assert first.type is not None and source.type is not None
        size = first.type.imm[0]
        if lane == UNDEFINED:
            return types.undef(module, source.type.args[0]), path, at + 1
        return (first, (lane,), 0) if lane < size else (resolve(source.args[1]), (lane - size,), 0)
    elif op == ops.OpCompositeInsert:
        inner, rest = source.imm, path[at:]
        common = min(len(inner), len(rest))
        if inner[:common] != rest[:common]:
            return resolve(source.args[1]), path, at
        if len(inner) <= len(rest):
            return resolve(source.args[0]), path, at + len(inner)
    elif op == ops.OpCompositeExtract:
        return resolve(source.args[0]), source.imm + path[at:], 0
    elif op == ops.OpTranspose:
        if at + 1 < len(path):
            return resolve(source.args[0]), (path[at + 1], index), 0
    elif op == ops.OpCopyLogical:
        copied = resolve(source.args[0])
        if _part(source, path[at:]) is _part(copied, path[at:]):  # else it is a copy of a part
            return copied, path, at
    elif op in (ops.OpConstantComposite, ops.OpConstantNull, ops.OpUndef):
        parts = types.parts_of(module, source)
        if parts is not None and index < len(parts):
            return parts[index], path, at + 1
    return None


def _part(source: Inst, path: tuple[int, ...]) -> Inst:
    """The type of a part."""
    type = source.type
    assert type is not None
    for index in path:
        type = types.part_type(type, index)
    return type


Lane = tuple[Inst, int]  # (vector, component), or (scalar, -1)


def _lane(scalar: Inst) -> Lane:
    if scalar.op == ops.OpCompositeExtract and len(scalar.imm) == 1:
        source = resolve(scalar.args[0])
        assert source.type is not None
        if source.type.op == ops.OpTypeVector:
            return source, scalar.imm[0]
    return scalar, -1


def construct(module: Module, inst: Inst) -> Inst | None:
    """OpCompositeConstruct."""
    type = inst.type
    assert type is not None
    args = inst.args
    # a struct may be empty
    if args and args[0].op == args[-1].op == ops.OpCompositeExtract:
        whole = _whole(module, inst, type)
        if whole is not None or inst.op != ops.OpCompositeConstruct:
            return whole
    if type.op != ops.OpTypeVector:
        return None
    lanes: list[Lane] = []
    loose = taken = False  # a scalar of its own; a component of a vector
    for arg in args:
        assert arg.type is not None
        if arg.type.op == ops.OpTypeVector:
            for index in range(arg.type.imm[0]):
                lanes.append((arg, index))
            continue
        if arg.op == ops.OpCompositeExtract:
            lane = _lane(arg)
            lanes.append(lane)
            if lane[1] >= 0:
                taken = True
                continue
        else:
            lanes.append((arg, -1))
        if not types.IS_CONSTANT[arg.op]:
            loose = True
    if loose and not taken:
        return None
    return _build(module, inst, type, lanes)


def _build(module: Module, inst: Inst, type: Inst, lanes: list[Lane]) -> Inst | None:
    """The vector of these lanes as one instruction, if that takes only whole vectors and
    constants."""
    sources: list[Inst] = []
    constants: list[Inst] = []
    for source, index in lanes:
        if index < 0:
            if not types.IS_CONSTANT[source.op]:
                return _by_parts(module, inst, type, lanes)
            if source not in constants:
                constants.append(source)
        elif source not in sources:
            sources.append(source)
    if not sources:
        return types.composite(module, type, [s for s, _ in lanes])
    first = sources[0]
    if first.type is type and _begin(lanes, 0, first):
        return first
    if len(sources) + (1 if constants else 0) > 2:
        return _by_parts(module, inst, type, lanes)
    if constants and _begin(lanes, 0, first):
        return _by_parts(module, inst, type, lanes)  # CompositeConstruct v 1.0 reads better
    second = first
    if len(sources) == 2:
        second = sources[1]
    elif constants:
        filled = constants + [constants[-1]] * (2 - len(constants))
        second = types.composite(module, types.vector(module, type.args[0], len(filled)), filled)
    numbers: list[int] = []
    for source, index in lanes:
        if index < 0:
            numbers.append(_size(first) + constants.index(source))
        else:
            numbers.append(index if source is first else _size(first) + index)
    imm = tuple(numbers)
    if inst.op != ops.OpVectorShuffle or inst.args != [first, second] or inst.imm != imm:
        rewrite(module, inst, ops.OpVectorShuffle, [first, second], imm)
    return None


def _size(vector: Inst) -> int:
    assert vector.type is not None
    return vector.type.imm[0]


def _begin(lanes: list[Lane], at: int, vector: Inst) -> bool:
    """Whether all of a vector comes at this place."""
    size = _size(vector)
    if at + size > len(lanes):
        return False
    for index in range(size):
        source, lane = lanes[at + index]
        if lane != index or source is not vector:
            return False
    return True


def _by_parts(module: Module, inst: Inst, type: Inst, lanes: list[Lane]) -> Inst | None:
    """A construct whose runs of components that make up a whole vector take that vector as a
    constituent."""
    if inst.op != ops.OpCompositeConstruct:
        return None
    parts: list[Inst] = []
    at = 0
    scalars = iter(inst.args)
    flat: list[Inst | None] = []
    for arg in scalars:
        assert arg.type is not None
        flat += [arg] if arg.type.op != ops.OpTypeVector else [None] * arg.type.imm[0]
    while at < len(lanes):
        source, index = lanes[at]
        if index == 0:
            if _begin(lanes, at, source):
                parts.append(source)
                at += _size(source)
                continue
        scalar = flat[at]
        if scalar is None:
            return None
        parts.append(scalar)
        at += 1
    if parts != inst.args:
        rewrite(module, inst, ops.OpCompositeConstruct, parts, ())
    return None


def _whole(module: Module, inst: Inst, type: Inst) -> Inst | None:
    """A composite put together from all the parts of one of its type, which may itself be a part of
    something."""
    first = inst.args[0]
    if types.size_of(type) != len(inst.args) or first.imm[-1]:
        return None
    source, path = resolve(first.args[0]), first.imm[:-1]
    for index, arg in enumerate(inst.args):
        if arg.op != ops.OpCompositeExtract or arg.imm != (*path, index):
            return None
        whole = arg.args[0]
        if whole is not source and resolve(whole) is not source:
            return None
    if _at(source, path) is not type:
        return None
    if not path:
        return source
    rewrite(module, inst, ops.OpCompositeExtract, [source], path)
    return None


def as_whole(module: Module, inst: Inst, lanes: int) -> Inst | None:
    """The composite of this type from which a construct takes its parts at their own places, as far
    as they live (``lanes``); in its dead lanes stands anything."""
    type = inst.type
    assert type is not None
    if types.size_of(type) != len(inst.args):
        return None
    composite: Inst | None = None
    path: tuple[int, ...] = ()
    for index, arg in enumerate(inst.args):
        size = types.lanes_of(arg.type)
        part, lanes = lanes & ((1 << size) - 1), lanes >> size
        if not part:
            continue
        if arg.op != ops.OpCompositeExtract or arg.imm[-1] != index:
            return None
        source = resolve(arg.args[0])
        if composite is None:
            composite, path = source, arg.imm[:-1]
        elif composite is not source or path != arg.imm[:-1]:
            return None
    if composite is None or _at(composite, path) is not type:
        return None
    if not path:
        return composite
    rewrite(module, inst, ops.OpCompositeExtract, [composite], path)
    return None


def _at(whole: Inst, path: tuple[int, ...]) -> Inst | None:
    """The type of a part."""
    type = whole.type
    for index in path:
        assert type is not None
        type = types.part_type(type, index)
    return type


def shuffle(module: Module, inst: Inst) -> Inst | None:
    """OpVectorShuffle: through other shuffles and constructs."""
    first, second = inst.args
    type = inst.type
    assert type is not None
    size = _size(first)
    if first.type is type and inst.imm == tuple(range(size)):
        return first
    if not _IS_STEP[first.op] and not _IS_STEP[second.op]:
        if first is not second or max(inst.imm) < size:
            return None
    lanes: list[Lane] = []
    through = False
    for lane in inst.imm:
        if lane == UNDEFINED:
            return None
        source, index = (first, lane) if lane < _size(first) else (second, lane - _size(first))
        for _ in range(_MAX_STEPS):
            step = _step(module, source, (index,), 0)
            if step is None:
                break
            through = True
            source, path, at = step
            if at == len(path):
                index = -1
                break
            index = path[at]
            assert source.type is not None
            if source.type.op != ops.OpTypeVector:
                return None
        lanes.append(_lane(source) if index < 0 else (source, index))
    if not through and first is not second:
        return None
    if all(index < 0 for _, index in lanes):
        scalars = [s for s, _ in lanes]
        if all(types.IS_CONSTANT[s.op] for s in scalars):
            return types.composite(module, type, scalars)
        rewrite(module, inst, ops.OpCompositeConstruct, scalars, ())
        return None
    return _build(module, inst, type, lanes)


def insert(module: Module, inst: Inst) -> Inst | None:
    """OpCompositeInsert into a vector whose every lane is then known."""
    type = inst.type
    assert type is not None
    if type.op != ops.OpTypeVector:
        return None
    size = type.imm[0]
    lanes: list[Inst | None] = [None] * size
    left = size
    at: Inst = inst
    for _ in range(_MAX_STEPS):
        if at.op != ops.OpCompositeInsert:
            break
        index = at.imm[0]
        if lanes[index] is None:
            lanes[index] = resolve(at.args[0])
            left -= 1
            if not left:
                break
        at = resolve(at.args[1])
    if left and at.op == ops.OpCompositeConstruct and len(at.args) == size:
        lanes = [known or resolve(part) for known, part in zip(lanes, at.args)]
        left = 0
    elif left:
        parts = types.parts_of(module, at) if at.op != ops.OpUndef else None
        if parts is None:
            return None
        lanes = [known or part for known, part in zip(lanes, parts)]
    known_lanes = [lane for lane in lanes if lane is not None]
    rewrite(module, inst, ops.OpCompositeConstruct, known_lanes, ())
    return construct(module, inst)


def extract_dynamic(module: Module, inst: Inst) -> Inst | None:
    """OpVectorExtractDynamic by a constant."""
    index = types.index_of(inst.args[1])
    if index is None or not 0 <= index < _size(inst.args[0]):
        return None
    rewrite(module, inst, ops.OpCompositeExtract, [inst.args[0]], (index,))
    return extract(module, inst)


def insert_dynamic(module: Module, inst: Inst) -> Inst | None:
    """OpVectorInsertDynamic by a constant."""
    index = types.index_of(inst.args[2])
    if index is None or not 0 <= index < _size(inst.args[0]):
        return None
    rewrite(module, inst, ops.OpCompositeInsert, [inst.args[1], inst.args[0]], (index,))
    return insert(module, inst)


def chain(module: Module, inst: Inst) -> Inst | None:
    """OpAccessChain of an access chain."""
    base = inst.args[0]
    if len(inst.args) == 1 and base.type is inst.type:
        return base
    if base.op == ops.OpInBoundsAccessChain or base.op == ops.OpAccessChain:
        op = inst.op if base.op == ops.OpInBoundsAccessChain else ops.OpAccessChain
        rewrite(module, inst, op, [resolve(a) for a in base.args] + inst.args[1:], ())
    return None


RULES: Final[dict[int, Callable[[Module, Inst], Inst | None]]] = {
    ops.OpCompositeExtract: extract,
    ops.OpCompositeConstruct: construct,
    ops.OpVectorShuffle: shuffle,
    ops.OpCompositeInsert: insert,
    ops.OpVectorExtractDynamic: extract_dynamic,
    ops.OpVectorInsertDynamic: insert_dynamic,
    ops.OpAccessChain: chain,
    ops.OpInBoundsAccessChain: chain,
}

# Tables: what the first operand has to be for these to be something else, unless they have no
# index.
LOOKS_THROUGH: Final = {
    ops.OpCompositeExtract: _IS_STEP,
    ops.OpAccessChain: IS_CHAIN,
    ops.OpInBoundsAccessChain: IS_CHAIN,
}
