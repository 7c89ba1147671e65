"""Every rule of algebra.rules, compiled alone, is proved by evaluating both sides on random bit
patterns; the checked-in module fires on the same instances and is fresh.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from spvlink.grammar import enums, glsl, ops
from spvlink.ir import types
from spvlink.ir.core import COPY, EXECUTION_MODES, Inst, Module, words_of
from spvlink.ir.edit import resolve
from spvlink.rules import apply as rules
from spvlink.rules.lanes import component
from tests.support.fold_oracle import Undefined, bits_of, compute, fused, is_nan, unfused

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "generate-rules"
INSTANCES = 8  # of each rule: types, vector sizes, constants, operand orders
ASSIGNMENTS = 16  # of values to the variables of an instance
ATTEMPTS = 4000  # random constructions until an instance fires


def _load():
    loader = importlib.machinery.SourceFileLoader("generate_rules", str(SCRIPT))
    spec = importlib.util.spec_from_loader("generate_rules", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate_rules"] = module
    loader.exec_module(module)
    return module


COMPILER = _load()
RULES = COMPILER.read_rules(COMPILER.SOURCE.read_text())


class Retry(Exception):
    """This random choice of types does not fit the rule."""


INTS = ("u8", "i8", "u16", "i16", "u32", "i32", "u32", "i32", "u64", "i64")
FLOATS = ("f16", "f32", "f32", "f64")


class Workshop:
    """Builds random instances of a pattern in a module."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.module = Module()
        self.set = Inst(
            ops.OpExtInstImport, None, [], words_of("GLSL.std.450"), self.module.new_id()
        )
        self.bound: dict[str, Inst] = {}

    def new(self, op: int, type: Inst, args: list[Inst], imm: tuple[int, ...] = ()) -> Inst:
        return Inst(op, type, args, imm, self.module.new_id())

    def scalar(self, kind: str) -> Inst:
        if kind == "b":
            return types.boolean(self.module)
        if kind[0] == "f":
            return types.floating(self.module, int(kind[1:]))
        return types.integer(self.module, int(kind[1:]), kind[0] == "i")

    def pick(self, kinds: tuple[str, ...], like: Inst) -> Inst:
        """A type of one of the kinds with as many components as ``like``."""
        scalar = self.scalar(self.random.choice(kinds))
        return types.vector(self.module, scalar, size_of(like))

    def sized(self, kinds: tuple[str, ...]) -> Inst:
        return types.vector(
            self.module, self.scalar(self.random.choice(kinds)), self.random.choice((1, 1, 2, 3))
        )

    def root_type(self, name: str) -> Inst:
        if name == "OpTranspose" or name == "OpMatrixTimesScalar":
            column = types.vector(self.module, self.scalar(self.random.choice(FLOATS)), 2)
            return types.make(self.module, ops.OpTypeMatrix, None, [column], (2,))
        if name in ("OpBitcast", "OpSelect", "OpCopyObject"):
            return self.sized((*INTS, *FLOATS, "b") if name != "OpBitcast" else (*INTS, *FLOATS))
        if name == "PackDouble2x32":
            return self.scalar("f64")
        if name == "UnpackDouble2x32":
            return types.vector(self.module, self.scalar("u32"), 2)
        kind = result_kind(name)
        return self.sized({"b": ("b",), "f": FLOATS, "i": INTS}[kind])

    def operand_types(self, name: str, type: Inst, count: int) -> list[Inst]:
        """Random operand types of an operation that gives ``type``."""
        module, boolean = self.module, self.pick(("b",), type)
        if name.startswith(("OpI", "OpU", "OpS", "OpF")) and result_kind(name) == "b":
            return [self.pick(FLOATS if name.startswith("OpF") else INTS, type)] * 2
        if name == "OpSelect":
            condition = self.scalar("b") if self.random.random() < 0.2 else boolean
            return [condition, type, type]
        if name.startswith("OpShift"):
            return [type, self.pick(INTS, type)]
        if name in ("OpVectorTimesScalar", "OpMatrixTimesScalar"):
            if type.op not in (ops.OpTypeVector, ops.OpTypeMatrix):
                raise Retry
            return [type, component(component_of(type))]
        if name in ("OpUConvert", "OpSConvert", "OpFConvert"):
            return [self.other_width(type, FLOATS if name == "OpFConvert" else INTS)]
        if name in ("OpConvertFToU", "OpConvertFToS"):
            return [self.pick(FLOATS, type)]
        if name in ("OpConvertUToF", "OpConvertSToF"):
            return [self.pick(INTS, type)]
        if name == "OpBitcast":
            return [self.same_bits(type)]
        if name == "PackDouble2x32":
            return [types.vector(module, self.scalar("u32"), 2)]
        if name == "UnpackDouble2x32":
            return [self.scalar("f64")]
        return [type] * count

    def other_width(self, type: Inst, kinds: tuple[str, ...]) -> Inst:
        found = self.pick(kinds, type)
        if component(found).imm[0] == component(type).imm[0]:
            raise Retry
        return found

    def same_bits(self, type: Inst) -> Inst:
        total = component(type).imm[0] * size_of(type)
        scalar = self.scalar(self.random.choice((*INTS, *FLOATS)))
        size, rest = divmod(total, scalar.imm[0])
        if rest or not 1 <= size <= 4:
            raise Retry
        return types.vector(self.module, scalar, size)

    def constant(self, type: Inst, values: list[int]) -> Inst:
        """A constant of one value for all lanes, or one each."""
        if type.op not in (ops.OpTypeVector,):
            if type.op == ops.OpTypeMatrix:
                raise Retry
            return types.constant(self.module, type, values[0])
        if not any(values) and self.random.random() < 0.5:
            return types.null(self.module, type)
        scalar, size = type.args[0], size_of(type)
        row = values if len(values) == size else values[:1] * size
        parts = [types.constant(self.module, scalar, v) for v in row]
        return types.composite(self.module, type, parts)

    def literal(self, text: str, type: Inst) -> Inst:
        scalar = component(type)
        if text in ("true", "false"):
            wanted, bits = ops.OpTypeBool, int(text == "true")
        elif "." in text:
            wanted, bits = ops.OpTypeFloat, 0
        else:
            wanted, bits = ops.OpTypeInt, int(text)
        if scalar.op != wanted:
            raise Retry
        if wanted == ops.OpTypeFloat:
            kinds = {16: "float16", 32: "float32", 64: "float64"}
            bits = bits_of(numpy_type(kinds[scalar.imm[0]])(float(text)))
        return self.constant(type, [bits])

    def build(self, term, type: Inst, depth: int = 0) -> Inst:
        """An instance of a pattern's term with a given type."""
        if isinstance(term, str):
            made = self.leaf(term, type)
        else:
            args = self.operand_types(term.name, type, len(term.args))
            operands = [self.build(a, t, depth + 1) for a, t in zip(term.args, args)]
            if term.name in COMPILER.GLSL_NUMBERS:
                number = (COMPILER.GLSL_NUMBERS[term.name],)
                made = self.new(ops.OpExtInst, type, [self.set, *operands], number)
            else:
                made = self.new(COMPILER.key_of(term.name), type, operands)
            if term.bound:
                self.bound[term.bound] = made
        if depth > 1 and self.random.random() < 0.2:
            return self.new(COPY, type, [made])
        return made

    def leaf(self, term: str, type: Inst) -> Inst:
        if COMPILER.is_literal(term):
            return self.literal(term, type)
        if term in self.bound:
            if self.bound[term].type is not type:
                raise Retry
            return self.bound[term]
        if term.startswith("#"):
            size = size_of(type)
            value = [random_bits(self.random, component(type)) for _ in range(size)]
            made = self.constant(type, value if self.random.random() < 0.5 else value[:1])
        else:
            made = self.new(ops.OpFunctionParameter, type, [])
        self.bound[term] = made
        return made


