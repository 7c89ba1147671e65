"""A module as spirv-dis lists it: functions of blocks of lines, to be changed and assembled again.

text = Text(module)          # spirv-dis
module = text.assembled()    # spirv-as
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

_RESULT = re.compile(r"(%\d+) = (Op\w+)(?: (.*))?$")
_ENDS = ("OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpKill",
         "OpUnreachable", "OpTerminateInvocation", "OpEmitMeshTasksEXT")  # fmt: skip
_MERGES = ("OpSelectionMerge", "OpLoopMerge")
_LINES = ("OpLine", "OpNoLine")


class Line:
    """An instruction inside of a function; ``words``: its operands, the result type first."""

    __slots__ = ("op", "result", "words")

    def __init__(self, op: str, words: list[str], result: str = "") -> None:
        self.op, self.words, self.result = op, words, result

    @staticmethod
    def parse(text: str) -> Line:
        match = _RESULT.match(text)
        if match:
            return Line(match[2], (match[3] or "").split(), match[1])
        op, *words = text.split()
        return Line(op, words)

    def __str__(self) -> str:
        head = f"{self.result} = " if self.result else ""
        return " ".join([head + self.op, *self.words])

    def ids(self) -> list[str]:
        """All ids among the operands, the result type not."""
        return [w for w in self.words[1 if self.result else 0 :] if w[0] == "%"]


class Block:
    __slots__ = ("label", "lines")

    def __init__(self, label: str, lines: list[Line]) -> None:
        self.label, self.lines = label, lines

    @property
    def end(self) -> Line:
        return self.lines[-1]

    def merge(self) -> Line | None:
        for line in self.lines[-3:-1]:
            if line.op in _MERGES:
                return line
        return None

    def is_loop(self) -> bool:
        merge = self.merge()
        return merge is not None and merge.op == "OpLoopMerge"

    def successors(self) -> list[str]:
        if not self.lines:
            return []
        if self.end.op == "OpBranchConditional":
            return self.end.words[1:3]
        if self.end.op in ("OpBranch", "OpSwitch"):
            return [w for w in self.end.words[int(self.end.op == "OpSwitch") :] if w[0] == "%"]
        return []

    def body(self) -> tuple[int, int]:
        """From where to where ordinary instructions stand."""
        first = 0
        while self.lines[first].op in ("OpPhi", "OpVariable", *_LINES):
            first += 1
        for at, line in enumerate(self.lines):  # it stays in the first block
            if line.op == "OpExtInst" and line.words[2] == "DebugFunctionDefinition":
                first = at + 1
        last = len(self.lines) - 1
        while last > first and self.lines[last - 1].op in (*_MERGES, *_LINES):
            last -= 1
        return first, last


class Function:
    """``head``: OpFunction and the parameters, perhaps with lines between; ``tail``: what stands
    between the last terminator and OpFunctionEnd."""

    def __init__(self, head: list[Line]) -> None:
        self.head = head
        self.blocks: list[Block] = []
        self.tail: list[Line] = []

    def rename_edges(self, targets: list[str], old: str, new: str) -> None:
        """The phis of these blocks get their values from another predecessor."""
        for block in self.blocks:
            if block.label in targets:
                for line in block.lines:
                    if line.op == "OpPhi":
                        words = line.words
                        words[2::2] = [new if w == old else w for w in words[2::2]]

    def types(self) -> dict[str, str]:
        """Result -> type, of all that is defined here."""
        lines = [*self.head[1:], *(li for b in self.blocks for li in b.lines)]
        return {line.result: line.words[0] for line in lines if line.result and line.words}


class Text:
    """A module as text: what stands before the functions as it is, functions taken apart.
    ``tools``: what stands before the names of spirv-dis and spirv-as, for those of a folder."""

    def __init__(self, module: bytes, tools: str = "") -> None:
        self.tools = tools
        command = [f"{tools}spirv-dis", "--raw-id", "--no-indent", "--no-color", "-"]
        listing = _run(command, module).decode()
        self.version = re.search(r"; Version: (\d\.\d)", listing)[1]  # type: ignore[index]
        self.preamble: list[str] = []
        self.functions: list[Function] = []
        self.opaques: dict[bool, str] = {}
        self.bound = int(re.search(r"; Bound: (\d+)", listing)[1])  # type: ignore[index]
        for text in _instructions(listing):
            if not self.functions and " = OpFunction " not in text:
                self.preamble.append(text)
            else:
                self._take(Line.parse(text))

    def _take(self, line: Line) -> None:
        if line.op == "OpFunction":
            self.functions.append(Function([line]))
            return
        function = self.functions[-1]
        if line.op == "OpLabel":
            function.blocks.append(Block(line.result, []))
        elif not function.blocks:
            function.head.append(line)
        elif function.blocks[-1].lines and function.blocks[-1].end.op in _ENDS:
            function.tail.append(line)
        else:
            function.blocks[-1].lines.append(line)

    def __str__(self) -> str:
        out = list(self.preamble)
        for function in self.functions:
            out += map(str, function.head)
            for block in function.blocks:
                out.append(f"{block.label} = OpLabel")
                out += map(str, block.lines)
            out += map(str, function.tail)
        return "\n".join(out) + "\n"

    def assembled(self) -> bytes:
        command = [f"{self.tools}spirv-as", "--preserve-numeric-ids"]
        command += ["--target-env", f"spv{self.version}"]
        return _run([*command, "-", "-o", "-"], str(self).encode())

    def fresh(self) -> str:
        self.bound += 1
        return f"%{self.bound - 1}"

    def made(self, text: str) -> str:
        """The result of a global instruction, e.g. ``OpTypeBool``: one that is there or a new
        one."""
        for line in self.preamble:
            if line.endswith(f"= {text}"):
                return line.split(" ", 1)[0]
        result = self.fresh()
        self.preamble.append(f"{result} = {text}")
        return result

    def definition(self, id: str) -> str:
        """The text of a global instruction, without its result; empty if there is none."""
        for line in self.preamble:
            if line.startswith(f"{id} = "):
                return line.split(" = ", 1)[1]
        return ""

    def boolean(self) -> str:
        return self.made("OpTypeBool")

    def number(self, value: int) -> str:
        return self.made(f"OpConstant {self.made('OpTypeInt 32 1')} {value}")

    def opaque(self, value: bool) -> str:
        """A specialization constant that nobody gives another value: for a linker it may have
        any."""
        if value not in self.opaques:
            type, found = self.boolean(), self.fresh()
            self.opaques[value] = found
            self.preamble.append(f"{found} = OpSpecConstant{value} {type}")
            first = next(
                i for i, t in enumerate(self.preamble)
                if t.startswith(("OpDecorate", "OpMemberDecorate")) or " = OpType" in t
            )  # fmt: skip
            self.preamble.insert(first, f"OpDecorate {found} SpecId {900 + value}")
        return self.opaques[value]


def _instructions(listing: str) -> Iterator[str]:
    """One string an instruction: a literal (OpSource) may hold line breaks."""
    held: list[str] = []
    quotes = 0
    for text in listing.split("\n"):
        held.append(text)
        quotes += text.replace("\\\\", "").replace('\\"', "").count('"')
        if quotes % 2 == 0:
            if held[0] and not held[0].startswith(";"):
                yield "\n".join(held)
            held.clear()


def _run(command: list[str], data: bytes) -> bytes:
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"{command[0]}: {done.stderr.decode()[:500]}")
    return done.stdout


def dominators(function: Function) -> dict[str, str]:
    """Label -> label of the immediate dominator, of reachable blocks but the first."""
    blocks = {b.label: b for b in function.blocks}
    entry = function.blocks[0].label
    order: list[str] = []
    seen = {entry}
    stack = [(entry, iter(blocks[entry].successors()))]
    while stack:
        label, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(blocks[target].successors())))
                break
        else:
            order.append(label)
            stack.pop()
    order.reverse()
    index = {label: i for i, label in enumerate(order)}
    before: dict[str, list[str]] = {label: [] for label in order}
    for label in order:
        for target in blocks[label].successors():
            before[target].append(label)
    parents = {entry: entry}
    again = True
    while again:
        again = False
        for label in order[1:]:
            known = [p for p in before[label] if p in parents]
            one = known[0]
            for other in known[1:]:
                while one != other:
                    if index[one] > index[other]:
                        one = parents[one]
                    else:
                        other = parents[other]
            if parents.get(label) != one:
                parents[label], again = one, True
    del parents[entry]
    return parents


def in_continue(function: Function, block: Block) -> bool:
    """Whether a continue target dominates the block."""
    targets = {b.lines[-2].words[1] for b in function.blocks if b.is_loop()}
    parents, label = dominators(function), block.label
    while label not in targets and label in parents:
        label = parents[label]
    return label in targets
