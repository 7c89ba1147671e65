"""Random vertex and fragment shaders whose varyings often have a known range, for ``--half``.

The vertex shader makes them of attributes that may be any number; the fragment shader makes colours
of them by operations that have a bound, and by some that have none.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

MOST = 5  # varyings
_QUALIFIERS = ("", "", "flat ", "flat ", "centroid ", "noperspective ")
_EDGES = (-1.0, 0.0, 0.25, 0.5, 1.0, 3.0)


class HalfSource:
    """One pair of shaders; ``texts`` has both."""

    def __init__(self, seed: int) -> None:
        self.r = Random(seed)
        self.types = [
            self.r.choice(("float", "vec2", "vec3")) for _ in range(self.r.randint(1, MOST))
        ]
        self.qualifiers = [self.r.choice(_QUALIFIERS) for _ in self.types]
        self.lines: list[str] = []

    def texts(self) -> list[tuple[str, str]]:
        """(stage, GLSL) of both."""
        return [("vert", self.vertex()), ("frag", self.fragment())]

    def declared(self, direction: str) -> str:
        return "".join(
            f"layout(location = {at}) {qualifier}{direction} {type} v{at};\n"
            for at, (type, qualifier) in enumerate(zip(self.types, self.qualifiers))
        )

    def number(self) -> str:
        return f"{self.r.choice((self.r.uniform(-2, 2), self.r.choice(_EDGES))):.6f}"

    # -- the vertex shader -------------------------------------------------------------------------

    def vertex(self) -> str:
        body = ""
        for at, type in enumerate(self.types):
            if type == "vec3" and self.r.random() < 0.4:
                body += f"    v{at} = normalize(vec3({self.any()}, {self.any()}, {self.any()}));\n"
                continue
            parts = [self.bounded(2) for _ in range(1 if type == "float" else int(type[3]))]
            body += f"    v{at} = {type}({', '.join(parts)});\n"
        return (
            "#version 450\nlayout(location = 0) in vec4 position;\n"
            "layout(location = 1) in vec4 a;\nlayout(location = 2) in vec4 b;\n"
            f"{self.declared('out')}void main() {{\n{body}    gl_Position = position;\n}}\n"
        )

    def any(self) -> str:
        """Something of which nothing is known."""
        one, other = (f"{self.r.choice('ab')}.{self.r.choice('xyzw')}" for _ in range(2))
        return self.r.choice((one, f"({one} * {other})", f"({one} - {self.number()})"))

    def bounded(self, depth: int) -> str:
        """Something whose range can be seen."""
        r, inner = self.r, self.bounded
        if depth <= 0 or r.random() < 0.3:
            low, high = sorted(r.sample(_EDGES, 2))
            return r.choice(
                (
                    f"clamp({self.any()}, {low}, {high})", f"sin({self.any()})",
                    f"fract({self.any()})", f"smoothstep({low}, {high}, {self.any()})",
                    f"clamp({self.any()}, 0.0, 1.0)", f"max(min({self.any()}, {high}), {low})",
                    self.number(),
                )
            )  # fmt: skip
        kinds: tuple[Callable[[], str], ...] = (
            lambda: f"({inner(depth - 1)} * {inner(depth - 1)})",
            lambda: f"({inner(depth - 1)} + {inner(depth - 1)})",
            lambda: f"({inner(depth - 1)} - {inner(depth - 1)})",
            lambda: f"mix({inner(depth - 1)}, {inner(depth - 1)}, clamp({self.any()}, 0.0, 1.0))",
            lambda: f"exp({inner(depth - 1)})",
            lambda: f"(1.0 / (1.5 + abs({inner(depth - 1)})))",
            lambda: f"({inner(depth - 1)} > 0.1 ? {inner(depth - 1)} : {inner(depth - 1)})",
            lambda: f"max(dot(normalize(a.xyz), normalize(b.{r.choice(('xyz', 'wzy'))})), 0.0)",
        )
        return r.choice(kinds)()

    # -- the fragment shader -----------------------------------------------------------------------

    def fragment(self) -> str:
        scale = self.r.choice((1.0, 0.5, 0.25, 0.125))
        parts = [f"{scale} * {self.colour(self.r.randint(0, 3))}" for _ in range(4)]
        extra = self.r.choice(("", "", "", " + push.some"))
        return (
            "#version 450\nlayout(push_constant) uniform Push { vec4 some; } push;\n"
            f"{self.declared('in')}layout(location = 0) out vec4 colour;\n"
            f"void main() {{\n    colour = vec4({', '.join(parts)}){extra};\n}}\n"
        )

    def read(self) -> str:
        at = self.r.randrange(len(self.types))
        lanes = "xyz"[: 1 if self.types[at] == "float" else int(self.types[at][3])]
        return f"v{at}" if self.types[at] == "float" else f"v{at}.{self.r.choice(lanes)}"

    def vector(self) -> str:
        whole = [f"v{at}" for at, type in enumerate(self.types) if type == "vec3"]
        if whole and self.r.random() < 0.6:
            return self.r.choice(whole)
        return f"vec3({self.read()}, {self.read()}, {self.number()})"

    def colour(self, depth: int) -> str:
        """A number made of inputs."""
        r, inner = self.r, self.colour
        if depth <= 0:
            return self.read() if r.random() < 0.9 else self.number()
        one = inner(depth - 1)
        kinds: tuple[Callable[[], str], ...] = (
            lambda: f"({one} * {inner(depth - 1)})",
            lambda: f"({one} * {one})",
            lambda: f"({one} + {inner(depth - 1)})",
            lambda: f"({one} - {self.number()})",
            lambda: f"mix({one}, {inner(depth - 1)}, {inner(0)})",
            lambda: f"mix({self.number()}, {one}, clamp({inner(0)}, 0.0, 1.0))",
            lambda: f"clamp({one}, {self.number()}, 2.5)",
            lambda: f"min({one}, {inner(depth - 1)})",
            lambda: f"max({one}, 0.0)",
            lambda: f"abs({one})",
            lambda: f"sqrt(max({one}, 0.0625))",
            lambda: f"inversesqrt(1.0 + {one} * {one})",
            lambda: f"pow(clamp({one}, 0.0, 1.0), {r.choice((1.5, 2.0, 4.0))})",
            lambda: f"exp(min({one}, 0.5))",
            lambda: f"exp2(-abs({one}))",
            lambda: f"smoothstep(-0.5, 1.25, {one})",
            lambda: f"({one} / (1.25 + abs({inner(0)})))",
            lambda: f"dot({self.vector()}, {self.vector()})",
            lambda: f"dot({self.vector()}, vec3(0.6, 0.0, 0.8))",
            lambda: f"length({self.vector()} + vec3(0.0, 0.0, 4.0))",
            lambda: f"normalize({self.vector()} + vec3(0.0, 0.0, 4.0)).{r.choice('xyz')}",
            lambda: f"distance({self.vector()}, {self.vector()})",
            lambda: f"clamp({one} + push.some.x, 0.0, 1.0)",
            lambda: f"(gl_FrontFacing ? {one} : {inner(depth - 1)})",
            lambda: f"({one} > 0.5 ? {self.number()} : 0.25)",
            lambda: f"(fract({one}) + sin({one}))",
        )
        return r.choice(kinds)()
