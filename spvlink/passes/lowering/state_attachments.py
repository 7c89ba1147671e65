"""Drop colour outputs that no attachment takes, component by component.

    color = f(x)                 ->    goes, with f            there is no attachment
    color = vec4(rgb, a)         ->    vec4(rgb, undefined)    the format has no alpha

A variable without any taken component becomes Private; promotion and dead code elimination do the
rest. If some components are taken and the shader reads the variable back, the shader works on a
Private copy and stores the taken components at its returns.

Why it is right. A value is dropped where the Location has no attachment, the format lacks the
component or the write mask is off (Vulkan, "Fragment Output Interface", "Color Write Mask").
Nothing else sees an output, so an undefined value does as well. Discards, depth, the sample mask
and side effects are no colour outputs and stay.

What breaks it. Blending and alpha to coverage read outputs: these components count as taken. A
second source of blending has its own index.

Cost. None.
"""

from __future__ import annotations

from spvlink.facts.decorations import Decorations, Names, is_laid_out
from spvlink.grammar import enums, ops
from spvlink.ir import types
from spvlink.ir.core import ALL, IS_CHAIN, Inst, Module
from spvlink.ir.edit import become, replace_annotations, resolve, sweep, touched, ungroup, value

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Sequence
    from typing import Final

    Path = tuple[int, ...]
    Taken = Sequence[tuple[int, int, int]]  # Location, Index, components

_PRIVATE: Final = enums.StorageClass_Private
_LETTERS: Final = "xyzw"
_ELEMENTS: Final = 64  # of an array; devices have eight attachments


class ColorOutput:
    """A colour output of which a part is not taken. ``masks``: of each element, which of its
    components are taken; ``array``: it is an array of these."""

    __slots__ = ("array", "component", "location", "masks", "name", "size", "variable")

    def __init__(self, variable: Inst, element: Inst, location: int, component: int) -> None:
        self.variable = variable
        self.location = location
        self.component = component
        self.size = element.imm[0] if element.op == ops.OpTypeVector else 1
        self.array = False
        self.masks: list[int] = []
        self.name = ""

    @property
    def full(self) -> int:
        return (1 << self.size) - 1

    def dead_places(self) -> list[str]:
        """The same as people write it: ``0.w``."""
        words: list[str] = []
        for at, mask in enumerate(self.masks):
            lanes = [n for n in range(self.size) if not mask >> n & 1]
            if lanes:
                letters = "".join([_LETTERS[self.component + n] for n in lanes])
                words.append(f"{self.location + at}.{letters}")
        return words

    def dead_paths(self) -> list[Path]:
        """The largest parts that are dead as a whole."""
        paths: list[Path] = []
        for at, mask in enumerate(self.masks):
            path: Path = (at,) if self.array else ()
            if not mask:
                paths.append(path)
            elif mask != self.full:
                paths += [(*path, n) for n in range(self.size) if not mask >> n & 1]
        return paths


class Accesses:
    """How the code touches a variable: chains with their constant indices (None: dynamic), loads,
    stores."""

    __slots__ = ("chains", "dynamic", "known", "loads", "stores")

    def __init__(self, module: Module, variable: Inst) -> None:
        self.chains: dict[Inst, Path | None] = {variable: ()}
        self.loads: list[Inst] = []
        self.stores: list[Inst] = []
        self.known = True  # there is nothing else
        self.dynamic = False  # some index is not known
        for function in module.functions:
            for block in function.blocks:
                for inst in block.insts:
                    if not self.chains.keys().isdisjoint(inst.args):
                        self.note(inst)

    def note(self, inst: Inst) -> None:
        base = inst.args[0]
        others = inst.args[1:]
        if base not in self.chains or not self.chains.keys().isdisjoint(others):
            self.known = False
        elif IS_CHAIN[inst.op]:
            path, indices = self.chains[base], [types.index_of(arg) for arg in others]
            constant = [index for index in indices if index is not None]
            dynamic = path is None or len(constant) < len(indices)
            self.dynamic |= dynamic
            self.chains[inst] = None if dynamic or path is None else (*path, *constant)
        elif inst.op == ops.OpLoad and not inst.imm:
            self.loads.append(inst)
        elif inst.op == ops.OpStore and not inst.imm:
            self.stores.append(inst)
        else:
            self.known = False


