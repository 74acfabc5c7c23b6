"""The request of a predictor, which runs its model, and the ports of that model by Paddle's names."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import openvino

from paddle2ov.comparison.tensors import to_array
from paddle2ov.errors import ConversionInputError, OpenVINORunError, described
from paddle2ov.graph.forks import computing
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.types import dtype_name, numpy_dtype
from paddle2ov.typing import AnyArray


class Port:
    """An input or a result of a compiled model.

    Attributes:
        name: Paddle's name.
        source: OpenVINO's port.
        lengths: the port of the lengths of its sequences, where it has some.
        kind_name: Paddle's name of the type of its elements.
        dtype: NumPy's type of the same size; None where it has no such numbers (bfloat16, float8).
        stored: what NumPy stores the elements as.
    """

    def __init__(
        self, name: str, source: openvino.ConstOutput, lengths: openvino.ConstOutput | None, is_input: bool
    ) -> None:
        self.name, self.source, self.lengths, self.is_input = name, source, lengths, is_input
        self.kind = source.get_element_type()
        self.kind_name, self.dtype = dtype_name(self.kind), numpy_dtype(self.kind)
        self.is_bfloat16 = self.kind == openvino.Type.bf16
        self.stored = self.dtype or np.dtype(f"u{self.kind.size}")
        shape = source.get_partial_shape()
        self._limits = (
            None if shape.rank.is_dynamic else [(dim.get_min_length(), dim.get_max_length()) for dim in shape]
        )

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of a shape fits the declared one."""
        if self._limits is None:
            return True
        if len(shape) != len(self._limits):
            return False
        return all(
            least <= size and (size <= most or most == -1)
            for size, (least, most) in zip(shape, self._limits, strict=True)
        )

    def declared_shape(self) -> list[int]:
        """The shape that the model declares; -1 where a dimension is not fixed."""
        return [size.get_length() if size.is_static else -1 for size in self.source.get_partial_shape()]


def by_name(ports: Sequence[Port]) -> dict[str, Port]:
    """The first of each name."""
    named: dict[str, Port] = {}
    for port in ports:
        named.setdefault(port.name, port)
    return named


class Request:
    """OpenVINO's request of a predictor; a thread that touches its tensors holds the lock, as it must not run then.

    Attributes:
        compiled: its model.
        inputs: the model's inputs by name, in the program's order.
        results: its results in order; one that is returned twice is in the list twice.
        lock: another one in a forked process, where nobody would release the one before.
        has_results: whether what its memory holds are results.
        has_run: whether it has run on inputs of the shapes and sequences that they have now.
    """

    def __init__(self, compiled: openvino.CompiledModel, lock: threading.RLock, drops_errors: bool) -> None:
        self.compiled, self.lock = compiled, lock
        self.inputs = by_name(ports_of(compiled.inputs, is_input=True))
        self.results = ports_of(compiled.outputs, is_input=False)
        self._request = compiled.create_infer_request()
        self._drops_errors = drops_errors
        self.has_results = self.has_run = False

    def infer(self) -> None:
        """Runs the model."""
        self.has_results = False
        try:
            with computing:
                if self._drops_errors:
                    self._request.start_async()
                    self._request.wait()
                else:
                    self._request.infer(share_outputs=True, decode_strings=False)
        except RuntimeError as error:
            shapes = (f"'{port.get_any_name()}' {self._shape(port)}" for port in self._request.model_inputs)
            reason = f"OpenVINO does not run the model on inputs of the shapes {', '.join(shapes)}: {described(error)}"
            raise OpenVINORunError(reason) from error
        self.has_results = True

    def _shape(self, port: openvino.ConstOutput) -> list[int]:
        return list(self._request.get_tensor(port).shape)

    def set_tensor(self, port: openvino.ConstOutput, tensor: openvino.Tensor) -> None:
        """Sets an input."""
        try:
            with self.lock:
                self._request.set_tensor(port, tensor)
        except RuntimeError as error:
            raise OpenVINORunError(f"OpenVINO does not take this input: {error}") from error

    def shape(self, port: Port) -> list[int]:
        """The shape of the tensor of a port."""
        with self.lock:
            return self._shape(port.source)

    def result(self, port: Port) -> AnyArray:
        """A copy of a result of the last run, as another one may change it; bfloat16 as float32.

        Raises:
            ConversionInputError: there was none, or it failed: what the memory holds is no result.
        """
        with self.lock:
            if not self.has_results:
                raise ConversionInputError(f"result '{port.name}' is not computed: no run, or the last one failed")
            tensor = self._request.get_tensor(port.source)
            return to_array(tensor) if port.is_bfloat16 else tensor.data.copy()

    def result_lengths(self, port: Port) -> AnyArray | None:
        """The lengths of the sequences of a result; None where it has none, or none are computed."""
        with self.lock:
            if port.lengths is None or not self.has_results:
                return None
            return np.array(self._request.get_tensor(port.lengths).data)


def ports_of(sources: Sequence[openvino.ConstOutput], is_input: bool) -> list[Port]:
    """Inputs or results, in the program's order; a result that is returned twice is in the list twice."""
    named: dict[str, openvino.ConstOutput] = {}
    for source in sources:
        named.setdefault(source.get_any_name(), source)
    lengths = {name: named[name + LENGTHS_SUFFIX] for name in named if name + LENGTHS_SUFFIX in named}
    others = list(lengths.values())
    names = [(source.get_any_name(), source) for source in sources if source not in others]
    return [Port(name, source, lengths.get(name), is_input) for name, source in names]
