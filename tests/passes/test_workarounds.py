"""Graphs that OpenVINO computes wrongly.

Some scores and transposes of attention, constants along axis 1 after products, reductions of three dimensions,
reductions that are reshaped, and small values of functions.
"""

import itertools
from collections import Counter

import numpy as np
import pytest
from openvino import Model, Node, Shape, Tensor, Type
from openvino import opset16 as ops
from openvino.op import Constant

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.opset import create
from paddle2ov.graph.types import value_of
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.passes.workarounds.avoid_abs_sinking import avoid_abs_sinking
from paddle2ov.passes.workarounds.avoid_batched_weights import avoid_batched_weights
from paddle2ov.passes.workarounds.avoid_pad_fusion import avoid_pad_fusion
from paddle2ov.passes.workarounds.avoid_product_of_one import avoid_product_of_one
from paddle2ov.passes.workarounds.avoid_rank_loss import avoid_rank_loss
from paddle2ov.passes.workarounds.avoid_reshape_elision import avoid_reshape_elision
from paddle2ov.passes.workarounds.avoid_row_post_ops import avoid_row_post_ops
from paddle2ov.passes.workarounds.avoid_scale_fusion import avoid_scale_fusion
from paddle2ov.passes.workarounds.avoid_single_gather import avoid_single_gather
from paddle2ov.passes.workarounds.avoid_single_key_attention import avoid_single_key_attention
from paddle2ov.passes.workarounds.avoid_stride_propagation import avoid_stride_propagation
from paddle2ov.passes.workarounds.avoid_transpose_fusion import avoid_transpose_fusion
from paddle2ov.passes.workarounds.avoid_unit_tiles import avoid_unit_tiles
from paddle2ov.passes.workarounds.avoid_unit_weights import avoid_unit_weights
from paddle2ov.passes.workarounds.avoid_unsqueeze_elision import avoid_unsqueeze_elision
from paddle2ov.passes.workarounds.reduce_before_transpose import reduce_before_transpose
from paddle2ov.passes.workarounds.reduce_before_unsqueeze import reduce_before_unsqueeze
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import apply, parameter, random, reshape, transpose
from tests.support.random_graphs import node_by_node

WIDTH, HEADS, TOKENS = 8, 2, 5
ONE, HALF = np.float32(1), np.float32(0.5)
SCALE, NONE = np.float32(0.3), np.zeros((1, 1), np.float32)


def weighed(q, scores):
    return ops.matmul(ops.softmax(scores, -1), q, False, False)


def product(q):
    return ops.matmul(q, q, False, True)


UNMASKED = {
    "product": lambda q: weighed(q, product(q)),
    "activation": lambda q: weighed(q, ops.relu(ops.divide(product(q), SCALE))),
    "no mask": lambda q: weighed(q, ops.add(ops.multiply(product(q), SCALE), NONE)),
    "one node": lambda q: ops.scaled_dot_product_attention(q, q, q),
    "one node, no mask": lambda q: ops.scaled_dot_product_attention(q, q, q, NONE, SCALE),
}
MASKED = {
    "mask": lambda q: weighed(q, ops.add(product(q), ops.reduce_max(q, np.array([-1]), True))),
    "causal": lambda q: ops.scaled_dot_product_attention(q, q, q, causal=True),
    "no weights": lambda q: ops.softmax(product(q), -1),
}


@pytest.mark.parametrize("attend", UNMASKED.values(), ids=UNMASKED)
def test_part_scores(attend):
    """Of one key and then of more, which OpenVINO 2026.4 computes wrongly where softmax reads a product."""

    def build():
        x = parameter(-1, HEADS, -1, WIDTH)
        return Model([attend(x)], [x])

    model, counts = apply(avoid_single_key_attention, build, [1, HEADS, 1, WIDTH])
    assert counts == {"scores": 1}
    compiled, x = compile_on_cpu(model), random(1, HEADS, 20, WIDTH)
    compiled([x[:, :, :1]])
    np.testing.assert_allclose(compiled([x])[0], compile_on_cpu(build())([x])[0], atol=1e-5)


KNOWN = {f"known, {name}": (attend, TOKENS) for name, attend in UNMASKED.items()}
OTHER = {**KNOWN, **{name: (attend, -1) for name, attend in MASKED.items()}}


@pytest.mark.parametrize(("attend", "keys"), OTHER.values(), ids=OTHER)
def test_part_scores_fails_to_match(attend, keys):
    def build():
        x = parameter(-1, HEADS, keys, WIDTH)
        return Model([attend(x)], [x])

    assert apply(avoid_single_key_attention, build, [1, HEADS, TOKENS, WIDTH])[1] == {"scores": 0}


def turned(x):
    return transpose(x, 0, 2, 1, 3)


def softmax_of(array):
    powers = np.exp(array)
    return powers / powers.sum(-1, keepdims=True)


def attended(q, k, v):
    return softmax_of(q @ k.swapaxes(-1, -2)) @ v


ADJACENT = {
    "result": (
        lambda q, k, v: turned(ops.matmul(ops.softmax(ops.matmul(q, k, False, True), -1), v, False, False)),
        lambda q, k, v: attended(q, k, v).swapaxes(1, 2),
    ),
    "one node": (
        lambda q, k, v: turned(ops.scaled_dot_product_attention(q, k, v, NONE, np.float32(1))),
        lambda q, k, v: attended(q, k, v).swapaxes(1, 2),
    ),
    "queries": (
        lambda q, k, v: ops.matmul(ops.softmax(ops.matmul(turned(q), k, False, True), -1), v, False, False),
        lambda q, k, v: attended(q.swapaxes(1, 2), k, v),
    ),
    "queries, scaled": (
        lambda q, k, v: ops.matmul(
            ops.softmax(ops.matmul(ops.multiply(turned(q), SCALE), k, False, True), -1), v, False, False
        ),
        lambda q, k, v: attended(q.swapaxes(1, 2) * SCALE, k, v),
    ),
}


