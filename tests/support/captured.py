"""What transform feedback captures, read from the decorations of a module."""

from __future__ import annotations

from tests.render.reflect import OUTPUT, Stage

BUILTIN, STREAM, OFFSET, BUFFER, STRIDE = 11, 29, 35, 36, 37
Bytes = dict[tuple[int, int], tuple[int, int, bool]]  # (buffer, byte) -> stride, stream, built-in


def captured(code: bytes) -> Bytes:
    """Every 32-bit word that an entry point captures. AssertionError where two overlap, or a buffer
    has two strides or streams."""
    stage = Stage(code)
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


def _words(stage: Stage, type: int) -> int:
    number = stage.numeric(type)
    if number is not None:
        return number.count * number.width // 32
    op, args = stage.module.types[type]
    if op == 30:
        return sum(_words(stage, member) for member in args)
    count = args[1] if op == 24 else stage.module.constants[args[1]]
    return count * _words(stage, args[0])
