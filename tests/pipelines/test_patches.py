"""Patch variables may have the Locations of others: theirs are a space of their own. glslang writes
no such modules, so Locations are edited here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spvlink
from spvlink import Source, cli, patches
from spvlink.draw import compare, draw, draw_covering, mismatches
from spvlink.grammar import enums
from spvlink.ir.slot import APART
from spvlink.link.check import interface
from tests.support.chain_text import frag, tesc, tese, vert
from tests.support.closeness import assert_close
from tests.support.judges import refusal
from tests.support.linking import INPUT, OUTPUT, module_of
from tests.support.samples import compile_glsl, edited

STAGES = [
    vert(
        "layout(location = 0) out vec4 c; layout(location = 1) out vec2 d;",
        "c = a; d = b.xy;",
    ),
    tesc(
        """layout(location = 0) in vec4 c[]; layout(location = 1) in vec2 d[];
layout(location = 0) out vec4 x[]; layout(location = 1) out vec3 y[];
layout(location = 8) patch out vec4 tint; layout(location = 9) patch out vec2 pair;
layout(location = 10) patch out float steps[3]; layout(location = 13) patch out vec4 dead;""",
        """int i = gl_InvocationID; x[gl_InvocationID] = c[i]; y[gl_InvocationID] = vec3(d[i], 0.5);
if (i == 0) { tint = c[1]; pair = d[2]; steps[0] = c[0].x; steps[1] = 2.0; steps[2] = d[1].y; }
dead = c[0];""",
    ),
    tese(
        """layout(location = 0) in vec4 x[]; layout(location = 1) in vec3 y[];
layout(location = 8) patch in vec4 tint; layout(location = 9) patch in vec2 pair;
layout(location = 10) patch in float steps[3];
layout(set = 0, binding = 0) uniform U { int k; } u;
layout(location = 0) out vec4 r; layout(location = 1) out vec4 s;""",
        """r = x[0] * w.x + x[1] * w.y + x[2] * w.z + tint;
s = vec4(y[u.k & 1], 1.0) * vec4(pair, steps[u.k & 1], steps[2]);""",
    ),
    frag(
        "layout(location = 0) in vec4 r; layout(location = 1) in vec4 s;",
        "color = r * 0.5 + s * 0.25;",
    ),
]
DOWN = [
    (rf"(Decorate %{n} Location) {8 + at}\b", rf"\1 {at}") for at, n in ((0, "tint"), (1, "pair"))
]
DOWN += [(r"(Decorate %steps Location) 10\b", r"\1 2")]
DEAD = (r"(Decorate %dead Location) 13\b", r"\1 5")


@pytest.fixture(scope="module")
def codes() -> list[bytes]:
    made = [compile_glsl(text, stage) for stage, text in STAGES]
    made[1] = edited(made[1], *DOWN, DEAD)
    made[2] = edited(made[2], *DOWN)
    return made


def places(code: bytes, storage: int) -> dict[str, tuple[int, bool]]:
    """Name -> (Location, whether it is Patch)."""
    found = interface.declared(module_of(code), storage, lambda *_: None)
    return {v.name: (v.place[0], enums.Decoration_Patch in v.kind) for v in found}


def assert_linked(codes: list[bytes], new: list[bytes]) -> None:
    """Both sides fit, and draw what they drew."""
    assert not mismatches(codes) and not mismatches(new)
    tesc, tese = places(new[1], OUTPUT), places(new[2], INPUT)
    assert set(tese.items()) <= set(tesc.items())
    assert all(location < APART for location, _ in (*tesc.values(), *tese.values()))
    scene, before = draw_covering(codes)
    assert before.coverage > 0.1, "the original draws nothing"
    assert_close(before, draw(new, scene))


def test_they_lie_over_each_other(codes: list[bytes]) -> None:
    """As the newer spirv-val takes them."""
    assert patches.overlap("tesc", module_of(codes[1]))
    assert patches.overlap("tese", module_of(codes[2]))
    assert all(refusal(code, True, "vulkan1.1") is None for code in codes)
    assert refusal(codes[1], False, "vulkan1.1") is not None  # else nothing need be moved


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"exact": True}, {"clean": True}, {"disable": frozenset({"compact"})},
        {"disable": frozenset({"compact", "arrays", "unroll"}), "clean": True},
        {"pack": "none"},
    ],
    ids=["default", "exact", "clean", "in place", "arrays", "unpacked"],
)  # fmt: skip
def test_linked(codes: list[bytes], settings: Any) -> None:
    linked = spvlink.link(codes, check_each=True, **settings)
    assert linked.defect is None and linked.passed_through is None and not linked.warnings
    assert linked.validated == "validated"
    new = [stage.data for stage in linked.stages]
    told = {(r.name, r.slot): r.action for r in linked.remarks}
    assert told["dead", "5.xyzw"] == "removed" and ("tint", "0.xyzw") in told
    assert all(cell < 4 * APART for r in linked.remarks for cells in r.cells for cell in cells)
    assert_linked(codes, new)
    if "disable" not in settings and "pack" not in settings:
        assert not patches.overlap("tesc", module_of(new[1]))
        assert spvlink.link(new, **settings).passed_through == "nothing to gain"


@pytest.mark.parametrize("stage", ["vert", "tesc", "tese", "frag"])
def test_kept(codes: list[bytes], stage: str) -> None:
    linked = spvlink.link(codes, keep_interface=frozenset({stage}))
    assert linked.defect is None
    new = [result.data for result in linked.stages]
    at = ["vert", "tesc", "tese", "frag"].index(stage)
    assert new[at] == codes[at]
    assert_linked(codes, new)


def test_nothing_to_gain(codes: list[bytes]) -> None:
    """They go out as they came, byte for byte."""
    linked = spvlink.link(codes, stop_after=0, disable=frozenset(spvlink_passes()))
    assert [stage.data for stage in linked.stages] == codes


def spvlink_passes() -> list[str]:
    from spvlink.chain.table import GROUPS

    return list(GROUPS)


def test_check_and_batch(
    codes: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    names = [f"a.{stage}.spv" for stage, _ in STAGES]
    for name, code in zip(names, codes):
        Path(name).write_bytes(code)
    Path("b.frag.spv").write_bytes(
        compile_glsl(frag("layout(location = 1) in vec4 s;", "color = s;")[1], "frag")
    )
    assert cli.main(["check", *names]) == 0
    assert "1 pipeline: 0 errors, 1 warning" in capsys.readouterr().out
    lines = [
        {"id": one, "stages": [{"file": name} for name in (*names[:3], f"{one}.frag.spv")]}
        for one in ("a", "b")
    ]
    Path("in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for variants in ("all", "1"):
        words = ["--jobs", "1", "--variants", variants, "--strict", "--progress", "never"]
        assert cli.main(["batch", "in.jsonl", "-o", f"out{variants}", *words]) == 0
        made = Path(f"out{variants}/manifest.jsonl").read_text().splitlines()
        first = [Path(f"out{variants}", s["file"]) for s in json.loads(made[0])["stages"]]
        new = [path.read_bytes() for path in first]
        assert new != codes
        assert_linked(codes, new)


def test_frozen(codes: list[bytes]) -> None:
    linked, document = spvlink.link_frozen([Source(code) for code in codes])
    new = [stage.data for stage in linked.stages]
    assert_linked(codes, new)
    for number, code in enumerate(codes):  # each by itself
        alone, _ = spvlink.link_frozen([Source(code)], document)
        assert alone.stages[0].data == new[number]
    scene, before = draw_covering(codes)
    assert not compare(before, draw(new, scene))
    constant = compile_glsl(STAGES[2][1].replace("u.k & 1", "1"), "tese")  # no arrays as such
    codes = [*codes[:2], edited(constant, *DOWN), codes[3]]
    first, document = spvlink.link_frozen([Source(code) for code in codes[:2]])  # for any consumer
    rest, _ = spvlink.link_frozen([Source(code) for code in codes[2:]], document)
    assert_linked(codes, [stage.data for stage in (*first.stages, *rest.stages)])


@pytest.mark.parametrize("way", ["of the block", "of its members"])
def test_blocks(way: str) -> None:
    """A block of Patch variables, its Location said once or of each member."""
    place, first, second = "layout(location = 8)", "", ""
    if way == "of its members":
        place, first, second = "", "layout(location = 8)", "layout(location = 9)"
    block = f"{place} patch {{}} B {{{{ {first} vec4 tint; {second} vec2 pair[2]; }}}} p;"
    control = f"""layout(location = 0) in vec4 c[]; layout(location = 0) out vec4 x[];
{block.format("out")}"""
    does = """x[gl_InvocationID] = c[gl_InvocationID]; p.tint = c[0]; p.pair[0] = c[1].xy;
