"""Pooling by maximum, average and norm, also into pyramids of bins.

Paddle: `pool2d`, `pool3d`, `lp_pool2d`, `spp` (legacy only).
Semantics: `paddle/phi/kernels/funcs/pooling.cc`, `paddle/phi/kernels/impl/pool_kernel_impl.h`, PoolInferMeta in
`paddle/phi/infermeta/unary.cc`, `paddle/fluid/operators/spp_op.h` of Paddle 2.6. Pooling in one dimension is
`unsqueeze2`, `pool2d`, `squeeze2`. A window that holds nothing but padding gives NaN (average) or the lowest number. Of
paddings that differ before and after, an average that counts them (`exclusive` False) counts as many after as before.
Refused: adaptive maximum in `pool2d` itself (Paddle exports it as `max_pool2d_with_index`); `spp` of images of unknown
size, which the windows follow from, and of images smaller than the finest bins.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, const_like, folded, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, int_vector, rank_of
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
from paddle2ov.graph.shapes import known_dims
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
        return _root(node, ops.reduce_sum(ops.power(x, const_like(node.get_float("norm_type"), x)), ints(axes), True))
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

    @property
    def has_more_after(self) -> bool:
        """Whether there are more paddings after x than before it, along any dimension."""
        return any(before < after for before, after in zip(self.begin, self.end, strict=True))


def windows_of(node: NodeContext, dims: list[int | None]) -> Windows:
    """The windows that an operator's attributes describe, over these spatial dimensions."""
    spatial = len(dims)
    sizes, strides, begin, end = pooling_windows(node, spatial)
    algorithm, dynamic_same = padding_algorithm(node), False
    if algorithm != "EXPLICIT":
        begin, end = [0] * spatial, [0] * spatial
    if algorithm == "SAME":
        known = known_dims(dims)
        dynamic_same = known is None
        if known is not None:
            begin, end = same_pads(known, strides, sizes)
    return Windows(sizes, strides, begin, end, node.get_bool("ceil_mode", False), dynamic_same)


def _pool_windows(node: NodeContext, x: Output, mode: str) -> Tensor:
    dims = spatial_dims(x, False)
    at = windows_of(node, dims)
    counts_paddings = not node.get_bool("exclusive", True) and mode == "avg"
    over = [0] * len(dims)
    if not at.dynamic_same:
        over = window_overhang(dims, at.sizes, at.strides, at.begin, at.end, at.ceil)
    fitting = replace(at, sizes=[size - missing for size, missing in zip(at.sizes, over, strict=True)])
    if at.dynamic_same:
        has_gaps = any(size < stride for size, stride in zip(at.sizes, at.strides, strict=True))
        is_padded = has_gaps or counts_paddings or mode == "lp"
    else:
        is_padded = any(pad >= size for pad, size in zip(at.begin + at.end, fitting.sizes * 2, strict=True))
    if counts_paddings and node.semantics.full_window_average:
        is_padded |= at.ceil or any(over) or at.has_more_after
    elif counts_paddings and at.ceil:
        is_padded |= any(before > after for before, after in zip(at.begin, at.end, strict=True))
    if is_padded:
        return _pool_padded(node, x, mode, at, over, counts_paddings)
    if mode == "max":
        return _max_pool(x, fitting)
    if mode == "lp":
        return _lp_pool(node, x, fitting)
    return _average(x, replace(fitting, ceil=at.ceil and not at.dynamic_same), counts_paddings)


def _average(x: Output, at: Windows, counts_paddings: bool) -> Node:
    if not counts_paddings or not any(at.begin + at.end):
        # Windows that reach beyond the (unpadded) end divide by their elements within x in either case.
        return _avg_pool(x, at)
    if not at.ceil and not at.has_more_after:
        return _avg_pool(x, at, exclusive=False)
    # Paddle counts as many paddings after x as before it. OpenVINO's pooling makes the others, and counts none of them.
    counted = [min(before, after) for before, after in zip(at.begin, at.end, strict=True)]
    others = [after - pad for after, pad in zip(at.end, counted, strict=True)]
    padded = ops.pad(x, ints([0, 0, *at.begin]), ints([0, 0, *counted]), "constant", const_like(0, x))
    return _avg_pool(padded, replace(at, begin=[0] * len(others), end=others))


def _max_pool(x: Tensor, at: Windows) -> Output:
    dilations, auto_pad = [1] * len(at.sizes), "same_upper" if at.dynamic_same else None
    pooled = ops.max_pool(x, at.strides, dilations, at.begin, at.end, at.sizes, at.rounding, auto_pad)
    return pooled.output(0)


