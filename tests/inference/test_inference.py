"""The drop-in for `paddle.inference`."""

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openvino
import paddle
import pytest

import paddle2ov
from gen_models import all_networks, all_ops
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import case, tensor
from gen_models.harness.store import generated, generated_network
from paddle2ov import ConversionInputError, OpenVINORunError, inference, testing
from paddle2ov.compilation import precision
from paddle2ov.inference import Config, PlaceType, PrecisionType, PredictorPool, create_predictor
from paddle2ov.inference.spare import Spare
from tests.inference.small_models import theirs
from tests.support.formats import NEEDS_PADDLE_2


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
        assert predictor.run() is None
        result = predictor.get_output_handle("fetch_name_0")
        assert result.shape() == list(expected.shape)
        np.testing.assert_allclose(result.copy_to_cpu(), expected, atol=1e-5)
        np.testing.assert_array_equal(result.to_numpy(), result.copy_to_cpu())


def test_lists(folder, predictor):
    for inputs, (expected,) in sets(folder):
        (actual,) = predictor.run([inputs["x"]])
        np.testing.assert_allclose(actual, expected, atol=1e-5)


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
    results = [each.get_output_handle("fetch_name_0").copy_to_cpu() for each in (predictor, other)]
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


@pytest.fixture
def capable(monkeypatch):
    """Says what the processor has hardware for."""
    return lambda *names: monkeypatch.setattr(precision, "capabilities", lambda device: list(names))


def test_precision(capable):
    capable("FP32", "BF16", "FP16")
    config = Config()
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f32"
    config.enable_mkldnn_bfloat16()
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "bf16"
    config.disable_mkldnn_bfloat16()
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f32"
    config.enable_openvino_engine(PrecisionType.Half)
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f16"
    config.set_openvino_precision("default")
    assert "INFERENCE_PRECISION_HINT" not in config.openvino_properties()
    config.set_openvino_property("INFERENCE_PRECISION_HINT", "bf16")
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "bf16"
    assert PrecisionType.Bfloat16 != PrecisionType.Float32


def test_a_precision_without_hardware(capable, folder):
    capable("FP32")
    config = Config(str(folder))
    config.set_openvino_precision("bf16")
    with pytest.raises(ConversionInputError, match=r"precision: CPU has no hardware for bf16 here; .* for: f32$"):
        create_predictor(config)
    config.enable_mkldnn_bfloat16()  # as Paddle
    with pytest.warns(UserWarning, match="CPU has no hardware for bfloat16: computed in float32"):
        assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f32"


def test_precisions_that_contradict_each_other(capable, folder):
    capable("FP32", "BF16")
    config = Config(str(folder))
    config.set_openvino_precision("bf16")
    config.set_openvino_property("INFERENCE_PRECISION_HINT", openvino.Type.f32)
    with pytest.raises(ConversionInputError, match="bf16 is asked for, and f32 by INFERENCE_PRECISION_HINT"):
        create_predictor(config)
    with pytest.raises(ConversionInputError, match="int8 needs data: `paddle2ov quantize`"):
        config.set_openvino_precision("int8")


