"""Where things lie, and which linker this is. ``c/settings.c`` finds the same places."""

from __future__ import annotations

import contextlib
import os
import stat

from spvlink.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

LAYER: Final = "VK_LAYER_SPVLINK_stage_link"
PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VARIABLE: Final = "VK_SPVLINK_STAGE_LINK_"  # a setting in the environment: VARIABLE + its name
NOTE: Final = "validator"  # in the cache: which spirv-val filled it
_BESIDE: Final = tuple(
    f"../{folder}/libSPIRV-Tools{kind}.so"
    for folder in ("lib", "lib64")
    for kind in ("", "-shared")
)
SOCKET_PATH_LIMIT: Final = 107  # bytes of sockaddr_un.sun_path without the zero


def folder(variable: str, below_home: str, rest: str) -> str:
    """The XDG folder ``variable``, else ``below_home`` of HOME, and ``rest`` in it. Raises Usage if
    there is neither."""
    base = os.environ.get(variable, "")
    if base.startswith("/"):
        return base + rest
    home = os.environ.get("HOME", "")
    if not home.startswith("/"):
        raise Usage(f"neither {variable} nor HOME names a folder")
    return home + below_home + rest


def cache() -> str:
    """The folder of linked modules."""
    given = os.environ.get(VARIABLE + "CACHE_DIR", "")
    return given if given.startswith("/") else _cache("/spvlink/linked")


def _cache(rest: str) -> str:
    return folder("XDG_CACHE_HOME", "/.cache", rest)


def builds() -> str:
    """The folder of layers that ``spvlink layer run`` built."""
    return _cache("/spvlink/builds")


def state() -> str:
    """The folder of the log."""
    return folder("XDG_STATE_HOME", "/.local/state", "/spvlink")


def data() -> str:
    """The folder of an installed layer."""
    return folder("XDG_DATA_HOME", "/.local/share", "/spvlink")


def manifests(kind: str) -> str:
    """The folder where the Vulkan loader looks for layers, ``explicit`` or ``implicit``."""
    return folder("XDG_DATA_HOME", "/.local/share", f"/vulkan/{kind}_layer.d")


def runtimes() -> list[str]:
    """Folders that may hold the socket, the best first."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    own = [f"{base}/spvlink"] if base.startswith("/") else []
    return [*own, f"/tmp/spvlink-{os.geteuid()}"]


def _make_private(path: str) -> None:
    """Make a folder that is only ours. Raises Usage if it is not."""
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        status = os.lstat(path)
    except OSError as error:
        raise Usage(f"{path}: cannot make it: {error.strerror}") from None
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if status.st_uid != os.geteuid() or not private:
        raise Usage(f"{path}: others may write there")


def socket(identity: bytes, cache_folder: str) -> str:
    """The socket of the linker with this identity that fills this cache. Raises Usage."""
    from hashlib import blake2b

    name = blake2b(identity + os.fsencode(cache_folder), digest_size=8).hexdigest()
    trouble = Usage("no folder for the socket")
    for folder in runtimes():
        path = f"{folder}/{name}.socket"
        try:
            _make_private(folder)
            if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
                return path
            trouble = Usage(f"{path}: too long for a socket")
        except Usage as error:
            trouble = error
    raise trouble


def identity(cache_folder: str = "", package: str = PACKAGE) -> bytes:
    """16 bytes that change when any Python file or compiled module of the package does, or
    spirv-val: a sum of digests of their names and contents. (Sizes and times do not tell: images
    that can be made again have the same ones.)"""
    sums = _Sum()
    for path, folders, files in os.walk(package):
        folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
        for name in files:
            if name.endswith((".py", ".so")) and not name.startswith("."):
                whole = os.path.join(path, name)
                sums.add(whole, whole[len(package) + 1 :])
    sums.plus(validator(cache_folder))
    return sums.digest()


def validator(cache_folder: str = "") -> bytes:
    """16 bytes that stand for spirv-val: its content, and that of the library that it may be a
    small program on. Where it is not in PATH, those that were noted in the cache."""
    from spvlink import spawn, validate

    sums = _Sum()
    program = spawn.find(validate.PROGRAM)
    if program is not None:
        folder = os.path.dirname(os.path.realpath(program))
        for name in (validate.PROGRAM, *_BESIDE):
            with contextlib.suppress(OSError):
                sums.add(f"{folder}/{name}", name)
        return sums.digest()
    with contextlib.suppress(OSError), open(f"{cache_folder}/{NOTE}", "rb") as file:
        noted = file.read(17)
        if len(noted) == 16:
            return noted
    return bytes(16)


class _Sum:
    """Digests of files, whose order does not matter."""

    def __init__(self) -> None:
        self.halves = [0, 0]

    def add(self, path: str, name: str) -> None:
        """A file by its name and its content. Raises OSError."""
        from hashlib import blake2b

        with open(path, "rb") as file:
            content = blake2b(file.read(), digest_size=16).hexdigest()
        self.plus(blake2b(os.fsencode(f"{name} {content}"), digest_size=16).digest())

    def plus(self, digest: bytes) -> None:
        for half in (0, 1):
            self.halves[half] += int.from_bytes(digest[half * 8 : half * 8 + 8], "little")

    def digest(self) -> bytes:
        return b"".join((half % (1 << 64)).to_bytes(8, "little") for half in self.halves)
