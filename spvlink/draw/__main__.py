"""python -m spvlink.draw a.vert.spv b.frag.spv [--linked c.vert.spv d.frag.spv] [--png DIR]

Prints coverage, and with --linked whether the linked stages draw the same picture. Exit status:
0 drawn (and equal), 1 different or nothing worth comparing drawn, 2 cannot be drawn.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spvlink.draw import CannotDraw, compare, draw, draw_covering, messages, save_png


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m spvlink.draw", description=__doc__)
    parser.add_argument("stages", nargs="+", type=Path, help="SPIR-V files of one pipeline")
    parser.add_argument("--linked", nargs="+", type=Path, default=[], help="to compare with")
    parser.add_argument("--png", type=Path, metavar="DIR", help="write the pictures here")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", type=int, default=1, choices=(1, 4))
    parser.add_argument("--validate", action="store_true", help="compare validation messages too")
    options = parser.parse_args(arguments)
    codes = [path.read_bytes() for path in options.stages]
    try:
        scene, result = draw_covering(codes, options.seed, options.samples)
    except CannotDraw as reason:
        print(f"cannot draw: {reason}")
        return 2
    print(
        f"coverage {result.coverage:.1%}, {result.distinct} distinct values, "
        f"scene variant {scene.variant}, {len(result.buffers)} buffers"
    )
    good = result.is_good()
    if not good:
        print("too little was drawn to prove anything")
    if options.png:
        save_png(result, options.png, "original")
    if options.linked:
        linked = [path.read_bytes() for path in options.linked]
        other = draw(linked, scene)
        difference = compare(result, other)
        print(f"linked: {difference}")
        good = good and not difference
        if options.png:
            save_png(other, options.png, "linked")
        if options.validate:
            new = messages(linked, scene) - messages(codes, scene)
            print(f"new validation messages: {dict(new) or 'none'}")
            good = good and not new
    elif options.validate:
        print(f"validation messages: {dict(messages(codes, scene)) or 'none'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
