"""Dimensions that loops and branches do not change are known once `Model.reshape` makes them known, and no others."""

import warnings

import numpy as np
import pytest
from openvino import Dimension, PartialShape, Symbol, opset16 as ops

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.bodies import bodies_of
from paddle2ov.passes.invariant_dims import _Classes, _Tracer
from paddle2ov.program.model import Variable
from tests.support.formats import FORMATS
from tests.support.models import network
from tests.support.programs import block, program

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


def nested(depth):
    """Loops around each other, each of which appends to its state after the inner one."""
    inner = [("relu", f"x=inside{depth}", f"out=last{depth + 1}")]
    for k in range(depth, 0, -1):
        appended = ("concat", f"x=last{k + 1},more", f"out=after{k}", {"axis": 0})
        go_on = ("logical_not", "x=cond", f"out=go_on{k}")
        body = block(k, *inner, go_on, appended, inputs=f"inside{k}", outputs=f"go_on{k} after{k}")
        before = "x" if k == 1 else f"inside{k - 1}"
        inner = [("while", f"cond=cond x={before}", f"out=last{k}", {}, [body])]
    inputs = [Variable("cond", "bool", (1,)), *(Variable(name, "float32", (-1,)) for name in ("x", "more"))]
    known = [Variable(f"{name}{k}", "float32", (-1,)) for name in ("inside", "last", "after") for k in range(depth + 2)]
    return program(inner, inputs, "last1", known)


def test_nested_loops_are_traced_a_few_times(monkeypatch):
    """Each round of a loop traces those inside of it: from what they kept before, not from all of their dimensions."""
    counts = []
    trace = _Tracer.trace
    monkeypatch.setattr(_Tracer, "trace", lambda tracer, model: counts.append(model) or trace(tracer, model))
    paddle2ov.convert(nested(12))
    assert len(counts) <= 12 * 13 / 2 + 12 + 1  # 8,191 if each began anew


def test_sizes_to_try_are_different_primes():
    classes = _Classes()
    primes = [classes.prime(number) for number in range(200)]
    assert primes == sorted(set(primes))
    assert min(primes) > 10_000
    assert [n for n in primes if any(n % k == 0 for k in range(2, 110))] == []


def test_equal_symbols_have_one_number():
    """OpenVINO makes those of sizes equal that must be the same."""
    parameters, symbols = [ops.parameter([-1], np.float32) for _ in range(3)], [Symbol() for _ in range(3)]
    for parameter, symbol in zip(parameters, symbols, strict=True):
        dim = Dimension()
        dim.set_symbol(symbol)
        parameter.set_partial_shape(PartialShape([dim]))
        parameter.validate_and_infer_types()
    rows = [ops.unsqueeze(parameter, np.array(0)) for parameter in parameters[:2]]
    assert symbols[0] != symbols[1]
    ops.concat(rows, 0)
    assert symbols[0] == symbols[1]
    classes = _Classes()
    assert [classes.number(symbol) for symbol in (*symbols, symbols[0])] == [0, 0, 1, 0]
    assert classes.symbols == symbols[::2]
