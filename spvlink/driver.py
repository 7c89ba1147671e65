"""The whole story in one function: ``link``.

    decode    bytes to modules; the entry point of each; do they make a pipeline? prepare   each
    stage: inline; find how it touches its interface; both sides agree on what stays whole; rewrite;
    clean link      each border: dead varyings to a fixpoint, compaction finish    each stage:
    variables again, clean, trim, encode check     our cross-stage checker, spirv-val, and: is it
    better at all?

On any doubt the original bytes go out and the result says why.
"""

from __future__ import annotations

import gc
import time

from spvlink.binary.decode import decode
from spvlink.binary.encode import encode
from spvlink.errors import BadSpirv, Broken, Refused, SpvlinkError, Usage
from spvlink.grammar import enums, ops
from spvlink.ir import core
from spvlink.ir.core import EntryPoint, Function, Inst, Module, string_of
from spvlink.ir.slot import Interface
from spvlink.layout import granted
from spvlink.link import agree, compact, dead, dedup, interface, propagate, remarks, retry
from spvlink.link.border import Link, Stage
from spvlink.link.transfer import Grant, Transfer
from spvlink.link.visible import used_resources
from spvlink.options import Options
from spvlink.passes import freeze, raise_io, trim
from spvlink.passes.lower_io import Lowering
from spvlink.pipeline import STAGE_BITS, STAGES, InterfaceResult, Linked, Source, StageResult
from spvlink.schedule import PASSES, Runner

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from collections.abc import Callable, Sequence
    from typing import Final

_ORDER: Final = {name: at for at, name in enumerate(STAGES.values())}
_BORDERS: Final = (("vert", enums.StorageClass_Output), ("frag", enums.StorageClass_Input))
# of dead-varying removal at one border; each round needs a death in the one before
MAX_ROUNDS: Final = 8


def link(stages: Sequence[Source | bytes], options: Options | None = None) -> Linked:
    """Link the modules of one pipeline, given in any order.

    Raises ``BadSpirv`` if a module is not valid or the modules make no pipeline. A pipeline that
    cannot be improved, or not safely, comes back unchanged with ``passed_through`` set.
    """
    options = options or Options()
    sources = [s if isinstance(s, Source) else Source(s) for s in stages]
    collecting = gc.isenabled()
    gc.disable()  # a link drops its objects all at once at the end: there is nothing to find before
    session = _Session(sources, options)
    try:
        return session.run()
    finally:
        session.close()
        if collecting:
            gc.enable()


