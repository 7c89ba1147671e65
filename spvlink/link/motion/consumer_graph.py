"""Build the graph of the values that a consumer makes of its inputs; ``backward`` searches it."""

from __future__ import annotations

from spvlink.facts import invariant, scalars
from spvlink.facts.cfg import Cfg
from spvlink.facts.effects import Effects
from spvlink.facts.floats import Floats
from spvlink.facts.scalars import Lane
from spvlink.facts.structure import Structure
from spvlink.grammar import info, ops
from spvlink.ir import types
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, Inst
from spvlink.link.border.cost import COMPONENT_PRICE
from spvlink.link.border.link import Link
from spvlink.link.motion import algebra, lenient
from spvlink.link.motion.mincut import INFINITE, SINK, SOURCE, Network
from spvlink.link.motion.nodes import (
    WIDTHS,
    Entry,
    Kind,
    ScalarNode,
    Use,
    closest,
    replaceable,
    single,
)
from spvlink.link.resources.blocks import Cannot
from spvlink.link.resources.transfer import Transfer
from spvlink.link.rounding import sensitive
from spvlink.link.rounding.flatten import comes_exact
from spvlink.link.rounding.rounded import TESTS
from spvlink.link.rounding.sensitive import Sensitive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


NAME_DEPTH: Final = 4  # operations that equal uniform values of two blocks are known by


FEWEST: Final = 1000  # how much more a component counts when their number must not grow


_LOADS: Final = (LOAD_INPUT, INTERPOLATE)


