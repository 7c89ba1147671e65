"""Use the pipeline's state in each stage, before its interfaces are lowered."""

from __future__ import annotations

from spvlink.chain.state import Chain, in_file
from spvlink.chain.state_rows import ALONE, STATE, StateContext
from spvlink.link.border.stage import Stage


def use_state(chain: Chain) -> None:
    """Run the rows of STATE. A stage that stays as it is gets none of it: its module would have to
    change. Where stubs stand for other stages, only rows that look at one stage alone run."""
    state = chain.known
    if not state or chain.stateless:
        return
    for stage in chain.touched():
        if stage not in chain.fixed and stage not in chain.left and stage not in chain.stubs:
            _use(chain, stage, StateContext(chain, stage, state))


def _use(chain: Chain, stage: Stage, site: StateContext) -> None:
    runner = chain.runner
    for row in STATE:
        if chain.literal and row.name not in ALONE:
            continue
        if stage.name in row.stages and row.when(site.state) and runner.enabled(row.name):
            stage.linked |= in_file(stage, runner.run, row.name, stage, row.run, site)
    assert stage.module.entry is not None
    left = stage.module.entry.inst.args
    chain.listed[stage] = [v for v in chain.listed[stage] if v in left]
