"""Evaluates nodes over constants at conversion if that is known to be safe.

OpenVINO's own evaluation of a node trusts its inputs: many node types crash on tensors without elements, as do a TopK
of more elements than there are and an integer remainder by zero; an index out of range reads beyond the tensor. So only
listed node types are evaluated, on tensors that have elements, after a check of the values that they trust. All others
stay nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from openvino import Node, Output, Tensor, Type
from openvino.op import Constant

from paddle2ov.graph.arrays import affords_copy
from paddle2ov.graph.node_kinds import BINARY, MOVES, REDUCTIONS, UNARY
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.workarounds import works_around
from paddle2ov.typing import AnyArray

_MAX_NODES, _MAX_DEPTH = 1000, 200
"""How many nodes are visited for one value, in all and one above the other."""
_FEW, _MAX_HELD = 1 << 16, 4
"""Results of a value's nodes are held together: no more elements than that many of the largest, or than these few."""
_MAX_PRODUCTS = 1 << 28
"""How many products OpenVINO, which is slow at them when it evaluates a node, may take for one."""


def evaluate(output: Output, most_elements: int, most_doubles: int) -> AnyArray | None:
    """The value of a subgraph of constants; None for any other, or if it is not known to be safe and small.

    Args:
        output: what to compute.
        most_elements: the size of the largest tensor in the subgraph.
        most_doubles: the same for float64.
    """
    node = output.get_node()
    if isinstance(node, Constant):  # most of what is asked for, in a fifth of the time
        element_type = node.get_element_type()
        array = node.get_data() if numpy_dtype(element_type) is not None else None
        is_small = array is not None and array.size <= (most_doubles if element_type == Type.f64 else most_elements)
        return array.copy() if array is not None and is_small else None
    tensor = _Evaluation(most_elements, most_doubles, is_charged=True).value(output)
    return None if tensor is None else tensor.data.copy()


def evaluate_all(outputs: Sequence[Output], most_elements: int, most_doubles: int) -> list[AnyArray | None]:
    """As `evaluate`, for outputs that may be computed from one another; each node is evaluated once.

    Large results are not charged to the budget of the program: the caller bounds their amount.
    """
    evaluation = _Evaluation(most_elements, most_doubles, is_charged=False)
    tensors = map(evaluation.value, outputs)
    return [None if tensor is None else tensor.data.copy() for tensor in tensors]


def evaluate_node(node: Node, inputs: Sequence[Tensor]) -> list[Tensor] | None:
    """The outputs of one node, all of static shape, or None if the evaluation is not known to be safe."""
    if not is_safe(node, [input_.data for input_ in inputs]):
        return None
    of_node = _UNEVALUATED_WITH_ATTRIBUTES.get(node.get_type_name())
    if of_node is not None:
        return [Tensor(of_node(node, *(input_.data for input_ in inputs)))]
    results = [Tensor(output.get_element_type(), output.get_shape()) for output in node.outputs()]
    try:
        return results if node.evaluate(results, list(inputs)) else None
    except RuntimeError:  # compiling the graph fails there as well, and says why
        return None


