"""Rows are computed for those that are gathered only: the same boxes, scores, order and counts as where all are."""

import logging
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from openvino import Model, PartialShape, Type

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import ConversionReport, convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.converters.detection import score_prefilter
from paddle2ov.graph.opset import ops
from paddle2ov.passes import Graph
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.program import read_program
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.testing import load
from paddle2ov.translation.input_spec import parse_input
from paddle2ov.translation.model_builder import TranslationRequest, convert_program
from paddle2ov.translation.registry import Registry
from tests.support.formats import FORMATS
from tests.support.suppressions import check_same, filtered, gathered, unfiltered

RNG = np.random.default_rng(0)
DECODED = {
    "ppyoloe_fixed": {"Softmax": 3, "Convolution": 1, "Sigmoid": 1},
    "picodet_fixed": {"Softmax": 3, "MatMul": 3},
    "ssd": {"Softmax": 1},
    "ssd_in_pixels": {"Exp": 6, "Softmax": 1},
}
"""Network -> kinds of nodes that decode, and how many of them do so for some boxes only."""


@pytest.fixture(autouse=True)
def filter_small_heads():
    with filtered():
        yield


def test_report_counts_what_computes_less():
    folder = generated_network(all_networks()["ssd"], "pir")
    report = ConversionReport()
    convert(folder, report=report)
    counts = report.rewrites["gather_pushdown"]
    assert counts["gathers"] >= 2
    # Of what it made, the pass that moves transposes removes one.
    assert counts["nodes"] == gathered(translated(program_of("ssd"))).total() > 6


@pytest.mark.parametrize("name", ["ssd", "ssd_in_pixels"])
def test_scores_of_gathered_boxes_are_not_transposed(name):
    """The classes are channels in the maps and in the suppression, and are so in the softmax between them."""
    model = convert(generated_network(all_networks()[name], "pir"))
    (softmax,) = [node for node in model.get_ordered_ops() if node.get_type_name() == "Softmax"]
    assert softmax.get_attributes()["axis"] == 1
    levels = softmax.input_value(0).get_node().input_values()
    around = [
        *(level.get_node() for level in levels),
        *(input_.get_node() for input_ in softmax.output(0).get_target_inputs()),
    ]
    assert "Transpose" not in {node.get_type_name() for node in around}


def program_of(name, format="pir"):
    return read_program(generated_network(all_networks()[name], format), None, [])


def suppression(program):
    return next(operator for operator in program.block.operators if "nms" in operator.type)


def translated(program, outputs=()):
    model = convert_program(TranslationRequest(program, [], outputs, Registry(), Vocabulary([])))
    gather_pushdown(Graph(model))
    return model


def plain(program, outputs=()):
    """All boxes decoded, and all looked at where they are suppressed."""
    with unfiltered():
        return convert_program(TranslationRequest(program, [], outputs, Registry(), Vocabulary([])))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DECODED)
@pytest.mark.parametrize("format", FORMATS)
def test_networks(name, format):
    folder = generated_network(all_networks()[name], format)
    model = convert(folder)
    counts = gathered(model)
    assert {kind: counts.get(kind) for kind in DECODED[name]} == DECODED[name]
    inputs = [load(folder / f"inputs_{i}.npz") for i in range(2)]
    dull = {**inputs[0], "image": 0 * inputs[0]["image"]}  # other boxes survive, if any
    with unfiltered():
        reference = compile_on_cpu(convert(folder, rewrite=False))
    check_same(model, reference, *inputs, dull)
    check_same(convert(folder, rewrite=False), reference, *inputs, dull)


@pytest.mark.parametrize(("threshold", "some"), [(1.5, False), (0.01, True)])
def test_no_box_and_every_box(threshold, some):
    program = program_of("picodet_fixed")
    suppression(program).attributes["score_threshold"] = threshold
    inputs = load(generated_network(all_networks()["picodet_fixed"], "pir") / "inputs_0.npz")
    (counts,) = check_same(translated(program), plain(program), inputs)
    assert any(counts) == some


