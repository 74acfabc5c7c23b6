"""OpenVINO's element types for Paddle's, and constants made from known arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Shape, Tensor, Type
from openvino.op import Constant

from paddle2ov.graph.names import is_generated, name_under
from paddle2ov.program.dtypes import LEGACY
from paddle2ov.program.model import AnyArray

OV_TYPES: dict[str, Type] = {
    "bool": Type.boolean,
    "int8": Type.i8,
    "uint8": Type.u8,
    "int16": Type.i16,
    "int32": Type.i32,
    "int64": Type.i64,
    "uint64": Type.u64,
    "float16": Type.f16,
    "bfloat16": Type.bf16,
    "float32": Type.f32,
    "float64": Type.f64,
    "float8_e4m3fn": Type.f8e4m3,
    "float8_e5m2": Type.f8e5m2,
    # A complex tensor is carried as a real one with a last dimension of 2: (real, imaginary).
    "complex64": Type.f32,
    "complex128": Type.f64,
}
"""Paddle's data type name -> element type."""

_NUMPY_TYPES: dict[str, Type] = {
    np.dtype(name).str: kind
    for name, kind in OV_TYPES.items()
    if name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128")
} | {np.dtype(np.uint16).str: Type.u16, np.dtype(np.uint32).str: Type.u32}


def element_type(dtype: str | int | None) -> Type | None:
    """The element type for a `dtype` attribute, a name (PIR) or a number (legacy); None where Paddle leaves it open."""
    if isinstance(dtype, int):
        dtype = LEGACY.get(dtype)
    return OV_TYPES.get(dtype) if dtype is not None else None


class Known:
    """A value that is known while the program is converted: a weight, or a constant of the program.

    Every use of a small one gets a Constant node of its own: OpenVINO's CPU plugin fuses a bias or a scale only when
    its constant has a single consumer. A weight has one node, which shares the weight's memory.
    """

    __slots__ = ("_is_named", "_node", "_whole", "array", "dtype", "name", "share")

    _PRIVATE_COPY_ELEMENTS = 64

    def __init__(self, array: AnyArray, dtype: str | None = None, name: str = "", share: bool = True) -> None:
        self.array = array
        self.dtype = dtype
        self.name = name
        self.share = share
        self._node: Constant | None = None
        self._whole: Known | None = None
        self._is_named = False  # whether a node has the name

    @property
    def element_type(self) -> Type:
        """The element type of the Constant that holds the value."""
        if self.dtype is not None:
            return OV_TYPES[self.dtype]
        return _NUMPY_TYPES[self.array.dtype.str]

    def constant(self) -> Constant:
        """A Constant node that holds the value."""
        if self._node is not None:
            return self._node
        node = constant(self.array, self.dtype, share=self.share)
        if self.name:
            self._give_name(node)
        if self.array.size > self._PRIVATE_COPY_ELEMENTS:
            self._node = node
        return node

    def viewed(self, array: AnyArray) -> Known:
        """The same elements in another shape, or for another model: one node of all has the name."""
        view = Known(array, self.dtype, self.name, self.share)
        view._whole = self._whole or self
        return view

    def _give_name(self, node: Constant) -> None:
        whole = self._whole or self
        if whole._is_named or is_generated(self.name):
            name_under(node, self.name)
        else:
            node.set_friendly_name(self.name)
            whole._is_named = True

    def values(self) -> AnyArray:
        """The value as NumPy computes with it (bfloat16 as float32, complex as complex)."""
        if self.dtype == "bfloat16":
            return numbers_of(self.array, Type.bf16)
        return self.array


class EmptyArray:
    """A tensor array that nothing was written to: the type and shape of its elements are not known yet."""


Value: TypeAlias = Output | Known | EmptyArray
"""What a variable of the program is while it is translated."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many rows each sequence of a tensor has, int64 or int32 [count]."""

    output: Output


SequenceCount: TypeAlias = int | Output | Lengths | None
"""How many sequences of equal length a tensor holds (0: it is none), or how long each of them is; None: not known."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A result that holds sequences one after the other in dimension 0, with LoD in Paddle's words.

    Other results that the program declares with LoD have that of the operator's first input that has one.
    """

    value: Node | Output | Known
    count: SequenceCount


def constant(array: AnyArray, dtype: str | None = None, share: bool = True) -> Constant:
    """A Constant node of `array` (writable if shared); `dtype` is Paddle's name where NumPy has no such type.

    What NumPy has no type for is copied: the node would not keep the array's memory alive.
    """
    if dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        kind = OV_TYPES[dtype]
        if array.size == 0:
            return Constant(kind, Shape(array.shape), [0.0])
        return Constant(Tensor(array, Shape(array.shape), kind), shared_memory=False)
    if array.dtype.kind == "c":
        part = np.float32 if array.dtype == np.complex64 else np.float64
        array = np.ascontiguousarray(array).view(part).reshape(*array.shape, 2)
    return Constant(array, shared_memory=share)


def numbers_of(array: AnyArray, kind: Type) -> AnyArray:
    """What the elements of a Constant stand for: NumPy has no bfloat16, which OpenVINO hands out as float16."""
    if kind == Type.bf16:
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array


def value_of(node: Constant) -> AnyArray:
    """The value of a Constant as NumPy computes with it (bfloat16 as float32)."""
    return numbers_of(node.get_data(), node.get_element_type())


def numpy_dtype(kind: Type) -> np.dtype[np.generic] | None:
    """The NumPy type that holds an element type, or None where NumPy has none (bfloat16, float8)."""
    return _STORAGE.get(kind.get_type_name())


_STORAGE: dict[str, np.dtype[np.generic]] = {
    kind.get_type_name(): np.dtype(name) for name, kind in _NUMPY_TYPES.items()
}
