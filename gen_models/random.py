"""Random numbers. Values cannot be compared: a case gives the shape, and whether all numbers are in their range.

What the numbers are distributed like is tested in tests/ops/test_random_ops.py.
"""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import any_op, function, is_pir, legacy_op, operator
from gen_models.harness.marks import NEW, NO_FUNCTION, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor


def _checked(out: Any, low: float, high: float) -> list[Any]:
    """Whether all numbers are in a range (with both ends in it): of the shape of `out`, and known."""
    low, high = min(low, high), max(low, high)
    return [paddle.logical_and(out >= low, out <= high), paddle.zeros_like(out)]


def _uniform(shape, *, low=-1.0, high=1.0, dtype="float32", seed=0):
    return _checked(paddle.uniform(shape, dtype, low, high, seed), low, high)


def _gaussian(shape, *, mean=0.0, std=1.0):
    # One number in 10^15 is farther off.
    return _checked(paddle.normal(mean, std, shape), mean - 8 * std, mean + 8 * std)


def _randint(shape, *, low=0, high=None, dtype="int64"):
    return _checked(paddle.randint(low, high, shape, dtype), *((low, high - 1) if high is not None else (0, low - 1)))


def _multinomial(x, *, num_samples=1, replacement=False):
    out = paddle.multinomial(x, num_samples, replacement)
    return _checked(out, 0, x.shape[-1] - 1) if replacement else paddle.sort(out, -1)


def _own(x):
    """What an operator may overwrite, which those of PIR do."""
    return paddle.assign(x) if is_pir() else x


def _exponential(x, *, lam=1.0):
    return _checked(
        any_op("exponential", {"X": _own(x)}, {"Out": x.dtype}, {"lambda": lam}, "exponential_"), 0.0, 40.0 / lam
    )


def _truncated(*, shape, mean=0.0, std=1.0, a=-2.0, b=2.0):
    if is_pir():
        place, dtype = paddle.CPUPlace(), paddle.base.core.DataType.FLOAT32
        out = paddle._C_ops.truncated_gaussian_random(shape, mean, std, 0, a, b, dtype, place)
    else:
        attributes = {"shape": shape, "mean": mean, "std": std, "a": a, "b": b, "dtype": 5}
        out = legacy_op("truncated_gaussian_random", {}, {"Out": "float32"}, attributes)
    return _checked(out, a, b)


def _like(x, *, shape, input_dim_idx=0, output_dim_idx=0):
    attributes = {"shape": shape, "input_dim_idx": input_dim_idx, "output_dim_idx": output_dim_idx, "dtype": 5}
    return _checked(legacy_op("uniform_random_batch_size_like", {"Input": x}, {"Out": "float32"}, attributes), -1, 1)


def _uniform_inplace(x, *, low=-1.0, high=1.0, seed=0):
    attributes = {"min": low, "max": high, "seed": seed, "diag_num": 0, "diag_step": 0, "diag_val": 1.0}
    out = any_op("uniform_random_inplace", {"X": _own(x)}, {"Out": x.dtype}, attributes, "uniform_inplace_")
    return _checked(out, low, high)


def _gaussian_inplace(x, *, mean=0.0, std=1.0, seed=0):
    attributes = {"mean": mean, "std": std, "seed": seed}
    out = any_op("gaussian_inplace", {"x": _own(x)}, {"out": x.dtype}, attributes, "gaussian_inplace_")
    return _checked(out, mean - 8 * std, mean + 8 * std)


def _gumbel_softmax(x, *, temperature=1.0, hard=False, axis=-1):
    out = paddle.nn.functional.gumbel_softmax(x, temperature, hard, axis)
    return [paddle.sum(out, axis), *_checked(out, 0.0, 1.0)]


_BOUNDS = pir("Paddle 2.6 also draws numbers outside of a ... b")
_EMPTY = pir("Paddle 2 cannot compare the empty tensor that it makes")
_SHAPE_TENSOR = int64s(3, 4)