@pytest.mark.parametrize(
    ("switch", "arguments"),
    [
        *[("enable_use_gpu", (100, 0)), ("enable_tensorrt_engine", (1 << 30, 1, 3)), ("enable_xpu", ())],
        *[("enable_mkldnn_int8", ()), ("set_bfloat16_op", ({"conv2d"},)), ("collect_shape_range_info", ("file",))],
    ],
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


INTERNAL = {"wrapper"}  # the module that the others are imported from
KINDS = ("Config", "Predictor", "PredictorPool", "Tensor", "XpuConfig", "InternalUtils")
KINDS = (*KINDS, "DataType", "PlaceType", "PrecisionType")
ASK = """
import sys
import paddle.inference as module
for kind in sys.argv[1:]:
    print(kind, *(name for name in dir(getattr(module, kind) if kind else module) if not name.startswith("_")))
"""


@pytest.mark.parametrize(
    "python",
    [
        pytest.param(sys.executable, id="3"),
        pytest.param(legacy_python(), id="2.6", marks=NEEDS_PADDLE_2),
    ],
)
def test_every_name_of_paddle_inference_is_there(python, folder, monkeypatch, capsys):
    command = [python, "-W", "ignore", "-c", ASK, "", *KINDS]
    if python == sys.executable:
        monkeypatch.setattr(sys, "argv", command[4:])
        exec(ASK, {})
        told = capsys.readouterr().out
    else:
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    config = Config(folder)
    predictor = create_predictor(config)
    ours = {"Config": config, "Predictor": predictor, "PredictorPool": PredictorPool(config, 1)}
    ours |= {"": inference, "Tensor": predictor.get_input_handle("x"), "XpuConfig": inference.XpuConfig()}
    ours |= {kind: getattr(inference, kind) for kind in KINDS if kind not in ours}
    asked = 0
    for line in told.splitlines():
        kind, _, names = line.partition(" ")
        if kind in ours:
            asked += 1
            known = {*dir(ours[kind]), "name", "value"}  # which members of an enumeration have
            missing = [part for part in names.split() if part not in known and not hasattr(ours[kind], part)]
            assert [item for item in missing if item not in INTERNAL] == []
    assert asked == len(ours)


def test_what_openvino_does_by_itself_is_accepted():
    config = Config()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.set_optimization_level(3)
        config.enable_new_ir(True)
        config.switch_ir_debug(True, [])
        config.pass_builder().delete_pass("conv_bn_fuse_pass")
        config.set_trt_dynamic_shape_info(min_input_shape={"x": [1]})
    assert config.pass_builder().all_passes() == []
    assert config.tensorrt_precision_mode() is Config.Precision.Float32
    with pytest.raises(AttributeError, match="no attribute 'enable_mklnd'"):
        config.enable_mklnd()


def test_numbers_are_those_of_paddle():
    code = """
import paddle.inference as module
for kind in ("DataType", "PlaceType", "PrecisionType"):
    for name, one in getattr(module, kind).__members__.items():
        print(kind, name, int(one))
"""
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    members = [line.split() for line in told.stdout.splitlines() if line.startswith(("DataType", "Place", "Precision"))]
    assert len(members) == 18
    for kind, name, number in members:
        assert getattr(inference, kind)[name].value == int(number)
    assert PlaceType.CUSTOM.value == 4


def test_results_that_share_a_name(tmp_path):
    paddle.jit.save(Passes(), str(tmp_path / "inference"), input_spec=[paddle.static.InputSpec([-1, 2], name="x")])
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    of_paddle, ours = theirs(tmp_path), create_predictor(Config(tmp_path))
    assert ours.get_output_names() == of_paddle.get_output_names()
    expected = [item.numpy().tolist() for item in of_paddle.run([paddle.to_tensor(x)])]
    assert [item.tolist() for item in ours.run([x])] == expected


class Passes(paddle.nn.Layer):
    def forward(self, x):
        return x, x * 2, x


def test_a_model_in_memory(folder):
    config = Config()
    program, params = ((folder / f"inference.{kind}").read_bytes() for kind in ("json", "pdiparams"))
    config.set_model_buffer(program, len(program), params, len(params))
    assert config.model_from_memory()
    inputs, (expected,) = next(sets(folder))
    np.testing.assert_allclose(create_predictor(config).run([inputs["x"]])[0], expected, atol=1e-5)


def test_a_pool_has_predictors_of_their_own(folder):
    pool = PredictorPool(Config(folder), 2)
    first, second = pool.retrieve(0), pool.retrieve(1)
    first.get_input_handle("x").copy_from_cpu(np.zeros((1, 3, 32, 40), np.float32))
    with pytest.raises(paddle2ov.ConversionInputError, match="'x' is not set"):
        second.run()
    with pytest.raises(paddle2ov.ConversionInputError, match="predictor 2 of a pool of 2"):
        pool.retrieve(2)
    with pytest.raises(paddle2ov.ConversionInputError, match="a pool of 0"):
        PredictorPool(Config(folder), 0)


def test_the_threads_of_a_pool_are_those_of_its_predictors(folder, monkeypatch):
    monkeypatch.setattr("paddle2ov.inference.config.processors", lambda: 4)
    config = Config(folder)
    assert "NUM_STREAMS" not in config.openvino_properties()
    shared = config.openvino_properties(3)
    assert (shared["NUM_STREAMS"], shared.get("INFERENCE_NUM_THREADS")) == (3, None)
    config.set_cpu_math_library_num_threads(1)
    shared = config.openvino_properties(2)
    assert (shared["NUM_STREAMS"], shared["INFERENCE_NUM_THREADS"]) == (2, 2)
    assert config.openvino_properties(9)["INFERENCE_NUM_THREADS"] == 4
    assert config.openvino_properties(9)["NUM_STREAMS"] == 4
    config.set_openvino_streams(1)
    assert config.openvino_properties(9)["NUM_STREAMS"] == 1
    config = Config(folder)
    config.set_openvino_hint("throughput")
    assert "NUM_STREAMS" not in config.openvino_properties(9)


def test_hints_are_properties_of_openvino(folder):
    config = Config(folder)
    config.set_openvino_hint("throughput")
    config.set_openvino_streams(2)
    config.set_openvino_requests(5)
    config.set_openvino_cores("performance")
    properties = config.openvino_properties()
    assert properties["PERFORMANCE_HINT"] == "THROUGHPUT"
    assert (properties["NUM_STREAMS"], properties["PERFORMANCE_HINT_NUM_REQUESTS"]) == (2, 5)
    assert properties["SCHEDULING_CORE_TYPE"] == "PCORE_ONLY"
    assert create_predictor(config)._spare.bound == 5
    for switch, value in (("hint", "fast"), ("streams", 0), ("requests", -1), ("cores", "big")):
        with pytest.raises(ConversionInputError, match=f"set_openvino_{switch}: {value!r}"):
            getattr(config, f"set_openvino_{switch}")(value)


def _lines(count):
    """Pictures of different widths, and so results of different lengths."""
    return [np.random.default_rng(i).random((1, 3, 32, 16 + 8 * (i % 5)), np.float32) for i in range(count)]


@pytest.mark.parametrize("hint", ["latency", "throughput"])
def test_any_number_of_threads_may_run_a_predictor(folder, hint):
    config = Config(folder)
    config.set_openvino_hint(hint)
    predictor, lines = create_predictor(config), _lines(40)
    expected = [predictor.run([line])[0] for line in lines]
    others = [predictor, predictor.clone()]
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda i: others[i % 2].run([lines[i]])[0], range(40)))
    for actual, desired in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual, desired, atol=1e-6)
    assert 1 <= len(predictor._spare._idle) <= predictor._spare.bound


