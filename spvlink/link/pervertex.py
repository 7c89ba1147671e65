"""Members of built-in blocks between two stages before rasterization that neither of them uses.

    VS:  out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[1]; ... }
    GS:  in  gl_PerVertex { the same } gl_in[];          and both touch gl_Position alone
    ->   gl_PerVertex { vec4 gl_Position; } on both sides

Compilers declare all members that the language has, and each counts as components of the
interface (Vulkan, "Shader Input and Output Locations") and as memory between the stages. Blocks on
both sides of a border must have the same members ("Interface Matching"), so a member goes from both
or from neither; one stays in any case. It runs when the code of both stages is final, and does
nothing for outputs of the last stage before rasterization: there the sizes of ClipDistance and
CullDistance enable planes, used or not.
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import ANNOTATIONS, ENTRY_POINTS, NAMES, Inst, Module
from spvlink.link.border import Link
from spvlink.link.builtins import CONSUMERS, HANDED_ON, Uses, captures, struct_of
from spvlink.passes.parts import CHAINS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_MEMBER_NOTES: Final = frozenset((ops.OpMemberDecorate, ops.OpMemberDecorateString))


class Side:
    """A built-in block as one stage declares it, and where its code names a member."""

    def __init__(self, module: Module, uses: Uses) -> None:
        self.module = module
        self.touched = uses.read | uses.stores.keys()
        blocks = [v for v in uses.variables if struct_of(v) is not None]
        self.block = blocks[0] if blocks else None
        self.held = uses.variables[blocks[0]] if blocks else []
        self.single = len(blocks) < 2
        self.sites: list[tuple[Inst, int, int]] = []  # access chain, its operand, the member

    def live(self, wanted: set[int]) -> list[int]:
        """The members that stay if these built-ins are used."""
        return [n for n, b in enumerate(self.held) if b in wanted or b not in HANDED_ON]

    def obstacle(self, live: list[int]) -> str:
        """Why the block stays as it is, or an empty string; finds the sites."""
        entries = self.module.sections[ENTRY_POINTS]
        if not self.single or -1 in self.held:
            return "there is more than built-ins in one block"
        if len(entries) > 1 or len(self.module.functions) > 1:
            return "there are other functions or entry points"
        assert self.block is not None
        struct = struct_of(self.block)
        assert struct is not None
        family = _family(self.module, self.block, struct)
        if not family or not self.find_sites(struct, family):
            return "something else is of the type of the block"
        if any(member not in live for _, _, member in self.sites):
            return "an access to it is left"
        for inst in self.module.annotations:
            if inst.op == ops.OpGroupMemberDecorate and struct in inst.args:
                return "its decorations are in groups"
        return ""

    def find_sites(self, struct: Inst, family: set[Inst]) -> bool:
        """Whether nothing but access chains reaches the block as a whole. (What loads, stores or
        copies an element counts as a use of all members, so it need not be looked for.)"""
        for block in self.module.functions[0].blocks:
            for inst in block.insts:
                if inst.op in CHAINS:
                    base = inst.args[0].type
                    if base in family and not self.walk(inst, base.args[0], struct):
                        return False
                elif inst.type in family:
                    return False
        return True

    def walk(self, chain: Inst, type: Inst, struct: Inst) -> bool:
        """Note the operand that is a member's number, if the chain goes so far."""
        for at, operand in enumerate(chain.args[1:], 1):
            if type is struct:
                member = types.index_of(operand)
                if member is None:
                    return False
                self.sites.append((chain, at, member))
                return True
            type = type.args[0]
        return True

    def shrink(self, live: list[int]) -> None:
        """Declare the block with these members, and name them by their new numbers."""
        assert self.block is not None
        struct = struct_of(self.block)
        assert struct is not None
        struct.args = [struct.args[n] for n in live]
        numbers = {n: at for at, n in enumerate(live)}
        for section, opcodes in ((ANNOTATIONS, _MEMBER_NOTES), (NAMES, {ops.OpMemberName})):
            kept: list[Inst] = []
            for inst in self.module.sections[section]:
                if inst.op in opcodes and inst.args[0] is struct:
                    if inst.imm[0] not in numbers:
                        continue
                    inst.imm = [numbers[inst.imm[0]], *inst.imm[1:]]
                kept.append(inst)
            self.module.sections[section] = kept  # a new list: tables of the old one are out
        for chain, at, member in self.sites:
            type = chain.args[at].type
            assert type is not None
            number = types.constant(self.module, type, numbers[member])
            chain.args = [*chain.args[:at], number, *chain.args[at + 1 :]]
        self.module.version += 1


def _family(module: Module, variable: Inst, struct: Inst) -> set[Inst]:
    """A struct, arrays of it and pointers to them; empty if they are there for anything else but
    the variable."""
    family = {struct}
    for inst in module.globals:  # what is used comes first
        if inst is variable:
            continue
        if inst.type in family:
            return set()
        if not family.isdisjoint(inst.args):
            if inst.op not in (ops.OpTypeArray, ops.OpTypePointer):
                return set()
            family.add(inst)
    return family


def run(link: Link) -> bool:
    """Drop the members that neither stage uses, of both; whether there were any. Both modules must
    be as they go out, and want trimming afterwards."""
    if link.consumer.name not in CONSUMERS:
        return False
    producer, consumer = link.producer.module, link.consumer.module
    out = Side(producer, Uses(producer, enums.StorageClass_Output))
    if out.block is None or captures(producer):
        return False
    into = Side(consumer, Uses(consumer, enums.StorageClass_Input))
    wanted = out.touched | into.touched
    # a consumer that reads nothing has no block any more, and then one member says as much as none
    sides = [(out, out.live(wanted) or [0][: into.block is None])]
    if into.block is not None:
        sides.append((into, into.live(wanted)))
    if not all(live for _, live in sides):  # the blocks never fitted
        return False
    gone = {b for side, live in sides for n, b in enumerate(side.held) if n not in live}
    if not gone:
        return False
    obstacle = next(filter(None, [side.obstacle(live) for side, live in sides]), "")
    why = f"neither the {link.producer.name} nor the {link.consumer.name} stage uses it"
    fate = ("kept", obstacle) if obstacle else ("removed", why)
    for builtin in gone:
        link.idle.setdefault(HANDED_ON[builtin], fate)
    if obstacle:
        return False
    for side, live in sides:
        if len(live) < len(side.held):
            side.shrink(live)
    return True
