"""List every pass of a border: a row each, in this order, with its reason. A row is data: the sweep
reads it, ``spvlink passes`` prints it, the docs show it, a test checks ORDER.

Code that moves waits until everything dead is gone (``moving``). What brings code or constants into
a stage has that stage cleaned whole afterwards, what only takes away has it swept (``adds_code``).

Passes that few pipelines need are imported by the functions that run them: importing a dozen of
them would take a tenth of the time of a process that links one pair (docs/measurements/speed.md).
"""

from __future__ import annotations

from spvlink.chain.context import PassContext
from spvlink.chain.runner import STAGE_PASSES
from spvlink.chain.state_rows import STATE, rasterized
from spvlink.link.border.link import CONSUMER, PRODUCER, Link
from spvlink.link.border.stage import IN_PLACE
from spvlink.link.builtins import closing
from spvlink.link.dead import dead_builtins as builtins
from spvlink.link.dead import dead_varyings as varyings
from spvlink.link.motion import backward as backward_motion
from spvlink.link.motion import forward as forward_motion
from spvlink.link.pack import narrow as narrow_values
from spvlink.link.values import dedup_outputs as outputs
from spvlink.link.values import propagate_partial_constants as partial_constants
from spvlink.link.values import propagate_values as values

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final


class Pass:
    """One row. ``name``: GROUP.SUBJECT, or GROUP alone; its module and its function are called the
    same, with an underscore. ``what``: its line in ``spvlink passes``. ``why``: the reason for its
    place. ``many``: the sides that may be a module of several pipelines, with all that it meets
    there (``chain/border.Group``); ``single``: why a row takes one border only. ``when``: whether a
    border has something to look at. ``needs``: groups without which it gains nothing. ``fixed_on``:
    it cannot be switched off. ``beside``: what it changes in the producer was made beside what that
    does. ``alone``: the sides that may be fixed, since it changes nothing of them that would be
    written."""

    __slots__ = (
        "adds_code", "alone", "beside", "fixed_on", "many", "moving", "name", "needs", "run",
        "single", "what", "when", "why",
    )  # fmt: skip

    def __init__(
        self, name: str, run: Callable[[PassContext], object], what: str, why: str,
        when: Callable[[Link], object] | None = None, needs: tuple[str, ...] = (),
        moving: bool = False, adds_code: bool = False, beside: bool = False,
        alone: tuple[str, ...] = (), fixed_on: bool = False, many: tuple[str, ...] = (),
        single: str = "",
    ) -> None:  # fmt: skip
        self.name = name
        self.run = run
        self.why = why
        self.what = what
        self.when = when
        self.needs = needs
        self.moving = moving
        self.adds_code = adds_code
        self.beside = beside
        self.alone = alone
        self.fixed_on = fixed_on
        self.many = many
        self.single = single

    @property
    def group(self) -> str:
        """The switch that takes this row with its like."""
        return self.name.partition(".")[0]

    def fits(self, site: PassContext, moving: bool) -> bool:
        """Whether there is anything to look at."""
        if site.shared and site.shared not in self.many:
            return False
        if site.link.fixed and site.link.fixed not in self.alone:
            return False
        if (self.moving and not moving) or (self.when is not None and not self.when(site.link)):
            return False
        return all(site.enabled(name) for name in self.needs)


# -- when ------------------------------------------------------------------------------------------


def _in_place(link: Link) -> bool:
    return link.producer.name in IN_PLACE


def _has_payload(link: Link) -> bool:
    return link.producer.name == "task"


def _has_whole(link: Link) -> bool:
    return bool(link.outputs.pinned or link.inputs.pinned)


def _has_builtins(link: Link) -> bool:
    return link.built is not None


# -- one function a row ----------------------------------------------------------------------------


def promote_repeated_reads(at: PassContext) -> None:
    from spvlink.passes.lowering import promote_repeated_reads

    promote_repeated_reads.promote_repeated_reads(at.link.producer.module)


def payload_constants(at: PassContext) -> None:
    from spvlink.link.payload import payload_constants

    payload_constants.payload_constants(at.link)


def payload_members(at: PassContext) -> None:
    from spvlink.link.dead import payload_members

    payload_members.payload_members(at.link)


def dead_varyings(at: PassContext) -> None:
    if at.shared:
        from spvlink.link.dead import shared_varyings

        act = {CONSUMER: shared_varyings.read_as_zero, PRODUCER: shared_varyings.drop_unread}
        act[at.shared](at.links)
    else:
        varyings.dead_varyings(at.link)


