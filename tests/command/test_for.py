"""``--for`` sets what is best on a GPU; what is said beside it wins."""

from __future__ import annotations

import pytest

import spvlink
from spvlink import arguments
from spvlink.chain import table
from spvlink.errors import Usage
from spvlink.gpus import ANY, GPUS
from spvlink.pipeline import PACK_COORDINATES, PACK_LOCATIONS, PACK_VECTORS, PACKINGS
from tests.support.linking import Result, fragment, vertex

THREE = "layout(location = 0) {0} vec3 a; layout(location = 1) {0} vec3 b; " + (
    "layout(location = 2) {0} vec3 c; layout(location = 3) {0} vec3 d; "
)
PRODUCER = THREE.format("out") + (
    "void main() { a = sin(p.xyz); b = sin(p.yzw); c = cos(p.xyz); d = cos(p.yzw);"
    " gl_Position = p; }"
)
CONSUMER = THREE.format("in") + (
    "void main() { o = normalize(a).xyzx + normalize(b).xyzx + normalize(c).xyzx * d.xyzx; }"
)


def parsed(*words: str) -> spvlink.Options:
    return arguments.parse(["a.vert.spv", "b.frag.spv", "-o", "out", *words]).options


@pytest.mark.parametrize("name", GPUS)
def test_each_row_can_be_linked_with(name: str) -> None:
    options, said = spvlink.Options(gpu=name), parsed("--for", name)
    assert (options.pack, options.disable) == (said.pack, said.disable)
    assert options.cost_limit == said.cost_limit == GPUS[name].cost_limit
    assert options.pack in PACKINGS and options.disable <= table.PASSES.keys()
    done = Result(vertex(PRODUCER), fragment(CONSUMER), options)
    assert done.linked.validated == "validated"
    torn = options.pack == PACK_COORDINATES
    assert len(done.locations) == (3 if torn else 4)


def test_the_default_is_any() -> None:
    assert spvlink.Options().pack == parsed().pack == GPUS[ANY].pack


def test_what_is_said_beside_it_wins_in_any_order() -> None:
    for words in (
        ["--for", "v3d", "--enable", "narrow", "--pack", "locations", "--cost-limit", "70"],
        ["--cost-limit", "70", "--pack", "locations", "--enable", "narrow", "--for", "v3d"],
    ):
        options = parsed(*words)
        assert (options.pack, options.cost_limit) == (PACK_LOCATIONS, 70)
        assert options.disable == GPUS["v3d"].disable - {"narrow"}
    assert spvlink.Options(gpu="v3d", pack=PACK_LOCATIONS).pack == PACK_LOCATIONS
    assert spvlink.Options(gpu="v3d", cost_limit=70).cost_limit == 70
    both = spvlink.Options(gpu="v3d", disable={"forward"})
    assert both.disable == GPUS["v3d"].disable | {"forward"} and both.pack == PACK_VECTORS


def test_an_unknown_name_is_one_line() -> None:
    with pytest.raises(Usage, match=r"there is no GPU radw \(did you mean radv\?\): there are any"):
        parsed("--for", "radw")
    with pytest.raises(Usage, match="there is no GPU voodoo"):
        spvlink.Options(gpu="voodoo")
