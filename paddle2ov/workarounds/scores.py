"""Rows that are added to attention scores, or multiply them."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from msgspec import Struct, field
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.consumers import readers
from paddle2ov.graph.node_kinds import ELEMENTWISE
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.computed_constants import computed_constant_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import at
from paddle2ov.typing import AnyArray

_COMMUTATIVE = frozenset(("Add", "Maximum", "Minimum", "Multiply"))
_AFFINE = frozenset(("Add", "Divide", "Multiply", "Subtract"))
_MAX_NODES = 16
"""The most nodes between a product and its softmax that are looked at."""
_MAX_ELEMENTS = 1 << 20
"""The most elements of a constant that is made of several."""

_Step: TypeAlias = tuple[Node, int]
"""A node between a product and its softmax, and the input that has the scores."""


class _Affine(Struct):
    """Several nodes that compute factor · scores + term."""

    nodes: list[Node]
    scores: Output
    factor: AnyArray = field(default_factory=lambda: np.ones((), np.float32))
    term: AnyArray = field(default_factory=lambda: np.zeros((), np.float32))


@at("Softmax", read_by=("MatMul",))
def row_of_scores(graph: Graph, softmax: Node) -> list[_Affine | Node] | None:
    """In bfloat16, without AMX, OpenVINO fuses a row that is the second operand into the product, and reads it wrongly.

    A mask [1, 1, 1, K] gives infinite scores. A row that is the first operand is applied after the product. Attention
    with a padding mask of known shape gave NaN on an AMD processor.

    Given:
        scores = MatMul of computed tensors → elementwise nodes → Softmax → MatMul. Among the elementwise nodes is an
        Add, Maximum, Minimum or Multiply of the scores and a row, or a Subtract or Divide by a constant row.
    """
    path = _path(softmax.input_value(0), _MAX_NODES, set())
    if path is None:
        return None
    merged = _merged(path)
    done = {node.get_name() for affine in merged for node in affine.nodes}
    return [*merged, *(node for node, port in path if port == 0 and node.get_name() not in done and _must_swap(node))]


def put_scores_second(graph: Graph, site: _Affine | Node) -> None:
    """The scores are the second operand; Subtract adds the negated constant, Divide multiplies by the reciprocal.

    Consecutive constants are merged, because OpenVINO puts the scores first when it merges them.
    """
    if isinstance(site, Node):
        replace(site.output(0), _with_swapped_operands(site).output(0))
        return
    last, scores = site.nodes[0].output(0), site.scores
    if site.factor.ndim > 0 or site.factor != 1:
        scores = ops.multiply(site.factor, scores).output(0)
    is_done = (site.term == 0).all() and scores.get_partial_shape() == last.get_partial_shape()
    replace(last, scores if is_done else ops.add(site.term, scores).output(0), *site.nodes[1:])


def _path(value: Output, most: int, seen: set[str]) -> list[_Step] | None:
    """The elementwise nodes from the softmax up to a product, each with the input that leads there."""
    node = value.get_node()
    if node.get_name() in seen:
        return None
    seen.add(node.get_name())
    if node.get_type_name() == "MatMul":
        is_score = not any(isinstance(value.get_node(), Constant) for value in node.input_values())
        return [] if is_score else None
    if node.get_type_name() not in ELEMENTWISE or not most:
        return None
    for port in node.inputs():
        rest = _path(port.get_source_output(), most - 1, seen)
        if rest is not None:
            return [(node, port.get_index()), *rest]
    return None


def _merged(path: list[_Step]) -> list[_Affine]:
    """The runs of two or more nodes with constants, one of them a row."""
    merged: list[_Affine] = []
    run: list[_Step] = []
    for step in [*path, None]:
        if step is not None and _constant(step) is not None and (not run or len(readers(step[0])) == 1):
            run.append(step)
            continue
        is_merged = [(node.get_type_name(), port) for node, port in run] == [("Add", 1), ("Multiply", 1)]
        if len(run) > 1 and not is_merged and any(_is_row(node.input_value(1 - port)) for node, port in run):
            merged += _fold_affine(run)
        run = [step] if step is not None and _constant(step) is not None else []
    return merged


def _fold_affine(run: list[_Step]) -> list[_Affine]:
    """The run in one, if that is not too large and its factors are finite."""
    last, port = run[-1]
    affine = _Affine([node for node, _ in run], last.input_value(port))
    with np.errstate(all="ignore"):
        for node, port in reversed(run):
            constant = _constant((node, port))
            assert constant is not None
            kind = node.get_type_name()
            factor: AnyArray = np.ones((), np.float32)
            term: AnyArray = np.zeros((), np.float32)
            if kind in ("Multiply", "Divide"):
                factor = constant if kind == "Multiply" else 1 / constant
            else:
                factor = -factor if kind == "Subtract" and port == 1 else factor
                term = -constant if kind == "Subtract" and port == 0 else constant
            shapes = [value.shape for value in (affine.factor, affine.term, factor, term)]
            if math.prod(np.broadcast_shapes(*shapes)) > _MAX_ELEMENTS or not np.isfinite(factor).all():
                return []
            affine.factor, affine.term = affine.factor * factor, affine.term * factor + term
    return [affine]


def _constant(step: _Step) -> AnyArray | None:
    """The constant of a node that is affine in the scores."""
    node, port = step
    if node.get_type_name() not in _AFFINE or node.get_output_element_type(0) != Type.f32:
        return None
    if node.get_type_name() == "Divide" and port == 1:
        return None
    return computed_constant_of(node.input_value(1 - port))


def _must_swap(node: Node) -> bool:
    kind = node.get_type_name()
    if kind not in _COMMUTATIVE | _AFFINE or not _is_row(node.input_value(1)):
        return False
    return kind in _COMMUTATIVE or computed_constant_of(node.input_value(1)) is not None


def _is_row(value: Output) -> bool:
    """Whether a tensor has one row at most."""
    dims = dims_of(value)
    return dims is not None and all(size == 1 for size in dims[:-1])


def _with_swapped_operands(node: Node) -> Node:
    """The same with its operands in the other order."""
    scores, other = node.input_values()
    match node.get_type_name():
        case "Subtract":
            return ops.add(ops.negative(other), scores)
        case "Divide":
            one = ops.constant(np.ones((), np.float32), other.get_element_type())
            return ops.multiply(ops.divide(one, other), scores)
        case kind:
            return create(kind, [other, scores], {})
