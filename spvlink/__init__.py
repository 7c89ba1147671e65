"""spvlink: a SPIR-V to SPIR-V link-time optimizer for whole Vulkan pipelines.

``spvlink.link(stages, options) -> Linked`` does what the command ``spvlink link`` does, on bytes
and without files.
"""

from spvlink.driver import link
from spvlink.errors import BadSpirv, Broken, Refused, SpvlinkError, Usage
from spvlink.options import Options
from spvlink.pipeline import Linked, Remark, Source

__version__ = "0.1.0"
__all__ = [
    "BadSpirv",
    "Broken",
    "Linked",
    "Options",
    "Refused",
    "Remark",
    "Source",
    "SpvlinkError",
    "Usage",
    "link",
]
