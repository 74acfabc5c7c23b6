"""Inputs to verify a model with: random ones from its declared inputs, or the user's `.npz` files."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from openvino import ConstOutput, Dimension, Model, PartialShape, Type

from paddle2ov.deployment.planning import plan
from paddle2ov.errors import ConversionInputError, Paddle2OVError
from paddle2ov.graph.types import OV_TYPES, bfloat16_bits, bits_to_values, numpy_dtype
from paddle2ov.program import dtypes
from paddle2ov.program.model import Operator, Program, Variable
from paddle2ov.program.settings import Settings
from paddle2ov.program.sources import regular_file
from paddle2ov.translation.input_spec import InputArgument, parse_input
from paddle2ov.typing import AnyArray

Inputs = dict[str, AnyArray]
InputsArgument = (
    Mapping[str, AnyArray] | str | os.PathLike[str] | Sequence[Mapping[str, AnyArray] | str | os.PathLike[str]] | None
)
"""Arrays by the names of the inputs, the path of an `.npz` file that holds such, or several of either."""

_LENGTHS = (16, 7, 33)
_SETS: tuple[tuple[int, tuple[int, int]], ...] = ((1, (224, 224)), (2, (160, 320)), (3, (320, 128)))
"""Batch, and height and width of pictures: multiples of 32, as feature pyramids add maps of different strides."""
_LARGE = ((1, (640, 640)), (1, (768, 1024)))
"""Where both are unknown: as users have them; rounding adds up over the elements of a page."""
_LINES = ((1, (48, 320)), (2, (48, 128)), (1, (48, 800)))
"""Where the width alone is unknown: lines of text."""
_MAX_ELEMENTS = 2**28

_TABLES = {"lookup_table": "w", "lookup_table_v2": "weight", "embedding": "weight"}
_INDEXED = {"gather": "x", "gather_nd": "x", "index_select": "x", "index_sample": "x", "take_along_axis": "arr"}
_UNCHANGED = frozenset(("assign", "cast", "reshape", "reshape2", "squeeze2", "unsqueeze2", "share_data", "flatten2"))
_MAX_INDEX = 10

_MAX_BYTES, _MAX_GROWTH = 2**29, 20
"""How large the arrays of an `.npz` file may be that is compressed: this, or so many times the file."""
_HEADERS: Mapping[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def shape_sets(argument: InputArgument | Sequence[InputArgument]) -> list[InputArgument]:
    """The `shapes` of `verify` and `check`, one for each set of inputs: several strings or mappings, or one."""
    if argument is None:
        return []
    if isinstance(argument, list | tuple) and all(isinstance(one, str | dict) for one in argument):
        return list(argument)
    return [argument]


def random_inputs(
    program: Program, shapes: Sequence[InputArgument] = (), seed: int = 0, settings: Settings | None = None
) -> list[Inputs]:
    """Random inputs for a program: one set where all shapes are fixed, several where they are not.

    Floats are uniform in [-1, 1); integers in [0, 10), or below the size of what they index; lengths of sequences are
    from 1 to the number of steps; bools are fair.
    Two names are known by what they mean in PaddleDetection's models: `im_shape` is the image's height and width,
    `scale_factor` is 1.

    Args:
        program: the program.
        shapes: shapes to use, in the forms of `convert(input=...)`, one for each set.
        seed: of the random numbers.
        settings: what is known of the model; sizes that it names are used as well, and none beyond its bounds.

    Raises:
        ConversionInputError: a shape does not fit the program or is too large, or the seed is negative.
    """
    if seed < 0:
        raise ConversionInputError(f"seed: {seed} is negative")
    dynamic = any(variable.shape is None or -1 in variable.shape for variable in program.inputs)
    usual = _usual_sets(program)
    overrides = [_shapes_by_name(program, one) for one in shapes]
    if not overrides:
        overrides = [_bounds(program, settings)] * (len(usual) if dynamic else 1)
        overrides += named_shapes(program, settings) if dynamic else []
    found: list[Inputs] = []
    seen: list[dict[str, tuple[int, ...]]] = []
    for k, override in enumerate(overrides):
        sizes = {one.name: _shape(one, override.get(one.name), k, usual[k % len(usual)]) for one in program.inputs}
        if not shapes and sizes in seen:
            continue
        seen.append(sizes)
        for name, size in sizes.items():
            if math.prod(size) > _MAX_ELEMENTS:
                raise ConversionInputError(f"shapes: {list(size)} of '{name}' is too large for random inputs")
        rng = np.random.default_rng([seed, k])
        found.append({one.name: _array(rng, one, sizes, program) for one in program.inputs})
    return found


def given_inputs(program: Program, argument: InputsArgument) -> list[Inputs]:
    """The user's inputs, checked against the program.

    Raises:
        ConversionInputError: an input is missing, or of another type or rank than the program's.
        OSError: a file cannot be read.
    """
    found = []
    for arrays in named_arrays(argument):
        missing = [one.name for one in program.inputs if one.name not in arrays]
        if missing:
            raise ConversionInputError(
                f"inputs: '{missing[0]}' is missing; the program's inputs are "
                f"{', '.join(one.name for one in program.inputs)}, given are {', '.join(map(str, arrays)) or 'none'}"
            )
        found.append({one.name: _checked(one, np.asarray(arrays[one.name])) for one in program.inputs})
    return found


def named_arrays(argument: InputsArgument) -> list[Mapping[str, AnyArray]]:
    """The arrays of each set of inputs, by their names.

    Raises:
        ConversionInputError: they are in none of these forms.
        OSError: a file cannot be read.
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
    return [item if isinstance(item, Mapping) else load(Path(item)) for item in items]


