"""From STAGE_FILE arguments to modules: SPIR-V files, standard input, GLSL and HLSL."""

from __future__ import annotations

import os
import sys

from spvlink import spawn
from spvlink.errors import BadSpirv, Usage
from spvlink.pipeline import STAGES, Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Sequence
    from typing import Final

    Given = Source | bytes | bytearray | memoryview | str | os.PathLike[str]

LIMIT: Final = 32 << 20  # bytes of one module: a guard against devices and wrong files
COMPILER: Final = "glslangValidator"
PACKAGE: Final = "glslang-tools"
SUFFIXES: Final = (".vert", ".tesc", ".tese", ".geom", ".task", ".mesh", ".frag")
_NO_ENTRY: Final = b"Entry point not found"  # what the compiler says of HLSL without it
_MAGIC: Final = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
_LANGUAGES: Final = (".fx", ".fs", ".metal", ".ps", ".slang", ".vs", ".wgsl")
_NEED_1_4: Final = (".task", ".mesh")


class Argument:
    """One STAGE_FILE of the command line.

    ``text`` as written, ``path`` the file ("-": standard input), ``entry`` the entry point or None,
    ``entry_stage`` its stage ("frag") if that is said or "", ``stage`` the suffix of a file to
    compile (".frag") or "", ``hlsl`` if it is HLSL.
    """

    __slots__ = ("entry", "entry_stage", "hlsl", "path", "stage", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.path, self.entry, self.entry_stage = _split(text)
        stem, suffix = os.path.splitext(self.path)
        self.hlsl = suffix == ".hlsl"
        if suffix in (".hlsl", ".glsl"):
            language, suffix = suffix, os.path.splitext(stem)[1]
            if self.entry_stage:  # one file may have the entry points of several stages
                suffix = f".{self.entry_stage}"
            elif suffix not in SUFFIXES:
                how = f"name it like file.frag{language}, or say file{language}:ENTRY_NAME:frag"
                raise Usage(f"{text}: which stage? {how}")
        elif suffix in SUFFIXES and self.entry_stage:
            raise Usage(f"{text}: the stage of a source file is in its name")
        self.stage = suffix if suffix in SUFFIXES else ""

    @property
    def name(self) -> str:
        """The file name that the linked module gets."""
        if self.path == "-":
            return "stdin.spv"
        base = os.path.basename(self.path)
        return base + ".spv" if self.stage else base


def _split(text: str) -> tuple[str, str | None, str]:
    """FILE:ENTRY, unless a file of the whole name exists; FILE:ENTRY:STAGE, unless FILE:ENTRY is a
    file."""
    if "\0" in text:
        raise Usage(f"cannot read {text!r}: a nul in the name")
    path, colon, entry = text.rpartition(":")
    if not colon or os.path.lexists(text):
        return text, None, ""
    if not path or not entry:
        raise Usage(f"{text}: expected FILE:ENTRY_NAME")
    file, colon, name = path.rpartition(":")
    if file and name and entry in STAGES.values() and not os.path.lexists(path):
        return file, name, entry
    return path, entry, ""


def check_files(arguments: Sequence[Argument]) -> None:
    """Raise Usage if two mean the same stage, or two are standard input."""
    seen: set[tuple[str, str | None, str]] = set()
    for argument in arguments:
        key = argument.path, argument.entry, argument.entry_stage
        if key in seen:
            how = ": say FILE:ENTRY_NAME:STAGE each time" if argument.entry else ""
            raise Usage(f"{argument.text} is given twice{how}")
        seen.add(key)
    if sum(argument.path == "-" for argument in arguments) > 1:
        raise Usage("standard input (-) can be read once only")


def read_all(arguments: Sequence[Argument], target_env: str | None) -> list[Source]:
    """Read or compile all. Raises Usage (cannot be read) and BadSpirv (does not compile)."""
    compiled = compile_all([a for a in arguments if a.stage], target_env)
    sources = []
    for argument in arguments:
        if argument.stage:
            # The compiler names every entry point of the module that it makes.
            sources.append(Source(compiled[argument.text], argument.text))
        else:
            data = _read(argument.path, argument.text)
            sources.append(Source(data, argument.text, argument.entry, argument.entry_stage))
    return sources


def sources_of(stages: Iterable[Given], target_env: str | None = None) -> list[Source]:
    """The modules that a Python caller gives: each bytes (or what has them: bytearray, memoryview),
    a ``Source``, a path, or text as on the command line (``a.spv:main``; GLSL is compiled).

    Raises TypeError for anything else, Usage if there are none or a file cannot be read, BadSpirv.
    """
    one = isinstance(stages, (str, bytes, bytearray, memoryview, dict, os.PathLike, Source))
    if one or not hasattr(stages, "__iter__"):
        kind = type(stages).__name__
        raise TypeError(f"expected a list of modules, as in link([vertex, fragment]), not {kind}")
    given = list(stages)
    if not given:
        raise Usage("there are no stages to link")
    words = [stage for stage in given if isinstance(stage, str)]
    read = dict(zip(words, read_all([Argument(word) for word in words], target_env)))
    return [read[s] if isinstance(s, str) else _source(s, at) for at, s in enumerate(given)]


def _source(stage: Given, at: int) -> Source:
    if isinstance(stage, Source):
        return stage
    if isinstance(stage, (bytes, bytearray, memoryview)):
        return Source(bytes(stage))
    if isinstance(stage, os.PathLike):
        path = os.fspath(stage)
        return Source(_read(path, path), path)
    kind = type(stage).__name__
    raise TypeError(f"stage {at}: expected bytes, a path or a spvlink.Source, not {kind}")


def _read(path: str, text: str) -> bytes:
    """The module of a file, or of standard input; ``text`` names it in errors."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LIMIT + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(LIMIT + 1)
    except OSError as error:
        raise Usage(f"{path}: cannot read it: {error.strerror}") from None
    trouble = ""
    if len(data) > LIMIT:
        trouble = f"more than {LIMIT} bytes, which is beyond spvlink"
    elif data and data[:4] not in _MAGIC and _is_text(data[:512]):
        trouble = f"not SPIR-V but text{_hint(path, data)}"
    if trouble:
        bad = BadSpirv(trouble)
        bad.file = text
        raise bad
    return data


def _is_text(start: bytes) -> bool:
    """Whether this is UTF-8, the last letter of which may be cut, without control characters."""
    text = start.decode("utf-8", "replace")
    return "\ufffd" not in text[:-1] and all(c.isprintable() or c.isspace() for c in text[:-1])


def _hint(path: str, text: bytes) -> str:
    """What to do with a text file that was given as a module."""
    stem, suffix = os.path.splitext(os.path.basename(path))
    if b"OpCapability" in text:
        return ": assemble it with spirv-as"
    if b"0x07230203" in text or b"119734787" in text:
        return ": give the module that this C array was made of"
    if b"void main" in text:
        return f": GLSL files are called {stem}.vert, .frag and so on"
    return ": compile it first" if suffix in _LANGUAGES else ""


def compile_all(arguments: Sequence[Argument], target_env: str | None) -> dict[str, bytes]:
    """Compile GLSL and HLSL files side by side; text of the argument -> module."""
    if not arguments:
        return {}
    import tempfile

    with tempfile.TemporaryDirectory(prefix="spvlink-") as folder:
        outputs = [os.path.join(folder, f"{index}.spv") for index in range(len(arguments))]
        commands = [_command(a, output, target_env) for a, output in zip(arguments, outputs)]
        try:
            results = spawn.run_all([(command, b"") for command in commands])
        except FileNotFoundError:
            raise Usage(
                f"{arguments[0].path}: compiling it needs {COMPILER}, which is not installed:"
                f" it is in the package {PACKAGE} of Debian and Ubuntu"
            ) from None
        modules = {}
        for argument, output, (status, said) in zip(arguments, outputs, results):
            if status != 0 or not os.path.exists(output):
                place, message = _complaint(status, said, argument.path)
                error = BadSpirv(message)
                error.file = place
                raise error.while_(f"compiling with {COMPILER}")
            if _NO_ENTRY in said:  # it warns, and makes a module that does nothing
                error = BadSpirv(f"there is no entry point {argument.entry or 'main'}: name one as"
                    f" {argument.path}:ENTRY_NAME")  # fmt: skip
                error.file = argument.path
                raise error.while_(f"compiling the {argument.stage[1:]} stage with {COMPILER}")
            with open(output, "rb") as file:
                modules[argument.text] = file.read()
        return modules


def _command(argument: Argument, output: str, target_env: str | None) -> list[str]:
    if not os.path.isfile(argument.path):
        why = "Is a directory" if os.path.isdir(argument.path) else "No such file or directory"
        raise Usage(f"{argument.path}: cannot read it: {why}")
    if target_env is None:
        target_env = "vulkan1.2" if argument.stage in _NEED_1_4 else "vulkan1.0"
    command = [COMPILER, "-V", "--target-env", target_env, "-S", argument.stage[1:], "-o", output]
    if argument.hlsl:
        command += ["-D", "-e", argument.entry or "main"]
    elif argument.entry not in (None, "main"):
        raise Usage(f"{argument.text}: the entry point of a GLSL file is main")
    return [*command, argument.path]


def _complaint(status: int, said: bytes, path: str) -> tuple[str, str]:
    """``FILE:LINE`` and the message of the compiler's first error, which prints it as
    ``ERROR: x.vert:7: 'x' : undeclared identifier``; the file may be one that is included."""
    if status < 0:
        return path, f"the compiler died of signal {-status}"
    for line in said.decode("utf-8", "replace").splitlines():
        if not line.startswith("ERROR:"):
            continue
        line = line.removeprefix("ERROR:").strip()
        place, colon, message = line.partition(": ")
        file, _, number = place.rpartition(":")
        if colon and number.isdigit():
            return f"{file or path}:{number}", message.strip()
        return path, line
    return path, f"the compiler failed with exit status {status} and said nothing"
