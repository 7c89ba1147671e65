"""What things cost, in operations of the arithmetic unit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


# One 32-bit component across a border, per fragment; why, says the head of values/propagate.py.
COMPONENT_PRICE: Final = 12
