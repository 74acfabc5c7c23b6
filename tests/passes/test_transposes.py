"""Transposes: reduced, absorbed, fused; and left alone where they must be."""

import itertools

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

from gen_models.networks.permutes import PERMUTES
from paddle2ov import ConversionReport, convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.permutation import simplify_perm
from paddle2ov.passes import run_rewrites
from paddle2ov.passes.layout.absorb_transposes import absorb_transposes
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.transposes_to_reshapes import transposes_to_reshapes
from paddle2ov.workarounds import rewrites_for
from tests.support.models import network
from tests.support.passes_checks import apply, branched, kinds, parameter, stays, transpose


@pytest.mark.parametrize(
    ("dims", "perm", "order", "kind"),
    [
        ([2, 3, 4], [0, 1, 2], [0], "removed"),
        ([1, 8, 5], [1, 0, 2], [0], "reshape"),
        ([1, 8, 5, 5], [0, 2, 3, 1], [1, 0], "2-D"),
        ([-1, 8, 5, 5], [0, 2, 3, 1], [0, 2, 1], "2-D"),
        ([-1, 8, 1, 1], [0, 2, 3, 1], [0], "reshape"),
        ([2, 3, 4, 5], [0, 2, 1, 3], [0, 2, 1, 3], "4-D"),
        ([1, 3, 4, 5], [0, 2, 1, 3], [1, 0, 2], "3-D"),
        ([1, -1, 4], [1, 0, 2], [0], "reshape"),
        ([-1, -1, 1, -1], [0, 2, 1, 3], [0], "reshape"),
        ([-1, -1, 1, -1], [2, 0, 1, 3], [0], "reshape"),  # more than one unknown dimension moves
        ([-1, 4, 4], [1, 0, 2], [1, 0, 2], "3-D"),  # an unknown dimension is not 1
        ([-1, -1, -1], [1, 0, 2], [1, 0, 2], "3-D"),
    ],
)
def test_what_is_left_of_a_transpose(dims, perm, order, kind):
    assert simplify_perm(dims, perm) == order
    model, counts = apply(transposes_to_reshapes, lambda x: ops.relu(transpose(x, *perm)), dims)
    assert (counts["total"], counts[kind]) == (1, 1)
    assert kinds(model)["Transpose"] == (kind not in ("removed", "reshape"))


def test_no_element_moves_where_one_axis_is_left():
    for dims in ([2, 1, 3, 4], [1, 2, 2, 1], [3, 2, 2, 5]):
        x = np.arange(np.prod(dims)).reshape(dims)
        for perm in itertools.permutations(range(4)):
            is_same = (x.transpose(perm).ravel() == x.ravel()).all()
            assert is_same == (len(simplify_perm(dims, perm)) <= 1)


@pytest.mark.parametrize("name", PERMUTES)
def test_table_of_permutes(name):
    """What OpenCV counts in these networks is what the report says; nothing else is left of their transposes."""
    report = ConversionReport()
    model = convert(network(name), report=report)
    _, total, transposes, reshapes = PERMUTES[name]
    kinds_of = {"identity": 0, "reshape": reshapes, "2-D": transposes, "higher": 0}
    assert report.transposes == {"total": total, **kinds_of, "removed": 0}
    assert kinds(model)["Transpose"] == transposes
    done = f"{reshapes} reduced to reshape, {transposes} to 2-D, 0 of a higher rank); 0 removed"
    assert f"transposes: {total} (0 identity, {done}" in report.table()


def test_the_table_adds_up():
    """Whatever a transpose is, and whatever becomes of it."""
    x, order = parameter(2, 3, 4, 5), parameter(4, name="order", kind=Type.i64)
    perms = [(0, 1, 2, 3), (0, 2, 3, 1), (0, 2, 1, 3), (3, 2, 1, 0)]
    moved = [ops.relu(transpose(x, *perm)) for perm in perms]
    there_and_back = transpose(transpose(x, 0, 2, 1, 3), 0, 2, 1, 3)
    model = Model([*moved, ops.relu(there_and_back), ops.transpose(x, order)], [x, order])
    counts = ConversionReport(rewrites=run_rewrites(model, rewrites_for())).transposes
    assert counts == {"total": 7, "identity": 1, "reshape": 0, "2-D": 1, "higher": 5, "removed": 2}


def test_results_keep_their_names():
    def build(x):
        y = ops.relu(x)
        results = [ops.result(transpose(x, 0, 1)), ops.result(y), ops.result(transpose(y, 0, 1))]
        for i, result in enumerate(results):
            result.output(0).set_names({f"out{i}"})
        return results

    model, counts = apply(transposes_to_reshapes, build, [2, 3])
    assert counts["removed"] == 2
    assert [port.names for port in compile_on_cpu(model).outputs] == [{"out0"}, {"out1"}, {"out2"}]


def test_bodies_of_branches():
    condition, x = parameter(name="c", kind=ops.constant(True).get_element_type()), parameter(1, 4)
    out = branched(condition, x.output(0), *[lambda inner: transpose(inner, 1, 0)] * 2)
    counts = run_rewrites(Model([out], [condition, x]), rewrites_for())
    assert counts["transposes_to_reshapes"]["reshape"] == 2


def swapped(q, k):
    return ops.matmul(q, transpose(k, 0, 1, 3, 2), False, False)


def turned_twice(*second):
    return lambda x: ops.relu(transpose(transpose(x, 0, 2, 3, 1), *second))


@pytest.mark.parametrize(
    ("rewrite", "build", "dims", "counts", "left"),
    [
        (absorb_transposes, swapped, [[-1, 2, 5, 4], [-1, 2, 7, 4]], {"absorbed": 1}, 0),
        (fuse_transposes, turned_twice(0, 3, 1, 2), [[-1, 3, 4, 5]], {"fused": 0, "cancelled": 1}, 0),
        (fuse_transposes, turned_twice(0, 2, 1, 3), [[-1, 3, 4, 5]], {"fused": 1, "cancelled": 0}, 1),
        # [0, 2, 3, 1] then [0, 3, 2, 1] is [0, 1, 3, 2], where axis 2 has size 1
        (fuse_transposes, turned_twice(0, 3, 2, 1), [[-1, 3, 1, 5]], {"fused": 1, "cancelled": 0}, 0),
    ],
    ids=["absorbed", "cancelled", "fused", "a reshape"],
)
def test_one_fewer(rewrite, build, dims, counts, left):
    model, done = apply(rewrite, build, *dims)
    assert done == counts
    assert kinds(model)["Transpose"] == left


def test_what_others_read_stays():
    def absorbed(q, k):
        rows = transpose(k, 0, 2, 1)
        return [ops.matmul(q, rows, False, False), ops.relu(rows)]

    def fused(x):
        first = transpose(x, 0, 2, 3, 1)
        return [ops.relu(transpose(first, 0, 2, 1, 3)), ops.relu(first)]

    assert stays(absorb_transposes, absorbed, [-1, 5, 4], [-1, 7, 4])
    assert stays(fuse_transposes, fused, [-1, 3, 4, 5])
