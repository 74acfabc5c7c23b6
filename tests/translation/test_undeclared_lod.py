"""Sequences (LoD) that a program does not declare: which variables hold the boxes of each image, as Paddle passes on.

Detectors of Paddle 1.8 that need them are in tests/data/paddle_1_8.
"""

import pytest

from paddle2ov.program.model import Variable
from paddle2ov.translation.undeclared_lod import undeclared_sequences
from tests.support.programs import program


def detector(op_type, reads, attributes=(), shape=(-1, 4)):
    """The variables that hold sequences where the operator reads `rois`, what was proposed; its result is `out`."""
    operators = [
        ("generate_proposals", "", "rpn_rois=rois rpn_roi_probs=probs"),
        (op_type, reads, "out=out", attributes),
        ("scale", "x=out", "out=scaled"),
    ]
    shapes = {"rois": (-1, 4), "out": shape, "scaled": shape, "other": (-1, 4)}
    variables = [Variable(name, "float32", dims) for name, dims in shapes.items()]
    return undeclared_sequences(program(operators, [], "scaled", variables, format="legacy"))


@pytest.mark.parametrize(
    ("op_type", "reads", "attributes", "shape", "kept"),
    [
        ("elementwise_div", "x=rois y=other", {"axis": -1}, (-1, 4), True),
        ("slice", "input=rois", {"axes": [1], "starts": [1], "ends": [3]}, (-1, 2), True),
        ("reshape2", "x=rois", {"shape": [-1, 2, 2]}, (-1, 2, 2), True),
        ("box_coder", "prior_box=rois target_box=other", {}, (-1, 4), True),
        ("elementwise_div", "x=other y=rois", {"axis": -1}, (-1, 4), False),
        ("slice", "input=rois", {"axes": [0], "starts": [1], "ends": [3]}, (2, 4), False),
        ("reshape2", "x=rois", {"shape": [-1, 2]}, (-1, 2), False),
        ("reshape2", "x=rois", {"shape": [-1, 0]}, (-1, -1), False),
        ("box_coder", "prior_box=other target_box=rois", {}, (-1, 4), False),
        ("roi_align", "x=other boxes=rois", {}, (-1, 4), False),
        ("gather", "x=rois index=other", {}, (-1, 4), False),
    ],
)
def test_what_is_made_of_each_row_keeps_the_lod(op_type, reads, attributes, shape, kept):
    assert detector(op_type, reads, attributes, shape) == ({"out", "scaled"} if kept else set())


def test_a_program_without_proposals_has_none():
    assert undeclared_sequences(program([("scale", "x=x", "out=out")], [], "out", format="legacy")) == set()
