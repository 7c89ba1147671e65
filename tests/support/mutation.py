"""Guards of a Python file, and the file without one of them: what scripts/mutants plants.

A guard is a condition that decides: the test of an ``if``, a filter of a comprehension, an operand
of ``and`` or ``or``; or a ``raise`` of its own. A mutant forces one operand to one truth value:

    if a or b: return         a is False; b is False (the check is not made)
    if a and b: move()        a is True; b is True (half of it is not asked); both False
    return a and b            a is True; b is True
    raise Refused(...)        pass

An early way out (``return``, ``continue``, ``break``, ``raise``) is only taken away, never taken
always: that loses an optimization, it does not make a wrong one. Nor are ``x is None`` and
``assert`` touched, which are there for the types.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import CodeType

Span = tuple[int, int, int, int]  # first line and column, last line and column
SEEN = "_mutants_seen"  # what the instrumented file calls: (number, truth value) -> the value
WAY_OUT = (ast.Return, ast.Continue, ast.Break, ast.Raise)
LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
UNTOUCHED = (ast.Assert, ast.JoinedStr)


@dataclass(frozen=True, order=True)
class Guard:
    """One mutant: the expression at ``span`` becomes ``forced``, or the statement there nothing."""

    span: Span
    forced: bool | None  # None: a statement, taken away
    function: str  # as in ``__qualname__``; empty: of the module itself
    text: str

    def __str__(self) -> str:
        change = "taken away" if self.forced is None else f"-> {self.forced}"
        return f"{self.function}: {self.text} {change}"


def span(node: ast.expr | ast.stmt) -> Span:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


class _Finder(ast.NodeVisitor):
    """Collects the guards of a module."""

    def __init__(self) -> None:
        self.found: set[Guard] = set()
        self.place: list[str] = []
        self.ways_out: set[ast.BoolOp] = set()  # conditions of them, and what those are made of

    def add(self, node: ast.expr | ast.stmt, forced: bool | None) -> None:
        text = " ".join(ast.unparse(node).split())
        self.found.add(Guard(span(node), forced, ".".join(self.place), text))

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, UNTOUCHED):
            super().visit(node)

    def _named(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        self.place.append(node.name)
        self.generic_visit(node)
        self.place.pop()

    visit_ClassDef = visit_FunctionDef = _named

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self.force(node.test, False)
        last = node.body[-1]
        if isinstance(last, WAY_OUT):
            self.ways_out.update(_parts(node.test))
        else:
            self.force(node.test, True)
        for child in (node.test, *node.body, *node.orelse):
            if child is not last or not isinstance(last, ast.Raise):
                self.visit(child)

    def visit_Raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.add(node, None)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.force(node.test, False)
        self.force(node.test, True)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.force(test, True)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        plain = not any(isinstance(operand, LITERALS) for operand in node.values)
        if plain and node not in self.ways_out:
            for operand in node.values:
                self.force(operand, isinstance(node.op, ast.And))
        self.generic_visit(node)

    def force(self, node: ast.expr, forced: bool) -> None:
        """The mutants that make a condition give ``forced`` more often, one operand each."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.force(node.operand, not forced)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) == forced:
            for operand in node.values:
                self.force(operand, forced)
        elif not _for_types(node):
            self.add(node, forced)


def _parts(node: ast.expr) -> list[ast.BoolOp]:
    """The ``and`` and ``or`` of a condition."""
    if isinstance(node, ast.UnaryOp):
        return _parts(node.operand)
    if isinstance(node, ast.BoolOp):
        return [node, *(part for operand in node.values for part in _parts(operand))]
    return []


def _for_types(node: ast.expr) -> bool:
    """``x is None``, ``x is not None``."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    last = node.comparators[-1]
    return isinstance(last, ast.Constant) and last.value is None


def guards(source: str) -> list[Guard]:
    """All guards of a file, in order."""
    finder = _Finder()
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda g: (g.span, str(g.forced)))


class _Changer(ast.NodeTransformer):
    """Replaces the nodes at some spans by what ``change`` makes of them."""

    def __init__(self, marks: dict[tuple[Span, bool], int]) -> None:
        self.marks = marks  # (span, whether it is a statement) -> number

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        new = self.generic_visit(node)
        if isinstance(node, ast.expr | ast.stmt):
            number = self.marks.get((span(node), isinstance(node, ast.stmt)))
            if number is not None:
                return self.change(new, number)
        return new

    def change(self, node: ast.AST, number: int) -> ast.AST | list[ast.AST]:
        raise NotImplementedError


class _Recorder(_Changer):
    def change(self, node: ast.AST, number: int) -> ast.AST | list[ast.AST]:
        value = node if isinstance(node, ast.expr) else ast.Constant(True)
        call = ast.Call(ast.Name(SEEN, ast.Load()), [ast.Constant(number), value], [])
        return call if isinstance(node, ast.expr) else [ast.Expr(call), node]


class _Forcer(_Changer):
    def __init__(self, guard: Guard) -> None:
        super().__init__({(guard.span, guard.forced is None): 0})
        self.guard = guard

    def change(self, node: ast.AST, number: int) -> ast.AST | list[ast.AST]:
        if not isinstance(node, ast.expr):
            return ast.Pass()
        forced = ast.Constant(self.guard.forced)
        if not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return forced
        both = ast.Tuple([node, forced], ast.Load())  # what it assigns is wanted
        return ast.Subscript(both, ast.Constant(1), ast.Load())


def _compiled(changer: _Changer, source: str, path: str) -> CodeType:
    tree = ast.parse(source)
    changer.visit(tree)  # a module stays the same object
    code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    return code


def instrumented(source: str, path: str, first: int) -> CodeType:
    """The file with each guard reported to ``SEEN``, those of one place under one number."""
    numbers = places(guards(source))
    return _compiled(_Recorder({key: first + n for key, n in numbers.items()}), source, path)


def places(found: list[Guard]) -> dict[tuple[Span, bool], int]:
    """The number of each place that has guards."""
    keys = dict.fromkeys((g.span, g.forced is None) for g in found)
    return {key: number for number, key in enumerate(keys)}


def mutant(source: str, path: str, guard: Guard) -> CodeType:
    """The file without one guard."""
    return _compiled(_Forcer(guard), source, path)


def plant(module: object, source: str, path: str, guard: Guard) -> bool:
    """Give the function of a loaded module the mutant's code, so that whoever imported it runs it;
    whether that can be done (not for what runs at import)."""
    holder, code = module, mutant(source, path, guard)
    for name in guard.function.split("."):
        inner = next((c for c in code.co_consts if getattr(c, "co_name", None) == name), None)
        held = vars(holder).get(name)
        if inner is None or held is None:
            return False
        if isinstance(held, type):
            holder, code = held, inner
            continue
        held = getattr(held, "__func__", getattr(held, "fget", held))
        held = getattr(held, "__wrapped__", held)
        held.__code__ = inner
        return True
    return False
