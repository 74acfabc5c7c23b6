"""Copies tensors that a Loop's body reads if rewrites have added nodes that may overwrite them."""

from __future__ import annotations

from paddle2ov.graph.loop_invariants import copy_invariants, copy_viewed_states, invariants_of, states_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph


@works_around("loop_overwrites_what_softmax_reads", "loop_overwrites_what_views_show")
def copy_loop_invariants(graph: Graph) -> Counts:
    """Lets a node that may compute in place read a copy if the tensor is read elsewhere as well.

    Given:
        Parameter of a Loop's body → nodes that may be views → a node that may write there. The parameter is invariant,
        or read by another view.
    Result:
        Parameter → Maximum(x, x) → the same nodes.
    """
    loops = graph.nodes("Loop")
    copied = sum(copy_invariants(invariants_of(one)) + copy_viewed_states(states_of(one)) for one in loops)
    return {"tensors": copied}