def dead_unwritten_builtins(at: PassContext) -> None:
    from spvlink.link.builtins import dead_unwritten_builtins

    assert at.link.built is not None
    dead_unwritten_builtins.dead_unwritten_builtins(at.link.built)


def dead_builtins(at: PassContext) -> None:
    builtins.dead_builtins(at.link)


def promote_late_indices(at: PassContext) -> None:
    from spvlink.link.shape import promote_late_indices

    promote_late_indices.promote_late_indices(at.link)


def unroll_loops(at: PassContext) -> None:
    """What both sides, or one, index by the counters of loops."""
    from spvlink.link.shape import unroll_loops

    link, options = at.link, at.options
    if at.enabled("dead") and at.enabled("simplify") and link.outputs.pinned:
        packs = at.enabled("compact") and not _has_payload(link)
        moves = at.enabled("propagate")
        unroll_loops.unroll_loops(link, packs, moves, options.exact, at.cost_limit)


def arrays_dynamic(at: PassContext) -> None:
    """What one side alone indexes dynamically, if what is dead in it may go."""
    from spvlink.link.shape import arrays_dynamic

    link, options = at.link, at.options
    if at.enabled("dead") and link.outputs.pinned and link.inputs.pinned:
        moves = at.to_consumer.moves if at.enabled("propagate") else None
        arrays_dynamic.arrays_dynamic(link, moves, options.exact, at.cost_limit)


def dedup_outputs(at: PassContext) -> None:
    """Among varyings, and among built-ins where these cross, too."""
    link, exact = at.link, at.options.exact
    built = closing.of(link)
    if built is None:
        others = at.links[1:] if at.shared else None
        outputs.dedup_outputs(link, exact, others, at.chain.literal)
    else:
        from spvlink.link.builtins import known

        known.merge(link, built, exact)


def dedup_captured(at: PassContext) -> None:
    from spvlink.link.values import dedup_captured

    dedup_captured.dedup_captured(at.link)


def propagate_partial_constants(at: PassContext) -> None:
    partial_constants.propagate_partial_constants(at.link, at.options.exact)


def propagate_blended(at: PassContext) -> None:
    from spvlink.link.motion import propagate_blended

    propagate_blended.propagate_blended(at.link, at.to_consumer, at.options.exact)


def propagate_values(at: PassContext) -> None:
    options = at.options
    limit = at.cost_limit
    others = at.others if at.shared else None
    values.propagate_values(at.link, at.to_consumer, options.exact, limit, others)


def propagate_builtins(at: PassContext) -> None:
    from spvlink.link.builtins import propagate_builtins

    built, options = closing.of(at.link), at.options
    assert built is not None
    at.real = propagate_builtins.propagate_builtins(
        built, at.to_consumer, options.exact, at.cost_limit
    )


def halves_words(at: PassContext) -> None:
    from spvlink.link.pack import halves_words

    halves_words.halves_words(at.link, at.enabled)


def halves_locations(at: PassContext) -> None:
    from spvlink.link.pack import halves_locations

    halves_locations.halves_locations(at.link, at.convergent)


def forward(at: PassContext) -> None:
    options = at.options
    to_consumer, expect = at.to_consumer, at.expect
    forward_motion.forward(
        at.link, to_consumer, options.exact, expect, at.cost_limit, options.relaxed
    )


def backward(at: PassContext) -> None:
    options = at.options
    backward_motion.backward(at.link, at.to_producer, options.exact, at.expect, options.relaxed)


def weighted(at: PassContext) -> None:
    """What the control shader can make for sums over vertices of the evaluation shader."""
    from spvlink.link.motion import weighted

    stored = frozenset[int]()
    for after in at.chain.afters.get(at.link.consumer, ()):
        if after.consumer.name == "geom":
            if after.link is None or after.link.outputs.pinned:
                return  # which may make positions of whatever it reads
            stored |= weighted.fixed_outputs(after.link)
    weighted.weighted(at.link, at.to_producer, at.options.exact, stored)


def share_per_patch(at: PassContext) -> None:
    from spvlink.link.pack import share_per_patch

    befores = at.chain.befores.get(at.link.producer, ())
    link_before = befores[0].link if len(befores) == 1 else None
    share_per_patch.share_per_patch(at.link, link_before, at.options.exact)


def narrow(at: PassContext) -> None:
    narrow_values.narrow(at.link, at.convergent, at.cost_limit)