def numpy_type(name: str) -> Callable:
    import numpy as np

    return getattr(np, name)


def result_kind(name: str) -> str:
    """Whether an operation gives bools, floats or integers."""
    if name.startswith(("OpLogical", "OpFOrd", "OpFUnord")) or name.endswith(
        ("Equal", "LessThan", "GreaterThan")
    ):
        return "b"
    if name in ("OpVectorTimesScalar", "OpQuantizeToF16", "OpConvertUToF", "OpConvertSToF"):
        return "f"
    if name.startswith("OpF") or name[:2] in ("FA", "FS", "FM", "NM"):
        return "f"
    return "f" if name in ("Floor", "Ceil", "Trunc", "Round", "RoundEven", "Fma") else "i"


def size_of(type: Inst) -> int:
    return type.imm[0] if type.op == ops.OpTypeVector else 1


def component_of(type: Inst) -> Inst:
    return type.args[0] if type.op == ops.OpTypeMatrix else type


def random_bits(random: Random, scalar: Inst) -> int:
    """Bits of a value: small numbers, powers of two, edges, anything."""
    if scalar.op == ops.OpTypeBool:
        return random.getrandbits(1)
    width, choice = scalar.imm[0], random.random()
    if choice < 0.2:
        return random.getrandbits(width)
    if scalar.op == ops.OpTypeInt:
        top = 1 << (width - 1)
        edges = (0, 1, 2 * top - 1, top, top - 1, 1 << random.randrange(width))
        return random.choice(edges) if choice < 0.7 else random.randrange(8)
    dtype = numpy_type(f"float{width}")
    if choice < 0.4:
        special = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 0.5, -2.5)
        return bits_of(dtype(random.choice(special)))
    if choice < 0.6:
        return bits_of(dtype(random.choice((1, -1)) * 2.0 ** random.randrange(-10, 10)))
    return bits_of(dtype(random.uniform(-50, 50)))


