"""Whole networks whose loops carry, replace or only read values."""

from gen_models.harness.marks import pir
from gen_models.harness.network import network_of
from gen_models.harness.spec import int64s, paddle, tensor


def _replaced_in_loop_of_known_size(self, x, n):
    """Loop-carried values that the body replaces without reading them, of which at most the size is read afterwards."""
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


def _handed_on(self, x, n):
    """Loop-carried values that the body permutes: a history, two that are swapped, one from outside."""
    i = paddle.zeros([1], "int64")
    a, b, c, left, right, last = x, x + 1, x + 2, x * 2, x * 3, x - 1
    while i < n:
        a, b, c = a * 0.5 + c, a, b
        left, right = right, left
        last = x.reshape([-1, 4])
        i = i + 1
    return a, b, c, left, right, last


def _taken_in_turn(self, x):
    """A loop that takes from an order, of known size, until none is left."""
    order, taken = paddle.argsort(x), paddle.zeros([0], "int64")
    while paddle.shape(order)[0] > 0:
        taken = paddle.concat([taken, order[:1]])
        order = paddle.masked_select(order[1:], order[1:] >= 0)
    return taken


def _written_unread(self, x, y, n):
    """Values of several ranks and types that a loop writes and does not read."""
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


def _written_of_other_sizes(self, x, y, n):
    """Loop-carried vectors whose known sizes before a loop and in its body differ."""
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


def _replaced_in_loops(self, x, n, k):
    """A value that an inner loop carries and nothing reads, beside others: OpenVINO drops it from the loop."""
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


def _written_unread_in_loops(self, x, n, k):
    """Such values of loops in loops and in branches, the inner ones with other trip counts."""
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


def _rounds_of_known_size(self, x, k):
    """Loops in a loop whose trip count is a dimension, which is known beside others that are not."""
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


def _read_in_every_iteration(self, x, y, n):
    """A loop with layers over tensors of outside, and over views of them, that compute in place."""
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


def _rounds(rows, others, n, k=None):
    """Inputs of the networks that write values which no iteration reads: tensors and trip counts."""
    x = tensor([rows, 4], low=-1.0, high=1.0, dims=[-1, 4])
    if k is not None:
        return {"x": x, "n": tensor([], "int64", values=n), "k": tensor([], "int64", values=k)}
    return {"x": x, "y": tensor([others, 4], low=-1.0, high=1.0, dims=[-1, 4]), "n": tensor([], "int64", values=n)}


def _counted(self, x):
    """Results as long as loops run: of a recurrent layer, of concatenations, of writes to arrays and to elements."""
    length = paddle.shape(x)[1]
    joined, first = x.mean(1, keepdim=True), x.sum(1, keepdim=True)
    i = paddle.full([], 2, length.dtype)
    while i <= length:
        joined = paddle.concat([first, paddle.concat([joined, first * 2], 1)], 1)
        i = i + 2
    written = paddle.zeros_like(x)
    i = length - 1
    while i > -1:
        written[:, i] = x[:, i] * 2
        i = i - 1
    steps = []
    for _ in range(paddle.full([1], 3, "int64")):
        steps.append(first)
    return self.recurrent(x)[0], joined, written, paddle.concat(steps, 1)


_OF_SEVERAL_SIZES = [_rounds(x, y, n) for x, y, n in ((3, 2, 0), (2, 1, 3), (1, 3, 0), (1, 2, 1), (4, 4, 0))]

NETWORKS = [
    network_of(
        _counted,
        {"x": tensor([2, 5, 4], dims=[-1, -1, 4])},
        {"x": tensor([3, 1, 4])},
        parts=lambda: {"recurrent": paddle.nn.RNN(paddle.nn.GRUCell(4, 3), is_reverse=True)},
    ),
    network_of(
        _handed_on,
        {"x": tensor([3, 4], low=0.1, high=1.0, dims=[-1, 4]), "n": int64s(3)},
        {"x": tensor([2, 4]), "n": int64s(4)},
    ),
    network_of(
        _read_in_every_iteration,
        *({"x": tensor([3, 4]), "y": tensor([2, 4]), "n": tensor([], "int64", values=n)} for n in (4, 3, 0, 1)),
        parts=lambda: {"norm": paddle.nn.LayerNorm(4)},
    ),
    network_of(_replaced_in_loop_of_known_size, *({"x": tensor([3, 4]), "n": int64s(count)} for count in (0, 2, 0))),
    network_of(
        _replaced_in_loops,
        *(_rounds(x, 0, n, k) for x, n, k in ((3, 0, 0), (2, 3, 2), (4, 1, 2), (1, 3, 0), (2, 0, 3))),
    ),
    network_of(
        _rounds_of_known_size,
        {"x": tensor([3, 4, 6], low=-1.0, high=1.0, dims=[3, -1, 6]), "k": int64s(0, 1, -3, dims=[3])},
        {"x": tensor([3, 1, 6], low=-1.0, high=1.0), "k": int64s(1, 1, -2)},
    ),
    network_of(_taken_in_turn, {"x": tensor([1])}, **pir("Paddle 2 cannot compute with tensors without elements")),
    network_of(_written_of_other_sizes, *_OF_SEVERAL_SIZES),
    network_of(_written_unread, *_OF_SEVERAL_SIZES),
    network_of(
        _written_unread_in_loops,
        *(_rounds(x, 0, n, k) for x, n, k in ((3, 0, 2), (2, 3, 0), (4, 3, 2), (1, 1, 3), (2, 0, 0))),
    ),
]
