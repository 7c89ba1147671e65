"""Manifests: pipelines as lines of JSON that name files, in and out.

A line that makes no sense is an error of the whole input, found before anything is linked. A module
that cannot be read costs its pipeline only.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Final

from spvlink.batches.ends import Recent
from spvlink.batches.pipelines import (
    BatchPipeline,
    DeclaredUses,
    IneligiblePipeline,
    Layout,
    Shader,
    digest_of,
)
from spvlink.batches.store import MODULE, write
from spvlink.errors import BadSpirv, SpvlinkError, Usage
from spvlink.layout import check_layout, read_layout
from spvlink.pipeline import STAGES
from spvlink.sources import LIMIT
from spvlink.state import PipelineState, read_state, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.batches.ends import New
    from spvlink.batches.store import JobStore

LINE_LIMIT: Final = 16 << 20  # bytes: a guard against devices and wrong files
NAME: Final = "manifest.jsonl"  # of the result
_KEYS: Final = ("id", "stages", "layout", "state", "complete")
_STAGE_KEYS: Final = ("file", "entry", "stage", "spec")
_LISTED: Final = 10  # wrong lines that the error names


class Manifest:
    """A manifest as a source and a sink. ``path``: its file. Raises Usage if it cannot be read,
    BadSpirv if lines are wrong."""

    each_file = False  # whether files of one content are as many in the output

    def __init__(self, path: str) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.folder = os.path.dirname(path)
        self.count = 0
        self.digests: dict[str, str] = {}  # of files that were read
        self.files: dict[str, str] = {}  # the other way round
        self.layouts: dict[str, Layout] = {}  # by file
        self.states: dict[str, PipelineState] = {}  # by file
        self.uses = DeclaredUses()
        self.recent: Recent[str] = Recent()
        self.bytes = 0, 0
        self.pruned: int | None = None
        self._check()

    def __len__(self) -> int:
        return self.count

    # -- in --------------------------------------------------------------------------------------

    def pipelines(self) -> Iterator[BatchPipeline | IneligiblePipeline]:
        for _, line in self._lines():
            yield self._pipeline(_parsed(line))

    def module(self, digest: str) -> bytes:
        path = self.files[digest]
        data = self.recent.get(path)
        if data is None:
            data = read_module(path)
            if digest_of(data) != digest:
                raise Usage(f"{path}: it changed while it was linked")
        return data

    def digest(self, name: str) -> str | None:
        return name

    def others(self) -> Iterator[IneligiblePipeline]:
        yield from ()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """(number, text) of every line that is not empty. Raises Usage."""
        try:
            with open(self.path, "rb") as file:
                number = 0
                while line := file.readline(LINE_LIMIT + 1):
                    number += 1
                    if line.strip():
                        yield number, line
        except OSError as error:
            raise Usage(f"{self.path}: cannot read it: {error.strerror}") from None

    def _check(self) -> None:
        """Look at all lines, and count them. Raises BadSpirv that names the first wrong ones."""
        wrong: list[tuple[int, str]] = []
        seen: dict[str, int] = {}
        for number, line in self._lines():
            try:
                one = _parsed(line)
                id = str(one["id"])
                if seen.setdefault(id, number) != number:
                    raise Usage(f"the id {id!r} stands in line {seen[id]} already")
                if isinstance(one.get("layout"), str):
                    self._layout(one)
                if isinstance(one.get("state"), str):
                    self._state(one)
            except SpvlinkError as error:
                wrong.append((number, error.message))
            self.count += 1
        if not wrong:
            return
        number, message = wrong[0]
        others = [str(n) for n, _ in wrong[1:_LISTED]] + ["..."] * (len(wrong) > _LISTED)
        more = f" (as are {len(wrong) - 1} more lines: {', '.join(others)})" if others else ""
        bad = BadSpirv(f"line {number} is wrong: {message}{more}")
        bad.file = self.path
        raise bad

    def _pipeline(self, one: dict[str, object]) -> BatchPipeline | IneligiblePipeline:
        """The pipeline of a line that was checked."""
        id = str(one["id"])
        shaders, trouble = [], ""
        for stage in _stages(one):
            label = str(stage["file"])
            try:
                digest = self._digest(self._path(label))
            except SpvlinkError as error:
                trouble = trouble or error.message  # the others are needed for the output
                continue
            entry = stage.get("entry")
            spec = tuple((int(n), _text(v)) for n, v in _dict(stage.get("spec", {})).items())
            name = None if entry is None else str(entry)
            shaders.append(Shader(digest, label, name, str(stage.get("stage", "")), spec))
        if trouble:
            return IneligiblePipeline(id, trouble, True, [shader.module for shader in shaders])
        pipeline = BatchPipeline(id, shaders)
        pipeline.complete = one.get("complete") is True
        pipeline.layout = self._layout(one)
        self.uses.take(pipeline, self._state(one), self.module)
        return pipeline

    def _layout(self, one: dict[str, object]) -> Layout | None:
        given = one.get("layout")
        if isinstance(given, str):
            path = self._path(given)
            if path not in self.layouts:
                self.layouts[path] = Layout(read_layout(path))
            return self.layouts[path]
        return None if given is None else Layout(check_layout(given))

    def _state(self, one: dict[str, object]) -> PipelineState:
        given = one.get("state")
        if not isinstance(given, str):
            return state_of(given)
        path = self._path(given)
        if path not in self.states:
            self.states[path] = read_state(path)
        return self.states[path]

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _digest(self, path: str) -> str:
        """The digest of a file's content. Raises Usage."""
        if path not in self.digests:
            data = self.recent.put(path, read_module(path))
            digest = digest_of(data)
            self.digests[path] = digest
            if self.each_file or digest not in self.files:
                self.bytes = self.bytes[0] + len(data), 0
            self.files.setdefault(digest, path)
        return self.digests[path]

    # -- out -------------------------------------------------------------------------------------

    def write(self, target: str, store: JobStore, new: New, together: bool) -> dict[int, str]:
        """``manifest.jsonl`` and what it names: its lines in their order, with other files."""
        wanted = {NAME}
        path = os.path.join(store.out, NAME)
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(self._written(store, new, wanted))
        except OSError as error:
            raise Usage(f"{path}: cannot write it: {error.strerror}") from None
        modules = [os.path.join(store.out, name) for name in wanted if name.endswith(MODULE)]
        self.bytes = self.bytes[0], sum(map(os.path.getsize, modules))
        store.deliver(target, wanted)
        return {}

    def _written(self, store: JobStore, new: New, wanted: set[str]) -> Iterator[str]:
        """The new lines; notes all files that they name."""
        for index, (_, line) in enumerate(self._lines()):
            one = _parsed(line)
            made = new(index)
            for at, stage in enumerate(_stages(one)):
                digest = made[at] if made else None
                path = self._path(str(stage["file"]))
                if digest is None and path in self.digests:
                    digest = self.digests[path]
                    if not store.has(digest):
                        store.add(self.module(digest))
                if digest is None:
                    stage["file"] = os.path.abspath(path)  # it could not be read: it stays
                else:
                    stage["file"] = self._name(str(stage["file"]), digest, str(one["id"]), store)
                    wanted.add(str(stage["file"]))
            self._write_layout(store, one, wanted)
            if isinstance(one.get("state"), str):  # the file may be moved
                one["state"] = os.path.abspath(self._path(str(one["state"])))
            yield _json(one) + "\n"

    def _name(self, file: str, digest: str, id: str, store: JobStore) -> str:
        """Where the module goes that the pipeline ``id`` has for ``file``: a path in the output."""
        return f"modules/{digest}{MODULE}"

    def _write_layout(self, store: JobStore, one: dict[str, object], wanted: set[str]) -> None:
        """A layout in a file of its own goes with the modules: the folder may be moved."""
        layout = self._layout(one) if isinstance(one.get("layout"), str) else None
        if layout is None:
            return
        name = f"layouts/{layout.digest}.json"
        path = os.path.join(store.out, name)
        if name not in wanted:
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            except OSError as error:
                raise Usage(f"{path}: cannot write it: {error.strerror}") from None
            write(path, json.dumps(layout.data).encode())
        one["layout"] = name
        wanted.add(name)


