"""Random programs of 5 to 30 calls: `random_program(seed)` gives the same one for the same seed."""

from __future__ import annotations

from gen_models.programs import (
    algebra,
    attention,
    computed,
    control_flow,
    convolutions,
    elementwise,
    indexing,
    inplace,
    integers,
    layers,
    layouts,
    masks,
    matrices,
    scalars,
    selections,
    shapes,
    types,
    vision,
)
from gen_models.programs.maker import Maker, static_dim
from gen_models.programs.program import Program

BLOCKS = (
    algebra,
    attention,
    computed,
    control_flow,
    convolutions,
    elementwise,
    indexing,
    inplace,
    integers,
    layers,
    layouts,
    masks,
    matrices,
    scalars,
    selections,
    shapes,
    types,
    vision,
)
"""The modules whose import registers the steps."""

_VARYING = ((6, 2, 4), (4, 1, 2), (3, 1, 2), (8, 4, 6), (5, 2, 3))


def random_program(seed: int) -> Program:
    """A program, at least one of whose results is computed."""
    for attempt in range(100):
        made = _attempt(seed * 100 + attempt)
        if made.results and made.calls and made.inputs:
            return made
    raise AssertionError(f"no program of the seed {seed}")


def _attempt(seed: int) -> Program:
    make = Maker(seed, is_unknown=False, learned=0.0)
    make.is_unknown = make.chance(0.7)
    make.is_smooth = make.chance(0.5)
    make.learned = make.among(0.0, 0.1, 0.3)
    batch = make.among(*_VARYING, static_dim(1), static_dim(2)) if make.is_unknown else static_dim(make.among(1, 2, 3))
    length = make.among(*_VARYING, static_dim(4)) if make.is_unknown else static_dim(make.among(1, 4, 6))
    channels = static_dim(make.among(1, 2, 3, 4, 8))
    for _ in range(make.among(1, 1, 2)):
        kind = make.below(6)
        if kind == 0:
            dims = [batch, static_dim(make.among(4, 6, 8))]
        elif kind <= 2:
            dims = [batch, length, static_dim(make.among(4, 6, 8))]
        else:
            other = make.among(length, length, static_dim(4), static_dim(8))
            dims = [batch, length, other, channels] if make.chance(0.3) else [batch, channels, length, other]
        make.input(dims)
    make.some_steps(5, make.among(5, 10, 15, 20, 30))
    return make.program()
