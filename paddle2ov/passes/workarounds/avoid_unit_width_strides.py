"""Sets the stride along the width to 1 if the output of a convolution has width 1.

In bfloat16, OpenVINO 2026.4 computes garbage if that stride is greater, the output has width 1 and its other dimensions
are not 1. With a single window the stride has no effect, so that it can be 1.
"""

from __future__ import annotations

from msgspec import Struct
from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


class _Window(Struct, frozen=True):
    """A convolution, and how many columns at the end of its padded image the only window leaves out."""

    convolution: Node
    left: int


@works_around("strided_convolution_of_width_1")
class AvoidUnitWidthStrides(Rule[Node, _Window]):
    """Removes the stride of a convolution along the width if there is a single window.

    Given:
        Convolution or GroupConvolution of at least two spatial axes, with a stride along the last one, along which its
        output has size 1.
    Result:
        The same with stride 1 along that axis, without the columns that the window does not reach.
    """

    roots = ("Convolution", "GroupConvolution")
    counts = ("strides",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.output(0))
        if dims is None or len(dims) < 4 or dims[-1] != 1:
            return None
        return node if node.get_attributes()["strides"][-1] > 1 else None

    def check(self, graph: Graph, match: Node) -> _Window:
        image, filters = dims_of(match.input_value(0)), dims_of(match.input_value(1))
        width, taps = (None if dims is None else dims[-1] for dims in (image, filters))
        if width is None or taps is None:
            raise MatchFailureError("the width of the image or of the filter is not known")
        attributes = match.get_attributes()
        if attributes["auto_pad"].startswith("same") and (image is None or None in image[2:]):
            raise MatchFailureError("the paddings along the other axes are computed by the run")
        padded = width + attributes["pads_begin"][-1] + attributes["pads_end"][-1]
        return _Window(match, padded - (attributes["dilations"][-1] * (taps - 1) + 1))

    def rewrite(self, graph: Graph, plan: _Window) -> Counts:
        node, attributes = plan.convolution, plan.convolution.get_attributes()
        x, filters = node.input_values()
        pads = list(attributes["pads_end"])
        less = min(plan.left, pads[-1])
        attributes["pads_end"] = [*pads[:-1], pads[-1] - less]
        attributes["strides"] = [*list(attributes["strides"])[:-1], 1]
        attributes["auto_pad"] = "explicit"
        if plan.left > less:
            last = ints([len(x.get_partial_shape()) - 1])
            x = ops.slice(x, ints([0]), ints([less - plan.left]), ints([1]), last).output(0)
        made = create(node.get_type_name(), [x, filters], attributes)
        replace(node.output(0), made.output(0))
        return {"strides": 1}


avoid_unit_width_strides = AvoidUnitWidthStrides()
