"""Networks in which a tensor meets another one of more dimensions, or is repeated."""

from __future__ import annotations

from typing import Any

from gen_models.harness.network import network_of
from gen_models.harness.spec import paddle, tensor


def _members():
    weight = paddle.create_parameter([1, 1, 1, 1], "float32", default_initializer=paddle.nn.initializer.Constant(1.5))
    return {"weight": weight}


def _reshaped(x: Any) -> list[Any]:
    """The elements of a matrix behind everything that changes a shape and no data."""
    number = paddle.reshape(paddle.sum(x), [])
    return [x.unsqueeze(1), x.flatten(), paddle.transpose(x, [1, 0]), x.unsqueeze(0).squeeze(0), number, x * 0.5]


def _higher_ranks_operators(self, x):
    """Each operator is the only consumer of what it reads: only then may OpenVINO change their order."""
    single = self.weight
    operators = (
        lambda one: one + single,
        lambda one: single - one,
        lambda one: (one * single).sum(axis=0),
        lambda one: one / single,
        lambda one: paddle.maximum(one, single),
        lambda one: paddle.pow(single, one),
        lambda one: paddle.remainder(one, single),
        lambda one: one * paddle.ones([1, 1, 1, 1]),
    )
    return [operator(item) for i, operator in enumerate(operators) for item in _reshaped(x * (i + 1.0))]


def _higher_ranks_broadcast(self, x, y):
    size = paddle.shape(y)[1]  # 1, which is known once the program is converted
    results = []
    for item in _reshaped(x):
        rank = len(item.shape)
        results.append(paddle.expand(item, [1, *[-1] * rank]) + y.sum())
        if rank:
            results.append(paddle.expand(item.unsqueeze(-1), [size, *[-1] * rank, size]))
        results += paddle.broadcast_tensors([item, paddle.ones([1] * (rank + 1))])
    return results


def _experts():
    return {
        "experts": paddle.create_parameter([3, 4, 5], "float32"),
        "others": paddle.create_parameter([3, 6, 4], "float32"),
    }


def _higher_ranks_experts(self, x, rows):
    """Tokens that all experts are given, each with a matrix of its own."""
    by_experts = paddle.nn.functional.relu(paddle.matmul(x, self.experts))
    return by_experts, paddle.matmul(rows, self.experts), paddle.matmul(x, self.others, transpose_y=True)


def _higher_ranks_contexts(self, x):
    """One number for each channel, or for each pixel, that is repeated."""
    functional = paddle.nn.functional
    pooled = functional.avg_pool2d(x, 3)
    joined = paddle.concat([x, paddle.tile(pooled, [1, 1, 3, 3])], 1)
    mask = functional.max_pool2d(paddle.mean(x, 1, keepdim=True), 3, 1, 1)
    chances = paddle.tile(functional.softmax(pooled, 1), [1, 2, 2, 1])
    return joined, paddle.tile(mask, [1, 4, 1, 2]), chances


def _matrices(**others):
    return [{"x": tensor([rows, 3], dims=[-1, 3], low=0.25), **others} for rows in (4, 2, 3)]


NETWORKS = [
    network_of(_higher_ranks_operators, *_matrices(), parts=_members),
    network_of(_higher_ranks_broadcast, *_matrices(y=tensor([2, 1, 2])), parts=_members),
    network_of(
        _higher_ranks_experts,
        *({"x": tensor([1, n, 4], dims=[1, -1, 4]), "rows": tensor([n, 4], dims=[-1, 4])} for n in (2, 5, 1)),
        parts=_experts,
    ),
    network_of(_higher_ranks_contexts, *({"x": tensor([n, 4, 3, 3], dims=[-1, 4, 3, 3])} for n in (2, 3, 1))),
]
