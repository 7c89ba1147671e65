"""The pipelines and modules of an archive."""

from __future__ import annotations

from spvlink.archive import documents, foz, records, varint
from spvlink.archive.documents import Object
from spvlink.archive.forms import PipelineForms
from spvlink.archive.hashes import link_hash
from spvlink.archive.layouts import Layouts
from spvlink.archive.records import ArchivedPipeline
from spvlink.errors import BadArchive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator, Sequence
    from typing import Final

_MAGIC: Final = b"\x03\x02\x23\x07"  # of SPIR-V, little endian
# What an entry is called in a reason; a layout is the pipeline's own, and so is what it refers to.
_WORDS: Final = {
    foz.SET_LAYOUT: "a set layout of it",
    foz.PIPELINE_LAYOUT: "its pipeline layout",
    foz.RENDER_PASS: "its render pass",
}
_OTHERS: Final = (foz.COMPUTE, foz.RAYTRACING)  # tags of pipelines that are not linked


class Archive:
    """One or several `.foz` files as one; of entries with the same key the first wins.

    ``warnings`` are lines for people: what was damaged and where (at most 101, the last one says
    how many more there were). Raises ``BadArchive`` if a file is none, ``Usage`` if it cannot be
    read. Memory: 16 bytes an entry; everything else is read when it is asked for. Not for several
    threads at once, and not to be pickled: a worker gets the bytes, or opens it again.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.union = foz.Union(paths)
        self.warnings = self.union.warnings
        self._layouts = Layouts(self._object)
        self.forms = PipelineForms(self._layouts)
        self._applications = {hash: self._application(hash) for hash in self._of_applications()}

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self.union.close()

    def count(self) -> int:
        """How many graphics pipelines there are."""
        return self.union.count(foz.GRAPHICS)

    def keys(self) -> Iterator[str]:
        """The keys of all graphics pipelines, in the order of ``pipelines``."""
        for hash, _ in self.union.entries(foz.GRAPHICS):
            yield f"{hash:016x}"

    def pipelines(self) -> Iterator[ArchivedPipeline]:
        """All graphics pipelines by ascending key, those with a reason too, one at a time. Never
        raises for damage of one."""
        for hash, entry in self.union.entries(foz.GRAPHICS):
            yield self._pipeline(hash, entry)

    def pipeline(self, key: str) -> ArchivedPipeline:
        """One of them. Raises KeyError if there is none of that key."""
        entry = self.union.find(foz.GRAPHICS, int(key, 16))
        if entry is None:
            raise KeyError(key)
        return self._pipeline(int(key, 16), entry)

    def others(self) -> Iterator[tuple[str, list[str]]]:
        """(key, keys of its modules) of compute and ray-tracing pipelines."""
        for key, modules in self.module_users(_OTHERS):
            if modules is not None:
                yield key, modules

    def module_users(
        self, tags: tuple[int, ...] = (foz.GRAPHICS, *_OTHERS)
    ) -> Iterator[tuple[str, list[str] | None]]:
        """(key, keys of its modules) of all pipelines of some kinds; None for the modules of one
        that cannot be read."""
        for tag in tags:
            for hash, entry in self.union.entries(tag):
                key = f"{hash:016x}"
                try:
                    yield key, modules_in(self.union.payload(entry), key)
                except BadArchive:
                    yield key, None

    def applications(self) -> list[int]:
        """Keys of all applications."""
        return list(self._applications)

    def module(self, key: str) -> bytes:
        """The SPIR-V of a module, little endian. Raises ``BadArchive`` with what is wrong: missing,
        damaged, too large. That it starts with the magic number is sure, nothing else."""
        entry = self.union.find(foz.MODULE, int(key, 16))
        if entry is None:
            raise BadArchive("a shader module is not in the archive")
        try:
            return _code(self.union.payload(entry), f"{int(key, 16):016x}")
        except BadArchive as error:
            raise BadArchive(f"a shader module cannot be used: {error.message}") from None

    def applications_of(self, hash: int) -> list[int]:
        """Keys of the applications that are recorded as users of a graphics pipeline."""
        union = self.union
        return [
            application
            for application in self._applications
            if union.has(foz.LINK, link_hash(application, foz.GRAPHICS, hash))
        ]

    def _pipeline(self, hash: int, entry: foz.Entry) -> ArchivedPipeline:
        key = f"{hash:016x}"
        try:
            pipeline = self.forms.read(self.union.payload(entry), key)
        except BadArchive as error:
            pipeline = ArchivedPipeline(key)
            pipeline.reason = f"its entry cannot be used: {error.message}"
            return pipeline
        if pipeline.reason is None:
            if not all(self.union.has(foz.MODULE, int(s.module, 16)) for s in pipeline.stages):
                pipeline.reason = "a shader module is not in the archive"
            self._ask_applications(pipeline, hash)
        return pipeline

    def _ask_applications(self, pipeline: ArchivedPipeline, hash: int) -> None:
        users = self.applications_of(hash) or list(self._applications)
        known = [self._applications[user] for user in users]
        versions = [minor for minor, _ in known if minor is not None]
        if versions:
            pipeline.target_env = f"vulkan1.{min(min(versions), 4)}"
        pipeline.robust |= any(robust for _, robust in known)

    def _of_applications(self) -> Iterator[int]:
        return self.union.hashes(foz.APPLICATION)

    def _application(self, hash: int) -> tuple[int | None, bool]:
        """(minor version of Vulkan 1, None if that is not known; whether buffer accesses are
        robust)."""
        entry = self.union.find(foz.APPLICATION, hash)
        assert entry is not None
        try:
            document = documents.parse(documents.split(self.union.payload(entry))[0])
            info = documents.as_object(document.get("applicationInfo", {}), "applicationInfo")
            features = document.get("physicalDeviceFeatures", {})
            robust = documents.as_object(features, "features").get("robustBufferAccess", 0)
            version = documents.number(info, "apiVersion")
        except BadArchive:
            return None, False
        if version >> 22 > 1:  # another variant or another major version
            return None, bool(robust)
        return version >> 12 & 0x3FF if version >> 22 else 0, bool(robust)

    def _object(self, tag: int, hash: int, names: tuple[str, ...]) -> Object:
        """The object of an entry. Raises BadArchive."""
        entry = self.union.find(tag, hash)
        if entry is None:
            raise BadArchive(f"{_WORDS[tag]} is not in the archive")
        try:
            document = documents.parse(documents.split(self.union.payload(entry))[0])
            for name in names:
                objects = documents.as_object(document.get(name, {}), name)
                if f"{hash:016x}" in objects:
                    return documents.as_object(objects[f"{hash:016x}"], name)
        except BadArchive as error:
            raise BadArchive(f"{_WORDS[tag]} cannot be used: {error.message}") from None
        raise BadArchive(f"{_WORDS[tag]} cannot be used: its entry does not hold it")


def modules_in(payload: bytes, key: str) -> list[str]:
    """Keys of the modules that the payload of a pipeline names. Raises BadArchive."""
    for pipelines in documents.parse(documents.split(payload)[0]).values():
        one = pipelines.get(key) if isinstance(pipelines, dict) else None
        if isinstance(one, dict):
            return records.modules_of(one)
    raise BadArchive("its entry does not hold it")


def code_of(packed: bytes) -> bytes:
    """The words of a module, of its header and what is stored. Raises BadArchive."""
    entry, stored = foz.Entry(0, 0, packed[: foz.HEADER.size]), packed[foz.HEADER.size :]
    return _code(foz.unpacked(entry, stored), packed[24:40].decode())


def _code(payload: bytes, key: str) -> bytes:
    """The words of the payload of a module. Raises BadArchive."""
    text, binary = documents.split(payload)
    modules = documents.as_object(documents.parse(text).get("shaderModules"), "shaderModules")
    module = documents.as_object(documents.member(modules, key), "module")
    if documents.number(module, "flags"):
        raise BadArchive("it has flags that spvlink does not know")
    size = documents.number(module, "codeSize", 64)
    if size % 4 or size > foz.LIMIT:
        raise BadArchive(f"it cannot be of {size} bytes")
    if "varintOffset" in module and "varintSize" in module:
        begin = documents.number(module, "varintOffset", 64)
        end = begin + documents.number(module, "varintSize", 64)
        if end > len(binary):
            raise BadArchive("its words are not all there")
        try:
            code = varint.decode(binary[begin:end], size // 4)
        except ValueError as error:
            raise BadArchive(str(error)) from None
    else:
        code = documents.base64(documents.member(module, "code"), "code")
        if len(code) != size:
            raise BadArchive("it is not as long as it says")
    if code[:4] != _MAGIC:
        raise BadArchive("it is not SPIR-V")
    return code
