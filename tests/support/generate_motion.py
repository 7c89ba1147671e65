"""Random pairs where code may cross: ``make(seed) -> (vertex_glsl, fragment_glsl)``.

What the fragment shader computes is continuous in what is interpolated, and every value on the way
stays below ``LIMIT``, so a rounding of one part in 2^24 at any place shows in the picture as an
error that is small beside LIMIT. What keeps it so:

* whatever could grow beyond LIMIT is scaled down at once; divisors are at least 1;
* branches depend on uniforms, on Flat integers and on gl_FragCoord; a choice by an interpolated
  value is between things that meet there (``e > 0.0 ? e : 0.0``);
* fract, floor and int() are asked only of inputs that are made from attributes: these must keep
  every bit, since no pass may round what goes there;
* where inputs are read beside the centre (centroid, sample, interpolateAt), w is 1: lavapipe
  divides by the w of the centre even there, so that not even a constant comes through.
"""

from __future__ import annotations

from random import Random

LIMIT = 16.0
UNIT = 1.5  # of attributes and uniforms
QUALIFIERS = ("", "", "", "flat", "flat", "noperspective", "centroid", "sample")
SIZES = {"float": 1, "vec2": 2, "vec3": 3, "vec4": 4}
TYPES = {size: name for name, size in SIZES.items()}
PUSH = "layout(push_constant) uniform P { vec4 K; vec4 L; mat4 M; int N; };\n"
BLOCK = "layout(binding = 0) uniform U { vec4 A; mat3 B; vec4 C[3]; float D; };\n"
PERSPECTIVE = "1.0 + abs(p.x) * 2.3 + abs(p.y) * 0.7"


class Expr:
    """A float expression: text, number of components, and a bound."""

    def __init__(self, text: str, size: int, bound: float) -> None:
        self.text = text
        self.size = size
        self.bound = bound

    def fitted(self, size: int, r: Random) -> Expr:
        """With another number of components."""
        if size == self.size:
            return self
        if self.size == 1:
            return Expr(f"{TYPES[size]}({self.text})", size, self.bound)
        lanes = "".join(r.choice("xyzw"[: self.size]) for _ in range(size))
        return Expr(f"({self.text}).{lanes}", size, self.bound)

    def bounded(self, limit: float = LIMIT) -> Expr:
        if self.bound <= limit:
            return self
        factor = 1.0
        while self.bound * factor > limit:
            factor /= 2
        return Expr(f"({self.text} * {factor!r})", self.size, self.bound * factor)


class Varying:
    def __init__(self, name: str, qualifier: str, type: str, location: int) -> None:
        self.name = name
        self.qualifier = qualifier
        self.type = type
        self.location = location
        self.bound = 0.0
        self.varies = False  # made from attributes, so that no pass may round it

    def declared(self, storage: str) -> str:
        words = " ".join(filter(None, (self.qualifier, storage, self.type, self.name)))
        return f"layout(location = {self.location}) {words};\n"

    @property
    def integral(self) -> bool:
        return self.type in ("int", "ivec2")


