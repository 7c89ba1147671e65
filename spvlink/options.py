"""What a user may ask for; the command line and the Python face share it."""

from __future__ import annotations

from spvlink.errors import Usage, meant
from spvlink.gpus import ANY, gpu_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypedDict

    class Settings(TypedDict, total=False):
        """The keywords of ``Options``, for ``link``."""

        disable: Iterable[str]
        clean: bool
        complete: bool
        exact: bool
        cost_limit: int | None
        expect: tuple[int, int]
        gpu: str
        half: float | None
        keep_interface: Iterable[str]
        target_env: str | None
        validate: bool
        strict: bool
        check_each: bool
        stop_after: int | None
        layout: dict[str, object] | None
        pack: str
        patch_points: int | None
        relaxed: bool
        spec: Mapping[tuple[str, int], str | bytes]
        spec_defaults: bool
        state: object
        view_mask: int | None
        observer: Callable[[int, str, str, object], None] | None


_SWITCHES = (
    "check_each", "clean", "complete", "exact", "relaxed", "spec_defaults", "strict", "validate",
)  # fmt: skip
_PAIRS = "{(stage, SpecId): value}"


class Options:
    """All settings of one ``link``; each may be given as a keyword or set afterwards. The defaults
    are those of the command line.

    disable        names of optimizations that are switched off (``spvlink passes`` lists them)
    exact           only changes that keep every output bit of every stage (default False)
    clean           write all stages in their simplest form, those too that linking does not need
                    (default False: they go out as they came)
    complete        if no fragment shader is given, the pipeline has none (default False). With one
                    the stages are always taken for all of the pipeline
    cost_limit      percent: what moving an expression may cost of what the components that it saves
                    are worth (0: only what is free moves; default None: what is best for ``gpu``)
    expect          (vertices, fragments): how often each stage is expected to run; only the ratio
                    counts (default (1, 8))
    gpu             what the modules are for: "any" (default), "radv", "turnip", "mali", "v3d",
                    "intel", "nvidia", "powervr" or "apple". Sets ``pack`` and ``cost_limit`` where
                    they are not given, and adds to ``disable``
    half            by how much a colour that is seen may move, 1 being white, so that floats may
                    cross with 16 bits (default None: none does; not with ``exact``)
    keep_interface  stages whose module goes out as it came: "vert" "tesc" "tese" "geom" "task"
                    "mesh" "frag"
    layout          the pipeline layout as a dict, as ``--layout`` reads it from JSON (default None:
                    a resource is only read by stages that use it already)
    pack            what may be torn over two Locations to save one: "locations" any vector,
                    "coordinates" vectors but for image coordinates, "vectors" nothing; "none":
                    everything stays in its Location. "" (default): what is best for ``gpu``
    patch_points    control points of an input patch, as pipeline creation says (default None:
                    unknown)
    relaxed         sums may round in another order in front of lookups and comparisons, too
                    (default False; not with ``exact``); docs/explanation/proof.md has the bound
    spec            (stage, SpecId) -> value as text, or as the bytes of VkSpecializationInfo:
                    specialization constants that pipeline creation will use; others count as
                    unknown
    spec_defaults   constants that ``spec`` does not name have the value in the module, as they do
                    in a pipeline whose specialization data says nothing of them (default False)
    state           the known state of the pipeline, without dynamic state, as a dict in the form of
                    ``--state`` (docs/reference/state.md) or a ``PipelineState`` (default None)
    target_env      "vulkan1.0" ... "vulkan1.4" (default None: the lowest that fits the modules)
    validate        run spirv-val on every module that is written (default True)
    strict          for the command: a pipeline that had to be passed through is an error, and so is
                    what Linked.warnings has
    check_each      run our own verifier after each pass (slow, to debug the linker)
    stop_after      run this many passes only (default None: all; to bisect)
    view_mask       of multiview, 0: there is none, and gl_ViewIndex is 0, not the number of the
                    device (default None: unknown)
    observer        called after each pass that changed something, with (number, name of the pass,
                    stage, module)
    """

    __slots__ = (
        "check_each", "clean", "complete", "cost_limit", "disable", "exact", "expect",
        "half", "keep_interface", "layout", "observer", "pack", "patch_points", "relaxed", "spec",
        "spec_defaults", "state", "stop_after", "strict", "target_env", "validate", "view_mask",
    )  # fmt: skip

    def __init__(
        self,
        *,
        disable: Iterable[str] = (),
        clean: bool = False,
        complete: bool = False,
        exact: bool = False,
        cost_limit: int | None = None,
        expect: tuple[int, int] = (1, 8),
        gpu: str = ANY,
        half: float | None = None,
        keep_interface: Iterable[str] = (),
        target_env: str | None = None,
        validate: bool = True,
        strict: bool = False,
        check_each: bool = False,
        stop_after: int | None = None,
        layout: dict[str, object] | None = None,
        pack: str = "",
        patch_points: int | None = None,
        relaxed: bool = False,
        spec: Mapping[tuple[str, int], str | bytes] | None = None,
        spec_defaults: bool = False,
        state: object = None,
        view_mask: int | None = None,
        observer: Callable[[int, str, str, object], None] | None = None,
    ) -> None:
        chosen = gpu_of(gpu)
        self.disable: frozenset[str] = _names("disable", disable) | chosen.disable
        self.clean = clean
        self.complete = complete
        self.exact = exact
        self.cost_limit: int = chosen.cost_limit if cost_limit is None else cost_limit
        self.expect = expect
        self.half = half
        self.keep_interface: frozenset[str] = _names("keep_interface", keep_interface)
        self.target_env = target_env
        self.validate = validate
        self.strict = strict
        self.check_each = check_each
        self.stop_after = stop_after
        self.layout = layout
        self.pack = pack or chosen.pack
        self.patch_points = patch_points
        self.relaxed = relaxed
        self.spec: dict[tuple[str, int], str | bytes] = _spec(spec)
        self.spec_defaults = spec_defaults
        self.state = state
        self.view_mask = view_mask
        self.observer = observer
        _check_types(self)


