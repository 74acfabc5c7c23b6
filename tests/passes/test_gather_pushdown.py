"""Rows are computed for those that are gathered only: the same boxes, scores, order and counts as where all are."""

import logging
from unittest.mock import patch

import numpy as np
import pytest
from openvino import Model, Type

from paddle2ov import ConversionReport, convert
from paddle2ov.converters.detection import score_prefilter
from paddle2ov.graph.opset import ops
from paddle2ov.passes import Graph
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.program.reading import read_program
from paddle2ov.testing import load
from paddle2ov.translation.input_spec import parse_input
from paddle2ov.translation.model_builder import TranslationRequest, convert_program
from paddle2ov.translation.registry import Registry
from tests.support.formats import FORMATS
from tests.support.models import network
from tests.support.passes_checks import (
    RNG,
    apply,
    arrays_for,
    check_close,
    kinds,
    model_of,
    node_by_node,
    random,
    reshape,
    stays,
    transpose,
)
from tests.support.suppressions import check_same, filtered, gathered, unfiltered

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
    folder = network("ssd")
    report = ConversionReport()
    convert(folder, report=report)
    counts = report.rewrites["gather_pushdown"]
    assert counts["gathers"] >= 2
    # Of what it made, the pass that moves transposes removes one.
    assert counts["nodes"] == gathered(translated(program_of("ssd"))).total() > 6


@pytest.mark.parametrize("name", ["ssd", "ssd_in_pixels"])
def test_scores_of_gathered_boxes_are_not_transposed(name):
    """The classes are channels in the maps and in the suppression, and are so in the softmax between them."""
    model = convert(network(name))
    (softmax,) = [node for node in model.get_ordered_ops() if node.get_type_name() == "Softmax"]
    assert softmax.get_attributes()["axis"] == 1
    levels = softmax.input_value(0).get_node().input_values()
    around = [
        *(level.get_node() for level in levels),
        *(input_.get_node() for input_ in softmax.output(0).get_target_inputs()),
    ]
    assert "Transpose" not in {node.get_type_name() for node in around}


def program_of(name, format="pir"):
    return read_program(network(name, format), None, [])


def suppression(program):
    return next(operator for operator in program.block.operators if "nms" in operator.type)


def translated(program, outputs=()):
    model = convert_program(TranslationRequest(program, [], outputs, Registry()))
    gather_pushdown(Graph(model))
    return model


def plain(program, outputs=()):
    """All boxes decoded, and all looked at where they are suppressed."""
    with unfiltered():
        return convert_program(TranslationRequest(program, [], outputs, Registry()))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DECODED)
@pytest.mark.parametrize("format", FORMATS)
def test_networks(name, format):
    folder = network(name, format)
    model = convert(folder)
    counts = gathered(model)
    assert {kind: counts.get(kind) for kind in DECODED[name]} == DECODED[name]
    inputs = load(folder / "inputs_1.npz")
    dull = {**inputs, "image": 0 * inputs["image"]}  # other boxes survive, if any
    with unfiltered():
        reference = convert(folder, rewrite=False)
    check_same(model, reference, inputs, dull)


@pytest.mark.parametrize(("threshold", "some"), [(1.5, False), (0.01, True)])
def test_no_box_and_every_box(threshold, some):
    program = program_of("picodet_fixed")
    suppression(program).attributes["score_threshold"] = threshold
    inputs = load(network("picodet_fixed") / "inputs_0.npz")
    (counts,) = check_same(translated(program), plain(program), inputs)
    assert any(counts) == some


def test_numbers_of_the_boxes():
    program = program_of("ppyoloe_fixed")
    names = [suppression(program).outputs[port][0] for port in ("index", "out", "nms_rois_num")]
    inputs = load(network("ppyoloe_fixed") / "inputs_0.npz")
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
    assert ("Softmax" if port == "bboxes" else "Sigmoid") not in gathered(model)
    inputs = load(network("ppyoloe_fixed") / "inputs_0.npz")
    check_same(model, plain(program, names), inputs)


