"""Pooling by maximum, average and norm.

Paddle: `pool2d`, `pool3d`, `lp_pool2d` (1-D pooling is `unsqueeze2`, `pool2d`, `squeeze2`).
Semantics: `paddle/phi/kernels/funcs/pooling.cc`, `paddle/phi/kernels/impl/pool_kernel_impl.h`, PoolInferMeta in
`paddle/phi/infermeta/unary.cc`. A window that holds nothing but padding gives NaN (average) or the lowest number.
Of paddings that differ before and after, an average that counts them (`exclusive` False) counts as many after as
before. Not supported: adaptive maximum in `pool2d` itself (Paddle exports it as `max_pool2d_with_index`); an average
that counts paddings which are fewer after than before, or which follow from an unknown size with a stride above the
kernel.
"""

from __future__ import annotations

import math

from openvino import Node, Output, Type

from paddle2ov.converters.common import const_like, ints, rank_of, shape_of
from paddle2ov.converters.spatial import (
    channels_last,
    known_dims,
    padding_algorithm,
    pads_of,
    same_pads,
    spatial_dims,
    to_channels_first,
    to_channels_last,
)
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops


def pool(node: NodeContext) -> NamedOutputs:
    """out = the maximum or the average of x over windows of its spatial dimensions."""
    mode = str(node.get_attribute("pooling_type", ""))
    node.require(mode in ("max", "avg"), "is not supported", pooling_type=mode)
    return {"out": _pool(node, "max" if mode == "max" else "avg")}


def lp_pool(node: NodeContext) -> NamedOutputs:
    """out = (sum of x^p over each window)^(1/p); p = inf takes the maximum."""
    return {"out": _pool(node, "max" if math.isinf(node.get_float("norm_type")) else "lp")}


def _pool(node: NodeContext, mode: str) -> Node | Output:
    x, last = node.get_input("x"), channels_last(node)
    rank = rank_of(node, x)
    axes = list(range(1, rank - 1)) if last else list(range(2, rank))
    adaptive = bool(node.get_attribute("adaptive", False))
    whole = bool(node.get_attribute("global_pooling", False))
    if adaptive and not whole:
        node.require(mode == "avg", "only the average is supported", adaptive=True, pooling_type=mode)
        whole = node.is_known("kernel_size") and all(size == 1 for size in node.get_ints("kernel_size"))
    if whole and mode != "lp":
        return (ops.reduce_max if mode == "max" else ops.reduce_mean)(x, ints(axes), True)
    if whole:
        return _root(node, ops.reduce_sum(_power(node, x), ints(axes), True))
    if last:
        x = to_channels_first(x, rank).output(0)
    out = adaptive_avg(node, x) if adaptive else _windows(node, x, mode)
    return to_channels_last(out, rank) if last else out


# --- adaptive -------------------------------------------------------------------------------------------------------


