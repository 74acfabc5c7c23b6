"""Rows added at computed places, as the messages of a graph's edges to its nodes."""

import numpy as np

from gen_models.harness.spec import paddle
from paddle2ov import convert
from tests.support.models import check_beside_paddle


def _messages(x, index, value):
    return paddle.index_add(x, index, 0, value)


def _differentiated(x, index):
    x.stop_gradient = False
    return paddle.grad(paddle.tanh(paddle.gather(x, index)), [x])[0]


def test_whole_rows_are_added(tmp_path):
    """Element by element it takes eight times as long."""
    rng = np.random.default_rng(0)
    runs = []
    for places in ([1, 1, 3, 0], [], [-1, 2, -1]):
        value = rng.standard_normal((len(places), 5)).astype(np.float32)
        runs.append([rng.standard_normal((4, 5)).astype(np.float32), np.array(places, np.int64), value])
    sizes = {"x": [-1, 5], "index": ([-1], "int64"), "value": [-1, 5]}
    check_beside_paddle(tmp_path / "added", _messages, *runs, tolerance=1e-6, **sizes)
    picked = [[rng.standard_normal((4, 5)).astype(np.float32), np.array([1, 0, 1, 1])]]
    check_beside_paddle(
        tmp_path / "gradient", _differentiated, *picked, tolerance=1e-6, x=[-1, 5], index=([-1], "int64")
    )
    for name in ("added", "gradient"):
        types = {node.get_type_name() for node in convert(tmp_path / name).get_ops()}
        assert {each for each in types if each.startswith("Scatter")} == {"ScatterNDUpdate"}
