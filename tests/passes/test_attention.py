"""Projections that are cut, masks that are spread, windows that move once."""

from collections import Counter

import numpy as np
import pytest
from openvino import Model, Type
from openvino import opset16 as ops

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import ConversionReport, convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.passes.attention.add_masks_to_scores import add_masks_to_scores
from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.attention.split_qkv import split_qkv
from paddle2ov.testing import load
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import apply, kinds, parameter, random, reshape, transpose

WIDTH, HEADS, TOKENS = 8, 2, 5
WEIGHT, BIAS = random(WIDTH, 3 * WIDTH), random(3 * WIDTH)


def _projected(x, bias=BIAS, transposed=False):
    weight = np.ascontiguousarray(WEIGHT.T) if transposed else WEIGHT
    product = ops.matmul(x, weight, False, transposed)
    return product if bias is None else ops.add(product, bias)


def _gathered(value, axis=0):
    return [ops.gather(value, np.array(i), np.array(axis)) for i in range(3)]


def _attended(q, k, v):
    scores = ops.matmul(ops.multiply(q, np.float32(0.5)), k, False, True)
    return ops.matmul(ops.softmax(scores, -1), v, False, False)


def _parts_first(x):
    return _gathered(transpose(reshape(_projected(x), 0, 0, 3, HEADS, WIDTH // HEADS), 2, 0, 3, 1, 4))


def _without_bias(x):
    value = reshape(_projected(x, None), -1, TOKENS, 3, HEADS, WIDTH // HEADS)
    return _gathered(transpose(value, 2, 0, 3, 1, 4))


def _transposed_weight(x):
    value = reshape(_projected(x, transposed=True), 0, 0, 3, HEADS, WIDTH // HEADS)
    return _gathered(transpose(value, 2, 0, 3, 1, 4))


def _computed_weights(x):
    """Swin v2's: keys have no bias."""
    keys = ops.broadcast(np.float32(0), np.array([WIDTH]))
    bias = ops.concat([BIAS[:WIDTH], keys, BIAS[-WIDTH:]], 0)
    product = ops.matmul(x, transpose(ops.constant(WEIGHT.T.copy()), 1, 0), False, False)
    return _gathered(transpose(reshape(ops.add(product, bias), 0, 0, 3, HEADS, WIDTH // HEADS), 2, 0, 3, 1, 4))


def _heads_first(x):
    value = transpose(reshape(_projected(x), 0, 0, HEADS, 3, WIDTH // HEADS), 3, 0, 2, 1, 4)
    return [ops.squeeze(part, np.array([0])) for part in ops.split(value, np.array(0), 3).outputs()]


def _split_last(x):
    value = transpose(reshape(_projected(x), 0, 0, HEADS, 3 * WIDTH // HEADS), 0, 2, 1, 3)
    return ops.variadic_split(value, np.array(-1), [WIDTH // HEADS] * 3).outputs()


def _split_before(x):
    parts = ops.split(_projected(x), np.array(-1), 3).outputs()
    return [transpose(reshape(part, 0, 0, HEADS, WIDTH // HEADS), 0, 2, 1, 3) for part in parts]


def _computed_shape(x):
    size = ops.shape_of(x)
    leading = ops.gather(size, np.array([0, 1]), np.array(0))
    target = ops.concat([leading, np.array([3, HEADS, WIDTH // HEADS])], 0)
    return _gathered(transpose(ops.reshape(_projected(x), target, False), 2, 0, 3, 1, 4))


FORMS = [
    *(_parts_first, _without_bias, _transposed_weight, _computed_weights, _heads_first, _split_last, _split_before),
    _computed_shape,
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [[2, TOKENS, WIDTH], [-1, -1, WIDTH]], ids=["static", "dynamic"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__[1:])
def test_cut(form, dims):
    def build():
        x = parameter(*dims)
        return Model([_attended(*form(x))], [x])

    model, counts = apply(split_qkv, build, [2, TOKENS, WIDTH])
    # Where q is reshaped and transposed before it is scaled, OpenVINO's kernel scales it.
    scales = int(form is not _split_before)
    assert counts == {"projections": 1, "parts": 3, "scales": scales}
    left = kinds(model)
    assert left["MatMul"] == 5
    assert left["Gather"] == (1 if form is _computed_shape else 0)
    assert left["Split"] == left["VariadicSplit"] == 0
    assert left["Multiply"] == 1 - scales
    assert all(
        len(node.get_output_partial_shape(0)) == 4 for node in model.get_ops() if node.get_type_name() == "Transpose"
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [Type.f16, Type.bf16], ids=["f16", "bf16"])
@pytest.mark.parametrize(("scale", "folded"), [(0.5, 1), (-(2.0**-3), 1), (2.0, 0), (0.3, 0)])
def test_cut_below_float32(kind, scale, folded):
    """A scale that is no power of two would be rounded with each weight, and stays; the parts are as they were."""

    def build():
        x = parameter(2, TOKENS, WIDTH)
        product = ops.matmul(ops.convert(x, kind), ops.constant(WEIGHT, kind), False, False)
        value = reshape(ops.add(product, ops.constant(BIAS, kind)), 0, 0, 3, HEADS, WIDTH // HEADS)
        q, k, v = _gathered(transpose(value, 2, 0, 3, 1, 4))
        return Model([ops.convert(part, "f32") for part in (ops.multiply(q, ops.constant(scale, kind)), k, v)], [x])

    # OpenVINO rounds to bfloat16 once where it fuses a product with its scale, and twice elsewhere.
    tolerance = 2.0**-7 if kind == Type.bf16 else 1e-5
    model, counts = apply(split_qkv, build, [2, TOKENS, WIDTH], tolerance=tolerance)
    assert counts == {"projections": 1, "parts": 3, "scales": folded}
    products = [node for node in model.get_ops() if node.get_type_name() == "MatMul"]
    assert [product.get_input_element_type(1) for product in products] == [kind] * 3


def test_cut_of_unequal_parts():
    """Grouped queries: 4 heads of q, 1 of k and v each."""

    def build():
        x = parameter(-1, -1, WIDTH)
        parts = ops.variadic_split(_projected(x), np.array(2), [16, 4, -1]).outputs()
        q, k, v = (transpose(reshape(part, 0, 0, -1, 4), 0, 2, 1, 3) for part in parts)
        return Model([_attended(q, k, v)], [x])

    assert apply(split_qkv, build, [2, TOKENS, WIDTH])[1]["parts"] == 3


def _gate(x):
    value, gate = ops.split(_projected(x), np.array(-1), 2).outputs()
    return [ops.multiply(value, ops.sigmoid(gate))]


def _read_twice(x):
    projected = _projected(x)
    value = transpose(reshape(projected, 0, 0, 3, HEADS, WIDTH // HEADS), 2, 0, 3, 1, 4)
    return [_attended(*_gathered(value)), ops.relu(projected)]


def _read_whole(x):
    value = transpose(reshape(_projected(x), 0, 0, 3, HEADS, WIDTH // HEADS), 2, 0, 3, 1, 4)
    return [_attended(*_gathered(value)), ops.relu(value)]


def _another_axis(x):
    value = transpose(reshape(_projected(x), 0, 0, 3, HEADS, WIDTH // HEADS), 1, 0, 3, 2, 4)
    return [ops.relu(part) for part in _gathered(value)]  # along the tokens


def _part_twice(x):
    value = transpose(reshape(_projected(x), 0, 0, 3, HEADS, WIDTH // HEADS), 2, 0, 3, 1, 4)
    return [ops.relu(ops.gather(value, np.array(i), np.array(0))) for i in (0, 1, -2)]


def _bias_of_data(x):
    means = ops.reduce_mean(x, np.array([0, 1]), False)
    bias = ops.concat([means, means, ops.relu(means)], 0)
    value = reshape(ops.add(_projected(x, None), bias), 0, 0, 3, HEADS, WIDTH // HEADS)
    return _gathered(transpose(value, 2, 0, 3, 1, 4))


@pytest.mark.parametrize(
    "form",
    [_gate, _read_twice, _read_whole, _another_axis, _part_twice, _bias_of_data],
    ids=lambda form: form.__name__[1:],
)
def test_cut_fails_to_match(form):
    def build():
        x = parameter(-1, -1, WIDTH)
        return Model(form(x), [x])

    assert apply(split_qkv, build, [2, TOKENS, WIDTH])[1]["projections"] == 0


def test_cut_leaves_a_computed_weight():
    def build():
        x, weight = parameter(-1, -1, WIDTH), parameter(WIDTH, 3 * WIDTH, name="w")
        value = reshape(ops.matmul(x, weight, False, False), 0, 0, 3, HEADS, WIDTH // HEADS)
        return Model([_attended(*_gathered(transpose(value, 2, 0, 3, 1, 4)))], [x, weight])

    assert apply(split_qkv, build, [2, TOKENS, WIDTH], [WIDTH, 3 * WIDTH])[1]["projections"] == 0


WINDOWS, SIDE = 4, 6


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("dynamic", [False, True])
def test_spread(batch, dynamic):
    mask = random(1, WINDOWS, 1, TOKENS, TOKENS)

    def build():
        x = parameter(-1 if dynamic else batch * WINDOWS, HEADS, TOKENS, TOKENS)
        value = ops.add(reshape(x, -1, WINDOWS, HEADS, TOKENS, TOKENS), mask)
        return Model([ops.softmax(reshape(value, -1, HEADS, TOKENS, TOKENS), -1)], [x])

    model, counts = apply(add_masks_to_scores, build, [batch * WINDOWS, HEADS, TOKENS, TOKENS])
    assert counts == {"masks": 1}
    assert all(len(node.get_output_partial_shape(0)) <= 4 for node in model.get_ops() if node.get_type_name() == "Add")


@pytest.mark.parametrize(
    ("shape", "last"),
    [
        ((2, WINDOWS, 1, TOKENS, TOKENS), HEADS),  # a mask of its own for each image
        ((1, 1, 1, TOKENS, TOKENS), HEADS),  # nothing that the windows need
        ((1, WINDOWS, 1, TOKENS, TOKENS), 1),  # another shape comes out
    ],
)
def test_spread_fails_to_match(shape, last):
    mask = random(*shape)

    def build():
        x = parameter(2 * WINDOWS, HEADS, TOKENS, TOKENS)
        value = ops.add(reshape(x, -1, WINDOWS, HEADS, TOKENS, TOKENS), mask)
        return Model([ops.softmax(reshape(value, -1, last, TOKENS, TOKENS), -1)], [x])

    assert apply(add_masks_to_scores, build, [2 * WINDOWS, HEADS, TOKENS, TOKENS])[1] == {"masks": 0}


@pytest.mark.parametrize("asked", ["mask", "another axis", "another mask"])
def test_spread_over_windows_of_unknown_number(asked):
    """Who tells their number must be the mask: one window of the scores might meet several masks."""

    def build():
        x, mask = parameter(-1, HEADS, TOKENS, TOKENS), parameter(-1, TOKENS, TOKENS, name="mask")
        other = parameter(-1, TOKENS, TOKENS, name="other")
        sizes = ops.shape_of(other if asked == "another mask" else mask)
        number = ops.gather(sizes, np.array([1 if asked == "another axis" else 0]), np.array(0))
        target = ops.concat([np.array([-1]), number, np.array([HEADS, TOKENS, TOKENS])], 0)
        split = ops.reshape(x, target, False)
        masks = ops.unsqueeze(ops.unsqueeze(mask, np.array([1])), np.array([0]))
        value = reshape(ops.add(split, masks), -1, HEADS, TOKENS, TOKENS)
        return Model([ops.softmax(value, -1), ops.relu(other)], [x, mask, other])

    shapes = [[2 * TOKENS, HEADS, TOKENS, TOKENS], [TOKENS, TOKENS, TOKENS], [TOKENS, TOKENS, TOKENS]]
    assert apply(add_masks_to_scores, build, *shapes)[1] == {"masks": int(asked == "mask")}


def _plain(x):
    return x


def _normalised(x):
    return ops.divide(x, ops.maximum(ops.reduce_l2(x, np.array([-1]), True), np.float32(1e-6)))


@pytest.mark.parametrize("norm", [_plain, _normalised], ids=lambda norm: norm.__name__[1:])
@pytest.mark.parametrize("crossed", [False, True])
def test_spread_reads_no_shape_between(crossed, norm):
    """The batch is told by what is projected; where queries and keys are of two sources, by the scores."""
    mask, bias = random(1, WINDOWS, 1, TOKENS, TOKENS), random(1, HEADS, TOKENS, TOKENS)
    weights = [random(WIDTH, WIDTH) for _ in range(3)]

    def heads(x, i):
        return transpose(
            reshape(ops.matmul(x, weights[i], False, False), -1, TOKENS, HEADS, WIDTH // HEADS), 0, 2, 1, 3
        )

    def build():
        x, y = parameter(-1, TOKENS, WIDTH), parameter(-1, TOKENS, WIDTH, name="y")
        q, k = norm(heads(x, 0)), norm(heads(y if crossed else x, 1))
        scores = ops.add(ops.matmul(q, k, False, True), bias)
        masked = ops.add(reshape(scores, -1, WINDOWS, HEADS, TOKENS, TOKENS), mask)
        shares = ops.softmax(reshape(masked, -1, HEADS, TOKENS, TOKENS), -1)
        return Model([ops.matmul(shares, heads(x, 2), False, False)], [x, y])

    model, counts = apply(add_masks_to_scores, build, *[[2 * WINDOWS, TOKENS, WIDTH]] * 2)
    assert counts == {"masks": 1}
    (shape_of,) = [node for node in model.get_ops() if node.get_type_name() == "ShapeOf"]
    assert shape_of.input_value(0).get_node().get_type_name() == ("Add" if crossed else "Parameter")


def test_masked_windows_of_any_batch_are_one_kernel():
    compiled = compile_on_cpu(convert(generated_network(all_networks()["swin_stage"], "pir")))
    nodes = [node.get_rt_info()["layerType"].astype(str) for node in compiled.get_runtime_model().get_ops()]
    assert not {"MatMul", "Softmax"} & set(nodes)


MOVES = {"Transpose", "Reorder", "Gather", "Split", "StridedSlice", "Concatenation", "Roll"}


@pytest.mark.parametrize("dims", [[2, TOKENS, WIDTH], [-1, -1, WIDTH]], ids=["static", "dynamic"])
@pytest.mark.parametrize("fused", [False, True], ids=["by hand", "ScaledDotProductAttention"])
def test_what_is_left_to_move(fused, dims):
    """OpenVINO's kernel takes k in columns: the one Transpose of attention, however it is written."""
    x = parameter(*dims)
    q, k, v = _parts_first(x)
    context = ops.scaled_dot_product_attention(q, k, v) if fused else _attended(q, k, v)
    model = Model([reshape(transpose(context, 0, 2, 1, 3), 0, 0, WIDTH)], [x])
    run_rewrites(model, rewrites_for())
    moving = [node for node in compile_on_cpu(model).get_runtime_model().get_ops() if not _of_a_constant(node)]
    counts = Counter(node.get_rt_info()["layerType"].astype(str) for node in moving)
    assert {kind: counts[kind] for kind in MOVES if counts[kind]} == {"Transpose": 1}
    assert not counts["MatMul"] + counts["Softmax"]


def _of_a_constant(node):
    """Whether a node of a compiled graph reads a weight, and so has run already."""
    sources = node.input_values()
    return bool(sources) and sources[0].get_node().get_rt_info()["layerType"].astype(str) == "Const"


def _roll(x, shift, axes=(1, 2)):
    return ops.roll(x, np.array([shift] * len(axes)), np.array(axes))


def _cut(x, size=3):
    n = SIDE // size
    return reshape(transpose(reshape(x, -1, n, size, n, size, 4), 0, 1, 3, 2, 4, 5), -1, size * size, 4)


def _put_together(x, size=3):
    n = SIDE // size
    return reshape(transpose(reshape(x, -1, n, n, size, size, 4), 0, 1, 3, 2, 4, 5), -1, SIDE, SIDE, 4)


@pytest.mark.parametrize("batch", [2, -1])
def test_windows_there_and_back(batch):
    def build():
        x = parameter(batch, SIDE * SIDE, 4)
        windows = ops.softmax(_cut(_roll(reshape(x, -1, SIDE, SIDE, 4), -1)), -1)
        back = reshape(_roll(_put_together(windows), 1), -1, SIDE * SIDE, 4)
        return Model([ops.add(x, back)], [x])

    model, counts = apply(gather_windows, build, [2, SIDE * SIDE, 4])
    assert counts == {"chains": 2, "moves before": 4, "moves after": 2}
    left = kinds(model)
    assert (left["Gather"], left["Roll"], left["Transpose"]) == (2, 0, 0)


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda x: _roll(x, 1), [2, SIDE, SIDE, 4]),  # one move is one move
        (lambda x: _cut(_roll(x, 1, (0, 1))), [2, SIDE, SIDE, 4]),  # over the batch
        (lambda x: _cut(_roll(x, 1, (3,))), [2, SIDE, SIDE, 4]),  # inside a token
        (lambda x: transpose(_roll(x, 1), 0, 3, 1, 2), [2, SIDE, SIDE, 4]),
    ],
)
def test_windows_refuse(build, shape):
    def model():
        x = parameter(*shape)
        return Model([ops.relu(build(x))], [x])

    assert apply(gather_windows, model, shape)[1]["chains"] == 0


def test_windows_refuse_unknown_sides():
    def build():
        x = parameter(-1, -1, SIDE, 4)
        return Model([ops.relu(transpose(_roll(x, 1), 0, 2, 1, 3))], [x])

    assert apply(gather_windows, build, [2, SIDE, SIDE, 4])[1]["chains"] == 0


@pytest.mark.parametrize(
    ("name", "projections", "windows", "patches"),
    [("swin_stage", 2, 2, 1), ("svtr_mixer", 2, 0, 0), ("encoder_by_hand", 2, 0, 0), ("bert", 0, 0, 0)],
)
def test_networks(name, projections, windows, patches):
    folder = generated_network(all_networks()[name], "pir")
    report = ConversionReport()
    model, plain = convert(folder, report=report), convert(folder, rewrite=False)
    assert report.rewrites["split_qkv"]["projections"] == projections
    assert report.rewrites["gather_windows"]["chains"] == windows
    assert report.rewrites["merge_patches"]["joins"] == patches
    compiled, reference = compile_on_cpu(model), compile_on_cpu(plain)
    for file in sorted(folder.glob("inputs_*.npz")):
        feeds = load(file)
        got, want = compiled(feeds), reference(feeds)
        for i in range(len(model.outputs)):
            np.testing.assert_allclose(got[i], want[i], rtol=1e-5, atol=1e-5)


def test_a_model_without_transposes():
    report = ConversionReport()
    convert(generated_network(all_networks()["squeezenet1_1"], "pir"), report=report)
    biases = report.rewrites.pop("drop_neutral")["nodes"]  # nobody trained them
    assert not any(count for counts in report.rewrites.values() for count in counts.values())
    assert report.nodes == report.nodes_after + 2 * biases


def test_windows_of_a_batch_that_a_reshape_names():
    """The program says which batch it is for; it stays so."""

    def build():
        x = parameter(-1, 4, 4, 3)
        rolled = ops.roll(x, np.array([1, 1]), np.array([1, 2]))
        parted = transpose(reshape(rolled, -1, 2, 2, 2, 2, 3), 0, 1, 3, 2, 4, 5)
        return Model([ops.reshape(parted, np.array([2, 16, 3]), False)], [x])

    assert apply(gather_windows, build, [2, 4, 4, 3])[1]["chains"] == 1