def _checked(variable: Variable, array: AnyArray) -> AnyArray:
    wanted = dtypes.STORAGE.get(variable.dtype or "", array.dtype)
    if array.dtype != wanted:
        raise ConversionInputError(f"inputs: '{variable.name}' is {array.dtype}, the program takes {variable.dtype}")
    fits = variable.shape is None or (
        len(variable.shape) == array.ndim
        and all(want in (-1, size) for want, size in zip(variable.shape, array.shape, strict=True))
    )
    if not fits:
        raise ConversionInputError(
            f"inputs: '{variable.name}' has shape {list(array.shape)}, the program takes {list(variable.shape or ())}"
        )
    return array


def model_inputs(model: Model, program: Program, arrays: Inputs) -> Inputs:
    """The user's inputs for a converted model, whose types and shapes may be others than the program's.

    Raises:
        ConversionInputError: an input is missing, or of another type or shape than the model's.
    """
    found = {}
    for port in model.inputs:
        name, kind, shape = port.get_any_name(), port.get_element_type(), port.get_partial_shape()
        if name not in arrays:
            raise ConversionInputError(
                f"inputs: '{name}' is missing; the model's inputs are "
                f"{', '.join(one.get_any_name() for one in model.inputs)}, given are {', '.join(arrays) or 'none'}"
            )
        found[name] = array = np.asarray(arrays[name])
        declared = (program.variables[name].dtype or "") if name in program.variables else ""
        pairs = [2] if array.dtype.kind == "c" and declared.startswith("complex") else []
        as_declared = declared in dtypes.STORAGE and OV_TYPES.get(declared) == kind
        wanted = dtypes.STORAGE[declared] if as_declared or pairs else numpy_dtype(kind)
        if wanted is not None and array.dtype != wanted:
            raise ConversionInputError(f"inputs: '{name}' is {array.dtype}, the model takes {kind.to_string()}")
        if not shape.compatible(PartialShape([*array.shape, *pairs])):
            raise ConversionInputError(f"inputs: '{name}' has shape {list(array.shape)}, the model takes {shape}")
    return found


def cast_inputs(arrays: Inputs, ports: Sequence[ConstOutput]) -> Inputs:
    """Arrays in the types of the inputs of a model, which may be others than the program's."""
    kinds = {name: port.get_element_type() for port in ports for name in port.get_names()}
    return {name: cast(array, kinds[name]) if name in kinds else array for name, array in arrays.items()}


def in_types_of(program: Program, arrays: Inputs) -> Inputs:
    """Arrays for a converted model in the types of the program's inputs, which may be others."""
    kinds = {one.name: OV_TYPES.get(one.dtype or "") for one in program.inputs}
    return {
        name: array if array.dtype.kind == "c" or (kind := kinds.get(name)) is None else cast(array, kind)
        for name, array in arrays.items()
    }


def rounded_inputs(arrays: Inputs, retyped: Mapping[str, Type]) -> Inputs:
    """Arrays in their own types, with values that the types of a converted model's inputs hold as well."""
    return {name: _rounded(array, retyped[name]) if name in retyped else array for name, array in arrays.items()}


