"""The whole story in one function."""

from __future__ import annotations

from collections.abc import Sequence

from spvlink.options import Options
from spvlink.pipeline import Linked, Source, StageResult


def link(stages: Sequence[Source | bytes], options: Options | None = None) -> Linked:
    """Link the modules of one pipeline."""
    linked = Linked()
    for source in stages:
        if isinstance(source, bytes):
            source = Source(source)
        linked.stages.append(StageResult("vert", source.file, source.data, False))
    linked.passed_through = "not written yet"
    return linked
