"""Inline calls, so that the entry point's function holds all code that touches the interface.

    head: ... call f ...                 head:  ... OpSelectionMerge %tail; OpSwitch %0 %entry
                                 ->      entry: ... the callee's blocks; each return goes to %tail
                                         tail:  phi of the returned values ...

The switch is there only if some return stands inside a construct: from selections one may break to
the merge of an enclosing switch (specification 2.11.2). If a return stands in a switch, a loop of
one round takes its place, since a loop may be left from anywhere in it but an inner loop. From an
inner loop a return sets a flag, breaks, and the flag is tested after each loop on the way out.

A callee is inlined after its own calls. One with a single call site gives its blocks away instead
of being copied. What cannot be inlined (a callee that can end the invocation, called from a
continue construct; one that gives pointers into several buffers) stays a call.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv, Refused
from spvlink.facts.calls import callees
from spvlink.facts.cfg import Cfg
from spvlink.facts.structure import Structure, is_switch, selection_merge
from spvlink.grammar import enums, info, ops
from spvlink.ir import types
from spvlink.ir.core import ENTRY_POINTS, Block, Function, Inst, Module
from spvlink.ir.edit import (
    become,
    branch,
    flow_changed,
    keep_functions,
    resolve,
    retarget_phis,
    sweep,
    value,
)
from spvlink.passes.cleaning.flow import drop_unreachable
from spvlink.passes.cleaning.images import again
from spvlink.passes.cleaning.twins import twins_of
from spvlink.passes.opening import debuginfo

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Iterator
    from typing import Final

_RETURNS: Final = frozenset((ops.OpReturn, ops.OpReturnValue))
# what ends a block, and all that comes after
_ENDS: Final = frozenset(
    (*[op for op, flags in info.FLAGS.items() if flags & info.ENDS], ops.OpUnreachable)
)

# What gives the same wherever it is made: pointers, and images and samplers that are loaded.
_AGAIN: Final = frozenset(
    (ops.OpAccessChain, ops.OpInBoundsAccessChain, ops.OpImage, ops.OpSampledImage, ops.OpLoad)
)

MAX_INSTRUCTIONS: Final = 50_000  # always allowed after inlining
MAX_GROWTH: Final = 20  # times what was written, beyond that

DIRECT: Final = 0  # no return inside a construct
BY_SWITCH: Final = 1
BY_LOOP: Final = 2
BY_FLAG: Final = 3


def inline(module: Module) -> None:
    """Inline every call that the entry point makes, directly or not, where that is possible."""
    assert module.entry is not None
    if ops.OpFunctionCall not in module.rare:
        return
    order = _callees_first(module.entry.function)
    if len(order) == 1:
        return
    calls = _call_counts(module)
    _check_growth(module, order)
    shapes: dict[Inst, _Shape] = {}
    for function in order:
        if function.blocks:
            drop_unreachable(module, function)
            _inline_into(module, function, calls, shapes)
    entries = [i.args[0] for i in module.sections[ENTRY_POINTS]]  # another one may share a callee
    left = {f for e in entries if isinstance(e, Function) for f in _callees_first(e)}
    keep_functions(module, [f for f in module.functions if f in left])
    if module.debug is not None:
        debuginfo.forget_functions(module)


def _callees_first(entry: Function) -> list[Function]:
    """The call graph below ``entry`` in postorder. Raises BadSpirv for recursion."""
    done: dict[Function, None] = {}
    active: dict[Function, Iterator[Function]] = {entry: iter(callees(entry))}
    while active:
        function, rest = next(reversed(active.items()))
        callee = next(rest, None)
        if callee is None:
            done[function] = None
            del active[function]
            continue
        if callee in active:
            raise BadSpirv("a function calls itself, directly or through others")
        if callee not in done:
            active[callee] = iter(callees(callee))
    return list(done)


def _check_growth(module: Module, order: list[Function]) -> None:
    """Refuse call graphs that would not end: sizes after inlining, callees first."""
    sizes: dict[Inst, int] = {}
    code = debuginfo.code_of if module.debug is not None else _all
    for function in order:
        size = 0
        for block in function.blocks:
            size += len(code(module, block))
            for inst in block.insts:
                if inst.op == ops.OpFunctionCall:
                    size += sizes.get(inst.args[0], 0)
        sizes[function] = size
    written = sum(len(code(module, b)) for f in order for b in f.blocks)
    if sizes[order[-1]] > MAX_INSTRUCTIONS + MAX_GROWTH * written:
        raise Refused(f"inlining would make {sizes[order[-1]]} instructions of {written}")


def _all(_: Module, block: Block) -> list[Inst]:
    return block.insts


def _call_counts(module: Module) -> dict[Inst, int]:
    counts: dict[Inst, int] = {}
    for function in module.functions:
        for block in function.blocks:
            for inst in block.insts:
                if inst.op == ops.OpFunctionCall:
                    counts[inst.args[0]] = counts.get(inst.args[0], 0) + 1
    return counts


def _inline_into(
    module: Module, function: Function, calls: dict[Inst, int], shapes: dict[Inst, _Shape]
) -> None:
    if not callees(function):
        return
    cfg = Cfg(function)
    structure = Structure(cfg)
    blocks: list[Block] = []
    for block in function.blocks:
        current = block
        todo, current.insts = current.insts, []
        for inst in todo:
            callee = inst.args[0] if inst.op == ops.OpFunctionCall else None
            if (
                isinstance(callee, Function)
                and callee.blocks
                and len(inst.args) == 1 + len(callee.params)
            ):
                shape = shapes.get(callee)
                if shape is None:
                    shape = shapes[callee] = _Shape(callee)
                plain = shape.style == DIRECT and not shape.ends
                # else its pointers would meet in a phi
                may = not shape.pointers or types.pointers_may_meet(module)
                if may and (plain or not _in_continue(cfg, structure, block)):
                    body = _Body(module, callee, calls[callee] > 1, shape)
                    current = body.inline(function, blocks, current, inst, todo)
                    continue
            current.insts.append(inst)
        blocks.append(current)
    function.blocks = blocks
    flow_changed(module)
    sweep(module, function)
    drop_unreachable(module, function)  # a callee may not come back, or leave a loop by a return


def _in_continue(cfg: Cfg, structure: Structure, block: Block) -> bool:
    """Whether a block belongs to a continue construct: the continue target of a loop around it
    dominates it."""
    for header in [*structure.around(block), block]:
        target = structure.continue_of.get(header)
        if target is block:
            # also a loop of one block: what follows the call becomes the continue target
            return True
        if target is not None and target in cfg.index:
            if cfg.dominates(target, block):
                return True
    return False


class _Shape:
    """How the calls of one function can be inlined; found out once, after its own calls are."""

    def __init__(self, callee: Function) -> None:
        cfg = Cfg(callee)
        self.structure = Structure(cfg)
        self.ends = any(b.terminator.op in _ENDS for b in callee.blocks)
        returns = [b for b in cfg.order if b.terminator.op in _RETURNS]
        self.style = max([self.style_of(b) for b in returns], default=DIRECT)
        # whether it gives one of several pointers
        assert callee.type is not None
        self.pointers = len(returns) > 1 and types.holds_pointers(callee.type)

    def style_of(self, block: Block) -> int:
        """What a return in this block asks for."""
        around = self.structure.around(block)
        if not around:
            return DIRECT
        if any(h in self.structure.loops for h in around):
            return BY_FLAG
        return BY_LOOP if any(is_switch(h) for h in around) else BY_SWITCH


class _Body:
    """The blocks of a callee, ready to be put in the place of one call."""

    def __init__(self, module: Module, callee: Function, copied: bool, shape: _Shape) -> None:
        self.module = module
        self.callee = callee
        self.copied = copied
        self.variables: list[Inst] = []
        self.ends = shape.ends
        self.style = shape.style

    def inline(
        self, caller: Function, blocks: list[Block], head: Block, call: Inst, rest: list[Inst]
    ) -> Block:
        """Append to ``blocks`` what comes before the tail; gives the tail, still empty, where the
        instructions after the call will go. ``rest`` is the call's block; a loop's merge
        instruction at its end is taken out of it."""
        module = self.module
        body = self.clone(caller, call)
        if len(body) == 1 and body[0].terminator.op in _RETURNS:
            end = body[0].insts.pop()
            head.insts += body[0].insts
            if end.op == ops.OpReturnValue:
                become(module, call, end.args[0])
            return head
        tail = Block(module.new_id())
        merge = None
        if rest[-2].op == ops.OpLoopMerge:
            merge = self.split_header(head, tail, rest)
        for target in dict.fromkeys(rest[-1].args):
            if isinstance(target, Block):
                retarget_phis(module, target, head, tail)
        self.connect(caller, blocks, head, merge, body, tail, call)
        return tail

    def split_header(self, head: Block, tail: Block, rest: list[Inst]) -> Inst:
        """The call stands in a loop header: its merge instruction stays with the head, the branch
        goes with the tail."""
        merge = rest.pop(-2)
        if merge.args[1] is head:  # the header was its own continue target
            merge.args[1] = tail
        end = rest[-1]
        if end.op != ops.OpBranch and not any(t in merge.args for t in end.args):
            raise Refused("a call in a loop header whose branch does not leave the loop")
        return merge

    def connect(
        self, caller: Function, blocks: list[Block], head: Block, merge: Inst | None,
        body: list[Block], tail: Block, call: Inst,
    ) -> None:  # fmt: skip
        """Wire head, body and tail, and give the call its value."""
        module = self.module
        blocks.append(head)
        style = self.style
        entry: Block = body[0]
        if style == DIRECT:
            head.insts += [*([merge] if merge else []), branch(entry)]
        else:
            start = head
            if merge is not None or style != BY_SWITCH:
                start = Block(module.new_id())
                head.insts += [*([merge] if merge else []), branch(start)]
                blocks.append(start)
            if style == BY_SWITCH:
                zero = types.constant(module, types.integer(module), 0)
                start.insts += [
                    selection_merge(tail),
                    Inst(ops.OpSwitch, None, [zero, entry], ()),
                ]
            else:
                again = Block(module.new_id())
                again.insts = [branch(start)]
                start.insts += [Inst(ops.OpLoopMerge, None, [tail, again], (0,)), branch(entry)]
                body.append(again)
        if style == BY_FLAG:
            result = self.leave_loops(caller, body, tail, call)
        else:
            result = self.leave(body, tail, call)
        blocks += body
        if result is not None:
            tail.insts.append(result)
            become(module, call, result)

    def leave(self, body: list[Block], tail: Block, call: Inst) -> Inst | None:
        """Every return branches to the tail; the values meet there. Gives the phi that the tail
        begins with, if any."""
        ways: list[Inst] = []
        returned: list[Inst] = []
        for block in body:
            end = block.terminator
            if end.op in _RETURNS:
                block.insts[-1] = branch(tail)
                if end.op == ops.OpReturnValue:
                    returned.append(end.args[0])
                    ways += [end.args[0], block]
        assert call.type is not None
        if call.type.op == ops.OpTypeVoid:
            return None
        if not returned:
            become(self.module, call, types.undef(self.module, call.type))
            return None
        if len(returned) == 1:
            become(self.module, call, returned[0])
            return None
        return value(self.module, ops.OpPhi, call.type, ways, ())

    def leave_loops(
        self, caller: Function, body: list[Block], tail: Block, call: Inst
    ) -> Inst | None:
        """Returns from inside loops: set a flag and the result, break, test the flag after each
        loop on the way out."""
        module = self.module
        assert call.type is not None
        flag = self.variable(types.boolean(module))
        kept = None if call.type.op == ops.OpTypeVoid else self.variable(call.type)
        _place_variables(caller, self.variables)
        probe = Function(0)
        probe.blocks = body
        structure = Structure(Cfg(probe))
        true, false = (types.constant(module, types.boolean(module), b) for b in (1, 0))
        # merge of a loop -> where to go on leaving when the flag is set
        tests: dict[Block, Block] = {}
        for block in list(body):
            end = block.terminator
            if end.op not in _RETURNS:
                continue
            loops = [h for h in structure.around(block) if h in structure.loops]
            block.insts.pop()
            if kept is not None:
                block.insts.append(Inst(ops.OpStore, None, [kept, end.args[0]], ()))
            targets = [structure.merge_of[h] for h in loops] + [tail]
            if loops:
                block.insts.append(Inst(ops.OpStore, None, [flag, true], ()))
            block.insts.append(branch(targets[0]))
            for inner, outer in zip(targets, targets[1:]):
                if inner in structure.continues:
                    raise Refused("a loop ends where another one continues, with a return inside")
                tests[inner] = outer
        for merge, target in tests.items():
            self.test_flag(body, merge, target, flag)
        body[0].insts.insert(0, Inst(ops.OpStore, None, [flag, false], ()))
        _mend(module, body)
        _Passed(self, body, tail).run()
        _place_variables(caller, self.variables)
        if kept is None:
            return None
        return value(module, ops.OpLoad, call.type, [kept], ())

    def test_flag(self, body: list[Block], merge: Block, target: Block, flag: Inst) -> None:
        """Split a loop's merge block: first the test that leaves further out, then what it held."""
        module = self.module
        rest = Block(module.new_id())
        phis = [i for i in merge.insts if i.op == ops.OpPhi]
        rest.insts = [i for i in merge.insts if i.op != ops.OpPhi]
        if merge.merge() is not None and merge.insts[-2].op == ops.OpLoopMerge:
            raise Refused("a loop ends where another one begins, with a return inside")
        for after in dict.fromkeys(rest.insts[-1].args):
            if isinstance(after, Block):
                retarget_phis(self.module, after, merge, rest)
        load = value(module, ops.OpLoad, types.boolean(module), [flag], ())
        merge.insts = [*phis, load, Inst(ops.OpBranchConditional, None, [load, target, rest], ())]
        body.insert(body.index(merge) + 1, rest)

    def variable(self, type: Inst) -> Inst:
        """A Function variable of the caller."""
        storage = enums.StorageClass_Function
        made = value(
            self.module, ops.OpVariable, types.pointer(self.module, storage, type), [], (storage,)
        )
        self.variables.append(made)
        return made

    # -- copying -----------------------------------------------------------------------------------

    def clone(self, caller: Function, call: Inst) -> list[Block]:
        """The callee's blocks with the call's arguments in place of the parameters; its variables
        go to the caller."""
        module, callee = self.module, self.callee
        if not self.copied:
            for param, arg in zip(callee.params, call.args[1:]):
                become(module, param, arg)
            body = callee.blocks
            callee.blocks = []
            flow_changed(module)
        else:
            body = self.copy(call)
        debuginfo.inlined(module, body, call)
        first = body[0]
        kept: list[Inst] = []
        stores: list[Inst] = []
        for inst in first.insts:
            if inst.op == ops.OpVariable:
                self.variables.append(inst)
                if inst.args:  # it is set anew at each call
                    stores.append(Inst(ops.OpStore, None, [inst, inst.args[0]], ()))
                    inst.args = []
            elif module.debug is None or not debuginfo.drops_definition(module, inst):
                kept.append(inst)
        first.insts = stores + kept
        _place_variables(caller, self.variables)
        return body

    def copy(self, call: Inst) -> list[Block]:
        table: dict[Inst, Inst] = dict(zip(self.callee.params, call.args[1:]))
        return twins_of(self.module, self.callee.blocks, table)