def _rounded(array: AnyArray, kind: Type) -> AnyArray:
    found = _values(cast(array, kind))
    if array.dtype.kind == "c":
        return np.ascontiguousarray(found[..., 0] + 1j * found[..., 1]).astype(array.dtype)
    return bfloat16_bits(found) if array.dtype == np.uint16 else found.astype(array.dtype)


def cast(array: AnyArray, kind: Type) -> AnyArray:
    """An array of Paddle's in an element type: bfloat16 as its bits (uint16), complex numbers as pairs."""
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    if kind == Type.bf16:
        return array if array.dtype == np.uint16 else bfloat16_bits(array)
    wanted = numpy_dtype(kind)
    return array if wanted is None else _values(array).astype(wanted, copy=False)


def _values(array: AnyArray) -> AnyArray:
    return bits_to_values(array, Type.bf16) if array.dtype == np.uint16 else array


def load(path: Path) -> Inputs:
    """The arrays of an `.npz` file.

    Raises:
        ConversionInputError: it is not an `.npz` file.
        OSError: it cannot be read.
    """
    with regular_file(path) as file:
        most = max(_MAX_BYTES, _MAX_GROWTH * os.fstat(file.fileno()).st_size)
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if sum(one.file_size for one in members) > most:
                    raise ValueError(f"its arrays have more than {most} bytes")
                return {one.filename.removesuffix(".npy"): _member(archive, one) for one in members}
        except MemoryError as error:
            raise ConversionInputError(f"inputs: {path} holds more than fits into memory: {error}") from error
        except Exception as error:  # zipfile and NumPy raise all kinds of them, OSError among them
            raise ConversionInputError(f"inputs: {path} is not an .npz file of arrays: {error}") from error


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


def _shapes_by_name(program: Program, argument: InputArgument) -> dict[str, PartialShape]:
    found = {}
    for position, override in enumerate(parse_input(argument)):
        if override.name is None and position >= len(program.inputs):
            raise ConversionInputError(f"shapes: the program has {len(program.inputs)} inputs")
        name = override.name if override.name is not None else program.inputs[position].name
        variable = next((one for one in program.inputs if one.name == name), None)
        if variable is None:
            known = ", ".join(one.name for one in program.inputs)
            raise ConversionInputError(f"shapes: the program has no input '{name}'; its inputs are {known}")
        if override.shape is not None:
            if variable.shape is not None and len(override.shape) != len(variable.shape):
                raise ConversionInputError(f"shapes: '{name}' has {len(variable.shape)} dimensions in the program")
            found[name] = override.shape
    return found


def _usual_sets(program: Program) -> tuple[tuple[int, tuple[int, int]], ...]:
    """Batch, height and width of each set."""
    unknown = [one.shape[-2:] for one in program.inputs if one.shape is not None and len(one.shape) == 4]
    if any(height < 0 and width < 0 for height, width in unknown):
        return _SETS + _LARGE
    return _LINES if any(width < 0 for _, width in unknown) else _SETS


def _bounds(program: Program, settings: Settings | None) -> dict[str, PartialShape]:
    """The bounds that settings name, of the dimensions that the program leaves open."""
    shapes = settings.shapes if settings is not None else {}
    found = {}
    for one in program.inputs:
        if one.name in shapes and one.shape is not None and len(one.shape) == len(shapes[one.name][0]):
            sizes = zip(one.shape, *shapes[one.name], strict=True)
            found[one.name] = PartialShape([Dimension(low, high) if size < 0 else size for size, low, high in sizes])
    return found


def named_shapes(program: Program, settings: Settings | None) -> list[dict[str, PartialShape]]:
    """The shapes that settings name: the usual ones, and those of the picture that the preprocessing makes."""
    if settings is None:
        return []
    known = {one.name: one.shape for one in program.inputs if one.shape is not None}
    named: list[Mapping[str, Sequence[int]]] = [settings.usual]
    try:
        height, width = plan(settings).size
    except Paddle2OVError:  # preprocessing that cannot be built in says nothing here
        height, width = None, None
    if (height or 0) > 0 and (width or 0) > 0:
        named.append({name: (1, -1, height or 0, width or 0) for name, shape in known.items() if len(shape) == 4})
    found = []
    for one in named:
        fitting = {name: shape for name, shape in one.items() if len(known.get(name, ())) == len(shape)}
        if fitting:
            pairs = {name: zip(known[name], shape, strict=True) for name, shape in fitting.items()}
            found.append({name: PartialShape([b if a < 0 else a for a, b in both]) for name, both in pairs.items()})
    return found


