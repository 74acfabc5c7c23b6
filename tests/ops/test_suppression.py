"""Suppression of very small boxes, where Paddle's overlap is not OpenVINO's: each way of computing it as written."""

import numpy as np
import pytest

from gen_models import all_ops
from gen_models.harness.spec import import_paddle
from gen_models.harness.store import generated
from paddle2ov import convert
from paddle2ov.converters.detection import exact_suppression
from paddle2ov.testing import compile_model, infer, load
from tests.support.one_operator import close, run

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


@pytest.mark.parametrize("background", [-1, 0, 3])
@pytest.mark.parametrize("shift", range(4))
def test_a_score_that_is_no_number_hides_no_other(shift, background):
    paddle = import_paddle()
    boxes = np.array([[[10 * i, 0, 10 * i + 5, 5] for i in range(4)]], np.float32)
    scores = np.full((1, 4, 4), 0.1, np.float32)
    scores[0, 0, :3] = 0.9
    scores[0, [1, 3, 0], [2, 1, 3]] = np.nan
    scores = np.roll(scores, shift, 1)
    attributes = {"score_threshold": 0.5, "nms_top_k": -1, "keep_top_k": -1, "nms_threshold": 0.4}
    attributes |= {"normalized": True, "nms_eta": 1.0, "background_label": background}
    found = run("multiclass_nms3", {"bboxes": boxes, "scores": scores}, attributes, ("out", "index", "nms_rois_num"))
    tensors = paddle.to_tensor(boxes), paddle.to_tensor(scores), None
    for one, wanted in zip(found, paddle._C_ops.multiclass_nms3(*tensors, *attributes.values()), strict=True):
        close(one, wanted.numpy())
