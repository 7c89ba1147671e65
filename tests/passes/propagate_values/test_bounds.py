"""A resource is read in a new place only as far as it is read anyway: what is bound may be smaller
than its block, and without robustBufferAccess nobody may read beyond
(VUID-vkCmdDraw-uniformBuffers-06935)."""

from __future__ import annotations

import pytest

import spvlink
from spvlink.link.resources import transfer
from spvlink.link.resources.blocks import Blocks
from tests.support.chain_hazards import frag, mesh, tesc, tese, text, vert
from tests.support.linking import module_of
from tests.support.samples import compile_glsl

Stages = list[tuple[str, str]]

BLOCK = """layout(set = 0, binding = 2) uniform Block { vec4 n; vec4 c; vec4 lights[8]; } block;
"""
OUT = "layout(location = 0) out vec4 x; layout(location = 1) out vec4 y;"
IN = OUT.replace(" out ", " in ")
# what some stage does in any case -> whether all up to lights[3] may be read then
READS = {
    "nothing": ("", False),
    "the beginning": ("s += block.n;", False),
    "what lies before": ("s += block.lights[2];", False),
    "a part": ("s.x += block.lights[3].z;", False),
    "these bytes": ("s += block.lights[3];", True),
    "the last of them": ("s.x += block.lights[3].w;", True),
    "bytes behind": ("s += block.lights[7];", True),
    "somewhere behind": ("s += block.lights[(int(s.x) & 3) + 4];", False),  # which is not looked at
    "on each path": (
        "if (s.x > 0.5) s += block.lights[4]; else if (s.y > 0.5) s += block.lights[3];"
        " else s -= block.lights[5];",
        True,
    ),
    "on each path but one": (
        "if (s.x > 0.5) s += block.lights[4]; else if (s.y > 0.5) s += block.lights[3];",
        False,
    ),
    "on each path, once too little": (
        "if (s.x > 0.5) s += block.lights[4]; else s += block.c;",
        False,
    ),
    "in a loop that may not run": (
        "for (int i = 0; i < int(s.x); ++i) s += block.lights[3] * s.y;",
        False,
    ),
    "before a loop": (
        "for (int i = 0; i < int(s.x + block.lights[4].x); ++i) s += s.y;",
        True,
    ),
}
GUARDED = "if (u > 0.5) s += x * block.lights[3] + y;"


def pair(before: str, behind: str) -> Stages:
    return [
        vert(
            BLOCK + OUT,
            f"vec4 s = a + block.n.x; {before} gl_Position.x += s.x * 1e-9; x = a; y = b;",
        ),
        frag(
            BLOCK + IN,
            f"vec4 s = gl_FragCoord; float u = block.n.x; {behind} {GUARDED} color = s;",
        ),
    ]


def crossing(stages: Stages, at: int = 0, **settings: object) -> int:
    """The components that are left at a border."""
    options = spvlink.Options(clean=True)
    options.check_each = True
    for name, setting in settings.items():
        setattr(options, name, setting)
    given = [compile_glsl(source, stage, "vulkan1.2") for stage, source in stages]
    linked = spvlink.link(given, options)
    assert linked.defect is None and linked.validated in ("validated", "")
    return linked.interfaces[at].components[1]


@pytest.mark.parametrize("where", ["before", "behind"])
@pytest.mark.parametrize("name", READS)
def test_code_moves_only_with_bytes_that_are_read_anyway(name: str, where: str) -> None:
    read, moves = READS[name]
    stages = pair(read, "") if where == "before" else pair("", read)
    assert crossing(stages) == (4 if moves else 8)


def test_what_may_never_be_reached_is_not_read() -> None:
    read = READS["these bytes"][0]
    assert crossing(pair("", f"if (s.x > 0.5) discard; {read}")) == 8
    assert crossing(pair("", f"{read} if (s.x > 0.5) discard;")) == 4


def test_a_layout_says_nothing_of_ranges() -> None:
    both = ["VERTEX", "FRAGMENT"]
    layout = {"setLayouts": [{"set": 0, "bindings": [
        {"binding": 2, "descriptorType": "UNIFORM_BUFFER", "stageFlags": both}]}]}  # fmt: skip
    assert crossing(pair("", ""), layout=layout) == 8


def test_push_constants_are_there_as_far_as_they_are_declared() -> None:
    """A range holds all of the block (VUID-VkGraphicsPipelineCreateInfo-layout-10069)."""
    push = BLOCK.replace("set = 0, binding = 2", "push_constant").replace("8", "4")
    stages = [(stage, source.replace(BLOCK, push)) for stage, source in pair("s += block.n;", "")]
    assert crossing(stages) == 4


# --- every pass that brings a read to another place -----------------------------------------------

PATCH = f"{BLOCK}layout(location = 0) in vec4 c[]; layout(location = 1) in vec4 d[];\n"
KEPT = PATCH + "layout(location = 0) out vec4 p[]; layout(location = 1) out vec4 q[];\n"
MADE = f"{BLOCK}layout(location = 0) in vec4 p[]; layout(location = 1) in vec4 q[];\n"
SUM = "({0}[0] * w.x + {0}[1] * w.y + {0}[2] * w.z)"


