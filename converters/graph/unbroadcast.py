"""Sums over the axes along which a tensor was broadcast."""

from __future__ import annotations

from paddle2ov.converters.graph.common import Tensor, prevent_fusion
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims


def unbroadcast(x: Tensor, target: Tensor, partner: Dims | None = None) -> Tensor:
    """`x` summed to the shape of `target`, over the leading axes that it lacks and those where it has size 1.

    Args:
        x: a tensor of a shape that `target` broadcasts to.
        target: a tensor whose rank, like that of x, is known.
        partner: the dimensions of what `target` was broadcast with: where one is 1, or missing, nothing is to sum.
    """
    dims, wanted = ranked_dims(x), ranked_dims(target)
    more = len(dims) - len(wanted)
    others = dims if partner is None else [*[1] * (len(dims) - len(partner)), *partner]
    summed = [axis for axis, dim in enumerate(wanted) if dim == 1 and dims[more + axis] != 1]
    unknown = [axis for axis, dim in enumerate(wanted) if dim is None and others[more + axis] != 1]
    if more:
        x = ops.reduce_sum(x, ints(list(range(more))), False)
    if not unknown:
        return prevent_fusion(x, ops.reduce_sum(x, ints(summed), True), summed) if summed else x
    # A dimension n becomes (n / t, t), where t is n or 1: the sum over n / t keeps the dimension or reduces it to 1.
    # What is kept is behind what is summed: OpenVINO's sum over a last dimension of 1 is slow.
    sizes: list[Tensor] = []
    ratios = []
    for axis in range(len(wanted)):
        kept = dim_vector(target, [axis])
        if axis in unknown or axis in summed:
            ratios.append(len(sizes))
            sizes.append(ops.divide(dim_vector(x, [axis]), ops.maximum(kept, ints(1))))
        sizes.append(kept)
    return ops.reduce_sum(ops.reshape(x, ops.concat(sizes, 0), False), ints(ratios), False)
