"""What of a fragment shader's outputs is seen, as far as the state says."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    from spvlink.link.half.values import Off

ALPHA: Final = 3
ASSUMED_TARGET: Final = "8-bit UNORM colour"
ASSUMED_BLENDING: Final = "no blending"
ASSUMED_LOGIC: Final = "no logic operation"  # the state has no key for it
ASSUMED_ONCE: Final = "fragments that blend do not overlap"
ASSUMED_COVERAGE: Final = "no alpha to coverage"
ASSUMED_SAMPLES: Final = "one sample"
ASSUMED_FILLED: Final = "filled triangles"


class ColourTarget:
    """A colour target. ``refused``: why nothing is known of what a change of its output shows.
    ``own``, ``alpha``: by component, how much of a change of that output, and of its alpha, is seen
    at most."""

    __slots__ = ("alpha", "own", "refused")

    def __init__(
        self, refused: str = "", own: tuple[float, ...] = (1.0,) * 4,
        alpha: tuple[float, ...] = (0.0,) * 4,
    ) -> None:  # fmt: skip
        self.refused = refused
        self.own = own
        self.alpha = alpha


class Visible:
    """All that is known of them. ``targets``: by Location; None: nothing is known, and each is
    assumed to be of 8 bits and not to blend. ``covers``: alpha decides coverage; ``aside``: a pixel
    may be shaded outside of the primitive, so that inputs are extrapolated that are not Centroid or
    Sample; ``beyond``: those are, too. ``assumed``: for people; ``small_texels``: what is looked up
    in images lies between -1 and 1."""

    __slots__ = ("aside", "assumed", "beyond", "covers", "small_texels", "targets")

    def __init__(
        self, targets: dict[int, ColourTarget] | None = None, covers: bool = False,
        aside: bool = False,
        assumed: tuple[str, ...] = (
            ASSUMED_TARGET, ASSUMED_BLENDING, ASSUMED_LOGIC, ASSUMED_COVERAGE, ASSUMED_SAMPLES,
            ASSUMED_FILLED,
        ),
        small_texels: bool = False, beyond: bool = False,
    ) -> None:  # fmt: skip
        self.targets = targets
        self.small_texels = small_texels
        self.covers = covers
        self.aside = aside
        self.beyond = beyond
        self.assumed = assumed

    def refuses(self, location: int, index: int, component: int) -> str:
        """Why a change of an output may show in any way; empty if it does not."""
        if index:
            return "blending takes a second source from it"
        if self.covers and location == 0 and component == ALPHA:
            return "its alpha decides coverage"
        return self.target(location).refused

    def target(self, location: int) -> ColourTarget:
        """The target of a Location; of one that is not there nothing is seen."""
        if self.targets is None:
            return ColourTarget()
        return self.targets.get(location, _NOBODY)

    def seen(self, ends: dict[tuple[int, int, int], Off]) -> list[Off]:
        """By how much every component that is seen moves, in parts; ``ends``: the same of the
        outputs, by Location, Index and component."""
        rows: list[Off] = []
        for location, index in sorted({end[:2] for end in ends}):
            target = self.target(location)
            alpha = ends.get((location, index, ALPHA), {})
            for component in range(4):
                row: Off = {}
                own = ends.get((location, index, component), {})
                for off, part in ((own, target.own), (alpha, target.alpha)):
                    for key, one in off.items():
                        if part[component]:
                            row[key] = row.get(key, 0.0) + one * part[component]
                if row:
                    rows.append(row)
        return rows


_NOBODY: Final = ColourTarget(own=(0.0,) * 4)
