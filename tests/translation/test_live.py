"""Live Paddle objects: layers with an input spec or an example, and static programs."""

import io

import numpy as np
import paddle
import pytest
from openvino import Dimension, PartialShape, Type

import paddle2ov
from paddle2ov import ConversionInputError
from paddle2ov.compilation.running import run


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(4, 3)
        self.dropout = paddle.nn.Dropout(0.5)

    def forward(self, x):
        return paddle.nn.functional.relu(self.dropout(self.linear(x)))


@pytest.fixture(autouse=True)
def dynamic_mode():
    paddle.disable_static()
    yield
    paddle.disable_static()


@pytest.fixture
def net():
    paddle.seed(3)
    return Net()


X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


def check(model, net, name="x"):
    net.eval()
    (result,) = run(model, {name: X})
    np.testing.assert_allclose(result.array, net(paddle.to_tensor(X)).numpy(), rtol=2e-5, atol=2e-5)


class Difference(paddle.nn.Layer):
    def forward(self, x, y, scale=None):
        return x - 2 * y if scale is None else (x - 2 * y) * scale


@pytest.mark.parametrize(
    "arguments",
    [
        {"example_input": {"y": X[:1], "x": X}},
        {"input": {"y": [1, 4], "x": [2, 4]}},
        {"input": "y[?,4],x[?,4]"},
        {"input": [("y", [-1, 4]), ("x", [-1, 4])]},
        {"input": {"y": paddle.static.InputSpec([1, 4]), "x": paddle.static.InputSpec([2, 4])}},
        {"input": {"y": [1, -1], "x": [-1, 4]}, "example_input": {"x": X, "y": X[:1]}},
    ],
    ids=["example", "mapping", "text", "pairs", "specs", "both"],
)
def test_inputs_of_a_layer_go_by_their_names(arguments):
    model = paddle2ov.convert(Difference(), **arguments)
    (result,) = run(model, {"x": X, "y": X[:1]})
    np.testing.assert_array_equal(result.array, X - 2 * X[:1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input": {"x": [2, 4], "q": [2, 4]}}, "inputs are x, y, scale; 'q' is none"),
        ({"example_input": {"y": X}}, "'x' is missing"),
        ({"example_input": {"scale": X, "x": X}}, "'y' is missing"),
    ],
)
def test_names_that_are_not_those_of_the_first_inputs(arguments, message):
    with pytest.raises(ConversionInputError, match=message):
        paddle2ov.convert(Difference(), **arguments)


@pytest.mark.parametrize(
    ("arguments", "name", "shape"),
    [
        ({"input": [paddle.static.InputSpec([None, 4], "float32", "x")]}, "x", [-1, 4]),
        ({"input": {"x": [-1, 4]}}, "x", [-1, 4]),
        ({"input": [("image", [2, 4])]}, "image", [2, 4]),
        ({"input": [[-1, 4]]}, "x", [-1, 4]),
        ({"input": [paddle.static.InputSpec([None, 4])]}, "x", [-1, 4]),
        ({"example_input": X}, "x", [2, 4]),
        ({"example_input": [paddle.to_tensor(X)]}, "x", [2, 4]),
    ],
)
def test_layer(net, arguments, name, shape):
    model = paddle2ov.convert(net, **arguments)
    assert model.input(0).get_any_name() == name
    assert model.input(0).get_partial_shape() == PartialShape(shape)
    assert net.training  # as it was
    check(model, net, name)


class OfFeatures(paddle.nn.Layer):
    """Takes a mapping, as detectors do, and a list."""

    def forward(self, inputs, features):
        return inputs["image"] * inputs["scale"] - features[0] * 2 + features[1]


