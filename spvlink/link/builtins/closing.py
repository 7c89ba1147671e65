"""Remove the slots of built-ins that ``builtins`` made.

The built-ins themselves were stored all the time, so the stores to slots simply go. A load that is
left reads its built-in again, a whole vector at once:

    gl_in[i].gl_Position is (x, y, z, 1); the 1 is known, and the vector is used whole
    ->   load the vector whole in place of constructing it: the 1 is stored there, too

Why it is right. A slot holds the same value as its built-in.

What breaks it. Nothing: every slot has its built-in.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, Inst, Module
from spvlink.ir.edit import touched, value
from spvlink.ir.slot import BUILTIN_KEYS, Slot, Varying, base_of, builtin_key, builtin_of
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.builtins.builtins import BuiltIns
from spvlink.link.builtins.side import Holder
from spvlink.passes.raising.raise_io import Raise
from spvlink.pipeline import PROPAGATED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence


def counted(built: BuiltIns) -> tuple[int, int]:
    """How many built-ins the consumer read when it came, and how many of these it did not come to
    make itself."""
    asked: dict[int, bool] = {}
    for key in built.asked:
        number, fate = builtin_of(key)[0], built.remarks.fate.get(key)
        asked[number] = asked.get(number, False) or fate is None or fate[0] != PROPAGATED
    return len(asked), sum(asked.values())


class RaiseBuiltIns(Raise):
    """One side of a border. No variables are made: they never went."""

    def __init__(
        self, module: Module, holders: dict[int, Holder], storage: int, slots: dict[int, Slot]
    ) -> None:
        self.holders = holders
        varyings: list[Varying] = []
        for holder in holders.values():
            keys = [builtin_key(holder.builtin, n) for n in range(holder.size)]
            each = len(keys) if holder.type.op == ops.OpTypeVector else 1
            for at in range(0, len(keys), each):
                varying = Varying(0, 0, base_of(holder.scalar), keys[at : at + each])
                varyings.append(varying)
        Raise.__init__(self, module, varyings, storage, slots)

    def declare(self, varying: Varying) -> Inst:
        return self.holders[builtin_of(varying.keys[0])[0]].variable

    def pointer(
        self, varying: Varying, vertex: Sequence[Inst], lane: int | None, out: list[Inst],
        whole_column: bool = False,
    ) -> Inst:  # fmt: skip
        """A pointer to a built-in of a vertex, or to the element that a varying is."""
        builtin, number = builtin_of(varying.keys[0])
        holder = self.holders[builtin]
        path = list(vertex)
        type = types.integer(self.module, 32, True)
        if holder.member >= 0:
            path.append(types.constant(self.module, type, holder.member))
        if holder.type.op == ops.OpTypeArray:
            path.append(types.constant(self.module, type, number))
        if not path:
            return holder.variable
        pointee = holder.scalar if holder.type.op == ops.OpTypeArray else holder.type
        pointer = types.pointer(self.module, self.storage, pointee)
        out.append(value(self.module, ops.OpAccessChain, pointer, [holder.variable, *path], ()))
        return out[-1]


def drop_stores(built: BuiltIns) -> None:
    """The slots of built-ins are not stored any more. A sweep of the producer comes next."""
    built.gather()
    if built.stores:
        remove_stores(built.producer, set(built.stores))


def raise_outputs(built: BuiltIns) -> None:
    """What a control shader reads back, it reads from its built-ins."""
    built.gather()
    if built.read_back:
        storage = enums.StorageClass_Output
        slots = built.outputs.slots
        RaiseBuiltIns(built.producer.module, built.out, storage, slots).run()


def _reunite(built: BuiltIns) -> None:
    """Vectors that are used whole, and of which some components became something else."""
    module = built.consumer.module
    assert module.entry is not None
    for block in module.entry.function.blocks:
        out: list[Inst] = []
        for inst in block.insts:
            if inst.op == ops.OpCompositeConstruct:
                _load_rest(built, inst, out)
            out.append(inst)
        block.insts = out


def _load_rest(built: BuiltIns, whole: Inst, out: list[Inst]) -> None:
    """Load what a construct has of a built-in in another form, if it has the rest as loads, each
    in its place."""
    loads = [a for a in whole.args if a.op == LOAD_INPUT and a.imm[0] >= BUILTIN_KEYS]
    if not loads:
        return
    builtin, vertex = builtin_of(loads[0].imm[0])[0], loads[0].args
    holder = built.into[builtin]
    if holder.type is not whole.type or len(whole.args) != holder.size:
        return
    args: list[Inst] = []
    made: list[Inst] = []
    for lane, arg in enumerate(whole.args):
        key = builtin_key(builtin, lane)
        if arg.op != LOAD_INPUT or arg.imm[0] != key or arg.args != vertex:
            if not _is_in_place_of(built, arg, key, vertex):
                return
            arg = value(built.consumer.module, LOAD_INPUT, holder.scalar, list(vertex), (key,))
            made.append(arg)
        args.append(arg)
    if made:
        out += made
        whole.args = args
        touched(built.consumer.module)


def _is_in_place_of(built: BuiltIns, arg: Inst, key: int, vertex: list[Inst]) -> bool:
    """Whether a value came in place of a component: a constant, or what is stored likewise."""
    if arg.op == LOAD_INPUT:
        return built.same.get(key) == arg.imm[0] and arg.args == vertex
    bits = types.bits_of(arg)
    return bits is not None and built.constants.get(key) == bits


def raise_inputs(built: BuiltIns) -> None:
    """What the consumer still reads, it reads from its built-ins."""
    built.gather()
    if built.loads and (built.constants or built.same):
        _reunite(built)
    if built.loads:
        storage = enums.StorageClass_Input
        slots = built.inputs.slots
        RaiseBuiltIns(built.consumer.module, built.into, storage, slots).run()


def of(link: Link | None) -> BuiltIns | None:
    """The built-ins that cross at a border."""
    built = link.built if link is not None else None
    assert built is None or isinstance(built, BuiltIns)
    return built