p.pair[1] = c[2].zw;"""
    evaluation = f"""layout(location = 0) in vec4 x[]; layout(location = 0) out vec4 r;
{block.format("in")}"""
    sums = "r = x[0] * w.x + x[1] * w.y + x[2] * w.z + p.tint + p.pair[1].xyxy;"
    chain = [
        vert("layout(location = 0) out vec4 c;", "c = a;"), tesc(control, does),
        tese(evaluation, sums), frag("layout(location = 0) in vec4 r;", "color = r * 0.5;"),
    ]  # fmt: skip
    codes = [compile_glsl(text, stage) for stage, text in chain]
    down = [(r"(Decorate %p Location) 8", r"\1 0")]
    if way == "of its members":
        down = [(r"(Decorate %B 0 Location) 8", r"\1 0"), (r"(Decorate %B 1 Location) 9", r"\1 1")]
    codes[1:3] = [edited(code, *down) for code in codes[1:3]]
    assert patches.overlap("tesc", module_of(codes[1]))
    linked = spvlink.link(codes, check_each=True)
    assert linked.defect is None and linked.passed_through is None
    assert_linked(codes, [stage.data for stage in linked.stages])


def test_what_was_not_placed_goes_where_nothing_was(codes: list[bytes]) -> None:
    """Linking gave ``pair`` the Location 0; the rest is moved back behind it, alike on both
    sides."""
    sides = []
    for name, code in (("tesc", codes[1]), ("tese", codes[2])):
        came = Source(code, name, "main", name)
        apart = patches.separate(name, module_of(code), came)
        made = edited(apart.data, (rf"(%pair Location) {APART + 1}", r"\1 0"))
        sides.append((name, made, apart, came))
    tesc, tese = patches.back(sides)
    wanted = {"pair": (0, True), "tint": (1, True), "steps": (3, True), "x": (0, False)}
    assert wanted.items() <= places(tesc, OUTPUT).items()
    assert wanted.items() <= places(tese, INPUT).items()
    untouched = [(name, apart.data, apart, came) for name, _, apart, came in sides]
    assert patches.back(untouched) == codes[1:3]
