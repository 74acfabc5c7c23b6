"""Names for the nodes that converters make on the way to their results: `RESULT/Gather_12`.

The translator names the nodes of results only, after their variables, since naming all would cost every conversion
time. Where a report is asked for, the others get theirs here: OpenVINO numbers nodes as they are made, and converters
run one after the other, so a node belongs to the next result that was made after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from openvino import Node

_STRUCTURE = frozenset(("Constant", "Parameter", "Result"))


def name_nodes(nodes: Iterable[Node]) -> None:
    """Names the nodes of a model that have no name yet after the result that their converter made them for."""
    inner: list[tuple[Node, str]] = []
    results: list[tuple[int, str]] = []
    for node in nodes:
        if node.get_type_name() in _STRUCTURE:
            continue
        own, name = node.get_name(), node.get_friendly_name()
        if name == own:
            inner.append((node, own))
        else:
            results.append((_number(own), name))
    results.sort()
    for node, own in inner:
        next_one = bisect_left(results, (_number(own), ""))
        if next_one < len(results):
            node.set_friendly_name(f"{results[next_one][1]}/{own}")


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


__all__ = ["name_nodes"]
