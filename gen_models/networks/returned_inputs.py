"""Networks of which an input, or what is the same as one, is a result, run with a large input before smaller ones."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor

_LENGTHS = (40, 3, 20, 2, 41, 1)


def _identities_forward(self, x):
    twice = paddle.transpose(paddle.transpose(x, [1, 0, 2]), [1, 0, 2])
    padded = paddle.nn.functional.pad(x.unsqueeze(0), [0, 0, 0, 0])
    return paddle.transpose(x, [0, 1, 2]), twice, padded, x.flatten()


def _cast_forward(self, x):
    return paddle.cast(x, x.dtype) + 0.0, paddle.transpose(x, [0, 1, 2]), paddle.exp(x)


def _there_and_back_forward(self, x):
    doubled = paddle.cast(paddle.cast(x, "float64"), "float32")
    halved = paddle.cast(paddle.transpose(paddle.cast(x, "float64"), [0, 1, 2]) * 1.0, "float32")
    return doubled, halved, paddle.cast(paddle.cast(paddle.cast(x, "float64") + 0.0, "float32"), "float64")


def _branch_forward(self, x, y):
    if x.sum() > 0.0:
        out = y
    else:
        out = x
    return out


def _same_branches_forward(self, x, y):
    if x.sum() > 0.0:
        first, second = y, y
    else:
        first, second = y, y
    return first, paddle.flatten(second / 2.0)


def _unchanged_forward(self, x, count):
    kept, i = paddle.assign(x), paddle.zeros([1], "int64")
    while i < count:
        i = i + 1
    return kept, i


def _x(length):
    return tensor([length, length + 2, 4], dims=[-1, -1, 4], low=-1, high=1 if length % 2 else 3)


def _one(length):
    return {"x": _x(length)}


def _two(length):
    return {"x": _x(length), "y": tensor([length + 5, length, 4], dims=[-1, -1, 4])}


def _counted(length):
    return {"x": _x(length), "count": tensor([1], "int64", values=[length % 3])}


def _network(name: str, forward: Any, inputs: Any) -> Network:
    first, *more = map(inputs, _LENGTHS)
    return Network(f"returned_{name}", layer_of(forward), first, more=more)


NETWORKS = [
    _network("identities", _identities_forward, _one),
    _network("casts", _cast_forward, _one),
    _network("casts_there_and_back", _there_and_back_forward, _one),
    _network("of_a_branch", _branch_forward, _two),
    _network("of_both_branches", _same_branches_forward, _two),
    _network("of_a_loop", _unchanged_forward, _counted),
]