@pytest.mark.parametrize(("attend", "same"), ADJACENT.values(), ids=ADJACENT)
def test_part_transposes(attend, same):
    """Of as many heads as tokens, with queries that another node computed; also of another batch later."""
    inputs = [parameter(2, 3, 3, WIDTH, name=name) for name in "qkv"]
    model = Model([attend(ops.relu(inputs[0]), *inputs[1:])], inputs)
    assert avoid_transpose_fusion(Graph(model)) == {"transposes": 1}
    for batch in (2, 4):
        model.reshape({name: [batch, 3, 3, WIDTH] for name in "qkv"})
        q, k, v = arrays = [random(batch, 3, 3, WIDTH) for _ in inputs]
        want = same(np.maximum(q, 0), k, v)
        np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, atol=1e-5)


OTHER_TRANSPOSES = {
    "other lengths": (4, lambda x: turned(weighed(x, product(x)))),
    "no softmax": (3, lambda x: turned(ops.matmul(product(x), x, False, False))),
    "of the last axes": (3, lambda x: weighed(x, ops.matmul(x, transpose(x, 0, 1, 3, 2), False, False))),
}


@pytest.mark.parametrize(("tokens", "attend"), OTHER_TRANSPOSES.values(), ids=OTHER_TRANSPOSES)
def test_part_transposes_fails_to_match(tokens, attend):
    def build():
        x = parameter(2, 3, tokens, 3)
        return Model([attend(x)], [x])

    assert apply(avoid_transpose_fusion, build, [2, 3, tokens, 3])[1] == {"transposes": 0}


@pytest.mark.parametrize(("before", "after"), [(0, 3), (1, 0), (2, 3), (2, 1)])
def test_single_gather(before, after):
    x, axis, data = parameter(-1, -1, -1), np.array([before]), random(2, 3, 4)
    index = ops.squeeze(np.array([[-1]]), np.array([0]))
    same = ops.squeeze(ops.gather(ops.unsqueeze(x, axis), index, np.int64(before)), axis)
    model = Model([ops.unsqueeze(same, np.array([after]))], [x])
    assert avoid_single_gather(Graph(model)) == {"gathers": 1}
    np.testing.assert_array_equal(compile_on_cpu(model)([data])[0], np.expand_dims(data, after))


@pytest.mark.parametrize(("dims", "index"), [((2, 3), [0]), ((-1, 3), [0]), ((1, 3), [0, 0]), ((1, 3), 0)], ids=str)
def test_gathers_that_stay(dims, index):
    x = parameter(*dims)
    model = Model([ops.relu(ops.gather(x, np.array(index), np.int64(0)))], [x])
    assert avoid_single_gather(Graph(model)) == {"gathers": 0}


PIXEL, PIXELS = random(4, 4), random(4, 4, 2, 2)


def by_pixel(x, step, pad):
    """A convolution of four channels by filters of one pixel, with strides and one-sided padding, in any rank."""
    rank = len((x.output(0) if isinstance(x, Node) else x).get_partial_shape()) - 2
    strides, none, ones = [step] * rank, [0] * rank, [1] * rank
    return ops.convolution(x, PIXEL.reshape(4, 4, *ones), strides, none, [pad, *none[1:]], ones)


SECOND_PIXELS = {
    "padded, behind an activation": (lambda x: by_pixel(ops.relu(x), 2, 1), 1),
    "padded, behind a convolution": (lambda x: by_pixel(by_pixel(x, 1, 0), 3, 2), 1),
    "both padded": (lambda x: by_pixel(by_pixel(ops.tanh(x), 2, 1), 2, 1), 2),
    "padded before": (lambda x: by_pixel(ops.tanh(by_pixel(ops.relu(x), 1, 1)), 2, 0), 1),
    "of a part": (lambda x: by_pixel(split_sum(x), 2, 0), 1),
    "of a part, twice": (lambda x: ops.concat([by_pixel(part, 2, 0) for part in [split_sum(x)] * 2], 1), 2),
    "of a part, before": (lambda x: by_pixel(by_pixel(split_sum(x), 2, 0), 2, 0), 2),
}


def split_sum(x):
    part = ops.split(ops.concat([x, ops.exp(x)], 1), np.array(1), 2).output(1)
    return ops.add(ops.tanh(part), ops.relu(part))


