"""Stages that reach buffers, images and samplers through descriptor heaps themselves
(SPV_EXT_descriptor_heap): they are linked, and what they read of a heap stays where it is.

The system's driver knows no heaps, so what is linked is drawn with descriptor sets in their place
(tests/support/heaped.py); test_heap_draw.py has one that does. spirv-val knows them from 2026.1 on:
where scripts/setup-mesa unpacked one, it judges what is linked as it is.
"""

from __future__ import annotations

import subprocess

import pytest

import spvlink
from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.draw import compare, draw, draw_covering, make_scene
from spvlink.draw.batch import run_isolated
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import Inst
from spvlink.ir.edit import value
from tests.support.chain_checks import close
from tests.support.chains import build
from tests.support.heaped import heaped, in_sets
from tests.support.judges import refusal
from tests.support.newest_mesa import newer_spirv_val
from tests.support.pipelines import EVERYTHING
from tests.support.samples import compile_glsl
from tests.support.untyped import untyped

NAMES = (
    "car_paint", "auto_exposure", "height_fog", "prop_tint", "water_tess", "fur_shells",
    "terrain_tess", "two_views", "uber", "deferred_lighting", "fog_march", "parallax",
    "spot_shadow", "text_sdf", "voxel_palette",
)  # fmt: skip
JUDGE = newer_spirv_val()


def options(exact: bool) -> spvlink.Options:
    chosen = spvlink.Options(exact=exact, layout=EVERYTHING, validate=False)
    chosen.spec_defaults = True
    return chosen


