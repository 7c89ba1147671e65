"""How much of a pipeline's state its modules can ask for.

Pipelines that differ in state which nobody asks for are one job. So before a key is made, facts
that cannot change a link are taken out, by a look at the declarations of the modules: what stands
before the first function says which outputs, built-ins and qualifiers there are. The look errs on
the side of more: a fact that is kept for nothing costs a job, one that is dropped would cost the
gain, never a wrong link.
"""

from __future__ import annotations

from spvlink.binary.words import MAGIC, little_endian, words_in
from spvlink.errors import BadSpirv
from spvlink.formats import ALL
from spvlink.grammar import enums, ops
from spvlink.pipeline import stage_of
from spvlink.state import CULL_BACK, CULL_FRONT, FILLED, LINES, TRIANGLES, PipelineState

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterable
    from typing import Final

    from spvlink.state import Attribute

    Place = tuple[int, int]  # Location, Index

_GROUPS: Final = frozenset((ops.OpGroupDecorate, ops.OpGroupMemberDecorate))
_FINER: Final = frozenset((enums.Decoration_Centroid, enums.Decoration_Sample))
_FINER_CAPABILITIES: Final = frozenset(
    (enums.Capability_InterpolationFunction, enums.Capability_SampleRateShading)
)
_FINER_BUILTINS: Final = frozenset(
    (enums.BuiltIn_SampleId, enums.BuiltIn_SamplePosition, enums.BuiltIn_SampleMask)
)
# What multiview gives another value to (link/builtins/builtins.py).
_PER_VIEW: Final = frozenset(
    (enums.BuiltIn_ViewIndex, enums.BuiltIn_Layer, enums.BuiltIn_ViewportIndex)
)
_MAKERS: Final = frozenset(("tese", "geom", "mesh"))  # of primitives, whatever the topology is
_CHAINS: Final = frozenset((ops.OpAccessChain, ops.OpInBoundsAccessChain))


class DeclaredUse:
    """What a module declares that state may say something of. ``stages``: of its entry points;
    ``inputs``: of a vertex shader, ``outputs``: of a fragment shader;
    ``unread``: it is not clear, so it may ask for anything; ``finer``: for places within a
    pixel; ``sized``: it touches the size of points, which blocks declare for nothing."""

    __slots__ = ("builtins", "finer", "inputs", "outputs", "sized", "stages", "unread")

    def __init__(self, data: bytes) -> None:
        self.builtins: set[int] = set()
        self.stages: set[str] = set()
        self.inputs: dict[Place, int] = {}
        self.outputs: dict[Place, int] = {}
        self.finer = False
        self.sized = False
        self.unread = False
        try:
            words = words_in(little_endian(data)[0])
        except BadSpirv:
            self.unread = True
            return
        try:
            self._read(words)
        except (IndexError, KeyError):
            self.unread = True

    def known_fields(self) -> tuple[object, ...]:
        """All of it, to be compared."""
        return (
            frozenset(self.builtins), frozenset(self.stages), frozenset(self.inputs.items()),
            frozenset(self.outputs.items()), self.finer, self.sized, self.unread,
        )  # fmt: skip

    def _read(self, words: tuple[int, ...]) -> None:
        self.unread = words[0] != MAGIC
        notes: dict[int, dict[int, int]] = {}
        types: dict[int, tuple[int, ...]] = {}
        constants: dict[int, int] = {}
        variables: list[tuple[int, int, int]] = []
        blocks: dict[int, int] = {}  # struct -> the member that is the size of points
        at, end = 5, len(words) - 1
        while at < end and not self.unread:
            op, size = words[at] & 0xFFFF, words[at] >> 16
            if op == ops.OpFunction:
                break
            if size == 0 or op in _GROUPS:
                self.unread = True
            elif op == ops.OpEntryPoint:
                self.stages.add(stage_of(words[at + 1]))
            elif op == ops.OpCapability:
                self.finer |= words[at + 1] in _FINER_CAPABILITIES
            elif op == ops.OpDecorate:
                number = words[at + 2]
                notes.setdefault(words[at + 1], {})[number] = words[at + 3] if size > 3 else 0
                self._note(number, words[at + 3] if size > 3 else 0)
            elif op == ops.OpMemberDecorate:
                self._note(words[at + 3], words[at + 4] if size > 4 else 0)
                if words[at + 3 : at + 5] == _SIZE:
                    blocks[words[at + 1]] = words[at + 2]
            elif ops.OpTypeVoid <= op <= ops.OpTypePointer:
                types[words[at + 1]] = (op, *words[at + 2 : at + size])
            elif op == ops.OpConstant:
                constants[words[at + 2]] = words[at + 3]
            elif op == ops.OpVariable:
                variables.append((words[at + 2], words[at + 1], words[at + 3]))
            at += size
        for variable, pointer, storage in variables:
            stage = _READERS.get(storage)
            if stage in self.stages and enums.Decoration_Location in notes.get(variable, {}):
                places = self.inputs if storage == enums.StorageClass_Input else self.outputs
                _declare(places, notes[variable], types[pointer][2], types, constants)
        sizes: dict[int, tuple[int, int]] = {}  # variable -> how many indices, and the member
        for variable, pointer, storage in variables:
            if storage != enums.StorageClass_Output:
                continue
            depth, type = 0, types[pointer][2]
            while types[type][0] == ops.OpTypeArray:
                depth, type = depth + 1, types[type][1]
            if type in blocks:
                sizes[variable] = depth, blocks[type]
            self.sized |= notes.get(variable, {}).get(enums.Decoration_BuiltIn) == _SIZE[1]
        if sizes:
            self._read_code(words, at, sizes, constants)

    def _read_code(
        self, words: tuple[int, ...], at: int, sizes: dict[int, tuple[int, int]],
        constants: dict[int, int],
    ) -> None:  # fmt: skip
        """Whether a chain goes to the size of points."""
        end = len(words) - 1
        while at < end and not self.sized:
            op, size = words[at] & 0xFFFF, words[at] >> 16
            if op in _CHAINS and words[at + 3] in sizes:
                depth, member = sizes[words[at + 3]]
                self.sized = size <= 4 + depth or constants.get(words[at + 4 + depth]) == member
            at += max(size, 1)

    def _note(self, decoration: int, operand: int) -> None:
        self.finer |= decoration in _FINER
        if decoration == enums.Decoration_BuiltIn:
            self.builtins.add(operand)


