"""`Tensor`: the handle on an input or a result of a predictor, as `paddle.inference.Tensor`."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import openvino

from paddle2ov.comparison.tensors import to_tensor
from paddle2ov.errors import ConversionInputError, FailingAs
from paddle2ov.graph.types import bits_to_values
from paddle2ov.inference.arguments import MAX_INT
from paddle2ov.inference.array_types import as_type
from paddle2ov.inference.request import Port, Request
from paddle2ov.inference.switches import DataType
from paddle2ov.typing import AnyArray

_SMALL = 2**16
"""How many bytes are copied as fast as OpenVINO takes other memory for an input."""


class Tensor:
    """A handle on an input or a result of a predictor."""

    def __init__(self, request: Request, port: Port) -> None:
        self._request = request
        self._port = port
        self._content: AnyArray | None = None  # of an input, in the shape that it was set in
        self._shape: tuple[int, ...] | None = None  # of the input now
        self._flat_shape: tuple[int, ...] | None = None  # for arrays that are given flat
        self._is_shared = False  # whether the request has the content in the present shape
        self._is_own = False  # whether nobody else has the content
        self._offsets: list[int] | None = None

    def name(self) -> str:
        """The tensor's name."""
        return self._port.name

    def type(self) -> DataType:
        """The type of its elements.

        Raises:
            ConversionInputError: `paddle.inference` has no name for it, as for int16.
        """
        name = self._port.kind_name
        if name.upper() not in DataType.__members__:
            raise ConversionInputError(f"'{self.name()}' is {name}, for which DataType has no name")
        return DataType[name.upper()]

    def reshape(self, shape: Sequence[int]) -> None:
        """Sets the shape of the input: of what it holds, and of arrays that are given flat, with as many elements.

        What it holds keeps its memory, as in Paddle: a smaller shape takes the first elements. Other arrays that are
        set later keep their own shapes.

        Raises:
            ConversionInputError: it is not a shape, or this is the handle of a result.
        """
        self._require_input("reshaped")
        try:
            sizes = tuple(operator.index(size) for size in shape)
        except TypeError:
            raise self._refusal(f"{str(shape)[:80]} is not a shape") from None
        if any(not -1 <= size <= MAX_INT for size in sizes):
            raise self._refusal(f"{str(shape)[:80]} is not a shape: sizes are from 0 to {MAX_INT}, or -1")
        self._shape = self._flat_shape = sizes
        self._is_shared = self._request.has_run = False

    def copy_from_cpu(self, array: AnyArray) -> None:
        """Sets the input; the array may be changed afterwards.

        An array of another type is converted, where that keeps its numbers; float32 for bfloat16 and float16 is rounded
        to the nearest even. Arrays of uint16 are the bits of bfloat16. Shapes are judged when the predictor runs.

        Raises:
            ConversionInputError: numbers would change with the type, or arrays of its type cannot be converted.
        """
        if not self._has_overwritten(array):
            with self._refusing():
                given = np.asarray(array)
            self._set(given, copied=True)

    def share_external_data(self, array: Any) -> None:
        """Sets the input without copying it: the array must stay as it is until the predictor has run.

        One that cannot be written to, is not contiguous, or of another type, is copied.

        Raises:
            ConversionInputError: it is not an array, or as for `copy_from_cpu`.
        """
        self._set(self._array_of(array), copied=False)

    def share_or_copy(self, array: Any) -> None:
        """Sets the input for one run: a small array is copied, which takes less time than to hand its memory over.

        Raises:
            ConversionInputError: as for `share_external_data`.
        """
        if not self._has_overwritten(array, _SMALL):
            input_array = self._array_of(array)
            self._set(input_array, copied=input_array.nbytes <= _SMALL)

    def share_external_data_by_ptr_name(self, data: str, shape: Sequence[int], dtype: int, place: int) -> None:
        """Not possible: it shares memory of a CUDA device with another process, and Paddle refuses it on CPUs as well.

        Raises:
            ConversionInputError: always.
        """
        raise self._refusal(
            "share_external_data_by_ptr_name takes memory of CUDA devices, which are not here; "
            "share_external_data takes arrays"
        )

    def copy_to_cpu(self) -> AnyArray:
        """The value: a result of the last run, or the input that was set; bfloat16 as float32.

        Raises:
            ConversionInputError: the input is not set, or the predictor has not run, or its last run failed.
        """
        if not self._port.is_input:
            return self._request.result(self._port)
        return bits_to_values(self.value(), self._port.kind).copy()

    to_numpy = copy_to_cpu
    numpy = copy_to_cpu

    def shape(self) -> list[int]:
        """The shape of the value; of an input that is not set the declared one, with -1 where it is not fixed.

        Of a result before the first run, 0 stands where it is not fixed.
        """
        if not self._port.is_input:
            return self._request.shape(self._port)
        return self._port.declared_shape() if self._shape is None else list(self._shape)

    def lod(self) -> list[list[int]]:
        """Where the sequences of the tensor begin, and where the last one ends; empty for a plain tensor.

        It is empty for an input whose sequences are not set, and for a result before the first run.
        """
        if self._port.is_input:
            return [] if self._offsets is None else [list(self._offsets)]
        lengths = self._request.result_lengths(self._port)
        return [] if lengths is None else [[0, *np.cumsum(lengths).tolist()]]

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Says where the sequences of the input begin, and where the last one ends: `[[0, 3, 7]]`.

        Without it, or with an empty list, the rows are one sequence.

        Raises:
            ConversionInputError: it is not such a list, has more than one level, the input takes one sequence, or this
                is the handle of a result.
        """
        self._require_input("given sequences (LoD)")
        try:
            levels = [[operator.index(offset) for offset in level] for level in lod]
        except TypeError:
            raise self._refusal(f"{str(lod)[:80]} is not a list of offsets (LoD); [[0, ...]] is expected") from None
        levels = [level for level in levels if level]
        if self._port.lengths is None and (len(levels) > 1 or (levels and len(levels[0]) > 2)):
            raise self._refusal("takes one sequence: the program declares no LoD of one level for it")
        if len(levels) > 1:
            raise self._refusal("sequences of sequences (LoD) are not supported")
        if levels and (levels[0][0] != 0 or any(b < a for a, b in pairwise(levels[0])) or len(levels[0]) < 2):
            raise self._refusal(f"{levels[0]} are no offsets of sequences; [0, ...] is expected")
        offsets = levels[0] if levels else None
        self._request.has_run &= offsets == self._offsets
        self._offsets = offsets

    def sequences(self) -> int:
        """How many sequences it holds; 1 where it is a plain tensor."""
        return 1 if self._offsets is None else len(self._offsets) - 1

    def prepare(self) -> None:
        """Hands what it holds to the request, which is about to run.

        Raises:
            ConversionInputError: the input is not set, or its shape or sequences do not fit.
        """
        value = self.value()
        if not self._is_shared:
            self._share(value)
        if self._port.lengths is None and self._offsets is None:
            return
        rows = len(value)
        offsets = [0, rows] if self._offsets is None else self._offsets
        if offsets[-1] != rows:
            raise ConversionInputError(
                f"input '{self.name()}' has {rows} rows, its sequences (LoD) end at {offsets[-1]}"
            )
        if self._port.lengths is not None:
            self._request.set_tensor(self._port.lengths, openvino.Tensor(np.diff(offsets).astype(np.int64)))

    def move(self, request: Request, port: Port) -> None:
        """Makes this the handle on the tensor of another request, which gets what it holds before it runs."""
        self._request, self._port = request, port
        self._is_shared = self._request.has_run = False

    def value(self) -> AnyArray:
        """What the input holds, in its present shape.

        Raises:
            ConversionInputError: the input is not set, or holds less.
        """
        if self._content is None or self._shape is None:
            raise ConversionInputError(
                f"input '{self.name()}' is not set: get_input_handle('{self.name()}').copy_from_cpu(...)"
            )
        if self._shape == self._content.shape:
            return self._content
        size = math.prod(self._shape)
        if size > self._content.size or -1 in self._shape:
            raise ConversionInputError(
                f"input '{self.name()}' was reshaped to {list(self._shape)}, and holds {self._content.size} elements"
            )
        return self._content.reshape(-1)[:size].reshape(self._shape)

    def _array_of(self, array: Any) -> AnyArray:
        """What is given to be shared, as an array."""
        is_array = isinstance(array, np.ndarray | np.generic)
        if not is_array and not hasattr(array, "numpy") and not hasattr(array, "__array__"):
            raise self._refusal(f"an array is expected, not {type(array).__name__}")
        with self._refusing():
            return np.asarray(array.numpy() if not is_array and hasattr(array, "numpy") else array)

    def _set(self, array: AnyArray, copied: bool) -> None:
        self._require_input("set")
        array = self._stored(array)
        if self._flat_shape is not None and array.ndim == 1 and math.prod(self._flat_shape) == array.size:
            array = array.reshape(self._flat_shape)
        is_same_shape = array.shape == self._shape
        if copied and self._has_overwritten(array):
            return
        self._is_own = copied or not array.flags.c_contiguous or not array.flags.writeable
        if self._is_own:  # OpenVINO shares what it could write to
            array = array.copy()
        self._content, self._shape, self._is_shared = array, array.shape, False
        self._request.has_run &= is_same_shape
        if self._port.takes(array.shape):
            self._share(array)

    def _has_overwritten(self, array: Any, most: int | None = None) -> bool:
        """Overwrites what it holds, if that is its own and an array of at most this many bytes is of the same kind.

        The request may have this memory already; to take other memory would cost it time.
        """
        content = self._content
        if (
            content is None
            or not self._is_own
            or type(array) is not np.ndarray
            or array.dtype is not content.dtype
            or not array.shape == content.shape == self._shape
            or (most is not None and array.nbytes > most)
        ):
            return False
        with self._request.lock:
            content[...] = array
        return True

    def _stored(self, array: AnyArray) -> AnyArray:
        """The array as OpenVINO holds its type: bfloat16 and float8 as their bits, bfloat16 rounded to nearest even."""
        kind, named, name, wanted = self._port.kind, self._port.dtype, self._port.kind_name, self._port.stored
        if array.dtype is wanted:
            return array
        if array.dtype == wanted:
            return array.view(wanted)  # OpenVINO knows one of the two names of long integers
        try:
            converted = as_type(array, name)
        except TypeError:
            also = "" if named is not None else f"; its bits are taken as {wanted}"
            raise ConversionInputError(f"input '{self.name()}' is {name}, the array is {array.dtype}{also}") from None
        except ValueError as error:
            raise ConversionInputError(
                f"input '{self.name()}' is {name}, the array is {array.dtype} and holds {error}, which {name} cannot: "
                f"give array.astype('{named or np.dtype(np.float32)}')"
            ) from None
        return converted if named is not None else np.array(to_tensor(converted, kind).data).view(np.uint16)

    def _share(self, array: AnyArray) -> None:
        """Makes an array the tensor of the request."""
        if self._port.dtype is None:
            tensor = openvino.Tensor(array, openvino.Shape(array.shape), self._port.kind)
        else:
            tensor = openvino.Tensor(array, shared_memory=array.size > 0)
        self._request.set_tensor(self._port.source, tensor)
        self._is_shared = True

    def _require_input(self, what: str) -> None:
        if not self._port.is_input:
            raise ConversionInputError(f"'{self.name()}' is a result; it cannot be {what}")

    def _refusing(self) -> FailingAs:
        """Raises what an object answers that no array can be made of as an error of this input."""
        return FailingAs(lambda reason: self._refusal(f"no array can be made of what is given: {reason}"))

    def _refusal(self, reason: str) -> ConversionInputError:
        return ConversionInputError(f"input '{self.name()}': {reason}")
