"""Stages that linking does not need: byte for byte as they came, or as they came behind another
interface (``passes/raising/interface_wrapper``)."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.draw import compare, draw, draw_covering
from spvlink.grammar import enums, ops
from spvlink.ir.core import Module
from spvlink.pipeline import PACK_COORDINATES
from tests.support.debug_reading import shape, stripped
from tests.support.linking import (
    FRAGMENT,
    VERTEX,
    Result,
    builtins,
    count,
    fragment,
    module_of,
    vertex,
)
from tests.support.samples import compile_glsl, edited

# Code that every pass would change: a call, a loop, what is computed twice, and for nothing.
WORK = """float twice(vec3 a) {
    float sum = 0.0;
    for (int i = 0; i < 3; ++i) { if (a[i] < 0.0) return sum; sum += a[i] * 1.0; }
    return sum + a.x * a.y + a.x * a.y;
}
"""
# What is read one by one takes three Locations, and packed two.
OUTPUTS = """layout(location = 0) out vec3 n; layout(location = 1) out vec2 c;
layout(location = 2) out vec3 t;
"""
INPUTS = OUTPUTS.replace(" out ", " in ")
PRODUCER = OUTPUTS + WORK + (
    "void main() { n = p.xyz * twice(p.yzx); c = p.xy; t = p.zxy + n; gl_Position = p; }"
)  # fmt: skip
CONSUMER = INPUTS + WORK + (
    "void main() { o = vec4(twice(n), twice(t), sin(c)) * (twice(n) + float(t.x > 0.0)); }"
)  # fmt: skip


def link(vert: bytes, frag: bytes, **settings: object) -> Result:
    settings.setdefault("pack", PACK_COORDINATES)  # so that something moves
    return Result(vert, frag, spvlink.Options(**settings))  # type: ignore[arg-type]


def test_where_nothing_crosses_all_goes_out_as_it_came() -> None:
    """Whatever the passes of a stage would make of its code."""
    stages = [
        vertex("layout(location = 0) out vec4 a;" + WORK + "void main() { a = p * twice(p.xyz); }"),
        fragment(
            "layout(location = 0) in vec4 a;" + WORK + "void main() { o = a / twice(a.xyz); }"
        ),
    ]
    linked = spvlink.link(stages)
    assert linked.passed_through == "nothing to gain" and linked.validated == "validated"
    assert [stage.data for stage in linked.stages] == stages
    assert [(r.interface, r.action, r.slot) for r in linked.remarks] == [
        ("vert->frag", "kept", "0.xyzw"), ("vert", "kept", "1.xyzw"),
    ]  # fmt: skip
    assert linked.interfaces[0].components == (4, 4) and linked.interfaces[0].locations == (1, 1)
    cleaned = spvlink.link(stages, clean=True)
    assert cleaned.passed_through is None
    assert all(stage.body[1] < stage.body[0] for stage in cleaned.stages)


def test_what_is_thrown_away_is_not_made() -> None:
    """Where nothing but packing changes an interface, no code is raised and tidied; the modules are
    those that come out where somebody looks at each pass, and all of them run."""
    stages = [vertex(PRODUCER), fragment(CONSUMER)]
    linked = spvlink.link(stages, pack=PACK_COORDINATES)
    assert linked.passed_through is None and linked.validated == "validated"
    assert linked.seconds.keys().isdisjoint(("raise", "tidy", "trim"))
    watched = spvlink.link(stages, check_each=True, pack=PACK_COORDINATES)
    assert watched.seconds.keys() >= {"raise", "tidy", "trim"}
    assert [stage.data for stage in linked.stages] == [stage.data for stage in watched.stages]


def test_a_consumer_does_not_hear_of_what_it_never_declared() -> None:
    """Its neighbour loses an output; nothing else has to move."""
    frag = fragment(
        "layout(location = 0) in vec4 a;" + WORK + "void main() { o = a / twice(a.xyz); }"
    )
    vert = vertex(
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 gone;"
        "void main() { a = p; gone = p.zyxw; gl_Position = p; }"
    )
    done = link(vert, frag)
    assert done.data[1] == frag and done.data[0] != vert
    assert done.locations == {0} and done.fates()["gone 1.xyzw"] == "removed"


def test_a_stage_in_the_middle_stays_between_others_that_change() -> None:
    """It is linked with both, and neither asks it to change."""
    tese = """#version 450
    layout(triangles) in; layout(location = 0) in vec4 a[]; layout(location = 0) out vec4 b;
    void main() { b = a[0] * gl_TessCoord.x * 1.0 + a[1]; gl_Position = gl_in[0].gl_Position + b; }
    """
    tesc = """#version 450
    layout(vertices = 3) out; layout(location = 0) in vec4 a[]; layout(location = 0) out vec4 b[];
    layout(location = 1) out vec4 c[];
    void main() {
        b[gl_InvocationID] = sin(a[gl_InvocationID]); c[gl_InvocationID] = a[0];
        gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;
        gl_TessLevelInner[0] = 1.0;
        gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    }"""
    vert = vertex("layout(location = 0) out vec4 a; void main() { a = p; gl_Position = p; }")
    frag = fragment("layout(location = 0) in vec4 b; void main() { o = cos(b); }")
    codes = [vert, compile_glsl(tesc, "tesc"), compile_glsl(tese, "tese"), frag]
    linked = spvlink.link(codes, check_each=True)
    assert linked.defect is None and linked.validated == "validated"
    changed = [stage.stage for stage in linked.stages if stage.changed]
    assert "tesc" in changed and "frag" not in changed


def test_blocks_of_builtins_have_the_same_members_on_both_sides() -> None:
    """The consumer has no live access to its block, and no pass changes its code; but it declares
    members that its neighbour gives up."""
    tesc = """#version 450
    layout(vertices = 3) out; layout(location = 0) in vec4 a[]; layout(location = 0) out vec4 b[];
    void main() {
        b[gl_InvocationID] = a[gl_InvocationID];
        if (false) b[gl_InvocationID] = gl_in[0].gl_Position;
        gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 1.0;
        gl_TessLevelInner[0] = 1.0;
    }"""
    tese = """#version 450
    layout(triangles) in; layout(location = 0) in vec4 b[];
    void main() { gl_Position = b[0] * gl_TessCoord.x + b[1] * gl_TessCoord.y + b[2]; }"""
    vert = vertex(
        """layout(location = 0) out vec4 a; layout(location = 1) out vec4 gone;
        void main() { a = p; gone = p; gl_Position = p; gl_PointSize = p.x; }"""
    )
    codes = [vert, compile_glsl(tesc, "tesc"), compile_glsl(tese, "tese")]
    linked = spvlink.link([*codes, fragment("void main() { o = gl_FragCoord; }")])
    assert linked.validated == "validated" and linked.stages[0].changed
    given, taken = (module_of(stage.data) for stage in linked.stages[:2])
    blocks = {enums.BuiltIn_PointSize, enums.BuiltIn_ClipDistance, enums.BuiltIn_CullDistance}
    assert not builtins(given) & blocks
    assert not _members(taken) & blocks


def _members(module: Module) -> set[int]:
    """The built-ins that members of blocks are."""
    notes = [i.imm for i in module.annotations if i.op == ops.OpMemberDecorate]
    return {words[2] for words in notes if words[1] == enums.Decoration_BuiltIn}


def draw_alike(original: list[bytes], done: Result) -> None:
    scene, before = draw_covering(original)
    assert before.is_good() and not compare(before, draw(done.data, scene))


def shells(done: Result) -> list[bool]:
    """Which stages still call: they have a shell, since none of ours is left where calls are."""
    return [count(module, ops.OpFunctionCall) > 0 for module in (done.vert, done.frag)]


@pytest.mark.parametrize("exact", [False, True])
def test_what_only_moves_keeps_its_code(exact: bool) -> None:
    """Three Locations become two; the calls stay calls, the loops loops, and it draws the same."""
    done = link(vertex(PRODUCER), fragment(CONSUMER), exact=exact, disable={"backward", "forward"})
    assert done.linked.validated == "validated" and len(done.locations) == 2
    assert shells(done) == [True, True]
    assert not count(done.vert, ops.OpBitcast) and not count(done.frag, ops.OpBitcast)
    assert done.table() == done.table(inputs=True)
    draw_alike([vertex(PRODUCER), fragment(CONSUMER)], done)
    again = spvlink.link(done.data, pack=PACK_COORDINATES)
    assert again.passed_through == "nothing to gain"


def test_a_variable_that_only_moves_is_read_where_it_was() -> None:
    """Another Location, and no copy."""
    vert = vertex(
        """layout(location = 0) out vec4 gone; layout(location = 3) out vec2 a;
        layout(location = 5) out vec4 b;
        void main() { gone = p; a = p.xy; b = vec4(p.zw, p.zw * p.xy); gl_Position = p; }"""
    )
    frag = fragment(
        "layout(location = 3) in vec2 a; layout(location = 5) in vec4 b;"
        + WORK
        + "void main() { o = vec4(a, b.xy + b.zw * twice(a.xyx)); }"
    )
    done = link(vert, frag, disable={"backward", "forward"})
    assert done.table(inputs=True) == {"a": ("1.xy", "f32x2"), "b": ("0.xyzw", "f32x4")}
    assert not private(done, 1) and shells(done)[1]
    assert count(done.frag, ops.OpLoad) == count(link(vert, frag, pack="none").frag, ops.OpLoad)


def private(done: Result, stage: int) -> list[str]:
    module = (done.vert, done.frag)[stage]
    held = [v for v in module.globals if v.op == ops.OpVariable]
    return [str(v.id) for v in held if v.imm[0] == enums.StorageClass_Private]


VECTORS = """layout(location = 0) IO vec3 n; layout(location = 1) IO vec2 c;
layout(location = 2) IO vec3 t;
"""
# name -> (outputs of the producer and inputs of the consumer with IO in place of the direction,
# the producer's code, the consumer's code, whether the stages keep their calls)
FORMS = {
    "callee writes and reads": (
        VECTORS,
        """void set() { n = p.xyz; c.y = p.w; }
        void main() { set(); c.x = n.z; t = n * 2.0; t.y = p.x; gl_Position = p; }""",
        "vec3 get() { return n * t.x; } void main() { o = vec4(get() + t, c.x * c.y); }",
        (True, True),
    ),
    "dynamic component": (
        VECTORS,
        """void set() { n = p.xyz; t = p.zxy; }
        void main() { set(); t[k.x & 1] += 0.5; n.x = t[k.y & 1]; c = p.xy; gl_Position = p; }""",
        """vec3 get() { vec3 copy = n * t; return vec3(copy[int(gl_FragCoord.x) % 3]); }
        void main() { o = vec4(get() + t, c.x * c.y); }""",
        (True, True),
    ),
    "early returns": (
        VECTORS,
        """void set() { n = p.xyz; }
        void main() {
            set(); gl_Position = p; c = p.xy; t = p.yyx;
            if (p.x < 0.0) { c.y = 0.25; return; }
            n.y = 1.0;
        }""",
        """vec3 get() { return n * t; }
        void main() { o = vec4(get(), c.x - c.y); if (c.x > 0.5) return; o.w = 0.5; }""",
        (True, True),
    ),
    "integers and floats": (
        """layout(location = 0) flat IO uvec3 n; layout(location = 1) flat IO vec2 c;
        layout(location = 2) flat IO ivec3 t;
        """,
        """void set() { n = uvec3(k.xyz); }
        void main() { set(); c = p.xy; t = k.zxy; gl_Position = p; }""",
        """vec3 get() { return vec3(n + uvec3(t)); }
        void main() { o = vec4(get() * 0.1, c.x / c.y) + gl_FragCoord; }""",
        (True, True),
    ),
    "matrices and arrays": (
        """layout(location = 0) IO mat3x2 n; layout(location = 4) IO vec2 c[2];
        layout(location = 7) IO vec3 t;
        """,
        """void set() { n = mat3x2(p, p.xy); t = p.xyz; }
        void main() { set(); c[0] = p.xy; c[1] = p.zw; gl_Position = p; }""",
        "vec2 get() { return n * t; } void main() { o = vec4(get(), c[0] * c[1]); }",
        (True, True),
    ),
    "interpolated by hand": (
        VECTORS,
        "void set() { n = p.xyz; } void main() { set(); c = p.xy; t = p.zxy; gl_Position = p; }",
        """vec2 get() { return interpolateAtOffset(c, vec2(0.25)); }
        void main() { o = vec4(get() + c, n.x * t.y, n.y * n.z * t.x * t.z); }""",
        (True, False),
    ),
    "passed to a callee": (
        VECTORS,
        """void set(out vec3 to) { to = p.xyz; }
        void main() { set(n); c = p.xy; t = p.zxy; gl_Position = p; }""",
        "vec3 get(in vec3 of) { return of * t; } void main() { o = vec4(get(n), c.x - c.y); }",
        (True, True),
    ),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("environment", ["vulkan1.0", "vulkan1.2"])
def test_forms_of_access(name: str, environment: str) -> None:
    declared, producer, consumer, kept = FORMS[name]
    vert = vertex(declared.replace("IO", "out") + producer, environment)
    frag = fragment(declared.replace("IO", "in") + consumer, environment)
    done = link(vert, frag, disable={"backward", "forward", "dedup", "narrow"})
    assert done.linked.validated == "validated"
    before = spvlink.link([vert, frag], disable={"compact"}).interfaces[0].locations[0]
    assert len(done.locations) < before
    assert tuple(shells(done)) == kept
    draw_alike([vert, frag], done)


@pytest.mark.parametrize("flag", ["-g", "-gVS"])
@pytest.mark.parametrize("name", FORMS)
def test_debug_information_decides_nothing(name: str, flag: str) -> None:
    """It follows the variables; where nothing reads one any more it says so."""
    declared, producer, consumer, kept = FORMS[name]
    texts = [VERTEX + declared.replace("IO", "out") + producer]
    texts.append(FRAGMENT + declared.replace("IO", "in") + consumer)
    codes = [compile_glsl(t, s, debug=flag) for t, s in zip(texts, ("vert", "frag"))]
    settings = {"disable": {"backward", "forward", "dedup", "narrow"}}
    done = link(codes[0], codes[1], **settings)
    assert done.linked.validated == "validated" and tuple(shells(done)) == kept
    settings["pack"] = PACK_COORDINATES
    bare = spvlink.link([stripped(code) for code in codes], **settings)  # type: ignore[arg-type]
    assert [shape(stage.data) for stage in bare.stages] == [shape(code) for code in done.data]


def test_debug_information_of_what_nobody_reads() -> None:
    """The consumer declares it; the variable goes, and what described it describes nothing."""
    frag = FRAGMENT + (
        "layout(location = 0) in vec4 gone; layout(location = 1) in vec4 a;"
        "float f() { return a.x; } void main() { o = a * f(); }"
    )
    vert = VERTEX + (
        "layout(location = 0) out vec4 gone; layout(location = 1) out vec4 a;"
        "void main() { gone = p.zyxw; a = p; gl_Position = p; }"
    )
    codes = [compile_glsl(vert, "vert", debug="-gVS"), compile_glsl(frag, "frag", debug="-gVS")]
    done = link(*codes)
    assert done.linked.validated == "validated" and shells(done)[1]
    assert done.table(inputs=True) == {"a": ("0.xyzw", "f32x4")}


@pytest.mark.parametrize("clean", [False, True])
@pytest.mark.parametrize("kept", ["vert", "frag"])
def test_a_kept_stage_goes_out_byte_for_byte(kept: str, clean: bool) -> None:
    codes = [vertex(PRODUCER), fragment(CONSUMER)]
    linked = spvlink.link(codes, keep_interface={kept}, clean=clean)
    assert linked.defect is None
    changed = {stage.stage for stage in linked.stages if stage.changed}
    assert kept not in changed and (clean or not changed)


def test_a_member_that_is_a_variable_by_now() -> None:
    """A struct that is taken apart around an array that is not: the array has to move alone."""
    declared = "struct S { vec2 whole[2]; float gone; }; layout(location = 1) %s S s;"
    frag = fragment(
        declared
        % "in"
        + "float f() { return dot(s.whole[int(gl_FragCoord.x) & 1], vec2(1.0, 2.0)); }"
        "void main() { o = vec4(f()); }"
    )
    vert = vertex(
        "layout(location = 0) out vec4 gone;" + declared % "out" + "void main()"
        "{ gone = p; s.whole[0] = p.xy; s.whole[1] = p.zw; s.gone = 1.0; gl_Position = p; }"
    )
    done = link(vert, frag)
    assert done.linked.validated == "validated" and done.locations == {0, 1}
    draw_alike([vert, frag], done)


def test_an_initializer_is_all_that_an_output_gets() -> None:
    """What no code touches is written, too, where its value is another variable's part by now."""
    code = "void main() { n = sin(p.xyz); t = cos(p.zxy); c = p.xy; gl_Position = p; }"
    vert = vertex(VECTORS.replace("IO", "out") + code)
    value = """%x = OpConstant %float 0.25
    %y = OpConstant %float 0.75
    %xy = OpConstantComposite %v2float %x %y
    """
    made = (r"(%c = OpVariable .*)", rf"{value}\1 %xy")
    vert = edited(vert, made, (r"OpStore %c .*", ""), environment="vulkan1.0")
    frag = fragment(VECTORS.replace("IO", "in") + "void main() { o = vec4(n * t, c.x * c.y); }")
    done = link(vert, frag, exact=True, disable={"propagate"})
    assert done.linked.validated == "validated" and len(done.locations) == 2
    assert private(done, 0) and not count(done.vert, ops.OpBitcast)
    draw_alike([vert, frag], done)


