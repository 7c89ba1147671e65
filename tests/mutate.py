"""The same program in other blocks: what compilers write and glslang does not.

    text = Text(module)          # spirv-dis
    mutate(text, Random(seed))   # split, moved and wrapped blocks, calls that stay calls ...
    module = text.assembled()    # spirv-as

A mutant means what its module meant, except where a condition was made constant. Whoever uses one
has spirv-val look at it when anything is wrong with it: some of what is done here is only allowed
where nothing stands in its way (a new switch around a break of an outer one).
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from random import Random

_RESULT = re.compile(r"(%\d+) = (Op\w+)(?: (.*))?$")
_ENDS = ("OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpKill",
         "OpUnreachable", "OpTerminateInvocation", "OpEmitMeshTasksEXT")  # fmt: skip
_MERGES = ("OpSelectionMerge", "OpLoopMerge")
_LINES = ("OpLine", "OpNoLine")
_OPAQUE = ("OpTypeImage", "OpTypeSampler", "OpTypeSampledImage", "OpTypeRayQueryKHR",
           "OpTypeAccelerationStructureKHR")  # fmt: skip

KINDS = ("split", "invert", "to_switch", "wrap", "wrap", "unreachable", "outline", "outline",
         "outline", "permute", "lines")  # fmt: skip


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
    """A module as text: what stands before the functions as it is, functions taken apart."""

    def __init__(self, module: bytes) -> None:
        listing = _run(["spirv-dis", "--raw-id", "--no-indent", "--no-color", "-"], module).decode()
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
        command = ["spirv-as", "--preserve-numeric-ids", "--target-env", f"spv{self.version}"]
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


# --- changes ---


class Mutator:
    """Each method tries one change somewhere and says whether there was a place for it."""

    def __init__(self, text: Text, r: Random) -> None:
        self.text, self.r = text, r

    def some(self) -> tuple[Function, Block] | None:
        function = self.r.choice(self.text.functions)
        return (function, self.r.choice(function.blocks)) if function.blocks else None

    def cut(self, function: Function, block: Block, at: int) -> Block:
        """What comes from ``at`` on becomes a block of its own; the first half lacks its end."""
        rest = Block(self.text.fresh(), block.lines[at:])
        function.rename_edges(rest.successors(), block.label, rest.label)
        del block.lines[at:]
        function.blocks.insert(function.blocks.index(block) + 1, rest)
        return rest

    def place(self) -> tuple[Function, Block, int, int] | None:
        """A run of instructions in a block that may be split."""
        found = self.some()
        if found is None or found[1].is_loop():
            return None
        first, last = found[1].body()
        start = self.r.randint(first, last)
        return *found, start, self.r.randint(start, min(last, start + self.r.choice((3, 12, 99))))

    def split(self) -> bool:
        found = self.place()
        if found is None:
            return False
        function, block, at, _ = found
        rest = self.cut(function, block, at)
        block.lines.append(Line("OpBranch", [rest.label]))
        return True

    def invert(self) -> bool:
        """``if (c) a else b`` -> ``if (!c) b else a``."""
        found = self.some()
        if found is None or found[1].end.op != "OpBranchConditional":
            return False
        block, end = found[1], found[1].end
        at = len(block.lines) - 1 - (block.merge() is not None)
        negated = Line("OpLogicalNot", [self.text.boolean(), end.words[0]], self.text.fresh())
        block.lines.insert(at, negated)
        end.words[:3] = [negated.result, end.words[2], end.words[1]]
        del end.words[3:]  # weights
        return True

    def to_switch(self) -> bool:
        """A selection becomes a switch with one case or two, the other way is the default."""
        found = self.some()
        if found is None or found[1].end.op != "OpBranchConditional":
            return False
        block, end, merge = found[1], found[1].end, found[1].merge()
        if merge is None or merge.op != "OpSelectionMerge":
            return False
        kind, (true, false) = self.text.made("OpTypeInt 32 1"), end.words[1:3]
        words = [kind, end.words[0], self.text.number(1), self.text.number(0)]
        chosen = Line("OpSelect", words, self.text.fresh())
        block.lines.insert(block.lines.index(merge), chosen)
        cases = self.r.choice((["1", true], ["1", true, "0", false], ["1", true, "7", false]))
        block.lines[-1] = Line("OpSwitch", [chosen.result, false, *cases])
        return True

    def settle(self) -> bool:
        """A selection or switch goes a way that everybody can see."""
        found = self.some()
        if found is None:
            return False
        end, merge = found[1].end, found[1].merge()
        if merge is None or merge.op != "OpSelectionMerge" or self.is_owed(*found):
            return False
        if end.op == "OpBranchConditional":
            value = self.r.choice(("True", "False"))
            end.words[0] = self.text.made(f"OpConstant{value} {self.text.boolean()}")
        elif end.op == "OpSwitch":
            kind = found[0].types().get(end.words[0], "")
            if self.text.definition(kind) != "OpTypeInt 32 1":
                return False
            literals = [w for w in end.words[2::2]]
            end.words[0] = self.text.number(int(self.r.choice([*literals, "77"])))
        return True

    def is_owed(self, function: Function, block: Block) -> bool:
        """Whether one way alone must be taken, or must not be: it is never entered, leaves before
        everything is written, or writes what one invocation writes for all (without the indices of
        a mesh, or with those of too many primitives, a driver reads what was never written)."""
        parents, types = dominators(function), function.types()
        merge = block.merge()
        assert merge is not None
        for inner in function.blocks:
            label = inner.label
            while label in parents and parents[label] != block.label:
                label = parents[label]
            if label not in block.successors() or label == merge.words[0]:
                continue  # it is on no way of the selection
            if inner.end.op in ("OpUnreachable", "OpReturn"):
                return True
            if self.shared_outputs() and merge.words[0] in block.successors():
                for line in inner.lines:
                    kind = types.get(line.words[0], "") if line.op == "OpStore" else ""
                    stores = self.text.definition(kind).startswith("OpTypePointer Output")
                    if stores or line.op == "OpFunctionCall":
                        return True
        return False

    def shared_outputs(self) -> bool:
        """Whether invocations write outputs of each other."""
        models = ("OpEntryPoint MeshEXT", "OpEntryPoint TessellationControl")
        return any(line.startswith(models) for line in self.text.preamble)

    def wrap(self) -> bool:
        """Code in a switch with one way, behind a condition that always holds, in a loop of one
        round; or in a loop's continue construct."""
        found = self.place()
        if found is None:
            return False
        function, block, start, stop = found
        kinds = ["switch", "loop", "tail"]
        if not in_continue(function, block):  # from there no way may end
            kinds.append("if")
        self.wrapped(function, block, start, stop, self.r.choice(kinds))
        return True

    def wrapped(self, function: Function, block: Block, start: int, stop: int, kind: str) -> Block:
        """Gives the block with the code."""
        text = self.text
        tail = self.cut(function, block, stop)
        inner = self.cut(function, block, start)
        inner.lines.append(Line("OpBranch", [tail.label]))
        at = function.blocks.index(inner)
        if kind == "switch":
            zero = text.number(0)
            block.lines += [
                Line("OpSelectionMerge", [tail.label, "None"]),
                Line("OpSwitch", [zero, inner.label, *self.r.choice(([], ["0", inner.label]))]),
            ]
        elif kind == "if":
            dead = self.dead_end(function)
            value = self.r.random() < 0.5
            ways = [inner.label, dead.label] if value else [dead.label, inner.label]
            block.lines += [
                Line("OpSelectionMerge", [tail.label, "None"]),
                Line("OpBranchConditional", [text.opaque(value), *ways]),
            ]
            function.blocks.insert(at + self.r.randint(0, 1), dead)
        elif kind == "loop":
            head, back = Block(text.fresh(), []), Block(text.fresh(), [])
            block.lines.append(Line("OpBranch", [head.label]))
            head.lines += [
                Line("OpLoopMerge", [tail.label, back.label, "None"]),
                Line("OpBranch", [inner.label]),
            ]
            back.lines.append(Line("OpBranch", [head.label]))
            function.blocks[at:at] = [head]
            function.blocks.insert(at + 2, back)
        else:  # the code is what a loop does before its second round, of which there is none
            head = Block(text.fresh(), [])
            block.lines.append(Line("OpBranch", [head.label]))
            head.lines += [
                Line("OpLoopMerge", [tail.label, inner.label, "None"]),
                Line("OpBranch", [inner.label]),
            ]
            words = [text.opaque(False), head.label, tail.label]
            inner.lines[-1] = Line("OpBranchConditional", words)
            function.blocks[at:at] = [head]
        return inner

    def dead_end(self, function: Function) -> Block:
        """A block that is never entered."""
        ends = [Line("OpUnreachable", [])]
        if function.head[0].words[0] == self.text.made("OpTypeVoid"):
            ends.append(Line("OpReturn", []))
        if any("OpEntryPoint Fragment" in line for line in self.text.preamble):
            ends.append(Line("OpKill", []))
        return Block(self.text.fresh(), [self.r.choice(ends)])

    def unreachable(self) -> bool:
        """A block without predecessors; it may lead to a block that has no phi."""
        found = self.some()
        if found is None:
            return False
        function, target = found
        dead = self.dead_end(function)
        if self.r.random() < 0.4 and self.joinable(function, target):
            dead.lines = [Line("OpBranch", [target.label])]
        elif self.r.random() < 0.5:  # with code that nothing is known of
            first, last = target.body()
            twins = {li.result: self.text.fresh() for li in target.lines[first:last] if li.result}
            copied = target.lines[first:last]
            if not any(self.unfit(line) for line in copied):
                dead.lines[:0] = [
                    Line(li.op, [twins.get(w, w) for w in li.words], twins.get(li.result, ""))
                    for li in copied
                ]
        function.blocks.insert(self.r.randint(1, len(function.blocks)), dead)
        return True

    @staticmethod
    def joinable(function: Function, target: Block) -> bool:
        """Whether one more predecessor, never taken, leaves everything as it is."""
        return (
            target is not function.blocks[0]
            and not in_continue(function, target)
            and not target.is_loop()
            and target.lines[0].op != "OpPhi"
        )

    def permute(self) -> bool:
        """Blocks in another order: each behind its dominator."""
        function = self.r.choice(self.text.functions)
        parents = dominators(function)
        left, done = function.blocks[1:], [function.blocks[0]]
        placed = {done[0].label}
        while left:
            ready = [b for b in left if parents.get(b.label, done[0].label) in placed]
            # now and then as late as possible: what comes last is drawn first otherwise
            block = self.r.choice(ready)
            left.remove(block)
            done.append(block)
            placed.add(block.label)
        function.blocks = done
        return True

    def lines(self) -> bool:
        """OpLine and OpNoLine wherever they may stand, before parameters and labels too."""
        file = next((t.split(" ")[0] for t in self.text.preamble if " = OpString " in t), "")
        if not file:
            file = self.text.fresh()
            before = ("OpCapa", "OpExtension", "OpMemoryM", "OpEntryP", "OpExecutionM")
            at = 0
            while (
                self.text.preamble[at].startswith(before)
                or " = OpExtInst" in self.text.preamble[at]
            ):
                at += 1
            self.text.preamble.insert(at, f'{file} = OpString "a.hlsl"')
        for function in self.text.functions:
            for number in range(len(function.head), 1, -1):
                if self.r.random() < 0.3:
                    function.head.insert(number - 1, self.line(file))
            for block in function.blocks:
                first, last = block.body()
                for at in range(last, first - 1, -1):
                    if self.r.random() < 0.15:
                        block.lines.insert(at, self.line(file))
        return True

    def line(self, file: str) -> Line:
        if self.r.random() < 0.2:
            return Line("OpNoLine", [])
        return Line("OpLine", [file, str(self.r.randint(1, 90)), str(self.r.randint(0, 40))])

    def outline(self) -> bool:
        """A run of instructions becomes a function; often one that cannot be inlined: it can end
        the invocation and is called from a continue construct."""
        found = self.place()
        if found is None:
            return False
        function, block, start, stop = found
        run = block.lines[start:stop]
        made = {line.result for line in run if line.result}
        types = function.types()
        if not run or any(self.unfit(line) for line in run):
            return False
        free = dict.fromkeys(i for li in run for i in li.ids() if i in types and i not in made)
        rest = [li for b in function.blocks for li in b.lines if li not in run]
        outside = {i for line in rest for i in line.ids()}
        results = [i for i in made if i in outside]
        sources = {line.result: line for line in (*rest, *function.head)}
        for id in (*free, *results):
            pointer = self.text.definition(types[id]).startswith("OpTypePointer")
            whole = id in free and sources[id].op in ("OpVariable", "OpFunctionParameter")
            if (pointer and not whole) or self.is_opaque(types[id]):
                return False
        stays = self.r.random() < 0.7 and not block.is_loop()
        call = self.callee(function, run, list(free), sorted(results), types, stays)
        at = block.lines.index(run[0])  # variables may stand before it now
        block.lines[at : at + len(run)] = call
        if stays:
            self.wrapped(function, block, at, at + len(call), "tail")
        return True

    @staticmethod
    def unfit(line: Line) -> bool:
        """Labels and merges never come here; debug information names its function."""
        return line.op == "OpExtInst" and line.words[2].startswith("Debug")

    def is_opaque(self, type: str) -> bool:
        return self.text.definition(type).startswith(_OPAQUE)

    def callee(
        self, function: Function, run: list[Line], free: list[str], results: list[str],
        types: dict[str, str], stays: bool,
    ) -> list[Line]:  # fmt: skip
        """Makes the function; gives what calls it. The first result is returned, the others go
        through pointers."""
        text = self.text
        back = results.pop(self.r.randrange(len(results))) if results else ""
        kind = types[back] if back else text.made("OpTypeVoid")
        pointers = [text.made(f"OpTypePointer Function {types[i]}") for i in results]
        words = [types[i] for i in free] + pointers
        signature = text.made(" ".join(["OpTypeFunction", kind, *words]))
        name = text.fresh()
        head = [Line("OpFunction", [kind, self.r.choice(("None", "DontInline")), signature], name)]
        inner = {i: text.fresh() for i in free}
        inner |= {line.result: text.fresh() for line in run if line.result}
        head += [Line("OpFunctionParameter", [types[i]], inner[i]) for i in free]
        parameters = [Line("OpFunctionParameter", [p], text.fresh()) for p in pointers]
        made = Function(head + parameters)
        body = Block(text.fresh(), [])
        for line in run:
            twin = [inner.get(w, w) for w in line.words]
            body.lines.append(Line(line.op, twin, inner.get(line.result, "")))
        for id, parameter in zip(results, parameters):
            body.lines.append(Line("OpStore", [parameter.result, inner[id]]))
        end = Line("OpReturnValue", [inner[back]]) if back else Line("OpReturn", [])
        made.blocks.append(body)
        made.tail = [Line("OpFunctionEnd", [])]
        if stays:
            after = Block(text.fresh(), [end])
            dead = self.dead_end(made)
            if dead.end.op == "OpReturn":
                dead.lines = [Line("OpUnreachable", [])]
            value = self.r.random() < 0.5
            ways = [after.label, dead.label] if value else [dead.label, after.label]
            body.lines += [
                Line("OpSelectionMerge", [after.label, "None"]),
                Line("OpBranchConditional", [text.opaque(value), *ways]),
            ]
            made.blocks += [dead, after]
        else:
            body.lines.append(end)
        self.decorate(run, inner)
        text.functions.insert(self.r.randint(0, len(text.functions)), made)
        return self.called(function, name, kind, free, back, results, pointers, types)

    def called(
        self, function: Function, name: str, kind: str, free: list[str], back: str,
        results: list[str], pointers: list[str], types: dict[str, str],
    ) -> list[Line]:  # fmt: skip
        text = self.text
        variables = [Line("OpVariable", [p, "Function"], text.fresh()) for p in pointers]
        function.blocks[0].lines[:0] = variables
        words = [kind, name, *free, *(v.result for v in variables)]
        call = [Line("OpFunctionCall", words, back or text.fresh())]
        for id, variable in zip(results, variables):
            call.append(Line("OpLoad", [types[id], variable.result], id))
        return call

    def decorate(self, run: list[Line], inner: dict[str, str]) -> None:
        """What a decoration said of an instruction it says of its twin; results that are returned
        or loaded keep theirs only where any value may have them."""
        moved = {line.result for line in run if line.result}
        for number in range(len(self.text.preamble) - 1, -1, -1):
            words = self.text.preamble[number].split()
            if words[0] in ("OpDecorate", "OpName") and words[1] in moved:
                twin = " ".join([words[0], inner[words[1]], *words[2:]])
                if words[0] == "OpDecorate":
                    self.text.preamble[number] = twin


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


def mutate(text: Text, r: Random) -> list[str]:
    """A few changes of every kind; gives their names in order."""
    mutator = Mutator(text, r)
    kinds = list(KINDS)
    if r.random() < 0.4:
        kinds.append("settle")
    done = []
    for _ in range(r.choice((1, 2, 4, 8, 14))):
        kind = r.choice(kinds)
        if getattr(mutator, kind)():
            done.append(kind)
        if kind == "lines":
            kinds.remove(kind)
    return done
