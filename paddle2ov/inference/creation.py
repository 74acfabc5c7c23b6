"""`create_predictor` and `PredictorPool`: predictors of the model that a configuration names."""

from __future__ import annotations

from paddle2ov.inference.arguments import integer
from paddle2ov.inference.config import Config
from paddle2ov.inference.configured_model import variants_of
from paddle2ov.inference.predictor import Predictor


def create_predictor(config: Config) -> Predictor:
    """Converts the model that a configuration names, and compiles it.

    Its files are read once, whole: the predictor and its clones keep what they held, whatever becomes of them. For
    arrays of other shapes than the program declares, they are read again, as long as they are the same.

    Raises:
        ModelReadError: the model cannot be found or read, or its files change while they are read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the configuration names no model, or inputs that it does not have, or is not a `Config`.
        OpenVINORunError: OpenVINO cannot compile the model, or knows no such device, property or value.
    """
    return Predictor(variants_of(config))


class PredictorPool:
    """Several predictors of one model, for as many threads, which OpenVINO computes at once as far as there are cores.

    Each gets the number of threads that the configuration sets, or its part of all cores. A configuration that sets a
    hint or a number of streams is kept.
    """

    def __init__(self, config: Config, size: int) -> None:
        count = integer(size, 1, f"a pool of {size!r} predictors")
        first = Predictor(variants_of(config, count))
        self._predictors = [first, *(first.clone() for _ in range(count - 1))]

    def retrieve(self, index: int) -> Predictor:
        """One of the predictors.

        Raises:
            ConversionInputError: there is not one of that number.
        """
        last = len(self._predictors) - 1
        return self._predictors[integer(index, 0, f"predictor {index!r} of a pool of {last + 1}, counted from 0", last)]

    retrive = retrieve  # as Paddle 2 spells it
