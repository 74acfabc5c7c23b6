"""Prior boxes and anchors: boxes that depend only on the sizes of a feature map and of the image.

Paddle: `prior_box`, `density_prior_box` (legacy only), `anchor_generator`.
Semantics: `paddle/phi/kernels/cpu/prior_box_kernel.cc`, `paddle/phi/kernels/impl/anchor_generator_kernel_impl.h`, and
`paddle/fluid/operators/detection/density_prior_box_op.h` of Paddle 2.6.
If the sizes are known the boxes are a constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import cast_to, const, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, known_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue
from paddle2ov.program.budget import MAX_REPEATS, charge_array, check_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray

Boxes: TypeAlias = ConstantValue | Node
"""A constant if the sizes are known."""


def prior_box(node: NodeContext) -> NamedOutputs:
    """out[h, w, p] = (center(h, w) -+ half size of prior p) / image size; var = the variances everywhere."""
    dtype = node.get_input("input").get_element_type()
    half = _prior_halves(node)
    grid = _Grid(node, dtype, node.get_float("step_w", 0.0), node.get_float("step_h", 0.0))
    boxes = grid.boxes(np.concatenate([-half, half], 1), node.get_float("offset", 0.5))
    if node.get_bool("clip", True):
        if isinstance(boxes, ConstantValue):
            boxes = ConstantValue(np.clip(boxes.array, 0, 1))
        else:
            boxes = ops.clamp(boxes, 0.0, 1.0)
    return {"out": boxes, "var": _variances(node, boxes, len(half))}


def _prior_halves(node: NodeContext) -> AnyArray:
    """Half widths and heights of the priors at one position, in Paddle's order, [P, 2]."""
    min_sizes = node.get_floats("min_sizes")
    max_sizes = node.get_floats("max_sizes", [])
    aspect_ratios = node.get_floats("aspect_ratios", [])
    _check_count(node, len(min_sizes) * (2 * len(aspect_ratios) + 2))
    ratios = _expanded(aspect_ratios, node.get_bool("flip", True))
    first = node.get_bool("min_max_aspect_ratios_order", False)
    node.require(not max_sizes or len(max_sizes) >= len(min_sizes), "fewer than min_sizes", max_sizes=max_sizes)
    halves = []
    for i, small in enumerate(min_sizes):
        square = [(math.sqrt(small * max_sizes[i]) / 2,) * 2] if max_sizes else []
        ratio = [(small * math.sqrt(r) / 2, small / math.sqrt(r) / 2) for r in ratios]
        if first:
            halves += [
                (small / 2, small / 2),
                *square,
                *(h for h, r in zip(ratio, ratios, strict=True) if abs(r - 1) >= 1e-6),
            ]
        else:
            halves += [*ratio, *square]
    return np.array(halves).reshape(-1, 2)


def _check_count(node: NodeContext, count: int) -> None:
    """Refuses as many boxes at one position as no detector has: those of each size and each ratio."""
    node.require(count <= MAX_REPEATS, f"{count} boxes at one position; at most {MAX_REPEATS} are made")


def _expanded(ratios: Sequence[float], flip: bool) -> list[float]:
    """Aspect ratios: 1, then each distinct ratio, followed by its inverse if `flip`."""
    aspect_ratios = [1.0]
    for ratio in ratios:
        if all(abs(ratio - other) >= 1e-6 for other in aspect_ratios):
            aspect_ratios += [ratio, 1.0 / ratio] if flip else [ratio]
    return aspect_ratios


def density_prior_box(node: NodeContext) -> NamedOutputs:
    """Like prior_box, with densities[s] x densities[s] shifted centers for each fixed size s and ratio."""
    dtype = node.get_input("input").get_element_type()
    grid = _Grid(node, dtype, node.get_float("step_w", 0.0), node.get_float("step_h", 0.0))
    node.require(grid.known, "the sizes of the feature map and the image must be known: shifts are whole pixels")
    step = int((grid.step[0] + grid.step[1]) * 0.5)
    corners: list[tuple[float, ...]] = []
    for size, density in zip(node.get_floats("fixed_sizes"), node.get_ints("densities"), strict=True):
        shift = step // density
        shifts = [-step / 2 + shift / 2 + k * shift for k in range(check_repeats(density))]
        for ratio in node.get_floats("fixed_ratios"):
            charge_array(len(corners) + len(shifts) ** 2)
            w, h = size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2
            corners += [(x - w, y - h, x + w, y + h) for y in shifts for x in shifts]
    priors = grid.boxes(np.array(corners).reshape(-1, 4), node.get_float("offset", 0.5))
    assert isinstance(priors, ConstantValue)
    cut = priors.array.copy()
    cut[..., :2] = np.maximum(cut[..., :2], 0)
    cut[..., 2:] = np.minimum(cut[..., 2:], 1)
    boxes = ConstantValue(np.clip(cut, 0, 1) if node.get_bool("clip", True) else cut)
    variances = _variances(node, boxes, len(corners))
    if node.get_bool("flatten_to_2d", False):
        assert isinstance(variances, ConstantValue)
        return {"out": ConstantValue(boxes.array.reshape(-1, 4)), "var": ConstantValue(variances.array.reshape(-1, 4))}
    return {"out": boxes, "var": variances}


