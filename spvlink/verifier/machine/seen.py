"""What can be seen of a pipeline from outside, and where two that ran on the same inputs differ."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from spvlink.verifier.machine.memory import MemoryEntry
from spvlink.verifier.machine.values import Array, Tree, V, rows
from spvlink.verifier.verdict import Place

NEAR: Final = 1e-4  # docs/explanation/proof.md: a part in 10,000 of the value, or of 1.0
NEAR_DOUBLE: Final = 1e-6  # the least that counts where floats were computed as doubles
UNDEFINED: Final = "undefined"
NEAR_FINE: Final = 1e-9  # of what is double itself


class Seen:
    """All that one run showed: (stage, name) -> the values, and stores in their order."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], V] = {}
        self.fine: set[tuple[str, str]] = set()  # doubles
        self.counts: dict[tuple[str, str], int] = {}
        self.stores: dict[str, list[MemoryEntry]] = {}
        self.doubts: list[str] = []  # why a difference may be none

    def add(self, stage: str, name: str, value: Tree, count: int) -> None:
        """Every scalar of a tree under a name of its own."""
        if isinstance(value, V):
            parts = rows(value)
            for n, part in enumerate(parts):
                key = stage, name if value.d.ndim == 1 else f"{name}.{'xyzw'[n]}"
                self.values[key] = part
                self.counts[key] = count
        else:
            for n, part in enumerate(value):
                self.add(stage, f"{name}[{n}]", part, count)


class SeenDifference:
    """Where two runs part."""

    def __init__(self, place: Place, before: object, after: object, lane: int) -> None:
        self.place = place
        self.before = before
        self.after = after
        self.lane = lane


def unlike(a: Array, b: Array, exact: bool, loose: bool, fine: bool = False) -> Array:
    """Where numbers differ by more than they may."""
    if a.dtype != b.dtype and {a.dtype.kind, b.dtype.kind} == {"f", "u"}:
        # the same bits under another type
        a, b = (x.view(np.float32) if x.dtype == np.uint32 else x for x in (a, b))
        a, b = a.astype(np.float64), b.astype(np.float64)
    if a.dtype != b.dtype:
        return np.ones(np.broadcast(a, b).shape, dtype=bool)
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    both_nan = np.isnan(a) & np.isnan(b)
    if exact:
        signs = np.signbit(a) != np.signbit(b)
        return np.asarray(~both_nan & ((a != b) | ((a == 0) & signs)))
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(a), np.abs(b)).astype(np.float64)
        floor = NEAR_DOUBLE if loose else NEAR
        part, floor = (NEAR_FINE, NEAR_FINE) if fine else (NEAR, floor)
        near = np.abs(a.astype(np.float64) - b) <= np.maximum(part * size, floor)
    return np.asarray(~(near | both_nan | (a == b)))


def first_difference(
    before: Seen, after: Seen, exact: bool, loose: bool, trusted: bool = False
) -> SeenDifference | None:
    """``trusted``: an undefined value is what the interpreter happened to compute."""
    for key, value in before.values.items():
        count = before.counts[key]
        known = np.ones(count, dtype=bool)
        if value.u is not None:
            known = ~np.broadcast_to(value.u, (count,))
        if not known.any():
            continue
        place = Place(*key)
        other = after.values.get(key)
        lane = int(np.argmax(known))
        if other is None:
            return SeenDifference(place, _shown(value.d, lane), "not written", lane)
        if after.counts[key] != count:
            return SeenDifference(place, f"{count} values", f"{after.counts[key]} values", 0)
        bad = unlike(value.d, other.d, exact, loose, key in before.fine)
        bad = np.broadcast_to(bad, (count,)) & known
        if other.u is not None and not trusted:
            bad = bad | (known & np.broadcast_to(other.u, (count,)))
        if bad.any():
            lane = int(np.argmax(bad))
            shown: object = _shown(other.d, lane)
            if other.u is not None and np.broadcast_to(other.u, (count,))[lane]:
                shown = UNDEFINED
            return SeenDifference(place, _shown(value.d, lane), shown, lane)
    for key, value in after.values.items():
        if key not in before.values and (value.u is None or not value.u.all()):
            return SeenDifference(Place(*key), "not written", _shown(value.d, 0), 0)
    for stage in {**before.stores, **after.stores}:
        difference = _stores(stage, before.stores.get(stage, []), after.stores.get(stage, []),
                        exact, loose, trusted)  # fmt: skip
        if difference is not None:
            return difference
    return None


def _shown(d: Array, lane: int) -> Any:
    return d[lane if len(d) > 1 else 0].item()


class _Sequence:
    """The stores of a stage, invocation by invocation, each in its order."""

    def __init__(self, entries: list[MemoryEntry]) -> None:
        lanes = [e.lanes for e in entries]
        self.names = [e.place for e in entries]
        self.kinds = [e.kind for e in entries]
        which = [np.full(len(e.lanes), n) for n, e in enumerate(entries)]
        if not entries:
            self.lanes = self.at = self.which = np.zeros(0, dtype=np.int64)
            self.value = np.zeros(0)
            self.u = np.zeros(0, dtype=bool)
            return
        order = np.argsort(np.concatenate(lanes), kind="stable")
        self.lanes = np.concatenate(lanes)[order]
        self.which = np.concatenate(which)[order]
        self.at = np.concatenate([e.at for e in entries])[order]
        # integers of 64 bits keep all of them
        self.value = np.concatenate([e.value.astype(object) for e in entries])[order]
        marks = [np.zeros(len(e.lanes), dtype=bool) if e.u is None else e.u for e in entries]
        self.u = np.concatenate(marks)[order]


def _stores(
    stage: str, before: list[MemoryEntry], after: list[MemoryEntry], exact: bool, loose: bool,
    trusted: bool,
) -> SeenDifference | None:  # fmt: skip
    a, b = _Sequence(before), _Sequence(after)
    size = min(len(a.lanes), len(b.lanes))
    for n in range(size):
        name, other = a.names[a.which[n]], b.names[b.which[n]]
        where = Place(stage, f"the store to {name}")
        if a.lanes[n] != b.lanes[n] or name != other:
            return SeenDifference(Place(stage, "the order of stores"), name, other, int(a.lanes[n]))
        if a.u[n]:
            continue
        if a.at[n] != b.at[n]:
            return SeenDifference(where, int(a.at[n]), int(b.at[n]), int(a.lanes[n]))
        kind = a.kinds[a.which[n]]
        dtype = object if kind == "int" else np.float64
        x, y = np.array([a.value[n]], dtype=dtype), np.array([b.value[n]], dtype=dtype)
        is_unknown = b.u[n] and not trusted
        if is_unknown or unlike(x, y, exact, loose, kind == "double")[0]:
            shown = UNDEFINED if b.u[n] else b.value[n]
            return SeenDifference(where, a.value[n], shown, int(a.lanes[n]))
    if len(a.lanes) != len(b.lanes):
        place = Place(stage, "the number of stores")
        return SeenDifference(place, len(a.lanes), len(b.lanes), 0)
    return None
