"""Passes of more than one argument, in the form that a case can name (tests/cases/README.md)."""

from __future__ import annotations

from spvlink.chain import Chain
from spvlink.ir.core import Module
from spvlink.link.border import Stage
from spvlink.passes.lower_io import Lowering
from spvlink.pipeline import STAGES, Linked, Source
from spvlink.schedule import Runner
from tests.linking import base_options


def promote(module: Module) -> None:
    """Local and Private variables become values; the interface stays as it is."""
    _lower(module, False, False)


def lower_inputs(module: Module) -> None:
    _lower(module, True, False)


def lower_outputs(module: Module) -> None:
    _lower(module, False, True)


def _lower(module: Module, inputs: bool, outputs: bool) -> None:
    low = Lowering(module, inputs, outputs)
    low.analyse()
    low.finish()


def link(producer: Module, consumer: Module) -> None:
    """All that the driver does with a pair between decoding and encoding, in place."""
    stages: list[Stage] = []
    for module in (producer, consumer):
        assert module.entry is not None
        module.facts = {}
        stages.append(Stage(Source(b""), STAGES[module.entry.model], module))
    options = base_options()
    Chain(stages, options, Runner(options), Linked()).run()
