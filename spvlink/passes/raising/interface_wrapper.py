"""Give a stage another interface and leave its code, like Mesa's nir_lower_io_to_temporaries.

    in vec3 n; in vec2 uv;              in vec4 a; in float b;
    main() { ... n ... uv.x ... }   ->  private vec3 n; private vec2 uv;
                                        main() { n = a.xyz; uv = vec2(a.w, b); ... n ... uv.x ... }

Inputs are read where the entry point begins, outputs are written where it returns. A variable that
only moves keeps its accesses, and gets another Location. For modules that linking has nothing to do
with but that another stage, or packing, wants their varyings elsewhere: calls, loops, variables and
structs are what they were.

Only what one invocation sees for itself is done so: no arrays over vertices, no outputs of control,
geometry, mesh and task shaders.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations, is_laid_out, unstrided
from spvlink.facts.effects import describing
from spvlink.facts.reliance import relies
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, CHAINS, ENTRY_POINTS, Inst, Module, imm_of_name, name_of
from spvlink.ir.edit import (
    annotate,
    list_variable,
    replace_annotations,
    reword,
    touched,
    ungroup,
    value,
)
from spvlink.ir.slot import Interface, Slot, Varying
from spvlink.passes.lowering.memory_access import is_volatile
from spvlink.passes.opening.debuginfo import is_debug, rename_globals
from spvlink.passes.raising.raise_io import Raise, move_whole

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

# whose outputs nobody sees before they return
_OWN_OUTPUTS: Final = frozenset(
    (enums.ExecutionModel_Vertex, enums.ExecutionModel_TessellationEvaluation)
)
_PASSES_ON: Final = CHAINS | {ops.OpCopyObject}  # what makes a pointer of a pointer
_OUTPUT: Final = enums.StorageClass_Output
_PRIVATE: Final = enums.StorageClass_Private


class NotWrappable(Exception):
    """Something is done with a variable that only the interface can do."""


def wrap_interface(
    module: Module,
    storage: int,
    side: Interface,
    varyings: list[Varying],
    moved: dict[int, tuple[int, tuple[int, ...]]],
) -> None:
    """Give one side of a module these variables, with the qualifiers that they are to have: those
    of ``side``, which says which slots the old ones had, may be other ones by now than the module
    declares. ``moved``: where variables that stay whole go, id -> Location, qualifiers to add.
    Raises NotWrappable, with the module half done."""
    entry = module.entry
    assert entry is not None
    alone = len(module.sections[ENTRY_POINTS]) == 1
    if not alone or (storage == _OUTPUT and entry.model not in _OWN_OUTPUTS) or side.captured:
        raise NotWrappable
    listed = {v.id: v for v in entry.inst.args[1:]}
    if not listed.keys() >= moved.keys():
        raise NotWrappable  # what is a variable of its own by now was a member of a struct
    for id, (location, qualifiers) in moved.items():
        move_whole(module, listed[id], location, qualifiers)
    olds: dict[int, list[Slot]] = {}
    for _, slot in sorted(side.slots.items()):
        if slot.length is not None or slot.width < 32 or slot.variable.id not in listed:
            raise NotWrappable
        olds.setdefault(slot.variable.id, []).append(slot)
    left = dict(zip(map(_keys, varyings), varyings))
    gone: list[_Old] = []
    for id, slots in olds.items():
        old = _Old(listed[id], slots)
        same = left.get(tuple([slot.key for slot in slots]))
        if same is not None and old.is_like(same):
            _move(module, old.variable, same, storage)
            del left[_keys(same)]
        else:
            gone.append(old)
    if gone:
        _InterfaceWrapper(module, storage, side, list(left.values())).run(gone)


def _keys(varying: Varying) -> tuple[int, ...]:
    return tuple(varying.keys)


def _move(module: Module, variable: Inst, place: Varying, storage: int) -> None:
    """Another Location and Component, and these ways to interpolate alone."""
    wanted = info.INTERPOLATION_DECORATIONS.intersection(place.qualifiers)
    if storage == _OUTPUT:
        wanted -= info.READING_DECORATIONS
    move_whole(module, variable, place.location, sorted(wanted))
    surplus: list[Inst] = []
    kinds: set[int] = set()
    at_component = False
    for note in module.annotations:
        if note.op != ops.OpDecorate or note.args[0] is not variable:
            continue
        said = note.imm[0]
        if said == enums.Decoration_Component:
            reword(module, note, (enums.Decoration_Component, place.component))
            at_component = True
        elif said in info.KIND_DECORATIONS:
            kinds.add(said)
        elif said in info.INTERPOLATION_DECORATIONS and said not in wanted:
            surplus.append(note)
    if kinds != info.KIND_DECORATIONS.intersection(place.qualifiers):
        raise NotWrappable
    if surplus:
        replace_annotations(module, [n for n in module.annotations if n not in surplus])
    if place.component and not at_component:
        words = (enums.Decoration_Component, place.component)
        annotate(module, [Inst(ops.OpDecorate, None, [variable], words)])


class _Old:
    """A variable as it was, and its slots in the order of its scalars."""

    def __init__(self, variable: Inst, slots: list[Slot]) -> None:
        assert variable.type is not None
        self.variable = variable
        self.type: Inst = variable.type.args[0]
        self.slots = slots
        if _scalars(self.type) != len(slots):
            raise NotWrappable

    def is_like(self, varying: Varying) -> bool:
        """Whether the variable is just this, in its place or in another one."""
        of = self.type.op
        shape = of if of in info.NESTED_TYPES else 0
        return (
            varying.whole == shape
            and (not shape or types.size_of(self.type) == varying.columns)
            and all(slot.base == varying.base for slot in self.slots)
        )


def _scalar_of(type: Inst) -> Inst:
    """What a vector, matrix, or array of such is made of: in this module, where a slot's type is
    that of the rewritten one."""
    return _scalar_of(type.args[0]) if types.size_of(type) else type


def _scalars(type: Inst) -> int:
    """How many scalars a vector, matrix, or array of such has."""
    if type.op in info.NUMBER_TYPES:
        return 1
    if type.op not in info.ELEMENT_TYPES:
        raise NotWrappable  # members of structs have decorations of their own
    return types.size_of(type) * _scalars(type.args[0])


class _InterfaceWrapper:
    """The variables that are other ones from now on."""

    def __init__(
        self, module: Module, storage: int, side: Interface, varyings: list[Varying]
    ) -> None:
        assert module.entry is not None
        self.module = module
        self.function = module.entry.function
        self.storage = storage
        self.raised = Raise(module, varyings, storage, side.slots)
        self.varyings = varyings

    def run(self, gone: list[_Old]) -> None:
        private: dict[Inst, Inst] = {}  # old variable -> what holds its value
        for old in gone:
            if is_laid_out(self.module, old.type) and old.variable.args:
                raise NotWrappable  # the initializer is of that type, too
            old.type = unstrided(self.module, old.type)
            private[old.variable] = self.make_private(old)
        used = self.redirect(private)
        if self.storage == _OUTPUT:  # an initializer alone is a value, too
            used |= {old.variable for old in gone if old.variable.args}
        self.redescribe(private, used)
        kept = [(old, private[old.variable]) for old in gone if old.variable in used]
        if self.storage == _OUTPUT:
            for block in self.function.blocks:
                if block.insts[-1].op == ops.OpReturn:
                    block.insts[-1:-1] = self.write(kept)
        else:
            insts = self.function.blocks[0].insts
            numbers = [at for at, inst in enumerate(insts) if inst.op == ops.OpVariable]
            first = numbers[-1] + 1 if numbers else 0
            insts[first:first] = self.read(kept)
        touched(self.module)
        unused = {new for old, new in private.items() if old not in used}
        self.forget({*private, *unused})

    def make_private(self, old: _Old) -> Inst:
        module, variable = self.module, old.variable
        ungroup(module, variable)
        type = types.pointer(module, _PRIVATE, old.type)
        made = value(module, ops.OpVariable, type, variable.args, (_PRIVATE,))
        module.globals.append(made)
        if module.spirv_version >= 0x00010400:
            list_variable(module, made)
        if Decorations.of(module).find(variable, enums.Decoration_RelaxedPrecision) is not None:
            Decorations.add(module, made, [(enums.Decoration_RelaxedPrecision,)])
        for named, name in module.names.copy():
            if named is variable:
                module.names.append(name_of(ops.OpName, made, imm_of_name(name)))
        return made

    def redirect(self, private: dict[Inst, Inst]) -> set[Inst]:
        """All accesses go to what holds the values. Returns the variables that there are any of.
        Raises NotWrappable for what is none."""
        module = self.module
        used: set[Inst] = set()
        old_of = {variable: variable for variable in private}  # and pointers into it
        for function in module.functions:
            for block in function.blocks:
                for inst in block.insts:
                    for at, arg in enumerate(inst.args):
                        if arg not in old_of or is_debug(module, inst):
                            continue
                        used.add(old_of[arg])
                        if not _is_access(inst, at):
                            raise NotWrappable
                        if inst.op in _PASSES_ON:
                            old_of[inst] = old_of[arg]
                            assert inst.type is not None
                            type = unstrided(module, inst.type.args[0])
                            inst.type = types.pointer(module, _PRIVATE, type)
                        elif _moves_laid_out(module, inst):
                            raise NotWrappable
                        if arg in private:
                            inst.args[at] = private[arg]
        return used

    def redescribe(self, private: dict[Inst, Inst], used: set[Inst]) -> None:
        """What debug information says of the old variables, which decides nothing."""
        module = self.module
        if not describing(module):
            return  # lines speak of none
        for function in module.functions:
            for block in function.blocks:
                about = [i for i in block.insts if is_debug(module, i)]
                about = [i for i in about if not private.keys().isdisjoint(i.args)]
                for inst in about:
                    inst.args = [private[a] if a in used else a for a in inst.args]
                gone = [i for i in about if not private.keys().isdisjoint(i.args)]
                if gone:
                    block.insts = [i for i in block.insts if i not in gone]
        rename_globals(module, {o: new if o in used else None for o, new in private.items()})

    def read(self, kept: list[tuple[_Old, Inst]]) -> list[Inst]:
        """Where the entry point begins: the old inputs of the new ones."""
        out: list[Inst] = []
        loaded: dict[int, Inst] = {}
        lost = {private: lanes for old, private in kept if (lanes := self.lost(old))}
        if lost and relies(self.module, lost):
            raise NotWrappable
        for old, private in kept:
            whole = self.put_together(old.type, iter(old.slots), loaded, out)
            out.append(Inst(ops.OpStore, None, [private, whole], ()))
        return out

    def lost(self, old: _Old) -> int:
        """The lanes of a variable that no longer cross."""
        gone = [1 << n for n, s in enumerate(old.slots) if s.key not in self.raised.where]
        return sum(gone) if types.lanes_of(old.type) or not gone else ALL

    def put_together(
        self, type: Inst, slots: Iterator[Slot], loaded: dict[int, Inst], out: list[Inst]
    ) -> Inst:
        """A value of this type, of the next slots."""
        size = types.size_of(type)
        if not size:
            return self.read_slot(next(slots), type, loaded, out)
        parts: list[Inst] = []
        for index in range(size):
            part = types.part_type(type, index)
            parts.append(self.put_together(part, slots, loaded, out))
        if _is_all_of(parts, type):
            del out[-size:]
            return parts[0].args[0]
        out.append(value(self.module, ops.OpCompositeConstruct, type, parts, ()))
        return out[-1]

    def read_slot(self, slot: Slot, type: Inst, loaded: dict[int, Inst], out: list[Inst]) -> Inst:
        """One scalar; what crosses no more is zero, which is the same at every use."""
        if slot.key not in self.raised.where:
            return types.null(self.module, type)
        varying, lane = self.raised.where[slot.key]
        part = loaded.get(id(varying))
        if part is None:
            args = [self.raised.variables[id(varying)]]
            part = value(self.module, ops.OpLoad, self.raised.type_of(varying), args, ())
            loaded[id(varying)] = part
            out.append(part)
        wire, path = self.raised.wire_type(varying), self.raised.path_of(varying, lane)
        if path:
            part = value(self.module, ops.OpCompositeExtract, wire, [part], path)
            out.append(part)
        return self.raised.cast(part, type, out)

    def write(self, kept: list[tuple[_Old, Inst]]) -> list[Inst]:
        """Before a return: the new outputs of the old ones."""
        out: list[Inst] = []
        lanes: dict[int, dict[int, Inst]] = {}
        for old, private in kept:
            out.append(value(self.module, ops.OpLoad, old.type, [private], ()))
            whole = out[-1]
            for number, slot in enumerate(old.slots):
                if slot.key not in self.raised.where:
                    continue
                varying, lane = self.raised.where[slot.key]
                part, path = whole, _path(old.type, number)
                if path:
                    type = _scalar_of(old.type)
                    part = value(self.module, ops.OpCompositeExtract, type, [whole], path)
                    out.append(part)
                lanes.setdefault(id(varying), {})[lane] = part
        for varying in self.varyings:
            if id(varying) in lanes:
                variable = self.raised.variables[id(varying)]
                self.raised.store_one(varying, lanes[id(varying)], variable, out)
        return out

    def forget(self, gone: set[Inst]) -> None:
        """These variables, and what is said of them."""
        module = self.module
        assert module.entry is not None
        inst = module.entry.inst
        inst.args = [arg for arg in inst.args if arg not in gone]
        module.globals[:] = [i for i in module.globals if i not in gone]
        module.names = [n for n in module.names if n[0] not in gone]
        replace_annotations(module, [n for n in module.annotations if gone.isdisjoint(n.args)])


def _is_access(inst: Inst, at: int) -> bool:
    """Whether an operand is a pointer that is only followed here."""
    if inst.op == ops.OpLoad or inst.op == ops.OpStore:
        return at == 0 and not is_volatile(inst.imm)
    return at == 0 and inst.op in _PASSES_ON


def _moves_laid_out(module: Module, inst: Inst) -> bool:
    """Whether a load or store is of an array with an ArrayStride as a whole."""
    type = inst.type if inst.op == ops.OpLoad else inst.args[1].type
    return type is not None and is_laid_out(module, type)


def _is_all_of(parts: list[Inst], type: Inst) -> bool:
    """Whether these are all components of one vector of this type, in order."""
    whole = parts[0].args[0] if parts[0].op == ops.OpCompositeExtract else None
    return (
        whole is not None
        and whole.type is type
        and all(p.op == ops.OpCompositeExtract and p.args[0] is whole for p in parts)
        and [p.imm for p in parts] == [(n,) for n in range(len(parts))]
    )


def _path(type: Inst, number: int) -> tuple[int, ...]:
    """The indices that lead to a scalar of a value."""
    path: list[int] = []
    while types.size_of(type):
        type = type.args[0]
        index, number = divmod(number, _scalars(type))
        path.append(index)
    return tuple(path)
