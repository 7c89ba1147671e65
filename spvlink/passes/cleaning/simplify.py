"""One walk that folds constants, applies the algebraic rules, looks through vectors and numbers
values.

Blocks are visited in reverse postorder, so that what a value is made of (back edges of loops aside)
is simple already when the value is looked at. Two instructions that compute the same from the same
operands are one value if the first dominates the second (dominator-based value numbering, Briggs,
Cooper, Simpson 1997).

What may be merged is a fact of the opcode (grammar/info.py): PURE, and loads from memory that
nothing writes during the draw. Convergent operations (derivatives, implicit-LOD sampling) are pure
in this sense: the value that dominates was computed by at least the same invocations of the quad.
Operations with the co-convergent fact (ballots and the like: their result depends on which
invocations take part) are merged only within one block. That images are used in the block that
loads them is seen to at the end (passes/cleaning/images.py). Decorations count: a value with
NoContraction or RelaxedPrecision is not the same as one without. Floats that an Invariant output
depends on are numbered, and that is all: another pipeline has the same operations.

Two phis of one block are one value if they bring the same on every edge. What comes round a loop is
not known when its header is visited, so afterwards two phis of a header that begin alike are taken
to be equal, and are if what they bring round is equal then, looked at through their operands and
through other phis of one block (optimistic, as Alpern, Wegman, Zadeck 1988, but only as far as
``_BUDGET`` pairs go).
"""

from __future__ import annotations

from spvlink.facts import invariant
from spvlink.facts.cfg import Cfg
from spvlink.facts.dominating import Dominating
from spvlink.facts.effects import FLAGS, FLAGS_OF, IMAGE_MASK_AT, Effects
from spvlink.facts.structure import Structure
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import COPY, IS_LINE, OPCODES, Block, Function, Inst, Module
from spvlink.ir.edit import become, resolve
from spvlink.passes.cleaning.fold import fold
from spvlink.passes.cleaning.vectors import LOOKS_THROUGH
from spvlink.passes.cleaning.vectors import RULES as VECTOR_RULES
from spvlink.rules.apply import INNER
from spvlink.rules.apply import simplify as algebra

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_RELAXED: Final = ((enums.Decoration_RelaxedPrecision,),)

# What is done with an opcode.
NUMBERED: Final = 0  # it gets a value number
VECTOR: Final = 1  # and vectors are looked through
ALGEBRA: Final = 2  # and algebraic rules are tried
SPECIAL: Final = 3  # that depends on its operands


class _Plan:
    """What is done with an opcode, and its facts."""

    __slots__ = ("first", "flags", "how", "inner", "look")

    def __init__(self, how: int, flags: int, op: int = 0) -> None:
        self.how = how
        self.flags = flags
        # VECTOR: the rule, and which opcodes the first operand has to have for it (None: any)
        self.look = VECTOR_RULES.get(op)
        self.first = LOOKS_THROUGH.get(op)
        # ALGEBRA: which one of the operands has to have for a rule (None: any)
        self.inner = INNER.get(op)


def _plan(op: int, flags: int) -> _Plan:
    if op in VECTOR_RULES:
        return _Plan(VECTOR, flags, op)
    return _Plan(ALGEBRA if op in INNER else NUMBERED, flags, op)


def _plans() -> list[_Plan | None]:
    """By opcode."""
    plans: list[_Plan | None] = [None] * OPCODES
    for op, flags in FLAGS.items():
        if flags & info.PURE:
            plans[op] = _plan(op, flags)
    special = _Plan(SPECIAL, 0)
    for op in (ops.OpExtInst, ops.OpPhi, ops.OpCopyObject, ops.OpLoad, *IMAGE_MASK_AT):
        plans[op] = special
    return plans


_LAST: Final = max(types.CONSTANTS)  # nearly all values have higher opcodes
_PLANS: Final = _plans()
# facts of what is equal only in one place, or only for the same invocations
_PLACED: Final = info.BLOCK_LOCAL | info.COCONVERGENT | info.CONVERGENT
_BUDGET: Final = 64  # pairs of values looked at to show that two phis of a loop are equal


def simplify(module: Module, function: Function) -> None:
    """Simplify one function; it is in swept form before and after."""
    _SimplifyWalk(module, function).run()


def _key(inst: Inst, flags: int, signature: object) -> object:
    """What equal values are found by. Most have one operand or two, for which a short tuple is made
    at once; args[0] of OpExtInst is its set."""
    op, type, args, imm = inst.op, inst.type, inst.args, inst.imm
    size = len(args)
    if size == 1 and signature is None:
        return op, type, args[0], imm
    if size == 2 and signature is None:
        a, b = args[0], args[1]
        if flags & info.COMMUTATIVE and a.id > b.id:
            a, b = b, a
        return (op, type, a, b, imm) if imm else (op, type, a, b)
    if flags & info.COMMUTATIVE and args[-2].id > args[-1].id:
        args = [*args[:-2], args[-1], args[-2]]
    return op, type, tuple(args), imm, signature


