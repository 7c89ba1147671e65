"""The same program in other blocks: what compilers write and glslang does not.

    text = Text(module)          # spirv-dis
    mutate(text, Random(seed))   # split, moved and wrapped blocks, calls that stay calls ...
    module = text.assembled()    # spirv-as

A mutant means what its module meant, except where a condition was made constant. Whoever uses one
has spirv-val look at it when anything is wrong with it: some of what is done here is only allowed
where nothing stands in its way (a new switch around a break of an outer one).
"""

from __future__ import annotations

from random import Random

from tests.support.listing import Block, Function, Line, Text, dominators, in_continue

_OPAQUE = ("OpTypeImage", "OpTypeSampler", "OpTypeSampledImage", "OpTypeRayQueryKHR",
           "OpTypeAccelerationStructureKHR")  # fmt: skip
KINDS = ("split", "invert", "to_switch", "wrap", "wrap", "unreachable", "outline", "outline",
         "outline", "permute", "lines")  # fmt: skip


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
            literals = list(end.words[2::2])
            end.words[0] = self.text.number(int(self.r.choice([*literals, "77"])))
        return True

    def is_owed(self, function: Function, block: Block) -> bool:
        """Whether one way alone must be taken, or must not be: it is never entered, leaves before
        everything is written, ends a loop, or writes what one invocation writes for all (without
        the indices of a mesh, or with those of too many primitives, a driver reads what was never
        written)."""
        parents, types = dominators(function), function.types()
        merge = block.merge()
        assert merge is not None
        loops = [m for m in (b.merge() for b in function.blocks) if m and m.op == "OpLoopMerge"]
        left = {m.words[0] for m in loops}
        if left.intersection(block.successors()):
            return True
        for inner in function.blocks:
            label = inner.label
            while label in parents and parents[label] != block.label:
                label = parents[label]
            if label not in block.successors() or label == merge.words[0]:
                continue  # it is on no way of the selection
            if inner.end.op in ("OpUnreachable", "OpReturn") or left & {*inner.successors()}:
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
        behind = 1
        if self.r.random() < 0.4 and self.joinable(function, target):
            dead.lines = [Line("OpBranch", [target.label])]
        elif self.r.random() < 0.5:  # with code that nothing is known of
            first, last = target.body()
            twins = {li.result: self.text.fresh() for li in target.lines[first:last] if li.result}
            copied = target.lines[first:last]
            if not any(self.unfit(line) for line in copied):
                behind = function.blocks.index(target) + 1
                dead.lines[:0] = [
                    Line(li.op, [twins.get(w, w) for w in li.words], twins.get(li.result, ""))
                    for li in copied
                ]
        function.blocks.insert(self.r.randint(behind, len(function.blocks)), dead)
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
        """Blocks in another order: each behind its dominator. One that nothing reaches comes after
        all that it came after: it may use anything."""
        function = self.r.choice(self.text.functions)
        parents = dominators(function)
        left, done = function.blocks[1:], [function.blocks[0]]
        placed = {done[0].label}
        while left:
            ready = [b for b in left if parents.get(b.label) in placed]
            if left[0].label not in parents:
                ready.append(left[0])
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
