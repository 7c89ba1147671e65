"""python -m tests.archive.record_all VK_LAYER_FOLDER OUT.foz

Records examples/batch/shaders.foz as ``record`` does its archive: every pipeline of shaders/ once,
as it is drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

from spvlink.draw.draw import Draw
from tests.archive import record
from tests.support import chains

if __name__ == "__main__":
    if sys.argv[1:] == ["--draw"]:
        for name in chains.NAMES:
            try:
                record.draw(Draw, name)
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    else:
        record.record(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), "tests.archive.record_all")
