"""All passes over a chain of stages, first to last: what happens between decoding and checking.

    prepare   each stage: inline; find how it touches its interfaces; neighbours agree on what stays
              whole; rewrite; clean
    link      the pairs first to last, then back, until no pair has anything to do: what dies
              between the last two stages may have been all that kept something alive between the
              first two
    finish    each border gets its new placement, each stage variables again; clean, trim; built-in
              blocks of neighbours shrink together; encode

A pair is looked at again only if one of its modules changed since, and the sweeps are bounded. A
stage in the middle is consumer of one pair and producer of the next; its inputs and outputs are
lowered together. A pair that is refused, or that the user wants as it is, keeps its interface; the
stages around it and the other pairs are optimized all the same.
"""

from __future__ import annotations

import time

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.chain import remarks
from spvlink.chain.border import Border, hold_outputs, join
from spvlink.chain.runner import PASSES, Runner
from spvlink.entry import select_entry
from spvlink.errors import Broken, Refused, SpvlinkError, Usage
from spvlink.grammar import enums
from spvlink.ir.core import Inst, Module
from spvlink.layout import granted
from spvlink.link.border.link import Link
from spvlink.link.border.stage import IN_PLACE, Stage
from spvlink.link.check import interface
from spvlink.link.dead import builtin_blocks, builtins, payload_members, varyings
from spvlink.link.motion import backward, forward, weighted
from spvlink.link.pack import compact, narrow, per_patch, placement, split64
from spvlink.link.payload import payload
from spvlink.link.resources.transfer import Grant, Transfer
from spvlink.link.resources.visible import beyond, find_visible
from spvlink.link.rounding import exact
from spvlink.link.shape import agreement, dynamic_arrays, split_late
from spvlink.link.values import captured_twins, dedup, propagate
from spvlink.options import Options
from spvlink.passes import flow, freeze, raise_io, read_back, sample_rate, trim
from spvlink.passes.cells import WHOLE
from spvlink.passes.lower_io import Lowering
from spvlink.pipeline import STAGE_BITS, Linked

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final, TypeVar

    T = TypeVar("T")

# of the passes at one border; each round needs a change in the one before
MAX_ROUNDS: Final = 8
# over the pairs, forwards or backwards; each needs a change in the one before
MAX_SWEEPS: Final = 16
_MOVING: Final = ("backward", "forward", "share", "weighted")  # wait until everything dead is gone
_ACROSS: Final = ("backward", "forward", "propagate")  # ask what the other stage can read
# passes that bring code or constants into a stage, where the others only take stores away
NEW_CODE: Final = frozenset(("arrays", "halves", "payload", "promote", *_MOVING))

# Stages that may be the last one.
_LAST: Final = frozenset(("vert", "tese", "geom", "mesh"))

OUTPUT: Final = enums.StorageClass_Output
INPUT: Final = enums.StorageClass_Input


def about(stage: Stage, act: Callable[..., T], *args: object) -> T:
    """Act; errors on the way out say which file they are about."""
    try:
        return act(*args)
    except SpvlinkError as error:
        error.file = error.file or stage.source.file
        raise


def original(stage: Stage) -> Module:
    """A stage's module as it came."""
    module = decode(stage.source.data)
    module.entry = select_entry(module, stage.source.entry)
    return module