# The evaluator. A value is a list of lanes; a matrix's are its columns' lanes in order.


def width_of(scalar: Inst) -> int:
    return 1 if scalar.op == ops.OpTypeBool else scalar.imm[0]


def count_of(type: Inst) -> int:
    return type.imm[0] * size_of(type.args[0]) if type.op == ops.OpTypeMatrix else size_of(type)


def leaf_type(type: Inst) -> Inst:
    return component(component_of(type))


def known_lanes(value: Inst) -> list[int] | None:
    if value.op == ops.OpConstantNull:
        return [0] * count_of(value.type)
    if value.op == ops.OpConstantComposite:
        return [types.bits_of(p) for p in value.args]
    bits = types.bits_of(value)
    return None if bits is None else [bits]


class Evaluator:
    """Evaluates an expression under an assignment of lanes to its parameters."""

    def __init__(self, values: dict[int, list[int]], fma: Callable) -> None:
        self.values, self.fma = values, fma

    def of(self, value: Inst) -> list[int]:
        value = resolve(value)
        if value.id in self.values:
            return self.values[value.id]
        found = known_lanes(value)
        if found is None:
            found = self.compute(value)
        self.values[value.id] = found
        return found

    def compute(self, inst: Inst) -> list[int]:
        args = inst.args[1:] if inst.op == ops.OpExtInst else inst.args
        key = -inst.imm[0] if inst.op == ops.OpExtInst else inst.op
        rows = [self.of(a) for a in args]
        if key == ops.OpCopyObject:
            return rows[0]
        if key == ops.OpTranspose:
            height, width = inst.type.imm[0], size_of(inst.type.args[0])
            return [rows[0][c * height + r] for r in range(height) for c in range(width)]
        width, count = width_of(leaf_type(resolve(args[0]).type)), count_of(inst.type)
        to = width_of(leaf_type(inst.type))
        if key in (ops.OpBitcast, -glsl.Glsl_PackDouble2x32, -glsl.Glsl_UnpackDouble2x32):
            joined = sum(bits << (width * i) for i, bits in enumerate(rows[0]))
            return [joined >> (to * i) & ((1 << to) - 1) for i in range(count)]
        found = []
        for lane in range(count):
            row = [r[lane] if len(r) > 1 else r[0] for r in rows]
            if key == ops.OpSelect:
                found.append(row[1] if row[0] else row[2])
            elif key == -glsl.Glsl_Fma:
                found.append(self.fma(width, *row))
            else:
                found.append(compute(key, width, to, row))
        return found


def parameters(value: Inst, found: dict[int, Inst]) -> None:
    for arg in value.args:
        arg = resolve(arg)
        if arg.op == ops.OpFunctionParameter:
            found[arg.id] = arg
        else:
            parameters(arg, found)


def prove(random: Random, left: Inst, right: Inst) -> int:
    """Assert that both sides agree bit for bit, all NaNs being one; gives how many assignments
    counted."""
    free: dict[int, Inst] = {}
    parameters(left, free)
    counted, scalar = 0, leaf_type(left.type)
    for _ in range(ASSIGNMENTS):
        values = {
            p.id: [random_bits(random, leaf_type(p.type)) for _ in range(count_of(p.type))]
            for p in free.values()
        }
        for fma in (fused, unfused):
            try:
                expected = Evaluator(dict(values), fma).of(left)
            except Undefined:
                continue
            try:
                got = Evaluator(dict(values), fma).of(right)
            except Undefined:
                raise AssertionError(f"differ: the result is undefined for {values}") from None
            assert len(got) == len(expected)
            for a, b in zip(expected, got):
                same = a == b
                if not same and scalar.op == ops.OpTypeFloat:
                    width = scalar.imm[0]
                    same = is_nan(width, a) and is_nan(width, b)
                assert same, f"differ: {expected} {got} for {values}"
            counted += 1
    return counted


