"""Gradients against central differences in float64."""

import math

import numpy as np
import pytest

from gen_models import all_networks, all_ops
from gen_models.harness.generate import SEED
from gen_models.harness.spec import import_paddle, paddle
from gen_models.harness.store import generated, generated_network
from paddle2ov import convert
from paddle2ov.compilation.compile import compile_model
from paddle2ov.compilation.running import run
from paddle2ov.program.op_versions import semantics_of
from tests.support.models import check_beside_paddle
from tests.support.one_operator import close, program, refused

STEP = 1e-5


def computed(folder, inputs):
    """What OpenVINO computes, in order."""
    model = compile_model(folder)
    results = model({value.any_name: inputs[value.any_name] for value in model.inputs})
    return [results[output] for output in model.outputs]


def differences(function, x):
    """The gradient of a function of an array to a number."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = STEP
        gradient[i] = (function(x + step) - function(x - step)) / (2 * STEP)
    return gradient


def layer_norm(x):
    flat = x.reshape(len(x), -1)
    return (flat - flat.mean(1, keepdims=True)) / np.sqrt(flat.var(1, keepdims=True) + 1e-5)


FUNCTIONS = {
    ("tanh_grad", 0): np.tanh,
    ("silu_grad", 0): lambda x: x / (1 + np.exp(-x)),
    ("softplus_grad", 0): lambda x: np.log1p(np.exp(x)),
    ("erf_grad", 0): np.vectorize(math.erf, [float]),
    ("logsumexp_grad", 0): lambda x: np.log(np.exp(x).sum(1)),
    ("reduce_prod_grad", 0): lambda x: x.prod(1),
    ("cumsum_grad", 0): lambda x: x.cumsum(1),
    ("softmax_grad", 0): lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    ("layer_norm_grad", 1): layer_norm,
}


OLDER = {
    "hard_swish": ({"threshold": 4.0, "scale": 4.0, "offset": 1.0}, lambda x: x * paddle.clip(x + 1, 0, 4) / 4),
    "relu6": ({"threshold": 4.0}, lambda x: paddle.clip(x, 0, 4)),
    "swish": ({"beta": 2.0}, lambda x: x * paddle.nn.functional.sigmoid(2 * x)),
}
"""Attributes that kernels before Paddle 2.6 read, and what the function is then."""


@pytest.mark.parametrize("name", OLDER)
def test_attributes_of_programs_before_paddle_2_6_are_read(name):
    attributes, function = OLDER[name]
    x = paddle.to_tensor(np.linspace(-5, 9, 29, dtype=np.float32) + 0.1, stop_gradient=False)
    out, out_grad = function(x), np.linspace(1, 2, 29, dtype=np.float32)
    (wanted,) = paddle.grad(out, x, paddle.to_tensor(out_grad))
    given = {"out": out} if name == "relu6" else {"x": x}
    arrays = {"out_grad": out_grad, **{port: value.numpy() for port, value in given.items()}}
    whole, feeds = program(f"{name}_grad", arrays, attributes, ["x_grad"], format="legacy")
    whole.block.operators[0].semantics = semantics_of(f"{name}_grad", 2_005_002)
    close(run(convert(whole), feeds)[0].array, wanted)


@pytest.mark.parametrize(("key", "number"), FUNCTIONS)
def test_first_order(key, number):
    """The cases differentiate with 0.7 f + 0.3, which makes them the gradients of the sum of 0.35 f² + 0.3 f."""
    folder = generated(all_ops()[key], all_ops()[key].cases[number], "pir")
    inputs = dict(np.load(folder / "inputs.npz"))
    (gradient,) = computed(folder, inputs)
    (x,) = inputs.values()
    function = FUNCTIONS[key, number]
    wanted = differences(lambda x: (0.35 * function(x) ** 2 + 0.3 * function(x)).sum(), x.astype(np.float64))
    np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-5)


def of_product(x, y):
    x.stop_gradient = y.stop_gradient = False
    return paddle.grad(paddle.tanh(x * y), [x, y])


@pytest.mark.parametrize("sizes", [[-1, 4], [-1, 3, -1]], ids=["rows", "pictures"])
def test_dimensions_that_may_have_been_broadcast(sizes, tmp_path):
    """They are summed in front of what is kept: OpenVINO's sum over a last dimension of 1 is slow."""
    known = len(sizes) == 2
    shapes = [([5, 4], [5, 4]), ([5, 4], [1, 4]), ([1, 4], [5, 4]), ([1, 4], [1, 4])]
    if not known:
        shapes = [([5, 3, 4], [5, 3, 4]), ([5, 3, 1], [1, 3, 4]), ([1, 3, 4], [5, 3, 4]), ([5, 3, 4], [5, 3, 1])]
    rng = np.random.default_rng(0)
    runs = [[rng.standard_normal(shape).astype(np.float32) for shape in each] for each in shapes]
    check_beside_paddle(tmp_path, of_product, *runs, tolerance=1e-6, x=sizes, y=sizes)
    sums = [node for node in convert(tmp_path).get_ops() if node.get_type_name() == "ReduceSum"]
    assert [node.input_value(1).get_node().data.tolist() for node in sums] == [[0] if known else [0, 3]] * 2


def in_float64(network):
    """A network with its weights, as a function of float64 arrays."""
    import_paddle().disable_static()
    paddle.seed(SEED)
    with paddle.utils.unique_name.guard():
        layer = network.build().to(dtype="float64")
    layer.eval()
    return lambda *given: [item.numpy() for item in layer(*map(paddle.to_tensor, given))]


@pytest.mark.parametrize("name", ["burgers_residual", "molecule_forces", "saliency_map"])
def test_networks(name):
    network = all_networks()[name]
    inputs = network.data()[0]
    _, derivative = computed(generated_network(network, "pir"), inputs)
    first, *others = (input_.astype(np.float64) if input_.dtype == np.float32 else input_ for input_ in inputs.values())
    compute = in_float64(network)
    if name == "burgers_residual":
        (t,), h = others, 1e-4
        u, right, left = (compute(first + step, t)[0] for step in (0, h, -h))
        in_time = (compute(first, t + h)[0] - compute(first, t - h)[0]) / (2 * h)
        wanted = in_time + u * (right - left) / (2 * h) - 0.01 * (right - 2 * u + left) / h**2
    elif name == "molecule_forces":
        wanted = -differences(lambda x: float(compute(x, *others)[0]), first)
    else:
        image, corner = first[:1], first[:1, :, :4, :4]

        def score(x):
            changed = image.copy()
            changed[:, :, :4, :4] = x
            return float(compute(changed)[0].max())

        derivative, wanted = derivative[:1, :4, :4], np.abs(differences(score, corner)).max(1)
    np.testing.assert_allclose(derivative, wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("axis", [-(2**62), -2, 3, 2**61])
def test_an_axis_beyond_the_operands_is_refused(axis):
    """Of the dimensions that it adds a list would be made, of any length."""
    x, y = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    inputs, results = {"x": x, "y": y, "out_grad": x}, ("x_grad", "y_grad")
    refused(f"axis={axis}: out of range for rank 2", "elementwise_mul_grad", inputs, {"axis": axis}, results)
