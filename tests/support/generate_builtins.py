"""Built-ins in random pipelines: one stage writes them, the next one reads them back.

``woven(seed, stages)`` puts statements into finished GLSL, with random numbers of its own, so that
the rest of a seed stays what it was. What is written is a constant, a uniform, a value of the
vertex, or stored on some paths only; clip and cull distances are positive, so nothing is cut off.
What may be undefined is read where it cannot show; an unwritten layer or viewport is 0.
"""

from __future__ import annotations

from random import Random

from tests.support.generate_interface import NEVER

MAIN = "void main() {\n"
EMIT = "EmitVertex();"
FIRST = "vec4 acc = vec4(0.0);\n"
DISTANCES = ("gl_ClipDistance[0]", "gl_CullDistance[0]")
OWN = "gl_InvocationID"
OF_VERTEX = {
    "vert": "position.x", "tesc": f"gl_in[{OWN}].gl_Position.x", "tese": "gl_TessCoord.x",
    "geom": "gl_in[0].gl_Position.y", "mesh": "float(lane)",
}  # fmt: skip
READ_AT = {"tesc": (OWN, "0"), "tese": ("0", "1"), "geom": ("0",)}


def woven(seed: int, stages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The stages with more built-ins, perhaps."""
    r = Random(f"built-ins {seed}")
    texts = dict(stages)
    for producer, consumer in zip(list(texts), list(texts)[1:]):
        if producer == "task" or r.random() < 0.5:
            continue
        if consumer == "frag":
            _to_fragments(r, texts, producer)
        else:
            _between(r, texts, producer, consumer)
    return list(texts.items())


def _value(r: Random, producer: str) -> str:
    """A positive number."""
    kind = r.randrange(4)
    if kind < 2:
        return str(1.0 + 0.25 * r.randrange(4))
    if kind == 2:
        return f"(abs(push.scale) + {0.5 + 0.5 * r.randrange(2)})"
    return f"(abs({OF_VERTEX[producer]}) * 0.5 + 0.75)"


def _distances(r: Random) -> tuple[str, ...]:
    """None, one, or both: Mesa 25.0 mixes them up unless both stages use the same of them."""
    return DISTANCES[: r.randint(0, 2)]


def _write(texts: dict[str, str], stage: str, target: str, value: str, test: str = "") -> None:
    """A store, where the stage begins, or before each vertex that goes out."""
    before = {"tesc": f"gl_out[{OWN}].", "mesh": "gl_MeshVerticesEXT[lane]."}.get(stage, "")
    store = f"{test}{before}{target} = {value};"
    text = texts[stage]
    if stage == "geom":
        texts[stage] = text.replace(EMIT, f"{{ {store} {EMIT} }}")
    elif stage == "mesh":
        at = text.index(";\n", text.index(f"{before}gl_Position =")) + 2
        texts[stage] = text[:at] + f"    {store}\n" + text[at:]
    else:
        texts[stage] = text.replace(MAIN, f"{MAIN}    {store}\n", 1)


def _between(r: Random, texts: dict[str, str], producer: str, consumer: str) -> None:
    """Two stages before rasterization; what is read ends in the position."""
    distances = _distances(r)
    same = _value(r, producer)
    terms, guarded = [], []
    for target in ("gl_PointSize", *distances):
        way = r.random()
        read = f"gl_in[{r.choice(READ_AT[consumer])}].{target}"
        if way < 0.2 and len(distances) < 2:
            guarded.append(read)
            if r.random() < 0.5:
                _write(texts, producer, target, _value(r, producer), "if (push.mode > 1) ")
            continue
        _write(texts, producer, target, same if way < 0.5 else _value(r, producer))
        terms.append(read)
    if r.random() < 0.5:
        terms.append(f"gl_in[{r.choice(READ_AT[consumer])}].gl_Position.{r.choice('xzww')}")
    if consumer == "tesc" and r.random() < 0.5:
        _write(texts, "tesc", "gl_PointSize", _value(r, "tesc"))
        terms.append(f"gl_out[{OWN}].gl_PointSize")
    if consumer == "tese" and r.random() < 0.5:
        terms += [f"gl_TessLevelOuter[{r.randrange(4)}]", f"gl_TessLevelInner[{r.randrange(2)}]"]
    _read(texts, consumer, terms, guarded)


def _read(texts: dict[str, str], stage: str, terms: list[str], guarded: list[str]) -> None:
    place = f"gl_out[{OWN}].gl_Position" if stage == "tesc" else "gl_Position"
    lines = [f"{place}.{'xy'[n % 2]} += 0.02 * {term};" for n, term in enumerate(terms)]
    lines += [f"if ({NEVER}) {place}.x += {term};" for term in guarded]
    more = " ".join(lines)
    text = texts[stage]
    if stage == "geom":
        texts[stage] = text.replace(EMIT, f"{{ {more} {EMIT} }}")
    else:
        at = text.index(";\n", text.index(f"{place} =")) + 2
        texts[stage] = f"{text[:at]}    {more}\n{text[at:]}"


def _to_fragments(r: Random, texts: dict[str, str], producer: str) -> None:
    """The last stage before rasterization; what is read ends in the colour."""
    if FIRST not in texts["frag"]:
        return
    same, terms = _value(r, producer), []
    for target in _distances(r):
        _write(texts, producer, target, same if r.random() < 0.5 else _value(r, producer))
        terms.append(target)
    if producer == "geom" and r.random() < 0.6:
        number = r.choice(("5", "push.mode", "gl_PrimitiveIDIn", "(gl_PrimitiveIDIn & 1)"))
        _write(texts, "geom", "gl_PrimitiveID", number)
        terms.append("float(gl_PrimitiveID & 7)")
    # lavapipe (Mesa 25.0) gives rubbish for an unwritten one beside another of them, and draws
    # points and lines elsewhere where an unwritten one is read at all
    thin = any(w in texts[producer] for w in ("gl_PointSize =", "line_strip", "isolines"))
    if "gl_Layer =" in texts[producer]:
        terms.append("float(gl_Layer)")
    elif r.random() < 0.5 and not thin:
        terms.append(f"float({r.choice(('gl_Layer', 'gl_ViewportIndex'))})")
    more = "".join(f"    acc += {t} * vec4(0.25, 0.5, -0.125, 0.0625);\n" for t in terms)
    texts["frag"] = texts["frag"].replace(FIRST, FIRST + more, 1)
