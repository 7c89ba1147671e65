"""The interpreter shares only the decoder with the linker, and only it loads numpy."""

from __future__ import annotations

from pathlib import Path

from tests.project.test_architecture import PACKAGE, imports, own_name, room_of

ALLOWED = {"grammar", "binary", "ir", "errors", "pipeline", "options", "verify"}
READING = {"spvlink.ir.core", "spvlink.ir.types"}  # of the decoded form: no code that edits it
FILES = sorted((PACKAGE / "verify" / "machine").rglob("*.py"))


def shared(path: Path) -> set[str]:
    """What a file imports that the interpreter may not know."""
    return {
        name
        for name in imports(path)
        if room_of(name) not in ALLOWED or (room_of(name) == "ir" and ".".join(
            name.split(".")[:3]) not in READING)
    }  # fmt: skip


def test_the_interpreter_knows_nothing_of_the_linker() -> None:
    assert len(FILES) > 15
    assert not {own_name(path): shared(path) for path in FILES if shared(path)}


def test_the_room_test_sees_breaches() -> None:
    assert shared(PACKAGE / "driver.py") and shared(PACKAGE / "facts" / "cfg.py")


def test_nobody_else_in_the_package_loads_numpy() -> None:
    room = PACKAGE / "verify" / "machine"
    others = [path for path in PACKAGE.rglob("*.py") if room not in path.parents]
    wrong = [own_name(p) for p in others if "import numpy" in p.read_text()]
    assert len(others) > 200 and not wrong
