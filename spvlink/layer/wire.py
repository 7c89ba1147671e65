"""What the layer and the linker process say to each other, as bytes.

``c/facts.c`` writes requests and ``c/answer.c`` reads answers; the layout stands there. All numbers
are 32-bit words of the machine, which is little endian.
"""

from __future__ import annotations

import struct
from hashlib import blake2b

from spvlink.gpus import ANY, GPUS, NUMBERS
from spvlink.state import LINES, PATCHES, POINTS, TRIANGLES, PipelineState

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    from spvlink.state import Attribute

FORMAT: Final = 7
REQUEST: Final = 0x524C5053
MAGIC: Final = b"SPVLINK1"
LIMIT: Final = 64 << 20  # bytes of a request or an answer
# What became of a pipeline; "not now" is not kept. "Frozen": half of pipelines, linked against the
# interface whose name stands in place of the reason.
LINKED, PASSED_THROUGH, NOT_NOW, NOTHING_TO_GAIN, FROZEN = 1, 2, 3, 4, 5
_CLOSED, _OPEN, _HALF = 0, 1, 2  # what may be joined to the stages
_DIGEST: Final = 32
_SEAL: Final = 16
_BINDING: Final = ("binding", "descriptorType", "descriptorCount", "stageFlags")
_RANGE: Final = ("stageFlags", "offset", "size")
_MAPPING: Final = ("stageFlags", "descriptorSet", "firstBinding", "bindingCount")
_ROBUST: Final = ("stageFlags", "uniformBuffers")
_UNKNOWN: Final = 0xFFFFFFFF  # the source of a mapping, or a number of the state
_TOPOLOGIES: Final = ("", POINTS, LINES, TRIANGLES, PATCHES)


class ProtocolError(Exception):
    """A request that no layer of this format sends."""


class RequestStage:
    """One stage of a request. ``spec``: (constant id, its bytes), as the application gave it."""

    __slots__ = ("bit", "code", "digest", "entry", "size", "spec")

    def __init__(self) -> None:
        self.bit = 0  # VkShaderStageFlagBits
        self.entry = ""
        self.spec: list[tuple[int, bytes]] = []
        self.size = 0
        self.digest = b""
        self.code = b""


class Request:
    """One pipeline, or half of one. ``layout`` is in the form of ``--layout``, None if it is not
    known. ``gpu``: a row of ``spvlink.gpus``. ``state``: as much of it as the modules ask for
    (``state_use``)."""

    __slots__ = ("complete", "exact", "gpu", "half", "identity", "key", "layout", "stages", "state")

    def __init__(self) -> None:
        self.key = b""
        self.identity = b""
        self.exact = False
        self.gpu = ANY
        self.complete = False  # no stage follows these
        self.half = False  # a library of the stages before rasterization, or of the fragment shader
        self.stages: list[RequestStage] = []
        self.layout: dict[str, object] | None = None
        self.state = PipelineState()


