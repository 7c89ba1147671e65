"""Passes of more than one argument, in the form that a case can name (tests/cases/README.md)."""

from __future__ import annotations

from spvlink.binary.encode import encode
from spvlink.chain import chain
from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain
from spvlink.ir.core import Module
from spvlink.link.border.stage import Stage
from spvlink.options import Options
from spvlink.passes.lower_io import Lowering
from spvlink.pipeline import STAGES, Linked, Source
from spvlink.validate import validate_all
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
    """All that the driver does with a pair between decoding and encoding, in place, without the
    passes that move or merge values across the border."""
    _optimize(producer, consumer, base_options())


def cross(producer: Module, consumer: Module, options: Options) -> list[str]:
    """The same with all passes but code motion, which would take expressions apart that are looked
    at here; what became of every varying. spirv-val accepts the result (but ``--no-validate``, for
    extensions that it does not know)."""
    options.disabled |= {"backward", "forward"}
    linked = _optimize(producer, consumer, options)
    outputs = [encode(module) for module in (producer, consumer)]
    verdicts = validate_all(outputs, "vulkan1.3") if options.validate else [None, None]
    assert verdicts == [None, None], verdicts
    return [f"{r.name} {r.slot}: {r.action}: {r.why}" for r in linked.remarks]


def _optimize(producer: Module, consumer: Module, options: Options) -> Linked:
    stages: list[Stage] = []
    for module in (producer, consumer):
        assert module.entry is not None
        module.facts = {}
        stages.append(Stage(Source(b""), STAGES[module.entry.model], module))
    linked = Linked()
    chain.run(Chain(stages, options, Runner(options), linked))
    return linked
