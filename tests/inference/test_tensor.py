"""Handles on inputs and results, beside those of Paddle."""

import numpy as np
import paddle
import pytest

from paddle2ov import ConversionInputError
from paddle2ov.inference import DataType, PlaceType
from paddle2ov.inference.request import Request
from paddle2ov.inference.shared_model import SharedModel
from paddle2ov.inference.variants import Variants
from tests.inference.small_models import X, doubled, handles, ours, saved, theirs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("doubled"), doubled, "int64")


def reshaped(*shapes):
    def steps(x, give):
        give(X)
        for shape in shapes:
            x.reshape(shape)

    return steps


def reshaped_before(x, give):
    x.reshape([3, 2])
    give(X)


def set_after(x, give):
    give(X)
    x.reshape([3, 2])
    give(X[:1])


def set_after_one_that_is_too_large(x, give):
    give(X[:1])
    x.reshape([2, 3])
    give(X)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(reshaped([3, 2]), id="as many elements"),
        pytest.param(reshaped((np.int64(1), 2)), id="fewer"),
        pytest.param(reshaped([1, 2], [6, 1]), id="fewer and all again"),
        pytest.param(reshaped([0, 2]), id="none"),
        reshaped_before,
        set_after,
        set_after_one_that_is_too_large,
    ],
)
@pytest.mark.parametrize("give", ["copy_from_cpu", "share_external_data"])
def test_a_shape_that_is_set_is_that_of_paddle(folder, steps, give):
    seen = []
    for predictor in (theirs(folder), ours(folder)):
        x, result = handles(predictor)
        kept = []  # Paddle reads what it shares, and does not keep it

        def set_input(array, x=x, kept=kept):
            kept.append(array if give == "copy_from_cpu" else paddle.to_tensor(array))
            getattr(x, give)(kept[-1])

        steps(x, set_input)
        before = x.shape(), x.copy_to_cpu().tolist()
        if 0 not in x.shape():
            predictor.run()
            seen.append((*before, x.shape(), result.shape(), result.copy_to_cpu().tolist()))
        else:
            seen.append(before)
        set_input(X + 1)  # and with the next input again
        predictor.run()
        seen[-1] += (x.shape(), result.copy_to_cpu().tolist())
    assert seen[0] == seen[1]


def test_a_shape_stays_for_every_run(folder):
    predictor = ours(folder)
    x, result = handles(predictor)
    x.copy_from_cpu(X)
    for shape in ([3, 2], [2, 3], [1, 6], [1, 4], [2, 3]):
        x.reshape(shape)
        for _ in range(2):
            predictor.run()
            assert x.shape() == result.shape() == shape
            np.testing.assert_array_equal(result.copy_to_cpu(), 2 * X.reshape(-1)[: np.prod(shape)].reshape(shape))


def test_shared_memory_is_read_in_the_new_shape(folder):
    predictor = ours(folder)
    x, result = handles(predictor)
    array = X.copy()
    x.share_external_data(array)
    x.reshape([3, 2])
    array[:] = 7
    predictor.run()
    np.testing.assert_array_equal(result.copy_to_cpu(), np.full((3, 2), 14))


def test_what_does_not_hold_enough_is_not_run(folder):
    predictor = ours(folder)
    x, _ = handles(predictor)
    x.copy_from_cpu(X)
    x.reshape([2, 4])
    with pytest.raises(ConversionInputError, match=r"input 'x' was reshaped to \[2, 4\], and holds 6 elements"):
        predictor.run()
    x.reshape([6])
    assert predictor.run() is None
    x.reshape([10**6, 10**6])
    with pytest.raises(ConversionInputError, match=r"reshaped to \[1000000, 1000000\], and holds 6 elements"):
        predictor.run()
    x.copy_from_cpu(X)
    assert predictor.run() is None


@pytest.mark.parametrize("shape", [[-2, 3], [2**31, 1], [2, 10**30], "x", None, 5, [1.5], [[2, 3]], {"a": 1}])
def test_shapes_that_cannot_be(folder, shape):
    x, _ = handles(ours(folder))
    x.copy_from_cpu(X)
    with pytest.raises(ConversionInputError, match=r"input 'x': .* is not a shape"):
        x.reshape(shape)
    assert x.shape() == [2, 3]


def test_results_keep_their_shape(folder):
    predictor = ours(folder)
    x, result = handles(predictor)
    x.copy_from_cpu(X)
    predictor.run()
    changes = (lambda: result.reshape([3, 2]), lambda: result.set_lod([[0, 1]]))
    for change in (*changes, lambda: result.copy_from_cpu(X), lambda: result.share_external_data(X)):
        with pytest.raises(ConversionInputError, match="'fetch_name_0' is a result; it cannot be"):
            change()
        assert result.shape() == [2, 3]
        assert result.copy_to_cpu().shape == (2, 3)


