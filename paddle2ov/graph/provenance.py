"""Which operators of the program a node was made for.

Where a report is asked for, the translator marks the nodes that a converter has made as soon as it returns, in their
runtime information (`PADDLE_OPERATORS`), and a rewrite hands the mark on to what replaces a node. Without a report no
node is marked, and nothing is handed on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from openvino import Model, Node, Output

from paddle2ov.graph.names import bodies_of, is_unnamed, name_after, walk
from paddle2ov.program.model import Operator, Program

PADDLE_OPERATORS = "paddle_operators"
"""The key of the mark: places "BLOCK:OPERATOR", separated by spaces, the one that matters most first."""


def operator_id(operator: Operator) -> str:
    """An operator as marks name it."""
    return f"{operator.block_index}:{operator.index}"


def operators_of(node: Node) -> str:
    """The operators that a node was made for; "" if that is not known."""
    info = node.get_rt_info()
    return str(info[PADDLE_OPERATORS].value) if PADDLE_OPERATORS in info else ""


def set_operators(outputs: Iterable[Output], operators: str, given: Collection[str] = ()) -> None:
    """Marks the nodes that values are computed by, up to those that have a mark, and those that were `given`.

    Bodies of branches and loops are marked as a whole; their operators, if any, have been translated and marked before.
    """
    waiting = [output.get_node() for output in outputs]
    while waiting:
        node = waiting.pop()
        if node.get_type_name() == "Parameter" or node.get_name() in given:
            continue
        info = node.get_rt_info()
        if PADDLE_OPERATORS in info:
            continue
        info[PADDLE_OPERATORS] = operators
        waiting += [value.get_node() for value in node.input_values()]
        for body in bodies_of(node):
            for inner in body.get_ops():
                set_operators(inner.outputs(), operators)


def copy_operators(new: Output, *old: Node) -> None:
    """Marks what a rewrite has made to compute a value as made for the operators of the nodes that it stands for."""
    operators = operators_of(old[0])
    if operators:
        if len(old) > 1:
            operators = " ".join(dict.fromkeys(" ".join(map(operators_of, old)).split()))
        set_operators([new], operators)


def name_after_operators(model: Model, program: Program) -> None:
    """Names the nodes without a name of their own after a result of the operator that they were made for."""
    results = {operator_id(one): next(filter(None, one.output_names()), one.type) for one in program.block.walk()}
    for node in walk(model):
        if is_unnamed(node) and (operators := operators_of(node)):
            name_after(node, results[operators.partition(" ")[0]])


def operators_by_name(model: Model) -> dict[str, list[str]]:
    """Name of a node -> the places of the operators that it was made for; nodes of branches and loops included."""
    return {node.get_friendly_name(): marked.split() for node in walk(model) if (marked := operators_of(node))}


__all__ = [
    "PADDLE_OPERATORS",
    "copy_operators",
    "name_after_operators",
    "operator_id",
    "operators_by_name",
    "operators_of",
    "set_operators",
]
