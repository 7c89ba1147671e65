"""Two neighbouring stages of a chain, and what is known of their border."""

from __future__ import annotations

from spvlink.facts import invariant
from spvlink.grammar import ops
from spvlink.link.border.link import Link
from spvlink.link.border.stage import FIXED_FUNCTIONS, Stage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.link.pack.placement import Placement
    from spvlink.link.payload.payload import Payload


class Border:
    """Two neighbouring stages: linked, or with a reason why their interface stays as it is."""

    __slots__ = (
        "consumer", "fixed", "kept", "link", "payload", "placement", "producer", "refused", "seen",
    )  # fmt: skip

    def __init__(self, producer: Stage, consumer: Stage) -> None:
        self.producer = producer
        self.consumer = consumer
        self.fixed = ""  # which side stays as it is (``Link.fixed``)
        self.kept = ""  # why the interface stays as it is
        self.refused = False  # it stays so because it is beyond us
        self.link: Link | None = None
        self.placement: Placement | None = None
        self.payload: Payload | None = None  # between task and mesh shader
        self.seen = -1  # the link's version when it was last looked at

    @property
    def title(self) -> str:
        return f"{self.producer.name}->{self.consumer.name}"

    def hold_outputs(self) -> None:
        """Tell the producer which of its outputs the consumer makes positions and the like of: all
        of them, for what we know, where the border is not linked."""
        if self.link is None:
            hold_all(self.producer)
            return
        self.link.gather()
        keys, variables = self.link.settled_outputs()
        invariant.hold(self.producer.module, keys, frozenset(variables))

    def refuse(self, why: str) -> None:
        if not self.kept:
            self.kept, self.refused = why, True

    def due(self) -> bool:
        """Whether either module changed since the last look."""
        return self.link is not None and self.link.version != self.seen


def hold_outputs(borders: list[Border], more: bool = False) -> None:
    """Tell the stages of a chain what those behind them make positions and the like of; ``more``:
    there are stages behind the last one, which may do so with all that it writes."""
    if more:
        hold_all(borders[-1].consumer)
    for border in reversed(borders):
        if border.consumer.name != FIXED_FUNCTIONS:
            border.hold_outputs()


def hold_all(stage: Stage) -> None:
    """For all that is known, every variable of a stage may come to a position."""
    variables = [v for v in stage.module.globals if v.op == ops.OpVariable]
    invariant.hold(stage.module, frozenset(), frozenset(variables))


def join(borders: list[Border], more: bool) -> None:
    """Let each border see the one behind it; ``more``: there is one behind the last."""
    last = borders[-1].link
    if last is not None:
        last.hidden = more
    for border, after in zip(borders, borders[1:]):
        if border.link is not None:
            border.link.after, border.link.hidden = after.link, after.link is None
