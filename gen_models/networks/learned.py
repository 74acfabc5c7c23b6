"""Networks with learned tensors beside the data: position embeddings of which parts are taken, initial states."""

from functools import partial

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network, network_of
from gen_models.harness.spec import paddle, tensor

_SIZE, _WIDTH = 3, 8


def _learned(*shape):
    return paddle.create_parameter(list(shape), "float32", default_initializer=paddle.nn.initializer.Normal())


def _positions_parts():
    nn, size = paddle.nn, _SIZE
    return {
        "before": nn.Conv2D(3, _WIDTH, 1, data_format="NHWC"),
        "sliced": _learned(1, size + 1, size, _WIDTH),
        "padded": _learned(1, size, size, _WIDTH),
        "joined": _learned(1, size, 2 * size, _WIDTH),
        "averaged": _learned(size, size, size, _WIDTH),
        "extreme": _learned(size, size, size, _WIDTH),
        "after": nn.Conv2D(_WIDTH, _WIDTH, 1, data_format="NHWC"),
    }


def _positions_forward(self, image):
    """Between convolutions with channels last, sums with what is cut out, padded, split and reduced of embeddings."""
    x, functional = self.before(image), paddle.nn.functional
    places = [
        self.sliced[:, 1:],
        functional.pad(self.padded, [1, 0, 1, 0], data_format="NHWC")[:, :-1, :-1],
        paddle.split(self.joined, 2, axis=2)[1],
        paddle.split(self.joined, [1, _SIZE, _SIZE - 1], axis=2)[1],
        paddle.mean(self.averaged, axis=1, keepdim=True),
        paddle.max(self.extreme, axis=2, keepdim=True)[:1],
    ]
    return tuple(self.after(functional.relu(x + place)) for place in places)


def _states_parts(batch, layers):
    nn, hidden = paddle.nn, 20
    return {
        "lstm": nn.LSTM(4, hidden, layers, direction="bidirect"),
        "gru": nn.GRU(4, hidden, layers, direction="bidirect"),
        "hidden": _learned(2 * layers, batch, hidden),
        "cell": _learned(2 * layers, batch, hidden),
    }


def _states_forward(self, x):
    """Recurrent layers of two directions that begin with learned states."""
    out, (hidden, cell) = self.lstm(x, (self.hidden, self.cell))
    other, last = self.gru(x, self.hidden)
    return out, hidden, cell, other, last


def _grown_states(self, x):
    """The same learned state for each sequence of a batch."""
    batch = paddle.shape(x)[0]
    hidden, cell = (value.expand([value.shape[0], batch, value.shape[2]]) for value in (self.hidden, self.cell))
    out, (hidden, cell) = self.lstm(x, (hidden, cell))
    return out, hidden, cell


def _image(*dims):
    return {"image": tensor([_SIZE, _SIZE, _SIZE, 3], dims=list(dims))}


def _sequences(batch, *dims):
    return {"x": tensor([batch, 5, 4], dims=list(dims))}


def _resized_parts():
    return {"image": _learned(1, 2, 6, 8), "line": _learned(1, 2, 8)}


def _resized(self, x):
    """Parameters that are resized along one axis, downwards and upwards."""
    resize = paddle.nn.functional.interpolate
    image = resize(self.image, size=[1, 4], mode="bilinear")
    lines = [resize(self.line, size=[size], mode="linear", data_format="NCW") for size in (4, 13)]
    return x + image, *lines


def _expanded_forward(self, x):
    """A product whose second axis is repeated, or kept."""
    return paddle.expand(self.project(x), [-1, 2, -1, -1])


_positions = layer_of(_positions_forward, _positions_parts)
_two_states = layer_of(_states_forward, partial(_states_parts, 2, 1))
_three_states = layer_of(_states_forward, partial(_states_parts, 3, 2))
_expanded_product = layer_of(_expanded_forward, lambda: {"project": paddle.nn.Linear(6, 8)})

NETWORKS = [
    Network(
        "expanded_product",
        _expanded_product,
        {"x": tensor([3, 1, 4, 6], dims=[-1, -1, 4, 6])},
        more=[{"x": tensor([2, 2, 4, 6])}],
    ),
    Network("expanded_product_kept", _expanded_product, {"x": tensor([3, 2, 4, 6], dims=[-1, 2, 4, 6])}),
    network_of(_resized, {"x": tensor([1, 2, 3, 4], dims=[-1, 2, -1, 4])}, parts=_resized_parts),
    Network("positions_known", _positions, _image(_SIZE, _SIZE, _SIZE, 3)),
    Network("positions_unknown", _positions, _image(-1, -1, -1, 3)),
    Network("two_states_known", _two_states, _sequences(2, 2, 5, 4)),
    Network("two_states_unknown", _two_states, _sequences(2, 2, -1, 4)),
    Network("three_states_known", _three_states, _sequences(3, 3, 5, 4)),
    Network("three_states_unknown", _three_states, _sequences(3, 3, -1, 4)),
    network_of(_grown_states, _sequences(2, -1, -1, 4), _sequences(3, -1, -1, 4), parts=partial(_states_parts, 1, 2)),
]
