"""`Config` takes what Paddle's takes, by the same names, and refuses the rest."""

import inspect
import re
import warnings

import numpy as np
import openvino
import paddle.inference
import pytest

from paddle2ov import ConversionInputError
from paddle2ov.inference import Config, InternalUtils, PrecisionType, PredictorPool, XpuConfig, create_predictor
from paddle2ov.inference.switches import ANSWERS, REFUSED
from tests.inference.small_models import X, doubled, saved

SIGNATURE = re.compile(r"^(?:\d+\. )?(\w+)\(self: AnalysisConfig(?:, (.*))?\) -> ", re.MULTILINE)
PARAMETER = re.compile(r"(\w+): .*?(?: = (.*?))?(?=, \w+: |$)")


def signatures():
    """The methods of Paddle's `Config`, with the names and default values of their parameters."""
    for method in dir(paddle.inference.Config):
        text = getattr(paddle.inference.Config, method).__doc__ or ""
        if method.startswith("_") or method in ("to_native_config", "Precision"):
            continue
        for name, parameters in SIGNATURE.findall(text.replace("paddle.base.libpaddle.", "")):
            if name == method:
                yield name, PARAMETER.findall(parameters)


def test_parameters_have_the_names_and_defaults_of_paddle():
    config, checked = Config(), 0
    for method, parameters in signatures():
        known = inspect.signature(getattr(config, method))
        ours = known.parameters
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in ours.values())
        known.bind(*(None for _ in parameters))
        known.bind(*(None for _, default in parameters if not default))
        checked += 1
        for name, default in parameters:
            if takes_any or name.startswith("arg"):
                continue
            assert name in ours, f"{method}({name}=...)"
            value = ours[name].default
            assert (repr(value) if isinstance(value, PrecisionType) else str(value)) == default, (
                f"{method}({name}={default})"
            )
    assert checked > 100


SAMPLES = {
    "int": 3,
    "str": "x",
    "bool": True,
    "set[str]": {"conv2d"},
    "list[str]": ["x"],
    "dict[str, list[int]]": {"x": [1]},
}
GETTERS = {"model_dir", "prog_file", "params_file", "model_from_memory", "ir_optim", "glog_info_disabled", *ANSWERS}
GETTERS = (GETTERS | {"mkldnn_enabled", "onednn_enabled", "mkldnn_int8_enabled"}) & {*dir(paddle.inference.Config)}


def calls():
    """Each method of Paddle's `Config` with least, some, and false arguments, where the types of all are known."""
    for method in (item for item in dir(paddle.inference.Config) if not item.startswith("_")):
        text = getattr(paddle.inference.Config, method).__doc__ or ""
        for name, parameters in SIGNATURE.findall(text.replace("paddle.base.libpaddle.", "")):
            kinds = re.findall(r"\w+: (.*?)(?: = (.*?))?(?=, \w+: |$)", parameters)
            if name == method and all(kind in SAMPLES for kind, default in kinds):
                yield method, [SAMPLES[kind] for kind, default in kinds if not default]
                yield method, [SAMPLES[kind] for kind, _ in kinds]
                yield method, [type(SAMPLES[kind])() for kind, _ in kinds]


def test_getters_answer_as_those_of_paddle():
    compared = 0
    for method, arguments in calls():
        theirs, ours = paddle.inference.Config(), Config()
        try:
            getattr(theirs, method)(*arguments)
        except (RuntimeError, ValueError):  # what needs a GPU or TensorRT
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                getattr(ours, method)(*arguments)
            except ConversionInputError:
                assert method in ("set_model_buffer", "to_native_config") or not any(arguments)
                continue
        for getter in GETTERS:
            actual, expected = getattr(ours, getter)(), getattr(theirs, getter)()
            assert getattr(actual, "value", actual) == getattr(expected, "value", expected), (
                f"{method}{arguments}: {getter}"
            )
        compared += 1
    assert compared > 120


def test_what_gives_objects_of_paddle_is_refused():
    for method, way in REFUSED.items():
        with pytest.raises(ConversionInputError, match=f"Config.{method} gives an object of Paddle's own engine: "):
            getattr(Config(), method)()
        assert way
    with pytest.raises(ConversionInputError, match="InternalUtils"):
        InternalUtils.set_transformer_posid(Config(), "ids")
    for thing, name in ((Config(), "use_gpus"), (XpuConfig(), "device"), (Config().pass_builder(), "remove")):
        with pytest.raises(AttributeError, match=name):
            setattr(thing, name, True) if name != "remove" else thing.remove


def test_switches_by_name():
    config = Config()
    config.switch_ir_optim(x=False)
    assert not config.ir_optim()
    config.switch_ir_optim()
    assert config.ir_optim()
    config.enable_memory_optim(x=False)
    for set_capacity in (config.set_mkldnn_cache_capacity, config.set_onednn_cache_capacity):
        set_capacity(7)
        assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "7"
        set_capacity()
        assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "0"
        set_capacity(capacity=np.int32(5))
        assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "5"
        set_capacity(-5)  # as Paddle takes it
        assert config.openvino_properties()["CPU_RUNTIME_CACHE_CAPACITY"] == "0"


