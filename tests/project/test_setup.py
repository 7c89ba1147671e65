"""scripts/setup adds no source of packages where one is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "setup"
SUITE = "bookworm-backports"
MAIN = "deb http://mirror.invalid/debian bookworm main\n"
STANZA = """\
# bookworm-backports is not here
Types: deb
URIs: http://mirror.invalid/debian
Suites: bookworm {}
Components: main
"""
BACKPORTS = f"deb [signed-by=/some/key.gpg] http://mirror.invalid/debian {SUITE} main\n"


def named(folder: Path) -> bool:
    """What the function says of sources in a folder of a test's own."""
    code = f'source "{SCRIPT}"; apt_folder="{folder}"; named {SUITE}'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and not done.stdout + done.stderr
    return done.returncode == 0


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, False),
        ({"sources.list": MAIN}, False),
        ({"sources.list": MAIN + BACKPORTS}, True),
        ({"sources.list": f"{MAIN}#{BACKPORTS}"}, False),
        ({"sources.list": MAIN + BACKPORTS.replace("deb ", "deb-src ", 1)}, False),
        ({"sources.list": MAIN + BACKPORTS.replace(SUITE, SUITE + "-sloppy")}, False),
        ({"sources.list.d/other.list": BACKPORTS}, True),
        ({"sources.list.d/other.list.disable": BACKPORTS}, False),
        ({"sources.list.d/debian.sources": STANZA.format("bookworm-updates")}, False),
        ({"sources.list.d/debian.sources": STANZA.format(SUITE)}, True),
        ({"sources.list.d/debian.sources": STANZA.format(f"\\\n {SUITE}").replace("\\", "")}, True),
        ({"sources.list.d/debian.sources": STANZA.format(SUITE) + "Enabled: no\n"}, False),
        ({"sources.list.d/debian.sources": STANZA.format(SUITE).replace("deb\n", "deb-src\n")},
         False),
        ({"sources.list.d/debian.sources":
          STANZA.format("") + "Enabled: no\n\n" + STANZA.format(SUITE)}, True),
        ({"sources.list.d/debian.sources":
          STANZA.format(SUITE) + "Enabled: no\n\n" + STANZA.format("")}, False),
        ({"sources.list.d/a.sources": STANZA.format(SUITE) + "Enabled: no\n",
          "sources.list.d/b.sources": STANZA.format("")}, False),
        ({"sources.list": MAIN, "sources.list.d/a.sources": STANZA.format(""),
          "sources.list.d/z.sources": STANZA.format(SUITE)}, True),
    ],
)  # fmt: skip
def test_an_entry_for_backports_is_found(
    files: dict[str, str], expected: bool, tmp_path: Path
) -> None:
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert named(tmp_path) == expected


def test_nothing_is_added_where_it_is(tmp_path: Path) -> None:
    """The function that adds it, with an entry whose index was never had."""
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(MAIN + BACKPORTS)
    code = f'source "{SCRIPT}"; apt_folder="{tmp_path}"; add_backports bookworm && echo good'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "good\n"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["sources.list", "sources.list.d"]
