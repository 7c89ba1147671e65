"""Store values of a whole patch, or of a whole mesh workgroup, once.

    control:    out vec4 tint[];                         ->   patch out vec4 tint;
                tint[gl_InvocationID] = c[0] * pc.k           tint = c[0] * pc.k
    evaluation: f(tint[0], tint[2])                      ->   f(tint, tint)

    mesh:       out vec4 tint[];                         ->   perprimitiveEXT out vec4 tint[];
                tint[i] = payload.tint                        indices[p] = ...;
                indices[p] = ...                              tint[p] = payload.tint
    fragment:   in vec4 tint                             ->   perprimitiveEXT in vec4 tint

An output per vertex is stored for each vertex of a patch, and each store counts against the limits.
A Patch output is stored once. Values that the consumer can compute were propagated before. The
others come from PrimitiveId, the payload, uniforms that the consumer may not read, or the stage
before: one vertex of the patch, or values that are equal at all of its vertices.

Why it is right. All stores of the output write one value. ``divergence`` shows that it is equal for
the patch or workgroup, and it is computed outside of all loops. A vertex without a store was
undefined, so it may have that value, too.

Patch: all invocations may store the value, since it is the same. Undefined is only "two
invocations [that] attempt to write different values to the same per-patch output in a single phase"
(Vulkan, "Tessellation Control Shader Execution"). So no store needs a condition. Every vertex gave
the same bits before, so ``--exact`` allows the change.

Per primitive: the stores move to the stores of the primitives' indices. A primitive without indices
is undefined, so every drawn primitive gets its value. Each store of indices must be a plain store
to one element. The value must be known there, or be computed again from constants, uniforms, the
payload and built-ins.

What breaks it.
* Read-back in the control shader, and Invariant: these outputs stay.
* Interpolation between equal values, which may round. A smooth output becomes per primitive only
  without ``--exact`` and where the fragment stage preserves no infinities, NaNs and zeros.
* The SPIR-V version: the fragment stage must be 1.4, as SPV_EXT_mesh_shader needs it.

Cost. The pass counts stored Locations: per-vertex Locations times the number of vertices, Patch
Locations once, per-primitive Locations times the number of primitives. It moves the number of
components that makes the count least. The count must fall, and the interface must not need more
Locations. A mesh with as many primitives as vertices gains nothing.
"""

from __future__ import annotations

from spvlink.facts.cfg import Cfg
from spvlink.facts.divergence import PRIMITIVE, Divergence
from spvlink.facts.effects import Effects, root
from spvlink.facts.floats import Floats
from spvlink.grammar import enums, info, ops
from spvlink.ir import core, types
from spvlink.ir.core import IS_CHAIN, LOAD_INPUT, STORE_OUTPUT, Block, Inst, Module, words_of
from spvlink.ir.edit import need_capability, touched, value
from spvlink.link.border.edit import remove_stores
from spvlink.link.border.link import Link
from spvlink.link.border.uniformity import computed_once, divergence_of, equal_on_primitive
from spvlink.link.border.values import single_value
from spvlink.link.pack import compact
from spvlink.link.resources.blocks import Blocks, Cannot
from spvlink.link.resources.transfer import surely_there
from spvlink.link.rounding.flatten import comes_exact
from spvlink.pipeline import FLATTENED

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

    Kind = tuple[tuple[int, ...], int]  # qualifiers and width: what may share a Location

PATCH: Final = (enums.Decoration_Patch,)
PER_PRIMITIVE: Final = tuple(sorted((enums.Decoration_Flat, enums.Decoration_PerPrimitiveEXT)))
_INDICES: Final = frozenset(
    (
        enums.BuiltIn_PrimitivePointIndicesEXT, enums.BuiltIn_PrimitiveLineIndicesEXT,
        enums.BuiltIn_PrimitiveTriangleIndicesEXT,
    )
)  # fmt: skip
_EXTENSION: Final = "SPV_EXT_mesh_shader"
MAX_PATCH_COMPONENTS: Final = 120  # what every device allows of Patch outputs
_MAX_DEPTH: Final = 16  # of an expression that is made again where the indices are stored


