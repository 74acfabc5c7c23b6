"""Evaluates a single node on given inputs, without the rest of the model.

In this order:

- `float64`: NumPy, for nodes that sum many products;
- `evaluate`: OpenVINO's reference evaluation, where the node has one and it is not too slow for the size;
- `alone`: the device's plugin, of a model with this node only and of known shapes: there is nothing to fuse it with, no
  memory to share, and no earlier run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from openvino import Model, Node, PartialShape, Tensor, Type
from openvino.op import Constant

from paddle2ov.comparison.numpy_nodes import FLOAT64
from paddle2ov.comparison.tensors import blank, copied, is_float, to_array, to_tensor
from paddle2ov.graph.core import compile_on, with_error_reporting
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around

_SMALL = 64
"""Integer tensors of up to this many elements are constants of a node alone, so that its output shapes are known."""
_NO_EVALUATE = frozenset(("If", "Loop", "ScatterUpdate", "TensorIterator"))
"""Node types whose evaluation is slow or wrong: ScatterUpdate is wrong if a dimension after the axis is 1."""
_NANOSECONDS = {"Interpolate": 6000, "GridSample": 1000, "ROIAlign": 1000, "DeformableConvolution": 1000}
"""The cost of OpenVINO's reference evaluation per element of the result, for node types where it is high."""
_MAX_COST = 2e9


class Kernel:
    """Computes one node of a model that nothing else needs: its sources other than constants are replaced.

    The plugin of the device computes what nothing else does.
    """

    def __init__(self, node: Node, device: str) -> None:
        self.type = str(node.get_type_name())
        self.method = ""
        """How the node was computed last."""
        self._node = node
        self._device = device
        self._ports = [
            i for i, value in enumerate(node.input_values()) if value.get_node().get_type_name() != "Constant"
        ]
        self.constants = frozenset(range(node.get_input_size())) - frozenset(self._ports)
        """Which inputs are constants of the model."""
        self._evaluates = True
        self._shapes: tuple[object, ...] | None = None
        self._model: Model | None = None
        self._open: list[int] = []

    def __call__(self, given: Sequence[Tensor], exact: bool = True) -> list[Tensor]:
        """The node's outputs for values of all of its inputs; products are summed in float32 if not `exact`.

        Raises:
            RuntimeError: the values do not fit the node.
        """
        are_floats = all(is_float(port.get_element_type()) for port in self._node.outputs())
        if self.type in FLOAT64 and (are_floats or self.type == "ScatterUpdate"):  # which only moves elements
            wide = np.float64 if exact else np.float32
            arrays_given = [x.astype(wide, copy=False) if x.dtype.kind == "f" else x for x in map(to_array, given)]
            try:
                output = FLOAT64[self.type](self._node.get_attributes(), arrays_given)
            except ValueError as error:
                raise RuntimeError(f"{self.type} '{self._node.get_friendly_name()}': {error}") from error
            if output is not None:
                self.method = "float64"
                return [to_tensor(output, self._node.get_output_element_type(0))]
        if self.type == "TopK":
            _check_count(self._node, given)
        self._fit(given)
        assert self._model is not None
        arrays = [given[i] for i in self._open]
        shapes = [port.get_partial_shape() for port in self._node.outputs()]
        outputs = [blank(port.get_element_type(), port.get_partial_shape()) for port in self._node.outputs()]
        if all(shape.is_static and 0 in shape.to_shape() for shape in shapes):
            self.method = "evaluate"  # what has no elements needs none, which not all node types expect
            return outputs
        if self._evaluates and not self._is_slow():
            try:
                if self._model.evaluate(outputs, arrays):
                    self.method = "evaluate"
                    return outputs
            except RuntimeError:
                pass
            self._evaluates = False
        self.method = "alone"
        config = with_error_reporting(
            {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}, self._device
        )
        request = compile_on(self._device, self._model, config).create_infer_request()
        for i, array in enumerate(arrays):
            request.set_input_tensor(i, array)
        request.infer()
        return [copied(request.get_output_tensor(i)) for i in range(self._node.get_output_size())]

    def _fit(self, given: Sequence[Tensor]) -> None:
        """The model of the node alone, for inputs of these shapes; small integers become its constants."""
        fixed = {i: given[i].data.tobytes() for i in self._ports if _is_small_integer(given[i])}
        shapes = tuple((i, tuple(given[i].shape), fixed.get(i)) for i in self._ports)
        if shapes == self._shapes:
            return
        parameters = []
        for i in self._ports:
            port = self._node.input(i)
            if i in fixed:
                source: Node = Constant(copied(given[i]))
            else:
                source = ops.parameter(PartialShape(list(given[i].shape)), given[i].get_element_type())
                parameters.append(source)
            port.replace_source_output(source.output(0))
        self._open = [i for i in self._ports if i not in fixed]
        self._node.validate_and_infer_types()
        self._model = Model(list(self._node.outputs()), parameters)
        self._shapes = shapes

    @works_around("scatter_update_of_constants")
    def _is_slow(self) -> bool:
        cost = _NANOSECONDS.get(self.type)
        if cost is None:
            return self.type in _NO_EVALUATE
        shape = self._node.get_output_partial_shape(0)
        return shape.is_dynamic or math.prod(shape.to_shape()) * cost > _MAX_COST


def _check_count(topk: Node, given: Sequence[Tensor]) -> None:
    """Refuses more elements than there are, which OpenVINO's evaluation reads and writes beyond."""
    count, shape = int(to_array(given[1]).reshape(-1)[0]), list(given[0].shape)
    if count > shape[topk.get_attributes()["axis"]]:
        raise RuntimeError(f"TopK '{topk.get_friendly_name()}': {count} elements of an axis of {shape}")


def _is_small_integer(tensor: Tensor) -> bool:
    kind = tensor.get_element_type()
    return not is_float(kind) and kind != Type.string and tensor.size <= _SMALL and len(tensor.shape) <= 1
