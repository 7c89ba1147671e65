"""Descriptors that come by mappings of the stages (VK_EXT_descriptor_heap): a resource is read in
another stage only where both stages get it from the same place; the rest is linked as ever."""

from __future__ import annotations

from typing import Any

import pytest

from spvlink.errors import Usage
from spvlink.grammar import enums, ops
from spvlink.layout import check_layout, common_layout
from tests.support.linking import Result
from tests.support.propagation import IN, OUT, PUSH, READ, UBO, assert_kept, assert_moved, link

VERTEX, FRAGMENT, BOTH = 1, 16, 17
TINT = UBO + OUT + "--a = u.tint;"
OTHER = UBO.replace("binding = 0", "binding = 1").replace("} u;", "} w;").replace("U {", "W {")
MINE = IN + "--" + READ
USED = UBO + IN + "--o = a + u.pad;"
Layout = dict[str, Any]


def entry(
    stages: int, source: int | None = 0, data: tuple[int, ...] = (64, 0), **at: int
) -> Layout:
    one: Layout = {"stageFlags": stages, "descriptorSet": 0, "firstBinding": 0, "bindingCount": 1}
    if source is not None:
        one |= {"source": source, "sourceData": list(data)}
    return one | at


def heap(*entries: Layout, **more: Any) -> Layout:
    return check_layout({"descriptorHeap": True, "mappings": list(entries)} | more)


def linked(layout: Layout, frag: str = MINE, vert: str = TINT) -> Result:
    return link(vert, frag, layout=layout)


@pytest.mark.parametrize("frag", [MINE, USED])
def test_mapped_alike_it_crosses(frag: str) -> None:
    """Whether the other stage uses it or not: it may declare whatever it maps."""
    done = linked(heap(entry(BOTH)), frag)
    assert_moved(done, "set 0, binding 0 at byte 16")
    assert [i.imm[0] for i in done.frag.globals if i.op == ops.OpVariable].count(
        enums.StorageClass_Uniform
    ) == 1


def test_alike_in_two_entries_it_crosses() -> None:
    assert_moved(linked(heap(entry(VERTEX), entry(FRAGMENT))))
    wide = {"firstBinding": 0, "bindingCount": 9}
    assert_moved(linked(heap(entry(VERTEX, **wide), entry(FRAGMENT))))


SOURCES = {0: 2, 1: 4, 2: 5, 3: 4, 4: 2, 5: 1, 6: 1, 7: 2}  # and how many numbers each has


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_is_compared(source: int) -> None:
    data = tuple(range(8, 8 + 8 * SOURCES[source], 8))
    assert_moved(linked(heap(entry(VERTEX, source, data), entry(FRAGMENT, source, data))))
    for at in range(len(data)):
        other = (*data[:at], data[at] + 4, *data[at + 1 :])
        layout = heap(entry(VERTEX, source, data), entry(FRAGMENT, source, other))
        for frag in (MINE, USED):
            assert_kept(linked(layout, frag), "the stages map set 0, binding 0 differently")


APART = {
    "no stage maps set 0, binding 0": heap(),
    "only one of the stages maps set 0, binding 0": heap(entry(VERTEX)),
    "the stages map set 0, binding 0 differently": heap(entry(VERTEX), entry(FRAGMENT, 5, (64,))),
    "set 0, binding 0 is mapped in a way that spvlink does not compare": heap(entry(BOTH, None)),
    "a stage maps set 0, binding 0 twice": heap(entry(BOTH), entry(VERTEX, 5, (0,))),
}


@pytest.mark.parametrize("frag", [MINE, USED])
@pytest.mark.parametrize("why", APART)
def test_otherwise_it_stays(why: str, frag: str) -> None:
    assert_kept(linked(APART[why], frag), why)


@pytest.mark.parametrize("at", [{"descriptorSet": 1}, {"firstBinding": 1}, {"bindingCount": 0}])
def test_another_binding_is_another_one(at: dict[str, int]) -> None:
    assert_kept(linked(heap(entry(VERTEX), entry(FRAGMENT, **at))), "only one of the stages maps")


def test_how_far_from_the_first_binding_counts() -> None:
    """Descriptors of a range lie behind each other: where it begins decides where one lies."""
    layout = heap(entry(VERTEX, firstBinding=0, bindingCount=2), entry(FRAGMENT, firstBinding=1))
    vert = OTHER + OUT + "--a = w.tint;"
    assert_kept(linked(layout, vert=vert), "the stages map set 0, binding 1 differently")
    layout = heap(entry(BOTH, firstBinding=0, bindingCount=2))
    assert_moved(linked(layout, vert=vert), "set 0, binding 1")


