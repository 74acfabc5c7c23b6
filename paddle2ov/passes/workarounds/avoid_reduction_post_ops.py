"""Sequences are reduced as images of one row where numbers per channel follow.

OpenVINO 2026.4 lets a reduction multiply and add numbers per channel itself, and of three dimensions takes the wrong
ones: after a mean over the last axis, batch norm is wrong from the second of a batch on. Over the first it is as wrong.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Counts, Graph, constant_of, consumers, dims_of, ints, ints_of, only_consumer
from paddle2ov.passes.kinds import BINARY, REDUCTIONS, UNARY

_PER_CHANNEL = BINARY | {"FakeQuantize", "PRelu"}
_PASSED = UNARY | {"Reshape", "Squeeze", "Unsqueeze"}


def avoid_reduction_post_ops(graph: Graph) -> Counts:
    """A reduction of a sequence has four dimensions.

    Given:
        x [N, C, L] → Reduce over L or N → element by element, and there a constant of several elements. N is not 1.
    Result:
        x → Unsqueeze [N, C, 1, L] → Reduce over the same and axis 2 → the same, after a Squeeze where the Reduce keeps
        its axis.
    """
    counts = {"reductions": 0}
    for reduction in graph.nodes(*sorted(REDUCTIONS)):
        dims, axes = dims_of(reduction.input_value(0)), ints_of(reduction.input_value(1))
        if dims is None or len(dims) != 3 or axes is None or len(axes) != 1 or not _meets_channels(reduction):
            continue
        axis = axes[0] % 3
        if axis == 1 or dims[0] == 1:
            continue
        readers = consumers(reduction.output(0))
        reduction.input(0).replace_source_output(ops.unsqueeze(reduction.input_value(0), ints([2])).output(0))
        reduction.input(1).replace_source_output(ints([0, 2] if axis == 0 else [2, 3]).output(0))
        reduction.validate_and_infer_types()
        if reduction.get_attributes()["keep_dims"]:
            kept = ops.squeeze(reduction, ints([2]))
            for reader in readers:
                reader.replace_source_output(kept.output(0))
        counts["reductions"] += 1
    if counts["reductions"]:
        graph.changed()
    return counts


def _meets_channels(reduction: Node) -> bool:
    """Whether a constant of several elements follows, element by element."""
    node = only_consumer(reduction.output(0))
    while node is not None:
        kind = node.get_type_name()
        if kind in _PER_CHANNEL:
            constants = [one for side in node.input_values() if (one := constant_of(side)) is not None]
            if not constants or any(one.size > 1 for one in constants):
                return bool(constants)
        elif kind not in _PASSED:
            return False
        node = only_consumer(node.output(0))
    return False