_SIZE: Final = (enums.Decoration_BuiltIn, enums.BuiltIn_PointSize)
# Of attributes and of colour outputs.
_READERS: Final = {enums.StorageClass_Input: "vert", enums.StorageClass_Output: "frag"}


def _declare(
    places: dict[Place, int], notes: dict[int, int], type: int,
    types: dict[int, tuple[int, ...]], constants: dict[int, int],
) -> None:  # fmt: skip
    """Note the components that a variable covers, all of a Location where it is not a scalar or a
    vector."""
    location, index = notes[enums.Decoration_Location], notes.get(enums.Decoration_Index, 0)
    component, count = notes.get(enums.Decoration_Component, 0), 1
    op, *operands = types[type]
    while op in (ops.OpTypeArray, ops.OpTypeMatrix):
        count *= constants.get(operands[1], 8) if op == ops.OpTypeArray else operands[1]
        op, *operands = types[operands[0]]
    mask = ALL
    if op in (ops.OpTypeFloat, ops.OpTypeInt) and operands[0] <= 32:
        mask = 1 << component
    elif op == ops.OpTypeVector and types[operands[0]][1] <= 32:
        mask = ((1 << operands[1]) - 1) << component
    for at in range(min(count, 64)):
        key = location + at, index
        places[key] = places.get(key, 0) | mask


def used(state: PipelineState, modules: Iterable[DeclaredUse]) -> PipelineState:
    """The part of a state that a link of these modules may ask for: with it, it comes out alike."""
    read = list(modules)
    if any(module.unread for module in read):
        return state
    frags = [module for module in read if "frag" in module.stages]
    verts = [module for module in read if "vert" in module.stages]
    stages = {stage for module in read for stage in module.stages}
    builtins = {builtin for module in read for builtin in module.builtins}
    facing = bool(frags) and enums.BuiltIn_FrontFacing in builtins and state.polygons == 0
    culled = state.culled if facing and state.culled in (CULL_FRONT, CULL_BACK) else None
    sized = any(module.sized for module in read) and state.polygons in (0, 1)
    shape = ""
    if stages.isdisjoint(_MAKERS):
        shape = state.topology if state.topology in (LINES, TRIANGLES) else ""
        sized, culled = sized and shape != "", culled if shape == TRIANGLES else None
        shape = TRIANGLES if sized or culled is not None else ""  # lines are no points either
    finer = any(m.finer or not m.builtins.isdisjoint(_FINER_BUILTINS) for m in frags)
    return PipelineState(
        outputs=_outputs(state, frags),
        discards=True if state.discards and frags else None,
        one_sample=state.one_sample and finer,
        view_mask=_view_mask(state, builtins),
        culled=culled,
        polygons=FILLED if sized or culled is not None else None,
        topology=shape,
        viewports=1 if state.viewports == 1 and enums.BuiltIn_ViewportIndex in builtins else None,
        attributes=_attributes(state, verts),
        patch_points=state.patch_points if "tesc" in stages else None,
    )


def _view_mask(state: PipelineState, builtins: set[int]) -> int | None:
    """0, which says what built-ins of layers are, or the mask of one view: of others nothing is
    known."""
    mask = state.view_mask
    if mask is None or (mask == 0 and builtins.isdisjoint(_PER_VIEW)):
        return None
    known = mask == 0 or (mask & (mask - 1) == 0 and enums.BuiltIn_ViewIndex in builtins)
    return mask if known else None


def _outputs(
    state: PipelineState, frags: list[DeclaredUse]
) -> tuple[tuple[int, int, int], ...] | None:
    if state.outputs is None:
        return None
    declared: dict[Place, int] = {}
    for module in frags:
        for place, mask in module.outputs.items():
            declared[place] = declared.get(place, 0) | mask
    left = {place: mask & state.taken(*place) for place, mask in declared.items()}
    if left == declared:
        return None
    return tuple([(*place, left[place]) for place in sorted(left) if left[place]])


def unread_attributes(state: PipelineState, modules: Iterable[DeclaredUse]) -> tuple[int, ...]:
    """Locations of vertex attributes that no vertex shader has."""
    verts = [module for module in modules if module.unread or "vert" in module.stages]
    if not verts or any(module.unread for module in verts):
        return ()
    declared = {location for module in verts for location, _ in module.inputs}
    return tuple([location for location, _, _ in state.attributes if location not in declared])


def _attributes(state: PipelineState, verts: list[DeclaredUse]) -> tuple[Attribute, ...]:
    attributes: list[Attribute] = []
    for location, mask, bits in state.attributes:
        declared = 0
        for module in verts:
            declared |= module.inputs.get((location, 0), 0)
        if declared & ~mask or (declared and bits):
            attributes.append((location, mask & declared, bits))
    return tuple(attributes)