def _resolve_all(args: list[Inst]) -> int:
    """Look through the copies among operands; how many of these are constants."""
    known = 0
    for at, value in enumerate(args):
        args[at] = value = resolve(value) if value.op == COPY else value
        if types.IS_CONSTANT[value.op]:
            known += 1
    return known


def _is_loop(block: Block) -> bool:
    merge = block.merge()
    return merge is not None and merge.op == ops.OpLoopMerge


class _SimplifyWalk:
    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.cfg = Cfg.of(module, function)
        self.effects = Effects.of(module)
        self.seen: dict[object, Inst] = {}  # the first value of a key
        self.equal_to: dict[Inst, Dominating] = {}  # it and more, where there are
        self.phis: list[Inst] = []  # met in this walk
        self.frozen: set[Inst] = set()  # what an Invariant output depends on
        self.placed: dict[Inst, Block] = {}  # where values of the first ``done`` blocks are
        self.done = 0

    def run(self) -> None:
        headers: list[Block] = []
        if len(self.cfg.order) > 1:
            headers = [b for b in self.cfg.order if b.insts[0].op == ops.OpPhi and _is_loop(b)]
        while True:
            version = self.module.version
            self.frozen = invariant.frozen(self.module)
            self.seen = {}
            self.equal_to = {}
            self.placed = {}
            self.done = 0
            self.phis = []
            for block in self.cfg.order:
                self.block(block)
            if self.module.version != version:
                self.resolve_phis()
            if not headers or not any(self.late_phis(b) for b in headers):
                return

    def resolve_phis(self) -> None:
        """Everything else was visited after what it uses; a phi may use what came later."""
        for phi in self.phis:
            if phi.op == ops.OpPhi:
                phi.args = [resolve(a) for a in phi.args]

    def late_phis(self, header: Block) -> bool:
        """Whether a phi went because of what its back edge was found to bring."""
        version = self.module.version
        phis = [i for i in header.insts if i.op == ops.OpPhi and not self.phi(i)]
        for at, phi in enumerate(phis):
            for other in phis[:at]:
                if other.op == ops.OpPhi and phi.type is other.type and self.equal(phi, other):
                    become(self.module, phi, other)
                    break
        return self.module.version != version

    def equal(self, phi: Inst, other: Inst) -> bool:
        """Whether two phis of a loop's header are equal if they are equal in the round before."""
        effects, signatures = self.effects, self.effects.signatures
        pairs, known = [(phi, other)], {(phi, other)}
        for a, b in pairs:  # grows
            if len(pairs) > _BUDGET or a.op != b.op or a.type is not b.type or a.imm != b.imm:
                return False
            if len(a.args) != len(b.args) or signatures.get(a) != signatures.get(b):
                return False
            step = 1
            if a.op == ops.OpPhi:
                # No two blocks on one way have the same predecessors: it is one block.
                if a.args[1::2] != b.args[1::2]:
                    return False
                step = 2
            elif not effects.flags(a) & info.PURE or effects.flags(a) & _PLACED:
                return False
            for x, y in zip(map(resolve, a.args[::step]), map(resolve, b.args[::step])):
                if x is not y and (x, y) not in known:
                    known.add((x, y))
                    pairs.append((x, y))
        return True

    def equal_phis(self, block: Block) -> None:
        """Phis that bring the same on every edge are one."""
        seen: dict[object, Inst] = {}
        for inst in block.insts:
            if inst.op == ops.OpPhi:
                inst.args = [resolve(a) for a in inst.args]
                key = (inst.type, *inst.args, self.effects.signatures.get(inst))
                found = seen.setdefault(key, inst)
                if found is not inst:
                    become(self.module, inst, found)
            elif not IS_LINE[inst.op]:
                break

    def block(self, block: Block) -> None:
        if len(block.insts) > 2 and block.insts[1].op == ops.OpPhi:
            self.equal_phis(block)
        out: list[Inst] = []
        self.walk(block.insts, block, out)
        if len(out) != len(block.insts) or out != block.insts:
            block.insts = out

    def walk(self, insts: list[Inst], block: Block, out: list[Inst]) -> None:
        """Simplify these instructions of a block; what is left goes to ``out``."""
        module, signatures, seen = self.module, self.effects.signatures, self.seen
        plans, constants, last, copy, frozen = _PLANS, types.IS_CONSTANT, _LAST, COPY, self.frozen
        for inst in insts:
            op, args = inst.op, inst.args
            known = 0  # operands that are constants
            for arg in args:
                kind = arg.op
                if kind > last:
                    if kind == copy:
                        known = _resolve_all(args)
                        break
                elif constants[kind]:
                    known += 1
            plan = plans[op]
            if plan is None:
                if op != copy:
                    out.append(inst)
                continue
            how, flags, inner = plan.how, plan.flags, plan.inner
            if how == SPECIAL:
                flags = self.special(inst)
                if flags <= 0:
                    if flags == 0:
                        out.append(inst)
                    continue
                if op == ops.OpExtInst and -inst.imm[0] in INNER:
                    how, inner = ALGEBRA, INNER[-inst.imm[0]]
            signature = signatures.get(inst) if signatures else None
            if frozen and inst in frozen and how != VECTOR and invariant.rounds(inst):
                pass  # it stays the operation that it is
            elif signature is None or signature == _RELAXED:
                other: Inst | None = None
                if known and flags & info.FOLDABLE and known == len(args) - (op == ops.OpExtInst):
                    other = fold(module, inst, True)
                if other is None and plan.look is not None:
                    wanted = plan.first
                    if wanted is None or wanted[args[0].op] or not (inst.imm or len(args) > 1):
                        other = plan.look(module, inst)
                        op, args = inst.op, inst.args
                elif other is None and how == ALGEBRA and signature is None:
                    if known or inner is None or any(a.op in inner for a in args):
                        other = self.algebra(inst, block, out)
                if other is not None:
                    become(module, inst, resolve(other))
                    continue
            first = seen.setdefault(_key(inst, flags, signature), inst)
            if first is inst or not self.merge(inst, block, flags, first):
                out.append(inst)

    def special(self, inst: Inst) -> int:
        """The facts of an instruction if they depend on more than its opcode; 0 if it stays as
        it is, -1 if it went."""
        op = inst.op
        if op == ops.OpLoad:
            return FLAGS_OF[op] if self.effects.reads_constant(inst) else 0
        if op == ops.OpExtInst:
            if inst.args[0] not in self.effects.glsl:
                return 0
            flags = info.GLSL_FLAGS.get(inst.imm[0], 0)
        elif op == ops.OpPhi:
            self.phis.append(inst)
            return -1 if self.phi(inst) else 0
        elif op == ops.OpCopyObject:
            if inst in self.effects.signatures:
                return 0
            become(self.module, inst, inst.args[0])
            return -1
        else:
            flags = self.effects.flags(inst) & ~info.FOLDABLE
        return flags if flags & info.PURE else 0

    def algebra(self, inst: Inst, block: Block, out: list[Inst]) -> Inst | None:
        """What an instruction equals by an algebraic rule."""
        length = len(out)
        other = algebra(self.module, inst, out)
        if len(out) > length:  # what a rule built may fall under another one
            built = out[length:]
            del out[length:]
            self.walk(built, block, out)
        return other

    def merge(self, inst: Inst, block: Block, flags: int, first: Inst) -> bool:
        """Replace a value by an equal one that dominates it, if there is one."""
        if first not in self.equal_to:
            self.equal_to[first] = Dominating(first, self.place(first, block))
        among = self.equal_to[first]
        nearest = found = among.find(self.cfg, block)
        while found is not None and not self.same_invocations(found.block, block, flags):
            found = found.above
        if found is None:
            among.add(self.cfg, inst, block, nearest)
            return False
        become(self.module, inst, found.value)
        return True

    def same_invocations(self, above: Block, block: Block, flags: int) -> bool:
        """Whether what such an operation gives depends on no others than it did above."""
        if above is block or not flags & (info.COCONVERGENT | info.CONVERGENT):
            return True
        return not flags & info.COCONVERGENT and self.same_loops(above, block)

    def place(self, value: Inst, block: Block) -> Block:
        """Where a value that was met before is; the walk is in ``block``."""
        order, placed = self.cfg.order, self.placed
        while order[self.done] is not block:
            done = order[self.done]
            placed.update(dict.fromkeys(done.insts, done))
            self.done += 1
        return placed.get(value, block)

    def same_loops(self, above: Block, block: Block) -> bool:
        """Whether ``block`` is in every loop that ``above`` is in. After a loop neighbours that
        left it in other rounds take part again, so a derivative taken there is not the one of this
        invocation's last round."""
        structure, cfg = Structure.of(self.module, self.function), self.cfg
        for header in (above, *structure.around(above)):
            if header in structure.loops:
                merge = structure.merge_of[header]
                if merge in cfg.index and cfg.dominates(merge, block):
                    return False
        return True

    def phi(self, inst: Inst) -> bool:
        """Whether a phi went: all its ways bring one value (or the phi itself). What is undefined
        on some ways may be the constant that the others bring."""
        same: Inst | None = None
        undefined = False
        for arg in inst.args[::2]:
            arg = resolve(arg)
            if arg is inst or arg is same:
                continue
            if arg.op == ops.OpUndef:
                undefined = True
                continue
            if same is not None:
                return False
            same = arg
        if same is None:
            assert inst.type is not None
            same = types.undef(self.module, inst.type)
        elif undefined and same.op not in types.CONSTANTS:
            return False  # it may not be there on these ways
        become(self.module, inst, same)
        return True
