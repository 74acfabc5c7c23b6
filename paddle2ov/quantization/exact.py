"""What stays in floating point whatever it would gain: first convolutions, choices among scores, boxes in pixels."""

from __future__ import annotations

from openvino import Model, Node

from paddle2ov.report import ConversionReport

COMPARISONS = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual")
"""Types of nodes whose results are steps: rounding what they read gains nothing and exchanges them."""

_MAX_FIRST = 4
_MAX_FIRST_SHARE = 0.1
"""The largest number, and share, of first convolutions that stay in floating point: see `first_convolutions`."""
_LAYERS = ("GRUSequence", "If", "LSTMSequence", "Loop", "RNNSequence", "TensorIterator")

EXACT = frozenset(
    (
        "anchor_generator",
        "arg_max",
        "arg_min",
        "argsort",
        "bipartite_match",
        "box_clip",
        "box_coder",
        "box_decoder_and_assign",
        "collect_fpn_proposals",
        "density_prior_box",
        "distribute_fpn_proposals",
        "generate_proposals",
        "generate_proposals_v2",
        "iou_similarity",
        "kthvalue",
        "locality_aware_nms",
        "matrix_nms",
        "mode",
        "multiclass_nms",
        "multiclass_nms2",
        "multiclass_nms3",
        "nms",
        "polygon_box_transform",
        "prior_box",
        "retinanet_detection_output",
        "searchsorted",
        "similarity_focus",
        "top_k",
        "top_k_v2",
        "yolo_box",
    )
)
"""Operators that sort and select by scores, or compute boxes. Scores of 8 bits tie, boxes of 8 bits lie pixels off, and
what marks an entry that is out (negative infinity) has no range."""


def exact_nodes(model: Model, conversion: ConversionReport) -> list[str]:
    """The names of the nodes of such operators, and of all between them and the layers that they read.

    NNCF leaves out what leads from a layer to a NonMaxSuppression or TopK, but not what stands beside these in a
    suppression.
    """
    assert conversion.program is not None
    types = [operator.type for operator in conversion.program.block.walk()]
    made = {name for name, origins in conversion.origins.items() if origins and types[origins[0]] in EXACT}
    pending = [node for node in model.get_ops() if node.get_friendly_name() in made]
    found: set[str] = set()
    while pending:
        node = pending.pop()
        name = node.get_friendly_name()
        if name in found or (name not in made and _is_layer(node)):
            continue
        found.add(name)
        pending += [value.get_node() for value in node.input_values()]
    return sorted(found)


def first_convolutions(model: Model) -> list[str]:
    """The names of the convolutions that read the picture, or nearly so.

    What they round reaches all that follows, and their few channels gain little in int8 (`benchmarks.int8_settings`).
    """
    found = [node.get_friendly_name() for node in model.get_ordered_ops() if "Convolution" in node.get_type_name()]
    return found[: min(_MAX_FIRST, int(_MAX_FIRST_SHARE * len(found)))]


def _is_layer(node: Node) -> bool:
    """Whether a node has weights, or is a loop or branch."""
    kind = node.get_type_name()
    has_constant = any(value.get_node().get_type_name() == "Constant" for value in node.input_values())
    return kind in _LAYERS or "Convolution" in kind or (kind == "MatMul" and has_constant)


__all__ = ["COMPARISONS", "EXACT", "exact_nodes", "first_convolutions"]
