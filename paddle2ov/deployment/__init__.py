"""What the settings beside a model (`inference.yml`) say of shapes and preprocessing; how models are written.

- `bounds.py`: bounds of dynamic inputs;
- `planning.py`, `options.py`: which transforms can be built in, and their options;
- `preprocessing.py`, `*steps.py`, `sizes.py`: builds them in;
- `saving.py`, `serving.py`: files that are written atomically; the layout of model servers.
"""

from __future__ import annotations

import os

from paddle2ov.errors import ConversionInputError, Paddle2OVError
from paddle2ov.program.files import SETTINGS, find_model
from paddle2ov.program.settings import Settings, settings_in


def known_beside(model: object) -> Settings | None:
    """The settings in the folder of a model; None where there are none, or they cannot be read."""
    try:
        return beside(model)
    except Paddle2OVError:
        return None


def beside(model: object) -> Settings:
    """The settings in the folder of a model that is given as for `convert`.

    Raises:
        ConversionInputError: there are none.
        ModelReadError: they cannot be read.
    """
    program = model[0] if isinstance(model, tuple | list) else model
    if not isinstance(program, str | os.PathLike):
        raise ConversionInputError("bounded and preprocess are for a model in files, which has its settings beside it")
    folder = find_model(program).program.parent
    settings = settings_in(folder)
    if settings is None:
        raise ConversionInputError(f"{folder} holds no settings of the model ({', '.join(SETTINGS)})")
    return settings