def judged(code: bytes) -> str:
    """What a spirv-val that knows heaps says against a module."""
    if not JUDGE:
        return ""
    command = [*JUDGE, "--target-env", "vulkan1.3", "--scalar-block-layout", "-"]
    done = subprocess.run(command, input=code, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode() if done.returncode else ""


def accesses(code: bytes) -> list[int]:
    """The opcodes that only heaps have."""
    wanted = (ops.OpBufferPointerEXT, ops.OpUntypedAccessChainKHR)
    blocks = [b for f in decode(code).functions for b in f.blocks]
    return [i.op for b in blocks for i in b.insts if i.op in wanted]


def problems_of(name: str) -> list[str]:
    """What is wrong with a pipeline's twin in heaps, linked."""
    codes = list(build(name))
    given = [heaped(code) for code in codes]
    assert given != codes
    found = [text for code in given for text in (judged(code),)]
    scene, _ = draw_covering(codes)
    scene = make_scene(codes, scene.seed, scene.variant)
    scene.open_to_all()
    before = draw(codes, scene)
    assert before.is_good()
    for exact in (True, False):
        linked = spvlink.link(given, options(exact))
        if linked.defect or linked.passed_through:
            found.append(linked.defect or str(linked.passed_through))
        new = [stage.data for stage in linked.stages]
        back = [in_sets(code) for code in new]
        found += [judged(code) for code in new] + [refusal(code, False) or "" for code in back]
        after = draw(back, scene)
        found += [str(compare(before, after))] if exact else close(before, after)
        for old, code in zip(given, new):
            if len(accesses(code)) > len(accesses(old)):
                found.append("a stage reads more of a heap than before")
        again = spvlink.link(new, options(exact))
        if exact and again.passed_through != "nothing to gain":
            found.append("a second link finds more")
    return [problem for problem in found if problem not in ("equal", "")]


@pytest.fixture(scope="module")
def verdicts() -> dict[str, object]:
    return dict(zip(NAMES, run_isolated(problems_of, [(name,) for name in NAMES], 120.0)))


@pytest.mark.parametrize("name", NAMES)
def test_drawn_as_with_descriptor_sets(name: str, verdicts: dict[str, object]) -> None:
    assert verdicts[name] == []


VERTEX = """#version 450
layout(set = 0, binding = 0) uniform U { vec4 pad; vec4 tint; } u;
layout(location = 0) in vec4 p;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 dead;
layout(location = 2) out vec4 half_;
layout(location = 3) flat out uint at;
void main() {
    gl_Position = p; a = u.tint; dead = u.pad; half_ = vec4(0.5); at = 7u;
}"""
FRAGMENT = """#version 450
layout(set = 0, binding = 0) uniform U { vec4 pad; vec4 tint; } u;
layout(location = 0) in vec4 a;
layout(location = 2) in vec4 half_;
layout(location = 3) flat in uint at;
layout(location = 0) out vec4 o;
void main() { o = a * half_ + u.pad + float(at); }"""


def still() -> spvlink.Options:
    """Without motion, which would take the values apart."""
    chosen = options(False)
    chosen.disable = frozenset(("backward", "forward"))
    return chosen


def pair() -> list[bytes]:
    stages = (("vert", VERTEX), ("frag", FRAGMENT))
    return [heaped(compile_glsl(text, stage, "vulkan1.2")) for stage, text in stages]


def insts(code: bytes) -> list[Inst]:
    return [i for f in decode(code).functions for b in f.blocks for i in b.insts]


def test_the_rest_of_the_interface_is_linked() -> None:
    given = pair()
    linked = spvlink.link(given, still())
    assert linked.passed_through is None and not linked.defect
    said = {(r.name, r.action): r.why for r in linked.remarks}
    assert ("dead", "removed") in said and ("half_", "propagated") in said
    assert ("at", "propagated") in said
    assert "a load through a pointer that does not lead to a variable" in said["a", "kept"]
    for code in (stage.data for stage in linked.stages):
        assert judged(code) == "" and accesses(code)
        builtins = [i for i in decode(code).annotations if i.imm[:1] == (enums.Decoration_BuiltIn,)]
        assert (enums.Decoration_BuiltIn, enums.BuiltIn_ResourceHeapEXT) in [
            i.imm for i in builtins
        ]


def test_a_constant_index_into_a_heap_crosses() -> None:
    """Where a stage finds its descriptor is a number like any other."""
    given = pair()
    module = decode(given[1])
    (block,) = module.functions[0].blocks
    (load,) = [i for i in block.insts if i.op == ops.OpLoad and i.type.imm == (32, 0)]  # type: ignore[union-attr]
    (chain,) = [i for i in block.insts if i.op == ops.OpUntypedAccessChainKHR]
    block.insts.remove(load)
    block.insts.insert(block.insts.index(chain), load)
    assert types.index_of(chain.args[2]) == 0
    chain.args[2] = load
    linked = spvlink.link([given[0], encode(module)], options(False))
    assert linked.passed_through is None
    code = linked.stages[1].data
    assert judged(code) == ""
    (chain,) = [i for i in insts(code) if i.op == ops.OpUntypedAccessChainKHR]
    assert types.index_of(chain.args[2]) == 7


def test_what_only_a_dead_output_reads_of_a_heap_goes() -> None:
    vert = VERTEX.replace("a = u.tint; dead = u.pad;", "a = vec4(0.25); dead = u.pad;")
    given = [heaped(compile_glsl(vert, "vert", "vulkan1.2")), pair()[1]]
    linked = spvlink.link(given, options(False))
    assert linked.passed_through is None
    assert accesses(given[0]) and not accesses(linked.stages[0].data)


def test_a_heap_is_no_twin_of_a_set() -> None:
    """A buffer with set and binding in one stage, and one of a heap in the other."""
    vert = compile_glsl(VERTEX, "vert", "vulkan1.2")
    linked = spvlink.link([vert, pair()[1]], options(False))
    assert linked.passed_through is None
    said = {r.name: r.why for r in linked.remarks if r.action == "propagated"}
    assert "set 0, binding 0" in said["a"]  # the layout shows it to the stage, which declares it
    alone = still()
    alone.layout = None
    linked = spvlink.link([vert, pair()[1]], alone)
    said = {r.name: r.why for r in linked.remarks if r.action in ("kept", "packed")}
    assert "does not use set 0, binding 0" in said["a"], said


def test_untyped_pointers_into_buffers_of_heaps() -> None:
    """As compilers write them that have no typed pointers left."""
    push = "layout(push_constant) uniform P { vec4 more; };\n"
    vert = VERTEX.replace("450\n", "450\n" + push).replace("a = u.tint", "a = u.tint + more")
    given = [untyped(heaped(compile_glsl(vert, "vert", "vulkan1.2"))), untyped(pair()[1])]
    linked = spvlink.link(given, options(False))
    assert linked.passed_through is None and not linked.defect
    assert ("dead", "removed") in {(r.name, r.action) for r in linked.remarks}
    assert all(judged(stage.data) == "" for stage in linked.stages)


NONUNIFORM = """#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 1, binding = 0) uniform texture2D t;
layout(set = 1, binding = 1) uniform sampler s;
layout(location = 0) in vec4 a;
layout(location = 0) out vec4 o;
void main() { o = a.w > 0.5 ? texture(sampler2D(t, s), a.xy) : a; }"""


def test_images_stay_in_the_block_that_uses_them() -> None:
    vert = compile_glsl(VERTEX.replace("a = u.tint", "a = p"), "vert", "vulkan1.2")
    given = [vert, heaped(compile_glsl(NONUNIFORM, "frag", "vulkan1.2"))]
    linked = spvlink.link(given, options(False))
    assert linked.passed_through is None
    code = linked.stages[1].data
    assert judged(code) == "" and sum(i.op == ops.OpSampledImage for i in insts(code)) == 1


@pytest.mark.parametrize("storage", [enums.StorageClass_Function, enums.StorageClass_Workgroup])
def test_untyped_pointers_elsewhere_are_not_followed(storage: int) -> None:
    module = decode(pair()[1])
    more = value(module, ops.OpTypeUntypedPointerKHR, None, [], (storage,))
    module.globals.append(more)
    linked = spvlink.link([pair()[0], encode(module)], options(False))
    assert "untyped pointers to more than buffers" in str(linked.passed_through)
