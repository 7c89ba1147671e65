"""What instructions do: operations lane by lane, composites, whole operations, images."""

from __future__ import annotations

from spvlink.grammar import enums, glsl, info, ops
from spvlink.ir.core import Inst, name_of_set, says_nothing
from spvlink.verifier.paper.graph import CONST, Node, NotProvable
from spvlink.verifier.paper.pointers import TermAddress, part_of, with_part
from spvlink.verifier.paper.shapes import Value, mapped, parts
from spvlink.verifier.paper.walk import Walker

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

_NAMES: Final = {number: name[2:] for number, name in ops.NAMES.items()}
# Decorated with NoContraction these are computed as they stand.
_CONTRACTED: Final = frozenset(
    ("FAdd", "FSub", "FMul", "FDiv", "FRem", "FMod", "Dot", "VectorTimesScalar",
     "MatrixTimesVector", "VectorTimesMatrix", "MatrixTimesMatrix", "MatrixTimesScalar")
)  # fmt: skip
_CONVERSIONS: Final = frozenset((
    ops.OpConvertFToU, ops.OpConvertFToS, ops.OpConvertSToF, ops.OpConvertUToF, ops.OpUConvert,
    ops.OpSConvert, ops.OpFConvert, ops.OpQuantizeToF16, ops.OpSelect, ops.OpIsNan, ops.OpIsInf,
    ops.OpBitFieldInsert, ops.OpBitFieldSExtract, ops.OpBitFieldUExtract,
))  # fmt: skip
_IMPLICIT: Final = frozenset((
    ops.OpImageSampleImplicitLod, ops.OpImageSampleDrefImplicitLod,
    ops.OpImageSampleProjImplicitLod, ops.OpImageSampleProjDrefImplicitLod, ops.OpImageQueryLod,
    ops.OpImageGather, ops.OpImageDrefGather,
))  # fmt: skip
_LOOKUPS: Final = _IMPLICIT | frozenset((
    ops.OpImageSampleExplicitLod, ops.OpImageSampleDrefExplicitLod,
    ops.OpImageSampleProjExplicitLod, ops.OpImageSampleProjDrefExplicitLod, ops.OpImageFetch,
    ops.OpImageQuerySizeLod, ops.OpImageQuerySize, ops.OpImageQueryLevels, ops.OpImageQuerySamples,
    ops.OpImage, ops.OpSampledImage,
))  # fmt: skip
_WHOLE: Final = frozenset(
    ("Length", "Distance", "Normalize", "FaceForward", "Reflect", "Refract", "Determinant",
     "MatrixInverse", "PackSnorm4x8", "PackUnorm4x8", "PackSnorm2x16", "PackUnorm2x16",
     "PackHalf2x16", "UnpackSnorm2x16", "UnpackUnorm2x16", "UnpackHalf2x16", "UnpackSnorm4x8",
     "UnpackUnorm4x8", "ModfStruct", "FrexpStruct")
)  # fmt: skip


