"""Copies the invariant inputs of Loops where rewrites have put nodes before them that may overwrite them."""

from __future__ import annotations

from paddle2ov.graph.loop_invariants import copy_invariants, copy_viewed_states, invariants_of, states_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph


@works_around("loop_overwrites_what_softmax_reads", "loop_overwrites_what_views_show")
def copy_loop_invariants(graph: Graph) -> Counts:
    """A node in a Loop's body that may compute in place reads a copy of a tensor that is read otherwise as well.

    Given:
        Parameter of a Loop's body → nodes that may be views → a node that may write there. The parameter is the same in
        every iteration, or read by another view.
    Result:
        Parameter → Maximum(x, x) → the same nodes.
    """
    loops = graph.nodes("Loop")
    copied = sum(copy_invariants(invariants_of(one)) + copy_viewed_states(states_of(one)) for one in loops)
    return {"tensors": copied}