class _RequestReader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def bytes(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ProtocolError("it ends early")
        self.at += size
        return self.data[self.at - size : self.at]

    def word(self) -> int:
        return int.from_bytes(self.bytes(4), "little")

    def words(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.bytes(4 * count))

    def count(self, each: int) -> int:
        """A number of things of ``each`` bytes or more."""
        count = self.word()
        if count * each > len(self.data) - self.at:
            raise ProtocolError("a count that cannot be")
        return count


def request_size(start: bytes) -> int:
    """Bytes of the whole request, from its first 8. Raises ProtocolError."""
    magic, size = struct.unpack("<2I", start[:8])
    if magic != REQUEST or size > LIMIT:
        raise ProtocolError("not a request")
    return int(size) + 8


def read_key(data: bytes) -> tuple[bytes, bytes]:
    """The key of a whole request, and the identity of the linker that it is for. Raises
    ProtocolError."""
    reader = _RequestReader(data)
    reader.words(2)
    facts = reader.bytes(reader.word())
    return blake2b(facts, digest_size=_DIGEST).digest(), facts[4:20]


def read_request(data: bytes) -> Request:
    """Raises ProtocolError unless every byte fits."""
    outer = _RequestReader(data)
    outer.words(2)
    facts = outer.bytes(outer.word())
    reader = _RequestReader(facts)
    if reader.word() != FORMAT:
        raise ProtocolError("another format: spvlink layer install makes them fit")
    request = Request()
    request.key = blake2b(facts, digest_size=_DIGEST).digest()
    request.identity = reader.bytes(16)
    request.exact = reader.word() != 0
    number = reader.word()
    if number >= len(GPUS):
        raise ProtocolError("a GPU that is not known")
    request.gpu = list(GPUS)[number]
    ends = reader.word()
    request.complete, request.half = ends == _CLOSED, ends == _HALF
    request.stages = [_read_stage(reader) for _ in range(reader.count(52))]
    layout = _read_layout(reader) if reader.word() else {}
    layout.update(_read_descriptors(reader))
    request.layout = layout or None
    request.state = _read_state(reader)
    for stage in request.stages:
        stage.code = outer.bytes(stage.size)
        if blake2b(stage.code, digest_size=_DIGEST).digest() != stage.digest:
            raise ProtocolError("a module that is not the one it says")
    if reader.at != len(facts) or outer.at != len(data):
        raise ProtocolError("more than there should be")
    return request


def write_request(request: Request) -> bytes:
    """What the layer sends for this pipeline: ``read_request`` the other way round, byte for byte
    (``c/facts.c``). ``key``, and the sizes and digests of modules, are made here."""
    ends = _HALF if request.half else _CLOSED if request.complete else _OPEN
    facts = [struct.pack("<I16s4I", FORMAT, request.identity, request.exact, NUMBERS[request.gpu],
                         ends, len(request.stages))]  # fmt: skip
    for stage in request.stages:
        entry = stage.entry.encode("utf-8", "surrogateescape")
        facts.append(struct.pack("<2I", stage.bit, len(entry)) + entry + bytes(-len(entry) % 4))
        spec = [(number, value) for number, value in stage.spec if len(value) <= 8]
        facts.append(struct.pack("<I", len(spec)))
        facts += [struct.pack("<2I8s", number, len(value), value) for number, value in spec]
        facts.append(struct.pack("<I", len(stage.code)))
        facts.append(blake2b(stage.code, digest_size=_DIGEST).digest())
    layout = request.layout or {}
    facts.append(struct.pack("<I", "setLayouts" in layout))
    if "setLayouts" in layout:
        facts.append(_write_layout(layout))
    facts.append(_write_descriptors(layout))
    facts.append(_write_state(request.state))
    head = b"".join(facts)
    body = b"".join((struct.pack("<I", len(head)), head, *(s.code for s in request.stages)))
    return struct.pack("<2I", REQUEST, len(body)) + body


def _write_layout(layout: dict[str, object]) -> bytes:
    """A layout in the form that ``_read_layout`` gives."""
    sets, ranges = layout["setLayouts"], layout["pushConstantRanges"]
    assert isinstance(sets, list) and isinstance(ranges, list)
    words = [len(sets)]
    for one in sets:
        words += [one["set"], len(one["bindings"])]
        for binding in one["bindings"]:
            words += [binding[name] for name in _BINDING]
    words.append(len(ranges))
    for one in ranges:
        words += [one[name] for name in _RANGE]
    return struct.pack(f"<{len(words)}I", *words)


def _read_stage(reader: _RequestReader) -> RequestStage:
    stage = RequestStage()
    stage.bit, length = reader.words(2)
    stage.entry = reader.bytes(length).decode("utf-8", "surrogateescape")
    reader.bytes(-length % 4)
    for _ in range(reader.count(16)):
        number, size = reader.words(2)
        stage.spec.append((number, reader.bytes(8)[:size]))
    stage.size = reader.word()
    stage.digest = reader.bytes(_DIGEST)
    return stage


def _read_layout(reader: _RequestReader) -> dict[str, object]:
    sets = []
    for _ in range(reader.count(8)):
        number = reader.word()
        bindings = [dict(zip(_BINDING, reader.words(4))) for _ in range(reader.count(16))]
        sets.append({"set": number, "bindings": bindings})
    ranges = [dict(zip(_RANGE, reader.words(3))) for _ in range(reader.count(12))]
    return {"setLayouts": sets, "pushConstantRanges": ranges}


def _read_descriptors(reader: _RequestReader) -> dict[str, object]:
    """What a layout says of where descriptors come from (``c/descriptors.c``)."""
    heap = reader.word() != 0
    mappings: list[object] = []
    for _ in range(reader.count(24)):
        one: dict[str, object] = dict(zip(_MAPPING, reader.words(4)))
        source = reader.word()
        data = list(reader.words(reader.count(4)))
        if source != _UNKNOWN:
            one.update({"source": source, "sourceData": data})
        mappings.append(one)
    robust = [dict(zip(_ROBUST, reader.words(2))) for _ in range(reader.count(8))]
    descriptors: dict[str, object] = {}
    if heap or mappings:
        descriptors = {"descriptorHeap": heap, "mappings": mappings}
    if robust:
        descriptors["robustness"] = robust
    return descriptors


def _write_descriptors(layout: dict[str, object]) -> bytes:
    mappings, robust = layout.get("mappings", []), layout.get("robustness", [])
    assert isinstance(mappings, list) and isinstance(robust, list)
    words = [int(layout.get("descriptorHeap") is True), len(mappings)]
    for one in mappings:
        data = one.get("sourceData", [])
        words += [one[name] for name in _MAPPING]
        words += [one.get("source", _UNKNOWN), len(data), *data]
    words.append(len(robust))
    for one in robust:
        words += [one[name] for name in _ROBUST]
    return struct.pack(f"<{len(words)}I", *words)


def _read_state(reader: _RequestReader) -> PipelineState:
    """The part of a state that a link may ask for (``c/state.c``)."""
    discards, one_sample, *numbers = reader.words(8)
    view_mask, culled, polygons, topology, viewports, points = (
        None if number == _UNKNOWN else number for number in numbers
    )
    if topology is None or topology >= len(_TOPOLOGIES):
        raise ProtocolError("a topology that there is not")
    outputs: list[tuple[int, int, int]] | None = None
    count = reader.word()
    if count != _UNKNOWN:
        outputs = []
        for _ in range(count):
            location, index, mask = reader.words(3)
            outputs.append((location, index, mask))
    attributes: list[Attribute] = []
    for _ in range(reader.count(12)):
        location, mask, bits = reader.words(3)
        attributes.append((location, mask, bits))
    return PipelineState(
        outputs=tuple(outputs) if outputs is not None else None,
        discards=True if discards else None,
        one_sample=one_sample != 0,
        view_mask=view_mask,
        culled=culled,
        polygons=polygons,
        topology=_TOPOLOGIES[topology],
        viewports=viewports,
        attributes=tuple(attributes),
        patch_points=points,
    )


def _write_state(state: PipelineState) -> bytes:
    words = [int(state.discards is True), int(state.one_sample)]
    for number in (state.view_mask, state.culled, state.polygons):
        words.append(_UNKNOWN if number is None else number)
    words.append(_TOPOLOGIES.index(state.topology))
    for number in (state.viewports, state.patch_points):
        words.append(_UNKNOWN if number is None else number)
    words.append(_UNKNOWN if state.outputs is None else len(state.outputs))
    for place in state.outputs or ():
        words += place
    words.append(len(state.attributes))
    for attribute in state.attributes:
        words += attribute
    return struct.pack(f"<{len(words)}I", *words)


def write_answer(
    key: bytes,
    status: int,
    reason: str = "",
    figures: Sequence[int] = (0, 0, 0, 0),
    stages: Sequence[tuple[int, bytes]] = (),
) -> bytes:
    """An answer: components before and after, Locations before and after, (stage bit, module)
    each."""
    text = reason.encode("utf-8", "replace").replace(b"\0", b" ")[:1000]
    head = struct.pack("<8s32s7I", MAGIC, key, status, *figures, len(stages), len(text))
    pairs = b"".join(struct.pack("<2I", bit, len(code)) for bit, code in stages)
    padding = bytes(4 - len(text) % 4)
    body = b"".join((head, pairs, text, padding, *(code for _, code in stages)))
    return body + blake2b(body, digest_size=_SEAL).digest()


def is_answer(data: bytes, key: bytes) -> bool:
    """Whether these bytes are a whole answer for this key."""
    body, seal = data[:-_SEAL], data[-_SEAL:]
    return (
        len(body) >= 68
        and data[:8] == MAGIC
        and data[8:40] == key
        and blake2b(body, digest_size=_SEAL).digest() == seal
    )


def status_of(answer: bytes) -> int:
    """LINKED, PASSED_THROUGH, NOT_NOW or NOTHING_TO_GAIN, of an answer that we wrote."""
    return int.from_bytes(answer[40:44], "little")


def reason_of(answer: bytes) -> str:
    """The reason in an answer that we wrote, "" if there is none."""
    stages, size = struct.unpack_from("<2I", answer, 60)
    at = 68 + 8 * stages
    return answer[at : at + size].decode("utf-8", "replace")
