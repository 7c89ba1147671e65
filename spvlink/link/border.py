"""The border of two stages as a first-class object: every slot seen from both ends.

``stores`` and ``loads`` are gathered from the code by key, so a slot is alive exactly if an
instruction says so. ``fate`` collects what was decided about each key and why; it becomes the
report.
"""

from __future__ import annotations

from spvlink.errors import BadSpirv
from spvlink.grammar import ops
from spvlink.ir.core import INTERPOLATE, LOAD_INPUT, STORE_OUTPUT, Inst, Module
from spvlink.ir.slot import Interface, Pinned, Slot
from spvlink.pipeline import Source


class Stage:
    """One stage while it is being linked."""

    __slots__ = ("inputs", "module", "name", "outputs", "per_sample", "source", "visible")

    def __init__(self, source: Source, name: str, module: Module) -> None:
        self.source = source
        self.name = name
        self.module = module
        self.inputs: Interface | None = None
        self.outputs: Interface | None = None
        self.visible: frozenset[tuple[int, int, int]] = frozenset()  # resources it uses statically
        self.per_sample = False  # something in the original makes it run once per sample

    def bad(self, message: str) -> BadSpirv:
        """An error about this stage's module."""
        error = BadSpirv(message)
        error.file = self.source.file
        return error


class Link:
    """A producer, a consumer, and the slots between them."""

    __slots__ = (
        "consumer",
        "fate",
        "gathered",
        "gone",
        "inputs",
        "kept_in",
        "kept_out",
        "loads",
        "notes",
        "outputs",
        "producer",
        "returns",
        "sites",
        "stores",
    )

    def __init__(self, producer: Stage, consumer: Stage) -> None:
        assert producer.outputs is not None and consumer.inputs is not None
        self.producer = producer
        self.consumer = consumer
        self.outputs: Interface = producer.outputs
        self.inputs: Interface = consumer.inputs
        self.stores: dict[int, list[Inst]] = {}
        self.loads: dict[int, list[Inst]] = {}
        self.gone: list[Pinned] = []  # of the producer: stayed whole until nobody read them
        self.fate: dict[int, tuple[str, str]] = {}  # key -> (action, why)
        self.notes: dict[int, str] = {}  # key -> what stood in the way of more
        self.gathered = -1, -1  # the versions that the modules had
        self.sites: dict[Inst, int] = {}  # the number of the return that a store belongs to
        self.returns = 0
        # Components of variables that stay whole, per side: they count as stored and as loaded.
        self.kept_out = {k for p in self.outputs.pinned for k in p.keys}
        self.kept_in = {k for p in self.inputs.pinned for k in p.keys}
        self.gather()

    @property
    def title(self) -> str:
        return f"{self.producer.name}->{self.consumer.name}"

    def gather(self) -> None:
        """Read from the code which slots are stored and loaded."""
        versions = self.producer.module.version, self.consumer.module.version
        if versions == self.gathered:
            return
        self.gathered = versions
        self.stores = _accesses(self.producer.module, (STORE_OUTPUT,))
        self.loads = _accesses(self.consumer.module, (LOAD_INPUT, INTERPOLATE))
        self.sites, self.returns = {}, 0
        entry = self.producer.module.entry
        assert entry is not None
        for block in entry.function.blocks:
            if block.terminator.op == ops.OpReturn:
                stores = [i for i in block.insts if i.op == STORE_OUTPUT]
                self.sites.update(dict.fromkeys(stores, self.returns))
                self.returns += 1

    def used(self) -> list[int]:
        """Keys that are stored or loaded, in order; once nothing is dead they are both."""
        return sorted(self.stores.keys() | self.loads.keys())

    def slot(self, key: int) -> Slot | None:
        return self.inputs.slots.get(key) or self.outputs.slots.get(key)

    def pinned(self) -> list[tuple[Pinned, Pinned | None]]:
        """The variables that stay whole as (producer's, consumer's) or (one side's, None)."""
        pairs: list[tuple[Pinned, Pinned | None]] = []
        rest = list(self.inputs.pinned)
        for out in self.outputs.pinned:
            twin = next((p for p in rest if p.keys == out.keys), None)
            if twin is not None:
                rest.remove(twin)
            pairs.append((out, twin))
        return pairs + [(p, None) for p in rest]

    def __str__(self) -> str:
        """The table of slots: what a person wants to see of a link."""
        rows = [f"{self.title}"]
        for key in sorted(set(self.outputs.slots) | set(self.inputs.slots)):
            slot = self.slot(key)
            assert slot is not None
            action, why = self.fate.get(key, ("", ""))
            rows.append(
                f"  {key >> 3:3}.{'xyzw'[key >> 1 & 3]}  {slot.name:24}"
                f" stores {len(self.stores.get(key, ())):2}"
                f"  loads {len(self.loads.get(key, ())):2}  {action} {why}".rstrip()
            )
        for pinned, _ in self.pinned():
            rows.append(f"  {pinned.location:3}    {pinned.name:24} kept whole: {pinned.why}")
        return "\n".join(rows)


def _accesses(module: Module, wanted: tuple[int, ...]) -> dict[int, list[Inst]]:
    assert module.entry is not None
    found: dict[int, list[Inst]] = {}
    for block in module.entry.function.blocks:
        for inst in [i for i in block.insts if i.op in wanted]:
            found.setdefault(inst.imm[0], []).append(inst)
    return found
