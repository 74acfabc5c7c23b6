"""Complex tensors: carried as real ones with a last dimension of 2, the real and the imaginary part."""

from __future__ import annotations

import numpy as np
from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray

_LAST = np.array([-1], np.int64)


def make_complex(real: Output | Node, imag: Output | Node) -> Node:
    """The complex tensor of a real and an imaginary part of the same shape."""
    return ops.concat([ops.unsqueeze(real, _LAST), ops.unsqueeze(imag, _LAST)], -1)


def real_imag(x: Output | Node) -> tuple[Output, Output]:
    """The real and the imaginary part; of a tensor that `make_complex` built, the two that it was built from."""
    output = output_of(x)
    if (known := parts_of(output.get_node())) is not None:
        return known
    real, imag = (ops.gather(output, np.int64(i), np.int64(-1)).output(0) for i in (0, 1))
    return real, imag


def component_of(
    value: Output | ConstantValue | EmptyTensorArray, component: int
) -> Output | ConstantValue | EmptyTensorArray:
    """The real (0) or the imaginary (1) part of a value; that of a constant is a constant."""
    if isinstance(value, EmptyTensorArray):
        return value
    if not isinstance(value, ConstantValue):
        return real_imag(value)[component]
    if value.array.dtype.kind == "c":
        chosen = value.array.imag if component else value.array.real
    else:
        chosen = value.array[..., component]
    return ConstantValue(np.array(chosen, order="C"))


def parts_of(node: Node) -> tuple[Output, Output] | None:
    """The real and the imaginary part that `make_complex` built a tensor from; None for any other node."""
    if node.get_type_name() != "Concat" or node.get_input_size() != 2 or node.get_attributes()["axis"] != -1:
        return None
    sources = [node.input_value(i).get_node() for i in (0, 1)]
    if any(source.get_type_name() != "Unsqueeze" or ints_of(source.input_value(1)) != [-1] for source in sources):
        return None
    return sources[0].input_value(0), sources[1].input_value(0)