def test_what_needs_no_resource_is_linked_all_the_same() -> None:
    vert = OUT + "layout(location = 1) out vec4 b; layout(location = 2) out vec4 c;\n"
    vert += "--a = vec4(0.5); b = p; c = p * 2.0;"
    frag = IN + "layout(location = 1) in vec4 b;\n--o = a + b;"
    done = linked(heap(), frag, vert)
    actions = {r.name: r.action for r in done.linked.remarks}
    assert actions["a"] == "propagated" and actions["c"] == "removed", actions


def test_push_constants_are_those_that_both_declare() -> None:
    """Push data is one for all stages; how much there is nobody says."""
    vert = PUSH + OUT + "--a = u.tint;"
    assert_moved(linked(heap(), PUSH + IN + "--o = a + u.pad;", vert), "push constants")
    assert_kept(linked(heap(), MINE, vert), "does not declare these bytes of push data")


def test_a_mapping_without_the_flag() -> None:
    """Then sets and layouts count as before, and a mapping that differs is a doubt."""
    plain: Layout = {"setLayouts": [], "pushConstantRanges": []}
    sets = [{"set": 0, "bindings": [{"binding": 0, "stageFlags": BOTH}]}]
    off: Layout = {"descriptorHeap": False, "mappings": []}
    assert_moved(linked(plain | off, USED))
    assert_moved(linked({"setLayouts": sets} | off))
    assert_kept(linked(plain | off), "does not show set 0, binding 0")
    assert_moved(linked(off, USED))
    assert_kept(linked(off), "does not use set 0, binding 0")
    assert_moved(linked({"setLayouts": sets} | off | {"mappings": [entry(BOTH)]}))
    for mappings in ([entry(VERTEX)], [entry(VERTEX), entry(FRAGMENT, 5, (0,))]):
        assert_kept(linked({"setLayouts": sets} | off | {"mappings": mappings}, USED), "map")


@pytest.mark.parametrize("kinds, moves", [((2, 2), True), ((2, 1), False), ((0, 2), False)])
def test_robustness_of_the_stages(kinds: tuple[int, int], moves: bool) -> None:
    """Beyond its end a buffer gives zeros in one stage, and what the driver likes in another."""
    pairs = zip((VERTEX, FRAGMENT), kinds)
    robust = [{"stageFlags": stage, "uniformBuffers": kind} for stage, kind in pairs]
    done = linked(check_layout({"robustness": robust}), USED)
    if moves:
        assert_moved(done)
    else:
        assert_kept(done, "the stages have different robustness for uniform buffers")
    pushed = PUSH + IN + "--o = a + u.pad;"
    assert_moved(linked(check_layout({"robustness": robust}), pushed, PUSH + OUT + "--a = u.tint;"))


def test_a_storage_buffer_of_old_is_another_resource() -> None:
    """One set and binding may be mapped to one place as a uniform buffer, and to another one as a
    storage buffer (resourceMask)."""
    block = "layout(set = 0, binding = 0) buffer B { vec4 pad; vec4 tint; } w;\n"
    frag = block + IN + "--o = a + w.pad;"
    done = linked(heap(entry(BOTH)), frag)
    assert_moved(done)
    uniform = [i for i in done.frag.globals if i.op == ops.OpVariable]
    assert sum(i.imm[0] == enums.StorageClass_Uniform for i in uniform) == 2


def test_what_pipelines_say_together() -> None:
    plain: Layout = {"setLayouts": []}
    one, two = heap(entry(BOTH)), heap(entry(VERTEX))
    assert common_layout([one, one]) == one and common_layout([plain, None]) is None
    for both in ([one, two], [plain, one], [None, two]):
        layout = common_layout(list(both))
        assert layout is not None
        assert_kept(linked(layout, USED), "no stage maps set 0, binding 0")


@pytest.mark.parametrize(
    "wrong",
    [
        {"descriptorHeap": 1},
        {"mappings": {}},
        {"mappings": [{}]},
        {"mappings": [entry(BOTH) | {"sourceData": [-1]}]},
        {"mappings": [entry(BOTH) | {"more": 1}]},
        {"robustness": [{"stageFlags": 1}]},
    ],
)
def test_what_is_no_layout(wrong: Layout) -> None:
    with pytest.raises(Usage):
        check_layout(wrong)
