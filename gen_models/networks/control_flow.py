"""Whole networks with branches, loops and tensor arrays, written in dygraph and exported with `to_static`."""

from gen_models.harness.building import layer_of
from gen_models.harness.marks import legacy
from gen_models.harness.network import Network, network_of
from gen_models.harness.spec import int64s, paddle, tensor


def _branch_shapes(self, x):
    """Branches whose results differ in shape."""
    if x.mean() > 0:
        y = paddle.concat([x, x], 0)
        z = x
    else:
        y = x[:1]
        z = x + 1
    return y, z


def _one_round(self, x):
    """An assignment in a loop over an axis of size 1, which is that of its last axis."""
    y = paddle.assign(x)
    for i in range(paddle.shape(x)[2]):
        y[0, : y.shape[1] - 1, i] = 0.5
    return y


def _one_sided(self, x):
    """Variables that only one branch defines, of another type and rank than what Paddle 2 puts in their place."""
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


def _marked(self, x, labels):
    """Rows written in place where there are any; for the branch that writes none, Paddle 2 puts a number."""
    points = paddle.sin(x)
    points[labels == -1] = 0.0
    if points[labels == 1].shape[0] != 0:
        points[labels == 1] += self.marks.weight[1]
    return points


def _nested(self, x, n):
    """A branch inside a loop, and a value that only one of its sides changes."""
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


def _best_masks_parts():
    return {"scores": paddle.nn.Conv2D(8, 4, 3, padding=1), "kernels": paddle.nn.Conv2D(8, 8, 3, padding=1)}


def _best_masks(self, features, size):
    """SOLOv2's last steps: of the masks above a threshold the best few, resized to the image, or all in order."""
    scores = paddle.nn.functional.sigmoid(self.scores(features)).transpose([0, 2, 3, 1]).flatten(0, 2)
    kernels = self.kernels(features).transpose([0, 2, 3, 1]).reshape([-1, 8])
    indices = paddle.nonzero(scores > 0.5)
    kernels = paddle.gather(kernels, indices[:, 0])
    scores = paddle.gather_nd(scores, indices)
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


def _growing(self, x, n):
    """A loop-carried tensor that grows."""
    out = x[:, :1]
    i = paddle.zeros([1], "int64")
    while i < n:
        out = paddle.concat([out, x * (i.astype("float32") + 1)], axis=1)
        i = i + 1
    return out


def _array(self, x):
    """A list that a loop appends to, concatenated afterwards."""
    elements = []
    i = paddle.full([1], 0, "int64")
    n = x.shape[0]
    while i < n:
        elements.append(self.element(x, i))
        i += 1
    return paddle.concat(elements, axis=0)


def _row(x, i):
    return x[i] * 2


def _slice(x, i):
    """An element smaller than any size that its loop knows of beforehand."""
    return x[i : i + 1] * 2


def _array_without_its_first(self, x):
    """A list that a loop takes elements from."""
    kept = []
    i = paddle.full([1], 0, "int64")
    n = x.shape[0]
    while i < n:
        kept.append(x[i] * 2)
        kept.append(x[i] * 3)
        kept.pop(0)
        i += 1
    return paddle.concat(kept, axis=0)


def _array_without_some(self, x):
    """A list that a branch takes its last element from."""
    kept = []
    i = paddle.full([1], 0, "int64")
    n = x.shape[0]
    while i < n:
        kept.append(x[i] * 2)
        if x[i].sum() > 1:
            kept.pop()
        i += 1
    return paddle.concat(kept, axis=0)


def _array_of_selections(self, x):
    """Lists that a loop over the images fills with as much as each of them has, as detectors do with their boxes."""
    parts, columns, counts = [], [], []
    for i in range(x.shape[0]):
        row = x[i]
        place = paddle.nonzero(row[:, 0] > 0)
        gathered = paddle.concat([row[:1], paddle.reshape(paddle.gather(row, paddle.flatten(place)), [-1, 3])])
        if paddle.shape(gathered)[0] > 2:
            gathered = gathered[:2] * 3
        parts.append(gathered)
        columns.append(paddle.transpose(gathered, [1, 0]))
        counts.append(paddle.shape(gathered)[0:1])
    return paddle.concat(parts), paddle.concat(columns, axis=1), paddle.concat(counts)


def _greedy_decoder_parts():
    return {"embedding": paddle.nn.Embedding(10, 8), "cell": paddle.nn.GRUCell(8, 8), "head": paddle.nn.Linear(8, 10)}


def _greedy_decoder(self, state):
    """Greedy decoding: a cell in a loop, a list of tokens, an early end."""
    token = paddle.zeros([state.shape[0]], "int64")
    tokens = []
    for _ in range(paddle.full([1], 6, "int64")):
        out, state = self.cell(self.embedding(token), state)
        token = self.head(out).argmax(-1)
        tokens.append(token)
        if (token == 3).all():
            break
    return paddle.stack(tokens, axis=1), state


def _heads(x):
    return x.reshape([paddle.shape(x)[0], -1, 2, 8]).transpose([0, 2, 1, 3])


