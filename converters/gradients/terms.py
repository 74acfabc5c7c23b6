"""What gradients are written with: tensors with Python's arithmetic, and converters made of formulas.

A formula is a function whose parameters are the operator's own: those without a default are operands, those with one
are attributes that are numbers, with Paddle's default. An optional operand that the program leaves out is `ZERO`: all
gradients are linear in the gradients that they are given, so that terms with it vanish.

    tanh_grad = gradient(x_grad=lambda out, out_grad: out_grad * (1 - out * out))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

from openvino import Output

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, refuse_complex, reshape, shape_of
from paddle2ov.graph import elementary
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext
from paddle2ov.translation.registry import Converter


class Term:
    """A tensor in a formula; numbers become constants of its type, and a condition counts as 0 and 1 in a product."""

    __slots__ = ("value",)

    def __init__(self, value: Tensor) -> None:
        self.value: Output = output_of(value)

    def _with(self, build: Callable[[Tensor, Tensor], Tensor], other: Any, swap: bool = False) -> Term:
        left: Tensor = self.value
        right: Tensor = other.value if isinstance(other, Term) else const_like(other, left)
        if isinstance(other, Term) and left.get_element_type() != right.get_element_type():
            left, right = _in_common_type(left, right)
        return Term(build(right, left) if swap else build(left, right))

    def __add__(self, other: Any) -> Term:
        return self if other is ZERO else self._with(ops.add, other)

    def __sub__(self, other: Any) -> Term:
        return self if other is ZERO else self._with(ops.subtract, other)

    def __rsub__(self, other: float) -> Term:
        return self._with(ops.subtract, other, swap=True)

    def __mul__(self, other: Any) -> Term:
        return ZERO if other is ZERO else self._with(ops.multiply, other)

    def __truediv__(self, other: Any) -> Term:
        return self._with(ops.divide, other)

    def __rtruediv__(self, other: float) -> Term:
        return self._with(ops.divide, other, swap=True)

    def __pow__(self, other: Any) -> Term:
        return self._with(ops.power, other)

    def __neg__(self) -> Term:
        return Term(ops.negative(self.value))

    def __gt__(self, other: Any) -> Term:
        return self._with(ops.greater, other)

    def __ge__(self, other: Any) -> Term:
        return self._with(ops.greater_equal, other)

    def __lt__(self, other: Any) -> Term:
        return self._with(ops.less, other)

    def __le__(self, other: Any) -> Term:
        return self._with(ops.less_equal, other)

    def __and__(self, other: Term) -> Term:
        return self._with(ops.logical_and, other)

    def __or__(self, other: Term) -> Term:
        return self._with(ops.logical_or, other)

    def __invert__(self) -> Term:
        return Term(ops.logical_not(self.value))

    def equals(self, other: Any) -> Term:
        """Where both are equal."""
        return self._with(ops.equal, other)

    __radd__ = __add__
    __rmul__ = __mul__


class Zero(Term):
    """A gradient that is not there: nothing depends on it."""

    __slots__ = ()

    def __init__(self) -> None: ...

    def __add__(self, other: Any) -> Term:
        return cast("Term", other)

    def __rsub__(self, other: Any) -> Term:
        return cast("Term", other)

    def __sub__(self, other: Any) -> Term:
        return cast("Term", -other)

    def __mul__(self, other: Any) -> Term:
        return self

    def __truediv__(self, other: Any) -> Term:
        return self

    def __neg__(self) -> Term:
        return self

    __radd__ = __add__
    __rmul__ = __mul__


ZERO: Term = Zero()
Formula: TypeAlias = Callable[..., Any]
Reader: TypeAlias = Callable[[NodeContext, str], Output]


def _in_common_type(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the type of the one that is floating point, of the left one if both are."""
    kind = left.get_element_type()
    return (left, cast_to(right, kind)) if kind.is_real() else (cast_to(left, right.get_element_type()), right)


def function(build: Callable[..., Tensor]) -> Callable[..., Term]:
    """An operation of OpenVINO as one on terms."""
    return lambda *terms: Term(build(*(term.value for term in terms)))


def select(condition: Term, then: Any, otherwise: Any, like: Term) -> Term:
    """One value where the condition holds, another one elsewhere; numbers become constants of the type of `like`."""
    first, second = (
        value.value if isinstance(value, Term) else const_like(value, like.value) for value in (then, otherwise)
    )
    return Term(ops.select(condition.value, first, second))


def read(node: NodeContext, name: str) -> Output:
    """An operand, unchanged."""
    return node.get_input(name)


def operand(node: NodeContext, name: str, reader: Reader = read) -> Term:
    """An operand as a term; `ZERO` where the program leaves it out."""
    refuse_complex(node, name)
    return Term(reader(node, name)) if node.has_input(name) else ZERO


def evaluated(node: NodeContext, formula: Formula, reader: Reader = read) -> Any:
    """The value of a formula for an operator, whose operands are read by `reader`."""
    parameters = inspect.signature(formula).parameters.values()
    return formula(*(_argument(node, parameter.name, parameter.default, reader) for parameter in parameters))


def _argument(node: NodeContext, name: str, default: Any, reader: Reader) -> Any:
    if default is inspect.Parameter.empty:
        return operand(node, name, reader)
    if isinstance(default, bool):
        return node.get_bool(name, default)
    return node.get_float(name, default) if node.is_known(name) else Term(reshape(node.get_tensor(name), []))


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


abs_ = function(ops.abs)
cos = function(ops.cos)
cosh = function(ops.cosh)
erf = function(ops.erf)
exp = function(ops.exp)
floor = function(ops.floor)
isnan = function(ops.is_nan)
log = function(ops.log)
log1p = function(elementary.log1p)
maximum = function(ops.maximum)
minimum = function(ops.minimum)
sigmoid = function(ops.sigmoid)
sign = function(ops.sign)
sin = function(ops.sin)
sinh = function(ops.sinh)
sqrt = function(ops.sqrt)
tanh = function(ops.tanh)
