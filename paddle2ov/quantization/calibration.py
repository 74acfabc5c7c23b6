"""Calibration data: pictures, or arrays for each input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
from openvino import Model

from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.types import as_pairs
from paddle2ov.inputs.given_arrays import Inputs, given_inputs, load, model_inputs
from paddle2ov.inputs.pictures import Pictures, UnreadablePictureError
from paddle2ov.program.model import Program
from paddle2ov.typing import AnyArray

PathLike: TypeAlias = str | os.PathLike[str]
Item: TypeAlias = PathLike | Mapping[str, AnyArray]
Data: TypeAlias = Item | Iterable[Item]

_PICTURES = frozenset((".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))
_ARRAYS = ".npz"
_HOW = "numpy.savez(file, NAME=array) makes an .npz file, with the name of each input"
_MAX_KEPT_BYTES = 2**30
"""Prepared inputs beyond these are not kept, but prepared again."""


class CalibrationData:
    """Inputs of a model, each made when it is first asked for, and kept as far as memory is granted.

    Attributes:
        unreadable: the pictures that `readable` has left out, with the reasons.

    Args:
        program: the model's program.
        folder: the model's folder, with the settings that say how to prepare a picture.
        model: the converted model.
        data: pictures, .npz files with an array for each input, folders of both, or such arrays by their names.

    Raises:
        ConversionInputError: there is nothing, or a file is neither.
    """

    def __init__(self, program: Program, folder: Path, model: Model, data: Data) -> None:
        self._program, self._folder, self._model = program, folder, model
        listed = _listed(data)
        self._items = [source for item in listed for source in _expanded(item)]
        self.unreadable: dict[str, str] = {}
        self._pictures: Pictures | None = None
        self._kept: dict[int, Inputs] = {}
        self._kept_bytes = 0
        if not self._items:
            folders = ", ".join(str(item) for item in listed if isinstance(item, str | os.PathLike))
            where = f" in {folders}" if folders else ""
            raise ConversionInputError(f"data: there is neither a picture nor an .npz file{where}; {_HOW}")

    def __len__(self) -> int:
        return len(self._items)

    def readable(self, indices: Iterable[int]) -> list[int]:
        """Those of some items that are not pictures that cannot be read; raises what `inputs` does of others."""
        readable = []
        for index in indices:
            try:
                self.inputs(index)
                readable.append(index)
            except UnreadablePictureError as error:
                self.unreadable[self._name(index)] = str(error)
        return readable

    def inputs(self, index: int) -> Inputs:
        """What the model is given for an item.

        Raises:
            ConversionInputError: a picture cannot be read or prepared, or arrays do not fit the model.
            ModelReadError: the settings beside the model cannot be read.
        """
        if index in self._kept:
            return self._kept[index]
        arrays = self._prepared(index)
        size = sum(array.nbytes for array in arrays.values())
        if self._kept_bytes + size <= _MAX_KEPT_BYTES:
            self._kept[index] = arrays
            self._kept_bytes += size
        return arrays

    def _prepared(self, index: int) -> Inputs:
        item = self._items[index]
        if isinstance(item, Path) and item.suffix.lower() != _ARRAYS:
            if self._pictures is None:
                self._pictures = Pictures(self._program, self._folder)
            arrays = self._pictures.inputs(item)
        else:
            given = load(item) if isinstance(item, Path) else item
            with self._naming(index):
                (arrays,) = given_inputs(self._program, given)
        with self._naming(index):
            prepared = model_inputs(self._model, self._program, arrays)
        for name, array in prepared.items():
            if array.dtype.kind in "fc" and np.isnan(array).any():
                raise ConversionInputError(f"data: {self._name(index)} has NaN in '{name}'")
        return {name: as_pairs(array) for name, array in prepared.items()}

    def unusual(self, indices: Iterable[int]) -> str:
        """What there is in some items that has no range; "" if nothing."""
        for index in indices:
            for name, array in self.inputs(index).items():
                if not array.size or (array.dtype.kind == "f" and not np.isfinite(array).all()):
                    what = "has infinite numbers" if array.size else "has no elements"
                    return f"{self._name(index)} {what} in '{name}'"
        return ""

    @contextmanager
    def _naming(self, index: int) -> Iterator[None]:
        """Names the item in what is said of its arrays."""
        try:
            yield
        except ConversionInputError as error:
            raise ConversionInputError(f"data: {self._name(index)}: {error}") from error

    def _name(self, index: int) -> str:
        item = self._items[index]
        return str(item) if isinstance(item, Path) else f"item {index}"


def _listed(data: Data) -> Sequence[Item]:
    if isinstance(data, str | os.PathLike | Mapping):
        return [data]
    if not isinstance(data, Iterable):
        raise ConversionInputError(f"data: paths or arrays by name are expected, not {type(data).__name__}")
    return list(data)


def _expanded(item: Item) -> Sequence[Path | Mapping[str, AnyArray]]:
    if isinstance(item, Mapping):
        return [item]
    if not isinstance(item, str | os.PathLike):
        raise ConversionInputError(f"data: a path or arrays by name are expected, not {type(item).__name__}")
    path = Path(item)
    if path.is_dir():
        return sorted(
            file for file in path.rglob("*") if file.suffix.lower() in (*_PICTURES, _ARRAYS) and file.is_file()
        )
    if not path.is_file():
        raise ConversionInputError(f"data: {path} is neither a file nor a folder")
    if path.suffix.lower() == ".npy":
        raise ConversionInputError(f"data: {path} is an array without a name; {_HOW}")
    return [path]
