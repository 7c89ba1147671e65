"""Sweep the borders once more with small branches as selects (``passes/cleaning/if_conversion``).

No other pass sees a value through a branch. But a driver gains nothing from our form of the code.
So the conversion is a trial: a stage goes back to its old code unless something crossed one of its
borders. If something did, selects that nobody used become branches again when the stage is written
(``passes/cleaning/reverse_if_conversion``).

The trial comes last, so everything that crosses without it crosses as before. The reader of such a
value computes both arms, where its stage computed one. So the value may cost only half as much as
others (``COST_SHARE``). With the whole limit one pipeline of shaders/ (layered_surface) takes 6 %
more instructions on RADV than its input; with half of it none does.
"""

from __future__ import annotations

from spvlink.chain.groups import hold_outputs
from spvlink.chain.state import Chain, in_file
from spvlink.chain.sweep import clean, sweep_due
from spvlink.facts.effects import Effects, root
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, Inst
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.resources.blocks import Blocks, Cannot
from spvlink.link.resources.transfer import surely_there
from spvlink.passes.cleaning.if_conversion import Limits, finds_any
from spvlink.passes.cleaning.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

COST_SHARE: Final = 50  # percent of --cost-limit
_UNIFORM: Final = ((enums.StorageClass_PushConstant,), (enums.StorageClass_Uniform,))


class _Before:
    """A stage before its branches are converted."""

    __slots__ = ("live_lanes", "snapshot")

    def __init__(self, stage: Stage) -> None:
        self.snapshot = Snapshot(stage.module)
        self.live_lanes = dict(stage.live_lanes)

    def restore(self, stage: Stage) -> None:
        """The stage as it was."""
        self.snapshot.restore(stage.module)
        stage.live_lanes, stage.selects = self.live_lanes, {}


class _Limits(Limits):
    """What is known of one stage."""

    def __init__(self, chain: Chain, stage: Stage) -> None:
        Limits.__init__(self, stage.module)
        self.blocks: Blocks | None = None
        before = chain.before(stage)
        # of vertex and fragment shaders: the inputs that come over to the bit; else None: all do
        self.keys: set[int] | None = set() if stage.name == "vert" else None
        self.reads = stage.name == "frag"
        if self.reads:
            link = before.link if before is not None else None
            slots = link.inputs.slots if link is not None else {}
            self.keys = {k for k, slot in slots.items() if link is None or link.carries_bits(slot)}
        self.known: dict[Inst, bool] = {}  # as of ``version``
        self.version = -1

    def may_load(self, load: Inst) -> bool:
        """Push constants are there for each draw. A uniform block must be bound, and reach that
        far, only if something reads it: here, whichever way an invocation takes."""
        if self.blocks is None:
            self.blocks = Blocks(self.module)
        try:
            access = self.blocks.access(load)
        except Cannot:
            return False
        if access.key[0] == enums.StorageClass_PushConstant:
            return True
        return surely_there(access, self.blocks)

    def may_cross(self, condition: Inst) -> bool:
        """Of a fragment shader only what is made of uniforms and flat inputs can be made before it:
        a comparison of what is interpolated stays, and a lookup. Of a vertex shader only uniforms
        can be read behind it."""
        if self.keys is None:
            return True
        if self.version != self.module.version:
            self.known, self.version = {}, self.module.version
        effects, known = Effects.of(self.module), self.known
        todo = [condition]
        while todo:
            inst = todo[-1]
            if inst not in known:
                if inst.op == LOAD_INPUT:
                    known[inst] = inst.imm[0] in self.keys
                elif inst.op == ops.OpLoad:
                    known[inst] = self._is_uniform(inst)
                elif types.IS_CONSTANT[inst.op] or inst.op == ops.OpExtInstImport:
                    known[inst] = True
                elif not effects.flags(inst) & info.SPECULATABLE:
                    known[inst] = False
                else:
                    left = [a for a in inst.args if a not in known]
                    if left:
                        todo += left
                        continue
                    known[inst] = all(known[a] for a in inst.args)
            todo.pop()
        return known[condition]

    def is_useful(self, values: list[Inst]) -> bool:
        """All that can leave a fragment shader is what it makes of its inputs."""
        if not self.reads:
            return True
        effects = Effects.of(self.module)
        todo, seen = values[:], set(values)
        for inst in todo:  # grows
            if inst.op == LOAD_INPUT:
                return True
            if inst in values or effects.flags(inst) & info.SPECULATABLE:
                new = [a for a in inst.args if a not in seen]
                seen.update(new)
                todo += new
        return False

    def _is_uniform(self, load: Inst) -> bool:
        return root(load.args[0]).imm[:1] in _UNIFORM


class _Report:
    """What the report would say of a border."""

    __slots__ = ("cautions", "fate", "link", "notes")

    def __init__(self, link: Link) -> None:
        self.link = link
        self.fate = dict(link.remarks.fate)
        self.notes = dict(link.remarks.notes)
        self.cautions = dict(link.remarks.cautions)

    def restore(self) -> None:
        said = self.link.remarks
        said.fate, said.notes, said.cautions = self.fate, self.notes, self.cautions


def sweep_converted(chain: Chain) -> None:
    """Convert branches, sweep, and take back what brought nothing."""
    if not chain.runner.enabled("if_conversion"):
        return
    changed = _convert(chain)
    if not changed:
        return
    links = [(b, link) for b in chain.borders if (link := b.link) is not None]
    links += [(b, built) for b, link in links if (built := link.built) is not None]
    reports = [(border, _Report(link)) for border, link in links]
    versions = {stage: stage.module.version for stage in chain.stages}
    chain.cost_share = COST_SHARE
    sweep_due(chain, True)
    chain.cost_share = 100
    crossed = {stage for stage in chain.stages if stage.module.version != versions[stage]}
    for stage, before in changed.items():
        around = chain.around(stage)
        met = {stage, *[b.producer for b in around], *[b.consumer for b in around]}
        if crossed.isdisjoint(met) and before.snapshot.fits(stage.module):
            chain.runner.run("if_conversion", stage, before.restore, stage)
            for border, said in reports:
                if stage in (border.producer, border.consumer):
                    said.link.gather()  # the trial may have found fewer loads
    for border, said in reports:
        if border.producer not in crossed and border.consumer not in crossed:
            said.restore()
    for group in chain.groups:
        group.seen = group.version


def _convert(chain: Chain) -> dict[Stage, _Before]:
    """The stages that have other code now, each with what it was."""
    changed: dict[Stage, _Before] = {}
    settled = False
    for stage in chain.touched():
        entry = stage.module.entry
        assert entry is not None
        if stage.literal or stage in chain.fixed or len(entry.function.blocks) == 1:
            continue
        if not settled:
            settled = True
            for group in chain.groups:
                hold_outputs(chain, group)
        limits = _Limits(chain, stage)
        if not finds_any(stage.module, entry.function, limits):
            continue
        before, version = _Before(stage), stage.module.version
        chain.runner.on_entry(stage, "if_conversion", stage.selects, limits)
        if stage.module.version != version:
            changed[stage] = before
            in_file(stage, clean, chain, stage)
    return changed
