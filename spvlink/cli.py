"""Run the command ``spvlink``; ``arguments.HELP_ALL`` says what it promises.

Imports are few and late, because a link takes milliseconds and so does every module of Python's
library.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from spvlink import output, pipeline, report, sources, validate
from spvlink.arguments import HELP, HELP_ALL, OVERVIEW, Command, parse, passes
from spvlink.driver import link
from spvlink.errors import Broken, Refused, SpvlinkError, Usage, Worse, meant
from spvlink.options import Options
from spvlink.pipeline import Flaw, Linked, Source, StageResult

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Iterable, Sequence

COMMANDS = (
    "link",
    "batch",
    "merge",
    "check",
    "verify",
    "layer",
    "library",
    "passes",
    "cmake-dir",
    "completions",
    "serve",
)
DONE, INVALID, USAGE, DEFECT, WORSE, INTERRUPTED = 0, 1, 2, 3, 4, 130
ALL = "--help-all"
SEE = "spvlink --help"


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    collecting = gc.isenabled()
    gc.disable()  # a short life: what is made is kept to the end anyway
    try:
        return _main(sys.argv[1:] if words is None else words)
    except SpvlinkError as error:
        _complain(error)
        if isinstance(error, Usage):
            return USAGE
        return DEFECT if isinstance(error, Broken) else INVALID
    except KeyboardInterrupt as error:
        if error.args:
            _print_error([f"spvlink: interrupted: {error}"])
        return INTERRUPTED
    finally:
        if collecting:
            gc.enable()


def process() -> None:
    """The process ``spvlink``. It ends at once: to take apart all that was imported and made would
    take as long as it takes Python to start."""
    status = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = status or USAGE
    os._exit(status)


def _main(words: Sequence[str]) -> int:
    if not words:
        raise Usage(f"what is to be done? see {SEE}")
    command, rest = words[0], words[1:]
    if command in ("layer", "library", "serve"):
        if sys.platform == "linux":
            if command == "library":
                from spvlink import __version__
                from spvlink.library.build import main as library

                return _print(library(rest, __version__))
            from spvlink.layer.command import main as layer

            return _print(layer(words))
        raise Usage(f"{command} needs Linux")
    if command in ("batch", "merge"):
        return _batch(list(rest), command == "merge")
    if command == "check":
        return _check(list(rest))
    if command == "verify":
        return _verify(list(rest))
    if command in ("--help", "-h", "help"):
        return _print(OVERVIEW)
    if ALL in words:
        return _print(HELP_ALL)
    if "--help" in words or "-h" in words:
        return _print(HELP)
    if command in ("--version", "-V"):
        from spvlink import COMPILED, __version__

        return _print(f"spvlink {__version__}{' (compiled)' if COMPILED else ''}\n")
    if command == "passes":
        if rest:
            raise Usage("passes takes no arguments")
        return _print("".join(f"{name:28} {line}\n" for name, line in passes().items()))
    if command == "cmake-dir":
        if rest:
            raise Usage("cmake-dir takes no arguments")
        return _print(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cmake") + "\n")
    if command == "completions":
        from spvlink.completions import completions

        if len(rest) != 1:
            raise Usage("completions takes the name of a shell: bash, zsh or fish")
        return _print(completions(rest[0], COMMANDS))
    if command == "link":
        return _link(parse(rest))
    if command.startswith("-"):
        raise Usage(f"unknown option {command}; see {SEE}")
    like = meant(command, COMMANDS)
    known = f"{', '.join(COMMANDS[:-1])} and {COMMANDS[-1]}"
    raise Usage(f"unknown command {command}{like}: there are {known}; see {SEE}")


def _print(text: str) -> int:
    """Write to standard output; a reader that went away is no trouble of ours."""
    return _print_all((text,))


def _print_all(pieces: Iterable[str]) -> int:
    try:
        sys.stdout.writelines(pieces)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more at exit, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):
            raise Usage(f"standard output: {error.strerror}") from None
    return DONE


def _complain(error: SpvlinkError) -> None:
    where = f"{error.file}: " if error.file else ""
    lines = [f"spvlink: {_kind('error')}: {where}{error.message}{error.place}"]
    _print_error(lines + [f"  while {doing}" for doing in error.context])


def _print_error(lines: list[str]) -> None:
    try:
        print("\n".join(lines), file=sys.stderr, flush=True)
    except OSError:
        return  # the exit status says it too


def _kind(name: str) -> str:
    """``error`` or ``warning``, in colour on a terminal, unless NO_COLOR (no-color.org) is set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not sys.stderr.isatty():
        return name
    return f"\x1b[1;{31 if name == 'error' else 35}m{name}\x1b[0m"


