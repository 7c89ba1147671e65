"""Where a module of the package lies."""

from __future__ import annotations

from pathlib import Path

import spvlink

PACKAGE = Path(spvlink.__file__).parent


def full_name(place: str) -> str:
    """The dotted name of a pass's module, which is found by its last part: cases do not say the
    wing that it is in. Other modules have theirs."""
    if not place.startswith("spvlink.passes."):
        return place
    (path,) = (PACKAGE / "passes").rglob(f"{place.rpartition('.')[2]}.py")
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
