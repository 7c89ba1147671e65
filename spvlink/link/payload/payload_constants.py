"""Read back constants of a task payload as constants.

    task:  payload.fade = 1.0; barrier(); x = payload.fade    ->    x = 1.0

Why it is right. If every store gives a member one constant, the member holds that constant or is
undefined. An undefined value may be any value.

What breaks it. A store of another value, or an access that is not understood: the member stays.

Cost. None.
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