def compiled(rule) -> tuple[Callable, bool]:
    """One rule compiled alone: its function, and whether it builds."""
    space: dict = {}
    exec(COMPILER.compile_rules([rule]), space)
    builds = bool(space["BUILD_RULES"])
    table = space["BUILD_RULES"] if builds else space["RULES"]
    ((_, function),) = table.items()
    return function, builds


def check_rule(rule, random: Random, shipped: bool) -> None:
    """Fire a rule on random instances and prove each; ``shipped``: the checked-in module must fire
    too."""
    function, builds = compiled(rule)
    fired = proved = 0
    for _ in range(ATTEMPTS):
        if fired == INSTANCES:
            break
        shop = Workshop(random)
        try:
            root = shop.build(rule.pattern, shop.root_type(rule.pattern.name))
        except Retry:
            continue
        if COMPILER.commutes(rule.pattern) and random.random() < 0.5:
            root.args[-2:] = root.args[:-3:-1]
        out: list[Inst] = []
        found = function(shop.module, root, out) if builds else function(shop.module, root)
        if found is None:
            assert not out
            continue
        fired += 1
        assert found.type is root.type and out == ([found] if builds else [])
        proved += prove(random, root, found)
        made: list[Inst] = []
        if shipped:
            whole = rules.simplify(shop.module, root, made)
            inner = rules.INNER[COMPILER.key_of(rule.pattern.name)]
            wanted = types.CONSTANTS | (inner or frozenset())
            asked = inner is None or any(a.op in wanted for a in root.args)
            assert asked, "simplify would not try this rule"
            assert whole is not None and whole.type is root.type and len(made) <= 1
            prove(random, root, whole)
    assert fired == INSTANCES and proved >= INSTANCES


@pytest.mark.parametrize("index", range(len(RULES)), ids=[r.text for r in RULES])
def test_rule(index: int) -> None:
    check_rule(RULES[index], Random(index), True)


@pytest.mark.parametrize(
    "text",
    [
        "(OpFAdd x 0.0) => x",
        "(OpFSub 0.0 x) => (OpFNegate x)",
        "(OpFNegate (OpFSub x y)) => (OpFSub y x)",
        "(OpFOrdEqual x x) => true",
        "(OpLogicalNot (OpFOrdLessThan x y)) => (OpFOrdGreaterThanEqual x y)",
        "(OpFAdd (OpFAdd x #a) #b) => (OpFAdd x (fold OpFAdd #a #b))",
        "(Fma x y 0.0) => (OpFMul x y)",
        "(OpISub x y) => (OpISub y x)",
        "(OpULessThan x 1) => false",
        "(OpSDiv x #a) => (OpShiftRightArithmetic x (log2 #a))",
        "(OpSelect c x y) => (OpSelect c y x)",
        "(OpUConvert (OpUConvert x)) => x",
        "(OpConvertFToS (OpConvertSToF x)) => x",
        "(OpBitwiseXor x (OpNot x)) => 0",
        "(OpShiftLeftLogical (OpShiftLeftLogical x #a) #b)"
        " => (OpShiftLeftLogical x (fold OpIAdd #a #b))",
    ],
)
def test_the_proof_catches_wrong_rules(text: str) -> None:
    (rule,) = COMPILER.read_rules(text)
    with pytest.raises(AssertionError, match="differ"):
        for seed in range(20):
            check_rule(rule, Random(seed), False)


def test_the_checked_in_module_is_fresh() -> None:
    assert subprocess.run([sys.executable, str(SCRIPT), "--check"], check=False).returncode == 0


def _param(module: Module, type: Inst) -> Inst:
    return Inst(ops.OpFunctionParameter, type, [], (), module.new_id())


def _float_bits(value: float) -> int:
    return bits_of(numpy_type("float32")(value))


