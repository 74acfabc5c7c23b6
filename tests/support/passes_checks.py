"""What the tests of the rewrites share: small graphs, and the check that a rewrite changes no value."""

from collections import Counter

import numpy as np
import pytest
from openvino import Model, PartialShape, Type, opset16 as ops
from openvino.op import Result

from paddle2ov.comparison.evaluator import Evaluator
from paddle2ov.comparison.tensors import to_array
from paddle2ov.compilation.running import as_tensor, compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row

RNG = np.random.default_rng(0)
SIZES = (2, 3, 4, 5, 2)
"""What a run gives unknown dimensions, by axis."""


def parameter(*dims, name="x", kind=Type.f32):
    node = ops.parameter(PartialShape(list(dims)), kind, name=name)
    node.output(0).set_names({name})
    return node


def transpose(x, *perm):
    return ops.transpose(x, np.array(perm))


def reshape(x, *shape):
    return ops.reshape(x, np.array(shape), True)


def convolved(x, filters, pad=0, stride=1):
    """A convolution of any rank, of which filters tell the rank."""
    rank = len(filters.shape) - 2
    return ops.convolution(x, filters, [stride] * rank, [pad] * rank, [pad] * rank, [1] * rank)


def pooled(x, stride=2, output=0):
    """A maximum of four pixels, or its indices."""
    return ops.max_pool(x, [stride] * 2, [1, 1], [0, 0], [0, 0], [2, 2]).output(output)


def _like(value):
    return ops.parameter(value.get_partial_shape(), value.get_element_type())


def branched(condition, value, *builds):
    """What an If makes of a value by one of two functions."""
    inside = [_like(value) for _ in builds]
    then, otherwise = (Model([build(item)], [item]) for build, item in zip(builds, inside, strict=True))
    node = ops.if_op(condition)
    node.set_then_body(then)
    node.set_else_body(otherwise)
    node.set_input(value, *inside)
    return node.set_output(then.get_results()[0], otherwise.get_results()[0])


def repeated(count, step, start, *read):
    """What a Loop makes of a value by so many steps, each of which reads others as well."""
    state, *inside = map(_like, (start, *read))
    loop = ops.loop(ops.constant(np.int64(count)), ops.constant(np.array(True)))
    more = ops.result(step(state, *inside))
    loop.set_function(Model([ops.result(ops.constant(np.array(True))), more], [state, *inside]))
    loop.set_special_body_ports([-1, 0])
    loop.set_merged_input(state, start, more.output(0))
    for item, value in zip(inside, read, strict=True):
        loop.set_invariant_input(item, value)
    return loop.get_iter_value(more.output(0), -1)


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def kinds(model):
    return Counter(node.get_type_name() for node in model.get_ops())


def model_of(build, *dims, types=()):
    """The model of what `build` makes of inputs of these dimensions, of float32 or of `types`: a node or several."""
    types = [*types, *[Type.f32] * len(dims)]
    inputs = [parameter(*item, name=name, kind=kind) for item, name, kind in zip(dims, "xyzuvw", types, strict=False)]
    made = build(*inputs)
    values = made if isinstance(made, list | tuple) else [made]
    return Model([item if isinstance(item, Result) else ops.result(item) for item in values], inputs)


def arrays_for(model, shapes=None):
    """Random numbers for the inputs of a model; unknown dimensions have the sizes in `SIZES`, or those of `shapes`."""
    dims = [list(port.get_partial_shape()) for port in model.inputs]
    known = [[size.get_length() if size.is_static else SIZES[axis] for axis, size in enumerate(item)] for item in dims]
    return [random(*shape) for shape in (shapes or known)]


def apply(rewrite, build, *dims, types=(), shapes=None, inputs=None, tolerance=1e-5):
    """Applies a rewrite to a model (see `model_of`, `arrays_for`), whose values must stay the same, node by node.

    Returns the model and what the rewrite counts.
    """
    model = model_of(build, *dims, types=types)
    same = model.clone()
    counts = rewrite(Graph(model))
    model.validate_nodes_and_infer_types()
    for port, reference in zip(model.outputs, same.outputs, strict=True):
        assert port.get_partial_shape() == reference.get_partial_shape()
    if any(counts.values()) or kinds(model) != kinds(same):
        feeds = arrays_for(model, shapes) if inputs is None else inputs
        check_close(node_by_node(model, feeds), node_by_node(same, feeds), tolerance)
    return model, counts


def stays(rewrite, build, *dims, types=()):
    """Whether a rewrite leaves a model as it is."""
    return not any(apply(rewrite, build, *dims, types=types)[1].values())


def compare(rewrite, build, *dims, sites=1, types=(), shapes=(), runs=(), tolerance=1e-5, rounded=0.0):
    """The rewritten model, compiled, computes what each node of the model as it was computes; returns it.

    Args:
        rewrite: the rewrite.
        build: what makes the model of inputs of `dims` and `types` (see `model_of`).
        dims: dimensions of the inputs.
        sites: how many sites it counts, or all that it counts; None: any. Where that is nothing, nothing is run.
        types: types of the inputs.
        shapes: for each run, shapes of random inputs; default: see `arrays_for`.
        runs: for each run, the inputs themselves.
        tolerance: how far results may differ.
        rounded: how far they may differ in bfloat16, as a part of the largest; 0: that is not compared.
    """
    model = model_of(build, *dims, types=types)
    same = model.clone()
    counts = rewrite(Graph(model))
    assert counts == (sites if isinstance(sites, dict) else {"sites": counts["sites"] if sites is None else sites})
    for port, reference in zip(model.outputs, same.outputs, strict=True):
        assert port.get_partial_shape() == reference.get_partial_shape()
    if sites == 0:
        return model
    runs = runs or [arrays_for(model, item) for item in shapes or (None, None)]
    wanted = [node_by_node(same, arrays) for arrays in runs]
    for precision in ("f32", "bf16") if rounded else ("f32",):
        request = compile_on_cpu(model, precision).create_infer_request()
        for arrays, want in zip(runs, wanted, strict=True):
            got = list(request.infer(arrays).values())
            if precision == "f32":
                check_close(got, want, tolerance)
            else:
                for actual, expected in zip(got, want, strict=True):
                    np.testing.assert_allclose(actual, expected, atol=rounded * np.abs(expected).max())
    return model


def all_rewrites(graph):
    """All rewrites one after another, as one that is compared."""
    run_rewrites(graph.model, rewrites_for())
    return {"sites": 1}


def stays_test(cases):
    """A test that rows of the table of workarounds leave graphs as they are.

    Args:
        cases: name of a row -> what a graph is -> (what builds it, dimensions of its inputs ...).
    """
    graphs = [
        pytest.param(row(name), build, dims, id=f"{name}, {what}")
        for name, graphs in cases.items()
        for what, (build, *dims) in graphs.items()
    ]

    @pytest.mark.parametrize(("rewrite", "build", "dims"), graphs)
    def test(rewrite, build, dims):
        assert stays(rewrite, build, *dims)

    return test


def check_close(computed, expected, tolerance):
    """Results are the same, shapes and values."""
    for got, want in zip(computed, expected, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def node_by_node(model, arrays):
    """The results of a model on the CPU, for arrays in the order of its inputs."""
    parameters = zip(arrays, model.get_parameters(), strict=True)
    results = Evaluator(model).run([as_tensor(array, node.get_element_type()) for array, node in parameters]).results
    return [to_array(lanes[0]) for lanes in results]
