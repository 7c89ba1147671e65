"""The house rules that code can hold: layers, who may write, generated files, start-up, size."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from spvlink.pipeline import ACTIONS
from tests.support.samples import pair

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "spvlink"
FILES = sorted(PACKAGE.rglob("*.py"))

# A room imports lower rooms and itself. Rooms of one number do not know each other.
RANKS = {
    "draw": 0,  # the harness that draws: nothing of spvlink, so that no defect hides itself
    "errors": 0,
    "grammar": 0,
    "ir": 1,
    "gpus": 2,
    "options": 2,  # what a user hands over and gets back
    "pipeline": 2,
    "binary": 3,
    "text": 3,
    "facts": 3,
    "rules": 3,
    "passes.cleaning": 4,  # the wings of ``passes``
    "passes.lowering": 5,
    "passes.opening": 5,
    "passes.raising": 6,
    "link.border": 7,  # the wings of ``link``
    "link.check": 7,
    "link.resources": 8,
    "link.rounding": 8,
    "link.dead": 9,
    "link.shape": 10,
    "link.values": 10,
    "link.motion": 10,
    "link.pack": 11,
    "link.builtins": 11,
    "link.payload": 12,
    "link.half": 12,
    "report": 13,  # one floor, free among themselves
    "validate": 13,
    "valid_modules": 14,
    "varying_bytes": 13,
    "digest_table": 13,
    "layout": 13,
    "entry": 13,
    "output": 13,
    "patches": 13,
    "sources": 13,
    "embed": 13,
    "spawn": 13,
    "system": 13,
    "chain": 14,
    "formats": 13,
    "state": 13,
    "state_use": 13,
    "seen": 13,
    "verdicts": 14,
    "driver": 15,
    "archive": 15,  # Fossilize archives: bytes and JSON, layouts and state, nothing of SPIR-V
    "arguments": 16,
    "sets": 16,  # modules that pipelines share
    "page": 16,  # what is told of links, for a browser
    "verifier": 16,  # proofs; of the linker it knows nothing, see KNOWN_TO_VERIFY
    "batches": 17,
    "layer": 17,
    "lint": 18,  # ``spvlink check``: reads sets as batches do
    "library": 18,  # builds libspvlink with what builds the layer
    "__init__": 19,
    "completions": 19,
    "cli": 20,
    "__main__": 21,
}
# Floors of modules that may import each other.
FREE = {RANKS["errors"], RANKS["options"], RANKS["report"]}
WINGED = {"link", "passes"}
# Modules that cost more at start-up than they are worth (milliseconds each), on the path of
# `spvlink link`. re and enum are not here: typing brings them, and Final needs typing.
HEAVY = {
    "argparse", "asyncio", "ctypes", "dataclasses", "decimal", "difflib", "email",
    "fractions", "hashlib", "importlib.metadata", "inspect", "json", "logging",
    "multiprocessing", "numpy", "pathlib", "pickle", "random", "shutil", "statistics",
    "subprocess", "tempfile", "textwrap", "threading", "tomllib", "traceback", "unittest",
    "urllib",
}  # fmt: skip


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """What a file consists of. Reading one takes time, and all these tests ask."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def room_of(module: str) -> str:
    """The room of a dotted module name: ``spvlink.ir.core`` is in ``ir``,
    ``spvlink.link.dead.varyings`` in the wing ``link.dead``."""
    parts = module.split(".")
    if len(parts) > 2 and parts[1] in WINGED:
        return ".".join(parts[1:3])
    return parts[1] if len(parts) > 1 else "__init__"


def rank(room: str) -> int:
    return -1 if room in WINGED else RANKS[room]  # their heads hold a map and no code


