"""The proof of one pipeline: both sides on one graph, then everything that is seen outside."""

from __future__ import annotations

import time

from spvlink.binary.decode import decode
from spvlink.entry import read_pipeline
from spvlink.errors import SpvlinkError
from spvlink.grammar import enums
from spvlink.ir.edit import abandon
from spvlink.options import Options
from spvlink.pipeline import STAGES, Source, stage_of
from spvlink.verifier.known import KnownState
from spvlink.verifier.paper.align import aligned
from spvlink.verifier.paper.choices import choose, leaves_of
from spvlink.verifier.paper.compare import Comparison
from spvlink.verifier.paper.graph import (
    BOOL,
    ITE,
    MEMORY,
    UNDEF,
    Graph,
    Node,
    NotProvable,
    agreed,
    below,
    literals,
    text,
)
from spvlink.verifier.paper.normal import ROUNDED, rounded
from spvlink.verifier.paper.pipeline import INDICES, Pipeline, Stuck, columns_of
from spvlink.verifier.paper.places import PATCH_BUILTINS
from spvlink.verifier.paper.reals import Reals
from spvlink.verifier.paper.splits import names_outer_variable
from spvlink.verifier.paper.stage import ProvedStage
from spvlink.verifier.paper.terms import Terms
from spvlink.verifier.verdict import EQUAL, PAPER, SCALES, UNDEFINED, UNKNOWN, Place, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.ir.core import Module

    Sides = list[list[tuple[str, Module]]]  # original and linked: stages and their modules

MOST_NODES: Final = 400_000
SECONDS: Final = 1.0
COLOUR: Final = "Location "
_LEVELS: Final = frozenset([("builtin", number) for number in PATCH_BUILTINS])
_MOST_CASES: Final = 5  # conditions
_MOST_LOOPS: Final = 16  # of which it is used that they end
_WIDTH: Final = 200  # of a value in a message
_ORDER: Final = {name: at for at, name in enumerate(STAGES.values())}


def prove(
    before: Sequence[Source], after: Sequence[Source], options: Options, seconds: float = SECONDS
) -> Verdict:
    """Whether two pipelines do the same. ``options``: of the link; ``exact`` allows no axiom of
    rounding, ``spec`` gives values to specialization constants. Raises BadSpirv for what is no
    pipeline."""
    begin = time.perf_counter()
    sides = [_ordered(list(before)), _ordered(list(after))]
    try:
        is_same = [(s.data, s.entry) for s in before] == [(s.data, s.entry) for s in after]
        verdict = Verdict(EQUAL, PAPER) if is_same else _proved(sides, options, seconds)
    except Stuck as stuck:
        verdict = Verdict(UNKNOWN, PAPER, stuck.place, stuck.reason)
    except NotProvable as why:
        verdict = Verdict(UNKNOWN, PAPER, None, str(why))
    except RecursionError:
        verdict = Verdict(UNKNOWN, PAPER, None, "the graph is too deep")
    except SpvlinkError:
        raise
    except Exception as error:  # whatever it is, nothing was proved
        reason = f"the proof failed: {type(error).__name__}: {error}"
        verdict = Verdict(UNKNOWN, PAPER, None, reason)
    finally:
        for side in sides:
            for _, module in side:
                abandon(module)
    verdict.seconds = time.perf_counter() - begin
    return verdict


def _proved(sides: Sides, options: Options, seconds: float) -> Verdict:
    """If it needs that, a second proof takes each test of an undefined value for a choice of its
    own, or by default signs and powers of two through interpolation."""
    begin = time.perf_counter()
    proof = _Proof(sides, options, seconds)
    try:
        verdict = proof.run()
        if verdict.outcome != UNKNOWN or options.exact:
            return verdict
    except (Stuck, NotProvable):
        if not proof.terms.undecided and options.exact:
            raise
    chooses = proof.terms.undecided
    proof = _Proof(sides, options, seconds - (time.perf_counter() - begin))
    proof.terms.chooses = chooses
    proof.terms.scales = not options.exact
    verdict = proof.run()
    if verdict.outcome == EQUAL:
        if chooses:
            verdict.axioms[UNDEFINED] = proof.terms.choices
        if proof.terms.scaled:
            verdict.axioms[SCALES] = proof.terms.scaled
    return verdict


