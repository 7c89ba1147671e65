"""Random numbers of 8, 16, 32 and 64 bits, with and without signs, and floats."""

from __future__ import annotations

import struct

from tests.support.width_stage import CODES, EDGES, SIZES, WORD, Stage, Type, name_of

_BINARY = ("OpIAdd", "OpISub", "OpIMul", "OpBitwiseAnd", "OpBitwiseOr", "OpBitwiseXor")
_SHIFTS = ("OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic")
COMPARES = tuple(
    f"Op{c}" for c in (
        "IEqual", "INotEqual", "ULessThan", "SLessThan", "ULessThanEqual", "SLessThanEqual",
        "UGreaterThan", "SGreaterThan", "UGreaterThanEqual", "SGreaterThanEqual",
    )
)  # fmt: skip


class Values(Stage):
    """A shader that has random values."""

    def some_bits(self, width: int) -> int:
        r = self.r
        if r.random() < 0.7:
            return r.choice(EDGES) & ((1 << width) - 1)
        return r.getrandbits(width)

    def any(self, type: Type, depth: int) -> str:
        """A value of an integer type."""
        r = self.r
        known = self.held.get(type, [])
        if depth <= 0 or r.random() < 0.1:
            if known and r.random() < 0.85:
                return r.choice(known)
            if type[0] == "f":
                return self.some_float(type)
            if type[2] == 1 and r.random() < 0.8:
                return self.converted(type, 0)
            return self.constant(type, self.some_bits(type[1]))
        if type[0] == "f":
            return self.real(type, depth - 1)
        makers = (
            self.settled, self.truncated, self.binary, self.binary, self.shift, self.masked,
            self.divided, self.unary, self.chosen, self.converted, self.converted, self.cast,
            self.extreme, self.part, self.field, self.extended,
        )  # fmt: skip
        return r.choice(makers)(type, depth - 1)

    def other_sign(self, type: Type) -> Type:
        return (self.r.choice("ui"), *type[1:])

    def binary(self, type: Type, depth: int) -> str:
        a = self.any(self.other_sign(type), depth)
        b = self.any(self.other_sign(type), self.r.randint(0, max(depth, 0)))
        if self.r.random() < 0.35:
            b = self.constant(self.other_sign(type), self.some_bits(type[1]))
        return self.emit(self.r.choice(_BINARY), type, *self.r.sample((a, b), 2))

    def masked(self, type: Type, depth: int) -> str:
        a = self.any(self.other_sign(type), depth)
        bits = self.r.choice((1, 3, 0xFF, 0xF0, 0xFFFF, 0xFF00000000, 1 << self.r.randrange(64)))
        mask = self.constant(self.other_sign(type), bits & ((1 << type[1]) - 1))
        return self.emit("OpBitwiseAnd", type, a, mask)

    def amount(self, width: int, lanes: int) -> str:
        """A shift amount of any width that is below ``width``."""
        r = self.r
        own = (r.choice("ui"), r.choice(SIZES), lanes)
        most = width - 1
        if r.random() < 0.75:
            return self.constant(own, r.choice((0, 1, most, width // 2, r.randrange(width))))
        return self.emit("OpBitwiseAnd", own, self.any(own, 0), self.constant(own, most))

    def shift(self, type: Type, depth: int) -> str:
        a = self.any(self.other_sign(type), depth)
        return self.emit(self.r.choice(_SHIFTS), type, a, self.amount(type[1], type[2]))

    def divided(self, type: Type, depth: int) -> str:
        r, width = self.r, type[1]
        most = (1 << width) - 1
        by = r.choice([b for b in (1, 2, 3, 7, 8, 10, 64, 100, 255, 1 << width // 2) if b <= most])
        if type[0] == "u" and r.random() < 0.6:
            op = r.choice(("OpUDiv", "OpUMod"))
            own = type
        else:
            op, own = r.choice(("OpSDiv", "OpSRem", "OpSMod")), type
            if r.random() < 0.4 and by != 1:
                by = -by & most
        return self.emit(op, type, self.any(own, depth), self.constant(own, by))

    def unary(self, type: Type, depth: int) -> str:
        ops = ["OpNot", "OpSNegate"]
        if type[1] == 32:
            ops += ["OpBitReverse", "OpBitCount"]
        op = self.r.choice(ops)
        own = type if op == "OpBitReverse" else self.other_sign(type)
        return self.emit(op, type, self.any(own, depth))

    def small(self, type: Type, depth: int) -> str:
        """A number of 32 bits that looks as if it needed few."""
        r = self.r
        wide = (r.choice("uui"), r.choice((8, 16, 32, 64, 64, 64)), 1)
        maker = r.choice((self.shift, self.shift, self.masked, self.divided, self.extreme,
                          self.chosen, self.binary))  # fmt: skip
        value = maker(wide, depth)
        if wide[1] == 32:
            return value if wide == type else self.emit("OpBitcast", type, value)
        if type[0] == "i" and r.random() < 0.5:
            return self.emit("OpSConvert", type, value)
        made = self.emit("OpUConvert", WORD, value)
        return made if type[0] == "u" else self.emit("OpBitcast", type, made)

    def chosen(self, type: Type, depth: int) -> str:
        r = self.r
        compared = (r.choice("ui"), r.choice(SIZES), type[2])
        a = self.any(compared, depth)
        b = self.any(self.other_sign(compared), 0)
        if r.random() < 0.6:
            b = self.constant(compared, self.some_bits(compared[1]))
        held = self.emit(r.choice(COMPARES), ("b", 1, type[2]), a, b, keep=False)
        ways = [self.any(type, depth), self.any(type, 0)]
        if r.random() < 0.3:
            ways = [self.constant(type, self.some_bits(type[1])) for _ in ways]
        return self.emit("OpSelect", type, held, *ways)

    def converted(self, type: Type, depth: int) -> str:
        """From another width, or through one."""
        r = self.r
        letter, width, lanes = type
        source = (r.choice("ui"), r.choice([w for w in SIZES if w != width]), lanes)
        if depth <= 0:
            known = [t for t in self.held if t[0] in "ui" and t[2] == lanes and t[1] != width]
            if not known:
                return self.constant(type, self.some_bits(width))
            source = r.choice(known)
        value = self.any(source, depth)
        if letter == "u":
            return self.emit(r.choice(("OpUConvert", "OpSConvert")), type, value)
        if r.random() < 0.5:
            return self.emit("OpSConvert", type, value)
        made = self.emit("OpUConvert", ("u", width, lanes), value)
        return self.emit("OpBitcast", type, made)

    def cast(self, type: Type, depth: int) -> str:
        """From another sign, or other lanes."""
        r = self.r
        letter, width, lanes = type
        shapes = [(width, lanes)]
        for other in SIZES:
            count = width * lanes // other
            if width * lanes % other == 0 and 1 <= count <= 4:
                shapes.append((other, count))
        to = r.choice(shapes)
        source = (r.choice("ui"), *to)
        if source == type:
            source = ("i" if letter == "u" else "u", *to)
        value = self.any(source, depth)
        if r.random() < 0.1 and width * lanes in (32, 64) and to[1] == 1 and to[0] >= 32:
            value = self.emit("OpBitcast", ("f", to[0], 1), value)
        return self.emit("OpBitcast", type, value)

    def extreme(self, type: Type, depth: int) -> str:
        r = self.r
        sign = r.choice("US")
        own = type
        a = self.any(own, depth)
        b = self.any(own, 0) if r.random() < 0.4 else self.constant(own, self.some_bits(type[1]))
        return self.ext(r.choice((f"{sign}Min", f"{sign}Max")), type, a, b)

    def some_float(self, type: Type) -> str:
        """A constant float."""
        value = self.r.choice((0.0, 1.0, -1.0, 0.5, 3.0, 255.0, 1.25, -7.0, 2.0**-14, 60000.0))
        bits = int.from_bytes(struct.pack(CODES[type[1]], value), "little")
        return self.constant(type, bits)

    def real(self, type: Type, depth: int) -> str:
        r = self.r
        kind = r.randrange(7)
        if kind < 2:
            source = (r.choice("ui"), r.choice(SIZES), type[2])
            op = "OpConvertUToF" if r.random() < 0.5 else "OpConvertSToF"
            return self.emit(op, type, self.any(source, depth))
        if kind == 2:
            source = ("f", r.choice([w for w in (16, 32, 64) if w != type[1]]), type[2])
            return self.emit("OpFConvert", type, self.any(source, depth))
        if kind == 3:
            return self.emit("OpBitcast", type, self.any(("u", *type[1:]), depth))
        if kind == 4:
            which = r.choice(("FAbs", "Floor", "Trunc", "FSign"))
            return self.ext(which, type, self.any(type, depth))
        a, b = self.any(type, depth), self.any(type, 0)
        return self.emit(r.choice(("OpFAdd", "OpFSub", "OpFMul")), type, a, b)

    def truncated(self, type: Type, depth: int) -> str:
        """Of a float that is small enough."""
        r = self.r
        float, few = ("f", r.choice((16, 32, 64)), type[2]), (r.choice("ui"), 8, type[2])
        if float[1] == type[1] and r.random() < 0.3:
            return self.emit("OpBitcast", type, self.any(float, depth))
        signed = type[0] == "i" or r.random() < 0.3
        number = self.any(few, depth)
        if type[1] == 8:
            number = self.emit("OpBitwiseAnd", few, number, self.constant(few, 127))
        value = self.emit("OpConvertSToF" if signed else "OpConvertUToF", float, number)
        if r.random() < 0.4:
            half = {16: 0x3800, 32: 0x3F000000, 64: 0x3FE0000000000000}[float[1]]
            value = self.emit("OpFMul", float, value, self.constant(float, half))
        return self.emit("OpConvertFToS" if signed else "OpConvertFToU", type, value)

    def settled(self, type: Type, depth: int) -> str:
        """An operation on specialization constants."""
        if depth <= 0 or type[2] > 1:
            return self.constant(type, self.some_bits(type[1]))
        return self.special(type, depth)

    def special(self, type: Type, depth: int) -> str:
        r = self.r
        letter, width, _ = type
        self.specials += 1
        name = f"%s{self.specials}"
        if depth <= 0:
            bits = self.some_bits(width)
            value = bits - (1 << width) if letter == "i" and bits >> (width - 1) else bits
            self.types[name] = f"OpSpecConstant {self.type(type)} {value}"
            self.notes.append(f"OpDecorate {name} SpecId {self.specials}")
            return name
        named = self.type(type)
        kind = r.randrange(5)
        if kind == 0:
            source = (r.choice("ui"), r.choice([w for w in SIZES if w != width]), 1)
            code = (
                f"{'SConvert' if letter == 'i' else 'UConvert'} {self.special(source, depth - 1)}"
            )
        elif kind == 1:
            own = self.special(type, depth - 1)
            by = r.choice((1, 3, 7, 100, (1 << width) - 3)) & ((1 << width) - 1)
            ops = ("UDiv", "UMod", "SRem") if letter == "u" else ("SDiv", "SRem", "SMod")
            code = f"{r.choice(ops)} {own} {self.constant(type, by)}"
        elif kind == 2:
            own = self.special(self.other_sign(type), depth - 1)
            by = self.constant((r.choice("ui"), r.choice(SIZES), 1), r.randrange(width))
            code = f"{r.choice(_SHIFTS)[2:]} {own} {by}"
        elif kind == 3:
            compared = (r.choice("ui"), r.choice(SIZES), 1)
            self.type(("b", 1, 1))
            a, b = (
                self.special(compared, depth - 1),
                self.constant(compared, self.some_bits(compared[1])),
            )
            self.types[f"{name}c"] = f"OpSpecConstantOp %b1 {r.choice(COMPARES)[2:]} {a} {b}"
            ways = self.special(type, 0), self.constant(type, self.some_bits(width))
            code = f"Select {name}c {ways[0]} {ways[1]}"
        else:
            a, b = self.special(self.other_sign(type), depth - 1), self.special(type, 0)
            code = f"{r.choice(_BINARY)[2:]} {a} {b}"
        self.types[name] = f"OpSpecConstantOp {named} {code}"
        return name

    def extended(self, type: Type, depth: int) -> str:
        """A carry, a borrow or a part of a product; a double put together."""
        r = self.r
        if type == ("u", 64, 1):
            words = self.any(("u", 32, 2), depth)
            made = self.ext("PackDouble2x32", ("f", 64, 1), words)
            return self.emit("OpBitcast", type, made)
        if type == ("u", 32, 2):
            made = self.emit("OpBitcast", ("f", 64, 1), self.any(("u", 64, 1), depth))
            return self.ext("UnpackDouble2x32", type, made)
        if type[0] != "u":
            return self.binary(type, depth)
        pair = f"%pair_{name_of(type)[1:]}"
        self.types.setdefault(pair, f"OpTypeStruct {self.type(type)} {self.type(type)}")
        op = r.choice(("OpIAddCarry", "OpISubBorrow", "OpUMulExtended", "OpSMulExtended"))
        a, b = self.any(type, depth), self.constant(type, self.some_bits(type[1]))
        self.number += 1
        self.code.append(f"%x{self.number} = {op} {pair} {a} {b}")
        return self.emit("OpCompositeExtract", type, f"%x{self.number}", r.randrange(2))

    def part(self, type: Type, depth: int) -> str:
        """Out of a vector, or a vector put together."""
        r = self.r
        letter, width, lanes = type
        if lanes > 1:
            parts = [self.any((letter, width, 1), depth if n == 0 else 0) for n in range(lanes)]
            return self.emit("OpCompositeConstruct", type, *parts)
        count = r.choice((2, 3, 4))
        value = self.any((letter, width, count), depth)
        return self.emit("OpCompositeExtract", type, value, r.randrange(count))

    def field(self, type: Type, depth: int) -> str:
        r = self.r
        if type[1] != 32:
            return self.shift(type, depth)
        at = r.randrange(32)
        count = r.choice((0, 1, 5, 8, 16, 32 - at))
        count = min(count, 32 - at)
        ends = [self.constant((r.choice("ui"), r.choice(SIZES), 1), n) for n in (at, count)]
        op = r.choice(("OpBitFieldUExtract", "OpBitFieldSExtract", "OpBitFieldInsert"))
        args = [self.any(type, depth)]
        if op == "OpBitFieldInsert":
            args.append(self.any(type, 0))
        return self.emit(op, type, *args, *ends)
