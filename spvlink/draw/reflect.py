"""A small SPIR-V reflection, written for the tests alone.

It shares no code with spvlink: an oracle that used the linker's own decoder could not see the
decoder's mistakes. It reads what drawing needs and nothing else: entry points, interface
variables, resources that the entry point statically uses, block layouts. Numbers are those of the
SPIR-V specification (sections 3.20 "Decoration", 3.49 "Instructions").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

MAGIC = 0x07230203

# Execution models
VERTEX, TESS_CONTROL, TESS_EVALUATION, GEOMETRY, FRAGMENT = range(5)
TASK, MESH = 5364, 5365

# Storage classes
UNIFORM_CONSTANT, INPUT, UNIFORM, OUTPUT = 0, 1, 2, 3
PUSH_CONSTANT, STORAGE_BUFFER, PHYSICAL = 9, 12, 5349

# Decorations
BLOCK, BUFFER_BLOCK, ROW_MAJOR, ARRAY_STRIDE, MATRIX_STRIDE, BUILTIN = 2, 3, 4, 6, 7, 11
LOCATION, COMPONENT, INDEX, BINDING, SET, OFFSET = 30, 31, 32, 33, 34, 35
INPUT_ATTACHMENT_INDEX = 43

# Execution modes
DEPTH_REPLACING = 12

# Instructions whose trailing words are literals: no ids to look for there.
_NO_IDS = {8, 43, 50, 79, 81, 82, 246, 247, 251, 317}
_DREF_OPS = {89, 90, 93, 94, 97, 307, 308, 311, 312, 315}
_DECORATING_OPS = {71, 72, 73, 74, 75, 332, 5632, 5633}
_TYPE_OPS = {*range(19, 40), 4472, 5341}


class CannotDraw(Exception):
    """The pipeline needs something that this harness does not offer; the message says what."""


@dataclass(frozen=True)
class Numeric:
    """A scalar or vector: kind 'float', 'int', 'uint' or 'bool'; width in bits."""

    kind: str
    width: int
    count: int


@dataclass
class Attribute:
    """A vertex attribute or a fragment output at one Location (and Index)."""

    location: int
    index: int
    numeric: Numeric
    name: str


@dataclass
class Resource:
    """One descriptor binding as one stage declares it; count 0 means a runtime-sized array."""

    set: int
    binding: int
    kind: str
    count: int
    type_id: int  # of the block, image or sampler itself, arrays stripped
    name: str
    input_attachment: int = 0
    compare: bool = False  # used with a depth comparison
    integer: bool = False  # a sampler that is combined with an integer image


@dataclass
class ReadModule:
    """The parsed words; ids are keys everywhere."""

    version: int = 0
    entries: list[tuple[int, int, str, list[int]]] = field(default_factory=list)
    modes: dict[int, dict[int, list[int]]] = field(default_factory=lambda: defaultdict(dict))
    names: dict[int, str] = field(default_factory=dict)
    member_names: dict[tuple[int, int], str] = field(default_factory=dict)
    decorations: dict[int, dict[int, list[int]]] = field(default_factory=lambda: defaultdict(dict))
    member_decorations: dict[tuple[int, int], dict[int, list[int]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    types: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    variables: dict[int, tuple[int, int]] = field(default_factory=dict)  # id: (type, class)
    functions: dict[int, list[list[int]]] = field(default_factory=dict)
    capabilities: set[int] = field(default_factory=set)
    annotations_end: int = 0  # word offset


def parse(code: bytes) -> ReadModule:
    """The module's declarations and function bodies. CannotDraw if it is not SPIR-V."""
    if len(code) < 20 or len(code) % 4:
        raise CannotDraw(f"not SPIR-V: {len(code)} bytes")
    order = "<" if int.from_bytes(code[:4], "little") == MAGIC else ">"
    words = np.frombuffer(code, dtype=order + "u4").tolist()
    if words[0] != MAGIC:
        raise CannotDraw("not SPIR-V: wrong magic number")
    module = ReadModule(version=words[1])
    at = 5
    body: list[list[int]] | None = None
    while at < len(words):
        length = words[at] >> 16
        if length == 0 or at + length > len(words):
            raise CannotDraw(f"not SPIR-V: instruction of {length} words at word {at}")
        inst = words[at : at + length]
        inst[0] &= 0xFFFF
        at += length
        if inst[0] == 54:
            body = module.functions[inst[2]] = []
        if body is not None:
            body.append(inst)
            if inst[0] == 56:
                body = None
        else:
            _declare(module, inst)
            if inst[0] in _DECORATING_OPS:
                module.annotations_end = at
            elif inst[0] in _TYPE_OPS and not module.annotations_end:
                module.annotations_end = at - length
    return module