def test_a_configuration_is_copied():
    original = Config("folder")
    original.set_cpu_math_library_num_threads(3)
    original.set_optim_cache_dir("cache")
    copy = Config(original)
    assert (copy.model_dir(), copy.cpu_math_library_num_threads()) == ("folder", 3)
    assert copy.openvino_properties() == original.openvino_properties()
    original.set_cpu_math_library_num_threads(5)
    original.set_model("program", "params")
    copy.set_openvino_streams(2)
    assert (copy.model_dir(), copy.cpu_math_library_num_threads()) == ("folder", 3)
    assert copy.openvino_properties()["INFERENCE_NUM_THREADS"] == 3
    assert "NUM_STREAMS" not in original.openvino_properties()
    with pytest.raises(ConversionInputError, match="a configuration is copied as it is; set_model names other files"):
        Config(original, "params")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("doubled"), doubled, "int64")


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_integers_of_numpy(kind, folder):
    config, other = Config(folder), paddle.inference.Config(str(folder / "inference.json"), "")
    for each in (config, other):
        each.set_cpu_math_library_num_threads(kind(2))
        assert each.cpu_math_library_num_threads() == 2
    for switch in (config.set_openvino_streams, config.set_openvino_requests):
        switch(kind(1))
    in_memory = Config()
    in_memory.set_model_buffer(b"program", kind(7), b"", kind(0))
    assert in_memory.model_from_memory()
    pool = PredictorPool(config, kind(2))
    assert pool.retrieve(kind(1)) is pool.retrieve(1)
    np.testing.assert_array_equal(pool.retrieve(0).run([X])[0], 2 * X)


@pytest.mark.parametrize("count", [True, -1, 1.5, "2", None, 2**40, np.array([1, 2]), np.True_, np.float32(2)])
def test_counts_that_are_none(count, folder):
    config = Config(folder)
    for switch in ("set_openvino_streams", "set_openvino_requests"):
        with pytest.raises(ConversionInputError, match=rf"{switch}: .* is not a whole number above 0"):
            getattr(config, switch)(count)
    if not isinstance(count, int) or count != -1:  # which Paddle takes
        with pytest.raises(ConversionInputError, match=r"set_cpu_math_library_num_threads: .* is not a number"):
            config.set_cpu_math_library_num_threads(count)
        with pytest.raises(ConversionInputError, match=r"set_mkldnn_cache_capacity: .* is not a number of primitives"):
            config.set_mkldnn_cache_capacity(count)
    with pytest.raises(ConversionInputError, match=r"a pool of .* predictors"):
        PredictorPool(config, count)


def test_no_folder_for_the_cache_keeps_none(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for config in (Config(folder), Config(folder)):
        config.set_optim_cache_dir("")
        create_predictor(config)
    assert list(tmp_path.iterdir()) == []
    config.set_optim_cache_dir("cache")
    config.set_optim_cache_dir("")  # takes it back
    create_predictor(config)
    assert list(tmp_path.iterdir()) == []
    for path in (None, 5, ["cache"]):
        with pytest.raises(ConversionInputError, match="set_optim_cache_dir: a path is expected, not"):
            config.set_optim_cache_dir(path)


def test_properties_that_openvino_would_ignore(folder):
    config = Config(folder)
    for value in (object(), None, lambda: 1, [object()], {"a": object()}, np.zeros(2)):
        with pytest.raises(ConversionInputError, match="set_openvino_property: NUM_STREAMS cannot be of type"):
            config.set_openvino_property("NUM_STREAMS", value)
    for name in (5, None, "", ["NUM_STREAMS"]):
        with pytest.raises(ConversionInputError, match=r"set_openvino_property: .* is not a name"):
            config.set_openvino_property(name, 1)
        with pytest.raises(ConversionInputError, match=r"set_openvino_device: .* is not a name"):
            config.set_openvino_device(name)
    assert "NUM_STREAMS" not in config.openvino_properties()
    config.set_openvino_property("NUM_STREAMS", np.int64(2))
    config.set_openvino_property("PERF_COUNT", np.True_)
    config.set_openvino_property("INFERENCE_PRECISION_HINT", openvino.Type.f32)
    config.set_openvino_property("CACHE_DIR", folder / "blobs")
    compiled = create_predictor(config)._request.compiled
    assert compiled.get_property("NUM_STREAMS") == 2
    assert compiled.get_property("PERF_COUNT") in (True, "YES")


@pytest.mark.parametrize("switch", ["enable_openvino_engine", "set_openvino_cores", "set_openvino_precision"])
def test_what_cannot_be_looked_up(switch):
    for value in (["f32"], {"a": 1}, None, 5):
        with pytest.raises(ConversionInputError, match=switch):
            getattr(Config(), switch)(value)


def test_two_predictors_of_a_copy(folder):
    config = Config(folder)
    for value in (create_predictor(config), create_predictor(Config(config))):
        np.testing.assert_array_equal(value.run([X])[0], 2 * X)