def test_numbers_of_the_boxes():
    program = program_of("ppyoloe_fixed")
    names = [suppression(program).outputs[port][0] for port in ("index", "out", "nms_rois_num")]
    inputs = load(generated_network(all_networks()["ppyoloe_fixed"], "pir") / "inputs_0.npz")
    model = translated(program, names)
    assert gathered(model)
    check_same(model, plain(program, names), inputs)


# --- left as it is ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "threshold"), [("ppyoloe_fixed", 0.0), ("ppyoloe_fixed", -0.1), ("ppyoloe", 0.9)])
def test_a_threshold_that_all_boxes_pass_or_unknown_sizes(name, threshold):
    program = program_of(name)
    suppression(program).attributes["score_threshold"] = threshold
    assert not gathered(translated(program))


def test_a_small_head():
    with patch.object(score_prefilter, "_LEAST_SCORES", 505):
        assert not gathered(translated(program_of("ppyoloe_fixed")))
    with patch.object(score_prefilter, "_LEAST_SCORES", 504):
        assert gathered(translated(program_of("ppyoloe_fixed")))


@pytest.mark.parametrize("port", ["bboxes", "scores"])
def test_a_cut_keeps_its_value(port):
    program = program_of("ppyoloe_fixed")
    operator = suppression(program)
    names = [operator.inputs[port][0], *(operator.outputs[name][0] for name in ("out", "nms_rois_num"))]
    model = translated(program, names)
    kinds = gathered(model)
    assert ("Softmax" not in kinds) if port == "bboxes" else ("Sigmoid" not in kinds)
    inputs = load(generated_network(all_networks()["ppyoloe_fixed"], "pir") / "inputs_0.npz")
    check_same(model, plain(program, names), inputs)


def test_a_box_used_elsewhere_is_decoded_once():
    program = program_of("ppyoloe_fixed")
    (softmax, *_) = [operator for operator in program.block.operators if operator.type == "softmax"]
    names = [softmax.outputs["out"][0], *(item.name for item in program.outputs)]
    assert gathered(translated(program, names))["Softmax"] == 2


def test_boxes_that_are_given():
    """Nothing computes them, so there is nothing to gain."""
    program = program_of("ppyoloe_fixed")
    operator = suppression(program)
    inputs = [operator.inputs[port][0] for port in ("bboxes", "scores")]
    model = convert_program(TranslationRequest(program, parse_input(inputs), [], Registry(), Vocabulary([])))
    gather_pushdown(Graph(model))
    assert gathered(model).keys() <= {"Gather"}  # the suppression has some of its own
    assert len(model.inputs) == 2


# --- node by node -----------------------------------------------------------------------------------------------------


def parameter(name, *dims, kind=Type.f32):
    node = ops.parameter(PartialShape(list(dims)), kind, name=name)
    node.output(0).set_names({name})
    return node


def gathering(build, axis, dims):
    """A model of some rows, along an axis, of the value that `build` makes of inputs of some dimensions, and a mask."""
    inputs = [parameter(f"x{i}", *dim) for i, dim in enumerate(dims)]
    mask = parameter("mask", -1, kind=Type.boolean)
    index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
    built = build(*inputs)
    values = built if isinstance(built, tuple) else (built,)
    results = [ops.gather(value, index, np.array(axis)) for value in values[:1]]
    return Model([*results, *values[1:]], [*inputs, mask])


