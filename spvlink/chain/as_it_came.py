"""Stages that linking does not need go out as they came, byte for byte.

The passes look at code in its simplest form, with all calls inlined. A driver's compiler has passes
of its own for that, and what it makes of our form is a little worse about as often as it is better
(docs/measurements/isa.md). A module that stays as it is can also be shared with other pipelines.
So a stage is rewritten only if something crossed one of its borders or its interface changed.
"""

from __future__ import annotations

from spvlink.chain.border import Border
from spvlink.chain.raising import note_declared, reader_qualifiers
from spvlink.chain.state import INPUT, OUTPUT, Chain, original
from spvlink.errors import Broken
from spvlink.grammar import info
from spvlink.ir.core import Module
from spvlink.ir.edit import abandon
from spvlink.ir.slot import Pinned, Varying
from spvlink.link.border.stage import FIXED_FUNCTIONS, Stage
from spvlink.link.check import interface
from spvlink.link.check.interface import DeclaredVariable
from spvlink.link.dead.dead_builtins import CONSUMERS
from spvlink.passes.raising import interface_wrapper, sample_rate

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Shape = tuple[object, ...]


def nothing_crossed(chain: Chain) -> bool:
    """Whether no stage was changed from outside and everything stays in its place. Where there may
    be blocks of built-ins to trim, nobody knows yet."""
    for border in chain.borders:
        if border.consumer.name in CONSUMERS or not (border.fixed or _stays(border)):
            return False
    return not any(stage.linked for stage in chain.stages if stage not in chain.fixed)


def enclose_early(chain: Chain) -> set[Stage]:
    """The same as ``restore``, for stages of which it is clear before anything is raised that they
    get a wrapper, if not stay: nobody needs what raising would make of their code."""
    done: set[Stage] = set()
    if (
        chain.options.clean or chain.is_set or not chain.runner.plain
    ):  # somebody looks at what is raised
        return done
    for stage in chain.touched():
        if stage.linked or not all(_moves(border) for border in chain.around(stage)):
            continue
        for border in chain.around(stage):
            note_declared(chain, border, border.producer)
            note_declared(chain, border, border.consumer)
        module = original(stage)
        sides = [OUTPUT if b.producer is stage else INPUT for b in chain.around(stage)]
        try:
            before = [_shapes(interface.declared(module, side)) for side in sides]
            fits = _wrap(chain, stage, module)
            after = [interface.declared(module, side) for side in sides]
            fits = fits and all(
                _declares(chain, border, stage, declared)
                for border, declared in zip(chain.around(stage), after)
            )
            same = before == [_shapes(declared) for declared in after]
        except Broken:
            fits = same = False
        if fits:
            done.add(stage)
            if same:
                chain.untouched.add(stage)
            stage.module, module = module, stage.module
        abandon(module)
    return done


def _declares(chain: Chain, border: Border, stage: Stage, declared: list[DeclaredVariable]) -> bool:
    """Whether what was found on a side is what it is to have, and no more: code that nobody calls
    may name other variables."""
    assert border.link is not None and border.placement is not None
    is_output = border.producer is stage
    storage, link = OUTPUT if is_output else INPUT, border.link
    pinned = (link.outputs if is_output else link.inputs).pinned
    whole = {(border.placement.moved[p], p.component) for p in pinned}
    wanted = {_placed(v, is_output) for v in chain.declared[stage, storage]}
    made: set[tuple[object, ...]] = set()
    for one in declared:
        if one.place in whole:
            whole.remove(one.place)
        else:
            made.add((one.place, one.qualifiers | one.kind, frozenset(one.covers)))
    return made == wanted and not whole


def _placed(varying: Varying, is_output: bool) -> tuple[object, ...]:
    """What a variable that is to be declared covers, and how."""
    covers = {varying.place_of(lane) for lane in range(len(varying.keys))}
    if varying.width == 64:
        covers |= {(location, component + 1) for location, component in covers}
    hidden = info.READING_DECORATIONS if is_output else frozenset()
    place = varying.location, varying.component
    return place, frozenset(varying.qualifiers) - hidden, frozenset(covers)


def _moves(border: Border) -> bool:
    """Whether it is known by now what is declared at a border, and some of it is elsewhere."""
    link, producer, consumer = border.link, border.producer, border.consumer
    if link is None or border.payload is not None or border.kept or border.fixed:
        return False
    if consumer.name in CONSUMERS or consumer.name == FIXED_FUNCTIONS or link.built is not None:
        return False
    return producer.linked or consumer.linked or not _stays(border)


