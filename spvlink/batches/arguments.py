"""The arguments of ``spvlink batch``."""

from __future__ import annotations

import math
import os
from typing import Final

from spvlink import arguments
from spvlink.arguments import FLAGS, LISTS, VALUES, OptionWords, whole
from spvlink.batches import progress
from spvlink.batches.folder import FolderSettings
from spvlink.batches.shards import HEADER, is_shard
from spvlink.batches.shards import MOST as MOST_SHARDS
from spvlink.errors import Usage
from spvlink.options import Options
from spvlink.system import cores

HELP: Final = """\
usage: spvlink batch IN... -o OUT [options]
       spvlink batch FOLDER --plan

Link many pipelines. Those that differ in state only are linked once; equal modules are stored
once. A run that was killed goes on when you give the same command again.

  spvlink batch game.foz -o linked.foz --report report.json

IN           Fossilize archives (.foz), one manifest (.jsonl) with a pipeline a line, or a folder
             of modules
-o OUT       an archive, or a folder; it appears complete or not at all

options:
  --plan                  for a folder: print the manifest of the pipelines found; link nothing
  --jobs N                worker processes (default: the cores of this machine)
  --timeout S             seconds that one job may take (default: 60)
  --variants all|1|K      linked versions of one module: as many as its pipelines want (default),
                          one for all of them, at most K
  --prune                 for archives: leave out modules that only linked pipelines used
  --report FILE           write totals and a line for each pipeline and each job as JSON
  --html FILE             write the same as a page for a browser
  --strict                end with an error if a pipeline passes through unchanged; write nothing
  --exact                 make only changes that keep every output bit of every stage
  --disable PASS          switch off one optimization (spvlink passes lists them); repeatable
  --help-all              print all options, the form of a manifest, the meanings of the exit status
"""
HELP_ALL: Final = """\
usage: spvlink batch IN... -o OUT [options]
       spvlink batch FOLDER --plan

Link many pipelines. Those that differ in state only are linked once; equal modules are stored
once. A run that was killed goes on when you give the same command again.

IN           Fossilize archives (.foz; several are one union, the first wins), or one manifest
             (.jsonl) with a pipeline a line:
             {"id": "water", "stages": [{"file": "a.vert.spv"}, {"file": "b.frag.spv",
              "entry": "main", "spec": {"3": 1}}], "layout": {...} or "FILE",
              "state": {...} or "FILE", "complete": true}
             Files are relative to the manifest. Only id, stages and file are required. Beside
             "entry", "stage": "frag" picks one of several entry points with that name.
             Or a folder: spvlink finds its pipelines by the names, entry points and interfaces of
             the modules. FOLDER/spvlink.toml holds exceptions, states and options: see
             docs/reference/batch.md.
-o OUT       an archive, or a folder with OUT/manifest.jsonl and OUT/modules. For a folder, OUT has
             the same names and folders. OUT appears complete or not at all; until then there is
             OUT.partial.

work:
  --plan                  for a folder: print the manifest of the pipelines found; link nothing
  --jobs N                worker processes (default: the cores of this machine)
  --dask ADDRESS          run the jobs on a Dask cluster; local: start one on this machine
  --timeout S             seconds that one job may take (default: 60)
  --memory MB             memory that one job may take (default: 2048; 0: no limit)
  --shard K/N             do the K-th of N parts of the jobs, K from 1 to N; OUT is a folder, which
                          spvlink merge reads
  --shard-key FILE        seal the shard with the secret in FILE; spvlink merge needs the same one
  --store WHERE           take results from a store that runs and machines share, and keep new ones
                          there: a folder, http(s)://HOST/PATH or s3://BUCKET/PREFIX (the last two
                          need the extra: spvlink[store])
  --store-key FILE        seal what is kept there with the secret in FILE, and take nothing else

choices:
  --variants all|1|K      linked versions of one module: as many as its pipelines want (default),
                          one for all of them, at most K
  --layout FILE           the layout of pipelines that have none of their own
  --prune                 for archives: leave out modules that only linked pipelines used
  --verify all|N%         prove links equal, as spvlink verify does: all, or a part of them, the
                          same ones each time; a link that is not equal does not go out
  --execute               with --verify: run a link without a proof in an interpreter, on seeded
                          inputs (needs the extra: spvlink[verify])

reports:
  --report FILE           write totals and a line for each pipeline and each job as JSON
                          (-: to standard output; FILE.jsonl: as JSON Lines)
  --html FILE             write the same as a page for a browser, with a picture of every interface
  --progress always|never
                          show or hide the progress (default: shown on a terminal)
  --compare OLD-REPORT    print the pipelines that got better or worse since an earlier --report;
                          exit status 4 if anything got worse
  --strict                if a pipeline passes through unchanged, or its stages do not match, end
                          with an error and write nothing

These options hold for every pipeline, as in spvlink link (see: spvlink link --help-all):
--clean --complete --cost-limit --disable --enable --exact --expect --for --keep-interface
--no-validate --pack --relaxed --spec-defaults --target-env --check each.

exit status: 0 done (pipelines that passed through are in the report); 1 the input is not valid,
or with --strict: a pipeline passed through; 2 usage, or a file that cannot be read or written;
3 a defect of spvlink: that pipeline is passed through; 4 OUT is made, and something is worse than
in OLD-REPORT.
"""
HELP_MERGE: Final = """\
usage: spvlink merge IN... SHARD... -o OUT [options]

Join the results of all shards of a batch. OUT, the report and the page are those of one run of
spvlink batch. Nothing is linked.

  spvlink batch game.foz -o shard1 --shard 1/2
  spvlink batch game.foz -o shard2 --shard 2/2
  spvlink merge game.foz shard1 shard2 -o linked.foz --report report.json

IN           the same input as that of spvlink batch
SHARD        the folders of all shards, in any order
-o OUT       an archive, or a folder; it appears complete or not at all

The options are those of spvlink batch (see: spvlink batch --help-all). Give the same ones as for
the shards, and also --report, --html, --compare, --strict and --prune: these have no effect on a
shard. --jobs, --dask and --store have no effect here.

exit status: 0 done; 1 the input is not valid, or with --strict: a pipeline passed through; 2 usage,
or a file that cannot be read or written, or a shard that is missing, damaged or of another batch; 3
a defect of spvlink: that pipeline is passed through; 4 OUT is made, and something is worse than in
OLD-REPORT.
"""
SEE: Final = "spvlink batch --help"
WORDS: Final = OptionWords(
    (*FLAGS, "--plan", "--prune", "--execute"),
    (
        *VALUES,
        "--html",
        "--jobs",
        "--dask",
        "--timeout",
        "--memory",
        "--variants",
        "--progress",
        "--verify",
        "--shard",
        "--shard-key",
        "--store",
        "--store-key",
        "--compare",
    ),
    LISTS,
    SEE,
)
SEE_MERGE: Final = "spvlink merge --help"
MERGE_WORDS: Final = OptionWords(
    tuple(name for name in WORDS.flags if name != "--plan"),
    tuple(name for name in WORDS.values if name != "--shard"),
    LISTS,
    SEE_MERGE,
)
ARCHIVE: Final = ".foz"
MANIFEST: Final = ".jsonl"
TIMEOUT: Final = 60.0
MEMORY: Final = 2048
ALL: Final = "all"
_MOST_VARIANTS: Final = 1 << 20
_LONGEST: Final = 1_000_000.0  # seconds that a timer takes for sure
_MOST_JOBS: Final = 4096
_LEAST_MEMORY: Final = 40
_MOST_MEMORY: Final = 1 << 30


