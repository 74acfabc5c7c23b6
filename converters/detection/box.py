"""Boxes: encoding and decoding against priors, similarity, clipping.

Paddle: `box_coder`, `box_clip`; legacy only `iou_similarity`, `box_decoder_and_assign` (Cascade R-CNN),
`polygon_box_transform` (EAST text detectors).
Semantics: `paddle/phi/kernels/cpu/box_coder_kernel.cc`, `paddle/phi/kernels/impl/box_clip_kernel_impl.h`, and
`paddle/fluid/operators/detection/{iou_similarity,box_decoder_and_assign}_op.h` of Paddle 2.6.
`box_clip` takes the image of each box from the LoD.
"""

from __future__ import annotations

import math

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, const, exact_divide
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, rank_of, static_rank
from paddle2ov.converters.lod.sequences import segment_ids
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def split_corners(x: Tensor) -> tuple[Output, Output]:
    """The minimum and the maximum corner of boxes [..., 4], each [..., 2]."""
    split = ops.variadic_split(x, ints(-1), ints([2, 2]))
    return split.output(0), split.output(1)


def box_coder(node: NodeContext) -> NamedOutputs:
    """encode: (center_t - center_p) / size_p / v, log|size_t / size_p| / v; decode: the inverse, as corners."""
    prior, target = node.get_input("prior_box"), node.get_input("target_box")
    code_type = node.get_str("code_type", "encode_center_size")
    normalized = node.get_bool("box_normalized", True)
    if code_type.lower() in ("encode_center_size", "encode"):
        return {"output_box": _encode(node, prior, target, normalized)}
    node.require(code_type.lower() in ("decode_center_size", "decode"), "unknown code type", code_type=code_type)
    axis = node.get_int("axis", 0)
    node.require(axis in (0, 1), "priors run along dimension 1 (axis 0) or 0 (axis 1) of the target", axis=axis)
    # target [N, M, 4]; prior [M, 4] for axis 0, [N, 4] for axis 1
    variance = _variance(node, target.get_element_type())
    code = target if variance is None else ops.multiply(_along(variance, axis), target)
    return {"output_box": decode_boxes(_along(prior, axis), code, normalized)}


def _encode(node: NodeContext, prior: Output, target: Output, normalized: bool) -> Node:
    # target [N, 4] against prior [M, 4] gives [N, M, 4]
    prior_center, prior_size = _center_size(prior, normalized)
    low, high = split_corners(ops.unsqueeze(target, ints(1)))
    center = ops.divide(ops.add(high, low), const(2, target.get_element_type()))
    size = _size(low, high, normalized)
    offset = ops.divide(ops.subtract(center, prior_center), prior_size)
    ratio = ops.log(ops.abs(ops.divide(size, prior_size)))
    code = ops.concat([offset, ratio], -1)
    variance = _variance(node, target.get_element_type())
    return code if variance is None else ops.divide(code, variance)


def decode_boxes(prior: Tensor, code: Tensor, normalized: bool, most: float = math.inf) -> Node:
    """The corners of boxes coded by the shifts of their centers and the logarithms (up to `most`) of their sizes."""
    dtype = code.get_element_type()
    center, size = _center_size(prior, normalized)
    shift, stretch = split_corners(code)
    middle = ops.add(ops.multiply(shift, size), center)
    limited = stretch if math.isinf(most) else ops.minimum(stretch, const(most, dtype))
    half = ops.multiply(ops.multiply(ops.exp(limited), size), const(0.5, dtype))
    high = ops.add(middle, half)
    return ops.concat([ops.subtract(middle, half), high if normalized else ops.subtract(high, const(1, dtype))], -1)


def _along(x: Tensor, axis: int) -> Tensor:
    if axis == 0 or static_rank(x) == 1:
        return x
    return ops.unsqueeze(x, ints(1))


def _variance(node: NodeContext, dtype: Type) -> Tensor | None:
    if node.has_input("prior_box_var"):
        variance = node.get_input("prior_box_var")
        rank_of(node, variance)
        return variance
    values = node.get_floats("variance", [])
    if not values:
        return None
    node.require(len(values) == 4, "four numbers are expected", variance=values)
    return const(values, dtype)


def _size(low: Tensor, high: Tensor, normalized: bool) -> Node:
    size = ops.subtract(high, low)
    return size if normalized else ops.add(size, const(1, low.get_element_type()))


def _center_size(box: Tensor, normalized: bool) -> tuple[Node, Node]:
    low, high = split_corners(box)
    size = _size(low, high, normalized)
    return ops.add(low, ops.multiply(size, const(0.5, low.get_element_type()))), size


