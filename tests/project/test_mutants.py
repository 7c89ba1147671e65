"""scripts/mutants itself, on a tiny file: what guards it finds, what it plants, what it reports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.mutation import guards, instrumented, places, plant

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = """
def early(a, b):
    if a or not b:
        return 1
    return 2

def both(a, b):
    return a and b

def way_out(a, b):
    for x in a:
        if x and b:
            break
    else:
        raise ValueError("none")
    return [x for x in a if x > 1]

class Held:
    @staticmethod
    def named(a):
        if a is None:
            return 0
        assert a
        if a > 3:
            a += 1
        return a
"""


def test_guards() -> None:
    assert [str(g) for g in guards(SAMPLE)] == [
        "early: a -> False",
        "early: b -> True",
        "both: a -> True",
        "both: b -> True",
        "way_out: x and b -> False",
        "way_out: raise ValueError('none') taken away",
        "way_out: x > 1 -> True",
        "Held.named: a > 3 -> False",
        "Held.named: a > 3 -> True",
    ]


def loaded() -> ModuleType:
    module = ModuleType("sample")
    exec(SAMPLE, vars(module))
    return module


@pytest.mark.parametrize(
    ("guard", "call", "before", "after"),
    [
        ("early: a -> False", "early(1, 1)", 1, 2),
        ("early: b -> True", "early(0, 0)", 1, 2),
        ("both: b -> True", "both(1, 0)", 0, True),
        ("way_out: x and b -> False", "way_out([1, 2], 1)", [2], "ValueError"),
        ("way_out: raise ValueError('none') taken away", "way_out([], 1)", "ValueError", []),
        ("way_out: x > 1 -> True", "way_out([1, 2], 1)", [2], [1, 2]),
        ("Held.named: a > 3 -> True", "Held.named(1)", 1, 2),
    ],
)
def test_planted(guard: str, call: str, before: object, after: object) -> None:
    module = loaded()
    function = vars(module)[guard.partition(":")[0].partition(".")[0]]

    def result() -> object:
        try:
            return eval(call, vars(module))
        except ValueError:
            return "ValueError"

    assert result() == before
    chosen = next(g for g in guards(SAMPLE) if str(g) == guard)
    assert plant(module, SAMPLE, "sample.py", chosen)
    assert result() == after
    assert vars(module)[function.__name__] is function  # whoever imported it has the mutant


def test_answers_are_recorded() -> None:
    seen: list[tuple[int, bool]] = []

    def note(number: int, value: object) -> object:
        seen.append((number, bool(value)))
        return value

    module = ModuleType("sample")
    vars(module)["_mutants_seen"] = note
    exec(instrumented(SAMPLE, "sample.py", 10), vars(module))
    numbers = places(guards(SAMPLE))
    assert sorted(numbers.values()) == list(range(8))  # two guards share a place
    assert module.early(0, 1) == 2 and seen == [(10, False), (11, True)]
    seen.clear()
    assert module.Held.named(4) == 5 and seen == [(17, True)]
    seen.clear()
    with pytest.raises(ValueError, match="none"):
        module.way_out([], 1)
    assert seen == [(15, True)]


def test_report(tmp_path: Path) -> None:
    """A guard that a test needs and one that none does, as the script tells it."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "tests/support").mkdir(parents=True)
    (tmp_path / "spvlink").mkdir()
    for name in ("scripts/mutants", "tests/support/mutation.py", "tests/support/mutation_run.py"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "spvlink/__init__.py").write_text("")
    (tmp_path / "spvlink/spawn.py").write_text("def run_all(jobs): return []\n")
    (tmp_path / "spvlink/sample.py").write_text(SAMPLE)
    (tmp_path / "tests/mutants.known").write_text(
        "# file | guard | reason\nspvlink/sample.py | Held.named: a > 3 -> True | only a sample\n"
        "spvlink/sample.py | Held.gone: a | 1 -> True | a guard may have a bar, too\n"
    )
    (tmp_path / "tests/test_sample.py").write_text(
        "from spvlink.sample import Held, both, early\n"
        "def test_early(): assert early(1, 1) == 1 and early(0, 1) == 2\n"
        "def test_both(): both(0, 1); both(1, 0)\n"
        "def test_named(): assert Held.named(2) == 2\n"
    )
    command = [sys.executable, "scripts/mutants", "spvlink/sample.py", "--kills"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = [line.partition(" (")[0] for line in done.stdout.splitlines() if "sample" in line]
    assert lines == [
        "spvlink/sample.py:3: killed: early: a -> False",
        "spvlink/sample.py:3: never differs: early: b -> True",
        "spvlink/sample.py:8: survived: both: a -> True",
        "spvlink/sample.py:8: survived: both: b -> True",
        "spvlink/sample.py:12: not covered: way_out: x and b -> False",
        "spvlink/sample.py:15: not covered: way_out: raise ValueError('none') taken away",
        "spvlink/sample.py:16: not covered: way_out: x > 1 -> True",
        "spvlink/sample.py:24: never differs: Held.named: a > 3 -> False",
        "spvlink/sample.py:24: known: Held.named: a > 3 -> True",
        "spvlink/sample.py: 9 guards, 1 killed, 2 survived, 2 never differs, 3 not covered"
        ", 1 known",
    ], done.stdout + done.stderr
    assert done.returncode == 1


def test_what_is_known_is_there() -> None:
    """A line of mutants.known that names no guard any more excuses nothing."""
    lines = (ROOT / "tests/mutants.known").read_text().splitlines()
    known: dict[str, set[str]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            file, _, rest = line.partition(" | ")
            guard, _, reason = rest.rpartition(" | ")
            assert guard and reason, line
            known.setdefault(file, set()).add(guard)
    assert known
    for file, guarded in known.items():
        found = {str(guard) for guard in guards((ROOT / file).read_text())}
        assert guarded <= found, file
