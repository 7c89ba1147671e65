"""Run the passes of a stage in order; between them dump, time, check or stop."""

from __future__ import annotations

from time import perf_counter

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import IS_LINE, Function, Inst, Module
from spvlink.ir.edit import sweep
from spvlink.link.border.stage import IN_PLACE, Stage
from spvlink.link.dead.overwritten import drop_overwritten
from spvlink.options import Options
from spvlink.passes.cleaning import attributes, branches, dce, images, join, simplify
from spvlink.passes.lowering.cells import MEMORY
from spvlink.passes.lowering.lower_io import Lowering
from spvlink.passes.opening import debuginfo, inline, pointer_copies
from spvlink.passes.raising import indices, tidy
from spvlink.pipeline import PACK_NONE

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable
    from typing import Final, TypeVar

    from spvlink.passes.cleaning.if_conversion import Limits

    T = TypeVar("T")

MAX_ROUNDS: Final = 16  # of simplify and branches; each needs a branch resolved in the one before


class StagePass:
    """A pass over the entry point's function of one stage. ``what`` is its line in ``spvlink
    passes`` (empty: it cannot be switched off)."""

    __slots__ = ("name", "needs_blocks", "run", "what")

    def __init__(
        self, name: str, run: Callable[..., dce.DceOutcome | None], what: str = "",
        needs_blocks: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.run = run
        self.what = what
        self.needs_blocks = needs_blocks  # nothing to do in a function of one block


def if_conversion(
    module: Module, function: Function, made: dict[Inst, int], limits: Limits
) -> None:
    """Few stages have branches that may go."""
    from spvlink.passes.cleaning import if_conversion

    if_conversion.if_conversion(module, function, made, limits)


def reverse_if_conversion(module: Module, function: Function, made: dict[Inst, int]) -> None:
    """Of these, few keep one of the selects."""
    from spvlink.passes.cleaning import reverse_if_conversion

    reverse_if_conversion.reverse_if_conversion(module, function, made)


STAGE_PASSES: Final = (
    StagePass(
        "simplify", simplify.simplify, "Fold constants, apply algebra",
    ),
    StagePass(
        "branches", branches.branches, "Resolve constant branches", True,
    ),
    StagePass("if_conversion", if_conversion, "Read small branches as selects", True),
    StagePass("dce", dce.dce, "Remove dead code"),
    StagePass("tidy", tidy.tidy),
    StagePass("join", join.join, "Join consecutive blocks", True),
    StagePass("reverse_if_conversion", reverse_if_conversion),
    StagePass("images", images.images),
    StagePass("indices", indices.indices),
)  # fmt: skip
_BY_NAME: Final = {row.name: row for row in STAGE_PASSES}


def has_variables(module: Module) -> bool:
    """Whether there may be a variable that only the entry point's function sees."""
    assert module.entry is not None
    for first in module.entry.function.blocks[0].insts:
        if first.op == ops.OpVariable:
            return True
        if not IS_LINE[first.op]:
            break  # variables come first in a function, but for lines
    variables = types.of_op(module, ops.OpVariable)
    return any(v.imm[0] == enums.StorageClass_Private for v in variables)


class Runner:
    """Runs passes on stages, and does between them what the user asked for."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.disable = options.disable
        if options.pack == PACK_NONE:
            self.disable |= {"compact"}
        self.seconds: dict[str, float] = {}
        self.count = 0
        self.watched = options.check_each or options.observer is not None
        # whether nobody looks between the passes and each of them runs
        seen = self.watched or options.stop_after is not None
        self.plain = not seen and "simplify" not in self.disable

    def enabled(self, name: str) -> bool:
        """Whether a pass, or a group of passes, may run (again)."""
        if self.disable and (name in self.disable or name.partition(".")[0] in self.disable):
            return False
        last = self.options.stop_after
        return last is None or self.count < last

    def run(self, name: str, stage: Stage, act: Callable[..., object], *args: object) -> bool:
        """Run one pass; whether it changed the module."""
        version = stage.module.version
        self.result(name, stage, act, *args)
        return stage.module.version != version

    def result(self, name: str, stage: Stage, act: Callable[..., T], *args: object) -> T:
        """The same; what the pass returns."""
        seconds, version = self.seconds, stage.module.version
        begin = perf_counter()
        try:
            result = act(*args)
        finally:
            seconds[name] = seconds.get(name, 0.0) + perf_counter() - begin
        self.changed(name, stage, version)
        return result

    def changed(self, name: str, stage: Stage, version: int) -> bool:
        """Whether a pass changed a module that had this version before; then it counts."""
        if stage.module.version == version:
            return False
        self.count += 1
        if self.watched:
            self.show(name, stage)
        return True

    def show(self, name: str, stage: Stage) -> None:
        """For observers between the passes."""
        if self.options.check_each:
            from spvlink.ir.check import check

            check(stage.module)
        if self.options.observer is not None:
            self.options.observer(self.count, name, stage.name, stage.module)

    def on_entry(self, stage: Stage, name: str, *args: object) -> dce.DceOutcome | None:
        """Run one of STAGE_PASSES on the entry point's function; what it left to do, if it was run
        and says so."""
        module, row = stage.module, _BY_NAME[name]
        assert module.entry is not None
        function = module.entry.function
        if row.needs_blocks and len(function.blocks) == 1:
            return None
        if not self.enabled(name) and row.what:
            return None
        done: dce.DceOutcome | None = self.result(name, stage, row.run, module, function, *args)
        if done is not None:
            stage.live_lanes = done.live_lanes
        return done

    def clean(self, stage: Stage, left: int = MAX_ROUNDS) -> None:
        """Bring a stage's code into its simplest form."""
        module = stage.module
        if stage.literal:
            assert module.entry is not None
            sweep(module, module.entry.function)  # promotion leaves copies
            if _holds_undefined(module):
                self.on_entry(stage, "dce")
                return
        self.on_entry(stage, "branches")  # the ones that inlining made
        for _ in range(MAX_ROUNDS):
            self.on_entry(stage, "simplify")
            flow = module.flow
            self.on_entry(stage, "branches")
            if module.flow == flow:
                break  # else conditions and phis may have become known
        self.sweep_out(stage, left)

    def sweep_out(self, stage: Stage, left: int = MAX_ROUNDS) -> None:
        """Dead code, and what its going brings to light; ``left``: cleaned how often at most."""
        for _ in range(MAX_ROUNDS):
            self.drop_dead(stage)
            if stage.name in IN_PLACE or stage.name == "frag":
                self.on_entry(stage, "join")  # stores of one block happen together
            colors = stage.name == "frag"
            if not (colors and self.run("dce", stage, drop_overwritten, stage)):
                break  # else what they were made of is dead
        if left and self.promote_again(stage):
            self.clean(stage, left - 1)

    def promote_again(self, stage: Stage) -> bool:
        """Local variables that stayed in memory for an index that is known by now, or for an access
        that is gone."""
        if not has_variables(stage.module):
            return False
        low = Lowering(stage.module, False, False)
        low.analyse()
        if all(leaf.kind == MEMORY for root in low.roots.values() for leaf in root.leaves()):
            return False
        return self.run("promote.variables", stage, low.finish)

    def drop_dead(self, stage: Stage) -> None:
        """Dead code, and the selections that it leaves empty."""
        module = stage.module
        simplified = False  # so constructs may have become constants, the last of their blocks
        for _ in range(MAX_ROUNDS):
            flow = module.flow
            done = self.on_entry(stage, "dce") or dce.DceOutcome()
            trimmed, stage.trimmed = done.trimmed or stage.trimmed, False
            if trimmed and not self.enabled("simplify"):  # which would resolve copies
                assert module.entry is not None
                sweep(module, module.entry.function)
            cut = module.flow != flow
            flow = module.flow
            if cut or done.emptied or simplified:
                self.on_entry(stage, "branches")
            simplified = trimmed or module.flow != flow
            if simplified:
                self.on_entry(stage, "simplify")
                stage.live_lanes = {}  # equal constructs are one by now
            elif not cut:
                return
            # and dce again: a construct that went may have been the last to use another one

    def finish(self, stage: Stage) -> None:
        """After the interface was raised."""
        done = self.on_entry(stage, "tidy", stage.live_lanes)
        if done is not None and done.trimmed:
            self.drop_dead(stage)
        self.on_entry(stage, "join")
        if stage.selects:
            self.on_entry(stage, "reverse_if_conversion", stage.selects)
        self.on_entry(stage, "images")
        self.on_entry(stage, "indices")

    def prepare(self, stage: Stage) -> None:
        """Everything that the entry point calls, in one function."""
        debuginfo.take_lines(stage.module)
        self.run("inline", stage, pointer_copies.forward_pointer_copies, stage.module)
        self.run("inline", stage, inline.inline, stage.module)
        debuginfo.take_notes(stage.module)
        if stage.name == "vert":
            self.run("inline.attributes", stage, attributes.read_attributes_once, stage.module)


def _holds_undefined(module: Module) -> bool:
    """Whether a value is undefined on some way through the code."""
    assert module.entry is not None
    return any(
        inst.op == ops.OpUndef or any(arg.op == ops.OpUndef for arg in inst.args)
        for block in module.entry.function.blocks
        for inst in block.insts
    )
