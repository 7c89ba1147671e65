"""Completions of the command for bash, zsh and fish: ``spvlink completions SHELL`` prints them."""

from __future__ import annotations

from spvlink import arguments
from spvlink.batches import arguments as of_batch
from spvlink.errors import Usage
from spvlink.gpus import GPUS
from spvlink.lint import arguments as of_check
from spvlink.pipeline import PACKINGS, STAGES
from spvlink.validate import ENVIRONMENTS
from spvlink.verifier import command as of_verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

SHELLS: Final = ("bash", "zsh", "fish")
WORDS: Final = {
    "link": arguments.WORDS,
    "batch": of_batch.WORDS,
    "merge": of_batch.MERGE_WORDS,
    "check": of_check.WORDS,
    "verify": arguments.OptionWords(
        of_verify.FLAGS, ("--linked", *of_verify.VALUES), of_verify.LISTS, of_verify.SEE
    ),
}


def _values() -> dict[str, Sequence[str]]:
    """Option -> the values that it knows. Options that are missing here take files or numbers."""
    return {
        "--disable": sorted(arguments.passes()),
        "--enable": sorted(arguments.passes()),
        "--keep-interface": list(STAGES.values()),
        "--for": list(GPUS),
        "--pack": PACKINGS,
        "--target-env": list(ENVIRONMENTS),
        "--check": ("each",),
        "--embed": ("c", "c-array"),
        "--progress": ("always", "never"),
        "--variants": ("all", "1"),
        "--dask": ("local",),
        "--format": of_check.FORMATS,
    }


def completions(shell: str, commands: Sequence[str]) -> str:
    """The script of a shell. Raises Usage for one that is not known."""
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in makers:
        raise Usage(f"completions {shell}: there are {', '.join(SHELLS)}")
    return makers[shell](commands)


def _options(command: str) -> list[str]:
    words = WORDS[command]
    helps = ["--help", *(["--help-all"] if command in ("link", "batch") else [])]
    return [*sorted({*words.flags, *words.values, *words.lists, *words.numbers}), *helps]


def _bash(commands: Sequence[str]) -> str:
    values = "".join(
        f'        {name}) COMPREPLY=($(compgen -W "{" ".join(known)}" -- "$word")); return ;;\n'
        for name, known in _values().items()
    )
    options = "".join(
        f'        {name}) options="{" ".join(_options(name))}" ;;\n' for name in WORDS
    )
    return f"""\
# bash: source <(spvlink completions bash)
_spvlink() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options=
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{" ".join(commands)} --help --help-all --version" -- "$word"))
        return
    fi
    case $before in
{values}    esac
    case ${{COMP_WORDS[1]}} in
{options}    esac
    case $word in
        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    esac
}}
complete -o default -F _spvlink spvlink
"""


def _zsh(commands: Sequence[str]) -> str:
    values = "".join(
        f"        {name}) compadd -- {' '.join(known)}; return ;;\n"
        for name, known in _values().items()
    )
    options = "".join(
        f"            {name}) compadd -- {' '.join(_options(name))} ;;\n" for name in WORDS
    )
    return f"""\
#compdef spvlink
# zsh: spvlink completions zsh > FOLDER_OF_FPATH/_spvlink
_spvlink() {{
    if (( CURRENT == 2 )); then
        compadd -- {" ".join(commands)} --help --help-all --version
        return
    fi
    case $words[CURRENT-1] in
{values}    esac
    if [[ $words[CURRENT] == -* ]]; then
        case $words[2] in
{options}        esac
    else
        _files
    fi
}}
if [ "$funcstack[1]" = _spvlink ]; then _spvlink "$@"; else compdef _spvlink spvlink; fi
"""


def _fish(commands: Sequence[str]) -> str:
    lines = [
        "# fish: spvlink completions fish > ~/.config/fish/completions/spvlink.fish",
        f"complete -c spvlink -n __fish_use_subcommand -f -a '{' '.join(commands)}'",
        "complete -c spvlink -l help",
        "complete -c spvlink -n __fish_use_subcommand -l help-all",
        "complete -c spvlink -n __fish_use_subcommand -l version",
    ]
    values = _values()
    for command, words in WORDS.items():
        for option in _options(command):
            if option == "--help":
                continue
            parts = [f"complete -c spvlink -n '__fish_seen_subcommand_from {command}'"]
            parts.append(f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}")
            if option in values:
                parts.append(f"-x -a '{' '.join(values[option])}'")
            elif option not in words.flags and option != "--help-all":
                parts.append("-r")
            lines.append(" ".join(parts))
    return "\n".join(lines) + "\n"