class Chain:
    """The stages of one pipeline on their way through all passes."""

    def __init__(
        self, stages: list[Stage], options: Options, runner: Runner, linked: Linked
    ) -> None:
        self.stages = stages
        self.options = options
        self.runner = runner
        self.linked = linked
        self.borders = [Border(a, b) for a, b in zip(stages, stages[1:])]
        self.befores = {b.consumer: b for b in self.borders}
        self.afters = {b.producer: b for b in self.borders}
        self.behind: Stage | None = None  # of a pipeline that ends without a fragment shader
        if options.complete and stages[-1].name in _LAST:
            self.behind = Stage.fixed_functions()
            self.borders.append(Border(stages[-1], self.behind))
            self.befores[self.behind] = self.afters[stages[-1]] = self.borders[-1]
        self.untouched: set[Stage] = set()  # go out as they came
        self.transfers: dict[tuple[Stage, Stage], tuple[tuple[int, int], Transfer]] = {}
        self.listed: dict[Stage, list[Inst]] = {}  # the variables of the original entry point
        self.staying: dict[Stage, frozenset[Inst]] = {}  # those that stay declared, used or not

    def run(self) -> list[bytes]:
        """All passes; the new binaries in order. Raises Refused if no pair can be linked."""
        if not self.borders:
            raise Refused("there is nothing to link: the pipeline has one stage")
        self.freeze()
        self.look_around()
        for stage in self.stages:
            self.prepare(stage)
        self.keep()
        self.lower()
        for stage in self.touched():
            about(stage, self.clean, stage)
        for border in self.borders:
            if not border.kept:
                border.link = Link(border.producer, border.consumer)
                about(border.consumer, varyings.check_types, border.link)
        join(self.borders)
        self.sweep()
        self.settle()
        for stage in self.touched():
            about(stage, self.finish, stage)
        self.trim_blocks()
        return self.encode()

    def clean(self, stage: Stage, promoted: bool = True) -> None:
        """A stage's code in its simplest form."""
        self.runner.clean(stage)
        if promoted and stage.name == "tesc" and stage.outputs is not None:
            self.read_back(stage)

    def touched(self) -> list[Stage]:
        if not self.untouched:
            return self.stages
        return [s for s in self.stages if s not in self.untouched]

    def touched_and_behind(self) -> list[Stage]:
        return self.touched() + ([self.behind] if self.behind is not None else [])

    def before(self, stage: Stage) -> Border | None:
        return self.befores.get(stage)

    def after(self, stage: Stage) -> Border | None:
        return self.afters.get(stage)

    # -- prepare -----------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Specialization constants that the user gave."""
        for name in {stage for stage, _ in self.options.spec}:
            found = [s for s in self.stages if s.name == name]
            if not found:
                raise Usage(f"a specialization constant for the {name} stage, which is not here")
            values = {id: v for (stage, id), v in self.options.spec.items() if stage == name}
            module = found[0].module
            about(found[0], self.runner.run, "freeze", found[0], freeze.run, module, values)

    def look_around(self) -> None:
        """The resources that stages share, where a pass will ask for them."""
        asking = any([s.name == "tese" for s in self.stages]) and self.runner.enabled("weighted")
        if asking or any([self.runner.enabled(name) for name in _ACROSS]):
            find_visible(self.stages)

    def prepare(self, stage: Stage) -> None:
        """Everything in one function; a stage that resists goes out as it came."""
        entry = stage.module.entry
        assert entry is not None
        self.listed[stage] = list(entry.inst.args[1:])
        try:
            about(stage, self.open_up, stage)
        except Refused as error:
            stage.module = original(stage)
            self.untouched.add(stage)
            for border in (self.before(stage), self.after(stage)):
                if border is not None:
                    border.refuse(str(error))

    def open_up(self, stage: Stage) -> None:
        """All code in one function. Raises Refused for what is beyond us."""
        if why := beyond(stage.module):
            raise Refused(why)
        if stage.name == "frag":
            stage.per_sample = bool(sample_rate.sample_rate_reasons(stage.module, listed=True))
        self.runner.prepare(stage)

    def keep(self) -> None:
        """Which interfaces stay as they are for a reason that is known from the start."""
        for border in self.borders:
            if self.options.keep_interface & {border.producer.name, border.consumer.name}:
                border.kept, border.refused = border.kept or "by --keep-interface", False
            elif border.producer.name == "task" and not border.kept:
                self.open_payload(border)

    def open_payload(self, border: Border) -> None:
        """What a task shader hands over is an interface too, if it can be linked."""
        if not self.runner.enabled("payload"):
            border.kept = "the payload stays as it is without the pass payload"
            return
        try:
            border.payload = payload.Payload(border.producer.module, border.consumer.module)
        except payload.Whole as why:
            border.kept = str(why)
            return
        border.payload.open_payload()

    # -- lower -------------------------------------------------------------------------------------

    def lower(self) -> None:
        """All stages to slots."""
        begin = time.perf_counter()
        lows = self.analyse()
        for border in self.borders:
            if not border.kept:
                agreement.run(lows[border.producer], lows[border.consumer])
        self.runner.seconds["analyse"] = time.perf_counter() - begin
        for stage, low in lows.items():
            # cleaning comes next
            about(stage, self.runner.run, "promote", stage, low.finish, self.runner.plain)
            stage.inputs, stage.outputs = low.inputs, low.outputs

    def analyse(self) -> dict[Stage, Lowering]:
        """How each stage touches its interfaces. Raises Refused if no pair is left to link for a
        reason of ours."""
        while True:
            refused = [b for b in self.borders if b.refused]
            if refused and not any(not b.kept for b in self.borders):
                raise Refused(refused[0].kept)
            lows: dict[Stage, Lowering] = {}
            for stage in self.touched_and_behind():
                low = self.analysed(stage)
                if low is None:
                    break  # a border is kept now: the neighbour has to be looked at again
                lows[stage] = low
            else:
                return lows

    def analysed(self, stage: Stage) -> Lowering | None:
        """The sides of a stage that are linked; None if one of them had to be refused."""
        before, after = self.before(stage), self.after(stage)
        inputs = before is not None and not before.kept
        outputs = after is not None and not after.kept
        try:
            return about(stage, self.look, stage, inputs, outputs)
        except Refused as why:
            reasons = {True: str(why), False: str(why)}
            if inputs and outputs:
                for side in (True, False):
                    try:
                        about(stage, self.look, stage, side, not side)
                        reasons[side] = ""
                    except Refused as own:
                        reasons[side] = str(own)
            both = not reasons[True] and not reasons[False]
            for side, border in ((True, before), (False, after)):
                reasons[side] = str(why) if both else reasons[side]
                if border is not None and reasons[side]:
                    border.refuse(reasons[side])
            if not (inputs or outputs):
                raise
            return None

    def look(self, stage: Stage, inputs: bool, outputs: bool) -> Lowering:
        """How a stage touches its interface. Where an index looks dynamic, local variables are
        promoted and constants folded first: it may only have come through a variable."""
        low = Lowering(stage.module, inputs, outputs)
        low.analyse()
        for variable in low.sides:
            root = low.roots[variable]
            if root.kind != WHOLE and any(["dynamic" in leaf.why for leaf in root.leaves()]):
                break
        else:
            return low
        locals_only = Lowering(stage.module, False, False)
        locals_only.analyse()
        self.runner.run("promote", stage, locals_only.finish)
        self.runner.clean(stage)
        low = Lowering(stage.module, inputs, outputs)
        low.analyse()
        return low

    def read_back(self, stage: Stage) -> None:
        """Values that an invocation reads back from its own outputs."""
        if self.runner.run("promote", stage, read_back.run, stage.module):
            self.runner.promote_again(stage)
            self.runner.clean(stage)

    # -- link --------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """All pairs, first to last and back, until none is due. In a longer chain code moves only
        when all is gone that nobody needs at its other end."""
        for moving in (False, True) if len(self.borders) > 1 else (True,):
            for border in self.borders:
                border.seen = -1, -1
            self.sweep_due(moving)

    def sweep_due(self, moving: bool) -> None:
        order = self.borders
        for _ in range(MAX_SWEEPS):
            for border in order:
                if border.due():
                    assert border.link is not None
                    self.link(border.link, moving)
                    border.seen = border.producer.module.version, border.consumer.module.version
            if not any(map(Border.due, self.borders)):
                break
            order = order[::-1]

    def link(self, link: Link, moving: bool) -> None:
        """One pair to a fixpoint; ``moving``: with code motion, which waits until everything dead
        is gone."""
        producer, consumer = link.producer, link.consumer
        if consumer is self.behind:
            if self.runner.run("promote", producer, split_late.run, link):
                self.runner.clean(producer)
            if self.runner.enabled("dead"):
                self.runner.run("dead", producer, lambda: varyings.run(link))
                self.runner.sweep_out(producer)
            return
        hold_outputs(self.borders)
        passes = self.passes(link, moving)
        for _ in range(MAX_ROUNDS):
            versions = producer.module.version, consumer.module.version
            for name, act in passes:
                if self.runner.enabled(name) or name not in PASSES:
                    ran = self.runner.run(name, producer, act)
                    if self.runner.changed(name, consumer, versions[1]) or ran:
                        break  # clean up before the next look
            else:
                return
            brought_code = name in NEW_CODE
            if producer.module.version != versions[0]:
                if brought_code:  # what was taken apart just now is read back too
                    about(producer, self.clean, producer, name == "promote")
                else:
                    about(producer, self.runner.sweep_out, producer)
            if consumer.module.version != versions[1]:
                about(consumer, self.runner.clean, consumer)

    def passes(self, link: Link, moving: bool) -> list[tuple[str, Callable[[], object]]]:
        """What is done to a pair, without what finds nothing to look at there."""
        made: list[tuple[str, Callable[[], object]]] = []
        producer, consumer = link.producer, link.consumer
        if producer.name in IN_PLACE:
            made.append(("promote", lambda: read_back.forward(producer.module)))
        if producer.name == "task":
            made.append(("payload", lambda: payload.read_back_constants(link)))
            made.append(("payload", lambda: payload_members.run(link)))
        made.append(("dead", lambda: varyings.run(link)))
        if consumer.name in builtins.CONSUMERS:
            made.append(("dead", lambda: builtins.run(link)))
        if link.outputs.pinned or link.inputs.pinned:
            made.append(("promote", lambda: split_late.run(link)))
            made.append(("arrays", lambda: self.arrays(link)))
        made.append(("dedup", lambda: dedup.run(link, self.options.exact)))
        if link.outputs.captured:
            made.append(("dedup", lambda: captured_twins.read_captured(link)))
        made.append(("propagate", lambda: self.propagate(link)))
        if link.wide:
            made.append(("halves", lambda: split64.run(link, self.runner.enabled)))
        if moving:
            made.append(("forward", lambda: self.forward(link)))
            made.append(("backward", lambda: self.backward(link)))
            if consumer.name == "tese":
                made.append(("weighted", lambda: self.weighted(link)))
            if producer.name in IN_PLACE and self.runner.enabled("compact"):
                made.append(("share", lambda: self.share(link)))
        return made

    def arrays(self, link: Link) -> None:
        """What one side alone indexes dynamically, if what is dead in it may go."""
        if self.runner.enabled("dead") and link.outputs.pinned and link.inputs.pinned:
            moves = None
            if self.runner.enabled("propagate"):
                moves = self.transfer(link.producer, link.consumer).moves
            dynamic_arrays.run(link, moves, self.options.exact, self.options.cost_limit)

    def propagate(self, link: Link) -> None:
        """What the consumer can make itself."""
        transfer = self.transfer(link.producer, link.consumer)
        propagate.run(link, transfer, self.options.exact, self.options.cost_limit)

    def backward(self, link: Link) -> None:
        """What the producer can make for it."""
        transfer = self.transfer(link.consumer, link.producer)
        # only fragments outnumber what is computed before them
        expect = (1, 1) if link.exact else self.options.expect
        backward.run(link, transfer, self.options.exact, expect)

    def weighted(self, link: Link) -> None:
        """What the control shader can make for sums over vertices of the evaluation shader."""
        transfer = self.transfer(link.consumer, link.producer)
        after, beyond = self.after(link.consumer), frozenset[int]()
        if after is not None and after.consumer.name == "geom":
            if after.link is None or after.link.outputs.pinned:
                return  # which may make positions of whatever it reads
            beyond = weighted.held(after.link)
        weighted.run(link, transfer, self.options.exact, beyond)

    def share(self, link: Link) -> None:
        """What is equal for a whole patch or mesh workgroup."""
        before = self.before(link.producer)
        per_patch.run(link, before.link if before is not None else None, self.options.exact)

    def forward(self, link: Link) -> None:
        """What the consumer can make of fewer values."""
        transfer = self.transfer(link.producer, link.consumer)
        settings = self.options
        expect = (1, 1) if link.exact else settings.expect
        forward.run(link, transfer, settings.exact, expect, settings.cost_limit)

    def transfer(self, source: Stage, target: Stage) -> Transfer:
        """The way of an expression from one stage to another; what is known of it holds until one
        of them changes."""
        versions = source.module.version, target.module.version
        held = self.transfers.get((source, target))
        if held is not None and held[0] == versions:
            return held[1]
        grant = Grant(target.visible)
        if self.options.layout is not None:
            grant = Grant(target.visible, *granted(self.options.layout, STAGE_BITS[target.name]))
        made = Transfer(source.module, target.module, grant)
        self.transfers[source, target] = versions, made
        return made

    def narrow(self) -> None:
        """Other components for the same values, now that it is known how many are left."""
        if self.repack("halves", split64.settle):
            self.sweep()  # words may move where 64-bit numbers could not
        self.repack("narrow", narrow.run, self.options.cost_limit)

    def repack(self, name: str, act: Callable[..., bool], *settings: int) -> bool:
        """Whether a pass that saves Locations changed something."""
        if not self.runner.enabled(name) or not self.runner.enabled("compact"):
            return False
        done = False
        for border in self.borders:
            link = border.link
            if link is None or border.consumer is self.behind or link.producer.name == "task":
                continue  # nothing has Locations there
            if not (link.wide if name == "halves" else narrow.possible(link)):
                continue
            version = border.consumer.module.version
            if self.runner.run(name, border.producer, act, link, self.convergent(link), *settings):
                done = True
                self.runner.changed(name, border.consumer, version)
                for stage in (border.producer, border.consumer):
                    about(stage, self.runner.clean, stage)
        return done

    def settle(self) -> None:
        """Where everything that is left goes. A border is looked at once more if what shares a
        word by now, or is Flat by its new place, may let more cross."""
        self.place_all()
        for _ in range(MAX_ROUNDS):
            if not any(map(Border.due, self.borders)):
                return
            self.sweep_due(True)
            self.place_all()

    def place_all(self) -> None:
        self.narrow()
        begin = time.perf_counter()
        for border in self.borders:
            if border.link is not None:
                border.placement = self.place(border.link)
                if compact.requalify(border.link, border.placement):
                    border.seen = -1, -1
        spent = self.runner.seconds.get("compact", 0.0)
        self.runner.seconds["compact"] = spent + time.perf_counter() - begin

    def place(self, link: Link) -> placement.Placement:
        """Where everything that is left goes."""
        if link.producer.name == "task":
            return payload.place(link)
        if self.runner.enabled("compact"):
            return compact.run(link, self.convergent(link))
        return compact.at_old_places(link, [])

    def convergent(self, link: Link) -> frozenset[int]:
        """Slots that may be read with any qualifier, since all vertices of a primitive agree."""
        if self.options.exact or not self.runner.enabled("flatten"):
            return frozenset()
        return exact.convergent_slots(link)

    # -- finish ------------------------------------------------------------------------------------

    def finish(self, stage: Stage) -> None:
        """Variables again, on both sides; then whatever that left to clean."""
        dropped: list[Inst] = []
        linked: set[int] = set()
        for border in (self.before(stage), self.after(stage)):
            if border is not None and border.payload is not None and border.link is None:
                border.payload.restore(stage.module)
            elif border is not None and border.link is not None:
                assert border.placement is not None
                is_output = border.producer is stage
                if border.payload is not None:
                    act = border.payload.raise_side
                    self.runner.run("raise", stage, act, border.link, border.placement, is_output)
                    linked.add(payload.STORAGE)
                else:
                    self.raise_side(border.link, border.placement, stage, is_output)
                    linked.add(OUTPUT if is_output else INPUT)
                side = border.link.outputs if is_output else border.link.inputs
                dropped += side.variables
                if not is_output and border.link.locals and self.runner.enabled("arrays"):
                    self.runner.run("arrays", stage, dynamic_arrays.settle, border.link)
        self.runner.finish(stage)
        if stage.per_sample:
            sample_rate.keep_sample_rate(stage.module)
        kept: frozenset[Inst] = frozenset()
        before, after = self.before(stage), self.after(stage)
        if (before is not None and before.kept) or (after is not None and after.kept):
            kept = frozenset(v for v in self.listed[stage] if v.imm[0] not in linked)
        self.staying[stage] = kept
        self.runner.run("trim", stage, trim.run, stage.module, frozenset(dropped), kept)

    def trim_blocks(self) -> None:
        """Built-in blocks between stages, now that it is known what both use of them."""
        stages: dict[Stage, None] = {}
        for border in self.borders:
            link = border.link
            if link is None or border.consumer.name not in builtins.CONSUMERS:
                continue
            version = border.consumer.module.version
            if self.runner.enabled("dead"):
                if self.runner.run("dead", border.producer, builtin_blocks.run, link):
                    stages[border.producer] = None
                if self.runner.changed("dead", border.consumer, version):
                    stages[border.consumer] = None
        for stage in stages:
            kept = self.staying[stage]
            self.runner.run("trim", stage, trim.run, stage.module, frozenset(), kept)

    def raise_side(
        self, link: Link, placement: placement.Placement, stage: Stage, is_output: bool
    ) -> None:
        side, other = (link.outputs, link.inputs) if is_output else (link.inputs, link.outputs)
        # an input needs its output even if nothing is stored there (with dead varyings left alone)
        keys = {*link.used()} if is_output else {*link.loads}
        storage = OUTPUT if is_output else INPUT
        mine = [v for v in placement.varyings if not keys.isdisjoint(v.keys)]
        raised = raise_io.Raise(stage.module, mine, storage, side.slots)
        # ``tidy`` comes next
        self.runner.run("raise", stage, raised.run, self.runner.plain and not link.locals)
        for pinned in side.pinned:
            twin = next((p for p in other.pinned if p.keys == pinned.keys), None)
            qualifiers = twin.qualifiers if twin is not None and is_output else ()
            raise_io.move_whole(stage.module, pinned.variable, placement.moved[pinned], qualifiers)

    def check_border(self, border: Border) -> None:
        """Raise Broken if two stages no longer fit; Refused if they never did."""
        producer, consumer = border.producer, border.consumer
        fragment = consumer.name == "frag"
        try:
            interface.check(producer.module, consumer.module, fragment)
        except Broken:
            if consumer is not self.behind:
                try:
                    interface.check(original(producer), original(consumer), fragment)
                except Broken as why:
                    raise Refused(str(why)) from None
            raise

    def encode(self) -> list[bytes]:
        """The new binaries, checked against each other; and the report."""
        begin = time.perf_counter()
        for stage in self.touched():
            flow.check_order(stage.module)
        outputs = [s.source.data if s in self.untouched else encode(s.module) for s in self.stages]
        self.runner.seconds["encode"] = time.perf_counter() - begin
        begin = time.perf_counter()
        for border in self.borders:
            if border.payload is not None:
                payload.check(border.producer.module, border.consumer.module)
            elif border.link is not None:
                self.check_border(border)
        self.runner.seconds["check"] = time.perf_counter() - begin
        for border in self.borders:
            remarks.report(self.linked, border)
        return outputs