_CERTAIN = [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
_ONE_HOT = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
_HALVES = [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]

OPS = [
    Op(
        "uniform_random",
        _uniform,
        case(shape=[3, 4], low=2.0, high=5.0, seed=7),
        case(shape=[3, 4], seed=-1),
        case(shape=[3], dtype="float64"),
        case(shape=[3, 4], low=2.0, high=-1.0),
        case(shape=[3], low=2.0, high=2.0),
        case(shape=[]),
        case(shape=[0, 3], **_EMPTY),
        case(shape=_SHAPE_TENSOR),
        case(shape=[int32s(3), 4]),
    ),
    Op(
        "gaussian_random",
        _gaussian,
        case(shape=[3, 4]),
        case(shape=[3, 4], mean=10.0, std=0.5),
        case(shape=_SHAPE_TENSOR),
        case(shape=[0], **_EMPTY),
    ),
    Op(
        "truncated_gaussian_random",
        _truncated,
        case(shape=[100]),
        case(shape=[50, 2], mean=1.0, std=2.0, a=-1.0, **_BOUNDS),
    ),
    Op(
        "randint",
        _randint,
        case(shape=[3, 4], low=-5, high=5),
        case(shape=[100], low=3),
        case(shape=[3], low=0, high=2, dtype="int32"),
        case(shape=_SHAPE_TENSOR, low=7),
    ),
    Op(
        "random",
        lambda x, *, low=0, high: _checked(paddle.assign(x).random_(low, high), low, high - 1),
        case(x=tensor([50, 2], "int64", 0, 5, dims=[-1, 2]), low=-3, high=3),
        case(x=tensor([20]), high=2**24),
        **NEW,
    ),
    Op(
        "randperm",
        lambda n, dtype="int64": paddle.sort(paddle.randperm(n, dtype)),
        case(n=10),
        case(n=1),
        case(n=1000, dtype="int32"),
        case(n=5, dtype="float32"),
    ),
    Op(
        "bernoulli",
        function("bernoulli"),
        case(x=tensor([2, 3], values=_CERTAIN)),
        case(x=tensor([2, 3], values=_CERTAIN, dims=[-1, -1])),
        case(x=tensor([2, 3], "float64", values=_CERTAIN)),
        case(x=tensor([], values=1.0)),
    ),
    Op(
        "multinomial",
        _multinomial,
        case(x=tensor([4], low=0.1), num_samples=4),
        case(x=tensor([3, 4], low=0.1, dims=[-1, 4]), num_samples=4),
        case(x=tensor([3, 4], low=0.1, dims=[-1, 4]), num_samples=9, replacement=True),
        case(x=tensor([3, 4], values=[[0, 0, 1, 0], [5, 0, 0, 0], [0, 0, 0, 2]])),
        case(x=tensor([3, 4], "float64", low=0.1), num_samples=5, replacement=True),
        case(x=tensor([5], low=0.1), num_samples=2, replacement=True),
        is_varied=False,  # what most of them draw has no single result
    ),
    Op(
        "exponential",
        _exponential,
        case(x=tensor([3, 4])),
        case(x=tensor([3, 4], dims=[-1, -1]), lam=5.0),
        case(x=tensor([3], "float64")),
    ),
    Op(
        "gumbel_softmax",
        _gumbel_softmax,
        case(x=tensor([3, 4])),
        case(x=tensor([3, 4], dims=[-1, -1]), axis=0, temperature=0.3),
        case(x=tensor([3, 4]), hard=True),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), hard=True, axis=1),
    ),
    Op(
        "uniform_random_batch_size_like",
        _like,
        case(x=tensor([3, 4], dims=[-1, 4]), shape=[-1, 5]),
        case(x=tensor([3, 4]), shape=[2, -1], input_dim_idx=1, output_dim_idx=1),
        **NO_FUNCTION,
    ),
    Op(
        "uniform_random_inplace",
        _uniform_inplace,
        case(x=tensor([3, 4])),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), low=2.0, high=5.0, seed=7),
        case(x=tensor([3], "float64"), low=-0.5, high=0.0),
        case(x=tensor([])),
    ),
    Op(
        "gaussian_inplace",
        _gaussian_inplace,
        case(x=tensor([3, 4])),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), mean=10.0, std=0.5, seed=7),
        case(x=tensor([3], "float64"), mean=-2.0),
        case(x=tensor([])),
    ),
    Op(
        "sampling_id",
        operator(
            "sampling_id", {"x": "X"}, {"Out": "int64"}, names={"low": "min", "high": "max"}, low=0.0, high=1.0, seed=0
        ),
        case(x=tensor([4, 3], values=_ONE_HOT)),
        case(x=tensor([4, 3], values=_ONE_HOT, dims=[-1, -1])),
        case(x=tensor([4, 3], "float64", values=_ONE_HOT)),
        # The number drawn decides between nothing here: all of them lie in one of the steps of the sums.
        case(x=tensor([2, 3], values=_HALVES), low=0.55, high=0.95),
        # Sums that no number stays below: the last index.
        case(x=tensor([2, 3], values=_HALVES), low=3.0, high=4.0),
        is_varied=False,
        **NO_FUNCTION,
    ),
]
