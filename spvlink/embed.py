"""Modules as C: ``spvlink link --embed``, for programs that compile their shaders in."""

from __future__ import annotations

import struct

from spvlink.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final

# form -> what the name of the file gets behind that of the module
SUFFIXES: Final = {"c": ".h", "c-array": ".inc"}
_WORDS_A_LINE: Final = 8


def identifier(file: str) -> str:
    """The name of the array of a module: ``water.vert.spv`` -> ``water_vert_spv``."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in file)
    return f"_{name}" if name[:1].isdigit() else name


def embed(form: str, file: str, data: bytes) -> bytes:
    """The C text of one module of ``data``, whole little-endian words, written to ``file``.

    ``c``: a header with a ``static const uint32_t`` array under the file's ``identifier``, as
    glslangValidator's ``--vn`` makes. ``c-array``: the initializer alone, as glslc's ``-mfmt=c``.
    """
    words = struct.unpack(f"<{len(data) // 4}I", data)
    lines = [
        ", ".join(f"0x{word:08x}" for word in words[at : at + _WORDS_A_LINE])
        for at in range(0, len(words), _WORDS_A_LINE)
    ]
    array = "{\n" + ",\n".join(lines) + "\n}"
    if form == "c-array":
        return f"{array}\n".encode()
    name = identifier(file)
    return (
        f"// {file}, linked by spvlink: {len(words)} words\n#pragma once\n#include <stdint.h>\n"
        f"static const uint32_t {name}[{len(words)}] = {array};\n"
    ).encode()


def check_names(files: Iterable[str]) -> None:
    """Raise Usage if two modules would have arrays of one name."""
    owners: dict[str, str] = {}
    for file in files:
        other = owners.setdefault(identifier(file), file)
        if other != file:
            raise Usage(f"--embed c: {other} and {file} would both be called {identifier(file)}")
