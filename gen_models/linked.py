"""Random programs whose inputs depend on each other: `linked_program(seed, folder)` writes one as Paddle saves it.

A program starts as a sequence, a graph or an image, and takes one to three steps; most of them read an input more that
must fit: masks, lengths, states and caches of a batch, edges between nodes, indices below a size, sizes that are
multiples. No dimension is declared that may differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gen_models.harness.spec import paddle

_WIDTH = 8


class Draft:
    """A program that is being made: its inputs so far, and what is chosen at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.inputs: list[Any] = []

    def input(self, name, shape, dtype="float32"):
        """A new input of the program; -1 is a dimension that is not known."""
        self.inputs.append(paddle.static.data(f"{name}_{len(self.inputs)}", shape, dtype))
        return self.inputs[-1]

    def table(self, rows, width=_WIDTH):
        """A parameter of random values."""
        value = self.rng.normal(size=(rows, width)).astype(np.float32) / 3
        initializer = paddle.nn.initializer.Assign(value)
        return paddle.create_parameter([rows, width], "float32", default_initializer=initializer)

    def embedded(self, ids, rows):
        """Rows of a parameter."""
        return paddle.nn.functional.embedding(ids, self.table(rows))

    def linear(self, x, out=_WIDTH):
        """The product with a parameter."""
        return paddle.matmul(x, self.table(int(x.shape[-1]), out))

    def one_of(self, *choices):
        """One of several."""
        return choices[self.rng.integers(len(choices))]


def _size(x, axis):
    return paddle.shape(x)[axis]


def _heads(draft, x):
    return paddle.transpose(paddle.reshape(draft.linear(x), [0, 0, 2, 4]), [0, 2, 1, 3])


def _joined_heads(x):
    return paddle.reshape(paddle.transpose(x, [0, 2, 1, 3]), [0, 0, _WIDTH])


def _attend(draft, x, memory, bias=None):
    scores = paddle.matmul(_heads(draft, x), _heads(draft, memory), transpose_y=True)
    weights = paddle.nn.functional.softmax(scores if bias is None else scores + bias)
    return x + _joined_heads(paddle.matmul(weights, _heads(draft, memory)))


def _categories(draft):
    depth = draft.one_of(4, 11)
    return draft.linear(paddle.nn.functional.one_hot(draft.input("kinds", [-1, -1], "int64"), depth))


def _hashed_tokens(draft):
    rows = draft.one_of(7, 100)
    return draft.embedded(draft.input("ids", [-1, -1], "int64") % rows, rows)


def _tokens(draft):
    rows = draft.one_of(3, 50, 1000)
    return draft.embedded(draft.input("ids", [-1, -1], draft.one_of("int64", "int32")), rows)


def _typed_tokens(draft):
    names = ("ids", "token_type_ids", "position_ids")
    parts = [draft.input(name, [-1, -1], "int64") for name in names]
    ids, types, places = (draft.embedded(part, rows) for part, rows in zip(parts, (100, 2, 64), strict=True))
    return ids + types + places


def _mask(draft, x):
    kind = draft.one_of("float32", "int64", "bool")
    return x * draft.input("mask", [-1, -1], kind).astype("float32").unsqueeze(-1)


def _memory(draft, x):
    memory = draft.input("memory", [-1, -1, _WIDTH])
    bias = draft.input("memory_mask", [-1, 1, 1, -1]) if draft.one_of(True, False) else None
    return _attend(draft, x, memory, bias)


def _cache(draft, x):
    keys = paddle.concat([draft.input("past_key", [-1, 2, -1, 4]), _heads(draft, x)], axis=2)
    values = paddle.concat([draft.input("past_value", [-1, 2, -1, 4]), _heads(draft, x)], axis=2)
    scores = paddle.matmul(_heads(draft, x), keys, transpose_y=True)
    if draft.one_of(True, False):
        scores = scores + draft.input("mask", [-1, 1, -1, -1])
    return _joined_heads(paddle.matmul(paddle.nn.functional.softmax(scores), values))


def _lengths(draft, x):
    lengths = draft.input("lengths", [-1], draft.one_of("int64", "int32"))
    longest = None if draft.one_of(True, False, False) else _size(x, 1)
    mask = paddle.nn.functional.sequence_mask(lengths, maxlen=longest, dtype="float32")
    return x * mask.unsqueeze(-1)


