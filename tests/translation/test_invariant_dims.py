"""Dimensions that loops and branches do not change are known once `Model.reshape` makes them known, and no others."""

import warnings

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.bodies import bodies_of
from tests.support.formats import FORMATS
from tests.support.models import network

SHAPES = {
    "table_decoder": [(1, None, 7), (1, None, 8)],
    "handed_on": [(3, 4)] * 6,
    "growing": [(3, None)],
    "greedy_decoder": [(2, None), (2, 8)],
    "branch_shapes": [(None, 4), (3, 4)],
    "written_unread_in_loops": [(3, 4), (None, 4), (None, 4), ()],
    "assigned_in_branch_of_loop": [(2, 4, 6)] * 6,
    "averaged": [(2, 8), (2, 1, 1, 1)],
    "masked_by_width": [(2, 3)],
    "nested": [(3, 2), (3, 2), (1,)],
    "counted": [(2, 5, 3), (2, 5, 4), (2, 5, 4), (2, 3, 4)],
}
"""Network -> the results' dimensions for its first inputs, None for those that only the run tells."""
GUARDED = ("joined_where_they_fit", "cache_that_may_be_empty")
"""Networks with branches and loops that some sizes do not fit: these are not known inside."""


def set_of(folder, number):
    return (dict(np.load(folder / f"{kind}_{number}.npz")) for kind in ("inputs", "outputs"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", [*SHAPES, *GUARDED])
def test_results_after_reshape(name, format):
    """For the sizes of the first inputs, and then those of the last."""
    folder = network(name, format)
    model = paddle2ov.convert(folder)
    for number in sorted({0, len(list(folder.glob("inputs_*.npz"))) - 1}):
        inputs, expected = set_of(folder, number)
        model.reshape({input_: list(array.shape) for input_, array in inputs.items()})
        if number == 0 and name in SHAPES:
            shapes = [
                tuple(dim.get_length() if dim.is_static else None for dim in output.partial_shape)
                for output in model.outputs
            ]
            assert shapes == SHAPES[name]
        results = compile_on_cpu(model)(inputs).values()
        for result, wanted in zip(results, expected.values(), strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("format", FORMATS)
def test_the_body_of_a_decoder(format):
    """It writes each step's results by one node, reads what does not change, and has no shapes left to infer."""
    folder = network("table_decoder", format)
    with warnings.catch_warnings():
        warnings.simplefilter("error", paddle2ov.ConversionWarning)
        model = paddle2ov.convert(folder)
    model.reshape([1, 6, 2, 3])
    (loop,) = (node for node in model.get_ops() if node.get_type_name() == "Loop")
    (body,) = bodies_of(loop)
    assert [
        str(parameter.get_partial_shape())
        for parameter in body.get_parameters()
        if parameter.get_partial_shape().is_dynamic
    ] == []
    kinds = [node.get_type_name() for node in body.get_ops()]
    assert kinds.count("ScatterUpdate") == 3
    assert not {"If", "Range", "Select", "Slice"} & set(kinds)
    assert kinds.count("MatMul") == 9  # that of the image's features is computed once, before the loop