def test_boxes_that_are_given():
    """Nothing computes them, so there is nothing to gain."""
    program = program_of("ppyoloe_fixed")
    operator = suppression(program)
    inputs = [operator.inputs[port][0] for port in ("bboxes", "scores")]
    model = convert_program(TranslationRequest(program, parse_input(inputs), [], Registry()))
    gather_pushdown(Graph(model))
    assert gathered(model).keys() <= {"Gather"}  # the suppression has some of its own
    assert len(model.inputs) == 2


# --- node by node -----------------------------------------------------------------------------------------------------


def gathering(build, dims):
    """A model of some rows of the value that `build` makes of inputs of some dimensions, and a mask."""

    def gathered_rows(mask, *inputs):
        index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
        built = build(*inputs)
        values = built if isinstance(built, tuple) else (built,)
        return [ops.gather(values[0], index, np.array(1)), *values[1:]]

    return model_of(gathered_rows, (-1,), *dims, types=[Type.boolean])


def check(build, dims, *shapes, nodes, least=0):
    """That rows, `least` or more, are what they are without the rewrite, and how many nodes compute fewer.

    Returns the model.
    """
    model = gathering(build, dims)
    plain = model.clone()
    assert gather_pushdown(Graph(model))["nodes"] == nodes
    assert gathered(model).total() == nodes
    model.validate_nodes_and_infer_types()
    gather = plain.get_results()[0].input_value(0).get_node()
    whole = Model([gather.input_value(0)], plain.get_parameters()[1:])
    for input_shapes in shapes or [None]:
        arrays = arrays_for(whole, input_shapes)
        rows = np.arange(node_by_node(whole, arrays)[0].shape[1])
        masks = (RNG.uniform(size=len(rows)) < 0.5, rows < 4, rows == len(rows) - 1, rows >= 0, rows < 0)
        for mask in (mask for mask in masks if mask.sum() >= least):
            check_close(node_by_node(model, [mask, *arrays]), node_by_node(plain, [mask, *arrays]), 1e-6)
    return model


def joined(*levels):
    return ops.concat(list(levels), 1)


def softmax_of_levels(change):
    """Levels of four rows, and of one row each."""
    return lambda x, y, z: ops.softmax(joined(ops.relu(x), change(y), ops.multiply(ops.abs(z), ops.exp(z))), 2)


def of_a_matrix(x):
    """Softmax over rows that hold the sides of all boxes of all images, as PicoDet has it."""
    rows = ops.softmax(ops.reshape(transpose(x, 0, 2, 3, 1), np.array([-1, 3]), False), 1)
    return ops.reshape(ops.matmul(rows, np.ones((3, 1), np.float32), False, False), np.array([-1, 20, 4]), False)


def of_sums(x):
    """The same over sums of rows, which do not tell how many images there are."""
    rows = ops.reduce_sum(ops.reshape(transpose(x, 0, 2, 3, 1), np.array([-1, 3]), False), np.array([1]), True)
    return ops.reshape(rows, np.array([-1, 20, 4]), False)


def of_a_part(x):
    _, y = ops.variadic_split(x, np.array(1), np.array([2, 6])).outputs()
    return ops.exp(reshape(transpose(reshape(y, 0, 2, 3, -1), 0, 1, 3, 2), 0, -1, 3))


def read_elsewhere(x):
    """What is computed in any case is not computed twice."""
    shared = ops.exp(x)
    return ops.relu(ops.add(shared, np.float32(1))), ops.abs(shared)


def in_a_chain(x):
    for _ in range(130):
        x = ops.abs(x)
    return x