def _area(low: Output, high: Output, normalized: bool) -> Node:
    """Width times height of boxes with their last dimension reduced; in pixels (not normalized) both ends count."""
    return ops.reduce_prod(_size(low, high, normalized), ints(-1), False)


def iou_similarity(node: NodeContext) -> NamedOutputs:
    """out[i, j] = intersection over union of box i of x and box j of y."""
    x, y = node.get_input("x"), node.get_input("y")
    normalized = node.get_bool("box_normalized", True)
    dtype = x.get_element_type()
    low_x, high_x = split_corners(ops.unsqueeze(x, ints(1)))
    low_y, high_y = split_corners(y)
    size = _size(ops.maximum(low_x, low_y), ops.minimum(high_x, high_y), normalized)
    inter = ops.reduce_prod(ops.maximum(size, const(0, dtype)), ints(-1), False)
    areas = ops.add(_area(low_x, high_x, normalized), _area(low_y, high_y, normalized))
    union = ops.add(ops.subtract(areas, inter), const(1e-10, dtype))
    return {"out": ops.divide(inter, union)}


def box_clip(node: NodeContext) -> NamedOutputs:
    """output = boxes clipped to their original image, whose bounds are round(im_info[:2] / im_info[2]) - 1."""
    info = node.get_input("im_info")
    boxes, images = node.get_input("input"), info.get_partial_shape()[0]
    rank, dtype = rank_of(node, boxes), boxes.get_element_type()
    if images.is_dynamic or images.get_length() != 1:
        lengths = node.sequence_lengths("input")
        if lengths is None:
            node.refuse("without LoD the image of each box is unknown")
        info = ops.gather(info, segment_ids(lengths, dim_of(boxes, 0)), ints(0)).output(0)
    sides = ops.split(ops.reshape(info, ints([0, *[1] * (rank - 2), 3]), True), ints(-1), 3)
    height, width, scale = sides.outputs()
    # C's round() takes halves away from zero; sizes are positive
    half = const(0.5, dtype)
    sizes = [ops.floor(ops.add(exact_divide(side, scale), half)) for side in (width, height)]
    bound = ops.subtract(ops.concat([*sizes, *sizes], -1), const(1, dtype))
    return {"output": ops.maximum(ops.minimum(boxes, bound), const(0, dtype))}


def box_decoder_and_assign(node: NodeContext) -> NamedOutputs:
    """decode_box = the box of each class; output_assign_box = that of the best class but class 0, or the prior."""
    prior, score = node.get_input("prior_box"), node.get_input("box_score")
    dtype = prior.get_element_type()
    target = ops.reshape(node.get_input("target_box"), ints([0, -1, 4]), True)
    code = ops.multiply(target, node.get_input("prior_box_var"))
    boxes = decode_boxes(ops.unsqueeze(prior, ints([1])), code, False, node.get_float("box_clip", 4.135))
    # The first class is replaced by the prior box, and its score by -1.
    choices = ops.concat([ops.unsqueeze(prior, ints([1])), slice_along(boxes, ints([1]), ints([OPEN_END]), 1)], 1)
    rest = slice_along(score, ints([1]), ints([OPEN_END]), 1)
    scores = ops.pad(rest, ints([0, 1]), ints([0, 0]), "constant", const(-1, dtype))
    chosen = ops.topk(scores, ints(1), 1, "max", "value", index_element_type="i64", stable=True).output(1)
    rows = index_range(dim_of(score, 0))
    indices = ops.concat([ops.unsqueeze(rows, ints([1])), chosen], 1)
    decoded = ops.reshape(boxes, ops.concat([ints([0]), ops.multiply(dim_vector(score, [1]), ints([4]))], 0), True)
    return {"decode_box": decoded, "output_assign_box": ops.gather_nd(choices, indices)}


def polygon_box_transform(node: NodeContext) -> NamedOutputs:
    """output = the corners given by offsets: 4 · column - input in even channels, 4 · row - input in odd ones."""
    x = node.get_input("input")
    dtype, channels = x.get_element_type(), (node.declared_input_shape("input") or [-1] * 4)[1]
    node.require(channels >= 0, "the number of channels must be known")
    rows, columns = (index_range(dim_of(x, axis)) for axis in (2, 3))
    odd = const(arrays.arange(channels).reshape(1, -1, 1, 1) % 2, Type.boolean)
    coordinates = ops.select(odd, ops.unsqueeze(rows, ints([0, 1, 3])), ops.unsqueeze(columns, ints([0, 1, 2])))
    return {"output": ops.subtract(ops.multiply(ops.convert(coordinates, dtype), const(4, dtype)), x)}
