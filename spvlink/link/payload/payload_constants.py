"""Reads back the one constant that a payload member can hold.

    task:  payload.fade = 1.0; barrier(); x = payload.fade    ->    x = 1.0

A member to which every store gives one constant holds that constant, or nothing defined.
"""

from __future__ import annotations

from spvlink.ir import types
from spvlink.ir.edit import become, sweep
from spvlink.link.border.link import Link
from spvlink.link.border.values import single_value


def payload_constants(link: Link) -> bool:
    """Replace what the task shader reads back of members that only ever hold one constant. Returns
    whether there was any."""
    link.gather()
    module = link.producer.module
    changed = False
    for key, loads in link.read_back.items():
        stored = single_value(link, key)
        if stored is None or stored.op not in types.CONSTANTS:
            continue
        for load in loads:
            if load.type is stored.type:
                become(module, load, stored)
                changed = True
    if changed:
        assert module.entry is not None
        sweep(module, module.entry.function)
    return changed
