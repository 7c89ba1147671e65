#!/usr/bin/env python3
"""Links the modules of one pipeline from Python and says what that brought.

usage: link.py OUT_DIR STAGE.spv ...
"""

import sys
from pathlib import Path

import spvlink


def main(out_dir: str, *files: str) -> int:
    sources = [spvlink.Source(Path(file).read_bytes(), file) for file in files]
    try:
        linked = spvlink.link(sources)
    except spvlink.SpvlinkError as error:
        print(f"{error.file or 'link.py'}: {error}", file=sys.stderr)
        return 1
    if linked.passed_through:
        print(f"unchanged: {linked.passed_through}")
    for border in linked.interfaces:
        before, after = border.locations
        print(f"{border.producer}->{border.consumer}: {before} -> {after} Locations")
    for stage in linked.stages:
        target = Path(out_dir) / Path(stage.file).name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(stage.data)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
