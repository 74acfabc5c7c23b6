"""`verify` where scores are equal: what differs in their order only is a result of its own, everything else differs."""

import numpy as np
import pytest
from openvino import opset16 as ops

import paddle2ov
from paddle2ov.jobs.conversions import ConversionJob, _compare
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.model import Operator
from paddle2ov.verification.orders import ORDER_CHECKS, ObservedOperator
from tests.support.command_line import call
from tests.support.formats import FORMATS
from tests.support.models import network

DISTINCT = np.linspace(0.9, 0.2, 8, dtype=np.float32)[[3, 0, 6, 1, 7, 2, 5, 4]]


def queries(scores):
    x = np.random.default_rng(1).uniform(-1, 1, (1, 8, 8)).astype(np.float32)
    return {"scores": np.asarray(scores, np.float32)[None], "x": x}


def last_first(node):
    """A topk as right as Paddle's, that takes the last of several equal elements first."""
    x = node.get_input("x")
    last = ops.subtract(ops.gather(ops.shape_of(x), np.array([1]), np.array(0)), np.array([1]))
    backwards = ops.slice(x, np.array([-1]), np.array([-(2**31)]), np.array([-1]), np.array([1]))
    top = ops.topk(backwards, np.array(5), 1, "max", "value", index_element_type="i64", stable=True)
    return {"out": top.output(0), "indices": ops.subtract(last, top.output(1))}


def second_best(node):
    """Exchanges the first two, whatever their scores."""
    outputs = OP_TABLE["top_k_v2"](node)
    order = np.array([1, 0, 2, 3, 4])
    return {name: ops.gather(value, order, np.array(1)) for name, value in outputs.items()}


def noisy(noise):
    """A relu with something added, as rounding does."""

    def relu(node):
        return {"out": ops.add(ops.relu(node.get_input("x")), np.asarray(noise, np.float32))}

    return {"relu": relu}


class _Found(dict):
    """What `verify` finds where three of the scores are equal, by format."""

    def __missing__(self, format):
        scores = DISTINCT.copy()
        scores[[0, 4, 5]] = scores[0]
        self[format] = paddle2ov.verify(
            network("choosing_queries", format), inputs=queries(scores), extension={"top_k_v2": last_first}
        )
        return self[format]


@pytest.fixture(scope="module")
def tied():
    return _Found()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_equal_scores(format, tied):
    """Results that go with the chosen entries differ without bounds, and are Paddle's once its choice is taken."""
    report = tied[format]
    assert not report.ok
    assert report.verdict == report.to_dict()["verdict"] == "ties"
    assert report.culprit is None
    (run,) = report.runs
    assert max(output.relative for output in run.outputs) > 0.1
    (tie,) = run.ties
    assert (tie.type, tie.kind, tie.gap, tie.entries) == ("top_k_v2", "order", 0.0, 5)
    assert 2 <= tie.moved <= 3


def test_scores_that_rounding_exchanges():
    scores = DISTINCT.copy()
    scores[1], scores[3] = 0.9, 0.9 - 1e-6
    noise = np.zeros(8)
    noise[3] = 2e-6
    report = paddle2ov.verify(network("choosing_queries", "pir"), inputs=queries(scores), extension=noisy(noise))
    assert report.verdict == "ties"
    (tie,) = report.runs[0].ties
    assert (tie.moved, tie.kind) == (2, "order")
    assert tie.gap == pytest.approx(1e-6 / 0.9, rel=0.1)


def test_an_order_that_is_wrong_is_no_tie():
    report = paddle2ov.verify(
        network("choosing_queries", "pir"), inputs=queries(DISTINCT), extension={"top_k_v2": second_best}
    )
    assert report.verdict == "differ"
    assert not report.runs[0].ties
    assert report.culprit.type == "top_k_v2"
    assert not report.culprit.amplifies


def test_a_fault_behind_a_tie_is_found():
    """The tie itself is not taken for it."""
    scores = DISTINCT.copy()
    scores[[0, 4, 5]] = scores[0]

    def wrong(node):
        return {"out": ops.add(OP_TABLE["matmul_v2"](node)["out"], np.float32(0.01))}

    report = paddle2ov.verify(
        network("choosing_queries", "pir"),
        inputs=queries(scores),
        extension={"top_k_v2": last_first, "matmul_v2": wrong},
    )
    assert report.verdict == "differ"
    assert report.culprit.type == "matmul_v2"


def boxes(scores, apart=True):
    """Eight boxes side by side, or the second upon the first so that one of them goes."""
    corners = np.stack([np.array([0.1 * i, 0, 0.1 * i + 0.1, 0.5], np.float32) for i in range(8)])
    if not apart:
        corners[1] = corners[0] + np.array([0.02, 0, 0.02, 0.01], np.float32)
    return {"boxes": corners[None], "scores": np.stack([scores, scores / 2])[None].astype(np.float32)}


