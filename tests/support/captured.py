"""What transform feedback captures, read from the decorations of a module."""

from __future__ import annotations

from spvlink.draw import mismatches
from spvlink.draw.border import slots
from spvlink.draw.reflect import INPUT, OUTPUT, ReadStage

BUILTIN, STREAM, OFFSET, BUFFER, STRIDE = 11, 29, 35, 36, 37
Bytes = dict[tuple[int, int], tuple[int, int, bool]]  # (buffer, byte) -> stride, stream, built-in


def captured(code: bytes) -> Bytes:
    """Every 32-bit word that an entry point captures. AssertionError where two overlap, or a buffer
    has two strides or streams."""
    stage = ReadStage(code)
    module = stage.module
    found: Bytes = {}
    for variable in stage.interface:
        if module.variables.get(variable, (0, -1))[1] != OUTPUT:
            continue
        type = stage.pointee(variable)
        own = module.decorations[variable]
        op, args = module.types[type]
        parts = [(type, own)]
        if op == 30 and OFFSET not in own:
            parts = [
                (member, {**own, **module.decorations[type], **module.member_decorations[type, at]})
                for at, member in enumerate(args)
            ]
        for part, words in parts:
            if OFFSET not in words:
                continue
            stream = words.get(STREAM, [0])[0]
            what = (words[STRIDE][0], stream, BUILTIN in words)
            for word in range(_words(stage, part)):
                place = words[BUFFER][0], words[OFFSET][0] + 4 * word
                assert place not in found, f"two outputs at byte {place[1]} of buffer {place[0]}"
                found[place] = what
    for buffer in {b for b, _ in found}:
        assert len({w[:2] for (b, _), w in found.items() if b == buffer}) == 1
    return found


def _words(stage: ReadStage, type: int) -> int:
    number = stage.numeric(type)
    if number is not None:
        return number.count * number.width // 32
    op, args = stage.module.types[type]
    if op == 30:
        return sum(_words(stage, member) for member in args)
    count = args[1] if op == 24 else stage.module.constants[args[1]]
    return count * _words(stage, args[0])


def read(codes: list[bytes]) -> tuple[set[int], set[int]]:
    """The Locations that the fragment shader declares, and that the stage before it does."""
    inputs, outputs = slots(ReadStage(codes[-1]), INPUT), slots(ReadStage(codes[-2]), OUTPUT)
    return {location for location, _ in inputs}, {location for location, _ in outputs}


def check_layout(before: list[bytes], after: list[bytes]) -> None:
    """The same bytes captured, and what only transform feedback wants behind what is read."""
    old, new = captured(before[-2]), captured(after[-2])
    assert old and new == old
    assert not mismatches(after)
    inputs, outputs = read(after)
    assert inputs <= outputs
    assert len(outputs) <= len(read(before)[1])
    assert len(inputs) <= len(read(before)[0])