@pytest.mark.parametrize("dims", [(1,), (3,), (7,), (5, 6), (1, 1), (3, 4, 5)])
@pytest.mark.parametrize(("image", "count"), SECOND_PIXELS.values(), ids=SECOND_PIXELS)
def test_stride_propagation(image, count, dims):
    """OpenVINO 2026.4 moves strides over padding, and to nodes of several results."""

    def build():
        x = parameter(2, 4, *dims)
        return Model([image(x)], [x])

    model, array = build(), random(2, 4, *dims)
    assert avoid_stride_propagation(Graph(model)) == {"strides": count}
    (want,) = node_by_node(build(), [array])
    got = compile_on_cpu(model)([array])[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


FIRST_PIXELS = {
    "nothing padded": lambda x: by_pixel(ops.relu(x), 2, 0),
    "no stride": lambda x: by_pixel(ops.relu(x), 1, 1),
    "of a part alone": lambda x: by_pixel(ops.split(x, np.array(0), 2).output(1), 2, 0),
    "of larger filters": lambda x: ops.convolution(ops.relu(x), PIXELS, [2, 2], [1, 1], [1, 1], [1, 1]),
    "a larger filter between": lambda x: by_pixel(
        ops.convolution(by_pixel(ops.relu(x), 1, 1), PIXELS, [1, 1], [0, 0], [0, 0], [1, 1]), 2, 0
    ),
}


@pytest.mark.parametrize("image", FIRST_PIXELS.values(), ids=FIRST_PIXELS)
def test_stride_propagation_fails_to_match(image):
    def build():
        x = parameter(2, 4, 5, 6)
        return Model([image(x)], [x])

    assert apply(avoid_stride_propagation, build, [2, 4, 5, 6])[1] == {"strides": 0}


def padded_images(kind, dims, stride, **attributes):
    """A layer over a padded image of four channels."""
    rank = len(dims)
    x = parameter(2, 4, *dims)
    sides = np.array([0, 0, *[1] * rank]), np.array([0, 0, 2, *[1] * (rank - 1)])
    image = ops.pad(x, *sides, "constant", np.float32(0))
    filters = PAD_FILTERS[rank]
    grouped = filters.reshape(2, 2, *filters.shape[1:])
    if "Backprop" in kind:
        layer = ops.group_convolution_backprop_data if "Group" in kind else ops.convolution_backprop_data
        pads = {"pads_begin": [1] * rank, "pads_end": [2] * rank}
        out = layer(image, grouped if "Group" in kind else filters, strides=[stride] * rank, **pads, **attributes)
    else:
        layer = ops.group_convolution if "Group" in kind else ops.convolution
        geometry = [stride] * rank, [0] * rank, [0] * rank, [1] * rank
        out = layer(image, grouped[:, :, :2] if "Group" in kind else filters, *geometry, *attributes.values())
    return Model([out], [x])


PAD_FILTERS = {rank: random(4, 4, *[3] * rank) for rank in (1, 2, 3)}
PAD_FUSIONS = {
    "transposed": ("ConvolutionBackpropData", 2, {}),
    "transposed groups": ("GroupConvolutionBackpropData", 3, {}),
    "transposed, stride 1": ("ConvolutionBackpropData", 1, {}),
    "longer result": ("ConvolutionBackpropData", 2, {"output_padding": 1}),
    "same size": ("Convolution", 2, {"auto_pad": "same_upper"}),
    "same size, groups": ("GroupConvolution", 1, {"auto_pad": "same_upper"}),
}


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("dims", [(4,), (4, 5), (4, 3, 4)])
@pytest.mark.parametrize(("kind", "stride", "attributes"), PAD_FUSIONS.values(), ids=PAD_FUSIONS)
def test_pad_fusion(kind, stride, attributes, dims, is_known):
    def build():
        more = {key: [one] * len(dims) if key == "output_padding" else one for key, one in attributes.items()}
        return padded_images(kind, dims if is_known else [-1] * len(dims), stride, **more)

    model, array = build(), random(2, 4, *dims)
    assert avoid_pad_fusion(Graph(model)) == {"pads": 1}
    (want,) = node_by_node(build(), [array])
    got = compile_on_cpu(model)([array])[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_pad_fusion_fails_to_match():
    """What OpenVINO fuses rightly."""
    model = padded_images("Convolution", [4, 5], 2)
    assert avoid_pad_fusion(Graph(model)) == {"pads": 0}


@pytest.mark.parametrize("name", ["Add", "Subtract", "Multiply", "Maximum", "Greater", "SquaredDifference"])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("added", [1, 2])
def test_rank_loss(name, side, added):
    def build():
        x = parameter(2, 3, 4)
        both = [transpose(x, 0, 2, 1), ops.constant(np.full([1] * (3 + added), 2, np.float32))]
        return Model([create(name, [one.output(0) for one in both[:: 1 - 2 * side]], {})], [x])

    model, array = build(), random(2, 3, 4)
    assert avoid_rank_loss(Graph(model)) == {"constants": 1}
    (want,) = node_by_node(build(), [array])
    got = compile_on_cpu(model)([array])[0]
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", [Type.bf16, Type.f16, Type.i32, Type.boolean], ids=str)
def test_constants_of_any_type_lose_no_rank(kind):
    x, one = ops.parameter([2, 3], kind), ops.constant(np.full([1, 1, 1], 1 if kind == Type.boolean else 3), kind)
    kinds = (ops.logical_and, ops.multiply)
    model = Model([kinds[kind != Type.boolean](transpose(x, 1, 0), one)], [x])
    assert avoid_rank_loss(Graph(model)) == {"constants": 1}
    (constant,) = (node for node in model.get_ops() if isinstance(node, Constant) and node.get_element_type() == kind)
    assert not constant.get_output_shape(0)
    assert value_of(constant) == value_of(one)


@pytest.mark.parametrize("shape", [[2, 1, 1, 1], [1, 1, 1], [1], []])
def test_rank_loss_fails_to_match(shape):
    def build():
        x = parameter(2, 3, 4)
        return Model([ops.multiply(transpose(x, 0, 2, 1), ops.constant(np.full(shape, 2, np.float32)))], [x])

    assert apply(avoid_rank_loss, build, [2, 3, 4])[1] == {"constants": 0}


def scaled_image(scale, kind="Multiply", groups=False, kernel=3, rank=2):
    """x * scale or x / scale, then a convolution, and what it is to give."""
    x = parameter(-1, 2, *[3] * rank)
    factor = random(*scale) + 2
    scaled = (ops.multiply if kind == "Multiply" else ops.divide)(x, factor)
    options = [1] * rank, [1] * rank, [1] * rank, [1] * rank
    if groups:
        filters = random(2, 2, 1, *[kernel] * rank)
        out, plain = ops.group_convolution(scaled, filters, *options), ops.group_convolution(x, filters, *options)
    else:
        filters = random(4, 2, *[kernel] * rank)
        out, plain = ops.convolution(scaled, filters, *options), ops.convolution(x, filters, *options)
    data = random(2, 2, *[3] * rank)
    given = data * factor if kind == "Multiply" else data / factor
    return Model([out], [x]), data, compile_on_cpu(Model([plain], [x]))([given])[0]


@pytest.mark.parametrize("groups", [False, True], ids=["convolution", "groups"])
@pytest.mark.parametrize("kind", ["Multiply", "Divide"])
@pytest.mark.parametrize("scale", [(3,), (3, 1), (1, 1, 1, 3), (1, 2, 3, 3), (1, 1, 3, 3)], ids=str)
def test_scales_of_pixels(scale, kind, groups):
    model, data, want = scaled_image(scale, kind, groups)
    assert avoid_scale_fusion(Graph(model)) == {"scales": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 3])
def test_scales_of_pixels_of_other_ranks(rank):
    model, data, want = scaled_image((3,) * rank, rank=rank)
    assert avoid_scale_fusion(Graph(model)) == {"scales": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("scale", "kernel"), [((1, 2, 1, 1), 3), ((1,), 3), ((1, 3), 2)], ids=str)
def test_scales_that_stay(scale, kernel):
    model, data, want = scaled_image(scale, kernel=kernel)
    assert avoid_scale_fusion(Graph(model)) == {"scales": 0}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows", [2, -1])
def test_layers_of_one_weight(rows):
    x, first, second, data = parameter(rows, 1), random(1, 1), random(1, 4), random(2, 1)
    model = Model([ops.matmul(ops.relu(ops.matmul(x, first, False, True)), second, False, False)], [x])
    assert avoid_unit_weights(Graph(model)) == {"products": 1}
    want = (data * first).clip(0) @ second
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5)