def _pool_padded(
    node: NodeContext, x: Output, mode: str, at: Windows, over: list[int], counts_paddings: bool
) -> Tensor:
    """The same over an x that is padded as far as any window reaches.

    This is for what OpenVINO's pooling does not have: paddings as wide as the kernel, those of SAME that are computed
    (where a gap is at the end, rounding up gives one more window, which is outside of x), and Paddle's ways of counting
    them.
    """
    begin, end = ints(at.begin), ints(at.end)
    if at.dynamic_same:
        begin, end = computed_same_pads(x, at.strides, ints(at.sizes))
    further = ints([missing + (stride - 1) * at.ceil for missing, stride in zip(over, at.strides, strict=True)])
    before, after = (folded(ops.concat([ints([0, 0]), pads], 0)) for pads in (begin, ops.add(end, further)))
    lowest = float(np.finfo(x.get_element_type().to_dtype()).min)
    padded = ops.pad(x, before, after, "constant", const_like(lowest if mode == "max" else 0, x)).output(0)
    none = [0] * len(over)
    windows = Windows(at.sizes, at.strides, none, none, ceil=False, dynamic_same=False)
    if mode == "max":
        return _max_pool(padded, windows)
    if mode == "lp":
        return _lp_pool(node, padded, windows)
    out = _avg_pool(padded, windows)
    if counts_paddings and node.semantics.full_window_average:
        return out
    # Paddle divides by these counts; one below 1 belongs to a window outside of x.
    for i, (size, stride) in enumerate(zip(at.sizes, at.strides, strict=True)):
        pad, dim = ops.gather(begin, ints(i), ints(0)), dim_of(x, 2 + i)
        start = ops.subtract(ops.multiply(index_range(dim_of(out, 2 + i)), ints(stride)), pad)
        stop = ops.minimum(ops.add(start, ints(size)), ops.add(dim, pad) if counts_paddings else dim)
        held = ops.subtract(stop, start if counts_paddings else ops.maximum(start, ints(0)))
        count = reshape(ops.convert(held, x.get_element_type()), [-1] + [1] * (len(none) - 1 - i))
        out = ops.divide(ops.multiply(out, const_like(size, x)), folded(count))
    return out


@works_around("average_pool_without_dilations")
def _avg_pool(x: Tensor, at: Windows, exclusive: bool = True) -> Node:
    # Without explicit dilations, compiling the AvgPool of opset16 crashes (OpenVINO 2026.4).
    dilations, auto_pad = [1] * len(at.sizes), "same_upper" if at.dynamic_same else None
    return ops.avg_pool(
        x, at.strides, at.begin, at.end, at.sizes, exclusive, at.rounding, auto_pad, dilations=dilations
    )


def _lp_pool(node: NodeContext, x: Output, at: Windows) -> Node:
    if at.ceil:  # the same windows, while the divisor stays the size of the kernel
        at = replace(at, end=[pad + stride - 1 for pad, stride in zip(at.end, at.strides, strict=True)], ceil=False)
    mean = _avg_pool(ops.power(x, const_like(node.get_float("norm_type"), x)), at, exclusive=False)
    return _root(node, ops.multiply(mean, const_like(math.prod(at.sizes), mean)))


def _root(node: NodeContext, total: Node) -> Node:
    norm_type = node.get_float("norm_type")
    node.require(norm_type != 0, "must not be 0", norm_type=norm_type)
    return ops.power(total, const_like(1.0 / norm_type, total))


# --- pyramids -------------------------------------------------------------------------------------------------------


def spp(node: NodeContext) -> NamedOutputs:
    """out = x pooled into 1 × 1, 2 × 2, 4 × 4, ... bins, all in one row."""
    x, kind = node.get_input("x"), node.get_str("pooling_type")
    node.require(kind in ("max", "avg"), "unknown", pooling_type=kind)
    height, dims = node.get_int("pyramid_height"), known_dims(ranked_dims(x)[2:])
    if dims is None:
        node.refuse("an image of unknown size is not supported")
    levels = []
    for level in range(height):
        bins = 2**level
        node.require(min(dims) >= bins, f"{min(dims)} elements are too few for {bins} bins", pyramid_height=height)
        kernel = [-(-size // bins) for size in dims]
        missing = [width * bins - size for width, size in zip(kernel, dims, strict=True)]
        begin, end = [(pad + 1) // 2 for pad in missing], [pad // 2 for pad in missing]
        fits = all(pad < width for pad, width in zip(begin, kernel, strict=True))
        node.require(fits, "a window outside of the image is not supported", pyramid_height=height)
        at = Windows(kernel, kernel, begin, end, ceil=False, dynamic_same=False)
        pooled = _max_pool(x, at) if kind == "max" else _avg_pool(x, at)
        levels.append(ops.reshape(pooled, ints([0, -1]), True))
    return {"out": ops.concat(levels, 1)}