class BatchCommand:
    """What was asked for. ``options`` is for the linker, the rest for the command itself."""

    def __init__(self) -> None:
        self.inputs: list[str] = []
        self.folder: FolderSettings | None = None  # if the input is a folder
        self.plan = False
        self.prune = False
        self.out = ""
        self.jobs = cores()
        self.dask: str | None = None
        self.timeout = TIMEOUT
        self.memory = MEMORY
        self.report: str | None = None
        self.html: str | None = None
        self.layout: str | None = None
        self.progress = progress.AUTO
        self.verify = 0.0  # which part of the links is proved
        self.execute = False
        self.shard: tuple[int, int] | None = None  # (K, N): only the K-th of N parts, from 1
        self.shard_key: str | None = None
        self.store: str | None = None  # where results are shared, as it was given
        self.store_key: str | None = None
        self.shards: list[str] | None = None  # the folders of all parts, to be merged
        self.compare: str | None = None
        self.variants: int | None = None  # how many versions a module may have; None: any number
        self.options = Options()

    @property
    def archives(self) -> bool:
        """Whether the inputs are archives."""
        return self.folder is None and self.inputs[0].endswith(ARCHIVE)

    @property
    def writes_file(self) -> bool:
        """Whether OUT is a file."""
        return self.archives and self.shard is None


