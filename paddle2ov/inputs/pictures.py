"""Inputs of a model from pictures, by the preprocessing that is described beside it (`inference.yml`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from openvino import Model

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment.beside import required_settings
from paddle2ov.deployment.planning import PreprocessingPlan, plan
from paddle2ov.deployment.preprocessing import SIZES, compute
from paddle2ov.errors import ConversionInputError, install_command, system_reason
from paddle2ov.graph.opset import ops
from paddle2ov.inputs.given_arrays import Inputs, given_inputs
from paddle2ov.program.model import Program, Variable
from paddle2ov.program.settings import Settings
from paddle2ov.program.sources import regular_file
from paddle2ov.typing import AnyArray

_HINT = "prepare the inputs yourself and pass them as an .npz file (verify: --inputs, quantize: --data)"
_NO_SETTINGS = f"pictures: {{folder}} holds no settings ({{names}}) that say how to prepare a picture; {_HINT}"


class UnreadablePictureError(ConversionInputError):
    """A file is not a picture, or cannot be read."""


class Pictures:
    """Makes inputs of a model from pictures.

    The picture goes to the input of shape [N, 3, H, W]. As in PaddleDetection, `im_shape` is its size after the resize
    and `scale_factor` that over its own size.

    Args:
        program: the model's program.
        folder: the model's folder, with its settings.

    Raises:
        ConversionInputError: there are no settings, they ask for what cannot be done here, or the model has other
            inputs.
        ModelReadError: the settings cannot be read.
    """

    def __init__(self, program: Program, folder: Path) -> None:
        self._program, self._picture = program, _image_variable(program)
        self._settings = required_settings(folder, _NO_SETTINGS)
        pixels = ops.parameter([1, -1, -1, 3], np.uint8)
        image, sizes = compute(pixels.output(0), _plan(self._settings))
        self._compiled = compile_on_cpu(Model([image, *(sizes[name] for name in SIZES)], [pixels]))

    def inputs(self, path: Path) -> Inputs:
        """The inputs for a picture file.

        Raises:
            UnreadablePictureError: it is not a picture.
            ConversionInputError: OpenCV is not installed, or the model does not take it as it is prepared.
        """
        pixels = _read(path)
        image, *sizes = self._compiled(pixels[None]).values()
        known = {self._picture.name: image, **dict(zip(SIZES, (size[None] for size in sizes), strict=True))}
        arrays = {input_.name: known[input_.name] for input_ in self._program.inputs}
        try:
            (checked,) = given_inputs(self._program, arrays)
        except ConversionInputError as error:
            raise ConversionInputError(f"pictures: prepared as {self._settings.path} says: {error}; {_HINT}") from error
        return checked


def image_inputs(
    program: Program, folder: Path, paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
) -> list[Inputs]:
    """One set of inputs for each picture file; raises what `Pictures` does."""
    listed = [paths] if isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable) else list(paths)
    if not all(isinstance(path, str | os.PathLike) for path in listed):
        raise ConversionInputError(f"images: paths of pictures are expected, not {paths!r:.80}")
    files = [Path(path) for path in listed]
    if not files:
        return []
    pictures = Pictures(program, folder)
    return [pictures.inputs(file) for file in files]


def _plan(settings: Settings) -> PreprocessingPlan:
    """The preprocessing that settings describe, all of it."""
    preprocessing = plan(settings)
    if preprocessing.remaining:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in preprocessing.remaining)
        raise ConversionInputError(
            f"pictures: the preprocessing of {settings.path} cannot be done here ({reasons}); {_HINT}"
        )
    if not preprocessing.steps:
        raise ConversionInputError(f"pictures: {settings.path} describes no preprocessing of pictures; {_HINT}")
    return preprocessing


def _image_variable(program: Program) -> Variable:
    pictures = [
        input_
        for input_ in program.inputs
        if input_.dtype == "float32"
        and input_.shape is not None
        and len(input_.shape) == 4
        and input_.shape[1] in (3, -1)
    ]
    others = [input_.name for input_ in program.inputs if input_.name not in SIZES and input_ not in pictures]
    if len(pictures) != 1 or others:
        own = ", ".join(f"{input_.name} {input_.dtype} {list(input_.shape or ())}" for input_ in program.inputs)
        raise ConversionInputError(
            "pictures: they are for a model with one float32 input [N, 3, H, W], and no others than im_shape and "
            f"scale_factor; this one has {own or 'no inputs'}: {_HINT}"
        )
    return pictures[0]


def _read(path: Path) -> AnyArray:
    """The picture as bytes [H, W, 3] in the order blue, green, red."""
    try:
        import cv2
    except ImportError as error:
        raise ConversionInputError(f"pictures: reading pictures needs OpenCV: {install_command('image')}") from error
    try:  # OpenCV does not open every name that Python does, and waits for pipes
        with regular_file(path) as file:
            content = np.frombuffer(file.readall(), np.uint8)
    except (OSError, ValueError) as error:
        raise UnreadablePictureError(f"pictures: {path} cannot be read: {system_reason(error)}") from error
    pixels = cv2.imdecode(content, cv2.IMREAD_COLOR) if content.size else None
    if pixels is None:
        raise UnreadablePictureError(f"pictures: {path} is not a picture that OpenCV reads")
    picture: AnyArray = np.asarray(pixels)
    return picture