# Code that nobody needs the result of: what it does with an input that is gone.
IDLE = {
    "a loop that ends by it": ("while (sum < 1.0) { sum += t.x; }", False),
    "a quotient": ("sum = float(9 / int(t.x));", False),
    "an index": ("float of[3]; of[int(t.x) - 1] = 1.0; sum = of[0];", False),
    "a product": ("sum = t.x * n.x;", True),
    "a component that stays": ("sum = t.y; while (sum < 1.0) { sum += t.y; }", True),
}


@pytest.mark.parametrize("name", IDLE)
def test_code_that_nobody_needs_still_runs(name: str) -> None:
    """A shell cannot give it an input that no longer crosses: a loop might not end without."""
    code, kept = IDLE[name]
    producer = "void main() { n = sin(p.xyz); c = cos(p.xw); t = 2.0 + p.zxy; gl_Position = p; }"
    vert = vertex(VECTORS.replace("IO", "out") + producer)
    frag = fragment(
        VECTORS.replace("IO", "in")
        + f"float idle() {{ float sum = 0.0; {code} return sum; }}"
        + "void main() { float nothing = idle(); o = vec4(n * t.y, c.x * c.y); }"
    )
    done = link(vert, frag, disable={"backward", "forward"})
    assert done.linked.validated == "validated" and done.fates()["t 2.xz"] == "removed"
    assert shells(done)[1] == kept
    assert not count(done.frag, ops.OpUndef)
    draw_alike([vert, frag], done)
