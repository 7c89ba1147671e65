"""Move code through interpolation that an evaluation shader does itself.

    control:    c[id] = x; d[id] = y                     ->   c[id] = x + y * pc.k
    evaluation: C = u * c[0] + v * c[1] + w * c[2]       ->   C = u * c[0] + v * c[1] + w * c[2]
                D = mix(...) of d, with the same weights      f(C)
                f(C + D * pc.k)

Notation. A read of an input x is a linear functional of its values at the vertices: L(x) = sum of
W_i * x_i: of one vertex, or with any weights W_i that the evaluation shader has at hand
(gl_TessCoord, Bernstein polynomials of it, a value per patch). The same sum of another input is the
same functional. Weights are compared as polynomials (``polynomials``), so the order of vertices and
terms, mix against products, fma and matrix * vector make no difference. A functional is written
down again as the code at that place had it.

Why it is right. A functional is linear: L(x) + L(y) = L(x + y) and c * L(x) = L(c * x) for c equal
at all vertices; L(x) + c = L(x + c) if the W_i sum to one. Two functionals of one x add up to a
third. So an evaluation shader's value is a pair (node of ``backward``, functional): an operation on
equal functionals makes a new node, an operation on equal nodes a new functional. Everything else
stays and needs its operands. The weights sum to one as polynomials if they do in real numbers: z is
1 - x - y in the triangle domain and 0 in the others, where ``x * a[0] + y * a[1] + z * a[2]`` takes
no constant (Mesa does not look at the domain).

What breaks it. Rounding. These stay:
* everything under ``--exact``, in stages that preserve infinities, NaNs and zeros, and in stages
  whose rounding modes differ;
* NoContraction; values on which something depends (``sensitive``, later stages included); operands
  of a built-in output, an Invariant one, a captured one, or a branch, here or in a geometry shader
  that follows. The position of a vertex, and the decision about one, must come out as in another
  pass that draws the same.
Everything else is as in ``backward``: all outputs of one expression are stored at the same places
(one block, one vertex), none is read back, and uniforms must be visible to the control stage.

Cost. The cut of ``backward``. It is worth something only if it saves a component of the interface,
since control and evaluation shaders count as run equally often.
"""

from __future__ import annotations

import itertools

from spvlink.facts import invariant, scalars
from spvlink.facts.calls import Calls
from spvlink.facts.effects import root
from spvlink.facts.floats import Floats
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, STORE_OUTPUT, Inst, Module
from spvlink.ir.edit import glsl_import, value
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.motion import algebra, backward, consumer_graph, polynomials
from spvlink.link.motion.nodes import Entry, Kind, ScalarNode, Use, single
from spvlink.link.motion.polynomials import ONE, Weights
from spvlink.link.resources.transfer import Transfer

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.facts.invariant import Seed
    from spvlink.link.motion.polynomials import Polynomial

    Functional = tuple[
        tuple[tuple[int, int], polynomials.Name], ...
    ]  # (vertex, its weight), sorted
    Parts = dict[tuple[int, int], Polynomial]

MAX_VERTICES: Final = 32  # of one sum
_NOT_ONE: Final = "not moved: a value is added to a sum whose weights do not add up to 1"
_MIX: Final = (ops.OpExtInst, glsl.Glsl_FMix)
_FMA: Final = (ops.OpExtInst, glsl.Glsl_Fma)
_SUMS: Final = frozenset((ops.OpFAdd, ops.OpFSub))
# Made of pairs of factors, one or more, added up.
_PRODUCTS: Final = frozenset(
    (
        ops.OpFMul, ops.OpVectorTimesScalar, ops.OpMatrixTimesScalar, ops.OpDot,
        ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix,
    )
)  # fmt: skip
_SCALING: Final = _PRODUCTS | {ops.OpFNegate, ops.OpFDiv}
_JOINT: Final = frozenset((ops.OpMatrixTimesVector, ops.OpVectorTimesMatrix))
_CAPTURED: Final = (
    enums.Decoration_BuiltIn, enums.Decoration_Offset, enums.Decoration_XfbBuffer,
    enums.Decoration_Invariant,
)  # fmt: skip


