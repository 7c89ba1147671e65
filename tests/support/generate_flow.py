"""Random pipelines whose control flow is the point: ``make(seed) -> Pipeline``.

The stages of generate.py and generate_chains.py with other statements and functions: switches that
fall through, with a default anywhere; loops with continue, break and return; functions that return
on every way (glslang ends them in OpUnreachable), called from a loop's increment, so that the call
cannot be inlined; functions that write global variables and outputs, emit vertices or discard; out
and inout parameters; specialization constants; `invariant` and `precise`. All that generate.py
promises of a pair holds here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from tests.support.generate_body import Body
from tests.support.generate_builtins import woven
from tests.support.generate_chains import (
    KINDS,
    Border,
    ChainFragment,
    ChainVertex,
    Shape,
    _complete,
)
from tests.support.generate_interface import Array, Struct, Type, Value, declare
from tests.support.generate_stages import Control, Evaluation, Geometry, Mesh, Task

PAIRS = 14  # weight of vertex + fragment, beside those of generate_chains.KINDS
LEAVERS = "#extension GL_EXT_terminate_invocation : require\n"
WORKGROUP = 30  # SpecId of the size of a workgroup
DEMOTERS = "#extension GL_EXT_demote_to_helper_invocation : require\n"


class Constant:
    """A specialization constant; ``value`` is what the pipeline sets, None: it sets nothing."""

    def __init__(self, number: int, type: str, default: str, value: str | None) -> None:
        self.number, self.type, self.default, self.value = number, type, default, value

    @property
    def name(self) -> str:
        return f"SPEC{self.number}"

    def __str__(self) -> str:
        head = f"layout(constant_id = {self.number}) const {self.type} {self.name}"
        return f"{head} = {self.default};"


class Global(Value):
    """A variable of the module; ``started``: it has an initializer, else main() sets it first."""

    def __init__(self, expr: str, type: Type, started: bool) -> None:
        super().__init__(expr, type, True)
        self.started = started


class Pipeline:
    """``stages``: (name, GLSL); ``constants``: by stage; ``known``: the linker is told what the
    pipeline sets."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, str]] = []
        self.constants: dict[str, list[Constant]] = {}
        self.known = False


