"""Builds the layer's C library with the system's compiler."""

from __future__ import annotations

import os
import sys

from spvlink import spawn
from spvlink.errors import SpvlinkError, Usage
from spvlink.layer import places

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

LIBRARY: Final = "libVkLayer_SPVLINK_stage_link.so"
MANIFEST: Final = "VkLayer_SPVLINK_stage_link.json"
SOURCES: Final = os.path.join(places.PACKAGE, "layer", "c")
CORE: Final = os.path.join(places.PACKAGE, "c")  # what the library for engines has, too
COMPILERS: Final = ("cc", "gcc", "clang")
FLAGS: Final = (
    "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall",
    "-Wextra", "-pthread", "-Wl,-z,nodelete",
)  # fmt: skip
# The newest Vulkan whose pipeline creation the layer was written for.
API_VERSION: Final = "1.4.0"
ENABLE: Final = "ENABLE_SPVLINK_STAGE_LINK"
DISABLE: Final = "DISABLE_SPVLINK_STAGE_LINK"


def compiler() -> str:
    """The C compiler: CC, or the first of COMPILERS in PATH. Raises Usage if there is none."""
    for name in (os.environ.get("CC", ""), *COMPILERS):
        found = spawn.find(name) if name else None
        if found is not None:
            return found
    raise Usage(
        "building it needs a C compiler, and there is none: it is in the package gcc of"
        " Debian and Ubuntu"
    )


def sources() -> list[str]:
    """Paths of the C files."""
    return _files(".c")


def _files(suffix: str) -> list[str]:
    paths = (os.path.join(folder, n) for folder in (CORE, SOURCES) for n in os.listdir(folder))
    return sorted(path for path in paths if path.endswith(suffix))


def config() -> str:
    """``config.h``: which Python has spvlink, and where its files are."""
    lines = (("BUILT_PYTHON", sys.executable), ("BUILT_PACKAGE", places.PACKAGE))
    return "".join(f"#define {name} {_literal(value)}\n" for name, value in lines)


def _literal(text: str) -> str:
    """A C string. Octal, since a hexadecimal escape would swallow what follows."""
    plain = (
        chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in os.fsencode(text)
    )
    return '"' + "".join(plain) + '"'


def build(folder: str, flags: Sequence[str] = ()) -> str:
    """Build the library in ``folder``, made if need be; gives its path. Raises Usage with one line
    that says what is missing."""
    program = compiler()
    library = os.path.join(folder, LIBRARY)
    temp = f"{library}.{os.getpid()}.new"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.path.join(folder, "config.h"), "w", encoding="utf-8") as file:
            file.write(config())
        command = [program, *FLAGS, *flags, "-I", folder, "-I", CORE, "-o", temp, *sources()]
        status, said = spawn.run_all([(command, b"")])[0]
        if status != 0:
            raise complaint(program, said.decode("utf-8", "replace"))
        os.rename(temp, library)
    except OSError as error:
        raise Usage(f"{folder}: cannot build the layer there: {error.strerror}") from None
    _compile_python()
    return library


def _compile_python() -> None:
    """Byte code for the whole package: without it the first start of a linker process takes most of
    a second, which a program would wait for. Where it cannot be written, that is so each time."""
    import compileall

    compileall.compile_dir(places.PACKAGE, quiet=2)


def complaint(program: str, said: str, what: str = "layer") -> SpvlinkError:
    """The error for a build that failed with this output."""
    errors = [line.split("error:")[1].strip() for line in said.splitlines() if "error:" in line]
    if any("vulkan/" in error for error in errors):
        return Usage(
            "building the layer needs the Vulkan headers, and they are not there: they are in the"
            " package libvulkan-dev of Debian and Ubuntu"
        )
    if errors:
        return Usage(f"{program} cannot build the {what}: {errors[0]}")
    return Usage(f"{program} cannot build the {what}: {said.strip()[-200:] or 'it says nothing'}")


def manifest(library: str, implicit: bool) -> str:
    """The layer's manifest as JSON. An implicit layer is off until its variable is set."""
    from json import dumps

    layer: dict[str, object] = {
        "name": places.LAYER,
        "type": "GLOBAL",
        "library_path": library,
        "library_arch": "64" if sys.maxsize > 1 << 32 else "32",
        "api_version": API_VERSION,
        "implementation_version": "1",
        "description": "links the stages of every graphics pipeline with spvlink",
        "functions": {
            "vkNegotiateLoaderLayerInterfaceVersion": "vkNegotiateLoaderLayerInterfaceVersion"
        },
        "instance_extensions": [{"name": "VK_EXT_layer_settings", "spec_version": "2"}],
    }
    if implicit:
        layer["enable_environment"] = {ENABLE: "1"}
        layer["disable_environment"] = {DISABLE: "1"}
    return dumps({"file_format_version": "1.2.1", "layer": layer}, indent=4) + "\n"


def built() -> str:
    """A folder with the library and an explicit manifest, built now unless it was before: it is
    named by all that goes into it."""
    from hashlib import blake2b

    digest = blake2b(digest_size=8)
    for path in [*sources(), *_files(".h")]:
        with open(path, "rb") as file:
            digest.update(file.read())
    digest.update("\0".join((*FLAGS, manifest("", False), compiler(), config())).encode())
    folder = os.path.join(places.builds(), digest.hexdigest())
    path = os.path.join(folder, MANIFEST)
    if not os.path.exists(path):
        from spvlink import output

        library = build(folder)
        output.write_all([(path, manifest(library, False).encode())])
    return folder
