"""Pages of ``--html`` for tests: their data, made of links of shaders/, and a browser for them."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import spvlink
from spvlink import report
from tests.support.chains import build

Entry = dict[str, Any]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MODELS = ("car_paint", "water_tess", "meshlets", "material", "uber", "leaf_points", "gbuffer")
HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<svg onload=alert(2)>",
    "\"><b id='planted'>",
    "javascript:alert(3)",
    "{{alert(4)}}<!--",
    "\u2028\u2029\u202e\udcff&lt;",
)


# -- data ------------------------------------------------------------------------------------------


@cache
def model(name: str) -> str:
    """The entry of a job, as JSON so that nobody changes it."""
    linked = spvlink.link(build(name), validate=False)
    entry = {
        "kind": "linked",
        "reason": linked.passed_through,
        "stages": [report.stage(s) | {"at": at} for at, s in enumerate(linked.stages)],
        "interfaces": [report.interface(i) for i in linked.interfaces],
        "remarks": [report.remark(r) | {"cells": r.cells} for r in linked.remarks],
    }
    return json.dumps(entry)


def job(number: int) -> Entry:
    """One of any number of jobs, no two with the same names."""
    entry: Entry = json.loads(model(MODELS[number % len(MODELS)]))
    for told in entry["remarks"]:
        told["name"] += f"_{number // len(MODELS)}"
    return entry


def pipelines(count: int, jobs: list[Entry]) -> Iterator[Entry]:
    """The first of each job, then others, most of the first jobs; some that are no jobs."""
    chosen = random.Random(19)
    for index in range(count):
        at = index if index < len(jobs) else int(len(jobs) * chosen.random() ** 2)
        if index % 1000 == 999:
            yield {"id": f"broken {index}", "job": None, "kind": "invalid", "reason": "cut off"}
            continue
        yield {
            "id": f"{chosen.getrandbits(64):016x}",
            "job": at,
            "kind": jobs[at]["kind"],
            "reason": jobs[at]["reason"],
            "stages": [f"{s['stage']} {at:016x}" for s in jobs[at]["stages"]],
        }


def totals(**known: int) -> Entry:
    names = ("pipelines", "jobs", "found", "linked", "unchanged", "passed_through", "failed")
    pairs = ("modules", "locations", "components", *report.BYTES)
    return dict.fromkeys(names, 0) | {n: [0, 0] for n in pairs} | known


class _Data(HTMLParser):
    """What is in <script type="application/json">, and the elements of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.text = ""
        self.elements: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.inside = ("type", "application/json") in attrs

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""


def read(html: str) -> tuple[Entry, list[str]]:
    """The data of a page and the names of its elements, as an HTML parser sees them."""
    parser = _Data()
    parser.feed(html)
    return json.loads(parser.text), parser.elements


# -- browser ---------------------------------------------------------------------------------------


def find_chromium() -> str | None:
    """A Chromium that starts."""
    for name in CHROMIUM:
        path = shutil.which(name)
        # Ubuntu's package is a script that wants a snap
        if path and not subprocess.run([path, "--version"], capture_output=True).returncode:
            return path
    return None


def chromium() -> str:
    """A Chromium that starts. Skips the test where there is none."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine (Debian's package: chromium)")
    return path


class Opened:
    """A page in the browser. ``trouble``: what went wrong there, and what it asked the network
    for."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        viewport = {"width": settings.pop("width", 1100), "height": 900}
        self.page: Page = browser.new_page(viewport=viewport, **settings)  # type: ignore[arg-type]
        self.trouble: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.trouble.append("dialog"), dialog.dismiss()))
        self.page.on("request", self._asked)
        self.address = address
        self.page.goto(address)

    def _asked(self, request: Any) -> None:
        if request.url.partition("#")[0] != self.address.partition("#")[0]:
            if not request.url.startswith("data:"):
                self.trouble.append(f"asked for {request.url}")

    def rows(self) -> list[str]:
        """The names in the list of pipelines."""
        return self.page.locator("#rows button.plain").all_inner_texts()

    def search(self, words: str) -> list[str]:
        self.page.fill("#search", words)
        return self.rows()
