"""The interfaces of a pipeline that stayed as it was: a link of it has no remarks, and no figures
if it was refused, but people want to see what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spvlink import report
from spvlink.binary.decode import decode
from spvlink.chain.remarks import kept_remarks
from spvlink.entry import select_entry
from spvlink.errors import SpvlinkError
from spvlink.grammar import enums
from spvlink.link.check import interface
from spvlink.pipeline import InterfaceResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spvlink.pipeline import StageResult


def told(
    stages: Sequence[StageResult], entries: dict[str, str | None], why: str
) -> dict[str, object]:
    """ "interfaces" and "remarks" as the report has them, with the remarks' cells: every output of
    each stage but the last is kept, for the reason ``why``. ``entries``: the entry point by the
    stage's file. A border that cannot be read is left out."""
    borders: list[dict[str, object]] = []
    remarks: list[dict[str, object]] = []
    for producer, consumer in zip(stages, stages[1:]):
        try:
            module = decode(producer.data)
            module.entry = select_entry(module, entries.get(producer.file))
            outputs = interface.declared(module, enums.StorageClass_Output)
        except SpvlinkError:
            continue
        places = {place for output in outputs for place in output.covers}
        border = InterfaceResult(producer.stage, consumer.stage)
        border.components = (len(places),) * 2
        border.locations = (len({location for location, _ in places}),) * 2
        borders.append(report.interface(border))
        title = f"{producer.stage}->{consumer.stage}"
        remarks += [
            report.remark(r) | {"cells": r.cells} for r in kept_remarks(title, outputs, why)
        ]
    return {"interfaces": borders, "remarks": remarks}
