"""The page: ``pieces`` of one HTML file that needs nothing else, and may not ask for anything.

Names and reasons come from the modules of strangers. They are in the page as JSON only, with no
character that HTML knows, and the script makes text nodes of them. Besides, the page says what may
run in it: the one script with that digest.
"""

from __future__ import annotations

import base64
import html
import os
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from spvlink import report
from spvlink.page import untouched
from spvlink.page.data import LINKED, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spvlink.page.data import Entry
    from spvlink.pipeline import Linked

SCRIPTS: Final = ("base.js", "picture.js", "chart.js", "pipelines.js", "page.js")
_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))
_UNSAFE: Final = re.compile("[<>&]")  # in JSON these stand in strings only
_NOT_ASCII: Final = re.compile("[^\\x00-\\x7f]")  # in scripts these stand in strings only


def of_batch(
    version: str, line: str, totals: Entry, jobs: Iterable[Entry], pipelines: Iterable[Entry],
    unknown: Iterable[Entry] = (),
) -> Iterator[str]:  # fmt: skip
    """The page of a batch: its ``totals``, one ``line`` that says all, and the entries of its
    report. ``unknown``: what pipelines have that spvlink does not know, most first."""
    head: Entry = {
        "spvlink": version, "title": "spvlink batch", "line": line, "totals": totals,
        "unknown": [[entry["what"], entry["pipelines"]] for entry in unknown],
    }  # fmt: skip
    return pieces(Page(head, jobs, pipelines))


def of_link(version: str, linked: Linked, entries: dict[str, str | None]) -> Iterator[str]:
    """The page of one pipeline. ``entries``: the entry point of each of its files, if one was
    named."""
    files = [os.path.basename(stage.file) or stage.stage for stage in linked.stages]
    passed = linked.passed_through
    job: Entry = {
        "kind": LINKED if passed is None else "passed through",
        "reason": passed,
        "stages": [report.stage(s) | {"at": at} for at, s in enumerate(linked.stages)],
        "interfaces": [report.interface(i) for i in linked.interfaces],
        "remarks": [report.remark(r) | {"cells": r.cells} for r in linked.remarks],
    }
    if passed is not None:
        job["untouched"] = untouched.describe(linked.stages, entries, passed)
    pipeline: Entry = {
        "id": ", ".join(files), "job": 0, "kind": job["kind"], "reason": passed,
        "stages": [stage.file for stage in linked.stages],
    }  # fmt: skip
    head = {"spvlink": version, "title": "spvlink link", "line": None, "totals": None}
    return pieces(Page(head, [job], [pipeline]))


def pieces(page: Page) -> Iterator[str]:
    """The HTML; ASCII, so that it is the same in every encoding that standard output may have."""
    style = _read("page.css")
    script = _NOT_ASCII.sub(_escaped, "".join(map(_read, SCRIPTS)))
    before, _, after = _read("page.html").partition("@DATA@")
    parts = {
        "STYLE_DIGEST": _digest(style),
        "SCRIPT_DIGEST": _digest(script),
        "TITLE": html.escape(str(page.head["title"])),
        "LINE": html.escape(str(page.head["line"] or "")),
        "STYLE": style,
        "SCRIPT": script,
    }
    yield _filled(before, parts)
    for piece in page.json():
        yield _UNSAFE.sub(_escaped, piece)
    yield _filled(after, parts)


def _escaped(match: re.Match[str]) -> str:
    """A character as the strings of JSON and of scripts have it."""
    return f"\\u{ord(match[0]):04x}"


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub("@([A-Z_]+)@", lambda match: parts[match[1]], template)


def _digest(text: str) -> str:
    """As a Content-Security-Policy has it."""
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()
