"""What is reshaped after a reduction keeps the reduced axes until then.

OpenVINO 2026.4 drops a reshape after a reduction that seems to leave its shape as it is, and asks for that as if the
reduction had kept its axes: the mean over axis 1 of [N, T, C], reshaped to [-1, 1], stays [N, C].
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Counts, Graph, consumers, dims_of, ints, ints_of, nearest, readers
from paddle2ov.passes.kinds import REDUCTIONS

_RESHAPING = {"Reshape", "Squeeze", "Transpose", "Unsqueeze"}


def avoid_reshape_elision(graph: Graph) -> Counts:
    """A reduction whose result another of its rank is made of keeps its axes, and a Squeeze drops them.

    Given:
        Reduce without its axes, of rank 2 or more → Reshape, Squeeze, Transpose or Unsqueeze, or several of them, one
        of which gives a tensor of the same rank.
    Result:
        Reduce with its axes → Squeeze → the same; OpenVINO makes one Reshape of them.
    """
    counts = {"reductions": 0}
    for reduction in graph.nodes(*sorted(REDUCTIONS)):
        dims = dims_of(reduction.output(0))
        if dims is None or len(dims) < 2 or not _is_reshaped(reduction, len(dims)):
            continue
        axes = ints_of(reduction.input_value(1))
        if axes is None or reduction.get_attributes()["keep_dims"]:
            continue
        read = consumers(reduction.output(0))
        reduction.set_attribute("keep_dims", True)
        reduction.validate_and_infer_types()
        dropped = ops.squeeze(reduction, ints(axes))
        for reader in read:
            reader.replace_source_output(dropped.output(0))
        counts["reductions"] += 1
    if counts["reductions"]:
        graph.changed()
    return counts


def _is_reshaped(reduction: Node, rank: int) -> bool:
    """Whether a chain that only reshapes gives something of this rank."""
    for node in nearest(readers(reduction), _RESHAPING, _RESHAPING, readers):
        dims = dims_of(node.output(0))
        if dims is None or len(dims) == rank:
            return True
    return False