def check(build, axis, dims, *shapes, nodes, masks=None):
    """That rows are what they are without the rewrite, and how many nodes compute fewer."""
    model, plain = gathering(build, axis, dims), gathering(build, axis, dims)
    assert gather_pushdown(Graph(model))["nodes"] == nodes
    assert gathered(model).total() == nodes
    model.validate_nodes_and_infer_types()
    computed, expected = compile_on_cpu(model), compile_on_cpu(plain)
    gather = plain.get_results()[0].input_value(0).get_node()
    whole = compile_on_cpu(Model([gather.input_value(0)], plain.get_parameters()[:-1]))
    for input_shapes in shapes:
        arrays = [RNG.standard_normal(item).astype(np.float32) for item in input_shapes]
        count = whole(arrays)[0].shape[axis]
        given_masks = masks or [RNG.uniform(size=count) < 0.5, np.arange(count) == count - 1, np.ones(count, bool)]
        for mask in given_masks:
            got, wanted = computed([*arrays, mask]), expected([*arrays, mask])
            for actual, desired in zip(got.values(), wanted.values(), strict=True):
                assert actual.shape == desired.shape
                np.testing.assert_allclose(actual, desired, rtol=1e-6, atol=1e-6)


def test_one_row_for_all_or_all():
    """Where dimensions are not known, either operand may be the one that is spread over the other: the Gather stays."""

    def build(x, y):
        return ops.exp(ops.multiply(ops.sigmoid(x), ops.tanh(y)))

    for shapes in ([(2, 6, 4), (2, 6, 4)], [(2, 1, 4), (2, 6, 4)], [(2, 6, 4), (2, 1, 4)]):
        check(build, 1, [(-1, -1, 4), (-1, -1, 4)], shapes, nodes=1)


def test_rows_of_a_matrix():
    """Softmax over rows that hold the sides of all boxes of all images, as PicoDet has it."""

    def build(x):
        rows = ops.softmax(ops.reshape(ops.transpose(x, np.array([0, 2, 3, 1])), np.array([-1, 3]), False), 1)
        return ops.reshape(ops.matmul(rows, np.ones((3, 1), np.float32), False, False), np.array([-1, 20, 4]), False)

    check(build, 1, [(-1, 12, 4, 5)], [(2, 12, 4, 5)], [(1, 12, 4, 5)], nodes=3)


def test_a_reshape_that_mixes_rows():
    def build(x):
        return ops.relu(ops.reshape(x, np.array([2, 6, 4]), False))

    check(build, 1, [(2, 4, 6)], [(2, 4, 6)], nodes=1)


def test_levels_of_unknown_lengths():
    def build(x, y):
        return ops.exp(ops.concat([ops.relu(x), ops.abs(y)], 1))

    check(build, 1, [(-1, -1, 2), (-1, -1, 2)], [(1, 3, 2), (1, 5, 2)], nodes=1)


def test_a_level_without_a_row():
    def build(x, y):
        return ops.softmax(ops.concat([ops.relu(x), ops.abs(y)], 1), 2)

    masks = [np.arange(8) < 2, np.arange(8) > 5, np.zeros(8, bool)]
    check(build, 1, [(1, 4, 2), (1, 4, 2)], [(1, 4, 2), (1, 4, 2)], nodes=3, masks=masks)


@pytest.mark.parametrize("joined", [ops.relu, lambda x: ops.add(x, np.ones((1, 1), np.float32))], ids=["one", "two"])
def test_a_level_of_one_row(joined):
    """Whose row may be the only one that is chosen, or not chosen at all."""

    def build(x, y, z):
        return ops.softmax(ops.concat([ops.relu(x), joined(y), ops.multiply(ops.abs(z), ops.exp(z))], 1), 2)

    masks = [np.arange(6) < 4, np.arange(6) == 4, np.arange(6) > 3, np.zeros(6, bool)]
    dims = [(1, 4, 2), (1, 1, 2), (1, 1, 2)]
    check(build, 1, dims, dims, nodes=6, masks=masks)


def test_levels_within_levels():
    def build(x, y, z):
        return ops.concat([ops.relu(x), ops.sin(ops.concat([ops.abs(y), ops.exp(z)], 1))], 1)

    check(build, 1, [(1, 2, 2), (1, 3, 2), (1, 4, 2)], [(1, 2, 2), (1, 3, 2), (1, 4, 2)], nodes=4)


def test_constants_have_a_row_for_each():
    def build(x):
        return ops.multiply(ops.add(x, ops.constant(RNG.standard_normal((6, 4)).astype(np.float32))), np.float32(2))

    saved = RNG.bit_generator.state

    def same(x):
        RNG.bit_generator.state = saved
        return build(x)

    check(same, 1, [(-1, 6, 4)], [(2, 6, 4)], nodes=2)


