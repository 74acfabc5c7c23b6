"""Suppression where Paddle's is not OpenVINO's: narrow boxes, scores that are nearly equal, boxes beyond the best."""

import numpy as np
import pytest
from openvino import Model, Type

from gen_models import all_ops
from gen_models.harness.spec import paddle
from paddle2ov import convert
from paddle2ov.compilation.running import compile_on_cpu, run as run_model, run_in_order
from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.detection.suppression import GreedyNms
from paddle2ov.graph.bodies import bodies_of, is_template
from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.opset import ops
from paddle2ov.passes import REWRITES, Graph, rewrite_graph
from tests.support.models import network, operator
from tests.support.one_operator import program, run, tensors

OP = all_ops()["multiclass_nms3"]
ATTRIBUTES = {
    "score_threshold": 0.5,
    "nms_top_k": -1,
    "keep_top_k": -1,
    "nms_threshold": 0.4,
    "normalized": True,
    "nms_eta": 1.0,
    "background_label": -1,
}
"""In the order of Paddle's function."""


def check(boxes, scores, tolerance=2e-5, **attributes):
    """That the boxes that stay are those of Paddle."""
    attributes = ATTRIBUTES | attributes
    results = run("multiclass_nms3", {"bboxes": boxes, "scores": scores}, attributes, ("out", "index", "nms_rois_num"))
    wanted = paddle._C_ops.multiclass_nms3(*tensors(boxes, scores), None, *attributes.values())
    for item, expected in zip(results, wanted, strict=True):
        assert item.shape == tuple(expected.shape)
        np.testing.assert_allclose(item, expected.numpy(), atol=tolerance, rtol=tolerance)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("background", [-1, 0, 3])
@pytest.mark.parametrize("shift", range(4))
def test_a_score_that_is_no_number_hides_no_other(shift, background):
    boxes = np.array([[[10 * i, 0, 10 * i + 5, 5] for i in range(4)]], np.float32)
    scores = np.full((1, 4, 4), 0.1, np.float32)
    scores[0, 0, :3] = 0.9
    scores[0, [1, 3, 0], [2, 1, 3]] = np.nan
    check(boxes, np.roll(scores, shift, 1), background_label=background)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("keep", [-1, 0, 1, 10, 60])
@pytest.mark.parametrize("crowded", [False, True])
def test_boxes_beyond_the_best_of_their_class(keep, crowded):
    """Those that `nms_top_k` leaves out are dropped, whether or not they are among the best of their image.

    Where classes are crowded, few of their best boxes are kept, so that others come in that were not to be considered.
    Scores are tied, also across that limit.
    """
    rng = np.random.default_rng(keep + 2)
    corner = rng.integers(0, 3 if crowded else 300, (2, 90, 2)) * 20
    boxes = np.concatenate([corner, corner + rng.integers(16, 19, (2, 90, 2))], -1).astype(np.float32)
    scores = (rng.integers(1, 30, (2, 3, 90)) / 32).astype(np.float32)
    check(boxes, scores, score_threshold=0.05, nms_top_k=15, keep_top_k=keep)


def _clipped(rng, shape):
    low = rng.random((*shape, 2))
    return np.clip(np.concatenate([low, low + rng.random((*shape, 2))], -1), 0.3, 0.6)


BOXES = {
    "a gap of less than one": lambda rng, shape: np.sort(rng.random((*shape, 2, 2)) * 3, -2).reshape(*shape, 4),
    "reversed": lambda rng, shape: rng.random((*shape, 4)) * 3,
    "without area": _clipped,
    "equal": lambda rng, shape: np.round(rng.random((*shape, 4))) * 2,
}
SCORES = {
    "less than 1e-6 apart": lambda rng, shape: 0.5 + rng.random(shape) * 1e-6,
    "below 1e-6": lambda rng, shape: rng.random(shape) * 1e-6,
    "tied": lambda rng, shape: np.round(rng.random(shape), 1),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("boxes", BOXES)
def test_boxes_and_scores_that_openvino_sees_differently(boxes, scores):
    """The best 7 of each image, to the last bit; half of the boxes are far from the others."""
    rng = np.random.default_rng(0)
    for normalized, top_k in ((False, -1), (True, 12)):
        box = BOXES[boxes](rng, (2, 30)).astype(np.float32)
        box[:, ::2] += 9 * np.arange(15, dtype=np.float32)[:, None]
        score = SCORES[scores](rng, (2, 3, 30)).astype(np.float32)
        limits = {"score_threshold": 1e-8, "nms_top_k": top_k, "keep_top_k": 7, "nms_threshold": 0.3}
        check(box, score, 0, **limits, normalized=normalized)


def test_images_without_boxes_are_counted():
    empty = np.zeros((2, 0, 4), np.float32), np.zeros((2, 3, 0), np.float32)
    boxes, scores = (ops.parameter([-1, -1, last], Type.f32) for last in (4, -1))
    kept = GreedyNms(Overlap(0.5))(boxes.output(0), scores.output(0))
    model = Model([ops.result(kept.out), ops.result(kept.count)], [boxes, scores])
    (_, out), (_, count) = run_in_order(compile_on_cpu(model), empty)
    assert out.shape == (0, 6)
    assert count.tolist() == [0, 0]


@pytest.mark.parametrize(("best", "lengths"), [([0.9, 0.9], [1, 1]), ([0.1, 0.9], [0, 1]), ([0.1, 0.1], [1])])
def test_where_no_image_has_boxes_the_lod_is_one_sequence(best, lengths):
    """Paddle 1 and 2 mark that by a row of -1, as `multiclass_nms` does without an output of counts."""
    boxes = np.array([[[0, 0, 1, 1]]] * 2, np.float32)
    scores = np.array(best, np.float32).reshape(2, 1, 1)
    whole, feeds = program("multiclass_nms", {"bboxes": boxes, "scores": scores}, ATTRIBUTES, format="legacy")
    rows, of_images = run_model(convert(whole, sequence_lengths=True), feeds)
    assert of_images.array.tolist() == lengths
    assert len(rows.array) == sum(lengths)


def test_one_node_unless_a_narrow_box_is_kept():
    nodes = [node.get_type_name() for node in convert(operator(OP.name)).get_ops()]
    assert nodes.count("MulticlassNms") == nodes.count("Loop") == 1
    assert len(nodes) < 50


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["picodet", "yolov3", "ssd_in_pixels"])
def test_rewrites_would_change_nothing_of_what_is_hardly_ever_run(name):
    """They are not run in the loop's body, which would take as long again."""
    model = convert(network(name))
    bodies = [body for node in model.get_ops() for body in bodies_of(node) if is_template(body)]
    assert bodies
    for body in bodies:
        nodes = [(node.get_name(), *map(key_of, node.input_values())) for node in body.get_ordered_ops()]
        rewrite_graph(Graph(body, is_body=True), REWRITES)
        assert [(node.get_name(), *map(key_of, node.input_values())) for node in body.get_ordered_ops()] == nodes
