"""Writing files: all of them or none, and none that would not change."""

from __future__ import annotations

import os
import stat

from spvlink.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence


class _File:
    """One file on its way: ``temp`` holds the new bytes, ``backup`` the old ones while renaming."""

    __slots__ = ("backup", "exists", "path", "temp")

    def __init__(self, path: str, exists: bool) -> None:
        self.path = path
        self.exists = exists
        folder, name = os.path.split(path)
        self.temp = os.path.join(folder, f".{name}.{os.getpid()}.new")
        self.backup = os.path.join(folder, f".{name}.{os.getpid()}.old")


def write_all(files: Sequence[tuple[str, bytes]]) -> list[str]:
    """Write every (path, bytes), or nothing; gives the paths that changed.

    New content goes to a temporary file beside the target; only when all of them are complete are
    they renamed. Missing folders are made. A link is followed; a device (``/dev/null``) is written
    to as it is. Raises Usage when a file cannot be written; then all is as it was before.
    """
    made: list[str] = []
    pending: list[_File] = []
    path = ""
    try:
        for path, data in files:
            _make_folders(os.path.dirname(path), made)
            file = _prepare(os.path.realpath(path) if os.path.islink(path) else path, data)
            if file is not None:
                pending.append(file)
                _write(file.temp, data)
        _rename(pending)
    except OSError as error:
        _clean(pending, made)
        raise Usage(_trouble(path, error)) from None
    except BaseException:
        _clean(pending, made)
        raise
    return [file.path for file in pending]


def _trouble(path: str, error: OSError) -> str:
    """The message for a file that cannot be written: a folder that is in the way is named, not the
    temporary file in it."""
    folder = os.path.dirname(path)
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    folder = folder or "."
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder}: cannot write into this folder: {error.strerror}"
    where = path if error.filename in (None, path) else str(error.filename)
    return f"{where}: cannot write it: {error.strerror}"


def _make_folders(folder: str, made: list[str]) -> None:
    """Make a folder and its parents; what was made is added to the list, outermost first."""
    if not folder or os.path.isdir(folder):
        return
    _make_folders(os.path.dirname(folder), made)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
        return  # somebody else made it just now
    made.append(folder)


def _prepare(path: str, data: bytes) -> _File | None:
    """What has to be done for one file; None: nothing, because it holds these very bytes."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return _File(path, False)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "Is a directory", path)
    if not stat.S_ISREG(mode):
        with open(path, "wb") as device:
            device.write(data)
        return None
    with open(path, "rb") as file:
        same = file.read(len(data) + 1) == data
    return None if same else _File(path, True)


def _write(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)


def _rename(files: Sequence[_File]) -> None:
    """Put all new files in place; if one cannot be, the ones before it get their old bytes back."""
    done: list[_File] = []
    try:
        for file in files:
            if file.exists and len(files) > 1:
                _keep(file.path, file.backup)
            os.replace(file.temp, file.path)
            done.append(file)
    except BaseException:
        for file in done:
            if file.exists:
                os.replace(file.backup, file.path)
            else:
                os.unlink(file.path)
        raise
    finally:
        for file in files:
            _unlink(file.backup)


def _keep(path: str, backup: str) -> None:
    try:
        os.link(path, backup)
    except OSError:  # a file system without hard links
        with open(path, "rb") as file:
            _write(backup, file.read())


def _clean(files: Sequence[_File], made: Sequence[str]) -> None:
    for file in files:
        _unlink(file.temp)
    for folder in reversed(made):
        try:
            os.rmdir(folder)
        except OSError:
            return  # somebody put something into it


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
