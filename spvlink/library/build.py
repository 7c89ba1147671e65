"""``spvlink library DIR``: builds libspvlink with the system's compiler."""

from __future__ import annotations

import os
import tempfile

from spvlink import output, spawn
from spvlink.errors import Usage
from spvlink.layer import build, places

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Sequence
    from typing import Final

HELP: Final = """\
usage: spvlink library DIR

Builds libspvlink, which links the stages of a pipeline for an engine that creates it. DIR gets
include/spvlink.h (its comments are the manual), lib/libspvlink.so, lib/libspvlink.a and
lib/pkgconfig/spvlink.pc. CMake: find_package(spvlink), spvlink_library(), and link to
spvlink::spvlink. Needs a C compiler and binutils. The linker processes use this Python and this
spvlink, unless the program says otherwise (spvlink_set).
"""
_C: Final = os.path.join(places.PACKAGE, "library", "c")
_FLAGS: Final = (
    "-std=c11",
    "-D_GNU_SOURCE",
    "-O2",
    "-g",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
)
_PKG_CONFIG: Final = """\
prefix=${pcfiledir}/../..

Name: spvlink
Description: Links the stages of a Vulkan pipeline
Version: VERSION
Cflags: -I${prefix}/include
Libs: -L${prefix}/lib -lspvlink
Libs.private: -pthread
"""


def main(words: Sequence[str], version: str) -> str:
    """Do what ``spvlink library WORDS`` says; gives what is to be printed. Raises Usage."""
    if "--help" in words or "-h" in words:
        return HELP
    if len(words) != 1 or words[0].startswith("-"):
        raise Usage("library takes the name of one folder; see spvlink library --help")
    build_library(words[0], version)
    return ""


_LIBRARIES: Final = ("libspvlink.so", "libspvlink.a")


def build_library(folder: str, version: str, flags: Sequence[str] = ()) -> None:
    """Build the library in ``folder``, made if need be. Raises Usage with one line that says what
    is missing."""
    lib = os.path.join(folder, "lib")
    try:
        with tempfile.TemporaryDirectory(prefix="spvlink-") as work:
            _build(work, (*_FLAGS, *flags))
            header = os.path.join(_C, "spvlink.h")
            files = [(header, os.path.join(folder, "include", "spvlink.h"))]
            files += [(os.path.join(work, n), os.path.join(lib, n)) for n in _LIBRARIES]
            for path in (lib, os.path.join(lib, "pkgconfig"), os.path.join(folder, "include")):
                os.makedirs(path, exist_ok=True)
            contents = []
            for source, target in files:
                with open(source, "rb") as file:
                    contents.append((target, file.read()))
            text = _PKG_CONFIG.replace("VERSION", version)
            contents.append((os.path.join(lib, "pkgconfig", "spvlink.pc"), text.encode()))
    except OSError as error:
        raise Usage(f"{folder}: cannot build the library there: {error.strerror}") from None
    output.write_all(contents)


def _build(work: str, flags: Sequence[str]) -> None:
    """Both libraries in ``work``. The static one is one object whose functions are its own, but for
    those of the header: others of such a name may be in the engine."""
    program = build.compiler()
    with open(os.path.join(work, "config.h"), "w", encoding="utf-8") as file:
        file.write(build.config())
    folders = (build.CORE, _C)
    sources = sorted(os.path.join(f, n) for f in folders for n in os.listdir(f) if n[-2:] == ".c")
    objects = [os.path.join(work, f"{os.path.basename(path)[:-2]}.o") for path in sources]
    where = [word for folder in (work, *folders) for word in ("-I", folder)]
    _run([program, *flags, *where, "-c", "-o", o, s] for o, s in zip(objects, sources))
    shared, static = (os.path.join(work, name) for name in _LIBRARIES)
    one = os.path.join(work, "spvlink.o")
    soname = "-Wl,-soname,libspvlink.so,-z,nodelete"
    _run([[program, *flags, "-shared", soname, "-o", shared, *objects]])
    _run([[program, "-r", "-nostdlib", "-o", one, *objects]])
    _run([["objcopy", "--localize-hidden", one]])
    _run([["ar", "rcs", static, one]])


def _run(commands: Iterable[Sequence[str]]) -> None:
    """Run all; raises Usage for the first one that fails or is not there."""
    jobs = [(command, b"") for command in commands]
    try:
        results = spawn.run_all(jobs)
    except FileNotFoundError as error:
        raise Usage(f"building the library needs {error}, from the package binutils") from None
    for (command, _), (status, said) in zip(jobs, results):
        if status != 0:
            raise build.complaint(command[0], said.decode("utf-8", "replace"), "library")
