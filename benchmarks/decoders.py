"""A decoder that writes formulas or text from an image's features, as one program with a loop: greedy, with caches.

It is of the kind of PP-FormulaNet's and UniMERNet's (mBART): layers of self-attention, attention to the encoder's
features and two linear layers, norms before each, learned positions, and an end where every row has ended.

Run as a script it exports one: `python -m benchmarks.decoders LAYERS WIDTH PREFIX`.
"""

from __future__ import annotations

import sys
from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional

WORDS, POSITIONS, END = 50000, 1024, 2


class Attention(nn.Layer):
    """Attention of several heads to given keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x: Any) -> Any:
        return x.reshape([0, -1, self.heads, self.size]).transpose([0, 2, 1, 3])

    def forward(self, x: Any, key: Any, value: Any) -> Any:
        query = self.split(self.query(x) * self.size**-0.5)
        weights = functional.softmax(paddle.matmul(query, key, transpose_y=True))
        return self.out(paddle.matmul(weights, value).transpose([0, 2, 1, 3]).reshape([0, -1, self.heads * self.size]))


class DecoderLayer(nn.Layer):
    """One layer; its caches are the keys and values of the tokens, and those of the features."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.own, self.cross = Attention(width, heads), Attention(width, heads)
        self.norms = nn.LayerList([nn.LayerNorm(width) for _ in range(3)])
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any, key: Any, value: Any, cross_key: Any, cross_value: Any) -> Any:
        y = self.norms[0](x)
        key = paddle.concat([key, self.own.split(self.own.key(y))], axis=2)
        value = paddle.concat([value, self.own.split(self.own.value(y))], axis=2)
        x = x + self.own(y, key, value)
        x = x + self.cross(self.norms[1](x), cross_key, cross_value)
        return x + self.down(functional.gelu(self.up(self.norms[2](x)))), key, value


class Decoder(nn.Layer):
    """The features of an image become tokens, with the logarithm of their probability."""

    def __init__(self, layers: int, width: int, words: int = WORDS, heads: int = 0) -> None:
        super().__init__()
        heads = heads or max(2, width // 64)
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(POSITIONS, width)
        self.encoder = nn.Linear(width, width)
        self.layers = nn.LayerList([DecoderLayer(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias_attr=False)

    def forward(self, features: Any, limit: Any) -> Any:
        encoded = functional.gelu(self.encoder(features))
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
            chances = functional.softmax(self.head(self.norm(x))[:, -1])
            token = paddle.argmax(chances, axis=-1, keepdim=True)
            token = paddle.where(ended, paddle.zeros_like(token), token)
            gained = paddle.log(paddle.take_along_axis(chances, token, 1))
            score = score + paddle.where(ended, paddle.zeros_like(gained), gained).squeeze(1)
            ended = paddle.logical_or(ended, token == END)
            written = paddle.concat([written, token], axis=1)
            step = step + 1
        return written, score


def export(layers: int, width: int, prefix: str) -> None:
    """Writes a decoder with random weights as a PIR program."""
    paddle.seed(7)
    model = Decoder(layers, width)
    model.eval()
    spec = [
        paddle.static.InputSpec([-1, -1, width], "float32", "features"),
        paddle.static.InputSpec([1], "int64", "limit"),
    ]
    paddle.jit.save(paddle.jit.to_static(model, input_spec=spec, full_graph=True), prefix)


if __name__ == "__main__":
    export(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
