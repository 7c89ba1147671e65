"""Run all passes over the stages of one pipeline, top to bottom, from decoding to checking.

A stage in the middle is consumer of one border and producer of the next; its inputs and outputs are
lowered together. A border that is refused, or that the user wants as it is, keeps its interface;
the stages around it and the other borders are linked all the same.
"""

from __future__ import annotations

import time

from spvlink.binary.encode import encode
from spvlink.chain import as_it_came, remarks
from spvlink.chain.border import Border
from spvlink.chain.builtin_slots import drop_stores, open_builtins
from spvlink.chain.groups import groups, join, note_shared
from spvlink.chain.lowering import (
    apply_kept,
    find_resources,
    give_builtins,
    lower,
    prepare,
    specialize,
)
from spvlink.chain.raising import declare_shared, finish, trim_blocks
from spvlink.chain.state import Chain, InterfaceMismatch, in_file, original
from spvlink.chain.sweep import clean, place_to_fixpoint, sweep
from spvlink.chain.use_state import use_state
from spvlink.errors import Broken, Refused
from spvlink.ir.known import forget_all
from spvlink.link.border.link import CONSUMER, Link
from spvlink.link.check import interface
from spvlink.link.dead import dead_varyings
from spvlink.link.payload import payload
from spvlink.passes.cleaning import flow


def link_chain(chain: Chain) -> list[bytes]:
    """All passes; the new binaries in pipeline order. Raises Refused if no border can be linked."""
    outputs = link_stages(chain)
    for border in chain.borders:
        remarks.report(chain.linked, border)
        if border.link is not None:
            forget_all(border.link)  # which would be a cycle
    if chain.state_remarks:
        state_remarks = [remark for _, remark in chain.state_remarks]
        chain.linked.later.append(lambda: state_remarks)
    return outputs


def link_stages(chain: Chain) -> list[bytes]:
    """The same, with what is known of the borders. Raises Refused; InterfaceMismatch where stages
    have to stay as they are."""
    if not chain.borders:
        raise Refused("there is nothing to link: the pipeline has one stage")
    to_slots(chain)
    open_builtins(chain)
    sweep(chain)
    _sweep_converted(chain)
    place_to_fixpoint(chain)
    declare_shared(chain)
    if not chain.options.clean and as_it_came.nothing_crossed(chain):
        return [stage.source.data for stage in chain.stages]
    return write(chain)


def to_slots(chain: Chain) -> None:
    """Modules as they came to slots, and the link of each border. Raises Refused."""
    note_shared(chain)
    specialize(chain)
    give_builtins(chain)
    find_resources(chain)
    prepare(chain)
    use_state(chain)
    apply_kept(chain)
    lower(chain)
    for stage in chain.touched():
        in_file(stage, clean, chain, stage)
    open_borders(chain)


def _sweep_converted(chain: Chain) -> None:
    """Once more with small branches as selects: few pipelines have any."""
    if chain.is_set:
        return
    for stage in chain.touched():
        entry = stage.module.entry
        if entry is not None and len(entry.function.blocks) > 1:
            from spvlink.chain import converted

            converted.sweep_converted(chain)
            return


def write(chain: Chain) -> list[bytes]:
    """Interfaces for the slots that are left, and the new binaries."""
    drop_stores(chain)
    for stage in chain.fixed:
        stage.module = original(stage)
        chain.untouched.add(stage)
    done = as_it_came.enclose_early(chain)
    for stage in chain.touched():
        if stage not in done:
            in_file(stage, finish, chain, stage)
    trim_blocks(chain)
    as_it_came.restore(chain, done)
    outputs = encode_all(chain)
    check_borders(chain)
    return outputs


def open_borders(chain: Chain) -> None:
    """The slots of each border that is linked. Raises BadSpirv where they do not fit."""
    for border in chain.borders:
        if not border.kept:
            border.link = Link(border.producer, border.consumer)
            border.link.pack, border.link.fixed = chain.options.pack, border.fixed
            in_file(border.consumer, dead_varyings.check_types, border.link)
            if border.fixed == CONSUMER:
                from spvlink.link.dead import relied  # seldom: see chain/table

                relied.note(border.link, original(border.consumer))
    join(chain)
    chain.groups = groups(chain)


def encode_all(chain: Chain) -> list[bytes]:
    """The new binaries; those of untouched stages are the old ones."""
    begin = time.perf_counter()
    for stage in chain.touched():
        flow.check_order(stage.module)
    outputs = [s.source.data if s in chain.untouched else encode(s.module) for s in chain.stages]
    chain.runner.seconds["encode"] = time.perf_counter() - begin
    return outputs


def check_borders(chain: Chain) -> None:
    """Raise Broken if two stages no longer fit; Refused if they never did."""
    begin = time.perf_counter()
    for border in chain.borders:
        if border.payload is not None:
            payload.check(border.producer.module, border.consumer.module)
        elif border.link is not None:
            _check(chain, border)
    chain.runner.seconds["check"] = time.perf_counter() - begin


def _check(chain: Chain, border: Border) -> None:
    producer, consumer = border.producer, border.consumer
    fragment = consumer.name == "frag"
    try:
        interface.check(producer.module, consumer.module, fragment)
    except Broken:
        if border.fixed:
            raise _mismatch(chain, border) from None
        if consumer is not chain.fixed_function_consumer:
            try:
                interface.check(original(producer), original(consumer), fragment)
            except Broken as why:
                raise _mismatch(chain, border) if chain.is_set else Refused(str(why)) from None
        raise


def _mismatch(chain: Chain, border: Border) -> InterfaceMismatch:
    at = chain.stages.index
    return InterfaceMismatch(at(border.producer), at(border.consumer))
