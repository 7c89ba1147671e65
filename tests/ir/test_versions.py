"""What ``ir/core.py`` promises of the counters of a module: each edit moves ``version``, an edit of
blocks or edges ``flow`` too, one of annotations or imports ``annotated``. Whoever asks for a fact
counts on it, so it is looked at there: as long as a counter stands still, so does the graph."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import spvlink
from spvlink.chain.runner import Runner
from spvlink.facts import cfg, structure
from spvlink.facts.decorations import Decorations
from spvlink.facts.effects import Effects
from spvlink.grammar import enums, ops
from spvlink.ir import known
from spvlink.ir.core import ANNOTATIONS, COPY, IMPORTS, Block, Function, Inst, Module, words_of
from spvlink.ir.edit import resolve, touched
from spvlink.link.border.stage import Stage
from spvlink.pipeline import Source
from tests.support import chains
from tests.support.interpreted import interpreted
from tests.support.linking import module_of
from tests.support.samples import pair


def inst_state(inst: Inst) -> tuple[object, ...]:
    """A copy is what it stands for."""
    args = tuple([id(resolve(a)) for a in inst.args])
    return id(inst), inst.op, id(inst.type), args, tuple(inst.imm)


def graph_state(module: Module) -> int:
    """Everything that an edit may change, as one number."""
    parts: list[object] = []
    for number, section in enumerate(module.sections):
        if number != ANNOTATIONS:
            parts += map(inst_state, section)
    for function in module.functions:
        parts.append(inst_state(function))
        for block in function.blocks:
            parts.append(id(block))
            parts += [inst_state(i) for i in block.insts if i.op != COPY]
    if module.entry is not None:
        parts.append(inst_state(module.entry.inst))
    return hash(tuple(parts))


def flow_state(module: Module) -> int:
    """The blocks of each function, their ways out, and what they merge to."""
    return hash(
        tuple(
            (id(block), tuple(map(id, block.successors())), merge and inst_state(merge)[3])
            for function in module.functions
            for block in function.blocks
            if block.insts
            for merge in [block.merge()]
        )
    )


def notes_state(module: Module) -> object:
    """What tables of decorations hold, or would hold if they were made now; imports."""
    held = module.facts.get(Decorations)
    tables = (
        held.value if held is not None and held.stamp == module.annotated else Decorations(module)
    )
    made = Decorations(module)
    ours, afresh = [(t.targets, t.members, t.with_ids) for t in (tables, made)]
    return ours == afresh, tuple(map(id, module.sections[IMPORTS]))


STATES = {"version": graph_state, "flow": flow_state, "annotated": notes_state}
# of facts that do not depend on the version
COUNTERS = {
    cfg._graphs: "flow", structure._structures: "flow",
    Decorations: "annotated", Effects: "annotated",
}  # fmt: skip


pytestmark = interpreted


class Watch:
    """Looks whether what the counters say is true: at each fact for its own one, after each pass
    for all."""

    def __init__(self) -> None:
        self.modules: dict[int, Module] = {}  # held, so that no other one gets the same id
        self.seen: dict[object, object] = {}
        self.broken: list[str] = []
        self.asked = 0
        self.passes = 0

    def fact(self, of: Any, make: Callable[..., object], stamp: int) -> object:
        """Stands in for ``fact``."""
        self.asked += 1
        if isinstance(of, Module):
            self.look(of, f"{make.__name__} {frames()}", COUNTERS.get(make, "version"))
        return known.fact(of, make, stamp)

    def look(self, module: Module, where: str, *counters: str) -> None:
        self.modules[id(module)] = module
        for counter in counters:
            stamp = getattr(module, counter)
            state = STATES[counter](module)
            if self.seen.setdefault((counter, id(module), stamp), state) != state:
                self.broken.append(f"{counter} stands still: {where}")
                self.seen[counter, id(module), stamp] = state


def frames() -> str:
    """Who asks."""
    frame: Any = sys._getframe(2)
    names: list[str] = []
    while frame is not None and len(names) < 6:
        names.append(f"{frame.f_globals['__name__'].removeprefix('spvlink.')}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(names)


def plant(watching: Watch, put: Callable[[object, str, object], None]) -> None:
    """Let it look at every fact and every pass."""
    for name, module in list(sys.modules.items()):
        if name.startswith("spvlink.") and module is not known and hasattr(module, "fact"):
            put(module, "fact", watching.fact)
    result = Runner.result

    def looked_at(self: Runner, name: str, stage: Stage, act: Any, *args: object) -> object:
        watching.look(stage.module, f"before {name}", *STATES)
        found: object = result(self, name, stage, act, *args)
        watching.passes += 1
        watching.look(stage.module, f"after {name}", *STATES)
        return found

    put(Runner, "result", looked_at)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watching = Watch()
    plant(watching, monkeypatch.setattr)
    return watching


# Every stage and nearly every pass: arrays, geometry, tessellation, payloads, 64-bit numbers.
CHAINS = (
    "captured_triangles", "car_paint", "fur_shells", "globe_double", "half_geometry", "ice_floes",
    "level_paths", "meshlet_lod", "meshlets", "packed_components", "pn_triangles", "wet_street",
)  # fmt: skip


def link(name: str, debug: bool | str = False) -> None:
    settings = spvlink.Options(clean=True)
    settings.validate = False
    done = spvlink.link(list(chains.build(name, debug)), settings)
    assert done.defect is None


@pytest.mark.parametrize("name", CHAINS)
def test_counters_tell_of_every_edit(name: str, watch: Watch) -> None:
    link(name)
    assert watch.asked > 100 and watch.passes > 10
    assert not watch.broken, "\n".join(dict.fromkeys(watch.broken))


@pytest.mark.parametrize("option", ["-g", "-gVS"])
def test_counters_tell_of_debug_information(option: str, watch: Watch) -> None:
    link("car_paint", option)
    assert not watch.broken, "\n".join(dict.fromkeys(watch.broken))


def quiet_operand(module: Module, function: Function) -> None:
    for block in function.blocks:
        for inst in block.insts:
            if inst.op == ops.OpStore and inst.args[1].type is not None:
                inst.args[1] = Inst(ops.OpUndef, inst.args[1].type, [], (), module.new_id())


def quiet_edge(module: Module, function: Function) -> None:
    block = Block(module.new_id())
    block.insts = [Inst(ops.OpUnreachable, None, [], ())]
    function.blocks.append(block)
    touched(module)


def quiet_note(module: Module, function: Function) -> None:
    Decorations.of(module)
    note = next(i for i in module.annotations if i.op == ops.OpDecorate)
    note.imm = (enums.Decoration_RelaxedPrecision,)
    touched(module)


def quiet_import(module: Module, function: Function) -> None:
    made = Inst(ops.OpExtInstImport, None, [], words_of("NonSemantic.Nothing"), module.new_id())
    module.sections[IMPORTS].append(made)
    touched(module)


@pytest.mark.parametrize(
    "act, counter",
    [
        (quiet_operand, "version"), (quiet_edge, "flow"),
        (quiet_note, "annotated"), (quiet_import, "annotated"),
    ],
)  # fmt: skip
def test_an_edit_that_moves_no_counter_is_seen(
    act: Callable[[Module, Function], None], counter: str, watch: Watch
) -> None:
    module = module_of(pair()[0])
    assert module.entry is not None
    stage = Stage(Source(b""), "vert", module)
    runner = Runner(spvlink.Options(clean=True))
    runner.on_entry(stage, "simplify")
    assert not watch.broken
    runner.run("planted", stage, act, module, module.entry.function)
    assert watch.broken == [f"{counter} stands still: after planted"]