def imports(path: Path) -> set[str]:
    """Dotted names of the spvlink modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            found.add(module)
            if module == "spvlink":
                # `from spvlink import report` imports a module, `from spvlink import __version__`
                # the package
                found.discard(module)
                found |= {
                    f"spvlink.{a.name}" if (PACKAGE / f"{a.name}.py").exists() else "spvlink"
                    for a in node.names
                }
            elif (PACKAGE.parent / module.replace(".", "/")).is_dir():
                found.discard(module)
                found |= {f"{module}.{a.name}" for a in node.names}
    return {m for m in found if m.split(".")[0] == "spvlink"}


def own_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def breaches(name: str, imported: set[str]) -> list[str]:
    here = room_of(name)
    return [
        f"{name} imports {other}"
        for other in sorted(imported)
        if (there := room_of(other)) != here
        and (rank(there) > rank(here) or (rank(there) == rank(here) and rank(here) not in FREE))
    ]


def test_layers() -> None:
    wrong = [b for path in FILES for b in breaches(own_name(path), imports(path))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("spvlink.ir.core", "spvlink.facts.cfg"),
        ("spvlink.binary.decode", "spvlink.text.parser"),
        ("spvlink.grammar.info", "spvlink.ir.core"),
        ("spvlink.passes.cleaning.dce", "spvlink.link.dead.dead_varyings"),
        ("spvlink.passes.cleaning.dce", "spvlink.passes.lowering.promote"),
        ("spvlink.link.dead.dead_varyings", "spvlink.driver"),
        ("spvlink.driver", "spvlink.cli"),
    ],
)
def test_the_layer_test_sees_breaches(name: str, imported: str) -> None:
    assert breaches(name, {imported})
    assert not breaches(imported, {name}) or rank(room_of(name)) == rank(room_of(imported))


# A verifier that shares code with the passes would share their mistakes.
KNOWN_TO_VERIFY = {
    "binary", "draw", "entry", "errors", "grammar", "ir", "options", "pipeline", "state",
    "verifier",
}  # fmt: skip


def knows_too_much(imported: set[str]) -> set[str]:
    return {m for m in imported if room_of(m) not in KNOWN_TO_VERIFY}


def test_the_verifier_knows_nothing_of_the_linker() -> None:
    mine = {own_name(p): imports(p) for p in FILES if room_of(own_name(p)) == "verifier"}
    assert len(mine) > 10
    mine["spvlink.verifier.command"].discard("spvlink.sources")  # it reads files
    assert not {name: found for name, all in mine.items() if (found := knows_too_much(all))}
    for planted in ("spvlink.facts.cfg", "spvlink.link.border.link", "spvlink.driver",
                    "spvlink.passes.cleaning.fold", "spvlink.rules.match"):  # fmt: skip
        assert knows_too_much({planted, "spvlink.ir.core"}) == {planted}


# Of the decoded form the interpreter reads: no code that edits it.
READ_BY_THE_INTERPRETER = {"spvlink.ir.core", "spvlink.ir.types"}


def test_the_interpreter_edits_nothing() -> None:
    mine = [p for p in FILES if "machine" in p.parts]
    assert len(mine) > 15
    for path in mine:
        read = {".".join(m.split(".")[:3]) for m in imports(path) if room_of(m) == "ir"}
        assert read <= READ_BY_THE_INTERPRETER, path


def test_only_the_interpreter_and_the_harness_that_draws_load_numpy() -> None:
    rooms = {PACKAGE / "draw", PACKAGE / "verifier" / "machine"}
    loading = {p for p in FILES if "import numpy" in p.read_text()}
    assert loading and not {p for p in loading if rooms.isdisjoint(p.parents)}


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other, on whatever way: one line a circle, in the order of the
    imports. Imports inside of functions and for types alone count as well."""
    found: list[str] = []
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> None:
        if module in path:
            found.append(" -> ".join([*path[path.index(module) :], module]))
        elif module not in done:
            for other in sorted(graph.get(module, ())):
                walk(other, [*path, module])
            done.add(module)

    for module in graph:
        walk(module, [])
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {own_name(path): imports(path) for path in FILES}
    assert not circles(graph)
    assert graph["spvlink.driver"] and graph["spvlink.link.border.link"]
    graph["spvlink.link.border.link"].add("spvlink.link.dead.dead_varyings")  # planted
    planted = circles(graph)
    assert planted and all("spvlink.link.border.link" in line for line in planted)


