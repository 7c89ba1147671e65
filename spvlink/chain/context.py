"""Give a row of the table the borders and settings that it needs."""

from __future__ import annotations

from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.ir.known import fact
from spvlink.layout import granted, shared_descriptors
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.resources.blocks import Cannot
from spvlink.link.resources.transfer import Grant, Transfer
from spvlink.link.rounding import flatten
from spvlink.options import Options
from spvlink.pipeline import STAGE_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.chain.border import Group
    from spvlink.chain.state import Chain


class PassContext:
    """One border, or all that a stage has on one side. ``shared``: which stage has several then
    (``Group``); ``link`` is the first of ``links``."""

    __slots__ = ("chain", "link", "links", "options", "real", "shared")

    def __init__(self, chain: Chain, group: Group) -> None:
        self.chain = chain
        self.links = group.links
        self.link: Link = self.links[0]
        self.shared: str = group.shared
        self.options: Options = chain.options
        self.real = True  # what a pass changed in the consumer goes out

    def enabled(self, name: str) -> bool:
        return self.chain.runner.enabled(name)

    @property
    def to_consumer(self) -> Transfer:
        """The way of the producer's expressions into the consumer."""
        return self._to_consumer(self.link)

    @property
    def others(self) -> list[tuple[Link, Transfer]]:
        """The other links, and that way of each."""
        return [(link, self._to_consumer(link)) for link in self.links[1:]]

    @property
    def to_producer(self) -> Transfer:
        """The way of the consumer's expressions into the producer."""
        return self._transfer(self.link, self.link.consumer, self.link.producer)

    @property
    def expect(self) -> tuple[int, int]:
        """How often each side runs. Only fragments outnumber what is computed before them."""
        return (1, 1) if self.link.exact else self.options.expect

    @property
    def cost_limit(self) -> int:
        return self.options.cost_limit * self.chain.cost_share // 100

    @property
    def convergent(self) -> frozenset[int]:
        """Slots that may be read with any qualifier, since all vertices of a primitive agree."""
        if self.options.exact or not self.enabled("flatten"):
            return frozenset()
        return flatten.flatten(self.link)

    def _to_consumer(self, link: Link) -> Transfer:
        if self.chain.literal:
            return Literal(link.producer.module, link.consumer.module, Grant(frozenset()))
        return self._transfer(link, link.producer, link.consumer)

    def _transfer(self, link: Link, source: Stage, target: Stage) -> Transfer:
        """What is known of it holds until one of the modules changes."""
        known = fact(link, _transfers, link.version)
        transfer = known.get(target)
        if transfer is not None:
            return transfer
        grant = Grant(target.visible)
        layout = self.options.layout
        if layout is not None:
            theirs, own = STAGE_BITS[source.name], STAGE_BITS[target.name]
            ranges, bindings = granted(layout, own)
            shared = shared_descriptors(layout, theirs, own)
            grant = Grant(target.visible, ranges, bindings, shared)
        transfer = known[target] = Transfer(source.module, target.module, grant)
        return transfer


class Literal(Transfer):
    """Constants alone."""

    def check(self, root_value: Inst) -> int:
        if root_value.type is not None and types.bits_of(root_value) is None:
            raise Cannot("only a constant can be part of an interface")
        return Transfer.check(self, root_value)


def _transfers(link: Link) -> dict[Stage, Transfer]:
    return {}  # by target, filled as they are asked for