class Flow(Body):
    """Statements and functions of this kind of pipeline, for any stage."""

    nested: tuple[str, ...] = ()  # loops and switches around, outermost first
    inside_function = False
    nests = True  # functions may call those that stay calls
    budget = 40

    def __init__(self, r: Random, *rest: Any) -> None:
        self.r = r
        self.structs: list[Struct] = []
        self.constants = [self.constant(i) for i in range(r.choice((0, 0, 1, 2, 3)))]
        self.globals_ = [
            Global(f"global{i}", self.random_type(), r.random() < 0.4)
            for i in range(r.choice((0, 1, 2)))
        ]
        self.staying: list[tuple[str, list[Type]]] = []
        super().__init__(r, *rest)

    def constant(self, number: int) -> Constant:
        r = self.r
        type = r.choice(("int", "int", "bool", "float", "uint"))

        def value() -> str:
            if type == "bool":
                return r.choice(("true", "false"))
            if type == "float":
                return f"{r.uniform(-2, 2):.3f}"
            return str(r.randint(1, 4)) + ("u" if type == "uint" else "")

        return Constant(number, type, value(), value() if r.random() < 0.6 else None)

    def declared(self) -> str:
        lines = [str(c) for c in self.constants if c.default]
        for value in self.globals_:
            first = f" = {self.construct(value.type, True)}" if value.started else ""
            lines.append(f"{declare(value.type, value.expr)}{first};")
        return "".join(f"{line}\n" for line in lines)

    def start(self) -> None:
        """At the start of main: global variables get their first values."""
        for value in self.globals_:
            if not value.started:  # without a call: the functions read all of them
                self.put(f"{value.expr} = {self.construct(value.type, True)};")
            self.scope.append(value)
        for constant in self.constants:
            if constant.default and constant.type != "bool":
                self.scope.append(Value(constant.name, constant.type, uniform=True))

    @contextmanager
    def braces(self, head: str, tail: str = "}") -> Iterator[None]:
        with super().braces(head, tail):
            if head == "void main()":
                self.start()
            yield

    # -- expressions -----------------------------------------------------------------------

    def condition(self, depth: int = 1, uniform: bool = False) -> str:
        bools = [c.name for c in self.constants if c.type == "bool"]
        if bools and self.r.random() < 0.15:
            return self.r.choice(bools)
        if self.r.random() < 0.04:
            return self.r.choice(("true", "false"))
        return super().condition(depth, uniform)

    def selector(self) -> str:
        """Of a switch over 0 to 3, and perhaps of none of them."""
        r, uniform = self.r, self.uniform_flow
        numbers = [c.name for c in self.constants if c.type == "int"]
        if numbers and r.random() < 0.25:
            return r.choice(numbers)
        if r.random() < 0.12:
            return str(r.randrange(5))
        if r.random() < 0.1:
            return f"({self.condition(0, uniform)} ? {r.randrange(4)} : {r.randrange(5)})"
        return f"{self.expr('int', 1, uniform)} & {r.choice((3, 3, 7))}"

    # -- statements ------------------------------------------------------------------------

    def statement(self, nesting: int) -> None:
        self.budget -= 1
        if self.budget < 0:
            nesting = 0
        if nesting > 0 and self.r.random() < 0.12 and self.staying and not self.uniform_flow:
            return self.calling_loop()
        if nesting > 0 and self.r.random() < 0.06:
            return self.stepped()
        super().statement(nesting)

    def leaving_here(self) -> list[str]:
        """What may end the code of a case or a branch."""
        found = ["break;"] if self.nested else []
        if self.uniform_flow:
            return found
        if "loop" in self.nested:
            found.append("continue;")
        if self.leave is not None:
            found.append(self.leave())
        return found

    def switch(self, nesting: int) -> None:
        r = self.r
        labels = r.sample(("case 0", "case 1", "case 2", "case 3", "case 5"), r.randint(1, 4))
        if r.random() < 0.75:
            labels.insert(r.randint(0, len(labels)), "default")
        kept, self.nested = self.nested, (*self.nested, "switch")
        with self.braces(f"switch ({self.selector()})"):
            for label in labels:
                self.put(f"{label}:")
                if r.random() < 0.15 and label != labels[-1]:
                    continue
                with self.braces(""):
                    self.statements(r.randint(1, 2), nesting - 1)
                    if r.random() < 0.15 and len(self.leaving_here()) > 1:
                        head = f"if ({self.condition(uniform=self.uniform_flow)})"
                        with self.braces(head):
                            self.put(r.choice(self.leaving_here()))
                if r.random() < 0.6:
                    ways = self.leaving_here()
                    self.put("break;" if r.random() < 0.7 else r.choice(ways))
            if labels[-1] == "default" and r.random() < 0.3:
                self.put("break;")
        self.nested = kept

    def loop(self, nesting: int) -> None:
        r, name, uniform = self.r, self.fresh("i"), self.uniform_flow
        if self.loops > 1:
            return self.assign()
        bound = r.choice((str(r.randint(1, 4)), f"({self.leaf('int', uniform)} & 3) + 1"))
        numbers = [c for c in self.constants if c.type == "int"]
        if numbers and r.random() < 0.3:
            bound = r.choice(numbers).name
        kind, kept = r.randrange(5), self.nested
        head = f"for (int {name} = 0; {name} < {bound}; ++{name})"
        tail = "}"
        if kind == 2:  # leaves by break alone
            head = f"for (int {name} = 0; ; ++{name})"
        elif kind > 2:
            self.put(f"int {name} = 0;")
            head = f"while ({name} < {bound})"
            if kind == 4:
                head, tail = "do", f"}} while ({name} < {bound});"
        self.loops += 1
        self.nested = (*self.nested, "loop")
        with self.braces(head, tail):
            self.scope.append(Value(name, "int", False))
            if kind > 2:
                self.put(f"++{name};")
            if kind == 2:
                self.put(f"if ({name} >= {bound}) break;")
            for _ in range(r.randint(1, 3)):
                self.statement(nesting)
                if r.random() < 0.3 and not uniform:
                    with self.braces(f"if ({self.condition()})"):
                        if r.random() < 0.4:
                            self.assign()
                        self.put(r.choice(self.leaving_here()))
        self.loops -= 1
        self.nested = kept

    def stepped(self) -> None:
        """A local array that a loop writes and reads by its counter."""
        r = self.r
        if self.loops > 1:
            return self.assign()
        numbers = [c for c in self.constants if c.type == "int" and r.random() < 0.5]
        length, name, i = str(r.randint(2, 5)), self.fresh("row"), self.fresh("i")
        if numbers:
            length = numbers[0].name
        self.put(f"vec2 {name}[{length}];")
        with self.braces(f"for (int {i} = 0; {i} < {length}; ++{i})"):
            self.scope.append(Value(i, "int"))
            self.put(f"{name}[{i}] = {self.bounded('vec2', 2)};")
        if numbers:
            index = f"uint({self.leaf('int', self.uniform_flow)}) % uint({length})"
            self.scope.append(Value(f"{name}[{index}]", "vec2"))
        else:
            self.scope.append(Value(name, Array("vec2", int(length)), True))

    def calling_loop(self) -> None:
        """A loop whose increment is a call that cannot be inlined."""
        r, i = self.r, self.fresh("n")
        if self.loops or (self.inside_function and not self.nests):
            return self.assign()
        name, types = r.choice(self.staying)
        words = [self.reference(t) for t in types]
        step = f"{name}({', '.join([i, *words])})"
        bound = r.randint(1, 3)
        self.put("")
        self.loops += 1
        kept, self.nested = self.nested, (*self.nested, "loop")
        shape = r.randrange(3)
        if shape == 0:
            head, tail = f"for (int {i} = 0; {i} < {bound}; {i} += {step})", "}"
        elif shape == 1:
            self.put(f"int {i} = 0;")
            head, tail = "do", f"}} while (({i} += {step}) < {bound});"
        else:
            head, tail = f"for (int {i} = 0; {i} < {bound}; {step}, ++{i})", "}"
        with self.braces(head, tail):
            self.scope.append(Value(i, "int"))
            self.statements(r.choice((0, 1, 1, 2)), 1)
            if r.random() < 0.3:
                with self.braces(f"if ({self.condition()})"):
                    self.put(r.choice(self.leaving_here()))
        self.loops -= 1
        self.nested = kept

    # -- functions -------------------------------------------------------------------------

    def helper(self) -> None:
        kept = (self.nested, self.inside_function, self.budget)
        self.nested, self.inside_function, self.budget = (), True, 8
        super().helper()
        for _ in range(self.r.choice((0, 1, 1))):
            self.stay([])
        self.nested, self.inside_function, self.budget = kept

    def stay(self, more: list[Value]) -> None:
        """``int f(int n, inout T a)`` returns 1 or 2 on every way: it ends in OpUnreachable."""
        r, name = self.r, self.fresh("stay")
        types = [self.random_type() for _ in range(r.choice((0, 1, 1, 2)))]
        words = [f"inout {declare(t, f'p{i}')}" for i, t in enumerate(types)]
        scope = [Value("n", "int"), *(Value(f"p{i}", t, True) for i, t in enumerate(types))]
        kept = (self.nested, self.inside_function, self.budget)
        self.nested, self.inside_function, self.budget = (), True, 10
        with self.function(f"int {name}({', '.join(['int n', *words])})", scope + more):
            self.leave = lambda: f"return {r.randint(1, 2)};"
            self.statements(r.randint(0, 2))
            self.effect()
            with self.braces(f"if ({self.condition()})"):
                self.statements(r.randint(0, 2), 1)
                self.put(f"return {r.randint(1, 2)};")
            with self.braces("else"):
                self.statements(r.randint(0, 1), 1)
                self.put(f"return {r.randint(1, 2)};")
        self.nested, self.inside_function, self.budget = kept
        self.staying.append((name, types))

    def effect(self) -> None:
        """What only this stage can do in a function."""

    def function(self, head, scope):  # type: ignore[no-untyped-def]
        """Global variables are there in every function."""
        return super().function(head, [*self.globals_, *self.spec_values(), *scope])

    def spec_values(self) -> list[Value]:
        return [
            Value(c.name, c.type, uniform=True)
            for c in self.constants
            if c.default and c.type != "bool"
        ]


