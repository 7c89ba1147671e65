"""What GLSL cannot say: copies of values, pointers and memory, float encodings, float controls, new
instructions, RelaxedPrecision and NoContraction anywhere, Patch variables over other Locations.

    text = Text(module, NEWER)             # tests/support/listing.py, by the newer SPIR-V Tools
    mutate(text, "vert", plan(r), r)       # the module of one stage; the plan is the pipeline's
    drawn = stand_ins(text.assembled())    # lavapipe knows none of the encodings

A mutant is another program than its module (values are rounded), so that mutants are compared with
what is linked of them.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from tests.support.generate_types import PATCHES
from tests.support.judges import NEWER as _VALIDATOR
from tests.support.listing import Block, Function, Line, Text

NEWER = f"{_VALIDATOR.parent}/"
ENCODINGS = {
    "bf16": ("OpTypeFloat 16 BFloat16KHR", "BFloat16TypeKHR", "SPV_KHR_bfloat16"),
    "e4m3": ("OpTypeFloat 8 Float8E4M3EXT", "Float8EXT", "SPV_EXT_float8"),
    "e5m2": ("OpTypeFloat 8 Float8E5M2EXT", "Float8EXT", "SPV_EXT_float8"),
    "half": ("OpTypeFloat 16", "Float16", ""),
}
ARITHMETIC = ("OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFNegate", "OpVectorTimesScalar", "OpDot",
              "OpFmaKHR")  # fmt: skip
STRAYS = ("copy", "copy_pointer", "copy_memory", "copy_loaded", "copy_logical")
KINDS = (*STRAYS, *ENCODINGS, "fma", "replicate", "relaxed", "no_contraction", "fast")
CONTROLS = ("RoundingModeRTE", "RoundingModeRTZ", "DenormPreserve", "DenormFlushToZero",
            "SignedZeroInfNanPreserve")  # fmt: skip
EXCLUSIVE = {"RoundingModeRTZ": "RoundingModeRTE", "DenormFlushToZero": "DenormPreserve"}
WIDTHS = ("16", "32", "64")


@dataclass
class Plan:
    """What becomes of all stages of a pipeline. ``precise``: all arithmetic is NoContraction, in
    every stage; ``overlap``: values of the patch take the Locations of others."""

    kinds: list[str] = field(default_factory=list)
    precise: bool = False
    overlap: bool = False
    stages: set[int] = field(default_factory=set)  # which get float controls


def plan(r: Random) -> Plan:
    kinds = r.sample(KINDS, r.choice((0, 1, 1, 2, 3)))
    stages = {n for n in range(5) if r.random() < 0.5} if r.random() < 0.3 else set()
    return Plan(kinds, r.random() < 0.1, r.random() < 0.5, stages)


def mutate(text: Text, number: int, plan: Plan, r: Random) -> None:
    """``number``: of the stage."""
    mutator = Mutator(text, r)
    for kind in plan.kinds:
        if r.random() < 0.3:
            continue  # one stage has it, the other has not
        for _ in range(r.choice((1, 1, 2, 5))):
            if kind in ENCODINGS:
                mutator.encode(kind)
            else:
                getattr(mutator, kind)()
    if number in plan.stages:
        mutator.controls()
    if plan.precise:
        mutator.precise()
    if plan.overlap:
        mutator.overlap()


class Mutator:
    """Each method makes one change somewhere, if there is a place for it."""

    def __init__(self, text: Text, r: Random) -> None:
        self.text, self.r = text, r
        self.float = text.made("OpTypeFloat 32") if any(
            t.endswith("= OpTypeFloat 32") for t in text.preamble
        ) else ""  # fmt: skip

    # -- declarations ----------------------------------------------------------------------

    def capability(self, name: str, extension: str = "") -> None:
        for line in (f'OpExtension "{extension}"', f"OpCapability {name}"):
            if line in self.text.preamble or '""' in line:
                continue
            at = 0
            if line.startswith("OpExt"):
                while self.text.preamble[at].startswith("OpCapability"):
                    at += 1
            self.text.preamble.insert(at, line)

    def decorate(self, id: str, words: str) -> None:
        line = f"OpDecorate {id} {words}"
        if line not in self.text.preamble:
            at = next(i for i, t in enumerate(self.text.preamble) if " = OpType" in t)
            self.text.preamble.insert(at, line)

    def number(self, value: str) -> str:
        return self.text.made(f"OpConstant {self.float} {value}")

    # -- places ----------------------------------------------------------------------------

    def values(self) -> list[tuple[Function, Block, int]]:
        """Where a value is made that may be copied."""
        found = []
        for function in self.text.functions:
            for block in function.blocks:
                first, last = block.body()
                for at in range(first, last):
                    line = block.lines[at]
                    if line.result and self.shape(line.words[0]):
                        found.append((function, block, at))
        return found

    def shape(self, type: str) -> tuple[str, int] | None:
        """(scalar type, components) of numbers."""
        definition = self.text.definition(type)
        if definition.startswith(("OpTypeInt", "OpTypeFloat")):
            return type, 1
        if definition.startswith("OpTypeVector"):
            _, scalar, size = definition.split()
            if self.text.definition(scalar) != "OpTypeBool":
                return scalar, int(size)
        return None

    def is_16(self, type: str) -> bool:
        """spvlink/draw/widen.py follows no copies of memory to and from 16-bit interface values."""
        shape = self.shape(type)
        return shape is not None and " 16" in self.text.definition(shape[0])

    def floats(self) -> list[tuple[Function, Block, int]]:
        """Where a float is made that may be rounded; mostly one at the border of the stage."""
        found = []
        for place in self.values():
            _, block, at = place
            shape = self.shape(block.lines[at].words[0])
            if shape is not None and shape[0] == self.float:
                found.append(place)
        border = self.at_border()
        near = [(f, block, at) for f, block, at in found if block.lines[at].result in border]
        return near if near and self.r.random() < 0.7 else found

    def at_border(self) -> set[str]:
        """Values that are inputs, or stored as outputs in the block that makes them."""
        found: set[str] = set()
        for function in self.text.functions:
            types = self.types(function)
            kinds = {t: self.text.definition(t).split()[1] for t in set(types.values())}
            for block in function.blocks:
                made: set[str] = set()
                for line in block.lines:
                    if line.op != "OpLoad":
                        made.add(line.result)
                    elif kinds.get(types.get(line.words[1], "")) == "Input":
                        found.add(line.result)
                    if line.op == "OpStore" and line.words[1] in made:
                        if kinds.get(types.get(line.words[0], "")) == "Output":
                            found.add(line.words[1])
        return found

    def swap(self, block: Block, at: int, new: str, made: list[Line]) -> None:
        """``made`` stands behind the value; what comes later in the block reads ``new``."""
        old = block.lines[at].result
        for line in block.lines[at + 1 :]:
            start = 1 if line.result else 0
            for i in range(start, len(line.words)):
                if line.words[i] == old and line.op != "OpPhi":
                    line.words[i] = new
        block.lines[at + 1 : at + 1] = made

    def vector(self, scalar: str, size: int) -> str:
        return scalar if size == 1 else self.text.made(f"OpTypeVector {scalar} {size}")

    # -- copies ----------------------------------------------------------------------------

    def copy(self) -> None:
        places = self.values()
        if places:
            _, block, at = self.r.choice(places)
            new, line = self.text.fresh(), block.lines[at]
            made = [Line("OpCopyObject", [line.words[0], line.result], new)]
            self.swap(block, at, new, made)

    def copy_pointer(self) -> None:
        """Of a variable or an access chain, perhaps twice."""
        uses = []
        for function in self.text.functions:
            types = self.types(function)
            for block in function.blocks:
                for line in block.lines:
                    where = {"OpLoad": 1, "OpStore": 0, "OpAccessChain": 1}.get(line.op)
                    if where is not None and line.words[where] in types:
                        uses.append((block, line, where, types[line.words[where]]))
        if uses:
            block, line, where, type = self.r.choice(uses)
            for _ in range(self.r.choice((1, 1, 2))):
                new = self.text.fresh()
                made = Line("OpCopyObject", [type, line.words[where]], new)
                block.lines.insert(block.lines.index(line), made)
                line.words[where] = new

    def types(self, function: Function) -> dict[str, str]:
        """Pointer -> its type; not of images, samplers and the like."""
        found = {}
        for line in self.text.preamble:
            match = re.match(r"(%\d+) = OpVariable (%\d+) ", line)
            if match:
                found[match[1]] = match[2]
        found |= function.types()
        pointers = {t for t in set(found.values()) if self.is_followed(t)}
        return {id: type for id, type in found.items() if type in pointers}

    def is_followed(self, type: str) -> bool:
        """Whether it is a pointer, and none to images, samplers and the like."""
        definition = self.text.definition(type)
        return definition.startswith("OpTypePointer") and " UniformConstant " not in definition

    def variable(self, function: Function, type: str) -> str:
        pointer = self.text.made(f"OpTypePointer Function {type}")
        new = self.text.fresh()
        function.blocks[0].lines.insert(0, Line("OpVariable", [pointer, "Function"], new))
        return new

    def copy_memory(self) -> None:
        """A store becomes a copy from a variable."""
        stores = [
            (function, block, line)
            for function in self.text.functions
            for block in function.blocks
            for line in block.lines
            if line.op == "OpStore" and len(line.words) == 2
        ]
        found = []
        for function, block, line in stores:
            type = function.types().get(line.words[1], "")
            if self.shape(type) and not self.is_16(type):
                found.append((function, block, line, type))
        if found:
            function, block, line, type = self.r.choice(found)
            between = self.variable(function, type)
            block.lines.insert(block.lines.index(line) + 1, Line("OpCopyMemory",
                               [line.words[0], between]))  # fmt: skip
            line.words[0] = between

    def copy_loaded(self) -> None:
        """An input is copied into a variable and read there."""
        found = []
        for function in self.text.functions:
            types = self.types(function)
            for block in function.blocks:
                for line in block.lines:
                    if line.op != "OpLoad" or not self.shape(line.words[0]):
                        continue
                    if self.is_16(line.words[0]):
                        continue
                    pointer = self.text.definition(types.get(line.words[1], ""))
                    if pointer.startswith("OpTypePointer Input"):
                        found.append((function, block, line))
        if found:
            function, block, line = self.r.choice(found)
            between = self.variable(function, line.words[0])
            at = block.lines.index(line)
            block.lines.insert(at, Line("OpCopyMemory", [between, line.words[1]]))
            line.words[1] = between

    def copy_logical(self) -> None:
        """Through two structs, or arrays, of the same members."""
        places = self.values()
        if not places or self.text.version < "1.4":
            return
        _, block, at = self.r.choice(places)
        text, line = self.text, block.lines[at]
        kind = f"OpTypeStruct {line.words[0]}"
        if self.r.random() < 0.3:
            kind = f"OpTypeArray {line.words[0]} {text.number(1)}"
        twins = [text.fresh(), text.fresh()]
        text.preamble += [f"{twin} = {kind}" for twin in twins]
        whole, copied, new = text.fresh(), text.fresh(), text.fresh()
        self.swap(block, at, new, [
            Line("OpCompositeConstruct", [twins[0], line.result], whole),
            Line("OpCopyLogical", [twins[1], whole], copied),
            Line("OpCompositeExtract", [line.words[0], copied, "0"], new),
        ])  # fmt: skip

    # -- encodings and new instructions ----------------------------------------------------

    def encode(self, kind: str) -> None:
        """A float goes through another encoding and back."""
        places = self.floats()
        if not places:
            return
        definition, capability, extension = ENCODINGS[kind]
        self.capability(capability, extension)
        _, block, at = self.r.choice(places)
        line = block.lines[at]
        shape = self.shape(line.words[0])
        assert shape is not None
        small = self.vector(self.text.made(definition), shape[1])
        narrow, new = self.text.fresh(), self.text.fresh()
        self.swap(block, at, new, [
            Line("OpFConvert", [small, line.result], narrow),
            Line("OpFConvert", [line.words[0], narrow], new),
        ])  # fmt: skip

    def fma(self) -> None:
        places = self.floats()
        if not places:
            return
        self.capability("FMAKHR", "SPV_KHR_fma")
        _, block, at = self.r.choice(places)
        line, new = block.lines[at], self.text.fresh()
        shape = self.shape(line.words[0])
        assert shape is not None
        half = self.number("0.5")
        if shape[1] > 1:
            words = " ".join([half] * shape[1])
            half = self.text.made(f"OpConstantComposite {line.words[0]} {words}")
        words_ = [line.words[0], line.result, half, line.result]
        self.swap(block, at, new, [Line("OpFmaKHR", words_, new)])

    def replicate(self) -> None:
        places = [(b, at) for _, b, at in self.floats() if b.lines[at].words[0] == self.float]
        if not places:
            return
        self.capability("ReplicatedCompositesEXT", "SPV_EXT_replicated_composites")
        block, at = self.r.choice(places)
        type = self.vector(self.float, 3)
        many, new = self.text.fresh(), self.text.fresh()
        self.swap(block, at, new, [
            Line("OpCompositeConstructReplicateEXT", [type, block.lines[at].result], many),
            Line("OpCompositeExtract", [self.float, many, str(self.r.randrange(3))], new),
        ])  # fmt: skip

    # -- decorations and modes -------------------------------------------------------------

    def arithmetic(self) -> list[Line]:
        return [
            line for function in self.text.functions for block in function.blocks
            for line in block.lines if line.op in ARITHMETIC
        ]  # fmt: skip

    def no_contraction(self) -> None:
        for line in self.arithmetic():
            if self.r.random() < 0.3:
                self.decorate(line.result, "NoContraction")

    def precise(self) -> None:
        for line in self.arithmetic():
            self.decorate(line.result, "NoContraction")

    def relaxed(self) -> None:
        for line in self.arithmetic():
            if self.r.random() < 0.2:
                self.decorate(line.result, "RelaxedPrecision")

    def fast(self) -> None:
        """float_controls2: a default for the stage, other modes for some instructions."""
        r = self.r
        text = "\n".join(self.text.preamble)
        if not self.float or "SignedZeroInfNanPreserve" in text or "NoContraction" in text:
            return
        self.capability("FloatControls2", "SPV_KHR_float_controls2")
        choices = ("None", "NotNaN", "NotNaN|NotInf", "NSZ", "AllowContract|AllowReassoc")
        if "FPFastMathDefault" not in text:
            number = {"None": 0, "NotNaN": 1, "NotNaN|NotInf": 3, "NSZ": 4}
            value = self.text.number(r.choice(list(number.values())))
            for index, line in enumerate(self.text.preamble):
                if line.startswith("OpEntryPoint"):
                    words = f"{line.split()[2]} FPFastMathDefault {self.float} {value}"
                    self.text.preamble.insert(index + 1, f"OpExecutionModeId {words}")
                    break
        for line in self.arithmetic():
            if r.random() < 0.3 and "FPFastMathMode" not in " ".join(
                t for t in self.text.preamble if t.startswith(f"OpDecorate {line.result} ")
            ):
                self.decorate(line.result, f"FPFastMathMode {r.choice(choices)}")

    def controls(self) -> None:
        """Rounding, denormal numbers, signs of zero."""
        r = self.r
        text = "\n".join(self.text.preamble)
        chosen: set[tuple[str, str]] = set()
        for _ in range(r.randint(1, 3)):
            mode, width = r.choice(CONTROLS), r.choice(WIDTHS)
            if f"= OpTypeFloat {width}\n" not in text + "\n":
                continue
            other = [m for m in CONTROLS if EXCLUSIVE.get(m, m) == EXCLUSIVE.get(mode, mode)]
            if "FloatControls2" in text and mode[0] == "S":
                continue
            if not any((m, width) in chosen for m in other):
                chosen.add((mode, width))
        for mode, width in sorted(chosen):
            self.capability(mode, "SPV_KHR_float_controls")
            for index, line in enumerate(self.text.preamble):
                if line.startswith("OpEntryPoint"):
                    words = f"{line.split()[2]} {mode} {width}"
                    self.text.preamble.insert(index + 1, f"OpExecutionMode {words}")
                    break

    def overlap(self) -> None:
        """What is the patch's takes the Locations of per-vertex values."""
        lines = self.text.preamble
        patches = {t.split()[1] for t in lines if t.startswith("OpDecorate") and "Patch" in t}
        for index, line in enumerate(lines):
            words = line.split()
            if words[0] == "OpDecorate" and words[1] in patches and words[2] == "Location":
                lines[index] = f"OpDecorate {words[1]} Location {int(words[3]) % PATCHES}"


