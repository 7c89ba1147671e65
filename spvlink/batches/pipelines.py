"""What a pipeline of a batch is.

There may be hundreds of thousands, so a source makes each when it is asked for and keeps none;
modules are named by a digest of their content and read when a job needs them.
"""

from __future__ import annotations

import json
from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from spvlink.digest_table import DigestTable
from spvlink.state_use import DeclaredUse, unread_attributes, used

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spvlink.state import Given, PipelineState

_REMEMBERED: Final = 1 << 14  # parts of states
DIGEST: Final = 20  # bytes of the digest of a module


def digest_of(data: bytes) -> str:
    """The name of these bytes."""
    return blake2b(data, digest_size=DIGEST).hexdigest()


class Layout:
    """A checked pipeline layout as ``--layout`` has it, and the digest by which it is compared."""

    __slots__ = ("data", "digest")

    def __init__(self, data: dict[str, object]) -> None:
        self.data = data
        self.digest = digest_of(json.dumps(data, sort_keys=True).encode())


class Shader:
    """One stage of a pipeline.

    ``module``: the digest of its bytes. ``entry``: the entry point, None for the only one.
    ``stage``: "vert" ... "frag" where the source knows it, else "". ``spec``: (SpecId, value) as
    ``Options.spec`` takes values. ``label``: what to call it in messages.
    """

    __slots__ = ("entry", "label", "module", "spec", "stage")

    def __init__(
        self,
        module: str,
        label: str,
        entry: str | None = None,
        stage: str = "",
        spec: tuple[tuple[int, str | bytes], ...] = (),
    ) -> None:
        self.module = module
        self.label = label
        self.entry = entry
        self.stage = stage
        self.spec = spec


class DeclaredUses:
    """What modules ask for of the state, by their digests. Most modules ask for the same as many
    others."""

    def __init__(self) -> None:
        self._names = DigestTable(DIGEST)
        self._numbers = array("I")  # of each module: what it asks for
        self._uses: list[DeclaredUse] = []
        self._use_numbers: dict[object, int] = {}
        self._parts: dict[tuple[object, ...], tuple[PipelineState | None, tuple[int, ...]]] = {}

    def take(
        self, pipeline: BatchPipeline, state: PipelineState, module: Callable[[str], bytes]
    ) -> None:
        """Give a pipeline the part of its state that its link depends on. ``module`` reads one by
        its digest."""
        pipeline.formats = state.formats
        if not state:
            return
        numbers = [self._number(shader.module, module) for shader in pipeline.shaders]
        key = state, *numbers
        known = self._parts.get(key)
        if known is None:
            if len(self._parts) >= _REMEMBERED:
                self._parts.clear()
            uses = [self._uses[number] for number in numbers]
            known = used(state, uses) or None, unread_attributes(state, uses)
            self._parts[key] = known
        pipeline.state, pipeline.unread_attributes = known

    def _number(self, name: str, module: Callable[[str], bytes]) -> int:
        """Of what a module asks for."""
        digest = bytes.fromhex(name)
        at = self._names.find(digest)
        if at is not None:
            return self._numbers[at]
        use = DeclaredUse(module(name))
        number = self._use_numbers.setdefault(use.known_fields(), len(self._uses))
        if number == len(self._uses):
            self._uses.append(use)
        self._names.add(digest)
        self._numbers.append(number)
        return number


class BatchPipeline:
    """What linking one pipeline depends on, the options of the batch aside.

    ``shaders``: those to be linked, in the source's order. ``complete``, ``patch_points``,
    ``spec_defaults`` and ``state`` as in ``Options``. ``target_env``: the lowest environment to
    validate for, "" for that of the modules. ``unread_attributes``: Locations that the vertex input
    gives and no shader has, and ``formats``, (Location, format) as it gives them, for people.
    """

    __slots__ = (
        "complete", "formats", "id", "layout", "patch_points", "shaders", "spec_defaults", "state",
        "target_env", "unread_attributes",
    )  # fmt: skip

    def __init__(self, id: str, shaders: list[Shader]) -> None:
        self.id = id
        self.shaders = shaders
        self.layout: Layout | None = None
        self.complete = False
        self.patch_points: int | None = None
        self.spec_defaults = False
        self.state: PipelineState | None = None
        self.target_env = ""
        self.unread_attributes: tuple[int, ...] = ()
        self.formats: tuple[Given, ...] = ()

    @property
    def labels(self) -> list[str]:
        """What to call its shaders."""
        return [shader.label for shader in self.shaders]


class IneligiblePipeline:
    """A pipeline that is no job: it goes out as it came, for this reason. ``bad``: something is
    wrong with the input. ``modules``: those that it has, by the names that ``Source.digest`` takes,
    as far as they are known. ``unknown``: what it has that spvlink does not know, for people."""

    __slots__ = ("bad", "id", "modules", "reason", "unknown")

    def __init__(
        self,
        id: str,
        reason: str,
        bad: bool = False,
        modules: Sequence[str] = (),
        unknown: Sequence[str] = (),
    ) -> None:
        self.id = id
        self.reason = reason
        self.bad = bad
        self.modules = modules
        self.unknown = unknown