def parse(words: list[str], merging: bool = False) -> BatchCommand:
    """Read the words after ``spvlink batch``, or after ``spvlink merge``. Raises Usage with one
    line that says what is wrong."""
    command = BatchCommand()
    known = MERGE_WORDS if merging else WORDS
    inputs, given = arguments.gather(words, known, command.options)
    shards = [path for path in inputs if is_shard(path)] if merging else []
    inputs = [path for path in inputs if path not in shards]
    if len(inputs) == 1 and os.path.isdir(inputs[0]):
        words, command = _with_settings(words, inputs[0], set(given))
        _, given = arguments.gather(words, known, command.options)
    command.inputs = inputs
    command.shards = shards if merging else None
    _read(command, given)
    _check_files(command)
    return command


def _read(command: BatchCommand, given: dict[str, str]) -> None:
    """The options that stand at most once."""
    command.plan = "--plan" in given
    command.prune = "--prune" in given
    arguments.apply(command.options, given)
    command.out = given.get("-o", "").rstrip("/")
    command.report = given.get("--report")
    command.html = given.get("--html")
    command.layout = given.get("--layout")
    command.dask = given.get("--dask")
    if "--jobs" in given:
        command.jobs = whole("--jobs", given["--jobs"], "a number of processes")
        if not 0 < command.jobs <= _MOST_JOBS:
            raise Usage(f"--jobs {command.jobs}: expected 1 to {_MOST_JOBS} processes")
    if "--timeout" in given:
        command.timeout = _seconds(given["--timeout"])
    if "--memory" in given:
        command.memory = whole("--memory", given["--memory"], "a number of megabytes")
        if command.memory and not _LEAST_MEMORY <= command.memory <= _MOST_MEMORY:
            least = f"{_LEAST_MEMORY} or more megabytes, since Python takes some, or 0 for no limit"
            raise Usage(f"--memory {command.memory}: expected {least}")
    if given.get("--variants", ALL) != ALL:
        command.variants = whole("--variants", given["--variants"], "all, or a number of versions")
        if not 0 < command.variants <= _MOST_VARIANTS:
            raise Usage(f"--variants {command.variants}: expected all, or 1 to {_MOST_VARIANTS}")
        if command.options.keep_interface:
            raise Usage("--variants and --keep-interface do not go together")
    if "--progress" in given:
        command.progress = given["--progress"]
        if command.progress not in (progress.ALWAYS, progress.NEVER):
            raise Usage(f"--progress {command.progress}: there are always, never")
    if "--verify" in given:
        command.verify = _part(given["--verify"])
    command.execute = "--execute" in given
    if command.execute:
        _check_execute(command)
    command.compare = given.get("--compare")
    command.shard_key = given.get("--shard-key")
    command.store, command.store_key = given.get("--store"), given.get("--store-key")
    if command.store is None and command.store_key is not None:
        raise Usage("--store-key is for --store")
    if "--shard" in given:
        command.shard = _shard(given["--shard"])
    _check_shard(command, given)


def _shard(text: str) -> tuple[int, int]:
    """``K/N``."""
    first, slash, last = text.partition("/")
    if not slash or not all(n.isascii() and n.isdigit() and len(n) < 16 for n in (first, last)):
        raise Usage(f"--shard {text}: expected K/N, as 2/4")
    number, count = int(first), int(last)
    if not 0 < number <= count <= MOST_SHARDS:
        raise Usage(f"--shard {text}: expected K from 1 to N, and N up to {MOST_SHARDS}")
    return number, count