class ConsumerGraph:
    """What the consumer makes of its inputs, as far as it could be made before the border."""

    patient = False  # looks at everything, also when it is clear that no input can go

    def __init__(
        self, link: Link, transfer: Transfer, exact: bool, convergent: set[int],
        relaxed: bool = False,
    ) -> None:  # fmt: skip
        self.link = link
        self.widths = algebra.widths_of(link)  # of the numbers that may cross
        self.transfer = transfer
        self.effects = Effects.of(link.consumer.module)
        self.settled = invariant.settled(link.consumer.module)
        self.frozen = invariant.frozen(link.consumer.module)
        self.convergent = convergent
        self.table: dict[Inst, list[Entry]] = {}
        self.nodes: list[ScalarNode] = []
        self.inputs: dict[int, ScalarNode] = {}  # key -> what its loads give
        self.numbered: dict[object, ScalarNode] = {}
        self.places: dict[frozenset[int], frozenset[int]] = {}  # where inputs are stored
        self.stuck: set[int] = set()  # keys that are read in a way that stays
        self.kinds: dict[object, Kind] = {}
        self.partial: dict[Lane, list[Inst]] = {}  # uniform lanes of values that are not uniform
        self.loads: dict[Inst, object] = {}  # of resources -> what they are called
        self.sensitive: Sensitive | None = None  # both found when first asked for
        self.poles: dict[Lane, Inst] | None = None
        self.relaxed = relaxed  # what a lookup or comparison is made of may move (``lenient``)
        self.unable: dict[Inst, str] = {}  # what stays, since the producer may not have it
        self.homeless: set[ScalarNode] = set()  # that no component could be found for
        self.open = set(link.loads)  # keys of inputs that nothing needs so far that stays
        kept = Floats.of(link.consumer.module).preserved
        own = Floats.of(link.producer.module).preserved
        self.exact = exact or bool(kept - own)
        self.linear = not self.exact and not WIDTHS & (kept | own)
        entry = link.consumer.module.entry
        assert entry is not None
        self.cfg = Cfg.of(link.consumer.module, entry.function)
        self.block = entry.function.blocks[0]  # which is looked at
        self.hopeless = not self.build()

    # -- building ----------------------------------------------------------------------------------

    def build(self) -> bool:
        """Look at the consumer's code, operands first; False as soon as it is clear that no input
        can go: then nothing is worth moving."""
        phis: list[Inst] = []
        table = self.table
        for block in self.cfg.order:
            self.block = block
            for inst in block.insts:
                if inst.op in _LOADS:
                    self.read(inst)
                elif inst.op == ops.OpPhi:
                    phis.append(inst)
                else:
                    for arg in inst.args:
                        if arg in table:
                            self.visit(inst)
                            if not (self.open or self.patient):
                                return False
                            break
        for phi in phis:  # a loop's uses values that only come behind it
            self.need(phi)
        for key in self.stuck & self.inputs.keys():
            self.inputs[key].sink = True
        return True

    def read(self, load: Inst) -> None:
        """An input is a node if its slot may be replaced."""
        key = load.imm[0]
        kind = self.kind_of(load)
        if kind is None:
            self.spoil(load)
            self.stuck.add(key)
            self.open.discard(key)
            return
        if load.args:
            self.need(load)  # where it is interpolated stays
        node = self.inputs.get(key)
        if node is None:
            slot, stores = self.link.inputs.slots[key], self.link.stores[key]
            stored_at = frozenset([self.link.sites[s] for s in stores])
            sites = self.places.setdefault(stored_at, stored_at)  # equal ones are one
            node = ScalarNode((load, 0), slot.qualifiers, self.link.carries_bits(slot), sites)
            node.key = key
            node.convergent = key in self.convergent
            self.inputs[key] = node
            self.nodes.append(node)
        node.places.append((load, 0, kind))
        self.table[load] = [Use(node, kind)]

    def kind_of(self, load: Inst) -> Kind | None:
        """How a load reads its slot; None where it must stay."""
        link, key = self.link, load.imm[0]
        if not replaceable(link, key):
            return None
        slot = link.inputs.slots[key]
        flat = link.carries_bits(slot)
        if flat and load.op == INTERPOLATE:
            return None
        if not flat and (slot.type.op != ops.OpTypeFloat or not self.linear):
            return None
        name = (slot.qualifiers, load.op, load.imm[1:], tuple(load.args))
        kind = self.kinds.get(name)
        if kind is None:
            kind = self.kinds[name] = Kind(load)
        return kind

    def entry(self, lane: Lane) -> Entry:
        entries = self.table.get(lane[0])
        if entries is not None:
            return entries[lane[1]]
        return lane if self.free(lane[0]) else None

    def free(self, inst: Inst) -> bool:
        """Whether a value depends on nothing but what the producer can read too."""
        if inst in self.table:
            return False
        return self.transfer.moves(inst)

    def spoil(self, inst: Inst) -> None:
        """An instruction that stays, and needs what it uses. What is made of it is not looked at:
        most of a shader."""
        self.need(inst)

    def need(self, inst: Inst) -> None:
        """What an instruction uses, the consumer must have."""
        for arg in inst.args:
            if arg.op in scalars.PAIRS and arg in self.table:
                self.need(arg)
            for entry in self.table.get(arg, ()):
                if isinstance(entry, Use):
                    self.sink(entry.node)

    def sink(self, node: ScalarNode) -> None:
        """Something that stays needs this."""
        node.sink = True
        if node.key is not None:
            self.open.discard(node.key)

    def visit(self, inst: Inst) -> None:
        """An instruction that uses what is made of inputs."""
        if inst in self.settled and inst.op not in scalars.MOVES and self.stays(inst):
            self.spoil(inst)
            return
        table = self.table
        if inst.op in scalars.PAIRS:
            table[inst] = []  # its members are looked at
            return
        size, worker = scalars.count(inst.type), scalars.worker(inst)
        used = [e for a in worker.args if a in table for e in table[a] if e is not None]
        if not used or not size:
            self.spoil(inst)
            return
        if inst.op in scalars.MOVES and worker is inst:
            moved = scalars.moved(inst)
            if moved is not None:
                entries = [self.entry(lane) for lane in moved]
                if any(entries):
                    self.table[inst] = entries
                return
        flags = self.effects.flags(worker)
        if not flags & info.SPECULATABLE:
            self.spoil(inst)
            return
        if not scalars.may_be_linear(inst) and not any(
            isinstance(e, tuple) or e.node.flat or e.node.convergent for e in used
        ):
            self.spoil(inst)
            return
        if not self.movable(inst):
            if inst in self.unable:
                deps = [e for e in used if isinstance(e, Use)]
                self.remark(deps, self.unable[inst])
            self.spoil(inst)
            return
        lanewise = scalars.lanewise(inst, flags)
        splits = lanewise or size == 1 or inst.op == ops.OpVectorTimesScalar
        if not splits and not self.complete(inst):
            self.spoil(inst)
            return
        made: list[Entry] = []
        for number in range(size):
            groups = [
                [self.entry(lane) for lane in group]
                for group in scalars.made_of(inst, number, lanewise)
            ]
            made.append(self.node(inst, number, lanewise, groups))
        if not splits and (None in made or not self.together(inst)):
            self.unmake(inst, made)  # one lane of a matrix product is not made alone
            self.spoil(inst)
            return
        self.table[inst] = made

    def unmake(self, inst: Inst, made: list[Entry]) -> None:
        """Forget the nodes that were just made for an instruction: an equal lane of another one
        would be taken for them. And that it is what was there already."""
        for entry in made:
            if isinstance(entry, Use):
                entry.node.places = [p for p in entry.node.places if p[0] is not inst]
        while self.nodes[-1].inst is inst:
            self.nodes.pop()
            self.numbered.popitem()

    def stays(self, inst: Inst) -> bool:
        """Whether something of what is ``settled`` would come to other bits before the border."""
        return inst in self.frozen or not algebra.bit_exact(inst)

    def complete(self, inst: Inst) -> bool:
        """Whether every lane of every operand may be made before the border."""
        return all(
            self.entry((a, n)) is not None
            for a in scalars.operands(inst) for n in range(scalars.count(a.type))
        )  # fmt: skip

    def together(self, inst: Inst, site: int | None = None) -> bool:
        """Whether all inputs that a value is made of are stored at the same places, or at one."""
        of = [inst, *scalars.operands(inst)]
        entries = [self.entry((a, n)) for a in of for n in range(scalars.count(a.type))]
        sites = {e.node.sites for e in entries if isinstance(e, Use)}
        return len(sites) <= 1 if site is None else all(site in s for s in sites)

    def movable(self, inst: Inst) -> bool:
        if not algebra.speculatable(self.effects, inst):
            return False
        if self.exact and not algebra.bit_exact(inst):
            return False
        try:
            self.transfer.able(scalars.worker(inst))
        except Cannot as why:
            self.unable[inst] = str(why)
            return False
        return True

    def node(
        self, inst: Inst, number: int, lanewise: bool, groups: list[list[Entry]]
    ) -> Entry:  # fmt: skip
        """The node of one lane; None if it must stay, which its operands then have to serve."""
        deps = [e for group in groups for e in group if isinstance(e, Use)]
        uniforms = [u for g in groups for e in g if isinstance(e, tuple) for u in self.behind(e)]
        if not deps and not any(e is None for group in groups for e in group):
            self.partial[inst, number] = uniforms
            return inst, number  # a lane that no input reaches
        use = self.joined(inst, number, groups, deps)
        if use is None:
            for dep in deps:
                self.sink(dep.node)
            return None
        names = [id(e.node) if isinstance(e, Use) else self.name(e) for g in groups for e in g if e]
        lane = () if lanewise else (number,)
        name = (scalars.worker(inst).op, inst.imm, id(inst.type), tuple(names), *lane)
        work = algebra.cost_of(inst)
        node = self.numbered.get(name)
        if node is None:
            like = use.node
            node = ScalarNode((inst, number), like.qualifiers, like.flat, like.sites)
            node.convergent = all(d.node.convergent for d in deps)
            node.deps = list(dict.fromkeys(d.node for d in deps))
            node.work = work
            node.uniforms = uniforms
            node.relaxed = inst in self.effects.signatures
            self.numbered[name] = node
            self.nodes.append(node)
        else:
            node.relaxed = node.relaxed and inst in self.effects.signatures
        if not node.flat and node.loose is None and not algebra.scales(inst, number):
            node.loose = self.lifted(inst, number)
        node.places.append((inst, number, use.kind))
        node.weight += work >> min(self.depth(), 4)
        return Use(node, use.kind)

    def depth(self) -> int:
        """The number of constructs around what is looked at."""
        if len(self.cfg.order) == 1:
            return 0
        structure = Structure.of(self.link.consumer.module, self.cfg.function)
        return len(structure.around(self.block))

    def hangs(self, inst: Inst, number: int) -> Inst | None:
        """What depends on the last bit of a lane, here or in a later stage."""
        if self.sensitive is None:
            self.sensitive = sensitive.at(self.link)
        return self.sensitive.of(inst, number)

    def smooth(
        self, inst: Inst, number: int, groups: list[list[Entry]], deps: list[Use]
    ) -> bool:  # fmt: skip
        """Whether a value may be interpolated, and rounded in another way; says so if not."""
        free = [u for g in groups for e in g if isinstance(e, tuple) for u in self.behind(e)]
        module = self.link.consumer.module
        if any(sensitive.unbounded(module, i) for i in (inst, *free)):
            what = sensitive.words(module, inst)
            self.remark(deps, f"{what} may give an infinity, which does not interpolate")
            return False
        if inst.op in TESTS:
            return False  # interpolation makes NaNs of infinities
        if algebra.scales(inst, number):
            return True
        if sensitive.jumps(inst) or sensitive.steep(inst):
            return False
        if not self.is_loose(inst, number, groups) and self.rounds(inst, number, deps):
            return False
        return not self.singular(inst, number, deps)

    def is_loose(self, inst: Inst, number: int, groups: list[list[Entry]]) -> bool:
        """Whether a value may be rounded in another way by ``--relaxed`` alone: a sum or product
        that has a bound."""
        if self.lifted(inst, number) is None:
            return False
        return scalars.linear(inst, [any(isinstance(e, Use) for e in g) for g in groups])

    def lifted(self, inst: Inst, number: int) -> Inst | None:
        """A lookup or comparison that depends on the last bit of a lane, and with ``--relaxed`` is
        no obstacle, if nothing else depends on it."""
        allowed = lenient.of(self.link, self.relaxed)
        return None if allowed is None else allowed.lifted.get((inst, number))

    def come_exact(self, deps: list[Use]) -> bool:
        """Whether what is interpolated, and equal at all vertices, may come to the bit, as it does
        in what crosses Flat; says so if not."""
        todo = [d.node for d in deps if not d.node.flat]
        seen = set(todo)
        for node in todo:
            if node.key is not None and not comes_exact(self.link, node.key, "not moved: "):
                return False
            fresh = [d for d in node.deps if d not in seen]
            seen.update(fresh)
            todo += fresh
        return True

    def rounds(self, inst: Inst, number: int, deps: list[Use]) -> bool:
        """Whether something depends on the last bit of a value; says so."""
        place = self.hangs(inst, number)
        if place is None:
            return False
        allowed = lenient.of(self.link, self.relaxed)
        if allowed is not None:  # name what is not lifted
            place = allowed.hard.get((inst, number), place)
        what = sensitive.words(self.link.consumer.module, place)
        self.remark(deps, f"{what} in the {self.link.consumer.name} stage depends on its last bit")
        return True

    def singular(self, inst: Inst, number: int, deps: list[Use]) -> bool:
        """Whether what is made of a value has a pole, beside which no rounding is small; says
        so."""
        if self.poles is None:
            self.poles = sensitive.poles_at(self.link)
        place = self.poles.get((inst, number))
        if place is None:
            return False
        what = sensitive.words(self.link.consumer.module, place)
        self.remark(deps, f"{what} in the {self.link.consumer.name} stage may have a pole there")
        return True

    def remark(self, deps: list[Use], why: str) -> None:
        """Say why what is made of inputs is not made before the border."""
        todo = [d.node for d in deps]
        seen = set(todo)
        for node in todo:
            if node.key is not None:
                self.link.remarks.notes.setdefault(node.key, f"not moved: {why}")
            fresh = [d for d in node.deps if d not in seen]
            seen.update(fresh)
            todo += fresh

    def behind(self, lane: Lane) -> list[Inst]:
        """The uniform values that a uniform lane is made of: other lanes of its value may be made
        of what stays."""
        return self.partial.get(lane, [lane[0]])

    def joined(
        self, inst: Inst, number: int, groups: list[list[Entry]], deps: list[Use]
    ) -> Use | None:
        """One of the operands that the result comes over like; None if it stays."""
        if any(e is None for g in groups for e in g):
            return None
        if any(d.node.sites != deps[0].node.sites for d in deps):
            return None
        varying = [d for d in deps if not d.node.convergent]
        like = varying[0] if varying else closest(deps)
        if any(d.kind is not like.kind for d in varying):
            return None
        if like.node.flat:
            # the other stage may contract it with its own
            rounds = not algebra.bit_exact(inst) and self.rounds(inst, number, deps)
            return None if rounds or not self.come_exact(deps) else like
        varies = [any(isinstance(e, Use) and not e.node.convergent for e in g) for g in groups]
        affine = like.kind.centred(like.node.qualifiers)
        if varying and not (single(inst) and scalars.linear(inst, varies, affine)):
            return None
        return like if self.smooth(inst, number, groups, deps) else None

    def name(self, lane: Lane) -> object:
        """What a uniform lane is called: equal for equal values of different blocks."""
        return lane[1], self.number(lane[0])

    def number(self, inst: Inst, depth: int = 0) -> object:
        if types.IS_CONSTANT[inst.op]:
            return id(inst)
        if inst.op == ops.OpLoad:
            if inst not in self.loads:
                self.loads[inst] = self.called(inst)
            return self.loads[inst]
        if depth == NAME_DEPTH:
            return id(inst)
        parts = tuple([self.number(a, depth + 1) for a in inst.args])
        return inst.op, inst.imm, id(inst.type), parts

    def called(self, load: Inst) -> object:
        """What a load of a resource is called."""
        try:
            access = self.transfer.from_blocks.access(load)
        except Cannot:  # a lane of something else
            return id(load)
        return access.key, tuple(access.element), access.offset, id(load.type)

    # -- choosing ----------------------------------------------------------------------------------

    def choose(
        self, vertices: int, fragments: int
    ) -> tuple[list[ScalarNode], list[ScalarNode], set[int]]:
        """(what the producer makes, in order; what of it crosses; the inputs that cross no
        more)."""
        price = COMPONENT_PRICE * fragments
        for factor in (1, FEWEST):
            made, crossing, freed = self.cut(vertices, fragments, price * factor)
            if len(crossing) <= len(freed):
                return made, crossing, freed
        return [], [], set()

    def needed(self) -> list[ScalarNode]:
        """The nodes that something which stays is made of."""
        kept = {n for n in self.nodes if n.sink}
        todo = list(kept)
        while todo:
            for dep in todo.pop().deps:
                if dep not in kept:
                    kept.add(dep)
                    todo.append(dep)
        return [n for n in self.nodes if n in kept]

    def cut(
        self, vertices: int, fragments: int, price: int
    ) -> tuple[list[ScalarNode], list[ScalarNode], set[int]]:
        """The cheapest cut, as ``choose``. What must be on the sink's side is the sink."""
        network = Network()
        nodes = self.needed()
        outer = {n: SINK if n.sink else network.node() for n in nodes}
        inner: dict[ScalarNode, int] = {}  # of an input the same as its outer one
        for node in nodes:
            out = outer[node]
            if node.key is not None:
                inner[node] = out
                if out != SINK:
                    network.edge(SOURCE, out, _priced(node, price))
                continue
            mine = inner[node] = network.node()
            network.edge(mine, out, self.crossing(node, fragments, price))
            for dep in [inner[d] for d in node.deps if d.key is None]:
                network.edge(mine, dep, INFINITE)  # made there of what is made there, or of inputs
            gain = node.weight * fragments - node.work * vertices
            if gain > 0:
                network.edge(SOURCE, mine, gain)
            elif gain < 0:
                network.edge(mine, SINK, -gain)
            for dep in [outer[d] for d in node.deps]:
                if dep != SINK:  # what does not cross is needed there only
                    network.edge(dep, mine, INFINITE)
        side = network.cut()
        made = [n for n in nodes if side[inner[n]] and n.key is None]
        freed = {k for k, n in self.inputs.items() if n not in inner or side[inner[n]]}
        return made, [n for n in made if not side[outer[n]]], freed

    def crossing(self, node: ScalarNode, fragments: int, price: int) -> int:
        """The price of a node if it crosses; INFINITE if it must not."""
        assert node.inst.type is not None
        type = scalars.scalar(node.inst.type)
        if node in self.homeless or not algebra.crosses(type, node.flat, self.widths):
            return INFINITE
        if algebra.in_word(type, self.widths):
            return price + 2 * fragments
        return _priced(node, price)


def _priced(node: ScalarNode, price: int) -> int:
    """The price of a component: less where it holds 16 bits, of which devices may pack two."""
    assert node.inst.type is not None
    return price * 3 // 4 if scalars.scalar(node.inst.type).imm[:1] == (16,) else price