@pytest.mark.parametrize(
    "op,value",
    [
        (ops.OpFMul, 0.0),
        (ops.OpFAdd, 0.0),
        (ops.OpFSub, -0.0),
        (ops.OpFDiv, 3.0),
        (ops.OpFDiv, 0.0),
        (ops.OpFDiv, 2.0**127),
        (ops.OpFMul, 2.0),
    ],
)
def test_floats_that_must_stay(op: int, value: float) -> None:
    module = Module()
    f = types.floating(module)
    operands = [_param(module, f), types.constant(module, f, _float_bits(value))]
    out: list[Inst] = []
    assert rules.simplify(module, Inst(op, f, operands, (), 99), out) is None and not out


def test_same_float_operands_must_stay() -> None:
    module = Module()
    f, b = types.floating(module), types.boolean(module)
    x = _param(module, f)
    for op, type in (
        (ops.OpFSub, f),
        (ops.OpFDiv, f),
        (ops.OpFOrdEqual, b),
        (ops.OpFUnordNotEqual, b),
    ):
        assert rules.simplify(module, Inst(op, type, [x, x], (), 99), []) is None


def test_no_new_instruction_where_the_caller_forbids_it() -> None:
    module = Module()
    f = types.floating(module)
    minus = types.constant(module, f, _float_bits(-1.0))
    inst = Inst(ops.OpFMul, f, [_param(module, f), minus], (), 99)
    out: list[Inst] = []
    assert rules.simplify(module, inst, out, build=False) is None and not out
    found = rules.simplify(module, inst, out)
    assert found is not None and found.op == ops.OpFNegate and out == [found]


def test_float_rules_stop_where_denormals_are_flushed() -> None:
    module = Module()
    f, u = types.floating(module), types.integer(module)
    mode = (enums.ExecutionMode_DenormFlushToZero, 32)
    module.sections[EXECUTION_MODES].append(Inst(ops.OpExecutionMode, None, [], mode))
    out: list[Inst] = []
    for value in (1.0, -1.0):
        args = [_param(module, f), types.constant(module, f, _float_bits(value))]
        assert rules.simplify(module, Inst(ops.OpFMul, f, args, (), 99), out) is None and not out
    x = _param(module, u)
    zero = types.constant(module, u, 0)
    assert rules.simplify(module, Inst(ops.OpIAdd, u, [x, zero], (), 99), out) is x


def test_what_stands_before_stays_where_denormals_are_flushed() -> None:
    """A rule that gives the instruction before, and is not applied, takes nothing away."""
    module = Module()
    f = types.floating(module)
    mode = (enums.ExecutionMode_DenormFlushToZero, 32)
    module.sections[EXECUTION_MODES].append(Inst(ops.OpExecutionMode, None, [], mode))
    import_ = Inst(ops.OpExtInstImport, None, [], words_of("GLSL.std.450"), module.new_id())
    before = Inst(ops.OpExtInst, f, [import_, _param(module, f)], (glsl.Glsl_FAbs,), 98)
    out = [before]
    again = Inst(ops.OpExtInst, f, [import_, before], (glsl.Glsl_FAbs,), 99)
    assert rules.simplify(module, again, out) is None and out == [before]


def test_another_instruction_set_is_left_alone() -> None:
    module = Module()
    f = types.floating(module)
    other = Inst(ops.OpExtInstImport, None, [], words_of("OpenCL.std"), module.new_id())
    ours = Inst(ops.OpExtInstImport, None, [], words_of("GLSL.std.450"), module.new_id())
    x = _param(module, f)
    for set, expected in ((other, None), (ours, x)):
        inst = Inst(ops.OpExtInst, f, [set, x, x], (glsl.Glsl_FMin,), 99)
        assert rules.simplify(module, inst, []) is expected


def test_signedness_is_kept() -> None:
    module = Module()
    signed, unsigned = types.integer(module, 32, True), types.integer(module)
    x = _param(module, unsigned)
    inst = Inst(ops.OpIAdd, signed, [x, types.constant(module, signed, 0)], (), 99)
    assert rules.simplify(module, inst, []) is None  # x has another type


@pytest.mark.parametrize(
    "text",
    [
        "(OpIAdd x 0) =>",
        "(OpNoSuch x) => x",
        "(OpIAdd x 0) => y",
        "(OpIAdd x y) => (OpIAdd (OpIAdd y x) x)",
        "(OpIAdd x 0) => x where sunny(x)",
        "({OpIAdd|OpISub} x {0|1|2}) => x",
    ],
)
def test_bad_rules_are_refused(text: str) -> None:
    with pytest.raises(COMPILER.RuleError, match=r"algebra\.rules:1"):
        COMPILER.compile_rules(COMPILER.read_rules(text))
