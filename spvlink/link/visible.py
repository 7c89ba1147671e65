"""What a stage may see before linking changes anything: the resources that it uses statically."""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import ops
from spvlink.ir.core import Module
from spvlink.link.resources import Key, resource_key
from spvlink.passes.inline import callees


def used_resources(module: Module) -> frozenset[Key]:
    """The resources that a module's entry point uses statically, before anything was changed."""
    tables = Decorations.of(module)
    found: set[Key] = set()
    entry = module.entry
    assert entry is not None
    todo, seen = [entry.function], {entry.function}
    while todo:
        function = todo.pop()
        for callee in callees(function):
            if callee not in seen:
                seen.add(callee)
                todo.append(callee)
        for block in function.blocks:
            for inst in block.insts:
                for arg in inst.args:
                    if arg.op == ops.OpVariable:
                        key = resource_key(tables, arg)
                        if key is not None:
                            found.add(key)
    return frozenset(found)
