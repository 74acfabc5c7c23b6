"""OpenVINO's properties, as they may be given to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from paddle2ov.errors import ConversionInputError


def checked_properties(config: object) -> dict[str, Any]:
    """Properties by their names, as OpenVINO reads them.

    Raises:
        ConversionInputError: they are no such mapping, or one has a value that OpenVINO would ignore.
    """
    if not isinstance(config, Mapping):
        raise ConversionInputError(f"config: properties by their names are expected, not {type(config).__name__}")
    checked = {}
    for name, value in config.items():
        if not isinstance(name, str):
            raise ConversionInputError(f"config: {name!r} is not the name of a property")
        try:
            checked[str(name)] = property_value(value)
        except TypeError as error:
            raise ConversionInputError(f"config: {name} cannot be of type {error}") from None
    return checked


def property_value(value: object) -> Any:
    """The value of a property as OpenVINO reads it, which ignores NumPy's numbers and other objects without an error.

    Raises:
        TypeError: it is nothing that OpenVINO reads.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, str | bytes | int | float) or type(value).__module__.split(".")[0] == "openvino":
        return value
    if isinstance(value, Mapping):
        return {key: property_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        # The callbacks that encrypt the cache are a list of functions.
        return type(value)(item if callable(item) else property_value(item) for item in value)
    raise TypeError(type(value).__name__)
