"""The arguments of ``spvlink check``."""

from __future__ import annotations

import os
from typing import Final

from spvlink import arguments
from spvlink.arguments import OptionWords
from spvlink.errors import Usage
from spvlink.lint.limits import read_limits
from spvlink.lint.pipeline import CheckRules
from spvlink.options import Options
from spvlink.sources import Argument, check_files

HELP: Final = """\
usage: spvlink check STAGE_FILE... [options]
       spvlink check IN.foz... | IN.jsonl | FOLDER [options]

Find mismatches between the stages of a pipeline; write nothing. Errors: an input that no stage
writes; types, sizes or qualifiers that do not match; an exceeded limit. Warnings: outputs that no
stage reads, inputs whose output is never written.

STAGE_FILE   the modules of one pipeline, as for spvlink link (see: spvlink link --help).
IN           Fossilize archives, a manifest or a folder, as for spvlink batch: all their
             pipelines.

reports:
  --format text|json|sarif|github
                          print the findings as text (default), as JSON, as SARIF 2.1.0, or as
                          annotations of a GitHub workflow
  --json                  the same as --format json
  --baseline FILE         the output of an earlier run with --json: findings in it are counted, but
                          are not errors
  --potential             also report how much linking could remove from each module at most, and
                          how much sharing modules costs: link those that share both ways and list
                          the pipelines that would gain most from versions of their own
  --diet                  also list unread data: vertex attributes and their components, with
                          smaller formats; bytes of uniform buffers and push constants. No
                          pipeline reads these after linking

facts about the pipeline:
  --limits FILE           the limits of a device: JSON with the names of VkPhysicalDeviceLimits, or
                          the output of vulkaninfo --json (default: the limits that Vulkan
                          requires of every device)
  --maintenance4          the feature is on: an output vector may be longer than its input
  --complete              these are all stages: without a fragment shader nobody reads the last
                          outputs
  --spec STAGE:ID=VALUE   a specialization constant that pipeline creation will use; repeatable
  --target-env ENV        vulkan1.0 ... vulkan1.4, for GLSL and HLSL sources

exit status: 0 no errors (there may be warnings); 1 errors, or the input is not valid; 2 usage, or
a file that cannot be read.
"""
SEE: Final = "spvlink check --help"
WORDS: Final = OptionWords(
    ("--json", "--maintenance4", "--complete", "--potential", "--diet"),
    ("--limits", "--target-env", "--format", "--baseline"),
    ("--spec",),
    SEE,
)
FORMATS: Final = ("text", "json", "sarif", "github")
_SETS: Final = (".foz", ".jsonl")


class CheckCommand:
    """What was asked for: ``sets`` (archives, or one manifest) or ``files`` of one pipeline."""

    def __init__(self) -> None:
        self.sets: list[str] = []
        self.folder = False  # whether the set is one
        self.files: list[Argument] = []
        self.format = "text"
        self.baseline: str | None = None
        self.complete = False
        self.potential = False
        self.diet = False
        self.rules = CheckRules()
        self.options = Options()  # of which --spec and --target-env are used


def parse(words: list[str]) -> CheckCommand:
    """Read the words after ``spvlink check``. Raises Usage with one line that says what is
    wrong."""
    command = CheckCommand()
    inputs, given = arguments.gather(words, WORDS, command.options)
    if not inputs:
        raise Usage(f"no stage files, no archive, no manifest; see {SEE}")
    kinds = {os.path.splitext(path)[1] for path in inputs}
    command.folder = len(inputs) == 1 and os.path.isdir(inputs[0])
    if kinds & set(_SETS) or command.folder:
        if len(kinds) > 1:
            raise Usage("stage files, archives and manifests cannot be one input")
        if kinds == {".jsonl"} and len(inputs) > 1:
            raise Usage("only one manifest at a time")
        for option in ("--complete", "--target-env"):
            if option in given:
                raise Usage(f"{option} is for stage files: a set says so itself")
        if command.options.spec:
            raise Usage("--spec is for stage files: a set says so itself")
        command.sets = inputs
    else:
        command.files = [Argument(text) for text in inputs]
        check_files(command.files)
    command.format = _format(given)
    command.baseline = given.get("--baseline")
    command.potential = "--potential" in given
    command.diet = "--diet" in given
    command.complete = "--complete" in given
    command.rules.maintenance4 = "--maintenance4" in given
    command.options.target_env = given.get("--target-env")
    if "--limits" in given:
        command.rules.limits = read_limits(given["--limits"])
    return command


def _format(given: dict[str, str]) -> str:
    format = given.get("--format", "json" if "--json" in given else "text")
    if format not in FORMATS:
        raise Usage(f"--format {format}: there are {', '.join(FORMATS)}")
    if "--json" in given and format != "json":
        raise Usage(f"--json and --format {format}: which?")
    return format
