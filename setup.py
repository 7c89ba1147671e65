"""Builds spvlink: pure Python, or, with SPVLINK_COMPILE=1, its core compiled by mypyc.

What is compiled is what runs for every pipeline. Left out: tables (as C they would be a hundred
megabytes, and their numbers are put in anyway), what runs once a process, and what only people ask for.
"""

import os
from pathlib import Path

from setuptools import setup

COMPILED = ("binary", "chain", "facts", "ir", "link", "passes", "rules")
ALONE = ("driver.py", "errors.py", "layout.py", "pipeline.py")
LEFT_OUT = ("ir/check.py", "ir/check_flow.py", "ir/check_types.py")


def sources() -> list[str]:
    root = Path("spvlink")
    found = [root / name for name in ALONE]
    for folder in COMPILED:
        found += sorted((root / folder).rglob("*.py"))
    return [
        str(path) for path in found
        if path.name != "__init__.py" and path.relative_to(root).as_posix() not in LEFT_OUT
    ]  # fmt: skip


extensions = []
if os.environ.get("SPVLINK_COMPILE") == "1":
    from mypyc.build import mypycify

    extensions = mypycify(sources(), opt_level="2", debug_level="0", multi_file=True)
setup(ext_modules=extensions)
