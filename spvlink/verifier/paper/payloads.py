"""The payload that a task shader hands to the mesh shaders that it starts.

All invocations of the task's workgroup write to one payload, and the mesh shaders read it when the
last of them is done. A scalar of the payload is what each invocation wrote there, as a patch output
of a control shader is. Two scalars to which each invocation wrote the same hold the same.
"""

from __future__ import annotations

from typing import Any

from spvlink.grammar import enums, ops
from spvlink.ir.core import Inst
from spvlink.verifier.paper.graph import Node, NotProvable
from spvlink.verifier.paper.places import PlaceLeaf
from spvlink.verifier.paper.pointers import TermPointer
from spvlink.verifier.paper.shapes import Value, mapped
from spvlink.verifier.paper.state import Edge
from spvlink.verifier.paper.terms import BEHIND
from spvlink.verifier.paper.vertices import VertexStage

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    from typing import Final

PAYLOAD: Final = "payload"


class PayloadStage(VertexStage):
    """Any stage; knows payloads. ``shape``: the kinds of the payload's scalars, in its order."""

    shape: Any = None

    def start(self) -> Edge:
        edge = super().start()
        for inst in self.entry.inst.args[1:]:
            if inst.op == ops.OpVariable and is_payload(inst):
                if self.shape is not None:
                    raise NotProvable("two payloads")
                if inst.args:
                    raise NotProvable("a payload with an initializer")
                self.begin_payload(inst, edge.cells)
        return edge

    def begin_payload(self, inst: Inst, cells: dict[object, Value]) -> None:
        type = self.pointee(inst)
        count = iter(range(1 << 16))

        def leaf(scalar: Inst) -> Any:
            return PlaceLeaf((PAYLOAD, next(count)), self.shapes.kind(scalar), (), None, 0)

        self.leaves[inst] = self.shapes.build(type, leaf)
        self.shape = _kinds(self.leaves[inst])
        if self.name == "task":
            nothing = self.shapes.undefined(self.graph, type)
            cells[inst, 0] = mapped(nothing, self.not_written)

    def variable(self, inst: Inst) -> Value:
        if not is_payload(inst):
            return super().variable(inst)
        if inst not in self.leaves:
            raise NotProvable("a payload that the entry point does not list")
        root: Any = (inst, 0) if self.name == "task" else ("in", inst)
        return TermPointer(root, (), self.pointee(inst))

    def effect(self, inst: Inst) -> Value:
        if inst.op == ops.OpEmitMeshTasksEXT:
            if self.call.function is not self.entry.function:
                raise NotProvable("mesh tasks in a function that is called")
            self.happen("mesh tasks", tuple([self.node(a) for a in inst.args[:3]]), ())
            return None
        if inst.op == ops.OpControlBarrier and self.name == "task":
            # other invocations may write to buffers, and have written to the payload
            self.happen("barrier", tuple([self.node(a) for a in inst.args]), ())
            for variable in self.leaves:
                if is_payload(variable):
                    self.cells[variable, 0] = mapped(self.cells[variable, 0], self.behind)
            return None
        return super().effect(inst)

    def behind(self, node: Node) -> Node:
        return self.graph.node(BEHIND, node.kind, (node,))

    def finish(self, cells: dict[object, Value], live: Node) -> None:
        super().finish(cells, live)
        for variable, tree in self.leaves.items():
            if is_payload(variable) and self.name == "task":
                self.collect(tree, cells[variable, 0], live)


def is_payload(variable: Inst) -> bool:
    return variable.imm[0] == enums.StorageClass_TaskPayloadWorkgroupEXT


def _kinds(tree: Any) -> Any:
    return tuple([_kinds(part) for part in tree]) if isinstance(tree, tuple) else tree.kind