def exchanged(node):
    """Rows 0 and 1 of a suppression exchanged."""
    outputs = OP_TABLE["multiclass_nms3"](node)
    out = getattr(outputs["out"], "value", outputs["out"])  # rows of several pictures, packed
    rows = [ops.slice(out, np.array([a]), np.array([b]), np.array([1])) for a, b in ((1, 2), (0, 1), (2, 2**31))]
    return {**outputs, "out": ops.concat(rows, 0)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_boxes(format):
    folder = network("choosing_boxes", format)
    scores = DISTINCT.copy()
    best = np.argsort(-scores, kind="stable")
    scores[best[1]] = scores[best[0]]
    report = paddle2ov.verify(folder, inputs=boxes(scores), extension={"multiclass_nms3": exchanged})
    assert report.verdict == "ties"
    (tie,) = report.runs[0].ties
    assert (tie.type, tie.kind, tie.moved, tie.gap) == ("multiclass_nms3", "order", 2, 0.0)
    if format == "legacy":
        return
    report = paddle2ov.verify(folder, inputs=boxes(DISTINCT), extension={"multiclass_nms3": exchanged})
    assert report.verdict == "differ"
    assert report.culprit.type == "multiclass_nms3"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_rounding_decides_which_of_two_boxes_stays(format):
    """Not the same boxes: Paddle's operator is asked what it makes of OpenVINO's scores."""
    folder = network("choosing_boxes", format)
    scores = DISTINCT.copy()
    scores[:2] = 0.95, 0.95 - 1e-6
    noise = np.zeros((2, 8))
    noise[0, 1] = noise[1, 1] = 3e-6
    report = paddle2ov.verify(folder, inputs=boxes(scores, apart=False), extension=noisy(noise))
    assert report.verdict == "ties"
    (tie,) = report.runs[0].ties
    assert (tie.type, tie.kind) == ("multiclass_nms3", "choice")
    assert 0 < tie.gap < 1e-5
    if format == "legacy":
        return
    # The same with rows that are exchanged besides is not what Paddle makes of them.
    report = paddle2ov.verify(
        folder, inputs=boxes(scores, apart=False), extension={**noisy(noise), "multiclass_nms3": exchanged}
    )
    assert report.verdict == "differ"


def seen(kind, x, paddle, ours, attributes, other=None):
    outputs = {"indices": ["i"]} if kind != "arg_max" else {"out": ["i"]}
    operator = Operator(kind, {"x": ["x"]}, outputs, attributes, kind, 0, 0)
    x = np.asarray(x, np.float32)
    sides = {"x": x, "i": np.asarray(paddle)}, {"x": x if other is None else other, "i": np.asarray(ours)}
    return ORDER_CHECKS[kind](ObservedOperator(operator, *sides, 1e-4))


@pytest.mark.parametrize(
    ("kind", "x", "paddle", "ours", "attributes", "moved"),
    [
        ("argsort", [1, 0, 1, 2], [1, 0, 2, 3], [1, 2, 0, 3], {}, 2),
        ("argsort", [1, 0, 1, 2], [1, 0, 2, 3], [1, 2, 0, 3], {"stable": True}, None),  # promised by the program
        ("argsort", [1, 0, 1, 2], [3, 0, 2, 1], [3, 2, 0, 1], {"descending": True}, 2),
        ("argsort", [1, 0, 1, 2], [1, 0, 2, 3], [1, 0, 0, 3], {}, None),  # one twice
        ("argsort", [1, 0, np.nan, np.nan], [1, 0, 2, 3], [1, 0, 3, 2], {}, None),
        ("top_k_v2", [3, 1, 2, 2], [0, 2], [0, 3], {}, 1),  # which one of the last
        ("top_k_v2", [3, 1, 2, 2], [1, 2], [1, 3], {"largest": False}, 1),
        ("top_k_v2", [3, 1, 2, 2], [0, 2], [2, 3], {}, None),
        ("top_k_v2", [3, 1, 2, 2], [0, 2], [0, 4], {}, None),  # out of range
        ("top_k_v2", [3, 1, 2, 2], [0, 2], [2, 0], {"sorted": False}, 2),
        ("arg_max", [1, 3, 3], 1, 2, {"axis": 0}, 1),
        ("arg_max", [[1, 3], [3, 3]], 1, 3, {"flatten": True}, 1),
        ("arg_max", [[1, 3], [3, 3]], [1, 0], [1, 1], {"axis": -1}, 1),
        ("arg_max", [1, 3, 3], 1, 0, {"axis": 0}, None),
        ("arg_max", [-np.inf, -np.inf], 0, 1, {"axis": 0}, 1),
    ],
)
def test_orders(kind, x, paddle, ours, attributes, moved):
    tie = seen(kind, x, paddle, ours, attributes)
    assert (tie.moved if tie is not None else None) == moved


def test_scores_that_are_apart_in_paddle_are_no_tie():
    """However OpenVINO's are."""
    assert seen("arg_max", [1.0, 2.0], 1, 0, {"axis": 0}, np.array([2.0, 1.0], np.float32)) is None


def test_an_order_that_is_wrong_for_what_was_read_is_no_tie():
    """The scores are within the tolerance of each other, but not equal: OpenVINO's own scores decide."""
    near = np.array([1.0, 1.0 + 1e-6], np.float32)
    assert seen("arg_max", near, 1, 0, {"axis": 0}) is None
    assert seen("arg_max", near, 1, 0, {"axis": 0}, near[::-1]).moved == 1


def test_what_is_said(tied, monkeypatch):
    report = tied["pir"]  # verified before the function is replaced
    monkeypatch.setattr("paddle2ov.verification.verify.verify", lambda *_, **__: report)
    result = call("verify", "anywhere")
    assert result.exit_code == 3, result.output
    assert "of 5 entries in the order of ties, scores at most 0 apart" in result.stdout
    assert result.stdout.endswith(
        "The results are Paddle's up to choices that are as right as its own (ties). "
        "Nothing is to be done (status 3).\n"
    )
    model = paddle2ov.convert(network("choosing_queries", "pir"))
    record, _ = _compare(ConversionJob(name="", program="", format="pir", target="", fingerprint=""), model)
    assert record["state"] == "agrees up to ties"
    assert "entries in the order of ties" in record["message"]