def test_layers_of_one_weight_of_unknown_width():
    """An input that does not fit stays an error."""
    x = parameter(-1, -1)
    model = Model([ops.matmul(x, random(1, 1), False, False)], [x])
    assert avoid_unit_weights(Graph(model)) == {"products": 1}
    assert model.output(0).get_partial_shape()[1] == 1
    compiled = compile_on_cpu(model)
    assert compiled([random(3, 1)])[0].shape == (3, 1)
    with pytest.raises(RuntimeError):
        compiled([random(3, 2)])


@pytest.mark.parametrize("dims", [(-1, 1), (-1, -1), (-1, -1, 1), (2, 5, 1), (-1, -1, -1, -1)])
@pytest.mark.parametrize("side", ["query", "keys", "values"])
def test_attention_of_one_query_and_feature(dims, side):
    """A constant of one element is the query, the key or the value of attention."""
    x, y, one = parameter(*dims), parameter(*dims[:-2], -1, 4), random(*([1] * len(dims)))
    data = random(*(2 if size == -1 else size for size in dims[:-2]), 5, 1)
    values = random(*data.shape[:-1], 4)
    if side == "values":
        values = values[..., :1, :]
        scores = ops.matmul(y, y, False, True)
        scores = ops.softmax(ops.slice(scores, [0], [1], [1], [-1]), -1)
        model = Model([ops.matmul(scores, one, False, False)], [y])
        arrays, want = [values], np.broadcast_to(one, [*values.shape[:-1], 1])
    else:
        left, right = (one, x) if side == "query" else (x, one)
        scores = ops.softmax(ops.matmul(left, right, False, True), -1)
        rows = y if side == "query" else ops.slice(y, [0], [1], [1], [-2])
        model = Model([ops.matmul(scores, rows, False, False)], [x, y])
        powers = np.exp(data.swapaxes(-1, -2) * one) if side == "query" else np.exp(data * one)
        arrays = [data, values]
        want = powers / powers.sum(-1, keepdims=True) @ (values if side == "query" else values[..., :1, :])
    assert avoid_unit_weights(Graph(model)) == {"products": 1}
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-6)  # sums may cancel


@pytest.mark.parametrize(("dims", "turned"), [((1, 3), True), ((2, 1, 3), True), ((2, 3, 1), False), ((-1, -1), True)])
@pytest.mark.parametrize("side", [0, 1])
def test_products_with_one_element(dims, turned, side):
    """Transposed as by the product, whichever operand it is."""
    turned = turned if side == 0 else not turned
    x, one = parameter(*dims), random(1, 1, 1)
    data = random(*(size if size > 0 else 3 if i else 1 for i, size in enumerate(dims)))
    sides, flags = ([x, one], [turned, False]) if side == 0 else ([one, x], [False, turned])
    model = Model([ops.matmul(*sides, *flags)], [x])
    moved = data.swapaxes(-1, -2) if turned else data
    assert avoid_unit_weights(Graph(model)) == {"products": 1}
    want = moved @ one if side == 0 else one @ moved
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5)


@pytest.mark.parametrize(("dims", "weights"), [((1, 1), (1,)), ((1,), (1, 1)), ((2, 1), (1, 2))])
def test_layers_of_one_weight_refuses(dims, weights):
    x = parameter(*dims)
    assert avoid_unit_weights(Graph(Model([ops.matmul(x, random(*weights), False, False)], [x]))) == {"products": 0}


def mean(x, *axes, keep=False):
    return ops.reduce_mean(x, np.array(axes), keep)


RESHAPED = {
    "column": (lambda x: reshape(mean(x, 1), -1, 1), lambda x: x.mean(1).reshape(-1, 1)),
    "row": (lambda x: reshape(mean(x, 0), 1, -1), lambda x: x.mean(0).reshape(1, -1)),
    "transposed": (lambda x: transpose(mean(x, 1), 1, 0), lambda x: x.mean(1).T),
    "there and back": (
        lambda x: reshape(ops.unsqueeze(mean(x, -2), np.array([0])), -1, 1),
        lambda x: x.mean(1).reshape(-1, 1),
    ),
}


