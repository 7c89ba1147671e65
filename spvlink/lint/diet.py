"""What no pipeline of a set reads: vertex attributes and their components, bytes of uniform buffers
and of push constants. ``spvlink check --diet``.

Attributes are told apart by Location, buffers by set and binding, over the whole set: one is unread
if no pipeline reads it. Each pipeline is linked, and read by what is left then; what the modules
read as they came is said, too. Of a pipeline that cannot be linked that is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spvlink.batches.jobs import JobSettings
from spvlink.batches.work import options_of, sources_of
from spvlink.binary.decode import decode
from spvlink.driver import link
from spvlink.entry import select_entry
from spvlink.errors import SpvlinkError
from spvlink.link.check.stage import CheckedStage
from spvlink.lint.api import load_all
from spvlink.lint.attribute_use import (
    AttributeUse,
    attributes_of,
    count_of,
    format_of,
    letters,
    name_of,
    narrower,
)
from spvlink.lint.buffer_bytes import BufferUse, buffers_of, runs
from spvlink.options import Options
from spvlink.pipeline import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spvlink.batches.ends import PipelineSource
    from spvlink.batches.pipelines import BatchPipeline
    from spvlink.lint.buffer_bytes import Buffer
    from spvlink.state import Given

_NAMED: Final = 3  # pipelines, or members, that a line names


class Reads:
    """What some modules declare and read."""

    __slots__ = ("attributes", "buffers")

    def __init__(self, stages: Iterable[CheckedStage] = ()) -> None:
        self.attributes: dict[int, AttributeUse] = {}
        self.buffers: dict[Buffer, BufferUse] = {}
        for stage in stages:
            if stage.name == "vert":
                self.attributes = attributes_of(stage)
            for buffer, use in buffers_of(stage.module).items():
                self.buffers.setdefault(buffer, BufferUse()).add(use)

    def add(self, other: Reads) -> None:
        """What other modules declare and read: together."""
        for location, use in other.attributes.items():
            self.attributes.setdefault(location, AttributeUse()).add(use)
        for buffer, bytes_used in other.buffers.items():
            self.buffers.setdefault(buffer, BufferUse()).add(bytes_used)


class Diet:
    """Gathers the pipelines of a set; then it can be asked."""

    def __init__(self) -> None:
        self.before = Reads()  # as the modules came
        self.after = Reads()  # as they are linked
        self.pipelines = 0  # that were looked at
        self.skipped = 0  # that could not be
        self.attributes_in: dict[int, list[str]] = {}  # by Location: pipelines that declare it
        self.buffers_in: dict[Buffer, list[str]] = {}
        # by Location: formats that the vertex input gives, and how many pipelines do
        self.formats: dict[int, dict[int | str, int]] = {}
        self._settings = JobSettings(_options())
        self._known: dict[bytes, Reads | None] = {}

    def add(self, pipeline: BatchPipeline, source: PipelineSource) -> None:
        """A pipeline of a set. Those that differ in state which nobody asks for are linked once."""
        job = self._settings.job(pipeline)
        if job.key not in self._known:
            try:
                sources = sources_of(job, [source.module(name) for name in job.modules])
                self._known[job.key] = self._look(sources, options_of(job, sources))
            except Exception:  # also a defect of ours costs this pipeline only: it is counted
                self._known[job.key] = None
        self._note(self._known[job.key], pipeline.id, pipeline.formats)

    def add_files(self, sources: Sequence[Source], options: Options, complete: bool) -> None:
        """The one pipeline of stage files."""
        own = _options()
        own.spec, own.target_env, own.complete = options.spec, options.target_env, complete
        self._note(self._look(sources, own), "", ())

    def skip(self) -> None:
        """A pipeline that cannot be looked at: who knows what it reads."""
        self.skipped += 1

    def _look(self, sources: Sequence[Source], options: Options) -> Reads:
        """Raises SpvlinkError if it cannot be read."""
        came = Reads(load_all(sources, options.spec))
        self.before.add(came)
        self.after.add(_after(sources, options, came))
        return came

    def _note(self, declared: Reads | None, name: str, formats: Sequence[Given]) -> None:
        if declared is None:
            self.skip()
            return
        self.pipelines += 1
        for location in declared.attributes:
            self.attributes_in.setdefault(location, []).append(name)
        for buffer in declared.buffers:
            self.buffers_in.setdefault(buffer, []).append(name)
        for location, format in formats:
            counts = self.formats.setdefault(location, {})
            counts[format] = counts.get(format, 0) + 1
            if location not in declared.attributes:
                self.attributes_in.setdefault(location, []).append(name)

    # -- what was found --------------------------------------------------------------------------

    def to_json(self) -> dict[str, object]:
        return {
            "pipelines": self.pipelines,
            "skipped": self.skipped,
            "attributes": [self._attribute(at) for at in self._attributes()],
            "buffers": [self._buffer(key) for key in self._buffers()],
        }

    def _attributes(self) -> Iterator[int]:
        """Locations of which not all is read."""
        for location in sorted(self.attributes_in):
            declared, read = self._read(location)
            given = self.formats.get(location, {})
            if declared & ~read or any(narrower(f, read) is not None for f in given):
                yield location

    def _read(self, location: int) -> tuple[int, int]:
        """The components that shaders declare, and those that are read after linking."""
        declared = self.before.attributes.get(location)
        after = self.after.attributes.get(location)
        return (
            declared.declared if declared is not None else 0,
            after.read if after is not None else 0,
        )

    def _attribute(self, location: int) -> dict[str, object]:
        declared, read = self._read(location)
        use = self.before.attributes.get(location) or AttributeUse()
        given = self.formats.get(location, {})
        enough: list[dict[str, object]] = [
            {"given": name_of(one), "enough": narrower(one, read), "pipelines": count}
            for one, count in sorted(given.items(), key=lambda item: name_of(item[0]))
        ]
        if not given:
            made = [format_of(base, count_of(read)) if read else "" for base in use.bases]
            enough = [{"given": None, "enough": one, "pipelines": 0} for one in made]
        return {
            "location": location,
            "names": list(use.names),
            "types": list(use.bases),
            "declared": letters(declared),
            "read": letters(read),
            "read_before": letters(use.read),
            "formats": enough,
            "pipelines": self.attributes_in[location],
        }

    def _buffers(self) -> Iterator[Buffer]:
        """Buffers of which not all is read, push constants first."""
        for buffer in sorted(self.buffers_in, key=lambda key: key or (-1, -1)):
            if self.before.buffers[buffer].declared & ~self._bytes(buffer):
                yield buffer

    def _bytes(self, buffer: Buffer) -> int:
        """The bytes that are read after linking."""
        use = self.after.buffers.get(buffer)
        return use.read if use is not None else 0

    def _buffer(self, buffer: Buffer) -> dict[str, object]:
        use, read = self.before.buffers[buffer], self._bytes(buffer)
        padding = ~use.declared
        left = {name: (mask & ~read).bit_count() for name, mask in use.members.items()}
        return {
            "set": None if buffer is None else buffer[0],
            "binding": None if buffer is None else buffer[1],
            "names": list(use.names),
            "bytes": use.declared.bit_count(),
            "unread": [list(run) for run in runs(use.declared & ~read, padding)],
            "unread_before": [list(run) for run in runs(use.declared & ~use.read, padding)],
            "members": [
                {"name": name, "bytes": use.members[name].bit_count(), "unread": count}
                for name, count in left.items()
                if count
            ],
            "pipelines": self.buffers_in[buffer],
        }

    def to_text(self) -> Iterator[str]:
        """Lines for people."""
        skipped = f"; {self.skipped} could not be looked at" if self.skipped else ""
        yield f"no pipeline reads, of {self.pipelines} after linking{skipped}:\n"
        attributes, buffers = list(self._attributes()), list(self._buffers())
        for location in attributes:
            yield from self._attribute_lines(location)
        for buffer in buffers:
            yield from self._buffer_lines(buffer)
        if not attributes and not buffers:
            yield "  nothing: each attribute, uniform and push constant is read\n"

    def _attribute_lines(self, location: int) -> Iterator[str]:
        declared, read = self._read(location)
        use = self.before.attributes.get(location)
        names = f" {', '.join(use.names)}" if use is not None else ", which no shader has"
        unread = letters(declared & ~read)
        part = f".{unread}" if unread and read else ""
        yield f"  attribute {location}{part}{names}{_of(self.attributes_in[location])}\n"
        if use is not None and use.read != read:
            yield f"      the modules as they came read .{letters(use.read)}\n"
        given = self.formats.get(location, {})
        for format in sorted(given, key=name_of):
            enough = narrower(format, read)
            if enough is not None:
                yield f"      {name_of(format)}: {_would_do(enough)}\n"
        for base in use.bases if use is not None and not given else ():
            yield f"      {_would_do(format_of(base, count_of(read)) if read else '')}\n"

    def _buffer_lines(self, buffer: Buffer) -> Iterator[str]:
        use, read = self.before.buffers[buffer], self._bytes(buffer)
        what = "push constants" if buffer is None else f"set {buffer[0]}, binding {buffer[1]}"
        names = f" {', '.join(use.names)}" if use.names else ""
        unread = use.declared & ~read
        size = f"{unread.bit_count()} of {use.declared.bit_count()} bytes"
        yield f"  {what}{names}: {size}{_of(self.buffers_in[buffer])}\n"
        members = []
        for name, mask in use.members.items():
            if mask & unread:
                found = runs(mask & unread, ~use.declared)
                extent = ", ".join(f"{first}-{last}" for first, last in found[:_NAMED])
                members.append(f"{name} {extent}" + (", ..." if len(found) > _NAMED else ""))
        yield from (f"      {line}\n" for line in members)
        before = (use.declared & ~use.read).bit_count()
        if before != unread.bit_count():
            yield f"      the modules as they came leave {before} bytes unread\n"


def _options() -> Options:
    options = Options()
    options.validate = False
    return options


def _after(sources: Sequence[Source], options: Options, came: Reads) -> Reads:
    """What is read after linking; ``came``: what is read before, for what cannot be linked."""
    try:
        linked = link(sources, options)
    except SpvlinkError:
        return came
    if linked.passed_through is not None:
        return came
    entries = {source.file: source.entry for source in sources}
    stages = []
    for result in linked.stages:
        module = decode(result.data)
        module.entry = select_entry(module, entries.get(result.file), result.stage)
        source = Source(result.data, result.file, entries.get(result.file), result.stage)
        stages.append(CheckedStage(result.stage, module, source))
    return Reads(stages)


def _would_do(format: str) -> str:
    return f"{format} would do" if format else "leave it out"


def _of(pipelines: list[str]) -> str:
    """The pipelines that declare it."""
    names = [name for name in pipelines if name]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{more})"
