"""Judges of what is linked: the system's spirv-val, which users have, a newer one, and what neither
looks at.

The newer one comes with a development requirement (pyproject.toml) and lies where no PATH leads, so
that spvlink itself never finds it.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spvlink import driver, validate
from spvlink.binary.decode import decode
from spvlink.grammar import ops
from spvlink.ir.declared import Declared
from spvlink.pipeline import Linked

IMAGES = frozenset((ops.OpTypeImage, ops.OpTypeSampler, ops.OpTypeSampledImage))
_WHERE = "cmeel.prefix/bin/spirv-val"
_LIBRARIES = (sysconfig.get_path("purelib"), *sys.path)  # build/compiled has those of the checkout
NEWER = next((p for p in (Path(f, _WHERE) for f in _LIBRARIES) if p.exists()), Path(_WHERE))


def refusal(code: bytes, newer: bool, environment: str = "vulkan1.3") -> str | None:
    """What a judge says against a module; None for nothing. The newer one, where it is missing,
    says nothing."""
    if not newer:
        return validate.validate(code, environment)
    if not NEWER.exists():
        return None
    command = [NEWER, "--target-env", environment, "--scalar-block-layout"]
    command += ["--workgroup-scalar-block-layout", "--allow-localsizeid", "-"]
    done = subprocess.run(command, input=code, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode().strip() if done.returncode else None


def astray(code: bytes) -> list[int]:
    """The ids of images and samplers that are used in another block than the one that makes them
    (specification 2.16.1, "All OpSampledImage instructions, or instructions that load ...")."""
    found = []
    for function in decode(code).functions:
        homes = {
            inst: block
            for block in function.blocks
            for inst in block.insts
            if inst.type is not None and inst.type.op in IMAGES
        }
        for block in function.blocks:
            uses = [arg for inst in block.insts for arg in inst.args]
            found += [arg.id for arg in uses if homes.get(arg, block) is not block]
    return found


def undeclared(code: bytes) -> list[str]:
    """What instructions of the functions need, and the module does not declare."""
    module = decode(code)
    declared = Declared(module)
    found = [declared.of_words(i) for f in module.functions for b in f.blocks for i in b.insts]
    return sorted({what for what in found if what is not None})


def assert_valid(before: Sequence[bytes], after: Sequence[bytes], env: str = "vulkan1.3") -> None:
    """No judge refuses a module that it did not refuse before."""
    for old, new in zip(before, after, strict=True):
        for newer in (False, True):
            why = None if old == new else refusal(new, newer, env)
            assert why is None or refusal(old, newer, env) is not None, why
        assert old == new or not astray(new) or astray(old), astray(new)


@contextmanager
def watching() -> Iterator[None]:
    """Every link that validates what it made is judged by the newer spirv-val, too."""
    session = driver._Session
    first = session.validate

    def second(self: driver._Session, outputs: list[bytes]) -> Linked:
        linked = first(self, outputs)
        if linked.validated == "validated" and linked.passed_through is None:
            for stage, code in zip(self.stages, outputs):
                why = None
                if code != stage.source.data:
                    why = refusal(code, True, linked.target_env or "vulkan1.3")
                if why and refusal(stage.source.data, True, linked.target_env or "vulkan1.3"):
                    why = None  # so it is the input's fault
                assert why is None, f"the newer spirv-val refuses the new {stage.name}: {why}"
                lost = code != stage.source.data and (astray(code) or undeclared(code))
                if lost and not (astray(stage.source.data) or undeclared(stage.source.data)):
                    raise AssertionError((stage.name, lost))
        return linked

    session.validate = second  # type: ignore[method-assign]
    try:
        yield
    finally:
        session.validate = first  # type: ignore[method-assign]
