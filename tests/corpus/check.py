"""One pipeline: linked, validated, linked again, drawn. Runs in a process of its own."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import spvlink
from spvlink import validate
from spvlink.draw import CannotDraw, Result, compare, draw, draw_covering, mismatches
from spvlink.draw.compare import max_ulp
from tests.support.debug_reading import shape, stripped
from tests.support.judges import astray

from .build import Code

DEFAULT, EXACT = "default", "--exact"
MODES = (DEFAULT, EXACT)
LINKED, NOTHING, PASSED, REFUSED, DEFECT = (
    "linked", "nothing to gain", "passed through", "refused", "defect",
)  # fmt: skip
# Kinds of findings.
INVALID, TWICE, BORDER, GROWS, REFUSED_VALID, DIFFERENT, DEBUG = (
    "invalid", "second link changes", "border", "grows", "valid input refused", "different",
    "other code without debug information",
)  # fmt: skip
KINDS = (DEFECT, REFUSED_VALID, INVALID, BORDER, GROWS, TWICE, DEBUG, DIFFERENT)
EQUAL, FOLDED = "equal", "equal but for what the driver folds"
TOLERANCE = 1e-3  # without --exact: a larger relative difference is more than rounding,
TIPPED = 0.01  # and in a larger share of the pixels more than a comparison at equality
FEW_ULP = 512  # what Mesa's folding of sin, inversesqrt ... may bring (test_random_chains.py)

Link = Callable[[Sequence[Code], bool, frozenset[str]], spvlink.Linked]


@dataclass
class Verdict:
    """What became of one pipeline in one mode. findings: (kind, line)."""

    mode: str
    outcome: str = ""
    reason: str = ""
    findings: list[tuple[str, str]] = field(default_factory=list)
    modules: list[bytes] = field(default_factory=list)  # of a linked pipeline
    seconds: float = 0.0  # of processor time, for the first link
    drawn: str = ""  # '', EQUAL, FOLDED, DIFFERENT or why it was not drawn


def link(codes: Sequence[Code], exact: bool, disable: frozenset[str]) -> spvlink.Linked:
    options = spvlink.Options()
    options.exact, options.disable, options.validate = exact, disable, False
    return spvlink.link([spvlink.Source(data, entry=entry) for data, entry in codes], options)


def check(
    codes: Sequence[Code], mode: str, drawing: bool, validator: str | None, linker: Link = link
) -> Verdict:
    """``validator``: a second spirv-val beside the one in PATH."""
    verdict = Verdict(mode)
    judge = _Judge(validator)
    begin = time.process_time()
    try:
        linked = linker(codes, mode == EXACT, frozenset())
    except spvlink.BadSpirv as error:
        verdict.outcome, verdict.reason = REFUSED, str(error)
        if not any(judge.complaints([data for data, _ in codes])):
            verdict.findings.append((REFUSED_VALID, str(error)))
        return verdict
    verdict.seconds = time.process_time() - begin
    new = [stage.data for stage in linked.stages]
    if linked.defect is not None:
        verdict.outcome, verdict.reason = DEFECT, linked.defect
        verdict.findings.append((DEFECT, linked.defect))
        return verdict
    if linked.passed_through is not None:
        why = linked.passed_through
        verdict.outcome, verdict.reason = (NOTHING, "") if why == NOTHING else (PASSED, why)
        if new != [data for data, _ in codes]:
            verdict.findings.append((DEFECT, "passed through with other bytes"))
        return verdict
    verdict.outcome, verdict.modules = LINKED, new
    _look(codes, linked, judge, verdict, linker)
    if drawing and not any(kind == INVALID for kind, _ in verdict.findings):
        _draw(codes, verdict, linker)
    return verdict


def _named(codes: Sequence[Code], new: Sequence[bytes]) -> list[Code]:
    return [(data, entry) for data, (_, entry) in zip(new, codes)]


def _look(
    codes: Sequence[Code], linked: spvlink.Linked, judge: _Judge, verdict: Verdict, linker: Link
) -> None:
    """Everything that can be said without drawing."""
    new, found = verdict.modules, verdict.findings
    for number, said in enumerate(judge.complaints(new)):
        if said is not None and judge.complaints([codes[number][0]]) == [None]:
            found.append((INVALID, f"{linked.stages[number].stage}: {said}"))
    for stage, (old, _), data in zip(linked.stages, codes, new):
        if old != data and (lost := astray(data)) and not astray(old):
            found.append((INVALID, f"{stage.stage}: images of other blocks are used: {lost}"))
    try:
        if not mismatches(codes):
            found += [(BORDER, problem) for problem in mismatches(_named(codes, new))]
    except (CannotDraw, KeyError, IndexError, ValueError, AssertionError):
        pass  # the small reflection does not know all types
    for border in linked.interfaces:
        for what, (old, now) in (
            ("components", border.components),
            ("Locations", border.locations),
        ):
            if now > old:
                where = f"{border.producer}->{border.consumer}"
                found.append((GROWS, f"{where}: {what} {old} -> {now}"))
    again = linker(_named(codes, new), verdict.mode == EXACT, frozenset())
    if again.defect is not None:
        found.append((DEFECT, f"the second time: {again.defect}"))
    elif [stage.data for stage in again.stages] != new:
        found.append((TWICE, _sizes(again)))
    found += _debug(codes, new, verdict.mode == EXACT, linker)


def _debug(
    codes: Sequence[Code], new: Sequence[bytes], exact: bool, linker: Link
) -> list[tuple[str, str]]:
    """Debug information changes no code."""
    plain = [(stripped(data), entry) for data, entry in codes]
    if plain == list(codes) or any(b"NonSemantic.DebugPrintf" in data for data, _ in codes):
        return []
    same = linker(plain, exact, frozenset())
    return [
        (DEBUG, stage.stage)
        for stage, data in zip(same.stages, new)
        if shape(stage.data) != shape(data)
    ]


def _sizes(linked: spvlink.Linked) -> str:
    """What a second link brought."""
    words = [
        f"{s.stage} {s.body[0]} -> {s.body[1]} instructions, {s.bytes[0]} -> {s.bytes[1]} bytes"
        for s in linked.stages
        if s.changed
    ]
    for border in linked.interfaces:
        if border.components[0] != border.components[1]:
            words.append(f"{border.components[0]} -> {border.components[1]} components")
    return "; ".join(words)


class _Judge:
    """spirv-val of PATH and perhaps a second, newer one."""

    def __init__(self, other: str | None) -> None:
        self.other = other

    def complaints(self, modules: Sequence[bytes]) -> list[str | None]:
        """The first complaint about each module, of either; None where neither has any."""
        versions = [int.from_bytes(data[4:8], "little") for data in modules]
        environment = validate.lowest_env(versions)
        said = [
            None if one is not None and validate.too_old(one) else one
            for one in validate.validate_all(modules, environment)
        ]
        if self.other is not None:
            for number, data in enumerate(modules):
                said[number] = said[number] or self._second(self.other, data, environment)
        return said

    @staticmethod
    def _second(program: str, data: bytes, environment: str) -> str | None:
        flags = ["--scalar-block-layout", "--workgroup-scalar-block-layout", "--allow-localsizeid"]
        command = [program, "--target-env", environment, *flags, "-"]
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode == 0:
            return None
        lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
        errors = [line for line in lines if line.startswith("error")]
        return "newer: " + (errors or lines or [f"exit status {done.returncode}"])[0]


# --- drawing ---


def draws(codes: Sequence[Code]) -> str:
    """Draws the original alone: '' or why it cannot be drawn. May crash or hang."""
    try:
        draw_covering(codes)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _draw(codes: Sequence[Code], verdict: Verdict, linker: Link) -> None:
    try:
        scene, before = draw_covering(codes)
    except CannotDraw as reason:
        verdict.drawn = f"not drawn: {reason}"
        return
    except Exception as error:  # of vulkan, of the driver, of a reflection that knows too little
        verdict.drawn = f"original not drawn: {type(error).__name__} {error}"
        return
    if before.distinct < 2 and not before.captured:
        verdict.drawn = "not drawn: one colour or nothing"
        return

    def different(new: Sequence[bytes]) -> str:
        return _different(_canonical(before), _canonical(draw(_named(codes, new), scene)), exact)

    exact = verdict.mode == EXACT
    try:
        said = different(verdict.modules)
        verdict.drawn = EQUAL
        if not said:
            return
        if _different(before, _canonical(draw(codes, scene)), True):
            verdict.drawn = "not drawn: the original differs from draw to draw"
            return
        if said.startswith(_FEW):
            unmoved = linker(codes, exact, frozenset({"propagate"}))
            if not different([stage.data for stage in unmoved.stages]):
                verdict.drawn = FOLDED
                return
    except Exception as error:
        said = f"the linked one is not drawn: {type(error).__name__} {error}"
    verdict.drawn = DIFFERENT
    verdict.findings.append((DIFFERENT, said))


_FEW = "by little: "


def _different(before: Result, after: Result, exact: bool) -> str:
    """'' or what differs: every bit, or more than rounding explains."""
    difference = compare(before, after)
    if not difference:
        return ""
    if exact:
        floats = all(where.startswith("image color") for where in difference.where)
        few = floats and _farthest(before, after) <= FEW_ULP
        return f"{_FEW if few else ''}{difference}"
    shares = {name: _share(old, after.images[name]) for name, old in before.images.items()}
    name, most = max(shares.items(), key=lambda item: item[1])
    return f"{most:.1%} of {name} is off" if most > TIPPED else ""


def _farthest(before: Result, after: Result) -> int:
    """ULPs, over all float images."""
    return max(
        (
            max_ulp(old, after.images[n])
            for n, old in before.images.items()
            if old.dtype.kind == "f"
        ),
        default=0,
    )


def _share(old: NDArray[np.generic], new: NDArray[np.generic]) -> float:
    """How much of an image is off by more than rounding."""
    if old.dtype.kind != "f":
        return float(np.mean(old != new))
    a, b = old.astype(np.float64), new.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= TOLERANCE * np.maximum(1.0, np.abs(a))
    return float(np.mean(~(near | (a == b) | (np.isnan(a) & np.isnan(b)))))


def _canonical(result: Result) -> Result:
    """Which NaN an operation gives is not specified, nor is the sign of a zero."""
    for image in result.images.values():
        if image.dtype.kind == "f":
            image[np.isnan(image)] = np.nan
            image[image == 0.0] = 0.0
    return result


def plain(reason: str) -> str:
    """A reason without ids, numbers and names, to count by."""
    reason = re.sub(r"'[^']*'", "'...'", reason)
    reason = re.sub(r"%\w+(\[%\w+\])?", "%N", reason)
    reason = re.sub(r"\bset \d+, binding \d+", "set N, binding N", reason)
    return re.sub(r"\d+", "N", reason)[:110]