@pytest.mark.parametrize(
    ("dims", "perm", "target"),
    [
        ((-1, 6, 4, 5), [0, 2, 3, 1], [0, -1, 3]),  # rows by cell, then by anchor
        ((-1, 2, 3, 20), [0, 1, 3, 2], [0, -1, 3]),  # by anchor, then by cell
        ((-1, 6, 4, 5), [0, 3, 2, 1], [0, -1, 6]),  # down the columns
        ((-1, 2, 3, 4, 5), [0, 3, 4, 1, 2], [0, -1, 6]),  # two axes are the elements
    ],
    ids=str,
)
def test_rows_of_a_map(dims, perm, target):
    """No map is transposed for a few rows of it."""

    def build(x):
        return ops.exp(ops.reshape(ops.transpose(x, np.array(perm)), np.array(target), True))

    sizes = {"6": (2, 6, 4, 5), "2": (2, 2, 3, 4, 5) if len(dims) == 5 else (2, 2, 3, 20)}[str(dims[1])]
    check(build, 1, [dims], [sizes], [(1, *sizes[1:])], nodes=1)
    model = gathering(build, 1, [dims])
    gather_pushdown(Graph(model))
    (transposed,) = (node for node in model.get_ops() if node.get_type_name() == "Transpose")
    assert transposed.input_value(0).get_node().get_type_name() == "Gather"


def test_rows_of_a_map_and_nothing_else():
    """No map is transposed although no other node computes fewer rows."""

    def build(x):
        return ops.reshape(ops.transpose(x, np.array([0, 2, 3, 1])), np.array([0, -1, 3]), True)

    check(build, 1, [(-1, 6, 4, 5)], [(2, 6, 4, 5)], nodes=0)
    model = gathering(build, 1, [(-1, 6, 4, 5)])
    assert gather_pushdown(Graph(model)) == {"gathers": 1, "nodes": 0}
    (transposed,) = (node for node in model.get_ops() if node.get_type_name() == "Transpose")
    assert transposed.input_value(0).get_node().get_type_name() == "Gather"


def test_each_gather_gives_its_own_name():
    x, y, mask = parameter("x", 6, 4), parameter("y", 6, 4), parameter("mask", -1, kind=Type.boolean)
    index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
    gathers = [ops.gather(value, index, np.array(0)) for value in (ops.exp(x), ops.abs(y))]
    for gather, name in zip(gathers, "ab", strict=True):
        gather.set_friendly_name(name)
    model = Model(gathers, [x, y, mask])
    gather_pushdown(Graph(model))
    names = [node.get_friendly_name() for node in model.get_ops() if node.get_type_name() == "Gather"]
    assert {name.partition("/")[0] for name in names} == {"a", "b"}


def test_rows_of_a_part_of_a_map():
    def build(x):
        _, y = ops.variadic_split(x, np.array(1), np.array([2, 6])).outputs()
        rows = ops.transpose(ops.reshape(y, np.array([0, 2, 3, -1]), True), np.array([0, 1, 3, 2]))
        return ops.exp(ops.reshape(rows, np.array([0, -1, 3]), True))

    check(build, 1, [(-1, 8, 4, 5)], [(2, 8, 4, 5)], nodes=1)


def test_rows_that_another_gather_chose():
    """Some rows of those that indices choose are those of some indices."""

    def build(x):
        return ops.exp(ops.gather(x, np.array([5, 4, 3, 2, 1, 0]), np.array(1)))

    check(build, 1, [(2, 9, 4)], [(2, 9, 4)], nodes=2)


