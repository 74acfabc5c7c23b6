"""Pooling by maximum, average and norm.

Paddle: `pool2d`, `pool3d`, `lp_pool2d`.
Semantics: `paddle/phi/kernels/funcs/pooling.cc`, `paddle/phi/kernels/impl/pool_kernel_impl.h`, PoolInferMeta in
`paddle/phi/infermeta/unary.cc`. Pooling in one dimension is `unsqueeze2`, `pool2d`, `squeeze2`. A window that holds
nothing but padding gives NaN (average) or the lowest number. Of paddings that differ before and after, an average that
counts them (`exclusive` False) counts as many after as before. Not supported: adaptive maximum in `pool2d` itself
(Paddle exports it as `max_pool2d_with_index`); an average that counts paddings which are fewer after than before and
rounds up; paddings as wide as the kernel where an average counts them and they differ, or where one that does not would
have windows outside of x.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, int_vector, rank_of, shape_of
from paddle2ov.converters.graph.spatial import (
    channels_last,
    computed_same_pads,
    padding_algorithm,
    pooling_windows,
    ranked_dims,
    same_pads,
    spatial_dims,
    to_channels_first,
    to_channels_last,
    window_overhang,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def pool(node: NodeContext) -> NamedOutputs:
    """out = the maximum or the average of x over windows of its spatial dimensions."""
    mode = node.get_str("pooling_type", "")
    node.require(mode in ("max", "avg"), "is not supported", pooling_type=mode)
    return {"out": _pool(node, "max" if mode == "max" else "avg")}


def lp_pool(node: NodeContext) -> NamedOutputs:
    """out = (sum of x^p over each window)^(1/p); p = inf takes the maximum."""
    return {"out": _pool(node, "max" if node.get_float("norm_type") == math.inf else "lp")}


def _pool(node: NodeContext, mode: str) -> Tensor:
    x, last = node.get_input("x"), channels_last(node)
    rank = rank_of(node, x)
    axes = list(range(1, rank - 1)) if last else list(range(2, rank))
    adaptive = node.get_bool("adaptive", False)
    is_global = node.get_bool("global_pooling", False)
    if adaptive and not is_global:
        node.require(mode == "avg", "only the average is supported", adaptive=True, pooling_type=mode)
        is_global = node.is_known("kernel_size") and all(size == 1 for size in node.get_ints("kernel_size"))
    if is_global and mode != "lp":
        return (ops.reduce_max if mode == "max" else ops.reduce_mean)(x, ints(axes), True)
    if is_global:
        return _root(node, ops.reduce_sum(_power(node, x), ints(axes), True))
    if last:
        x = to_channels_first(x, rank).output(0)
    out = adaptive_avg(node, x) if adaptive else _pool_windows(node, x, mode)
    return to_channels_last(out, rank) if last else out


# --- adaptive -------------------------------------------------------------------------------------------------------


def adaptive_avg(node: NodeContext, x: Output) -> Tensor:
    """The average over `kernel_size` windows along each spatial dimension of [N, C, ...]; -1 keeps a dimension."""
    dims = ranked_dims(x)[2:]
    if node.is_known("kernel_size"):
        sizes = node.get_ints("kernel_size")
        if dims == sizes or all(size == -1 for size in sizes):
            return x
        if all(dim is not None and (size == -1 or dim % size == 0) for dim, size in zip(dims, sizes, strict=True)):
            kernel = [1 if size == -1 else (dim or 0) // size for dim, size in zip(dims, sizes, strict=True)]
            none = [0] * len(kernel)
            return _avg_pool(x, Windows(kernel, kernel, none, none, ceil=False, dynamic_same=False))
    return ops.adaptive_avg_pool(x, adaptive_sizes(node, x))


def adaptive_sizes(node: NodeContext, x: Output) -> Tensor:
    """The result's spatial dimensions, from `kernel_size`."""
    count = rank_of(node, x) - 2
    if node.is_known("kernel_size"):
        sizes = node.get_ints("kernel_size")
        if -1 not in sizes:
            return ints(sizes)
        spatial = dim_vector(x, range(2, 2 + count))
        return ops.select(ops.equal(ints(sizes), ints(-1)), spatial, ints(sizes))
    return int_vector(node, "kernel_size")


# --- windows --------------------------------------------------------------------------------------------------------


