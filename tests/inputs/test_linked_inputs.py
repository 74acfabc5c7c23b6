"""Random inputs that depend on each other, integers where programs break, and sequences."""

import itertools
import json
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from openvino import Model

import paddle2ov
from gen_models import all_ops
from gen_models.harness.generate import run_saved
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import paddle
from gen_models.harness.store import generated
from gen_models.linked import linked_program
from paddle2ov.compilation.running import infer
from paddle2ov.graph.opset import ops
from paddle2ov.inputs import index_ranges as index_ranges_module
from paddle2ov.inputs.index_ranges import index_ranges
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.program.reading import read_program
from paddle2ov.verification.faults import INT64
from paddle2ov.verification.paddle_values import PADDLE_FAULT
from paddle2ov.verification.runs import SCALARS, WIDE
from tests.support.command_line import call
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.models import network, save_program

SEEDS = (1, 5, 6, 9, 14, 16, 21, 26, 31, 39)
"""States of a batch, edges and pairs of nodes, caches, masks, lengths, windows of 7 before levels, points, boxes."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_paddle_takes_them(tmp_path, seed):
    paddle.enable_static()
    try:
        linked_program(seed, tmp_path)
        check_that_paddle_takes_them(tmp_path)
    finally:
        paddle.disable_static()


def check_that_paddle_takes_them(tmp_path):
    drawn = RandomInputs(read_program(tmp_path), paddle2ov.convert(tmp_path))
    executor = paddle.static.Executor(paddle.CPUPlace())
    assert len(drawn.sets) >= 3
    refusals = []
    for arrays in itertools.chain([drawn.sets[1]], drawn.alternatives(1)):
        try:
            run_saved(executor, str(tmp_path / "inference"), arrays)
            break
        except Exception as error:
            refusals.append(error)
    assert len(refusals) <= 4


def test_lengths_whose_longest_is_the_sequence(tmp_path):
    """Nothing in the model says so: Paddle's refusal leads to other integers."""

    def build(x, lengths):
        return x * paddle.nn.functional.sequence_mask(lengths, dtype="float32")

    save_program(tmp_path, build, x=([-1, -1], "float32"), lengths=([-1], "int64"))
    report = paddle2ov.verify(tmp_path)
    assert report.verdict == "agree"
    assert not any(run.refused for run in report.runs)


def test_layers_that_share_a_state(tmp_path):
    """Paddle saves the dropout state of `rnn` once, and declares it for each layer."""

    def build(x):
        for _ in range(2):
            x, _ = paddle.nn.GRU(4, 4)(x)
        return x

    save_program(tmp_path, build, x=([-1, -1, 4], "float32"))
    assert paddle2ov.verify(tmp_path).verdict == "agree"
    program = tmp_path / "inference.json"
    state = '"dropout_state__non_persistable"],"DA":[],"O":{"%":'
    first, second, third = program.read_text().split(state)
    program.write_text(state.join((first, second, third.replace("0.t_ui8", "0.t_i8", 1))))
    with pytest.raises(paddle2ov.ModelReadError, match="'dropout_state__non_persistable' is declared twice, with"):
        paddle2ov.convert(tmp_path)


def test_floats_that_are_sizes_and_a_cache_that_is_empty(tmp_path):
    """Neither is told by the model; Paddle refuses fractions as sizes, and a cache of other channels."""

    def build(x, size, cache):
        height, width = size[0].astype("int32"), size[1].astype("int32")
        x = paddle.nn.functional.interpolate(x, size=[height, width])
        return paddle.static.nn.cond(paddle.shape(cache)[0] > 0, lambda: paddle.concat([x, cache]), lambda: x * 1)

    inputs = {"x": ([1, 2, 4, 4], "float32"), "size": ([2], "float32"), "cache": ([-1, -1, -1, -1], "float32")}
    save_program(tmp_path, build, **inputs)
    assert paddle2ov.verify(tmp_path).verdict == "agree"


def test_a_cache_that_a_branch_joins(tmp_path):
    """Its sizes meet others inside the branch alone, and no size of it is declared."""

    def build(x, cache):
        join = partial(paddle.concat, [cache, x], axis=2)
        return paddle.static.nn.cond(paddle.shape(cache)[2] > 0, join, lambda: x * 1)

    save_program(tmp_path, build, x=([1, 2, -1, 8], "float32"), cache=([-1, -1, -1, -1], "float32"))
    for arrays in RandomInputs(read_program(tmp_path), paddle2ov.convert(tmp_path)).sets:
        batch, heads, length, width = arrays["cache"].shape
        assert (batch, heads, width) == (1, 2, 8)
        assert length > 0


