"""Sequences (LoD) that a program does not declare: which variables hold the boxes of each image, as Paddle passes on.

Detectors of Paddle 1.8 that need them are in tests/data/paddle_1_8.
"""

import pytest

from paddle2ov.program.model import Block, Operator, Program, Variable
from paddle2ov.translation.undeclared_lod import undeclared_sequences


def operator(op_type, inputs, outputs, attributes=None):
    return Operator(op_type, inputs, outputs, attributes or {}, op_type, 0, 0)


def program(operators, variables):
    return Program("legacy", 1_008_005, Block(0, operators), [], [], variables, {})


def detector(op_type, inputs, attributes=None, shape=(-1, 4)):
    """The variables that hold sequences where the operator reads `rois`, what was proposed; its result is `out`."""
    operators = [
        operator("generate_proposals", {}, {"rpn_rois": ["rois"], "rpn_roi_probs": ["probs"]}),
        operator(op_type, inputs, {"out": ["out"]}, attributes),
        operator("scale", {"x": ["out"]}, {"out": ["scaled"]}),
    ]
    shapes = {"rois": (-1, 4), "out": shape, "scaled": shape, "other": (-1, 4)}
    variables = {name: Variable(name, "float32", dims) for name, dims in shapes.items()}
    return undeclared_sequences(program(operators, variables))


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "shape"),
    [
        ("elementwise_div", {"x": ["rois"], "y": ["other"]}, {"axis": -1}, (-1, 4)),
        ("slice", {"input": ["rois"]}, {"axes": [1], "starts": [1], "ends": [3]}, (-1, 2)),
        ("reshape2", {"x": ["rois"]}, {"shape": [-1, 2, 2]}, (-1, 2, 2)),
        ("box_coder", {"prior_box": ["rois"], "target_box": ["other"]}, {}, (-1, 4)),
    ],
)
def test_what_is_made_of_each_row_keeps_the_lod(op_type, inputs, attributes, shape):
    assert detector(op_type, inputs, attributes, shape) == {"out", "scaled"}


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "shape"),
    [
        ("elementwise_div", {"x": ["other"], "y": ["rois"]}, {"axis": -1}, (-1, 4)),
        ("slice", {"input": ["rois"]}, {"axes": [0], "starts": [1], "ends": [3]}, (2, 4)),
        ("reshape2", {"x": ["rois"]}, {"shape": [-1, 2]}, (-1, 2)),
        ("reshape2", {"x": ["rois"]}, {"shape": [-1, 0]}, (-1, -1)),
        ("box_coder", {"prior_box": ["other"], "target_box": ["rois"]}, {}, (-1, 4)),
        ("roi_align", {"x": ["other"], "boxes": ["rois"]}, {}, (-1, 4)),
        ("gather", {"x": ["rois"], "index": ["other"]}, {}, (-1, 4)),
    ],
)
def test_what_paddle_drops_has_none(op_type, inputs, attributes, shape):
    assert detector(op_type, inputs, attributes, shape) == set()


def test_a_program_without_proposals_has_none():
    assert undeclared_sequences(program([operator("scale", {"x": ["x"]}, {"out": ["out"]})], {})) == set()
