"""Pooling into pyramids of bins.

Paddle: `spp` (legacy only).
Semantics: `paddle/fluid/operators/spp_op.h` of Paddle 2.6.
Refused: images of unknown size, which the windows follow from, and smaller than the finest bins.
"""

from __future__ import annotations

from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


@works_around("average_pool_without_dilations")
def spp(node: NodeContext) -> NamedOutputs:
    """out = x pooled into 1 × 1, 2 × 2, 4 × 4, ... bins, all in one row."""
    x, kind = node.get_input("x"), node.get_str("pooling_type")
    node.require(kind in ("max", "avg"), "unknown", pooling_type=kind)
    height = node.get_int("pyramid_height")
    levels = []
    for level in range(height):
        bins, kernel, begin, end = 2**level, [], [], []
        for size in ranked_dims(x)[2:]:
            if size is None:
                node.refuse("an image of unknown size is not supported")
            node.require(size >= bins, f"{size} elements are too few for {bins} bins", pyramid_height=height)
            width = -(-size // bins)
            missing = width * bins - size
            kernel.append(width)
            begin.append((missing + 1) // 2)
            end.append(missing - (missing + 1) // 2)
        node.require(
            all(pad < width for pad, width in zip(begin, kernel, strict=True)),
            "a window outside of the image is not supported",
            pyramid_height=height,
        )
        if kind == "max":
            pooled = ops.max_pool(x, kernel, [1, 1], begin, end, kernel, "floor").output(0)
        else:
            # Without explicit dilations, compiling the AvgPool of opset16 crashes (OpenVINO 2026.4).
            pooled = ops.avg_pool(x, kernel, begin, end, kernel, True, "floor", dilations=[1, 1]).output(0)
        levels.append(ops.reshape(pooled, ints([0, -1]), True))
    return {"out": ops.concat(levels, 1)}