def _string(words: list[int]) -> tuple[str, int]:
    """The literal at the front of words and how many words it takes."""
    raw = b"".join(word.to_bytes(4, "little") for word in words)
    end = raw.index(0)
    return raw[:end].decode("utf-8", "replace"), end // 4 + 1


def _declare(module: ReadModule, inst: list[int]) -> None:
    op = inst[0]
    if op == 15:
        name, used = _string(inst[3:])
        module.entries.append((inst[1], inst[2], name, inst[3 + used :]))
    elif op in (16, 331):
        module.modes[inst[1]][inst[2]] = inst[3:]
    elif op == 17:
        module.capabilities.add(inst[1])
    elif op == 5:
        module.names[inst[1]] = _string(inst[2:])[0]
    elif op == 6:
        module.member_names[inst[1], inst[2]] = _string(inst[3:])[0]
    elif op == 71:
        module.decorations[inst[1]][inst[2]] = inst[3:]
    elif op == 72:
        module.member_decorations[inst[1], inst[2]][inst[3]] = inst[4:]
    elif op in _TYPE_OPS:
        module.types[inst[1]] = (op, inst[2:])
    elif op in (43, 50):
        value = sum(word << (32 * i) for i, word in enumerate(inst[3:]))
        module.constants[inst[2]] = value
    elif op in (41, 42, 48, 49):
        module.constants[inst[2]] = int(op in (41, 48))
    elif op == 52:
        _spec_constant_op(module, inst)
    elif op == 59:
        module.variables[inst[2]] = (inst[1], inst[3])


