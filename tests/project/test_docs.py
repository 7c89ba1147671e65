"""The pages that people read: their links lead somewhere, and their language stays plain."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
PLACE = re.compile(r"\bdocs/[\w./-]*\w")  # a path in a sentence or a comment


BUILT = {"build", "dist", "__pycache__"}


def files(*places: str) -> list[Path]:
    """The files in these folders of the repository; "." means the whole of it. Hidden folders and
    those that a build made are left out."""
    found = []
    for folder, folders, names in (step for place in places for step in os.walk(ROOT / place)):
        folders[:] = [name for name in folders if name not in BUILT and not name.startswith(".")]
        found += [Path(folder, name) for name in names]
    return sorted(found)


PAGES = [file for file in files(".") if file.suffix == ".md"]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and GitLab make them."""
    titles = re.findall(r"^#+ +(.*)$", page.read_text(), re.M)
    bare = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in bare}


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that lead to no file, or to no heading of a page."""
    broken = []
    for target in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name) if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    return broken


def test_every_relative_link_leads_to_a_file() -> None:
    assert len(PAGES) > 20
    broken = {str(page.relative_to(ROOT)): broken_links(page) for page in PAGES}
    assert {name: links for name, links in broken.items() if links} == {}


@pytest.mark.parametrize(
    "text", ["[a](no-such.md)", "[a](#nowhere)", "[a](README.md#nowhere)", "![a](no.png)"]
)
def test_the_link_test_sees_a_broken_link(text: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Here\n")
    page = tmp_path / "page.md"
    page.write_text(f"# There\n\n[good](README.md#here) [also](#there) {text}\n")
    assert len(broken_links(page)) == 1


def test_every_page_that_a_file_names_exists() -> None:
    """Code and scripts name pages in docstrings and messages, where no link is."""
    missing = {}
    for file in files("."):
        if file.suffix in (".foz", ".spv", ".png", ".case"):
            continue
        text = file.read_text(errors="ignore")
        gone = {name for name in PLACE.findall(text) if not (ROOT / name).exists()}
        if gone:
            missing[str(file.relative_to(ROOT))] = sorted(gone)
    assert missing == {}


def test_the_map_of_the_docs_lists_every_page() -> None:
    page = ROOT / "docs" / "README.md"
    listed = {(page.parent / target.partition("#")[0]) for target in LINK.findall(page.read_text())}
    there = {file for file in PAGES if page.parent in file.parents and file != page}
    assert {str(file.relative_to(ROOT)) for file in there - listed} == set()