def state_attachments(module: Module, taken: Taken) -> list[ColorOutput]:
    """Drop what is stored for nothing; gives the outputs of which a part went."""
    entry = module.entry
    assert entry is not None
    changed: list[ColorOutput] = []
    for variable in entry.inst.args[1:]:
        if variable.op != ops.OpVariable or variable.imm[0] != enums.StorageClass_Output:
            continue
        output = _output(module, variable, taken)
        if output is None:
            continue
        accesses = Accesses(module, variable)
        if not accesses.known or len(accesses.chains) + len(accesses.stores) == 1:
            continue
        if not any(output.masks):
            make_private(module, variable, accesses)
        elif accesses.dynamic:
            continue
        elif accesses.loads:
            _work_aside(module, output, accesses)
        elif not _mask_stores(module, output, accesses):
            continue
        changed.append(output)
    return changed


def _output(module: Module, variable: Inst, taken: Taken) -> ColorOutput | None:
    """A variable as a colour output; None: it is none, or all of it is taken."""
    tables = Decorations.of(module)
    location = tables.find(variable, enums.Decoration_Location)
    assert variable.type is not None
    if is_laid_out(module, variable.type.args[0]):
        return None  # it could not become a variable of the shader's own
    element, count = variable.type.args[0], 1
    if element.op == ops.OpTypeArray:
        count, element = types.size_of(element), element.args[0]
    scalar = element.args[0] if element.op == ops.OpTypeVector else element
    if location is None or not 0 < count <= _ELEMENTS or scalar.op not in types.NUMBERS:
        return None
    if scalar.imm[0] > 32:
        return None
    index = tables.find(variable, enums.Decoration_Index) or (0,)
    component = tables.find(variable, enums.Decoration_Component) or (0,)
    output = ColorOutput(variable, element, location[0], component[0])
    output.array = element is not variable.type.args[0]
    output.name = Names(module).of(variable)
    masks = {at: mask for at, of, mask in taken if of == index[0]}
    for at in range(count):
        mask = masks.get(location[0] + at, 0) >> component[0]
        output.masks.append(mask & output.full)
    return output if output.dead_paths() else None


# -- nothing of it is taken ------------------------------------------------------------------------


def make_private(module: Module, variable: Inst, accesses: Accesses) -> None:
    """Turn a variable, which the interface no longer has, into one of the shader's own."""
    assert module.entry is not None
    ungroup(module, variable)
    kept = enums.Decoration_RelaxedPrecision
    notes = [
        note
        for note in module.annotations
        if variable not in note.args[:1] or (note.op == ops.OpDecorate and note.imm[0] == kept)
    ]
    replace_annotations(module, notes)
    _into_private(module, [variable, *accesses.chains])
    module.globals.remove(variable)  # its type may be a new one
    module.globals.append(variable)
    variable.imm = (_PRIVATE,)
    if module.spirv_version < 0x00010400:
        args = module.entry.inst.args
        module.entry.inst.args = [arg for arg in args if arg is not variable]
    touched(module)


def _into_private(module: Module, pointers: list[Inst]) -> None:
    """Change the types of pointers."""
    for pointer in dict.fromkeys(pointers):
        assert pointer.type is not None
        pointer.type = types.pointer(module, _PRIVATE, pointer.type.args[0])


# -- a part of it is taken -------------------------------------------------------------------------


def _mask_stores(module: Module, output: ColorOutput, accesses: Accesses) -> bool:
    """Store an undefined value to what is dead; whether anything is stored there."""
    dead = output.dead_paths()
    masked: dict[Inst, list[Path]] = {}
    gone: set[Inst] = set()
    for store in accesses.stores:
        path = accesses.chains[store.args[0]]
        assert path is not None
        if any(path[: len(part)] == part for part in dead):
            gone.add(store)
        inner = [part[len(path) :] for part in dead if part[: len(path)] == path != part]
        if inner:
            masked[store] = inner
    if not gone and not masked:
        return False
    for function in module.functions:
        for block in function.blocks:
            if gone.isdisjoint(block.insts) and masked.keys().isdisjoint(block.insts):
                continue
            insts: list[Inst] = []
            for inst in block.insts:
                if inst in masked:
                    whole = _undefine(module, inst.args[1], masked[inst], insts)
                    inst.args = [inst.args[0], whole]
                if inst not in gone:
                    insts.append(inst)
            block.insts = insts
    touched(module)
    return True


