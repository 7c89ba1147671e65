"""spvlink: a SPIR-V to SPIR-V link-time optimizer for whole Vulkan pipelines.

The modules of all stages of one pipeline go in as bytes, smaller ones come out:

    import spvlink

    linked = spvlink.link([vertex_bytes, fragment_bytes], exact=True)
    for stage in linked.stages:
        print(stage.stage, stage.instructions, len(stage.data))
    for remark in linked.remarks:
        print(remark.interface, remark.name, remark.action, remark.why)

``link`` does what the command ``spvlink link`` does, without files. ``Options`` has all settings
with units and defaults; ``link`` takes them as keywords, too. ``Linked`` is what comes back.

Errors, all of them ``SpvlinkError`` with ``message``, ``file``, ``word`` and ``context``:
``BadSpirv`` (an input is not valid, or the inputs make no pipeline) and ``Usage`` (settings that
make no sense). A pipeline that cannot be improved safely is no error: it comes back unchanged, and
``Linked.passed_through`` says why. ``COMPILED`` says whether this is the compiled core.
"""

from spvlink.driver import link
from spvlink.errors import BadSpirv, Broken, Refused, SpvlinkError, Usage
from spvlink.ir import core
from spvlink.options import Options
from spvlink.pipeline import InterfaceResult, Linked, Remark, Source, StageResult

__version__ = "0.1.0"
COMPILED = not str(core.__file__).endswith((".py", ".pyc"))  # whether mypyc made the core
__all__ = [
    "COMPILED",
    "BadSpirv",
    "Broken",
    "InterfaceResult",
    "Linked",
    "Options",
    "Refused",
    "Remark",
    "Source",
    "SpvlinkError",
    "StageResult",
    "Usage",
    "link",
]
