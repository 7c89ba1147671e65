"""Remove members of built-in blocks that no stage uses.

    VS:  out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[1]; ... }
    GS:  in  gl_PerVertex { the same } gl_in[];          and both touch gl_Position alone
    ->   gl_PerVertex { vec4 gl_Position; } on both sides

Compilers declare all members that the language has. Each counts as components of the interface
(Vulkan, "Shader Input and Output Locations") and as memory between the stages.

Why it is right. Blocks on both sides of a border must have the same members ("Interface Matching"),
so a member goes from both or from neither, and one always stays. The pass runs when the code of
both stages is final.

What breaks it. The last stage before rasterization: there the sizes of ClipDistance and
CullDistance enable planes, used or not, so its outputs stay.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import (
    ENTRY_POINTS,
    IS_CHAIN,
    Inst,
    Module,
    imm_of_name,
    name_of,
    op_of_name,
)
from spvlink.ir.edit import annotate, touched, value
from spvlink.link.border.link import Link
from spvlink.link.dead.dead_builtins import CONSUMERS, HANDED_ON, BuiltInUses, captures, struct_of
from spvlink.pipeline import KEPT, REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_GROUPS: Final = frozenset((ops.OpGroupDecorate, ops.OpGroupMemberDecorate))
_MEMBER_NOTES: Final = frozenset(
    (ops.OpMemberDecorate, ops.OpMemberDecorateString, ops.OpMemberName)
)


class BlockSide:
    """A built-in block as one stage declares it, and where its code names a member."""

    def __init__(self, module: Module, uses: BuiltInUses) -> None:
        self.module = module
        self.touched = uses.read | uses.stores.keys()
        blocks = [v for v in uses.variables if struct_of(v) is not None]
        self.block = blocks[0] if blocks else None
        self.builtins = uses.variables[blocks[0]] if blocks else []
        self.single = len(blocks) < 2
        self.sites: list[tuple[Inst, int, int]] = []  # access chain, its operand, the member
        self.partial: list[Inst] = []  # access chains to an element, which others go on from

    def live(self, wanted: set[int]) -> list[int]:
        """The members that stay if these built-ins are used."""
        return [n for n, b in enumerate(self.builtins) if b in wanted or b not in HANDED_ON]

    def obstacle(self, live: list[int]) -> str:
        """Why the block stays as it is, or an empty string; finds the sites."""
        assert self.block is not None
        struct = struct_of(self.block)
        if not self.single or -1 in self.builtins:
            return "there is more than built-ins in one block"
        if len(self.module.sections[ENTRY_POINTS]) > 1 or len(self.module.functions) > 1:
            return "there are other functions or entry points"
        if any(i.op in _GROUPS and struct in i.args for i in self.module.annotations):
            return "its decorations are in groups"
        if not self.find_sites(self.block) or any(n not in live for _, _, n in self.sites):
            return "an access to it is left"
        return ""

    def find_sites(self, variable: Inst) -> bool:
        """Whether nothing but access chains reaches more than a member."""
        assert variable.type is not None
        reached = {variable: variable.type.args[0]}  # pointer -> the type that it points to
        for block in self.module.functions[0].blocks:
            for inst in block.insts:
                if not IS_CHAIN[inst.op]:
                    if not reached.keys().isdisjoint(inst.args):
                        return False
                elif inst.args[0] in reached:
                    left = self.walk(inst, reached[inst.args[0]])
                    if left is not None:
                        reached[inst] = left
                        self.partial.append(inst)
        return True

    def walk(self, chain: Inst, type: Inst) -> Inst | None:
        """Note the operand that is a member's number; the type that the chain ends at, if it does
        not go so far."""
        for at, operand in enumerate(chain.args[1:], 1):
            if type.op == ops.OpTypeStruct:
                self.sites.append((chain, at, types.index_of(operand) or 0))
                return None
            type = type.args[0]
        return type

    def shrink(self, live: list[int]) -> None:
        """Declare the block with these members, and name them by their new numbers. Its type may be
        that of other variables too, so it gets one of its own."""
        assert self.block is not None
        struct = struct_of(self.block)
        assert struct is not None
        twins = {struct: value(self.module, struct.op, None, [struct.args[n] for n in live], ())}
        for pointer in (self.block, *self.partial):
            assert pointer.type is not None
            pointer.type = self.twin(pointer.type, twins)
        at = self.module.globals.index(self.block)
        self.module.globals[at:at] = twins.values()
        numbers = {n: at for at, n in enumerate(live)}
        self.annotate(struct, twins[struct], numbers)
        for chain, at, member in self.sites:
            type = chain.args[at].type
            assert type is not None
            number = types.constant(self.module, type, numbers[member])
            chain.args = [*chain.args[:at], number, *chain.args[at + 1 :]]
        touched(self.module)

    def twin(self, type: Inst, twins: dict[Inst, Inst]) -> Inst:
        """An array of the block, or a pointer, with the new struct in it."""
        if type not in twins:
            inner = self.twin(type.args[0], twins)
            twins[type] = value(self.module, type.op, None, [inner, *type.args[1:]], type.imm)
        return twins[type]

    def annotate(self, struct: Inst, twin: Inst, numbers: dict[int, int]) -> None:
        """Names and decorations of a struct for another one that has some of its members."""
        module = self.module
        for name in [n for of, n in module.names if of is struct]:
            imm = _renumbered(op_of_name(name), imm_of_name(name), numbers)
            if imm:
                module.names.append(name_of(op_of_name(name), twin, imm))
        for inst in [i for i in module.annotations if i.args and i.args[0] is struct]:
            imm = _renumbered(inst.op, inst.imm, numbers)
            if imm:
                annotate(module, [Inst(inst.op, None, [twin, *inst.args[1:]], imm)])


def _renumbered(op: int, imm: tuple[int, ...], numbers: dict[int, int]) -> tuple[int, ...]:
    """The words of a name or decoration of the struct for its twin; none for a member that is
    gone."""
    if op not in _MEMBER_NOTES:
        return imm
    return (numbers[imm[0]], *imm[1:]) if imm[0] in numbers else ()


def dead_builtin_blocks(link: Link) -> bool:
    """Drop the members that neither stage uses, of both; whether there were any. Both modules must
    be as they go out, and want trimming afterwards."""
    if link.consumer.name not in CONSUMERS:
        return False
    producer, consumer = link.producer.module, link.consumer.module
    out = BlockSide(producer, BuiltInUses(producer, enums.StorageClass_Output))
    if out.block is None or captures(producer):
        return False
    into = BlockSide(consumer, BuiltInUses(consumer, enums.StorageClass_Input))
    wanted = out.touched | into.touched
    # a consumer that reads nothing has no block any more, and then one member says as much as none
    sides = [(out, out.live(wanted) or [0][: into.block is None])]
    if into.block is not None:
        sides.append((into, into.live(wanted)))
    if not all(live for _, live in sides):  # the blocks never fitted
        return False
    gone = {b for side, live in sides for n, b in enumerate(side.builtins) if n not in live}
    if not gone:
        return False
    obstacle = next(filter(None, [side.obstacle(live) for side, live in sides]), "")
    why = f"neither the {link.producer.name} nor the {link.consumer.name} stage uses it"
    fate = (KEPT, obstacle) if obstacle else (REMOVED, why)
    for builtin in gone:
        link.remarks.idle.setdefault(HANDED_ON[builtin], fate)
    if obstacle:
        return False
    for side, live in sides:
        if len(live) < len(side.builtins):
            side.shrink(live)
    return True
