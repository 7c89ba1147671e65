"""One link in the linker process: from a request to an answer. Never raises."""

from __future__ import annotations

from spvlink import validate
from spvlink.driver import link
from spvlink.errors import SpvlinkError
from spvlink.layer import wire
from spvlink.layout import check_layout
from spvlink.options import Options
from spvlink.pipeline import STAGE_BITS, UNCHANGED, Linked, Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_NAMES: Final = {bit: name for name, bit in STAGE_BITS.items()}


def answer(data: bytes) -> bytes:
    """The answer to a whole request."""
    key, _ = wire.read_key(data)
    try:
        return _answer(wire.read_request(data))
    except wire.ProtocolError as error:
        return wire.write_answer(key, wire.NOT_NOW, f"a request that makes no sense: {error}")
    except SpvlinkError as error:
        return wire.write_answer(key, wire.PASSED_THROUGH, f"not linked: {error}")
    except Exception as error:  # a defect of ours must not cost the application its pipeline
        reason = f"a defect of spvlink: {type(error).__name__}: {error}"
        return wire.write_answer(key, wire.PASSED_THROUGH, reason)


def _answer(request: wire.Request) -> bytes:
    if not validate.available():  # not kept: it may be installed tomorrow
        reason = f"{validate.PROGRAM} is not installed (package {validate.PACKAGE})"
        return wire.write_answer(request.key, wire.NOT_NOW, reason)
    if any(stage.bit not in _NAMES for stage in request.stages):
        return wire.write_answer(request.key, wire.PASSED_THROUGH, "an unknown stage")
    if request.half:
        return wire.write_answer(request.key, wire.NOT_NOW, "half a pipeline: it is not asked for")
    linked = link(sources_of(request), options_of(request))
    return _written(request, linked)


def _written(request: wire.Request, linked: Linked) -> bytes:
    if linked.passed_through is not None:
        nothing = linked.outcome == UNCHANGED
        status = wire.NOTHING_TO_GAIN if nothing else wire.PASSED_THROUGH
        return wire.write_answer(request.key, status, linked.passed_through)
    return written(request, wire.LINKED, "", linked)


def sources_of(request: wire.Request) -> list[Source]:
    """Its stages."""
    return [Source(s.code, "", s.entry, _NAMES[s.bit]) for s in request.stages]


def figures_of(linked: Linked) -> list[int]:
    """Components before and after, Locations before and after, of all borders together."""
    return [
        sum(border.components[0] for border in linked.interfaces),
        sum(border.components[1] for border in linked.interfaces),
        sum(border.locations[0] for border in linked.interfaces),
        sum(border.locations[1] for border in linked.interfaces),
    ]


def written(request: wire.Request, status: int, text: str, linked: Linked) -> bytes:
    """The answer with linked modules."""
    made = {STAGE_BITS[stage.stage]: stage.data for stage in linked.stages}
    stages = [(stage.bit, made[stage.bit]) for stage in request.stages]
    return wire.write_answer(request.key, status, text, figures_of(linked), stages)


def options_of(request: wire.Request) -> Options:
    """What the command line would be told with ``--layout``, ``--spec``, ``--exact``,
    ``--for``, ``--complete`` and ``--state``."""
    options = Options(gpu=request.gpu)
    options.exact = request.exact
    options.complete = request.complete
    if request.state:
        options.state = request.state
    if request.layout is not None:
        options.layout = check_layout(request.layout)
    # All constants are known here: what pipeline creation does not name keeps its default (Vulkan,
    # "Specialization Constants").
    options.spec_defaults = True
    for stage in request.stages:
        for number, value in stage.spec:
            options.spec[_NAMES[stage.bit], number] = value
    return options
