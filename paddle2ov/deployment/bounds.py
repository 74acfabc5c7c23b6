"""Bounds of a model's dynamic inputs, from its settings: memory can then be planned, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs
from openvino import Dimension, PartialShape

from paddle2ov.deployment.planning import plan
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.program.model import Variable
from paddle2ov.program.settings import Settings
from paddle2ov.translation.input_spec import InputOverride


def bounded(settings: Settings, inputs: Sequence[Variable], overrides: Sequence[InputOverride]) -> list[InputOverride]:
    """The overrides of the caller, and for the other inputs what the settings say of them.

    A dimension that the program fixes stays as it is; one that the caller leaves open is that of the settings. Where
    the settings have no shapes, those of the input with four dimensions are what the preprocessing makes of every
    image, else the declared shape of the image.

    Raises:
        ModelReadError: the settings name an input that the program does not have, or do not fit it.
        ConversionInputError: the settings say nothing of shapes.
    """
    if any(override.name is None for override in overrides):
        raise ConversionInputError("bounded: inputs that are given besides need their names")
    shapes = dict(settings.shapes)
    by_name = {variable.name: variable for variable in inputs}
    if not shapes and (image := _image(settings)) is not None:
        shapes = {
            name: image for name, variable in by_name.items() if variable.shape is not None and len(variable.shape) == 4
        }
    if not shapes:
        raise ConversionInputError(f"bounded: {settings.path} has no shapes of the inputs")
    unknown = sorted(shapes.keys() - by_name.keys())
    if unknown:
        raise ModelReadError(
            f"{settings.path}: the program has no input '{unknown[0]}'; its inputs are {', '.join(by_name) or 'none'}"
        )
    taken = {override.name for override in overrides}
    completed = [*overrides, *(InputOverride(name) for name in shapes if name not in taken)]
    for i, override in enumerate(completed):
        name = override.name
        if name not in shapes:
            continue
        own = override.shape if override.shape is not None else PartialShape([-1] * len(shapes[name][0]))
        if len(own) == len(shapes[name][0]) and any(map(_is_open, own)):
            known = _shape(settings, by_name[name], *shapes[name])
            dims = [known_dim if _is_open(dim) else dim for dim, known_dim in zip(own, known, strict=True)]
            completed[i] = structs.replace(override, shape=PartialShape(dims))
    return completed


def _is_open(size: Dimension) -> bool:
    """Whether nothing is said of a dimension."""
    return bool(size.get_min_length() == 0 and size.get_max_length() < 0)


def _image(settings: Settings) -> tuple[list[int], list[int]] | None:
    """The (smallest, largest) shape of the image, 0 where there is no largest; None if nothing is known."""
    declared = settings.image_shape or (-1, -1, -1, -1)
    sizes = [size if size is not None else other for size, other in zip(plan(settings).size, declared[2:], strict=True)]
    if max(sizes) < 0:
        return None
    number, channels = declared[0], declared[1] if declared[1] > 0 else 3
    dims = [number, channels, *(-1 if size is None else size for size in sizes)]
    return [max(dim, 1) for dim in dims], [max(dim, 0) for dim in dims]


def _shape(settings: Settings, variable: Variable, low: Sequence[int], high: Sequence[int]) -> PartialShape:
    declared = variable.shape if variable.shape is not None else [-1] * len(low)
    if len(declared) != len(low):
        raise ModelReadError(
            f"{settings.path}: '{variable.name}' has {len(low)} dimensions there, {len(declared)} in the program"
        )
    dims = []
    for axis, (size, least, most) in enumerate(zip(declared, low, high, strict=True)):
        if size < 0:
            dims.append(Dimension(least, most) if most else Dimension(least, -1))
        elif least <= size <= most or not most:
            dims.append(Dimension(size))
        else:
            raise ModelReadError(
                f"{settings.path}: dimension {axis} of '{variable.name}' is {least} to {most} there, "
                f"{size} in the program"
            )
    return PartialShape(dims)
