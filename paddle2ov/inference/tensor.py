"""`Tensor`: the handle on an input or a result of a predictor, as `paddle.inference.Tensor`."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import openvino

from paddle2ov.checking.tensors import to_tensor
from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.types import bits_to_values, dtype_name, numpy_dtype
from paddle2ov.inference.request import Port, Request
from paddle2ov.inference.switches import DataType
from paddle2ov.program.model import AnyArray


class Tensor:
    """A handle on an input or a result of a predictor."""

    def __init__(self, request: Request, port: Port) -> None:
        self._request = request
        self._port = port
        self._given: AnyArray | None = None
        self._shape: tuple[int, ...] | None = None
        self._offsets: list[int] | None = None

    def name(self) -> str:
        """The tensor's name."""
        return self._port.name

    def type(self) -> DataType:
        """The type of its elements.

        Raises:
            ConversionInputError: `paddle.inference` has no name for it, as for int16.
        """
        name = dtype_name(self._port.element_type())
        if name.upper() not in DataType.__members__:
            raise ConversionInputError(f"'{self.name()}' is {name}, for which DataType has no name")
        return DataType[name.upper()]

    def reshape(self, shape: Sequence[int]) -> None:
        """Sets the shape for arrays that are given flat, with as many elements; other arrays keep theirs.

        Raises:
            ConversionInputError: it is not a shape.
        """
        try:
            self._shape = tuple(operator.index(size) for size in shape)
        except TypeError:
            raise ConversionInputError(f"input '{self.name()}': {str(shape)[:80]} is not a shape") from None

    def copy_from_cpu(self, array: AnyArray) -> None:
        """Sets the input; the array may be changed afterwards.

        bfloat16 is taken as float32, which is rounded to the nearest even, or as its bits in uint16.

        Raises:
            ConversionInputError: it is of another type or shape than the input.
        """
        self._set(np.array(array, order="C"))

    def share_external_data(self, array: Any) -> None:
        """Sets the input without copying it: the array must stay as it is until the predictor has run.

        One that cannot be written to, is not contiguous, or is rounded to bfloat16, is copied.

        Raises:
            ConversionInputError: it is not an array, or of another type or shape than the input.
        """
        if not isinstance(array, np.ndarray | np.generic) and not hasattr(array, "numpy"):
            raise ConversionInputError(f"input '{self.name()}': an array is expected, not {type(array).__name__}")
        self._set(np.asarray(array if isinstance(array, np.ndarray | np.generic) else array.numpy()))

    def copy_to_cpu(self) -> AnyArray:
        """The value: a result of the last run, or the input that was set; bfloat16 as float32."""
        if self._given is None:
            return self._request.value(self._port.source)
        return bits_to_values(self._given, self._port.element_type()).copy()

    to_numpy = copy_to_cpu
    numpy = copy_to_cpu

    def shape(self) -> list[int]:
        """The shape of the value; of an input that is not set the declared one, with -1 where it is not fixed.

        Of a result before the first run, 0 stands where it is not fixed.
        """
        if self._given is not None:
            return list(self._given.shape)
        if self._shape is not None:
            return list(self._shape)
        return self._port.declared_shape() if self._port.is_input else self._request.shape(self._port.source)

    def lod(self) -> list[list[int]]:
        """Where the sequences of the tensor begin, and where the last one ends; empty for a plain tensor."""
        if self._port.lengths is None:
            return []
        if self._port.is_input:
            return [] if self._offsets is None else [list(self._offsets)]
        return [[0, *np.cumsum(self._request.value(self._port.lengths)).tolist()]]

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Says where the sequences of the input begin, and where the last one ends: `[[0, 3, 7]]`.

        Without it, or with an empty list, the rows are one sequence.

        Raises:
            ConversionInputError: it is not such a list, has more than one level, or the input has no sequences.
        """
        levels = [list(level) for level in lod if len(level)]
        if levels and self._port.lengths is None:
            raise ConversionInputError(f"input '{self.name()}': the model takes no sequences (LoD) here")
        if len(levels) > 1:
            raise ConversionInputError(f"input '{self.name()}': sequences of sequences (LoD) are not supported")
        if levels and (levels[0][0] != 0 or any(b < a for a, b in pairwise(levels[0])) or len(levels[0]) < 2):
            raise ConversionInputError(
                f"input '{self.name()}': {levels[0]} are no offsets of sequences; [0, ...] is expected"
            )
        self._offsets = levels[0] if levels else None

    def prepare(self) -> None:
        """Hands what it holds to the request, which is about to run.

        Raises:
            ConversionInputError: the input is not set, or the sequences do not fit it.
        """
        if self._given is None:
            raise ConversionInputError(
                f"input '{self.name()}' is not set: get_input_handle('{self.name()}').copy_from_cpu(...)"
            )
        if self._port.lengths is None:
            return
        rows = len(self._given)
        offsets = [0, rows] if self._offsets is None else self._offsets
        if offsets[-1] != rows:
            raise ConversionInputError(
                f"input '{self.name()}' has {rows} rows, its sequences (LoD) end at {offsets[-1]}"
            )
        self._request.set_tensor(self._port.lengths, openvino.Tensor(np.diff(offsets).astype(np.int64)))

    def move(self, request: Request, port: Port) -> None:
        """Makes this the handle on the tensor of another request, which gets the array that is set."""
        self._request, self._port = request, port
        if self._given is not None:
            self._share(self._given)

    def _set(self, array: AnyArray) -> None:
        if not self._port.is_input:
            raise ConversionInputError(f"'{self.name()}' is a result; it cannot be set")
        array = self._stored(array)
        array = np.ascontiguousarray(array).reshape(array.shape)  # ascontiguousarray makes 0-D arrays 1-D
        if self._shape is not None and array.ndim == 1 and math.prod(self._shape) == array.size:
            array = array.reshape(self._shape)
        declared = self._port.source.get_partial_shape()
        if not declared.compatible(openvino.PartialShape(list(array.shape))):
            raise ConversionInputError(
                f"input '{self.name()}' takes {declared.to_string()}, the array is {list(array.shape)}"
            )
        if not array.flags.writeable:  # OpenVINO shares what it could write to
            array = array.copy()
        self._share(array)
        self._given = array

    def _stored(self, array: AnyArray) -> AnyArray:
        """The array as OpenVINO holds its type: bfloat16 and float8 as their bits, bfloat16 rounded to nearest even."""
        kind = self._port.element_type()
        if kind == openvino.Type.bf16 and array.dtype == np.float32:
            return np.array(to_tensor(array, kind).data).view(np.uint16)
        named = numpy_dtype(kind)
        wanted = named or np.dtype(f"u{kind.size}")
        if array.dtype != wanted:
            also = "" if named is not None else f"; its bits are taken as {wanted}"
            raise ConversionInputError(f"input '{self.name()}' is {dtype_name(kind)}, the array is {array.dtype}{also}")
        return array

    def _share(self, array: AnyArray) -> None:
        """Makes an array the tensor of the request."""
        kind = self._port.element_type()
        if numpy_dtype(kind) is None:
            tensor = openvino.Tensor(array, openvino.Shape(array.shape), kind)
        else:
            tensor = openvino.Tensor(array, shared_memory=array.size > 0)
        self._request.set_tensor(self._port.source, tensor)


__all__ = ["Tensor"]
