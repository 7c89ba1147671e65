"""What linking could win, module by module, and what sharing modules costs.

Of each module a bound of all that linking can take off it (``bound``), and what is unread: a module
that several pipelines share can only drop what none of them reads; a version of a pipeline's own
drops what that pipeline does not read. What is read is what ``uses`` finds: linking finds more
unread, and wins by other means too. What sharing costs in the end is measured (``sharing``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spvlink.ir.slot import shown
from spvlink.link.check.border import unread_of
from spvlink.link.check.interface import apart
from spvlink.lint.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spvlink.link.check.interface import Place
    from spvlink.link.check.stage import CheckedStage
    from spvlink.lint.sharing import Cost

    Key = tuple[object, ...]
    Dead = frozenset[Place]
    Unread = tuple[Key, Dead | None]  # a module of a pipeline; None: nobody is known to read it

_LISTED = 10  # lines of each kind that people see
_HEAD = (
    "modules, in components: outputs, unread by all pipelines and by some of them; how many\n",
    "versions would drop all that is unread; what one version keeps, over all pipelines; inputs,\n",
    "never read; and what linking can win at most, whatever the others are: components of both\n",
    "sides, and instructions\n",
)
_FIGURES = ("components", "locations", "instructions")


class SetModule:
    """A module as the set has it: ``label`` for people; ``outputs`` and ``inputs`` are user
    components, ``idle`` those inputs that the module never reads. ``dead``: what is unread, and in
    which pipelines."""

    def __init__(self, label: str, stage: CheckedStage) -> None:
        self.label = label
        self.stage = stage.name
        self.outputs: dict[Place, str] = {
            place: str(one.label)
            for one in (stage.outputs if stage.name != "frag" else ())
            for place in apart(one, one.covers)
        }
        inputs = stage.inputs if stage.name != "vert" else []
        self.inputs = sum(len(one.covers) for one in inputs)
        self.idle = sum(len(one.covers - stage.uses.reads(one)) for one in inputs)
        self.dead: dict[Dead, list[str | None]] = {}
        self.pipelines = 0
        self.bound = Bound(stage)
        self.rasterized = True  # what follows in each pipeline are fragments, or nothing is known

    @property
    def always(self) -> Dead:
        """What no pipeline reads: one version for all drops it."""
        return frozenset.intersection(*self.dead) if self.dead else frozenset()

    @property
    def ever(self) -> Dead:
        """What some pipeline does not read: no version drops more of what is unread."""
        return frozenset.union(*self.dead) if self.dead else frozenset()

    def kept(self) -> Iterator[tuple[str, Place, int]]:
        """(name, place, pipelines that read it) of what one version has to keep, and some pipeline
        does not read."""
        total = sum(map(len, self.dead.values()))
        for place in sorted(self.ever - self.always):
            unread = sum(len(names) for dead, names in self.dead.items() if place in dead)
            yield self.outputs[place], place, total - unread

    def cost(self) -> int:
        """Components that stay for others' sake, over all pipelines."""
        always = len(self.always)
        return sum((len(dead) - always) * len(names) for dead, names in self.dead.items())


