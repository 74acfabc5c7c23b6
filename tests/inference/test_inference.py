"""The drop-in for `paddle.inference`."""

import copy
import pickle
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openvino
import paddle
import pytest

from gen_models import all_ops
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import case, tensor
from gen_models.harness.store import generated
from paddle2ov import ConversionInputError, OpenVINORunError, inference, testing
from paddle2ov.compilation import precision
from paddle2ov.inference import Config, PrecisionType, PredictorPool, create_predictor
from paddle2ov.inference.spare import Spare
from tests.inference.small_models import ours, saved, theirs
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.models import network
from tests.support.paddles import told


@pytest.fixture(scope="module")
def folder():
    return network("crnn")


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
        handle = predictor.get_input_handle("x")
        handle.copy_from_cpu(inputs["x"])
        assert predictor.run() is None
        result = predictor.get_output_handle("fetch_name_0")
        assert result.shape() == list(expected.shape)
        np.testing.assert_allclose(result.copy_to_cpu(), expected, atol=1e-5)
        np.testing.assert_array_equal(result.to_numpy(), result.copy_to_cpu())
        np.testing.assert_allclose(predictor.run([inputs["x"]])[0], expected, atol=1e-5)


@pytest.mark.parametrize("send", [pickle.dumps, copy.deepcopy, copy.copy])
def test_what_other_processes_get(folder, predictor, send):
    config = Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    pool = PredictorPool(config, 1)
    for item in (predictor, pool) if send is not copy.copy else (predictor,):
        with pytest.raises(TypeError, match="a Predictor cannot be pickled or copied: send its Config, and create"):
            send(item)
    sent = pickle.loads(pickle.dumps(config))
    assert create_predictor(sent).get_input_names() == predictor.get_input_names()


def test_files_and_switches(folder, tmp_path):
    """What OpenVINO does by itself is accepted, without a warning."""
    config = Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.set_cpu_math_library_num_threads(2)
        for switch in ("mkldnn", "onednn", "memory_optim"):
            getattr(config, f"enable_{switch}")()
        config.set_mkldnn_cache_capacity(10)
        config.switch_ir_optim(True)
        config.disable_glog_info()
        config.switch_use_feed_fetch_ops(False)
        config.switch_specify_input_names(True)
        config.disable_gpu()
        config.set_optimization_level(3)
        config.enable_new_ir(True)
        config.switch_ir_debug(True, [])
        config.pass_builder().delete_pass("conv_bn_fuse_pass")
        config.set_trt_dynamic_shape_info(min_input_shape={"x": [1]})
        config.set_optim_cache_dir(str(tmp_path / "cache"))
    assert config.pass_builder().all_passes() == []
    assert config.tensorrt_precision_mode() is Config.Precision.Float32
    with pytest.raises(AttributeError, match="no attribute 'enable_mklnd'"):
        config.enable_mklnd()
    predictor = create_predictor(config)
    assert predictor._request.compiled.get_property("INFERENCE_NUM_THREADS") == 2
    assert list((tmp_path / "cache").iterdir())
    inputs, (expected,) = next(sets(folder))
    np.testing.assert_allclose(predictor.run([inputs["x"]])[0], expected, atol=1e-5)
    assert "CPU_RUNTIME_CACHE_CAPACITY: 10" in config.summary()


def test_ir_optim(tmp_path):
    """It leaves out the optimisations alone; a model that was kept is one of its own."""
    folder, rolls = network("swin_stage"), {}
    for is_optimised in (True, False):
        config = Config(str(folder))
        config.set_optim_cache_dir(str(tmp_path))
        config.switch_ir_optim(is_optimised)
        predictor = create_predictor(config)
        layers = predictor._request.compiled.get_runtime_model().get_ops()
        rolls[is_optimised] = sum(layer.get_rt_info()["layerType"].value == "Roll" for layer in layers)
        inputs, (expected,) = next(sets(folder))
        np.testing.assert_allclose(predictor.run(list(inputs.values()))[0], expected, atol=1e-4)
    assert rolls == {True: 0, False: 2}
    assert len(list(tmp_path.glob("**/*.blob"))) == 2


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
    config.set_openvino_precision("FP16")
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "f16"
    config.set_openvino_precision("default")
    assert "INFERENCE_PRECISION_HINT" not in config.openvino_properties()
    config.set_openvino_property("INFERENCE_PRECISION_HINT", "bf16")
    assert config.openvino_properties()["INFERENCE_PRECISION_HINT"] == "bf16"
    with pytest.raises(ConversionInputError, match="Int8"):
        config.enable_openvino_engine(Config.Int8)


