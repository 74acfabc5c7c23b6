"""The graphs of faults are computed right after the rewrites, on any processor, also with neutral nodes anywhere."""

import itertools

import numpy as np
import pytest
from openvino import Type, opset16 as ops

from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import apply, model_of, stays
from tools.faults import FAULTS, places
from tools.faults.prelude import check

_APART = frozenset(
    (
        "channels_reversed_twice",
        "elementwise_with_single_element_of_higher_rank",
        "matmul_of_another_width",
        "normalization_of_scaled_numbers",
        "quantization_ranges_along_axis_2",
        "strided_slice_of_bounded_size",
        "transpose_of_split_channels",
    )
)
"""Faults that rewrites do not mend in their graph as it is: they need what converters make, or the program says."""

NEUTRAL = {
    "Add": lambda x, rank: ops.add(x, np.float32(0)),
    "Concat": lambda x, rank: ops.concat([x], 0),
    "Convert": lambda x, rank: ops.convert(x, Type.f32),
    "Multiply": lambda x, rank: ops.multiply(np.ones([1] * rank, np.float32), x),
    "Pad": lambda x, rank: ops.pad(x, [0] * rank, [0] * rank, "constant"),
    "Reshape": lambda x, rank: ops.reshape(x, np.zeros(rank, np.int64), True),
    "Slice": lambda x, rank: ops.slice(x, [0], [2**31 - 1], [1], [0]),
    "Tile": lambda x, rank: ops.tile(x, [1] * rank),
    "Transpose": lambda x, rank: ops.transpose(x, np.arange(rank)),
}


def _edges(model):
    """The inputs of nodes that take floats of some dimensions from other nodes, by position."""
    for position, node in enumerate(model.get_ordered_ops()):
        for i, source in enumerate(node.input_values()):
            is_float = source.get_element_type() == Type.f32 and node.get_type_name() != "Result"
            if is_float and source.get_node().get_type_name() != "Constant" and source.get_partial_shape().rank != 0:
                yield position, i


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, at in places().items()
        if name not in _APART and any(item.startswith(("paddle2ov.passes.", "paddle2ov.workarounds.")) for item in at)
    ),
)
def test_rewrites_mend_the_fault(name, request):
    """In its graph as it is, and with a node of another kind that changes nothing before each of its nodes."""
    fault = FAULTS[name]
    model, runs, wanted = fault.graph()
    run_rewrites(model, rewrites_for())
    check((model, runs, wanted), fault.precision, fault.tolerance, fault.threads)
    kinds = itertools.cycle(NEUTRAL.values())
    count = 2 if request.config.getoption("--every-form") else 1
    for position, i in list(_edges(fault.graph()[0])):
        for make in itertools.islice(kinds, count):
            model, runs, wanted = fault.graph()
            port = model.get_ordered_ops()[position].input(i)
            rank = len(port.get_partial_shape())
            port.replace_source_output(make(port.get_source_output(), rank).output(0))
            model.validate_nodes_and_infer_types()
            model = model.clone()
            run_rewrites(model, rewrites_for())
            check((model, runs, wanted), fault.precision, fault.tolerance, fault.threads)


@pytest.mark.parametrize("shape", [(1, 3, 1, 1), (1, 1, 4, 1), (1, 1, 1, 1, 1)], ids=["channels", "rows", "rank 5"])
def test_neutral_constants_that_may_broadcast_stay(shape):
    zeros = np.zeros(shape, np.float32)
    assert stays(drop_neutral, lambda x: ops.sqrt(ops.add(ops.relu(x), zeros)), (-1, -1, -1, 4))


def test_a_sum_with_zeros_that_is_a_result_stays_one():
    def build(x):
        total = ops.add(ops.relu(x), np.float32(0))
        return [total, ops.negative(total)]

    assert apply(drop_neutral, build, (-1, 4))[1] == {"nodes": 1}


def test_copies_of_states_stay():
    graph = Graph(model_of(lambda x: ops.negative(ops.add(x, np.float32(0))), (-1, 4)), is_body=True)
    assert drop_neutral(graph) == {"nodes": 0}
    assert graph.match_failures == {"drop_neutral": {"it may be the copy of a state": 1}}