def _link(command: Command) -> int:
    options = command.options
    names = _outputs(command)
    if command.layout is not None:
        from spvlink.layout import read_layout

        options.layout = read_layout(command.layout)
    if command.state is not None:
        from spvlink.state import read_state

        options.state = read_state(command.state)
    if options.validate and not validate.available():
        raise validate.missing()  # before any work, and also if there will be nothing to validate
    start = time.perf_counter()
    stages = sources.read_all(command.inputs, options.target_env)
    reading = time.perf_counter() - start
    _observe(command, stages)
    more: list[tuple[str, bytes]] = []
    if command.interface is None and command.write_interface is None:
        linked = _guarded(lambda: link(stages, options), stages, command.dump)
    else:
        linked = _guarded(lambda: _frozen(command, stages, more), stages, command.dump)
    linked.seconds = {"read": reading, **linked.seconds}
    if command.verify:
        linked = _verified(stages, linked, options)
    return _finish(command, linked, names, more)


def _verified(stages: list[Source], linked: Linked, options: Options) -> Linked:
    """Prove the result; a wrong one does not go out."""
    from spvlink.verifier.api import as_json, sentence, verify_link
    from spvlink.verifier.verdict import UNEQUAL

    verdict = verify_link(stages, linked.stages, options)
    if verdict.outcome == UNEQUAL:
        why = f"the result is another pipeline: {verdict.reason}"
        linked = _untouched(stages, f"a defect of spvlink: {why}", why)
    linked.verified = sentence(verdict), as_json(verdict)
    return linked


def _frozen(command: Command, stages: list[Source], more: list[tuple[str, bytes]]) -> Linked:
    """Link against an interface, or write one."""
    import json

    from spvlink.sets.contract import read
    from spvlink.sets.freeze import link_frozen

    known = read(command.interface) if command.interface is not None else None
    linked, document = link_frozen(stages, known, command.options)
    if command.write_interface is not None:
        text = json.dumps(document, indent=1) + "\n"
        more.append((command.write_interface, text.encode()))
    return linked


def _guarded(act: Callable[[], Linked], stages: list[Source], dump: str | None) -> Linked:
    """Link; an exception that nobody foresaw is a defect, and the inputs go through as they are."""
    try:
        return act()
    except Refused as error:
        return _untouched(stages, str(error), None)
    except Exception as error:
        if isinstance(error, SpvlinkError) and not isinstance(error, Broken):
            raise
        import traceback

        if dump is not None:
            text = traceback.format_exc()
            output.write_all([(os.path.join(dump, "defect.txt"), text.encode())])
        last = traceback.extract_tb(error.__traceback__)[-1]
        defect = (
            f"{type(error).__name__}: {error} (in {os.path.basename(last.filename)},"
            f" line {last.lineno}; --dump DIR writes the whole trace)"
        )
        return _untouched(stages, f"a defect of spvlink: {defect}", defect)


def _untouched(stages: list[Source], reason: str, defect: str | None) -> Linked:
    """The inputs as they are: the last resort where even the linker's own way out failed."""
    linked = Linked()
    linked.stay(pipeline.DEFECT, reason, defect)
    for source in stages:
        result = StageResult("unknown", source.file, source.data, False)
        result.bytes = (len(source.data), len(source.data))
        linked.stages.append(result)
    return linked


def _finish(
    command: Command, linked: Linked, names: dict[str, str], more: list[tuple[str, bytes]]
) -> int:
    """Write everything that was asked for; gives the exit status."""
    from spvlink import __version__

    strict, flawed = command.options.strict, bool(linked.warnings)
    refused = strict and linked.defect is None and (flawed or linked.passed_through is not None)
    files = [(names[stage.file], stage.data) for stage in linked.stages]
    if command.embed is not None:
        files += _embedded(command.embed, files)
    files = [] if refused else files + more
    text = report.to_json(linked, __version__) if command.report is not None else ""
    if command.report not in (None, "-"):
        files.append((str(command.report), text.encode()))
    page = _page(linked, __version__, command) if command.html is not None else ""
    if command.html not in (None, "-"):
        files.append((str(command.html), page.encode()))
    output.write_all(files)
    if command.report == "-":
        _print(text)
    if command.html == "-":
        _print(page)
    if command.explain:
        _print(report.explain(linked))
    elif linked.verified is not None and "-" not in (command.report, command.html):
        _print(linked.verified[0] + "\n")
    if command.time:
        sys.stderr.write(report.times(linked))
    _warn(linked.warnings, strict)
    if linked.defect is not None:
        error = Broken(f"a defect of spvlink: {linked.defect}")
        _complain(error.while_("linking; the inputs were passed through unchanged"))
        return DEFECT
    if refused and linked.passed_through is not None and not flawed:
        _complain(SpvlinkError(f"passed through: {linked.passed_through}").while_("being --strict"))
    return INVALID if refused else DONE


