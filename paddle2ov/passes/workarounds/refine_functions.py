"""Functions whose small values OpenVINO approximates only beside 1 are computed from others.

OpenVINO 2026.4 computes Erf and SoftPlus up to a fixed error: of 4e-7, so that erf(1e-7) is 0, and of 8e-6, so that
ln(1 + e^-60) is 4e-6 in place of 9e-27. It makes SoftPlus of ln(1 + e^x), too.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.elementary import erf, softplus
from paddle2ov.passes.graph import Counts, Graph, bits_to_values, constant_of, dims_of, readers, replace


def refine_functions(graph: Graph) -> Counts:
    """Small values of Erf and SoftPlus have as many correct digits as large ones.

    Given:
        Erf, SoftPlus, or Exp → Add of 1 → Log. What OpenVINO makes a Gelu or a Mish of stays: Erf that only sums with a
        constant read, and SoftPlus of x whose Tanh is only multiplied by x.
    Result:
        x times a polynomial in x², and Erf from `|x| = 1/2` on; `max(x, 0) + ln(1 + e^-|x|)` by a series.
    """
    counts = {"functions": 0}
    for node in graph.nodes("Erf"):
        if not all(_is_added(reader) for reader in readers(node)):
            counts["functions"] += _refine(node, erf(node.input_value(0)))
    for node in graph.nodes("SoftPlus", "Log"):
        x = node.input_value(0) if node.get_type_name() == "SoftPlus" else _exponent(node)
        if x is not None and not all(_is_mish(reader, x) for reader in readers(node)):
            counts["functions"] += _refine(node, softplus(x))
    if counts["functions"]:
        graph.changed()
    return counts


def _refine(node: Node, refined: Node) -> int:
    replace(node.output(0), refined.output(0))
    return 1


def _is_added(reader: Node) -> bool:
    """Whether a constant is added, maybe after a factor: beside it small values do not count."""
    kind = reader.get_type_name()
    if kind not in ("Add", "Multiply") or all(constant_of(side) is None for side in reader.input_values()):
        return False
    return kind == "Add" or all(one.get_type_name() == "Add" and _is_added(one) for one in readers(reader))


def _is_mish(reader: Node, x: Output) -> bool:
    """Whether this is tanh(ln(1 + e^x)), and only multiplied by x."""
    if reader.get_type_name() != "Tanh":
        return False
    return all(one.get_type_name() == "Multiply" and x in one.input_values() for one in readers(reader))


def _exponent(log: Node) -> Output | None:
    """x of ln(1 + e^x)."""
    total = log.input_value(0).get_node()
    if total.get_type_name() != "Add":
        return None
    terms = total.input_values()
    for one, other in (terms, terms[::-1]):
        exp, constant = other.get_node(), constant_of(one)
        if constant is None or constant.size != 1 or exp.get_type_name() != "Exp":
            continue
        is_one = bits_to_values(constant.reshape(1), one.get_element_type())[0] == 1
        if is_one and constant.ndim <= len(dims_of(other) or ()):
            return exp.input_value(0)
    return None
