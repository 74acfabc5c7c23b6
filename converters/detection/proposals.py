"""Region proposals, and their distribution over the levels of a feature pyramid.

Paddle: `generate_proposals_v2` (PIR `generate_proposals`), `generate_proposals` (legacy only),
`distribute_fpn_proposals`, `collect_fpn_proposals`.
Semantics: `paddle/phi/kernels/cpu/generate_proposals_kernel.cc`, `distribute_fpn_proposals_kernel.cc`,
`paddle/phi/kernels/impl/collect_fpn_proposals_kernel_impl.h`, and `generate_proposals_op.cc` of Paddle 2.6.
Paddle orders boxes of equal scores by an unstable sort; here the first one comes first. Without suppression
(`nms_thresh` of 0) it leaves the best `pre_nms_top_n` in no order; here they are sorted. Regions without `rois_num`
have their images from LoD, or belong to a single image.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from msgspec.structs import replace
from openvino import Node, Type

from paddle2ov.converters.detection.box import decode_boxes, split_corners
from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.detection.rows import count_per_image, image_of_rows, indices_where
from paddle2ov.converters.detection.suppression import GreedyNms
from paddle2ov.converters.graph.common import Tensor, cast_to, const, exact_divide, reshape
from paddle2ov.converters.graph.dims import dim_of, index_range, shape_of
from paddle2ov.converters.lod.sequences import segment_ids
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.values import LoDTensor, SequenceLengths
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def generate_proposals(node: NodeContext) -> NamedOutputs:
    """rpn_rois = the best anchors, moved by bbox_deltas, that survive suppression; one empty box if none does."""
    legacy = node.has_input("im_info")  # (height, width, scale) of generate_proposals, (height, width) of its v2
    scores = node.get_input("scores")
    dtype = scores.get_element_type()
    pixel = True if legacy else node.get_bool("pixel_offset", True)
    offset = const(1 if pixel else 0, Type.f32)
    info = cast_to(node.get_input("im_info" if legacy else "im_shape"), Type.f32)
    size = ops.unsqueeze(ops.gather(info, ints([1, 0]), ints(1)), ints(1))  # [N, 1, 2], width first

    score: Tensor = ops.transpose(cast_to(scores, Type.f32), ints([0, 2, 3, 1]))
    score = ops.reshape(score, ints([0, -1]), True)  # [N, T]
    delta = ops.transpose(cast_to(node.get_input("bbox_deltas"), Type.f32), ints([0, 2, 3, 1]))
    delta = ops.reshape(delta, ints([0, -1, 4]), True)  # [N, T, 4]
    limit: Tensor = dim_of(score, 1)
    first = node.get_int("pre_nms_top_n")
    if first > 0:
        limit = ops.minimum(limit, ints(first))
    top = ops.topk(score, limit, 1, "max", "value", index_element_type="i64")
    score, chosen = top.output(0), top.output(1)  # [N, K]

    anchor, variance = (
        ops.gather(reshape(cast_to(node.get_input(name), Type.f32), [-1, 4]), chosen, ints(0))
        for name in ("anchors", "variances")
    )
    # A Gather with batch dimensions reads beyond its data on OpenVINO's CPU plugin (2026.4).
    delta = ops.gather_nd(delta, ops.unsqueeze(chosen, ints(2)), 1)  # [N, K, 4]
    boxes: Node = decode_boxes(anchor, ops.multiply(variance, delta), not pixel, math.log(1000.0 / 16.0))
    bound = ops.subtract(ops.concat([size, size], 2), offset)
    boxes = ops.maximum(ops.minimum(boxes, bound), const(0, Type.f32))

    scale = ops.unsqueeze(ops.gather(info, ints([2]), ints(1)), ints(1)) if legacy else None
    large = _large(boxes, max(node.get_float("min_size"), 1.0), size if pixel else None, scale, offset)
    score = ops.select(large, score, const(-np.inf, Type.f32))
    nothing = ops.logical_not(ops.reduce_logical_or(large, ints(1), True))
    score = ops.concat([score, ops.select(nothing, const(0, Type.f32), const(-np.inf, Type.f32))], 1)
    boxes = ops.pad(boxes, ints([0, 0, 0]), ints([0, 1, 0]), "constant", const(0, Type.f32))

    threshold, score = node.get_float("nms_thresh"), ops.unsqueeze(score, ints(1))
    overlap = Overlap(threshold, not pixel, node.get_float("eta"))
    if threshold <= 0:  # nothing is suppressed
        kept = GreedyNms(replace(overlap, threshold=2.0)).by_openvino(boxes, score)
    else:
        kept = GreedyNms(overlap)(boxes, score, max(node.get_int("post_nms_top_n"), 0) or -1)
    _, probs, rois = ops.variadic_split(cast_to(kept.out, dtype), ints(1), ints([1, 1, 4])).outputs()
    lengths = SequenceLengths(output_of(kept.count))
    return {
        "rpn_rois": LoDTensor(rois, lengths),
        "rpn_roi_probs": LoDTensor(probs, lengths),
        "rpn_rois_num": kept.count,
        # Paddle 1 has the offsets at which the images' boxes end.
        "rpn_rois_lod": ops.cumsum(ops.convert(kept.count, Type.i64), ints(0)),
    }


def _large(boxes: Node, least: float, size: Node | None, scale: Node | None, offset: Node) -> Node:
    """Which boxes [N, K, 4] have sides of at least `least`, and their center in the image."""
    low, high = split_corners(boxes)
    side = ops.subtract(high, low)
    extent = ops.add(side, offset)
    original = extent if scale is None else ops.add(exact_divide(side, scale), offset)
    large = ops.greater_equal(original, const(least, Type.f32))
    if size is not None:
        center = ops.add(low, ops.multiply(extent, const(0.5, Type.f32)))
        large = ops.logical_and(large, ops.less_equal(center, size))
    return ops.reduce_logical_and(large, ints(2), False)


def distribute_fpn_proposals(node: NodeContext) -> NamedOutputs:
    """Regions of level floor(refer_level + log2(sqrt(area) / refer_scale)), level by level, and their inverse order."""
    rois = node.get_input("fpn_rois")
    dtype = rois.get_element_type()
    lowest, highest = node.get_int("min_level"), node.get_int("max_level")
    level_count = node.get_output_size("multi_fpn_rois")
    reason = f"the operator has {level_count} levels of regions"
    node.require(highest - lowest + 1 == level_count, reason, min_level=lowest, max_level=highest)
    low, high = split_corners(cast_to(rois, Type.f32))
    size = ops.subtract(high, low)
    is_box = ops.reduce_logical_and(ops.greater_equal(size, const(0, Type.f32)), ints(1), False)
    if node.get_bool("pixel_offset", True):
        size = ops.add(size, const(1, Type.f32))
    area = ops.select(is_box, ops.reduce_prod(size, ints(1), False), const(0, Type.f32))
    relative = exact_divide(ops.sqrt(area), const(node.get_int("refer_scale"), Type.f32))
    relative = ops.add(relative, const(1e-6, Type.f32))
    bounds = [_bound(level, node.get_int("refer_level")) for level in range(lowest + 1, highest + 1)]

    count = dim_of(rois, 0)
    above = [ops.greater_equal(relative, const(bound, Type.f32)) for bound in bounds]
    everything = ops.broadcast(const(True, Type.boolean), ops.unsqueeze(count, ints(0)))
    nothing = ops.logical_not(everything)
    from_level, to_level = [everything, *above], [*above, nothing]
    pairs = zip(from_level, to_level, strict=True)
    level_indices = [indices_where(ops.logical_and(a, ops.logical_not(b))) for a, b in pairs]

    order = ops.concat(level_indices, 0) if len(level_indices) > 1 else level_indices[0]
    number = index_range(count)
    restore = ops.scatter_update(number, order, number, ints(0))
    image, images = image_of_rows(node, "rois_num", "fpn_rois")
    counts = [count_per_image(ops.gather(image, index, ints(0)), images) for index in level_indices]
    levels = [cast_to(ops.gather(rois, index, ints(0)), dtype) for index in level_indices]
    return {
        "multi_fpn_rois": [
            LoDTensor(level, SequenceLengths(own.output(0))) for level, own in zip(levels, counts, strict=True)
        ],
        "restore_index": cast_to(ops.unsqueeze(restore, ints(1)), Type.i32),
        "multi_level_rois_num": counts[: node.get_output_size("multi_level_rois_num")],
    }


_INFINITY = 0x7F800000
"""The bits of infinity in float32."""


def _bound(level: int, refer_level: int) -> float:
    """The smallest number whose rounded float32 logarithm belongs to the level."""

    def reaches(bits: int) -> bool:
        return bool(np.floor(np.log2(_float_of(bits)) + np.float32(refer_level)) >= level)

    # Of positive numbers the larger one has the larger bits.
    return float(_float_of(bisect_left(range(1, _INFINITY), True, key=reaches) + 1))


def _float_of(bits: int) -> np.float32:
    return np.uint32(bits).view(np.float32)


def collect_fpn_proposals(node: NodeContext) -> NamedOutputs:
    """fpn_rois = the post_nms_topn best regions of all levels, by image and score."""
    rois, scores = node.get_inputs("multi_level_rois"), node.get_inputs("multi_level_scores")
    dtype = rois[0].get_element_type()
    score = ops.concat([reshape(cast_to(score, Type.f32), [-1]) for score in scores], 0)
    images: Tensor = ints(1)
    level_counts = node.get_inputs("multi_level_rois_num") or [
        lengths for i in range(len(rois)) if (lengths := node.sequence_lengths("multi_level_rois", i)) is not None
    ]
    if level_counts:
        each = zip(rois, level_counts, strict=True)
        image = ops.concat([segment_ids(counts, dim_of(roi, 0)) for roi, counts in each], 0)
        images = ops.squeeze(shape_of(level_counts[0]), ints(0))
    else:
        image = ops.broadcast(ints(0), ops.shape_of(score, Type.i64))
    size = ops.squeeze(ops.shape_of(score, Type.i64), ints(0))
    limit = ops.minimum(size, ints(node.get_int("post_nms_topn")))
    best = ops.topk(score, limit, 0, "max", "value", index_element_type="i64").output(1)
    image = ops.gather(image, best, ints(0))
    rank = index_range(limit)
    key = ops.add(ops.multiply(image, limit), rank)
    order = ops.topk(key, limit, 0, "min", "value", index_element_type="i64").output(1)
    chosen = ops.gather(best, order, ints(0))
    boxes = ops.gather(ops.concat(rois, 0), chosen, ints(0))
    number = count_per_image(image, images)
    return {"fpn_rois": LoDTensor(cast_to(boxes, dtype), SequenceLengths(number.output(0))), "rois_num": number}
