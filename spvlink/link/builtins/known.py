"""What is known of built-ins in the stage that reads them.

    VS never writes gl_ViewportIndex        FS: gl_ViewportIndex is 0
    VS never writes gl_PointSize            GS: gl_in[i].gl_PointSize is 1
    VS: gl_Layer = n; outLayer = n          FS: outLayer is gone, its loads read gl_Layer

What nobody writes is undefined, so any value is right, but where fixed functions have one: Layer
and ViewportIndex are 0 then (Vulkan, "Built-In Variables"), unless there are views, which may
choose them (``opening``); points have the size 1 with maintenance5. These values are read.

A built-in and a varying may say the same. The built-in is stored anyway, so it is the varying that
goes.
"""

from __future__ import annotations

from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import LOAD_INPUT, STORE_OUTPUT, Inst
from spvlink.ir.edit import become, sweep
from spvlink.ir.known import forget_all
from spvlink.ir.slot import BUILT_IN_KEYS, Interface, built_in_key, built_in_of
from spvlink.link.border.link import Link
from spvlink.link.border.values import single_value
from spvlink.link.builtins.opening import BuiltIns
from spvlink.link.builtins.side import NAMES
from spvlink.link.dead import dead_varyings
from spvlink.link.resources.transfer import Transfer
from spvlink.link.values import dedup_outputs, propagate_values
from spvlink.pipeline import KEPT, UNDEFINED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_SIZE: Final = built_in_key(enums.BuiltIn_PointSize, 0)
_ONE: Final = 0x3F800000  # 1.0
_ALL: Final = ".xyzw"  # of a position


def dead(built: Link) -> bool:
    """What nobody reads, and what nobody writes; whether there was any."""
    built.gather()
    if dead_varyings.drop_undefined(built):
        return True
    if _SIZE in built.loads and _SIZE not in built.stores:
        module = built.consumer.module
        assert module.entry is not None
        for load in built.loads[_SIZE]:
            assert load.type is not None
            become(module, load, types.constant(module, load.type, _ONE))
        sweep(module, module.entry.function)
        why = f"the {built.producer.name} stage never writes it; read as one"
        built.fate[_SIZE] = (UNDEFINED, why)
        return True
    return dead_varyings.dead_varyings(built)


def move(built: BuiltIns, transfer: Transfer, exact: bool, limit: int) -> bool:
    """Propagate what may be; whether code of the consumer that is not about built-ins changed."""
    built.gather()
    for key in built.loads:
        stored = single_value(built, key)
        bits = types.bits_of(stored) if stored is not None else None
        if bits is not None and built.always_stored(key):
            built.told[key] = bits
    vectors = {
        k
        for k in built.told.keys() & built.loads.keys()
        if built.into[built_in_of(k)[0]].type.op == ops.OpTypeVector
    }
    handed, used = _uses(built, vectors) if vectors else (vectors, vectors)
    built.held = (vectors - handed - used) | _counted(built)
    before = built.loads.keys()
    propagate_values.propagate_values(built, transfer, exact, limit)
    built.gather()
    quiet = (before - built.loads.keys()) & (vectors - used)
    for key in quiet:  # as nothing became of it here
        del built.fate[key]
    return before - built.loads.keys() != quiet


def _counted(built: BuiltIns) -> set[int]:
    """Clip distances that are read in front of cull distances. Both are one array to Mesa, in which
    each shader counts cull distances behind the clip distances that it uses itself (seen on
    lavapipe 25.0): a fragment shader that reads only the former finds the latter there."""
    distances: dict[int, set[int]] = {}
    for key in built.loads:
        distances.setdefault(built_in_of(key)[0], set()).add(key)
    clip = distances.get(enums.BuiltIn_ClipDistance, set())
    if built.consumer.name != "frag" or enums.BuiltIn_CullDistance not in distances:
        return set()
    why = "gl_CullDistance is read, too, and drivers count its elements behind these"
    built.notes.update(dict.fromkeys(clip, why))
    return clip


def _uses(built: BuiltIns, keys: set[int]) -> tuple[set[int], set[int]]:
    """Which of these constants go on as parts of built-ins, and which ones code uses in another way
    than in a vector with values that are none. A vector that is used whole is loaded whole in the
    end (``closing``), and its constants do no good."""
    loads = {load: key for key in keys for load in built.loads[key]}
    entry = built.consumer.module.entry
    assert entry is not None
    handed: set[int] = set()
    used: set[int] = set()
    for block in entry.function.blocks:
        for inst in block.insts:
            if loads.keys().isdisjoint(inst.args):
                continue
            if inst.op == STORE_OUTPUT and inst.imm[0] >= BUILT_IN_KEYS:
                handed.add(loads.get(inst.args[0], -1))
            elif not _is_mixed(inst, loads):
                used.update([loads[a] for a in inst.args if a in loads])
    return handed, used


def _is_mixed(inst: Inst, constants: dict[Inst, int]) -> bool:
    """Whether an instruction puts all components of a built-in together, some of which differ."""
    if inst.op != ops.OpCompositeConstruct:
        return False
    return all(a.op == LOAD_INPUT and a.imm[0] >= BUILT_IN_KEYS for a in inst.args) and any(
        a not in constants for a in inst.args
    )


def merge(link: Link, built: BuiltIns, exact: bool) -> bool:
    """Duplicates among built-ins and varyings; whether there were any."""
    sides = _joined(link.outputs, built.outputs), _joined(link.inputs, built.inputs)
    both = Link(link.producer, link.consumer, sides, (0, 2 * BUILT_IN_KEYS))
    both.gather()
    both.held = _counted(built)
    before = [(key, loads) for key, loads in both.loads.items() if key >= BUILT_IN_KEYS]
    done = dedup_outputs.dedup_outputs(both, exact)
    for key, loads in before:
        if all(i.op == LOAD_INPUT and i.imm[0] != key for i in loads):
            built.same[key] = loads[0].imm[0]
    for key, fate in both.fate.items():
        (built if key >= BUILT_IN_KEYS else link).fate[key] = fate
    for key, note in both.notes.items():
        (built if key >= BUILT_IN_KEYS else link).notes[key] = note
    link.cautions.update(both.cautions)
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
        fate = built.fate.get(key)
        if fate is None and key in built.notes:
            fate = KEPT, built.notes[key]
        if fate is None:
            continue
        if key in built.cautions:
            fate = fate[0], f"{fate[1]}; {built.cautions[key]}"
        name, dot, lane = built.inputs.slots[key].name.partition(".")
        groups[name, fate] = groups.get((name, fate), dot) + lane
    told: list[tuple[str, tuple[str, str]]] = []
    for (name, fate), lanes in groups.items():
        told.append((name if lanes == _ALL else name + lanes, fate))
    told += [(NAMES[b], (KEPT, why)) for b, why in sorted(built.obstacles.items())]
    return told
