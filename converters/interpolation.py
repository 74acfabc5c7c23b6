"""Resizing.

Paddle: `{nearest,bilinear,bicubic,linear,trilinear}_interp_v2` (PIR without `_v2`) and the older ops of the same names
without `_v2`, whose `scale` is one number that decides the size only.
Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`. Sizes come from `size_tensor`, `out_size`, `scale_tensor`,
`scale`, or `out_d`, `out_h`, `out_w`, in this order. A scale also fixes the ratio of coordinates (1 / scale). In two
dimensions one that becomes 1 has the ratio 0: its first element, not its middle. (So it is in one and three dimensions
in Paddle 2; here they follow Paddle 3.)

OpenVINO's Interpolate is emitted where it computes the same; where rounding of the nearest element differs, and where
Paddle's ratio is not in / out, rows are gathered or mixed by weights computed here. A nearest resize to a size that the
program computes goes to Interpolate: at ratios that are no integers an exact tie may then fall on the neighbour.
Not supported: a bicubic or scaled resize of unknown size to a size that does not follow from its scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from openvino import Node, Output, Type

from paddle2ov.converters.common import cast_to, ints, rank_of, shape_of
from paddle2ov.converters.spatial import channels_last, known_dims, to_channels_first, to_channels_last
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class _Resize:
    """What is asked for: `sizes` holds the new sizes where they are known, `scales` those that fix the ratio."""

    mode: str
    align_corners: bool
    half_pixel: bool
    rank: int
    sizes: list[int | None]
    size_tensor: Output | None
    scales: list[float] | None
    scale_tensor: Output | None

    def coordinates(self) -> str:
        if self.align_corners:
            return "align_corners"
        return "half_pixel" if self.half_pixel else "asymmetric"


def interpolate(mode: str, version: int = 2) -> Callable[[NodeContext], NamedOutputs]:
    """The converter for one mode."""

    def convert(node: NodeContext) -> NamedOutputs:
        """output = x resized along its spatial dimensions"""
        x = node.get_input("x")
        rank = rank_of(node, x)
        last = channels_last(node)
        if last:
            x = to_channels_first(x, rank).output(0)
        plan = _plan(node, mode, version, x, rank)
        out = _resize(node, x, plan)
        return {"output": to_channels_last(out, rank) if last else out}

    return convert


def _plan(node: NodeContext, mode: str, version: int, x: Output, rank: int) -> _Resize:
    dims = known_dims(x)[2:]
    count = rank - 2
    align_corners = bool(node.get_attribute("align_corners", True))
    half_pixel = mode == "cubic" or (mode == "linear" and not align_corners and node.get_int("align_mode", 1) == 0)
    scales, scale_tensor = _scales(node, count) if not node.has_input("size_tensor") else (None, None)
    size_tensor: Output | None = None
    sizes: list[int | None] = [None] * count
    given = next((name for name in ("size_tensor", "out_size") if node.has_input(name)), None)
    if given is not None:
        if node.is_known(given):
            sizes = [*node.get_ints(given)[:count]]
        else:
            size_tensor = node.get_tensor(given, Type.i64)
    elif scales is not None:
        sizes = [_scaled(dim, scale, version) for dim, scale in zip(dims, scales, strict=True)]
    elif scale_tensor is None:
        names = ("out_d", "out_h", "out_w")[-count:]
        sizes = [*(node.get_int(name, -1) for name in names)]
        node.require(all(size and size > 0 for size in sizes), "no size is given", sizes=sizes)
    if given is not None and scale_tensor is not None:
        node.refuse("a size together with a computed scale is not supported")
    if version == 1:
        # The older kernels take the ratio from the sizes alone.
        if scales is not None and given is None and None in sizes:
            size_tensor = _floor_scaled(x, scales, rank)
        scales = None
    elif scales is not None and given is not None and size_tensor is not None:
        node.refuse("a computed size together with a scale is not supported", scale=scales)
    return _Resize(mode, align_corners, half_pixel, rank, sizes, size_tensor, scales, scale_tensor)


def _scales(node: NodeContext, count: int) -> tuple[list[float] | None, Output | None]:
    if node.has_input("scale_tensor"):
        if not node.is_known("scale_tensor"):
            flat = ops.reshape(cast_to(node.get_input("scale_tensor"), Type.f32), ints([-1]), False)
            return None, ops.broadcast(flat, ints([count])).output(0)
        values = node.get_constant("scale_tensor").reshape(-1).tolist()
    else:
        values = np.asarray(node.get_attribute("scale", []) or []).reshape(-1).tolist()
    if len(values) == 1:
        values = values * count
    if not values or any(value <= 0 for value in values):
        return None, None
    node.require(len(values) == count, f"{count} numbers are expected", scale=values)
    return [float(value) for value in values], None


def _scaled(dim: int | None, scale: float, version: int) -> int | None:
    if dim is None:
        return None
    single = np.float32(scale)
    # A scale that is written as double (newer programs) multiplies as double.
    return int(np.float32(dim) * single) if float(single) == scale else int(dim * scale)


def _floor_scaled(x: Output, scales: list[float], rank: int) -> Output:
    spatial = ops.gather(shape_of(x), ints(list(range(2, rank))), ints(0))
    product = ops.multiply(ops.convert(spatial, Type.f32), ops.constant(np.asarray(scales, np.float32)))
    return ops.convert(ops.floor(product), Type.i64).output(0)


def _resize(node: NodeContext, x: Output, plan: _Resize) -> Node | Output:
    dims = known_dims(x)[2:]
    if None not in dims and None not in plan.sizes and dims == plan.sizes:
        return x
    if plan.size_tensor is None and plan.scale_tensor is None:
        if plan.mode == "nearest" and not _nearest_is_exact(plan, dims):
            return _nearest(x, plan)
        if None not in dims and None not in plan.sizes and not _ratios_agree(plan, dims):
            return _by_weights(x, plan, dims)
        if plan.mode != "nearest" and not plan.align_corners and plan.rank == 4 and 1 in plan.sizes:
            return _to_single(node, x, plan)
    return _interpolate(node, x, plan, list(range(2, plan.rank)), plan.sizes, plan.scales)


def _interpolate(
    node: NodeContext,
    x: Output | Node,
    plan: _Resize,
    axes: list[int],
    sizes: list[int | None],
    scales: list[float] | None,
) -> Node:
    target: Node | Output
    if plan.size_tensor is not None:
        calculation, target = "sizes", plan.size_tensor
    elif plan.scale_tensor is not None:
        calculation, target = "scales", plan.scale_tensor
    elif scales is not None and (None in sizes or plan.mode != "nearest"):
        node.require(None in sizes or _follows(x, axes, sizes, scales), "a size besides the scale", scale=scales)
        calculation, target = "scales", ops.constant(np.asarray(scales, np.float32))
    else:
        calculation, target = "sizes", ints([size or 0 for size in sizes])
    mode = {"nearest": "nearest", "linear": "linear_onnx", "cubic": "cubic"}[plan.mode]
    dtype = x.get_element_type()
    if dtype not in (Type.f32, Type.f16, Type.bf16, Type.u8, Type.i8):
        x = ops.convert(x, Type.f32)
    out = ops.interpolate(
        x,
        target,
        mode,
        calculation,
        coordinate_transformation_mode=plan.coordinates(),
        nearest_mode="round_prefer_ceil" if plan.align_corners else "floor",
        cube_coeff=-0.75,
        axes=ints(axes),
    )
    return out if out.get_element_type() == dtype else ops.convert(out, dtype)


def _follows(x: Output | Node, axes: list[int], sizes: list[int | None], scales: list[float]) -> bool:
    dims = known_dims(x)
    return all(
        dims[axis] is None or size == int(np.floor((dims[axis] or 0) * np.float32(scale)))
        for axis, size, scale in zip(axes, sizes, scales, strict=True)
    )


# --- exact coordinates ------------------------------------------------------------------------------------------------


def _ratio(plan: _Resize, i: int, dim: int, size: int) -> np.float32:
    """Paddle's ratio of one dimension: source coordinate per result coordinate."""
    if size <= 1 and (plan.align_corners or plan.rank == 4):
        return np.float32(0)
    if plan.align_corners:
        return np.float32(dim - 1) / np.float32(size - 1)
    if plan.scales is not None:
        return np.float32(1.0 / plan.scales[i])
    return np.float32(dim) / np.float32(size)