class Maker:
    """What both stages share: uniforms, constants, arithmetic."""

    def __init__(self, r: Random, block: bool, perspective: bool) -> None:
        self.r = r
        self.block = block
        self.perspective = perspective

    def number(self) -> Expr:
        number = self.r.choice((0.25, 0.5, 1.0, 1.5, 2.0, 3.0, -0.75, -2.0))
        return Expr(repr(number), 1, abs(number))

    def constant(self, size: int) -> Expr:
        parts = [self.number() for _ in range(size)]
        if size == 1:
            return parts[0]
        text = ", ".join(p.text for p in parts)
        return Expr(f"{TYPES[size]}({text})", size, max(p.bound for p in parts))

    def uniform(self, size: int) -> Expr:
        names = ["K", "L"] + (["A", "C[1]"] if self.block else [])
        one = Expr(self.r.choice(names), 4, UNIT).fitted(size, self.r)
        if self.r.random() < 0.2:
            one = Expr(f"sin({one.text})", size, 1.0)
        return one

    def convergent(self, size: int) -> Expr:
        return self.uniform(size) if self.r.random() < 0.6 else self.constant(size)

    def leaf(self, size: int) -> Expr:
        raise NotImplementedError

    def linear(self, size: int, depth: int) -> Expr:
        """Sums and products with what is convergent: what may cross an interpolation."""
        r = self.r
        if depth <= 0:
            return self.leaf(size)
        a = self.linear(size, depth - 1)
        how = r.randrange(10)
        if how < 4:
            b = self.linear(size, depth - 1)
            if how == 3:
                return self.mixed(a, b, size)
            op = "+-+"[how]
            return Expr(f"({a.text} {op} {b.text})", size, a.bound + b.bound).bounded()
        c = self.convergent(size)
        if how < 6:
            return Expr(f"({a.text} * {c.text})", size, a.bound * c.bound).bounded()
        if how == 6:
            b = self.leaf(size)
            bound = a.bound * c.bound + b.bound
            return Expr(f"fma({a.text}, {c.text}, {b.text})", size, bound).bounded()
        if how == 7:
            return Expr(f"({a.text} / (1.5 + {c.text} * {c.text}))", size, a.bound)
        if how == 8:
            return Expr(f"(-{a.text})", size, a.bound)
        return self.product(size, depth)

    def mixed(self, a: Expr, b: Expr, size: int) -> Expr:
        bound = max(a.bound, b.bound)
        if self.r.random() < 0.5:
            c = self.uniform(1)
            bound = a.bound * 2.5 + b.bound * 1.5
            return Expr(f"mix({a.text}, {b.text}, {c.text})", size, bound).bounded()
        bools = {1: "bool", 2: "bvec2", 3: "bvec3", 4: "bvec4"}[size]
        return Expr(f"mix({a.text}, {b.text}, {bools}(N > 1))", size, bound)

    def product(self, size: int, depth: int) -> Expr:
        """Of vectors and matrices."""
        r = self.r
        if size == 1:
            wide = r.choice((2, 3, 4))
            a, c = self.linear(wide, depth - 1), self.convergent(wide)
            return Expr(f"dot({a.text}, {c.text})", 1, wide * a.bound * c.bound).bounded()
        a = self.linear(size, depth - 1)
        if size == 3 and r.random() < 0.4:
            c = self.convergent(3)
            return Expr(f"cross({a.text}, {c.text})", 3, 2 * a.bound * c.bound).bounded()
        matrix = {2: "mat2(M)", 3: "B" if self.block else "mat3(M)", 4: "M"}[size]
        sides = (matrix, a.text) if r.random() < 0.5 else (a.text, matrix)
        return Expr(f"({sides[0]} * {sides[1]})", size, size * a.bound * UNIT).bounded()


