"""Which test files run once, on pure Python: those that import nothing of spvlink, by themselves or
by their helpers, but its rooms ``draw`` and ``layer`` (without ``layer.work``, which links). mypyc
compiles none of them. The compiled run leaves them out (--compiled-only, scripts/test --compiled):
the harness that draws, scripts, the layer's C and real programs. Processes that they start may
link; other files of the same folders see that they do so on the compiled package, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOT_COMPILED = ("draw", "layer")
LINKS = "spvlink.layer.work"


@cache
def runs_once(path: Path) -> bool:
    """Whether a test file and its helpers import nothing that links."""
    todo, seen = [path], {path}
    while todo:
        for name in _imported(todo.pop()):
            if name.partition(".")[0] == "spvlink":
                if name.split(".")[1:2] not in [[room] for room in NOT_COMPILED] or name == LINKS:
                    return False
            helper = ROOT / f"{name.replace('.', '/')}.py"
            for file in (helper, helper.with_suffix("") / "__init__.py"):
                if name.startswith("tests.") and file.exists() and file not in seen:
                    seen.add(file)
                    todo.append(file)
    return True


def _imported(path: Path) -> Iterator[str]:
    """The modules that import statements name; ``from spvlink import batch`` names the package
    unless ``batch`` is one of its modules."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(path.relative_to(ROOT).parts[: -node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                place = ROOT / module.replace(".", "/") / alias.name
                inner = place.is_dir() or place.with_suffix(".py").exists()
                yield f"{module}.{alias.name}" if inner else module
