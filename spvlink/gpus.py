"""What linking chooses for the GPU that the modules are for (``--for``).

Each row is the best of what was tried on a driver's compiler (docs/measurements/isa.md): how far
vectors may be torn (``Options.pack``), what moved code may cost (``Options.cost_limit``), and
passes that cost there more than they save. "any", the default, splits no vector: that saves next to
no instruction anywhere, and costs on some. The Vulkan layer and libspvlink take the row of the
device's driver (``drivers`` in vulkan_registry/known.toml). ``EXPECTED`` says what was measured.
"""

from __future__ import annotations

from spvlink.errors import Usage, meant
from spvlink.pipeline import PACK_COORDINATES, PACK_VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


class Gpu:
    """``pack`` and ``cost_limit`` as in ``Options``; ``disable``: optimizations that are off."""

    __slots__ = ("cost_limit", "disable", "pack")

    def __init__(self, pack: str, *disable: str, cost_limit: int = 100) -> None:
        self.pack = pack
        self.disable = frozenset(disable)
        self.cost_limit = cost_limit


ANY: Final = "any"
GPUS: Final[dict[str, Gpu]] = {
    ANY: Gpu(PACK_VECTORS),
    # A Location less is an export less there, for the same instructions.
    "radv": Gpu(PACK_COORDINATES),
    # Torn, 0.985 of the cycles, not torn 0.988, but 4 pipelines worse by over 2 %, not 14 (PanVK,
    # Sascha Willems' pipelines).
    # An input costs less there than COMPONENT_PRICE says: with 100 percent 0.953 of the cycles
    # (Vulkan-Samples, all known), with 30 0.943, and 1 pipeline worse by over 2 %, not 5.
    "mali": Gpu(PACK_VECTORS, cost_limit=30),
    "turnip": Gpu(PACK_VECTORS),
    # An array that is no input any more lies in memory if its index is dynamic, and what is packed
    # into a word costs more to take out than its components.
    # Loads of uniforms are instructions there: with 100 percent 0.993, with 25 0.985.
    "v3d": Gpu(PACK_VECTORS, "arrays.dynamic", "narrow", cost_limit=25),
    "intel": Gpu(PACK_VECTORS),
    "nvidia": Gpu(PACK_VECTORS),
    # Nothing was measured for these.
    "apple": Gpu(PACK_VECTORS),
    "powervr": Gpu(PACK_VECTORS),
}

# Machine code linked / original: Vulkan-Samples' pipelines, created whole, with everything known.
# Fragment shaders count 8 times. scripts/generate-isa writes this.
EXPECTED: Final = {
    "radv": (0.989, "instructions"),
    "mali": (0.943, "cycles"),
    "turnip": (0.979, "instructions"),
    "v3d": (0.985, "instructions"),
    "intel": (0.987, "cycles"),
    "nvidia": (0.972, "instructions"),
}  # end


NUMBERS: Final = {name: number for number, name in enumerate(GPUS)}  # as the layer says them


def gpu_of(name: str) -> Gpu:
    """The row of a name. Raises Usage."""
    if name not in GPUS:
        raise Usage(f"there is no GPU {name}{meant(name, GPUS)}: there are {', '.join(GPUS)}")
    return GPUS[name]