def test_a_thread_that_finds_the_predictor_busy_takes_a_request_that_is_shared(folder):
    """It leaves the handles as they are, which belong to the thread that is running."""
    predictor, (line, other) = create_predictor(Config(folder)), _lines(2)
    expected = create_predictor(Config(folder)).run([other])[0]
    predictor.get_input_handle("x").copy_from_cpu(line)
    with predictor._lock, ThreadPoolExecutor(1) as threads:
        (actual,) = threads.submit(predictor.run, [other]).result(60)
    np.testing.assert_allclose(actual, expected, atol=1e-6)
    np.testing.assert_array_equal(predictor.get_input_handle("x").copy_to_cpu(), line)


def test_shared_requests_are_bounded():
    made, lent, most = [], [], []
    spare = Spare(lambda: made.append(1) or len(made), 3)
    gate = threading.Barrier(3, timeout=60)

    def use(_):
        with spare.borrow() as request:
            lent.append(request)
            most.append(len(lent))
            gate.wait()  # all three are lent at once
            lent.remove(request)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(30)))
    assert len(made) == 3
    assert max(most) <= 3
    with pytest.raises(ZeroDivisionError), spare.borrow():
        raise ZeroDivisionError
    assert sorted(spare._idle) == [1, 2, 3]


@pytest.mark.parametrize("hint", ["latency", "throughput"])
def test_several_lists_are_run_together(folder, hint):
    config = Config(folder)
    config.set_openvino_hint(hint)
    predictor, lines = create_predictor(config), _lines(9)
    expected = [predictor.run([line]) for line in lines]
    results = predictor.run([[line] for line in lines])
    for actual, desired in zip(results, expected, strict=True):
        assert len(actual) == len(desired) == 1
        np.testing.assert_allclose(actual[0], desired[0], atol=1e-6)
    with pytest.raises(ConversionInputError, match="2 arrays are given; the inputs are x"):
        predictor.run([[lines[0]], [lines[0], lines[1]]])
    with pytest.raises(ConversionInputError, match="'x' is float32, the array is float64"):
        predictor.run([[lines[0]], [lines[0] / 3.0 + np.float64(1e-12)]])


