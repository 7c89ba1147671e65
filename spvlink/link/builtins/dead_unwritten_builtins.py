"""Read built-ins that nobody writes as their defined value.

    VS never writes gl_ViewportIndex        FS: gl_ViewportIndex is 0
    VS never writes gl_PointSize            GS: gl_in[i].gl_PointSize is 1

Why it is right. A built-in that nobody writes is undefined, so any value is right, except where
fixed functions define one. Layer and ViewportIndex are 0 (Vulkan, "Built-In Variables"); points
have size 1 with maintenance5. The pass takes these values.

What breaks it. Views, which may choose Layer and ViewportIndex: ``builtins`` leaves them out then.

Cost. None.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir import types
from spvlink.ir.edit import become, sweep
from spvlink.ir.slot import builtin_key
from spvlink.link.border.link import Link
from spvlink.link.dead import dead_varyings
from spvlink.pipeline import UNDEFINED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_SIZE: Final = builtin_key(enums.BuiltIn_PointSize, 0)
_ONE: Final = 0x3F800000  # 1.0


def dead_unwritten_builtins(built: Link) -> bool:
    """What nobody reads, and what nobody writes; whether there was any."""
    built.gather()
    if dead_varyings.drop_undefined(built):
        return True
    if _SIZE in built.loads and _SIZE not in built.stores:
        module = built.consumer.module
        assert module.entry is not None
        for load in built.loads[_SIZE]:
            assert load.type is not None
            become(module, load, types.constant(module, load.type, _ONE))
        sweep(module, module.entry.function)
        why = f"the {built.producer.name} stage never writes it; read as one"
        built.remarks.fate[_SIZE] = (UNDEFINED, why)
        return True
    return dead_varyings.dead_varyings(built)