# --- what lavapipe may draw ---


@lru_cache(maxsize=16)
def stand_ins(code: bytes) -> bytes:
    """The module with other instructions for what lavapipe does not know, the same ones in the
    original and the linked modules: a bfloat16 is a double, an E4M3 a half and an E5M2 a double, so
    that one encoding in place of another shows; halves are rounded as the stage's mode says."""
    if not any(word in code for word in _MARKS):
        return code
    text = Text(code, NEWER)
    gone = [f"OpCapability {c}" for _, c, e in ENCODINGS.values() if e]
    gone += ["OpCapability FMAKHR", "OpCapability ReplicatedCompositesEXT"]
    gone += [f'OpExtension "{e}"' for _, _, e in ENCODINGS.values()]
    gone += ['OpExtension "SPV_KHR_fma"', 'OpExtension "SPV_EXT_replicated_composites"']
    lines = [t for t in text.preamble if t not in gone]
    for kind, type in (("bf16", "64"), ("e4m3", "16"), ("e5m2", "64")):
        lines = [t.replace(ENCODINGS[kind][0], f"OpTypeFloat {type}") for t in lines]
    text.preamble = ["OpCapability Float64", "OpCapability Float16"]
    text.preamble += [t for t in lines if t not in text.preamble]
    mutator = Mutator(text, Random(0))
    rounding = re.search(r"OpExecutionMode \S+ RoundingMode(RT[EZ]) 16", "\n".join(text.preamble))
    for function in text.functions:
        for block in function.blocks:
            for line in block.lines:
                if line.op == "OpFmaKHR":
                    import_ = _glsl(text)
                    line.op, line.words[1:1] = "OpExtInst", [import_, "Fma"]
                elif line.op == "OpCompositeConstructReplicateEXT":
                    size = int(text.definition(line.words[0]).split()[-1])
                    line.op, line.words[1:] = "OpCompositeConstruct", line.words[1:] * size
                elif line.op == "OpFConvert" and rounding:
                    shape = mutator.shape(line.words[0])
                    if shape and text.definition(shape[0]) == "OpTypeFloat 16":
                        mutator.decorate(line.result, f"FPRoundingMode {rounding[1]}")
    return text.assembled()