def test_what_is_not_there_is_not_read(folder):
    predictor = ours(folder)
    x, result = handles(predictor)
    with pytest.raises(ConversionInputError, match="result 'fetch_name_0' is not computed: no run, or the last one"):
        result.numpy()
    with pytest.raises(ConversionInputError, match="input 'x' is not set"):
        x.numpy()
    x.reshape([2, 2])
    with pytest.raises(ConversionInputError, match="input 'x' is not set"):
        predictor.run()
    x.copy_from_cpu(X)
    predictor.run()
    with pytest.raises(ConversionInputError, match="is not computed"):  # each has its own
        handles(predictor.clone())[1].copy_to_cpu()
    np.testing.assert_array_equal(result.numpy(), 2 * X)


def test_lists_of_different_lengths_are_no_array(folder):
    x, _ = handles(ours(folder))
    with pytest.raises(ConversionInputError, match="input 'x': no array can be made of what is given: "):
        x.copy_from_cpu([[1, 2], [3]])


class Raises:
    def numpy(self):
        raise OSError("gone")

    def __array__(self, dtype=None, copy=None):
        raise OSError("gone")


def test_what_answers_with_an_error_is_no_array(folder):
    predictor = ours(folder)
    x, _ = handles(predictor)
    for give in (x.copy_from_cpu, x.share_external_data, lambda given: predictor.run([given])):
        with pytest.raises(ConversionInputError, match=r"no array can be made of what is given: .*gone"):
            give(Raises())
        with pytest.raises(ConversionInputError, match="'x' is not set"):
            predictor.run()


def test_both_names_of_long_integers(folder):
    predictor = ours(folder)
    for name in ("l", "q"):
        np.testing.assert_array_equal(predictor.run([X.astype(name)])[0], 2 * X)


def test_tensors_of_paddle_are_arrays(folder):
    eager, tensor = paddle.to_tensor(X), paddle.base.core.DenseTensor()
    tensor.set(X, paddle.base.core.CPUPlace())
    for predictor in (theirs(folder), ours(folder)):
        x, result = handles(predictor)
        for value in (eager, tensor):
            x.share_external_data(value)
            predictor.run()
            np.testing.assert_array_equal(result.copy_to_cpu(), 2 * X)


@pytest.mark.parametrize("lod", [5, [5], "a", None, [[0, 1.5]], [["0"]], [[[0]]]])
def test_what_is_no_list_of_offsets(folder, lod):
    x, _ = handles(ours(folder))
    with pytest.raises(ConversionInputError, match=r"input 'x': .* is not a list of offsets \(LoD\)"):
        x.set_lod(lod)


@pytest.mark.parametrize("name", [["x"], None, 5, {"x": 1}, "y"])
def test_handles_that_are_not_there(folder, name):
    predictor = ours(folder)
    with pytest.raises(ConversionInputError, match=r"there is no input .*; there are x"):
        predictor.get_input_handle(name)
    with pytest.raises(ConversionInputError, match=r"there is no result .*; there are fetch_name_0"):
        predictor.get_output_handle(name)


def test_memory_of_cuda_devices_is_refused(folder):
    x, _ = handles(ours(folder))
    with pytest.raises(ConversionInputError, match="share_external_data_by_ptr_name takes memory of CUDA devices"):
        x.share_external_data_by_ptr_name("x", [2, 3], DataType.INT64, PlaceType.CPU)


@pytest.mark.parametrize("shape", [(2, 3), (-1, -1)], ids=str)
def test_setting_an_input_again_leaves_results_and_other_arrays_alone(tmp_path, shape):
    predictor = ours(saved(tmp_path, lambda x: (x.reshape([-1]), x.unsqueeze(0), x[:, :2], x + 0), "int64", shape))
    x, shared = predictor.get_input_handle("x"), X.copy()
    for give, array in ((x.share_external_data, shared), (x.copy_from_cpu, X), (x.copy_from_cpu, X)):
        give(array)
        predictor.run()
        x.copy_from_cpu(X + 100)
        results = [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()]
        for result, expected in zip(results, (X.reshape(-1), X[None], X[:, :2], X), strict=True):
            np.testing.assert_array_equal(result, expected)
        predictor.run()
        np.testing.assert_array_equal(predictor.get_output_handle(predictor.get_output_names()[3]).numpy(), X + 100)
    np.testing.assert_array_equal(shared, X)


def test_runs_on_one_shape_choose_a_model_and_hand_memory_over_once(folder, monkeypatch):
    """What a run costs beside OpenVINO's: nothing that a run before on arrays of the same shape has done."""
    predictor, calls = ours(folder), []
    for owner, name in ((Request, "set_tensor"), (Variants, "fitting"), (SharedModel, "succeeded")):
        do = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, do=do, name=name: (calls.append(name), do(*given))[1])
    x, result = handles(predictor)
    expected = ["fitting", "set_tensor", "succeeded"]
    for shape in ((2, 3), (4, 3)):
        for i in range(3):
            x.copy_from_cpu(np.full(shape, i))
            predictor.run()
            assert (predictor.run([np.full(shape, i)])[0] == 2 * i).all()
            assert (result.copy_to_cpu() == 2 * i).all()
        assert sorted(calls) == expected
        calls.clear()
    x.reshape([3, 4])
    predictor.run()
    assert sorted(calls) == expected
