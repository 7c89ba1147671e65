"""Chains that a careless linker gets wrong; test_chain_hazards.py links and draws them."""

from __future__ import annotations

from tests.support.chain_hazards_any_stage import ANY_STAGE
from tests.support.chain_hazards_geometry import GEOMETRY
from tests.support.chain_hazards_motion import MOTION
from tests.support.chain_hazards_patches import MESH, TESSELLATION
from tests.support.chain_text import PASS, Chain, frag, geom, mesh, tesc, tese, text, vert

__all__ = [
    "CHAINS", "HAZARDS", "PASS", "Chain", "frag", "geom", "mesh", "tesc", "tese", "text", "vert",
]  # fmt: skip

CHAINS = GEOMETRY + TESSELLATION + MESH + MOTION + ANY_STAGE
# What can go wrong, and which chains are about it.
HAZARDS: dict[str, tuple[str, ...]] = {
    "a duplicate of what is stored on some paths only": (
        "one is stored on some paths only", "conditional stores of equal values",
    ),
    "the same value at another index": (
        "the same value at other vertices", "equal values at other indices",
    ),
    "intervals between emits, and loops": (
        "intervals have their own values", "one instruction, many emits",
    ),
    "what is not linear does not cross interpolation": (
        "products and magnitudes of interpolated values", "a choice by an interpolated value",
    ),
    "weights that do not sum to one": (
        "quads have no third weight", "a weight that is taken twice",
    ),
    "equal for a subgroup or in memory, not for a primitive": (
        "memory that fragments write", "memory that the stage itself writes",
    ),
    "flat where some vertex does not store": (
        "a constant on one side of a branch", "a flat value that one emit lacks",
    ),
    "infinities, NaNs and signs of zeros": (
        "an infinity that would be interpolated", "a negative zero that would be interpolated",
    ),
    "precise and invariant": (
        "a precise sum behind the border", "an invariant output stays",
    ),
    "speculation": (
        "a guarded division of integers", "a guarded index",
    ),
    "who may read a resource": (
        "a resource of the stage before", "two sets with one binding",
    ),
    "specialization constants": (
        "one number, two specialization constants", "a specialization constant of the patch",
    ),
    "transform feedback": (
        "captured and read by nobody", "captured and worth moving",
    ),
    "edits of one side": (
        "death cascades through the middle", "blocks and arrays in blocks",
    ),
    "qualifiers in one Location": (
        "vertices and primitives", "five ways to interpolate",
    ),
    "interpolateAt and samples": (
        "interpolated elsewhere", "the last sample input",
    ),
    "control shaders that read back": (
        "read back from a neighbour", "own values read back",
        "read back only, of the patch and of a vertex",
    ),
    "parts and pointers": (
        "components written between emits", "stores in loops and by component",
    ),
    "Locations and widths": (
        "doubles and patches in one space of Locations", "vertices and primitives",
    ),
    "what fixed functions read": (
        "layers, ids and user outputs side by side", "clip distances behind the middle",
    ),
}  # fmt: skip
