"""An archive again, with linked modules."""

from __future__ import annotations

from spvlink.archive.archive import Archive

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping


class ArchiveWriter:
    """Writes ``archive`` to ``target`` with some pipelines changed.

    Until ``finish`` the new things are in a spool file beside the target
    (``.NAME.PID.spool``); ``finish`` writes ``.NAME.PID.new``, syncs it and renames it, so
    that the target appears complete or not at all. ``close`` (or leaving the ``with`` block)
    removes both. Raises ``Usage`` if something cannot be written; then the target is as it was.
    The bytes of the target depend on what was replaced and not on the order of the calls (but for
    a collision of hashes: the first call wins, so call in the order of ``pipelines()``).
    """

    def __init__(self, target: str, archive: Archive) -> None:
        raise NotImplementedError

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Throw away what was not finished."""

    def replace(self, key: str, modules: Mapping[int, bytes]) -> str | None:
        """Give the pipeline ``key`` other modules: index of the stage -> SPIR-V. Stages that are
        not named keep theirs. Once a pipeline. The answer is None, or why the pipeline stays as it
        was (a hash that other words have already)."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write the target: every entry of the archive, and the new ones."""
        raise NotImplementedError
