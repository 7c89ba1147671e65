"""Give built-ins that cross borders their slots before the sweep, and remove the slots after it
(``link/builtins``)."""

from __future__ import annotations

from spvlink.chain.state import Chain, in_file
from spvlink.chain.sweep import clean
from spvlink.link.border.stage import Stage
from spvlink.link.builtins import builtins, closing


def open_builtins(chain: Chain) -> None:
    """The built-ins of each border that is linked become slots beside what they are."""
    if not chain.runner.enabled("builtins"):
        return
    changed: dict[Stage, None] = {}
    many_views = chain.view_mask != 0  # or it is unknown
    for border in chain.borders:
        link = border.link
        if link is None or link.fixed or border.shared:
            continue
        if border.consumer is chain.fixed_function_consumer:
            continue
        if not builtins.reads(link):
            continue
        versions = link.producer.module.version, link.consumer.module.version
        link.built = builtins.builtins(link, many_views)
        if link.producer.module.version != versions[0]:
            changed[link.producer] = None
        if link.consumer.module.version != versions[1]:
            changed[link.consumer] = None
    for stage in changed:
        chain.runner.promote_again(stage)
        in_file(stage, clean, chain, stage)


def drop_stores(chain: Chain) -> None:
    """What was made beside the built-ins goes, with the code that only it needed."""
    for border in chain.borders:
        built = closing.of(border.link)
        if built is not None:
            producer = built.producer
            if chain.runner.run("builtins", producer, closing.drop_stores, built):
                in_file(producer, chain.runner.sweep_out, producer)
