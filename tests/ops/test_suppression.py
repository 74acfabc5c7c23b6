"""Suppression of very small boxes, where Paddle's overlap is not OpenVINO's: each way of computing it as written."""

import numpy as np
import pytest

from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov import convert
from paddle2ov.converters.detection import exact_suppression
from paddle2ov.testing import compile_model, infer, load

OP = all_ops()["multiclass_nms3"]
CASES = [one for one in OP.cases if one.arguments.get("nms_threshold") == 0.45 or one.arguments.get("nms_top_k") == 20]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("pairs", [0, 50])
def test_more_pairs_than_fit(case, pairs, monkeypatch):
    monkeypatch.setattr(exact_suppression, "_MOST_PAIRS", pairs)
    folder = generated(OP, case, "pir")
    got = infer(compile_model(convert(folder)), load(folder / "inputs.npz"))
    for one, wanted in zip(got, load(folder / "outputs.npz").values(), strict=True):
        np.testing.assert_allclose(one.array, wanted, rtol=2e-5, atol=2e-5)