def test_openvino_engine(capable):
    capable("FP32", "FP16")
    config = Config()
    config.enable_openvino_engine(PrecisionType.Half)
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f16"
    with pytest.raises(paddle2ov.ConversionInputError, match="Int8"):
        config.enable_openvino_engine(Config.Int8)


def test_errors(folder):
    predictor = create_predictor(Config(folder))
    with pytest.raises(paddle2ov.ConversionInputError, match="'x' is not set"):
        predictor.run()
    with pytest.raises(paddle2ov.ConversionInputError, match="'x' is float32, the array is float64"):
        predictor.get_input_handle("x").copy_from_cpu(np.full((1, 3, 32, 40), 0.1))
    with pytest.raises(paddle2ov.ConversionInputError, match="no input 'y'; there are x"):
        predictor.get_input_handle("y")
    with pytest.raises(paddle2ov.ConversionInputError, match="2 arrays are given; the inputs are x"):
        predictor.run([1, 2])
    with pytest.raises(paddle2ov.ConversionInputError, match="names no model"):
        create_predictor(Config())


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(1, np.complex64), "'x' is float32, the array is complex64"),
        (np.zeros(1, object), "'x' is float32, the array is object"),
        ([[0.1]], "'x' is float32, the array is float64|an array is expected, not list"),
        (None, "'x' is float32, the array is object|an array is expected, not NoneType"),
        ("x", "'x' is float32, the array is <U1|an array is expected, not str"),
    ],
)
def test_arrays_that_do_not_fit(folder, array, message):
    predictor = create_predictor(Config(folder))
    handle = predictor.get_input_handle("x")
    for give in (handle.copy_from_cpu, handle.share_external_data, lambda array: predictor.run([array])):
        with pytest.raises(paddle2ov.ConversionInputError, match=message):
            give(array)
    with pytest.raises(paddle2ov.ConversionInputError, match="'x' is not set"):  # it is as if nothing had been given
        predictor.run()
    for shape in ((5, 5), ()):
        with pytest.raises(
            paddle2ov.ConversionInputError, match=rf"'x' takes \[.*\], the array is \[{str(shape)[1:-1]}\]"
        ):
            predictor.run([np.zeros(shape, np.float32)])
    ((inputs, (expected,)), *_) = sets(folder)
    np.testing.assert_allclose(predictor.run([inputs["x"]])[0], expected, atol=1e-5)
    flat = np.zeros(inputs["x"].size, np.float32)
    with pytest.raises(paddle2ov.ConversionInputError, match="the array is"):
        predictor.run([flat])
    handle.copy_from_cpu(inputs["x"])
    assert handle.shape() == list(inputs["x"].shape)


