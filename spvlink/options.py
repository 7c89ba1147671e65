"""What a user may ask for; the command line and the Python face share it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable


class Options:
    """All settings of one ``link``. The defaults are those of the command line (shared contract,
    cli.md)."""

    __slots__ = (
        "check_each",
        "complete",
        "cost_limit",
        "disabled",
        "exact",
        "expect",
        "keep_interface",
        "layout",
        "observer",
        "spec",
        "stop_after",
        "strict",
        "target_env",
        "validate",
    )  # fmt: skip

    def __init__(self) -> None:
        self.disabled: frozenset[str] = frozenset()  # names of optimizations, see schedule.PASSES
        self.complete = False  # if no fragment shader is given, the pipeline has none
        self.exact = False  # only changes that keep every output bit of every stage
        self.cost_limit = 100  # percent of what a saved component is worth (link.propagate)
        # (vertices, fragments): how often each runs, of which only the ratio counts (link.motion)
        self.expect: tuple[int, int] = (1, 8)
        self.keep_interface: frozenset[str] = frozenset()  # stages ("vert", "frag" ...)
        self.target_env: str | None = None  # None: the lowest that fits the modules
        self.validate = True  # run spirv-val on what is written
        self.strict = False  # a pipeline passed through is an error
        self.check_each = False  # our own verifier after each pass
        self.stop_after: int | None = None  # stop after this many passes (to bisect)
        self.layout: dict[str, object] | None = None  # the pipeline layout, as read from JSON
        self.spec: dict[tuple[str, int], str] = {}  # (stage, SpecId) -> value
        # called after each pass that changed something: (number, pass name, stage, module)
        self.observer: Callable[[int, str, str, object], None] | None = None
