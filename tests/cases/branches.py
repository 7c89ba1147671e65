"""If-conversion and its reverse in the form that a case can name (tests/passes/README.md)."""

from __future__ import annotations

from spvlink.chain.context import PassContext
from spvlink.chain.converted import _Limits
from spvlink.facts.decorations import Names
from spvlink.grammar import ops
from spvlink.ir.core import Inst, Module
from spvlink.passes.cleaning import reverse_if_conversion as reverse
from spvlink.passes.cleaning.if_conversion import Limits
from spvlink.passes.cleaning.if_conversion import if_conversion as convert
from spvlink.passes.cleaning.join import join


def if_conversion(module: Module) -> None:
    """Convert what may be in a module of which nothing is known: it reads push constants."""
    _converted(module)


def if_conversion_of_stages(site: PassContext) -> list[str]:
    """Convert in the two stages of a border, with what the linker knows of them."""
    for stage in site.chain.stages:
        entry = stage.module.entry
        assert entry is not None
        convert(stage.module, entry.function, stage.selects, _Limits(site.chain, stage))
    return []


def there_and_back(module: Module) -> None:
    """Convert, join the blocks that this leaves, and make branches again of all that."""
    assert module.entry is not None
    made = _converted(module)
    join(module, module.entry.function)
    reverse.reverse_if_conversion(module, module.entry.function, made)


def reverse_if_conversion(module: Module) -> None:
    """Make branches of all selects, but those with the name "own", which count as the author's.
    Those with one name, or with none, were made of one branch."""
    assert module.entry is not None
    names = Names(module)
    groups: dict[str, int] = {}
    made: dict[Inst, int] = {}
    for block in module.entry.function.blocks:
        for inst in block.insts:
            name = names.of(inst)
            if inst.op == ops.OpSelect and name != "own":
                made[inst] = groups.setdefault(name, len(groups))
    reverse.reverse_if_conversion(module, module.entry.function, made)


def _converted(module: Module) -> dict[Inst, int]:
    assert module.entry is not None
    made: dict[Inst, int] = {}
    convert(module, module.entry.function, made, Limits(module))
    return made
