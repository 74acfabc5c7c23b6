"""A network in which Paddle rounds a lot, where its input is nearly constant: it adds up an average in order."""

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _averaged(self, x, n):
    """An average over a picture, a corner that is transposed, and a loop with a normalization and a branch."""
    mean = paddle.nn.functional.adaptive_avg_pool2d(paddle.nn.functional.relu(x), 1)
    corner = paddle.transpose(x[:, :, :2, :2], [0, 1, 3, 2])
    state = paddle.concat([(mean * 4).flatten(1), corner.flatten(1)], 1).tile([1, 2])[:, :8].reshape([-1, 8])
    i = paddle.zeros([1], "int64")
    while i < n:
        state = self.norm(state * 0.05)
        if i % 2 == 1:
            state = paddle.nn.functional.sigmoid(state)
        else:
            state = state * 2
        i = i + 1
    return state, mean


NETWORKS = [
    Network(
        "averaged",
        layer_of(_averaged, lambda: {"norm": paddle.nn.LayerNorm(8, epsilon=1e-3)}),
        {"x": tensor([2, 1, 6, 6], dims=[-1, 1, -1, -1]), "n": tensor([1], "int64", 3, 4)},
        more=[{"x": tensor([1, 1, 9, 4]), "n": tensor([1], "int64", 1, 2)}],
    )
]