SPEC = paddle.static.InputSpec


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (
            {
                "input": [
                    {"image": SPEC([None, 4], name="image"), "scale": SPEC([1, 4], name="factor")},
                    [SPEC([1, 4]), SPEC([None, 4])],
                ]
            },
            ["image", "factor", "features_0", "features_1"],
        ),
        (
            {"example_input": [{"image": X, "scale": X[:1]}, [X[1:], X]]},
            ["image", "scale", "features_0", "features_1"],
        ),
        (
            {"example_input": {"features": (X[1:], X), "inputs": {"image": paddle.to_tensor(X), "scale": X[:1]}}},
            ["image", "scale", "features_0", "features_1"],
        ),
    ],
    ids=["spec", "example", "by_name"],
)
def test_parameters_that_are_mappings_and_lists(arguments, names):
    net = OfFeatures()
    model = paddle2ov.convert(net, **arguments)
    assert [port.get_any_name() for port in model.inputs] == names
    (result,) = run(model, dict(zip(names, [X, X[:1], X[1:], X], strict=True)))
    image, scale, first, second = (paddle.to_tensor(array) for array in (X, X[:1], X[1:], X))
    expected = net({"image": image, "scale": scale}, [first, second])
    np.testing.assert_allclose(result.array, expected.numpy(), rtol=1e-6, atol=1e-6)


def test_entries_of_two_mappings_need_names_of_their_own():
    class OfMappings(paddle.nn.Layer):
        def forward(self, x, y):
            return x["image"] - y["image"]

    with pytest.raises(ConversionInputError, match="'image' names several inputs; give InputSpecs of other names"):
        paddle2ov.convert(OfMappings(), example_input=[{"image": X}, {"image": X}])
    spec = [{"image": SPEC([2, 4], name=name)} for name in ("first", "second")]
    model = paddle2ov.convert(OfMappings(), input=spec)
    assert [port.get_any_name() for port in model.inputs] == ["first", "second"]


class OfMapping(paddle.nn.Layer):
    def forward(self, inputs):
        return inputs["image"] * inputs["scale"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"example_input": {"image": X, "scale": X[:1]}},
        {"input": {"image": SPEC([None, 4]), "scale": SPEC([1, 4])}},
        {"input": {"image": [-1, 4], "scale": [1, (1, 4)]}},
        {"input": "image[?,4],scale[1,4]"},
        {"input": {"scale": [1, 4], "image": [-1, 4]}, "example_input": {"scale": X[:1], "image": X}},
    ],
    ids=["example", "specs", "shapes", "text", "both"],
)
def test_inputs_of_a_single_mapping_go_by_their_names(arguments):
    model = paddle2ov.convert(OfMapping(), **arguments)
    (result,) = run(model, {"image": X, "scale": X[:1]})
    np.testing.assert_array_equal(result.array, X * X[:1])


def test_a_single_mapping_beside_other_arguments():
    class OfMapping(paddle.nn.Layer):
        def forward(self, inputs, **options):
            return inputs["image"] * inputs["scale"]

    model = paddle2ov.convert(OfMapping(), input={"image": [2, 4], "scale": [1, 4]})
    assert [port.get_any_name() for port in model.inputs] == ["image", "scale"]


@pytest.mark.parametrize(("dtype", "warns"), [("float64", True), ("float32", False)])
def test_doubles_before_weights_in_float32_are_told(dtype, warns, caplog):
    class Casting(Net):
        def forward(self, x):
            return super().forward(x.astype("float32"))

    paddle2ov.convert(Casting(), example_input=X.astype(dtype))
    told = "'x' is float64, and the Layer's weights are not: .astype('float32')?" in caplog.messages
    assert told == warns


def test_weights_outlive_the_temporary_files(net):
    check(paddle2ov.convert(net, example_input=X, share_weights=True), net)
    check(paddle2ov.convert(net, example_input=X, share_weights=False), net)


def doubled(x):
    return 2 * x


class Static(Net):
    @paddle.jit.to_static
    def forward(self, x):
        return super().forward(x)


IMAGE = [paddle.static.InputSpec([None, 4], "float32", "image")]


class StaticWithSpec(Net):
    @paddle.jit.to_static(input_spec=IMAGE, full_graph=True)
    def forward(self, x):
        return super().forward(x)


@pytest.mark.parametrize("run_model", [paddle2ov.convert, paddle2ov.compile_model], ids=["convert", "compile"])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: paddle.jit.to_static(Net()), "x"),
        (lambda: paddle.jit.to_static(Net(), full_graph=True), "x"),
        (lambda: paddle.jit.to_static(Net(), input_spec=IMAGE, full_graph=True), "image"),
        (Static, "x"),
        (StaticWithSpec, "image"),
        (lambda: paddle.jit.to_static(doubled), "x"),
    ],
    ids=["layer", "whole graph", "with spec", "decorated", "decorated with spec", "function"],
)
def test_what_is_made_static_already(make, name, run_model):
    """A spec of its own stays, with the shapes that `input` narrows it to."""
    model = run_model(make(), input={name: [2, 4]})
    assert model.input(0).get_any_name() == name
    assert model.input(0).get_partial_shape() == PartialShape([2, 4])


