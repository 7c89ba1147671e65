"""What is done at a border: every pass is one row, in this order, each with its reason. A row is
data: the sweep reads it, ``spvlink passes`` prints it, a test holds ORDER, the docs show it.

Code that moves waits until everything dead is gone (``moving``). What brings code or constants into
a stage has that stage cleaned whole afterwards, what only takes away has it swept (``adds_code``).

Passes that few pipelines need are imported by the functions that run them: importing a dozen of
them would take a tenth of the time of a process that links one pair (docs/speed.md).
"""

from __future__ import annotations

from spvlink.chain.runner import STAGE_PASSES
from spvlink.chain.state import Chain
from spvlink.ir.known import fact
from spvlink.layout import granted
from spvlink.link.border.link import CONSUMER, PRODUCER, Link
from spvlink.link.border.stage import IN_PLACE, Stage
from spvlink.link.builtins import closing
from spvlink.link.dead import dead_builtins, dead_varyings
from spvlink.link.motion import backward, forward
from spvlink.link.pack import narrow
from spvlink.link.payload import payload
from spvlink.link.resources.transfer import Grant, Transfer
from spvlink.link.rounding import exact
from spvlink.link.values import dedup_outputs, propagate_partial_constants, propagate_values
from spvlink.options import Options
from spvlink.pipeline import STAGE_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final


class PassContext:
    """A border while its passes run: all that one of them may ask for."""

    __slots__ = ("chain", "link", "options", "real")

    def __init__(self, chain: Chain, link: Link) -> None:
        self.chain = chain
        self.link = link
        self.options: Options = chain.options
        self.real = True  # what a pass changed in the consumer goes out

    def enabled(self, name: str) -> bool:
        return self.chain.runner.enabled(name)

    @property
    def to_consumer(self) -> Transfer:
        """The way of the producer's expressions into the consumer."""
        return self._transfer(self.link.producer, self.link.consumer)

    @property
    def to_producer(self) -> Transfer:
        """The way of the consumer's expressions into the producer."""
        return self._transfer(self.link.consumer, self.link.producer)

    @property
    def expect(self) -> tuple[int, int]:
        """How often each side runs. Only fragments outnumber what is computed before them."""
        return (1, 1) if self.link.exact else self.options.expect

    @property
    def convergent(self) -> frozenset[int]:
        """Slots that may be read with any qualifier, since all vertices of a primitive agree."""
        if self.options.exact or not self.enabled("flatten"):
            return frozenset()
        return exact.convergent_slots(self.link)

    def _transfer(self, source: Stage, target: Stage) -> Transfer:
        """What is known of it holds until one of the modules changes."""
        known = fact(self.link, _transfers, self.link.version)
        found = known.get(target)
        if found is not None:
            return found
        grant = Grant(target.visible)
        if self.options.layout is not None:
            shown = granted(self.options.layout, STAGE_BITS[target.name])
            grant = Grant(target.visible, *shown)
        found = known[target] = Transfer(source.module, target.module, grant)
        return found


def _transfers(link: Link) -> dict[Stage, Transfer]:
    return {}  # by target, filled as they are asked for


