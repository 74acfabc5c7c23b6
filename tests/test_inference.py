"""The drop-in for `paddle.inference`."""

import warnings

import numpy as np
import pytest

import paddle2ov
from gen_models import all_networks
from gen_models.store import generated_network
from paddle2ov import testing
from paddle2ov.inference import Config, PrecisionType, create_predictor


@pytest.fixture(scope="module")
def folder():
    return generated_network(all_networks()["crnn"], "pir")


@pytest.fixture(scope="module")
def predictor(folder):
    return create_predictor(Config(str(folder)))


def sets(folder):
    for i in range(3):
        inputs, outputs = (testing.load(folder / f"{kind}_{i}.npz") for kind in ("inputs", "outputs"))
        yield inputs, list(outputs.values())


def test_handles(folder, predictor):
    assert predictor.get_input_names() == ["x"]
    assert predictor.get_output_names() == ["fetch_name_0"]
    assert predictor.get_input_tensor_shape() == {"x": [-1, 3, 32, -1]}
    for inputs, (expected,) in sets(folder):
        x = inputs["x"]
        handle = predictor.get_input_handle("x")
        handle.reshape(x.shape)
        handle.copy_from_cpu(x)
        assert predictor.run()
        result = predictor.get_output_handle("fetch_name_0")
        assert result.shape() == list(expected.shape)
        np.testing.assert_allclose(result.copy_to_cpu(), expected, atol=1e-5)
        np.testing.assert_array_equal(result.to_numpy(), result.copy_to_cpu())


def test_lists(folder, predictor):
    for inputs, (expected,) in sets(folder):
        (found,) = predictor.run([inputs["x"]])
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_results_and_inputs_are_copies(predictor):
    x = np.full((1, 3, 32, 48), 0.5, np.float32)
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(x)
    predictor.run()
    first = predictor.get_output_handle("fetch_name_0").copy_to_cpu()
    kept = first.copy()
    x[:] = -0.5  # the handle has its own copy
    predictor.run()
    np.testing.assert_array_equal(predictor.get_output_handle("fetch_name_0").copy_to_cpu(), kept)
    handle.share_external_data(x)
    predictor.run()
    np.testing.assert_array_equal(first, kept)
    assert not np.array_equal(predictor.get_output_handle("fetch_name_0").copy_to_cpu(), kept)


def test_a_clone_has_handles_of_its_own(predictor):
    other = predictor.clone()
    ones, zeros = np.ones((1, 3, 32, 40), np.float32), np.zeros((1, 3, 32, 40), np.float32)
    predictor.get_input_handle("x").copy_from_cpu(ones)
    other.get_input_handle("x").copy_from_cpu(zeros)
    predictor.run()
    other.run()
    results = [one.get_output_handle("fetch_name_0").copy_to_cpu() for one in (predictor, other)]
    assert not np.array_equal(*results)


def test_files_and_switches(folder, tmp_path):
    config = Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    assert config.prog_file() == str(folder / "inference.json")
    assert config.model_dir() == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.set_cpu_math_library_num_threads(2)
        config.enable_mkldnn()
        config.enable_onednn()
        config.set_mkldnn_cache_capacity(10)
        config.switch_ir_optim(True)
        config.enable_memory_optim()
        config.disable_glog_info()
        config.switch_use_feed_fetch_ops(False)
        config.switch_specify_input_names(True)
        config.disable_gpu()
        config.set_optim_cache_dir(str(tmp_path / "cache"))
    predictor = create_predictor(config)
    compiled = predictor._compiled
    assert compiled.get_property("INFERENCE_NUM_THREADS") == 2
    assert list((tmp_path / "cache").iterdir())
    inputs, (expected,) = next(sets(folder))
    np.testing.assert_allclose(predictor.run([inputs["x"]])[0], expected, atol=1e-5)
    assert "CPU_RUNTIME_CACHE_CAPACITY: 10" in config.summary()


def test_precision():
    config = Config()
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f32"
    config.enable_mkldnn_bfloat16()
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "bf16"
    assert PrecisionType.Bfloat16 != PrecisionType.Float32


@pytest.mark.parametrize(
    ("switch", "arguments"),
    [("enable_use_gpu", (100, 0)), ("enable_tensorrt_engine", (1 << 30, 1, 3)), ("enable_xpu", ())],
)
def test_what_is_not_here_is_said_once(switch, arguments):
    config = Config()
    with pytest.warns(UserWarning, match=f"Config.{switch} has no effect") as caught:
        getattr(config, switch)(*arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(config, switch)(*arguments)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not config.use_gpu()


def test_errors(folder):
    predictor = create_predictor(Config(folder))
    with pytest.raises(paddle2ov.ConversionInputError, match="'x' is not set"):
        predictor.run()
    with pytest.raises(paddle2ov.ConversionInputError, match="'x' is float32, the array is float64"):
        predictor.get_input_handle("x").copy_from_cpu(np.zeros((1, 3, 32, 40)))
    with pytest.raises(paddle2ov.ConversionInputError, match="no input 'y'; there are x"):
        predictor.get_input_handle("y")
    with pytest.raises(paddle2ov.ConversionInputError, match="2 arrays are given; the inputs are x"):
        predictor.run([1, 2])
    with pytest.raises(paddle2ov.ConversionInputError, match="names no model"):
        create_predictor(Config())


def test_memory_stays_flat_by_default(folder):
    config = Config(folder)
    assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "0"
    config.set_openvino_device("GPU")
    assert "CPU_RUNTIME_CACHE_CAPACITY" not in config.openvino_properties()