def test_a_static_layer_computes_what_it_did():
    paddle.seed(3)
    net = paddle.jit.to_static(Net())
    check(paddle2ov.convert(net, input={"x": [-1, 4]}), net)


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (StaticWithSpec, {"input": {"x": [2, 4]}}, "the program has no 'x'; its inputs are image"),
        (lambda: doubled, {"input": {"x": [2, 4]}}, "not function; paddle.jit.to_static makes a model of a function"),
        (
            lambda: paddle.jit.to_static(lambda x: 2 * x),  # whose source Paddle does not find
            {"input": {"x": [2, 4]}},
            "Paddle cannot save the Layer, as paddle.jit.save does: ",
        ),
        (Net, {"input": {"x": [2, 4], "y": [2]}}, "the Layer's inputs are x; 'y' is none"),
        (
            Difference,
            {"input": {name: [2, 4] for name in "abcd"}},
            "Paddle cannot save the Layer, .*requires 3 arguments",
        ),
        # Not one whose layers refuse a size: Paddle 3.3.1 may crash later where tracing ended there.
    ],
)
def test_what_paddle_does_not_save(model, arguments, message):
    with pytest.raises(ConversionInputError, match=message):
        paddle2ov.convert(model(), **arguments)


def test_inputs_of_another_type_than_a_layer_takes_are_named(monkeypatch):
    def refuse(*args, **kwargs):
        raise TypeError("float32 beside int64")

    given = {"x": [2, -1], "y": ([2, 4], "int64")}
    assert paddle2ov.convert(Difference(), input=given | {"x": ([2, -1], "int64")}).input(0).element_type == Type.i64
    monkeypatch.setattr(paddle.jit, "save", refuse)  # Paddle 3.3.1 may crash later where tracing ended
    with pytest.raises(ConversionInputError, match=r"int64\nfloat32 here: x; .*input={'x': \(\[2, -1\], 'int64'\)}"):
        paddle2ov.convert(Difference(), input=given)


def test_a_mapping_that_a_layer_does_not_take_is_named(monkeypatch):
    def refuse(*args, **kwargs):
        raise TypeError("argument must be Value, but got dict")

    monkeypatch.setattr(paddle.jit, "save", refuse)  # Paddle 3.3.1 may crash later where tracing ended
    with pytest.raises(ConversionInputError, match=r"the mapping \{a, b\} for a parameter of `forward`.*got dict"):
        paddle2ov.convert(Net(), input={"a": [2, 4], "b": [2]})


@pytest.mark.parametrize("size", [2, (1, 4)])
def test_an_input_without_a_name_beside_one_of_the_first_parameter(size):
    class Difference(paddle.nn.Layer):
        def forward(self, image, scale):
            return image - scale

    converted = paddle2ov.convert(Difference(), input=[("scale", [size, 3]), [size, 3]])
    assert [port.any_name for port in converted.inputs] == ["scale", "x1"]


def test_bounds_of_inputs_without_names():
    model = paddle2ov.convert(Difference(), input=[[(1, 8), 4], [1, 4]])
    assert [port.get_any_name() for port in model.inputs] == ["x", "y"]
    assert model.input("x").get_partial_shape() == PartialShape([Dimension(1, 8), 4])


def test_what_a_saved_layer_cannot_hold(net):
    model = paddle2ov.convert(net, input={"x": [(1, 8), 4]})
    assert model.input("x").get_partial_shape() == PartialShape([Dimension(1, 8), 4])
    assert paddle2ov.convert(net, example_input={"image": X}).input(0).get_any_name() == "image"
    with pytest.raises(ConversionInputError, match="output: the program has no 'nope'"):
        paddle2ov.convert(net, example_input=X, output="nope")
    with pytest.raises(ConversionInputError, match="params is for a model in files, not for a Net"):
        paddle2ov.convert(net, "weights.pdiparams", example_input=X)
    with pytest.raises(ConversionInputError, match="example_input: str is no tensor or array"):
        paddle2ov.convert(net, example_input="x")


