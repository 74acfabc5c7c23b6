"""Reversed channels: OpenVINO's ReverseInputChannelsFusion, which moves a reversal into the filters of a network.

It marks the filters that it has reversed (`reverse_input_channel_index`), and leaves the marks behind. As it runs when
preprocessing is built in, and again when the model is compiled, filters that are marked are reversed again if it finds
anything to fuse then.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.consumers import readers
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index, Where
from paddle2ov.passes.rule import at


@at("Parameter")
def of_channels(graph: Graph, parameter: Node) -> list[Node] | None:
    """A precaution: channels that preprocessing reverses (`PrePostProcessor`) would be reversed twice.

    A user may add `reverse_channels` or `convert_color` to the converted model. OpenVINO mistakes for a second reversal
    a Gather or a Split and Concat that permute the elements of any axis, and the permutation of an image's sizes, once
    the layout of an image is changed whose sizes are read.

    Given:
        an image → ... → Convolution, and anywhere a ShapeOf, or elements that are permuted.
    Result:
        the image → Identity → ... → Convolution. OpenVINO does not fuse across an Identity as preprocessing is built
        in, and eliminates it before it fuses as the model is compiled.
    """
    dims = dims_of(parameter.output(0))
    if graph.is_body or dims is None or len(dims) < 3 or not graph.nodes("Convolution", "GroupConvolution"):
        return None
    if all(reader.get_type_name() in ("Identity", "Result") for reader in readers(parameter)):
        return None
    permutes = graph.nodes("ShapeOf") or graph.index.places(_PERMUTING)
    return [parameter] if permutes else None


def _permutes(index: Index, place: int) -> bool:
    """Whether a Gather permutes the elements of an axis, or a Concat the parts of a Split."""
    if index.kinds[place] == "Concat":
        sources = index.sources[place]
        return len(set(sources)) == 1 < len(sources) and index.kinds[sources[0]] == "Split"
    indices = index.ints(place, 1)
    return indices is not None and len(indices) > 1 and sorted(indices) == list(range(len(indices)))


_PERMUTING = Where(("Gather", "Concat"), when=_permutes)