def test_results_are_not_set(folder):
    predictor = create_predictor(Config(folder))
    ((inputs, (expected,)), *_) = sets(folder)
    predictor.run([inputs["x"]])
    handle = predictor.get_output_handle(predictor.get_output_names()[0])
    for give in (handle.copy_from_cpu, handle.share_external_data):
        with pytest.raises(paddle2ov.ConversionInputError, match="is a result; it cannot be set"):
            give(expected)
    np.testing.assert_allclose(handle.copy_to_cpu(), expected, atol=1e-5)


def test_arrays_in_any_layout(folder):
    predictor = create_predictor(Config(folder))
    handle = predictor.get_input_handle("x")
    assert handle.shape() == predictor.get_input_tensor_shape()["x"] == [-1, 3, 32, -1]
    ((inputs, (expected,)), *_) = sets(folder)
    x = inputs["x"]
    fixed = x.copy()
    fixed.setflags(write=False)
    wide = np.repeat(x, 2, -1)[..., ::2]
    for value in (fixed, np.asfortranarray(x), wide, x[..., ::-1][..., ::-1]):
        np.testing.assert_allclose(predictor.run([value])[0], expected, atol=1e-5)
        handle.share_external_data(value)
        predictor.run()
    handle.reshape(x.shape)
    handle.copy_from_cpu(x.reshape(-1))
    assert handle.shape() == list(x.shape)
    handle.reshape([x.shape[0], x.shape[1], x.shape[3], x.shape[2]])  # an array's own shape counts
    handle.copy_from_cpu(x)
    assert handle.shape() == list(x.shape)
    for shape in ("x", None, [1.5], 5):
        with pytest.raises(paddle2ov.ConversionInputError, match="is not a shape"):
            handle.reshape(shape)


def test_configurations_that_cannot_be(folder, tmp_path):
    for give in (
        lambda: Config(5),
        lambda: create_predictor(None),
        lambda: Config(""),
        lambda: PredictorPool(None, "x"),
    ):
        with pytest.raises(paddle2ov.ConversionInputError):
            give()
    for arguments in [
        (None, 0, None, 0),
        (b"abc", 4, b"", 0),
        (b"abc", -1, b"", 0),
        (b"a", "1", b"", 0),
        ("\u540d", 1, "", 0),
    ]:
        with pytest.raises(paddle2ov.ConversionInputError, match="set_model_buffer: program"):
            Config().set_model_buffer(*arguments)
    for count in ("a", 1.5, None):
        with pytest.raises(paddle2ov.ConversionInputError, match="is not a number of threads"):
            Config().set_cpu_math_library_num_threads(count)
    for name, value in [("INFERENCE_NUM_THREADS", -1), ("INFERENCE_NUM_THREADS", "x"), ("NO_SUCH_PROPERTY", 1)]:
        config = Config(folder)
        config.set_openvino_property(name, value)
        with pytest.raises(paddle2ov.OpenVINORunError, match=name):
            create_predictor(config)
    config = Config(folder)
    config.set_openvino_device("NOPE")
    with pytest.raises(paddle2ov.OpenVINORunError, match="NOPE"):
        create_predictor(config)


def test_memory_stays_flat_by_default(folder):
    config = Config(folder)
    assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "16"
    config.set_openvino_device("GPU")
    assert "CPU_RUNTIME_CACHE_CAPACITY" not in config.openvino_properties()


@pytest.mark.parametrize(
    ("device", "streams"), [("CPU", 0), ("CPU", 1), ("CPU", 2), ("HETERO:CPU", 1)], ids=["0", "1", "2", "HETERO"]
)
def test_inputs_that_do_not_fit_spoil_no_other_threads(device, streams):
    """Also in streams of one thread, where what OpenVINO's `infer` raises may be lost."""
    vector = tensor([2, 3], dims=[-1, -1])
    config = Config(generated(all_ops()["elementwise_add"], case(x=vector, y=vector), "pir"))
    config.set_cpu_math_library_num_threads(max(1, streams))
    config.set_openvino_property("NUM_STREAMS", streams)
    config.set_openvino_device(device)
    predictor = create_predictor(config)

    def run(i):
        rows = 2 + i % 3
        x, y = np.full((rows, 3), i, np.float32), np.ones((rows, 3 + (i % 4 == 0)), np.float32)
        if i % 4 == 0:
            with pytest.raises(OpenVINORunError):
                predictor.run([x, y])
        else:
            np.testing.assert_array_equal(predictor.run([x, y])[0], x + 1)

    for i in range(1, 12):
        if i % 4:
            run(i)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(200)))


