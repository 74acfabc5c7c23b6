"""The user's inputs, as arrays or `.npz` files, and arrays in the types of a model's inputs."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from openvino import ConstOutput, Model, PartialShape, Type

from paddle2ov.errors import ConversionInputError, ConversionWarning, system_reason, warn
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.types import OV_TYPES, as_pairs, bfloat16_bits, bits_to_values, numpy_dtype
from paddle2ov.program import dtypes
from paddle2ov.program.model import Program, Variable
from paddle2ov.program.paths import local_path
from paddle2ov.program.sources import regular_file
from paddle2ov.typing import AnyArray

Inputs = dict[str, AnyArray]
InputsArgument = (
    Mapping[str, AnyArray] | str | os.PathLike[str] | Sequence[Mapping[str, AnyArray] | str | os.PathLike[str]] | None
)
"""Arrays by the names of the inputs, the path of an `.npz` file that holds such, or several of either."""

_MAX_BYTES, _MAX_GROWTH = 2**29, 20
"""How large the arrays of an `.npz` file may be that is compressed: this, or this many times the file."""
_HEADERS: Mapping[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def given_inputs(program: Program, argument: InputsArgument) -> list[Inputs]:
    """The user's inputs, checked against the program.

    Raises:
        ConversionInputError: an input is missing, or of another kind or rank than the program's; a file cannot be read.
    """
    input_sets = []
    for arrays in named_arrays(argument):
        inputs = _of_names(arrays, [input_.name for input_ in program.inputs], "program")
        for input_ in program.inputs:
            inputs[input_.name] = _checked(input_, inputs[input_.name])
        lengths = (input_.name + LENGTHS_SUFFIX for input_ in program.inputs if input_.lod_level)
        input_sets.append(inputs | {name: np.asarray(arrays[name]) for name in lengths if name in arrays})
    return input_sets


def _of_names(arrays: Mapping[str, AnyArray], names: Sequence[str], whose: str) -> Inputs:
    for name in names:
        if name not in arrays:
            given = ", ".join(map(str, arrays)) or "none"
            raise ConversionInputError(
                f"inputs: '{name}' is missing; the {whose}'s inputs are {', '.join(names)}, given are {given}"
            )
    own = {*names, *(name + LENGTHS_SUFFIX for name in names)}
    if others := [str(name) for name in arrays if name not in own]:
        what = "is no input and is" if len(others) == 1 else "are no inputs and are"
        listed = "', '".join(others)
        warn(f"inputs: '{listed}' {what} not used; the inputs are {', '.join(names)}", ConversionWarning)
    return {name: np.asarray(arrays[name]) for name in names}


def named_arrays(argument: InputsArgument) -> list[Mapping[str, AnyArray]]:
    """The arrays of each set of inputs, by their names.

    Raises:
        ConversionInputError: they are in none of these forms, or a file cannot be read.
    """
    if argument is None:
        return []
    items: list[Any] = [argument]
    if isinstance(argument, Iterable) and not isinstance(argument, Mapping | str | os.PathLike | np.ndarray):
        items = list(argument)
    for item in items:
        if not isinstance(item, Mapping | str | os.PathLike):
            raise ConversionInputError(
                f"inputs: arrays by the names of the inputs, or an .npz file of such, are expected, not "
                f"{type(item).__name__}"
            )
    return [item if isinstance(item, Mapping) else load(Path(local_path(item))) for item in items]


def _checked(variable: Variable, array: AnyArray) -> AnyArray:
    """The array in the type that the program takes."""
    wanted = dtypes.STORAGE.get(variable.dtype or "", array.dtype)
    if variable.dtype == "bfloat16" and array.dtype.kind == "f":
        array = bfloat16_bits(array)
    if array.dtype != wanted and variable.dtype != wanted.name:  # which NumPy does not have
        raise ConversionInputError(
            f"inputs: '{variable.name}' is {array.dtype}, the program takes {variable.dtype}: "
            f"give its bits, as {wanted}"
        )
    array = _in_type(variable.name, array, wanted, f"the program takes {variable.dtype}")
    if variable.shape is not None and not PartialShape(list(variable.shape)).compatible(PartialShape(array.shape)):
        raise ConversionInputError(
            f"inputs: '{variable.name}' has shape {list(array.shape)}, the program takes {list(variable.shape)}"
        )
    return array


def _in_type(name: str, array: AnyArray, wanted: np.dtype[Any], takes: str) -> AnyArray:
    """An array in the type that is taken: floats may lose digits, as NumPy computes in float64, and tiny ones become 0.

    Raises:
        ConversionInputError: it is of another kind, or of numbers that the type may not hold.
    """
    if array.dtype == wanted:
        return array
    if array.dtype.kind == wanted.kind == "i" and array.dtype.itemsize < wanted.itemsize:
        return array.astype(wanted)
    if array.dtype.kind == wanted.kind and array.dtype.kind in "fc":
        with np.errstate(over="ignore"):
            converted = array.astype(wanted)
        if np.array_equal(np.isfinite(converted), np.isfinite(array)):
            return converted
        takes += ", which does not hold all of its numbers"
    advice = ": convert it with array.astype" if array.dtype.kind in "biuf" else ""
    raise ConversionInputError(f"inputs: '{name}' is {array.dtype}, {takes}{advice}")


def model_inputs(model: Model, program: Program, arrays: Mapping[str, AnyArray]) -> Inputs:
    """The user's inputs for a converted model, whose types and shapes may be others than the program's.

    Raises:
        ConversionInputError: an input is missing, or of another type or shape than the model's.
    """
    inputs = _of_names(arrays, [port.get_any_name() for port in model.inputs], "model")
    for port, (name, array) in zip(model.inputs, inputs.items(), strict=True):
        kind, shape = port.get_element_type(), port.get_partial_shape()
        declared = (program.variables[name].dtype or "") if name in program.variables else ""
        pairs = [2] if array.dtype.kind == "c" and declared.startswith("complex") else []
        as_declared = declared in dtypes.STORAGE and OV_TYPES.get(declared) == kind
        wanted = dtypes.STORAGE[declared] if as_declared or pairs else numpy_dtype(kind)
        if wanted is not None:
            inputs[name] = _in_type(name, array, np.dtype(wanted), f"the model takes {kind.to_string()}")
        if not shape.compatible(PartialShape([*array.shape, *pairs])):
            raise ConversionInputError(f"inputs: '{name}' has shape {list(array.shape)}, the model takes {shape}")
    return inputs


def cast_inputs(arrays: Inputs, ports: Sequence[ConstOutput]) -> Inputs:
    """Arrays in the types of the inputs of a model, which may be others than the program's."""
    kinds = {name: port.get_element_type() for port in ports for name in port.get_names()}
    return {name: cast(array, kinds[name]) if name in kinds else array for name, array in arrays.items()}