class Blend(Kind):
    """A sum over vertices as a way to read an input: an operation on reads of it and weights."""

    __slots__ = ("affine", "function", "name", "operands", "parts")
    blends = True

    def __init__(
        self, function: tuple[int, int], operands: list[Kind | Lane], parts: Parts
    ) -> None:
        self.op = LOAD_INPUT
        self.args: list[Inst] = []
        self.imm: tuple[int, ...] = ()
        self.function = function  # opcode, number of an extended instruction
        self.operands = operands
        self.parts = parts
        self.name = named(parts)
        total: Polynomial = {}
        for weight in parts.values():
            total = polynomials.added(total, weight)
        self.affine = polynomials.is_one(total)

    def centred(self, qualifiers: tuple[int, ...]) -> bool:
        return self.affine

    def shape(self) -> object:
        """Equal for two that are written alike."""
        return self.function, tuple(
            (o.shape() if isinstance(o, Blend) else (o.op, *o.args, *o.imm))
            if isinstance(o, Kind)
            else scalars.origin(o)
            for o in self.operands
        )

    def read(self, module: Module, keys: list[tuple[int, Inst]], out: list[Inst]) -> Inst:
        return _FunctionalWriter(module, keys, out).read(self)


class _FunctionalWriter:
    """Writes a functional down once more, for other inputs: several are the lanes of a vector."""

    def __init__(self, module: Module, keys: list[tuple[int, Inst]], out: list[Inst]) -> None:
        self.module = module
        self.keys = keys
        self.out = out
        self.type = types.vector(module, keys[0][1], len(keys))
        self.known: dict[Kind, Inst] = {}

    def emit(self, op: int, type: Inst | None, args: list[Inst], imm: tuple[int, ...]) -> Inst:
        self.out.append(value(self.module, op, type, args, imm))
        return self.out[-1]

    def read(self, kind: Kind) -> Inst:
        inst = self.known.get(kind)
        if inst is None:
            made = self.blend(kind) if isinstance(kind, Blend) else self.vertex(kind)
            inst = self.known[kind] = made
        return inst

    def vertex(self, kind: Kind) -> Inst:
        parts = [
            self.emit(kind.op, type, list(kind.args), (key, *kind.imm)) for key, type in self.keys
        ]
        return algebra.gather(self.module, self.type, parts, self.out)

    def scalar(self, lane: Lane) -> Inst:
        inst, number = scalars.origin(lane)
        if scalars.count(inst.type) == 1:
            return inst
        return algebra.take(self.module, inst, number, self.out)

    def blend(self, blend: Blend) -> Inst:
        op, number = blend.function
        wide = len(self.keys) > 1
        args: list[Inst] = []
        for operand in blend.operands:
            if isinstance(operand, Kind):
                args.append(self.read(operand))
                continue
            args.append(self.scalar(operand))
            if wide and op != ops.OpFMul:
                same = [args[-1]] * len(self.keys)
                args[-1] = algebra.gather(self.module, self.type, same, self.out)
        if op == ops.OpFMul and wide:
            return self.emit(ops.OpVectorTimesScalar, self.type, args, ())
        if op == ops.OpExtInst:
            return self.emit(op, self.type, [glsl_import(self.module), *args], (number,))
        return self.emit(op, self.type, args, ())


def named(parts: Parts) -> Functional:
    """What a functional is called: equal for equal ones."""
    return tuple(sorted((v, polynomials.name_of(w)) for v, w in parts.items() if w))


def vertex_of(kind: Kind) -> tuple[int, int] | None:
    """What a vertex is called; None for an input per patch."""
    if not kind.args:
        return None
    number = types.index_of(kind.args[0])
    return (1, kind.args[0].id) if number is None else (0, number)