class Vertex(Maker):
    """Outputs made of attributes, uniforms and each other."""

    def leaf(self, size: int) -> Expr:
        r = self.r
        choice = r.randrange(6)
        if choice == 0:
            return Expr("(p * p.wzyx)", 4, UNIT * UNIT).fitted(size, r)
        if choice == 1:
            return Expr("sin(p * 3.0)", 4, 1.0).fitted(size, r)
        return Expr(r.choice(("p", "q", "p.yzwx")), 4, UNIT).fitted(size, r)

    def value(self, out: Varying, earlier: list[Varying]) -> str:
        """What an output stores; notes its bound."""
        r = self.r
        if out.integral:
            return self.whole_number(out, earlier)
        size = SIZES[out.type]
        twins = [v for v in earlier if v.qualifier == out.qualifier and v.type == out.type]
        kind = r.random()
        if twins and kind < 0.35:
            return self.function_of(r.choice(twins), out)
        if kind < 0.45:
            made = self.uniform(size)
            out.varies = False
        elif kind < 0.55:
            made = Expr("float(gl_InstanceIndex) * 0.25", 1, 1.0).fitted(size, r)
            out.varies = False
        else:
            made = self.linear(size, r.randint(0, 2))
            out.varies = True
        made = made.bounded(4.0)
        out.bound = made.bound
        return made.text

    def function_of(self, twin: Varying, out: Varying) -> str:
        """A cheap function of another output: what moves forward."""
        number = self.number().text
        out.bound, out.varies = twin.bound * 3 + 3, False
        forms = [f"-{twin.name}", f"{twin.name}", f"{twin.name} * {number}",
                 f"{twin.name} * {number} + 1.0", f"{twin.name} + {number}"]  # fmt: skip
        if out.qualifier == "flat":
            forms += [f"{twin.name} * {twin.name} * 0.25", f"abs({twin.name})"]
            out.bound = max(out.bound, twin.bound**2)
        scale = 1.0 if out.bound <= LIMIT else 0.25
        out.bound *= scale
        return f"({self.r.choice(forms)}) * {scale}"

    def whole_number(self, out: Varying, earlier: list[Varying]) -> str:
        r = self.r
        twins = [v.name for v in earlier if v.type == out.type]
        base = "k.xy" if out.type == "ivec2" else r.choice(("k.x", "k.z", "gl_InstanceIndex"))
        if twins and r.random() < 0.5:
            base = r.choice(twins)
        return r.choice(("{}", "({} + 3)", "({} * 5)", "({} & 7)", "({} ^ 12)")).format(base)

    def text(self, outputs: list[Varying]) -> str:
        r = self.r
        text = "#version 450\nlayout(location = 0) in vec4 p;\nlayout(location = 1) in ivec4 k;\n"
        text += "layout(location = 2) in vec4 q;\n" + PUSH + (BLOCK if self.block else "")
        text += "".join(v.declared("out") for v in outputs)
        stores = self.stores(outputs)
        body = f"gl_Position = vec4(p.xyz, {PERSPECTIVE if self.perspective else 1.0});\n"
        form = r.randrange(4)
        if form == 0:  # two returns
            body += f"if (p.x > 0.1) {{\n{self.stores(outputs)}return; }}\n{stores}"
        elif form == 1:  # two ways to a value
            body += f"if (p.y > 0.2) {{\n{self.stores(outputs)}}} else {{\n{stores}}}\n"
        else:
            body += stores
        return text + f"void main() {{\n{body}}}\n"

    def stores(self, outputs: list[Varying]) -> str:
        bounds, varies = [v.bound for v in outputs], [v.varies for v in outputs]
        again = any(bounds)
        text = ""
        for n, out in enumerate(outputs):
            text += f"{out.name} = {self.value(out, outputs[:n])};\n"
        if again:
            for out, bound, before in zip(outputs, bounds, varies):
                out.bound, out.varies = max(out.bound, bound), out.varies and before
        return text


