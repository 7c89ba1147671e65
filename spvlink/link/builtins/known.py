"""Merge built-ins and varyings that are equal, in the stage that reads them.

    VS: gl_Layer = n; outLayer = n          FS: outLayer is gone, its loads read gl_Layer

The varying goes, since the built-in is stored in any case. Unwritten built-ins have any value,
unless fixed functions define one: Layer and ViewportIndex are 0 (Vulkan, "Built-In Variables")
except where views may choose them (``builtins``), and points have size 1 with maintenance5.
"""

from __future__ import annotations

from spvlink.grammar import enums
from spvlink.ir.core import LOAD_INPUT
from spvlink.ir.known import forget_all
from spvlink.ir.slot import BUILTIN_KEYS, Interface, builtin_of
from spvlink.link.border.link import Link
from spvlink.link.builtins.builtins import BuiltIns
from spvlink.link.builtins.side import NAMES
from spvlink.link.values import dedup_outputs
from spvlink.pipeline import KEPT

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_ALL: Final = ".xyzw"  # of a position


def counted_clip_distances(built: BuiltIns) -> set[int]:
    """Clip distances that are read in front of cull distances. Both are one array to Mesa, in which
    each shader counts cull distances behind the clip distances that it uses itself (seen on
    lavapipe 25.0): a fragment shader that reads only the former finds the latter there."""
    distances: dict[int, set[int]] = {}
    for key in built.loads:
        distances.setdefault(builtin_of(key)[0], set()).add(key)
    clip = distances.get(enums.BuiltIn_ClipDistance, set())
    if built.consumer.name != "frag" or enums.BuiltIn_CullDistance not in distances:
        return set()
    why = "the stage reads gl_CullDistance, too; drivers count it after these"
    built.remarks.notes.update(dict.fromkeys(clip, why))
    return clip


def merge(link: Link, built: BuiltIns, exact: bool) -> bool:
    """Duplicates among built-ins and varyings; whether there were any."""
    sides = _joined(link.outputs, built.outputs), _joined(link.inputs, built.inputs)
    both = Link(link.producer, link.consumer, sides, (0, 2 * BUILTIN_KEYS))
    both.gather()
    both.read_as_is = counted_clip_distances(built)
    before = [(key, loads) for key, loads in both.loads.items() if key >= BUILTIN_KEYS]
    done = dedup_outputs.dedup_outputs(both, exact)
    for key, loads in before:
        if all(i.op == LOAD_INPUT and i.imm[0] != key for i in loads):
            built.same[key] = loads[0].imm[0]
    for key, fate in both.remarks.fate.items():
        (built if key >= BUILTIN_KEYS else link).remarks.fate[key] = fate
    for key, note in both.remarks.notes.items():
        (built if key >= BUILTIN_KEYS else link).remarks.notes[key] = note
    link.remarks.cautions.update(both.remarks.cautions)
    forget_all(both)
    return done


def _joined(side: Interface, other: Interface) -> Interface:
    """The slots of two interfaces; nothing of the rest that tells of whole variables."""
    both = Interface()
    both.slots = {**side.slots, **other.slots}
    both.captured = side.captured
    both.pinned = side.pinned
    return both


def tell(built: BuiltIns) -> list[tuple[str, tuple[str, str]]]:
    """(name, (action, why)) of what became of the built-ins that the consumer read: components that
    met one fate together. Of what stays for no other reason than that it differs nothing is said:
    fixed functions, or the consumer, have it as they had it."""
    groups: dict[tuple[str, tuple[str, str]], str] = {}
    for key in built.asked:
        fate = built.remarks.fate.get(key)
        if fate is None and key in built.remarks.notes:
            fate = KEPT, built.remarks.notes[key]
        if fate is None:
            continue
        if key in built.remarks.cautions:
            fate = fate[0], f"{fate[1]}; {built.remarks.cautions[key]}"
        name, dot, lane = built.inputs.slots[key].name.partition(".")
        groups[name, fate] = groups.get((name, fate), dot) + lane
    fates: list[tuple[str, tuple[str, str]]] = []
    for (name, fate), lanes in groups.items():
        fates.append((name if lanes == _ALL else name + lanes, fate))
    fates += [(NAMES[b], (KEPT, why)) for b, why in sorted(built.obstacles.items())]
    return fates