@pytest.mark.parametrize("sizes", [(1, 4, 3), (-1, 4, 3), (-1, -1, -1)])
@pytest.mark.parametrize(("build", "same"), RESHAPED.values(), ids=RESHAPED)
def test_keep_reduced(build, same, sizes):
    """OpenVINO 2026.4 leaves the reshape out."""
    x, array = parameter(*sizes), random(1, 4, 3)
    model = Model([build(x)], [x])
    assert avoid_reshape_elision(Graph(model)) == {"reductions": 1}
    computed = compile_on_cpu(model)([array])[0]
    assert computed.shape == same(array).shape
    np.testing.assert_allclose(computed, same(array), rtol=1e-5, atol=1e-6)


NOT_RESHAPED = {
    "kept": lambda x: reshape(mean(x, 1, keep=True), 1, -1, 1),
    "another rank": lambda x: ops.unsqueeze(mean(x, 1), np.array([1])),
    "activation": lambda x: reshape(ops.relu(mean(x, 1)), -1, 1),
    "one axis left": lambda x: reshape(mean(x, 0, 1), -1),
}


@pytest.mark.parametrize("build_result", NOT_RESHAPED.values(), ids=NOT_RESHAPED)
def test_keep_reduced_fails_to_match(build_result):
    def build():
        x = parameter(-1, 4, 3)
        return Model([build_result(x)], [x])

    assert apply(avoid_reshape_elision, build, [2, 4, 3])[1] == {"reductions": 0}


PER_CHANNEL = random(4)


def scaled(x, keep=False):
    return ops.multiply(x, PER_CHANNEL.reshape(4, 1) if keep else PER_CHANNEL)


def summed(x, keep=False):
    return ops.reduce_sum(x, np.array([-1]), keep)


def beside_sum(x):
    """OpenVINO merges both sums, so that the first has a single reader."""
    return ops.add(scaled(x, True), ops.reduce_sum(x, np.array([2]), True))


MET = {
    "channels": lambda x: scaled(summed(x)),
    "kept": lambda x: scaled(summed(x, True), True),
    "put back": lambda x: scaled(ops.unsqueeze(summed(x), np.array([2])), True),
    "after others": lambda x: scaled(ops.relu(ops.add(ops.reduce_mean(x, np.array([2])), np.float32(0.3)))),
    "over the batch": lambda x: ops.multiply(ops.reduce_max(x, np.array([0]), False), PER_CHANNEL.reshape(4, 1)),
    "slopes": lambda x: ops.prelu(summed(x), PER_CHANNEL),
    "beside another sum": lambda x: beside_sum(summed(x, True)),
}
"""What OpenVINO 2026.4 computes wrongly from the second of a batch on."""


@pytest.mark.parametrize("batch", [-1, 3])
@pytest.mark.parametrize("build", MET.values(), ids=MET)
def test_reductions(build, batch):
    check_reduction(build, batch, random(3, 4, 5))


@pytest.mark.parametrize("batch", [-1, 1])
def test_reductions_of_one_batch_item(batch):
    """Over the batch the numbers of other channels are taken there as well."""
    check_reduction(MET["over the batch"], batch, random(1, 4, 5))


def check_reduction(build, batch, x):
    def model():
        x = parameter(batch, 4, 5)
        return Model([build(x)], [x])

    widened, same = model(), model()
    assert row("post_ops.of_reduced_sequence")(Graph(widened)) == {"sites": 1}
    assert widened.output(0).get_partial_shape() == same.output(0).get_partial_shape()
    wanted = Tensor(Type.f32, widened.output(0).get_partial_shape().to_shape() if batch > 0 else Shape([0]))
    same.evaluate([wanted], [Tensor(x)])  # one node after another, as OpenVINO's CPU plugin does not
    np.testing.assert_allclose(compile_on_cpu(widened)([x])[0], wanted.data, atol=1e-5)


ROW, COLUMN = random(1, 1, 1, 5), random(6, 1)
BETWEEN = {
    "row": (lambda s, m: ops.add(s, ROW), 1),
    "row of a lower rank": (lambda s, m: ops.add(s, ROW[0, 0, 0]), 1),
    "difference": (lambda s, m: ops.subtract(s, ROW), 1),
    "factor": (lambda s, m: ops.multiply(ops.relu(s), ROW), 1),
    "quotient": (lambda s, m: ops.divide(ops.relu(s), np.abs(ROW) + 1), 1),
    "minimum": (lambda s, m: ops.minimum(s, ROW), 1),
    "maximum": (lambda s, m: ops.maximum(s, ROW), 1),
    "input": (lambda s, m: ops.add(s, m), 1),
    "scaled, input": (lambda s, m: ops.add(ops.multiply(s, np.float32(0.3)), m), 2),
    "two rows": (lambda s, m: ops.add(ops.add(s, ROW), ROW), 2),
    "row and column": (lambda s, m: ops.subtract(ops.add(COLUMN, s), ROW), 2),
    "sum, scaled": (lambda s, m: ops.add(ops.multiply(ops.add(s, ROW), HALF), ROW), 3),
    "turned around": (lambda s, m: ops.add(ops.divide(ops.subtract(ROW, s), np.abs(COLUMN) + 1), ROW), 3),
    "around an input": (lambda s, m: ops.add(ops.add(ops.add(s, ROW), m), ROW), 3),
    "rows of zero and one": (lambda s, m: ops.add(ops.multiply(s, 0 * ROW + 1), 0 * ROW), 2),
}


def attention(between, *, batch=2, queries=6, keys=5):
    """The model, its inputs, and its result in float64."""
    rows = -1 if batch is None else batch
    q, k, v = (parameter(rows, 2, count, 16) for count in (queries, keys, keys))
    mask = parameter(1, 1, 1, keys)
    scores = between(ops.matmul(q, k, False, True), mask)
    inputs = [random(2, 2, count, 16) for count in (queries, keys, keys)] + [random(1, 1, 1, keys)]
    model = Model([ops.matmul(ops.softmax(scores, 3), v, False, False)], [q, k, v, mask])
    return model, inputs, node_by_node(model, inputs)[0]