def fixed_outputs(after: Link) -> frozenset[int]:
    """The outputs of an evaluation shader that the geometry shader behind it makes positions or
    decisions of."""
    loads = [i for i in fixed(after.consumer, frozenset()) if i.op == LOAD_INPUT]
    return frozenset([i.imm[0] for i in loads])


def fixed(stage: Stage, beyond: frozenset[int]) -> set[Inst]:
    """The values of a stage that must come out to the bit: see above. ``beyond``: keys of outputs
    that must, for the sake of the stage behind."""
    module = stage.module
    assert module.entry is not None
    uses = invariant.Dependences(module)
    seeds: list[Seed] = [(condition, None) for condition in uses.branches]
    # a callee may capture anything, or branch on it
    seeds += [(variable, None) for variable in Calls.of(module).variables]
    outputs = stage.outputs
    captured = outputs.captured if outputs is not None else {}
    slots = outputs.slots if outputs is not None else {}
    for block in module.entry.function.blocks:
        for inst in block.insts:
            if inst.op == ops.OpStore:
                if _is_fixed(uses, inst.args[0]):
                    seeds.append((inst.args[1], block))
            elif inst.op == STORE_OUTPUT:
                key = inst.imm[0]
                if key not in slots or key in captured or key in beyond:
                    seeds.append((inst.args[0], block))
    return uses.behind(seeds) | invariant.settled(module)


def _is_fixed(uses: invariant.Dependences, pointer: Inst) -> bool:
    """Whether an output is one whose value must not move by a bit."""
    variable = root(pointer)
    if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Output:
        return False
    return any(w[0] in _CAPTURED for w in invariant.decorations(uses.tables, pointer))