def _ratios_agree(plan: _Resize, dims: list[int | None]) -> bool:
    """Whether Interpolate, told sizes or scales, has Paddle's ratios."""
    if plan.align_corners or plan.scales is None or plan.mode == "nearest":
        return True
    return all(
        size == int(np.floor((dim or 0) * np.float32(scale)))
        for dim, size, scale in zip(dims, plan.sizes, plan.scales, strict=True)
    )


def _nearest_indices(plan: _Resize, i: int, dim: int, size: int) -> npt.NDArray[np.int64]:
    source = _ratio(plan, i, dim, size) * np.arange(size, dtype=np.float32)
    if plan.align_corners:
        source = np.floor(source.astype(np.float64) + 0.5).astype(np.float32)
    return source.astype(np.int64)


def _nearest_is_exact(plan: _Resize, dims: list[int | None]) -> bool:
    """Whether Interpolate picks Paddle's elements: no result may lie on a boundary that rounding could cross."""
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        if dim is None or size is None:
            scale = plan.scales[i] if plan.scales is not None else 0.0
            if plan.align_corners or size is not None or scale != int(scale) or not 1 <= scale <= 32:
                return False
            continue
        k = np.arange(size)
        if plan.align_corners:
            top, bottom = 2 * k * (dim - 1) + max(size - 1, 1), 2 * max(size - 1, 1)
        else:
            top, bottom = k * dim, size
        safe = (size % dim == 0 and size // dim <= 32) or dim % size == 0 or not (top[1:] % bottom == 0).any()
        if not safe or (top // bottom != _nearest_indices(plan, i, dim, size)).any():
            return False
    return True


def _nearest(x: Output, plan: _Resize) -> Node:
    """The elements that Paddle's arithmetic names, one dimension after the other."""
    out: Output | Node = x
    dims = known_dims(x)
    for i, size in enumerate(plan.sizes):
        dim = dims[2 + i]
        if dim is not None and size is not None:
            indices: Node = ints(_nearest_indices(plan, i, dim, size).tolist())
        else:
            indices = _indices_later(x, plan, i, size)
        out = ops.gather(out, indices, ints(2 + i))
    return out


def _indices_later(x: Output, plan: _Resize, i: int, size: int | None) -> Node:
    length = ops.convert(ops.gather(shape_of(x), ints(2 + i), ints(0)), Type.f32)
    one = ops.constant(np.float32(1))
    if size is None:
        assert plan.scales is not None
        count: Node = ops.floor(ops.multiply(length, ops.constant(np.float32(plan.scales[i]))))
    else:
        count = ops.constant(np.float32(size))
    if plan.align_corners:
        steps = ops.maximum(ops.subtract(count, one), ops.constant(np.float32(1)))
        ratio: Node = ops.divide(ops.subtract(length, ops.constant(np.float32(1))), steps)
    elif plan.scales is not None:
        ratio = ops.constant(np.float32(1.0 / plan.scales[i]))
    else:
        ratio = ops.divide(length, count)
    k = ops.range(ops.constant(np.float32(0)), count, ops.constant(np.float32(1)), Type.f32)
    source = ops.multiply(k, ratio)
    if plan.align_corners:
        source = ops.floor(ops.add(source, ops.constant(np.float32(0.5))))
    return ops.convert(source, Type.i64)


def _by_weights(x: Output, plan: _Resize, dims: list[int | None]) -> Node:
    """A resize whose ratio is not that of its sizes: each dimension is multiplied by a matrix of weights."""
    out: Output | Node = x
    dtype = x.get_element_type()
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        assert dim is not None
        assert size is not None
        axis = 2 + i
        order = [*(a for a in range(plan.rank) if a != axis), axis]
        back = [order.index(a) for a in range(plan.rank)]
        weights = ops.constant(_weights(plan, i, dim, size).T, dtype)
        mixed = ops.matmul(ops.transpose(out, ints(order)), weights, False, False)
        out = ops.transpose(mixed, ints(back))
    return out


def _weights(plan: _Resize, i: int, dim: int, size: int) -> Floats:
    """[size, dim]: how much of each source element a result takes."""
    ratio = _ratio(plan, i, dim, size)
    k = np.arange(size, dtype=np.float32)
    half = plan.half_pixel and not plan.align_corners
    source = ratio * (k + np.float32(0.5)) - np.float32(0.5) if half else ratio * k
    weights = np.zeros((size, dim), np.float32)
    if plan.mode == "linear":
        source = np.maximum(source, 0)
        low = np.minimum(source.astype(np.int64), dim - 1)
        part = source - low.astype(np.float32)
        np.add.at(weights, (np.arange(size), low), 1 - part)
        np.add.at(weights, (np.arange(size), np.minimum(low + 1, dim - 1)), part)
        return weights
    low = np.floor(source).astype(np.int64)
    for offset, part in enumerate(_cubic(source - low.astype(np.float32))):
        np.add.at(weights, (np.arange(size), np.clip(low - 1 + offset, 0, dim - 1)), part)
    return weights


def _cubic(t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    def near(x: Floats) -> Floats:
        return ((1.25 * x - 2.25) * x) * x + 1

    def far(x: Floats) -> Floats:
        return ((-0.75 * x + 3.75) * x - 6) * x + 3

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _to_single(node: NodeContext, x: Output, plan: _Resize) -> Node | Output:
    """A dimension that becomes 1 has the ratio 0: linear interpolation takes its first element."""
    dims = known_dims(x)[2:]
    if plan.mode == "cubic":
        if None in dims:
            node.refuse("a bicubic resize of unknown size to size 1 is not supported")
        return _by_weights(x, plan, dims)
    out: Output | Node = x
    rest = []
    for i, size in enumerate(plan.sizes):
        if size == 1:
            out = ops.slice(out, ints([0]), ints([1]), ints([1]), ints([2 + i]))
        else:
            rest.append(i)
    if not rest:
        return out
    scales = [plan.scales[i] for i in rest] if plan.scales is not None else None
    return _interpolate(node, out, plan, [2 + i for i in rest], [plan.sizes[i] for i in rest], scales)
