"""List the passes that use the pipeline's state: one row for each fact. They run in this order,
before any interface is lowered."""

from __future__ import annotations

from spvlink.chain.state import Chain
from spvlink.grammar import enums
from spvlink.ir.core import EXECUTION_MODES, Inst
from spvlink.link.border.stage import Stage
from spvlink.passes.lowering.memory_access import uses
from spvlink.pipeline import REMOVED, Remark

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final

    from spvlink.state import PipelineState

_FILLED: Final = 0  # of PipelineState.polygons
_LINES: Final = 1
_FRONT: Final = 1  # of PipelineState.culled
_BACK: Final = 2
_LAST: Final = ("vert", "tese", "geom", "mesh")
_MADE: Final = {  # execution modes that say what geometry and mesh shaders make
    enums.ExecutionMode_OutputPoints: "points",
    enums.ExecutionMode_OutputLineStrip: "lines",
    enums.ExecutionMode_OutputTriangleStrip: "triangles",
    enums.ExecutionMode_OutputLinesEXT: "lines",
    enums.ExecutionMode_OutputTrianglesEXT: "triangles",
}


class StatePass:
    """One row of what is known of a pipeline's state. ``name``, ``what``, ``why`` as of ``Pass``;
    ``stages``: those that it looks at; ``when``: whether enough is known."""

    __slots__ = ("name", "run", "stages", "what", "when", "why")

    def __init__(
        self, name: str, run: Callable[[StateContext], object], what: str, why: str,
        stages: tuple[str, ...], when: Callable[[PipelineState], object],
    ) -> None:  # fmt: skip
        self.name = name
        self.run = run
        self.what = what
        self.why = why
        self.stages = stages
        self.when = when

    @property
    def group(self) -> str:
        """The switch that takes this row with its like."""
        return self.name.partition(".")[0]


class StateContext:
    """A stage while such a row runs. ``stage`` is to be called ``linked`` if it changed."""

    __slots__ = ("chain", "stage", "state")

    def __init__(self, chain: Chain, stage: Stage, state: PipelineState) -> None:
        self.chain = chain
        self.stage = stage
        self.state = state

    def tell(self, name: str, slot: str, action: str, why: str) -> None:
        """A remark about what faces no other stage."""
        remark = Remark(self.stage.name, name, slot, action, why)
        self.chain.state_remarks.append((self.stage, remark))

    def reads(self) -> list[Inst]:
        """The input variables that the stage uses as it is now."""
        module, storage = self.stage.module, enums.StorageClass_Input
        assert module.entry is not None
        inputs = [v for v in module.entry.inst.args[1:] if v.imm[0] == storage]
        return [variable for variable in inputs if uses(module, variable)]

    def lose(self, read: list[Inst], why: str) -> None:
        """Note why the stage may do without what it read before."""
        for variable in read:
            self.stage.lost.setdefault(variable, why)

    def rasterized(self) -> str:
        """What is rasterized behind this stage: "points", "lines", "triangles"; empty: unknown."""
        return rasterized(self.chain, self.stage, self.state)

    def is_last(self) -> bool:
        """Whether it is the last stage before rasterization, for sure."""
        return _is_last(self.chain, self.stage)


# -- the rows --------------------------------------------------------------------------------------


def state_attachments(at: StateContext) -> None:
    from spvlink.passes.lowering import state_attachments

    assert at.state.outputs is not None
    why = "no attachment takes it"
    read = at.reads()
    for output in state_attachments.state_attachments(at.stage.module, at.state.outputs):
        at.stage.masked |= any(output.masks)
        for place in output.dead_places():
            at.tell(output.name, place, REMOVED, why)
        at.lose(read, f"no attachment takes what the {at.stage.name} stage makes of it")


def state_rasterizer_discard(at: StateContext) -> None:
    from spvlink.passes.lowering import state_rasterizer_discard

    read = at.reads()
    state_rasterizer_discard.state_rasterizer_discard(at.stage.module)
    at.lose(read, "nothing is rasterized")


def state_facing(at: StateContext) -> None:
    from spvlink.passes.opening import state_facing

    if at.rasterized() == "triangles":
        read = at.reads()
        state_facing.state_facing(at.stage.module, at.state.culled == _BACK)
        at.lose(read, "only one side is drawn")


def state_samples(at: StateContext) -> None:
    from spvlink.passes.opening import state_samples

    read = at.reads()
    state_samples.state_samples(at.stage.module)
    at.stage.per_sample = False  # once a sample is once a fragment
    at.lose(read, "there is one sample")


