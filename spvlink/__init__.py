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
what becomes of them as it comes. ``check`` only looks for what is wrong between the stages.

Errors, all of them ``SpvlinkError`` with ``message``, ``file``, ``word`` and ``context``:
``BadSpirv`` (an input is not valid, or the inputs make no pipeline) and ``Usage`` (settings that
make no sense). A pipeline that cannot be improved safely is no error: it comes back unchanged,
``Linked.outcome`` says so ("linked" otherwise) and ``Linked.passed_through`` says why.
``Linked.warnings`` has what is wrong between the stages as they came and kept nobody from linking
them. ``COMPILED`` says whether this is the compiled core.
"""

from __future__ import annotations

import gc

_collecting = gc.isenabled()
gc.disable()  # all that is imported stays: to look through it was a tenth of a small link's process

from spvlink import driver, pipeline
from spvlink.errors import BadSpirv, Broken, Refused, SpvlinkError, Usage
from spvlink.ir import core
from spvlink.link.check.findings import Finding
from spvlink.options import Options
from spvlink.pipeline import Flaw, InterfaceResult, Linked, Remark, Source, StageResult
from spvlink.sources import sources_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Iterator, Mapping
    from concurrent.futures import Executor
    from typing import Unpack

    from spvlink.batches.api import Batched
    from spvlink.options import Settings
    from spvlink.sources import Given
    from spvlink.verifier.verdict import Verdict

if _collecting:
    gc.enable()

__version__ = "0.1.0"
COMPILED = not str(core.__file__).endswith((".py", ".pyc"))  # whether mypyc made the core
__all__ = [
    "COMPILED",
    "BadSpirv",
    "Broken",
    "Finding",
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
    "check",
    "link",
    "link_frozen",
    "verify",
]


def link(
    stages: Iterable[Given], options: Options | None = None, **settings: Unpack[Settings]
) -> Linked:
    """Link the modules of one pipeline.

    ``stages``: the SPIR-V modules, in any order; each is bytes, a path, or text as on the command
    line (``"a.spv:main"``; GLSL is compiled). A ``Source`` has bytes with the name for messages and
    the entry point. Settings are an ``Options`` or its keywords: ``link(stages, exact=True)``.

    The result has one ``StageResult`` a stage in pipeline order (``data`` is the module to use),
    figures of every border, remarks that say what became of every varying, and ``passed_through``:
    None, or why the modules came back unchanged because they cannot be improved, or not safely.

    Raises ``BadSpirv`` if a module is not valid or the modules make no pipeline, ``Usage`` if the
    settings make no sense, a file cannot be read or spirv-val is missing, ``TypeError`` for other
    types or an unknown keyword, ``MemoryError``. Whatever else goes wrong inside comes back as a
    result with ``defect`` set and the modules as they were.
    """
    if options is not None and not isinstance(options, Options):
        raise TypeError(_EXPECTED.format(type(options).__name__))
    return driver.link(sources_of(stages, _target(options, settings)), options, **settings)


_EXPECTED = "options: expected spvlink.Options, not {}; stages are one list, as in link([v, f])"


def _target(options: Options | None, settings: Settings) -> str | None:
    """The environment that GLSL is compiled for."""
    return options.target_env if options is not None else settings.get("target_env")


def batch(
    pipelines: Iterable[Iterable[Given] | tuple[Iterable[Given], Options]],
    options: Options | None = None,
    executor: Executor | None = None,
    store: str | None = None,
    store_key: bytes = b"",
) -> Iterator[Batched]:
    """Link many pipelines, those that are the same once.

    ``pipelines``: of each the stages, as ``link`` takes them, or a tuple of the stages and Options
    of its own (layout, specialization ...) instead of ``options``. It is read as results are asked
    for; modules and results wait on the disk, so that there may be very many.

    ``executor``: any ``concurrent.futures.Executor``: one thread, Dask's ``Client.get_executor()``
    with spvlink installed on the workers ... The default is a process for each core, where a link
    that takes more than 60 s or 2 GB, or crashes, costs its own pipeline only.

    ``store``: a folder, ``http(s)://HOST/PATH`` or ``s3://BUCKET/PREFIX`` that keeps results for
    later runs and other machines; the last two need ``spvlink[store]``. ``store_key``: the secret
    under which they are sealed, and without whose seal none counts. What is wrong with the store is
    a RuntimeWarning at the end.

    Yields a ``Batched`` for each pipeline, as they come: ``index`` says which, ``kind`` and
    ``linked`` what became of it. Raises as ``link`` does for settings that make no sense or a
    missing spirv-val, but nothing for a pipeline: bad SPIR-V is a kind, "invalid". What the
    executor raises when it is broken comes through.
    """
    from spvlink.batches.api import batch as run

    return run(pipelines, options, executor, store, store_key)


def check(
    stages: Iterable[Given],
    *,
    complete: bool = False,
    spec: Mapping[tuple[str, int], str | bytes] | None = None,
    limits: Mapping[str, int] | None = None,
    maintenance4: bool = False,
    target_env: str | None = None,
) -> list[Finding]:
    """Look for what is wrong between the stages of one pipeline, as ``spvlink check`` does.

    ``stages`` as ``link`` takes them; ``complete`` and ``spec`` as in ``Options``. ``limits``: of a
    device, by the names of VkPhysicalDeviceLimits; what is missing is what Vulkan requires.
    ``maintenance4``: whether that feature is on. ``target_env``: for stages that are compiled.

    Gives the findings; ``warning`` tells those that are legal. Raises ``BadSpirv`` and ``Usage`` as
    ``link`` does, and ``Refused`` for stages that cannot be checked (SPV_NV_mesh_shader).
    """
    from spvlink.lint.api import check as run

    sources = sources_of(stages, target_env)
    return run(sources, complete, spec or {}, limits, maintenance4)


def link_frozen(
    stages: Iterable[Given],
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

    return run(sources_of(stages, _target(options, {})), interface, options)


def verify(
    originals: Iterable[Given],
    linked: Iterable[Given],
    options: Options | None = None,
    seconds: float = 1.0,
    execute: bool = False,
) -> Verdict:
    """Prove that linked modules do what the original ones do, as ``spvlink verify`` does.

    ``originals`` and ``linked`` as ``link`` takes stages; ``options``: those of the link, of which
    ``exact``, ``spec`` and ``spec_defaults`` count. Gives a ``Verdict``: ``outcome`` is "equal",
    "unknown" (with ``place`` and ``reason``) or "unequal", ``axioms`` has the rules of rounding
    and of undefined values that the proof used. ``execute``: where there is no proof, run both in
    an interpreter (needs numpy: the extra ``verify``). Raises ``BadSpirv`` and ``Usage`` as
    ``link`` does.
    """
    from spvlink.verifier.api import verify as run

    target = _target(options, {})
    before, after = sources_of(originals, target), sources_of(linked, target)
    return run(before, after, options or Options(), seconds, execute)


def _html(linked: Linked) -> str:
    """The page of ``--html`` in a frame of its own, for a notebook."""
    import html

    from spvlink.page import page

    text = html.escape("".join(page.of_link(__version__, linked, {})))
    return f'<iframe srcdoc="{text}" style="width: 100%; height: 32em; border: 0"></iframe>'


pipeline.PICTURES.append(_html)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"])