def half(at: PassContext) -> None:
    """Nothing unless somebody asks for it."""
    from spvlink.link.half import half

    bound = at.options.half
    stubs = at.chain.stubs.intersection((at.link.producer, at.link.consumer))
    literal = at.chain.literal or at.link.consumer.literal
    if bound is None or stubs or literal or not half.qualifies(at.link):
        return
    from spvlink import seen
    from spvlink.state import state_of

    known = state_of(at.options.state)
    module = at.link.producer.module
    ranges = seen.ranges_of(module, known) if at.link.producer.name == "vert" else {}
    has = seen.has_half_interfaces(known)
    visible = seen.visible_of(known, rasterized(at.chain, at.link.consumer, known))
    half.half(at.link, float(bound), visible, has, ranges)


# -- the table -------------------------------------------------------------------------------------

# At one border, again and again until none of them changes anything.
TABLE: Final = (
    Pass(
        "promote.repeated_reads", promote_repeated_reads, "Reuse the first read-back",
        "first: later rows see one value", when=_in_place,
        adds_code=True, alone=(CONSUMER,), fixed_on=True, many=(PRODUCER,),
    ),
    Pass(
        "payload.constants", payload_constants,
        "Propagate payload constants",
        "before rows that look at values: the task stage may use the constants", when=_has_payload,
        adds_code=True,
        single="several consumers may read the payload",
    ),
    Pass(
        "payload.members", payload_members, "Remove unread payload members",
        "before dead: unread members keep their values alive", when=_has_payload, adds_code=True,
        single="several consumers may read the payload",
    ),
    Pass(
        "dead.varyings", dead_varyings, "Remove unused varyings",
        "before every row that looks at values: it removes the dead ones",
        alone=(CONSUMER, PRODUCER), many=(CONSUMER, PRODUCER),
    ),
    Pass(
        "dead.unwritten_builtins", dead_unwritten_builtins,
        "Replace unwritten built-ins",
        "next to dead.varyings", when=_has_builtins, beside=True,
        single="the slots of built-ins belong to one border",
    ),
    Pass(
        "dead.builtins", dead_builtins, "Remove unread built-ins",
        "next to dead.varyings", when=lambda link: builtins.concerns(link), alone=(CONSUMER,),
        single="another consumer, or rasterization, may read them",
    ),
    Pass(
        "promote.late_indices", promote_late_indices,
        "Split newly constant indices",
        "after the rows that may make an index constant", when=_has_whole, adds_code=True,
        fixed_on=True,
        single="it splits both sides at once",
    ),
    Pass(
        "unroll.loops", unroll_loops, "Unroll loops over varyings",
        "before arrays: constant indices need no copies", when=_has_whole, adds_code=True,
        single="it splits both sides at once",
    ),
    Pass(
        "arrays.dynamic", arrays_dynamic, "Split dynamic arrays",
        "before dedup: the elements become slots", when=_has_whole, adds_code=True,
        single="it splits both sides at once",
    ),
    Pass(
        "dedup.outputs", dedup_outputs, "Merge duplicate outputs",
        "before propagate.values: moving one copy is cheaper than moving two", alone=(PRODUCER,),
        many=(CONSUMER,),
    ),
    Pass(
        "dedup.captured", dedup_captured, "Read captured duplicates",
        "next to dedup.outputs: a captured output crosses in any case",
        when=lambda link: link.outputs.captured,
        single="one producer captures",
    ),
    Pass(
        "propagate.partial_constants", propagate_partial_constants,
        "Complete partial constants",
        "before propagate.values, which moves whole constants only", adds_code=True,
        single="it changes both sides",
    ),
    Pass(
        "propagate.blended", propagate_blended,
        "Skip blends of equal values",
        "before propagate.values, which may then move the value",
        when=lambda link: link.producer.name == "tese" and not link.exact, adds_code=True,
        single="it changes both sides",
    ),
    Pass(
        "propagate.values", propagate_values,
        "Propagate constants, uniforms",
        "before motion, which would pay for these components", alone=(PRODUCER,),
        many=(CONSUMER,),
    ),
    Pass(
        "propagate.builtins", propagate_builtins,
        "Propagate known built-ins",
        "next to propagate.values", when=_has_builtins, beside=True,
        single="the slots of built-ins belong to one border",
    ),
    Pass(
        "halves.words", halves_words, "Drop words of 64-bit values",
        "after dedup and propagate, which leave words to drop", when=lambda link: link.wide,
        adds_code=True,
        single="it changes both sides",
    ),
    Pass(
        "forward", forward, "Recompute in the next stage",
        "before backward: it saves whole components", moving=True, adds_code=True,
        single="other consumers need the outputs",
    ),
    Pass(
        "backward", backward, "Move work to the stage before",
        "after forward: it takes the cheapest cut through the rest", moving=True, adds_code=True,
        single="it saves next to nothing in sets (docs/explanation/sets.md)",
    ),
    Pass(
        "weighted", weighted, "Move work across blends",
        "after backward, whose graph it extends",
        when=lambda link: link.consumer.name == "tese", moving=True, adds_code=True,
        single="it changes both sides",
    ),
    Pass(
        "share.per_patch", share_per_patch, "Store values once per patch",
        "last: it asks compact how many Locations it would save",
        when=_in_place, needs=("compact",), moving=True, adds_code=True,
        single="it changes both sides",
    ),
)  # fmt: skip

