"""Random pipelines: what linking promises, held for each of them. scripts/fuzz runs many more.

Each seed gives a pair of shaders (generate.py) and a way of compiling them: a target environment,
with and without debug information, perhaps with some passes of spirv-opt, which shape the same
program differently (phis, merged returns, unrolled loops).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.draw import Result, compare, draw, draw_covering
from spvlink.entry import select_entry
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst, Module
from spvlink.link.check import interface
from tests.support import random_harness
from tests.support.generate import make
from tests.support.random_chains import canonical, off
from tests.support.random_harness import (
    ENVIRONMENTS,
    NOTHING_TO_GAIN,
    Failure,
    check_hash_seeds,
    check_linked,
    compile_sources,
    in_two_processes,
    is_proved,
)

SEEDS = range(60)
HASH_SEEDS = (3, 14, 25)
BETTER = "linked, and better still the second time"


def compile_pair(seed: int) -> list[bytes]:
    """The two modules of a seed. Raises Failure with the compiler's words."""
    return compile_sources(seed, list(zip(("vert", "frag"), make(seed))), ENVIRONMENTS)


def link(stages: list[bytes]) -> spvlink.Linked:
    options = spvlink.Options(clean=True)
    options.exact = True  # pictures are compared bit for bit
    linked = spvlink.link(list(stages), options)
    check_linked(linked)
    return linked


def check_seed(seed: int) -> str:
    """All promises for one seed; what became of it in a word. Raises Failure."""
    stages = compile_pair(seed)
    linked = link(stages)
    new = [stage.data for stage in linked.stages]
    if linked.passed_through is not None:
        if new != stages:
            raise Failure("passed through with other bytes")
        return NOTHING_TO_GAIN
    unread = unread_outputs(*new)
    if unread:
        raise Failure(f"outputs that the fragment shader does not read: {unread}")
    check_drawing(seed, stages, new)
    again = link(new)
    twice = [stage.data for stage in again.stages]
    if twice == new:
        return "linked"
    check_drawing(seed, stages, twice)
    return BETTER


def check_drawing(seed: int, stages: list[bytes], new: list[bytes]) -> None:
    """Equal pixels and buffers, with one sample or several."""
    scene, before = draw_covering(stages, samples=4 if seed % 4 == 3 else 1)
    if not before.coverage:
        raise Failure("the picture is empty")
    after = draw(new, scene)
    difference = compare(canonical(before), canonical(after))
    if difference and not is_folded(stages, new, before, after):
        raise Failure(f"the pictures differ: {difference}")


def is_folded(stages: list[bytes], new: list[bytes], before: Result, after: Result) -> bool:
    """Whether pictures differ by rounding alone and the link is proved to the bit. Then the driver
    computed a power of a constant, say, where the other module hides the constant (33031503)."""
    return not off(before, after) and is_proved(stages, new)


# --- what the fragment shader reads, from the finished modules ---


def _module(data: bytes) -> Module:
    module = decode(data)
    module.entry = select_entry(module, None)
    return module


def unread_outputs(vertex: bytes, fragment: bytes) -> list[tuple[int, int]]:
    """(Location, Component) of user outputs that no instruction of the other stage reads."""
    written: set[tuple[int, int]] = set()
    for variable in interface.declared(_module(vertex), enums.StorageClass_Output):
        written |= variable.covers
    return sorted(written - _read(_module(fragment)))


def _read(module: Module) -> set[tuple[int, int]]:
    """Components of user inputs that instructions read; arrays, structs and matrices as a whole."""
    users: dict[Inst, list[Inst]] = {}
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                for argument in inst.args:
                    users.setdefault(argument, []).append(inst)
    found: set[tuple[int, int]] = set()
    tables = Decorations.of(module)
    assert module.entry is not None
    declared = {d.place: d for d in interface.declared(module, enums.StorageClass_Input)}
    for variable in module.entry.inst.args[1:]:
        words = {w[0]: w[1:] for w in tables.targets.get(variable, [])}
        assert variable.type is not None
        if variable.imm[0] != enums.StorageClass_Input or variable not in users:
            continue
        if enums.Decoration_BuiltIn in words:
            continue
        location = words.get(enums.Decoration_Location)
        shape = variable.type.args[0]
        if location is None or shape.op not in (ops.OpTypeVector, ops.OpTypeFloat, ops.OpTypeInt):
            for one in declared.values():
                if location is None or location[0] == one.place[0]:
                    found |= one.covers
            continue
        first = words.get(enums.Decoration_Component, [0])[0]
        for lane in _lanes(variable, users, types.size_of(shape) if shape.args else 1):
            found.add((location[0], first + lane))
    return found


