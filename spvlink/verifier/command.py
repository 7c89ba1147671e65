"""The command ``spvlink verify``."""

from __future__ import annotations

from spvlink.errors import Usage
from spvlink.options import Options
from spvlink.sources import Argument, check_files, read_all
from spvlink.state import read_state
from spvlink.verifier.api import as_json, sentence, verify
from spvlink.verifier.paper.prove import SECONDS
from spvlink.verifier.verdict import EQUAL

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Iterable, Sequence
    from typing import Final

HELP: Final = """\
usage: spvlink verify ORIGINAL... --linked LINKED... [options]

Proves that linked modules do what the original ones do, with code that shares nothing with the
linker but the reading of SPIR-V. Prints one line: proved equal, not equal, or not proved with the
place. A link without a proof need not be wrong.

ORIGINAL, LINKED        the modules of one pipeline, as for spvlink link (see: spvlink link --help)

  --exact               equal to the bit; without it colours may differ by rounding, by the rules
                        that the default of spvlink link has, and the line names those that it used
  --spec STAGE:ID=VALUE a specialization constant that pipeline creation will use; repeatable
  --spec-defaults       constants that --spec does not name have the value in the module
  --state FILE          the known state of the pipeline, which spvlink link was given
  --complete            nothing follows the last stage: its outputs feed the rasterizer only
  --seconds N           give up after so long (default: 1)
  --execute             where there is no proof, run both in an interpreter on seeded inputs (needs
                        the extra: spvlink[verify])
  --draw                draw both on a software Vulkan device, too (needs the extra: spvlink[draw])
  --device N            the same on the device of this number in vulkaninfo --summary
  --json                print the verdict as JSON

exit status: 0 proved equal; 1 not proved, not equal, or an input is not valid; 2 usage, or a file
that cannot be read.
"""
SEE: Final = "spvlink verify --help"
FLAGS: Final = ("--exact", "--spec-defaults", "--complete", "--json", "--execute", "--draw")
VALUES: Final = ("--state", "--seconds", "--device")
LISTS: Final = ("--spec",)
DONE, WRONG = 0, 1


class VerifyCommand:
    """What was asked for."""

    def __init__(self) -> None:
        self.before: list[Argument] = []
        self.after: list[Argument] = []
        self.options = Options()
        self.seconds = SECONDS
        self.json = False
        self.execute = False
        self.draw = False
        self.device: int | None = None


def parse(words: Sequence[str]) -> VerifyCommand:
    """Read the words after ``spvlink verify``. Raises Usage."""
    command = VerifyCommand()
    files = command.before
    rest = iter(words)
    for word in rest:
        if word == "--linked":
            files = command.after
        elif word in FLAGS:
            command.json |= word == "--json"
            command.execute |= word == "--execute"
            command.draw |= word == "--draw"
            command.options.exact = command.options.exact or word == "--exact"
            command.options.spec_defaults |= word == "--spec-defaults"
            command.options.complete |= word == "--complete"
        elif word in VALUES or word in LISTS:
            value = next(rest, None)
            if value is None:
                raise Usage(f"{word} needs a value; see {SEE}")
            if word == "--spec":
                _specialize(command.options, value)
            elif word == "--state":
                command.options.state = read_state(value)
            elif word == "--device":
                command.device, command.draw = _number(value), True
            else:
                command.seconds = _seconds(value)
        elif word.startswith("--"):
            raise Usage(f"unknown option {word}; see {SEE}")
        else:
            files.append(Argument(word))
    if not command.before or not command.after:
        raise Usage(f"expected ORIGINAL... --linked LINKED...; see {SEE}")
    check_files(command.before)
    check_files(command.after)
    return command


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < 1e6:
        raise Usage(f"--seconds {text}: expected a number of seconds")
    return seconds


def _number(text: str) -> int:
    if not text.isdecimal():
        raise Usage(f"--device {text}: expected the number of a device")
    return int(text)


def _specialize(options: Options, text: str) -> None:
    name, equals, value = text.partition("=")
    stage, colon, number = name.partition(":")
    if not equals or not colon or not number.isdigit():
        raise Usage(f"--spec {text}: expected STAGE:ID=VALUE")
    options.spec[stage, int(number)] = value


def main(words: Sequence[str], say: Callable[[Iterable[str]], object]) -> int:
    """Do it; ``say`` writes to standard output. Gives the exit status."""
    command = parse(words)
    before = read_all(command.before, None)
    after = read_all(command.after, None)
    verdict = verify(
        before, after, command.options, command.seconds, command.execute, command.device,
        command.draw,
    )  # fmt: skip
    if command.json:
        import json

        say((json.dumps(as_json(verdict), indent=1) + "\n",))
    else:
        say((sentence(verdict) + "\n",))
    return DONE if verdict.outcome == EQUAL else WRONG
