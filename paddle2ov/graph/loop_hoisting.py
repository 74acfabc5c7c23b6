"""Moves what does not change over the iterations of a loop out of its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openvino import Node, Output
from openvino.op import Parameter

from paddle2ov.graph.opset import ops
from paddle2ov.graph.upstream import sources_of, upstream

_TOTAL_NAMES = "Abs Clamp Elu Erf Exp Gelu HSigmoid HSwish Mish Negative Relu Sigmoid SoftPlus Swish Tanh"
_PARTIAL_NAMES = "Add Concat Convolution Divide GroupConvolution MVN MatMul Multiply Softmax Subtract"

_MOVING = frozenset(("Reshape", "Squeeze", "Transpose", "Unsqueeze"))
"""Nodes that are not worth moving on their own."""
_TOTAL = frozenset(_TOTAL_NAMES.split())
"""Nodes that compute something for an input of any shape."""
_PARTIAL = frozenset(_PARTIAL_NAMES.split())
"""Nodes that some shapes do not fit."""


def hoist(results: Sequence[Node], invariants: Mapping[str, Output], is_entered: bool) -> dict[Parameter, Output]:
    """Moves nodes that read only constants and invariants out of a body: its new parameters -> their values outside.

    Only nodes of floating point are moved: OpenVINO infers shapes in the body from integers that it computes itself.

    Args:
        results: the results of the body.
        invariants: the names of its parameters that are the same in every iteration -> their values outside.
        is_entered: whether the loop is known to run; if not, only nodes that cannot fail are moved.
    """
    if not invariants:
        return {}
    order = _in_order(results)
    fixed, constant = set(invariants), set[str]()
    for node in order:
        sources = [source.get_name() for source in sources_of(node)]
        if node.get_type_name() == "Constant" or (sources and constant.issuperset(sources)):
            constant.add(node.get_name())
        elif (
            sources
            and all(name in constant or name in fixed for name in sources)
            and _is_movable(node, constant, is_entered)
        ):
            fixed.add(node.get_name())
    moved: dict[str, Node] = {}
    for node in reversed(order):
        readers = {input_.get_node().get_name() for output in node.outputs() for input_ in output.get_target_inputs()}
        worth = node.get_type_name() not in _MOVING and not fixed.issuperset(readers)
        if node.get_name() in fixed and node.get_type_name() != "Parameter" and (worth or readers & moved.keys()):
            moved[node.get_name()] = node
    return _cut(order, moved, invariants)


def _is_movable(node: Node, constant: set[str], is_entered: bool) -> bool:
    kind = node.get_type_name()
    if not node.get_output_element_type(0).is_real() or kind not in _MOVING | _TOTAL | _PARTIAL:
        return False
    constants = [source for source in sources_of(node) if source.get_name() in constant]
    # With another operand, broadcasts and products may fail; a constant one has been checked at conversion.
    is_safe = is_entered or kind in _TOTAL or (kind in ("MatMul", "Add", "Multiply") and bool(constants))
    return is_safe and all(_is_read_once(item) for item in upstream(constants))


def _is_read_once(node: Node) -> bool:
    return sum(len(output.get_target_inputs()) for output in node.outputs()) == 1


def _cut(order: Sequence[Node], moved: Mapping[str, Node], invariants: Mapping[str, Output]) -> dict[Parameter, Output]:
    """Puts parameters in the place of what nodes of the body read of moved ones, and connects these to the outside."""
    inside = {node.get_name() for node in order} - moved.keys()
    entering: dict[Parameter, Output] = {}
    for node in moved.values():
        for output in node.outputs():
            readers = [input_ for input_ in output.get_target_inputs() if input_.get_node().get_name() in inside]
            if readers:
                parameter = ops.parameter(output.get_partial_shape(), output.get_element_type())
                entering[parameter] = output
                for reader in readers:
                    reader.replace_source_output(parameter.output(0))
        for port in node.inputs():
            outer = invariants.get(port.get_source_output().get_node().get_name())
            if outer is not None:
                port.replace_source_output(outer)
    return entering


def _in_order(results: Sequence[Node]) -> list[Node]:
    """The nodes of a body, each after those that it reads."""
    order: list[Node] = []
    state: dict[str, bool] = {}  # node -> whether it is in `order`
    pending = list(results)
    while pending:
        node = pending[-1]
        name = node.get_name()
        if name not in state:
            state[name] = False
            pending += [source for source in sources_of(node) if source.get_name() not in state]
            continue
        pending.pop()
        if not state[name]:
            state[name] = True
            order.append(node)
    return order