@pytest.mark.parametrize("batch", [2, None], ids=["known", "unknown"])
@pytest.mark.parametrize(("between", "count"), BETWEEN.values(), ids=BETWEEN)
def test_avoid_row_post_ops(between, count, batch):
    model, inputs, want = attention(between, batch=batch)
    shape = model.output(0).get_partial_shape()
    assert avoid_row_post_ops(Graph(model)) == {"operands": count}
    assert model.output(0).get_partial_shape() == shape
    np.testing.assert_allclose(compile_on_cpu(model)(inputs)[0], want, atol=1e-5)
    in_bfloat16 = compile_on_cpu(model, "bf16")(inputs)[0]
    assert np.square(in_bfloat16 - want).mean() < 0.001 * np.square(want).mean()


FIRST = {
    "none": lambda s, m: s,
    "first already": lambda s, m: ops.add(ROW, s),
    "no product": lambda s, m: ops.add(ops.softmax(s, 3), m),
    "input subtracted": lambda s, m: ops.subtract(s, m),
    "a choice": lambda s, m: ops.select(ops.greater(m, np.float32(0)), s, np.float32(-9)),
}


@pytest.mark.parametrize("between", FIRST.values(), ids=FIRST)
def test_operands_that_stay(between):
    model, *_ = attention(between)
    assert avoid_row_post_ops(Graph(model)) == {"operands": 0}


def test_infinite_masks_and_factors_of_scores():
    """-inf masks a key; what infinity multiplies is not merged."""
    masked = np.where(np.arange(5) < 3, 0, -np.inf).astype(np.float32)
    model, inputs, want = attention(lambda s, m: ops.add(ops.add(s, masked), ROW))
    assert avoid_row_post_ops(Graph(model)) == {"operands": 2}
    np.testing.assert_allclose(compile_on_cpu(model)(inputs)[0], want, atol=1e-5)
    model, *_ = attention(lambda s, m: ops.multiply(ops.add(s, ROW), np.float32(np.inf)))
    before = Counter(node.get_type_name() for node in model.get_ops())
    avoid_row_post_ops(Graph(model))
    assert Counter(node.get_type_name() for node in model.get_ops()) == before


@pytest.mark.parametrize("batch", [2, None], ids=["known", "unknown"])
@pytest.mark.parametrize("queries", [1, 2, 17])
def test_avoid_product_of_one(queries, batch):
    column = random(queries, 1)
    model, inputs, want = attention(lambda s, m: ops.add(column, s), batch=batch, queries=queries, keys=1)
    assert avoid_product_of_one(Graph(model)) == {"products": 1}
    for precision, tolerance in (("f32", 1e-5), ("bf16", 0.02)):
        np.testing.assert_allclose(compile_on_cpu(model, precision)(inputs)[0], want, rtol=tolerance, atol=1e-6)
    inputs[0][:] = np.nan
    assert np.isnan(compile_on_cpu(model)(inputs)[0]).all()


def test_avoid_product_of_one_refuses():
    model, *_ = attention(lambda s, m: s, keys=2)
    assert avoid_product_of_one(Graph(model)) == {"products": 0}
    for values, turned in (([2, 5, 1], True), ([2, -1, 5], False)):
        x, v = parameter(2, 3, 1), parameter(*values)
        model = Model([ops.matmul(ops.softmax(x, 2), v, False, turned)], [x, v])
        assert avoid_product_of_one(Graph(model)) == {"products": 0}


