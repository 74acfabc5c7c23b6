"""What a oneDNN primitive computes in one arrives as one: each chain of `gen_models/networks/post_ops.py`, compiled.

A chain that stays in several nodes is named in `LIMITS` (or `AVX512_LIMITS`) with the reason; it fails here as soon as
OpenVINO can do it.
Where the batch is unknown, or all sizes but channels are, the same chains are one node (but for `DYNAMIC_LIMITS` and
`SIZES_LIMITS`).
Those of the legacy format give the graph that those of PIR give (but for `LEGACY_LIMITS`), so that they need not be
compiled.
"""

from collections import Counter
from fnmatch import fnmatchcase

import pytest

import paddle2ov
from gen_models.harness.store import generated
from gen_models.networks.post_ops import CHAINS, ELTWISE
from paddle2ov.comparison.differences import Expected
from paddle2ov.compilation.running import compile_on_cpu, infer
from paddle2ov.testing import compare, load
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.processor import has_avx512

_SIMPLE = "the CPU plugin passes oneDNN no post-op of this kind"
_ROUGH = "its small values are rough in oneDNN; other nodes compute them"
_OPERAND = "it takes a second operand into a post-op only if that is constant, per tensor or per channel"
_POOLING = "its Pooling takes no post-op in floating point"
_DECONVOLUTION = "in floating point its Deconvolution takes a bias, a scale and a shift, and no activation"
_LATE_SUM = "its Convolution sums right after the bias, not after an activation"
_PULLED = "OpenVINO moves a factor of a matrix product in front of it, to one of the operands"
_LAST = "the channels of its MatMul are the last dimension, not the second"
_DEPTHWISE = "it takes a depthwise convolution into the one before only where the tensor between them leaves the cache"

LIMITS = [
    ("pooling-*", _POOLING),
    ("*-exp", _SIMPLE),
    ("*-square", _SIMPLE),
    ("*-softplus", _ROUGH),
    ("*-pow", _SIMPLE),
    ("*-maximum_channel", _SIMPLE),
    ("*_element", _OPERAND),
    ("*-multiply_tensor", _OPERAND),
    ("convolution-relu_depthwise_relu_10", _DEPTHWISE),
    *((f"{name}-{sum}", _LATE_SUM) for name in ("*convolution",) for sum in ("relu_sum", "tanh_sum_scale_shift")),
    *((f"{name}-*sum*", _OPERAND) for name in ("deconvolution*", "inner_product", "matmul", "reduction*")),
    *((f"matmul-{name}", _LAST) for name in ("prelu_channel", "batch_norm", "batch_norm_relu", "relu_batch_norm")),
    *((f"matmul-{name}", _PULLED) for name in ("linear", "multiply_*", "divide_*", "subtract_from_number")),
    *((f"matmul-{name}", _PULLED) for name in ("hard_sigmoid_0.2", "scale_relu_scale")),
    *((f"deconvolution-{item}", _DECONVOLUTION) for item in ELTWISE if item != "linear"),
    *((f"deconvolution-{name}", _DECONVOLUTION) for name in ("prelu_*", "*relu*")),
    *((f"deconvolution_1d-{name}", _DECONVOLUTION) for name in ("*relu", "swish", "gelu_erf")),
]
"""Pattern of names -> why these chains are several nodes."""

AVX512_LIMITS = [
    ("convolution-relu_depthwise_relu_512", "a depthwise convolution is taken into the one before only without AVX-512")
]
DYNAMIC_LIMITS = [
    (
        "convolution-relu_depthwise_relu_512",
        "a depthwise convolution is taken into the one before where all sizes, the batch too, are known",
    ),
]
_PIXEL = "a constant along the channels is computed in the run, as bfloat16 is wrong where an image has one pixel"
SIZES_LIMITS = [(f"*convolution-{name}", _PIXEL) for name in ("prelu_channel", "relu_batch_norm")]
LEGACY_LIMITS = [("*-round", "Paddle 2 rounds halves away from zero, for which OpenVINO and oneDNN have no operation")]

UNNAMED = ("convolution-relu_depthwise_relu_512", "deconvolution_1d-*")
"""One node, which keeps the names of the first convolution's operators only, or is followed by a Squeeze."""

SKIPPED_KINDS = ("Input", "Output", "Reorder")
SEQUENTIAL_KINDS = (*SKIPPED_KINDS, "Reshape")  # transposed convolutions and reductions have rank 4


def limit(name, limits=LIMITS):
    return next((why for pattern, why in limits if fnmatchcase(name, pattern)), None)


