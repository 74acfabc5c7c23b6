"""What an exporter is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

Shape = tuple[int, ...]


class Exported(NamedTuple):
    """A layer, its input specification, and by input the size to run it at, or the values themselves."""

    layer: Any
    specification: Any
    inputs: Mapping[str, Shape | NDArray[Any]]


Exporter = Callable[[Path, Path, Mapping[str, Any]], Exported]
"""From the folder of a repository, a configuration, and what is another there."""
