"""Names and texts that try to break out of a page."""

from __future__ import annotations

from spvlink.page import page
from tests.support import pages


def hostile() -> str:
    """A page all names of which are hostile."""
    entry = pages.job(0)
    for n, remark in enumerate(entry["remarks"]):
        remark["name"] = remark["why"] = remark["slot"] = pages.HOSTILE[n % len(pages.HOSTILE)]
    for stage in entry["stages"]:
        stage["stage"] = pages.HOSTILE[0]
    pipelines = [
        {"id": h, "job": None, "kind": "invalid", "reason": h, "stages": [h]} for h in pages.HOSTILE
    ]
    pipelines.append(
        {"id": "x", "job": 0, "kind": "linked", "reason": None, "stages": [*pages.HOSTILE[:2]]}
    )
    return "".join(page.of_batch("1", pages.HOSTILE[0], pages.totals(), [entry], pipelines))
