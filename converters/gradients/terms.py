"""What gradients are written with: converters made of formulas over terms (`paddle2ov/graph/terms.py`).

A formula is a function whose parameters are the operator's own: those without a default are operands, those with one
are attributes that are numbers, with Paddle's default. An optional operand that the program leaves out is `ZERO`: all
gradients are linear in the gradients that they are given, so that terms with it vanish.

    tanh_grad = gradient(x_grad=lambda out, out_grad: out_grad * (1 - out * out))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from openvino import Output

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import scalar_of, shape_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import ZERO, Term
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext

Formula: TypeAlias = Callable[..., Any]
Reader: TypeAlias = Callable[[NodeContext, str], Output]


def operand(node: NodeContext, name: str, reader: Reader = NodeContext.get_input) -> Term:
    """An operand as a term; `ZERO` where the program leaves it out."""
    return Term(reader(node, name)) if node.has_input(name) else ZERO


def evaluated(node: NodeContext, formula: Formula, reader: Reader = NodeContext.get_input) -> Any:
    """The value of a formula for an operator, whose operands are read by `reader`."""
    parameters = inspect.signature(formula).parameters.values()
    return formula(*(_argument(node, parameter.name, parameter.default, reader) for parameter in parameters))


def _argument(node: NodeContext, name: str, default: Any, reader: Reader) -> Any:
    if default is inspect.Parameter.empty:
        return operand(node, name, reader)
    if isinstance(default, bool):
        return node.get_bool(name, default)
    return node.get_float(name, default) if node.is_known(name) else Term(scalar_of(node, name))


def results(node: NodeContext, values: Mapping[str, Callable[[], Any]]) -> NamedOutputs:
    """The results that the program reads; one that is 0 has the shape of the operand that it is the gradient of."""
    computed: dict[str, Tensor] = {}
    for result, value_of in values.items():
        if node.is_output_used(result):
            value = value_of()
            computed[result] = _zeros_like(node, result.removesuffix("_grad")) if value is ZERO else value.value
    return computed


def _zeros_like(node: NodeContext, name: str) -> Tensor:
    like = node.get_input(name if node.has_input(name) else "out_grad")
    return ops.broadcast(const_like(0, like), shape_of(like))


def gradient(**formulas: Formula) -> Converter:
    """A converter of formulas by result."""

    def convert(node: NodeContext) -> NamedOutputs:
        """The gradients: what is given, times the derivatives."""
        return results(node, {result: partial(evaluated, node, formula) for result, formula in formulas.items()})

    return convert
