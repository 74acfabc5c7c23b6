"""Networks with tensors that a layer reads in another layout, and that are also joined, reshaped or returned."""

from gen_models.harness.network import network_of
from gen_models.harness.spec import paddle, tensor


def _convolution():
    return {"conv": paddle.nn.Conv2D(8, 4, 1)}


def _shared_joined(self, x):
    last = paddle.nn.functional.relu(x)
    joined = paddle.concat([last, paddle.abs(last)], axis=1)
    return self.conv(paddle.transpose(last, [0, 3, 1, 2])), paddle.tanh(joined)


def _shared_joined_channels_first(self, x):
    first = self.conv(x)
    return paddle.transpose(first, [0, 2, 3, 1]).sum(-1), paddle.abs(paddle.concat([first, first * 2.0], axis=0))


def _shared_overwritten(self, x):
    tokens = paddle.tanh(x)
    image = paddle.transpose(tokens, [0, 2, 1]).reshape([1, 8, 3, 4])
    doubled = tokens.reshape([1, 3, 4, 8])
    return self.conv(image), doubled + doubled


def _shared_returned_steps(self, x):
    steps = paddle.nn.functional.relu(x)
    return *self.rnn(steps), steps.flatten(), paddle.concat([steps, steps * 2.0]).unsqueeze(0)


def _shared_unknown_width(self, x, y):
    scores = paddle.matmul(x, y, transpose_y=True) + self.bias
    return paddle.nn.functional.relu(scores) * self.bias


NETWORKS = [
    network_of(_shared_joined, {"x": tensor([1, 3, 4, 8])}, parts=_convolution),
    network_of(_shared_joined_channels_first, {"x": tensor([2, 8, 3, 5])}, parts=_convolution),
    network_of(_shared_overwritten, {"x": tensor([1, 12, 8])}, parts=_convolution),
    network_of(
        _shared_returned_steps,
        {"x": tensor([7, 3, 6])},
        parts=lambda: {"rnn": paddle.nn.LSTM(6, 5, time_major=True)},
    ),
    network_of(
        _shared_unknown_width,
        {"x": tensor([2, 4], dims=[-1, 4]), "y": tensor([5, 4], dims=[-1, 4])},
        parts=lambda: {"bias": paddle.create_parameter([5], "float32")},
    ),
]
