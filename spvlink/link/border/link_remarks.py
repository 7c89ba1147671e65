"""Record the decisions at a border, with reasons. Only the report reads them; no pass does."""

from __future__ import annotations


class LinkRemarks:
    """By the key of a slot, where nothing else is said. ``chain/remarks`` puts it into words."""

    __slots__ = ("cautions", "fate", "halved", "idle", "made", "moved", "notes")

    def __init__(self) -> None:
        self.fate: dict[int, tuple[str, str]] = {}  # (action, why)
        # what has 16 bits (``half``): by how much it may move a colour, and that in words
        self.halved: dict[int, tuple[float | None, str]] = {}
        # by how much all of that together moves a colour, and what that assumes
        self.moved: tuple[float, tuple[str, ...]] | None = None
        self.notes: dict[int, str] = {}  # what stood in the way of more
        self.cautions: dict[int, str] = {}  # whose rounding may change, if it goes
        self.made: dict[int, str] = {}  # of a new value: the name of what it had been
        self.idle: dict[str, tuple[str, str]] = {}  # built-ins that nobody reads -> (action, why)