class WeightedGraph(consumer_graph.ConsumerGraph):
    """``backward``'s, with sums over vertices as ways to read an input."""

    patient = True  # since it notes why inputs stay

    def __init__(self, link: Link, transfer: Transfer, beyond: frozenset[int]) -> None:
        module = link.consumer.module
        self.fixed = fixed(link.consumer, beyond)
        self.weights = Weights(module, polynomials.domain_of(module, link.producer.module))
        self.plain: dict[Kind, Parts] = {}
        self.others: dict[Lane, Use] = {}  # second ways to see a lane of the table
        super().__init__(link, transfer, False, set())

    def parts(self, kind: Kind) -> Parts:
        """Vertex -> weight."""
        if isinstance(kind, Blend):
            return kind.parts
        weights = self.plain.get(kind)
        if weights is None:
            vertex = vertex_of(kind)
            weights = self.plain[kind] = {} if vertex is None else {vertex: ONE}
        return weights

    # -- what stays --------------------------------------------------------------------------------

    def visit(self, inst: Inst) -> None:
        if inst in self.fixed and inst.op not in scalars.MOVES and self.stays(inst):
            self.note(inst)
            self.spoil(inst)
        elif not (inst.op in _JOINT and self.linear and self.whole(inst)):
            super().visit(inst)

    def note(self, inst: Inst) -> None:
        """Say of the inputs that are read here why they stay."""
        why = "not moved: a position, a branch or a captured value depends on it"
        for arg in inst.args:
            for entry in self.table.get(arg, ()):
                if isinstance(entry, Use) and entry.node.key is not None and entry.kind.args:
                    self.link.remarks.notes[entry.node.key] = why

    # -- new functionals ---------------------------------------------------------------------------

    def whole(self, inst: Inst) -> bool:
        """A product of a matrix and a vector, one of which holds weights: all lanes or none."""
        if self.complete(inst) or self.effects.signatures.get(inst, ()) not in _RELAXED:
            return False
        made = [self.sums_of(inst, n, False) for n in range(scalars.count(inst.type))]
        if not all(made):
            return False
        self.table[inst] = [uses[0] for uses in made]
        return True

    def node(
        self, inst: Inst, number: int, lanewise: bool, groups: list[list[Entry]]
    ) -> Entry:  # fmt: skip
        uses = [e for group in groups for e in group if isinstance(e, Use)]
        if not self.linear or not uses:
            return super().node(inst, number, lanewise, groups)
        equal = self.joined(inst, number, groups, uses) is not None
        if equal and inst.op not in _SCALING:
            return super().node(inst, number, lanewise, groups)
        made = self.sums_of(inst, number, lanewise)
        if equal:  # -x may be another value read alike, or x read with other weights
            if made:
                self.others[inst, number] = made[0]
            return super().node(inst, number, lanewise, groups)
        if len(made) > 1:
            self.others[inst, number] = made[1]
        return made[0] if made else super().node(inst, number, lanewise, groups)

    def joined(
        self, inst: Inst, number: int, groups: list[list[Entry]], deps: list[Use]
    ) -> Use | None:
        if not any(isinstance(d.kind, Blend) for d in deps):
            return super().joined(inst, number, groups, deps)
        like = deps[0]
        if any(e is None for group in groups for e in group):
            return None
        if any(d.node.sites != like.node.sites for d in deps):
            return None
        name = named(self.parts(like.kind))
        if any(named(self.parts(d.kind)) != name for d in deps):
            return None
        varies = [any(isinstance(e, Use) for e in group) for group in groups]
        affine = isinstance(like.kind, Blend) and like.kind.affine
        if not single(inst) or not scalars.linear(inst, varies, affine):
            key = like.node.key
            if key is not None and not affine and scalars.linear(inst, varies):
                self.link.remarks.notes[key] = _NOT_ONE
            return None
        return like if self.smooth(inst, number, groups, deps) else None

    def sums_of(self, inst: Inst, number: int, lanewise: bool) -> list[Use]:
        """A lane as new functionals of inputs, as far as it is one: of different nodes, two at
        most."""
        if not single(inst) or self.hangs(inst, number) is not None:
            return []
        groups = scalars.made_of(inst, number, lanewise)
        what = (inst.op, inst.imm[0] if inst.op == ops.OpExtInst else 0)
        if inst.op in _SUMS or inst.op == ops.OpFNegate or what in (_MIX, _FMA):
            return self.combined(what, [group[0] for group in groups])
        if inst.op == ops.OpFDiv:
            return self.scaled(what, groups[0][0], groups[1][0])
        if inst.op not in _PRODUCTS or len(groups[0]) != len(groups[1]):
            return []
        made: list[Use] = []
        for at, (a, b) in enumerate(zip(*groups)):
            terms = self.scaled((ops.OpFMul, 0), a, b) or self.scaled((ops.OpFMul, 0), b, a)
            made = self.tried((ops.OpFAdd, 0), [made, terms]) if at else terms
        return made

    def varying(self, lane: Lane) -> list[Use]:
        """The ways to see something that differs between vertices; none if it does not."""
        entry = self.entry(lane)
        if not isinstance(entry, Use) or not _of_vertices(entry.kind):
            return []
        other = self.others.get(scalars.origin(lane))
        return [entry] if other is None else [entry, other]

    def combined(self, what: tuple[int, int], operands: list[Lane]) -> list[Use]:
        """Sums, negations, mix and fma."""
        uses = [self.varying(lane) for lane in operands]
        if what == _FMA:
            at = 0 if uses[0] else 1
            if uses[1 - at]:
                return []
            return self.tried(what, [uses[at], [operands[1 - at]], uses[2]])
        if what == _MIX:
            return [] if uses[2] else self.tried(what, [*uses[:2], [operands[2]]])
        return self.tried(what, list(uses))

    def scaled(self, what: tuple[int, int], a: Lane, b: Lane) -> list[Use]:
        """A product or quotient of something that varies and a weight."""
        return [] if self.varying(b) else self.tried(what, [self.varying(a), [b]])

    def tried(
        self, what: tuple[int, int], operands: Sequence[Sequence[Use | Lane]]
    ) -> list[Use]:  # fmt: skip
        """What comes of each choice of operands, where these are of one node."""
        made: dict[ScalarNode, Use] = {}
        for choice in itertools.product(*operands):
            use = self.linked(what, choice)
            if use is not None:
                made.setdefault(use.node, use)
        return list(made.values())[:2]

    def linked(self, what: tuple[int, int], operands: Sequence[Use | Lane]) -> Use | None:
        """A functional made of others of one node, and weights."""
        uses = [o for o in operands if isinstance(o, Use)]
        node = uses[0].node
        type = node.inst.type
        if any(u.node is not node for u in uses) or type is None:
            return None
        if scalars.scalar(type).op != ops.OpTypeFloat:
            return None
        parts = self.weighed(what, operands)
        if parts is None or len(parts) > MAX_VERTICES:
            return None
        plain: list[Kind | Lane] = []
        for operand in operands:
            if isinstance(operand, Use):
                plain.append(operand.kind)
                continue
            plain.append(operand)
            entry = self.entry(operand)
            if isinstance(entry, Use):
                entry.node.sink = True  # a weight per patch is needed where it is
        return Use(node, Blend(what, plain, parts))

    def weighed(self, what: tuple[int, int], operands: Sequence[Use | Lane]) -> Parts | None:
        """The weights of a combination."""
        read: list[Parts] = [self.parts(o.kind) for o in operands if isinstance(o, Use)]
        lane = next((o for o in operands if isinstance(o, tuple)), None)
        if lane is None:
            return _plus(read[0], read[1], what[0] == ops.OpFSub) if read[1:] else _minus(read[0])
        if what[0] == ops.OpFDiv:
            return _times(read[0], self.weights.reciprocal(lane))
        weight = self.weights.of(lane)
        if what == _MIX:
            moved = _times(_plus(read[1], read[0], True), weight)
            return None if moved is None else _plus(read[0], moved, False)
        scaled = _times(read[0], weight)
        return scaled if scaled is None or what != _FMA else _plus(scaled, read[1], False)


