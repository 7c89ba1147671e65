"""What ``--relaxed`` lifts, and nothing else does: sums may move although a lookup or a comparison
is made of them.

By default a value on whose last bit something depends stays where it is (``rounding/sensitive``).
With ``--relaxed`` two such places count no more, in fragment shaders, for what is interpolated:

* a lookup in a sampled image: its coordinates, level, bias, gradients, reference. Not the number of
  a layer, which is an index, and not the lookups that divide (``textureProj``): they have a pole;
* a comparison by ``<``, ``>``, ``<=``, ``>=`` or ``step``. Not ``==`` and ``!=``: these ask for
  bits.

Why it is right. The sum that moves is the same in real numbers, and the bound of a sum holds for it
(docs/explanation/proof.md, "With --relaxed"). Only what is linear in everything that comes over
moves so: a product of two values that are equal for a primitive does not.

What breaks it. The lookup or comparison itself, which may make much of the difference: that has no
bound, and the option is the user's word that this does not matter.

What it never lifts. Poles, jumps that are no comparison (floor, fract, conversions to integers),
factors that make a step, rays, Flat values, all of ``--exact``, of float controls, of NoContraction
and of Invariant. A lookup or comparison counts as by default if one of these depends on it, by its
value or because it decides whether they run:

* a store to memory, an atomic, a barrier, an operation on a subgroup, a call that stays; then what
  decides a discard counts, too, since a discard takes the stores away;
* a depth, a sample mask, a stencil reference, an output that is an integer;
* an index or an address.

A discard alone may be decided by a comparison: it moves an edge by one rounding.
"""

from __future__ import annotations

from spvlink.facts import scalars
from spvlink.facts.calls import Calls
from spvlink.facts.effects import UNTYPED_CHAINS, Effects, root
from spvlink.facts.invariant import Dependences
from spvlink.facts.scalars import Lane
from spvlink.grammar import enums, glsl, info, ops
from spvlink.ir.core import CHAINS, Block, Inst, Module
from spvlink.ir.known import fact
from spvlink.link.border.link import Link
from spvlink.link.rounding import sensitive
from spvlink.link.rounding.rounded import layer_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.facts.invariant import Seed

_LOOKUPS: Final = frozenset(
    (
        ops.OpImageSampleImplicitLod, ops.OpImageSampleExplicitLod,
        ops.OpImageSampleDrefImplicitLod, ops.OpImageSampleDrefExplicitLod,
        ops.OpImageGather, ops.OpImageDrefGather,
        ops.OpImageSparseSampleImplicitLod, ops.OpImageSparseSampleExplicitLod,
        ops.OpImageSparseSampleDrefImplicitLod, ops.OpImageSparseSampleDrefExplicitLod,
        ops.OpImageSparseGather, ops.OpImageSparseDrefGather,
    )
)  # fmt: skip
_COMPARISONS: Final = frozenset(
    (
        ops.OpFOrdLessThan, ops.OpFUnordLessThan, ops.OpFOrdGreaterThan, ops.OpFUnordGreaterThan,
        ops.OpFOrdLessThanEqual, ops.OpFUnordLessThanEqual,
        ops.OpFOrdGreaterThanEqual, ops.OpFUnordGreaterThanEqual,
    )
)  # fmt: skip
# Lead nowhere but to their results. Whatever else is not PURE counts as an effect.
_QUIET: Final = frozenset((ops.OpPhi, ops.OpLoad, ops.OpVariable, ops.OpUndef, ops.OpNop))
# Have operands that are integers, and say where.
_PLACES: Final = _LOOKUPS | {
    ops.OpVectorExtractDynamic, ops.OpVectorInsertDynamic, ops.OpImageFetch,
    ops.OpImageSparseFetch,
}  # fmt: skip
# Make a pointer of another one, and of numbers.
_CHAINS: Final = (
    CHAINS
    | UNTYPED_CHAINS
    | {ops.OpPtrAccessChain, ops.OpInBoundsPtrAccessChain, ops.OpImageTexelPointer}
)
_POINTERS: Final = frozenset((ops.OpTypePointer, ops.OpTypeUntypedPointerKHR))
_OWN: Final = (enums.StorageClass_Function, enums.StorageClass_Private)
_WORDLESS: Final = info.MERGE | info.TERMINATOR | info.DEBUG


