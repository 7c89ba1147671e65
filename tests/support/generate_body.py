"""Random expressions and statements of one shader; see generate.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from tests.support.generate_interface import (
    LANES,
    UNIFORM_VALUES,
    Array,
    Struct,
    Type,
    Value,
    base_of,
    declare,
    is_matrix,
    matrix_shape,
    size_of,
    spelled,
    vector,
)


class Function:
    """A helper: ``parameters`` are (direction, type)."""

    def __init__(self, name: str, result: str, parameters: list[tuple[str, Type]]) -> None:
        self.name = name
        self.result = result
        self.parameters = parameters


class Body:
    """Writes statements and expressions of one shader."""

    def __init__(self, r: Random, structs: list[Struct]) -> None:
        self.r = r
        self.structs = structs
        self.lines: list[str] = []
        self.depth = 0
        self.scope: list[Value] = []
        self.functions: list[Function] = []
        self.counter = 0
        self.loops = 0
        self.calls = 0
        self.leave: Callable[[], str] | None = None  # a return statement that may stand here
        self.breakable = False
        self.extra: list[Callable[[], None]] = []  # kinds of statement of this stage alone
        self.uniform_flow = False  # conditions must be the same in all invocations
        self.pending: list[str] = []  # declarations that the statement being written needs
        self.later: list[Value] = []  # and what they bring into scope
        self.function_text: list[str] = []

    # -- text ------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        """One line, after the declarations that its expressions need."""
        pending, self.pending = self.pending, []
        for text in (*pending, line):
            self.lines.append("    " * self.depth + text)
        self.scope += self.later
        self.later = []

    def fresh(self, stem: str = "t") -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    @contextmanager
    def braces(self, head: str, tail: str = "}") -> Iterator[None]:
        self.put(f"{head} {{")  # what its expressions declared stands before it
        self.depth += 1
        kept = len(self.scope)
        yield
        del self.scope[kept:]
        self.depth -= 1
        self.put(tail)

    # -- values ----------------------------------------------------------------------------

    def literal(self, type: str) -> str:
        r = self.r
        if is_matrix(type):
            return f"{type}({r.choice((1.0, 0.5, -0.75))})"
        base, size = base_of(type), size_of(type)
        words = []
        for _ in range(size if r.random() < 0.6 else 1):
            if base == "float":
                words.append(r.choice(("0.0", "1.0", "0.5", f"{r.uniform(-2, 2):.3f}")))
            elif base == "int":
                words.append(str(r.choice((0, 1, -1, r.randint(-99, 99)))))
            else:
                words.append(f"{r.choice((0, 1, r.randint(0, 999)))}u")
        return words[0] if size == 1 else f"{type}({', '.join(words)})"

    def descend(self, value: Value, uniform: bool) -> tuple[str, str]:
        """Some scalar, vector or matrix inside of a value, as (expression, type)."""
        expr, type = value.expr, value.type
        while not isinstance(type, str) or (is_matrix(type) and self.r.random() < 0.7):
            if isinstance(type, Struct):
                type, name = self.r.choice(type.members)
                expr += f".{name}"
                continue
            length = type.length if isinstance(type, Array) else matrix_shape(type)[0]
            expr += f"[{self.index(length, value.dynamic, uniform)}]"
            type = type.element if isinstance(type, Array) else f"vec{matrix_shape(type)[1]}"
        return expr, type

    def index(self, length: int, dynamic: bool, uniform: bool) -> str:
        r = self.r
        if not dynamic or r.random() < 0.6:
            return str(r.randrange(length))
        inner = self.leaf("int", uniform)
        if length in (2, 4):
            return f"{inner} & {length - 1}"
        return r.choice((f"clamp({inner}, 0, {length - 1})", f"uint({inner}) % {length}u"))

    def leaf(self, type: str, uniform: bool = False) -> str:
        r = self.r
        found = [v for v in self.scope if v.uniform or not uniform]
        if not found or r.random() < 0.1:
            return self.literal(type)
        local = [v for v in found if not v.uniform]
        some = local if local and r.random() < 0.75 else found
        expr, have = self.descend(r.choice(some), uniform)
        return self.convert(expr, have, type)

    def convert(self, expr: str, have: str, want: str) -> str:
        """The bounded value of another type."""
        if have == want:
            return expr
        r = self.r
        if is_matrix(want):
            columns, rows = matrix_shape(want)
            one = self.convert(expr, have, f"vec{rows}")
            rest = [self.literal(f"vec{rows}") for _ in range(columns - 1)]
            return f"{want}({', '.join([one, *rest])})"
        if is_matrix(have):
            expr, have = f"{expr}[{r.randrange(matrix_shape(have)[0])}]", f"vec{have[-1]}"
        a, b, n = base_of(have), base_of(want), size_of(want)
        m = size_of(have)
        if m > 1 and (m != n or r.random() < 0.3):
            expr += "." + "".join(r.choice(LANES[:m]) for _ in range(n))
        elif m == 1 and n > 1:
            expr = f"{vector(a, n)}({expr})"
        if a == b:
            return expr
        target = vector(b, n)
        if a == "float":
            low, high = ("-64.0", "64.0") if b == "int" else ("0.0", "64.0")
            return f"{target}(clamp({expr}, {low}, {high}))"
        if b == "float":
            mask = "255" if a == "int" else "255u"
            return f"({target}({expr} & {mask}) * 0.0078125)"
        return f"{target}({expr})"

    # -- expressions -----------------------------------------------------------------------

    def expr(self, type: str, depth: int = 3, uniform: bool = False) -> str:
        if is_matrix(type):
            return self.matrix(type, depth, uniform)
        if depth <= 0 or self.r.random() < 0.15:
            return self.leaf(type, uniform)
        if not uniform and self.calls < 5 and self.loops == 0 and self.r.random() < 0.08:
            call = self.call(type)
            if call is not None:
                return call
        if base_of(type) == "float":
            return self.floating(type, depth - 1, uniform)
        return self.integral(type, depth - 1, uniform)

    def matrix(self, type: str, depth: int, uniform: bool) -> str:
        columns, rows = matrix_shape(type)
        same = [v.expr for v in self.scope if v.type == type and (v.uniform or not uniform)]
        if same and self.r.random() < 0.5:
            return f"({self.r.choice(same)} * {self.expr('float', 0, uniform)})"
        words = [self.bounded(f"vec{rows}", min(depth, 1), uniform) for _ in range(columns)]
        return f"{type}({', '.join(words)})"

    def floating(self, t: str, d: int, u: bool) -> str:
        r, n = self.r, size_of(t)
        a = self.expr(t, d, u)
        kind = r.randrange(22)
        if kind < 6:
            return f"({a} {r.choice('+-*')} {self.expr(t, d, u)})"
        if kind < 8:
            return f"{r.choice(('abs', 'fract', 'floor', 'sin', 'cos', 'trunc', 'sign'))}({a})"
        if kind == 8:
            return f"{r.choice(('min', 'max', 'step'))}({a}, {self.expr(t, d, u)})"
        if kind == 9:
            return f"mix({a}, {self.expr(t, d, u)}, clamp({self.expr(t, 0, u)}, 0.0, 1.0))"
        if kind == 10:
            return f"clamp({a}, -1.0, {r.choice(('1.0', '0.25'))})"
        if kind == 11:
            return f"({a} / (abs({self.expr(t, d, u)}) + 0.5))"
        if kind == 12:
            return r.choice(
                (
                    f"sqrt(abs({a}))",
                    f"pow(abs({a}) + 0.125, {t}(1.5))",
                    f"inversesqrt(abs({a}) + 0.5)",
                )
            )
        if kind == 13:
            return f"({self.condition(d, u)} ? {a} : {self.expr(t, d, u)})"
        if kind == 14:
            return f"-({a})"
        if kind == 15 and n == 3:
            return f"cross({a}, {self.expr(t, d, u)})"
        if kind in (15, 16):
            m = r.randint(2, 4)
            one, two = self.bounded(f"vec{m}", d, u), self.bounded(f"vec{m}", d, u)
            scalar = r.choice((f"dot({one}, {two})", f"length({one})", f"distance({one}, {two})"))
            return scalar if n == 1 else f"({a} * {scalar})"
        if kind == 17 and n > 1:
            return f"normalize(abs({a}) + 0.125)"
        if kind == 18 and n > 1:
            m = r.randint(2, 4)
            return f"({self.matrix(f'mat{m}x{n}', d, u)} * {self.bounded(f'vec{m}', d, u)})"
        if kind == 19 and n > 1:
            parts = [self.expr("float", d - 1, u) for _ in range(n)]
            return f"{t}({', '.join(parts)})"
        if kind == 20:
            bits = self.expr(vector("uint", n), d, u)
            return f"uintBitsToFloat(({bits} & 0x007fffffu) | 0x3f800000u)"
        if kind == 21 and n > 1:
            test = self.expr(t, 0, u)
            return f"mix({a}, {self.expr(t, d, u)}, lessThan({test}, {self.expr(t, 0, u)}))"
        return f"smoothstep({t}(-0.5), {t}(1.5), {a})"

    def bounded(self, type: str, depth: int, uniform: bool = False) -> str:
        """An expression whose value may be stored."""
        if is_matrix(type):
            return self.matrix(type, depth, uniform)
        inner = self.expr(type, depth, uniform)
        if base_of(type) == "float":
            return self.r.choice((f"fract({inner})", f"clamp({inner}, -2.0, 2.0)", f"sin({inner})"))
        mask = "1023" if base_of(type) == "int" else "1023u"
        return self.r.choice((f"({inner} & {mask})", inner))

    def integral(self, t: str, d: int, u: bool) -> str:
        r, n = self.r, size_of(t)
        one = "1u" if base_of(t) == "uint" else "1"
        s = one[1:]
        a = self.expr(t, d, u)
        kind = r.randrange(14)
        if kind < 6:
            return f"({a} {r.choice('+-*&|^')} {self.expr(t, d, u)})"
        if kind == 6:
            return f"({a} {r.choice(('<<', '>>'))} ({self.expr(t, 0, u)} & 7{s}))"
        if kind == 7:
            return f"{r.choice(('min', 'max'))}({a}, {self.expr(t, d, u)})"
        if kind == 8:
            divisor = f"(({self.expr(t, 0, u)} & 7{s}) + 1{s})"
            return f"(({a} & 0xffff{s}) {r.choice('/%')} {divisor})"
        if kind == 9:
            return f"({self.condition(d, u)} ? {a} : {self.expr(t, d, u)})"
        if kind == 10:
            # lavapipe (Mesa 25.0) gets findMSB of some signed values wrong: of the bits, then.
            bits = f"{vector('uint', n)}({a})"
            call = r.choice((f"bitCount({a})", f"findMSB({bits})", f"findLSB({a})"))
            return f"{t}({call})"
        if kind == 11:
            return r.choice((f"bitfieldExtract({a}, 3, 5)", f"bitfieldReverse({a})",
                             f"bitfieldInsert({a}, {self.expr(t, 0, u)}, 2, 7)"))  # fmt: skip
        if kind == 12:
            return f"(~{a})"
        x = self.expr(vector("float", n), d, u)
        cast = "floatBitsToUint" if s else "floatBitsToInt"
        return f"{cast}(abs({x}) + 1.0)"

    def condition(self, depth: int = 1, uniform: bool = False) -> str:
        r = self.r
        kind = r.randrange(8)
        if kind == 0 and depth > 0:
            one, two = self.condition(depth - 1, uniform), self.condition(depth - 1, uniform)
            return f"({one} {r.choice(('&&', '||', '^^'))} {two})"
        if kind == 1:
            return f"!({self.condition(0, uniform)})"
        if kind == 2:
            t = r.choice(("vec2", "vec3", "ivec2"))
            test = r.choice(("lessThan", "greaterThanEqual"))
            one, two = self.expr(t, 0, uniform), self.expr(t, 0, uniform)
            return f"{r.choice(('any', 'all'))}({test}({one}, {two}))"
        t = r.choice(("float", "float", "int", "uint"))
        op = r.choice(("<", ">", "<=", ">=") + (() if t == "float" else ("==", "!=")))
        return f"({self.expr(t, depth, uniform)} {op} {self.expr(t, 0, uniform)})"

    def construct(self, type: Type, constant: bool = False, depth: int = 2) -> str:
        """A constructor of any type."""
        if isinstance(type, str):
            return self.literal(type) if constant else self.bounded(type, depth)
        if isinstance(type, Array):
            parts = [self.construct(type.element, constant, 1) for _ in range(type.length)]
        else:
            parts = [self.construct(t, constant, 1) for t, _ in type.members]
        return f"{spelled(type)}({', '.join(parts)})"

    # -- calls -----------------------------------------------------------------------------

    def call(self, type: str | None) -> str | None:
        """A call of a function with this result (None: any); declares its arguments."""
        found = [f for f in self.functions if type is None or f.result == type]
        if not found:
            return None
        function = self.r.choice(found)
        self.calls += 1
        words = []
        for direction, want in function.parameters:
            if direction in ("out ", "inout "):
                words.append(self.reference(want))
            else:
                words.append(self.construct(want, depth=1))
        return f"{function.name}({', '.join(words)})"

    def reference(self, type: Type) -> str:
        """Something writable of exactly this type; no two arguments of a call may be the same."""
        name = self.fresh("arg")
        value = self.construct(type, constant=True)
        self.pending.append(f"{declare(type, name)} = {value};")
        self.later.append(Value(name, type, True))
        return name

    def random_type(self) -> Type:
        r = self.r
        kind = r.random()
        base = r.choice(("float", "float", "float", "int", "uint"))
        if kind < 0.7:
            return vector(base, r.randint(1, 4))
        if kind < 0.85:
            return Array(vector(base, r.randint(1, 4)), r.randint(2, 5))
        if kind < 0.93 or not self.structs:
            return r.choice(("mat2", "mat3", "mat4", "mat3x2"))
        return r.choice(self.structs)

    # -- statements ------------------------------------------------------------------------

    def statements(self, count: int, nesting: int = 2) -> None:
        for _ in range(count):
            self.statement(nesting)

    def statement(self, nesting: int) -> None:
        kinds: list[Callable[[], None]] = [self.local, self.assign, self.assign, self.assign]
        if nesting > 0:
            for kind in (self.selection, self.selection, self.loop, self.switch):
                kinds.append(lambda kind=kind: kind(nesting - 1))  # type: ignore[misc]
        if self.leave is not None and self.depth > 1 and not self.uniform_flow:
            kinds.append(self.early_exit)
        if self.functions and self.calls < 5 and not self.loops:
            kinds.append(self.call_statement)
        self.r.choice(kinds + self.extra)()

    def local(self) -> None:
        type, name = self.random_type(), self.fresh()
        self.put(f"{declare(type, name)} = {self.construct(type)};")
        self.scope.append(Value(name, type, True))

    def target(self) -> tuple[str, str] | None:
        """Something to assign to, as (expression, type), perhaps a swizzle of it."""
        found = [v for v in self.scope if v.writable]
        if not found:
            return None
        r = self.r
        expr, type = self.descend(r.choice(found), False)
        size = 1 if is_matrix(type) else size_of(type)
        if size > 1 and r.random() < 0.5:
            if r.random() < 0.1 and not expr.startswith("out"):
                return f"{expr}[{self.leaf('int')} & 1]", base_of(type)
            lanes = r.sample(LANES[:size], r.randint(1, size))
            return f"{expr}.{''.join(lanes)}", vector(base_of(type), len(lanes))
        return expr, type

    def assign(self) -> None:
        chosen = self.target()
        if chosen is None:
            return self.local()
        expr, type = chosen
        if self.r.random() < 0.2 and not is_matrix(type):
            if base_of(type) == "float":
                self.put(f"{expr} *= clamp({self.expr(type, 2)}, -1.0, 1.0);")
            else:
                self.put(f"{expr} {self.r.choice('+-^|')}= {self.expr(type, 2)};")
        else:
            self.put(f"{expr} = {self.bounded(type, 3)};")

    def early_exit(self) -> None:
        assert self.leave is not None
        with self.braces(f"if ({self.condition()})"):
            self.put(self.leave())

    def call_statement(self) -> None:
        self.put(f"{self.call(None)};")

    def selection(self, nesting: int) -> None:
        r = self.r
        with self.braces(f"if ({self.condition(uniform=self.uniform_flow)})"):
            self.statements(r.randint(1, 3), nesting)
        if r.random() < 0.5:
            with self.braces("else"):
                self.statements(r.randint(1, 3), nesting)

    def loop(self, nesting: int) -> None:
        r, name, u = self.r, self.fresh("i"), self.uniform_flow
        if self.loops > 1:
            return self.assign()
        bound = r.choice((str(r.randint(1, 4)), f"({self.leaf('int', u)} & 3) + 1"))
        kind = r.randrange(4)
        breakable, self.breakable = self.breakable, True
        if kind < 2:
            head, tail = f"for (int {name} = 0; {name} < {bound}; ++{name})", "}"
        else:
            self.put(f"int {name} = 0;")
            head, tail = f"while ({name} < {bound})", "}"
            if kind == 3:
                head, tail = "do", f"}} while ({name} < {bound});"
        self.loops += 1
        with self.braces(head, tail):
            self.scope.append(Value(name, "int", False))
            if kind >= 2:
                self.put(f"++{name};")
            for _ in range(r.randint(1, 3)):
                self.statement(nesting)
                if r.random() < 0.25 and not u:
                    word = r.choice(("break", "continue"))
                    with self.braces(f"if ({self.condition()})"):
                        if r.random() < 0.4:
                            self.assign()
                        self.put(f"{word};")
        self.loops -= 1
        self.breakable = breakable

    def switch(self, nesting: int) -> None:
        r = self.r
        count = r.randint(1, 4)
        with self.braces(f"switch ({self.expr('int', 1, self.uniform_flow)} & 3)"):
            cases = r.sample(range(4), count)
            for case in cases:
                self.put(f"case {case}:")
                if r.random() < 0.2 and case != cases[-1]:
                    continue  # falls through at once
                with self.braces(""):
                    self.statements(r.randint(1, 2), nesting - 1)
                if r.random() < 0.75 or case == cases[-1]:
                    self.put("break;")
            if r.random() < 0.6:
                self.put("default:")
                with self.braces(""):
                    self.statements(1, nesting - 1)
                    if self.leave is not None and self.depth > 1 and not self.uniform_flow:
                        self.early_exit()

    # -- functions -------------------------------------------------------------------------

    @contextmanager
    def function(self, head: str, scope: list[Value]) -> Iterator[None]:
        """Writes a function before all that was written so far of the current one."""
        kept = (self.lines, self.depth, self.scope, self.calls, self.loops, self.leave, self.extra,
                self.uniform_flow, self.pending, self.later)  # fmt: skip
        self.lines, self.depth, self.calls, self.loops = [], 0, 4, 0
        self.scope = [Value(e, t, uniform=True) for e, t in UNIFORM_VALUES] + scope
        self.leave, self.extra, self.uniform_flow = None, [], False
        self.pending, self.later = [], []
        with self.braces(head):
            yield
        self.function_text += self.lines
        (self.lines, self.depth, self.scope, self.calls, self.loops, self.leave, self.extra,
         self.uniform_flow, self.pending, self.later) = kept  # fmt: skip

    def helper(self) -> None:
        """A function with parameters of all directions, early returns, loops."""
        r = self.r
        base = r.choice(("float", "float", "int", "uint"))
        result = r.choice(("void", vector(base, r.randint(1, 4)), vector(base, r.randint(1, 4))))
        parameters = [
            (r.choice(("", "", "const in ", "in ", "out ", "inout ")), self.random_type())
            for _ in range(r.randint(1, 3))
        ]
        name = self.fresh("f")
        text = [f"{d}{declare(t, f'p{i}')}" for i, (d, t) in enumerate(parameters)]
        scope = [
            Value(f"p{i}", t, writable=not d.startswith("const"))
            for i, (d, t) in enumerate(parameters)
            if d != "out "
        ]
        with self.function(f"{result} {name}({', '.join(text)})", scope):
            for i, (direction, type) in enumerate(parameters):
                if direction == "out ":
                    self.put(f"p{i} = {self.construct(type)};")
                    self.scope.append(Value(f"p{i}", type, True))
            if result == "void":
                self.leave = lambda: "return;"
            else:
                self.leave = lambda: f"return {self.bounded(result, 1)};"
            if r.random() < 0.4:
                self.early_exit()
            self.statements(r.randint(1, 4))
            if result != "void":
                self.put(f"return {self.bounded(result, 2)};")
        self.functions.append(Function(name, result, parameters))
