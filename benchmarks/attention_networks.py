"""Networks with attention in the sizes that are deployed, written as PaddleClas, PaddleOCR and PaddleNLP write them."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional


def attend(layer: Any, x: Any, heads: int, mask: Any = None) -> Any:
    """Attention with a fused projection: reshape to [B, N, 3, heads, d], 5-D transpose, three slices."""
    width = x.shape[-1]
    tokens = x.shape[1]
    split = layer.qkv(x).reshape([-1, tokens, 3, heads, width // heads]).transpose([2, 0, 3, 1, 4])
    q, k, v = split[0] * (width // heads) ** -0.5, split[1], split[2]
    scores = q.matmul(k.transpose([0, 1, 3, 2]))
    scores = scores if mask is None else mask(scores)
    context = functional.softmax(scores, axis=-1).matmul(v)
    return layer.proj(context.transpose([0, 2, 1, 3]).reshape([-1, tokens, width]))


class Block(nn.Layer):
    """Norm, attention, norm, two dense layers."""

    def __init__(self, width: int, heads: int, ratio: int = 4) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, epsilon=1e-6), nn.LayerNorm(width, epsilon=1e-6)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, ratio * width), nn.Linear(ratio * width, width)
        self.heads = heads

    def mix(self, x: Any) -> Any:
        return attend(self, x, self.heads)

    def forward(self, x: Any) -> Any:
        x = x + self.mix(self.norm1(x))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class SwinBlock(Block):
    """Attention in windows, shifted or not, with a relative position bias."""

    def __init__(self, width: int, heads: int, side: int, window: int, shift: int) -> None:
        super().__init__(width, heads)
        self.side, self.window = side, window
        self.shift = shift if side > window else 0
        self.table = self.create_parameter([(2 * window - 1) ** 2, heads], default_initializer=nn.initializer.Normal())
        steps = paddle.arange(window)
        grid = paddle.stack(paddle.meshgrid(steps, steps)).flatten(1)
        apart = (grid.unsqueeze(2) - grid.unsqueeze(1)).transpose([1, 2, 0]) + (window - 1)
        self.register_buffer("places", (apart[:, :, 0] * (2 * window - 1) + apart[:, :, 1]).flatten())
        if self.shift:
            region = paddle.zeros([1, side, side, 1])
            bounds = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
            for i, rows in enumerate(bounds):
                for j, columns in enumerate(bounds):
                    region[:, rows, columns, :] = float(3 * i + j)
            windows = self.windows(region).squeeze(-1)
            differ = windows.unsqueeze(1) != windows.unsqueeze(2)
            self.register_buffer("apart", differ.astype("float32") * -100.0)

    def windows(self, x: Any) -> Any:
        n, size, width = self.side // self.window, self.window, x.shape[-1]
        x = x.reshape([-1, n, size, n, size, width]).transpose([0, 1, 3, 2, 4, 5])
        return x.reshape([-1, size * size, width])

    def whole(self, x: Any) -> Any:
        n, size, width = self.side // self.window, self.window, x.shape[-1]
        x = x.reshape([-1, n, n, size, size, width]).transpose([0, 1, 3, 2, 4, 5])
        return x.reshape([-1, self.side, self.side, width])

    def biased(self, scores: Any) -> Any:
        tokens = self.window**2
        bias = paddle.index_select(self.table, self.places).reshape([tokens, tokens, self.heads])
        scores = scores + bias.transpose([2, 0, 1]).unsqueeze(0)
        if self.shift:
            mask = self.apart.unsqueeze([0, 2])
            scores = scores.reshape([-1, mask.shape[1], self.heads, tokens, tokens]) + mask
            scores = scores.reshape([-1, self.heads, tokens, tokens])
        return scores

    def mix(self, x: Any) -> Any:
        side, width = self.side, x.shape[-1]
        x = x.reshape([-1, side, side, width])
        if self.shift:
            x = paddle.roll(x, [-self.shift, -self.shift], axis=[1, 2])
        x = self.whole(attend(self, self.windows(x), self.heads, self.biased))
        if self.shift:
            x = paddle.roll(x, [self.shift, self.shift], axis=[1, 2])
        return x.reshape([-1, side * side, width])


class Swin(nn.Layer):
    """Swin Transformer with tiny's widths."""

    def __init__(self, depths: tuple[int, ...] = (2, 2, 6, 2), width: int = 96, size: int = 224) -> None:
        super().__init__()
        self.patches, self.norm = nn.Conv2D(3, width, 4, 4), nn.LayerNorm(width)
        self.sides, self.blocks, self.merges = [], nn.LayerList(), nn.LayerList()
        side, heads = size // 4, 3
        for stage, depth in enumerate(depths):
            self.sides.append(side)
            self.blocks.append(nn.LayerList([SwinBlock(width, heads, side, 7, 3 * (i % 2)) for i in range(depth)]))
            if stage + 1 < len(depths):
                self.merges.append(
                    nn.Sequential(nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias_attr=False))
                )
                width, heads, side = 2 * width, 2 * heads, side // 2
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x: Any) -> Any:
        x = self.norm(self.patches(x).flatten(2).transpose([0, 2, 1]))
        for stage, blocks in enumerate(self.blocks):
            for block in blocks:
                x = block(x)
            if stage < len(self.merges):
                side = self.sides[stage]
                grid = x.reshape([-1, side, side, x.shape[-1]])
                corners = [grid[:, i::2, j::2, :] for j in (0, 1) for i in (0, 1)]
                x = paddle.concat(corners, -1)
                x = self.merges[stage](x.reshape([-1, side * side // 4, x.shape[-1]]))
        return self.head(self.last(x).transpose([0, 2, 1]).mean(2))


class Bert(nn.Layer):
    """A small BERT (6 layers of 384): separate projections, a padding mask."""

    def __init__(self, depth: int = 6, width: int = 384, heads: int = 12) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(1000, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.head = nn.Linear(width, 2)

    def forward(self, ids: Any) -> Any:
        padding = (ids == 0).astype("float32").unsqueeze([1, 2]) * -1e4
        ones = paddle.ones_like(ids)
        embedded = self.words(ids) + self.places(paddle.cumsum(ones, axis=1) - ones)
        return self.head(self.encoder(self.norm(embedded), padding)[:, 0])


IMAGE = ("x", [3, 224, 224], "float32")
NETWORKS: dict[str, tuple[Any, tuple[str, list[int], str]]] = {
    "swin_tiny": (Swin, IMAGE),
    "bert_small": (Bert, ("ids", [-1], "int64")),
}
"""Name -> (layer, (input, its shape without the batch, its type))."""