def _ordered(sources: list[Source]) -> list[tuple[str, Module]]:
    modules = read_pipeline(sources)
    named = []
    for module in modules:
        assert module.entry is not None
        named.append((stage_of(module.entry.model), module))
    return sorted(named, key=lambda pair: _ORDER[pair[0]])


class _Proof:
    def __init__(self, sides: Sides, options: Options, seconds: float) -> None:
        self.sides = sides
        self.options = options
        self.known = KnownState(options)
        self.graph = Graph(MOST_NODES, seconds)
        self.terms = Terms(self.graph)
        self.partial: dict[Node, Node] = {}
        self.comparison = Comparison(self.terms, self.partial)
        self.reals = Reals(self.terms)
        self.shape = ""  # what is rasterized
        self.originals: Sequence[ProvedStage] = ()

    def run(self) -> Verdict:
        names = [[name for name, _ in side] for side in self.sides]
        if names[0] != names[1]:
            return Verdict(UNKNOWN, PAPER, None, "the pipelines have other stages")
        pipelines = []
        for side, word in zip(self.sides, ("original", "linked")):
            pipeline = Pipeline(self.terms, word, self.known)
            for name, module in side:
                pipeline.add(name, module, self.specialized(name), self.options.spec_defaults)
            self.partial.update(pipeline.partial)
            pipelines.append(pipeline)
        self.originals = pipelines[0].stages
        self.shape = pipelines[0].rasterized()
        self.tell_reals(pipelines[0])
        following = [*names[0][1:], ""]
        for mine, other, next in zip(pipelines[0].stages, pipelines[1].stages, following):
            if mine.name == "frag" and self.known.discards:
                continue  # it never runs
            last = next in ("", "frag")
            is_open = not next and mine.name != "frag" and not self.options.complete
            wrong = self.differing(mine, other, last, is_open)
            if wrong is not None:
                return wrong
        return Verdict(EQUAL, PAPER, axioms=self.reals.used)

    def tell_reals(self, original: Pipeline) -> None:
        """What a colour may rely on of the stages before."""
        for stage in original.stages:
            if stage.name == "mesh":
                self.reals.positions = columns_of(stage, (enums.BuiltIn_Position,))
                self.reals.indices = columns_of(stage, INDICES)
            elif stage.name == "tese":
                modes = [mode[0] for mode in stage.modes()]
                self.reals.has_triangles = enums.ExecutionMode_Triangles in modes

    def specialized(self, stage: str) -> dict[int, str | bytes]:
        values: dict[int, str | bytes] = {}
        for (name, number), value in self.options.spec.items():
            if name == stage:
                values[number] = value
        return values

    def differing(
        self, mine: ProvedStage, other: ProvedStage, last: bool, is_open: bool
    ) -> Verdict | None:
        """The first difference that can be seen of a stage. ``is_open``: another one may follow,
        which is not here."""
        if mine.modes() != other.modes():
            return Verdict(UNKNOWN, PAPER, Place(mine.name), "execution modes differ")
        if not self.dies_alike(mine, other):
            reason = "it may do what is undefined, or never end"
            return Verdict(UNKNOWN, PAPER, Place(mine.name), reason)
        rates = [(s.may_be_per_sample, s.per_sample) for s in (mine, other)]
        if rates[0] > rates[1] or (rates[1][0] and not rates[0][0]):
            if not self.known.one_sample:
                return Verdict(UNKNOWN, PAPER, Place(mine.name), "one runs for each sample")
        if any(other.lengths.get(key, length) < length for key, length in mine.lengths.items()):
            return Verdict(UNKNOWN, PAPER, Place(mine.name), "an array of fewer vertices")
        pairs: list[tuple[str, Node, Node, Node]] = []  # the last one: where they are seen
        false, true = self.graph.false, self.graph.true
        live = true if mine.live.loose else mine.live
        for name in [*mine.seen, *[n for n in other.seen if n not in mine.seen]]:
            words = name if isinstance(name, str) else " ".join(map(str, name))  # type: ignore[call-overload]
            if name not in mine.seen or name not in other.seen:
                if words not in ("discard", "demote"):
                    return Verdict(UNKNOWN, PAPER, Place(mine.name, words), "one side lacks it")
            pairs.append((words, mine.seen.get(name, false), other.seen.get(name, false), true))
        for key, node in mine.outputs.items():
            if is_open or self.is_seen(mine.name, key, last):
                linked = other.outputs.get(key)
                words = output_name(key)
                if linked is None:
                    if node.op in (UNDEF, "unwritten"):
                        continue
                    return Verdict(UNKNOWN, PAPER, Place(mine.name, words), "it is gone")
                if mine.written[key].invariant and not other.written[key].invariant:
                    return Verdict(UNKNOWN, PAPER, Place(mine.name, words), "it was invariant")
                if node.op == UNDEF != linked.op and key[0] == "builtin":
                    # without a value, some of them have one that the specification gives
                    return Verdict(UNKNOWN, PAPER, Place(mine.name, words), "it had no value")
                pairs.append((words, node, linked, live))
        for key, node in other.outputs.items():
            if key in mine.outputs or node.op in (UNDEF, "unwritten"):
                continue
            if is_open or self.is_seen(mine.name, key, last):
                place = Place(mine.name, output_name(key))
                return Verdict(UNKNOWN, PAPER, place, "only the linked one writes it")
        for words, one, two, where in pairs:
            if not self.same(mine, words, one, two, where):
                return self.part(mine.name, words, one, two)
        return None

    def is_seen(self, stage: str, key: tuple[object, ...], last: bool) -> bool:
        """Whether fixed functions take an output: of ``last``, the last stage before the rasterizer
        or the last one of all, and the levels of tessellation. Others only the next stage reads."""
        if stage == "tesc":
            return key[:2] in _LEVELS
        if not last:
            return False
        if key[0] == "builtin":
            return stage == "frag" or self.known.uses(int(str(key[1])), self.shape)
        place = [int(str(part)) for part in key[1:]]
        return stage == "frag" and self.known.takes(place[0], place[1], *(place[2:] or [0]))

    def same(self, stage: ProvedStage, words: str, one: Node, two: Node, where: Node) -> bool:
        """To the bit; or up to rounding, if that is allowed and it is a colour. ``where``: when it
        is seen."""
        true = self.graph.true
        if self.comparison.refines(one, two, true):
            return True
        lives = self.lives(stage)
        one, two = [self.defined(self.graph.restrict(n, lives), lives) for n in (one, two)]
        one = self.rounded(one, two)
        self.comparison.always = self.graph.both(lives, self.left(one, two))
        care = self.graph.both(where, self.comparison.always)
        originals = [one, *self.taken(one, two)]
        pairs = [(original, two) for original in originals]
        if any(self.comparison.refines(*pair, care) for pair in pairs):
            return True
        pairs = [(o, aligned(self.terms, self.comparison, o, two)) for o in originals]
        if any(self.comparison.refines(*pair, care) for pair in pairs):
            return True
        chosen = self.chosen(pairs)
        pairs += chosen
        if any(self.comparison.refines(*pair, care) for pair in chosen):
            return True
        if self.options.exact or stage.name != "frag" or not words.startswith(COLOUR):
            return False
        self.comparison.deepest = None
        return any(self.by_cases(*pair, 0) for pair in pairs)

    def left(self, one: Node, two: Node) -> Node:
        """What is known behind the loops in two values: none of them goes on."""
        known = self.graph.true
        seen: set[tuple[Node, ...]] = set()
        for node in sorted(below(one) | below(two), key=lambda node: node.id):
            if node.op == "loop" and not node.loose and not names_outer_variable(node):
                loop = node.args[:1] + node.args[2:]
                if loop not in seen and len(seen) < _MOST_LOOPS:
                    seen.add(loop)
                    known = self.graph.both(known, self.terms.over(node))
        return known

    def dies_alike(self, mine: ProvedStage, other: ProvedStage) -> bool:
        """Whether the linked stage does what is undefined, or never ends, only where the original
        may."""
        true = self.graph.true
        if None in other.may_die:
            return False
        ways = [way for way in mine.may_die if way is not None]
        for path in other.may_die - mine.may_die:
            assert path is not None
            if not any(self.comparison.refines(way, path, true) for way in ways):
                return False
        return self.graph.implies(self.lives(mine), other.lives) or self.comparison.refines(
            mine.lives, other.lives, true
        )

    def lives(self, stage: ProvedStage) -> Node:
        """Where the original does nothing that is undefined, and its loops end: in the stage, and
        in those before, as far as all invocations agree on that."""
        known = self.graph.true
        for original in self.originals:
            if original.name == stage.name:
                return self.graph.both(known, original.lives)
            known = self.graph.both(known, agreed(self.graph, original.lives))
        return known

    def defined(self, node: Node, lives: Node) -> Node:
        """The same with the conditions that are known for all invocations put in."""
        known = {atom: value for atom, value in literals(self.graph, lives) if not atom.varying}
        return self.terms.substituted(node, known, lambda _: False) if known else node

    def chosen(self, pairs: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
        """The same where all that is undefined in the original is one number; and where an end of a
        choice that is undefined is one of its other ends."""
        taken = [
            (self.decided(one, which), two)
            for one, two in pairs
            if one.loose and not two.undef
            for which in (0, -1)
        ]
        return taken + [
            (self.terms.substituted(original, dict(known), lambda node: not node.loose), linked)
            for original, linked in pairs
            if original.loose and not linked.undef
            for known in self.comparison.choices
        ]

    def rounded(self, original: Node, linked: Node) -> Node:
        """The same with what constants give, but for what the linked value has, too, rounded to
        nearest: Vulkan allows that, and others."""
        kept = below(linked)
        while True:
            known: dict[Node, Node] = {}
            for node in below(original) - kept:
                made = rounded(self.graph, node) if node.op in ROUNDED else None
                if made is not None:
                    known[node] = made
            if not known:
                return original
            original = self.terms.substituted(original, known, lambda node: False)

    def decided(self, node: Node, which: int) -> Node:
        """The same with another end of its choice for each end that is undefined: with the first of
        them, or the last one."""
        known: dict[Node, Node] = {}

        def put(node: Node) -> Node:
            return self.terms.substituted(node, known, lambda n: not n.loose)

        for choice in sorted(below(node), key=lambda n: n.id):
            leaves = leaves_of(choice) if choice.kind not in (BOOL, MEMORY) else None
            defined = [leaf for leaf in leaves or () if leaf.op != UNDEF]
            if leaves is not None and 0 < len(defined) < len(leaves):
                ends = {leaf: put(leaf if leaf in defined else defined[which]) for leaf in leaves}
                known[choice] = choose(self.graph, choice, ends)
        return put(node)

    def by_cases(self, original: Node, linked: Node, deep: int) -> bool:
        """Up to rounding; at once, or in each case of a condition that all invocations agree on. A
        choice by it then stands in the way of no sum."""
        forms = [self.reals.form(node) for node in (original, linked)]
        if self.comparison.refines(forms[0], forms[1], self.graph.true):
            return True
        atom = _agreed(original, linked) if deep < _MOST_CASES else None
        if atom is None:
            return False
        for case in (self.graph.true, self.graph.false):
            known = {atom: case}
            pair = [self.terms.substituted(n, known, lambda _: False) for n in (original, linked)]
            if not self.by_cases(pair[0], pair[1], deep + 1):
                return False
        return True

    def taken(self, original: Node, linked: Node) -> list[Node]:
        """The same, with each read of a column taken for the one value that is written there: of
        those that the linked value does not read, and of all."""
        if not self.partial:
            return []
        read = below(linked)
        some = {made: value for made, value in self.partial.items() if made not in read}
        replaced = []
        for known in (some, dict(self.partial)):
            taken = self.terms.substituted(original, known, lambda node: False)
            if taken is not original and taken not in replaced:
                replaced.append(taken)
        return replaced

    def part(self, stage: str, words: str, one: Node, two: Node) -> Verdict:
        pair = self.comparison.deepest or (one, two)
        mine, other = [_short(text(node, 3)) for node in pair]
        return Verdict(UNKNOWN, PAPER, Place(stage, words), f"differs: {mine} against {other}")


def _agreed(original: Node, linked: Node) -> Node | None:
    """The first condition of a choice, in either value, that all invocations agree on."""
    found = [
        node.args[0]
        for node in below(original) | below(linked)
        if node.op == ITE and not node.args[0].varying and not node.args[0].undef
    ]
    return min(found, key=lambda node: node.id) if found else None


def _short(words: str) -> str:
    return words if len(words) <= _WIDTH else words[:_WIDTH] + "..."


def output_name(key: tuple[object, ...]) -> str:
    """What an output is called."""
    if key[0] == "builtin":
        for name, number in vars(enums).items():
            if number == key[1] and name.startswith("BuiltIn_"):
                return f"{name.removeprefix('BuiltIn_')}.{key[2]}"
    if key[0] == "loc":
        return f"{COLOUR}{key[1]}.{'xyzw'[int(str(key[2]))]}"
    return " ".join(map(str, key))


__all__ = ["decode", "prove"]
