"""What an exporter is, and what several of them need."""

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


def wrapped(model: Any, forward: Callable[[Any, Any], Any]) -> Any:
    """A layer of one input that calls a model in a way of its own."""
    import paddle

    class Layer(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, x: Any) -> Any:
            return forward(self.net, x)

    layer = Layer()
    layer.eval()
    return layer


def yaml_of(path: Path) -> Any:
    """A configuration, without weights to download."""
    import yaml

    from tools.paddlex_campaign.sources import without_pretrained

    return without_pretrained(yaml.safe_load(path.read_text(encoding="utf-8")))
