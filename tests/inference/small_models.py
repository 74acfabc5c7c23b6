"""Small models, and predictors of Paddle's and of ours for them."""

import numpy as np
import paddle
import paddle.inference

from paddle2ov.inference import Config, create_predictor

X = np.arange(6).reshape(2, 3)
"""An input of `Doubled`, which takes int64 here."""


class Doubled(paddle.nn.Layer):
    def forward(self, x):
        return x + x


class Joined(paddle.nn.Layer):
    def forward(self, x):
        return paddle.concat([x, x])


def saved(folder, layer, dtype, shape=(-1, -1)):
    """The folder, with a model of one input `x`."""
    paddle.disable_static()
    spec = [paddle.static.InputSpec(list(shape), dtype, "x")]
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec), str(folder / "inference"))
    return folder


def theirs(folder):
    """Paddle's predictor."""
    config = paddle.inference.Config(str(folder / "inference.json"), "")
    config.disable_glog_info()
    return paddle.inference.create_predictor(config)


def ours(folder):
    """The predictor on OpenVINO."""
    return create_predictor(Config(folder))


def handles(predictor):
    """The handles of the input and of the first result."""
    return predictor.get_input_handle("x"), predictor.get_output_handle(predictor.get_output_names()[0])