class Acts(Walker):
    """Instructions that change nothing."""

    imports: dict[Inst, str]
    tap: tuple[str, tuple[Node, ...]] | None = None  # where an input is interpolated

    def pure(self, inst: Inst) -> Value | None:
        """The value of an instruction without effects; None if it is none of those known."""
        op = inst.op
        composite = _COMPOSITES.get(op)
        if composite is not None:
            return composite(self, inst)
        if op == ops.OpExtInst:
            return self.extended(inst)
        if op in _LOOKUPS:
            return self.lookup(inst)
        if op in info.FLAGS and info.FLAGS[op] & info.DERIVATIVE and len(inst.args) == 1:
            args = [self.value(inst.args[0])]
            return self.lanes(_NAMES[op], inst, args, (), self.path)
        matrix = _MATRICES.get(op)
        if matrix is not None:
            return matrix(self, inst, [self.value(a) for a in inst.args])
        if op in _CONVERSIONS or info.FLAGS.get(op, 0) & info.LANEWISE:
            args = [self.value(arg) for arg in inst.args]
            if op == ops.OpSelect:
                args[0] = self.decides(inst.args[0])
            return self.lanes(_NAMES[op], inst, args, ())
        return None

    def decides(self, inst: Inst) -> Value:
        """What chooses, for each lane or for all."""
        if inst.op == ops.OpCompositeConstruct and len(set(inst.args)) == 1:
            inst = inst.args[0]  # all lanes choose alike
        if inst.type is not None and inst.type.op != ops.OpTypeVector:
            return self.decided(inst)
        return tuple([self.decided(inst, at) for at in range(len(parts(self.value(inst))))])

    def precise(self, inst: Inst, name: str) -> tuple[object, ...]:
        if name in _CONTRACTED and enums.Decoration_NoContraction in self.shapes.of(inst):
            return ("precise",)
        return ()

    def lanes(
        self, name: str, inst: Inst, args: list[Value], imm: tuple[object, ...],
        guard: Node | None = None,
    ) -> Value:  # fmt: skip
        """An operation on each component."""
        assert inst.type is not None
        imm = (*imm, *self.precise(inst, name))
        more = [] if guard is None else [guard]
        if inst.type.op != ops.OpTypeVector:
            return self.terms.op(name, self.shapes.kind(inst.type), [*args, *more], imm)
        kind = self.shapes.kind(inst.type.args[0])
        made = []
        for at in range(inst.type.imm[0]):
            row = [a[at] if isinstance(a, tuple) else a for a in args]
            made.append(self.terms.op(name, kind, [*row, *more], imm))
        return tuple(made)

    def whole(self, name: str, inst: Inst, args: list[Value], imm: tuple[object, ...]) -> Value:
        """An operation all of whose operands go into each scalar of its result."""
        assert inst.type is not None
        sizes = tuple([len(parts(a)) for a in args])
        flat = tuple([node for a in args for node in parts(a)])
        count = iter(range(1 << 16))

        def make(scalar: Inst) -> Node:
            mine = (next(count), *sizes, *imm)
            return self.graph.node(name, self.shapes.kind(scalar), flat, mine)

        return self.shapes.build(inst.type, make)

    # -- sets of instructions ----------------------------------------------------------------------

    def extended(self, inst: Inst) -> Value:
        name = self.imports.get(inst.args[0])
        if name is None:
            name = self.imports[inst.args[0]] = name_of_set(inst.args[0])
        if says_nothing(name):
            return None
        if name != "GLSL.std.450":
            raise NotProvable("an unknown set of instructions")
        number = inst.imm[0]
        word = glsl.NAMES[number]
        if number in (glsl.Glsl_InterpolateAtCentroid, glsl.Glsl_InterpolateAtSample,
                      glsl.Glsl_InterpolateAtOffset):  # fmt: skip
            return self.interpolated(inst, word)
        args = [self.value(a) for a in inst.args[1:]]
        if word == "Cross":
            return self.cross(args)
        if word in ("Modf", "Frexp"):
            return self.taken_apart(inst, word, args[0])
        if word == "PackDouble2x32":
            return self.joined("f64", args[0])
        if word == "UnpackDouble2x32":
            return self.split(args[0])
        if word in _WHOLE:
            return self.whole(f"glsl.{word}", inst, args, ())
        if not info.GLSL_FLAGS.get(number, 0) & info.LANEWISE:
            raise NotProvable(f"the instruction {word}")
        return self.lanes(f"glsl.{word}", inst, args, ())

    def interpolated(self, inst: Inst, word: str) -> Value:
        """An input at another point of the pixel."""
        self.tap = word, tuple([node for a in inst.args[2:] for node in parts(self.value(a))])
        value = self.load(self.value(inst.args[1]))
        self.tap = None
        return value

    def load(self, pointer: Value) -> Value:
        raise NotImplementedError

    def store(self, pointer: Value, value: Value) -> Value:
        raise NotImplementedError

    def taken_apart(self, inst: Inst, word: str, value: Value) -> Value:
        """A fraction; the whole number, or the exponent, goes through the pointer."""
        assert inst.args[2].type is not None
        type = inst.args[2].type.args[0]
        kind = self.shapes.kind(type.args[0] if type.op == ops.OpTypeVector else type)
        rest = mapped(value, lambda x: self.terms.op(f"glsl.{word}.rest", kind, [x]))
        self.store(self.value(inst.args[2]), rest)
        return self.lanes(f"glsl.{word}", inst, [value], ())

    def cross(self, args: list[Value]) -> Value:
        """Each component depends on four numbers."""
        a, b = args
        made = []
        for at in range(3):
            i, j = (at + 1) % 3, (at + 2) % 3
            made.append(self.graph.node("glsl.Cross", a[0].kind, (a[i], b[j], a[j], b[i])))
        return tuple(made)

    # -- bits --------------------------------------------------------------------------------------

    def joined(self, kind: str, words: Value) -> Node:
        """A 64-bit number of two words."""
        low, high = [self.terms.op("bits", "i32", [w]) for w in words]
        if low.op == high.op == "word" and low.args == high.args and (
            (low.imm, high.imm) == ((0,), (1,))
        ):  # fmt: skip
            return self.terms.op("bits", kind, [low.args[0]])
        if low.op == high.op == CONST:
            return self.graph.const(kind, low.bits | high.bits << 32)
        if kind == "i64":
            wide = [self.terms.op("UConvert", kind, [word]) for word in (low, high)]
            above = self.terms.op("IMul", kind, [wide[1], self.graph.const(kind, 1 << 32)])
            return self.terms.op("IAdd", kind, [wide[0], above])
        return self.graph.node("join", kind, (low, high))

    def split(self, value: Node) -> Value:
        """The words of a 64-bit number."""
        return tuple([self.terms.op("word", "i32", [value], (at,)) for at in (0, 1)])

    def bitcast(self, inst: Inst) -> Value:
        assert inst.type is not None
        value = self.value(inst.args[0])
        given = parts(value)
        vector = inst.type.op == ops.OpTypeVector
        kind = self.shapes.kind(inst.type.args[0] if vector else inst.type)
        count = inst.type.imm[0] if vector else 1
        if len(given) == count:
            made = [self.terms.op("bits", kind, [node]) for node in given]
        elif len(given) == 2 * count and kind[1:] == "64":
            made = [self.joined(kind, given[2 * at : 2 * at + 2]) for at in range(count)]
        elif 2 * len(given) == count and given[0].kind[1:] == "64":
            words = [word for node in given for word in self.split(node)]
            made = [self.terms.op("bits", kind, [word]) for word in words]
        else:
            return self.whole("Bitcast", inst, [value], ())
        return tuple(made) if vector else made[0]

    # -- composites --------------------------------------------------------------------------------

    def extract(self, inst: Inst) -> Value:
        path = tuple([self.graph.const("i32", at) for at in inst.imm])
        return part_of(self.terms, self.value(inst.args[0]), path)

    def insert(self, inst: Inst) -> Value:
        path = tuple([self.graph.const("i32", at) for at in inst.imm])
        return with_part(self.terms, self.value(inst.args[1]), path, self.value(inst.args[0]))

    def construct(self, inst: Inst) -> Value:
        assert inst.type is not None
        given = [self.value(a) for a in inst.args]
        if inst.type.op == ops.OpTypeVector:  # of scalars and shorter vectors
            return tuple([node for value in given for node in parts(value)])
        return tuple(given)

    def shuffle(self, inst: Inst) -> Value:
        lanes = [*self.value(inst.args[0]), *self.value(inst.args[1])]
        none = self.graph.undefined(lanes[0].kind)
        return tuple([none if at == 0xFFFFFFFF else lanes[at] for at in inst.imm])

    def extract_dynamic(self, inst: Inst) -> Value:
        return part_of(self.terms, self.value(inst.args[0]), (self.node(inst.args[1]),))

    def insert_dynamic(self, inst: Inst) -> Value:
        vector, new, index = [self.value(a) for a in inst.args]
        return with_part(self.terms, vector, (index,), new)

    def copy(self, inst: Inst) -> Value:
        return self.value(inst.args[0])

    def transpose(self, inst: Inst) -> Value:
        return tuple(zip(*self.value(inst.args[0])))

    def undefined(self, inst: Inst) -> Value:
        assert inst.type is not None
        return self.shapes.undefined(self.graph, inst.type)

    def any_all(self, inst: Inst) -> Value:
        nodes = parts(self.value(inst.args[0]))
        joined = nodes[0]
        for node in nodes[1:]:
            either = inst.op == ops.OpAny
            joined = self.graph.either(joined, node) if either else self.graph.both(joined, node)
        return joined

    # -- products of vectors and matrices ----------------------------------------------------------

    def dot(self, name: str, inst: Inst, a: Value, b: Value) -> Node:
        """The sum of products."""
        flat = [node for pair in zip(a, b) for node in pair]
        return self.terms.op(name, flat[0].kind, flat, self.precise(inst, _NAMES[inst.op]))

    def times_vector(self, inst: Inst, args: list[Value]) -> Value:
        matrix, vector = args
        return tuple([self.dot("row", inst, row, vector) for row in zip(*matrix)])

    def vector_times(self, inst: Inst, args: list[Value]) -> Value:
        vector, matrix = args
        return tuple([self.dot("column product", inst, column, vector) for column in matrix])

    def times_matrix(self, inst: Inst, args: list[Value]) -> Value:
        left, right = args
        rows = list(zip(*left))
        return tuple(
            [tuple([self.dot("row", inst, row, column) for row in rows]) for column in right]
        )

    def times_scalar(self, inst: Inst, args: list[Value]) -> Value:
        value, scalar = args
        name = _NAMES[inst.op]
        imm = self.precise(inst, name)

        def scaled(part: Value) -> Value:
            if isinstance(part, tuple):
                return tuple([scaled(p) for p in part])
            return self.terms.op("FMul", part.kind, [part, scalar], imm)

        return scaled(value)

    def outer(self, inst: Inst, args: list[Value]) -> Value:
        a, b = args
        return tuple([tuple([self.terms.op("FMul", x.kind, [x, y]) for x in a]) for y in b])

    def dot_product(self, inst: Inst, args: list[Value]) -> Value:
        return self.dot("Dot", inst, args[0], args[1])

    # -- images ------------------------------------------------------------------------------------

    def lookup(self, inst: Inst) -> Value:
        """A lookup, or a question about an image. One with implicit derivatives depends on which
        lanes are there: on its path."""
        args = [self.value(a) for a in inst.args]
        for value in args:
            if isinstance(value, TermAddress):
                raise NotProvable("an image by pointer")
        if inst.op == ops.OpSampledImage:
            return self.graph.node("SampledImage", "o", tuple(args))
        if inst.op == ops.OpImage:
            if args[0].op == "SampledImage":
                return args[0].args[0]
            return self.graph.node("Image", "o", tuple(args))
        name = _NAMES[inst.op]
        if inst.op in _IMPLICIT:
            args.append(self.path)
        assert inst.type is not None
        return self.whole(name, inst, args, inst.imm)


_COMPOSITES: Final = {
    ops.OpCompositeExtract: Acts.extract,
    ops.OpCompositeInsert: Acts.insert,
    ops.OpCompositeConstruct: Acts.construct,
    ops.OpVectorShuffle: Acts.shuffle,
    ops.OpVectorExtractDynamic: Acts.extract_dynamic,
    ops.OpVectorInsertDynamic: Acts.insert_dynamic,
    ops.OpCopyObject: Acts.copy,
    ops.OpCopyLogical: Acts.copy,
    ops.OpTranspose: Acts.transpose,
    ops.OpUndef: Acts.undefined,
    ops.OpAny: Acts.any_all,
    ops.OpAll: Acts.any_all,
    ops.OpBitcast: Acts.bitcast,
}
_MATRICES: Final = {
    ops.OpMatrixTimesVector: Acts.times_vector,
    ops.OpVectorTimesMatrix: Acts.vector_times,
    ops.OpMatrixTimesMatrix: Acts.times_matrix,
    ops.OpMatrixTimesScalar: Acts.times_scalar,
    ops.OpVectorTimesScalar: Acts.times_scalar,
    ops.OpOuterProduct: Acts.outer,
    ops.OpDot: Acts.dot_product,
}
