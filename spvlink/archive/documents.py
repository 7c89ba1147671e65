"""The JSON of an entry: reading it strictly, and changing some digits of its text.

Strictly, because another reader must not see another pipeline: a name that stands there twice, or a
number that is none, makes the whole document unusable.
"""

from __future__ import annotations

import binascii
import json
import re

from spvlink.errors import BadArchive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Mapping
    from typing import Final

Object = dict[str, object]
LIMIT: Final = 8 << 20  # bytes of JSON; as objects of Python it may be thirty times as many
VERSIONS: Final = (5, 6)
_BLANK: Final = " \t\r\n"
_MODULE: Final = re.compile(rb'"module":"(?=[0-9a-fA-F]{16}")')
_HEX: Final = re.compile("[0-9a-fA-F]*")


def split(payload: bytes) -> tuple[bytes, bytes]:
    """The JSON of a payload, and what stands behind the first zero byte."""
    text, _, binary = payload.partition(b"\0")
    return text, binary


def parse(text: bytes) -> Object:
    """The document. Raises BadArchive."""
    if len(text) > LIMIT:
        raise BadArchive(f"a JSON document of {len(text)} bytes is more than spvlink reads")
    try:
        document = json.loads(text.decode(), object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise BadArchive("its JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise BadArchive("its JSON is not UTF-8") from None
    except ValueError as error:
        raise BadArchive(f"its JSON is not right: {str(error)[:100]}") from None
    if not isinstance(document, dict):
        raise BadArchive("its JSON is no object")
    version = document.get("version")
    if isinstance(version, bool) or version not in VERSIONS:
        raise BadArchive(f"its JSON is of a version that is not known: {str(version)[:40]}")
    return document


def _once(pairs: list[tuple[str, object]]) -> Object:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return made


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no number")


# -- what is in it: all of these raise BadArchive ---------------------------------------------


def member(parent: Object, name: str) -> object:
    if name not in parent:
        raise BadArchive(f"it has no {name}")
    return parent[name]


def as_object(value: object, name: str) -> Object:
    if not isinstance(value, dict):
        raise BadArchive(f"its {name} is no object")
    return value


def as_list(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise BadArchive(f"its {name} is no list")
    return value


def as_number(value: object, name: str, bits: int = 32) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << bits:
        raise BadArchive(f"its {name} is no number of {bits} bits")
    return value


def number(parent: Object, name: str, bits: int = 32) -> int:
    return as_number(member(parent, name), name, bits)


def as_handle(value: object, name: str) -> int:
    """A reference to another entry; 0: to nothing."""
    if not isinstance(value, str) or len(value) != 16 or not is_hex(value):
        raise BadArchive(f"its {name} is not of 16 hex digits")
    return int(value, 16)


def handle(parent: Object, name: str) -> int:
    return as_handle(member(parent, name), name)


def base64(value: object, name: str) -> bytes:
    if not isinstance(value, str):
        raise BadArchive(f"its {name} is no text")
    try:
        return binascii.a2b_base64(value.encode("ascii"), strict_mode=True)
    except ValueError:  # binascii.Error and UnicodeEncodeError are that too
        raise BadArchive(f"its {name} is not base64") from None


def is_hex(text: str) -> bool:
    return _HEX.fullmatch(text) is not None


# -- changing it -----------------------------------------------------------------------------


def with_modules(payload: bytes, key: str, modules: Mapping[int, str]) -> bytes:
    """The payload of a graphics pipeline with other modules: index of the stage -> 16 hex digits.
    Every other byte stays. Raises BadArchive if that cannot be."""
    text, _ = split(payload)
    expected = parse(text)
    try:
        stages = _stages(expected, key)
        places = _plain_places(text, len(stages)) or _places(text, key, modules)
        changed = bytearray(payload)
        for index, module in modules.items():
            at = places[index]
            if not is_hex(changed[at : at + 16].decode("ascii")):
                raise ValueError
            changed[at : at + 16] = module.encode("ascii")
            as_object(stages[index], "stage")["module"] = module
        if json.loads(split(bytes(changed))[0]) != expected:  # wherever the places came from
            raise ValueError
    except (ValueError, LookupError, RecursionError):
        raise BadArchive("the text of its stages is written unusually") from None
    return bytes(changed)


def _stages(document: Object, key: str) -> list[object]:
    pipelines = as_object(member(document, "graphicsPipelines"), "graphicsPipelines")
    return as_list(member(as_object(member(pipelines, key), key), "stages"), "stages")


def _plain_places(text: bytes, count: int) -> dict[int, int]:
    """Where the digits of each stage are if every module in the text is one of ``count`` stages,
    written as Fossilize does."""
    ends = [match.end() for match in _MODULE.finditer(text)]
    return dict(enumerate(ends)) if len(ends) == count else {}


def _places(text: bytes, key: str, indices: Iterable[int]) -> dict[int, int]:
    """The same for any text. Raises ValueError, LookupError."""
    letters = text.decode("latin-1")  # a letter a byte; all of JSON's own letters are ASCII
    at = _member(letters, _member(letters, _skip(letters, 0), "graphicsPipelines"), key)
    stages = _member(letters, at, "stages")
    return {
        index: _member(letters, _item(letters, stages, index), "module") + 1 for index in indices
    }


_decoder: Final = json.JSONDecoder()


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _member(text: str, at: int, name: str) -> int:
    """Where the value of that member begins, in the object that begins at ``at``."""
    if text[at] != "{":
        raise ValueError
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)  # behind the colon
        if key == name:
            return at
        at = _behind(text, at)
    raise LookupError


def _item(text: str, at: int, index: int) -> int:
    """Where that item begins, of the list that begins at ``at``."""
    if text[at] != "[":
        raise ValueError
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _behind(text, at)
    return at


def _behind(text: str, at: int) -> int:
    """Where what follows a value begins, a comma aside."""
    _, at = _decoder.raw_decode(text, at)
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at