def adaptive_avg(node: NodeContext, x: Output) -> Node | Output:
    """The average over windows that divide [N, C, ...] into as many parts as asked for; -1 keeps a dimension."""
    dims = known_dims(x)[2:]
    if node.is_known("kernel_size"):
        sizes = node.get_ints("kernel_size")
        if dims == sizes or all(size == -1 for size in sizes):
            return x
        if all(dim is not None and (size == -1 or dim % size == 0) for dim, size in zip(dims, sizes, strict=True)):
            kernel = [1 if size == -1 else (dim or 0) // size for dim, size in zip(dims, sizes, strict=True)]
            return _avg(x, kernel, kernel, [0] * len(kernel), [0] * len(kernel))
    return ops.adaptive_avg_pool(x, adaptive_sizes(node, x))


def adaptive_sizes(node: NodeContext, x: Output) -> Node | Output:
    """The result's spatial dimensions, from `kernel_size`."""
    count = rank_of(node, x) - 2
    if node.is_known("kernel_size"):
        sizes = node.get_ints("kernel_size")
        if -1 not in sizes:
            return ints(sizes)
        spatial = ops.gather(shape_of(x), ints(list(range(2, 2 + count))), ints(0))
        return ops.select(ops.equal(ints(sizes), ints(-1)), spatial, ints(sizes))
    return node.get_tensor("kernel_size", Type.i64)


# --- windows --------------------------------------------------------------------------------------------------------


def _windows(node: NodeContext, x: Output, mode: str) -> Node:
    dims = spatial_dims(x, False)
    spatial = len(dims)
    kernel = node.get_ints("kernel_size")
    strides = node.get_ints("strides", [1] * spatial)
    ceil = bool(node.get_attribute("ceil_mode", False))
    exclusive = bool(node.get_attribute("exclusive", True))
    begin, end = pads_of(node, spatial, node.get_ints("paddings", [0] * spatial))
    algorithm = padding_algorithm(node)
    same_later = False
    if algorithm != "EXPLICIT":
        begin, end = [0] * spatial, [0] * spatial
    if algorithm == "SAME":
        known = [dim for dim in dims if dim is not None]
        if len(known) == spatial:
            begin, end = same_pads(known, strides, kernel)
        else:
            same_later = True
    if mode == "max":
        rounding = "ceil" if ceil else "floor"
        auto_pad = "same_upper" if same_later else None
        return ops.max_pool(x, strides, [1] * spatial, begin, end, kernel, rounding, auto_pad).output(0)
    if mode == "avg" and not exclusive and node.get_attribute("whole_window", False):
        # As programs of Paddle 1 mean it: zeros as far as any window reaches, each counted.
        pads = _later_pads(x, strides, kernel, True) if same_later else (ints([0, 0, *begin]), ints([0, 0, *end]))
        after = ops.add(pads[1], ints([0, 0, *(stride - 1 if ceil else 0 for stride in strides)]))
        return _avg(_pad(x, pads[0], after), kernel, strides, [0] * spatial, [0] * spatial)
    if same_later and (mode == "lp" or not exclusive):
        if any(size < stride for size, stride in zip(kernel, strides, strict=True)):
            node.refuse("needs a known input size", padding_algorithm="SAME", strides=strides, ksize=kernel)
        # The paddings as a tensor. One more at the end, where the total is odd, comes from rounding up, or is known.
        x = _pad(x, *_later_pads(x, strides, kernel, mode == "lp"))
        if mode != "lp":
            end = [1 - size % 2 if stride == 1 else 0 for size, stride in zip(kernel, strides, strict=True)]
        same_later, exclusive, ceil = False, True, mode != "lp"
    if mode == "lp":
        return _lp(node, x, kernel, strides, begin, end, ceil)
    if same_later:
        return _avg(x, kernel, strides, begin, end, auto_pad="same_upper")
    if exclusive or not any(begin + end):
        # Windows that reach beyond the (unpadded) end count what they hold in either case.
        return _avg(x, kernel, strides, begin, end, ceil=ceil)
    if not ceil and all(b >= e for b, e in zip(begin, end, strict=True)):
        return _avg(x, kernel, strides, begin, end, exclusive=False)
    extra = [e - b for b, e in zip(begin, end, strict=True)]
    if any(e < 0 for e in extra):
        node.refuse("fewer after than before, in an average that counts them and rounds up", paddings=(begin, end))
    x = _pad(x, ints([0, 0, *begin]), ints([0, 0, *begin]))
    return _avg(x, kernel, strides, [0] * spatial, extra, ceil=ceil)


def _avg(
    x: Output,
    kernel: list[int],
    strides: list[int],
    begin: list[int],
    end: list[int],
    exclusive: bool = True,
    ceil: bool = False,
    auto_pad: str | None = None,
) -> Node:
    # Without explicit dilations, compiling the AvgPool of opset16 crashes (OpenVINO 2026.4).
    rounding = "ceil" if ceil else "floor"
    return ops.avg_pool(x, strides, begin, end, kernel, exclusive, rounding, auto_pad, dilations=[1] * len(kernel))


def _pad(x: Output, begin: Node, end: Node) -> Output:
    return ops.pad(x, begin, end, "constant", const_like(0, x)).output(0)


def _later_pads(x: Output, strides: list[int], kernel: list[int], all_of_them: bool) -> tuple[Node, Node]:
    """SAME's paddings for an unknown size: (before, as many after), or (before, all that come after)."""
    size = ops.gather(shape_of(x), ints(list(range(2, 2 + len(kernel)))), ints(0))
    rest = ops.mod(size, ints(strides))
    step = ops.select(ops.equal(rest, ints(0)), ints(strides), rest)
    total = ops.maximum(ops.subtract(ints(kernel), step), ints(0))
    before = ops.divide(total, ints(2))
    after = ops.subtract(total, before) if all_of_them else before
    return ops.concat([ints([0, 0]), before], 0), ops.concat([ints([0, 0]), after], 0)


def _lp(
    node: NodeContext,
    x: Output,
    kernel: list[int],
    strides: list[int],
    begin: list[int],
    end: list[int],
    ceil: bool,
) -> Node:
    if ceil:  # as many results, and the divisor stays the kernel's size
        end = [e + stride - 1 for e, stride in zip(end, strides, strict=True)]
    mean = _avg(_power(node, x), kernel, strides, begin, end, exclusive=False)
    return _root(node, ops.multiply(mean, const_like(math.prod(kernel), mean)))


def _power(node: NodeContext, x: Output) -> Output:
    return ops.power(x, const_like(node.get_float("norm_type"), x)).output(0)


def _root(node: NodeContext, total: Node) -> Node:
    norm_type = node.get_float("norm_type")
    node.require(norm_type != 0, "must not be 0", norm_type=norm_type)
    return ops.power(total, const_like(1.0 / norm_type, total))
