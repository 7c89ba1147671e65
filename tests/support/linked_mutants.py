"""Random small mistakes in linked modules, to see who finds them.

    python -m tests.support.linked_mutants [COUNT] [SEED] [exact|default]

makes COUNT mutants of links of `shaders/` (default: `--exact`) that spirv-val accepts, asks the
proof and the interpreter of ``spvlink.verify`` about each, draws it on the Vulkan device as well,
and prints a table.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst, Module

KEEP = os.environ.get("SPVLINK_MUTANTS", "")  # a folder for those that are called equal wrongly
FAMILIES = (
    (ops.OpFAdd, ops.OpFSub, ops.OpFMul),
    (ops.OpIAdd, ops.OpISub, ops.OpIMul, ops.OpBitwiseAnd, ops.OpBitwiseOr, ops.OpBitwiseXor),
    (ops.OpShiftLeftLogical, ops.OpShiftRightLogical, ops.OpShiftRightArithmetic),
    (ops.OpFOrdLessThan, ops.OpFOrdGreaterThan, ops.OpFOrdLessThanEqual,
     ops.OpFOrdGreaterThanEqual, ops.OpFUnordLessThan),
    (ops.OpSLessThan, ops.OpSGreaterThan, ops.OpSLessThanEqual, ops.OpSGreaterThanEqual),
    (ops.OpULessThan, ops.OpUGreaterThan, ops.OpULessThanEqual, ops.OpUGreaterThanEqual),
    (ops.OpIEqual, ops.OpINotEqual),
    (ops.OpLogicalAnd, ops.OpLogicalOr),
)  # fmt: skip
FAMILY = {op: family for family in FAMILIES for op in family}
Mutation = Callable[[], None]


def insts(module: Module) -> Iterator[Inst]:
    for function in module.functions:
        for block in function.blocks:
            yield from block.insts


def other_operands(module: Module, dice: random.Random) -> list[tuple[str, Mutation]]:
    """An operand becomes another value of its type that stands before it in the block."""
    found: list[tuple[str, Mutation]] = []
    for function in module.functions:
        for block in function.blocks:
            before: list[Inst] = []
            for inst in block.insts:
                if inst.op not in (ops.OpPhi, ops.OpVariable, ops.OpFunctionCall):
                    for n, arg in enumerate(inst.args):
                        same = [b for b in before if b.type is arg.type and b is not arg]
                        if arg.type is not None and same:
                            found.append(("operand", _set_arg(inst, n, dice.choice(same))))
                if inst.id and inst.type is not None:
                    before.append(inst)
    return found


def _set_arg(inst: Inst, at: int, value: Inst) -> Mutation:
    def act() -> None:
        inst.args[at] = value

    return act


def _set_imm(inst: Inst, at: int, value: int) -> Mutation:
    def act() -> None:
        inst.imm = (*inst.imm[:at], value, *inst.imm[at + 1 :])

    return act


def _set_op(inst: Inst, op: int) -> Mutation:
    def act() -> None:
        inst.op = op

    return act


def _swap(inst: Inst, a: int, b: int) -> Mutation:
    def act() -> None:
        inst.args[a], inst.args[b] = inst.args[b], inst.args[a]

    return act


def _drop(block: list[Inst], inst: Inst) -> Mutation:
    return lambda: block.remove(inst)


def of_code(module: Module, dice: random.Random) -> list[tuple[str, Mutation]]:
    found: list[tuple[str, Mutation]] = []
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                op = inst.op
                if op in FAMILY:
                    others = [o for o in FAMILY[op] if o != op]
                    found.append(("opcode", _set_op(inst, dice.choice(others))))
                elif op in (ops.OpCompositeExtract, ops.OpVectorShuffle):
                    at = dice.randrange(len(inst.imm))
                    value = (inst.imm[at] + 1) % 4 if inst.imm[at] < 4 else 0
                    found.append(("literal", _set_imm(inst, at, value)))
                elif op == ops.OpStore:
                    found.append(("lost store", _drop(block.insts, inst)))
                elif op == ops.OpBranchConditional and inst.args[1] is not inst.args[2]:
                    found.append(("branch", _swap(inst, 1, 2)))
                elif op == ops.OpExtInst and len(inst.args) > 2:
                    if inst.args[1].type is inst.args[2].type:
                        found.append(("operand", _swap(inst, 1, 2)))
                elif op in (ops.OpFSub, ops.OpISub, ops.OpFDiv):
                    found.append(("operand", _swap(inst, 0, 1)))
    return found


def of_globals(module: Module, dice: random.Random) -> list[tuple[str, Mutation]]:
    found: list[tuple[str, Mutation]] = []
    for note in module.annotations:
        if note.op == ops.OpDecorate and note.imm[0] in (
            enums.Decoration_Location, enums.Decoration_Component,
        ):  # fmt: skip
            found.append(("decoration", _set_imm(note, 1, note.imm[1] + dice.choice((-1, 1)))))
        if note.op == ops.OpDecorate and note.imm[0] in (
            enums.Decoration_Flat, enums.Decoration_NoPerspective, enums.Decoration_Patch,
        ):  # fmt: skip
            found.append(("decoration", _drop(module.annotations, note)))
        if note.op == ops.OpMemberDecorate and note.imm[1] == enums.Decoration_Offset:
            found.append(("decoration", _set_imm(note, 2, note.imm[2] + 16)))
    for inst in module.globals:
        if inst.op == ops.OpConstant:
            bit = dice.choice((1, 2, 1 << 22, 1 << 23, 1 << 31))
            if inst.type is not None and inst.type.op == ops.OpTypeInt:
                bit = dice.choice((1, 2))
            found.append(("constant", _set_imm(inst, 0, inst.imm[0] ^ bit)))
        elif inst.op in (ops.OpConstantTrue, ops.OpConstantFalse):
            swapped = ops.OpConstantFalse + ops.OpConstantTrue - inst.op
            found.append(("constant", _set_op(inst, swapped)))
        elif inst.op == ops.OpConstantComposite and inst.args[0] is not inst.args[-1]:
            if inst.args[0].type is inst.args[-1].type:
                found.append(("constant", _swap(inst, 0, -1)))
    return found


def mutant(data: bytes, dice: random.Random) -> tuple[str, bytes] | None:
    """A module with one mistake, and its kind."""
    module = decode(data)
    kinds: dict[str, list[Mutation]] = {}
    for make in (other_operands, of_code, of_globals):
        for kind, act in make(module, dice):
            kinds.setdefault(kind, []).append(act)
    if not kinds:
        return None
    kind = dice.choice(sorted(kinds))
    dice.choice(kinds[kind])()
    try:
        made = encode(module)
    except Exception:  # a word below zero
        return None
    return (kind, made) if made != data else None


def mutants(
    chains: dict[str, list[bytes]], count: int, seed: int
) -> Iterator[tuple[str, str, list[bytes]]]:
    """(chain, kind, modules) of mutants that spirv-val accepts."""
    from spvlink.validate import validate

    dice = random.Random(seed)
    names = sorted(chains)
    while count:
        name = dice.choice(names)
        at = dice.randrange(len(chains[name]))
        made = mutant(chains[name][at], dice)
        if made is None or validate(made[1], "vulkan1.3") is not None:
            continue
        count -= 1
        yield name, made[0], [*chains[name][:at], made[1], *chains[name][at + 1 :]]


def table(count: int, seed: int, exact: bool = True) -> Counter[tuple[str, str, str, str]]:
    import spvlink
    from spvlink.draw.batch import run_isolated
    from spvlink.verifier.machine.execute import execute
    from spvlink.verifier.paper.prove import prove
    from tests.support import chains

    links: dict[str, list[bytes]] = {}
    for name in chains.NAMES:
        linked = spvlink.link(
            list(chains.build(name)), spvlink.Options(exact=exact, validate=False)
        )
        links[name] = [stage.data for stage in linked.stages]
    found: Counter[tuple[str, str, str, str]] = Counter()
    options = spvlink.Options(exact=exact)
    made = list(mutants(links, count, seed))
    jobs = [(list(chains.build(name)), links[name], modules, exact) for name, _, modules in made]
    for (name, kind, modules), shown in zip(made, run_isolated(differs, jobs, timeout=60)):
        before = [spvlink.Source(code) for code in chains.build(name)]
        after = [spvlink.Source(m) for m in modules]
        verdict, proof = execute(before, after, options), prove(before, after, options)
        seen = shown if isinstance(shown, str) else "not drawn"
        found[kind, proof.outcome, verdict.outcome, seen] += 1
        if "equal" in (verdict.outcome, proof.outcome):
            print(f"{name}: {kind}: {proof}, {verdict}, drawn: {shown}", flush=True)
            if seen == "other" and KEEP:
                for n, module in enumerate(modules):
                    Path(KEEP, f"{name}.{len(found)}.{n}.spv").write_bytes(module)
    return found


def differs(original: list[bytes], linked: list[bytes], modules: list[bytes], exact: bool) -> str:
    """Whether modules draw something else than the original and than its link, which may be further
    off where numbers have 16 bits."""
    from spvlink.draw import compare, draw, draw_covering
    from tests.support.chain_checks import close

    for seed in (1, 2):
        scene, picture = draw_covering(original, seed=seed)
        other = draw(modules, scene)
        if exact:
            is_other = bool(compare(picture, other))
        else:
            is_other = bool(close(picture, other) and close(draw(linked, scene), other))
        if is_other:
            return "other"
    return "same"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rows = table(count, seed, sys.argv[3:] != ["default"])
    for (kind, proved, executed, shown), times in sorted(rows.items()):
        print(f"{kind:12} proof: {proved:8} executed: {executed:8} drawn: {shown:24} {times}")


if __name__ == "__main__":
    main()