def restore(chain: Chain, done: set[Stage] | None = None) -> None:
    """Take back the stages that no border changed. A side fits if it declares what it declared; or
    if everything stays in its place there and the neighbour is taken back, too: the variables that
    both had may be others than those that were made of it. What does not fit gets a
    wrapper. ``done`` are not looked at."""
    options = chain.options
    originals = {
        stage: original(stage)
        for stage in chain.touched()
        if not stage.linked and not options.clean and stage not in (done or ())
    }
    fit = originals
    while True:
        left = {
            stage: module
            for stage, module in fit.items()
            if all(_fits(border, stage, module, fit) for border in _around(chain, stage))
        }
        if len(left) == len(fit):
            break
        fit = left
    for stage, module in originals.items():
        if stage in fit:
            chain.untouched.add(stage)
        elif not _enclose(chain, stage, module):
            abandon(module)
            continue
        abandon(stage.module)
        stage.module = module


def _enclose(chain: Chain, stage: Stage, module: Module) -> bool:
    """Give a module as it came the interface that its stage has now; whether that is possible."""
    try:
        return _wrap(chain, stage, module) and all(
            _declares_alike(stage.module, module, storage)
            for storage in {OUTPUT if b.producer is stage else INPUT for b in _around(chain, stage)}
        )
    except Broken:
        return False


def _wrap(chain: Chain, stage: Stage, module: Module) -> bool:
    """The same, without a look at what came of it."""
    done: set[int] = set()
    for border in _around(chain, stage):
        if border.link is None or border.placement is None or border.payload is not None:
            return False
        storage = OUTPUT if border.producer is stage else INPUT
        if storage in done:
            continue  # of a set: it is the same side
        done.add(storage)
        side = border.link.outputs if border.producer is stage else border.link.inputs
        moved = {
            pinned.variable.id: (border.placement.moved[pinned], _added(border, pinned))
            for pinned in side.pinned
        }
        try:
            interface_wrapper.wrap_interface(
                module, storage, side, chain.declared[stage, storage], moved
            )
        except interface_wrapper.NotWrappable:
            return False
    if stage.per_sample:
        sample_rate.keep_sample_rate(module)
    return True


def _added(border: Border, pinned: Pinned) -> tuple[int, ...]:
    """The qualifiers that an output which stays whole gets; in a set it has several readers, and
    keeps its own."""
    link = border.link
    if link is None or border.shared or pinned not in link.outputs.pinned:
        return ()
    return reader_qualifiers(link, pinned)


def _around(chain: Chain, stage: Stage) -> list[Border]:
    return [border for border in chain.around(stage) if not (border.kept or border.fixed)]


def _fits(border: Border, stage: Stage, module: Module, originals: dict[Stage, Module]) -> bool:
    """Whether a stage's side of a border may be the one that it had."""
    if border.payload is not None:
        return False
    other = border.consumer if border.producer is stage else border.producer
    if other in originals and _stays(border):
        return True
    storage = OUTPUT if border.producer is stage else INPUT
    try:
        return _declares_alike(stage.module, module, storage)
    except Broken:
        return False  # what the checker does not take is not ours to judge


def _declares_alike(module: Module, other: Module, storage: int) -> bool:
    """Whether two modules declare the same on a side."""
    mine = _shapes(interface.declared(module, storage))
    return mine == _shapes(interface.declared(other, storage))


def _shapes(declared: list[DeclaredVariable]) -> set[Shape]:
    """What a side declares."""
    return {
        (d.place, d.shape, d.label.index, d.qualifiers, d.kind, frozenset(d.covers))
        for d in declared
    }


def _stays(border: Border) -> bool:
    """Whether all that is declared at a border is still there, in its old place."""
    link, placement = border.link, border.placement
    if link is None or placement is None:
        return True  # it is not linked
    moved = any(at != pinned.location for pinned, at in placement.moved.items())
    if moved or link.gone or border.payload is not None:
        return False
    outputs, inputs = link.outputs.slots, link.inputs.slots
    left = outputs.keys() | inputs.keys()
    for varying in placement.varyings:
        for lane, key in enumerate(varying.keys):
            slot = inputs.get(key) or outputs.get(key)
            if slot is None or varying.place_of(lane) != (slot.location, slot.component):
                return False
            if varying.qualifiers != slot.qualifiers:
                return False
        left -= {*varying.keys}
    return not left
