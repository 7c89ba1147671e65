"""Texts that differ only in the keys of a pipeline and of its modules: they are parsed once.

A text is taken apart at these digits; what is left is its form. A form counts when it was seen
twice and other digits were tried in one of its texts: they came out as the keys, and nothing else
changed. So they do in every text of that form, since each stands alone in a string, and hex digits
end none.
"""

from __future__ import annotations

import re

from spvlink.archive import documents, records
from spvlink.archive.documents import as_list, as_object, member
from spvlink.archive.records import ArchivedPipeline
from spvlink.errors import BadArchive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping
    from typing import Final

    from spvlink.archive.documents import Object
    from spvlink.archive.layouts import Layouts

_BEFORE: Final = b'"module":"'
_BEHIND: Final = b'"'
_MODULE: Final = re.compile(_BEFORE + rb"([0-9a-fA-F]{16})" + _BEHIND)
_NOTHING: Final = b"0" * 16  # a stage without a module
_MOST: Final = 4 << 20  # bytes of texts
_SEEN: Final = 1 << 16  # forms that were seen once


class SplitText:
    """A payload, taken apart. ``head``: up to the key of the pipeline; ``pieces``: what follows the
    key, with the digits of a module at each odd place; ``rest``: from the first zero byte on."""

    __slots__ = ("form", "head", "key", "pieces", "rest")

    def __init__(self, payload: bytes, key: str) -> None:
        text, zero, rest = payload.partition(b"\0")
        self.rest = zero + rest
        self.key = b'"%s":' % key.encode()
        self.head, _, behind = text.partition(self.key)
        self.pieces: list[bytes] = _MODULE.split(behind)
        self.form = b"\0".join([self.head, *self.pieces[::2]])

    @property
    def modules(self) -> list[bytes]:
        return self.pieces[1::2]

    def filled(self, key: bytes, modules: Mapping[int, bytes]) -> bytes:
        """The text with another key, as it stands there, and other digits."""
        pieces = list(self.pieces)
        for index in range(len(pieces) // 2):
            digits = modules.get(index, pieces[2 * index + 1])
            pieces[2 * index + 1] = _BEFORE + digits + _BEHIND
        return self.head + key + b"".join(pieces) + self.rest


class PipelineForms:
    """The forms of an archive's pipelines, and what was read from one text of each."""

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self._known: dict[bytes, ArchivedPipeline] = {}
        self._size = 0  # bytes of the known forms
        self._seen: set[int] = set()  # hashes of those that were seen once

    def read(self, payload: bytes, key: str) -> ArchivedPipeline:
        """The pipeline of an entry, as ``records.read`` has it. Raises BadArchive."""
        split = SplitText(payload, key)
        first = self._known.get(split.form)
        digits = split.modules
        if first is not None and _NOTHING not in digits:
            return _copied(first, key, [digit.decode().lower() for digit in digits])
        document = documents.parse(documents.split(payload)[0])
        pipeline = records.read(key, document, self._layouts)
        if first is None and digits:
            self._note(split, document, pipeline)
        return pipeline

    def with_modules(self, payload: bytes, key: str, modules: Mapping[int, str]) -> bytes:
        """As ``documents.with_modules``."""
        split = SplitText(payload, key)
        if split.form in self._known and max(modules, default=0) < len(split.pieces) // 2:
            new = {index: digits.encode() for index, digits in modules.items()}
            return split.filled(split.key, new)
        return documents.with_modules(payload, key, modules)

    def _note(self, split: SplitText, document: Object, pipeline: ArchivedPipeline) -> None:
        """Remember the form, if it was seen before."""
        mark = hash(split.form)
        if mark not in self._seen:
            if len(self._seen) >= _SEEN:
                self._seen.clear()
            self._seen.add(mark)
            return
        if not _holds(split, document, pipeline):
            return
        self._size += len(split.form)
        if self._size > _MOST:
            self._known.clear()
            self._size = len(split.form)
        self._known[split.form] = _copied(pipeline, pipeline.key, pipeline.modules)


def _holds(split: SplitText, document: Object, pipeline: ArchivedPipeline) -> bool:
    """Whether the digits are the keys and nothing else: try others. Changes ``document``."""
    digits = split.modules
    named = [digit.decode().lower() for digit in digits]
    if _NOTHING in digits or pipeline.modules != named:
        return False
    if pipeline.stages and [stage.module for stage in pipeline.stages] != named:
        return False
    taken = {pipeline.key, *named}
    others = [new for new in (f"{n:016x}" for n in range(2 * len(named) + 2)) if new not in taken]
    key, new = others[0], others[1 : len(named) + 1]
    try:
        pipelines = as_object(member(document, "graphicsPipelines"), "graphicsPipelines")
        (recorded,) = pipelines.values()
        stages = as_list(as_object(recorded, "pipeline").get("stages"), "stages")
        for stage, module in zip(stages, new):
            as_object(stage, "stage")["module"] = module
        document["graphicsPipelines"] = {key: recorded}
        numbered = {index: module.encode() for index, module in enumerate(new)}
        tried = split.filled(b'"%s":' % key.encode(), numbered)
        return documents.parse(documents.split(tried)[0]) == document
    except (BadArchive, ValueError):
        return False


def _copied(first: ArchivedPipeline, key: str, modules: list[str]) -> ArchivedPipeline:
    """A pipeline of the same form."""
    made = ArchivedPipeline(key)
    made.reason = first.reason
    made.stages = [
        records.ShaderStage(stage.bit, module, stage.entry, stage.spec)
        for stage, module in zip(first.stages, modules)
    ]
    made.layout = first.layout
    made.target_env = first.target_env
    made.view_mask = first.view_mask
    made.discard = first.discard
    made.stream = first.stream
    made.patch_points = first.patch_points
    made.state = first.state
    made.part = first.part
    made.libraries = first.libraries
    made.robust = first.robust
    made.flags = first.flags
    made.unknown = first.unknown
    made.modules = list(modules)
    return made
