"""A folder of modules as the source and sink of a batch: pairs are found, names are kept.

``spvlink.toml`` in the folder holds exceptions:

    skip = ["old/*", "*.debug.spv"]    # files that are left out
    complete = true                    # for every pipeline, as in a manifest; layout and state, too
    [options]                          # of the command, where it does not give them itself
    pack = "vectors"
    [[pipeline]]                       # pipelines that names and interfaces do not tell
    id = "sky"
    stages = ["full.vert.spv", "sky.frag.spv:main"]
    [[pipeline]]                       # without stages: of the pipelines found that have such an id
    id = "shadow/*"
    state = "depth-only.json"
"""

from __future__ import annotations

import json
import os
import re
import shutil
from fnmatch import fnmatch, fnmatchcase
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Final

from spvlink.batches.manifest import NAME, Manifest
from spvlink.batches.pairing import Pairing
from spvlink.batches.plan import LISTED
from spvlink.batches.store import MODULE
from spvlink.errors import BadSpirv, Usage
from spvlink.sources import SUFFIXES, Argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.batches.store import JobStore

SETTINGS: Final = "spvlink.toml"
LISTED_HERE: Final = "by spvlink.toml"
_UNSAFE: Final = re.compile(r"[^\w.-]")  # in names of files
_FOR_ALL: Final = ("complete", "layout", "state")
_KEYS: Final = ("skip", *_FOR_ALL, "options", "pipeline")
_SOURCES: Final = (*SUFFIXES, ".hlsl", ".glsl")


