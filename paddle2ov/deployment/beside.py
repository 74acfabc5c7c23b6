"""The settings beside a model: where they are looked for, and what it means where there are none."""

from __future__ import annotations

import os
from pathlib import Path

from paddle2ov.errors import ConversionInputError, Paddle2OVError
from paddle2ov.program.files import find_model
from paddle2ov.program.paths import SETTINGS, local_path
from paddle2ov.program.settings import Settings, settings_in


def folder_of(model: object) -> Path:
    """The folder of a model that is given as for `convert`, by its path or as a pair of paths.

    Raises:
        ConversionInputError: the model is not in files.
        ModelReadError: it cannot be found.
    """
    program = local_path(model[0] if isinstance(model, tuple | list) else model)
    if not isinstance(program, str | os.PathLike):
        raise ConversionInputError("bounded and preprocess are for a model in files, which has its settings beside it")
    return find_model(program).program.parent


_NO_SETTINGS = (
    "{folder} holds no settings of the model ({names}), from which bounded and preprocess (--bounded, --preprocess) "
    "are taken: put them there, or leave these out"
)


def required_settings(folder: Path, refusal: str = _NO_SETTINGS) -> Settings:
    """The settings in a folder, without which what is asked for cannot be done.

    Raises:
        ConversionInputError: there are none; `refusal` is the message.
        ModelReadError: they cannot be read.
    """
    settings = settings_in(folder)
    if settings is None:
        raise ConversionInputError(refusal.format(folder=folder, names=", ".join(SETTINGS)))
    return settings


def known_settings(folder: Path) -> Settings | None:
    """The settings in a folder, for what they add; None where there are none, or they cannot be read."""
    try:
        return settings_in(folder)
    except Paddle2OVError:
        return None


def known_beside(model: object) -> Settings | None:
    """The settings beside a model in files, for what they add; None where there are none that can be read."""
    try:
        return known_settings(folder_of(model))
    except Paddle2OVError:
        return None
