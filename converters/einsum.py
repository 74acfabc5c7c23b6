"""Einstein summation.

Paddle: `einsum`.
Semantics: `paddle/phi/kernels/impl/einsum_kernel_impl.h`, `paddle/phi/infermeta/backward.cc`.

OpenVINO has an Einsum, which it decomposes when it compiles a model: what looks for products would not see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openvino import Output

from paddle2ov.converters.diagonal import diagonal_of
from paddle2ov.converters.graph.dims import dim_vector, rank_of
from paddle2ov.converters.graph.reshaping import merge_axes, scalar_as_declared
from paddle2ov.converters.matmul import broadcasting_matmul
from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.shapes import dims_of, output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_MAX_EQUATION_LENGTH = 1000
_UNIT = ""
"""The label of an axis of one element that is added."""


class _Term(NamedTuple):
    """A tensor, and the label of each of its axes; those of an ellipsis are numbers, counted from the end."""

    value: Output
    labels: list[str]


def einsum(node: NodeContext) -> NamedOutputs:
    """out = the sum of products that `equation` describes (Einstein summation)."""
    operands = node.get_inputs("x")
    equation = node.get_str("equation").replace(" ", "")
    reason = f"an equation of {len(equation)} characters is not supported"
    node.require(len(equation) <= _MAX_EQUATION_LENGTH, reason)
    ranks = [rank_of(node, x) for x in operands]
    *terms, wanted = _labels(node, equation, ranks)
    remaining = [_diagonal(_Term(x, labels)) for x, labels in zip(operands, terms, strict=True)]
    total = _summed(remaining.pop(0), {*wanted, *(label for term in remaining for label in term.labels)})
    while remaining:
        term = remaining.pop(0)
        kept = {*wanted, *(label for other in remaining for label in other.labels)}
        total = _product(total, term, [*wanted, *sorted(kept - {*wanted})])
    return {"out": scalar_as_declared(node, _ordered(total, wanted).value)}


def _labels(node: NodeContext, equation: str, ranks: Sequence[int]) -> list[list[str]]:
    """The labels of the operands, and those of the result."""
    node.require(all(item.isalpha() or item in ".,->" for item in equation), "labels are letters", equation=equation)
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    node.require(len(terms) == len(ranks), f"it names {len(terms)} operands of {len(ranks)}", equation=equation)
    read: list[list[str]] = []
    for term, rank in zip(terms, ranks, strict=True):
        before, ellipsis, after = term.partition("...")
        hidden = rank - len(before) - len(after)
        node.require(
            hidden >= 0 and (hidden == 0 or bool(ellipsis)), f"'{term}' does not fit rank {rank}", equation=equation
        )
        read.append([*before, *(str(i) for i in reversed(range(hidden))), *after])
    named = [label for labels in read for label in labels]
    hidden_labels = sorted({label for label in named if label.isdigit()}, key=int, reverse=True)
    if arrow:
        before, _, after = right.partition("...")
        wanted = [*before, *(hidden_labels if "..." in right else []), *after]
    else:
        wanted = [*hidden_labels, *sorted(item for item in {*named} if named.count(item) == 1 and not item.isdigit())]
    node.require({*wanted} <= {*named}, "the result has a label that no operand has", equation=equation)
    node.require(len({*wanted}) == len(wanted), "a label twice in the result is not supported", equation=equation)
    return [*read, wanted]


def _diagonal(term: _Term) -> _Term:
    """The term with each label once: the diagonal of those that are repeated."""
    value, labels = term
    while repeated := next((label for label in labels if labels.count(label) > 1), None):
        first = labels.index(repeated)
        second = labels.index(repeated, first + 1)
        order = [*(i for i in range(len(labels)) if i not in (first, second)), first, second]
        value = output_of(diagonal_of(permute(value, order), 0))
        labels = [labels[i] for i in order[:-1]]
    return _Term(value, labels)


def _summed(term: _Term, kept: set[str]) -> _Term:
    """The sum over all labels but some."""
    axes = [axis for axis, label in enumerate(term.labels) if label not in kept]
    if not axes:
        return term
    value = ops.reduce_sum(term.value, ints(axes), False).output(0)
    return _Term(value, [label for label in term.labels if label in kept])


def _product(x: _Term, y: _Term, kept: Sequence[str]) -> _Term:
    """The product of two terms, summed over the labels that are not kept; the order of `kept` is preferred."""
    x, y = (_without_units(own, other, kept) for own, other in ((x, y), (y, x)))
    x, y = (_summed(own, {*other.labels, *kept}) for own, other in ((x, y), (y, x)))
    summed = [label for label in x.labels if label in y.labels and label not in kept]
    own_x, own_y = (
        [label for label in kept if label in own.labels and label not in other.labels]
        for own, other in ((x, y), (y, x))
    )
    if not summed or not (own_x or own_y):
        order = [*(label for label in kept if label in x.labels + y.labels), *summed]
        return _summed(_Term(ops.multiply(_aligned(x, order), _aligned(y, order)).output(0), order), {*kept})
    if kept.index(own_y[0]) < kept.index(own_x[0]) if own_x and own_y else not own_y and x.labels[-1] not in summed:
        x, y, own_x, own_y = y, x, own_y, own_x
    return _matrix_product(x, y, own_x, own_y, summed, kept)


def _without_units(term: _Term, other: _Term, kept: Sequence[str]) -> _Term:
    """The term without axes of one element that are summed with longer ones, to which they would be broadcast."""
    dims, others = dims_of(term.value) or [], dict(zip(other.labels, dims_of(other.value) or [], strict=True))
    units = [
        axis
        for axis, label in enumerate(term.labels)
        if dims[axis] == 1 and label not in kept and others.get(label, 1) != 1
    ]
    if not units:
        return term
    labels = [label for axis, label in enumerate(term.labels) if axis not in units]
    return _Term(ops.squeeze(term.value, ints(units)).output(0), labels)


def _ordered(term: _Term, labels: Sequence[str]) -> _Term:
    """The term with its axes in another order."""
    return _Term(permute(term.value, [term.labels.index(label) for label in labels]), [*labels])


def _aligned(term: _Term, labels: Sequence[str]) -> Output:
    """The term with its axes in the order of labels; those that it lacks have one element, or are missing in front."""
    value = _ordered(term, [label for label in labels if label in term.labels]).value
    in_front = next((i for i, label in enumerate(labels) if label in (*term.labels, _UNIT)), len(labels))
    added = [i - in_front for i, label in enumerate(labels) if i >= in_front and label not in term.labels]
    return ops.unsqueeze(value, ints(added)).output(0) if added else value


def _matrix_product(
    x: _Term, y: _Term, rows: list[str], columns: list[str], summed: list[str], kept: Sequence[str]
) -> _Term:
    """A MatMul: the axes that both keep come first, then the rows of x and the columns of y, each as one axis.

    If they stand so that they can be broadcast as they are, further axes are left before the matrices.
    """
    outer = _outer_axes(x, y, rows, columns, summed)
    if outer is None:
        outer = [label for label in kept if label in x.labels and label in y.labels]
    rows, columns = ([label for label in value if label not in outer] for value in (rows, columns))
    first, transpose_x = _matrices(x, outer, rows, summed)
    second, is_summed_first = _matrices(y, outer, columns, summed)
    out = broadcasting_matmul(first, second, transpose_x, not is_summed_first).output(0)
    labels = [*outer, *rows, *columns]
    if len(rows) != 1 or len(columns) != 1:
        sizes = [dim_vector(out, range(len(outer)))] if outer else []
        sizes += [
            dim_vector(term.value, [*map(term.labels.index, own)]) for term, own in ((x, rows), (y, columns)) if own
        ]
        known = [ints_of(size.output(0)) for size in sizes]
        shape = [dim for size in known for dim in size or ()]
        out = ops.reshape(out, ops.concat(sizes, 0) if None in known else ints(shape), False).output(0)
    return _Term(out, labels)


def _outer_axes(x: _Term, y: _Term, rows: list[str], columns: list[str], summed: list[str]) -> list[str] | None:
    """All axes of both terms but those of the matrices, if no transpose of these is needed; else None."""
    sides = []
    for term, own in ((x, rows), (y, columns)):
        inner = term.labels[-2:] if own else term.labels[-1:]
        if len(summed) > 1 or summed[0] not in inner or (own and not {*inner} & {*own}):
            return None
        sides.append(term.labels[: -len(inner)])
    shorter, longer = sorted(sides, key=len)
    return longer if [label for label in longer if label in shorter] == shorter else None


def _matrices(term: _Term, outer: list[str], own: list[str], summed: list[str]) -> tuple[Output, bool]:
    """The term as matrices of its own axes and the summed ones, and whether these are their first axis."""
    inner = [label for label in term.labels if label in own or label in summed]
    is_summed_first = inner[0] in summed and bool(own)
    parts = [summed, own or [_UNIT]] if is_summed_first else [own or [_UNIT], summed]
    order = [*outer, *parts[0], *parts[1]]
    value = _aligned(term, order)
    if len(parts[0]) == len(parts[1]) == 1:
        return value, is_summed_first
    axes = range(len(dims_of(value) or []))
    last = len(axes) - len(parts[1])
    before, first, second = axes[: last - len(parts[0])], axes[last - len(parts[0]) : last], axes[last:]
    groups = [*([axis] for axis in before), first, second]
    return merge_axes(value, groups), is_summed_first