class _Passed:
    """What loops computed and code behind them uses. A return that became a break goes round such a
    value, to where the flag is tested. So it goes through a variable; a pointer is made again."""

    def __init__(self, body: _Body, blocks: list[Block], tail: Block) -> None:
        self.body = body
        self.module = body.module
        self.tail = tail
        self.homes = {inst: block for block in blocks for inst in block.insts if inst.id}
        self.variables: dict[Inst, Inst] = {}
        whole = Function(0)
        whole.blocks = [*blocks, tail]
        tail.insts = [Inst(ops.OpUnreachable, None, [], ())]
        self.cfg = Cfg(whole)
        tail.insts = []

    def run(self) -> None:
        """Mend every use that its value does not dominate any more. Raises Refused where the value
        can be neither kept nor made again."""
        for block in self.cfg.order:
            for inst in block.insts.copy():
                for at, arg in enumerate(inst.args):
                    target = inst.args[at + 1] if inst.op == ops.OpPhi and at % 2 == 0 else block
                    assert isinstance(target, Block)
                    if self.is_lost(arg, target):
                        made: list[Inst] = []
                        inst.args[at] = self.fetched(resolve(arg), target, made)
                        end = inst if target is block else target.terminator
                        if end is target.terminator and target.merge() is not None:
                            end = target.insts[-2]
                        where = target.insts.index(end)
                        target.insts[where:where] = made
        for known, variable in self.variables.items():
            block = self.homes[known]
            where = block.insts.index(known) + 1
            while block.insts[where].op == ops.OpPhi:
                where += 1
            block.insts.insert(where, Inst(ops.OpStore, None, [variable, known], ()))

    def is_lost(self, value: Inst, user: Block) -> bool:
        home = self.homes.get(resolve(value))
        index = self.cfg.index
        return home in index and user in index and not self.cfg.dominates(home, user)

    def fetched(self, known: Inst, user: Block, made: list[Inst]) -> Inst:
        """The value in a block that it does not dominate; ``made``: what has to be done there."""
        assert known.type is not None
        if types.is_plain(known.type):
            if known not in self.variables:
                self.variables[known] = self.body.variable(known.type)
            made.append(value(self.module, ops.OpLoad, known.type, [self.variables[known]], ()))
        elif known.op in _AGAIN and (known.op != ops.OpLoad or known.type.op not in types.POINTERS):
            lost = [self.is_lost(arg, user) for arg in known.args]
            args = [
                self.fetched(resolve(arg), user, made) if gone else arg
                for arg, gone in zip(known.args, lost)
            ]
            made.append(again(self.module, known, args))
        else:
            raise Refused("a return leaves a loop whose pointers are used behind it")
        return made[-1]


def _place_variables(caller: Function, variables: list[Inst]) -> None:
    """At the very start of the caller. While it is being rebuilt, its first block may be empty so
    far."""
    caller.blocks[0].insts[:0] = variables
    variables.clear()


def _mend(module: Module, body: list[Block]) -> None:
    """New edges into merge blocks bring undefined values to their phis."""
    preds: dict[Inst, list[Block]] = {}
    for block in body:
        for target in dict.fromkeys(block.successors()):
            preds.setdefault(target, []).append(block)
    for block in body[1:]:
        for inst in block.insts:
            if inst.op == ops.OpPhi:
                known = set(inst.args[1::2])
                assert inst.type is not None
                for pred in preds.get(block, ()):
                    if pred not in known:
                        inst.args += [types.undef(module, inst.type), pred]