def share_per_patch(link: Link, before: Link | None, exact: bool) -> bool:
    """Store once what is equal; whether anything was. ``before``: the border at which the producer
    reads its inputs."""
    ends = link.producer.name, link.consumer.name
    if ends not in (("tesc", "tese"), ("mesh", "frag")):
        return False
    link.gather()
    meshes = ends[0] == "mesh"
    keys = [k for k in sorted(link.loads) if _is_candidate(link, k)]
    if not keys:
        return False
    module = link.producer.module
    assert module.entry is not None
    equal = equal_inputs(before) if not meshes else frozenset()
    levels = Divergence(module, module.entry.function, equal)
    keys = [k for k in keys if _is_equal(link, k, levels)]
    if meshes:
        return bool(keys) and _per_primitive(link, keys, exact)
    keys = worth(link, keys, PATCH, _count(link, enums.ExecutionMode_OutputVertices), 1)
    return bool(keys) and _change(link, keys, PATCH, None, "the whole patch")


def equal_inputs(before: Link | None) -> frozenset[int]:
    """The inputs of a stage that are equal at all vertices of its patch."""
    if before is None:
        return frozenset()
    before.gather()
    divergence = divergence_of(before)
    return frozenset(
        k for k in before.loads
        if equal_on_primitive(before, k, divergence)
    )  # fmt: skip


def _is_candidate(link: Link, key: int) -> bool:
    """Whether it is an output per vertex that could become another kind."""
    if key not in link.stores:
        return False
    slot, out = link.inputs.slots.get(key), link.outputs.slots.get(key)
    if slot is None or out is None or out.length is None or out.extras or key in link.read_back:
        return False
    if link.settled(key):
        return False
    if info.APART_DECORATIONS.intersection(slot.qualifiers + out.qualifiers):
        return False
    return all(i.op == LOAD_INPUT for i in link.loads[key]) and single_value(link, key) is not None


def _is_equal(link: Link, key: int, levels: Divergence) -> bool:
    stored = single_value(link, key)
    assert stored is not None
    return levels.of(stored) <= PRIMITIVE and computed_once(link.producer.module, stored)


# -- does it pay? ----------------------------------------------------------------------------------


def worth(
    link: Link, keys: list[int], kind: tuple[int, ...], vertices: int, others: int
) -> list[int]:  # fmt: skip
    """Those of the keys that are worth it: of each qualifier and width as many as make the least of
    Locations times how often they are stored. ``others``: how often those of the new kind are."""
    chosen: list[int] = []
    classes: dict[Kind, list[int]] = {}
    for key in keys:
        slot = link.inputs.slots[key]
        classes.setdefault((slot.qualifiers, slot.width), []).append(key)
    for mine in classes.values():
        first = best = _cost(link, chosen, kind, vertices, others)
        cheapest = chosen
        for count in range(1, len(mine) + 1):
            trial = chosen + mine[:count]
            cost = _cost(link, trial, kind, vertices, others)
            room = cost[1] <= first[1] and cost[2] <= MAX_PATCH_COMPONENTS
            if room and cost[0] < first[0] and cost[0] <= best[0]:
                best, cheapest = cost, trial
        chosen = cheapest
        for key in mine:
            if key not in chosen:
                link.remarks.notes[key] = "equal for all vertices, but no Location would be saved"
    return chosen


