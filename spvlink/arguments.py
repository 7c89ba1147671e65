"""The arguments of ``spvlink link``, read by hand: importing argparse would cost more than that."""

from __future__ import annotations

import os

from spvlink.errors import Usage, meant
from spvlink.gpus import gpu_of
from spvlink.options import Options
from spvlink.pipeline import PACKINGS, STAGES
from spvlink.sources import Argument, check_files
from spvlink.validate import ENVIRONMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Final

OVERVIEW: Final = """\
usage: spvlink COMMAND ...

Optimize the SPIR-V modules of Vulkan pipelines, all stages of a pipeline together.

commands:
  link         optimize the modules of one pipeline
  batch        link all pipelines of a game at once
  merge        join the results of the shards of a batch
  check        find mismatches between the stages of a pipeline
  verify       prove that linked modules do what the original ones do
  layer        link the pipelines of a Vulkan program while it runs
  library      build the C library for engines
  passes       list the optimizations that --disable and --enable switch
  cmake-dir    print the folder of the CMake package
  completions  print what bash, zsh or fish needs to complete the command line

  spvlink link scene.vert scene.frag -o linked --explain

spvlink COMMAND --help prints the options of a command, spvlink --version the version.
"""
HELP: Final = """\
usage: spvlink link STAGE_FILE... -o OUT_DIR [options]

Optimize the SPIR-V modules of ONE Vulkan pipeline together: remove the varyings that the next
stage does not need, pack the rest into fewer Locations, and clean up every stage behind that.
This is stage linking: one module per stage goes in and one comes out. To join modules that
import and export symbols use spirv-link.

  spvlink link scene.vert scene.frag -o linked --explain

STAGE_FILE   SPIR-V, GLSL or HLSL of one stage, in any order; FILE:ENTRY names an entry point;
             - reads SPIR-V from standard input
-o OUT_DIR   write one file per stage, under the name of the input; all files or none

options:
  --explain               print a table: the fate of every varying, and the reason
  --report FILE           write the same as JSON (-: to standard output)
  --layout FILE           the pipeline layout as JSON: which stages may read which resource
  --state FILE            the known state of the pipeline, as JSON
  --spec STAGE:ID=VALUE   a specialization constant that pipeline creation will use; repeatable
  --complete              these are all stages: if there is no fragment shader, none follows
  --exact                 make only changes that keep every output bit of every stage
  --keep-interface STAGE  leave that stage byte for byte as it is; repeatable
  --disable PASS          switch off one optimization (spvlink passes lists them); repeatable
  --strict                end with an error if the pipeline passes through unchanged
  --help-all              print all options and the meanings of the exit status

spvlink --help lists the other commands.
"""
HELP_ALL: Final = """\
usage: spvlink link STAGE_FILE... -o OUT_DIR [options]
       spvlink link --help: the options that most pipelines need
       spvlink --help: the other commands

Optimize the SPIR-V modules of ONE Vulkan pipeline together: remove the varyings that the next
stage does not need, pack the rest into fewer Locations, and clean up every stage behind that.
This is stage linking: one module per stage goes in and one comes out. To join modules that
import and export symbols use spirv-link.

STAGE_FILE   a SPIR-V module of the pipeline, in any order; spvlink reads the stage from the
             module. FILE:ENTRY picks one of several entry points; FILE:ENTRY:STAGE picks one of
             several with that name, as in all.spv:main:frag. Without STAGE it is the stage that
             the other modules leave over. If one file is given twice, the outputs are
             NAME.ENTRY.spv or NAME.ENTRY.STAGE.spv. GLSL (.vert .tesc .tese .geom .task .mesh
             .frag) and HLSL (x.frag.hlsl, x.hlsl:ENTRY:frag) sources are compiled with
             glslangValidator; the entry point of HLSL is main or ENTRY. - reads SPIR-V from
             standard input.
-o OUT_DIR   write one file per stage, under the name of the input. All files are written or none
             is; a file whose bytes would not change is not touched.

reports:
  --explain               print a table: the fate of every varying, and the reason
  --report FILE           write the same as JSON (-: to standard output)
  --html FILE             write the same as a page for a browser, with a picture of the interface
                          (-: to standard output)
  --embed c|c-array       also write each module as C: a header NAME.spv.h with an array of words,
                          or NAME.spv.inc with its initializer alone

facts about the pipeline:
  --layout FILE           the pipeline layout as JSON: which stages may read which resource
  --state FILE            the known state of the pipeline, as JSON: attachments, blending ...
  --spec STAGE:ID=VALUE   a specialization constant that pipeline creation will use; repeatable
  --spec-defaults         constants that no --spec names keep their defaults, so they are known
  --complete              these are all stages of the pipeline: without a fragment shader, only
                          fixed functions and transform feedback read the last outputs. With a
                          fragment shader spvlink always assumes that
  --target-env ENV        vulkan1.0 ... vulkan1.4 (default: the lowest that fits the modules)

choices:
  --exact                 make only changes that keep every output bit of every stage
  --half [BOUND]          send floats as 16 bits where no colour that is seen moves by more than
                          BOUND (default: half a step of 8 bits, 1/510). The report names the
                          bound of each. Not with --exact, --verify and frozen interfaces
  --relaxed               let sums round in another order in front of lookups and comparisons, too:
                          an edge may move by that rounding, which has a bound (see
                          docs/explanation/proof.md). Not with --exact and --verify
  --keep-interface STAGE  leave that stage byte for byte as it is; its neighbours still gain: they
                          drop outputs that it does not read and know the values that it writes;
                          repeatable
  --enable PASS, --disable PASS
                          switch one optimization, or a group (spvlink passes lists them);
                          repeatable
  --for GPU               choose what costs least on any, radv, turnip, mali, v3d, intel, nvidia,
                          powervr or apple (the last two: as any, nothing was measured there)
  --pack locations|coordinates|vectors|none
                          which vectors may be split over two Locations to save one: locations:
                          all; coordinates: all but image coordinates; vectors: no vector; none:
                          every varying stays in its place (default: --for says)
  --expect vertices=N,fragments=N
                          how often each stage is expected to run; only the ratio counts. Work
                          moves to the stage that runs less often (default: 1 and 8)
  --cost-limit N          percent of the worth of the saved components that moving an expression
                          to the next stage may cost (0: only what is free; default: --for says)
  --clean                 simplify stages that linking does not need, too (default: they go out
                          as they came)

interfaces that are frozen:
  --write-interface FILE  link the given stages and write their interface as JSON, so that other
                          modules can be linked against it later; no code moves then
  --interface FILE        link one or more stages against such a file, without the others: outputs
                          that it lacks are not written, inputs that it lacks are an error

trust:
  --no-validate           do not run spirv-val on the output
  --verify                prove that the result does the same, as spvlink verify does; a
                          result that is another pipeline does not go out
  --strict                end with an error if the pipeline passes through unchanged, or if
                          `spvlink check` would report an error between its stages

to debug the linker:
  --dump DIR              write one text file for each pass that changed something
  --print-after PASS      print that text on standard error, after one pass
  --time                  print milliseconds per phase on standard error
  --stop-after N          stop after N passes
  --check each            verify the module after each pass

exit status: 0 done, or passed through unchanged (the report says why); 1 an input is not valid,
or with --strict: passed through, or a mismatch; 2 usage, or a file that cannot be read or
written; 3 a defect of spvlink itself: the inputs are passed through.
"""


