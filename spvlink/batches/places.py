"""Where a store of results may be (``--store``): a folder, a web server, a bucket of S3.

A place reads and writes whole objects by a name of 64 hexadecimal digits. It knows nothing of what
they hold, and may do anything: ``shared`` looks at what comes, and gives up a place that fails.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import secrets
import stat
import sys
import time
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from spvlink.errors import Usage

WEB: Final = ("http", "https")
S3: Final = "s3"
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_TEMPORARY: Final = "tmp"
_OLD: Final = 24 * 3600  # seconds, of a temporary file: the run that wrote it was killed
_CONNECT: Final = 5.0  # seconds
_STATUS: Final = re.compile(r"status code: ([0-9]{3} [A-Za-z ]*)")
_KIND: Final = re.compile(r"kind: (Timeout|Connect)\b")
_LONGEST: Final = 120  # characters of a reason


class PlaceFailure(Exception):
    """A place did not do what it was asked for; the text says why."""


class StorePlace:
    """``readers``: threads that read at a time. ``knows_owner``: whether it can say who wrote an
    object. ``read`` gives an object and whether only this user
    can have written it, or None if there is none; ``write`` keeps one, as a whole or not at all.
    Both raise PlaceFailure."""

    readers = 16
    knows_owner = False

    def read(self, name: str, limit: int) -> tuple[bytes, bool] | None:
        """``limit``: the most bytes that an object may have."""
        raise NotImplementedError

    def write(self, name: str, data: bytes) -> None:
        raise NotImplementedError


class StoreFolder(StorePlace):
    """A folder of this machine, or one that machines share: FOLDER/ab/abcd... for an object, and
    FOLDER/tmp for those that are being written."""

    readers = 4  # more of them get in each other's way
    knows_owner = sys.platform != "win32"

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.made: set[str] = set()  # folders that are there

    def read(self, name: str, limit: int) -> tuple[bytes, bool] | None:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            with open(os.open(self._path(name), flags), "rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise PlaceFailure("there is something else than files")
                data = file.read(limit + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PlaceFailure(error.strerror or type(error).__name__) from None
        return data, _is_own(about)

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        temporary = os.path.join(self.folder, _TEMPORARY, secrets.token_hex(16))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._make(os.path.dirname(temporary))
            self._make(os.path.dirname(path))
            try:
                with open(os.open(temporary, flags, 0o644), "wb") as file:
                    file.write(data)
                os.replace(temporary, path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            self.made.clear()  # somebody may have emptied the store
            raise PlaceFailure(error.strerror or type(error).__name__) from None

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name[:2], name)

    def _make(self, folder: str) -> None:
        if folder in self.made:
            return
        os.makedirs(folder, exist_ok=True)
        self.made.add(folder)
        if os.path.basename(folder) == _TEMPORARY:
            _remove_old(folder)


def _is_own(about: os.stat_result) -> bool:
    """Whether only this user could write a file."""
    if sys.platform == "win32":
        return False
    return about.st_uid == os.geteuid() and not about.st_mode & _OTHERS_MAY_WRITE


def _remove_old(folder: str) -> None:
    """Remove what a run that was killed has left."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD:
                os.unlink(entry.path)


class RemoteStore(StorePlace):
    """A web server that answers GET and PUT, or a bucket of S3. Raises Usage for an address that
    makes no sense, or if the package obstore is missing."""

    def __init__(self, address: str, timeout: float) -> None:
        try:
            import obstore
            from obstore import store
            from obstore.exceptions import BaseError
        except ImportError:
            what = "needs the package obstore: pip install 'spvlink[store]'"
            raise Usage(f"--store {shown(address)}: {what}") from None
        self.obstore = obstore
        self.timeout = timeout
        # What it raises for a failure: its own errors, and those of Python that they mean.
        self.failures = (BaseError, OSError, ValueError)
        make: Any = store.from_url  # its types list every setting of every cloud
        try:
            url, options = _client(address, timeout)
            self.store = make(url, client_options=options, retry_config=_retries())
        except (*self.failures, TypeError) as error:
            raise Usage(f"--store {shown(address)}: {_first_words(error)}") from None

    def read(self, name: str, limit: int) -> tuple[bytes, bool] | None:
        try:
            found = self.obstore.get(self.store, name)
            if found.meta["size"] > limit:
                raise PlaceFailure(f"an object of {found.meta['size']} bytes")
            return bytes(found.bytes()), False
        except FileNotFoundError:
            return None
        except self.failures as error:
            raise PlaceFailure(self._reason(error)) from None

    def write(self, name: str, data: bytes) -> None:
        try:
            self.obstore.put(self.store, name, data, use_multipart=False)
        except self.failures as error:
            raise PlaceFailure(self._reason(error)) from None

    def _reason(self, error: Exception) -> str:
        text = str(error)
        status = _STATUS.search(text)
        if status is not None:
            return status[1].strip()
        kind = _KIND.search(text)
        if kind is None:
            return _first_words(error)
        return f"no answer in {self.timeout:g} s" if kind[1] == "Timeout" else "nobody answers"


def _client(address: str, timeout: float) -> tuple[str, dict[str, Any]]:
    """An address without a password, and what the client is to do."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    options: dict[str, Any] = {
        "timeout": f"{round(timeout * 1000)}ms",
        "connect_timeout": f"{round(min(timeout, _CONNECT) * 1000)}ms",
        "allow_http": True,
    }
    if at:
        word = base64.b64encode(unquote(user).encode()).decode()
        options["default_headers"] = {"authorization": f"Basic {word}"}
    return parts._replace(netloc=host).geturl().rstrip("/"), options


def _retries() -> Any:
    """Once more after a moment: ``shared`` counts what fails then."""
    from datetime import timedelta

    moment = timedelta(milliseconds=100)
    backoff = {"init_backoff": moment, "max_backoff": 2 * moment, "base": 2}
    return {"max_retries": 1, "retry_timeout": timedelta(seconds=2), "backoff": backoff}


def _first_words(error: Exception) -> str:
    """The beginning of what an error says, on one line."""
    lines = str(error).splitlines() or [type(error).__name__]
    line = lines[0][:_LONGEST]
    return line if line.isprintable() else ascii(line)


def shown(address: str) -> str:
    """An address without its password, for people."""
    head, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{head}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else address


def check(address: str) -> None:
    """Raise Usage for what can be no place of a store."""
    scheme, mark, rest = address.partition("://")
    name = f"--store {shown(address)}"
    if not address or (mark and scheme not in (*WEB, S3)):
        raise Usage(f"{name}: expected a folder, http(s)://HOST/PATH or s3://BUCKET/PREFIX")
    if not mark:
        if os.path.lexists(address) and not os.path.isdir(address):
            raise Usage(f"{name}: there is a file of this name")
        return
    if not rest.partition("/")[0].rpartition("@")[2]:
        raise Usage(f"{name}: the {'bucket' if scheme == S3 else 'host'} is missing")
    if "?" in rest or "#" in rest:
        raise Usage(f"{name}: expected an address without a question mark and a number sign")


def place_of(address: str, timeout: float) -> StorePlace:
    """The place at an address that ``check`` lets through. Raises Usage."""
    if "://" in address:
        return RemoteStore(address, timeout)
    return StoreFolder(address)
