"""Tensors with Python's arithmetic, for formulas: `(exp(x) - 1) / 2` in place of nested calls of the opset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from openvino import Node, Output

from paddle2ov.graph import elementary
from paddle2ov.graph.opset import const_like, ops
from paddle2ov.graph.shapes import output_of

Tensor: TypeAlias = Output | Node


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


def _in_common_type(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the type of the one that is floating point, of the left one if both are."""
    kind = left.get_element_type()
    return (left, ops.convert(right, kind)) if kind.is_real() else (ops.convert(left, right.get_element_type()), right)


def function(build: Callable[..., Tensor]) -> Callable[..., Term]:
    """An operation of OpenVINO as one on terms."""
    return lambda *terms: Term(build(*(term.value for term in terms)))


def of_terms(formula: Callable[..., Term]) -> Callable[..., Tensor]:
    """A formula as a function of tensors."""
    return lambda *tensors: formula(*map(Term, tensors)).value


def select(condition: Term, then: Any, otherwise: Any, like: Term | None = None) -> Term:
    """One value where the condition holds, another one elsewhere; numbers become constants of the type of `like`."""
    typed = like or next(value for value in (then, otherwise) if isinstance(value, Term))
    first, second = (
        value.value if isinstance(value, Term) else const_like(value, typed.value) for value in (then, otherwise)
    )
    return Term(ops.select(condition.value, first, second))


def maximum(x: Term, other: Any) -> Term:
    """The larger of each pair."""
    return x._with(ops.maximum, other)


def minimum(x: Term, other: Any) -> Term:
    """The smaller of each pair."""
    return x._with(ops.minimum, other)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """The polynomial in x; the highest power comes first."""
    return Term(elementary.polynomial(x.value, coefficients))


def rounded(x: Term) -> Term:
    """The nearest integers; of two the even one."""
    return Term(ops.round(x.value, "half_to_even"))


abs_ = function(ops.abs)
asinh = function(ops.asinh)
atan = function(ops.atan)
cos = function(ops.cos)
cosh = function(ops.cosh)
erf = function(ops.erf)
exp = function(ops.exp)
floor = function(ops.floor)
hypot = function(elementary.hypot)
is_inf = function(ops.is_inf)
isnan = function(ops.is_nan)
log = function(ops.log)
log1p = function(elementary.log1p)
sigmoid = function(ops.sigmoid)
sign = function(ops.sign)
sin = function(ops.sin)
sinh = function(ops.sinh)
sqrt = function(ops.sqrt)
tan = function(ops.tan)
tanh = function(ops.tanh)
