"""Between tokens and images it is the image that is transposed: SVTR, SegFormer, detectors with attention."""

from __future__ import annotations

import math

from openvino import Node, Output

from paddle2ov.opset import ops
from paddle2ov.passes.graph import (
    Counts,
    Dims,
    Graph,
    consumers,
    dims_of,
    ints,
    ints_of,
    name_after,
    only_consumer,
    perm_of,
    replace,
    reshaped_dims,
)


def transpose_grids(graph: Graph) -> Counts:
    """A transpose of tokens and the reshape to or from an image change places.

    Given:
        (a) tokens [B, H·W, C] → Transpose [0, 2, 1] → Reshape [B, C, H, W], where B or another size is unknown, or
        (b) image [B, C, H, W] → Reshape [B, C, H·W] → Transpose [0, 2, 1], where all are known and several nodes read
        the tokens. Nothing else reads what lies between. An image may have any rank.
    Result:
        (a) tokens → Reshape [B, H, W, C] → Transpose [0, 3, 1, 2], which OpenVINO runs as a change of layout, in less
        than half of the time; (b) image → Transpose [0, 2, 3, 1] → Reshape [B, H·W, C], which costs nothing where a
        convolution has computed the image, whose channels lie side by side. Other cases OpenVINO finds itself; with
        unknown sizes (b) would take longer.
    """
    counts = {"to images": 0, "to tokens": 0}
    for node in graph.nodes("Transpose"):
        if perm_of(node) != [0, 2, 1]:
            continue
        follower, source = only_consumer(node.output(0)), node.input_value(0).get_node()
        if follower is not None and follower.get_type_name() == "Reshape":
            image = _image(node, follower)
            if image is not None:
                name_after(image.get_node().input_value(0).get_node(), follower.get_friendly_name(), "grid")
                replace(follower.output(0), image)
                counts["to images"] += 1
        elif source.get_type_name() == "Reshape" and only_consumer(source.output(0)) is not None:
            tokens = _tokens(source, node)
            if tokens is not None:
                name_after(tokens.get_node().input_value(0).get_node(), node.get_friendly_name(), "grid")
                replace(node.output(0), tokens)
                counts["to tokens"] += 1
    if any(counts.values()):
        graph.changed()
    return counts


def _image(transpose: Node, reshape: Node) -> Output | None:
    x = transpose.input_value(0)
    tokens, image = dims_of(x), reshaped_dims(reshape)
    if tokens is None or image is None or len(image) < 4 or None not in tokens or 0 in (*tokens, *image):
        return None
    batch, length, channels = tokens
    told = ints_of(reshape.input_value(1)) or []
    zeros = [i for i, one in enumerate(told) if one == 0 and reshape.get_attributes()["special_zero"]]
    same_batch = 0 in zeros or (batch is not None and batch == image[0])
    if channels is None or not (1 in zeros or image[1] == channels):
        return None
    inner = image[2:]
    if not same_batch and (length is None or None in inner or length != _size(inner)):
        return None
    target = [batch if batch is not None else 0, *(-1 if dim is None else dim for dim in inner), channels]
    if target.count(-1) > 1:
        return None
    rank = len(image)
    split = ops.reshape(x, ints(target), True)
    return ops.transpose(split, ints([0, rank - 1, *range(1, rank - 1)])).output(0)


def _tokens(reshape: Node, transpose: Node) -> Output | None:
    x = reshape.input_value(0)
    image, merged = dims_of(x), dims_of(reshape.output(0))
    if image is None or merged is None or len(image) < 4 or None in image or 0 in image:
        return None
    if merged[:2] != image[:2] or len(consumers(transpose.output(0))) < 2:
        return None
    last = ops.transpose(x, ints([0, *range(2, len(image)), 1]))
    return ops.reshape(last, ints([dim or 0 for dim in (merged[0], merged[2], merged[1])]), False).output(0)


def _size(dims: Dims) -> int:
    return math.prod(dim or 0 for dim in dims)
