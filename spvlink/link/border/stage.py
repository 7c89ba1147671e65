"""Hold one stage while it is linked."""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.grammar import enums, ops
from spvlink.ir.core import (
    Block,
    EntryPoint,
    Function,
    Inst,
    Module,
)
from spvlink.ir.slot import Interface
from spvlink.pipeline import Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final


FIXED_FUNCTIONS: Final = "fixed-function"
# Stages whose outputs other invocations may see before this one ends, so that they are stored where
# the code does.
IN_PLACE: Final = frozenset(("tesc", "task", "mesh"))


class Stage:
    """One stage while it is being linked."""

    __slots__ = (
        "inputs", "linked", "literal", "live_lanes", "lost", "masked", "module", "name", "outputs",
        "per_sample", "selects", "source", "trimmed", "visible",
    )  # fmt: skip

    def __init__(self, source: Source, name: str, module: Module) -> None:
        self.source = source
        self.name = name
        self.module = module
        self.inputs: Interface | None = None
        self.outputs: Interface | None = None
        self.visible: frozenset[tuple[int, int, int]] = frozenset()  # resources it uses statically
        # which lanes live of constructs that have dead ones, as dead code elimination left them
        self.live_lanes: dict[Inst, int] = {}
        # selects that were branches, each with the number of its merge block (``if_conversion``)
        self.selects: dict[Inst, int] = {}
        # variables that it read, and why the pipeline's state lets it do without
        self.lost: dict[Inst, str] = {}
        self.masked = False  # parts of what it stores are undefined, since no attachment takes them
        self.linked = False  # a pass over one of its borders changed it
        # what it reads counts as it stands: an undefined value is nothing that we may choose
        self.literal = False
        self.trimmed = False  # constants came in: to be simplified when it is swept out
        self.per_sample = False  # something in the original makes it run once per sample

    @staticmethod
    def fixed_functions() -> Stage:
        """What follows the last stage of a pipeline without a fragment shader: a consumer with no
        user inputs."""
        module = Module()
        function = Function(module.new_id())
        block = Block(module.new_id())
        block.insts = [Inst(ops.OpReturn, None, [], ())]
        function.blocks = [block]
        entry = Inst(ops.OpEntryPoint, None, [function], (enums.ExecutionModel_Fragment, 0))
        module.entry = EntryPoint(entry, "", function)
        return Stage(Source(b""), FIXED_FUNCTIONS, module)

    def bad(self, message: str) -> BadSpirv:
        """An error about this stage's module."""
        error = BadSpirv(message)
        error.file = self.source.file
        return error
