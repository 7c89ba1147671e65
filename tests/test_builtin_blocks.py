"""Built-in blocks: alike on both sides of a border after linking, with the sizes that they had."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Module
from spvlink.link.interface import declared
from tests.chain_hazards import frag, geom, vert
from tests.linking import INPUT, OUTPUT, module_of
from tests.samples import compile_glsl

BLOCK = "gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[3]; }"


def blocks(module: Module, storage: int) -> list[list[tuple[int, int]]]:
    """(built-in, size of its array or 0) for each member of the blocks of a storage class."""
    builtins = {
        (i.args[0], i.imm[0]): i.imm[2]
        for i in module.annotations
        if i.op == ops.OpMemberDecorate and i.imm[1] == enums.Decoration_BuiltIn
    }
    found = []
    assert module.entry is not None
    for variable in module.entry.inst.args[1:]:
        assert variable.type is not None
        struct = variable.type.args[0]
        while struct.op == ops.OpTypeArray:
            struct = struct.args[0]
        if variable.imm[0] == storage and (struct, 0) in builtins:
            sizes = [types.size_of(m) if m.op == ops.OpTypeArray else 0 for m in struct.args]
            found.append([(builtins[struct, n], size) for n, size in enumerate(sizes)])
    return found


def chain(reads: str, writes: str) -> list[bytes]:
    """A vertex shader that writes all of a block, and a geometry shader that reads some of it."""
    first = vert(
        f"out {BLOCK}; layout(location = 3) out vec4 c; layout(location = 5) out vec4 dead;",
        """gl_PointSize = a.x; gl_ClipDistance[0] = a.y; gl_ClipDistance[1] = 1.0;
gl_ClipDistance[2] = b.x; c = a; dead = b;""",
    )
    second = geom(
        f"""in {BLOCK} gl_in[]; out {BLOCK};
layout(location = 3) in vec4 c[]; layout(location = 5) in vec4 dead[];
layout(location = 0) out vec4 p;""",
        f"""for (int i = 0; i < 3; ++i) {{ p = c[i]; {reads} {writes}
gl_Position = gl_in[i].gl_Position; EmitVertex(); }}""",
    )
    last = frag("layout(location = 0) in vec4 p;", "color = p;")
    return [compile_glsl(text, stage) for stage, text in (first, second, last)]


@pytest.mark.parametrize(
    ("reads", "writes"),
    [
        ("", ""),
        ("p.x += gl_in[i].gl_ClipDistance[1];", ""),
        ("", "gl_ClipDistance[0] = 1.0; gl_ClipDistance[1] = 0.5; gl_ClipDistance[2] = c[0].x;"),
        ("p.x += gl_in[i].gl_PointSize;", "gl_ClipDistance[1] = gl_in[i].gl_ClipDistance[2];"),
    ],
    ids=["nothing", "read", "written", "both"],
)
def test_blocks_fit_and_clip_distances_keep_their_size(reads: str, writes: str) -> None:
    codes = chain(reads, writes)
    options = spvlink.Options()
    options.check_each = True
    linked = spvlink.link(codes, options)
    assert linked.defect is None and linked.passed_through is None
    assert linked.validated == "validated"
    before = [module_of(code) for code in codes]
    after = [module_of(stage.data) for stage in linked.stages]
    assert blocks(after[0], OUTPUT) == blocks(after[1], INPUT)
    # the last stage before rasterization: its size enables planes
    assert blocks(after[1], OUTPUT) == blocks(before[1], OUTPUT)
    clip = enums.BuiltIn_ClipDistance
    assert [s for b in blocks(after[1], OUTPUT) for m, s in b if m == clip] == [3]
    idle = {r.name for r in linked.remarks if r.slot == "built-in"}
    assert ("gl_PointSize" in idle) == ("PointSize" not in reads)
    assert ("gl_ClipDistance" in idle) == ("gl_in[i].gl_ClipDistance" not in reads + writes)


def test_limits_that_were_kept_are_kept() -> None:
    """No more components with those of the built-in block, and no higher Location."""
    linked = spvlink.link(chain("", ""))
    for border in linked.interfaces:
        assert border.components[1] <= border.components[0]
        assert border.locations[1] <= border.locations[0]
    places = [s.data for s in linked.stages]
    highest = max(p[0] for d in declared(module_of(places[0]), OUTPUT) for p in d.covers)
    assert highest <= 5
