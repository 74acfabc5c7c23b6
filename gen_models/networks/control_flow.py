"""Whole networks with branches, loops and tensor arrays, written in dygraph and exported with `to_static`.

The classes are made on first use, since their base class is Paddle's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def _one_round() -> Any:
    """An assignment in a loop over an axis of size 1, which is that of its last axis."""

    class OneRound(paddle.nn.Layer):
        def forward(self, x):
            y = paddle.assign(x)
            for i in range(paddle.shape(x)[2]):
                y[0, : y.shape[1] - 1, i] = 0.5
            return y

    return OneRound()


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


def _replaced_in_loop() -> Any:
    """Loop-carried values that the body replaces without reading them, of which at most the size is read afterwards."""

    class Replaced(paddle.nn.Layer):
        def forward(self, x, n):
            values, order, near, sized, unlike = paddle.sin(x), paddle.argsort(x), x > 0, x * 2, x + 1
            row = paddle.sin(x[0])
            i = paddle.zeros([1], "int64")
            while i < n:
                values = paddle.cos(x)
                order = paddle.argsort(x, descending=True)
                near = x > 0.5
                sized = paddle.exp(x)
                unlike = paddle.zeros_like(unlike)
                row = x[0]
                i = i + 1
            return values, order, near, paddle.ones([sized.shape[0], 2]), unlike, row

    return Replaced()


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


def _listed(element: Callable[[Any, Any], Any]) -> Any:
    class Listed(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.element = element  # Paddle 2 does not see variables around a method

        def forward(self, x):
            found = []
            i = paddle.full([1], 0, "int64")
            n = x.shape[0]
            while i < n:
                found.append(self.element(x, i))
                i += 1
            return paddle.concat(found, axis=0)

    return Listed()


def _row(x, i):
    return x[i] * 2


def _slice(x, i):
    return x[i : i + 1] * 2


def _array() -> Any:
    """A list that a loop appends to, concatenated afterwards."""
    return _listed(_row)


def _array_of_slices() -> Any:
    """A list whose elements are smaller than any size that its loop knows of beforehand."""
    return _listed(_slice)


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
            parts, columns, counts = [], [], []
            for i in range(x.shape[0]):
                row = x[i]
                place = paddle.nonzero(row[:, 0] > 0)
                found = paddle.concat([row[:1], paddle.reshape(paddle.gather(row, paddle.flatten(place)), [-1, 3])])
                if paddle.shape(found)[0] > 2:
                    found = found[:2] * 3
                parts.append(found)
                columns.append(paddle.transpose(found, [1, 0]))
                counts.append(paddle.shape(found)[0:1])
            return paddle.concat(parts), paddle.concat(columns, axis=1), paddle.concat(counts)

    return Selections()


def _handed_on() -> Any:
    """Loop-carried values that the body permutes: a history, two that are swapped, one from outside."""

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


def _written_unread() -> Any:
    """Values of several ranks and types that a loop writes and does not read."""

    class Written(paddle.nn.Layer):
        def forward(self, x, y, n):
            rows, other, total, count, flag = x + 1, y * 2, paddle.sum(x), paddle.shape(y)[0] + 5, paddle.max(y) < 0
            part, best, precise = x[:1], paddle.argmax(y, -1), paddle.cast(y, "float64")
            i = paddle.zeros([], "int64")
            while i < n:
                total, flag = paddle.cast(i, "float32") + 0.5, paddle.mean(x) > 0
                rows, other, part = x * 3, y, paddle.concat([x, y])
                count = paddle.shape(x)[0]
                best, precise = paddle.argmin(x, -1), paddle.cast(x, "float64") * 2
                i = i + 1
            return rows, other, total, count, flag, part, best, precise

    return Written()


def _written_of_other_sizes() -> Any:
    """Loop-carried vectors whose known sizes before a loop and in its body differ."""

    class Written(paddle.nn.Layer):
        def forward(self, x, y, n):
            one, three, some = paddle.sum(x).reshape([1]), paddle.full([3], 2, "int64"), paddle.argmax(x, -1)
            longer, flags = paddle.full([1], 0.5), paddle.max(y).reshape([1]) > 0
            i = paddle.zeros([], "int64")
            while i < n:
                j = paddle.zeros([], "int64")
                while j < n - 1:
                    one = paddle.full([2], 7.0)
                    flags = paddle.full([4], True, "bool")
                    j = j + 1
                three = paddle.reshape(i, [1])
                some = paddle.full([5], 1, "int64")
                longer = paddle.concat([longer, paddle.sum(y).reshape([1]), paddle.full([2], 3.0)])
                i = i + 1
            return one, three, some, longer, flags

    return Written()


def _replaced_in_loops() -> Any:
    """A value that an inner loop carries and nothing reads, beside others: OpenVINO drops it from the loop."""

    class Replaced(paddle.nn.Layer):
        def forward(self, x, n, k):
            rows, part, number = paddle.tanh(x), paddle.ones([1, 4]), k + 1
            i = paddle.zeros([], "int64")
            while i < k:
                i = i + 1
                number = i
                j = paddle.zeros([], "int64")
                while j < n - 1:
                    rows = x
                    part = part[:1]
                    j = j + 1
                rows = x.reshape([-1, 4])
            return rows, part, number

    return Replaced()


def _written_unread_in_loops() -> Any:
    """Such values of loops in loops and in branches, the inner ones with other trip counts."""

    class Nested(paddle.nn.Layer):
        def forward(self, x, n, k):
            first, second, third, number = x + 1, x * 2, x - 1, paddle.sum(x)
            i = paddle.zeros([], "int64")
            while i < n:
                j = paddle.zeros([], "int64")
                while j < k:
                    first, number = paddle.tanh(x), paddle.max(x)
                    j = j + 1
                if k > 1:
                    m = paddle.zeros([], "int64")
                    while m < n - 1:
                        second = paddle.concat([x, x])
                        m = m + 1
                else:
                    third = x[1:]
                i = i + 1
            if k < 3:
                i = i * 0
                while i < n - k:
                    third = first + 1
                    i = i + 1
            return first, second, third, number

    return Nested()


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
    """Sizes that a branch makes equal are so in that branch only; those that a loop does, if it has an iteration."""

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


def _assigned(a, b, c, d, e, f, i, k, v):
    """Elements written at an index from a loop and along open, counted, stepped and computed bounds."""
    a[i, :, 3:] = -5.0
    b[i, :, k[i] :] = v[i, 0]
    c[..., k[i] :] = v[i, 0] * 2 + i.astype("float32")
    d[i, 1:, ::2] = paddle.mean(v)
    e[:, i:, 1 : k[i]] = v[:, :1].unsqueeze(1) + e[:, i:, 1 : k[i]]
    f[-1, :-1] = i.astype("float32")
    f[i, ::-1, 4:] = f[i, :, 4:] * 0.5
    return a, b, c, d, e, f


def _assigned_in_loop() -> Any:
    """Assignments to elements in a loop."""

    class Loop(paddle.nn.Layer):
        def forward(self, x, v, k, n):
            a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
            i = paddle.zeros([], "int64")
            while i < n:
                a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
                i = i + 1
            return a, b, c, d, e, f

    return Loop()


def _assigned_in_loop_of_branch() -> Any:
    """Assignments to elements in a loop that only one branch has."""

    class LoopOfBranch(paddle.nn.Layer):
        def forward(self, x, v, k, n):
            a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
            if k[0] > 2:
                i = paddle.zeros([], "int64")
                while i < n:
                    a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
                    i = i + 1
            else:
                a, b, c, d, e, f = x + 1, x + 2, x + 3, x + 4, x + 5, x + 6
            return a, b, c, d, e, f

    return LoopOfBranch()


def _assigned_in_branch_of_loop() -> Any:
    """Assignments to elements in some iterations of a loop."""

    class BranchOfLoop(paddle.nn.Layer):
        def forward(self, x, v, k, n):
            a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
            i = paddle.zeros([], "int64")
            while i < n:
                if k[i] > 2:
                    a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
                else:
                    a, b, c, d, e, f = a * 2, b * 2, c * 2, d * 2, e * 2, f * 2
                i = i + 1
            return a, b, c, d, e, f

    return BranchOfLoop()


def _assigned_in_loop_of_loop() -> Any:
    """Assignments to elements in a loop in a loop, at indices from both."""

    class LoopOfLoop(paddle.nn.Layer):
        def forward(self, x, v, k, n):
            a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
            i = paddle.zeros([], "int64")
            while i < n:
                j = paddle.zeros([], "int64")
                while j < n:
                    a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
                    a[i, j:, k[j] :] = v[j, 0]
                    b[j, i, :-1] = b[i, j, :-1] + 1
                    j = j + 1
                i = i + 1
            return a, b, c, d, e, f

    return LoopOfLoop()


def _assigned_in_loop_of_branch_of_loop() -> Any:
    """A branch of a loop with a loop of its own, which writes elements; Paddle 2 writes numbers in their place before.

    Of the variables that only this branch has, it writes a float before the loop, whatever their type.
    """

    class LoopOfBranchOfLoop(paddle.nn.Layer):
        def forward(self, x, k, n):
            y, total = x * 1, paddle.sum(x)
            for i in range(n):
                y[:, ...] = total
                if k[i] > 9:
                    for j in range(n):
                        total = total + paddle.sum(y[j, ::-2])
                else:
                    j = paddle.zeros([], "int64")
                    while j < n:
                        y[j, 1] = paddle.tanh(y[j, 1])
                        y[j, ::-1, 1:] = paddle.cast(i, "float32")
                        j = j + 1
            return y, total

    return LoopOfBranchOfLoop()


def _read_in_loop() -> Any:
    """Slices read in a loop, between open, counted, stepped and computed bounds, in some iterations backwards."""

    class Read(paddle.nn.Layer):
        def forward(self, x, k, n):
            a = paddle.sum(x)
            b, c, d, e = a * 0, a * 0, a * 0, a * 0
            i = paddle.zeros([], "int64")
            while i < n:
                a = a + paddle.sum(x[i, :, 3:])
                b = b * 2 + paddle.sum(x[i, :, k[i] :])
                if k[i] > 2:
                    c = c * 2 + paddle.sum(x[..., k[i] :: -2])
                    d = d - paddle.sum(x[:, -1 : k[i] - 3 : -1, 1:])
                else:
                    c = c - paddle.sum(x[i, i:, :-2])
                e = e * 2 + paddle.sum(x[i, k[i] - 2 : -1, ::2]) * x[i, 1, k[i]]
                i = i + 1
            return a, b, c, d, e

    return Read()


def _rounds_of_known_size() -> Any:
    """Loops in a loop whose trip count is a dimension, which is known beside others that are not."""

    class Rounds(paddle.nn.Layer):
        def forward(self, x, k):
            y = x * 1
            n = paddle.shape(x)[0]
            i = paddle.zeros([], "int64")
            while i < n:
                j = paddle.zeros([], "int64")
                while j < n:
                    y[k[j] : -1] = y[i] * 0.5 + 1
                    j = j + 1
                i = i + 1
            sizes = paddle.shape(x)
            return y, sizes[:1], sizes[1:], sizes[-2:], sizes[-1]

    return Rounds()


def _masked_by_width() -> Any:
    """Attention over images of several widths, as the text recogniser SAR has it: nothing is read beyond the width."""

    class Masked(paddle.nn.Layer):
        def forward(self, features, ratios):
            width = paddle.shape(features)[3]
            scores = features.sum(1, keepdim=True)
            for i in range(paddle.shape(ratios)[0]):
                valid = paddle.ceil(width.astype("float32") * ratios[i]).astype(width.dtype)
                if valid < width:
                    scores[i, :, :, valid:] = float("-inf")
            weights = paddle.nn.functional.softmax(scores.flatten(1), -1).reshape(paddle.shape(scores))
            return (features * weights).sum([2, 3])

    return Masked()


_MATRIX = {"x": tensor([3, 4], low=0.1, high=1.0, dims=[-1, 4])}
_COUNTED = {**_MATRIX, "n": tensor([1], "int64", values=[3])}


def _rows(count: int, columns: int, widths: list[int], rounds: int, declared: list[int] | None = None) -> Any:
    """Inputs of the networks that write and read elements: a tensor, a value and a width for each row, trip counts."""
    dims = declared or [-1, -1, -1]
    return {
        "x": tensor([count, 4, columns], low=-1.0, high=1.0, dims=dims),
        "v": tensor([count, 5], low=-1.0, high=1.0, dims=[dims[0], 5]),
        "k": tensor([count], "int64", values=widths, dims=dims[:1]),
        "n": tensor([], "int64", values=rounds),
    }


def _assigning(name: str, build: Callable[[], Any], leaving: Sequence[str] = ()) -> list[Network]:
    """A network with unknown and with known sizes."""
    sets = [_rows(2, 6, [3, 2], 2), _rows(3, 7, [2, 3, 4], 3), _rows(1, 5, [3], 1)]
    fixed = [_rows(2, 6, [3, 2], 2, [2, 4, 6]), _rows(2, 6, [2, 4], 2, [2, 4, 6])]
    for one in (*sets, *fixed):
        for left in leaving:
            del one[left]
    return [
        Network(name, build, sets[0], more=sets[1:]),
        Network(f"{name}_of_known_size", build, fixed[0], more=fixed[1:]),
    ]


def _read_in_every_iteration() -> Any:
    """A loop with layers over tensors of outside, and over views of them, that compute in place."""

    class ReadInEveryIteration(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.norm = paddle.nn.LayerNorm(4)

        def forward(self, x, y, n):
            total = x.mean(0)
            wide, tall, flat, long = x * 1.5, y - 0.5, x + 0.25, y * 0.75  # each has one reader in the loop
            index = paddle.zeros([1], "int64")
            i = paddle.zeros([], "int64")
            while i < n:
                normed = self.norm(wide).sum(0) + paddle.nn.functional.softmax(tall, 0).max(0)
                total = total * 0.5 + normed + paddle.nn.functional.silu(flat.unsqueeze(0)).sum([0, 1])
                total = total + paddle.scatter(long, index, (total * 0.1).unsqueeze(0)).max(0)
                i = i + 1
            return total

    return ReadInEveryIteration()


def _rounds(rows: int, others: int, n: int, k: int | None = None) -> Any:
    """Inputs of the networks that write values which no iteration reads: tensors and trip counts."""
    x = tensor([rows, 4], low=-1.0, high=1.0, dims=[-1, 4])
    if k is not None:
        return {"x": x, "n": tensor([], "int64", values=n), "k": tensor([], "int64", values=k)}
    return {"x": x, "y": tensor([others, 4], low=-1.0, high=1.0, dims=[-1, 4]), "n": tensor([], "int64", values=n)}


NETWORKS = [
    *_assigning("assigned_in_branch_of_loop", _assigned_in_branch_of_loop),
    *_assigning("assigned_in_loop", _assigned_in_loop),
    *_assigning("assigned_in_loop_of_branch", _assigned_in_loop_of_branch),
    *_assigning("assigned_in_loop_of_branch_of_loop", _assigned_in_loop_of_branch_of_loop, leaving=("v",)),
    *_assigning("assigned_in_loop_of_loop", _assigned_in_loop_of_loop),
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
    Network(
        "masked_by_width",
        _masked_by_width,
        {
            "features": tensor([2, 3, 2, 8], dims=[-1, 3, 2, -1]),
            "ratios": tensor([2], values=[1.0, 0.4], dims=[-1]),
        },
        more=[{"features": tensor([3, 3, 2, 5]), "ratios": tensor([3], values=[0.5, 0.7, 0.2])}],
    ),
    Network("nested", _nested, _COUNTED, more=[{"x": tensor([1, 4]), "n": tensor([1], "int64", values=[4])}]),
    Network("one_round", _one_round, {"x": tensor([3, 4, 1])}),
    Network(
        "one_sided",
        _one_sided,
        {"x": tensor([2, 5], dims=[-1, -1])},
        more=[{"x": tensor([1, 3])}],
        formats=("legacy",),
        why="Paddle 3 does not export a variable that one branch leaves undefined",
    ),
    Network(
        "read_in_every_iteration",
        _read_in_every_iteration,
        {"x": tensor([3, 4]), "y": tensor([2, 4]), "n": tensor([], "int64", values=4)},
        more=[{"x": tensor([3, 4]), "y": tensor([2, 4]), "n": tensor([], "int64", values=n)} for n in (3, 0, 1)],
    ),
    *_assigning("read_in_loop", _read_in_loop, leaving=("v",)),
    *(
        Network(
            f"replaced_in_loop{name}",
            _replaced_in_loop,
            {"x": tensor([3, 4], dims=dims), "n": tensor([1], "int64", values=[0])},
            more=[{"x": tensor([3, 4]), "n": tensor([1], "int64", values=[count])} for count in (2, 0)],
        )
        for name, dims in (("", [-1, -1]), ("_of_known_size", [3, 4]))
    ),
    Network(
        "replaced_in_loops",
        _replaced_in_loops,
        _rounds(3, 0, 0, 0),
        more=[_rounds(2, 0, 3, 2), _rounds(4, 0, 1, 2), _rounds(1, 0, 3, 0), _rounds(2, 0, 0, 3)],
    ),
    Network(
        "rounds_of_known_size",
        _rounds_of_known_size,
        {
            "x": tensor([3, 4, 6], low=-1.0, high=1.0, dims=[3, -1, 6]),
            "k": tensor([3], "int64", values=[0, 1, -3], dims=[3]),
        },
        more=[
            {"x": tensor([3, 1, 6], low=-1.0, high=1.0), "k": tensor([3], "int64", values=[1, 1, -2])},
        ],
    ),
    Network(
        "written_of_other_sizes",
        _written_of_other_sizes,
        _rounds(3, 2, 0),
        more=[_rounds(2, 1, 3), _rounds(1, 3, 0), _rounds(1, 2, 1), _rounds(4, 4, 0)],
    ),
    Network(
        "written_unread",
        _written_unread,
        _rounds(3, 2, 0),
        more=[_rounds(2, 1, 3), _rounds(1, 3, 0), _rounds(1, 2, 1), _rounds(4, 4, 0)],
    ),
    Network(
        "written_unread_in_loops",
        _written_unread_in_loops,
        _rounds(3, 0, 0, 2),
        more=[_rounds(2, 0, 3, 0), _rounds(4, 0, 3, 2), _rounds(1, 0, 1, 3), _rounds(2, 0, 0, 0)],
    ),
]
