"""OpenVINO's element types for Paddle's data types, and Constant nodes from arrays."""

from __future__ import annotations

import numpy as np
from openvino import Shape, Tensor, Type
from openvino.op import Constant

from paddle2ov.program.budget import charge_copy
from paddle2ov.program.dtypes import LEGACY
from paddle2ov.typing import AnyArray

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

COMPLEX_DTYPES = frozenset(("complex64", "complex128"))
WITHOUT_NUMPY = frozenset(("bfloat16", "float8_e4m3fn", "float8_e5m2"))
"""Data types that NumPy does not have."""

NUMPY_TYPES: dict[str, Type] = {
    np.dtype(name).str: ov_type
    for name, ov_type in OV_TYPES.items()
    if name not in COMPLEX_DTYPES and name not in WITHOUT_NUMPY
} | {np.dtype(np.uint16).str: Type.u16, np.dtype(np.uint32).str: Type.u32}
"""NumPy's name of a data type -> element type."""


_RISING = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
_ORDER = [OV_TYPES[name] for name in _RISING]
_ABOVE_BOTH = {frozenset((Type.u8, Type.i8)): Type.i16, frozenset((Type.f16, Type.bf16)): Type.f32}


def common_type(one: Type, other: Type) -> Type | None:
    """The type to which Paddle promotes two different types; None where it promotes neither."""
    if one not in _ORDER or other not in _ORDER:
        return None
    return _ABOVE_BOTH.get(frozenset((one, other))) or max(one, other, key=_ORDER.index)


def dtype_name(kind: Type) -> str:
    """Paddle's name of an element type, for messages."""
    return next((name for name, type_ in OV_TYPES.items() if type_ == kind), kind.get_type_name())


def element_type(dtype: str | int | None) -> Type | None:
    """The element type for a `dtype` attribute, a name (PIR) or a number (legacy); None if undefined or unknown."""
    if isinstance(dtype, int):
        dtype = LEGACY.get(dtype)
    return OV_TYPES.get(dtype) if dtype is not None else None


def constant(array: AnyArray, dtype: str | None = None, share: bool = True) -> Constant:
    """A Constant node of `array` (writable if shared); `dtype` is Paddle's name where NumPy has no such type.

    An array of a type that NumPy does not have is copied: the node would not keep its memory alive.
    """
    if dtype in WITHOUT_NUMPY:
        ov_type = OV_TYPES[dtype]
        if array.size == 0:
            return Constant(ov_type, Shape(array.shape), [0.0])
        charge_copy(array.nbytes)
        return Constant(Tensor(array, Shape(array.shape), ov_type), shared_memory=False)
    if array.dtype.kind == "c":
        real = np.float32 if array.dtype == np.complex64 else np.float64
        array = np.ascontiguousarray(array).view(real).reshape(*array.shape, 2)
    if not share:
        charge_copy(array.nbytes)
    return Constant(array, share)  # by position: the bindings take half a microsecond for a keyword


def as_pairs(array: AnyArray) -> AnyArray:
    """An array as OpenVINO takes it: complex numbers as real ones with a last dimension of 2."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def bits_to_values(array: AnyArray, ov_type: Type) -> AnyArray:
    """The values of a Constant's data: NumPy has no bfloat16, which OpenVINO returns as an array of float16."""
    if ov_type == Type.bf16:
        return np.asarray(array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)  # 0-D, `<<` makes a number
    return array


def bfloat16_bits(array: AnyArray) -> AnyArray:
    """The bits (uint16) of the nearest bfloat16 values; of two that are equally near, the even one."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).reshape(array.shape)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16)


def value_of(node: Constant) -> AnyArray:
    """The value of a Constant as NumPy computes with it (bfloat16 as float32)."""
    return bits_to_values(node.get_data(), node.get_element_type())


def numpy_dtype(ov_type: Type) -> np.dtype[np.generic] | None:
    """The NumPy type that holds an element type, or None where NumPy has none (bfloat16, float8)."""
    return _STORAGE.get(ov_type.get_type_name())


_STORAGE: dict[str, np.dtype[np.generic]] = {
    ov_type.get_type_name(): np.dtype(name) for name, ov_type in NUMPY_TYPES.items()
}