@pytest.mark.parametrize("threads", [1, 2, 0])
def test_inputs_that_do_not_fit(threads):
    """They are errors with any number of threads, and no results of an earlier run are handed out."""
    vector = tensor([2, 3], dims=[-1, -1])
    config = Config(generated(all_ops()["elementwise_add"], case(x=vector, y=vector), "pir"))
    config.set_cpu_math_library_num_threads(threads)
    predictor = create_predictor(config)
    ones = np.ones((2, 3), np.float32)
    for value in (predictor, predictor.clone()):
        assert (value.run([ones, ones])[0] == 2).all()
        with pytest.raises(OpenVINORunError):
            value.run([ones, np.ones((2, 4), np.float32)])
        with pytest.raises(ConversionInputError, match=r"input 'y' is float32, the array is float64 and holds 0\.3"):
            value.run([ones, ones / np.float64(3)])
        with pytest.raises(OpenVINORunError):  # of another rank than the program declares, and not broadcast
            value.run([ones, ones[:, 0]])
        assert (value.run([ones, ones[0]])[0] == 2).all()
        assert (value.run([ones[:1], ones[:1]])[0] == 2).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_fails_spoils_no_others(threads, tmp_path):
    """OpenVINO refuses what fits, in all requests, if it has the shape of a run before the one that failed."""

    class Doubled(paddle.nn.Layer):
        def forward(self, x):
            return paddle.concat([x, x], 1) + paddle.arange(8, dtype="float32")

    paddle.disable_static()
    spec = [paddle.static.InputSpec([None, None], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(Doubled(), input_spec=spec), str(tmp_path / "inference"))
    config = Config(tmp_path)
    config.set_cpu_math_library_num_threads(threads)
    first = create_predictor(config)
    second = first.clone()
    fits, wrong = np.zeros((2, 4), np.float32), np.zeros((2, 3), np.float32)
    for failing, other in ((first, second), (second, first)):
        x, result = failing.get_input_handle("x"), failing.get_output_handle(failing.get_output_names()[0])
        for _ in range(2):
            assert (failing.run([fits])[0] == np.arange(8)).all()
            with pytest.raises(OpenVINORunError):
                failing.run([wrong])
            with pytest.raises(OpenVINORunError):
                failing.run([wrong])
        x.copy_from_cpu(fits)
        assert failing.run() is None
        assert (result.copy_to_cpu() == np.arange(8)).all()
        assert (other.run([fits])[0] == np.arange(8)).all()


def test_known_dimensions_are_checked(folder):
    """Those that the program declares, and those that its weights imply."""
    array = np.zeros((1, 4, 32, 48), np.float32)
    with pytest.raises(ConversionInputError, match=r"input 'x' takes \[\?,3,.*\], the array is \[1, 4, 32, 48\]"):
        create_predictor(Config(folder)).run([array])
    product = case(x=tensor([2, 8], dims=[-1, -1]), y=tensor([8, 4]))
    predictor = create_predictor(Config(generated(all_ops()["matmul_v2"], product, "pir")))
    assert predictor.get_input_tensor_shape() == {"x": [-1, 8], "y": [8, 4]}
    with pytest.raises(ConversionInputError, match=r"input 'x' takes \[\?,8\], the array is \[2, 7\]"):
        predictor.run([np.ones((2, 7), np.float32), np.ones((8, 4), np.float32)])