class Fragment(Maker):
    """Expressions of the inputs."""

    def __init__(
        self, r: Random, block: bool, perspective: bool, inputs: list[Varying]
    ) -> None:  # fmt: skip
        super().__init__(r, block, perspective)
        self.inputs = inputs
        self.chosen: list[Varying] = inputs  # what leaves are taken from

    def leaf(self, size: int) -> Expr:
        r = self.r
        one = r.choice(self.chosen)
        if one.integral:
            scalar = one.name + (".x" if one.type == "ivec2" else "")
            return Expr(f"float({scalar} & 7) * 0.25", 1, 2.0).fitted(size, r)
        made = Expr(one.name, SIZES[one.type], one.bound)
        if one.qualifier != "flat" and not self.perspective and r.random() < 0.15:
            how = r.choice(("interpolateAtOffset({}, vec2(0.25, -0.125))",
                            "interpolateAtOffset({}, K.xy * 0.25)",
                            "interpolateAtCentroid({})"))  # fmt: skip
            made.text = how.format(one.name)
        return made.fitted(size, r)

    def pool(self) -> None:
        """Leaves of one qualifier, mostly."""
        qualifier = self.r.choice([v.qualifier for v in self.inputs])
        same = [v for v in self.inputs if v.qualifier == qualifier]
        self.chosen = same if self.r.random() < 0.75 else self.inputs

    def term(self) -> str:
        """A vec4 below about 2, of something that moves under something that stays."""
        r = self.r
        self.pool()
        size = r.choice((1, 2, 3, 4, 4))
        e = self.linear(size, r.randint(1, 3)).bounded()
        how = r.randrange(9)
        if how == 0:
            f = self.linear(size, 1).bounded()
            scale = 1.0 / (e.bound * f.bound + 1.0)
            return Expr(f"({e.text} * {f.text}) * {scale}", size, 1.0).fitted(4, r).text
        if how == 1 and not self.sharp():
            how = 2
        if how == 1:
            e = self.linear(size, 2).bounded()
        forms = {
            1: "fract({0})", 2: "cos({0})", 3: "({0} / (1.0 + abs({0})))",
            4: "max({0}, 0.0) * 0.1", 5: "sqrt(abs({0}) + 0.5) * 0.25",
            6: "clamp({0}, -1.0, 1.0)", 7: "({0} * 0.0625)", 8: "exp2(-abs({0}))",
        }  # fmt: skip
        return Expr(f"({forms[how].format(e.text)})", size, 1.0).fitted(4, r).text

    def sharp(self) -> bool:
        """Take leaves from inputs whose bits must stay; whether there are any."""
        found = [v for v in self.inputs if v.varies and v.qualifier != "flat" and not v.integral]
        self.chosen = found or self.chosen
        return bool(found)

    def condition(self) -> str:
        whole = [v for v in self.inputs if v.integral]
        choices = ["N > 1", "K.x > 0.4", "(int(gl_FragCoord.x) & 3) == 1", "gl_FrontFacing"]
        if whole:
            one = self.r.choice(whole)
            scalar = one.name + (".x" if one.type == "ivec2" else "")
            choices += [f"({scalar} & 1) == 0", f"{scalar} * 3 + 1 > 7"] * 2
        return self.r.choice(choices)

    def statement(self, number: int) -> str:
        r = self.r
        how = r.randrange(8)
        if how == 0:
            return (f"if ({self.condition()}) {{ o += {self.term()}; }}"
                    f" else {{ o -= {self.term()}; }}\n")  # fmt: skip
        if how == 1:
            return f"if ({self.condition()}) {{ o += {self.term()}; }}\n"
        if how == 2:  # what comes round through a phi
            return (f"vec4 b{number} = K; for (int i = 0; i < (N & 3) + 2; i++) {{"
                    f" o += b{number} * 0.25; b{number} = {self.term()}; }}\n")  # fmt: skip
        if how == 3:
            return f"o += ({self.condition()}) ? {self.term()} : {self.term()};\n"
        return f"o += {self.term()};\n"

    def text(self) -> str:
        text = "#version 450\nlayout(location = 0) out vec4 o;\n" + PUSH
        text += (BLOCK if self.block else "") + "".join(v.declared("in") for v in self.inputs)
        body = "o = vec4(0.0);\n"
        body += "".join(self.statement(n) for n in range(self.r.randint(2, 5)))
        return text + f"void main() {{\n{body}}}\n"


def make(seed: int) -> tuple[str, str]:
    """The GLSL of a vertex and a fragment shader that belong together."""
    r = Random(seed ^ 0xC0DE)
    kinds = r.sample(QUALIFIERS, r.randint(1, 2))
    varyings: list[Varying] = []
    for number in range(r.randint(2, 7)):
        qualifier = r.choice(kinds)
        whole = qualifier == "flat" and r.random() < 0.4
        type = r.choice(("int", "ivec2") if whole else ("float", "vec2", "vec3", "vec4", "vec4"))
        varyings.append(Varying(f"v{number}", qualifier, type, number))
    blocks = r.random() < 0.5, r.random() < 0.5
    perspective = r.random() < 0.6 and not {"centroid", "sample"}.intersection(kinds)
    vertex = Vertex(r, blocks[0], perspective).text(varyings)
    return vertex, Fragment(r, blocks[1], perspective, varyings).text()
