"""Record the decisions at a border, with reasons. Only the report reads them; no pass does."""

from __future__ import annotations


class LinkRemarks:
    """By the key of a slot, where nothing else is said. ``chain/remarks`` puts it into words."""

    __slots__ = ("cautions", "fate", "idle", "made", "notes")

    def __init__(self) -> None:
        self.fate: dict[int, tuple[str, str]] = {}  # (action, why)
        self.notes: dict[int, str] = {}  # what stood in the way of more
        self.cautions: dict[int, str] = {}  # whose rounding may change, if it goes
        self.made: dict[int, str] = {}  # of a new value: the name of what it had been
        self.idle: dict[str, tuple[str, str]] = {}  # built-ins that nobody reads -> (action, why)
