"""Random vertex and fragment shaders, in assembly, that compute with whole numbers of 8, 16, 32 and
64 bits, with and without signs; varyings that are flat. evaluate.py says what they compute.
"""

from __future__ import annotations

from random import Random

from tests.support.width_stage import EDGES, FOUR, SIZES, WORD, Type
from tests.support.width_values import COMPARES, Values

ATTRIBUTES = 2  # of four unsigned words each
TARGETS = 2


class Body(Values):
    """A shader that reads arrays of words, too."""

    def index(self, type: Type, size: int) -> str:
        """A number that is often in bounds."""
        r = self.r
        value = self.any(type, r.randint(0, 2))
        bound = self.constant(type, r.choice((1, 2, 3, size - 1, size - 1)))
        kind = r.randrange(9)
        if kind == 0:
            return self.emit("OpBitwiseAnd", type, value, self.constant(type, r.choice((1, 3, 5))))
        if kind == 1:
            return self.ext(r.choice(("UMin", "SMin")), type, value, bound)
        if kind == 2:
            low = self.ext(
                r.choice(("SMax", "UMax")), type, value, self.constant(type, r.choice((0, 1)))
            )
            return self.ext(r.choice(("UMin", "SMin")), type, low, bound)
        if kind == 3:
            op = "OpUMod" if type[0] == "u" else "OpSMod"
            return self.emit(r.choice((op, "OpSRem", "OpSMod")), type, value, bound)
        if kind == 4:
            rest = self.emit("OpSRem", type, value, bound)
            return self.ext(
                r.choice(("UMin", "SMin", "UMax", "SMax")),
                type,
                rest,
                self.constant(type, r.randrange(size)),
            )
        if kind == 5:
            by = self.constant((r.choice("ui"), r.choice(SIZES), 1), type[1] - r.choice((1, 2)))
            return self.emit("OpShiftRightLogical", type, value, by)
        if kind == 6:
            other = self.index((r.choice("ui"), *type[1:]), size)
            return self.emit(
                r.choice(("OpIAdd", "OpISub", "OpIMul")),
                type,
                other,
                self.constant(
                    type, self.some_bits(type[1]) if r.random() < 0.4 else r.choice((1, 2, -1))
                ),
            )
        if kind == 7:
            source = (r.choice("ui"), r.choice([w for w in SIZES if w != type[1]]), 1)
            other = self.index(source, size)
            if type[0] == "u":
                return self.emit(r.choice(("OpUConvert", "OpSConvert")), type, other)
            return self.emit("OpSConvert", type, other)
        return value

    def guarded_read(self, array: str, size: int) -> str:
        """An element if an index is in bounds, as one test or two say."""
        r = self.r
        type = (r.choice("ui"), r.choice(SIZES), 1)
        index = self.index(type, size)
        most = self.constant(type, size)
        held = self.emit("OpULessThan", ("b", 1, 1), index, most, keep=False)
        if r.random() < 0.5:
            at = self.constant(type, r.randrange(size))
            test = self.emit(r.choice(COMPARES), ("b", 1, 1), *r.sample((index, at), 2), keep=False)
            held = self.emit("OpLogicalAnd", ("b", 1, 1), held, test, keep=False)
        before, inside, merge = self.block, self.label("in"), self.label("merge")
        self.code += [
            f"OpSelectionMerge {merge} None",
            f"OpBranchConditional {held} {inside} {merge}",
        ]
        kept = self.held_apart()
        self.begin(inside)
        if r.random() < 0.5:
            at = self.constant(type, r.randrange(1 + size))
            test = self.emit(r.choice(COMPARES), ("b", 1, 1), *r.sample((index, at), 2), keep=False)
            deep, after = self.label("in"), self.label("merge")
            self.code += [
                f"OpSelectionMerge {after} None",
                f"OpBranchConditional {test} {deep} {after}",
            ]
            above = self.block
            self.begin(deep)
            value = self.read(array, index)
            self.code.append(f"OpBranch {after}")
            self.begin(after)
            value = self.emit(
                "OpPhi", WORD, value, deep, self.constant(WORD, 99), above, keep=False
            )
        else:
            value = self.read(array, index)
        last = self.block
        self.code.append(f"OpBranch {merge}")
        self.begin(merge)
        self.held = kept
        return self.emit("OpPhi", WORD, value, last, self.constant(WORD, 77), before)

    def loop_read(self, array: str, size: int) -> str:
        """The sum of elements that a counter names."""
        r = self.r
        type = (r.choice("ui"), r.choice(SIZES), 1)
        width = type[1]
        step = r.choice((1, 1, 2, 3, -1))
        first = self.constant(type, r.choice((0, 1, 2)) if step > 0 else size - r.choice((1, 2)))
        last = self.constant(
            type, r.choice((size - 1, size, 3)) if step > 0 else r.choice((0, 1, -1))
        )
        if r.random() < 0.1:
            first = self.constant(type, (1 << width) - 2)
        before, header, test = self.block, self.label("header"), self.label("test")
        body, latch, merge = self.label("body"), self.label("latch"), self.label("merge")
        compare = r.choice(COMPARES[1:])
        self.code.append(f"OpBranch {header}")
        kept = self.held_apart()
        i, total, next, sum = [self.label("p") for _ in range(4)]
        named = self.type(type)
        self.begin(header)
        zero = self.constant(WORD, 0)
        self.code += [
            f"{i} = OpPhi {named} {first} {before} {next} {latch}",
            f"{total} = OpPhi {self.type(WORD)} {zero} {before} {sum} {latch}",
            f"OpLoopMerge {merge} {latch} None", f"OpBranch {test}",
        ]  # fmt: skip
        self.begin(test)
        held = self.emit(compare, ("b", 1, 1), i, last, keep=False)
        self.code.append(f"OpBranchConditional {held} {body} {merge}")
        self.begin(body)
        value = self.read(array, i)
        times = self.emit("OpIMul", WORD, total, self.constant(WORD, 31), keep=False)
        self.code += [f"{sum} = OpIAdd {self.type(WORD)} {times} {value}", f"OpBranch {latch}"]
        self.begin(latch)
        by = self.constant((r.choice("ui"), width, 1), step)
        self.code += [f"{next} = OpIAdd {named} {i} {by}", f"OpBranch {header}"]
        self.begin(merge)
        self.held = kept
        self.held.setdefault(WORD, []).append(total)
        return total


