"""Random sets: 2 to 4 vertex shaders, 2 to 5 fragment shaders, one interface, random pairs; in some
a geometry shader, or tessellation, stands between all of them."""

from __future__ import annotations

import random

from spvlink.options import Options
from spvlink.pipeline import Source
from tests.support.chain_text import geom, tesc, tese
from tests.support.linking import fragment, vertex
from tests.support.samples import compile_glsl

LANES = "xyzw"


class Varying:
    """One variable of the interface that all modules of a set have in common."""

    def __init__(self, rng: random.Random, location: int) -> None:
        self.location = location
        self.size = rng.randint(1, 4)
        self.flat = rng.random() < 0.3
        self.whole = self.flat and rng.random() < 0.5  # a whole number
        self.name = f"v{location}"

    def declared(self, side: str, over: str = "", name: str = "") -> str:
        """``over``: the array over vertices, if it is one."""
        kinds = ("int", "ivec") if self.whole else ("float", "vec")
        type = kinds[0] if self.size == 1 else f"{kinds[1]}{self.size}"
        flat = "flat " if self.flat else ""
        return f"layout(location = {self.location}) {flat}{side} {type} {name or self.name}{over};"

    def lane(self, at: int, name: str = "") -> str:
        name = name or self.name
        return name if self.size == 1 else f"{name}.{LANES[at]}"


def _value(rng: random.Random, place: int, whole: bool) -> str:
    """What a component holds: often the same in several shaders."""
    lane = LANES[place % 4]
    values = [
        f"{place % 3}.5", "1.0", f"pc.tint.{lane}", f"pc.tint.{lane} * 2.0", f"p.{lane}",
        f"p.{lane} * pc.tint.y", "p.x + p.y", f"sin(p.{lane})",
    ]  # fmt: skip
    value = values[place % len(values)] if rng.random() < 0.6 else rng.choice(values)
    return f"int(floor(({value}) * 8.0))" if whole else value


def _together(rng: random.Random, varyings: list[Varying]) -> dict[tuple[int, int], str]:
    """What all fragment shaders make of some components in the same way, two and two."""
    found: dict[tuple[int, int], str] = {}
    if rng.random() < 0.4:
        return found
    for whole, flat in ((False, False), (False, True), (True, True)):
        alike = [v for v in varyings if (v.whole, v.flat) == (whole, flat)]
        places = [(v, at) for v in alike for at in range(v.size)]
        rng.shuffle(places)
        for (v, a), (w, b) in zip(places[::2], places[1::2]):
            if rng.random() < 0.7:
                factor = "3" if whole else rng.choice(("pc.tint.x", "0.5", "pc.tint.w"))
                made = f"({v.lane(a)} * {factor} + {w.lane(b)})"
                found[v.location, a] = found[w.location, b] = made
    return found


def make(seed: int, exact: bool) -> list[tuple[list[Source], Options]]:
    """The pipelines of a set, as ``link_set`` takes them."""
    rng = random.Random(seed)
    varyings = [Varying(rng, n) for n in range(rng.randint(2, 7))]
    block = "layout(push_constant) uniform P { vec4 tint; } pc;\n"
    producers: list[bytes] = []
    for _ in range(rng.randint(2, 4)):
        code = block + "\n".join(v.declared("out") for v in varyings) + "\nvoid main() {\n"
        for varying in varyings:
            for at in range(varying.size):
                value = _value(rng, varying.location * 3 + at, varying.whole)
                code += f"{varying.lane(at)} = {value};\n"
        producers.append(vertex(code + "gl_Position = p; }"))
    consumers: list[bytes] = []
    own = random.Random(f"motion {seed}")  # beside the other, so that seeds stay what they are
    together = _together(own, varyings)
    for _ in range(rng.randint(2, 5)):
        code = block + "\n".join(v.declared("in") for v in varyings)
        code += "\nvoid main() { vec4 s = pc.tint;\n"
        for varying in varyings:
            for at in range(varying.size):
                if rng.random() < 0.4:
                    read = varying.lane(at)
                    if own.random() < 0.97:
                        read = together.get((varying.location, at), read)
                    term = f"float({read}) * 0.0625" if varying.whole else read
                    code += f"s.{rng.choice(LANES)} += {term} * {rng.choice((0.25, 0.5, 1.0))};\n"
        consumers.append(fragment(code + "o = s; }"))
    middle = _middle(rng, varyings)
    pairs = [(a, b) for a in range(len(producers)) for b in range(len(consumers))]
    chosen = sorted(rng.sample(pairs, rng.randint(3, min(len(pairs), 9))))
    options = Options(complete=True, exact=exact)
    rows: list[tuple[list[Source], Options]] = []
    for a, b in chosen:
        between = [Source(code, f"m{b % len(middle)}") for code in middle[b % len(middle)]]
        row = [Source(producers[a], f"v{a}"), *between, Source(consumers[b], f"f{b}")]
        rows.append((row, options))
    return rows


def _middle(rng: random.Random, varyings: list[Varying]) -> list[list[bytes]]:
    """What stands between vertex and fragment shaders: nothing, or one or two of a kind."""
    kind = rng.choice(("", "", "geom", "tess"))
    if not kind:
        return [[]]
    return [_stages(rng, varyings, kind) for _ in range(rng.randint(1, 2))]


def _stages(rng: random.Random, varyings: list[Varying], kind: str) -> list[bytes]:
    """They hand on what they get, some of it changed."""
    handed = {v: [_handed(rng, v, at) for at in range(v.size)] for v in varyings}
    into = "\n".join(v.declared("in", "[]") for v in varyings)
    out = "\n".join(v.declared("out", "", f"x{v.location}") for v in varyings)
    body = "".join(
        f"{v.lane(at, f'x{v.location}')} = {handed[v][at]};\n"
        for v in varyings
        for at in range(v.size)
    )
    if kind == "geom":
        shown = "gl_Position = gl_in[n].gl_Position; EmitVertex();"
        loop = f"for (int n = 0; n < 3; ++n) {{ {body.replace('VERTEX', 'n')} {shown} }}"
        return [compile_glsl(text, stage) for stage, text in [geom(f"{into}\n{out}", loop)]]
    control = "\n".join(v.declared("out", "[]", f"c{v.location}") for v in varyings)
    copies = "".join(
        f"c{v.location}[gl_InvocationID] = v{v.location}[gl_InvocationID];\n" for v in varyings
    )
    read = "\n".join(v.declared("in", "[]", f"c{v.location}") for v in varyings)
    body = body.replace("VERTEX", "1")
    for v in varyings:
        body = body.replace(f"v{v.location}[", f"c{v.location}[")
    stages = [tesc(f"{into}\n{control}", copies), tese(f"{read}\n{out}", body)]
    return [compile_glsl(text, stage) for stage, text in stages]


def _handed(rng: random.Random, varying: Varying, at: int) -> str:
    """A component of the vertex, mostly."""
    if rng.random() < 0.1:
        return "2" if varying.whole else "0.25"
    return varying.lane(at, f"{varying.name}[VERTEX]")
