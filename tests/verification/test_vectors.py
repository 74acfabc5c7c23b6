"""`verify` of eigenvectors and singular vectors, whose signs nothing decides."""

import numpy as np
import paddle
import pytest

from paddle2ov.program.model import Operator
from paddle2ov.verification.orders import ObservedOperator
from paddle2ov.verification.vectors import VECTOR_CHECKS
from tests.support.command_line import call
from tests.support.models import save_layer

X = np.random.default_rng(2).uniform(-1, 1, (2, 5, 3))
SYMMETRIC = np.diag([1.0, 1.0, 4.0])


def decomposed(type, change, known=("u", "s", "vh", "out_w", "out_v")):
    """What NumPy computes as Paddle's results, and the same changed as OpenVINO's."""
    x = X if type == "svd" else SYMMETRIC
    results = np.linalg.svd(x) if type == "svd" else np.linalg.eigh(x)
    ports = ("u", "s", "vh") if type == "svd" else ("out_w", "out_v")
    paddle = {port: array.astype(np.float32) for port, array in zip(ports, results, strict=True) if port in known}
    ours = {port: array.copy() for port, array in paddle.items()}
    change(ours)
    operator = Operator(type, {"x": ["x"]}, {port: [port] for port in ports}, {}, type, 0, 0)
    read = {"x": x.astype(np.float32)}
    return VECTOR_CHECKS[type](ObservedOperator(operator, read | paddle, read | ours, 1e-4))


def negated(port, *index):
    def change(ours):
        ours[port][index] *= -1

    return change


def both_negated(ours):
    ours["u"][0, :, 1] *= -1
    ours["vh"][0, 1] *= -1


def turned(port, *columns):
    """Another basis of what two vectors span."""

    def change(ours):
        pair = ours[port][..., list(columns)]
        ours[port][..., list(columns)] = pair @ np.array([[0.6, 0.8], [-0.8, 0.6]], np.float32)

    return change


@pytest.mark.parametrize(
    ("type", "change", "known", "moved"),
    [
        ("svd", both_negated, "u s vh", 2),
        ("svd", both_negated, "u vh", 2),
        ("svd", turned("u", 3, 4), "u s vh", 4),  # of the null space, of both matrices
        ("svd", negated("u", 0, slice(None), 1), "u s vh", None),  # the other half of the pair stays
        ("svd", negated("u", 0, slice(None), 1), "u", 1),
        ("svd", turned("u", 0, 1), "u", None),
        ("svd", negated("s", 0, 0), "u s vh", None),
        ("eigh", negated("out_v", slice(None), 2), "out_w out_v", 1),
        ("eigh", negated("out_v", slice(None), 2), "out_v", 1),
        ("eigh", turned("out_v", 0, 1), "out_w out_v", 2),
        ("eigh", turned("out_v", 1, 2), "out_w out_v", None),
    ],
    ids=range(11),
)
def test_vectors(type, change, known, moved):
    """Negatives, and other bases of a space of equal values, are as right; nothing else is."""
    found = decomposed(type, change, known.split())
    assert (found and found.moved) == moved


def test_vectors_of_another_sign(tmp_path):
    """The first that LAPACK and OpenVINO give another sign; the text says so."""
    folder = save_layer(tmp_path, lambda x: paddle.linalg.svd(x)[0] * 2, x=[4, 6])
    result = call("verify", folder)
    assert result.exit_code == 3, result.output
    assert "of 4 vectors are others, such as the negatives of Paddle's" in result.stdout
