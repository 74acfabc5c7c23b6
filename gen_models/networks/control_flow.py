"""Whole networks with branches, loops and tensor arrays, written in dygraph and exported with `to_static`.

The classes are made on first use, since their base class is Paddle's.
"""

from __future__ import annotations

from typing import Any

from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _branch_shapes() -> Any:
    """Branches whose results differ in shape."""

    class Branch(paddle.nn.Layer):
        def forward(self, x):
            if x.mean() > 0:
                y = paddle.concat([x, x], 0)
                z = x
            else:
                y = x[:1]
                z = x + 1
            return y, z

    return Branch()


def _one_sided() -> Any:
    """Variables that only one branch defines, of another type and rank than what Paddle 2 puts in their place."""

    class OneSided(paddle.nn.Layer):
        def forward(self, x):
            length = paddle.shape(x)[1]
            causal = None
            if length > 1:
                causal = paddle.tril(paddle.ones([length, length], "bool")).unsqueeze([0, 1])
            bias = None
            if length > 1:
                bias = paddle.triu(paddle.full([length, length], -1e4), 1).unsqueeze([0, 1])
            allowed = (x > -0.5).unsqueeze([1, 2])
            if causal is not None:
                allowed = allowed & causal
            scores = paddle.where(allowed, (x.unsqueeze(1) * x.unsqueeze(2)).unsqueeze(1), bias)
            return paddle.nn.functional.softmax(scores, -1)

    return OneSided()