class OptionWords:
    """Which options a command knows: ``flags`` take no value, ``values`` stand once, ``lists`` may
    stand several times, ``numbers`` stand once and take a number or no value. ``help``: where they
    are explained."""

    __slots__ = ("flags", "help", "lists", "numbers", "values")

    def __init__(
        self, flags: Sequence[str], values: Sequence[str], lists: Sequence[str], help: str,
        numbers: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.flags = flags
        self.values = values
        self.lists = lists
        self.numbers = numbers
        self.help = help


HALF_STEP: Final = 1.0 / 510.0  # of a colour of 8 bits
SEE: Final = "spvlink link --help"
# What every command that links knows.
FLAGS: Final = (
    "--clean", "--complete", "--exact", "--no-validate", "--relaxed", "--spec-defaults",
    "--strict",
)  # fmt: skip
FOR: Final = "--for"
VALUES: Final = (
    "-o", "--cost-limit", "--expect", FOR, "--report", "--layout", "--target-env", "--check",
    "--pack",
)  # fmt: skip
LISTS: Final = ("--enable", "--disable", "--keep-interface")
WORDS: Final = OptionWords(
    (*FLAGS, "--explain", "--time", "--verify"),
    (
        *VALUES,
        "--embed",
        "--html",
        "--dump",
        "--print-after",
        "--stop-after",
        "--interface",
        "--state",
        "--write-interface",
    ),
    (*LISTS, "--spec"),
    SEE,
    ("--half",),
)
# Passes that every link needs, so that they cannot be switched; their results can be looked at.
ALWAYS: Final = (
    "images", "indices", "inline", "inline.attributes", "promote", "promote.late_indices",
    "promote.own_outputs", "promote.repeated_reads", "promote.variables", "promote.vertex_copies",
    "raise", "tidy", "trim",
)  # fmt: skip


class Command:
    """What was asked for. ``options`` is for the linker, the rest for the command itself."""

    __slots__ = (
        "dump", "embed", "explain", "html", "inputs", "interface", "layout", "options", "out_dir",
        "print_after", "report", "state", "time", "verify", "write_interface",
    )  # fmt: skip

    def __init__(self) -> None:
        self.inputs: list[Argument] = []
        self.out_dir = ""
        self.report: str | None = None
        self.html: str | None = None
        self.embed: str | None = None
        self.explain = False
        self.interface: str | None = None
        self.write_interface: str | None = None
        self.layout: str | None = None
        self.state: str | None = None
        self.dump: str | None = None
        self.print_after: str | None = None
        self.time = False
        self.verify = False
        self.options = Options()


def passes() -> dict[str, str]:
    """The optimizations that can be switched: name -> one line."""
    from spvlink.chain.table import PASSES

    return PASSES


def parse(words: Sequence[str]) -> Command:
    """Read the words after ``spvlink link``. Raises Usage with one line that says what is wrong."""
    command = Command()
    words_given, given = gather(words, WORDS, command.options)
    command.inputs = [Argument(word) for word in words_given]
    _apply(command, given)
    _check_inputs(command)
    return command


def gather(
    words: Sequence[str], known: OptionWords, options: Options
) -> tuple[list[str], dict[str, str]]:
    """The words that are no options, and the options that stand at most once; lists go into
    ``options`` at once. Raises Usage."""
    inputs: list[str] = []
    given: dict[str, str] = {}
    pairs = list(_pairs(words, known))
    for name, value in pairs:
        if name == FOR:  # first: others may ask for what it switches off
            gpu = gpu_of(value)
            options.pack, options.disable = gpu.pack, gpu.disable
            options.cost_limit = gpu.cost_limit
    for name, value in pairs:
        if name == "":
            inputs.append(value)
        elif name in known.lists:
            _listed(options, name, value)
        elif name in given:
            raise Usage(f"{name} is given twice")
        else:
            given[name] = value
    return inputs, given


def _pairs(words: Sequence[str], known: OptionWords) -> Iterator[tuple[str, str]]:
    """(option, value) of every option, ("", word) of everything else."""
    rest = [*reversed(words)]
    while rest:
        word = rest.pop()
        if word == "--":
            yield from (("", other) for other in reversed(rest))
            return
        if word == "-" or not word.startswith("-"):
            yield "", word
            continue
        name, equals, value = _split(word)
        if name in known.flags:
            if equals:
                raise Usage(f"{name} takes no value")
        elif name in known.numbers:
            if equals and not value:
                raise Usage(f"{name}= needs a value")
            if not equals and rest and _is_number(rest[-1]):
                value = rest.pop()
            yield name, value
            continue
        elif name not in known.values and name not in known.lists:
            like = meant(name, (*known.flags, *known.numbers, *known.values, *known.lists))
            raise Usage(f"unknown option {name}{like}; see {known.help}")
        elif not equals:
            following = rest.pop() if rest else None
            if following is None or (following.startswith("-") and len(following) > 1):
                raise Usage(f"{name} needs a value")
            value = following
        if not value and name not in known.flags:
            raise Usage(f"{name} needs a value")
        yield name, value


def _is_number(text: str) -> bool:
    """Whether a word can only be the value of an option that takes a number or none."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _split(word: str) -> tuple[str, str, str]:
    """The name of an option, what joins it to its value if that stands in the same word, and the
    value: ``--output=DIR``, ``-oDIR`` and ``-o=DIR`` are ``-o DIR``."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return "-o" if name == "--output" else name, equals, value
    if word.startswith("-o"):
        return "-o", word[2:3], word[2:].removeprefix("=")
    return word, "", ""


def _listed(options: Options, name: str, value: str) -> None:
    """An option that may be given several times."""
    if name == "--spec":
        _spec(options, value)
        return
    if name == "--keep-interface":
        _one_of(name, value, STAGES.values())
        options.keep_interface |= {value}
        return
    _one_of(name, value, passes())
    if name == "--disable":
        options.disable |= {value}
    else:
        options.disable -= {value}


def _spec(options: Options, text: str) -> None:
    stage, colon, rest = text.partition(":")
    number, equals, value = rest.partition("=")
    if not (colon and equals and number.isascii() and number.isdigit() and value):
        raise Usage(f"--spec {text}: expected STAGE:ID=VALUE, as frag:3=1.5")
    _one_of("--spec", stage, STAGES.values())
    if not _is_value(value):
        raise Usage(f"--spec {text}: {value} is neither a number nor true nor false")
    key = stage, int(number)
    if key[1] >= 1 << 32:
        raise Usage(f"--spec {text}: an id has 32 bits")
    if key in options.spec:
        raise Usage(f"--spec {stage}:{number} is given twice")
    options.spec[key] = value


def _expect(text: str) -> tuple[int, int]:
    """``vertices=N,fragments=N``, in any order."""
    expected: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        known = name in ("vertices", "fragments") and name not in expected
        if not known or not (number.isascii() and number.isdigit() and 0 < len(number) < 16):
            raise Usage(f"--expect {text}: expected vertices=N,fragments=N")
        expected[name] = int(number)
    if len(expected) < 2 or 0 in expected.values():
        raise Usage(f"--expect {text}: expected vertices=N,fragments=N, both above 0")
    return expected["vertices"], expected["fragments"]


def _is_value(text: str) -> bool:
    if text in ("true", "false"):
        return True
    try:
        int(text, 0)
    except ValueError:
        try:
            float(text)
        except ValueError:
            return False
    return "_" not in text


def _one_of(option: str, value: str, known: Iterable[str]) -> None:
    names = list(known)
    if value not in names:
        raise Usage(f"{option} {value}{meant(value, names)}: there are {', '.join(names)}")


def _apply(command: Command, given: dict[str, str]) -> None:
    """Options that stand at most once."""
    options = command.options
    command.out_dir = given.get("-o", "")
    command.report = given.get("--report")
    command.html = given.get("--html")
    command.embed = given.get("--embed")
    command.explain = "--explain" in given
    command.layout = given.get("--layout")
    command.state = given.get("--state")
    command.interface = given.get("--interface")
    command.write_interface = given.get("--write-interface")
    command.dump = given.get("--dump")
    command.print_after = given.get("--print-after")
    command.time = "--time" in given
    command.verify = "--verify" in given
    apply(options, given)
    if "--half" in given:
        options.half = _bound(given["--half"])
        for other in ("--exact", "--verify", "--interface", "--write-interface"):
            if other in given:
                raise Usage(f"--half and {other} exclude each other")
    if command.embed is not None:
        _one_of("--embed", command.embed, ("c", "c-array"))
    if command.print_after is not None:
        _one_of("--print-after", command.print_after, [*passes(), *ALWAYS])
    if "--stop-after" in given:
        options.stop_after = whole("--stop-after", given["--stop-after"], "a number of passes")


def apply(options: Options, given: dict[str, str]) -> None:
    """What FLAGS and VALUES say of linking."""
    options.clean = "--clean" in given
    options.complete = "--complete" in given
    options.exact = "--exact" in given
    options.relaxed = "--relaxed" in given
    for other in ("--exact", "--verify"):
        if options.relaxed and other in given:
            raise Usage(f"--relaxed and {other} exclude each other")
    if "--cost-limit" in given:
        options.cost_limit = whole("--cost-limit", given["--cost-limit"], "a percentage")
    if "--expect" in given:
        options.expect = _expect(given["--expect"])
    if "--pack" in given:
        _one_of("--pack", given["--pack"], PACKINGS)
        options.pack = given["--pack"]
    options.validate = "--no-validate" not in given
    options.spec_defaults = "--spec-defaults" in given
    options.strict = "--strict" in given
    options.target_env = given.get("--target-env")
    if options.target_env is not None:
        _one_of("--target-env", options.target_env, ENVIRONMENTS)
    if "--check" in given:
        _one_of("--check", given["--check"], ("each",))
        options.check_each = True


def _bound(text: str) -> float:
    """The value of --half; empty: the default. Raises Usage."""
    try:
        bound = float(text) if text else HALF_STEP
    except ValueError:
        bound = 0.0
    if not 0 < bound <= 1:
        raise Usage(f"--half {text}: expected a number above 0 and up to 1")
    return bound


def whole(option: str, text: str, what: str) -> int:
    """The value of an option that is a whole number. Raises Usage."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Usage(f"{option} {text}: expected {what}")
    return int(text)


def _check_inputs(command: Command) -> None:
    if not command.inputs:
        raise Usage(f"no stage files; see {SEE}")
    if not command.out_dir:
        raise Usage("-o OUT_DIR is missing: the folder for the linked modules")
    check_files(command.inputs)
    check_reports(command.report, command.html)
    if command.interface is not None and command.write_interface is not None:
        raise Usage("--interface and --write-interface exclude each other")
    if "-" in (command.report, command.html) and command.explain:
        name = "--report" if command.report == "-" else "--html"
        raise Usage(f"{name} - and --explain both want standard output")


def check_reports(report: str | None, html: str | None) -> None:
    """Raise Usage if the JSON report and the page are to be one file."""
    if report == html == "-":
        raise Usage("--report - and --html - both want standard output")
    if report is not None and html is not None:
        if os.path.realpath(report) == os.path.realpath(html):
            raise Usage(f"--report and --html are both to be {html}")