def _last_step(draft, x):
    lengths = draft.input("lengths", [-1], "int64")
    places = paddle.stack([paddle.arange(0, _size(x, 0), dtype="int64"), lengths - 1], axis=-1)
    return x + paddle.gather_nd(x, places).unsqueeze(1)


def _recurrent(draft, x):
    layer = draft.one_of(paddle.nn.LSTM, paddle.nn.GRU, paddle.nn.SimpleRNN)
    both = draft.one_of(True, False)
    rnn = layer(_WIDTH, _WIDTH, direction="bidirect" if both else "forward")
    states = [draft.input(name, [1 + both, -1, _WIDTH]) for name in ("h", "c")[: 1 + (layer is paddle.nn.LSTM)]]
    lengths = draft.input("lengths", [-1], "int32") if draft.one_of(True, False) else None
    result, _ = rnn(x, tuple(states) if len(states) == 2 else states[0], lengths)
    return draft.linear(result)


def _joined(draft, x):
    axis = draft.one_of(1, 2)
    return draft.linear(paddle.concat([x, draft.input("more", [-1, -1, _WIDTH])], axis=axis))


def _windows(draft, x):
    size = draft.one_of(4, 8, 32)
    parts = paddle.reshape(x, [_size(x, 0), -1, size, _WIDTH])
    return x + paddle.reshape(paddle.expand_as(parts.mean(2, keepdim=True), parts), paddle.shape(x))


def _gated(draft, x):
    gate = draft.input("gate", draft.one_of([-1, _WIDTH], [-1, 1]))
    return x * paddle.nn.functional.sigmoid(gate).unsqueeze(1)


def _where(draft, x):
    other = draft.input("other", [-1, -1, _WIDTH])
    return paddle.where(draft.input("choice", [-1, -1, 1], "bool"), x, other)


def _picked(draft, x):
    places = draft.input("places", [-1, -1], "int64")
    if draft.one_of(True, False):
        return paddle.take_along_axis(x, paddle.tile(places.unsqueeze(-1), [1, 1, _WIDTH]), 1, broadcast=False)
    flat = paddle.reshape(x, [-1, _WIDTH])
    start = paddle.arange(0, _size(x, 0), dtype="int64").unsqueeze(-1) * _size(x, 1).astype("int64")
    return paddle.reshape(paddle.gather(flat, paddle.flatten(places + start)), [_size(x, 0), -1, _WIDTH])


_SEQUENCES = (  # [batch, steps, 8]
    (_tokens, _typed_tokens, _hashed_tokens, _categories, lambda draft: draft.input("features", [-1, -1, _WIDTH])),
    (
        _mask,
        lambda draft, x: _attend(draft, x, x, (1.0 - draft.input("attention_mask", [-1, 1, 1, -1])) * -10.0),
        lambda draft, x: _attend(draft, x, x, draft.input("pair_mask", [-1, 1, -1, -1])),
        *(_memory, _cache, _lengths, _last_step, _recurrent, _recurrent, _joined, _windows),
        lambda draft, x: x + draft.table(20)[: _size(x, 1)],
        *(_gated, _where),
    ),
    (_picked,),
)


def _edges(draft, x):
    if draft.one_of(True, False):
        edges = draft.input("edges", [2, -1], draft.one_of("int64", "int32"))
        source, target = edges[0], edges[1]
    else:
        source, target = (draft.input(name, [-1], "int64") for name in ("source", "target"))
    messages = paddle.gather(draft.linear(x), source)
    if draft.one_of(True, False):
        messages = messages * draft.input("weights", [-1, 1])
    return x + paddle.scatter(paddle.zeros_like(x), target, messages, overwrite=False)


def _sent(draft, x):
    source, target = (draft.input(name, [-1], "int32") for name in ("source", "target"))
    return x + paddle.geometric.send_u_recv(draft.linear(x), source, target, draft.one_of("sum", "mean", "max"))


def _pairs(draft, x):
    pairs = draft.input("pairs", [-1, 2], "int64")
    return paddle.gather(x, pairs[:, 0]) * paddle.gather(x, pairs[:, 1])


