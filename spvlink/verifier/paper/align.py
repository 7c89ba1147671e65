"""The linked value said with nodes of the original one, where they do the same.

Choices stand in the order in which their conditions were made. Where one side has another node for
a condition, since it is defined where the original is not, the choices stand in another order, and
sums and products have their operands in another one. So each such node is replaced, from below.

A node of the original that may be undefined stands for one node of the linked value at most. Two
conditions would else become one, and what is done where they differ would be gone.
"""

from __future__ import annotations

from spvlink.verifier.paper.compare import GUARDED, READS, Comparison
from spvlink.verifier.paper.graph import BOOL, ITE, Node, below
from spvlink.verifier.paper.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs start-up time
    Kind = tuple[str, str, int]


def aligned(terms: Terms, comparison: Comparison, original: Node, linked: Node) -> Node:
    """A value that the linked one refines: a node gives way to one of the original that it refines
    whatever is known of the path."""
    mine, theirs = below(original), below(linked)
    candidates: dict[Kind, list[Node]] = {}
    for node in sorted(mine - theirs, key=lambda n: (n.undef, n.id)):
        if node.op != ITE and node.args and _may_be_alike(node):
            candidates.setdefault(_kind(node), []).append(node)
    if not candidates:
        return linked
    known: dict[Node, Node] = {}
    stands: set[Node] = set()  # for a node of the linked value
    made_so: set[Node] = set()  # of operands that were replaced
    for node in sorted(theirs - mine, key=lambda n: n.id):
        args = [known.get(arg, arg) for arg in node.args]
        stays = args == list(node.args) or terms.outgrown(node, args)
        made = node if stays else terms.rebuilt(node, args)
        if made not in mine:
            for candidate in candidates.get(_kind(made), []):
                if candidate.loose and (candidate in stands or candidate in made_so):
                    continue
                if comparison.refines(candidate, made, comparison.always):
                    made = candidate
                    stands.add(candidate)
                    break
        elif made.loose and made in stands:
            return linked
        else:
            made_so.add(made)
        known[node] = made
    return known.get(linked, linked)


_LOOSE = GUARDED | {"loop"}
_ROWS = frozenset(("isum", "BitwiseAnd", "BitwiseOr", "BitwiseXor"))


def _may_be_alike(node: Node) -> bool:
    """Whether another node may do the same."""
    if node.op == "BitwiseAnd" and node.args[0].op in READS:
        return True
    return node.op in _LOOSE or (node.loose and (node.kind == BOOL or node.op in _ROWS))


def _kind(node: Node) -> Kind:
    return node.op, node.kind, len(node.args)