def test_what_to_call_where_paddle_takes_none(tmp_path):
    def build(x, n):
        return paddle.reshape(x, n)

    save_program(tmp_path, build, x=([6, 5], "float32"), n=([3], "int32"))
    result = call("verify", tmp_path)
    assert result.exit_code == 2
    assert "Give shapes that fit each other in place of these:\n  --input 'x[6,5],n[3]'\n" in result.stderr
    made = "python -c 'import numpy as np; np.savez(\"inputs.npz\", x=..., n=...)'"
    assert f"Or give arrays with --inputs inputs.npz, made by\n  {made}\n" in result.stderr


def test_alternatives_of_a_scalar(tmp_path):
    """An integer without dimensions is drawn as well where integers are to be sorted."""
    save_program(tmp_path, lambda x, n: x * n.astype("float32"), x=([-1], "float32"), n=([], "int64"))
    others = RandomInputs(read_program(tmp_path), paddle2ov.convert(tmp_path)).alternatives(0)
    assert all(arrays["n"].shape == () for arrays in others)


def test_integers_that_are_hashed(tmp_path):
    n = 7
    table = paddle.nn.initializer.Assign(np.arange(n, dtype=np.float32).reshape(n, 1))

    def build(ids, factor=1):
        rows = paddle.static.create_parameter([n, 1], "float32", default_initializer=table)
        return paddle.nn.functional.embedding(ids * factor % n, rows)

    report = paddle2ov.verify(save_program(tmp_path, build, ids=([-1, 4], "int64")))
    assert report.verdict == "agree"
    assert report.note == WIDE
    report = paddle2ov.verify(save_program(tmp_path, partial(build, factor=2654435761), ids=([-1, 4], "int64")))
    assert report.verdict == "differ"
    assert report.note == INT64


def test_sizes_that_nothing_ties_together_differ(tmp_path):
    """So that swapped axes show: batch and time of a recurrent layer, nodes and edges of a graph."""

    def build(x, state, sources, targets):
        steps, _ = paddle.nn.GRU(4, 6, 2)(x, state)
        return [steps, paddle.geometric.send_u_recv(steps[:, 0], sources, targets)]

    floats = {"x": ([-1, -1, 4], "float32"), "state": ([2, -1, 6], "float32")}
    save_program(tmp_path, build, **floats, sources=([-1], "int32"), targets=([-1], "int32"))
    for arrays in RandomInputs(read_program(tmp_path), paddle2ov.convert(tmp_path)).sets[1:]:
        (batch, time, _), edges = arrays["x"].shape, len(arrays["sources"])
        assert len({batch, time, edges}) == 3
        assert arrays["state"].shape[1] == batch
        assert len(arrays["targets"]) == edges


def test_indices_are_near_the_largest(tmp_path):
    def build(x, places, rows):
        flat = paddle.gather(paddle.reshape(x, [-1]), places * 10 + rows)
        return flat + paddle.gather(x, paddle.clip(rows, 0, 8)).sum()

    save_program(tmp_path, build, x=([3, 10], "float32"), places=([-1], "int64"), rows=([-1], "int64"))
    for arrays in RandomInputs(read_program(tmp_path), paddle2ov.convert(tmp_path)).sets:
        assert arrays["places"].max() == 2
        assert arrays["rows"].max() == 2


def test_paddle_runs_dequantize_linear_as_quantize_linear(tmp_path):
    weights = paddle.nn.initializer.Assign(np.arange(-16, 16, dtype=np.float32).reshape(8, 4))

    def build(x):
        scale, zero = (paddle.assign(np.float32([number])) for number in (0.9, 0.0))
        more = (zero, zero, -1, 8, -128, 127, 0, True, False)
        x = paddle._C_ops.quantize_linear(x, scale, zero, *more)[0]
        x = paddle._C_ops.dequantize_linear(x, scale, zero, *more)[0]
        scales = paddle.assign(np.float32([0.5, 1, 2, 0.7]))
        w = paddle.static.create_parameter([8, 4], "float32", default_initializer=weights)
        w = paddle._C_ops.dequantize_linear(w, scales, paddle.zeros([4]), zero, zero, 1, 8, -128, 127, 0, True, False)[
            0
        ]
        return paddle.matmul(x, w)

    save_program(tmp_path, build, x=([-1, 8], "float32"))
    report = paddle2ov.verify(tmp_path)
    assert report.verdict == "agree"
    assert report.note == PADDLE_FAULT
    wrong = {"dequantize_linear": lambda node: {"y": node.get_input("x")}}
    assert paddle2ov.verify(tmp_path, extension=wrong).verdict == "differ"


def test_inputs_that_are_named_again_begin_another_set(tmp_path):
    save_program(tmp_path, paddle.add, x=([-1, 3], "float32"), y=([-1, 3], "float32"))
    options = ["--input", "x[2,3]", "--input", "y[2,3]", "--shape", "x[4,3],y[4,3]"]
    result = call("check", tmp_path, *options, "--json")
    runs = json.loads(result.stdout)["runs"]
    assert {tuple(map(tuple, run["inputs"].values())) for run in runs} == {((2, 3), (2, 3)), ((4, 3), (4, 3))}
    assert "--shape" not in call("verify", "--help").stdout