def c_uses(sources: dict[str, str]) -> dict[str, set[str]]:
    """Of each C file the others whose functions it names. A function that is not static begins in
    the first column; what begins there with a name and is followed by a brace is a definition."""
    plain = {n: re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"', "", t, flags=re.S) for n, t in sources.items()}
    head = re.compile(r"^(?!static|typedef)\w[\w \n*]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
    owner = {name: file for file, text in plain.items() for name in head.findall(text)}
    return {
        file: {owner[w] for w in re.findall(r"\w+", text) if w in owner} - {file}
        for file, text in plain.items()
    }


def test_no_c_file_uses_itself_by_way_of_others() -> None:
    folders = (PACKAGE / "c", PACKAGE / "layer" / "c")
    sources = {path.name: path.read_text() for folder in folders for path in folder.glob("*.c")}
    graph = c_uses(sources)
    assert not circles(graph)
    assert {"libraries.c", "change.c"} <= graph["pipelines.c"] and "devices.c" in graph["shaders.c"]
    sources["runs.c"] += '\nstatic void planted(void) { log_event("planted"); }\n'
    assert circles(c_uses(sources)) == ["log.c -> runs.c -> log.c"]


def test_the_core_in_c_knows_nothing_of_vulkan() -> None:
    texts = [path.read_text() for path in (PACKAGE / "c").glob("*.[ch]")]
    assert len(texts) > 8 and not any(re.search(r"\bVk[A-Z]\w*\(|vulkan\.h", t) for t in texts)


def writes(path: Path) -> list[int]:
    """Lines that assign to ``x.args`` or an item of it, or call a mutating method of it
    (``self.args`` aside).
    """
    found: list[int] = []

    def is_args(node: ast.expr) -> bool:
        while isinstance(node, ast.Subscript):
            node = node.value
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "args"
            and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        )

    for node in nodes(path):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Delete):
            targets = node.targets
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr
            in ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse")
        ):
            targets = [node.func.value]
        flat = [
            t
            for target in targets
            for t in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        if any(is_args(t) for t in flat):
            found.append(node.lineno)
    return found


def test_facts_and_the_verifier_only_read() -> None:
    """Operands are written by ir/edit.py, by the readers of a module, and by passes on what they
    make; nobody else.
    """
    allowed = {"binary", "text", "passes", "link"}
    wrong = []
    for path in FILES:
        name = own_name(path)
        if (
            name == "spvlink.ir.edit"
            or name == "spvlink.ir.core"
            or room_of(name).split(".")[0] in allowed
        ):
            continue
        wrong += [f"{name}:{line}" for line in writes(path)]
    assert not wrong, wrong
    assert writes(PACKAGE / "ir" / "edit.py")


def walks(text: str) -> list[int]:
    """Lines that ask whether something is among the values of a dict, which looks at each."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        and isinstance(node.ops[0], (ast.In, ast.NotIn))
        and isinstance(called := node.comparators[0], ast.Call)
        and isinstance(called.func, ast.Attribute)
        and called.func.attr == "values"
    ]


def test_nobody_looks_for_one_among_the_values_of_a_dict() -> None:
    """Continue targets of all loops were looked through for each arm of a branch: the square of
    the loops, in a call that no count of calls shows."""
    assert walks("if a in b.values():\n    x = c.d not in f().values()") == [1, 2]
    rooms = {"binary", "facts", "ir", "passes"}  # borders have but some hundred slots
    code = [path for path in FILES if room_of(own_name(path)) in rooms]
    assert code and not [f"{own_name(path)}:{n}" for path in code for n in walks(path.read_text())]


COUNTERS = {"version", "flow", "annotated"}
ADDING = {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}


def edits_by_hand(text: str) -> list[int]:
    """Lines that move a counter of a module, or write its annotations."""
    found: list[int] = []
    for node in ast.walk(ast.parse(text)):
        counted: list[ast.expr] = []
        written: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            written = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            counted = [node.target] if isinstance(node, ast.AugAssign) else []
            written = [node.target]
        elif isinstance(node, ast.Delete):
            written = node.targets
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            written = [node.func.value] if node.func.attr in ADDING else []
        bare = [t.value if isinstance(t, ast.Subscript) else t for t in written]
        names = {(t.attr, t in counted) for t in bare if isinstance(t, ast.Attribute)}
        if any(name == "annotations" or (name in COUNTERS and by_one) for name, by_one in names):
            found.append(node.lineno)
    return found


def test_only_edit_moves_the_counters_of_a_module() -> None:
    """And writes its annotations. Whether the counters are right looks ``test_versions.py``."""
    mine = {"spvlink.ir.edit", "spvlink.ir.core"}
    wrong = [
        f"{own_name(path)}:{line}"
        for path in FILES
        if own_name(path) not in mine
        for line in edits_by_hand(path.read_text())
    ]
    assert not wrong, wrong


@pytest.mark.parametrize(
    "planted",
    [
        "module.version += 1",
        "self.side.module.flow += 1",
        "link.producer.module.annotated += 1",
        "module.annotations.append(note)",
        "module.annotations[:] = kept",
        "module.annotations += notes",
        "del module.annotations[2]",
    ],
)
def test_the_counter_test_sees_breaches(planted: str) -> None:
    assert edits_by_hand(planted) == [1]


def reads_of(text: str, attribute: str) -> list[int]:
    """Lines in which code touches ``x.attribute``, whatever x is."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == attribute
    ]


