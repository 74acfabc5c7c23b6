"""Runs models on the CPU, in full precision unless told otherwise, on arrays by the names of their inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino

from paddle2ov.comparison.tensors import to_array
from paddle2ov.graph.core import compile_on, with_error_reporting, with_exact_integers
from paddle2ov.graph.forks import computing
from paddle2ov.graph.types import as_pairs
from paddle2ov.program.sources import check_mapped
from paddle2ov.typing import AnyArray


@dataclass(frozen=True, slots=True)
class Result:
    """One result of the converted model: all its names, its element type, its values."""

    names: frozenset[str]
    kind: str
    array: AnyArray


class MismatchError(AssertionError):
    """OpenVINO and Paddle compute different results."""


def run(model: openvino.Model, inputs: Mapping[str, AnyArray]) -> list[Result]:
    """Compiles the model on the CPU in full precision and runs it."""
    return infer(compile_on_cpu(model), inputs)


def compile_on_cpu(model: openvino.Model, precision: str = "f32") -> openvino.CompiledModel:
    """Compiles the model on the CPU, in full precision by default, for one thread.

    `precision`: "f32", "bf16", or "default" for what OpenVINO takes on this processor.

    Raises:
        ModelReadError: the model's weights are mapped from a file that has changed.
    """
    return compile_in(model, "CPU", precision)


def compile_in(model: openvino.Model, device: str, precision: str) -> openvino.CompiledModel:
    """Compiles the model as `compile_on_cpu` does, on any device.

    Raises:
        ModelReadError: the model's weights are mapped from a file that has changed.
        RuntimeError: OpenVINO cannot compile it there.
    """
    check_mapped(model)
    # What takes time here (20 ms for a single operator) are OpenVINO's own transformations; no option shortens them.
    return compile_on(device, model, config_for(device, precision))


def config_for(device: str, precision: str = "f32") -> dict[str, Any]:
    """The properties that `compile_in` compiles with; an exported model is to be imported with the same."""
    config: dict[str, Any] = {} if precision == "default" else {"INFERENCE_PRECISION_HINT": precision}
    if device == "CPU":
        config["INFERENCE_NUM_THREADS"] = 1
    return with_exact_integers(with_error_reporting(config, device), device)


def infer(
    compiled: openvino.CompiledModel, inputs: Mapping[str, AnyArray], request: openvino.InferRequest | None = None
) -> list[Result]:
    """Runs a compiled model, by a request of its own or by one that may have run other inputs before."""
    computed = run_in_order(compiled, [inputs[name_of(port, inputs)] for port in compiled.inputs], request)
    names = [frozenset(port.get_names()) for port in compiled.outputs]
    return [Result(name, kind, array) for name, (kind, array) in zip(names, computed, strict=True)]


def run_in_order(
    compiled: openvino.CompiledModel, arrays: Sequence[AnyArray], request: openvino.InferRequest | None = None
) -> list[tuple[str, AnyArray]]:
    """Runs a compiled model with arrays in the order of its inputs; element type and values of each of its outputs."""
    request = request or compiled.create_infer_request()
    for port, array in zip(compiled.inputs, arrays, strict=True):
        request.set_tensor(port, as_tensor(array, port.get_element_type()))
    with computing:
        request.infer()
    outputs = [(port.get_element_type().get_type_name(), request.get_tensor(port)) for port in compiled.outputs]
    return [(kind, np.array(to_array(tensor))) for kind, tensor in outputs]


def as_tensor(array: AnyArray, kind: openvino.Type) -> openvino.Tensor:
    """The array as a tensor of an input's type: bfloat16 comes as its bits, complex numbers as pairs."""
    array = as_pairs(array)
    array = np.ascontiguousarray(array).reshape(array.shape)
    if kind == openvino.Type.bf16:
        if array.size == 0:
            return openvino.Tensor(kind, openvino.Shape(array.shape))
        return openvino.Tensor(array, openvino.Shape(array.shape), kind)
    return openvino.Tensor(array)


def name_of(port: Any, inputs: Mapping[str, AnyArray]) -> str:
    """The name of an input of the model under which there is an array."""
    for name in port.get_names():
        if name in inputs:
            return str(name)
    raise MismatchError(f"the model has an input {sorted(port.get_names())} that Paddle's model does not have")