def primitives(compiled, skipped=SKIPPED_KINDS):
    """The nodes of a compiled graph that compute on its inputs: (kind, names of the operators in it).

    Changes of the layout are not counted: a network has them at its ends, a chain would have them around each node.
    """
    nodes, live = [], set()
    for node in compiled.get_runtime_model().get_ordered_ops():
        info = node.get_rt_info()
        kind = info["layerType"].astype(str)
        sources = [value.get_node().get_name() for value in node.input_values()]
        if kind == "Input" or any(source in live for source in sources):
            if kind == "Input" and node.get_type_name() == "Constant":
                continue
            live.add(node.get_name())
            if kind not in skipped:
                nodes.append((kind, set(info["originalLayersNames"].astype(str).split(","))))
    return nodes


def skipped_kinds(chain):
    return SEQUENTIAL_KINDS if chain.name.startswith(("deconvolution_1d", "reduction_1d")) else SKIPPED_KINDS


@pytest.mark.one_in(5)
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.name)
def test_post_ops(chain):
    (case,) = chain.cases
    folder = generated(chain, case, "pir")
    model = paddle2ov.convert(folder)
    last = {result.input_value(0).get_node().get_friendly_name() for result in model.get_results()}
    compiled = compile_on_cpu(model)
    inputs = load(folder / "inputs.npz")
    expected = [Expected("", "float32", array) for array in load(folder / "outputs.npz").values()]
    compare(infer(compiled, inputs), expected, 2e-5, 2e-5, chain.name)
    nodes = primitives(compiled, skipped_kinds(chain))
    why = limit(chain.name) or (limit(chain.name, AVX512_LIMITS) if has_avx512() else None)
    if why is None:
        assert len(nodes) == 1, f"{chain.name} is {[kind for kind, _ in nodes]}"
        assert (last <= nodes[0][1]) != any(fnmatchcase(chain.name, pattern) for pattern in UNNAMED), (
            f"{chain.name} ends in {last}, which is not among {nodes[0][1]}"
        )
    else:
        assert len(nodes) > 1, f"{chain.name} is one node now; LIMITS says: {why}"


def dynamic_shapes(chain, unknown):
    """The inputs' shapes without their batch, or of which only channels are known, and rows and columns of products.

    OpenVINO 2026.4 cannot compile a product of unknown width before a constant of known width.
    """
    (case,) = chain.cases
    if unknown == "batch":
        return {name: [-1, *spec.shape[1:]] for name, spec in case.tensors().items()}
    known = {2: (1,), 3: (1,), 4: (2, 3) if chain.name.startswith("matmul") else (1,)}
    return {
        name: [dim if axis in known[len(spec.shape)] else -1 for axis, dim in enumerate(spec.shape)]
        for name, spec in case.tensors().items()
    }


def some(step, limits):
    """The chains, of which one in `step` runs without `--every-form`, and those with limits of their own."""
    for number, chain in enumerate(CHAINS):
        more = number % step and limit(chain.name, limits) is None
        yield pytest.param(chain, marks=[pytest.mark.every_form] if more else [], id=chain.name)


# What OpenVINO fuses does not depend on how much is unknown.
@pytest.mark.one_in(3)
@pytest.mark.parametrize("unknown", ["sizes", "batch"])
@pytest.mark.parametrize("chain", some(5, DYNAMIC_LIMITS + SIZES_LIMITS))
def test_dynamic_shapes(chain, unknown):
    (case,) = chain.cases
    model = paddle2ov.convert(generated(chain, case, "pir"), input=dynamic_shapes(chain, unknown))
    assert all(port.get_partial_shape().is_dynamic for port in model.inputs)
    kinds = [kind for kind, _ in primitives(compile_on_cpu(model), skipped_kinds(chain))]
    why = limit(chain.name, LIMITS + DYNAMIC_LIMITS + (SIZES_LIMITS if unknown == "sizes" else []))
    assert (len(kinds) > 1) == bool(why), f"{chain.name} is {kinds}; the limits say: {why}"


def graph(folder):
    """What a model's nodes are, whatever their names: kind, shape, kinds of what they read."""
    return Counter(
        (
            node.get_type_name(),
            str(node.get_output_partial_shape(0)),
            tuple(sorted(value.get_node().get_type_name() for value in node.input_values())),
        )
        for node in paddle2ov.convert(folder).get_ops()
    )


@pytest.mark.one_in(5)
@NEEDS_PADDLE_2
@pytest.mark.parametrize("chain", some(3, LEGACY_LIMITS))
def test_legacy_format(chain):
    (case,) = chain.cases
    pir, legacy = (graph(generated(chain, case, format)) for format in ("pir", "legacy"))
    why = limit(chain.name, LEGACY_LIMITS)
    assert (pir != legacy) == bool(why), f"{chain.name}: {pir - legacy} in PIR, {legacy - pir} in legacy; {why}"
