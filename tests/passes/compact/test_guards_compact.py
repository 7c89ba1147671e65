"""Locations that are being filled: what must not be put together (scripts/mutants found that no
other test has these)."""

from __future__ import annotations

import pytest

from spvlink.grammar import enums, ops
from spvlink.ir.slot import Aggregate, Varying
from spvlink.link.border.link import Link
from spvlink.link.pack import compact
from spvlink.link.pack.bins import Bin, close_gap, put
from spvlink.link.pack.dissolve import dissolve
from spvlink.options import Options
from tests.cases.slots import site_of
from tests.support.case_loading import load

FLAT = (enums.Decoration_Flat,)
SMOOTH: tuple[int, ...] = ()
FREE, BLOCKED = -1, -2

Bins = dict[int, Bin]
Rows = list[tuple[str, list[int]]]  # base type, components


def filled(rows: Rows, qualifiers: tuple[int, ...] = FLAT) -> Bins:
    bins: Bins = {}
    for location, (base, components) in enumerate(rows):
        bins[location] = Bin(location, qualifiers, base)
        bins[location].components = [*components, *[FREE] * (4 - len(components))]
    return bins


def rows_of(bins: Bins) -> Rows:
    found: Rows = []
    for location in sorted(bins):
        held = list(bins[location].components)
        while held and held[-1] == FREE:
            held.pop()
        found.append((bins[location].base, held))
    return found


# --- bins ---


@pytest.mark.parametrize(
    ("base", "components", "may"),
    [
        ("f32", [0, 2], True),
        ("f64", [0, BLOCKED], True),
        ("f64", [0, BLOCKED, 4, BLOCKED], True),
        ("f32", [0, BLOCKED], False),  # beside one component of an array
        ("f64", [BLOCKED, FREE], False),
        ("f64", [FREE, BLOCKED], False),
        ("f64", [0, 2, BLOCKED], False),
        ("f64", [0, BLOCKED, FREE, BLOCKED], False),
    ],
)
def test_what_holds_a_part_of_something_whole_stays(
    base: str, components: list[int], may: bool
) -> None:
    bins = filled([("f32", [8]), (base, components)])
    assert bins[1].may_move() == may
    del bins[0]
    close_gap(bins, 0)
    assert list(bins) == [0 if may else 1]
    assert all(bin.location == at for at, bin in bins.items())


def test_a_gap_above_all_is_none() -> None:
    bins = filled([("f32", [8])])
    close_gap(bins, 1)
    close_gap(bins, 0)
    assert list(bins) == [0]
    close_gap({}, 0)


def test_a_wide_number_takes_an_even_component_and_two() -> None:
    bins = filled([("f64", [FREE])])
    bins[0].components[0] = BLOCKED
    assert (bins[0].fit(2, True), bins[0].fit(2, False)) == (2, 1)
    put(bins[0], 2, [20], True)
    assert bins[0].components == [BLOCKED, FREE, 20, BLOCKED]
    assert (bins[0].fit(2, True), bins[0].fit(1, False)) == (-1, 1)
    bins = filled([("f64", [])])
    put(bins[0], 0, [20, 24], True)
    assert bins[0].components == [20, BLOCKED, 24, BLOCKED]


# --- what is dissolved ---

