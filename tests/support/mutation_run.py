"""Which tests ask which guards, and whether they fail without one: the pytest side of
scripts/mutants.

``Recorder`` runs tests once on instrumented files and writes down, for every test, which guards
were asked and what they answered: a mutant that forces True what was never False in a test need not
be run in it. ``Runner`` forks a child for every mutant, which plants it and runs the tests that can
tell, fastest first, until one fails.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.support import mutation
from tests.support.mutation import Guard

TOOLS = ("glslangValidator", "spirv-as", "spirv-dis", "spirv-opt", "spirv-val")
Answers = dict[str, list[int]]  # file -> 2 * place + truth value, of what was asked


def module_name(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


# --- what compilers and validators said once they need not say again ---


class Tools:
    """Results of the tools that tests start, by command, standard input and files read."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.known: dict[object, tuple[object, dict[int, bytes]]] = {}
        if store.exists():
            self.known = pickle.loads(store.read_bytes())  # our own, see save
        self.run = subprocess.run

    def install(self) -> None:
        """From here on ``subprocess.run`` and ``spvlink.spawn.run_all`` ask here first."""
        from spvlink import spawn

        run_all = spawn.run_all

        def spawned(jobs: Sequence[tuple[Sequence[str], bytes]]) -> list[tuple[int, bytes]]:
            if any(command[0] != "spirv-val" or command[-1] != "-" for command, _ in jobs):
                return run_all(jobs)
            keys = [(tuple(command), data) for command, data in jobs]
            for key, job in zip(keys, jobs):
                if key not in self.known:
                    self.known[key] = run_all([job])[0], {}
            return [self.known[key][0] for key in keys]  # type: ignore[misc]

        spawn.run_all = spawned
        subprocess.run = self._run  # type: ignore[assignment]

    def _run(self, command: object, **options: object) -> object:
        if not isinstance(command, list) or command[0] not in TOOLS or "env" in options:
            return self.run(command, **options)  # type: ignore[call-overload]
        words = [str(word) for word in command]
        paths = [Path(options.get("cwd") or ".", word) for word in words]  # type: ignore[arg-type]
        out = {n + 1 for n, word in enumerate(words) if word == "-o"}
        key: list[object] = [repr(sorted(options.items(), key=lambda o: o[0]))]
        for number, (word, path) in enumerate(zip(words, paths)):
            if number in out:
                key.append("-" if word == "-" else "out")
            else:
                key.append((path.suffix, path.read_bytes()) if path.is_file() else word)
        asked = tuple(key)
        if asked not in self.known:
            done = self.run(command, **options)  # type: ignore[call-overload]
            made = {n: paths[n].read_bytes() for n in out if n < len(words) and paths[n].is_file()}
            self.known[asked] = done, made
            return done
        done, made = self.known[asked]
        for number, data in made.items():
            paths[number].write_bytes(data)
        if options.get("check"):
            done.check_returncode()  # type: ignore[attr-defined]
        return done

    def save(self) -> None:
        self.store.parent.mkdir(parents=True, exist_ok=True)
        self.store.write_bytes(pickle.dumps(self.known))


# --- which tests ask what ---


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles instrumented files, whatever was compiled before."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class Recorder:
    """A pytest plugin: writes ``folder``/TEST FILE.json."""

    def __init__(self, root: Path, files: list[str], folder: Path, tools: Tools) -> None:
        self.folder, self.tools = folder, tools
        self.codes: dict[str, tuple[str, CodeType]] = {}
        self.ranges: list[tuple[str, int, int]] = []
        first = 0
        for file in files:
            source = (root / file).read_text()
            path = str(root / file)
            self.codes[module_name(file)] = path, mutation.instrumented(source, path, first)
            count = len(mutation.places(mutation.guards(source)))
            self.ranges.append((file, first, first + count))
            first += count
        self.sources = {file: digest(root / file) for file in files}
        self.hits = bytearray(2 * first)
        self.tests: dict[str, tuple[float, Answers]] = {}
        self.failed = False

    def install(self) -> None:
        """Before the package is imported."""
        import builtins

        hits = self.hits

        def seen(number: int, value: object) -> object:
            hits[2 * number + (1 if value else 0)] = 1
            return value

        setattr(builtins, mutation.SEEN, seen)
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.codes:
            return None
        file, code = self.codes[name]
        return importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file, code))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        self.hits[:] = bytes(len(self.hits))
        self.failed = False
        start = time.perf_counter()
        result = yield
        seconds = time.perf_counter() - start
        if not self.failed:
            answers: Answers = {}
            for file, first, end in self.ranges:
                found = [n for n in range(2 * (end - first)) if self.hits[2 * first + n]]
                if found:
                    answers[file] = found
            self.tests[item.nodeid] = seconds, answers
        if nextitem is None or nextitem.path != item.path:
            self._write(item.path)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or not report.passed

    def _write(self, path: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        held = {"sources": self.sources, "tests": self.tests}
        target = self.folder / f"{path.stem}.json"
        partial = target.with_suffix(".part")
        partial.write_text(json.dumps(held))
        partial.rename(target)
        self.tests.clear()
        self.tools.save()


# --- whether one of them fails ---


@dataclass
class Trial:
    """A mutant, the tests that can tell (seconds, name), and what came of it."""

    file: str
    guard: Guard
    tests: list[tuple[float, str]] = field(default_factory=list)
    asked: bool = False
    result: str = ""  # killed, timed out, survived, never differs, not covered, cannot be planted
    by: str = ""  # which test, and what it said


class Runner:
    """A pytest plugin that runs trials instead of the tests that were collected."""

    def __init__(
        self, root: Path, trials: list[Trial], seconds: float, told: Callable[[Trial], None]
    ) -> None:
        self.root, self.trials, self.seconds, self.told = root, trials, seconds, told
        self.pipe = -1  # of a child

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for trial in self.trials:
            if not trial.result:
                self._try(trial, items)
            self.told(trial)
        return True

    def _try(self, trial: Trial, items: dict[str, pytest.Item]) -> None:
        chosen: list[pytest.Item] = []
        total = 0.0
        for seconds, name in sorted(trial.tests):
            if name in items and (total + seconds < self.seconds or not chosen):
                chosen.append(items[name])
                total += seconds
        ours, theirs = os.pipe()
        child = os.fork()
        if not child:
            os.close(ours)
            self.pipe = theirs
            self._child(trial, chosen)
        os.close(theirs)
        said = b""
        end = time.monotonic() + 20 + 4 * total
        while select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]:
            part = os.read(ours, 4096)
            if not part:
                break
            said += part
        else:
            os.kill(child, signal.SIGKILL)
            said = b"timed out\n"
        os.close(ours)
        os.waitpid(child, 0)
        trial.result, _, trial.by = said.decode("utf-8", "replace").partition("\n")
        if not trial.result:
            trial.result, trial.by = "killed", "the interpreter died"

    def _child(self, trial: Trial, items: list[pytest.Item]) -> None:
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            path = self.root / trial.file
            module: ModuleType = importlib.import_module(module_name(trial.file))
            if not mutation.plant(module, path.read_text(), str(path), trial.guard):
                self._end("cannot be planted")
            for item, following in zip(items, [*items[1:], None]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self._end(f"survived\n{len(items)} of {len(trial.tests)} tests")
        except BaseException as error:
            self._end(f"killed\n{type(error).__name__}: {error}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.pipe >= 0 and report.failed:
            lines = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
            self._end(f"killed\n{report.nodeid}: {lines[0][1:].strip() if lines else ''}")

    def _end(self, result: str) -> None:
        os.write(self.pipe, result.encode()[:4000])
        os._exit(0)
