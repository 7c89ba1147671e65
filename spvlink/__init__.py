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

``batch`` links many, each distinct one once, in several processes or on any executor, and yields
what becomes of them as it comes.

Errors, all of them ``SpvlinkError`` with ``message``, ``file``, ``word`` and ``context``:
``BadSpirv`` (an input is not valid, or the inputs make no pipeline) and ``Usage`` (settings that
make no sense). A pipeline that cannot be improved safely is no error: it comes back unchanged, and
``Linked.passed_through`` says why. ``Linked.warnings`` has what is wrong between the stages as they
came and kept nobody from linking them. ``COMPILED`` says whether this is the compiled core.
"""

from __future__ import annotations

import gc

_collecting = gc.isenabled()
gc.disable()  # all that is imported stays: to look through it was a tenth of a small link's process

from spvlink.driver import link
from spvlink.errors import BadSpirv, Broken, Refused, SpvlinkError, Usage
from spvlink.ir import core
from spvlink.options import Options
from spvlink.pipeline import Flaw, InterfaceResult, Linked, Remark, Source, StageResult

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from spvlink.batches.api import Batched

if _collecting:
    gc.enable()

__version__ = "0.1.0"
COMPILED = not str(core.__file__).endswith((".py", ".pyc"))  # whether mypyc made the core
__all__ = [
    "COMPILED",
    "BadSpirv",
    "Broken",
    "Flaw",
    "InterfaceResult",
    "Linked",
    "Options",
    "Refused",
    "Remark",
    "Source",
    "SpvlinkError",
    "StageResult",
    "Usage",
    "batch",
    "link",
    "link_frozen",
]


def batch(
    pipelines: Iterable[Sequence[Source | bytes] | tuple[Sequence[Source | bytes], Options]],
    options: Options | None = None,
    executor: Executor | None = None,
) -> Iterator[Batched]:
    """Link many pipelines, those that are the same once.

    ``pipelines``: of each the stages, as ``link`` takes them, or a tuple of the stages and Options
    of its own (layout, specialization ...) instead of ``options``. It is read as results are asked
    for; modules and results wait on the disk, so that there may be very many.

    ``executor``: any ``concurrent.futures.Executor``: one thread, Dask's ``Client.get_executor()``
    with spvlink installed on the workers ... The default is a process for each core, where a link
    that takes more than 60 s or 2 GB, or crashes, costs its own pipeline only.

    Yields a ``Batched`` for each pipeline, as they come: ``index`` says which, ``kind`` and
    ``linked`` what became of it. Raises as ``link`` does for settings that make no sense or a
    missing spirv-val, but nothing for a pipeline: bad SPIR-V is a kind, "invalid". What the
    executor raises when it is broken comes through.
    """
    from spvlink.batches.api import batch as run

    return run(pipelines, options, executor)


def link_frozen(
    stages: Sequence[Source | bytes],
    interface: object = None,
    options: Options | None = None,
) -> tuple[Linked, dict[str, object]]:
    """Link stages against a frozen interface, each without the others (docs/explanation/sets.md).

    ``stages``: modules as ``link`` takes them, one or more of a pipeline. ``interface``: the
    document, as ``json.load`` gives it; None to make it of the stages: what they do not need of
    each other is no part of it, and a stage that is missing before the first or behind the last
    (if that is no fragment shader, without ``complete``) is expected to write, or to read, all.

    Gives the result, as ``link`` does, and the document. Raises as ``link`` does; ``BadSpirv`` also
    for a stage that needs more than the interface has, with the name of it, ``Usage`` also for a
    document that is none.
    """
    from spvlink.sets.freeze import link_frozen as run

    return run(stages, interface, options)
