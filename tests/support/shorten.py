"""A module as text in the short form (tests/support/short.py): everything that its other lines
imply is left out, all the rest stands there, so that reading it gives the module back but for the
order of declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spvlink.grammar import info, ops
from spvlink.grammar import names as grammar_names
from spvlink.ir import core
from spvlink.ir.core import Block, Function, Inst, Module, op_of_name, string_of, text_of_name
from spvlink.text import print_inst, print_module
from spvlink.text.friendly import clean, describe
from spvlink.text.parser import parse_named
from tests.support import short

WIDTH = 100  # of a line with a struct and its members
_MERGES = {getattr(ops, op): kind for kind, op in short.MERGES.items()}
_HEADER = re.compile(r"(?:;.*\n)*")
_TERMINATORS = frozenset(op for op, flags in info.FLAGS.items() if flags & info.TERMINATOR)


def shorten(module: Module, words: dict[Inst, str] | None = None) -> str:
    """The short form; whole where it could not say the same. ``words`` are names for ids that
    nothing else names."""
    writer = _Writer(module, words or {})
    text = writer.text()
    return print_module(module, friendly=True) if text is None else text


def tidy(text: str) -> str:
    """A text, whole or short, in the short form: with its header and the names of its ids."""
    whole = short.expand(text)
    module, named = parse_named(whole)
    words = {
        inst: word
        for inst, word in named.items()
        if re.fullmatch(r"[A-Za-z]\w*", word) and not short.is_like_rule(word)
    }
    header = _HEADER.match(whole)
    return (header[0] if header else "") + shorten(module, words)


class _Writer:
    def __init__(self, module: Module, words: dict[Inst, str]) -> None:
        self.module = module
        self.words = words
        self.names: dict[Inst, str] = {}
        self.taken: dict[str, Inst] = {}
        self.count = 0
        self.ruled: dict[Inst, str] = {}  # what has its name by the rule, and its definition
        self.wishes: dict[Inst, list[str]] = {}  # the strings of OpName
        for named, name in module.names:
            if op_of_name(name) == ops.OpName:
                self.wishes.setdefault(named, []).append(text_of_name(name))
        self.entries = module.sections[core.ENTRY_POINTS]
        self.mains = {e.args[0]: string_of(e.imm, 1)[0] for e in self.entries}
        self.targets = _targets(module)
        self.name_all()
        self.notes: dict[Inst, list[str]] = {}
        self.members: dict[Inst, dict[int, tuple[list[str], list[str]]]] = {}
        self.beside: dict[int, list[str]] = {core.NAMES: [], core.ANNOTATIONS: []}
        self.attach_names()
        self.attach_decorations()
        self.alone = self.find_alone()
        self.head = self.find_head()

    # names

    def name_all(self) -> None:
        for section in (self.module.sections[core.IMPORTS], self.module.sections[core.STRINGS],
                        self.module.globals):  # fmt: skip
            for inst in section:
                if inst.id:
                    self.name_global(inst)
        for function in self.module.functions:
            self.name(function, self.mains.get(function, ""))
            for inst in function.params:
                self.name(inst)
            for block in function.blocks:
                if not self.is_bare(function, block):
                    self.name(block)
                for inst in block.insts:
                    if inst.id:
                        self.name(inst)

    def name_global(self, inst: Inst) -> None:
        word = self.by_rule(inst)
        if word and word not in self.taken:
            defined = short.definition_of(word, self.op_of)
            if defined == print_inst(inst, self.names).partition(" = ")[2]:
                self.names[inst], self.taken[word], self.ruled[inst] = word, inst, defined
                return
        self.name(inst)

    def by_rule(self, inst: Inst) -> str:
        if inst.op == ops.OpTypeFunction:
            return "fn_" + "_".join(self.names.get(a, "") for a in inst.args)
        if inst.op == ops.OpTypeRuntimeArray:
            return "rarr_" + self.names.get(inst.args[0], "")
        try:
            return describe(inst, self.names)
        except (IndexError, ValueError):
            return ""  # malformed, on purpose

    def op_of(self, word: str) -> str:
        inst = self.taken.get(word)
        return ops.NAMES.get(inst.op, "") if inst is not None else ""

    def name(self, inst: Inst, wish: str = "") -> None:
        if not wish:
            wish = next(iter(self.wishes.get(inst, ())), "") or self.words.get(inst, "")
        wish = clean(wish)
        if not wish or wish.isdigit():
            self.count += 1
            self.names[inst] = str(self.count)
            self.taken[str(self.count)] = inst
            return
        wish = "_" + wish if short.is_like_rule(wish) else wish
        word, number = wish, 0
        while word in self.taken:
            word = f"{wish}_{number}"
            number += 1
        self.names[inst] = word
        self.taken[word] = inst

    def is_bare(self, function: Function, block: Block) -> bool:
        """Whether the label of this block is left out."""
        return (
            block is function.blocks[0]
            and bool(block.insts)
            and block not in self.targets
            and not block.lead
            and block.insts[0].op not in (ops.OpLine, ops.OpNoLine)
        )

    # what stands beside a result, in braces

    def attach_names(self) -> None:
        present = self.names.keys()
        for inst, word in self.names.items():
            implied = self.implied_name(inst, word)
            wishes = self.wishes.get(inst, [])
            if implied and not wishes:
                self.notes[inst] = [short.UNNAMED]
            elif wishes and (wishes != [implied] or not implied):
                self.notes[inst] = []
        for line in self.module.listed(core.NAMES):
            target = line.args[0]
            if target not in present:
                continue
            text = print_inst(line, self.names).split(" ", 2)[2]
            member = self.member(line) if line.op == ops.OpMemberName else None
            if member is not None:
                name = text.split(" ", 1)[1]
                plain = re.fullmatch(r'"(\w+)"', name)
                member[0].append(plain[1] if plain else name)
            elif line.op == ops.OpName and target not in self.ruled:
                if target in self.notes:
                    self.notes[target].append(text)
            else:
                self.beside[core.NAMES].append(print_inst(line, self.names))

    def implied_name(self, inst: Inst, word: str) -> str:
        named = ops.NAMES.get(inst.op, "") in short.NAMED
        return "" if not named or word.isdigit() or inst in self.mains else word

    def attach_decorations(self) -> None:
        for line in self.module.annotations:
            target = line.args[0] if line.args else None
            if target is not None and target not in self.names:
                continue
            text = print_inst(line, self.names)
            words = text.split(" ", 2)
            member = self.member(line) if line.op == ops.OpMemberDecorate else None
            if line.op == ops.OpDecorate and target is not None and target not in self.ruled:
                self.notes.setdefault(target, []).append(words[2])
            elif member is not None:
                member[1].append(words[2].split(" ", 1)[1])
            else:
                self.beside[core.ANNOTATIONS].append(text)

    def member(self, line: Inst) -> tuple[list[str], list[str]] | None:
        """The names and the decorations of the member that this line is about; None if the struct
        has no such member."""
        struct, number = line.args[0], line.imm[0]
        if struct.op != ops.OpTypeStruct or number >= len(struct.args):
            return None
        return self.members.setdefault(struct, {}).setdefault(number, ([], []))

    def find_head(self) -> Inst | None:
        """The entry point that implies its function, if there is one."""
        if len(self.entries) != 1:
            return None
        (entry,) = self.entries
        main = entry.args[0]
        before = self.module.globals[-1:]
        name = print_inst(entry, self.names).split(" ")[3]
        is_plain = (
            isinstance(main, Function)
            and not main.lead
            and not (before and before[0].op in (ops.OpLine, ops.OpNoLine))
            and print_inst(main, self.names).partition(" = ")[2] == short.MAIN
            and self.notes.get(main) in ([name], None)
        )
        return entry if is_plain else None

    # what is not used, so not implied

    def find_alone(self) -> set[Inst]:
        """What has its name by the rule, but no other line uses."""
        seen: set[Inst] = set()

        def reach(inst: Inst) -> None:
            waiting = [inst]
            while waiting:
                one = waiting.pop()
                if one in seen:
                    continue
                seen.add(one)
                waiting += one.args
                if one.type is not None:
                    waiting.append(one.type)

        for inst in self.roots():
            reach(inst)
        found = set()
        for inst in reversed([*self.module.sections[core.IMPORTS], *self.module.globals]):
            if inst in self.ruled and inst not in seen:
                found.add(inst)
                reach(inst)
        return found

    def roots(self) -> Iterator[Inst]:
        module = self.module
        for number in (core.ENTRY_POINTS, core.EXECUTION_MODES, core.STRINGS, core.PROCESSED):
            yield from module.sections[number]
        for inst in module.annotations:
            if all(a in self.names for a in inst.args[:1]):
                yield inst
        yield from (inst for inst in module.globals if inst not in self.ruled)
        yield from (inst for inst in self.ruled if inst in self.wishes)
        for function in module.functions:
            yield function
            yield from function.params
            for block in function.blocks:
                yield from block.insts

    # text

    def text(self) -> str | None:
        lines = self.prelude()
        if lines is None or not all(map(_is_ended, self.module.functions)):
            return None
        names, annotations = self.beside[core.NAMES], self.beside[core.ANNOTATIONS]
        lines += [*names, *self.plain(core.PROCESSED), *annotations]
        for inst in self.module.globals:
            if inst not in self.ruled:
                lines += self.defined(inst)
        alone = [self.defined(i)[0] for i in self.module.globals if i in self.alone]
        lines += sorted(alone)
        for number, function in enumerate(self.module.functions):
            lines += [""] * (number > 0) + self.function(function, number)
        lines += self.plain_of(self.module.tail)
        return "".join(f"{line}\n" for line in lines)

    def prelude(self) -> list[str] | None:
        """What stands before names; None if the short form cannot say it."""
        sections = self.module.sections
        whole = [
            f"%{self.names[i]} = {self.ruled[i]}" if i in self.ruled else print_inst(i, self.names)
            for i in self.module.globals
        ]
        stages = [
            grammar_names.ENUM_NAMES["ExecutionModel"].get(e.imm[0], "") for e in self.entries
        ]
        if self.plain(core.MEMORY_MODEL) != [short.MEMORY_MODEL]:
            return None
        capabilities = self.plain(core.CAPABILITIES)
        implied = [f"OpCapability {c}" for c in short.capabilities_of(stages, whole)]
        if sorted(capabilities) == sorted(implied):
            capabilities = []
        elif not capabilities:
            return None
        if capabilities:
            names = [line.removeprefix("OpCapability ") for line in capabilities]
            capabilities = [f"OpCapability {' '.join(names)}"]
        extensions = self.plain(core.EXTENSIONS)
        implied = short.extensions_of(stages)
        if extensions == implied:
            extensions = []
        elif not extensions:
            return None
        imports = [i for i in sections[core.IMPORTS] if i not in self.ruled or i in self.alone]
        modes = self.plain(core.EXECUTION_MODES)
        for entry, stage in zip(self.entries, stages, strict=True):
            mode = f"OpExecutionMode %{self.names[entry.args[0]]} OriginUpperLeft"
            if stage != "Fragment":
                continue
            if mode not in modes:
                return None
            modes.remove(mode)
        entries = [self.entry(print_inst(e, self.names), whole) for e in self.entries]
        if len(entries) == 1:
            start = f"OpExecutionMode %{self.names[self.entries[0].args[0]]} "
            notes = [mode.removeprefix(start) for mode in modes]
            unnamed = self.head is not None and self.head.args[0] not in self.notes
            if all(mode.startswith(start) for mode in modes):
                modes = []
            else:
                notes = []
            entries[0] += braces([short.UNNAMED] * unnamed + notes)
        if self.head is not None:
            self.head_line = entries.pop()
        strings = self.plain(core.STRINGS)
        return [*capabilities, *extensions, *self.plain_of(imports), *entries, *modes, *strings]

    def entry(self, text: str, whole: list[str]) -> str:
        words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', text)
        implied = short.interface_words(words[:4], whole)
        if words == implied:
            return " ".join(words[:4])
        return " ".join(words if words[4:] else [*words, short.NO_INTERFACE])

    def plain(self, section: int) -> list[str]:
        return self.plain_of(self.module.sections[section])

    def plain_of(self, insts: list[Inst]) -> list[str]:
        return [print_inst(i, self.names) for i in insts]

    def defined(self, inst: Inst) -> list[str]:
        """A line with what its braces say; a struct with its members."""
        text = print_inst(inst, self.names)
        members = self.members.get(inst) if inst.op == ops.OpTypeStruct else None
        if not members:
            return [text + braces(self.notes.get(inst, ()))]
        lines = [
            text.split(" OpTypeStruct")[0] + " OpTypeStruct" + braces(self.notes.get(inst, ()))
        ]
        for number, type in enumerate(inst.args):
            names, notes = members.get(number, ([], []))
            words = " ".join([f"%{self.names.get(type, type.id)}", *names])
            lines.append(f"  {words}{braces(notes)}")
        filled = lines[:1]
        for line in lines[1:]:
            if len(joined := f"{filled[-1]}{short.MEMBER}{line.strip()}") <= WIDTH:
                filled[-1] = joined
            else:
                filled.append(line)
        return filled

    def function(self, function: Function, number: int) -> list[str]:
        is_head = self.head is not None and self.head.args[0] is function
        lines = (
            [self.head_line] if is_head else self.plain_of(function.lead) + self.defined(function)
        )
        for param in function.params:
            lines += [f"  {line}" for line in self.plain_of(function.leads.get(param, []))]
            lines += [f"  {line}" for line in self.defined(param)]
        for block, after in zip(function.blocks, [*function.blocks[1:], None]):
            lines += [f"  {line}" for line in self.plain_of(block.lead)]
            if not self.is_bare(function, block):
                lines += self.defined(block)
            insts = block.insts
            if after is not None and not after.lead and self.falls_through(function, block, after):
                insts = insts[:-1]
            lines += [f"  {line}" for line in self.code(insts)]
        others = self.module.functions[number + 1 :]
        is_ended = bool(function.tail or (others[0].lead if others else self.module.tail))
        if function.blocks and not is_ended:
            last = function.blocks[-1].insts[-1:]
            if not last or last[0].op not in _TERMINATORS:
                is_ended = True
            elif last[0].op == ops.OpReturn and not self.is_empty(function):
                lines.pop()
        if is_ended:
            lines += [*self.plain_of(function.tail), "OpFunctionEnd"]
        return lines

    def code(self, insts: list[Inst]) -> list[str]:
        """The lines of a block; a merge instruction stands in the braces of its branch."""
        if len(insts) > 1 and insts[-2].op in _MERGES and insts[-2].imm[-1] == 0:
            (merge,) = self.plain_of([insts[-2]])
            _, *targets, control = merge.split()
            if control == "None":
                lines = [line for inst in insts[:-2] for line in self.defined(inst)]
                note = " ".join((_MERGES[insts[-2].op], *targets))
                return [*lines, self.defined(insts[-1])[0] + braces([note])]
        return [line for inst in insts for line in self.defined(inst)]

    def falls_through(self, function: Function, block: Block, after: Block) -> bool:
        """Whether a block ends with a branch to the one that follows it."""
        *before, end = block.insts
        if before and before[-1].op in (ops.OpLine, ops.OpNoLine):
            return False
        if before and before[-1].op in _MERGES:
            return False
        is_seen = before or not self.is_bare(function, block)
        return bool(is_seen) and end.op == ops.OpBranch and end.args[0] is after

    def is_empty(self, function: Function) -> bool:
        """Whether OpReturn alone tells the function from one without a body."""
        entry = function.blocks[0]
        return len(function.blocks) == 1 and len(entry.insts) == 1 and self.is_bare(function, entry)


def braces(notes: list[str] | tuple[str, ...]) -> str:
    return f" {{{', '.join(notes)}}}" if notes else ""


def _is_ended(function: Function) -> bool:
    """Whether each block but the last has its terminator; malformed, on purpose, if not."""
    return all(b.insts and b.insts[-1].op in _TERMINATORS for b in function.blocks[:-1])


def _targets(module: Module) -> set[Inst]:
    """Every label that an instruction, a name or a decoration refers to."""
    found = {target for target, _ in module.names}
    found.update(a for inst in module.annotations for a in inst.args)
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                found.update(a for a in inst.args if isinstance(a, Block))
    return found
