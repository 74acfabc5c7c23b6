"""Small models, and predictors of Paddle's and of ours for them."""

import numpy as np
import paddle
import paddle.inference

from paddle2ov.inference import Config, create_predictor
from tests.support.models import files_of, save_layer

X = np.arange(6).reshape(2, 3)
"""An input of `doubled`, which takes int64 here."""


def doubled(x):
    return x + x


def saved(folder, build, dtype, shape=(-1, -1)):
    """The folder, with a model of one input `x`."""
    return save_layer(folder, build, x=(shape, dtype))


def theirs(folder):
    """Paddle's predictor."""
    program, params = files_of(folder)
    config = paddle.inference.Config(str(program), str(params) if params.exists() else "")
    config.disable_glog_info()
    return paddle.inference.create_predictor(config)


def ours(folder):
    """The predictor on OpenVINO."""
    return create_predictor(Config(folder))


def handles(predictor):
    """The handles of the input and of the first result."""
    return predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[0])