def _marked() -> Any:
    """Rows written in place where there are any; for the branch that writes none, Paddle 2 puts a number."""

    class Marked(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.marks = paddle.nn.Embedding(2, 4)

        def forward(self, x, labels):
            points = paddle.sin(x)
            points[labels == -1] = 0.0
            if points[labels == 1].shape[0] != 0:
                points[labels == 1] += self.marks.weight[1]
            return points

    return Marked()


def _nested() -> Any:
    """A branch inside a loop, and a value that only one of its sides changes."""

    class Nested(paddle.nn.Layer):
        def forward(self, x, n):
            i = paddle.zeros([1], "int64")
            total = x * 0
            while i < n:
                if i % 2 == 0:
                    total = total + x * 2
                else:
                    total = total - x
                i = i + 1
            values, where = paddle.topk(total, 2, axis=-1)
            return values, where, i

    return Nested()


def _best_masks() -> Any:
    """SOLOv2's last steps: of the masks above a threshold the best few, resized to the image, or all in order."""

    class Masks(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.scores = paddle.nn.Conv2D(8, 4, 3, padding=1)
            self.kernels = paddle.nn.Conv2D(8, 8, 3, padding=1)

        def forward(self, features, size):
            scores = paddle.nn.functional.sigmoid(self.scores(features)).transpose([0, 2, 3, 1]).flatten(0, 2)
            kernels = self.kernels(features).transpose([0, 2, 3, 1]).reshape([-1, 8])
            found = paddle.nonzero(scores > 0.5)
            kernels = paddle.gather(kernels, found[:, 0])
            scores = paddle.gather_nd(scores, found)
            masks = paddle.nn.functional.conv2d(features, kernels.unsqueeze([2, 3]))
            masks = paddle.nn.functional.sigmoid(masks).squeeze(0)
            if scores.shape[0] > 50:
                _, best = paddle.topk(scores, 50)
            else:
                best = paddle.argsort(scores, descending=True)
            masks, scores = paddle.gather(masks, best), paddle.gather(scores, best)
            masks = paddle.nn.functional.interpolate(masks.unsqueeze(0), scale_factor=4, mode="bilinear")
            height, width = size[0, 0].astype("int32"), size[0, 1].astype("int32")
            masks = masks[:, :, :height, :width]
            return paddle.nn.functional.interpolate(masks, size=[height, width], mode="bilinear"), scores

    return Masks()


def _growing() -> Any:
    """A loop-carried tensor that grows."""

    class Growing(paddle.nn.Layer):
        def forward(self, x, n):
            out = x[:, :1]
            i = paddle.zeros([1], "int64")
            while i < n:
                out = paddle.concat([out, x * (i.astype("float32") + 1)], axis=1)
                i = i + 1
            return out

    return Growing()


def _array() -> Any:
    """A list that a loop appends to, concatenated afterwards."""

    class Array(paddle.nn.Layer):
        def forward(self, x):
            rows = []
            i = paddle.full([1], 0, "int64")
            n = x.shape[0]
            while i < n:
                rows.append(x[i] * 2)
                i += 1
            return paddle.concat(rows, axis=0)

    return Array()


def _array_of_slices() -> Any:
    """A list whose elements are smaller than any size that its loop knows of beforehand."""

    class Slices(paddle.nn.Layer):
        def forward(self, x):
            parts = []
            i = paddle.full([1], 0, "int64")
            n = x.shape[0]
            while i < n:
                parts.append(x[i : i + 1] * 2)
                i += 1
            return paddle.concat(parts, axis=0)

    return Slices()


def _array_without_its_first() -> Any:
    """A list that a loop takes elements from."""

    class Kept(paddle.nn.Layer):
        def forward(self, x):
            kept = []
            i = paddle.full([1], 0, "int64")
            n = x.shape[0]
            while i < n:
                kept.append(x[i] * 2)
                kept.append(x[i] * 3)
                kept.pop(0)
                i += 1
            return paddle.concat(kept, axis=0)

    return Kept()


def _array_without_some() -> Any:
    """A list that a branch takes its last element from."""

    class Kept(paddle.nn.Layer):
        def forward(self, x):
            kept = []
            i = paddle.full([1], 0, "int64")
            n = x.shape[0]
            while i < n:
                kept.append(x[i] * 2)
                if x[i].sum() > 1:
                    kept.pop()
                i += 1
            return paddle.concat(kept, axis=0)

    return Kept()


def _array_of_selections() -> Any:
    """Lists that a loop over the images fills with as much as each of them has, as detectors do with their boxes."""

    class Selections(paddle.nn.Layer):
        def forward(self, x):
            parts, counts = [], []
            for i in range(x.shape[0]):
                row = x[i]
                place = paddle.nonzero(row[:, 0] > 0)
                found = paddle.concat([row[:1], paddle.reshape(paddle.gather(row, paddle.flatten(place)), [-1, 3])])
                if paddle.shape(found)[0] > 2:
                    found = found[:2] * 3
                parts.append(found)
                counts.append(paddle.shape(found)[0:1])
            return paddle.concat(parts), paddle.concat(counts)

    return Selections()


def _handed_on() -> Any:
    """Values of a round that are others in the next one: a history, two that change places, one from outside."""

    class HandedOn(paddle.nn.Layer):
        def forward(self, x, n):
            i = paddle.zeros([1], "int64")
            a, b, c, left, right, last = x, x + 1, x + 2, x * 2, x * 3, x - 1
            while i < n:
                a, b, c = a * 0.5 + c, a, b
                left, right = right, left
                last = x.reshape([-1, 4])
                i = i + 1
            return a, b, c, left, right, last

    return HandedOn()


def _greedy_decoder() -> Any:
    """Greedy decoding: a cell in a loop, a list of tokens, an early end."""

    class Decoder(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = paddle.nn.Embedding(10, 8)
            self.cell = paddle.nn.GRUCell(8, 8)
            self.head = paddle.nn.Linear(8, 10)

        def forward(self, state):
            token = paddle.zeros([state.shape[0]], "int64")
            tokens = []
            for _ in range(paddle.full([1], 6, "int64")):
                out, state = self.cell(self.embedding(token), state)
                token = self.head(out).argmax(-1)
                tokens.append(token)
                if (token == 3).all():
                    break
            return paddle.stack(tokens, axis=1), state

    return Decoder()


def _cache_that_may_be_empty() -> Any:
    """Keys behind those of a cache, as of streaming speech recognisers: the first one has no dimension but 0."""

    class Cached(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = paddle.nn.Linear(16, 16), paddle.nn.Linear(16, 16)

        def heads(self, x):
            return x.reshape([paddle.shape(x)[0], -1, 2, 8]).transpose([0, 2, 1, 3])

        def forward(self, x, cache):
            query, key = self.heads(self.query(x)), self.heads(self.key(x))
            if paddle.shape(cache)[0] > 0:
                key = paddle.concat([cache, key], axis=2)
            first = paddle.squeeze(cache[0:1], axis=0)
            return paddle.matmul(query, key, transpose_y=True), key, paddle.shape(first)[2]

    return Cached()


def _joined_where_they_fit() -> Any:
    """What a branch demands of sizes holds in that branch alone, and what a loop does where it has a round."""

    class Joined(paddle.nn.Layer):
        def forward(self, x, y, n):
            doubled = y * 2
            if paddle.shape(x)[1] == paddle.shape(y)[1]:
                z = paddle.concat([x, doubled], axis=0)
            else:
                z = doubled
            looped = doubled
            i = paddle.zeros([1], "int64")
            while i < n:
                looped = paddle.concat([x, looped], axis=0)
                i = i + 1
            return z, looped, paddle.zeros([paddle.shape(x)[1], paddle.shape(doubled)[1]])

    return Joined()


_MATRIX = {"x": tensor([3, 4], low=0.1, high=1.0, dims=[-1, 4])}
_COUNTED = {**_MATRIX, "n": tensor([1], "int64", values=[3])}

NETWORKS = [
    Network("array", _array, _MATRIX, more=[{"x": tensor([5, 4])}]),
    Network(
        "array_of_selections",
        _array_of_selections,
        {"x": tensor([2, 5, 3], dims=[-1, -1, 3])},
        more=[{"x": tensor([1, 2, 3])}, {"x": tensor([4, 3, 3])}],
        formats=("legacy",),
        why="Paddle 3 joins elements of one shape only",
    ),
    Network("array_of_slices", _array_of_slices, {"x": tensor([3], dims=[-1])}, more=[{"x": tensor([5])}]),
    Network("array_without_its_first", _array_without_its_first, _MATRIX, more=[{"x": tensor([5, 4])}]),
    Network(
        "array_without_some",
        _array_without_some,
        {"x": tensor([3, 4], values=[[1, 2, 3, 4], [-1, 0, 1, 0.5], [0.5, 0.5, 0.5, 0.5]], dims=[-1, 4])},
        more=[{"x": tensor([2, 4], values=[[1, -1, 0, 0.5], [0, 0, 0.25, 0]])}],
        formats=("legacy",),
        why="Paddle 3 cannot save it",
    ),
    Network(
        "best_masks",
        _best_masks,
        {
            "features": tensor([1, 8, 24, 20], dims=[1, 8, -1, -1]),
            "size": tensor([1, 2], values=[[80, 75]], dims=[1, 2]),
        },
        more=[{"features": tensor([1, 8, 2, 2]), "size": tensor([1, 2], values=[[8, 7]])}],
    ),
    Network("branch_shapes", _branch_shapes, _MATRIX, more=[{"x": tensor([2, 4], low=-1.0, high=-0.1)}]),
    Network(
        "cache_that_may_be_empty",
        _cache_that_may_be_empty,
        {"x": tensor([1, 4, 16], dims=[-1, -1, 16]), "cache": tensor([0, 0, 0, 0], dims=[-1, -1, -1, -1])},
        more=[{"x": tensor([2, 3, 16]), "cache": tensor([2, 2, 5, 8])}],
    ),
    Network(
        "greedy_decoder", _greedy_decoder, {"state": tensor([2, 8], dims=[-1, 8])}, more=[{"state": tensor([1, 8])}]
    ),
    Network("growing", _growing, _COUNTED, more=[{"x": tensor([2, 4]), "n": tensor([1], "int64", values=[0])}]),
    Network("handed_on", _handed_on, _COUNTED, more=[{"x": tensor([2, 4]), "n": tensor([1], "int64", values=[4])}]),
    Network(
        "joined_where_they_fit",
        _joined_where_they_fit,
        {
            "x": tensor([2, 3, 4], dims=[-1, -1, 4]),
            "y": tensor([1, 5, 4], dims=[-1, -1, 4]),
            "n": tensor([1], "int64", values=[0]),
        },
        more=[{"x": tensor([2, 3, 4]), "y": tensor([1, 3, 4]), "n": tensor([1], "int64", values=[2])}],
    ),
    Network(
        "marked",
        _marked,
        {
            "x": tensor([2, 3, 4], dims=[-1, -1, 4]),
            "labels": tensor([2, 3], "int64", values=[[1, 0, -1], [0, 1, 1]], dims=[-1, -1]),
        },
        more=[{"x": tensor([1, 2, 4]), "labels": tensor([1, 2], "int64", values=[[-1, 1]])}],
    ),
    Network("nested", _nested, _COUNTED, more=[{"x": tensor([1, 4]), "n": tensor([1], "int64", values=[4])}]),
    Network(
        "one_sided",
        _one_sided,
        {"x": tensor([2, 5], dims=[-1, -1])},
        more=[{"x": tensor([1, 3])}],
        formats=("legacy",),
        why="Paddle 3 does not export a variable that one branch leaves undefined",
    ),
]
