"""Whole networks that write elements and slices in branches and loops, and read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


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


def _assigned_in_loop(self, x, v, k, n):
    """Assignments to elements in a loop."""
    a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
    i = paddle.zeros([], "int64")
    while i < n:
        a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
        i = i + 1
    return a, b, c, d, e, f


def _assigned_in_loop_of_branch(self, x, v, k, n):
    """Assignments to elements in a loop that only one branch has."""
    a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
    if k[0] > 2:
        i = paddle.zeros([], "int64")
        while i < n:
            a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
            i = i + 1
    else:
        a, b, c, d, e, f = x + 1, x + 2, x + 3, x + 4, x + 5, x + 6
    return a, b, c, d, e, f


def _assigned_in_branch_of_loop(self, x, v, k, n):
    """Assignments to elements in some iterations of a loop."""
    a, b, c, d, e, f = x * 1, x * 2, x * 3, x * 4, x * 5, x * 6
    i = paddle.zeros([], "int64")
    while i < n:
        if k[i] > 2:
            a, b, c, d, e, f = _assigned(a, b, c, d, e, f, i, k, v)
        else:
            a, b, c, d, e, f = a * 2, b * 2, c * 2, d * 2, e * 2, f * 2
        i = i + 1
    return a, b, c, d, e, f


def _assigned_in_loop_of_branch_of_loop(self, x, k, n):
    """A branch of a loop with a loop of its own, which writes elements; Paddle 2 writes numbers in their place before.

    Of the variables that only this branch has, it writes a float before the loop, whatever their type.
    """
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


def _rows(count, columns, widths, rounds, declared=None):
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
    for value in (*sets, *fixed):
        for left in leaving:
            del value[left]
    return [
        Network(name, build, sets[0], more=sets[1:]),
        Network(f"{name}_of_known_size", build, fixed[0], more=fixed[1:]),
    ]


NETWORKS = [
    _assigning("assigned_in_branch_of_loop", layer_of(_assigned_in_branch_of_loop))[0],
    _assigning("assigned_in_loop", layer_of(_assigned_in_loop))[0],
    *_assigning("assigned_in_loop_of_branch", layer_of(_assigned_in_loop_of_branch)),
    *_assigning("assigned_in_loop_of_branch_of_loop", layer_of(_assigned_in_loop_of_branch_of_loop), leaving=("v",)),
]