class Potential:
    """Gathers pipelines; then it can be asked."""

    def __init__(self) -> None:
        self.modules: dict[Key, SetModule] = {}
        self.families: list[list[Cost]] = []  # of pipelines that share modules, linked

    def unread(self, stages: list[tuple[Key, str, CheckedStage]], complete: bool) -> list[Unread]:
        """What is unread in a pipeline of these: (key of the module, label, stage), in order."""
        unread: list[Unread] = []
        for at, (key, label, stage) in enumerate(stages):
            if key not in self.modules:
                self.modules[key] = SetModule(label, stage)
            following = stages[at + 1][2] if at + 1 < len(stages) else None
            self.modules[key].rasterized &= following is None or following.name == "frag"
            if stage.name in ("frag", "task") or (following is None and not complete):
                unread.append((key, None))
                continue
            read: set[Place] = set()
            if following is not None:
                for one in following.inputs:
                    read |= apart(one, following.uses.reads(one))
            dead = (p for one in stage.outputs for p in unread_of(stage, one, read))
            unread.append((key, frozenset(dead)))
        return unread

    def note(self, pipeline: str | None, unread: list[Unread]) -> None:
        """Count one pipeline, of which ``unread`` was told."""
        for key, dead in unread:
            module = self.modules[key]
            module.pipelines += 1
            if dead is not None:
                module.dead.setdefault(dead, []).append(pipeline)

    def pipelines(self) -> list[tuple[str | None, int, int]]:
        """(pipeline, components, Locations) that modules of its own would drop and shared ones
        keep; those that would gain most come first."""
        gains: dict[str | None, tuple[int, int]] = {}
        for module in self.modules.values():
            always = module.always
            for dead, names in module.dead.items():
                more = len(dead - always), _locations(module, dead) - _locations(module, always)
                for name in names:
                    before = gains.get(name, (0, 0))
                    gains[name] = before[0] + more[0], before[1] + more[1]
        rows = [(name, *gain) for name, gain in gains.items() if gain[0]]
        return sorted(rows, key=lambda one: (-one[1], -one[2], str(one[0])))

    def costs(self) -> list[Cost]:
        """The pipelines of families whose own version would win something, most first."""
        costs = [c for family in self.families for c in family if any(n > 0 for n in c.more)]
        return sorted(costs, key=lambda c: ([-n for n in c.more], c.pipelines))

    def ordered(self) -> list[SetModule]:
        """The modules, those first whose sharing costs most."""
        return sorted(self.modules.values(), key=lambda m: (-m.cost(), -len(m.ever), m.label))

    def to_json(self) -> dict[str, object]:
        return {
            "modules": [_module(module) for module in self.ordered()],
            "pipelines": [
                {"pipeline": name, "components": components, "locations": locations}
                for name, components, locations in self.pipelines()
            ],
            "families": [_family(costs) for costs in self.families],
            "sharing": [
                {"pipeline": name, **dict(zip(_FIGURES, cost.more))}
                for cost in self.costs() for name in cost.pipelines
            ],
        }  # fmt: skip

    def to_text(self) -> Iterator[str]:
        """Two short tables."""
        yield "\n"
        yield from _HEAD
        yield f"{'outputs':>9}{'by all':>8}{'by some':>9}{'versions':>10}{'kept':>7}{'inputs':>8}"
        yield f"{'idle':>6}{'most':>6}{'code':>6}  module (pipelines)\n"
        modules = self.ordered()
        for module in modules[:_LISTED]:
            figures = _module(module)
            yield (
                f"{figures['outputs']:>9}{figures['unread_by_all']:>8}{figures['unread_by_some']:>9}"
                f"{figures['versions']:>10}{figures['kept']:>7}{module.inputs:>8}{module.idle:>6}"
                f"{module.bound.outputs + module.bound.inputs:>6}"
                f"{module.bound.instructions(module.rasterized):>6}"
                f"  {module.label} ({module.pipelines})\n"
            )
            yield from _stays(module)
        yield _more(len(modules), "modules")
        rows = [(name, cost.more) for cost in self.costs() for name in cost.pipelines]
        if not rows:
            yield "sharing modules costs nothing\n"
            return
        yield "pipelines whose own versions would win most beside shared ones, linked both ways\n"
        for name, (components, locations, instructions) in rows[:_LISTED]:
            yield f"{components:>9} components, {locations} Locations, {instructions} instructions"
            yield f": {name}\n"
        yield _more(len(rows), "pipelines")


def _family(costs: list[Cost]) -> dict[str, object]:
    """Sums over the pipelines of a family."""
    shared, own = ([0, 0, 0], [0, 0, 0])
    for cost in costs:
        for at in range(3):
            shared[at] += cost.shared[at] * len(cost.pipelines)
            own[at] += cost.own[at] * len(cost.pipelines)
    return {
        "pipelines": sum(len(cost.pipelines) for cost in costs),
        "shared": dict(zip(_FIGURES, shared)),
        "own": dict(zip(_FIGURES, own)),
    }


def _locations(module: SetModule, dead: Dead) -> int:
    """Locations of which nothing is left."""
    return len({place[0] for place in dead} - {p[0] for p in module.outputs.keys() - dead})


def _module(module: SetModule) -> dict[str, object]:
    total = sum(map(len, module.dead.values()))
    return {
        "module": module.label,
        "stage": module.stage,
        "pipelines": module.pipelines,
        "outputs": len(module.outputs),
        "unread_by_all": len(module.always),
        "unread_by_some": len(module.ever),
        "versions": len(module.dead),
        "kept": module.cost(),
        "inputs": module.inputs,
        "inputs_never_read": module.idle,
        "most": {
            "outputs": module.bound.outputs,
            "output_locations": module.bound.output_locations,
            "inputs": module.bound.inputs,
            "input_locations": module.bound.input_locations,
            "instructions": module.bound.instructions(module.rasterized),
        },
        "stays": [
            {"name": name, "location": shown(place[0]), "component": place[1], "read_by": count,
             "of": total}
            for name, place, count in module.kept()
        ],
    }  # fmt: skip


def _stays(module: SetModule) -> Iterator[str]:
    """Why: the variables that few pipelines read."""
    total = sum(map(len, module.dead.values()))
    by_name: dict[str, int] = {}
    for name, _, count in module.kept():
        by_name[name] = max(count, by_name.get(name, 0))
    few = sorted(by_name.items(), key=lambda one: one[1])[:3]
    for name, count in few:
        yield f"{'':20}{name} stays: read by {count} of {total}\n"


def _more(count: int, what: str) -> str:
    return f"{'':9}... {count - _LISTED} more {what}\n" if count > _LISTED else ""