def check_promises(options: Options) -> None:
    """Raise Usage for two that contradict each other."""
    if options.relaxed and options.exact:
        raise Usage("relaxed and exact exclude each other: exact keeps every bit")


def _check_types(options: Options) -> None:
    """Types are promises of who calls: say which one is not kept."""
    for name in _SWITCHES:
        _expect(isinstance(getattr(options, name), bool), options, name, "True or False")
    layout: object = options.layout
    if layout is not None:
        _expect(isinstance(layout, dict), options, "layout", "a dict, as --layout reads it")
    _expect(isinstance(options.cost_limit, int), options, "cost_limit", "a number")
    half: object = options.half
    if half is not None:
        number = isinstance(half, (int, float)) and not isinstance(half, bool)
        _expect(number, options, "half", "a number")
    expect: object = options.expect
    two = isinstance(expect, (tuple, list)) and [type(n) for n in expect] == [int, int]
    _expect(two, options, "expect", "two numbers")


def _expect(holds: bool, options: Options, name: str, what: str) -> None:
    if not holds:
        raise TypeError(f"{name}: expected {what}, not {getattr(options, name)!r}")


def _spec(given: object) -> dict[tuple[str, int], str | bytes]:
    """A copy of specialization constants. Raises TypeError."""
    if given is not None and not hasattr(given, "items"):
        raise TypeError(f"spec: expected {_PAIRS}, not {type(given).__name__}")
    values: dict[tuple[str, int], str | bytes] = dict(given or {})  # type: ignore[call-overload]
    for key in values:
        if not isinstance(key, tuple) or [type(part) for part in key] != [str, int]:
            raise TypeError(f"spec: expected {_PAIRS}, not the key {key!r}")
    return values


def _names(what: str, given: Iterable[str]) -> frozenset[str]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise TypeError(f"{what}: expected a list of names, not {type(given).__name__}")
    return frozenset(given)


_KEYWORDS = (*Options.__slots__, "gpu")


def options_of(settings: Settings) -> Options:
    """The options that keywords give. Raises TypeError for one that does not exist."""
    for name in settings:
        if name not in _KEYWORDS:
            like = meant(name, _KEYWORDS)
            raise TypeError(f"unknown option {name}{like}; see help(spvlink.Options)")
    return Options(**settings)
