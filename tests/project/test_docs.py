"""The pages that people read: their links lead somewhere, and their language stays plain."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from spvlink import arguments, cli
from spvlink.batches import arguments as of_batch
from spvlink.chain import table
from spvlink.layer import command as of_layer
from spvlink.library import build as of_library
from spvlink.lint import arguments as of_check
from spvlink.verifier import command as of_verify

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


# --- language ---

RIDDLES = re.compile(
    r"\b(?:hangs?|hung|hanging) on\b|\bas of varyings\b|\bhow it is held\b"
    r"|\bsays what another says\b|\bwhoever\b|\bwho wants\b",
    re.I,
)
WHAT = re.compile(r"\bwhat\b", re.I)
MOST_WHATS = 2.5  # in 1,000 words
DOCS = [file for file in PAGES if ROOT / "docs" in file.parents]
FRONT = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
HELPS = {
    "link": arguments.HELP_ALL,
    "batch": of_batch.HELP_ALL,
    "link, short": arguments.HELP,
    "batch, short": of_batch.HELP,
    "merge": of_batch.HELP_MERGE,
    "check": of_check.HELP,
    "commands": arguments.OVERVIEW,
    "layer": of_layer.HELP,
    "library": of_library.HELP,
    "verify": of_verify.HELP,
}


def prose(text: str) -> str:
    """A page without its code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def whats(texts: list[str]) -> float:
    """How often "what" stands among 1,000 words."""
    words = sum(len(text.split()) for text in texts)
    return 1000 * sum(len(WHAT.findall(text)) for text in texts) / words


@pytest.mark.parametrize("pages", [DOCS, FRONT], ids=["docs", "front"])
def test_what_is_rare_as_a_clause(pages: list[Path]) -> None:
    assert whats([prose(page.read_text()) for page in pages]) <= MOST_WHATS


def test_what_is_rare_in_help() -> None:
    assert whats(list(HELPS.values())) <= MOST_WHATS


def test_what_is_counted() -> None:
    text = "Do `what` it says: what is read.\n\n    what\n\n```\nwhat\n```\n"
    assert whats([prose(text)]) == 1000 * 1 / 6


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_riddles_in_pages(page: Path) -> None:
    assert RIDDLES.findall(page.read_text()) == []


def test_no_riddles_in_help_and_code() -> None:
    """Remarks, reasons, docstrings, comments and help."""
    code = [file for file in files("spvlink", "scripts") if file.suffix != ".md"]
    found = {
        str(file.relative_to(ROOT)): riddles
        for file in code
        if (riddles := RIDDLES.findall(file.read_text(errors="ignore")))
    }
    assert found == {}
    assert len(code) > 250


def test_the_language_test_sees_riddles() -> None:
    text = "It hangs on a, as of varyings.\n# How it is held\nWhoever wants b"
    assert len(RIDDLES.findall(text)) == 4


LABELS = ["**Why it is right.**", "**What breaks it.**", "**Cost.**"]


def sections_of_passes() -> list[str]:
    page = (ROOT / "docs" / "reference" / "passes.md").read_text()
    return re.split(r"^### ", page, flags=re.M)[1:]


@pytest.mark.parametrize("section", sections_of_passes(), ids=lambda text: text.split("`")[1])
def test_each_pass_says_why_it_is_right_and_what_breaks_it_and_its_cost(section: str) -> None:
    labels = re.findall(r"^\*\*[A-Z][^*]*\.\*\*", section, re.M)
    assert labels == LABELS


def test_a_reader_of_the_readme_finds_each_pass_with_its_code_and_tests() -> None:
    assert "docs/reference/passes.md" in LINK.findall((ROOT / "README.md").read_text())
    page = (ROOT / "docs" / "reference" / "passes.md").read_text()
    index = page.partition("\n## Passes over a border")[0]
    sections = sections_of_passes()
    assert len(sections) > 40
    for section in sections:
        name = section.split("`")[1]
        assert f"| [`{name}`](#{name.replace('.', '')}) |" in index, name
        assert re.search(r"^- Code: \[`spvlink[\w.]+:\w+`\]", section, re.M), name
        assert re.search(r"^- Tests: \[tests/passes/\w+\]", section, re.M), name


# --- the man page ---


def test_the_man_page_renders_without_warnings() -> None:
    """It has every option of every command, and every pass."""
    page = ROOT / "docs" / "spvlink.1"
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", "-P-c", page], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    text = re.sub(r".\x08", "", done.stdout)  # bold letters are struck twice
    words = set(text.split())
    known = {"spvlink", "layer", *table.PASSES}
    for command in (arguments.WORDS, of_batch.WORDS, of_check.WORDS):
        known |= {*command.flags, *command.values, *command.lists}
    assert known - {word.strip(",:.") for word in words} == set()


# --- lengths ---


def test_the_readme_has_at_most_1100_words() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 1100


def test_the_changes_of_a_release_take_at_most_60_lines() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    assert releases
    for release in releases:
        assert len(release.splitlines()) <= 60, release.splitlines()[0]


def test_lines_of_passes_are_short_and_imperative(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 30
    for line in lines:
        assert len(line) < 60, line
        verb = line.split()[1]
        assert verb[0].isupper() and not verb.endswith(("s", "ing", "ed")), line
