"""Passes of more than one argument, in the form that a case can name (tests/passes/README.md)."""

from __future__ import annotations

from collections.abc import Sequence

from spvlink.binary.encode import encode
from spvlink.chain import chain
from spvlink.chain.context import PassContext
from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain
from spvlink.chain.sweep import place
from spvlink.chain.table import REPACKING, TABLE, Pass
from spvlink.facts.effects import Effects
from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.ir.edit import become, resolve, sweep
from spvlink.link.border.stage import Stage
from spvlink.link.builtins.builtins import builtins as open_builtins
from spvlink.link.builtins.side import NAMES
from spvlink.options import Options
from spvlink.passes.cleaning.fold import fold
from spvlink.passes.lowering.lower_io import Lowering
from spvlink.passes.raising import trim
from spvlink.passes.raising.raise_io import Raise
from spvlink.pipeline import STAGES, Linked, Source
from spvlink.validate import validate_all
from tests.cases.slots import Line, interface_of
from tests.support.linking import base_options


def trim_all(module: Module) -> None:
    """``trim`` of a module whose interface stays."""
    trim.trim(module)


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
    options.disable |= {"backward", "forward"}
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
    chain.link_chain(Chain(stages, options, Runner(options), linked))
    return linked


# One pass of the table, on slots (tests/cases/slots.py): what became of each, and why.


def backward(site: PassContext) -> list[str]:
    return _row(site, TABLE, "backward")


def forward(site: PassContext) -> list[str]:
    return _row(site, TABLE, "forward")


def halves(site: PassContext) -> list[str]:
    return _row(site, TABLE, "halves.words")


def halves_that_save(site: PassContext) -> list[str]:
    return _row(site, REPACKING, "halves.locations")


def narrow(site: PassContext) -> list[str]:
    return _row(site, REPACKING, "narrow")


def _row(site: PassContext, table: tuple[Pass, ...], name: str) -> list[str]:
    (row,) = [row for row in table if row.name == name]
    row.run(site)
    link = site.link
    told = {key: f"not decided: {note}" for key, note in link.remarks.notes.items()}
    told |= {key: f"{action}: {why}" for key, (action, why) in link.remarks.fate.items()}
    return [f"{_lane(key)} {told[key]}" for key in sorted(told)]


def builtins(site: PassContext) -> list[str]:
    """Open the built-ins of a border; gives the key and the name of each slot."""
    built = open_builtins(site.link, many_views=False)
    if built is None:
        return ["nothing crosses"]
    lines = [f"{key} {slot.name}" for key, slot in built.inputs.slots.items()]
    return lines + [f"{NAMES[number]} stays: {why}" for number, why in built.obstacles.items()]


def compact(site: PassContext) -> list[str]:
    """New place, type and qualifiers of each variable, and what it holds."""
    names = {n: name.removeprefix("Decoration_") for name, n in vars(enums).items()
             if name.startswith("Decoration_")}  # fmt: skip
    lines = []
    for v in place(site).varyings:
        lanes = "".join(_lane(8 * at + 2 * c)[-1] for at, c in map(v.place_of, range(len(v.keys))))
        words = [f"{v.location}.{lanes}", v.base, v.name, *(names[q] for q in v.qualifiers)]
        lines.append(f"{' '.join(words)} holds {' '.join(map(_lane, v.keys))}")
    return lines


def _lane(key: int) -> str:
    return f"{key >> 3}.{'xyzw'[key >> 1 & 3]}"


def raise_inputs(module: Module, slots: Sequence[str]) -> None:
    _raise(module, slots, enums.StorageClass_Input)


def raise_outputs(module: Module, slots: Sequence[str]) -> None:
    _raise(module, slots, enums.StorageClass_Output)


def _raise(module: Module, slots: Sequence[str], storage: int) -> None:
    varyings = [Line(line).varying() for line in slots]
    Raise(module, varyings, storage, interface_of(module, slots).slots).run()


def fold_all(module: Module) -> None:
    """Each instruction that equals a constant becomes it."""
    glsl = Effects.of(module).glsl
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                inst.args = [resolve(a) for a in inst.args]
                made = fold(module, inst, bool(inst.args) and inst.args[0] in glsl)
                if made is not None:
                    become(module, inst, made)
        sweep(module, function)
