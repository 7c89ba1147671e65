"""Cut a pipeline at the stages that stay as they are (``--keep-interface``): the stages before and
after such a stage do not affect each other.

    vert, geom (stays), frag        ->        vert, geom    and    geom, frag

Such a stage stands at the end of both pieces. Each piece may change its own copy, since the
original module is written.
"""

from __future__ import annotations

from spvlink.chain import chain
from spvlink.chain.runner import Runner
from spvlink.chain.state import Chain, InterfaceMismatch, original
from spvlink.link.border.stage import Stage
from spvlink.options import Options
from spvlink.pipeline import Linked


def link_around_fixed(
    stages: list[Stage], options: Options, runner: Runner, linked: Linked
) -> list[bytes]:
    """All passes over all pieces: the new binaries. ``stages`` are those that went out. Raises
    Refused if no border of a piece can be linked."""
    cuts = [n for n, s in enumerate(stages) if n and s.name in options.keep_interface]
    outputs: list[bytes] = []
    first = 0
    for last in [*[n for n in cuts if n < len(stages) - 1], len(stages) - 1]:
        piece = [_again(s) if n == 0 and first else s for n, s in enumerate(stages[first:])]
        piece = piece[: last + 1 - first]
        made = _piece(piece, options, runner, linked, last < len(stages) - 1)
        skip = 1 if first else 0
        stages[first + skip : last + 1] = piece[skip:]
        outputs += made[skip:]
        first = last
    return outputs


def _piece(
    piece: list[Stage], options: Options, runner: Runner, linked: Linked, more: bool
) -> list[bytes]:
    """One piece; once more where what was made does not fit what stays."""
    unlinkable_borders: frozenset[tuple[int, int]] = frozenset()
    while True:
        try:
            return chain.link_chain(Chain(piece, options, runner, linked, unlinkable_borders, more))
        except InterfaceMismatch as misfit:
            unlinkable_borders |= {misfit.pair}
            piece[:] = map(_again, piece)


def _again(stage: Stage) -> Stage:
    """A stage as it came."""
    return Stage(stage.source, stage.name, original(stage))
