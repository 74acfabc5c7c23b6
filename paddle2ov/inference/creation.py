"""`create_predictor` and `PredictorPool`: converts and compiles the model that a configuration names."""

from __future__ import annotations

from pathlib import Path

import openvino

from paddle2ov.compilation.compile import compile_cached, convert_and_compile
from paddle2ov.errors import ConversionInputError, OpConversionError
from paddle2ov.inference.arguments import integer
from paddle2ov.inference.config import Config
from paddle2ov.inference.predictor import Predictor, SharedModel
from paddle2ov.program.model import Program


def create_predictor(config: Config) -> Predictor:
    """Converts the model that a configuration names, and compiles it.

    Its files are read once, whole: the predictor and its clones keep what they held, whatever becomes of them.

    Raises:
        ModelReadError: the model cannot be found or read, or its files change while they are read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the configuration names no model, or is not a `Config`.
        OpenVINORunError: OpenVINO cannot compile the model, or knows no such device, property or value.
    """
    return _created(config, 1)


def _created(config: Config, predictors: int) -> Predictor:
    """The first of so many predictors that run at once."""
    if not isinstance(config, Config):
        raise ConversionInputError(f"create_predictor: a Config is expected, not {type(config).__name__}")
    device, properties = config.openvino_device(), config.openvino_properties(predictors)
    buffers, files, cache_dir = config.model_buffers(), config.model_files(), config.optim_cache_dir()
    if buffers is not None:
        made = convert_and_compile(lambda: _from_contents(*buffers), device, properties)
        return Predictor(SharedModel(made, device, properties))
    if files is None:
        raise ConversionInputError("the Config names no model: Config(model_dir) or Config(program, params)")
    if cache_dir is None:
        made = convert_and_compile(lambda: _from_files(*files), device, properties)
    else:
        options = {"for": "predictor"}
        made = compile_cached(*files, device, properties, cache_dir, options, lambda: _from_files(*files))
    return Predictor(SharedModel(made, device, properties))


def _from_contents(program: bytes, params: bytes) -> openvino.Model:
    from paddle2ov.program import read_contents
    from paddle2ov.translation.registry import Registry

    return _with_lengths(read_contents(program, params, Registry().signatures()))


def _from_files(model: Path, params: Path | None) -> openvino.Model:
    from paddle2ov.program import read_program
    from paddle2ov.translation.registry import Registry

    return _with_lengths(read_program(model, params, Registry().signatures(), mapped=False))


def _with_lengths(program: Program) -> openvino.Model:
    """The model, which takes sequences of any lengths unless one of its operators takes only one."""
    from paddle2ov.conversion import convert  # which a model from the cache does not need

    try:
        return convert(program, sequence_lengths=True)
    except OpConversionError:
        return convert(program)


class PredictorPool:
    """Several predictors of one model, for as many threads, which OpenVINO computes at once as far as there are cores.

    Each gets the number of threads that the configuration sets, or its part of all cores. A configuration that sets a
    hint or a number of streams is kept.
    """

    def __init__(self, config: Config, size: int) -> None:
        count = integer(size, 1, f"a pool of {size!r} predictors")
        first = _created(config, count)
        self._predictors = [first, *(first.clone() for _ in range(count - 1))]

    def retrieve(self, index: int) -> Predictor:
        """One of the predictors.

        Raises:
            ConversionInputError: there is not one of that number.
        """
        refusal = f"predictor {index!r} of a pool of {len(self._predictors)}"
        number = integer(index, 0, refusal)
        if number >= len(self._predictors):
            raise ConversionInputError(refusal)
        return self._predictors[number]

    retrive = retrieve  # as Paddle 2 spells it


__all__ = ["PredictorPool", "create_predictor"]