class FolderSettings:
    """What ``spvlink.toml`` says; nothing if there is none. Raises Usage."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, SETTINGS)
        self.given = self._read()
        for key in self.given:
            if key not in _KEYS:
                raise Usage(f"{self.path}: unknown key {key!r} (there are: {', '.join(_KEYS)})")
        self.skip: list[str] = self._texts("skip")
        self.pipelines: list[dict[str, object]] = []
        self.known: list[tuple[str, dict[str, object]]] = []  # (pattern of ids, known of these)
        for one in self._list("pipeline"):
            if isinstance(one, dict) and "stages" not in one:
                self.known.append(self._known(one))
            else:
                self.pipelines.append(self._pipeline(one))

    def words(self, given: set[str]) -> list[str]:
        """The options as words of the command line, but for those that are ``given`` there."""
        options = self.given.get("options", {})
        if not isinstance(options, dict):
            raise Usage(f"{self.path}: options: expected a table")
        words = []
        for name, value in options.items():
            option = "-o" if name == "o" else f"--{name}"
            if option in given or value is False:
                continue
            if value is True:
                words.append(option)
                continue
            for one in value if isinstance(value, list) else [value]:
                words += [option, str(one)]
        return words

    def for_all(self) -> dict[str, object]:
        """What every line of the manifest has."""
        return {key: self.given[key] for key in _FOR_ALL if key in self.given}

    def _read(self) -> dict[str, Any]:
        import tomllib

        try:
            with open(self.path, "rb") as file:
                return tomllib.load(file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise Usage(f"{self.path}: cannot read it: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise Usage(f"{self.path}: not TOML: {error}") from None

    def _list(self, key: str) -> list[Any]:
        value = self.given.get(key, [])
        if not isinstance(value, list):
            raise Usage(f"{self.path}: {key}: expected a list")
        return value

    def _texts(self, key: str) -> list[str]:
        texts = self._list(key)
        if not all(isinstance(one, str) for one in texts):
            raise Usage(f"{self.path}: {key}: expected a list of texts")
        return texts

    def _pipeline(self, one: Any) -> dict[str, object]:
        """A pipeline as the line of a manifest, which checks it further; its stages may be words of
        the command line."""
        if not isinstance(one, dict) or not isinstance(one.get("stages"), list):
            raise Usage(f"{self.path}: pipeline: expected a table with id and stages")
        return one | {"stages": [self._stage(stage) for stage in one["stages"]]}

    def _known(self, one: dict[str, Any]) -> tuple[str, dict[str, object]]:
        """What is known of pipelines that are found."""
        pattern = one.get("id")
        if not isinstance(pattern, str):
            raise Usage(f"{self.path}: pipeline: expected a table with id and stages")
        for key in one:
            if key not in ("id", *_FOR_ALL):
                there = f"(there are: stages, {', '.join(_FOR_ALL)})"
                raise Usage(f"{self.path}: pipeline {pattern}: unknown key {key!r} {there}")
        return pattern, {key: one[key] for key in _FOR_ALL if key in one}

    def of(self, id: str, used: set[str]) -> dict[str, object]:
        """What is known of a pipeline that was found; ``used`` gets the patterns that fit. Where
        several do, a later one counts."""
        known = self.for_all()
        for pattern, more in self.known:
            if fnmatchcase(id, pattern):
                used.add(pattern)
                known |= more
        return known

    def _stage(self, stage: Any) -> object:
        if isinstance(stage, str):
            argument = Argument(stage)
            stage = {"file": argument.path}
            if argument.entry is not None:
                stage["entry"] = argument.entry
            if argument.entry_stage:
                stage["stage"] = argument.entry_stage
        if not isinstance(stage, dict) or not isinstance(stage.get("file"), str):
            return stage
        file = os.path.normpath(stage["file"]).replace(os.sep, "/")
        if os.path.isabs(file) or file.split("/")[0] == os.pardir:  # its output would be outside
            raise Usage(f"{self.path}: {stage['file']} is not in the folder")
        return stage | {"file": file}


class Folder(Manifest):
    """The pipelines of a folder. ``pairing``: how they were found, and what is left over;
    ``sources``: how many files are no modules but sources of some. ``misfits`` as in ``Pairing``.
    Raises Usage, BadSpirv."""

    each_file = True

    def __init__(
        self, folder: str, settings: FolderSettings | None = None, misfits: bool = False
    ) -> None:
        settings = settings or FolderSettings(folder)
        self.pairing = Pairing(folder, misfits)
        self.sources = self.listed = 0
        self.places: dict[str, str] = {}  # in the output, and what is there
        try:
            self.lines = [
                json.dumps(line, default=_no_json) for line in self._plan(folder, settings)
            ]
            super().__init__(os.path.join(folder, NAME))
        except BadSpirv as error:
            error.file = settings.path
            raise

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        for number, line in enumerate(self.lines, 1):
            yield number, line.encode()

    def _plan(self, folder: str, settings: FolderSettings) -> Iterator[dict[str, object]]:
        named = {stage.get("file") for line in settings.pipelines for stage in _stages_of(line)}
        for file in self._files(folder):
            if not any(fnmatch(file, pattern) for pattern in settings.skip):
                if file in named:
                    continue
                if file.endswith(MODULE):
                    self.pairing.add(file)
                else:
                    self.sources += 1
        self.pairing.pair()
        self.listed = len(settings.pipelines)
        for line in settings.pipelines:
            yield settings.for_all() | line
        used: set[str] = set()
        for one in self.pairing.pipelines:
            stages = [stage.to_json() for stage in one.stages]
            yield settings.of(one.id, used) | {"id": one.id, "stages": stages}
        for pattern, _ in settings.known:
            if pattern not in used:
                raise Usage(f"{settings.path}: pipeline {pattern}: none of this name was found")

    def _files(self, folder: str) -> Iterator[str]:
        """Modules and sources, relative to the folder, in order. Hidden folders are left out."""
        if not os.path.isdir(folder):
            raise Usage(f"{folder}: cannot read it: No such folder")
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if os.path.splitext(name)[1] in (MODULE, *_SOURCES):
                    path = os.path.relpath(os.path.join(place, name), folder)
                    yield path.replace(os.sep, "/")

    def summary(self) -> Iterator[str]:
        """How it paired, in lines for people."""
        ways = [one.how for one in self.pairing.pipelines]
        counts = [f"{ways.count(how)} {how}" for how in dict.fromkeys(ways)]
        counts += [f"{self.listed} {LISTED_HERE}"] if self.listed else []
        pipelines = "1 pipeline" if len(self.lines) == 1 else f"{len(self.lines)} pipelines"
        yield f"{pipelines}: {', '.join(counts) or 'none'}"
        if self.pairing.other:
            yield f"left out: {self.pairing.other} entry points of compute and ray tracing"
        if self.sources:
            yield f"left out: {self.sources} source files: compile them first"
        for file, why in self.pairing.left:
            yield f"left over: {file}: {why}"

    def short_summary(self) -> list[str]:
        """The first lines of ``summary``."""
        lines = list(self.summary())
        more = len(lines) - LISTED
        return [*lines[:LISTED], f"{more} more left over: --plan lists all"] if more > 0 else lines

    def _name(self, file: str, digest: str, id: str, store: JobStore) -> str:
        """The file's own name, and for further versions of a module one with the pipeline's."""
        version = f"{file.removesuffix(MODULE)}@{_UNSAFE.sub('_', id)}"
        more = (f"{version}.{number}{MODULE}" for number in count(2))
        names = chain((file, f"{version}{MODULE}"), more)
        name = next(name for name in names if self.places.get(name, digest) == digest)
        if name not in self.places:
            self.places[name] = digest
            path = os.path.join(store.out, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(os.path.join(store.out, "modules", f"{digest}{MODULE}"), path)
        return name


def _no_json(value: object) -> object:
    """TOML has dates, which JSON has not. Raises Usage."""
    raise Usage(f"{SETTINGS}: {value} is no value of JSON")


def _stages_of(line: dict[str, object]) -> list[dict[str, Any]]:
    stages = line["stages"]
    assert isinstance(stages, list)
    return [stage for stage in stages if isinstance(stage, dict)]
