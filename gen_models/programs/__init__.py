"""Random programs of 5 to 30 calls: `random_program(seed)` gives the same one for the same seed."""

from __future__ import annotations

import importlib
from typing import NamedTuple

from gen_models.programs.maker import Maker, static_dim
from gen_models.programs.program import Dim, Program

_MODULES = (
    *("algebra", "attention", "computed", "control_flow", "convolutions", "elementwise", "indexing", "inplace"),
    *("integers", "layers", "layouts", "masks", "matrices", "scalars", "selections", "shapes", "spelled_attention"),
    *("types", "vision"),
)
for _module in _MODULES:  # where steps are, which register as it is imported
    importlib.import_module(f"{__name__}.{_module}")


class Sizes(NamedTuple):
    """What the sizes of a program's inputs are drawn from, and how many elements a value may have."""

    batches: tuple[Dim, ...]
    lengths: tuple[Dim, ...]
    known_lengths: tuple[int, ...]
    widths: tuple[int, ...]
    channels: tuple[int, ...]
    features: tuple[int, ...]
    most_elements: int
    ranks: tuple[int, ...] = (2, 3, 3, 4, 4, 4)
    steps: tuple[int, ...] = (5, 10, 15, 20, 30)
    """The most steps."""
    of: str = ""
    """The module whose steps are taken; "" for all."""


_FEW = ((6, 2, 4), (4, 1, 2), (3, 1, 2), (8, 4, 6), (5, 2, 3))
_ONE_FIRST = ((1, 6, 3), (1, 17, 2))
_MANY = ((40, 7, 24), (33, 1, 16), (64, 16, 32), (21, 20, 48))

SIZES = {
    "small": Sizes(
        batches=_FEW,
        lengths=(*_FEW, *_ONE_FIRST, static_dim(4)),
        known_lengths=(1, 4, 6),
        widths=(4, 8),
        channels=(1, 2, 3, 4, 8),
        features=(4, 6, 8),
        most_elements=6000,
    ),
    "large": Sizes(
        batches=_FEW,
        lengths=(*_MANY, static_dim(32)),
        known_lengths=(17, 32, 40),
        widths=(24, 40),
        channels=(8, 16, 17, 32, 48),
        features=(16, 24, 33, 64),
        most_elements=1 << 18,
    ),
    "attention": Sizes(
        batches=_FEW,
        lengths=(*_ONE_FIRST, (1, 20, 3), (1, 33, 5), (20, 1, 17), static_dim(4)),
        known_lengths=(1, 2, 3, 4, 17),
        widths=(),
        channels=(1,),
        features=(4, 6, 8),
        most_elements=1 << 16,
        ranks=(3,),
        steps=(1, 2),
        of="spelled_attention",
    ),
}
"""Small sizes are quick and reach cases that depend on sizes 0 and 1; large sizes reach other kernels.

Those of attention hold nothing else, and most of them run with one key first and with many afterwards.
"""


def random_program(seed: int, sizes: str = "small") -> Program:
    """A program, at least one of whose results is computed; `sizes` is a key of `SIZES`."""
    for attempt in range(100):
        try:
            made = _attempt(seed * 100 + attempt, SIZES[sizes])
        except StopIteration:  # inputs are too large
            continue
        if made.results and made.calls and made.inputs:
            return made
    raise AssertionError(f"no program of the seed {seed}")


def _attempt(seed: int, sizes: Sizes) -> Program:
    make = Maker(seed, is_unknown=False, learned=0.0, most_elements=sizes.most_elements)
    make.is_unknown = make.chance(0.7)
    make.is_smooth = make.chance(0.5)
    make.learned = make.among(0.0, 0.1, 0.3)
    if make.is_unknown:
        batch, length = make.among(*sizes.batches, static_dim(1), static_dim(2)), make.among(*sizes.lengths)
    else:
        batch, length = static_dim(make.among(1, 2, 3)), static_dim(make.among(*sizes.known_lengths))
    channels = static_dim(make.among(*sizes.channels))
    for _ in range(make.among(1, 1, 2)):
        rank = make.among(*sizes.ranks)
        if rank == 2:
            dims = [batch, static_dim(make.among(*sizes.features))]
        elif rank == 3:
            dims = [batch, length, static_dim(make.among(*sizes.features))]
        else:
            other = make.among(length, length, *map(static_dim, sizes.widths))
            dims = [batch, length, other, channels] if make.chance(0.3) else [batch, channels, length, other]
        make.input(dims)
    most = make.among(*sizes.steps)
    make.some_steps(min(5, most), most, sizes.of)
    return make.program()