# At each border once all of them are settled, when it is known how many components are left.
REPACKING: Final = (
    Pass(
        "halves.locations", halves_locations, "Split words to save Locations",
        "first: words fit where 64-bit numbers do not",
        when=lambda link: link.wide, needs=("compact",),
        single="it changes both sides",
    ),
    Pass(
        "narrow", narrow, "Pack flags and small integers",
        "after halves, which makes words that may be packed",
        when=lambda link: narrow_values.possible(link), needs=("compact",),
        single="it changes both sides",
    ),
)  # fmt: skip

# At each border once, when everything has its place.
LAST: Final = (
    Pass(
        "half", half, "Send floats as 16 bits",
        "last, and only with --half: rounded values must not move",
        when=lambda link: link.consumer.name == "frag", needs=("compact",),
        single="other consumers may show more of a change",
    ),
)  # fmt: skip


# The switch of what comes first (``chain/builtin_slots``).
OPENING: Final = {"builtins": "Link built-ins"}

# Switches of what comes last, when every border gets its new places (``sweep.place``).
PLACING: Final = {
    "compact": "Pack into the fewest Locations",
    "flatten": "Pack flat beside interpolated",
}

# Switches of several rows; what only sweep and raising run belongs to them too.
_SWITCHES: Final = {
    "arrays": "Split arrays of varyings",
    "dead": "Remove unused interface parts",
    "dedup": "Merge equal outputs",
    "halves": "Send 64-bit values as words",
    "payload": "Link task payloads",
    "propagate": "Propagate known values",
    "share": "Store shared values once",
    "state": "Use the state of the pipeline",
    "unroll": "Unroll loops over varyings",
}

# Rows of groups that run after the last look at a border (``chain/raising``).
RAISING: Final = {"dead.builtin_blocks": "Remove unused block members"}

# What must come before what at a border, and why; held by a test.
ORDER: Final = (
    ("payload.members", "dead.varyings", "unread members would keep their values alive"),
    ("dead.varyings", "dedup.outputs", "values could be read from dead slots"),
    ("unroll.loops", "arrays.dynamic", "arrays that loops index would be copied"),
    ("arrays.dynamic", "dedup.outputs", "elements could not be compared with other slots"),
    ("dedup.outputs", "propagate.values", "duplicates would be moved twice"),
    ("propagate.values", "forward", "motion would pay for components that go anyway"),
    ("propagate.values", "backward", "motion would pay for components that go anyway"),
    ("backward", "weighted", "weighted extends the finished graph of backward"),
    ("weighted", "share.per_patch", "it would count Locations that weighted saves"),
)  # fmt: skip


def _groups() -> dict[str, str]:
    rows = {row.name: row.what for row in (*TABLE, *REPACKING, *LAST) if "." not in row.name}
    stage_rows = {row.name: row.what for row in STAGE_PASSES if row.what}
    return dict(sorted((rows | stage_rows | _SWITCHES | OPENING | PLACING).items()))


def _passes() -> dict[str, str]:
    rows = RAISING | {row.name: row.what for row in (*TABLE, *REPACKING, *LAST) if not row.fixed_on}
    rows |= {row.name: row.what for row in STATE}
    return dict(sorted((GROUPS | rows).items()))


# What may be switched off: a group, or one row of it; name -> its line in ``spvlink passes``.
GROUPS: Final[dict[str, str]] = _groups()
PASSES: Final[dict[str, str]] = _passes()