def _embedded(form: str, files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The modules as C, each in a file beside it."""
    from spvlink import embed

    if form == "c":
        embed.check_names(os.path.basename(path) for path, _ in files)
    return [
        (path + embed.SUFFIXES[form], embed.embed(form, os.path.basename(path), data))
        for path, data in files
    ]


def _warn(flaws: list[Flaw], strict: bool) -> None:
    """What is wrong between the stages as they came: a line each on standard error."""
    kind = _kind("error" if strict else "warning")
    lines = [
        f"spvlink: {kind}: {f.file}: {f}" if f.file else f"spvlink: {kind}: {f}" for f in flaws
    ]
    if strict and lines:
        lines.append("  while being --strict")
    if lines:
        _print_error(lines)


def _page(linked: Linked, version: str, command: Command) -> str:
    from spvlink.page import page

    entries = {argument.text: argument.entry for argument in command.inputs}
    return "".join(page.of_link(version, linked, entries))


def _batch(words: list[str], merging: bool) -> int:
    from spvlink import __version__
    from spvlink.batches import arguments as of_batch
    from spvlink.batches.command import main as batch

    helped = "--help" in words or "-h" in words
    if merging and (helped or ALL in words):
        return _print(of_batch.HELP_MERGE)
    if ALL in words:
        return _print(of_batch.HELP_ALL)
    if helped:
        return _print(of_batch.HELP)
    error = batch(words, __version__, _print_all, merging)
    if error is not None:
        _complain(error)
        return WORSE if isinstance(error, Worse) else DEFECT
    return DONE


def _check(words: list[str]) -> int:
    from spvlink import __version__
    from spvlink.lint.arguments import HELP as HELP_OF_CHECK
    from spvlink.lint.command import main as check

    if "--help" in words or "-h" in words or ALL in words:
        return _print(HELP_OF_CHECK)
    return check(words, __version__, _print_all)


def _verify(words: list[str]) -> int:
    from spvlink.verifier.command import HELP as HELP_OF_VERIFY
    from spvlink.verifier.command import main as verify

    if "--help" in words or "-h" in words or ALL in words:
        return _print(HELP_OF_VERIFY)
    return verify(words, _print_all)


# -- files -----------------------------------------------------------------------------------------


def _outputs(command: Command) -> dict[str, str]:
    """Output path of every input, by the input as written. Raises Usage where they collide."""
    paths = [argument.path for argument in command.inputs]
    inputs = {_identity(path): path for path in paths}
    outputs: dict[str, str] = {}
    owner: dict[str, str] = {}
    for argument in command.inputs:
        name = argument.name
        if paths.count(argument.path) > 1:
            if argument.entry is None:
                raise Usage(f"{argument.text} is given twice: say FILE:ENTRY_NAME each time")
            entry = ".".join([argument.entry.replace("/", "_"), argument.entry_stage]).rstrip(".")
            name = f"{name.removesuffix('.spv')}.{entry}.spv"
        path = os.path.join(command.out_dir, name)
        if _same(path, inputs.get(_identity(path))):
            raise Usage(f"{path}: the output would overwrite an input")
        if name in owner:
            raise Usage(f"{path}: {owner[name]} and {argument.text} would both be written there")
        owner[name] = argument.text
        outputs[argument.text] = path
    for option, file in (
        ("--report", command.report), ("--html", command.html), ("--interface", command.interface),
        ("--write-interface", command.write_interface),
    ):  # fmt: skip
        for path in [*paths, *outputs.values()] if file not in (None, "-") else ():
            if _same(str(file), path):
                raise Usage(f"{option} {file}: this is a file of the pipeline")
    return outputs


def _identity(path: str) -> tuple[int, int] | None:
    """Device and inode: one system call, where ``realpath`` takes one for each folder above."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _same(path: str, other: str | None) -> bool:
    """Whether both name one file. Hard links do not count: output makes a new file in its place."""
    return other is not None and os.path.realpath(path) == os.path.realpath(other)


# -- looking inside --------------------------------------------------------------------------------


def _observe(command: Command, stages: list[Source]) -> None:
    """Set the observer that ``--dump`` and ``--print-after`` need."""
    if command.dump is None and command.print_after is None:
        return
    from spvlink.binary.decode import decode
    from spvlink.ir.core import Module
    from spvlink.text import print_module

    folder, wanted = command.dump, command.print_after
    if folder is not None:
        _make_folder(folder)
        for number, source in enumerate(stages):
            try:
                text = print_module(decode(source.data))
            except SpvlinkError:
                continue  # the linker will say what is wrong with it
            _dump(folder, f"000-input{number}", text)

    def observer(number: int, name: str, stage: str, module: object) -> None:
        assert isinstance(module, Module)
        text = print_module(module)
        if folder is not None:
            _dump(folder, f"{number:03}-{stage}-{name}", text)
        if wanted == name:
            sys.stderr.write(f"; after {name}, pass {number}, {stage}\n{text}")

    command.options.observer = observer


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Usage(f"{folder}: cannot write it: {error.strerror}") from None


def _dump(folder: str, name: str, text: str) -> None:
    path = os.path.join(folder, name.replace("->", "-").replace("/", "_") + ".spvasm")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Usage(f"{path}: cannot write it: {error.strerror}") from None
