"""Which modules of a folder make pipelines: by name, by entry point, by interface.

A pipeline is what fits: stages that Vulkan combines, whose interfaces match without an error. What
could be several pipelines is none; the plan says why each module is left over.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from spvlink.batches.manifest import read_module
from spvlink.binary.decode import decode
from spvlink.driver import odd_stage
from spvlink.entry import entries_of, select_entry
from spvlink.errors import SpvlinkError
from spvlink.link.check import builtin_rules
from spvlink.link.check.border import InterfaceRules
from spvlink.link.check.stage import CheckedStage
from spvlink.passes.opening import spec_constants
from spvlink.pipeline import STAGES, Source, stage_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BY_NAME: Final = "by name"
BY_ENTRY: Final = "by entry point"
BY_INTERFACE: Final = "by interface"
ORDER: Final = {name: at for at, name in enumerate(STAGES.values())}
# Words of file names and entry points that name a stage.
_WORDS: Final = frozenset((
    "vert", "vertex", "vs", "tesc", "tcs", "hull", "hs", "tese", "tes", "domain", "ds", "geom",
    "geometry", "gs", "task", "amplification", "as", "mesh", "ms", "frag", "fragment", "pixel",
    "fs", "ps",
))  # fmt: skip
_PARTS: Final = re.compile(r"([._-]|(?<=[a-z0-9])(?=[A-Z]))")
_REMEMBERED: Final = 256  # stages that are read
_LISTED: Final = 3  # files that a reason names


class FolderStage:
    """One graphics entry point of a file. ``several``: the file has more, so it must be named."""

    __slots__ = ("entry", "file", "several", "stage")

    def __init__(self, file: str, entry: str, stage: str, several: bool) -> None:
        self.file = file
        self.entry = entry
        self.stage = stage
        self.several = several

    @property
    def label(self) -> str:
        return f"{self.file}:{self.entry}:{self.stage}" if self.several else self.file

    def to_json(self) -> dict[str, object]:
        """As a stage of a manifest."""
        named: dict[str, object] = {"file": self.file}
        return named | {"entry": self.entry, "stage": self.stage} if self.several else named


class Paired:
    """A pipeline that was found: its name, its stages in pipeline order, and how."""

    __slots__ = ("how", "id", "stages")

    def __init__(self, id: str, stages: Iterable[FolderStage], how: str) -> None:
        self.id = id
        self.stages = sorted(stages, key=lambda one: ORDER[one.stage])
        self.how = how


class Pairing:
    """The stages of a folder, given with ``add``, and what ``pair`` makes of them. ``left``: (what
    is in no pipeline, why). ``other``: entry points of other kinds of pipelines, counted.
    ``misfits``: names alone make a pipeline, for who looks for interfaces that do not match."""

    def __init__(self, folder: str, misfits: bool = False) -> None:
        self.folder = folder
        self.misfits = misfits
        self.stages: list[FolderStage] = []
        self.pipelines: list[Paired] = []
        self.left: list[tuple[str, str]] = []
        self.other = 0
        self.recent: OrderedDict[FolderStage, CheckedStage] = OrderedDict()

    def add(self, file: str) -> None:
        """Look at the entry points of a module; ``file`` is relative to the folder."""
        try:
            module = decode(self._read(file))
            points = entries_of(module)
        except SpvlinkError as error:
            self.left.append((file, str(error)))
            return
        graphics = [(p.name, stage_of(p.model)) for p in points if stage_of(p.model)]
        self.other += len(points) - len(graphics)
        for name, stage in graphics:
            self.stages.append(FolderStage(file, name, stage, len(points) > 1))

    def pair(self) -> None:
        """Fill ``pipelines`` and ``left``."""
        alone: list[FolderStage] = []
        for key, group in self._groups().items():
            how = BY_ENTRY if any(one.several for one in group) else BY_NAME
            alone += self._named(key, group, how)
        self._matched(alone)
        self.pipelines.sort(key=lambda one: one.id)
        self.left.sort()

    def _groups(self) -> dict[str, list[FolderStage]]:
        """Stages by the name that is left without the word for the stage. The entry points of one
        file that has each stage once are a group, whatever they are called."""
        by_file: dict[str, list[FolderStage]] = {}
        for one in self.stages:
            by_file.setdefault(one.file, []).append(one)
        groups: dict[str, list[FolderStage]] = {}
        for file, stages in by_file.items():
            whole = file.removesuffix(".spv")
            for one in stages:
                key = whole
                if len(stages) == 1:
                    folder, name = os.path.split(whole)
                    key = os.path.join(folder, without_stage(name)).rstrip("/") or "."
                elif len({other.stage for other in stages}) < len(stages):
                    key = f"{whole}:{without_stage(one.entry)}"
                groups.setdefault(key, []).append(one)
        return groups

    def _named(self, key: str, group: list[FolderStage], how: str) -> list[FolderStage]:
        """Make a pipeline of a group; gives the stages that wait for a partner. One without a
        fragment shader is a pipeline, too: whatever comes behind it, its last outputs stay."""
        group.sort(key=lambda one: ORDER[one.stage])
        wrong = odd_stage([(one.stage, one.label) for one in group])
        if wrong is not None:
            self._leave(group, wrong[2])
            return []
        if len(group) == 1 or group[0].stage not in ("vert", "task", "mesh"):
            return group
        trouble = self._trouble(group)
        if trouble and not self.misfits:
            self._leave(group, trouble)
        else:
            self.pipelines.append(Paired(key, group, how))
        return []

    def _matched(self, alone: list[FolderStage]) -> None:
        """Give each fragment shader that has no partner the only vertex or mesh shader of its
        folder whose interface fits: of those without a partner, then of those that have a fragment
        shader behind them; of its own file first. What has tessellation or geometry behind it has a
        pipeline, and fits no fragment shader."""
        waiting = [one for one in alone if one.stage in ("vert", "mesh")]
        pairs = [p.stages for p in self.pipelines if len(p.stages) == 2]
        taken = [first for first, second in pairs if second.stage == "frag"]
        used: set[FolderStage] = set()
        for one in alone:
            if one.stage != "frag":
                continue
            first = [w for w in waiting if self._fits(w, one)]
            fitting = first or [t for t in taken if self._fits(t, one)]
            fitting = [f for f in fitting if f.file == one.file] or fitting
            if len(fitting) == 1:
                used.add(fitting[0])
                self.pipelines.append(Paired(one.label, [fitting[0], one], BY_INTERFACE))
                continue
            names = [other.label for other in fitting]
            more = ["..."] * (len(names) > _LISTED)
            why = f"{len(names)} stages fit: {', '.join(names[:_LISTED] + more)}"
            self.left.append((one.label, why if names else "no stage before it fits"))
        lonely = [one for one in alone if one.stage != "frag" and one not in used]
        self.left += [(one.label, "no fragment shader fits") for one in lonely]

    def _fits(self, first: FolderStage, second: FolderStage) -> bool:
        same = os.path.dirname(first.file) == os.path.dirname(second.file)
        return same and not self._trouble([first, second])

    def _trouble(self, stages: Sequence[FolderStage]) -> str:
        """The first error between stages in pipeline order; "" if they fit."""
        try:
            checked = [self._checked(one) for one in stages]
            for first, second in zip(checked, checked[1:]):
                errors = InterfaceRules(first, second, True).errors()
                errors += [f for f in builtin_rules.findings(first, second) if not f.warning]
                if errors:
                    return errors[0].message
        except SpvlinkError as error:
            return str(error)
        return ""

    def _checked(self, one: FolderStage) -> CheckedStage:
        """The stage with the defaults of its specialization constants. Raises SpvlinkError."""
        checked = self.recent.pop(one, None)
        if checked is None:
            data = self._read(one.file)
            module = decode(data)
            module.entry = select_entry(module, one.entry, one.stage)
            spec_constants.specialize(module, {}, defaults=True)
            source = Source(data, one.file, one.entry, one.stage)
            checked = CheckedStage(one.stage, module, source)
        self.recent[one] = checked
        if len(self.recent) > _REMEMBERED:
            self.recent.popitem(last=False)
        return checked

    def _leave(self, group: Iterable[FolderStage], why: str) -> None:
        self.left += [(one.label, why) for one in group]

    def _read(self, file: str) -> bytes:
        return read_module(os.path.join(self.folder, file))


def without_stage(name: str) -> str:
    """A name without the last word that names a stage: ``water_vs`` is ``water``, ``mainPS``
    ``main``; a name without one stays."""
    parts = _PARTS.split(name)
    for at in range(len(parts) - 1, -1, -2):
        if parts[at].lower() in _WORDS:
            before = max(at - 1, 0)  # the separator goes with the word
            return "".join(parts[:before] + parts[at + 1 :]).strip("._-")
    return name