def test_facts_are_asked_for_in_one_way() -> None:
    """Nobody reads ``facts`` by hand, and nobody leaves notes there."""
    wrong = [
        f"{own_name(path)}:{line}"
        for path in FILES
        if own_name(path) != "spvlink.ir.known"
        for line in reads_of(path.read_text(), "facts")
    ]
    assert not wrong, wrong
    assert reads_of((PACKAGE / "ir" / "known.py").read_text(), "facts")
    assert reads_of('module.facts["trimmed"] = 0, True', "facts") == [1]


def decides_by_prose(text: str) -> list[int]:
    """Lines that compare a reason or an action with something, or look for words in anything:
    names of actions and of built-ins are compared by their constants."""

    def is_prose(node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            return node.value.attr in {"notes", "cautions"}
        if isinstance(node, ast.Attribute):
            return node.attr in {"why", "reason", "message", "passed_through", "defect"}
        if isinstance(node, ast.Name):
            return node.id in {"NOTHING_TO_GAIN", "NOTHING"}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return " " in node.value.strip() or node.value in ACTIONS
        return False

    found: list[int] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            values = [node.left, *node.comparators]
            if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                values = []  # whether there is a reason is no matter of words
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looks = {"startswith", "endswith", "find", "index", "partition", "removeprefix"}
            values = [node.func.value, *node.args] if node.func.attr in looks else []
        else:
            continue
        if any(map(is_prose, values)):
            found.append(node.lineno)
    return found


def test_no_decision_is_read_from_prose() -> None:
    """Sentences are for people: what decides has a flag, an outcome or a name beside them. This is
    so in every room."""
    wrong = [
        f"{own_name(path)}:{line}" for path in FILES for line in decides_by_prose(path.read_text())
    ]
    assert not wrong, wrong


@pytest.mark.parametrize(
    "planted",
    [
        'if "dynamic" in leaf.why: pass',
        'if why == "a dynamic index": pass',
        'if link.remarks.fate[key][0] == "flattened": pass',
        'if out.why.startswith("the other"): pass',
        "if CAPTURED not in node.why: pass",
        "if pinned.why == CAPTURED_WHY: pass",
        'if note.startswith("kept whole"): pass',
        'if linked.passed_through == "nothing": pass',
        "if why == NOTHING_TO_GAIN: pass",
    ],
)
def test_the_prose_test_sees_breaches(planted: str) -> None:
    assert decides_by_prose(planted) == [1]


@pytest.mark.parametrize(
    "name",
    [
        "grammar",
        "guides",
        "isa",
        "man",
        "passes",
        "readme",
        "reference",
        "rules",
        "vulkan",
        "walkthrough",
    ],
)
def test_generated_files_are_fresh(name: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / f"generate-{name}", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def loaded(code: str) -> set[str]:
    """Names of all modules after running ``code`` in a bare interpreter (no site packages)."""
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


# Passes and what they need that few pipelines have anything for (chain/table).
SELDOM = {
    "facts.trip_counts", "link.builtins.known", "link.dead.dead_builtin_blocks",
    "link.dead.payload_members", "link.motion.propagate_blended", "link.motion.polynomials",
    "link.motion.weighted", "link.pack.share_per_patch", "link.pack.split64", "link.pack.words64",
    "link.shape.arrays_dynamic", "link.shape.promote_late_indices", "link.shape.unroll_loops",
    "link.values.dedup_captured", "passes.cleaning.unroll_loop",
    "passes.lowering.promote_own_outputs", "passes.lowering.promote_vertex_copies",
    "passes.opening.given_builtins", "passes.opening.spec_constants",
}  # fmt: skip


def test_import_is_light() -> None:
    assert sorted(loaded("import spvlink") & HEAVY) == []


def test_link_is_light(tmp_path: Path) -> None:
    """The path of ``spvlink link`` without validation: nothing heavy, nothing of the text form."""
    names = ["a.spv", "b.spv"]
    for name, data in zip(names, pair()):
        (tmp_path / name).write_bytes(data)
    found = loaded(
        "import spvlink\n"
        "options = spvlink.Options()\n"
        "options.validate = False\n"
        f"stages = [open({str(tmp_path)!r} + '/' + n, 'rb').read() for n in {names!r}]\n"
        "linked = spvlink.link(stages, options)\n"
        "assert len(linked.stages) == 2\n"
    )
    assert sorted(found & HEAVY) == []
    assert not {m for m in found if m.startswith(("spvlink.text", "spvlink.page"))}
    seldom = {f"spvlink.{name}" for name in SELDOM}
    assert seldom <= {own_name(path) for path in FILES} and not found & seldom


def test_the_command_loads_no_page_and_no_other_command_unless_asked(tmp_path: Path) -> None:
    words = ["link", "--no-validate", "-o", str(tmp_path / "out")]
    for name, data in zip(("a.spv", "b.spv"), pair()):
        (tmp_path / name).write_bytes(data)
        words.append(str(tmp_path / name))
    code = "from spvlink import cli\nassert cli.main({}) == 0\n"
    without = loaded(code.format(words))
    page = [*words, "--html", str(tmp_path / "page.html")]
    others = "spvlink.page", "spvlink.lint", "spvlink.batches"
    assert not {m for m in without if m.startswith(others)} and not without & HEAVY
    assert "spvlink.page.page" in loaded(code.format(page))


def test_files_name_no_machine() -> None:
    for path in FILES:
        assert "/work/" not in path.read_text(), path.name


def test_functions_are_short() -> None:
    """No function of more than 60 lines, generated ones aside."""
    long = {
        f"{own_name(path)}.{node.name}"
        for path in FILES
        if not path.read_text().startswith("# Generated")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None
        and node.end_lineno - node.lineno >= 60
    }  # fmt: skip
    assert not long, sorted(long)


def test_nothing_is_compared_with_what_is_assigned_beside_it() -> None:
    """``x != (x := f())``: compiled code reads x behind the assignment, and the two are equal."""

    def compares(node: ast.AST) -> bool:
        if not isinstance(node, (ast.Compare, ast.BinOp)):
            return False
        parts = list(ast.walk(node))
        assigned = {p.target.id for p in parts if isinstance(p, ast.NamedExpr)}
        read = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}
        return not assigned.isdisjoint(read)

    assert compares(ast.parse("x != (x := f())", mode="eval").body)
    wrong = [own_name(path) for path in FILES if any(map(compares, nodes(path)))]
    assert not wrong


def test_no_starred_arguments_before_others_for_a_super_class() -> None:
    """``super().__init__(*pair, more)``: the compiler puts the arguments in another order."""

    def mixes(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "__init__"
            and len(node.args) > 1
            and any(isinstance(one, ast.Starred) for one in node.args)
        )

    assert mixes(ast.parse("super().__init__(*pair, more)", mode="eval").body)
    wrong = [own_name(path) for path in FILES if any(map(mixes, nodes(path)))]
    assert not wrong


def test_no_effect_in_a_slice() -> None:
    """``view[os.write(file, view) :]``: the compiler calls it twice, unless it knows the type."""
    harmless = {"len", "get", "index", "bisect_left"}

    def acts(node: ast.AST) -> bool:
        calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
        names = {getattr(call.func, "attr", getattr(call.func, "id", "")) for call in calls}
        return isinstance(node, ast.Slice) and not names <= harmless

    assert any(map(acts, ast.walk(ast.parse("view[os.write(file, view) :]"))))
    wrong = [own_name(path) for path in FILES if any(map(acts, nodes(path)))]
    assert not wrong


def test_no_name_for_exceptions_of_two_types() -> None:
    """``except BadArchive as error``, then ``except OSError as error`` in one function: compiled
    code takes a variable for a BadArchive, and raises TypeError for the other one."""

    def mixes(node: ast.AST) -> bool:
        types: dict[str | None, set[str]] = {}
        for part in ast.walk(node) if isinstance(node, ast.FunctionDef) else ():
            if isinstance(part, ast.ExceptHandler) and isinstance(part.type, ast.Name):
                types.setdefault(part.name, set()).add(part.type.id)
        types.pop(None, None)
        return any(len(names) > 1 for names in types.values())

    text = "def f():\n    try: g()\n    except A as e: h(e)\n    except B as e: h(e)"
    assert any(map(mixes, ast.walk(ast.parse(text))))
    rooms = {"archive", "binary", "chain", "facts", "ir", "link", "passes", "rules", "sets",
             "driver", "entry", "layout", "patches", "pipeline", "spawn", "state_use", "validate",
             "verdicts"}  # fmt: skip
    code = [path for path in FILES if room_of(own_name(path)).split(".")[0] in rooms]
    wrong = [own_name(path) for path in code if any(map(mixes, nodes(path)))]
    assert not wrong


def test_no_table_is_imported_as_a_module_inside_a_function() -> None:
    """``from spvlink.grammar import needs`` in a function: compiled code finds None there, since
    the tables are not compiled. Names of a table can be imported."""

    def late(tree: ast.AST) -> list[int]:
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        inner = [part for function in functions for part in ast.walk(function)]
        return [n.lineno for n in inner
                if isinstance(n, ast.ImportFrom) and n.module == "spvlink.grammar"]  # fmt: skip

    assert late(ast.parse("def f():\n    from spvlink.grammar import needs"))
    rooms = {"binary", "chain", "facts", "ir", "link", "passes", "rules", "sets", "driver"}
    code = [path for path in FILES if room_of(own_name(path)).split(".")[0] in rooms]
    assert not [path for path in code if late(ast.parse(path.read_text()))]


def opcode_sets(path: Path) -> set[frozenset[str]]:
    """The sets of opcodes that a file asks for by their names: at least two of ``ops``, and no
    other thing between them."""
    found = set()
    for node in nodes(path):
        if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
            names = {
                part.attr
                for part in node.elts
                if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "ops"
            }
            if 1 < len(names) == len(node.elts):
                found.add(frozenset(names))
    return found


def test_opcodes_that_many_ask_for_together_are_a_fact_of_the_grammar() -> None:
    """``[opcodes]`` in ``semantics.toml``: then a new opcode is entered once. The verifiers count
    apart: they may ask the grammar, but not share what the linker concluded."""
    code = [path for path in FILES if room_of(own_name(path)) not in ("grammar", "verifier")]
    files: dict[frozenset[str], list[str]] = {}
    for path in code:
        for names in opcode_sets(path):
            files.setdefault(names, []).append(own_name(path))
    assert len(files) > 50
    many = {" ".join(sorted(names)): where for names, where in files.items() if len(where) > 4}
    assert not many


ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


def mapped(text: str) -> list[str]:
    """The names in the lines of a map: ``    name   line``."""
    return re.findall(r"^ *([\w*./]+)  +\S", text, re.M)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_each_room_has_a_map_with_a_line_for_each_module(room: Path) -> None:
    inside = {path.stem for path in room.iterdir() if (path / "__init__.py").exists()}
    inside |= {path.stem for path in room.glob("*.py")} - {"__init__"}
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or ""
    assert sorted(name for name in mapped(text) if name in inside) == sorted(inside)


def test_the_test_of_maps_reads_lines() -> None:
    assert len(ROOMS) > 25
    assert mapped("A room.\n\n    one  a line\n    c/   more\nno two  words") == ["one", "c/"]