class _About:
    """Errors on the way out say which file they are about."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, SpvlinkError):
            error.file = error.file or self.stage.source.file


class _Session:
    """One call of ``link``."""

    def __init__(self, sources: list[Source], options: Options) -> None:
        self.sources = sources
        self.options = options
        self.runner = Runner(options)
        self.linked = Linked()
        self.stages: list[Stage] = []
        self.before: list[tuple[int, int]] = []

    def run(self) -> Linked:
        self.timed("decode", self.decode)
        linked = self.linked
        linked.target_env = self.target_env()
        try:
            outputs = self.optimize()
        except Refused as error:
            return self.pass_through(str(error))
        except (BadSpirv, Usage):
            raise
        except Exception as error:  # a defect of ours must not cost the user his pipeline
            return self.blame(error)
        self.fill(outputs)
        if not self.better(outputs):
            return self.pass_through("nothing to gain")
        return self.validate(outputs)

    def close(self) -> None:
        """Cut the cycles of the graphs, so that they are gone without a search for them."""
        for stage in self.stages:
            for function in stage.module.functions:
                for block in function.blocks:
                    block.insts = []
            stage.module.facts = {}

    def timed(self, name: str, act: Callable[[], object]) -> None:
        begin = time.perf_counter()
        try:
            act()
        finally:
            seconds = self.runner.seconds
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begin

    # -- decode ------------------------------------------------------------------------------------

    def decode(self) -> None:
        """Modules and entry points; raises BadSpirv unless they make one pipeline."""
        for source in self.sources:
            try:
                module = decode(source.data)
                entry = select_entry(module, source.entry)
            except SpvlinkError as error:
                error.file = error.file or source.file
                raise
            module.entry = entry
            self.stages.append(Stage(source, STAGES[entry.model], module))
        self.stages.sort(key=lambda s: _ORDER[s.name])
        for first, second in zip(self.stages, self.stages[1:]):
            if first.name == second.name:
                raise second.bad(f"a second {first.name} stage beside {first.source.file or 'one'}")
        for stage in self.stages:
            self.before.append(count(stage.module))

    def target_env(self) -> str:
        from spvlink.validate import lowest_env

        return self.options.target_env or lowest_env([s.module.spirv_version for s in self.stages])

    # -- optimize ----------------------------------------------------------------------------------

    def optimize(self) -> list[bytes]:
        """All passes; the new binaries in pipeline order."""
        names = [s.name for s in self.stages]
        if len(names) < 2:
            raise Refused("there is nothing to link: the pipeline has one stage")
        if names != ["vert", "frag"]:
            raise Refused(f"chains of {' -> '.join(names)} are not linked yet")
        producer, consumer = self.stages
        self.freeze()
        consumer.visible = used_resources(consumer.module)
        consumer.per_sample = bool(dead.sample_rate_reasons(consumer.module))
        for stage in self.stages:
            with _About(stage):
                self.runner.prepare(stage)
        if self.options.keep_interface & {producer.name, consumer.name}:
            return self.apart(producer, consumer)
        self.lower(producer, consumer)
        border = Link(producer, consumer)
        for stage in self.stages:
            with _About(stage):
                self.runner.clean(stage)
        with _About(consumer):
            dead.check_types(border)
        self.link(border)
        begin = time.perf_counter()
        if self.runner.enabled("compact"):
            placement = compact.run(border, self.convergent(border))
        else:
            placement = compact.at_old_places(border, [])
        self.runner.seconds["compact"] = time.perf_counter() - begin
        self.finish(border, placement)
        begin = time.perf_counter()
        outputs = [encode(s.module) for s in self.stages]
        self.runner.seconds["encode"] = time.perf_counter() - begin
        self.timed("check", lambda: interface.check(producer.module, consumer.module, True))
        remarks.fill(self.linked, border, placement)
        result = InterfaceResult(producer.name, consumer.name)
        result.components, result.locations = remarks.totals(border, placement)
        self.linked.interfaces.append(result)
        return outputs

    def freeze(self) -> None:
        """Specialization constants that the user gave."""
        for name in {stage for stage, _ in self.options.spec}:
            found = [s for s in self.stages if s.name == name]
            if not found:
                raise Usage(f"a specialization constant for the {name} stage, which is not here")
            values = {id: v for (stage, id), v in self.options.spec.items() if stage == name}
            with _About(found[0]):
                module = found[0].module
                self.runner.run("freeze", found[0], freeze.run, module, values)

    def apart(self, producer: Stage, consumer: Stage) -> list[bytes]:
        """Each stage for itself: the user wants the interface between them as it is."""
        border = (producer, enums.StorageClass_Output), (consumer, enums.StorageClass_Input)
        title = f"{producer.name}->{consumer.name}"
        for stage, storage in border:
            entry = stage.module.entry
            assert entry is not None
            kept = frozenset(entry.inst.args[1:])
            with _About(stage):
                alone = Lowering(stage.module, False, False)
                alone.analyse()
                self.runner.run("promote", stage, alone.finish)
                self.runner.clean(stage)
                self.runner.finish(stage)
                if stage is producer:
                    remarks.fill_kept(self.linked, title, interface.declared(stage.module, storage))
                nothing: frozenset[Inst] = frozenset()
                self.runner.run("trim", stage, trim.run, stage.module, nothing, kept)
        figures = interface.declared(producer.module, enums.StorageClass_Output)
        result = InterfaceResult(producer.name, consumer.name)
        places = {p for d in figures for p in d.covers}
        result.components = (len(places),) * 2
        result.locations = (len({p[0] for p in places}),) * 2
        self.linked.interfaces.append(result)
        return [encode(s.module) for s in self.stages]

    def lower(self, producer: Stage, consumer: Stage) -> None:
        """Both stages to slots."""
        begin = time.perf_counter()
        low_out = self.analysed(producer, False, True)
        low_in = self.analysed(consumer, True, False)
        agree.run(low_out, low_in)
        self.runner.seconds["analyse"] = time.perf_counter() - begin
        for stage, low in ((producer, low_out), (consumer, low_in)):
            with _About(stage):
                self.runner.run("promote", stage, low.finish)
        producer.outputs = low_out.outputs
        consumer.inputs = low_in.inputs

    def analysed(self, stage: Stage, inputs: bool, outputs: bool) -> Lowering:
        """How a stage touches its interface. Where an index looks dynamic, local variables are
        promoted and constants folded first: it may only have come through a variable."""
        with _About(stage):
            low = Lowering(stage.module, inputs, outputs)
            low.analyse()
            side = low.inputs or low.outputs
            assert side is not None
            if not any("dynamic" in n.why for n in low.memory_nodes(side)):
                return low
            locals_only = Lowering(stage.module, False, False)
            locals_only.analyse()
            self.runner.run("promote", stage, locals_only.finish)
            self.runner.clean(stage)
            low = Lowering(stage.module, inputs, outputs)
            low.analyse()
        return low

    def link(self, border: Link) -> None:
        """Dead varyings to a fixpoint."""
        producer, consumer = border.producer, border.consumer
        passes: tuple[tuple[str, Callable[[], object]], ...] = (
            ("dead", lambda: dead.run(border)),
            ("promote", lambda: retry.run(border)),
            ("dedup", lambda: dedup.run(border, self.options.exact)),
            ("propagate", lambda: self.propagate(border)),
        )
        for _ in range(MAX_ROUNDS):
            versions = producer.module.version, consumer.module.version
            name = ""
            for name, act in passes:
                if self.runner.enabled(name) or name not in PASSES:
                    self.runner.run(name, producer, act)
                    self.runner.changed(name, consumer, versions[1])
                if (producer.module.version, consumer.module.version) != versions:
                    break  # clean up before the next look
            else:
                return
            if producer.module.version != versions[0]:
                with _About(producer):
                    # what was promoted is new code, while the others only take stores away
                    tidy_up = self.runner.clean if name == "promote" else self.runner.sweep_out
                    tidy_up(producer)
            if consumer.module.version != versions[1]:
                with _About(consumer):
                    self.runner.clean(consumer)

    def propagate(self, border: Link) -> None:
        """What the consumer can make itself."""
        producer, consumer = border.producer, border.consumer
        grant = Grant(consumer.visible)
        if self.options.layout is not None:
            bit = STAGE_BITS[consumer.name]
            grant = Grant(consumer.visible, *granted(self.options.layout, bit))
        transfer = Transfer(producer.module, consumer.module, grant)
        propagate.run(border, transfer, self.options.exact, self.options.cost_limit)

    def convergent(self, border: Link) -> frozenset[int]:
        """Slots that may be read with any qualifier, since all vertices of a primitive agree."""
        if self.options.exact or not self.runner.enabled("flatten"):
            return frozenset()
        return dedup.convergent_slots(border)

    def finish(self, border: Link, placement: compact.Placement) -> None:
        """Variables again, on both sides; then whatever that left to clean."""
        for stage, side in (
            (border.producer, border.outputs),
            (border.consumer, border.inputs),
        ):
            with _About(stage):
                self.finish_side(border, placement, stage, side)

    def finish_side(
        self, border: Link, placement: compact.Placement, stage: Stage, side: Interface
    ) -> None:
        is_output = side is border.outputs
        other = border.inputs if is_output else border.outputs
        # an input needs its output even if nothing is stored there (with dead varyings left alone)
        keys = {*border.stores, *border.loads} if is_output else border.loads
        storage = enums.StorageClass_Output if is_output else enums.StorageClass_Input
        mine = [v for v in placement.varyings if any(k in keys for k in v.keys)]
        self.runner.run("raise", stage, raise_io.Raise(stage.module, mine, storage).run)
        for pinned in side.pinned:
            twin = next((p for p in other.pinned if p.keys == pinned.keys), None)
            qualifiers = twin.qualifiers if twin is not None and is_output else ()
            raise_io.move_whole(stage.module, pinned.variable, placement.moved[pinned], qualifiers)
        self.runner.finish(stage)
        dead.keep_sample_rate(stage)
        dropped = frozenset(side.variables)
        self.runner.run("trim", stage, trim.run, stage.module, dropped)

    # -- the way out -------------------------------------------------------------------------------

    def fill(self, outputs: list[bytes]) -> None:
        """Figures before and after."""
        for stage, data, before in zip(self.stages, outputs, self.before):
            result = StageResult(stage.name, stage.source.file, data, data != stage.source.data)
            after = count(stage.module)
            result.instructions = (before[0], after[0])
            result.body = (before[1], after[1])
            result.bytes = (len(stage.source.data), len(data))
            self.linked.stages.append(result)
        self.linked.seconds = self.runner.seconds

    def better(self, outputs: list[bytes]) -> bool:
        """Fewer Locations or components, or fewer instructions in functions, or fewer bytes; in
        this order."""
        linked = self.linked
        before = [
            sum(i.locations[0] for i in linked.interfaces),
            sum(i.components[0] for i in linked.interfaces),
            sum(s.body[0] for s in linked.stages),
            sum(s.bytes[0] for s in linked.stages),
        ]
        after = [
            sum(i.locations[1] for i in linked.interfaces),
            sum(i.components[1] for i in linked.interfaces),
            sum(s.body[1] for s in linked.stages),
            sum(s.bytes[1] for s in linked.stages),
        ]
        return after < before

    def validate(self, outputs: list[bytes]) -> Linked:
        """spirv-val over what is about to go out."""
        linked = self.linked
        if not self.options.validate:
            linked.validated = "not validated: switched off"
            return linked
        from spvlink import validate

        begin = time.perf_counter()
        verdicts = validate.validate_all(outputs, linked.target_env)
        linked.seconds["spirv-val"] = time.perf_counter() - begin
        bad = [n for n, verdict in enumerate(verdicts) if verdict is not None]
        if not bad:
            linked.validated = "validated"
            return linked
        originals = self.validate_originals()
        for n in bad:
            if originals[n] is None:
                stage = self.stages[n]
                linked.defect = f"spirv-val refuses the new {stage.name} module: {verdicts[n]}"
                return self.pass_through(linked.defect)
        return linked

    def validate_originals(self) -> list[str | None]:
        """spirv-val's verdict on the inputs. Raises BadSpirv where it refuses one and is not just
        too old for it."""
        from spvlink import validate

        linked = self.linked
        verdicts = validate.validate_all([s.source.data for s in self.stages], linked.target_env)
        linked.validated = "validated"
        for stage, verdict in zip(self.stages, verdicts):
            if verdict is not None:
                if not validate.too_old(verdict):
                    raise stage.bad(f"spirv-val refuses it: {verdict}")
                linked.validated = f"not validated: spirv-val refuses the input too ({verdict})"
        return verdicts

    def blame(self, error: Exception) -> Linked:
        """An exception that no input should cause: if the input is bad after all, say so; else it
        is our defect."""
        from spvlink.ir.check import check

        for stage in self.stages:
            try:
                check(decode(stage.source.data), input=True)
            except BadSpirv as bad:
                bad.file = stage.source.file
                raise bad from None
        self.check_originals()
        what = str(error) if isinstance(error, Broken) else f"{type(error).__name__}: {error}"
        self.linked.defect = what
        return self.pass_through(f"a defect of spvlink: {what}")

    def check_originals(self) -> None:
        """Whether the inputs' own interfaces are in order, by the same checker. Raises BadSpirv."""
        for stage in self.stages:
            module = decode(stage.source.data)
            module.entry = select_entry(module, stage.source.entry)
            for storage in (enums.StorageClass_Input, enums.StorageClass_Output):
                if (stage.name, storage) in _BORDERS:
                    try:
                        variables = interface.declared(module, storage)
                        if stage.name == "frag":
                            interface.check_fragment(variables)
                    except Broken as error:
                        raise stage.bad(error.message) from None

    def pass_through(self, why: str) -> Linked:
        """The originals, and the reason; they too have to be valid."""
        linked = self.linked
        if self.options.validate and linked.validated is None:
            self.validate_originals()
        linked.passed_through = why
        linked.stages = []
        linked.remarks = []
        for interface_result in linked.interfaces:
            interface_result.components = (interface_result.components[0],) * 2
            interface_result.locations = (interface_result.locations[0],) * 2
        for stage, before in zip(self.stages, self.before):
            result = StageResult(stage.name, stage.source.file, stage.source.data, False)
            result.instructions = (before[0], before[0])
            result.body = (before[1], before[1])
            result.bytes = (len(stage.source.data),) * 2
            linked.stages.append(result)
        linked.seconds = self.runner.seconds
        return linked


