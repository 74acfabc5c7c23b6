"""Whole networks for clouds of points and for films: sampling, neighbours, three-dimensional convolutions."""

from __future__ import annotations

from gen_models.harness.network import Network
from gen_models.harness.spec import TensorSpec, paddle, tensor


def _taken(points, index):
    """The rows of each cloud that `index` names: [batch, n, c] at [batch, ...] -> [batch, ..., c]."""
    batch = paddle.arange(paddle.shape(points)[0], dtype="int64").reshape([-1] + [1] * (index.ndim - 1))
    return paddle.gather_nd(points, paddle.stack([batch.expand_as(index), index], axis=-1))


def _distances(first, second):
    return (first.unsqueeze(2) - second.unsqueeze(1)).pow(2).sum(-1)


def _sampled():
    """PointNet++: farthest points in a loop, neighbours within a ball, features carried back by distance."""
    nn = paddle.nn

    class Sampled(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.shared = nn.Sequential(nn.Conv2D(6, 8, 1), nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2D(8, 12, 1))
            self.head, self.back = nn.Linear(12, 4), nn.Conv1D(12, 3, 1)

        def forward(self, points, count):
            far = paddle.zeros_like(points[:, :1, 0]).astype("int64")
            nearest = paddle.full_like(points[:, :, 0], 1e10)
            chosen = far + 0  # Paddle 2 confuses the two variables in the loop
            step = paddle.ones([1], "int64")
            while step < count:
                apart = (points - _taken(points, far)).pow(2).sum(-1)
                nearest = paddle.minimum(nearest, apart)
                far = paddle.argmax(nearest, axis=-1, keepdim=True)
                chosen = paddle.concat([chosen, far], axis=1)
                step = step + 1
            centres = _taken(points, chosen)
            apart = _distances(centres, points)
            close = paddle.argsort(apart, axis=-1)[:, :, :5]
            inside = paddle.take_along_axis(apart, close, axis=2) < 0.8
            close = paddle.where(inside, close, close[:, :, :1].expand_as(close))
            group = _taken(points, close)
            group = paddle.concat([group - centres.unsqueeze(2), group], axis=-1).transpose([0, 3, 2, 1])
            features = paddle.max(self.shared(group), axis=2)
            apart, three = paddle.topk(_distances(points, centres), 3, axis=-1, largest=False)
            weight = 1.0 / (apart + 1e-3)
            weight = (weight / weight.sum(-1, keepdim=True)).unsqueeze(-1)
            carried = (_taken(features.transpose([0, 2, 1]), three) * weight).sum(2)
            return self.head(features.max(axis=-1)), self.back(carried.transpose([0, 2, 1])), chosen

    return Sampled()


def _film():
    """A slow and a fast path of frames, channels shifted between frames, convolutions in three dimensions."""
    nn = paddle.nn

    class Film(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.flat = nn.Conv2D(3, 8, 3, stride=2, padding=1)
            self.shifted = nn.Conv2D(8, 8, 1)
            self.fast = nn.Sequential(
                nn.Conv3D(3, 4, [5, 3, 3], stride=[1, 2, 2], padding=[2, 1, 1]), nn.BatchNorm3D(4), nn.ReLU()
            )
            self.across = nn.Conv3D(4, 8, [5, 1, 1], stride=[2, 1, 1], padding=[2, 0, 0], bias_attr=False)
            self.pool = nn.MaxPool3D([1, 3, 3], [1, 2, 2], [0, 1, 1])
            self.both, self.head = nn.Conv3D(16, 6, 3, padding=1, groups=2), nn.Linear(6, 5)

        def forward(self, frames):
            slow = frames[:, :, ::2]
            side = paddle.shape(frames)[3]
            slow = slow.transpose([0, 2, 1, 3, 4]).reshape([-1, 3, side, paddle.shape(frames)[4]])
            slow = paddle.nn.functional.temporal_shift(self.flat(slow), 3, 0.25)
            slow = paddle.nn.functional.relu(self.shifted(slow))
            slow = slow.reshape([-1, 3, 8, paddle.shape(slow)[2], paddle.shape(slow)[3]]).transpose([0, 2, 1, 3, 4])
            fast = self.across(self.fast(frames))
            x = self.pool(self.both(paddle.concat([slow, fast], axis=1)))
            x = paddle.nn.functional.interpolate(x, scale_factor=[1, 2, 2], mode="trilinear", data_format="NCDHW")
            return self.head(paddle.nn.functional.adaptive_avg_pool3d(x, 1).flatten(1))

    return Film()


def _cloud(batch: int, points: int, count: int) -> dict[str, TensorSpec]:
    return {
        "points": tensor([batch, points, 3], dims=[-1, -1, 3]),
        "count": tensor([1], "int64", values=[count]),
    }


NETWORKS = [
    Network(
        "film", _film, {"frames": tensor([1, 3, 6, 16, 16], dims=[-1, 3, 6, -1, -1])},
        more=[{"frames": tensor([2, 3, 6, 20, 12])}],
    ),
    Network("points_sampled", _sampled, _cloud(2, 20, 6), more=[_cloud(1, 33, 4)]),
]  # fmt: skip