def _cache_that_may_be_empty(self, x, cache):
    """Keys behind those of a cache, as of streaming speech recognisers: the first one has no dimension but 0."""
    query, key = _heads(self.query(x)), _heads(self.key(x))
    if paddle.shape(cache)[0] > 0:
        key = paddle.concat([cache, key], axis=2)
    first = paddle.squeeze(cache[0:1], axis=0)
    return paddle.matmul(query, key, transpose_y=True), key, paddle.shape(first)[2]


def _joined_where_they_fit(self, x, y, n):
    """Sizes that a branch makes equal are so in that branch only; those that a loop does, if it has an iteration."""
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


def _masked_by_width(self, features, ratios):
    """Attention over images of several widths, as the text recogniser SAR has it: nothing is read beyond the width."""
    width = paddle.shape(features)[3]
    scores = features.sum(1, keepdim=True)
    for i in range(paddle.shape(ratios)[0]):
        valid = paddle.ceil(width.astype("float32") * ratios[i]).astype(width.dtype)
        if valid < width:
            scores[i, :, :, valid:] = float("-inf")
    weights = paddle.nn.functional.softmax(scores.flatten(1), -1).reshape(paddle.shape(scores))
    return (features * weights).sum([2, 3])


_MATRIX = {"x": tensor([3, 4], low=0.1, high=1.0, dims=[-1, 4])}


_COUNTED = {**_MATRIX, "n": int64s(3)}


NETWORKS = [
    network_of(_array, _MATRIX, {"x": tensor([5, 4])}, parts=lambda: {"element": _row}),
    network_of(
        _array_of_selections,
        {"x": tensor([2, 5, 3], dims=[-1, -1, 3])},
        *({"x": tensor([1, 2, 3])}, {"x": tensor([4, 3, 3])}),
        **legacy("Paddle 3 joins elements of one shape only"),
    ),
    Network(
        "array_of_slices",
        layer_of(_array, lambda: {"element": _slice}),
        {"x": tensor([3], dims=[-1])},
        more=[{"x": tensor([5])}],
    ),
    network_of(_array_without_its_first, _MATRIX, {"x": tensor([5, 4])}),
    network_of(
        _array_without_some,
        {"x": tensor([3, 4], values=[[1, 2, 3, 4], [-1, 0, 1, 0.5], [0.5, 0.5, 0.5, 0.5]], dims=[-1, 4])},
        {"x": tensor([2, 4], values=[[1, -1, 0, 0.5], [0, 0, 0.25, 0]])},
        **legacy("Paddle 3 cannot save it"),
    ),
    network_of(
        _best_masks,
        {
            "features": tensor([1, 8, 24, 20], dims=[1, 8, -1, -1]),
            "size": tensor([1, 2], values=[[80, 75]], dims=[1, 2]),
        },
        {"features": tensor([1, 8, 2, 2]), "size": tensor([1, 2], values=[[8, 7]])},
        parts=_best_masks_parts,
    ),
    network_of(_branch_shapes, _MATRIX, {"x": tensor([2, 4], low=-1.0, high=-0.1)}),
    network_of(
        _cache_that_may_be_empty,
        {"x": tensor([1, 4, 16], dims=[-1, -1, 16]), "cache": tensor([0, 0, 0, 0], dims=[-1, -1, -1, -1])},
        {"x": tensor([2, 3, 16]), "cache": tensor([2, 2, 5, 8])},
        parts=lambda: {name: paddle.nn.Linear(16, 16) for name in ("query", "key")},
    ),
    network_of(
        _greedy_decoder, {"state": tensor([2, 8], dims=[-1, 8])}, {"state": tensor([1, 8])}, parts=_greedy_decoder_parts
    ),
    network_of(_growing, _COUNTED, {"x": tensor([2, 4]), "n": int64s(0)}),
    network_of(
        _joined_where_they_fit,
        {"x": tensor([2, 3, 4], dims=[-1, -1, 4]), "y": tensor([1, 5, 4], dims=[-1, -1, 4]), "n": int64s(0)},
        {"x": tensor([2, 3, 4]), "y": tensor([1, 3, 4]), "n": int64s(2)},
    ),
    network_of(
        _marked,
        {
            "x": tensor([2, 3, 4], dims=[-1, -1, 4]),
            "labels": tensor([2, 3], "int64", values=[[1, 0, -1], [0, 1, 1]], dims=[-1, -1]),
        },
        {"x": tensor([1, 2, 4]), "labels": tensor([1, 2], "int64", values=[[-1, 1]])},
        parts=lambda: {"marks": paddle.nn.Embedding(2, 4)},
    ),
    network_of(
        _masked_by_width,
        {"features": tensor([2, 3, 2, 8], dims=[-1, 3, 2, -1]), "ratios": tensor([2], values=[1.0, 0.4], dims=[-1])},
        {"features": tensor([3, 3, 2, 5]), "ratios": tensor([3], values=[0.5, 0.7, 0.2])},
    ),
    network_of(_nested, _COUNTED, {"x": tensor([1, 4]), "n": int64s(4)}),
    network_of(_one_round, {"x": tensor([3, 4, 1])}),
    network_of(
        _one_sided,
        {"x": tensor([2, 5], dims=[-1, -1])},
        {"x": tensor([1, 3])},
        **legacy("Paddle 3 does not export a variable that one branch leaves undefined"),
    ),
]
