"""How many bytes a stage hands on: what a tiler writes to memory for each vertex.

``sizes_of`` is the one function that counts. The reports of a link and of a batch, the page and
``spvlink check`` all have their figures from here.

A component counts that the code writes: 4 bytes for 32 bits, 8 for 64, 2 for 16. Built-ins count,
too, each as a whole. Outputs of other vertex streams than the one that is rasterized do not count,
nor do the indices of a mesh and the payload of a task shader.
"""

from __future__ import annotations

from functools import lru_cache

from spvlink.binary.decode import decode
from spvlink.entry import select_entry
from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.link.check.interface import cover
from spvlink.link.check.stage import OUTPUT, CheckedStage
from spvlink.pipeline import Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final

    from spvlink.ir.core import Inst
    from spvlink.link.check.interface import DeclaredVariable, Label, Place
    from spvlink.link.check.stage import BuiltIn
    from spvlink.pipeline import Sizes

_PER_PRIMITIVE: Final = frozenset((enums.Decoration_Patch, enums.Decoration_PerPrimitiveEXT))
_LEVELS: Final = frozenset((enums.BuiltIn_TessLevelOuter, enums.BuiltIn_TessLevelInner))
# Built-ins that a mesh shader writes for each primitive.
_OF_MESH: Final = frozenset((
    enums.BuiltIn_PrimitiveId, enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex,
    enums.BuiltIn_CullPrimitiveEXT, enums.BuiltIn_PrimitiveShadingRateKHR,
))  # fmt: skip
_INDICES: Final = frozenset((
    enums.BuiltIn_PrimitivePointIndicesEXT, enums.BuiltIn_PrimitiveLineIndicesEXT,
    enums.BuiltIn_PrimitiveTriangleIndicesEXT,
))  # fmt: skip
# Built-ins that only the fragment shader reads. All others decide where a primitive is drawn.
_FOR_FRAGMENTS: Final = frozenset((enums.BuiltIn_PrimitiveId,))
_ARRAYED: Final = ("tesc", "mesh")  # whose outputs are arrays over vertices or primitives


def sizes_of(stage: CheckedStage) -> Sizes:
    """(bytes a vertex, those of them that position needs, bytes a primitive) of what the stage
    writes for the next one and for the rasterizer. A patch is a primitive, too."""
    vertex = position = primitive = 0
    if stage.name in ("task", "frag"):
        return vertex, position, primitive
    for one in stage.outputs:
        if stage.streamed(one):
            continue
        size = _written(stage, one)
        if one.kind & _PER_PRIMITIVE:
            primitive += size
        else:
            vertex += size
    for builtin in stage.builtins[OUTPUT]:
        kind = builtin.kind
        if kind in _INDICES or not builtin.written:
            continue
        size = _size(_type_of(builtin))
        if kind in _LEVELS or (stage.name == "mesh" and kind in _OF_MESH):
            primitive += size
            continue
        vertex += size
        if kind not in _FOR_FRAGMENTS:
            position += size
    return vertex, position, primitive


@lru_cache(maxsize=32)  # pipelines that come one after the other often share their first module
def sizes_of_module(data: bytes, entry: str | None, stage: str) -> Sizes:
    """The same of a module. Raises SpvlinkError if it cannot be read."""
    module = decode(data)
    module.entry = select_entry(module, entry, stage)
    return sizes_of(CheckedStage(stage, module, Source(data, "", entry, stage)))


def sum_of(many: Iterable[Sizes]) -> Sizes:
    """The sum of the figures of several stages, or of several pipelines."""
    vertex = position = primitive = 0
    for one in many:
        vertex += one[0]
        position += one[1]
        primitive += one[2]
    return vertex, position, primitive


def _written(stage: CheckedStage, one: DeclaredVariable) -> int:
    """Bytes of the components of a variable that the code writes."""
    places = stage.uses.writes(one)
    halves: set[Place] = set()
    if "16" in one.shape:  # a 16-bit type, or an array of 16
        _halves(one.type, one.place, one.label, halves)
    return 4 * len(places) - 2 * len(places & halves)


def _halves(type: Inst, place: Place, label: Label, found: set[Place]) -> None:
    """Add the components of a type that have 16 bits."""
    if type.op == ops.OpTypeStruct or type.op in info.NESTED_TYPES:
        at = place[0]
        for index in range(types.size_of(type)):
            part = types.part_type(type, index)
            spot = at, 0 if type.op == ops.OpTypeStruct else place[1]
            _halves(part, spot, label, found)
            length = cover(part, spot, set(), label, _pass_over)
            at += length
            if not length:
                break
        return
    scalar = type.args[0] if type.op == ops.OpTypeVector else type
    if scalar.imm and scalar.imm[0] == 16:
        cover(type, place, found, label, _pass_over)


def _type_of(builtin: BuiltIn) -> Inst:
    """The type of a built-in for one vertex or primitive."""
    type = builtin.type
    arrayed = builtin.stage.name in _ARRAYED and not builtin.in_block
    if arrayed and type.op == ops.OpTypeArray and not _patch(builtin):
        return type.args[0]
    return type


def _patch(builtin: BuiltIn) -> bool:
    tables: Decorations = builtin.stage.tables
    return tables.find(builtin.label.variable, enums.Decoration_Patch) is not None


def _size(type: Inst) -> int:
    """Bytes of a built-in; a boolean takes four."""
    if type.op in info.ELEMENT_TYPES:
        return types.size_of(type) * _size(type.args[0])
    return type.imm[0] // 8 if type.imm else 4


def _pass_over(rule: str, label: object, place: object, message: str) -> None:
    """What is odd was told of where the variable was read."""
