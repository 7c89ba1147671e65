"""The structures of a recorded pipeline, and what linking makes of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spvlink.archive.archive import Archive
from spvlink.archive.records import ArchivedPipeline
from tests.archive.writing import (
    archive,
    pipeline,
    surroundings,
)

Fields = dict[str, Any]


def read(tmp_path: Path, around: Fields | None = None, **change: Any) -> ArchivedPipeline:
    """The pipeline of ``writing.graphics`` with a change of it or of what is around it."""
    path = tmp_path / "in.foz"
    path.write_bytes(archive(*surroundings(**(around or {})), pipeline(**change)))
    with Archive([str(path)]) as opened:
        assert opened.warnings == []
        (found,) = opened.pipelines()
        return found


def dynamic(*states: int) -> Fields:
    return {"flags": 0, "dynamicState": list(states)}


def rasterization(discard: int = 0, *chain: Fields) -> Fields:
    return {"flags": 0, "rasterizerDiscardEnable": discard, "pNext": list(chain)}


def structure(kind: int, **fields: Any) -> Fields:
    return {"sType": kind} | fields
