"""A text of a module that does not depend on how its ids are numbered, nor on the order of
declarations: two modules with one text say the same.
"""

from __future__ import annotations

from spvlink.grammar import ops
from spvlink.ir.core import SECTIONS, Inst, Module
from spvlink.text import print_function, print_inst

# What is known by its place in the order of them, not by what it is made of.
_ORDERED = frozenset((ops.OpVariable, ops.OpUntypedVariableKHR, ops.OpTypeStruct))


def canonical(module: Module) -> str:
    """Module-scope lines sorted, types and constants written out where they are used, all else
    numbered in the order of appearance."""
    names: dict[Inst, str] = {}
    lines: dict[Inst, str] = {}
    forward = {i.args[0] for i in module.globals if i.op == ops.OpTypeForwardPointer}
    count = 0
    for section in module.sections:
        for inst in section:
            if inst.id and (inst.op in _ORDERED or inst in forward):
                count += 1
                names[inst] = f"global{count}"
            elif inst.id:
                made = print_inst(inst, names).partition(" = ")[2]
                names[inst] = f"({made})"
                lines[inst] = f"%({made}) = {made}"
    count = 0
    for function in module.functions:
        inside = [i for b in function.blocks for i in (b, *b.insts) if i.id]
        for inst in (function, *function.params, *inside):
            count += 1
            names[inst] = f"local{count}"
    parts = [f"version {module.spirv_version:#x} of {module.generator}, {module.schema}"]
    for number in range(SECTIONS):
        section = [i for i in module.listed(number) if not i.args or i.args[0] in names]
        parts += sorted(lines.get(i) or print_inst(i, names) for i in section)
    parts += [print_function(function, names) for function in module.functions]
    parts += [print_inst(i, names) for i in module.tail]
    return "\n".join(parts) + "\n"