def state_point_size(at: StateContext) -> None:
    from spvlink.link.dead import state_point_size

    if at.is_last() and at.rasterized() in ("lines", "triangles"):
        if state_point_size.state_point_size(at.stage.module):
            at.tell("gl_PointSize", "", REMOVED, "no points are drawn")


def state_viewport(at: StateContext) -> None:
    from spvlink.link.dead import state_viewport

    readers = [border.consumer.module for border in at.chain.afters.get(at.stage, [])]
    if at.is_last() and state_viewport.state_viewport(at.stage.module, readers):
        at.tell("gl_ViewportIndex", "", REMOVED, "there is one viewport")


def state_attributes(at: StateContext) -> None:
    from spvlink.passes.lowering import state_attributes

    state_attributes.state_attributes(at.stage.module, at.state.attributes)


def state_ranges(at: StateContext) -> None:
    from spvlink.passes.lowering import state_ranges

    state_ranges.state_ranges(at.stage.module, at.state.attributes)


def _is_last(chain: Chain, stage: Stage) -> bool:
    """Whether fixed functions alone stand between a stage and the fragment shader, and there is
    one, or the pipeline ends here. In a set others may follow where a pipeline has no more."""
    behind = [] if stage in chain.ends else chain.afters.get(stage, [])
    ends = chain.fixed_function_consumer
    return bool(behind) and all(b.consumer is ends or b.consumer.name == "frag" for b in behind)


def rasterized(chain: Chain, stage: Stage, state: PipelineState) -> str:
    """ "points", "lines" or "triangles" if that is all that is rasterized, else nothing: what the
    last stages make, else what the input assembly does (Vulkan, "Primitive Topologies"). ``stage``:
    a last one, or the fragment shader, which has one before it in each pipeline of a set."""
    lasts = [stage]
    if stage.name == "frag":
        known = stage not in chain.starts
        lasts = [border.producer for border in chain.befores.get(stage, [])] if known else []
    makers = {_made_by(chain, last, state) for last in lasts}
    return makers.pop() if len(makers) == 1 else ""


def _made_by(chain: Chain, stage: Stage, state: PipelineState) -> str:
    if stage.name == "vert":
        return state.topology
    modes = _modes(stage)
    if stage.name != "tese":
        made = {_MADE[mode] for mode in modes if mode in _MADE}
        return made.pop() if len(made) == 1 else ""
    for border in chain.befores.get(stage, []):
        modes |= _modes(border.producer)
    if enums.ExecutionMode_PointMode in modes:
        return "points"
    if enums.ExecutionMode_Isolines in modes:
        return "lines"
    filled = enums.ExecutionMode_Triangles, enums.ExecutionMode_Quads
    return "" if modes.isdisjoint(filled) else "triangles"


def _modes(stage: Stage) -> set[int]:
    entry = stage.module.entry
    assert entry is not None
    modes = stage.module.sections[EXECUTION_MODES]
    return {mode.imm[0] for mode in modes if mode.args[0] is entry.function}


# Once, before any interface is lowered: what the pipeline's state says of one stage.
STATE: Final = (
    StatePass(
        "state.rasterizer_discard", state_rasterizer_discard,
        "Empty unused fragment shaders",
        "first: no other row has work then", ("frag",),
        when=lambda state: state.discards is True,
    ),
    StatePass(
        "state.attachments", state_attachments, "Drop unattached colours",
        "early: code that only these outputs need is dead then", ("frag",),
        when=lambda state: state.outputs is not None,
    ),
    StatePass(
        "state.facing", state_facing, "Replace gl_FrontFacing",
        "any time", ("frag",),
        when=lambda state: state.culled in (_FRONT, _BACK) and state.polygons == _FILLED,
    ),
    StatePass(
        "state.samples", state_samples, "Read inputs at the only sample",
        "any time", ("frag",),
        when=lambda state: state.one_sample,
    ),
    StatePass(
        "state.point_size", state_point_size, "Drop sizes without points",
        "any time", _LAST,
        when=lambda state: state.polygons in (_FILLED, _LINES),
    ),
    StatePass(
        "state.viewport", state_viewport, "Drop the only viewport's index",
        "after the rows that may remove a read of the index", _LAST,
        when=lambda state: state.viewports == 1,
    ),
    StatePass(
        "state.attributes", state_attributes, "Fill attribute components",
        "any time", ("vert",),
        when=lambda state: state.attributes,
    ),
    StatePass(
        "state.ranges", state_ranges, "Bound integer attributes",
        "before narrow packs what needs few bits", ("vert",),
        when=lambda state: any(bits for _, _, bits in state.attributes),
    ),
)  # fmt: skip
# Those that ask nothing of other stages.
ALONE: Final[frozenset[str]] = frozenset(
    ("state.attachments", "state.samples", "state.attributes", "state.ranges")
)