class FlowVertex(Flow, ChainVertex):
    def write(self, varying, expr, type) -> None:  # type: ignore[no-untyped-def]
        super().write(varying, expr, type)
        if self.r.random() < 0.2 and self.loops == 0:
            # a function that changes it, called from a loop
            self.stay([Value(expr, type, True, dynamic=varying.dynamic_out)])


class FlowFragment(Flow, ChainFragment):
    nests = False  # no derivative is taken behind a discard

    def start(self) -> None:
        super().start()
        self.put("global_hits = 0.0;")

    def effect(self) -> None:
        """Counting, leaving the invocation, atomics."""
        r = self.r
        if r.random() < 0.5:
            self.put("global_hits += 0.25;")
        if r.random() < 0.4:
            place = f"fract(gl_FragCoord.{r.choice('xy')} * 0.3) < 0.3"
            word = r.choice(("discard", "discard", "terminateInvocation", "demote"))
            with self.braces(f"if ({place} && {self.condition()})"):
                self.put(f"{word};")
        if r.random() < 0.3 and self.log:
            self.put(f"atomicAdd(log_.slots[{r.randrange(16)}], {self.bounded('uint', 1)});")

    def finish(self, kinds: list[str]) -> None:
        for value in self.globals_:
            self.absorb(value)
        self.put("acc.x += global_hits;")
        super().finish(kinds)


class FlowControl(Flow, Control):
    def levels(self) -> None:
        super().levels()
        self.leave = lambda: "return;"
        self.statements(self.r.choice((0, 1)))


class FlowEvaluation(Flow, Evaluation):
    pass


class FlowMesh(Flow, Mesh):
    def __init__(self, r: Random, *rest: Any) -> None:
        super().__init__(r, *rest)
        if r.random() < 0.5:  # half of the vertices, were it not for the constant
            count = self.quads * 4
            words = f"local_size_x = {count // 2}, local_size_x_id = {WORKGROUP}"
            self.layout[0] = f"layout({words}) in;"
            self.constants.append(Constant(WORKGROUP, "uint", "", f"{count}u"))


