"""Copies the invariant inputs of Loops where rewrites have put nodes before them that may overwrite them."""

from __future__ import annotations

from paddle2ov.graph.loop_invariants import copy_invariants, invariants_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph


@works_around("loop_overwrites_what_softmax_reads", "loop_overwrites_what_views_show")
def copy_loop_invariants(graph: Graph) -> Counts:
    """A node in a Loop's body that may compute in place reads a copy of a tensor that is the same in every iteration.

    Given:
        Parameter of a Loop's body, the same in every iteration → nodes that may be views → a node that may write there.
    Result:
        Parameter → Maximum(x, x) → the same nodes.
    """
    return {"tensors": sum(copy_invariants(invariants_of(loop)) for loop in graph.nodes("Loop"))}
