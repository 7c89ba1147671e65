"""The generated grammar: fresh, true where we know the truth, and consistent with itself."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from spvlink.grammar import enums, glsl, info, names, needs, ops, shapes
from spvlink.ir.core import OPCODES, PRIVATE, PRIVATE_NAMES, by_opcode

ROOT = Path(__file__).resolve().parents[2]


def check_generated(script_root: Path) -> subprocess.CompletedProcess[str]:
    script = script_root / "scripts" / "generate-grammar"
    return subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )


def test_generated_modules_are_fresh() -> None:
    done = check_generated(ROOT)
    assert done.returncode == 0, done.stderr


def test_check_notices_a_stale_module(tmp_path: Path) -> None:
    for folder in ("scripts", "spirv_grammar", "spvlink/grammar"):
        (tmp_path / folder).mkdir(parents=True)
        for file in (ROOT / folder).iterdir():
            if file.is_file():
                (tmp_path / folder / file.name).write_bytes(file.read_bytes())
    assert check_generated(tmp_path).returncode == 0
    stale = tmp_path / "spvlink/grammar/ops.py"
    stale.write_text(stale.read_text().replace("OpFMul: Final = 133", "OpFMul: Final = 134"))
    done = check_generated(tmp_path)
    assert done.returncode == 1
    assert "ops.py" in done.stderr and "shapes.py" not in done.stderr


def test_version_is_new_enough() -> None:
    fields = dict(
        line.split(" ", 1) for line in (ROOT / "spirv_grammar/VERSION").read_text().splitlines()
    )
    version = (*map(int, fields["version"].split(".")), int(fields["revision"]))
    assert version >= (1, 6, 7)
    assert fields["origin"]


# Numbers as the SPIR-V specification prints them.
KNOWN_OPS = {
    "OpUndef": 1, "OpName": 5, "OpExtInst": 12, "OpTypeVoid": 19, "OpConstant": 43,
    "OpFunction": 54, "OpVariable": 59, "OpLoad": 61, "OpStore": 62, "OpAccessChain": 65,
    "OpDecorate": 71,
    "OpVectorShuffle": 79, "OpCompositeExtract": 81, "OpImageSampleImplicitLod": 87, "OpFAdd": 129,
    "OpFMul": 133, "OpDPdx": 207, "OpPhi": 245, "OpLabel": 248, "OpBranch": 249, "OpSwitch": 251,
    "OpKill": 252, "OpReturn": 253, "OpUnreachable": 255, "OpCopyLogical": 400,
    "OpTerminateInvocation": 4416, "OpDemoteToHelperInvocation": 5380,
    "OpDemoteToHelperInvocationEXT": 5380, "OpDecorateStringGOOGLE": 5632,
}  # fmt: skip
KNOWN_ENUMS = {
    "StorageClass_Input": 1, "StorageClass_Output": 3, "StorageClass_Function": 7,
    "Decoration_Location": 30, "Decoration_Component": 31, "Decoration_Flat": 14,
    "BuiltIn_Position": 0, "BuiltIn_SampleId": 18, "BuiltIn_HelperInvocation": 23,
    "ExecutionModel_Vertex": 0, "ExecutionModel_Fragment": 4, "ExecutionMode_Xfb": 11,
    "Capability_Shader": 1, "ImageOperands_Bias": 1, "ImageOperands_Grad": 4,
    "MemoryAccess_Volatile": 1, "MemoryAccess_Aligned": 2, "Dim_2D": 1,
}  # fmt: skip


@pytest.mark.parametrize("module, known", [(ops, KNOWN_OPS), (enums, KNOWN_ENUMS)])
def test_known_numbers(module: object, known: dict[str, int]) -> None:
    assert {name: getattr(module, name) for name in known} == known


def test_names_and_numbers_agree() -> None:
    assert all(getattr(ops, name) == number for number, name in ops.NAMES.items())
    assert all(getattr(glsl, f"Glsl_{name}") == number for number, name in glsl.NAMES.items())
    assert names.EXT_NAMES["GLSL.std.450"] == glsl.NAMES
    known = {op for op in range(0x10000) if shapes.RESULT[op] != shapes.NONE}
    assert known == set(ops.NAMES)
    for kind, _, values in map(shapes.enumeration, range(len(shapes.KINDS))):
        assert set(values) == set(names.ENUM_NAMES[kind])
        for value, name in names.ENUM_NAMES[kind].items():
            assert getattr(enums, f"{kind}_{name}") == value
    assert set(shapes.SETS) == set(names.EXT_NAMES)
    for name in shapes.SETS:
        assert set(extended_set(name)) == set(names.EXT_NAMES[name])
    assert shapes.extended_set("SPV_XYZ_unknown") is None


def test_opcodes_that_the_grammar_lacks() -> None:
    unknown = sorted(set(range(0x10000)) - set(ops.NAMES))
    assert 9 in unknown and 0xFFFF in unknown
    for op in unknown:
        assert shapes.RESULT[op] == shapes.FAST[op] == shapes.SPLIT[op] == shapes.NONE
        with pytest.raises(IndexError):
            shapes.operands(op)


def test_mask_values_are_single_bits() -> None:
    kinds = map(shapes.enumeration, range(len(shapes.KINDS)))
    masks = [values for _, is_mask, values in kinds if is_mask]
    assert masks
    for values in masks:
        assert all(value & (value - 1) == 0 for value in values)


@pytest.mark.parametrize(
    "name, result, fast, split",
    [
        ("OpFMul", 3, 2, shapes.BEHIND),
        ("OpCompositeExtract", 3, 128 + 1, shapes.BEHIND),
        ("OpVectorShuffle", 3, 128 + 2, shapes.BEHIND),
        ("OpCompositeConstruct", 3, 64, shapes.BEHIND),
        ("OpAccessChain", 3, 64 + 1, shapes.BEHIND),
        ("OpPhi", 3, 64, shapes.BEHIND),
        ("OpFunctionCall", 3, 64 + 1, shapes.BEHIND),
        ("OpLoad", 3, 192 + 1, 1),
        ("OpStore", 0, 192 + 2, 2),
        ("OpImageSampleImplicitLod", 3, 192 + 2, 2),
        ("OpImageWrite", 0, 192 + 3, 3),
        ("OpExtInst", 3, None, 1),
        ("OpVariable", 3, None, 0),
        ("OpDecorate", 0, None, 1),
        ("OpSwitch", 0, None, None),
        ("OpEntryPoint", 0, None, None),
        ("OpSpecConstantOp", 3, None, None),
        ("OpCopyMemory", 0, 192 + 2, None),
        ("OpBranchConditional", 0, 128 + 3, shapes.BEHIND),
        ("OpLabel", 2, 0, shapes.BEHIND),
        ("OpReturn", 0, 0, shapes.BEHIND),
        ("OpTypeStruct", 2, 64, shapes.BEHIND),
    ],
)
def test_known_shapes(name: str, result: int, fast: int | None, split: int | None) -> None:
    op = getattr(ops, name)
    nothing = shapes.NONE
    wanted = result, nothing if fast is None else fast, nothing if split is None else split
    assert (shapes.RESULT[op], shapes.FAST[op], shapes.SPLIT[op]) == wanted


def enum_words(kind: int, rng: random.Random) -> str:
    _, is_mask, values = shapes.enumeration(kind - shapes.K_ENUM)
    chosen = [rng.choice(list(values))]
    if is_mask:
        chosen = [value for value in sorted(values) if value and rng.random() < 0.4]
    return "L" + "".join(operand_words(values[value], rng) for value in chosen)


def operand_words(codes: tuple[int, ...], rng: random.Random, shortest: bool = False) -> str:
    """One legal word list for the operands: a letter a word, I for an id, L for anything else."""
    literals = "L" * rng.randrange(1, 4)
    spelled = {
        shapes.K_ID: "I", shapes.K_LITERAL: "L", shapes.K_STRING: literals,
        shapes.K_TYPED: literals, shapes.K_EXTINST: "L", shapes.K_SWITCH_PAIR: literals + "I",
        shapes.K_ID_LITERAL: "IL", shapes.K_ID_ID: "II",
    }  # fmt: skip
    text = ""
    for code in codes:
        kind, quantifier = divmod(code, 4)
        most = {shapes.ONE: 1, shapes.OPTIONAL: 1, shapes.MANY: 3}[quantifier]
        least = 1 if quantifier == shapes.ONE else 0
        for _ in range(least if shortest else rng.randint(least, most)):
            text += enum_words(kind, rng) if kind >= shapes.K_ENUM else spelled[kind]
    return text


def test_split_puts_the_words_back_for_every_opcode() -> None:
    rng = random.Random(1)
    split_ops = [op for op in ops.NAMES if shapes.SPLIT[op] != shapes.NONE]
    assert len(split_ops) > 800
    for op in split_ops:
        split = shapes.SPLIT[op]
        for _ in range(60):
            words = operand_words(shapes.operands(op), rng)
            ids, rest = "I" * words.count("I"), "L" * words.count("L")
            put = ids[:split] + rest + ids[split:]
            assert put == words, (ops.NAMES[op], words)


def test_absent_split_is_needed() -> None:
    """Where SPLIT has nothing, some legal word list really disagrees with every single split."""
    rng = random.Random(2)
    absent = {op for op in ops.NAMES if shapes.SPLIT[op] == shapes.NONE} - {ops.OpSpecConstantOp}
    for op in absent:
        fits = set(range(-1, 20))
        for _ in range(2000):
            words = operand_words(shapes.operands(op), rng)
            ids, rest = "I" * words.count("I"), "L" * words.count("L")
            fits &= {
                k for k in fits if (ids + rest if k < 0 else ids[:k] + rest + ids[k:]) == words
            }
            if not fits:
                break
        assert not fits, ops.NAMES[op]


def test_fast_agrees_with_operands_for_every_opcode() -> None:
    rng = random.Random(3)
    quick = {op: shapes.FAST[op] for op in ops.NAMES if shapes.FAST[op] != shapes.NONE}
    for op, fast in quick.items():
        family, count = fast & ~63, fast & 63
        codes = shapes.operands(op)
        for _ in range(30):
            words = operand_words(codes, rng, shortest=family == 192)
            tail = words[count:]
            assert words[:count] == "I" * count, ops.NAMES[op]
            assert set(tail) <= {0: set(), 64: {"I"}, 128: {"L"}, 192: set()}[family]
    simple = {op for op in ops.NAMES if all(code == 0 for code in shapes.operands(op))}
    assert simple and simple <= set(quick)


def extended_set(name: str) -> dict[int, tuple[int, ...]]:
    found = shapes.extended_set(name)
    assert found is not None
    return found


def having(flags: dict[int, int], fact: int) -> set[int]:
    return {op for op, bits in flags.items() if bits & fact}


@pytest.mark.parametrize("flags", [info.FLAGS, info.GLSL_FLAGS])
def test_facts_do_not_contradict_each_other(flags: dict[int, int]) -> None:
    pure, removable = having(flags, info.PURE), having(flags, info.REMOVABLE)
    assert pure and pure <= removable
    assert having(flags, info.SPECULATABLE) <= pure
    assert having(flags, info.FOLDABLE) <= pure
    assert having(flags, info.COMMUTATIVE) <= pure
    assert not removable & having(flags, info.WRITES_MEMORY)
    assert not pure & having(flags, info.READS_MEMORY)
    assert not having(flags, info.CONVERGENT) & having(flags, info.SPECULATABLE)
    assert having(flags, info.DERIVATIVE) <= having(flags, info.CONVERGENT)
    assert not having(flags, info.COCONVERGENT) & pure


def test_facts_fit_the_shapes() -> None:
    for op in having(info.FLAGS, info.PURE) | having(info.FLAGS, info.LANEWISE):
        assert shapes.RESULT[op] == 3, ops.NAMES[op]
    for op in having(info.FLAGS, info.COMMUTATIVE):
        assert shapes.FAST[op] == 2 or op in (ops.OpSDot, ops.OpUDot), ops.NAMES[op]
    for number in having(info.GLSL_FLAGS, info.COMMUTATIVE):
        assert len(extended_set("GLSL.std.450")[number]) == 2
    for op in having(info.FLAGS, info.TERMINATOR | info.MERGE | info.DEBUG | info.ANNOTATION):
        assert not shapes.RESULT[op] & 1
    assert {op for op, name in ops.NAMES.items() if name.startswith("OpType")} == having(
        info.FLAGS, info.TYPE
    )


def test_known_facts() -> None:
    flags = info.FLAGS
    sample = flags[ops.OpImageSampleImplicitLod]
    moving = info.CONVERGENT | info.UNIFORM | info.DERIVATIVE
    assert sample & moving == moving and sample & info.PURE
    fetch = flags[ops.OpImageFetch]
    assert fetch & info.UNIFORM and not fetch & (info.CONVERGENT | info.SPECULATABLE)
    ballot = flags[ops.OpGroupNonUniformBallot]
    assert ballot & info.CONVERGENT and ballot & info.COCONVERGENT and not ballot & info.PURE
    assert not flags[ops.OpUDiv] & info.SPECULATABLE and flags[ops.OpFDiv] & info.SPECULATABLE
    assert not flags[ops.OpBitcast] & info.LANEWISE
    assert not flags[ops.OpFSub] & info.COMMUTATIVE
    assert not flags[ops.OpSpecConstant] & info.PURE
    assert flags[ops.OpSampledImage] & info.BLOCK_LOCAL
    assert not info.GLSL_FLAGS[glsl.Glsl_Modf] & info.REMOVABLE
    assert flags[ops.OpConvertFToS] & flags[ops.OpFOrdEqual] & info.DISCONTINUOUS
    assert flags[ops.OpFOrdLessThan] & sample & info.DISCONTINUOUS
    assert info.GLSL_FLAGS[glsl.Glsl_Floor] & info.DISCONTINUOUS
    assert not info.GLSL_FLAGS[glsl.Glsl_FAbs] & info.DISCONTINUOUS
    assert ops.OpExtInst not in flags and ops.OpFunctionCall not in flags


def test_private_opcodes_are_above_the_grammar_and_in_all_tables() -> None:
    assert max(ops.NAMES) < PRIVATE <= min(PRIVATE_NAMES) and max(PRIVATE_NAMES) < OPCODES
    assert by_opcode((ops.OpNop, 7), [7, OPCODES - 1])[:9] == b"\1\0\0\0\0\0\0\3\0"
    assert len(by_opcode()) == OPCODES and by_opcode((), [OPCODES - 1])[-1] == 2


def test_unknown_opcode_is_effectful_and_dear() -> None:
    for op in (ops.OpFunctionCall, ops.OpDemoteToHelperInvocation, 0xFFFF):
        assert info.may_read(op) and info.may_write(op)
        assert info.cost(op) == info.DEFAULT_COST
    assert not info.may_read(ops.OpFAdd) and not info.may_write(ops.OpLoad)
    assert info.may_write(ops.OpStore) and not info.may_read(ops.OpStore)
    assert max(info.COST.values()) < info.DEFAULT_COST


def test_every_value_of_shader_code_has_a_cost() -> None:
    """What a pass may copy or move must not fall back to the default by an oversight."""
    both = info.PURE | info.SPECULATABLE
    kernel = {
        "OpIsFinite",
        "OpIsNormal",
        "OpSignBitSet",
        "OpLessOrGreater",
        "OpOrdered",
        "OpUnordered",
        "OpImageSparseTexelsResident",
    }
    movable = {ops.NAMES[op] for op, bits in info.FLAGS.items() if bits & both == both} - kernel
    assert movable <= {ops.NAMES[op] for op in info.COST}
    assert {glsl.NAMES[n] for n in info.GLSL_FLAGS} <= {glsl.NAMES[n] for n in info.GLSL_COST}


def test_interface_sets() -> None:
    assert enums.BuiltIn_SamplePosition in info.SAMPLE_RATE_BUILTINS
    assert enums.Decoration_NoPerspective in info.INTERPOLATION_DECORATIONS
    assert info.KIND_DECORATIONS | info.SAMPLE_RATE_DECORATIONS < info.APART_DECORATIONS
    assert info.APART_DECORATIONS <= info.INTERPOLATION_DECORATIONS | info.KIND_DECORATIONS
    assert enums.Decoration_Sample not in info.UNINTERPOLATED_DECORATIONS
    assert enums.BuiltIn_Layer in info.FIXED_FUNCTION_OUTPUTS
    assert enums.BuiltIn_PrimitiveId not in info.FIXED_FUNCTION_OUTPUTS
    assert enums.BuiltIn_HelperInvocation in info.VOLATILE_BUILTINS


def test_needs() -> None:
    assert needs.CAPABILITIES[ops.OpDPdxFine] == (enums.Capability_DerivativeControl,)
    assert ops.OpFAdd not in needs.CAPABILITIES
    shader = ("Capability", enums.Capability_Shader)
    assert needs.ENUM_CAPABILITIES[shader] == (enums.Capability_Matrix,)
    assert needs.SINCE[ops.OpCopyLogical] == 4
    assert "SPV_KHR_terminate_invocation" in needs.EXTENSIONS[ops.OpTerminateInvocation]
