"""One job: what a link needs, and the key that says when two are the same.

The key covers everything that the result depends on: modules, entry points, specialization, layout,
options, spvlink itself and spirv-val. So a result that lies on the disk under its key is right, and
pipelines that differ in anything else are one job: sources take of the state what the modules
ask for (``state_use``).
"""

from __future__ import annotations

import copy
import json
import os
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from spvlink import spawn, validate
from spvlink.batches.pipelines import Layout
from spvlink.errors import Usage
from spvlink.options import Options, check_promises
from spvlink.state import state_of

if TYPE_CHECKING:
    from spvlink.batches.pipelines import BatchPipeline

FORMAT: Final = 1  # of keys and records
_REMEMBERED: Final = 1 << 12  # options of pipelines, and stages
_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Settings that no result depends on, and those that pipelines have for themselves.
_NOT_IN_KEY: Final = frozenset(("observer", "strict", "layout", "spec", "state"))


@cache
def identity(validating: bool) -> str:
    """Which linker this is, the same wherever it is installed: a digest of the package's own files,
    and what spirv-val says it is if it is asked."""
    digest = blake2b(digest_size=16)
    paths = []
    for folder, folders, names in os.walk(_PACKAGE):
        folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
        paths += [os.path.join(folder, n) for n in names if n.endswith((".py", ".so", ".pyd"))]
    for path in sorted(paths):
        with open(path, "rb") as file:
            data = file.read()
        digest.update(f"{os.path.relpath(path, _PACKAGE)} {len(data)}\n".encode() + data)
    if validating:
        try:
            digest.update(spawn.run_all([((validate.PROGRAM, "--version"), b"")])[0][1])
        except FileNotFoundError:
            raise validate.missing() from None
    return digest.hexdigest()


class JobStage:
    """A shader of a job; see ``pipelines.Shader``."""

    __slots__ = ("entry", "spec", "stage")

    def __init__(
        self, entry: str | None, stage: str, spec: tuple[tuple[int, str | bytes], ...]
    ) -> None:
        self.entry = entry
        self.stage = stage
        self.spec = spec


class Job:
    """All of a link but the bytes of its modules, ready to travel to another process. ``modules``:
    digests, one a stage. ``verify``: the result is proved, and with ``execute`` run by the
    interpreter if there is no proof. ``place``: a digest like the key, but the same for every
    linker: shards are dealt out by it."""

    __slots__ = (
        "execute", "identity", "key", "modules", "options", "place", "stages", "target_env",
        "verify",
    )  # fmt: skip

    def __init__(self, pipeline: BatchPipeline, options: Options, identity: str) -> None:
        self.identity = identity
        self.modules = [shader.module for shader in pipeline.shaders]
        self.stages = [JobStage(s.entry, s.stage, s.spec) for s in pipeline.shaders]
        self.options = options
        self.target_env = pipeline.target_env
        self.verify = self.execute = False
        self.key = self.place = b""

    @property
    def parts(self) -> list[Job]:
        """As of a family, which has several."""
        return [self]


class SharedOptions:
    """What jobs have alike: options, and the start of what their keys are made of."""

    __slots__ = ("options", "start")

    def __init__(self, options: Options, start: str) -> None:
        self.options = options
        self.start = start


class JobSettings:
    """The options of a batch, ready to make jobs of its pipelines. ``verify``: which part of the
    jobs is proved, from 0 to 1; which ones their keys decide, so a run that goes on takes the
    same."""

    def __init__(self, options: Options, verify: float = 0.0, execute: bool = False) -> None:
        if options.half is not None:
            raise Usage("half: only a link takes it, not a batch")
        check_promises(options)
        self.options = options
        self.verify = verify
        self.execute = execute
        self.layout = Layout(options.layout).digest if options.layout is not None else None
        self.identity = identity(options.validate)
        self._shared: dict[tuple[object, ...], SharedOptions] = {}
        self._stages: dict[tuple[object, ...], str] = {}

    def basis(self) -> str:
        """What the result of each job depends on beside its pipeline, as JSON."""
        names = sorted(set(Options.__slots__) - _NOT_IN_KEY)
        options = self.options
        return json.dumps(
            [
                FORMAT,
                self.identity,
                self.layout,
                [[name, _plain(getattr(options, name))] for name in names],
                state_of(options.state).known_fields(),
                [[*key, _plain(value)] for key, value in sorted(options.spec.items())],
                self.verify,
                self.execute,
            ]
        )

    def job(self, pipeline: BatchPipeline) -> Job:
        shared = self._options(pipeline)
        job = Job(pipeline, shared.options, self.identity)
        stages = [
            f'["{digest}", {self._stage(stage)}]' for digest, stage in zip(job.modules, job.stages)
        ]
        content = f"{shared.start} [{', '.join(stages)}]".encode()
        job.place = blake2b(content, digest_size=32).digest()
        linker = f"{FORMAT} {self.identity} ".encode()
        job.key = blake2b(linker + content, digest_size=32).digest()
        job.verify = int.from_bytes(job.key[:8], "big") < self.verify * 2**64
        if job.verify:
            job.execute = self.execute
            job.key = blake2b(job.key + bytes([job.execute]), digest_size=32).digest()
        return job

    def _stage(self, stage: JobStage) -> str:
        """What a key has of a stage but for its module. Few are not alike."""
        key = stage.entry, stage.stage, stage.spec
        known = self._stages.get(key)
        if known is None:
            spec = [[number, _plain(value)] for number, value in stage.spec]
            known = f"{json.dumps(stage.entry)}, {json.dumps(stage.stage)}, {json.dumps(spec)}"
            if len(self._stages) >= _REMEMBERED:
                self._stages.clear()
            self._stages[key] = known
        return known

    def _options(self, pipeline: BatchPipeline) -> SharedOptions:
        """Those of a pipeline; many have the same."""
        layout = pipeline.layout.digest if pipeline.layout is not None else self.layout
        key = (
            pipeline.target_env, layout, pipeline.complete, pipeline.spec_defaults,
            pipeline.patch_points, pipeline.state,
        )  # fmt: skip
        known = self._shared.get(key)
        if known is not None:
            return known
        options = copy.copy(self.options)
        options.observer = None
        options.complete |= pipeline.complete
        options.spec_defaults |= pipeline.spec_defaults
        if pipeline.patch_points is not None:
            options.patch_points = pipeline.patch_points
        if pipeline.state:
            options.state = pipeline.state
        if pipeline.layout is not None:
            options.layout = pipeline.layout.data
        names = sorted(set(Options.__slots__) - _NOT_IN_KEY)
        facts = [
            pipeline.target_env,
            layout,
            [[name, _plain(getattr(options, name))] for name in names],
            state_of(options.state).known_fields(),
            [[*key, _plain(value)] for key, value in sorted(options.spec.items())],
        ]
        if len(self._shared) >= _REMEMBERED:
            self._shared.clear()
        self._shared[key] = SharedOptions(options, json.dumps(facts))
        return self._shared[key]


def _plain(value: object) -> object:
    """A setting as JSON has it, equal ones alike."""
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    assert value is None or isinstance(value, (str, int, tuple)), value
    return value
