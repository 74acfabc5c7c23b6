"""Which operators of the program a node was made for.

If a report is requested, the translator records the operator in the runtime information (`PADDLE_OPERATORS`) of the
nodes that its converter has made, as soon as that returns, and a rewrite copies it to what replaces a node. Without a
report nothing is recorded or copied.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from openvino import Model, Node, Output

from paddle2ov.graph.bodies import bodies_of, walk
from paddle2ov.graph.node_names import derive_name, is_unnamed
from paddle2ov.program.model import Operator, Program

PADDLE_OPERATORS = "paddle_operators"
"""The key in `rt_info`; the value is ids "BLOCK:OPERATOR", separated by spaces, the most important one first."""


def operator_id(operator: Operator) -> str:
    """The id of an operator: "BLOCK:OPERATOR"."""
    return f"{operator.block_index}:{operator.index}"


def operators_of(node: Node) -> str:
    """The ids of the operators that a node was made for, separated by spaces; "" if they are not known."""
    info = node.get_rt_info()
    return str(info[PADDLE_OPERATORS].value) if PADDLE_OPERATORS in info else ""


def set_operators(outputs: Iterable[Output], operators: str, given: Collection[str] = ()) -> None:
    """Records `operators` on the nodes that compute `outputs`, back to nodes that have a record or are in `given`.

    Bodies of branches and loops are included; those of their nodes that come from operators have a record already.
    """
    pending = [output.get_node() for output in outputs]
    while pending:
        node = pending.pop()
        if node.get_type_name() == "Parameter" or node.get_name() in given:
            continue
        info = node.get_rt_info()
        if PADDLE_OPERATORS in info:
            continue
        info[PADDLE_OPERATORS] = operators
        pending += [value.get_node() for value in node.input_values()]
        for body in bodies_of(node):
            for inner in body.get_ops():
                set_operators(inner.outputs(), operators)


def copy_operators(new: Output, *old: Node) -> None:
    """Records the operators of the nodes `old` on the nodes that replace them, which compute `new`."""
    operators = operators_of(old[0])
    if operators:
        if len(old) > 1:
            operators = " ".join(dict.fromkeys(" ".join(map(operators_of, old)).split()))
        set_operators([new], operators)


def name_after_operators(model: Model, program: Program) -> None:
    """Names unnamed nodes after a result of the operator that they were made for."""
    results = {
        operator_id(child): next(filter(None, child.output_names()), child.type) for child in program.block.walk()
    }
    for node in walk(model):
        if is_unnamed(node) and (operators := operators_of(node)):
            derive_name(node, results[operators.partition(" ")[0]])


def operators_by_name(model: Model) -> dict[str, list[str]]:
    """Name of a node -> the ids of the operators that it was made for; nodes of branches and loops included."""
    return {node.get_friendly_name(): operators.split() for node in walk(model) if (operators := operators_of(node))}