def _undefine(module: Module, whole: Inst, paths: list[Path], out: list[Inst]) -> Inst:
    """A value whose parts at ``paths`` are undefined."""
    for path in paths:
        assert whole.type is not None
        part = whole.type
        for index in path:
            part = types.part_type(part, index)
        undefined = types.undef(module, part)
        whole = value(module, ops.OpCompositeInsert, whole.type, [undefined, whole], path)
        out.append(whole)
    return whole


def _work_aside(module: Module, output: ColorOutput, accesses: Accesses) -> None:
    """Let the shader work with a Private variable, and store what is taken when it returns."""
    assert module.entry is not None
    variable = output.variable
    assert variable.type is not None
    kind = types.pointer(module, _PRIVATE, variable.type.args[0])
    aside = value(module, ops.OpVariable, kind, list(variable.args), (_PRIVATE,))
    aside.mark = ALL  # as all that is global
    module.globals.append(aside)
    module.by_op = []  # it has one more variable
    if module.spirv_version >= 0x00010400:
        module.entry.inst.args.append(aside)
    variable.args = []
    chains = [chain for chain in accesses.chains if chain is not variable]
    _into_private(module, chains)
    for inst in (*chains, *accesses.loads, *accesses.stores):
        inst.args = [aside if arg is variable else arg for arg in inst.args]
    for block in module.entry.function.blocks:
        if block.terminator.op == ops.OpReturn:
            block.insts[-1:-1] = _stores(module, output, aside)
    touched(module)


def _stores(module: Module, output: ColorOutput, aside: Inst) -> list[Inst]:
    """What stores the parts of the private variable that are taken."""
    insts: list[Inst] = []
    variable = output.variable
    assert variable.type is not None
    element = variable.type.args[0]
    if output.array:
        element = element.args[0]
    for at, mask in enumerate(output.masks):
        if not mask:
            continue
        source, target = aside, variable
        if output.array:
            index = types.constant(module, types.integer(module, 32, True), at)
            source = _chain(module, aside, _PRIVATE, element, index, insts)
            target = _chain(module, variable, enums.StorageClass_Output, element, index, insts)
        load = value(module, ops.OpLoad, element, [source], ())
        insts.append(load)
        dead: list[Path] = [(n,) for n in range(output.size) if not mask >> n & 1]
        whole = _undefine(module, load, dead, insts)
        insts.append(Inst(ops.OpStore, None, [target, whole], ()))
    return insts


def _chain(
    module: Module, base: Inst, storage: int, element: Inst, index: Inst, out: list[Inst]
) -> Inst:
    kind = types.pointer(module, storage, element)
    out.append(value(module, ops.OpAccessChain, kind, [base, index], ()))
    return out[-1]


# -- in the end ------------------------------------------------------------------------------------


def store_plainly(module: Module) -> None:
    """Store a value itself where it is stored with an undefined part: what is there is as good, and
    code that only it needed is gone by now."""
    assert module.entry is not None
    insert, undef = ops.OpCompositeInsert, ops.OpUndef
    for block in module.entry.function.blocks:
        for store in block.insts:
            if store.op != ops.OpStore:
                continue
            root = store.args[0]
            while IS_CHAIN[root.op]:
                root = root.args[0]
            if root.op != ops.OpVariable or root.imm[0] != enums.StorageClass_Output:
                continue
            while store.args[1].op == insert and store.args[1].args[0].op == undef:
                become(module, store.args[1], store.args[1].args[1])
                store.args = [store.args[0], resolve(store.args[1])]
    sweep(module, module.entry.function)
