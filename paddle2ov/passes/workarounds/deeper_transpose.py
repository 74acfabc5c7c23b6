"""A Transpose of one rank more, which OpenVINO neither fuses nor makes a view of its input."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.replacement import name_after, replace


@works_around("transpose_between_reshapes_of_unknown_batch")
def transpose_deeper(transpose: Node, perm: Sequence[int]) -> None:
    """Replaces a Transpose by Unsqueeze → Transpose of one rank more → Reshape.

    The axis is the last one: OpenVINO 2026.4 takes the second one for groups of channels that are shuffled, and fails
    where it is unknown. The target shape is computed from that of the input, so that the model can still be reshaped.
    """
    x = transpose.input_value(0)
    permuted = ops.transpose(ops.unsqueeze(x, ints([len(perm)])), ints([*perm, len(perm)]))
    name_after(permuted, transpose, "transpose")
    target = ops.gather(ops.shape_of(x), ints(perm), ints(0))
    replace(transpose.output(0), ops.reshape(permuted, target, False).output(0))


__all__ = ["transpose_deeper"]
