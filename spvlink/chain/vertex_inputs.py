"""Name the vertex attributes that nobody reads after linking: a program may leave out their data.

The vertex input must give each attribute that the entry point of the vertex shader lists
(VUID-VkGraphicsPipelineCreateInfo-Input-07904). So REMOVED says that the linked module does not
list it, and KEPT that it does, though no code refers to it.
"""

from __future__ import annotations

from spvlink.binary.decode import decode
from spvlink.chain.remarks import kept_remarks
from spvlink.entry import select_entry
from spvlink.errors import Broken
from spvlink.grammar import enums
from spvlink.ir.core import Module
from spvlink.ir.edit import abandon
from spvlink.link.check import interface
from spvlink.passes.lowering.memory_access import uses
from spvlink.pipeline import REMOVED, Linked, Remark, Source

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence

    from spvlink.options import Options

    Place = tuple[int, int]  # Location, Component

_VERTEX = "vert"


def report(linked: Linked, sources: Sequence[Source], options: Options) -> None:
    """Have them named when somebody asks for the remarks. ``sources``: the modules as they came, in
    the order of ``linked.stages``."""
    for source, stage in zip(sources, linked.stages):
        if stage.stage == _VERTEX:
            _later(linked, source, stage.data, options)


def _later(linked: Linked, source: Source, data: bytes, options: Options) -> None:
    linked.later.append(lambda: _unread(source, data, options))


def _given(options: Options) -> list[int]:
    """The Locations that the vertex input is known to give."""
    if options.state is None:
        return []
    from spvlink import state  # seldom: see chain/table

    return [location for location, _, _ in state.state_of(options.state).attributes]


def _unread(source: Source, data: bytes, options: Options) -> list[Remark]:
    """Remarks of the attributes that a vertex shader has in ``source`` or that the vertex input
    gives, and that ``data`` does not read."""
    try:
        before = _module(source, source.data)
        declared = interface.declared(before, enums.StorageClass_Input)
        if data == source.data:
            after, left = before, declared
        else:
            after = _module(source, data)
            left = interface.declared(after, enums.StorageClass_Input)
    except Broken:
        return []  # of inputs that are not ours to judge nothing is said
    listed, read = _places(after, left)
    why = f"the {_VERTEX} stage does not read it"
    remarks: list[Remark] = []
    for variable in declared:
        if not variable.covers or not read.isdisjoint(variable.covers):
            continue
        (remark,) = kept_remarks(_VERTEX, [variable], why)
        remark.cells = (), ()  # those of a picture are at a border
        if listed.isdisjoint(variable.covers):
            remark.action = REMOVED
        remarks.append(remark)
    known = {location for variable in declared for location, _ in variable.covers}
    why = "the vertex input gives it, and no shader has it"
    remarks += [
        Remark(_VERTEX, "", str(at), REMOVED, why) for at in _given(options) if at not in known
    ]
    for module in {before, after}:
        abandon(module)
    return remarks


def _module(source: Source, data: bytes) -> Module:
    module = decode(data)
    module.entry = select_entry(module, source.entry, _VERTEX)
    return module


def _places(
    module: Module, declared: list[interface.DeclaredVariable]
) -> tuple[set[Place], set[Place]]:
    """What inputs cover, and what those cover that code refers to."""
    listed: set[Place] = set()
    read: set[Place] = set()
    for variable in declared:
        listed |= variable.covers
        if uses(module, variable.label.variable):
            read |= variable.covers
    return listed, read
