"""The bodies of branches and loops, and which of them are clones of a template."""

from __future__ import annotations

from collections.abc import Iterator

from openvino import Model, Node
from openvino.op import if_op, loop, tensor_iterator

_TEMPLATE = "paddle2ov.template"


def bodies_of(node: Node) -> list[Model]:
    """The body models of an If, Loop or TensorIterator."""
    if isinstance(node, loop | tensor_iterator):
        return [node.get_function()]
    return [node.get_then_body(), node.get_else_body()] if isinstance(node, if_op) else []


def walk(model: Model) -> Iterator[Node]:
    """All nodes of a model, those of branches and loops included."""
    for node in model.get_ops():
        yield node
        for body in bodies_of(node):
            yield from walk(body)


def mark_template(model: Model) -> None:
    """Marks a body, and what is cloned from it, as one that rewrites leave as its converter made it."""
    model.set_friendly_name(_TEMPLATE)


def is_template(model: Model) -> bool:
    """Whether a body is a template, or cloned from one."""
    return bool(model.get_friendly_name() == _TEMPLATE)
