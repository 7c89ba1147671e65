"""Archives for tests, written and read in the plainest way, without spvlink's own code."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).resolve().parent / "recorded.foz"
HEADER = b"\x81FOSSILIZEDB\0\0\0"
ZERO = "0" * 16
KEY = 0x1234567890ABCDEF  # of the pipeline
VERTEX, FRAGMENT, LAYOUT, SET, PASS, APPLICATION = 0xA1, 0xA2, 0xB1, 0xB2, 0xB3, 0xC1


def entry(
    tag: int,
    hash: int,
    payload: bytes | dict[str, Any],
    format: int = 2,
    crc: int | None = None,
    size: int | None = None,
    stored_size: int | None = None,
) -> bytes:
    """One entry; what is not given is right."""
    data = payload if isinstance(payload, bytes) else compact(payload)
    stored = zlib.compress(data, 1) if format == 2 else data
    sizes = struct.pack(
        "<4I",
        len(stored) if stored_size is None else stored_size,
        format,
        zlib.crc32(stored) if crc is None else crc,
        len(data) if size is None else size,
    )
    return b"%024x%016x" % (tag, hash) + sizes + stored


def archive(*entries: bytes, version: int = 6) -> bytes:
    return HEADER + bytes([version]) + b"".join(entries)


def split(data: bytes) -> list[tuple[tuple[int, int], bytes]]:
    """((tag, hash), the whole entry) of an undamaged archive, in its order."""
    found, at = [], 16
    while at < len(data):
        end = at + 56 + int.from_bytes(data[at + 40 : at + 44], "little")
        key = int(data[at + 8 : at + 24], 16), int(data[at + 24 : at + 40], 16)
        found.append((key, data[at:end]))
        at = end
    assert at == len(data)
    return found


def payload_of(entry: bytes) -> bytes:
    return zlib.decompress(entry[56:]) if entry[44] == 2 else entry[56:]


def compact(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def varint(code: bytes) -> bytes:
    out = bytearray()
    for (word,) in struct.iter_unpack("<I", code):
        while word > 0x7F:
            out.append(word & 0x7F | 0x80)
            word >>= 7
        out.append(word)
    return bytes(out)


def fnv(words: list[int]) -> int:
    hash = 0xCBF29CE484222325
    for word in words:
        hash = hash * 0x100000001B3 % (1 << 64) ^ word
    return hash


def words(code: bytes) -> list[int]:
    return [word for (word,) in struct.iter_unpack("<I", code)]


def code(*more: int) -> bytes:
    """Something that begins like SPIR-V."""
    return struct.pack(f"<{5 + len(more)}I", 0x07230203, 0x10000, 0, 8, 0, *more)


def module(hash: int, code: bytes, **change: Any) -> bytes:
    """The payload of a shader module."""
    packed = varint(code)
    fields = {"varintOffset": 0, "varintSize": len(packed), "codeSize": len(code), "flags": 0}
    document = {"version": 6, "shaderModules": {f"{hash:016x}": fields | change}}
    return compact(document) + b"\0" + packed


def link(application: int, tag: int, hash: int) -> bytes:
    """A whole entry of that kind."""
    low = 0xFFFFFFFF
    key = fnv([application & low, application >> 32, tag, hash & low, hash >> 32])
    content = {"application": f"{application:016x}", "tag": tag, "hash": f"{hash:016x}"}
    return entry(8, key, {"version": 6, "link": content}, format=1)


def stage(bit: int, hash: int, **change: Any) -> dict[str, Any]:
    return {"flags": 0, "name": "main", "module": f"{hash:016x}", "stage": bit} | change


def graphics(**change: Any) -> dict[str, Any]:
    """A vertex and fragment pipeline; None as a change leaves the member out."""
    fields = {
        "flags": 0,
        "basePipelineHandle": ZERO,
        "basePipelineIndex": -1,
        "layout": f"{LAYOUT:016x}",
        "renderPass": f"{PASS:016x}",
        "subpass": 0,
        "rasterizationState": {"flags": 0, "rasterizerDiscardEnable": 0},
        "stages": [stage(1, VERTEX), stage(16, FRAGMENT)],
    } | change
    return {name: value for name, value in fields.items() if value is not None}


def pipeline(hash: int = KEY, **change: Any) -> bytes:
    """A whole entry of a pipeline."""
    document = {"version": 6, "graphicsPipelines": {f"{hash:016x}": graphics(**change)}}
    return entry(6, hash, document)


def surroundings(**change: Any) -> list[bytes]:
    """All that ``graphics`` refers to, an application, its links. A change replaces the object of
    the entry of that name, None leaves the entry out."""

    def one(name: str, tag: int, hash: int, section: str, fields: dict[str, Any]) -> list[bytes]:
        fields = change.get(name, fields)
        section = change.get(f"{name}_section", section)
        if fields is None:
            return []
        return [entry(tag, hash, {"version": 6, section: {f"{hash:016x}": fields}})]

    binding = {"descriptorType": 6, "descriptorCount": 1, "stageFlags": 17, "binding": 0}
    empty = {"descriptorType": 6, "descriptorCount": 0, "stageFlags": 17, "binding": 3}
    ranges = [{"stageFlags": 1, "size": 16, "offset": 4}]
    sets = [ZERO, f"{SET:016x}"]
    application = {
        "version": 6,
        "applicationInfo": {"apiVersion": 1 << 22 | 2 << 12, "engineVersion": 0},
        "physicalDeviceFeatures": {"robustBufferAccess": 1},
    }
    return [
        entry(0, APPLICATION, change.get("application", application)),
        entry(4, VERTEX, module(VERTEX, code(1))),
        entry(4, FRAGMENT, module(FRAGMENT, code(2))),
        *one("set", 2, SET, "setLayouts", {"flags": 0, "bindings": [binding, empty]}),
        *one(
            "layout",
            3,
            LAYOUT,
            "pipelineLayouts",
            {"flags": 2, "pushConstantRanges": ranges, "setLayouts": sets},
        ),
        *one("pass", 5, PASS, "renderPasses", {"flags": 0, "subpasses": [{}, {}]}),
        link(APPLICATION, 6, KEY),
    ]
