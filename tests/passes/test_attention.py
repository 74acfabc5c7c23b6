"""Projections that are cut, masks that are spread, windows that move once."""

from collections import Counter

import numpy as np
import pytest
from openvino import Type, opset16 as ops

from paddle2ov import ConversionReport, convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.passes.attention.add_masks_to_scores import add_masks_to_scores
from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.attention.split_qkv import split_qkv
from paddle2ov.workarounds import rewrites_for
from tests.support.models import network
from tests.support.passes_checks import apply, kinds, model_of, random, reshape, stays, transpose

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


def _parts(projected, *perm):
    return transpose(reshape(projected, 0, 0, 3, HEADS, WIDTH // HEADS), *(perm or (2, 0, 3, 1, 4)))


def _parts_first(x):
    return _gathered(_parts(_projected(x)))


def _without_bias(x):
    value = reshape(_projected(x, None), -1, TOKENS, 3, HEADS, WIDTH // HEADS)
    return _gathered(transpose(value, 2, 0, 3, 1, 4))


def _transposed_weight(x):
    return _gathered(_parts(_projected(x, transposed=True)))


def _computed_weights(x):
    """Swin v2's: keys have no bias."""
    keys = ops.broadcast(np.float32(0), np.array([WIDTH]))
    bias = ops.concat([BIAS[:WIDTH], keys, BIAS[-WIDTH:]], 0)
    product = ops.matmul(x, transpose(ops.constant(WEIGHT.T.copy()), 1, 0), False, False)
    return _gathered(_parts(ops.add(product, bias)))


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


SHAPE, ANY = [2, TOKENS, WIDTH], [-1, -1, WIDTH]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [SHAPE, ANY], ids=["static", "dynamic"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__[1:])
def test_cut(form, dims):
    model, counts = apply(split_qkv, lambda x: _attended(*form(x)), dims, shapes=[SHAPE])
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

    def build(x):
        product = ops.matmul(ops.convert(x, kind), ops.constant(WEIGHT, kind), False, False)
        q, k, v = _gathered(_parts(ops.add(product, ops.constant(BIAS, kind))))
        return [ops.convert(part, "f32") for part in (ops.multiply(q, ops.constant(scale, kind)), k, v)]

    model, counts = apply(split_qkv, build, SHAPE, tolerance=2.0**-7 if kind == Type.bf16 else 2e-3)
    assert counts == {"projections": 1, "parts": 3, "scales": folded}
    products = [node for node in model.get_ops() if node.get_type_name() == "MatMul"]
    assert [product.get_input_element_type(1) for product in products] == [kind] * 3


def test_cut_of_unequal_parts():
    """Grouped queries: 4 heads of q, 1 of k and v each."""

    def build(x):
        parts = ops.variadic_split(_projected(x), np.array(2), [16, 4, -1]).outputs()
        return _attended(*(transpose(reshape(part, 0, 0, -1, 4), 0, 2, 1, 3) for part in parts))

    assert apply(split_qkv, build, ANY)[1]["parts"] == 3


def _gate(x):
    value, gate = ops.split(_projected(x), np.array(-1), 2).outputs()
    return [ops.multiply(value, ops.sigmoid(gate))]


def _read_twice(x):
    projected = _projected(x)
    return [_attended(*_gathered(_parts(projected))), ops.relu(projected)]


def _read_whole(x):
    value = _parts(_projected(x))
    return [_attended(*_gathered(value)), ops.relu(value)]


def _another_axis(x):
    return [ops.relu(part) for part in _gathered(_parts(_projected(x), 1, 0, 3, 2, 4))]  # along the tokens


def _part_twice(x):
    value = _parts(_projected(x))
    return [ops.relu(ops.gather(value, np.array(i), np.array(0))) for i in (0, 1, -2)]


def _bias_of_data(x):
    means = ops.reduce_mean(x, np.array([0, 1]), False)
    bias = ops.concat([means, means, ops.relu(means)], 0)
    return _gathered(_parts(ops.add(_projected(x, None), bias)))


def _bias_of_all(x):
    return _gathered(_parts(ops.add(_projected(x, None), np.float32(0.5))))


def _by_lists(x):
    value = _parts(_projected(x))
    return [ops.relu(ops.gather(value, np.array([i]), np.array(0))) for i in range(3)]


@pytest.mark.parametrize(
    "form",
    [_gate, _read_twice, _read_whole, _another_axis, _part_twice, _bias_of_data, _bias_of_all, _by_lists],
    ids=lambda form: form.__name__,
)
def test_cut_fails_to_match(form):
    assert stays(split_qkv, form, ANY)


def test_cut_leaves_a_computed_weight():
    def build(x, weight):
        return _attended(*_gathered(_parts(ops.matmul(x, weight, False, False))))

    assert stays(split_qkv, build, ANY, [WIDTH, 3 * WIDTH])


WINDOWS, SIDE = 4, 6
SCORES = [HEADS, TOKENS, TOKENS]


def _masked(mask, last=HEADS):
    def build(x):
        value = ops.add(reshape(x, -1, WINDOWS, *SCORES), mask)
        return ops.softmax(reshape(value, -1, last, TOKENS, TOKENS), -1)

    return build


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("dynamic", [False, True])
def test_spread(batch, dynamic):
    shape = [batch * WINDOWS, *SCORES]
    build = _masked(random(1, WINDOWS, 1, TOKENS, TOKENS))
    model, counts = apply(add_masks_to_scores, build, [-1, *SCORES] if dynamic else shape, shapes=[shape])
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
    assert stays(add_masks_to_scores, _masked(random(*shape), last), [2 * WINDOWS, *SCORES])


@pytest.mark.parametrize("read", ["scores", "sum"])
def test_spread_leaves_what_others_read(read):
    def build(x):
        scores = reshape(x, -1, WINDOWS, *SCORES)
        value = ops.add(scores, random(1, WINDOWS, 1, TOKENS, TOKENS))
        weights = ops.softmax(reshape(value, -1, *SCORES), -1)
        return [weights, ops.relu(scores if read == "scores" else value)]

    assert stays(add_masks_to_scores, build, [2 * WINDOWS, *SCORES])


@pytest.mark.parametrize("asked", ["mask", "another axis", "another mask"])
def test_spread_over_windows_of_unknown_number(asked):
    """Who tells their number must be the mask: one window of the scores might meet several masks."""

    def build(x, mask, other):
        sizes = ops.shape_of(other if asked == "another mask" else mask)
        number = ops.gather(sizes, np.array([1 if asked == "another axis" else 0]), np.array(0))
        split = ops.reshape(x, ops.concat([np.array([-1]), number, np.array(SCORES)], 0), False)
        masks = ops.unsqueeze(ops.unsqueeze(mask, np.array([1])), np.array([0]))
        return [ops.softmax(reshape(ops.add(split, masks), -1, *SCORES), -1), ops.relu(other)]

    masks = [-1, TOKENS, TOKENS]
    counts = apply(add_masks_to_scores, build, [-1, *SCORES], masks, masks)[1]
    assert counts == {"masks": int(asked == "mask")}


def _normalised(x):
    return ops.divide(x, ops.maximum(ops.reduce_l2(x, np.array([-1]), True), np.float32(1e-6)))


@pytest.mark.parametrize(("crossed", "norm"), [(False, _normalised), (True, _normalised), (True, lambda x: x)])
def test_spread_reads_no_shape_between(crossed, norm):
    """The batch is told by what is projected; where queries and keys are of two sources, by the scores."""
    mask, bias = random(1, WINDOWS, 1, TOKENS, TOKENS), random(1, HEADS, TOKENS, TOKENS)
    weights = [random(WIDTH, WIDTH) for _ in range(3)]

    def heads(x, i):
        projected = ops.matmul(x, weights[i], False, False)
        return transpose(reshape(projected, -1, TOKENS, HEADS, WIDTH // HEADS), 0, 2, 1, 3)

    def build(x, y):
        q, k = norm(heads(x, 0)), norm(heads(y if crossed else x, 1))
        scores = ops.add(ops.matmul(q, k, False, True), bias)
        return ops.matmul(_masked(mask)(scores), heads(x, 2), False, False)

    model, counts = apply(
        add_masks_to_scores, build, *[[-1, TOKENS, WIDTH]] * 2, shapes=[[2 * WINDOWS, TOKENS, WIDTH]] * 2
    )
    assert counts == {"masks": 1}
    (shape_of,) = [node for node in model.get_ops() if node.get_type_name() == "ShapeOf"]
    assert shape_of.input_value(0).get_node().get_type_name() == ("Add" if crossed else "Parameter")


def test_masked_windows_of_any_batch_are_one_kernel():
    compiled = compile_on_cpu(convert(network("swin_stage")))
    nodes = [node.get_rt_info()["layerType"].astype(str) for node in compiled.get_runtime_model().get_ops()]
    assert not {"MatMul", "Softmax"} & set(nodes)


MOVES = {"Transpose", "Reorder", "Gather", "Split", "StridedSlice", "Concatenation", "Roll"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [SHAPE, ANY], ids=["static", "dynamic"])
@pytest.mark.parametrize("fused", [False, True], ids=["by hand", "ScaledDotProductAttention"])
def test_what_is_left_to_move(fused, dims):
    """OpenVINO's kernel takes k in columns: the one Transpose of attention, however it is written."""

    def build(x):
        attend = ops.scaled_dot_product_attention if fused else _attended
        return reshape(transpose(attend(*_parts_first(x)), 0, 2, 1, 3), 0, 0, WIDTH)

    model = model_of(build, dims)
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
    def build(x):
        windows = ops.softmax(_cut(_roll(reshape(x, -1, SIDE, SIDE, 4), -1)), -1)
        return ops.add(x, reshape(_roll(_put_together(windows), 1), -1, SIDE * SIDE, 4))

    model, counts = apply(gather_windows, build, [batch, SIDE * SIDE, 4])
    assert counts == {"chains": 2, "moves before": 4, "moves after": 2}
    left = kinds(model)
    assert (left["Gather"], left["Roll"], left["Transpose"]) == (2, 0, 0)


IMAGE = [2, SIDE, SIDE, 4]


@pytest.mark.parametrize(
    ("build", "dims"),
    [
        (lambda x: _roll(x, 1), IMAGE),  # one move is one move
        (lambda x: _cut(_roll(x, 1, (0, 1))), IMAGE),  # over the batch
        (lambda x: _cut(_roll(x, 1, (3,))), IMAGE),  # inside a token
        (lambda x: transpose(_roll(x, 1), 0, 3, 1, 2), IMAGE),
        (lambda x: transpose(_roll(x, 1), 0, 2, 1, 3), [-1, -1, SIDE, 4]),
    ],
    ids=["one", "batch", "token", "channels", "unknown"],
)
def test_windows_refuse(build, dims):
    assert stays(gather_windows, lambda x: ops.relu(build(x)), dims)


def test_an_image_of_any_size_is_not_listed():
    """The program alone says how many tokens there are: a list of these would take 80 GB."""
    graph = Graph(model_of(lambda x: transpose(_roll(x, 1), 0, 2, 1, 3), [1, 100_000, 100_000, 1]))
    assert not any(gather_windows(graph).values())
    assert graph.match_failures == {"gather_windows": {"lists of tokens would take too much memory": 1}}


def test_windows_of_a_batch_that_a_reshape_names():
    """The program says which batch it is for; it stays so."""

    def build(x):
        parted = transpose(reshape(_roll(x, 1), -1, 2, 2, 2, 2, 3), 0, 1, 3, 2, 4, 5)
        return ops.reshape(parted, np.array([2, 16, 3]), False)

    assert apply(gather_windows, build, [-1, 4, 4, 3])[1]["chains"] == 1


@pytest.mark.parametrize(
    ("name", "projections", "windows", "patches"),
    [("swin_stage", 2, 2, 1), ("svtr_mixer", 2, 0, 0), ("encoder_by_hand", 2, 0, 0), ("bert", 0, 0, 0)],
)
def test_networks(name, projections, windows, patches):
    report = ConversionReport()
    convert(network(name), report=report)
    assert report.rewrites["split_qkv"]["projections"] == projections
    assert report.rewrites["gather_windows"]["chains"] == windows
    assert report.rewrites["merge_patches"]["joins"] == patches


def test_a_model_without_transposes():
    report = ConversionReport()
    convert(network("squeezenet1_1"), report=report)
    biases = report.rewrites.pop("drop_neutral")["nodes"]  # nobody trained them
    assert not any(count for counts in report.rewrites.values() for count in counts.values())
    assert report.nodes == report.nodes_after + 2 * biases
