"""Networks with tensors that a layer reads in another layout, and that are also joined, reshaped or returned."""

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _convolution():
    return {"conv": paddle.nn.Conv2D(8, 4, 1)}


def _joined_forward(self, x):
    last = paddle.nn.functional.relu(x)
    joined = paddle.concat([last, paddle.abs(last)], axis=1)
    return self.conv(paddle.transpose(last, [0, 3, 1, 2])), paddle.tanh(joined)


def _joined_channels_first_forward(self, x):
    first = self.conv(x)
    return paddle.transpose(first, [0, 2, 3, 1]).sum(-1), paddle.abs(paddle.concat([first, first * 2.0], axis=0))


def _overwritten_forward(self, x):
    tokens = paddle.tanh(x)
    image = paddle.transpose(tokens, [0, 2, 1]).reshape([1, 8, 3, 4])
    doubled = tokens.reshape([1, 3, 4, 8])
    return self.conv(image), doubled + doubled


def _returned_steps_forward(self, x):
    steps = paddle.nn.functional.relu(x)
    return *self.rnn(steps), steps.flatten(), paddle.concat([steps, steps * 2.0]).unsqueeze(0)


def _unknown_width_forward(self, x, y):
    scores = paddle.matmul(x, y, transpose_y=True) + self.bias
    return paddle.nn.functional.relu(scores) * self.bias


NETWORKS = [
    Network("shared_joined", layer_of(_joined_forward, _convolution), {"x": tensor([1, 3, 4, 8])}),
    Network(
        "shared_joined_channels_first",
        layer_of(_joined_channels_first_forward, _convolution),
        {"x": tensor([2, 8, 3, 5])},
    ),
    Network("shared_overwritten", layer_of(_overwritten_forward, _convolution), {"x": tensor([1, 12, 8])}),
    Network(
        "shared_returned_steps",
        layer_of(_returned_steps_forward, lambda: {"rnn": paddle.nn.LSTM(6, 5, time_major=True)}),
        {"x": tensor([7, 3, 6])},
    ),
    Network(
        "shared_unknown_width",
        layer_of(_unknown_width_forward, lambda: {"bias": paddle.create_parameter([5], "float32")}),
        {"x": tensor([2, 4], dims=[-1, 4]), "y": tensor([5, 4], dims=[-1, 4])},
    ),
]
