"""YOLO's heads are decoded for boxes that can survive only: the same boxes, scores, order and counts."""

from collections import Counter

import numpy as np
import pytest

from paddle2ov.passes import Graph
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.program.model import Operator, Variable
from paddle2ov.translation.model_builder import TranslationRequest, convert_program
from paddle2ov.translation.registry import Registry
from tests.support import programs
from tests.support.suppressions import check_same as check_models, filtered, gathered, unfiltered

CLASSES = 3
ANCHORS = ((116, 90, 156, 198), (30, 61, 62, 45), (10, 13, 16, 30))
SIZES = ((2, 3), (4, 6), (8, 12))
RESULTS = ("out", "index", "nms_rois_num")
_PORTS = (*RESULTS, "roisnum")


def program(heads=3, wanted=RESULTS, known=True, turn="each", kind="multiclass_nms3", yolo=None, **attributes):
    """The post-processing of some heads; `turn`: whether each head's scores are transposed, or all of them at once."""
    yolo = {"conf_thresh": 0.3, "clip_bbox": True, "scale_x_y": 1.0, **(yolo or {})}
    channels = 2 * (5 + CLASSES + bool(yolo.get("iou_aware")))
    inputs = [
        Variable(f"head_{i}", "float32", (-1, channels, *(SIZES[i] if known else (-1, -1)))) for i in range(heads)
    ]
    inputs.append(Variable("img_size", "int32", (-1, 2)))
    rows = []
    for i in range(heads):
        own = {"anchors": list(ANCHORS[i]), "class_num": CLASSES, "downsample_ratio": 32 >> i}
        rows.append(("yolo_box", f"x=head_{i} img_size=img_size", f"boxes=boxes_{i} scores=scores_{i}", yolo | own))
        if turn == "each":
            rows.append(("transpose2", f"x=scores_{i}", f"out=turned_{i}", {"perm": [0, 2, 1]}))
    boxes, scores = "boxes_0", "turned_0"
    if heads > 1:
        boxes, scores = "boxes", "scores"
        parts = {name: ",".join(f"{name}_{i}" for i in range(heads)) for name in ("boxes", "scores", "turned")}
        rows.append(("concat", f"x={parts['boxes']}", "out=boxes", {"axis": 1}))
        if turn == "each":
            rows.append(("concat", f"x={parts['turned']}", "out=scores", {"axis": 2}))
        else:
            rows.append(("concat", f"x={parts['scores']}", "out=joined", {"axis": 1}))
            rows.append(("transpose2", "x=joined", "out=scores", {"perm": [0, 2, 1]}))
    basic = {
        "score_threshold": 0.1,
        "nms_top_k": 20,
        "keep_top_k": 30,
        "nms_threshold": 0.45,
        "normalized": False,
        "nms_eta": 1.0,
        "background_label": -1,
    }
    results = " ".join(f"{name}={name}" for name in wanted if name in _PORTS)
    rows.append((kind, f"bboxes={boxes} scores={scores}", results, basic | attributes))
    return programs.program(rows, inputs, " ".join(wanted))


def feeds(heads=3, batch=2, shift=0.0, aware=False):
    """Heads whose objects are the surer the larger `shift` is; the same numbers whichever test runs first."""
    rng = np.random.default_rng(3)
    inputs = {"img_size": np.array([[64 + 40 * i, 90 - 20 * i] for i in range(batch)], np.int32)}
    for i, size in enumerate(SIZES[:heads]):
        raw = rng.normal(0, 1, (batch, 2, 5 + CLASSES, *size)).astype("float32")
        raw[:, :, 4] += shift
        x = raw.reshape(batch, -1, *size)
        more = rng.normal(0, 1, (batch, 2, *size)).astype("float32")
        inputs[f"head_{i}"] = np.concatenate([more, x], 1) if aware else x
    return inputs


def translated(whole):
    return convert_program(TranslationRequest(whole, [], (), Registry()))


def check_same(whole, *inputs, heads=None):
    """That it gives what the plain form gives, and so many heads decode some boxes only; returns the boxes' counts."""
    model = translated(whole)
    gather_pushdown(Graph(model))
    kinds = Counter(operator.type for operator in whole.block.operators)
    assert gathered(model)["Exp"] == (kinds["yolo_box"] if heads is None else heads)
    with unfiltered():
        plain = translated(whole)
    return check_models(model, plain, *inputs)


@pytest.fixture(autouse=True)
def filter_small_heads():
    with filtered():
        yield


@pytest.mark.parametrize("known", [False, True])
def test_some_none_and_all_boxes(known):
    inputs = [feeds(), feeds(shift=-20.0), feeds(shift=20.0)]
    some, none, every = check_same(program(known=known, keep_top_k=-1), *inputs, heads=3 * known)
    assert none == [0, 0]
    assert 0 < sum(some) < sum(every)


def test_one_image_without_any_among_others():
    inputs = feeds(batch=3)
    for i in range(3):
        inputs[f"head_{i}"][1] -= 30
    ((first, second, third),) = check_same(program(), inputs)
    assert second == 0
    assert first > 0 < third


@pytest.mark.parametrize(
    ("yolo", "attributes"),
    [
        ({"iou_aware": True, "iou_aware_factor": 0.4}, {"nms_threshold": 0.7, "nms_eta": 0.9}),
        ({"scale_x_y": 1.05, "clip_bbox": False}, {"nms_top_k": -1, "keep_top_k": -1}),
        ({"conf_thresh": 0.0}, {"normalized": True, "background_label": 1, "kind": "multiclass_nms2"}),
    ],
    ids=["aware", "unclipped", "all"],
)
def test_attributes(yolo, attributes):
    check_same(program(yolo=yolo, **attributes), feeds(aware="iou_aware" in yolo, batch=4))


def test_matrix_nms():
    attributes = {"score_threshold": 0.3, "post_threshold": 0.05, "use_gaussian": True, "gaussian_sigma": 2.0}
    whole = program(kind="matrix_nms", wanted=("out", "index", "roisnum"), **attributes)
    some, none, every = check_same(whole, feeds(), feeds(shift=-20.0), feeds(shift=20.0))
    assert none == [0, 0]
    assert 0 < sum(some) <= sum(every)


def test_one_head_and_one_transpose_for_all():
    check_same(program(heads=1), feeds(heads=1))
    check_same(program(turn="all"), feeds())


def test_boxes_whose_order_changes():
    """Boxes are flipped, scores are not: other boxes belong to the scores, and the Gather stays."""
    whole = program(heads=1)
    flip = Operator("flip", {"x": ["boxes_0"]}, {"out": ["other"]}, {"axis": [1]}, "flip", 0, 99)
    whole.block.operators.insert(1, flip)
    whole.block.operators[-1].inputs["bboxes"] = ["other"]
    whole.variables["other"] = Variable("other")
    check_same(whole, feeds(heads=1), heads=0)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "heads"), [("boxes", 0), ("boxes_1", 2), ("scores_0", 3), ("turned_2", 3)])
def test_a_box_used_elsewhere(name, heads):
    check_same(program(wanted=(*RESULTS, name)), feeds(), heads=heads)
