"""The arguments of ``spvlink layer`` and ``spvlink serve``."""

from __future__ import annotations

import errno
import os

from spvlink.errors import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

CACHE_MB: Final = 256
HELP: Final = """\
usage: spvlink layer run [options] -- COMMAND...
       spvlink layer warm [options] IN.foz...
       spvlink layer install [--implicit] | uninstall | log [--json]
       spvlink serve [options]

Link the graphics pipelines of any Vulkan program while it creates them.

layer run        start COMMAND with the layer; build the layer first if needed
  --wait MS        how long a pipeline may wait for its linked modules (default: 100, and for all
                   pipelines together a tenth of the running time). Modules that come too late are
                   used at the next start
  --never-wait     do not wait at all
  --exact          make only changes that keep every output bit of every stage
  --log FILE       write a line for every pipeline (-: to standard error)
layer warm       link the pipelines of Fossilize archives into the cache, so that the programs
                 that they were recorded from find them at their first start. Pipeline libraries
                 that hold half of the shaders share one interface with all that they meet
  --exact          link for a layer with this setting
  --for GPU        link for the device that will run them: radv, turnip, mali, v3d, intel, nvidia,
                   apple, powervr, or any other (default: any)
  --cache-dir DIR, --cache-mb N   as below
  --jobs N         links at the same time (default: one a processor)
layer install    build VK_LAYER_SPVLINK_stage_link and register it with the Vulkan loader; it
                 stays off until VK_INSTANCE_LAYERS names it
  --implicit       as an implicit layer, which ENABLE_SPVLINK_STAGE_LINK=1 switches on
layer uninstall  remove it, with its cache and its log
layer log        print what the layer did in the last run, and since it was installed
  --json           the same as JSON
serve            the linker process that the layer asks; the layer starts one if there is none
  --idle SECONDS   end after this time without work (default: 60; 0: never)
  --cache-dir DIR  the folder of linked modules (default: spvlink/linked in XDG_CACHE_HOME)
  --cache-mb N     the most that the folder may hold (default: 256); the oldest modules go first
  --workers N      links at the same time (default: one a processor)
"""


def main(words: Sequence[str]) -> str:
    """Do what ``spvlink WORDS`` says; gives what is to be printed. Raises Usage and others."""
    command, rest = words[0], list(words[1:])
    action = rest[0] if rest else ""
    before_command = rest[: rest.index("--")] if "--" in rest else rest
    if "--help" in before_command or "-h" in before_command:
        return HELP
    if command == "serve":
        return _serve(rest)
    if action == "run":
        return _run(rest[1:])
    if action == "warm":
        return _warm(rest[1:])
    options, others = _options(rest[1:], _VALUES.get(action, {}))
    if others:
        raise Usage(f"layer {action}: {others[0]} is too much")
    if action == "install":
        from spvlink.layer.install import install

        return install("--implicit" in options)
    if action == "uninstall":
        from spvlink.layer.install import uninstall

        return uninstall()
    if action == "log":
        from spvlink.layer import log

        return log.to_json() if "--json" in options else log.to_text()
    raise Usage("layer: there are run, warm, install, uninstall and log; see spvlink layer --help")


# Options of each action, and whether they take a value.
_VALUES: Final = {
    "run": {"--wait": True, "--never-wait": False, "--exact": False, "--log": True},
    "warm": {
        "--exact": False,
        "--for": True,
        "--cache-dir": True,
        "--cache-mb": True,
        "--jobs": True,
    },
    "install": {"--implicit": False},
    "log": {"--json": False},
    "serve": {"--idle": True, "--cache-dir": True, "--cache-mb": True, "--workers": True},
}


def _options(words: Sequence[str], known: dict[str, bool]) -> tuple[dict[str, str], list[str]]:
    """Options with their values ("" if they take none), and the words behind them."""
    options: dict[str, str] = {}
    left = list(words)
    while left and left[0].startswith("-"):
        name, equals, value = left.pop(0).partition("=")
        if name == "--" and not equals:
            break
        if name not in known:
            raise Usage(f"unknown option {name}; see spvlink layer --help")
        if known[name] and not equals:
            if not left:
                raise Usage(f"{name} needs a value")
            value = left.pop(0)
        elif equals and not known[name]:
            raise Usage(f"{name} takes no value")
        options[name] = value
    return options, left


def _number(options: dict[str, str], name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not (text.isascii() and text.isdigit()):
        raise Usage(f"{name} {text}: expected a whole number")
    return int(text)


def _run(words: Sequence[str]) -> str:
    options, command = _options(words, _VALUES["run"])
    if not command:
        raise Usage("layer run: no command; say spvlink layer run -- COMMAND")
    settings: dict[str, str] = {}
    if "--wait" in options:
        settings["WAIT_MS"] = str(_number(options, "--wait", 0))
    if "--never-wait" in options:
        settings["NEVER_WAIT"] = "1"
    if "--exact" in options:
        settings["EXACT"] = "1"
    if "--log" in options:
        path = options["--log"]
        settings["LOG"] = "stderr" if path == "-" else _writable(os.path.abspath(path))
    from spvlink.layer.run import run

    run(command, settings)


def _warm(words: Sequence[str]) -> str:
    options, archives = _options(words, _VALUES["warm"])
    if not archives:
        raise Usage("layer warm: no archive; say spvlink layer warm IN.foz")
    jobs = _number(options, "--jobs", os.cpu_count() or 1)
    if jobs == 0:
        raise Usage("--jobs 0: it takes one")
    from spvlink.gpus import ANY, gpu_of
    from spvlink.layer.recorded import LayerSettings
    from spvlink.layer.warm import warm

    settings = LayerSettings("--exact" in options, options.get("--for", ANY))
    gpu_of(settings.gpu)
    size = _number(options, "--cache-mb", CACHE_MB)
    return warm(archives, settings, _cache(options), size, jobs)


def _cache(options: dict[str, str]) -> str:
    """The folder of linked modules."""
    from spvlink.layer import places

    return os.path.abspath(options["--cache-dir"]) if "--cache-dir" in options else places.cache()


def _writable(path: str) -> str:
    """The path of a file that lines can be added to. Raises Usage."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
        os.close(os.open(path, flags, 0o600))
    except OSError as error:
        if error.errno != errno.ENXIO:  # a FIFO that nobody reads yet
            raise Usage(f"{path}: cannot write it: {error.strerror}") from None
    return path


def _serve(words: Sequence[str]) -> str:
    options, others = _options(words, _VALUES["serve"])
    if others:
        raise Usage(f"serve: {others[0]} is too much")
    from spvlink.layer.serve import serve

    workers = _number(options, "--workers", os.cpu_count() or 1)
    if workers == 0:
        raise Usage("--workers 0: it takes one")
    size, idle = _number(options, "--cache-mb", CACHE_MB), _number(options, "--idle", 60)
    if serve(_cache(options), size, idle, workers):
        return ""
    return "there is a linker process for this cache already\n"