VIEWS = {
    "none": lambda y: y,
    "copy": lambda y: ops.broadcast(y, np.array(y.get_output_shape(0))),
    "one joined": lambda y: ops.concat([y], 0),
    "times one": lambda y: ops.multiply(np.float32(1), y),
    "minus nothing": lambda y: ops.subtract(y, np.float32(0)),
    "two": lambda y: ops.tile(ops.power(y, np.float32(1)), np.ones(len(y.get_output_shape(0)), np.int64)),
}
REDUCING = (ops.reduce_sum, ops.reduce_mean, ops.reduce_max, ops.reduce_l2)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_reduce_before_unsqueeze(rank, view, keep):
    """Every axis that may be added, and every set of axes that is reduced."""
    rng, shape, models, moved = np.random.default_rng(rank), [3, 1, 2][:rank], [], 0
    for added in range(rank + 1):
        for count in range(1, rank + 2):
            for axes in itertools.combinations(range(rank + 1), count):
                x = parameter(*shape)
                wide = [*shape[:added], 1, *shape[added:]]
                as_reshape = rng.random() < 0.5
                y = ops.reshape(x, np.array(wide), False) if as_reshape else ops.unsqueeze(x, np.array([added]))
                models.append(Model([REDUCING[int(rng.integers(4))](VIEWS[view](y), np.array(axes), keep)], [x]))
    array = random(*shape)
    expected = [node_by_node(model, [array])[0] for model in models]
    for model in models:
        moved += reduce_before_unsqueeze(Graph(model))["reductions"]
    results = [one for model in models for one in model.get_results()]
    parameters = [one for model in models for one in model.get_parameters()]
    computed = compile_on_cpu(Model(results, parameters))([array] * len(models))
    for want, got in zip(expected, computed.values(), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert moved


BEHIND_UNSQUEEZED = {
    "factors": lambda y: ops.multiply(y, random(1, 4, 1)),
    "reshaped": lambda y: ops.reshape(y, np.array([-1, 1]), False),
    "transposed": lambda y: ops.relu(ops.transpose(y, np.array([1, 0, 2]))),
}


@pytest.mark.parametrize("build", BEHIND_UNSQUEEZED.values(), ids=BEHIND_UNSQUEEZED)
@pytest.mark.parametrize("added", range(4))
@pytest.mark.parametrize("axis", range(4))
def test_what_follows_a_reduction_of_what_is_unsqueezed(axis, added, build):
    """All rules together: what is right alone lets OpenVINO make what others go around."""
    shape = (4, 4, 4) if axis != added else (1, 4, 5)
    x = parameter(*shape)
    reduced = ops.reduce_max(ops.unsqueeze(x, np.array([added])), np.array([axis]), False)
    model, array = Model([build(reduced)], [x]), random(*shape)
    (want,) = node_by_node(model, [array])
    run_rewrites(model, rewrites_for())
    got = compile_on_cpu(model)([array])[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


STAYING = {
    "the added axis, dropped": lambda x: ops.reduce_l2(ops.unsqueeze(x, np.array([1])), np.array([1]), False),
    "after the added axis": lambda x: ops.reduce_sum(ops.unsqueeze(x, np.array([0])), np.array([1]), True),
    "the added axis": lambda x: ops.reduce_sum(ops.unsqueeze(x, np.array([2])), np.array([2]), True),
    "nothing is added": lambda x: ops.reduce_sum(ops.reshape(x, np.array([4, 3]), False), np.array([0]), True),
    "more is computed": lambda x: ops.reduce_sum(ops.relu(ops.unsqueeze(x, np.array([2]))), np.array([0]), True),
}


@pytest.mark.parametrize("build", STAYING.values(), ids=STAYING)
def test_reductions_that_stay_behind(build):
    x = parameter(3, 4)
    assert reduce_before_unsqueeze(Graph(Model([build(x)], [x]))) == {"reductions": 0}


# --- tiles ---


def _pooled(x):
    return ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)


def _softmax(x):
    return ops.softmax(x, 1)


@pytest.mark.parametrize("times", [(2, 2), (2,), (3, 1, 1), (1, 2, 2), (2, 1, 1, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("make", [_pooled, _softmax, ops.relu])
@pytest.mark.parametrize(
    ("shape", "known"),
    [
        ((2, 4, 2, 2), (2, 3)),
        ((2, 4, 2, 2), (0, 2, 3)),
        ((2, 4, 2, 2), (1, 2, 3)),
        ((2, 1, 4, 4), (1,)),
        ((2, 1, 4, 4), (1, 2, 3)),
        ((2, 1, 2, 6), (0, 1, 2)),
        ((1, 1, 2, 2), (1, 2, 3)),
    ],
)
def test_avoid_unit_tiles(shape, known, make, times):
    """Pixels and channels of every kind of input, tiled and then pooled, twice."""
    shape = shape if make is _pooled else (*shape[:2], shape[2] // 2, shape[3] // 2)
    x = parameter(*(size if i in known else -1 for i, size in enumerate(shape)))
    made = make(x)
    tiled = ops.tile(made, np.array(times))
    pooled = ops.max_pool(tiled, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0)
    model = Model([ops.result(one) for one in (tiled, pooled, made)], [x])
    assert avoid_unit_tiles(Graph(model)) == {"tiles": 1}
    request = compile_on_cpu(model).create_infer_request()
    for seed in range(2):
        got = request.infer([np.random.default_rng(seed).standard_normal(shape).astype(np.float32)])
        for i in range(2):
            np.testing.assert_array_equal(got[i], np.tile(got[2], times))


@pytest.mark.parametrize("volume", [(1, 1, 1), (2, 1, 2)])
def test_avoid_unit_tiles_of_volumes(volume):
    x = parameter(-1, 4 if volume == (1, 1, 1) else 1, *volume)
    soft = ops.softmax(x, 1)
    model = Model([ops.result(ops.tile(soft, np.array([1, 2, 2, 1, 3]))), ops.result(soft)], [x])
    assert avoid_unit_tiles(Graph(model)) == {"tiles": 1}
    got = compile_on_cpu(model)([random(2, 4 if volume == (1, 1, 1) else 1, *volume)])
    np.testing.assert_array_equal(got[0], np.tile(got[1], (1, 2, 2, 1, 3)))


def test_avoid_unit_tiles_refuses():
    for dims, times in (
        ((2, 4, 1, 1), np.array([1, 1, 2, 2])),
        ((-1, 4, 1, 2), np.array([1, 1, 2, 2])),
        ((-1, -1, -1, 1), np.array([1, 1, 2, 2])),
        ((-1, 4, 1), np.array([1, 1, 2])),
        ((-1, 4, 1, 1), np.array([2, 1, 1, 2, 2])),
        ((-1, 4, 1, 1), ops.parameter([4], np.int64)),
    ):
        x = parameter(*dims)
        inputs = [x] if isinstance(times, np.ndarray) else [x, times]
        assert avoid_unit_tiles(Graph(Model([ops.tile(x, times)], inputs))) == {"tiles": 0}


# --- reshapes around a transpose ---


# --- several matrices of weights ---


@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("turned", list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize(
    ("known", "shapes"),
    [
        ((1, -1, 4), [(1, 2, 4), (1, 5, 4)]),
        ((-1, -1, 4), [(1, 2, 4), (3, 5, 4), (1, 3, 4)]),
        ((-1, 3, 4), [(3, 3, 4), (1, 3, 4)]),
        ((1, -1, -1), [(1, 2, 4), (1, 1, 4)]),
        ((-1, 4), [(2, 4), (1, 4)]),
        ((-1, -1), [(2, 4), (7, 4)]),
    ],
)
def test_avoid_batched_weights(known, shapes, turned, precision):
    def transposed(shape):
        return (*shape[:-2], shape[-1], shape[-2]) if turned[0] else shape

    x, weights = parameter(*transposed(known)), random(3, 4, 5)
    given = ops.multiply(weights.swapaxes(1, 2) if turned[1] else weights, np.float32(1.5))
    model = Model([ops.relu(ops.matmul(x, given, *turned))], [x])
    shape = model.outputs[0].get_partial_shape()
    assert avoid_batched_weights(Graph(model)) == {"products": 1}
    assert model.outputs[0].get_partial_shape() == shape
    request = compile_on_cpu(model, precision).create_infer_request()
    for one in shapes:
        data = random(*one)
        got = request.infer([np.ascontiguousarray(data.reshape(one).swapaxes(-1, -2)) if turned[0] else data])[0]
        want = np.maximum(data @ (1.5 * weights), 0)
        np.testing.assert_allclose(got, want, atol=1e-5 if precision == "f32" else 0.1)


def test_avoid_batched_weights_refuses():
    for known, shape in (
        ((1, 2, 4), (3, 4, 5)),
        ((3, -1, 4), (3, 4, 5)),
        ((-1, -1, 4), (1, 4, 5)),
        ((-1, -1, 4), (4, 5)),
        ((-1, -1, -1, 4), (3, 4, 5)),
    ):
        x = parameter(*known)
        assert avoid_batched_weights(Graph(Model([ops.matmul(x, random(*shape), False, False)], [x]))) == {
            "products": 0
        }
    x, y = parameter(1, -1, 4), parameter(3, 4, -1)
    assert avoid_batched_weights(Graph(Model([ops.matmul(x, y, False, False)], [x, y]))) == {"products": 0}


# --- reductions of what is transposed ---


@pytest.mark.parametrize("shape", [(2, 1, 4, 4), (1, 3, 4, 5), (2, 3, 1, 4), (2, 3, 1), (1, 3, 4), (1, 1, 3, 3)])
@pytest.mark.parametrize("is_known", [True, False])
def test_reduce_before_transpose(shape, is_known):
    """Every permutation and every choice of axes; sizes above 1 are known, or none of them."""
    rank, data = len(shape), random(*shape)
    x, results, wanted = parameter(*(size if is_known or size == 1 else -1 for size in shape)), [], []
    for i, perm in enumerate(itertools.permutations(range(rank))):
        for count in range(1, rank):
            for axes in itertools.combinations(range(rank), count):
                given = [axis - rank if i % 2 else axis for axis in axes]
                moved = ops.transpose(ops.multiply(x, np.float32(i + 1)), np.array(perm))
                results.append(ops.reduce_max(moved, np.array(given), False))
                wanted.append((data * np.float32(i + 1)).transpose(perm).max(axes))
    model = Model(results, [x])
    assert reduce_before_transpose(Graph(model)) == {"reductions": len(wanted)}
    got = compile_on_cpu(model)([data])
    for i, want in enumerate(wanted):
        np.testing.assert_array_equal(got[i], want)


def test_reduce_before_transpose_refuses():
    order, axes = ops.parameter([3], np.int64), ops.parameter([1], np.int64)
    for dims, perm, over, keep in (
        ((2, 1, 3), np.array([2, 0, 1]), np.array([0]), True),
        ((2, -1, 3), np.array([2, 0, 1]), np.array([0]), False),
        ((2, 1, 3), order, np.array([0]), False),
        ((2, 1, 3), np.array([2, 0, 1]), axes, False),
    ):
        x = parameter(*dims)
        model = Model([ops.reduce_sum(ops.transpose(x, perm), over, keep)], [x, order, axes])
        assert reduce_before_transpose(Graph(model)) == {"reductions": 0}


# --- absolute values of joined vectors ---


BETWEEN = {
    "nothing": lambda y: y,
    "a reshape": lambda y: ops.reshape(y, np.array([-1]), False),
    "an activation": ops.relu,
}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("dims", [(6,), (-1,), (1,)])
def test_avoid_abs_sinking(dims, between):
    """What else reads the vector keeps its signs."""
    x, data = parameter(*dims), random(abs(dims[0])) - 1
    joined = ops.concat([x, ops.sin(x)], 0)
    length = ops.reduce_sum(ops.abs(BETWEEN[between](joined)), np.array([0]), True)
    model = Model([ops.divide(joined, ops.add(length, np.float32(1)))], [x])
    both = np.concatenate([data, np.sin(data)])
    want = both / (np.abs(np.maximum(both, 0) if between == "an activation" else both).sum() + 1)
    assert avoid_abs_sinking(Graph(model)) == {"abs": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5)


def test_avoid_abs_sinking_fails_to_match():
    x, y = parameter(4), parameter(2, 4)
    model = Model([ops.abs(x), ops.abs(ops.concat([y, y], 0))], [x, y])
    assert avoid_abs_sinking(Graph(model)) == {"abs": 0}


@pytest.mark.parametrize("counted", ["from the first", "from the last"])
@pytest.mark.parametrize("index", [[0], [0, 0, 0], [[0, 0]], [-1, 0], 0], ids=str)
@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_gathers_of_unsqueezed_axes(axis, index, counted, is_dynamic):
    """By constants and by what is computed, with the axis of either node counted from either end."""
    dims = (2, 3, 4)
    x, places = parameter(*(-1 if is_dynamic else size for size in dims)), parameter(*np.shape(index), kind=Type.i64)
    signs = (axis, axis - 4) if counted == "from the first" else (axis - 4, axis)
    results = [
        ops.gather(ops.unsqueeze(x, np.array([added])), indices, np.array(along))
        for added in signs
        for along in signs
        for indices in (np.array(index), places)
    ]
    model = Model(results, [x, places])
    data = random(*dims)
    avoid_unsqueeze_elision(Graph(model))
    want = np.take(np.expand_dims(data, axis), index, axis)
    for found in compile_on_cpu(model)([data, np.array(index)]).values():
        np.testing.assert_array_equal(found, want)
