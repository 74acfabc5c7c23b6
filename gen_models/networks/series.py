"""Whole networks for time series: decomposition, periods found by a Fourier transform, blocks of residuals."""

from __future__ import annotations

from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor

_LENGTH, _AHEAD, _SERIES = 24, 8, 3


def _decomposed():
    """DLinear: a moving average over a series with repeated ends, and a linear map each for it and the rest."""
    nn = paddle.nn

    class Decomposed(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.average = nn.AvgPool1D(5, stride=1, padding=0)
            self.trend, self.rest = nn.Linear(_LENGTH, _AHEAD), nn.LayerList()
            for _ in range(_SERIES):
                self.rest.append(nn.Linear(_LENGTH, _AHEAD))

        def forward(self, x):
            ends = paddle.concat([x[:, :1].tile([1, 2, 1]), x, x[:, -1:].tile([1, 2, 1])], axis=1)
            trend = self.average(ends.transpose([0, 2, 1]))
            rest = x.transpose([0, 2, 1]) - trend
            seasonal = paddle.zeros([rest.shape[0], _SERIES, _AHEAD], dtype=rest.dtype)
            for i in range(_SERIES):
                seasonal[:, i, :] = self.rest[i](rest[:, i, :])
            return (self.trend(trend) + seasonal).transpose([0, 2, 1])

    return Decomposed()


def _periodic():
    """TimesNet: the strongest frequencies decide how the series is folded for a convolution in two dimensions."""
    nn = paddle.nn

    class Periodic(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.ahead = nn.Linear(_LENGTH, _LENGTH + _AHEAD)
            self.wide = nn.Conv1D(_SERIES, 8, 3, padding=1, padding_mode="circular", data_format="NLC", bias_attr=False)
            self.small, self.large = nn.Conv2D(8, 8, 1), nn.Conv2D(8, 8, 5, padding=2)
            self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, _SERIES)

        def forward(self, x):
            mean = paddle.mean(x, axis=1, keepdim=True)
            spread = paddle.sqrt(paddle.var(x, axis=1, keepdim=True, unbiased=False) + 1e-5)
            y = self.ahead(self.wide((x - mean) / spread).transpose([0, 2, 1])).transpose([0, 2, 1])
            total = _LENGTH + _AHEAD
            strength = paddle.abs(paddle.fft.rfft(y, axis=1))
            overall = paddle.mean(paddle.mean(strength, axis=0), axis=-1)
            overall = paddle.concat([paddle.full([1], -1.0), overall[1:]])
            _, strongest = paddle.topk(overall, 2)
            weights = paddle.index_select(paddle.mean(strength, axis=-1), strongest, axis=1)
            folded = []
            for i in range(2):
                period = paddle.full_like(strongest[i], total) // strongest[i]
                rows = (total + period - 1) // period
                padded = paddle.concat([y, paddle.zeros_like(y)], axis=1)[:, : rows * period]
                grid = padded.reshape([-1, rows, period, 8]).transpose([0, 3, 1, 2])
                grid = paddle.nn.functional.gelu(self.small(grid) + self.large(grid)).transpose([0, 2, 3, 1])
                folded.append(grid.reshape([x.shape[0], -1, 8])[:, :total])
            weights = paddle.nn.functional.softmax(weights, axis=1).unsqueeze([1, 1])
            y = self.norm(paddle.sum(paddle.stack(folded, axis=-1) * weights, axis=-1) + y)
            return (self.head(y) * spread + mean)[:, -_AHEAD:]

    return Periodic()


def _residual_blocks():
    """N-BEATS and N-HiTS: what a block explains is taken from its input; pooled inputs, interpolated forecasts."""
    nn = paddle.nn

    class Blocks(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.pool = nn.MaxPool1D(3, stride=2, padding=1, ceil_mode=True)
            self.first = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, _LENGTH + 4))
            self.second = nn.Sequential(nn.Linear(_LENGTH, 16), nn.Softplus(), nn.Linear(16, 10))

        def forward(self, x):
            rest = x.transpose([0, 2, 1])
            explained, knots = paddle.split(self.first(self.pool(rest)), [_LENGTH, 4], axis=-1)
            rest = rest - explained
            forecast = paddle.nn.functional.interpolate(knots, size=[_AHEAD], mode="linear", data_format="NCW")
            parts = self.second(rest)
            times = paddle.arange(_LENGTH + _AHEAD).astype("float32") / _LENGTH
            powers = paddle.stack([times**i for i in range(2)] + [paddle.cos(times * 6.28), paddle.sin(times * 6.28)])
            levels = paddle.concat([parts[:, :, :2], parts[:, :, 8:]], axis=-1)
            curve = paddle.matmul(levels, powers)
            return (forecast + curve[:, :, _LENGTH:]).transpose([0, 2, 1]), rest - curve[:, :, :_LENGTH]

    return Blocks()


def _series(batch):
    return {"x": tensor([batch, _LENGTH, _SERIES], low=-2.0, high=2.0, dims=[-1, _LENGTH, _SERIES])}


NETWORKS = [
    Network("series_blocks", _residual_blocks, _series(2), more=[_series(1)]),
    Network("series_decomposed", _decomposed, _series(2), more=[_series(1)]),
    Network("series_periods", _periodic, _series(2), more=[_series(3)]),
]