ONE_ROW = [(1, 4, 2), (1, 1, 2), (1, 1, 2)]
BOTH, SQUARE, ROWS = [(2, 6, 4)] * 2, [(6, 6, 6)], [(2, 6, 4)]
FIRST_TWO = [(1, 2, 2), (1, 3, 2), (1, 5, 2)]
GRAPHS = {
    # Where dimensions are not known, either operand may be the one that is spread over the other: the Gather stays.
    "one row or all": (
        lambda x, y: ops.exp(ops.multiply(ops.sigmoid(x), ops.tanh(y))),
        [(-1, -1, 4)] * 2,
        [BOTH, [(2, 1, 4), (2, 6, 4)], [(2, 6, 4), (2, 1, 4)]],
        1,
    ),
    "mixed by a reshape": (lambda x: ops.relu(ops.reshape(x, np.array([2, 6, 4]), False)), [(2, 4, 6)], [], 1),
    "levels of unknown lengths": (
        lambda x, y: ops.softmax(joined(ops.relu(x), ops.abs(y)), 2),
        [(-1, -1, 2)] * 2,
        [[(1, 3, 2), (1, 5, 2)]],
        1,
    ),
    "levels": (lambda x, y: ops.softmax(joined(ops.relu(x), ops.abs(y)), 2), [(1, 4, 2)] * 2, [], 3),
    "a level of one row": (softmax_of_levels(ops.relu), ONE_ROW, [], 6),
    "a level of one row and a constant": (
        softmax_of_levels(lambda x: ops.add(x, np.ones((1, 1), np.float32))),
        ONE_ROW,
        [],
        6,
    ),
    "levels within levels": (
        lambda x, y, z: joined(ops.relu(x), ops.sin(joined(ops.abs(y), ops.exp(z)))),
        FIRST_TWO,
        [],
        4,
    ),
    "constants": (lambda x: ops.multiply(ops.add(x, ops.constant(random(6, 4))), np.float32(2)), ROWS, [], 2),
    "of a part of a map": (of_a_part, [(-1, 8, 4, 5)], [], 1),
    "chosen before": (lambda x: ops.exp(ops.gather(x, np.array([5, 4, 3, 2, 1, 0]), np.array(1))), [(2, 9, 4)], [], 2),
    "mixed": (lambda x: ops.relu(ops.add(ops.softmax(x, 1), ops.cum_sum(x, np.array(1)))), ROWS, [], 2),
    "read elsewhere": (read_elsewhere, ROWS, [], 2),
    "in a chain": (in_a_chain, ROWS, [], 100),
    # These work along the rows.
    "softmax": (lambda x: ops.softmax(x, 1), SQUARE, [], 0),
    "normalization": (lambda x: ops.normalize_l2(x, np.array([1]), 1e-6, "add"), SQUARE, [], 0),
    "first factor": (lambda x: ops.matmul(x, np.ones((6, 3), np.float32), True, False), SQUARE, [], 0),
    "two factors": (lambda x: ops.matmul(x, x, False, False), SQUARE, [], 0),
    "slice": (lambda x: ops.slice(x, *(np.array([number]) for number in (0, 9, 1, 1))), SQUARE, [], 0),
    "cumulative sum": (lambda x: ops.cum_sum(x, np.array(1)), SQUARE, [], 0),
    "one input": (lambda x: ops.concat([x], 1), SQUARE, [], 0),
}


def test_rows_of_a_matrix():
    """Where there are none, the map tells of how many images."""
    shapes = [(2, 12, 4, 5)], [(1, 12, 4, 5)]
    check(of_a_matrix, [(-1, 12, 4, 5)], *shapes, nodes=3)
    check(of_sums, [(-1, 12, 4, 5)], *shapes, nodes=0)
    check(of_sums, [(2, 12, 4, 5)], nodes=2)