class Pass:
    """One row. ``what`` is its line in ``spvlink passes`` (empty: it cannot be switched off, or
    another row of the name has the line); ``when`` says where there is something to look at;
    ``needs`` are passes without which it gains nothing; ``why`` it stands where it does;
    ``beside``: what it changes of the producer was made beside what that does; ``alone``: the sides
    that may be fixed, since it changes nothing of them that would be written."""

    __slots__ = (
        "adds_code", "alone", "beside", "moving", "name", "needs", "run", "what", "when", "why",
    )  # fmt: skip

    def __init__(
        self, name: str, run: Callable[[PassContext], object], why: str, what: str = "",
        when: Callable[[Link], object] | None = None, needs: tuple[str, ...] = (),
        moving: bool = False, adds_code: bool = False, beside: bool = False,
        alone: tuple[str, ...] = (),
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

    def fits(self, site: PassContext, moving: bool) -> bool:
        """Whether there is anything to look at."""
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


def _has_built_ins(link: Link) -> bool:
    return link.built is not None


# -- run: what takes more than one word, or is seldom needed ---------------------------------------


def _read_back(at: PassContext) -> None:
    from spvlink.passes import promote_own_outputs

    promote_own_outputs.forward(at.link.producer.module)


def _payload_members(at: PassContext) -> None:
    from spvlink.link.dead import payload_members

    payload_members.payload_members(at.link)


def _split_late(at: PassContext) -> None:
    from spvlink.link.shape import promote_late_indices

    promote_late_indices.promote_late_indices(at.link)


def _arrays(at: PassContext) -> None:
    """What one side alone indexes dynamically, if what is dead in it may go."""
    from spvlink.link.shape import arrays_dynamic

    link, options = at.link, at.options
    if at.enabled("dead") and link.outputs.pinned and link.inputs.pinned:
        moves = at.to_consumer.moves if at.enabled("propagate") else None
        arrays_dynamic.arrays_dynamic(link, moves, options.exact, options.cost_limit)


def _unroll(at: PassContext) -> None:
    """What both sides, or one, index by the counters of loops."""
    from spvlink.link.shape import unroll_loops

    link, options = at.link, at.options
    if at.enabled("dead") and at.enabled("simplify") and link.outputs.pinned:
        packs = at.enabled("compact") and not _has_payload(link)
        unroll_loops.unroll_loops(
            link, packs, at.enabled("propagate"), options.exact, options.cost_limit
        )


def _dedup(at: PassContext) -> None:
    """Among varyings, and among built-ins where these cross, too."""
    link, exact = at.link, at.options.exact
    built = closing.of(link)
    if built is None:
        dedup_outputs.dedup_outputs(link, exact)
    else:
        from spvlink.link.builtins import known

        known.merge(link, built, exact)


def _captured_twins(at: PassContext) -> None:
    from spvlink.link.values import dedup_captured

    dedup_captured.dedup_captured(at.link)


def _blended(at: PassContext) -> None:
    from spvlink.link.motion import propagate_blended

    propagate_blended.propagate_blended(at.link, at.to_consumer, at.options.exact)


def _propagate_built_ins(at: PassContext) -> None:
    from spvlink.link.builtins import known

    built = closing.of(at.link)
    assert built is not None
    at.real = known.move(built, at.to_consumer, at.options.exact, at.options.cost_limit)


def _dead_built_ins(at: PassContext) -> None:
    from spvlink.link.builtins import known

    assert at.link.built is not None
    known.dead(at.link.built)


def _halves(at: PassContext) -> None:
    from spvlink.link.pack import split64

    split64.halves_words(at.link, at.enabled)


def _halves_to_save(at: PassContext) -> None:
    from spvlink.link.pack import split64

    split64.halves_locations(at.link, at.convergent)


def _forward(at: PassContext) -> None:
    options = at.options
    forward.forward(at.link, at.to_consumer, options.exact, at.expect, options.cost_limit)


def _weighted(at: PassContext) -> None:
    """What the control shader can make for sums over vertices of the evaluation shader."""
    from spvlink.link.motion import weighted

    held = frozenset[int]()
    after = at.chain.after(at.link.consumer)
    if after is not None and after.consumer.name == "geom":
        if after.link is None or after.link.outputs.pinned:
            return  # which may make positions of whatever it reads
        held = weighted.held(after.link)
    weighted.weighted(at.link, at.to_producer, at.options.exact, held)


def _share(at: PassContext) -> None:
    from spvlink.link.pack import share_per_patch

    before = at.chain.before(at.link.producer)
    share_per_patch.share_per_patch(
        at.link, before.link if before is not None else None, at.options.exact
    )


# -- the table -------------------------------------------------------------------------------------

# At one border, again and again until none of them changes anything.
TABLE: Final = (
    Pass(
        "promote", _read_back, "what is read back twice is read once", when=_in_place,
        adds_code=True, alone=(CONSUMER,),
    ),
    Pass(
        "payload", lambda at: payload.read_back_constants(at.link),
        "what the task stage reads back of its payload is known",
        "what a task shader hands to its mesh shaders is linked like other interfaces",
        when=_has_payload, adds_code=True,
    ),
    Pass(
        "payload", _payload_members, "members of structs in arrays that nobody reads",
        when=_has_payload, adds_code=True,
    ),
    Pass(
        "dead", lambda at: dead_varyings.dead_varyings(at.link),
        "before all that looks at values: nothing else should look at what goes",
        "outputs nobody reads and inputs nobody writes are removed on both sides",
        alone=(CONSUMER, PRODUCER),
    ),
    Pass(
        "dead", _dead_built_ins, "what nobody writes of a built-in has a value all the same",
        when=_has_built_ins, beside=True,
    ),
    Pass(
        "dead", lambda at: dead_builtins.dead_builtins(at.link), "built-ins that the next stage does not read",
        when=lambda link: dead_builtins.concerns(link), alone=(CONSUMER,),
    ),
    Pass(
        "promote", _split_late, "an index may be constant by now", when=_has_whole,
        adds_code=True,
    ),
    Pass(
        "unroll", _unroll, "before arrays: what is no dynamic index any more needs no copies",
        "loops over arrays of varyings are unrolled where that takes the arrays apart",
        when=_has_whole, adds_code=True,
    ),
    Pass(
        "arrays", _arrays, "before dedup: elements become slots like others",
        "arrays that one stage alone indexes dynamically, or both in part, are taken apart",
        when=_has_whole, adds_code=True,
    ),
    Pass(
        "dedup", _dedup,
        "before propagate: one copy of a value is cheaper to move than two",
        "an output that says what another says is read from that one", alone=(PRODUCER,),
    ),
    Pass(
        "dedup", _captured_twins, "what is captured crosses anyway",
        when=lambda link: link.outputs.captured,
    ),
    Pass(
        "propagate", lambda at: propagate_partial_constants.propagate_partial_constants(at.link, at.options.exact),
        "what is one constant wherever it is defined is that constant", adds_code=True,
    ),
    Pass(
        "propagate", _blended, "what is blended of one value is that value",
        when=lambda link: link.producer.name == "tese" and not link.exact, adds_code=True,
    ),
    Pass(
        "propagate",
        lambda at: propagate_values.propagate_values(at.link, at.to_consumer, at.options.exact, at.options.cost_limit),
        "before motion, which pays for components that this one frees",
        "constants and uniform expressions are computed where they are read", alone=(PRODUCER,),
    ),
    Pass(
        "propagate", _propagate_built_ins, "as of varyings", when=_has_built_ins, beside=True,
    ),
    Pass(
        "halves", _halves, "words die and merge where numbers do not",
        "64-bit values cross as two words where one need not, or where that saves a Location",
        when=lambda link: link.wide, adds_code=True,
    ),
    Pass(
        "forward", _forward, "before backward: it saves components outright",
        "outputs that are cheap functions of fewer values are replaced by these",
        moving=True, adds_code=True,
    ),
    Pass(
        "backward",
        lambda at: backward.backward(at.link, at.to_producer, at.options.exact, at.expect),
        "the cheapest cut through what the consumer makes",
        "what is made of inputs is made before the border where that is cheaper",
        moving=True, adds_code=True,
    ),
    Pass(
        "weighted", _weighted, "after backward, whose graph it extends",
        "code also moves through interpolation that an evaluation shader does itself",
        when=lambda link: link.consumer.name == "tese", moving=True, adds_code=True,
    ),
    Pass(
        "share", _share, "last: it asks compact what would be saved",
        "what is equal for a whole patch or mesh workgroup is stored once, not per vertex",
        when=_in_place, needs=("compact",), moving=True, adds_code=True,
    ),
)  # fmt: skip

# At each border once all of them are settled, when it is known how many components are left.
REPACKING: Final = (
    Pass(
        "halves", _halves_to_save, "first: words may move where 64-bit numbers could not",
        when=lambda link: link.wide, needs=("compact",),
    ),
    Pass(
        "narrow", lambda at: narrow.narrow(at.link, at.convergent, at.options.cost_limit),
        "after halves, whose words are components like others",
        "flat values of few bits share a component if that saves a Location",
        when=lambda link: narrow.possible(link), needs=("compact",),
    ),
)  # fmt: skip


# The switch of what comes first (``chain/builtins``).
OPENING: Final = {
    "built-ins": "what is known of varyings is known of built-ins that the next stage reads",
}

# Switches of what comes last, when every border gets its new places (``sweep.place``).
PLACING: Final = {
    "compact": "what is left of an interface goes into the fewest Locations",
    "flatten": "what is equal for a whole primitive is packed with any interpolation",
}

# What must come before what at a border, and why; held by a test.
ORDER: Final = (
    ("payload", "dead", "members that nobody reads would keep what they are made of alive"),
    ("dead", "dedup", "dead slots would be compared, and could be what others are read from"),
    ("unroll", "arrays", "copies would be made of what loops index"),
    ("arrays", "dedup", "elements of an array are compared with other slots"),
    ("dedup", "propagate", "twins would be moved twice"),
    ("propagate", "forward", "motion would pay for components that are gone anyway"),
    ("propagate", "backward", "motion would pay for components that are gone anyway"),
    ("backward", "weighted", "it runs when backward finds nothing more"),
    ("weighted", "share", "it counts the Locations of what still crosses"),
)  # fmt: skip


def _lines() -> dict[str, str]:
    rows = (*TABLE, *REPACKING)
    lines = {row.name: row.what for row in rows if row.what} | PLACING
    stage_lines = {row.name: row.what for row in STAGE_PASSES if row.what}
    return dict(sorted((lines | stage_lines | OPENING).items()))


# What may be switched off: name -> its line in ``spvlink passes``.
PASSES: Final[dict[str, str]] = _lines()
