"""Which nodes are computed from constants alone, or from constants and shapes."""

from __future__ import annotations

from collections.abc import Collection

from openvino import Node, Output

from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.upstream import upstream

VARYING = ("If", "Loop", "Multinomial", "RandomUniform", "ReadValue", "TensorIterator")
"""Node types whose results may differ from run to run, or that are not looked into."""


class Independence:
    """Whether a node depends on no node of certain types; the answers for all nodes visited are cached.

    Args:
        kinds: the node types to be independent of.
        opaque: node types that are independent whatever they read.
        static: whether nodes of dynamic shape count as such types.
    """

    def __init__(self, kinds: Collection[str], opaque: Collection[str] = (), *, static: bool = False) -> None:
        self._kinds, self._opaque, self._static = frozenset(kinds), frozenset(opaque), static
        self._judged: dict[str, bool] = {}

    def __call__(self, node: Node) -> bool:
        """Whether neither the node nor anything upstream of it is of one of the types."""
        judged = self._judged
        if not node.get_input_size():
            return not self._is_excluded(node)
        if self._depends_by_first_inputs(node):
            return False
        path = [node]
        while path:
            one = path[-1]
            name = one.get_name()
            inputs = [] if name in judged else self._inputs(one)
            if self._is_excluded(one) or any(judged.get(other.get_name()) is False for other in inputs):
                judged[name] = False
            unknown = next((other for other in inputs if other.get_name() not in judged), None)
            if name in judged or unknown is None:
                judged.setdefault(name, True)
                path.pop()
            else:
                path.append(unknown)
        return judged[node.get_name()]

    def _is_excluded(self, node: Node) -> bool:
        if node.get_type_name() in self._kinds:
            return True
        return self._static and any(static_dims(one) is None for one in node.outputs())

    def _inputs(self, node: Node) -> list[Node]:
        return [] if node.get_type_name() in self._opaque else [value.get_node() for value in node.input_values()]

    def _depends_by_first_inputs(self, node: Node) -> bool:
        """Whether the chain of first inputs leads to such a node: a quick answer, and the usual one for layers."""
        seen, judged = [], self._judged
        while judged.get(name := node.get_name(), True) and node.get_type_name() not in self._kinds:
            if name in judged or node.get_type_name() in self._opaque or not node.get_input_size():
                return False
            seen.append(name)
            node = node.input_value(0).get_node()
        judged.update(dict.fromkeys([*seen, name], False))
        return True


def may_be_constant(value: Output) -> bool:
    """Whether a tensor depends only on constants and on inputs of static shape, which in a body may be constants."""
    return not any(
        node.get_type_name() == "Parameter" and node.get_output_partial_shape(0).is_dynamic
        for node in upstream([value.get_node()])
    )


__all__ = ["VARYING", "Independence", "may_be_constant"]