def _shape(
    variable: Variable, wanted: PartialShape | None, k: int, usual: tuple[int, tuple[int, int]]
) -> tuple[int, ...]:
    declared = variable.shape if variable.shape is not None else (-1,) * (len(wanted) if wanted is not None else 1)
    sizes = []
    for position, size in enumerate(declared):
        chosen = size if size >= 0 else _usual_size(len(declared), position, k, usual)
        sizes.append(chosen if wanted is None else _clamp(wanted[position], chosen, size >= 0))
    return tuple(sizes)


def _usual_size(rank: int, position: int, k: int, usual: tuple[int, tuple[int, int]]) -> int:
    batch, picture = usual
    if position == 0:
        return batch
    if rank in (4, 5) and position >= rank - 2:
        return picture[position - (rank - 2)]
    if rank in (4, 5) and position == 1:
        return 3
    return _LENGTHS[k % len(_LENGTHS)]


def _clamp(dimension: Dimension, usual: int, fixed: bool) -> int:
    if dimension.is_static:
        return int(dimension.get_length())
    most = int(dimension.get_max_length())
    return max(int(dimension.get_min_length()), usual if most < 0 else min(most, usual))


def _array(
    rng: np.random.Generator, variable: Variable, sizes: Mapping[str, tuple[int, ...]], program: Program
) -> AnyArray:
    shape = sizes[variable.name]
    dtype = variable.dtype or "float32"
    storage = dtypes.STORAGE.get(dtype, np.dtype("float32"))
    if variable.name == "scale_factor":
        return np.ones(shape, storage)
    image = next((size for size in sizes.values() if len(size) == 4), None)
    if variable.name == "im_shape" and image is not None:
        return np.broadcast_to(np.array(image[2:], storage), shape).copy()
    if dtype == "bfloat16":
        return (rng.uniform(-1, 1, shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if storage.kind in "iu":
        return rng.integers(*_integer_range(program, variable.name, sizes), shape).astype(storage)
    if storage.kind == "c":
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(storage)
    return rng.uniform(-1, 1, shape).astype(storage)


def _integer_range(program: Program, name: str, sizes: Mapping[str, tuple[int, ...]]) -> tuple[int, int]:
    """The smallest value of an integer input, and what all are below: what Paddle indexes by them without a check."""
    names, least, limit = {name}, 0, _MAX_INDEX

    def dims(operator: Operator, port: str) -> Sequence[int]:
        whole = next(iter(operator.inputs.get(port, ())), "")
        known = program.variables[whole].shape if whole in program.variables and whole not in names else None
        return sizes.get(whole) or known or ()

    for operator in program.block.operators:
        if not names.intersection(operator.input_names()):
            continue
        if operator.type in _UNCHANGED:
            names.update(operator.output_names())
        elif operator.type in _TABLES:
            limit = min([limit, *(size for size in dims(operator, _TABLES[operator.type])[:1] if size > 0)])
        elif operator.type in _INDEXED:
            limit = min([limit, *(size for size in dims(operator, _INDEXED[operator.type]) if size > 0)])
        elif operator.type in ("one_hot", "one_hot_v2"):
            (made,) = operator.outputs["out"]
            limit = min([limit, *(size for size in (program.variables[made].shape or ())[-1:] if size > 0)])
        elif operator.type == "rnn" and names.intersection(operator.inputs.get("sequence_length", ())):
            # Of the first two dimensions of what enters one is the batch, as long as the lengths, and one the steps.
            batch = next(iter(sizes[name]), 1)
            enters = [size[:2] for one, size in sizes.items() if len(size) >= 3 and one != name]
            steps = [size for two in enters for size in two if size != batch] or [batch]
            least, limit = 1, min(limit, min(steps) + 1)
    return least, max(limit, least + 1)


__all__ = [
    "Inputs",
    "InputsArgument",
    "cast",
    "cast_inputs",
    "given_inputs",
    "in_types_of",
    "load",
    "model_inputs",
    "named_arrays",
    "named_shapes",
    "random_inputs",
    "rounded_inputs",
]
