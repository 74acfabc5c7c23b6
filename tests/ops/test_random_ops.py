"""Random numbers: their distribution, and what a seed decides. Shapes and types are compared with Paddle's as usual."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu, infer, run
from paddle2ov.program.model import Variable
from tests.support import one_operator
from tests.support.one_operator import close, run_in_paddle
from tests.support.programs import program

N = 80_000


def draw(op, attributes, x=None, results=("out",), dtype="float32"):
    """What an operator draws, from an input or from attributes alone."""
    arrays = x if isinstance(x, dict) else {} if x is None else {"x": x}
    inputs = [Variable(name, str(array.dtype), array.shape) for name, array in arrays.items()]
    reads, writes = (" ".join(f"{name}={name}" for name in names) for names in (arrays, results))
    rows, variables = [(op, reads, writes, attributes)], [Variable(name, dtype) for name in results]
    model = paddle2ov.convert(program(rows, inputs, " ".join(results), variables))
    drawn = [result.array for result in run(model, arrays)]
    return drawn if len(drawn) > 1 else drawn[0]


def shape(**attributes):
    return {"shape": [N], "dtype": "float32", **attributes}


def full(value):
    return np.full([N], value, np.float32)


ROWS, PLANE = np.tile(np.float32([0.1, 0.2, 0.7]), [N, 1]), np.zeros([100, N // 100], np.float32)
COUNTS = {"randint": "int64", "bernoulli": "float32", "sampling_id": "int64", "poisson": "float32", "binomial": "int64"}
"""What draws whole numbers, and their type."""
BELOW_4 = np.nextafter(np.float32(4), np.float32(0))
DISTRIBUTIONS = [
    ("uniform_random", shape(min=-2.0, max=4.0), None, {-2.001: 0, -0.5: 0.25, 1: 0.5, 2.5: 0.75, BELOW_4: 1}),
    ("uniform_random_inplace", {}, PLANE, {-1.001: 0, -0.5: 0.25, 0: 0.5, 0.5: 0.75, 1: 1}),
    ("gaussian_random", shape(mean=5.0, std=2.0), None, {1: 0.023, 3: 0.159, 5: 0.5, 7: 0.841, 9: 0.977}),
    ("gaussian_inplace", {"mean": 3.0, "std": 2.0}, PLANE, {-1: 0.023, 1: 0.159, 3: 0.5, 5: 0.841, 7: 0.977}),
    (
        "truncated_gaussian_random",
        shape(mean=0.5, std=1.0, a=-1.0, b=2.0),
        None,
        {-1.001: 0, -0.5: 0.106, 0: 0.279, 0.5: 0.5, 1: 0.721, 1.5: 0.894, 2.001: 1},
    ),
    ("exponential", {"lam": 4.0}, full(0), {-1e-9: 0, 0.0719: 0.25, 0.1733: 0.5, 0.3466: 0.75, 0.7489: 0.95}),
    ("standard_gamma", {}, full(0.3), {-1e-9: 0, 0.0069: 0.25, 0.0731: 0.5, 0.3429: 0.75, 1.3723: 0.95}),
    ("standard_gamma", {}, full(1), {-1e-9: 0, 0.2877: 0.25, 0.6931: 0.5, 1.3863: 0.75, 2.9957: 0.95}),
    ("standard_gamma", {}, full(4.5), {-1e-9: 0, 2.9494: 0.25, 4.1714: 0.5, 5.6944: 0.75, 8.4595: 0.95}),
    ("randint", shape(low=-1, high=3, dtype="int64"), None, {-2: 0, -1: 0.25, 0: 0.5, 1: 0.75, 2: 1}),
    ("bernoulli", {}, full(0.3), {-1: 0, 0: 0.7, 1: 1}),
    ("sampling_id", {}, ROWS, {-1: 0, 0: 0.1, 1: 0.3, 2: 1}),
    ("sampling_id", {"min": 0.2, "max": 0.4}, ROWS, {0: 0, 1: 0.5, 2: 1}),
    ("poisson", {}, full(0.7), {-1: 0, 0: 0.497, 1: 0.844, 2: 0.966}),
    ("poisson", {}, full(12), {-1: 0, 4: 0.008, 8: 0.155, 10: 0.347, 12: 0.576, 14: 0.772, 16: 0.899, 20: 0.988}),
    (
        "binomial",
        {},
        {"count": full(10), "prob": full(0.3)},
        {-1: 0, 0: 0.028, 1: 0.149, 2: 0.383, 3: 0.65, 4: 0.85, 5: 0.953, 10: 1},
    ),
]


@pytest.mark.parametrize(("op", "attributes", "x", "shares"), DISTRIBUTIONS)
def test_distribution(op, attributes, x, shares):
    """How many of the numbers are at most as large as some, where 0 and 1 are none and all of them."""
    out = draw(op, attributes, x, dtype=COUNTS.get(op, "float32"))
    assert out.shape == (PLANE.shape if x is PLANE else (N,))
    out = out.ravel()
    assert op not in COUNTS or np.array_equal(out, np.floor(out))
    for number, share in shares.items():
        assert abs(np.mean(out <= number) - share) <= (0.01 if 0 < share < 1 else 0)
    assert abs(np.corrcoef(out[1:], out[:-1])[0, 1]) < 0.05


@pytest.mark.parametrize("seed", [0, 7])
def test_complex(seed):
    attributes = {"shape": [N], "seed": seed, "dtype": "complex64"}
    out = draw("gaussian_random", attributes | {"mean": 5.0, "std": 2.0}, dtype="complex64")
    np.testing.assert_allclose(out.mean(0), [5, 5], atol=0.1)
    np.testing.assert_allclose(out.std(0), [2**0.5, 2**0.5], atol=0.1)
    assert abs(np.corrcoef(out.T)[0, 1]) < 0.05
    out = draw("uniform_random", attributes | {"min": -2.0, "max": 4.0}, dtype="complex64")
    np.testing.assert_allclose(np.quantile(out, [0.25, 0.5, 0.75], 0), [[-0.5] * 2, [1] * 2, [2.5] * 2], atol=0.1)
    assert abs(np.corrcoef(out.T)[0, 1]) < 0.05


def test_randperm():
    attributes = {"n": 1000, "dtype": "int64"}
    first = draw("randperm", attributes, dtype="int64")
    assert sorted(first) == list(range(1000))
    assert not np.array_equal(first, draw("randperm", attributes, dtype="int64"))


@pytest.mark.parametrize("count", [1, 3])
def test_multinomial_with_replacement(count):
    x = np.tile(np.array([1, 0, 2, 5], np.float32), (N // 4, 1))
    out = draw("multinomial", {"num_samples": count, "replacement": True}, x, dtype="int64")
    assert out.shape == (N // 4, count)
    np.testing.assert_allclose([np.mean(out == k) for k in range(4)], [0.125, 0, 0.25, 0.625], atol=0.03)


def test_multinomial_without_replacement():
    x = np.tile(np.array([1, 0, 2, 5], np.float32), (N // 4, 1))
    out = draw("multinomial", {"num_samples": 2, "replacement": False}, x, dtype="int64")
    assert np.all(out[:, 0] != out[:, 1])
    np.testing.assert_allclose([np.mean(out[:, 0] == k) for k in range(4)], [0.125, 0, 0.25, 0.625], atol=0.03)
    # 2 after 5 with 2 / 3: the second one depends on the first
    second = out[out[:, 0] == 3, 1]
    assert abs(np.mean(second == 2) - 2 / 3) < 0.04


def test_gumbel_softmax_prefers_as_softmax_does():
    x = np.log(np.tile(np.array([1, 2, 5], np.float32), (N // 4, 1)))
    out = draw("gumbel_softmax", {"hard": True, "axis": -1, "temperature": 0.5}, x)
    np.testing.assert_allclose(out.mean(0), [0.125, 0.25, 0.625], atol=0.03)


def test_dropout_in_training():
    x = np.full([100, N // 100], 3.0, np.float32)
    attributes = {"p": 0.25, "is_test": False, "mode": "upscale_in_train"}
    out, mask = draw("dropout", attributes, x, ("out", "mask"))
    assert abs(np.mean(mask) - 0.75) < 0.02
    np.testing.assert_allclose(out, np.where(mask, 4.0, 0.0), rtol=1e-6)


def test_dropout_along_an_axis():
    x = np.ones([1000, 5], np.float32)
    out = draw("dropout_nd", {"p": 0.5, "is_test": False, "mode": "downgrade_in_infer", "axis": [0]}, x)
    assert np.all(out == out[:, :1])
    assert abs(out.mean() - 0.5) < 0.1


def test_a_seed_makes_numbers_repeat():
    seeded = {"shape": [10], "seed": 7, "dtype": "float32"}
    np.testing.assert_array_equal(draw("uniform_random", seeded), draw("uniform_random", seeded))
    assert not np.array_equal(
        draw("uniform_random", {**seeded, "seed": 0}), draw("uniform_random", {**seeded, "seed": 0})
    )


def test_operators_without_a_seed_draw_other_numbers_in_every_run():
    """And different ones, each of them."""
    attributes = {"shape": [10], "dtype": "float32"}
    rows = [("gaussian_random", "", f"out={name}", attributes) for name in "ab"]
    compiled = compile_on_cpu(paddle2ov.convert(program(rows, [], "a b", [Variable(name, "float32") for name in "ab"])))
    drawn = [result.array for _ in range(2) for result in infer(compiled, {})]
    assert len({array.tobytes() for array in drawn}) == 4


def test_dirichlet():
    alpha = np.array([0.5, 1.0, 3.5], np.float32)
    out = draw("dirichlet", {}, {"alpha": np.tile(alpha, [N, 1])})
    np.testing.assert_allclose(out.sum(1), 1, atol=1e-5)
    mean = alpha / 5
    np.testing.assert_allclose(out.mean(0), mean, atol=0.01)
    np.testing.assert_allclose(out.var(0), mean * (1 - mean) / 6, atol=0.005)


def test_counting_ends(monkeypatch):
    monkeypatch.setattr("paddle2ov.converters.random.variates._MAX_EVENTS", 50)
    assert draw("poisson", {}, np.array([0, np.inf], np.float32)).tolist() == [0, 50]


def test_variates_change_from_run_to_run():
    x = np.full([50], 5, np.float32)
    for op in ("standard_gamma", "poisson"):
        assert not np.array_equal(draw(op, {}, x), draw(op, {}, x))


@pytest.mark.parametrize("mode", ["upscale_in_train", "downgrade_in_infer"])
def test_the_mask_of_a_dropout_that_drops_nothing(mode):
    """Paddle has none at inference, where 1 stands for all that is kept."""
    x, attributes = np.arange(6, dtype=np.float32).reshape(2, 3), {"dropout_implementation": mode, "is_test": False}
    wanted = run_in_paddle("dropout", {"X": x}, {"dropout_prob": 0.0, **attributes}, ["Out", "Mask"], "Mask")
    for p, is_test in ((0.0, False), (0.5, True)):
        changed = {"dropout_prob": p, **attributes, "is_test": is_test}
        out, mask = one_operator.run("dropout", {"x": x}, changed, ["out", "mask"])
        close(mask, wanted)
        close(out, x * (1 - p) if mode == "downgrade_in_infer" else x)
