"""spirv-val on what goes out.

The flags are as permissive about memory layout as a device may be. Linking never touches the layout
of a buffer, so strictness there could only refuse valid shaders for features that a module cannot
declare:

* ``--scalar-block-layout``, ``--workgroup-scalar-block-layout``: VK_EXT_scalar_block_layout and
  VK_KHR_workgroup_memory_explicit_layout (relaxed layout and the standard layout of uniform
  buffers are contained in them);
* ``--allow-localsizeid``: VK_KHR_maintenance4.

Slang's modules name a source language (11) that validators before 2024 do not know. The number has
no meaning for any other instruction, so such a validator gets a copy that says "unknown".
"""

from __future__ import annotations

from spvlink import spawn
from spvlink.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Any, Final, Literal

PROGRAM: Final = "spirv-val"
PACKAGE: Final = "spirv-tools"
ENVIRONMENTS: Final = (
    "vulkan1.0", "vulkan1.1", "vulkan1.1spv1.4", "vulkan1.2", "vulkan1.3", "vulkan1.4",
)  # fmt: skip
_FLAGS: Final = ("--scalar-block-layout", "--workgroup-scalar-block-layout", "--allow-localsizeid")

# The newest SPIR-V (minor version) that each environment takes, lowest environment first.
_NEWEST: Final = (
    (0, "vulkan1.0"), (3, "vulkan1.1"), (4, "vulkan1.1spv1.4"), (5, "vulkan1.2"), (6, "vulkan1.3"),
)  # fmt: skip

# What spirv-val says about things that are newer than itself (or in no version at all, which our
# own decoder has ruled out before).
_TOO_OLD: Final = (
    "Unrecognized target env",
    "Invalid opcode",
    "Invalid capability operand",
    "Invalid source language operand",
    "Invalid decoration operand",
    "Invalid built-in operand",
    "Invalid execution mode operand",
    "Invalid execution model operand",
    "Invalid storage class operand",
    "Invalid addressing model operand",
    "Invalid memory model operand",
    "Invalid image operand",
    "Invalid memory access operand",
    "Invalid loop control operand",
    "Invalid function control operand",
    "Invalid floating-point fast math mode operand",
    "Invalid SPIR-V version",
    "Invalid extended instruction import",
    "Invalid extended instruction number",
    "Unknown SPIR-V version",
    "requires SPIR-V version",  # an enumerant that later became part of older versions
    "requires one of these extensions",  # its extension got a second name
    "is not supported by this version",
)
# How it begins what it says about debug information. Validators differ in what they want of that.
_ABOUT_DEBUG: Final = ("NonSemantic.", "OpenCL.DebugInfo.100", "ebug info extension")
_SOURCE_LANGUAGE: Final = "Invalid source language operand"
_OP_SOURCE: Final = 3
_MAGIC: Final = 0x07230203

# A ``valid_modules.ValidModules`` where one process links much: what needs no process of spirv-val.
known: Any = None


def available() -> bool:
    """Whether spirv-val is in PATH."""
    return spawn.find(PROGRAM) is not None


def missing() -> Usage:
    """The error that says how to get spirv-val."""
    return Usage(
        f"{PROGRAM} is not installed: it is in the package {PACKAGE} of Debian and Ubuntu;"
        " --no-validate does without it"
    )


def lowest_env(versions: Sequence[int]) -> str:
    """The lowest environment for modules of these versions, as the header has them (0x00010300)."""
    minor = max([version >> 8 & 0xFF for version in versions], default=0)
    for newest, name in _NEWEST:
        if minor <= newest:
            return name
    return _NEWEST[-1][1]


def too_old(message: str) -> bool:
    """Whether a refusal means that this spirv-val does not know what the module uses."""
    return any(part in message for part in _TOO_OLD)


def about_debug(message: str) -> bool:
    """Whether a refusal is about instructions that only describe."""
    return any(part in message for part in _ABOUT_DEBUG)


def validate(data: bytes, target_env: str) -> str | None:
    """None if spirv-val accepts the module, else the first line of its complaint."""
    return validate_all([data], target_env)[0]


def validate_all(modules: Sequence[bytes], target_env: str) -> list[str | None]:
    """``validate`` of all modules side by side: a process costs some milliseconds. Raises Usage if
    spirv-val is not there."""
    if known is None:
        return _ask(modules, target_env)
    messages: list[str | None] = [None] * len(modules)
    rest = [at for at, data in enumerate(modules) if not known.has(data, target_env)]
    for at, message in zip(rest, _ask([modules[at] for at in rest], target_env)):
        messages[at] = message
        if message is None:
            known.add(modules[at], target_env)
    return messages


def _ask(modules: Sequence[bytes], target_env: str) -> list[str | None]:
    messages = _run(modules, target_env, _FLAGS)
    if any(message is not None and "Unrecognized" in message for message in messages):
        messages = _run(modules, target_env, ())  # a spirv-val that lacks one of the flags
    again = [
        index
        for index, message in enumerate(messages)
        if message is not None and _SOURCE_LANGUAGE in message
    ]
    if again:
        copies = [language_unknown(modules[index]) for index in again]
        for index, message in zip(again, _run(copies, target_env, _FLAGS)):
            messages[index] = message
    return messages


def _run(modules: Sequence[bytes], target_env: str, flags: Sequence[str]) -> list[str | None]:
    command = [PROGRAM, "--target-env", target_env, *flags, "-"]
    try:
        results = spawn.run_all([(command, data) for data in modules])
    except FileNotFoundError:
        raise missing() from None
    return [None if status == 0 else _first_line(status, output) for status, output in results]


def _first_line(status: int, output: bytes) -> str:
    if status < 0:
        return f"{PROGRAM} died of signal {-status}"
    for line in output.decode("utf-8", "replace").splitlines():
        if line.strip() and not line.startswith("warning:"):
            return line.strip().removeprefix("error: ")
    return f"{PROGRAM} failed with exit status {status} and said nothing"


def language_unknown(data: bytes) -> bytes:
    """A copy in which every OpSource says language 0 (unknown)."""
    order: Literal["little", "big"]
    order = "little" if int.from_bytes(data[:4], "little") == _MAGIC else "big"
    copy = bytearray(data)
    at = 20
    while at + 8 <= len(copy):
        first = int.from_bytes(copy[at : at + 4], order)
        if first >> 16 == 0:
            break
        if first & 0xFFFF == _OP_SOURCE:
            copy[at + 4 : at + 8] = bytes(4)
        at += (first >> 16) * 4
    return bytes(copy)
