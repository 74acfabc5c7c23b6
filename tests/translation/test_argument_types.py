"""Arguments of public functions that are of no type they take: refused by an error of ours, whatever they are."""

import inspect
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import paddle2ov
from paddle2ov import ConversionInputError, Paddle2OVError, inference
from tests.support.models import save_layer

WRONG = [5, 2.5, True, b"x", "no", [], {}, object(), np.zeros(3), float("nan"), ("a",), {1}, Path("none"), None]
NOT_INPUTS = {"inputs": {"no such input": np.zeros(1)}}
"""What `verify` and `check` refuse after their arguments, and before they run anything."""
FUNCTIONS = {
    paddle2ov.convert: {},
    paddle2ov.compile_model: {},
    paddle2ov.inspect: {},
    paddle2ov.read_program: {},
    paddle2ov.verify: NOT_INPUTS,
    paddle2ov.check: NOT_INPUTS,
    paddle2ov.quantize: {"data": [{"no such input": np.zeros(1)}]},
}


@pytest.fixture(scope="module")
def relu(tmp_path_factory):
    import paddle

    folder = tmp_path_factory.mktemp("relu")
    save_layer(folder, paddle.nn.ReLU(), x=[-1, 3])
    return folder


def cases():
    for function, given in FUNCTIONS.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is not parameter.VAR_KEYWORD and name not in given:
                yield pytest.param(function, name, given, id=f"{function.__name__}-{name}")


@pytest.mark.parametrize(("function", "name", "given"), list(cases()))
def test_any_type_is_taken_or_refused_by_an_error_of_ours(function, name, given, relu, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in WRONG:
        with suppress(Paddle2OVError):
            function(**{"model": relu, **given, name: value})


@pytest.mark.parametrize("name", ["verbose", "share_weights", "rewrite", "bounded", "preprocess"])
def test_a_flag_is_true_or_false(name, relu):
    for value in ("no", 2, np.zeros(3)):
        with pytest.raises(ConversionInputError, match=f"{name}: .* is neither True nor False"):
            paddle2ov.convert(relu, **{name: value})
    if name not in ("bounded", "preprocess"):
        paddle2ov.convert(relu, **{name: np.bool_(True)})


def test_progress_is_a_function(relu):
    for function in (paddle2ov.convert, paddle2ov.verify, paddle2ov.check):
        with pytest.raises(ConversionInputError, match="progress: a function is expected, not str"):
            function(relu, progress="x")


def test_names_of_other_functions_arguments(relu):
    for function, name, there in (
        (paddle2ov.verify, "input", "shapes"),
        (paddle2ov.verify, "output", "outputs"),
        (paddle2ov.check, "input", "shapes"),
        (paddle2ov.check, "shape", "shapes"),
        (paddle2ov.verify, "device_name", "device"),
        *((function, "input_model", "model") for function in (paddle2ov.convert, paddle2ov.compile_model)),
        *((function, "inputs", "input") for function in (paddle2ov.convert, paddle2ov.compile_model)),
        *((function, "shape", "input") for function in (paddle2ov.convert, paddle2ov.inspect, paddle2ov.compile_model)),
        (paddle2ov.compile_model, "device_name", "device"),
        (paddle2ov.compile_model, "hint", "config"),
        (paddle2ov.convert, "outputs", "output"),
    ):
        message = f"{function.__name__} has no argument '{name}': write {there}="
        with pytest.raises(ConversionInputError, match=message):
            function(relu, **{name: "x"})


def test_what_is_no_argument_is_told_by_the_function_that_is_called(relu):
    functions = (
        *(getattr(paddle2ov, name) for name in ("check", "compile_model", "convert", "inspect", "verify")),
        partial(paddle2ov.quantize, data=[{"x": np.zeros(2)}]),
    )
    for function in functions:
        name = getattr(function, "func", function).__name__
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'nothing'$"):
            function(relu, nothing=1)
        with pytest.raises(TypeError, match=rf"^{name}\(\) .*missing .*'model'$"):
            function()


def test_a_case_goes_to_a_folder(relu, tmp_path):
    (tmp_path / "file").write_text("")
    for function in (paddle2ov.verify, paddle2ov.check):
        with pytest.raises(ConversionInputError, match="case: a path is expected, not int"):
            function(relu, case=5)
        with pytest.raises(ConversionInputError, match=r"case: .*file cannot be written"):
            function(relu, case=tmp_path / "file")


def test_one_picture_needs_no_list(relu):
    with pytest.raises(ConversionInputError, match="pictures: they are for a model with one float32 input"):
        paddle2ov.verify(relu, images="page.png")
    with pytest.raises(ConversionInputError, match="images: paths of pictures are expected, not 5"):
        paddle2ov.verify(relu, images=5)


def test_a_predictor_is_made_of_a_config():
    with pytest.raises(ConversionInputError, match="Predictor: a Config is expected, not str"):
        inference.Predictor("model")


def test_switches_of_a_config():
    config = inference.Config()
    for value in (np.bool_(True), 1, 2.0):
        config.switch_ir_optim(value)
        assert config.ir_optim() is True
    config.switch_ir_optim(None)
    assert config.ir_optim() is False
    for switch in (config.switch_ir_optim, config.set_openvino_hint, config.openvino_properties):
        with pytest.raises(ConversionInputError, match=switch.__name__):
            switch(np.zeros(3))


def test_a_model_that_is_converted_is_to_be_compiled(relu):
    model = paddle2ov.convert(relu)
    with pytest.raises(ConversionInputError, match=r"Model; compile_model compiles one that is converted"):
        paddle2ov.convert(model)
    for function in (paddle2ov.verify, partial(paddle2ov.quantize, data=[{}])):
        with pytest.raises(ConversionInputError, match=r"not Model: `check` takes one that is converted, as does"):
            function(model)
    assert paddle2ov.compile_model(model).inputs
    with pytest.raises(ConversionInputError, match=r"not NoneType$"):
        paddle2ov.convert(None)


def test_a_converter_is_registered_by_name():
    with pytest.raises(ConversionInputError, match=r'@register_converter\("my_op"\) stands above the function'):

        @paddle2ov.register_converter
        def my_op(node):
            return {}
