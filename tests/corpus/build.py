"""Shaders become modules, and modules pipelines: each stage that nobody wrote gets a partner."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spvlink.draw import CannotDraw, mismatches
from spvlink.draw.reflect import (
    FRAGMENT,
    GEOMETRY,
    MESH,
    TASK,
    TESS_CONTROL,
    TESS_EVALUATION,
    VERTEX,
    ReadStage,
    parse,
)

from .partner import NoPartner, after, before
from .shader import Group, Shader

Code = tuple[bytes, str]  # a module and the name of its entry point

MODELS = {
    VERTEX: "vert",
    TESS_CONTROL: "tesc",
    TESS_EVALUATION: "tese",
    GEOMETRY: "geom",
    TASK: "task",
    MESH: "mesh",
    FRAGMENT: "frag",
}
_ORDER = list(MODELS)
_NEEDED_BEFORE = {TESS_CONTROL: VERTEX, GEOMETRY: VERTEX, FRAGMENT: VERTEX}
_COMPUTE = 5
# Newer environments only for what the oldest does not take.
_ATTEMPTS = (
    ("vulkan1.1", ()),
    ("vulkan1.3", ("--amb", "--aml", "-R")),
)
# A shader may take includes for granted, as the compilers of most projects allow them.
_INCLUDING = re.compile(rb"^#version.*\n(?=(?:.*\n)*#include)", re.MULTILINE)
_INCLUDES = b"#extension GL_GOOGLE_include_directive : enable\n"
_TIMEOUT = 20.0  # seconds a compiler may take


class Skipped(Exception):
    """No pipeline can be made of this; the message is the reason."""


@dataclass(frozen=True)
class Pipeline:
    """Modules of one pipeline in its order. made: the stages that `partner` wrote."""

    origin: str
    name: str
    codes: tuple[Code, ...]
    stages: tuple[str, ...]
    made: tuple[str, ...] = ()


def run(command: list[str], data: bytes | None = None) -> tuple[int, bytes]:
    """Exit status and all that was said; a command that takes too long has status 124."""
    try:
        done = subprocess.run(
            command,
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, b""
    return done.returncode, done.stdout


# --- one module ---


def compiled(shader: Shader, folder: Path, debug: bool = False) -> bytes:
    """The module of a shader. ``debug``: GLSL with debug information. Raises Skipped."""
    if shader.kind == "spv":
        return shader.data
    out = folder / "out.spv"
    out.unlink(missing_ok=True)
    if shader.kind == "asm":
        return _assembled(shader, out)
    source = folder / f"source.{shader.stage}"
    source.write_bytes(_INCLUDING.sub(rb"\g<0>" + _INCLUDES, shader.data, count=1))
    for environment, more in _ATTEMPTS:
        environment = shader.environment or environment
        target = environment if environment.startswith(("vulkan", "spirv")) else "vulkan1.3"
        if environment.startswith("spv"):
            target = "spirv" + environment[3:]
        command = ["glslangValidator", "--quiet", "-S", shader.stage, "--target-env", target, *more]
        command += ["-D", "-e", "main"] if shader.kind == "hlsl" else ["-gVS" if debug else "-V"]
        command += [f"-I{shader.path.parent}", "-o", str(out), str(source)]
        status, _ = run(command)
        if status == 0 and out.exists():
            return out.read_bytes()
    raise Skipped("glslangValidator does not compile it")


def _assembled(shader: Shader, out: Path) -> bytes:
    models = set(re.findall(rb"\bOpEntryPoint +(\w+)", shader.data))
    if models and models <= {b"GLCompute", b"Kernel"}:
        raise Skipped("compute only")
    found = re.search(rb"^; *Version: *1\.(\d)", shader.data, re.MULTILINE)
    target = shader.environment or (f"spv1.{found[1].decode()}" if found else "spv1.0")
    status, _ = run(["spirv-as", "--target-env", target, "-", "-o", str(out)], shader.data)
    if status or not out.exists():
        raise Skipped("spirv-as does not assemble it")
    return out.read_bytes()


def entries(data: bytes) -> list[tuple[int, str]]:
    """(execution model, name) of each entry point of a graphics stage. Raises Skipped."""
    try:
        module = parse(data)
    except (CannotDraw, IndexError, ValueError, KeyError) as error:
        raise Skipped(f"not read: {type(error).__name__}") from None
    found = [(model, name) for model, _, name, _ in module.entries if model in MODELS]
    if not found:
        models = {model for model, *_ in module.entries}
        raise Skipped("compute only" if models == {_COMPUTE} else "no graphics stage")
    return found


# --- pipelines ---


def pipelines(
    group: Group, folder: Path, seed: int = 0, debug: bool = False
) -> Iterator[Pipeline | Skipped]:
    """The pipelines of a group, or why a part of it gives none. seed: of the partners; debug: with
    debug information where GLSL is compiled here."""
    codes: dict[int, list[Code]] = {}
    for shader in group.shaders:
        try:
            data = compiled(shader, folder, debug)
            for model, name in entries(data):
                codes.setdefault(model, []).append((data, name))
        except Skipped as reason:
            yield reason
    for chain in _chains(codes):
        try:
            yield _completed(group, chain, folder, seed)
        except Skipped as reason:
            yield reason


def _chains(codes: dict[int, list[Code]]) -> Iterator[dict[int, Code]]:
    """Stages that fit together; what fits nothing stands alone."""
    single = all(len(several) == 1 for several in codes.values())
    if single and len(codes) > 1:
        chain = {model: several[0] for model, several in codes.items()}
        if _combined(chain) and _fit(chain):
            yield chain
            return
    vertices, fragments = codes.get(VERTEX, []), codes.get(FRAGMENT, [])
    used: set[tuple[int, Code]] = set()
    for fragment in fragments:
        for vertex in vertices:
            if _fit({VERTEX: vertex, FRAGMENT: fragment}):
                yield {VERTEX: vertex, FRAGMENT: fragment}
                used |= {(VERTEX, vertex), (FRAGMENT, fragment)}
                break
    for model, several in codes.items():
        for code in several:
            if (model, code) not in used:
                yield {model: code}


def _combined(chain: dict[int, Code]) -> bool:
    """Whether Vulkan has pipelines of these stages (others may be missing still)."""
    meshes = {TASK, MESH} & chain.keys()
    return not meshes or not chain.keys() - {TASK, MESH, FRAGMENT}


def _fit(chain: dict[int, Code]) -> bool:
    """No input without an output; neighbours only: a missing stage between them fits anything."""
    models = [m for m in _ORDER if m in chain]
    if TESS_CONTROL in chain and TESS_EVALUATION not in chain:
        return False
    if TESS_EVALUATION in chain and TESS_CONTROL not in chain:
        return False
    if not {VERTEX, MESH} & chain.keys():
        return len(chain) == 1
    try:
        return not mismatches([chain[m] for m in models])
    except (CannotDraw, KeyError, IndexError, ValueError, AssertionError):
        return False


def _completed(group: Group, chain: dict[int, Code], folder: Path, seed: int) -> Pipeline:
    """The chain with partners for the stages that it lacks. Raises Skipped."""
    made: list[str] = []
    names = "+".join(name for _, (_, name) in sorted(chain.items()) if name != "main")
    name = group.name + (f"[{names}]" if names else "")
    r = random.Random(f"{seed}/{group.origin}/{name}")

    def add(model: int, text: str, like: ReadStage) -> None:
        chain[model] = (_partner(text, MODELS[model], like, folder), "main")
        made.append(MODELS[model])

    try:
        if TESS_EVALUATION in chain and TESS_CONTROL not in chain:
            tese = ReadStage(*chain[TESS_EVALUATION])
            add(TESS_CONTROL, before(tese, TESS_CONTROL, r), tese)
        if TESS_CONTROL in chain and TESS_EVALUATION not in chain:
            tesc = ReadStage(*chain[TESS_CONTROL])
            add(TESS_EVALUATION, after(tesc, TESS_EVALUATION, r), tesc)
        if TASK in chain and MESH not in chain:
            raise Skipped("a task shader without its mesh shader")
        if not {VERTEX, MESH} & chain.keys():
            first = ReadStage(*chain[min(chain, key=_ORDER.index)])
            add(VERTEX, before(first, VERTEX, r), first)
        if FRAGMENT not in chain:
            last = ReadStage(*chain[max(chain, key=_ORDER.index)])
            add(FRAGMENT, after(last, FRAGMENT, r), last)
    except NoPartner as reason:
        raise Skipped(f"no partner: {reason}") from None
    except (CannotDraw, KeyError, IndexError, ValueError, AssertionError) as error:
        raise Skipped(f"no partner: {type(error).__name__} {error}") from None
    models = [m for m in _ORDER if m in chain]
    if len(chain) > 1 and not _fit(chain):
        raise Skipped("the stages do not fit")
    codes, stages = tuple(chain[m] for m in models), tuple(MODELS[m] for m in models)
    return Pipeline(group.origin, name, codes, stages, tuple(made))


_ENVIRONMENTS = ("spirv1.0", "spirv1.1", "spirv1.2", "spirv1.3", "spirv1.4", "spirv1.5", "spirv1.6")


def _partner(text: str, stage: str, like: ReadStage, folder: Path) -> bytes:
    """A partner's module, of the SPIR-V version that the other one has."""
    minor = like.module.version >> 8 & 0xFF
    source, out = folder / f"partner.{stage}", folder / "partner.spv"
    source.write_text(text)
    out.unlink(missing_ok=True)
    target = _ENVIRONMENTS[min(minor, len(_ENVIRONMENTS) - 1)]
    command = ["glslangValidator", "--quiet", "-V", "--target-env", "vulkan1.0"]
    status, said = run([*command, "--target-env", target, "-o", str(out), str(source)])
    if status or not out.exists():
        lines = said.decode(errors="replace").replace(str(source), "").splitlines()
        errors = [line for line in lines if line.startswith("ERROR: :")] or [f"status {status}"]
        raise NoPartner(f"not compiled ({errors[0]})")
    return out.read_bytes()
