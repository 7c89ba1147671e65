"""Pairs whose outputs hold the same, and what of them is left after a link."""

from __future__ import annotations

from tests.support.linking import Result
from tests.support.propagation import link as link_with

# which would take apart what is looked at here
MOTION = frozenset(("backward", "forward"))


def link(vert: str, frag: str, exact: bool = False, disable: frozenset[str] = MOTION) -> Result:
    """Both sides as ``declarations--body``; all passes but those of ``disable``."""
    return link_with(vert, frag, exact=exact, disable=disable)


def two(mine: str, other: str, body: str, use: str) -> tuple[str, str]:
    """A pair with the varyings ``a`` and ``b``, declared as ``mine`` and ``other``."""
    types = "layout(location = 0) {} a; layout(location = 1) {} b;\n"
    sides = []
    for direction, code in (("out", body), ("in", use)):
        declared = [t.replace("@", direction) for t in (mine, other)]
        # read as unsigned what was written as signed
        declared = [t.replace("~", "int" if direction == "out" else "uint") for t in declared]
        sides.append(types.format(*declared) + "--" + code)
    return sides[0], sides[1]


def merged(done: Result) -> dict[str, str]:
    assert done.linked.validated == "validated" and done.linked.passed_through is None
    return {f"{r.name} {r.slot}": r.why for r in done.linked.remarks if r.action == "merged"}


def components(done: Result) -> int:
    """Components that cross."""
    assert done.table() == done.table(inputs=True)
    return sum(len(d.covers) for d in done.outputs)


INSTANCES = "layout(set = 0, binding = 0) uniform U { vec4 tint[4]; } u;\n"


def flattened(done: Result) -> set[str]:
    return {r.name for r in done.linked.remarks if r.action == "flattened"}