def test_permutation_of_the_first_axes():
    """Paddle's layers compute it; its executor of programs does not on a CPU, so it is no case of `gen_models`."""

    class Swap(paddle.nn.Layer):
        def forward(self, x):
            return paddle.transpose(x.reshape([2, 2, 2]), [1, 0])

    check(paddle2ov.convert(Swap(), input={"x": [2, 4]}), Swap())


def test_a_layer_that_was_loaded(net, tmp_path):
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([-1, 4], "float32", "x")])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    with pytest.raises(ConversionInputError, match=r"pass the path that it was loaded from, or input=\.\.\."):
        paddle2ov.convert(loaded)
    assert paddle2ov.verify(loaded, shapes={"x": [2, 4]}).ok


def test_layer_without_a_spec(net):
    with pytest.raises(ConversionInputError, match="a Layer needs its input spec"):
        paddle2ov.convert(net)


@pytest.mark.parametrize("by_name", [True, False])
def test_program(by_name):
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [-1, 4])
        y = paddle.static.nn.fc(x, 3)
        z = paddle.exp(y)
    executor = paddle.static.Executor()
    executor.run(startup)
    want = executor.run(main, feed={"x": X}, fetch_list=[y, z])
    model = paddle2ov.convert(main, output=[y, z]) if not by_name else paddle2ov.convert(main, input=[x], output=[y, z])
    for result, array in zip(run(model, {"x": X}), want, strict=True):
        np.testing.assert_allclose(result.array, array, rtol=2e-5, atol=2e-5)
    for spec in ({"x": [2, 4]}, [("x", [2, 4])], "x[2,4]"):
        model = paddle2ov.convert(main, input=spec, output=[y])
        assert model.input(0).get_partial_shape() == PartialShape([2, 4])
        np.testing.assert_allclose(run(model, {"x": X})[0].array, want[0], rtol=2e-5, atol=2e-5)
    with pytest.raises(ConversionInputError, match="as variables, or by their names"):
        paddle2ov.convert(main, input=[2, 4], output=[y])
    with pytest.raises(ConversionInputError, match="as variables, or by their names"):
        paddle2ov.convert(main, example_input=X, output=[y])
    with pytest.raises(ConversionInputError, match="needs output="):
        paddle2ov.convert(main)
    with pytest.raises(ConversionInputError, match="output: the program has no variable 'nope'; pass the variable"):
        paddle2ov.convert(main, output="nope")
    paddle.disable_static()


@pytest.mark.parametrize("model", [3, object(), ["a", "b", "c"]])
def test_what_is_no_model(model):
    with pytest.raises(ConversionInputError, match="a model"):
        paddle2ov.convert(model)


def quantize(model, **arguments):
    """Quantizes with ten items."""
    return paddle2ov.quantize(model, [{"x": X * i / 10} for i in range(10)], **arguments)


def verdict_of(function, model, **arguments):
    """What a public function finds of a model; an agreement of 1 of the network, which is small, counts as agreeing."""
    found = function(model, **arguments)
    if isinstance(found, paddle2ov.Inspection):
        return found.convertible, [port.name for port in found.inputs]
    if isinstance(found, paddle2ov.Quantized):
        return found.model.input(0).get_any_name(), len(found.precisions) > 1
    return found.verdict, str(found.model)


SPECS = {
    paddle2ov.inspect: ("input", "example_input"),
    paddle2ov.verify: ("shapes", "inputs"),
    paddle2ov.check: ("shapes", "inputs"),
    quantize: ("input", "example_input"),
}
FOUND = {paddle2ov.inspect: (True, ["x"]), quantize: ("x", True)}


