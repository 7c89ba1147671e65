"""Find the modules that pipelines share, directly or through others, as one chain whose stages have
several neighbours.

    pipelines   vert A + frag X, vert A + frag Y, vert B + frag Y
    stages      A, B, X, Y
    borders     A->X, A->Y, B->Y

All outputs and inputs that meet, directly or through others, are a seam: here those of all four. A
seam is linked as a whole or stays as it is.
"""

from __future__ import annotations

from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain
from spvlink.link.border.stage import Stage
from spvlink.options import Options
from spvlink.pipeline import Linked

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.chain.border import Border


class Family(Chain):
    """``pipelines``: the stages of each, in pipeline order, as indices into ``stages``."""

    __slots__ = ("pipelines",)

    def __init__(
        self, stages: list[Stage], pipelines: list[list[int]], options: Options, runner: Runner,
        unlinkable_borders: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:  # fmt: skip
        pairs = {pair: None for row in pipelines for pair in zip(row, row[1:])}
        met = [(stages[a], stages[b]) for a, b in pairs]
        Chain.__init__(self, stages, options, runner, Linked(), unlinkable_borders, pairs=met)
        self.pipelines = pipelines
        self.fixed = frozenset()
        self.starts = frozenset(stages[row[0]] for row in pipelines)
        self.ends = frozenset(stages[row[-1]] for row in pipelines)

    def border(self, producer: int, consumer: int) -> Border:
        """The border of two stages, by their indices."""
        wanted = self.stages[consumer]
        return next(b for b in self.afters[self.stages[producer]] if b.consumer is wanted)