def read_module(path: str) -> bytes:
    """The module in a file. Raises Usage."""
    try:
        with open(path, "rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        raise Usage(f"{path}: cannot read it: {error.strerror}") from None
    except ValueError:
        raise Usage(f"cannot read {path!r}: this is no name of a file") from None
    if len(data) > LIMIT:
        raise Usage(f"{path}: more than {LIMIT} bytes, which is beyond spvlink")
    return data


def _parsed(line: bytes) -> dict[str, object]:
    """The object of a line, its shape checked. Raises Usage."""
    if len(line) > LINE_LIMIT:
        raise Usage(f"it is longer than {LINE_LIMIT} bytes")
    try:
        one = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Usage(f"not JSON: {error}") from None
    _keys(one, "the line", _KEYS)
    if not isinstance(one.get("id"), str):
        raise Usage("id: expected a text")
    if not isinstance(one.get("complete", False), bool):
        raise Usage("complete: expected true or false")
    stages = one.get("stages")
    if not isinstance(stages, list) or not stages:
        raise Usage("stages: expected a list of one stage or more")
    for index, stage in enumerate(stages):
        _check_stage(stage, f"stages[{index}]")
    if not isinstance(one.get("layout"), (str, type(None))):
        try:
            check_layout(one["layout"])
        except Usage as error:
            raise Usage(f"layout: {error.message}") from None
    if not isinstance(one.get("state"), (str, type(None))):
        try:
            state_of(one["state"])
        except Usage as error:
            raise Usage(f"state: {error.message}") from None
    return _dict(one)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _check_stage(stage: object, where: str) -> None:
    _keys(stage, where, _STAGE_KEYS)
    one = _dict(stage)
    if not isinstance(one.get("file"), str) or not one["file"]:
        raise Usage(f"{where}.file: expected the name of a file")
    if not isinstance(one.get("entry"), (str, type(None))):
        raise Usage(f"{where}.entry: expected a text")
    if one.get("stage", "vert") not in STAGES.values():
        raise Usage(f"{where}.stage: expected one of {', '.join(STAGES.values())}")
    spec = one.get("spec", {})
    if not isinstance(spec, dict):
        raise Usage(f'{where}.spec: expected an object, as {{"3": 1.5}}')
    for number, value in spec.items():
        if not (number.isascii() and number.isdigit() and len(number) < 11):
            raise Usage(f"{where}.spec: {number!r} is no SpecId")
        finite = not isinstance(value, float) or math.isfinite(value)
        if not isinstance(value, (bool, int, float)) or not finite:
            raise Usage(f"{where}.spec[{number}]: expected a number, true or false")


def _keys(value: object, where: str, keys: tuple[str, ...]) -> None:
    if not isinstance(value, dict):
        raise Usage(f"{where}: expected an object")
    for key in value:
        if key not in keys:
            raise Usage(f"{where}: unknown key {key!r} (there are: {', '.join(keys)})")


def _stages(one: dict[str, object]) -> list[dict[str, object]]:
    stages = one["stages"]
    assert isinstance(stages, list)
    return stages


def _dict(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value


def _json(one: dict[str, object]) -> str:
    """The line of an object, letters as they are where they can be written."""
    text = json.dumps(one, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON may have
        return json.dumps(one)
    return text


def _text(value: object) -> str:
    """A number of JSON as ``--spec`` takes it; JSON does not tell 2 from 2.0, programs neither."""
    if isinstance(value, float) and value.is_integer() and value:
        value = int(value)
    return str(value).lower()