def patches(control: str, evaluation: str) -> Stages:
    return [
        vert(OUT.replace("x;", "c;").replace("y;", "d;"), "c = a; d = b;"),
        tesc(KEPT, f"vec4 s = c[0] + block.n; {control}"),
        tese(
            f"{MADE}layout(location = 0) out vec4 f; layout(location = 1) out vec4 g;",
            f"vec4 s = vec4(0.5); {evaluation} f = s;",
        ),
        frag(
            "layout(location = 0) in vec4 f; layout(location = 1) in vec4 g;", "color = f + cos(g);"
        ),
    ]


STORED = "p[gl_InvocationID] = {} + s * 1e-9; q[gl_InvocationID] = d[gl_InvocationID];"
A, B = SUM.format("p"), SUM.format("q")
READ = READS["these bytes"][0]


def test_weighted() -> None:
    """Sums over vertices, under a condition of the evaluation shader."""
    store = STORED.format("sin(c[gl_InvocationID])")
    use = f"if (w.x + block.n.x > 0.5) s = sin({A} * block.lights[3] + {B}); g = gl_Position;"
    assert crossing(patches(store, use), 1) == 8
    assert crossing(patches(f"{READ} {store}", use), 1) == 4


def test_forward() -> None:
    """What a control shader stores under a condition, as a product of something else it stores."""
    store = """if (block.n.x > 0.5) {
p[gl_InvocationID] = sin(c[gl_InvocationID]);
q[gl_InvocationID] = sin(c[gl_InvocationID]) * block.lights[3]; }"""
    use = f"s = sin({A}) + abs({B}) * block.n.x; g = gl_Position;"
    settings = {"disable": frozenset(("backward", "weighted"))}
    assert crossing(patches(store, use), 1, **settings) == 8
    read = f"{READ} gl_TessLevelOuter[0] += s.x * 1e-9; {store}"
    assert crossing(patches(read, use), 1, **settings) == 4


def test_a_task_shader_reads_no_more_for_its_mesh_shader() -> None:
    payload = "struct Payload { vec4 x; vec4 y; }; taskPayloadSharedEXT Payload payload;\n"
    outs = "layout(location = 0) out vec4 f[];"
    results = []
    for read in ("", READ):
        main = f"""vec4 s = vec4(gl_WorkGroupID, 1.0) + block.n; {read}
payload.x = sin(s); payload.y = cos(s); EmitMeshTasksEXT(2, 1, 1);"""
        use = """vec4 s = vec4(0.5);
if (block.n.x > 0.5) s = sin(payload.x * block.lights[3] + payload.y); f[i] = s * float(i);"""
        stages = [
            text("task", BLOCK + payload, main),
            mesh(BLOCK + payload + outs, use),
            frag("layout(location = 0) in vec4 f;", "color = f;"),
        ]
        results.append(crossing(stages))
    assert results == [6, 3]  # s.w is uniform


def test_share() -> None:
    """A uniform that is stored per vertex, made again where the indices are: only some invocations
    store such."""
    outs = "layout(location = 0) out vec4 c[]; layout(location = 1) flat out vec4 q[];"
    ins = outs.replace("[]", "").replace(" out ", " in ")
    frags = frag(ins, "color = c + sin(q);")
    found = []
    for read in ("", READ):
        use = f"""vec4 s = vec4(float(i)); {read} c[i] = vec4(at, s.xy);
if (i > 0) q[i] = sqrt(abs(block.lights[3]));"""
        given = [compile_glsl(source, stage, "vulkan1.2")
                 for stage, source in [mesh(BLOCK + outs, use), frags]]  # fmt: skip
        options = spvlink.Options(clean=True)
        options.disable = frozenset(("backward", "forward"))
        linked = spvlink.link(given, options)
        assert linked.defect is None
        found.append({r.action for r in linked.remarks if r.name.startswith("q")})
    assert found == [{"kept"}, {"flattened"}]


# --- what is read anyway --------------------------------------------------------------------------


def ends(stage: str, main: str, declared: str = "") -> set[int]:
    source = f"#version 450\n{declared}{BLOCK}{main}"
    module = module_of(compile_glsl(source, stage, "vulkan1.2"))
    return set(transfer.always_read(Blocks(module)).values())


CONTROL = "layout(vertices = 3) out; layout(location = 0) out vec4 o[];\n"


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("gl_InvocationID == 0", True),
        ("gl_InvocationID < 2", True),
        ("gl_InvocationID == 1", False),
        ("gl_InvocationID > 0", False),
        ("gl_PrimitiveID == 0", False),
    ],
)
def test_the_first_invocation_is_always_there(condition: str, read: bool) -> None:
    main = f"void main() {{ if ({condition}) o[gl_InvocationID] = block.c; }}"
    assert ends("tesc", main, CONTROL) == ({32} if read else set())


def test_nothing_is_known_behind_a_call() -> None:
    """The function may have ended the invocation."""
    function = "vec4 f() { if (gl_FragCoord.x > 3.0) discard; return vec4(1.0); }\n"
    main = function + "void main() { o = block.n; o += f(); o += block.lights[7]; }"
    assert ends("frag", main, "layout(location = 0) out vec4 o;") == {16}


def test_what_never_ends_says_nothing() -> None:
    main = "void main() { o = vec4(1.0); while (true) { o += block.c; } }"
    assert ends("frag", main, "layout(location = 0) out vec4 o;") == set()