class Windows(Struct, frozen=True):
    """Windows along the spatial dimensions.

    Attributes:
        sizes: of a window.
        strides: from one window to the next.
        begin: paddings before the first element.
        end: paddings after the last one.
        ceil: whether the last window may reach beyond what is padded.
        dynamic_same: whether paddings are SAME, for sizes known only at run time; `begin` and `end` are 0 then.
    """

    sizes: list[int]
    strides: list[int]
    begin: list[int]
    end: list[int]
    ceil: bool
    dynamic_same: bool

    @property
    def rounding(self) -> str:
        """How OpenVINO calls it."""
        return "ceil" if self.ceil else "floor"

    def of_padded(self, end: list[int] | None = None) -> Windows:
        """The same windows over an x that is padded already, except for the paddings in `end`."""
        none = [0] * len(self.sizes)
        return replace(self, begin=none, end=end or none, dynamic_same=False)


def windows_of(node: NodeContext, dims: list[int | None]) -> Windows:
    """The windows that an operator's attributes describe, over these spatial dimensions."""
    spatial = len(dims)
    sizes, strides, begin, end = pooling_windows(node, spatial)
    algorithm, dynamic_same = padding_algorithm(node), False
    if algorithm != "EXPLICIT":
        begin, end = [0] * spatial, [0] * spatial
    if algorithm == "SAME":
        known = [dim for dim in dims if dim is not None]
        dynamic_same = len(known) < spatial
        if not dynamic_same:
            begin, end = same_pads(known, strides, sizes)
    return Windows(sizes, strides, begin, end, node.get_bool("ceil_mode", False), dynamic_same)


def _pool_windows(node: NodeContext, x: Output, mode: str) -> Tensor:
    dims = spatial_dims(x, False)
    at = windows_of(node, dims)
    exclusive = node.get_bool("exclusive", True)
    over = (
        [0] * len(dims) if at.dynamic_same else window_overhang(dims, at.sizes, at.strides, at.begin, at.end, at.ceil)
    )
    if mode == "avg" and not exclusive and node.semantics.full_window_average:
        return _avg_full_windows(x, at, over)
    at = replace(at, sizes=[size - missing for size, missing in zip(at.sizes, over, strict=True)])
    if any(pad >= size for pad, size in zip(at.begin + at.end, at.sizes + at.sizes, strict=True)):
        return _pool_wide_paddings(node, x, mode, at, exclusive)
    has_gaps = any(size < stride for size, stride in zip(at.sizes, at.strides, strict=True))
    if at.dynamic_same and (has_gaps or (mode == "avg" and not exclusive)):
        return _dynamic_same_pool(node, x, mode, at, exclusive)
    if mode == "max":
        return _max_pool(x, at)
    if at.dynamic_same and mode == "lp":
        x, at = _pad(x, *_dynamic_same_pads(x, at)), replace(at.of_padded(), ceil=False)
        exclusive = True
    return _lp_pool(node, x, at) if mode == "lp" else _average_windows(node, x, at, exclusive)


def _max_pool(x: Tensor, at: Windows) -> Output:
    dilations, auto_pad = [1] * len(at.sizes), "same_upper" if at.dynamic_same else None
    pooled = ops.max_pool(x, at.strides, dilations, at.begin, at.end, at.sizes, at.rounding, auto_pad)
    return pooled.output(0)


def _average_windows(node: NodeContext, x: Output, at: Windows, exclusive: bool) -> Node:
    if at.dynamic_same:
        return _avg_pool(x, replace(at, ceil=False))
    if exclusive or not any(at.begin + at.end):
        # Windows that reach beyond the (unpadded) end divide by their elements within x in either case.
        return _avg_pool(x, at)
    if not at.ceil and all(before >= after for before, after in zip(at.begin, at.end, strict=True)):
        return _avg_pool(x, at, exclusive=False)
    counted = [min(before, after) for before, after in zip(at.begin, at.end, strict=True)]
    if at.ceil and counted != at.begin:
        node.refuse(
            "fewer after than before, in an average that counts them and rounds up", paddings=(at.begin, at.end)
        )
    extra = [after - pad for after, pad in zip(at.end, counted, strict=True)]
    return _avg_pool(_pad(x, ints([0, 0, *at.begin]), ints([0, 0, *counted])), at.of_padded(extra))


def _avg_full_windows(x: Output, at: Windows, over: list[int]) -> Node:
    """As in programs of Paddle 1: x is padded as far as any window reaches, and the zeros are counted."""
    begin, end = _dynamic_same_pads(x, at) if at.dynamic_same else (ints([0, 0, *at.begin]), ints([0, 0, *at.end]))
    further = [more + (stride - 1) * at.ceil for more, stride in zip(over, at.strides, strict=True)]
    padded = _pad(x, begin, ops.add(end, ints([0, 0, *further])))
    return _avg_pool(padded, replace(at.of_padded(), ceil=False))