_GRAPHS = (  # [nodes, 8]
    (
        lambda draft: draft.input("nodes", [-1, _WIDTH]),
        lambda draft: draft.embedded(draft.input("node_ids", [-1], "int64"), draft.one_of(5, 200)),
    ),
    (
        *(_edges, _sent),
        lambda draft, x: paddle.matmul(draft.input("adjacency", [-1, -1]), x),
        lambda draft, x: x + draft.embedded(draft.input("types", [-1], "int64"), 3),
        lambda draft, x: paddle.scatter(x, draft.input("rows", [-1], "int64"), draft.input("updates", [-1, _WIDTH])),
    ),
    (
        lambda draft, x: paddle.index_select(x, draft.input("targets", [-1], "int64")),
        lambda draft, x: paddle.geometric.segment_sum(x, paddle.sort(draft.input("segments", [-1], "int64"))),
        _pairs,
    ),
)


def _two_images(draft):
    first, second = draft.input("before", [-1, 3, -1, -1]), draft.input("after", [-1, 3, -1, -1])
    return paddle.nn.Conv2D(6, _WIDTH, 3, padding=1)(paddle.concat([first, second], axis=1))


def _skips(draft, x):
    levels, deep = draft.one_of(1, 3, 5), x
    for _ in range(levels):
        deep = paddle.nn.functional.max_pool2d(deep, 2)
    for _ in range(levels):
        deep = paddle.nn.functional.interpolate(deep, scale_factor=2.0, mode="nearest")
    return paddle.nn.Conv2D(2 * _WIDTH, _WIDTH, 1)(paddle.concat([x, deep], axis=1))


def _image_windows(draft, x):
    size = draft.one_of(2, 4, 7, 32)
    height, width = _size(x, 2), _size(x, 3)
    parts = paddle.reshape(x, [-1, _WIDTH, height // size, size, width // size, size])
    parts = paddle.reshape(paddle.transpose(parts, [0, 2, 4, 3, 5, 1]), [-1, size * size, _WIDTH])
    parts = paddle.reshape(draft.linear(parts), [-1, height // size, width // size, size, size, _WIDTH])
    return paddle.reshape(paddle.transpose(parts, [0, 5, 1, 3, 2, 4]), [-1, _WIDTH, height, width])


def _coarse(draft, x):
    coarse = draft.input("coarse", [-1, _WIDTH, -1, -1])
    return x + paddle.nn.functional.interpolate(coarse, scale_factor=2.0, mode="nearest")


def _points(draft, x):
    places = draft.input("points", [-1, 2], "int64")
    return paddle.gather_nd(paddle.transpose(x, [2, 3, 0, 1]), places)


def _regions(draft, x):
    boxes, number = draft.input("boxes", [-1, 4]), draft.input("boxes_num", [-1], "int32")
    return paddle.vision.ops.roi_align(x, boxes, number, 2)


_IMAGES = (  # [batch, 8, height, width]
    (lambda draft: paddle.nn.Conv2D(3, _WIDTH, 3, padding=1)(draft.input("image", [-1, 3, -1, -1])), _two_images),
    (
        *(_skips, _image_windows, _coarse),
        lambda draft, x: x * draft.input("mask", [-1, 1, -1, -1]),
        lambda draft, x: x + draft.embedded(draft.input("label", [-1], "int64"), 10).unsqueeze([2, 3]),
    ),
    (_points, _regions),
)
_KINDS: tuple[Any, ...] = (_SEQUENCES, _GRAPHS, _IMAGES)
"""Starts, steps that keep the kind of what they take, and steps that may come last."""


def linked_program(seed: int, folder: Path) -> None:
    """Writes a program to a folder as `inference.*`.

    Paddle must be in static mode; the format is the one that it writes.
    """
    draft = Draft(seed)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        paddle.seed(seed)
        starts, steps, ends = _KINDS[seed % len(_KINDS)]
        start = draft.one_of(*starts)
        chosen = [draft.one_of(*steps) for _ in range(draft.rng.integers(1, 4))]
        chosen += [draft.one_of(*ends)] if draft.rng.random() < 1 / 3 else []
        x = start(draft)
        for step in chosen:
            x = step(draft, x)
        executor = paddle.static.Executor(paddle.CPUPlace())
        with paddle.static.scope_guard(paddle.static.Scope()):
            executor.run(startup)
            paddle.static.save_inference_model(str(folder / "inference"), draft.inputs, [x], executor, program=main)