DISSOLVED: dict[str, tuple[Rows, str, bool, Rows]] = {  # before, width, whether cast, after
    "one type": ([("f32", [0, 2]), ("f32", [8])], "32", True, [("f32", [0, 2, 8])]),
    "by cast": ([("f32", [0, 2]), ("i32", [8])], "32", True, [("u32", [0, 2, 8])]),
    "interpolated": (
        [("f32", [0, 2]), ("f32", [8])], "32", False, [("f32", [0, 2, 8])],
    ),
    "not cast": (
        [("f32", [0, 2]), ("i32", [8])], "32", False, [("f32", [0, 2]), ("i32", [8])],
    ),
    "16 bits": ([("f16", [0, 2]), ("u16", [8])], "16", True, [("f16", [0, 2]), ("u16", [8])]),
    "other widths": ([("f16", [0, 2]), ("u32", [8])], "32", True, [("f16", [0, 2]), ("u32", [8])]),
    "mixed": ([("mixed", [0, 2]), ("u32", [8])], "32", True, [("mixed", [0, 2]), ("u32", [8])]),
    "beside something whole": (
        [("f32", [BLOCKED]), ("f32", [8, 10])], "32", True, [("f32", [BLOCKED, 8, 10])],
    ),
    "by cast beside something whole": (
        [("f32", [BLOCKED]), ("i32", [8, 10])], "32", True, [("f32", [BLOCKED]), ("i32", [8, 10])],
    ),
    "by cast and beside something whole": (
        [("i32", [BLOCKED, 2]), ("i32", [8, 10, 12]), ("f32", [16])],
        "32", True, [("i32", [BLOCKED, 2]), ("u32", [8, 10, 12, 16])],
    ),
}  # fmt: skip


def every_slot() -> Link:
    """A border that has the components that are dissolved here."""
    return link_of([f"{n}.xyzw f32 v{n}" for n in range(3)])


@pytest.mark.parametrize("pack", ["", "vectors"])
@pytest.mark.parametrize("name", DISSOLVED)
def test_what_is_dissolved(name: str, pack: str) -> None:
    """No vector is torn for that, so none may be in the way."""
    before, width, cast, after = DISSOLVED[name]
    bins = filled(before)
    link = every_slot()
    link.pack = pack
    dissolve(link, bins, FLAT, width, cast, frozenset())
    assert rows_of(bins) == after


def test_what_comes_before_stays() -> None:
    bins = filled([("f32", [0]), ("f32", [8, 10])])
    dissolve(every_slot(), bins, FLAT, "32", True, frozenset(map(id, bins.values())))
    assert rows_of(bins) == [("f32", [0]), ("f32", [8, 10])]


def test_what_is_read_otherwise_is_not_dissolved() -> None:
    bins = filled([("f32", [0]), ("f32", [8, 10])])
    bins[0].qualifiers = SMOOTH
    dissolve(every_slot(), bins, FLAT, "32", True, frozenset())
    assert rows_of(bins) == [("f32", [0]), ("f32", [8, 10])]


# --- what is equal for the primitive ---


def link_of(lines: list[str], models: tuple[str, str] = ("Vertex", "Fragment")) -> Link:
    """A border over which all components of these slots go."""
    site = site_of(
        [load(side(lines, m, m == models[0])) for m in models], lines, Options(clean=True)
    )
    return site.link


def side(lines: list[str], model: str, stores: bool) -> str:
    mode = {"Fragment": "OriginUpperLeft", "TessellationControl": "OutputVertices 3"}.get(model)
    if model == "TessellationEvaluation":
        mode = "Triangles"
    body = ""
    types = {"f32": "OpTypeFloat 32", "f64": "OpTypeFloat 64", "u32": "OpTypeInt 32 0"}
    for line in lines:
        place, base = line.split()[:2]
        wide = base.endswith("64")
        for lane in place[2::2] if wide else place[2:]:
            key = int(place[0]) * 8 + "xyzw".index(lane) * 2
            vertex = "" if "Patch" in line or "Tess" not in model else " %i0"
            if stores:
                body += f"STORE_OUTPUT %{base}0{vertex} {key}\n"
            else:
                body += f"%r{key} = LOAD_INPUT %{base}{vertex} {key}\n"
    return (
        "OpCapability Shader\nOpCapability Float64\nOpCapability Tessellation\n"
        "OpMemoryModel Logical GLSL450\n"
        f'OpEntryPoint {model} %main "main"\n'
        + (f"OpExecutionMode %main {mode}\n" if mode else "")
        + "%void = OpTypeVoid\n%1 = OpTypeFunction %void\n%int = OpTypeInt 32 1\n"
        + "%i0 = OpConstant %int 0\n"
        + "".join(f"%{n} = {t}\n%{n}0 = OpConstant %{n} 3\n" for n, t in types.items())
        + f"%main = OpFunction %void None %1\n%2 = OpLabel\n{body}OpReturn\nOpFunctionEnd\n"
    )


