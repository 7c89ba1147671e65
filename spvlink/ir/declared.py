"""What a module declares, and what an instruction needs of that to stand in it.

One rule from the grammar ("Capability", "Enabled by", "Missing before" of each instruction and
enumerant; specification 2.16.1): the opcode, each enumerant among its literal words, and the types
of its result and its operands. Beside it what only the text says: widths of numbers, choices of
whole vectors, operands of dot products. A capability is enough: none can be declared without its
extension or version.

The tables are big, and read only where the grammar has something to say (``info.ASKS``).
"""

from __future__ import annotations

from spvlink.grammar import enums, info, ops, shapes
from spvlink.ir import types
from spvlink.ir.core import CAPABILITIES, EXTENSIONS, Inst, Module, string_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_CAPABILITY: Final = "Capability"
_ALWAYS: Final = frozenset((enums.Capability_Shader, enums.Capability_Matrix))
_DOTS: Final = frozenset(
    (
        ops.OpSDot, ops.OpUDot, ops.OpSUDot,
        ops.OpSDotAccSat, ops.OpUDotAccSat, ops.OpSUDotAccSat,
    )
)  # fmt: skip
_INPUT_4X8: Final = enums.Capability_DotProductInput4x8Bit
_INPUT_PACKED: Final = enums.Capability_DotProductInput4x8BitPacked
_INPUT_ALL: Final = enums.Capability_DotProductInputAll
NOT_ASKED: Final = 255
_LONGEST: Final = 4  # components of an ordinary vector


