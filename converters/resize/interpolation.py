"""Resizing: by OpenVINO's Interpolate where it computes what Paddle does, else by indices and weights.

Paddle: `nearest_interp_v2`, `bilinear_interp_v2`, `bicubic_interp_v2`, `linear_interp_v2`, `trilinear_interp_v2` (PIR
has the names without the version) and the older `nearest_interp`, `bilinear_interp`, `bicubic_interp`, `linear_interp`,
`trilinear_interp`.
Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`. The `scale` of the older ones is one number that sets the
size only. Sizes come from `size_tensor`, `out_size`, `scale_tensor`, `scale`, or `out_d`, `out_h`, `out_w`, in this
order. A scale also fixes the ratio of coordinates (1 / scale). In two dimensions, in programs before Paddle 3.3, and in
the older ops, a dimension that becomes 1 has the ratio 0: its first element, not its middle.

OpenVINO's Interpolate is emitted where it computes the same; where rounding of the nearest element differs, and where
Paddle's ratio is not in / out, elements are gathered (`nearest.py`) and weighted (`computed.py`). A nearest resize to a
size known at run time goes to Interpolate: at non-integer ratios an exact tie may fall on the neighbour. So does a
scale known at run time, unless a size is given with it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to
from paddle2ov.converters.graph.dims import rank_of
from paddle2ov.converters.graph.spatial import channels_last, ranked_dims, to_channels_first, to_channels_last
from paddle2ov.converters.resize.computed import (
    broadcast_single,
    by_indices,
    computed_scale_sizes,
    crop_single,
    pad_for_computed_scales,
)
from paddle2ov.converters.resize.nearest import nearest, nearest_is_exact
from paddle2ov.converters.resize.scaled_sizes import (
    ResizeParameters,
    attribute_scale,
    dynamic_scaled_sizes,
    dynamic_sizes,
    interpolate_scales_exactly,
    interpolate_sizes,
    scaled_sizes,
    tensor_scales,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.upstream import depends_on_data
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def interpolate(mode: str, version: int = 2) -> Callable[[NodeContext], NamedOutputs]:
    """The converter for one mode: nearest, linear (in any number of dimensions) or cubic."""

    def convert(node: NodeContext) -> NamedOutputs:
        """output = x resized along its spatial dimensions."""
        x = node.get_input("x")
        rank = rank_of(node, x)
        kind = x.get_element_type()
        if mode == "linear" and rank == 3:
            node.require(
                kind.is_real(), "of integers Paddle 3 truncates the weights, Paddle 2 the mean", x=kind.get_type_name()
            )
        last = channels_last(node)
        if last:
            x = to_channels_first(x, rank).output(0)
        plan = _plan(node, mode, version, x, rank)
        out = _resize(x, plan)
        return {"output": to_channels_last(out, rank) if last else out}

    return convert


def _plan(node: NodeContext, mode: str, version: int, x: Output, rank: int) -> ResizeParameters:
    dims = ranked_dims(x)[2:]
    count = rank - 2
    align_corners = node.get_bool("align_corners", True)
    half_pixel = mode == "cubic" or (mode == "linear" and not align_corners and node.get_int("align_mode", 1) == 0)
    scales, scale_tensor = _scales(node, count) if not node.has_input("size_tensor") else (None, None)
    size_tensor: Output | None = None
    sizes: list[int | None] = [None] * count
    named = next((name for name in ("size_tensor", "out_size") if node.has_input(name)), None)
    maybe_single = [i for i, dim in enumerate(dims) if dim is None or dim > 1]
    if named is not None:
        if node.is_known(named):
            sizes = [*node.get_ints(named)[:count]]
        else:
            size_tensor = ops.reshape(node.get_tensor(named, Type.i64), ints([-1]), False).output(0)
    elif scales is not None:
        pairs = zip(dims, scales, strict=True)
        sizes = [None if dim is None else int(scaled_sizes(dim, scale)) for dim, scale in pairs]
        maybe_single = [i for i in maybe_single if dims[i] is None and scales[i] < 1]
    elif scale_tensor is None:
        sizes = [*(node.get_int(name, 0) for name in ("out_d", "out_h", "out_w")[-count:])]
        node.require(all(size and size > 0 for size in sizes), "no size is given", sizes=sizes)
    if version == 1 or align_corners:
        # The ratio comes from the sizes alone.
        if scales is not None and named is None and None in sizes:
            size_tensor = dynamic_scaled_sizes(x, scales).output(0)
        elif scale_tensor is not None and named is None:
            size_tensor = computed_scale_sizes(x, scale_tensor, node.semantics.single_scales).output(0)
        scales = scale_tensor = None
    first = rank == 4 or version == 1 or node.semantics.first_if_single
    if align_corners or not first or mode == "nearest":
        maybe_single = []
    maybe_single = [i for i in maybe_single if sizes[i] is None]
    return ResizeParameters(
        mode,
        align_corners,
        half_pixel,
        rank,
        sizes,
        size_tensor,
        scales,
        scale_tensor,
        first,
        given=named is not None,
        maybe_single=maybe_single,
        single=node.semantics.single_scales,
    )


def _scales(node: NodeContext, count: int) -> tuple[list[float] | None, Output | None]:
    if node.has_input("scale_tensor"):
        if not node.is_known("scale_tensor"):
            flat = ops.reshape(cast_to(node.get_input("scale_tensor"), Type.f32), ints([-1]), False)
            return None, ops.broadcast(flat, ints([count])).output(0)
        values = tensor_scales(node)
    else:
        scale = node.get_attribute("scale") if node.has_attribute("scale") else []  # one number in the older operators
        values = [attribute_scale(value) for value in np.asarray(scale or []).reshape(-1).tolist()]
    if len(values) == 1:
        values = values * count
    if not values or not all(value > 0 for value in values):
        return None, None
    node.require(len(values) == count, f"{count} numbers are expected", scale=values)
    return values, None


def _resize(x: Output, plan: ResizeParameters) -> Tensor:
    dims = ranked_dims(x)[2:]
    unknown = None in (*dims, *plan.sizes)
    if plan.given and (plan.scale_tensor is not None or (plan.scales is not None and unknown)):
        return by_indices(x, plan)
    if plan.scale_tensor is not None:
        return _by_computed_scales(x, plan, plan.scale_tensor)
    if plan.size_tensor is not None:
        if plan.maybe_single:
            x = crop_single(x, plan, ops.equal(plan.size_tensor, ints(1)))
        return _interpolate(x, plan)
    if None not in dims and dims == plan.sizes:
        return x
    if plan.mode == "nearest":
        return _interpolate(x, plan) if nearest_is_exact(plan, dims) else nearest(x, plan)
    single = not plan.align_corners and plan.first and 1 in plan.sizes
    if plan.scales is not None:
        return _by_scales(x, plan, single)
    if single:
        x = crop_single(x, plan, ops.constant(np.asarray([size == 1 for size in plan.sizes])))
    return _interpolate(x, plan)


@works_around("resize_of_kept_size")
def _by_scales(x: Output, plan: ResizeParameters, single: bool) -> Tensor:
    """A linear or cubic resize with the ratio 1 / scale. Interpolate may give one element too many: it is cut."""
    assert plan.scales is not None
    dims = ranked_dims(x)[2:]
    if single and None not in dims:
        return by_indices(x, plan)
    surplus = False
    for dim, size, scale in zip(dims, plan.sizes, plan.scales, strict=True):
        made = None if dim is None else int(interpolate_sizes(dim, scale))
        # OpenVINO's CPU plugin leaves a dimension that keeps its size as it is, whatever the scale. Paddle does so only
        # where all dimensions keep theirs.
        may_stay = 1 < scale < 1.5 and made == dim
        if may_stay or (made is not None and size is not None and size > made):
            return by_indices(x, plan)
        surplus = surplus or (size != made if made is not None else not interpolate_scales_exactly(scale))
    if single or plan.maybe_single:
        axes = [*plan.maybe_single, *(i for i, size in enumerate(plan.sizes) if size == 1)]
        x = broadcast_single(x, plan, dynamic_sizes(x, plan), axes)
    out = _interpolate(x, plan)
    return _cut(out, plan, dynamic_sizes(x, plan)) if surplus else out


def _by_computed_scales(x: Output, plan: ResizeParameters, scales: Output) -> Node:
    """A resize with the ratio 1 / scale, by scales known at run time."""
    sizes = computed_scale_sizes(x, scales, plan.single)
    if plan.maybe_single:
        x = broadcast_single(x, plan, sizes, plan.maybe_single)
    x = pad_for_computed_scales(x, plan, sizes)
    return _cut(_interpolate(x, plan), plan, sizes)


def _cut(x: Node, plan: ResizeParameters, sizes: Tensor) -> Node:
    count = plan.rank - 2
    return ops.slice(x, ints([0] * count), sizes, ints([1] * count), ints(list(range(2, plan.rank))))


@works_around("resize_of_constant_over_one_axis")
def _linear_mode(x: Tensor, plan: ResizeParameters) -> str:
    """The quick mode but for constants over one axis: OpenVINO (2026.4) fails to fold them."""
    node = x if isinstance(x, Node) else x.get_node()
    return "linear" if plan.rank == 3 and not depends_on_data(node) else "linear_onnx"


@works_around("resize_of_one_axis_in_bfloat16")
def _as_image(x: Tensor) -> Node:
    """A sequence as an image of height 1: of three dimensions OpenVINO does not compile what follows, in bfloat16."""
    return ops.unsqueeze(x, ints([2]))


def _interpolate(x: Tensor, plan: ResizeParameters) -> Node:
    target: Tensor
    axes = list(range(2, plan.rank))
    if plan.size_tensor is not None:
        calculation, target = "sizes", plan.size_tensor
    elif plan.scale_tensor is not None:
        calculation, target = "scales", plan.scale_tensor
    elif plan.scales is not None and (None in plan.sizes or plan.mode != "nearest"):
        calculation, target = "scales", ops.constant(np.asarray(plan.scales, np.float32))
    else:
        calculation, target = "sizes", ints([size or 0 for size in plan.sizes])
    dtype = x.get_element_type()
    supported_integers = (Type.u8, Type.i8) if plan.mode == "nearest" else ()  # Paddle truncates means of integers
    if dtype not in (Type.f32, Type.f16, Type.bf16, *supported_integers):
        x = ops.convert(x, Type.f32)
    mode = {"nearest": "nearest", "linear": _linear_mode(x, plan), "cubic": "cubic"}[plan.mode]
    coordinates = "half_pixel" if plan.half_pixel else "asymmetric"
    if plan.align_corners:
        coordinates = "align_corners"
    if plan.rank == 3:
        x, axes = _as_image(x), [3]
    out = ops.interpolate(
        x,
        target,
        mode,
        calculation,
        coordinate_transformation_mode=coordinates,
        nearest_mode="round_prefer_ceil" if plan.align_corners else "floor",
        cube_coeff=-0.75,
        axes=ints(axes),
    )
    if plan.rank == 3:
        out = ops.squeeze(out, ints([2]))
    return out if out.get_element_type() == dtype else ops.convert(out, dtype)
