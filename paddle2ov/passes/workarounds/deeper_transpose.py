"""A Transpose of one rank more, which OpenVINO neither fuses nor makes a view of its input."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.passes.constants import ints
from paddle2ov.passes.replacement import name_after, replace


def transpose_deeper(transpose: Node, perm: Sequence[int]) -> None:
    """Replaces a Transpose by Reshape([1, ...]) → Transpose of one rank more → Reshape.

    The target shapes are computed from that of the input, so that the model can still be reshaped.
    """
    x = transpose.input_value(0)
    shape = ops.shape_of(x)
    deeper = ops.reshape(x, ops.concat([ints([1]), shape], 0), False)
    permuted = ops.transpose(deeper, ints([0, *(axis + 1 for axis in perm)]))
    name_after(permuted, transpose, "transpose")
    target = ops.gather(shape, ints(perm), ints(0))
    replace(transpose.output(0), ops.reshape(permuted, target, False).output(0))


__all__ = ["transpose_deeper"]