def anchor_generator(node: NodeContext) -> NamedOutputs:
    """anchors[h, w, a] = h, w times stride -+ half of anchor a, in pixels of the image, both ends counted."""
    x = node.get_input("input")
    dtype = x.get_element_type()
    stride = node.get_floats("stride", [16.0, 16.0])
    offset = node.get_float("offset", 0.5)
    ratios, sizes = node.get_floats("aspect_ratios"), node.get_floats("anchor_sizes")
    _check_count(node, len(ratios) * len(sizes))
    halves = []
    for ratio in ratios:
        for size in sizes:
            width = math.floor(math.sqrt(np.float32(stride[0] * stride[1] / ratio)) + 0.5)
            height = math.floor(np.float32(width * ratio) + 0.5)
            halves.append((0.5 * (size / stride[0] * width - 1), 0.5 * (size / stride[1] * height - 1)))
    half = np.array(halves).reshape(-1, 2)
    grid = _Grid(node, dtype, stride[0], stride[1], image=False)
    corners = np.concatenate([-half, half], 1) + arrays.tile([offset * (s - 1) for s in stride], 2)
    anchors = grid.boxes(corners, 0.0)
    return {"anchors": anchors, "variances_out": _variances(node, anchors, len(halves))}


class _Grid:
    """The centers of a feature map's cells in the image, and boxes around them."""

    def __init__(self, node: NodeContext, dtype: Type, step_w: float, step_h: float, image: bool = True) -> None:
        self.feature, self.image = node.get_input("input"), node.get_input("image") if image else None
        self.dtype = dtype
        self.storage = numpy_dtype(dtype) or np.dtype(np.float32)
        self.step: list[float] = [step_w, step_h]
        self.by_image = image and 0 in self.step
        self.sizes = [_sides(x) for x in (self.feature, self.image) if x is not None]
        self.known = None not in self.sizes
        if self.by_image and self.known:
            features, images = (size or [] for size in self.sizes)
            self.step = [self.storage.type(i).item() / f for i, f in zip(images, features, strict=True)]

    def boxes(self, corners: AnyArray, offset: float) -> Boxes:
        """(center + corners) / image size: [H, W, P, 4] for corners [P, 4] relative to the center."""
        if self.known:
            (width, height), *images = (size or [] for size in self.sizes)
            x, y = ((arrays.arange(n) + offset) * s for n, s in zip((width, height), self.step, strict=True))
            charge_array(width * height * corners.size)
            boxes = np.empty((height, width, *corners.shape))
            boxes[..., 0::2] = x[:, None, None] + corners[:, 0::2]
            boxes[..., 1::2] = y[:, None, None, None] + corners[:, 1::2]
            for size in images:
                boxes /= np.array(size * 2, np.float64)
            return ConstantValue(boxes.astype(self.storage))
        centers = ops.concat([self._centers(0, offset), self._centers(1, offset)], 2)
        corner = ops.unsqueeze(ops.concat([centers, centers], 2), ints(2))
        box_corners = ops.add(corner, const(corners, self.dtype))
        if self.image is None:
            return box_corners
        return ops.divide(box_corners, cast_to(dim_vector(self.image, [3, 2, 3, 2]), self.dtype))

    def _centers(self, axis: int, offset: float) -> Node:
        """Coordinate `axis` (0: x, 1: y) of the centers, [H, W, 1]."""
        line = index_range(dim_of(self.feature, 3 - axis))
        center = ops.add(cast_to(line, self.dtype), const(offset, self.dtype))
        if self.by_image and self.image is not None:
            whole, count = (cast_to(dim_vector(x, [3 - axis]), self.dtype) for x in (self.image, self.feature))
            step = ops.divide(whole, count)
        else:
            step = const(self.step[axis], self.dtype)
        center = reshape(ops.multiply(center, step), [1, -1, 1] if axis == 0 else [-1, 1, 1])
        return ops.broadcast(center, ops.concat([dim_vector(self.feature, [2, 3]), ints([1])], 0))


def _sides(x: Output) -> list[int] | None:
    """Width and height of an NCHW tensor; None where one of them is not known."""
    return known_dims((dims_of(x) or [None] * 4)[:1:-1])


def _variances(node: NodeContext, boxes: Boxes, priors: int) -> Boxes:
    values = node.get_floats("variances")
    node.require(len(values) == 4, "four numbers are expected", variances=values)
    if isinstance(boxes, ConstantValue):
        return ConstantValue(arrays.full(boxes.array.shape, values, boxes.array.dtype))
    return ops.broadcast(const(values, boxes.get_element_type()), ops.shape_of(boxes, Type.i64))
