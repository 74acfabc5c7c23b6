"""Suppression of very small boxes, where Paddle's overlap is not OpenVINO's, and of boxes beyond the best."""

from collections import OrderedDict

import numpy as np
import pytest

from gen_models import all_networks, all_ops
from gen_models.harness.spec import import_paddle
from gen_models.harness.store import generated, generated_network
from paddle2ov import convert
from paddle2ov.compilation.running import compile_on_cpu, infer
from paddle2ov.converters.detection import exact_suppression
from paddle2ov.converters.graph import loops
from paddle2ov.passes import templates
from paddle2ov.testing import load
from tests.support.one_operator import close, run

OP = all_ops()["multiclass_nms3"]
CASES = [one for one in OP.cases if one.arguments.get("nms_threshold") == 0.45 or one.arguments.get("nms_top_k") == 20]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("pairs", [0, 50])
def test_more_pairs_than_fit(case, pairs, monkeypatch):
    monkeypatch.setattr(exact_suppression, "_MAX_PAIRS", pairs)
    monkeypatch.setattr(loops, "_templates", loops._Templates())
    folder = generated(OP, case, "pir")
    got = infer(compile_on_cpu(convert(folder)), load(folder / "inputs.npz"))
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


@pytest.mark.parametrize("keep", [-1, 0, 1, 10, 60])
@pytest.mark.parametrize("crowded", [False, True])
def test_boxes_beyond_the_best_of_their_class(keep, crowded):
    """Those that `nms_top_k` leaves out are dropped, whether or not they are among the best of their image.

    Where classes are crowded, few of their best boxes are kept, so that others come in that were not to be considered.
    Scores are tied, also across that limit.
    """
    paddle, rng = import_paddle(), np.random.default_rng(keep + 2)
    corner = rng.integers(0, 3 if crowded else 300, (2, 90, 2)) * 20
    boxes = np.concatenate([corner, corner + rng.integers(16, 19, (2, 90, 2))], -1).astype(np.float32)
    scores = (rng.integers(1, 30, (2, 3, 90)) / 32).astype(np.float32)
    attributes = {"score_threshold": 0.05, "nms_top_k": 15, "keep_top_k": keep, "nms_threshold": 0.4}
    attributes |= {"normalized": True, "nms_eta": 1.0, "background_label": -1}
    found = run("multiclass_nms3", {"bboxes": boxes, "scores": scores}, attributes, ("out", "index", "nms_rois_num"))
    tensors = paddle.to_tensor(boxes), paddle.to_tensor(scores), None
    for one, wanted in zip(found, paddle._C_ops.multiclass_nms3(*tensors, *attributes.values()), strict=True):
        close(one, wanted.numpy())


def test_only_kept_boxes_are_ranked_unless_their_class_has_too_many():
    """A TopK over all scores costs more than the suppression itself where most boxes pass."""
    case = next(one for one in OP.cases if one.arguments.get("nms_top_k") == 20)
    nodes = [node.get_type_name() for node in convert(generated(OP, case, "pir")).get_ops()]
    assert nodes.count("Loop") == 1
    assert nodes.count("TopK") == 1


@pytest.mark.parametrize("name", ["picodet", "yolov3", "ssd_in_pixels"])
def test_rewrites_change_nothing_of_what_is_hardly_ever_run(name, monkeypatch):
    """Otherwise they would run in the loop's body each time that a model is converted, which takes as long again."""
    monkeypatch.setattr(templates, "_known", OrderedDict())
    for _ in range(3):
        convert(generated_network(all_networks()[name], "pir"))
    assert templates._known
    assert None not in templates._known.values()