def _glsl(text: Text) -> str:
    for line in text.preamble:
        if line.endswith('= OpExtInstImport "GLSL.std.450"'):
            return line.split(" ", 1)[0]
    at = next(i for i, t in enumerate(text.preamble) if t.startswith("OpMemoryModel"))
    result = text.fresh()
    text.preamble.insert(at, f'{result} = OpExtInstImport "GLSL.std.450"')
    return result


_MARKS = [
    struct.pack("<II", 2 << 16 | 17, number) for number in (5116, 4212, 6030, 6024, 4467, 4468)
]


def loose(code: bytes) -> list[str]:
    """Arithmetic of a module that rounds and is not NoContraction."""
    text = Text(code, NEWER)
    return [
        str(line) for line in Mutator(text, Random(0)).arithmetic()
        if f"OpDecorate {line.result} NoContraction" not in text.preamble and line.op != "OpFNegate"
    ]  # fmt: skip


def adrift(code: bytes) -> list[str]:
    """What makes an address of a value that nobody gives: of null, or of a Private variable that is
    never written or with zeros. Drivers drop a load that nobody needs, so that no picture shows it.
    """
    if struct.pack("<II", 2 << 16 | 17, 5347) not in code:  # PhysicalStorageBufferAddresses
        return []
    text = Text(code, NEWER)
    lines = [li for function in text.functions for block in function.blocks for li in block.lines]
    made = {li.result: li for li in lines if li.result}
    stored: dict[str, list[str]] = {}
    for line in lines:
        if line.op == "OpStore":
            stored.setdefault(line.words[0], []).append(line.words[1])

    def is_given(id: str) -> bool:
        if id in made:
            inner = made[id]
            ids = inner.ids()[:1] if inner.op == "OpAccessChain" else inner.ids()
            return inner.op not in _CARRIES or all(is_given(id) for id in ids)
        definition = text.definition(id)
        if definition.startswith("OpVariable") and " Private" in definition:
            return id in stored and all(is_given(value) for value in stored[id])
        if definition.startswith("OpConstantComposite"):
            return any(is_given(part) for part in definition.split()[2:])
        return not definition.startswith("OpConstantNull") and not _ZERO.fullmatch(definition)

    return [
        str(line)
        for line in made.values()
        if line.op in ("OpBitcast", "OpConvertUToPtr")
        and text.definition(line.words[0]).startswith("OpTypePointer Physical")
        and not is_given(line.words[1])
    ]


_ZERO = re.compile(r"OpConstant %\S+ 0")
_CARRIES = ("OpLoad", "OpAccessChain", "OpCompositeConstruct", "OpCompositeExtract", "OpBitcast",
            "OpCopyObject")  # fmt: skip