def _cost(
    link: Link, moved: list[int], kind: tuple[int, ...], vertices: int, others: int
) -> tuple[int, int, int]:
    """(Locations by how often they are stored, Locations, components of the new kind)."""
    sizes: dict[tuple[tuple[int, ...], int], int] = {}
    for key in link.used():
        slot = link.slot(key)
        if slot is not None:
            name = kind if key in moved else slot.qualifiers, slot.width
            sizes[name] = sizes.get(name, 0) + slot.components
    stored = locations = components = 0
    for (qualifiers, _), size in sizes.items():
        once = bool(info.KIND_DECORATIONS.intersection(qualifiers))
        stored += -(-size // 4) * (others if once else vertices)
        locations += -(-size // 4)
        components += -(-size // 4) * 4 if enums.Decoration_Patch in qualifiers else 0
    return stored, locations, components


def _count(link: Link, mode: int) -> int:
    """What an execution mode of either stage says, or 1."""
    for stage in (link.producer, link.consumer):
        for inst in stage.module.sections[core.EXECUTION_MODES]:
            entry = stage.module.entry
            if inst.imm[0] == mode and entry is not None and inst.args[0] is entry.function:
                return inst.imm[1]
    return 1


# -- doing it --------------------------------------------------------------------------------------


def _change(
    link: Link, keys: list[int], kind: tuple[int, ...], length: Inst | None, whole: str
) -> bool:
    """Give slots another kind; their stores and loads no longer name a vertex. False if there is no
    room for that among what stays whole."""
    before = [(side.slots[k], side.slots[k].qualifiers, side.slots[k].length)
              for side in (link.inputs, link.outputs) for k in keys]  # fmt: skip
    old = compact.at_old_places(link, []).locations
    for slot, _, _ in before:
        slot.qualifiers = kind
        slot.length = None
    new = compact.packed(link, []).locations
    if len(new) > len(old) or max(new, default=-1) > max(old, default=-1):
        for slot, qualifiers, size in before:
            slot.qualifiers, slot.length = qualifiers, size
        return False
    for key in keys:
        link.outputs.slots[key].length = length
        link.remarks.fate[key] = (FLATTENED, f"equal for {whole}")
        link.remarks.notes.pop(key, None)
    link.shared = True
    gone = set(keys)
    for side in (link.inputs, link.outputs):
        side.aggregates = [
            w for w in side.aggregates if not any(gone.intersection(c) for c in w.columns)
        ]
    _drop_vertices(link.producer.module, gone, STORE_OUTPUT, 1)
    _drop_vertices(link.consumer.module, gone, LOAD_INPUT, 0)
    return True


def _drop_vertices(module: Module, keys: set[int], op: int, keep: int) -> None:
    """Take the vertex out of these loads or stores; of stores to several vertices one is left in a
    block."""
    assert module.entry is not None
    for block in module.entry.function.blocks:
        stored: set[int] = set()
        kept: list[Inst] = []
        for inst in block.insts:
            if inst.op == op and inst.imm[0] in keys:
                if op == STORE_OUTPUT and inst.imm[0] in stored:
                    continue
                stored.add(inst.imm[0])
                inst.args = inst.args[:keep]
            kept.append(inst)
        if stored:
            block.insts = kept
    touched(module)


# -- per primitive ---------------------------------------------------------------------------------


def _per_primitive(link: Link, keys: list[int], exact: bool) -> bool:
    """The same for a mesh shader, where stores move to the indices of the primitives."""
    preserved = Floats.of(link.consumer.module).preserved
    smooth = [k for k in keys if not link.carries_bits(link.inputs.slots[k])]
    lost = [k for k in smooth if exact or link.inputs.slots[k].width in preserved]
    for key in lost:
        link.remarks.notes[key] = "equal for all vertices, but interpolation may round"
    what = "equal for all vertices, but "
    lost += [k for k in smooth if k not in lost and not comes_exact(link, k, what)]
    keys = [k for k in keys if k not in lost]
    why = _obstacle(link)
    places = index_stores(link.producer.module) if not why else []
    if not why and not places:
        why = "the indices of the primitives are not stored one by one"
    remake = _Remake(link.producer.module, places)
    known = [k for k in keys if not why and remake.able(_value(link, k))]
    for key in keys:
        if key not in known:
            why_not = why or "its value is not known where the indices of the primitives are stored"
            link.remarks.notes[key] = f"equal for all vertices, but {why_not}"
    vertices = _count(link, enums.ExecutionMode_OutputVertices)
    primitives = _count(link, enums.ExecutionMode_OutputPrimitivesEXT)
    chosen = worth(link, known, PER_PRIMITIVE, vertices, primitives)
    if not chosen:
        return False
    module = link.producer.module
    length = types.constant(module, types.integer(module), primitives)
    values = [(k, _value(link, k)) for k in chosen]
    if not _change(link, chosen, PER_PRIMITIVE, length, "all vertices; stored per primitive"):
        return False
    remove_stores(link.producer, set(chosen))  # per vertex
    remake.store(values)
    _declare_extension(link.consumer.module)
    return True


def _value(link: Link, key: int) -> Inst:
    stored = single_value(link, key)
    assert stored is not None
    return stored


def _obstacle(link: Link) -> str:
    module = link.consumer.module
    if module.spirv_version < 0x00010400:
        return "the fragment stage is older than SPIR-V 1.4"
    return ""


def _declare_extension(module: Module) -> None:
    """What PerPrimitiveEXT needs."""
    need_capability(module, enums.Capability_MeshShadingEXT)
    extensions = module.sections[core.EXTENSIONS]
    words = words_of(_EXTENSION)
    if not any(inst.imm == words for inst in extensions):
        extensions.append(Inst(ops.OpExtension, None, [], words))
    touched(module)


Place = tuple[Block, Inst, Inst]  # a store of indices, and the number of the primitive


def index_stores(module: Module) -> list[Place]:
    """Where the indices of the primitives are stored; nothing if something else than a plain store
    to an element is done with them."""
    tables = Effects.of(module).tables
    variables = {
        v for v in module.globals
        if v.op == ops.OpVariable
        and (tables.find(v, enums.Decoration_BuiltIn) or [-1])[0] in _INDICES
    }  # fmt: skip
    assert module.entry is not None
    places: list[Place] = []
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                for at, arg in enumerate(inst.args):
                    if root(arg) not in variables:
                        continue
                    if IS_CHAIN[inst.op] and at == 0 and arg in variables:
                        continue
                    if inst.op != ops.OpStore or at or not IS_CHAIN[arg.op]:
                        return []
                    if function is not module.entry.function:
                        return []
                    places.append((block, inst, arg.args[1]))
    return places


class _Remake:
    """Makes values once more where the indices of the primitives are stored."""

    def __init__(self, module: Module, places: list[Place]) -> None:
        assert module.entry is not None
        self.module = module
        self.places = places
        self.effects = Effects.of(module)
        self.cfg = Cfg.of(module, module.entry.function)
        self.home = {i: b for b in self.cfg.order for i in b.insts if i.id}
        self.made: dict[Inst, Inst] = {}

    def able(self, wanted: Inst) -> bool:
        return all(b in self.cfg.index and self.can(wanted, b, s, 0) for b, s, _ in self.places)

    def at_hand(self, inst: Inst, block: Block, before: Inst) -> bool:
        """Whether a value is known before an instruction."""
        home = self.home.get(inst)
        if home is None:
            return inst.op != ops.OpUndef  # a constant or variable
        if home is block:
            return block.insts.index(inst) < block.insts.index(before)
        return self.cfg.dominates(home, block)

    def can(self, inst: Inst, block: Block, before: Inst, depth: int) -> bool:
        """Whether a value is known there, or can be made again without a risk."""
        if self.at_hand(inst, block, before):
            return True
        if depth > _MAX_DEPTH or inst.op == ops.OpPhi or not inst.id:
            return False
        if inst.op == ops.OpLoad:
            return self.readable(inst)
        flags = self.effects.flags(inst)
        wanted = info.PURE | info.SPECULATABLE
        if flags & wanted != wanted or inst in self.effects.signatures:
            return False
        return all(self.can(a, block, before, depth + 1) for a in inst.args)

    def readable(self, load: Inst) -> bool:
        """Whether a load reads what never changes, at a place that is surely there."""
        pointer = load.args[0]
        variable = root(pointer)
        if variable.op != ops.OpVariable or load in self.effects.signatures:
            return False
        payload = variable.imm[0] == enums.StorageClass_TaskPayloadWorkgroupEXT
        if not (payload or self.effects.reads_constant(load)):
            return False
        while IS_CHAIN[pointer.op]:
            if any(types.index_of(a) is None for a in pointer.args[1:]):
                return False
            pointer = pointer.args[0]
        if variable.imm[0] == enums.StorageClass_Uniform:
            blocks = Blocks(self.module)
            try:
                return surely_there(blocks.access(load), blocks)
            except Cannot:
                return False
        return pointer is variable

    def store(self, values: list[tuple[int, Inst]]) -> None:
        """Store each value for each primitive whose indices are stored."""
        for block, store, primitive in self.places:
            out: list[Inst] = []
            self.made = {}
            made = [(key, self.make(wanted, block, store, out)) for key, wanted in values]
            out += [Inst(STORE_OUTPUT, None, [v, primitive], (key,)) for key, v in made]
            at = block.insts.index(store)
            block.insts[at:at] = out
        touched(self.module)

    def make(self, inst: Inst, block: Block, before: Inst, out: list[Inst]) -> Inst:
        copy = self.made.get(inst)
        if copy is not None:
            return copy
        made = inst
        if inst.id and not self.at_hand(inst, block, before):
            args = [self.make(a, block, before, out) for a in inst.args]
            made = value(self.module, inst.op, inst.type, args, inst.imm)
            out.append(made)
        self.made[inst] = made
        return made
