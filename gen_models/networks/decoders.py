"""A decoder of formulas or text that reads an image's features, as one program with a loop: greedy, with caches.

It is of the kind of PP-FormulaNet's and UniMERNet's (mBART): layers of self-attention, attention to the encoder's
features and two linear layers, norms before each, learned positions, rows that end by themselves.
"""

from __future__ import annotations

from typing import Any

from gen_models.harness.network import Network
from gen_models.harness.spec import TensorSpec, paddle, tensor

POSITIONS, END = 1024, 2


def decoder(layers: int, width: int, words: int, heads: int) -> Any:
    """The layer; its results are the tokens and the sums of the logarithms of their probabilities."""
    nn = paddle.nn

    class Attention(nn.Layer):
        """Attention of several heads to given keys and values."""

        def __init__(self) -> None:
            super().__init__()
            self.heads, self.size = heads, width // heads
            self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

        def split(self, x):
            return x.reshape([0, -1, self.heads, self.size]).transpose([0, 2, 1, 3])

        def forward(self, x, key, value):
            query = self.split(self.query(x) * self.size**-0.5)
            weights = paddle.nn.functional.softmax(paddle.matmul(query, key, transpose_y=True))
            merged = paddle.matmul(weights, value).transpose([0, 2, 1, 3])
            return self.out(merged.reshape([0, -1, self.heads * self.size]))

    class DecoderLayer(nn.Layer):
        """One layer; its caches are the keys and values of the tokens, and those of the features."""

        def __init__(self) -> None:
            super().__init__()
            self.own, self.cross = Attention(), Attention()
            self.norms = nn.LayerList([nn.LayerNorm(width) for _ in range(3)])
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, key, value, cross_key, cross_value):
            y = self.norms[0](x)
            key = paddle.concat([key, self.own.split(self.own.key(y))], axis=2)
            value = paddle.concat([value, self.own.split(self.own.value(y))], axis=2)
            x = x + self.own(y, key, value)
            x = x + self.cross(self.norms[1](x), cross_key, cross_value)
            return x + self.down(paddle.nn.functional.gelu(self.up(self.norms[2](x)))), key, value

    class Decoder(nn.Layer):
        """`limit` is the most steps that are taken, `ends` the number of tokens after which each row ends."""

        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions = nn.Embedding(words, width), nn.Embedding(POSITIONS, width)
            self.encoder = nn.Linear(width, width)
            self.layers = nn.LayerList([DecoderLayer() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias_attr=False)

        def forward(self, features, limit, ends):
            encoded = paddle.nn.functional.gelu(self.encoder(features))
            cross_keys = [layer.cross.split(layer.cross.key(encoded)) for layer in self.layers]
            cross_values = [layer.cross.split(layer.cross.value(encoded)) for layer in self.layers]
            nothing = paddle.zeros_like(cross_keys[0][:, :, :1])[:, :, 1:]
            keys, values = [nothing for _ in self.layers], [nothing for _ in self.layers]
            token = paddle.zeros_like(encoded[:, :1, 0]).astype("int64") + 1
            written = token
            score = paddle.zeros_like(encoded[:, 0, 0])
            ended = paddle.zeros_like(token).astype("bool")
            step = paddle.zeros([1], "int64")
            while step < limit and not ended.all():
                x = self.words(token) + self.positions(step)
                for i, layer in enumerate(self.layers):
                    x, keys[i], values[i] = layer(x, keys[i], values[i], cross_keys[i], cross_values[i])
                chances = paddle.nn.functional.softmax(self.head(self.norm(x))[:, -1])
                token = paddle.argmax(chances, axis=-1, keepdim=True)
                token = paddle.where(ended, paddle.zeros_like(token), token)
                gained = paddle.log(paddle.take_along_axis(chances, token, 1))
                score = score + paddle.where(ended, paddle.zeros_like(gained), gained).squeeze(1)
                step = step + 1
                ended = paddle.logical_or(ended, paddle.logical_or(token == END, step >= ends))
                written = paddle.concat([written, token], axis=1)
            return written, score

    return Decoder()


def _small() -> Any:
    return decoder(layers=2, width=16, words=4200, heads=2)


def _features(length: int, limit: int, *ends: int) -> dict[str, TensorSpec]:
    return {
        "features": tensor([len(ends), length, 16], dims=[-1, -1, 16]),
        "limit": tensor([1], "int64", values=[limit]),
        "ends": tensor([len(ends), 1], "int64", values=[[end] for end in ends], dims=[-1, 1]),
    }


NETWORKS = [
    Network(
        "formula_decoder", _small, _features(9, 80, 70, 66, 3), more=[_features(20, 64, 100), _features(1, 9, 2, 5)]
    )
]
