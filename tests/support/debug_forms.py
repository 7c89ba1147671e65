"""Debug information of glslang (``-gVS``) as other producers write it.

``as_opencl``: OpenCL.DebugInfo.100, as DXC does it: numbers are literals, a function's description
names it before it is there, a struct's comes before those of its members, lines are OpLine.
``ended``: DebugNoScope behind the terminators of functions, as DXC and Slang have it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random

from spvlink.grammar import ops

VULKAN, OPENCL = "NonSemantic.Shader.DebugInfo.100", "OpenCL.DebugInfo.100"
# Which operands are literals in OpenCL.DebugInfo.100, by instruction.
LITERALS = {
    1: (0, 1, 3), 2: (2,), 3: (1, 2), 4: (1,), 6: (1,), 8: (0,), 9: (3, 4, 7), 10: (1, 3, 4, 8),
    11: (3, 4, 8), 18: (3, 4, 8), 19: (3, 4, 7), 20: (3, 4, 7, 8), 21: (1, 2), 22: (1,), 25: (0,),
    26: (3, 4, 6, 7), 30: tuple(range(8)),
}  # fmt: skip
NONE, ARRAY, COMPOSITE, MEMBER, FUNCTION, NO_SCOPE, DECLARE, SOURCE = 0, 5, 10, 11, 20, 24, 28, 35
DEFINITION, CONTINUED, LINE, NO_LINE, MATRIX = 101, 102, 103, 104, 108
ENDS = frozenset(
    (
        ops.OpBranch, ops.OpBranchConditional, ops.OpSwitch, ops.OpReturn, ops.OpReturnValue,
        ops.OpKill, ops.OpUnreachable, ops.OpTerminateInvocation, ops.OpEmitMeshTasksEXT,
    )
)  # fmt: skip
Words = list[int]


def instructions(code: bytes) -> list[Words]:
    """Every instruction with its first word as the opcode alone."""
    words = struct.unpack(f"<{len(code) // 4}I", code)
    found, at = [], 5
    while at < len(words):
        found.append([words[at] & 0xFFFF, *words[at + 1 : at + (words[at] >> 16)]])
        at += words[at] >> 16
    return found


def module(code: bytes, insts: list[Words], bound: int) -> bytes:
    """The header of ``code`` with other instructions."""
    head = [*struct.unpack("<3I", code[:12]), bound, 0]
    words = [w for i in insts for w in (len(i) << 16 | i[0], *i[1:])]
    return struct.pack(f"<{len(head) + len(words)}I", *head, *words)


def name_words(name: str) -> Words:
    data = name.encode() + b"\0" * (4 - len(name) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def debug_set(insts: list[Words], name: str = VULKAN) -> int:
    """The id of the import; 0 if there is none."""
    wanted = name_words(name)
    return next((i[1] for i in insts if i[0] == ops.OpExtInstImport and i[2:] == wanted), 0)


def as_opencl(code: bytes) -> bytes:
    insts = instructions(code)
    number = debug_set(insts)
    mine = [i for i in insts if i[0] == ops.OpExtInst and i[3] == number]
    values = {i[2]: i[3] for i in insts if i[0] == ops.OpConstant and len(i) == 4}
    defined = {i[5]: i[6] for i in mine if i[4] == DEFINITION}
    parents = {member: i[2] for i in mine if i[4] == COMPOSITE for member in i[14:]}
    files = {i[2]: i[5] for i in mine if i[4] == SOURCE}
    bound = struct.unpack("<I", code[12:16])[0]
    nothing = next((i[2] for i in mine if i[4] == NONE), bound)

    def turned(inst: Words) -> Iterator[Words]:
        kind, operands = inst[4], inst[5:]
        if kind == LINE:
            yield [ops.OpLine, files[operands[0]], values[operands[1]], values[operands[3]]]
            return
        if kind == NO_LINE:
            yield [ops.OpNoLine]
            return
        if kind in (DEFINITION, CONTINUED):
            return
        if kind == MATRIX:
            kind, operands = ARRAY, operands[:2]
        elif kind == MEMBER:
            operands.insert(5, parents.get(inst[2], nothing))
        elif kind == FUNCTION:
            operands[9:] = [defined.get(inst[2], nothing)]
        elif kind == 2 or kind == DECLARE:
            operands = operands[:3]
        literals = LITERALS.get(kind, ())
        words = [values[w] if n in literals else w for n, w in enumerate(operands)]
        yield [*inst[:4], kind, *words]

    out: list[Words] = []
    for inst in sorted_members(insts, number):
        if inst[0] == ops.OpExtInst and inst[3] == number:
            if nothing == bound and inst is mine[0]:
                out.append([ops.OpExtInst, inst[1], bound, number, NONE])
            out += turned(inst)
        elif inst[0] == ops.OpExtInstImport and inst[1] == number:
            out.append([ops.OpExtInstImport, number, *name_words(OPENCL)])
        elif inst != [ops.OpExtension, *name_words("SPV_KHR_non_semantic_info")]:
            out.append(inst)
    return module(code, out, bound + 1)


def sorted_members(insts: list[Words], number: int) -> list[Words]:
    """Each description of a struct before those of its members, which name it."""
    mine = [i for i in insts if i[0] == ops.OpExtInst and i[3] == number]
    of = {member: i for i in mine if i[4] == COMPOSITE for member in i[14:]}
    out: list[Words] = []
    done: set[int] = set()
    for inst in insts:
        kind = inst[4] if inst[0] == ops.OpExtInst and inst[3] == number else -1
        if kind == MEMBER and inst[2] in of and of[inst[2]][2] not in done:
            out.append(of[inst[2]])
            done.add(out[-1][2])
        if kind != COMPOSITE or inst[2] not in done:
            out.append(inst)
    return out


def ended(code: bytes, r: Random, share: float) -> bytes:
    """DebugNoScope behind the last terminator of each function, and a share of the others."""
    insts = instructions(code)
    number = debug_set(insts) or debug_set(insts, OPENCL)
    void = next(i[1] for i in insts if i[0] == ops.OpTypeVoid)
    bound = struct.unpack("<I", code[12:16])[0]
    out: list[Words] = []
    for inst, after in zip(insts, [*insts[1:], [0]]):
        out.append(inst)
        if inst[0] in ENDS and (after[0] == ops.OpFunctionEnd or r.random() < share):
            out.append([ops.OpExtInst, void, bound, number, NO_SCOPE])
            bound += 1
    return module(code, out, bound)


def reformed(code: bytes, r: Random) -> bytes:
    """In one of the forms, or as it is; without such debug information as it is."""
    if not debug_set(instructions(code)):
        return code
    if r.random() < 0.4:
        code = as_opencl(code)
    if r.random() < 0.4:
        code = ended(code, r, r.choice((0.0, 0.3)))
    return code


def drawable(code: bytes) -> bytes:
    """Without OpenCL.DebugInfo.100, which Mesa does not read."""
    insts = instructions(code)
    number = debug_set(insts, OPENCL)
    if not number:
        return code
    gone = {i[2] for i in insts if i[0] == ops.OpExtInst and i[3] == number} | {number}
    kept = [
        i for i in insts
        if not (i[0] == ops.OpExtInst and i[3] == number)
        and not (i[0] in (ops.OpExtInstImport, ops.OpName) and i[1] in gone)
    ]  # fmt: skip
    return module(code, kept, struct.unpack("<I", code[12:16])[0])
