"""The layer told to the loader in two ways at once: it runs once."""

from __future__ import annotations

from pathlib import Path

import pytest

from spvlink.layer import build, places
from tests.support.layer_place import NAMES, WAIT, Place, forms

IMPLICIT = {build.ENABLE: "1"}
EXPLICIT = {"VK_INSTANCE_LAYERS": places.LAYER}
LINE = f'Insert instance layer "{places.LAYER}"'


@pytest.mark.parametrize(
    ("installed", "also_there", "run", "switches"),
    [
        (["--implicit"], False, False, {**IMPLICIT, **EXPLICIT}),
        (["--implicit"], False, True, IMPLICIT),
        ([], False, True, EXPLICIT),
        (["--implicit"], True, False, {**IMPLICIT, **EXPLICIT}),
        (["--implicit"], True, False, EXPLICIT),
    ],
    ids=["both switches", "layer run beside implicit", "layer run beside explicit",
         "two installs, both switches", "two installs, explicit switch"],
)  # fmt: skip
def test_it_runs_once(
    installed: list[str], also_there: bool, run: bool, switches: dict[str, str], place: Place,
    pairs: list[str], tmp_path: Path,
) -> None:  # fmt: skip
    """``also_there``: another user's data folder, or the system's, has it as an explicit layer."""
    if also_there:
        other = tmp_path / "share"
        place.spvlink("layer", "install", XDG_DATA_HOME=str(other))
        place.variables["XDG_DATA_DIRS"] = f"{other}:/usr/local/share:/usr/share"
    place.spvlink("layer", "install", *installed)
    command = forms("monolithic", tmp_path / "out.npz", pairs)
    if run:
        words = ["layer", "run", *WAIT, "--", *command]
        said = place.spvlink(*words, **switches, VK_LOADER_DEBUG="layer")
    else:
        wait = {"VK_SPVLINK_STAGE_LINK_WAIT_MS": WAIT[1]}
        said = place.program(*command, **switches, **wait, VK_LOADER_DEBUG="layer")
    log = place.log()
    assert log["pipelines"] == log["linked"] == log["misses"] == len(NAMES), log
    assert len(place.cached()) == len(NAMES)  # a second one would have asked for the linked ones
    assert said.count(LINE) == 1


def test_each_install_has_its_own_switch_and_takes_the_place_of_the_other(
    place: Place, pairs: list[str], tmp_path: Path
) -> None:
    command = forms("monolithic", tmp_path / "out.npz", pairs[:2])
    wait = {"VK_SPVLINK_STAGE_LINK_WAIT_MS": WAIT[1]}
    before = ""
    for kind, other, switch, wrong in (
        ("explicit", "implicit", EXPLICIT, IMPLICIT),
        ("implicit", "explicit", IMPLICIT, EXPLICIT),
        ("explicit", "implicit", EXPLICIT, IMPLICIT),
    ):
        words = ["--implicit"] if kind == "implicit" else []
        said = place.spvlink("layer", "install", *words)
        assert f"{next(iter(switch))}=" in said
        assert ("is gone" in said and f"{next(iter(wrong))}" in said) == bool(before)
        before = kind
        assert "is gone" not in place.spvlink("layer", "install", *words)  # nothing was there
        folder = place.folder / "data" / "vulkan"
        assert (folder / f"{kind}_layer.d" / build.MANIFEST).exists()
        assert not (folder / f"{other}_layer.d" / build.MANIFEST).exists()
        assert LINE not in place.program(*command, **wrong, **wait, VK_LOADER_DEBUG="layer")
        said = place.program(*command, **switch, **wait, VK_LOADER_DEBUG="layer")
        assert said.count(LINE) == 1
