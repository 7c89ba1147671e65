"""One link in the linker process: from a request to an answer. Never raises."""

from __future__ import annotations

import struct

from spvlink import validate
from spvlink.binary.decode import decode
from spvlink.driver import link
from spvlink.errors import SpvlinkError
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.layer import wire
from spvlink.layout import check_layout
from spvlink.options import Options
from spvlink.pipeline import STAGE_BITS, Linked, Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_NAMES: Final = {bit: name for name, bit in STAGE_BITS.items()}
_FLOATS: Final = {2: "<e", 4: "<f", 8: "<d"}


def answer(data: bytes) -> bytes:
    """The answer to a whole request."""
    key, _ = wire.read_key(data)
    try:
        return _answer(wire.read_request(data))
    except wire.Nonsense as error:
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
    linked = link([Source(s.code, "", s.entry) for s in request.stages], options_of(request))
    return _written(request, linked)


def _written(request: wire.Request, linked: Linked) -> bytes:
    if linked.passed_through is not None:
        return wire.write_answer(request.key, wire.PASSED_THROUGH, linked.passed_through)
    made = {STAGE_BITS[stage.stage]: stage.data for stage in linked.stages}
    if made.keys() != {stage.bit for stage in request.stages}:
        reason = "an entry point is of another stage than the pipeline says"
        return wire.write_answer(request.key, wire.PASSED_THROUGH, reason)
    figures = [
        sum(border.components[0] for border in linked.interfaces),
        sum(border.components[1] for border in linked.interfaces),
        sum(border.locations[0] for border in linked.interfaces),
        sum(border.locations[1] for border in linked.interfaces),
    ]
    stages = [(stage.bit, made[stage.bit]) for stage in request.stages]
    return wire.write_answer(request.key, wire.LINKED, "", figures, stages)


def options_of(request: wire.Request) -> Options:
    """What the command line would be told with ``--layout``, ``--spec``, ``--exact`` and
    ``--complete``."""
    options = Options()
    options.exact = request.exact
    options.complete = request.complete
    if request.layout is not None:
        options.layout = check_layout(request.layout)
    for stage in request.stages:
        name = _NAMES[stage.bit]
        for number, value in specialization(stage).items():
            options.spec[name, number] = value
    return options


def specialization(stage: wire.Stage) -> dict[int, str]:
    """Specialization constants of the module -> the value that they will have. All are known here:
    what pipeline creation does not name keeps its default (Vulkan, "Specialization Constants").
    One whose size does not fit is left to the driver."""
    given = dict(stage.spec)
    values: dict[int, str] = {}
    module = decode(stage.code)
    tables = Decorations.of(module)
    for inst in module.globals:
        found = tables.find(inst, enums.Decoration_SpecId)
        if found:
            raw = given.get(found[0], default_of(inst))
            text = value_of(inst, raw) if raw is not None else None
            if text is not None:
                values[found[0]] = text
    return values


def default_of(inst: Inst) -> bytes | None:
    """The value in the module, as pipeline creation would give it."""
    if inst.op in (ops.OpSpecConstantTrue, ops.OpSpecConstantFalse):
        return struct.pack("<I", inst.op == ops.OpSpecConstantTrue)
    if inst.op != ops.OpSpecConstant or inst.type is None:
        return None
    return struct.pack(f"<{len(inst.imm)}I", *inst.imm)[: inst.type.imm[0] // 8]


def value_of(inst: Inst, raw: bytes) -> str | None:
    """The value as ``--spec`` takes it, None if these bytes are none of the constant's type."""
    type = inst.type
    if type is None:
        return None
    if type.op == ops.OpTypeBool:
        return ("true" if any(raw) else "false") if len(raw) == 4 else None
    if type.op not in (ops.OpTypeInt, ops.OpTypeFloat) or len(raw) * 8 != type.imm[0]:
        return None
    if type.op == ops.OpTypeInt:
        return hex(int.from_bytes(raw, "little"))
    number = struct.unpack(_FLOATS[len(raw)], raw)[0]
    return repr(number) if number == number else None  # text has but one NaN
