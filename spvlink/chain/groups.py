"""Find the borders that passes handle together, because they share a module.

    a chain       A->B, B->C                      groups of one border
    a set         A->X, A->Y, B->Y                X with A; Y with A and B; A with X and Y; B with Y

A pass changes the module only that a group shares, and only if all borders of the group allow it:
what a consumer does without, its producers lose when no other consumer is left that reads it.
"""

from __future__ import annotations

from spvlink.chain.border import Group
from spvlink.chain.state import INPUT, OUTPUT, Chain
from spvlink.facts import invariant
from spvlink.grammar import ops
from spvlink.ir.core import Inst
from spvlink.link.border.link import CONSUMER, PRODUCER
from spvlink.link.border.stage import FIXED_FUNCTIONS, Stage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.chain.border import Border

    Side = tuple[Stage, int]  # a stage and a storage class


def note_shared(chain: Chain) -> None:
    """Which borders do not have both of their modules for themselves alone; the fixed functions
    behind a producer that ends a pipeline are a consumer, too."""
    for border in chain.borders:
        afters, befores = chain.afters[border.producer], chain.befores[border.consumer]
        border.shared = chain.literal or border.producer in chain.ends
        border.shared |= len(afters) > 1 or len(befores) > 1


def groups(chain: Chain) -> list[Group]:
    """Of all borders, first to last; what producers do for all of their consumers comes last."""
    made: list[Group] = []
    last: list[Group] = []
    for border in chain.borders:
        if not border.shared:
            made.append(Group([border], ""))
    for stage in chain.stages if chain.is_set else ():
        befores, afters = chain.befores.get(stage, []), chain.afters.get(stage, [])
        if stage in chain.stubs:
            continue
        if befores and befores[0].shared:
            made.append(Group(befores, CONSUMER))
        if afters and afters[0].shared:
            last.append(Group(afters, PRODUCER))
    return made + last[::-1]


def seams(borders: list[Border]) -> list[list[Border]]:
    """Borders whose sides meet, directly or through others."""
    leaders: dict[Side, Side] = {}

    def find(side: Side) -> Side:
        while side in leaders and leaders[side] != side:
            side = leaders[side]
        return side

    for border in borders:
        leaders[find((border.consumer, INPUT))] = find((border.producer, OUTPUT))
    seams_of: dict[Side, list[Border]] = {}
    for border in borders:
        seams_of.setdefault(find((border.producer, OUTPUT)), []).append(border)
    return list(seams_of.values())


def hold_outputs(chain: Chain, group: Group) -> None:
    """Tell the stages of a group, and all behind them, of which of their outputs those behind make
    positions and the like: of all, for what we know, where a border is not linked."""
    seen: set[Stage] = set()
    for border in group.borders:
        _hold(chain, border.producer, seen)
        _hold(chain, border.consumer, seen)


def _hold(chain: Chain, stage: Stage, seen: set[Stage]) -> None:
    if stage in seen or stage.name == FIXED_FUNCTIONS or stage in chain.stubs:
        return
    seen.add(stage)
    afters = [b for b in chain.afters.get(stage, []) if b.consumer.name != FIXED_FUNCTIONS]
    for border in afters:  # last to first
        _hold(chain, border.consumer, seen)
    if stage in chain.open or (chain.literal and stage.name != "frag"):
        hold_all(stage)
        return
    keys: set[int] = set()
    variables: set[Inst] = set()
    for border in afters:
        if border.link is None:
            hold_all(stage)
            return
        border.link.gather()
        outputs = border.link.settled_outputs()
        keys |= outputs[0]
        variables |= outputs[1]
    if afters:
        invariant.hold(stage.module, frozenset(keys), frozenset(variables))


def hold_all(stage: Stage) -> None:
    """For all that is known, every variable of a stage may come to a position."""
    variables = [v for v in stage.module.globals if v.op == ops.OpVariable]
    invariant.hold(stage.module, frozenset(), frozenset(variables))


def join(chain: Chain) -> None:
    """Let each border see the one behind it, if that is one."""
    for border in chain.borders:
        link, consumer = border.link, border.consumer
        if link is None:
            continue
        afters = chain.afters.get(consumer, [])
        if consumer in chain.open or chain.literal or len(afters) > 1:
            link.after, link.hidden = None, consumer.name != "frag"
        elif afters:
            link.after, link.hidden = afters[0].link, afters[0].link is None