class FlowTask(Flow, Task):
    pass


class FlowGeometry(Flow, Geometry):
    """Vertices come from functions, too, called in a loop's increment."""

    def vertex(self, index: str, number: str) -> None:
        r = self.r
        if r.random() < 0.45 or self.nested or self.inside_function:
            return super().vertex(index, number)
        name = self.fresh("emit")
        known = [v for v in self.scope if v.expr.startswith(("in", "gl_"))]
        kept = (self.nested, self.inside_function, self.budget, self.calls)
        self.nested, self.inside_function, self.budget = (), True, 10
        with self.function(f"int {name}(int v)", known):
            self.calls = 9
            super().vertex(f"v % {self.count}", "v")
            with self.braces(f"if ({self.condition()})"):
                self.put("return 1;")
            with self.braces("else"):
                self.put("return 1;")
        self.nested, self.inside_function, self.budget, self.calls = kept
        if r.random() < 0.25 or self.loops > 1:
            self.put(f"{name}({number});")
            return
        i = self.fresh("e")
        head = f"for (int {i} = 0; {i} < 1; {i} += {name}({number}))"
        with self.braces(head):
            self.loops += 1
            kept_nested, self.nested = self.nested, ("loop",)
            self.statements(r.choice((0, 0, 1)), 1)
            self.loops -= 1
            self.nested = kept_nested


MIDDLE = {"tesc": FlowControl, "tese": FlowEvaluation, "geom": FlowGeometry}


def make(seed: int) -> Pipeline:
    """The pipeline of a seed."""
    r = Random(seed)
    kinds = [(stages, captured) for weight, stages, captured in KINDS for _ in range(weight)]
    stages, captured = r.choice([(("vert", "frag"), False)] * PAIRS + kinds)
    borders: list[Border] = []
    for producer, consumer in zip(stages, (*stages[1:], "")):
        if producer not in ("task", "frag"):
            borders.append(Border(r, producer, consumer, borders[-1] if borders else None))
    if captured:
        borders[-1].capture(r)
    made = Pipeline()
    made.known = r.random() < 0.5
    shape = Shape(r, stages)
    payload = Task.payload(r) if "task" in stages else []
    after = {border.producer: border for border in borders}
    before = {border.consumer: border for border in borders if border.consumer}
    for name in stages:
        ins, outs = before.get(name), after.get(name)
        writer = _writer(r, name, ins, outs, shape, payload, captured and stages == ("vert",))
        text = _complete(writer.text(), name, ins, outs, "mesh" in stages)
        made.stages.append((name, _finished(r, name, text, writer)))
        made.constants[name] = writer.constants
    made.stages = woven(seed, made.stages)
    return made


def _writer(
    r: Random, name: str, ins: Border | None, outs: Border | None, shape: Shape,
    payload: list[tuple[str, str]], points: bool,
) -> Flow:  # fmt: skip
    if name == "vert":
        assert outs is not None
        return FlowVertex(r, outs, points)
    if name == "frag":
        assert ins is not None
        return FlowFragment(r, ins)
    if name in MIDDLE:
        return MIDDLE[name](r, ins, outs, shape)
    return (FlowMesh if name == "mesh" else FlowTask)(r, ins, outs, payload)


def _finished(r: Random, name: str, text: str, writer: Flow) -> str:
    """Declarations of this kind, and qualifiers."""
    first = "layout(set = 0, binding = 0) uniform Scene {"
    head = writer.declared()
    if name == "frag":
        head += "float global_hits;\n"
        text = text.replace("#version 450\n", f"#version 450\n{LEAVERS}{DEMOTERS}", 1)
    structs = list(re.finditer(r"^struct .*\n", text, re.M))
    if structs:
        at = structs[-1].end()
        text = text[:at] + head + text[at:]
    else:
        text = text.replace(first, head + first, 1)
    if name in ("vert", "tese", "geom") and r.random() < 0.3:
        word = r.choice(("invariant", "precise"))
        at = text.rindex("\n", 0, text.index("(set = 0")) + 1
        text = text[:at] + f"{word} gl_Position;\n" + text[at:]
    if name != "mesh":
        words = {}

        def qualified(match: re.Match[str]) -> str:
            word = words.setdefault(match[0], r.choice(("", "", "", "", "invariant ", "precise ")))
            return f"{match[1]} {word}{match[2]}"

        pattern = r"^(layout\([^)]*\))((?: \w+)*? out (?!Block).*)$"
        if r.random() < 0.5:
            text = re.sub(pattern, lambda m: qualified(m).replace("  ", " "), text, flags=re.M)
    return text
