"""Hold a border of two neighbouring stages, and groups of borders that passes handle together."""

from __future__ import annotations

from spvlink.link.border.link import PRODUCER, Link
from spvlink.link.border.stage import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.link.pack.placement import Placement
    from spvlink.link.payload.payload import Payload


class Border:
    """Two neighbouring stages: linked, or with a reason why their interface stays as it is."""

    __slots__ = (
        "consumer", "fixed", "kept", "link", "payload", "placement", "producer", "refused",
        "shared",
    )  # fmt: skip

    def __init__(self, producer: Stage, consumer: Stage) -> None:
        self.producer = producer
        self.consumer = consumer
        self.fixed = ""  # which side stays as it is (``Link.fixed``)
        self.kept = ""  # why the interface stays as it is
        self.shared = False  # one of the modules meets others on this side, too
        self.refused = False  # it stays so because it is beyond us
        self.link: Link | None = None
        self.placement: Placement | None = None
        self.payload: Payload | None = None  # between task and mesh shader

    @property
    def title(self) -> str:
        return f"{self.producer.name}->{self.consumer.name}"

    def refuse(self, why: str) -> None:
        if not self.kept:
            self.kept, self.refused = why, True


class Group:
    """``shared``: CONSUMER or PRODUCER, whose module is that of all borders; empty for one border
    whose modules both belong to it alone."""

    __slots__ = ("borders", "seen", "shared")

    def __init__(self, borders: list[Border], shared: str) -> None:
        self.borders = borders
        self.shared = shared
        self.seen = -1  # the version when it was last looked at

    @property
    def links(self) -> list[Link]:
        return [border.link for border in self.borders if border.link is not None]

    @property
    def stage(self) -> Stage:
        """The one of the shared module."""
        first = self.borders[0]
        return first.producer if self.shared == PRODUCER else first.consumer

    @property
    def version(self) -> int:
        """It moves whenever a module does."""
        return sum([link.version for link in self.links])

    def due(self) -> bool:
        """Whether a module changed since the last look."""
        return self.borders[0].link is not None and self.version != self.seen
