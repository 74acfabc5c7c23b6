"""Gradients of products, which are linear in both operands: all orders follow from the product and its two gradients.

Semantics: `paddle/phi/kernels/impl/{elementwise,matmul,bmm,dot}_grad_kernel_impl.h`,
`paddle/phi/kernels/cpu/mv_grad_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from openvino import Output

from paddle2ov.converters.gradients.elementwise import aligned, fit
from paddle2ov.converters.gradients.terms import operand, results
from paddle2ov.converters.graph.common import Tensor, cast_to, multiply_by
from paddle2ov.converters.graph.dims import rank_of, shape_of
from paddle2ov.converters.graph.reshaping import merge_axes
from paddle2ov.converters.graph.unbroadcast import unbroadcast
from paddle2ov.converters.matmul import broadcasting_matmul, flattened_matmul
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.terms import ZERO, Term
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

Product: TypeAlias = Callable[[NodeContext, Output, Output], Any]


class Bilinear:
    """The gradients of a product, up to the third order.

    Attributes:
        functions: the product of x and y; its gradient by x, of y and that of the product, in the shape of x; and its
            gradient by y, of x and that of the product.
    """

    def __init__(
        self, product: Product, by_x: Product, by_y: Product, names: tuple[str, str] = ("x", "y"), forward: str = ""
    ) -> None:
        self.functions = product, by_x, by_y
        self._names = names
        self._forward = forward

    def _bound(self, node: NodeContext) -> tuple[Callable[..., Any], ...]:
        def apply(function: Product, x: Any, y: Any) -> Any:
            return ZERO if x is ZERO or y is ZERO else Term(function(node, x.value, y.value))

        return tuple(partial(apply, function) for function in self.functions)

    def first(self, node: NodeContext) -> NamedOutputs:
        """The gradients by both operands."""
        _, by_x, by_y = self._bound(node)
        (x, y), out = (_read(node, name) for name in self._names), _read(node, "out_grad")
        return results(
            node, {f"{self._names[0]}_grad": lambda: by_x(y, out), f"{self._names[1]}_grad": lambda: by_y(x, out)}
        )

    def second(self, node: NodeContext) -> NamedOutputs:
        """The gradients of both gradients by x, y and out_grad."""
        product, by_x, by_y = self._bound(node)
        (x, y), out = (_read(node, name) for name in self._names), _read(node, "grad_out")
        of_x, of_y = (_read(node, f"grad_{name}_grad") for name in self._names)
        gradients = {
            self._names[0]: lambda: by_x(of_y, out),
            self._names[1]: lambda: by_y(of_x, out),
            "grad_out": lambda: product(of_x, y) + product(x, of_y),
        }
        return results(node, {f"{name}_grad": value for name, value in gradients.items()})

    def third(self, node: NodeContext) -> NamedOutputs:
        """The gradients of the three results of the second order by all that they are computed of."""
        product, by_x, by_y = self._bound(node)
        x, y = (_read(node, name) for name in self._names)
        names = [f"{self._forward}{name}" for name in ("grad_out", "grad_grad_x", "grad_grad_y")]
        out, of_x, of_y = (_read(node, name) for name in names)
        to_x, to_y, to_out = (_read(node, name) for name in ("grad_x_grad", "grad_y_grad", "grad_grad_out_grad"))
        gradients = {
            self._names[0]: lambda: by_x(of_y, to_out),
            self._names[1]: lambda: by_y(of_x, to_out),
            names[0]: lambda: product(to_x, of_y) + product(of_x, to_y),
            names[1]: lambda: by_x(y, to_out) + by_x(to_y, out),
            names[2]: lambda: by_y(x, to_out) + by_y(to_x, out),
        }
        return results(node, {f"{name}_grad": value for name, value in gradients.items()})


def _read(node: NodeContext, name: str) -> Any:
    return operand(node, name, aligned)


def _multiply_by(name: str) -> Product:
    return lambda node, other, out: (
        fit(node, Term(ops.multiply(out, cast_to(other, out.get_element_type()))), name).value
    )


def _matmul(node: NodeContext, x: Output, y: Output) -> Any:
    out = broadcasting_matmul(x, y, node.get_bool("transpose_x", False), node.get_bool("transpose_y", False))
    return _scaled(node, out)


def _scaled(node: NodeContext, out: Tensor) -> Tensor:
    heads = node.get_int("head_number", 1)
    node.require(heads == 1, "products of several heads in one are not supported", head_number=heads)
    return multiply_by(out, node.get_float("alpha", 1.0))


def _matmul_by(name: str, other_name: str) -> Product:
    """The gradient by one operand of a product of matrices, of the other operand and the gradient of the product."""
    is_x = name == "x"

    def gradient(node: NodeContext, other: Output, out: Output) -> Any:
        like = node.get_input(name)
        is_vector, other_is_vector = rank_of(node, like) == 1, rank_of(node, other) == 1
        # A vector is a row of x or a column of y; the product has none of its dimensions of 1.
        for axis, dropped in (
            (-1, other_is_vector if is_x else is_vector),
            (-2, is_vector if is_x else other_is_vector),
        ):
            out = ops.unsqueeze(out, ints([axis])).output(0) if dropped else out
        transposed = node.get_bool(f"transpose_{name}", False) and not is_vector
        other_transposed = node.get_bool(f"transpose_{other_name}", False) and not other_is_vector
        other = ops.unsqueeze(other, ints([1 if is_x else 0])).output(0) if other_is_vector else other
        if is_x != transposed:
            product = ops.matmul(out, other, not is_x, is_x != other_transposed)
        else:
            product = ops.matmul(other, out, is_x == other_transposed, is_x)
        target = ops.unsqueeze(like, ints([0 if is_x else 1])).output(0) if is_vector else like
        summed = unbroadcast(_scaled(node, product), target, [*(dims_of(other) or ())[:-2], 1, 1])
        return ops.reshape(summed, shape_of(like), False) if is_vector else summed

    return gradient


def _flat(node: NodeContext, x: Output, name: str) -> Output:
    """An operand of `mul`, or (as x) its result, as a matrix."""
    split = node.get_int(f"{name}_num_col_dims", 1)
    return merge_axes(x, [range(split), range(split, rank_of(node, x))])


def _mul(node: NodeContext, x: Output, y: Output) -> Any:
    return flattened_matmul(node, x, y, node.get_int("x_num_col_dims", 1), node.get_int("y_num_col_dims", 1))


def _mul_by(name: str, other_name: str) -> Product:
    def gradient(node: NodeContext, other: Output, out: Output) -> Any:
        whole, other = _flat(node, out, "x"), _flat(node, other, other_name)
        product = ops.matmul(whole, other, False, True) if name == "x" else ops.matmul(other, whole, True, False)
        return ops.reshape(product, shape_of(node.get_input(name)), False)

    return gradient


def _dot_by_one(node: NodeContext, other: Output, out: Output) -> Any:
    if rank_of(node, out) < rank_of(node, other):
        out = ops.unsqueeze(out, ints([-1])).output(0)
    return ops.multiply(out, other)


multiply = Bilinear(lambda node, x, y: ops.multiply(x, y), _multiply_by("x"), _multiply_by("y"), forward="fwd_")
matmul = Bilinear(_matmul, _matmul_by("x", "y"), _matmul_by("y", "x"))
mv = Bilinear(_matmul, _matmul_by("x", "vec"), _matmul_by("vec", "x"), ("x", "vec"))
mul = Bilinear(_mul, _mul_by("x", "y"), _mul_by("y", "x"))
dot = Bilinear(_matmul, _dot_by_one, _dot_by_one)


def addmm(node: NodeContext) -> NamedOutputs:
    """The gradients of beta · input + alpha · (x @ y)."""
    gradients = {"input_grad": lambda: fit(node, operand(node, "out_grad") * node.get_float("beta", 1.0), "input")}
    return {**matmul.first(node), **results(node, gradients)}
