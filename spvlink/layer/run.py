"""``spvlink layer run -- COMMAND``: a program with the layer, without installing anything."""

from __future__ import annotations

import os

from spvlink import spawn
from spvlink.errors import Usage
from spvlink.layer import build, places

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Mapping, MutableMapping, Sequence
    from typing import Never


def environment(folder: str, base: Mapping[str, str]) -> dict[str, str]:
    """``base`` with the layer in ``folder`` switched on, nearest to the application."""
    variables = dict(base)
    # VK_LAYER_PATH, if set, makes the loader ignore VK_ADD_LAYER_PATH.
    _prepend(
        variables, "VK_LAYER_PATH" if base.get("VK_LAYER_PATH") else "VK_ADD_LAYER_PATH", folder
    )
    _prepend(variables, "VK_INSTANCE_LAYERS", places.LAYER)
    return variables


def _prepend(variables: MutableMapping[str, str], name: str, first: str) -> None:
    rest = [part for part in variables.get(name, "").split(os.pathsep) if part not in ("", first)]
    variables[name] = os.pathsep.join([first, *rest])


def run(command: Sequence[str], settings: Mapping[str, str]) -> Never:
    """Become the command. Raises Usage if the layer cannot be built or the command not found."""
    path = command[0] if "/" in command[0] else spawn.find(command[0])
    if path is None:
        raise Usage(f"{command[0]}: no such program in PATH")
    variables = environment(build.built(), os.environ)
    variables.update({places.VARIABLE + name: value for name, value in settings.items()})
    try:
        os.execve(path, list(command), variables)
    except OSError as error:
        raise Usage(f"{command[0]}: cannot run it: {error.strerror}") from None
