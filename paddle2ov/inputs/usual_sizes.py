"""Usual sizes of inputs: of pictures, lines of text and sequences, or those that settings or the user name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import structs
from openvino import Dimension, Model, PartialShape

from paddle2ov.deployment.planning import plan
from paddle2ov.errors import ConversionInputError, Paddle2OVError
from paddle2ov.program.model import Program, Variable
from paddle2ov.program.settings import Settings
from paddle2ov.translation.input_spec import InputArgument, parse_input

_CHANNELS = (1, 3, 4)
_LENGTHS = (16, 7, 33)
_SETS: tuple[tuple[int, tuple[int, int]], ...] = ((1, (224, 224)), (2, (160, 320)), (3, (320, 128)))
"""Batch, and height and width of pictures: multiples of 32, as feature pyramids add maps of different strides."""
_LARGE = ((1, (640, 640)), (1, (768, 1024)))
"""Where both are unknown: as users have them; rounding adds up over the elements of a page."""
_LINES = ((1, (48, 320)), (2, (48, 128)), (1, (48, 800)))
"""Where the width alone is unknown: lines of text."""


def shape_sets(argument: InputArgument | Sequence[InputArgument]) -> list[InputArgument]:
    """The `shapes` of `verify` and `check`, one for each set of inputs: several strings or mappings, or one."""
    if argument is None:
        return []
    if isinstance(argument, list | tuple) and all(isinstance(item, str | dict) for item in argument):
        return list(argument)
    return [argument]


def shapes_by_name(program: Program, argument: InputArgument) -> dict[str, PartialShape]:
    """The shapes that the user gives to inputs.

    Raises:
        ConversionInputError: they do not fit the program.
    """
    shapes = {}
    known = ", ".join(input_.name for input_ in program.inputs)
    for position, override in enumerate(parse_input(argument)):
        if override.name is None and position >= len(program.inputs):
            raise ConversionInputError(f"more shapes are given than there are inputs: {known}")
        name = override.name if override.name is not None else program.inputs[position].name
        variable = next((input_ for input_ in program.inputs if input_.name == name), None)
        if variable is None:
            raise ConversionInputError(f"the program has no input '{name}'; its inputs are {known}")
        if override.shape is not None:
            if variable.shape is not None and len(override.shape) != len(variable.shape):
                raise ConversionInputError(
                    f"input '{name}' has {len(variable.shape)} dimensions in the program ({list(variable.shape)}); "
                    f"shape {override.shape} has {len(override.shape)}"
                )
            shapes[name] = override.shape
    return shapes


def picture_axes(variable: Variable, channels_last: Collection[str]) -> tuple[int, int, int] | None:
    """The axes of the channels, height and width of what may be pictures; None of what is none.

    Channels come first, unless the last dimension is a number of channels that pictures have, and the input is one of
    `channels_last` or bytes, as built-in preprocessing takes. Three numbers are else points, or the like.
    """
    shape = variable.shape or ()
    if len(shape) not in (4, 5):
        return None
    if len(shape) == 4 and shape[3] in _CHANNELS and shape[1] not in _CHANNELS:
        if variable.dtype == "uint8" or variable.name in channels_last:
            return 3, 1, 2
        if shape[3] == 3 and shape[1] < 0:
            return None
    return 1, len(shape) - 2, len(shape) - 1


def picture_size(variable: Variable, shape: Sequence[int], channels_last: Collection[str]) -> tuple[int, int] | None:
    """Height and width of an input of rank 4 that has this shape."""
    axes = picture_axes(variable, channels_last)
    return (shape[axes[1]], shape[axes[2]]) if axes is not None and len(shape) == 4 else None


def usual_sets(program: Program, channels_last: Collection[str]) -> tuple[tuple[int, tuple[int, int]], ...]:
    """Batch, height and width of each set."""
    sizes = [picture_size(input_, input_.shape, channels_last) for input_ in program.inputs if input_.shape is not None]
    unknown = [size for size in sizes if size is not None]
    if any(height < 0 and width < 0 for height, width in unknown):
        return _SETS + _LARGE
    return _LINES if any(width < 0 for _, width in unknown) else _SETS


def bounds_of(program: Program, settings: Settings | None) -> dict[str, PartialShape]:
    """The bounds that settings name, of the dimensions that the program leaves open."""
    shapes = settings.shapes if settings is not None else {}
    named = {}
    for input_ in program.inputs:
        if input_.name in shapes and input_.shape is not None and len(input_.shape) == len(shapes[input_.name][0]):
            sizes = zip(input_.shape, *shapes[input_.name], strict=True)
            named[input_.name] = PartialShape([Dimension(low, high) if size < 0 else size for size, low, high in sizes])
    return named


def named_shapes(
    program: Program, settings: Settings | None, channels_last: Collection[str]
) -> list[dict[str, PartialShape]]:
    """The shapes that settings name: the usual ones, and those of the picture that the preprocessing makes."""
    if settings is None:
        return []
    inputs = {input_.name: input_ for input_ in program.inputs if input_.shape is not None}
    known = {name: input_.shape or () for name, input_ in inputs.items()}
    named: list[Mapping[str, Sequence[int]]] = [settings.usual]
    try:
        height, width = plan(settings).size
    except Paddle2OVError:  # preprocessing that cannot be built in says nothing here
        height, width = None, None
    if (height or 0) > 0 and (width or 0) > 0:
        axes = {name: picture_axes(input_, channels_last) for name, input_ in inputs.items() if len(known[name]) == 4}
        sizes = {name: {0: 1, own[1]: height or 0, own[2]: width or 0} for name, own in axes.items() if own is not None}
        named.append({name: [size.get(axis, -1) for axis in range(4)] for name, size in sizes.items()})
    shapes = []
    for item in named:
        fitting = {name: shape for name, shape in item.items() if len(known.get(name, ())) == len(shape)}
        if fitting:
            pairs = {name: zip(known[name], shape, strict=True) for name, shape in fitting.items()}
            shapes.append({name: PartialShape([b if a < 0 else a for a, b in both]) for name, both in pairs.items()})
    return shapes


def usual_shape(
    variable: Variable,
    wanted: PartialShape | None,
    k: int,
    usual: tuple[int, tuple[int, int]],
    channels_last: Collection[str],
) -> tuple[int, ...]:
    """The shape of an input in the k-th set, within the bounds that are wanted."""
    declared = variable.shape if variable.shape is not None else (-1,) * (len(wanted) if wanted is not None else 1)
    batch, picture = usual
    sizes = [_LENGTHS[k % len(_LENGTHS)]] * max(len(declared), 1)
    if not variable.lod_level:  # else rows of sequences
        sizes[0] = batch
    axes = picture_axes(structs.replace(variable, shape=declared), channels_last)
    if axes is not None:
        channels, height, width = axes
        sizes[channels], sizes[height], sizes[width] = 3, *picture
    chosen = [own if own >= 0 else size for own, size in zip(declared, sizes, strict=False)]
    return tuple(chosen if wanted is None else map(clamp, wanted, chosen))


def clamp(dimension: Dimension, usual: int) -> int:
    """A size within the bounds of a dimension."""
    if dimension.is_static:
        return int(dimension.get_length())
    most = int(dimension.get_max_length())
    return max(int(dimension.get_min_length()), usual if most < 0 else min(most, usual))


def within(program: Program, shapes: Mapping[str, PartialShape], model: Model | None) -> dict[str, PartialShape]:
    """The bounds of shapes, with the sizes that the model's inputs have where these leave the program's open."""
    bounds = dict(shapes)
    own = (
        {} if model is None else {name: port.get_partial_shape() for port in model.inputs for name in port.get_names()}
    )
    for input_ in program.inputs:
        if input_.shape is None or input_.name not in own or own[input_.name].rank.is_dynamic:
            continue
        known, asked = own[input_.name], bounds.get(input_.name, PartialShape([-1] * len(input_.shape)))
        if len(known) >= len(input_.shape) == len(asked):
            bounds[input_.name] = filled(asked, known)
    return bounds


def filled(shape: PartialShape, other: PartialShape) -> PartialShape:
    """A shape with the dimensions of another where it leaves them open."""
    return PartialShape([b if a.is_dynamic and b.is_static else a for a, b in zip(shape, other, strict=False)])


def free_dims(variable: Variable, bounds: PartialShape | None) -> dict[int, Dimension]:
    """The dimensions that may be chosen, by axis, with their bounds."""
    if variable.shape is None:
        return {}
    return {
        axis: Dimension() if bounds is None else bounds[axis]
        for axis, size in enumerate(variable.shape)
        if size < 0 and (bounds is None or bounds[axis].is_dynamic)
    }