@pytest.mark.parametrize(("build", "dims", "shapes", "nodes"), GRAPHS.values(), ids=GRAPHS)
def test_rows(build, dims, shapes, nodes):
    check(build, dims, *shapes, nodes=nodes)


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
    """No map is transposed for a few rows of it, nor where no other node computes fewer rows."""

    def rows(x):
        return reshape(transpose(x, *perm), *target)

    assert transposes_gathered(check(lambda x: ops.exp(rows(x)), [dims], nodes=1))
    model = gathering(rows, [dims])
    assert gather_pushdown(Graph(model)) == {"gathers": 1, "nodes": 0}
    assert transposes_gathered(model)


def transposes_gathered(model):
    (transposed,) = (node for node in model.get_ops() if node.get_type_name() == "Transpose")
    return transposed.input_value(0).get_node().get_type_name() == "Gather"


def test_each_gather_gives_its_own_name():
    def build(mask, x, y):
        index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
        gathers = [ops.gather(value, index, np.array(0)) for value in (ops.exp(x), ops.abs(y))]
        for gather, name in zip(gathers, "ab", strict=True):
            gather.set_friendly_name(name)
        return gathers

    model = model_of(build, (-1,), (6, 4), (6, 4), types=[Type.boolean])
    gather_pushdown(Graph(model))
    names = [node.get_friendly_name() for node in model.get_ops() if node.get_type_name() == "Gather"]
    assert {name.partition("/")[0] for name in names} == {"a", "b"}


def test_levels_of_two_tensors_share_their_indices():
    """Boxes and scores of the same levels: each level's rows are chosen, and gathered from its map, once."""

    def parts(x):
        rows = ops.reshape(ops.transpose(x, np.array([0, 2, 3, 1])), np.array([0, -1, 2]), True)
        return ops.split(rows, np.array(2), 2).outputs()

    def build(mask, *maps):
        index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
        halves = zip(*map(parts, maps), strict=True)
        return [ops.gather(ops.concat([ops.exp(item) for item in half], 1), index, np.array(1)) for half in halves]

    model = model_of(build, (-1,), (1, 2, 3, 4), (1, 2, 3, 4), types=[Type.boolean])
    plain = model.clone()
    gather_pushdown(Graph(model))
    assert (kinds(model)["NonZero"], kinds(model)["Split"]) == (3, 2)
    arrays = [random(1, 2, 3, 4) for _ in range(2)]
    for chosen in (RNG.uniform(size=24) < 0.5, np.arange(24) == 13, np.zeros(24, bool)):
        check_close(node_by_node(model, [chosen, *arrays]), node_by_node(plain, [chosen, *arrays]), 0)


def test_what_the_mask_is_computed_of():
    def build(x):
        scores = ops.sigmoid(x)
        mask = ops.greater(ops.reduce_max(scores, np.array([1]), False), np.float32(0.8))
        return ops.gather(ops.exp(scores), ops.squeeze(ops.non_zero(mask, "i64"), np.array(0)), np.array(0))

    model, counts = apply(gather_pushdown, build, (6, 4))
    assert counts == {"gathers": 1, "nodes": 1}
    assert gathered(model) == {"Exp": 1}


def test_other_indices():
    """Only a mask gives no more rows than there are."""
    assert stays(gather_pushdown, lambda i, x: ops.gather(ops.exp(x), i, np.array(0)), (-1,), (6, 4), types=[Type.i64])


def test_a_match_that_fails_says_why(caplog):
    with caplog.at_level(logging.DEBUG, "paddle2ov"):
        gather_pushdown(Graph(gathering(lambda x: ops.relu(ops.softmax(x, 1)), ROWS)))
    assert "it works along the rows' axis" in caplog.text


def test_rows_of_any_width_are_not_listed():
    """The program alone says how wide a row is: a list of its elements would take 80 GB."""
    graph = Graph(
        gathering(lambda x: ops.reshape(transpose(x, 0, 2, 3, 1), [1, 4, 10**10], False), [(1, 10**10, 2, 2)])
    )
    assert gather_pushdown(graph) == {"gathers": 0, "nodes": 0}
