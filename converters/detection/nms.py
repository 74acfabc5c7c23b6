"""Non-maximum suppression over classes and images.

Paddle: `multiclass_nms3`, `multiclass_nms2` and `multiclass_nms` (legacy only), `nms`, `matrix_nms`.
Semantics: `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`, `paddle/phi/kernels/legacy/cpu/multiclass_nms_kernel.cc`,
`paddle/phi/kernels/cpu/nms_kernel.cc`, `paddle/phi/kernels/cpu/matrix_nms_kernel.cc`.
Polygons (8, 16, 24 or 32 coordinates per box) must be simple, see `exact_suppression`; `matrix_nms` has none. Boxes of
the 2-D form without `rois_num` have their images from LoD, or belong to a single image.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from openvino import Node, Output, Type

from paddle2ov.converters.detection.exact_suppression import Overlap, PolygonOverlap
from paddle2ov.converters.detection.rows import best_per_image, column, count_per_image, image_of_rows, indices_where
from paddle2ov.converters.detection.score_prefilter import score_prefilter
from paddle2ov.converters.detection.suppression import GreedyNms, Kept
from paddle2ov.converters.graph.common import Tensor, cast_to, const, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, rank_of
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import UNKNOWN_LOD, LoDTensor, SequenceLengths
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def multiclass_nms(node: NodeContext) -> NamedOutputs:
    """out = (class, score, box) of the boxes that survive in their class, the best keep_top_k of an image, by class.

    Scores [N, C, M] share their image's boxes [N, M, 4]; scores [M, C] have boxes [M, C, 4] of their own, and rois_num
    is the number of boxes of each image.
    """
    boxes, scores = node.get_input("bboxes"), node.get_input("scores")
    dtype, size = scores.get_element_type(), box_size(node, boxes)
    threshold, background = node.get_float("score_threshold"), node.get_int("background_label", 0)
    candidates = score_prefilter(boxes, scores, threshold, background)
    if candidates:
        boxes, scores = candidates.boxes, candidates.scores
    boxes, scores = output_of(cast_to(boxes, Type.f32)), output_of(cast_to(scores, Type.f32))
    if boxes.get_partial_shape()[2].is_dynamic:
        boxes = ops.reshape(boxes, ints([0, 0, size]), True).output(0)
    greedy = greedy_nms(node, size, background)
    keep = node.get_int("keep_top_k")
    if rank_of(node, scores) == 2:
        kept = _separate(node, greedy, boxes, scores, keep)
    else:
        kept = greedy(boxes, scores, keep)
    out = cast_to(kept.out, dtype)
    index = candidates.index_of(kept.index) if candidates else kept.index
    lengths = kept.count
    if not node.get_output_size("index"):
        out, lengths = sentinel_if_empty(out, 2 + size), lengths_with_sentinel(lengths)
    return {
        "out": LoDTensor(
            out, UNKNOWN_LOD if node.get_output_size("nms_rois_num") else SequenceLengths(output_of(lengths))
        ),
        "index": ops.unsqueeze(cast_to(index, Type.i32), ints(1)),
        "nms_rois_num": kept.count,
    }


def greedy_nms(node: NodeContext, size: int, background: int = -1) -> GreedyNms:
    """The suppression that the attributes describe, of boxes of this many coordinates."""
    overlap = (PolygonOverlap if size > 4 else Overlap)(
        node.get_float("nms_threshold", 0.3),
        node.get_bool("normalized", True),
        node.get_float("nms_eta", 1.0),
        size // 2,
    )
    return GreedyNms(overlap, node.get_float("score_threshold"), node.get_int("nms_top_k"), background)


def box_size(node: NodeContext, boxes: Tensor) -> int:
    """The number of coordinates of a box: 4, or two for each corner of a polygon."""
    last_dim, declared = output_of(boxes).get_partial_shape()[2], node.declared_output_shape("out")
    size = 4
    if last_dim.is_static:
        size = int(last_dim.get_length())
    elif declared and len(declared) == 2 and declared[1] > 2:
        size = declared[1] - 2
    node.require(size in (4, 8, 16, 24, 32), "boxes have 4 coordinates, polygons 8, 16, 24 or 32", box_size=size)
    return size


def _separate(node: NodeContext, greedy: GreedyNms, boxes: Tensor, scores: Tensor, keep: int) -> Kept:
    # Classes and images change places: boxes [C, M, 4], scores [C, images, M], a row for each image's own boxes.
    boxes = ops.transpose(boxes, ints([1, 0, 2]))
    scores = ops.transpose(scores, ints([1, 0]))
    classes, total = dim_of(scores, 0), dim_of(scores, 1)
    owner, images = image_of_rows(node, "rois_num", "bboxes")
    own = ops.logical_and(
        ops.not_equal(ops.unsqueeze(index_range(classes), ints([1, 2])), ints(greedy.background)),
        ops.equal(owner, ops.unsqueeze(index_range(images), ints(1))),
    )
    scores = ops.select(own, ops.unsqueeze(scores, ints(1)), const(-np.inf, Type.f32))
    # The best of an image are those of all classes.
    kept = replace(greedy, background=-1)(boxes, scores, 0 if keep == 0 else -1)
    image, index = cast_to(column(kept.out, 0), Type.i64), cast_to(kept.index, Type.i64)
    label = ops.divide(index, total)
    number = ops.subtract(index, ops.multiply(label, total))
    # by image, class and number of the box: Paddle sorts this form by number, not by score
    key = ops.add(ops.multiply(ops.add(ops.multiply(image, classes), label), total), number)
    key = ops.concat([key, ints([np.iinfo(np.int32).max])], 0)  # TopK needs at least one
    size = ops.squeeze(ops.shape_of(key, Type.i64), ints(0))
    order = ops.topk(key, size, 0, "min", "value", index_element_type="i64").output(1)
    order = ops.slice(order, ints([0]), ints([-1]), ints([1])).output(0)
    if keep > 0:
        scores, owner = (ops.gather(value, order, ints(0)) for value in (column(kept.out, 1), image))
        order = ops.gather(order, best_per_image(owner, scores, images, keep), ints(0)).output(0)
    named = ops.unsqueeze(cast_to(label, Type.f32), ints(1))
    out = ops.concat([named, slice_along(kept.out, ints([1]), ints([OPEN_END]), 1)], 1)
    flat = cast_to(ops.add(ops.multiply(number, classes), label), Type.i32)
    out, flat, owner = (ops.gather(value, order, ints(0)) for value in (out, flat, image))
    return Kept(out, flat, count_per_image(owner, images))


def sentinel_if_empty(out: Tensor, width: int) -> Node:
    """`out`, or [[-1]] if it is empty, which is how operators without an output of counts mark that."""
    count = dim_vector(out, [0])
    some = ops.minimum(count, ints(1))
    marked = ops.concat([out, const(-arrays.ones((1, width)), out.get_element_type())], 0)
    ends = ops.concat([ops.maximum(count, ints(1)), ops.add(ops.multiply(some, ints(width - 1)), ints(1))], 0)
    return ops.slice(marked, ints([0, 0]), ends, ints([1, 1]))


def lengths_with_sentinel(counts: Tensor) -> Output:
    """How many rows each image has in what `sentinel_if_empty` gives: where all have none, one sequence of one row."""
    counts = cast_to(counts, Type.i64)
    images, total = dim_vector(counts, [0]), ops.reduce_sum(counts, ints([0]), True)
    none = cast_to(ops.equal(total, ints([0])), Type.i64)
    begin = ops.multiply(images, none)
    return ops.slice(ops.concat([counts, ints([1])], 0), begin, ops.add(images, none), ints([1])).output(0)


def nms(node: NodeContext) -> NamedOutputs:
    """out = the indices of the boxes, in order, that overlap no earlier kept box by more than the threshold."""
    x = reshape(cast_to(node.get_input("x"), Type.f32), [1, -1, 4])
    count = dim_of(x, 1)
    # Earlier boxes have the better score.
    score = reshape(cast_to(ops.subtract(count, index_range(count)), Type.f32), [1, 1, -1])
    # This kernel keeps boxes that overlap by 0 / 0, as OpenVINO does.
    threshold = node.get_float("threshold", 1.0)
    node.require(threshold >= 0, "negative", threshold=threshold)
    kept = GreedyNms(Overlap(threshold)).by_openvino(x, score)
    return {"out": cast_to(kept.index, Type.i64)}


@works_around("matrix_nms_without_boxes")
def matrix_nms(node: NodeContext) -> NamedOutputs:
    """out = (class, score, box) with scores that decay by the overlap with better boxes; best first in each image."""
    boxes, scores = node.get_input("bboxes"), node.get_input("scores")
    candidates = score_prefilter(boxes, scores, node.get_float("score_threshold"), node.get_int("background_label", 0))
    if candidates:
        boxes, scores = candidates.boxes, candidates.scores
    dtype = scores.get_element_type()
    size = boxes.get_partial_shape()[2]
    node.require(size.is_dynamic or size.get_length() == 4, "polygons are not supported", box_size=size)
    # One extra box per image, with the best score in an extra first class: OpenVINO raises where nothing survives.
    boxes = ops.reshape(cast_to(boxes, Type.f32), ints([0, 0, 4]), True).output(0)
    count, images = dim_of(boxes, 1), dim_of(scores, 0)
    last = ops.equal(index_range(ops.add(count, ints(1))), count)
    extra = ops.select(last, const(_SENTINEL, Type.f32), const(-np.inf, Type.f32))
    row_shape = ops.concat([ops.unsqueeze(size, ints(0)) for size in (images, ints(1), ops.add(count, ints(1)))], 0)
    padded = ops.pad(cast_to(scores, Type.f32), ints([0, 0, 0]), ints([0, 0, 1]), "constant", const(-np.inf, Type.f32))
    keep, top = node.get_int("keep_top_k"), node.get_int("nms_top_k")
    selected = ops.matrix_nms(
        ops.pad(boxes, ints([0, 0, 0]), ints([0, 1, 0]), "constant", const(0, Type.f32)),
        ops.concat([ops.broadcast(extra, row_shape), padded], 1),
        sort_result_type="score",
        sort_result_across_batch=False,
        output_type="i64",
        score_threshold=node.get_float("score_threshold") if top else _SENTINEL / 2,
        nms_top_k=top or 1,
        keep_top_k=keep + 1 if keep >= 0 else -1,
        background_class=max(node.get_int("background_label", 0) + 1, 0) or -1,
        decay_function="gaussian" if node.get_bool("use_gaussian", False) else "linear",
        gaussian_sigma=node.get_float("gaussian_sigma", 2.0),
        post_threshold=node.get_float("post_threshold", 0.0),
        normalized=node.get_bool("normalized", True),
    )
    real = indices_where(ops.greater(column(selected.output(0), 0), const(0, Type.f32)))
    out = ops.subtract(ops.gather(selected.output(0), real, ints(0)), const([1, 0, 0, 0, 0, 0], Type.f32))
    index = ops.gather(selected.output(1), real, ints(0))
    image = ops.divide(index, ops.add(count, ints(1)))
    index = ops.subtract(index, image)  # one box less for each image
    if candidates:
        index = candidates.index_of(index)
    counts = cast_to(ops.subtract(selected.output(2), ints(1)), Type.i32)
    lod = UNKNOWN_LOD if node.get_output_size("roisnum") else SequenceLengths(output_of(counts))
    return {"out": LoDTensor(cast_to(out, dtype), lod), "index": cast_to(index, Type.i32), "roisnum": counts}


_SENTINEL = 3e38
"""A score above all others."""