def test_floats_that_are_chances(tmp_path):
    """Paddle refuses those below 0."""
    build = partial(paddle.nn.functional.binary_cross_entropy, reduction="none")
    save_program(tmp_path, build, x=([2, 3], "float32"), labels=([2, 3], "float32"))
    assert paddle2ov.verify(tmp_path).verdict == "agree"


def test_matrices_that_are_positive_definite(tmp_path):
    """Paddle refuses others."""
    save_program(tmp_path, paddle.linalg.cholesky, x=([-1, 3, 3], "float32"))
    assert paddle2ov.verify(tmp_path).verdict == "agree"


@NEEDS_PADDLE_2
@pytest.mark.filterwarnings("ignore:'if'. where its condition")
def test_a_scalar_of_one_side_of_a_branch():
    report = paddle2ov.verify(network("marked", "legacy"), paddle_python=legacy_python())
    assert report.verdict == "differ"
    assert report.note == SCALARS.format(f"'{report.runs[0].outputs[0].name}'"), "no operator is blamed"


@pytest.mark.parametrize("bound", [np.inf, np.nan])
def test_bounds_that_are_no_positions(bound):
    n = ops.parameter([1], np.int64, "n")
    model = Model([ops.less(np.array([bound], np.float32), ops.convert(n, "f32"))], [n])
    assert index_ranges(model, ["n"], {"n": (1,)}, {}) == {}


def rows_by(count, related=False):
    """A model that reads rows of tables of 7, 8, 9, ... rows by an input each, or also by the one before it."""
    inputs = [ops.parameter([2], np.int64, f"n{i}") for i in range(count)]
    rows = []
    for i, ids in enumerate(inputs):
        ids.output(0).set_names({f"n{i}"})
        index = ops.add(ids, inputs[i - 1]) if related and i else ids
        rows.append(ops.gather(np.zeros((7 + i, 3), np.float32), index, np.int64(0)))
    return Model(rows, inputs)


@pytest.mark.parametrize("related", [False, True])
def test_ranges_of_many_inputs(related, monkeypatch):
    runs = []
    monkeypatch.setattr(index_ranges_module, "infer", lambda *given: runs.append(1) or infer(*given))
    names = [f"n{i}" for i in range(12)]
    found = index_ranges(rows_by(12, related), names, dict.fromkeys(names, (2,)), {})
    if related:  # the sum of the largest of two is in its table
        below = [high for _, high in found.values()]
        assert below[0] == 7
        assert all(high + before - 2 < 7 + i for i, (before, high) in enumerate(pairwise(below), 1))
    else:
        assert found == {name: (0, 7 + i) for i, name in enumerate(names)}
        assert len(runs) < 100, "the inputs are searched side by side"


def test_an_input_with_which_the_model_does_not_run(monkeypatch):
    """The others keep their ranges."""
    model, names = rows_by(3), ["n0", "n1", "n2"]

    def fails_above(compiled, arrays):
        if arrays["n1"].max() > 4:
            raise RuntimeError("n1")
        return infer(compiled, arrays)

    monkeypatch.setattr(index_ranges_module, "infer", fails_above)
    found = index_ranges(model, names, dict.fromkeys(names, (2,)), {})
    assert found == {"n0": (0, 7), "n1": (0, 5), "n2": (0, 9)}


def test_lengths_of_sequences_where_there_are_none(caplog):
    model = paddle2ov.convert(network("squeezenet1_1"), sequence_lengths=True)
    assert [port.any_name for port in model.inputs] == ["x"]
    assert "no input or result is declared with sequences (LoD)" in caplog.text


@NEEDS_PADDLE_2
def test_several_sequences_in_an_input(caplog):
    op = all_ops()["sequence_conv"]
    folder = generated(op, next(case for case in op.cases if not case.arguments.get("lod")), "legacy")
    report = paddle2ov.verify(folder, paddle_python=legacy_python())
    assert report.verdict == "agree"
    assert "'x' holds sequences (LoD), compared with one: --sequence-lengths gives several" in report.note
    report = paddle2ov.verify(folder, paddle_python=legacy_python(), sequence_lengths=True)
    assert report.verdict == "agree"
    assert not report.note
    assert all(run.inputs["x.lengths"][0] > 1 for run in report.runs)
    assert any(output.name.endswith(".lengths") for output in report.runs[0].outputs)
    assert not caplog.text
    paddle2ov.convert(folder)
    assert "inputs that take sequences (LoD): 'x'; the converted model takes one in each" in caplog.text
    result = call("inspect", folder)
    assert "sequences (LoD)\n" in result.stdout
    assert "convert --sequence-lengths takes several" in result.stdout
