"""Models in memory and live ones, for functions of a model in files: they are saved for as long as these run."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

import openvino

from paddle2ov.errors import ConversionInputError
from paddle2ov.inputs.given_arrays import named_arrays
from paddle2ov.inputs.usual_sizes import shape_sets
from paddle2ov.program.archives import standing_for
from paddle2ov.program.model import Program
from paddle2ov.program.paths import local_path
from paddle2ov.program.reading import PARAMETERS, program_name
from paddle2ov.translation.live import save_live
from paddle2ov.translation.model_argument import content_of, is_content, split_pair

_Function = TypeVar("_Function", bound=Callable[..., Any])


def saving_models(function: _Function) -> _Function:
    """For a function of a model in files, its first argument: it may be what `convert` takes, but no `Program`.

    What is live or in memory is saved to a folder for as long as the function runs; messages name it all the same. Of a
    live model, the function is told what `convert` is told: by `input`, `output` and `example_input`, which it passes
    on, or by `shapes`, `outputs` and `inputs`.
    """

    @wraps(function)
    def wrapped(model: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(local_path(model), str | os.PathLike | openvino.Model):
            return function(model, *args, **kwargs)
        arguments = signature(function).bind(model, *args, **kwargs).arguments
        arguments |= arguments.pop("options", {})
        model, params = split_pair(model, arguments.get("params"))
        if isinstance(model, str | os.PathLike):
            return function(**{**arguments, "model": model, "params": params})
        if isinstance(model, Program):
            raise ConversionInputError(
                f"{function.__name__}: what read_program returns is not in files; pass the path that it was read from"
            )
        name = str(getattr(model, "__name__", type(model).__name__))
        with standing_for(Path(name), name) as folder:
            folder.mkdir()
            arguments |= {"model": folder, "params": None}
            if is_content(model):
                _save_content(folder, model, params)
            elif params is not None:
                raise ConversionInputError(f"params is for a model in files, not for a {name}")
            elif "shapes" in signature(function).parameters:
                _save_with_shapes(folder, model, arguments)
            else:
                live = (arguments.pop(option, None) for option in ("input", "output", "example_input"))
                arguments["input"], arguments["output"] = _save_live(folder, model, *live)
            return function(**arguments)

    return cast(_Function, wrapped)


def _save_content(folder: Path, program: object, params: object) -> None:
    content = content_of(program, "model")
    (folder / program_name(content)).write_bytes(content)
    if params is not None:
        (folder / PARAMETERS).write_bytes(content_of(params, "params"))


def _save_with_shapes(folder: Path, model: object, arguments: dict[str, Any]) -> None:
    """Saves a live model for what runs on random inputs of some shapes, or on the inputs that are given."""
    sets, inputs = shape_sets(arguments.get("shapes")), named_arrays(arguments.get("inputs"))
    if len(sets) > 1:
        raise ConversionInputError(
            "shapes: of a live model they are its input spec, which is one set, with -1 for dimensions that vary; save "
            "the model to run several"
        )
    spec, example = sets[0] if sets else None, inputs[0] if inputs else None
    shapes, outputs = _save_live(folder, model, spec, arguments.get("outputs"), example)
    arguments |= {"shapes": shapes} | ({"outputs": outputs} if "outputs" in arguments else {})


def _save_live(folder: Path, model: object, input: Any, output: Any, example_input: Any) -> tuple[Any, Any]:
    """Saves a live model; returns what a saved one cannot express of `input` and `output`, in their forms."""
    overrides, outputs = save_live(model, folder, input, output, example_input)
    given = [tuple(part for part in (item.name, item.shape, item.dtype) if part is not None) for item in overrides]
    return given or None, outputs or None
