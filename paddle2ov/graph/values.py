"""The values of a program's variables while it is translated.

A value is an OpenVINO output, a constant (`ConstantValue`), or a tensor array that nothing was written to
(`EmptyTensorArray`). What an OpenVINO tensor cannot express is a mark that wraps the value, like the ComplexTypeMark
and the SequenceMark of OpenVINO's frontends:

- `ComplexValue`: the numbers are complex; the wrapped value is real, with a last dimension of 2.
- `LoDTensor`: sequences are concatenated; the wrapped value may be complex.

A value is marked where it is created, and keeps its marks in the scope.
"""

from __future__ import annotations

from typing import Final, TypeAlias, overload

from msgspec import Struct
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.guards import empty_constants
from paddle2ov.graph.node_names import derive_name, is_generated
from paddle2ov.graph.types import COMPLEX_DTYPES, NUMPY_TYPES, OV_TYPES, bits_to_values, constant
from paddle2ov.typing import AnyArray


class ConstantValue:
    """A value that is known while the program is converted: a weight, or a constant of the program.

    Every use of a small one gets a Constant node of its own: OpenVINO's CPU plugin fuses a bias or a scale only when
    its constant has a single consumer. A weight has one node, which shares the weight's memory.
    """

    __slots__ = ("_base", "_is_named", "_node", "array", "dtype", "name", "share")

    _PRIVATE_COPY_ELEMENTS = 64

    def __init__(self, array: AnyArray, dtype: str | None = None, name: str = "", share: bool = True) -> None:
        self.array = array
        self.dtype = dtype
        self.name = name
        self.share = share
        self._node: Constant | None = None
        self._base: ConstantValue | None = None
        self._is_named = False  # whether a node has the name

    @property
    def element_type(self) -> Type:
        """The element type of the Constant that holds the value."""
        if self.dtype is not None:
            return OV_TYPES[self.dtype]
        return NUMPY_TYPES[self.array.dtype.str]

    def constant(self) -> Constant:
        """A Constant node that holds the value."""
        if self._node is not None:
            return self._node
        if not self.array.size:
            empty_constants.seen = True
        node = constant(self.array, self.dtype, share=self.share)
        if self.name:
            self._give_name(node)
        if self.array.size > self._PRIVATE_COPY_ELEMENTS:
            self._node = node
        return node

    def view(self, array: AnyArray) -> ConstantValue:
        """The same elements in another shape, or for another model; only one node of all views gets the name."""
        view = ConstantValue(array, self.dtype, self.name, self.share)
        view._base = self._base or self
        return view

    def _give_name(self, node: Constant) -> None:
        base = self._base or self
        if base._is_named or is_generated(self.name):
            derive_name(node, self.name)
        else:
            node.set_friendly_name(self.name)
            base._is_named = True

    def values(self) -> AnyArray:
        """The value as NumPy computes with it (bfloat16 as float32, complex as complex)."""
        if self.dtype == "bfloat16":
            return bits_to_values(self.array, Type.bf16)
        return self.array


class EmptyTensorArray(Struct, frozen=True):
    """A tensor array without elements, whose type and shape are not known yet."""


PlainValue: TypeAlias = Output | ConstantValue | EmptyTensorArray
"""A value without marks."""


class ComplexValue(Struct, frozen=True):
    """Complex numbers, as real ones with a last dimension of 2: the real and the imaginary part.

    A wrapped `ConstantValue` may hold complex numbers of NumPy.
    """

    value: Node | PlainValue


class SequenceLengths(Struct, frozen=True):
    """How many rows each sequence of a tensor has, int64 or int32 [count].

    Where they are few, recurrences take one row after the other, else a step of all sequences, which are padded.
    """

    output: Output
    few: bool = False


SequenceLayout: TypeAlias = int | Output | SequenceLengths
"""How the rows of a tensor are divided into sequences: by their number, known or computed, where all have one length;
or by the length of each."""

LoD: TypeAlias = SequenceLayout | None
"""Paddle's LoD (level of detail), which has the offsets at which sequences begin; None if they are not known.

Only one level of it is carried.
"""

NO_LOD: Final = 0
"""The empty LoD of a tensor that holds no sequences."""

UNKNOWN_LOD: Final = None
"""The LoD of sequences whose lengths are not known."""


class LoDTensor(Struct, frozen=True):
    """Sequences that are concatenated along axis 0.

    A result that the program declares with LoD, but a converter returns without this mark, gets the LoD of the first
    input that has one. `NO_LOD` says that a result holds no sequences although the program declares so.
    """

    value: Node | PlainValue | ComplexValue
    lod: LoD


Value: TypeAlias = PlainValue | ComplexValue | LoDTensor
"""What a scope holds."""

MARKS: Final = frozenset((ComplexValue, LoDTensor))
"""`type(value) in MARKS` is a test cheap enough for every value of a program."""


@overload
def unmarked(value: Value | Node) -> PlainValue: ...


@overload
def unmarked(value: Value | Node | None) -> PlainValue | None: ...


def unmarked(value: Value | Node | None) -> PlainValue | None:
    """A value without its marks."""
    if isinstance(value, LoDTensor):
        value = value.value
    if isinstance(value, ComplexValue):
        value = value.value
    return value.output(0) if isinstance(value, Node) else value


def is_complex(value: Value | None) -> bool:
    """Whether a value is marked as complex."""
    return isinstance(value, ComplexValue) or (isinstance(value, LoDTensor) and isinstance(value.value, ComplexValue))


def mark_if_complex(value: PlainValue, dtype: str | None) -> PlainValue | ComplexValue:
    """A value of one of Paddle's data types, marked if that is complex."""
    return ComplexValue(value) if dtype in COMPLEX_DTYPES else value
