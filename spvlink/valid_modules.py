"""Modules that need no process of spirv-val, for a process that links much: those that it has seen,
and those that SPIRV-Tools' library accepts.

A process for each module costs more than most modules take. The library lies beside the program
where SPIRV-Tools is built with it. It is used if it says that it is of the program's version, so
that both have one opinion. It only ever says that a module is
valid: anything else is left to the program, which says why.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from spvlink import spawn, validate

if TYPE_CHECKING:
    from collections.abc import Callable

    Accepts = Callable[[bytes, str], bool]

_NAMES: Final = {"win32": "SPIRV-Tools-shared.dll", "darwin": "libSPIRV-Tools-shared.dylib"}
_NAME: Final = _NAMES.get(sys.platform, "libSPIRV-Tools-shared.so")
# Where it may be, from the folder of the program: as it is installed, and on Debian.
_PLACES: Final = ("../lib*", "../lib/*-*-*", ".")
_MOST: Final = 1 << 16  # modules that are remembered


class ValidModules:
    """As ``validate.known``. Not for several threads at once."""

    def __init__(self) -> None:
        self.accepts = library()
        self._seen: set[bytes] = set()

    def has(self, data: bytes, target_env: str) -> bool:
        """Whether a module is valid for an environment; False: nobody knows."""
        key = _key(data, target_env)
        if key in self._seen:
            return True
        if self.accepts is None or not self.accepts(data, target_env):
            return False
        self._keep(key)
        return True

    def add(self, data: bytes, target_env: str) -> None:
        """spirv-val has accepted a module."""
        self._keep(_key(data, target_env))

    def _keep(self, key: bytes) -> None:
        if len(self._seen) >= _MOST:
            self._seen.clear()
        self._seen.add(key)


def _key(data: bytes, target_env: str) -> bytes:
    return blake2b(data, digest_size=20, person=target_env.encode()).digest()


def library() -> Accepts | None:
    """SPIRV-Tools' library in this process, None if there is none that is the program's own."""
    program = spawn.find(validate.PROGRAM)
    if program is None:
        return None
    folder = os.path.dirname(os.path.realpath(program))
    for place in _PLACES:
        for path in sorted(glob.glob(os.path.join(folder, place, _NAME))):
            try:
                return _Library(path, program)
            except (OSError, AttributeError, ValueError):
                continue  # of another machine, without a function that we need, of another version
    return None


class _Library:
    """The functions of libspirv.h that spirv-val is made of, with the flags of ``validate``. Raises
    OSError, AttributeError, and ValueError if it is of another version than the program."""

    def __init__(self, path: str, program: str) -> None:
        functions = ctypes.CDLL(path)
        self._validate: Any = functions.spvValidateWithOptions
        self._parse_environment: Any = functions.spvParseTargetEnv
        self._create_context: Any = functions.spvContextCreate
        self._create_context.restype = ctypes.c_void_p
        version = functions.spvSoftwareVersionDetailsString
        version.restype = ctypes.c_char_p
        said = spawn.run_all([((program, "--version"), b"")])[0][1].splitlines()
        if not said or said[0].strip() != version().strip():
            raise ValueError
        create = functions.spvValidatorOptionsCreate
        create.restype = ctypes.c_void_p
        self._options = ctypes.c_void_p(create())
        for name in ("ScalarBlockLayout", "WorkgroupScalarBlockLayout", "AllowLocalSizeId"):
            functions["spvValidatorOptionsSet" + name](self._options, ctypes.c_bool(True))
        self._contexts: dict[str, ctypes.c_void_p] = {}

    def __call__(self, data: bytes, target_env: str) -> bool:
        if target_env not in self._contexts:
            number = ctypes.c_int()
            if not self._parse_environment(target_env.encode(), ctypes.byref(number)):
                return False
            self._contexts[target_env] = ctypes.c_void_p(self._create_context(number))
        binary = _Binary(data, len(data) // 4)
        context = self._contexts[target_env]
        status: int = self._validate(context, self._options, ctypes.byref(binary), None)
        return status == 0


class _Binary(ctypes.Structure):
    """spv_const_binary_t: words, and how many."""

    _fields_ = (("code", ctypes.c_char_p), ("wordCount", ctypes.c_size_t))
