"""One row of the pipeline's state in the form that a case can name (tests/passes/README.md): it
runs on each stage that it looks at, if the state says enough. Gives what it says of them."""

from __future__ import annotations

from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain
from spvlink.chain.state_rows import STATE, StateContext
from spvlink.ir.core import Module, text_of_name
from spvlink.link.border.stage import Stage
from spvlink.options import Options
from spvlink.passes.lowering import state_attachments as attachments
from spvlink.pipeline import STAGES, Linked, Source


def state_attachments(*modules: Module, options: Options) -> list[str]:
    return _row("state.attachments", modules, options)


def state_rasterizer_discard(*modules: Module, options: Options) -> list[str]:
    return _row("state.rasterizer_discard", modules, options)


def state_facing(*modules: Module, options: Options) -> list[str]:
    return _row("state.facing", modules, options)


def state_samples(*modules: Module, options: Options) -> list[str]:
    return _row("state.samples", modules, options)


def state_point_size(*modules: Module, options: Options) -> list[str]:
    return _row("state.point_size", modules, options)


def state_viewport(*modules: Module, options: Options) -> list[str]:
    return _row("state.viewport", modules, options)


def state_attributes(*modules: Module, options: Options) -> list[str]:
    return _row("state.attributes", modules, options)


def state_ranges(*modules: Module, options: Options) -> list[str]:
    told = _row("state.ranges", modules, options)
    for module in modules:
        for (variable, lane), bits in module.attribute_bits.items():
            (name,) = [n for target, n in module.names if target is variable]
            told.append(f"{text_of_name(name)}[{lane}]: {bits} bits")
    return told


def attachments_there_and_back(module: Module, options: Options) -> list[str]:
    """Undefined parts that the row stored, gone again in the end."""
    _use("state.attachments", (module,), options)
    attachments.store_plainly(module)
    return []


def _row(name: str, modules: tuple[Module, ...], options: Options) -> list[str]:
    chain = _use(name, modules, options)
    told = [remark for _, remark in chain.state_remarks]
    return [f"{r.interface} {r.name} {r.slot}: {r.action}: {r.why}" for r in told]


def _use(name: str, modules: tuple[Module, ...], options: Options) -> Chain:
    stages: list[Stage] = []
    for module in modules:
        assert module.entry is not None
        stages.append(Stage(Source(b""), STAGES[module.entry.model], module))
    chain = Chain(stages, options, Runner(options), Linked())
    (row,) = [row for row in STATE if row.name == name]
    assert chain.known is not None, "a case of state has --state in its options"
    for stage in stages:
        if stage.name in row.stages and row.when(chain.known):
            row.run(StateContext(chain, stage, chain.known))
    return chain