def _of_vertices(kind: Kind) -> bool:
    """Whether an input is read at vertices: those per patch are not."""
    return isinstance(kind, Blend) or bool(kind.args)


_RELAXED: Final = ((), ((enums.Decoration_RelaxedPrecision,),))


def _plus(a: Parts, b: Parts, less: bool) -> Parts | None:
    out = dict(a)
    for vertex, weight in b.items():
        total = polynomials.summed(out.get(vertex, {}), weight, -1.0 if less else 1.0)
        if total is None:
            return None
        out[vertex] = total
    return {v: w for v, w in out.items() if w}


def _minus(a: Parts) -> Parts:
    return {v: polynomials.added({}, w, -1.0) for v, w in a.items()}


def _times(a: Parts | None, weight: Polynomial) -> Parts | None:
    if a is None:
        return None
    out: Parts = {}
    for vertex, old in a.items():
        made = polynomials.times(old, weight)
        if made is None or polynomials.is_large(made):
            return None  # it would show the last bit of what is read
        if made:
            out[vertex] = made
    return out


def weighted(
    link: Link, transfer: Transfer, exact: bool, beyond: frozenset[int] = frozenset()
) -> bool:  # fmt: skip
    """Move what saves a component; whether anything did. ``transfer`` leads from the evaluation to
    the control stage; ``beyond``: ``fixed_outputs`` of the border behind."""
    if exact or link.consumer.name != "tese":
        return False
    link.gather()
    if not any(load.args for loads in link.loads.values() for load in loads):
        return False
    if Floats.of(link.producer.module).rounding != Floats.of(link.consumer.module).rounding:
        return False
    graph = WeightedGraph(link, transfer, beyond)
    blended = [n for n in graph.nodes if any(isinstance(p[2], Blend) for p in n.places)]
    graph.homeless.update(set(graph.nodes).difference(blended))  # those are for ``backward``
    return bool(blended) and backward.choose_and_move(link, transfer, graph, (1, 1))
