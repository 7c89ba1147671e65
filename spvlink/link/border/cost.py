"""Estimate costs in operations of the arithmetic unit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


# One 32-bit component across a border, per fragment; the head of propagate_values.py says why.
COMPONENT_PRICE: Final = 12

# Values of 32 bits that a thread may hold on any hardware we know of without fewer of them running
# at once: 32 on Mali; RADV counts 48 on navi31, Turnip 48 on Adreno 740.
FREE_REGISTERS: Final = 32