def _dynamic_same_pool(node: NodeContext, x: Output, mode: str, at: Windows, exclusive: bool) -> Tensor:
    """Windows that may be smaller than the strides, with SAME's paddings computed at run time.

    Where a gap is at the end, rounding up gives one more window, which is outside of x.
    """
    begin, end = _dynamic_same_pads(x, at)
    further = [(stride - 1) * at.ceil for stride in at.strides]
    end = ops.add(end, ints([0, 0, *further]))
    padded_windows = replace(at.of_padded(), ceil=False)
    if mode == "max":
        return _max_pool(ops.pad(x, begin, end, "constant", _lowest(x)).output(0), padded_windows)
    if mode == "lp":
        return _lp_pool(node, _pad(x, begin, end), padded_windows)
    out = _avg_pool(_pad(x, begin, end), padded_windows)
    # Paddle divides by these counts; one below 1 belongs to a window outside of x.
    for i, (size, stride) in enumerate(zip(at.sizes, at.strides, strict=True)):
        pad, dim = ops.gather(begin, ints(2 + i), ints(0)), dim_of(x, 2 + i)
        window_indices = index_range(dim_of(out, 2 + i))
        start = ops.subtract(ops.multiply(window_indices, ints(stride)), pad)
        stop = ops.minimum(ops.add(start, ints(size)), dim if exclusive else ops.add(dim, pad))
        held = ops.subtract(stop, ops.maximum(start, ints(0)) if exclusive else start)
        count = ops.reshape(ops.convert(held, x.get_element_type()), ints([-1] + [1] * (len(at.sizes) - 1 - i)), False)
        out = ops.divide(ops.multiply(out, const_like(size, x)), count)
    return out


def _lowest(x: Output) -> Node:
    return const_like(float(np.finfo(x.get_element_type().to_dtype()).min), x)


def _pool_wide_paddings(node: NodeContext, x: Output, mode: str, at: Windows, exclusive: bool) -> Tensor:
    """Paddings as wide as the kernel, which OpenVINO's pooling refuses: x is padded first."""
    pads = ints([0, 0, *at.begin]), ints([0, 0, *at.end])
    if mode == "max":
        return _max_pool(ops.pad(x, *pads, "constant", _lowest(x)).output(0), at.of_padded())
    if mode == "lp":
        return _lp_pool(node, _pad(x, *pads), at.of_padded())
    # Paddle's window counts a negative number of elements where it ends before x or begins after it.
    last = [pad + (stride - 1) * at.ceil for pad, stride in zip(at.end, at.strides, strict=True)]
    inside = all(pad <= size for pad, size in zip(at.begin + last, at.sizes + at.sizes, strict=True))
    node.require(
        inside if exclusive else at.begin == at.end,
        "paddings as wide as the kernel are not supported here",
        paddings=(at.begin, at.end),
        ksize=at.sizes,
    )
    out = _avg_pool(_pad(x, *pads), at.of_padded())
    if not exclusive:
        return out
    ones = ops.broadcast(const_like(1.0, x), shape_of(x)).output(0)
    return ops.divide(out, _avg_pool(_pad(ones, *pads), at.of_padded()))


@works_around("average_pool_without_dilations")
def _avg_pool(x: Output, at: Windows, exclusive: bool = True) -> Node:
    # Without explicit dilations, compiling the AvgPool of opset16 crashes (OpenVINO 2026.4).
    dilations, auto_pad = [1] * len(at.sizes), "same_upper" if at.dynamic_same else None
    return ops.avg_pool(
        x, at.strides, at.begin, at.end, at.sizes, exclusive, at.rounding, auto_pad, dilations=dilations
    )


def _pad(x: Output, begin: Node, end: Node) -> Output:
    return ops.pad(x, begin, end, "constant", const_like(0, x)).output(0)


def _dynamic_same_pads(x: Output, at: Windows) -> tuple[Node, Node]:
    """SAME's paddings for an unknown size, before and after."""
    before, after = computed_same_pads(x, at.strides, ints(at.sizes))
    return ops.concat([ints([0, 0]), before], 0), ops.concat([ints([0, 0]), after], 0)


def _lp_pool(node: NodeContext, x: Output, at: Windows) -> Node:
    if at.ceil:  # the same windows, while the divisor stays the size of the kernel
        at = replace(at, end=[pad + stride - 1 for pad, stride in zip(at.end, at.strides, strict=True)], ceil=False)
    mean = _avg_pool(_power(node, x), at, exclusive=False)
    return _root(node, ops.multiply(mean, const_like(math.prod(at.sizes), mean)))


def _power(node: NodeContext, x: Output) -> Output:
    return ops.power(x, const_like(node.get_float("norm_type"), x)).output(0)


def _root(node: NodeContext, total: Node) -> Node:
    norm_type = node.get_float("norm_type")
    node.require(norm_type != 0, "must not be 0", norm_type=norm_type)
    return ops.power(total, const_like(1.0 / norm_type, total))
