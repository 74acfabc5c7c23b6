"""Which inputs and results a converted model has: those of the program, or the ones that the caller asks for."""

import numpy as np
import pytest

from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov import ConversionInputError, convert, read_program
from paddle2ov.compilation.running import run
from paddle2ov.testing import load
from tests.support.formats import LEGACY


@pytest.fixture(params=["pir", LEGACY])
def folder(request):
    """A convolution of `x`, to which a bias is added; both hold weights."""
    op = all_ops()["conv2d"]
    return generated(op, next(case for case in op.cases if case.arguments.get("bias")), request.param)


def middle(folder):
    (convolution,) = [operator for operator in read_program(folder).block.operators if operator.type == "conv2d"]
    return next(convolution.output_names())


def names(ports):
    return [port.get_any_name() for port in ports]


def test_cut_in_the_middle(folder):
    inputs, cut = load(folder / "inputs.npz"), middle(folder)
    program = read_program(folder)
    (last,) = [item.name for item in program.outputs]
    between, want = run(convert(folder, output=[cut, last]), inputs)
    assert between.names == {cut}

    model = convert(folder, input=cut)
    assert names(model.inputs) == [cut]
    (got,) = run(model, {cut: between.array})
    np.testing.assert_allclose(got.array, want.array, rtol=1e-6, atol=1e-6)
    assert "Convolution" not in {node.get_type_name() for node in model.get_ops()}


def test_named_input_stays_although_a_cut_replaces_it(folder):
    cut = middle(folder)
    assert names(convert(folder, input=["x", cut]).inputs) == ["x", cut]


def test_result_that_is_an_input(folder):
    inputs, cut = load(folder / "inputs.npz"), middle(folder)
    model = convert(folder, input=cut, output=cut)
    assert (names(model.inputs), names(model.outputs)) == ([cut], [cut])
    (x,) = run(convert(folder, output="x"), inputs)
    np.testing.assert_array_equal(x.array, inputs["x"])


def test_ranges_of_every_dimension(folder):
    """As they are given, but for the channels, of which the convolution takes one number only."""
    sizes = load(folder / "inputs.npz")["x"].shape
    model = convert(folder, input={"x": [(1, size + 1) for size in sizes]})
    batch, height, width = (f"1..{sizes[axis] + 1}" for axis in (0, 2, 3))
    assert str(model.input("x").get_partial_shape()) == f"[{batch},{sizes[1]},{height},{width}]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input": ["x", "x"]}, "input: 'x' is given twice"),
        ({"input": "x[?,?,?,?],x[1,?,?,?]"}, "input: 'x' is given twice"),
        ({"input": {"y": [1]}}, "input: the program has no 'y'; its inputs are x"),
        ({"input": {"x": [1, 3]}}, "'x' has 4 dimensions in the program"),
        ({"input": [[1], [1]]}, "input: 2 are given, the program has 1"),
        ({"output": "nope"}, "output: the program has no 'nope'; its results are .*, and tensors inside it may"),
        ({"output": ["x", "x"]}, "output: 'x' is given twice"),
        ({"example_input": np.zeros(3)}, "example_input is for a paddle.nn.Layer"),
    ],
)
def test_arguments_that_do_not_fit(folder, arguments, message):
    with pytest.raises(ConversionInputError, match=message):
        convert(folder, **arguments)


def test_parameters_given_without_a_file(folder):
    with pytest.raises(ConversionInputError, match="params is for a model in files, not for a Program"):
        convert(read_program(folder), "weights.pdiparams")
