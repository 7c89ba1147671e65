"""Slots without variables: the ``== slots`` section of a case (tests/passes/README.md), so that a
pass over slots runs by itself, with neither lowering nor raising around it."""

from __future__ import annotations

from collections.abc import Sequence

from spvlink.chain.border import hold_outputs
from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain
from spvlink.chain.table import PassContext
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module
from spvlink.ir.slot import Interface, Slot, Varying, key_of
from spvlink.link.border.link import Link
from spvlink.link.border.stage import Stage
from spvlink.link.resources.visible import find_visible
from spvlink.options import Options
from spvlink.passes.raising.raise_io import scalar_type
from spvlink.pipeline import STAGES, Linked, Source


class Line:
    """``PLACE TYPE NAME [DECORATION ...] [to PLACE]``, as in ``0.xy f32 uv Flat to 3.zw``."""

    def __init__(self, text: str) -> None:
        place, self.base, self.name, *words = text.split()
        self.location, self.component, size = _place(place)
        self.to = self.location, self.component
        if words[-2:-1] == ["to"]:
            *self.to, _ = _place(words[-1])
            del words[-2:]
        self.qualifiers = tuple(sorted(getattr(enums, f"Decoration_{w}") for w in words))
        step = 2 if self.base.endswith("64") else 1
        self.keys = [key_of(self.location, self.component + lane) for lane in range(0, size, step)]

    def varying(self) -> Varying:
        location, component = self.to
        made = Varying(location, component, self.base, self.keys)
        made.qualifiers, made.name = self.qualifiers, self.name
        return made


def _place(text: str) -> tuple[int, int, int]:
    """(Location, first Component, how many)."""
    location, _, lanes = text.partition(".")
    assert lanes and lanes in "xyzw", text
    return int(location), "xyzw".index(lanes[0]), len(lanes)


def interface_of(module: Module, lines: Sequence[str]) -> Interface:
    """One side of a border."""
    side = Interface()
    nowhere = Inst(ops.OpVariable, None, [], ())
    for group, line in enumerate(map(Line, lines)):
        type = scalar_type(module, line.base)
        for lane, key in enumerate(line.keys):
            slot = side.slots[key] = Slot(key, type, nowhere, line.name, lane, group)
            slot.qualifiers = line.qualifiers
    return side


def site_of(modules: Sequence[Module], lines: Sequence[str], options: Options) -> PassContext:
    """The border of two modules; both sides declare all slots."""
    stages = []
    for module in modules:
        assert module.entry is not None
        stages.append(Stage(Source(b""), STAGES[module.entry.model], module))
    producer, consumer = stages
    producer.outputs = interface_of(producer.module, lines)
    consumer.inputs = interface_of(consumer.module, lines)
    chain = Chain(stages, options, Runner(options), Linked())
    link = chain.borders[0].link = Link(producer, consumer)
    find_visible(stages)
    hold_outputs(chain.borders)
    return PassContext(chain, link)
