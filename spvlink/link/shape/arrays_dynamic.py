"""Split arrays that one stage indexes dynamically and the other with constants, or both in part.

    VS  colors[0] = a; colors[1] = vec4(1); colors[2] = b; colors[3] = a
    FS  c = colors[i]                  ->   vec4 local[4] = {in0, vec4(1), in1, in0}; c = local[i]

    VS  for (i ...) w[i] = f(i)             float local[8]; for (i ...) local[i] = f(i)
    FS  c = w[2] + w[5]                ->   out0 = local[2]; out1 = local[5]

A dynamic index may reach every element, so an interface array with one stays whole, on both sides,
dead elements included. If the other side names its elements by constants, the dynamic index need
not touch the interface: the stage gets a local array, copied element by element at the border, and
the interface array splits into slots. Elements that the constant side does not read die; elements
to which it stores nothing, a constant, or the same value twice do not cross.

If both sides index dynamically, both get a copy where not all of the array crosses: the index need
not reach every element (``facts/index_values``).

    VS  for (i = 0; i < 6; ++i) c[i] = f(i)      local[0..5]; out0 = local[0], out1 = local[1]
    FS  o = c[n & 1]                       ->    local[0] = in0, local[1] = in1; o = local[n & 1]

Why it is right. The next stage reads a producer's outputs when its invocation ends (geometry: at
each EmitVertex, after which they are undefined), so a local array that is copied there holds the
value of the output. An input never changes, so a copy made on entry holds the value of every load.

What breaks it. Outputs of control and mesh shaders, which other invocations see in between: these
arrays stay. So do arrays that interpolateAt* reads through a dynamic index: its operand must be an
input.

Cost. The producer's copy is the work that devices without indirect outputs do anyway, once a
vertex: it is made if a component dies, or if elements that leave part of their Location empty can
share. The consumer's copy costs a store per component, ``COPY_COST`` operations each (nothing if
all is constant: the array gets an initializer). It is made if the components that go are worth
more, at ``COMPONENT_PRICE`` (``propagate``).
"""

from __future__ import annotations