def _check_shard(command: BatchCommand, given: dict[str, str]) -> None:
    """Raise Usage for options that make no sense beside ``--shard``, or without it."""
    if command.shard is None:
        if command.shard_key is not None and command.shards is None:
            raise Usage("--shard-key is for --shard")
        return
    if command.plan:
        raise Usage("--plan and --shard do not go together")
    for option in ("--report", "--html", "--compare"):
        if option in given:
            raise Usage(f"{option} and --shard do not go together: give it to spvlink merge")
    if os.path.splitext(command.out)[1] in (ARCHIVE, MANIFEST):
        raise Usage(f"-o {command.out}: a shard makes a folder")


def _with_settings(
    words: list[str], folder: str, given: set[str]
) -> tuple[list[str], BatchCommand]:
    """The words with those of the folder's settings, and a command to read them into. Options that
    may stand several times count together."""
    command = BatchCommand()
    command.folder = FolderSettings(folder)
    return [*command.folder.words(given), *words], command


def _part(text: str) -> float:
    number = "100%" if text == ALL else text
    try:
        percent = float(number.removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not number.endswith("%") or not 0 < percent <= 100:
        raise Usage(f"--verify {text}: expected all, or a part of the links such as 5%")
    return percent / 100


def _check_execute(command: BatchCommand) -> None:
    from importlib.util import find_spec

    if not command.verify:
        raise Usage("--execute is for --verify: it runs links that have no proof")
    if find_spec("numpy") is None:
        raise Usage("--execute needs numpy: pip install 'spvlink[verify]'")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _LONGEST:
        raise Usage(f"--timeout {text}: expected a number of seconds")
    return seconds


def _check_files(command: BatchCommand) -> None:
    if not command.inputs:
        see = SEE if command.shards is None else SEE_MERGE
        raise Usage(f"no archive and no manifest; see {see}")
    if command.shards == []:
        raise Usage(f"no folder of a shard; see {SEE_MERGE}")
    if command.plan and command.folder is None:
        raise Usage("--plan is for a folder")
    if command.prune and not command.archives:
        raise Usage("--prune is for archives: a folder gets only the modules that it needs")
    if not command.out and not command.plan:
        raise Usage("-o OUT is missing: the archive or the folder to be made")
    arguments.check_reports(command.report, command.html)
    if command.compare is not None:
        _check_compare(command)
    if command.folder is not None:
        if os.path.splitext(command.out)[1] in (ARCHIVE, MANIFEST):
            raise Usage(f"-o {command.out}: a folder makes a folder")
        return
    if command.shards is not None:
        for path in filter(os.path.isdir, command.inputs[::-1]):
            raise Usage(f"{path}: this is not the folder of a complete shard: it has no {HEADER}")
    kinds = {os.path.splitext(path)[1] for path in command.inputs}
    for kind in kinds - {ARCHIVE, MANIFEST}:
        odd = next(path for path in command.inputs if path.endswith(kind))
        raise Usage(f"{odd}: expected an archive ({ARCHIVE}), a manifest ({MANIFEST}) or a folder")
    if len(kinds) > 1:
        raise Usage("archives and manifests cannot be one input")
    if kinds == {MANIFEST} and len(command.inputs) > 1:
        raise Usage("only one manifest at a time")
    if command.shard is not None:
        return
    if command.archives and not command.out.endswith(ARCHIVE):
        raise Usage(f"-o {command.out}: archives make an archive: expected a name with {ARCHIVE}")
    if not command.archives and os.path.splitext(command.out)[1] in (ARCHIVE, MANIFEST):
        raise Usage(f"-o {command.out}: a manifest makes a folder")


def _check_compare(command: BatchCommand) -> None:
    assert command.compare is not None
    if command.plan:
        raise Usage("--plan and --compare do not go together")
    if "-" in (command.report, command.html):
        name = "--report" if command.report == "-" else "--html"
        raise Usage(f"{name} - and --compare both want standard output")
    for option, file in (("--report", command.report), ("--html", command.html)):
        if file is not None and os.path.realpath(file) == os.path.realpath(command.compare):
            raise Usage(f"{option} and --compare are both {file}: the old report would be lost")
