"""What the tests of the rewrites share: small graphs, and the check that a rewrite changes no value."""

from collections import Counter

import numpy as np
from openvino import Model, PartialShape, Type
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph

RNG = np.random.default_rng(0)


def parameter(*dims, name="x", kind=Type.f32):
    node = ops.parameter(PartialShape(list(dims)), kind, name=name)
    node.output(0).set_names({name})
    return node


def transpose(x, *perm):
    return ops.transpose(x, np.array(perm))


def reshape(x, *shape):
    return ops.reshape(x, np.array(shape), True)


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def kinds(model):
    return Counter(node.get_type_name() for node in model.get_ops())


def apply(rewrite, build, *shapes, inputs=None, tolerance=1e-5):
    """Applies a rewrite to the model that `build()` gives; the values for inputs of the shapes must stay the same."""
    model, same = build(), build()
    assert isinstance(model, Model)
    counts = rewrite(Graph(model))
    model.validate_nodes_and_infer_types()
    for port, reference in zip(model.outputs, same.outputs, strict=True):
        assert port.get_partial_shape() == reference.get_partial_shape()
    feeds = inputs if inputs is not None else [random(*shape) for shape in shapes]
    got, want = compile_on_cpu(model)(feeds), compile_on_cpu(same)(feeds)
    for i in range(len(model.outputs)):
        np.testing.assert_allclose(got[i], want[i], rtol=tolerance, atol=tolerance)
    return model, counts


def compare(build, rewrite, counts, *runs, tolerance=1e-6):
    """The rewritten model, compiled, computes what each node of the model as it was computes."""
    model = build()
    assert rewrite(Graph(model)) == counts
    request = compile_on_cpu(model).create_infer_request()
    for arrays in runs:
        want, got = node_by_node(build(), arrays), request.infer(arrays)
        for i, expected in enumerate(want):
            assert got[i].shape == expected.shape
            np.testing.assert_allclose(got[i], expected, rtol=tolerance, atol=tolerance)
