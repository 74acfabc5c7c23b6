"""The weights of cubic interpolation."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64)


def cubic_weights(t: NDArray[_Real]) -> tuple[NDArray[_Real], ...]:
    """The weights of the four neighbours of positions between the second and the third, with a = -0.75."""

    def near(x: NDArray[_Real]) -> NDArray[_Real]:
        return ((1.25 * x - 2.25) * x) * x + 1

    def far(x: NDArray[_Real]) -> NDArray[_Real]:
        return ((-0.75 * x + 3.75) * x - 6) * x + 3

    return far(t + 1), near(t), near(1 - t), far(2 - t)
