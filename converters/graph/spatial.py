"""What convolution and pooling share: data layouts, and how Paddle writes paddings."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NodeContext

CHANNELS_FIRST = ("NCHW", "NCDHW", "NCL", "NCW", "NC", "AnyLayout", "ANYLAYOUT", "AnyLayOut", "Undefined", "")
CHANNELS_LAST = ("NHWC", "NDHWC", "NLC", "NWC")


def channels_last(node: NodeContext, name: str = "data_format", default: str = "NCHW") -> bool:
    """Whether the layout attribute puts the channels last."""
    layout = node.get_str(name, default)
    node.require(layout in CHANNELS_FIRST or layout in CHANNELS_LAST, "unknown layout", **{name: layout})
    return layout in CHANNELS_LAST


def to_channels_first(x: Tensor, rank: int) -> Node:
    """[N, ..., C] -> [N, C, ...]."""
    return ops.transpose(x, ints([0, rank - 1, *range(1, rank - 1)]))


def to_channels_last(x: Tensor, rank: int) -> Node:
    """[N, C, ...] -> [N, ..., C]."""
    return ops.transpose(x, ints([0, *range(2, rank), 1]))


def ranked_dims(x: Tensor) -> list[int | None]:
    """The dimensions of `x`, whose rank must be known; None for a dimension that is not."""
    dims = dims_of(x)
    if dims is None:
        raise ValueError("an input of unknown rank is not supported")
    return dims


def spatial_dims(x: Output, last: bool) -> list[int | None]:
    """The dimensions of `x` besides batch and channels."""
    dims = ranked_dims(x)
    return dims[1:-1] if last else dims[2:]


def begin_end_pads(node: NodeContext, spatial: int, paddings: Sequence[int]) -> tuple[list[int], list[int]]:
    """Paddings as (begin, end): Paddle writes one number per dimension, or (begin, end) pairs."""
    if len(paddings) == spatial:
        return list(paddings), list(paddings)
    node.require(len(paddings) == 2 * spatial, f"{spatial} or {2 * spatial} numbers are expected", paddings=paddings)
    return list(paddings[0::2]), list(paddings[1::2])


def strides_or_dilations(node: NodeContext, name: str, spatial: int) -> list[int]:
    """Strides or dilations: one positive number for each spatial dimension."""
    values = node.get_ints(name, [1] * spatial)
    node.require(len(values) == spatial, f"{spatial} numbers are expected", **{name: values})
    if values and not (min(values) >= 1 and max(values) < 2**31):
        node.refuse("1 or more is expected", **{name: values})
    return values


def pooling_windows(node: NodeContext, spatial: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Sizes and strides of windows, and the paddings before and after x."""
    sizes, strides = node.get_ints("kernel_size"), strides_or_dilations(node, "strides", spatial)
    node.require(min(sizes, default=0) >= 1, "1 or more is expected", kernel_size=sizes)
    paddings = node.get_ints("paddings", [0] * spatial)
    node.require(min(paddings, default=0) >= 0, "negative paddings of windows are not supported", paddings=paddings)
    return (sizes, strides, *begin_end_pads(node, spatial, paddings))


class Geometry(Struct, frozen=True):
    """Strides, dilations and paddings along the spatial axes of [N, C, ...]; none negative, no filter wider than x."""

    strides: list[int]
    dilations: list[int]
    begin: list[int]
    end: list[int]
    auto_pad: str


def convolution_windows(node: NodeContext, spatial: int) -> tuple[list[int], list[int], list[int], list[int], str]:
    """Strides, dilations, the paddings before and after x, and their algorithm: only EXPLICIT has paddings of its own.

    SAME sets the dilations to 1 as well.
    """
    strides, dilations = (strides_or_dilations(node, name, spatial) for name in ("strides", "dilations"))
    begin, end = begin_end_pads(node, spatial, node.get_ints("paddings", [0] * spatial))
    algorithm = padding_algorithm(node)
    if algorithm != "EXPLICIT":
        begin, end = [0] * spatial, [0] * spatial
    return strides, [1] * spatial if algorithm == "SAME" else dilations, begin, end, algorithm


def window_overhang(
    dims: Sequence[int | None],
    kernel: Sequence[int],
    strides: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    ceil: bool = False,
) -> list[int]:
    """How far a window reaches beyond the padded end of each dimension that is smaller than the window.

    Paddle divides towards zero, so that there is one window if less than a stride is missing, or less than two where
    the number of windows is rounded up. OpenVINO refuses such a window.
    """
    over = []
    for dim, size, stride, low, high in zip(dims, kernel, strides, begin, end, strict=True):
        missing = 0 if dim is None else size - dim - low - high
        over.append(missing if 0 < missing < (2 * stride - 1 if ceil else stride) else 0)
    return over


@works_around("negative_padding_of_convolution")
def crop_negative_pads(
    x: Output, begin: Sequence[int], end: Sequence[int], last: bool
) -> tuple[Output, list[int], list[int]]:
    """(x, begin, end) with negative paddings cropped from x: OpenVINO's CPU plugin does not in a convolution."""
    if min(*begin, *end, 0) == 0:  # nearly always
        return x, list(begin), list(end)
    cuts = [(axis, max(-low, 0), max(-high, 0)) for axis, (low, high) in enumerate(zip(begin, end, strict=True))]
    cuts = [cut for cut in cuts if cut[1] or cut[2]]
    axes = ints([axis + (1 if last else 2) for axis, _, _ in cuts])
    stops = ints([-high if high else OPEN_END for _, _, high in cuts])
    x = ops.slice(x, ints([low for _, low, _ in cuts]), stops, ints([1] * len(cuts)), axes).output(0)
    return x, [max(pad, 0) for pad in begin], [max(pad, 0) for pad in end]


def same_pads(dims: Sequence[int], strides: Sequence[int], kernel: Sequence[int]) -> tuple[list[int], list[int]]:
    """The paddings of SAME for known dimensions: out = ceil(in / stride), an odd one at the end."""
    begin, end = [], []
    for dim, stride, size in zip(dims, strides, kernel, strict=True):
        total = max((-(-dim // stride) - 1) * stride + size - dim, 0)
        begin.append(total // 2)
        end.append(total - total // 2)
    return begin, end


def computed_same_pads(x: Tensor, strides: Sequence[int], kernel: Tensor) -> tuple[Node, Node]:
    """The paddings of SAME at the begin and at the end of x [N, C, ...], for sizes known only at run time.

    OpenVINO evaluates these functions as it infers shapes, so that sizes of the result are known once those of x are.
    """
    size, stride = dim_vector(x, range(2, 2 + len(strides))), ints(strides)
    count = ops.divide(ops.add(size, ints([step - 1 for step in strides])), stride)
    covered = ops.add(ops.multiply(count, stride), kernel)  # and one stride more
    total = ops.maximum(ops.subtract(covered, ops.add(size, stride)), ints(0))
    begin = ops.divide(total, ints(2))
    return begin, ops.subtract(total, begin)


def padding_algorithm(node: NodeContext) -> str:
    """EXPLICIT, SAME or VALID."""
    algorithm = node.get_str("padding_algorithm", "EXPLICIT").upper()
    node.require(algorithm in ("EXPLICIT", "SAME", "VALID"), "unknown", padding_algorithm=algorithm)
    return algorithm
