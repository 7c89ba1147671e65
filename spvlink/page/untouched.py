"""The interfaces of a pipeline that stayed as it was: a link of it has no remarks, and no figures
if it was refused, but people want to see what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink import report
from spvlink.binary.decode import decode
from spvlink.chain.remarks import kept_remarks
from spvlink.entry import select_entry
from spvlink.errors import Refused
from spvlink.grammar import enums
from spvlink.link.check import interface
from spvlink.passes.lowering.lower_io import MAX_LOCATION, locations_of
from spvlink.pipeline import InterfaceResult
from spvlink.varying_bytes import sizes_of_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spvlink.link.check.interface import DeclaredVariable
    from spvlink.pipeline import StageResult

_MOST: Final = 32 * MAX_LOCATION  # Locations of a variable, arrays over vertices included


def describe(
    stages: Sequence[StageResult], entries: dict[str, str | None], why: str
) -> dict[str, object]:
    """The interfaces and remarks as the report has them, with the remarks' cells: every output of
    each stage but the last is kept, for the reason ``why``. ``entries``: the entry point by the
    stage's file. A payload, and a border that cannot be read, is left out."""
    borders: list[dict[str, object]] = []
    remarks: list[dict[str, object]] = []
    for producer, consumer in zip(stages, stages[1:]):
        if producer.stage == "task":
            continue
        try:
            entry = entries.get(producer.file)
            outputs = _outputs(producer.data, entry, producer.stage)
            sizes = sizes_of_module(producer.data, entry, producer.stage)
        except MemoryError:
            raise
        except Exception:  # whatever kept it from being linked may be in our way, too
            continue
        places = {place for output in outputs for place in output.covers}
        border = InterfaceResult(producer.stage, consumer.stage)
        border.components = (len(places),) * 2
        border.locations = (len({location for location, _ in places}),) * 2
        border.measured = sizes, sizes
        borders.append(report.interface(border))
        title = f"{producer.stage}->{consumer.stage}"
        remarks += [
            report.remark(r) | {"cells": r.cells} for r in kept_remarks(title, outputs, why)
        ]
    return {"interfaces": borders, "remarks": remarks}


def _outputs(data: bytes, entry: str | None, stage: str) -> list[DeclaredVariable]:
    """What a stage hands on. Raises SpvlinkError, and whatever odd modules may cause."""
    module = decode(data)
    module.entry = select_entry(module, entry, stage)
    for variable in module.entry.inst.args[1:]:
        if variable.imm[0] == enums.StorageClass_Output and variable.type is not None:
            if locations_of(variable.type.args[0]) > _MOST:
                raise Refused("an interface beyond any limit")
    return interface.declared(module, enums.StorageClass_Output)