def in_types_of(program: Program, arrays: Inputs) -> Inputs:
    """Arrays for a converted model in the types of the program's inputs, which may be others."""
    kinds = {input_.name: OV_TYPES.get(input_.dtype or "") for input_ in program.inputs}
    return {
        name: array if array.dtype.kind == "c" or (kind := kinds.get(name)) is None else cast(array, kind)
        for name, array in arrays.items()
    }


def rounded_inputs(arrays: Inputs, retyped: Mapping[str, Type]) -> Inputs:
    """Arrays in their own types, with values that the types of a converted model's inputs hold as well."""
    return {name: _rounded(array, retyped[name]) if name in retyped else array for name, array in arrays.items()}


def _rounded(array: AnyArray, kind: Type) -> AnyArray:
    values = _values(cast(array, kind))
    if array.dtype.kind == "c":
        return np.ascontiguousarray(values[..., 0] + 1j * values[..., 1]).astype(array.dtype)
    return bfloat16_bits(values) if array.dtype == np.uint16 else values.astype(array.dtype)


def cast(array: AnyArray, kind: Type) -> AnyArray:
    """An array of Paddle's in an element type: bfloat16 as its bits (uint16), complex numbers as pairs."""
    array = as_pairs(array)
    if kind == Type.bf16:
        return array if array.dtype == np.uint16 else bfloat16_bits(array)
    wanted = numpy_dtype(kind)
    return array if wanted is None else _values(array).astype(wanted, copy=False)


def _values(array: AnyArray) -> AnyArray:
    return bits_to_values(array, Type.bf16) if array.dtype == np.uint16 else array


def load(path: Path) -> Inputs:
    """The arrays of an `.npz` file.

    Raises:
        ConversionInputError: it is not an `.npz` file, or cannot be read.
    """
    try:
        opened = regular_file(path)
    except (OSError, ValueError) as error:
        raise ConversionInputError(f"inputs: {path}: {system_reason(error)}") from error
    with opened as file:
        most = max(_MAX_BYTES, _MAX_GROWTH * os.fstat(file.fileno()).st_size)
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > most:
                    raise ValueError(f"its arrays have more than {most} bytes")
                return {member.filename.removesuffix(".npy"): _member(archive, member) for member in members}
        except MemoryError as error:
            raise ConversionInputError(f"inputs: {path} holds more than fits into memory: {error}") from error
        except Exception as error:  # zipfile and NumPy raise all kinds of them, OSError among them
            reason = system_reason(error)
            raise ConversionInputError(
                f"inputs: {path} is not an .npz file of arrays: {reason} (numpy.savez makes one)"
            ) from error


def _member(archive: zipfile.ZipFile, about: zipfile.ZipInfo) -> AnyArray:
    """One array of an `.npz` file; NumPy makes as large a one as the header says before it reads the data."""
    with archive.open(about) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"'{about.filename}': version {version} of NumPy's format is not known")
        shape, _, dtype = _HEADERS[version](file)
        if dtype.hasobject:
            raise ValueError(f"'{about.filename}': arrays of Python objects (pickle) are not read")
        if about.file_size - file.tell() != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"'{about.filename}': the header does not fit the data")
    with archive.open(about) as file:
        array: AnyArray = np.lib.format.read_array(file, allow_pickle=False)
        return array