def select_entry(module: Module, name: str | None) -> EntryPoint:
    """The entry point of this name, or the only one. Raises BadSpirv if there is none or too many,
    or it is no graphics stage."""
    found: list[EntryPoint] = []
    for inst in module.sections[core.ENTRY_POINTS]:
        text, end = string_of(inst.imm, 1)
        function = inst.args[0] if inst.args else None
        if not isinstance(function, Function) or not function.blocks:
            raise BadSpirv(f"the entry point {text!r} is no function with a body")
        if end < len(inst.imm):
            raise BadSpirv(f"the name of the entry point {text!r} ends early")
        if name is None or text == name:
            found.append(EntryPoint(inst, text, function))
    if not found:
        raise BadSpirv("the module has no entry point" + (f" {name!r}" if name is not None else ""))
    if len(found) > 1:
        listed = ", ".join(repr(e.name) for e in found)
        raise BadSpirv(
            f"the module has {len(found)} entry points ({listed}): name one as FILE:ENTRY"
        )
    entry = found[0]
    if entry.model not in STAGES:
        raise BadSpirv(f"the entry point {entry.name!r} is no stage of a graphics pipeline")
    for variable in entry.inst.args[1:]:
        if (
            variable.op != ops.OpVariable
            or variable.type is None
            or variable.type.op != ops.OpTypePointer
        ):
            raise BadSpirv(
                f"the entry point {entry.name!r} lists %{variable.id}, which is no variable"
            )
    return entry


def count(module: Module) -> tuple[int, int]:
    """(instructions of the module, instructions in function bodies: everything between OpFunction
    and OpFunctionEnd)."""
    body = 0
    outside = sum(len(s) for s in module.sections) + len(module.tail)
    for function in module.functions:
        body += len(function.params) + sum(1 + len(b.insts) + len(b.lead) for b in function.blocks)
        outside += 2 + len(function.lead) + len(function.tail)
    return outside + body, body


def all_insts(module: Module) -> list[Inst]:
    """Every Inst of the functions, for tests and tools."""
    return [i for f in module.functions for b in f.blocks for i in b.insts]