def places(varyings: list[Varying]) -> list[str]:
    return sorted(f"{v.location}.{'xyzw'[v.component]}+{v.components} {v.base}" for v in varyings)


def test_a_word_of_a_wide_number_leaves_it() -> None:
    """They were one Location before ``halves`` made two values of one."""
    lines = ["0.x u32 low Flat", "0.zw f64 wide Flat"]
    link = link_of(lines)
    assert places(compact.compact(link).varyings) == ["0.x+1 u32", "0.z+2 f64"]
    link.halves = {0: "low"}
    found = compact.compact(link)
    assert len({v.location for v in found.varyings}) == len(found.varyings) == 2


@pytest.mark.parametrize(("shared", "halves"), [(False, {}), (True, {}), (True, {16: "x"})])
def test_what_is_of_a_patch_leaves_what_is_of_a_vertex(
    shared: bool, halves: dict[int, str]
) -> None:
    link = link_of(
        ["0.x f32 a Patch", "0.y f32 b"], ("TessellationControl", "TessellationEvaluation")
    )
    link.shared, link.halves = shared, halves
    found = {v.location for v in compact.compact(link).varyings}
    assert len(found) == 1 + shared


def test_what_is_put_into_a_flat_location_is_read_flat() -> None:
    link = link_of(["0.xyz f32 a Flat", "1.x f32 b"])
    placement = compact.compact(link, frozenset([8]))
    assert {v.location for v in placement.varyings} == {0}
    assert compact.requalify(link, placement)
    assert link.inputs.slots[8].qualifiers == FLAT and link.remarks.fate[8][0] == "flattened"
    assert not compact.requalify(link, placement)


HOSTS: dict[str, tuple[Rows, list[int], Rows]] = {  # before, the keys of a group, after
    "beside": ([("f32", [0, 2])], [8, 10], [("f32", [0, 2, 8, 10])]),
    "together": (
        [("f32", [0, 2, 4]), ("f32", [8, 10])], [16, 18],
        [("f32", [0, 2, 4]), ("f32", [8, 10, 16, 18])],
    ),
    "into holes": (
        [("f32", [0, 2, 4]), ("f32", [8, 10, 12])], [16, 18],
        [("f32", [0, 2, 4, 16]), ("f32", [8, 10, 12, 18])],
    ),
    "too few holes": (
        [("f32", [0, 2, 4])], [16, 18], [("f32", [0, 2, 4]), ("f32", [16, 18])],
    ),
    "another type": ([("u32", [0, 2])], [8, 10], [("u32", [0, 2]), ("f32", [8, 10])]),
    "holes of another type": (
        [("u32", [0, 2, 4]), ("u32", [8, 10, 12])], [16, 18],
        [("u32", [0, 2, 4]), ("u32", [8, 10, 12]), ("f32", [16, 18])],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTS)
def test_where_what_is_equal_for_the_primitive_goes(name: str) -> None:
    before, keys, after = HOSTS[name]
    bins = filled(before, SMOOTH)
    compact._fill(link_of([]), bins, [(SMOOTH, "f32", keys)])
    assert rows_of(bins) == after


def test_what_was_flat_is_not_interpolated() -> None:
    bins = filled([("f32", [0])], SMOOTH)
    compact._fill(link_of([]), bins, [(FLAT, "f32", [8])])
    assert rows_of(bins) == [("f32", [0]), ("f32", [8])]


# --- old places ---


def test_a_matrix_is_declared_once() -> None:
    link = link_of(["0.xy f32 m", "1.xy f32 n", "2.x f32 a"])
    for side in (link.inputs, link.outputs):
        side.aggregates.append(Aggregate(ops.OpTypeMatrix, [[0, 2], [8, 10]]))
    assert sorted(v.keys for v in compact.in_order(link).varyings) == [[0, 2, 8, 10], [16]]
