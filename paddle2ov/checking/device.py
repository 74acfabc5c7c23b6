"""The device under test: compiles models, and runs several inputs in one infer request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import openvino
from openvino import Model, Tensor

from paddle2ov.comparison.tensors import copied
from paddle2ov.compilation.precision import HINT, no_hardware
from paddle2ov.compilation.runtime_info import runtime_info
from paddle2ov.errors import ConversionInputError, described
from paddle2ov.graph.core import compile_as_it_is, compile_on, with_error_reporting
from paddle2ov.graph.opset import ops
from paddle2ov.program.sources import check_mapped

_NOT_COMPUTED = frozenset(("Input", "Output", "Const", "Parameter", "Result", "Constant"))


@dataclass(frozen=True, slots=True)
class Device:
    """A device and what it computes in: "f32", "bf16" or "f16"."""

    name: str
    precision: str

    def compile(self, model: Model) -> openvino.CompiledModel:
        """Compiles a model.

        Raises:
            RuntimeError: it cannot.
        """
        check_mapped(model)
        config = with_error_reporting({HINT: self.precision}, self.name)
        return compile_as_it_is(self.name, model, config)  # what works around a fault of the device would hide it

    def run(self, model: Model, sequence: Sequence[Sequence[Tensor]]) -> list[list[Tensor] | str]:
        """The results of the runs of one infer request; the error message where the device cannot compute them."""
        try:
            request = self.compile(model).create_infer_request()
        except RuntimeError as error:
            return [described(error)] * len(sequence)
        results: list[list[Tensor] | str] = []
        for inputs in sequence:
            try:
                request.reset_state()
                for i, tensor in enumerate(inputs):
                    request.set_input_tensor(i, tensor)
                request.infer()
                results.append([copied(request.get_output_tensor(i)) for i in range(len(model.outputs))])
            except RuntimeError as error:
                results.append(described(error))
        return results


def chosen_device(name: str, precision: str) -> Device:
    """The device with its precision; "default" is what it takes unless told otherwise.

    Raises:
        ConversionInputError: there is no such device, or it does not compute in that precision.
    """
    try:
        if precision == "default":
            precision = default_precision(name)
        probe = compile_on(name, _probe(), {HINT: precision})
        computes_in = probe.get_property(HINT).get_type_name()
    except RuntimeError as error:
        raise ConversionInputError(f"device: {name} in {precision}: {described(error)}") from None
    if computes_in != precision:
        raise ConversionInputError(no_hardware(name, precision))
    return Device(name, precision)


def default_precision(name: str) -> str:
    """What a device computes in unless told otherwise."""
    precision = compile_on(name, _probe(), {}).get_property(HINT).get_type_name()
    return str(precision) if precision in ("f32", "bf16", "f16") else "f32"


def _probe() -> Model:
    x = ops.parameter([1], openvino.Type.f32)
    return Model([ops.relu(x).output(0)], [x])


def primitive_lines(model: Model, device: Device) -> tuple[str, ...]:
    """The primitives of a model in order, as "type kernel: nodes"; none where the device does not tell."""
    try:
        nodes = device.compile(model).get_runtime_model().get_ordered_ops()
    except RuntimeError:
        return ()
    kinds = [runtime_info(node, "layerType") or node.get_type_name() for node in nodes]
    return tuple(
        f"{kind} {runtime_info(node, 'primitiveType')}: {runtime_info(node, 'originalLayersNames')}".strip(" :")
        for node, kind in zip(nodes, kinds, strict=True)
        if kind not in _NOT_COMPUTED
    )
