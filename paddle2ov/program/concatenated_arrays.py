"""Carries tensor arrays concatenated if only their concatenation is used: their elements may differ in size.

For example a list to which a loop appends the boxes of each image, and which is concatenated after the loop. Such an
array is represented by the concatenation itself, not by a stack of elements of one shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from paddle2ov.program.liveness import counterparts
from paddle2ov.program.model import Block, Operator
from paddle2ov.program.union_find import UnionFind


def concatenate_arrays(block: Block, wanted: Iterable[str]) -> Block:
    """Represents arrays that are only appended to and concatenated by their concatenation.

    Given:
        write_to_array at the array's length (in blocks of branches and loops as well) → tensor_array_to_tensor along
        one axis, where nothing else reads the array, its length or the sizes of its elements.
    Result:
        The same operators with `concatenated_along` in their semantics, and the writes without their `i`.

    Args:
        block: the main block; it is not changed.
        wanted: the results of the program.

    Returns:
        The block with these operators replaced.
    """
    concatenations = [child for child in block.walk() if child.type == "tensor_array_to_tensor"]
    if not concatenations:
        return block
    arrays = _Arrays(block, wanted)
    axes = {arrays.names.find(_first(child.inputs, "x")): _axis(child) for child in concatenations}
    axes = {root: axis for root, axis in axes.items() if arrays.can_concatenate(root, axis)}
    if not axes:
        return block
    return block.mapped(lambda operator: _with_axis(operator, arrays, axes))


class _Arrays:
    """Which names refer to the same array in the course of the program (`names`), and which operators read it."""

    def __init__(self, block: Block, wanted: Iterable[str]) -> None:
        self.names = UnionFind[str]()
        self._lengths: dict[str, str] = {}  # length -> the array that has it
        self._readers: defaultdict[str, list[tuple[Operator | None, str]]] = defaultdict(list)
        for name in wanted:
            self._readers[name].append((None, ""))
        for operator in block.walk():
            for port, names in operator.inputs.items():
                for name in names:
                    self._readers[name].append((operator, port))
            for alias, other in _aliases(operator):
                if alias and other:
                    self.names.join(alias, other)
            if operator.type == "lod_array_length":
                self._lengths[_first(operator.outputs, "out")] = _first(operator.inputs, "x")
        self._members: defaultdict[str, set[str]] = defaultdict(set)
        for name in self.names:
            self._members[self.names.find(name)].add(name)

    def can_concatenate(self, root: str, axis: Any) -> bool:
        """Whether the array with this representative can be represented by its concatenation along an axis."""
        members = self._members[root] | {root}
        return isinstance(axis, int) and all(
            self._allows(operator, port, root, axis) for name in members for operator, port in self._readers[name]
        )

    def _allows(self, operator: Operator | None, port: str, root: str, axis: int) -> bool:
        if operator is None:
            return False
        if operator.type in ("while", "recurrent", "if", "assign", "assign_array"):
            return True
        if operator.type == "lod_array_length":
            readers = self._readers[_first(operator.outputs, "out")]
            return all(item is not None and (item.type, by) == ("write_to_array", "i") for item, by in readers)
        if operator.type == "write_to_array":
            length = self._lengths.get(_first(operator.inputs, "i"))
            return port == "array" and length is not None and self.names.find(length) == root
        if operator.type == "tensor_array_to_tensor":
            sizes = operator.outputs.get("out_index", ())
            is_stack = operator.attributes.get("use_stack", False)
            return not is_stack and _axis(operator) == axis and not any(self._readers[name] for name in sizes)
        return False


def _aliases(operator: Operator) -> Iterable[tuple[str, str]]:
    """Pairs of names of the same value, or of an array before and after a write."""
    if operator.type in ("assign", "assign_array"):
        return [(_first(operator.inputs, "x"), _first(operator.outputs, "out"))]
    if operator.type == "write_to_array":
        return [(_first(operator.inputs, "array"), _first(operator.outputs, "out"))]
    return counterparts(operator)


def _first(ports: Mapping[str, Sequence[str]], port: str) -> str:
    """The name at a port; "" if a malformed program has none, which the operator's converter reports."""
    names = ports.get(port, ())
    return names[0] if names else ""


def _axis(concatenation: Operator) -> Any:
    return concatenation.attributes.get("axis", 0)


def _with_axis(operator: Operator, arrays: _Arrays, axes: Mapping[str, int]) -> Operator:
    """An operator that writes or reads an array, with the axis of that (by its root) in its semantics."""
    if operator.type not in ("write_to_array", "tensor_array_to_tensor"):
        return operator
    array = _first(operator.outputs, "out") if operator.type == "write_to_array" else _first(operator.inputs, "x")
    axis = axes.get(arrays.names.find(array))
    if axis is None:
        return operator
    inputs = {port: names for port, names in operator.inputs.items() if port != "i"}
    return replace(operator, inputs=inputs, semantics=replace(operator.semantics, concatenated_along=axis))