class Lenient:
    """What counts in a border's consumer, and what no more: ``hard`` and ``lifted``, lanes -> what
    depends on their last bit."""

    __slots__ = ("fixed", "hard", "lifted")

    def __init__(self, link: Link) -> None:
        facts = sensitive.at(link)
        self.fixed = _decisive(link.consumer.module)
        self.hard = facts.places_but(self.lifts)
        lookups = facts.places_but(lambda _, place: place.op not in _LOOKUPS)
        both = {**facts.places, **lookups}  # what a texel decides is no news
        self.lifted = {lane: place for lane, place in both.items() if lane not in self.hard}

    def lifts(self, lane: Lane, place: Inst) -> bool:
        """Whether it does not matter that a lane's last bit decides something at a place."""
        if place in self.fixed:
            return False
        if place.op in _LOOKUPS:
            return lane != layer_of(place)
        return place.op in _COMPARISONS or _is_step(place)


def of(link: Link, relaxed: bool) -> Lenient | None:
    """What is lifted at a border; None: nothing."""
    if not relaxed or link.consumer.name != "frag":
        return None
    return fact(link, Lenient, link.version)


def phrase(place: Inst) -> str:
    """What to say of a value that moved in front of such a place."""
    what = "a lookup" if place.op in _LOOKUPS else "a comparison"
    return f"it rounds in another order before {what}"


def _is_step(inst: Inst) -> bool:
    return inst.op == ops.OpExtInst and inst.imm[0] == glsl.Glsl_Step


def _decisive(module: Module) -> set[Inst]:
    """All that something depends on which stays as it is by default and with ``--relaxed``."""
    seeds, ends = _Seeds(module).found()
    return Dependences(module).behind(seeds, ends) if seeds else set()


def _is_integer(value: Inst) -> bool:
    type = value.type
    return scalars.count(type) > 0 and type is not None and scalars.scalar(type).op == ops.OpTypeInt


def _is_pointer(value: Inst) -> bool:
    return value.type is not None and value.type.op in _POINTERS


class _Seeds:
    """The values from which the search for those starts, each with the block that has to run."""

    def __init__(self, module: Module) -> None:
        assert module.entry is not None
        self.effects = Effects.of(module)
        self.seen = Calls.of(module).variables
        self.blocks = module.entry.function.blocks
        self.seeds: list[Seed] = []
        self.ends = False  # whether it counts that an invocation ends early
        self.demoted: list[Block] = []

    def found(self) -> tuple[list[Seed], bool]:
        for block in self.blocks:
            for inst in block.insts:
                self.look(inst, block)
        self.seeds += [(variable, self.blocks[0]) for variable in self.seen]
        if self.ends:
            self.seeds += [(block, block) for block in self.demoted]
        return self.seeds, self.ends

    def look(self, inst: Inst, block: Block) -> None:
        anywhere = self.blocks[0]
        if inst.op in _CHAINS:
            self.seeds += [(arg, anywhere) for arg in inst.args if not _is_pointer(arg)]
        elif _is_pointer(inst) and inst.op != ops.OpVariable:
            self.seeds.append((inst, anywhere))
        elif inst.op in _PLACES:
            self.seeds += [(arg, anywhere) for arg in inst.args if _is_integer(arg)]
        elif inst.op == ops.OpDemoteToHelperInvocation:
            self.demoted.append(block)
        elif self.acts(inst):
            self.seeds += [(block, block), *[(arg, block) for arg in inst.args]]
            self.ends = True

    def acts(self, inst: Inst) -> bool:
        """Whether an instruction does something that must not change."""
        if inst.op in _QUIET or inst.op in _LOOKUPS:
            return False
        if inst.op == ops.OpStore:
            return not self.is_colour(inst)
        if inst.op == ops.OpExtInst and inst.args[0] in self.effects.nonsemantic:
            return False
        return not self.effects.flags(inst) & (info.PURE | info.SPECULATABLE | _WORDLESS)

    def is_colour(self, store: Inst) -> bool:
        """Whether a store goes to a variable of the shader's own, or is a colour of floats."""
        variable, type = root(store.args[0]), store.args[1].type
        if variable.op != ops.OpVariable or variable in self.seen:
            return False
        if variable.imm[0] in _OWN:
            return True
        if variable.imm[0] != enums.StorageClass_Output or not scalars.count(type):
            return False
        assert type is not None
        builtin = self.effects.tables.find(variable, enums.Decoration_BuiltIn)
        return builtin is None and scalars.scalar(type).op == ops.OpTypeFloat