def test_a_precision_without_hardware(capable, folder):
    capable("FP32")
    config = Config(str(folder))
    config.set_openvino_precision("bf16")
    with pytest.raises(ConversionInputError, match=r"this CPU has no hardware for bf16, .*: use f32$"):
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
    assert ("set_openvino_device('GPU')" in str(caught[0].message)) == (switch == "enable_use_gpu")
    assert caught[0].filename == __file__
    assert not config.use_gpu()


INTERNAL = {"wrapper"}  # the module that the others are imported from
KINDS = ("Config", "Predictor", "PredictorPool", "Tensor", "XpuConfig", "InternalUtils")
KINDS = (*KINDS, "DataType", "PlaceType", "PrecisionType")
ASK = f"""
import paddle.inference as module
for kind in {("", *KINDS)}:
    print(kind, *(name for name in dir(getattr(module, kind) if kind else module) if not name.startswith("_")))
"""


@pytest.mark.parametrize(
    "python",
    [
        pytest.param(sys.executable, id="3"),
        pytest.param(legacy_python(), id="2.6", marks=NEEDS_PADDLE_2),
    ],
)
def test_every_name_of_paddle_inference_is_there(python, folder):
    config = Config(folder)
    predictor = create_predictor(config)
    ours = {"Config": config, "Predictor": predictor, "PredictorPool": PredictorPool(config, 1)}
    ours |= {"": inference, "Tensor": predictor.get_input_handle("x"), "XpuConfig": inference.XpuConfig()}
    ours |= {kind: getattr(inference, kind) for kind in KINDS if kind not in ours}
    asked = 0
    for line in told(python, ASK).splitlines():
        kind, _, names = line.partition(" ")
        if kind in ours:
            asked += 1
            known = {*dir(ours[kind]), "name", "value"}  # which members of an enumeration have
            missing = [part for part in names.split() if part not in known and not hasattr(ours[kind], part)]
            assert [item for item in missing if item not in INTERNAL] == []
    assert asked == len(ours)


def test_results_that_share_a_name(tmp_path):
    saved(tmp_path, lambda x: (x, x * 2, x), "float32", [-1, 2])
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    of_paddle, predictor = theirs(tmp_path), ours(tmp_path)
    assert predictor.get_output_names() == of_paddle.get_output_names()
    expected = [item.numpy().tolist() for item in of_paddle.run([paddle.to_tensor(x)])]
    assert [item.tolist() for item in predictor.run([x])] == expected


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


NOT_FITTING = [
    (np.full((1, 3, 32, 40), 0.1), "'x' is float32, the array is float64"),
    (np.zeros(1, np.complex64), "'x' is float32, the array is complex64"),
    (np.zeros(1, object), "'x' is float32, the array is object"),
    ([[0.1]], "'x' is float32, the array is float64|an array is expected, not list"),
    (None, "'x' is float32, the array is object|an array is expected, not NoneType"),
    ("x", "'x' is float32, the array is <U1|an array is expected, not str"),
]


def test_errors(folder, predictor):
    """A predictor is then as if nothing had been given."""
    predictor = predictor.clone()
    handle = predictor.get_input_handle("x")
    for array, message in NOT_FITTING:
        for give in (handle.copy_from_cpu, handle.share_external_data, lambda array: predictor.run([array])):
            with pytest.raises(ConversionInputError, match=message):
                give(array)
    for act, message in (
        (predictor.run, "'x' is not set"),
        (lambda: predictor.run([1, 2]), "2 arrays are given; the inputs are x"),
        (lambda: predictor.run([np.zeros((5, 5), np.float32)]), r"'x' takes \[.*\], the array is \[5, 5\]"),
        (lambda: predictor.run([np.zeros((), np.float32)]), r"'x' takes \[.*\], the array is \[\]"),
        (lambda: predictor.get_input_handle("y"), "no input 'y'; there are x"),
        (lambda: create_predictor(Config()), "names no model"),
        (lambda: PredictorPool(Config(folder), 1).retrieve(1), "predictor 1 of a pool of 1, counted from 0"),
        (lambda: PredictorPool(Config(folder), 0), "a pool of 0"),
    ):
        with pytest.raises(ConversionInputError, match=message):
            act()
    inputs, (expected,) = next(sets(folder))
    np.testing.assert_allclose(predictor.run([inputs["x"]])[0], expected, atol=1e-5)