def is_safe(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether OpenVINO can evaluate a node of static output shapes on these inputs."""
    kind = node.get_type_name()
    if kind not in _SAFE and kind not in _CHECKS:
        return False
    if any(input_.size == 0 for i, input_ in enumerate(inputs) if i == 0 or kind not in _LISTS):
        return False
    if any(0 in (static_dims(output) or ()) for output in node.outputs()):
        return False
    check = _CHECKS.get(kind)
    return check is None or check(node, inputs)


_Results = dict[tuple[str, int], Tensor | None]


class _Evaluation:
    """Evaluates outputs, and what they are computed from, once each; None if that is not known to be safe and small."""

    def __init__(self, most_elements: int, most_doubles: int, *, is_charged: bool) -> None:
        self._most_elements, self._most_doubles = most_elements, most_doubles
        self._is_charged = is_charged
        self._done: _Results = {}
        self._left, self._depth = _MAX_NODES, 0
        self._elements = max(_FEW, most_elements) * _MAX_HELD

    def value(self, output: Output) -> Tensor | None:
        node = output.get_node()
        if isinstance(node, Constant):
            return Tensor(node.get_data()) if self._is_small(output) else None
        key = (node.get_name(), output.get_index())
        if key not in self._done and self._depth < _MAX_DEPTH:
            self._left -= 1
            self._depth += 1
            self._done |= self._outputs(node)
            self._depth -= 1
        return self._done.get(key)

    def _outputs(self, node: Node) -> Mapping[tuple[str, int], Tensor | None]:
        name, outputs = node.get_name(), node.outputs()
        unknown: _Results = {(name, i): None for i in range(len(outputs))}
        if self._left < 0 or not all(map(self._is_small, outputs)):
            return unknown
        if node.get_type_name() not in _SAFE and node.get_type_name() not in _CHECKS:
            return unknown
        inputs = []
        for source in node.input_values():
            value = self.value(source)
            if value is None:
                return unknown
            inputs.append(value)
        if not self._may_hold(outputs):
            return unknown
        computed = _in_numpy(node, [input_.data for input_ in inputs])
        if computed is not None:
            return {(name, 0): Tensor(computed)}
        results = evaluate_node(node, inputs)
        return unknown if results is None else {(name, i): result for i, result in enumerate(results)}

    def _may_hold(self, outputs: Sequence[Output]) -> bool:
        """Whether there is room for more results; large ones may be charged to the budget of the program."""
        elements = sum(math.prod(output.get_shape()) for output in outputs)
        self._elements -= elements
        if self._elements < 0:
            return False
        return not self._is_charged or elements <= _FEW or affords_copy(8 * elements)

    def _is_small(self, output: Output) -> bool:
        element_type = output.get_element_type()
        dims = static_dims(output) if numpy_dtype(element_type) is not None else None
        return dims is not None and math.prod(dims) <= (
            self._most_doubles if element_type == Type.f64 else self._most_elements
        )


_UNEVALUATED: Mapping[str, Callable[..., Any]] = {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseNot": np.invert,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "IsFinite": np.isfinite,
    "IsNaN": np.isnan,
}
"""Operations that OpenVINO does not evaluate."""

_DOUBLES: Mapping[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "Ceiling": np.ceil,
    "Cos": np.cos,
    "Divide": np.divide,
    "Exp": np.exp,
    "Floor": np.floor,
    "FloorMod": np.mod,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Log": np.log,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Multiply": np.multiply,
    "Negative": np.negative,
    "NotEqual": np.not_equal,
    "Power": np.power,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sqrt": np.sqrt,
    "Subtract": np.subtract,
    "Tanh": np.tanh,
}
"""Operations that OpenVINO does not evaluate in float64."""


def _in_numpy(node: Node, inputs: Sequence[AnyArray]) -> AnyArray | None:
    """The result of a node that OpenVINO does not evaluate, or None if it does, or if the node is not supported."""
    kind = node.get_type_name()
    of_any = _UNEVALUATED.get(kind)
    if of_any is None and node.get_input_element_type(0) != Type.f64:
        return None
    with np.errstate(all="ignore"):
        function = of_any or _DOUBLES.get(kind)
        if kind == "Round" and node.get_attributes()["mode"] == "half_to_even":
            function = np.rint
        if function is not None:
            return np.asarray(function(*inputs))
        return _reduced(node, *inputs) if kind in ("ReduceSum", "ReduceL2") else None


def _reduced(node: Node, x: AnyArray, axes: AnyArray) -> AnyArray:
    keepdims = bool(node.get_attributes()["keep_dims"])
    axis = tuple(int(axis) for axis in axes.reshape(-1))
    if node.get_type_name() == "ReduceSum":
        return np.asarray(x.sum(axis, keepdims=keepdims))
    return np.asarray(np.sqrt((x * x).sum(axis, keepdims=keepdims)))


def _slice_scattered(
    node: Node,
    x: AnyArray,
    updates: AnyArray,
    start: AnyArray,
    stop: AnyArray,
    step: AnyArray,
    axes: AnyArray | None = None,
) -> AnyArray:
    """A SliceScatter with positive steps; its bounds are those of Python slices."""
    sliced = [slice(None)] * x.ndim
    for i, axis in enumerate(range(start.size) if axes is None else axes.tolist()):
        sliced[axis] = slice(int(start[i]), int(stop[i]), int(step[i]))
    result = x.copy()
    result[tuple(sliced)] = updates
    return result


def _accumulated(node: Node, x: AnyArray, axis: AnyArray) -> AnyArray:
    """A CumSum, which leaves out the element itself if it is exclusive."""
    attributes = node.get_attributes()
    x = np.moveaxis(x, int(axis.reshape(-1)[0]), 0)
    x = x[::-1] if attributes["reverse"] else x
    sums = np.cumsum(x, 0, x.dtype)
    if attributes["exclusive"]:
        sums = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
    sums = sums[::-1] if attributes["reverse"] else sums
    return np.ascontiguousarray(np.moveaxis(sums, 0, int(axis.reshape(-1)[0])))


_UNEVALUATED_WITH_ATTRIBUTES: Mapping[str, Callable[..., AnyArray]] = {
    "CumSum": _accumulated,
    "SliceScatter": _slice_scattered,
}
"""Operations that OpenVINO does not evaluate (a CumSum: not of integers), and whose inputs are checked before."""


_OTHERS = """
Acos Acosh Asin Asinh Atan Atanh BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Concat
Cos Cosh FakeQuantize IsFinite IsInf IsNaN OneHot Range Roll Select ShapeOf Sin Sinh Slice Softmax Split Squeeze
StridedSlice Tan Transpose Unsqueeze VariadicSplit
"""
_SAFE = UNARY | BINARY | REDUCTIONS | frozenset(_OTHERS.split())
"""Node types that are safe on any values, but for those in `_CHECKS`, as long as no tensor is empty."""
_LISTS = REDUCTIONS | MOVES | {"Broadcast"}
"""Node types whose inputs after the first are lists of axes or dimensions, which may be empty."""


def _divides(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether no integer is divided by zero, nor the lowest one by -1, which crashes."""
    left, right = inputs
    if right.dtype.kind not in "iu":
        return True
    lowest = right.dtype.kind == "i" and bool((left == np.iinfo(left.dtype).min).any())
    return bool(right.all()) and not (lowest and bool((right == -1).any()))


def _is_indexed(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether the indices of a Gather are within its axis."""
    data, indices, axis = inputs
    batch_dims = int(node.get_attributes()["batch_dims"])
    if not _is_axis(axis, data) or batch_dims:
        return False
    return _are_within(indices, data.shape[int(axis.reshape(-1)[0])])


def _is_indexed_by_elements(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether the indices of GatherElements or ScatterElementsUpdate are within its axis."""
    data, indices = inputs[:2]
    axis = int(inputs[3].reshape(-1)[0]) if len(inputs) > 3 else int(node.get_attributes()["axis"])
    return -data.ndim <= axis < data.ndim and data.ndim > 0 and _are_within(indices, data.shape[axis])


def _is_indexed_by_tuples(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether the index tuples of GatherND or ScatterNDUpdate are within the data."""
    data, indices = inputs[:2]
    if node.get_attributes().get("batch_dims", 0) or indices.ndim == 0 or not 0 < indices.shape[-1] <= data.ndim:
        return False
    return all(_are_within(indices[..., i], data.shape[i]) for i in range(indices.shape[-1]))


@works_around("scatter_update_of_constants")
def _is_updated(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether the indices of a ScatterUpdate are within its axis, and OpenVINO evaluates it right."""
    data, indices, updates, axis = inputs
    if not _is_axis(axis, data):
        return False
    first = int(axis.reshape(-1)[0]) % data.ndim
    # OpenVINO 2026.4 takes the wrong updates where one of the dimensions after the axis is 1.
    return _are_within(indices, data.shape[first]) and (indices.size == 1 or 1 not in updates.shape[first + 1 :])


def _are_within(indices: AnyArray, size: int) -> bool:
    return bool((indices >= -size).all() and (indices < size).all())


def _is_axis(axis: AnyArray, data: AnyArray) -> bool:
    return axis.size == 1 and -data.ndim <= int(axis.reshape(-1)[0]) < data.ndim


def _is_cheap(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether a MatMul takes few products."""
    x = inputs[0]
    inner = x.shape[-2 if node.get_attributes()["transpose_a"] and x.ndim > 1 else -1] if x.ndim else 1
    return math.prod(static_dims(node.output(0)) or [1]) * inner <= _MAX_PRODUCTS


def _has_enough(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether the axis of a TopK has k elements."""
    x, axis = inputs[0], int(node.get_attributes()["axis"])
    return -x.ndim <= axis < x.ndim and 0 < int(inputs[1].reshape(-1)[0]) <= x.shape[axis]


def _has_inferred_size(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether the requested shape is the inferred one: OpenVINO allocates by the former."""
    dims = static_dims(node.output(0)) or []
    asked = [int(value) for value in inputs[1].reshape(-1)]
    if node.get_type_name() == "Tile":
        return inputs[0].size * math.prod(asked) == math.prod(dims)
    return all(item == 1 or item == dim for item, dim in zip(asked[::-1], dims[::-1], strict=False))


def _keeps_elements(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether a Reshape keeps the number of elements."""
    dims = static_dims(node)
    return dims is not None and math.prod(dims) == inputs[0].size


def _has_padded(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether negative padding removes no more than there is."""
    x, before, after = inputs[:3]
    return all(-size <= int(pad) for side in (before, after) for pad, size in zip(side, x.shape, strict=True))


def _has_slopes(node: Node, inputs: Sequence[AnyArray]) -> bool:
    """Whether there is one slope for each channel, or the slopes broadcast to the data."""
    x, slope = inputs
    if slope.ndim == 1 and x.ndim > 1:
        return slope.size in (1, x.shape[1])
    sizes = zip(slope.shape[::-1], x.shape[::-1], strict=False)
    return slope.ndim <= x.ndim and all(size in (1, dim) for size, dim in sizes)


_CHECKS: Mapping[str, Callable[[Node, Sequence[AnyArray]], bool]] = {
    "Broadcast": _has_inferred_size,
    "CumSum": lambda node, inputs: _is_axis(inputs[1], inputs[0]),
    "Divide": _divides,
    "FloorMod": _divides,
    "Gather": _is_indexed,
    "GatherElements": _is_indexed_by_elements,
    "GatherND": _is_indexed_by_tuples,
    "Inverse": lambda node, inputs: inputs[0].size * inputs[0].shape[-1] <= _MAX_PRODUCTS,
    "MatMul": _is_cheap,
    "Mod": _divides,
    "PRelu": _has_slopes,
    "Pad": _has_padded,
    "Reshape": _keeps_elements,
    "ScatterElementsUpdate": _is_indexed_by_elements,
    "ScatterNDUpdate": _is_indexed_by_tuples,
    "ScatterUpdate": _is_updated,
    "SliceScatter": lambda node, inputs: bool((inputs[4] > 0).all()),  # forward steps
    "Tile": _has_inferred_size,
    "TopK": _has_enough,
}
"""Node types that are safe on the values that a check admits."""
