"""Linked pipelines with transform feedback: the same bytes in the same places, nothing in the way
of what the next stage reads."""

from __future__ import annotations

import subprocess

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import ops
from tests.support.captured import captured, check_layout, read
from tests.support.chain_hazards import Chain, frag, vert
from tests.support.chain_proof import prove
from tests.support.feedback_chains import CHAINS
from tests.support.linking import all_insts, module_of
from tests.support.samples import compile_glsl


def build(chain: Chain) -> list[bytes]:
    return [compile_glsl(text, stage, chain.environment) for stage, text in chain.stages]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_chain(chain: Chain) -> None:
    codes = build(chain)
    linked = prove(codes, chain)
    check_layout(codes, [s.data for s in linked.stages])
    names = {r.name.rpartition(".")[2]: set[str]() for r in linked.remarks}
    for remark in linked.remarks:
        names[remark.name.rpartition(".")[2]].add(remark.action)
    for name in chain.gone:
        assert names[name] <= {"removed", "merged", "propagated"}, name
    for name in chain.kept:
        assert names[name] <= {"kept", "packed"}, name
    again = spvlink.link([s.data for s in linked.stages], clean=True)
    assert again.passed_through == "nothing to gain"


# where nothing is left to be gained then
OPTIMIZED = [c for c in CHAINS if c.name != "an array with a dynamic index"]


@pytest.mark.parametrize("chain", OPTIMIZED, ids=lambda c: c.name)
def test_optimized_chain(chain: Chain) -> None:
    codes = [
        subprocess.run(
            ["spirv-opt", f"--target-env={chain.environment}", "-O", "-", "-o", "-"],
            input=code, capture_output=True, check=True,
        ).stdout
        for code in build(chain)
    ]  # fmt: skip
    linked = prove(codes, chain)
    check_layout(codes, [s.data for s in linked.stages])


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_without_a_fragment_shader(chain: Chain) -> None:
    """Only transform feedback is left, and all of it."""
    codes = build(chain)[:-1]
    if len(codes) == 1:
        codes = [compile_glsl(chain.stages[0][1], "vert", chain.environment)]
    scene, before = draw_covering(codes)
    assert before.captured
    options = spvlink.Options(clean=True)
    options.complete = options.check_each = True
    linked = spvlink.link(codes, options)
    assert linked.defect is None, linked.defect
    after = [s.data for s in linked.stages]
    assert captured(after[-1]) == captured(codes[-1])
    border = linked.interfaces[-1]
    assert border.consumer == "fixed-function"
    assert border.locations[1] <= border.locations[0]
    difference = compare(before, draw(after, scene))
    assert not difference, str(difference)


PLACES = {  # name -> the Locations that the fragment shader declares, and the stage before it
    "some components read, all captured": ({0}, {0, 1, 2}),
    "scattered scalars": ({0, 1}, {0, 1, 2}),
    "two buffers, with room between": ({0, 1}, {0, 1, 2}),
    "other qualifiers around it": ({0, 1, 2}, {0, 1, 2}),
    "a struct": ({0}, {0, 1}),
    "two streams, of one vertex each": ({0}, {0, 1, 2}),
    "64 bits": ({0, 1}, {0, 1, 2}),
}


@pytest.mark.parametrize("name", PLACES)
def test_places(name: str) -> None:
    chain = next(c for c in CHAINS if c.name == name)
    linked = spvlink.link(build(chain), clean=True)
    assert read([s.data for s in linked.stages]) == PLACES[name]


def test_captured_pairs_of_half_precision_stay_apart() -> None:
    """Three components and one are not two pairs if their bytes are no neighbours."""
    xfb = "xfb_buffer = 0, xfb_stride = 32, xfb_offset"
    outputs = f"""layout(location = 0, {xfb} = 16) out mediump vec3 x;
layout(location = 1, {xfb} = 4) out mediump float y;
"""
    inputs = "layout(location = 0) in mediump vec3 x; layout(location = 1) in mediump float y;"
    stages = vert(outputs, "x = a.xyz; y = b.x;"), frag(inputs, "color = vec4(x, y);")
    codes = build(Chain("pairs", stages))
    linked = prove(codes, Chain("pairs", stages))
    check_layout(codes, [s.data for s in linked.stages])


def test_a_local_variable_belongs_to_no_buffer() -> None:
    """GLSL gives every output the buffer; one without an Offset is not captured, and may go."""
    outputs = """layout(xfb_buffer = 0, xfb_stride = 16) out;
layout(location = 0, xfb_offset = 0) out vec4 x;
layout(location = 1) out float own[4];
"""
    body = """for (int i = 0; i < 4; i++) own[i ^ (gl_VertexIndex & 1)] = a[i];
x = vec4(own[gl_VertexIndex & 3], own[1], b.xy);"""
    chain = Chain(
        "own", (vert(outputs, body), frag("layout(location = 0) in vec4 x;", "color = x;"))
    )
    codes = build(chain)
    module = module_of(prove(codes, chain).stages[0].data)
    (local,) = [i for i in all_insts(module) if i.op == ops.OpVariable]
    assert local.type is not None and local.type.args[0].op == ops.OpTypeArray
    assert not [i for i in module.annotations if local in i.args]
