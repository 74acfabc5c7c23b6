"""Networks whose results are derivatives: physics-informed ones, forces of a potential, saliency maps."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import make_layer
from gen_models.harness.network import Network
from gen_models.harness.spec import int64s, paddle, tensor


def _gradient(value: Any, *by: Any, again: bool = False) -> list[Any]:
    """The gradients; `again`: they are differentiated as well."""
    return list(paddle.grad(value, list(by), create_graph=again))


def _mlp(inputs, width, outputs, activation):
    nn = paddle.nn
    return nn.Sequential(
        nn.Linear(inputs, width), activation(), nn.Linear(width, width), activation(), nn.Linear(width, outputs)
    )


def _burgers():
    """Burgers' equation: u, and its residual u_t + u u_x - 0.01 u_xx."""

    def forward(self, x, t):
        x.stop_gradient = t.stop_gradient = False
        u = self.net(paddle.concat([x, t], 1))
        u_x, u_t = _gradient(u, x, t, again=True)
        (u_xx,) = _gradient(u_x, x)
        return u, u_t + u * u_x - 0.01 * u_xx

    return make_layer(lambda: {"net": _mlp(2, 16, 1, paddle.nn.Tanh)}, forward)


def _forces():
    """Message passing over the edges of a molecule: its energy, and the forces, minus its gradient by the positions."""

    def forward(self, positions, source, target):
        positions.stop_gradient = False
        offsets = paddle.gather(positions, source) - paddle.gather(positions, target)
        distances = paddle.sqrt(paddle.sum(offsets * offsets, 1, keepdim=True) + 1e-3)
        centers = paddle.arange(8, dtype="float32") * 0.3
        radial = paddle.exp(-4.0 * (distances - centers) ** 2)
        messages = self.filter(radial)
        atoms = paddle.zeros_like(positions[:, :1]) + paddle.zeros([8])
        atoms = paddle.scatter_nd_add(atoms, paddle.unsqueeze(target, 1), messages)
        energy = paddle.sum(self.readout(atoms))
        (gradient,) = _gradient(energy, positions)
        return energy, -gradient

    def build():
        nn = paddle.nn
        return {"filter": _mlp(8, 16, 8, nn.Silu), "readout": _mlp(8, 16, 1, nn.Softplus)}

    return make_layer(build, forward)


def _saliency():
    """The gradient of the largest score by the image, and the largest magnitude of it over the channels."""

    def forward(self, image):
        image.stop_gradient = False
        scores = self.head(paddle.reshape(self.net(image), [-1, 8]))
        (gradient,) = _gradient(paddle.sum(paddle.max(scores, 1)), image)
        return scores, paddle.max(paddle.abs(gradient), 1)

    def build():
        nn = paddle.nn
        return {
            "net": nn.Sequential(
                nn.Conv2D(3, 8, 3, 2, 1),
                nn.GroupNorm(2, 8),
                nn.ReLU(),
                nn.MaxPool2D(3, 2, 1),
                nn.Conv2D(8, 8, 3, padding=1, groups=8),
                nn.GELU(),
                nn.AdaptiveAvgPool2D(1),
            ),
            "head": nn.Linear(8, 5),
        }

    return make_layer(build, forward)


_POINTS = {"x": tensor([6, 1], dims=[-1, 1]), "t": tensor([6, 1], low=0, dims=[-1, 1])}
_MORE = {"x": tensor([3, 1]), "t": tensor([3, 1], low=0)}
_ATOMS = {"positions": tensor([4, 3], low=-2, high=2, dims=[-1, 3])}
_EDGES = {
    "source": int64s(0, 1, 1, 2, 3, 0, 2, dims=[-1]),
    "target": int64s(1, 0, 2, 1, 0, 3, 3, dims=[-1]),
}

NETWORKS = [
    Network("burgers_residual", _burgers, _POINTS, [_MORE]),
    Network("molecule_forces", _forces, {**_ATOMS, **_EDGES}),
    Network("saliency_map", _saliency, {"image": tensor([2, 3, 16, 16], dims=[-1, 3, 16, 16])}),
]
