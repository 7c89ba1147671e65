"""Choose a version of a module for each pipeline, if there may be several.

Versions of a producer differ in the outputs that they do not write. So pipelines that read the same
outputs share a version. If that gives too many versions, two are merged, again and again: those for
which pipelines write the fewest unread (pipelines x components) together.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping

    Read = frozenset[int]


def choose(reads: Mapping[int, Read], most: int) -> dict[int, int]:
    """``reads``: what each pipeline reads of a module. Gives the version of each, 0 to ``most`` -
    1, counted in the order of the pipelines."""
    groups: dict[Read, list[int]] = {}
    for pipeline, read in reads.items():
        groups.setdefault(read, []).append(pipeline)
    classes = list(groups.items())
    while len(classes) > most:
        pairs = [(a, b) for b in range(len(classes)) for a in range(b)]
        a, b = min(pairs, key=lambda pair: _cost(classes[pair[0]], classes[pair[1]]))
        read, pipelines = classes.pop(b)
        classes[a] = classes[a][0] | read, classes[a][1] + pipelines
    return {p: number for number, (_, pipelines) in enumerate(classes) for p in pipelines}


def _cost(one: tuple[Read, list[int]], two: tuple[Read, list[int]]) -> int:
    """Components that would be written in vain, over all pipelines."""
    both = len(one[0] | two[0])
    return sum((both - len(read)) * len(pipelines) for read, pipelines in (one, two))