class Declared:
    """What one module declares. Made afresh when that changes."""

    __slots__ = ("asked", "capabilities", "closed", "extensions", "fine", "minor", "opcodes")

    def __init__(self, module: Module) -> None:
        self.capabilities: set[int] = {c.imm[0] for c in module.sections[CAPABILITIES]}
        self.extensions: set[str] = {string_of(e.imm)[0] for e in module.sections[EXTENSIONS]}
        self.minor: int = module.spirv_version >> 8 & 0xFF
        self.closed = False  # whether ``capabilities`` holds what those declare along with them
        self.fine: set[Inst] = set()  # types, of any module, whose values may be here
        self.asked: dict[Inst, str] = {}  # the others, and what they lack
        self.opcodes: dict[int, str] = {}  # what opcodes lack; empty for nothing

    def lacking(self, inst: Inst) -> str | None:
        """What is not declared of what an instruction of any module needs, in words that go behind
        "does not declare"; None if all is."""
        op = inst.op
        if info.ASKS[op] != NOT_ASKED:
            why = self.of_words(inst)
            if why:
                return why
        fine, kind = self.fine, inst.type
        if kind is not None and kind not in fine:
            why = self.of_type(kind)
            if why:
                return why
        for arg in inst.args:
            kind = arg.type
            if kind is not None and kind not in fine:
                why = self.of_type(kind)
                if why:
                    return why
        if op == ops.OpSelect or op == ops.OpDot or op in _DOTS:
            return self.of_operands(inst)
        return None

    def of_words(self, inst: Inst) -> str | None:
        """The same for the opcode and the literal words alone."""
        op = inst.op
        asks: int = info.ASKS[op]
        if asks == NOT_ASKED:
            return None
        if asks & info.ASKS_ITSELF:
            missing = self.opcodes.get(op)
            if missing is None:
                from spvlink.grammar.needs import CAPABILITIES as BY_OPCODE
                from spvlink.grammar.needs import EXTENSIONS as EXTENSIONS_BY_OPCODE
                from spvlink.grammar.needs import SINCE

                missing = self.opcodes[op] = self.enabled(
                    BY_OPCODE.get(op, ()), SINCE.get(op, 0), EXTENSIONS_BY_OPCODE.get(op, ()),
                    ops.NAMES[op],
                )  # fmt: skip
            if missing:
                return missing
        if asks & info.ASKS_WORDS and inst.imm:
            for kind, number in _enumerants(inst):
                missing = self.of_enumerant(kind, number)
                if missing:
                    return missing
        return None

    def of_enumerant(self, kind: str, number: int) -> str:
        """What is not declared of what an enumerant needs; empty for nothing."""
        from spvlink.grammar.needs import ENUM_CAPABILITIES, ENUM_EXTENSIONS, ENUM_SINCE

        key = kind, number
        return self.enabled(
            ENUM_CAPABILITIES.get(key, ()), ENUM_SINCE.get(key, 0), ENUM_EXTENSIONS.get(key, ()),
            f"{kind} {number}",
        )  # fmt: skip

    def enabled(
        self, capabilities: tuple[int, ...], since: int, extensions: tuple[str, ...], what: str
    ) -> str:
        """What is missing to enable one thing; empty for nothing."""
        from spvlink.grammar.needs import NEVER

        ordinary = not capabilities or not _ALWAYS.isdisjoint(capabilities)
        if not ordinary:
            return "" if any(map(self.has, capabilities)) else named(*capabilities)
        if since <= self.minor or not self.extensions.isdisjoint(extensions):
            return ""
        ways = [f"the extension {name}" for name in extensions]
        if since < NEVER:
            ways.append(f"SPIR-V 1.{since}, the first version that has {what}")
        return " or ".join(ways) or what

    def has(self, capability: int) -> bool:
        """Whether a capability is declared, by itself or along with another one."""
        declared = self.capabilities
        if capability in declared or capability in _ALWAYS:
            return True
        if not self.closed:
            from spvlink.grammar.needs import ENUM_CAPABILITIES

            todo = [*declared]
            while todo:
                for along in ENUM_CAPABILITIES.get((_CAPABILITY, todo.pop()), ()):
                    if along not in declared:
                        declared.add(along)
                        todo.append(along)
            self.closed = True
        return capability in declared

    def of_type(self, type: Inst) -> str | None:
        """What is not declared of what values of a type need to be computed with. A pointer asks
        for nothing: what it leads to may be in memory alone."""
        missing = self.asked.get(type)
        if missing is not None:
            return missing
        missing = "" if type.op in types.POINTERS else self._of_parts(type)
        if not missing:
            self.fine.add(type)
            return None
        self.asked[type] = missing
        return missing

    def _of_parts(self, type: Inst) -> str:
        why = self.of_words(type)
        if why:
            return why
        wanted = types.capability_of(type)
        if wanted is not None and not self.has(wanted):
            return named(wanted)
        if type.op == ops.OpTypeVector and type.imm[0] > _LONGEST:
            long = enums.Capability_Vector16, enums.Capability_LongVectorEXT
            if not any(map(self.has, long)):
                return named(*long)
        for part in type.args:
            if part.type is None:  # the length of an array is no type
                why = self.of_type(part)
                if why:
                    return why
        return ""

    def of_operands(self, inst: Inst) -> str | None:
        """Where what is needed depends on the operands' types."""
        kind, first = inst.type, inst.args[0].type
        if kind is None or first is None:
            return None
        if inst.op == ops.OpSelect:
            if self.minor < 4 and first.op == ops.OpTypeBool and kind.op not in _SCALARS:
                return "SPIR-V 1.4, the first version that has choices of whole vectors"
        elif inst.op == ops.OpDot:
            wanted = enums.Capability_BFloat16DotProductKHR
            if kind.imm[1:] == (enums.FPEncoding_BFloat16KHR,) and not self.has(wanted):
                return named(wanted)
        elif first.op != ops.OpTypeVector:
            if not self.has(_INPUT_PACKED):
                return named(_INPUT_PACKED)
        elif not self.has(_INPUT_ALL):
            if first.imm[0] != 4 or first.args[0].imm[0] != 8:
                return named(_INPUT_ALL)
            if not self.has(_INPUT_4X8):
                return named(_INPUT_ALL, _INPUT_4X8)
        return None


_SCALARS: Final = types.NUMBERS | {ops.OpTypeBool, *types.POINTERS}


def named(*capabilities: int) -> str:
    """Capabilities, any one of which would do, for people."""
    from spvlink.grammar.names import ENUM_NAMES

    names = ENUM_NAMES[_CAPABILITY]
    return "the capability " + " or ".join(names.get(c, str(c)) for c in capabilities)


def _enumerants(inst: Inst) -> list[tuple[str, int]]:
    """(kind, value) of each enumerant among an instruction's literal words, each bit of a mask by
    itself. What stands behind a literal of unknown length is not looked at."""
    enumerants: list[tuple[str, int]] = []
    todo = list(reversed(shapes.operands(inst.op)))
    at = 0
    while todo and at < len(inst.imm):
        kind = todo.pop() >> 2
        if kind == shapes.K_LITERAL:
            at += 1
        elif kind >= shapes.K_ENUM:
            name, is_mask, values = shapes.enumeration(kind - shapes.K_ENUM)
            word = inst.imm[at]
            at += 1
            each = [word]
            if is_mask:
                each = [1 << bit for bit in range(32) if word >> bit & 1]
            enumerants += [(name, number) for number in each]
            for number in reversed(each):
                todo += reversed(values.get(number, ()))
        elif kind not in (shapes.K_ID, shapes.K_ID_ID):
            break
    return enumerants
