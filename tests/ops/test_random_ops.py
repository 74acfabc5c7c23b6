"""Random numbers: their distribution, and what a seed decides. Shapes and types are compared with Paddle's as usual."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu, infer, run
from paddle2ov.program.model import Variable
from tests.support import one_operator
from tests.support.one_operator import close, run_in_paddle
from tests.support.programs import program

N = 20_000


def draw(op, attributes, x=None, results=("out",), dtype="float32"):
    """What an operator draws, from an input or from attributes alone."""
    arrays = x if isinstance(x, dict) else {} if x is None else {"x": x}
    inputs = [Variable(name, str(array.dtype), array.shape) for name, array in arrays.items()]
    reads, writes = (" ".join(f"{name}={name}" for name in names) for names in (arrays, results))
    rows, variables = [(op, reads, writes, attributes)], [Variable(name, dtype) for name in results]
    model = paddle2ov.convert(program(rows, inputs, " ".join(results), variables))
    drawn = [result.array for result in run(model, arrays)]
    return drawn if len(drawn) > 1 else drawn[0]


def test_uniform():
    out = draw("uniform_random", {"shape": [N], "min": -2.0, "max": 4.0, "dtype": "float32"})
    assert out.min() >= -2
    assert out.max() < 4
    np.testing.assert_allclose(np.quantile(out, [0.25, 0.5, 0.75]), [-0.5, 1, 2.5], atol=0.1)


def test_gaussian():
    out = draw("gaussian_random", {"shape": [N], "mean": 5.0, "std": 2.0, "dtype": "float32"})
    assert abs(out.mean() - 5) < 0.1
    assert abs(out.std() - 2) < 0.1
    # 68% and 95% within one and two standard deviations
    within = [np.mean(np.abs(out - 5) < 2 * k) for k in (1, 2)]
    np.testing.assert_allclose(within, [0.683, 0.954], atol=0.02)
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


def test_truncated_gaussian():
    shape = {"shape": [N], "mean": 0.5, "std": 1.0, "a": -1.0, "b": 2.0, "dtype": "float32"}
    out = draw("truncated_gaussian_random", shape)
    assert out.min() >= -1
    assert out.max() <= 2
    assert abs(out.mean() - 0.5) < 0.05
    assert abs(out.std() - 0.7396) < 0.05


def test_randint():
    out = draw("randint", {"shape": [N], "low": -1, "high": 3, "dtype": "int64"}, dtype="int64")
    np.testing.assert_allclose([np.mean(out == k) for k in range(-1, 3)], 0.25, atol=0.02)


def test_randperm():
    attributes = {"n": 1000, "dtype": "int64"}
    first = draw("randperm", attributes, dtype="int64")
    assert sorted(first) == list(range(1000))
    assert not np.array_equal(first, draw("randperm", attributes, dtype="int64"))


def test_bernoulli():
    out = draw("bernoulli", {}, np.full([N], 0.3, np.float32))
    assert set(np.unique(out)) == {0, 1}
    assert abs(out.mean() - 0.3) < 0.02


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


def test_sampling_id():
    rows = np.tile(np.array([0.1, 0.2, 0.7], np.float32), [N, 1])
    out = draw("sampling_id", {}, rows, dtype="int64")
    np.testing.assert_allclose(np.bincount(out) / N, [0.1, 0.2, 0.7], atol=0.02)
    out = draw("sampling_id", {"min": 0.2, "max": 0.4}, rows, dtype="int64")
    np.testing.assert_allclose(np.bincount(out) / N, [0, 0.5, 0.5], atol=0.02)


def test_in_place_forms_draw_in_the_shape_of_their_input():
    x = np.zeros([100, 200], np.float32)
    out = draw("uniform_random_inplace", {}, x)
    assert out.shape == x.shape
    np.testing.assert_allclose(np.quantile(out, [0.25, 0.5, 0.75]), [-0.5, 0, 0.5], atol=0.05)
    out = draw("gaussian_inplace", {"mean": 3.0, "std": 2.0}, x)
    assert out.shape == x.shape
    np.testing.assert_allclose([out.mean(), out.std()], [3, 2], atol=0.1)


def test_exponential():
    out = draw("exponential", {"lam": 4.0}, np.zeros([N], np.float32))
    assert out.min() >= 0
    assert abs(out.mean() - 0.25) < 0.01
    assert abs(np.median(out) - np.log(2) / 4) < 0.01


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


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.5])
def test_standard_gamma(alpha):
    out = draw("standard_gamma", {}, np.full([N], alpha, np.float32))
    assert out.min() >= 0
    np.testing.assert_allclose([out.mean(), out.var()], [alpha, alpha], rtol=0.1)
    skewness = np.mean(((out - out.mean()) / out.std()) ** 3)
    assert abs(skewness - 2 / np.sqrt(alpha)) < 0.5


def test_dirichlet():
    alpha = np.array([0.5, 1.0, 3.5], np.float32)
    out = draw("dirichlet", {}, {"alpha": np.tile(alpha, [N, 1])})
    np.testing.assert_allclose(out.sum(1), 1, atol=1e-5)
    mean = alpha / 5
    np.testing.assert_allclose(out.mean(0), mean, atol=0.01)
    np.testing.assert_allclose(out.var(0), mean * (1 - mean) / 6, atol=0.005)


@pytest.mark.parametrize("rate", [0.0, 0.7, 12.0])
def test_poisson(rate):
    out = draw("poisson", {}, np.full([N], rate, np.float32))
    assert np.array_equal(out, np.floor(out))
    np.testing.assert_allclose([out.mean(), out.var(), np.mean(out == 0)], [rate, rate, np.exp(-rate)], atol=0.4)
    np.testing.assert_allclose(out.mean(), rate, rtol=0.03)


def test_binomial():
    inputs = {"count": np.full([N], 10, np.float32), "prob": np.full([N], 0.3, np.float32)}
    out = draw("binomial", {}, inputs, dtype="int64")
    np.testing.assert_allclose([out.mean(), out.var()], [3.0, 2.1], rtol=0.05)
    assert out.max() <= 10
    np.testing.assert_allclose(np.mean(out == 3), 0.2668, atol=0.02)


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