def test_levels_of_two_tensors_share_their_indices():
    """Boxes and scores of the same levels: each level's rows are chosen, and gathered from its map, once."""

    def parts(x):
        rows = ops.reshape(ops.transpose(x, np.array([0, 2, 3, 1])), np.array([0, -1, 2]), True)
        return ops.split(rows, np.array(2), 2).outputs()

    maps = [parameter(f"x{i}", 1, 2, 3, 4) for i in range(2)]
    mask = parameter("mask", -1, kind=Type.boolean)
    index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
    halves = zip(*map(parts, maps), strict=True)
    results = [ops.gather(ops.concat([ops.exp(item) for item in half], 1), index, np.array(1)) for half in halves]
    model = Model(results, [*maps, mask])
    plain = model.clone()
    gather_pushdown(Graph(model))
    kinds = Counter(node.get_type_name() for node in model.get_ops())
    assert kinds["NonZero"] == 3
    assert kinds["Split"] == 2
    arrays = [RNG.standard_normal((1, 2, 3, 4)).astype(np.float32) for _ in maps]
    for chosen in (RNG.uniform(size=24) < 0.5, np.arange(24) == 13, np.zeros(24, bool)):
        got, wanted = (compile_on_cpu(value)([*arrays, chosen]) for value in (model, plain))
        for actual, desired in zip(got.values(), wanted.values(), strict=True):
            np.testing.assert_array_equal(actual, desired)


# --- where a Gather stays ---------------------------------------------------------------------------------------------


def test_what_mixes_rows():
    def build(x):
        return ops.relu(ops.add(ops.softmax(x, 1), ops.cum_sum(x, np.array(1))))

    check(build, 1, [(2, 6, 4)], [(2, 6, 4)], nodes=2)


MIXING = {
    "softmax": lambda x: ops.softmax(x, 1),
    "normalization": lambda x: ops.normalize_l2(x, np.array([1]), 1e-6, "add"),
    "first-factor-transposed": lambda x: ops.matmul(x, np.ones((6, 3), np.float32), True, False),
    "two-factors": lambda x: ops.matmul(x, x, False, False),
    "slice": lambda x: ops.slice(x, np.array([0]), np.array([9]), np.array([1]), np.array([1])),
    "cumulative-sum": lambda x: ops.cum_sum(x, np.array(1)),
    "one-input": lambda x: ops.concat([x], 1),
}


@pytest.mark.parametrize("kind", MIXING)
def test_nodes_that_work_along_the_rows(kind):
    check(MIXING[kind], 1, [(6, 6, 6)], [(6, 6, 6)], nodes=0)


def test_what_something_else_reads():
    """What is computed in any case is not computed twice."""

    def build(x):
        shared = ops.exp(x)
        return ops.relu(ops.add(shared, np.float32(1))), ops.abs(shared)

    check(build, 1, [(2, 6, 4)], [(2, 6, 4)], nodes=2)


def test_what_the_mask_is_computed_of():
    x = parameter("x", 6, 4)
    scores = ops.sigmoid(x)
    mask = ops.greater(ops.reduce_max(scores, np.array([1]), False), np.float32(0.8))
    index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
    model = Model([ops.gather(ops.exp(scores), index, np.array(0))], [x])
    assert gather_pushdown(Graph(model)) == {"gathers": 1, "nodes": 1}
    assert gathered(model) == {"Exp": 1}


def test_other_indices():
    """Only a mask gives no more rows than there are."""
    x, index = parameter("x", 6, 4), parameter("index", -1, kind=Type.i64)
    model = Model([ops.gather(ops.exp(x), index, np.array(0))], [x, index])
    assert gather_pushdown(Graph(model)) == {"gathers": 0, "nodes": 0}


def test_many_nodes_one_behind_the_other():
    def build(x):
        for _ in range(130):
            x = ops.abs(x)
        return x

    check(build, 1, [(2, 6, 4)], [(2, 6, 4)], nodes=100)


def test_a_match_that_fails_says_why(caplog):
    with caplog.at_level(logging.DEBUG, "paddle2ov"):
        gather_pushdown(Graph(gathering(lambda x: ops.relu(ops.softmax(x, 1)), 1, [(2, 6, 4)])))
    assert "it works along the rows' axis" in caplog.text
