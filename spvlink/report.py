"""What became of every varying: as JSON for programs, as a table for people."""

from __future__ import annotations

from spvlink.pipeline import (
    VALIDATED,
    Flaw,
    InterfaceResult,
    Linked,
    Remark,
    StageResult,
    shown_bound,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator

WIDTH = 100  # columns of the table
BYTES = ("vertex_bytes", "position_bytes", "primitive_bytes")  # figures of a border


def to_json(linked: Linked, version: str) -> str:
    """The JSON report, one line an entry so that two reports can be compared with diff."""
    from json import dumps

    stages = [dumps(stage(s)) for s in linked.stages]
    interfaces = [dumps(interface(i)) for i in linked.interfaces]
    remarks = [dumps(remark(r)) for r in linked.remarks]
    warnings = [dumps(flaw(w) | {"file": w.file}) for w in linked.warnings]
    seconds = {name: round(value, 7) for name, value in linked.seconds.items()}
    lines = [
        f'  "spvlink": {dumps(version)}',
        f'  "passed_through": {dumps(linked.passed_through)}',
        f'  "stages": {_array(stages)}',
        f'  "interfaces": {_array(interfaces)}',
        f'  "remarks": {_array(remarks)}',
        f'  "seconds": {dumps(seconds)}',
        f'  "target_env": {dumps(linked.target_env)}',
        f'  "validated": {dumps(linked.validated)}',
        f'  "warnings": {_array(warnings)}',
    ]
    if linked.verified is not None:
        lines.append(f'  "verified": {dumps(linked.verified[1])}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def stage(result: StageResult) -> dict[str, object]:
    """One stage, as the report has it."""
    return {
        "stage": result.stage,
        "file": result.file,
        "instructions": list(result.instructions),
        "bytes": list(result.bytes),
    }


def interface(result: InterfaceResult) -> dict[str, object]:
    """One border, as the report has it."""
    moved: dict[str, object] = {}
    if result.error_bound is not None:
        moved = {"error_bound": result.error_bound, "assumed": list(result.assumed)}
    return {
        "producer": result.producer,
        "consumer": result.consumer,
        "components": list(result.components),
        "locations": list(result.locations),
        **{name: list(getattr(result, name)) for name in BYTES},
        **moved,
    }


def remark(one: Remark) -> dict[str, object]:
    """One remark, as the report has it."""
    names = ("interface", "name", "slot", "action", "why")
    entry = {name: getattr(one, name) for name in names}
    return entry if one.error_bound is None else entry | {"error_bound": one.error_bound}


def flaw(one: Flaw) -> dict[str, object]:
    """One warning, as the report has it."""
    return {"interface": one.interface, "message": one.message, "rule": one.rule or None}


def _array(entries: list[str]) -> str:
    if not entries:
        return "[]"
    return "[\n    " + ",\n    ".join(entries) + "\n  ]"


def explain(linked: Linked) -> str:
    """The table of ``--explain``, at most WIDTH columns wide where names allow it."""
    lines = list(_summary(linked))
    borders = list(dict.fromkeys(remark.interface for remark in linked.remarks))
    for border in borders:
        remarks = [remark for remark in linked.remarks if remark.interface == border]
        lines.append("")
        lines += _table(border, remarks)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _summary(linked: Linked) -> Iterator[str]:
    files = [f"{s.stage} {s.file}" if s.file else s.stage for s in linked.stages]
    yield from wrap("pipeline: " + ", ".join(files), WIDTH, "          ")
    for border in linked.interfaces:
        yield "  " + _border(border)
        told = bytes_line(border.vertex_bytes, border.position_bytes, border.primitive_bytes)
        if told:
            yield f"  {'':12} {told}"
        if border.error_bound is not None:
            yield f"  {'':12} a colour moves by {shown_bound(border.error_bound)} of white at most"
            if border.assumed:
                assumed = f"assumed: {', '.join(border.assumed)}"
                yield from (f"  {'':12} {line}" for line in wrap(assumed, WIDTH - 15, "  "))
    for stage in linked.stages:
        yield (
            f"  {stage.stage + ':':12} {change(*stage.instructions)} instructions,"
            f" {change(*stage.bytes)} bytes"
        )
    if len(linked.stages) > 1:
        before = sum(s.instructions[0] for s in linked.stages)
        after = sum(s.instructions[1] for s in linked.stages)
        size = sum(s.bytes[0] for s in linked.stages), sum(s.bytes[1] for s in linked.stages)
        yield f"  {'together:':12} {change(before, after)} instructions, {change(*size)} bytes"
    if linked.passed_through is not None:
        yield from wrap(f"passed through unchanged: {linked.passed_through}", WIDTH, "  ")
    elif linked.validated is not None and linked.validated != VALIDATED:
        yield from wrap(linked.validated, WIDTH, "  ")
    if linked.verified is not None:
        yield from wrap(linked.verified[0], WIDTH, "  ")


def _border(border: InterfaceResult) -> str:
    name = f"{border.producer}->{border.consumer}:"
    components = change(*border.components)
    return f"{name:12} {components} components in {change(*border.locations)} Locations"


def bytes_line(
    vertex: tuple[int, int], position: tuple[int, int], primitive: tuple[int, int]
) -> str:
    """What a stage hands on, in words; empty for nothing."""
    parts: list[str] = []
    if any(vertex):
        parts.append(f"{change(*vertex)} bytes a vertex, {change(*position)} for position")
    if any(primitive):
        parts.append(f"{change(*primitive)} bytes a primitive")
    return "; ".join(parts)


def change(before: int, after: int) -> str:
    """``5 -> 3``, or the number alone if it stayed."""
    return str(before) if before == after else f"{before} -> {after}"


def _table(border: str, remarks: list[Remark]) -> Iterator[str]:
    names = [remark.name or "(no name)" for remark in remarks]
    name_width = min(max(len(border), *(len(name) for name in names)), 32)
    slot_width = max(4, *(len(remark.slot) for remark in remarks))
    action_width = max(6, *(len(remark.action) for remark in remarks))
    left = name_width + slot_width + action_width + 6
    yield f"{border:{name_width}}  {'slot':{slot_width}}  {'action':{action_width}}  why"
    for name, remark in zip(names, remarks):
        why = list(wrap(remark.why, max(WIDTH - left, 24), "")) or [""]
        if len(name) > name_width:
            yield name  # a long name has a line of its own
            name = ""
        row = f"{name:{name_width}}  {remark.slot:{slot_width}}  {remark.action:{action_width}}"
        yield f"{row}  {why[0]}"
        for line in why[1:]:
            yield " " * left + line


def wrap(text: str, width: int, indent: str) -> Iterator[str]:
    """Break at blanks into lines of at most ``width`` columns; all but the first are indented."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def times(linked: Linked) -> str:
    """The table of ``--time``: milliseconds per phase."""
    total = sum(linked.seconds.values())
    lines = [
        f"{name:24} {seconds * 1000:9.3f} ms {100 * seconds / total if total else 0:5.1f} %"
        for name, seconds in linked.seconds.items()
    ]
    return "\n".join([*lines, f"{'together':24} {total * 1000:9.3f} ms"]) + "\n"