Varying = tuple[Type, int, int]  # Location and Component


def varyings(r: Random, narrow: bool) -> list[Varying]:
    """``narrow``: scalars beside one vector."""
    found: list[Varying] = []
    for location in range(r.randint(3, 7)):
        if narrow:
            lanes = r.choice((2, 3, 3)) if location == 0 else 1
            found.append(((r.choice("ui"), 32, lanes), location, 0))
            continue
        letter, width = r.choice("uuuiif"), r.choice((16, 32, 32, 32, 64))
        if letter == "f" and width == 16:
            width = 32
        lanes = r.choice((1, 1, 1, 2, 3 if width < 64 else 2))
        component = r.choice((0, 0, 2 if lanes <= (2 if width < 64 else 1) else 0))
        found.append(((letter, width, lanes), location, component))
    return found


def producer(r: Random, crossing: list[Varying], narrow: bool, size: int, depth: int) -> Body:
    """A vertex shader; ``size``: of an array behind the varyings."""
    vert = Body(r)
    vert.position(ATTRIBUTES)
    for n in range(ATTRIBUTES):
        whole = vert.emit("OpLoad", FOUR, vert.variable("Input", FOUR, n, 0, False))
        for lane in range(4):
            vert.emit("OpCompositeExtract", WORD, whole, lane)
    name = vert.array("Output", size, len(crossing)) if size else ""
    for n in range(size):
        value = vert.any(WORD, r.choice((0, 0, 2)))
        vert.store(name, n, vert.constant((r.choice("ui"), r.choice(SIZES), 1), n), value)
    for type, location, component in crossing:
        if type[0] == "f":
            value = vert.emit("OpBitcast", type, vert.any(("u", *type[1:]), depth))
        elif narrow and type[2] == 1:
            value = vert.small(type, r.randint(0, 2))
        elif narrow:
            first = vert.held[WORD]
            parts = [vert.emit("OpNot", (type[0], 32, 1), first[n]) for n in range(type[2])]
            value = vert.emit("OpCompositeConstruct", type, *parts)
        else:
            value = vert.any(type, r.randint(1, depth))
        name = vert.variable("Output", type, location, component, False)
        vert.code.append(f"OpStore {name} {value}")
    return vert


def consumer(r: Random, crossing: list[Varying], narrow: bool, size: int, depth: int) -> Body:
    """A fragment shader."""
    frag, loaded = Body(r), []
    for type, location, component in crossing:
        value = frag.emit("OpLoad", type, frag.variable("Input", type, location, component, True))
        loaded.append((value, type))
        if type[0] == "f":
            frag.emit("OpBitcast", ("u", *type[1:]), value)
        elif type[2] > 1:
            for lane in range(type[2]):
                frag.emit("OpCompositeExtract", (*type[:2], 1), value, lane)
    array = frag.array("Input", size, len(crossing)) if size else ""
    for _ in range(r.randint(1, 3) if array else 0):
        r.choice((frag.guarded_read, frag.guarded_read, frag.loop_read))(array, size)
    if r.random() < 0.3:
        kind = (r.choice("ui"), r.choice(SIZES), 1)
        cases = {frag.some_bits(kind[1]) for _ in range(r.randint(1, 4))}
        frag.switched(kind, frag.any(kind, r.randint(0, 2)), sorted(cases))
    parts = frag.held[WORD][-4:] if array else []
    parts += [frag.folded(*one) for one in loaded] if narrow else []
    while len(parts) < 4 * TARGETS:
        if r.random() < 0.4:
            parts.append(frag.folded(*r.choice(loaded)))
        else:
            type = (r.choice("ui"), r.choice(SIZES), r.choice((1, 1, 2)))
            parts.append(frag.folded(frag.any(type, r.randint(1, depth)), type))
    frag.show(parts[: 4 * TARGETS])
    return frag


def program(seed: int, depth: int = 4, flow: bool = True) -> tuple[str, str]:
    """The texts of a vertex and a fragment shader. ``flow``: with arrays and loops, which may never
    end."""
    r = Random(seed)
    narrow = r.random() < 0.5
    crossing = varyings(r, narrow)
    size = r.randint(4, 7) if r.random() < 0.5 and flow else 0
    vert = producer(r, crossing, narrow, size, depth)
    return vert.text("Vertex"), consumer(r, crossing, narrow, size, depth).text("Fragment")


def attributes(seed: int, count: int) -> list[dict[tuple[int, int], int]]:
    """Random words, edges among them."""
    r = Random(seed)
    return [
        {
            (n, lane): r.choice(EDGES) & 0xFFFFFFFF if r.random() < 0.4 else r.getrandbits(32)
            for n in range(ATTRIBUTES) for lane in range(4)
        }
        for _ in range(count)
    ]  # fmt: skip
