"""What a vertex and a fragment shader compute for one invocation, number by number: a small
interpreter, so that values can be chosen that no picture has. Arithmetic is ``fold_oracle``'s.

An interface is a dict: (Location, Component) -> the 32 bits that a component holds (64-bit numbers
have two, 16-bit ones one). ``None`` is an undefined number, and so is what is made of one.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import CHAINS, Block, Inst, Module
from tests.support import fold_oracle
from tests.support.linking import module_of

Words = dict[tuple[int, int], int | None]
MOST_STEPS = 300  # blocks


def scalar_of(type: Inst) -> Inst:
    return type.args[0] if type.op == ops.OpTypeVector else type


def bits_in(type: Inst) -> int:
    return 1 if type.op == ops.OpTypeBool else type.imm[0]


def places(type: Inst, location: int, component: int):
    """(path, scalar type, Location, Component) of each number of an interface variable."""
    if type.op in types.NUMBERS:
        yield (), type, location, component
    elif type.op == ops.OpTypeVector:
        step = 2 if type.args[0].imm[0] == 64 else 1
        for n in range(type.imm[0]):
            at = component + n * step
            yield (n,), type.args[0], location + at // 4, at % 4
    else:
        for n in range(types.size_of(type)):
            part = types.part_type(type, n)
            for path, scalar, at, lane in places(part, location, component):
                yield (n, *path), scalar, at, lane
            location = max(at for _, _, at, _ in places(part, location, component)) + 1


def undefined(type: Inst):
    if type.op in (*types.NUMBERS, ops.OpTypeBool):
        return None
    return [undefined(types.part_type(type, n)) for n in range(types.size_of(type))]


class Run:
    """One invocation of an entry point."""

    def __init__(self, module: Module, inputs: Words, strict: bool) -> None:
        self.strict = strict  # whether an undefined operation makes all undefined
        self.tables = Decorations.of(module)
        self.values: dict[Inst, object] = {}
        self.memory: dict[Inst, object] = {}
        assert module.entry is not None
        for variable in module.globals:
            if variable.op == ops.OpVariable:
                self.declare(variable, inputs)
        self.function(module.entry.function.blocks)
        self.outputs: Words = {}
        for variable in self.memory:
            if variable.imm[0] == enums.StorageClass_Output:
                self.gather(variable)

    def declare(self, variable: Inst, inputs: Words) -> None:
        type = variable.type.args[0]
        self.memory[variable] = undefined(type)
        if len(variable.args) > 0:
            self.memory[variable] = self.value(variable.args[0])
        if variable.imm[0] == enums.StorageClass_Input:
            for path, scalar, location, component in self.held(variable):
                bits = inputs.get((location, component))
                if bits is not None and scalar.imm[0] == 64:
                    high = inputs.get((location, component + 1))
                    bits = None if high is None else bits | high << 32
                elif bits is not None:
                    bits &= (1 << scalar.imm[0]) - 1
                self.write((variable, list(path)), bits)

    def held(self, variable: Inst):
        location = self.tables.find(variable, enums.Decoration_Location)
        if location is None:
            return ()
        component = self.tables.find(variable, enums.Decoration_Component) or (0,)
        return places(variable.type.args[0], location[0], component[0])

    def gather(self, variable: Inst) -> None:
        for path, scalar, location, component in self.held(variable):
            bits = self.read((variable, list(path)))
            self.outputs[location, component] = None if bits is None else bits & 0xFFFFFFFF
            if scalar.imm[0] == 64:
                self.outputs[location, component + 1] = None if bits is None else bits >> 32

    def function(self, blocks: list[Block]) -> None:
        block, before, steps = blocks[0], None, 0
        while block is not None:
            steps += 1
            if steps > MOST_STEPS:
                raise fold_oracle.Undefined  # no loop that is written here takes so many rounds
            phis = [i for i in block.insts if i.op == ops.OpPhi]
            ways = [p.args[2 * p.args[1::2].index(before)] for p in phis]
            self.values.update(zip(phis, [self.value(way) for way in ways]))
            for inst in block.insts:
                if inst.op != ops.OpPhi:
                    self.step(inst)
            block, before = self.after(block.terminator), block

    def after(self, end: Inst) -> Block | None:
        if end.op == ops.OpReturn:
            return None
        if end.op == ops.OpBranch:
            return end.args[0]
        if end.op == ops.OpUnreachable:
            raise fold_oracle.Undefined
        chosen = self.value(end.args[0])
        if chosen is None:
            raise fold_oracle.Undefined
        if end.op == ops.OpBranchConditional:
            return end.args[1 if chosen else 2]
        assert end.op == ops.OpSwitch
        width = end.args[0].type.imm[0]
        size = 2 if width == 64 else 1
        for n, target in enumerate(end.args[2:]):
            words = end.imm[n * size : (n + 1) * size]
            if sum(w << 32 * i for i, w in enumerate(words)) & ((1 << width) - 1) == chosen:
                return target
        return end.args[1]

    # -- values ------------------------------------------------------------------------------------

    def value(self, inst: Inst):
        if inst in self.values:
            return self.values[inst]
        op, type = inst.op, inst.type
        if op in (ops.OpConstantTrue, ops.OpSpecConstantTrue):
            return 1
        if op in (ops.OpConstantFalse, ops.OpSpecConstantFalse):
            return 0
        if op in (ops.OpConstant, ops.OpSpecConstant):
            return sum(w << 32 * i for i, w in enumerate(inst.imm)) & ((1 << type.imm[0]) - 1)
        if op in (ops.OpConstantComposite, ops.OpSpecConstantComposite):
            return [self.value(a) for a in inst.args]
        if op == ops.OpConstantNull:
            return self.zero(type)
        if op == ops.OpUndef:
            return undefined(type)
        if op == ops.OpSpecConstantOp:
            made = Inst(inst.imm[0], type, inst.args, inst.imm[1:])
            self.step(made)
            return self.values[made]
        if op == ops.OpVariable:
            return inst, []
        raise AssertionError(ops.NAMES[op])

    def zero(self, type: Inst):
        if type.op in (*types.NUMBERS, ops.OpTypeBool):
            return 0
        return [self.zero(types.part_type(type, n)) for n in range(types.size_of(type))]

    def read(self, place):
        root, path = place
        value = self.memory[root]
        for at in path:
            value = value[at]
        return value

    def write(self, place, value) -> None:
        root, path = place
        self.memory[root] = self.inserted(self.memory[root], path, value)

    def inserted(self, whole, path, value):
        if not path:
            return value
        whole = list(whole)
        whole[path[0]] = self.inserted(whole[path[0]], path[1:], value)
        return whole

    def index(self, inst: Inst) -> int:
        """Read with its sign: an index is "treated as signed" (OpAccessChain)."""
        bits = self.value(inst)
        if bits is None:
            raise fold_oracle.Undefined
        return bits - (1 << inst.type.imm[0]) if bits >> (inst.type.imm[0] - 1) else bits

    def step(self, inst: Inst) -> None:
        op, args = inst.op, inst.args
        if op == ops.OpStore:
            self.write(self.value(args[0]), self.value(args[1]))
        elif op == ops.OpVariable:
            self.declare(inst, {})
        elif op in CHAINS:
            root, path = self.value(args[0])
            path = [*path, *[self.index(a) for a in args[1:]]]
            self.check(root.type.args[0], path)
            self.values[inst] = root, path
        elif inst.type is not None:
            self.values[inst] = self.made(inst)

    def check(self, type: Inst, path: list[int]) -> None:
        for at in path:
            if not 0 <= at < types.size_of(type):
                raise fold_oracle.Undefined
            type = types.part_type(type, at)

    def made(self, inst: Inst):
        op, type, args, imm = inst.op, inst.type, inst.args, inst.imm
        if op == ops.OpExtInst:
            op, args = -imm[0], args[1:]
        found = [self.value(a) for a in args]
        if op == ops.OpLoad:
            return self.read(found[0])
        if op in (ops.OpCopyObject, ops.OpCopyLogical):
            return found[0]
        if op == ops.OpCompositeConstruct:
            if type.op != ops.OpTypeVector:
                return found
            return [n for f in found for n in (f if isinstance(f, list) else [f])]
        if op == ops.OpCompositeExtract:
            value = found[0]
            for at in imm:
                value = value[at]
            return value
        if op == ops.OpCompositeInsert:
            return self.inserted(found[1], list(imm), found[0])
        if op == ops.OpVectorShuffle:
            both = found[0] + found[1]
            return [both[n] if n < len(both) else None for n in imm]
        if op == ops.OpVectorExtractDynamic:
            return found[0][found[1]]
        if op == ops.OpVectorInsertDynamic:
            return self.inserted(found[0], [found[2]], found[1])
        if op == ops.OpSelect:
            if not isinstance(found[0], list):
                return undefined(type) if found[0] is None else found[1 if found[0] else 2]
            return [None if c is None else a if c else b for c, a, b in zip(*found)]
        if op in (ops.OpBitcast, -glsl.Glsl_PackDouble2x32, -glsl.Glsl_UnpackDouble2x32):
            return self.cast(args[0].type, type, found[0])
        if op in (ops.OpAny, ops.OpAll):
            known = None in found[0]
            return None if known else int((any if op == ops.OpAny else all)(found[0]))
        return self.computed(op, type, args, found)

    def cast(self, source: Inst, type: Inst, value):
        parts = value if isinstance(value, list) else [value]
        width, to = bits_in(scalar_of(source)), bits_in(scalar_of(type))
        count = type.imm[0] if type.op == ops.OpTypeVector else 1
        made = []
        for n in range(count):
            bits = 0
            for at in range(n * to, (n + 1) * to, min(width, to)):
                part = parts[at // width]
                if part is None:
                    bits = None
                    break
                bits |= (part >> at % width & ((1 << min(width, to)) - 1)) << (at - n * to)
            made.append(bits)
        return made if type.op == ops.OpTypeVector else made[0]

    def computed(self, op: int, type: Inst, args: list[Inst], found: list):
        if op in _WIDE:
            low = type.args[0]
            pairs = [self.wide(op, low, args, found, n) for n in range(_count(low))]
            parts = [[p[0] for p in pairs], [p[1] for p in pairs]]
            return parts if low.op == ops.OpTypeVector else [p[0] for p in parts]
        lanes = []
        for n in range(_count(type)):
            bits = [f[n] if isinstance(f, list) else f for f in found]
            lanes.append(self.lane(op, args[0].type, type, bits))
        return lanes if type.op == ops.OpTypeVector else lanes[0]

    def lane(self, op: int, source: Inst, type: Inst, bits: list) -> int | None:
        if None in bits:
            return None
        width, to = bits_in(scalar_of(source)), bits_in(scalar_of(type))
        try:
            return fold_oracle.compute(op, width, to, bits)
        except fold_oracle.Undefined:
            if self.strict:
                raise
            return None

    def wide(self, op: int, type: Inst, args, found, n: int):
        a, b = [f[n] if isinstance(f, list) else f for f in found]
        width = scalar_of(type).imm[0]
        if a is None or b is None:
            return None, None
        low, high = _WIDE[op](width, a, b)
        return low & ((1 << width) - 1), high & ((1 << width) - 1)


def _count(type: Inst) -> int:
    return type.imm[0] if type.op == ops.OpTypeVector else 1


def _signed_product(w: int, a: int, b: int) -> tuple[int, int]:
    product = int(fold_oracle.signed(w, a)) * int(fold_oracle.signed(w, b))
    return product, product >> w


_WIDE = {
    ops.OpIAddCarry: lambda w, a, b: (a + b, a + b >> w),
    ops.OpISubBorrow: lambda w, a, b: (a - b, int(a < b)),
    ops.OpUMulExtended: lambda w, a, b: (a * b, a * b >> w),
    ops.OpSMulExtended: _signed_product,
}


def pixels(
    codes: list[bytes], attributes: list[Words], strict: bool = True
) -> list[Words | None]:  # fmt: skip
    """What the fragment shader writes for each set of attributes, if the varyings are flat; None
    where it is undefined as a whole. ``strict``: and where any operation is."""
    first, second = [module_of(code) for code in codes]
    found: list[Words | None] = []
    for words in attributes:
        try:
            found.append(Run(second, Run(first, words, strict).outputs, strict).outputs)
        except fold_oracle.Undefined:
            found.append(None)
    return found


def differences(before: list[Words | None], codes: list[bytes], attributes: list[Words]) -> list:
    """What comes out otherwise than it did, where that was defined: (before, after)."""
    known = [n for n, words in enumerate(before) if words is not None]
    after = pixels(codes, [attributes[n] for n in known], False)
    return [(before[n], words) for n, words in zip(known, after) if before[n] != words]