@pytest.mark.parametrize("function", SPECS)
def test_one_rule_for_what_a_model_is(net, tmp_path, function):
    """Whatever `convert` takes: files, pairs, contents, streams, layers."""
    spec, example = SPECS[function]
    prefix = tmp_path / "inference"
    paddle.jit.save(net, str(prefix), [paddle.static.InputSpec([-1, 4], "float32", "x")])
    program, params = prefix.with_suffix(".json"), prefix.with_suffix(".pdiparams")
    expected = FOUND.get(function, ("agree", str(program)))
    assert verdict_of(function, (program, params))[0] == expected[0]
    named = FOUND.get(function, ("agree", "bytes"))
    assert verdict_of(function, program.read_bytes(), params=params.read_bytes())[0] == named[0]
    with program.open("rb") as stream:
        assert verdict_of(function, stream, params=io.BytesIO(params.read_bytes()))[0] == named[0]

    named = FOUND.get(function, ("agree", "Net"))
    given = {"inputs": [{"x": X}]} if example == "inputs" else {example: {"x": X}}
    was_training = net.training
    assert verdict_of(function, net, **{spec: {"x": [-1, 4]}}) == named
    assert verdict_of(function, net, **{spec: {"x": [(1, 8), 4]}}) == named
    assert verdict_of(function, net, **{spec: [paddle.static.InputSpec([2, 4], "float32", "x")]}) == named
    assert verdict_of(function, net, **given) == named
    assert net.training == was_training
    static = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([-1, 4], "float32", "x")])
    assert verdict_of(function, static) == named
    assert verdict_of(function, static, **{spec: {"x": [2, 4]}}) == named

    with pytest.raises(ConversionInputError, match="a Layer needs its input spec: pass input="):
        function(net)
    with pytest.raises(ConversionInputError, match="params is for a model in files, not for a Net"):
        function(net, params="weights", **given)
    for model in (None, 3, lambda x: x):
        with pytest.raises(ConversionInputError, match="a model is a path, a pair of paths, a paddle"):
            function(model)
    with pytest.raises(ConversionInputError, match="a model given as a pair is"):
        function((program, params, params))
    if function is not paddle2ov.inspect:
        with pytest.raises(ConversionInputError, match="what read_program returns is not in files; pass the path"):
            function(paddle2ov.read_program(tmp_path))


def test_a_static_program_is_verified_and_its_results_are_named():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [-1, 4], "float32")
        y = paddle.nn.functional.relu(x)
    paddle.disable_static()
    assert paddle2ov.verify(main, outputs=[y]).verdict == "agree"
    run, *others = paddle2ov.verify(main, outputs=[y], shapes={"x": [5, 4]}).runs
    assert (run.inputs, others) == ({"x": (5, 4)}, [])
    assert paddle2ov.verify(main, outputs=[y], inputs={"x": X}).verdict == "agree"
    assert paddle2ov.inspect(main, output=[y]).convertible
    for function in (paddle2ov.verify, paddle2ov.check, paddle2ov.inspect):
        with pytest.raises(ConversionInputError, match="a Program needs output="):
            function(main)


def test_shapes_of_a_layer_are_one_set(net):
    runs = paddle2ov.verify(net, shapes={"x": [-1, 4]}).runs
    assert len(runs) > 1  # as of a saved model
    (run,) = paddle2ov.verify(net, shapes="x[3,4]").runs
    assert run.inputs == {"x": (3, 4)}
    (run,) = paddle2ov.verify(net, shapes={"x": [(5, 6), 4]}).runs
    assert run.inputs["x"][0] in (5, 6)
    for function in (paddle2ov.verify, paddle2ov.check):
        with pytest.raises(ConversionInputError, match="shapes: of a live model they are its input spec"):
            function(net, shapes=["x[1,4]", "x[2,4]"])


def test_messages_name_a_live_model(net):
    with pytest.raises(ConversionInputError, match="pictures: they are for a model with one"):
        paddle2ov.verify(net, shapes={"x": [1, 4]}, images="page.png")
    picture = paddle.nn.Conv2D(3, 3, 1)
    with pytest.raises(ConversionInputError, match=r"pictures: Conv2D holds no settings"):
        paddle2ov.verify(picture, shapes={"x": [1, 3, 32, 32]}, images="page.png")


def test_an_input_that_no_result_depends_on_is_named_as_the_reason():
    """As of detectors exported without their last steps."""
    sizes = {"image": [1, 3], "im_shape": [1, 3], "scale": [1, 3]}
    with pytest.raises(
        ConversionInputError, match=r"no result depends on one of its inputs \(image, im_shape, scale\)"
    ):
        paddle2ov.convert(OfMapping(), input=sizes)
    del sizes["im_shape"]
    model = paddle2ov.convert(OfMapping(), input=sizes)
    assert [item.any_name for item in model.inputs] == ["image", "scale"]