from spvlink.facts.calls import Calls
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module, imm_of_name, name_of, op_of_name
from spvlink.ir.edit import touched, value
from spvlink.ir.slot import Pinned
from spvlink.link.border.cost import COMPONENT_PRICE
from spvlink.link.border.link import Link
from spvlink.link.border.stage import IN_PLACE
from spvlink.link.dead.unused_arrays import local_pointer, may_be_local, move_parts
from spvlink.link.shape import promote_late_indices
from spvlink.link.shape.array_side import (
    ArraySide,
    Reach,
    components,
    part_of,
    shape,
    sides_of,
    vectors,
    word_count,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    Path = tuple[int, ...]  # constant indices from a variable down to a part of it
    from spvlink.link.shape.array_side import Part


COPY_COST: Final = 2  # of a store to a local array, in operations a component
MOST_VERTICES: Final = 6  # of a triangle with adjacency: of more no copy is made
_NODES: Final = info.NESTED_TYPES
BOTH: Final = "both stages access it with a dynamic index"


def arrays_dynamic(
    link: Link, moves: Callable[[Inst], bool] | None, exact: bool = False, limit: int = 100
) -> bool:
    """Split what should be; whether anything was. ``moves``: whether the consumer could make a
    value itself, None if nothing is moved there; ``exact``: nothing that is interpolated is;
    ``limit``: --cost-limit, in percent."""
    if not link.outputs.pinned or not link.inputs.pinned:
        return False
    pairs = [
        (out, twin) for out, twin in link.pinned()
        if twin is not None
        and promote_late_indices.hopeful(out) and promote_late_indices.hopeful(twin)
    ]  # fmt: skip
    split = False
    for out, twin in pairs:
        producer, consumer = sides_of(link, out, twin)
        if not producer.known or not consumer.known or shape(producer.type) != shape(consumer.type):
            continue
        dynamic = [side for side in (producer, consumer) if side.dynamic]
        if not all(may_be_local(side.stage.module, side.variable) for side in dynamic):
            out.why = twin.why = "it has an initializer, and an ArrayStride"
            continue
        if len(dynamic) == 2:
            split |= _through_both(link, producer, consumer, (out, twin), limit)
        elif producer.dynamic:
            split |= _through_local_output(link, producer, consumer, out)
        elif consumer.dynamic:
            may = moves if link.carries_bits(twin) or not exact else None
            split |= _through_local_input(link, producer, consumer, (out, twin), may, limit)
    return promote_late_indices.promote_late_indices(link) if split else False


# -- the producer's copy ---------------------------------------------------------------------------


def _through_local_output(
    link: Link, producer: ArraySide, consumer: ArraySide, out: Pinned
) -> bool:
    """Store to a local array and copy it to the output where that goes out, if it pays."""
    stage = producer.stage
    if stage.name in IN_PLACE:
        out.why = "other invocations see it, and it is accessed with a dynamic index"
        return False
    assert out.variable.type is not None
    stored = Reach(producer).stored()
    live = Reach(consumer).read() & stored
    every = set(components(consumer.type))
    vector = out.variable.type.args[0]
    while vector.op in _NODES:
        vector = vector.args[0]
    full = vector.op == ops.OpTypeVector and vector.imm[0] == 4
    if full and live >= every:
        out.why = "it is accessed with a dynamic index, and splitting it saves nothing"
        return False
    _copy_out(producer, stored)
    return True


def _copy_out(producer: ArraySide, stored: set[Path]) -> None:
    """Store to a local array, and copy these components of it where the output goes out."""
    stage = producer.stage
    local = _localize(producer)
    entry = stage.module.entry
    assert entry is not None
    calls = Calls.of(stage.module)
    for block in entry.function.blocks:
        made: list[Inst] = []
        for inst in block.insts:
            at_emit = calls.does(inst, info.EMITS)
            if at_emit or (stage.name != "geom" and inst.op == ops.OpReturn):
                made += _copies(producer, stored, local, producer.variable)
            made.append(inst)
        block.insts = made
    touched(stage.module)


# -- the consumer's copy ---------------------------------------------------------------------------


def _through_local_input(
    link: Link, producer: ArraySide, consumer: ArraySide, pair: tuple[Pinned, Pinned],
    moves: Callable[[Inst], bool] | None, limit: int,
) -> bool:  # fmt: skip
    """Copy the input to a local array on entry and read that, if it pays."""
    out, twin = pair
    obstacle = _obstacle(consumer, twin)
    if obstacle:
        out.why = twin.why = obstacle
    if obstacle is not None:
        return False
    live = Reach(consumer).read()
    saved, free = _saved(producer, live, moves)
    cost = 0 if free else COPY_COST * _words(producer.type, live)
    gain = saved * COMPONENT_PRICE * limit // 100
    if not saved or gain < cost:
        out.why = twin.why = (
            f"it is accessed with a dynamic index; splitting it would cost {cost} and save {gain}"
        )
        return False
    _copy_in(link, consumer, live)
    return True


def _obstacle(consumer: ArraySide, twin: Pinned) -> str | None:
    """What forbids a copy of an input, if anything does; empty: what has been said of it."""
    vertices = types.size_of(consumer.whole) if consumer.arrayed else 1
    if enums.Decoration_PerVertexKHR in twin.qualifiers or vertices > MOST_VERTICES:
        return ""
    if any(load.op == ops.OpExtInst for load in consumer.loads):
        return "interpolateAt* reads it, and it is accessed with a dynamic index"
    return None


def _copy_in(link: Link, consumer: ArraySide, live: set[Path]) -> None:
    """Copy these components of an input to a local array on entry, and read that."""
    local = _localize(consumer)
    module = consumer.stage.module
    assert module.entry is not None
    block = module.entry.function.blocks[0]
    # lines may stand between variables
    at = 1 + max(n for n, inst in enumerate(block.insts) if inst.op == ops.OpVariable)
    block.insts[at:at] = _copies(consumer, live, consumer.variable, local)
    touched(module)
    link.locals.append(local)


# -- both copies -----------------------------------------------------------------------------------


def _through_both(
    link: Link, producer: ArraySide, consumer: ArraySide, pair: tuple[Pinned, Pinned], limit: int
) -> bool:
    """A local array on each side, where the indices are bounded and not all of it crosses."""
    out, twin = pair
    out.why = twin.why = BOTH
    if producer.stage.name in IN_PLACE or _obstacle(consumer, twin) is not None:
        return False
    read, stored = Reach(consumer).read(), Reach(producer).stored()
    saved = set(components(producer.type)) - (read & stored)
    gain = _words(producer.type, saved) * COMPONENT_PRICE * limit // 100
    if not saved or gain < COPY_COST * _words(producer.type, read):
        return False
    _copy_out(producer, stored)
    _copy_in(link, consumer, read)
    return True


def promote_locals(link: Link) -> None:
    """Copies to which nothing but constants is stored get these as their initializer."""
    for local in link.locals:
        side = ArraySide(link.consumer, local)
        module = link.consumer.module
        values = {side.path(s.args[0]): s.args[1] for s in side.stores}
        if (
            values
            and len(side.stores) == len(values)
            and all(v.op in types.CONSTANTS for v in values.values())
        ):
            gone = set(side.stores)
            assert module.entry is not None
            block = module.entry.function.blocks[0]
            if not gone <= set(block.insts):
                continue
            local.args = [_initializer(module, side.type, (), values)]
            unread = {s.args[0] for s in gone} - {load.args[0] for load in side.loads}
            block.insts = [i for i in block.insts if i not in gone and i not in unread]
            touched(module)


def _initializer(module: Module, type: Inst, path: Path, values: dict[Path, Inst]) -> Inst:
    """What is stored below a path; zero where nothing is, since that is never read."""
    if path in values:
        return values[path]
    if type.op not in _NODES and type.op != ops.OpTypeVector:
        return types.null(module, type)
    parts = [
        _initializer(module, type.args[0], (*path, n), values) for n in range(types.size_of(type))
    ]
    return types.composite(module, type, parts)


def _saved(
    producer: ArraySide, live: set[Path], moves: Callable[[Inst], bool] | None
) -> tuple[int, bool]:
    """How many 32-bit components need not cross, and whether none does, since all are constants:
    which are not read (``live`` has the others), to which nothing is stored, or what the consumer
    can make, or what another component holds."""
    stored: dict[Path, set[Part]] = {path: set() for path in components(producer.type)}
    for store in producer.stores:
        path = producer.path(store.args[0])
        for leaf in components(producer.type, path):
            stored[leaf].add(part_of(producer.stage.module, store.args[1], leaf[len(path) :]))
    saved, constants = 0, 0
    seen: set[Part] = set()
    for path, values in stored.items():
        if not values or path not in live:
            saved, constants = saved + 1, constants + 1
        elif len(values) == 1:
            (part,) = values
            constant = part[0].op in types.CONSTANTS
            constants += constant and moves is not None
            saved += part in seen or (moves is not None and (constant or moves(part[0])))
            seen.add(part)
    scale = word_count(producer.type) // len(stored)
    return saved * scale, constants == len(stored)


# -- all of them -----------------------------------------------------------------------------------


def _words(type: Inst, paths: set[Path]) -> int:
    """32-bit components of these components."""
    return len(paths) * (word_count(type) // len(components(type)))


def _localize(side: ArraySide) -> Inst:
    """A local variable in place of an interface variable, for all that the code does with it."""
    module, storage = side.stage.module, enums.StorageClass_Function
    entry = module.entry
    assert entry is not None
    move_parts(module, side.loads, side.stores)
    pointer = local_pointer(module, side.variable)
    local = value(module, ops.OpVariable, pointer, list(side.variable.args), (storage,))
    if side.variable.args:
        side.variable.args = []  # the local one has its initializer, and is copied everywhere
    entry.function.blocks[0].insts.insert(0, local)
    names = [n for of, n in module.names if of is side.variable and op_of_name(n) == ops.OpName]
    module.names += [name_of(ops.OpName, local, imm_of_name(name)) for name in names]
    for chain in side.chains:
        chain.type = local_pointer(module, chain)
    for inst in (*side.chains, *side.loads, *side.stores):
        inst.args = [local if a is side.variable else a for a in inst.args]
    touched(module)
    return local


def _copies(side: ArraySide, live: set[Path], source: Inst, target: Inst) -> list[Inst]:
    """The instructions that copy what is alive from one variable to the other, of each vertex if
    there are several: by vector, or by component where not all of one is."""
    module = side.stage.module
    paths: list[Path] = []
    for path in vectors(side.type):
        inside = components(side.type, path)
        alive = [p for p in inside if p in live]
        paths += [path] if len(alive) == len(inside) else alive
    if side.arrayed:
        paths = [(n, *path) for n in range(types.size_of(side.whole)) for path in paths]
    number = types.integer(module, 32, True)
    out: list[Inst] = []
    for path in paths:
        type = side.whole
        for _ in path:
            type = type.args[0]
        indices = [types.constant(module, number, n) for n in path]
        ends: list[Inst] = []
        for variable in (source, target):
            pointer = types.pointer(module, variable.imm[0], type)
            ends.append(value(module, ops.OpAccessChain, pointer, [variable, *indices], ()))
        load = value(module, ops.OpLoad, type, [ends[0]], ())
        out += [*ends, load, Inst(ops.OpStore, None, [ends[1], load], ())]
    return out