def test_arrays_in_any_layout(folder, predictor):
    predictor = predictor.clone()
    handle = predictor.get_input_handle("x")
    assert handle.shape() == predictor.get_input_tensor_shape()["x"] == [-1, 3, 32, -1]
    assert predictor.get_output_handle(predictor.get_output_names()[0]).shape()[0] == 0
    inputs, (expected,) = next(sets(folder))
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


def test_configurations_that_cannot_be(folder):
    for give in (lambda: Config(5), lambda: create_predictor(None), lambda: Config(""), lambda: PredictorPool(None, 2)):
        with pytest.raises(ConversionInputError):
            give()
    for program, size in ((None, 0), (b"abc", 4), (b"abc", -1), (b"a", "1"), ("\u540d", 1)):
        with pytest.raises(ConversionInputError, match="set_model_buffer: program"):
            Config().set_model_buffer(program, size, b"", 0)
    for name, value in [("INFERENCE_NUM_THREADS", -1), ("INFERENCE_NUM_THREADS", "x"), ("NO_SUCH_PROPERTY", 1)]:
        config = Config(folder)
        config.set_openvino_property(name, value)
        with pytest.raises(OpenVINORunError, match=name):
            create_predictor(config)
    config = Config(folder)
    config.set_openvino_device("NOPE")
    with pytest.raises(OpenVINORunError, match="NOPE"):
        create_predictor(config)


def test_memory_stays_flat_by_default(folder):
    config = Config(folder)
    assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "16"
    config.set_openvino_device("GPU")
    assert "CPU_RUNTIME_CACHE_CAPACITY" not in config.openvino_properties()


@pytest.fixture(scope="module")
def sum_of_two():
    vector = tensor([2, 3], dims=[-1, -1])
    return generated(all_ops()["elementwise_add"], case(x=vector, y=vector), "pir")


@pytest.mark.parametrize(
    ("device", "streams"), [("CPU", 0), ("CPU", 1), ("CPU", 2), ("HETERO:CPU", 1)], ids=["0", "1", "2", "HETERO"]
)
def test_inputs_that_do_not_fit_spoil_no_other_threads(sum_of_two, device, streams):
    """Also in streams of one thread, where what OpenVINO's `infer` raises may be lost."""
    config = Config(sum_of_two)
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
        list(threads.map(run, range(80)))


@pytest.mark.parametrize("threads", [1, 2, 0])
def test_inputs_that_do_not_fit(sum_of_two, threads):
    """They are errors with any number of threads, and no results of an earlier run are handed out."""
    config = Config(sum_of_two)
    config.set_cpu_math_library_num_threads(threads)
    predictor = create_predictor(config)
    ones = np.ones((2, 3), np.float32)
    for value in (predictor, predictor.clone()):
        assert (value.run([ones, ones])[0] == 2).all()
        with pytest.raises(OpenVINORunError, match=r"of the shapes '\w+' \[2, 3\], '\w+' \[2, 4\]: "):
            value.run([ones, np.ones((2, 4), np.float32)])
        with pytest.raises(ConversionInputError, match=r"input 'y' is float32, the array is float64 and holds 0\.3"):
            value.run([ones, ones / np.float64(3)])
        with pytest.raises(OpenVINORunError):  # of another rank than the program declares, and not broadcast
            value.run([ones, ones[:, 0]])
        assert (value.run([ones, ones[0]])[0] == 2).all()
        assert (value.run([ones[:1], ones[:1]])[0] == 2).all()


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