def _lanes(variable: Inst, users: dict[Inst, list[Inst]], size: int) -> set[int]:
    """Which lanes of a vector input are read: those of loads by what is taken from them."""
    everything = set(range(size))
    lanes: set[int] = set()
    for user in users[variable]:
        if user.op == ops.OpAccessChain and user.args[1].op == ops.OpConstant:
            if user in users:
                lanes.add(user.args[1].imm[0])
        elif user.op == ops.OpLoad and size > 1:
            for reader in users.get(user, []):
                lanes |= _taken(user, reader, everything)
        elif user.op == ops.OpLoad:
            lanes |= everything if user in users else set()
        else:
            return everything
    return lanes


def _taken(value: Inst, reader: Inst, everything: set[int]) -> set[int]:
    if reader.op == ops.OpCompositeExtract:
        return {reader.imm[0]}
    if reader.op == ops.OpVectorShuffle and reader.args[0] is not reader.args[1]:
        shift = 0
        if reader.args[1] is value:
            assert reader.args[0].type is not None
            shift = types.size_of(reader.args[0].type)
        return {lane - shift for lane in reader.imm} & everything
    if reader.op == ops.OpVectorShuffle:
        return {lane % len(everything) for lane in reader.imm}
    return everything


# --- the tests ---


def check_many(seeds: Iterable[int]) -> Iterator[tuple[int, object]]:
    return random_harness.check_many(check_seed, compile_pair, seeds)


@pytest.fixture(scope="module")
def verdicts() -> dict[int, object]:
    """Every seed of SEEDS checked, in two processes, since a driver may crash on a bad module."""
    return in_two_processes(check_many, SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_hold(seed: int, verdicts: dict[int, object]) -> None:
    verdict = verdicts[seed]
    assert isinstance(verdict, str), f"{verdict} (scripts/fuzz --seed {seed} --count 1)"


def test_nearly_all_are_linked(verdicts: dict[int, object]) -> None:
    """Else the promises above would hold for nothing."""
    linked = [seed for seed, verdict in verdicts.items() if verdict == "linked"]
    assert len(linked) >= 0.9 * len(SEEDS)
    assert BETTER not in verdicts.values()


def test_generator_is_deterministic() -> None:
    assert make(7) == make(7) and make(7) != make(8)


@pytest.mark.parametrize("seed", HASH_SEEDS)
def test_same_bytes_whatever_the_hash_seed(seed: int, tmp_path: Path) -> None:
    stages = compile_pair(seed)
    options = "options = spvlink.Options(clean=True, exact=True)"
    check_hash_seeds(stages, link(stages), options, tmp_path)


# Seeds whose second link once found something that the first had overlooked: a loop kept alive by
# an extract that went when vectors were put together again; a column of an array put together next
# to its use; equal values after a second promotion; two Flat Locations, one of them flattened; a
# selection that dead code elimination left empty, and one that joining blocks did.
TWICE = (218, 250, 521, 531, 928, 1014, 1077, 1170)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "close"])
@pytest.mark.parametrize("seed", TWICE)
def test_a_second_link_finds_nothing(seed: int, exact: bool) -> None:
    options = spvlink.Options(clean=True)
    options.exact = exact
    once = [s.data for s in spvlink.link(list(compile_pair(seed)), options).stages]
    again = spvlink.link(list(once), options)
    assert again.passed_through == NOTHING_TO_GAIN
    assert [s.data for s in again.stages] == once