def _spec_constant_op(module: ReadModule, inst: list[int]) -> None:
    """Integer arithmetic only: enough for array lengths."""
    values = [module.constants.get(word) for word in inst[4:6]]
    if len(values) < 2 or values[0] is None or values[1] is None:
        return
    a, b = values[0], values[1]
    results = {128: a + b, 130: a - b, 132: a * b, 134: a // b if b else 0, 135: a // b if b else 0}
    if inst[3] in results:
        module.constants[inst[2]] = results[inst[3]] & 0xFFFFFFFF


class ReadStage:
    """One shader stage: its code, its entry point, and what it takes and gives."""

    def __init__(self, code: bytes, entry: str | None = None, model: int | None = None) -> None:
        self.code = code
        self.module = module = parse(code)
        entries = [e for e in module.entries if entry in (None, e[2]) and model in (None, e[0])]
        if not entries:
            raise CannotDraw(f"no entry point {entry or ''}".rstrip())
        if len(entries) > 1:
            raise CannotDraw("several entry points and no name given")
        self.model, self.function, self.entry, self.interface = entries[0]
        self.modes = module.modes[self.function]
        self._definitions: dict[int, list[int]] = {}
        self._arguments: dict[int, list[int]] = defaultdict(list)
        self.used = self._statically_used()
        self.inputs = self._located(INPUT) if self.model == VERTEX else []
        self.outputs = self._located(OUTPUT) if self.model == FRAGMENT else []
        self.builtins = self._builtins()
        self.push_constant = self._push_constant()
        self.resources = list(self._resources())

    # -- static use ------------------------------------------------------------------------

    def _statically_used(self) -> set[int]:
        """Global variables that the entry point's call tree names."""
        module = self.module
        used: set[int] = set()
        todo: list[int] = [self.function]
        done: set[int] = set()
        while todo:
            function = todo.pop()
            if function in done:
                continue
            done.add(function)
            for inst in module.functions[function]:
                if inst[0] == 57:
                    todo.append(inst[3])
                    self._bind_arguments(inst)
                if len(inst) > 2:
                    self._definitions.setdefault(inst[2], inst)
                if inst[0] not in _NO_IDS:
                    used.update(word for word in inst[1:] if word in module.variables)
        self.functions = sorted(done)
        return used

    def _bind_arguments(self, call: list[int]) -> None:
        parameters = [i[2] for i in self.module.functions[call[3]] if i[0] == 55]
        for parameter, argument in zip(parameters, call[4:]):
            self._arguments[parameter].append(argument)

    def _sources(self, value: int, depth: int = 0) -> set[int]:
        """Global variables that an image, sampler or pointer value comes from."""
        if value in self.module.variables:
            return {value}
        if depth > 16:
            return set()
        operands = list(self._arguments.get(value, ()))
        inst = self._definitions.get(value)
        if inst is not None:
            if inst[0] == 86:
                operands += inst[3:5]
            elif inst[0] in (61, 65, 66, 67, 83, 100, 400):
                operands.append(inst[3])
        sources: set[int] = set()
        for operand in operands:
            sources |= self._sources(operand, depth + 1)
        return sources

    def instructions(self) -> Iterator[list[int]]:
        """Of every function in the entry point's call tree."""
        for function in self.functions:
            yield from self.module.functions[function]

    # -- types -----------------------------------------------------------------------------

    def numeric(self, type_id: int) -> Numeric | None:
        """The scalar or vector that a type is, or None."""
        op, args = self.module.types[type_id]
        if op == 20:
            return Numeric("bool", 32, 1)
        if op == 21:
            return Numeric("int" if args[1] else "uint", args[0], 1)
        if op == 22:
            return Numeric("float", args[0], 1)
        if op == 23:
            inner = self.numeric(args[0])
            assert inner is not None
            return Numeric(inner.kind, inner.width, args[1])
        return None

    def strip_arrays(self, type_id: int) -> tuple[int, int]:
        """The innermost element type and the number of elements (0: runtime-sized)."""
        count = 1
        while self.module.types[type_id][0] in (28, 29):
            op, args = self.module.types[type_id]
            count *= self.module.constants.get(args[1], 1) if op == 28 else 0
            type_id = args[0]
        return type_id, count

    def pointee(self, variable: int) -> int:
        return self.module.types[self.module.variables[variable][0]][1][1]

    def size(self, type_id: int) -> int:
        """Bytes of an explicitly laid out type; a runtime array counts as nothing."""
        op, args = self.module.types[type_id]
        number = self.numeric(type_id)
        if number is not None:
            return number.width // 8 * number.count
        if op == 24:
            column = self.numeric(args[0])
            assert column is not None
            return args[1] * 4 * column.width // 8  # an upper bound, whatever the stride
        if op == 28:
            stride = self.array_stride(type_id)
            return self.module.constants.get(args[1], 1) * stride
        if op == 29:
            return 0
        if op == 30:
            ends = [
                self.offset(type_id, i) + self._member_size(type_id, i, member)
                for i, member in enumerate(args)
            ]
            return max(ends, default=0)
        if op == 32:
            return 8
        raise CannotDraw(f"block member of type opcode {op}")

    def _member_size(self, struct: int, index: int, member: int) -> int:
        inner, count = self.strip_arrays(member)
        if self.module.types[inner][0] != 24 or count == 0:
            return self.size(member)
        last = self.array_stride(member) if inner != member else 0
        rows_or_columns = self.matrix_shape(inner)
        stride = self.matrix_stride(struct, index)
        return last * max(count - 1, 0) + stride * max(rows_or_columns)

    def matrix_shape(self, type_id: int) -> tuple[int, int]:
        """(columns, rows)"""
        column, columns = self.module.types[type_id][1]
        number = self.numeric(column)
        assert number is not None
        return columns, number.count

    def matrix_stride(self, struct: int, index: int) -> int:
        return self.module.member_decorations[struct, index].get(MATRIX_STRIDE, [16])[0]

    def row_major(self, struct: int, index: int) -> bool:
        return ROW_MAJOR in self.module.member_decorations[struct, index]

    def offset(self, struct: int, index: int) -> int:
        return self.module.member_decorations[struct, index].get(OFFSET, [0])[0]

    def array_stride(self, type_id: int) -> int:
        stride = self.module.decorations[type_id].get(ARRAY_STRIDE)
        if stride is None:
            return self.size(self.module.types[type_id][1][0])
        return stride[0]

    # -- interface -------------------------------------------------------------------------

    def _located(self, storage: int) -> list[Attribute]:
        """User interface variables by Location; arrays and matrices take one entry a Location."""
        attributes: dict[tuple[int, int], Attribute] = {}
        for variable in self.interface:
            if self.module.variables.get(variable, (0, -1))[1] != storage:
                continue
            decorations = self.module.decorations[variable]
            if BUILTIN in decorations:
                continue
            type_id = self.pointee(variable)
            if LOCATION not in decorations and self.module.types[type_id][0] != 30:
                raise CannotDraw("an interface variable without Location")
            location = decorations.get(LOCATION, [0])[0]
            component = decorations.get(COMPONENT, [0])[0]
            index = decorations.get(INDEX, [0])[0]
            name = self.module.names.get(variable, "")
            for at, number, label in self._flatten(type_id, location, name):
                end = component * 32 // max(number.width, 32) + number.count
                old = attributes.get((at, index))
                if old is not None:
                    end = max(end, old.numeric.count)
                number = Numeric(number.kind, number.width, end)
                attributes[at, index] = Attribute(at, index, number, label)
        return [attributes[key] for key in sorted(attributes)]

    def _flatten(
        self, type_id: int, location: int, name: str
    ) -> Iterator[tuple[int, Numeric, str]]:
        op, args = self.module.types[type_id]
        number = self.numeric(type_id)
        if number is not None:
            yield location, number, name
        elif op in (24, 28):
            count = args[1] if op == 24 else self.module.constants.get(args[1], 1)
            for _ in range(count):
                location_before = location
                for item in self._flatten(args[0], location, name):
                    yield item
                    location = item[0] + (2 if item[1].width * item[1].count > 128 else 1)
                assert location > location_before
        elif op == 30:
            for i, member in enumerate(args):
                decorations = self.module.member_decorations[type_id, i]
                if BUILTIN in decorations:
                    continue
                location = decorations.get(LOCATION, [location])[0]
                label = self.module.member_names.get((type_id, i), name)
                for item in self._flatten(member, location, label):
                    yield item
                    location = item[0] + (2 if item[1].width * item[1].count > 128 else 1)
        else:
            raise CannotDraw(f"an interface variable of type opcode {op}")

    def _builtins(self) -> set[int]:
        builtins = set()
        for variable in self.interface:
            if variable not in self.module.variables:
                continue
            builtin = self.module.decorations[variable].get(BUILTIN)
            if builtin:
                builtins.add(builtin[0])
            inner = self.strip_arrays(self.pointee(variable))[0]
            for i in range(len(self.module.types[inner][1])):
                builtin = self.module.member_decorations[inner, i].get(BUILTIN)
                if builtin:
                    builtins.add(builtin[0])
        return builtins

    def local_array_lengths(self) -> list[int]:
        """Lengths of arrays that the functions index in Function, Private or Output memory."""
        lengths = []
        for op, args in self.module.types.values():
            if op != 32 or args[0] not in (6, 7):
                continue
            inner_op, inner = self.module.types[args[1]]
            if inner_op == 28:
                lengths.append(self.module.constants.get(inner[1], 1))
        return lengths

    # -- resources -------------------------------------------------------------------------

    def _push_constant(self) -> int | None:
        for variable in self.used:
            if self.module.variables[variable][1] == PUSH_CONSTANT:
                return self.pointee(variable)
        return None

    def _resources(self) -> Iterator[Resource]:
        compared, integer = self._comparisons(), self._integer_samplers()
        for variable in sorted(self.used):
            storage = self.module.variables[variable][1]
            if storage not in (UNIFORM_CONSTANT, UNIFORM, STORAGE_BUFFER):
                continue
            type_id, count = self.strip_arrays(self.pointee(variable))
            decorations = self.module.decorations[variable]
            if BINDING not in decorations:
                raise CannotDraw(f"a resource without Binding ({self.module.names.get(variable)})")
            name = self.module.names.get(variable, "") or self.module.names.get(type_id, "")
            yield Resource(
                set=decorations.get(SET, [0])[0],
                binding=decorations[BINDING][0],
                kind=self._kind(storage, type_id),
                count=count,
                type_id=type_id,
                name=name,
                input_attachment=decorations.get(INPUT_ATTACHMENT_INDEX, [0])[0],
                compare=variable in compared,
                integer=variable in integer,
            )

    def _kind(self, storage: int, type_id: int) -> str:
        op = self.module.types[type_id][0]
        if storage == STORAGE_BUFFER:
            return "storage"
        if storage == UNIFORM:
            return "storage" if BUFFER_BLOCK in self.module.decorations[type_id] else "uniform"
        if op == 26:
            return "sampler"
        if op == 27:
            return "uniform_texel" if self.image(type_id)["dim"] == 5 else "combined"
        if op == 25:
            image = self.image(type_id)
            if image["dim"] == 6:
                return "input_attachment"
            stored = image["sampled"] == 2
            if image["dim"] == 5:
                return "storage_texel" if stored else "uniform_texel"
            return "storage_image" if stored else "sampled"
        if op == 5341:
            return "acceleration"
        raise CannotDraw(f"a resource of type opcode {op}")

    def image(self, type_id: int) -> dict[str, int | str]:
        """The operands of OpTypeImage by name (of the image inside a sampled image)."""
        op, args = self.module.types[type_id]
        if op == 27:
            return self.image(args[0])
        number = self.numeric(args[0])
        if number is not None and number.width == 64:
            raise CannotDraw("64-bit images")
        return {
            "kind": number.kind if number else "float",
            "dim": args[1],
            "depth": args[2],
            "arrayed": args[3],
            "ms": args[4],
            "sampled": args[5],
            "format": args[6],
        }

    def _comparisons(self) -> set[int]:
        compared: set[int] = set()
        for inst in self._definitions.values():
            if inst[0] in _DREF_OPS:
                compared |= self._sources(inst[3])
        return compared

    def _integer_samplers(self) -> set[int]:
        samplers: set[int] = set()
        for inst in self._definitions.values():
            if inst[0] == 86 and self.image(self.module.types[inst[1]][1][0])["kind"] != "float":
                samplers |= self._sources(inst[4])
        return samplers
