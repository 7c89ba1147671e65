"""A shader in assembly that is put together value by value, whatever their widths are."""

from __future__ import annotations

import struct
from random import Random

# A type is (letter, width, lanes): u and i are integers, f floats that are only cast.
Type = tuple[str, int, int]

HEAD = """OpCapability Shader
OpCapability Int8
OpCapability Int16
OpCapability Int64
OpCapability Float16
OpCapability Float64
OpCapability StorageInputOutput16
OpExtension "SPV_KHR_16bit_storage"
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
"""
EDGES = (0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000,
         0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000,
         0xFF00000000, 0x7FFFFFFF00000000, 0x8000000000000000, 0xFFFFFFFF00000000,
         0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF, 0x80000001, 0x123456789ABCDEF0)  # fmt: skip
SIZES = (8, 16, 32, 64)
WORD: Type = ("u", 32, 1)
FOUR: Type = ("u", 32, 4)
CODES = {16: "<e", 32: "<f", 64: "<d"}


def name_of(type: Type) -> str:
    letter, width, lanes = type
    return f"%{letter}{width}" + (f"v{lanes}" if lanes > 1 else "")


class Stage:
    """One shader being written: ``code`` is the body, types and constants come as they are used."""

    def __init__(self, r: Random) -> None:
        self.r = r
        self.types: dict[str, str] = {}  # and constants: name -> line
        self.code: list[str] = []
        self.held: dict[Type, list[str]] = {}  # values that there are
        self.number = 0
        self.variables: list[str] = []
        self.notes: list[str] = []
        self.listed: list[str] = []
        self.block = "%entry"
        self.specials = 0

    def type(self, type: Type) -> str:
        name = name_of(type)
        if name not in self.types:
            letter, width, lanes = type
            if lanes > 1:
                self.types[name] = f"OpTypeVector {self.type((letter, width, 1))} {lanes}"
            elif letter == "b":
                self.types[name] = "OpTypeBool"
            elif letter == "f":
                self.types[name] = f"OpTypeFloat {width}"
            else:
                self.types[name] = f"OpTypeInt {width} {int(letter == 'i')}"
        return name

    def constant(self, type: Type, bits: int) -> str:
        letter, width, lanes = type
        if lanes > 1:
            parts = " ".join([self.constant((letter, width, 1), bits)] * lanes)
            name = f"{name_of(type)}_{bits:x}"
            self.types.setdefault(name, f"OpConstantComposite {self.type(type)} {parts}")
            return name
        bits &= (1 << width) - 1
        name = f"%c{letter}{width}_{bits:x}"
        value: object = bits - (1 << width) if letter == "i" and bits >> (width - 1) else bits
        if letter == "f":
            value = struct.unpack(CODES[width], bits.to_bytes(width // 8, "little"))[0]
        if name not in self.types:
            self.types[name] = f"OpConstant {self.type(type)} {value}"
        return name

    def emit(self, op: str, type: Type, *args: object, keep: bool = True) -> str:
        self.number += 1
        name = f"%t{self.number}"
        self.code.append(f"{name} = {op} {self.type(type)} " + " ".join(map(str, args)))
        if keep:
            self.held.setdefault(type, []).append(name)
        return name

    def ext(self, which: str, type: Type, *args: str) -> str:
        return self.emit("OpExtInst", type, "%glsl", which, *args)

    def variable(self, storage: str, type: Type, location: int, component: int, flat: bool) -> str:
        name = f"%{storage.lower()}{location}_{component}"
        pointer = f"%p{storage}_{name_of(type)[1:]}"
        self.types.setdefault(pointer, f"OpTypePointer {storage} {self.type(type)}")
        self.variables.append(f"{name} = OpVariable {pointer} {storage}")
        self.notes.append(f"OpDecorate {name} Location {location}")
        if component:
            self.notes.append(f"OpDecorate {name} Component {component}")
        if flat:
            self.notes.append(f"OpDecorate {name} Flat")
        self.listed.append(name)
        return name

    def position(self, location: int) -> None:
        """Hand an attribute on as the position, so that there is a picture."""
        four = ("f", 32, 4)
        place = self.variable("Input", four, location, 0, False)
        self.types.setdefault("%pOutput_f32v4", f"OpTypePointer Output {self.type(four)}")
        self.variables.append("%position = OpVariable %pOutput_f32v4 Output")
        self.notes.append("OpDecorate %position BuiltIn Position")
        self.listed.append("%position")
        self.code.append(f"OpStore %position {self.emit('OpLoad', four, place, keep=False)}")

    def array(self, storage: str, size: int, location: int) -> str:
        name, length = f"%words{size}", self.constant(WORD, size)
        self.types.setdefault(name, f"OpTypeArray {self.type(WORD)} {length}")
        pointer = f"%p{storage}_words"
        self.types.setdefault(pointer, f"OpTypePointer {storage} {name}")
        made = f"%{storage.lower()}_array"
        self.variables.append(f"{made} = OpVariable {pointer} {storage}")
        self.notes.append(f"OpDecorate {made} Location {location}")
        if storage == "Input":
            self.notes.append(f"OpDecorate {made} Flat")
        self.listed.append(made)
        return made

    def store(self, array: str, at: int, index: str, value: str) -> None:
        """An element of an output."""
        self.types.setdefault("%pOutput_word", f"OpTypePointer Output {self.type(WORD)}")
        self.code.append(f"%out{at} = OpAccessChain %pOutput_word {array} {index}")
        self.code.append(f"OpStore %out{at} {value}")

    def text(self, stage: str) -> str:
        void, fn = "%void = OpTypeVoid", "%fn = OpTypeFunction %void"
        mode = "OpExecutionMode %main OriginUpperLeft\n" if stage == "Fragment" else ""
        globals = "\n".join(f"{n} = {line}" for n, line in self.types.items())
        return (
            f"{HEAD}OpEntryPoint {stage} %main \"main\" {' '.join(self.listed)}\n{mode}"
            + "\n".join(self.notes) + f"\n{void}\n{fn}\n{globals}\n" + "\n".join(self.variables)
            + "\n%main = OpFunction %void None %fn\n%entry = OpLabel\n" + "\n".join(self.code)
            + "\nOpReturn\nOpFunctionEnd\n"
        )  # fmt: skip

    def label(self, kind: str) -> str:
        self.number += 1
        return f"%{kind}{self.number}"

    def begin(self, label: str) -> None:
        self.code.append(f"{label} = OpLabel")
        self.block = label

    def held_apart(self) -> dict[Type, list[str]]:
        """The values that there are, to come back to."""
        return {t: list(v) for t, v in self.held.items()}

    def read(self, array: str, index: str) -> str:
        """An element of an array of words, an input."""
        self.types.setdefault("%pInput_word", f"OpTypePointer Input {self.type(WORD)}")
        self.number += 1
        self.code.append(f"%at{self.number} = OpAccessChain %pInput_word {array} {index}")
        return self.emit("OpLoad", WORD, f"%at{self.number}", keep=False)

    def switched(self, type: Type, chosen: str, cases: list[int]) -> str:
        """One of some numbers, by a number of any width."""
        merge, default = self.label("merge"), self.label("case")
        labels = [self.label("case") for _ in cases]
        spelled = [
            b - (1 << type[1]) if type[0] == "i" and b >> (type[1] - 1) else b for b in cases
        ]
        ways = " ".join(f"{b} {name}" for b, name in zip(spelled, labels))
        self.code += [f"OpSelectionMerge {merge} None", f"OpSwitch {chosen} {default} {ways}"]
        pairs = []
        for n, name in enumerate([default, *labels]):
            self.begin(name)
            self.code.append(f"OpBranch {merge}")
            pairs += [self.constant(WORD, 1000 + n), name]
        self.begin(merge)
        return self.emit("OpPhi", WORD, *pairs)

    def folded(self, value: str, type: Type) -> str:
        """A scalar or vector as one u32 that depends on all bits of it."""
        letter, width, lanes = type
        parts = [value]
        if lanes > 1:
            parts = [
                self.emit("OpCompositeExtract", (letter, width, 1), value, n, keep=False)
                for n in range(lanes)
            ]
        whole = ""
        for part in parts:
            if letter == "f":
                part = self.emit("OpBitcast", ("u", width, 1), part, keep=False)
            if width == 64:
                by = self.constant(WORD, 32)
                high = self.emit("OpShiftRightLogical", ("u", 64, 1), part, by, keep=False)
                low = self.emit("OpUConvert", WORD, part, keep=False)
                high = self.emit("OpUConvert", WORD, high, keep=False)
                times = self.constant(WORD, 0x9E3779B1)
                high = self.emit("OpIMul", WORD, high, times, keep=False)
                part = self.emit("OpIAdd", WORD, low, high, keep=False)
            elif width < 32:
                part = self.emit("OpUConvert", WORD, part, keep=False)
            elif letter != "u":
                part = self.emit("OpBitcast", WORD, part, keep=False)
            if whole:
                times = self.constant(WORD, 0x85EBCA6B)
                whole = self.emit("OpIMul", WORD, whole, times, keep=False)
                whole = self.emit("OpIAdd", WORD, whole, part, keep=False)
            else:
                whole = part
        return whole

    def show(self, parts: list[str]) -> None:
        """Words as what a fragment shader writes, in fours."""
        for n in range(0, len(parts), 4):
            four = parts[n : n + 4]
            four += [self.constant(WORD, 0)] * (4 - len(four))
            whole = self.emit("OpCompositeConstruct", FOUR, *four, keep=False)
            name = self.variable("Output", FOUR, n // 4, 0, False)
            self.code.append(f"OpStore {name} {whole}")
