"""Place outputs that must stay although the next stage does not read them: captured ones, and those
that the producer reads back. Compaction places them last.

    captured and read: 0.xyzw        read: 0.xyzw, 1.xy
    captured only:     1.xyz   ->    captured only: 1.zw, 2.z        (the same bytes in the buffer)
    read:              2.xy

Only the producer declares them, so nothing else has to match. Captured components fill the holes of
any Location, of any interpolation; as integers also next to other 32-bit types. Floats carry no
other type, since a NaN could lose its payload on the way.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations
from spvlink.grammar import enums
from spvlink.ir.slot import Pinned
from spvlink.link.border.link import Link
from spvlink.link.pack.bins import UINT, Bin, close_gap, new_bin, put
from spvlink.pipeline import PACK_VECTORS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from spvlink.link.pack.placement import Group


def aside_keys(link: Link) -> frozenset[int]:
    """Slots that the consumer does not read: transform feedback captures them, or the producer
    reads them back."""
    if not link.outputs.captured and not link.read_back and not link.outputs.pinned:
        return frozenset()
    whole = [k for out, twin in link.pinned() if alone(link, out, twin) for k in out.keys]
    read = link.loads.keys() | link.kept_in
    slots = [k for k in link.used() if k not in read]
    return frozenset([*slots, *whole])


def place_captured(
    link: Link, bins: dict[int, Bin], groups: list[Group], fixed: frozenset[int]
) -> None:
    """What transform feedback alone consumes. ``fixed``: the Locations that the consumer reads (by
    the ids of their bins), which stay as they are but for their holes."""
    for _, base, keys in groups:
        wide = base.endswith("64")
        size = len(keys) * (2 if wide else 1)
        hosts = [b for b in bins.values() if _carries(b, base) and b.fit(size, wide) >= 0]
        host = min(hosts, key=lambda b: (b.free(), b.location), default=None)
        host = host or new_bin(bins, (), base)
        put(host, host.fit(size, wide), keys, wide)
    # what is read back only keeps its kind: there is no feedback where outputs are read back
    while groups and link.pack != PACK_VECTORS and _dissolve_captured(bins, fixed):
        pass


def _carries(host: Bin, base: str) -> bool:
    """Whether a Location may take a captured component of a type as it is."""
    return host.base == base or (base.endswith("32") and host.base in ("i32", UINT))


def _dissolve_captured(bins: dict[int, Bin], fixed: frozenset[int]) -> bool:
    """Empty one Location of captured components into the holes of others, if that can be; those
    that are not ``fixed`` may become integers for it."""
    loose = [b for b in bins.values() if id(b) not in fixed and -2 not in b.components]
    for bin in sorted(loose, key=lambda b: (4 - b.free(), -b.location)):
        if not bin.base.endswith("32"):
            continue
        moving = [c for c in bin.components if c >= 0]
        hosts = [b for b in bins.values() if b is not bin and b.base.endswith("32")]
        hosts = [b for b in hosts if _carries(b, bin.base) or b in loose]
        if sum(b.free() for b in hosts) < len(moving):
            continue
        hosts.sort(key=lambda b: (not _carries(b, bin.base), b.free(), b.location))
        for key in moving:
            host = next(b for b in hosts if b.free())
            host.components[host.components.index(-1)] = key
            if not _carries(host, bin.base):
                host.base = UINT
        del bins[bin.location]
        close_gap(bins, bin.location)
        return True
    return False


def alone(link: Link, out: Pinned, twin: Pinned | None) -> bool:
    """Whether a whole output faces nothing in the consumer (transform feedback or another stream
    takes it), and has a Location of its own."""
    if twin is not None or out not in link.outputs.pinned:
        return False
    if any(k in link.inputs.slots or k in link.kept_in for k in out.keys):
        return False
    tables = Decorations.of(link.producer.module)
    return tables.find(out.variable, enums.Decoration_Location) is not None
